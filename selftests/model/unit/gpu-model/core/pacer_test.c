// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pacer on a time that moves only where the pacer sleeps or a test moves it (but for the last
 * test).
 */
#include <selftests/unit_test.h>

#include "clock.h"

#define MS 1000000ull
#define NS 1000000000ull
/* ns; the pacer does not sleep for a shorter debt, which waits for the next charge */
#define SHORTEST 20000ull

static uint64_t start;

static int setup(void **state)
{
	clock_stop();
	start = mono_ns();
	return 0;
}

static uint64_t took(void)
{
	return mono_ns() - start;
}

TEST(test_unpaced_costs_nothing)
{
	struct pacer p = { 0 };

	pacer_begin(&p);
	pacer_charge(&p, UINT64_MAX, NULL);
	pacer_end(&p);
	assert_int_equal(took(), 0);
	assert_int_equal(clock_sleeps, 0);
}

TEST(test_one_charge)
{
	struct pacer p = { .per_s = 1000000 };

	pacer_charge(&p, 50000, NULL);
	assert_int_equal(took(), 50 * MS);
	/* one sleep each millisecond, to look at *stop */
	assert_int_equal(clock_sleeps, 50);
}

/*
 * Fractions of a nanosecond: a unit at 3 GHz takes 1/3 ns. Three million of them must be exactly a
 * millisecond.
 */
TEST(test_fractions_add_up)
{
	struct pacer p = { .per_s = 3 * NS };
	unsigned int i;

	pacer_begin(&p);
	for (i = 0; i < 3000000; i++)
		pacer_charge(&p, 1, NULL);
	pacer_end(&p);
	assert_int_equal(p.busy_until - start, MS);
	assert_int_equal(p.rem, 0);
	assert_in_range(took(), MS - SHORTEST, MS);
}

/* Many small charges on a machine whose sleeps end late. In all they take the right time. */
TEST(test_small_charges_keep_the_rate)
{
	static const uint64_t late[] = { 0, 1, 55000, 3 * MS };
	struct pacer p;
	unsigned int i, l;

	for (l = 0; l < sizeof(late) / sizeof(late[0]); l++) {
		p = (struct pacer){ .per_s = NS };
		setup(NULL);
		clock_oversleep = late[l];
		pacer_begin(&p);
		for (i = 0; i < 5000; i++)
			pacer_charge(&p, 40000, NULL); /* 40 us each */
		pacer_end(&p);
		assert_int_equal(p.busy_until - start, 200 * MS);
		assert_in_range(took(), 200 * MS - SHORTEST, 200 * MS + late[l]);
	}
}

/* If the work between pacer_begin() and the charge takes time itself, that time counts. */
TEST(test_work_counts)
{
	struct pacer p = { .per_s = 1000 };
	unsigned int i;

	for (i = 0; i < 10; i++) {
		pacer_begin(&p);
		clock_move(5 * MS);
		pacer_charge(&p, 10, NULL); /* 10 ms */
		pacer_end(&p);
	}
	assert_int_equal(took(), 100 * MS);
}

TEST(test_idle_gives_no_credit)
{
	struct pacer p = { .per_s = 1000 };
	unsigned int job;

	pacer_charge(&p, 1, NULL);
	for (job = 0; job < 2; job++) {
		clock_move(50 * MS);
		start = mono_ns();
		if (job)
			pacer_begin(&p);
		pacer_charge(&p, 10, NULL);
		if (job)
			pacer_end(&p);
		assert_int_equal(took(), 10 * MS);
	}
}

/*
 * Sleeps that end late can leave a debt that is too short for another sleep. It is added to the
 * next charge, not lost.
 */
TEST(test_a_short_debt_waits)
{
	struct pacer p = { .per_s = 1000 };

	clock_oversleep = 997000; /* five sleeps of 1.997 ms */
	pacer_charge(&p, 10, NULL);
	assert_int_equal(took(), 10 * MS - 15000);
	pacer_charge(&p, 10, NULL);
	assert_int_equal(p.busy_until - start, 20 * MS);
	assert_in_range(took(), 20 * MS - SHORTEST, 20 * MS + clock_oversleep);
}

/*
 * Between the charges of a job the machine may be late by up to PACER_LAG_NS. That delay is caught
 * up.
 */
TEST(test_a_short_absence_is_caught_up)
{
	struct pacer p = { .per_s = 1000 };

	pacer_begin(&p);
	pacer_charge(&p, 1, NULL);
	clock_move(15 * MS);
	pacer_charge(&p, 20, NULL);
	pacer_end(&p);
	assert_int_equal(took(), 21 * MS);
}

/*
 * A machine that is too slow for the rate collects no more than PACER_LAG_NS of credit for later.
 */
TEST(test_lag_is_limited)
{
	struct pacer p = { .per_s = NS };

	pacer_begin(&p);
	clock_move(200 * MS);
	start = mono_ns();
	pacer_charge(&p, 100 * MS, NULL);
	pacer_end(&p);
	assert_int_equal(took(), 80 * MS);
}

TEST(test_stop_ends_the_sleep_and_keeps_the_debt)
{
	struct pacer p = { .per_s = 1000 };
	atomic_bool stop;

	atomic_init(&stop, false);
	clock_set_at(20 * MS, &stop);
	pacer_charge(&p, 300, &stop);
	assert_int_equal(took(), 20 * MS);
	atomic_store(&stop, false);
	pacer_charge(&p, 0, &stop); /* sleeps for the rest of the debt */
	assert_int_equal(took(), 300 * MS);
}

static unsigned int host_sleeps;

int __real_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
			   struct timespec *rest);
int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *rest)
{
	host_sleeps++;
	return __real_clock_nanosleep(id, flags, t, rest);
}

/*
 * On the host's own time: checks a lower limit, and that the thread waits in sleeps of about a
 * millisecond. A busy machine cannot miss these: a sleep that ends late only leaves fewer to come.
 */
TEST(test_on_the_hosts_time)
{
	struct pacer p = { .per_s = 1000 };

	clock_run();
	start = mono_ns();
	pacer_charge(&p, 300, NULL);
	assert_true(took() >= 300 * MS - SHORTEST);
	assert_in_range(host_sleeps, 1, 300);
}

TEST_MAIN(setup, NULL)
