/* SPDX-License-Identifier: GPL-2.0-only */
/* Texture and sampler headers, and single texels. Source: envytools rnndb/graph/g80_texture.xml. */
#ifndef KVGPU_MODEL_GR_SM_TEXEL_H
#define KVGPU_MODEL_GR_SM_TEXEL_H

#include "exec.h"

/* struct texture.target */
enum {
	TIC_1D,
	TIC_2D,
	TIC_3D,
	TIC_CUBE,
	TIC_1D_ARRAY,
	TIC_2D_ARRAY,
	TIC_1D_BUFFER,
	TIC_2D_NO_MIPMAP,
	TIC_CUBE_ARRAY
};
/* struct sampler.wrap[], for each coordinate */
enum {
	WRAP_REPEAT,
	WRAP_MIRROR,
	WRAP_EDGE,
	WRAP_BORDER,
	WRAP_OGL,
	WRAP_MIRROR_EDGE,
	WRAP_MIRROR_BORDER,
	WRAP_MIRROR_OGL
};

/* struct texture.source[]: G80_TIC_SOURCE */
enum { SOURCE_ZERO, SOURCE_R = 2, SOURCE_G, SOURCE_B, SOURCE_A, SOURCE_ONE_INT, SOURCE_ONE_FLOAT };

struct texture {
	const struct texel_format *format;
	uint8_t type[4]; /* of R, G, B, A: G80_TIC_TYPE */
	uint8_t source[4]; /* of x, y, z, w: SOURCE_... */
	uint64_t addr;
	unsigned int target;
	bool pitch_layout, srgb, normalized;
	unsigned int log2_height, log2_depth; /* of a block, in GOBs */
	/* depth: layers of an array, cubes of a cube array */
	uint32_t pitch, width, height, depth;
	/* those that instructions see; how many are in memory */
	unsigned int first_level, last_level, levels;
	unsigned int multisample; /* G80_TIC_7_MULTI_SAMPLE_COUNT, 0: one sample */
};

struct sampler {
	uint8_t wrap[3];
	/* .seamless: the filters of cubes go on beyond a face's edge */
	bool compare, force_unnormalized, srgb, seamless;
	unsigned int compare_func, mag, min, mip;
	float bias, min_lod, max_lod;
	uint32_t border[4];
};

/* a texel before swizzling: bits of floats, or integers */
struct texel {
	uint32_t c[4];
};

/* Read a header. Return STEP_NEXT, or STEP_STOP after the error was recorded. */
enum step texture_header(struct warp *w, uint32_t index, struct texture *t);
enum step sampler_header(struct warp *w, uint32_t index, struct sampler *s);
/* Read a texel. @x, @y, @z are inside the level, @layer inside the array. */
enum step texel_fetch(struct warp *w, const struct texture *t, unsigned int level, uint32_t x,
		      uint32_t y, uint32_t z, uint32_t layer, struct texel *out);
#define CUBE_FACES 6u
/* how many coordinates a place in the texture has; cubes: on a face */
unsigned int texture_dims(const struct texture *t);
/* number of planes that follow one another in memory, at least 1 */
uint32_t texture_layers(const struct texture *t);
bool texture_is_integer(const struct texture *t);
uint32_t level_size(uint32_t size, unsigned int level);
/* Return component @i of the swizzled texel. */
uint32_t texel_source(const struct texture *t, const struct texel *v, unsigned int i);

#endif
