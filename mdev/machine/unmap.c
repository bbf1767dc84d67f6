// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits how often VFIO's container has to ask for memory back. When a VMM unmaps a mapping of
 * guest memory of which a page is pinned, vfio_dma_do_unmap() calls .dma_unmap of the container's
 * devices and looks again, until no page is pinned. This is called the *unmap loop* here. If a page
 * is still pinned after eleven such calls, the kernel stops with a BUG. Each call of a vGPU's
 * .dma_unmap in the loop is a *round* of that vGPU: the thread has *asked* the vGPU. A VMM decides
 * how long its unmapping thread takes between two rounds, and its vGPUs may pin again meanwhile. So
 * rounds are counted.
 *
 * A thread is in one unmap loop at a time. From its first call of .dma_unmap on it is known here.
 * When it has asked any vGPU twice, all vGPUs that it has asked pin no page until it has left the
 * loop. The vGPUs pin no page at all, also outside of the mapping. The reason: vfio_dma_do_unmap()
 * recognises the mapping by the address of its object in kernel memory, and the next mapping, at
 * any IOVA, may get an object at the same address.
 *
 * A thread has left the loop when it is on its way to user mode. fput() tells so: when a thread
 * returns to user mode or ends, the kernel closes the files that the thread has released
 * (fs/file_table.c). So a file is made for the thread, and released at once: its close tells that
 * the thread has left. (task_work_add() is not exported by every kernel.) If no file can be made,
 * other proof has to do: a read, write or ioctl of the thread on a vGPU, or its death.
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
 *
 * vgpu->lock is held when a vGPU is asked or opened, and when it pins. unmappings_lock, a leaf,
 * protects what is known of threads.
 */
#include <linux/anon_inodes.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "mdev/compat.h"
#include "mdev/machine/internal.h"

/* from this round of a vGPU on, the vGPUs that the thread has asked may not pin */
#define ROUNDS 2
/* the same for vGPUs that use iommufd */
#define IOAS_ROUNDS 64
/* most threads without a file that finish_dead_unmaps() looks at */
#define DEAD_SCAN_MAX 8
/* most ms that kvgpu_machine_unmap_wait() waits */
#define WAIT_MS 20
/* must not fail: a round that is not counted could lead to the BUG */
#define ALLOC (GFP_KERNEL_ACCOUNT | __GFP_NOFAIL)

/*
 * A thread that has asked a vGPU to unpin memory and is not known to have left its unmap loop (see
 * the top of this file). The object is freed when the thread is known to have left, or when no vGPU
 * is left in .known; but not before the thread's file, if there is one, is closed.
 */
struct unmapping {
	struct hlist_node node; /* in the table unmappings */
	/* the thread */
	struct pid *who;
	/* the vGPUs that the thread has asked: list of struct unmap_known, by .of_thread */
	struct list_head known;
	struct list_head no_file; /* in without_file, if no file could be made */
	u32 rounds; /* the highest .rounds of the entries of .known so far */
	u32 most; /* ROUNDS, or IOAS_ROUNDS if its vGPUs use iommufd */
	/* IOVA of the area for which iommufd has asked last */
	u64 area;
	/* the thread's file is not closed yet */
	bool file;
};

/* A thread has asked a vGPU to unpin memory: one object for each thread and vGPU. */
struct unmap_known {
	struct list_head of_thread, of_machine;
	struct kvgpu_machine *m;
	struct unmapping *u;
	/* number of the vGPU's last round; its first has number u->rounds, or 1 if that is 0 */
	u32 rounds;
};

/*
 * Leaf lock: protects the table unmappings, all objects in it, without_file, and m->pin.unmaps.
 * VMMs decide how many threads there are, so no code walks through the whole table.
 */
static DEFINE_SPINLOCK(unmappings_lock);
static DEFINE_HASHTABLE(unmappings, 12);
static LIST_HEAD(without_file); /* list of struct unmapping: threads without a file */
static atomic_t nr_without_file;

/* ---------------------- find and forget threads, count their rounds; unmappings_lock is held */

/* Frees @k. If @k's thread has forbidden the vGPU to pin, it does so no more. */
static void known_forget(struct unmap_known *k)
{
	if (k->u->rounds >= k->u->most)
		WRITE_ONCE(k->m->pin.forbidden_by, k->m->pin.forbidden_by - 1);
	list_del(&k->of_thread);
	list_del(&k->of_machine);
	kfree(k);
}

