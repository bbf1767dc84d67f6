// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks and budgets: the GPU time that each vGPU was charged, and the time that it may still use.
 * internal.h explains the clocks.
 */
#include "sched/internal.h"

static u64 clock_rescaled(u64 v, u64 around, u32 from, u32 to)
{
	s64 d = vsched_clock_ahead(v, around);

	return d >= 0 ? around + div_u64((u64)d * from, to) : around - div_u64((u64)-d * from, to);
}

/* Each clock of @e stays as many ns of GPU time ahead of or behind the GPU's as before. */
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

/*
 * Best effort: time that a vGPU may not have because of its cap goes to the other vGPUs by weight,
 * which can bring more of them to their caps. Each pass of the loop finds the vGPUs whose cap is
 * below their part, until the set of these vGPUs stays the same.
 */
static void capped_take_out(const struct kvgpu_sched *s, u64 *left, u64 *total)
{
	const struct kvgpu_sched_ent *e;
	u64 caps, capped = 0, before;

	do {
		before = capped;
		caps = capped = 0;
		list_for_each_entry(e, &s->ents, node) {
			if (cap_ppm(e) < KVGPU_SCHED_PPM &&
			    cap_ppm(e) * *total < *left * e->weight) {
				caps += cap_ppm(e);
				capped += e->weight;
			}
		}
		*left = KVGPU_SCHED_PPM - caps;
		*total = s->total - capped;
	} while (capped != before && *total);
}

u32 kvgpu_sched_entitlement(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	u64 left = KVGPU_SCHED_PPM, total = s->total;

	if (s->policy == KVGPU_SCHED_BEST_EFFORT)
		capped_take_out(s, &left, &total);
	if (!total)
		return cap_ppm(e);
	return min(div64_u64(left * e->share + total / 2, total), cap_ppm(e));
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
		ent_rescale(s, e, s->policy == KVGPU_SCHED_FIXED_SHARE ? e->fixed_ppm : e->weight);
		e->lead_v = div_u64(vsched_turn_min(s) * SCHED_V, e->share);
		e->near_v = div_u64(vsched_turn_min(s) / 2 * SCHED_V, e->share);
		e->debt_v = div_u64(KVGPU_SCHED_DEBT_MAX * SCHED_V, e->share);
		e->limit = s->policy == KVGPU_SCHED_BEST_EFFORT ? cap_ppm(e) :
								  kvgpu_sched_entitlement(s, e);
		e->depth =
			max((u64)e->limit * SCHED_PERIOD, (u64)SCHED_DEPTH_MIN * KVGPU_SCHED_PPM);
		e->left = min(e->left, (s64)(e->depth + e->kept));
	}
	vsched_clocks_settle(s);
}

/* --------------------------------- advance clocks and budgets, hold vGPUs back, charge GPU time */

u32 vsched_others_can_run(const struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;
	u32 others = 0;

	list_for_each_entry(e, &s->ents, node)
		others += e != s->current_ent && vsched_ent_can_run(e);
	return others;
}

/*
 * The time from the last call up to s->at, @dt ns, fills the budget of @e. .left may become larger
 * than .depth by the time for which @e waits for its turn; if @e is throttled, from the moment on
 * at which the budget is half full. While @e has the chip, .kept falls as .left does if @e works:
 * what @e does not use then is not kept.
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

u32 vsched_clock_tick(struct kvgpu_sched *s, u64 now)
{
	u32 rem, others = vsched_others_can_run(s);
	u64 dt, step, from = max(s->at, s->turn_start);
	struct kvgpu_sched_ent *e;

	if (now <= s->at)
		return others;
	dt = min(now - s->at, (u64)SCHED_STEP_MAX);
	s->at = now;
	if (!s->total)
		return 0;
	list_for_each_entry(e, &s->ents, node)
		budget_grow(s, e, dt);
	/*
	 * Time after s->slice_end counts, too: a vGPU may make the poll that ends its turn late,
	 * and leave the chip idle until then.
	 */
	if (others && s->current_ent && s->started && now > from)
		s->wanted_ns += now - from;
	step = div_u64_rem(dt * SCHED_V + s->pace_rem, s->total, &rem);
	s->pace_rem = rem;
	s->pace += step;
	if (!others && !(s->current_ent && vsched_ent_can_run(s->current_ent)))
		s->vclock += step;
	return others;
}

/*
 * .kept is at most what the vGPU may have in SCHED_KEPT_MAX, and, until it sleeps, what it might
 * have had in the overruns of other vGPUs.
 */
