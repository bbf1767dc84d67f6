// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage samples: readings of the engines' status at random times (sched/gap.c), by which vGPUs are
 * charged while they take no turns (accounting.c). A vGPU that a sample sees at work is .busy: it
 * is charged until the next sample. A thread of its own, the sampler, with a real-time priority,
 * takes them: guests decide what the slicer does meanwhile, and for how long. The status names a
 * channel or group (TSG) by its id, and chip->has_id the vGPU that has the id. While the slicer
 * waits for the chip, samples do not count (wait.h).
 *
 * The sampler takes event_lock, for the list of vGPUs, and acct_lock and slicer->lock inside it.
 */
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "mdev/machine/internal.h"

/*
 * most reads of one engine's status in a sample: between two commands an engine is idle for a
 * moment
 */
#define ENGINE_READS 3

/*
 * Notes which vGPUs an engine of @r was seen to work for, which name the vGPUs in @vgpu. @unnamed:
 * one works and names none. @counts: who was seen is .busy from now on. event_lock is held, and
 * acct_lock for writing.
 */
static void note_usage(struct machine_runl *r, const u32 *vgpu, bool unnamed, bool counts)
{
	struct machine_slice *sl;
	bool named;

	list_for_each_entry(sl, &r->slices, node) {
		named = vmach_vgpu_named(sl->m, vgpu);
		sl->charge.sampled |= named;
		if (counts)
			sl->charge.busy = named || (unnamed && sl->on_chip && sl->found.work);
	}
}

/*
 * Takes a sample: charges each .busy vGPU up to now, and notes which are .busy from now on. If an
 * engine works and names no vGPU, each vGPU that has work may be the one.
 */
static void take_sample(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;
	u64 now = ktime_get_ns(), mean;
	u32 vgpu[NR_RUNLS][KVGPU_MAX_ENGINE];
	bool unnamed[NR_RUNLS], counts;
	struct machine_runl *r;

	for_each_runl(r, chip)
		unnamed[r - chip->runl] = vmach_engines_name(r, ENGINE_READS, vgpu[r - chip->runl]);
	spin_lock(&chip->event_lock);
	write_seqlock(&s->acct_lock);
	counts = !s->samples.paused && now >= s->samples.charged;
	if (counts)
		vmach_time_settle(chip, now);
	for_each_runl(r, chip)
		note_usage(r, vgpu[r - chip->runl], unnamed[r - chip->runl], counts);
	mean = s->samples.mean;
	s->samples.at = mean == ~0ull ? ~0ull :
					ktime_get_ns() + kvgpu_sched_gap(mean, get_random_u64());
	write_sequnlock(&s->acct_lock);
	spin_unlock(&chip->event_lock);
	set_bit(SLICER_SAMPLED, &s->kicked);
	vmach_slicer_kick(chip->gpu);
}

int vmach_sampler_main(void *arg)
{
	struct kvgpu_chip *chip = arg;
	bool due;
	u64 at;

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		at = READ_ONCE(chip->slicer.samples.at);
		due = at <= ktime_get_ns();
		if (!due && !kthread_should_stop())
			vmach_sleep_until(at);
		__set_current_state(TASK_RUNNING);
		if (due)
			take_sample(chip);
	}
	return 0;
}

void vmach_samples_set(struct kvgpu_chip *chip, u64 now, u64 mean)
{
	struct machine_slicer *s = &chip->slicer;
	u64 was = s->samples.mean;

	write_seqlock(&s->acct_lock);
	s->samples.mean = mean ?: ~0ull;
	if (s->samples.mean < was)
		WRITE_ONCE(s->samples.at,
			   min(s->samples.at, now + kvgpu_sched_gap(mean, get_random_u64())));
	write_sequnlock(&s->acct_lock);
	if (s->samples.mean < was)
		vmach_thread_wake(&s->samples.thread);
}
