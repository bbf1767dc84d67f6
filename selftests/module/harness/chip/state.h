/* SPDX-License-Identifier: GPL-2.0-only */
/* What the model of the chip is made of: for this folder, and for tests that look into the chip. */
#ifndef KVGPU_HARNESS_CHIP_STATE_H
#define KVGPU_HARNESS_CHIP_STATE_H

#include "kvgpu/types.h"
#include "selftests/module/harness/chip/chip.h"

#define NO_CHAN	    0xffff
#define FIRST_GUEST 8 /* the ids below are the host's group */
#define TLB_MAX	    8192
#define PRI_ERROR   0xbadf0000u
#define INVALS_MAX  8
#define QUEUE_MAX   8 /* invalidates in the MMU's queue: FB_MMU_CTRL_FIFO_SPACE */
#define WRITTEN_MAX 512
/* A ring of nothing but NON_STALL_INTERRUPTs raises one in this time. */
#define NONSTALL_NS 2000

struct context { /* a channel as a unit has it: as it was at the load */
	u16 chid, id;
	bool tsg;
	/* stuck: holds the engine until the engine's reset; for_good: even after a reset */
	bool stuck, for_good;
	u64 inst, pd;
	u32 vgpu;
};

struct chip {
	u32 *reg;
	u8 *vram;
	struct chip_manners manners;
	struct {
		u64 inst;
		bool bound, enabled;
		u8 runl;
		u32 vgpu;
	} chan[KVGPU_MAX_CHAN];
	struct {
		u64 entry[2 * KVGPU_MAX_CHAN];
		u32 nr;
	} list[CHIP_RUNLS];
	/* the channel has something to do; false: its doorbell memory says whether */
	bool at_work[KVGPU_MAX_CHAN];
	struct context pbdma[CHIP_RUNLS], engine[CHIP_RUNLS]; /* chid NO_CHAN: empty */
	struct tlb_entry {
		u64 pd, va, pte;
		u32 vgpu;
		bool big;
		u32 looked; /* the last of .looks that asked the oracle about it as a leaf */
		u16 next; /* as .tlb_chain */
	} tlb[TLB_MAX];
	u16 tlb_chain[1024]; /* by hash: 1 + the index of the first entry; 0: none */
	u32 nr_tlb, loads, looks;
	struct {
		u64 pd;
		bool all;
	} inval[INVALS_MAX]; /* under way */
	u32 nr_inval;
	u32 mem_ops; /* invalidates of guests' channels in the MMU's queue */
	u32 preempt_late, flush_late, runl_late, copy_late;
	/* flushes, at (register - FLUSH_BAR) / 4: how many were begun, and of these have ended */
	struct {
		u32 begun, ended;
	} flush[5];
	bool preempting, looking, gr_halts;
	bool no_master; /* it reaches no system memory */
	bool copy_held; /* the host's copies wait, with the words that they had when rung for */
	u32 copy_put;
	/* copy_stays: no reset ends the host's copies; stays_on: PMC_ENABLE reads all ones */
	bool copy_stays, stays_on;
	bool unposted;
	u64 memory_end; /* memory from here on does not answer; 0: all does */
	u32 ones; /* for so many reads FB_MMU_CTRL gives all ones */
	u64 nonstall_at, hold_until, switch_until;
	/* a copy engine saves .switching until .switch_until; with .switching_to, both in turns */
	u16 switching, switching_to;
	/* channel for which that engine works until .copying_until */
	u16 copying;
	u64 copying_until;
	bool copies_tsg; /* .copying, .switching and .switching_to are ids of groups */
	/*
	 * if not 0: PBDMA 0, which does not stop at what it interrupts for, goes on to .next_chid
	 * when its channel has been read once, and stops there with these interrupts
	 */
	u32 next_intr;
	u16 next_chid;
	/* the first writes since .nr_written was 0 */
	struct {
		u32 reg, val;
	} written[WRITTEN_MAX];
	u32 nr_written;
};

extern struct chip chip;

u64 chip_pd(u64 inst); /* the directory that an instance block names */
u64 chip_bar_inst(unsigned int bar);
u64 chip_bar_pd(unsigned int bar);
/* Return true when unit @c has the channel or group that the preempt register names. */
bool chip_is_preempted(const struct context *c);
/* A guest's channel, bound, enabled, of @runl, which is not stopped. It may not be listed. */
bool chip_may_load(u16 chid, u8 runl);
/* Load a channel of @runl's list: @want if it may be loaded, else any that may be. */
void chip_load_some(u8 runl, u16 want);
/* A held engine, or a manner of the chip (..._stay), keeps the preempt from its end. */
bool chip_held_up(void);
u32 chip_copy_engine_status(u32 e);
/* Return PBDMA_CHANNEL of PBDMA 0, which .next_intr may change after this read. */
u32 chip_pbdma_channel(void);
/* Free GR when the time of a chip_hold() is over. */
void chip_end_held_work(void);

#endif
