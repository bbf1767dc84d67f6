// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns. The one whose clock is furthest behind is next; of those that are about as far behind (by
 * half of the shortest turn of the lighter), who has waited longest, or the order of each round
 * would be another, and a vGPU be first in one and last in the next. Before them, for one turn,
 * come those that have just woken and have half of their start still to use by the other clock,
 * pace: that fills again at the pace of their share, so whoever comes often to the front gets no
 * more than that by it.
 *
 * Each turn has a length in proportion to the share that its vGPU has of those that compete, so
 * that a round of all stays short, and a few ms of it more or less are few for everybody; but no
 * turn is longer than a slice, or so short that switching would be what the GPU mostly does. For
 * one that wakes, or is no longer held back, and is next, the turn under way ends early, but not
 * before sched_turn_min(), and not for the same one twice in a slice, so that nobody can make
 * others switch all the time. As it may have work for a moment only, the driver is asked to look
 * soon again whether it has more, and again a bit later, until it has used a slice.
 *
 * One that has run out of work in its turn, of which it has used the most so far, and lately was
 * back soon, keeps the chip for a moment if the next is ahead of it: a client that waits for each
 * of its jobs would else lose most of its turns. If that was in vain, it does not the next few
 * times.
 *
 * Who has the GPU alone and leaves it idle (a channel that waits for a semaphore) pays for the time
 * as if it had used it, or it would stay the furthest behind and be next again. A moment is free
 * now and then: the driver learns late that somebody has no work.
 */
#include "sched/internal.h"

struct survey {
	/* of equal ones, who has waited longest: the list is in the order of last turns */
	struct kvgpu_sched_ent *next;
	u32 can_run;
	u32 share;			/* of them together */
	/* somebody, awake or asleep, is held back or owes more than a short turn */
	bool held;
	u64 release;			/* when somebody that wants to run is let go */
};

static bool owes(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	return e->cap_out || e->share_out ||
	       (s->policy == KVGPU_SCHED_BEST_EFFORT && !sched_wants(e) &&
		sched_ahead(e->vtime, s->vclock + e->lead_v) > 0);
}

/* the list is in the order of their last turns */
static struct kvgpu_sched_ent *longest_waiting(const struct kvgpu_sched *s,
					       struct kvgpu_sched_ent *behind)
{
	struct kvgpu_sched_ent *e;

	list_for_each_entry(e, &s->ents, node)
		if (sched_can_run(e) && e->front == behind->front &&
		    sched_ahead(e->vtime, behind->vtime) <= (s64)max(e->near_v, behind->near_v))
			return e;
	return behind;
}

static struct survey look(const struct kvgpu_sched *s)
{
	struct survey v = { .release = KVGPU_SCHED_NEVER };
	struct kvgpu_sched_ent *e;

	list_for_each_entry(e, &s->ents, node) {
		if (e->suspended)
			continue;
		v.held |= owes(s, e);
		if (!sched_wants(e))
			continue;
		if (!sched_can_run(e)) {
			v.release = min(v.release, sched_release(s, e));
			continue;
		}
		v.can_run++;
		v.share += e->share;
		if (!v.next || sched_goes_before(e, v.next))
			v.next = e;
	}
	if (v.next)
		v.next = longest_waiting(s, v.next);
	return v;
}

static bool others_can_run(const struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e;

	list_for_each_entry(e, &s->ents, node)
		if (e != s->current_ent && sched_can_run(e))
			return true;
	return false;
}

static void pay_for_idling(struct kvgpu_sched *s)
{
	struct kvgpu_sched_ent *e = s->current_ent;
	u64 had = min(s->at, s->slice_end) - s->turn_start, idle;

	if (!s->started || had <= s->turn_used || !others_can_run(s))
		return;
	idle = had - s->turn_used;
	if (s->at >= e->free_next) {
		e->free_next = sched_later(s->at, 2 * s->slice_ns);
		idle -= min(idle, sched_moment(s));
	}
	sched_pay(e, idle);
}

void sched_end_turn(struct kvgpu_sched *s)
{
	if (!s->current_ent)
		return;
	pay_for_idling(s);
	if (s->started) {
		s->current_ent->front = false;
		list_move_tail(&s->current_ent->node, &s->ents);
	}
	s->current_ent = NULL;
	sched_settle(s);
}

/*
 * What its last turn was too long or too short, the next one is to be shorter or longer, so that
 * all gain the same in a round and keep their places in it. More than half is left to the clocks: a
 * shortest turn may be late by the quarter that a piece of work takes, and a vGPU that gains a bit
 * in each round loses its place in it, and with it most of a turn in some window.
 */
