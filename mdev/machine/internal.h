/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of one vGPU behind its registers, and of the card's chip, for the files of the machine
 * (mdev/machine/).
 *
 * Words, beside those of machine.h and of the files' own heads. Pool: video memory of the host, for
 * shadows and context images. Group: a channel group (TSG). Id block: eight channel ids in a row.
 * Dead channel: ended by the host, or unbound by the guest just now. Evict: to preempt a channel,
 * and to reset engines that it does not leave (recover.c). List: the entries of a vGPU's runlist
 * that may run (runlist.c). NON_STALL_INTERRUPT: by it a channel reports the end of a submission.
 * PBDMA: a unit that fetches channels' commands. GR: the graphics engine. Lost: the card has
 * failed, and is cut off from system memory (chip.c).
 *
 * "For the slicer" means: only the thread that has the chip (slicer->chip_lock) runs it, or uses
 * it. That is the slicer's own thread, or one that runs a request in its place (request.c), in
 * comments "the slicer", too. Another thread gets there by vmach_slicer_call(). It may hold
 * vgpu->lock then, and no other lock.
 *
 * Locks, outer to inner: vgpu->lock, slicer->chip_lock, chip->event_lock, slicer->acct_lock,
 * slicer->lock; vgpu->map_lock inside vgpu->lock (docs/locking.md).
 * vgpu->lock protects struct kvgpu_machine, kvgpu_chan, kvgpu_space and kvgpu_grctx, and is held in
 * the functions of one vGPU unless a comment, a heading or docs/locking.md says otherwise.
 * Where no such note is, the caller holds none of the inner locks, because these functions may take
 * them, pin guest memory or remove CPU mappings.
 */
#ifndef KVGPU_MDEV_MACHINE_INTERNAL_H
#define KVGPU_MDEV_MACHINE_INTERNAL_H

#include <linux/bitfield.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/rtmutex.h>
#include <linux/xarray.h>

#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "kvgpu/bucket.h"
#include "sched/sched.h"
#include "gtt-shadow/shadow.h"
#include "mmio-trap/trap.h"
#include "mdev/machine/machine.h"
#include "mdev/machine/wait.h"
#include "mdev/vgpu.h"

/* channel ids in an id block: their USERD areas share a page */
#define KVGPU_ID_BLOCK	   8
#define KVGPU_NR_ID_BLOCKS (KVGPU_MAX_CHAN / KVGPU_ID_BLOCK)
#define STAGE_SIZE	   (64u << 10) /* most bytes of one copy to machine->mem.stage */
#define NO_PAGE		   (~0u)
/* most events in machine->event.queue */
#define EVENTS 32
/* .events since .start (ktime, ns) */
struct intr_budget {
	u64 start;
	u32 events;
};
/* what guests may cost the host's CPUs; .at: ktime, ns, up to which .bucket is filled */
struct machine_budget {
	struct kvgpu_bucket bucket;
	u64 at;
};
/* most entries of vGPUs in the chip's list: 4,095 (rnndb: 12 bits of count) less one of the host */
#define CHIP_RUNL_MAX (KVGPU_MAX_CHAN - 2)
/* timeslice of a group in us; that of a channel outside of groups is in RAMFC_TIMESLICE_INIT */
#define SLICE_US 1000
/* most ms that one preempt of a guest, and all of one command, take (runlist.c) */
#define PREEMPT_GUEST_MS 2000
#define COMMAND_MS	 5000
/* ms that a preempt of an eviction may take that waits for no other channel */
#define PREEMPT_EVICT_MS 100
/* ms that an eviction lets another channel's kernel go on for which its own channel may wait */
#define PREEMPT_LAST_MS 2000
/* ms for which a switch's or a guest's preempt keeps the preempt register (request.c) */
#define PREEMPT_SLOT_MS 10

/* --------------------------------------- time slices: the state of slice.c, poll.c and strike.c */

/*
 * A preempt that waits for its end (request.c). .ns: its time with the register, and WAIT_NS of
 * each wait for it at most; .slot_from: .ns when it was added. .asked, .began: ktime, ns, of the
 * last wait and slot. When its slot is over, it is off the list, and the slicer calls .over() with
 * what kvgpu_hw_preempt_wait() has returned; .over() may add it again.
 */
struct machine_preempt {
	struct list_head node; /* in slicer->preempts */
	struct machine_hid hid;
	u64 ns, slot_from, asked, began;
	void (*over)(struct kvgpu_chip *chip, struct machine_preempt *p, int ret);
};

/*
 * A switch. .waits: the runlist is empty until the .nr channels and groups .loaded have left
 * (slice.c). The *present* one is .loaded[.at]: its vGPU pays. .leave: its preempt. .polled: it was
 * late. .first, .began: ktime, ns, at which the switch began, and the wait for the present one.
 */
struct machine_switch {
	bool waits;
	u32 nr, at;
	struct machine_loaded loaded[MAX_LOADED];
	struct machine_preempt leave;
	bool polled;
	u64 first, began;
};

/*
 * A vGPU on one runlist of the chip: its list there, and its time slices; times in ns. For the
 * slicer, except where noted; others read some.
 */
struct machine_slice {
	struct kvgpu_machine *m;
	struct machine_runl *runl;
	struct list_head node; /* in runl->slices */
	/* slicer->lock; the slicer alone writes ent.suspended */
	struct kvgpu_sched_ent ent;
	u64 *published; /* entries to run (runlist.c) */
	u16 published_nr;
	/* a channel of the vGPU may be loaded; also read without a lock */
	bool on_chip;
	/* the runlist has the vGPU's list */
	bool merged;
	u32 turn; /* number of turns as runl->lists.owner (chip_runlist.c) */
	/*
	 * Of the last poll, see poll.c. .work: the vGPU has work. .engine_only: GP_GET and GP_PUT
	 * tell of none, but an engine was seen at work for it. .progress: it makes progress.
	 * list_has_work(): .scan_at % length: next entry of the list to look at; .quiet: entries
	 * looked at since the last entry with work.
	 */
	struct {
		bool work, engine_only, progress;
		u32 scan_at, quiet;
	} found;
	/*
	 * acct_lock. .sampled: by a sample since the last poll, also while .paused. .busy: by the
	 * last sample; charged until the next one if there is no .payer. .works: charged until the
	 * next observation, while .paused. .ns: ent.busy_ns at the last charge; also read without
	 * locks. .reported: the most ns that kvgpu_machine_gpu_time_get() has returned: it never
	 * returns less; no lock.
	 */
	struct {
		bool sampled, busy, works;
		atomic64_t ns, reported;
	} charge;
	/* .least: the shortest time of late in which the vGPU left the chip, ns */
	struct {
		u64 nr, ns, max, least;
	} preempts;
};

