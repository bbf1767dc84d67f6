// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPCs (clusters of GR, the graphics engine), with their units TPCs and PPCs: counts of units and
 * error status. Set-up writes stay in the register file, because the host has set up GR for all
 * vGPUs.
 */
#include <gk110/falcon.h>
#include <gk110/gr.h>

#include "gr.h"

#define TPCS ((GR_GPC_STRIDE - GPC_TPC) / GPC_TPC_STRIDE)

static u32 gpc_tpcs_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	if (a->inst >= vtrap_gpc_count(t))
		return 0;
	return FIELD_PREP(GPCCS_UNITS_TPC, t->cfg.topo->tpcs[a->inst]);
}

static u32 ppc_mask_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	if (a->inst >= vtrap_gpc_count(t))
		return 0;
	return t->cfg.topo->ppc_mask[a->inst][a->idx];
}

/*
 * If the write clears the bit of a TPC, the TPC's own trap register becomes 0, too, because nouveau
 * does not write TPC_TRAP (gf100_gr_trap_tpc()).
 */
static void gpccs_trap_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 acked = vtrap_reg_get(t, a->reg) & a->bits, i;

	vtrap_reg_set(t, a->reg, vtrap_reg_get(t, a->reg) & ~a->bits);
	for (i = 0; i < TPCS; i++)
		if (acked & (u32)GPCCS_TRAP_TPC(i))
			vtrap_reg_set(t, GR_GPC(a->inst, GPC_TPC + i * GPC_TPC_STRIDE + TPC_TRAP),
				      0);
}

static const struct kvgpu_reg_line lines[] = {
	GR_ESR_LINE_AT(GR_GPC_BASE, GPC_PROP_ESR),
	GR_ESR_LINE_AT(GR_GPC_BASE, GPC_ESETUP_ESR),
	GR_ESR_LINE_AT(GR_GPC_BASE, GPC_ZCULL_ESR),
	KVGPU_LINE_AT(GR_GPC_BASE, GPC_PPC_TPC_MASK(0), CONST, CONST, .count = KVGPU_MAX_PPC,
		      .read = ppc_mask_read, .src = SRC_NV, .why = "TPCs of each PPC of the card"),
	GR_ESR_LINE_AT(GR_GPC_BASE, GPC_CCACHE_ESR),
	KVGPU_LINE_AT(GR_GPC_BASE, GPC_GPCCS + GPCCS_UNITS, CONST, CONST, .read = gpc_tpcs_read,
		      .src = SRC_NV, .why = "number of TPCs of this GPC of the card"),
	KVGPU_LINE_AT(GR_GPC_BASE, GPC_GPCCS + GPCCS_TRAP, FILE, EMULATE, .write = gpccs_trap_write,
		      .src = SRC_NV, .why = "units of the GPC that trapped"),
	GR_ESR_LINE_AT(GR_GPC_BASE, GPC_TPC + TPC_POLY_ESR, .count = TPCS,
		       .stride = GPC_TPC_STRIDE),
	GR_ESR_LINE_AT(GR_GPC_BASE, GPC_TPC + TPC_TEX_ESR, .count = TPCS, .stride = GPC_TPC_STRIDE),
	GR_ESR_LINE_AT(GR_GPC_BASE, GPC_TPC + TPC_MPC_ESR, .count = TPCS, .stride = GPC_TPC_STRIDE),
	GR_ESR_LINE_AT(GR_GPC_BASE, GPC_TPC + TPC_L1C_ESR, .count = TPCS, .stride = GPC_TPC_STRIDE),
	KVGPU_LINE_AT(GR_GPC_BASE, GPC_TPC + TPC_TRAP, FILE, FILE, .count = TPCS,
		      .stride = GPC_TPC_STRIDE, .src = SRC_NV,
		      .why = "parts of a TPC that trapped"),
	KVGPU_LINE_AT(GR_GPC_BASE, GPC_TPC + TPC_MP_WARP_ESR, FILE, FILE, .count = TPCS,
		      .stride = GPC_TPC_STRIDE, .src = SRC_NV,
		      .why = "reason why a warp was stopped"),
	KVGPU_LINE_AT(GR_GPC_BASE, GPC_TPC + TPC_MP_GLOBAL_ESR, FILE, FILE, .count = TPCS,
		      .stride = GPC_TPC_STRIDE, .w1c = ALL_BITS, .src = SRC_NV,
		      .why = "reason why a multiprocessor was stopped"),
};

const struct kvgpu_reg_unit kvgpu_unit_gpc = {
	.name = "GPC",
	.base = GR_GPC_BASE,
	.size = GR_GPC_STRIDE,
	.copies = KVGPU_MAX_GPC,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE,
		   "engine set-up and the GPC's falcon; the host has set up GR for all vGPUs",
		   SRC_NV),
};

const struct kvgpu_reg_unit kvgpu_unit_gpc_bcast = {
	.name = "GPC_BCAST",
	.base = GR_GPC_BCAST,
	.size = GR_GPCCS_BCAST - GR_GPC_BCAST,
	KVGPU_REST(FILE, FILE,
		   "engine set-up; GPC_MMU_DEBUG_WR and GPC_MMU_DEBUG_RD are raw addresses",
		   SRC_NV),
};

const struct kvgpu_reg_unit kvgpu_unit_gpc_bcast_tpc = {
	.name = "GPC_BCAST_HIGH",
	.base = GR_GPCCS_BCAST + FALCON_WINDOW,
	.size = GR_GPC_BCAST + GR_GPC_STRIDE - GR_GPCCS_BCAST - FALCON_WINDOW,
	KVGPU_REST(FILE, FILE, "engine set-up; the host has set up GR for all vGPUs", SRC_NV),
};
