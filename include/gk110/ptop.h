/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PTOP (rnndb: PUNITS): the numbers of units on the die, the units that are switched off, and the
 * device table, which has for each engine its runlist, its bits in PMC_INTR and PMC_ENABLE, and its
 * fault unit. A GPC is a cluster of shader units, a TPC a part of it. An FBP is a partition of the
 * frame buffer, that is of video memory.
 *
 * Sources: rnndb bus/punits.xml, nouveau nvkm/subdev/top/gk104.c, nvkm/subdev/devinit/gf100.c.
 */
#ifndef KVGPU_GK110_PTOP_H
#define KVGPU_GK110_PTOP_H

#include <linux/bits.h>

#define PTOP_BASE			0x022400
#define PTOP_SIZE			0x000400

#define PTOP_LOW			0x022000	/* range 0x022000-0x0223ff */
/* 1: the PMU, the microcontroller for power, is enabled (nouveau pmu/gt215.c) */
#define PTOP_PMU_ENABLE			0x022210
#define   PTOP_PMU_ENABLE_ON		BIT(0)
#define PTOP_FUSE_CONTROL		0x022400
#define   PTOP_FUSE_READOUT		BIT(11)
#define PTOP_DEVINIT			0x02240c
#define   PTOP_DEVINIT_DONE		BIT(1)
#define PTOP_PCI			0x02241c
#define   PTOP_PCI_V2			BIT(0)
#define   PTOP_PCI_CLASS		BIT(1)
#define   PTOP_PCI_FULL_SPEED		BIT(7)
/* numbers of units in the chip's design, units that are switched off included */
#define PTOP_GPC_COUNT			0x022430
#define PTOP_TPC_PER_GPC_COUNT		0x022434
#define PTOP_FBP_COUNT			0x022438
#define PTOP_FBPA_COUNT			0x02243c
#define PTOP_CE_COUNT			0x022444
#define PTOP_HEAD_COUNT			0x022448
/* Disable registers. 1: the unit is absent or switched off. */
#define PTOP_DISABLE			0x022500
#define   PTOP_DISABLE_DISPLAY		BIT(0)
#define   PTOP_DISABLE_MSPDEC_MSPPP	BIT(1)
#define   PTOP_DISABLE_MSVLD		BIT(2)
#define   PTOP_DISABLE_MSENC		BIT(3)
#define   PTOP_DISABLE_CE		GENMASK(10, 8)
#define PTOP_DISABLE_GPC		0x022504
#define PTOP_DISABLE_TPC(gpc)		(0x022508 + 4 * (gpc))
#define PTOP_DISABLE_FBP		0x022548
#define PTOP_DISABLE_FBPA		0x022554
/* the range of the disable registers (rnndb HW_..._DISABLE) */
#define PTOP_HW_DISABLE			0x022500
#define PTOP_HW_DISABLE_END		0x022560

/* The device table. An engine has words of several kinds in a row; the last has CHAIN 0. */
#define PTOP_DEVICE(i)			(0x022700 + 4 * (i))
#define   PTOP_DEVICE_NR		64
#define   PTOP_DEVICE_CHAIN		BIT(31)
#define   PTOP_DEVICE_KIND		GENMASK(1, 0)
#define     PTOP_KIND_NONE		0
#define     PTOP_KIND_DATA		1
#define     PTOP_KIND_ENUM		2
#define     PTOP_KIND_TYPE		3
#define   PTOP_DATA_FAULT_VALID		BIT(2)
#define   PTOP_DATA_FAULT		GENMASK(9, 3)
#define   PTOP_DATA_ADDR		GENMASK(23, 12)	/* bits 23:12 of the offset in BAR0 */
#define   PTOP_DATA_INST		GENMASK(29, 26)
#define   PTOP_ENUM_RESET_VALID		BIT(2)
#define   PTOP_ENUM_INTR_VALID		BIT(3)
#define   PTOP_ENUM_RUNLIST_VALID	BIT(4)
#define   PTOP_ENUM_ENGINE_VALID	BIT(5)
#define   PTOP_ENUM_RESET		GENMASK(13, 9)
#define   PTOP_ENUM_INTR		GENMASK(19, 15)
#define   PTOP_ENUM_RUNLIST		GENMASK(24, 21)
#define   PTOP_ENUM_ENGINE		GENMASK(29, 26)
#define   PTOP_TYPE			GENMASK(30, 2)
#define     PTOP_TYPE_GR		0
/* The types 2 and 3 are CE1 and CE2 (nouveau top/gk104.c). */
#define     PTOP_TYPE_CE0		1

/*
 * The design's units. A K20m has 13 of the 15 TPCs and five of the six FBPs. Which of them are off
 * differs from card to card.
 */
#define   GK110_DESIGN_GPC		5
#define   GK110_DESIGN_TPC_PER_GPC	3
#define   GK110_DESIGN_FBP		6
#define   GK110_LTC_SLICES		4		/* of each FBP; open */

/*
 * Engines: GR is graphics, CE are copy engines, the others are for video. RESET: number of the
 * engine's bit in PMC_ENABLE (rnndb pmc.xml). MMIO: offset of the engine's registers in BAR0
 * (rnndb nv_mmio.xml). FAULT_UNIT, HUB_CLIENT: numbers that name the engine in records of MMU
 * faults (gk110/mmu.h; nouveau fifo/gk104.c).
 */
#define GR_RESET			12
#define GR_MMIO				0x400000
#define GR_FAULT_UNIT			0x00
#define GR_HUB_CLIENT			0x04		/* FE, GR's front end */
#define CE0_RESET			6
#define CE1_RESET			7
#define CE2_RESET			21
#define CE_MMIO(i)			(0x104000 + 0x1000 * (i))
#define CE0_FAULT_UNIT			0x15
#define CE1_FAULT_UNIT			0x16
#define CE2_FAULT_UNIT			0x1b
#define CE0_HUB_CLIENT			0x01
#define CE1_HUB_CLIENT			0x02
#define CE2_HUB_CLIENT			0x19
#define MSPPP_RESET			1
#define MSVLD_RESET			15
#define MSPDEC_RESET			17
#define MSENC_RESET			18
#define MSVLD_MMIO			0x084000
#define MSPDEC_MMIO			0x085000
#define MSPPP_MMIO			0x086000
#define MSENC_MMIO			0x1c2000
#define MSVLD_FAULT_UNIT		0x10
#define MSPPP_FAULT_UNIT		0x11
#define MSPDEC_FAULT_UNIT		0x14
#define MSENC_FAULT_UNIT		0x19

#endif
