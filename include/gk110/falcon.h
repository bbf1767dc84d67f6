/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers that a falcon, a microcontroller inside of the GPU, shows to the host. Offsets are in
 * the falcon's window of 4 KiB. A falcon has IMEM, a memory for code, and DMEM, a memory for data.
 * Source: envytools docs/hw/falcon, nouveau nvkm/falcon/{base,v1}.c.
 */
#ifndef KVGPU_GK110_FALCON_H
#define KVGPU_GK110_FALCON_H

#include <linux/bits.h>

#define FALCON_WINDOW			0x1000

#define FALCON_INTR_TRIGGER		0x000
#define FALCON_INTR_ACK			0x004
#define FALCON_INTR			0x008
#define FALCON_INTR_MODE		0x00c
#define FALCON_INTR_EN_SET		0x010
#define FALCON_INTR_EN_CLR		0x014
#define FALCON_INTR_EN			0x018
/* Interrupt i goes to the host if bit i of HOST is 1 and bit i of DEST is 0. */
#define FALCON_INTR_ROUTE		0x01c
#define   FALCON_INTR_ROUTE_HOST	GENMASK(15, 0)
#define   FALCON_INTR_ROUTE_DEST	GENMASK(31, 16)
#define FALCON_IDLE_STATUS		0x04c	/* busy bits; 0: the falcon is idle */

#define FALCON_CPUCTL			0x100
#define   FALCON_CPUCTL_START		BIT(1)
#define FALCON_BOOTVEC			0x104
#define FALCON_CAPS			0x108
/* Sizes of IMEM and DMEM, in units of 256 bytes. */
#define   FALCON_CAPS_IMEM		GENMASK(8, 0)
#define   FALCON_CAPS_DMEM		GENMASK(17, 9)
#define FALCON_DMACTL			0x10c
/* 1: not cleared yet after a reset; bit 1: DMEM, 2: IMEM */
#define   FALCON_DMACTL_SCRUBBING	GENMASK(2, 1)
#define FALCON_CAPS2			0x12c
#define   FALCON_CAPS2_VERSION		GENMASK(3, 0)
#define   FALCON_CAPS2_SECRET		GENMASK(5, 4)
#define   FALCON_CAPS2_IMEM_PORTS	GENMASK(11, 8)
#define   FALCON_CAPS2_DMEM_PORTS	GENMASK(15, 12)
#define FALCON_CPUCTL_ALIAS		0x130

#define FALCON_IMEM_PORTS		1
#define FALCON_IMEMC(i)			(0x180 + (i) * 16)
#define FALCON_IMEMD(i)			(0x184 + (i) * 16)
#define FALCON_IMEMT(i)			(0x188 + (i) * 16)
#define FALCON_DMEM_PORTS		8
#define FALCON_DMEMC(i)			(0x1c0 + (i) * 8)
#define FALCON_DMEMD(i)			(0x1c4 + (i) * 8)
#define   FALCON_MEMC_OFFS		GENMASK(15, 2)
#define   FALCON_MEMC_AINCW		BIT(24)
#define   FALCON_MEMC_AINCR		BIT(25)

#endif
