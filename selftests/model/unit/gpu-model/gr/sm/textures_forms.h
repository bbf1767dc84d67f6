/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texture reads with offsets, comparisons and gathers, formats, and errors. Included by
 * textures_test.c.
 */
#ifndef KVGPU_SELFTESTS_SM_TEXTURES_FORMS_H
#define KVGPU_SELFTESTS_SM_TEXTURES_FORMS_H

static const struct image plane16 = { PLANE, { 16, 16, 1 }, 1, 1 };

/*
 * CTAs of 30 threads, in which every third thread reads. The other threads of its quad take part in
 * the derivatives, even those that do not exist.
 */
static void derivatives_where_few_threads_ask(void **state)
{
	struct world *w = *state;
	const struct image *im = &kinds[2].image;
	uint64_t va = make_image(w, im);
	struct look k = look(im, 2, true);

	k.mip = 3;
	choose_places(w, im, &k);
	memset(w->g, 0, N * 16);
	for (unsigned int t = 0; t < N; t++)
		w->g[t][0] = ldexpf(1, (int)(t % 5)) / (float)im->size[0];
	put_header(w, im, &k, va);
	put_sampler(w, &k);
	assert_int_equal(launch(w, "volume_grad_some", 30), SM_DONE);
	for (unsigned int t = 0; t < N / 30 * 30; t++) {
		const double p[3] = { w->p[t][0], w->p[t][1], w->p[t][2] };
		uint32_t got;

		memcpy(&got, &w->out[t][0], 4);
		if (t % 3 == 1)
			check("volume_grad_some", t, 0, w->out[t][0],
			      oracle_sample(im, &k, p, 0, t % 5, 0));
		else
			assert_int_equal(got, 0xffffffff);
	}
}

static void places_moved_by_offsets(void **state)
{
	static const struct {
		const char *name;
		bool layers, grad;
		int off[2];
	} moved[] = {
		{ "plane_moved", false, false, { -3, 5 } },
		{ "layers_moved", true, false, { 7, -8 } },
		{ "grad_moved", false, true, { 2, -1 } },
		{ "layers_grad_moved", true, true, { -2, 1 } },
	};
	struct world *w = *state;
	static double lod[N];

	for (unsigned int n = 0; n < 4; n++) {
		const struct image *im = &kinds[moved[n].layers ? 5 : 1].image;
		struct look k = look(im, 0, true);

		k.mip = 2;
		k.off[0] = moved[n].off[0];
		k.off[1] = moved[n].off[1];
		choose_places(w, im, &k);
		memset(w->g, 0, N * 16);
		for (unsigned int t = 0; t < N; t++) {
			lod[t] = n ? t % 3 : 0;
			w->g[t][0] = moved[n].grad ? ldexpf(1, (int)lod[t]) / (float)im->size[0] :
						     (float)lod[t];
		}
		read_and_check(w, moved[n].name, im, &k, make_image(w, im), lod);
	}
}

static void switch_comparison_on(struct world *w, unsigned int function)
{
	uint32_t *s = (uint32_t *)rig_host(w->r, w->samplers) + HEADER * 8;

	s[0] = (s[0] & ~(7u << 10)) | 1 << 9 | function << 10;
}

static bool compare(unsigned int function, double reference, double texel)
{
	return reference < texel ? function & 1 : reference == texel ? function & 2 : function & 4;
}

/*
 * A comparing read filters the results of the comparisons: it gives the part of the texels that
 * pass.
 */
