// SPDX-License-Identifier: MIT
/*
 * Sleeping and waking without a lost wake-up:
 *
 *	sleeper				ringer
 *	word = 1			publishes
 *	fence				fence
 *	looks for what is published	looks at the word
 *	sleeps				if it is set: word = 0, wakes
 *
 * Each stores, then loads what the other stores. With a fence between on both sides at least one of
 * them sees the other's store: the sleeper does not sleep, or it is woken.
 */
#include "remote/ring/doorbell.h"

#include "remote/ring/clock.h"
#include "remote/ring/shared.h"

/* looks at the peer between two looks at the clock */
#define LOOKS 64

/*
 * If nearly all of the time of looking goes to other threads that want this CPU, the next
 * CROWDED_WAITS waits sleep at once. An absence of up to CROWDED_NS counts as looking: a timer's
 * tick takes the CPU, too.
 */
enum {
	CROWDED_NS = 100 * 1000,
	CROWDED_OF_NS = 2000 * 1000,
	CROWDED_TIMES = 7,
	CROWDED_WAITS = 100
};

/* one call of kvgpu_doorbell_wait() */
struct wait {
	struct kvgpu_doorbell *doorbell;
	bool (*ready)(void *arg);
	void *arg;
	uint64_t timeout_ns;
	uint64_t began; /* when the clock was first read in this wait; 0: not yet */
};

static uint64_t waited(struct wait *w)
{
	uint64_t now = clock_ns();

	if (!w->began)
		w->began = now;
	return now - w->began;
}

/* note that this thread looked for @looked_ns, and was then without the CPU for @away_ns */
static void count_time(struct kvgpu_doorbell *b, uint64_t looked_ns, uint64_t away_ns)
{
	if (away_ns > CROWDED_NS)
		b->lost_ns += away_ns;
	else
		looked_ns += away_ns;
	b->looked_ns += looked_ns;
	if (b->lost_ns + b->looked_ns < CROWDED_OF_NS)
		return;
	if (b->lost_ns > CROWDED_TIMES * b->looked_ns && b->times.spin_ns < KVGPU_SPIN_ALWAYS)
		b->crowded = CROWDED_WAITS;
	b->lost_ns = b->looked_ns = 0;
}

static bool spin(struct wait *w)
{
	uint64_t limit = w->doorbell->window_ns, now, before = 0;
	unsigned int i;

	if (limit < w->doorbell->times.spin_ns)
		limit = w->doorbell->times.spin_ns;
	if (limit > w->timeout_ns)
		limit = w->timeout_ns;
	if (!limit)
		return false;
	if (w->doorbell->crowded) {
		w->doorbell->crowded--;
		return false;
	}
	w->doorbell->spins++;
	for (;;) {
		for (i = 0; i < LOOKS; i++) {
			clock_rest();
			if (w->ready(w->arg))
				return true;
		}
		now = waited(w);
		if (now >= limit)
			return false;
		clock_yield();
		count_time(w->doorbell, now - before, waited(w) - now);
		before = waited(w);
	}
}

static enum kvgpu_wait sleep_until(struct wait *w)
{
	uint64_t ns, passed, left = w->timeout_ns;
	struct kvgpu_doorbell *b = w->doorbell;

	b->waits++;
	for (;;) {
		shared_store32(b->word, 1);
		shared_fence(); /* pairs with the fence of kvgpu_doorbell_ring() */
		if (w->ready(w->arg))
			return KVGPU_WAIT_READY;
		if (w->timeout_ns != KVGPU_FOREVER) {
			passed = waited(w);
			if (passed >= w->timeout_ns)
				return KVGPU_WAIT_TIMEOUT;
			left = w->timeout_ns - passed;
		}
		ns = left < b->times.sleep_ns ? left : b->times.sleep_ns;
		b->sleeps++;
		/* a publication before the peer's end counts */
		if (b->ops->sleep(b->ctx, b->word, ns) == KVGPU_SLEEP_GONE)
			return w->ready(w->arg) ? KVGPU_WAIT_READY : KVGPU_WAIT_GONE;
	}
}

/*
 * After a wait that did not end while it looked, but took less than KVGPU_SPIN_GROWS times
 * .spin_ns, the next waits look twice as long as that wait took, and not longer than that limit.
 * After a longer wait they look for .spin_ns.
 */
static void grow(struct wait *w)
{
	uint64_t least = w->doorbell->times.spin_ns, took;

	if (!least)
		return;
	took = waited(w);
	if (took >= KVGPU_SPIN_GROWS * least)
		w->doorbell->window_ns = least;
	else
		w->doorbell->window_ns =
			2 * took < KVGPU_SPIN_GROWS * least ? 2 * took : KVGPU_SPIN_GROWS * least;
}

enum kvgpu_wait kvgpu_doorbell_wait(struct kvgpu_doorbell *b, bool (*ready)(void *arg), void *arg,
				    uint64_t timeout_ns)
{
	struct wait w = { .doorbell = b, .ready = ready, .arg = arg, .timeout_ns = timeout_ns };
	enum kvgpu_wait result;

	if (ready(arg) || spin(&w))
		return KVGPU_WAIT_READY;
	result = sleep_until(&w);
	shared_store32(b->word, 0);
	if (result == KVGPU_WAIT_READY)
		grow(&w);
	return result;
}

void kvgpu_doorbell_ring(struct kvgpu_doorbell *b)
{
	shared_fence(); /* pairs with the fence of sleep_until() */
	if (!shared_load32(b->word))
		return;
	/*
	 * clear the word first: a futex refuses a sleep that has not begun yet only if the word has
	 * changed
	 */
	shared_store32(b->word, 0);
	b->wakes++;
	b->ops->wake(b->ctx, b->word);
}