/*
 * A runlist of the chip that vGPUs share, with the engines that it serves. .id: its number. The
 * other members are for the slicer except .slices, .sched and .samples; some are read by others.
 * Times: ktime, ns.
 */
struct machine_runl {
	struct kvgpu_chip *chip;
	u8 id;
	/* the vGPUs of chip->live, by struct machine_slice.node, with the same locks */
	struct list_head slices;
	struct kvgpu_sched sched; /* slicer->lock */
	struct machine_switch sw;
	/*
	 * Which lists the runlist should have, when no switch waits (.sw.waits). .shared: those of
	 * all vGPUs that are not suspended; else only that of .owner, or none if .owner is NULL.
	 * .turns: the owner pays for all of the time. .stale: lists_switch() must write the
	 * runlist: a vGPU was removed, or .suspended changed. .switches: lists that lists_load()
	 * wrote while not .shared.
	 */
	struct {
		bool shared, turns, stale;
		struct machine_slice *owner;
		u64 switches;
	} lists;
	/*
	 * .next: when the policy wants to be asked again; ~0: only after a kick. .worked: time when
	 * work was last found. .pbdma: for pbdma_owner(): the one to ask next.
	 */
	struct {
		u64 next, worked;
		u32 pbdma;
	} poll;
	/*
	 * slicer->acct_lock. .busy_ns: ns for which an engine was busy. .paid_ns: ns for which some
	 * vGPU was charged. .payer: pays for all of the time; NULL: who is seen at work does.
	 * .free_until: up to then, ktime in ns, sched/ says who pays.
	 */
	struct {
		u64 busy_ns, paid_ns;
		const struct machine_slice *payer;
		u64 free_until;
	} samples;
};

/* the runlists that vGPUs share: GR's, and that of a copy engine alone, if the card has one */
enum { RUNL_GR, RUNL_CE, NR_RUNLS };

/* bits of slicer.kicked: poll without waiting; channels wait for recovery; a sample was taken */
enum { SLICER_POLL, SLICER_RECOVER, SLICER_SAMPLED };

/*
 * The slicer of one card. The members are for the slicer except .lock, .watchdog_ms, .thread,
 * .chip_lock, .at_chip, .kicked, .requests, .acct_lock and .samples; some are read by others.
 * Times: ktime, ns.
 */
struct machine_slicer {
	/* protects .sched of the runlists, and slice.ent and .forgiven of the vGPUs */
	spinlock_t lock;
	unsigned int watchdog_ms;
	struct task_struct *thread;
	/* held by the thread .at_chip: the slicer while it works, or one that runs its request */
	struct rt_mutex chip_lock;
	struct task_struct *at_chip;
	unsigned long kicked; /* bits SLICER_*; atomic */
	/*
	 * Requests of other threads. .lock: a leaf; it protects .waiting. .took_ns: from their
	 * posts to their ends. .ran_ns: while they were served. .evict_after: ktime, ns, from which
	 * on one may evict while a preempt waits.
	 */
	struct {
		spinlock_t lock;
		struct list_head waiting;
		u64 nr, took_ns, ran_ns, evict_after;
	} requests;
	/* preempts that wait for their end; the first has the register, or gets it next */
	struct list_head preempts;
	struct machine_preempt *preempting; /* has the register; NULL: none */
	/*
	 * When the next poll is made, beside runl->poll.next. .until: before that no poll is made.
	 * .used: ns that the latest poll and its flushes took: the more, the longer the rest.
	 * .used_mean: its mean of late. .from: begin of the rest: end of the poll and ns of its
	 * flushes. .before: of the rest before. .owed: ns due; < 0: saved. .due: no rest has begun
	 * since the latest poll. .flush_due: there was a sample, so guests' flushes are due.
	 */
	struct {
		u64 until, used, used_mean, from, before;
		s64 owed;
		bool due, flush_due;
	} rest;
	/* protects .samples, also of the runlists, and slice.charge of the vGPUs; outside .lock */
	seqlock_t acct_lock;
	/*
	 * .thread: the sampler, from its start to its stop. .at: drawn time of the next sample.
	 * .mean: mean gap from one to the next, ns. ~0: none is planned. .charged: time up to which
	 * vGPUs are charged. .paused: how many waits for the chip are under way: samples do not
	 * count.
	 */
	struct {
		struct task_struct *thread;
		u64 at, mean, charged;
		u32 paused;
	} samples;
};

/* ----------------------------------------------------- struct kvgpu_chip: the state of one card */

struct kvgpu_chip {
	struct kvgpu_gpu *gpu;
	/* The next three: the slicer writes, with event_lock; others read with event_lock. */
	struct list_head live; /* vGPUs, by struct kvgpu_machine.node */
	struct kvgpu_chan *by_hchid[KVGPU_MAX_CHAN];
	DECLARE_HASHTABLE(by_inst, 8);
	/*
	 * By a channel's id, [1]: a group's: id of the vGPU that has it; 0: none, or the host.
	 * Written with event_lock; READ_ONCE().
	 */
	u32 has_id[2][KVGPU_MAX_CHAN];

	spinlock_t event_lock;
	struct intr_budget unowned; /* interrupts whose vGPU is not known; event_lock */
	/*
	 * NON_STALL_INTERRUPTs; event_lock. They are masked if no guest's driver waits for one
	 * (.off), or .budget is used up (.held).
	 */
	struct {
		struct machine_budget budget;
		bool off, held;
	} nonstall;
	/* by the chip's id: channels that wait for recovery; atomic */
	DECLARE_BITMAP(recover_chans, KVGPU_MAX_CHAN);
	/* .event: for machine->event.work and .alarm; .unpin: for pin.work */
	struct {
		struct workqueue_struct *event, *unpin;
	} wq;
	u64 merge[CHIP_RUNL_MAX]; /* a vGPU's or the chip's list in the making; for the slicer */
	struct machine_runl runl[NR_RUNLS]; /* the first .nr_runls are used */
	u32 nr_runls;
	struct machine_slicer slicer;
	/* .size: bytes for all vGPUs. .dummy_page: what a vGPU has given back of BARs shows it. */
	struct {
		u64 size;
		struct kvgpu_vram dummy_page;
	} pool;
	/* The card has failed. .lost: bus mastering is off; .going: it may be; no lock. */
	bool lost, going;
	/* .lock; ns. .base: PTIMER minus ktime. .last: returned last. .taken: ktime of .base */
	struct {
		spinlock_t lock;
		u64 base, last, taken;
	} time;
};

