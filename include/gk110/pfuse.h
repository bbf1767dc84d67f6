/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PFUSE: words burnt into the chip, such as calibration and masks of units that are switched off.
 * PSTRAPS: values that resistors on the board set. Sources: rnndb bus/pfuse.xml, envytools
 * docs/hw/bus/pfuse.rst, docs/hw/io/pstraps.rst, nouveau nvkm/subdev/fuse/gf100.c (access
 * sequence), nvkm/subdev/bios/ramcfg.c (strap).
 */
#ifndef KVGPU_GK110_PFUSE_H
#define KVGPU_GK110_PFUSE_H

#include <linux/bits.h>

#define PFUSE_BASE			0x021000
#define PFUSE_SIZE			0x001000
#define PFUSE_CONTROL			0x021000
#define   PFUSE_CONTROL_READ		BIT(0)
#define PFUSE_WORD(off)			(0x021100 + (off))
#define   PFUSE_TPC_DISABLE		0x144
#define   PFUSE_PART_DISABLE		0x148
#define   PFUSE_TEMP_SLOPE		0x1a0
#define   PFUSE_TEMP_OFFSET		0x1a4
#define   PFUSE_TEMP_CALIBRATED		0x1a8
#define   PFUSE_SPEEDO			0x3a8

#define PSTRAPS_BASE			0x101000
#define PSTRAPS_SIZE			0x001000
#define PSTRAPS_BOOT0			0x101000
#define   PSTRAPS_RAMCFG		GENMASK(5, 2)
#define   PSTRAPS_CRYSTAL_LOW		BIT(6)
#define   PSTRAPS_CRYSTAL_HIGH		BIT(22)		/* 1: 27 MHz, if CRYSTAL_LOW is 0 */

#define   GK110_CRYSTAL_HZ		27000000
/* Open: the straps of memory of the model's boards, which its VBIOS images have rows for. */
#define   K20_RAMCFG			0
#define   K20X_RAMCFG			1
#define   K40_RAMCFG			2
#define   RAMCFG_NR			3

#endif
