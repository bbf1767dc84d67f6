// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting of GPU time: charges vGPUs for it, and tells how much each was charged. A vGPU that a
 * usage sample (usage.c) sees at work pays until the next sample, or until it leaves the chip:
 * vmach_time_settle(). slice.c charges the time in which it takes a vGPU off the chip, and
 * vmach_wait_charge() waits for the chip; samples do not count meanwhile (vmach_time_pause()).
 *
 * The slicer calls all of this, the sampler vmach_time_settle(), and any thread
 * vmach_gpu_time_get(), which needs no lock.
 */
#include "mdev/machine/internal.h"
#include "mdev/machine/observe.h"

void vmach_time_charge(struct kvgpu_machine *m, u64 ns, u64 now)
{
	struct machine_slicer *s = &m->v->gpu->chip->slicer;

	atomic64_add(ns, &m->gpu_ns);
	spin_lock(&s->lock);
	kvgpu_sched_charge(&s->sched, &m->slice.ent, ns, now);
	spin_unlock(&s->lock);
}

void vmach_time_settle(struct kvgpu_chip *chip, u64 now)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;
	bool any = false;

	if (now <= s->samples.charged)
		return;
	list_for_each_entry(m, &chip->live, node) {
		if (!m->slice.charge.busy)
			continue;
		vmach_time_charge(m, now - s->samples.charged, now);
		any = true;
	}
	s->samples.busy_ns += any ? now - s->samples.charged : 0;
	s->samples.charged = now;
}

void vmach_time_pause(struct kvgpu_chip *chip, u64 now)
{
	struct machine_slicer *s = &chip->slicer;

	write_seqlock(&s->acct_lock);
	if (!s->samples.paused++)
		vmach_time_settle(chip, now);
	write_sequnlock(&s->acct_lock);
}

/*
 * Returns the ns charged to @m so far. slicer->samples.charged is the time up to which vGPUs are
 * charged. If @m is .busy (charged until the next sample) and on the chip, adds the time from then
 * to now; during a switch that counts twice what a wait was charged for meanwhile. Never returns
 * less than in an earlier call.
 */
u64 vmach_gpu_time_get(struct kvgpu_machine *m)
{
	struct machine_slicer *s = &m->v->gpu->chip->slicer;
	unsigned int seq;
	s64 ns, reported;

	do {
		seq = read_seqbegin(&s->acct_lock);
		ns = atomic64_read(&m->gpu_ns);
		if (READ_ONCE(m->slice.charge.busy) && READ_ONCE(m->slice.on_chip))
			ns += ktime_get_ns() - READ_ONCE(s->samples.charged);
	} while (read_seqretry(&s->acct_lock, seq));
	reported = atomic64_read(&m->slice.charge.reported);
	do {
		if (reported >= ns)
			return reported;
	} while (!atomic64_try_cmpxchg(&m->slice.charge.reported, &reported, ns));
	return ns;
}

void vmach_wait_begin(struct machine_obs *w, struct kvgpu_gpu *gpu)
{
	vmach_slicer_assert(gpu);
	vmach_time_pause(gpu->chip, ktime_get_ns());
	vmach_obs_begin(w, gpu);
	vmach_engines_observe(w);
}

bool vmach_fault_charge(struct kvgpu_chan *c, const struct machine_obs *w)
{
	struct kvgpu_machine *m = c->vgpu->m;
	struct kvgpu_chip *chip = m->v->gpu->chip;
	u64 now, at, had, ns;

	vmach_slicer_assert(m->v->gpu);
	spin_lock(&chip->event_lock);
	at = c->fault.at;
	had = c->fault.had;
	c->fault.at = 0;
	spin_unlock(&chip->event_lock);
	if (!at)
		return false;
	had = vmach_gpu_time_get(m) - had;
	now = ktime_get_ns();
	ns = vmach_obs_idle_part(w, m, now - at - min(had, now - at));
	write_seqlock(&chip->slicer.acct_lock);
	vmach_time_charge(m, ns, now);
	/* the part of that time which a switch would charge */
	m->slice.charge.waits += min(ns, now - clamp(chip->slicer.samples.charged, at, now));
	write_sequnlock(&chip->slicer.acct_lock);
	return true;
}

/* Charges @m for @ns of the wait of @w, less what waits inside of it were charged for. */
static void charge_waiter(struct kvgpu_machine *m, const struct machine_obs *w, u64 ns, u64 now)
{
	ns = vmach_obs_unpaid(w, m, ns);
	m->slice.charge.waits += ns;
	if (ns)
		vmach_time_charge(m, ns, now);
}

/*
 * Charges the time from @began to now, in which the slicer waited for the chip on behalf of @m, and
 * made no poll; samples do not count. @w has the observations that were made meanwhile, from
 * vmach_wait_begin() on. @works: @m was at work, whatever @w says.
 * - If @works, or an observation saw an engine work for @m, @m is charged all of the time.
 * - Otherwise @m is charged the time in which the runlist stood still for it (@w->blocked_ns), but
 *   not the part of the observations that saw an engine work for another vGPU.
 * - Another vGPU is charged a part of the time: the part of the observations that saw an engine
 *   work for it.
 */
void vmach_wait_charge(struct kvgpu_machine *m, struct machine_obs *w, bool works, u64 began)
{
	struct machine_slicer *s = &w->gpu->chip->slicer;
	struct kvgpu_machine *o;
	u64 now, ns;

	vmach_slicer_assert(w->gpu);
	vmach_engines_observe(w);
	works |= vmach_obs_seen(w, m);
	now = ktime_get_ns();
	ns = now - began;
	write_seqlock(&s->acct_lock);
	list_for_each_entry(o, &w->gpu->chip->live, node)
		if (o != m)
			charge_waiter(o, w, vmach_obs_ns(w, o), now);
	charge_waiter(m, w, works ? ns : vmach_obs_idle_part(w, m, min(ns, w->blocked_ns)), now);
	if (!--s->samples.paused) {
		s->samples.charged = now;
		s->samples.busy_ns += w->worked;
	}
	write_sequnlock(&s->acct_lock);
}
