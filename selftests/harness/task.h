/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who runs. All threads, of the kernel's and of the VMMs', are coroutines in one thread of the
 * process; a switch happens only at a point: a lock, a register access, a sleep, a callback. Which
 * point is a switch, and to whom, says the policy; with the same policy and seed a run is the same.
 */
#ifndef KVGPU_HARNESS_TASK_H
#define KVGPU_HARNESS_TASK_H

#include "selftests/harness/kernel/kernel.h"

#define SCRIPT_MAX	4

struct policy {
	u64 seed;
	u32 switch_ppm;			/* at a point: another one goes on */
	/*
	 * at a point of an actor: it is kept from running, for up to so long. See actor_new() for
	 * who it may hit
	 */
	u32 delay_ppm;
	u64 delay_ns;
	u32 nomem_ppm;			/* an allocation that fails */
	/* the one that fails, counted from harness_policy() on; 0: none does */
	u64 nomem_nth;
	bool nomem_rest;		/* and all after it */
	/* a lazy actor that slept gets a CPU so much later: SCHED_IDLE, or no quota left */
	u64 idle_ns;
	/* short sleeps take so much longer: what is waited for in vain costs the run less */
	u64 oversleep_ns;
	bool actors_only;		/* points of the kernel's threads are not counted */
	/*
	 * exhaustive: at point number at[i] the other actor goes on; counted from harness_policy()
	 * on
	 */
	struct { u64 at; } script[SCRIPT_MAX];
	u32 nr_script;
};

/* a world without a card; ended by harness_end(), which finds what was not freed */
void harness_begin(const struct policy *p);
void harness_end(void);
void harness_policy(const struct policy *p);		/* from now on */
u64 harness_points(void);				/* since then */
/* likewise: what could have failed for want of memory */
u64 harness_allocs(void);
u64 harness_random(void);
u32 harness_below(u32 n);
bool harness_chance(u32 ppm);

void harness_point(const char *where);
void harness_sleep(u64 ns);
void harness_wait(const void *what, u64 until);		/* until harness_wake(what) or that time */
void harness_wake(const void *what);
#define NEVER		(~0ull)

/* a thread of a VMM: its calls of the kernel are what @fn does. @lazy: delays may hit it */
struct task_struct *actor_new(const char *name, struct mm_struct *mm, bool lazy,
			      void (*fn)(void *arg), void *arg);
/* until all are done, from the first thread */
void actors_run(void);
/* a thread of the kernel, which goes before actors as soon as it is ready */
struct task_struct *task_new(const char *name, void (*fn)(void *arg), void *arg);
void task_kill(struct task_struct *t);			/* does not run any more: it was waiting */
bool task_done(const struct task_struct *t);
struct mm_struct *task_mm(void);			/* of who runs; NULL: the kernel's */
void task_mm_set(struct mm_struct *mm);			/* the first thread acts for a VMM */
const char *task_name(void);
/* this thread was in a call of the kernel's, which ends */
void task_returns(void);

/*
 * the vGPU whose lock the running thread holds, by the address of the lock; NULL: none that @is
 * knows
 */
struct mutex *task_holds(bool (*is)(const struct mutex *m));

/* kept, told when the run fails */
void harness_trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
