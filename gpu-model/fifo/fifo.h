/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PFIFO's internals.
 *   decode.c, runlist.c   pure: words of pushbuffers, lists
 *   regs.c, pbdma_regs.c, chan_table.c   registers of BAR0
 *   pbdma.c               a PBDMA's thread and its states
 *   exec.c                fetching and executing, without the lock
 *   host_methods.c, semaphore.c   methods that PFIFO executes itself
 *   route.c               which engine methods go to
 *   engine.c              which PBDMA owns an engine, GR context switches
 *   turns.c               choice of channels, slices
 *   sched.c               loading and unloading by turns, runlists, preempt
 *   ramfc.c               loading and saving a channel's words
 *   recovery.c            faults, fault injection, the keeper thread, ctxsw timeout
 *   userd.c               doorbells and write-back
 *   intr.c, wake.c, unit.c
 * No files call each other in a circle.
 *
 * Threads: one for each PBDMA (pbdma.c), the keeper (recovery.c), and those that run register
 * accesses with gk110.lock held: the socket thread, for which core/mmio.c takes it, and for FECS
 * the thread that switches GR's context. The thread of mmu/fault.c raises interrupts, that of
 * vfio/barmap_link.c rings doorbells. "Lock held" below means that the caller has taken it.
 *
 * Locks: gk110.lock protects everything here, except for atomics, struct wake (own lock), the last
 * members of struct pbdma, which only the PBDMA's thread uses, and what that thread changes in the
 * struct chan of its channel (pb_priv, ce_state, subch_class). A PBDMA's thread executes
 * without the lock; other threads reach it through chan.stop, the flags of struct pbdma, and its
 * wake. dma_lock comes after gk110.lock; an invalidate (MEM_OP) takes it for writing, all else here
 * for reading. A switch of GR's context drops gk110.lock, so engine_evict(), and with it
 * sched_load(), sched_next_member() and sched_unload(), may drop it: read anew after these what you
 * read before.
 */
#ifndef KVGPU_MODEL_FIFO_FIFO_H
#define KVGPU_MODEL_FIFO_FIFO_H

#include <linux/bitfield.h>

#include <gk110/fifo.h>
#include <gk110/push.h>
#include <gk110/ram.h>

#include "model.h"

#include "decode.h"
#include "runlist.h"

/* ------------------------------------------------------------------ wake.c */

#define WAKE_NEVER MONO_NEVER

/*
 * An event counter to sleep on. Its lock is innermost: any thread may post with any lock held. One
 * thread sleeps on it: a PBDMA's on pbdma.wake, the keeper on fifo.keeper_wake.
 */
struct wake {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	uint64_t seq;
};

void wake_init(struct wake *w);
void wake_fini(struct wake *w);
void wake_post(struct wake *w);
uint64_t wake_seq(struct wake *w);
/*
 * Sleep until something was posted after wake_seq() gave @seq, or until @deadline (monotonic ns).
 */
void wake_wait(struct wake *w, uint64_t seq, uint64_t deadline);

void sched_wake_all(struct fifo *f); /* any thread, with or without gk110.lock */
void sched_wake_runlist(struct gk110 *g, unsigned int runlist); /* lock held */

/* ------------------------------------------------------------------ channels */

/* an acquire in progress, from RAMFC */
struct acquire {
	uint64_t va;
	uint32_t op, payload; /* SEMAPHORE_D's HOST_SEMAPHORE_OP; SEMAPHORE_C */
	uint32_t config, deadline; /* RAMFC_ACQUIRE, RAMFC_ACQUIRE_DEADLINE */
};

struct fchan {
	struct chan c;
	bool bound, enabled, force_reload;
	bool pending; /* to be loaded: a doorbell came, or work is left */
	uint8_t listed; /* mask of the runlists that name it */
	int8_t pbdma; /* the PBDMA that has it loaded, -1 */
	/*
	 * gave way to another channel in an acquire that may switch: it is loaded only when its
	 * semaphore lets it go on. A preempt or an enable clears this.
	 */
	bool acq_wait;
	unsigned int acq_kick; /* fifo.kicks when the semaphore was last read */
	uint64_t acq_retry, acq_backoff;
	/* the acquire that it waits for */
	struct acquire acq;
	uint32_t gr_ctx[2]; /* RAMIN_GR_CTX as loaded */
};

