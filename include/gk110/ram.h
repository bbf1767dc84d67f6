/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structures in memory that PFIFO of GK110 reads and writes. A channel has an instance block, which
 * begins with RAMFC: the channel's state in a PBDMA, the unit that fetches and decodes pushbuffers.
 * The state is saved there while the channel is not loaded. USERD has the put and get pointers of
 * the GPFIFO, a ring of entries that point to pushbuffers. A runlist is a list of channels and
 * channel groups (TSGs) to schedule.
 *
 * Sources: nouveau nvkm/engine/fifo/{gk104,gk110}.c, rnndb
 * fifo/gf100_pfifo.xml (a RAMFC word is loaded into the PBDMA register with the same offset), nvgpu
 * gk20a hw_pbdma and hw_ram, NVIDIA classes/host/cla16f.h.
 */
#ifndef KVGPU_GK110_RAM_H
#define KVGPU_GK110_RAM_H

#include <linux/bitfield.h>
#include <linux/bits.h>

#include "gk110/layout.h"

/* Parts of an instance block: offsets and sizes in bytes. */
#define RAMIN_SIZE			0x1000
#define RAMIN_RAMFC			0x000
#define RAMIN_RAMFC_SIZE		0x100
#define RAMIN_CE_STATE			0x100
#define RAMIN_CE_STATE_SIZE		0x080
/*
 * address of the context image for GR, the graphics engine, low word first (nouveau
 * gk104_ectx_bind())
 */
#define RAMIN_GR_CTX			0x210
#define   RAMIN_CTX_TARGET		GENMASK(1, 0)
#define   RAMIN_CTX_VIRTUAL		BIT(2)
#define   RAMIN_CTX_ADDR_LO		GENMASK(31, 12)

