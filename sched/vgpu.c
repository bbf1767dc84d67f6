// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which vGPUs are present, and which want to run: those that have work and are not parked, and the
 * one that holds the chip.
 *
 * *Parked.* A vGPU that has the chip alone, has work, and makes no progress waits for a semaphore,
 * as far as the driver can tell. For a while it is not runnable, so that the chip does not idle for
 * it. This time doubles each time that the vGPU is parked, up to PARK_MAX_NS. When the vGPU makes
 * progress, it is not parked any more, and the time starts again at PARK_MIN_NS. A vGPU is not
 * parked while no other vGPU could use the chip. The time for which the vGPU was idle decides, not
 * the number of polls, which another vGPU can cause.
 *
 * *Holds.* A vGPU whose work ends in its turn keeps the chip for a moment if its last pause was
 * short, it goes before all others, and the buckets of holds allow that. Without it a client that
 * waits for each of its jobs would have next to nothing beside long work that can't be interrupted.
 * It pays for the time for which it has the chip as for any other.
 */
#include <linux/string.h>

#include "sched/internal.h"

/* A vGPU is parked if it has had the chip alone, and made no progress, for this long, ns. */
#define IDLE_NS	    500000u
#define PARK_MIN_NS 2000000ull
#define PARK_MAX_NS 32000000ull

void kvgpu_sched_init(struct kvgpu_sched *s)
{
	*s = (struct kvgpu_sched){
		.policy = &kvgpu_sched_policies[KVGPU_SCHED_BEST_EFFORT],
		.slice_ns = KVGPU_SCHED_SLICE_DEFAULT,
		.hold = { .left = SCHED_HOLD_NS * KVGPU_BUCKET_NS,
			  .depth = SCHED_HOLD_NS * KVGPU_BUCKET_NS,
			  .ppm = SCHED_HOLD_PPM },
	};
	INIT_LIST_HEAD(&s->ents);
}

void kvgpu_sched_add(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now)
{
	vsched_catch_up(s, now);
	*e = (struct kvgpu_sched_ent){
		.weight = clamp(e->weight, KVGPU_SCHED_WEIGHT_MIN, KVGPU_SCHED_WEIGHT_MAX),
		.cap = clamp(e->cap, 1u, KVGPU_SCHED_CAP_NONE),
		.fixed_ppm = clamp(e->fixed_ppm, 1u, KVGPU_SCHED_PPM),
		.vtime = s->vclock,
		/* no debt */
		.limit.left = 1ll << 60,
		.wakes.left = 1ll << 60,
		.hold.left = 1ll << 60,
	};
	list_add_tail(&e->node, &s->ents);
	s->nr_ents++;
	vsched_knobs_apply(s);
}

void kvgpu_sched_remove(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now)
{
	vsched_catch_up(s, now);
	if (s->current_ent == e) {
		vsched_hold_stop(s);
		s->current_ent = NULL;
	}
	if (s->alone == e)
		s->alone = NULL;
	if (s->left == e)
		s->left = NULL;
	s->nr_ents--;
	list_del_init(&e->node);
	e->runnable = false;
	vsched_knobs_apply(s);
}

/* ------------------------------------------------------------------ wake, sleep, hold the chip */

/* @e wanted to run if @before: notes that it has woken or sleeps, if that has changed. */
static void wish_note(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool before)
{
	if (vsched_ent_wants(s, e) == before)
		return;
	e->front = false;
	if (before && s->current_ent == e)
		vsched_turn_end(s);
	vsched_clocks_update(s);
	if (before)
		return;
	e->woke_busy = e->busy_ns;
	e->front = vsched_ent_may_front(e);
	if (vsched_ent_can_run(s, e))
		vsched_turn_cut(s, e);
}

void vsched_hold_stop(struct kvgpu_sched *s)
{
	if (!s->hold_end)
		return;
	vsched_hold_end(s);
	wish_note(s, s->current_ent, !s->current_ent->suspended);
}

/* Returns for how many ns @e may hold the chip: others that pause keep their parts. */
static u64 hold_left(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	const struct kvgpu_sched_ent *o;
	s64 left = s->hold.left;

	list_for_each_entry(o, &s->ents, node)
		if (o != e && o->quick)
			left -= max(o->hold.left, (s64)0);
	return min(div_u64(max(left, (s64)0), KVGPU_BUCKET_NS), SCHED_HOLD_MAX(s));
}

/* Tells whether @e, which is not runnable any more, holds the chip: not if it was parked. */
static bool ent_holds(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	const struct kvgpu_sched_ent *o;

	if (s->current_ent != e || !s->started || !e->quick || e->work || e->suspended ||
	    e->throttled || !hold_left(s, e) || !vsched_others_can_run(s))
		return false;
	list_for_each_entry(o, &s->ents, node)
		if (o != e && vsched_ent_can_run(s, o) && vsched_ent_goes_before(s, o, e))
			return false;
	return true;
}

void vsched_runnable_set(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool runnable, u64 now)
{
	bool before;

	if (runnable == e->runnable)
		return;
	vsched_catch_up(s, now);
	before = vsched_ent_wants(s, e);
	e->runnable = runnable;
	if (runnable)
		e->quick = e->slept_at && s->at - e->slept_at < s->slice_ns / 2;
	else
		e->slept_at = s->at;
	if (s->hold_end && s->current_ent == e)
		vsched_hold_stop(s);
	else if (!runnable && ent_holds(s, e))
		s->hold_end = vsched_time_add(s->at, hold_left(s, e));
	wish_note(s, e, before);
}

void kvgpu_sched_set_suspended(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool suspended,
			       u64 now)
{
	bool before;

	vsched_catch_up(s, now);
	before = vsched_ent_wants(s, e);
	e->suspended = suspended;
	wish_note(s, e, before);
}

/* ------------------------------------------------------------------ polls; park a vGPU */

void kvgpu_sched_note(struct kvgpu_sched_ent *e, bool work, bool progress)
{
	e->work = work;
	if (progress)
		memset(&e->park, 0, sizeof(e->park));
}

static bool ent_competes(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	return e->work && s->at >= e->park.until;
}

/* Tells whether @e has work and is neither parked nor throttled nor suspended. */
static bool ent_misses_chip(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	return ent_competes(s, e) && !e->throttled && !e->suspended;
}

/* Decides whether @e is parked. @others: number of other vGPUs that miss the chip. */
static void vgpu_park(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 others)
{
	if (!others)
		e->park.until = 0;
	if (!others || !e->work || s->alone != e)
		e->park.since = 0;
	else if (!e->park.since)
		e->park.since = s->at;
	if (!e->park.since || s->at - e->park.since < IDLE_NS)
		return;
	e->park.since = 0;
	e->park.ns = clamp(e->park.ns * 2, PARK_MIN_NS, PARK_MAX_NS);
	e->park.until = vsched_time_add(s->at, e->park.ns);
}

void kvgpu_sched_polled(struct kvgpu_sched *s, u64 now)
{
	struct kvgpu_sched_ent *e, *next;
	u32 missing = 0;

	vsched_catch_up(s, now);
	list_for_each_entry(e, &s->ents, node)
		missing += ent_misses_chip(s, e);
	list_for_each_entry(e, &s->ents, node)
		vgpu_park(s, e, missing - ent_misses_chip(s, e));
	/*
	 * vsched_runnable_set() may end a turn, and so move a vGPU to the end of s->ents. The loop
	 * may meet that vGPU a second time, and changes nothing then.
	 */
	list_for_each_entry_safe(e, next, &s->ents, node)
		vsched_runnable_set(s, e, ent_competes(s, e), now);
}
