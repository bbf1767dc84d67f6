// SPDX-License-Identifier: GPL-2.0-only
/* Locks that all tenants of a card need, and the thread that lends their holders its priority: lock.h says why. */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>

#include "hw/internal.h"

#define PATIENCE_US	1000		/* far longer than a lock is held by a thread that runs, but for evictions */

/* ------------------------------------------------------------------ the lender */

/* each holder gets on with the lender's priority until the lock is free */
static void lend(struct kvgpu_hw_lender *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++) {
		rt_mutex_lock(&b->lock[i]->mutex);
		rt_mutex_unlock(&b->lock[i]->mutex);
		wake_up(&b->lock[i]->wait);	/* who tried meanwhile found it taken */
	}
}

static int lender_main(void *arg)
{
	struct kvgpu_hw_lender *b = arg;

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!atomic_read(&b->waiting) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		if (!atomic_read(&b->waiting))
			continue;
		usleep_range(PATIENCE_US, 2 * PATIENCE_US);
		if (atomic_read(&b->waiting))
			lend(b);
	}
	return 0;
}

int hw_lender_start(struct kvgpu_hw *hw)
{
	struct task_struct *t = kthread_create(lender_main, &hw->lender, "kvgpu-lend/%s", pci_name(hw->pdev));

	if (IS_ERR(t))
		return PTR_ERR(t);
	sched_set_fifo_low(t);
	WRITE_ONCE(hw->lender.thread, t);
	wake_up_process(t);
	return 0;
}

void hw_lender_stop(struct kvgpu_hw *hw)
{
	kthread_stop(hw->lender.thread);
	hw->lender.thread = NULL;
}

/* ------------------------------------------------------------------ the locks */

void kvgpu_hw_lock_join(struct kvgpu_hw_lock *l, struct kvgpu_hw_lender *b)
{
	init_waitqueue_head(&l->wait);
	l->lender = b;
	if (!WARN_ON(b->nr == HW_LENDER_LOCKS))
		b->lock[b->nr++] = l;
}

static bool holds_another(const struct kvgpu_hw_lender *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++)
		if (READ_ONCE(b->lock[i]->holder) == current)
			return true;
	return false;
}

static void wait_for(struct kvgpu_hw_lock *l)
{
	struct kvgpu_hw_lender *b = l->lender;
	struct task_struct *t = READ_ONCE(b->thread);

	if (atomic_inc_return(&b->waiting) == 1 && t)
		wake_up_process(t);
	if (holds_another(b))
		rt_mutex_lock(&l->mutex);
	else
		wait_event(l->wait, rt_mutex_trylock(&l->mutex));
	atomic_dec(&b->waiting);
}

void kvgpu_hw_lock(struct kvgpu_hw_lock *l)
{
	might_lock(&l->mutex);		/* what is tried only says nothing about its order to lockdep */
	if (rt_task(current))
		rt_mutex_lock(&l->mutex);
	else if (!rt_mutex_trylock(&l->mutex))
		wait_for(l);
	WRITE_ONCE(l->holder, current);
}

void kvgpu_hw_unlock(struct kvgpu_hw_lock *l)
{
	WRITE_ONCE(l->holder, NULL);
	rt_mutex_unlock(&l->mutex);
	if (wq_has_sleeper(&l->wait))
		wake_up_all(&l->wait);
}
