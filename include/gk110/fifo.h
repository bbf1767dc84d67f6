/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PFIFO of GK110, the unit that schedules channels; its PBDMAs, which fetch and decode the
 * pushbuffers of the channels that are loaded ("PSUBFIFO" in rnndb); and the channel table. A
 * runlist is a list in memory of the channels and channel groups (TSGs) to schedule. USERD is the
 * memory with a channel's put and get pointers. NRHOST is the second line of interrupts to the CPU
 * (gk110/pmc.h).
 *
 * Sources: rnndb fifo/gf100_pfifo.xml (GK104 variants), nouveau
 * nvkm/engine/fifo/{gf100,gk104,gk110}.c, nvgpu gk20a hardware headers (names of fields).
 */
#ifndef KVGPU_GK110_FIFO_H
#define KVGPU_GK110_FIFO_H

#include <linux/bits.h>

#include "gk110/layout.h"

#define GK110_FIFO_NR_CHAN		4096
#define GK110_FIFO_NR_TSG		4096

#define PFIFO_BASE			0x002000
#define PFIFO_SIZE			0x002000

#define PFIFO_INTR			0x002100
#define   PFIFO_INTR_BIND_ERROR		BIT(0)
#define   PFIFO_INTR_PIO_ERROR		BIT(4)
#define   PFIFO_INTR_SCHED_ERROR	BIT(8)
#define   PFIFO_INTR_CHSW_ERROR		BIT(16)
#define   PFIFO_INTR_FB_FLUSH_TIMEOUT	BIT(23)
#define   PFIFO_INTR_LB_ERROR		BIT(24)
#define   PFIFO_INTR_DROPPED_FAULT	BIT(27)
#define   PFIFO_INTR_MMU_FAULT		BIT(28)
#define   PFIFO_INTR_PBDMA		BIT(29)
#define   PFIFO_INTR_RUNLIST		BIT(30)
#define   PFIFO_INTR_NONSTALL		BIT(31)
/*
 * Bits that are 1 while another register is not 0: RUNLIST while PFIFO_RUNLIST_EVENT is not 0,
 * PBDMA while PFIFO_PBDMA_INTR_SOURCE, MMU_FAULT while PFIFO_MMU_FAULT_SOURCE.
 */
#define   PFIFO_INTR_LEVELS		GENMASK(30, 28)
#define PFIFO_INTR_EN			0x002140
/* Registers of GF100 that GK110 does not use (nouveau fifo/gf100.c). */
#define PFIFO_FERMI(i)			(0x002200 + 4 * (i))
#define   PFIFO_FERMI_NR		10
#define PFIFO_ACQ_PRETEST		0x002250
#define PFIFO_USERD_BAR1		0x002254
#define   PFIFO_USERD_BAR1_ADDR		GENMASK(27, 0)	/* BAR1 offset of channel 0's USERD >> 12 */
#define   PFIFO_USERD_BAR1_VALID	BIT(28)
#define PFIFO_IDLE_FILTER		0x002258
#define PFIFO_RUNLIST_BASE		0x002270
#define   PFIFO_RUNLIST_ADDR		GENMASK(27, 0)	/* address of the runlist >> 12 */
/* 0 VRAM, 2 coherent, 3 non-coherent system memory */
#define   PFIFO_RUNLIST_TARGET		GENMASK(29, 28)
#define PFIFO_RUNLIST_SUBMIT		0x002274
/* bits 15:0 by nvgpu, 11:0 by rnndb */
#define   PFIFO_RUNLIST_COUNT		GENMASK(15, 0)
#define   PFIFO_RUNLIST_ID		GENMASK(23, 20)
#define PFIFO_ENG_RUNLIST_BASE(r)	(0x002280 + 8 * (r))
#define PFIFO_ENG_RUNLIST(r)		(0x002284 + 8 * (r))
#define   PFIFO_ENG_RUNLIST_PENDING	BIT(20)
#define   PFIFO_ENG_RUNLIST_NR		7
/*
 * Default time slice of runlist i (nvgpu fifo_runlist_timeslice). Fields: RAMFC_TIMESLICE_... of
 * gk110/ram.h.
 */
