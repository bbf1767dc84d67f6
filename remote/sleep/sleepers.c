// SPDX-License-Identifier: MIT
#include "sleepers.h"

#include <stddef.h>

/* an order is late when it has taken longer than any that was seen to end well */
static bool is_late(const struct sleeper *r, uint64_t now)
{
	return now >
	       r->ordered_ms + SLEEPERS_LATE_MS + (r->bytes >> 30) * (uint64_t)SLEEPERS_LATE_GIB_MS;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void sleepers_refuse(struct sleeper *r, uint32_t why, uint64_t now)
{
	r->state = SLEEPER_AWAKE;
	r->why = why;
	r->asked = false;
	r->chosen_ms = 0;
	r->refused_ms = now;
	if (!r->owes)
		r->bytes = 0;
}

uint64_t sleepers_bytes(const struct sleepers *t)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < t->nr_rows; i++)
		sum += t->rows[i]->bytes;
	return sum;
}

/* ------------------------------------------------------------------ what has happened */

/* readings from before count no more for the GPUs that the client needs */
static void note_change(struct sleepers *t, const struct sleeper *r, uint64_t now)
{
	uint32_t g;

	for (g = 0; g < SLEEP_GPUS; g++)
		if (r->needs[g])
			t->gpus[g].changed_ms = later(t->gpus[g].changed_ms, now);
}

void sleepers_leave(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	uint32_t g;

	for (g = 0; g < SLEEP_GPUS; g++)
		r->needs[g] |= r->uses[g];
	note_change(t, r, now);
	*r = (struct sleeper){ 0 };
}

static void fall_asleep(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	uint32_t g;

	r->state = SLEEPER_ASLEEP;
	r->asked = r->called = r->owes = r->moves = false;
	r->target = 0;
	r->headed_ms = 0;
	r->why = SLEEP_FINE;
	r->sleeps++;
	note_change(t, r, now);
	for (g = 0; g < SLEEP_GPUS; g++)
		if (r->needs[g])
			t->gpus[g].slept_ms = now;
}

/* Others may have waited for this wake: the next one is so much later, in its time. */
static void end_wake(struct sleepers *t, struct sleeper *r, uint64_t times, uint64_t now)
{
	note_change(t, r, now);
	if (r->state == SLEEPER_WAKING)
		r->apart_ms = now + least(SLEEPERS_APART_MS, times * (now - r->ordered_ms));
}

static void wake_up(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	end_wake(t, r, SLEEPERS_APART, now);
	r->state = SLEEPER_AWAKE;
	r->asked = r->called = r->moves = false;
	r->target = 0;
	r->why = SLEEP_FINE;
	r->bytes = 0;
	r->awake_ms = r->frame_ms = now;
}

static void stand_in_line(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	if (r->state != SLEEPER_WAKING)
		r->wished_ms = now;
	r->state = SLEEPER_WAITS;
	r->place = ++t->places;
}

static void see_awake(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	if (r->owes && r->seen.state >= SLEEP_ASLEEP) {
		fall_asleep(t, r, now);
		return;
	}
	if (r->owes && r->seen.done) {
		r->owes = false;
		r->bytes = 0;
	}
	/* one that sleeps without an order lies, and has what it says about it */
	r->state = r->seen.state == SLEEP_CANNOT ? SLEEPER_CANNOT : SLEEPER_AWAKE;
	if (r->state == SLEEPER_CANNOT)
		r->asked = false;
}

static void see_going(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	r->slow = now > r->ordered_ms + SLEEPERS_SLOW_MS + (r->bytes >> 30) * SLEEPERS_SLOW_GIB_MS;
	if (r->seen.state >= SLEEP_ASLEEP) {
		fall_asleep(t, r, now);
	} else if (r->seen.done) {
		sleepers_refuse(r, r->seen.refusal ?: SLEEP_LIBRARY, now);
	} else if (is_late(r, now)) {
		r->owes = true;
		sleepers_refuse(r, WHY_LATE, now);
	}
}

