/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A graphics context has a patch list: pairs of a register and a value. FECS, the microcontroller
 * of GR (the graphics engine), writes each value to its register when FECS loads the context for
 * the first time. Here are the registers that a driver puts into the list on GK110: mostly
 * addresses and sizes of GR's buffers (bundle buffer, page pool, attribute buffer). The attribute
 * buffer has an alpha and a beta part for each PPC, a unit that serves TPCs of a GPC. The effect of
 * the registers is not documented.
 *
 * Source: nouveau nvkm/engine/gr: ctxgf100.c (bundle, pagepool, attrib_cb),
 * ctxgk104.c (bundle, pagepool, patch_ltc), ctxgf117.c (attrib), ctxgk110.c and ctxgk110b.c (sizes
 * and limits). Names of units are from rnndb, where rnndb has a name.
 */
#ifndef KVGPU_GK110_GR_PATCH_H
#define KVGPU_GK110_GR_PATCH_H

#include <linux/bits.h>

#include <gk110/gr.h>
#include <gk110/pmc.h>

/*
 * Fields with a virtual address: >> 8 for the bundle buffer and the page pool, >> 12 for the
 * attribute buffer.
 */
#define GR_PATCH_VA_SHIFT_8		GENMASK(31, 0)
#define GR_PATCH_VA_SHIFT_12		GENMASK(27, 0)

#define GR_PATCH_SCC_BUNDLE_BASE	0x408004
#define GR_PATCH_SCC_BUNDLE_SIZE	0x408008
#define   GR_PATCH_BUNDLE_SIZE		GENMASK(10, 0)	/* in units of 256 bytes */
#define   GR_PATCH_BUNDLE_SIZE_VALID	BIT(31)
#define GR_PATCH_SCC_PAGEPOOL_BASE	0x40800c
#define GR_PATCH_SCC_PAGEPOOL		0x408010
#define   GR_PATCH_PAGEPOOL_VALID	BIT(31)
#define GR_PATCH_GPC_BUNDLE_BASE	0x418808
#define GR_PATCH_GPC_BUNDLE_SIZE	0x41880c
#define GR_PATCH_GPC_ATTRIB_BASE	0x418810
#define   GR_PATCH_GPC_ATTRIB_VALID	BIT(31)
#define GR_PATCH_TPC_PAGEPOOL_BASE	0x419004
#define GR_PATCH_TPC_PAGEPOOL		0x419008
#define GR_PATCH_TPC_ATTRIB_BASE	0x419848
#define   GR_PATCH_TPC_ATTRIB_VALID	BIT(28)
#define GR_PATCH_PD_ATTRIB		0x4064c4
#define   GR_PATCH_PD_ATTRIB_BATCHES	GENMASK(15, 0)
#define   GR_PATCH_PD_ATTRIB_ALPHA	GENMASK(31, 16)	/* GR_PATCH_GK110_ALPHA / 4 */
#define   GR_PATCH_PD_ATTRIB_GK110	(GR_PATCH_GK110_ALPHA / 4 << 16 | 0xffff)
#define GR_PATCH_PD_BUNDLE		0x4064c8
#define   GR_PATCH_PD_BUNDLE_TOKENS	GENMASK(15, 0)
#define   GR_PATCH_PD_BUNDLE_STATES	GENMASK(31, 16)
/* STATES: nouveau's bundle_min_gpm_fifo_depth; TOKENS: bundle_token_limit of GK110, GK110B */
#define   GR_PATCH_PD_BUNDLE_OF(chipset) \
	(0x180 << 16 | ((chipset) == GK110B_CHIPSET ? 0x600 : 0x7c0))
#define GR_PATCH_PD_PAGEPOOL		0x4064cc
#define GR_PATCH_DS_ATTRIB		0x405830
#define   GR_PATCH_DS_ATTRIB_ALPHA	GENMASK(15, 0)
#define   GR_PATCH_DS_ATTRIB_BETA	GENMASK(31, 16)
#define   GR_PATCH_DS_ATTRIB_GK110	(GR_PATCH_GK110_BETA << 16 | GR_PATCH_GK110_ALPHA)
/* the card's values of these two are in r17e91c and r17e920 of struct kvgpu_topo */
#define GR_PATCH_LTC_0			0x17e91c
#define GR_PATCH_LTC_1			0x17e920

#define GR_PATCH_PPC(g, p, r)		GR_GPC(g, GPC_PPC + (p) * GPC_PPC_STRIDE + (r))
#define GR_PATCH_PPC_BETA(g, p)		GR_PATCH_PPC(g, p, 0xc0)
#define   GR_PATCH_PPC_OFFSET		GENMASK(15, 0)
#define   GR_PATCH_PPC_BETA_NR		GENMASK(27, 16)
#define   GR_PATCH_PPC_BETA_TIMESLICE	GENMASK(31, 28)
#define GR_PATCH_PPC_ALPHA(g, p)	GR_PATCH_PPC(g, p, 0xe4)
#define   GR_PATCH_PPC_ALPHA_NR		GENMASK(31, 16)

/*
 * Sizes of a PPC's beta part and alpha part, for each of its TPCs, in units of GR_ATTRIB_UNIT
 * bytes. Registers get BETA and ALPHA; in the buffer the parts take BETA_MAX and ALPHA_MAX.
 */
#define GR_PATCH_GK110_BETA		0x218
#define GR_PATCH_GK110_BETA_MAX		0x324
#define GR_PATCH_GK110_ALPHA		0x648
#define GR_PATCH_GK110_ALPHA_MAX	0x7ff

#endif
