// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks that all tenants of a card need, and the lender, the thread that lends its priority to
 * their holders. lock.h explains why, and the rules of the turns. Any thread that may sleep may
 * take the locks.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>

#include "hw/internal.h"

/* how long a lock is kept for the oldest waiter at a time, and how many times at most */
#define TURN_NS NSEC_PER_MSEC
#define TURNS	3
/*
 * How long kvgpu_hw_lock_watched() calls its @look before it sleeps until it has the lock. This is
 * longer than most waits: a preempt that a guest asked for releases preempt_lock after about 1 ms
 * (kvgpu_hw_preempt_turn()), and a holder that does not run is lent a priority at once. A preempt
 * of an eviction may hold preempt_lock for longer (mdev/ drives ended and unbound channels off the
 * chip by it). Then @look sees nothing of the rest of the wait.
 */
#define WATCHED_NS (5 * NSEC_PER_MSEC)
/*
 * The lender's least sleep between seeing that a thread waits and lending its priority. Most
 * holders that run release the lock within this time, without help.
 */
#define PATIENCE_US 1000

/* The turn of an ordinary thread that waits for a lock. It lies on the stack of that thread. */
struct turn {
	struct list_head node; /* in kvgpu_hw_lock.turns */
	u64 since; /* time (ktime_get_ns()) at which the wait began */
	/* the thread holds .own until it has the lock; the lender queues at .own */
	struct rt_mutex own;
	/*
	 * The lender uses this turn. The lender sets .lent with turns_lock held, while the turn is
	 * in the list, and clears .lent as its last access. The thread keeps the turn until then.
	 */
	bool lent;
};

bool hw_lock_is_urgent(const struct kvgpu_hw_lock *l)
{
	return atomic_read(&l->urgent);
}

static struct turn *oldest_turn(struct kvgpu_hw_lock *l)
{
	return list_first_entry_or_null(&l->turns, struct turn, node);
}

/* ------------------------------------------------------------------ the lender's threads */

/* Returns the oldest turn, with .lent set. NULL: no waiter has waited since time @began. */
static struct turn *lend_begin(struct kvgpu_hw_lock *l, u64 began)
{
	struct turn *t;

	spin_lock(&l->turns_lock);
	t = oldest_turn(l);
	if (t && t->since > began)
		t = NULL;
	if (t)
		WRITE_ONCE(t->lent, true);
	spin_unlock(&l->turns_lock);
	return t;
}

/* Lends to the holder of @l until it releases @l. */
static void holder_lend(struct kvgpu_hw_lock *l)
{
	rt_mutex_lock(&l->mutex);
	rt_mutex_unlock(&l->mutex);
	/*
	 * If an ordinary waiter has tried the lock while this thread had it, the try has failed.
	 * Nothing else would wake that waiter: wake all waiters.
	 */
	wake_up_all(&l->wait);
}

/*
 * Lends to the waiters of @l that are there now, the oldest first, and then to the holder of @l.
 * A waiter holds its turn's .own, and therefore runs with the lender's priority. It takes the lock,
 * or queues at the lock's rt_mutex, so that the lock's holder has that priority, too.
 */
static void lock_lend(struct kvgpu_hw_lock *l)
{
	u64 began = ktime_get_ns();
	struct turn *t;

	while ((t = lend_begin(l, began))) {
		wake_up_all(&l->wait);
		rt_mutex_lock(&t->own);
		rt_mutex_unlock(&t->own);
		/* pairs with the acquire in lock_wait_turn(): then @t is gone */
		smp_store_release(&t->lent, false);
		wake_up_all(&l->wait);
	}
	holder_lend(l);
}

static int lender_main(void *arg)
{
	struct kvgpu_hw_lender *b = arg;
	unsigned int i;

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!atomic_read(&b->waiting) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		if (!atomic_read(&b->waiting))
			continue;
		usleep_range(PATIENCE_US, 2 * PATIENCE_US);
		/* the loop may take long, because guests can wait for many locks */
		for (i = 0; i < b->nr; i++)
			kvgpu_hw_lock_hurry(b->lock[i]);
		/*
		 * The lock that mdev/ initialised first is taken outside of the others: it comes
		 * last. Its holder may wait in kvgpu_hw_lock_watched() for another lock, in no
		 * queue, and pass no priority on.
		 */
		for (i = b->nr; i-- && atomic_read(&b->waiting);)
			lock_lend(b->lock[i]);
	}
	return 0;
}