/* Words of RAMFC: offsets in bytes from the start of the instance block, and fields. */
#define RAMFC_GP_PUT			0x00
#define RAMFC_USERD			0x08
/* 0 VRAM, 2 coherent, 3 non-coherent system memory */
#define   RAMFC_USERD_TARGET		GENMASK(1, 0)
#define   RAMFC_USERD_ADDR		GENMASK(31, 9)	/* bits 31:9 of the USERD's address */
#define RAMFC_USERD_HI			0x0c
#define   RAMFC_USERD_ADDR_HI		GENMASK(7, 0)
#define RAMFC_SIGNATURE			0x10
/* the chip checks that these bits are RAMFC_SIGNATURE_FACE (rnndb) */
#define   RAMFC_SIGNATURE_HW		GENMASK(15, 0)
#define     RAMFC_SIGNATURE_FACE	0xface
#define RAMFC_GP_GET			0x14
#define RAMFC_PB_GET			0x18
#define RAMFC_PB_GET_HI			0x1c
#define RAMFC_TOP_LEVEL_GET		0x20
#define RAMFC_TOP_LEVEL_GET_HI		0x24
#define   RAMFC_TOP_LEVEL_GET_VALID	BIT(31)
#define RAMFC_REF			0x28
#define RAMFC_ACQUIRE			0x30
#define   RAMFC_ACQUIRE_RETRY_MAN	GENMASK(6, 0)
#define   RAMFC_ACQUIRE_RETRY_EXP	GENMASK(10, 7)
#define   RAMFC_ACQUIRE_TIMEOUT_EXP	GENMASK(14, 11)
#define   RAMFC_ACQUIRE_TIMEOUT_MAN	GENMASK(30, 15)
#define   RAMFC_ACQUIRE_TIMEOUT_EN	BIT(31)
#define RAMFC_ACQUIRE_DEADLINE		0x34		/* as bits 41:10 of PTIMER's time */
#define RAMFC_SEMAPHORE_A		0x38
#define RAMFC_SEMAPHORE_B		0x3c
#define RAMFC_SEMAPHORE_C		0x40
#define RAMFC_SEMAPHORE_D		0x44
#define   RAMFC_SEMAPHORE_ACQ_PENDING	BIT(19)
#define RAMFC_GP_BASE			0x48
#define   RAMFC_GP_BASE_LO		GENMASK(31, 3)	/* bits 31:3 of the address */
#define RAMFC_GP_BASE_HI		0x4c
#define   RAMFC_GP_BASE_ADDR_HI		GENMASK(7, 0)
#define   RAMFC_GP_BASE_LIMIT2		GENMASK(20, 16)
#define RAMFC_GP_FETCH			0x50
#define RAMFC_PB_FETCH			0x54
#define RAMFC_PB_FETCH_HI		0x58
#define RAMFC_PB_PUT			0x5c
#define RAMFC_PB_PUT_HI			0x60
#define RAMFC_GP_CRC			0x74
#define RAMFC_PB_HEADER			0x84
#define   RAMFC_HEADER_PRIV		BIT(1)
#define   RAMFC_HEADER_METHOD		GENMASK(13, 2)	/* bits 13:2 of the method's offset */
#define   RAMFC_HEADER_SUBCH		GENMASK(18, 16)
#define   RAMFC_HEADER_LEVEL		BIT(20)
#define   RAMFC_HEADER_FIRST		BIT(22)
/* Kind of the pushbuffer header: 1 incrementing, 3 non-incrementing, 5 increment once. */
#define   RAMFC_HEADER_TYPE		GENMASK(31, 29)
#define RAMFC_PB_COUNT			0x88
#define   RAMFC_PB_COUNT_VALUE		GENMASK(12, 0)
#define RAMFC_SUBDEVICE			0x94
/* bits by which a mask in a pushbuffer selects this GPU, if GPUs share the pushbuffer (SLI) */
#define   RAMFC_SUBDEVICE_ID		GENMASK(11, 0)
/* the mask that a header PB_TERT0_STORE_MASK (gk110/push.h) has stored */
#define   RAMFC_SUBDEVICE_USER		GENMASK(27, 16)
/* 0: the mask that a header has set last has no bit of ID, and the PBDMA drops methods */
#define   RAMFC_SUBDEVICE_ACTIVE	BIT(28)
/* 1: pushbuffers may have headers with a mask, and ACTIVE has an effect. */
#define   RAMFC_SUBDEVICE_ENABLE	BIT(29)
#define RAMFC_PB_CRC			0x98
#define RAMFC_FORMATS			0x9c
/* formats of pushbuffer headers, by rnndb: 0 old, 1 new, 2 both */
#define   RAMFC_FORMATS_PB		GENMASK(9, 8)
#define RAMFC_MEM_OP_A			0xa0
#define RAMFC_TARGET			0xac
#define   RAMFC_TARGET_SW		0x1f
#define RAMFC_UNK_B8			0xb8		/* not documented */
#define RAMFC_METHOD_CRC		0xb0
/* The method at which the PBDMA has stalled (METHOD0), and its argument (DATA0). */
#define RAMFC_METHOD0			0xc0
#define RAMFC_DATA0			0xc4
/* flags of the current GPFIFO entry (rnndb IB_FLAGS) */
#define RAMFC_GP_FLAGS			0xe0
#define   RAMFC_GP_CONDITIONAL		BIT(0)
#define   RAMFC_GP_PRIV			BIT(2)
#define   RAMFC_GP_SUBROUTINE		BIT(3)
#define   RAMFC_GP_SYNC			BIT(4)
#define RAMFC_HCE_CTRL			0xe4
/* 1: the condition of the copy class's SET_RENDER_ENABLE (gk110/ce.h) is false (rnndb). */
#define   RAMFC_HCE_COND_OFF		BIT(2)
#define   RAMFC_HCE_PRIV_MODE		BIT(5)
#define RAMFC_CHID			0xe8
#define RAMFC_TIMESLICE			0xf8
#define RAMFC_PB_TIMESLICE		0xfc
/* Fields of TIMESLICE and PB_TIMESLICE: TIMEOUT << SCALE is the time slice, in units of 1024 ns. */
#define   RAMFC_TIMESLICE_TIMEOUT	GENMASK(7, 0)
#define   RAMFC_TIMESLICE_SCALE		GENMASK(15, 12)
#define   RAMFC_TIMESLICE_ENABLE	BIT(28)

/*
 * RAMFC words of a new channel (nouveau gk104_chan_ramfc_write()). RAMFC_ACQUIRE_INIT enables the
 * longest timeout of a semaphore acquire.
 */
