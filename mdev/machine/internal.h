/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the machine share: the state of one vGPU behind its registers, and who is on
 * the chip. The face of VFIO (driver.c, vgpu.c, region.c, ...) includes only machine.h.
 *
 * struct kvgpu_chip     one per card. Made before the card is brought up, ended after it was let
 *                       go.
 * struct kvgpu_machine  one per vGPU. Made by vgpu_machine_init(), ended by vgpu_machine_fini().
 * struct kvgpu_chan     one channel that a guest has bound. Owned by its vGPU.
 * struct kvgpu_space    shadow of one guest page directory and who uses it. Guarded by vgpu->lock,
 *                       as is all without a note.
 * struct kvgpu_grctx    one host-owned graphics context.
 *
 * Locks: vgpu.h and docs/locking.md. Here: vgpu->lock, gpu->lock, chip->event_lock from outer to
 * inner.
 */
#ifndef KVGPU_MDEV_MACHINE_INTERNAL_H
#define KVGPU_MDEV_MACHINE_INTERNAL_H

#include <linux/bitfield.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/rbtree.h>
#include <linux/xarray.h>

#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "kvgpu/sched.h"
#include "kvgpu/shadow.h"
#include "kvgpu/trap.h"
#include "mdev/machine/machine.h"
#include "mdev/vgpu.h"

#define KVGPU_GROUP		8			/* channels whose USERD shares a page */
#define KVGPU_NR_GROUPS		(KVGPU_MAX_CHAN / KVGPU_GROUP)
#define STAGE_SIZE		(64u << 10)	/* guest memory that is fetched at once, at most */
#define NO_PAGE			(~0u)
#define EVENTS			32		/* waiting for a guest's lock; more are dropped */
/* beyond it the channel that causes them is stopped */
#define EVENTS_PER_SECOND	2000
/* NON_STALL_INTERRUPTs of all channels together, whose name is not known */
#define NONSTALL_PER_MS		2
#define NONSTALL_BURST		64
#define NONSTALL_BURST_NS	(10 * (s64)NSEC_PER_MSEC)
/* entries of one list of the chip, without the host's: see PFIFO_RUNLIST_COUNT */
#define CHIP_RUNL_MAX		(KVGPU_MAX_CHAN - 2)
/* how long a guest's own work may take to get off the chip */
#define PREEMPT_GUEST_MS	2000
#define COMMAND_MS		5000		/* and all that one command waits for together */
#define PREEMPT_EVICT_MS	100		/* of a channel that is being stopped anyway */
/* the same after its engines were reset, before the whole card is cut off */
#define PREEMPT_LAST_MS		2000
/* the preempt register belongs to all: longer waits give it up in between */
#define PREEMPT_TURN_MS		10

/* ------------------------------------------------------- time slices: slice.c, look.c, strike.c */

/* an engine that was seen at work for a channel or group that no vGPU has; gpu->lock */
struct machine_stranger {
	u64 since;			/* 0: none */
	u16 id;
	u8 engine;
	bool tsg;
};

/* Who worked at the last time that was drawn: sample.c. */
struct machine_sampler {
	/* from start to stop of the card's service; it alone writes what follows */
	struct task_struct *thread;
	/* for which time .engine was read: slicer->sample_at, or an earlier one */
	u64 taken;
	/* status of the engines of GR's runlist, 0: of another one */
	u32 engine[KVGPU_MAX_ENGINE];
};

/* of the card. Guarded by gpu->lock but for the first group */
struct machine_slicer {
	spinlock_t lock;		/* leaf: policy, all entities, strikes, knobs */
	struct kvgpu_sched sched;
	unsigned int watchdog_ms;

