// SPDX-License-Identifier: GPL-2.0-only
/* Locks of the stand-in, which knows who holds and who wants one, and so finds circles. */
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/thread.h"

static u32 readers;

static void hold(struct mutex *m)
{
	m->owner = current;
	FAIL_ON(current->nr_held == HELD_MAX, "too many locks held");
	current->held[current->nr_held++] = m;
}

static const struct mutex *wanted(const struct task_struct *t)
{
	return t->wants ?: t->state == WAITING ? t->tried : NULL;
}

/* Fail the run if threads wait in a circle, each for a lock that the next one has. */
static void look_for_cycle(const struct mutex *m)
{
	const struct task_struct *t;

	for (t = m->owner; t && t != current; t = wanted(t) ? wanted(t)->owner : NULL)
		;
	if (!t)
		return;
	for (t = m->owner; t != current; m = wanted(t), t = m->owner)
		harness_trace("%s is %s's, who waits for %s", m->name, t->name, wanted(t)->name);
	harness_fail("S6: nobody can go on: locks in a circle, the last one is %s", m->name);
}

static void may_take(const struct mutex *m)
{
	FAIL_ON(m->dead, "%s was destroyed", m->name);
	FAIL_ON(current->spins, "%s taken with a spinlock held", m->name);
	FAIL_ON(m->owner == current, "%s taken twice", m->name);
}

void mutex_lock(struct mutex *m)
{
	may_take(m);
	harness_point("mutex_lock");
	while (m->owner) {
		current->wants = m;
		look_for_cycle(m);
		harness_wait(m, NEVER);
	}
	current->wants = NULL;
	hold(m);
}

bool mutex_trylock(struct mutex *m)
{
	harness_point("mutex_trylock");
	if (m->owner)
		return false;
	hold(m);
	return true;
}

void mutex_unlock(struct mutex *m)
{
	u32 i;

	FAIL_ON(m->owner != current, "%s is not held", m->name);
	for (i = current->nr_held; i--;)
		if (current->held[i] == m)
			break;
	memmove(current->held + i, current->held + i + 1,
		(--current->nr_held - i) * sizeof(current->held[0]));
	m->owner = NULL;
	harness_wake(m);
	harness_point("mutex_unlock");
}

/* Return true if @t, or a thread that queues for a lock of @t's, has real-time priority. */
bool rt_task(const struct task_struct *t)
{
	u32 i, k;

	if (t->rt)
		return true;
	for (i = 0; i < nr_tasks; i++)
		for (k = 0; tasks[i]->wants && tasks[i] != t && k < t->nr_held; k++)
			if (tasks[i]->wants == t->held[k] && tasks[i]->queues && rt_task(tasks[i]))
				return true;
	return false;
}

/*
 * The running thread waits for @m's owner, and the owner may wait for another lock's owner, and so
 * on. Each of these gets a CPU, up to the first that has no real-time priority, own or inherited.
 */
static void lend(const struct mutex *m)
{
	struct task_struct *t;

	for (t = m->owner; t && rt_task(t); t = t->wants ? t->wants->owner : NULL) {
		if (!t->starved)
			continue;
		task_ready(t);
		t->starved = false;
	}
}

/* Return the thread with the next turn, by priority, then by time; NULL: none queues. */
static struct task_struct *first_waiter(const struct mutex *m)
{
	struct task_struct *best = NULL;
	u32 i;

	for (i = 0; i < nr_tasks; i++) {
		struct task_struct *t = tasks[i];

		if (t->wants == m &&
		    (!best || rt_task(t) > rt_task(best) ||
		     (rt_task(t) == rt_task(best) && t->wants_since < best->wants_since)))
			best = t;
	}
	return best;
}

static bool take(struct mutex *m)
{
	struct task_struct *first = first_waiter(m);

	if (m->owner)
		return false;
	if (first && first != current && (rt_task(first) || !rt_task(current))) {
		/*
		 * Another thread may have become the first since all were woken. The kernel wakes
		 * that thread then, and no other: two threads that wake each other would keep the
		 * CPU from it.
		 */
		if (first->state == WAITING && first->what == m)
			task_ready(first);
		return false;
	}
	current->wants = current->tried = NULL;
	current->queues = false;
	hold(m);
	return true;
}

bool rt_mutex_trylock(struct mutex *m)
{
	harness_point("rt_mutex_trylock");
	may_take(m);
	current->tried = m;
	if (take(m))
		return true;
	look_for_cycle(m);
	return false;
}

void rt_mutex_lock(struct mutex *m)
{
	static u64 turns;

	if (rt_mutex_trylock(m))
		return;
	current->wants = m;
	current->wants_since = ++turns;
	current->queues = true;
	while (!take(m)) {
		look_for_cycle(m);
		lend(m);
		harness_wait(m, NEVER);
		task_starve();
	}
}

void sched_set_fifo_low(struct task_struct *t)
{
	t->rt = true;
}

void mutex_destroy(struct mutex *m)
{
	FAIL_ON(m->owner, "%s destroyed while it is held", m->name);
	m->dead = true;
}

struct mutex *task_holds(bool (*is)(const struct mutex *m))
{
	u32 i;

	for (i = 0; current && i < current->nr_held; i++)
		if (is(current->held[i]))
			return current->held[i];
	return NULL;
}

void spin_lock(spinlock_t *l)
{
	harness_point("spin_lock");
	FAIL_ON(l->owner, "a spinlock is taken that %s holds", l->owner->name);
	l->owner = current;
	current->spins++;
}

void spin_unlock(spinlock_t *l)
{
	FAIL_ON(l->owner != current, "a spinlock is not held");
	l->owner = NULL;
	current->spins--;
}

void complete(struct completion *c)
{
	c->done++;
	harness_wake(c);
}

void wait_for_completion(struct completion *c)
{
	while (!c->done)
		harness_wait(c, NEVER);
	c->done--;
}

void rcu_read_lock(void)
{
	current->readers++;
	readers++;
}

void rcu_read_unlock(void)
{
	current->readers--;
	readers--;
	harness_wake(&readers);
}

void synchronize_rcu(void)
{
	FAIL_ON(current->readers, "synchronize_rcu() by a reader");
	harness_point("synchronize_rcu");
	while (readers)
		harness_wait(&readers, NEVER);
}
