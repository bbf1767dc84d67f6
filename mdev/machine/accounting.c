// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting of GPU time: charges vGPUs for it, and tells how much each was charged. poll.c charges
 * the time between polls: a vGPU that a usage sample sees at work pays until the next sample, or
 * until it leaves the chip. slice.c charges the time in which it takes a vGPU off the chip.
 * vmach_wait_charge() charges waits for the chip.
 *
 * The slicer calls all of this, and any thread vmach_gpu_time_get(), which needs no lock.
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

/*
 * Returns the ns charged to @m so far. slicer->polled is the time up to which vGPUs are charged. If
 * @m is .busy (charged until the next sample) and on the chip, adds the time from slicer->polled to
 * now, without waits that are charged already. Never returns less than in an earlier call.
 */
u64 vmach_gpu_time_get(struct kvgpu_machine *m)
{
	struct machine_slicer *s = &m->v->gpu->chip->slicer;
	unsigned int seq;
	s64 ns, reported;

	do {
		seq = read_seqbegin(&s->acct_lock);
		ns = atomic64_read(&m->gpu_ns);
		if (READ_ONCE(m->slice.busy) && READ_ONCE(m->slice.on_chip))
			ns += max_t(s64,
				    ktime_get_ns() - READ_ONCE(s->polled) -
					    READ_ONCE(m->slice.left_out),
				    0);
	} while (read_seqretry(&s->acct_lock, seq));
	reported = atomic64_read(&m->slice.reported);
	do {
		if (reported >= ns)
			return reported;
	} while (!atomic64_try_cmpxchg(&m->slice.reported, &reported, ns));
	return ns;
}

void vmach_wait_begin(struct machine_obs *w, struct kvgpu_gpu *gpu)
{
	vmach_slicer_assert(gpu);
	vmach_obs_begin(w, gpu);
	vmach_engines_observe(w);
}

/*
 * Charges @m for @ns of a wait that ends @now and took @wait ns. The next poll is to leave out the
 * wait for @m, and the samples of that time.
 */
static void charge_waiter(struct kvgpu_machine *m, u64 ns, u64 wait, u64 now)
{
	m->slice.waited += ns;
	if (!m->slice.left_out)
		m->slice.left_from = now - wait;
	m->slice.left_out += wait;
	m->slice.void_samples |= vmach_samples_find(m->v->gpu->chip, now - wait, now);
	vmach_time_charge(m, ns, now);
}

/*
 * Returns the part of @ns for which no engine worked for another vGPU than @m, by the observations
 * in @w, of which there is one at least.
 */
static u64 idle_part(const struct kvgpu_machine *m, const struct machine_obs *w, u64 ns)
{
	return div_u64(ns * (w->nr_obs - vmach_obs_others(w, m)), w->nr_obs);
}

bool vmach_fault_charge(struct kvgpu_chan *c, const struct machine_obs *w)
{
	struct kvgpu_machine *m = c->vgpu->m;
	struct kvgpu_chip *chip = m->v->gpu->chip;
	u64 now, at, had, ns, wait;

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
	ns = idle_part(m, w, now - at - min(had, now - at));
	/*
	 * The part of that time which the next poll would charge by its samples. Samples of no more
	 * time are left out than is charged here.
	 */
	wait = min(ns, now - clamp(chip->slicer.polled, at, now));
	write_seqlock(&chip->slicer.acct_lock);
	vmach_time_charge(m, ns - wait, now);
	charge_waiter(m, wait, m->slice.busy && m->slice.on_chip ? 0 : wait, now);
	write_sequnlock(&chip->slicer.acct_lock);
	return true;
}

/*
 * Charges other vGPUs than @m for their parts of a wait of @ns that ends @now: the parts of the
 * observations in @w that saw an engine work for them. slicer->acct_lock is held for writing.
 */
static void charge_others(struct kvgpu_machine *m, const struct machine_obs *w, u64 ns, u64 now)
{
	struct kvgpu_machine *o;
	u64 part;

	list_for_each_entry(o, &w->gpu->chip->live, node) {
		part = o == m ? 0 : div_u64(ns * vmach_obs_count(w, o), w->nr_obs);
		if (!part)
			continue;
		charge_waiter(o, part, ns, now);
	}
}

/*
 * Charges the time from @began to now, in which the slicer waited for the chip on behalf of @m.
 * The slicer made no poll meanwhile. @w has the observations that
 * were made meanwhile, from vmach_wait_begin() on. @works: @m was at work, whatever @w says.
 * - If @works, or an observation saw an engine work for @m, @m is charged all of the time.
 * - Otherwise @m is charged the time in which the runlist stood still for it (@w->blocked_ns), but
 *   not the part of the observations that saw an engine work for another vGPU.
 * - For other vGPUs the time is as any other: what samples see in it decides what they pay.
 * - But if the wait was so long that no more samples are taken before the next poll, a vGPU for
 *   which an observation saw an engine work is charged a part of the time: the part of the
 *   observations that saw it.
 */
void vmach_wait_charge(struct kvgpu_machine *m, struct machine_obs *w, bool works, u64 began)
{
	struct machine_slicer *s = &w->gpu->chip->slicer;
	u64 now, ns;

	vmach_slicer_assert(w->gpu);
	vmach_engines_observe(w);
	works |= vmach_obs_count(w, m) > 0;
	now = ktime_get_ns();
	ns = now - began;
	write_seqlock(&s->acct_lock);
	if (vmach_late_samples_count(s) == LATE_SAMPLES)
		charge_others(m, w, ns, now);
	if (!works)
		ns = idle_part(m, w, min(ns, w->blocked_ns));
	if (ns)
		charge_waiter(m, ns, ns, now);
	write_sequnlock(&s->acct_lock);
}
