// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of the texture unit. Anisotropic filtering is not modelled.
 *
 * Weights are in 256ths (CUDA C programming guide, "Linear filtering"). How weights are rounded in
 * several dimensions, and that levels of detail are truncated, was measured on a newer chip (H200).
 *
 * Cubes: faces in the order +x -x +y -y +z -z. At a cube's corner only three faces meet: their
 * texels share the weight of the fourth, which does not exist.
 */
#include <math.h>
#include <string.h>

#include "sample.h"

#define WHOLE	      256 /* the sum of all weights */
#define FILTER_LINEAR 2
#define MIP_NEAREST   2
#define MIP_LINEAR    3

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

/* ------------------------------------------------------------------ wrapping */

/* False: take the border colour. */
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
	case WRAP_OGL:
	case WRAP_MIRROR_OGL:
		break;
	case WRAP_MIRROR_EDGE:
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

/* ------------------------------------------------------------------ cubes */

/* of each face: its normal, the axis across, the axis down, with signs */
static const struct {
	uint8_t axis[3];
	int8_t sign[3];
} faces[6] = {
	{ { 0, 2, 1 }, { 1, -1, -1 } }, { { 0, 2, 1 }, { -1, 1, -1 } },
	{ { 1, 0, 2 }, { 1, 1, 1 } },	{ { 1, 0, 2 }, { -1, 1, -1 } },
	{ { 2, 0, 1 }, { 1, 1, -1 } },	{ { 2, 0, 1 }, { -1, -1, -1 } },
};

void cube_place(unsigned int face, const float *direction, float *place)
{
	float major = fabsf(direction[faces[face].axis[0]]);

	for (unsigned int i = 0; i < 2; i++)
		place[i] = ((float)faces[face].sign[i + 1] * direction[faces[face].axis[i + 1]] /
				    major +
			    1) /
			   2;
}

void cube_face(struct request *q)
{
	float d[3] = { q->p[0], q->p[1], q->p[2] }, ax = fabsf(d[0]), ay = fabsf(d[1]),
	      az = fabsf(d[2]);

	if (ax >= ay && ax >= az)
		q->face = d[0] < 0;
	else if (ay >= az)
		q->face = 2 + (d[1] < 0);
	else
		q->face = 4 + (d[2] < 0);
	cube_place(q->face, d, q->p);
	q->dims = 2;
	q->cube = true;
}

/*
 * Find texel @i, which is beyond one edge of @face, on the face that meets it there: return that
 * face and set @i. @n: texels along an edge, up to 30 bits. A direction with NaN gives an @i of
 * either sign, as far away as floor_int() lets it be.
 */
static unsigned int across_edge(unsigned int face, int64_t n, int *i)
{
	int64_t at[3];
	int side = 0;

	at[faces[face].axis[0]] = faces[face].sign[0] * (n - 1);
	for (unsigned int k = 0; k < 2; k++) {
		int64_t v = 2 * (int64_t)i[k] + 1 - n;

		if (v < -n || v > n) {
			side = faces[face].axis[k + 1];
			v = v < 0 ? -n : n;
		}
		at[faces[face].axis[k + 1]] = faces[face].sign[k + 1] * v;
	}
	face = 2 * (unsigned int)side + (at[side] < 0);
	for (unsigned int k = 0; k < 2; k++)
		i[k] = (int)((faces[face].sign[k + 1] * at[faces[face].axis[k + 1]] + n - 1) / 2);
	return face;
}

/* ------------------------------------------------------------------ single texels */

static void sizes_of(const struct request *q, unsigned int level, uint32_t size[3])
{
	size[0] = level_size(q->t.width, level);
	size[1] = level_size(q->t.height, level);
	size[2] = q->t.target == TIC_3D ? level_size(q->t.depth, level) : 1;
}

static bool is_outside(int i, uint32_t n)
{
	return i < 0 || (uint32_t)i >= n;
}

static bool beyond_corner(const struct request *q, const uint32_t *size, const int *i)
{
	return q->cube && q->s.seamless && is_outside(i[0], size[0]) && is_outside(i[1], size[1]);
}

static enum step texel_at(struct warp *w, const struct request *q, unsigned int level, const int *i,
			  struct texel *out)
{
	unsigned int face = q->face;
	uint32_t size[3], at[3] = { 0 };
	int place[3] = { i[0], i[1], i[2] };
	bool inside = true;

