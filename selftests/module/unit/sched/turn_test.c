// SPDX-License-Identifier: GPL-2.0-only
/* The answers of kvgpu_sched_choose(), step by step. */
#include <selftests/unit_test.h>

#include "sched/sched.h"

#define US     1000ull
#define MS     (1000 * US)
#define MAX_NR 8
#define NEVER  KVGPU_SCHED_NEVER

struct bench {
	struct kvgpu_sched s;
	struct kvgpu_sched_ent e[MAX_NR];
	u64 now;
	struct kvgpu_sched_choice c;
};

static struct bench *make(u32 nr, enum kvgpu_sched_policy_id policy)
{
	struct bench *b = calloc(1, sizeof(*b));
	u32 i;

	b->now = 1000 * MS;
	kvgpu_sched_init(&b->s);
	for (i = 0; i < nr; i++) {
		b->e[i] = (struct kvgpu_sched_ent){ .weight = 100,
						    .cap = 100,
						    .fixed_ppm = KVGPU_SCHED_PPM / nr };
		kvgpu_sched_add(&b->s, &b->e[i], b->now);
	}
	assert_int_equal(kvgpu_sched_set_policy(&b->s, policy, b->now), 0);
	return b;
}

static struct kvgpu_sched_ent *choose(struct bench *b)
{
	kvgpu_sched_choose(&b->s, b->now, &b->c);
	assert_true(b->c.until > b->now);
	return b->c.ent;
}

/* The vGPU that is chosen is on the chip from now on. */
static struct kvgpu_sched_ent *starts(struct bench *b)
{
	struct kvgpu_sched_ent *e = choose(b);

	kvgpu_sched_started(&b->s, b->now);
	return e;
}

static void wake(struct bench *b, u32 i)
{
	vsched_runnable_set(&b->s, &b->e[i], true, b->now);
}

static void wake_both(struct bench *b)
{
	wake(b, 0);
	wake(b, 1);
}

static void sleep_now(struct bench *b, u32 i)
{
	vsched_runnable_set(&b->s, &b->e[i], false, b->now);
}

/* @e ran on the engine for all of the next @ns. */
static void run(struct bench *b, struct kvgpu_sched_ent *e, u64 ns)
{
	b->now += ns;
	kvgpu_sched_charge(&b->s, e, ns, b->now);
}

/* Gives the first @nr vGPUs work and one turn each, so that none of them counts as just woken. */
static void all_had_a_turn(struct bench *b, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		wake(b, i);
	for (i = 0; i < nr; i++) {
		assert_ptr_equal(starts(b), &b->e[i]);
		run(b, &b->e[i], b->s.slice_end - b->now);
	}
}

TEST(nobody)
{
	struct bench *b = make(0, KVGPU_SCHED_BEST_EFFORT);

	assert_null(choose(b));
	assert_true(b->c.shared);
	assert_true(b->c.until == NEVER);
	free(b);
	b = make(3, KVGPU_SCHED_EQUAL_SHARE);
	assert_null(choose(b));
	assert_true(b->c.shared);
	free(b);
}

/* A vGPU that is alone has the chip shared without an end. */
TEST(one_alone_is_never_switched)
{
	struct bench *b = make(2, KVGPU_SCHED_BEST_EFFORT);
	u32 i;

	wake(b, 0);
	for (i = 0; i < 1000; i++) {
		assert_ptr_equal(choose(b), &b->e[0]);
		assert_true(b->c.shared);
		assert_true(b->c.until == NEVER);
		run(b, &b->e[0], 7 * MS);
	}
	assert_int_equal(b->e[0].slices, 0);
	assert_int_equal(b->e[0].busy_ns, 7000 * MS);
	assert_null(b->s.current_ent);
	free(b);
}

