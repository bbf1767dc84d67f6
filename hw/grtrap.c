// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exceptions of the graphics engine (GR). This file enables them at bring-up and after a reset of
 * GR, and acknowledges them. Before the acknowledge, intr.c reads the registers that tell the
 * cause. ESR: error status register of a unit.
 * Sources: nouveau gf100.c gf100_gr_init(), gf100_gr_intr() and its trap functions.
 *
 * The caller of hw_gr_enable_traps() holds gr_lock. hw_gr_ack() takes it, in the interrupt thread.
 */
#include "hw/gr.h"

#define ESR_ARM (GR_ESR_ENABLE | GR_ESR_CLEAR)

/*
 * A unit with an ESR, and what arms and acknowledges it. .bit: the unit's bit in the register that
 * tells which units have an exception. 0: no source tells the bit.
 */
struct trap_unit {
	u32 bit, esr, value;
};

/* Units of the hub that are armed, in this order; bits of GR_TRAP. */
static const struct trap_unit hub_units[] = {
	{ GR_TRAP_DISPATCH, GR_FE_ESR, ESR_ARM }, { GR_TRAP_M2MF, GR_M2MF_ESR, ESR_ARM },
	{ GR_TRAP_CCACHE, GR_SCC_ESR, ESR_ARM },  { 0, GR_PD_ESR, ESR_ARM },
	{ GR_TRAP_MACRO, GR_MME_ESR, ESR_ARM },	  { GR_TRAP_SKED, GR_SKED_ESR, GR_ESR_CLEAR },
	{ GR_TRAP_DS, GR_DS_ESR, ESR_ARM },
};

/* Likewise of a GPC, but for its PPCs and TPCs; bits of GPCCS_TRAP. No source tells PPCs' bits. */
static const struct trap_unit gpc_units[] = {
	{ GPCCS_TRAP_PROP, GPC_PROP_ESR, ESR_ARM },
	{ GPCCS_TRAP_ZCULL, GPC_ZCULL_ESR, ESR_ARM },
	{ GPCCS_TRAP_CCACHE, GPC_CCACHE_ESR, ESR_ARM },
	{ GPCCS_TRAP_ESETUP, GPC_ESETUP_ESR, ESR_ARM },
};

/* Arms the GPC's PPCs. The same write acknowledges them. */
static void arm_ppcs(struct kvgpu_hw *hw, unsigned int g)
{
	unsigned int p;

	for (p = 0; p < GR_NR_PPC; p++)
		if (hw->topo.ppc_mask[g][p])
			hw_wr(hw, GR_PPC(g, p, PPC_ESR), ESR_ARM);
}

static void arm_tpc(struct kvgpu_hw *hw, unsigned int g, unsigned int t)
{
	hw_wr(hw, GR_TPC(g, t, TPC_TRAP), ~0u);
	hw_wr(hw, GR_TPC(g, t, TPC_TRAP_EN), ~0u);
	hw_wr(hw, GR_TPC(g, t, TPC_TEX_ESR), ESR_ARM);
	hw_wr(hw, GR_TPC(g, t, TPC_POLY_ESR), ESR_ARM);
	hw_wr(hw, GR_TPC(g, t, TPC_MP_WARP_ESR_EN), MP_WARP_ESR_EN_INIT);
	hw_wr(hw, GR_TPC(g, t, TPC_MP_GLOBAL_ESR_EN), MP_GLOBAL_ESR_EN_INIT);
}

static void arm_l1(struct kvgpu_hw *hw)
{
	unsigned int g, t, i;

	hw_mask(hw, GR_TPCS(TPC_L1C_UNKC0), 0, TPC_L1C_UNKC0_INIT);
	for (g = 0; g < hw->topo.gpcs; g++)
		for (t = 0; t < hw->topo.tpcs[g]; t++)
			hw_wr(hw, GR_TPC(g, t, TPC_L1C_ESR), ESR_ARM);
	for (i = 0; i < TPC_MP_UNKB4_PULSE_NR; i++)
		hw_mask(hw, GR_TPCS(TPC_MP_UNKB4), 0, TPC_MP_UNKB4_PULSE(i));
	for (i = 0; i < TPC_MP_UNKB4_PULSE_NR; i++)
		hw_mask(hw, GR_TPCS(TPC_MP_UNKB4), TPC_MP_UNKB4_PULSE(i), 0);
}

