// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU has short jobs, and is idle when it leaves the chip. The thread of another vGPU, which
 * gets a CPU late, has the preempt register at that moment. The wait for it must not count as
 * time that the first one needed to leave, for which it would be taken as at work (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define JOB_NS	 (100 * US)
#define PAUSE_NS (20 * MS)

static const struct chip_manners calm = { .eager = true, .busy = true, .late = 2, .idles = true };
static struct policy late = { .seed = 1, .oversleep_ns = 3000, .idle_ns = 6 * MS };

static void light_jobs(void *arg)
{
	u64 end = harness_now + 2000 * MS;
	u16 id = chan_at(WORKER, 1);

	while (harness_now < end) {
		g_ring(&world.vgpu[WORKER], 1, 1);
		while (!listed(WORKER) && harness_now < end)
			harness_sleep(5 * US);
		chip_load_on_gr(id);
		chip_at_work(id, true);
		harness_sleep(JOB_NS);
		chip_at_work(id, false);
		g_ring(&world.vgpu[WORKER], 1, 0);
		harness_sleep(PAUSE_NS);
	}
	done = true;
}

static void meter(void *arg)
{
	for (; !done; harness_sleep(5 * US), all++)
		had += chip_engine_works(chan_at(WORKER, 1));
}

static void beside_preempts(void **state)
{
	u32 has, pays;
	u64 took, began;

	setup_begin(&coarse, &calm, BOTH);
	g_ring(&world.vgpu[WORKER], 1, 0);
	second_channel(ACCOMPLICE);
	harness_sleep(1500 * MS);
	tell_work(ACCOMPLICE, true);
	done = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	harness_policy(&late);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("light", setup_mm, false, light_jobs, NULL);
	actor_new("preempts", setup_mm, true, preempts_idle, NULL);
	actors_run();
	harness_policy(&coarse);
	has = 1000 * had / all;
	pays = thousandths(WORKER, took, began);
	printf("# it has %u thousandths of the GPU, and is charged %u; its longest leave took %llu us\n",
	       has, pays, (unsigned long long)(slice_of(WORKER)->preempt_max / US));
	assert_true(slice_of(WORKER)->preempts > 50);
	if (pays > has + 10 * POINTS)
		harness_fail("S5: a vGPU has %u thousandths of the GPU, and is charged %u", has,
			     pays);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(beside_preempts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
