/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time. Each vGPU has a clock, vtime. It advances by the GPU time that the vGPU is charged,
 * divided by the vGPU's share: a vGPU whose clock is behind has had less than its share. All clocks
 * are compared with one clock of the GPU, vclock:
 *
 * best effort: vclock is the lowest vtime of the vGPUs that can run. While no vGPU can run, vclock
 *   advances as all clocks would if all vGPUs ran, so that idle time pays off debts.
 * equal and fixed share: vclock advances with the time of day. A vGPU ahead of it has used up its
 *   share and waits; an unused share goes to no other vGPU. vclock stops when it is ahead of all
 *   vGPUs that want to run: GPU time that all of them lost (switches) is not owed to any.
 *
 * A vGPU that does not want to run, or may not, is at most its lead_v behind vclock, so that a vGPU
 * gains nothing by sleeping. The lead puts it before the vGPUs that ran meanwhile: when it wakes,
 * it waits for the turn under way only. Over any time a vGPU gains lead_v once, however often it
 * sleeps, because apart from the lead its clock and vclock run through the same range. No vGPU is
 * further ahead of vclock than its debt_v. The excess is forgiven.
 *
 * pace is a second clock of the GPU. It advances with the time of day under all policies, as if all
 * vGPUs wanted to run. Each vGPU's paced is compared with pace to decide whether the vGPU goes to
 * the front when it wakes. vclock can't decide this: it stands still while the last vGPUs of a
 * round wait for their turns.
 *
 * Clocks are in ns of GPU time * SCHED_V / share. They wrap around: only their differences, by
 * vsched_clock_ahead(), mean something. All clocks stay within debt_v of vclock.
 *
 * A cap is a bucket of GPU time (cap_left, in ns / 100). It fills with cap per cent of the time of
 * day, up to cap_depth. A vGPU that empties its bucket, or uses up the lead_v of its share, is held
 * back until half of it is there again.
 */
#ifndef KVGPU_SCHED_INTERNAL_H
#define KVGPU_SCHED_INTERNAL_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "sched/sched.h"

#define SCHED_V			4096u
/* Longest step in time, ns: 3 days. Every clock has reached its limit long before. */
#define SCHED_STEP_MAX		(1ull << 48)
/*
 * Time over which budgets fill, ns. A full budget may be spent at once, beyond the share: in a
 * window of 2 s, for which shares are promised (docs/sharing.md), that is 0.8 %.
 */
#define SCHED_PERIOD		16000000u
#define SCHED_DEPTH_MIN		1000000u
/*
 * Most that a cap's budget (.cap_left, in hundredths of a nanosecond) holds before
 * vsched_budget_close() cuts it down to .cap_depth.
 */
#define SCHED_CAP_MOST		((s64)1 << 60)
/*
 * A round of all vGPUs that compete takes 3.5 slices, and a turn at least 1 / SCHED_SHORTEST of a
 * slice. With the default slice a round is 14 ms, 0.7 % of 2 s, so that it hardly matters where in
 * a round a measurement begins. Each of 8 equal vGPUs then has 1.75 ms.
 */
#define SCHED_ROUND(slice)	((slice) * 7 / 2)
#define SCHED_SHORTEST		5u
/* The driver is never asked to call again sooner than this, ns. */
#define SCHED_UNTIL_MIN		50000u
/* Number of sleeps without lingering, after a lingering in vain. */
#define SCHED_IN_VAIN		4u

static inline s64 vsched_clock_ahead(u64 a, u64 b)
{
	return (s64)(a - b);
}

static inline u64 vsched_time_add(u64 now, u64 ns)
{
	return ns > KVGPU_SCHED_NEVER - now ? KVGPU_SCHED_NEVER : now + ns;
}

/*
 * The shortest turn, ns, before turn_even_out() corrects it. A turn that has started is not cut
 * shorter than this.
 */
static inline u64 vsched_turn_min(const struct kvgpu_sched *s)
{
	return max(s->slice_ns / SCHED_SHORTEST, (u64)KVGPU_SCHED_SLICE_MIN);
}

/*
 * A moment, ns: how soon the driver looks again at a vGPU that may have run out of work, how long a
 * vGPU lingers, and how much idling is free.
 */
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
	return vsched_ent_wants(e) && !e->cap_out && !e->share_out;
}

/* account.c: lets time pass until @now. Budgets fill, vclock moves. */
void vsched_clock_tick(struct kvgpu_sched *s, u64 now);
/*
 * Brings all clocks within their limits and decides which vGPUs are held back. Called after every
 * change of a clock.
 */
void vsched_clocks_settle(struct kvgpu_sched *s);
/* Tells whether another vGPU than current_ent can run. */
bool vsched_others_can_run(const struct kvgpu_sched *s);
/* Call it when all use before s->at is charged. Budget that no vGPU used is lost. */
void vsched_budget_close(struct kvgpu_sched *s);
/* Takes @ns of GPU time from each budget of @e: its share, its claim to the front, its cap. */
void vsched_ent_pay(struct kvgpu_sched_ent *e, u64 ns);
/*
 * Derives all values that depend on shares, caps and the slice. Called when one of them, or the set
 * of vGPUs, has changed. Debts keep their length in ns.
 */
void vsched_knobs_apply(struct kvgpu_sched *s);
/* Gives @e a full budget and no debt. */
void vsched_budget_fill(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);
/*
 * The first function returns the time when @e, which is held back, is let go. The second one
 * returns the time when @e, if it runs from now on, is held back. Both use the state at s->at. The
 * answer may be too early, and is never too late.
 */
u64 vsched_release_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);
u64 vsched_exhaust_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/* vgpu.c: ends the lingering of @e, which was in vain. */
void vsched_linger_end(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);

/* turn.c: tells whether @a goes before @b when both can run. */
bool vsched_ent_goes_before(const struct kvgpu_sched_ent *a, const struct kvgpu_sched_ent *b);
/* Ends the turn under way early, by the rules in choose.c: @e has woken or was let go. */
void vsched_turn_cut(struct kvgpu_sched *s, struct kvgpu_sched_ent *e);
/* Tells whether @e, which has just run out of work, keeps the chip for a moment. */
bool vsched_ent_lingers(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e);

/* choose.c: ends the turn of current_ent, if there is one. */
void vsched_turn_end(struct kvgpu_sched *s);

#endif
