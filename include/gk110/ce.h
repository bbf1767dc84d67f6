/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copy engines (CE) of GK110: registers of the three engines, and the methods of the copy class
 * A0B5, by which hw/copy.c copies. The CUDA library's list is cuda/kepler/device/methods.h. "The
 * model" is gpu-model/, the program that acts as a K20m in tests.
 *
 * Sources: rnndb fifo/pcopy.xml, fifo/gk104_copy.xml, fifo/gf100_pfifo.xml (COPY_STATE); nouveau
 * nvkm/engine/ce/gk104.c; NVIDIA open-gpu-doc classes/dma-copy/cla0b5.h.
 */
#ifndef KVGPU_GK110_CE_H
#define KVGPU_GK110_CE_H

#include <linux/bits.h>

#include "gk110/layout.h"

#define GK110_CE_NR			3
#define GK110_CE_BASE			0x104000
#define GK110_CE_STRIDE			0x1000
#define GK110_CE(i)			(GK110_CE_BASE + GK110_CE_STRIDE * (i))

/*
 * Offsets from GK110_CE(i). Sources: rnndb pcopy.xml (0x904, 0x908), nouveau ce/gk104.c (all
 * three).
 */
#define GK110_CE_INTR_EN		0x904
#define GK110_CE_INTR			0x908	/* write 1 to clear */
#define   GK110_CE_INTR_BLOCKPIPE	BIT(0)
#define   GK110_CE_INTR_NONBLOCKPIPE	BIT(1)
#define   GK110_CE_INTR_LAUNCHERR	BIT(2)
#define   GK110_CE_INTR_MASK		GENMASK(2, 0)
#define GK110_CE_LAUNCHERR		0xf14
#define   GK110_CE_LAUNCHERR_CODE	GENMASK(3, 0)

enum gk110_ce_launcherr {
	CE_NO_ERR = 0x0,
	CE_2D_LAYER_EXCEEDS_DEPTH = 0x1,
	CE_INVALID_ARGUMENT = 0x2,
	CE_MEM2MEM_RECT_OUT_OF_BOUNDS = 0x3,
	CE_SRC_LINE_EXCEEDS_PITCH = 0x4,
	CE_SRC_LINE_EXCEEDS_NEG_PITCH = 0x5,
	CE_DST_LINE_EXCEEDS_PITCH = 0x6,
	CE_DST_LINE_EXCEEDS_NEG_PITCH = 0x7,
	CE_BAD_SRC_PIXEL_COMP_REF = 0x8,
	CE_INVALID_VALUE = 0x9,
	CE_UNUSED_FIELD = 0xa,
	CE_INVALID_OPERATION = 0xb,
};

/* Methods of the class KEPLER_DMA_COPY_A: cla0b5.h, rnndb gk104_copy.xml. */
#define A0B5_CLASS			0xa0b5

#define A0B5_NOP			0x0100
#define A0B5_PM_TRIGGER			0x0140
#define A0B5_SET_SEMAPHORE_A		0x0240
/* Upper 8 of the 40 bits of an address. */
#define   A0B5_ADDRESS_UPPER		GENMASK(7, 0)
#define A0B5_SET_SEMAPHORE_B		0x0244
#define A0B5_SET_SEMAPHORE_PAYLOAD	0x0248
#define A0B5_SET_RENDER_ENABLE_A	0x0254
#define A0B5_SET_RENDER_ENABLE_B	0x0258
#define A0B5_SET_RENDER_ENABLE_C	0x025c
#define   A0B5_RENDER_MODE		GENMASK(2, 0)
#define     A0B5_RENDER_FALSE		0
#define     A0B5_RENDER_TRUE		1
/*
 * SET_RENDER_ENABLE_A and _B name a report of 16 bytes: counter, result, time. CONDITIONAL: a
 * launch copies only if the result is not 0 (rnndb g80_cond_mode).
 */
#define     A0B5_RENDER_CONDITIONAL	2
/*
 * IF_EQUAL: a launch copies if the report and the next one in memory have the same counter and
 * result. IF_NOT_EQUAL: if one of the two differs.
 */
