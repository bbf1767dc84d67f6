// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time that is waited under gpu->lock, when no vGPU is at work at the beginning and the end of the
 * wait (books.c, vmach_wait_charge()). An accomplice without work unbinds idle channels. Its thread
 * seldom gets a CPU, so that it comes back late from the short sleep in which it waits for the
 * preempt. In between, a worker works alone. The worker is charged for that by what samples see of
 * it in the meantime (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define MS	1000000ull
#define US	1000ull
#define RUN_MS	2000
/* By so many per cent of the time a share may be exceeded: docs/invariants.md promises that. */
#define POINTS	4

enum { WORKER, ACCOMPLICE, BOTH };

static const struct chip_manners plain = { .eager = true, .busy = true, .late = 1, .idles = true };
static struct policy prompt = { .seed = 1, .oversleep_ns = 1000 }, starved;
static u64 had, all, unbinds, pieces, cut, late_ns;
static u16 id2;
static bool done, in_unbind;

static void who_works(void *arg)
{
	for (; !done; harness_sleep(MS / 25), all++)
		had += chip_engine_works(g_hchid(&world.vgpu[WORKER], 1));
}

static void idle_unbinds(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ACCOMPLICE];
	u64 end = harness_now + RUN_MS * MS;

	g_inst(g, 2, 0, 0);
	while (harness_now < end) {
		g_bind(g, 2);
		g_enable(g, 2, true);
		id2 = g_hchid(g, 2);
		starved.seed++;
		harness_policy(&starved);	/* the VMM makes this thread SCHED_IDLE */
		in_unbind = true;
		g_unbind(g, 2);
		in_unbind = false;
		prompt.seed++;
		harness_policy(&prompt);
		unbinds++;
	}
	done = true;
}

/* Return true while the unbind waits for its preempt. */
static bool waits_for_preempt(void)
{
	return in_unbind && chip.preempting &&
	       FIELD_GET(PFIFO_PREEMPT_ID, chip.reg[PFIFO_PREEMPT / 4]) == id2;
}

/*
 * The list is blocked during the unbind, so that nothing is loaded. But a channel that a PBDMA
 * already has goes on.
 */
static void works_meanwhile(void *arg)
{
	u16 id = g_hchid(&world.vgpu[WORKER], 1);

	while (!done) {
		if (!in_unbind && chip.pbdma[0].chid != id)
			chip_load_some(0, id);
		if (!waits_for_preempt() || !chip_begin_held(id, late_ns - 10 * US)) {
			harness_sleep(2 * US);
			continue;
		}
		pieces++;
		while (chip.engine[0].chid == id && chip.engine[0].stuck) {
			harness_sleep(5 * US);
			chip_engine_works(id);
			if (harness_now >= chip.hold_until)
				chip.engine[0].stuck = false;
		}
		cut += !waits_for_preempt();
		while (waits_for_preempt())
			harness_sleep(2 * US);
	}
}

static void judge(const char *cap, u32 us, u64 seed)
{
	u32 share = atoi(cap), has, charged;
	u64 began, took;

	late_ns = us * US;
	prompt.seed = seed;
	starved = prompt;
	starved.idle_ns = late_ns;
	setup_begin(&prompt, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	g_ring(&world.vgpu[WORKER], 1, 0);
	g_ring(&world.vgpu[ACCOMPLICE], 1, 0);
	harness_sleep(500 * MS);
	had = all = unbinds = pieces = cut = 0;
	done = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("worker", setup_mm, false, works_meanwhile, NULL);
	actor_new("accomplice", setup_mm, true, idle_unbinds, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	assert_true(pieces > 100);
	printf("# late by %u us, at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu unbinds, %llu pieces, %llu outlasted\n",
	       us, share, has / 10, has % 10, charged / 10, charged % 10,
	       (unsigned long long)unbinds, (unsigned long long)pieces, (unsigned long long)cut);
	if (has > 10 * (share + POINTS))
		harness_fail("S5: it may have %u %% and %u %% more, and has %u.%u %%", share, POINTS, has / 10, has % 10);
	if (has > charged + 10 * POINTS)
		harness_fail("S5: it has %u.%u %% and pays for %u.%u %%", has / 10, has % 10, charged / 10, charged % 10);
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