static void comparisons(void **state)
{
	struct world *w = *state;

	const uint64_t va[] = { make_image(w, &kinds[1].image), make_image(w, &kinds[5].image) };

	for (unsigned int i = 0; i < 32; i++) {
		const struct image *im = &kinds[i & 8 ? 5 : 1].image;
		struct look k = look(im, 2, i & 16);
		const char *name = i & 8 ? "layers_compared" : "plane_compared";

		k.off[0] = k.off[1] = i & 8 ? 1 : 0;
		choose_places(w, im, &k);
		memset(w->g, 0, N * 16);
		for (unsigned int t = 0; t < N; t++)
			w->g[t][0] = (float)chance(251);
		put_header(w, im, &k, va[i >> 3 & 1]);
		put_sampler(w, &k);
		switch_comparison_on(w, i % 8);
		read_texture(w, name);
		for (unsigned int t = 0; t < N; t++) {
			int base[2], part[2], weight[8];
			double want = 0;

			for (unsigned int d = 0; d < 2; d++) {
				double x = w->p[t][d] * im->size[d] - (k.linear ? 0.5 : 0);

				base[d] = (int)floor(x) + k.off[d];
				part[d] = k.linear ? (int)floor((x - floor(x)) * 256 + 0.5) : 0;
			}
			oracle_weights(part, 2, weight);
			for (int c = 0; c < 4; c++) {
				int at[3] = { base[0] + (c & 1), base[1] + c / 2, 0 };
				double v = oracle_texel(im, &k, 0, i & 8 ? (int)w->p[t][3] : 0, -1,
							at, 0);

				want += weight[c] / 256.0 * compare(i % 8, w->g[t][0], v);
			}
			check(name, t, 0, w->out[t][0], want);
		}
	}
}

static void gathered_texels(void **state)
{
	static const struct {
		const char *name;
		unsigned int component;
		int off[2];
		bool compared;
	} forms[] = {
		{ "gather_r", 0, { 0, 0 }, false },
		{ "gather_a", 3, { 0, 0 }, false },
		{ "gather_moved", 1, { -12, 9 }, false },
		{ "gather_compared", 0, { 0, 0 }, true },
	};
	/* order of the four texels: PTX ISA, "tld4" */
	static const int order[4][2] = { { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } };
	struct world *w = *state;
	uint64_t va = make_image(w, &plane16);

	for (unsigned int f = 0; f < 4; f++) {
		struct look k = look(&plane16, 3, false);

		choose_places(w, &plane16, &k);
		memset(w->g, 0, N * 16);
		for (unsigned int t = 0; t < N; t++)
			w->g[t][0] = (float)chance(251);
		put_header(w, &plane16, &k, va);
		put_sampler(w, &k);
		if (forms[f].compared)
			switch_comparison_on(w, 3);
		read_texture(w, forms[f].name);
		for (unsigned int t = 0; t < N; t++) {
			for (unsigned int c = 0; c < 4; c++) {
				int at[3] = { (int)floor(w->p[t][0] * 16 - 0.5) + order[c][0] +
						      forms[f].off[0],
					      (int)floor(w->p[t][1] * 16 - 0.5) + order[c][1] +
						      forms[f].off[1],
					      0 };
				double v = oracle_texel(&plane16, &k, 0, 0, -1, at,
							forms[f].component);

				check(forms[f].name, t, c, w->out[t][c],
				      forms[f].compared ? compare(3, w->g[t][0], v) : v);
			}
		}
	}
}

static void single_texels(void **state)
{
	static const struct {
		const char *name;
		unsigned int kind;
	} forms[] = {
		{ "texel_of_level", 1 },
		{ "texel_of_volume", 2 },
		{ "texel_of_layer", 5 },
	};
	struct world *w = *state;

	for (unsigned int f = 0; f < 3; f++) {
		const struct image *im = &kinds[forms[f].kind].image;
		struct look k = look(im, 2, true);

		k.unnormalized = true;
		for (unsigned int t = 0; t < N; t++) {
			for (unsigned int d = 0; d < 3; d++)
				w->p[t][d] = (float)((int)chance(im->size[d] + 8) - 4);
			w->p[t][3] = (float)chance(im->layers);
			w->g[t][0] = (float)((int)chance(12) - 2);
		}
		put_header(w, im, &k, make_image(w, im));
		put_sampler(w, &k);
		read_texture(w, forms[f].name);
		for (unsigned int t = 0; t < N; t++) {
			int at[3] = { 0 }, level = f ? 0 : (int)w->g[t][0];
			bool inside = true;

			level = level < 0 ? 0 : level > k.last ? k.last : level;
			for (unsigned int d = 0; d < image_dims(im); d++) {
				at[d] = (int)w->p[t][d];
				inside &= at[d] >= 0 && at[d] < level_extent(im->size[d], level);
			}
			for (unsigned int c = 0; c < 4; c++)
				check(forms[f].name, t, c, w->out[t][c],
				      inside ? image_texel(level, f == 2 ? (int)w->p[t][3] : 0, at,
							   c) :
					       0);
		}
	}
}