static void arm_gpc(struct kvgpu_hw *hw, unsigned int g)
{
	unsigned int i, t;

	for (i = 0; i < ARRAY_SIZE(gpc_units); i++)
		hw_wr(hw, GR_GPC(g, gpc_units[i].esr), gpc_units[i].value);
	for (t = 0; t < hw->topo.tpcs[g]; t++)
		arm_tpc(hw, g, t);
	hw_wr(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), ~0u);
	hw_wr(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP_EN), ~0u);
}

static void arm_hub(struct kvgpu_hw *hw)
{
	unsigned int i;

	hw_wr(hw, GR_INTR, ~0u);
	hw_wr(hw, GR_INTR_EN, ~0u);
	hw_wr(hw, GR_INTR_EN_NRHOST, GR_INTR_EN_NRHOST_NOTIFY);
	hw_wr(hw, GR_FECS + FECS_INTR_UP_EN, FECS_INTR_UP_EN_INIT);
	for (i = 0; i < ARRAY_SIZE(hub_units); i++)
		hw_wr(hw, hub_units[i].esr, hub_units[i].value);
	hw_wr(hw, GR_DS_ESR_EN, GR_DS_ESR_EN_ALL);
}

void hw_gr_enable_traps(struct kvgpu_hw *hw)
{
	unsigned int g, r;

	arm_hub(hw);
	arm_l1(hw);
	for (g = 0; g < hw->topo.gpcs; g++)
		arm_ppcs(hw, g);
	for (g = 0; g < hw->topo.gpcs; g++)
		arm_gpc(hw, g);
	for (r = 0; r < hw->topo.rops; r++) {
		hw_wr(hw, GR_ROP(r, ROP_CROP_ESR), GR_ESR_CLEAR);
		hw_wr(hw, GR_ROP(r, ROP_ZROP_ESR), GR_ESR_CLEAR);
		hw_wr(hw, GR_ROP(r, ROP_UNK204), ~0u);
		hw_wr(hw, GR_ROP(r, ROP_UNK208), ~0u);
	}
	hw_wr(hw, GR_TRAP, ~0u);
	hw_wr(hw, GR_TRAP_EN, ~0u);
	hw_wr(hw, GR_TRAP_GPC_MASK, ~0u);
	hw_wr(hw, GR_TRAP_GPC_EN, ~0u);
	hw_wr(hw, GR_TRAP_ROP_MASK, ~0u);
	hw_wr(hw, GR_TRAP_ROP_EN, ~0u);
}

/* ------------------------------------------------------------------ acknowledge exceptions */

/*
 * Acknowledges those of the @nr units whose bits @trap has. @base: of the units' registers. A bit
 * of @trap that is neither a unit's nor in @others may be any unit's. In that case acknowledges all
 * of the units, and returns true: an exception that is not acknowledged would come again for ever,
 * and the next tenants of GR would be blamed for it.
 */
static bool ack_units(struct kvgpu_hw *hw, const struct trap_unit *unit, unsigned int nr, u32 base,
		      u32 trap, u32 others)
{
	u32 known = others;
	unsigned int i;
	bool all;

	for (i = 0; i < nr; i++)
		known |= unit[i].bit;
	all = trap & ~known;
	for (i = 0; i < nr; i++)
		if (all || (trap & unit[i].bit))
			hw_wr(hw, base + unit[i].esr, unit[i].value);
	return all;
}

