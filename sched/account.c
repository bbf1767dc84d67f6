// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks and budgets: the GPU time that each vGPU was charged, and the time that it may still use.
 * internal.h explains the clocks.
 */
#include "sched/internal.h"

/* ----------------------------- shares, leads and depths, computed from the policy and the knobs */

static u32 share_of(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	return s->policy == KVGPU_SCHED_FIXED_SHARE ? e->fixed_ppm : e->weight;
}

static u64 clock_rescaled(u64 v, u64 around, u32 from, u32 to)
{
	s64 d = vsched_clock_ahead(v, around);

	return d >= 0 ? around + div_u64((u64)d * from, to) : around - div_u64((u64)-d * from, to);
}

/*
 * Sets the share of @e to @share. Moves vtime and paced of @e so that each stays as many ns of GPU
 * time ahead of or behind vclock or pace as before.
 */
static void ent_rescale(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 share)
{
	if (e->share && e->share != share) {
		e->vtime = clock_rescaled(e->vtime, s->vclock, e->share, share);
		e->paced = clock_rescaled(e->paced, s->pace, e->share, share);
		e->vrem = 0;
	}
	e->share = share;
}

static u64 lead_ns(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	if (s->policy == KVGPU_SCHED_BEST_EFFORT)
		return vsched_turn_min(s);
	if (e->share >= s->total)
		return SCHED_PERIOD;
	return max(div_u64((u64)e->share * SCHED_PERIOD, s->total), (u64)SCHED_DEPTH_MIN);
}

void vsched_knobs_apply(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;

	s->total = 0;
	list_for_each_entry(e, &s->ents, node)
		s->total += e->weight;
	if (s->policy == KVGPU_SCHED_FIXED_SHARE)
		s->total = KVGPU_SCHED_PPM;
	list_for_each_entry(e, &s->ents, node) {
		ent_rescale(s, e, share_of(s, e));
		e->lead_v = div_u64(lead_ns(s, e) * SCHED_V, e->share);
		e->near_v = div_u64(vsched_turn_min(s) / 2 * SCHED_V, e->share);
		e->debt_v = div_u64(KVGPU_SCHED_DEBT_MAX * SCHED_V, e->share);
		e->cap_depth = max((u64)e->cap * SCHED_PERIOD, SCHED_DEPTH_MIN * 100ull);
		e->cap_left = min(e->cap_left, (s64)(e->cap_depth + e->cap_kept));
		if (s->policy == KVGPU_SCHED_BEST_EFFORT)
			e->share_throttled = false;
	}
}

void vsched_budget_fill(struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	e->vtime = s->vclock - e->lead_v;
	e->paced = s->pace - e->lead_v;
	e->vrem = 0;
	e->cap_left = e->cap_depth;
	e->cap_kept = e->cap_over = 0;
	e->cap_throttled = e->share_throttled = false;
}

/* --------------------------------- advance clocks and budgets, hold vGPUs back, charge GPU time */

bool vsched_others_can_run(const struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;

	list_for_each_entry(e, &s->ents, node)
		if (e != s->current_ent && vsched_ent_can_run(e))
			return true;
	return false;
}

/*
 * Adds to s->wanted_ns the part of the turn under way that lies between @from and s->at. Call it if
 * vGPUs other than s->current_ent could run in that time. Time after s->slice_end counts, too: a
 * vGPU may make the poll that ends its turn late, and leave the chip idle until then.
 */
static void turn_was_wanted(struct kvgpu_sched *s, u64 from)
{
	from = max(from, s->turn_start);
	if (s->current_ent && s->started && s->at > from)
		s->wanted_ns += s->at - from;
}

/*
 * The time from the last call up to s->at, @dt ns, fills the budget of @e's cap. As far as @e waits
 * for its turn in that time, the budget may become larger than .cap_depth (cap_close()). If the cap
 * holds @e back, @e waits from the moment on at which the budget is half full.
 */
static void cap_fill(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 dt)
{
	u64 waited = dt * e->cap;
	s64 over;

	e->cap_left = min(e->cap_left, SCHED_CAP_MOST) + (s64)waited;
	if (!s->current_ent || (s->current_ent == e && s->started) || !vsched_ent_wants(e) ||
	    e->share_throttled)
		return;
	over = max(e->cap_left - (s64)(e->cap_depth / 2), (s64)0);
	if (e->cap_throttled)
		waited = min(waited, (u64)over);
	e->cap_kept = min(e->cap_kept, (u64)SCHED_CAP_MOST) + waited;
}

