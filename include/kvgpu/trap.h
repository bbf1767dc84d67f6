/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mmio-trap: what a guest's access to BAR0 means. Pure: no allocation, lock, clock or MMIO.
 *
 * The room keeps the vGPU's registers and answers all it can by itself. What has an effect outside
 * of the register file comes out as one command, fully decoded and checked for form (not for
 * ownership: that is for the one who carries it out). What the hardware or the host has to tell the
 * guest goes in as an event. Decode before commit: a command never refers back to guest memory or
 * registers.
 *
 * Locks: the caller serialises all calls for one vGPU (vgpu->lock).
 */
#ifndef KVGPU_TRAP_H
#define KVGPU_TRAP_H

#include "kvgpu/types.h"

/* ------------------------------------------------------------------ configuration and state */

/*
 * The part of BAR0 whose registers do nothing on a vGPU but keep their values: timing and training
 * of memory, which is the host's business. nouveau writes 1,504 of them at each load. They may live
 * in memory that the guest maps: @plain below.
 */
#define KVGPU_TRAP_PLAIN_BASE	0x10e000
#define KVGPU_TRAP_PLAIN_SIZE	0x2000

struct kvgpu_trap_cfg {
	const struct kvgpu_topo *topo;
	/* of the vGPU; a multiple of 4 MiB: shown as 4 equal partitions */
	u64 vram_size;
	/* what 0x409804 answers: host context size plus one page for the host's patch list */
	u32 gr_ctx_size;
	const u8 *vbios;		/* PROM contents */
	u32 vbios_size;
	u64 ptimer_offset;		/* added to the host's PTIMER time */
	/*
	 * KVGPU_TRAP_PLAIN_SIZE bytes, may change at any time; NULL: these registers are in the
	 * file too
	 */
	u32 *plain;
};

/*
 * One register of the file. The file is an open-addressed hash of fixed size, memory comes from the
 * creator: a guest that writes more registers than fit loses the values of further ones (counted),
 * nothing else.
 */
struct kvgpu_reg_slot {
	u32 reg;			/* offset | 1 when used */
	u32 val;
	u32 rd, wr;			/* accesses, for debugfs */
};
/* power of two; stock nouveau touches about 6,500 registers */
#define KVGPU_TRAP_SLOTS	16384

/* falcon memories that a guest uploads into and reads back (PMU, FECS, GPCCS broadcast) */
struct kvgpu_vfalcon {
	u32 dmem[4096 / 4];
	u32 dmem_ctl, imem_ctl;
	u32 scratch[16];		/* 0x800.. */
	bool started;
};

struct kvgpu_trap {
	struct kvgpu_trap_cfg cfg;
	struct kvgpu_reg_slot *slot;	/* KVGPU_TRAP_SLOTS of them, zeroed by the creator */
	u32 nr_slots_used;
	struct kvgpu_vfalcon falcon[3];

	/* interrupt tree as the guest sees it */
	u32 intr_src;			/* leaf 0 sources that are raised */
	u32 intr_nrhost;		/* leaf 1 sources that are raised */
	bool line;			/* what the guest's interrupt line shows */
	/* the line rose or was re-armed, and nobody has asked since */
	bool edge;

	/* PFIFO */
	u32 fifo_intr;			/* sticky bits of 0x2100 */
	/*
	 * the driver has enabled NON_STALL_INTERRUPT, which it does while somebody waits: for
	 * callers
	 */
	bool wants_nonstall;
	u32 fault_pending;		/* 0x259c */
	u32 fault_rec[32][4];		/* 0x2800 + 16 * unit */
	u32 pbdma_pending;		/* 0x25a0 */
	struct {
		u32 intr0, intr1, method, data, chid, hce_method, hce_data;
	} pbdma[KVGPU_MAX_PBDMA];
	u32 runl_event;			/* 0x2a00 */
	u32 runl_blocked;		/* 0x2630 */
	struct { u32 inst, ctrl; } chan[KVGPU_MAX_CHAN];	/* 0x800000 + 8 * chid as written */
	u32 engine_status[KVGPU_MAX_ENGINE];			/* 0x2640 + 8 * id in guest ids */
	bool preempt_pending;
	/* a GR exception was reported and GR was not restarted since */
	bool gr_halted;
	/* guest's PTIMER minus the host's: cfg's value plus what the guest set */
	u64 ptimer_offset;
	u64 ptimer_alarm;		/* host time in ns, 0 = not armed */