/* The thread of one lock that lends to the lock's holder at once. */
static int hurry_main(void *arg)
{
	struct kvgpu_hw_lock *l = arg;
	bool hurried;

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		hurried = xchg(&l->hurried, false);
		if (!hurried && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		if (hurried)
			holder_lend(l);
	}
	return 0;
}

static int thread_start(struct kvgpu_hw *hw, struct task_struct **thread, int (*main)(void *arg),
			void *arg, const char *name)
{
	struct task_struct *t = kthread_create(main, arg, "kvgpu-%s/%s", name, pci_name(hw->pdev));

	if (IS_ERR(t))
		return PTR_ERR(t);
	sched_set_fifo_low(t);
	WRITE_ONCE(*thread, t);
	wake_up_process(t);
	return 0;
}

static void thread_stop(struct task_struct **thread)
{
	if (*thread)
		kthread_stop(*thread);
	*thread = NULL;
}

int hw_lender_start(struct kvgpu_hw *hw)
{
	struct kvgpu_hw_lender *b = &hw->lender;
	int ret = thread_start(hw, &b->thread, lender_main, b, "lend");
	unsigned int i;

	for (i = 0; i < b->nr && !ret; i++)
		if (b->lock[i]->hurries)
			ret = thread_start(hw, &b->lock[i]->hurry, hurry_main, b->lock[i], "hurry");
	if (ret)
		hw_lender_stop(hw);
	return ret;
}

void hw_lender_stop(struct kvgpu_hw *hw)
{
	unsigned int i;

	for (i = 0; i < hw->lender.nr; i++)
		thread_stop(&hw->lender.lock[i]->hurry);
	thread_stop(&hw->lender.thread);
}

/* ------------------------------------------------------------------ lock and unlock */

void kvgpu_hw_lock_join(struct kvgpu_hw_lock *l, struct kvgpu_hw_lender *b)
{
	init_waitqueue_head(&l->wait);
	spin_lock_init(&l->turns_lock);
	INIT_LIST_HEAD(&l->turns);
	atomic_set(&l->urgent, 0);
	l->lender = b;
	if (!WARN_ON(b->nr == HW_LENDER_LOCKS))
		b->lock[b->nr++] = l;
}

static bool another_lock_held(const struct kvgpu_hw_lender *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++)
		if (READ_ONCE(b->lock[i]->holder) == current)
			return true;
	return false;
}

/*
 * Keeps the lock for the oldest waiter for a millisecond from now, but at most TURNS times for one
 * waiter, and not if an urgent thread waits, which gets the lock first. Call it when the lock was
 * released, or was found free. turns_lock is held.
 */
static void lock_keep_for_oldest(struct kvgpu_hw_lock *l)
{
	if (list_empty(&l->turns) || hw_lock_is_urgent(l) || (l->kept_until && l->kept == TURNS))
		return;
	l->kept_until = ktime_get_ns() + TURN_NS;
	l->kept++;
}

/*
 * Tells whether the current thread, an ordinary one, may try to take the lock now: if no urgent
 * thread waits, and if no other thread waits, if it is the oldest waiter, or if the time for which
 * the lock is kept for the oldest waiter is over. While the lender lends to the oldest waiter, no
 * other ordinary thread may try. @turn: the thread's turn; NULL: the thread has not waited yet.
 *
 * An urgent thread in kvgpu_hw_lock_watched() is in no queue, and tries from time to time. Without
 * the rule for it an ordinary thread that takes the lock again at once would keep it from that
 * thread.
 */
static bool lock_may_try(struct kvgpu_hw_lock *l, const struct turn *turn)
{
	struct turn *oldest;
	bool may;

	if (hw_lock_is_urgent(l))
		return false;
	if (!turn && list_empty(&l->turns))
		return true;
	spin_lock(&l->turns_lock);
	oldest = oldest_turn(l);
	if (!oldest || oldest == turn) {
		may = true;
	} else if (READ_ONCE(l->holder) || oldest->lent) {
		may = false;
	} else if (!l->kept_until) {
		lock_keep_for_oldest(l);
		may = false;
	} else {
		may = ktime_get_ns() > l->kept_until;
	}
	spin_unlock(&l->turns_lock);
	return may;
}

static bool lock_try(struct kvgpu_hw_lock *l, const struct turn *turn)
{
	if (!lock_may_try(l, turn) || !rt_mutex_trylock(&l->mutex))
		return false;
	WRITE_ONCE(l->holder, current);
	return true;
}