/* ------------------------------------------------------------------ engines */

#define OWNER_NONE   (-1)
#define OWNER_KEEPER GK110_MAX_PBDMA
#define NR_OWNERS    (GK110_MAX_PBDMA + 1)

struct feng {
	struct engine *e;
	unsigned int idx;
	int owner; /* PBDMA, OWNER_KEEPER or OWNER_NONE */
	int queue[NR_OWNERS]; /* PBDMAs that wait for the engine, in order */
	unsigned int queued;
	/*
	 * Two atomics, apart from the flags that the lock protects: compilers may access neighbours
	 * together.
	 */
	/* a PBDMA waits for the engine */
	atomic_bool wanted;
	atomic_bool busy; /* executing a method */
	/*
	 * CE: the owner's channel; GR: the channel whose context is resident, also while GR is idle
	 */
	struct fchan *on;
	struct fchan *next; /* the channel that a switch goes to; NULL: to none */
	bool switching; /* a context switch runs, without the lock */
	bool faulted; /* an MMU fault holds the channel .on (recovery.c) */
	/* a fault was injected while no channel was on the engine */
	bool injected;
	/* a context switch failed without a fault: the engine stays in the switch (recovery.c) */
	bool stuck;
	/* the resident context is to be saved, by a PBDMA's thread or the keeper */
	bool evict;
	unsigned int resets; /* counted, so that a switch under way notices one */
	/* since when (or since which ctxsw timeout) a wanted switch has not come; 0: none is due */
	uint64_t chsw_since;
	uint64_t owned_since;
};

/* ------------------------------------------------------------------ PBDMAs */

enum pbdma_state {
	PB_RUN,
	PB_ACQUIRE, /* loaded, waits for a semaphore */
	/* an exception halts its engine, or a context switch hangs */
	PB_ENGINE_HALT,
	PB_HOST_FAULT,
	PB_ENGINE_FAULT, /* loaded, held after an MMU fault */
};

/*
 * Why exec.c came back. A method that ended with RUN_STOP, RUN_SLICE, RUN_HALTED, RUN_HOST_FAULT or
 * RUN_ENGINE_FAULT is executed again; after any other result it is done, but for one that
 * pbdma_raise_method() put into METHOD0.
 */
enum run {
	RUN_GO,
	/* nothing more to fetch */
	RUN_DRY,
	RUN_STOP,
	/* the slice is over, or the engine's old context could not be saved */
	RUN_SLICE,
	RUN_YIELD,
	RUN_ACQUIRE,
	RUN_ACQUIRE_SWITCH,
	RUN_INTR,
	/* the method raised an exception that halts its engine, or a context switch hangs */
	RUN_HALT,
	RUN_HALTED, /* the engine is halted; it did not get the method */
	RUN_HOST_FAULT,
	RUN_ENGINE_FAULT,
};

#define FETCH_WORDS 1024

struct pbdma {
	struct gk110 *g;
	unsigned int idx;
	uint32_t regs; /* BAR0 offset */
	/* mask of the runlists that it serves */
	uint32_t runlists;
	int8_t ce[GK110_MAX_RUNLIST];
	int8_t gr[GK110_MAX_RUNLIST];
	pthread_t thread;
	bool running;
	struct wake wake;
	struct mmu_client mmu;