	/*
	 * counters, for sysfs and debugfs; nr_denied: accesses of registers that are dangerous or
	 * commands without form
	 */
	u64 nr_reads, nr_writes, nr_unlisted, nr_dropped, nr_denied;
};

void kvgpu_trap_init(struct kvgpu_trap *t, const struct kvgpu_trap_cfg *cfg,
		     struct kvgpu_reg_slot *slots);
/* back to the state of a POSTed card; slots are cleared */
void kvgpu_trap_reset(struct kvgpu_trap *t);

/* ------------------------------------------------------------------ accesses and commands */

enum kvgpu_cmd_kind {
	KVGPU_CMD_NONE = 0,
	KVGPU_CMD_CHAN_BIND,	/* .chan: instance pointer written with the bind bit set */
	KVGPU_CMD_CHAN_UNBIND,	/* .chan */
	KVGPU_CMD_CHAN_ENABLE,	/* .chan */
	KVGPU_CMD_CHAN_DISABLE,	/* .chan */
	KVGPU_CMD_RUNLIST,	/* .runlist: submit */
	KVGPU_CMD_PREEMPT,	/* .preempt */
	KVGPU_CMD_RUNL_BLOCK,	/* .mask: runlists that became blocked */
	KVGPU_CMD_RUNL_ALLOW,	/* .mask: runlists that became unblocked */
	KVGPU_CMD_TLB,		/* .tlb: invalidate, the trigger of shadowing */
	KVGPU_CMD_BAR_BIND,	/* .bar: BAR1 or BAR3 instance block, or physical mode */
	KVGPU_CMD_USERD,	/* .userd: where in the guest's BAR1 the doorbells are */
	KVGPU_CMD_PRAMIN,	/* .pramin: the window moved (mapped windows must follow) */
	/* BAR writes and L2; .mask: the register (0x70000, 0x70004, 0x70010) */
	KVGPU_CMD_FLUSH,
	KVGPU_CMD_GR_BIND,	/* .inst: FECS command "bind", golden context about to be made */
	/* .inst: the guest waits for its golden image: write the host's to its context VA */
	KVGPU_CMD_GR_SAVE,
	/* .mask: engines (index into topo.engine) that PMC_ENABLE reset; bit 31: PFIFO */
	KVGPU_CMD_ENGINE_RESET,
	/* .trigger: nouveau's ctxsw-timeout recovery asks for a fault of an engine */
	KVGPU_CMD_FAULT_TRIGGER,
	/* .pbdma: the guest acknowledged a PBDMA interrupt: the channel may go on */
	KVGPU_CMD_PBDMA_ACK,
	KVGPU_CMD_GR_ACK,	/* the guest acknowledged a GR exception */
	KVGPU_CMD_CE_ACK,	/* .mask: engines whose CE interrupt was acknowledged */
	KVGPU_CMD_IRQ,		/* the interrupt line or its edge changed: see kvgpu_trap_irq() */
	KVGPU_CMD_ALARM,	/* ptimer_alarm changed: (re)arm a timer */
};

