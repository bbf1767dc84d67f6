/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPU windows into memory: BAR1, BAR3, the 1 MiB window in BAR0 (PRAMIN), the peephole port, and
 * the flushes that order CPU accesses with the GPU's.
 */
#ifndef KVGPU_GK110_BAR_H
#define KVGPU_GK110_BAR_H

#include <linux/bits.h>

#include "gk110/layout.h"

/* rnndb pbus.xml HOST_MEM (GF100-); nvkm bar/gf100.c, instmem/nv50.c */
#define HOSTMEM_PRAMIN			0x001700
#define   HOSTMEM_PRAMIN_BASE		GENMASK(23, 0)		/* address >> 16 */
#define   HOSTMEM_PRAMIN_BASE_SHIFT	16
/* 0 video memory, 2 coherent, 3 non-coherent */
#define   HOSTMEM_PRAMIN_TARGET		GENMASK(25, 24)
#define HOSTMEM_BAR1			0x001704
#define HOSTMEM_BAR3			0x001714
#define HOSTMEM_PEEPHOLE		0x001718
#define   HOSTMEM_INST			GENMASK(27, 0)		/* instance block >> 12 */
#define   HOSTMEM_INST_SHIFT		12
/* target of the instance block; codes as in HOSTMEM_PRAMIN_TARGET */
#define   HOSTMEM_TARGET		GENMASK(29, 28)
#define   HOSTMEM_BAR3_HALVE		BIT(30)			/* nvkm bar/gf100.c, NvBar2Halve */
/* 0: the window shows video memory from address 0 */
#define   HOSTMEM_VIRTUAL		BIT(31)

#define PRAMIN_BASE			0x700000
#define PRAMIN_SIZE			0x100000

/* peephole read-write port: rnndb pbus.xml PPEEPHOLE, envytools docs/hw/memory/peephole.rst */
#define PEEPHOLE_ADDR_HIGH		0x06000c
#define   PEEPHOLE_ADDR_HIGH_BITS	GENMASK(7, 0)
#define PEEPHOLE_ADDR_LOW		0x060010
#define   PEEPHOLE_ADDR_LOW_BITS	GENMASK(31, 2)
#define PEEPHOLE_DATA			0x060014

/* flushes: write TRIGGER, poll BUSY (CPU writes: nvkm bar/g84.c) or both bits (L2: ltc/gf100.c) */
#define FLUSH_BAR			0x070000
#define FLUSH_L2_SYSMEM_INVALIDATE	0x070004
#define FLUSH_L2_DIRTY			0x070010
#define   FLUSH_TRIGGER			BIT(0)
#define   FLUSH_BUSY			BIT(1)

/* The compiler checks the encodings above: no overlap, widths, sizes. */
LAYOUT_DISJOINT(HOSTMEM_PRAMIN_BASE, HOSTMEM_PRAMIN_TARGET);
LAYOUT_DISJOINT(HOSTMEM_INST, HOSTMEM_TARGET, HOSTMEM_BAR3_HALVE, HOSTMEM_VIRTUAL);
LAYOUT_DISJOINT(FLUSH_TRIGGER, FLUSH_BUSY);
/* The window and an instance block can be anywhere in 40 bits. */
LAYOUT_WIDTH(HOSTMEM_PRAMIN_BASE, 40 - HOSTMEM_PRAMIN_BASE_SHIFT);
LAYOUT_WIDTH(HOSTMEM_INST, 40 - HOSTMEM_INST_SHIFT);
LAYOUT_WIDTH(PEEPHOLE_ADDR_HIGH_BITS, 8);
static_assert(PRAMIN_SIZE == 1 << (HOSTMEM_PRAMIN_BASE_SHIFT + 4), "the window is 16 of the units that it moves by");

#endif
