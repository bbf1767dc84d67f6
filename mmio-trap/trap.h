/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mmio-trap: the effect of a guest's access to BAR0. Pure: no allocation, lock, clock or MMIO.
 *
 * mmio-trap keeps the vGPU's registers. An access that asks for an effect outside of them, such as
 * the submit of a runlist, returns one command (struct kvgpu_cmd), decoded and of good form. The
 * caller checks that what the command names is the guest's, and carries it out. Reports to the
 * guest come in as events. The caller also reads kvgpu_trap_irq_take() and the members
 * .ptimer_alarm, .wants_nonstall, .gr_halted and .runl_blocked.
 *
 * The caller serialises all calls for one vGPU (vgpu->lock).
 */
#ifndef KVGPU_TRAP_H
#define KVGPU_TRAP_H

#include "gk110/pfb.h"
#include "kvgpu/types.h"

/* ------------------------------------------------ configuration and state of a vGPU's registers */

/*
 * A part of BAR0 whose registers only keep their values: timing and training of memory. They may be
 * in memory that the guest maps (kvgpu_trap_cfg.plain), so that nouveau's many writes need not
 * trap.
 */
#define KVGPU_TRAP_PLAIN_BASE PBFB_BCAST
#define KVGPU_TRAP_PLAIN_SIZE 0x2000

/*
 * The page of BAR0 with the registers of the MMU (pmmu.c). They may be in memory that the guest
 * maps at times (kvgpu_trap_cfg.mmu): an invalidate that it asks for then is no command.
 */
#define KVGPU_TRAP_MMU_BASE PFFB_BASE
#define KVGPU_TRAP_MMU_SIZE PFFB_SIZE

struct kvgpu_trap_cfg {
	const struct kvgpu_topo *topo;
	/* bytes of video memory, a multiple of 4 MiB; the guest sees 4 equal partitions */
	u64 vram_size;
	/*
	 * bytes of a graphics context, as the virtual FECS reports it to the guest: the host's
	 * context and the data that the host puts behind it (mdev/machine/grctx.c)
	 */
	u32 gr_ctx_size;
	/* contents of PROM, .vbios_size bytes; the guest may map and change them */
	const u8 *vbios;
	u32 vbios_size;
	/*
	 * ns, the guest's PTIMER minus the host's; 0 in the module, because the GPU stamps memory
	 * with the host's PTIMER
	 */
	u64 ptimer_offset;
	/*
	 * registers from KVGPU_TRAP_PLAIN_BASE on, which the guest may change at any time; NULL:
	 * they are in the register file
	 */
	u32 *plain;
	/* the same from KVGPU_TRAP_MMU_BASE on */
	u32 *mmu;
};

/*
 * One register of the register file, in which mmio-trap keeps the values of a vGPU's registers. The
 * file is an open-addressed hash of fixed size, in memory of the caller. Without a free slot a
 * value is lost and counted (.nr_dropped).
 */
struct kvgpu_reg_slot {
	u32 reg; /* offset in BAR0, with bit 0 set; 0: the slot is unused */
	u32 val;
	/*
	 * counts of the guest's reads and writes of the register, for debugfs; both are 0 if only
	 * mmio-trap itself has used the slot
	 */
	u32 rd, wr;
};
/* number of slots, a power of two */
#define KVGPU_TRAP_SLOTS 16384

/*
 * State of a virtual falcon. A falcon is a microcontroller of the GPU: PMU, FECS, or GPCCS. The
 * virtual GPCCS stands for those of all GPCs (broadcast). No program runs in a virtual falcon. A
 * guest can write and read the data memory.
 */
struct kvgpu_vfalcon {
	u32 dmem[4096 / 4];
	u32 dmem_ctl, imem_ctl;
	u32 scratch[16]; /* FECS only: registers FECS_SCRATCH(i) */
	bool started;
};

struct kvgpu_trap {
	struct kvgpu_trap_cfg cfg;
	struct kvgpu_reg_slot *slot; /* array of KVGPU_TRAP_SLOTS */
	u32 nr_slots_used;
	struct kvgpu_vfalcon falcon[3];

	u32 intr_src; /* raised sources of leaf 0, PMC_LEAF_HOST */
	u32 intr_nrhost; /* raised sources of leaf 1, PMC_LEAF_NRHOST */
	bool line; /* the guest's interrupt line is up */
	/*
	 * the line rose, or MSI was re-armed while the line was up, and the edge was not taken yet
	 */
	bool edge;