struct kvgpu_cmd {
	enum kvgpu_cmd_kind kind;
	bool irq;		/* besides @kind: look at kvgpu_trap_irq() */
	union {
		struct { gchid_t id; u8 runl; struct kvgpu_gaddr inst; } chan;
		struct { u8 runl; u16 count; struct kvgpu_gaddr list; } runlist;
		struct { bool tsg; u16 id; } preempt;
		u32 mask;
		struct { struct kvgpu_gaddr pd; bool all_va, all_pd, hub_only; } tlb;
		/* bar is 1 or 3 */
		struct { u8 bar; bool is_virtual; struct kvgpu_gaddr inst; } bar;
		struct { bool valid; u64 bar1_off; } userd;
		struct { struct kvgpu_gaddr base; } pramin;
		struct kvgpu_gaddr inst;
		struct { u8 engine; u8 unit; } trigger;
		struct { u8 pbdma; u32 intr0, intr1; bool skip; } pbdma;
	};
};

/*
 * One 32-bit access, aligned; @be has 0xff for each byte written. The caller splits wider accesses
 * and has taken PRAMIN (0x700000-0x7fffff) out before. @now: host PTIMER, ns.
 */
u32 kvgpu_trap_read(struct kvgpu_trap *t, u32 reg, u64 now);
void kvgpu_trap_write(struct kvgpu_trap *t, u32 reg, u32 val, u32 be, u64 now,
		      struct kvgpu_cmd *cmd);

/*
 * One word of the virtual configuration space (@off < 4096, aligned) for its mirror at 0x88000. To
 * be told after init and reset for every word that is not 0, and after each change.
 */
void kvgpu_trap_config(struct kvgpu_trap *t, u16 off, u32 val);

/* ------------------------------------------------------------------ events */

/*
 * All set what the guest will read; kvgpu_trap_irq() tells afterwards whether to interrupt. Ids are
 * the guest's.
 */
void kvgpu_trap_runlist_done(struct kvgpu_trap *t, u8 runl);
void kvgpu_trap_preempt_done(struct kvgpu_trap *t);
void kvgpu_trap_nonstall(struct kvgpu_trap *t);
/* a rewritten fault record: unit, guest instance address, VA, info word as in 0x280c */
void kvgpu_trap_mmu_fault(struct kvgpu_trap *t, u8 unit, u64 inst, u64 va, u32 info);
void kvgpu_trap_sched_error(struct kvgpu_trap *t, u32 code);
struct kvgpu_pbdma_snap {
	u8 pbdma;
	gchid_t chid;
	u32 intr0, intr1, method, data, hce_method, hce_data;
};
void kvgpu_trap_pbdma(struct kvgpu_trap *t, const struct kvgpu_pbdma_snap *s);
/*
 * Registers of a GR exception as the host read them: pairs for the file (0x409b00 with the guest's
 * instance among them), then intr (0x400100), trap (0x400108).
 */
void kvgpu_trap_gr(struct kvgpu_trap *t, u32 intr, u32 trap, const struct kvgpu_reg_val *regs,
		   u32 nr);
void kvgpu_trap_ce(struct kvgpu_trap *t, u8 engine, u32 intr, u32 code);
void kvgpu_trap_engine_status(struct kvgpu_trap *t, u8 engine, u32 status);
void kvgpu_trap_alarm(struct kvgpu_trap *t, u64 now);
/* channel ctrl word bits that the host keeps (enabled, busy, status) */
void kvgpu_trap_chan_status(struct kvgpu_trap *t, gchid_t id, u32 status);

/*
 * The interrupt output after any access or event: *@edge asks for one message (MSI), the value is
 * the line (INTx). A call takes the edge: asked twice, it is told once.
 */
bool kvgpu_trap_irq(struct kvgpu_trap *t, bool *edge);

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
 * Slots with rd == wr == 0 were only reserved; those of class UNLISTED are what the tables do not
 * know.
 */
/* the table line that covers @reg; false (class UNLISTED) when there is none */
bool kvgpu_trap_info(u32 reg, struct kvgpu_reg_info *info);
/* checks the tables: sorted, no overlap, every hook reachable; NULL or what is wrong */
const char *kvgpu_trap_check_tables(void);

#endif
