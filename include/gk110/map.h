/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sizes of the BARs, and address ranges of units in BAR0. Sources: envytools docs/hw/mmio.rst
 * and rnndb nv_mmio.xml.
 */
#ifndef KVGPU_GK110_MAP_H
#define KVGPU_GK110_MAP_H

#define GK110_BAR0_SIZE			0x01000000u
/*
 * Sizes on the K20m. Of larger BARs the host uses the first bytes. A card with smaller BARs is
 * refused.
 */
#define GK110_BAR1_SIZE			0x10000000u
#define GK110_BAR3_SIZE			0x02000000u

/* PRMA: a second way to all registers of BAR0, for real-mode code. */
#define PRMA_BASE			0x007000
#define PRMA_SIZE			0x001000
#define PPWR_BASE			0x00c000	/* registers at 0xc800, 0xcc00: unknown */
#define PPWR_SIZE			0x001000
#define PCI_OTHER_BASE			0x010000	/* configuration of other PCI functions */
#define PCI_OTHER_SIZE			0x010000
/* a port to read and write the GPU's memory (gk110/bar.h) */
#define PEEPHOLE_BASE			0x060000
#define PEEPHOLE_SIZE			0x001000
#define HOST_FLUSH_BASE			0x070000
#define HOST_FLUSH_SIZE			0x001000
#define PVIDEO_BASE			0x084000	/* video falcons MSVLD, MSPDEC, MSPPP */
#define PVIDEO_SIZE			0x004000
#define PRMFB_BASE			0x0a0000	/* window to memory for legacy VGA */
#define PRMFB_SIZE			0x020000
/* PCODEC (audio codec) and PKFUSE (0x109000), by envytools docs/hw/mmio.rst. */
#define PCODEC_BASE			0x108000
#define PCODEC_SIZE			0x002000
#define PP2P_BASE			0x139000	/* windows into other GPUs' memory */
#define PP2P_SIZE			0x002000
#define PXBAR_BASE			0x13b000
#define PXBAR_SIZE			0x004000
#define PCOUNTER_BASE			0x180000
#define PCOUNTER_SIZE			0x040000
#define PFIFO_UNK1C0_BASE		0x1c0000
#define PFIFO_UNK1C0_SIZE		0x001000
#define PMSENC_BASE			0x1c2000
#define PMSENC_SIZE			0x001000
#define PRMIO_BASE			0x601000	/* VGA I/O ports, mapped into BAR0 */
#define PRMIO_SIZE			0x00f000
#define PDISP_BASE			0x610000
#define PDISP_SIZE			0x0b0000

#endif
