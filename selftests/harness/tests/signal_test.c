// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM has so many waiters at its interrupt's eventfd that a signal takes 25 ms, and its guest
 * raises interrupts within all budgets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	  1000000ull
#define SIGNAL_MS 25
#define RUN_MS	  2000
/* most of the time that one source's interrupts may take of the interrupt thread */
#define PART_PER_CENT 20
#define TELL_PER_CENT 13 /* an eighth of a CPU */
/* most ms that a bind and unbind of the neighbour may take */
#define WAIT_MS 10

static const struct chip_manners calm = { .eager = true, .late = 1, .load_ppm = 20000 };
static const struct policy quiet = { .seed = 1 };
static bool done;
static u64 worst, raised;

static void gives_eventfd(struct world_vgpu *g, u32 index, u32 action, s32 fd)
{
	struct {
		struct vfio_irq_set hdr;
		s32 fd;
	} s = {
		.hdr = { .argsz = sizeof(s),
			 .flags = action | VFIO_IRQ_SET_DATA_EVENTFD,
			 .index = index,
			 .count = 1 },
		.fd = fd,
	};

	if (g->dev->ops->ioctl(g->dev, VFIO_DEVICE_SET_IRQS, (unsigned long)&s))
		harness_fail("eventfd %d is not taken", fd);
}

static void wants_pbdma_intr(struct world_vgpu *g)
{
	g_write(g, PMC_INTR_MASK(PMC_LEAF_HOST), ~0u);
	g_write(g, PMC_INTR_EN(PMC_LEAF_HOST), PMC_INTR_EN_HARDWARE);
	g_write(g, PFIFO_INTR_EN, PFIFO_INTR_PBDMA);
}

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
		g_write(g, PFIFO_PBDMA_INTR_SOURCE, ~0u);
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
	u64 began, ran;
	u32 n, host, locked;

	setup_begin(&quiet, &calm, 2);
	gives_eventfd(&world.vgpu[0], VFIO_PCI_MSI_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER, 3);
	wants_pbdma_intr(&world.vgpu[0]);
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
	       (unsigned long long)raised, n, host, locked, (unsigned long long)(ran / MS),
	       (unsigned long long)(began / MS), (unsigned long long)(worst / 1000));
	eventfd_cost(3, 0);
	setup_end();
	/*
	 * Some signals come from the host's own threads: a guest that makes no access is told, too.
	 */
	assert_in_range(host, 2, U32_MAX);
	if (locked || ran * 100 > began * PART_PER_CENT || worst > WAIT_MS * MS)
		harness_fail(
			"S5: %u signals to a VMM with a lock of the card held, %llu ms of the interrupt thread",
			locked, (unsigned long long)(ran / MS));
	if (host * SIGNAL_MS * MS * 100 > began * TELL_PER_CENT + 2 * SIGNAL_MS * MS * 100)
		harness_fail("S5: the host took %llu of %llu ms to signal to one VMM",
			     (unsigned long long)host * SIGNAL_MS,
			     (unsigned long long)(began / MS));
}

/*
 * Another way to a signal: user space writes to the eventfd that unmasks INTx, whose line the guest
 * leaves up.
 */
static void unmasks(void *arg)
{
	u64 end = harness_now + RUN_MS * MS;

	while (harness_now < end) {
		user_eventfd_write(4);
		harness_sleep(SIGNAL_MS * MS);
	}
}

static void who_pays_for_an_unmask(void **state)
{
	u32 host, locked, n;
	struct world_vgpu *g;
	u64 began;

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	gives_eventfd(g, VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER, 3);
	gives_eventfd(g, VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_UNMASK, 4);
	wants_pbdma_intr(g);
	chip_pbdma_intr(g_hchid(g, 1), PBDMA_INTR0_DEVICE);
	harness_sleep(50 * MS);
	eventfd_cost(3, SIGNAL_MS * MS);
	began = harness_now;
	actor_new("unmasks", setup_mm, false, unmasks, NULL);
	actors_run();
	n = eventfd_signals(&host, &locked);
	began = harness_now - began;
	printf("# %u signals of INTx after an unmask, %u of them by the host\n", n, host);
	eventfd_cost(3, 0);
	setup_end();
	assert_in_range(n, 2, U32_MAX);
	if (host * SIGNAL_MS * MS * 100 > began * TELL_PER_CENT + 2 * SIGNAL_MS * MS * 100)
		harness_fail("S5: the host took %llu of %llu ms to signal to one VMM that unmasks",
			     (unsigned long long)host * SIGNAL_MS,
			     (unsigned long long)(began / MS));
}

/* The time that one tenant's signals took must not delay the next tenant's signals. */
static u64 told_after;

static void two_tenants(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 n, host, locked;
	u64 began;

	gives_eventfd(g, VFIO_PCI_MSI_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER, 3);
	wants_pbdma_intr(g);
	eventfd_cost(3, 2000 * MS);
	chip_pbdma_intr(g_hchid(g, 1), PBDMA_INTR0_DEVICE);
	harness_sleep(2100 * MS);
	world_close(0);
	if (!world_open(0, setup_c))
		harness_fail("the next tenant can't open the vGPU");
	setup_run(0, 1, 0);
	gives_eventfd(g, VFIO_PCI_MSI_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER, 4);
	wants_pbdma_intr(g);
	eventfd_cost(4, 1);
	harness_sleep(50 * MS);
	began = harness_now;
	chip_pbdma_intr(g_hchid(g, 1), PBDMA_INTR0_DEVICE);
	do {
		harness_sleep(MS);
		n = eventfd_signals(&host, &locked);
	} while (!n && harness_now - began < 20000 * MS);
	told_after = harness_now - began;
}

static void the_next_tenant_owes_nothing(void **state)
{
	setup_begin(&quiet, &calm, 1);
	actor_new("tenants", setup_mm, false, two_tenants, NULL);
	actors_run();
	eventfd_cost(3, 0);
	setup_end();
	if (told_after > 50 * MS)
		harness_fail("S5: the next tenant was told after %llu ms",
			     (unsigned long long)(told_after / MS));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_pays_for_a_signal),
		cmocka_unit_test(who_pays_for_an_unmask),
		cmocka_unit_test(the_next_tenant_owes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
