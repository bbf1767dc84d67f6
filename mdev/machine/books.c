// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charges vGPUs for GPU time, and tells how much time each vGPU was charged. look.c charges by
 * samples (its looks at the chip at random times), slice.c for switches. recover.c, chan.c and
 * slice.c charge for waits in which they hold gpu->lock.
 *
 * gpu->lock is held, except in vmach_gpu_time_get(), which any thread may call.
 */
#include "mdev/machine/internal.h"

/*
 * ns at the end of a wait for the chip in which other vGPUs may have worked unseen: the chip may
 * have been done some time before the waiting thread ran again. That thread holds gpu->lock. When
 * another thread has waited 1 to 2 ms for gpu->lock, the holder is lent a priority (hw/lock.h), and
 * runs.
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
 * Returns the ns charged to @m so far. Adds the ns since slicer->looked, up to which time all vGPUs
 * are charged already, if @m is being charged now. Never returns less than in an earlier call.
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

/*
 * Charges the time from @began to now, in which this thread waited for the chip on behalf of @m.
 * The thread held gpu->lock, so that no look was made. There are three cases:
 * - @m was at work (@works): @m is charged all of the time.
 * - Else, if another vGPU was at work at the beginning (@others) or is now: the time stays
 *   uncharged here, and the next look charges it by the samples.
 * - Else: the last part of the time, UNSEEN_NS at most, is left to the next look, because other
 *   vGPUs may have worked unseen. No vGPU is charged for the rest.
 */
void vmach_wait_charge(struct kvgpu_machine *m, bool works, bool others, u64 began)
{
	struct machine_slicer *s = &m->v->gpu->chip->slicer;
	u64 now = ktime_get_ns(), ns = now - began;

	kvgpu_hw_lock_assert_held(&m->v->gpu->lock);
	write_seqlock(&s->books);
	m->slice.waited += works ? ns : 0;
	if (works)
		vmach_time_charge(m, ns, now);
	else if (others || vmach_others_work(m))
		ns = 0;
	else
		ns -= min_t(u64, ns, UNSEEN_NS);
	s->looked = min(s->looked + ns, now);
	write_sequnlock(&s->books);
}
