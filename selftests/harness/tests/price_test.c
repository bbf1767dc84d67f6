// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU has short jobs, pays for the switches to its turns (sched/choose.c), and leaves the chip
 * after each job. Another vGPU's thread, which gets a CPU late, preempts its own idle channel
 * without a break, and so has the preempt register at each switch. That must not make the switch
 * long: the one with the short jobs would pay for it, out of its cap, and the GPU be idle (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define RUN_NS (3000 * MS)

static const struct chip_manners calm = { .eager = true, .busy = true, .late = 2, .idles = true };
static struct policy late = { .seed = 1, .oversleep_ns = 3000, .idle_ns = 6 * MS };
static u64 jobs, out, longest, waited, job_ns = 50 * US, pause_ns = 5 * MS;
static u32 charged;

static void light_jobs(void *arg)
{
	u64 end = harness_now + RUN_NS, asked;
	u16 id = chan_at(WORKER, 1);

	while (harness_now < end) {
		g_ring(&world.vgpu[WORKER], 1, 1);
		kick(WORKER);
		asked = harness_now;
		while (!(listed(WORKER) && chip_may_load(id, 0)) && harness_now < end)
			harness_sleep(5 * US);
		waited += harness_now - asked;
		chip_load_on_gr(id);
		chip_at_work(id, true);
		harness_sleep(job_ns);
		chip_at_work(id, false);
		g_ring(&world.vgpu[WORKER], 1, 0);
		kick(WORKER);
		jobs++;
		harness_sleep(pause_ns);
	}
	done = true;
}

/* Its steps are longer while other threads of the harness run: each counts for its time. */
static void meter(void *arg)
{
	u64 last = harness_now, step;

	for (; !done; harness_sleep(5 * US)) {
		step = harness_now - last;
		last = harness_now;
		all += step;
		had += chip_engine_works(chan_at(WORKER, 1)) ? step : 0;
		out += slice_of(WORKER)->ent.cap_throttled ? step : 0;
		longest = max(longest, slicer()->sched.switch_ns);
	}
}

static u64 run(void (*attack)(void *arg), const char *cap)
{
	u64 took, began;

	setup_begin(&coarse, &calm, BOTH);
	setup_knob(WORKER, "cap", cap);
	g_ring(&world.vgpu[WORKER], 1, 0);
	second_channel(ACCOMPLICE);
	harness_sleep(1500 * MS);
	tell_work(ACCOMPLICE, true);
	done = false;
	had = all = jobs = out = longest = waited = 0;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	harness_policy(attack ? &late : &coarse);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("light", setup_mm, false, light_jobs, NULL);
	if (attack)
		actor_new("accomplice", setup_mm, true, attack, NULL);
	actors_run();
	harness_policy(&coarse);
	charged = thousandths(WORKER, took, began);
	printf("# jobs of %llu us, pauses of %llu us, cap %s, %s: %llu jobs, %llu us of wait each, %llu thousandths of the GPU, charged %u; held back by its cap for %llu thousandths; a switch counted %llu us\n",
	       (unsigned long long)(job_ns / US), (unsigned long long)(pause_ns / US), cap,
	       attack == preempts_idle ? "beside preempts" :
	       attack		       ? "beside lists" :
					 "alone",
	       (unsigned long long)jobs, (unsigned long long)(waited / jobs / US),
	       (unsigned long long)(1000 * had / all), charged,
	       (unsigned long long)(1000 * out / all), (unsigned long long)(longest / US));
	setup_end();
	return jobs;
}

/* Lazy: submits lists without a break, and so has gpu->lock at switches. */
static void submits(void *arg)
{
	while (!done) {
		kick(ACCOMPLICE);
		harness_sleep(20 * US);
	}
}

static void judge_jobs(void (*attack)(void *arg))
{
	u64 free, alone, beside;

	job_ns = 50 * US;
	pause_ns = 5 * MS;
	alone = run(NULL, "10");
	free = run(attack, "100");
	beside = run(attack, "10");
	if (beside * 4 < free * 3)
		harness_fail(
			"S5: a vGPU far below its cap has %llu jobs done, %llu without the cap, and %llu if another one does not make its switches long",
			(unsigned long long)beside, (unsigned long long)free,
			(unsigned long long)alone);
}

static void beside_preempts(void **state)
{
	judge_jobs(preempts_idle);
}

static void beside_lists(void **state)
{
	judge_jobs(submits);
}

/* Who leaves the chip does not pay for another thread's preempts. */
static void charged_for_waits(void **state)
{
	static const u32 us[][2] = { { 400, 700 }, { 50, 5000 }, { 400, 1500 }, { 1000, 700 } };
	static void (*const attacks[])(void *arg) = { preempts_idle, submits };
	u32 i, k, has;

	for (i = 0; i < (harness_all() ? ARRAY_SIZE(us) : 2); i++) {
		job_ns = us[i][0] * US;
		pause_ns = us[i][1] * US;
		run(NULL, "100");
		for (k = 0; k < ARRAY_SIZE(attacks); k++) {
			run(attacks[k], "100");
			has = 1000 * had / all;
			if (charged > has + 10 * POINTS)
				harness_fail(
					"S5: a vGPU has %u thousandths of the GPU, and is charged %u",
					has, charged);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(charged_for_waits),
						   cmocka_unit_test(beside_preempts),
						   cmocka_unit_test(beside_lists) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
