// SPDX-License-Identifier: GPL-2.0-only
/*
 * Coroutines, chance, time and failures (task.h), and the kernel's services for threads, pids and
 * files (kernel/sync.h). Only switch_to() changes the running thread.
 */
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sys/mman.h>
#include <unistd.h>

#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/thread.h"

#define STACK	 (512u << 10)
#define POINT_NS 20
#define TRACES	 48
/* For functions that run at each access to the chip: the sanitizers would make them slow. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))
/*
 * A run takes less than an hour of its own time (harness_now). A thread that would wait beyond that
 * waits for ever.
 */
#define RUN_NS (3600ull * NSEC_PER_SEC)

struct task_struct *current;
u64 harness_now;
void (*harness_idle)(u64 until);
struct task_struct *tasks[TASKS_MAX];
u32 nr_tasks;
static struct task_struct first_task;
static struct policy policy;
u64 harness_points, harness_allocs;
static u64 rng, began;
/* no thread waits for a time before this */
static u64 next_wake;
/* false: no thread of the kernel is READY */
static bool kernel_ready;
/* by waited_by() of an address: threads that wait for it, or were ended while they waited */
static u16 waited[256];
static u32 scripted;
static char traces[TRACES][160];
static u32 nr_traces;

/* ------------------------------------------------------------------ chance, and what is told */

u64 harness_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng * 0x2545f4914f6cdd1dull;
}

u32 harness_below(u32 n)
{
	return n ? (harness_random() >> 32) % n : 0;
}

bool harness_all(void)
{
	return getenv("HARNESS_ALL");
}

bool harness_chance(u32 ppm)
{
	return ppm && harness_below(1000000) < ppm;
}

bool alloc_fails(void)
{
	harness_allocs++;
	if (policy.nomem_nth && (policy.nomem_rest ? harness_allocs >= policy.nomem_nth :
						     harness_allocs == policy.nomem_nth))
		return true;
	return harness_chance(policy.nomem_ppm);
}

void harness_trace(const char *fmt, ...)
{
	char *at = traces[nr_traces++ % TRACES];
	int n = snprintf(at, sizeof(traces[0]), "%llu.%06llu %s: ", harness_now / 1000000,
			 harness_now % 1000000, current ? current->name : "-");
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(at + n, sizeof(traces[0]) - n, fmt, ap);
	va_end(ap);
}

void harness_fail(const char *fmt, ...)
{
	u32 i = nr_traces > TRACES ? nr_traces - TRACES : 0;
	va_list ap;

	for (; i < nr_traces; i++)
		fprintf(stderr, "# %s\n", traces[i % TRACES]);
	fprintf(stderr, "harness: seed %llu, point %llu, %s: ", policy.seed, harness_points,
		current ? current->name : "-");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	fflush(NULL);
	if (getenv("HARNESS_STACK"))
		__sanitizer_print_stack_trace();
	_exit(1);
}

/* ------------------------------------------------------------------ switching */

static void arrive(struct task_struct *t)
{
	__sanitizer_finish_switch_fiber(t->fake, NULL, NULL);
}

static void switch_to(struct task_struct *t)
{
	struct task_struct *from = current;

	if (t == from)
		return;
	current = t;
	__sanitizer_start_switch_fiber(from->state == DONE ? NULL : &from->fake, t->stack, t->size);
	swapcontext(&from->ctx, &t->ctx);
	arrive(current);
}

static u16 *waited_by(const void *what)
{
	return &waited[(uintptr_t)what / 16 % ARRAY_SIZE(waited)];
}

void task_ready(struct task_struct *t)
{
	t->state = READY;
	kernel_ready = true;
}

static UNCHECKED void come_of_age(void)
{
	u32 i;

	if (harness_now < next_wake)
		return;
	next_wake = NEVER;
	for (i = 0; i < nr_tasks; i++) {
		if (tasks[i]->state != WAITING)
			continue;
		if (tasks[i]->until <= harness_now)
			task_ready(tasks[i]);
		else
			next_wake = min(next_wake, tasks[i]->until);
	}
}

/*
 * Return the thread that goes on where chance does not decide: threads of the kernel first, then
 * the running one, then the others in order.
 */
