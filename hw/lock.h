/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that all tenants of a card need.
 *
 * Threads of VMMs take them, and a VMM decides when such a thread runs: it may have SCHED_IDLE, no
 * quota left, or neighbours on its CPU. A thread that sleeps with a mutex held, for 10 us until a
 * flush has ended, then comes back after a second. All tenants would wait for it (S5). So these
 * locks lend their holder a priority:
 *
 *   - A lock is an rt_mutex, whose holder inherits the priority of a thread that waits in its
 *     queue.
 *   - Ordinary priorities are not worth inheriting. Each card has a lender, a thread with a
 *     real-time priority: when a thread has waited for a millisecond the lender queues at the
 *     card's locks, one after the other. Until it has got one that lock's holder runs, whatever its
 *     class and quota are, and whoever that one waits for runs, too.
 *   - An rt_mutex that was given back is its first waiter's, which may be a thread that is not run,
 *     either, and which holds nothing that a priority could be lent for. So an ordinary thread does
 *     not queue there; only a thread that has another of these locks already does.
 *   - Ordinary threads have a queue of turns instead. A lock that was given back is kept for the
 *     oldest waiter for a millisecond, three times at most; then that one has lost its turn, and
 *     queues again when it runs. So who takes a lock again and again has it no more often than its
 *     neighbours, and a thread that is not run costs them a bounded time.
 *
 * The order of these locks is in docs/locking.md.
 */
#ifndef KVGPU_HW_LOCK_H
#define KVGPU_HW_LOCK_H

#include <linux/list.h>
#include <linux/rtmutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct task_struct;
struct kvgpu_hw_lender;

struct kvgpu_hw_lock {
	struct rt_mutex mutex;
	struct kvgpu_hw_lender *lender;
	struct task_struct *holder;
	wait_queue_head_t wait;
	spinlock_t turns_lock;			/* leaf: all below */
	struct list_head turns;			/* ordinary threads that wait, oldest first */
	/* for the oldest of them, ns; 0: from the next unlock on */
	u64 kept_until;
	u32 kept;				/* so many times */
	/* threads that wait with a real-time priority, or with another of these locks */
	atomic_t urgent;
};

#define HW_LENDER_LOCKS	8

/* of one card */
struct kvgpu_hw_lender {
	struct task_struct *thread;		/* NULL: not started; nothing is lent */
	struct kvgpu_hw_lock *lock[HW_LENDER_LOCKS];
	unsigned int nr;
	atomic_t waiting;			/* threads that sleep at one of the locks */
};

/* @l is one of @lender's from now on. A macro: lockdep tells locks by where they are initialised */
#define kvgpu_hw_lock_init(l, lender)          \
	do {                                   \
		rt_mutex_init(&(l)->mutex);    \
		kvgpu_hw_lock_join(l, lender); \
	} while (0)
void kvgpu_hw_lock_join(struct kvgpu_hw_lock *l, struct kvgpu_hw_lender *lender);

void kvgpu_hw_lock(struct kvgpu_hw_lock *l);		/* sleeps */
void kvgpu_hw_unlock(struct kvgpu_hw_lock *l);
/*
 * Whether the holder is waited for by a thread for which all others wait: it lets go as soon as it
 * can.
 */
bool kvgpu_hw_lock_is_urgent(const struct kvgpu_hw_lock *l);
#define kvgpu_hw_lock_assert_held(l)	lockdep_assert_held(&(l)->mutex)

#endif
