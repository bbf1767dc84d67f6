/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers that a seed repeats, and contents for buffers. */
#ifndef KVGPU_SELFTESTS_PATTERN_H
#define KVGPU_SELFTESTS_PATTERN_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

void rng_init(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
/* lo..hi, both included */
uint64_t rng_range(struct rng *r, uint64_t lo, uint64_t hi);
/* 1..max, sizes of all magnitudes */
uint64_t rng_size(struct rng *r, uint64_t max);

void pattern_fill(void *buf, size_t len, uint64_t seed);
/* offset of the first byte that differs, or -1 */
int64_t first_difference(const void *a, const void *b, size_t len);

#endif
