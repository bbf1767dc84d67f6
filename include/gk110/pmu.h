/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PMU, a falcon (microcontroller) for power management: its registers, and the messages that
 * the host and nouveau's PMU microcode send each other. Source: nouveau
 * nvkm/subdev/pmu/{gt215,gk110,memx}.c, fuc/{os.h,macros.fuc,host.fuc,memx.fuc}.
 */
#ifndef KVGPU_GK110_PMU_H
#define KVGPU_GK110_PMU_H

#include <linux/bits.h>

#define PMU_BASE			0x10a000
#define PMU_SIZE			0x1000
#define PMU_INTR_BIT			24	/* bit of PMC_INTR(0) */

/*
 * Registers, as offsets from PMU_BASE. gk110/falcon.h has those that all falcons have.
 *
 * PMU_INTR_USER0 is a bit of FALCON_INTR. 1: the PMU has a message for the host.
 */
#define PMU_INTR_USER0			BIT(6)
/*
 * Value that nouveau's microcode writes to FALCON_INTR_ROUTE: the interrupts user 0, user 1 and
 * pause go to the host (fuc/kernel.fuc).
 */
#define PMU_ROUTE_HOST			0xe0
#define PMU_DSCRATCH(i)			(0x450 + (i) * 4)
#define PMU_DSCRATCH_COUNT		4
#define PMU_FIFO_PUT(i)			(0x4a0 + (i) * 4)
#define PMU_FIFO_GET(i)			(0x4b0 + (i) * 4)
#define PMU_RFIFO_PUT			0x4c8
#define PMU_RFIFO_GET			0x4cc
#define PMU_H2D				0x4d0	/* ring of messages from host to PMU */
#define PMU_D2H				0x4dc	/* ring of messages from PMU to host */
/* Offset in DMEM, the PMU's data memory, and size in bytes, of a ring. */
#define   PMU_RING_BASE			GENMASK(15, 0)
#define   PMU_RING_SIZE			GENMASK(31, 16)
/*
 * Hardware mutex i. It reads as the id of its owner, or as 0 while it is free. A write of an id
 * takes a free mutex, a write of 0 frees it.
 */
#define PMU_MUTEX(i)			(0x580 + (i) * 4)
#define PMU_MUTEX_COUNT			16
/* Control of the power gating of GR. Its bits are in gk110/grinit.h. */
#define PMU_PG_CTRL			0x78c

/*
 * PUT and GET registers count messages modulo 16: PMU_FIFO_ for the ring to the PMU, PMU_RFIFO_ for
 * the ring to the host.
 */
#define PMU_RING_SLOTS			8
#define PMU_RING_SLOT			16
#define PMU_RING_COUNTER		0xf
/* Indices of the words of a message. PROCESS: PMU_PROC_..., the process in the PMU. */
#define PMU_MSG_PROCESS			0
#define PMU_MSG_MESSAGE			1
#define PMU_MSG_DATA0			2
#define PMU_MSG_DATA1			3

#define PMU_PROC_KERN			0x52544e49
#define PMU_PROC_HOST			0x54534f48
#define PMU_PROC_MEMX			0x584d454d
#define PMU_PROC_PERF			0x46524550
#define PMU_PROC_I2C			0x5f433249
#define PMU_PROC_TEST			0x54534554
#define PMU_PROC_IDLE			0x454c4449

/*
 * Messages to the process MEMX. EXEC runs a script of commands. Each command begins with a word
 * that has OP and LEN.
 */
#define PMU_MEMX_INFO			0
#define   PMU_MEMX_INFO_DATA		0
#define   PMU_MEMX_INFO_TRAIN		1
#define PMU_MEMX_EXEC			1
#define PMU_MEMX_OP			GENMASK(15, 0)
#define PMU_MEMX_LEN			GENMASK(31, 16)	/* number of words after this word */
#define   PMU_MEMX_OP_ENTER		1
#define   PMU_MEMX_OP_LEAVE		2
#define   PMU_MEMX_OP_WR32		3
#define   PMU_MEMX_OP_WAIT		4
#define   PMU_MEMX_OP_DELAY		5
#define   PMU_MEMX_OP_VBLANK		6
#define   PMU_MEMX_OP_TRAIN		7

/* Messages to the process I2C. */
#define PMU_I2C_RD08			0
#define PMU_I2C_WR08			1

/*
 * Offsets in DMEM of structures of the PMU microcode that nouveau has for GK110 (labels of
 * gf119.fuc4.h).
 */
#define PMU_IMAGE_PROC_KERN		0x000	/* its first word is PMU_PROC_KERN */
#define PMU_IMAGE_PROC_LIST		0x058	/* processes, PMU_PROC_HOST first */
#define PMU_IMAGE_FIFO			0x270
#define PMU_IMAGE_RFIFO			0x2f0
#define PMU_IMAGE_MEMX_DATA		0x3cc
#define PMU_IMAGE_MEMX_DATA_SIZE	0x800
#define PMU_IMAGE_MEMX_TRAIN		0xbcc
#define PMU_IMAGE_MEMX_TRAIN_SIZE	0x100

#endif
