// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel that does not leave the chip: which step is due at which time. Also strikes, and the
 * budget of resets.
 */
#include <selftests/unit_test.h>

#include "sched/sched.h"

#define MS    1000000ull
#define NEVER (~0ull)

/* Polls once, and then recovers, each as soon as it is due, and else waits. */
static void follow(u64 start, u64 watchdog)
{
	u64 poll = watchdog / 2 < KVGPU_HANG_POLL_NS ? watchdog / 2 : KVGPU_HANG_POLL_NS;
	struct kvgpu_hang h;

	kvgpu_sched_hang_begin(&h, start);
	if (poll)
		assert_int_equal(kvgpu_sched_hang_next(&h, watchdog, start + poll - 1),
				 KVGPU_HANG_WAIT);
	assert_int_equal(kvgpu_sched_hang_next(&h, watchdog, start + poll), KVGPU_HANG_POLL);
	if (watchdog)
		assert_int_equal(kvgpu_sched_hang_next(&h, watchdog, start + watchdog - 1),
				 KVGPU_HANG_WAIT);
	assert_int_equal(kvgpu_sched_hang_next(&h, watchdog, start + watchdog), KVGPU_HANG_RECOVER);
}

TEST(step_by_step)
{
	static const u64 watchdog[] = {
		0, 1, 2, 50 * MS, 100 * MS, 200 * MS, 2000 * MS, 60000 * MS
	};
	u32 i;

	for (i = 0; i < 8; i++) {
		follow(0, watchdog[i]);
		follow(123456789, watchdog[i]);
		follow(NEVER - 61000 * MS, watchdog[i]);
	}
}

/* A call that comes too late still answers POLL before RECOVER, and then RECOVER at once. */
TEST(late)
{
	struct kvgpu_hang h;

	kvgpu_sched_hang_begin(&h, 1000);
	assert_int_equal(kvgpu_sched_hang_next(&h, 2000 * MS, 9000 * MS), KVGPU_HANG_POLL);
	assert_int_equal(kvgpu_sched_hang_next(&h, 2000 * MS, 9000 * MS), KVGPU_HANG_RECOVER);
	assert_int_equal(kvgpu_sched_hang_next(&h, 2000 * MS, 9001 * MS), KVGPU_HANG_RECOVER);
}

/* Calls that come too early and too often. */
TEST(early)
{
	struct kvgpu_hang h;
	u64 now;
	u32 polls = 0;

	kvgpu_sched_hang_begin(&h, 0);
	for (now = 0; now < 500 * MS; now += MS / 3) {
		enum kvgpu_hang_step step = kvgpu_sched_hang_next(&h, 500 * MS, now);

		assert_int_not_equal(step, KVGPU_HANG_RECOVER);
		polls += step == KVGPU_HANG_POLL;
		assert_true(polls == (now >= 100 * MS));
	}
	assert_int_equal(kvgpu_sched_hang_next(&h, 500 * MS, 500 * MS), KVGPU_HANG_RECOVER);
}

/* If the watchdog's time changes during a preempt, the new time counts. */
TEST(another_watchdog)
{
	struct kvgpu_hang h;

	kvgpu_sched_hang_begin(&h, 0);
	assert_int_equal(kvgpu_sched_hang_next(&h, 2000 * MS, 150 * MS), KVGPU_HANG_POLL);
	assert_int_equal(kvgpu_sched_hang_next(&h, 9000 * MS, 2500 * MS), KVGPU_HANG_WAIT);
	assert_int_equal(kvgpu_sched_hang_next(&h, 500 * MS, 2600 * MS), KVGPU_HANG_RECOVER);
}

TEST(a_time_at_the_end_of_all_times)
{
	struct kvgpu_hang h;

	kvgpu_sched_hang_begin(&h, NEVER - 5);
	assert_int_equal(kvgpu_sched_hang_next(&h, 2000 * MS, NEVER - 4), KVGPU_HANG_WAIT);
	kvgpu_sched_hang_begin(&h, 5);
	assert_int_equal(kvgpu_sched_hang_next(&h, NEVER, NEVER - 1), KVGPU_HANG_POLL);
	assert_int_equal(kvgpu_sched_hang_next(&h, NEVER, NEVER - 1), KVGPU_HANG_WAIT);
}

/*
 * Returns the number of strikes not forgiven yet at @now: adds a strike to a copy of @k, and does
 * not count that one.
 */
static u32 still(const struct kvgpu_strikes *k, u64 now)
{
	struct kvgpu_strikes next = *k;

	kvgpu_sched_strike_add(&next, now);
	return next.count - 1;
}