#define PFIFO_ENG_TIMESLICE(i)		(0x002310 + 4 * (i))
#define   PFIFO_ENG_TIMESLICE_RESET	0x10003080
/* Default time slice on the PBDMA, with the same fields. */
#define PFIFO_ENG_PB_TIMESLICE(i)	(0x002350 + 4 * (i))
#define   PFIFO_ENG_PB_TIMESLICE_RESET	0x10000010
#define   PFIFO_ENG_TIMESLICE_NR	16
/* Mask of the runlists that PBDMA p serves, read-only. */
#define PFIFO_PBDMA_RUNLISTS(p)		(0x002390 + 4 * (p))
#define PFIFO_INTR_EN_NRHOST		0x002528
#define PFIFO_BIND_ERROR		0x00252c
#define   PFIFO_BIND_ERROR_CODE		GENMASK(7, 0)
#define     PFIFO_BIND_NOT_UNBOUND	0x01
#define     PFIFO_BIND_SNOOP_WO_BAR1	0x02
#define     PFIFO_BIND_UNBIND_RUNNING	0x03
#define     PFIFO_BIND_INVALID_RUNLIST	0x05
#define     PFIFO_BIND_INVALID_TARGET	0x06
#define     PFIFO_BIND_UNBIND_PARKED	0x0b
#define PFIFO_INTR_HALT_MASK		0x002530
#define PFIFO_SCHED_ERROR		0x00254c
#define   PFIFO_SCHED_ERROR_CODE	GENMASK(7, 0)
#define     PFIFO_SCHED_INACTIVE_CHAN	0x01		/* name by rnndb */
#define     PFIFO_SCHED_CTXSW_TIMEOUT	0x0a
#define     PFIFO_SCHED_ENG_MISMATCH	0x19		/* name by rnndb */
#define PFIFO_CHSW_ERROR		0x00256c
#define PFIFO_LB_ERROR			0x00258c
/* of the MMU: one bit per fault unit with a pending record */
#define PFIFO_MMU_FAULT_SOURCE		0x00259c
/* one bit per PBDMA with an enabled interrupt pending */
#define PFIFO_PBDMA_INTR_SOURCE		0x0025a0
/* GF100 has this register, GK104 and later chips do not (rnndb). */
#define PFIFO_ENGINE_INTR_EN		0x002628
/* One bit per runlist, write 1 to clear. 1: scheduling of the runlist has stopped after a fault. */
#define PFIFO_RUNLIST_ERROR		0x00262c
/* One bit per runlist, set by software. 1: PFIFO loads no further channel of the runlist. */
#define PFIFO_RUNLIST_BLOCK		0x002630
#define PFIFO_PREEMPT			0x002634
#define   PFIFO_PREEMPT_ID		GENMASK(11, 0)
#define   PFIFO_PREEMPT_PENDING		BIT(20)
#define   PFIFO_PREEMPT_TSG		BIT(24)
/* A write preempts whole runlists, by NVIDIA's manual of GV100, a later chip. */
#define PFIFO_RUNLIST_PREEMPT		0x002638
/*
 * PFIFO_BYPASS: software switches an engine to a channel and submits methods to it without a
 * pushbuffer (rnndb gf100_pfifo.xml).
 */
#define PFIFO_BYPASS_CONFIG		0x0026c4
#define PFIFO_BYPASS_CHSW		0x0026c8
#define PFIFO_BYPASS_BASE		0x005000
#define PFIFO_BYPASS_SIZE		0x001000
/*
 * Status of engine e (nouveau gk104_engn_status(), nvgpu fifo_engine_status). CHSW is 1 during a
 * context switch; NEXT_ID is then the channel or TSG to load. PFIFO_PBDMA_STATUS has the same
 * fields without bits 30 and 31.
 */