	sizes_of(q, level, size);
	if (q->cube && q->s.seamless && (is_outside(i[0], size[0]) || is_outside(i[1], size[1])))
		face = across_edge(face, size[0], place);
	for (unsigned int d = 0; d < q->dims; d++)
		inside &= wrap(q->s.wrap[d], place[d], size[d], &at[d]);
	if (!inside) {
		memcpy(out->c, q->s.border, sizeof(out->c));
		return STEP_NEXT;
	}
	return texel_fetch(w, &q->t, level, at[0], at[1], at[2], q->layer + (q->cube ? face : 0),
			   out);
}

static int floor_int(float v)
{
	v = floorf(v);
	return v < -1e9f ? -1000000000 : v > 1e9f ? 1000000000 : v != v ? 0 : (int)v;
}

static uint32_t compared(const struct request *q, uint32_t texel)
{
	float t = as_float(texel), r = q->ref;
	unsigned int is = r < t ? 1 : r == t ? 2 : r > t ? 4 : 0;

	/* With a NaN only "always" and "not equal" are true. */
	if (!is)
		return q->s.compare_func == 7 || q->s.compare_func == 5 ? as_bits(1) : 0;
	return q->s.compare_func & is ? as_bits(1) : 0;
}

/* ------------------------------------------------------------------ one level */

/* the first texel that a filter mixes, and 256ths of the way to the next */
struct place {
	int base[3];
	unsigned int part[3];
};

static bool coordinates_are_scaled(const struct request *q)
{
	return q->cube || (q->t.normalized && !q->s.force_unnormalized);
}

/* GL_CLAMP: clamp the coordinate itself */
static float clamp_ogl(unsigned int mode, float x, uint32_t size, bool linear)
{
	float top = (float)size - (linear ? 0 : 1);

	if (mode == WRAP_MIRROR_OGL)
		x = fabsf(x);
	return x < 0 ? 0 : x > top ? top : x;
}

static struct place place_of(const struct request *q, const uint32_t *size, bool linear)
{
	struct place v = { { 0 }, { 0 } };

	for (unsigned int d = 0; d < q->dims; d++) {
		float x = coordinates_are_scaled(q) ? q->p[d] * (float)size[d] : q->p[d];

		if (q->s.wrap[d] == WRAP_OGL || q->s.wrap[d] == WRAP_MIRROR_OGL)
			x = clamp_ogl(q->s.wrap[d], x, size[d], linear);
		x -= linear ? 0.5f : 0;
		v.base[d] = floor_int(x) + q->off[d];
		v.part[d] = linear && isfinite(x) ? (unsigned int)((x - floorf(x)) * WHOLE + 0.5f) :
						    0;
	}
	return v;
}

static unsigned int rounded(unsigned int product)
{
	return (product + WHOLE / 2) / WHOLE;
}

/* The weight of corner 3 is rounded; the others follow from it. */
static void weights_of_two(unsigned int a, unsigned int b, unsigned int *w)
{
	w[3] = rounded(a * b);
	w[2] = b - w[3];
	w[1] = a - w[3];
	w[0] = WHOLE - a - w[2];
}

/* Bit d of a corner's number says which of the two texels it is in dimension d. */
static unsigned int weights_of(const struct place *p, unsigned int dims, unsigned int *w)
{
	unsigned int xz[4];

	switch (dims) {
	case 1:
		w[0] = WHOLE - p->part[0];
		w[1] = p->part[0];
		return 2;
	case 2:
		weights_of_two(p->part[0], p->part[1], w);
		return 4;
	default:
		weights_of_two(p->part[0], p->part[2], xz);
		for (unsigned int i = 0; i < 4; i++) {
			unsigned int at = (i & 1) | (i & 2) << 1;

			w[at | 2] = rounded(xz[i] * p->part[1]);
			w[at] = xz[i] - w[at | 2];
		}
		return 8;
	}
}

/*
 * Each neighbour of the missing corner takes a third of its weight, the opposite corner the rest.
 */
static void share_corner(unsigned int missing, unsigned int *w)
{
	unsigned int third = (2 * w[missing] + 3) / 6;

	w[missing ^ 1] += third;
	w[missing ^ 2] += third;
	w[missing ^ 3] += w[missing] - 2 * third;
	w[missing] = 0;
}

/* halfway between two: away from zero */
static float single_of(double v)
{
	float f = (float)v, next = nextafterf(f, v < 0 ? -INFINITY : INFINITY);

	return fabs(v) > fabs((double)f) && v - (double)f == (double)next - v ? next : f;
}

