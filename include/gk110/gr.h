/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PGRAPH (GR), the graphics engine. The front end (FE) decodes methods. The hub is GR without its
 * GPCs and ROPs. SKED schedules compute grids. Each GPC (a cluster of shader units) has TPCs and
 * PPCs. Each TPC has one shader processor (SM, or MP in rnndb). Each PPC serves some of the GPC's
 * TPCs. ROPs write pixels. The falcon (microcontroller) FECS switches contexts, with the help of a
 * falcon GPCCS in each GPC.
 *
 * Source: nouveau nvkm/engine/gr/{gf100,gk104,gk110,ctxgf100}.c and fuc/macros.fuc, envytools rnndb
 * gf100_pgraph.
 */
#ifndef KVGPU_GK110_GR_H
#define KVGPU_GK110_GR_H

#include <linux/bits.h>

#define GR_BASE				0x400000
#define GR_SIZE				0x200000

/* ------------------------------------- registers of the front end (FE) and of units in the hub */

/*
 * Write 1 to clear. FECS is 1 while an enabled bit of FECS_INTR_UP is 1. TRAP is 1 while an enabled
 * bit of GR_TRAP is 1.
 */
#define GR_INTR				0x400100
#define   GR_INTR_NOTIFY		BIT(0)
#define   GR_INTR_ILLEGAL_MTHD		BIT(4)
#define   GR_INTR_ILLEGAL_CLASS		BIT(5)
#define   GR_INTR_FECS			BIT(19)
#define   GR_INTR_DATA_ERROR		BIT(20)
#define   GR_INTR_TRAP			BIT(21)
#define GR_INTR_HALTS \
	(GR_INTR_ILLEGAL_MTHD | GR_INTR_ILLEGAL_CLASS | GR_INTR_DATA_ERROR | GR_INTR_TRAP)
#define GR_TRAP				0x400108	/* write 1 to clear */
#define   GR_TRAP_DISPATCH		BIT(0)
#define   GR_TRAP_M2MF			BIT(1)
#define   GR_TRAP_CCACHE		BIT(3)
#define   GR_TRAP_MACRO			BIT(7)
#define   GR_TRAP_SKED			BIT(8)
#define   GR_TRAP_GPC			BIT(24)
#define GR_DATA_ERROR			0x400110	/* names: nouveau nv50_data_error_names */
#define   GR_DATA_ERROR_INVALID_OPERATION	0x03
#define   GR_DATA_ERROR_INVALID_VALUE		0x04
#define   GR_DATA_ERROR_INVALID_ENUM		0x05
#define   GR_DATA_ERROR_INVALID_ALIGNMENT	0x0b
#define GR_TRAP_GPC_MASK		0x400118	/* one bit per GPC, write 1 to clear */
#define GR_TRAP_EN			0x400138
#define GR_INTR_EN			0x40013c
#define GR_FWMTHD_ACK			0x400144
/*
 * A bundle is a piece of GR's internal state, or a command to GR. A write of its address to GR_ICMD
 * runs it with the data in GR_ICMD_DATA.
 */
#define GR_ICMD				0x400200
#define   GR_ICMD_ADDR			GENMASK(15, 0)
#define GR_ICMD_DATA			0x400204
#define GR_ICMD_DATA_HI			0x40020c
#define GR_CTRL				0x400500
#define   GR_CTRL_FIFO			BIT(0)		/* 1: GR accepts methods from PFIFO */
#define   GR_CTRL_RESTART		BIT(16)
#define GR_IDLE				0x40060c
#define   GR_IDLE_BUSY			BIT(0)
#define GR_STATUS			0x400700
#define   GR_STATUS_BUSY		BIT(0)
#define GR_TRAPPED_ADDR			0x400704
#define   GR_TRAPPED_MTHD		GENMASK(13, 2)
#define   GR_TRAPPED_SUBCH		GENMASK(18, 16)
#define GR_TRAPPED_DATA			0x400708
#define GR_TRAPPED_DATA_HI		0x40070c

