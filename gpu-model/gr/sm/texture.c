// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texture instructions, lane by lane. The words of a request come in this order: handle (.B), array
 * index (an integer), coordinates, level or bias, offsets, reference value. TXD has its derivatives
 * after the coordinates, and its offsets in the upper half of the array index's word. (Mesa
 * nv50_ir_lowering_nvc0.cpp; what ptxas emits.)
 *
 * Derivatives: a compute program's request without a level takes the base level (PTX ISA, "tex").
 * With .NDV the level follows from how far apart the coordinates of a quad's four threads are.
 * ptxas writes .NDV where SAM has made whole quads active.
 *
 * Not modelled: multisampled textures, TXA, and queries other than for sizes and type.
 */
#include <math.h>
#include <string.h>

#include "sample.h"

#define HANDLE_HEADER	     0xfffffu
#define HANDLE_SAMPLER_SHIFT 20

static float as_float(uint32_t v)
{
	float f;

	memcpy(&f, &v, 4);
	return f;
}

/* ------------------------------------------------------------------ the words */

/* the headers that a lane's handle names, kept for following lanes with the same handle */
struct opened {
	bool header, sampler;
	uint32_t handle;
	struct texture t;
	struct sampler s;
};

/* the words of lane @lane's request, of which @next is taken next */
struct words {
	const struct warp *w;
	const struct uop *u;
	unsigned int lane, next;
	struct opened *had;
};

static uint32_t take(struct words *a)
{
	unsigned int i = a->next++;
	unsigned int slot = i < 4 ? a->u->src[0] + i : a->u->src[1] + i - 4;

	/* RZ: all its words are zero */
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
	return const_read(w, w->t->run->grid->texture_cbuf, u->in->tex.id * 4u, handle, 4,
			  WARP_INVALID_CONST_ADDR);
}

static int signed_field(uint32_t v, unsigned int low, unsigned int bits)
{
	return (int32_t)(v >> low << (32 - bits)) >> (32 - bits);
}

static bool open_sampler(struct warp *w, uint32_t handle, struct opened *had)
{
	uint32_t index = w->t->run->q->sampler_index ? handle & HANDLE_HEADER :
						       handle >> HANDLE_SAMPLER_SHIFT;

	if (!had->sampler && sampler_header(w, index, &had->s) != STEP_NEXT)
		return false;
	had->sampler = true;
	return true;
}

/* False: the warp was stopped. */
static bool open_texture(struct warp *w, const struct uop *u, struct words *a, struct request *q,
			 bool sampler)
{
	struct opened *had = a->had;
	uint32_t handle;

	memset(q, 0, sizeof(*q));
	if (!handle_of(w, u, a, &handle))
		return false;
	if (!had->header || had->handle != handle) {
		*had = (struct opened){ .handle = handle };
		if (texture_header(w, handle & HANDLE_HEADER, &had->t) != STEP_NEXT)
			return false;
		had->header = true;
	}
	if (had->t.multisample && u->in->op != SM_TXQ) {
		warp_trap(w, WARP_ILLEGAL_PARAM);
		return false;
	}
	q->t = had->t;
	if (!sampler)
		return true;
	if (!open_sampler(w, handle, had))
		return false;
	q->s = had->s;
	q->t.srgb &= q->s.srgb;
	return true;
}

static void take_place(const struct uop *u, struct words *a, struct request *q)
{
	const struct sm_tex *t = &u->in->tex;
	bool upper = u->in->op == SM_TXD && t->aoffi;
	unsigned int dim = t->dim & 7, n = coordinates(dim), has = texture_dims(&q->t);
	uint32_t index = dim & 1 || upper ? take(a) : 0,
		 layers = dim == SM_TEX_ARRAY_CUBE ? q->t.depth : texture_layers(&q->t);

	for (unsigned int d = 0; upper && d < 3; d++)
		q->off[d] = signed_field(index, 16 + 4 * d, 4);
	if (dim & 1)
		q->layer = (index & 0xffff) >= layers ? layers - 1 : index & 0xffff;
	if (dim == SM_TEX_ARRAY_CUBE)
		q->layer *= CUBE_FACES;
	for (unsigned int i = 0; i < n; i++) {
		uint32_t v = take(a);

		q->p[i] = as_float(v);
		q->ip[i] = (int)v;
	}
	q->dims = (dim & 6) == SM_TEX_CUBE ? 3 : n < has ? n : has;
}

static void take_offsets(const struct uop *u, struct words *a, struct request *q)
{
	uint32_t v;

	if (!u->in->tex.aoffi || u->in->op == SM_TXD)
		return;
	v = take(a);
	for (unsigned int d = 0; d < 3; d++)
		q->off[d] = signed_field(v, 4 * d, 4);
}

/* ------------------------------------------------------------------ derivatives */