/* As vsched_clock_tick(), but returns whether a vGPU other than s->current_ent can run. */
static bool clock_advance(struct kvgpu_sched *s, u64 now)
{
	struct kvgpu_sched_ent *e;
	u64 dt, step, from = s->at;
	bool any = false, others = false;
	u32 rem;

	if (now <= s->at)
		return vsched_others_can_run(s);
	dt = min(now - s->at, (u64)SCHED_STEP_MAX);
	s->at = now;
	if (!s->total)
		return false;
	list_for_each_entry(e, &s->ents, node) {
		bool can_run = vsched_ent_can_run(e);

		any |= can_run;
		others |= can_run && e != s->current_ent;
		cap_fill(s, e, dt);
	}
	if (others)
		turn_was_wanted(s, from);
	step = div_u64_rem(dt * SCHED_V + s->pace_rem, s->total, &rem);
	s->pace_rem = rem;
	s->pace += step;
	if (!any || s->policy != KVGPU_SCHED_BEST_EFFORT)
		s->vclock += step;
	return others;
}

void vsched_clock_tick(struct kvgpu_sched *s, u64 now)
{
	if (now > s->at)
		clock_advance(s, now);
}

/*
 * Claims and debts under equal and fixed share, sums over vGPUs, in the unit of the clocks * share.
 * A vGPU has a claim if it wants to run, is not throttled, and its vtime is more than lead_v behind
 * vclock: the claim is what is beyond lead_v. A vGPU that is throttled by its share has a debt, as
 * far as its vtime is not lead_v behind vclock.
 */
struct claims {
	u64 claimed, owed;
	u64 most; /* the greatest claim, not multiplied by the share */
	u32 shares; /* sum of the shares of these vGPUs */
	bool throttled; /* a vGPU is throttled by its share */
};

static struct claims claims_take(const struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;
	struct claims c = {};

	list_for_each_entry(e, &s->ents, node) {
		s64 ahead = vsched_clock_ahead(e->vtime + e->lead_v, s->vclock);

		if (e->share_throttled) {
			c.throttled = true;
			c.owed += ahead > 0 ? (u64)ahead * e->share : 0;
		} else if (vsched_ent_can_run(e) && ahead < 0) {
			c.claimed += (u64)-ahead * e->share;
			c.most = max(c.most, (u64)-ahead);
		} else {
			continue;
		}
		c.shares += e->share;
	}
	return c;
}

/*
 * While a vGPU is throttled by its share, the other vGPUs have claims to the GPU time that it has
 * had beyond its share, and no more: no vGPU has had the time of switches. As far as the claims are
 * greater than the debts, returns the time of the switches since the last vsched_budget_close(), by
 * which vclock is to be set back.
 */
static u64 lost_in_switches(const struct kvgpu_sched *s, const struct claims *c)
{
	u64 lost = div_u64(min(s->lost_ns, (u64)SCHED_STEP_MAX) * SCHED_V, s->total);

	if (c->claimed <= c->owed)
		return 0;
	return min(lost, div_u64(c->claimed - c->owed, c->shares));
}

/*
 * Adds to s->unpaid how much further vclock has advanced since the last vsched_budget_close() than
 * vGPUs were charged for. Charges that come later are subtracted. Idle time of the turn under way
 * counts as charged: it will be (pay_for_idling() in choose.c).
 */
static void unpaid_add(struct kvgpu_sched *s)
{
	u64 idle = vsched_turn_idle(s);
	u64 paid = vsched_time_add(s->paid_ns, idle - min(idle, s->idle_closed));

	s->unpaid += s->vclock - s->closed;
	if (s->total)
		s->unpaid -=
			min(s->unpaid, div_u64(min(paid, (u64)SCHED_STEP_MAX) * SCHED_V, s->total));
	s->idle_closed = idle;
	s->paid_ns = 0;
}

/*
 * If vclock is more than lead_v ahead of every vGPU that wants to run and is not throttled by its
 * cap, returns by how much it is further ahead of each, else 0.
 */