#define GR_FE_ESR			0x404000
#define   GR_FE_ESR_CLASS_SUBCH		BIT(1)
#define GR_FE_PWR			0x404170
#define   GR_FE_PWR_PENDING		BIT(4)
#define GR_FE_OBJECT(subc)		(0x404200 + (subc) * 4)
/* limit of the time that a macro may run */
#define GR_MME_WATCHDOG			0x404468
#define GR_MTHD				0x404488
#define   GR_MTHD_TRIGGER		BIT(31)
#define   GR_MTHD_ADDR			GENMASK(27, 16)
#define   GR_MTHD_CLASS			GENMASK(15, 0)
#define GR_MTHD_DATA			0x40448c
#define GR_MME_ESR			0x404490
#define   GR_MME_ESR_TOO_FEW		BIT(0)
#define   GR_MME_ESR_TOO_MANY		BIT(1)
#define   GR_MME_ESR_ILLEGAL_OPCODE	BIT(2)
#define   GR_MME_ESR_DOUBLE_BRANCH	BIT(3)
#define   GR_MME_ESR_WATCHDOG		BIT(4)
#define GR_MME_ESR_PC			0x404494
#define   GR_MME_ESR_PC_VALID		BIT(28)
#define   GR_MME_ESR_PC_PC		GENMASK(10, 0)
#define GR_MME_ESR_OP			0x40449c
#define GR_M2MF_ESR			0x404600
#define   GR_M2MF_ESR_TOO_MUCH		BIT(0)
#define   GR_M2MF_ESR_NOT_ENOUGH	BIT(1)
#define GR_DS_ESR			0x405840
#define GR_PD_ESR			0x406018
#define GR_UNK6_ESR			0x40601c
#define GR_SKED_ESR			0x407020	/* names: nouveau gk104_sked_error */
#define   GR_SKED_CTA_RESUME		BIT(6)
#define   GR_SKED_CONSTANT_BUFFER_SIZE	BIT(7)
#define   GR_SKED_LOCAL_MEMORY_SIZE_POS	BIT(9)
#define   GR_SKED_LOCAL_MEMORY_SIZE_NEG	BIT(10)
#define   GR_SKED_WARP_CSTACK_SIZE	BIT(11)
#define   GR_SKED_TOTAL_TEMP_SIZE	BIT(12)
#define   GR_SKED_REGISTER_COUNT	BIT(13)
#define   GR_SKED_TOTAL_THREADS		BIT(18)
#define   GR_SKED_PROGRAM_OFFSET	BIT(20)
#define   GR_SKED_SHARED_MEMORY_SIZE	BIT(21)
#define   GR_SKED_CTA_DIMENSION_ZERO	BIT(23)
#define   GR_SKED_SHARED_CONFIG		BIT(25)
#define   GR_SKED_TOTAL_REGISTERS	BIT(26)
#define GR_SCC_ESR			0x408030
/*
 * Fields of the error status registers (_ESR), but for TPC_MP_WARP_ESR and TPC_MP_GLOBAL_ESR. CLEAR
 * clears STATUS.
 */
#define   GR_ESR_STATUS			GENMASK(29, 0)
#define   GR_ESR_CLEAR			BIT(30)
#define   GR_ESR_ENABLE			BIT(31)

/* ------------------------------------------------------ registers of ROPs, GPCs, TPCs and PPCs */

#define GR_ROP(u, r)			(0x410000 + (u) * 0x400 + (r))
#define GR_ROP_BCAST			0x408800
#define GR_ROP_STRIDE			0x400

