/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Start-time fair queueing: how the policy compares vGPUs. sched.h defines its words. A *round* is
 * the time in which each vGPU that can run has one turn. Real time below means the @now of the
 * calls: monotonic, ns.
 *
 * Each vGPU has a clock, vtime. It advances by the GPU time that the vGPU is charged, divided by
 * the vGPU's share: a vGPU whose clock is behind has had less than its share, and goes first. The
 * GPU's clock, vclock, follows the lowest vtime of the vGPUs that can run, and never goes back. A
 * vGPU whose clock is ahead of it is in debt, for example because its work did not end with its
 * turn. While no vGPU can run, vclock advances with real time (divided by .total, the share that is
 * the whole GPU), so that idle time pays off debts. A vGPU's clock is at most the shortest turn
 * behind vclock: a vGPU does not save up GPU time while it sleeps or is throttled. That much puts
 * it before the vGPUs that ran meanwhile. Clocks are in ns of GPU time * SCHED_V / share. They wrap
 * around: only the difference of two clocks means something.
 *
 * The rest are token buckets (kvgpu/bucket.h). A charge empties both of a vGPU.
 *
 * .limit: what the vGPU may use. It fills with the vGPU's cap, under a policy that keeps unused
 * time with its entitlement, up to SCHED_LIMIT_NS of real time: so a vGPU that others' long work
 * keeps from its part has it later. A vGPU that empties it is throttled until SCHED_RELEASE_NS are
 * back, SCHED_RELEASE_MIN of GPU time at least. A limit of the whole GPU throttles no vGPU.
 *
 * .wakes: a vGPU that wakes goes to the front for one turn if this bucket is at least half full. It
 * fills with the vGPU's share of real time up to the shortest turn. So a vGPU that needs little is
 * served at once, however long others' work is, and one that needs its share is not. vclock can't
 * decide this: it stands still while the last vGPUs of a round wait for their turns.
 *
 * .hold of the GPU: real time for which vGPUs may hold the idle chip (vgpu.c). .hold of a vGPU is
 * its part of that by share, which no other one uses up.
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
/* in any 10 s a vGPU has SCHED_LIMIT_NS * its cap more than its cap, at most (S5) */
#define SCHED_LIMIT_NS	 400000000ll
#define SCHED_RELEASE_NS 8000000ll
/* least GPU time, ns, for which a throttled vGPU is let go, so that it causes few switches */
#define SCHED_RELEASE_MIN 500000ll
/* vGPUs may hold the chip for SCHED_HOLD_NS, and SCHED_HOLD_PPM of the time: 100 ms in any 2 s */
#define SCHED_HOLD_NS  20000000ll
#define SCHED_HOLD_PPM 40000u
/* longest pause, ns, over which one holds it */
#define SCHED_HOLD_MAX(s) ((s)->slice_ns / 4)
/* so much of the GPU may a vGPU have beyond its part by the time in which it leaves (S5) */
#define SCHED_FREE_PPM 40000u
/* length of a round, ns, if no turn becomes shorter than vsched_turn_min(), or is cut to a slice */
#define SCHED_ROUND(slice) ((slice)*7 / 2)
#define SCHED_SHORTEST	   5u /* divisor of a slice: vsched_turn_min() */
/* .until of a decision is at least this many ns after the @now of the call that returns it. */
#define SCHED_UNTIL_MIN 50000u

static inline s64 vsched_clock_ahead(u64 a, u64 b)
{
	return (s64)(a - b);
}

static inline u64 vsched_time_add(u64 now, u64 ns)
{
	return ns > KVGPU_SCHED_NEVER - now ? KVGPU_SCHED_NEVER : now + ns;
}

/* Returns @ns of GPU time as a difference of clocks of @e. */
static inline u64 vsched_to_clock(const struct kvgpu_sched_ent *e, u64 ns)
{
	return div_u64(min(ns, SCHED_STEP_MAX) * SCHED_V, e->share);
}

/* Returns the shortest length of a turn, ns. */
static inline u64 vsched_turn_min(const struct kvgpu_sched *s)
{
	return max(s->slice_ns / SCHED_SHORTEST, (u64)KVGPU_SCHED_SLICE_MIN);
}

static inline bool vsched_ent_wants(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	return (e->runnable || (s->hold_end && s->current_ent == e)) && !e->suspended;
}

static inline bool vsched_ent_can_run(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	return vsched_ent_wants(s, e) && !e->throttled;
}

/* True: @e goes to the front if it wakes now. */
static inline bool vsched_ent_may_front(const struct kvgpu_sched_ent *e)
{
	return e->wakes.left >= e->wakes.depth / 2;
}

/* True: @a goes before @b if both can run. */
static inline bool vsched_ent_goes_before(const struct kvgpu_sched *s,
					  const struct kvgpu_sched_ent *a,
					  const struct kvgpu_sched_ent *b)
{
	if (s->policy->before)
		return s->policy->before(a, b);
	return a->front != b->front ? a->front : vsched_clock_ahead(a->vtime, b->vtime) < 0;
}

/*
 * account.c: brings clocks and buckets up to @now, and settles. Call it before the state of a vGPU
 * or a knob changes: the time until now passed with the old one.
 */
void vsched_catch_up(struct kvgpu_sched *s, u64 now);
/*
 * Moves vclock on to the lowest vtime of the vGPUs that can run, brings the clocks of all vGPUs
 * within their limits, and decides which vGPUs are throttled. A vGPU that is no longer throttled
 * may end the turn under way early. Call it after a change of a clock.
 */
void vsched_clocks_update(struct kvgpu_sched *s);
/*
 * Call it when @e has woken or is no longer throttled. Sets s->slice_end to an earlier time if @e
 * may end the turn under way early (choose.c).
 */
void vsched_turn_cut(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);
/* Returns how many vGPUs other than s->current_ent can run. */
u32 vsched_others_can_run(const struct kvgpu_sched *s);
/* Charges @ns of GPU time to @e: to its clock and its buckets. */
void vsched_ent_pay(struct kvgpu_sched_ent *e, u64 ns);
/*
 * Return the time at which @e, which is throttled, is no longer throttled; and at which @e is
 * throttled if it runs from s->at on. The time may be too early.
 */
u64 vsched_release_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);
u64 vsched_exhaust_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/*
 * policy.c: computes s->total anew, and the values of each vGPU that depend on the policy, shares,
 * caps and the slice. Settles. Call it when one of these, or the set of vGPUs, has changed.
 */
void vsched_knobs_apply(struct kvgpu_sched *s);

/* vgpu.c: the vGPU that holds the chip, if one does, holds it no longer, and so sleeps. */
void vsched_hold_stop(struct kvgpu_sched *s);
/* account.c: the same, where the caller ends the turn. */
void vsched_hold_end(struct kvgpu_sched *s);

/* choose.c: ends the turn of s->current_ent. */
void vsched_turn_end(struct kvgpu_sched *s);

#endif
