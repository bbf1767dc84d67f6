/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sched/: who gets the graphics runlist, for how long, and what happens to one that does not let go
 * of it. Pure: no clock (@now is monotonic, in ns, never going back), no lock (the caller holds one
 * for all calls of one struct kvgpu_sched), no allocation. The driver (mdev/machine/slice.c) says
 * who has work and what the engine was seen doing; the policy answers whose list the chip should
 * have.
 *
 * Words: a vGPU is *present* from add to remove, *runnable* while it has work that the chip could
 * do, *suspended* when it may not run whatever it has. Its *entitlement* is the part of the GPU's
 * time that it gets when everybody is runnable. It is *held back* while its cap, or its share in a
 * policy that passes nothing on, is used up. A *turn* is the time for which one has the chip alone:
 * at most a slice, shorter when many compete.
 *
 * How the driver uses it. Whenever something happens (a tick, the end of a turn, somebody has work
 * or has none, a knob), in this order:
 *	kvgpu_sched_charge()		what was seen on the engine since the last time, for each
 *					that was seen
 *	kvgpu_sched_set_runnable()	...
 *	kvgpu_sched_choose()		and, if the answer differs from what the chip has, switch;
 *					then
 *	kvgpu_sched_started()		when the switch is done: the turn starts here, what the
 *					switch took is not part of it
 * During a started turn the answer stays the same, unless a knob or the one who has the chip
 * changes; choose() may be called at any time and as often as one likes.
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
/* how much GPU time one can owe at most, and be owed: what is beyond is forgotten */
#define KVGPU_SCHED_DEBT_MAX		10000000000ull
#define KVGPU_SCHED_NEVER		(~0ull)

enum kvgpu_sched_policy {
	/*
	 * work-conserving: time of those that have no work goes to those that have, by weight; caps
	 * hold
	 */
	KVGPU_SCHED_BEST_EFFORT,
	/*
	 * each present vGPU has weight / sum of the weights of all present, used or not: nothing is
	 * passed on
	 */
	KVGPU_SCHED_EQUAL_SHARE,
	/*
	 * each has what its type takes of the card (fixed_ppm), whoever else is there: nothing is
	 * passed on
	 */
	KVGPU_SCHED_FIXED_SHARE,
};

/*
 * One vGPU. The fields above the line are the caller's to set before add (values out of range are
 * taken as the nearest that is not), changed by the functions below later; those below the line are
 * the policy's and may be read.
 */
struct kvgpu_sched_ent {
	u32 weight;
	u32 cap;			/* per cent */
	u32 fixed_ppm;			/* entitlement under FIXED_SHARE; 1..KVGPU_SCHED_PPM */
	/* --- */
	struct list_head node;
	bool runnable, suspended;
	bool cap_out, share_out;	/* held back by its cap, by its share */
	u64 busy_ns;			/* charged since add */
	u64 slices;			/* times it was given the GPU while others wanted it */
	/* the rest is sched/internal.h's to explain */
	u32 share;			/* what its time is divided by: weight or fixed_ppm */
	u64 vtime, vrem, paced;
	s64 cap_left;
	u64 cap_depth, debt_v, lead_v, near_v;
	bool front, lingers, quick;
	u8 in_vain;
	u64 woke_busy, slept_at, cut_next, free_next;
	u64 turn_ns, turn_busy;
	s64 turn_over;
};

struct kvgpu_sched {
	enum kvgpu_sched_policy policy;
	u64 slice_ns;
	struct list_head ents;
	u32 nr_ents, nr_runnable;	/* runnable: and not suspended */
	/* who has the GPU alone, NULL: nobody or everybody */
	struct kvgpu_sched_ent *current_ent;
	u64 slice_end;
	/* the rest is sched/internal.h's to explain */
	u64 at, vclock, closed, pace, pace_rem;
	u32 total;
	u64 turn_start, turn_used, linger_end;
	bool started;
};

struct kvgpu_sched_choice {
	/*
	 * Whose list the chip should have alone; NULL with !open: nobody may run now. May be one
	 * that is not runnable: it has just run out of work and keeps its turn for a moment.
	 */
	struct kvgpu_sched_ent *ent;
	/*
	 * Nobody competes, nobody is held back or deep in debt, not even one that sleeps: the lists
	 * of all that are not suspended may be on the chip together, so that whoever wakes starts
	 * at once and nobody pays for switching. @ent is who has work, or NULL. The driver charges
	 * what it sees on the engine.
	 */
	bool open;
	/* ask again not later than this; KVGPU_SCHED_NEVER: when something changes */
	u64 until;
};

