// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock generators: registers that hold a consistent set of dividers, so that software computes
 * the clocks of an idle K20m (324 MHz core, 324 MHz memory). The clocks have no effect on the
 * model's speed.
 */
#include <gk110/therm.h>

#include "root.h"

#define VCO_N	  60 /* 27 MHz * 60 = 1620 MHz root clock */
#define MEM_REF_N 12 /* 27 MHz * 12 = 324 MHz */
/* the core domains count twice the core clock */
#define DIV_648_MHZ 3
#define DIV_405_MHZ 6

static bool is_pll_ctrl(uint32_t reg)
{
	return (reg >= PCLOCK_PLL(0) && reg < PCLOCK_PLL(8) && !(reg % PCLOCK_PLL_STRIDE)) ||
	       reg == PCLOCK_MEM_PLL || reg == PCLOCK_MEM_REFPLL || reg == PCLOCK_VCO(0) ||
	       reg == PCLOCK_VCO(1);
}

static uint32_t pclock_read(struct gk110 *g, uint32_t reg)
{
	uint32_t v = reg_get(g, reg);

	if (is_pll_ctrl(reg) && (v & PLL_CTRL_ENABLE))
		v |= PLL_CTRL_LOCK;
	return v;
}

static void pclock_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	reg_merge(g, reg, val, is_pll_ctrl(reg) ? be & ~PLL_CTRL_LOCK : be);
}

static void pll_set(struct gk110 *g, uint32_t pll, unsigned int n)
{
	reg_set(g, pll + PLL_CTRL, PLL_CTRL_ENABLE | PLL_CTRL_SYNC | PLL_CTRL_NO_LOCK_CHECK);
	reg_set(g, pll + PLL_COEF,
		FIELD_PREP(PLL_COEF_P, 1) | FIELD_PREP(PLL_COEF_N, n) | FIELD_PREP(PLL_COEF_M, 1));
	reg_set(g, pll + PLL_FRAC, FIELD_PREP(PLL_FRAC_N, PLL_FRAC_NONE));
}

/* Domains 0-7: core, ROP, hub; from 8 on: slower units such as PMU and video. */
static void pclock_reset(struct gk110 *g)
{
	unsigned int i;

	pll_set(g, PCLOCK_VCO(0), VCO_N);
	pll_set(g, PCLOCK_VCO(1), VCO_N);
	pll_set(g, PCLOCK_MEM_REFPLL, MEM_REF_N);
	reg_set(g, PCLOCK_MEM_SRC, PCLOCK_MEM_SRC_REFPLL);
	reg_set(g, PCLOCK_SRC_SEL, 0);
	for (i = 0; i < PCLOCK_NR_DOMAIN; i++) {
		reg_set(g, PCLOCK_DIV_SRC(i), PCLOCK_DIV_SRC_VCO);
		reg_set(g, PCLOCK_DIV(i),
			PCLOCK_DIV_ENABLE |
				FIELD_PREP(PCLOCK_DIV_HALVES, i < 8 ? DIV_648_MHZ : DIV_405_MHZ));
		reg_set(g, PCLOCK_POST_DIV(i), 0);
	}
}

static const struct mmio_range pclock_ranges[] = {
	{ PCLOCK_VCO_BASE, PCLOCK_VCO_SIZE, "PCLOCK_VCO", pclock_read, pclock_write },
	{ PCLOCK_BASE, PCLOCK_SIZE, "PCLOCK", pclock_read, pclock_write },
};

const struct unit_ops pclock_unit = {
	.name = "PCLOCK",
	.ranges = pclock_ranges,
	.nr_ranges = ARRAY_SIZE(pclock_ranges),
	.reset = pclock_reset,
};
