// SPDX-License-Identifier: GPL-2.0-only
/* The timer: its rate, its setting, and consistent reads; and its alarm. */
#include <unistd.h>

#include "card.h"
#include "clock.h"

#define INTR   0x009100
#define EN     0x009140
#define DIV    0x009200
#define MUL    0x009210
#define SOURCE 0x009220
#define LOW    0x009400
#define HIGH   0x009410
#define ALARM  0x009420
#define MS     1000000u

static const struct unit_ops *const list[] = { &ptop_unit, &pmc_unit, &ptimer_unit };

/* nouveau's ratio (subdev/timer/nv41.c, recorded on this model) */
static void set_ns_rate(struct card *c)
{
	wr(c, SOURCE, 2);
	wr(c, DIV, 0x144);
	wr(c, MUL, 0x7d);
}

static int setup(void **state)
{
	struct card *c;

	clock_stop();
	c = card_new("k20m", list, 3);
	set_ns_rate(c);
	clock_move(MS); /* so that the time is not 0 */
	wr(c, 0x000640, 1u << 20);
	wr(c, 0x000140, 1);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	card_free(*state);
	return 0;
}

static uint64_t now(struct card *c)
{
	uint32_t hi, lo;

	do {
		hi = rd(c, HIGH);
		lo = rd(c, LOW);
	} while (hi != rd(c, HIGH));
	return (uint64_t)hi << 32 | lo;
}

static bool level(struct card *c)
{
	bool l;

	pthread_mutex_lock(&c->g.lock);
	l = c->level;
	pthread_mutex_unlock(&c->g.lock);
	return l;
}

/* Waits until the alarm's thread has raised the line. Only a defect can make that last a minute. */
static void await_level(struct card *c)
{
	uint64_t end = real_ns() + 60000000000ull;

	while (!level(c)) {
		assert_true(real_ns() < end);
		usleep(200);
	}
}

static void await_sleepers(unsigned int n)
{
	uint64_t end = real_ns() + 60000000000ull;

	while (clock_sleepers() != n) {
		assert_true(real_ns() < end);
		usleep(200);
	}
}

/*
 * Checks that the line stays low. The time stands still, so it does not matter how often the
 * alarm's thread looks.
 */
static void no_level(struct card *c)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		assert_false(level(c));
		usleep(500);
	}
	assert_int_equal(rd(c, INTR), 0);
}

/* The time counts ns, in ticks of 32 ns. */
static void test_counts_nanoseconds(void **state)
{
	struct card *c = *state;
	uint64_t t0 = now(c), t1;

	clock_move(50 * MS);
	t1 = now(c);
	assert_in_range(t1 - t0, 50 * MS - 31, 50 * MS + 31);
	assert_int_equal(t1 & 31, 0);
	assert_int_equal(ptimer_now(&c->g), t1);
}

static void test_runs_by_itself(void **state)
{
	struct card *c = *state;
	uint64_t m0, t0, m1, t1;

	clock_run();
	m0 = mono_ns();
	t0 = now(c);
	usleep(20000);
	t1 = now(c);
	m1 = mono_ns();
	assert_in_range(t1 - t0, 20 * MS - 64, m1 - m0 + 64);
}

static void test_can_be_set(void **state)
{
	struct card *c = *state;

	wr(c, HIGH, 0x12345);
	wr(c, LOW, 0x80000000);
	assert_true(now(c) == 0x1234580000000ull);
	wr(c, HIGH, ~0u);
	assert_int_equal(rd(c, HIGH) >> 29, 0);
}

static void test_low_word_carries_into_high(void **state)
{
	struct card *c = *state;

	wr(c, HIGH, 7);
	wr(c, LOW, 0xfffff000);
	clock_move(0x1000);
	assert_true(now(c) == 8ull << 32);
}

/*
 * nouveau programs 81 MHz * 125 / 324 = 31.25 MHz. Twice the divider gives half the speed. A
 * multiplier or a divider of 0 stops the time.
 */
static void test_ratio(void **state)
{
	struct card *c = *state;
	uint64_t t0;

	wr(c, SOURCE, 2);
	wr(c, DIV, 0x144);
	wr(c, MUL, 0x7d);
	assert_int_equal(rd(c, DIV), 0x144);
	wr(c, DIV, 0x288);
	t0 = now(c);
	clock_move(40 * MS);
	assert_in_range(now(c) - t0, 20 * MS - 31, 20 * MS + 31);
	wr(c, MUL, 0);
	t0 = now(c);
	clock_move(2 * MS);
	assert_int_equal(now(c), t0);
	wr(c, MUL, 0x7d);
	wr(c, DIV, 0);
	t0 = now(c);
	clock_move(2 * MS);
	assert_int_equal(now(c), t0);
}

static void *reader(void *arg)
{
	struct card *c = arg;
	uint64_t last = 0, t;
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		t = ptimer_now(&c->g);
		if (t < last || t > 1ull << 40)
			return (void *)1;
		last = t;
	}
	return NULL;
}

