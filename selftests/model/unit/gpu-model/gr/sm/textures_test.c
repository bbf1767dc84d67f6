// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ways in which CUDA reads a texture (textures.cu), compared with texture_oracle.h. Places are
 * chosen so that rounding does not decide which texels count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "gr/gr.h"
#include "gr/sm/exec.h"
#include "gr/sm/rig.h"
#include "gr/sm/texture_oracle.h"

#define N 256u /* threads */
/* log2 of a block's height in GOBs, and of a volume's depth */
#define LOG2_BLOCK 2u
#define HEADERS	   8u
#define HEADER	   3u /* number of the header and of the sampler that are used */

__asm__(".section .rodata\n.balign 8\ncubin_start: .incbin \"selftests/model/unit/gpu-model/gr/sm/textures.cubin\"\ncubin_end:\n"
	".text\n");
extern const uint8_t cubin_start[], cubin_end[];

struct world {
	struct rig *r;
	uint64_t headers, samplers;
	struct {
		uint64_t t, p, g, out;
	} param;
	float (*p)[4], (*g)[4], (*out)[4];
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rig *r = w->r = rig_create(48u << 20);

	w->headers = r->grid.header_pool = rig_alloc(r, HEADERS * 32);
	w->samplers = r->grid.sampler_pool = rig_alloc(r, HEADERS * 32);
	r->grid.max_header = r->grid.max_sampler = HEADERS - 1;
	w->param.t = HEADER | (uint64_t)HEADER << 20;
	w->param.p = rig_alloc(r, N * 16);
	w->param.g = rig_alloc(r, N * 16);
	w->param.out = rig_alloc(r, N * 16);
	w->p = rig_host(r, w->param.p);
	w->g = rig_host(r, w->param.g);
	w->out = rig_host(r, w->param.out);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	rig_destroy(w->r);
	free(w);
	return 0;
}

static uint64_t seed = 1;

static uint32_t chance(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

/* ------------------------------------------------------------------ images in memory */

struct block {
	unsigned int height, depth; /* log2 of GOBs */
};

/* Blocks shrink for levels that are smaller than a block (Mesa's nil/tiling.rs). */
static struct block block_of(const struct image *im, int level)
{
	struct block b = { LOG2_BLOCK, im->shape == VOLUME ? LOG2_BLOCK : 0 };
	int h = image_dims(im) > 1 ? level_extent(im->size[1], level) : 1,
	    d = level_extent(im->size[2], level);

	for (; b.height && h <= 8 << (b.height - 1); b.height--)
		;
	for (; b.depth && d <= 1 << (b.depth - 1); b.depth--)
		;
	return b;
}

static uint64_t up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static uint64_t level_size_in_memory(const struct image *im, int level, unsigned int bytes)
{
	struct block b = block_of(im, level);

	return up((uint64_t)level_extent(im->size[0], level) * bytes, 64) *
	       up(image_dims(im) > 1 ? level_extent(im->size[1], level) : 1, 8u << b.height) *
	       up(im->shape == VOLUME ? level_extent(im->size[2], level) : 1, 1u << b.depth);
}

static uint64_t layer_stride(const struct image *im, unsigned int bytes)
{
	struct block b = block_of(im, 0);
	uint64_t n = 0;

	for (int l = 0; l < im->levels; l++)
		n += level_size_in_memory(im, l, bytes);
	return up(n, 512u << (b.height + b.depth));
}

static uint64_t texel_offset(const struct image *im, int level, int layer, const int *at,
			     unsigned int bytes)
{
	struct block b = block_of(im, level);
	uint64_t x = (uint64_t)at[0] * bytes, y = at[1], z = at[2],
		 off = layer * layer_stride(im, bytes);
	uint64_t across = up((uint64_t)level_extent(im->size[0], level) * bytes, 64) / 64;
	uint64_t down =
		up(image_dims(im) > 1 ? level_extent(im->size[1], level) : 1, 8u << b.height) >>
		b.height >> 3;
	uint64_t block = ((z >> b.depth) * down + (y >> 3 >> b.height)) * across + x / 64;

	for (int l = 0; l < level; l++)
		off += level_size_in_memory(im, l, bytes);
	off += block * (512u << (b.height + b.depth));
	off += (((z & ((1u << b.depth) - 1)) << b.height) + (y >> 3 & ((1u << b.height) - 1))) *
	       512;
	return off + (y & 7) * 64 + x % 64;
}

/* Makes an image with four floats in each texel. */
static uint64_t make_image(struct world *w, const struct image *im)
{
	uint64_t va = rig_alloc(w->r, layer_stride(im, 16) * im->layers);
	uint8_t *host = rig_host(w->r, va);

	for (int layer = 0; layer < im->layers; layer++) {
		for (int l = 0; l < im->levels; l++) {
			int n[3] = { level_extent(im->size[0], l), level_extent(im->size[1], l),
				     level_extent(im->size[2], l) };

			for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
				int at[3] = { i % n[0], i / n[0] % n[1], i / n[0] / n[1] };

				for (unsigned int c = 0; c < 4; c++) {
					float v = (float)image_texel(l, layer, at, c);

					memcpy(host + texel_offset(im, l, layer, at, 16) + 4 * c,
					       &v, 4);
				}
			}
		}
	}
	return va;
}