#define GR_GPC_BCAST			0x418000
#define GR_GPC_STRIDE			0x8000
#define GR_GPC_BASE			0x500000
#define GR_GPC(g, r)			(GR_GPC_BASE + (g) * GR_GPC_STRIDE + (r))
/* Registers of a GPC, as offsets for GR_GPC(). */
#define GPC_PROP_ESR			0x0420
#define GPC_ESETUP_ESR			0x0824
#define GPC_ZCULL_ESR			0x0900
#define GPC_PPC_TPC_MASK(i)		(0x0c30 + (i) * 4)
#define GPC_CCACHE_ESR			0x1028
#define GPC_TPC_BCAST			0x1800		/* writes go to all TPCs of the GPC */
#define GPC_GPCCS			0x2000		/* registers of the falcon GPCCS */
#define GPC_PPC				0x3000
#define GPC_PPC_STRIDE			0x200
#define GPC_PPC_BCAST			0x3e00
#define GPC_TPC				0x4000
#define GPC_TPC_STRIDE			0x800
/* Registers of a GPC's GPCCS, as offsets from GPC_GPCCS. */
#define GPCCS_UNITS			0x608
#define   GPCCS_UNITS_TPC		GENMASK(4, 0)
#define GPCCS_MYINDEX			0x618
/*
 * units with an exception, write 1 to clear: bit 0 PROP, 1 ZCULL, 2 CCACHE, 3 ESETUP, 16 + t TPC t
 */
#define GPCCS_TRAP			0xc90
#define   GPCCS_TRAP_TPC(t)		BIT(16 + (t))
/* Registers of a TPC, as offsets from GPC_TPC + t * GPC_TPC_STRIDE. */
#define TPC_POLY_ESR			0x084
#define TPC_TEX_ESR			0x224
#define TPC_MPC_ESR			0x430
#define TPC_L1C_ESR			0x48c
/* units with an exception */
#define TPC_TRAP			0x508
#define   TPC_TRAP_TEX			BIT(0)
#define   TPC_TRAP_MP			BIT(1)
#define   TPC_TRAP_POLY			BIT(2)
#define   TPC_TRAP_L1C			BIT(3)
#define   TPC_TRAP_MPC			BIT(4)
/* bits 15:0: error for which the MP stopped a warp (nouveau gf100_mp_warp_error) */
#define TPC_MP_WARP_ESR			0x648
#define   MP_WARP_ILLEGAL_INSTR_ENCODING	0x09
#define TPC_MP_GLOBAL_ESR		0x650		/* write 1 to clear */
#define   MP_GLOBAL_MULTIPLE_WARP_ERRORS	BIT(2)

/*
 * Numbers of units of a GK110; GR_NR_TPC is that of a K20m, other boards have other numbers of
 * TPCs.
 */
#define GR_NR_GPC			5
#define GR_MAX_TPC			3		/* most TPCs of one GPC */
#define GR_NR_TPC			13
#define GR_NR_PPC			2		/* PPCs of each GPC (nouveau gk110.c) */

/* ------------------------------------------------ registers of FECS, as offsets from GR_FECS */

#define GR_FECS				0x409000
#define   FECS_SIZE			0x001000
#define GR_GPCCS_BCAST			0x41a000