	struct task_struct *thread;	/* from start to stop of the card's service */
	unsigned long kicked;		/* bit 0: look now */
	bool planned;			/* it will look by itself */
	bool open;			/* all lists are on the chip; else only the owner's */
	struct kvgpu_machine *owner;
	bool stale;			/* who may be shown has changed */
	u64 used;			/* how long the last turn looked, under gpu->lock */
	u64 looked, worked;		/* when it last looked; when it last saw work */
	/* looks at random times: the last; the next, 0: it is not drawn yet */
	u64 sampled, sample_at;
	u64 sample_mean;		/* what that was drawn with */
	struct machine_sampler sampler;
	/* this look is a sample: engines are what .sampler has of them */
	bool sampling;
	/* looked, and who is busy, with what was charged; inside gpu->lock, outside lock */
	seqlock_t books;
	u32 turn;			/* which PBDMA is looked at next */
	u32 looks;			/* of one that is alone */
	struct machine_stranger stranger;
	u64 switches;
	bool busy;			/* somebody was, at the last sample */
	u64 busy_ns;
};

/* of one vGPU */
struct machine_slice {
	struct kvgpu_sched_ent ent;	/* slicer->lock */
	struct kvgpu_strikes strikes;	/* slicer->lock */
	/* gpu->lock; read by sysfs without */
	/* it may have something loaded; also read without the lock, see machine_preempt() */
	bool on_chip;
	/* its entries are in the list that the chip has, though it may not be shown any more */
	bool merged;
	/* at the last look: has something to do; took of it since; was seen doing it */
	bool work, moved, seen;
	/* it is charged: it is on the chip, and the last sample there saw it at work */
	bool busy;
	/* it was busy when it left the chip: when it is back it is, too, until the next sample */
	bool left_busy;
	bool brief;			/* took of its work since the last sample */
	/* only waits for semaphores: its turns are short and rare */
	bool parked;
	/* where its list is looked at next; entries in a row that had nothing to do */
	u32 look_at, quiet;
	u8 idle_looks;
	/*
	 * engine + 1 that was seen at work for it while its words said that there was none; 0: none
	 */
	u8 works_on;
	u32 park_ms;
	u64 parked_until;
	u64 preempts, preempt_ns, preempt_max;
	/* GPU time, the last time that somebody asked; without gpu->lock */
	atomic64_t told;
	u32 turn;			/* where its list begins next time */
	u64 resets_at, resets;		/* budget of engine resets by its faults */
	struct delayed_work end_work;	/* suspended: its channels are ended one by one */
};

/* ------------------------------------------------------------------ the chip */

struct kvgpu_chip {
	struct kvgpu_gpu *gpu;
	/* changed under gpu->lock and event_lock, so either is enough to look */
	struct list_head live;			/* struct kvgpu_machine.node */
	struct kvgpu_chan *by_hchid[KVGPU_MAX_CHAN];
	DECLARE_HASHTABLE(by_inst, 8);

	/* ids in use; gpu->lock */
	/* groups of channel ids; group 0 is the host's */
	DECLARE_BITMAP(groups, KVGPU_NR_GROUPS);
	DECLARE_BITMAP(tsgs, GK110_FIFO_NR_TSG);

	struct kvgpu_hw_lock event_lock;	/* leaf */
	/* nobody waits for the end of a submission: masked; event_lock */
	bool nonstall_off;
	/* its budget, in parts of a millionth, and in time; held: used up, masked; event_lock */
	struct { u64 at, left, worked; s64 ns; bool held; } nonstall;
	DECLARE_BITMAP(sick, KVGPU_MAX_CHAN);	/* channels that wait for recovery; atomic */
	struct work_struct recover;
	struct workqueue_struct *teller;	/* tells VMMs what their guests have to know */
	/* its items wait for locks of VFIO's, as long as VMMs like */
	struct workqueue_struct *unpinner;

	u64 merge[CHIP_RUNL_MAX];		/* gpu->lock */
	struct machine_slicer slicer;
	/* behind slices and doorbells of the card that nobody has */
	struct kvgpu_vram nowhere;
	/* does not answer: cut off from memory, nothing new is started */
	bool wedged;

	spinlock_t time_lock;
	/* PTIMER minus ktime; newest answer; ktime when the chip answered last */
	u64 time_base, time_last, time_taken;
};

