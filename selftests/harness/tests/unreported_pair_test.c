// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two vGPUs work, and the doorbell words of neither tell of that: a kernel goes on, and the ring
 * behind it is empty. A vGPU that left the chip with such work is charged for what it does itself
 * on an engine, and not for what the other one does on that engine in the meantime (S5). Otherwise
 * it would never come back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define ATTACKER  WORKER
#define NEIGHBOUR ACCOMPLICE

static u64 worked[BOTH];

static void meter(void)
{
	u64 end = harness_now + RUN_MS * MS;
	u32 i;

	for (; harness_now < end; harness_sleep(MS / 50), all++)
		for (i = 0; i < BOTH; i++)
			worked[i] += chip_engine_works(chan_at(i, 1));
}

static void judge(const char *cap, const char *weight, u32 least)
{
	u32 has[BOTH], charged[BOTH], i;
	u64 began, took[BOTH];

	setup_begin(&coarse, &plain, BOTH);
	setup_knob(NEIGHBOUR, "cap", cap);
	setup_knob(NEIGHBOUR, "weight", weight);
	for (i = 0; i < BOTH; i++)
		g_ring(&world.vgpu[i], 1, 0);
	harness_sleep(1500 * MS);
	kernel_begin(NEIGHBOUR);
	harness_sleep(20 * MS);
	kernel_begin(ATTACKER);
	all = worked[ATTACKER] = worked[NEIGHBOUR] = 0;
	began = harness_now;
	for (i = 0; i < BOTH; i++)
		took[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	meter();
	for (i = 0; i < BOTH; i++) {
		has[i] = 1000 * worked[i] / all;
		charged[i] = 1000 * (vmach_gpu_time_get(world.vgpu[i].v->m) - took[i]) /
			     (harness_now - began);
	}
	printf("# one has %u.%u %%, is charged %u.%u %%; its neighbour, with a cap of %s %% and weight %s, has %u.%u %%, is charged %u.%u %%\n",
	       has[ATTACKER] / 10, has[ATTACKER] % 10, charged[ATTACKER] / 10,
	       charged[ATTACKER] % 10, cap, weight, has[NEIGHBOUR] / 10, has[NEIGHBOUR] % 10,
	       charged[NEIGHBOUR] / 10, charged[NEIGHBOUR] % 10);
	if (charged[NEIGHBOUR] > has[NEIGHBOUR] + 10 * POINTS)
		harness_fail("S5: it has %u.%u %% and pays for %u.%u %%", has[NEIGHBOUR] / 10,
			     has[NEIGHBOUR] % 10, charged[NEIGHBOUR] / 10, charged[NEIGHBOUR] % 10);
	if (has[NEIGHBOUR] < 10 * (least - POINTS))
		harness_fail("S5: it is entitled to %u %% and has %u.%u %%", least,
			     has[NEIGHBOUR] / 10, has[NEIGHBOUR] % 10);
	setup_end();
}

static void each_pays_for_its_own(void **state)
{
	judge("100", "100", 50);
	judge("100", "1900", 95);
	judge("50", "100", 50);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(each_pays_for_its_own) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
