// SPDX-License-Identifier: GPL-2.0-only
/*
 * V4: a VMM has so many waiters at its interrupt's eventfd that a signal takes 25 ms (20,000 entries of poll() in each of 32 threads do it),
 * and its guest raises interrupts within all budgets. What that costs the card's interrupt thread, the host, and a neighbour.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "mdev/machine.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS		1000000ull
#define SIGNAL_MS	25
#define RUN_MS		2000
#define PART_PER_CENT	20	/* of the interrupt thread's time, for one source, as in interrupt_test */
#define TELL_PER_CENT	13	/* an eighth of a CPU */
#define WAIT_MS		10	/* of the neighbour's bind and unbind: they take 2 when nobody else does anything */

static const struct chip_manners calm = { .eager = true, .late = 1, .load_ppm = 20000 };
static const struct policy quiet = { .seed = 1 };
static bool done;
static u64 worst, raised;

static void storms(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 end = harness_now + RUN_MS * MS;
	u32 p;

	while (harness_now < end) {
		raised += chip_pbdma_intr(g_hchid(g, 1), PBDMA_INTR0_DEVICE);
		harness_sleep(MS);
		for (p = 0; p < 3; p++)
			g_write(g, PBDMA(p) + PBDMA_INTR0, ~0u);
		g_write(g, PFIFO_PBDMA_INTR_SOURCE, ~0u);	/* the line falls, so that it can rise */
	}
	done = true;
}

static void neighbour(void *arg)
{
	struct world_vgpu *g = &world.vgpu[1];
	u64 began;

	while (!done) {
		began = harness_now;
		g_bind(g, 2);
		g_unbind(g, 2);
		worst = max(worst, harness_now - began);
		harness_sleep(3 * MS);
	}
}

static void who_pays_for_a_signal(void **state)
{
	struct { struct vfio_irq_set hdr; s32 fd; } s = {
		.hdr = { .argsz = sizeof(s), .flags = VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
			 .index = VFIO_PCI_MSI_IRQ_INDEX, .count = 1 }, .fd = 3,
	};
	u64 began, ran;
	u32 n, host, locked;

	setup_begin(&quiet, &calm, 2);
	assert_int_equal(world.vgpu[0].dev->ops->ioctl(world.vgpu[0].dev, VFIO_DEVICE_SET_IRQS, (unsigned long)&s), 0);
	g_write(&world.vgpu[0], PMC_INTR_MASK(PMC_LEAF_HOST), ~0u);
	g_write(&world.vgpu[0], PMC_INTR_EN(PMC_LEAF_HOST), PMC_INTR_EN_HARDWARE);
	g_write(&world.vgpu[0], PFIFO_INTR_EN, PFIFO_INTR_PBDMA);
	g_inst(&world.vgpu[1], 2, 0, 0);
	eventfd_cost(3, SIGNAL_MS * MS);
	began = harness_now;
	ran = irq_time();
	actor_new("storms", setup_mm, false, storms, NULL);
	actor_new("neighbour", setup_mm, false, neighbour, NULL);
	actors_run();
	ran = irq_time() - ran;
	n = eventfd_signals(&host, &locked);
	began = harness_now - began;
	printf("# %llu raised, %u signals, %u of them by the host, %u with a lock of the card held; the interrupt thread ran %llu of %llu ms; the neighbour waited %llu us\n",
	       (unsigned long long)raised, n, host, locked, (unsigned long long)(ran / MS), (unsigned long long)(began / MS),
	       (unsigned long long)(worst / 1000));
	eventfd_cost(3, 0);
	setup_end();
	assert_in_range(host, 2, U32_MAX);	/* a guest that does nothing is told */
	if (locked || ran * 100 > began * PART_PER_CENT || worst > WAIT_MS * MS)
		harness_fail("S5: %u signals to a VMM with a lock of the card held, %llu ms of the interrupt thread", locked,
			     (unsigned long long)(ran / MS));
	if (host * SIGNAL_MS * MS * 100 > began * TELL_PER_CENT + 2 * SIGNAL_MS * MS * 100)
		harness_fail("S5: the host took %llu of %llu ms to signal to one VMM", (unsigned long long)host * SIGNAL_MS,
			     (unsigned long long)(began / MS));
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(who_pays_for_a_signal) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
