/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LTC (rnndb: PMFB), the L2 cache. It has parts with slices, a cache of compression bits (CBC) and
 * a table of values for zero-bandwidth clears (ZBC).
 * LTC_ACTIVE_LTCS (at LTC_BCAST) and LTC_CBC_CFG, which the host writes at bring-up, are in
 * grinit.h.
 * Sources: rnndb memory/gf100_pmfb.xml, nouveau nvkm/subdev/ltc/{gf100,gk104}.c.
 */
#ifndef KVGPU_GK110_LTC_H
#define KVGPU_GK110_LTC_H

#include <linux/bits.h>

#define LTC_BASE			0x140000
#define LTC_SIZE			0x040000
#define LTC_PART_STRIDE			0x2000
/* offset of slice 0's registers in those of a part */
#define LTC_SLICES			0x1000
#define LTC_SLICE_STRIDE		0x0400
#define LTC_SLICE(c, s)			(LTC_BASE + LTC_PART_STRIDE * (c) + LTC_SLICES + \
					 LTC_SLICE_STRIDE * (s))
/* A write at LTC_BCAST goes to all parts, a write at LTC_BCAST_SLICE to all slices of all parts. */
#define LTC_BCAST			0x17e000
#define LTC_BCAST_SLICE			0x17e800
/* Offsets in the registers of a slice. */
#define   LTC_SLICE_INTR		0x020
#define     LTC_SLICE_INTR_STATUS	GENMASK(15, 0)	/* write 1 to clear */
#define     LTC_SLICE_INTR_EN		GENMASK(31, 16)
#define   LTC_CBC_CTRL			0x0c8
#define     LTC_CBC_CTRL_FLUSH		BIT(0)
#define     LTC_CBC_CTRL_CLEAR		BIT(2)
#define   LTC_CBC_CLEAR_START		0x0cc
#define   LTC_CBC_CLEAR_END		0x0d0
#define   LTC_CBC_TAG_BITS		GENMASK(16, 0)
#define   LTC_CBC_BASE			0x0d4
#define   LTC_CBC_PART_COUNT		0x0d8
#define   LTC_CONFIG			0x0dc		/* read-only */
#define     LTC_CONFIG_TAGS_PER_LINE	GENMASK(15, 0)
#define     LTC_CONFIG_LINES		GENMASK(23, 16)
#define     LTC_CONFIG_LINE_SIZE	GENMASK(27, 24)	/* 512 << value: bytes */
#define     LTC_CONFIG_SLICES		GENMASK(31, 28)
#define   LTC_CACHE_FLUSH		0x110
/* LTC_BCAST_SLICE + LTC_GRCTX_0, _1 are GR_PATCH_LTC_0 and GR_PATCH_LTC_1 (gk110/gr_patch.h). */
#define   LTC_GRCTX_0			0x11c
#define   LTC_GRCTX_1			0x120
#define   LTC_ZBC_INDEX			0x244
#define     LTC_ZBC_INDEX_ENTRY		GENMASK(3, 0)
#define   LTC_ZBC_COLOR(i)		(0x248 + 4 * (i))
#define   LTC_ZBC_DEPTH			0x258
#define   LTC_ZBC_NR			16

#endif
