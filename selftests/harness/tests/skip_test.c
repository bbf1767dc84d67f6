// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time that is waited under gpu->lock for a vGPU that has no work (accounting.c,
 * vmach_wait_charge()). An accomplice without work unbinds channels. A PBDMA has the channel, which
 * waits for GR, and GR has a kernel of the worker. The preempt ends with the kernel. The worker is
 * charged for that time by what samples see of it in the meantime (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS     1000000ull
#define US     1000ull
#define RUN_MS 2000
/* By so many per cent of the time a share may be exceeded, half of what docs/ promise. */
#define POINTS 2

enum { WORKER, ACCOMPLICE, BOTH };

static const struct chip_manners plain = { .eager = true,
					   .busy = true,
					   .late = 1,
					   .idles = true,
					   .waiters_stay = true };
static struct policy prompt = { .seed = 1, .oversleep_ns = 1000 };
static u64 had, all, unbinds, pieces, piece_ns;
static bool done;

static void who_works(void *arg)
{
	for (; !done; harness_sleep(MS / 25), all++)
		had += chip_engine_works(g_hchid(&world.vgpu[WORKER], 1));
}

/* Begins a piece of the worker, behind which a PBDMA has the accomplice's channel @id2. */
static bool piece_begins(u16 id2)
{
	u16 id = g_hchid(&world.vgpu[WORKER], 1);

	if (!chip_may_load(id2, 0) || chip_is_stuck())
		return false;
	chip_load_some(0, id);
	if (!chip_begin_held(id, piece_ns))
		return false;
	chip_load_some(0, id2);
	return chip.pbdma[0].chid == id2;
}

static void unbinds_behind_pieces(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ACCOMPLICE];
	u64 end = harness_now + RUN_MS * MS, list[] = { 1, 2 };

	g_inst(g, 2, 0, 0);
	for (; harness_now < end; unbinds++) {
		g_bind(g, 2);
		g_list(g, list, 2);
		g_enable(g, 2, true);
		while (harness_now < end && !piece_begins(g_hchid(g, 2)))
			harness_sleep(5 * US);
		pieces++;
		g_unbind(g, 2);
	}
	done = true;
}

static void judge(const char *cap, u32 us, u64 seed)
{
	u32 share = atoi(cap), has, charged;
	u64 began, took;

	piece_ns = us * US;
	prompt.seed = seed;
	setup_begin(&prompt, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	g_ring(&world.vgpu[WORKER], 1, 0);
	g_ring(&world.vgpu[ACCOMPLICE], 1, 0);
	harness_sleep(500 * MS);
	had = all = unbinds = pieces = 0;
	done = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("accomplice", setup_mm, false, unbinds_behind_pieces, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	assert_true(pieces > 100);
	printf("# pieces of %u us, at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu unbinds, %llu pieces\n",
	       us, share, has / 10, has % 10, charged / 10, charged % 10,
	       (unsigned long long)unbinds, (unsigned long long)pieces);
	if (has > 10 * (share + POINTS))
		harness_fail("S5: it may have %u %% and %u %% more, and has %u.%u %%", share,
			     POINTS, has / 10, has % 10);
	if (has > charged + 10 * POINTS)
		harness_fail("S5: it has %u.%u %% and pays for %u.%u %%", has / 10, has % 10,
			     charged / 10, charged % 10);
	setup_end();
}

static void at_ten(void **state)
{
	judge("10", 60, 1);
	judge("10", 40, 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(at_ten) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