/*
 * Forgets a thread that has left its unmap loop, and frees @u. The thread has no file, or the file
 * is closed.
 */
static void unmap_finish(struct unmapping *u)
{
	struct unmap_known *k, *next;

	list_for_each_entry_safe(k, next, &u->known, of_thread)
		known_forget(k);
	hash_del(&u->node);
	if (!list_empty(&u->no_file)) {
		list_del(&u->no_file);
		atomic_dec(&nr_without_file);
	}
	put_pid(u->who);
	kfree(u);
}

static bool thread_lives(const struct unmapping *u)
{
	bool found;

	rcu_read_lock();
	found = pid_task(u->who, PIDTYPE_PID) != NULL;
	rcu_read_unlock();
	return found;
}

/*
 * Forgets threads without a file that have died. Looks at DEAD_SCAN_MAX threads at most; the next
 * call goes on with the threads after them.
 */
static void finish_dead_unmaps(void)
{
	struct unmapping *u, *next;
	u32 asked = 0;

	list_for_each_entry_safe(u, next, &without_file, no_file) {
		if (asked++ == DEAD_SCAN_MAX)
			break;
		if (!thread_lives(u))
			unmap_finish(u);
		else
			list_move_tail(&u->no_file, &without_file);
	}
}

static struct unmapping *find_thread(struct pid *who)
{
	struct unmapping *u;

	hash_for_each_possible(unmappings, u, node, (unsigned long)who)
		if (u->who == who)
			return u;
	return NULL;
}

static struct unmap_known *find_known(const struct kvgpu_machine *m, const struct unmapping *u)
{
	struct unmap_known *k;

	list_for_each_entry(k, &u->known, of_thread)
		if (k->m == m)
			return k;
	return NULL;
}

/* Counts a round of @k's vGPU. At u->most, forbids pins to the vGPUs that the thread has asked. */
static void round_count(struct unmap_known *k)
{
	struct unmapping *u = k->u;
	struct unmap_known *each;

	if (++k->rounds <= u->rounds)
		return;
	u->rounds = k->rounds;
	if (u->rounds == u->most)
		list_for_each_entry(each, &u->known, of_thread)
			WRITE_ONCE(each->m->pin.forbidden_by, each->m->pin.forbidden_by + 1);
}

/* -------------------------- the file that the kernel closes when a thread leaves its unmap loop */

/* The kernel closes the file: its thread is on its way to user mode, or has ended. */
static int thread_has_left(struct inode *inode, struct file *file)
{
	struct unmapping *u = file->private_data;

	spin_lock(&unmappings_lock);
	u->file = false;
	unmap_finish(u);
	spin_unlock(&unmappings_lock);
	return 0;
}

static const struct file_operations left_fops = {
	.owner = THIS_MODULE,
	.release = thread_has_left,
};

/*
 * Makes the object of the current thread, in no list yet. @most: the object's .most. *@file is the
 * thread's file, or an error pointer. The caller puts the object into the table, and then releases
 * the file.
 */
static struct unmapping *unmapping_new(u32 most, struct file **file)
{
	struct unmapping *u = kzalloc(sizeof(*u), ALLOC);

	u->most = most;
	INIT_LIST_HEAD(&u->known);
	INIT_LIST_HEAD(&u->no_file);
	u->who = get_task_pid(current, PIDTYPE_PID);
	*file = anon_inode_getfile("[kvgpu-unmap]", &left_fops, u, 0);
	u->file = !IS_ERR(*file);
	return u;
}

/* ----------------------------------- note a thread, ask whether a vGPU may be opened or may pin */

