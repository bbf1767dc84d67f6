// SPDX-License-Identifier: MIT
/* Token buckets on a simulated clock: what starts is counted, and compared with the rates. */
#include <selftests/unit_test.h>

#include <remote/supervisor/bucket.h>

enum { RATE = 24, SECOND = 1000, BEGIN = 5000000 };

static struct buckets b;
static uint64_t now;

static int begin(void **state)
{
	buckets_begin(&b, RATE);
	now = BEGIN;
	return 0;
}

static struct address_source source(unsigned int number)
{
	return (struct address_source){ 1000 + number, number % 3 };
}

/* How many of @n attempts of a source start now. */
static unsigned int starts(unsigned int number, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n && !buckets_wait(&b, source(number), now); i++)
		buckets_take(&b, source(number), now);
	return i;
}

/*
 * A full bucket is empty after the starts of two seconds, and then has one in each RATE-th of one.
 */
TEST(a_source_that_floods)
{
	unsigned int n = 0;
	uint64_t at;

	assert_int_equal(starts(0, 1000), 2 * RATE);
	at = buckets_wait(&b, source(0), now);
	assert_in_range(at - now, 1, SECOND / RATE + 1);
	now = at - 1;
	assert_int_equal(starts(0, 1000), 0);
	now = at;
	assert_int_equal(starts(0, 1000), 1);
	for (; now < BEGIN + 60 * SECOND; now++)
		n += starts(0, 1000);
	assert_in_range(n, 59 * RATE, 60 * RATE);
	/* a pause of two seconds fills the bucket, and a longer one no more */
	now += 2 * SECOND;
	assert_int_equal(starts(0, 1000), 2 * RATE);
	now += 1000 * SECOND;
	assert_int_equal(starts(0, 1000), 2 * RATE);
	/* another source has its own */
	assert_int_equal(starts(1, 1000), 2 * RATE);
}

/* A start that is worth it costs half: a source has twice as many, for a while and for long. */
TEST(starts_that_are_worth_it)
{
	unsigned int n, all = 0;

	for (; now < BEGIN + 100 * SECOND; now++)
		for (n = starts(0, 1000), all += n; n; n--)
			buckets_give_back(&b, source(0));
	assert_in_range(all, 2 * 99 * RATE, 2 * 102 * RATE);
	/* what is given back to a full bucket does not overflow it */
	now += 10 * SECOND;
	for (n = 0; n < 1000; n++)
		buckets_give_back(&b, source(0));
	assert_int_equal(starts(0, 1000), 2 * RATE);
}

/* where starts are only counted, an empty bucket does not get emptier */
TEST(how_many_it_lacks)
{
	unsigned int i;

	starts(7, 10);
	assert_int_equal(bucket_lacks(&b, &b.row[0], now), 10);
	now += SECOND / RATE * 4 + 4;
	assert_int_equal(bucket_lacks(&b, &b.row[0], now), 6);
	now += SECOND;
	assert_int_equal(bucket_lacks(&b, &b.row[0], now), 0);
	for (i = 0; i < 1000; i++)
		buckets_take(&b, source(7), now);
	assert_int_equal(bucket_lacks(&b, &b.row[0], now), 2 * RATE);
}

TEST(peers_that_come_again)
{
	assert_false(buckets_comes_again(&b, source(0), now));
	starts(0, 3);
	assert_false(buckets_comes_again(&b, source(0), now));
	buckets_failed(&b, source(0));
	buckets_failed(&b, source(0));
	assert_false(buckets_comes_again(&b, source(1), now));
	assert_true(buckets_comes_again(&b, source(0), now));
	assert_true(buckets_comes_again(&b, source(0), now));
	assert_false(buckets_comes_again(&b, source(0), now));
	/* a failure is forgotten when the bucket is full again */
	buckets_failed(&b, source(0));
	now += SECOND;
	assert_false(buckets_comes_again(&b, source(0), now));
	starts(0, 1);
	assert_false(buckets_comes_again(&b, source(0), now));
}

/* Far more sources than rows, but only so many starts in all: a source that goes on is bounded. */
TEST(more_sources_than_rows)
{
	unsigned int of_0 = 0, i = 0, k;

	for (; now < BEGIN + 30 * SECOND; now += 5) {
		of_0 += starts(0, 1);
		for (k = 0; k < 3; k++)
			starts(1 + i++ % 5000, 1);
	}
	assert_in_range(of_0, 30 * RATE, 32 * RATE);
}

TEST_MAIN(begin, NULL)
