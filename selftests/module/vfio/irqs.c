// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts: eventfds of all kinds, masking, malformed requests. The source is PTIMER's alarm. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <linux/pci_regs.h>

#include <gk110/pmc.h>
#include <gk110/ptimer.h>

#include "check.h"
#include "tests.h"

#define E      VFIO_IRQ_SET_DATA_EVENTFD
#define N      VFIO_IRQ_SET_DATA_NONE
#define B      VFIO_IRQ_SET_DATA_BOOL
#define TRIG   VFIO_IRQ_SET_ACTION_TRIGGER
#define MASK   VFIO_IRQ_SET_ACTION_MASK
#define UNMASK VFIO_IRQ_SET_ACTION_UNMASK

enum { INTX, MSI, MSIX, ERR, REQ, SOON_MS = 60000, NEVER_MS = 150 };

static int irq(struct device *d, uint32_t index, uint32_t flags, uint32_t start, uint32_t count,
	       const void *data, size_t n)
{
	union {
		struct vfio_irq_set s;
		char bytes[64];
	} u = { .s = { .argsz = sizeof(u.s) + n,
		       .flags = flags,
		       .index = index,
		       .start = start,
		       .count = count } };

	if (n)
		memcpy(u.s.data, data, n);
	return ioctl(d->fd, VFIO_DEVICE_SET_IRQS, &u);
}

static int with_fd(struct device *d, uint32_t index, uint32_t flags, int fd)
{
	return irq(d, index, E | flags, 0, 1, &fd, sizeof(fd));
}

/* Return what was signalled within @ms; 0: nothing. */
static uint64_t came(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t n = 0;

	if (poll(&p, 1, ms) == 1 && read(fd, &n, sizeof(n)) != sizeof(n))
		return 0;
	return n;
}

static void ring(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		perror("eventfd");
}

/*
 * Let the alarm ring soon. It stays pending until it is acknowledged. If this thread is away for so
 * long that the time has passed when the alarm is armed, the alarm would ring one turn of the low
 * word later (4.3 s): then it is set once more.
 */
static void raise_line(struct device *d)
{
	uint32_t at;

	reg_write(d, PMC_INTR_EN(PMC_LEAF_HOST), PMC_INTR_EN_HARDWARE);
	do {
		at = reg_read(d, PTIMER_TIME_LOW) + 40000000;
		reg_write(d, PTIMER_ALARM, at);
		reg_write(d, PTIMER_INTR_EN, PTIMER_INTR_ALARM);
	} while ((int32_t)(reg_read(d, PTIMER_TIME_LOW) - at) >= 0 &&
		 !(reg_read(d, PTIMER_INTR) & PTIMER_INTR_ALARM));
}

static void lower_line(struct device *d)
{
	reg_write(d, PTIMER_INTR_EN, 0);
	reg_write(d, PTIMER_INTR, PTIMER_INTR_ALARM);
}

static void check_msi(struct device *d, int m)
{
	uint8_t one = 1;

	CHECK(!with_fd(d, MSI, TRIG, m));
	raise_line(d);
	CHECK(came(m, SOON_MS) == 1);
	CHECK(reg_read(d, PMC_INTR(PMC_LEAF_HOST)) >> PMC_INTR_TIMER & 1);
	lower_line(d);
	CHECK(!came(m, NEVER_MS) && !reg_read(d, PMC_INTR(PMC_LEAF_HOST)));
	CHECK(!irq(d, MSI, N | TRIG, 0, 1, NULL, 0) && came(m, SOON_MS) == 1);
	CHECK(!irq(d, MSI, B | TRIG, 0, 1, &one, 1) && came(m, SOON_MS) == 1);
	one = 0;
	CHECK(!irq(d, MSI, B | TRIG, 0, 1, &one, 1) && !came(m, NEVER_MS));
}

static void check_malformed(struct device *d, int m)
{
	static const int bad_fds[] = { 9999, -5, -2147483647 };
	unsigned int i;

	CHECK(with_fd(d, MSI, MASK, m) && with_fd(d, MSI, B | TRIG, m) &&
	      with_fd(d, MSI, TRIG | MASK, m));
	CHECK(irq(d, MSI, TRIG, 0, 1, &m, 4) && irq(d, MSI, E, 0, 1, &m, 4) &&
	      irq(d, MSI, ~0u, 0, 1, &m, 4));
	CHECK(irq(d, MSI, E | TRIG, 1, 1, &m, 4) && irq(d, MSI, E | TRIG, 0, 2, "12345678", 8));
	CHECK(irq(d, MSI, E | TRIG, ~0u, 2, "12345678", 8) && irq(d, MSI, E | TRIG, 0, ~0u, &m, 4));
	CHECK(irq(d, MSI, E | TRIG, 0, 0, NULL, 0) && irq(d, MSIX, N | TRIG, 0, 0, NULL, 0));
	CHECK(with_fd(d, ERR, TRIG, m) && with_fd(d, 77, TRIG, m) && with_fd(d, ~0u, TRIG, m));
	CHECK(irq(d, MSI, E | TRIG, 0, 1, NULL, 0));
	for (i = 0; i < sizeof(bad_fds) / sizeof(bad_fds[0]); i++)
		CHECK(with_fd(d, MSI, TRIG, bad_fds[i]) == -1);
	CHECK(with_fd(d, MSI, TRIG, d->fd) == -1);
	CHECK_ERRNO(ioctl(d->fd, VFIO_DEVICE_SET_IRQS, nowhere), EFAULT);
	CHECK(!irq(d, MSI, N | TRIG, 0, 0, NULL, 0));
	raise_line(d);
	CHECK(!came(m, NEVER_MS));
	lower_line(d);
}