static void see_asleep(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	if (r->seen.state < SLEEP_ASLEEP)
		wake_up(t, r, now);
	else if (r->state == SLEEPER_ASLEEP && r->seen.state == SLEEP_WAITS && r->seen.wishes)
		stand_in_line(t, r, now);
	else if (r->state == SLEEPER_WAITS && r->seen.state == SLEEP_ASLEEP)
		r->state = SLEEPER_ASLEEP;
	if (r->state != SLEEPER_WAKING || !r->seen.wishes)
		return;
	end_wake(t, r, SLEEPERS_APART_FAILED, now);
	r->apart_ms = later(r->apart_ms, now + SLEEPERS_FAILED_MS);
	stand_in_line(t, r, now);
}

static void see(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	r->does = SLEEPER_NOTHING;
	r->answer = SLEEPER_NO_ANSWER;
	r->ahead = 0;
	if (r->seen.calls != r->calls || !r->frame_ms)
		r->frame_ms = now;
	r->calls = r->seen.calls;
	if (!r->seen.lacks)
		r->lacked_ms = 0;
	else if (!r->lacked_ms)
		r->lacked_ms = now;
	switch (r->state) {
	case SLEEPER_CANNOT:
	case SLEEPER_AWAKE:
		see_awake(t, r, now);
		break;
	case SLEEPER_GOING:
		see_going(t, r, now);
		break;
	case SLEEPER_ASLEEP:
	case SLEEPER_WAITS:
	case SLEEPER_WAKING:
		see_asleep(t, r, now);
		break;
	}
}

/* ------------------------------------------------------------------ what is there */

/* whether all GPUs were read lately, and later than @since; if not, a reading is wanted */
static bool is_read(struct sleepers *t, uint64_t since, uint64_t now)
{
	uint32_t g;

	t->wants_reading = true;
	for (g = 0; g < t->nr_gpus; g++)
		if (t->gpus[g].read_ms <= since || t->gpus[g].read_ms + SLEEPERS_READING_MS < now)
			return false;
	return t->nr_gpus && !t->blind;
}

/* whether a reading knows on which GPUs the client is */
static bool is_listed(const struct sleepers *t, const struct sleeper *r)
{
	uint32_t g;

	for (g = 0; g < t->nr_gpus; g++)
		if (r->uses[g])
			return true;
	return false;
}

/*
 * What the client takes of that GPU. One that no reading lists, as those in another container, is
 * on GPU 0, with what it is charged and a context.
 */
static uint64_t takes_of(const struct sleepers *t, const struct sleeper *r, uint32_t g)
{
	uint64_t uses = r->uses[g], used = t->gpus[g].total - t->gpus[g].free;

	if (!uses && !g && r->seen.charged && !is_listed(t, r))
		uses = SLEEPERS_UNKNOWN;
	if (uses == SLEEPERS_UNKNOWN)
		uses = least(r->seen.charged, r->limit ?: SLEEPERS_MOST) + SLEEPERS_CONTEXT;
	return least(uses, used);
}

/*
 * A Restore without room may fail for ever, and what others take meanwhile is not known, so more
 * than what the client had has to be free; for a small one not that much more. What was free beside
 * it is enough in any case: a client that filled its GPU can wake there.
 */
static void note_needs(const struct sleepers *t, struct sleeper *r)
{
	uint64_t takes, spare;
	uint32_t g;

	r->bytes = 0;
	for (g = 0; g < SLEEP_GPUS; g++) {
		takes = g < t->nr_gpus ? takes_of(t, r, g) : 0;
		spare = least(least(SLEEPERS_SPARE, takes / 8), t->gpus[g].free);
		r->needs[g] = takes ? takes + spare : 0;
		r->bytes += takes;
	}
	r->listed = is_listed(t, r);
}

static bool share_gpu(const struct sleeper *r, const struct sleeper *other)
{
	uint32_t g;

	for (g = 0; g < SLEEP_GPUS; g++)
		if (r->needs[g] && other->needs[g])
			return true;
	return false;
}

/* ------------------------------------------------------------------ to sleep */

/* A reading from later says what it has; the order, that it sleeps with no more than it has now. */
static void choose(struct sleeper *r, uint64_t now)
{
	r->chosen_ms = now;
	r->charged = r->seen.charged;
}

