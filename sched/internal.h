/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time. Each vGPU has a clock (vtime) that advances by the GPU time it is charged, divided
 * by its share: who is behind has had less than it should. All are compared with one clock of the
 * GPU, vclock:
 *
 *   best effort: vclock is where the last of those that want to run is. It moves with them, and
 *   while nobody wants to run, at
 *	the pace at which everybody's clock would move if all did: debts are paid off by idle time
 *	as by other people's time.
 *   equal and fixed share: vclock is the time of day. Who is ahead of it has used up its share and
 *   waits; so nothing is passed
 *	on. It is stopped when it is ahead of all that want to run: GPU time that was lost to
 *	everybody (switches) is not owed to anybody.
 *
 * So that nobody gains by sleeping, one that does not want to run, or may not, is never further
 * behind vclock than its lead_v: what it gets as a start when it wakes. That puts it in front of
 * those that ran meanwhile, so that it waits for no more than the turn that is under way; over any
 * time it can gain lead_v once, however often it sleeps: apart from it, its clock and vclock have
 * to run through the same range. Nobody is further ahead than debt_v; what is beyond is forgiven.
 *
 * A second clock of the GPU, pace, is the time of day in all policies, as if everybody wanted to
 * run; against it each vGPU's paced is compared to see whether it may go to the front when it
 * wakes. vclock would not do: it stands still while those that are last in a round wait for their
 * turns.
 *
 * Unit of clocks: GPU time in ns * SCHED_V / share. They wrap around: only differences, by
 * sched_ahead(), mean something, and all clocks are kept within debt_v of vclock.
 *
 * A cap is a bucket of GPU time (cap_left, in ns / 100) that fills with cap per cent of the time of
 * day up to cap_depth. Whoever empties it, or the lead_v that a share is, is held back until it is
 * half full again.
 */
#ifndef KVGPU_SCHED_INTERNAL_H
#define KVGPU_SCHED_INTERNAL_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "kvgpu/sched.h"

#define SCHED_V			4096u
/*
 * no step in time is taken longer than this: 3 days, all that could matter has happened long before
 */
#define SCHED_STEP_MAX		(1ull << 48)
/* budgets are refilled over this time: 0.8 % of 2 s */
#define SCHED_PERIOD		16000000u
#define SCHED_DEPTH_MIN		1000000u
/* no bucket is fuller than this before it is cut down to its depth */
#define SCHED_CAP_MOST		((s64)1 << 60)
/*
 * Turns are so long that a round of all that compete takes 3.5 slices, but at least a fifth of a
 * slice. With the slice as it is by default: 14 ms, 0.7 % of 2 s, so that it hardly matters where
 * in a round a measurement begins; 1.75 ms each for 8.
 */
#define SCHED_ROUND(slice)	((slice) * 7 / 2)
#define SCHED_SHORTEST		5u
/* nobody is told to ask again sooner than this */
#define SCHED_UNTIL_MIN		50000u
/* one that kept the chip for a moment and had no more work does not keep it so many times */
#define SCHED_IN_VAIN		4u

static inline s64 sched_ahead(u64 a, u64 b)
{
	return (s64)(a - b);
}

static inline u64 sched_later(u64 now, u64 ns)
{
	return ns > KVGPU_SCHED_NEVER - now ? KVGPU_SCHED_NEVER : now + ns;
}

/* the shortest turn, and for how long one that has started is not cut short */
static inline u64 sched_turn_min(const struct kvgpu_sched *s)
{
	return max(s->slice_ns / SCHED_SHORTEST, (u64)KVGPU_SCHED_SLICE_MIN);
}

/*
 * how soon the driver is to look again at one that may have run out of work, and what of a turn may
 * be idle for free
 */
static inline u64 sched_moment(const struct kvgpu_sched *s)
{
	return s->slice_ns / 16;
}

static inline bool sched_wants(const struct kvgpu_sched_ent *e)
{
	return (e->runnable || e->lingers) && !e->suspended;
}

static inline bool sched_can_run(const struct kvgpu_sched_ent *e)
{
	return sched_wants(e) && !e->cap_out && !e->share_out;
}

/* account.c: time passes: budgets fill, vclock moves */
void sched_tick(struct kvgpu_sched *s, u64 now);
/* clocks into their limits, and who is held back; after everything that moves a clock */
void sched_settle(struct kvgpu_sched *s);
/* all that was seen up to now is charged: what nobody used is gone */
void sched_close(struct kvgpu_sched *s);
void sched_pay(struct kvgpu_sched_ent *e, u64 ns);
/*
 * what follows from shares, caps and slice: after one of them, or who is present, has changed.
 * Debts stay what they are in ns
 */
void sched_derive(struct kvgpu_sched *s);
/* a full budget, no debt */
void sched_fill(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);
/*
 * when one that is held back need not be any longer, when one that runs from now on would be. As
 * seen now, or sooner
 */
u64 sched_release(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);
u64 sched_exhausted(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/* vgpu.c: it has lingered long enough */
void sched_leave(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);

/* turn.c: the next one of two that can run */
bool sched_goes_before(const struct kvgpu_sched_ent *a, const struct kvgpu_sched_ent *b);
/* @e has begun to want to run, or is let go: the turn under way ends early if it should */
void sched_cut(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);
/* @e has run out of work: does it keep the chip for a moment? */
bool sched_lingers(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/* choose.c: the turn of current_ent is over, if it has one */
void sched_end_turn(struct kvgpu_sched *s);

#endif