#define     A0B5_RENDER_IF_EQUAL	3
#define     A0B5_RENDER_IF_NOT_EQUAL	4
#define A0B5_SET_SRC_PHYS_MODE		0x0260
#define A0B5_SET_DST_PHYS_MODE		0x0264
#define   A0B5_PHYS_TARGET		GENMASK(1, 0)
#define     A0B5_PHYS_LOCAL_FB		0
#define     A0B5_PHYS_COHERENT		1
#define     A0B5_PHYS_NONCOHERENT	2
#define A0B5_LAUNCH_DMA			0x0300
#define   A0B5_LAUNCH_TRANSFER		GENMASK(1, 0)
#define     A0B5_TRANSFER_NONE		0
#define     A0B5_TRANSFER_PIPELINED	1
#define     A0B5_TRANSFER_NON_PIPELINED	2
#define   A0B5_LAUNCH_FLUSH		BIT(2)
#define   A0B5_LAUNCH_SEMAPHORE		GENMASK(4, 3)
#define     A0B5_SEMAPHORE_NONE		0
#define     A0B5_SEMAPHORE_ONE_WORD	1
#define     A0B5_SEMAPHORE_FOUR_WORD	2
#define   A0B5_LAUNCH_INTERRUPT		GENMASK(6, 5)
#define     A0B5_INTERRUPT_NONE		0
#define     A0B5_INTERRUPT_BLOCKING	1
#define     A0B5_INTERRUPT_NON_BLOCKING	2
#define   A0B5_LAUNCH_SRC_PITCH		BIT(7)
#define   A0B5_LAUNCH_DST_PITCH		BIT(8)
#define   A0B5_LAUNCH_MULTI_LINE	BIT(9)
#define   A0B5_LAUNCH_REMAP		BIT(10)
#define   A0B5_LAUNCH_BYPASS_L2		BIT(11)
#define   A0B5_LAUNCH_SRC_PHYSICAL	BIT(12)
#define   A0B5_LAUNCH_DST_PHYSICAL	BIT(13)
#define   A0B5_LAUNCH_REDUCTION		GENMASK(17, 14)
#define     A0B5_REDUCTION_IMIN		0x0
#define     A0B5_REDUCTION_IMAX		0x1
#define     A0B5_REDUCTION_IXOR		0x2
#define     A0B5_REDUCTION_IAND		0x3
#define     A0B5_REDUCTION_IOR		0x4
#define     A0B5_REDUCTION_IADD		0x5
#define     A0B5_REDUCTION_INC		0x6
#define     A0B5_REDUCTION_DEC		0x7
#define     A0B5_REDUCTION_FADD		0xa
#define     A0B5_REDUCTION_FMIN		0xb
#define     A0B5_REDUCTION_FMAX		0xc
#define     A0B5_REDUCTION_FMUL		0xd
#define     A0B5_REDUCTION_IMUL		0xe
#define   A0B5_LAUNCH_REDUCTION_UNSIGNED BIT(18)
#define   A0B5_LAUNCH_REDUCTION_ENABLE	BIT(19)
#define   A0B5_LAUNCH_UNUSED		GENMASK(31, 20)
#define A0B5_OFFSET_IN_UPPER		0x0400
#define A0B5_OFFSET_IN_LOWER		0x0404
#define A0B5_OFFSET_OUT_UPPER		0x0408
#define A0B5_OFFSET_OUT_LOWER		0x040c
#define A0B5_PITCH_IN			0x0410
#define A0B5_PITCH_OUT			0x0414
#define A0B5_LINE_LENGTH_IN		0x0418
#define A0B5_LINE_COUNT			0x041c
#define A0B5_SET_REMAP_CONST_A		0x0700
#define A0B5_SET_REMAP_CONST_B		0x0704
#define A0B5_SET_REMAP_COMPONENTS	0x0708
/* where destination component i (0: X, 1: Y, 2: Z, 3: W) takes its value from */
#define   A0B5_REMAP_DST(i)		(GENMASK(2, 0) << (4 * (i)))
#define     A0B5_REMAP_SRC_X		0	/* source component X; 1, 2, 3: Y, Z, W */
#define     A0B5_REMAP_CONST_A		4
#define     A0B5_REMAP_CONST_B		5
#define     A0B5_REMAP_NO_WRITE		6
#define   A0B5_REMAP_COMPONENT_SIZE	GENMASK(17, 16)	/* of one component, bytes minus 1 */
#define   A0B5_REMAP_NUM_SRC		GENMASK(21, 20)	/* components, minus 1 */
#define   A0B5_REMAP_NUM_DST		GENMASK(25, 24)	/* components, minus 1 */
#define A0B5_SET_DST_BLOCK_SIZE		0x070c
#define A0B5_SET_SRC_BLOCK_SIZE		0x0728
#define   A0B5_BLOCK_WIDTH		GENMASK(3, 0)
#define     A0B5_BLOCK_WIDTH_ONE_GOB	0x0
#define     A0B5_BLOCK_WIDTH_QUARTER	0xe
/* log2 of the block's height, depth in GOBs, the smallest tiles of a surface (CE_GOB_WIDTH) */
#define   A0B5_BLOCK_HEIGHT		GENMASK(7, 4)
#define   A0B5_BLOCK_DEPTH		GENMASK(11, 8)
#define     A0B5_BLOCK_LOG2_MAX		5
#define   A0B5_BLOCK_GOB_HEIGHT		GENMASK(15, 12)
#define     A0B5_GOB_HEIGHT_TESLA_4	0
#define     A0B5_GOB_HEIGHT_FERMI_8	1
#define A0B5_SET_DST_WIDTH		0x0710
#define A0B5_SET_DST_HEIGHT		0x0714
#define A0B5_SET_DST_DEPTH		0x0718
#define A0B5_SET_DST_LAYER		0x071c
#define A0B5_SET_DST_ORIGIN		0x0720
#define A0B5_SET_SRC_WIDTH		0x072c
#define A0B5_SET_SRC_HEIGHT		0x0730
#define A0B5_SET_SRC_DEPTH		0x0734
#define A0B5_SET_SRC_LAYER		0x0738
#define A0B5_SET_SRC_ORIGIN		0x073c
#define   A0B5_ORIGIN_X			GENMASK(15, 0)
#define   A0B5_ORIGIN_Y			GENMASK(31, 16)
#define A0B5_PM_TRIGGER_END		0x1114
/* end of the range that holds all methods whose data is kept (enum gk110_ce_state) */
#define A0B5_MTHD_END			0x0740

