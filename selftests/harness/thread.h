/* SPDX-License-Identifier: GPL-2.0-only */
/* What task.c (who runs) and lock.c (who waits for whom) know of a thread. */
#ifndef KVGPU_HARNESS_THREAD_H
#define KVGPU_HARNESS_THREAD_H

#include <ucontext.h>

#include "selftests/harness/task.h"

#define TASKS_MAX	128
#define HELD_MAX	16

enum state { READY, WAITING, DONE };

struct task_struct {
	ucontext_t ctx;
	void *stack, *fake;
	size_t size;
	const char *name;
	enum state state;
	u64 until;
	const void *what;
	/* rt: of real-time priority; starved: it could run and has no CPU */
	bool actor, lazy, stop, stopped, queues, rt, starved;
	int kstate, spins, readers, ret;
	struct pid *pid;
	struct mm_struct *mm;
	struct list_head files;
	struct mutex *held[HELD_MAX], *wants, *tried;	/* tried: an rt_mutex, in vain */
	u64 wants_since;
	u32 nr_held;
	void (*fn)(void *arg);
	int (*thread)(void *arg);
	void *arg;
};

extern struct task_struct *tasks[TASKS_MAX];
extern u32 nr_tasks;

void task_starve(void);		/* after a sleep: a lazy thread gets a CPU when the policy says */

#endif
