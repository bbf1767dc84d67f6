// SPDX-License-Identifier: GPL-2.0-only
/* The device's interrupts, as a vfio-user client sees them: SET_IRQS, INTx and MSI. */
#define _GNU_SOURCE
#include <errno.h>
#include <selftests/unit_test.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <gk110/pci.h>

#include "fake_device.h"

#define TRIGGER VFIO_IRQ_SET_ACTION_TRIGGER
#define MASK	VFIO_IRQ_SET_ACTION_MASK
#define UNMASK	VFIO_IRQ_SET_ACTION_UNMASK
#define NONE	VFIO_IRQ_SET_DATA_NONE
#define BOOL	VFIO_IRQ_SET_DATA_BOOL
#define EVENTFD VFIO_IRQ_SET_DATA_EVENTFD
#define INTX	VFIO_PCI_INTX_IRQ_INDEX
#define MSI	VFIO_PCI_MSI_IRQ_INDEX

static int ev; /* the client's eventfd */

static int setup(void **state)
{
	uint8_t cmd = GK110_PCI_CMD_MASTER;

	fake_setup(true);
	pci_config_write(fake.g, GK110_PCI_CMD_STA, &cmd, 1);
	ev = eventfd(0, EFD_NONBLOCK);
	return ev < 0;
}

static int teardown(void **state)
{
	close(ev);
	fake_teardown();
	return 0;
}

static uint32_t set_irqs(uint32_t flags, uint32_t index, uint32_t start, uint32_t count,
			 const void *data, size_t len, unsigned int nr_fds)
{
	struct vfio_irq_set set = {
		.argsz = sizeof(set), .flags = flags, .index = index, .start = start, .count = count
	};
	int fd[3] = { dup(ev), dup(ev), dup(ev) };
	uint8_t buf[64];
	unsigned int i;

	memcpy(buf, &set, sizeof(set));
	if (len)
		memcpy(buf + sizeof(set), data, len);
	assert_true(fake_send(VU_DEVICE_SET_IRQS, 0, buf, sizeof(set) + len, fd, nr_fds) > 0);
	for (i = nr_fds; i < 3; i++)
		close(fd[i]);
	return fake_error();
}

