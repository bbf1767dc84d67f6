// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policies, what they entitle a vGPU to, and the admin's knobs: policy, slice, weights, caps.
 */
#include <linux/errno.h>

#include "sched/internal.h"

static u32 share_by_weight(const struct kvgpu_sched_ent *e)
{
	return e->weight;
}

static u32 share_by_memory(const struct kvgpu_sched_ent *e)
{
	return e->fixed_ppm;
}

const struct kvgpu_sched_policy kvgpu_sched_policies[KVGPU_SCHED_NR_POLICIES] = {
	[KVGPU_SCHED_BEST_EFFORT] = { .name = "best-effort" },
	[KVGPU_SCHED_EQUAL_SHARE] = { .name = "equal-share", .keeps = true },
	[KVGPU_SCHED_FIXED_SHARE] = { .name = "fixed-share",
				      .keeps = true,
				      .share = share_by_memory,
				      .total = KVGPU_SCHED_PPM },
};

/* ------------------------------------------------------------------ entitlements */

static u64 cap_ppm(const struct kvgpu_sched_ent *e)
{
	return (u64)e->cap * (KVGPU_SCHED_PPM / 100);
}

/*
 * Time that a vGPU may not have because of its cap goes to the other vGPUs by share, which can
 * bring more of them to their caps. Each pass of the loop finds the vGPUs whose cap is below their
 * part, until the set of these vGPUs stays the same.
 */
static void capped_take_out(const struct kvgpu_sched *s, u64 *left, u64 *total)
{
	const struct kvgpu_sched_ent *e;
	u64 caps, capped = 0, before;

	do {
		before = capped;
		caps = capped = 0;
		list_for_each_entry(e, &s->ents, node) {
			if (cap_ppm(e) < KVGPU_SCHED_PPM &&
			    cap_ppm(e) * *total < *left * e->share) {
				caps += cap_ppm(e);
				capped += e->share;
			}
		}
		*left = KVGPU_SCHED_PPM - caps;
		*total = s->total - capped;
	} while (capped != before && *total);
}

u32 kvgpu_sched_entitlement(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	u64 left = KVGPU_SCHED_PPM, total = s->total;

	if (!s->policy->keeps)
		capped_take_out(s, &left, &total);
	if (!total)
		return cap_ppm(e);
	return min(div64_u64(left * e->share + total / 2, total), cap_ppm(e));
}

/* ------------------------------------------------------------------ knobs */

/* The clock of @e stays as many ns of GPU time ahead of or behind the GPU's as before. */
static void ent_rescale(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 share)
{
	s64 d = vsched_clock_ahead(e->vtime, s->vclock);

	if (e->share && e->share != share)
		e->vtime = d >= 0 ? s->vclock + div_u64((u64)d * e->share, share) :
				    s->vclock - div_u64((u64)-d * e->share, share);
	e->share = share;
}

/* What @e may use is @ppm of the time. Nothing that it saved by another limit is kept. */
static void limit_set(struct kvgpu_sched_ent *e, u32 ppm)
{
	ppm = max(ppm, 1u);
	if (ppm != e->limit.ppm)
		e->limit.left = min(e->limit.left, ppm * SCHED_RELEASE_NS);
	e->limit.ppm = ppm;
	e->limit.depth = max(ppm * SCHED_LIMIT_NS, SCHED_RELEASE_MIN * KVGPU_BUCKET_NS);
}

static void wakes_and_holds_set(const struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	u64 ppm = clamp(div_u64((u64)e->share * KVGPU_SCHED_PPM, s->total), 1ull, 1000000ull);

	e->wakes.ppm = ppm;
	e->wakes.depth = (s64)vsched_turn_min(s) * KVGPU_BUCKET_NS;
	kvgpu_bucket_close(&e->wakes);
	e->hold.ppm = max(div_u64(ppm * SCHED_HOLD_PPM, KVGPU_SCHED_PPM), 1ull);
	e->hold.depth = ppm * SCHED_HOLD_NS;
	kvgpu_bucket_close(&e->hold);
}

void vsched_knobs_apply(struct kvgpu_sched *s)
{
	u32 (*share)(const struct kvgpu_sched_ent *e) = s->policy->share ?: share_by_weight;
	struct kvgpu_sched_ent *e;

	s->total = s->policy->total;
	list_for_each_entry(e, &s->ents, node) {
		ent_rescale(s, e, share(e));
		s->total += s->policy->total ? 0 : e->share;
	}
	list_for_each_entry(e, &s->ents, node) {
		limit_set(e, s->policy->keeps ? kvgpu_sched_entitlement(s, e) : cap_ppm(e));
		wakes_and_holds_set(s, e);
	}
	vsched_clocks_update(s);
}

void vsched_policy_use(struct kvgpu_sched *s, const struct kvgpu_sched_policy *policy, u64 now)
{
	vsched_catch_up(s, now);
	s->policy = policy;
	vsched_knobs_apply(s);
}

int kvgpu_sched_set_policy(struct kvgpu_sched *s, enum kvgpu_sched_policy_id policy, u64 now)
{
	if ((unsigned int)policy >= KVGPU_SCHED_NR_POLICIES)
		return -EINVAL;
	vsched_policy_use(s, &kvgpu_sched_policies[policy], now);
	return 0;
}

int kvgpu_sched_set_slice(struct kvgpu_sched *s, u64 slice_ns)
{
	if (slice_ns < KVGPU_SCHED_SLICE_MIN || slice_ns > KVGPU_SCHED_SLICE_MAX)
		return -ERANGE;
	s->slice_ns = slice_ns;
	vsched_knobs_apply(s);
	return 0;
}

int kvgpu_sched_set_weight(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 weight, u64 now)
{
	if (weight < KVGPU_SCHED_WEIGHT_MIN || weight > KVGPU_SCHED_WEIGHT_MAX)
		return -ERANGE;
	vsched_catch_up(s, now);
	e->weight = weight;
	vsched_knobs_apply(s);
	return 0;
}

int kvgpu_sched_set_cap(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u32 cap, u64 now)
{
	if (cap < 1 || cap > KVGPU_SCHED_CAP_NONE)
		return -ERANGE;
	vsched_catch_up(s, now);
	e->cap = cap;
	vsched_knobs_apply(s);
	return 0;
}
