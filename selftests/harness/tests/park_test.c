// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which vGPUs are parked. A vGPU that has the chip and only waits is kept off the chip for a while.
 * The slicer's polls find out whether it only waits, and a guest can cause polls. Still a vGPU that
 * causes polls gets no more than its share beside one that waits for a moment after each of its
 * kernels (S5). A vGPU that waits for ever is parked, and costs others little.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define STEP	    (10 * US)
#define SHARE	    50
#define WAITER_MOST 8 /* most per cent of the time for a vGPU that waits for ever */

static u64 kernel_ns, wait_ns, others; /* others: how often the neighbour was at work */

/*
 * The worker does kernels, and waits after each; no engine works in a wait. The doorbell words of
 * its channel 2 tell of work all the time.
 */
static void kernels(void *arg)
{
	u64 end = harness_now + RUN_MS * MS, ran = 0, next = 0;
	u16 id = chan_at(WORKER, 1);

	for (; harness_now < end; harness_sleep(STEP), all++) {
		had += chip_engine_works(id);
		others += chip_engine_works(chan_at(ACCOMPLICE, 1));
		if (!chip.at_work[id])
			chip_at_work(id, kernel_ns && harness_now >= next);
		else if (chip_engine_works(id))
			ran += STEP;
		if (kernel_ns && ran >= kernel_ns) {
			ran = 0;
			next = harness_now + wait_ns;
			chip_at_work(id, false);
		}
	}
	done = true;
}

static void kicks(void *arg)
{
	for (; !done; harness_sleep(STEP))
		g_write(&world.vgpu[ACCOMPLICE], PFIFO_RUNLIST_SUBMIT, 1);
}

static void run(u64 kernel_us, u64 wait_us, bool kicked)
{
	setup_begin(&coarse, &plain, BOTH);
	second_channel(WORKER);
	g_ring(&world.vgpu[WORKER], 2, 1);
	kernel_ns = kernel_us * US;
	wait_ns = wait_us * US;
	had = all = others = 0;
	done = false;
	actor_new("worker", setup_mm, false, kernels, NULL);
	if (kicked)
		actor_new("kicks", setup_mm, false, kicks, NULL);
	actors_run();
	setup_end();
	printf("# kernels of %llu us and waits of %llu us%s: has %.1f %%, its neighbour %.1f %%\n",
	       (unsigned long long)kernel_us, (unsigned long long)wait_us,
	       kicked ? ", a neighbour that kicks" : "", 100.0 * had / all, 100.0 * others / all);
}

static void judge(u64 kernel_us, u64 wait_us)
{
	run(kernel_us, wait_us, true);
	if (100 * others > (SHARE + POINTS) * all)
		harness_fail(
			"S5: by kicks a vGPU has %.1f %% beside an equal one, which is left %.1f %%",
			100.0 * others / all, 100.0 * had / all);
}

static void short_waits(void **state)
{
	judge(300, 100);
	judge(1000, 200);
}

static void one_that_waits_for_ever(void **state)
{
	run(0, 0, false);
	if (100 * others < (100 - WAITER_MOST) * all)
		harness_fail("S5: beside one that only waits a vGPU has %.1f %% of the GPU",
			     100.0 * others / all);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(one_that_waits_for_ever),
						   cmocka_unit_test(short_waits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
