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
 * them sees the other's store: the sleeper does not sleep, or it is woken. Processors let a load go
 * before an earlier store to another place, and then neither sees.
 */
#include "remote/ring/bell.h"

#include "remote/ring/clock.h"
#include "remote/ring/shared.h"

/* looks between two of the clock */
#define LOOKS	64

/*
 * A CPU that was given away and came back late is wanted by other threads than the peer's: looking
 * would cost them their time and this thread its turn. So many waits sleep at once then, until it
 * is tried again. A timer's tick takes the CPU, too, in a VM for longer than elsewhere; so it
 * counts how much of the time was lost. Beside a thread that computes that is nearly all of it.
 */
enum {
	CROWDED_NS = 100 * 1000,
	CROWDED_OF_NS = 2000 * 1000,
	CROWDED_TIMES = 7,
	CROWDED_WAITS = 100
};

/* one call of kvgpu_bell_wait() */
struct wait {
	struct kvgpu_bell *bell;
	bool (*ready)(void *arg);
	void *arg;
	uint64_t timeout_ns;
	uint64_t began;		/* when the clock was read first; 0: it was not */
};

static uint64_t waited(struct wait *w)
{
	uint64_t now = clock_ns();

	if (!w->began)
		w->began = now;
	return now - w->began;
}

/* looked for @looked_ns, then the CPU was away for @away_ns */
static void count_time(struct kvgpu_bell *b, uint64_t looked_ns, uint64_t away_ns)
{
	if (away_ns > CROWDED_NS)
		b->lost_ns += away_ns;
	else
		looked_ns += away_ns;
	b->looked_ns += looked_ns;
	if (b->lost_ns + b->looked_ns < CROWDED_OF_NS)
		return;
	if (b->lost_ns > CROWDED_TIMES * b->looked_ns)
		b->crowded = CROWDED_WAITS;
	b->lost_ns = b->looked_ns = 0;
}

static bool spin(struct wait *w)
{
	uint64_t limit = w->bell->window_ns, now, before = 0;
	unsigned int i;

	if (limit < w->bell->times.spin_ns)
		limit = w->bell->times.spin_ns;
	if (limit > w->timeout_ns)
		limit = w->timeout_ns;
	if (!limit)
		return false;
	if (w->bell->crowded) {
		w->bell->crowded--;
		return false;
	}
	w->bell->spins++;
	for (;;) {
		for (i = 0; i < LOOKS; i++) {
			clock_pause();
			if (w->ready(w->arg))
				return true;
		}
		now = waited(w);
		if (now >= limit)
			return false;
		clock_yield();
		count_time(w->bell, now - before, waited(w) - now);
		before = waited(w);
	}
}

static enum kvgpu_wait sleep_until(struct wait *w)
{
	uint64_t ns, passed, left = w->timeout_ns;
	struct kvgpu_bell *b = w->bell;

	b->waits++;
	for (;;) {
		shared_store32(b->word, 1);
		shared_fence();		/* pairs with the one of kvgpu_bell_ring() */
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
		/* what was published before the peer's end counts */
		if (b->ops->sleep(b->ctx, b->word, ns) == KVGPU_SLEEP_GONE)
			return w->ready(w->arg) ? KVGPU_WAIT_READY : KVGPU_WAIT_GONE;
	}
}

/*
 * A wait that had to sleep and would have ended soon costs its thread the way to sleep and back,
 * which takes longer than some of what is waited for. So the next ones look twice as long as this
 * one took, within bounds; after one that took longer than these, as long as the knob says.
 */
static void grow(struct wait *w)
{
	uint64_t least = w->bell->times.spin_ns, took;

	if (!least)
		return;
	took = waited(w);
	if (took >= KVGPU_SPIN_GROWS * least)
		w->bell->window_ns = least;
	else
		w->bell->window_ns = 2 * took < KVGPU_SPIN_GROWS * least ? 2 * took :
									   KVGPU_SPIN_GROWS * least;
}

enum kvgpu_wait kvgpu_bell_wait(struct kvgpu_bell *b, bool (*ready)(void *arg), void *arg,
				uint64_t timeout_ns)
{
	struct wait w = { .bell = b, .ready = ready, .arg = arg, .timeout_ns = timeout_ns };
	enum kvgpu_wait result;

	if (ready(arg) || spin(&w))
		return KVGPU_WAIT_READY;
	result = sleep_until(&w);
	shared_store32(b->word, 0);
	if (result == KVGPU_WAIT_READY)
		grow(&w);
	return result;
}

void kvgpu_bell_ring(struct kvgpu_bell *b)
{
	shared_fence();		/* pairs with the one of sleep_until() */
	if (!shared_load32(b->word))
		return;
	/* first: a futex refuses a sleep that has not begun yet only if its word has changed */
	shared_store32(b->word, 0);
	b->wakes++;
	b->ops->wake(b->ctx, b->word);
}