/* ------------------------------------------ struct kvgpu_chan: a channel that a guest has bound */

struct kvgpu_chan {
	struct hlist_node by_inst; /* in chip->by_inst, by .host.inst.at */
	struct kvgpu_vgpu *vgpu;
	struct machine_slice *slice; /* the runlist that it is on; with the locks of .host.tsg */
	gchid_t gchid;
	hchid_t hchid;
	/*
	 * As the guest has it. .inst: its instance block. .block: the words of .inst as read at the
	 * bind; vmach_chan_resync() updates some of them. .tsg: id of the channel's group; -1:
	 * none. .listed: the channel is in the list that the guest submitted last. The slicer reads
	 * .tsg and .enabled, too.
	 */
	struct {
		struct kvgpu_gaddr inst;
		struct kvgpu_inst_guest block;
		int tsg;
		bool enabled, listed;
	} guest;
	/*
	 * As the chip has it. .inst: the shadow instance block, which the chip reads. .tsg: -1:
	 * none; the slicer writes it for a holder of vgpu->lock, with event_lock; others read it
	 * with one of the two.
	 */
	struct {
		struct kvgpu_vram inst;
		int tsg;
	} host;
	struct kvgpu_space *space;
	bool dead; /* the host has ended it, or the guest unbinds it; the slicer writes it */
	bool ran; /* was enabled since the bind */
	bool held; /* disabled on the chip while its block or its group changes */
	bool driven_off; /* found dead, and the slicer has served a request since */
	/*
	 * For the slicer. .get: GP_GET at the last poll of this channel, if .valid. .idle: the
	 * channel table told of no work when it was read last, and GP_PUT was .idle_put.
	 */
	struct {
		bool valid, idle;
		u32 get, idle_put;
	} poll;
	/*
	 * Reason for the end of the channel; event_lock to write. .unit, .info, .va: MMU fault;
	 * .engine: of a hang. .storm: it exceeded the vGPU's budget of interrupts; .struck: that
	 * was a strike. .at: kvgpu_hw_fault.since of the first fault that is not charged yet, or 0;
	 * .paid: samples.paid_ns at its report.
	 */
	struct {
		u8 why, unit, engine;
		bool storm, struck;
		u32 info;
		u64 va, at, paid;
	} fault;
	/* host's context image or NULL; also tested without vgpu->lock */
	struct kvgpu_grctx *gr;
};

/* -------------------------------------------------- struct kvgpu_machine: the state of one vGPU */

enum { EVENT_FAULT, EVENT_PBDMA, EVENT_GR, EVENT_CE, EVENT_SCHED };

/* An event that machine->event.queue keeps for the guest, with the guest's ids and addresses. */
struct machine_event {
	u8 kind;
	union {
		/* .inst: address of the guest's instance block */
		struct {
			u8 unit;
			u64 inst, va;
			u32 info;
		} fault;
		struct kvgpu_pbdma_snap pbdma;
		struct {
			u32 intr, trap, nr;
			struct kvgpu_reg_val regs[KVGPU_HW_GR_REGS + 1];
		} gr;
		struct {
			u8 engine;
			u32 intr, code;
		} ce;
		struct {
			u8 engine;
			u16 id;
			bool tsg;
			u64 inst;
		} sched;
	};
};

/* bits of machine->event.pending: what to tell the guest */
#define PENDING_NONSTALL 0
#define PENDING_ALARM	 1

/* A window: a slice of a BAR of the card, and the memory of the guest that it shows. */
struct machine_win {
	enum kvgpu_bar bar;
	/* The guest's binding of the BAR. .inst is also read without vgpu->lock. */
	struct {
		bool bound, is_virtual;
		struct kvgpu_gaddr inst, pd;
		u64 limit; /* last virtual address that the tables translate */
	} guest;
	u32 pages;
	u64 *pte; /* copies of the slice's entries in the host's table of the BAR (hw/bar.c) */
	/* by page of the window: the page of the partition that it shows, or NO_PAGE; map_lock */
	u32 *shows;
	/* changed entries that .shows does not have yet; .show_last < .show_first: none */
	u32 show_first, show_last;
	bool stale; /* the card's TLB may have older entries of this BAR */
	void __iomem *cpu; /* the host's mapping of the slice */
	struct kvgpu_win *win; /* gtt-shadow's state of the window */
};

/* the shadow of a page directory of the guest */
struct kvgpu_space {
	struct list_head node;
	struct kvgpu_as *as;
	struct kvgpu_gaddr pd;
	/* .kept: uses that ended with the channel still on the chip; .users counts them, too */
	u32 users, kept;
	bool flush; /* the card's TLB may have old entries of the space */
};

/* a graphics context image, which the host owns */
struct kvgpu_grctx {
	struct list_head node; /* in mem.grctxs of the machine; without users in .dead_images */
	struct kvgpu_space *space;
	u64 va;
	u32 users;
	/* context image, patch list (what FECS writes at its load), page pool, bundle buffer */
	struct kvgpu_vram image;
};