static void sizes_of_levels(void **state)
{
	struct world *w = *state;

	for (unsigned int n = 0; n < KINDS; n++) {
		const struct image *im = &kinds[n].image;
		struct look k = look(im, 2, false);

		k.first = 1;
		put_header(w, im, &k, 0);
		put_sampler(w, &k);
		for (unsigned int t = 0; t < N; t++)
			w->p[t][0] = (float)(t % (im->levels - 1));
		read_texture(w, "sizes");
		for (unsigned int t = 0; t < N; t++) {
			int32_t got[4], level = 1 + (int)w->p[t][0];

			memcpy(got, w->out[t], 16);
			assert_int_equal(got[0], level_extent(im->size[0], level));
			assert_int_equal(got[1], level_extent(im->size[1], level));
			if (im->shape == VOLUME)
				assert_int_equal(got[2], level_extent(im->size[2], level));
		}
	}
}

/* ------------------------------------------------------------------ formats */

enum { SNORM = 1, UNORM, SINT, UINT, FLOAT = 7 };

/* Makes a texture header for a buffer of texels with @n components of @bits bits. */
static void put_buffer(struct world *w, unsigned int bits, unsigned int n, unsigned int type,
		       bool srgb, uint64_t va)
{
	static const uint8_t sizes[3][5] = { { 0, 0x1d, 0x18, 0, 0x08 },
					     { 0, 0x1b, 0x0c, 0, 0x03 },
					     { 0, 0x0f, 0x04, 0, 0x01 } };
	uint32_t *h = (uint32_t *)rig_host(w->r, w->headers) + HEADER * 8,
		 one = type == SINT || type == UINT ? 6 : 7;

	memset(h, 0, 32);
	h[0] = sizes[bits == 8	? 0 :
		     bits == 16 ? 1 :
				  2][n] |
	       type << 6 | type << 9 | type << 12 | type << 15 | 2 << 18 | (n > 1 ? 3 : 0) << 21 |
	       (n > 2 ? 4 : 0) << 24 | (n > 3 ? 5 : one) << 27;
	h[1] = (uint32_t)va;
	h[2] = (uint32_t)(va >> 32) | 6 << 14 | 1 << 18 | (uint32_t)srgb << 10;
	h[4] = N;
}

static double half_value(uint32_t h)
{
	int exp = h >> 10 & 31, man = h & 1023;
	double v = exp ? ldexp(1024 + man, exp - 25) : ldexp(man, -24);

	return h >> 15 ? -v : v;
}

/*
 * All formats of cudaChannelFormatDesc: one, two or four components of 8, 16 or 32 bits, signed,
 * unsigned, fractions or floats.
 */
