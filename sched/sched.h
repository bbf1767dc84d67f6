/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sched/: decides which vGPU's channels are on an engine's runlist, and for how long. Pure: it has
 * no clock (the caller passes the monotonic time in ns as @now; a time before that of an earlier
 * call counts as equal to it), no lock (the caller holds one for all calls of one struct
 * kvgpu_sched that may change it), no allocation. A struct kvgpu_sched knows no engine: one divides
 * the time of one runlist.
 *
 * Words: a vGPU is *present* from kvgpu_sched_add() to kvgpu_sched_remove(). It is *runnable* while
 * it has work that the chip could do and is not *parked* for its waits (vgpu.c), and *suspended*
 * when it may not run in any case. It *holds* the chip if it keeps that for a moment after its work
 * has ended (vgpu.c). Its *entitlement* is its part of the GPU's time if all vGPUs are runnable. A
 * vGPU that has used up its limit (its cap; under equal and fixed share its entitlement) is
 * *throttled* until some of that has come back. A vGPU *wants to run* if it is runnable or holds
 * the chip, and is not suspended. It *can run* if it wants to run and is not throttled. It *sleeps*
 * if it does not want to run, and *wakes* when it wants to run again. In a *turn* one vGPU has the
 * chip alone. A *poll* is the driver's reading of the chip's state (mdev/machine/poll.c).
 *
 * Use: after any event (the time for a poll has come, a turn has ended, a vGPU has work or has no
 * more, a knob was changed) the driver calls, in this order: kvgpu_sched_charge(), for each vGPU
 * that had the engine; kvgpu_sched_note(), for each present vGPU; kvgpu_sched_polled();
 * kvgpu_sched_choose(), any number of times: if the answer differs from the chip's state the driver
 * switches; kvgpu_sched_started(): the switch, which is not part of the turn, is done.
 */
#ifndef KVGPU_SCHED_H
#define KVGPU_SCHED_H

#include <linux/list.h>
#include <linux/types.h>

#include "kvgpu/bucket.h"

#define KVGPU_SCHED_WEIGHT_MIN	   1u
#define KVGPU_SCHED_WEIGHT_MAX	   10000u
#define KVGPU_SCHED_WEIGHT_DEFAULT 100u
/* caps are 1..100, in per cent of the GPU's time; 100 limits nothing */
#define KVGPU_SCHED_CAP_NONE	  100u
#define KVGPU_SCHED_SLICE_MIN	  500000ull /* ns */
#define KVGPU_SCHED_SLICE_MAX	  100000000ull
#define KVGPU_SCHED_SLICE_DEFAULT 4000000ull
#define KVGPU_SCHED_PPM		  1000000u
/* most ns of a switch for which kvgpu_sched_charge() is not called: choose.c says who pays */
#define KVGPU_SCHED_SWITCH_MAX 1000000ull
/* Most GPU time, ns, that a vGPU can owe. Debts beyond it are dropped. */
#define KVGPU_SCHED_DEBT_MAX 10000000000ull
#define KVGPU_SCHED_NEVER    (~0ull)

struct kvgpu_sched;

/*
 * One vGPU. Before kvgpu_sched_add(), the caller sets .weight, .cap and .fixed_ppm;
 * kvgpu_sched_add() replaces a value out of range by the nearest value in range. The policy owns
 * all members after that; the caller may read them. Times are in ns.
 */
struct kvgpu_sched_ent {
	u32 weight;
	u32 cap; /* per cent */
	u32 fixed_ppm; /* entitlement under FIXED_SHARE; 1..KVGPU_SCHED_PPM */
	struct list_head node;
	bool runnable, suspended, throttled;
	bool work; /* as in the last kvgpu_sched_note(); if not runnable then, it is parked */
	u64 busy_ns; /* what it has paid: kvgpu_sched_charge(), and switches (choose.c) */
	u64 slices; /* turns that it was given while another vGPU could run */
	u32 share; /* by the policy */
	u64 vtime; /* its clock (internal.h) */
	/* internal.h: GPU time that it may use; wake-ups by which it may go first; holds */
	struct kvgpu_bucket limit, wakes, hold;
	/* .front: goes first, for one turn. .quick: the last pause was short enough to hold. */
	bool front, quick;
	/* .woke_busy: .busy_ns when it last woke. .slept_at: when it last ceased to be runnable. */
	u64 woke_busy, slept_at;
	/*
	 * .since: it has work and the chip alone, and makes no progress, while another vGPU could
	 * use the chip; 0: not so. .ns: length of its last parking, which ends at .until. All are
	 * 0 after progress.
	 */
	struct {
		u64 since, ns, until;
	} park;
};

