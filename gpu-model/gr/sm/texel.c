// SPDX-License-Identifier: GPL-2.0-only
/*
 * Textures as their headers describe them. Layouts: pitch, buffers, block-linear in the copy
 * engines' order (ce/surface.c), smaller blocks for small levels (Mesa nil/tiling.rs). A format
 * that is not in formats[] raises ILLEGAL_INSTR_PARAM.
 */
#include <math.h>
#include <string.h>

#include "texel.h"

#define HEADER_BYTES 32u
#define GOB_WIDTH    64u
#define GOB_ROWS     8u

enum { T_SNORM = 1, T_UNORM, T_SINT, T_UINT, T_SNORM_FP16, T_UNORM_FP16, T_FLOAT };

struct texel_format {
	uint8_t id, bytes;
	uint8_t bits[4], shift[4]; /* of R, G, B, A; 0 bits: not there */
};

static const struct texel_format formats[] = {
	{ 0x01, 16, { 32, 32, 32, 32 }, { 0, 32, 64, 96 } },
	{ 0x02, 12, { 32, 32, 32 }, { 0, 32, 64 } },
	{ 0x03, 8, { 16, 16, 16, 16 }, { 0, 16, 32, 48 } },
	{ 0x04, 8, { 32, 32 }, { 0, 32 } },
	{ 0x07, 4, { 8, 8, 8 }, { 0, 8, 16 } },
	{ 0x08, 4, { 8, 8, 8, 8 }, { 0, 8, 16, 24 } },
	{ 0x09, 4, { 10, 10, 10, 2 }, { 0, 10, 20, 30 } },
	{ 0x0c, 4, { 16, 16 }, { 0, 16 } },
	{ 0x0f, 4, { 32 }, { 0 } },
	{ 0x12, 2, { 4, 4, 4, 4 }, { 0, 4, 8, 12 } },
	{ 0x13, 2, { 1, 5, 5, 5 }, { 0, 1, 6, 11 } },
	{ 0x14, 2, { 5, 5, 5, 1 }, { 0, 5, 10, 15 } },
	{ 0x15, 2, { 5, 6, 5 }, { 0, 5, 11 } },
	{ 0x18, 2, { 8, 8 }, { 0, 8 } },
	{ 0x1b, 2, { 16 }, { 0 } },
	{ 0x1d, 1, { 8 }, { 0 } },
	{ 0x2f, 4, { 32 }, { 0 } },
};

static const struct texel_format *format_of(unsigned int id)
{
	for (unsigned int i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].id == id)
			return &formats[i];
	}
	return NULL;
}

/*
 * Guests choose the addresses and need not align them: bytes that cross to the next page are read
 * there. Open: what the chip does with addresses that are not aligned. False: an MMU fault stopped
 * the warp.
 */
static bool read_bytes(struct warp *w, uint64_t va, void *buf, unsigned int n)
{
	uint8_t *to = buf;

	while (n) {
		unsigned int to_page = GK110_PAGE - va % GK110_PAGE, part = n < 4 ? n : 4;
		const uint8_t *p;

		if (__builtin_expect(part > to_page, 0))
			part = to_page;
		p = xlat_host(w->t, va, part, false);
		if (!p) {
			warp_fault(w);
			return false;
		}
		if (part == 4) /* a constant: one move instead of a call for each word */
			memcpy(to, p, 4);
		else
			memcpy(to, p, part);
		to += part;
		va += part;
		n -= part;
	}
	return true;
}

static uint32_t bits(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((2u << (high - low)) - 1);
}

enum step texture_header(struct warp *w, uint32_t index, struct texture *t)
{
	const struct sm_grid *grid = w->t->run->grid;
	uint32_t h[8];

