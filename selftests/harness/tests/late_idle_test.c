// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three vGPUs of one attacker compete with a neighbour that always works (S5). Each works in its
 * turn, and stops when the turn's time is over. A little before that all three ask for flushes of
 * L2 in their pages of flushes, so that the poll at the end of the turn is late. The chip is idle
 * until then, for which the vGPU of the turn has to pay. A guest sees all that the attacker has to
 * know: when GR begins to work for it, and when GR stops.
 *
 * How long a flush of L2 takes on a card is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define VICTIM	  0
#define VGPUS	  4
#define READ_NS	  (20 * US) /* between reads of the flush register */
#define TEST_MS	  3000ull
#define WEIGHT	  11 /* of each of the three; the neighbour has 100 */
#define TURN_US	  1160 /* for so long they work in a turn */
#define BEFORE_US 800 /* so long before its end they ask for flushes */
#define SHARE	  (1000 * 3 * WEIGHT / (3 * WEIGHT + 100)) /* per mille */

enum way { WORKS_ON, STOPS };

static u64 had_victim, had_others, total, late_turns, turns, end_at;
static enum way way;

static void ask_for_flushes(void)
{
	u32 i;

	for (i = VICTIM + 1; i < VGPUS; i++) {
		*flush_word(i, FLUSH_L2_SYSMEM_INVALIDATE) = FLUSH_TRIGGER;
		*flush_word(i, FLUSH_L2_DIRTY) = FLUSH_TRIGGER;
	}
}

static void meter(void *arg)
{
	u64 last = harness_now, step;
	u32 i;

	for (; !done; harness_sleep(10 * US)) {
		step = harness_now - last;
		last = harness_now;
		total += step;
		had_victim += chip_engine_works(chan_at(VICTIM, 1)) ? step : 0;
		for (i = VICTIM + 1; i < VGPUS; i++)
			had_others += chip_engine_works(chan_at(i, 1)) ? step : 0;
	}
}

static void until_not_served(u32 i, u64 until)
{
	while (listed(i) && harness_now < min(until, end_at))
		harness_sleep(5 * US);
}

static void one_of_the_others(void *arg)
{
	u32 i = (uintptr_t)arg;
	u16 id = chan_at(i, 1);
	u64 stop;

	while (harness_now < end_at) {
		chip_at_work(id, true);
		while (!(listed(i) && chip_engine_works(id)) && harness_now < end_at)
			harness_sleep(5 * US);
		stop = harness_now + TURN_US * US;
		until_not_served(i, stop - BEFORE_US * US);
		ask_for_flushes();
		until_not_served(i, stop);
		turns++;
		late_turns += listed(i);
		if (way == STOPS)
			chip_at_work(id, false);
		until_not_served(i, ~0ull);
	}
	done = true;
}

/*
 * Returns for how many thousandths of the time the neighbour is kept from GR beyond the share of
 * the others.
 */
static u32 run(u64 seed, enum way w)
{
	static const char *const names[] = { "works on", "stops" };
	u32 i, kept, paid[VGPUS];
	u64 took[VGPUS], began;
	struct policy p = coarse;
	char knob[8];

	way = w;
	slow_reads = 48;
	p.seed = seed;
	p.oversleep_ns = READ_NS;
	had_victim = had_others = total = late_turns = turns = 0;
	done = false;
	setup_begin(&p, &plain, VGPUS);
	snprintf(knob, sizeof(knob), "%u", WEIGHT);
	for (i = VICTIM + 1; i < VGPUS; i++) {
		setup_knob(i, "weight", knob);
		second_channel(i);
	}
	/* the words of channel 2 always tell of work: it keeps its turn */
	for (i = VICTIM + 1; i < VGPUS; i++)
		tell_work(i, true);
	g_ring(&world.vgpu[VICTIM], 1, 1);
	chip_at_work(chan_at(VICTIM, 1), true);
	harness_sleep(500 * MS);
	chip_before_write = slow_flushes;
	began = harness_now;
	end_at = began + TEST_MS * MS;
	for (i = 0; i < VGPUS; i++)
		took[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	actor_new("meter", setup_mm, false, meter, NULL);
	for (i = VICTIM + 1; i < VGPUS; i++)
		actor_new("other", setup_mm, false, one_of_the_others, (void *)(uintptr_t)i);
	actors_run();
	chip_before_write = NULL;
	for (i = 0; i < VGPUS; i++)
		paid[i] = thousandths(i, took[i], began);
	kept = 1000 - 1000 * had_victim / total;
	printf("# seed %llu, flushes of %llu us, weights 100 and 3 x %u, %s: victim %llu (of %u), others work %llu, charged %u, GR idle %llu per mille; %llu of %llu turns late\n",
	       (unsigned long long)seed, (unsigned long long)(slow_reads * READ_NS / US), WEIGHT,
	       names[w], (unsigned long long)(1000 * had_victim / total), 1000 - SHARE,
	       (unsigned long long)(1000 * had_others / total), paid[1] + paid[2] + paid[3],
	       (unsigned long long)(1000 * (total - had_victim - had_others) / total),
	       (unsigned long long)late_turns, (unsigned long long)turns);
	fflush(stdout);
	setup_end();
	return kept > SHARE ? kept - SHARE : 0;
}

static void idle_after_the_turn(void **state)
{
	u64 seed = atoi(getenv("SEED") ?: "1");
	static const enum way ways[] = { WORKS_ON, STOPS };
	u32 i, over;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		over = run(seed, ways[i]);
		if (over > 10 * POINTS)
			harness_fail("S5: they keep the chip for %u.%u %% more than their share",
				     over / 10, over % 10);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(idle_after_the_turn) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