TEST(strikes_in_a_row)
{
	struct kvgpu_strikes k = {};
	u32 i;

	for (i = 1; i < KVGPU_STRIKES_MAX; i++) {
		assert_false(kvgpu_sched_strike_add(&k, i * MS));
		assert_int_equal(still(&k, i * MS), i);
	}
	assert_true(kvgpu_sched_strike_add(&k, 100 * MS));
	assert_true(kvgpu_sched_strike_add(&k, 101 * MS));
	assert_int_equal(k.total, KVGPU_STRIKES_MAX + 1);
	k.count = 0;
	assert_int_equal(still(&k, 102 * MS), 0);
	assert_false(kvgpu_sched_strike_add(&k, 103 * MS));
	assert_int_equal(still(&k, 103 * MS), 1);
	assert_int_equal(k.total, KVGPU_STRIKES_MAX + 2);
}

TEST(strikes_are_forgiven)
{
	struct kvgpu_strikes k = {};
	u64 now = 1000 * MS;
	u32 i;

	for (i = 0; i < 3; i++)
		kvgpu_sched_strike_add(&k, now);
	assert_int_equal(still(&k, now + KVGPU_STRIKE_FORGIVEN_NS - 1), 3);
	assert_int_equal(still(&k, now + KVGPU_STRIKE_FORGIVEN_NS), 2);
	assert_int_equal(still(&k, now + 3 * KVGPU_STRIKE_FORGIVEN_NS), 0);
	assert_int_equal(still(&k, NEVER), 0);
	/* a new strike does not delay the time at which old ones are forgiven */
	kvgpu_sched_strike_add(&k, now + KVGPU_STRIKE_FORGIVEN_NS + KVGPU_STRIKE_FORGIVEN_NS / 2);
	assert_int_equal(k.count, 3);
	assert_int_equal(still(&k, now + 2 * KVGPU_STRIKE_FORGIVEN_NS), 2);
	/* a time before the last strike forgives nothing */
	assert_int_equal(still(&k, 0), 3);
	/* strikes as rare as they are forgiven are not too much */
	k = (struct kvgpu_strikes){};
	for (i = 0; i < 1000; i++)
		assert_false(kvgpu_sched_strike_add(&k, now += KVGPU_STRIKE_FORGIVEN_NS + 1));
	/* strikes that are a little more frequent are too much after a while */
	k = (struct kvgpu_strikes){};
	for (i = 0; i < 1000; i++)
		if (kvgpu_sched_strike_add(&k, now += KVGPU_STRIKE_FORGIVEN_NS / 30 * 29))
			break;
	assert_in_range(i, 100, 400);
}

/* KVGPU_RESETS_BURST resets are free, further ones are not. Resets are forgotten with time. */
TEST(resets_have_a_budget)
{
	struct kvgpu_resets r = {};
	u64 now = 1000 * MS;
	u32 i;

	for (i = 0; i < KVGPU_RESETS_BURST; i++)
		assert_false(kvgpu_sched_reset_add(&r, now));
	for (i = 0; i < 1000; i++)
		assert_true(kvgpu_sched_reset_add(&r, now + i % 400 * MS));
	assert_false(kvgpu_sched_reset_add(&r, now + KVGPU_RESET_FORGOTTEN_NS));
	assert_true(kvgpu_sched_reset_add(&r, now + KVGPU_RESET_FORGOTTEN_NS));
	now += (KVGPU_RESETS_BURST + 1) * KVGPU_RESET_FORGOTTEN_NS;
	for (i = 0; i < KVGPU_RESETS_BURST; i++)
		assert_false(kvgpu_sched_reset_add(&r, now));
	assert_true(kvgpu_sched_reset_add(&r, now));
	/* a time before the last reset forgets nothing */
	assert_true(kvgpu_sched_reset_add(&r, 0));
	/* resets as often as they are forgotten are free; more of them are not */
	r = (struct kvgpu_resets){};
	for (i = 0; i < 10000; i++)
		assert_false(kvgpu_sched_reset_add(&r, now += KVGPU_RESET_FORGOTTEN_NS));
	for (i = 0; i < 10000; i++)
		if (kvgpu_sched_reset_add(&r, now += i % 20 ? KVGPU_RESET_FORGOTTEN_NS : 0))
			break;
	assert_in_range(i, 500, 700);
	assert_false(kvgpu_sched_reset_add(&r, NEVER));
}

TEST_MAIN(NULL, NULL)
