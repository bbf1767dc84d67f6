// SPDX-License-Identifier: GPL-2.0-only
/*
 * When to look who works: at samples. What a sample sees is charged for the time until the next
 * one. With samples at a fixed period a guest works between them and pays for nothing, and there
 * are many ways to know when the last one was. After a time that is distributed exponentially a
 * sample is as likely in the next moment as it ever was: whatever a guest knows, the part of
 * samples that find it at work is the part of the time that it works. Looks at other times, which a
 * guest may know, are none (mdev/machine/look.c).
 */
#include "sched/internal.h"

/*
 * ln 2 and the curvature of -log2(1 - x / 2) against x, in units of 2^-16: log2 is x - CURVE x (1 -
 * x) within 0.7 %
 */
#define LN2	45426u
#define CURVE	22414u

/*
 * -ln(u) for u = (random + 1) / 2^64, in units of 2^-16: the leading zeroes are whole powers of
 * two, the rest a fraction of one
 */
static u64 minus_ln(u64 random)
{
	u32 zeroes = random ? __builtin_clzll(random) : 63;
	/* 2 (1 - mantissa), of a mantissa from 1/2 on */
	u64 x = 65536 - ((random << zeroes) >> 47 & 65535);
	u64 log2 = ((u64)zeroes << 16) + x - (CURVE * (x * (65536 - x) >> 16) >> 16);

	return log2 * LN2 >> 16;
}

u64 kvgpu_sched_gap(u64 mean, u64 random)
{
	u64 gap = min(mean, (u64)1 << 40) * minus_ln(random) >> 16;

	return min(max(gap, mean / KVGPU_GAP_MIN), mean * KVGPU_GAP_MAX);
}