#define PFIFO_ENGINE_STATUS(e)		(0x002640 + 8 * (e))
#define   PFIFO_ENGINE_STATUS_NR	8
#define   PFIFO_STATUS_ID		GENMASK(11, 0)
#define   PFIFO_STATUS_TSG		BIT(12)
/* 1: ID is loaded; with CHSW: the engine loads NEXT_ID */
#define   PFIFO_STATUS_VALID		BIT(13)
#define   PFIFO_STATUS_SAVE		BIT(14)
#define   PFIFO_STATUS_CHSW		BIT(15)
#define   PFIFO_STATUS_NEXT_ID		GENMASK(27, 16)
#define   PFIFO_STATUS_NEXT_TSG		BIT(28)
#define   PFIFO_STATUS_FAULTED		BIT(30)
#define   PFIFO_STATUS_BUSY		BIT(31)
/* of the MMU: 32 fault records of 16 bytes (gk110/mmu.h) */
#define PFIFO_MMU_FAULT_RECORDS		0x002800
#define   PFIFO_MMU_FAULT_RECORDS_END	0x002a00
#define PFIFO_RUNLIST_EVENT		0x002a00	/* one bit per runlist, write 1 to clear */
#define PFIFO_FB_TIMEOUT		0x002a04
#define PFIFO_PB_TIMEOUT		0x002a08
#define PFIFO_ENG_TIMEOUT		0x002a0c
#define   PFIFO_TIMEOUT_ENABLE		BIT(31)
#define   PFIFO_ENG_TIMEOUT_PERIOD	GENMASK(30, 0)	/* in units of 1024 ns */
#define PFIFO_TIME_LOW			0x002a10
#define PFIFO_TIME_HIGH			0x002a14
#define PFIFO_CHSW_TIMEOUT		0x002a18
#define PFIFO_PRI_TIMEOUT		0x002a20
#define PFIFO_FAULT_INJECT(e)		(0x002a30 + 4 * (e))
#define   PFIFO_FAULT_INJECT_NR		8
#define   PFIFO_FAULT_INJECT_UNIT	GENMASK(4, 0)
#define   PFIFO_FAULT_INJECT_VALID	BIT(8)
#define PFIFO_PBDMA_STATUS(p)		(0x003080 + 4 * (p))
#define   PFIFO_PBDMA_STATUS_NR		3

/* RESET: value after reset, by rnndb for GK104. */
#define   PFIFO_FB_TIMEOUT_RESET	0x800003ff
/* bits that nouveau sets (gk104_fifo_init_pbdmas()) */
#define   PFIFO_FB_TIMEOUT_INIT		0xbfffffff
#define   PFIFO_PB_TIMEOUT_RESET	0x80007fff
#define   PFIFO_ENG_TIMEOUT_RESET	0x803ff3ff
#define   PFIFO_CHSW_TIMEOUT_RESET	0x80007fff
#define   PFIFO_PRI_TIMEOUT_RESET	0x8000007f
#define   PFIFO_IDLE_FILTER_RESET	0x00000020
#define   PFIFO_ACQ_PRETEST_RESET	0x10000080

/*
 * Registers of a PBDMA, as offsets from PBDMA(p). The registers at 0x00-0xff are the RAMFC words of
 * the loaded channel (gk110/ram.h), those at 0x200-0x27f its copy class's method state
 * (gk110/ce.h).
 */
