/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texels and headers that begin on one page and end on the next. Nothing here says what the chip
 * does with addresses that are not aligned: the bytes that count are those at the GPU's addresses,
 * and never the memory that follows the first page elsewhere. Included by textures_test.c.
 */
#ifndef KVGPU_SELFTESTS_SM_TEXTURES_PAGES_H
#define KVGPU_SELFTESTS_SM_TEXTURES_PAGES_H

#define PAGE	  4096u
#define TWO_PAGES 0x300000000ull /* two pages, whose memory does not adjoin */

struct two_pages {
	uint8_t *mem[2];
	uint8_t bytes[2 * PAGE]; /* as the GPU sees them */
};

static void put_bytes(struct two_pages *two, unsigned int at, const void *from, unsigned int n)
{
	memcpy(two->bytes + at, from, n);
	for (unsigned int i = 0; i < 2; i++)
		memcpy(two->mem[i], two->bytes + i * PAGE, PAGE);
}

/* Random bytes, also in the memory behind each of the pages. The second page's memory is lower. */
static void make_two_pages(struct world *w, struct two_pages *two)
{
	uint64_t va = (rig_alloc(w->r, 5 * PAGE) + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	uint8_t *mem = rig_host(w->r, va);

	for (unsigned int i = 0; i < 4 * PAGE; i++)
		mem[i] = (uint8_t)chance(256);
	two->mem[0] = mem + 2 * PAGE;
	two->mem[1] = mem;
	memcpy(two->bytes, two->mem[0], PAGE);
	memcpy(two->bytes + PAGE, two->mem[1], PAGE);
	rig_map(w->r, TWO_PAGES, va + 2 * PAGE);
	rig_map(w->r, TWO_PAGES + PAGE, va);
}

/* Each warp first reads texels of the first page, so that it has the page's translation. */
static void texels_of_buffers_go_on_at_the_next_page(void **state)
{
	static const unsigned int counts[] = { 1, 2, 4 };
	static struct two_pages two;
	struct world *w = *state;

	make_two_pages(w, &two);
	for (unsigned int t = 0; t < N; t++)
		w->p[t][0] = (float)(t % LANES);
	for (unsigned int n = 0; n < 9; n++) {
		unsigned int bits = 8u << n / 3, count = counts[n % 3], bytes = bits / 8 * count;

		for (unsigned int before = 0; before < bytes; before++) {
			unsigned int at = PAGE - before - 8 * bytes;

			put_buffer(w, bits, count, UINT, false, TWO_PAGES + at);
			read_texture(w, "fetch");
			for (unsigned int t = 0; t < N; t++) {
				uint32_t got[4];

				memcpy(got, w->out[t], 16);
				for (unsigned int c = 0; c < count; c++) {
					uint32_t want = 0;

					memcpy(&want,
					       two.bytes + at + t % LANES * bytes + c * bits / 8,
					       bits / 8);
					assert_int_equal(got[c], want);
				}
			}
		}
	}
}

/* The end of row 2's texel 16 is on the next page. */
static void texels_of_pitch_planes_go_on_at_the_next_page(void **state)
{
	const unsigned int pitch = 1021, at = PAGE - 2 - 16 * 4 - 2 * pitch;
	static struct two_pages two;
	struct world *w = *state;
	struct look k = { .wrap = 2, .mip = 1, .max = 15, .unnormalized = true };
	uint32_t *h = (uint32_t *)rig_host(w->r, w->headers) + HEADER * 8;

	make_two_pages(w, &two);
	put_buffer(w, 8, 4, UNORM, false, TWO_PAGES + at);
	h[2] = (h[2] & ~(15u << 14)) | 7 << 14;
	h[3] = pitch;
	h[4] = 64;
	h[5] = 4 | 1 << 16;
	put_sampler(w, &k);
	for (unsigned int t = 0; t < N; t++) {
		w->p[t][0] = (float)(t % 64) + 0.5f;
		w->p[t][1] = (float)(t / 64) + 0.5f;
	}
	read_texture(w, "plane");
	for (unsigned int t = 0; t < N; t++) {
		for (unsigned int c = 0; c < 4; c++)
			assert_true(fabs(w->out[t][c] * 255 -
					 two.bytes[at + t / 64 * pitch + t % 64 * 4 + c]) < 1e-3);
	}
}

/* Puts header or sampler HEADER at @at of the pages. Returns the address of the pool. */
static uint64_t pool_of_two_pages(struct world *w, struct two_pages *two, uint64_t pool,
				  unsigned int at)
{
	put_bytes(two, at, (uint8_t *)rig_host(w->r, pool) + HEADER * 32, 32);
	return TWO_PAGES + at - HEADER * 32;
}

/* The page ends inside of each word in turn. */
static void headers_and_samplers_go_on_at_the_next_page(void **state)
{
	static struct two_pages two;
	struct world *w = *state;
	struct look k = look(&plane16, 3, true);

	make_two_pages(w, &two);
	put_header(w, &plane16, &k, make_image(w, &plane16));
	put_sampler(w, &k);
	choose_places(w, &plane16, &k);
	for (unsigned int before = 1; before < 32; before++) {
		w->r->grid.header_pool = pool_of_two_pages(w, &two, w->headers, PAGE - before);
		w->r->grid.sampler_pool = w->samplers;
		read_texture(w, "plane");
		check_all(w, "plane", &plane16, &k, NULL);
		w->r->grid.header_pool = w->headers;
		w->r->grid.sampler_pool = pool_of_two_pages(w, &two, w->samplers, PAGE - before);
		read_texture(w, "plane");
		check_all(w, "plane", &plane16, &k, NULL);
	}
}

static void texels_that_end_on_an_unmapped_page_fault(void **state)
{
	static struct two_pages two;
	struct world *w = *state;

	make_two_pages(w, &two);
	rig_unmap(w->r, TWO_PAGES + PAGE);
	for (unsigned int t = 0; t < N; t++)
		w->p[t][0] = (float)(t % 9);
	put_buffer(w, 32, 1, UINT, false, TWO_PAGES + PAGE - 9 * 4);
	assert_int_equal(launch(w, "fetch", 64), SM_DONE);
	put_buffer(w, 32, 1, UINT, false, TWO_PAGES + PAGE - 9 * 4 + 1);
	assert_int_equal(launch(w, "fetch", 64), SM_FAULT);
}

#endif
