// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns: which vGPU is next, and for how long. sched.h defines the words, internal.h the clocks.
 *
 * Of the vGPUs that can run, those at the front (see below) go before all others. Among vGPUs that
 * are all at the front, or all not, the vGPU whose clock vtime is furthest behind is next. If
 * clocks are about equal (within half of the shortest turn of the vGPU with the smaller share), the
 * vGPU with the longest wait is next.
 *
 * A vGPU that wakes goes to the front for one turn if its clock paced is behind pace by half of
 * lead_v or more. Work on the GPU brings paced closer to pace, and time puts it behind again, in
 * proportion to the vGPU's share.
 *
 * The length of a turn is in proportion to the vGPU's part of the shares of all vGPUs that can run,
 * so that a round stays short. It is vsched_turn_min() at least, and a slice at most.
 *
 * A vGPU that wakes, or is no longer throttled, ends the turn under way early if it goes before the
 * vGPU on the chip. vsched_turn_cut() has limits, so that no vGPU forces switches all the time. A
 * vGPU that has just woken may have work for a moment only. While it has a turn, and until it has
 * used the GPU for the time of a slice, the driver is asked to poll again soon, at intervals that
 * grow up to vsched_moment().
 *
 * A vGPU that runs out of work in its turn may linger (ent_lingers()), if its last pause was
 * short. That helps a client that waits for each of its jobs. If no work comes while it lingers, it
 * does not linger the next SCHED_IN_VAIN times.
 *
 * A vGPU may leave the chip idle in its turn, for example while its channel waits for a semaphore.
 * For the part of this idle time in which other vGPUs could have run, it is charged as if it had
 * used the chip. Otherwise it would stay furthest behind and be next again, and a vGPU that works
 * for a moment now and then, and so is not parked (park.c), would keep the chip beyond its cap.
 * Idle time in which no other vGPU could have run is free: otherwise another vGPU, by waking for a
 * moment, could have the vGPU on the chip charged for its whole turn.
 *
 * The limits of vsched_turn_cut() hold in turns. While one vGPU alone can run there are no turns,
 * and another vGPU that wakes gets a turn at once. So a vGPU that sleeps before its turn is as long
 * as the shortest turn pays for switches, as if they were idle time (short_turn_price()). Otherwise
 * a vGPU that wakes again and again, and does next to nothing, would take the time of these
 * switches from the vGPU that works.
 */
#include "sched/internal.h"

/* State of the vGPUs that are not suspended. */
struct survey {
	struct kvgpu_sched_ent *next; /* can run and is next, by the rules above, or NULL */
	u32 can_run, share; /* number of vGPUs that can run; sum of their shares */
	/* a vGPU is throttled, or sleeps with a vtime more than its lead_v ahead of vclock */
	bool throttled;
	bool parked; /* a vGPU has work and is parked */
	u64 release; /* when the first throttled vGPU that wants to run is let go */
};

static bool ent_owes(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	return e->throttled ||
	       (!vsched_ent_wants(e) && vsched_clock_ahead(e->vtime, s->vclock + e->lead_v) > 0);
}

/*
 * Of the vGPUs that can run and are about equal to @behind, returns the one that has waited
 * longest: the first in s->ents, because a vGPU goes to the end when a turn of it that had started
 * ends.
 */
static struct kvgpu_sched_ent *longest_waiting(const struct kvgpu_sched *s,
					       struct kvgpu_sched_ent *behind)
{
	struct kvgpu_sched_ent *e;

	list_for_each_entry(e, &s->ents, node)
		if (vsched_ent_can_run(e) && e->front == behind->front &&
		    vsched_clock_ahead(e->vtime, behind->vtime) <=
			    (s64)max(e->near_v, behind->near_v))
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
		v.throttled |= ent_owes(s, e);
		v.parked |= e->parked && e->work;
		if (!vsched_ent_wants(e))
			continue;
		if (!vsched_ent_can_run(e)) {
			v.release = min(v.release, vsched_release_time(s, e));
			continue;
		}
		v.can_run++;
		v.share += e->share;
		if (!v.next || vsched_ent_goes_before(e, v.next))
			v.next = e;
	}
	if (v.next)
		v.next = longest_waiting(s, v.next);
	return v;
}

/*
 * Returns the price of the turn's switches, ns. If one other vGPU can run, that vGPU lost the chip
 * for the turn: there is a switch to the turn and one back. If more can run, the next switch is to
 * a turn of one of these.
 */
