/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The GK110's memory management unit (MMU): entries of page directories and page tables, the words
 * of an instance block that describe an address space, registers for control and for invalidates of
 * the TLB, and fault records.
 *
 * An entry of a page directory (PDE) has the addresses of two page tables, for big pages and for
 * small pages. Addresses in entries are in units of 4 KiB. A small page has 4 KiB. A big page has
 * 128 KiB or 64 KiB, the same for the whole chip (FB_MMU_CTRL_BIG_64K). PDB: address of a page
 * directory.
 */
#ifndef KVGPU_GK110_MMU_H
#define KVGPU_GK110_MMU_H

#include <linux/bits.h>

#include "gk110/layout.h"

/* Geometry: nvkm vmmgf100.c (gf100_vmm_desc_*), rnndb gf100_pffb.xml. */
#define GMMU_VA_BITS			40
#define GMMU_ENTRY_SIZE			8
#define GMMU_ADDR_SHIFT			12
#define GMMU_SMALL_SHIFT		12
#define GMMU_BIG_SHIFT_128K		17
#define GMMU_BIG_SHIFT_64K		16
#define GMMU_BIG_PTES_SHIFT		10	/* log2 of the entries of a big page table */

/*
 * Fields of a PDE. Sources: rnndb gf100_vm.xml GF100_PDE. Apertures, VOL (volatile) and the width
 * of addresses of video memory: NVIDIA open-gpu-kernel-modules gm107 dev_mmu.h (same MMU version),
 * nvgpu hw_gmmu_gk20a.h.
 */
#define GMMU_PDE_BIG_APERTURE		GENMASK_ULL(1, 0)
#define   GMMU_PDE_APERTURE_NONE	0
#define   GMMU_PDE_APERTURE_VRAM	1
#define   GMMU_PDE_APERTURE_SYS_COH	2
#define   GMMU_PDE_APERTURE_SYS_NCOH	3
/* a page table has its full number of entries / 2^SIZE */
#define GMMU_PDE_SIZE			GENMASK_ULL(3, 2)
#define GMMU_PDE_BIG_ADDR		GENMASK_ULL(31, 4)
#define GMMU_PDE_SMALL_APERTURE		GENMASK_ULL(33, 32)
#define GMMU_PDE_SMALL_VOL		BIT_ULL(34)
#define GMMU_PDE_BIG_VOL		BIT_ULL(35)
#define GMMU_PDE_SMALL_ADDR		GENMASK_ULL(63, 36)

/*
 * Fields of an entry of a page table (PTE), for big and for small pages. Sources: rnndb
 * gf100_vm.xml GF100_PTE, gm107 dev_mmu.h, nvgpu hw_gmmu_gk20a.h.
 */
#define GMMU_PTE_VALID			BIT_ULL(0)
/*
 * 1: the page is for privileged accesses only. In a PTE of a big page without VALID, 1: the MMU
 * does not look at the PTEs of small pages (nvkm vmmgk104.c).
 */
#define GMMU_PTE_PRIV			BIT_ULL(1)
#define GMMU_PTE_RO			BIT_ULL(2)
#define GMMU_PTE_ENCRYPTED		BIT_ULL(3)
#define GMMU_PTE_ADDR			GENMASK_ULL(31, 4)
#define GMMU_PTE_VOL			BIT_ULL(32)
#define GMMU_PTE_APERTURE		GENMASK_ULL(34, 33)
#define   GMMU_PTE_APERTURE_VRAM	0
#define   GMMU_PTE_APERTURE_PEER	1
#define   GMMU_PTE_APERTURE_SYS_COH	2
#define   GMMU_PTE_APERTURE_SYS_NCOH	3
#define GMMU_PTE_LOCK			BIT_ULL(35)
#define GMMU_PTE_KIND			GENMASK_ULL(43, 36)
#define GMMU_PTE_COMPTAG		GENMASK_ULL(60, 44)
#define GMMU_PTE_READ_DISABLE		BIT_ULL(62)
#define GMMU_PTE_WRITE_DISABLE		BIT_ULL(63)