/*
 * Words of a channel's method state: the data of its copy methods, at 0x100-0x17f of the instance
 * block, and at PBDMA_CE_STATE while the channel is loaded. Order: rnndb gf100_pfifo.xml
 * COPY_STATE.
 */
enum gk110_ce_state {
	CE_SEMAPHORE_A, CE_SEMAPHORE_B, CE_SEMAPHORE_PAYLOAD,
	CE_RENDER_A, CE_RENDER_B, CE_RENDER_C,
	CE_SRC_PHYS, CE_DST_PHYS,
	CE_IN_UPPER, CE_IN_LOWER, CE_OUT_UPPER, CE_OUT_LOWER,
	CE_PITCH_IN, CE_PITCH_OUT, CE_LINE_LENGTH, CE_LINE_COUNT,
	CE_SRC_SURFACE,			/* CE_SURF_WORDS words */
	CE_DST_SURFACE = CE_SRC_SURFACE + 6,
	CE_LAUNCH = CE_DST_SURFACE + 6,
	CE_CONST_A, CE_CONST_B, CE_COMPONENTS,
	CE_STATE_WORDS
};

/*
 * Order of the words that describe a block-linear surface, in the method state and in the methods.
 */
enum gk110_ce_surface {
	CE_SURF_BLOCK,
	CE_SURF_WIDTH,
	CE_SURF_HEIGHT,
	CE_SURF_DEPTH,
	CE_SURF_LAYER,
	CE_SURF_ORIGIN,
	CE_SURF_WORDS
};

/*
 * The model's mark that SET_RENDER_ENABLE_C was given, so that a mode FALSE, which is 0, differs
 * from no mode. A channel without a mode copies: nouveau leaves the method state 0
 * (gk104_chan_ramfc_write()). The chip's way is not public.
 */
#define CE_RENDER_C_SET			BIT(30)

/*
 * Line and position in it at which a preempted copy goes on (RESUME 1). Where the chip keeps them
 * is not public. The model keeps them in bits of the method state that no method sets, so that they
 * are saved with the instance block.
 */
