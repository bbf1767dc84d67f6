// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage samples: readings of the engines' status at random times. The slicer (the thread that gives
 * the chip to vGPUs in turns: slice.c) draws these times (sched/gap.c). It uses a sample in its
 * next *poll* (poll.c), in which it finds out which vGPUs have work or are at work. But the slicer
 * may come late: it may evict a channel, or rest. By then the guest's work
 * may be over. So a separate thread, the sampler, with a real-time priority, reads the status when
 * the drawn time has come, without a lock, and wakes the slicer. Until the slicer comes, the
 * sampler takes *late samples*, at times that it draws itself with the same mean gap. They see the
 * work of a guest that makes the slicer come late.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "mdev/machine/internal.h"

/*
 * most reads of one engine's status in a sample: between two commands an engine is idle for a
 * moment
 */
#define ENGINE_READS 3

/* Returns the status of engine @e: the first read that has BUSY, else the last read. */
static u32 read_engine(struct kvgpu_gpu *gpu, u8 e)
{
	u32 st = 0, i;

	for (i = 0; i < ENGINE_READS && !(st & PFIFO_STATUS_BUSY); i++)
		st = kvgpu_hw_engine_status(&gpu->hw, e);
	return st;
}

static void read_engines(struct kvgpu_gpu *gpu, struct machine_usage_sample *p)
{
	u8 runl = vmach_gr_runl_get(gpu), e;

	p->at = ktime_get_ns();
	/*
	 * begin with the last engines, copy engines: their work is mostly shorter than that of GR
	 */
	for (e = gpu->hw.topo.nr_engines; e-- > 0;)
		p->engine[e] = gpu->hw.topo.engine[e].runl == runl ? read_engine(gpu, e) : 0;
}

/*
 * Draws the time of the next late sample; ~0: none, because .late is full or no sample is planned.
 */
static void draw_late(struct kvgpu_chip *chip)
{
	struct machine_sampler *s = &chip->slicer.sampler;
	u64 mean = READ_ONCE(chip->slicer.sample_mean);

	s->late_at = ~0ull;
	if (mean && mean != ~0ull && s->nr_late < LATE_SAMPLES)
		s->late_at = ktime_get_ns() + kvgpu_sched_gap(mean, get_random_u64());
}

/* Takes the first sample, for which the slicer has drawn time @at, and wakes the slicer. */
static void take_first(struct kvgpu_chip *chip, u64 at)
{
	struct machine_sampler *s = &chip->slicer.sampler;

	read_engines(chip->gpu, &s->first);
	WRITE_ONCE(s->nr_late, 0);
	draw_late(chip);
	/* pairs with vmach_sample_taken(): a reader that sees .taken sees .first and .nr_late */
	smp_store_release(&s->taken, at);
	vmach_slicer_kick(chip->gpu);
}

/* Takes a late sample, because the slicer has not used the first one yet. */
static void take_late(struct kvgpu_chip *chip)
{
	struct machine_sampler *s = &chip->slicer.sampler;

	read_engines(chip->gpu, &s->late[s->nr_late]);
	/* pairs with vmach_late_samples_count(): its caller sees the samples that it counts */
	smp_store_release(&s->nr_late, s->nr_late + 1);
	draw_late(chip);
}

static int sampler_main(void *arg)
{
	struct kvgpu_chip *chip = arg;
	struct machine_sampler *s = &chip->slicer.sampler;
	u64 drawn, at;
	ktime_t until;

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		drawn = READ_ONCE(chip->slicer.sample_at);
		at = drawn == s->taken ? s->late_at : drawn;
		if (drawn && at <= ktime_get_ns()) {
			__set_current_state(TASK_RUNNING);
			if (drawn == s->taken)
				take_late(chip);
			else
				take_first(chip, drawn);
			continue;
		}
		until = ns_to_ktime(at);
		if (kthread_should_stop())
			;
		else if (!drawn || at == ~0ull)
			/* until vmach_sampler_kick() */
			schedule();
		else
			/* no timer slack: read the engines soon after the drawn time */
			schedule_hrtimeout_range(&until, 0, HRTIMER_MODE_ABS);
		__set_current_state(TASK_RUNNING);
	}
	return 0;
}

/* Tells whether .first was read for the sample at time @at. */
static bool taken_for(const struct machine_slicer *s, u64 at)
{
	/* pairs with take_first() */
	return at && smp_load_acquire(&s->sampler.taken) == at;
}

bool vmach_sample_taken(const struct machine_slicer *s)
{
	return taken_for(s, READ_ONCE(s->sample_at));
}

u32 vmach_late_samples_count(const struct machine_slicer *s)
{
	/* pairs with take_late() */
	return vmach_sample_taken(s) ? smp_load_acquire(&s->sampler.nr_late) : 0;
}

static void sample_name(struct kvgpu_chip *chip, struct machine_usage_sample *p)
{
	struct kvgpu_machine *m;
	u8 e;

	for (e = 0; e < chip->gpu->hw.topo.nr_engines; e++) {
		m = p->engine[e] & PFIFO_STATUS_BUSY ? vmach_status_owner(chip, p->engine[e]) :
						       NULL;
		p->vgpu[e] = m ? m->v->id : 0;
	}
}

bool vmach_samples_name(struct kvgpu_chip *chip)
{
	struct machine_sampler *s = &chip->slicer.sampler;
	u64 at = READ_ONCE(chip->slicer.sample_at);
	bool taken = taken_for(&chip->slicer, at);
	u32 nr = taken ? 1 + vmach_late_samples_count(&chip->slicer) : 0;

	vmach_slicer_assert(chip->gpu);
	if (s->named_at != at)
		s->named = 0;
	s->named_at = at;
	for (; s->named < nr; s->named++)
		sample_name(chip, s->named ? &s->late[s->named - 1] : &s->first);
	return taken;
}

u64 vmach_samples_find(struct kvgpu_chip *chip, u64 from, u64 to)
{
	const struct machine_sampler *s = &chip->slicer.sampler;
	const struct machine_usage_sample *p = &s->first;
	u32 i, nr;
	u64 found = 0;

	nr = vmach_sample_taken(&chip->slicer) ? 1 + vmach_late_samples_count(&chip->slicer) : 0;
	for (i = 0; i < nr; p = &s->late[i++])
		if (p->at >= from && p->at <= to)
			found |= BIT_ULL(i);
	return found;
}

void vmach_sampler_kick(struct machine_slicer *s)
{
	struct task_struct *t;

	/* under RCU the task_struct stays valid while vmach_sampler_stop() ends the thread */
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
