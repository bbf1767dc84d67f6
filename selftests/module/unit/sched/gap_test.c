// SPDX-License-Identifier: GPL-2.0-only
/* kvgpu_sched_gap(): the random times between polls (samples). */
#include <selftests/unit_test.h>
#include <math.h>

#include "sched/sched.h"

#define MEAN  1000000ull
#define DRAWS 2000000u

static u64 state = 88172645463325252ull;

static u64 random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dull;
}

TEST(bounds)
{
	static const u64 means[] = { 1, 15, 16, 1000, MEAN, 50 * MEAN, 1ull << 39 };
	static const u64 randoms[] = {
		0, 1, ~0ull, 1ull << 63, (1ull << 63) - 1, 0xaaaaaaaaaaaaaaaaull
	};
	u32 i, j;
	u64 gap;

	for (i = 0; i < sizeof(means) / sizeof(means[0]); i++)
		for (j = 0; j < sizeof(randoms) / sizeof(randoms[0]); j++) {
			gap = kvgpu_sched_gap(means[i], randoms[j]);
			assert_in_range(gap, means[i] / KVGPU_GAP_MIN, means[i] * KVGPU_GAP_MAX);
		}
	assert_int_equal(kvgpu_sched_gap(0, 12345), 0);
	/* the least random number gives the longest gap */
	assert_int_equal(kvgpu_sched_gap(MEAN, 0), MEAN * KVGPU_GAP_MAX);
	assert_int_equal(kvgpu_sched_gap(MEAN, ~0ull), MEAN / KVGPU_GAP_MIN);
}

/* The gap for one random number is -ln(u) times the mean, except at the bounds. */
TEST(follows_the_logarithm)
{
	double u, want, got;
	u64 r;
	u32 i;

	for (i = 0; i < 100000; i++) {
		r = random64();
		u = ((double)r + 1) / 18446744073709551616.0;
		want = -log(u) * MEAN;
		got = kvgpu_sched_gap(MEAN, r);
		if (want < MEAN / KVGPU_GAP_MIN || want > MEAN * KVGPU_GAP_MAX)
			continue;
		if (fabs(got - want) > 0.01 * MEAN)
			fail_msg("%016llx: %.0f, want %.0f", r, got, want);
	}
}

/*
 * Of all gaps that have lasted for a given time, the same part ends in the next tenth of the mean,
 * whatever the given time is.
 */
TEST(nothing_is_known)
{
	static u32 ended[41];
	u32 i, k, left = DRAWS;
	double sum = 0, part;
	u64 gap;

	for (i = 0; i < DRAWS; i++) {
		gap = kvgpu_sched_gap(MEAN, random64());
		sum += gap;
		ended[gap * 10 / MEAN]++;
	}
	assert_true(fabs(sum / DRAWS / MEAN - 1) < 0.02);
	left -= ended[0]; /* the lower bound lies in the first tenth */
	for (k = 1; k < 30; k++) {
		part = (double)ended[k] / left;
		left -= ended[k];
		if (fabs(part - (1 - exp(-0.1))) > 0.012)
			fail_msg("after %u tenths of a tick %.4f end in the next, want %.4f", k,
				 part, 1 - exp(-0.1));
	}
}

TEST_MAIN(NULL, NULL)
