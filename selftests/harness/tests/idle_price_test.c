// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU (the victim) waits for a semaphore between its kernels, beside a vGPU with a small cap
 * that always works. While the capped vGPU is throttled, no vGPU but the victim can use the chip.
 * So the victim is not parked then, and is not charged for idle time. The victim is charged for
 * time in which it keeps the chip from a vGPU that waits, and not for what passed before that one
 * waited. An attacker wakes now and then and does nothing: that costs the victim no more than the
 * time that the attacker waited (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/ram.h"
#include "selftests/harness/tests/partners.h"

#define VICTIM	 WORKER
#define ATTACKER ACCOMPLICE
#define CAPPED	 BOTH
#define ALL	 (CAPPED + 1)
#define STEP	 (10 * US)

static u64 kernel_ns, wait_ns, wakes, every_ns;

/* When the chip is shared and the victim has work, the chip serves the victim. */
static void serve_open_chip(void)
{
	u16 id = chan_at(VICTIM, 1);

	if (!slicer()->shared || !chip.at_work[id] || chip.engine[0].chid == id || chip.preempting)
		return;
	chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	chip_load_some(0, id);
}

static void kernels(void *arg)
{
	struct kernels k = { kernel_ns, wait_ns };
	u64 end = harness_now + RUN_MS * MS;
	u16 id = chan_at(VICTIM, 1);

	for (; harness_now < end; harness_sleep(STEP), all++) {
		serve_open_chip();
		had += chip_engine_works(id);
		kernels_step(&k, id, STEP);
	}
	done = true;
}

static void wake_now_and_then(void *arg)
{
	u64 began;

	while (!done && every_ns) {
		tell_work(ATTACKER, true);
		kick(ATTACKER);
		wakes++;
		for (began = harness_now; harness_now < began + MS;) {
			harness_sleep(STEP);
			if (slicer()->owner == world.vgpu[ATTACKER].v->m)
				break;
		}
		tell_work(ATTACKER, false);
		kick(ATTACKER);
		harness_sleep(every_ns);
	}
}

static double judge(bool capped, u64 kernel_us, u64 wait_us, u64 every_us)
{
	double has;
	u32 i;

	setup_begin(&coarse, &plain, ALL);
	setup_knob(VICTIM, "cap", "25");
	setup_knob(CAPPED, "cap", "1");
	second_channel(VICTIM);
	second_channel(ATTACKER);
	g_ring(&world.vgpu[CAPPED], 1, capped);
	harness_sleep(1500 * MS);
	tell_work(VICTIM, true);
	kernel_ns = kernel_us * US;
	wait_ns = wait_us * US;
	every_ns = every_us * US;
	had = all = wakes = 0;
	done = false;
	actor_new("victim", setup_mm, false, kernels, NULL);
	actor_new("attacker", setup_mm, false, wake_now_and_then, NULL);
	actors_run();
	has = 100.0 * had / all;
	printf("# kernels of %llu us, waits of %llu us: has %.1f %%; %llu wakes beside, charged %.1f ms\n",
	       (unsigned long long)kernel_us, (unsigned long long)wait_us, has,
	       (unsigned long long)wakes, vmach_gpu_time_get(world.vgpu[ATTACKER].v->m) / 1e6);
	for (i = 0; i < ALL; i++)
		chip_at_work(chan_at(i, 1), false);
	setup_end();
	return has;
}

static void must_keep(double alone, double has, const char *beside)
{
	if (has < alone - POINTS)
		harness_fail("S5: it has %.1f %% by itself, and %.1f %% beside %s", alone, has,
			     beside);
}

/* A vGPU that is throttled by its cap can't use the chip. So no other vGPU is parked for it. */
static void not_parked_for_one_that_is_held_back(void **state)
{
	double alone = judge(false, 100, 400, 0);

	must_keep(alone, judge(true, 100, 400, 0), "one with a cap of 1 %");
}

static void pays_for_what_others_waited(void **state)
{
	double alone = judge(false, 100, 400, 0);

	must_keep(alone, judge(true, 100, 400, 3500), "one that wakes and does nothing");
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(
							   not_parked_for_one_that_is_held_back),
						   cmocka_unit_test(pays_for_what_others_waited) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
