// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patch lists. The header of a graphics context points to a list of (register, value) pairs. FECS
 * writes each value to its register, whichever register of the chip it is. FECS must therefore
 * never get a list that the guest can write. A filtered list has only registers that nouveau
 * patches for GK110 (nvkm gr/ctxgf100.c, ctxgk104.c, ctxgf117.c: bundle, pagepool, attrib_cb,
 * attrib, patch_ltc). The only values of the guest in it are addresses and sizes of buffers. The
 * host computes all values that depend on which units the chip has.
 */
#include <linux/bitfield.h>
#include <linux/kernel.h>

#include <gk110/gr.h>
#include <gk110/gr_patch.h>

#include "internal.h"

/*
 * The registers that a list may have. If @mask is not 0, the register keeps the guest's value, and
 * a pair whose value has a bit outside of @mask is left out. If @mask is 0, the register always
 * gets @fixed.
 */
static const struct {
	u32 reg, mask, fixed;
} list[] = {
	{ GR_PATCH_SCC_BUNDLE_BASE, GR_PATCH_VA_SHIFT_8, 0 },
	{ GR_PATCH_SCC_BUNDLE_SIZE, GR_PATCH_BUNDLE_SIZE_VALID | GR_PATCH_BUNDLE_SIZE, 0 },
	{ GR_PATCH_SCC_PAGEPOOL_BASE, GR_PATCH_VA_SHIFT_8, 0 },
	{ GR_PATCH_SCC_PAGEPOOL, 0, GR_PATCH_PAGEPOOL_VALID },
	{ GR_PATCH_GPC_BUNDLE_BASE, GR_PATCH_VA_SHIFT_8, 0 },
	{ GR_PATCH_GPC_BUNDLE_SIZE, GR_PATCH_BUNDLE_SIZE_VALID | GR_PATCH_BUNDLE_SIZE, 0 },
	{ GR_PATCH_GPC_ATTRIB_BASE, GR_PATCH_GPC_ATTRIB_VALID | GR_PATCH_VA_SHIFT_12, 0 },
	{ GR_PATCH_TPC_PAGEPOOL_BASE, GR_PATCH_VA_SHIFT_8, 0 },
	{ GR_PATCH_TPC_PAGEPOOL, 0, 0 },
	{ GR_PATCH_TPC_ATTRIB_BASE, GR_PATCH_TPC_ATTRIB_VALID | GR_PATCH_VA_SHIFT_12, 0 },
	{ GR_PATCH_PD_PAGEPOOL, 0, GR_PATCH_PAGEPOOL_VALID },
	{ GR_PATCH_PD_BUNDLE, 0, GR_PATCH_PD_BUNDLE_GK110 },
	{ GR_PATCH_DS_ATTRIB, 0, GR_PATCH_DS_ATTRIB_GK110 },
	{ GR_PATCH_PD_ATTRIB, 0, GR_PATCH_PD_ATTRIB_GK110 },
};

static u32 count_bits(u32 mask)
{
	u32 n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* Tells whether @reg is a register of a PPC of this chip. If so, sets *@val to its value. */
static bool ppc_value(const struct kvgpu_topo *topo, u32 reg, u32 *val)
{
	u32 beta_at = 0, alpha_at = 0, g, p, tpcs;

	for (g = 0; g < topo->gpcs && g < KVGPU_MAX_GPC; g++)
		alpha_at += GR_PATCH_GK110_BETA_MAX * topo->tpcs[g];
	for (g = 0; g < topo->gpcs && g < KVGPU_MAX_GPC; g++) {
		for (p = 0; p < GR_NR_PPC && p < KVGPU_MAX_PPC; p++) {
			tpcs = count_bits(topo->ppc_mask[g][p]);
			if (!tpcs)
				continue;
			if (reg == GR_PATCH_PPC_BETA(g, p)) {
				*val = (u32)(FIELD_PREP(GR_PATCH_PPC_BETA_TIMESLICE, 1) |
					     FIELD_PREP(GR_PATCH_PPC_BETA_NR,
							GR_PATCH_GK110_BETA * tpcs) |
					     FIELD_PREP(GR_PATCH_PPC_OFFSET, beta_at));
				return true;
			}
			if (reg == GR_PATCH_PPC_ALPHA(g, p)) {
				*val = (u32)(FIELD_PREP(GR_PATCH_PPC_ALPHA_NR,
							GR_PATCH_GK110_ALPHA * tpcs) |
					     FIELD_PREP(GR_PATCH_PPC_OFFSET, alpha_at));
				return true;
			}
			beta_at += GR_PATCH_GK110_BETA_MAX * tpcs;
			alpha_at += GR_PATCH_GK110_ALPHA_MAX * tpcs;
		}
	}
	return false;
}

/*
 * Tells whether the pair of @reg and *@val may be in the list. Sets *@val to the value that FECS is
 * to write.
 */
static bool pair_allowed(const struct kvgpu_topo *topo, u32 reg, u32 *val)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		if (list[i].reg != reg)
			continue;
		if (!list[i].mask)
			*val = list[i].fixed;
		return !list[i].mask || !(*val & ~list[i].mask);
	}
	if (reg == GR_PATCH_LTC_0)
		*val = topo->r17e91c;
	else if (reg == GR_PATCH_LTC_1)
		*val = topo->r17e920;
	else
		return ppc_value(topo, reg, val);
	return true;
}

int kvgpu_shadow_patch_filter(const struct kvgpu_topo *topo, const struct kvgpu_patch *guest,
			      u32 nr, struct kvgpu_patch *out, u32 max, u32 *rejected)
{
	u32 n = 0, i, val;

	*rejected = 0;
	for (i = 0; i < nr; i++) {
		val = guest[i].val;
		if (n < max && pair_allowed(topo, guest[i].reg, &val))
			out[n++] = (struct kvgpu_patch){ guest[i].reg, val };
		else
			(*rejected)++;
	}
	return (int)n;
}