#define RAMFC_ACQUIRE_INIT                                                                 \
	(FIELD_PREP(RAMFC_ACQUIRE_RETRY_MAN, 2) | FIELD_PREP(RAMFC_ACQUIRE_RETRY_EXP, 2) | \
	 FIELD_PREP(RAMFC_ACQUIRE_TIMEOUT_EXP, 15) |                                       \
	 FIELD_PREP(RAMFC_ACQUIRE_TIMEOUT_MAN, 0xffff) | RAMFC_ACQUIRE_TIMEOUT_EN)
#define RAMFC_HEADER_INIT		(FIELD_PREP(RAMFC_HEADER_TYPE, 1) | RAMFC_HEADER_FIRST)
#define RAMFC_SUBDEVICE_INIT		(RAMFC_SUBDEVICE_ENABLE | RAMFC_SUBDEVICE_ACTIVE)
#define RAMFC_FORMATS_INIT		FIELD_PREP(RAMFC_FORMATS_PB, 1)
#define RAMFC_UNK_B8_INIT		0xf8000000
#define RAMFC_TIMESLICE_INIT                                                               \
	(FIELD_PREP(RAMFC_TIMESLICE_TIMEOUT, 128) | FIELD_PREP(RAMFC_TIMESLICE_SCALE, 3) | \
	 RAMFC_TIMESLICE_ENABLE)
#define RAMFC_PB_TIMESLICE_INIT (FIELD_PREP(RAMFC_TIMESLICE_TIMEOUT, 16) | RAMFC_TIMESLICE_ENABLE)

/* Words of USERD: offsets in bytes (cla16f.h, DMA flow control structure). */
#define USERD_SIZE			0x200
#define USERD_PUT			0x40
#define USERD_GET			0x44
#define USERD_REF			0x48
#define USERD_PUT_HI			0x4c
#define USERD_TOP_LEVEL_GET		0x58
#define USERD_TOP_LEVEL_GET_HI		0x5c
#define USERD_GET_HI			0x60
#define USERD_GP_GET			0x88
#define USERD_GP_PUT			0x8c

/* Size of a GPFIFO entry in bytes, and the fields of its words 0 and 1 (cla16f.h). */
#define GP_ENTRY_SIZE			8
#define GP_ENTRY0_CONDITIONAL		BIT(0)
#define GP_ENTRY0_GET			GENMASK(31, 2)	/* bits 31:2 of the pushbuffer's address */
#define GP_ENTRY1_GET_HI		GENMASK(7, 0)
#define GP_ENTRY1_OPCODE		GENMASK(7, 0)	/* instead of GET_HI if LENGTH is 0 */
#define   GP_OPCODE_NOP			0
#define   GP_OPCODE_ILLEGAL		1
#define   GP_OPCODE_GP_CRC		2
#define   GP_OPCODE_PB_CRC		3
#define GP_ENTRY1_PRIV			BIT(8)
#define GP_ENTRY1_SUBROUTINE		BIT(9)
#define GP_ENTRY1_LENGTH		GENMASK(30, 10)	/* of the pushbuffer, in words */
#define GP_ENTRY1_SYNC			BIT(31)

/*
 * Size of a runlist entry in bytes, and the fields of its first word. The second word is 0 (nouveau
 * gk104_runl_insert_chan(), gk110_runl_insert_cgrp()). RUNLIST_TSG 1: ID is a TSG's; 0: a
 * channel's, and the other fields are 0.
 */
#define RUNLIST_ENTRY_SIZE		8
#define RUNLIST_ID			GENMASK(11, 0)
#define RUNLIST_TSG			BIT(13)
#define RUNLIST_TSG_SCALE		GENMASK(17, 14)
/* The time slice of the TSG is TIMEOUT << SCALE, in units of 1024 ns. */
#define RUNLIST_TSG_TIMEOUT		GENMASK(25, 18)
/* Number of channels in the TSG. Their entries follow the entry of the TSG. */
#define RUNLIST_TSG_COUNT		GENMASK(31, 26)

