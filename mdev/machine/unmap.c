// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits how often VFIO's container has to ask for memory back. When a VMM unmaps a mapping of
 * guest memory of which a page is pinned, vfio_dma_do_unmap() calls .dma_unmap of the container's
 * devices and looks again, until no page is pinned. This is called the *unmap loop* here. If a page
 * is still pinned after eleven such calls, the kernel stops with a BUG (docs/upstream.md). A thread
 * that calls a vGPU's .dma_unmap in the loop *asks* that vGPU. A VMM decides how long its thread
 * takes before it asks again, and its vGPUs may pin again meanwhile. So rounds are counted: a
 * *round* of a thread ends when the thread asks a vGPU that it has asked in this round already.
 *
 * A thread is in one unmap loop at a time. From its first call of .dma_unmap on it is known here.
 * From its second round on, all vGPUs that it has asked pin no page until it has left the loop. The
 * vGPUs pin no page at all, also outside of the mapping. The reason: vfio_dma_do_unmap() recognises
 * the mapping by the address of its object in kernel memory, and the next mapping, at any IOVA, may
 * get an object at the same address.
 *
 * A thread has left the loop when it is on its way to user mode. fput() tells so: when a thread
 * returns to user mode or ends, the kernel closes the files that the thread has released
 * (fs/file_table.c). So a file is made for the thread, and released at once: its close tells that
 * the thread has left. (task_work_add() is not exported by every kernel.)
 *
 * This bounds the number of rounds: two for vGPUs that were in the container when the loop began,
 * and one more for each vGPU that is opened during the loop. With the vGPUs of one card that stays
 * below eleven. More than ten vGPUs, of two cards, in one container are not covered.
 *
 * A vGPU that uses iommufd is asked once for each area (piece of the VMM's address space) that one
 * ioctl unmaps, and iommufd forbids new pins of an area by itself. But it gives up, with a WARN,
 * when it has asked more than 100 times; kernels differ in when that count begins anew. So when one
 * thread has asked for IOAS_ROUNDS areas, whichever vGPUs it asked, the vGPU that it asks then
 * releases all memory, and pins none until the thread has left.
 */
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "mdev/compat.h"
#include "mdev/machine/internal.h"

/* from this round of a thread on, the vGPUs that it has asked may not pin */
#define ROUNDS 2
/* the same for vGPUs that use iommufd */
#define IOAS_ROUNDS 64
/* most ms that kvgpu_machine_unmap_wait() waits */
#define WAIT_MS 20
/* must not fail: a round that is not counted could lead to the BUG */
#define ALLOC (GFP_KERNEL_ACCOUNT | __GFP_NOFAIL)

/*
 * A thread that has asked a vGPU and has not left its unmap loop. The thread itself adds the object
 * to the table; the close of the thread's file removes and frees it.
 */
struct unmapping {
	struct hlist_node node; /* in the table unmappings */
	struct pid *who; /* the thread */
	/* the vGPUs that the thread has asked: list of struct unmap_known, by .of_thread */
	struct list_head known;
	u32 round; /* number of the present round; 0: none has begun */
	u32 most; /* ROUNDS, or IOAS_ROUNDS if its vGPUs use iommufd */
	u64 area; /* IOVA of the area for which iommufd has asked last */
};

/* A thread has asked a vGPU to unpin memory: one object for each thread and vGPU. */
struct unmap_known {
	struct list_head of_thread, of_machine;
	struct kvgpu_machine *m;
	struct unmapping *u;
	u32 round; /* number of the round in which the vGPU was asked last */
};

/*
 * Leaf lock: protects the table unmappings, all objects in it, and m->pin.unmaps. VMMs decide how
 * many threads there are, so no code walks through the whole table.
 */
static DEFINE_SPINLOCK(unmappings_lock);
static DEFINE_HASHTABLE(unmappings, 12);

/* -------------------- find, make and forget threads, and the vGPUs that each of them has asked */

/* Frees @k. If @k's thread has forbidden the vGPU to pin, it does so no more. Lock held. */
static void known_forget(struct unmap_known *k)
{
	if (k->u->round >= k->u->most)
		atomic_dec(&k->m->pin.forbidden_by);
	list_del(&k->of_thread);
	list_del(&k->of_machine);
	kfree(k);
}

/* The kernel closes the file: its thread is on its way to user mode, or has ended. */
static int thread_has_left(struct inode *inode, struct file *file)
{
	struct unmapping *u = file->private_data;
	struct unmap_known *k, *next;

	spin_lock(&unmappings_lock);
	list_for_each_entry_safe(k, next, &u->known, of_thread)
		known_forget(k);
	hash_del(&u->node);
	spin_unlock(&unmappings_lock);
	put_pid(u->who);
	kfree(u);
	return 0;
}

static const struct file_operations left_fops = {
	.owner = THIS_MODULE,
	.release = thread_has_left,
};

/*
 * Makes the file whose close calls thread_has_left(). This must not fail (ALLOC). So it has the
 * rights of the host, who may exceed the limit of open files, and takes from the reserves what the
 * memory limit of the VMM forbids.
 */
static struct file *file_new(struct unmapping *u)
{
	const struct cred *host = get_task_cred(&init_task), *own = override_creds(host);
	unsigned int flags = memalloc_noreclaim_save();
	struct file *file;

	while (IS_ERR(file = anon_inode_getfile("[kvgpu-unmap]", &left_fops, u, 0)))
		usleep_range(1000, 2000);
	memalloc_noreclaim_restore(flags);
	revert_creds(own);
	put_cred(host);
	return file;
}

/* Makes the object of the current thread, not in the table yet, and *@file, the thread's file. */
static struct unmapping *unmapping_new(u32 most, struct file **file)
{
	struct unmapping *u = kzalloc(sizeof(*u), ALLOC);

	u->most = most;
	INIT_LIST_HEAD(&u->known);
	u->who = get_task_pid(current, PIDTYPE_PID);
	*file = file_new(u);
	return u;
}

/* Returns the object of the current thread, or NULL. Lock held. */
static struct unmapping *unmapping_find(void)
{
	struct pid *who = task_pid(current);
	struct unmapping *u;

	hash_for_each_possible(unmappings, u, node, (unsigned long)who)
		if (u->who == who)
			return u;
	return NULL;
}

/* Returns the object of thread @u and vGPU @m. If there is none, **@spare becomes it. Lock held. */
static struct unmap_known *known_get(struct unmapping *u, struct kvgpu_machine *m,
				     struct unmap_known **spare)
{
	struct unmap_known *k;

	list_for_each_entry(k, &u->known, of_thread)
		if (k->m == m)
			return k;
	k = *spare;
	*spare = NULL;
	k->m = m;
	k->u = u;
	if (u->round >= u->most)
		atomic_inc(&m->pin.forbidden_by);
	list_add(&k->of_thread, &u->known);
	list_add(&k->of_machine, &m->pin.unmaps);
	return k;
}

/* --------------------------------------- note a thread, ask whether a vGPU may be opened or pin */

bool vmach_unmap_note(struct kvgpu_vgpu *v, u64 iova)
{
	struct unmap_known *spare = kzalloc(sizeof(*spare), ALLOC), *k, *each;
	bool ioas = compat_pins_alone(&v->vdev), all;
	struct file *file = NULL;
	struct unmapping *u;

	lockdep_assert_held(&v->lock);
	spin_lock(&unmappings_lock);
	u = unmapping_find();
	if (!u) {
		spin_unlock(&unmappings_lock);
		u = unmapping_new(ioas ? IOAS_ROUNDS : ROUNDS, &file);
		spin_lock(&unmappings_lock);
		hash_add(unmappings, &u->node, (unsigned long)u->who);
	}
	k = known_get(u, v->m, &spare);
	/*
	 * Another area is another round, whichever vGPU it is asked of: a VMM may detach the vGPU
	 * that was asked and attach another one, again and again.
	 */
	if ((k->round == u->round || (ioas && u->area != iova)) && ++u->round == u->most)
		list_for_each_entry(each, &u->known, of_thread)
			atomic_inc(&each->m->pin.forbidden_by);
	k->round = u->round;
	u->area = iova;
	all = ioas && u->round >= u->most;
	spin_unlock(&unmappings_lock);
	kfree(spare);
	if (file)
		fput(file);
	return all;
}

/*
 * A process can close the vGPU while one of its threads stays in the unmap loop, for as long as it
 * likes. Meanwhile pins of this vGPU may be forbidden, and the next tenant would not know why. The
 * thread's rounds can't be dropped at open, because the process that opens the vGPU may use the
 * same container. So while m->pin.unmaps has a thread, only the last opener may open the vGPU.
 */
int vmach_unmap_open(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct unmap_known *k;
	pid_t who = 0;

	lockdep_assert_held(&v->lock);
	spin_lock(&unmappings_lock);
	k = list_first_entry_or_null(&m->pin.unmaps, struct unmap_known, of_machine);
	if (k && m->pin.opener != task_tgid(current))
		who = pid_nr(k->u->who);
	spin_unlock(&unmappings_lock);
	if (who) {
		dev_notice_ratelimited(
			v->vdev.dev,
			"not opened: thread %d of its last user is still in an unmap of memory; end that process\n",
			who);
		return -EBUSY;
	}
	put_pid(m->pin.opener);
	m->pin.opener = get_task_pid(current, PIDTYPE_TGID);
	return 0;
}

/*
 * Without the wait, work of a guest that runs while its VMM unmaps would fault on new mappings,
 * which are not pinned. A VMM that delays its unmap beyond WAIT_MS harms its own guest.
 */
void kvgpu_machine_unmap_wait(struct kvgpu_vgpu *v)
{
	ktime_t end = ktime_add_ms(ktime_get(), WAIT_MS);

	while (atomic_read(&v->m->pin.forbidden_by) && ktime_before(ktime_get(), end) &&
	       !fatal_signal_pending(current))
		usleep_range(100, 200);
}

void vmach_unmap_fini(struct kvgpu_machine *m)
{
	struct unmap_known *k;
	bool more;

	do {
		spin_lock(&unmappings_lock);
		k = list_first_entry_or_null(&m->pin.unmaps, struct unmap_known, of_machine);
		more = k;
		if (k)
			known_forget(k);
		spin_unlock(&unmappings_lock);
		cond_resched();
	} while (more);
	put_pid(m->pin.opener);
}