#define FECS_INTR_FIFO			BIT(2)
#define FECS_INTR_CHSW			BIT(8)
#define FECS_INTR_FWMTHD		BIT(10)
#define FECS_SIGNAL			0x400
#define FECS_WRCMD_DATA			0x500
#define FECS_WRCMD_CMD			0x504
#define FECS_UNITS			0x604
#define   FECS_UNITS_GPC		GENMASK(4, 0)
#define   FECS_UNITS_ROP		GENMASK(20, 16)
#define FECS_MMIO_CTRL			0x728
#define   FECS_MMIO_ADDR		GENMASK(25, 2)
#define FECS_SCRATCH(i)			(0x800 + (i) * 4)
#define FECS_SCRATCH_CLR(i)		(0x840 + (i) * 4)
#define FECS_SCRATCH_SET(i)		(0x8c0 + (i) * 4)
#define FECS_NR_SCRATCH			16
#define FECS_MMIO_RDVAL			0x72c
#define FECS_MMIO_WRVAL			0x730
/* transfers of FECS from and to memory, also by physical addresses */
#define FECS_MEM_BASE			0xa04
#define FECS_MEM_CHAN			0xa0c
#define FECS_MEM_CMD			0xa10
#define FECS_MEM_TARGET			0xa20
#define FECS_CHAN_ADDR			0xb00
#define FECS_CHAN_NEXT			0xb04
#define   FECS_CHAN_INST		GENMASK(27, 0)	/* address of the instance block >> 12 */
#define   FECS_CHAN_TARGET		GENMASK(29, 28)
/*
 * the context is on the engine; when it has left, the bit is 0, and FECS_CHAN_INST stays as it was
 * (nouveau ctxgf100.c; nvgpu gr_fecs_current_ctx)
 */
#define   FECS_CHAN_VALID		BIT(31)
#define FECS_CHSW			0xb0c
#define FECS_INTR_UP			0xc18
/* an error, whose code is in FECS_SCRATCH(FECS_OS_ERROR) */
#define   FECS_INTR_UP_UCODE		BIT(0)
#define   FECS_INTR_UP_WATCHDOG		BIT(19)
#define FECS_INTR_UP_SET		0xc1c
#define FECS_INTR_UP_CLR		0xc20
#define FECS_INTR_UP_EN			0xc24

/*
 * FECS_OS_: nouveau's microcode for FECS (fuc/hub.fuc). First the numbers of scratch registers by
 * which it talks to the driver. It sets bit 31 of STATUS when it is ready, and when a command is
 * done.
 */
#define FECS_OS_STATUS			0
#define   FECS_OS_READY			BIT(31)
#define FECS_OS_SIZE			1		/* size of a context image in bytes */
#define FECS_OS_FWMTHD_CLASS		2
#define FECS_OS_FWMTHD_ADDR		3
#define FECS_OS_FWMTHD_DATA		4
#define FECS_OS_ERROR			5
#define   FECS_OS_BAD_COMMAND		1		/* bits 31:16 have the unknown command */
#define   FECS_OS_BAD_FWMTHD		3
#define FECS_OS_TRACE			7
#define   FECS_TRACE_AUTO		BIT(4)
#define   FECS_TRACE_CHAN		BIT(5)
#define   FECS_TRACE_LOAD		BIT(6)
#define   FECS_TRACE_SAVE		BIT(7)
#define   FECS_TRACE_LCHAN		BIT(8)
#define   FECS_TRACE_LCTXH		BIT(9)
/* Commands that the driver writes to FECS_WRCMD_CMD. */
#define FECS_OS_CMD_SET_CHAN		0x0001
#define FECS_OS_CMD_SAVE		0x0002
/*
 * Offsets in DMEM of FECS, for nouveau's microcode (fuc/hub.fuc). LIST_HEAD, LIST_TAIL: offsets of
 * start and end of the hub's register list. CTX_CURRENT: address >> 8 of the current context.
 * CHAN_DATA: copy of the current context's header. LIST_BASE: the register list.
 */
#define FECS_OS_LIST_HEAD		0x000
#define FECS_OS_LIST_TAIL		0x004
#define FECS_OS_CTX_CURRENT		0x058
#define FECS_OS_CHAN_DATA		0x100
#define FECS_OS_LIST_BASE		0x300
/* The only entry of the list in the microcode's file. A driver appends more entries. */
#define FECS_OS_LIST_FIRST		0x0417e91c
/*
 * Offsets in DMEM of GPCCS, for nouveau's microcode (fuc/gpc.fuc). Three register lists follow each
 * other. The words have the offsets where the lists of GPC, TPC and PPC begin, and where the last
 * ends.
 */
