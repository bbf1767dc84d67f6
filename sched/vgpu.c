// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds and removes vGPUs, notes which of them want to run, and sets the admin's knobs: policy,
 * slice, weights and caps.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "sched/internal.h"

void kvgpu_sched_init(struct kvgpu_sched *s)
{
	*s = (struct kvgpu_sched){
		.policy = KVGPU_SCHED_BEST_EFFORT,
		.slice_ns = KVGPU_SCHED_SLICE_DEFAULT,
	};
	INIT_LIST_HEAD(&s->ents);
}

void kvgpu_sched_add(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now)
{
	*e = (struct kvgpu_sched_ent){
		.weight = min(max(e->weight, KVGPU_SCHED_WEIGHT_MIN), KVGPU_SCHED_WEIGHT_MAX),
		.cap = min(max(e->cap, 1u), KVGPU_SCHED_CAP_NONE),
		.fixed_ppm = min(max(e->fixed_ppm, 1u), KVGPU_SCHED_PPM),
	};
	vsched_clock_tick(s, now);
	list_add_tail(&e->node, &s->ents);
	s->nr_ents++;
	vsched_knobs_apply(s);
	/* no debt, and a full budget */
	e->vtime = s->vclock - e->lead_v;
	e->paced = s->pace - e->lead_v;
	e->left = e->depth;
	e->throttled = false;
}

void kvgpu_sched_remove(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, u64 now)
{
	vsched_clock_tick(s, now);
	if (s->current_ent == e)
		s->current_ent = NULL;
	if (s->alone == e)
		s->alone = NULL;
	s->nr_runnable -= vsched_ent_wants(e);
	s->nr_ents--;
	list_del_init(&e->node);
	e->runnable = e->lingers = false;
	vsched_knobs_apply(s);
}

struct wish {
	bool runnable, suspended, lingers;
};

static void set_wish(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, struct wish w)
{
	bool before = vsched_ent_wants(e);

	e->runnable = w.runnable;
	e->suspended = w.suspended;
	e->lingers = w.lingers;
	if (vsched_ent_wants(e) == before)
		return;
	s->nr_runnable = before ? s->nr_runnable - 1 : s->nr_runnable + 1;
	if (before && s->current_ent == e)
		vsched_turn_end(s);
	vsched_clocks_settle(s);
	e->front = false;
	if (before)
		return;
	e->woke_busy = e->busy_ns;
	e->front = vsched_clock_ahead(s->pace, e->paced) >= (s64)(e->lead_v / 2);
	if (vsched_ent_can_run(e))
		vsched_turn_cut(s, e);
}

/* Tells whether @e, which has just run out of work, lingers. */
static bool ent_lingers(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e)
{
	const struct kvgpu_sched_ent *o;

	if (s->current_ent != e || !s->started || !e->quick || e->in_vain || e->suspended ||
	    s->turn_used < (s->at - s->turn_start) / 2)
		return false;
	list_for_each_entry(o, &s->ents, node)
		if (o != e && vsched_ent_can_run(o) && vsched_ent_goes_before(o, e))
			return false;
	return true;
}

void vsched_runnable_set(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool runnable, u64 now)
{
	struct wish w = { .runnable = runnable, .suspended = e->suspended };

	if (runnable == e->runnable)
		return;
	vsched_catch_up(s, now);
	if (runnable) {
		e->quick = s->at - e->slept_at < s->slice_ns / 2;
	} else {
		e->slept_at = s->at;
		w.lingers = ent_lingers(s, e);
		if (w.lingers)
			s->linger_end = vsched_time_add(s->at, vsched_moment(s));
		e->in_vain -= !!e->in_vain;
	}
	set_wish(s, e, w);
}

void kvgpu_sched_set_suspended(struct kvgpu_sched *s, struct kvgpu_sched_ent *e, bool suspended,
			       u64 now)
{
	vsched_catch_up(s, now);
	set_wish(s, e, (struct wish){ .runnable = e->runnable, .suspended = suspended });
}

void vsched_linger_end(struct kvgpu_sched *s, struct kvgpu_sched_ent *e)
{
	e->in_vain = SCHED_IN_VAIN;
	set_wish(s, e, (struct wish){ .runnable = e->runnable, .suspended = e->suspended });
}

/* ------------------------------------------------------------------ set the admin's knobs */

int kvgpu_sched_set_policy(struct kvgpu_sched *s, enum kvgpu_sched_policy policy, u64 now)
{
	if (policy != KVGPU_SCHED_BEST_EFFORT && policy != KVGPU_SCHED_EQUAL_SHARE &&
	    policy != KVGPU_SCHED_FIXED_SHARE)
		return -EINVAL;
	vsched_catch_up(s, now);
	s->policy = policy;
	vsched_knobs_apply(s);
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
	vsched_clock_tick(s, now);
	e->cap = cap;
	e->kept = e->over = 0;
	vsched_knobs_apply(s);
	return 0;
}

/* ------------------------------------------------- translate between policies and their names */

static const char *const policy_names[] = {
	[KVGPU_SCHED_BEST_EFFORT] = "best-effort",
	[KVGPU_SCHED_EQUAL_SHARE] = "equal-share",
	[KVGPU_SCHED_FIXED_SHARE] = "fixed-share",
};

const char *kvgpu_sched_policy_name(enum kvgpu_sched_policy policy)
{
	return (unsigned int)policy < ARRAY_SIZE(policy_names) ? policy_names[policy] : "?";
}

int kvgpu_sched_policy_parse(const char *text, enum kvgpu_sched_policy *out)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policy_names); i++) {
		size_t len = strlen(policy_names[i]);

		if (!strncmp(text, policy_names[i], len) &&
		    (!text[len] || !strcmp(text + len, "\n"))) {
			*out = i;
			return 0;
		}
	}
	return -EINVAL;
}