/* the gradient in lane @l's quad */
static void quad_gradient(struct warp *w, const struct uop *u, unsigned int l,
			  const struct request *q, struct gradient *g)
{
	float p[4][3] = { { 0 } };

	for (unsigned int i = 0; i < 4; i++) {
		struct words a = { w, u, (l & ~3u) + i, 0, NULL };
		struct request other = { .t = q->t };

		a.next = u->in->tex.bindless;
		take_place(u, &a, &other);
		if (q->cube)
			cube_place(q->face, other.p, p[i]);
		else
			memcpy(p[i], other.p, sizeof(other.p));
	}
	for (unsigned int d = 0; d < q->dims; d++) {
		g->dx[d] = p[(l & 3) | 1][d] - p[l & 2][d];
		g->dy[d] = p[(l & 3) | 2][d] - p[l & 1][d];
	}
}

static void take_gradient(const struct uop *u, struct words *a, struct request *q,
			  struct gradient *g)
{
	for (unsigned int d = 0; d < coordinates(u->in->tex.dim); d++) {
		g->dx[d] = as_float(take(a));
		g->dy[d] = as_float(take(a));
	}
}

/*
 * A cube's gradient is given for the direction: turn it into the gradient of the place on the face.
 */
static void project_gradient(const struct request *q, const float *direction, struct gradient *g)
{
	float dx[3], dy[3];

	for (unsigned int d = 0; d < 3; d++) {
		dx[d] = direction[d] + g->dx[d];
		dy[d] = direction[d] + g->dy[d];
	}
	cube_place(q->face, dx, g->dx);
	cube_place(q->face, dy, g->dy);
	for (unsigned int d = 0; d < 2; d++) {
		g->dx[d] -= q->p[d];
		g->dy[d] -= q->p[d];
	}
}

/* ------------------------------------------------------------------ instructions */

static void swizzled(const struct request *q, const struct texel *v, struct texel *out)
{
	for (unsigned int c = 0; c < 4; c++)
		out->c[c] = texel_source(&q->t, v, c);
}

/* False: the warp was stopped. */
static bool open_sample(struct warp *w, const struct uop *u, struct words *a, struct request *q)
{
	const struct sm_insn *in = u->in;
	struct gradient g = { { 0 }, { 0 } };
	float direction[3];

	if (!open_texture(w, u, a, q, true))
		return false;
	take_place(u, a, q);
	memcpy(direction, q->p, sizeof(direction));
	if ((in->tex.dim & 6) == SM_TEX_CUBE)
		cube_face(q);
	if (in->op == SM_TXD) {
		take_gradient(u, a, q, &g);
		if (q->cube)
			project_gradient(q, direction, &g);
		q->lod = gradient_lod(q, &g);
	} else if (in->tex.ndv && (in->tex.lod == SM_LOD_AUTO || in->tex.lod == SM_LOD_LB ||
				   in->tex.lod == SM_LOD_LBA)) {
		quad_gradient(w, u, a->lane, q, &g);
		q->lod = gradient_lod(q, &g);
	}
	return true;
}

static enum step one_tex(struct warp *w, const struct uop *u, struct words *a, struct texel *out)
{
	const struct sm_insn *in = u->in;
	struct request q;
	struct texel v;
	enum step s;

	if (!open_sample(w, u, a, &q))
		return STEP_STOP;
	if (in->tex.lod == SM_LOD_LL || in->tex.lod == SM_LOD_LLA)
		q.lod = as_float(take(a));
	else if (in->tex.lod == SM_LOD_LB || in->tex.lod == SM_LOD_LBA)
		q.lod += as_float(take(a));
	take_offsets(u, a, &q);
	if (in->tex.shadow)
		q.ref = as_float(take(a));
	s = texture_sample(w, &q, in->tex.shadow && q.s.compare, &v);
	if (s == STEP_NEXT)
		swizzled(&q, &v, out);
	return s;
}

/* TLD: integer coordinates, no sampler. */
static enum step one_tld(struct warp *w, const struct uop *u, struct words *a, struct texel *out)
{
	struct texel v = { { 0 } };
	struct request q;
	unsigned int level = 0, top;
	bool inside;
	uint32_t size[3];

	if (!open_texture(w, u, a, &q, false))
		return STEP_STOP;
	take_place(u, a, &q);
	if (u->in->tex.lod == SM_LOD_LL)
		level = take(a);
	take_offsets(u, a, &q);
	top = q.t.last_level - q.t.first_level;
	inside = level <= top;
	if (u->in->tex.clamp && !inside) {
		level = (int32_t)level < 0 ? 0 : top;
		inside = true;
	}
	level += q.t.first_level;
	size[0] = level_size(q.t.width, inside ? level : 0);
	size[1] = level_size(q.t.height, inside ? level : 0);
	size[2] = q.t.target == TIC_3D ? level_size(q.t.depth, inside ? level : 0) : 1;
	for (unsigned int d = 0; d < q.dims; d++) {
		q.ip[d] += q.off[d];
		inside &= q.ip[d] >= 0 && (uint32_t)q.ip[d] < size[d];
	}
	if (inside && texel_fetch(w, &q.t, level, q.ip[0], q.dims > 1 ? q.ip[1] : 0,
				  q.dims > 2 ? q.ip[2] : 0, q.layer, &v) != STEP_NEXT)
		return STEP_STOP;
	swizzled(&q, &v, out);
	return STEP_NEXT;
}