/* Order it, unless that is refused. The GPUs were read. */
static void suspend(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	note_needs(t, r);
	if (sleepers_bytes(t) > t->memory) {
		sleepers_refuse(r, WHY_MEMORY, now);
		return;
	}
	r->does = SLEEPER_SUSPEND;
	r->chosen_ms = 0;
	r->state = SLEEPER_GOING;
	r->why = SLEEP_FINE;
	r->ordered_ms = now;
}

static bool has_work(const struct sleeper *r, uint64_t now)
{
	return r->seen.works || r->seen.lacks || now < r->frame_ms + SLEEPERS_WORK_MS;
}

static bool was_refused(const struct sleeper *r, uint64_t now)
{
	return r->refused_ms && now < r->refused_ms + SLEEPERS_REFUSED_MS;
}

static void suspend_who_should(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	uint64_t since = later(r->frame_ms, r->awake_ms);
	bool idle = r->idle_ms && now >= since + r->idle_ms && !has_work(r, now) &&
		    !was_refused(r, now);

	/* an allocation that waits for its answer keeps the process from sleeping */
	if (r->state != SLEEPER_AWAKE || r->owes || r->seen.lacks ||
	    (!r->asked && has_work(r, now)))
		r->chosen_ms = 0;
	else if (!r->chosen_ms && (r->asked || idle))
		choose(r, now);
	if (!r->chosen_ms)
		return;
	if (is_read(t, r->chosen_ms + SLEEPERS_FRESH_MS, now))
		suspend(t, r, now);
	else if (t->blind)
		sleepers_refuse(r, WHY_METER, now);
}

/* when the client may be put to sleep for others; UINT64_MAX: not as things are */
static uint64_t may_sleep_at(const struct sleeper *r, uint64_t now)
{
	uint64_t hold = r->awake_ms ? r->awake_ms + later(SLEEPERS_HOLD_MS, r->idle_ms) : 0;

	if (!r->present || r->state != SLEEPER_AWAKE || r->owes || r->seen.lacks ||
	    was_refused(r, now))
		return UINT64_MAX;
	return has_work(r, now) ? later(hold, now + 1) : hold;
}

/*
 * Whether another one than @r was chosen or ordered, and frees memory of these GPUs, a bit each.
 * One that is slow to answer is not waited for.
 */
static bool one_is_going(const struct sleepers *t, const struct sleeper *r, uint32_t gpus)
{
	const struct sleeper *other;
	uint32_t i, g;

	for (i = 0; i < t->nr_rows; i++) {
		other = t->rows[i];
		if (!other->present || other == r ||
		    ((other->state != SLEEPER_GOING || other->slow) && !other->chosen_ms))
			continue;
		for (g = 0; g < t->nr_gpus; g++)
			if (gpus & 1u << g &&
			    (other->chosen_ms ? takes_of(t, other, g) : other->needs[g]))
				return true;
	}
	return false;
}

/* whether @r is to go to sleep for others rather than @other */
static bool is_rather(const struct sleeper *r, const struct sleeper *other)
{
	if (r->slow != other->slow)
		return other->slow;
	return later(r->frame_ms, r->awake_ms) < later(other->frame_ms, other->awake_ms);
}

/*
 * Put the one of these GPUs to sleep that is idle for longest, one that was slow last. *soon: else,
 * when one may be. *could: what all that may be now would free.
 */
static struct sleeper *victim_on(const struct sleepers *t, uint32_t gpus, uint64_t now,
				 uint64_t *soon, uint64_t *could)
{
	struct sleeper *r, *best = NULL;
	uint64_t at, takes;
	uint32_t i, g;

	*soon = UINT64_MAX;
	*could = 0;
	for (i = 0; i < t->nr_rows; i++) {
		r = t->rows[i];
		at = may_sleep_at(r, now);
		for (takes = 0, g = 0; at != UINT64_MAX && g < t->nr_gpus; g++)
			takes += gpus & 1u << g ? takes_of(t, r, g) : 0;
		if (!takes)
			continue;
		*soon = least(*soon, at);
		if (at > now)
			continue;
		*could += takes;
		if (!best || is_rather(r, best))
			best = r;
	}
	return best;
}

