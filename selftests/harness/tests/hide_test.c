// SPDX-License-Identifier: GPL-2.0-only
/*
 * An accomplice hides its partner's work (S5). The partner runs long kernels and preempts its own
 * channel, which keeps the preempt register busy. The accomplice has no work; it binds and unbinds
 * a channel, and for the unbind it waits for that register, with gpu->lock held. The slicer's polls
 * wait for gpu->lock, so that they come when a kernel has ended. Caps and weights hold
 * nevertheless.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS     1000000ull
#define US     1000ull
#define RUN_MS 2500
/* By so many per cent of the time a share may be exceeded: docs/invariants.md promises that. */
#define POINTS 4

static struct chip_manners steady = { .eager = true, .load_ppm = 2000, .late = 2, .idles = true };
static struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
static bool done;
static u32 kernel_us, unbinds;
static u64 had[3], polls;

static void idle_unbinds(void *arg)
{
	struct world_vgpu *g = arg;

	g_inst(g, 2, 0, 0);
	while (!done) {
		g_bind(g, 2);
		g_enable(g, 2, true);
		g_unbind(g, 2);
		unbinds++;
	}
}

static void long_kernels(void *arg)
{
	struct world_vgpu *g = arg;
	u64 end = harness_now + RUN_MS * MS;

	while (harness_now < end) {
		if (chip_hold(g_hchid(g, 1), kernel_us * US))
			g_preempt(g, false, 1);
		else
			harness_sleep(MS / 20);
	}
	done = true;
}

static void who_works(void *arg)
{
	u32 i;

	for (; !done; harness_sleep(MS / 20)) {
		polls++;
		for (i = 0; i < 3; i++)
			if (world.vgpu[i].v && world.vgpu[i].open)
				had[i] += chip_engine_works(g_hchid(&world.vgpu[i], 1));
	}
}

/*
 * vGPU 0 works in kernels of @us microseconds, vGPU 1 is its accomplice. vGPU 2 has @weight and
 * always works; NULL: there is no vGPU 2. vGPU 0 may have @share per cent of the time.
 */
static void judge(const char *cap, u32 us, const char *weight, u32 share)
{
	u32 i, n = 2 + !!weight, has;
	u64 took, began, charged;

	setup_begin(&coarse, &steady, n);
	setup_knob(0, "cap", cap);
	for (i = 0; i < n; i++)
		g_ring(&world.vgpu[i], 1, i == 2);
	if (weight)
		setup_knob(2, "weight", weight);
	harness_sleep(500 * MS);
	kernel_us = us;
	done = false;
	memset(had, 0, sizeof(had));
	polls = unbinds = 0;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[0].v->m);
	actor_new("worker", setup_mm, false, long_kernels, &world.vgpu[0]);
	actor_new("accomplice", setup_mm, false, idle_unbinds, &world.vgpu[1]);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actors_run();
	has = 1000 * had[0] / polls;
	charged = 1000 * (vmach_gpu_time_get(world.vgpu[0].v->m) - took) / (harness_now - began);
	printf("# kernels of %u us, cap %s, a neighbour's weight %s: has %u.%u %%, is charged %llu.%llu %%; %u unbinds\n",
	       us, cap, weight ?: "none", has / 10, has % 10, (unsigned long long)charged / 10,
	       (unsigned long long)charged % 10, unbinds);
	if (has > 10 * (share + POINTS))
		harness_fail("S5: it may have %u %% and %u %% more, and has %u.%u %%", share,
			     POINTS, has / 10, has % 10);
	if (has > charged + 10 * POINTS)
		harness_fail("S5: it has %u.%u %% and pays for %llu.%llu %%", has / 10, has % 10,
			     (unsigned long long)charged / 10, (unsigned long long)charged % 10);
	assert_int_equal(world.vgpu[0].v->m->slice.strikes.total, 0);
	assert_true(unbinds > 100);
	setup_end();
}

static void capped(void **state)
{
	judge("10", 9000, NULL, 10);
	judge("10", 2000, NULL, 10);
	judge("10", 900, NULL, 10);
	judge("10", 300, NULL, 10);
}

static void beside_a_heavy_one(void **state)
{
	judge("100", 9000, "1900", 5);
}

static void beside_an_equal(void **state)
{
	judge("100", 9000, "100", 50);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(capped),
		cmocka_unit_test(beside_a_heavy_one),
		cmocka_unit_test(beside_an_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
