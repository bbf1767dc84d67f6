/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Headers in pushbuffers, and the methods that PFIFO itself executes.
 *
 * Sources: NVIDIA open-gpu-doc classes/host/cla16f.h and cla06f.h, envytools
 * docs/hw/fifo/dma-pusher.rst (GF100 commands).
 */
#ifndef KVGPU_GK110_PUSH_H
#define KVGPU_GK110_PUSH_H

#include <linux/bits.h>

#include "gk110/layout.h"

/* The two classes of channels. */
#define KEPLER_CHANNEL_GPFIFO_A		0xa06f
#define KEPLER_CHANNEL_GPFIFO_B		0xa16f

/*
 * Fields of a header, the word in front of the data of methods. PB_SEC_OP is its kind. Headers of
 * the kinds TERT0 and TERT2 also have PB_TERT_OP. TERT0_INC and TERT2_NON_INC have the old format,
 * with the fields _OLD. SET_MASK sets the mask in PB_SUBDEVICE_MASK, STORE_MASK only stores it, and
 * USE_MASK sets the stored mask. Of the GPUs that share a pushbuffer (SLI), a mask selects those
 * whose RAMFC_SUBDEVICE_ID (gk110/ram.h) has a bit of the mask.
 */
#define PB_SEC_OP			GENMASK(31, 29)
#define   PB_SEC_TERT0			0
#define   PB_SEC_INC			1
#define   PB_SEC_TERT2			2
#define   PB_SEC_NON_INC		3
#define   PB_SEC_IMMD			4
#define   PB_SEC_ONE_INC		5
#define   PB_SEC_RESERVED		6
#define   PB_SEC_END_SEGMENT		7
#define PB_COUNT			GENMASK(28, 16)
#define PB_IMMD_DATA			GENMASK(28, 16)
#define PB_SUBCH			GENMASK(15, 13)
#define PB_METHOD			GENMASK(11, 0)	/* offset of the method >> 2 */
#define PB_TERT_OP			GENMASK(17, 16)	/* PB_SEC_TERT0 and _TERT2 only */
#define   PB_TERT0_INC			0
#define   PB_TERT0_SET_MASK		1
#define   PB_TERT0_STORE_MASK		2
#define   PB_TERT0_USE_MASK		3
#define   PB_TERT2_NON_INC		0
#define PB_COUNT_OLD			GENMASK(28, 18)
#define PB_METHOD_OLD			GENMASK(12, 2)	/* bits 12:2 of the method's offset */
#define PB_SUBDEVICE_MASK		GENMASK(15, 4)

/*
 * Subchannels, values of PB_SUBCH. 0 to 4 have an engine each, 5 to 7 are for software
 * (gk110/facts.md).
 */
#define SUBCH_3D			0
#define SUBCH_COMPUTE			1
#define SUBCH_INLINE			2
#define SUBCH_2D			3
#define SUBCH_COPY			4
#define SUBCH_SW			5		/* and 6 and 7 */

/*
 * PFIFO itself executes the methods below this offset, on every subchannel. NVIDIA calls this part
 * of PFIFO host.
 */
#define HOST_METHOD_END			0x100

