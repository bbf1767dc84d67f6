/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sched/: which vGPU gets the graphics runlist, for how long, and the steps when a channel does not
 * leave it. Pure: it has no clock (@now is monotonic, in ns, and never goes back), no lock (the
 * caller holds one for all calls of one struct kvgpu_sched), and no allocation. The driver
 * (mdev/machine/slice.c) reports which vGPUs have work and for which ones the engine worked. The
 * policy answers with the vGPU whose list the chip should have.
 *
 * Words: a vGPU is *present* from add to remove. It is *runnable* while it has work that the chip
 * could do, and *suspended* when it may not run in any case. Its *entitlement* is the part of the
 * GPU's time that it gets if all vGPUs are runnable. It is *held back* while its cap is used up, or
 * its share in a policy that passes no unused share on. A *turn* is the time for which a vGPU has
 * the chip alone: at most a slice, and less if many vGPUs compete.
 *
 * Use: after any event (a tick, the end of a turn, a vGPU has work or has none, a knob) the driver
 * calls, in this order:
 *   - kvgpu_sched_charge(): the time for which the engine worked, for each vGPU that was seen.
 *   - kvgpu_sched_note(): what the look found, for each present vGPU.
 *   - kvgpu_sched_looked(): which vGPUs compete, and are runnable therefore.
 *   - kvgpu_sched_choose(): if the answer differs from the chip's state the driver switches.
 *   - kvgpu_sched_started(): the switch is done and the turn starts. The time of the switch is not
 *     part of it.
 * During a started turn the answer stays the same, unless a knob or the state of the vGPU on the
 * chip changes, or a vGPU that wakes or is let go ends the turn early. kvgpu_sched_choose() may be
 * called at any time and any number of times.
 */
#ifndef KVGPU_SCHED_H
#define KVGPU_SCHED_H

#include <linux/list.h>
#include <linux/types.h>

#define KVGPU_SCHED_WEIGHT_MIN		1u
#define KVGPU_SCHED_WEIGHT_MAX		10000u
#define KVGPU_SCHED_WEIGHT_DEFAULT	100u
#define KVGPU_SCHED_CAP_NONE		100u		/* per cent of the GPU's time; 1..100 */
#define KVGPU_SCHED_SLICE_MIN		500000ull	/* ns */
#define KVGPU_SCHED_SLICE_MAX		100000000ull
#define KVGPU_SCHED_SLICE_DEFAULT	4000000ull
#define KVGPU_SCHED_PPM			1000000u
/* Most GPU time, ns, that a vGPU can owe or be owed. The excess is forgiven. */
#define KVGPU_SCHED_DEBT_MAX		10000000000ull
#define KVGPU_SCHED_NEVER		(~0ull)

enum kvgpu_sched_policy {
	/*
	 * work-conserving: the time of vGPUs without work goes to the other vGPUs by weight; caps
	 * hold
	 */
	KVGPU_SCHED_BEST_EFFORT,
	/*
	 * each present vGPU gets its weight / the sum of the weights of all present vGPUs; unused
	 * time goes to no other vGPU
	 */
	KVGPU_SCHED_EQUAL_SHARE,
	/*
	 * each vGPU gets its type's part of the card (.fixed_ppm), however many are present; unused
	 * time goes to no other vGPU
	 */
	KVGPU_SCHED_FIXED_SHARE,
};

/*
 * One vGPU. The caller sets the members above the line before kvgpu_sched_add(), which takes a
 * value out of range as the nearest one in range, and later changes them by the functions below.
 * The policy owns the members below the line; they may be read.
 */
struct kvgpu_sched_ent {
	u32 weight;
	u32 cap;			/* per cent */
	u32 fixed_ppm;			/* entitlement under FIXED_SHARE; 1..KVGPU_SCHED_PPM */
	/* --- */
	struct list_head node;
	bool runnable, suspended;
	bool cap_out, share_out;	/* held back by its cap, by its share */
	bool work, seen;		/* at the last look: has work; was seen at work */
	/*
	 * has work but makes no progress, as if it waits for a semaphore: does not compete for a
	 * while (park.c)
	 */
	bool parked;
	u64 busy_ns;			/* ns charged since kvgpu_sched_add() */
	u64 slices;			/* turns while other vGPUs wanted to run */
	/* sched/internal.h explains the rest. */
	u32 share;			/* divisor of its time: weight or fixed_ppm */
	u64 vtime, vrem, paced;
	s64 cap_left;
	u64 cap_depth, debt_v, lead_v, near_v;
	bool front, lingers, quick;
	u8 in_vain;
	u64 woke_busy, slept_at, cut_next, free_next;
	u64 turn_ns, turn_busy;
	s64 turn_over;
	bool idle;
	u64 idle_since, park_ns, parked_until;
};

