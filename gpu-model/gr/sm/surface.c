// SPDX-License-Identifier: GPL-2.0-only
/*
 * Surfaces. A program computes a texel's address itself: SUCLAMP clamps each coordinate and splits
 * it into the block and the place in the block, IMADSP adds up blocks, SUBFM merges the places,
 * SUEAU adds both to the surface's address. The driver writes the descriptor whose words steer
 * these instructions (Mesa nil/su_info.rs). What each instruction does with the words is taken from
 * Mesa's nak/ir.rs, which describes it from tests on the chip.
 *
 * One difference from the chip: the model keeps the bytes of a GOB line after line (ce/surface.c),
 * and SUBFM computes such places.
 */
#include <math.h>
#include <string.h>

#include "exec.h"

static uint32_t bits(uint32_t v, unsigned int low, unsigned int n)
{
	return v >> low & ((n < 32 ? 1u << n : 0) - 1);
}

/* fields of the word that SUCLAMP makes of a coordinate */
#define PLACE_SHIFT 16
/* log2 of GOBs in a block, or of the element size (pitch) */
#define SIZES_SHIFT 27
#define IS_PITCH    (1u << 30)
#define IS_OUTSIDE  (1u << 31)

static uint32_t clamp_coordinate(const struct sm_insn *in, uint32_t coordinate, uint32_t param,
				 bool *outside)
{
	static const uint8_t round[] = { 0, 1, 3, 7, 15 };
	unsigned int kind = in->su_mode / 5; /* SD, PL, BL */
	int64_t v = (in->type == SM_S32 ? (int64_t)(int32_t)coordinate : (int64_t)coordinate) +
		    (int64_t)in->src[2].imm;
	bool pitch = kind == 1 || (kind == 0 && bits(param, 21, 1)), plain = pitch && in->su_1d;
	uint32_t bound = (plain ? param : bits(param, 0, 20)) & ~(uint32_t)round[in->su_mode % 5],
		 c;

	*outside = v < 0 || v > bound;
	c = v < 0 ? 0 : v > bound ? bound : (uint32_t)v;
	if (plain)
		return c;
	if (pitch)
		return bits(c, 0, 20) | bits(param, 26, 3) << SIZES_SHIFT | IS_PITCH |
		       (*outside ? IS_OUTSIDE : 0);
	return bits(c >> bits(param, 22, 4), 0, 16) |
	       bits(c << bits(param, 26, 3), 0, 8) << PLACE_SHIFT |
	       bits(param, 29, 3) << SIZES_SHIFT | (*outside ? IS_OUTSIDE : 0);
}

static enum step op_suclamp(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t pred = 0;
	bool outside;
	lanes d = { 0 };

	EACH_LANE(l, m)
	{
		d[l] = clamp_coordinate(u->in, src_lane(w, u, 0, l), src_lane(w, u, 1, l),
					&outside);
		pred |= (uint32_t)outside << l;
	}
	put(w, u->dst[1], d, m);
	put_pred(w, &u->in->dst[0], pred, m);
	return STEP_NEXT;
}

/* SUBFM's result: the low bits of the address, then these fields for SUEAU */
#define BFM_PITCH (1u << 11)
#define BFM_SHIFT 12
#define BFM_GOB	  16

static uint32_t merge_block_linear(uint32_t x, uint32_t y, uint32_t z, bool volume)
{
	uint32_t ntx = bits(x, SIZES_SHIFT, 3) & 1, nty = bits(y, SIZES_SHIFT, 3),
		 ntz = volume ? bits(z, SIZES_SHIFT, 3) : 0;
	uint32_t px = bits(x, PLACE_SHIFT, 8), py = bits(y, PLACE_SHIFT, 8),
		 pz = bits(z, PLACE_SHIFT, 8);
	uint32_t gx = px >> 6 & ((1u << ntx) - 1), gy = py >> 3 & ((1u << (nty > 5 ? 5 : nty)) - 1);
	uint32_t gz = pz & ((1u << (ntz > 5 ? 5 : ntz)) - 1), in_gob = (px & 63) | (py & 7) << 6;

	return in_gob | (ntx + nty + ntz) << BFM_SHIFT | ((gz << nty | gy) << ntx | gx) << BFM_GOB;
}

static enum step op_subfm(struct warp *w, const struct uop *u, uint32_t m)
{
	bool volume = u->in->su_mode;
	uint32_t pred = 0;
	lanes d = { 0 };

	EACH_LANE(l, m)
	{
		uint32_t x = src_lane(w, u, 0, l), y = src_lane(w, u, 1, l),
			 z = src_lane(w, u, 2, l), size;

		if ((x | y) & IS_PITCH) {
			size = bits(x, SIZES_SHIFT, 3);
			d[l] = (bits(z, 0, 8) << size & 0xff) | BFM_PITCH | size << BFM_SHIFT;
		} else {
			d[l] = merge_block_linear(x, y, z, volume);
		}
		pred |= ((x | y | (volume ? z : 0)) >> 31) << l;
	}
	put(w, u->dst[1], d, m);
	put_pred(w, &u->in->dst[0], pred, m);
	return STEP_NEXT;
}