static u64 behind_least(const struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;
	s64 behind, least = -1;

	list_for_each_entry(e, &s->ents, node) {
		if (!vsched_ent_wants(e) || e->cap_throttled)
			continue;
		behind = vsched_clock_ahead(s->vclock, e->vtime + e->lead_v);
		if (behind <= 0)
			return 0;
		least = least < 0 ? behind : min(least, behind);
	}
	return max(least, (s64)0);
}

/*
 * Equal and fixed share: vclock may be ahead of a vGPU's vtime by the vGPU's lead_v. If vclock is
 * further ahead of every vGPU that wants to run and is not throttled by its cap, these vGPUs have
 * lost GPU time, for example by switches, or another vGPU has had it. Time that no vGPU was charged
 * (s->unpaid) is lost: vclock is set back by it, but not behind its value at the last
 * vsched_budget_close(). Time that a vGPU was charged stays owed, also if that vGPU sleeps now or
 * is throttled by its cap. While a vGPU is throttled by its share, lost_in_switches() decides
 * instead: that vGPU has had GPU time that other vGPUs are still owed.
 */
static void stop_clock(struct kvgpu_sched *s)
{
	struct claims c = claims_take(s);
	u64 back;

	unpaid_add(s);
	back = c.throttled ? lost_in_switches(s, &c) : min(s->unpaid, behind_least(s));
	back = min(back, s->vclock - s->closed);
	s->vclock -= back;
	/* what no vGPU claims is not lost */
	s->unpaid -= min(s->unpaid, back);
	s->unpaid = min(s->unpaid, c.most - min(c.most, back));
}

/*
 * Cuts the budget of @e's cap down to .cap_depth and .cap_kept. The latter is at most the time that
 * the cap allows in SCHED_KEPT_MAX, and, until @e sleeps, what it allowed in the overruns of other
 * vGPUs.
 */
static void cap_close(struct kvgpu_sched_ent *e)
{
	u64 kept;

	if (!vsched_ent_wants(e))
		e->cap_over = 0;
	kept = min(e->cap_kept, SCHED_KEPT_MAX * e->cap + e->cap_over);
	e->cap_left = min(e->cap_left, (s64)(e->cap_depth + kept));
	e->cap_kept = max(e->cap_left - (s64)e->cap_depth, (s64)0);
	e->cap_over = min(e->cap_over, e->cap_kept);
}

void vsched_budget_close(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;

	list_for_each_entry(e, &s->ents, node)
		cap_close(e);
	if (s->policy != KVGPU_SCHED_BEST_EFFORT)
		stop_clock(s);
	else
		s->unpaid = s->paid_ns = 0;
	s->closed = s->vclock;
	s->lost_ns = 0;
}

/* Best effort: vclock follows the lowest vtime of the vGPUs that can run, and does not go back. */
static void vclock_follow(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;
	u64 lowest = 0;
	bool any = false;

	list_for_each_entry(e, &s->ents, node) {
		if (!vsched_ent_can_run(e))
			continue;
		if (!any || vsched_clock_ahead(e->vtime, lowest) < 0)
			lowest = e->vtime;
		any = true;
	}
	if (any && vsched_clock_ahead(lowest, s->vclock) > 0)
		s->vclock = lowest;
}

static void ent_hold_back(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	s64 left = vsched_clock_ahead(s->vclock, e->vtime);

	if (e->cap >= KVGPU_SCHED_CAP_NONE || e->cap_left >= (s64)(e->cap_depth / 2))
		e->cap_throttled = false;
	else if (e->cap_left <= 0)
		e->cap_throttled = true;

	if (s->policy == KVGPU_SCHED_BEST_EFFORT || e->share >= s->total ||
	    left >= (s64)(e->lead_v / 2))
		e->share_throttled = false;
	else if (left <= 0)
		e->share_throttled = true;
}

static u64 clock_into_range(u64 v, u64 around, u64 behind, u64 ahead)
{
	if (vsched_clock_ahead(v, around + ahead) > 0)
		return around + ahead;
	return vsched_clock_ahead(v, around - behind) < 0 ? around - behind : v;
}

static void limit(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	bool waits = vsched_ent_wants(e) && !e->cap_throttled;

	e->vtime = clock_into_range(e->vtime, s->vclock, waits ? e->debt_v : e->lead_v, e->debt_v);
	e->paced = clock_into_range(e->paced, s->pace, e->lead_v, e->debt_v);
}

