// SPDX-License-Identifier: GPL-2.0-only
/*
 * What other threads do in place of the slicer. The slicer, one thread per card, owns PFIFO, the
 * engines and the lists (slice.c). A thread that needs them makes a *request*. While the slicer
 * rests, the thread runs the request itself, as the slicer: that saves two switches of threads. It
 * has .chip_lock meanwhile, so that the slicer, which has a real-time priority, lends it that one
 * as soon as there is more to do: a VMM, which decides when its threads run, keeps nothing of the
 * chip. Otherwise the thread posts the request, and waits until the slicer has served it. A request
 * that may evict a channel is always posted: nothing is charged by samples while it runs, so its
 * time must not be that of a VMM's thread.
 *
 * A request lies on the stack of its thread, so the wait can't be interrupted; what a request does
 * is bounded in time. A thread of a VMM posts with vgpu->lock held, so that a vGPU has one request
 * in the queue at most: the queue serves the vGPUs in turns.
 *
 * PFIFO has one register for preempts, and forgets a preempt when the next one is written there.
 * The preempts of a switch and of guests take turns at it (struct machine_preempt). The slicer
 * waits for the first of them for KVGPU_HW_WATCH_US at a time, and serves requests in between. An
 * eviction (recover.c) takes the register without a slot; the preempt that had it begins anew, and
 * no other request evicts for as long as the last one took. In that time a channel whose kernels
 * are short leaves, however often others unbind.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "mdev/machine/internal.h"

/* most ns of a wait for the register that count as time of the preempt that waits */
#define WAIT_NS (100ull * NSEC_PER_MSEC)
/* least ns between requests that evict, while a preempt waits */
#define KEEP_NS (10ull * NSEC_PER_MSEC)
/* ns for which a guest's preempt keeps the register from a switch */
#define YIELD_NS NSEC_PER_MSEC

/* A request; on the stack of the thread that waits for it. */
struct request {
	struct list_head node;
	void (*serve)(void *arg);
	void *arg;
	bool evicts;
	u64 posted; /* ktime, ns */
	struct completion *done;
};

/* ------------------------------------------------------------------ threads of the card */

int vmach_thread_start(struct kvgpu_chip *chip, struct task_struct **thread,
		       int (*main)(void *chip), const char *name)
{
	struct task_struct *t = kthread_create(main, chip, name, pci_name(chip->gpu->hw.pdev));

	if (IS_ERR(t))
		return PTR_ERR(t);
	sched_set_fifo_low(t);
	WRITE_ONCE(*thread, t);
	wake_up_process(t);
	return 0;
}

void vmach_thread_stop(struct task_struct **thread)
{
	struct task_struct *t = *thread;

	if (!t)
		return;
	/* first, because another thread or an interrupt may still wake it */
	WRITE_ONCE(*thread, NULL);
	kthread_stop(t);
}

void vmach_thread_wake(struct task_struct **thread)
{
	struct task_struct *t;

	/* under RCU the task_struct stays valid while vmach_thread_stop() ends the thread */
	rcu_read_lock();
	t = READ_ONCE(*thread);
	if (t)
		wake_up_process(t);
	rcu_read_unlock();
}

void vmach_sleep_until(u64 until)
{
	ktime_t at = ns_to_ktime(until);

	if (until == ~0ull)
		schedule();
	else
		/* no timer slack: turns end, and samples are taken, soon after the time */
		schedule_hrtimeout_range(&at, 0, HRTIMER_MODE_ABS);
}

/* ------------------------------------------------------------------ requests */

static void kick(struct kvgpu_gpu *gpu, int bit)
{
	struct machine_slicer *s = &gpu->chip->slicer;

	if (!test_and_set_bit(bit, &s->kicked))
		vmach_thread_wake(&s->thread);
}

void vmach_slicer_kick(struct kvgpu_gpu *gpu)
{
	kick(gpu, SLICER_POLL);
}

void vmach_recovery_kick(struct kvgpu_gpu *gpu)
{
	kick(gpu, SLICER_RECOVER);
}

void vmach_chip_take(struct machine_slicer *s)
{
	rt_mutex_lock(&s->chip_lock);
	WRITE_ONCE(s->at_chip, current);
}

void vmach_chip_leave(struct machine_slicer *s)
{
	WRITE_ONCE(s->at_chip, NULL);
	rt_mutex_unlock(&s->chip_lock);
}

static void request_run(struct machine_slicer *s, const struct request *r)
{
	u64 began = ktime_get_ns();

	r->serve(r->arg);
	s->requests.nr++;
	s->requests.ran_ns += ktime_get_ns() - began;
	s->requests.took_ns += ktime_get_ns() - r->posted;
}

/* Runs @r in this thread. False: others' requests wait, or another thread is at the chip. */
static bool run_here(struct machine_slicer *s, const struct request *r)
{
	if (r->evicts || !list_empty(&s->requests.waiting) || !rt_mutex_trylock(&s->chip_lock))
		return false;
	WRITE_ONCE(s->at_chip, current);
	request_run(s, r);
	vmach_chip_leave(s);
	if (!list_empty(&s->preempts))
		vmach_thread_wake(&s->thread);
	return true;
}

