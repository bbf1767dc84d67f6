/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mmio-trap: the effect of a guest's access to BAR0. Pure: no allocation, lock, clock or MMIO.
 *
 * The room keeps the vGPU's registers and answers by itself where it can. An effect outside of the
 * register file is returned as one command, fully decoded and checked for form. The caller that
 * carries a command out checks ownership. Reports of the hardware or the host to the guest come in
 * as events. Decode before commit: a command never refers back to guest memory or registers.
 *
 * Locks: the caller serialises all calls for one vGPU (vgpu->lock).
 */
#ifndef KVGPU_TRAP_H
#define KVGPU_TRAP_H

#include "gk110/pfb.h"
#include "kvgpu/types.h"

/* ------------------------------------------------------------------ configuration and state */

/*
 * A part of BAR0 whose registers keep their values and have no other effect on a vGPU: timing and
 * training of memory, which is the host's business. nouveau writes 1,504 times to eight of them at
 * each load (gk104_ram_train_init_0()). They may be in memory that the guest maps: @plain below.
 */
#define KVGPU_TRAP_PLAIN_BASE	PBFB_BCAST
#define KVGPU_TRAP_PLAIN_SIZE	0x2000

struct kvgpu_trap_cfg {
	const struct kvgpu_topo *topo;
	/* bytes of video memory of the vGPU, a multiple of 4 MiB: shown as 4 equal partitions */
	u64 vram_size;
	/*
	 * bytes, FECS scratch register 1: host context size plus one page for the host's patch list
	 */
	u32 gr_ctx_size;
	const u8 *vbios;		/* contents of PROM */
	u32 vbios_size;
	u64 ptimer_offset;		/* ns, added to the host's PTIMER time */
	/*
	 * KVGPU_TRAP_PLAIN_SIZE bytes, which the guest may change at any time; NULL: these
	 * registers are in the file
	 */
	u32 *plain;
};

/*
 * One register of the file. The file is an open-addressed hash of fixed size, in memory of the
 * creator. If a guest writes more registers than fit, the values of further registers are lost (and
 * counted in .nr_dropped).
 */
struct kvgpu_reg_slot {
	u32 reg;			/* offset | 1; 0: unused */
	u32 val;
	u32 rd, wr;			/* counts of accesses, for debugfs */
};
/* power of two; stock nouveau touches about 6,500 registers */
#define KVGPU_TRAP_SLOTS	16384

/*
 * State of a virtual falcon: memories that a guest writes and reads back (PMU, FECS, GPCCS
 * broadcast).
 */
struct kvgpu_vfalcon {
	u32 dmem[4096 / 4];
	u32 dmem_ctl, imem_ctl;
	u32 scratch[16];		/* registers from 0x800 on */
	bool started;
};

struct kvgpu_trap {
	struct kvgpu_trap_cfg cfg;
	struct kvgpu_reg_slot *slot;	/* KVGPU_TRAP_SLOTS of them, zeroed by the creator */
	u32 nr_slots_used;
	struct kvgpu_vfalcon falcon[3];

	/* The interrupt tree as the guest sees it. */
	u32 intr_src;			/* raised sources of leaf 0 */
	u32 intr_nrhost;		/* raised sources of leaf 1 */
	bool line;			/* the guest's interrupt line is up */
	/* the line rose or was re-armed since the last kvgpu_trap_irq_take() */
	bool edge;

	/* PFIFO */
	u32 fifo_intr;			/* PFIFO_INTR, without its level bits */
	/*
	 * the driver has enabled NON_STALL_INTERRUPT, as it does while a client waits; the caller
	 * may read this
	 */
	bool wants_nonstall;
	u32 fault_pending;		/* PFIFO_MMU_FAULT_SOURCE */
	u32 fault_rec[32][4];		/* PFIFO_MMU_FAULT_RECORDS */
	u32 pbdma_pending;		/* PFIFO_PBDMA_INTR_SOURCE */
	struct {
		u32 intr0, intr1, method, data, chid, hce_method, hce_data;
	} pbdma[KVGPU_MAX_PBDMA];
	u32 runl_event;			/* PFIFO_RUNLIST_EVENT */
	u32 runl_blocked;		/* PFIFO_RUNLIST_BLOCK */
	struct { u32 inst, ctrl; } chan[KVGPU_MAX_CHAN];	/* PCCSR_INST, PCCSR_CHAN */
	/* PFIFO_ENGINE_STATUS, with guest ids */
	u32 engine_status[KVGPU_MAX_ENGINE];
	bool preempt_pending;
	/* a GR exception was reported, and the guest has not restarted GR since */
	bool gr_halted;
	u64 ptimer_offset;		/* ns; the guest's PTIMER minus the host's */
	u64 ptimer_alarm;		/* host time in ns; 0: not armed */