static void check_intx(struct device *d, int x, int u)
{
	uint8_t one = 1;

	CHECK(!with_fd(d, INTX, TRIG, x));
	raise_line(d);
	CHECK(came(x, SOON_MS) == 1);
	CHECK(!came(x, NEVER_MS)); /* masks itself */
	CHECK(!irq(d, INTX, N | UNMASK, 0, 1, NULL, 0) && came(x, SOON_MS) == 1);
	CHECK(!irq(d, INTX, B | UNMASK, 0, 1, &one, 1) && came(x, SOON_MS) == 1);
	CHECK(!with_fd(d, INTX, UNMASK, u));
	CHECK(with_fd(d, INTX, UNMASK, u) == -1 && errno == EBUSY);
	ring(u);
	CHECK(came(x, SOON_MS) == 1);
	ring(u);
	CHECK(came(x, SOON_MS) == 1);
	lower_line(d);
	ring(u);
	CHECK(!came(x, NEVER_MS));
	raise_line(d);
	CHECK(came(x, SOON_MS) == 1);
}

/* A work item of the core gives up an eventfd that was closed: until then there is no other. */
static bool unmasked_by(struct device *d, int u)
{
	uint64_t end = now_ms() + SOON_MS;

	while (with_fd(d, INTX, UNMASK, u)) {
		if (errno != EBUSY || now_ms() > end)
			return false;
		usleep(1000);
	}
	return true;
}

static void check_intx_masks(struct device *d, int x, int u)
{
	int none = -1;

	CHECK(config_read(d, PCI_STATUS, 2) & PCI_STATUS_INTERRUPT);
	CHECK(config_write(d, PCI_COMMAND, 2, PCI_COMMAND_INTX_DISABLE));
	CHECK(!irq(d, INTX, N | UNMASK, 0, 1, NULL, 0) && !came(x, NEVER_MS));
	CHECK(config_write(d, PCI_COMMAND, 2, 0) && came(x, SOON_MS) == 1);
	CHECK(!with_fd(d, INTX, UNMASK, none));
	CHECK(with_fd(d, INTX, MASK, x) == -1);
	CHECK(!irq(d, INTX, N | MASK, 0, 1, NULL, 0) &&
	      irq(d, INTX, N | MASK, 0, 0, NULL, 0) == -1);
	CHECK(!with_fd(d, INTX, UNMASK, u));
	/* when the eventfd is closed, the core gives up its reference to it */
	close(u);
	u = eventfd(0, EFD_NONBLOCK);
	CHECK(unmasked_by(d, u));
	CHECK(!with_fd(d, INTX, TRIG, none));
	lower_line(d);
	close(u);
}

/*
 * INTx signals an eventfd that also unmasks INTx. So each signal causes the next one while the line
 * is up.
 */
static void check_one_for_both(struct device *d)
{
	int both = eventfd(0, EFD_NONBLOCK), none = -1;

	CHECK(!with_fd(d, INTX, TRIG, both) && !with_fd(d, INTX, UNMASK, both));
	raise_line(d);
	usleep(300000);
	ring(both);
	usleep(100000);
	lower_line(d);
	CHECK(!irq(d, INTX, N | TRIG, 0, 1, NULL, 0));
	CHECK(!with_fd(d, INTX, UNMASK, none) && !with_fd(d, INTX, TRIG, none));
	close(both);
	CHECK(reg_read(d, PMC_BOOT_0) >> 20 == 0x0f0);
}

void test_irqs(struct device *d, const struct options *o)
{
	int m = eventfd(0, EFD_NONBLOCK), x = eventfd(0, EFD_NONBLOCK),
	    u = eventfd(0, EFD_NONBLOCK);

	checks_begin();
	check_msi(d, m);
	check_malformed(d, m);
	check_intx(d, x, u);
	check_intx_masks(d, x, u);
	check_one_for_both(d);
	CHECK(!with_fd(d, REQ, TRIG, m));
	CHECK(!irq(d, REQ, N | TRIG, 0, 1, NULL, 0) && came(m, SOON_MS) == 1);
	raise_line(d);
	CHECK(!with_fd(d, MSI, TRIG, m)); /* in use until the device closes */
	CHECK(!ioctl(d->fd, VFIO_DEVICE_RESET));
	CHECK(!(reg_read(d, PTIMER_INTR_EN) & PTIMER_INTR_ALARM));
	close(m);
	close(x);
	checks_end(
		"INTx, MSI, REQ: delivery, masks, eventfds that close or bite their tail, malformed requests, reset");
}

void hold(struct device *d)
{
	int m = eventfd(0, 0);
	uint64_t n;

	if (with_fd(d, REQ, TRIG, m)) {
		perror("REQ");
		return;
	}
	puts("# held");
	fflush(stdout);
	if (read(m, &n, sizeof(n)) == sizeof(n))
		puts("# asked to let go");
}