static void put_header(struct world *w, const struct image *im, const struct look *k, uint64_t va)
{
	uint32_t *h = (uint32_t *)rig_host(w->r, w->headers) + HEADER * 8;
	struct block b = block_of(im, 0);
	uint32_t depth = im->shape == VOLUME			       ? im->size[2] :
			 im->shape == CUBE || im->shape == CUBE_LAYERS ? im->layers / 6 :
									 im->layers;

	memset(h, 0, 32);
	h[0] = 1 | 7 << 6 | 7 << 9 | 7 << 12 | 7 << 15 | 2 << 18 | 3 << 21 | 4 << 24 | 5u << 27;
	h[1] = (uint32_t)va;
	h[2] = (uint32_t)(va >> 32) | im->shape << 14 | b.height << 22 | b.depth << 25 |
	       (k->unnormalized ? 0 : 1u << 31);
	h[4] = 1u << 31 | im->size[0];
	h[5] = im->size[1] | depth << 16 | (im->levels - 1u) << 28;
	h[7] = k->first | k->last << 4;
}

static void put_sampler(struct world *w, const struct look *k)
{
	uint32_t *s = (uint32_t *)rig_host(w->r, w->samplers) + HEADER * 8,
		 filter = k->linear ? 2 : 1;

	memset(s, 0, 32);
	/* the comparison, if a test switches it on: less or equal */
	s[0] = k->wrap | k->wrap << 3 | k->wrap << 6 | 3 << 9 << 1;
	s[1] = filter | filter << 4 | k->mip << 6 | (uint32_t)k->seamless << 9 |
	       ((uint32_t)(int)(k->bias * 256) & 0x1fff) << 12;
	s[2] = (uint32_t)(k->min * 256) | (uint32_t)(k->max * 256) << 12;
	memcpy(&s[4], k->border, 16);
}

static struct look look(const struct image *im, unsigned int wrap, bool linear)
{
	return (struct look){ .wrap = wrap,
			      .linear = linear,
			      .mip = 1,
			      .max = 15,
			      .last = im->levels - 1,
			      .border = { -5, -6, -7, -8 } };
}

/* ------------------------------------------------------------------ reading */

static enum sm_result launch(struct world *w, const char *name, unsigned int threads)
{
	struct rig_kernel k;

	assert_true(rig_cubin(w->r, cubin_start, cubin_end - cubin_start, name, &k));
	memset(w->out, 0xff, N * 16);
	return rig_launch(w->r, &k, (struct rig_dim){ N / threads, 1, 1 },
			  (struct rig_dim){ threads, 1, 1 }, 0, &w->param, sizeof(w->param));
}