	/*
	 * from here on: changed with the lock held; what only the PBDMA's thread changes, that
	 * thread reads without it
	 */
	struct fchan *fc; /* the loaded channel */
	enum pbdma_state state;
	bool tsg;
	unsigned int runlist;
	unsigned int next_runlist; /* the runlist to try first */
	uint64_t slice_ns, slice_end; /* slice of the group; slice_ns 0: no limit */
	uint64_t member_end;
	/* when to retry: in PB_ACQUIRE the acquire; without a channel, those of waiting channels */
	uint64_t acq_retry, acq_backoff;
	bool doorbell, preempt, drop, engine_reset;
	/* read METHOD0 again once the interrupt is acknowledged */
	bool interrupted;
	/* the exception is this channel's: a preempt does not unload it */
	bool halt_holds;
	unsigned int fault_clears;
	unsigned int fault_engine;
	unsigned int kicks; /* fifo.kicks before it last began to execute */

	/* from here on: for the PBDMA's thread */
	/* RAMFC words, live; from guest memory: any values */
	uint32_t w[RAMIN_RAMFC_SIZE / 4];
	uint32_t fetch[FETCH_WORDS];
	uint64_t fetch_va;
	unsigned int fetch_nr;
	bool replay; /* METHOD0 holds a method to execute next */
	struct { /* method in progress: the state that follows it */
		bool valid, from_replay, end;
		uint32_t word;
		struct pb_state next;
	} step;
	/* engines that it took, a bit each, and feng.resets then; feng.owner says if it has them */
	uint32_t held;
	uint32_t held_resets[GK110_MAX_ENGINE];
	unsigned int ops; /* steps of exec_run() since the load */
	uint64_t run_end; /* earliest of slice_end and member_end */
};

#define W(p, off) ((p)->w[(off) / 4])

struct fifo {
	bool stopping;
	struct fchan *chan; /* GK110_MAX_CHAN */
	int8_t *tsg_pbdma; /* per TSG: the PBDMA that has it loaded, -1 */
	struct runlist rl[GK110_MAX_RUNLIST];
	struct pbdma pbdma[GK110_MAX_PBDMA];
	struct feng eng[GK110_MAX_ENGINE];
	uint32_t error; /* PFIFO_RUNLIST_ERROR */
	unsigned int fault_clears[GK110_MAX_RUNLIST];
	unsigned int nr_acq_wait; /* how many channels have fchan.acq_wait */
	/*
	 * kicks: calls of fifo_kick(); acq_sleepers: not 0 while a channel retries its acquire
	 * after a kick
	 */
	atomic_uint kicks, acq_sleepers;
	uint32_t preempt; /* last id and type written */
	pthread_t keeper;
	bool keeper_running;
	struct wake keeper_wake;
	/* client of injected faults and of semaphore_pretest() */
	struct mmu_client inject;
};

/* ------------------------------------------- intr.c (lock held, except for pbdma_raise...()) */

void pbdma_intr_update(struct gk110 *g);
/* true while an unacknowledged interrupt stops the PBDMA */
bool pbdma_halted(struct pbdma *p);
/*
 * Raise an interrupt of the PBDMA. Called on the PBDMA's own thread without the lock; takes it.
 * RUN_INTR: the PBDMA is stopped. RUN_GO: a mask keeps it from stopping. RUN_STOP: PFIFO was reset
 * meanwhile, and no interrupt was raised.
 */
enum run pbdma_raise0(struct pbdma *p, uint32_t bits);
enum run pbdma_raise_method(struct pbdma *p, uint32_t bits, const struct pb_action *a);
enum run pbdma_raise_hce(struct pbdma *p, uint32_t bits, const struct pb_action *a);
void fifo_error(struct gk110 *g, uint32_t intr, uint32_t reg, uint32_t code);

/*
 * exec.c, host_methods.c, semaphore.c: on the PBDMA's thread, except for semaphore_pretest(). Call
 * exec_run(), host_method(), semaphore_execute() and semaphore_retry() without the lock.
 */

enum run exec_run(struct pbdma *p); /* run until the result is not RUN_GO */
/* Take the method in progress as done: it was lost with its engine. */
void exec_skip(struct pbdma *p);
void exec_forget(struct pbdma *p); /* call after loading a channel */