/*
 * A policy: how the GPU's time is divided. docs/how-to.md has how one is added. A function that is
 * NULL means: as under best effort.
 */
struct kvgpu_sched_policy {
	const char *name; /* in sysfs */
	/* time that a vGPU does not use goes to no other: the entitlement is a limit, like a cap */
	bool keeps;
	/* Returns the share of @e: its part of the time is share / total. 1..KVGPU_SCHED_PPM */
	u32 (*share)(const struct kvgpu_sched_ent *e);
	/* the share that is the whole GPU; 0: the sum of the shares of all present vGPUs */
	u32 total;
	/* Tells whether @a goes before @b, if both can run. */
	bool (*before)(const struct kvgpu_sched_ent *a, const struct kvgpu_sched_ent *b);
	/* Returns the length, ns, of a turn of @e. @sum: shares of all vGPUs that can run. */
	u64 (*turn)(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e, u64 sum);
};

/*
 * BEST_EFFORT: the time of vGPUs without work goes to the others in proportion to their weights.
 * EQUAL_SHARE: a present vGPU gets its weight / the sum of the weights of all present vGPUs.
 * FIXED_SHARE: a vGPU gets .fixed_ppm millionths of the GPU's time, which the driver sets to its
 * part of the card's video memory. Under these two, unused time goes to no other vGPU. Caps limit
 * the vGPUs under all three.
 */
enum kvgpu_sched_policy_id {
	KVGPU_SCHED_BEST_EFFORT,
	KVGPU_SCHED_EQUAL_SHARE,
	KVGPU_SCHED_FIXED_SHARE,
	KVGPU_SCHED_NR_POLICIES
};
extern const struct kvgpu_sched_policy kvgpu_sched_policies[KVGPU_SCHED_NR_POLICIES];

struct kvgpu_sched { /* times in ns */
	const struct kvgpu_sched_policy *policy;
	u64 slice_ns;
	struct list_head ents;
	u32 nr_ents, nr_runnable; /* present vGPUs; those that wanted to run at the last choose */
	u32 total; /* the share that is the whole GPU */
	u64 at, vclock; /* time up to which clocks are advanced; the GPU's clock (internal.h) */
	struct kvgpu_sched_ent *current_ent; /* whose turn it is; NULL: no turn is under way */
	/* who should have the chip alone, by the last kvgpu_sched_choose(), or NULL */
	struct kvgpu_sched_ent *alone;
	/*
	 * .started: .current_ent has the chip. .turn_start: when the turn under way was decided,
	 * or, if .started, started. .turn_ppm: part by share of .current_ent then. .slice_end: when
	 * it ends. .switch_ns: part of the switch before it that was charged to nobody.
	 * .switch_used: what was charged since the decision. .left: who had the chip before, or
	 * NULL; for .left_free of .switch_ns it need not pay.
	 */
	struct kvgpu_sched_ent *left;
	bool started;
	u32 turn_ppm;
	u64 turn_start, slice_end, switch_ns, switch_used, left_free;
	/* for the holds of all vGPUs together; until then .current_ent holds the chip, or 0 */
	struct kvgpu_bucket hold;
	u64 hold_end;
};

/*
 * If .shared, the lists of all vGPUs that are not suspended should be on the chip together, because
 * no two compete (without_turns() in choose.c): a vGPU that wakes then starts at once. .ent is the
 * vGPU that can run, or NULL. Else the chip should have the list of .ent alone, or no list if .ent
 * is NULL. .turns: other vGPUs could run, so .ent pays for all of the time for which it has the
 * chip, idle time as well; else it pays for what the engine was seen to do. .until: time, ns, by
 * which to call kvgpu_sched_choose() again; KVGPU_SCHED_NEVER: not before something changes.
 */