static void every_format_of_cuda(void **state)
{
	static const unsigned int widths[] = { 8, 16, 32 }, counts[] = { 1, 2, 4 },
				  types[] = { SNORM, UNORM, SINT, UINT, FLOAT };
	struct world *w = *state;
	uint64_t va = rig_alloc(w->r, N * 16);
	uint8_t *mem = rig_host(w->r, va);

	for (unsigned int n = 0; n < 45; n++) {
		unsigned int bits = widths[n / 15], count = counts[n / 5 % 3], type = types[n % 5];

		if ((bits == 8 && type == FLOAT) ||
		    (bits == 32 && (type == SNORM || type == UNORM)))
			continue;
		for (unsigned int i = 0; i < N * 16; i++)
			mem[i] = (uint8_t)chance(256);
		/* change the exponents so that no value is infinite */
		for (unsigned int i = 1; i < N * 16 && type == FLOAT; i += bits / 8)
			mem[i] = mem[bits == 32 ? i + 2 : i] &= 0xbb;
		for (unsigned int t = 0; t < N; t++)
			w->p[t][0] = (float)((t * 7) % (N + 20)) - 10;
		put_buffer(w, bits, count, type, false, va);
		read_texture(w, "fetch");
		for (unsigned int t = 0; t < N; t++) {
			int at = (int)w->p[t][0];
			uint32_t got[4];

			memcpy(got, w->out[t], 16);
			for (unsigned int c = 0; c < 4; c++) {
				const uint8_t *m = mem + (at * (int)count + (int)c) * (int)bits / 8;
				bool integer = type == SINT || type == UINT,
				     there = at >= 0 && at < (int)N && c < count;
				int64_t raw = 0, top = (1ll << (bits - 1)) - 1;
				double want;
				float f;

				if (!there) {
					float one = 1;
					uint32_t as_int = 1;

					memcpy(&f, &got[c], 4);
					assert_int_equal(got[c],
							 c < 3 || (c < count) ? 0 :
							 integer	      ? as_int :
								   (memcpy(&as_int, &one, 4),
								    as_int));
					continue;
				}
				for (unsigned int b = 0; b < bits / 8; b++)
					raw |= (int64_t)m[b] << 8 * b;
				if (type == SINT || type == SNORM)
					raw = raw > top ? raw - 2 * top - 2 : raw;
				if (integer) {
					assert_int_equal(got[c], (uint32_t)raw);
					continue;
				}
				memcpy(&f, &got[c], 4);
				if (type == FLOAT && bits == 32) {
					assert_memory_equal(&got[c], m, 4);
					continue;
				}
				want = type == FLOAT ? half_value((uint32_t)raw) :
				       type == UNORM ? (double)raw / (double)(2 * top + 1) :
						       (double)raw / (double)top;
				want = want < -1 && type == SNORM ? -1 : want;
				assert_true(f == (float)want);
			}
		}
	}
}

/*
 * sRGB texels are converted only if the header says that they are sRGB and the sampler allows it;
 * alpha is always linear. The formula is of IEC 61966-2-1.
 */
static void srgb_needs_both_words(void **state)
{
	struct world *w = *state;
	uint64_t va = rig_alloc(w->r, 4096);
	uint8_t *mem = rig_host(w->r, va);
	struct look k = { .wrap = 2, .mip = 1, .max = 15, .unnormalized = true };

	for (unsigned int i = 0; i < N; i++)
		memset(mem + 4 * i, (int)i, 4);
	for (unsigned int on = 0; on < 4; on++) {
		uint32_t *h = (uint32_t *)rig_host(w->r, w->headers) + HEADER * 8, *s;

		put_buffer(w, 8, 4, UNORM, on & 1, va);
		/* a plane of one line instead of a buffer, because a buffer uses no sampler */
		h[2] = (h[2] & ~(15u << 14)) | 7 << 14;
		h[3] = 1024;
		h[5] = 1 | 1 << 16;
		put_sampler(w, &k);
		s = (uint32_t *)rig_host(w->r, w->samplers) + HEADER * 8;
		s[0] |= (on >> 1) << 13;
		for (unsigned int t = 0; t < N; t++) {
			w->p[t][0] = (float)t + 0.5f;
			w->p[t][1] = 0.5f;
		}
		read_texture(w, "plane");
		for (unsigned int t = 0; t < N; t++) {
			double v = t / 255.0,
			       linear = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);

			for (unsigned int c = 0; c < 4; c++)
				assert_true(fabs(w->out[t][c] - (on == 3 && c < 3 ? linear : v)) <
					    1e-6);
		}
	}
}

