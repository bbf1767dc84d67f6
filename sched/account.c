// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks and buckets: the GPU time that each vGPU was charged, and the time that it may still use.
 * internal.h explains them.
 */
#include "sched/internal.h"

u32 vsched_others_can_run(const struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;
	u32 others = 0;

	list_for_each_entry(e, &s->ents, node)
		others += e != s->current_ent && vsched_ent_can_run(s, e);
	return others;
}

/* Advances the state from s->at to @now: buckets fill, and the GPU's clock advances. */
static void clock_tick(struct kvgpu_sched *s, u64 now)
{
	struct kvgpu_sched_ent *e;
	u64 dt;

	if (now <= s->at)
		return;
	dt = min(now - s->at, (u64)SCHED_STEP_MAX);
	s->at = now;
	kvgpu_bucket_fill(&s->hold, dt);
	kvgpu_bucket_close(&s->hold);
	list_for_each_entry(e, &s->ents, node) {
		kvgpu_bucket_fill(&e->limit, dt);
		kvgpu_bucket_fill(&e->wakes, dt);
		kvgpu_bucket_fill(&e->hold, dt);
		kvgpu_bucket_close(&e->hold);
	}
	if (s->total && !vsched_others_can_run(s) &&
	    !(s->current_ent && vsched_ent_can_run(s, s->current_ent)))
		s->vclock += div_u64(dt * SCHED_V, s->total);
}

void vsched_turn_cut(struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	struct kvgpu_sched_ent *cur = s->current_ent;

	if (!cur || cur == e || !s->started || !vsched_ent_goes_before(s, e, cur))
		return;
	s->slice_end =
		min(s->slice_end, max(s->at, vsched_time_add(s->turn_start, vsched_turn_min(s))));
}

/* vclock follows the lowest vtime of the vGPUs that can run, and does not go back. */
static void vclock_follow(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e, *first = NULL;

	list_for_each_entry(e, &s->ents, node)
		if (vsched_ent_can_run(s, e) &&
		    (!first || vsched_clock_ahead(e->vtime, first->vtime) < 0))
			first = e;
	if (first && vsched_clock_ahead(first->vtime, s->vclock) > 0)
		s->vclock = first->vtime;
}

static s64 release_level(const struct kvgpu_sched_ent *e)
{
	return max(e->limit.ppm * SCHED_RELEASE_NS, SCHED_RELEASE_MIN * KVGPU_BUCKET_NS);
}

void vsched_clocks_update(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;

	vclock_follow(s);
	list_for_each_entry(e, &s->ents, node) {
		s64 behind = vsched_to_clock(e, vsched_turn_min(s));
		s64 ahead = vsched_to_clock(e, KVGPU_SCHED_DEBT_MAX);
		bool throttled = e->throttled;

		if (e->limit.ppm >= KVGPU_SCHED_PPM || e->limit.left >= release_level(e))
			e->throttled = false;
		else if (e->limit.left <= 0)
			e->throttled = true;
		e->vtime = s->vclock +
			   (u64)clamp(vsched_clock_ahead(e->vtime, s->vclock), -behind, ahead);
		if (throttled && vsched_ent_can_run(s, e))
			vsched_turn_cut(s, e);
	}
}

void vsched_catch_up(struct kvgpu_sched *s, u64 now)
{
	clock_tick(s, now);
	vsched_clocks_update(s);
}

void vsched_ent_pay(struct kvgpu_sched_ent *e, u64 ns)
{
	e->busy_ns += ns;
	e->vtime += vsched_to_clock(e, ns);
	kvgpu_bucket_take(&e->limit, ns, KVGPU_SCHED_DEBT_MAX);
	kvgpu_bucket_take(&e->wakes, ns, KVGPU_SCHED_DEBT_MAX);
}

void kvgpu_sched_charge(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 ns, u64 now)
{
	clock_tick(s, now);
	/* a charge for time before the switch is no part of it */
	s->switch_used = min(vsched_time_add(s->switch_used, ns), s->at - s->turn_start);
	vsched_ent_pay(e, ns);
	vsched_clocks_update(s);
}

void vsched_hold_end(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e = s->current_ent;

	if (!s->hold_end)
		return;
	kvgpu_bucket_take(&s->hold, s->at - e->slept_at, SCHED_HOLD_NS);
	kvgpu_bucket_take(&e->hold, s->at - e->slept_at, SCHED_HOLD_NS);
	s->hold_end = 0;
}

/* ------------------------------ compute when a vGPU will be throttled, or no longer throttled */

u64 vsched_release_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	u64 lacks = max(release_level(e) - e->limit.left, (s64)0);

	return vsched_time_add(s->at, div_u64(lacks, e->limit.ppm) + 1);
}

u64 vsched_exhaust_time(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	if (e->limit.ppm >= KVGPU_SCHED_PPM)
		return KVGPU_SCHED_NEVER;
	return vsched_time_add(s->at,
			       div_u64(max(e->limit.left, (s64)0), KVGPU_SCHED_PPM - e->limit.ppm));
}
