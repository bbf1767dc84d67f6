// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pacer against the clock. Upper limits of time are generous, because the machine may be busy; lower limits are exact,
 * because a pace that is too fast is never the machine's fault.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "model.h"

#define MS	1000000ull
#define NS	1000000000ull

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void nap(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / NS), .tv_nsec = (long)(ns % NS) };

	nanosleep(&ts, NULL);
}

static void test_unpaced_costs_nothing(void **state)
{
	struct pacer p = { 0 };
	uint64_t start = now();

	pacer_begin(&p);
	pacer_charge(&p, UINT64_MAX, NULL);
	pacer_end(&p);
	assert_true(now() - start < 5 * MS);
}

static void test_one_charge(void **state)
{
	struct pacer p = { .per_s = 1000000 };
	uint64_t start = now(), took;

	pacer_charge(&p, 50000, NULL);
	took = now() - start;
	assert_true(took >= 50 * MS);
	assert_true(took < 150 * MS);
}

/* fractions of a nanosecond: 1 / 3 GHz each; three million of them are exactly a millisecond of time line */
static void test_fractions_add_up(void **state)
{
	struct pacer p = { .per_s = 3 * NS };
	uint64_t start;
	unsigned int i;

	pacer_begin(&p);
	start = p.busy_until;
	for (i = 0; i < 3000000; i++)
		pacer_charge(&p, 1, NULL);
	pacer_end(&p);
	/* the time line may have been moved up for lag, never back */
	assert_true(p.busy_until - start >= MS);
	assert_int_equal(p.rem, 0);
}

/* many small charges: never faster than the rate, and late sleeps are caught up */
static void test_small_charges_keep_the_rate(void **state)
{
	struct pacer p = { .per_s = 1000000000 };
	uint64_t start = now(), took;
	unsigned int i;

	pacer_begin(&p);
	for (i = 0; i < 5000; i++)
		pacer_charge(&p, 40000, NULL);		/* 40 us each */
	pacer_end(&p);
	took = now() - start;
	assert_true(took + 1 * MS >= 200 * MS);
	assert_true(took < 400 * MS);
}

/* work that takes time itself is part of the time that the rate asks for */
static void test_work_counts(void **state)
{
	struct pacer p = { .per_s = 1000 };
	uint64_t start = now(), took;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		pacer_begin(&p);
		nap(5 * MS);
		pacer_charge(&p, 10, NULL);		/* 10 ms */
		pacer_end(&p);
	}
	took = now() - start;
	assert_true(took + 1 * MS >= 100 * MS);
	assert_true(took < 200 * MS);
}

/* an engine that was idle has no credit: the next charge takes its full time */
static void test_idle_gives_no_credit(void **state)
{
	struct pacer p = { .per_s = 1000 };
	uint64_t start;
	unsigned int job;

	pacer_charge(&p, 1, NULL);
	for (job = 0; job < 2; job++) {
		nap(50 * MS);
		start = now();
		if (job)
			pacer_begin(&p);
		pacer_charge(&p, 10, NULL);
		if (job)
			pacer_end(&p);
		assert_true(now() - start >= 10 * MS);
	}
}

/* a machine too slow for the rate owes nothing in return later */
static void test_lag_is_limited(void **state)
{
	struct pacer p = { .per_s = NS };
	uint64_t start;

	pacer_begin(&p);
	nap(200 * MS);
	start = now();
	pacer_charge(&p, 100 * MS, NULL);
	pacer_end(&p);
	assert_true(now() - start >= 79 * MS);
}

struct stopper {
	atomic_bool stop;
	uint64_t delay;
};

static void *stop_later(void *arg)
{
	struct stopper *s = arg;

	nap(s->delay);
	atomic_store(&s->stop, true);
	return NULL;
}

static void test_stop_ends_the_sleep_and_keeps_the_debt(void **state)
{
	struct pacer p = { .per_s = 1000 };
	struct stopper s = { .delay = 20 * MS };
	uint64_t start = now(), took;
	pthread_t t;

	atomic_init(&s.stop, false);
	assert_int_equal(pthread_create(&t, NULL, stop_later, &s), 0);
	pacer_charge(&p, 300, &s.stop);
	took = now() - start;
	pthread_join(t, NULL);
	assert_true(took >= 20 * MS);
	assert_true(took < 150 * MS);
	atomic_store(&s.stop, false);
	pacer_charge(&p, 0, &s.stop);	/* the rest of the debt */
	assert_true(now() - start >= 300 * MS);
}

static void test_sleeping_uses_no_cpu(void **state)
{
	struct pacer p = { .per_s = 1000 };
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	pacer_charge(&p, 300, NULL);
	assert_true(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu < 30 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unpaced_costs_nothing),
		cmocka_unit_test(test_one_charge),
		cmocka_unit_test(test_fractions_add_up),
		cmocka_unit_test(test_small_charges_keep_the_rate),
		cmocka_unit_test(test_work_counts),
		cmocka_unit_test(test_idle_gives_no_credit),
		cmocka_unit_test(test_lag_is_limited),
		cmocka_unit_test(test_stop_ends_the_sleep_and_keeps_the_debt),
		cmocka_unit_test(test_sleeping_uses_no_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