/* ------------------------------------------------------------------ what goes wrong */

static void bad_headers_are_traps(void **state)
{
	struct world *w = *state;
	struct look k = look(&plane16, 2, false);
	uint32_t *h = (uint32_t *)rig_host(w->r, w->headers) + HEADER * 8;
	uint64_t va = make_image(w, &plane16);

	put_header(w, &plane16, &k, va);
	put_sampler(w, &k);
	assert_int_equal(launch(w, "plane", 64), SM_DONE);
	/* two samples for each texel: not modelled */
	h[7] = 1 << 12;
	assert_int_equal(launch(w, "plane", 64), SM_TRAP);
	h[7] = 0;
	h[0] = (h[0] & ~0x3fu) | 0x3f; /* no such format */
	assert_int_equal(launch(w, "plane", 64), SM_TRAP);
	assert_int_equal(w->r->grid.trap.warp_esr, WARP_ILLEGAL_PARAM);
	put_header(w, &plane16, &k, va);
	w->r->grid.max_header = HEADER - 1;
	assert_int_equal(launch(w, "plane", 64), SM_TRAP);
	w->r->grid.max_header = HEADERS - 1;
	w->r->grid.max_sampler = HEADER - 1;
	assert_int_equal(launch(w, "plane", 64), SM_TRAP);
	assert_int_equal(launch(w, "sizes", 64), SM_DONE); /* this kernel uses no sampler */
}

/*
 * With SAMPLER_INDEX in the QMD a handle has no sampler's number: the header's number is the
 * sampler's, too.
 */
static void the_sampler_may_go_with_the_header(void **state)
{
	struct world *w = *state;
	struct look k = look(&plane16, 2, true);

	w->param.t = HEADER;
	w->r->qmd.sampler_index = 1;
	choose_places(w, &plane16, &k);
	read_and_check(w, "plane", &plane16, &k, make_image(w, &plane16), NULL);
}

/*
 * The widest cube that a header can have. A direction with NaN may lead anywhere beside a face: the
 * texel lies on the next face, in memory that is not mapped. For the undefined behaviour sanitizer.
 */
static void places_far_beside_the_widest_cube(void **state)
{
	static const struct image cube = { CUBE, { 16, 16, 1 }, 6, 1 };
	static const float far[] = { -1e30f, -1, 1, 1e30f };
	struct world *w = *state;

	for (unsigned int linear = 0; linear < 2; linear++) {
		struct look k = look(&cube, 2, linear);

		k.seamless = true;
		put_header(w, &cube, &k, 1ull << 39);
		((uint32_t *)rig_host(w->r, w->headers))[HEADER * 8 + 4] |= (1u << 30) - 1;
		put_sampler(w, &k);
		for (unsigned int i = 0; i < 3 * 16; i++) {
			float p[4] = { 0 };

			p[i % 3] = NAN;
			p[(i + 1) % 3] = far[i / 3 % 4];
			p[(i + 2) % 3] = far[i / 3 / 4];
			for (unsigned int t = 0; t < N; t++)
				memcpy(w->p[t], p, sizeof(p));
			assert_int_equal(launch(w, "cube", 64), SM_FAULT);
		}
	}
}

static void textures_of_unmapped_memory_fault(void **state)
{
	struct world *w = *state;
	struct look k = look(&plane16, 2, false);

	put_header(w, &plane16, &k, 1ull << 39);
	put_sampler(w, &k);
	assert_int_equal(launch(w, "plane", 64), SM_FAULT);
	assert_true(atomic_load(&w->r->g->gr->sm->tex[0].faults) +
			    atomic_load(&w->r->g->gr->sm->tex[1].faults) >
		    0);
	assert_int_equal(atomic_load(&w->r->g->gr->sm->l1[0].faults), 0);
}

#endif
