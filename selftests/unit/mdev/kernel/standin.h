/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mdev/unmap.c wants of the kernel and of the rest of its room. One thread runs all; a lock that is taken twice or given back
 * without having been taken ends the program.
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

#define U64_MAX		UINT64_MAX
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define HZ		250
#define GFP_KERNEL	0
#define __GFP_NOFAIL	0
#define kzalloc(n, f)	calloc(1, n)
#define kfree(p)	free(p)
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#ifndef max
#define max(a, b)	((a) > (b) ? (a) : (b))
#endif

struct mutex {
	bool held;
};
#define DEFINE_MUTEX(name)	struct mutex name

static inline void mutex_lock(struct mutex *m)
{
	if (m->held)
		abort();
	m->held = true;
}

static inline void mutex_unlock(struct mutex *m)
{
	if (!m->held)
		abort();
	m->held = false;
}

#define lockdep_assert_held(m)	((void)(m))
#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)

typedef struct { int v; } atomic_t;
#define atomic_read(a)	((a)->v)
#define atomic_inc(a)	((a)->v++)
#define atomic_dec(a)	((a)->v--)

/* a thread is its pid */
struct pid {
	int refs;
	bool dead;
};

struct task {
	struct pid *pid;
};
extern struct task *current;
#define PIDTYPE_PID	0
#define task_pid(t)	((t)->pid)
#define pid_task(p, type)	((p)->dead ? NULL : (void *)(p))

static inline struct pid *get_task_pid(struct task *t, int type)
{
	t->pid->refs++;
	return t->pid;
}

static inline void put_pid(struct pid *p)
{
	if (!p->refs--)
		abort();
}

struct work_struct {
	int unused;
};

struct delayed_work {
	struct work_struct work;
	void (*fn)(struct work_struct *work);
};
#define to_delayed_work(w)		container_of(w, struct delayed_work, work)
#define INIT_DELAYED_WORK(w, f)		((w)->fn = (f))
#define schedule_delayed_work(w, t)	((void)(w))
#define cancel_delayed_work_sync(w)	((void)(w))

struct vfio_device {
	int unused;
};
#define compat_pins_alone(vdev)	((void)(vdev), false)

struct kvgpu_machine {
	struct kvgpu_vgpu *v;
	bool may_pin, unmaps_lost;
	struct machine_unmap {
		struct unmapping *u;
		u32 rounds, opened;
	} unmaps[64];
	u32 opened;
	struct delayed_work unmap_work;
};

struct kvgpu_vgpu {
	struct vfio_device vdev;
	struct mutex lock;
	struct kvgpu_machine *m;
};

/* -EINVAL where nothing is mapped */
int vfio_dma_rw(struct vfio_device *vdev, u64 iova, void *data, size_t len, bool write);

void machine_unmap_init(struct kvgpu_machine *m);
void machine_unmap_fini(struct kvgpu_machine *m);
void machine_unmap_asked(struct kvgpu_vgpu *v, u64 first, u64 last);
bool machine_unmap_may_pin(struct kvgpu_vgpu *v, u64 first, u64 last);
void vgpu_machine_called(void);

#endif
