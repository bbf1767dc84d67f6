/* SPDX-License-Identifier: GPL-2.0-only */
/* What the model of the chip is made of, for the files of this folder. */
#ifndef KVGPU_HARNESS_CHIP_STATE_H
#define KVGPU_HARNESS_CHIP_STATE_H

#include "kvgpu/types.h"
#include "selftests/harness/chip/chip.h"

#define NO_CHAN		0xffff
#define FIRST_GUEST	8		/* the ids below are the host's group */
#define TLB_MAX		8192
#define PRI_ERROR	0xbadf0000u
#define INVALS_MAX	8
#define WRITTEN_MAX	512
/* A ring of nothing but NON_STALL_INTERRUPTs raises one in this time. */
#define NONSTALL_NS	2000

struct context {		/* a channel as a unit has it: as it was at the load */
	u16 chid, id;
	bool tsg;
	bool stuck, for_good;	/* holds the engine until its reset; for_good: even then */
	u64 inst, pd;
	u32 vgpu;
};

struct chip {
	u32 *reg;
	u8 *vram;
	struct chip_manners manners;
	struct { u64 inst; bool bound, enabled; u8 runl; u32 vgpu; } chan[KVGPU_MAX_CHAN];
	struct { u64 entry[2 * KVGPU_MAX_CHAN]; u32 nr; } list[CHIP_RUNLS];
	bool at_work[KVGPU_MAX_CHAN];
	struct context pbdma[CHIP_RUNLS], engine[CHIP_RUNLS];	/* chid NO_CHAN: empty */
	struct { u64 pd, va, pte; u32 vgpu; bool big; } tlb[TLB_MAX];
	u32 nr_tlb, loads;
	struct { u64 pd; bool all; } inval[INVALS_MAX];		/* under way */
	u32 nr_inval;
	u32 preempt_late, flush_late, runl_late, copy_late;
	bool preempting, looking, no_master, copy_held, gr_halts;
	u32 copy_put;
	u64 nonstall_at, hold_until;
	/* the first writes since chip_watch_writes() */
	struct { u32 reg, val; } written[WRITTEN_MAX];
	u32 nr_written;
};

extern struct chip chip;

u64 chip_bar_pd(unsigned int bar);
void chip_raise(u32 bits);		/* set in PFIFO_INTR; 0: the caller has set a level */
bool chip_may_load(u16 chid, u8 runl);		/* bound, enabled, of @runl, which is not stopped */
void chip_load_some(u8 runl, u16 want);	/* @want if it may be loaded, else any */
bool chip_held_up(void);		/* an engine keeps what is preempted: no end */
void chip_end_held_work(void);	/* frees GR when chip_hold()'s time is over */

#endif
