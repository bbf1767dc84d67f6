// SPDX-License-Identifier: GPL-2.0-only
/*
 * The L2 cache: counts its partitions and slices, clears its table of colours and depths for
 * zero-bandwidth clears (ZBC), and sets up its compression cache (CBC). No page uses the CBC,
 * because the module maps pages without compression. So the CBC gets no tag memory of its own: the
 * address of the tags is set to 0, the start of video memory, which is not used (pool.c).
 * Sources: nouveau nvkm/subdev/ltc/{base,gf100,gk104}.c.
 *
 * Runs at bring-up.
 */
#include "gk110/grinit.h"
#include "gk110/ltc.h"
#include "hw/internal.h"

int hw_ltc_init(struct kvgpu_hw *hw)
{
	struct kvgpu_topo *t = &hw->topo;
	u32 fbps = hw_read(hw, PTOP_FBP_COUNT), off = hw_read(hw, PTOP_DISABLE_FBPA);
	u32 big = hw_rd(hw, FB_MMU_CTRL) & FB_MMU_CTRL_BIG_64K ? 0 : LTC_CBC_CFG_BIG_128K;
	unsigned int i, k;

	t->slices = FIELD_GET(LTC_CONFIG_SLICES, hw_read(hw, LTC_BCAST_SLICE + LTC_CONFIG));
	t->ltcs = 0;
	for (i = 0; i < fbps && i < 32; i++)
		t->ltcs += !(off & BIT(i));
	if (!t->ltcs || !t->slices) {
		dev_err(&hw->pdev->dev, "L2 cache: %u partitions of %u slices found\n", t->ltcs,
			t->slices);
		return -ENODEV;
	}
	for (i = 1; i < LTC_ZBC_NR; i++) {
		hw_mask(hw, LTC_BCAST_SLICE + LTC_ZBC_INDEX, LTC_ZBC_INDEX_ENTRY, i);
		for (k = 0; k < 4; k++)
			hw_wr(hw, LTC_BCAST_SLICE + LTC_ZBC_COLOR(k), 0);
		hw_wr(hw, LTC_BCAST_SLICE + LTC_ZBC_DEPTH, 0);
	}
	hw_wr(hw, LTC_BCAST_SLICE + LTC_CBC_PART_COUNT, t->ltcs);
	hw_wr(hw, LTC_ACTIVE_LTCS, t->ltcs);
	hw_wr(hw, LTC_BCAST_SLICE + LTC_CBC_BASE, 0);
	hw_mask(hw, LTC_BCAST_SLICE + LTC_CBC_CFG, LTC_CBC_CFG_BIG_128K, big);
	return 0;
}
