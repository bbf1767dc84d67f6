// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread declares the card lost, and a neighbour's VMM takes memory back at that moment. No
 * page may be unpinned before the card is barred from system memory (S2): a thread for which the
 * card counts as lost skips the invalidate of the TLB and the flush of L2.
 *
 * The thread's access to the card's configuration space takes its time. That time is as long as a
 * VMM likes if the thread is the VMM's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS 1000000ull

enum { TENANT, NEIGHBOUR };

static const struct chip_manners holds = { .eager = true, .load_ppm = 2000, .late = 2 };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 100000 };
static struct mm_struct *mm;
static struct container *c;

static u16 unused_id(void)
{
	u16 id = KVGPU_MAX_CHAN - 1;

	while (world.gpu->chip->by_hchid[id])
		id--;
	return id;
}

/* The tenant's channel does not leave the chip, so that its unbind declares the card lost. */
static void unbinds(void *arg)
{
	struct world_vgpu *g = &world.vgpu[TENANT];

	g_enable(g, 1, false);
	g_unbind(g, 1);
}

static void takes_memory(void *arg)
{
	while (!vmach_gpu_lost(world.gpu))
		harness_sleep(200);
	if (container_unmap(c, SETUP_RAM, SETUP_RAM) != SETUP_RAM)
		harness_fail("S6: memory can't be taken back");
}

/* A second thread that fails at the same time. */
static void fails_too(void *arg)
{
	while (world.gpu->hw.pdev->master && !vmach_gpu_lost(world.gpu))
		harness_sleep(200);
	vmach_gpu_declare_lost(world.gpu, "of this test");
	if (!chip_no_master())
		harness_fail("S2: a thread goes on before the card is lost");
}

static void wait_for(bool (*what)(void))
{
	u32 i;

	for (i = 0; i < 1000 && !what(); i++)
		harness_sleep(MS);
	assert_true(i < 1000);
}

static bool neighbour_is_loaded(void)
{
	return chip_loaded(g_hchid(&world.vgpu[NEIGHBOUR], 1));
}

static bool tenant_stays_loaded(void)
{
	return chip_misname(g_hchid(&world.vgpu[TENANT], 1), unused_id(), true);
}

static void cut_off_by_tenant(u64 slow_ns, void (*beside)(void *arg))
{
	setup_begin(&coarse, &holds, 1);
	mm = mm_new();
	c = container_new(mm);
	container_map(c, SETUP_RAM, 0, SETUP_RAM);
	assert_non_null(world_make(NEIGHBOUR));
	assert_true(world_open(NEIGHBOUR, c));
	setup_run(NEIGHBOUR, 1, 0);
	wait_for(neighbour_is_loaded);
	wait_for(tenant_stays_loaded);
	pci_slow(slow_ns);
	actor_new("tenant", setup_mm, false, unbinds, NULL);
	actor_new("neighbour's VMM", mm, false, beside, NULL);
	actors_run();
	pci_slow(0);
	assert_true(vmach_gpu_lost(world.gpu));
	world_close(NEIGHBOUR);
	container_free(c);
	mm_free(mm);
	setup_end();
}

static void an_unmap_on_another_cpu(void **state)
{
	cut_off_by_tenant(3000, takes_memory);
}

static void an_unmap_while_the_thread_does_not_run(void **state)
{
	cut_off_by_tenant(20 * MS, takes_memory);
}

static void two_threads_fail(void **state)
{
	cut_off_by_tenant(20 * MS, fails_too);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unmap_on_another_cpu),
		cmocka_unit_test(an_unmap_while_the_thread_does_not_run),
		cmocka_unit_test(two_threads_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