static void lock_wait_urgently(struct kvgpu_hw_lock *l)
{
	atomic_inc(&l->urgent);
	rt_mutex_lock(&l->mutex);
	atomic_dec(&l->urgent);
}

static void turn_begin(struct kvgpu_hw_lock *l, struct turn *turn)
{
	rt_mutex_init(&turn->own);
	rt_mutex_lock(&turn->own);
	turn->lent = false;
	turn->since = ktime_get_ns();
	spin_lock(&l->turns_lock);
	list_add_tail(&turn->node, &l->turns);
	spin_unlock(&l->turns_lock);
}

/* Ends the turn of a thread that has the lock. Afterwards the lender does not use @turn. */
static void turn_end(struct kvgpu_hw_lock *l, struct turn *turn)
{
	spin_lock(&l->turns_lock);
	if (oldest_turn(l) == turn)
		l->kept_until = l->kept = 0;
	list_del(&turn->node);
	spin_unlock(&l->turns_lock);
	rt_mutex_unlock(&turn->own);
	/*
	 * Pairs with the release in lock_lend(). If this sleeps, the lender lends to this thread
	 * as the lock's holder when it has cleared .lent: at the lock itself, or through the next
	 * waiter, which then queues at the lock.
	 */
	wait_event(l->wait, !smp_load_acquire(&turn->lent));
}

static void lock_wait_turn(struct kvgpu_hw_lock *l)
{
	struct turn turn;
	bool got;

	turn_begin(l, &turn);
	wait_event(l->wait, (got = lock_try(l, &turn)) || READ_ONCE(turn.lent));
	if (!got)
		lock_wait_urgently(l);
	WRITE_ONCE(l->holder, current);
	turn_end(l, &turn);
}

static void lock_wait(struct kvgpu_hw_lock *l)
{
	struct kvgpu_hw_lender *b = l->lender;
	struct task_struct *t = READ_ONCE(b->thread);

	if (atomic_inc_return(&b->waiting) == 1 && t)
		wake_up_process(t);
	if (another_lock_held(b))
		lock_wait_urgently(l);
	else
		lock_wait_turn(l);
	atomic_dec(&b->waiting);
}

void kvgpu_hw_lock(struct kvgpu_hw_lock *l)
{
	might_lock(&l->mutex); /* lockdep learns no order from a trylock */
	if (rt_task(current))
		lock_wait_urgently(l);
	else if (!lock_try(l, NULL))
		lock_wait(l);
	WRITE_ONCE(l->holder, current);
}

void kvgpu_hw_lock_hurry(struct kvgpu_hw_lock *l)
{
	struct task_struct *t = READ_ONCE(l->hurry), *holder = READ_ONCE(l->holder);

	if (!t || !holder || READ_ONCE(l->hurried) || (holder == current && rt_task(current)))
		return;
	WRITE_ONCE(l->hurried, true);
	wake_up_process(t);
}

void kvgpu_hw_lock_watched(struct kvgpu_hw_lock *l, void (*look)(void *arg), void *arg)
{
	struct kvgpu_hw_lender *b = l->lender;
	struct task_struct *t = READ_ONCE(b->thread);
	u64 until = ktime_get_ns() + WATCHED_NS;
	bool got;

	might_lock(&l->mutex);
	got = rt_mutex_trylock(&l->mutex);
	if (!got) {
		atomic_inc(&l->urgent);
		if (atomic_inc_return(&b->waiting) == 1 && t)
			wake_up_process(t);
		while (!got && ktime_get_ns() < until) {
			/* each time: another thread may have the lock now */
			kvgpu_hw_lock_hurry(l);
			look(arg);
			usleep_range(KVGPU_HW_WATCH_US / 2, KVGPU_HW_WATCH_US);
			got = rt_mutex_trylock(&l->mutex);
		}
		if (!got)
			rt_mutex_lock(&l->mutex);
		atomic_dec(&b->waiting);
		atomic_dec(&l->urgent);
	}
	WRITE_ONCE(l->holder, current);
}

void kvgpu_hw_unlock(struct kvgpu_hw_lock *l)
{
	WRITE_ONCE(l->holder, NULL);
	rt_mutex_unlock(&l->mutex);
	if (!wq_has_sleeper(&l->wait))
		return;
	spin_lock(&l->turns_lock);
	lock_keep_for_oldest(l);
	spin_unlock(&l->turns_lock);
	wake_up_all(&l->wait);
}