enum run host_method(struct pbdma *p, const struct pb_action *a);
enum run semaphore_execute(struct pbdma *p, const struct pb_action *a);
enum run semaphore_retry(struct pbdma *p);
struct acquire semaphore_acquire(const struct pbdma *p);
/* Whether the channel, once loaded, would do more than wait. Records nothing. Lock held. */
bool semaphore_pretest(struct gk110 *g, struct mmu_client *client, const struct fchan *fc);

/* ------------------------------------------------------------------ route.c */

/* fill in pbdma.ce and .gr; before there are threads */
void route_init(struct gk110 *g);
/* on the PBDMA's thread, with the lock or without: the engine's index, or -1 */
int route_subchannel(struct pbdma *p, unsigned int subc);
/* any thread; the answers do not change */
struct feng *gr_engine_of(struct fifo *f);
/* Find the engine that has number @id in PFIFO's registers. NULL: none, or a video engine. */
struct feng *engine_by_id(struct gk110 *g, unsigned int id);

/* ------------------------------------------------------------------ engine.c */

/*
 * Send a method, on the PBDMA's thread without the lock. RUN_GO: the engine took it, or it raised
 * an interrupt that does not stop the PBDMA.
 */
enum run engine_method(struct pbdma *p, unsigned int idx, const struct pb_action *a);
/* Give up engines for which another PBDMA waits; @keep only after GR_TURN_NS. No lock. */
void engine_offer(struct pbdma *p, int keep);
/* lock held, from here to engine_status() */
void engine_release_all(struct pbdma *p);
/*
 * Save the resident context of a free engine; the lock is dropped meanwhile. @who is the calling
 * thread's: a PBDMA or OWNER_KEEPER. False: the context could not be saved.
 */
bool engine_evict(struct fifo *f, struct feng *e, int who);
bool engine_halted(struct gk110 *g, struct feng *e);
/* The engine faulted on its channel: stop the scheduling of that channel's runlist, too. */
void engine_mark_faulted(struct gk110 *g, struct feng *e);
uint32_t engine_status(struct gk110 *g, unsigned int id);

/* -------------------------------------------------- ramfc.c (PBDMA's own thread, lock held) */

/*
 * Load a channel. -EFAULT: the instance block is not memory, and fc->pending was cleared. -EBUSY:
 * @gr (NULL: there is no GR) has an old context of this channel, which is to be saved first;
 * fc->pending stays, so that a later turn loads the channel.
 */
int ramfc_load(struct pbdma *p, struct fchan *fc, const struct feng *gr);
/* Write the RAMFC words and the copy class's state to the instance block, and nothing else. */
void ramfc_save(struct pbdma *p);
/* Copy the live state to the PBDMA's registers. A channel is loaded (p->fc is not NULL). */
void ramfc_sync(struct pbdma *p);

/*
 * turns.c (lock held). The functions with a PBDMA run on its thread; sched_contended() and
 * sched_others() on the keeper's, too.
 */

void pbdma_set_state(struct pbdma *p, enum pbdma_state s);
/* Set or clear fc->acq_wait; if set, also when to read the semaphore again. */
void chan_acq_wait(struct fifo *f, struct fchan *fc, bool on);
bool sched_allowed(struct fifo *f, unsigned int runlist);
/* Whether the channel is enabled and in its runlist. */
bool sched_wanted(const struct fchan *fc);
/* Whether another group waits for this PBDMA, or the channel has to leave. */
bool sched_contended(struct pbdma *p);
bool sched_others(struct pbdma *p); /* another group waits */
bool sched_member_waits(struct pbdma *p);
/*
 * Choose a channel: its group and number, or NULL. p->acq_retry comes forward to when a waiting
 * channel is to be looked at again.
 */
