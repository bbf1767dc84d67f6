// SPDX-License-Identifier: GPL-2.0-only
/*
 * Temperature and clocks of the card. The readout of a fuse writes to registers and restores them.
 * Sources: nouveau nvkm/subdev/therm/g84.c and fuse/gf100.c (the value of a sensor without
 * calibration has no meaning), clk/gk104.c (the source of each domain), rnndb pm/gf100_pclock.xml.
 *
 * Takes no lock. hw_sensor_calibrated() runs at bring-up, the others in any thread.
 */
#include "gk110/pfuse.h"
#include "gk110/therm.h"
#include "hw/internal.h"

#define DOMAIN_CORE 0

bool hw_sensor_calibrated(struct kvgpu_hw *hw)
{
	u32 control = hw_rd(hw, PTOP_FUSE_CONTROL), pfuse = hw_rd(hw, PFUSE_CONTROL), v;

	hw_wr(hw, PTOP_FUSE_CONTROL, control | PTOP_FUSE_READOUT);
	hw_wr(hw, PFUSE_CONTROL, pfuse | PFUSE_CONTROL_READ);
	v = hw_rd(hw, PFUSE_WORD(PFUSE_TEMP_CALIBRATED));
	hw_wr(hw, PFUSE_CONTROL, pfuse);
	hw_wr(hw, PTOP_FUSE_CONTROL, control);
	return v == 1;
}

int kvgpu_hw_temperature(struct kvgpu_hw *hw, int *millidegrees)
{
	u32 v = hw->p->calibrated ? hw_rd(hw, PTHERM_TEMP) : ~0u;

	if (v > 255) /* not calibrated, no answer, or not plausible as degrees Celsius */
		return -ENODATA;
	*millidegrees = v * 1000;
	return 0;
}

/* ------------------------------------ clocks of the card in kHz; 0: the clock is off or unknown */

u32 hw_crystal_khz(const struct kvgpu_hw *hw)
{
	switch (hw->topo.strap & (PSTRAPS_CRYSTAL_HIGH | PSTRAPS_CRYSTAL_LOW)) {
	case 0:
		return 13500;
	case PSTRAPS_CRYSTAL_LOW:
		return 14318;
	case PSTRAPS_CRYSTAL_HIGH:
		return 27000;
	default:
		return 25000;
	}
}

static u32 pll_multiply(u32 khz, u32 n, u32 m, u32 p, u16 frac)
{
	u64 out = (u64)khz * n + (((u64)(u16)(frac + 4096) * khz) >> 13);

	m *= p ?: 1;
	return m ? div_u64(out, m) : 0;
}

static bool pll_coefs_read(struct kvgpu_hw *hw, u32 pll, u32 *n, u32 *m, u32 *p)
{
	u32 coef = hw_rd(hw, pll + PLL_COEF);

	*n = FIELD_GET(PLL_COEF_N, coef);
	*m = FIELD_GET(PLL_COEF_M, coef);
	*p = FIELD_GET(PLL_COEF_P, coef);
	return hw_rd(hw, pll + PLL_CTRL) & PLL_CTRL_ENABLE;
}

static u32 vco_khz(struct kvgpu_hw *hw, u32 src)
{
	u32 n, m, p;

	if (!pll_coefs_read(hw, PCLOCK_VCO(!!(src & PCLOCK_DIV_SRC_OTHER_VCO)), &n, &m, &p))
		return 0;
	return pll_multiply(hw_crystal_khz(hw), n, m, 1, PLL_FRAC_NONE);
}

static u32 divider_khz(struct kvgpu_hw *hw, u32 src_reg, u32 div_reg)
{
	u32 src = hw_rd(hw, src_reg), div = hw_rd(hw, div_reg), khz;

	switch (FIELD_GET(PCLOCK_DIV_SRC_SEL, src)) {
	case PCLOCK_DIV_SRC_REF:
		return (src & PCLOCK_DIV_SRC_108MHZ) == PCLOCK_DIV_SRC_108MHZ ? 108000 :
										hw_crystal_khz(hw);
	case PCLOCK_DIV_SRC_100MHZ:
		return 100000;
	case PCLOCK_DIV_SRC_VCO:
		khz = vco_khz(hw, src);
		return div & PCLOCK_DIV_ENABLE ? khz * 2 / (FIELD_GET(PCLOCK_DIV_HALVES, div) + 2) :
						 khz;
	default:
		return 0;
	}
}

/* The core clock is half of the core domain's frequency (nouveau gk104_domains: .mdiv is 2000). */
static u32 core_clock(struct kvgpu_hw *hw)
{
	bool pll = hw_rd(hw, PCLOCK_SRC_SEL) & BIT(DOMAIN_CORE);
	u32 post = hw_rd(hw, PCLOCK_POST_DIV(DOMAIN_CORE)), khz, n, m, p;

	if (!pll) {
		khz = divider_khz(hw, PCLOCK_DIV_SRC(DOMAIN_CORE), PCLOCK_DIV(DOMAIN_CORE));
	} else {
		if (!pll_coefs_read(hw, PCLOCK_PLL(DOMAIN_CORE), &n, &m, &p))
			return 0;
		khz = pll_multiply(divider_khz(hw, PCLOCK_PLL_SRC(DOMAIN_CORE),
					       PCLOCK_PLL_DIV(DOMAIN_CORE)),
				   n, m, p, PLL_FRAC_NONE);
	}
	if (!(post & PCLOCK_POST_DIV_ENABLE))
		return khz / 2;
	return khz / ((pll ? FIELD_GET(PCLOCK_POST_DIV_PLL, post) :
			     FIELD_GET(PCLOCK_POST_DIV_DIV, post)) +
		      2);
}

static u32 memory_clock(struct kvgpu_hw *hw)
{
	u32 src = FIELD_GET(PCLOCK_MEM_SRC_SEL, hw_rd(hw, PCLOCK_MEM_SRC)), khz, n, m, p;

	if (src != PCLOCK_MEM_SRC_REFPLL && src != PCLOCK_MEM_SRC_PLL)
		return 0;
	if (!pll_coefs_read(hw, PCLOCK_MEM_REFPLL, &n, &m, &p))
		return 0;
	khz = pll_multiply(divider_khz(hw, PCLOCK_MEM_DIV_SRC, PCLOCK_MEM_DIV), n, m, p,
			   FIELD_GET(PLL_FRAC_N, hw_rd(hw, PCLOCK_MEM_REFPLL + PLL_FRAC)));
	if (src == PCLOCK_MEM_SRC_REFPLL)
		return khz;
	if (!pll_coefs_read(hw, PCLOCK_MEM_PLL, &n, &m, &p))
		return 0;
	p = hw_rd(hw, PCLOCK_MEM_PLL + PLL_COEF) & PLL_COEF_MEM_P2 ? 2 : 1;
	return pll_multiply(khz, n, m, p, PLL_FRAC_NONE);
}

int kvgpu_hw_clock(struct kvgpu_hw *hw, enum kvgpu_hw_clock which, u32 *khz)
{
	*khz = which == KVGPU_HW_CLOCK_CORE ? core_clock(hw) : memory_clock(hw);
	return *khz ? 0 : -ENODATA;
}
