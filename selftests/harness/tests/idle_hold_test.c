// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU keeps the chip and hardly uses it. Its doorbell words tell of work all the time. Now and
 * then it works for some microseconds. It causes polls all the time, so that one sees it at work
 * and it is not parked. Still what it keeps from its neighbour counts as used, for its cap, too
 * (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define STEP (10 * US)

static u64 kernel_ns, wait_ns, others, held;

static void kernels(void *arg)
{
	struct kernels k = { kernel_ns, wait_ns };
	u64 end = harness_now + RUN_MS * MS;
	u16 id = chan_at(WORKER, 1);

	for (; harness_now < end; harness_sleep(STEP), all++) {
		had += chip_engine_works(id);
		others += chip_engine_works(chan_at(ACCOMPLICE, 1));
		held += slicer()->owner == world.vgpu[WORKER].v->m;
		kernels_step(&k, id, STEP);
	}
	done = true;
}

static void kicks(void *arg)
{
	for (; !done; harness_sleep(STEP))
		g_write(&world.vgpu[WORKER], PFIFO_RUNLIST_SUBMIT, 2);
}

/* ACCOMPLICE is no accomplice here, but a neighbour that always works. */
static void judge(const char *cap, const char *weight, u64 kernel_us, u64 wait_us)
{
	u32 share = atoi(cap);

	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	setup_knob(WORKER, "weight", weight);
	second_channel(WORKER);
	harness_sleep(1500 * MS);
	g_ring(&world.vgpu[WORKER], 2, 1);
	kernel_ns = kernel_us * US;
	wait_ns = wait_us * US;
	had = all = others = held = 0;
	done = false;
	actor_new("worker", setup_mm, false, kernels, NULL);
	actor_new("kicks", setup_mm, false, kicks, NULL);
	actors_run();
	setup_end();
	printf("# kernels of %llu us, waits of %llu us, cap %s, weight %s: works %.1f %%, keeps the chip %.1f %%, its neighbour works %.1f %%\n",
	       (unsigned long long)kernel_us, (unsigned long long)wait_us, cap, weight,
	       100.0 * had / all, 100.0 * held / all, 100.0 * others / all);
	if (100 * held > (share + POINTS) * all || 100 * others < (100 - share - POINTS) * all)
		harness_fail(
			"S5: with a cap of %u %% it keeps the chip for %.1f %% of the time, and its neighbour is left %.1f %%",
			share, 100.0 * held / all, 100.0 * others / all);
}

static void beside_one_that_works(void **state)
{
	judge("2", "100", 10, 400);
	judge("10", "100", 30, 400);
	judge("10", "1900", 30, 400);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(beside_one_that_works) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
