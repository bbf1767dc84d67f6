// SPDX-License-Identifier: GPL-2.0-only
/*
 * One that does not let go of the engine. A preempt may rightly take long: the chip saves a context
 * only between blocks of threads. So: wait; when it is late, look once for an interrupt that nobody
 * has answered and that holds the engine, which may be all there is to it; after the watchdog's
 * time end what is resident.
 */
#include "sched/internal.h"

void kvgpu_hang_begin(struct kvgpu_hang *h, u64 now)
{
	*h = (struct kvgpu_hang){ .since = now };
}

enum kvgpu_hang_step kvgpu_hang_step(struct kvgpu_hang *h, u64 watchdog_ns, u64 now, u64 *next)
{
	u64 look = sched_later(h->since, min(watchdog_ns / 2, KVGPU_HANG_LOOK_NS));
	u64 end = sched_later(h->since, watchdog_ns);
	enum kvgpu_hang_step step = KVGPU_HANG_WAIT;

	if (!h->looked && now >= look) {
		h->looked = true;
		step = KVGPU_HANG_LOOK;
	} else if (h->looked && now >= end) {
		step = KVGPU_HANG_RECOVER;
	}
	*next = max(h->looked ? end : look, now);
	return step;
}

/* ------------------------------------------------------------------ strikes */

static u64 forgiven(const struct kvgpu_strikes *k, u64 now)
{
	return now > k->last ? div64_u64(now - k->last, KVGPU_STRIKE_FORGIVEN_NS) : 0;
}

u32 kvgpu_strikes_now(const struct kvgpu_strikes *k, u64 now)
{
	u64 n = forgiven(k, now);

	return n < k->count ? k->count - (u32)n : 0;
}

bool kvgpu_strike(struct kvgpu_strikes *k, u64 now)
{
	u64 n = forgiven(k, now);

	/* what has been waited for the next to be forgiven counts, unless this is the first */
	if (n < k->count) {
		k->count -= (u32)n;
		k->last += n * KVGPU_STRIKE_FORGIVEN_NS;
	} else {
		k->count = 0;
		k->last = now;
	}
	if (k->count < KVGPU_STRIKES_MAX)
		k->count++;
	k->total++;
	return k->count >= KVGPU_STRIKES_MAX;
}

void kvgpu_strikes_clear(struct kvgpu_strikes *k)
{
	k->count = 0;
}
