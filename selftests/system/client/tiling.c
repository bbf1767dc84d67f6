// SPDX-License-Identifier: GPL-2.0-only
/*
 * envytools docs/hw/memory/g80-surface.rst, GF100 and later: a GOB is 64 bytes by 8 lines, its
 * lines one after another; GOBs fill a block by x, then y, then z; blocks fill the surface by x,
 * then y, then z. The offset is found by counting what lies before the byte, level by level.
 */
#include "tiling.h"

enum { GOB_WIDTH = 64, GOB_LINES = 8, GOB_BYTES = GOB_WIDTH * GOB_LINES };

static uint32_t pieces(uint32_t len, uint32_t piece)
{
	return len / piece + (len % piece != 0);
}

uint64_t surface_size(const struct surface *s)
{
	uint64_t gobs_y = 1u << s->block_height, gobs_z = 1u << s->block_depth;
	uint64_t blocks = (uint64_t)pieces(s->width, GOB_WIDTH) *
			  pieces(s->height, GOB_LINES * gobs_y) * pieces(s->depth, gobs_z);

	return blocks * gobs_y * gobs_z * GOB_BYTES;
}

uint64_t surface_offset(const struct surface *s, uint32_t x, uint32_t y, uint32_t z)
{
	uint32_t gobs_y = 1u << s->block_height, gobs_z = 1u << s->block_depth;
	uint32_t block_lines = GOB_LINES * gobs_y;
	uint64_t block_bytes = (uint64_t)gobs_y * gobs_z * GOB_BYTES;
	uint64_t row_of_blocks = pieces(s->width, GOB_WIDTH) * block_bytes;
	uint64_t plane_of_blocks = pieces(s->height, block_lines) * row_of_blocks;
	uint64_t off = 0;

	off += z / gobs_z * plane_of_blocks;
	off += y / block_lines * row_of_blocks;
	off += x / GOB_WIDTH * block_bytes;
	off += (uint64_t)(z % gobs_z) * gobs_y * GOB_BYTES;
	off += y % block_lines / GOB_LINES * GOB_BYTES;
	off += y % GOB_LINES * GOB_WIDTH;
	return off + x % GOB_WIDTH;
}