void vsched_clocks_settle(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;

	if (s->policy == KVGPU_SCHED_BEST_EFFORT)
		vclock_follow(s);
	list_for_each_entry(e, &s->ents, node) {
		bool throttled = e->cap_throttled || e->share_throttled;

		/* the claims of a vGPU that its cap lets go now are not cut */
		ent_hold_back(s, e);
		limit(s, e);
		if (throttled && vsched_ent_can_run(e))
			vsched_turn_cut(s, e);
	}
}

void vsched_share_pay(struct kvgpu_sched_ent *e, u64 ns)
{
	u64 v;
	u32 rem;

	v = div_u64_rem(ns * SCHED_V + e->vrem, e->share, &rem);
	e->vrem = rem;
	e->vtime += v;
	e->paced += v;
}

void vsched_ent_pay(struct kvgpu_sched_ent *e, u64 ns)
{
	vsched_share_pay(e, ns);
	e->cap_left = max(e->cap_left - (s64)(ns * 100), -(s64)(KVGPU_SCHED_DEBT_MAX * 100));
}

/*
 * Tells whether the GPU time that @e is charged now is an *overrun*: work that did not end when the
 * turn of @e did. Work that ends within the shortest turn belongs to a switch, and does not count.
 */
static bool is_overrun(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	u64 from = e == s->current_ent ? s->slice_end : s->turn_start;

	return s->current_ent && s->started == (e == s->current_ent) &&
	       s->at > vsched_time_add(from, vsched_turn_min(s));
}

/*
 * @e was charged @ns of an overrun. For each other vGPU that wants to run and is not throttled by
 * its share, notes what its cap allows in that time, but not more than the vGPU would have to have
 * to be even with @e, in proportion to their shares.
 */
static void overrun_note(struct kvgpu_sched *s, const struct kvgpu_sched_ent *e, u64 ns)
{
	struct kvgpu_sched_ent *o;

	list_for_each_entry(o, &s->ents, node) {
		s64 ahead = vsched_clock_ahead(e->vtime, o->vtime);
		u64 most;

		if (ahead <= 0 || !vsched_ent_wants(o) || o->share_throttled)
			continue;
		most = min((u64)ahead / SCHED_V * o->share, KVGPU_SCHED_DEBT_MAX) * 100;
		o->cap_over = max(o->cap_over, min(o->cap_over + ns * o->cap, most));
	}
}

void kvgpu_sched_charge(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 ns, u64 now)
{
	bool others = clock_advance(s, now);

	e->busy_ns += ns;
	s->turn_used = vsched_time_add(s->turn_used, ns);
	s->paid_ns = vsched_time_add(s->paid_ns, ns);
	if (others)
		s->wanted_used = vsched_time_add(s->wanted_used, ns);
	ns = min(ns, (u64)SCHED_STEP_MAX);
	vsched_ent_pay(e, ns);
	if (is_overrun(s, e))
		overrun_note(s, e, ns);
	vsched_clocks_settle(s);
}

/* ------------------------------ compute when a vGPU will be throttled, or no longer throttled */

u64 vsched_release_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	u64 wait = 0, v;

	if (e->cap_throttled)
		wait = div_u64((u64)((s64)(e->cap_depth / 2) - e->cap_left), e->cap) + 1;
	if (e->share_throttled) {
		v = e->vtime + e->lead_v / 2 - s->vclock;
		/* limit v so that v * total fits into 64 bits */
		v = min(v, 1ull << 34);
		wait = max(wait, v * s->total / SCHED_V + 1);
	}
	return vsched_time_add(s->at, wait);
}

u64 vsched_exhaust_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	u64 left, until = KVGPU_SCHED_NEVER;
	s64 v;

	if (e->cap < KVGPU_SCHED_CAP_NONE) {
		left = e->cap_left > 0 ? (u64)e->cap_left : 0;
		until = vsched_time_add(s->at, div_u64(left, KVGPU_SCHED_CAP_NONE - e->cap));
	}
	if (s->policy != KVGPU_SCHED_BEST_EFFORT && e->share < s->total) {
		v = vsched_clock_ahead(s->vclock, e->vtime);
		left = v > 0 ? div_u64((u64)v * e->share, SCHED_V) : 0;
		left = min(left, 1000000000ull);
		until = min(until,
			    vsched_time_add(s->at, div_u64(left * s->total, s->total - e->share)));
	}
	return until;
}
