/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a byte of a block-linear surface lies, computed the slow and plain way. */
#ifndef KVGPU_SELFTESTS_TILING_H
#define KVGPU_SELFTESTS_TILING_H

#include <stdint.h>

struct surface {
	uint32_t width; /* bytes */
	uint32_t height, depth; /* lines, layers */
	/* log2 of GOBs per block; a block is one GOB wide */
	unsigned int block_height, block_depth;
};

uint64_t surface_size(const struct surface *s);
uint64_t surface_offset(const struct surface *s, uint32_t x, uint32_t y, uint32_t z);

#endif
