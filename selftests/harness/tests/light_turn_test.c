// SPDX-License-Identifier: GPL-2.0-only
/*
 * Short turns among long ones end in time, also where the slicer's polls take more than a quarter
 * of the short turn (S5): the rests in the long turns count, too. A read of a register takes as
 * long here as in a slow test bed. The slicer's thread works for a third of the time at most
 * nevertheless (S6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define READ_NS (40 * US)
#define LATE_US 640 /* the poll at the end, and one under way then */
#define HEAVY	2 /* vGPUs with the long turns */

static u64 late, turns, polled;

/* Adds to @late by how much each turn of the worker is too long when the slicer ends it. */
static void watch_turns(void *arg)
{
	const struct kvgpu_sched *s = &slicer()->sched;
	const struct kvgpu_sched_ent *mine = &slice_of(WORKER)->ent;
	u64 stop = harness_now + 3 * RUN_MS * MS, end = 0, used = 0;

	while (harness_now < stop) {
		if (s->current_ent == mine && s->started) {
			end = s->slice_end;
		} else if (end) {
			late += harness_now - min(end, harness_now);
			turns++;
			end = 0;
		}
		if (slicer()->rests_from != used) {
			used = slicer()->rests_from;
			polled += slicer()->used;
		}
		harness_sleep(5 * US);
	}
}

static void short_turns_end_in_time(void **state)
{
	struct policy p = coarse;
	u32 i;

	p.read_ns = READ_NS;
	setup_begin(&p, &plain, HEAVY + 1);
	setup_knob(WORKER, "weight", "5");
	for (i = 0; i <= HEAVY; i++) {
		g_ring(&world.vgpu[i], 1, 1);
		chip_at_work(chan_at(i, 1), true);
	}
	harness_sleep(500 * MS);
	late = turns = polled = 0;
	actor_new("watch", setup_mm, false, watch_turns, NULL);
	actors_run();
	late /= max(turns, 1ull) * US;
	polled /= 3 * RUN_MS * MS / 1000;
	printf("# %llu short turns, each %llu us too long on the average; polls take %llu per mille\n",
	       turns, late, polled);
	assert_true(turns >= 20);
	if (late > LATE_US)
		harness_fail("S5: short turns are %llu us too long, %u are allowed", late, LATE_US);
	if (polled > 1000 / 3)
		harness_fail("S6: polls take %llu per mille of the time", polled);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(short_turns_end_in_time) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
