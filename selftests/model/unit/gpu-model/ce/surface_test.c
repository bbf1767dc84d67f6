// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block-linear addresses that were worked out by hand, and extreme ones. launch_test compares
 * copies in surfaces of all shapes with an oracle.
 */
#include <linux/bitfield.h>
#include <selftests/unit_test.h>

#include "card.h"
#include "ce/ce.h"

static uint32_t block(unsigned int gob_height, unsigned int height, unsigned int depth)
{
	return (uint32_t)(FIELD_PREP(A0B5_BLOCK_HEIGHT, height) |
			  FIELD_PREP(A0B5_BLOCK_DEPTH, depth) |
			  FIELD_PREP(A0B5_BLOCK_GOB_HEIGHT, gob_height == 8));
}

/* 512-byte GOBs, blocks of 2 x 2 GOBs; worked out on paper from envytools' g80-surface.rst. */
TEST(test_known_addresses)
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
	/* the second surface ends behind the last address */
	static const uint64_t begins[] = { 0x10000, 0xfffffff000 };
	unsigned int i;
	uint64_t run;

	for (i = 0; i < 2 * (sizeof(at) / sizeof(at[0])); i++) {
		uint32_t words[6] = {
			block(8, 1, 1), 180, 32, 4, at[i / 2].layer, at[i / 2].x | at[i / 2].y << 16
		};
		struct ce_surface s = { .addr = begins[i % 2] };

		assert_int_equal(ce_surface_blocks(&s, words, 1, 1, 1), CE_NO_ERR);
		assert_int_equal(ce_surface_va(&s, 0, 0, &run),
				 (begins[i % 2] + at[i / 2].want) & 0xffffffffff);
		assert_int_equal(run, 64 - at[i / 2].x % 64);
	}
}

/*
 * The largest numbers that the methods can hold must give defined arithmetic and an address of 40
 * bits.
 */
TEST(test_extremes)
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

TEST_MAIN(NULL, NULL)