struct kvgpu_machine {
	struct kvgpu_vgpu *v;
	struct list_head node; /* in chip->live */
	struct kvgpu_trap trap; /* the register file */
	/* ns that preempts of the running command may yet take (runlist.c) */
	u64 preempt_budget;
	/*
	 * Memory of the vGPU (memory.c), and spaces (space.c). .scrap: windows show it where the
	 * guest has mapped no memory. .l2_clean: L2 was written back since the last
	 * vmach_shadow_commit(). .scrubbed: the partition is all zeros. .spaces: kvgpu_space.
	 * .grctxs: kvgpu_grctx with users. .dead_images: without users. .freed: table_memory that
	 * is not back in the pool yet. .flushes: TLB invalidates for spaces. .spaces_kept: uses of
	 * spaces that vmach_space_put() kept. The last two are also read without locks.
	 */
	struct {
		struct kvgpu_shadow shadow;
		void *shadow_mem;
		struct kvgpu_vram scrap;
		struct kvgpu_reg_slot *slots;
		/* has .len bytes from .at of the partition; a read in sequence goes on at .next */
		struct {
			u8 *cpu;
			dma_addr_t dma;
			u64 at, next;
			u32 len;
		} stage;
		bool l2_clean, scrubbed;
		struct list_head spaces, grctxs, dead_images, freed;
		atomic64_t flushes, spaces_kept;
	} mem;
	struct kvgpu_hw_share pool; /* the vGPU's part of the host's pool */
	/*
	 * pin.c. .pages: pinned pages: IOVA >> 12 -> DMA address >> 12. .nr_due: due pages: in
	 * .pages, but not counted in .mem.shadow.stats.pinned. .allowed: guest memory may be pinned
	 * and read. .refused: pins that VFIO refused for want of memory: .nr since .at (ktime, ns).
	 * Threads of VMMs that unmap memory (unmap.c): .unmaps: list of struct unmap_known;
	 * unmappings_lock. .opener: process that opened the vGPU last. .forbidden_by: number of
	 * unmapping threads that forbid pins to the vGPU. .retry: a pin has failed since .work ran.
	 */
	struct {
		struct xarray pages;
		u64 nr_due;
		struct delayed_work work;
		struct page *batch[512];
		struct {
			u64 at;
			u32 nr;
		} refused;
		bool allowed, retry;
		struct list_head unmaps;
		struct pid *opener;
		atomic_t forbidden_by;
	} pin;
	/*
	 * flush.c. .owed: vmach_shadow_sync() has to do a FLUSH_BAR that the guest asked for in its
	 * flush page. .served: bit 0: a thread serves the flush page; atomic.
	 */
	struct {
		bool owed;
		unsigned long served;
	} flush;
	/*
	 * dirty.c. Bits per page of the partition. .tables: a sync has asked for the page, as a
	 * page of a guest's table, and none has forgotten it since; map_lock. .log: the page may
	 * have been written since the bit was cleared; atomic. .log_bar1: .log was set through BAR1
	 * or PRAMIN, not only BAR3; map_lock. .written: a page was marked dirty since
	 * vmach_mmu_show() began last; map_lock. .mmu_shown: page faults map the page of the MMU's
	 * registers; map_lock, and vgpu->lock, too, to set. .mmu_mapped: there was such a fault
	 * since the vGPU was opened; map_lock.
	 */
	struct {
		unsigned long *tables, *log, *log_bar1;
		bool written, mmu_shown, mmu_mapped;
	} dirty;
	/*
	 * The CPU's view of the vGPU: window.c. .userd_bar1: offset in BAR1 of the guest's
	 * doorbells, bytes; ~0: unset; map_lock. .pramin: guest address that PRAMIN shows;
	 * map_lock. .pramin_cpu, .userd_cpu: the host's mappings.
	 * .userd_page: by the guest's id block: partition page with its USERDs; map_lock if
	 * .ids.block[] >= 0. .doorbells_trapped: no lock.
	 */
	struct {
		struct machine_win win[KVGPU_NR_BARS];
		u64 userd_bar1;
		struct kvgpu_gaddr pramin;
		void __iomem *pramin_cpu, *userd_cpu;
		u32 userd_page[KVGPU_NR_ID_BLOCKS];
		atomic64_t doorbells_trapped;
	} view;
	/*
	 * Channels: chan.c. .chans: struct kvgpu_chan, by .gchid. .block: the chip's id block; -1:
	 * none; map_lock to write. .nr_blocks: id blocks in use, which any thread may read. .given:
	 * ktime, ns, at which the vGPU last gave id blocks back.
	 */
	struct {
		struct xarray chans;
		s16 block[KVGPU_NR_ID_BLOCKS];
		u32 nr_blocks;
		u64 given;
	} ids;
	/*
	 * The runlist: runlist.c. A guest has one (mmio-trap/). .entries, .nr: the list that the
	 * guest submitted last. .htsg: guest's id of a TSG -> the chip's; -1: none; .nr_tsgs: how
	 * many have one. .tsgs: scratch: TSGs that are not in use any more (drop_groups()), or in
	 * the new list (list_id_map()). .max: most entries, and TSGs with an id: the vGPU's share
	 * of channel ids.
	 */
	struct {
		u64 *entries;
		u16 nr;
		s16 htsg[GK110_FIFO_NR_TSG];
		u32 nr_tsgs;
		DECLARE_BITMAP(tsgs, GK110_FIFO_NR_TSG);
		u32 max;
	} runl;
	spinlock_t event_lock; /* protects .event.queue, .put and .get */
	/*
	 * Events and interrupts for the guest: event.c. .told: the event that is delivered now.
	 * .signals: budget for signals to the VMM. .pending: bits PENDING_*, set without
	 * vgpu->lock. .irq_changed: kvgpu_mdev_irq_update() is due. .waits: the guest's driver
	 * waits for a NON_STALL_INTERRUPT; also read without a lock. .gone: queue .work and .alarm
	 * no more; no lock. .intrs: the vGPU's interrupts; chip->event_lock.
	 */
	struct {
		struct machine_event queue[EVENTS], told;
		u32 put, get;
		u64 dropped;
		struct machine_budget signals;
		unsigned long pending;
		bool irq_changed, waits, gone;
		struct delayed_work work, alarm;
		struct intr_budget intrs;
		/*
		 * By engine id. .set: the guest was told of a hang, and has triggered no fault
		 * since. .inst: address of the guest's instance block of the channel that hung.
		 */
		struct {
			bool set;
			u64 inst;
		} stuck[KVGPU_MAX_ENGINE];
	} event;
	struct machine_slice slice[NR_RUNLS]; /* by the runlist's place in chip->runl */
	/*
	 * strike.c, for the slicer: ktimes, ns, at which all .strikes of .total will be forgiven,
	 * and all engine resets and long evictions forgotten. .end_at: ktime, ns: a suspended
	 * vGPU's next channel is ended then; 0: never.
	 */
	struct {
		u64 total, strikes, resets, end_at;
	} forgiven;
};

/* each runlist that vGPUs share, and a vGPU's place on each */
#define for_each_runl(r, chip) for (r = (chip)->runl; r < (chip)->runl + (chip)->nr_runls; r++)
#define for_each_slice(sl, m) \
	for (sl = (m)->slice; sl < (m)->slice + (m)->v->gpu->chip->nr_runls; sl++)

/* ---------------------------------- chip.c: read the time, declare the card lost; needs no lock */

bool vmach_gpu_lost(const struct kvgpu_gpu *gpu);
/* Declares the card lost, with reason @why for the log. Does nothing if it is lost already. */
void vmach_gpu_declare_lost(struct kvgpu_gpu *gpu, const char *why);
u64 vmach_ptimer_read(struct kvgpu_gpu *gpu); /* returns PTIMER's time in ns */

/* ------------- request.c: have the slicer do what only it may do; turns of the preempt register */

