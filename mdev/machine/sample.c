// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the engines' status at random times. The slicer draws these times (sched/gap.c). The slicer
 * uses the result under gpu->lock. But the slicer may come late: a guest may make it wait for that
 * lock, or it may be resting. By then the guest's work may be over, and would not be seen. So a
 * separate thread, with a real-time priority, reads the status when the drawn time has come,
 * without a lock, and wakes the slicer. look.c uses the result as the sample.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "mdev/machine/internal.h"

/*
 * most reads of one engine's status in a sample: between two methods an engine is idle for a moment
 */
#define LOOKS	3

static u32 read_engine(struct kvgpu_gpu *gpu, u8 e)
{
	u32 st = 0, i;

	for (i = 0; i < LOOKS && !(st & PFIFO_STATUS_BUSY); i++)
		st = kvgpu_hw_engine_status(&gpu->hw, e);
	return st;
}

static void engines_sample(struct kvgpu_chip *chip, u64 at)
{
	struct machine_sampler *s = &chip->slicer.sampler;
	struct kvgpu_gpu *gpu = chip->gpu;
	u8 runl = vmach_gr_runl_get(gpu), e;

	/*
	 * begin with the last engines, which are copy engines: their work is mostly shorter than
	 * GR's
	 */
	for (e = gpu->hw.topo.nr_engines; e-- > 0;)
		s->engine[e] = gpu->hw.topo.engine[e].runl == runl ? read_engine(gpu, e) : 0;
	/* pairs with vmach_sample_taken(): a reader that sees .taken sees all of .engine[] */
	smp_store_release(&s->taken, at);
	vmach_slicer_kick(gpu);
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
			engines_sample(chip, at);
			continue;
		}
		until = ns_to_ktime(at);
		if (kthread_should_stop())
			;
		else if (!at || at == s->taken || at == ~0ull)
			schedule();	/* sleeps until a kick, which comes when a time is drawn */
		else
			/*
			 * no timer slack: read the engines as soon as possible after the drawn
			 * time, which no guest can guess
			 */
			schedule_hrtimeout_range(&until, 0, HRTIMER_MODE_ABS);
		__set_current_state(TASK_RUNNING);
	}
	return 0;
}

bool vmach_sample_taken(const struct machine_slicer *s)
{
	/* pairs with the sampler's release: .engine[] was read for .sample_at */
	return s->sample_at && smp_load_acquire(&s->sampler.taken) == s->sample_at;
}

void vmach_sampler_kick(struct machine_slicer *s)
{
	struct task_struct *t;

	/* keeps the task_struct valid while vmach_sampler_stop() ends the thread */
	rcu_read_lock();
	t = READ_ONCE(s->sampler.thread);
	if (t)
		wake_up_process(t);
	rcu_read_unlock();
}

int vmach_sampler_start(struct kvgpu_chip *chip)
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

void vmach_sampler_stop(struct kvgpu_chip *chip)
{
	struct task_struct *t = chip->slicer.sampler.thread;

	if (!t)
		return;
	/* clear .thread first, because the slicer may still call vmach_sampler_kick() */
	WRITE_ONCE(chip->slicer.sampler.thread, NULL);
	kthread_stop(t);
}