/* SUEAU: the address >> 8, the sum of surface, block, GOB and half of the GOB */
static enum step op_sueau(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes d = { 0 };

	EACH_LANE(l, m)
	{
		uint32_t off = src_lane(w, u, 0, l), bf = src_lane(w, u, 1, l),
			 base = src_lane(w, u, 2, l);

		if (bf & BFM_PITCH)
			d[l] = base + (off >> (8 - bits(bf, BFM_SHIFT, 3)) & 0xffffff);
		else
			d[l] = base + ((off << (bits(bf, BFM_SHIFT, 4) + 1) |
					bits(bf, BFM_GOB, 11) << 1 | bits(bf, 8, 1)) &
				       0x7ffffff);
	}
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

/* ------------------------------------------------------------------ accesses */

static uint64_t surface_address(const struct warp *w, const struct uop *u, unsigned int l)
{
	uint32_t lo = src_lane(w, u, 0, l);
	uint64_t hi = (uint64_t)w->r[u->src[0] + 1][l] << 8;

	switch (u->in->su_addr) {
	case SM_SU_ADDR_S32:
		return hi + (int64_t)(int32_t)lo;
	case SM_SU_ADDR_U8:
		return hi + (lo & 0xff);
	case SM_SU_ADDR_S8:
		return hi + (int64_t)(int8_t)lo;
	default:
		return hi + lo;
	}
}

#define OUTSIDE_TRAP	1
#define OUTSIDE_CLAMPED 3

/* Reduce *@m to the lanes that access memory. STEP_STOP: a lane is outside, and that is to trap. */
static enum step inside(struct warp *w, const struct uop *u, uint32_t outside, uint32_t *m)
{
	if (u->in->su_clamp == OUTSIDE_CLAMPED)
		return STEP_NEXT;
	if (u->in->su_clamp == OUTSIDE_TRAP && (outside & *m))
		return warp_trap(w, WARP_OOR_ADDR);
	*m &= ~outside;
	return STEP_NEXT;
}

static uint8_t *surface_host(struct warp *w, const struct uop *u, unsigned int l,
			     unsigned int bytes, bool write, enum step *s)
{
	uint64_t va = surface_address(w, u, l);
	uint8_t *p;

	if (va % bytes) {
		*s = warp_trap(w, WARP_MISALIGNED_ADDR);
		return NULL;
	}
	p = xlat_host(w->t, va, bytes, write);
	if (!p)
		*s = warp_fault(w);
	return p;
}

static enum step op_suldga(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	unsigned int bytes = sm_type_bits(in->type) / 8, words = (bytes + 3) / 4;
	uint32_t lanes_in = m, v[4];
	enum step s = inside(w, u, src_pred(w, &in->src[2]), &lanes_in);

	if (s != STEP_NEXT)
		return s;
	EACH_LANE(l, m)
	{
		memset(v, 0, sizeof(v));
		if (lanes_in >> l & 1) {
			const uint8_t *p = surface_host(w, u, l, bytes, false, &s);

			if (!p)
				return s;
			memcpy(v, p, bytes);
			if (in->type == SM_S8)
				v[0] = (uint32_t)(int8_t)v[0];
			else if (in->type == SM_S16)
				v[0] = (uint32_t)(int16_t)v[0];
		}
		for (unsigned int i = 0; i < words; i++)
			w->r[u->dst[0] + i][l] = v[i];
	}
	return STEP_NEXT;
}

/* ------------------------------------------------------------------ formatted stores */

/* envytools rnndb g80_defs.xml, GK104_IMAGE_FORMAT; R comes first in memory */
enum number { NUM_FLOAT, NUM_SINT, NUM_UINT, NUM_UNORM, NUM_SNORM };
static const struct image_format {
	uint8_t id, n, bits, number;
} image_formats[] = {
	{ 0x02, 4, 32, NUM_FLOAT }, { 0x03, 4, 32, NUM_SINT },	{ 0x04, 4, 32, NUM_UINT },
	{ 0x08, 4, 16, NUM_UNORM }, { 0x09, 4, 16, NUM_SNORM }, { 0x0a, 4, 16, NUM_SINT },
	{ 0x0b, 4, 16, NUM_UINT },  { 0x0c, 4, 16, NUM_FLOAT }, { 0x0d, 2, 32, NUM_FLOAT },
	{ 0x0e, 2, 32, NUM_SINT },  { 0x0f, 2, 32, NUM_UINT },	{ 0x18, 4, 8, NUM_UNORM },
	{ 0x1a, 4, 8, NUM_SNORM },  { 0x1b, 4, 8, NUM_SINT },	{ 0x1c, 4, 8, NUM_UINT },
	{ 0x1d, 2, 16, NUM_UNORM }, { 0x1e, 2, 16, NUM_SNORM }, { 0x1f, 2, 16, NUM_SINT },
	{ 0x20, 2, 16, NUM_UINT },  { 0x21, 2, 16, NUM_FLOAT }, { 0x27, 1, 32, NUM_SINT },
	{ 0x28, 1, 32, NUM_UINT },  { 0x29, 1, 32, NUM_FLOAT }, { 0x2e, 2, 8, NUM_UNORM },
	{ 0x2f, 2, 8, NUM_SNORM },  { 0x30, 2, 8, NUM_SINT },	{ 0x31, 2, 8, NUM_UINT },
	{ 0x32, 1, 16, NUM_UNORM }, { 0x33, 1, 16, NUM_SNORM }, { 0x34, 1, 16, NUM_SINT },
	{ 0x35, 1, 16, NUM_UINT },  { 0x36, 1, 16, NUM_FLOAT }, { 0x37, 1, 8, NUM_UNORM },
	{ 0x38, 1, 8, NUM_SNORM },  { 0x39, 1, 8, NUM_SINT },	{ 0x3a, 1, 8, NUM_UINT },
};

static const struct image_format *image_format(uint32_t id)
{
	for (unsigned int i = 0; i < sizeof(image_formats) / sizeof(image_formats[0]); i++) {
		if (image_formats[i].id == id)
			return &image_formats[i];
	}
	return NULL;
}

/* single to half, to nearest even */
static uint32_t half_of(uint32_t v)
{
	uint32_t sign = v >> 16 & 0x8000, abs = v & 0x7fffffff, r;
	float f;

	if (abs > 0x7f800000)
		return 0x7fff;
	if (abs >= 0x477ff000)
		return sign | 0x7c00;
	if (abs < 0x38800000) {
		memcpy(&f, &abs, 4);
		return sign | (uint32_t)lrintf(f * 0x1p24f);
	}
	r = abs - 0x38000000;
	return sign | (r + 0xfff + (r >> 13 & 1)) >> 13;
}

static uint32_t stored(const struct image_format *f, uint32_t v)
{
	uint32_t top = f->bits == 32 ? ~0u : (1u << f->bits) - 1;
	int32_t max = (int32_t)(top >> 1), i = (int32_t)v;
	float x;

	memcpy(&x, &v, 4);
	switch (f->number) {
	case NUM_FLOAT:
		return f->bits == 32 ? v : half_of(v);
	case NUM_UINT:
		return v > top ? top : v;
	case NUM_SINT:
		return f->bits == 32 ? v :
				       (uint32_t)(i > max      ? max :
						  i < -max - 1 ? -max - 1 :
								 i) &
					       top;
	case NUM_UNORM:
		return (uint32_t)lrintf((x > 0 ? (x < 1 ? x : 1) : 0) * (float)top);
	default:
		return (uint32_t)lrintf((x > -1 ? (x < 1 ? x : 1) :
					 x != x ? 0 :
						  -1) *
					(float)max) &
		       top;
	}
}

static enum step store_formatted(struct warp *w, const struct uop *u, unsigned int l)
{
	const struct image_format *f = image_format(src_lane(w, u, 1, l) & 0xff);
	unsigned int next = 0;
	enum step s = STEP_NEXT;
	uint64_t texel[2] = { 0 };
	uint8_t *p;

	if (!f)
		return warp_trap(w, WARP_ILLEGAL_PARAM);
	for (unsigned int c = 0; c < 4; c++) {
		unsigned int at = c * f->bits;

		if (!(u->in->su_mask >> c & 1))
			continue;
		if (c < f->n)
			texel[at / 64] |= (uint64_t)stored(f, w->r[u->src[2] + next][l]) << at % 64;
		next++;
	}
	p = surface_host(w, u, l, f->n * f->bits / 8, true, &s);
	if (p)
		memcpy(p, texel, f->n * f->bits / 8);
	return s;
}

static enum step op_sustga(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	unsigned int bytes = sm_type_bits(in->type) / 8;
	enum step s = inside(w, u, src_pred(w, &in->src[3]), &m);

	EACH_LANE(l, s == STEP_NEXT ? m : 0)
	{
		uint32_t v[4];
		uint8_t *p;

		if (in->su_packed) {
			s = store_formatted(w, u, l);
			if (s != STEP_NEXT)
				return s;
			continue;
		}
		p = surface_host(w, u, l, bytes, true, &s);
		if (!p)
			return s;
		for (unsigned int i = 0; i < (bytes + 3) / 4; i++)
			v[i] = w->r[u->src[2] + i][l];
		memcpy(p, v, bytes);
	}
	return s;
}

op_fn surface_op(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_SUCLAMP:
		return op_suclamp;
	case SM_SUBFM:
		return op_subfm;
	case SM_SUEAU:
		return op_sueau;
	case SM_SULDGA:
		return op_suldga;
	case SM_SUSTGA:
		return op_sustga;
	default:
		return NULL;
	}
}