#define PBDMA_BASE			0x040000
#define PBDMA_STRIDE			0x002000
#define PBDMA_END			0x060000
#define PBDMA(p)			(PBDMA_BASE + PBDMA_STRIDE * (p))
/* The method at which the PBDMA has stalled. Its argument is in PBDMA_DATA0. */
#define PBDMA_METHOD0			0x0c0
#define   PBDMA_METHOD_INCR		BIT(0)
#define   PBDMA_METHOD_PRIV		BIT(1)
#define   PBDMA_METHOD_ADDR		GENMASK(13, 2)	/* bits 13:2 of the method's offset */
#define   PBDMA_METHOD_SUBCH		GENMASK(18, 16)
#define   PBDMA_METHOD_FIRST		BIT(22)
#define   PBDMA_METHOD_VALID		BIT(31)
/* a NOP, which software writes over the stalled method (nouveau gf100_runq_intr()) */
#define   PBDMA_METHOD_SKIP		0x80600008
#define PBDMA_DATA0			0x0c4
#define PBDMA_STATUS			0x100
#define PBDMA_INTR0			0x108
#define   PBDMA_INTR0_MEMOP		BIT(6)
#define   PBDMA_INTR0_LBREQ		BIT(8)
#define   PBDMA_INTR0_GPFIFO		BIT(13)
#define   PBDMA_INTR0_GPPTR		BIT(14)		/* GP_PUT is beyond the ring */
#define   PBDMA_INTR0_GPENTRY		BIT(15)		/* malformed GPFIFO entry */
#define   PBDMA_INTR0_GPCRC		BIT(16)
#define   PBDMA_INTR0_PBPTR		BIT(17)
#define   PBDMA_INTR0_PBENTRY		BIT(18)		/* malformed pushbuffer header */
#define   PBDMA_INTR0_PBCRC		BIT(19)
#define   PBDMA_INTR0_XBARCONNECT	BIT(20)
/* unknown method below HOST_METHOD_END (gk110/push.h) */
#define   PBDMA_INTR0_METHOD		BIT(21)
#define   PBDMA_INTR0_METHODCRC		BIT(22)
/* a method for software, or for an absent engine */
#define   PBDMA_INTR0_DEVICE		BIT(23)
#define   PBDMA_INTR0_SEMAPHORE		BIT(25)
/* the deadline of a semaphore acquire has passed */
#define   PBDMA_INTR0_ACQUIRE		BIT(26)
/* software wrote a register at 0x00-0xff while a channel ran */
#define   PBDMA_INTR0_PRI		BIT(27)
#define   PBDMA_INTR0_UNK28		BIT(28)
#define   PBDMA_INTR0_PBSEG		BIT(30)
#define   PBDMA_INTR0_SIGNATURE		BIT(31)
/* Interrupts for which nouveau stops the channel for good (fifo/gf100.c gf100_runq_intr()). */
#define PBDMA_INTR0_FATAL                                                                        \
	(PBDMA_INTR0_GPFIFO | PBDMA_INTR0_GPPTR | PBDMA_INTR0_GPENTRY | PBDMA_INTR0_GPCRC |      \
	 PBDMA_INTR0_PBPTR | PBDMA_INTR0_PBENTRY | PBDMA_INTR0_PBCRC | PBDMA_INTR0_XBARCONNECT | \
	 PBDMA_INTR0_METHOD | PBDMA_INTR0_METHODCRC | PBDMA_INTR0_SEMAPHORE |                    \
	 PBDMA_INTR0_ACQUIRE | PBDMA_INTR0_PBSEG | PBDMA_INTR0_SIGNATURE)
/* Bits that nouveau clears in PBDMA_INTR0_STALL (nvkm fifo/gf100.c gf100_runq_init()). */
#define   PBDMA_INTR0_NO_STALL		(PBDMA_INTR0_LBREQ | PBDMA_INTR0_UNK28)
#define PBDMA_INTR0_EN			0x10c
#define PBDMA_GP_SHADOW_LO		0x110
#define PBDMA_GP_SHADOW_HI		0x114
#define PBDMA_HDR_SHADOW		0x118
#define PBDMA_CHANNEL			0x120
#define   PBDMA_CHANNEL_ID		GENMASK(11, 0)
#define   PBDMA_CHANNEL_VALID		BIT(13)
#define PBDMA_TIMEOUT			0x12c
#define   PBDMA_TIMEOUT_RESET		0xffffffff
/* Bits as in PBDMA_INTR0. 1: this interrupt stops the PBDMA until software acknowledges it. */
#define PBDMA_INTR0_STALL		0x13c
#define   PBDMA_INTR0_STALL_RESET	0xffffffff
#define PBDMA_INTR1_STALL		0x140
#define   PBDMA_INTR1_STALL_RESET	0x0000001f
#define PBDMA_INTR1			0x148
#define   PBDMA_INTR1_RE_ILLEGAL_OP	BIT(0)		/* names: nouveau gk104_runq_intr_1_names */
#define   PBDMA_INTR1_RE_ALIGNB		BIT(1)
#define   PBDMA_INTR1_PRIV		BIT(2)
#define   PBDMA_INTR1_ILLEGAL_MTHD	BIT(3)
#define   PBDMA_INTR1_ILLEGAL_CLASS	BIT(4)
#define PBDMA_INTR1_EN			0x14c
#define PBDMA_HCE_METHOD		0x150
#define PBDMA_HCE_DATA			0x154
/* Method state of the copy class: 32 words, at 0x100-0x17f of the instance block. */
#define PBDMA_CE_STATE			0x200

/*
 * Channel table: the registers PCCSR_INST and PCCSR_CHAN for each channel id c. Sources: nouveau
 * gk104.c, rnndb PFIFO_CHAN, nvgpu ccsr.
 */