struct rl_group *sched_pick(struct pbdma *p, unsigned int runlist, unsigned int *chid);
/* Choose the next member of the TSG, whose slice goes on: the group and its channel, or NULL. */
struct rl_group *sched_pick_member(struct pbdma *p, unsigned int *chid);
/* Begin a new slice of the member; @group: also of the group. */
void sched_slice_start(struct pbdma *p, bool group);
/* Whether the turn goes on: by a new slice, if the old one is over and nothing else waits. */
bool sched_turn_goes_on(struct pbdma *p);

/* ----------------------------- sched.c (lock held; those with a PBDMA on its thread) */

/* Choose and load a channel. False: none was loaded. */
bool sched_load(struct pbdma *p);
/* Unload the channel; @more: it still has work. */
void sched_unload(struct pbdma *p, bool more);
/* Unload a channel that is lost, without saving. */
void sched_drop(struct pbdma *p);
/*
 * Load the next member of the TSG, if one is ready; the slice of the group goes on. False: none was
 * loaded; the channel may be unloaded by then (pbdma.fc NULL).
 */
bool sched_next_member(struct pbdma *p, bool more);
void sched_submit(struct gk110 *g);
void sched_preempt(struct gk110 *g, uint32_t val);
bool sched_preempt_pending(struct fifo *f);
/* Whether a preempt by the word @preempt of PFIFO_PREEMPT means the channel. */
bool chan_matches(const struct fchan *fc, uint32_t preempt);

/*
 * recovery.c. Lock held, but keeper_main() takes it itself. fault_hold(), fault_injected() and
 * fault_release() are for the PBDMA's thread.
 */

/*
 * Hold the channel after RUN_HOST_FAULT or RUN_ENGINE_FAULT. False: software has recovered from the
 * fault already, so the channel is not held: unload it.
 */
bool fault_hold(struct pbdma *p, enum run why);
/* Whether an engine that the PBDMA owns is marked as faulted; the PBDMA is then held. */
bool fault_injected(struct pbdma *p);
/* Whether a held channel may be unloaded; its engine's fault is then cleared. */
bool fault_release(struct pbdma *p);
/* A channel was disabled, taken off its list or preempted: what a fault holds may be free now. */
void fault_check(struct gk110 *g);
/* Software cleared the errors of @runlists, a bit each. */
void fault_clear(struct gk110 *g, uint32_t runlists);
/* Software pulled the fault trigger of an engine (@val: the register), or released it. */
void fault_inject(struct gk110 *g, unsigned int engine, uint32_t val);
void fault_inject_release(struct gk110 *g, unsigned int engine);
void *keeper_main(void *arg);

/*
 * userd.c. The functions with a PBDMA: on its thread, with the lock or without.
 * chan_mark_pending(): on any thread, lock held.
 */

bool userd_read_put(struct pbdma *p, uint32_t *put);
void userd_write_get(struct pbdma *p); /* writes GP_GET only */
void userd_write_ref(struct pbdma *p);
void userd_write_back(struct pbdma *p); /* writes the words that software reads */
void chan_mark_pending(struct gk110 *g, struct fchan *fc);

/* ------------------------------------------------------------ register handlers (lock held) */

uint32_t fifo_read(struct gk110 *g, uint32_t reg);
void fifo_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);
void fifo_regs_reset(struct gk110 *g);
uint32_t pbdma_read(struct gk110 *g, uint32_t reg);
void pbdma_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);
uint32_t chan_table_read(struct gk110 *g, uint32_t reg);
void chan_table_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);

/* ------------------ pbdma.c (PBDMA's own thread; pbdma_main() takes the lock itself) */

void *pbdma_main(void *arg);

static inline uint64_t w_addr(const struct pbdma *p, unsigned int lo, unsigned int hi)
{
	return (uint64_t)(p->w[hi / 4] & 0xff) << 32 | p->w[lo / 4];
}

static inline void w_addr_set(struct pbdma *p, unsigned int lo, unsigned int hi, uint64_t addr)
{
	p->w[lo / 4] = (uint32_t)addr;
	p->w[hi / 4] = (p->w[hi / 4] & ~0xffu) | (uint32_t)(addr >> 32 & 0xff);
}

#endif
