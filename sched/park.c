// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides from what the driver's polls found which vGPUs are runnable: those that have work and are
 * not parked. A vGPU that has the chip alone, has work, and makes no progress waits for a
 * semaphore, as far as the driver can tell. It is *parked*: for a while it is not runnable, so that
 * the chip does not idle for it. This time doubles each time that the vGPU is parked, up to
 * PARK_MAX_NS. When the vGPU makes progress, it is not parked any more, and the time starts again
 * at PARK_MIN_NS. A vGPU is not parked while no other vGPU could use the chip. The time for which
 * the vGPU was idle decides, not the number of polls, which another vGPU can cause.
 */
#include "sched/internal.h"

/* A vGPU is parked if it has had the chip alone, and made no progress, for this long, ns. */
#define IDLE_NS	    500000u
#define PARK_MIN_NS 2000000ull
#define PARK_MAX_NS 32000000ull

void kvgpu_sched_note(struct kvgpu_sched_ent *e, bool work, bool progress)
{
	e->work = work;
	e->progress = progress;
}

static bool ent_competes(const struct kvgpu_sched_ent *e)
{
	return e->work && !e->parked;
}

/* Tells whether @e has work and is neither parked nor throttled nor suspended. */
static bool ent_misses_chip(const struct kvgpu_sched_ent *e)
{
	return ent_competes(e) && !e->throttled && !e->suspended;
}

/* Decides whether @e is parked. @others: number of other vGPUs that miss the chip. */
static void vgpu_park(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 others)
{
	if (e->progress) {
		e->idle = false;
		e->park_ns = 0;
		e->parked = false;
		return;
	}
	if (e->parked)
		e->parked = others && s->at < e->parked_until;
	if (s->alone != e || !e->work || !others) {
		e->idle = false;
		return;
	}
	if (!e->idle)
		e->idle_since = s->at;
	e->idle = true;
	if (s->at - e->idle_since < IDLE_NS)
		return;
	e->idle = false;
	e->park_ns = min(max(e->park_ns * 2, PARK_MIN_NS), PARK_MAX_NS);
	e->parked_until = vsched_time_add(s->at, e->park_ns);
	e->parked = true;
}

void kvgpu_sched_polled(struct kvgpu_sched *s, u64 now)
{
	struct kvgpu_sched_ent *e, *next;
	u32 missing = 0;

	vsched_catch_up(s, now);
	list_for_each_entry(e, &s->ents, node)
		missing += ent_misses_chip(e);
	list_for_each_entry(e, &s->ents, node)
		vgpu_park(s, e, missing - ent_misses_chip(e));
	/*
	 * vsched_runnable_set() may end a turn, and so move a vGPU to the end of s->ents. The loop
	 * may meet that vGPU a second time, and changes nothing then.
	 */
	list_for_each_entry_safe(e, next, &s->ents, node)
		vsched_runnable_set(s, e, ent_competes(e), now);
}