void kvgpu_sched_init(struct kvgpu_sched *s);
/*
 * They return -EINVAL (policy) or -ERANGE (the others), and nothing is changed. Then ask choose()
 * again
 */
int kvgpu_sched_set_policy(struct kvgpu_sched *s, enum kvgpu_sched_policy policy, u64 now);
int kvgpu_sched_set_slice(struct kvgpu_sched *s, u64 slice_ns);
int kvgpu_sched_set_weight(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 weight, u64 now);
int kvgpu_sched_set_cap(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 cap, u64 now);

/* neither runnable nor suspended */
void kvgpu_sched_add(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now);
void kvgpu_sched_remove(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now);
void kvgpu_sched_set_runnable(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool runnable,
			      u64 now);
void kvgpu_sched_set_suspended(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool suspended,
			       u64 now);
/*
 * It was seen on the engine for @ns, all of it before @now, whether it was its turn or not. More
 * than its turn: a debt that it pays later, capped. Who has the chip alone and does not use it pays
 * for the time too (not with busy_ns): nobody else could use it.
 */
void kvgpu_sched_charge(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 ns, u64 now);
void kvgpu_sched_choose(struct kvgpu_sched *s, u64 now, struct kvgpu_sched_choice *out);
/*
 * The chip has what choose() answered last since @now: the turn of ->ent starts. Returns the new
 * ->until (slice_end is not
 * enough: a cap may be used up sooner, somebody may be let go, one that just woke wants to be
 * looked at soon). Not needed when the answer was the same one as before, or open. Until it is
 * called choose() may change its mind at each call (a switch under way need not be finished if a
 * better choice woke up), and nobody pays for time not used.
 */
u64 kvgpu_sched_started(struct kvgpu_sched *s, u64 now);
/*
 * what @e is entitled to among those present, in ppm of the GPU's time, caps included (all of them:
 * what one may not have under BEST_EFFORT is for the others)
 */
u32 kvgpu_sched_entitlement(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/*
 * names for sysfs: "best-effort", "equal-share", "fixed-share"; with or without a newline at the
 * end. -EINVAL
 */
const char *kvgpu_sched_policy_name(enum kvgpu_sched_policy policy);
int kvgpu_sched_policy_parse(const char *text, enum kvgpu_sched_policy *out);

/* --------------------------------------------------------------- when to look who works (gap.c) */

/*
 * How long until the next sample, where @mean ns are wanted on the average: exponential, so that a
 * guest that knows of the last sample knows nothing of the next. At least @mean / KVGPU_GAP_MIN, at
 * most @mean * KVGPU_GAP_MAX. @random: 64 bits, each as likely as the other.
 */
#define KVGPU_GAP_MIN		64u
#define KVGPU_GAP_MAX		4u

u64 kvgpu_sched_gap(u64 mean, u64 random);

/* ------------------------------------------------------------ one that does not let go (hang.c) */

/* after this, or half of the watchdog time if that is sooner */
#define KVGPU_HANG_LOOK_NS	100000000ull

enum kvgpu_hang_step {
	KVGPU_HANG_WAIT,		/* look again at *next */
	/* it is late: look for an interrupt that holds it; said once, and always before RECOVER */
	KVGPU_HANG_LOOK,
	KVGPU_HANG_RECOVER,		/* end the resident channel */
};

struct kvgpu_hang {			/* of one preempt under way */
	u64 since;
	bool looked;
};

void kvgpu_hang_begin(struct kvgpu_hang *h, u64 now);
/* what to do now, and in *next when to ask again: always set, never before @now */
enum kvgpu_hang_step kvgpu_hang_step(struct kvgpu_hang *h, u64 watchdog_ns, u64 now, u64 *next);

/*
 * what a vGPU did to others: each recovery that cost an engine is a strike; they are forgiven one
 * by one with time
 */
/* then it is suspended until its guest resets the device, or the admin says so */
#define KVGPU_STRIKES_MAX		8u
#define KVGPU_STRIKE_FORGIVEN_NS	30000000000ull

struct kvgpu_strikes {			/* all zero: none */
	u32 count;			/* not forgiven yet, as of the last strike */
	u64 total;
	u64 last;
};

/* true: that was one too many */
bool kvgpu_strike(struct kvgpu_strikes *k, u64 now);
u32 kvgpu_strikes_now(const struct kvgpu_strikes *k, u64 now);	/* not forgiven yet */
void kvgpu_strikes_clear(struct kvgpu_strikes *k);		/* total stays */

#endif
