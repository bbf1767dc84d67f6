/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCI configuration space of the GK110 on a Tesla K20m: ids, offsets of capabilities, fields and
 * values of words.
 *
 * Sources: the PCI 3.0 and PCI Express 2.1 specifications for layout and fields (names as in rnndb
 * bus/pci.xml). Offsets of capabilities: envytools docs/hw/bus/pci.rst (0x60 PM, 0x68 MSI, 0x78 PCI
 * Express, 0x100 virtual channel, 0x128 power budgeting) and public `lspci -vvv` listings of GK110
 * boards (K40c: FLReset-, NoSoftRst+, no PME, no D1/D2, ExtTag+, RBE+, payload 256, L0s unlimited,
 * L1 < 64 us). The board is PCI Express 2.0 x16 (K20 board specification).
 */
#ifndef KVGPU_GK110_PCI_H
#define KVGPU_GK110_PCI_H

#include <linux/bits.h>

#define GK110_PCI_CONFIG_SIZE		4096
#define GK110_PCI_VENDOR		0x10de
#define GK110_PCI_DEVICE		0x1028	/* pci.ids: GK110GL [Tesla K20m] */
#define GK110_PCI_K20XM			0x1021	/* pci.ids, also the next ones */
#define GK110_PCI_K20C			0x1022
#define GK110_PCI_K40M			0x1023
#define GK110_PCI_K40C			0x1024
#define GK110_PCI_SUBVENDOR		0x10de
#define GK110_PCI_SUBDEVICE		0x1015
#define GK110_PCI_K40_SUBDEVICE		0x097e	/* pci.ids, of a K40m */

/* Words of the header, type 0 (PCI 3.0 section 6.1). */
#define GK110_PCI_ID			0x000
#define   GK110_PCI_ID_VENDOR		GENMASK(15, 0)
#define   GK110_PCI_ID_DEVICE		GENMASK(31, 16)
#define GK110_PCI_CMD_STA		0x004
#define   GK110_PCI_CMD_MEMORY		BIT(1)
#define   GK110_PCI_CMD_MASTER		BIT(2)
#define   GK110_PCI_CMD_PARITY		BIT(6)
#define   GK110_PCI_CMD_SERR		BIT(8)
#define   GK110_PCI_CMD_INTX_DISABLE	BIT(10)
#define   GK110_PCI_STA_INTERRUPT	BIT(19)
#define   GK110_PCI_STA_CAP_LIST	BIT(20)
/* Status bits that a written 1 clears: parity errors, aborts, system error. */
#define   GK110_PCI_STA_W1C		0xf9000000u
#define GK110_PCI_REV_CLASS		0x008
#define   GK110_PCI_REV_CLASS_K20M	0x030200a1u	/* class 3D controller, revision a1 */
/* of a vGPU whose copies run beside its kernels: no card has this revision */
#define   GK110_PCI_REV_CLASS_COPIES	0x030200c1u
#define GK110_PCI_CACHE_LINE		0x00c
#define   GK110_PCI_CACHE_LINE_SIZE	GENMASK(7, 0)
/* BAR0 shows the registers. It has 16 MiB, 32-bit (envytools docs/hw/bus/bars.rst). */
#define GK110_PCI_BAR0			0x010
#define   GK110_PCI_BAR0_ADDR		0xff000000u
#define GK110_PCI_BAR1			0x014		/* 256 MiB, 64-bit, prefetchable */
#define   GK110_PCI_BAR1_ADDR		0xf0000000u
#define GK110_PCI_BAR1_HI		0x018
#define GK110_PCI_BAR3			0x01c		/* 32 MiB, 64-bit, prefetchable */
#define   GK110_PCI_BAR3_ADDR		0xfe000000u
#define GK110_PCI_BAR3_HI		0x020
#define   GK110_PCI_BAR_64_PREFETCH	0x0000000cu
#define GK110_PCI_SUBSYSTEM		0x02c
#define GK110_PCI_CAP_PTR		0x034
#define GK110_PCI_INTR			0x03c
#define   GK110_PCI_INTR_LINE		GENMASK(7, 0)
#define   GK110_PCI_INTR_PIN_A		BIT(8)
#define GK110_PCI_SUBSYSTEM_ALIAS	0x040
/*
 * PROM in BAR0 (gk110/vbios.h) shows the ROM while bit 0 is 0 (nouveau bios/shadowrom.c). The word
 * is written through the mirror of the configuration space (gk110/ppci.h; envytools pci.rst).
 */
#define GK110_PCI_ROM_SHADOW		0x050

#define GK110_PCI_CAP(id, next)		((id) | (next) << 8)

/* Power management capability, version 3. */
#define GK110_PCI_PM			0x060
#define   GK110_PCI_PM_ID		0x01u
#define   GK110_PCI_PM_VERSION_3	(3u << 16)
#define GK110_PCI_PM_CTRL		0x064
#define   GK110_PCI_PM_STATE		GENMASK(1, 0)
#define   GK110_PCI_PM_NO_SOFT_RESET	BIT(3)