void vsched_budgets_close(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;
	u64 kept;

	list_for_each_entry(e, &s->ents, node) {
		if (!vsched_ent_wants(e))
			e->over = 0;
		kept = min(e->kept, SCHED_KEPT_MAX(s->slice_ns) * e->limit + e->over);
		e->left = min(e->left, (s64)(e->depth + kept));
		e->kept = max(e->left - (s64)e->depth, (s64)0);
		e->over = min(e->over, e->kept);
	}
}

void vsched_turn_cut(struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	struct kvgpu_sched_ent *cur = s->current_ent;
	u64 end;

	if (!cur || cur == e || !s->started || s->at < e->cut_next ||
	    !vsched_ent_goes_before(e, cur))
		return;
	end = max(s->at, vsched_time_add(s->turn_start, vsched_turn_min(s)));
	if (end >= s->slice_end)
		return;
	s->slice_end = end;
	e->cut_next = vsched_time_add(s->at, s->slice_ns);
}

/* vclock follows the lowest vtime of the vGPUs that can run, and does not go back. */
static void vclock_follow(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e, *first = NULL;

	list_for_each_entry(e, &s->ents, node)
		if (vsched_ent_can_run(e) &&
		    (!first || vsched_clock_ahead(e->vtime, first->vtime) < 0))
			first = e;
	if (first && vsched_clock_ahead(first->vtime, s->vclock) > 0)
		s->vclock = first->vtime;
}

static u64 clock_into_range(u64 v, u64 around, u64 behind, u64 ahead)
{
	return around + (u64)min(max(vsched_clock_ahead(v, around), -(s64)behind), (s64)ahead);
}

void vsched_clocks_settle(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;

	vclock_follow(s);
	list_for_each_entry(e, &s->ents, node) {
		bool throttled = e->throttled;

		if (e->limit >= KVGPU_SCHED_PPM || e->left >= (s64)(e->depth / 2))
			e->throttled = false;
		else if (e->left <= 0)
			e->throttled = true;
		e->vtime = clock_into_range(e->vtime, s->vclock, e->lead_v, e->debt_v);
		e->paced = clock_into_range(e->paced, s->pace, e->lead_v, e->debt_v);
		if (throttled && vsched_ent_can_run(e))
			vsched_turn_cut(s, e);
	}
}

void vsched_catch_up(struct kvgpu_sched *s, u64 now)
{
	vsched_clock_tick(s, now);
	vsched_clocks_settle(s);
}

void vsched_ent_pay(struct kvgpu_sched_ent *e, u64 ns)
{
	u64 v;
	u32 rem;

	ns = min(ns, 4 * SCHED_BUDGET_MOST / KVGPU_SCHED_PPM);
	v = div_u64_rem(ns * SCHED_V + e->vrem, e->share, &rem);
	e->vrem = rem;
	e->vtime += v;
	e->paced += v;
	e->left = max(e->left - (s64)(ns * KVGPU_SCHED_PPM),
		      -(s64)(KVGPU_SCHED_DEBT_MAX * KVGPU_SCHED_PPM));
}

/*
 * Call it when @e was charged @ns. If that is an *overrun*, work that did not end when the turn of
 * @e did, notes for each other vGPU that wants to run what it might have had in that time, but not
 * more than it would have to have to be even with @e, in proportion to their shares. Work that ends
 * within the shortest turn belongs to a switch, and does not count.
 */
static void overrun_note(struct kvgpu_sched *s, const struct kvgpu_sched_ent *e, u64 ns)
{
	u64 from = e == s->current_ent ? s->slice_end : s->turn_start, most;
	struct kvgpu_sched_ent *o;
	s64 ahead;

	if (!s->current_ent || s->started != (e == s->current_ent) ||
	    s->at <= vsched_time_add(from, vsched_turn_min(s)))
		return;
	list_for_each_entry(o, &s->ents, node) {
		ahead = vsched_clock_ahead(e->vtime, o->vtime);
		if (ahead <= 0 || !vsched_ent_wants(o))
			continue;
		most = min((u64)ahead / SCHED_V * o->share, KVGPU_SCHED_DEBT_MAX) * KVGPU_SCHED_PPM;
		o->over = max(o->over, min(o->over + ns * o->limit, most));
	}
}

void kvgpu_sched_charge(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 ns, u64 now)
{
	u32 others = vsched_clock_tick(s, now);

	e->busy_ns += ns;
	s->turn_used = vsched_time_add(s->turn_used, ns);
	if (others)
		s->wanted_used = vsched_time_add(s->wanted_used, ns);
	vsched_ent_pay(e, ns);
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