/* ------------------------------------------------------------------ one vGPU's channels */

/* one that its guest has bound. Owned by its vGPU */
struct kvgpu_chan {
	struct rb_node by_gchid;	/* in machine->chans */
	struct hlist_node by_inst;	/* in chip->by_inst, of shadow instance blocks */
	struct kvgpu_vgpu *vgpu;
	gchid_t gchid;
	hchid_t hchid;
	u8 grunl, hrunl;		/* as the guest numbers runlists, and on the chip */
	struct kvgpu_gaddr ginst;	/* the guest's instance block */
	struct kvgpu_inst_guest g;	/* what it said when last read */
	struct kvgpu_vram inst;		/* the shadow */
	struct kvgpu_as *as;
	struct kvgpu_space *space;	/* whose ->as that is */
	bool enabled, dead;		/* dead: written under gpu->lock */
	bool listed;			/* in what the guest last submitted */
	bool ran;			/* was enabled since it was bound */
	/* disabled on the chip while what it loads, or its group, changes */
	bool held;
	struct { bool valid, idle; u32 get, idle_put; } look;	/* look.c; gpu->lock */
	/* what killed it; gpu->chip->event_lock */
	struct { u8 why, unit, engine; bool storm; u32 info; u64 va; } fault;
	int gtsg, htsg;			/* -1: none */
	/* host-owned context image, shared by channels with the same context VA */
	struct kvgpu_grctx *gr;
};

/* ------------------------------------------------------------------ one vGPU */

enum { EVENT_FAULT, EVENT_PBDMA, EVENT_GR, EVENT_CE, EVENT_SCHED };

struct machine_event {
	u8 kind;
	union {
		struct { u8 unit; u64 inst, va; u32 info; } fault;	/* inst: the guest's */
		struct kvgpu_pbdma_snap pbdma;
		struct { u64 inst; u32 intr, trap, nr; struct kvgpu_reg_val regs[97]; } gr;
		struct { u8 engine; u32 intr, code; } ce;
		struct { u8 engine; u16 id; bool tsg; u64 inst; } sched;
	};
};

#define PENDING_NONSTALL	0
#define PENDING_ALARM		1

struct machine_win {
	u8 bar;
	u32 pages, first;		/* of the slice; where it begins in the card's BAR */
	u64 *pte;			/* gtt-shadow's: entries of the card's table */
	/* map_lock: page of the partition behind each page of the window, or NO_PAGE */
	u32 *shows;
	/* changed, and mapped by the CPU as it was; last < first: none */
	u32 zap_first, zap_last;
	bool stale;			/* the card's TLB is behind */
	void __iomem *cpu;
	struct kvgpu_win *win;		/* gtt-shadow's: through the guest's tables */
};

struct kvgpu_space {
	struct list_head node;
	struct kvgpu_as *as;
	struct kvgpu_gaddr pd;
	/* kept: of them, those that went while the chip could still use it */
	u32 users, kept;
	bool flush;			/* the card's TLB is behind */
};

struct kvgpu_grctx {
	struct list_head node;		/* machine->grctxs, or machine->dead_images */
	struct kvgpu_space *space;
	u64 va;
	u32 pages, users;
	struct kvgpu_vram image;	/* and one page for the patch list */
};

struct kvgpu_machine {
	struct kvgpu_vgpu *v;
	struct list_head node;		/* chip->live */

	struct kvgpu_trap trap;		/* the register file */
	atomic64_t doorbells_trapped;
	/* of the command under way: then nothing is waited for that the guest can delay */
	ktime_t deadline;

