// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values of the selector and count fields: which ones are accepted, and which of those run as a
 * plain copy or a fill.
 */
#include <linux/bitfield.h>
#include <selftests/unit_test.h>

#include "ce/ce.h"

static void check(uint32_t components)
{
	uint32_t state[CE_STATE_WORDS] = { [CE_COMPONENTS] = components };
	unsigned int nr_src = (components >> 20 & 3) + 1, nr_dst = (components >> 24 & 3) + 1, i,
		     sel;
	enum gk110_ce_launcherr want = CE_NO_ERR;
	bool copy = nr_src == nr_dst, fill = true, reads = false;
	struct ce_remap r = { 0 };

	for (i = 0; i < nr_dst && !want; i++) {
		sel = components >> (4 * i) & 7;
		want = sel == 7			? CE_INVALID_VALUE :
		       sel < 4 && sel >= nr_src ? CE_BAD_SRC_PIXEL_COMP_REF :
						  CE_NO_ERR;
		copy &= sel == i;
		fill &= sel == 4 || sel == 5;
		reads |= sel < 4;
	}
	assert_int_equal(ce_remap_decode(&r, state), want);
	if (want)
		return;
	assert_int_equal(r.size, (components >> 16 & 3) + 1);
	assert_int_equal(ce_remap_is_copy(&r), copy);
	assert_int_equal(ce_remap_is_fill(&r), fill);
	assert_int_equal(ce_remap_reads_src(&r), reads);
}

TEST(test_every_remap)
{
	uint32_t sel, counts;

	for (sel = 0; sel < 0x1000; sel++)
		for (counts = 0; counts < 0x40; counts++)
			check((sel & 7) | (sel >> 3 & 7) << 4 | (sel >> 6 & 7) << 8 |
			      (sel >> 9 & 7) << 12 | (counts & 3) << 16 | (counts >> 2 & 3) << 20 |
			      (counts >> 4 & 3) << 24);
}

TEST_MAIN(NULL, NULL)