static u64 even_out(struct kvgpu_sched_ent *e, u64 turn)
{
	s64 most = turn / 2, over = 0;

	if (e->turn_ns)
		over = e->turn_over + (s64)(e->busy_ns - e->turn_busy) - (s64)e->turn_ns;
	e->turn_over = max(min(over, most), -most);
	e->turn_ns = turn;
	e->turn_busy = e->busy_ns;
	return turn - e->turn_over;
}

static void begin_turn(struct kvgpu_sched *s, const struct survey *v)
{
	u64 turn = div_u64(SCHED_ROUND(s->slice_ns) * v->next->share, v->share);

	turn = min(max(turn, sched_turn_min(s)), s->slice_ns);
	if (v->can_run > 1)
		turn = even_out(v->next, turn);
	s->current_ent = v->next;
	s->turn_start = s->at;
	s->slice_end = sched_later(s->at, turn);
	s->turn_used = 0;
}

/*
 * nobody has to share: all lists, or none. Only while a debt is being paid off are the lists of
 * those that sleep kept away
 */
static void without_turns(struct kvgpu_sched *s, const struct survey *v,
			  struct kvgpu_sched_choice *out)
{
	s->started = false;
	out->ent = v->next;
	out->open = s->nr_runnable == v->can_run && !v->held;
	out->until = v->next ? sched_exhausted(s, v->next) : KVGPU_SCHED_NEVER;
	if (!out->open)
		out->until =
			min3(out->until, v->release, sched_later(s->at, SCHED_ROUND(s->slice_ns)));
}

/* for how long what current_ent may do stays as it is */
static u64 turn_until(const struct kvgpu_sched *s, const struct survey *v)
{
	const struct kvgpu_sched_ent *e = s->current_ent;
	u64 until = min(sched_exhausted(s, e), v->release);

	if (v->can_run > 1)
		until = min(until, s->slice_end);
	else
		until = min(until, sched_later(s->at, SCHED_ROUND(s->slice_ns)));
	if (e->lingers)
		until = min(until, s->linger_end);
	else if (e->busy_ns - e->woke_busy < s->slice_ns)
		until = min(until, sched_later(s->at, min(s->at - s->turn_start, sched_moment(s))));
	return until;
}

static u64 not_too_soon(const struct kvgpu_sched *s, u64 until)
{
	return until == KVGPU_SCHED_NEVER ? until : max(until, sched_later(s->at, SCHED_UNTIL_MIN));
}

static void take_turns(struct kvgpu_sched *s, const struct survey *v,
		       const struct kvgpu_sched_ent *was, struct kvgpu_sched_choice *out)
{
	if (!s->current_ent) {
		begin_turn(s, v);
		/* the same one goes on: there is no switch to wait for */
		s->started &= s->current_ent == was;
		if (v->can_run > 1 && (s->started || s->current_ent != was))
			s->current_ent->slices++;
	}
	out->ent = s->current_ent;
	out->open = false;
	out->until = turn_until(s, v);
}

void kvgpu_sched_choose(struct kvgpu_sched *s, u64 now, struct kvgpu_sched_choice *out)
{
	struct kvgpu_sched_ent *was = s->current_ent;
	struct survey v;

	sched_tick(s, now);
	sched_close(s);
	sched_settle(s);
	if (was && was->lingers &&
	    (s->at >= min(s->linger_end, s->slice_end) || !sched_can_run(was) ||
	     !others_can_run(s)))
		sched_leave(s, was);
	if (s->current_ent && (!sched_can_run(was) || !s->started || s->at >= s->slice_end))
		sched_end_turn(s);
	v = look(s);
	if (!v.can_run || (v.can_run == 1 && s->nr_runnable == 1 && !v.held)) {
		sched_end_turn(s);
		without_turns(s, &v, out);
	} else {
		take_turns(s, &v, was, out);
	}
	out->until = not_too_soon(s, out->until);
}

u64 kvgpu_sched_started(struct kvgpu_sched *s, u64 now)
{
	struct survey v;

	sched_tick(s, now);
	sched_settle(s);
	if (!s->current_ent)
		return not_too_soon(s, sched_later(s->at, SCHED_ROUND(s->slice_ns)));
	if (!s->started) {
		s->slice_end = sched_later(s->at, s->slice_end - s->turn_start);
		s->turn_start = s->at;
		s->turn_used = 0;
		s->started = true;
	}
	v = look(s);
	return not_too_soon(s, turn_until(s, &v));
}