	/* memory.c, pin.c */
	struct kvgpu_shadow shadow;
	void *shadow_mem;
	struct kvgpu_vram scrap;	/* one page behind everything that is not mapped */
	struct kvgpu_reg_slot *slots;
	u64 pool_used, pool_max;	/* bytes of the host's pool for this vGPU */
	struct xarray pins;		/* IOVA >> 12 -> DMA address >> 12 */
	/* of them, that nothing points to: not counted by the shadow any more */
	u64 nr_due;
	struct delayed_work unpin_work;
	struct page *pin_pages[512];
	/* next: where reading in a row would go on */
	struct { u8 *cpu; dma_addr_t dma; u64 at, next; u32 len; } stage;
	bool may_pin, l2_clean, scrubbed;
	/* asked for in the page of flush.c; by the end of the command */
	bool flush_owed;
	/* freed: memory of tables, memory.c's */
	struct list_head spaces, grctxs, dead_images, freed;
	/*
	 * pages the CPU may have written since their last look: one bit per 4 KiB of the partition
	 */
	unsigned long *touched;
	/* pages that were touched before the sync that is under way */
	unsigned long *dirty;
	bool any_dirty;
	/*
	 * read by sysfs without locks: TLB invalidates of the chip; machine_space_put() refused, 0
	 * or there is a bug
	 */
	atomic64_t flushes, spaces_kept;

	/* unmap.c */
	struct list_head unmaps;	/* struct unmap_known: threads that ask for memory */
	struct pid *opener;		/* the process that opened it last, or NULL; vgpu->lock */
	/* because of so many of them nothing is pinned; read without the lock of the list */
	u32 unmaps_forbid;

	/* window.c */
	struct machine_win win1, win3;
	/* what the guest has bound to them */
	struct { bool bound, is_virtual; struct kvgpu_gaddr inst, pd; u64 limit; } bar1, bar3;
	/* where the guest's doorbells are in its BAR1; ~0 = unset */
	u64 userd_bar1;
	struct kvgpu_gaddr pramin;	/* map_lock, and the entries */
	u64 pramin_pte[256], pramin_next[256];
	void __iomem *pramin_cpu, *userd_cpu;
	/* by guest group: page of the partition; map_lock */
	u32 userd_page[KVGPU_NR_GROUPS];
	/* of those in touched: by BAR1 or PRAMIN, not only BAR3; map_lock */
	unsigned long *touched1;

	/* chan.c */
	struct rb_root chans;
	s16 group[KVGPU_NR_GROUPS];	/* guest channel group -> group of the chip, -1 = none */
	u32 nr_groups, max_groups;

	/* runlist.c */
	/* what the guest last submitted, per runlist of the guest */
	u64 *runl_entries[KVGPU_MAX_RUNL];
	u16 runl_nr[KVGPU_MAX_RUNL];
	s16 htsg[GK110_FIFO_NR_TSG];	/* guest group -> group of the chip, -1: none */
	u32 nr_tsgs;			/* that it has one of the chip for */
	/* those of the guest that are named, while it is asked which are; vgpu->lock */
	DECLARE_BITMAP(tsgs_used, GK110_FIFO_NR_TSG);
	/* entries of each list, headers of groups among them: as many as it may have channels */
	u32 runl_max;
	u64 *list[KVGPU_MAX_RUNL];	/* by runlist of the chip: what is to run; gpu->lock */
	u16 list_nr[KVGPU_MAX_RUNL];
	u64 *next;			/* under construction; vgpu->lock */
	u32 blocked;			/* runlists that the guest has blocked */

	/* event.c */
	spinlock_t event_lock;
	struct machine_event events[EVENTS], current_event;
	u32 event_put, event_get;
	u64 events_dropped;
	/* what of the host's time signals may take, ns; vgpu->lock */
	struct { u64 at; s64 left; } tell;
	unsigned long pending;
	/* its driver wants to be told of the end of submissions; written under vgpu->lock */
	bool waits;
	bool gone;			/* no work item is started any more */
	struct delayed_work event_work, alarm_work;
	u64 window_start;		/* of the events' budget; chip->event_lock */
	u32 window_events;
	/* by id: reported as hung, guest has not recovered yet */
	struct { bool set; u64 inst; } stuck[KVGPU_MAX_ENGINE];

	atomic64_t gpu_ns;		/* charged by books.c; read by sysfs without locks */
	struct machine_slice slice;
};