static UNCHECKED struct task_struct *next_in_order(void)
{
	u32 i;

	for (i = 0; kernel_ready && i < nr_tasks; i++)
		if (!tasks[i]->actor && tasks[i]->state == READY)
			return tasks[i];
	kernel_ready = false;
	if (current->state == READY)
		return current;
	for (i = 0; i < nr_tasks; i++)
		if (tasks[i]->state == READY)
			return tasks[i];
	return NULL;
}

static UNCHECKED struct task_struct *next_by_chance(void)
{
	struct task_struct *ready[TASKS_MAX];
	u32 nr = 0, i;

	for (i = 0; i < nr_tasks; i++)
		if (tasks[i]->state == READY)
			ready[nr++] = tasks[i];
	return nr ? ready[harness_below(nr)] : NULL;
}

static void deadlock(void)
{
	u32 i;

	for (i = 0; i < nr_tasks; i++)
		if (tasks[i]->state == WAITING)
			harness_trace("%s waits for %p until %llu", tasks[i]->name, tasks[i]->what,
				      tasks[i]->until);
	harness_fail("S6: nobody can go on");
}

/*
 * Give the CPU to a ready thread: to any with @by_chance, else to the next in order. When none is
 * ready, time goes on to the end of the next wait.
 */
static void leave(bool by_chance)
{
	struct task_struct *t;

	for (;;) {
		come_of_age();
		t = by_chance ? next_by_chance() : next_in_order();
		if (t)
			break;
		if (next_wake == NEVER || next_wake > began + RUN_NS)
			deadlock();
		if (harness_idle)
			harness_idle(next_wake);
		else
			harness_now = next_wake;
	}
	switch_to(t);
}

static struct task_struct *other_actor(void)
{
	u32 i;

	for (i = 0; i < nr_tasks; i++)
		if (tasks[i] != current && tasks[i]->actor && tasks[i] != &first_task &&
		    tasks[i]->state == READY)
			return tasks[i];
	return NULL;
}

/* The running thread gets no CPU for @ns, though it is ready, unless it has real-time priority. */
static void starve(u64 ns)
{
	if (!ns || rt_task(current))
		return;
	current->starved = true;
	harness_sleep(ns);
	current->starved = false;
}

void task_starve(void)
{
	if (current->lazy)
		starve(policy.idle_ns);
}

void harness_point(const char *where)
{
	struct task_struct *t;

	harness_now += POINT_NS;
	if (!current || current->spins || current->state == DONE)
		return;
	harness_points += current->actor || !policy.actors_only;
	if (policy.switch_at[scripted] && harness_points >= policy.switch_at[scripted]) {
		t = other_actor();
		scripted++;
		if (t) {
			harness_trace("switch at %s", where);
			switch_to(t);
			return;
		}
	}
	if (current->lazy && harness_chance(policy.delay_ppm)) {
		starve(1 + harness_random() % policy.delay_ns);
		return;
	}
	if (policy.switch_ppm) {
		come_of_age();
		if (harness_chance(policy.switch_ppm)) {
			t = next_by_chance();
			if (t)
				switch_to(t);
		}
		return;
	}
	if (!current->actor)
		return;
	come_of_age();
	t = next_in_order();
	if (t && t != current)
		switch_to(t);
}

void harness_wait(const void *what, u64 until)
{
	u64 from = harness_now;

	FAIL_ON(current->spins, "sleeps with a spinlock held");
	current->what = what;
	current->until = until;
	current->state = WAITING;
	next_wake = min(next_wake, until);
	++*waited_by(what);
	leave(policy.switch_ppm != 0);
	--*waited_by(what);
	current->what = NULL;
	current->slept += harness_now - from;
}

void harness_wake(const void *what)
{
	u32 i;

	if (!*waited_by(what))
		return;
	for (i = 0; i < nr_tasks; i++)
		if (tasks[i]->state == WAITING && tasks[i]->what == what)
			task_ready(tasks[i]);
}

void harness_sleep(u64 ns)
{
	harness_wait(NULL, harness_now + ns);
}

/* ------------------------------------------------------------------ tasks */