struct kvgpu_sched {
	enum kvgpu_sched_policy policy;
	u64 slice_ns;
	struct list_head ents;
	/* vGPUs; those of them that are runnable and not suspended */
	u32 nr_ents, nr_runnable;
	/* the vGPU whose turn it is; NULL: no turn is under way */
	struct kvgpu_sched_ent *current_ent;
	/* the vGPU whose list alone was the last decision; NULL: it was all lists, or no list */
	struct kvgpu_sched_ent *alone;
	u64 slice_end;
	/* sched/internal.h explains the rest. */
	u64 at, vclock, closed, pace, pace_rem;
	u32 total;
	u64 turn_start, turn_used, linger_end;
	/* the part of this turn in which others could run; what was charged in it */
	u64 wanted_ns, wanted_used;
	bool started;
};

struct kvgpu_sched_choice {
	/*
	 * The vGPU whose list the chip should have alone. NULL with !open: no vGPU may run now. It
	 * may be a vGPU that is not runnable: it has just run out of work and keeps its turn for a
	 * moment.
	 */
	struct kvgpu_sched_ent *ent;
	/*
	 * No vGPUs compete, and none is held back or deep in debt, not even a sleeping one. None is
	 * parked while another one works: it could take half of an open chip unseen. The lists of
	 * all vGPUs that are not suspended may be on the chip together: a vGPU that wakes starts at
	 * once, and no switches are needed. @ent is the vGPU with work, or NULL. The driver charges
	 * the work that it sees on the engine.
	 */
	bool open;
	/* ns; ask again by then; KVGPU_SCHED_NEVER: when something changes */
	u64 until;
};

void kvgpu_sched_init(struct kvgpu_sched *s);
/*
 * The next four functions set a knob. They return -EINVAL (policy) or -ERANGE (the others) and
 * change nothing then. Call kvgpu_sched_choose() afterwards.
 */
int kvgpu_sched_set_policy(struct kvgpu_sched *s, enum kvgpu_sched_policy policy, u64 now);
int kvgpu_sched_set_slice(struct kvgpu_sched *s, u64 slice_ns);
int kvgpu_sched_set_weight(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 weight, u64 now);
int kvgpu_sched_set_cap(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 cap, u64 now);

/* Adds a vGPU, which is neither runnable nor suspended at first. */
void kvgpu_sched_add(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now);
void kvgpu_sched_remove(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now);
/**
 * kvgpu_sched_note() - what a look found of a vGPU
 * @e: the vGPU
 * @work: it has work that the chip could do
 * @seen: an engine worked for it, or it took entries of its rings
 *
 * To be called for each present vGPU, then kvgpu_sched_looked().
 */
void kvgpu_sched_note(struct kvgpu_sched_ent *e, bool work, bool seen);
/**
 * kvgpu_sched_looked() - decide which vGPUs compete
 * @s: the policy
 * @now: current time, ns
 *
 * All vGPUs with work are runnable from now on, except those that are parked (sched/park.c).
 */
void kvgpu_sched_looked(struct kvgpu_sched *s, u64 now);
/*
 * Sets whether @e is runnable, without a look at parking. kvgpu_sched_looked() calls it for all
 * vGPUs.
 */
void vsched_runnable_set(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool runnable,
			 u64 now);
void kvgpu_sched_set_suspended(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool suspended,
			       u64 now);
/**
 * kvgpu_sched_charge() - charge GPU time to a vGPU
 * @s: the policy
 * @e: the vGPU that was seen on the engine
 * @ns: for how long, all of it before @now
 * @now: current time, ns
 *
 * Charge all of it, whether or not it was the vGPU's turn: time beyond the turn is a debt, up to
 * KVGPU_SCHED_DEBT_MAX, that the vGPU works off. A vGPU that has the chip alone and does not use it
 * pays for the time too (not in busy_ns), because no other vGPU could use it.
 */
void kvgpu_sched_charge(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 ns, u64 now);
/**
 * kvgpu_sched_choose() - decide which vGPU should have the chip
 * @s: the policy
 * @now: current time, ns
 * @out: the decision
 *
 * Until kvgpu_sched_started() is called each call may decide anew.
 */
void kvgpu_sched_choose(struct kvgpu_sched *s, u64 now, struct kvgpu_sched_choice *out);
/**
 * kvgpu_sched_started() - a switch is done
 * @s: the policy
 * @now: current time, ns
 *
 * The chip has had the list of the last decision since @now. If vGPUs take turns, the turn of its
 * ->ent starts. Not needed if the decision was the same as before, or if its ->open was true. Until
 * this is called kvgpu_sched_choose() may decide otherwise at each call (a switch under way need
 * not be finished if a better choice wakes up), and idle time is not charged.
 *
 * Return: the new ->until. It may be before slice_end: a cap may be used up sooner, a vGPU may be
 *   let go, or a vGPU that has just woken has to be looked at soon.
 */