#define HOST_SET_OBJECT			0x00
#define   HOST_OBJECT_CLASS		GENMASK(15, 0)
#define   HOST_OBJECT_ENGINE		GENMASK(20, 16)
#define     HOST_OBJECT_ENGINE_SW	0x1f
#define HOST_ILLEGAL			0x04
#define HOST_NOP			0x08
#define HOST_SEMAPHORE_A		0x10
#define   HOST_SEMAPHORE_UPPER		GENMASK(7, 0)
#define HOST_SEMAPHORE_B		0x14
#define   HOST_SEMAPHORE_LOWER		GENMASK(31, 2)	/* bits 31:2 of the address */
#define HOST_SEMAPHORE_C		0x18
#define HOST_SEMAPHORE_D		0x1c
#define   HOST_SEMAPHORE_OP		GENMASK(4, 0)
#define     HOST_SEMAPHORE_ACQUIRE	0x01
#define     HOST_SEMAPHORE_RELEASE	0x02
#define     HOST_SEMAPHORE_ACQ_GEQ	0x04
#define     HOST_SEMAPHORE_ACQ_AND	0x08
#define     HOST_SEMAPHORE_REDUCTION	0x10		/* class A16F only */
#define   HOST_SEMAPHORE_SWITCH		BIT(12)
#define   HOST_SEMAPHORE_WFI_DIS	BIT(20)
#define   HOST_SEMAPHORE_4BYTE		BIT(24)
#define   HOST_SEMAPHORE_RED_OP		GENMASK(30, 27)
#define     HOST_RED_MIN		0
#define     HOST_RED_MAX		1
#define     HOST_RED_XOR		2
#define     HOST_RED_AND		3
#define     HOST_RED_OR			4
#define     HOST_RED_ADD		5
#define     HOST_RED_INC		6
#define     HOST_RED_DEC		7
#define   HOST_SEMAPHORE_UNSIGNED	BIT(31)
#define HOST_NON_STALL_INTERRUPT	0x20
#define HOST_FB_FLUSH			0x24
#define HOST_MEM_OP_A			0x28
#define   HOST_MEM_OP_TLB_ADDR		GENMASK(29, 2)	/* page directory's address >> 12 */
/* 0 VRAM, 2 coherent, 3 non-coherent system memory */
#define   HOST_MEM_OP_TLB_TARGET	GENMASK(31, 30)
#define HOST_MEM_OP_B			0x2c
#define   HOST_MEM_OP_OPERATION		GENMASK(31, 27)
#define     HOST_MEM_OP_SYSMEMBAR	0x05
#define     HOST_MEM_OP_SOFT_FLUSH	0x06
#define     HOST_MEM_OP_TLB_INVALIDATE	0x09
#define     HOST_MEM_OP_L2_PEER_INV	0x0d
#define     HOST_MEM_OP_L2_SYS_INV	0x0e
#define     HOST_MEM_OP_L2_CLEAN_TAGS	0x0f
#define     HOST_MEM_OP_L2_FLUSH_DIRTY	0x10
#define   HOST_MEM_OP_TLB_ALL_PDB	BIT(0)
#define   HOST_MEM_OP_TLB_HUB_ONLY	BIT(1)
#define HOST_SET_REFERENCE		0x50
#define HOST_WFI			0x78		/* class A16F only */
#define HOST_CRC_CHECK			0x7c
#define HOST_YIELD			0x80
#define   HOST_YIELD_OP			GENMASK(1, 0)
#define     HOST_YIELD_NOP		0

LAYOUT_DISJOINT(PB_SEC_OP, PB_COUNT, PB_SUBCH, PB_METHOD);
LAYOUT_DISJOINT(PB_SEC_OP, PB_IMMD_DATA, PB_SUBCH, PB_METHOD);
LAYOUT_DISJOINT(PB_SEC_OP, PB_COUNT_OLD, PB_TERT_OP, PB_SUBCH, PB_METHOD_OLD);
LAYOUT_DISJOINT(PB_SEC_OP, PB_TERT_OP, PB_SUBDEVICE_MASK);
LAYOUT_DISJOINT(HOST_OBJECT_CLASS, HOST_OBJECT_ENGINE);
LAYOUT_DISJOINT(HOST_SEMAPHORE_OP, HOST_SEMAPHORE_SWITCH, HOST_SEMAPHORE_WFI_DIS,
		HOST_SEMAPHORE_4BYTE, HOST_SEMAPHORE_RED_OP, HOST_SEMAPHORE_UNSIGNED);
LAYOUT_DISJOINT(HOST_MEM_OP_TLB_ADDR, HOST_MEM_OP_TLB_TARGET);
LAYOUT_DISJOINT(HOST_MEM_OP_OPERATION, HOST_MEM_OP_TLB_ALL_PDB, HOST_MEM_OP_TLB_HUB_ONLY);
LAYOUT_FITS(PB_SEC_OP, PB_SEC_END_SEGMENT);
LAYOUT_FITS(PB_SUBCH, SUBCH_SW);
LAYOUT_FITS(PB_TERT_OP, PB_TERT0_USE_MASK);
LAYOUT_FITS(HOST_OBJECT_CLASS, KEPLER_CHANNEL_GPFIFO_B);
LAYOUT_FITS(HOST_OBJECT_ENGINE, HOST_OBJECT_ENGINE_SW);
LAYOUT_FITS(HOST_SEMAPHORE_OP, HOST_SEMAPHORE_REDUCTION);
LAYOUT_FITS(HOST_SEMAPHORE_RED_OP, HOST_RED_DEC);
LAYOUT_FITS(HOST_MEM_OP_OPERATION, HOST_MEM_OP_L2_FLUSH_DIRTY);
LAYOUT_WIDTH(HOST_SEMAPHORE_UPPER, 8);
LAYOUT_WIDTH(HOST_MEM_OP_TLB_ADDR, 28);		/* enough for any page in 40 bits */
static_assert(HOST_SEMAPHORE_B == HOST_SEMAPHORE_A + 4 &&
		      HOST_SEMAPHORE_C == HOST_SEMAPHORE_B + 4 &&
		      HOST_SEMAPHORE_D == HOST_SEMAPHORE_C + 4,
	      "a semaphore's four methods follow each other");
static_assert(HOST_YIELD < HOST_METHOD_END && HOST_METHOD_END >> 2 <= PB_METHOD,
	      "PFIFO's own methods");

#endif