static void begin(void)
{
	struct task_struct *t = current;

	arrive(t);
	if (t->thread)
		t->ret = t->thread(t->arg);
	else
		t->fn(t->arg);
	task_returns();
	FAIL_ON(t->nr_held || t->spins || t->readers, "a thread ends with a lock held");
	t->state = DONE;
	harness_wake(t);
	leave(policy.switch_ppm != 0);
}

static void add(struct task_struct *t, const char *name)
{
	u32 i;

	t->name = name;
	INIT_LIST_HEAD(&t->files);
	t->pid = calloc(1, sizeof(*t->pid));
	t->pid->refs = 1;
	t->pid->task = t;
	for (i = 0; i < nr_tasks; i++)
		if (tasks[i]->state == DONE && tasks[i] != current)
			break;
	FAIL_ON(i == TASKS_MAX, "more threads than there is room for");
	if (i < nr_tasks) {
		munmap(tasks[i]->stack, STACK);
		put_pid(tasks[i]->pid);
		free(tasks[i]);
	} else {
		nr_tasks++;
	}
	tasks[i] = t;
	kernel_ready = true;
}

struct task_struct *task_new(const char *name, void (*fn)(void *arg), void *arg)
{
	struct task_struct *t = calloc(1, sizeof(*t));

	t->fn = fn;
	t->arg = arg;
	t->size = STACK;
	t->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	getcontext(&t->ctx);
	t->ctx.uc_stack.ss_sp = t->stack;
	t->ctx.uc_stack.ss_size = STACK;
	t->ctx.uc_link = NULL;
	makecontext(&t->ctx, begin, 0);
	/*
	 * With a size of 0 the sanitizer's swapcontext() leaves the stack's shadow memory alone,
	 * instead of mapping it anew at each switch.
	 */
	t->ctx.uc_stack.ss_size = 0;
	ASAN_UNPOISON_MEMORY_REGION(t->stack, STACK);
	add(t, name);
	return t;
}

struct task_struct *actor_new(const char *name, struct mm_struct *mm, bool lazy,
			      void (*fn)(void *arg), void *arg)
{
	struct task_struct *t = task_new(name, fn, arg);

	t->actor = true;
	t->lazy = lazy;
	t->mm = mm;
	return t;
}

void actors_run(void)
{
	u32 i;

	for (i = 0; i < nr_tasks; i++)
		while (tasks[i]->actor && tasks[i] != &first_task && tasks[i]->state != DONE)
			harness_wait(tasks[i], NEVER);
}

void task_kill(struct task_struct *t)
{
	FAIL_ON(t->state != WAITING || t->nr_held, "%s can't be ended", t->name);
	t->state = DONE;
}

u64 task_slept(const struct task_struct *t)
{
	return t->slept;
}

bool task_done(const struct task_struct *t)
{
	return t->state == DONE;
}

struct mm_struct *task_mm(void)
{
	return current->mm;
}

void task_mm_set(struct mm_struct *mm)
{
	current->mm = mm;
}

void task_returns(void)
{
	struct file *f, *next;

	harness_point("return to user mode");
	list_for_each_entry_safe(f, next, &current->files, node) {
		list_del(&f->node);
		f->f_op->release(NULL, f);
		kfree(f);
	}
}

struct cred {
	bool host;
};

struct task_struct init_task;
bool files_full;

const struct cred *get_task_cred(struct task_struct *t)
{
	static const struct cred host = { true };

	return t == &init_task ? &host : t->cred;
}

const struct cred *override_creds(const struct cred *c)
{
	const struct cred *old = current->cred;

	current->cred = c;
	return old;
}

void revert_creds(const struct cred *c)
{
	current->cred = c;
}

unsigned int memalloc_noreclaim_save(void)
{
	unsigned int flags = current->reserves;

	current->reserves = __GFP_NOFAIL;
	return flags;
}

void memalloc_noreclaim_restore(unsigned int flags)
{
	current->reserves = flags;
}

struct file *anon_inode_getfile(const char *name, const struct file_operations *ops, void *data,
				int flags)
{
	bool full = files_full && !current->cred;
	struct file *f = full ? NULL : kzalloc(sizeof(*f), GFP_KERNEL | current->reserves);

	if (!f)
		return ERR_PTR(full ? -ENFILE : -ENOMEM);
	f->f_op = ops;
	f->private_data = data;
	return f;
}

