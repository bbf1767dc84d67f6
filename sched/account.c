// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks and budgets: the GPU time that each vGPU was charged, and the time that it may still use.
 * internal.h explains the clocks.
 */
#include "sched/internal.h"

/* ----------------- entitlements, leads and depths, computed from the policy and the knobs */

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

static u64 cap_ppm(const struct kvgpu_sched_ent *e)
{
	return (u64)e->cap * (KVGPU_SCHED_PPM / 100);
}

/* Returns @left_ppm * @share / @total, rounded to the nearest, or 0 if @total is 0. */
static u32 ppm_part(u64 left_ppm, u32 share, u64 total)
{
	return total ? div64_u64(left_ppm * share + total / 2, total) : 0;
}

/*
 * Best effort: time that a vGPU may not have because of its cap goes to the other vGPUs by weight,
 * which can bring more of them to their caps. Each pass of the loop finds the vGPUs whose cap is
 * below their part, until the set of these vGPUs stays the same.
 */
static u32 part_of_weight(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *of)
{
	u64 left = KVGPU_SCHED_PPM, total = s->total, capped = 0, before;
	const struct kvgpu_sched_ent *e;

	do {
		u64 caps = 0;

		before = capped;
		capped = 0;
		list_for_each_entry(e, &s->ents, node) {
			if (cap_ppm(e) < KVGPU_SCHED_PPM && cap_ppm(e) * total < left * e->weight) {
				caps += cap_ppm(e);
				capped += e->weight;
			}
		}
		left = KVGPU_SCHED_PPM - caps;
		total = s->total - capped;
	} while (capped != before && total);
	return total ? ppm_part(left, of->weight, total) : KVGPU_SCHED_PPM;
}

u32 kvgpu_sched_entitlement(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	u32 ppm;

	if (s->policy == KVGPU_SCHED_BEST_EFFORT)
		ppm = part_of_weight(s, e);
	else
		ppm = ppm_part(KVGPU_SCHED_PPM, e->share, max(s->total, e->share));
	return min((u64)ppm, cap_ppm(e));
}

/* Returns the part of the GPU's time to which the budget of @e holds it, ppm. */
static u32 limit_ppm(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	if (s->policy == KVGPU_SCHED_BEST_EFFORT)
		return e->cap * (KVGPU_SCHED_PPM / 100);
	return kvgpu_sched_entitlement(s, e);
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
		e->lead_v = div_u64(vsched_turn_min(s) * SCHED_V, e->share);
		e->near_v = div_u64(vsched_turn_min(s) / 2 * SCHED_V, e->share);
		e->debt_v = div_u64(KVGPU_SCHED_DEBT_MAX * SCHED_V, e->share);
		e->limit = limit_ppm(s, e);
		e->depth =
			max((u64)e->limit * SCHED_PERIOD, (u64)SCHED_DEPTH_MIN * KVGPU_SCHED_PPM);
		e->left = min(e->left, (s64)(e->depth + e->kept));
	}
}

void vsched_budget_fill(struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	e->vtime = s->vclock - e->lead_v;
	e->paced = s->pace - e->lead_v;
	e->vrem = 0;
	e->left = e->depth;
	e->kept = e->over = 0;
	e->throttled = false;
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
 * The time from the last call up to s->at, @dt ns, fills the budget of @e. As far as @e waits for
 * its turn in that time, the budget may become larger than .depth (budget_close()). If @e is
 * throttled, it waits from the moment on at which the budget is half full. While @e has the chip,
 * .kept falls as .left does if @e works: what @e does not use then is not kept.
 */
static void budget_grow(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 dt)
{
	u64 waited = min(dt, div_u64(SCHED_BUDGET_MOST, e->limit)) * e->limit;
	bool runs;
	s64 over;

	e->left = min(e->left, (s64)SCHED_BUDGET_MOST) + (s64)waited;
	runs = s->current_ent ? s->current_ent == e && s->started : !e->throttled;
	if (runs)
		e->kept -= min(e->kept, min(dt, SCHED_BUDGET_MOST / KVGPU_SCHED_PPM) *
						(KVGPU_SCHED_PPM - e->limit));
	if (runs || !vsched_ent_wants(e))
		return;
	over = max(e->left - (s64)(e->depth / 2), (s64)0);
	if (e->throttled)
		waited = min(waited, (u64)over);
	e->kept = min(e->kept, SCHED_BUDGET_MOST) + waited;
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
		budget_grow(s, e, dt);
	}
	if (others)
		turn_was_wanted(s, from);
	step = div_u64_rem(dt * SCHED_V + s->pace_rem, s->total, &rem);
	s->pace_rem = rem;
	s->pace += step;
	if (!any)
		s->vclock += step;
	return others;
}