struct kvgpu_sched_choice {
	struct kvgpu_sched_ent *ent;
	bool shared, turns;
	u64 until;
};

void kvgpu_sched_init(struct kvgpu_sched *s);
/*
 * The next four functions set the policy, the slice, or the weight or cap of a vGPU. If the value
 * is out of range they change nothing and return -EINVAL (policy) or -ERANGE (slice, weight, cap).
 * Call kvgpu_sched_choose() afterwards.
 */
int kvgpu_sched_set_policy(struct kvgpu_sched *s, enum kvgpu_sched_policy_id policy, u64 now);
int kvgpu_sched_set_slice(struct kvgpu_sched *s, u64 slice_ns);
int kvgpu_sched_set_weight(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 weight, u64 now);
int kvgpu_sched_set_cap(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 cap, u64 now);
/* As kvgpu_sched_set_policy(), for a policy outside of the table, for unit tests. */
void vsched_policy_use(struct kvgpu_sched *s, const struct kvgpu_sched_policy *policy, u64 now);

/* Adds a vGPU, which is neither runnable nor suspended at first. */
void kvgpu_sched_add(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now);
/* Removes a vGPU. If the turn under way is its turn, that turn ends. */
void kvgpu_sched_remove(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now);
/*
 * Notes what a poll found out about @e. @work: it has work that the chip could do. @progress: an
 * engine worked for it, or the chip took entries of the rings of its channels.
 */
void kvgpu_sched_note(struct kvgpu_sched_ent *e, bool work, bool progress);
/* All are noted: makes the vGPUs with work runnable, except those that are parked. */
void kvgpu_sched_polled(struct kvgpu_sched *s, u64 now);
/* Sets whether @e is runnable, even if @e is parked. For sched/ and unit tests, not the driver. */
void vsched_runnable_set(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool runnable, u64 now);
void kvgpu_sched_set_suspended(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool suspended,
			       u64 now);
/*
 * Charges @e for @ns, all of it before @now, in which it had the engine, or kept the chip from
 * working. Call it whether or not it was the vGPU's turn: time beyond the turn is a debt, up to
 * KVGPU_SCHED_DEBT_MAX.
 */
void kvgpu_sched_charge(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 ns, u64 now);
/*
 * Decides which vGPU should have the chip. Until kvgpu_sched_started() is called, each call may
 * decide differently.
 */
void kvgpu_sched_choose(struct kvgpu_sched *s, u64 now, struct kvgpu_sched_choice *out);
/*
 * The chip has the list that kvgpu_sched_choose() decided on last. If vGPUs take turns, the turn of
 * that decision's ->ent starts at @now, unless it has started already. The call is not needed if
 * the decision was ->shared. Returns the new ->until, which may be before s->slice_end.
 */
u64 kvgpu_sched_started(struct kvgpu_sched *s, u64 now);
/*
 * Returns the time, ns, at which the turn under way ends, though it may be over before;
 * KVGPU_SCHED_NEVER: no turn has started, or no other vGPU can run. A turn that lasts longer is
 * taken off another vGPU's time.
 */
u64 kvgpu_sched_turn_end(const struct kvgpu_sched *s);
/*
 * Returns the part of the GPU's time that @e is entitled to, ppm. It is never more than the vGPU's
 * cap. Under BEST_EFFORT, time that a vGPU may not have because of its cap is part of the
 * entitlements of the other vGPUs.
 */
u32 kvgpu_sched_entitlement(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

#define KVGPU_GAP_MIN 64u
#define KVGPU_GAP_MAX 4u
/*
 * Draws the time until the next sample, ns, from 64 random bits: distributed exponentially, at
 * least @mean / KVGPU_GAP_MIN and at most @mean * KVGPU_GAP_MAX.
 */
u64 kvgpu_sched_gap(u64 mean, u64 random);

#endif
