/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The four classes of GR, the graphics engine, and methods of them: mainly the methods that the
 * emulator of a card, gpu-model/, executes. Comments name a class by its number, such as A1C0.
 *
 * Source: NVIDIA open-gpu-doc classes/3d/cla197.h, compute/cla1c0.h, inline-to-memory/cla140.h,
 * twod/cl902d.h.
 */
#ifndef KVGPU_GK110_CLASS_H
#define KVGPU_GK110_CLASS_H

#include <linux/bits.h>

#define CLASS_TWOD			0x902d
#define CLASS_INLINE_TO_MEMORY		0xa140
#define CLASS_THREED			0xa197
#define CLASS_COMPUTE			0xa1c0

/* numbers of subchannels (gk110/facts.md) */
#define SUBCH_THREED			0
#define SUBCH_COMPUTE			1
#define SUBCH_INLINE_TO_MEMORY		2
#define SUBCH_TWOD			3

/* Methods that all four classes have. */
#define M_SET_OBJECT			0x0000
#define   M_SET_OBJECT_CLASS		GENMASK(15, 0)
#define M_NO_OPERATION			0x0100
#define M_SET_NOTIFY_A			0x0104
#define M_SET_NOTIFY_B			0x0108
#define M_NOTIFY			0x010c
#define   M_NOTIFY_AWAKEN		1
#define M_WAIT_FOR_IDLE			0x0110

/* Methods of the macro expander (MME), in the 3D and the 2D class. */
#define M_LOAD_MME_INSN_POINTER		0x0114
#define M_LOAD_MME_INSN			0x0118
#define M_LOAD_MME_START_POINTER	0x011c
#define M_LOAD_MME_START		0x0120
#define M_MME_SCRATCH			0x3400
/*
 * Method 0x3800 + 8 * m begins a call of macro m, with the data as first parameter; 0x3804 + 8 * m
 * gives a further parameter.
 */
#define M_CALL_MME_MACRO		0x3800
#define M_CALL_MME_END			0x4000

/* Inline to memory: methods of A140, which A1C0 and A197 have, too. */
#define M_LINE_LENGTH_IN		0x0180
#define M_LINE_COUNT			0x0184
#define M_OFFSET_OUT_UPPER		0x0188
#define M_OFFSET_OUT			0x018c
#define M_PITCH_OUT			0x0190
#define M_SET_DST_BLOCK_SIZE		0x0194
/* log2 of the block's width, height, depth in GOBs, the smallest tiles of a surface (gk110/ce.h) */
#define   M_BLOCK_WIDTH			GENMASK(3, 0)
#define   M_BLOCK_HEIGHT		GENMASK(7, 4)
#define   M_BLOCK_DEPTH			GENMASK(11, 8)
#define M_SET_DST_WIDTH			0x0198
#define M_SET_DST_HEIGHT		0x019c
#define M_SET_DST_DEPTH			0x01a0
#define M_SET_DST_LAYER			0x01a4
#define M_SET_DST_ORIGIN_BYTES_X	0x01a8
#define M_SET_DST_ORIGIN_SAMPLES_Y	0x01ac
#define M_LAUNCH_DMA			0x01b0
#define   M_LAUNCH_DMA_PITCH		BIT(0)
#define   M_LAUNCH_DMA_RED_ENABLE	BIT(1)
#define   M_LAUNCH_DMA_RED_SIGNED	GENMASK(3, 2)
#define   M_LAUNCH_DMA_COMPLETION	GENMASK(5, 4)
#define   M_LAUNCH_DMA_COMPLETION_SEMAPHORE	2
#define   M_LAUNCH_DMA_INTERRUPT	GENMASK(9, 8)
#define   M_LAUNCH_DMA_ONE_WORD		BIT(12)
#define   M_LAUNCH_DMA_RED_OP		GENMASK(15, 13)
#define M_LOAD_INLINE_DATA		0x01b4
#define M_SET_I2M_SEMAPHORE_A		0x01dc
#define M_SET_I2M_SEMAPHORE_B		0x01e0
#define M_SET_I2M_SEMAPHORE_C		0x01e4

/* Report semaphores: methods of A1C0 and A197. */
#define M_REPORT_SEMAPHORE_A		0x1b00
#define M_REPORT_SEMAPHORE_B		0x1b04
#define M_REPORT_SEMAPHORE_C		0x1b08
#define M_REPORT_SEMAPHORE_D		0x1b0c
#define   M_REPORT_OPERATION		GENMASK(1, 0)
#define   M_REPORT_OPERATION_RELEASE	0
#define   M_REPORT_OPERATION_ACQUIRE	1	/* 3D class only */
#define   M_REPORT_OPERATION_REPORT	2	/* 3D class only */
#define   M_REPORT_OPERATION_TRAP	3
#define   M_REPORT_RED_ENABLE		BIT(3)
#define   M_REPORT_RED_OP		GENMASK(11, 9)
#define   M_REPORT_COMPARE_GE		BIT(16)
#define   M_REPORT_RED_SIGNED		GENMASK(18, 17)
#define   M_REPORT_AWAKEN		BIT(20)
#define   M_REPORT_COUNTER		GENMASK(27, 23)
#define   M_REPORT_COUNTER_NONE		0
#define   M_REPORT_COUNTER_ZPASS	2	/* report: payload, then count, 32 bits each */
#define   M_REPORT_ONE_WORD		BIT(28)