	/*
	 * Counters, for sysfs and debugfs. nr_denied: accesses of denied registers, and commands
	 * without a valid form.
	 */
	u64 nr_reads, nr_writes, nr_unlisted, nr_dropped, nr_denied;
};

void kvgpu_trap_init(struct kvgpu_trap *t, const struct kvgpu_trap_cfg *cfg,
		     struct kvgpu_reg_slot *slots);
/* Resets to the state of a POSTed card. The slots are cleared, the counters stay. */
void kvgpu_trap_reset(struct kvgpu_trap *t);

/* ------------------------------------------------------------------ accesses and commands */

enum kvgpu_cmd_kind {
	KVGPU_CMD_NONE = 0,
	KVGPU_CMD_CHAN_BIND,	/* .chan: an instance pointer was written with the bind bit set */
	KVGPU_CMD_CHAN_UNBIND,	/* .chan */
	KVGPU_CMD_CHAN_ENABLE,	/* .chan */
	KVGPU_CMD_CHAN_DISABLE,	/* .chan */
	KVGPU_CMD_RUNLIST,	/* .runlist: submit */
	KVGPU_CMD_PREEMPT,	/* .preempt */
	KVGPU_CMD_RUNL_BLOCK,	/* .mask: runlists that are blocked now */
	KVGPU_CMD_RUNL_ALLOW,	/* .mask: runlists that are not blocked any more */
	KVGPU_CMD_TLB,	/* .tlb: the guest invalidates its TLB: the caller syncs its shadows */
	KVGPU_CMD_BAR_BIND,	/* .bar: instance block of BAR1 or BAR3, or physical mode */
	KVGPU_CMD_USERD,	/* .userd: BAR1 offset of the guest's doorbells */
	KVGPU_CMD_PRAMIN,	/* .pramin: the window moved, and its mappings must follow */
	/* flush of BAR writes or of L2; .mask: offset of the register (FLUSH_BAR, FLUSH_L2_*) */
	KVGPU_CMD_FLUSH,
	/*
	 * .inst: the guest has given FECS this channel, by "set channel" or by a switch. Its driver
	 * does so before it makes its golden context by register writes.
	 */
	KVGPU_CMD_GR_BIND,
	/*
	 * .inst: the guest waits for its golden image: write the host's image to the instance's
	 * context VA
	 */
	KVGPU_CMD_GR_SAVE,
	/* .mask: engines (index in topo.engine) that PMC_ENABLE reset; bit 31: PFIFO */
	KVGPU_CMD_ENGINE_RESET,
	/* .trigger: nouveau's recovery of a context switch timeout asks for a fault of an engine */
	KVGPU_CMD_FAULT_TRIGGER,
	/* .pbdma: the guest acknowledged a PBDMA interrupt; the channel may go on */
	KVGPU_CMD_PBDMA_ACK,
	KVGPU_CMD_GR_ACK,	/* the guest acknowledged a GR exception */
	KVGPU_CMD_CE_ACK,	/* .mask: engines whose copy interrupt was acknowledged */
	/* the interrupt line or its edge has changed: see kvgpu_trap_irq_take() */
	KVGPU_CMD_IRQ,
	KVGPU_CMD_ALARM,	/* ptimer_alarm has changed: arm or stop a timer */
};

struct kvgpu_cmd {
	enum kvgpu_cmd_kind kind;
	/*
	 * besides what .kind says, the interrupt line or its edge has changed: see
	 * kvgpu_trap_irq_take()
	 */
	bool irq;
	union {
		struct { gchid_t id; u8 runl; struct kvgpu_gaddr inst; } chan;
		struct { u8 runl; u16 count; struct kvgpu_gaddr list; } runlist;
		struct { bool tsg; u16 id; } preempt;
		u32 mask;
		struct { struct kvgpu_gaddr pd; bool all_va, all_pd, hub_only; } tlb;
		struct { enum kvgpu_bar bar; bool is_virtual; struct kvgpu_gaddr inst; } bar;
		struct { bool valid; u64 bar1_off; } userd;
		struct { struct kvgpu_gaddr base; } pramin;
		struct kvgpu_gaddr inst;
		struct { u8 engine; u8 unit; } trigger;
		struct { u8 pbdma; u32 intr0, intr1; bool skip; } pbdma;
	};
};

