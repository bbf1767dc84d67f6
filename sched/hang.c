// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps when a preempt takes long (enum kvgpu_hang_step), and the counts of strikes and resets.
 * The chip saves a context between blocks of threads only, so that a preempt may take long although
 * nothing is wrong.
 */
#include "sched/internal.h"

void kvgpu_sched_hang_begin(struct kvgpu_hang *h, u64 now)
{
	*h = (struct kvgpu_hang){ .since = now };
}

enum kvgpu_hang_step kvgpu_sched_hang_next(struct kvgpu_hang *h, u64 watchdog_ns, u64 now)
{
	u64 due = h->polled ? watchdog_ns : min(watchdog_ns / 2, KVGPU_HANG_POLL_NS);

	if (now < vsched_time_add(h->since, due))
		return KVGPU_HANG_WAIT;
	if (h->polled)
		return KVGPU_HANG_RECOVER;
	h->polled = true;
	return KVGPU_HANG_POLL;
}

bool kvgpu_sched_strike_add(struct kvgpu_strikes *k, u64 now)
{
	u64 n = now > k->last ? div64_u64(now - k->last, KVGPU_STRIKE_FORGIVEN_NS) : 0;

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
