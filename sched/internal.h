/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time: the clocks by which the policy compares vGPUs. sched.h defines its words. A *round*
 * is the time in which each vGPU that can run has one turn. Real time below means the @now of the
 * calls: monotonic, ns.
 *
 * Each vGPU has a clock, vtime. It advances by the GPU time that the vGPU is charged, divided by
 * the vGPU's share: a vGPU whose clock is behind has had less than its share. These clocks are
 * compared with one clock of the GPU, vclock. As far as a vGPU's clock is ahead of vclock, the vGPU
 * is in debt: it has had more than its share, for example because its work did not end with its
 * turn. A clock of the GPU that advances with real time advances by this time divided by .total,
 * the share that is the whole GPU.
 *
 * best effort: vclock follows the lowest vtime of the vGPUs that can run, and never goes back.
 *   While no vGPU can run, vclock advances with real time, so that idle time pays off debts.
 * equal and fixed share: vclock advances with real time. A vGPU whose clock has reached vclock has
 *   used up its share and is throttled; an unused share goes to no other vGPU. When vclock is more
 *   than lead_v ahead of every vGPU that wants to run and is not throttled by its cap, these have
 *   had less than their shares. As far as no vGPU was charged for the time, for example that of
 *   switches, it is not owed to any of them, and vclock is set back by it. stop_clock() in
 *   account.c has the exceptions, and says what holds while a vGPU is throttled by its share.
 *
 * lead_v, of each vGPU, limits how much GPU time the vGPU saves up. Under best effort it stands for
 * the shortest turn (vsched_turn_min()), else for the vGPU's part of SCHED_PERIOD, but at least
 * SCHED_DEPTH_MIN. The clock of a vGPU that does not want to run, or is throttled by its cap, is at
 * most lead_v behind vclock: a vGPU does not save up more GPU time while it sleeps. The lead puts
 * the vGPU before the vGPUs that ran while it slept. Leads of several sleeps do not add up, because
 * a sleep does not set the vGPU's clock back. debt_v stands for KVGPU_SCHED_DEBT_MAX. It limits
 * debts, and how far the clock of a vGPU that wants to run, and is not throttled by its cap, can be
 * behind vclock. A debt beyond debt_v is forgiven.
 *
 * pace is a second clock of the GPU. It advances with real time under all policies, as if all vGPUs
 * wanted to run. Each vGPU has a second clock too, paced. A charge advances paced by as much as
 * vtime. paced is compared with pace to decide whether the vGPU goes to the front when it wakes.
 * vclock can't decide this: it stands still while the last vGPUs of a round wait for their turns.
 *
 * Clocks are in ns of GPU time * SCHED_V / share. They wrap around: only the difference of two
 * clocks, by vsched_clock_ahead(), means something.
 *
 * A cap is a bucket of GPU time (cap_left, in hundredths of a ns). It fills with cap per cent of
 * the real time that passes, up to cap_depth, and beyond that by the time for which the vGPU waits
 * for its turn (cap_kept). Otherwise long slices, or work of other vGPUs that can't be interrupted,
 * would take from the vGPU what its cap allows. GPU time that the vGPU is charged empties the
 * bucket. A vGPU that empties its bucket is throttled until the bucket is half full. Under equal
 * and fixed share a vGPU whose clock reaches vclock is throttled until its clock is half of lead_v
 * behind vclock again. A cap of 100 per cent, or a share that is the whole GPU, throttles no vGPU.
 */
#ifndef KVGPU_SCHED_INTERNAL_H
#define KVGPU_SCHED_INTERNAL_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "sched/sched.h"

#define SCHED_V 4096u
/*
 * Longest time, ns, by which one call advances a clock or changes a budget. This time multiplied by
 * SCHED_V, or by 100, fits into 64 bits.
 */
#define SCHED_STEP_MAX (1ull << 48)
/*
 * Time, ns, in which the empty budget of a cap, or of a share under equal and fixed share, becomes
 * full, if the full budget is larger than SCHED_DEPTH_MIN (ns). A vGPU may spend a full budget at
 * once, in addition to its share. So SCHED_PERIOD is short beside the window for which shares are
 * promised (docs/sharing.md).
 */
#define SCHED_PERIOD	16000000u
#define SCHED_DEPTH_MIN 1000000u
/*
 * Longest wait of a vGPU for its turns, ns, that makes its .cap_kept greater, but for overruns of
 * other vGPUs (cap_close()). S5 in docs/invariants.md allows 4 % of 10 s beyond a cap.
 */
#define SCHED_KEPT_MAX 400000000ull
/*
 * vsched_clock_tick() cuts a cap's budget (.cap_left, in hundredths of a ns) down to this before it
 * adds to the budget, so that the sum does not overflow.
 */
#define SCHED_CAP_MOST ((s64)1 << 60)
/*
 * Length of a round, ns. A round takes about 3.5 slices if this makes no turn shorter than
 * vsched_turn_min() or longer than a slice. A round is short beside the window for which shares are
 * promised (docs/sharing.md).
 */
