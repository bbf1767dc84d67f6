/* SPDX-License-Identifier: GPL-2.0-only */
/* What task.c (which thread runs) and lock.c (which thread waits for which) know of a thread. */
#ifndef KVGPU_HARNESS_THREAD_H
#define KVGPU_HARNESS_THREAD_H

#include <ucontext.h>

#include "selftests/module/harness/task.h"

#define TASKS_MAX 128
#define HELD_MAX  16

enum state { READY, WAITING, DONE };

struct task_struct {
	ucontext_t ctx;
	void *stack, *fake;
	size_t size;
	const char *name;
	enum state state;
	u64 until, slept; /* slept: ns in which it waited so far */
	const void *what; /* as in harness_wait() */
	/* rt: has real-time priority; starved: could run, but gets no CPU */
	bool actor, lazy, stop, stopped, queues, rt, starved;
	int kstate, spins, readers, ret;
	struct pid *pid;
	const struct cred *cred; /* NULL: the VMM's */
	struct mm_struct *mm;
	struct list_head files;
	/* wants: the lock it waits for; tried: the rt_mutex that rt_mutex_trylock() did not get */
	struct mutex *held[HELD_MAX], *wants, *tried;
	u64 wants_since;
	u32 nr_held;
	unsigned int reserves; /* __GFP_NOFAIL, or 0 */
	void (*fn)(void *arg);
	int (*thread)(void *arg);
	void *arg;
};

extern struct task_struct *tasks[TASKS_MAX];
extern u32 nr_tasks;

void task_starve(void); /* call after a sleep: a lazy thread gets no CPU for idle_ns */

#endif
