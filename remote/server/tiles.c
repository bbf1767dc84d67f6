// SPDX-License-Identifier: MIT
/*
 * How much device memory an array takes. The numbers are those of cuda/kepler/device/texture.c.
 * NVIDIA's library took the same on an H100 (driver 580.159.04, by cuMemGetInfo), and where it was
 * more than 1 MiB whole pages of 2 MiB. Pure.
 */
#include <remote/wire/format.h>

#include "server.h"

enum {
	TILE_BYTES = 64,
	TILE_ROWS = 8,
	BLOCK_ROWS = 128, /* of a block at most */
	VOLUME_ROWS = 32, /* of a block of an array with depth */
	VOLUME_SLICES = 16,
	TEXEL_MAX = 16,
	LEVELS_MAX = 32,
	UNIT = 128 << 10 /* what the smallest array takes */
};

/* these give UINT64_MAX where the result has no room */
static uint64_t times(uint64_t a, uint64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return n > UINT64_MAX - unit ? UINT64_MAX : (n + unit - 1) / unit * unit;
}

/* the smallest block with room for @n: @unit times a power of two, @most at most */
static uint64_t block(uint64_t n, uint64_t unit, uint64_t most)
{
	while (unit < most && unit < n)
		unit *= 2;
	return unit;
}

static uint64_t level_of(uint64_t size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

static uint64_t channel_bytes(CUarray_format format)
{
	unsigned int bytes = kvgpu_remote_channel_bytes(format);

	return bytes ? bytes : 4;
}

uint64_t array_takes(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels)
{
	bool stacked = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP),
	     volume = d->Depth && !stacked;
	uint64_t texel = times(d->NumChannels, channel_bytes(d->Format)), layer = 0, bytes;
	uint64_t rows = block(d->Height, TILE_ROWS, volume ? VOLUME_ROWS : BLOCK_ROWS);
	uint64_t slices = volume ? block(d->Depth, 1, VOLUME_SLICES) : 1;
	unsigned int i;

	texel = texel && texel <= TEXEL_MAX ? texel : TEXEL_MAX;
	for (i = 0; i < levels && i < LEVELS_MAX; i++) {
		uint64_t height = level_of(d->Height, i);
		uint64_t depth = level_of(volume ? d->Depth : 1, i);

		bytes = round_up(times(level_of(d->Width, i), texel), TILE_BYTES);
		bytes = times(bytes, round_up(height, block(height, TILE_ROWS, rows)));
		bytes = times(bytes, round_up(depth, block(depth, 1, slices)));
		if (__builtin_add_overflow(layer, bytes, &layer))
			return UINT64_MAX;
	}
	layer = round_up(layer, TILE_BYTES * rows * slices);
	return round_up(times(layer, stacked && d->Depth ? d->Depth : 1), UNIT);
}