#define SCHED_ROUND(slice) ((slice)*7 / 2)
#define SCHED_SHORTEST	   5u /* divisor of a slice: vsched_turn_min() */
/* .until of a decision is at least this many ns after the @now of the call that returns it. */
#define SCHED_UNTIL_MIN 50000u
/* After a vGPU has lingered in vain (no work came), it does not linger this number of times. */
#define SCHED_IN_VAIN 4u

static inline s64 vsched_clock_ahead(u64 a, u64 b)
{
	return (s64)(a - b);
}

static inline u64 vsched_time_add(u64 now, u64 ns)
{
	return ns > KVGPU_SCHED_NEVER - now ? KVGPU_SCHED_NEVER : now + ns;
}

/* Returns the shortest length of a turn, ns. */
static inline u64 vsched_turn_min(const struct kvgpu_sched *s)
{
	return max(s->slice_ns / SCHED_SHORTEST, (u64)KVGPU_SCHED_SLICE_MIN);
}

/*
 * Returns the length of a moment, ns: for lingering, for idling that is not charged, and between
 * polls of a vGPU that has just woken (choose.c).
 */
static inline u64 vsched_moment(const struct kvgpu_sched *s)
{
	return s->slice_ns / 16;
}

/* Returns the idle time of the turn under way for which its vGPU pays at its end, ns (choose.c). */
static inline u64 vsched_turn_idle(const struct kvgpu_sched *s)
{
	return s->wanted_ns - min(s->wanted_ns, s->wanted_used);
}

static inline bool vsched_ent_wants(const struct kvgpu_sched_ent *e)
{
	return (e->runnable || e->lingers) && !e->suspended;
}

static inline bool vsched_ent_can_run(const struct kvgpu_sched_ent *e)
{
	return vsched_ent_wants(e) && !e->cap_throttled && !e->share_throttled;
}

/*
 * Tells whether @a goes before @b when both can run: by .front, else by .vtime. That the one goes
 * first which has waited longest when the clocks are about equal is not in it (choose.c).
 */
static inline bool vsched_ent_goes_before(const struct kvgpu_sched_ent *a,
					  const struct kvgpu_sched_ent *b)
{
	if (a->front != b->front)
		return a->front;
	return vsched_clock_ahead(a->vtime, b->vtime) < 0;
}

/*
 * account.c: advances the state from s->at to @now. The budgets of caps fill, and the GPU's clocks
 * advance.
 */
void vsched_clock_tick(struct kvgpu_sched *s, u64 now);
/*
 * Brings the clocks of all vGPUs within their limits, and decides which vGPUs are throttled. Under
 * best effort first moves vclock on to the lowest vtime of the vGPUs that can run. A vGPU that is
 * no longer throttled may end the turn under way early. Call it after a change of a clock.
 */
void vsched_clocks_settle(struct kvgpu_sched *s);
/* Tells whether a vGPU other than s->current_ent can run. */
bool vsched_others_can_run(const struct kvgpu_sched *s);
/*
 * Cuts the budget of each cap down to .cap_depth and .cap_kept. Under equal and fixed share also
 * sets vclock back by time that is lost for all vGPUs (stop_clock() says when). Call it when all
 * use of the GPU before s->at is charged.
 */
void vsched_budget_close(struct kvgpu_sched *s);
/*
 * vsched_ent_pay() charges @ns of GPU time to each budget of @e: that of its share (vtime), that of
 * its claim to go to the front when it wakes (paced), and that of its cap (cap_left).
 * vsched_share_pay() leaves out the cap.
 */
void vsched_ent_pay(struct kvgpu_sched_ent *e, u64 ns);
void vsched_share_pay(struct kvgpu_sched_ent *e, u64 ns);
/*
 * Computes s->total anew, and the values of each vGPU that depend on the policy, shares, caps and
 * the slice. Call it when one of these, or the set of vGPUs, has changed.
 */
void vsched_knobs_apply(struct kvgpu_sched *s);
/* Makes the budgets of vsched_ent_pay() full for @e: @e has no debt then. */
void vsched_budget_fill(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);
/*
 * vsched_release_time() returns the time at which @e, which is throttled now, is no longer
 * throttled. vsched_exhaust_time() returns the time at which @e is throttled if it runs from now
 * on. Both compute from the state at s->at. The returned time may be too early.
 */
u64 vsched_release_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);
u64 vsched_exhaust_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/* vgpu.c: @e, which lingers, lingers no longer. No work came, so this counts as in vain. */
void vsched_linger_end(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);

/*
 * turn.c: call it when @e has woken or is no longer throttled. Sets s->slice_end to an earlier time
 * if the rules in choose.c let @e end the turn under way early.
 */
void vsched_turn_cut(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);
/* Tells whether @e, which has just run out of work, lingers: it keeps the chip for a moment. */
bool vsched_ent_lingers(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/* choose.c: ends the turn of s->current_ent, if a turn is under way. */
void vsched_turn_end(struct kvgpu_sched *s);

#endif
