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

#define ESR_ARM		(GR_ESR_ENABLE | GR_ESR_CLEAR)

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
	unsigned int t;

	hw_wr(hw, GR_GPC(g, GPC_PROP_ESR), ESR_ARM);
	hw_wr(hw, GR_GPC(g, GPC_ZCULL_ESR), ESR_ARM);
	hw_wr(hw, GR_GPC(g, GPC_CCACHE_ESR), ESR_ARM);
	hw_wr(hw, GR_GPC(g, GPC_ESETUP_ESR), ESR_ARM);
	for (t = 0; t < hw->topo.tpcs[g]; t++)
		arm_tpc(hw, g, t);
	hw_wr(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), ~0u);
	hw_wr(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP_EN), ~0u);
}

static void arm_hub(struct kvgpu_hw *hw)
{
	hw_wr(hw, GR_INTR, ~0u);
	hw_wr(hw, GR_INTR_EN, ~0u);
	hw_wr(hw, GR_INTR_EN_NRHOST, GR_INTR_EN_NRHOST_NOTIFY);
	hw_wr(hw, GR_FECS + FECS_INTR_UP_EN, FECS_INTR_UP_EN_INIT);
	hw_wr(hw, GR_FE_ESR, ESR_ARM);
	hw_wr(hw, GR_M2MF_ESR, ESR_ARM);
	hw_wr(hw, GR_SCC_ESR, ESR_ARM);
	hw_wr(hw, GR_PD_ESR, ESR_ARM);
	hw_wr(hw, GR_MME_ESR, ESR_ARM);
	hw_wr(hw, GR_SKED_ESR, GR_ESR_CLEAR);
	hw_wr(hw, GR_DS_ESR, ESR_ARM);
	hw_wr(hw, GR_DS_ESR_EN, GR_DS_ESR_EN_ALL);
}

void hw_gr_enable_traps(struct kvgpu_hw *hw)
{
	unsigned int g, p, r;

	arm_hub(hw);
	arm_l1(hw);
	for (g = 0; g < hw->topo.gpcs; g++)
		for (p = 0; p < GR_NR_PPC; p++)
			if (hw->topo.ppc_mask[g][p])
				hw_wr(hw, GR_PPC(g, p, PPC_ESR), ESR_ARM);
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

static void ack_tpc(struct kvgpu_hw *hw, unsigned int g, unsigned int t)
{
	static const struct { u32 bit; u16 esr; } units[] = {
		{ TPC_TRAP_TEX, TPC_TEX_ESR }, { TPC_TRAP_POLY, TPC_POLY_ESR }, { TPC_TRAP_L1C,
			TPC_L1C_ESR },
		{ TPC_TRAP_MPC, TPC_MPC_ESR },
	};
	u32 trap = hw_rd(hw, GR_TPC(g, t, TPC_TRAP));
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (trap & units[i].bit)
			hw_wr(hw, GR_TPC(g, t, units[i].esr), ESR_ARM);
	if (trap & TPC_TRAP_MP) {
		hw_wr(hw, GR_TPC(g, t, TPC_MP_WARP_ESR), 0);
		hw_wr(hw, GR_TPC(g, t, TPC_MP_GLOBAL_ESR),
		      hw_rd(hw, GR_TPC(g, t, TPC_MP_GLOBAL_ESR)));
	}
	hw_wr(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), GPCCS_TRAP_TPC(t));
}

static void ack_gpc(struct kvgpu_hw *hw, unsigned int g)
{
	static const struct { u32 bit; u16 esr; } units[] = {
		{ GPCCS_TRAP_PROP, GPC_PROP_ESR }, { GPCCS_TRAP_ZCULL, GPC_ZCULL_ESR },
		{ GPCCS_TRAP_CCACHE, GPC_CCACHE_ESR }, { GPCCS_TRAP_ESETUP, GPC_ESETUP_ESR },
	};
	u32 trap = hw_rd(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP));
	unsigned int i, t;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (trap & units[i].bit)
			hw_wr(hw, GR_GPC(g, units[i].esr), ESR_ARM);
	for (t = 0; t < hw->topo.tpcs[g]; t++)
		if (trap & GPCCS_TRAP_TPC(t))
			ack_tpc(hw, g, t);
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
	static const struct { u32 bit, esr, value; } units[] = {
		{ GR_TRAP_DISPATCH, GR_FE_ESR, ESR_ARM }, { GR_TRAP_M2MF, GR_M2MF_ESR, ESR_ARM },
		{ GR_TRAP_CCACHE, GR_SCC_ESR, ESR_ARM }, { GR_TRAP_DS, GR_DS_ESR, ESR_ARM },
		{ GR_TRAP_UNK6, GR_UNK6_ESR, ESR_ARM }, { GR_TRAP_MACRO, GR_MME_ESR, ESR_ARM },
		{ GR_TRAP_SKED, GR_SKED_ESR, GR_ESR_CLEAR },
	};
	u32 trap = hw_rd(hw, GR_TRAP), gpcs;
	unsigned int i, g;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (trap & units[i].bit)
			hw_wr(hw, units[i].esr, units[i].value);
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

	kvgpu_hw_lock(&hw->p->gr_lock);
	intr = hw_rd(hw, GR_INTR);
	if (intr & GR_INTR_TRAP)
		ack_traps(hw);
	if (intr & GR_INTR_FECS)
		ack_fecs(hw);
	hw_wr(hw, GR_INTR, intr);
	hw_wr(hw, GR_CTRL, GR_CTRL_RESTART | GR_CTRL_FIFO);
	kvgpu_hw_unlock(&hw->p->gr_lock);
}
