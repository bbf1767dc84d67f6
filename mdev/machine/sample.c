// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads at random times whom the engines work for (sched/gap.c draws the times). The slicer, which
 * needs gpu->lock to make use of it, may be kept waiting for that lock by a guest, or be resting,
 * until the work that was to be seen is over. So a thread of its own reads the engines' status, at
 * the very time, with no lock, and wakes the slicer: mdev/machine/look.c takes what stands here for
 * the sample.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "mdev/machine/internal.h"

#define LOOKS	3	/* between two methods an engine is idle for a moment */

static u32 read_engine(struct kvgpu_gpu *gpu, u8 e)
{
	u32 st = 0, i;

	for (i = 0; i < LOOKS && !(st & PFIFO_STATUS_BUSY); i++)
		st = kvgpu_hw_engine_status(&gpu->hw, e);
	return st;
}

static void take(struct kvgpu_chip *chip, u64 at)
{
	struct machine_sampler *s = &chip->slicer.sampler;
	struct kvgpu_gpu *gpu = chip->gpu;
	u8 runl = machine_gr_runl(gpu), e;

	/* copy engines first: they are more often */
	for (e = gpu->hw.topo.nr_engines; e-- > 0;)
		s->engine[e] = gpu->hw.topo.engine[e].runl == runl ? read_engine(gpu, e) : 0;
	smp_store_release(&s->taken, at);
	machine_slicer_kick(gpu);
}

static int sampler_main(void *arg)
{
	struct kvgpu_chip *chip = arg;
	struct machine_sampler *s = &chip->slicer.sampler;
	ktime_t until;
	u64 at;

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		at = READ_ONCE(chip->slicer.sample_at);
		if (at && at != s->taken && at <= ktime_get_ns()) {
			__set_current_state(TASK_RUNNING);
			take(chip, at);
			continue;
		}
		until = ns_to_ktime(at);
		if (kthread_should_stop())
			;
		else if (!at || at == s->taken || at == ~0ull)
			schedule();	/* until a time is drawn */
		else
			/* no slack: its time is nobody's to guess */
			schedule_hrtimeout_range(&until, 0, HRTIMER_MODE_ABS);
		__set_current_state(TASK_RUNNING);
	}
	return 0;
}

bool machine_sample_taken(const struct machine_slicer *s)
{
	return s->sample_at && smp_load_acquire(&s->sampler.taken) == s->sample_at;
}

void machine_sampler_kick(struct machine_slicer *s)
{
	struct task_struct *t;

	rcu_read_lock();	/* one that ends just now stays as long */
	t = READ_ONCE(s->sampler.thread);
	if (t)
		wake_up_process(t);
	rcu_read_unlock();
}

int machine_sampler_start(struct kvgpu_chip *chip)
{
	struct task_struct *t =
		kthread_create(sampler_main, chip, "kvgpu-see/%s", pci_name(chip->gpu->hw.pdev));

	if (IS_ERR(t))
		return PTR_ERR(t);
	sched_set_fifo_low(t);
	WRITE_ONCE(chip->slicer.sampler.thread, t);
	wake_up_process(t);
	return 0;
}

void machine_sampler_stop(struct kvgpu_chip *chip)
{
	struct task_struct *t = chip->slicer.sampler.thread;

	if (!t)
		return;
	/* before it ends: the slicer may still wake it */
	WRITE_ONCE(chip->slicer.sampler.thread, NULL);
	kthread_stop(t);
}
