/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Methods of the classes that the tests drive, and the pushbuffer format, from NVIDIA's class
 * headers, apart from the model's encodings: so a slip in one of the two shows.
 */
#ifndef KVGPU_SELFTESTS_METHODS_H
#define KVGPU_SELFTESTS_METHODS_H

#include <stdint.h>

#define CLASS_COPY    0xa0b5
#define CLASS_COMPUTE 0xa1c0
#define CLASS_INLINE  0xa140
#define CLASS_3D      0xa197
#define CLASS_2D      0x902d

/* fixed by the chip (gk110/facts.md) */
enum subchannel {
	SUBC_3D = 0,
	SUBC_COMPUTE = 1,
	SUBC_INLINE = 2,
	SUBC_2D = 3,
	SUBC_COPY = 4,
	SUBC_HOST = 0
};

/* pushbuffer headers (cla16f.h NVA16F_DMA_*) */
#define PB_OP_INC	1u
#define PB_OP_NONINC	3u
#define PB_OP_IMMEDIATE 4u
#define PB_OP_ONEINC	5u
#define PB_MAX_COUNT	0x1fffu

static inline uint32_t pb_header(uint32_t op, uint32_t subc, uint32_t mthd, uint32_t count)
{
	return op << 29 | count << 16 | subc << 13 | mthd >> 2;
}

/* any class */
#define SET_OBJECT 0x0000

/* host, valid on every subchannel (cla16f.h) */
#define HOST_NOP		 0x0008
#define HOST_SEMAPHORE_A	 0x0010 /* address high, low, payload, operation */
#define HOST_SEMAPHORE_D	 0x001c
#define SEMAPHORE_ACQUIRE	 0x1u
#define SEMAPHORE_RELEASE	 0x2u
#define SEMAPHORE_ACQUIRE_GEQ	 0x4u
#define SEMAPHORE_ACQUIRE_AND	 0x8u
#define SEMAPHORE_SWITCH	 (1u << 12)
#define SEMAPHORE_NO_WFI	 (1u << 20)
#define SEMAPHORE_4BYTE		 (1u << 24)
#define HOST_NON_STALL_INTERRUPT 0x0020
#define HOST_FB_FLUSH		 0x0024
#define HOST_MEM_OP_A		 0x0028
#define HOST_MEM_OP_B		 0x002c
#define MEM_OP_SYSMEMBAR	 (0x05u << 27)
#define MEM_OP_TLB_INVALIDATE	 (0x09u << 27)
#define MEM_OP_TLB_ALL_PDB	 0x1u
#define HOST_SET_REFERENCE	 0x0050
#define HOST_WFI		 0x0078
#define HOST_YIELD		 0x0080

/* copy engine (cla0b5.h) */
#define CE_SEMAPHORE_A	      0x0240 /* high, low, payload */
#define CE_SRC_PHYS_MODE      0x0260
#define CE_DST_PHYS_MODE      0x0264
#define CE_PHYS_VRAM	      0u
#define CE_PHYS_COHERENT      1u
#define CE_PHYS_NONCOHERENT   2u
#define CE_LAUNCH_DMA	      0x0300
#define CE_PIPELINED	      0x1u
#define CE_NON_PIPELINED      0x2u
#define CE_FLUSH	      0x4u
#define CE_RELEASE_ONE_WORD   (1u << 3)
#define CE_RELEASE_FOUR_WORDS (2u << 3)
#define CE_SRC_PITCH	      (1u << 7)
#define CE_DST_PITCH	      (1u << 8)
#define CE_MULTI_LINE	      (1u << 9)
#define CE_REMAP	      (1u << 10)
#define CE_SRC_PHYSICAL	      (1u << 12)
#define CE_DST_PHYSICAL	      (1u << 13)
/* in high, in low, out high, out low, pitch in, out, line length, line count */
#define CE_OFFSET_IN	     0x0400
#define CE_REMAP_CONST_A     0x0700 /* A, B, components */
#define CE_REMAP_CONST_A_SEL 4u
#define CE_REMAP_CONST_B_SEL 5u
#define CE_REMAP_NO_WRITE    6u
#define CE_DST_BLOCK_SIZE    0x070c /* block size, width, height, depth, layer, origin */
#define CE_SRC_BLOCK_SIZE    0x0728
#define CE_GOB_HEIGHT_8	     (1u << 12)

/* inline to memory: classes a140 (cla140.h), a1c0 and a197 have the same block */
#define I2M_LINE_LENGTH	    0x0180 /* line length, line count, address high, low, pitch */
#define I2M_LINE_COUNT	    0x0184
#define I2M_OFFSET_OUT_HIGH 0x0188
#define I2M_PITCH_OUT	    0x0190
#define I2M_LAUNCH	    0x01b0
#define I2M_PITCH	    0x0001u
#define I2M_FLUSH	    0x0010u
#define I2M_RELEASE	    0x0020u
#define I2M_ONE_WORD	    0x1000u
#define I2M_DATA	    0x01b4
#define I2M_SEMAPHORE_A	    0x01dc /* high, low, payload */
#define GR_WAIT_FOR_IDLE    0x0110

/* compute (cla1c0.h) */
#define COMPUTE_SEND_PCAS_A	 0x02b4
#define COMPUTE_SIGNALING_PCAS	 0x02bc
#define PCAS_INVALIDATE		 0x1u
#define PCAS_SCHEDULE		 0x2u
#define COMPUTE_PROGRAM_REGION	 0x1608 /* high, low */
#define COMPUTE_REPORT_SEMAPHORE 0x1b00 /* high, low, payload, operation */
#define REPORT_ONE_WORD		 (1u << 28)

#endif
