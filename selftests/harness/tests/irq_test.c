// SPDX-License-Identifier: GPL-2.0-only
/*
 * VFIO_DEVICE_SET_IRQS: what is refused, which eventfd is signalled when, and
 * eventfds that are replaced while they are signalled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/explore.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MASK	VFIO_IRQ_SET_ACTION_MASK
#define UNMASK	VFIO_IRQ_SET_ACTION_UNMASK
#define TRIGGER VFIO_IRQ_SET_ACTION_TRIGGER
#define NONE	VFIO_IRQ_SET_DATA_NONE
#define BOOL	VFIO_IRQ_SET_DATA_BOOL
#define EVENTFD VFIO_IRQ_SET_DATA_EVENTFD
#define INTX	VFIO_PCI_INTX_IRQ_INDEX
#define MSI	VFIO_PCI_MSI_IRQ_INDEX
#define REQ	VFIO_PCI_REQ_IRQ_INDEX

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;

/* @data: number of an eventfd, or 0 or 1 for DATA_BOOL */
static int set(u32 index, u32 flags, u32 start, u32 count, s32 data)
{
	struct {
		struct vfio_irq_set hdr;
		s32 data;
	} s = {
		.hdr = { .argsz = sizeof(s.hdr) + 4,
			 .flags = flags,
			 .index = index,
			 .start = start,
			 .count = count },
		.data = data,
	};

	return g->dev->ops->ioctl(g->dev, VFIO_DEVICE_SET_IRQS, (unsigned long)&s);
}

static void begin(const struct chip_manners *m)
{
	setup_begin(&quiet, m, 1);
	g = &world.vgpu[0];
	g_write(g, PMC_INTR_MASK(PMC_LEAF_HOST), ~0u);
	g_write(g, PMC_INTR_EN(PMC_LEAF_HOST), PMC_INTR_EN_HARDWARE);
	g_write(g, PFIFO_INTR_EN, PFIFO_INTR_NONSTALL);
}

/* The vGPU's line goes up: the chip raised a non-stall interrupt. */
static void raise_line(void)
{
	chip_nonstall();
	harness_sleep(3000000);
	assert_int_equal(g_read(g, PFIFO_INTR) & PFIFO_INTR_NONSTALL, PFIFO_INTR_NONSTALL);
}

static void lower_line(void)
{
	g_write(g, PFIFO_INTR, PFIFO_INTR_NONSTALL);
}

/* ------------------------------------------------------------------ forms */

