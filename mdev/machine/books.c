// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charges vGPUs for GPU time, and tells how much time each vGPU was charged. In a *look*, the
 * slicer (the thread that gives the chip to vGPUs in turns: slice.c) looks for vGPUs that have work
 * or are at work. A *sample* is a look at a random time: a vGPU that it sees at work is charged
 * until the next sample, or until the vGPU leaves the chip. look.c charges the time between looks.
 * slice.c charges the time in which it takes a vGPU off the chip. vmach_wait_charge() charges waits
 * for the chip under gpu->lock.
 *
 * gpu->lock is held, except in vmach_gpu_time_get(), which needs no lock.
 */
#include "mdev/machine/internal.h"
#include "mdev/machine/seen.h"

/*
 * Length, ns, of the last part of a wait for the chip that vmach_wait_charge() leaves to the next
 * look. The chip may be done before the waiting thread runs again, and may work for other vGPUs in
 * between.
 */
#define UNSEEN_NS	NSEC_PER_MSEC

void vmach_time_charge(struct kvgpu_machine *m, u64 ns, u64 now)
{
	struct machine_slicer *s = &m->v->gpu->chip->slicer;

	atomic64_add(ns, &m->gpu_ns);
	spin_lock(&s->lock);
	kvgpu_sched_charge(&s->sched, &m->slice.ent, ns, now);
	spin_unlock(&s->lock);
}

/*
 * Returns the ns charged to @m so far. slicer->looked is the time up to which vGPUs are charged. If
 * @m is .busy (charged until the next sample) and on the chip, adds the time from slicer->looked to
 * now. Never returns less than in an earlier call.
 */
u64 vmach_gpu_time_get(struct kvgpu_machine *m)
{
	struct machine_slicer *s = &m->v->gpu->chip->slicer;
	unsigned int seq;
	s64 ns, told;

	do {
		seq = read_seqbegin(&s->books);
		ns = atomic64_read(&m->gpu_ns);
		if (READ_ONCE(m->slice.busy) && READ_ONCE(m->slice.on_chip))
			ns += max_t(s64, ktime_get_ns() - READ_ONCE(s->looked), 0);
	} while (read_seqretry(&s->books, seq));
	told = atomic64_read(&m->slice.told);
	do {
		if (told >= ns)
			return told;
	} while (!atomic64_try_cmpxchg(&m->slice.told, &told, ns));
	return ns;
}

void vmach_wait_begin(struct machine_seen *w, struct kvgpu_gpu *gpu)
{
	kvgpu_hw_lock_assert_held(&gpu->lock);
	vmach_seen_begin(w, gpu);
	vmach_engines_see(w);
}

/*
 * Charges @m and other vGPUs for their parts of a wait of @ns, by the readings in @w. @works: @m is
 * charged all of the time. Returns false if no vGPU is charged. slicer->books is held for writing.
 */
static bool charge_wait(struct kvgpu_machine *m, const struct machine_seen *w, bool works, u64 ns,
			u64 now)
{
	u64 part, left = READ_ONCE(w->gpu->chip->slicer.left_at);
	struct kvgpu_machine *o;
	bool any = works;

	list_for_each_entry(o, &w->gpu->chip->live, node) {
		part = o == m ? 0 : div_u64(ns * vmach_seen_count(w, o), w->looks);
		if (!part)
			continue;
		o->slice.waited += part;
		o->slice.waited_late += div_u64(ns * vmach_seen_late(w, o), w->looks);
		vmach_time_charge(o, part, now);
		any = true;
	}
	if (works) {
		m->slice.waited += ns;
		m->slice.waited_late += left ? min_t(u64, ns, now - min(left, now)) : 0;
		vmach_time_charge(m, ns, now);
	}
	return any;
}

/*
 * Charges the time from @began to now, in which this thread waited for the chip on behalf of @m.
 * The thread held gpu->lock all the time: the slicer made no look. @w has the readings that were
 * made meanwhile, from vmach_wait_begin() on. @works: @m was at work, whatever @w says.
 * - If @works, or a reading saw an engine work for @m, @m is charged all of the time.
 * - Another vGPU is charged a part of the time: the part of the readings that saw an engine work
 *   for it.
 * - If no vGPU is charged so, but a sample saw an engine at work in that time, the time is left to
 *   the next look. This thread may not have run for a while, and then made no readings.
 * - If no vGPU was seen at work at all, the last part of the time, UNSEEN_NS at most, is left to
 *   the next look, because vGPUs may have worked in it unseen. No vGPU is charged for the time
 *   before that part.
 * Samples of the time that is not left to the next look are dropped: they would count for the time
 * outside of the wait.
 */
void vmach_wait_charge(struct kvgpu_machine *m, struct machine_seen *w, bool works, u64 began)
{
	struct machine_slicer *s = &w->gpu->chip->slicer;
	u64 now, ns;

	kvgpu_hw_lock_assert_held(&w->gpu->lock);
	vmach_engines_see(w);
	works |= vmach_seen_count(w, m) > 0;
	now = ktime_get_ns();
	ns = now - began;
	write_seqlock(&s->books);
	if (!charge_wait(m, w, works, ns, now))
		ns = vmach_samples_saw(w->gpu->chip, began) ? 0 : ns - min_t(u64, ns, UNSEEN_NS);
	if (ns)
		vmach_samples_drop(w->gpu->chip, began, began + ns);
	s->looked = min(s->looked + ns, now);
	write_sequnlock(&s->books);
}