/*
 * TLD4: one component of the four texels that linear filtering would mix, counter-clockwise from
 * the lower left. With .PTP each texel has its own offset, counted from the upper left texel, and
 * the offsets take two words. An offset's coordinate has 6 bits, in a byte.
 */
static enum step one_tld4(struct warp *w, const struct uop *u, struct words *a, struct texel *out)
{
	static const int corner[4][2] = { { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } };
	const struct sm_tex *t = &u->in->tex;
	struct request q;
	int off[4][2];

	if (!open_texture(w, u, a, &q, true))
		return STEP_STOP;
	take_place(u, a, &q);
	memcpy(off, corner, sizeof(off));
	if (t->ptp || t->aoffi) {
		uint32_t v[2] = { take(a), 0 };

		v[1] = t->ptp ? take(a) : v[0];
		for (unsigned int c = 0; c < 4; c++) {
			for (unsigned int d = 0; d < 2; d++) {
				unsigned int low = t->ptp ? 16 * (c & 1) + 8 * d : 8 * d;

				off[c][d] = (t->ptp ? 0 : off[c][d]) +
					    signed_field(v[t->ptp ? c / 2 : 0], low, 6);
			}
		}
	}
	if (t->shadow)
		q.ref = as_float(take(a));
	if ((t->dim & 6) == SM_TEX_CUBE)
		cube_face(&q);
	return sample_gather(w, &q, off, t->component, t->shadow && q.s.compare, out->c);
}

#define QUERY_DIMENSION 1
#define QUERY_TYPE	2

static enum step one_txq(struct warp *w, const struct uop *u, struct words *a, struct texel *out)
{
	struct request q;
	unsigned int level;

	if (!open_texture(w, u, a, &q, false))
		return STEP_STOP;
	*out = (struct texel){ { 0 } };
	switch (u->in->tex.dim) {
	case QUERY_DIMENSION:
		level = take(a);
		level = q.t.first_level + (level > 15 ? 15 : level);
		out->c[0] = level_size(q.t.width, level);
		out->c[1] = level_size(q.t.height, level);
		out->c[2] = q.t.target == TIC_3D ? level_size(q.t.depth, level) : q.t.depth;
		out->c[3] = q.t.last_level - q.t.first_level + 1;
		return STEP_NEXT;
	case QUERY_TYPE:
		out->c[0] = q.t.target;
		return STEP_NEXT;
	default:
		return warp_trap(w, WARP_ILLEGAL_PARAM);
	}
}

/* TMML: two levels with 8 bits of fraction (as Mesa nv50_ir handles them). */
static enum step one_tmml(struct warp *w, const struct uop *u, struct words *a, struct texel *out)
{
	struct request q;
	float lod, top;

	if (!open_sample(w, u, a, &q))
		return STEP_STOP;
	lod = sampler_lod(&q, q.lod);
	top = (float)(q.t.last_level - q.t.first_level);
	lod = !(lod > 0) || q.s.mip == 1 ? 0 : lod > top ? top : lod;
	*out = (struct texel){ { 0, (uint32_t)(lod * 256) & 0xffff } };
	q.lod = q.lod < -128 ? -128 : q.lod > 127 ? 127 : q.lod;
	out->c[0] = (uint32_t)(int32_t)floorf(q.lod * 256) & 0xffff;
	return STEP_NEXT;
}

static enum step one(struct warp *w, const struct uop *u, struct words *a, struct texel *out)
{
	switch (u->in->op) {
	case SM_TLD:
		return one_tld(w, u, a, out);
	case SM_TLD4:
		return one_tld4(w, u, a, out);
	case SM_TXQ:
		return one_txq(w, u, a, out);
	case SM_TMML:
		return one_tmml(w, u, a, out);
	default:
		return one_tex(w, u, a, out);
	}
}

/* Write no register before every lane is done: lanes read each other's coordinates. */
static enum step op_texture(struct warp *w, const struct uop *u, uint32_t m)
{
	struct mmu_client *l1 = w->t->l1;
	enum step s = STEP_NEXT;
	struct texel v[LANES];
	struct opened had;

	had.header = false;
	w->t->l1 = w->t->tex; /* faults are recorded as the texture unit's */
	EACH_LANE(l, m)
	{
		struct words a = { w, u, l, 0, &had };

		s = one(w, u, &a, &v[l]);
		if (s != STEP_NEXT)
			break;
	}
	w->t->l1 = l1;
	if (s != STEP_NEXT || u->dst[0] == SLOT_DUMP)
		return s;
	EACH_LANE(l, m)
	{
		unsigned int slot = u->dst[0];

		for (unsigned int c = 0; c < 4; c++) {
			if (u->in->tex.mask >> c & 1)
				w->r[slot++][l] = v[l].c[c];
		}
	}
	return s;
}

op_fn texture_op(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_TEX:
	case SM_TLD:
	case SM_TLD4:
	case SM_TXD:
	case SM_TXQ:
	case SM_TMML:
		return op_texture;
	default:
		return NULL;
	}
}