/*
 * Bits of an address field that are the address in video memory (gm107 dev_mmu.h ADDRESS_VID). With
 * the aperture PEER the three bits above them select another card.
 */
#define GMMU_ADDR_VID			GENMASK(24, 0)

/* Kinds of storage, values of GMMU_PTE_KIND: rnndb gf100_vm.xml GF100_STORAGE_TYPE. */
#define GMMU_KIND_PITCH			0x00
#define GMMU_KIND_GENERIC		0xfe
#define GMMU_KIND_INVALID		0xff

/*
 * Offsets in an instance block of the words that describe the address space, and their fields: nvkm
 * vmmgf100.c gf100_vmm_join_, nvgpu hw_ram_gk20a.h.
 */
#define GMMU_INST_PDB_LO		0x200
/* 0 video memory, 2 coherent, 3 non-coherent system memory. */
#define   GMMU_INST_PDB_LO_TARGET	GENMASK(1, 0)
#define   GMMU_INST_PDB_LO_VOL		BIT(2)
#define   GMMU_INST_PDB_LO_ADDR		GENMASK(31, 12)		/* bits 31:12 of the address */
#define GMMU_INST_PDB_HI		0x204
#define   GMMU_INST_PDB_HI_ADDR		GENMASK(7, 0)
/* address of the last valid page: LO has bits 31:12, HI 39:32 */
#define GMMU_INST_LIMIT_LO		0x208
#define   GMMU_INST_LIMIT_LO_ADDR	GENMASK(31, 12)
#define GMMU_INST_LIMIT_HI		0x20c
#define   GMMU_INST_LIMIT_HI_ADDR	GENMASK(7, 0)

/*
 * Address >> 8 of the page to which the GPU writes in order to flush system memory: nvkm
 * fb/gf100.c, rnndb gf100_pffb.xml.
 */
#define FB_NISO_FLUSH_SYSMEM_ADDR	0x100c10

/* MMU control: rnndb gf100_pffb.xml VM.CFG. Fields with FIFO: nvgpu hw_fb_gk20a.h. */
#define FB_MMU_CTRL			0x100c80
#define   FB_MMU_CTRL_BIG_64K		BIT(0)
/* Width of the compression tags in PTEs. 1: 16 bits, 0: 17 bits (nvkm ltc/gf100.c). */
#define   FB_MMU_CTRL_COMPTAGS_16	BIT(12)
/* Read-only. 1: no invalidate is under way. */
#define   FB_MMU_CTRL_FIFO_EMPTY	BIT(15)
/* Read-only. Invalidates for which the queue has room. */
#define   FB_MMU_CTRL_FIFO_SPACE	GENMASK(23, 16)
#define   FB_MMU_CTRL_BYPASS_TARGET	GENMASK(29, 28)
/* 1: the MMU does not translate: addresses are physical, in BYPASS_TARGET */
#define   FB_MMU_CTRL_BYPASS		BIT(31)

/* TLB invalidate: rnndb gf100_pffb.xml TLB_FLUSH_*, nvkm vmmgf100.c, nvgpu hw_fb_gk20a.h. */
#define FB_MMU_INVALIDATE_PAGE		0x100cb4
#define   FB_MMU_INVALIDATE_PAGE_VA	GENMASK(31, 4)		/* VA >> 12 */
#define FB_MMU_INVALIDATE_PDB		0x100cb8
#define   FB_MMU_INVALIDATE_PDB_TARGET	GENMASK(1, 0)
/* 1: the page directory is in system memory */
#define   FB_MMU_INVALIDATE_PDB_SYS	BIT(1)
#define   FB_MMU_INVALIDATE_PDB_ADDR	GENMASK(31, 4)		/* address of the directory >> 12 */
#define FB_MMU_INVALIDATE		0x100cbc
#define   FB_MMU_INVALIDATE_ALL_VA	BIT(0)
#define   FB_MMU_INVALIDATE_ALL_PDB	BIT(1)
#define   FB_MMU_INVALIDATE_HUB_ONLY	BIT(2)
#define   FB_MMU_INVALIDATE_TRIGGER	BIT(31)