static void what_is_refused(void **state)
{
	static const struct {
		const char *name;
		u32 index, flags, start, count;
		s32 data;
		int want;
	} cases[] = {
		{ "no such interrupt", VFIO_PCI_NUM_IRQS, TRIGGER | NONE, 0, 1, 0, -EINVAL },
		{ "ERR", VFIO_PCI_ERR_IRQ_INDEX, TRIGGER | EVENTFD, 0, 1, 3, -EINVAL },
		{ "MSI-X", VFIO_PCI_MSIX_IRQ_INDEX, TRIGGER | EVENTFD, 0, 1, 3, -EINVAL },
		{ "the second MSI", MSI, TRIGGER | EVENTFD, 1, 1, 3, -EINVAL },
		{ "two MSIs", MSI, TRIGGER | EVENTFD, 0, 2, 3, -EINVAL },
		{ "so many that the end wraps", MSI, TRIGGER | EVENTFD, 1, ~0u, 3, -EINVAL },
		{ "no action", MSI, EVENTFD, 0, 1, 3, -EINVAL },
		{ "two actions", INTX, MASK | UNMASK | NONE, 0, 1, 0, -EINVAL },
		{ "no data type", MSI, TRIGGER, 0, 1, 3, -EINVAL },
		{ "two data types", MSI, TRIGGER | NONE | BOOL, 0, 1, 1, -EINVAL },
		{ "a flag that is none", MSI, TRIGGER | NONE | 1 << 10, 0, 1, 0, -EINVAL },
		{ "an eventfd for nothing", MSI, TRIGGER | EVENTFD, 0, 0, 3, -EINVAL },
		{ "no eventfd", MSI, TRIGGER | EVENTFD, 0, 1, 99, -EBADF },
		{ "less than none", MSI, TRIGGER | EVENTFD, 0, 1, -2, -EINVAL },
		{ "MSI masked", MSI, MASK | NONE, 0, 1, 0, -EINVAL },
		{ "REQ unmasked", REQ, UNMASK | NONE, 0, 1, 0, -EINVAL },
		{ "masked by an eventfd", INTX, MASK | EVENTFD, 0, 1, 3, -ENOTTY },
		{ "unmasked by no eventfd", INTX, UNMASK | EVENTFD, 0, 1, 99, -EBADF },
		{ "all INTx masked", INTX, MASK | NONE, 0, 0, 0, -EINVAL },
		{ "set", MSI, TRIGGER | EVENTFD, 0, 1, 3, 0 },
		{ "set again", MSI, TRIGGER | EVENTFD, 0, 1, 3, 0 },
		{ "taken by -1", MSI, TRIGGER | EVENTFD, 0, 1, -1, 0 },
		{ "taken by a count of 0", MSI, TRIGGER | NONE, 0, 0, 0, 0 },
		{ "INTx", INTX, TRIGGER | EVENTFD, 0, 1, 4, 0 },
		{ "its unmask", INTX, UNMASK | EVENTFD, 0, 1, 5, 0 },
		{ "a second unmask", INTX, UNMASK | EVENTFD, 0, 1, 6, -EBUSY },
		{ "the unmask taken", INTX, UNMASK | EVENTFD, 0, 1, -1, 0 },
		{ "masked", INTX, MASK | NONE, 0, 1, 0, 0 },
		{ "unmasked, not really", INTX, UNMASK | BOOL, 0, 1, 0, 0 },
		{ "unmasked", INTX, UNMASK | BOOL, 0, 1, 1, 0 },
		{ "REQ", REQ, TRIGGER | EVENTFD, 0, 1, 7, 0 },
	};
	struct vfio_irq_set small = {
		.argsz = sizeof(small), .flags = TRIGGER | EVENTFD, .index = MSI, .count = 1
	};
	u32 i;

	begin(&calm);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (set(cases[i].index, cases[i].flags, cases[i].start, cases[i].count,
			cases[i].data) != cases[i].want)
			harness_fail("SET_IRQS, %s: not %d", cases[i].name, cases[i].want);
	assert_int_equal(g->dev->ops->ioctl(g->dev, VFIO_DEVICE_SET_IRQS, (unsigned long)&small),
			 -EINVAL);
	setup_end();
}

static void msi_goes_by_edges(void **state)
{
	begin(&calm);
	assert_int_equal(set(MSI, TRIGGER | EVENTFD, 0, 1, 3), 0);
	raise_line();
	assert_int_equal(user_eventfd_read(3), 1);
	harness_sleep(5000000);
	assert_int_equal(user_eventfd_read(3), 0);
	/*
	 * an eventfd that is set while the line is up is signalled at once; the former eventfd is
	 * not
	 */
	assert_int_equal(set(MSI, TRIGGER | EVENTFD, 0, 1, 4), 0);
	assert_int_equal(user_eventfd_read(4), 1);
	assert_int_equal(user_eventfd_read(3), 0);
	lower_line();
	raise_line();
	assert_int_equal(user_eventfd_read(4), 1);
	lower_line();
	assert_int_equal(set(MSI, TRIGGER | NONE, 0, 0, 0), 0);
	raise_line();
	assert_int_equal(user_eventfd_read(4), 0);
	/* a VMM tests its eventfd: TRIGGER with 0 does nothing, with 1 signals it */
	assert_int_equal(set(MSI, TRIGGER | EVENTFD, 0, 1, 5), 0);
	user_eventfd_read(5);
	assert_int_equal(set(MSI, TRIGGER | BOOL, 0, 1, 0), 0);
	assert_int_equal(user_eventfd_read(5), 0);
	assert_int_equal(set(MSI, TRIGGER | BOOL, 0, 1, 1), 0);
	assert_int_equal(user_eventfd_read(5), 1);
	setup_end();
}

