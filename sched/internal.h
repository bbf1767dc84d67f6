/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time: the clocks by which the policy compares vGPUs. sched.h defines its words. A *round*
 * is the time in which each vGPU that can run has one turn. Real time below means the @now of the
 * calls: monotonic, ns.
 *
 * Each vGPU has a clock, vtime. It advances by the GPU time that the vGPU is charged, divided by
 * the vGPU's share: a vGPU whose clock is behind has had less than its share. A vGPU whose clock is
 * ahead of a clock of the GPU, vclock, is in debt, for example because its work did not end with
 * its turn. vclock follows the lowest vtime of the vGPUs that can run, and never goes back. While
 * no vGPU can run, it advances with real time (divided by .total, the share that is the whole GPU),
 * so that idle time pays off debts.
 *
 * A vGPU's clock is at most lead_v behind vclock, which stands for the shortest turn
 * (vsched_turn_min()): a vGPU does not save up GPU time while it sleeps or is throttled. The lead
 * puts the vGPU before the vGPUs that ran while it slept. Leads of several sleeps do not add up,
 * because a sleep does not set the vGPU's clock back. debt_v stands for KVGPU_SCHED_DEBT_MAX.
 *
 * pace is a second clock of the GPU. It advances with real time, as if all vGPUs wanted to run.
 * Each vGPU has a second clock too, paced, which a charge advances by as much as vtime, and which
 * has the same limits. By paced and pace it is decided whether the vGPU goes to the front when it
 * wakes (choose.c). vclock can't decide this: it stands still while the last vGPUs of a round wait
 * for their turns.
 *
 * Clocks are in ns of GPU time * SCHED_V / share. They wrap around: only the difference of two
 * clocks, by vsched_clock_ahead(), means something.
 *
 * The *budget* of a vGPU is a bucket of GPU time (left, in millionths of a ns). It fills with a
 * part of the real time that passes (limit): the vGPU's cap, under equal and fixed share its
 * entitlement. It fills up to depth, and beyond that by the time for which the vGPU waits for its
 * turn (kept). Otherwise long slices, or work of other vGPUs that can't be interrupted, would take
 * from the vGPU what it may have. GPU time that the vGPU is charged empties the bucket. A vGPU that
 * empties its bucket is throttled until the bucket is half full. A limit of the whole GPU throttles
 * no vGPU.
 */
#ifndef KVGPU_SCHED_INTERNAL_H
#define KVGPU_SCHED_INTERNAL_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "sched/sched.h"

#define SCHED_V 4096u
/* longest time, ns, by which one call advances a clock: multiplied by SCHED_V it fits 64 bits */
#define SCHED_STEP_MAX (1ull << 48)
/*
 * Time, ns, in which an empty budget becomes full, if the full budget is larger than
 * SCHED_DEPTH_MIN (ns). A vGPU may spend a full budget at once, in addition to its share. So this,
 * and a round, are short beside the window for which shares are promised (docs/sharing.md).
 */
#define SCHED_PERIOD	16000000u
#define SCHED_DEPTH_MIN 1000000u
/*
 * Longest wait of a vGPU for its turns, ns, that makes its .kept greater, but for overruns of other
 * vGPUs. Time that is lost by switches fills .kept, too, and may be used at once when the others
 * sleep.
 */
#define SCHED_KEPT_MAX(slice) (2 * SCHED_ROUND(slice))
/*
 * Most that one call adds to a budget, and most to which it adds, so that no sum overflows. A
 * charge of four times as much empties any budget.
 */
#define SCHED_BUDGET_MOST (1ull << 59)
/* length of a round, ns, if no turn becomes shorter than vsched_turn_min(), or is cut to a slice */
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

/* Returns a moment, ns: for lingering, and between polls of a vGPU that has just woken. */
static inline u64 vsched_moment(const struct kvgpu_sched *s)
{
	return s->slice_ns / 16;
}

static inline bool vsched_ent_wants(const struct kvgpu_sched_ent *e)
{
	return (e->runnable || e->lingers) && !e->suspended;
}

static inline bool vsched_ent_can_run(const struct kvgpu_sched_ent *e)
{
	return vsched_ent_wants(e) && !e->throttled;
}

/* True: @a goes before @b if both can run, but for clocks that are about equal (choose.c). */
static inline bool vsched_ent_goes_before(const struct kvgpu_sched_ent *a,
					  const struct kvgpu_sched_ent *b)
{
	if (a->front != b->front)
		return a->front;
	return vsched_clock_ahead(a->vtime, b->vtime) < 0;
}

/*
 * account.c: advances the state from s->at to @now: budgets fill, and the GPU's clocks advance.
 * Returns vsched_others_can_run().
 */
u32 vsched_clock_tick(struct kvgpu_sched *s, u64 now);
/*
 * Moves vclock on to the lowest vtime of the vGPUs that can run, brings the clocks of all vGPUs
 * within their limits, and decides which vGPUs are throttled. A vGPU that is no longer throttled
 * may end the turn under way early. Call it after a change of a clock.
 */
void vsched_clocks_settle(struct kvgpu_sched *s);
/*
 * Both: brings clocks and budgets up to @now. Call it before the state of a vGPU or a knob changes:
 * the time until now passed with the old one.
 */
void vsched_catch_up(struct kvgpu_sched *s, u64 now);
/*
 * Call it when @e has woken or is no longer throttled. Sets s->slice_end to an earlier time if @e
 * may end the turn under way early (choose.c).
 */
void vsched_turn_cut(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);
/* Returns how many vGPUs other than s->current_ent can run. */
u32 vsched_others_can_run(const struct kvgpu_sched *s);
/* Cuts each budget to .depth and .kept. All use of the GPU before s->at must be charged. */
void vsched_budgets_close(struct kvgpu_sched *s);
/* Charges @ns of GPU time to @e: to its two clocks and to its budget. */
void vsched_ent_pay(struct kvgpu_sched_ent *e, u64 ns);
/*
 * Computes s->total anew, and the values of each vGPU that depend on the policy, shares, caps and
 * the slice. Settles. Call it when one of these, or the set of vGPUs, has changed.
 */
void vsched_knobs_apply(struct kvgpu_sched *s);
/*
 * Return the time at which @e, which is throttled, is no longer throttled; and at which @e is
 * throttled if it runs from s->at on. The time may be too early.
 */
u64 vsched_release_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);
u64 vsched_exhaust_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/* vgpu.c: @e, which lingers, lingers no longer. No work came, so this counts as in vain. */
void vsched_linger_end(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);

/* choose.c: ends the turn of s->current_ent. */
void vsched_turn_end(struct kvgpu_sched *s);

#endif
