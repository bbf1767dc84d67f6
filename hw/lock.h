/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that all tenants of a card need. (A tenant is a VM that has a vGPU of the card.)
 *
 * Threads of VMMs take these locks, and a VMM decides when its threads run. If such a thread slept
 * for a flush with a plain mutex held, the scheduler might run it again only after a second
 * (SCHED_IDLE, no quota left), and all tenants would wait. S5 of docs/invariants.md forbids that.
 * These locks therefore lend a priority to their holder:
 *
 * - A lock is an rt_mutex: its holder inherits the priority of a thread that waits in its queue.
 * - An ordinary thread has no real-time priority to pass on. So each card has a lender, a thread
 *   with a real-time priority. When threads have waited for 1 to 2 ms, the lender queues at the
 *   card's locks, one after the other. While it waits for a lock, the lock's holder runs with its
 *   priority. The lender comes to gpu->lock last, because its holder may poll for another lock.
 * - An rt_mutex that is released is reserved for the first waiter in its queue. As long as the
 *   scheduler does not run that waiter, the rt_mutex has no holder to which a priority could be
 *   lent. An ordinary thread therefore does not wait in the rt_mutex's queue, unless it holds
 *   another of the card's locks, waits in kvgpu_hw_lock_watched(), or is lent a priority while it
 *   waits.
 * - Ordinary threads wait in a queue of turns instead. When a lock is released, it is kept for the
 *   oldest waiter, and from other ordinary threads, for a millisecond. If the oldest waiter has not
 *   taken it by then, the next thread that wants the lock takes it. The oldest waiter stays the
 *   oldest, and the lock is kept for it again after the next release, at most three times in all.
 * - A waiter may be run more than a millisecond after each wake-up: the scheduler first finishes
 *   the slice of another thread. So the lender lends to waiters, too. Each waiter holds an rt_mutex
 *   of its own, at which the lender queues. The waiter then runs at once, and takes the lock or
 *   queues at the lock's rt_mutex, and no other ordinary thread takes the lock before it does. The
 *   lender does so for each waiter that is there when it comes to the lock, the oldest first.
 * - While a thread keeps the chip from all vGPUs, no other thread need wait for a lock that it has,
 *   so that the lender does not come, or comes late. So two locks (.hurries) have a thread of their
 *   own each, which queues at the lock at once when it is asked to (kvgpu_hw_lock_hurry()). The
 *   lender asks them, too, before it begins.
 *
 * So a thread that takes a lock again and again can't keep it from a waiter, and a waiter that is
 * not run delays others for a bounded time: for the 1 to 2 ms until the lender comes, and for what
 * the lender does before. A waiter gets the lock when each waiter before it has had it once.
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
	struct task_struct *holder; /* thread that has the lock; NULL: none, or the lender's */
	wait_queue_head_t wait; /* ordinary threads that wait for their turn */
	/* leaf lock; protects .turns, .kept_until and .kept */
	spinlock_t turns_lock;
	struct list_head turns; /* waiting ordinary threads, oldest first */
	/*
	 * time (ktime_get_ns()) until which the lock is kept for the oldest waiter; 0: the lock was
	 * not kept for that waiter yet
	 */
	u64 kept_until;
	u32 kept; /* how many times the lock was kept for the oldest waiter */
	/*
	 * number of waiting threads that are urgent: threads that have a real-time priority, of
	 * their own or lent, threads that hold another of the card's locks, and threads in
	 * kvgpu_hw_lock_watched(), but not the lender's threads
	 */
	atomic_t urgent;
	/*
	 * For kvgpu_hw_lock_hurry(). .hurries: the lock has a thread for that; set it after
	 * kvgpu_hw_lock_init(). .hurry: the thread. .hurried: the thread is to queue at the lock.
	 */
	bool hurries, hurried;
	struct task_struct *hurry;
};

#define HW_LENDER_LOCKS 8 /* most locks of one card */

/*
 * about this many us lie between calls of @look in kvgpu_hw_lock_watched() and
 * kvgpu_hw_preempt_watched()
 */
#define KVGPU_HW_WATCH_US 20

/* The lender of one card. */
struct kvgpu_hw_lender {
	struct task_struct *thread; /* NULL: not started, no priority is lent */
	struct kvgpu_hw_lock *lock[HW_LENDER_LOCKS];
	unsigned int nr;
	/*
	 * number of threads that wait for one of the locks, without the real-time threads in
	 * kvgpu_hw_lock(), which need no lender: the lock's holder inherits their priority
	 */
	atomic_t waiting;
};

/*
 * Initialises @l, whose memory must be zero, and adds @l to the locks of @lender. Call it before
 * kvgpu_hw_init() starts the lender's thread, and keep @l until kvgpu_hw_fini() has ended that
 * thread. A macro, because lockdep tells locks apart by the place where they are initialised.
 */
#define kvgpu_hw_lock_init(l, lender)          \
	do {                                   \
		rt_mutex_init(&(l)->mutex);    \
		kvgpu_hw_lock_join(l, lender); \
	} while (0)
void kvgpu_hw_lock_join(struct kvgpu_hw_lock *l, struct kvgpu_hw_lender *lender);

void kvgpu_hw_lock(struct kvgpu_hw_lock *l); /* sleeps while it waits for @l */
/*
 * Takes lock @l as an urgent thread. While another thread holds @l, calls kvgpu_hw_lock_hurry() and
 * @look about every KVGPU_HW_WATCH_US us, for the first 5 ms. After these 5 ms sleeps until it has
 * @l.
 */
void kvgpu_hw_lock_watched(struct kvgpu_hw_lock *l, void (*look)(void *arg), void *arg);
/*
 * Lends a priority to the thread that holds @l now, until it releases @l. Returns at once: the
 * priority comes when the thread .hurry has got a CPU, within some us. Call it before the chip is
 * kept from other vGPUs by a thread that holds @l, or if it is kept from them until @l is released.
 */
void kvgpu_hw_lock_hurry(struct kvgpu_hw_lock *l);
void kvgpu_hw_unlock(struct kvgpu_hw_lock *l);
/*
 * Tells whether an urgent thread waits for @l (kvgpu_hw_lock.urgent). The holder should then
 * release @l soon.
 */
bool hw_lock_is_urgent(const struct kvgpu_hw_lock *l);
#define kvgpu_hw_lock_assert_held(l) lockdep_assert_held(&(l)->mutex)

#endif