/* ------------------------------------------------------------------ chip.c */

bool machine_wedged(const struct kvgpu_gpu *gpu);
void machine_wedge(struct kvgpu_gpu *gpu, const char *why);
u64 machine_time(struct kvgpu_gpu *gpu);	/* PTIMER, ns */
u8 machine_gr_runl(const struct kvgpu_gpu *gpu);
/* ms that the guest's own work may take to leave the chip */
unsigned int machine_patience(const struct kvgpu_vgpu *v);
/* any context: something changed that it should know */
void machine_slicer_kick(struct kvgpu_gpu *gpu);

/* ------------------------------- engine.c; what looks up channels: gpu->lock or event_lock held */

bool machine_engine_has(struct kvgpu_gpu *gpu, u8 engine, bool tsg, u16 id);
bool machine_on_engine(struct kvgpu_gpu *gpu, bool tsg, u16 id);	/* on any of them */
/* NULL: the host's, or nobody's */
struct kvgpu_machine *machine_named(struct kvgpu_chip *chip, u32 st);
/* an engine is busy for one of its channels, whichever */
bool machine_works(struct kvgpu_machine *m);
/* an engine works for another vGPU than @m's */
bool machine_others_work(struct kvgpu_machine *m);
/* @st, of engine @e: at work, and machine_named() is NULL */
void machine_stranger_seen(struct kvgpu_chip *chip, u8 e, u32 st);
/* the chip says that it has no use for what the channel loads */
bool machine_chan_off(const struct kvgpu_chan *c);
bool machine_same_group(const struct kvgpu_chan *a, const struct kvgpu_chan *b);
/*
 * @c, or where that is dead a channel of its group that is not, if there is any: a guest may leave
 * a dead channel bound, and list others in the same group. gpu->lock or event_lock held
 */
struct kvgpu_chan *machine_live_member(struct kvgpu_chip *chip, struct kvgpu_chan *c);

/* ------------------------------------------------------------------ list.c; gpu->lock held */

/* its list is on the chip; gpu->lock held */
bool machine_shown(const struct kvgpu_machine *m);
/* takes a channel out of its list; gpu->lock held. True: the chip's list has to be written again */
bool machine_runlist_drop(struct kvgpu_machine *m, u8 runl, hchid_t id);
/* writes the chip's list: of those that may be on the chip now. gpu->lock held */
int machine_runlist_merge(struct kvgpu_gpu *gpu, u8 runl);
/* the same, if the chip has this one's list at all */
int machine_runlist_changed(struct kvgpu_machine *m, u8 runl);

/* ------------------------------------------------------------------ books.c */

void machine_charge(struct kvgpu_machine *m, u64 ns, u64 now);
u64 machine_gpu_time(struct kvgpu_machine *m);	/* ns, as of now. Any context */
void machine_waited(struct kvgpu_machine *m, bool works, bool others, u64 began);

/* ------------------------------------------------------------------ command.c */

void machine_command(struct kvgpu_vgpu *v, const struct kvgpu_cmd *cmd);

/* ------------------------------------------------------------------ memory.c, space.c */

int machine_memory_init(struct kvgpu_vgpu *v);
void machine_memory_fini(struct kvgpu_vgpu *v);
int machine_pool_alloc(struct kvgpu_vgpu *v, u64 size, struct kvgpu_vram *out);
/* the GPU does not use it any more */
void machine_pool_free(struct kvgpu_vgpu *v, struct kvgpu_vram *vram);
/* gives back the memory of tables that were freed since */
void machine_tables_free(struct kvgpu_vgpu *v);
/* guest memory; @len bytes inside one page. -EFAULT */
int machine_read(struct kvgpu_vgpu *v, struct kvgpu_gaddr a, void *buf, u32 len);
void machine_stage_drop(struct kvgpu_machine *m);
extern const struct kvgpu_shadow_ops machine_shadow_ops;

