/* SPDX-License-Identifier: MIT */
/* Which pieces of one buffer are taken. Nothing here allocates or locks: that is the caller's. */
#ifndef KVGPU_CUDA_PLACES_H
#define KVGPU_CUDA_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct place {
	struct place *next;
	uint64_t at, size;
};

struct places {
	uint64_t size;
	struct place *first;
};

/*
 * Take the first gap with room for @size bytes as @p. Where all sizes are multiples of a number,
 * all places are. False: there is no gap, or @size is 0.
 */
bool place_take(struct places *all, uint64_t size, struct place *p);
void place_drop(struct places *all, struct place *p);

#endif