bool vmach_unmap_note(struct kvgpu_vgpu *v, u64 iova)
{
	bool ioas = compat_pins_alone(&v->vdev), all;
	struct kvgpu_machine *m = v->m;
	struct unmapping *u, *new = NULL;
	struct unmap_known *k, *known;
	struct file *file = NULL;

	lockdep_assert_held(&v->lock);
	/*
	 * allocate before the lock is taken: the thread's object may be freed when the lock is
	 * released
	 */
	k = kzalloc(sizeof(*k), ALLOC);
	spin_lock(&unmappings_lock);
	u = find_thread(task_pid(current));
	if (!u) {
		spin_unlock(&unmappings_lock);
		new = unmapping_new(ioas ? IOAS_ROUNDS : ROUNDS, &file);
		spin_lock(&unmappings_lock);
		/* the table still has no object of this thread: only the thread itself adds one */
		u = new;
		hash_add(unmappings, &u->node, (unsigned long)u->who);
		if (!u->file) {
			list_add(&u->no_file, &without_file);
			atomic_inc(&nr_without_file);
		}
	}
	known = find_known(m, u);
	if (!known) {
		k->m = m;
		k->u = u;
		/* one less than the thread's count: round_count() below adds this round */
		k->rounds = u->rounds ? u->rounds - 1 : 0;
		WRITE_ONCE(m->pin.forbidden_by, m->pin.forbidden_by + (u->rounds >= u->most));
		list_add(&k->of_thread, &u->known);
		list_add(&k->of_machine, &m->pin.unmaps);
		known = k;
		k = NULL;
	}
	/*
	 * Another area is another round, whichever vGPU it is asked of: a VMM may detach the vGPU
	 * that was asked and attach another one, again and again.
	 */
	if (ioas && u->area != iova)
		known->rounds = u->rounds;
	u->area = iova;
	round_count(known);
	all = ioas && u->rounds >= u->most;
	spin_unlock(&unmappings_lock);
	kfree(k);
	if (new && !IS_ERR(file))
		fput(file);
	return all;
}

/*
 * A process can close the vGPU while one of its threads is still in the unmap loop. The thread may
 * stay there for as long as the process likes. Until the thread leaves the loop, pins of this vGPU
 * may be forbidden, and the next tenant would not know why. The thread's rounds can't be dropped at
 * open, because the process that opens the vGPU may use the same container. So while m->pin.unmaps
 * has a thread, only the process that opened the vGPU last may open it. One thread is enough to
 * refuse, except for a dead thread without a file, which is removed.
 */
int vmach_unmap_open(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct unmap_known *k;
	pid_t who = 0;
	bool dead;

	lockdep_assert_held(&v->lock);
	do {
		spin_lock(&unmappings_lock);
		k = list_first_entry_or_null(&m->pin.unmaps, struct unmap_known, of_machine);
		dead = k && !k->u->file && !thread_lives(k->u);
		if (dead)
			unmap_finish(k->u);
		else if (k && m->pin.opener != task_tgid(current))
			who = pid_nr(k->u->who);
		spin_unlock(&unmappings_lock);
		cond_resched();
	} while (dead);
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

bool vmach_pin_allowed(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	bool may;

	lockdep_assert_held(&v->lock);
	if (!READ_ONCE(m->pin.forbidden_by))
		return true;
	if (!atomic_read(&nr_without_file))
		return false;
	spin_lock(&unmappings_lock);
	finish_dead_unmaps();
	may = !m->pin.forbidden_by;
	spin_unlock(&unmappings_lock);
	return may;
}

/*
 * While pins of the vGPU are forbidden, a guest's new mappings would not be pinned, and its work
 * would fault on them. This wait avoids such faults in a guest that runs while its VMM unmaps, if
 * the unmap ends within WAIT_MS. A VMM that delays its unmap harms its own guest.
 */
void kvgpu_machine_unmap_wait(struct kvgpu_vgpu *v)
{
	ktime_t end = ktime_add_ms(ktime_get(), WAIT_MS);

	while (READ_ONCE(v->m->pin.forbidden_by) && ktime_before(ktime_get(), end) &&
	       !fatal_signal_pending(current))
		usleep_range(100, 200);
}

void kvgpu_machine_call_note(void)
{
	struct unmapping *u;

	if (!atomic_read(&nr_without_file))
		return;
	spin_lock(&unmappings_lock);
	u = find_thread(task_pid(current));
	if (u && !u->file)
		unmap_finish(u);
	spin_unlock(&unmappings_lock);
}

void vmach_unmap_init(struct kvgpu_machine *m)
{
	INIT_LIST_HEAD(&m->pin.unmaps);
}

void vmach_unmap_fini(struct kvgpu_machine *m)
{
	struct unmap_known *k;
	struct unmapping *u;
	bool more = true;

	while (more) {
		spin_lock(&unmappings_lock);
		k = list_first_entry_or_null(&m->pin.unmaps, struct unmap_known, of_machine);
		more = k;
		if (k) {
			u = k->u;
			known_forget(k);
			if (list_empty(&u->known) && !u->file)
				/* @u has no file whose close would do this later */
				unmap_finish(u);
		}
		spin_unlock(&unmappings_lock);
		cond_resched();
	}
	put_pid(m->pin.opener);
}
