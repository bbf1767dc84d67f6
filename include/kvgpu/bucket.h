/* SPDX-License-Identifier: MIT */
/*
 * A token bucket of time. A part of the time that passes fills it, what is used empties it, and it
 * may be in debt. No lock, no clock: the caller has both.
 */
#ifndef KVGPU_BUCKET_H
#define KVGPU_BUCKET_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* .left and .depth count millionths of a ns, because .ppm does */
#define KVGPU_BUCKET_NS 1000000
/* most that one call adds or takes, and most to which it adds: no sum overflows */
#define KVGPU_BUCKET_MOST (1ull << 60)

struct kvgpu_bucket {
	s64 left;
	s64 depth; /* of a full bucket */
	u32 ppm; /* part of the time that fills it, in millionths; 1..1,000,000 */
};

/*
 * Adds what comes in @ns. .left may be more than .depth afterwards, because what was used meanwhile
 * may be taken later: then the caller calls kvgpu_bucket_close().
 */
static inline void kvgpu_bucket_fill(struct kvgpu_bucket *b, u64 ns)
{
	u64 comes = min(ns, div_u64(KVGPU_BUCKET_MOST, b->ppm)) * b->ppm;

	b->left = min(b->left, (s64)KVGPU_BUCKET_MOST) + (s64)comes;
}

static inline void kvgpu_bucket_close(struct kvgpu_bucket *b)
{
	b->left = min(b->left, b->depth);
}

/* Takes @ns. The debt is @debt ns at most, which is 10^12 at most. */
static inline void kvgpu_bucket_take(struct kvgpu_bucket *b, u64 ns, u64 debt)
{
	u64 takes = min(ns, KVGPU_BUCKET_MOST / KVGPU_BUCKET_NS) * KVGPU_BUCKET_NS;

	b->left = max(b->left - (s64)takes, -(s64)debt * KVGPU_BUCKET_NS);
}

#endif