static void read_texture(struct world *w, const char *name)
{
	enum sm_result ret = launch(w, name, 64);

	if (ret != SM_DONE)
		print_error("%s: result %d, warp error %x at %x\n", name, ret,
			    w->r->grid.trap.warp_esr, w->r->grid.trap.pc);
	assert_int_equal(ret, SM_DONE);
}

static void check(const char *name, unsigned int i, unsigned int c, float got, double want)
{
	if (fabs(got - want) <= 1e-3 + fabs(want) * 1e-5)
		return;
	print_error("%s: component %u of thread %u is %f, must be %f\n", name, c, i, (double)got,
		    want);
	fail();
}

/*
 * Chooses coordinates in 64ths of a texel, from outside of the image on one side to outside on the
 * other. For a cube: directions.
 */
static void choose_places(struct world *w, const struct image *im, const struct look *k)
{
	for (unsigned int i = 0; i < N; i++) {
		for (unsigned int d = 0; d < 3; d++) {
			int n = im->size[d] * 64;
			float x = (float)((int)chance(5 * n) - 2 * n) / 64;

			w->p[i][d] = k->unnormalized ? x : x / (float)im->size[d];
		}
		w->p[i][3] = (float)chance(im->layers);
		if (im->shape != CUBE && im->shape != CUBE_LAYERS)
			continue;
		for (unsigned int d = 0; d < 3; d++)
			w->p[i][d] = (float)((int)chance(129) - 64) / 64;
		w->p[i][chance(3)] = chance(2) ? 1 : -1;
		w->p[i][3] = (float)chance(im->layers / 6);
	}
}

static void check_all(struct world *w, const char *name, const struct image *im,
		      const struct look *k, const double *lod)
{
	for (unsigned int i = 0; i < N; i++) {
		const double p[3] = { w->p[i][0], w->p[i][1], w->p[i][2] };
		bool arrays = im->shape >= LINE_LAYERS;

		for (unsigned int c = 0; c < 4; c++)
			check(name, i, c, w->out[i][c],
			      oracle_sample(im, k, p, arrays ? (int)w->p[i][3] : 0,
					    lod ? lod[i] : 0, c));
	}
}

static void read_and_check(struct world *w, const char *name, const struct image *im,
			   const struct look *k, uint64_t va, const double *lod)
{
	put_header(w, im, k, va);
	put_sampler(w, k);
	read_texture(w, name);
	check_all(w, name, im, k, lod);
}