/**
 * kvgpu_trap_read() - read a register
 * @t: the vGPU's registers
 * @reg: offset in BAR0, aligned; not in PRAMIN (0x700000-0x7fffff)
 * @now: host PTIMER, ns
 *
 * Return: the value that the guest reads.
 */
u32 kvgpu_trap_read(struct kvgpu_trap *t, u32 reg, u64 now);
/**
 * kvgpu_trap_write() - write a register
 * @t: the vGPU's registers
 * @reg: offset in BAR0, aligned; not in PRAMIN
 * @val: value
 * @be: 0xff for each byte that is written; the caller splits wider accesses
 * @now: host PTIMER, ns
 * @cmd: the command that the write asks for, or KVGPU_CMD_NONE
 */
void kvgpu_trap_write(struct kvgpu_trap *t, u32 reg, u32 val, u32 be, u64 now,
		      struct kvgpu_cmd *cmd);

/*
 * Sets one word of the virtual configuration space (@off < 4096, aligned) in its mirror
 * (PPCI_BASE). Call it after init and reset for every word that is not 0, and after each change of
 * a word.
 */
void kvgpu_trap_config_set(struct kvgpu_trap *t, u16 off, u32 val);

/* ------------------------------------------------------------------ events */

/*
 * Reports to the guest. They set the registers that the guest will read; kvgpu_trap_irq_take()
 * tells afterwards whether to interrupt. Ids are the guest's.
 */
void kvgpu_trap_runlist_done(struct kvgpu_trap *t, u8 runl);
void kvgpu_trap_preempt_done(struct kvgpu_trap *t);
void kvgpu_trap_nonstall(struct kvgpu_trap *t);
/*
 * Reports an MMU fault: a fault record with the guest's values: unit, instance address, VA, info
 * word (GMMU_FAULT_INFO).
 */
void kvgpu_trap_mmu_fault(struct kvgpu_trap *t, u8 unit, u64 inst, u64 va, u32 info);
void kvgpu_trap_sched_error(struct kvgpu_trap *t, u32 code);
struct kvgpu_pbdma_snap {
	u8 pbdma;
	gchid_t chid;
	u32 intr0, intr1, method, data, hce_method, hce_data;
};
void kvgpu_trap_pbdma(struct kvgpu_trap *t, const struct kvgpu_pbdma_snap *s);
/*
 * Registers of a GR exception as the host read them: pairs for the file (among them FECS_CHAN_ADDR
 * with the guest's instance), then GR_INTR and GR_TRAP.
 */
void kvgpu_trap_gr(struct kvgpu_trap *t, u32 intr, u32 trap, const struct kvgpu_reg_val *regs,
		   u32 nr);
void kvgpu_trap_ce(struct kvgpu_trap *t, u8 engine, u32 intr, u32 code);
void kvgpu_trap_engine_status_set(struct kvgpu_trap *t, u8 engine, u32 status);
void kvgpu_trap_alarm_ring(struct kvgpu_trap *t, u64 now);
/* Sets the bits of PCCSR_CHAN that the host owns (enabled, busy, status). */
void kvgpu_trap_chan_status_set(struct kvgpu_trap *t, gchid_t id, u32 status);

/**
 * kvgpu_trap_irq_take() - take the state of the interrupt output
 * @t: the vGPU's registers
 * @edge: one message (MSI) is due; the call takes the edge, so that the next call does not return
 *   it again
 *
 * Call it after any access or event.
 *
 * Return: the line (INTx).
 */
bool kvgpu_trap_irq_take(struct kvgpu_trap *t, bool *edge);

/* ------------------------------------------------------------------ for debugfs and docs */

enum kvgpu_reg_class {
	KVGPU_REG_UNLISTED,
	KVGPU_REG_CONST,
	KVGPU_REG_FILE,
	KVGPU_REG_EMULATE,
	KVGPU_REG_TRAP,
	KVGPU_REG_DENY
};

struct kvgpu_reg_info {
	const char *unit, *name, *why, *src;
	enum kvgpu_reg_class rd, wr;
};
/*
 * Finds the table line that covers @reg. False (class UNLISTED) if there is none. A slot whose
 * counts .rd and .wr are both 0 is only reserved: the guest has not accessed its register.
 */
bool kvgpu_trap_info(u32 reg, struct kvgpu_reg_info *info);
/* Checks the tables: sorted, no overlap, every hook reachable. NULL, or the first error. */
const char *kvgpu_trap_check_tables(void);

#endif
