// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which of the graphics engine's units exist: the board says how many TPCs each GPC has. A GPC has
 * two PPCs. The first PPC owns two TPCs of a GPC with three, else one (gk110/facts.md).
 */
#include "gr.h"

#include <linux/bitfield.h>

unsigned int gpc_tpcs(const struct gk110 *g, unsigned int gpc)
{
	return gpc < GR_NR_GPC ? g->cfg.board.tpcs[gpc] : 0;
}

uint32_t ppc_tpc_mask(const struct gk110 *g, unsigned int gpc, unsigned int ppc)
{
	unsigned int all = (1u << gpc_tpcs(g, gpc)) - 1, first = all == 7 ? 3 : 1;

	if (ppc >= GR_NR_PPC)
		return 0;
	return ppc == 0 ? first & all : all & ~first;
}

unsigned int gpc_ppcs(const struct gk110 *g, unsigned int gpc)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < GR_NR_PPC; i++)
		n += ppc_tpc_mask(g, gpc, i) != 0;
	return n;
}

/*
 * SM ids count the first TPC of each GPC, then the second of each, and so on (nouveau
 * gf100_gr_oneinit_sm_id).
 */
void sm_place(const struct gk110 *g, unsigned int sm, unsigned int *gpc, unsigned int *tpc)
{
	for (unsigned int t = 0; t < GR_MAX_TPC; t++) {
		for (unsigned int i = 0; i < GR_NR_GPC; i++) {
			if (t >= gpc_tpcs(g, i))
				continue;
			if (sm-- == 0) {
				*gpc = i;
				*tpc = t;
				return;
			}
		}
	}
	*gpc = *tpc = 0;
}

void topology_reset(struct gk110 *g)
{
	reg_set(g, GR_FECS + FECS_UNITS,
		FIELD_PREP(FECS_UNITS_GPC, GR_NR_GPC) |
			FIELD_PREP(FECS_UNITS_ROP, board_fbps(&g->cfg.board)));
	for (unsigned int i = 0; i < GR_NR_GPC; i++) {
		reg_set(g, GR_GPC(i, GPC_GPCCS + GPCCS_UNITS),
			FIELD_PREP(GPCCS_UNITS_TPC, gpc_tpcs(g, i)));
		reg_set(g, GR_GPC(i, GPC_GPCCS + GPCCS_MYINDEX), i);
		for (unsigned int p = 0; p < GR_NR_PPC; p++)
			reg_set(g, GR_GPC(i, GPC_PPC_TPC_MASK(p)), ppc_tpc_mask(g, i, p));
	}
}