/* Returns how often the interrupt fired since the last call. */
static uint64_t fired(void)
{
	uint64_t n = 0;

	return read(ev, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void line(bool level, bool edge)
{
	pthread_mutex_lock(&fake.g->lock);
	irq_output(&fake.s, level, edge);
	pthread_mutex_unlock(&fake.g->lock);
}

static uint32_t word(uint32_t off)
{
	uint32_t v;

	pci_config_read(fake.g, off, (uint8_t *)&v, 4);
	return v;
}

TEST(test_intx_masks_itself)
{
	assert_int_equal(set_irqs(EVENTFD | TRIGGER, INTX, 0, 1, NULL, 0, 1), 0);
	line(true, true);
	assert_int_equal(fired(), 1);
	line(false, false);
	line(true, true);
	assert_int_equal(fired(), 0); /* masked until the client unmasks it */
	assert_int_equal(set_irqs(NONE | UNMASK, INTX, 0, 1, NULL, 0, 0), 0);
	assert_int_equal(fired(), 1); /* the line is still high */
	line(false, false);
	assert_int_equal(set_irqs(NONE | UNMASK, INTX, 0, 1, NULL, 0, 0), 0);
	assert_int_equal(fired(), 0);
	line(true, true);
	assert_int_equal(fired(), 1);
}

TEST(test_intx_shown_and_disabled_in_config)
{
	uint8_t disable[2] = { GK110_PCI_CMD_MASTER, GK110_PCI_CMD_INTX_DISABLE >> 8 },
		enable[2] = { 0 };
	struct {
		struct vu_region_access a;
		uint8_t cmd[2];
	} __attribute__((packed)) m = {
		{ .offset = GK110_PCI_CMD_STA, .region = VFIO_PCI_CONFIG_REGION_INDEX, .count = 2 },
		{ 0 },
	};

	assert_int_equal(set_irqs(EVENTFD | TRIGGER, INTX, 0, 1, NULL, 0, 1), 0);
	pci_config_write(fake.g, GK110_PCI_CMD_STA, disable, 2);
	line(true, true);
	assert_int_equal(fired(), 0);
	assert_true(word(GK110_PCI_CMD_STA) & GK110_PCI_STA_INTERRUPT);
	memcpy(m.cmd, enable, 2);
	assert_true(fake_send(VU_REGION_WRITE, 0, &m, sizeof(m), NULL, 0) > 0);
	assert_int_equal(fired(), 1);
	line(false, false);
	assert_false(word(GK110_PCI_CMD_STA) & GK110_PCI_STA_INTERRUPT);
}

TEST(test_intx_set_while_up)
{
	line(true, true);
	assert_int_equal(set_irqs(EVENTFD | TRIGGER, INTX, 0, 1, NULL, 0, 1), 0);
	assert_int_equal(fired(), 1);
}

TEST(test_intx_mask_by_client)
{
	uint8_t no = 0, yes = 1;

	assert_int_equal(set_irqs(EVENTFD | TRIGGER, INTX, 0, 1, NULL, 0, 1), 0);
	assert_int_equal(set_irqs(BOOL | MASK, INTX, 0, 1, &no, 1, 0), 0);
	line(true, true);
	assert_int_equal(fired(), 1);
	assert_int_equal(set_irqs(NONE | MASK, INTX, 0, 1, NULL, 0, 0), 0);
	assert_int_equal(set_irqs(BOOL | UNMASK, INTX, 0, 1, &no, 1, 0), 0);
	assert_int_equal(fired(), 0);
	assert_int_equal(set_irqs(BOOL | UNMASK, INTX, 0, 1, &yes, 1, 0), 0);
	assert_int_equal(fired(), 1);
}

TEST(test_msi_is_an_edge)
{
	uint8_t none = 0;

	assert_int_equal(set_irqs(EVENTFD | TRIGGER, INTX, 0, 1, NULL, 0, 1), 0);
	assert_int_equal(set_irqs(NONE | TRIGGER, INTX, 0, 0, NULL, 0, 0), 0);
	assert_int_equal(set_irqs(EVENTFD | TRIGGER, MSI, 0, 1, NULL, 0, 1), 0);
	line(true, true);
	line(true, true);
	line(true, false);
	line(false, false);
	assert_int_equal(fired(), 2);
	/* a message is a memory write of the function, which needs bus mastering */
	pci_config_write(fake.g, GK110_PCI_CMD_STA, &none, 1);
	line(true, true);
	assert_int_equal(fired(), 0);
}

TEST(test_deassign)
{
	assert_int_equal(set_irqs(EVENTFD | TRIGGER, MSI, 0, 1, NULL, 0, 1), 0);
	assert_int_equal(set_irqs(EVENTFD | TRIGGER, MSI, 0, 1, NULL, 0, 0), 0);
	line(true, true);
	assert_int_equal(fired(), 0);
	assert_int_equal(set_irqs(EVENTFD | TRIGGER, MSI, 0, 1, NULL, 0, 1), 0);
	assert_int_equal(set_irqs(NONE | TRIGGER, MSI, 0, 0, NULL, 0, 0), 0);
	line(true, true);
	assert_int_equal(fired(), 0);
}

TEST(test_client_triggers)
{
	uint8_t yes = 1, no = 0;

	/* no eventfd is set: nothing happens */
	assert_int_equal(set_irqs(NONE | TRIGGER, MSI, 0, 1, NULL, 0, 0), 0);
	assert_int_equal(set_irqs(EVENTFD | TRIGGER, MSI, 0, 1, NULL, 0, 1), 0);
	assert_int_equal(set_irqs(NONE | TRIGGER, MSI, 0, 1, NULL, 0, 0), 0);
	assert_int_equal(set_irqs(BOOL | TRIGGER, MSI, 0, 1, &no, 1, 0), 0);
	assert_int_equal(set_irqs(BOOL | TRIGGER, MSI, 0, 1, &yes, 1, 0), 0);
	assert_int_equal(fired(), 2);
}

TEST(test_error_and_request)
{
	assert_int_equal(set_irqs(EVENTFD | TRIGGER, VFIO_PCI_ERR_IRQ_INDEX, 0, 1, NULL, 0, 1), 0);
	assert_int_equal(set_irqs(EVENTFD | TRIGGER, VFIO_PCI_REQ_IRQ_INDEX, 0, 1, NULL, 0, 1), 0);
	line(true, true);
	assert_int_equal(fired(), 0);
}

TEST(test_refused)
{
	static const struct {
		const char *name;
		uint32_t flags, index, start, count;
		size_t len;
		unsigned int nr_fds;
		uint32_t want;
	} c[] = {
		{ "no data type", TRIGGER, INTX, 0, 1, 0, 0, EINVAL },
		{ "two data types", NONE | BOOL | TRIGGER, INTX, 0, 1, 1, 0, EINVAL },
		{ "no action", NONE, INTX, 0, 1, 0, 0, EINVAL },
		{ "two actions", NONE | MASK | UNMASK, INTX, 0, 1, 0, 0, EINVAL },
		{ "unknown flag", NONE | TRIGGER | 0x40, INTX, 0, 1, 0, 0, EINVAL },
		{ "index out of range", NONE | TRIGGER, 5, 0, 1, 0, 0, EINVAL },
		{ "index far out of range", NONE | TRIGGER, UINT32_MAX, 0, 0, 0, 0, EINVAL },
		{ "MSI-X has none", EVENTFD | TRIGGER, VFIO_PCI_MSIX_IRQ_INDEX, 0, 1, 0, 1,
		  EINVAL },
		{ "count too big", EVENTFD | TRIGGER, MSI, 0, 2, 0, 2, EINVAL },
		{ "start too big", EVENTFD | TRIGGER, MSI, 1, 1, 0, 1, EINVAL },
		{ "sum wraps", EVENTFD | TRIGGER, MSI, UINT32_MAX, 2, 0, 1, EINVAL },
		{ "count wraps", EVENTFD | TRIGGER, MSI, 0, UINT32_MAX, 0, 1, EINVAL },
		{ "more descriptors than interrupts", EVENTFD | TRIGGER, MSI, 0, 1, 0, 2, EINVAL },
		{ "a descriptor for no data", NONE | TRIGGER, MSI, 0, 1, 0, 1, EINVAL },
		{ "bools missing", BOOL | TRIGGER, MSI, 0, 1, 0, 0, EINVAL },
		{ "count 0 with an eventfd", EVENTFD | TRIGGER, MSI, 0, 0, 0, 0, EINVAL },
		{ "count 0 unmask", NONE | UNMASK, INTX, 0, 0, 0, 0, EINVAL },
		{ "MSI can't be masked", NONE | MASK, MSI, 0, 1, 0, 0, EINVAL },
		{ "unmask by eventfd", EVENTFD | UNMASK, INTX, 0, 1, 0, 1, EOPNOTSUPP },
	};
	uint8_t data[4] = { 1, 1, 1, 1 };
	unsigned int i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		uint32_t got = set_irqs(c[i].flags, c[i].index, c[i].start, c[i].count, data,
					c[i].len, c[i].nr_fds);

		if (got != c[i].want)
			fail_msg("%s: %u instead of %u", c[i].name, got, c[i].want);
	}
	line(true, true);
	assert_int_equal(fired(), 0);
}

TEST(test_full_counter_does_not_block)
{
	uint64_t max = UINT64_MAX - 1;

	assert_int_equal(set_irqs(EVENTFD | TRIGGER, MSI, 0, 1, NULL, 0, 1), 0);
	assert_int_equal(write(ev, &max, sizeof(max)), sizeof(max));
	line(true, true);
	assert_true(fired() == max);
}

TEST_MAIN(setup, teardown)