	/* PFIFO_INTR, without the bits PFIFO_INTR_LEVELS: reads compute them from other members */
	u32 fifo_intr;
	/*
	 * the guest has enabled NON_STALL_INTERRUPT, by which a channel reports the end of a
	 * submission
	 */
	bool wants_nonstall;
	u32 fault_pending; /* PFIFO_MMU_FAULT_SOURCE */
	u32 fault_rec[32][4]; /* PFIFO_MMU_FAULT_RECORDS */
	u32 pbdma_pending; /* PFIFO_PBDMA_INTR_SOURCE */
	struct {
		u32 intr0, intr1, method, data, chid, hce_method, hce_data;
	} pbdma[KVGPU_MAX_PBDMA];
	u32 runl_event; /* PFIFO_RUNLIST_EVENT */
	u32 runl_blocked; /* PFIFO_RUNLIST_BLOCK */
	struct {
		u32 inst, ctrl;
	} chan[KVGPU_MAX_CHAN]; /* PCCSR_INST, PCCSR_CHAN */
	/* PFIFO_ENGINE_STATUS(e), with the guest's ids */
	u32 engine_status[KVGPU_MAX_ENGINE];
	bool preempt_pending;
	/* a GR exception was reported, and the guest has not restarted or reset GR since */
	bool gr_halted;
	/* ns; the guest's PTIMER minus the host's */
	u64 ptimer_offset;
	u64 ptimer_alarm; /* host's PTIMER in ns at which the alarm rings; 0: not armed */

	/*
	 * Counters, for sysfs and debugfs. nr_unlisted: accesses of registers that no table has.
	 * nr_dropped: values that were lost, because the register file had no free slot. nr_denied:
	 * accesses of denied registers; partial writes of commands; and writes that name a memory
	 * target, a runlist or an instance block that can't be used there, except a bind of a
	 * channel and a save of a graphics context.
	 */
	u64 nr_reads, nr_writes, nr_unlisted, nr_dropped, nr_denied;
};

void kvgpu_trap_init(struct kvgpu_trap *t, const struct kvgpu_trap_cfg *cfg,
		     struct kvgpu_reg_slot *slots);
/*
 * Resets the registers to their values after POST. The mirror of the configuration space becomes 0
 * (kvgpu_trap_config_set()). The counters .nr_... keep their values.
 */
void kvgpu_trap_reset(struct kvgpu_trap *t);

/* --------------------------------------- a guest's accesses, and the commands that they ask for */

enum kvgpu_cmd_kind {
	KVGPU_CMD_NONE = 0,
	/* .chan: the guest wrote an instance pointer with the bind bit. Only here .inst is set. */
	KVGPU_CMD_CHAN_BIND,
	KVGPU_CMD_CHAN_UNBIND, /* .chan: the bind bit is cleared */
	KVGPU_CMD_CHAN_ENABLE, /* .chan */
	KVGPU_CMD_CHAN_DISABLE, /* .chan */
	KVGPU_CMD_RUNLIST, /* .runlist: a submit */
	KVGPU_CMD_PREEMPT, /* .preempt: a channel or a group */
	KVGPU_CMD_RUNL_BLOCK, /* .mask: runlists that are blocked now */
	KVGPU_CMD_RUNL_ALLOW, /* .mask: runlists that are not blocked any more */
	/* .tlb: an invalidate; bring the shadow page tables up to date with the guest's */
	KVGPU_CMD_TLB,
	KVGPU_CMD_BAR_BIND, /* .bar: new instance block of a BAR, or physical mode */
	KVGPU_CMD_USERD, /* .userd: BAR1 offset of the guest's doorbells */
	/* .pramin: new address of PRAMIN, the window of BAR0 into memory */
	KVGPU_CMD_PRAMIN,
	/* a flush of BAR writes or of L2; .mask: register (FLUSH_BAR, FLUSH_L2_*) */
	KVGPU_CMD_FLUSH,
	/*
	 * .inst: the guest has given FECS this channel, and makes its golden context next (the
	 * context from which it makes new ones). The caller need not act before the
	 * KVGPU_CMD_GR_SAVE that follows.
	 */
	KVGPU_CMD_GR_BIND,
	/*
	 * .inst: write the image of the host's golden context to the virtual address that this
	 * instance block has for the channel's context
	 */
	KVGPU_CMD_GR_SAVE,
	/* .mask: engines that PMC_ENABLE resets (index in topo.engine); bit 31: PFIFO */
	KVGPU_CMD_ENGINE_RESET,
	/*
	 * .trigger: a fault of an engine (.engine: kvgpu_engine.id), by which nouveau recovers from
	 * a context switch timeout
	 */
	KVGPU_CMD_FAULT_TRIGGER,
	/* .pbdma: a PBDMA interrupt is acknowledged */
	KVGPU_CMD_PBDMA_ACK,
	KVGPU_CMD_GR_ACK, /* the guest acknowledged a GR exception */
	/* .mask: a bit of the engine (index in topo.engine) whose interrupt was acknowledged */
	KVGPU_CMD_CE_ACK,
	/* no other command, but .irq is set */
	KVGPU_CMD_IRQ,
	KVGPU_CMD_ALARM, /* .ptimer_alarm has changed: arm a timer, or stop it if 0 */
};

