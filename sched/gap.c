// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times of samples. A *usage sample* finds out for which vGPU an engine works. While vGPUs take no
 * turns that vGPU is charged for the time until the next sample. With a fixed period a guest
 * could work between samples without being charged. The *gap*, the time from one sample to the
 * next, is therefore distributed exponentially between a shortest gap (mean / KVGPU_GAP_MIN) and a
 * longest gap (mean * KVGPU_GAP_MAX). So the share of samples that find a guest at work is, on the
 * average, about the share of time for which it works. Polls at other times are not samples,
 * because a guest may know these times (mdev/machine/poll.c).
 */
#include "sched/internal.h"

/*
 * ln 2, and the factor CURVE of an approximation, both in units of 2^-16. For x in 0..1, -log2(1 -
 * x / 2) differs by less than 0.009 from x - CURVE x (1 - x).
 */
#define LN2   45426u
#define CURVE 22414u

/*
 * Returns about -ln(u) for u = (random + 1) / 2^64, in units of 2^-16. Each leading zero of @random
 * halves u. The 16 bits after the first 1 tell the rest.
 */
static u64 minus_ln(u64 random)
{
	u32 zeroes = random ? __builtin_clzll(random) : 63;
	/* u is mantissa * 2^-zeroes, the mantissa is in [1/2, 1); x: 2 * (1 - mantissa) */
	u64 x = 65536 - ((random << zeroes) >> 47 & 65535);
	u64 log2 = ((u64)zeroes << 16) + x - (CURVE * (x * (65536 - x) >> 16) >> 16);

	return log2 * LN2 >> 16;
}

u64 kvgpu_sched_gap(u64 mean, u64 random)
{
	u64 gap = min(mean, (u64)1 << 40) * minus_ln(random) >> 16;

	return min(max(gap, mean / KVGPU_GAP_MIN), mean * KVGPU_GAP_MAX);
}
