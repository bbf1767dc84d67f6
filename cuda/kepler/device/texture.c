// SPDX-License-Identifier: MIT
/*
 * Sources. Headers and samplers: envytools rnndb/graph/g80_texture.xml, and the constant bits as
 * Mesa's nvc0 driver sets them on this chip. Mip levels and block sizes: Mesa nil/tiling.rs.
 * Surface descriptors: the machine code of nvcc shows for what it reads each word. The fields are
 * those of Mesa's nil/su_info.rs.
 */
#include "texture.h"

#include <string.h>

/* ------------------------------------------------------------------ layout */

enum { MAX_LOG2_HEIGHT = 4, MAX_LOG2_HEIGHT_3D = 2, MAX_LOG2_DEPTH = 4, SURFACE_ALIGN = 256 };

static uint32_t level_of(uint32_t size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

/* log2 of the smallest block that holds @n units, at most @max */
static uint8_t log2_fit(uint32_t n, unsigned int max)
{
	uint8_t log2 = 0;

	while (log2 < max && 1u << log2 < n)
		log2++;
	return log2;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static uint64_t level_bytes(const struct tiling_level *l, unsigned int texel)
{
	return round_up((uint64_t)l->width * texel, GOB_WIDTH) *
	       round_up(l->height, (uint64_t)GOB_ROWS << l->log2_height) *
	       round_up(l->depth, 1u << l->log2_depth);
}

/*
 * Where a smaller block than level 0's, in height or in depth, holds all of the level, its blocks
 * are smaller.
 */
struct tiling_level tiling_level(const struct tiling *t, unsigned int level)
{
	struct tiling_level l = { .offset = 0 };
	unsigned int i;

	for (i = 0;; i++) {
		l.width = level_of(t->width, i);
		l.height = level_of(t->height, i);
		l.depth = t->volume ? level_of(t->depth, i) : 1;
		l.log2_height = log2_fit((l.height + GOB_ROWS - 1) / GOB_ROWS, t->log2_height);
		l.log2_depth = log2_fit(l.depth, t->log2_depth);
		if (i == level)
			return l;
		l.offset += level_bytes(&l, t->texel_bytes);
	}
}

void tiling_plan(struct tiling *t)
{
	struct tiling_level last;
	uint64_t block;

	t->log2_height = log2_fit((t->height + GOB_ROWS - 1) / GOB_ROWS,
				  t->volume ? MAX_LOG2_HEIGHT_3D : MAX_LOG2_HEIGHT);
	t->log2_depth = t->volume ? log2_fit(t->depth, MAX_LOG2_DEPTH) : 0;
	block = (uint64_t)GOB_WIDTH * GOB_ROWS << (t->log2_height + t->log2_depth);
	last = tiling_level(t, t->levels - 1);
	t->layer_stride = round_up(last.offset + level_bytes(&last, t->texel_bytes), block);
	t->size = t->layer_stride * t->layers;
}

/* ------------------------------------------------------------------ headers */

enum { TYPE_SNORM = 1, TYPE_UNORM, TYPE_SINT, TYPE_UINT, TYPE_FLOAT = 7 };
enum { SOURCE_ZERO = 0, SOURCE_FIRST = 2, SOURCE_ONE_INT = 6, SOURCE_ONE_FLOAT = 7 };

#define HEADER_TYPE_AT(i)	(6 + 3 * (i))
#define HEADER_SOURCE_AT(i)	(18 + 3 * (i))
#define HEADER_ALWAYS		0x10001000u /* as Mesa sets it */
#define HEADER_SRGB		(1u << 10)
#define HEADER_SHAPE_AT		14
#define HEADER_PITCH_LAYOUT	(1u << 18)
#define HEADER_BLOCK_HEIGHT_AT	22
#define HEADER_BLOCK_DEPTH_AT	25
#define HEADER_BORDER_COLOR	(1u << 29)
#define HEADER_NO_BORDER_TEXELS (1u << 30)
#define HEADER_NORMALIZED	(1u << 31)
#define HEADER_LOD_QUALITY	0x00300000u /* as Mesa sets it */
#define HEADER_HAS_LEVELS	(1u << 31) /* word 4: word 7 is used */
#define HEADER_DEPTH_AT		16
#define HEADER_LAST_LEVEL_AT	28
#define HEADER_SPREAD		0x03000000u /* as Mesa sets it */

/* by bits (8, 16, 32) and channels; CUDA has no 3 channels */
static const uint8_t sizes[3][5] = {
	{ 0, 0x1d, 0x18, 0, 0x08 },
	{ 0, 0x1b, 0x0c, 0, 0x03 },
	{ 0, 0x0f, 0x04, 0, 0x01 },
};

static unsigned int size_index(struct texel t)
{
	return t.bits == 8 ? 0 : t.bits == 16 ? 1 : 2;
}

static uint32_t format(struct texel t)
{
	static const uint8_t types[] = { [TEXEL_UINT] = TYPE_UINT,
					 [TEXEL_SINT] = TYPE_SINT,
					 [TEXEL_UINT_NORMALIZED] = TYPE_UNORM,
					 [TEXEL_SINT_NORMALIZED] = TYPE_SNORM,
					 [TEXEL_FLOAT] = TYPE_FLOAT };
	bool integer = t.number == TEXEL_UINT || t.number == TEXEL_SINT;
	uint32_t word = sizes[size_index(t)][t.channels];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		uint32_t absent = i < 3 ? SOURCE_ZERO : integer ? SOURCE_ONE_INT : SOURCE_ONE_FLOAT;

		word |= (uint32_t)types[t.number] << HEADER_TYPE_AT(i);
		word |= (i < t.channels ? SOURCE_FIRST + i : absent) << HEADER_SOURCE_AT(i);
	}
	return word;
}

void header_encode(uint32_t words[HEADER_WORDS], const struct texture_header *h)
{
	static const uint8_t shapes[] = {
		[SHAPE_1D] = 0,	    [SHAPE_2D] = 1,	  [SHAPE_3D] = 2,
		[SHAPE_CUBE] = 3,   [SHAPE_1D_ARRAY] = 4, [SHAPE_2D_ARRAY] = 5,
		[SHAPE_BUFFER] = 6, [SHAPE_PITCH] = 7,	  [SHAPE_CUBE_ARRAY] = 8
	};
	bool pitch = h->shape == SHAPE_PITCH || h->shape == SHAPE_BUFFER;

	memset(words, 0, HEADER_WORDS * 4);
	words[0] = format(h->texel);
	words[1] = h->va;
	words[2] = (h->va >> 32 & 0xff) | HEADER_ALWAYS | HEADER_BORDER_COLOR |
		   HEADER_NO_BORDER_TEXELS | (uint32_t)shapes[h->shape] << HEADER_SHAPE_AT |
		   (h->srgb ? HEADER_SRGB : 0) | (h->normalized ? HEADER_NORMALIZED : 0);
	words[4] = h->width;
	if (pitch) {
		words[2] |= HEADER_PITCH_LAYOUT;
		if (h->shape == SHAPE_PITCH) {
			words[3] = h->pitch;
			words[5] = (h->height & 0xffff) | 1u << HEADER_DEPTH_AT;
		}
		return;
	}
	words[2] |= (uint32_t)h->log2_height << HEADER_BLOCK_HEIGHT_AT |
		    (uint32_t)h->log2_depth << HEADER_BLOCK_DEPTH_AT;
	words[3] = HEADER_LOD_QUALITY;
	words[4] |= HEADER_HAS_LEVELS;
	words[5] = (h->height & 0xffff) | (h->depth & 0xfff) << HEADER_DEPTH_AT |
		   (uint32_t)(h->levels - 1) << HEADER_LAST_LEVEL_AT;
	words[6] = HEADER_SPREAD;
	words[7] = h->first | (uint32_t)h->last << 4;
}

/* ------------------------------------------------------------------ samplers */

enum { FILTER_NEAREST = 1, FILTER_LINEAR, MIP_NONE = 1, MIP_NEAREST, MIP_LINEAR };

/* word 0: as Mesa sets it; sRGB textures are converted */
#define SAMPLER_ALWAYS	      0x00026000u
#define SAMPLER_ANISOTROPY_AT 20
#define SAMPLER_MIN_AT	      4 /* the magnification's is at 0 */
#define SAMPLER_MIP_AT	      6
#define SAMPLER_SEAMLESS      (1u << 9)
#define SAMPLER_BIAS_AT	      12
#define SAMPLER_BIAS_MASK     0x1fffu
#define SAMPLER_ANISO_15      0x10000000u
#define SAMPLER_ANISO_35      0x18000000u
#define SAMPLER_MAX_LOD_AT    12

/* @v within [@low, @high], with 8 bits of fraction */
static int32_t fixed(float v, float low, float high)
{
	v = v > low ? v : low;
	v = v < high ? v : high;
	return (int32_t)(v * 256 + (v < 0 ? -0.5f : 0.5f));
}

static void anisotropy(uint32_t *words, unsigned int max)
{
	if (max <= 1)
		return;
	words[0] |= (max >= 16 ? 7 : max >= 12 ? 6 : max / 2) << SAMPLER_ANISOTROPY_AT;
	words[1] |= max >= 12 ? 0 : max >= 4 ? SAMPLER_ANISO_35 : SAMPLER_ANISO_15;
}

void sampler_encode(uint32_t words[SAMPLER_WORDS], const struct sampler *s)
{
	static const uint8_t wraps[] = {
		[WRAP_REPEAT] = 0, [WRAP_MIRROR] = 1, [WRAP_EDGE] = 2, [WRAP_BORDER] = 3
	};
	uint32_t filter = s->linear ? FILTER_LINEAR : FILTER_NEAREST, mip = !s->mip ? MIP_NONE :
									    s->mip_linear ?
										      MIP_LINEAR :
										      MIP_NEAREST;
	unsigned int i;

	memset(words, 0, SAMPLER_WORDS * 4);
	words[0] = SAMPLER_ALWAYS;
	for (i = 0; i < 3; i++)
		words[0] |= (uint32_t)wraps[s->wrap[i]] << 3 * i;
	words[1] = filter | filter << SAMPLER_MIN_AT | mip << SAMPLER_MIP_AT |
		   (s->seamless ? SAMPLER_SEAMLESS : 0) |
		   ((uint32_t)fixed(s->bias, -15, 15) & SAMPLER_BIAS_MASK) << SAMPLER_BIAS_AT;
	anisotropy(words, s->anisotropy);
	words[2] = (uint32_t)fixed(s->min_lod, 0, 15.99f) | (uint32_t)fixed(s->max_lod, 0, 15.99f)
								    << SAMPLER_MAX_LOD_AT;
	memcpy(words + 4, s->border, sizeof(s->border));
}

/* ------------------------------------------------------------------ surfaces */

enum {
	SURF_ADDRESS,
	SURF_FORMAT,
	SURF_CLAMP_X,
	SURF_PITCH,
	SURF_CLAMP_Y,
	SURF_LAYER_STRIDE,
	SURF_CLAMP_Z,
	SURF_SLICE_PITCH
};

/* mode of IMADSP.SD: only the block of each coordinate, 16 bits */
#define PITCH_OF_BLOCKS (0x88u << 24)
/* SUCLAMP gives the coordinate, not its block and the place in it */
#define CLAMP_COUNTED  (1u << 21)
#define CLAMP_BLOCK_AT 22
#define CLAMP_GOBS_AT  29
#define LOG2_GOB_WIDTH 6
#define LOG2_GOB_ROWS  3
#define FORMAT_ALWAYS  0x4000u
/* log2 of the number of channels << 2 | 0: 32 bits each, 1: 16, 2: 8 */
#define FORMAT_COMPONENTS_AT 8
#define FORMAT_LOG2_BYTES_AT 16

/* rnndb g80_defs.xml GK104_IMAGE_FORMAT; there are no floats of 8 bits */
static uint32_t image_format(struct texel t)
{
	static const uint8_t ids[5][3][5] = {
		[TEXEL_UINT] = { { 0, 0x3a, 0x31, 0, 0x1c },
				 { 0, 0x35, 0x20, 0, 0x0b },
				 { 0, 0x28, 0x0f, 0, 0x04 } },
		[TEXEL_SINT] = { { 0, 0x39, 0x30, 0, 0x1b },
				 { 0, 0x34, 0x1f, 0, 0x0a },
				 { 0, 0x27, 0x0e, 0, 0x03 } },
		[TEXEL_FLOAT] = { { 0 }, { 0, 0x36, 0x21, 0, 0x0c }, { 0, 0x29, 0x0d, 0, 0x02 } },
	};
	uint32_t log2_channels = t.channels / 2, log2_bytes = log2_fit(texel_bytes(t), 4);

	return ids[t.number][size_index(t)][t.channels] |
	       (log2_channels << 2 | (2 - size_index(t))) << FORMAT_COMPONENTS_AT | FORMAT_ALWAYS |
	       log2_bytes << FORMAT_LOG2_BYTES_AT;
}

void surface_encode(uint32_t words[SURFACE_WORDS], uint64_t va, struct texel texel,
		    const struct tiling *t, unsigned int level)
{
	struct tiling_level l = tiling_level(t, level);
	uint32_t bytes = l.width * texel_bytes(texel), block_rows = GOB_ROWS << l.log2_height;

	words[SURF_ADDRESS] = (va + l.offset) >> 8;
	words[SURF_FORMAT] = image_format(texel);
	words[SURF_CLAMP_X] = (bytes - 1) | LOG2_GOB_WIDTH << CLAMP_BLOCK_AT;
	words[SURF_PITCH] = ((bytes + GOB_WIDTH - 1) / GOB_WIDTH) | PITCH_OF_BLOCKS;
	words[SURF_CLAMP_Y] = (l.height - 1) |
			      (uint32_t)(LOG2_GOB_ROWS + l.log2_height) << CLAMP_BLOCK_AT |
			      (uint32_t)l.log2_height << CLAMP_GOBS_AT;
	words[SURF_LAYER_STRIDE] = t->layer_stride >> 8;
	if (t->volume)
		words[SURF_CLAMP_Z] = (l.depth - 1) | (uint32_t)l.log2_depth << CLAMP_BLOCK_AT |
				      (uint32_t)l.log2_depth << CLAMP_GOBS_AT;
	else
		words[SURF_CLAMP_Z] = (t->layers - 1) | CLAMP_COUNTED;
	words[SURF_SLICE_PITCH] = (l.height + block_rows - 1) / block_rows;
}
