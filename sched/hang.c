// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps when a preempt takes long. The chip saves a context between blocks of threads only, so
 * that a preempt may take long although nothing is wrong. The steps are: wait; when the preempt is
 * late, poll once for a pending interrupt whose message to the CPU may have been lost (the engine
 * may wait until it is handled); after the watchdog's time (the caller's @watchdog_ns), end the
 * channel, or its channel group (TSG), that stays on the chip. Also counts strikes (harm that a
 * vGPU did to other vGPUs) and resets of engines.
 */
#include "sched/internal.h"

void kvgpu_sched_hang_begin(struct kvgpu_hang *h, u64 now)
{
	*h = (struct kvgpu_hang){ .since = now };
}

enum kvgpu_hang_step kvgpu_sched_hang_next(struct kvgpu_hang *h, u64 watchdog_ns, u64 now,
					   u64 *next)
{
	u64 poll = vsched_time_add(h->since, min(watchdog_ns / 2, KVGPU_HANG_POLL_NS));
	u64 end = vsched_time_add(h->since, watchdog_ns);
	enum kvgpu_hang_step step = KVGPU_HANG_WAIT;

	if (!h->polled && now >= poll) {
		h->polled = true;
		step = KVGPU_HANG_POLL;
	} else if (h->polled && now >= end) {
		step = KVGPU_HANG_RECOVER;
	}
	*next = max(h->polled ? end : poll, now);
	return step;
}

/* ---------------------------------------------- count and forgive strikes and resets of engines */

static u64 strikes_forgiven(const struct kvgpu_strikes *k, u64 now)
{
	return now > k->last ? div64_u64(now - k->last, KVGPU_STRIKE_FORGIVEN_NS) : 0;
}

bool kvgpu_sched_strike_add(struct kvgpu_strikes *k, u64 now)
{
	u64 n = strikes_forgiven(k, now);

	/*
	 * ->last moves on by whole periods, so that the part of a period that has passed is not
	 * lost: the next strike is forgiven sooner by it. If all strikes are forgiven, a new period
	 * starts now.
	 */
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

void kvgpu_sched_strikes_clear(struct kvgpu_strikes *k)
{
	k->count = 0;
}

bool kvgpu_sched_reset_add(struct kvgpu_resets *r, u64 now)
{
	u64 n = now > r->at ? div64_u64(now - r->at, KVGPU_RESET_FORGOTTEN_NS) : 0;

	if (n) {
		r->count -= (u32)min(n, (u64)r->count);
		r->at = now;
	}
	if (r->count >= KVGPU_RESETS_BURST)
		return true;
	r->count++;
	return false;
}
