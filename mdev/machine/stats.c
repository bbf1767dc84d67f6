// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's counters and knobs, for sysfs.c. Most are read one by one, without locks: two
 * values may be of different times. slicer->lock is taken to change a knob of the policy, and to
 * read a value that the policy computes.
 */
#include "mdev/machine/internal.h"

/* ----------------------------------------------------------------- counters and knobs of a vGPU */

void kvgpu_machine_stats_get(const struct kvgpu_vgpu *v, struct machine_stats *st)
{
	const struct kvgpu_shadow_stats *shadow = &v->m->mem.shadow.stats;
	const struct machine_slice *sl = &v->m->slice[RUNL_GR];

	*st = (struct machine_stats){
		.registers_unlisted = READ_ONCE(v->m->trap.nr_unlisted),
		.registers_denied = READ_ONCE(v->m->trap.nr_denied),
		.syncs = READ_ONCE(shadow->syncs),
		.tables_read = READ_ONCE(shadow->tables_read),
		.bytes_read = READ_ONCE(shadow->bytes_read),
		.entries_compared = READ_ONCE(shadow->entries_compared),
		.entries_written = READ_ONCE(shadow->entries_written),
		.entries_rejected = READ_ONCE(shadow->rejected),
		.tlb_flushes = atomic64_read(&v->m->mem.flushes),
		.spaces_kept = atomic64_read(&v->m->mem.spaces_kept),
		.pinned_pages = READ_ONCE(shadow->pinned) + READ_ONCE(v->m->pin.nr_due),
		.doorbells_trapped = atomic64_read(&v->m->view.doorbells_trapped),
		.strikes = READ_ONCE(v->m->forgiven.total),
		.weight = READ_ONCE(sl->ent.weight),
		.cap = READ_ONCE(sl->ent.cap),
		.suspended = READ_ONCE(sl->ent.suspended),
	};
	for_each_slice(sl, v->m) {
		st->slices += READ_ONCE(sl->ent.slices);
		st->preempts += READ_ONCE(sl->preempts.nr);
		st->preempt_ns += READ_ONCE(sl->preempts.ns);
		st->preempt_ns_max = max(st->preempt_ns_max, READ_ONCE(sl->preempts.max));
		st->runnable |= READ_ONCE(sl->found.work);
	}
}

u32 kvgpu_machine_entitlement_get(const struct kvgpu_vgpu *v)
{
	const struct machine_slice *sl = &v->m->slice[RUNL_GR];
	struct machine_slicer *s = &v->gpu->chip->slicer;
	u32 ppm;

	spin_lock(&s->lock);
	ppm = kvgpu_sched_entitlement(&sl->runl->sched, &sl->ent);
	spin_unlock(&s->lock);
	return ppm;
}

int kvgpu_machine_knob_set(struct kvgpu_vgpu *v, enum machine_knob knob, unsigned int val)
{
	struct machine_slicer *s = &v->gpu->chip->slicer;
	struct machine_slice *sl;
	u64 now;
	int ret = 0;

	spin_lock(&s->lock);
	/* read the clock under the lock, so that @now is not from before a wait for the lock */
	now = ktime_get_ns();
	/* a value is in range for all or for none */
	for_each_slice(sl, v->m)
		ret = knob == MACHINE_WEIGHT ?
			      kvgpu_sched_set_weight(&sl->runl->sched, &sl->ent, val, now) :
			      kvgpu_sched_set_cap(&sl->runl->sched, &sl->ent, val, now);
	spin_unlock(&s->lock);
	vmach_slicer_kick(v->gpu);
	return ret;
}

/* ----------------------------------------------------------------- counters and knobs of a card */

void kvgpu_machine_gpu_stats_get(const struct kvgpu_gpu *gpu, struct machine_gpu_stats *st)
{
	const struct machine_runl *r = &gpu->chip->runl[RUNL_GR];

	*st = (struct machine_gpu_stats){
		.policy = READ_ONCE(r->sched.policy) - kvgpu_sched_policies,
		.slice_us = div_u64(READ_ONCE(r->sched.slice_ns), NSEC_PER_USEC),
		.watchdog_ms = READ_ONCE(gpu->chip->slicer.watchdog_ms),
		.busy_ns = READ_ONCE(r->samples.busy_ns),
		.copy_busy_ns = READ_ONCE(gpu->chip->runl[RUNL_CE].samples.busy_ns),
		.lost = vmach_gpu_lost(gpu),
	};
	for_each_runl(r, gpu->chip)
		st->switches += READ_ONCE(r->lists.switches);
}

int kvgpu_machine_gpu_knob_set(struct kvgpu_gpu *gpu, enum machine_gpu_knob knob, unsigned int val)
{
	struct machine_slicer *s = &gpu->chip->slicer;
	struct machine_runl *r;
	int ret = 0;

	if (knob == MACHINE_WATCHDOG_MS) {
		vmach_watchdog_set(gpu, val);
		return 0;
	}
	spin_lock(&s->lock);
	for_each_runl(r, gpu->chip)
		ret = knob == MACHINE_POLICY ?
			      kvgpu_sched_set_policy(&r->sched, val, ktime_get_ns()) :
			      kvgpu_sched_set_slice(&r->sched, (u64)val * NSEC_PER_USEC);
	spin_unlock(&s->lock);
	vmach_slicer_kick(gpu);
	return ret;
}