void vsched_clock_tick(struct kvgpu_sched *s, u64 now)
{
	if (now > s->at)
		clock_advance(s, now);
}

/*
 * Cuts the budget of @e down to .depth and .kept. The latter is at most what @e may have in
 * SCHED_KEPT_MAX, and, until @e sleeps, what it might have had in the overruns of other vGPUs.
 */
static void budget_close(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	u64 kept;

	if (!vsched_ent_wants(e))
		e->over = 0;
	kept = min(e->kept, SCHED_KEPT_MAX(s->slice_ns) * e->limit + e->over);
	e->left = min(e->left, (s64)(e->depth + kept));
	e->kept = max(e->left - (s64)e->depth, (s64)0);
	e->over = min(e->over, e->kept);
}

void vsched_budgets_close(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;

	list_for_each_entry(e, &s->ents, node)
		budget_close(s, e);
}

/* vclock follows the lowest vtime of the vGPUs that can run, and does not go back. */
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

static void ent_hold_back(struct kvgpu_sched_ent *e)
{
	if (e->limit >= KVGPU_SCHED_PPM || e->left >= (s64)(e->depth / 2))
		e->throttled = false;
	else if (e->left <= 0)
		e->throttled = true;
}

static u64 clock_into_range(u64 v, u64 around, u64 behind, u64 ahead)
{
	if (vsched_clock_ahead(v, around + ahead) > 0)
		return around + ahead;
	return vsched_clock_ahead(v, around - behind) < 0 ? around - behind : v;
}

void vsched_clocks_settle(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;

	vclock_follow(s);
	list_for_each_entry(e, &s->ents, node) {
		bool throttled = e->throttled;

		ent_hold_back(e);
		e->vtime = clock_into_range(e->vtime, s->vclock, e->lead_v, e->debt_v);
		e->paced = clock_into_range(e->paced, s->pace, e->lead_v, e->debt_v);
		if (throttled && vsched_ent_can_run(e))
			vsched_turn_cut(s, e);
	}
}

void vsched_ent_pay(struct kvgpu_sched_ent *e, u64 ns)
{
	u64 v;
	u32 rem;

	ns = min(ns, (u64)SCHED_STEP_MAX);
	v = div_u64_rem(ns * SCHED_V + e->vrem, e->share, &rem);
	e->vrem = rem;
	e->vtime += v;
	e->paced += v;
	ns = min(ns, 4 * SCHED_BUDGET_MOST / KVGPU_SCHED_PPM);
	e->left = max(e->left - (s64)(ns * KVGPU_SCHED_PPM),
		      -(s64)(KVGPU_SCHED_DEBT_MAX * KVGPU_SCHED_PPM));
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
 * @e was charged @ns of an overrun. For each other vGPU that wants to run, notes what it might have
 * had in that time, but not more than it would have to have to be even with @e, in proportion to
 * their shares.
 */
static void overrun_note(struct kvgpu_sched *s, const struct kvgpu_sched_ent *e, u64 ns)
{
	struct kvgpu_sched_ent *o;

	list_for_each_entry(o, &s->ents, node) {
		s64 ahead = vsched_clock_ahead(e->vtime, o->vtime);
		u64 most;

		if (ahead <= 0 || !vsched_ent_wants(o))
			continue;
		most = min((u64)ahead / SCHED_V * o->share, KVGPU_SCHED_DEBT_MAX) * KVGPU_SCHED_PPM;
		o->over = max(o->over, min(o->over + ns * o->limit, most));
	}
}

void kvgpu_sched_charge(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 ns, u64 now)
{
	bool others = clock_advance(s, now);

	e->busy_ns += ns;
	s->turn_used = vsched_time_add(s->turn_used, ns);
	if (others)
		s->wanted_used = vsched_time_add(s->wanted_used, ns);
	vsched_ent_pay(e, ns);
	if (is_overrun(s, e))
		overrun_note(s, e, min(ns, KVGPU_SCHED_DEBT_MAX));
	vsched_clocks_settle(s);
}

/* ------------------------------ compute when a vGPU will be throttled, or no longer throttled */

u64 vsched_release_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	u64 lacks = max((s64)(e->depth / 2) - e->left, (s64)0);

	return vsched_time_add(s->at, div_u64(lacks, e->limit) + 1);
}

u64 vsched_exhaust_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	if (e->limit >= KVGPU_SCHED_PPM)
		return KVGPU_SCHED_NEVER;
	return vsched_time_add(s->at, div_u64(max(e->left, (s64)0), KVGPU_SCHED_PPM - e->limit));
}