static u64 short_turn_price(const struct kvgpu_sched *s)
{
	u64 least = vsched_turn_min(s), length = s->at - s->turn_start;
	u64 price = min(s->switch_ns, least);
	u32 others = vsched_others_can_run(s);

	if (vsched_ent_wants(s->current_ent) || length >= least || !others)
		return 0;
	return div64_u64(price * (others > 1 ? 1 : 2) * (least - length), least);
}

void vsched_turn_end(struct kvgpu_sched *s)
{
	if (s->started) {
		vsched_ent_pay(s->current_ent, s->wanted_ns - min(s->wanted_ns, s->wanted_used) +
						       short_turn_price(s));
		s->current_ent->front = false;
		list_move_tail(&s->current_ent->node, &s->ents);
	}
	s->current_ent = NULL;
	vsched_clocks_settle(s);
}

static void begin_turn(struct kvgpu_sched *s, const struct survey *v)
{
	u64 turn = div_u64(SCHED_ROUND(s->slice_ns) * v->next->share, v->share);

	turn = min(max(turn, vsched_turn_min(s)), s->slice_ns);
	s->current_ent = v->next;
	s->turn_start = s->at;
	s->slice_end = vsched_time_add(s->at, turn);
	s->turn_used = s->wanted_ns = s->wanted_used = s->switch_ns = 0;
}

/*
 * No vGPU can run; or one can, no other wants to, and none is throttled. The chip is shared then,
 * with two exceptions. If no vGPU can run, but one is throttled, the chip gets no list. If a vGPU
 * can run while another one with work is parked, the chip gets only the list of the former.
 */
static void without_turns(struct kvgpu_sched *s, const struct survey *v,
			  struct kvgpu_sched_choice *out)
{
	s->started = false;
	out->ent = v->next;
	out->shared = s->nr_runnable == v->can_run && !v->throttled && !(v->parked && v->next);
	out->until = v->next ? vsched_exhaust_time(s, v->next) : KVGPU_SCHED_NEVER;
	if (!out->shared)
		out->until = min3(out->until, v->release,
				  vsched_time_add(s->at, SCHED_ROUND(s->slice_ns)));
}

/* Returns when s->current_ent may have to give up the chip, or a poll is due, if that is sooner. */
static u64 turn_until(const struct kvgpu_sched *s, const struct survey *v)
{
	const struct kvgpu_sched_ent *e = s->current_ent;
	u64 until = min(vsched_exhaust_time(s, e), v->release);

	if (v->can_run > 1)
		until = min(until, s->slice_end);
	else
		until = min(until, vsched_time_add(s->at, SCHED_ROUND(s->slice_ns)));
	if (e->lingers)
		until = min(until, s->linger_end);
	else if (e->busy_ns - e->woke_busy < s->slice_ns)
		until = min(until,
			    vsched_time_add(s->at, min(s->at - s->turn_start, vsched_moment(s))));
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
	out->until = turn_until(s, v);
}

void kvgpu_sched_choose(struct kvgpu_sched *s, u64 now, struct kvgpu_sched_choice *out)
{
	struct kvgpu_sched_ent *was = s->current_ent, *alone;
	struct survey v;

	vsched_clock_tick(s, now);
	vsched_budgets_close(s);
	vsched_clocks_settle(s);
	if (was && was->lingers &&
	    (s->at >= min(s->linger_end, s->slice_end) || !vsched_ent_can_run(was) ||
	     !vsched_others_can_run(s)))
		vsched_linger_end(s, was);
	if (s->current_ent && (!vsched_ent_can_run(was) || !s->started || s->at >= s->slice_end))
		vsched_turn_end(s);
	v = sched_survey_take(s);
	if (!v.can_run || (v.can_run == 1 && s->nr_runnable == 1 && !v.throttled)) {
		/* the turn's vGPU may be charged for idle time, and then be throttled */
		if (s->current_ent) {
			vsched_turn_end(s);
			v = sched_survey_take(s);
		}
		without_turns(s, &v, out);
	} else {
		take_turns(s, &v, was, out);
	}
	out->until = until_not_too_soon(s, out->until);
	alone = out->shared ? NULL : out->ent;
	/* a vGPU that did not have the chip alone before has time to make progress (park.c) */
	if (alone && alone != s->alone)
		alone->idle = false;
	s->alone = alone;
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
		s->switch_ns -= min(s->switch_ns, s->turn_used);
		s->slice_end = vsched_time_add(s->at, s->slice_end - s->turn_start);
		s->turn_start = s->at;
		s->turn_used = s->wanted_ns = s->wanted_used = 0;
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
