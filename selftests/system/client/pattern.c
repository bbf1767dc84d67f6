// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern.h has the contracts. selftests/module/hostile links this into a guest without libc: call
 * only what its harness/string.h declares.
 */
#include "pattern.h"

#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014) */
void rng_init(struct rng *r, uint64_t seed)
{
	r->state = seed;
}

uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint64_t rng_range(struct rng *r, uint64_t lo, uint64_t hi)
{
	return lo + rng_next(r) % (hi - lo + 1);
}

uint64_t rng_size(struct rng *r, uint64_t max)
{
	unsigned int bits = 64 - __builtin_clzll(max);
	uint64_t size = rng_next(r) >> (64 - rng_range(r, 1, bits));

	return size < 1 ? 1 : size > max ? max : size;
}

void pattern_fill(void *buf, size_t len, uint64_t seed)
{
	uint8_t *p = buf;
	struct rng r;
	size_t i;

	rng_init(&r, seed);
	for (i = 0; i + 8 <= len; i += 8) {
		uint64_t v = rng_next(&r);

		memcpy(p + i, &v, 8);
	}
	for (; i < len; i++)
		p[i] = rng_next(&r);
}

int64_t first_difference(const void *a, const void *b, size_t len)
{
	const uint8_t *p = a, *q = b;
	size_t step = 4096, i, j;

	for (i = 0; i < len; i += step) {
		size_t n = len - i < step ? len - i : step;

		if (!memcmp(p + i, q + i, n))
			continue;
		for (j = 0; j < n; j++)
			if (p[i + j] != q[i + j])
				return i + j;
	}
	return -1;
}