/* Conditional execution: methods of A1C0 and A197. */
#define M_SET_RENDER_ENABLE_A		0x1550
#define M_SET_RENDER_ENABLE_B		0x1554
#define M_SET_RENDER_ENABLE_C		0x1558
#define   M_RENDER_ENABLE_MODE		GENMASK(2, 0)
#define   M_RENDER_NEVER		0
#define   M_RENDER_ALWAYS		1
#define   M_RENDER_CONDITIONAL		2
#define   M_RENDER_IF_EQUAL		3
#define   M_RENDER_IF_NOT_EQUAL		4
#define M_SET_RENDER_ENABLE_OVERRIDE	0x1944
#define   M_RENDER_OVERRIDE		GENMASK(1, 0)
#define   M_RENDER_OVERRIDE_ALWAYS	1
#define   M_RENDER_OVERRIDE_NEVER	2

/*
 * Firmware methods SET_FALCON00 to SET_FALCON31, which GR hands to the microcode of FECS, its
 * microcontroller. The offsets are those of SET_FALCON00.
 */
#define M_FALCON_COUNT			32
#define M_COMPUTE_SET_FALCON		0x0500
#define M_THREED_SET_FALCON		0x2300
#define M_TWOD_SET_FALCON		0x08e0

/* Methods of A1C0. */
#define M_SEND_PCAS_A			0x02b4
#define M_SEND_PCAS_B			0x02b8
#define M_SEND_SIGNALING_PCAS_B		0x02bc
#define   M_PCAS_INVALIDATE		BIT(0)
#define   M_PCAS_SCHEDULE		BIT(1)
/* Address in the generic address space at which shared memory appears, in a window of 16 MiB. */
#define M_SET_SHARED_MEMORY_WINDOW	0x0214
/*
 * Size in bytes, high word (A) and low word (B), of the local memory of all threads of one SM. For
 * grids whose QMD has throttled 0 (gk110/qmd.h).
 */
#define M_SET_LOCAL_MEMORY_SIZE_A	0x02e4
#define M_SET_LOCAL_MEMORY_SIZE_B	0x02e8
#define M_SET_LOCAL_MEMORY_WINDOW	0x077c
#define M_SET_LOCAL_MEMORY_A		0x0790
#define M_SET_LOCAL_MEMORY_B		0x0794
#define M_SET_TEX_SAMPLER_POOL_A	0x155c
#define M_SET_TEX_SAMPLER_POOL_B	0x1560
#define M_SET_TEX_SAMPLER_POOL_C	0x1564	/* highest index in the sampler pool */
#define M_SET_TEX_HEADER_POOL_A		0x1574
#define M_SET_TEX_HEADER_POOL_B		0x1578
#define M_SET_TEX_HEADER_POOL_C		0x157c
#define M_SET_BINDLESS_TEXTURE		0x2608
#define   M_BINDLESS_TEXTURE_SLOT	GENMASK(2, 0)
#define M_SET_PROGRAM_REGION_A		0x1608
#define M_SET_PROGRAM_REGION_B		0x160c

/* A197: methods that load data into constant buffers. */
#define M_SET_CB_SELECTOR_A		0x2380	/* size of the buffer in bytes */
#define M_SET_CB_SELECTOR_B		0x2384	/* bits 39:32 of the buffer's address */
#define M_SET_CB_SELECTOR_C		0x2388	/* bits 31:0 of the buffer's address */
#define M_LOAD_CB_OFFSET		0x238c
#define M_LOAD_CB			0x2390	/* first of 16; M_LOAD_CB_END follows the last */
#define M_LOAD_CB_END			0x23d0
/*
 * A197: a method that releases a semaphore in another GPU's memory, and methods that draw, that
 * clear a surface or a region of ZCULL (the unit that culls by depth), or that store or load ZCULL
 * data.
 */
#define M_PEER_SEMAPHORE_RELEASE	0x02f0
#define M_DRAW_ZERO_INDEX		0x0304
#define M_DRAW_VERTEX_ARRAY		0x0d78
#define M_DRAW_VERTEX_ARRAY_FIRST	0x1214
#define M_DRAW_VERTEX_ARRAY_SUBSEQUENT	0x1218
#define M_DRAW_AUTO			0x123c
#define M_CLEAR_ZCULL_REGION		0x12c8
#define M_DRAW_INLINE_INDEX4X8		0x1304
#define M_STORE_ZCULL			0x1464
#define M_LOAD_ZCULL			0x1500
#define M_DRAW_INLINE_INDEX		0x15e8
#define M_DRAW_INLINE_INDEX2X16		0x15f0
#define M_END				0x1614
#define M_BEGIN				0x1618
#define M_DRAW_INLINE_VERTEX		0x1640
#define M_LAUNCH_VERTEX			0x169c
#define M_DRAW_INDEX_BUFFER		0x17e0
/* the last of the methods from M_DRAW_INDEX_BUFFER on, all of which draw */
#define M_DRAW_INDEX_BUFFER_LAST	0x17f8
#define M_CLEAR_SURFACE			0x19d0
#define M_CLEAR_CLIP_ID_SURFACE		0x19d4

/* 902D: methods by which the macro expander reads memory (MME_DMA), and methods that draw. */
#define M_TWOD_MME_DMA_READ		0x055c
/* the last of the MME_DMA methods; READ is the first */
#define M_TWOD_MME_DMA_SYNC		0x0570
#define M_TWOD_SOLID_POINT_X_Y		0x05e0
#define M_TWOD_SOLID_POINT		0x0600	/* 64 pairs of X and Y */
#define M_TWOD_SOLID_POINT_END		0x0800
#define M_TWOD_PIXELS_FROM_CPU_DATA	0x0860
#define M_TWOD_PIXELS_FROM_MEMORY	0x08dc

#endif