/* Warns unless the current thread is the slicer, or runs a request in place of the slicer. */
static inline void vmach_slicer_assert(const struct kvgpu_gpu *gpu)
{
	WARN_ON_ONCE(current != READ_ONCE(gpu->chip->slicer.at_chip));
}

/*
 * Starts a thread of the card, with a real-time priority. @name: format with the card's PCI
 * address. @thread: where it is noted until vmach_thread_stop(). Returns 0 or an error.
 */
int vmach_thread_start(struct kvgpu_chip *chip, struct task_struct **thread,
		       int (*main)(void *chip), const char *name);
void vmach_thread_stop(struct task_struct **thread); /* if it was started */
void vmach_thread_wake(struct task_struct **thread); /* if it is started; any context */
/* Sleeps in the task's state until @until, ktime in ns (~0: for ever), or until it is woken. */
void vmach_sleep_until(u64 until);
/* Begins and ends what only the slicer may do, in the slicer's thread. */
void vmach_chip_take(struct machine_slicer *s);
void vmach_chip_leave(struct machine_slicer *s);

/*
 * Calls @serve with @arg as the slicer, or has the slicer call it, and returns then. @serve may use
 * what belongs to the caller: the caller waits. Sleeps; no spinlock is held.
 */
void vmach_slicer_call(struct kvgpu_gpu *gpu, void (*serve)(void *arg), void *arg);
/* The same for what may evict a channel, or wait for one. */
void vmach_slicer_evict(struct kvgpu_gpu *gpu, void (*serve)(void *arg), void *arg);
/* makes the slicer poll soon, because something has changed; any context */
void vmach_slicer_kick(struct kvgpu_gpu *gpu);
/* has the slicer end the channels in chip->recover_chans; any context */
void vmach_recovery_kick(struct kvgpu_gpu *gpu);
/* The next four are for the slicer. Serves the first request. False: there was none. */
bool vmach_requests_serve(struct kvgpu_chip *chip);
/* Puts @p, with .hid and .over set, behind the preempts that wait for their end. */
void vmach_preempt_add(struct kvgpu_chip *chip, struct machine_preempt *p);
/* Waits KVGPU_HW_WATCH_US at most for the preempt that has the slot. False: none waits. */
bool vmach_preempts_step(struct kvgpu_chip *chip);
/* Preempts at once, for @ms at most. Observes the engines meanwhile. */
int vmach_preempt_now(struct kvgpu_gpu *gpu, struct machine_hid hid, unsigned int ms);

/* --- engine.c: which vGPU the chip works for; look-ups of channels: the slicer, or event_lock */

/* Returns what the chip's statuses name @c by. vgpu->lock does for this one, too. */
static inline struct machine_hid vmach_chan_hid(const struct kvgpu_chan *c)
{
	bool tsg = c->host.tsg >= 0;

	return (struct machine_hid){ tsg ? c->host.tsg : c->hchid.v, tsg };
}

/* Return what fields ID and NEXT_ID of status @st name. */
static inline struct machine_hid vmach_status_hid(u32 st)
{
	return (struct machine_hid){ FIELD_GET(PFIFO_STATUS_ID, st), st & PFIFO_STATUS_TSG };
}

static inline struct machine_hid vmach_status_next(u32 st)
{
	return (struct machine_hid){ FIELD_GET(PFIFO_STATUS_NEXT_ID, st),
				     st & PFIFO_STATUS_NEXT_TSG };
}

static inline bool vmach_hid_same(struct machine_hid a, struct machine_hid b)
{
	return a.id == b.id && a.tsg == b.tsg;
}

/* True: the status @st of an engine says that it works, for the channel or group in field ID. */
static inline bool vmach_status_works(u32 st)
{
	return st & PFIFO_STATUS_BUSY && st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE);
}

static inline bool vmach_runl_has_engine(const struct machine_runl *r, u8 e)
{
	return r->chip->gpu->hw.topo.engine[e].runl == r->id;
}

static inline bool vmach_runl_has_pbdma(const struct machine_runl *r, u8 p)
{
	return r->chip->gpu->hw.topo.pbdma_runl[p] & BIT(r->id);
}

/* True: an engine, or a PBDMA of @r, has, saves, loads or will load @hid. */
bool vmach_hid_loaded(const struct machine_runl *r, struct machine_hid hid);
/* The same for @engine alone, but false while it has to save another channel before. */
bool vmach_engine_keeps(struct kvgpu_gpu *gpu, u8 engine, struct machine_hid hid);
int vmach_keeper_find(struct kvgpu_gpu *gpu, struct machine_hid hid); /* an engine, or -1 */
/* True: @engine, of @r, works for channel or group *@hid, or has still to save it. */
bool vmach_engine_holds(const struct machine_runl *r, u8 engine, struct machine_hid *hid);
/* True: @vgpu, the ids of the vGPUs for which engines work, by engine, has that of @m. No lock. */
bool vmach_vgpu_named(const struct kvgpu_machine *m, const u32 *vgpu);
/* Returns channel @hid, or the first channel of group @hid. NULL: no vGPU has it. */
struct kvgpu_chan *vmach_hchan_find(struct kvgpu_chip *chip, struct machine_hid hid);
/* True: @c is disabled and on no PBDMA or engine, or it never ran, or the card is lost. */
bool vmach_chan_is_off(const struct kvgpu_chan *c);
/* True: @c is not off, or it or its group is loaded. */
bool vmach_chan_loaded(const struct kvgpu_chan *c);
bool vmach_chan_same_group(const struct kvgpu_chan *a, const struct kvgpu_chan *b);
/* Returns @c; if @c is dead and its group has a live channel, that channel. */
struct kvgpu_chan *vmach_live_chan_find(struct kvgpu_chan *c);

/* --------------------------- chip_runlist.c: write the runlists of the chip; for the slicer */

/*
 * True: the list of @sl is resident: the slicer lets it onto the chip. No list is resident while a
 * switch waits.
 */
bool vmach_list_resident(const struct machine_slice *sl);
/* Removes dead channels from @sl's list, with headers of groups that are empty then. */
void vmach_runlist_drop_dead(struct machine_slice *sl);
/* Writes runlist @r. Returns 0, or an error if the card was lost for it. */
int vmach_runlist_merge(struct machine_runl *r);
/* Call it after a change of @sl's list. Writes the runlist if it has or should have @sl's. */
int vmach_runlist_update(struct machine_slice *sl);

/* ------- accounting.c (also wait.h): charge GPU time; for the slicer, except where noted */