/* MSI capability, with one vector and 64-bit addresses, without masking. */
#define GK110_PCI_MSI			0x068
#define   GK110_PCI_MSI_ID		0x05u
#define   GK110_PCI_MSI_ENABLE		BIT(16)
#define   GK110_PCI_MSI_MULTI_ENABLE	GENMASK(22, 20)
#define   GK110_PCI_MSI_64BIT		BIT(23)
#define GK110_PCI_MSI_ADDR		0x06c
#define   GK110_PCI_MSI_ADDR_LO		0xfffffffcu
#define GK110_PCI_MSI_ADDR_HI		0x070
#define GK110_PCI_MSI_DATA		0x074
#define   GK110_PCI_MSI_DATA_VALUE	GENMASK(15, 0)

/* PCI Express capability, version 2, of an endpoint. */
#define GK110_PCI_EXP			0x078
#define   GK110_PCI_EXP_ID		0x10u
#define   GK110_PCI_EXP_VERSION_2	(2u << 16)
#define GK110_PCI_EXP_DEVCAP		0x07c
#define   GK110_PCI_EXP_PAYLOAD_256	0x1u
#define   GK110_PCI_EXP_EXT_TAG		BIT(5)
#define   GK110_PCI_EXP_L0S_UNLIMITED	(7u << 6)
#define   GK110_PCI_EXP_L1_64US		(6u << 9)
#define   GK110_PCI_EXP_ROLE_ERR	BIT(15)
#define GK110_PCI_EXP_DEVCTL		0x080
/* Writable bits. Bit 15, function level reset, is not there (FLReset- in lspci). */
#define   GK110_PCI_EXP_DEVCTL_RW	GENMASK(14, 0)
/* Value after reset: relaxed ordering, extended tag, no snoop, read requests of 512 bytes. */
#define   GK110_PCI_EXP_DEVCTL_RESET	0x2910u
#define   GK110_PCI_EXP_DEVSTA_W1C	0x000f0000u
#define GK110_PCI_EXP_LNKCAP		0x084
/* 5 GT/s, 16 lanes, L0s with exit latency < 512 ns, L1 with < 4 us, clock power management. */
#define   GK110_PCI_EXP_LNKCAP_K20M	0x00053d02u
#define GK110_PCI_EXP_LNKCTL		0x088
#define   GK110_PCI_EXP_LNKCTL_RW	0x000001dbu
#define   GK110_PCI_EXP_LNKSTA_K20M	0x11020000u	/* 5 GT/s, 16 lanes, slot clock */
#define GK110_PCI_EXP_DEVCAP2		0x09c
/* Completion timeouts: ranges A and B, and the timeout can be disabled. */
#define   GK110_PCI_EXP_DEVCAP2_K20M	0x00000013u
#define GK110_PCI_EXP_DEVCTL2		0x0a0
#define   GK110_PCI_EXP_DEVCTL2_RW	0x0000001fu
#define GK110_PCI_EXP_LNKCAP2		0x0a4
#define   GK110_PCI_EXP_LNKCAP2_K20M	0x00000006u	/* speeds 2.5 and 5 GT/s */
#define GK110_PCI_EXP_LNKCTL2		0x0a8
#define   GK110_PCI_EXP_LNKCTL2_K20M	0x00000002u	/* target speed 5 GT/s */
#define   GK110_PCI_EXP_LNKCTL2_RW	0x0000107fu

#define GK110_PCI_EXT_CAP(id, ver, next)	((id) | (ver) << 16 | (uint32_t)(next) << 20)

/* Virtual channel capability (0x100-0x127): one channel, which carries all traffic classes. */
#define GK110_PCI_VC			0x100
#define   GK110_PCI_VC_ID		0x0002u
#define GK110_PCI_VC_RES_CTL		0x114
#define   GK110_PCI_VC_RES_CTL_RESET	0x800000ffu
/* Power budgeting capability (0x128-0x137), without data: the board's numbers are not public. */
#define GK110_PCI_PWR			0x128
#define   GK110_PCI_PWR_ID		0x0004u
#define GK110_PCI_PWR_SELECT		0x12c
#define   GK110_PCI_PWR_SELECT_RW	GENMASK(7, 0)
/*
 * Advanced error reporting capability. Offset and version: lspci of Tesla boards of this
 * generation.
 */
#define GK110_PCI_AER			0x420
#define   GK110_PCI_AER_ID		0x0001u
#define GK110_PCI_AER_UE_MASK		0x428
#define   GK110_PCI_AER_UE_BITS		0x001ff030u
#define GK110_PCI_AER_UE_SEVERITY	0x42c
/* Value after reset, by the PCI Express specification, 7.10.4. */
#define   GK110_PCI_AER_UE_SEVERITY_RESET	0x00062030u
#define GK110_PCI_AER_CE_MASK		0x434
#define   GK110_PCI_AER_CE_BITS		0x000031c1u
/* Value after reset: advisory non-fatal errors are masked (PCI Express 3.0, 7.10.6). */
#define   GK110_PCI_AER_CE_MASK_RESET	0x00002000u

#endif