/*
 * Debug mode of the MMU (nvgpu hw_fb_gk20a.h). While DEBUG is 1, the MMU directs writes to the page
 * that DEBUG_WR names, and reads to the page that DEBUG_RD names (bits 31:4: address >> 12).
 */
#define FB_MMU_DEBUG_CTRL		0x100cc4
#define   FB_MMU_DEBUG_CTRL_DEBUG	BIT(16)
#define FB_MMU_DEBUG_WR			0x100cc8
#define FB_MMU_DEBUG_RD			0x100ccc

/*
 * Fault records, one for each fault unit u: rnndb gf100_pfifo.xml VM_FAULT, VM_FAULT_SOURCE; nvkm
 * fifo/gf100.c gf100_fifo_intr_mmu_fault_unit. FAULT_SOURCE: one bit per unit with a valid record,
 * write 1 to clear.
 */
#define GMMU_FAULT_SOURCE		0x00259c
#define GMMU_FAULT_UNITS		32
#define GMMU_FAULT_BASE			0x002800
#define GMMU_FAULT_STRIDE		0x10
#define GMMU_FAULT_INST(u)		(GMMU_FAULT_BASE + (u) * GMMU_FAULT_STRIDE)
/* address of the instance block >> 12 */
#define   GMMU_FAULT_INST_ADDR		GENMASK(27, 0)
#define GMMU_FAULT_VA_LO(u)		(GMMU_FAULT_INST(u) + 0x4)
#define GMMU_FAULT_VA_HI(u)		(GMMU_FAULT_INST(u) + 0x8)
#define GMMU_FAULT_INFO(u)		(GMMU_FAULT_INST(u) + 0xc)
#define   GMMU_FAULT_INFO_REASON	GENMASK(3, 0)
#define   GMMU_FAULT_INFO_HUB		BIT(6)
#define   GMMU_FAULT_INFO_WRITE		BIT(7)
#define   GMMU_FAULT_INFO_CLIENT	GENMASK(12, 8)
#define   GMMU_FAULT_INFO_GPC		GENMASK(28, 24)

/*
 * Numbers of the fault units, and of the client in the hub (INFO_CLIENT), by which the CPU accesses
 * memory: rnndb gf100_vm.xml, nvkm fifo/gk104.c.
 */
#define GMMU_UNIT_PEEPHOLE		0x03
#define GMMU_UNIT_BAR1			0x04
#define GMMU_UNIT_BAR3			0x05
#define GMMU_HUB_HOST_CPU		0x07

/* Bit of PFIFO_INTR (0x2100). 1: a fault was dropped (nouveau gk104_fifo_intr_dropped_fault()). */
#define GMMU_PFIFO_INTR_DROPPED_FAULT	BIT(27)

LAYOUT_DISJOINT(GMMU_PDE_BIG_APERTURE, GMMU_PDE_SIZE, GMMU_PDE_BIG_ADDR, GMMU_PDE_SMALL_APERTURE,
		GMMU_PDE_SMALL_VOL, GMMU_PDE_BIG_VOL, GMMU_PDE_SMALL_ADDR);
LAYOUT_DISJOINT(GMMU_PTE_VALID, GMMU_PTE_PRIV, GMMU_PTE_RO, GMMU_PTE_ENCRYPTED, GMMU_PTE_ADDR,
		GMMU_PTE_VOL, GMMU_PTE_APERTURE, GMMU_PTE_LOCK, GMMU_PTE_KIND, GMMU_PTE_COMPTAG,
		GMMU_PTE_READ_DISABLE, GMMU_PTE_WRITE_DISABLE);
LAYOUT_DISJOINT(GMMU_INST_PDB_LO_TARGET, GMMU_INST_PDB_LO_VOL, GMMU_INST_PDB_LO_ADDR);
LAYOUT_DISJOINT(FB_MMU_CTRL_BIG_64K, FB_MMU_CTRL_COMPTAGS_16, FB_MMU_CTRL_FIFO_EMPTY,
		FB_MMU_CTRL_FIFO_SPACE, FB_MMU_CTRL_BYPASS_TARGET, FB_MMU_CTRL_BYPASS);