static void request_make(struct kvgpu_gpu *gpu, struct request *r)
{
	struct machine_slicer *s = &gpu->chip->slicer;
	DECLARE_COMPLETION_ONSTACK(done);

	if (current == READ_ONCE(s->at_chip)) {
		r->serve(r->arg);
		return;
	}
	r->done = &done;
	r->posted = ktime_get_ns();
	if (run_here(s, r))
		return;
	spin_lock(&s->requests.lock);
	list_add_tail(&r->node, &s->requests.waiting);
	spin_unlock(&s->requests.lock);
	vmach_thread_wake(&s->thread);
	wait_for_completion(&done);
}

void vmach_slicer_call(struct kvgpu_gpu *gpu, void (*serve)(void *arg), void *arg)
{
	request_make(gpu, &(struct request){ .serve = serve, .arg = arg });
}

void vmach_slicer_evict(struct kvgpu_gpu *gpu, void (*serve)(void *arg), void *arg)
{
	request_make(gpu, &(struct request){ .serve = serve, .arg = arg, .evicts = true });
}

/* Takes the first request; of those that evict none, while a preempt is to keep the register. */
static struct request *request_take(struct machine_slicer *s)
{
	bool disturb = list_empty(&s->preempts) || ktime_get_ns() >= s->requests.evict_after;
	struct request *r, *first = NULL;

	spin_lock(&s->requests.lock);
	list_for_each_entry(r, &s->requests.waiting, node)
		if (!first && (disturb || !r->evicts))
			first = r;
	if (first)
		list_del(&first->node);
	spin_unlock(&s->requests.lock);
	return first;
}

bool vmach_requests_serve(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;
	struct request *r = request_take(s);
	u64 began = ktime_get_ns(), now;

	if (!r)
		return false;
	request_run(s, r);
	if (r->evicts) {
		now = ktime_get_ns();
		s->requests.evict_after = now + clamp(now - began, KEEP_NS, WAIT_NS);
	}
	complete(r->done);
	return true;
}

/* ---------------------------------------------------------------- turns of the preempt register */

void vmach_preempt_add(struct kvgpu_chip *chip, struct machine_preempt *p)
{
	p->asked = ktime_get_ns();
	p->slot_from = p->ns;
	list_add_tail(&p->node, &chip->slicer.preempts);
}

/* Takes the register from the preempt that has it, if one has. */
static void slot_release(struct machine_slicer *s)
{
	struct machine_preempt *p = s->preempting;
	u64 now = ktime_get_ns();

	if (!p)
		return;
	p->ns += now - p->began;
	p->asked = now;
	s->preempting = NULL;
}

/* A wait of @p for the register ends at @now. */
static void wait_count(struct machine_preempt *p, u64 now)
{
	p->ns += min(now - p->asked, WAIT_NS);
	p->asked = now;
}

int vmach_preempt_now(struct kvgpu_gpu *gpu, struct machine_hid hid, unsigned int ms)
{
	struct machine_slicer *s = &gpu->chip->slicer;
	struct machine_preempt *p;
	int ret;

	vmach_slicer_assert(gpu);
	slot_release(s);
	ret = kvgpu_hw_preempt(&gpu->hw, hid.tsg, hid.id, ms, vmach_engines_observe, gpu);
	list_for_each_entry(p, &s->preempts, node)
		wait_count(p, ktime_get_ns());
	return ret;
}

/* A preempt of a switch keeps the register longer than others do while a switch waits. */
static u64 slot_length(const struct kvgpu_chip *chip, const struct machine_preempt *p)
{
	const struct machine_runl *r;
	bool yields = false;

	for_each_runl(r, chip) {
		if (p == &r->sw.leave)
			return PREEMPT_SLOT_MS * NSEC_PER_MSEC;
		yields |= r->sw.waits;
	}
	return yields ? YIELD_NS : PREEMPT_SLOT_MS * NSEC_PER_MSEC;
}

bool vmach_preempts_step(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;
	struct machine_preempt *p =
		list_first_entry_or_null(&s->preempts, struct machine_preempt, node);
	int ret;

	if (!p)
		return false;
	if (s->preempting != p) {
		kvgpu_hw_preempt_begin(&chip->gpu->hw, p->hid.tsg, p->hid.id);
		p->began = ktime_get_ns();
		wait_count(p, p->began);
		s->preempting = p;
	}
	ret = kvgpu_hw_preempt_wait(&chip->gpu->hw);
	vmach_engines_observe(chip->gpu);
	if (ret == -ETIMEDOUT && !vmach_gpu_lost(chip->gpu) &&
	    p->ns - p->slot_from + ktime_get_ns() - p->began < slot_length(chip, p))
		return true;
	slot_release(s);
	list_del(&p->node);
	p->over(chip, p, ret);
	return true;
}