TEST(two_take_turns)
{
	struct bench *b = make(2, KVGPU_SCHED_BEST_EFFORT);
	struct kvgpu_sched_ent *a, *last = NULL;
	u32 i;

	wake_both(b);
	assert_int_equal(kvgpu_sched_turn_end(&b->s), NEVER);
	for (i = 0; i < 100; i++) {
		a = choose(b);
		assert_non_null(a);
		assert_false(b->c.shared);
		assert_ptr_not_equal(a, last);
		/* the switch takes 200 us, which are not part of the turn */
		b->now += 200 * US;
		assert_int_equal(kvgpu_sched_turn_end(&b->s), NEVER);
		assert_true(kvgpu_sched_started(&b->s, b->now) > b->now);
		assert_int_equal(kvgpu_sched_turn_end(&b->s), b->s.slice_end);
		assert_int_equal(b->s.slice_end, b->now + KVGPU_SCHED_SLICE_DEFAULT);
		run(b, a, 3 * MS);
		assert_ptr_equal(choose(b), a);
		run(b, a, 1 * MS);
		last = a;
	}
	assert_int_equal(b->e[0].slices, 50);
	assert_int_equal(b->e[1].slices, 50);

	/* nobody else waits for the end of this turn */
	a = starts(b);
	sleep_now(b, a == &b->e[0]);
	assert_int_equal(kvgpu_sched_turn_end(&b->s), NEVER);
	free(b);
}

/*
 * Turns are in proportion to weights, but a vGPU of very little weight still has turns of a least
 * length.
 */
TEST(turns_are_in_proportion)
{
	struct bench *b = make(8, KVGPU_SCHED_BEST_EFFORT);
	u64 slice = KVGPU_SCHED_SLICE_DEFAULT;
	u32 i;

	for (i = 0; i < 8; i++)
		wake(b, i);
	starts(b);
	assert_int_equal(b->s.slice_end - b->now, slice * 7 / 2 / 8);
	free(b);

	b = make(2, KVGPU_SCHED_BEST_EFFORT);
	kvgpu_sched_set_weight(&b->s, &b->e[0], 1, b->now);
	kvgpu_sched_set_weight(&b->s, &b->e[1], 10000, b->now);
	wake_both(b);
	for (i = 0; i < 2; i++) {
		struct kvgpu_sched_ent *e = choose(b);

		kvgpu_sched_started(&b->s, b->now);
		assert_int_equal(b->s.slice_end - b->now, e == &b->e[0] ? slice / 5 : slice);
		run(b, e, b->s.slice_end - b->now);
	}
	free(b);
}

/*
 * A vGPU that wakes gets the chip after the shortest turn of the vGPU that has it, unless it has
 * used up what it may have by that.
 */
TEST(one_that_wakes_shortens_the_turn_once)
{
	struct bench *b = make(2, KVGPU_SCHED_BEST_EFFORT);
	u64 shortest = KVGPU_SCHED_SLICE_DEFAULT / 5, end;

	wake(b, 0);
	assert_ptr_equal(choose(b), &b->e[0]);
	run(b, &b->e[0], 50 * MS);
	wake(b, 1);
	/* no turn was under way: vGPU 1 gets the chip at once */
	assert_ptr_equal(starts(b), &b->e[1]);
	run(b, &b->e[1], 100 * US);
	sleep_now(b, 1);
	assert_ptr_equal(choose(b), &b->e[0]);
	assert_true(b->c.shared);
	run(b, &b->e[0], 20 * MS);

	/* vGPU 1 wakes, and now there are turns */
	wake(b, 1);
	assert_ptr_equal(starts(b), &b->e[1]);
	run(b, &b->e[1], 4 * MS);
	assert_ptr_equal(starts(b), &b->e[0]);
	sleep_now(b, 1);
	run(b, &b->e[0], 30 * MS);
	choose(b);
	wake(b, 1);
	assert_ptr_equal(choose(b), &b->e[1]);
	free(b);

	b = make(3, KVGPU_SCHED_BEST_EFFORT);
	all_had_a_turn(b, 2);
	assert_ptr_equal(starts(b), &b->e[0]);
	end = b->s.slice_end;
	run(b, &b->e[0], 300 * US);
	assert_int_equal(b->s.slice_end, end);
	wake(b, 2);
	assert_int_equal(b->s.slice_end, b->now - 300 * US + shortest);
	assert_ptr_equal(choose(b), &b->e[0]);
	run(b, &b->e[0], 500 * US);
	assert_ptr_equal(starts(b), &b->e[2]);
	/* it needs more than it may have when it wakes, so it can't do so again */
	run(b, &b->e[2], 2 * MS);
	sleep_now(b, 2);
	assert_ptr_equal(starts(b), &b->e[1]);
	end = b->s.slice_end;
	run(b, &b->e[1], 100 * US);
	wake(b, 2);
	assert_int_equal(b->s.slice_end, end);
	free(b);
}