static inline struct device *machine_dma_dev(const struct kvgpu_vgpu *v)
{
	return &v->gpu->hw.pdev->dev;
}

/* NULL: no memory */
struct kvgpu_space *machine_space_get(struct kvgpu_vgpu *v, struct kvgpu_gaddr pd);
/*
 * @c had it (NULL: nobody had), and is off: else the space is kept until nothing of the vGPU is
 * bound any more
 */
void machine_space_put(struct kvgpu_vgpu *v, struct kvgpu_space *sp, const struct kvgpu_chan *c);
void machine_spaces_drop(struct kvgpu_vgpu *v);		/* nothing is bound: what was kept goes */
bool machine_range_dirty(void *ctx, struct kvgpu_gaddr a, u64 len);	/* kvgpu_dirty_fn */
/*
 * every shadow of the vGPU up to date with the guest's tables, in the card's TLBs too; drops what
 * is not used any more
 */
void machine_sync(struct kvgpu_vgpu *v);
/* the second half of it: after any change of shadows or windows */
void machine_settle(struct kvgpu_vgpu *v);

/* ------------------------------------------------------------------ pin.c */

void machine_pins_init(struct kvgpu_vgpu *v);
void machine_pins_fini(struct kvgpu_vgpu *v);		/* without vgpu->lock */
/* pin and unpin of struct kvgpu_shadow_ops; the latter makes pages due, which a work item unpins */
int machine_pin(void *ctx, const iova_t *iova, u32 nr, u64 *dma);
void machine_unpin(void *ctx, iova_t iova, u32 nr);
/* unpins now what is due from byte @iova to byte @last */
void machine_unpin_due(struct kvgpu_vgpu *v, u64 iova, u64 last);

/* ------------------------------------------------------------------ unmap.c */

void machine_unmap_init(struct kvgpu_machine *m);
void machine_unmap_fini(struct kvgpu_machine *m);	/* without vgpu->lock */
/* the container's thread, which is this one, wants memory back */
void machine_unmap_asked(struct kvgpu_vgpu *v);
/* -EBUSY, and told: a thread of another process keeps this vGPU from pinning */
int machine_unmap_open(struct kvgpu_vgpu *v);
/* whether memory may be pinned: not while a thread may be asking for it that was given it twice */
bool machine_unmap_may_pin(struct kvgpu_vgpu *v);

/* ------------------------------------------------------------------ flush.c */

/* what was put into BARs reaches memory; with @l2, and L2 agrees with system memory */
void machine_flush(struct kvgpu_vgpu *v, bool l2);
/* what the guest asked for in the page that it maps is done. Any context that may sleep */
void machine_flush_page(struct kvgpu_vgpu *v);
/* it asked for a flush of BARs, which is the caller's to do from now on */
bool machine_flush_take(struct kvgpu_vgpu *v);

/* ------------------------------------------------------------------ window.c */

int machine_windows_init(struct kvgpu_vgpu *v);
/* none of the vGPU's memory is behind its slices any more */
void machine_windows_fini(struct kvgpu_vgpu *v);
void machine_windows_reset(struct kvgpu_vgpu *v);	/* as after power-on */
void machine_windows_close(struct kvgpu_vgpu *v);	/* all scrap, zapped */
void machine_windows_sync(struct kvgpu_vgpu *v);
bool machine_windows_stale(struct kvgpu_vgpu *v);	/* the card's TLB is behind */
/* what was changed is written out: the card shows it */
int machine_windows_invalidate(struct kvgpu_vgpu *v);
void machine_windows_zap(struct kvgpu_vgpu *v);		/* and the CPU takes it anew */
void machine_window_bind(struct kvgpu_vgpu *v, u8 bar, bool is_virtual, struct kvgpu_gaddr inst);
void machine_pramin_move(struct kvgpu_vgpu *v, struct kvgpu_gaddr base);
void machine_userd_move(struct kvgpu_vgpu *v, bool valid, u64 off);
/*
 * group of the chip and page of the partition behind the doorbells of guest group @g; hgroup < 0:
 * none
 */
