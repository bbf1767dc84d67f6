/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers for the CPU's accesses to the GPU's memory: the windows BAR1, BAR3 and PRAMIN (1 MiB
 * inside BAR0), the peephole port, and flushes.
 */
#ifndef KVGPU_GK110_BAR_H
#define KVGPU_GK110_BAR_H

#include <linux/bits.h>

#include "gk110/layout.h"

/*
 * Registers of HOST_MEM, the windows' part of PBUS, by rnndb pbus.xml (GF100-), nvkm bar/gf100.c
 * and instmem/nv50.c.
 */
#define HOSTMEM_PRAMIN			0x001700
/* Address that the window shows at its first byte, >> 16. */
#define   HOSTMEM_PRAMIN_BASE		GENMASK(23, 0)
#define   HOSTMEM_PRAMIN_BASE_SHIFT	16
/* 0 video, 2 coherent system, 3 non-coherent system memory. */
#define   HOSTMEM_PRAMIN_TARGET		GENMASK(25, 24)
#define HOSTMEM_BAR1			0x001704
#define HOSTMEM_BAR3			0x001714
#define HOSTMEM_PEEPHOLE		0x001718
/*
 * Fields of HOSTMEM_BAR1, HOSTMEM_BAR3 and HOSTMEM_PEEPHOLE. INST: address of an instance block, >>
 * 12.
 */
#define   HOSTMEM_INST			GENMASK(27, 0)
#define   HOSTMEM_INST_SHIFT		12
/* As HOSTMEM_PRAMIN_TARGET, of the instance block. */
#define   HOSTMEM_TARGET		GENMASK(29, 28)
/*
 * In HOSTMEM_BAR3. 1: the virtual address space has half the size of the BAR (nvkm bar/gf100.c,
 * NvBar2Halve).
 */
#define   HOSTMEM_BAR3_HALVE		BIT(30)
/*
 * 1: the block's page tables translate the offset in the window. 0: the window shows video memory
 * from 0 on.
 */
#define   HOSTMEM_VIRTUAL		BIT(31)

#define PRAMIN_BASE			0x700000
#define PRAMIN_SIZE			0x100000

/*
 * The peephole: DATA reads or writes the word at ADDR_HIGH and ADDR_LOW, and adds 4 to the address.
 * Sources: rnndb pbus.xml PPEEPHOLE, envytools docs/hw/memory/peephole.rst.
 */
#define PEEPHOLE_ADDR_HIGH		0x06000c
#define   PEEPHOLE_ADDR_HIGH_BITS	GENMASK(7, 0)
#define PEEPHOLE_ADDR_LOW		0x060010
#define   PEEPHOLE_ADDR_LOW_BITS	GENMASK(31, 2)
#define PEEPHOLE_DATA			0x060014

/*
 * Flushes. A write of TRIGGER starts the flush. FLUSH_BAR flushes the CPU's writes through the
 * windows, and is done when BUSY reads 0 (nvkm bar/g84.c). FLUSH_L2_... flush the L2 cache, and are
 * done when TRIGGER and BUSY read 0 (nvkm ltc/gf100.c).
 */
#define FLUSH_BAR			0x070000
#define FLUSH_L2_SYSMEM_INVALIDATE	0x070004
#define FLUSH_L2_DIRTY			0x070010
#define   FLUSH_TRIGGER			BIT(0)
#define   FLUSH_BUSY			BIT(1)

LAYOUT_DISJOINT(HOSTMEM_PRAMIN_BASE, HOSTMEM_PRAMIN_TARGET);
LAYOUT_DISJOINT(HOSTMEM_INST, HOSTMEM_TARGET, HOSTMEM_BAR3_HALVE, HOSTMEM_VIRTUAL);
LAYOUT_DISJOINT(FLUSH_TRIGGER, FLUSH_BUSY);
/* room for an address of 40 bits */
LAYOUT_WIDTH(HOSTMEM_PRAMIN_BASE, 40 - HOSTMEM_PRAMIN_BASE_SHIFT);
LAYOUT_WIDTH(HOSTMEM_INST, 40 - HOSTMEM_INST_SHIFT);
LAYOUT_WIDTH(PEEPHOLE_ADDR_HIGH_BITS, 8);
static_assert(PRAMIN_SIZE == 1 << (HOSTMEM_PRAMIN_BASE_SHIFT + 4), "the window is 16 of the units that it moves by");

#endif
