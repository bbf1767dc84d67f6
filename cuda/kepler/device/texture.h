/* SPDX-License-Identifier: MIT */
/*
 * Words that describe textures, samplers and surfaces to the GPU. Pure.
 *
 * A texture's handle is the index of its header, and from bit 20 on the index of its sampler.
 */
#ifndef KVGPU_CUDA_TEXTURE_H
#define KVGPU_CUDA_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HEADER_WORDS = 8,
	SAMPLER_WORDS = 8,
	SURFACE_WORDS = 8,
	GOB_WIDTH = 64,
	GOB_ROWS = 8,
	MAX_LEVELS = 16,
	HANDLE_SAMPLER_SHIFT = 20
};

/* NORMALIZED: integers that are read as fractions of the greatest one */
enum texel_number {
	TEXEL_UINT,
	TEXEL_SINT,
	TEXEL_UINT_NORMALIZED,
	TEXEL_SINT_NORMALIZED,
	TEXEL_FLOAT
};

struct texel {
	enum texel_number number;
	uint8_t bits, channels;
};

static inline unsigned int texel_bytes(struct texel t)
{
	return t.bits / 8 * t.channels;
}

enum texture_shape {
	SHAPE_1D,
	SHAPE_2D,
	SHAPE_3D,
	SHAPE_CUBE,
	SHAPE_1D_ARRAY,
	SHAPE_2D_ARRAY,
	SHAPE_BUFFER,
	SHAPE_PITCH,
	SHAPE_CUBE_ARRAY
};

/* how an image lies in memory: layer after layer, in each layer level after level */
struct tiling {
	uint32_t width, height, depth; /* texels, lines, slices (3D only) */
	uint32_t layers, levels; /* a cube has six layers */
	uint8_t texel_bytes;
	bool volume;
	uint8_t log2_height, log2_depth;
	uint64_t layer_stride, size;
};

struct tiling_level {
	uint32_t width, height, depth;
	uint8_t log2_height, log2_depth;
	uint64_t offset; /* from the begin of the layer */
};

/* Fills in block sizes, .layer_stride and .size. */
void tiling_plan(struct tiling *t);
struct tiling_level tiling_level(const struct tiling *t, unsigned int level);

struct texture_header {
	/* a multiple of 256; SHAPE_BUFFER: of the texel's size; SHAPE_PITCH: of 32 */
	uint64_t va;
	enum texture_shape shape;
	struct texel texel;
	bool normalized, srgb;
	uint32_t width, height, depth; /* of level 0; depth: slices, layers, or whole cubes */
	uint32_t pitch; /* SHAPE_PITCH: bytes of a line */
	uint8_t log2_height, log2_depth;
	uint8_t levels, first, last; /* how many; first and last that is sampled */
};

void header_encode(uint32_t words[HEADER_WORDS], const struct texture_header *h);

enum sampler_wrap { WRAP_REPEAT, WRAP_MIRROR, WRAP_EDGE, WRAP_BORDER };

/* sampler_encode() limits .anisotropy, .bias, .min_lod and .max_lod to what the GPU can do */
struct sampler {
	enum sampler_wrap wrap[3];
	bool linear, mip, mip_linear, seamless;
	unsigned int anisotropy;
	float bias, min_lod, max_lod;
	uint32_t border[4]; /* bits of floats, or integers, like the texels */
};

void sampler_encode(uint32_t words[SAMPLER_WORDS], const struct sampler *s);

/* One level of an image, for code that addresses it by bytes. */
void surface_encode(uint32_t words[SURFACE_WORDS], uint64_t va, struct texel texel,
		    const struct tiling *t, unsigned int level);

#endif