void machine_userd_show(struct kvgpu_vgpu *v, u16 g, int hgroup, u32 page);

/* ------------------------------------------------------------------ touched.c */

static inline u32 machine_part_pages(const struct kvgpu_vgpu *v)
{
	return v->part_size >> PAGE_SHIFT;
}

/* the CPU is about to have a mapping of @page of the partition, NO_PAGE: nothing; map_lock */
void machine_touch(struct kvgpu_vgpu *v, u32 page, bool bar3);
/*
 * May the CPU have written to pages @first to @last of the partition since the last look? Those go
 * into m->dirty, and from now on it can't write there without being noted again. False: to none
 * that is not dirty already.
 */
bool machine_pages_untouch(struct kvgpu_vgpu *v, unsigned long first, unsigned long last);
void machine_page_touch(struct kvgpu_vgpu *v, u64 off, u64 len);

/* ------------------------------------------------------------------ chan.c */

struct kvgpu_chan *machine_chan_find(struct kvgpu_vgpu *v, gchid_t id);
void machine_chan_bind(struct kvgpu_vgpu *v, gchid_t id, u8 runl, struct kvgpu_gaddr inst);
void machine_chan_unbind(struct kvgpu_vgpu *v, gchid_t id);
void machine_chan_enable(struct kvgpu_vgpu *v, gchid_t id);
void machine_chan_disable(struct kvgpu_vgpu *v, gchid_t id);
/*
 * reads the guest's instance block again; what it says of graphics context and space takes effect
 */
void machine_chan_resync(struct kvgpu_chan *c);
/*
 * Off the chip and disabled there, with the other members of its group, so that what it saves and
 * loads can be exchanged; false: it had to be ended. In either case machine_chans_restart() has to
 * follow
 */
bool machine_chan_step_off(struct kvgpu_chan *c);
void machine_chans_restart(struct kvgpu_vgpu *v);
/* all off the chip, gone; groups given back */
void machine_chans_stop(struct kvgpu_vgpu *v);
bool machine_chans_any(const struct kvgpu_vgpu *v);

/* ------------------------------------------------------------------ runlist.c */

int machine_runlists_init(struct kvgpu_vgpu *v);	/* -ENOMEM; fini also after it failed */
void machine_runlists_fini(struct kvgpu_vgpu *v);
void machine_runlist_submit(struct kvgpu_vgpu *v, u8 runl, u16 count, struct kvgpu_gaddr list);
void machine_runlist_block(struct kvgpu_vgpu *v, u32 mask);
void machine_runlist_allow(struct kvgpu_vgpu *v, u32 mask);
/* a channel was, that a list may have named before */
void machine_runlist_bound(struct kvgpu_vgpu *v, u8 runl);
/* translates what the guest wants and gives it to the chip */
void machine_runlist_publish(struct kvgpu_vgpu *v);
void machine_runlist_clear(struct kvgpu_vgpu *v);
void machine_preempt(struct kvgpu_vgpu *v, bool tsg, u16 id);
/* by the chip's id; bounded, -ETIMEDOUT */
int machine_preempt_wait(struct kvgpu_vgpu *v, bool tsg, u16 id);

/* ------------------------------------------------------------------ grctx.c */

/*
 * the image for the context that the guest has at @va of the space; counts users. NULL: it can't
 * have one
 */
struct kvgpu_grctx *machine_grctx_get(struct kvgpu_vgpu *v, struct kvgpu_space *sp, u64 va,
				      u64 limit);
/* channels that use it are off the chip */
void machine_grctx_put(struct kvgpu_vgpu *v, struct kvgpu_grctx *gr);
/* after the TLB was invalidated */
void machine_grctx_free_dead(struct kvgpu_vgpu *v);
void machine_grctx_save(struct kvgpu_vgpu *v, struct kvgpu_gaddr inst);

/* ------------------------------------------------------------------ event.c, recover.c */

