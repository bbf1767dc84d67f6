/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sched/: who gets the graphics runlist, for how long, and what happens to one that does not let go of it. Pure: no clock
 * (@now is monotonic, in ns, never going back), no lock (the caller holds one for all calls of one struct kvgpu_sched), no
 * allocation. The driver (mdev/slice.c) says who has work and what the engine was seen doing; the policy answers whose
 * list the chip should have.
 *
 * Words: a vGPU is *present* from add to remove, *runnable* while it has work that the chip could do, *suspended* when it
 * may not run whatever it has. Its *entitlement* is the part of the GPU's time that it gets when everybody is runnable.
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

enum kvgpu_sched_policy {
	/* work-conserving: time of those that have no work goes to those that have, by weight; caps hold */
	KVGPU_SCHED_BEST_EFFORT,
	/* each present vGPU has weight / sum of the weights of all present, used or not: nothing is passed on */
	KVGPU_SCHED_EQUAL_SHARE,
	/* each has what its type takes of the card (fixed_ppm), whoever else is there: nothing is passed on */
	KVGPU_SCHED_FIXED_SHARE,
};

/* one vGPU; the fields above the line are the caller's to set before add, those below the policy's */
struct kvgpu_sched_ent {
	u32 weight;
	u32 cap;			/* per cent */
	u32 fixed_ppm;			/* entitlement under FIXED_SHARE */
	/* --- */
	struct list_head node;
	bool runnable, suspended;
	u64 busy_ns;			/* charged since add */
	u64 slices;			/* times it was given the GPU while others wanted it */
	u64 vtime;			/* charged time / weight, in the unit that sched/ says */
	s64 budget_ns;			/* of caps and shares that are not passed on; < 0: debt */
	u64 budget_at;			/* when it was last filled */
	u64 woken_at;
};

struct kvgpu_sched {
	enum kvgpu_sched_policy policy;
	u64 slice_ns;
	struct list_head ents;
	u32 nr_ents, nr_runnable;
	struct kvgpu_sched_ent *current_ent;	/* who has the GPU, NULL: nobody or everybody */
	u64 slice_end;
	u64 min_vtime;
};

struct kvgpu_sched_choice {
	/* whose list the chip should have alone; NULL with !open: nobody may run now */
	struct kvgpu_sched_ent *ent;
	/*
	 * Nobody competes and nobody is held back: all lists may be on the chip together, so that whoever wakes starts at
	 * once and nobody pays for switching. @ent is who has work, or NULL. The driver charges what it sees on the engine.
	 */
	bool open;
	u64 until;			/* ask again not later than this; ~0ull: when something changes */
};

void kvgpu_sched_init(struct kvgpu_sched *s);
/* -EINVAL, nothing changed */
int kvgpu_sched_set_policy(struct kvgpu_sched *s, enum kvgpu_sched_policy policy, u64 now);
int kvgpu_sched_set_slice(struct kvgpu_sched *s, u64 slice_ns);				/* -ERANGE */
int kvgpu_sched_set_weight(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 weight, u64 now);	/* -ERANGE */
int kvgpu_sched_set_cap(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 cap, u64 now);	/* -ERANGE */

void kvgpu_sched_add(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now);
void kvgpu_sched_remove(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now);
void kvgpu_sched_set_runnable(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool runnable, u64 now);
void kvgpu_sched_set_suspended(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool suspended, u64 now);
/* it was seen on the engine for @ns, all of it before @now. More than its slice: a debt that it pays later, capped */
void kvgpu_sched_charge(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 ns, u64 now);
void kvgpu_sched_choose(struct kvgpu_sched *s, u64 now, struct kvgpu_sched_choice *out);
/* what @e is entitled to among those present, in ppm of the GPU's time, its cap included */
u32 kvgpu_sched_entitlement(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/* names for sysfs: "best-effort", "equal-share", "fixed-share"; with or without a newline at the end. -EINVAL */
const char *kvgpu_sched_policy_name(enum kvgpu_sched_policy policy);
int kvgpu_sched_policy_parse(const char *text, enum kvgpu_sched_policy *out);

/* ------------------------------------------------------------------ one that does not let go (hang.c) */

enum kvgpu_hang_step {
	KVGPU_HANG_WAIT,		/* look again at *next */
	KVGPU_HANG_LOOK,		/* it is late: look for an interrupt that holds it, once */
	KVGPU_HANG_RECOVER,		/* end the resident channel */
};

struct kvgpu_hang {			/* of one preempt under way */
	u64 since;
	bool looked;
};

void kvgpu_hang_begin(struct kvgpu_hang *h, u64 now);
enum kvgpu_hang_step kvgpu_hang_step(struct kvgpu_hang *h, u64 watchdog_ns, u64 now, u64 *next);

/* what a vGPU did to others: each recovery that cost an engine is a strike; they are forgiven one by one with time */
#define KVGPU_STRIKES_MAX		8u		/* then it is suspended until its guest resets the device, or the admin says so */
#define KVGPU_STRIKE_FORGIVEN_NS	30000000000ull

struct kvgpu_strikes {
	u32 count;			/* not forgiven yet */
	u64 total;
	u64 last;
};

/* true: that was one too many */
bool kvgpu_strike(struct kvgpu_strikes *k, u64 now);
void kvgpu_strikes_clear(struct kvgpu_strikes *k);

#endif