/*
 * A vGPU may wake while a switch is under way, and be a better choice than the vGPU for which the
 * switch was begun.
 */
TEST(a_switch_under_way_may_be_given_another_aim)
{
	struct bench *b = make(3, KVGPU_SCHED_BEST_EFFORT);

	all_had_a_turn(b, 2);
	assert_ptr_equal(starts(b), &b->e[0]);
	run(b, &b->e[0], 4 * MS);
	assert_ptr_equal(choose(b), &b->e[1]);
	/* vGPU 0 does not leave the chip: it runs for 30 ms more, and vGPU 2 wakes */
	run(b, &b->e[0], 30 * MS);
	wake(b, 2);
	assert_ptr_equal(starts(b), &b->e[2]);
	run(b, &b->e[2], 3 * MS);
	sleep_now(b, 2);
	/* vGPU 1 has not been on the chip, so it was charged nothing, and is next */
	assert_ptr_equal(choose(b), &b->e[1]);
	free(b);
}

/*
 * When a vGPU ran for too long, the other vGPU gets as much time before the first one's next turn.
 */
TEST(overruns_are_paid_back)
{
	static const struct {
		u64 ran, least, most; /* ms */
	} rows[] = {
		{ 300, 296, 304 },
		{ 3600000, 9990, 10010 }, /* what is beyond KVGPU_SCHED_DEBT_MAX is forgiven */
	};
	struct kvgpu_sched_ent *e;
	struct bench *b;
	u32 i;

	for (i = 0; i < 2; i++) {
		b = make(2, KVGPU_SCHED_BEST_EFFORT);
		wake_both(b);
		assert_ptr_equal(starts(b), &b->e[0]);
		run(b, &b->e[0], rows[i].ran * MS);
		while ((e = starts(b)) != &b->e[0])
			run(b, e, b->s.slice_end - b->now);
		assert_in_range(b->e[1].busy_ns, rows[i].least * MS, rows[i].most * MS);
		free(b);
	}
}

/* Idle time pays debts off, too, at the rate of the vGPU's entitlement. */
TEST(idle_time_pays_debts)
{
	struct bench *b = make(2, KVGPU_SCHED_BEST_EFFORT);

	wake_both(b);
	starts(b);
	run(b, &b->e[0], 100 * MS);
	sleep_now(b, 0);
	sleep_now(b, 1);
	assert_null(choose(b));
	/* not shared: vGPU 0, which is in debt, would start at once when it wakes */
	assert_false(b->c.shared);
	b->now += 150 * MS;
	assert_null(choose(b));
	assert_false(b->c.shared);
	b->now += 60 * MS;
	assert_null(choose(b));
	assert_true(b->c.shared);
	free(b);
}

TEST(suspended_ones_do_not_run)
{
	struct bench *b = make(2, KVGPU_SCHED_BEST_EFFORT);

	wake_both(b);
	assert_ptr_equal(starts(b), &b->e[0]);
	assert_int_equal(b->s.nr_runnable, 2);
	kvgpu_sched_set_suspended(&b->s, &b->e[0], true, b->now);
	assert_ptr_equal(choose(b), &b->e[1]);
	assert_int_equal(b->s.nr_runnable, 1);
	assert_true(b->c.shared);
	kvgpu_sched_set_suspended(&b->s, &b->e[1], true, b->now);
	assert_null(choose(b));
	sleep_now(b, 0);
	wake(b, 0);
	assert_null(choose(b));
	kvgpu_sched_set_suspended(&b->s, &b->e[0], false, b->now);
	assert_ptr_equal(choose(b), &b->e[0]);
	assert_int_equal(b->s.nr_runnable, 1);
	free(b);
}