static const struct kind {
	struct image image;
	const char *plain, *lod, *grad;
} kinds[] = {
	{ { LINE, { 64, 1, 1 }, 1, 7 }, "line", "line_lod", "line_grad" },
	{ { PLANE, { 32, 16, 1 }, 1, 6 }, "plane", "plane_lod", "plane_grad" },
	{ { VOLUME, { 16, 32, 8 }, 1, 6 }, "volume", "volume_lod", "volume_grad" },
	{ { CUBE, { 16, 16, 1 }, 6, 5 }, "cube", "cube_lod", "cube_grad" },
	{ { LINE_LAYERS, { 32, 1, 1 }, 5, 6 },
	  "line_layers",
	  "line_layers_lod",
	  "line_layers_grad" },
	{ { PLANE_LAYERS, { 16, 32, 1 }, 3, 6 },
	  "plane_layers",
	  "plane_layers_lod",
	  "plane_layers_grad" },
	{ { CUBE_LAYERS, { 8, 8, 1 }, 18, 4 },
	  "cube_layers",
	  "cube_layers_lod",
	  "cube_layers_grad" },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void every_kind_with_every_address_mode(void **state)
{
	struct world *w = *state;

	for (unsigned int n = 0; n < KINDS; n++) {
		const struct image *im = &kinds[n].image;
		uint64_t va = make_image(w, im);

		for (unsigned int i = 0; i < 32; i++) {
			struct look k = look(im, i % 8, i & 8);
			bool cube = im->shape == CUBE || im->shape == CUBE_LAYERS;

			k.unnormalized = i & 16 && !cube;
			k.seamless = i & 16 && cube;
			choose_places(w, im, &k);
			read_and_check(w, kinds[n].plain, im, &k, va, NULL);
		}
	}
}

static void levels_of_detail(void **state)
{
	struct world *w = *state;
	static double lod[N];

	for (unsigned int n = 0; n < KINDS; n++) {
		const struct image *im = &kinds[n].image;
		uint64_t va = make_image(w, im);

		for (unsigned int i = 0; i < 12; i++) {
			struct look k = look(im, 2, i & 1);

			k.mip = 1 + i / 4;
			k.bias = i & 2 ? -1.25f : 0;
			k.min = i & 2 ? 0.5f : 0;
			k.max = i & 2 ? 2.75f : 15;
			k.first = i & 2 ? 1 : 0;
			k.last = im->levels - 1 - (i & 1);
			choose_places(w, im, &k);
			for (unsigned int t = 0; t < N; t++)
				lod[t] = w->g[t][0] = (float)((int)chance(64 * 8) - 64) / 64;
			read_and_check(w, kinds[n].lod, im, &k, va, lod);
		}
	}
}

/*
 * Derivatives along one coordinate, in steps of 2^e texels, so that the level is e: lod is the log2
 * of the longer derivative. For a cube, from the middle of a face a step of the direction covers
 * half as much of the face.
 */
static void levels_by_derivatives(void **state)
{
	struct world *w = *state;
	static double lod[N];

	for (unsigned int n = 0; n < KINDS; n++) {
		const struct image *im = &kinds[n].image;
		bool cube = im->shape == CUBE || im->shape == CUBE_LAYERS;
		uint64_t va = make_image(w, im);

		for (unsigned int i = 0; i < 4; i++) {
			struct look k = look(im, 2, i & 1);

			k.mip = 2 + i / 2;
			choose_places(w, im, &k);
			memset(w->g, 0, N * 16);
			for (unsigned int t = 0; t < N; t++) {
				unsigned int across = image_dims(im) > 1 && !cube ? chance(2) : 0,
					     row = chance(2), e = chance(im->levels + 1);
				float step = ldexpf(1, (int)e) / (float)im->size[across];

				lod[t] = e;
				w->g[t][2 * row + across] = step;
				w->g[t][2 * !row + across] = step / 4;
				if (!cube)
					continue;
				w->p[t][0] = w->p[t][1] = 0;
				w->p[t][2] = chance(2) ? 1 : -1;
				w->g[t][2 * row] = step > 0.25f ? 0.5f : 2 * step;
				w->g[t][2 * !row] = w->g[t][2 * row] / 4;
				lod[t] = log2(w->g[t][2 * row] / 2 * im->size[0]);
			}
			read_and_check(w, kinds[n].grad, im, &k, va, lod);
		}
	}
}

#include "textures_forms.h"
#include "textures_pages.h"

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_kind_with_every_address_mode),
		T(levels_of_detail),
		T(levels_by_derivatives),
		T(derivatives_where_few_threads_ask),
		T(places_moved_by_offsets),
		T(comparisons),
		T(gathered_texels),
		T(single_texels),
		T(sizes_of_levels),
		T(every_format_of_cuda),
		T(srgb_needs_both_words),
		T(bad_headers_are_traps),
		T(the_sampler_may_go_with_the_header),
		T(textures_of_unmapped_memory_fault),
		T(places_far_beside_the_widest_cube),
		T(texels_of_buffers_go_on_at_the_next_page),
		T(texels_of_pitch_planes_go_on_at_the_next_page),
		T(headers_and_samplers_go_on_at_the_next_page),
		T(texels_that_end_on_an_unmapped_page_fault),
	};

	return cmocka_run_group_tests_name("textures", tests, NULL, NULL);
}
