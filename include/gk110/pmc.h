/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PMC: the chip's identity, the root of its interrupt tree, and enables of engines.
 * Sources: rnndb bus/pmc.xml and envytools docs/hw/bus/pmc.rst (GF100- and GK104- variants),
 * nouveau nvkm/subdev/mc.
 */
#ifndef KVGPU_GK110_PMC_H
#define KVGPU_GK110_PMC_H

#include <linux/bits.h>

#define PMC_BASE			0x000000
#define PMC_SIZE			0x001000

#define PMC_BOOT_0			0x000000
#define   PMC_BOOT_0_STEPPING		GENMASK(7, 0)
#define   PMC_BOOT_0_DEVICE		GENMASK(19, 12)
#define   PMC_BOOT_0_CHIPSET		GENMASK(28, 20)
#define PMC_BOOT_1			0x000004	/* a write can turn the byte order */
#define   PMC_BOOT_1_FLIP		BIT(24)
#define   PMC_BOOT_1_BIG		0x01000001
#define PMC_BOOT_2			0x000008
#define PMC_NEW_ID			0x000a00
#define   PMC_NEW_ID_DEVICE		GENMASK(7, 0)
#define   PMC_NEW_ID_STEPPING		GENMASK(19, 12)
#define   PMC_NEW_ID_CHIPSET		GENMASK(27, 20)

#define   GK110_CHIPSET			0x0f0
#define   GK110B_CHIPSET		0x0f1
#define   GK110_STEPPING		0xa1

/*
 * Leaves, the destinations of interrupts: HOST, the CPU; NRHOST, the CPU for interrupts that can't
 * be redirected to the PMU; DAEMON, the PMU.
 */
#define PMC_NR_LEAF			3
#define PMC_LEAF_HOST			0
#define PMC_LEAF_NRHOST			1
#define PMC_LEAF_DAEMON			2
#define PMC_INTR(leaf)			(0x000100 + 4 * (leaf))
/*
 * Numbers of the bits of PMC_INTR on GK110. For CE and GR, the device table (gk110/ptop.h) has the
 * same numbers.
 */
#define   PMC_INTR_MSPPP		0
#define   PMC_INTR_CE0			5
#define   PMC_INTR_CE1			6
#define   PMC_INTR_CE2			7
#define   PMC_INTR_FIFO			8
#define   PMC_INTR_GR			12
#define   PMC_INTR_PBFB			13
#define   PMC_INTR_MSVLD		15
#define   PMC_INTR_MSENC		16
#define   PMC_INTR_MSPDEC		17
#define   PMC_INTR_THERM		18
#define   PMC_INTR_TIMER		20
#define   PMC_INTR_GPIO			21
#define   PMC_INTR_PMU			24
#define   PMC_INTR_LTC			25
#define   PMC_INTR_PFFB			27
#define   PMC_INTR_BUS			28
#define   PMC_INTR_PRIVRING		30
#define   PMC_INTR_SOFTWARE		31		/* software writes this bit; no unit does */
#define PMC_INTR_EN(leaf)		(0x000140 + 4 * (leaf))
#define   PMC_INTR_EN_HARDWARE		BIT(0)
#define   PMC_INTR_EN_SOFTWARE		BIT(1)
/* 1: the leaf asserts its interrupt */
#define PMC_INTR_LINE(leaf)		(0x000160 + 4 * (leaf))
/*
 * Bits as in PMC_INTR. 1: PMC_INTR(leaf) shows this source. Bit 31: software can set bit 31 of
 * PMC_INTR(leaf) (envytools pmc.rst).
 */
#define PMC_INTR_MASK(leaf)		(0x000640 + 4 * (leaf))
/* One bit per L2 partition with an interrupt pending, read-only. */
#define PMC_INTR_PMFB			0x00017c
/* One bit per memory controller (PBFB) with an interrupt pending, read-only. */
#define PMC_INTR_PBFB_PART		0x000180

#define PMC_ENABLE			0x000200
#define   PMC_ENABLE_UNK0		BIT(0)
#define   PMC_ENABLE_XBAR		BIT(2)
#define   PMC_ENABLE_LTC		BIT(3)
#define   PMC_ENABLE_UNK4		BIT(4)
#define   PMC_ENABLE_PRIVRING		BIT(5)
#define   PMC_ENABLE_CE0		BIT(6)
#define   PMC_ENABLE_CE1		BIT(7)
#define   PMC_ENABLE_FIFO		BIT(8)
#define   PMC_ENABLE_GR			BIT(12)
#define   PMC_ENABLE_PMU		BIT(13)
#define   PMC_ENABLE_TIMER		BIT(16)
#define   PMC_ENABLE_PBFB		BIT(20)
#define   PMC_ENABLE_CE2		BIT(21)
#define   PMC_ENABLE_UNK26		BIT(26)
#define   PMC_ENABLE_BLG		BIT(27)
#define   PMC_ENABLE_PCOUNTER		BIT(28)
#define   PMC_ENABLE_PFFB		BIT(29)
#define   PMC_ENABLE_DISP		BIT(30)
#define   PMC_ENABLE_ISOHUB		BIT(31)
#define PMC_ENABLE_PBDMA		0x000204
#define PMC_ENABLE_UNK208		0x000208
#define PMC_ENABLE_UNK20C		0x00020c
/*
 * One bit each, not documented. nouveau keeps register 0 at 0 while it loads GR's microcode or
 * makes the first context (nvkm_mc_unk260()).
 */
#define PMC_UNK260(i)			(0x000260 + 4 * (i))
#define   PMC_UNK260_NR			6

#endif