/* ------------------------------------------------------------------ allocations without room */

static uint32_t gpus_of(const struct sleepers *t, const struct sleeper *r)
{
	uint32_t g, gpus = 0;

	for (g = 0; g < t->nr_gpus; g++)
		gpus |= r->uses[g] ? 1u << g : 0;
	return gpus ?: 1;
}

/* since when nothing has changed on the client's GPUs that could help its allocation */
static uint64_t still_since(const struct sleepers *t, const struct sleeper *r, uint32_t gpus)
{
	uint64_t since = r->lacked_ms;
	uint32_t g;

	for (g = 0; g < t->nr_gpus; g++)
		if (gpus & 1u << g)
			since = later(since, t->gpus[g].changed_ms);
	return since;
}

/* whether a client has gone to sleep there since then, and for nobody else's allocation */
static bool room_was_made(struct sleepers *t, uint32_t gpus, uint64_t since, uint64_t now)
{
	struct sleepers_gpu *g;

	for (g = t->gpus; g < t->gpus + t->nr_gpus; g++) {
		if (!(gpus & 1u << (g - t->gpus)) || g->slept_ms < since ||
		    g->slept_ms <= g->made_ms)
			continue;
		g->made_ms = now;
		g->changed_ms = now + SLEEPERS_MADE_MS;
		return true;
	}
	return false;
}

/* Others have gone to sleep in vain where a call is told that there is room, and then that not. */
static void note_answer(struct sleeper *r, uint64_t now)
{
	bool same_call = r->made_for == r->seen.calls + 1;

	if (r->made_for && !same_call)
		r->vain = 0;
	if (!same_call)
		r->first_ms = r->lacked_ms;
	r->made_for = r->answer == SLEEPER_MADE ? r->seen.calls + 1 : 0;
	if (r->answer == SLEEPER_NOT_MADE && same_call) {
		r->vain += r->vain < SLEEPERS_VAIN;
		r->vain_ms = now + ((uint64_t)SLEEPERS_LACK_AGAIN_MS << r->vain);
	}
	r->answered_ms = now;
	r->lacked_ms = 0;
}

static void answer_lack(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	bool same_call = r->made_for == r->seen.calls + 1;
	uint64_t until = (same_call ? r->first_ms : r->lacked_ms) + SLEEPERS_LACK_MS, soon, could;
	uint32_t gpus = gpus_of(t, r);
	struct sleeper *victim;

	if (now < r->answered_ms + SLEEPERS_LACK_AGAIN_MS)
		return;
	r->answer = SLEEPER_NOT_MADE;
	if (t->for_memory && now < until && now >= r->vain_ms) {
		if (room_was_made(t, gpus, r->lacked_ms, now)) {
			r->answer = SLEEPER_MADE;
		} else if (!is_read(t, still_since(t, r, gpus), now)) {
			r->answer = t->blind ? SLEEPER_NOT_MADE : SLEEPER_NO_ANSWER;
		} else if (one_is_going(t, r, gpus)) {
			r->answer = SLEEPER_NO_ANSWER;
		} else {
			victim = victim_on(t, gpus, now, &soon, &could);
			if (victim)
				choose(victim, now);
			if (soon == now + 1)
				until = still_since(t, r, gpus) + SLEEPERS_PATIENCE_MS;
			if (victim || soon < until)
				r->answer = SLEEPER_NO_ANSWER;
		}
	}
	if (r->answer)
		note_answer(r, now);
}

/* ------------------------------------------------------------------ the line of those that wake */

/* the row that waits at the first place behind @place, or NULL */
static struct sleeper *next_in_line(const struct sleepers *t, uint64_t place)
{
	struct sleeper *r, *next = NULL;
	uint32_t i;

	for (i = 0; i < t->nr_rows; i++) {
		r = t->rows[i];
		if (r->present && r->state == SLEEPER_WAITS && r->place > place &&
		    (!next || r->place < next->place))
			next = r;
	}
	return next;
}

