/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that all tenants of a card need.
 *
 * Threads of VMMs take them, and a VMM decides when its threads run. Such a thread may have
 * SCHED_IDLE, no quota left, or busy neighbours on its CPU. If it sleeps with a plain mutex held,
 * for the 10 us of a flush, it may come back after a second, and all tenants wait for it (S5).
 * These locks therefore lend a priority to their holder:
 *
 * - A lock is an rt_mutex: its holder inherits the priority of a thread that waits in its queue.
 * - An ordinary priority is not worth inheriting. Each card has a lender, a thread with a real-time
 *   priority. When a thread has waited for a millisecond, the lender queues at the card's locks,
 *   one after the other. Until the lender gets a lock, that lock's holder runs, whatever its class
 *   and quota, and so does a thread for which the holder waits.
 * - An rt_mutex that is given back belongs to its first waiter. If that waiter is not run, there is
 *   no holder to lend a priority to. An ordinary thread therefore does not wait in the rt_mutex's
 *   queue unless it holds another of these locks.
 * - Ordinary threads wait in a queue of turns. A lock that is given back is kept for the oldest
 *   waiter for a millisecond, at most three times. Then that waiter loses its turn, and queues
 *   again when it runs. A thread that takes a lock again and again therefore has it no more often
 *   than its neighbours, and a thread that is not run costs them a bounded time.
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
	spinlock_t turns_lock;			/* leaf lock; protects turns, kept_until and kept */
	struct list_head turns;			/* waiting ordinary threads, oldest first */
	/* end of the oldest waiter's millisecond, ns; 0: starts at the next unlock */
	u64 kept_until;
	u32 kept;				/* milliseconds that the oldest waiter was given */
	/* waiting threads with a real-time priority or with another of these locks */
	atomic_t urgent;
};

#define HW_LENDER_LOCKS	8

/* The lender of one card. */
struct kvgpu_hw_lender {
	struct task_struct *thread;		/* NULL: not started, nothing is lent */
	struct kvgpu_hw_lock *lock[HW_LENDER_LOCKS];
	unsigned int nr;
	atomic_t waiting;	/* number of threads that wait for any of the locks */
};

/*
 * Adds @l to the locks of @lender. A macro, because lockdep tells locks apart by the place of their
 * initialisation.
 */
#define kvgpu_hw_lock_init(l, lender)          \
	do {                                   \
		rt_mutex_init(&(l)->mutex);    \
		kvgpu_hw_lock_join(l, lender); \
	} while (0)
void kvgpu_hw_lock_join(struct kvgpu_hw_lock *l, struct kvgpu_hw_lender *lender);

void kvgpu_hw_lock(struct kvgpu_hw_lock *l);		/* sleeps */
void kvgpu_hw_unlock(struct kvgpu_hw_lock *l);
/*
 * Tells whether an urgent thread, for which all tenants wait, is waiting for lock @l: the holder
 * should then give the lock back as soon as it can.
 */
bool hw_lock_is_urgent(const struct kvgpu_hw_lock *l);
#define kvgpu_hw_lock_assert_held(l)	lockdep_assert_held(&(l)->mutex)

#endif