void fput(struct file *f)
{
	if (f) /* a mapping of the stand-in's has no file */
		list_add_tail(&f->node, &current->files);
}

/* ------------------------------------------------------------------ a run */

void harness_policy(const struct policy *p)
{
	policy = *p;
	rng = p->seed * 0x9e3779b97f4a7c15ull + 0x1234567;
	rng = rng ?: 1;
	harness_points = 0;
	harness_allocs = 0;
	scripted = 0;
}

void harness_begin(const struct policy *p)
{
	pthread_attr_t attr;

	memset(&first_task, 0, sizeof(first_task));
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &first_task.stack, &first_task.size);
	pthread_attr_destroy(&attr);
	first_task.actor = true;
	nr_tasks = 0;
	nr_traces = 0;
	began = harness_now = 1000000000;
	next_wake = NEVER;
	kernel_ready = true;
	memset(waited, 0, sizeof(waited));
	current = NULL;
	add(&first_task, "first");
	current = &first_task;
	harness_policy(p);
}

void harness_end(void)
{
	size_t left = harness_allocated();
	u32 i;

	for (i = 0; i < nr_tasks; i++) {
		put_pid(tasks[i]->pid);
		if (tasks[i] == &first_task)
			continue;
		munmap(tasks[i]->stack, STACK);
		free(tasks[i]);
	}
	nr_tasks = 0;
	FAIL_ON(left, "%zu pieces of memory were not freed", left);
	current = NULL;
}

/* ------------------------------------------------------------------ time */

u64 harness_read_ns(void)
{
	return policy.read_ns;
}

void usleep_range(unsigned long first, unsigned long last)
{
	harness_sleep(first * 1000 + policy.oversleep_ns);
	task_starve();
}

/* ------------------------------------------------------------------ threads of the kernel */

struct pid *task_pid(struct task_struct *t)
{
	return t->pid;
}

struct pid *get_task_pid(struct task_struct *t, enum pid_type type)
{
	struct pid *p = type == PIDTYPE_TGID ? task_tgid(t) : t->pid;

	p->refs++;
	return p;
}

/*
 * Threads with the same memory are one process. A thread without memory of its own, like the first
 * one, is a process by itself.
 */
struct pid *task_tgid(struct task_struct *t)
{
	return t->mm ? mm_process(t->mm) : t->pid;
}

int pid_nr(const struct pid *p)
{
	return p->task->name[0];
}

void put_pid(struct pid *p)
{
	if (!p)
		return;
	FAIL_ON(--p->refs < 0, "a pid is put once too often");
	if (!p->refs)
		free(p);
}

void harness_set_state(int state)
{
	current->kstate = state;
}

void schedule(void)
{
	if (current->kstate != TASK_RUNNING)
		harness_wait(current, NEVER);
	current->kstate = TASK_RUNNING;
}

int schedule_hrtimeout_range(ktime_t *at, u64 slack, int mode)
{
	if (current->kstate != TASK_RUNNING)
		harness_wait(current, *at + slack);
	current->kstate = TASK_RUNNING;
	return 0;
}

struct task_struct *kthread_create(int (*fn)(void *), void *arg, const char *fmt, ...)
{
	struct task_struct *t;

	if (alloc_fails())
		return ERR_PTR(-ENOMEM);
	t = task_new(fmt, NULL, arg);
	t->thread = fn;
	return t;
}

bool kthread_should_stop(void)
{
	return current->stop;
}

void wake_up_process(struct task_struct *t)
{
	FAIL_ON(t->stopped, "thread %s is woken after kthread_stop() has freed it", t->name);
	t->kstate = TASK_RUNNING;
	if (t->state == WAITING && t->what == t)
		task_ready(t);
}

int kthread_stop(struct task_struct *t)
{
	FAIL_ON(!t, "S6: kthread_stop() gets no thread");
	t->stop = true;
	wake_up_process(t);
	while (t->state != DONE)
		harness_wait(t, NEVER);
	t->stopped = true;
	harness_point("kthread_stop");
	return t->ret;
}
