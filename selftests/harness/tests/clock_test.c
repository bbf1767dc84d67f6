// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest that knows when the slicer took a sample: a trigger that it stores in its page of flushes
 * is gone after the next sample, and reading the page needs no exit. The guest works from then on,
 * behind doorbell words that tell of no work, and stops when a fixed gap between samples would be
 * over. Samples come at random times, so the guess fails: the time is charged and a cap holds (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS     1000000ull
#define RUN_MS 6000

static const struct chip_manners busy = { .eager = true,
					  .load_ppm = 50000,
					  .late = 2,
					  .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
/* tick: the mean gap of sched/gap.c, ns, that holds here, as if samples came at fixed times */
static u64 on, all, tick;
static bool done;

static void meter(void *arg)
{
	for (; !done; harness_sleep(MS / 20), all++)
		on += chip_engine_works(g_hchid(&world.vgpu[0], 1));
}

static void works_from_poll_to_tick(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	volatile u32 *flush = (u32 *)(g->v->own[VGPU_OWN_FLUSH].memory +
				      (FLUSH_BAR - g->v->own[VGPU_OWN_FLUSH].at));
	u64 end = harness_now + RUN_MS * MS, stop;
	u16 id = g_hchid(g, 1);

	while (harness_now < end) {
		*flush = FLUSH_TRIGGER;
		while (*flush & FLUSH_TRIGGER)
			harness_sleep(5000);
		stop = harness_now + tick - 100000;
		harness_sleep(60000); /* by now the poll has asked the engines, too */
		chip_at_work(id, true);
		if (stop > harness_now)
			harness_sleep(stop - harness_now);
		chip_at_work(id, false);
	}
	done = true;
}

/* @most: the part of the time that the guest may have, and some points more. */
static void try(u32 vgpus, const char *cap, u64 ms, bool neighbour_works, double most)
{
	double had, paid;
	u64 began, before;
	u32 i;

	tick = ms * MS;
	on = all = 0;
	done = false;
	setup_begin(&coarse, &busy, vgpus);
	setup_knob(0, "cap", cap);
	g_ring(&world.vgpu[0], 1, 0);
	for (i = 1; i < vgpus; i++)
		g_ring(&world.vgpu[i], 1, neighbour_works);
	harness_sleep(1500 * MS);
	before = vmach_gpu_time_get(world.vgpu[0].v->m);
	began = harness_now;
	actor_new("attacker", setup_mm, false, works_from_poll_to_tick, NULL);
	actor_new("meter", setup_mm, false, meter, NULL);
	actors_run();
	had = (double)on / all;
	paid = (double)(vmach_gpu_time_get(world.vgpu[0].v->m) - before) / (harness_now - began);
	printf("# %u vGPUs, cap %s, tick %llu ms: has %.1f %%, is charged %.1f %%\n", vgpus, cap,
	       (unsigned long long)ms, 100 * had, 100 * paid);
	if (had > most || paid < had / 2)
		harness_fail(
			"S5: %u vGPUs, cap %s: one that works between polls has the engine for %.1f %% of the time and is charged %.1f %%",
			vgpus, cap, 100 * had, 100 * paid);
	setup_end();
}

static void a_cap_holds(void **state)
{
	try(1, "10", 50, false, 0.15);
	try(1, "10", 10, false, 0.15);
	try(1, "2", 50, false, 0.04);
	try(2, "10", 4, false, 0.15);
	try(2, "10", 1, true, 0.15);
}

static void a_share_is_paid_for(void **state)
{
	try(2, "100", 1, true, 0.5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cap_holds),
		cmocka_unit_test(a_share_is_paid_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
