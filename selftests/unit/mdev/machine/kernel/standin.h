/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stand-ins for the parts of the kernel and of mdev/machine/ that unmap.c uses. There is one real
 * thread. A lock that is taken twice, or released without having been taken, ends the program.
 * Members and prototypes are copied by hand from mdev/: change them here, too.
 */
#ifndef KVGPU_UNIT_MDEV_STANDIN_H
#define KVGPU_UNIT_MDEV_STANDIN_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <linux/list.h>
#include <linux/types.h>

#define GFP_KERNEL_ACCOUNT	      0
#define __GFP_NOFAIL		      0
#define kzalloc(n, f)		      calloc(1, n)
#define kfree(p)		      free(p)
#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))
#define READ_ONCE(x)		      (x)
#define WRITE_ONCE(x, v)	      ((x) = (v))

typedef struct {
	bool held;
} spinlock_t;
#define DEFINE_SPINLOCK(name) spinlock_t name

/*
 * number of threads that were asked whether they live: since the lock was taken last, and the most
 * while it was held once
 */
extern unsigned int standin_asked, standin_most_asked;

static inline void spin_lock(spinlock_t *l)
{
	if (l->held)
		abort();
	l->held = true;
	standin_asked = 0;
}

static inline void spin_unlock(spinlock_t *l)
{
	if (!l->held)
		abort();
	l->held = false;
	if (standin_most_asked < standin_asked)
		standin_most_asked = standin_asked;
}

#define lockdep_assert_held(m) ((void)(m))
#define rcu_read_lock()	       ((void)0)
#define rcu_read_unlock()      ((void)0)

typedef struct {
	int v;
} atomic_t;
#define atomic_read(a) ((a)->v)
#define atomic_inc(a)  ((a)->v++)
#define atomic_dec(a)  ((a)->v--)

/* a hash table that has one list for all keys */
struct hlist_node {
	struct list_head list;
};
#define DEFINE_HASHTABLE(name, bits)		    LIST_HEAD(name)
#define hash_add(t, n, key)			    ((void)(key), list_add(&(n)->list, &(t)))
#define hash_del(n)				    list_del(&(n)->list)
#define hash_for_each_possible(t, obj, member, key) list_for_each_entry(obj, &(t), member.list)

/*
 * A task has its pid, its process, and the files that it released and that are not closed yet. A
 * pid counts its references.
 */
struct pid {
	int refs;
	bool dead;
};

struct task {
	struct pid *pid;
	struct pid *process;
	struct list_head files;
};
extern struct task *current;
#define task_tgid(t)		       ((t)->process)
#define pid_nr(p)		       ((void)(p), 1)
#define dev_notice_ratelimited(d, ...) ((void)(d))
#define cond_resched()		       ((void)0)
typedef int pid_t;
enum pid_type { PIDTYPE_PID, PIDTYPE_TGID };
#define task_pid(t)	  ((t)->pid)
#define pid_task(p, type) (standin_asked++, (p)->dead ? NULL : (void *)(p))

static inline struct pid *get_task_pid(struct task *t, enum pid_type type)
{
	struct pid *p = type == PIDTYPE_TGID ? t->process : t->pid;

	p->refs++;
	return p;
}

static inline void put_pid(struct pid *p)
{
	if (p && !p->refs--)
		abort();
}

/* No time passes and no sleep lasts in these tests. */
typedef u64 ktime_t;
#define ktime_get()		0
#define ktime_add_ms(t, ms)	((t) + (ms))
#define ktime_before(a, b)	((void)(a), (void)(b), false)
#define fatal_signal_pending(t) ((void)(t), true)
#define usleep_range(a, b)	((void)0)

struct inode;
#define THIS_MODULE NULL
struct file {
	const struct file_operations *f_op;
	void *private_data;
	struct list_head node;
};
struct file_operations {
	void *owner;
	int (*release)(struct inode *inode, struct file *file);
};
#define IS_ERR(p) (!(p))
/* Returns NULL if there is no memory. */
struct file *anon_inode_getfile(const char *name, const struct file_operations *ops, void *data,
				int flags);
void fput(struct file *f);

struct vfio_device {
	void *dev;
};
#define compat_pins_alone(vdev) ((void)(vdev), false)

struct kvgpu_machine {
	struct list_head unmaps;
	struct pid *opener;
	u32 unmaps_forbid;
};

struct kvgpu_vgpu {
	struct vfio_device vdev;
	int lock;
	struct kvgpu_machine *m;
};

void vmach_unmap_init(struct kvgpu_machine *m);
void vmach_unmap_fini(struct kvgpu_machine *m);
bool vmach_unmap_note(struct kvgpu_vgpu *v, u64 iova);
bool vmach_pin_allowed(struct kvgpu_vgpu *v);
int vmach_unmap_open(struct kvgpu_vgpu *v);
void kvgpu_machine_call_note(void);
void kvgpu_machine_unmap_wait(struct kvgpu_vgpu *v);

#endif