/*
 * Charges for the time up to @now, which is the new slicer->samples.charged, on each runlist: the
 * .payer, or the .busy vGPUs; while .paused those that work.
 * slicer->acct_lock is held for writing, and event_lock but by the slicer.
 */
void vmach_time_settle(struct kvgpu_chip *chip, u64 now);
/*
 * Settles. From now on @payer pays on @r, but for the next @free_ns, of a switch: sched/ says who
 * does. NULL: who is seen at work pays. Who was seen until now pays for the mean time to the next
 * sample. For the slicer.
 */
void vmach_payer_set(struct machine_runl *r, const struct machine_slice *payer, u64 free_ns);

/* ---------------------------------------------------- command.c: carry out the guest's commands */

void vmach_command_run(struct kvgpu_vgpu *v, const struct kvgpu_cmd *cmd);

/* ---------- memory.c, space.c: allocate and read memory of a vGPU, make and sync address spaces */

/* returns 0 or a negative error code; call vmach_memory_fini() after an error, too */
int vmach_memory_init(struct kvgpu_vgpu *v);
void vmach_memory_fini(struct kvgpu_vgpu *v); /* vgpu->lock is not held */
int vmach_pool_alloc(struct kvgpu_vgpu *v, u64 size, struct kvgpu_vram *out);
/* call it when the GPU does not use @vram any more, or the card is lost */
void vmach_pool_free(struct kvgpu_vgpu *v, struct kvgpu_vram *vram);
void vmach_tables_free(struct kvgpu_vgpu *v);
/* Reads @len bytes of the partition or of guest memory, inside one page. Returns 0 or -EFAULT. */
int vmach_guest_read(struct kvgpu_vgpu *v, struct kvgpu_gaddr a, void *buf, u32 len);

/* the next read of the partition copies anew */
static inline void vmach_stage_drop(struct kvgpu_machine *m)
{
	m->mem.stage.len = 0;
}

/* returns the space of the guest's directory @pd, and counts a user of it; NULL: can't be made */
struct kvgpu_space *vmach_space_get(struct kvgpu_vgpu *v, struct kvgpu_gaddr pd);
/*
 * Ends a use of the space by channel @c; @c is NULL if the user was no channel. Call it when @c is
 * off the chip or never ran, or the card is lost. If @c is on the chip all the same, the space
 * stays, with this use.
 */
void vmach_space_put(struct kvgpu_vgpu *v, struct kvgpu_space *sp, const struct kvgpu_chan *c);
/* Ends the uses that vmach_space_put() has kept. Call it when the vGPU has no bound channel. */
void vmach_spaces_drop(struct kvgpu_vgpu *v);
/*
 * Brings spaces and windows up to date with the guest's tables, then settles: with @behind those
 * that are behind, else those of directory @pd, or all (NULL). Does the guest's FLUSH_BAR, too.
 */
void vmach_shadow_sync(struct kvgpu_vgpu *v, const struct kvgpu_gaddr *pd, bool behind);
void vmach_space_sync(struct kvgpu_vgpu *v, struct kvgpu_space *sp); /* a sync of one space */
/*
 * Brings all spaces and windows that are behind up to date, and shows the page of the MMU's
 * registers, unless the CPU may write to a table meanwhile.
 */
void vmach_mmu_show(struct kvgpu_vgpu *v);
/* Settles changes of spaces and windows: writes entries, invalidates TLBs, then frees memory. */
void vmach_shadow_commit(struct kvgpu_vgpu *v);

/* ------------------------------------------------------------ pin.c: pin and unpin guest memory */

void vmach_pins_init(struct kvgpu_vgpu *v);
void vmach_pins_fini(struct kvgpu_vgpu *v); /* vgpu->lock is not held */
/* .pin and .unpin of machine_shadow_ops (memory.c) */
int vmach_pages_pin(void *ctx, const iova_t *iova, u32 nr, u64 *dma);
void vmach_pages_unpin(void *ctx, iova_t iova, u32 nr);
/* Unpins now the due pages from byte @iova to byte @last. */
void vmach_due_pages_unpin(struct kvgpu_vgpu *v, u64 iova, u64 last);

/* -------------------------------- unmap.c: watch threads of VMMs that unmap memory, forbid pins */

void vmach_unmap_fini(struct kvgpu_machine *m); /* vgpu->lock is not held */
/*
 * Notes that the current thread is inside an unmap ioctl, which asks this vGPU to release memory
 * from @iova on. True: the vGPU has to release all memory.
 */
bool vmach_unmap_note(struct kvgpu_vgpu *v, u64 iova);
/* Call it when a process opens the vGPU. Returns 0, or -EBUSY: see kvgpu_machine_vgpu_open(). */
int vmach_unmap_open(struct kvgpu_vgpu *v);

/* ------------------------------------------------------- flush.c: flush the CPU's writes and L2 */

/*
 * Waits until the CPU's writes to BARs have reached memory. With @l2, also makes L2 agree with
 * system memory. Needs no lock.
 */
void vmach_writes_flush(struct kvgpu_vgpu *v, bool l2);
/* Does the flushes that the guest's flush page asks for; for the slicer, or with vgpu->lock. */
void vmach_flush_page_serve(struct kvgpu_vgpu *v);
/* True: the guest has asked for a flush of BARs, and the caller has to do it. Needs no lock. */
bool vmach_flush_take(struct kvgpu_vgpu *v);

/* --------------------------------- window.c: change what BAR windows, PRAMIN and doorbells show */

/* returns 0 or a negative error code; call vmach_windows_fini() after an error, too */
int vmach_windows_init(struct kvgpu_vgpu *v);
/* vgpu->lock not held; makes the slices show no memory of the vGPU, unless the card is lost */
void vmach_windows_fini(struct kvgpu_vgpu *v);
void vmach_windows_reset(struct kvgpu_vgpu *v); /* makes them as after power-on */
/* makes windows and PRAMIN show only the scrap page, and removes the mappings of doorbells */
void vmach_windows_close(struct kvgpu_vgpu *v);
/* the part of vmach_shadow_sync() for windows; those in virtual mode have tables */
void vmach_windows_sync(struct kvgpu_vgpu *v, const struct kvgpu_gaddr *pd, bool behind);
/* writes out entries that gtt-shadow has changed; true: the card's TLB may have old entries */
bool vmach_windows_stale(struct kvgpu_vgpu *v);
/*
 * Invalidates the card's TLB for each BAR in which entries of a window have changed. Call it when
 * these entries have reached video memory.
 */
