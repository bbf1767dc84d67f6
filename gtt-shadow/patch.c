// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patch lists. The header of a graphics context points to a list of (register, value) pairs. When
 * FECS, the microcontroller that switches graphics contexts, first loads the context, it writes
 * each value to its register, any register of the chip. So FECS must not get a list that the guest
 * can write. A filtered list has only registers that nouveau patches for GK110 (nvkm
 * gr/ctxgf100.c, ctxgk104.c, ctxgf117.c: bundle, pagepool, attrib_cb, attrib, patch_ltc). Of the
 * guest's values a filtered list keeps only the address of the attribute buffer.
 *
 * The host owns the bundle buffer and the page pool, and chooses their addresses. Drivers map these
 * two PRIV (nouveau gr/ctxgf100.c, nvgpu gr_gk20a.c), so the units of GR, the graphics engine,
 * access them with privilege. At an address of the guest's choice they could write a context image,
 * whose pages are PRIV, too, or read bundles that the guest has made. Drivers do not map the
 * attribute buffer PRIV: an access to an image in its place is a fault.
 */
#include <linux/bitfield.h>
#include <linux/kernel.h>

#include <gk110/gr.h>
#include <gk110/gr_patch.h>
#include <gk110/grinit.h>

#include "internal.h"

#define BUNDLE_SIZE (GR_PATCH_BUNDLE_SIZE_VALID | GR_BUNDLE_SIZE >> 8)

/* Where the value of a register comes from, and whether a filtered list has the register. */
enum source {
	/* the guest's list; the pair is refused if the value has a bit outside of .bits */
	GUEST,
	FIXED, /* .bits, if the guest's list has the register */
	/* these are in each list; pairs of the guest for them are ignored */
	OWN_FIXED, /* .bits */
	OWN_PAGEPOOL, /* address of the host's page pool */
	OWN_BUNDLE /* address of the host's bundle buffer */
};

/*
 * Registers that a patch list for FECS may have, beside those whose values depend on the chip: of
 * LTCs (L2 cache), of PPCs (units of a GPC), and PD_BUNDLE.
 */
static const struct {
	u32 reg;
	enum source source;
	u32 bits;
} list[] = {
	{ GR_PATCH_SCC_BUNDLE_BASE, OWN_BUNDLE, 0 },
	{ GR_PATCH_SCC_BUNDLE_SIZE, OWN_FIXED, BUNDLE_SIZE },
	{ GR_PATCH_GPC_BUNDLE_BASE, OWN_BUNDLE, 0 },
	{ GR_PATCH_GPC_BUNDLE_SIZE, OWN_FIXED, BUNDLE_SIZE },
	{ GR_PATCH_SCC_PAGEPOOL_BASE, OWN_PAGEPOOL, 0 },
	{ GR_PATCH_TPC_PAGEPOOL_BASE, OWN_PAGEPOOL, 0 },
	{ GR_PATCH_SCC_PAGEPOOL, FIXED, GR_PATCH_PAGEPOOL_VALID },
	{ GR_PATCH_TPC_PAGEPOOL, FIXED, 0 },
	{ GR_PATCH_PD_PAGEPOOL, FIXED, GR_PATCH_PAGEPOOL_VALID },
	{ GR_PATCH_GPC_ATTRIB_BASE, GUEST, GR_PATCH_GPC_ATTRIB_VALID | GR_PATCH_VA_SHIFT_12 },
	{ GR_PATCH_TPC_ATTRIB_BASE, GUEST, GR_PATCH_TPC_ATTRIB_VALID | GR_PATCH_VA_SHIFT_12 },
	{ GR_PATCH_DS_ATTRIB, FIXED, GR_PATCH_DS_ATTRIB_GK110 },
	{ GR_PATCH_PD_ATTRIB, FIXED, GR_PATCH_PD_ATTRIB_GK110 },
};

static u32 count_bits(u32 mask)
{
	u32 n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/*
 * Tells whether @reg is GR_PATCH_PPC_BETA or GR_PATCH_PPC_ALPHA of a PPC with TPCs. If so, sets
 * *@val to the register's value on this card.
 */
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
 * Tells whether the guest's pair may be in the list. If so, sets *@val to the value for FECS; at
 * first *@val is the guest's value. Call it only if reg_is_own() is false for @reg.
 */
static bool pair_allowed(const struct kvgpu_topo *topo, u32 reg, u32 *val)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		if (list[i].reg != reg)
			continue;
		if (list[i].source == GUEST)
			return !(*val & ~list[i].bits);
		*val = list[i].bits;
		return true;
	}
	if (reg == GR_PATCH_PD_BUNDLE)
		*val = GR_PATCH_PD_BUNDLE_OF(FIELD_GET(PMC_BOOT_0_CHIPSET, topo->boot0));
	else if (reg == GR_PATCH_LTC_0)
		*val = topo->r17e91c;
	else if (reg == GR_PATCH_LTC_1)
		*val = topo->r17e920;
	else
		return ppc_value(topo, reg, val);
	return true;
}

static bool reg_is_own(u32 reg)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		if (list[i].reg == reg)
			return list[i].source >= OWN_FIXED;
	return false;
}

static u32 own_pairs_put(const struct kvgpu_patch_host *h, struct kvgpu_patch *out, u32 max)
{
	u32 n = 0, i, val;

	for (i = 0; i < ARRAY_SIZE(list) && n < max; i++) {
		if (list[i].source < OWN_FIXED)
			continue;
		val = list[i].bits;
		if (list[i].source == OWN_PAGEPOOL)
			val = (u32)(h->pagepool >> 8);
		else if (list[i].source == OWN_BUNDLE)
			val = (u32)(h->bundle >> 8);
		out[n++] = (struct kvgpu_patch){ list[i].reg, val };
	}
	return n;
}

int kvgpu_shadow_patch_filter(const struct kvgpu_patch_host *h, const struct kvgpu_patch *guest,
			      u32 nr, struct kvgpu_patch *out, u32 max, u32 *rejected)
{
	u32 n = own_pairs_put(h, out, max), i, val;

	*rejected = 0;
	for (i = 0; i < nr; i++) {
		if (reg_is_own(guest[i].reg))
			continue;
		val = guest[i].val;
		if (n < max && pair_allowed(h->topo, guest[i].reg, &val))
			out[n++] = (struct kvgpu_patch){ guest[i].reg, val };
		else
			(*rejected)++;
	}
	return (int)n;
}
