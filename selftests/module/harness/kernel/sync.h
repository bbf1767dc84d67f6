/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads, locks, work items and RCU of the stand-in. The stand-in knows which thread holds which
 * lock, so that lockdep_assert_held() asserts. selftests/module/harness/lock.c defines the
 * functions of locks, waits and RCU; task.c those of threads, pids and files; kernel/work.c those
 * of work items.
 *
 * Threads are switched inside of these functions and at the other points of task.h. A thread that
 * holds a spinlock is never switched away from, and a sleep of it fails the run. So
 * spin_lock_irqsave() need not turn interrupts off: the interrupt handler is a thread, too.
 */
#ifndef KVGPU_HARNESS_SYNC_H
#define KVGPU_HARNESS_SYNC_H

#include "selftests/module/harness/kernel/base.h"

struct mm_struct;
struct pid {
	int refs;
	struct task_struct *task;
};

/* A thread is a coroutine. selftests/module/harness/thread.h has its fields. */
struct task_struct;
extern struct task_struct *current;
enum pid_type { PIDTYPE_PID, PIDTYPE_TGID };
struct pid *task_pid(struct task_struct *t);
struct pid *get_task_pid(struct task_struct *t, enum pid_type type);
void put_pid(struct pid *p);
struct pid *task_tgid(struct task_struct *t);
int pid_nr(const struct pid *p);
#define fatal_signal_pending(t) ((void)(t), false)
/* Rights: those of init_task are the host's, other threads have their VMM's. */
struct cred;
extern struct task_struct init_task;
const struct cred *get_task_cred(struct task_struct *t);
const struct cred *override_creds(const struct cred *c);
void revert_creds(const struct cred *c);
#define put_cred(c) ((void)(c))
/* From the first to the second, anon_inode_getfile() always finds memory. */
unsigned int memalloc_noreclaim_save(void);
void memalloc_noreclaim_restore(unsigned int flags);

/* A file that user space can't open. task_returns() closes it after an fput(). */
struct module;
struct inode;
struct file {
	const struct file_operations *f_op;
	void *private_data;
	struct list_head node;
};
struct seq_file {
	char text[64 << 10];
	size_t len;
	void *private;
};
struct file_operations {
	struct module *owner;
	int (*release)(struct inode *inode, struct file *file);
	int (*show)(struct seq_file *s, void *unused); /* of a file of debugfs */
};
#define DEFINE_SHOW_ATTRIBUTE(n) static const struct file_operations n##_fops = { .show = n##_show }
void seq_printf(struct seq_file *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define seq_puts(s, text) seq_printf(s, "%s", text)
struct dentry;
struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops);
#define debugfs_create_dir(name, parent) debugfs_create_file(name, 0, parent, NULL, NULL)
void debugfs_remove(struct dentry *d);
struct file *anon_inode_getfile(const char *name, const struct file_operations *ops, void *data,
				int flags);
#define get_file(f) (f)
void fput(struct file *f);

/* ------------------------------------------------------------------ locks */

struct mutex {
	struct task_struct *owner;
	const char *name;
	bool dead;
};
/* An rt_mutex differs in which waiter gets it, and in what priority its holder inherits. */
#define rt_mutex mutex
typedef struct {
	struct task_struct *owner;
} spinlock_t;
typedef struct {
	spinlock_t lock;
} seqlock_t;
struct completion {
	unsigned int done;
};

#define mutex_init(m)	(*(m) = (struct mutex){ .name = #m })
#define DEFINE_MUTEX(n) struct mutex n = { .name = #n }
void mutex_lock(struct mutex *m);
bool mutex_trylock(struct mutex *m);
#define mutex_lock_interruptible(m) (mutex_lock(m), 0)
#define mutex_lock_killable(m)	    (mutex_lock(m), 0)
void mutex_unlock(struct mutex *m);
void mutex_destroy(struct mutex *m);
#define rt_mutex_init(m) (*(m) = (struct mutex){ .name = #m })
void rt_mutex_lock(struct mutex *m);
bool rt_mutex_trylock(struct mutex *m);
#define rt_mutex_unlock(m) mutex_unlock(m)

