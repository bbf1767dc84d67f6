/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which thread runs. All threads, the kernel's and the VMMs', are coroutines in one thread of the
 * process. A switch happens at a point: a lock, a register access, a sleep, a callback. The policy
 * says at which points, and to which thread. With the same policy and seed a run is the same.
 */
#ifndef KVGPU_HARNESS_TASK_H
#define KVGPU_HARNESS_TASK_H

#include "selftests/module/harness/kernel/kernel.h"

struct policy {
	u64 seed;
	u32 switch_ppm; /* chance at a point: any ready thread goes on */
	/* chance at a point of a lazy actor (see actor_new()): it gets no CPU for up to delay_ns */
	u32 delay_ppm;
	u64 delay_ns;
	u32 nomem_ppm; /* chance that an allocation fails */
	/* number of the allocation that fails, since harness_policy(); 0: none fails so */
	u64 nomem_nth;
	bool nomem_rest; /* all after nomem_nth fail, too */
	/*
	 * A lazy actor that slept in usleep_range() or rt_mutex_lock() gets a CPU so
	 * much later.
	 */
	u64 idle_ns;
	/* so much longer usleep_range() takes: a poll in vain is fewer steps of the run */
	u64 oversleep_ns;
	u64 read_ns; /* so much longer a read of the card takes */
	bool actors_only; /* only points of actors are counted */
	/* numbers of points since harness_policy() where the other actor goes on; 0: no more */
	u64 switch_at[3];
};

/* Begin a world without a card. harness_end() ends it, and fails if something was not freed. */
void harness_begin(const struct policy *p);
void harness_end(void);
void harness_policy(const struct policy *p); /* @p holds from now on */
u64 harness_read_ns(void); /* .read_ns of the policy */
extern u64 harness_points; /* since harness_policy() */
/* things that may fail and were asked for since then: allocations, pins, mappings, threads */
extern u64 harness_allocs;
u32 harness_below(u32 n);
bool harness_chance(u32 ppm);
bool harness_all(void); /* HARNESS_ALL is set: run the rare cases, too */

void harness_wait(const void *what, u64 until); /* until harness_wake(what) or that time */
void harness_wake(const void *what);
void task_ready(struct task_struct *t); /* @t, which waits, goes on */
#define NEVER (~0ull)
/*
 * Not NULL: time is not the run's own. This is called in place of a jump of the time when no thread
 * is ready, and is to set harness_now when some time has gone by, not later than @until. It may
 * wake threads.
 */
extern void (*harness_idle)(u64 until);

/*
 * A thread of a VMM. The calls of the kernel that @fn makes are the VMM's. @lazy: the policy's
 * delays may hit it.
 */
struct task_struct *actor_new(const char *name, struct mm_struct *mm, bool lazy,
			      void (*fn)(void *arg), void *arg);
/* Run until all actors have ended. Call from the first thread. */
void actors_run(void);
/*
 * A thread of the kernel. As long as switches are not by chance, it runs before actors as soon as
 * it is ready.
 */
struct task_struct *task_new(const char *name, void (*fn)(void *arg), void *arg);
/* End @t, which must be waiting: it never runs again. */
void task_kill(struct task_struct *t);
bool task_done(const struct task_struct *t);
u64 task_slept(const struct task_struct *t); /* ns in which it waited so far */
/*
 * Return the memory of the running thread's VMM; NULL: it has none, as a thread of the kernel or
 * the first thread.
 */
struct mm_struct *task_mm(void);
/* From now on the running thread acts for the VMM with this memory. */
void task_mm_set(struct mm_struct *mm);
/* There are as many open files as the host allows: only with its rights one more can be made. */
extern bool files_full;
/* The running thread's call of the kernel ends: files that it gave to fput() are closed now. */
void task_returns(void);

/*
 * Return the lock that the running thread holds and for which @is returns true; NULL: there is
 * none.
 */
struct mutex *task_holds(bool (*is)(const struct mutex *m));

/* Note a line. The last ones are printed when the run fails. */
void harness_trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