/* A vGPU is suspended while it holds the chip over a pause: its turn ends, and nobody holds. */
TEST(a_holder_is_suspended)
{
	struct bench *b = make(2, KVGPU_SCHED_BEST_EFFORT);

	all_had_a_turn(b, 2);
	sleep_now(b, 0);
	b->now += 100 * US;
	wake(b, 0);
	assert_ptr_equal(starts(b), &b->e[0]);
	run(b, &b->e[0], 1 * MS);
	sleep_now(b, 0);
	assert_ptr_equal(choose(b), &b->e[0]);
	kvgpu_sched_set_suspended(&b->s, &b->e[0], true, b->now);
	assert_int_equal(b->s.hold_end, 0);
	assert_ptr_equal(choose(b), &b->e[1]);
	free(b);
}

/*
 * A vGPU with a cap runs until its budget is used up. Then no vGPU may run, the chip is not shared,
 * and .until is the time to ask again.
 */
TEST(a_capped_one_is_taken_off)
{
	struct bench *b = make(2, KVGPU_SCHED_BEST_EFFORT);
	u64 start, off;

	kvgpu_sched_set_cap(&b->s, &b->e[0], 50, b->now);
	wake(b, 0);
	assert_ptr_equal(choose(b), &b->e[0]);
	assert_true(b->c.shared);
	start = b->now;
	run(b, &b->e[0], b->c.until - b->now);
	/*
	 * a bucket with 4 ms lasts 8 ms, because it fills at half of the pace at which it is used
	 */
	assert_int_equal(b->now - start, 8 * MS);
	assert_null(choose(b));
	assert_false(b->c.shared);
	assert_true(b->e[0].throttled);
	off = b->now;
	/* vGPU 1 may run meanwhile, but without vGPU 0's list on the chip: it is not shared */
	wake(b, 1);
	assert_ptr_equal(choose(b), &b->e[1]);
	assert_false(b->c.shared);
	kvgpu_sched_started(&b->s, b->now);
	run(b, &b->e[1], 5 * MS);
	assert_ptr_equal(choose(b), &b->e[1]);
	assert_in_range(b->c.until, off + 8 * MS, off + 8 * MS + 50 * US);
	assert_in_range(kvgpu_sched_started(&b->s, b->now), off + 8 * MS, off + 8 * MS + 50 * US);
	sleep_now(b, 1);
	while (!choose(b))
		b->now = b->c.until;
	assert_in_range(b->now - off, 8 * MS, 8 * MS + 50 * US);
	free(b);
}

/* A vGPU that is given the chip for nothing again and again pays for each time. */
TEST(idling_in_moments_is_paid_for)
{
	struct bench *b = make(2, KVGPU_SCHED_BEST_EFFORT);
	u64 held = 0, begin = b->now;

	kvgpu_sched_set_weight(&b->s, &b->e[1], 900, b->now);
	wake_both(b);
	while (b->now < begin + 2000 * MS) {
		if (choose(b) == &b->e[0]) {
			kvgpu_sched_started(&b->s, b->now);
			run(b, &b->e[0], 240 * US);
			held += 240 * US;
			sleep_now(b, 0);
		} else {
			kvgpu_sched_started(&b->s, b->now);
			run(b, &b->e[1], 800 * US);
			wake(b, 0);
		}
	}
	/* its weight is 100 of 1000: it is entitled to a tenth */
	assert_true(held < 2000 * MS / 100 * 14);
	free(b);
}

/* A vGPU that was back soon the last time keeps its turn for a moment when its work ends. */
TEST(a_moment_without_work)
{
	struct bench *b = make(2, KVGPU_SCHED_BEST_EFFORT);

	all_had_a_turn(b, 2);
	sleep_now(b, 0);
	b->now += 100 * US;
	wake(b, 0); /* vGPU 0 was back after 100 us */
	assert_ptr_equal(starts(b), &b->e[0]);
	run(b, &b->e[0], 1 * MS);
	sleep_now(b, 0);
	assert_ptr_equal(choose(b), &b->e[0]);
	assert_false(b->e[0].runnable);
	b->now += 100 * US;
	assert_ptr_equal(choose(b), &b->e[0]);
	wake(b, 0);
	run(b, &b->e[0], 1 * MS);
	assert_ptr_equal(choose(b), &b->e[0]);
	/* it keeps the turn for a quarter of a slice */
	sleep_now(b, 0);
	assert_ptr_equal(choose(b), &b->e[0]);
	b->now += MS;
	assert_ptr_equal(choose(b), &b->e[1]);
	assert_int_equal(b->s.nr_runnable, 1);
	free(b);
}

