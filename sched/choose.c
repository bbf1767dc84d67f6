// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns: which vGPU is next, and for how long. sched.h defines the words, internal.h the clocks.
 *
 * Of the vGPUs that can run, those at the front go before all others. Among vGPUs that are all at
 * the front, or all not, the vGPU whose clock is furthest behind is next. If clocks are about equal
 * (within half of the shortest turn), the vGPU with the longest wait is next.
 *
 * The length of a turn is in proportion to the vGPU's part of the shares of all vGPUs that can run,
 * so that a round stays short. It is vsched_turn_min() at least, and a slice at most.
 *
 * A vGPU that wakes, or is no longer throttled, ends the turn under way early if it goes before the
 * vGPU on the chip, but not before vsched_turn_min() of that turn. A vGPU that has just woken may
 * have work for a moment only. While it has a turn, and until it has used the GPU for the time of a
 * slice, the driver is asked to poll again soon, at intervals that grow.
 *
 * While one vGPU alone can run there are no turns, and another vGPU that wakes gets the chip at
 * once. So a vGPU that sleeps before its turn is as long as the shortest turn, or as four switches,
 * pays for the switch to it. Otherwise a vGPU that wakes again and again, and does next to nothing,
 * would take the time of these switches from the vGPU that works. Else who left the chip pays, as
 * far as it had more than SCHED_FREE_PPM of the GPU by that. Who left pays so in any case if it has
 * a cap, because nobody's time is beyond that.
 */
#include "sched/internal.h"

/* State of the vGPUs that are not suspended. */
struct survey {
	struct kvgpu_sched_ent *next; /* can run and is next, by the rules above, or NULL */
	u32 wants, can_run; /* number of vGPUs that want to run, that can run */
	u64 share; /* sum of the shares of those that can run */
	/* a vGPU is throttled, or sleeps in debt: it must not start when it wakes */
	bool owes;
	bool parked; /* a vGPU has work and is parked */
	u64 release; /* when the first throttled vGPU that wants to run is let go */
};

static bool ent_owes(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	u64 most = vsched_ent_may_front(e) ? vsched_turn_min(s) : 0;

	return e->throttled || (!vsched_ent_wants(s, e) && vsched_clock_ahead(e->vtime, s->vclock) >
								   (s64)vsched_to_clock(e, most));
}

/*
 * Of the vGPUs that can run and are about equal to @behind, returns the one that has waited
 * longest: the first in s->ents, because a vGPU goes to the end when it has the chip without turns,
 * and when a turn of it that had started ends.
 */
static struct kvgpu_sched_ent *longest_waiting(const struct kvgpu_sched *s,
					       struct kvgpu_sched_ent *behind)
{
	u64 half = vsched_turn_min(s) / 2;
	struct kvgpu_sched_ent *e;

	if (s->policy->before)
		return behind;
	list_for_each_entry(e, &s->ents, node)
		if (vsched_ent_can_run(s, e) && e->front == behind->front &&
		    vsched_clock_ahead(e->vtime, behind->vtime) <=
			    (s64)max(vsched_to_clock(e, half), vsched_to_clock(behind, half)))
			return e;
	return behind;
}

static struct survey sched_survey_take(const struct kvgpu_sched *s)
{
	struct survey v = { .release = KVGPU_SCHED_NEVER };
	struct kvgpu_sched_ent *e;

	list_for_each_entry(e, &s->ents, node) {
		if (e->suspended)
			continue;
		v.owes |= ent_owes(s, e);
		v.parked |= e->work && !e->runnable;
		if (!vsched_ent_wants(s, e))
			continue;
		v.wants++;
		if (e->throttled) {
			v.release = min(v.release, vsched_release_time(s, e));
			continue;
		}
		v.can_run++;
		v.share += e->share;
		if (!v.next || vsched_ent_goes_before(s, e, v.next))
			v.next = e;
	}
	if (v.next)
		v.next = longest_waiting(s, v.next);
	return v;
}

/* Has the vGPUs before and after the switch to the turn that ends pay for it. */
static void switch_pay(struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	u64 had = min(s->at - s->turn_start, KVGPU_SCHED_DEBT_MAX);
	bool soon = !vsched_ent_wants(s, e) && had < max(vsched_turn_min(s), 4 * s->switch_ns);

	if (soon)
		vsched_ent_pay(e, s->switch_ns);
	if (s->left && (!soon || s->left->cap < KVGPU_SCHED_CAP_NONE))
		vsched_ent_pay(s->left, s->switch_ns - min(s->switch_ns, s->left_free));
	s->left = e;
	s->left_free = div_u64(had * SCHED_FREE_PPM, min(e->limit.ppm, s->turn_ppm));
}

void vsched_turn_end(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e = s->current_ent;

	vsched_hold_end(s);
	s->current_ent = NULL;
	if (s->started) {
		switch_pay(s, e);
		e->front = false;
		list_move_tail(&e->node, &s->ents);
	}
	vsched_clocks_update(s);
}

static u64 length_by_share(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e, u64 sum)
{
	u64 turn = div64_u64(SCHED_ROUND(s->slice_ns) * e->share, sum);

	return clamp(turn, vsched_turn_min(s), s->slice_ns);
}

static void begin_turn(struct kvgpu_sched *s, const struct survey *v)
{
	u64 turn = (s->policy->turn ?: length_by_share)(s, v->next, v->share);

	s->current_ent = v->next;
	s->turn_start = s->at;
	s->turn_ppm = max(div64_u64((u64)v->next->share * KVGPU_SCHED_PPM, v->share), 1ull);
	s->slice_end = vsched_time_add(s->at, turn);
	s->switch_ns = s->switch_used = 0;
}