LAYOUT_DISJOINT(RAMIN_CTX_TARGET, RAMIN_CTX_VIRTUAL, RAMIN_CTX_ADDR_LO);
LAYOUT_DISJOINT(RAMFC_USERD_TARGET, RAMFC_USERD_ADDR);
LAYOUT_DISJOINT(RAMFC_ACQUIRE_RETRY_MAN, RAMFC_ACQUIRE_RETRY_EXP, RAMFC_ACQUIRE_TIMEOUT_EXP,
		RAMFC_ACQUIRE_TIMEOUT_MAN, RAMFC_ACQUIRE_TIMEOUT_EN);
LAYOUT_DISJOINT(RAMFC_GP_BASE_ADDR_HI, RAMFC_GP_BASE_LIMIT2);
LAYOUT_DISJOINT(RAMFC_HEADER_PRIV, RAMFC_HEADER_METHOD, RAMFC_HEADER_SUBCH, RAMFC_HEADER_LEVEL,
		RAMFC_HEADER_FIRST, RAMFC_HEADER_TYPE);
LAYOUT_DISJOINT(RAMFC_SUBDEVICE_ID, RAMFC_SUBDEVICE_USER, RAMFC_SUBDEVICE_ACTIVE,
		RAMFC_SUBDEVICE_ENABLE);
LAYOUT_DISJOINT(RAMFC_GP_CONDITIONAL, RAMFC_GP_PRIV, RAMFC_GP_SUBROUTINE, RAMFC_GP_SYNC);
LAYOUT_DISJOINT(RAMFC_HCE_COND_OFF, RAMFC_HCE_PRIV_MODE);
LAYOUT_DISJOINT(RAMFC_TIMESLICE_TIMEOUT, RAMFC_TIMESLICE_SCALE, RAMFC_TIMESLICE_ENABLE);
LAYOUT_DISJOINT(GP_ENTRY0_CONDITIONAL, GP_ENTRY0_GET);
LAYOUT_DISJOINT(GP_ENTRY1_GET_HI, GP_ENTRY1_PRIV, GP_ENTRY1_SUBROUTINE, GP_ENTRY1_LENGTH,
		GP_ENTRY1_SYNC);
LAYOUT_DISJOINT(RUNLIST_ID, RUNLIST_TSG, RUNLIST_TSG_SCALE, RUNLIST_TSG_TIMEOUT, RUNLIST_TSG_COUNT);
LAYOUT_FITS(RAMFC_SIGNATURE_HW, RAMFC_SIGNATURE_FACE);
LAYOUT_FITS(GP_ENTRY1_OPCODE, GP_OPCODE_PB_CRC);
/* the address space (gk110/mmu.h) is at 0x200-0x20f */
static_assert(RAMIN_RAMFC + RAMIN_RAMFC_SIZE <= RAMIN_CE_STATE &&
		      RAMIN_CE_STATE + RAMIN_CE_STATE_SIZE <= 0x200 && RAMIN_GR_CTX >= 0x210 &&
		      RAMIN_GR_CTX + 8 <= RAMIN_SIZE,
	      "parts of an instance block overlap");
static_assert(RAMFC_PB_TIMESLICE + 4 <= RAMIN_RAMFC_SIZE, "RAMFC ends in the middle of its words");
static_assert(RAMFC_USERD_HI == RAMFC_USERD + 4 && RAMFC_PB_GET_HI == RAMFC_PB_GET + 4 &&
		      RAMFC_GP_BASE_HI == RAMFC_GP_BASE + 4 &&
		      RAMFC_TOP_LEVEL_GET_HI == RAMFC_TOP_LEVEL_GET + 4 &&
		      RAMFC_PB_FETCH_HI == RAMFC_PB_FETCH + 4 &&
		      RAMFC_PB_PUT_HI == RAMFC_PB_PUT + 4 && RAMFC_DATA0 == RAMFC_METHOD0 + 4,
	      "pairs of words");
static_assert(USERD_GP_PUT == USERD_GP_GET + 4 && USERD_GP_PUT + 4 <= USERD_SIZE &&
		      USERD_GET == USERD_PUT + 4,
	      "words of USERD");
static_assert(!(USERD_SIZE & (USERD_SIZE - 1)) && LAYOUT_LOWEST(RAMFC_USERD_ADDR) == USERD_SIZE,
	      "RAMFC names a USERD by its place among others of its size");
static_assert(GP_ENTRY_SIZE == 8 && RUNLIST_ENTRY_SIZE == 8, "two words each");

#endif