static enum step sample_level(struct warp *w, const struct request *q, unsigned int level,
			      bool linear, bool shadow, float *out, uint32_t *raw)
{
	unsigned int weight[8] = { WHOLE }, corners = 1;
	double sum[4] = { 0 };
	struct place place;
	uint32_t size[3];

	sizes_of(q, level, size);
	place = place_of(q, size, linear);
	if (linear)
		corners = weights_of(&place, q->dims, weight);
	for (unsigned int i = 0; i < corners; i++) {
		const int at[3] = { place.base[0] + (int)(i & 1),
				    place.base[1] + (int)(i >> 1 & 1) };

		if (weight[i] && beyond_corner(q, size, at))
			share_corner(i, weight);
	}
	for (unsigned int i = 0; i < corners; i++) {
		const int at[3] = { place.base[0] + (int)(i & 1), place.base[1] + (int)(i >> 1 & 1),
				    place.base[2] + (int)(i >> 2) };
		struct texel v;
		enum step s;

		if (!weight[i])
			continue;
		s = texel_at(w, q, level, at, &v);
		if (s != STEP_NEXT)
			return s;
		if (shadow)
			v.c[0] = compared(q, v.c[0]);
		memcpy(raw, v.c, sizeof(v.c));
		if (weight[i] == WHOLE) { /* one texel alone: its bits unchanged */
			for (unsigned int c = 0; c < 4; c++)
				out[c] = as_float(v.c[c]);
			return STEP_NEXT;
		}
		for (unsigned int c = 0; c < 4; c++)
			sum[c] += (double)as_float(v.c[c]) * weight[i];
	}
	for (unsigned int c = 0; c < 4; c++)
		out[c] = single_of(sum[c] / WHOLE);
	return STEP_NEXT;
}

/* ------------------------------------------------------------------ levels */

float gradient_lod(const struct request *q, const struct gradient *g)
{
	uint32_t size[3];
	float x = 0, y = 0;

	sizes_of(q, q->t.first_level, size);
	for (unsigned int d = 0; d < q->dims; d++) {
		float scale = coordinates_are_scaled(q) ? (float)size[d] : 1;

		x += g->dx[d] * scale * (g->dx[d] * scale);
		y += g->dy[d] * scale * (g->dy[d] * scale);
	}
	return 0.5f * log2f(x > y ? x : y);
}

float sampler_lod(const struct request *q, float lod)
{
	lod += q->s.bias;
	return lod > q->s.max_lod ? q->s.max_lod : lod > q->s.min_lod ? lod : q->s.min_lod;
}

enum step texture_sample(struct warp *w, const struct request *q, bool shadow, struct texel *out)
{
	float lod = sampler_lod(q, q->lod), a[4], b[4], f, top;
	bool integer = texture_is_integer(&q->t), linear;
	unsigned int level = q->t.first_level;
	enum step s;

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
	f = q->s.mip == MIP_LINEAR ? floorf((lod - floorf(lod)) * WHOLE) / WHOLE : 0;
	if (f > 0 && level < q->t.last_level) {
		struct texel unused;

		s = sample_level(w, q, level + 1, linear, shadow, b, unused.c);
		for (unsigned int c = 0; c < 4 && s == STEP_NEXT; c++)
			a[c] = a[c] * (1 - f) + b[c] * f;
	}
	for (unsigned int c = 0; c < 4; c++)
		out->c[c] = as_bits(a[c]);
	return s;
}

enum step sample_gather(struct warp *w, const struct request *q, const int off[4][2],
			unsigned int component, bool shadow, uint32_t *out)
{
	unsigned int level = q->t.first_level;
	struct place place;
	uint32_t size[3];

	sizes_of(q, level, size);
	place = place_of(q, size, true);
	for (unsigned int c = 0; c < 4; c++) {
		int i[3] = { place.base[0] + off[c][0], place.base[1] + off[c][1], 0 };
		struct texel v;

		if (beyond_corner(q, size, i))
			i[0] = i[0] < 0 ? 0 : (int)size[0] - 1;
		if (texel_at(w, q, level, i, &v) != STEP_NEXT)
			return STEP_STOP;
		out[c] = shadow ? compared(q, v.c[0]) : texel_source(&q->t, &v, component);
	}
	return STEP_NEXT;
}