/* Others need not wait for it: it is not to wake yet, or was the first for long without room. */
static bool is_passed(const struct sleeper *r, uint64_t now)
{
	return now < r->apart_ms || (r->headed_ms && now > r->headed_ms + SLEEPERS_HEAD_MS);
}

/* how many on the client's GPUs wait at earlier places, and come before it */
static uint32_t ahead_of(const struct sleepers *t, const struct sleeper *r, uint64_t now)
{
	const struct sleeper *other;
	uint32_t i, n = 0;

	for (i = 0; i < t->nr_rows; i++) {
		other = t->rows[i];
		if (other->present && other != r && share_gpu(r, other))
			n += other->state == SLEEPER_WAITS && other->place < r->place &&
			     !is_passed(other, now);
	}
	return n;
}

/* Count again what those need that wake; forget holds that nobody needs. */
static void look_at_grants(struct sleepers *t, uint64_t now)
{
	struct sleepers_gpu *gpu;
	const struct sleeper *r;
	uint32_t g, i;
	bool wakes;

	for (g = 0; g < t->nr_gpus; g++) {
		gpu = &t->gpus[g];
		gpu->granted = 0;
		for (wakes = false, i = 0; i < t->nr_rows; i++) {
			r = t->rows[i];
			if (!r->present || !r->needs[g])
				continue;
			if (r->state == SLEEPER_WAKING && !is_late(r, now))
				wakes = true;
			else if (r->state != SLEEPER_AWAKE || !r->awake_ms ||
				 gpu->read_ms >= r->awake_ms + SLEEPERS_SETTLE_MS)
				continue;
			gpu->granted += r->needs[g];
		}
		gpu->held_before = gpu->held_ms;
		if (!wakes)
			gpu->held_ms = 0;
	}
}

/* Others begin to take no memory. Whether a reading has seen what they had taken by then. */
static bool hold(struct sleepers *t, struct sleepers_gpu *gpu, uint64_t now)
{
	uint32_t i;

	gpu->held_ms = gpu->held_ms ?: gpu->held_before ?: now;
	for (i = 0; now < gpu->held_ms + SLEEPERS_TAKES_MS && i < t->nr_rows; i++)
		if (t->rows[i]->present && t->rows[i]->seen.takes)
			t->took_ms = now;
	return is_read(t, later(gpu->held_ms, t->took_ms) + SLEEPERS_FRESH_MS, now);
}

static void grant(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	uint32_t g;

	for (g = 0; g < t->nr_gpus; g++)
		t->gpus[g].granted += r->needs[g];
	r->does = SLEEPER_WAKE;
	r->state = SLEEPER_WAKING;
	r->ordered_ms = now;
	r->why = SLEEP_FINE;
}

/*
 * The client is the first one on its GPUs that waits, or those before it are passed. A reading in
 * which one that just went to sleep still has its memory only says less than there is.
 */
static void wake_first(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	uint64_t soon, could, lacks = 0, need;
	bool settled = true, held = true;
	struct sleeper *victim;
	struct sleepers_gpu *gpu;
	uint32_t g, gpus = 0;

	r->why = t->blind ? WHY_METER : WHY_ROOM;
	if (now < r->apart_ms)
		return;
	r->headed_ms = r->headed_ms ?: now;
	for (g = 0; g < SLEEP_GPUS; g++) {
		if (!r->needs[g])
			continue;
		gpu = &t->gpus[g];
		if (!is_read(t, gpu->made_ms ? gpu->made_ms + SLEEPERS_MADE_MS : 0, now) ||
		    g >= t->nr_gpus)
			return;
		settled &= gpu->read_ms >= gpu->changed_ms + SLEEPERS_SETTLE_MS;
		need = r->needs[g] + gpu->granted;
		if (gpu->free >= need)
			continue;
		gpus |= 1u << g;
		lacks += need - gpu->free;
	}
	for (g = 0; !gpus && g < t->nr_gpus; g++)
		held &= !r->needs[g] || hold(t, &t->gpus[g], now);
	if (!gpus && held) {
		grant(t, r, now);
	} else if (gpus && settled && t->for_memory && !one_is_going(t, r, gpus)) {
		victim = victim_on(t, gpus, now, &soon, &could);
		if (victim && could >= lacks)
			choose(victim, now);
	}
}