	if (index > grid->max_header)
		return warp_trap(w, WARP_ILLEGAL_PARAM);
	if (!read_bytes(w, grid->header_pool + (uint64_t)index * HEADER_BYTES, h, sizeof(h)))
		return STEP_STOP;
	t->format = format_of(bits(h[0], 5, 0));
	for (unsigned int i = 0; i < 4; i++) {
		t->type[i] = bits(h[0], 8 + 3 * i, 6 + 3 * i);
		t->source[i] = bits(h[0], 20 + 3 * i, 18 + 3 * i);
	}
	t->addr = h[1] | (uint64_t)bits(h[2], 7, 0) << 32;
	t->srgb = bits(h[2], 10, 10);
	t->target = bits(h[2], 17, 14);
	t->pitch_layout = bits(h[2], 18, 18);
	t->log2_height = bits(h[2], 24, 22);
	t->log2_depth = bits(h[2], 27, 25);
	t->normalized = bits(h[2], 31, 31);
	t->pitch = bits(h[3], 19, 0);
	t->width = bits(h[4], 29, 0);
	t->height = bits(h[5], 15, 0);
	t->depth = bits(h[5], 27, 16);
	t->levels = bits(h[5], 31, 28) + 1;
	t->height = t->height ? t->height : 1;
	t->depth = t->depth ? t->depth : 1;
	t->first_level = t->last_level = t->multisample = 0;
	if (bits(h[4], 31, 31)) {
		t->first_level = bits(h[7], 3, 0);
		t->last_level = bits(h[7], 7, 4);
		t->multisample = bits(h[7], 15, 12);
	}
	if (t->last_level >= t->levels)
		t->last_level = t->levels - 1;
	if (!t->format || t->target > TIC_CUBE_ARRAY || t->first_level > t->last_level || !t->width)
		return warp_trap(w, WARP_ILLEGAL_PARAM);
	return STEP_NEXT;
}

enum step sampler_header(struct warp *w, uint32_t index, struct sampler *s)
{
	const struct sm_grid *grid = w->t->run->grid;
	uint32_t h[8];

	if (index > grid->max_sampler)
		return warp_trap(w, WARP_ILLEGAL_PARAM);
	if (!read_bytes(w, grid->sampler_pool + (uint64_t)index * HEADER_BYTES, h, sizeof(h)))
		return STEP_STOP;
	for (unsigned int i = 0; i < 3; i++)
		s->wrap[i] = bits(h[0], 2 + 3 * i, 3 * i);
	s->compare = bits(h[0], 9, 9);
	s->compare_func = bits(h[0], 12, 10);
	s->srgb = bits(h[0], 13, 13);
	s->mag = bits(h[1], 1, 0);
	s->min = bits(h[1], 5, 4);
	s->mip = bits(h[1], 7, 6);
	s->seamless = bits(h[1], 9, 9);
	s->bias = (float)((int32_t)(bits(h[1], 24, 12) << 19) >> 19) / 256;
	s->force_unnormalized = bits(h[1], 25, 25);
	s->min_lod = (float)bits(h[2], 11, 0) / 256;
	s->max_lod = (float)bits(h[2], 23, 12) / 256;
	memcpy(s->border, &h[4], sizeof(s->border));
	return STEP_NEXT;
}