/*
 * Each write of the ratio computes the base of the time anew, here with the same ratio. Readers
 * without the lock must not see the time jump.
 */
static void test_readers_without_lock(void **state)
{
	struct card *c = *state;
	pthread_t th;
	unsigned int i;
	void *bad;

	clock_run();
	pthread_create(&th, NULL, reader, c);
	for (i = 0; i < 20000; i++)
		wr(c, DIV, 324);
	pthread_join(th, &bad);
	assert_null(bad);
}

static void test_alarm_fires_when_due(void **state)
{
	struct card *c = *state;
	uint64_t t0 = now(c);

	wr(c, ALARM, t0 + 80 * MS);
	wr(c, EN, 1);
	clock_move(80 * MS - 64);
	no_level(c);
	clock_move(96);
	await_level(c);
	assert_int_equal(rd(c, INTR), 1);
	assert_int_equal(rd(c, 0x000100), 1u << 20);
	wr(c, INTR, 1);
	no_level(c);
	clock_move((4ull << 30) - 96); /* the next match is 2^32 ns after the last one */
	no_level(c);
	clock_move(96);
	await_level(c);
}

static void test_alarm_across_the_low_words_wrap(void **state)
{
	struct card *c = *state;

	wr(c, HIGH, 3);
	wr(c, LOW, 0xffffffff - 20 * MS);
	wr(c, ALARM, 60 * MS);
	wr(c, EN, 1);
	clock_move(80 * MS - 64);
	no_level(c);
	clock_move(128);
	await_level(c);
	assert_true(now(c) >= (4ull << 32) + 60 * MS - 32);
}

/* The distance to an alarm is unsigned: an alarm more than 2.1 s ahead is ahead, and not behind. */
static void test_far_alarm_is_not_due(void **state)
{
	struct card *c = *state;

	wr(c, ALARM, (uint32_t)now(c) + 3000 * MS);
	wr(c, EN, 1);
	no_level(c);
	clock_move(2999 * (uint64_t)MS);
	no_level(c);
	clock_move(2 * MS);
	await_level(c);
	wr(c, INTR, 1);
	wr(c, ALARM, (uint32_t)now(c) - 100); /* just missed: the next match comes in 4.3 s */
	no_level(c);
	clock_move(4200 * (uint64_t)MS);
	no_level(c);
	clock_move(100 * MS);
	await_level(c);
}

static void test_match_while_masked_shows_later(void **state)
{
	struct card *c = *state;

	wr(c, ALARM, now(c) + 2 * MS);
	clock_move(10 * MS);
	assert_false(level(c));
	assert_int_equal(rd(c, INTR), 1);
	wr(c, EN, 1);
	assert_true(level(c));
	wr(c, EN, 0);
	assert_false(level(c));
}

static void test_time_step_past_the_alarm(void **state)
{
	struct card *c = *state;

	wr(c, ALARM, 0x40000000);
	wr(c, EN, 1);
	wr(c, LOW, 0x40000000 - 5 * MS);
	no_level(c);
	clock_move(5 * MS + 32);
	await_level(c);
}

/*
 * While the interrupt is pending no further match matters. So the thread must wait for a change,
 * and not for a time.
 */
static void test_sleeps_when_not_armed(void **state)
{
	struct card *c = *state;

	assert_int_equal(clock_sleepers(), 0);
	wr(c, ALARM, now(c) + MS);
	wr(c, EN, 1);
	await_sleepers(1);
	clock_move(2 * MS);
	await_level(c);
	await_sleepers(0);
	wr(c, INTR, 1);
	await_sleepers(1);
	wr(c, EN, 0);
	await_sleepers(0);
}

static void test_fault_record(void **state)
{
	struct card *c = *state;

	wr(c, 0x009084, 0x1234);
	assert_int_equal(rd(c, 0x009084), 0);
	wr(c, 0x009088, 0x1234);
	assert_int_equal(rd(c, 0x009088), 0);
}

/* No boot script sets the ratio. */
static void test_stands_still_after_reset(void **state)
{
	struct card *c = *state;
	uint64_t t;

	wr(c, 0x200, rd(c, 0x200) & ~(1u << 16));
	wr(c, 0x200, rd(c, 0x200) | 1u << 16);
	t = now(c);
	clock_move(5 * MS);
	assert_true(now(c) == t);
	set_ns_rate(c);
	clock_move(5 * MS);
	assert_true(now(c) - t >= 4 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_counts_nanoseconds),
		T(test_runs_by_itself),
		T(test_can_be_set),
		T(test_low_word_carries_into_high),
		T(test_ratio),
		T(test_readers_without_lock),
		T(test_alarm_fires_when_due),
		T(test_alarm_across_the_low_words_wrap),
		T(test_far_alarm_is_not_due),
		T(test_match_while_masked_shows_later),
		T(test_time_step_past_the_alarm),
		T(test_sleeps_when_not_armed),
		T(test_fault_record),
		T(test_stands_still_after_reset),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
