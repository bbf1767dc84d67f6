// SPDX-License-Identifier: GPL-2.0-only
/*
 * Units of a Tesla K20m: 13 SMX in 5 GPCs. Which GPC lost which TPC differs from card to card; the
 * model takes 3, 3, 3, 2, 2 (docs/hardware.md). A GPC has two PPCs. The first PPC owns two TPCs of
 * a GPC with three, or one of a GPC with two.
 */
#include "gr.h"

#include <linux/bitfield.h>

/* sm/exec.h has the sum, NR_SM */
static const uint8_t tpcs[GR_NR_GPC] = { 3, 3, 3, 2, 2 };

unsigned int gpc_tpcs(unsigned int gpc)
{
	return gpc < GR_NR_GPC ? tpcs[gpc] : 0;
}

uint32_t ppc_tpc_mask(unsigned int gpc, unsigned int ppc)
{
	if (gpc >= GR_NR_GPC || ppc >= GR_NR_PPC)
		return 0;
	if (tpcs[gpc] == 3)
		return ppc == 0 ? 0x3 : 0x4;
	return ppc == 0 ? 0x1 : 0x2;
}

unsigned int gpc_ppcs(unsigned int gpc)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < GR_NR_PPC; i++)
		n += ppc_tpc_mask(gpc, i) != 0;
	return n;
}

/*
 * SM ids count the first TPC of each GPC, then the second of each, and so on (nouveau
 * gf100_gr_oneinit_sm_id).
 */
void sm_place(unsigned int sm, unsigned int *gpc, unsigned int *tpc)
{
	for (unsigned int t = 0; t < GR_MAX_TPC; t++) {
		for (unsigned int i = 0; i < GR_NR_GPC; i++) {
			if (t >= tpcs[i])
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
		FIELD_PREP(FECS_UNITS_GPC, GR_NR_GPC) | FIELD_PREP(FECS_UNITS_ROP, GR_NR_ROP));
	for (unsigned int i = 0; i < GR_NR_GPC; i++) {
		reg_set(g, GR_GPC(i, GPC_GPCCS + GPCCS_UNITS),
			FIELD_PREP(GPCCS_UNITS_TPC, tpcs[i]));
		reg_set(g, GR_GPC(i, GPC_GPCCS + GPCCS_MYINDEX), i);
		for (unsigned int p = 0; p < GR_NR_PPC; p++)
			reg_set(g, GR_GPC(i, GPC_PPC_TPC_MASK(p)), ppc_tpc_mask(i, p));
	}
}