uint32_t level_size(uint32_t size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

/* ------------------------------------------------------------------ addresses */

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

struct level {
	uint32_t row_gobs, rows, depth;
	unsigned int log2_height, log2_depth;
};

static struct level level_of(const struct texture *t, unsigned int level)
{
	bool volume = t->target == TIC_3D;
	uint32_t height = level_size(t->height, level),
		 depth = volume ? level_size(t->depth, level) : 1;
	struct level v = { .log2_height = t->log2_height, .log2_depth = t->log2_depth };

	while (level && v.log2_height && height <= GOB_ROWS << (v.log2_height - 1))
		v.log2_height--;
	while (level && v.log2_depth && depth <= 1u << (v.log2_depth - 1))
		v.log2_depth--;
	v.row_gobs = ceil_div(level_size(t->width, level) * t->format->bytes, GOB_WIDTH);
	v.rows = ceil_div(height, GOB_ROWS << v.log2_height) * (GOB_ROWS << v.log2_height);
	v.depth = ceil_div(depth, 1u << v.log2_depth) << v.log2_depth;
	return v;
}

static uint64_t level_bytes(const struct level *v)
{
	return (uint64_t)v->row_gobs * GOB_WIDTH * v->rows * v->depth;
}

static uint64_t block_linear(const struct texture *t, unsigned int level, uint32_t x, uint32_t y,
			     uint32_t z, uint32_t layer)
{
	struct level v = level_of(t, 0);
	uint64_t chain = 0, at = 0,
		 block = (uint64_t)GOB_WIDTH * GOB_ROWS << (v.log2_height + v.log2_depth);
	uint32_t gob_row, in_block;

	for (unsigned int i = 0; i < t->levels; i++) {
		v = level_of(t, i);
		if (i == level)
			at = chain;
		chain += level_bytes(&v);
	}
	at += (chain + block - 1) / block * block * layer;
	v = level_of(t, level);
	x *= t->format->bytes;
	gob_row = y / GOB_ROWS;
	in_block = (gob_row & ((1u << v.log2_height) - 1)) +
		   ((z & ((1u << v.log2_depth) - 1)) << v.log2_height);
	block = (uint64_t)GOB_WIDTH * GOB_ROWS << (v.log2_height + v.log2_depth);
	at += ((uint64_t)(z >> v.log2_depth) * (v.rows / (GOB_ROWS << v.log2_height)) +
	       (gob_row >> v.log2_height)) *
	      v.row_gobs * block;
	return t->addr + at + x / GOB_WIDTH * block + in_block * (GOB_WIDTH * GOB_ROWS) +
	       y % GOB_ROWS * GOB_WIDTH + x % GOB_WIDTH;
}

/* ------------------------------------------------------------------ values */

static uint32_t float_to_bits(float f)
{
	uint32_t v;

	memcpy(&v, &f, 4);
	return v;
}

static float from_half(uint32_t h)
{
	uint32_t exp = h >> 10 & 31, man = h & 1023;
	float v = exp == 31 ? (man ? NAN : INFINITY) :
		  exp	    ? ldexpf(1024 + man, (int)exp - 25) :
			      ldexpf(man, -24);

	return h >> 15 ? -v : v;
}

static uint32_t component(const struct texture *t, unsigned int i, uint32_t raw)
{
	unsigned int n = t->format->bits[i];
	int32_t s = n < 32 ? (int32_t)(raw << (32 - n)) >> (32 - n) : (int32_t)raw;
	float v;

	switch (t->type[i]) {
	case T_SINT:
		return (uint32_t)s;
	case T_UINT:
		return raw;
	case T_FLOAT:
		return n == 16 ? float_to_bits(from_half(raw)) : raw;
	case T_SNORM:
	case T_SNORM_FP16:
		v = (float)s / (float)((1u << (n - 1)) - 1);
		return float_to_bits(v < -1 ? -1 : v);
	default:
		v = (float)((double)raw / (double)((1ull << n) - 1));
		if (t->srgb && i < 3 && n == 8)
			v = v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
		return float_to_bits(v);
	}
}

unsigned int texture_dims(const struct texture *t)
{
	switch (t->target) {
	case TIC_1D:
	case TIC_1D_ARRAY:
	case TIC_1D_BUFFER:
		return 1;
	case TIC_3D:
		return 3;
	default:
		return 2;
	}
}

uint32_t texture_layers(const struct texture *t)
{
	switch (t->target) {
	case TIC_1D_ARRAY:
	case TIC_2D_ARRAY:
		return t->depth;
	case TIC_CUBE:
	case TIC_CUBE_ARRAY:
		return t->depth * CUBE_FACES;
	default:
		return 1;
	}
}

bool texture_is_integer(const struct texture *t)
{
	return t->type[0] == T_SINT || t->type[0] == T_UINT;
}

uint32_t texel_source(const struct texture *t, const struct texel *v, unsigned int i)
{
	switch (t->source[i]) {
	case SOURCE_R:
	case SOURCE_G:
	case SOURCE_B:
	case SOURCE_A:
		return v->c[t->source[i] - SOURCE_R];
	case SOURCE_ONE_INT:
		return 1;
	case SOURCE_ONE_FLOAT:
		return 0x3f800000;
	default:
		return 0;
	}
}

enum step texel_fetch(struct warp *w, const struct texture *t, unsigned int level, uint32_t x,
		      uint32_t y, uint32_t z, uint32_t layer, struct texel *out)
{
	const struct texel_format *f = t->format;
	uint64_t va;
	uint8_t raw[16] = { 0 };

	if (t->target == TIC_1D_BUFFER)
		va = t->addr + (uint64_t)x * f->bytes;
	else if (t->pitch_layout)
		va = t->addr + (uint64_t)(y + layer * t->height) * t->pitch +
		     (uint64_t)x * f->bytes;
	else
		va = block_linear(t, level, x, y, z, layer);
	if (!read_bytes(w, va, raw, f->bytes))
		return STEP_STOP;
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t word;

		if (!f->bits[i]) {
			out->c[i] = i < 3 ? 0 : texture_is_integer(t) ? 1 : float_to_bits(1);
			continue;
		}
		memcpy(&word, raw + f->shift[i] / 32 * 4, 4);
		word >>= f->shift[i] % 32;
		if (f->bits[i] < 32)
			word &= (1u << f->bits[i]) - 1;
		out->c[i] = component(t, i, word);
	}
	return STEP_NEXT;
}