LAYOUT_DISJOINT(FB_MMU_INVALIDATE_ALL_VA, FB_MMU_INVALIDATE_ALL_PDB, FB_MMU_INVALIDATE_HUB_ONLY,
		FB_MMU_INVALIDATE_TRIGGER);
LAYOUT_DISJOINT(FB_MMU_INVALIDATE_PDB_TARGET, FB_MMU_INVALIDATE_PDB_ADDR);
LAYOUT_DISJOINT(GMMU_FAULT_INFO_REASON, GMMU_FAULT_INFO_HUB, GMMU_FAULT_INFO_WRITE,
		GMMU_FAULT_INFO_CLIENT, GMMU_FAULT_INFO_GPC);
LAYOUT_FITS(GMMU_PDE_BIG_APERTURE, GMMU_PDE_APERTURE_SYS_NCOH);
LAYOUT_FITS(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_SYS_NCOH);
LAYOUT_FITS(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_NCOH);
LAYOUT_FITS(GMMU_PTE_KIND, GMMU_KIND_INVALID);
/* room for the address of a page in 40 bits */
LAYOUT_WIDTH(GMMU_PTE_ADDR, GMMU_VA_BITS - GMMU_ADDR_SHIFT);
LAYOUT_WIDTH(GMMU_PDE_BIG_ADDR, GMMU_VA_BITS - GMMU_ADDR_SHIFT);
LAYOUT_WIDTH(GMMU_PDE_SMALL_ADDR, GMMU_VA_BITS - GMMU_ADDR_SHIFT);
LAYOUT_WIDTH(GMMU_FAULT_INST_ADDR, GMMU_VA_BITS - GMMU_ADDR_SHIFT);
LAYOUT_WIDTH(FB_MMU_INVALIDATE_PDB_ADDR, GMMU_VA_BITS - GMMU_ADDR_SHIFT);
LAYOUT_WIDTH(GMMU_INST_PDB_LO_ADDR, 32 - GMMU_ADDR_SHIFT);
LAYOUT_WIDTH(GMMU_INST_PDB_HI_ADDR, GMMU_VA_BITS - 32);
LAYOUT_WIDTH(GMMU_INST_LIMIT_LO_ADDR, 32 - GMMU_ADDR_SHIFT);
LAYOUT_WIDTH(GMMU_INST_LIMIT_HI_ADDR, GMMU_VA_BITS - 32);
static_assert(GMMU_ADDR_VID < LAYOUT_MAX(GMMU_PTE_ADDR), "a video address is a part of an address");
static_assert(GMMU_INST_PDB_HI == GMMU_INST_PDB_LO + 4 &&
		      GMMU_INST_LIMIT_LO == GMMU_INST_PDB_HI + 4 &&
		      GMMU_INST_LIMIT_HI == GMMU_INST_LIMIT_LO + 4,
	      "the words of an address space follow each other");
static_assert(GMMU_SMALL_SHIFT == GMMU_ADDR_SHIFT &&
		      GMMU_BIG_SHIFT_64K == GMMU_BIG_SHIFT_128K - 1 &&
		      GMMU_BIG_SHIFT_64K > GMMU_SMALL_SHIFT,
	      "sizes of pages");
static_assert(GMMU_BIG_SHIFT_128K + GMMU_BIG_PTES_SHIFT < GMMU_VA_BITS,
	      "a directory has several entries");
static_assert(GMMU_FAULT_UNITS <= 32, "a unit is a bit of GMMU_FAULT_SOURCE");
static_assert(GMMU_UNIT_BAR1 < GMMU_FAULT_UNITS && GMMU_UNIT_BAR3 < GMMU_FAULT_UNITS &&
		      GMMU_UNIT_PEEPHOLE < GMMU_FAULT_UNITS,
	      "units");

#endif
