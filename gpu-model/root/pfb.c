// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frame buffer's host side and the memory controllers. The registers in the middle of PFFB's
 * range belong to the MMU.
 */
#include <gk110/pfb.h>
#include <gk110/ptop.h>

#include "root.h"

#define MIB_SHIFT 20

static void pffb_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	if (reg != PFFB_LTC_COUNT)
		reg_merge(g, reg, val, be);
}

static void pbfb_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	if (reg % (PBFB_BASE(1) - PBFB_BASE(0)) != PBFB_AMOUNT)
		reg_merge(g, reg, val, be);
}

static void pfb_reset(struct gk110 *g)
{
	uint32_t parts = board_fbps(&g->cfg.board), mib = g->cfg.vram_size / parts >> MIB_SHIFT;
	unsigned int i;

	reg_set(g, PFFB_LTC_COUNT, parts);
	for (i = 0; i < PBFB_NR; i++)
		reg_set(g, PBFB_BASE(i) + PBFB_AMOUNT,
			i < GK110_DESIGN_FBP && !(g->cfg.board.fbp_off & BIT(i)) ? mib : 0);
}

static const struct mmio_range pfb_ranges[] = {
	{ PFFB_BASE, PFFB_MMU - PFFB_BASE, "PFFB", NULL, pffb_write },
	{ PFFB_MMU_END, PFFB_BASE + PFFB_SIZE - PFFB_MMU_END, "PFFB_HIGH", NULL, NULL },
	{ PBFB_BCAST, PBFB_BASE(0) - PBFB_BCAST, "PBFB_BCAST", NULL, NULL },
	{ PBFB_BASE(0), PBFB_END - PBFB_BASE(0), "PBFB", NULL, pbfb_write },
};

const struct unit_ops pfb_unit = {
	.name = "PFB",
	.ranges = pfb_ranges,
	.nr_ranges = ARRAY_SIZE(pfb_ranges),
	.reset = pfb_reset,
};