void vmach_windows_invalidate(struct kvgpu_vgpu *v);
/* Call it last: page faults, and the notes of written pages, follow the windows' entries. */
void vmach_windows_show(struct kvgpu_vgpu *v);
void vmach_window_bind(struct kvgpu_vgpu *v, enum kvgpu_bar bar, bool is_virtual,
		       struct kvgpu_gaddr inst);
void vmach_pramin_move(struct kvgpu_vgpu *v, struct kvgpu_gaddr base);
/* moves the doorbells to offset @off of the guest's BAR1; if not @valid, BAR1 shows none */
void vmach_userd_move(struct kvgpu_vgpu *v, bool valid, u64 off);
/*
 * Gives the guest's id block @g the doorbells of the chip's id block @hblock; @hblock < 0:
 * none. @page: page of the partition that the card shows at these doorbells.
 */
void vmach_userd_show(struct kvgpu_vgpu *v, u16 g, int hblock, u32 page);

/* ------------------------------------------- dirty.c: note which pages the CPU may have written */

/* returns the part of @total that the vGPU has if it has as much as of the memory for partitions */
static inline u64 vmach_share_get(const struct kvgpu_vgpu *v, u64 total)
{
	const struct kvgpu_hw *hw = &v->gpu->hw;

	return mul_u64_u64_div_u64(total, v->part_size, hw->part_end - hw->part_first);
}

/* returns how many blocks of channel ids the vGPU may have; the host has one of all */
static inline u32 vmach_id_blocks_get(const struct kvgpu_vgpu *v)
{
	return max_t(u64, vmach_share_get(v, KVGPU_NR_ID_BLOCKS - 1), 8);
}

/* returns the number of pages of the partition; needs no lock */
static inline u32 vmach_part_pages_count(const struct kvgpu_vgpu *v)
{
	return v->part_size >> PAGE_SHIFT;
}

/* Returns the page of the partition, or NO_PAGE, that page @i of PRAMIN shows at @base. No lock. */
static inline u32 vmach_pramin_page(const struct kvgpu_vgpu *v, struct kvgpu_gaddr base, u32 i)
{
	u64 page = (base.addr >> PAGE_SHIFT) + i;

	return base.target == KVGPU_VRAM && page < vmach_part_pages_count(v) ? page : NO_PAGE;
}

/* For the next two map_lock is enough, and @page may be NO_PAGE, which is no table's. */
bool vmach_page_is_table(const struct kvgpu_vgpu *v, u32 page);
/*
 * Notes that the CPU may write to page @page, through @bar, if it is a table's. A holder of
 * vgpu->lock calls vmach_written_settle() afterwards, without map_lock.
 */
void vmach_page_mark_dirty(struct kvgpu_vgpu *v, u32 page, enum kvgpu_bar bar);
/* .take_dirty, .is_dirty and .forget of machine_shadow_ops (memory.c) */
u64 vmach_dirty_log_take(void *ctx, struct kvgpu_gaddr a, u32 nr);
bool vmach_pages_are_dirty(void *ctx, struct kvgpu_gaddr a, u32 nr);
void vmach_tables_forget(void *ctx, struct kvgpu_gaddr a, u32 nr);
/* The host writes to [@off, @off + @len) of the partition. Call vmach_shadow_commit() after. */
void vmach_range_mark_dirty(struct kvgpu_vgpu *v, u64 off, u64 len);
/* the page of the MMU's registers: the guest's next access to it faults, and has a sync made */
void vmach_mmu_hide(struct kvgpu_vgpu *v);
void vmach_written_settle(struct kvgpu_vgpu *v); /* hides it if a page was marked */

/* -------------------------------------- chan.c: find, bind, enable, disable and unbind channels */

/* Enables or disables @c on the chip. Needs no lock. */
static inline void vmach_hchan_enable(const struct kvgpu_chan *c, bool on)
{
	const struct machine_slice *sl = READ_ONCE(c->slice);

	kvgpu_hw_chan_enable(&c->vgpu->gpu->hw, c->hchid, sl->runl->id, on);
}

struct kvgpu_chan *vmach_chan_find(struct kvgpu_vgpu *v, gchid_t id);
void vmach_chan_bind(struct kvgpu_vgpu *v, gchid_t id, struct kvgpu_gaddr inst);
void vmach_chan_unbind(struct kvgpu_vgpu *v, gchid_t id);
void vmach_chan_enable(struct kvgpu_vgpu *v, gchid_t id);
void vmach_chan_disable(struct kvgpu_vgpu *v, gchid_t id);
/* Reads the guest's instance block again: gives the channel the space and context that it names. */
void vmach_chan_resync(struct kvgpu_chan *c);
/*
 * Disables a channel that has run, with its group, and takes it off the chip. False: the channel
 * did not leave in time, and was ended. In either case vmach_chans_restart() ends this.
 */
bool vmach_chan_step_off(struct kvgpu_chan *c);
void vmach_chans_restart(struct kvgpu_vgpu *v);
/* unbinds and frees all channels, and gives back their id blocks */
void vmach_chans_stop(struct kvgpu_vgpu *v);

/* ---------------------------------- runlist.c: take the guest's runlists, publish them, preempt */

/* returns 0 or -ENOMEM; call vmach_runlists_fini() after an error, too */
int vmach_runlists_init(struct kvgpu_vgpu *v);
void vmach_runlists_fini(struct kvgpu_vgpu *v); /* vgpu->lock is not held */
void vmach_runlist_submit(struct kvgpu_vgpu *v, u16 count, struct kvgpu_gaddr list);
/* the guest has ended its block of the runlist (trap.runl_blocked) */
void vmach_runlist_allow(struct kvgpu_vgpu *v);
/*
 * Notes again which channels the guest's list has, and in which groups, and publishes the list:
 * after a submit, or a bind of a channel that the list may name. False: a group got no id.
 */
bool vmach_runlist_renew(struct kvgpu_vgpu *v, bool force);
/*
 * Publishes the guest's list, without entries if the guest has blocked it. Has it written to the
 * chip if it has changed or @force is true.
 */
void vmach_runlist_publish(struct kvgpu_vgpu *v, bool force);
/*
 * Returns where @c should be: on a copy engine's runlist if the card has one for it and @c has no
 * graphics context and no group, so that it can only copy; else on GR's.
 */