#define PCCSR_BASE			0x800000
#define PCCSR_SIZE			0x008000
#define PCCSR_INST(c)			(0x800000 + 8 * (c))
#define   PCCSR_INST_PTR		GENMASK(27, 0)	/* address of the instance block >> 12 */
#define   PCCSR_INST_TARGET		GENMASK(29, 28)
#define   PCCSR_INST_BIND		BIT(31)
#define PCCSR_CHAN(c)			(0x800004 + 8 * (c))
#define   PCCSR_CHAN_ENABLED		BIT(0)
#define   PCCSR_CHAN_FORCE_RELOAD	BIT(8)		/* nvgpu: the next load clears this bit */
#define   PCCSR_CHAN_MARK_PENDING	BIT(9)		/* a written 1 triggers; reads 0 */
#define   PCCSR_CHAN_ENABLE_SET		BIT(10)		/* a written 1 triggers; reads 0 */
#define   PCCSR_CHAN_ENABLE_CLR		BIT(11)		/* a written 1 triggers; reads 0 */
#define   PCCSR_CHAN_RUNLIST		GENMASK(19, 16)
/* One of the codes PCCSR_STATUS_... (nvgpu ccsr_channel_status). */
#define   PCCSR_CHAN_STATUS		GENMASK(27, 24)
#define     PCCSR_STATUS_IDLE		0x0
#define     PCCSR_STATUS_PENDING	0x1
#define     PCCSR_STATUS_PENDING_RELOAD	0x2
#define     PCCSR_STATUS_PENDING_ACQ	0x3
#define     PCCSR_STATUS_PENDING_ACQ_RELOAD 0x4
#define     PCCSR_STATUS_ON_PBDMA	0x5
#define     PCCSR_STATUS_ON_PBDMA_ENG	0x6
#define     PCCSR_STATUS_ON_ENG		0x7
#define     PCCSR_STATUS_ON_ENG_PENDING_ACQ 0x8
#define     PCCSR_STATUS_ON_ENG_PENDING	0x9
#define   PCCSR_CHAN_BUSY		BIT(28)

LAYOUT_DISJOINT(PFIFO_INTR_BIND_ERROR, PFIFO_INTR_PIO_ERROR, PFIFO_INTR_SCHED_ERROR,
		PFIFO_INTR_CHSW_ERROR, PFIFO_INTR_FB_FLUSH_TIMEOUT, PFIFO_INTR_LB_ERROR,
		PFIFO_INTR_DROPPED_FAULT, PFIFO_INTR_LEVELS, PFIFO_INTR_NONSTALL);
static_assert(PFIFO_INTR_LEVELS == (PFIFO_INTR_MMU_FAULT | PFIFO_INTR_PBDMA | PFIFO_INTR_RUNLIST),
	      "what goes by level");
LAYOUT_DISJOINT(PFIFO_USERD_BAR1_ADDR, PFIFO_USERD_BAR1_VALID);
LAYOUT_DISJOINT(PFIFO_RUNLIST_ADDR, PFIFO_RUNLIST_TARGET);
LAYOUT_DISJOINT(PFIFO_RUNLIST_COUNT, PFIFO_RUNLIST_ID);
LAYOUT_DISJOINT(PFIFO_PREEMPT_ID, PFIFO_PREEMPT_PENDING, PFIFO_PREEMPT_TSG);
LAYOUT_DISJOINT(PFIFO_STATUS_ID, PFIFO_STATUS_TSG, PFIFO_STATUS_VALID, PFIFO_STATUS_SAVE,
		PFIFO_STATUS_CHSW, PFIFO_STATUS_NEXT_ID, PFIFO_STATUS_NEXT_TSG,
		PFIFO_STATUS_FAULTED, PFIFO_STATUS_BUSY);
LAYOUT_DISJOINT(PFIFO_TIMEOUT_ENABLE, PFIFO_ENG_TIMEOUT_PERIOD);
LAYOUT_DISJOINT(PFIFO_FAULT_INJECT_UNIT, PFIFO_FAULT_INJECT_VALID);
LAYOUT_DISJOINT(PBDMA_METHOD_INCR, PBDMA_METHOD_PRIV, PBDMA_METHOD_ADDR, PBDMA_METHOD_SUBCH,
		PBDMA_METHOD_FIRST, PBDMA_METHOD_VALID);
