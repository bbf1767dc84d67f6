// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a vGPU ends the turn of another vGPU early, and whether a vGPU lingers. choose.c explains
 * the rules.
 */
#include "sched/internal.h"

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

bool vsched_ent_lingers(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	const struct kvgpu_sched_ent *o;

	if (s->current_ent != e || !s->started || !e->quick || e->in_vain || e->suspended ||
	    s->turn_used < (s->at - s->turn_start) / 2)
		return false;
	list_for_each_entry(o, &s->ents, node)
		if (o != e && vsched_ent_can_run(o) && vsched_ent_goes_before(o, e))
			return false;
	return true;
}
