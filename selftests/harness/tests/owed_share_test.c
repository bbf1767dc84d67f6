// SPDX-License-Identifier: GPL-2.0-only
/*
 * Under equal share a vGPU's share does not depend on what others run (S5). The worker always has
 * work, which can be preempted at any time. The accomplice's kernels can't be preempted for some
 * ms. After each it pauses, or its cap, which is below its share, throttles it. What the worker
 * did not have during those kernels stays owed to it meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define STEP	(20 * US)
#define LONG_MS 4000

struct kind {
	const char *weight, *cap; /* of the accomplice */
	u32 kernel_ms, pause_ms;
};

static const struct kind *kind;

static void accomplice_asks(bool work)
{
	g_ring(&world.vgpu[ACCOMPLICE], 1, work);
	kick(ACCOMPLICE);
}

static void works(void *arg)
{
	u64 end = harness_now + LONG_MS * MS, next = 0;
	bool begun = false, sleeps = false;
	u16 id;

	chip_at_work(chan_at(WORKER, 1), true);
	for (; harness_now < end; harness_sleep(STEP), all++) {
		chip_load_on_gr(chan_at(WORKER, 1));
		/* chip_hold() stands for a kernel of one thread block */
		if (harness_now >= next &&
		    chip_hold(chan_at(ACCOMPLICE, 1), kind->kernel_ms * MS)) {
			begun = true;
		} else if (begun && kind->pause_ms && !chip_is_held(&id)) {
			begun = false;
			next = harness_now + kind->pause_ms * MS;
			accomplice_asks(false);
			sleeps = true;
		} else if (sleeps && harness_now >= next) {
			sleeps = false;
			accomplice_asks(true);
		}
		had += chip_engine_works(chan_at(WORKER, 1));
	}
	done = true;
}

static void judge(const struct kind *k)
{
	u32 share, has;

	kind = k;
	setup_begin(&coarse, &plain, BOTH);
	assert_int_equal(
		kvgpu_machine_gpu_knob_set(world.gpu, MACHINE_POLICY, KVGPU_SCHED_EQUAL_SHARE), 0);
	setup_knob(ACCOMPLICE, "weight", k->weight);
	setup_knob(ACCOMPLICE, "cap", k->cap);
	had = all = 0;
	actor_new("vGPUs", setup_mm, false, works, NULL);
	actors_run();
	share = kvgpu_machine_entitlement_get(world.vgpu[WORKER].v) / 1000;
	has = 1000 * had / all;
	printf("# weight %s, cap %s, kernels of %u ms, pauses of %u ms: the worker has %u of %u thousandths, the accomplice is charged %llu\n",
	       k->weight, k->cap, k->kernel_ms, k->pause_ms, has, share,
	       (unsigned long long)(vmach_gpu_time_get(world.vgpu[ACCOMPLICE].v->m) /
				    (LONG_MS * US)));
	if (has + 10 * POINTS < share)
		harness_fail(
			"S5: a vGPU that always works has %u thousandths of the time, and may have %u",
			has, share);
	setup_end();
}

static void owed_after_pauses(void **state)
{
	static const struct kind kinds[] = {
		{ "200", "100", 24, 41 },
		{ "350", "100", 28, 1 },
		{ "400", "100", 33, 36 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		judge(&kinds[i]);
}

static void owed_beside_a_cap(void **state)
{
	static const struct kind kinds[] = { { "100", "30", 100, 0 }, { "400", "60", 30, 0 } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		judge(&kinds[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(owed_after_pauses),
		cmocka_unit_test(owed_beside_a_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