LAYOUT_DISJOINT(PBDMA_INTR0_MEMOP, PBDMA_INTR0_LBREQ, PBDMA_INTR0_GPFIFO, PBDMA_INTR0_GPPTR,
		PBDMA_INTR0_GPENTRY, PBDMA_INTR0_GPCRC, PBDMA_INTR0_PBPTR, PBDMA_INTR0_PBENTRY,
		PBDMA_INTR0_PBCRC, PBDMA_INTR0_XBARCONNECT, PBDMA_INTR0_METHOD, PBDMA_INTR0_UNK28,
		PBDMA_INTR0_METHODCRC, PBDMA_INTR0_DEVICE, PBDMA_INTR0_SEMAPHORE,
		PBDMA_INTR0_ACQUIRE, PBDMA_INTR0_PRI, PBDMA_INTR0_PBSEG, PBDMA_INTR0_SIGNATURE);
static_assert(PBDMA_INTR0_FATAL == 0xc67fe000 && PBDMA_INTR0_NO_STALL == 0x10000100,
	      "nouveau's masks");
LAYOUT_DISJOINT(PBDMA_CHANNEL_ID, PBDMA_CHANNEL_VALID);
LAYOUT_DISJOINT(PCCSR_INST_PTR, PCCSR_INST_TARGET, PCCSR_INST_BIND);
LAYOUT_DISJOINT(PCCSR_CHAN_ENABLED, PCCSR_CHAN_FORCE_RELOAD, PCCSR_CHAN_MARK_PENDING,
		PCCSR_CHAN_ENABLE_SET, PCCSR_CHAN_ENABLE_CLR, PCCSR_CHAN_RUNLIST, PCCSR_CHAN_STATUS,
		PCCSR_CHAN_BUSY);
LAYOUT_FITS(PCCSR_CHAN_STATUS, PCCSR_STATUS_ON_ENG_PENDING);
/* room for the highest id */
LAYOUT_FITS(PFIFO_PREEMPT_ID, GK110_FIFO_NR_CHAN - 1);
LAYOUT_FITS(PFIFO_STATUS_ID, GK110_FIFO_NR_CHAN - 1);
LAYOUT_FITS(PFIFO_STATUS_NEXT_ID, GK110_FIFO_NR_CHAN - 1);
LAYOUT_FITS(PBDMA_CHANNEL_ID, GK110_FIFO_NR_CHAN - 1);
LAYOUT_FITS(PFIFO_PREEMPT_ID, GK110_FIFO_NR_TSG - 1);
LAYOUT_FITS(PFIFO_STATUS_ID, GK110_FIFO_NR_TSG - 1);
LAYOUT_FITS(PFIFO_RUNLIST_ID, PFIFO_ENG_RUNLIST_NR - 1);
LAYOUT_FITS(PCCSR_CHAN_RUNLIST, PFIFO_ENG_RUNLIST_NR - 1);
static_assert(PCCSR_INST(0) == PCCSR_BASE &&
		      PCCSR_CHAN(GK110_FIFO_NR_CHAN - 1) + 4 == PCCSR_BASE + PCCSR_SIZE,
	      "channel table");
static_assert(PFIFO_ENG_RUNLIST(PFIFO_ENG_RUNLIST_NR - 1) < PFIFO_ENG_TIMESLICE(0) &&
		      PFIFO_ENG_TIMESLICE(PFIFO_ENG_TIMESLICE_NR - 1) < PFIFO_ENG_PB_TIMESLICE(0) &&
		      PFIFO_ENG_PB_TIMESLICE(PFIFO_ENG_TIMESLICE_NR - 1) <
			      PFIFO_PBDMA_RUNLISTS(0) &&
		      PFIFO_ENGINE_STATUS(PFIFO_ENGINE_STATUS_NR - 1) < PFIFO_MMU_FAULT_RECORDS &&
		      PFIFO_MMU_FAULT_RECORDS_END == PFIFO_RUNLIST_EVENT &&
		      PFIFO_PBDMA_STATUS(PFIFO_PBDMA_STATUS_NR - 1) < PFIFO_BASE + PFIFO_SIZE &&
		      PBDMA(PFIFO_PBDMA_STATUS_NR) <= PBDMA_END &&
		      PBDMA_CE_STATE + 0x80 <= PBDMA_STRIDE,
	      "arrays of registers");

#endif