#define GPCCS_OS_LIST_GPC		0x000
#define GPCCS_OS_LIST_TPC		0x004
#define GPCCS_OS_LIST_PPC		0x008
#define GPCCS_OS_LIST_END		0x00c
/*
 * Fields of an entry of a register list. An entry stands for registers that follow each other.
 * ADDR: offset of the first in BAR0 (hub), or in the registers of the unit.
 */
#define CTX_LIST_ADDR			GENMASK(25, 2)
#define CTX_LIST_COUNT			GENMASK(31, 26)	/* number of registers minus 1 */

/*
 * FECS_EXT_: NVIDIA's microcode for FECS. Numbers of scratch registers, commands and results, as
 * nouveau uses them (gf100.c gf100_gr_fecs_*); HALT by nvgpu gr_gk20a.c.
 */
/* scratch register for the result of most commands */
#define FECS_EXT_STATUS			0
/* scratch register for the result of STOP_CTXSW, START_CTXSW and HALT */
#define FECS_EXT_STATUS2		1
#define FECS_EXT_ARG			4
#define FECS_EXT_CMD_BIND		0x03
#define   FECS_EXT_BIND_DONE		BIT(4)
#define   FECS_EXT_BIND_ERROR		BIT(5)
#define FECS_EXT_CMD_HALT		0x04
#define FECS_EXT_CMD_GOLDEN_SAVE	0x09
#define   FECS_EXT_GOLDEN_DONE		BIT(0)
#define   FECS_EXT_GOLDEN_ERROR		BIT(1)
#define FECS_EXT_CMD_IMAGE_SIZE		0x10
#define FECS_EXT_CMD_ZCULL_SIZE		0x16
#define FECS_EXT_CMD_WATCHDOG		0x21
#define FECS_EXT_CMD_PM_SIZE		0x25
#define FECS_EXT_CMD_REGLIST_SIZE	0x30
#define FECS_EXT_CMD_REGLIST_INST	0x31
#define FECS_EXT_CMD_REGLIST_ADDR	0x32
#define FECS_EXT_CMD_STOP_CTXSW		0x38
#define FECS_EXT_CMD_START_CTXSW	0x39
#define   FECS_EXT_OK			1
#define   FECS_EXT_FAILED		2

/* ----------------------------------------- context image, and its address in an instance block */

/* offset in an instance block of the address of the context image */
#define GR_INST_CTX_LO			0x210
#define   GR_INST_CTX_TARGET		GENMASK(1, 0)
#define   GR_INST_CTX_VIRTUAL		BIT(2)
#define   GR_INST_CTX_ADDR		GENMASK(31, 12)
#define GR_INST_CTX_HI			0x214

/* bytes of the microcode's header of a context image */
#define GR_CTX_HEADER			0x100
/*
 * Offsets of words in the header, for nouveau's microcode. The patch list has pairs, register and
 * value, that FECS writes at the first load of the context.
 */
#define GR_CTX_OS_PATCH_COUNT		0x00
#define GR_CTX_OS_PATCH_ADDR		0x04		/* VA of the list >> 8 */
/* Offsets of words in the header, for NVIDIA's microcode (nvgpu gk20a ctxsw_prog). */
#define GR_CTX_EXT_PATCH_COUNT		0x10
#define GR_CTX_EXT_PATCH_LO		0x14
#define GR_CTX_EXT_PATCH_HI		0x18
#define GR_CTX_EXT_MAGIC		0xfc
#define   GR_CTX_EXT_MAGIC_VALUE	0x600dc0de

/* --------------- GR's fault unit and clients in MMU faults (nouveau gk104_fifo_mmu_fault_...) */

#define GR_FAULT_UNIT			0x00
#define GR_HUB_FE			0x04
#define GR_HUB_FECS			0x05
#define GR_HUB_SKED			0x1e
#define GR_GPC_GCC			0x0d
#define GR_GPC_GPCCS			0x0e

#endif
