/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of a texture read, by the CUDA C programming guide ("Texture Fetching", "Cubemap
 * Textures"), and by the OpenGL 4.6 specification for what CUDA does not have. The texels of an
 * image are a function of their place.
 */
#ifndef KVGPU_SELFTESTS_SM_TEXTURE_ORACLE_H
#define KVGPU_SELFTESTS_SM_TEXTURE_ORACLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* numbers as in texture headers */
enum shape { LINE, PLANE, VOLUME, CUBE, LINE_LAYERS, PLANE_LAYERS, CUBE_LAYERS = 8 };

struct image {
	enum shape shape;
	int size[3];
	int layers; /* of cubes: faces, 6 for each cube */
	int levels;
};

struct look {
	/* address mode of all coordinates, in the sampler's numbers */
	unsigned int wrap;
	bool linear, unnormalized, seamless;
	unsigned int mip; /* 1 none, 2 nearest, 3 linear */
	float bias, min, max;
	float border[4];
	int off[3];
	int first, last; /* the levels of the image that the texture has */
};

static inline int level_extent(int size, int level)
{
	return size >> level ? size >> level : 1;
}

static inline unsigned int image_dims(const struct image *im)
{
	return im->shape == VOLUME ? 3 : im->shape == LINE || im->shape == LINE_LAYERS ? 1 : 2;
}

static inline double image_texel(int level, int layer, const int *at, unsigned int c)
{
	return (at[0] * 7 + at[1] * 13 + at[2] * 29 + layer * 31 + level * 57) % 251 + c * 256.0;
}

/* Returns the index after the address mode; -1: the border. */
static inline int oracle_wrap(unsigned int mode, int i, int n)
{
	switch (mode) {
	case 0: /* repeat */
		return ((i % n) + n) % n;
	case 1: /* mirror */
		i = ((i % (2 * n)) + 2 * n) % (2 * n);
		return i < n ? i : 2 * n - 1 - i;
	case 2: /* clamp to edge */
		return i < 0 ? 0 : i >= n ? n - 1 : i;
	case 5: /* mirror once, clamp to edge */
		i = i < 0 ? -1 - i : i;
		return i >= n ? n - 1 : i;
	case 6: /* mirror once, border */
		i = i < 0 ? -1 - i : i;
		/* fall through */
	/* border; also for GL_CLAMP, whose coordinates are clamped before */
	default:
		return i < 0 || i >= n ? -1 : i;
	}
}

/*
 * Returns the face for direction @d, and its coordinates in @place: CUDA C programming guide, table
 * "Cubemap Fetch".
 */
static inline int cube_of(const double *d, double *place)
{
	double ax = fabs(d[0]), ay = fabs(d[1]), az = fabs(d[2]), m, s, t;
	int face;

	if (ax >= ay && ax >= az) {
		face = d[0] < 0;
		m = ax;
		s = d[0] < 0 ? d[2] : -d[2];
		t = -d[1];
	} else if (ay >= az) {
		face = 2 + (d[1] < 0);
		m = ay;
		s = d[0];
		t = d[1] < 0 ? -d[2] : d[2];
	} else {
		face = 4 + (d[2] < 0);
		m = az;
		s = d[2] < 0 ? -d[0] : d[0];
		t = -d[1];
	}
	place[0] = (s / m + 1) / 2;
	place[1] = (t / m + 1) / 2;
	return face;
}

/*
 * Sets @p to the middle of texel (i, j) of a face of n by n texels, in a space in which the cube's
 * edge is 2 n long.
 */
static inline void cube_point(int face, int n, int i, int j, int *p)
{
	int s = 2 * i + 1 - n, t = 2 * j + 1 - n;

	switch (face) {
	case 0:
		p[0] = n, p[1] = -t, p[2] = -s;
		break;
	case 1:
		p[0] = -n, p[1] = -t, p[2] = s;
		break;
	case 2:
		p[0] = s, p[1] = n, p[2] = t;
		break;
	case 3:
		p[0] = s, p[1] = -n, p[2] = -t;
		break;
	case 4:
		p[0] = s, p[1] = -t, p[2] = n;
		break;
	default:
		p[0] = -s, p[1] = -t, p[2] = -n;
		break;
	}
}

/*
 * Returns the face and in @i the texel of another face that is nearest to where texel @i, outside
 * of this face, would be.
 */
static inline int cube_neighbour(int face, int n, int *i)
{
	int best = 1 << 30, at[2] = { 0, 0 }, to = face, p[3], q[3];

	cube_point(face, n, i[0], i[1], p);
	for (int f = 0; f < 6; f++) {
		for (int k = 0; k < n * n && f != face; k++) {
			int far = 0;

			cube_point(f, n, k % n, k / n, q);
			for (int d = 0; d < 3; d++)
				far += (p[d] - q[d]) * (p[d] - q[d]);
			if (far < best) {
				best = far;
				to = f;
				at[0] = k % n;
				at[1] = k / n;
			}
		}
	}
	i[0] = at[0];
	i[1] = at[1];
	return to;
}

static inline double oracle_texel(const struct image *im, const struct look *k, int level,
				  int layer, int face, const int *i, unsigned int c)
{
	int at[3] = { 0, 0, 0 }, n[3], place[3] = { i[0], i[1], i[2] }, outside = 0;

	for (unsigned int d = 0; d < 3; d++)
		n[d] = level_extent(im->size[d], level);
	for (unsigned int d = 0; d < 2; d++)
		outside += place[d] < 0 || place[d] >= n[d];
	if (face >= 0 && k->seamless && outside == 1)
		face = cube_neighbour(face, n[0], place);
	for (unsigned int d = 0; d < image_dims(im); d++) {
		at[d] = oracle_wrap(k->wrap, place[d], n[d]);
		if (at[d] < 0)
			return k->border[c];
	}
	return image_texel(level, face < 0 ? layer : layer * 6 + face, at, c);
}

/*
 * Weights have 8 bits of fraction ("Linear Filtering"). How products of weights are rounded is not
 * documented; this is what an H200 was seen to do.
 */
static inline void oracle_weights(const int *a, unsigned int dims, int *w)
{
	int xz[2][2], second = dims == 3 ? a[2] : dims == 2 ? a[1] : 0;

	xz[1][1] = (a[0] * second + 128) >> 8;
	xz[0][1] = second - xz[1][1];
	xz[1][0] = a[0] - xz[1][1];
	xz[0][0] = 256 - a[0] - second + xz[1][1];
	for (int i = 0; i < 8; i++) {
		int x = i & 1, y = i >> 1 & 1, z = i >> 2;

		if (dims < 3)
			w[i] = xz[x][y];
		else
			w[i] = y ? (xz[x][z] * a[1] + 128) >> 8 :
				   xz[x][z] - ((xz[x][z] * a[1] + 128) >> 8);
	}
}

static inline double oracle_level(const struct image *im, const struct look *k, int level,
				  int layer, int face, const double *p, unsigned int c)
{
	int base[3] = { 0 }, part[3] = { 0 }, weight[8] = { 256 },
	    corners = k->linear ? 1 << image_dims(im) : 1;
	double sum = 0;

	for (unsigned int d = 0; d < image_dims(im); d++) {
		int n = level_extent(im->size[d], level);
		double x = k->unnormalized && face < 0 ? p[d] : p[d] * n,
		       top = k->linear ? n : n - 1;

		if (k->wrap == 7)
			x = fabs(x);
		if (k->wrap == 4 || k->wrap == 7)
			x = x < 0 ? 0 : x > top ? top : x;
		x -= k->linear ? 0.5 : 0;
		base[d] = (int)floor(x) + k->off[d];
		part[d] = (int)floor((x - floor(x)) * 256 + 0.5);
	}
	if (k->linear)
		oracle_weights(part, image_dims(im), weight);
	for (int i = 0; i < corners; i++) {
		int out = 0, w = weight[i], third = (int)floor(w / 3.0 + 0.5);

		for (unsigned int d = 0; d < 2; d++) {
			int at = base[d] + (i >> d & 1);

			out += at < 0 || at >= level_extent(im->size[d], level);
		}
		if (face < 0 || !k->seamless || out < 2)
			continue;
		/*
		 * three faces meet here, so there is no fourth texel: its weight goes to the others
		 */
		weight[i] = 0;
		weight[i ^ 1] += third;
		weight[i ^ 2] += third;
		weight[i ^ 3] += w - 2 * third;
		break;
	}
	for (int i = 0; i < corners; i++) {
		int at[3] = { base[0] + (i & 1), base[1] + (i >> 1 & 1), base[2] + (i >> 2) };

		if (weight[i])
			sum += weight[i] / 256.0 * oracle_texel(im, k, level, layer, face, at, c);
	}
	return sum;
}

/* @p: the coordinates that the program gives. @lod: level of detail before bias and limits. */
static inline double oracle_sample(const struct image *im, const struct look *k, const double *p,
				   int layer, double lod, unsigned int c)
{
	double place[3] = { p[0], p[1], p[2] }, top = k->last - k->first, f;
	int face = -1, level = k->first;

	if (im->shape == CUBE || im->shape == CUBE_LAYERS)
		face = cube_of(p, place);
	lod += k->bias;
	lod = lod > k->max ? k->max : lod > k->min ? lod : k->min;
	lod = lod > top ? top : lod > 0 ? lod : 0;
	if (k->mip == 2)
		level += (int)floor(lod + 0.5);
	else if (k->mip == 3)
		level += (int)floor(lod);
	/* cut off, not rounded: seen on an H200 */
	f = k->mip == 3 ? floor((lod - floor(lod)) * 256) / 256 : 0;
	if (f == 0)
		return oracle_level(im, k, level, layer, face, place, c);
	return oracle_level(im, k, level, layer, face, place, c) * (1 - f) +
	       oracle_level(im, k, level + 1, layer, face, place, c) * f;
}

#endif
