// SPDX-License-Identifier: GPL-2.0-only
/* Block-linear addresses, compared with the oracle's and with some that were worked out by hand. */
#include <linux/bitfield.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "card.h"
#include "ce/ce.h"
#include "oracle.h"

static uint32_t block(unsigned int gob_height, unsigned int height, unsigned int depth)
{
	return (uint32_t)(FIELD_PREP(A0B5_BLOCK_HEIGHT, height) |
			  FIELD_PREP(A0B5_BLOCK_DEPTH, depth) |
			  FIELD_PREP(A0B5_BLOCK_GOB_HEIGHT, gob_height == 8));
}

static void compare(struct ce_surface *s, const struct oracle_surface *o, unsigned int elem)
{
	uint64_t line, x, run, lines = o->height - o->y, width = (o->width - o->x) * elem;

	for (line = 0; line < lines; line++) {
		unsigned int band = ce_surface_band(s, line), r;

		assert_true(band >= 1 && band <= o->gob_height);
		for (x = 0; x < width; x++) {
			uint64_t va = ce_surface_va(s, line, x, &run);

			assert_int_equal(va, oracle_address(o, x / elem, line, elem,
							    (unsigned int)(x % elem)));
			/*
			 * the copy loops rely on this: a run is contiguous, and the lines of a band
			 * are 64 bytes apart
			 */
			if (x + run - 1 < width)
				assert_int_equal(
					oracle_address(o, (x + run - 1) / elem, line, elem,
						       (unsigned int)((x + run - 1) % elem)),
					va + run - 1);
			for (r = 1; x % 64 == 0 && r < band && line + r < lines; r++)
				assert_int_equal(oracle_address(o, x / elem, line + r, elem,
								(unsigned int)(x % elem)),
						 (va + 64 * r) & 0xffffffffff);
		}
	}
}

static void test_all_block_shapes(void **state)
{
	static const unsigned int elems[] = { 1, 3, 4, 12, 16 };
	unsigned int gob, h, d, e;

	for (gob = 4; gob <= 8; gob += 4) {
		for (h = 0; h < 6; h++) {
			for (d = 0; d < 6; d++) {
				struct oracle_surface o = { .address = 0xfffffe0000,
							    .gob_height = gob,
							    .block_height = h,
							    .block_depth = d,
							    .width = 40,
							    .height = 70,
							    .depth = 70,
							    .layer = (h * 13 + d * 17) % 70,
							    .x = h,
							    .y = d };
				uint32_t words[6] = {
					block(gob, h, d),	    40, 70, 70, (uint32_t)o.layer,
					(uint32_t)(o.x | o.y << 16)
				};

				for (e = 0; e < sizeof(elems) / sizeof(elems[0]); e++) {
					struct ce_surface s = { .addr = o.address };

					assert_int_equal(ce_surface_blocks(&s, words, elems[e],
									   (40 - o.x) * elems[e],
									   70 - o.y),
							 CE_NO_ERR);
					compare(&s, &o, elems[e]);
				}
			}
		}
	}
}

/* 512-byte GOBs, blocks of 2 x 2 GOBs; worked out on paper from envytools' g80-surface.rst. */
static void test_known_addresses(void **state)
{
	static const struct {
		uint32_t layer, x, y;
		uint64_t want;
	} at[] = {
		{ 0, 0, 0, 0x0000 },	{ 0, 1, 0, 0x0001 },  { 0, 63, 7, 0x01ff },
		{ 0, 0, 8, 0x0200 },	{ 1, 0, 0, 0x0400 },  { 1, 5, 9, 0x0645 },
		{ 0, 64, 0, 0x0800 },	{ 0, 0, 16, 0x1800 }, { 2, 0, 0, 0x3000 },
		{ 3, 130, 17, 0x5c42 },
	};
	unsigned int i;
	uint64_t run;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		uint32_t words[6] = { block(8, 1, 1),	      180, 32, 4, at[i].layer,
				      at[i].x | at[i].y << 16 };
		struct ce_surface s = { .addr = 0x10000 };

		assert_int_equal(ce_surface_blocks(&s, words, 1, 1, 1), CE_NO_ERR);
		assert_int_equal(ce_surface_va(&s, 0, 0, &run), 0x10000 + at[i].want);
		assert_int_equal(run, 64 - at[i].x % 64);
	}
}

/*
 * The largest numbers that the methods can hold must give defined arithmetic and an address of 40
 * bits.
 */
static void test_extremes(void **state)
{
	uint32_t words[6] = { block(8, 5, 5), UINT32_MAX,     UINT32_MAX,
			      UINT32_MAX,     UINT32_MAX - 1, UINT32_MAX };
	struct ce_surface s = { .addr = CE_VA_MASK };
	uint64_t run;

	assert_int_equal(ce_surface_blocks(&s, words, 16, 1, 1), CE_NO_ERR);
	assert_true(ce_surface_va(&s, UINT32_MAX - 70000u, (UINT32_MAX - 70000ull) * 16, &run) <=
		    CE_VA_MASK);
	assert_int_equal(ce_surface_blocks(&s, words, 16, 16ull * UINT32_MAX, 1),
			 CE_MEM2MEM_RECT_OUT_OF_BOUNDS);
	assert_int_equal(ce_surface_blocks(&s, words, 16, 16, UINT32_MAX),
			 CE_MEM2MEM_RECT_OUT_OF_BOUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_block_shapes),
		cmocka_unit_test(test_known_addresses),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