/*
 * vGPU 0 works alone, then vGPU 1 wakes. The switch to vGPU 1 takes 300 us, in 100 us of which
 * vGPU 0 works. vGPU 1 works for @ns and sleeps, or is throttled by its cap. Returns what vGPU 1
 * paid, ns.
 */
static u64 paid_for_turn(enum kvgpu_sched_policy_id policy, u64 ns, bool held)
{
	struct bench *b = make(2, policy);
	struct kvgpu_sched_ent *e = &b->e[1];
	u64 vtime, paid;
	s64 left;

	wake(b, 0);
	choose(b);
	run(b, &b->e[0], 5 * MS);
	wake(b, 1);
	kvgpu_sched_set_cap(&b->s, e, 50, b->now);
	assert_ptr_equal(choose(b), e);
	run(b, &b->e[0], 100 * US);
	b->now += 200 * US;
	kvgpu_sched_started(&b->s, b->now);
	/* the bucket is used up in the turn, or not full at its end */
	e->limit.left = held ? (s64)ns * (KVGPU_SCHED_PPM / 5) : e->limit.depth / 2;
	vtime = e->vtime;
	run(b, e, ns);
	left = e->limit.left;
	if (!held)
		sleep_now(b, 1);
	assert_true(choose(b) != e);
	assert_true(e->throttled == held);
	paid = (e->vtime - vtime) * e->share / 4096;
	assert_in_range((left - e->limit.left) / KVGPU_SCHED_PPM + ns, paid, paid + 100);
	free(b);
	return paid;
}

/*
 * A vGPU that sleeps before the shortest turn is over pays for the switch. A turn that ends for
 * another reason has no such price.
 */
TEST(short_turns_pay_for_switches)
{
	u64 least = KVGPU_SCHED_SLICE_DEFAULT / 5, ns = least / 4, price = 200 * US;
	u32 policy;

	for (policy = 0; policy < 3; policy++) {
		assert_in_range(paid_for_turn(policy, ns, false), ns + price - 100, ns + price);
		assert_in_range(paid_for_turn(policy, least, false), least - 100, least);
		assert_in_range(paid_for_turn(policy, ns, true), ns - 100, ns);
	}
}

/* Under equal share, time that an idle vGPU does not use goes to no other vGPU. */
TEST(equal_share_holds_back)
{
	struct bench *b = make(2, KVGPU_SCHED_EQUAL_SHARE);
	u64 end = b->now + 2000 * MS;

	wake(b, 0);
	while (b->now < end) {
		u64 until;

		if (choose(b)) {
			until = b->c.until < end ? b->c.until : end;
			run(b, &b->e[0], until - b->now);
		} else {
			assert_false(b->c.shared);
			assert_true(b->c.until != NEVER);
			b->now = b->c.until;
		}
	}
	assert_in_range(b->e[0].busy_ns, 990 * MS, 1010 * MS);
	free(b);
}

/* The answer is the same however often kvgpu_sched_choose() is called. */
TEST(asking_changes_nothing)
{
	struct bench *b = make(4, KVGPU_SCHED_BEST_EFFORT);
	struct kvgpu_sched_ent *e;
	u32 i, k;

	for (i = 0; i < 4; i++)
		wake(b, i);
	for (i = 0; i < 100; i++) {
		e = starts(b);
		for (k = 0; k < 10; k++)
			assert_ptr_equal(choose(b), e);
		run(b, e, (b->s.slice_end - b->now) / 2);
		for (k = 0; k < 10; k++)
			assert_ptr_equal(choose(b), e);
		run(b, e, b->s.slice_end - b->now);
		assert_ptr_not_equal(choose(b), e);
	}
	free(b);
}

TEST_MAIN(NULL, NULL)
