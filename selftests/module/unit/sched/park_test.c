// SPDX-License-Identifier: GPL-2.0-only
/* vGPUs that hold the chip and wait, and are parked for it. */
#include <selftests/unit_test.h>

#include "selftests/module/sim/gpu.h"

#define MS SIM_MS

/* ----------------------------------------------------------------- step by step, without a chip */

struct bench {
	struct kvgpu_sched s;
	struct kvgpu_sched_ent e[3];
	struct kvgpu_sched_choice c;
	u64 now;
};

static bool parked(const struct kvgpu_sched_ent *e)
{
	return e->work && !e->runnable;
}

static void set_up(struct bench *b)
{
	u32 i;

	kvgpu_sched_init(&b->s);
	b->now = SIM_S;
	for (i = 0; i < 3; i++) {
		b->e[i] =
			(struct kvgpu_sched_ent){ .weight = 100, .cap = 100, .fixed_ppm = 300000 };
		kvgpu_sched_add(&b->s, &b->e[i], b->now);
	}
}

/* results of a poll of a vGPU: no work; has work but makes no progress; works */
enum { NONE, WAITS, RUNS };

static void poll_all(struct bench *b, u64 later, int x, int y)
{
	const int found[] = { x, y };
	u32 i;

	b->now += later;
	for (i = 0; i < 2; i++) {
		/* while vGPUs take turns, the one that has the chip pays for idle time, too */
		if (found[i] == RUNS || (b->c.turns && b->c.ent == &b->e[i]))
			kvgpu_sched_charge(&b->s, &b->e[i], later, b->now);
		kvgpu_sched_note(&b->e[i], found[i] != NONE, found[i] == RUNS);
	}
	kvgpu_sched_polled(&b->s, b->now);
	kvgpu_sched_choose(&b->s, b->now, &b->c);
	if (!b->c.shared)
		b->c.until = kvgpu_sched_started(&b->s, b->now);
}

/* Makes polls until vGPU 0 has the chip. */
static void until_first_has_it(struct bench *b)
{
	u32 i;

	for (i = 0; i < 1000 && b->c.ent != &b->e[0]; i++)
		poll_all(b, MS / 4, WAITS, b->c.ent == &b->e[1] ? RUNS : WAITS);
	assert_ptr_equal(b->c.ent, &b->e[0]);
}

/*
 * Makes polls until vGPU 0 has the chip, and then until it is parked. Returns for how many ns it
 * stays parked.
 */
static u64 parked_for(struct bench *b)
{
	u32 polls = 0;
	u64 at;

	until_first_has_it(b);
	while (!parked(&b->e[0])) {
		poll_all(b, MS / 4, WAITS, WAITS);
		assert_true(++polls <= 3);
	}
	assert_int_equal(polls, 3); /* three polls: parked after more than half a millisecond */
	assert_false(b->e[0].runnable);
	assert_ptr_equal(b->c.ent, &b->e[1]);
	for (at = b->now; parked(&b->e[0]);)
		poll_all(b, MS / 4, WAITS, RUNS);
	return b->now - at;
}

TEST(waits_are_longer_each_time)
{
	static const u32 ms[] = { 2, 4, 8, 16, 32, 32, 32 };
	struct bench b = {};
	u32 i;

	set_up(&b);
	for (i = 0; i < sizeof(ms) / sizeof(ms[0]); i++)
		assert_int_equal(parked_for(&b), ms[i] * MS);
}

/* A parked vGPU that is seen at work competes again at once. */
TEST(work_ends_it)
{
	struct bench b = {};
	u32 i;

	set_up(&b);
	assert_int_equal(parked_for(&b), 2 * MS);
	assert_int_equal(parked_for(&b), 4 * MS);
	until_first_has_it(&b);
	for (i = 0; i < 3; i++)
		poll_all(&b, MS / 4, WAITS, WAITS);
	assert_true(parked(&b.e[0]));
	poll_all(&b, MS / 4, RUNS, WAITS);
	assert_false(parked(&b.e[0]));
	assert_true(b.e[0].runnable);
	assert_int_equal(parked_for(&b), 2 * MS);
}

/*
 * A neighbour can cause any number of polls between two pieces of work of vGPU 0. The number of
 * polls is no reason to park vGPU 0, only the time is.
 */
