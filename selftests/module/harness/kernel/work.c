// SPDX-License-Identifier: GPL-2.0-only
/* Work items, done by WORKERS threads. As in the kernel, no two do the same item at once. */
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/task.h"

#define WORKERS	 4
#define WORK_NS	 1000 /* time to take the next item */
#define JIFFY_NS (NSEC_PER_SEC / HZ)

static LIST_HEAD(queue);
static struct task_struct *worker[WORKERS];
static struct work_struct *running[WORKERS];

static bool runs(const struct work_struct *w)
{
	u32 i;

	for (i = 0; i < WORKERS; i++)
		if (running[i] == w)
			return true;
	return false;
}

static struct work_struct *due(u64 *next)
{
	struct work_struct *w;

	*next = NEVER;
	list_for_each_entry(w, &queue, node) {
		if (runs(w))
			continue;
		if (w->at <= harness_now)
			return w;
		*next = min(*next, w->at);
	}
	return NULL;
}

static bool take(struct work_struct *w)
{
	if (!w->queued)
		return false;
	list_del(&w->node);
	w->queued = false;
	return true;
}

static void work(void *arg)
{
	struct work_struct **mine = arg, *w;
	u64 next;

	for (;;) {
		w = due(&next);
		if (!w) {
			harness_wait(&queue, next);
			continue;
		}
		take(w);
		*mine = w;
		w->fn(w);
		*mine = NULL;
		harness_wake(&queue);
		harness_wake(running);
		/* an item that queues itself for ever must leave other threads a turn */
		harness_sleep(WORK_NS);
	}
}

void work_waits_for_vmm(const char *what)
{
	u32 i;

	for (i = 0; i < WORKERS; i++)
		FAIL_ON(current == worker[i] && running[i] && running[i]->wq == system_percpu_wq,
			"S6: an item of the system's work queue waits for %s, which a VMM may hold for as long as it likes",
			what);
}

bool harness_queue(struct workqueue_struct *wq, struct work_struct *w, unsigned long delay)
{
	if (w->queued)
		return false;
	FAIL_ON(!w->fn, "a work item is queued that was not initialised");
	FAIL_ON(!wq, "a work item is queued where no queue is");
	w->wq = wq;
	w->queued = true;
	w->at = harness_now + delay * JIFFY_NS;
	list_add_tail(&w->node, &queue);
	harness_wake(&queue);
	return true;
}

/* The same workers do the items of all queues: no queue is bound to a CPU here. */
struct workqueue_struct *alloc_workqueue(const char *name, int flags, int max)
{
	return kmalloc(1, GFP_KERNEL);
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	kfree(wq);
}

bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, unsigned long delay)
{
	bool was = take(&w->work);

	queue_delayed_work(wq, w, delay);
	return was;
}

bool cancel_delayed_work(struct delayed_work *w)
{
	return take(&w->work);
}

bool cancel_work_sync(struct work_struct *w)
{
	bool was = take(w);

	harness_point("cancel_work_sync");
	while (runs(w) || w->queued) {
		take(w);
		if (runs(w))
			harness_wait(running, NEVER);
	}
	return was;
}

void work_begin(void)
{
	u32 i;

	INIT_LIST_HEAD(&queue);
	memset(running, 0, sizeof(running));
	for (i = 0; i < WORKERS; i++)
		worker[i] = task_new("worker", work, &running[i]);
}

void work_end(void)
{
	u32 i;

	FAIL_ON(!list_empty(&queue), "a work item is still queued");
	for (i = 0; i < WORKERS; i++)
		task_kill(worker[i]);
}
