/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The units of the frame buffer, that is of video memory: PFFB, its host side, without the MMU's
 * registers; and PBFB, the memory controllers.
 *
 * Sources: rnndb memory/gf100_pffb.xml, memory/gf100_pbfb.xml, nouveau nvkm/subdev/fb/ramgf100.c,
 * engine/gr/gf100.c.
 */
#ifndef KVGPU_GK110_PFB_H
#define KVGPU_GK110_PFB_H

#include <linux/bits.h>

#define PFFB_BASE			0x100000
#define PFFB_SIZE			0x001000
/* 0x100c10-0x100cff, inside of PFFB, are registers of the MMU (gk110/mmu.h). */
#define PFFB_MMU			0x100c10
#define PFFB_MMU_END			0x100d00
/* block of 0x100 bytes with the MMU's registers */
#define PFFB_MMU_PAGE			0x100c00
#define PFFB_LTC_COUNT			0x100800	/* number of active L2 parts */

/*
 * A write to 0x10f000-0x10ffff goes to all memory controllers (rnndb PBFB_BROADCAST).
 * 0x10e000-0x10efff is not documented.
 */
#define PBFB_BCAST			0x10e000
#define PBFB_TIMING			0x10f290	/* of all controllers (nouveau) */
#define PBFB_BASE(i)			(0x110000 + 0x1000 * (i))
#define   PBFB_NR			16
#define PBFB_END			0x120000
#define   PBFB_CFG1			0x204
/* Offset from PBFB_BASE(i), read-only: size in MiB of the memory at controller i. */
#define   PBFB_AMOUNT			0x20c
#define   PBFB_AMOUNT_MAX		8192	/* more than any board has there */

#endif
