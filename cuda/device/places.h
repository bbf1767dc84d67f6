/* SPDX-License-Identifier: MIT */
/* Pieces of one buffer: which are taken. No memory, no lock of its own. */
#ifndef KVGPU_CUDA_PLACES_H
#define KVGPU_CUDA_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct place {
	struct place *next;	/* the one behind it */
	uint64_t at, size;
};

struct places {
	uint64_t size;		/* of the buffer */
	struct place *first;
};

/*
 * the first gap of @size bytes becomes @p; sizes are multiples of what addresses are to be
 * multiples of. false: there is none
 */
bool place_take(struct places *all, uint64_t size, struct place *p);
void place_drop(struct places *all, struct place *p);

#endif