static void wake_who_may(struct sleepers *t, uint64_t now)
{
	struct sleeper *r = NULL;

	while ((r = next_in_line(t, r ? r->place : 0))) {
		r->ahead = ahead_of(t, r, now);
		if (r->ahead)
			r->why = WHY_LINE;
		else
			wake_first(t, r, now);
	}
}

/* ---------------------------------------------------------------- wakes by the admin */

/* why the sleeper can't go to GPU .target - 1, or SLEEP_FINE: then its needs are of that one */
static uint32_t move(struct sleepers *t, struct sleeper *r)
{
	uint32_t g, from = 0, n = 0, to = r->target - 1;

	for (g = 0; g < SLEEP_GPUS; g++)
		if (r->needs[g]) {
			from = g;
			n++;
		}
	if (n != 1 || !r->listed)
		return WHY_SPREAD;
	if (to >= t->nr_gpus || from >= t->nr_gpus || t->gpus[from].kind != t->gpus[to].kind)
		return WHY_KIND;
	/* it was told to move before, and has not woken since */
	from = r->moves ? r->from : from;
	for (g = 0; g < SLEEP_GPUS; g++)
		n = r->needs[g] ? g : n;
	if (n != to) {
		r->needs[to] = r->needs[n];
		r->needs[n] = 0;
	}
	r->moves = from != to;
	r->from = from;
	r->to = to;
	return SLEEP_FINE;
}

static void call(struct sleepers *t, struct sleeper *r, uint64_t now)
{
	uint32_t why = SLEEP_FINE;

	if (!r->called || (r->state != SLEEPER_ASLEEP && r->state != SLEEPER_WAITS))
		return;
	if (r->target && !is_read(t, 0, now)) {
		if (!t->blind)
			return;
		why = WHY_METER;
	} else if (r->target) {
		why = move(t, r);
	}
	r->called = false;
	r->target = 0;
	r->why = why;
	if (!why && r->state == SLEEPER_ASLEEP)
		r->does = SLEEPER_CALL;
}

/* ------------------------------------------------------------------ */

/* whether a GPU is held: any client may take memory of it, the first time, too */
static bool one_is_held(const struct sleepers *t)
{
	uint32_t g;

	for (g = 0; g < t->nr_gpus; g++)
		if (t->gpus[g].held_ms)
			return true;
	return false;
}

static uint64_t again_ms(const struct sleepers *t)
{
	uint64_t again = UINT64_MAX;
	const struct sleeper *r;
	uint32_t i;

	for (i = 0; i < t->nr_rows; i++) {
		r = t->rows[i];
		if (!r->present)
			continue;
		if (r->state >= SLEEPER_GOING || r->owes || r->asked || r->chosen_ms ||
		    (r->state == SLEEPER_AWAKE && t->for_memory))
			return SLEEPERS_AGAIN_MS;
		if (r->idle_ms || t->for_memory)
			again = SLEEPERS_AGAIN_IDLE_MS;
	}
	return again;
}

uint64_t sleepers_look(struct sleepers *t, uint64_t now)
{
	uint32_t i;

	t->wants_reading = false;
	for (i = 0; i < t->nr_rows; i++)
		if (t->rows[i]->present)
			see(t, t->rows[i], now);
	for (i = 0; i < t->nr_rows; i++)
		if (t->rows[i]->present) {
			suspend_who_should(t, t->rows[i], now);
			call(t, t->rows[i], now);
		}
	for (i = 0; i < t->nr_rows; i++)
		if (t->rows[i]->present && t->rows[i]->lacked_ms)
			answer_lack(t, t->rows[i], now);
	look_at_grants(t, now);
	wake_who_may(t, now);
	for (i = 0; i < t->nr_rows; i++)
		t->rows[i]->hold = one_is_held(t);
	return again_ms(t);
}