struct machine_slice *vmach_chan_place(const struct kvgpu_chan *c);
void vmach_runlist_clear(struct kvgpu_vgpu *v);
/* preempts the guest's channel or group @id, and ends it if that takes too long */
void vmach_chan_preempt(struct kvgpu_vgpu *v, bool tsg, u16 id);
/*
 * Preempts channel or group @hid of @sl, for as long as m->preempt_budget lets it. Returns 0 when
 * the preempt is done or @sl is off the chip, or a negative error code.
 */
int vmach_chan_preempt_wait(const struct machine_slice *sl, struct machine_hid hid);

/* ------------------------------------ grctx.c: make, share and free images of graphics contexts */

/*
 * Returns the context image that space @sp has at @va, and counts a user of it. Makes the image if
 * there is none; NULL: can't. @limit: last address that the channel may use. Call
 * vmach_space_sync() before: the guest's patch list is found by the host's copies of its tables.
 * Call vmach_shadow_commit() after, before the channel may run: it flushes and maps a new image.
 */
struct kvgpu_grctx *vmach_grctx_get(struct kvgpu_vgpu *v, struct kvgpu_space *sp, u64 va,
				    u64 limit);
/* ends a use of @gr; call it when the channel that used it is off the chip */
void vmach_grctx_put(struct kvgpu_vgpu *v, struct kvgpu_grctx *gr);
/* frees images without users; call it after the TLB was invalidated */
void vmach_grctx_free_dead(struct kvgpu_vgpu *v);
/* writes the host's golden image to the guest's memory, where block @inst has its context */
void vmach_grctx_save(struct kvgpu_vgpu *v, struct kvgpu_gaddr inst);
/* bytes of a space that a context takes: the image, and what the host puts behind it */
u32 vmach_grctx_size(const struct kvgpu_hw *hw);

/* ------------------------ event.c, recover.c: queue and deliver events for guests, end channels */

void vmach_events_init(struct kvgpu_machine *m); /* vgpu->lock is not held */
/* call it when @m is off chip->live; vgpu->lock may be held or not */
void vmach_events_fini(struct kvgpu_machine *m);
void vmach_events_reset(struct kvgpu_vgpu *v); /* drops queued events, interrupts and alarm */
/* Shows waiting events to the guest; notes in m->event.irq_changed if there were any. */
void vmach_events_deliver(struct kvgpu_vgpu *v);
/* Call it after a possible change of trap.wants_nonstall. */
void vmach_waits_update(struct kvgpu_vgpu *v);
void vmach_nonstall_init(struct kvgpu_chip *chip);
/*
 * For the slicer: unmasks NON_STALL_INTERRUPTs if their budget has room again. True: they are
 * masked for want of it, so poll again soon.
 */
bool vmach_nonstall_poll(struct kvgpu_chip *chip, u64 now);
/*
 * Queues an event for the guest, and has m->event.work deliver it. Takes m->event_lock only. @m
 * must not go away meanwhile: chip->event_lock is held, or the slicer calls.
 */
void vmach_event_push(struct kvgpu_machine *m, const struct machine_event *ev);
void vmach_alarm_arm(struct kvgpu_vgpu *v);
void vmach_fault_trigger(struct kvgpu_vgpu *v, u8 engine, u8 unit);

/* ends the channels in chip->recover_chans; for the slicer */
void vmach_chans_recover(struct kvgpu_chip *chip);
/*
 * Takes channel or group @hid off PBDMAs and engines: preempts it, and resets engines that it does
 * not leave, or, if it stays and no engine names it, all engines of the runlist. Declares the card
 * lost if it does not leave at all. For the slicer, in wait @w, whose .resets it counts.
 */
void vmach_chan_evict(struct machine_wait *w, struct machine_hid hid);
/*
 * Resets the engines of the runlist of wait @w, which is blocked, whatever channels are loaded. For
 * the slicer.
 */
void vmach_runlist_reset(struct machine_wait *w);
/*
 * Ends a channel with its group: disables them, takes them off lists and engines, and tells the
 * guest. Of a dead channel, ends the live ones of its group. @why: EVENT_FAULT or EVENT_SCHED. For
 * the slicer.
 */
void vmach_chan_isolate(struct kvgpu_chan *c, u8 why);
/*
 * Call it when @c, or group @hid that it is in, has not left the chip in a switch in the watchdog's
 * time. Ends it and counts a strike if it holds an engine, or if none is held. Otherwise it waits:
 * then ends the channels that hold engines, with a strike for each, and it without one. What is
 * dead already is only evicted. For the slicer.
 */
void vmach_hang_end(struct kvgpu_chan *c, struct machine_hid hid);
/* Disables @c if it is not dead, and has vmach_chan_isolate() end it. event_lock is held. */
void vmach_chan_end_soon(struct kvgpu_chan *c, u8 why);

/* ---------------------------- slice.c, poll.c: give vGPUs the chip in turns, poll their work */

void vmach_slicer_init(struct kvgpu_chip *chip);
/* start and stop the sampler and the slicer; no vGPU is left that could kick them at the stop */
int vmach_slicer_start(struct kvgpu_gpu *gpu);
void vmach_slicer_stop(struct kvgpu_gpu *gpu);
void vmach_watchdog_set(struct kvgpu_gpu *gpu, unsigned int ms);

/* poll.c: finds out which vGPUs have work on @r, and which make progress. For the slicer. */
void vmach_slicer_poll(struct machine_runl *r, u64 now);
/*
 * usage.c: From now on the mean time between samples is @mean ns (0: no samples). If it is shorter
 * than before, the next time is drawn anew, and the earlier of the two counts. For the slicer.
 */
void vmach_samples_set(struct kvgpu_chip *chip, u64 now, u64 mean);
/*
 * engine.c: Reads for which vGPUs the engines of @r work: writes their ids to @vgpu, by engine, 0
 * for an engine that does not work in @reads reads, or is not @r's. Returns true if an engine works
 * and names no vGPU.
 */
bool vmach_engines_name(const struct machine_runl *r, u32 reads, u32 *vgpu);
int vmach_sampler_main(void *chip); /* usage.c: the sampler */

/* strike.c: strikes and suspension; for the slicer, except where noted */
void vmach_strike_add(struct kvgpu_machine *m, const char *why);
/* adds the strike for a storm of interrupts of @c's, if there was one and it is not added yet */
void vmach_storm_strike(struct kvgpu_chan *c);
/* counts @nr engine resets or long evictions of @m's; beyond a budget each is a strike */
void vmach_resets_note(struct kvgpu_machine *m, u32 nr);
/*
 * Ends the due channels of suspended vGPUs. Returns when the next one is due, ktime in ns; or ~0.
 */
u64 vmach_suspended_end(struct kvgpu_chip *chip);

#endif
