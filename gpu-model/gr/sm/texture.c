// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texture instructions, lane by lane. The words of a request are, in order: handle (.B), array index (an integer), the
 * coordinates, level or bias, offsets, reference value (Mesa nv50_ir_lowering_nvc0.cpp; what ptxas emits); the first
 * four are in the first source's registers, the rest in the second's.
 *
 * Filtering is point or linear as the sampler says; weights have 8 bits of fraction (CUDA C programming guide, "Linear
 * filtering"). Between levels as the mip filter says. Implicit derivatives are taken as zero: compute programs have no
 * quads, so .AUTO samples the base level. Anisotropic filtering is not modelled: its samples are linear ones.
 */
#include <math.h>
#include <string.h>

#include "texel.h"

#define FILTER_LINEAR	2
#define MIP_NEAREST	2
#define MIP_LINEAR	3

struct request {
	struct texture t;
	struct sampler s;
	float p[3];			/* coordinates */
	uint32_t layer;
	float lod;
	float ref;
	int off[3];
	unsigned int dims;
	bool integer_coords;
	int ip[3];
};

static float as_float(uint32_t v)
{
	float f;

	memcpy(&f, &v, 4);
	return f;
}

static uint32_t as_bits(float f)
{
	uint32_t v;

	memcpy(&v, &f, 4);
	return v;
}

/* ------------------------------------------------------------------ the words */

struct words {
	const struct warp *w;
	const struct uop *u;
	unsigned int lane, next;
};

static uint32_t take(struct words *a)
{
	unsigned int i = a->next++;
	unsigned int slot = i < 4 ? a->u->src[0] + i : a->u->src[1] + i - 4;

	/* more words than operands: what follows RZ is zero as well */
	if ((i < 4 ? a->u->src[0] : a->u->src[1]) == SLOT_ZERO)
		return 0;
	return a->w->r[slot][a->lane];
}

static unsigned int coordinates(unsigned int dim)
{
	static const uint8_t n[] = { 1, 1, 2, 2, 3, 3, 3, 3 };

	return n[dim & 7];
}

static bool handle_of(struct warp *w, const struct uop *u, struct words *a, uint32_t *handle)
{
	if (u->in->tex.bindless) {
		*handle = take(a);
		return true;
	}
	return const_read(w, w->t->run->grid->texture_cbuf, u->in->tex.id * 4u, handle, 4, WARP_INVALID_CONST_ADDR);
}

static int signed_nibble(uint32_t v, unsigned int i)
{
	return (int32_t)(v >> (4 * i) << 28) >> 28;
}

/* handle and headers; false when the warp was stopped */
static bool open_texture(struct warp *w, const struct uop *u, struct words *a, struct request *q, bool sampler)
{
	uint32_t handle;

	memset(q, 0, sizeof(*q));
	if (!handle_of(w, u, a, &handle))
		return false;
	if (texture_header(w, handle & 0xfffff, &q->t) != STEP_NEXT)
		return false;
	return !sampler || sampler_header(w, handle >> 20, &q->s) == STEP_NEXT;
}

static void take_place(const struct uop *u, struct words *a, struct request *q)
{
	const struct sm_tex *t = &u->in->tex;
	unsigned int dim = t->dim & 7;

	q->dims = coordinates(dim);
	if (dim & 1) {
		uint32_t layers = dim == SM_TEX_ARRAY_CUBE ? q->t.depth / 6 : q->t.depth, n = take(a) & 0xffff;

		q->layer = layers && n >= layers ? layers - 1 : n;
	}
	for (unsigned int i = 0; i < q->dims; i++) {
		uint32_t v = take(a);

		q->p[i] = as_float(v);
		q->ip[i] = (int)v;
	}
}

/* ------------------------------------------------------------------ wrapping */

/* index into a dimension of @n texels; false: the border */
static bool wrap(unsigned int mode, int i, uint32_t n, uint32_t *out)
{
	int64_t v = i, size = n;

	switch (mode) {
	case WRAP_REPEAT:
		v %= size;
		*out = v < 0 ? v + size : v;
		return true;
	case WRAP_MIRROR:
		v %= 2 * size;
		v = v < 0 ? v + 2 * size : v;
		*out = v < size ? v : 2 * size - 1 - v;
		return true;
	case WRAP_BORDER:
		break;
	case WRAP_MIRROR_EDGE: case WRAP_MIRROR_OGL:
		v = v < 0 ? -1 - v : v;
		*out = v < size ? v : size - 1;
		return true;
	case WRAP_MIRROR_BORDER:
		v = v < 0 ? -1 - v : v;
		break;
	default:
		*out = v < 0 ? 0 : v < size ? v : size - 1;
		return true;
	}
	*out = v < 0 ? 0 : v < size ? v : size - 1;
	return v >= 0 && v < size;
}

static enum step texel_at(struct warp *w, const struct request *q, unsigned int level, const int *i, struct texel *out)
{
	const uint32_t size[3] = { level_size(q->t.width, level), level_size(q->t.height, level),
				   q->t.target == TIC_3D ? level_size(q->t.depth, level) : 1 };
	uint32_t at[3] = { 0 };
	bool inside = true;

	for (unsigned int d = 0; d < q->dims; d++)
		inside &= wrap(q->s.wrap[d], i[d], size[d], &at[d]);
	if (!inside) {
		memcpy(out->c, q->s.border, sizeof(out->c));
		return STEP_NEXT;
	}
	return texel_fetch(w, &q->t, level, at[0], at[1], at[2], q->layer, out);
}

/* ------------------------------------------------------------------ filtering */

static int floor_int(float v)
{
	v = floorf(v);
	return v < -1e9f ? -1000000000 : v > 1e9f ? 1000000000 : v != v ? 0 : (int)v;
}

static uint32_t compared(const struct request *q, uint32_t texel)
{
	float t = as_float(texel), r = q->ref;
	static const uint8_t truth[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };	/* bit 0 less, 1 equal, 2 greater */
	unsigned int is = r < t ? 1 : r == t ? 2 : 4;

	return truth[q->s.compare_func & 7] & is ? as_bits(1) : 0;
}

static enum step sample_level(struct warp *w, const struct request *q, unsigned int level, bool linear, bool shadow,
			      float *out, uint32_t *raw)
{
	const uint32_t size[3] = { level_size(q->t.width, level), level_size(q->t.height, level),
				   level_size(q->t.depth, level) };
	bool scale = q->t.normalized && !q->s.force_unnormalized;
	int base[3] = { 0 };
	float part[3] = { 0 };
	struct texel v;
	enum step s;

	for (unsigned int d = 0; d < q->dims; d++) {
		float x = (scale ? q->p[d] * (float)size[d] : q->p[d]) - (linear ? 0.5f : 0);

		base[d] = floor_int(x);
		part[d] = linear ? floorf((x - floorf(x)) * 256 + 0.5f) / 256 : 0;
		base[d] += q->off[d];
	}
	memset(out, 0, 4 * sizeof(*out));
	for (unsigned int corner = 0; corner < (linear ? 1u << q->dims : 1u); corner++) {
		int i[3];
		float weight = 1;

		for (unsigned int d = 0; d < 3; d++) {
			bool far = corner >> d & 1;

			i[d] = base[d] + far;
			weight *= d >= q->dims ? 1 : far ? part[d] : 1 - part[d];
		}
		if (weight == 0)
			continue;
		s = texel_at(w, q, level, i, &v);
		if (s != STEP_NEXT)
			return s;
		if (shadow)
			v.c[0] = compared(q, v.c[0]);
		memcpy(raw, v.c, sizeof(v.c));
		for (unsigned int c = 0; c < 4; c++)
			out[c] = weight == 1 ? as_float(v.c[c]) : out[c] + weight * as_float(v.c[c]);
	}
	return STEP_NEXT;
}

/* the level (or two) and the filter that a level of detail asks for */
static enum step sample(struct warp *w, const struct request *q, bool shadow, struct texel *out)
{
	float lod = q->lod + q->s.bias, a[4], b[4], f, top;
	bool integer = texture_is_integer(&q->t), linear;
	unsigned int level = q->t.first_level;
	enum step s;

	lod = lod < q->s.min_lod ? q->s.min_lod : lod > q->s.max_lod ? q->s.max_lod : lod;
	linear = (lod > 0 ? q->s.min : q->s.mag) == FILTER_LINEAR && !integer;
	top = (float)(q->t.last_level - q->t.first_level);
	lod = !(lod > 0) ? 0 : lod > top ? top : lod;
	if (q->s.mip == MIP_NEAREST)
		level += (unsigned int)floor_int(lod + 0.5f);
	else if (q->s.mip == MIP_LINEAR)
		level += (unsigned int)floor_int(lod);
	s = sample_level(w, q, level, linear, shadow, a, out->c);
	if (s != STEP_NEXT || integer)
		return s;
	f = q->s.mip == MIP_LINEAR ? floorf((lod - floorf(lod)) * 256 + 0.5f) / 256 : 0;
	if (f > 0 && level < q->t.last_level) {
		struct texel unused;

		s = sample_level(w, q, level + 1, linear, shadow, b, unused.c);
		for (unsigned int c = 0; c < 4; c++)
			a[c] = a[c] * (1 - f) + b[c] * f;
	}
	for (unsigned int c = 0; c < 4; c++)
		out->c[c] = as_bits(a[c]);
	return s;
}

/* a direction to a face and a place on it; faces in the order +x -x +y -y +z -z */
static void cube_face(struct request *q)
{
	float x = q->p[0], y = q->p[1], z = q->p[2], ax = fabsf(x), ay = fabsf(y), az = fabsf(z), u, v, major;
	unsigned int face;

	if (ax >= ay && ax >= az) {
		face = x < 0;
		major = ax;
		u = x < 0 ? z : -z;
		v = -y;
	} else if (ay >= az) {
		face = 2 + (y < 0);
		major = ay;
		u = x;
		v = y < 0 ? -z : z;
	} else {
		face = 4 + (z < 0);
		major = az;
		u = z < 0 ? -x : x;
		v = -y;
	}
	q->p[0] = (u / major + 1) / 2;
	q->p[1] = (v / major + 1) / 2;
	q->dims = 2;
	q->layer = q->layer * 6 + face;
	q->s.wrap[0] = q->s.wrap[1] = WRAP_EDGE;
}

static void put_texel(struct warp *w, const struct uop *u, unsigned int l, const struct request *q, const struct texel *v)
{
	unsigned int n = 0;

	for (unsigned int c = 0; c < 4; c++) {
		if (u->in->tex.mask >> c & 1 && u->dst[0] != SLOT_DUMP)
			w->r[u->dst[0] + n++][l] = texel_source(&q->t, v, c);
	}
}

/* ------------------------------------------------------------------ instructions */

static void take_offsets(const struct uop *u, struct words *a, struct request *q)
{
	uint32_t v;

	if (!u->in->tex.aoffi)
		return;
	v = take(a);
	for (unsigned int d = 0; d < 3; d++)
		q->off[d] = signed_nibble(v, d);
}

static enum step one_tex(struct warp *w, const struct uop *u, unsigned int l)
{
	const struct sm_insn *in = u->in;
	struct words a = { w, u, l, 0 };
	struct request q;
	struct texel v;
	enum step s;

	if (!open_texture(w, u, &a, &q, true))
		return STEP_STOP;
	take_place(u, &a, &q);
	if (in->op == SM_TXD)
		a.next += 2 * q.dims;		/* derivatives: see the top of the file */
	if (in->tex.lod == SM_LOD_LL || in->tex.lod == SM_LOD_LB || in->tex.lod == SM_LOD_LBA || in->tex.lod == SM_LOD_LLA)
		q.lod = as_float(take(&a));
	take_offsets(u, &a, &q);
	if (in->tex.shadow)
		q.ref = as_float(take(&a));
	if ((in->tex.dim & 6) == SM_TEX_CUBE)
		cube_face(&q);
	s = sample(w, &q, in->tex.shadow && q.s.compare, &v);
	if (s == STEP_NEXT)
		put_texel(w, u, l, &q, &v);
	return s;
}

/* TLD: integer coordinates, no sampler; a texel outside is zero */
static enum step one_tld(struct warp *w, const struct uop *u, unsigned int l)
{
	struct words a = { w, u, l, 0 };
	struct texel v = { { 0 } };
	struct request q;
	unsigned int level;
	bool inside = true;
	uint32_t size[3];

	if (!open_texture(w, u, &a, &q, false))
		return STEP_STOP;
	take_place(u, &a, &q);
	level = q.t.first_level + (u->in->tex.lod == SM_LOD_LL ? take(&a) : 0);
	take_offsets(u, &a, &q);
	if (level > q.t.last_level)
		level = q.t.last_level;
	size[0] = level_size(q.t.width, level);
	size[1] = level_size(q.t.height, level);
	size[2] = q.t.target == TIC_3D ? level_size(q.t.depth, level) : 1;
	for (unsigned int d = 0; d < q.dims; d++) {
		q.ip[d] += q.off[d];
		inside &= q.ip[d] >= 0 && (uint32_t)q.ip[d] < size[d];
	}
	if (inside && texel_fetch(w, &q.t, level, q.ip[0], q.dims > 1 ? q.ip[1] : 0, q.dims > 2 ? q.ip[2] : 0, q.layer,
				  &v) != STEP_NEXT)
		return STEP_STOP;
	put_texel(w, u, l, &q, &v);
	return STEP_NEXT;
}

/* one component of the four texels that linear filtering would mix, counter-clockwise from the lower left */
static enum step one_tld4(struct warp *w, const struct uop *u, unsigned int l)
{
	static const int8_t corner[4][2] = { { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } };
	const struct sm_insn *in = u->in;
	struct words a = { w, u, l, 0 };
	struct texel v, out;
	struct request q;
	int base[3] = { 0 }, i[3] = { 0 };
	unsigned int n = 0, level;
	bool scale;

	if (!open_texture(w, u, &a, &q, true))
		return STEP_STOP;
	take_place(u, &a, &q);
	take_offsets(u, &a, &q);
	if (in->tex.ptp)
		return warp_trap(w, WARP_ILLEGAL_PARAM);
	if (in->tex.shadow)
		q.ref = as_float(take(&a));
	if ((in->tex.dim & 6) == SM_TEX_CUBE)
		cube_face(&q);
	level = q.t.first_level;
	scale = q.t.normalized && !q.s.force_unnormalized;
	for (unsigned int d = 0; d < 2; d++)
		base[d] = floor_int((scale ? q.p[d] * (float)level_size(d ? q.t.height : q.t.width, level) : q.p[d]) -
				    0.5f) + q.off[d];
	for (unsigned int c = 0; c < 4; c++) {
		i[0] = base[0] + corner[c][0];
		i[1] = base[1] + corner[c][1];
		if (texel_at(w, &q, level, i, &v) != STEP_NEXT)
			return STEP_STOP;
		out.c[c] = in->tex.shadow ? compared(&q, v.c[0]) : texel_source(&q.t, &v, in->tex.component);
	}
	for (unsigned int c = 0; c < 4; c++) {
		if (in->tex.mask >> c & 1 && u->dst[0] != SLOT_DUMP)
			w->r[u->dst[0] + n++][l] = out.c[c];
	}
	return STEP_NEXT;
}

#define QUERY_DIMENSION	1
#define QUERY_TYPE	2

static enum step one_txq(struct warp *w, const struct uop *u, unsigned int l)
{
	struct words a = { w, u, l, 0 };
	struct texel out = { { 0 } };
	struct request q;
	unsigned int level, n = 0;

	if (!open_texture(w, u, &a, &q, false))
		return STEP_STOP;
	if (u->in->tex.dim == QUERY_DIMENSION) {
		level = take(&a);
		level = level > 15 ? 15 : level;
		out.c[0] = level_size(q.t.width, level);
		out.c[1] = level_size(q.t.height, level);
		out.c[2] = q.t.target == TIC_3D ? level_size(q.t.depth, level) : q.t.depth;
		out.c[3] = q.t.last_level - q.t.first_level + 1;
	} else if (u->in->tex.dim == QUERY_TYPE) {
		out.c[0] = q.t.target;
	} else {
		return warp_trap(w, WARP_ILLEGAL_PARAM);
	}
	for (unsigned int c = 0; c < 4; c++) {
		if (u->in->tex.mask >> c & 1 && u->dst[0] != SLOT_DUMP)
			w->r[u->dst[0] + n++][l] = out.c[c];
	}
	return STEP_NEXT;
}

static enum step op_texture(struct warp *w, const struct uop *u, uint32_t m)
{
	struct mmu_client *l1 = w->t->l1;
	enum step s = STEP_NEXT;

	w->t->l1 = w->t->tex;		/* faults are the texture unit's */
	EACH_LANE(l, m) {
		switch (u->in->op) {
		case SM_TLD:
			s = one_tld(w, u, l);
			break;
		case SM_TLD4:
			s = one_tld4(w, u, l);
			break;
		case SM_TXQ:
			s = one_txq(w, u, l);
			break;
		default:
			s = one_tex(w, u, l);
			break;
		}
		if (s != STEP_NEXT)
			break;
	}
	w->t->l1 = l1;
	return s;
}

op_fn texture_op(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_TEX: case SM_TLD: case SM_TLD4: case SM_TXD: case SM_TXQ:
		return op_texture;
	default:
		return NULL;
	}
}