static void ack_tpc(struct kvgpu_hw *hw, unsigned int g, unsigned int t)
{
	static const struct trap_unit units[] = {
		{ TPC_TRAP_TEX, TPC_TEX_ESR, ESR_ARM },
		{ TPC_TRAP_POLY, TPC_POLY_ESR, ESR_ARM },
		{ TPC_TRAP_L1C, TPC_L1C_ESR, ESR_ARM },
		{ TPC_TRAP_MPC, TPC_MPC_ESR, ESR_ARM },
	};
	u32 trap = hw_rd(hw, GR_TPC(g, t, TPC_TRAP));

	/* the bits of all armed units are known, so other bits stand for none of them */
	ack_units(hw, units, ARRAY_SIZE(units), GR_TPC(g, t, 0), trap, ~0u);
	if (trap & TPC_TRAP_MP) {
		hw_wr(hw, GR_TPC(g, t, TPC_MP_WARP_ESR), 0);
		hw_wr(hw, GR_TPC(g, t, TPC_MP_GLOBAL_ESR),
		      hw_rd(hw, GR_TPC(g, t, TPC_MP_GLOBAL_ESR)));
	}
	hw_wr(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), GPCCS_TRAP_TPC(t));
}

static void ack_gpc(struct kvgpu_hw *hw, unsigned int g)
{
	u32 trap = hw_rd(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP)), tpcs = 0;
	unsigned int t;
	bool all;

	for (t = 0; t < hw->topo.tpcs[g]; t++)
		tpcs |= GPCCS_TRAP_TPC(t);
	all = ack_units(hw, gpc_units, ARRAY_SIZE(gpc_units), GR_GPC(g, 0), trap, tpcs);
	if (all)
		arm_ppcs(hw, g); /* acknowledges them */
	for (t = 0; t < hw->topo.tpcs[g]; t++)
		if (all || (trap & GPCCS_TRAP_TPC(t)))
			ack_tpc(hw, g, t);
	if (all)
		hw_wr(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), trap & ~tpcs);
	hw_wr(hw, GR_TRAP_GPC_MASK, BIT(g));
}

static void ack_rops(struct kvgpu_hw *hw)
{
	unsigned int r;

	for (r = 0; r < hw->topo.rops; r++) {
		hw_wr(hw, GR_ROP(r, ROP_ZROP_ESR), ESR_ARM);
		hw_wr(hw, GR_ROP(r, ROP_CROP_ESR), ESR_ARM);
	}
}

/*
 * Acknowledges the units before GR_TRAP: a bit of GR_TRAP is set again as long as its unit is not
 * acknowledged.
 */
static void ack_traps(struct kvgpu_hw *hw)
{
	u32 trap = hw_rd(hw, GR_TRAP), gpcs;
	unsigned int g;

	ack_units(hw, hub_units, ARRAY_SIZE(hub_units), 0, trap,
		  GR_TRAP_UNK6 | GR_TRAP_GPC | GR_TRAP_ROP);
	if (trap & GR_TRAP_UNK6) /* a unit that is not armed */
		hw_wr(hw, GR_UNK6_ESR, ESR_ARM);
	if (trap & GR_TRAP_GPC) {
		gpcs = hw_rd(hw, GR_TRAP_GPC_MASK);
		for (g = 0; g < hw->topo.gpcs; g++)
			if (gpcs & BIT(g))
				ack_gpc(hw, g);
	}
	if (trap & GR_TRAP_ROP)
		ack_rops(hw);
	hw_wr(hw, GR_TRAP, trap);
}

/*
 * FECS is the microcontroller that switches contexts. A tenant can cause errors of FECS' program by
 * firmware methods (methods that this program executes), so the log is rate-limited.
 */
static void ack_fecs(struct kvgpu_hw *hw)
{
	u32 stat = hw_rd(hw, GR_FECS + FECS_INTR_UP);

	dev_warn_ratelimited(&hw->pdev->dev, "FECS interrupt 0x%08x, code %u\n", stat,
			     hw_rd(hw, GR_FECS + FECS_SCRATCH(FECS_OS_ERROR)));
	hw_wr(hw, GR_FECS + FECS_INTR_UP_CLR, stat);
}

void hw_gr_ack(struct kvgpu_hw *hw)
{
	u32 intr;

	rt_mutex_lock(&hw->p->gr_lock);
	intr = hw_rd(hw, GR_INTR);
	if (intr & GR_INTR_TRAP)
		ack_traps(hw);
	if (intr & GR_INTR_FECS)
		ack_fecs(hw);
	hw_wr(hw, GR_INTR, intr);
	hw_wr(hw, GR_CTRL, GR_CTRL_RESTART | GR_CTRL_FIFO);
	rt_mutex_unlock(&hw->p->gr_lock);
}