struct kvgpu_cmd {
	enum kvgpu_cmd_kind kind;
	/* kvgpu_trap.line has changed or .edge was set: call kvgpu_trap_irq_take() */
	bool irq;
	union {
		struct {
			gchid_t id;
			u8 runl;
			struct kvgpu_gaddr inst;
		} chan;
		struct {
			u8 runl;
			u16 count;
			struct kvgpu_gaddr list;
		} runlist;
		struct {
			bool tsg;
			u16 id;
		} preempt;
		u32 mask;
		struct {
			struct kvgpu_gaddr pd;
			bool all_va, all_pd, hub_only;
		} tlb;
		struct {
			enum kvgpu_bar bar;
			bool is_virtual;
			struct kvgpu_gaddr inst;
		} bar;
		struct {
			bool valid;
			u64 bar1_off;
		} userd;
		struct {
			struct kvgpu_gaddr base;
		} pramin;
		struct kvgpu_gaddr inst;
		struct {
			u8 engine;
			u8 unit;
		} trigger;
		struct {
			u8 pbdma;
			u32 intr0, intr1;
			bool skip;
		} pbdma;
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
 * @be: mask with 0xff in each byte that is written; the caller splits accesses of more than 4 bytes
 * @now: host PTIMER, ns
 * @cmd: the command that the write asks for, or KVGPU_CMD_NONE
 */
void kvgpu_trap_write(struct kvgpu_trap *t, u32 reg, u32 val, u32 be, u64 now,
		      struct kvgpu_cmd *cmd);

/*
 * Sets the mirror (PPCI_BASE) of one word of the virtual configuration space. @off is aligned, and
 * below 4096. A reset makes the words 0: call it again then for each word that is not 0.
 */
void kvgpu_trap_config_set(struct kvgpu_trap *t, u16 off, u32 val);

/*
 * Gives the bits in cfg.mmu that a guest can't change by trapped writes their values: the queue of
 * invalidates is empty, and TRIGGER is 0.
 */
void kvgpu_trap_mmu_restore(struct kvgpu_trap *t);

/* ---------------------------------------------------- events that the host reports to the guest */

/* Reports to the guest. Call kvgpu_trap_irq_take() afterwards. Ids are the guest's. */
void kvgpu_trap_runlist_done(struct kvgpu_trap *t, u8 runl);
void kvgpu_trap_preempt_done(struct kvgpu_trap *t);
void kvgpu_trap_nonstall(struct kvgpu_trap *t);
/* @inst: the guest's address of the instance block; @info: GMMU_FAULT_INFO */
void kvgpu_trap_mmu_fault(struct kvgpu_trap *t, u8 unit, u64 inst, u64 va, u32 info);
void kvgpu_trap_sched_error(struct kvgpu_trap *t, u32 code);
struct kvgpu_pbdma_snap {
	u8 pbdma;
	gchid_t chid;
	u32 intr0, intr1, method, data, hce_method, hce_data;
};
void kvgpu_trap_pbdma(struct kvgpu_trap *t, const struct kvgpu_pbdma_snap *s);
/*
 * @intr, @trap: bits to set in GR_INTR and GR_TRAP; @regs: registers to store in the register file
 */
void kvgpu_trap_gr(struct kvgpu_trap *t, u32 intr, u32 trap, const struct kvgpu_reg_val *regs,
		   u32 nr);
/* @engine: index in topo.engine */
void kvgpu_trap_ce(struct kvgpu_trap *t, u8 engine, u32 intr, u32 code);
/* @engine: kvgpu_engine.id */
void kvgpu_trap_engine_status_set(struct kvgpu_trap *t, u8 engine, u32 status);
void kvgpu_trap_alarm_ring(struct kvgpu_trap *t, u64 now);
/* Sets the bits of PCCSR_CHAN that the host owns (enabled, busy, status). */
void kvgpu_trap_chan_status_set(struct kvgpu_trap *t, gchid_t id, u32 status);

/**
 * kvgpu_trap_irq_take() - take the state of the interrupt output
 * @t: the vGPU's registers
 * @edge: set to true if the caller has to send one message (MSI), else to false. Afterwards .edge
 *   of @t is false.
 *
 * Call it after an event that may interrupt the guest, and after a write whose command has .irq
 * set.
 *
 * Return: true if the line (INTx) is up.
 */
bool kvgpu_trap_irq_take(struct kvgpu_trap *t, bool *edge);

/* -------------------------------------------------------- descriptions and checks of the tables */

/* Classes of reads and of writes of a register; details: struct kvgpu_reg_line (internal.h). */
enum kvgpu_reg_class {
	KVGPU_REG_UNLISTED, /* in no table: as FILE, and counted in .nr_unlisted */
	KVGPU_REG_CONST, /* reads: a value that no trapped write changes; writes: ignored */
	KVGPU_REG_FILE, /* the value is in the register file */
	/* a function of the unit answers; makes no command but KVGPU_CMD_ALARM or _IRQ */
	KVGPU_REG_EMULATE,
	KVGPU_REG_TRAP, /* writes only: a function of the unit may make a command */
	KVGPU_REG_DENY /* as FILE, and counted in .nr_denied */
};

struct kvgpu_reg_info {
	const char *unit, *name, *why, *src;
	enum kvgpu_reg_class rd, wr;
};
/* Sets *@info to what the tables say about @reg. Returns false if the tables say nothing. */
bool kvgpu_trap_info(u32 reg, struct kvgpu_reg_info *info);
/* Checks the tables. Returns NULL, or a text about the first error. */
const char *kvgpu_trap_check_tables(void);

#endif