/*
 * No vGPU can run; or one can, no other wants to, and none owes. The chip is shared then, with two
 * exceptions. If no vGPU can run, but one owes, the chip gets no list. If a vGPU can run while
 * another one with work is parked, the chip gets only the list of the former.
 */
static void without_turns(struct kvgpu_sched *s, const struct survey *v,
			  struct kvgpu_sched_choice *out)
{
	s->started = false;
	s->left = out->ent = v->next;
	s->left_free = v->next && v->next->cap < KVGPU_SCHED_CAP_NONE ? 0 : KVGPU_SCHED_NEVER;
	/* it does not wait: another one that wakes and is about equal goes before it */
	if (v->next)
		list_move_tail(&v->next->node, &s->ents);
	out->turns = false;
	out->shared = v->wants == v->can_run && !v->owes && !(v->parked && v->next);
	out->until = v->next ? vsched_exhaust_time(s, v->next) : KVGPU_SCHED_NEVER;
	if (!out->shared)
		out->until = min3(out->until, v->release,
				  vsched_time_add(s->at, SCHED_ROUND(s->slice_ns)));
}

/* Returns when s->current_ent may have to give up the chip, or a poll is due, if that is sooner. */
static u64 turn_until(const struct kvgpu_sched *s, const struct survey *v)
{
	const struct kvgpu_sched_ent *e = s->current_ent;
	u64 until = min(vsched_exhaust_time(s, e), v->release), moment = s->slice_ns / 16;

	if (v->can_run > 1)
		until = min(until, s->slice_end);
	else
		until = min(until, vsched_time_add(s->at, SCHED_ROUND(s->slice_ns)));
	if (s->hold_end)
		until = min3(until, s->hold_end, vsched_time_add(s->at, moment));
	else if (e->busy_ns - e->woke_busy < s->slice_ns)
		until = min(until, vsched_time_add(s->at, min(s->at - s->turn_start, moment)));
	return until;
}

static u64 until_not_too_soon(const struct kvgpu_sched *s, u64 until)
{
	if (until == KVGPU_SCHED_NEVER)
		return until;
	return max(until, vsched_time_add(s->at, SCHED_UNTIL_MIN));
}

static void take_turns(struct kvgpu_sched *s, const struct survey *v,
		       const struct kvgpu_sched_ent *was, struct kvgpu_sched_choice *out)
{
	if (!s->current_ent) {
		begin_turn(s, v);
		/* if the vGPU of the last turn is next again, no switch is made */
		s->started &= s->current_ent == was;
		if (v->can_run > 1 && (s->started || s->current_ent != was))
			s->current_ent->slices++;
	}
	out->ent = s->current_ent;
	out->shared = false;
	out->turns = v->can_run > 1;
	out->until = turn_until(s, v);
}

/* Ends what is over: the time for which a vGPU holds the chip, and the turn under way. */
static void end_what_is_over(struct kvgpu_sched *s)
{
	if (s->hold_end && (s->at >= s->hold_end || !vsched_others_can_run(s)))
		vsched_hold_stop(s);
	if (s->current_ent && (!vsched_ent_can_run(s, s->current_ent) || !s->started ||
			       (s->at >= s->slice_end && !s->hold_end)))
		vsched_turn_end(s);
}

void kvgpu_sched_choose(struct kvgpu_sched *s, u64 now, struct kvgpu_sched_choice *out)
{
	struct kvgpu_sched_ent *was = s->current_ent, *e;
	struct survey v;

	vsched_catch_up(s, now);
	/* all use of the GPU up to now is charged */
	list_for_each_entry(e, &s->ents, node) {
		kvgpu_bucket_close(&e->limit);
		kvgpu_bucket_close(&e->wakes);
	}
	end_what_is_over(s);
	v = sched_survey_take(s);
	if (!v.can_run || (v.can_run == 1 && v.wants == 1 && !v.owes)) {
		/* the turn's vGPU may be charged, and then be throttled */
		if (s->current_ent) {
			vsched_turn_end(s);
			v = sched_survey_take(s);
		}
		without_turns(s, &v, out);
	} else {
		take_turns(s, &v, was, out);
	}
	s->nr_runnable = v.wants;
	out->until = until_not_too_soon(s, out->until);
	e = out->shared ? NULL : out->ent;
	/* a vGPU that did not have the chip alone before has time to make progress (vgpu.c) */
	if (e && e != s->alone)
		e->park.since = 0;
	s->alone = e;
}

u64 kvgpu_sched_started(struct kvgpu_sched *s, u64 now)
{
	struct survey v;

	vsched_catch_up(s, now);
	if (!s->current_ent)
		return until_not_too_soon(s, min(vsched_time_add(s->at, SCHED_ROUND(s->slice_ns)),
						 s->alone ? vsched_exhaust_time(s, s->alone) :
							    KVGPU_SCHED_NEVER));
	if (!s->started) {
		s->switch_ns = s->at - s->turn_start;
		s->switch_ns = min(s->switch_ns - min(s->switch_ns, s->switch_used),
				   KVGPU_SCHED_SWITCH_MAX);
		s->slice_end = vsched_time_add(s->at, s->slice_end - s->turn_start);
		s->turn_start = s->at;
		s->started = true;
	}
	v = sched_survey_take(s);
	return until_not_too_soon(s, turn_until(s, &v));
}

u64 kvgpu_sched_turn_end(const struct kvgpu_sched *s)
{
	if (!s->current_ent || !s->started || !vsched_others_can_run(s))
		return KVGPU_SCHED_NEVER;
	return s->slice_end;
}