void machine_events_init(struct kvgpu_machine *m);
void machine_events_fini(struct kvgpu_machine *m);	/* off chip->live already */
void machine_events_reset(struct kvgpu_vgpu *v);
/* Another tenant opens it: the budget of interrupts begins anew. */
void machine_events_forget(struct kvgpu_machine *m);
void machine_events_deliver(struct kvgpu_vgpu *v);	/* vgpu->lock held */
/* after what may have changed trap.wants_nonstall; vgpu->lock held */
void machine_waits(struct kvgpu_vgpu *v);
/*
 * the slicer's look; gpu->lock held. True: NON_STALL_INTERRUPTs are masked still, so it has to look
 * again soon
 */
bool machine_nonstall_look(struct kvgpu_chip *chip, u64 now);
void machine_event_push(struct kvgpu_machine *m, const struct machine_event *ev);
/*
 * delivers soon, not by this thread. The machine must be kept from going: event_lock or gpu->lock
 * held, or by its work items' end
 */
void machine_kick(struct kvgpu_machine *m);
void machine_alarm_arm(struct kvgpu_vgpu *v);
void machine_fault_trigger(struct kvgpu_vgpu *v, u8 engine, u8 unit);

void machine_recover_work(struct work_struct *work);
/*
 * Nothing of channel or group @id is left on PBDMAs and engines when it returns: preempt, then
 * reset. gpu->lock held.
 * True: that cost an engine.
 */
bool machine_evict(struct kvgpu_gpu *gpu, u8 runl, bool tsg, u16 id, unsigned int ms);
/* the last resort: every engine of the runlist, whoever is on it. gpu->lock held */
void machine_reset_runlist(struct kvgpu_gpu *gpu, u8 runl);
/* drives off such work when the watchdog's time is over */
void machine_strangers(struct kvgpu_chip *chip, u64 now);
/*
 * Ends a channel, and its group with it: disabled, off lists and engines, dead; the guest is told.
 * If the channel is dead, what its group has got since. gpu->lock held
 */
/* EVENT_FAULT or EVENT_SCHED */
void machine_isolate(struct kvgpu_gpu *gpu, struct kvgpu_chan *c, u8 why);
/* the same from the next work item on; event_lock held */
void machine_end_soon(struct kvgpu_chip *chip, struct kvgpu_chan *c, u8 why);

/* ------------------------------------------------------------------ slice.c */

void machine_slicer_init(struct kvgpu_chip *chip);
int machine_slicer_start(struct kvgpu_gpu *gpu);
/* sample.c. Whether the engines were read at slicer->sample_at; by the slicer's thread */
bool machine_sample_taken(const struct machine_slicer *s);
/* slicer->sample_at has changed */
void machine_sampler_kick(struct machine_slicer *s);
int machine_sampler_start(struct kvgpu_chip *chip);
void machine_sampler_stop(struct kvgpu_chip *chip);
void machine_slicer_stop(struct kvgpu_gpu *gpu);
void machine_watchdog_set(struct kvgpu_gpu *gpu, unsigned int ms);
void machine_slice_add(struct kvgpu_machine *m);	/* these two: gpu->lock held */
void machine_slice_remove(struct kvgpu_machine *m);

/*
 * look.c: what each vGPU has to do and was seen doing since the last look, charged. gpu->lock held
 */
void machine_look(struct kvgpu_chip *chip, u64 now);
/* it may not have all of the GPU's time */
bool machine_limited(const struct kvgpu_chip *chip, const struct kvgpu_machine *m);

/* strike.c; gpu->lock held unless said */
void machine_strike_init(struct kvgpu_machine *m);
void machine_strike(struct kvgpu_machine *m, const char *why);
/* a fault of its cost others an engine for @ns */
void machine_strike_for_reset(struct kvgpu_machine *m, u64 ns);
/* the guest began anew, or the admin said so: no strikes, not suspended. Takes gpu->lock */
void machine_forgive(struct kvgpu_vgpu *v);
bool machine_suspended(struct kvgpu_machine *m);		/* no lock */

#endif