u64 kvgpu_sched_started(struct kvgpu_sched *s, u64 now);
/**
 * kvgpu_sched_entitlement() - part of the GPU's time that a vGPU is entitled to
 * @s: the policy
 * @e: the vGPU
 *
 * Counts all present vGPUs and their caps. Under BEST_EFFORT time above a cap goes to the other
 * vGPUs.
 *
 * Return: ppm of the GPU's time.
 */
u32 kvgpu_sched_entitlement(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/*
 * Names for sysfs: "best-effort", "equal-share", "fixed-share". Parse accepts a newline at the end,
 * and returns -EINVAL for other text.
 */
const char *kvgpu_sched_policy_name(enum kvgpu_sched_policy policy);
int kvgpu_sched_policy_parse(const char *text, enum kvgpu_sched_policy *out);

/* ------------------------------------------------------------------ times of samples (gap.c) */

/**
 * kvgpu_sched_gap() - draw the time until the next sample
 * @mean: mean time between samples, ns
 * @random: 64 random bits
 *
 * The time is distributed exponentially, so that a guest that knows the last sample knows nothing
 * about the next one. It is at least @mean / KVGPU_GAP_MIN and at most @mean * KVGPU_GAP_MAX.
 *
 * Return: ns.
 */
#define KVGPU_GAP_MIN		64u
#define KVGPU_GAP_MAX		4u

u64 kvgpu_sched_gap(u64 mean, u64 random);

/*
 * The facts that the mean depends on. The result of a single look is not one of them: a vGPU that
 * is seen at work would be looked at more often, and be charged for less time each.
 */
struct kvgpu_sched_watch {
	/* not all lists are on the chip, or the driver refills a budget at its looks */
	bool alternates;
	bool any;			/* there is a vGPU */
	u32 listed;			/* number of vGPUs whose list has entries */
	bool limited;	/* one of the vGPUs with a list may not have all of the GPU's time */
	u64 idle_ns;			/* time for which no work was seen */
};

/* Returns the mean time between samples, in ns; 0: no samples until something changes. */
u64 kvgpu_sched_sample_mean(const struct kvgpu_sched_watch *w);
/*
 * Returns how long the driver should leave the CPU and its locks to others, in ns, after a look
 * that took @used ns: twice as long on the average, but at most 10 ms on the average. It is drawn
 * like a gap, so that no guest knows when the rest ends.
 */
u64 kvgpu_sched_rest(u64 used, u64 random);

/* ------------------------------------------------------- a channel that does not leave (hang.c) */

/* a preempt is late after this time, ns, or after half of the watchdog's time if that is less */
#define KVGPU_HANG_LOOK_NS	100000000ull

enum kvgpu_hang_step {
	KVGPU_HANG_WAIT,		/* look again at *next */
	/*
	 * the preempt is late: look for an unanswered interrupt that holds the channel; returned
	 * once, and always before KVGPU_HANG_RECOVER
	 */
	KVGPU_HANG_LOOK,
	KVGPU_HANG_RECOVER,		/* end the resident channel */
};

struct kvgpu_hang {			/* one preempt under way */
	u64 since;
	bool looked;
};

void kvgpu_sched_hang_begin(struct kvgpu_hang *h, u64 now);
/*
 * Returns the next step, and in *@next when to ask again: always set, never before @now. Times in
 * ns.
 */
enum kvgpu_hang_step kvgpu_sched_hang_next(struct kvgpu_hang *h, u64 watchdog_ns, u64 now,
					   u64 *next);

/*
 * Harm that a vGPU did to other vGPUs. mdev/machine/strike.c says what a strike is. Strikes are
 * forgiven one by one.
 */
/*
 * a vGPU with this many strikes is suspended until its guest starts anew or the admin ends the
 * suspension (mdev/machine/strike.c)
 */
#define KVGPU_STRIKES_MAX		8u
#define KVGPU_STRIKE_FORGIVEN_NS	30000000000ull

struct kvgpu_strikes {			/* all zero: no strikes */
	u32 count;			/* strikes not forgiven yet, as of the last strike */
	u64 total;
	u64 last;
};

/* Adds a strike. True: there are KVGPU_STRIKES_MAX now. */
bool kvgpu_sched_strike_add(struct kvgpu_strikes *k, u64 now);
void kvgpu_sched_strikes_clear(struct kvgpu_strikes *k);		/* @total stays */

/*
 * Engine resets for a vGPU's channels. Programs have bugs, so there is a budget of resets. Each
 * reset beyond the budget is a strike.
 */
#define KVGPU_RESETS_BURST		32u
#define KVGPU_RESET_FORGOTTEN_NS	500000000ull

struct kvgpu_resets {			/* all zero: no resets */
	u32 count;			/* resets not forgotten yet, as of @at */
	u64 at;
};

/*
 * Counts a reset. True: it is beyond the budget. The count stops at the budget, so that all resets
 * are forgotten in 16 s, however many there were.
 */
bool kvgpu_sched_reset_add(struct kvgpu_resets *r, u64 now);

#endif