static void intx_is_a_level(void **state)
{
	begin(&calm);
	assert_int_equal(set(INTX, TRIGGER | EVENTFD, 0, 1, 3), 0);
	assert_int_equal(set(INTX, UNMASK | EVENTFD, 0, 1, 4), 0);
	raise_line();
	assert_int_equal(user_eventfd_read(3), 1);
	/*
	 * told once, which masked the interrupt; the line is still up at the unmask, so told again
	 */
	harness_sleep(5000000);
	assert_int_equal(user_eventfd_read(3), 0);
	user_eventfd_write(4);
	harness_sleep(5000000);
	assert_int_equal(user_eventfd_read(3), 1);
	lower_line();
	user_eventfd_write(4);
	harness_sleep(5000000);
	assert_int_equal(user_eventfd_read(3), 0);
	/* masked by an ioctl */
	assert_int_equal(set(INTX, MASK | NONE, 0, 1, 0), 0);
	raise_line();
	assert_int_equal(user_eventfd_read(3), 0);
	assert_int_equal(set(INTX, UNMASK | NONE, 0, 1, 0), 0);
	assert_int_equal(user_eventfd_read(3), 1);
	/* MSI takes over from INTx, then the eventfd of INTx's unmask is closed */
	assert_int_equal(set(MSI, TRIGGER | EVENTFD, 0, 1, 5), 0);
	user_eventfd_write(4);
	harness_sleep(5000000);
	assert_int_equal(user_eventfd_read(3), 0);
	user_eventfd_close(4);
	assert_int_equal(set(INTX, UNMASK | EVENTFD, 0, 1, 6), 0);
	setup_end();
}

/* One eventfd for the interrupt and its unmask: the unmask's handler runs inside the signal. */
static void one_for_both(void **state)
{
	u32 i;

	begin(&calm);
	assert_int_equal(set(INTX, TRIGGER | EVENTFD, 0, 1, 3), 0);
	assert_int_equal(set(INTX, UNMASK | EVENTFD, 0, 1, 3), 0);
	for (i = 0; i < 4; i++) {
		raise_line();
		assert_true(user_eventfd_read(3) > 0);
		lower_line();
	}
	setup_end();
}

/* ------------------------------------------------------------------ while they are signalled */

static void interrupts(void *arg)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		chip_nonstall();
		g_read(g, PFIFO_INTR);
		g_write(g, PFIFO_INTR, PFIFO_INTR_NONSTALL);
		harness_sleep(4000);
	}
}

static void replaces(void *arg)
{
	set(MSI, TRIGGER | EVENTFD, 0, 1, 3);
	set(MSI, TRIGGER | EVENTFD, 0, 1, 4);
	user_eventfd_close(3);
	set(MSI, TRIGGER | NONE, 0, 0, 0);
	user_eventfd_close(4);
	set(MSI, TRIGGER | EVENTFD, 0, 1, 5);
}

static void intx(void *arg)
{
	set(INTX, TRIGGER | EVENTFD, 0, 1, 3);
	set(INTX, UNMASK | EVENTFD, 0, 1, 4);
	user_eventfd_write(4);
	set(INTX, UNMASK | EVENTFD, 0, 1, -1);
	set(INTX, UNMASK | EVENTFD, 0, 1, 3);
	user_eventfd_write(3);
	user_eventfd_close(3);
	set(INTX, TRIGGER | EVENTFD, 0, 1, -1);
	set(INTX, MASK | NONE, 0, 1, 0);
	set(INTX, UNMASK | NONE, 0, 1, 0);
}

/* The vfio core does so, without the vGPU's lock, while an admin removes the device. */
static void is_to_be_removed(void *arg)
{
	u32 i;

	for (i = 0; i < 8; i++)
		g->dev->ops->request(g->dev, i);
}

static void replaces_req(void *arg)
{
	set(REQ, TRIGGER | EVENTFD, 0, 1, 7);
	set(REQ, TRIGGER | NONE, 0, 0, 0);
}

static void begin_with_req(const struct chip_manners *m)
{
	begin(m);
	assert_int_equal(set(REQ, TRIGGER | EVENTFD, 0, 1, 6), 0);
}

static void replaced_while_signalled(void **state)
{
	explore(&(struct explore){ "REQ replaced", begin_with_req, setup_end, is_to_be_removed,
				   replaces_req, &setup_mm });
	explore(&(struct explore){ "MSI replaced", begin, setup_end, interrupts, replaces,
				   &setup_mm });
	explore(&(struct explore){ "INTx and its unmask", begin, setup_end, interrupts, intx,
				   &setup_mm });
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_refused),	    cmocka_unit_test(msi_goes_by_edges),
		cmocka_unit_test(intx_is_a_level),	    cmocka_unit_test(one_for_both),
		cmocka_unit_test(replaced_while_signalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