TEST(looks_do_not_count)
{
	struct bench b = {};
	u32 i;

	set_up(&b);
	until_first_has_it(&b);
	for (i = 0; i < 499; i++) {
		poll_all(&b, 1000, WAITS, WAITS);
		assert_false(parked(&b.e[0]));
	}
	poll_all(&b, 1000, RUNS, WAITS);
	for (i = 0; i < 499; i++) {
		poll_all(&b, 1000, WAITS, WAITS);
		assert_false(parked(&b.e[0]));
	}
	poll_all(&b, 1000, WAITS, WAITS);
	assert_true(parked(&b.e[0]));
}

/*
 * A parked vGPU whose work goes away stays off the chip like any vGPU without work, and no longer
 * keeps the chip from being shared.
 */
TEST(no_work_is_no_wait)
{
	struct bench b = {};
	u32 i;

	set_up(&b);
	until_first_has_it(&b);
	for (i = 0; i < 3; i++)
		poll_all(&b, MS / 4, WAITS, WAITS);
	assert_true(parked(&b.e[0]));
	poll_all(&b, MS / 4, WAITS, RUNS);
	/* on a shared chip the parked vGPU could take half of the time unseen */
	assert_false(b.c.shared);
	assert_ptr_equal(b.c.ent, &b.e[1]);
	poll_all(&b, MS / 4, NONE, RUNS);
	assert_true(b.c.shared);
}

/* A vGPU that waits while no other vGPU has work is not parked. */
TEST(alone_it_may_wait)
{
	struct bench b = {};
	u32 i;

	set_up(&b);
	for (i = 0; i < 100; i++) {
		poll_all(&b, MS, WAITS, NONE);
		assert_false(parked(&b.e[0]));
		assert_ptr_equal(b.c.ent, &b.e[0]);
	}
	/* two vGPUs wait, and each is a reason to park the other: one is parked, never both */
	for (i = 0; i < 1000; i++) {
		poll_all(&b, MS, WAITS, WAITS);
		assert_false(parked(&b.e[0]) && parked(&b.e[1]));
	}
}

/* Polls of an earlier turn do not count towards parking in the next turn. */
TEST(each_turn_begins_anew)
{
	struct bench b = {};
	u32 i, turns = 0;

	set_up(&b);
	for (i = 0; i < 100; i++) {
		until_first_has_it(&b);
		/* one poll, which is so late that it ends the turn */
		poll_all(&b, KVGPU_SCHED_SLICE_DEFAULT + MS, WAITS, WAITS);
		assert_false(parked(&b.e[0]));
		if (b.c.ent == &b.e[1])
			turns++;
		else
			/* vGPU 0 works in between, so that its next turn starts a new count */
			poll_all(&b, MS / 4, RUNS, WAITS);
	}
	assert_true(turns > 30);
}

/* ------------------------------------------------------------------ on a chip */

static struct sim_vgpu *machine(struct sim_gpu *g, u32 nr, u64 stall, u64 period)
{
	struct sim_vgpu *v = sim_vgpus(nr, 4 * MS);

	v[0].work = (struct sim_work){ .kind = SIM_STALL, .len = stall, .period = period };
	sim_init(g, &sim_k20, v, nr, 0);
	return v;
}

static void never_open(struct sim_gpu *g)
{
	assert_false(g->choice.shared && parked(&g->vgpu[0].ent) && g->choice.ent);
}

/*
 * A vGPU that waits for ever gets the chip for a moment now and then, and that costs the other
 * vGPUs little.
 */
TEST(a_wait_costs_little)
{
	struct sim_vgpu *v;
	struct sim_gpu g;
	u32 nr, i;
	u64 all;

	for (nr = 2; nr <= 8; nr *= 2) {
		v = machine(&g, nr, 3600 * SIM_S, SIM_S);
		g.each_choice = never_open;
		sim_run(&g, 20 * SIM_S);
		all = sim_busy(&g);
		if (all < 20 * SIM_S * 93 / 100)
			fail_msg("beside one that waits %u others had %u ms of 20 s", nr - 1,
				 (u32)(all / MS));
		for (i = 1; i < nr; i++)
			assert_in_range(v[i].busy, all / (nr - 1) * 99 / 100,
					all / (nr - 1) * 101 / 100);
		free(v);
	}
}

TEST_MAIN(NULL, NULL)