#define CE_RENDER_C_RESUME		BIT(31)
#define CE_RENDER_C_RESUME_LINE_HI	GENMASK(4, 3)
#define CE_RENDER_C_RESUME_X_HI		GENMASK(10, 5)
#define CE_SRC_PHYS_RESUME_LINE_LO	GENMASK(31, 2)
#define CE_DST_PHYS_RESUME_X_LO		GENMASK(31, 2)

/*
 * A GOB is the smallest tile of a block-linear surface (envytools g80-surface.rst, Mesa
 * nil/tiling.rs).
 */
#define CE_GOB_WIDTH			64	/* bytes */
#define CE_VA_BITS			40

LAYOUT_DISJOINT(GK110_CE_INTR_BLOCKPIPE, GK110_CE_INTR_NONBLOCKPIPE, GK110_CE_INTR_LAUNCHERR);
static_assert(GK110_CE_INTR_MASK == (GK110_CE_INTR_BLOCKPIPE | GK110_CE_INTR_NONBLOCKPIPE |
				     GK110_CE_INTR_LAUNCHERR),
	      "all of them");
LAYOUT_DISJOINT(A0B5_LAUNCH_TRANSFER, A0B5_LAUNCH_FLUSH, A0B5_LAUNCH_SEMAPHORE,
		A0B5_LAUNCH_INTERRUPT, A0B5_LAUNCH_SRC_PITCH, A0B5_LAUNCH_DST_PITCH,
		A0B5_LAUNCH_MULTI_LINE, A0B5_LAUNCH_REMAP, A0B5_LAUNCH_BYPASS_L2,
		A0B5_LAUNCH_SRC_PHYSICAL, A0B5_LAUNCH_DST_PHYSICAL, A0B5_LAUNCH_REDUCTION,
		A0B5_LAUNCH_REDUCTION_UNSIGNED, A0B5_LAUNCH_REDUCTION_ENABLE, A0B5_LAUNCH_UNUSED);
LAYOUT_DISJOINT(A0B5_REMAP_DST(0), A0B5_REMAP_DST(1), A0B5_REMAP_DST(2), A0B5_REMAP_DST(3),
		A0B5_REMAP_COMPONENT_SIZE, A0B5_REMAP_NUM_SRC, A0B5_REMAP_NUM_DST);
LAYOUT_DISJOINT(A0B5_BLOCK_WIDTH, A0B5_BLOCK_HEIGHT, A0B5_BLOCK_DEPTH, A0B5_BLOCK_GOB_HEIGHT);
LAYOUT_DISJOINT(A0B5_ORIGIN_X, A0B5_ORIGIN_Y);
LAYOUT_DISJOINT(A0B5_RENDER_MODE, CE_RENDER_C_RESUME_LINE_HI, CE_RENDER_C_RESUME_X_HI,
		CE_RENDER_C_SET, CE_RENDER_C_RESUME);
LAYOUT_DISJOINT(A0B5_PHYS_TARGET, CE_SRC_PHYS_RESUME_LINE_LO);
LAYOUT_DISJOINT(A0B5_PHYS_TARGET, CE_DST_PHYS_RESUME_X_LO);
LAYOUT_FITS(A0B5_LAUNCH_TRANSFER, A0B5_TRANSFER_NON_PIPELINED);
LAYOUT_FITS(A0B5_LAUNCH_SEMAPHORE, A0B5_SEMAPHORE_FOUR_WORD);
LAYOUT_FITS(A0B5_LAUNCH_INTERRUPT, A0B5_INTERRUPT_NON_BLOCKING);
LAYOUT_FITS(A0B5_LAUNCH_REDUCTION, A0B5_REDUCTION_IMUL);
LAYOUT_FITS(A0B5_RENDER_MODE, A0B5_RENDER_IF_NOT_EQUAL);
LAYOUT_FITS(A0B5_PHYS_TARGET, A0B5_PHYS_NONCOHERENT);
LAYOUT_FITS(GK110_CE_LAUNCHERR_CODE, CE_INVALID_OPERATION);
LAYOUT_WIDTH(A0B5_ADDRESS_UPPER, CE_VA_BITS - 32);
static_assert(CE_STATE_WORDS <= 32, "the state of a channel's copies is 32 words of its instance block");

#endif