#define DEFINE_SPINLOCK(n) spinlock_t n
#define spin_lock_init(l)  ((l)->owner = NULL)
void spin_lock(spinlock_t *l);
void spin_unlock(spinlock_t *l);
#define spin_lock_irq			 spin_lock
#define spin_unlock_irq			 spin_unlock
#define spin_lock_irqsave(l, flags)	 ((flags) = 0, spin_lock(l))
#define spin_unlock_irqrestore(l, flags) ((void)(flags), spin_unlock(l))

#define seqlock_init(s)	   spin_lock_init(&(s)->lock)
#define write_seqlock(s)   spin_lock(&(s)->lock)
#define write_sequnlock(s) spin_unlock(&(s)->lock)
/* A reader sees no write under way: no other thread runs while a writer holds the spinlock. */
#define read_seqbegin(s)      0u
#define read_seqretry(s, seq) ((void)(seq), false)

#define lockdep_assert_held(l) \
	FAIL_ON((l)->owner != current, "%s:%d: %s is not held", __FILE__, __LINE__, #l)
#define lockdep_is_held(l) ((l)->owner == current)

#define init_completion(c)	      ((c)->done = 0)
#define DECLARE_COMPLETION_ONSTACK(n) struct completion n = {}
void complete(struct completion *c);
void wait_for_completion(struct completion *c);

void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void); /* waits for all readers; fails the run if the caller is a reader */
#define rcu_dereference(p)    (p)
#define rcu_access_pointer(p) (p)
#define rcu_dereference_protected(p, cond)                         \
	({                                                         \
		FAIL_ON(!(cond), "%s: %s is not held", #p, #cond); \
		(p);                                               \
	})
#define rcu_replace_pointer(p, new, cond)                               \
	({                                                              \
		typeof(p) rcu_old = rcu_dereference_protected(p, cond); \
		(p) = (new);                                            \
		rcu_old;                                                \
	})

/* ------------------------------------------------------------------ threads of the kernel */

#define TASK_RUNNING	    0
#define TASK_INTERRUPTIBLE  1
#define HRTIMER_MODE_ABS    0
#define set_current_state   harness_set_state
#define __set_current_state harness_set_state
void harness_set_state(int state);
void schedule(void);
int schedule_hrtimeout_range(ktime_t *at, u64 slack, int mode);
struct task_struct *kthread_create(int (*fn)(void *), void *arg, const char *fmt, ...);
bool kthread_should_stop(void);
int kthread_stop(struct task_struct *t);
void wake_up_process(struct task_struct *t);
void sched_set_fifo_low(struct task_struct *t);
bool rt_task(const struct task_struct *t); /* true also for a priority that was lent */

/* ------------------------------------------------------------------ work items */

struct work_struct {
	struct list_head node;
	void (*fn)(struct work_struct *work);
	bool queued;
	u64 at;
	struct workqueue_struct *wq;
};

struct delayed_work {
	struct work_struct work;
};
struct workqueue_struct;
#define system_percpu_wq	((struct workqueue_struct *)1)
#define INIT_WORK(w, f)		(*(w) = (struct work_struct){ .fn = f })
#define INIT_DELAYED_WORK(w, f) INIT_WORK(&(w)->work, f)
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define WQ_UNBOUND		1
#define WQ_HIGHPRI		2
struct workqueue_struct *alloc_workqueue(const char *name, int flags, int max);
void destroy_workqueue(struct workqueue_struct *wq);
bool harness_queue(struct workqueue_struct *wq, struct work_struct *w, unsigned long delay);
#define queue_work(wq, w)		 harness_queue(wq, w, 0)
#define queue_delayed_work(wq, w, delay) harness_queue(wq, &(w)->work, delay)
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, unsigned long delay);
bool cancel_delayed_work(struct delayed_work *w);
bool cancel_work_sync(struct work_struct *w);
#define cancel_delayed_work_sync(w) cancel_work_sync(&(w)->work)

#endif
