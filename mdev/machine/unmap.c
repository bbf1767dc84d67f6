// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits how often VFIO's container has to ask for memory back. vfio_dma_do_unmap() calls
 * .dma_unmap of all its devices for a mapping, looks whether a page of that mapping is still
 * pinned, and starts over if so; the eleventh time is a BUG. Here this is called the unmap loop,
 * and a call of one vGPU's .dma_unmap in it is a round of that vGPU. Any time may pass between a
 * driver's answer and the core's look, because a VMM decides when its unmapping thread runs. So the
 * limit is a matter of counting rounds, not of time.
 *
 * A thread is in one unmap loop at a time. From its first call of .dma_unmap on it is known here.
 * When it has asked any vGPU twice, all vGPUs that it has asked pin no page until it has left the
 * loop. They pin no page at all, not only none of the mapping: the core counts for the address of
 * its object of the mapping, and the next mapping may get the same address, at whatever IOVA. The
 * range of the ioctl is not passed on to drivers.
 *
 * A thread has left the loop when it is on its way to user mode. Not every kernel exports a
 * function that tells so (task_work_add() is exported by Debian's), but each has fput(): when a
 * thread returns to user mode or ends, the kernel closes the files that the thread has released
 * (fs/file_table.c). So a file, which no process can open, is made for each known thread and
 * released at once. Its close tells that the thread has left the loop. If there is no memory for a
 * file, other proof has to do: any other call of the thread into this module, or its death.
 *
 * This bounds the number of rounds. vGPUs that were in the container when the loop began have two
 * rounds, and then no pinned page. A vGPU that is opened later does not know of the loop, and pins
 * once at most. With its first round it takes over the count of the other vGPUs, which it keeps
 * when it is closed and opened again. So there are at most two rounds, and one more for each vGPU
 * of the container; a card has eight vGPUs at most.
 *
 * iommufd has no such limit, because it forbids new pins by itself. vGPUs that use it are not noted
 * here.
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

#define ROUNDS		2
#define DEAD_LOOKS	8
#define WAIT_MS		20
/* the allocation must not fail: a round that is not counted could be the one too many */
#define ALLOC		(GFP_KERNEL_ACCOUNT | __GFP_NOFAIL)

/*
 * A thread that has asked a vGPU to unpin memory and has not left its unmap loop. Freed when it has
 * left the loop, or the last vGPU that it has asked is gone, and its file, if it has one, is
 * closed.
 */
struct unmapping {
	struct hlist_node node;		/* in unmappings */
	struct pid *who;
	/* of struct unmap_known.of_thread: the vGPUs that the thread has asked */
	struct list_head known;
	struct list_head no_file;	/* in the list without_file, if .file is false */
	u32 rounds;			/* the highest .rounds in .known */
	/* the thread has a file of ours; its close tells that the thread has left the loop */
	bool file;
	bool over;			/* the thread has left the loop */
};

/* A vGPU that a thread has asked to unpin memory. */
struct unmap_known {
	struct list_head of_thread, of_machine;
	struct kvgpu_machine *m;
	struct unmapping *u;
	u32 rounds;			/* how often the thread has asked the vGPU */
};

/*
 * Leaf lock: protects the table, all objects in it, and m->unmaps. The table has an entry for each
 * thread in an unmap loop. VMMs decide how many threads there are, so no code walks through the
 * whole table.
 */
static DEFINE_SPINLOCK(unmappings_lock);
static DEFINE_HASHTABLE(unmappings, 12);
static LIST_HEAD(without_file);		/* threads without a file: few, if any */
static atomic_t nr_without_file;

/* ------------------------------------------------------------ the threads; unmappings_lock held */

static void known_forget(struct unmap_known *k)
{
	if (k->u->rounds >= ROUNDS)
		WRITE_ONCE(k->m->unmaps_forbid, k->m->unmaps_forbid - 1);
	list_del(&k->of_thread);
	list_del(&k->of_machine);
	kfree(k);
}

/* The thread has left its unmap loop. @u may be freed here. */
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
	u->over = true;
	if (!u->file)
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
 * Finishes threads without a file that have died. Looks at a few threads each time, because a VMM
 * without memory may have many.
 */
static void finish_dead_unmaps(void)
{
	struct unmapping *u, *next;
	u32 asked = 0;

	list_for_each_entry_safe(u, next, &without_file, no_file) {
		if (asked++ == DEAD_LOOKS)
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

/*
 * Counts a round of @k's vGPU. From the second round on all vGPUs that the thread has asked pin
 * nothing.
 */
static void round_count(struct unmap_known *k)
{
	struct unmapping *u = k->u;
	struct unmap_known *each;

	if (++k->rounds <= u->rounds)
		return;
	u->rounds = k->rounds;
	if (u->rounds == ROUNDS)
		list_for_each_entry(each, &u->known, of_thread)
			WRITE_ONCE(each->m->unmaps_forbid, each->m->unmaps_forbid + 1);
}

/* ------------------------------------------------------------------ the file that a thread owes */

static int thread_has_left(struct inode *inode, struct file *file)
{
	struct unmapping *u = file->private_data;

	spin_lock(&unmappings_lock);
	u->file = false;
	if (u->over)
		kfree(u);
	else
		unmap_finish(u);
	spin_unlock(&unmappings_lock);
	return 0;
}

static const struct file_operations left_fops = {
	.owner = THIS_MODULE,
	.release = thread_has_left,
};

/*
 * Makes the object of the current thread, in no list yet. *@file: the file to release when the
 * object is listed, or an error.
 */
static struct unmapping *unmapping_new(struct file **file)
{
	struct unmapping *u = kzalloc(sizeof(*u), ALLOC);

	INIT_LIST_HEAD(&u->known);
	INIT_LIST_HEAD(&u->no_file);
	u->who = get_task_pid(current, PIDTYPE_PID);
	*file = anon_inode_getfile("[kvgpu-unmap]", &left_fops, u, 0);
	u->file = !IS_ERR(*file);
	return u;
}

/* -------------------------------------------------------------- for pin.c, space.c and the face */

void vmach_unmap_note(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct unmapping *u, *new = NULL;
	struct unmap_known *k, *known;
	struct file *file = NULL;

	lockdep_assert_held(&v->lock);
	if (compat_pins_alone(&v->vdev))
		return;
	/*
	 * allocate before taking the lock: an object found under the lock may be freed as soon as
	 * the lock is released, with the last vGPU that knows of it
	 */
	k = kzalloc(sizeof(*k), ALLOC);
	spin_lock(&unmappings_lock);
	u = find_thread(task_pid(current));
	if (!u) {
		spin_unlock(&unmappings_lock);
		new = unmapping_new(&file);
		spin_lock(&unmappings_lock);
		u = new;	/* no other thread makes an object for this one */
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
		/*
		 * this call counts as a round below: then the vGPU has as many rounds as the other
		 * vGPUs of the loop
		 */
		k->rounds = u->rounds ? u->rounds - 1 : 0;
		WRITE_ONCE(m->unmaps_forbid, m->unmaps_forbid + (u->rounds >= ROUNDS));
		list_add(&k->of_thread, &u->known);
		list_add(&k->of_machine, &m->unmaps);
		known = k;
		k = NULL;
	}
	round_count(known);
	spin_unlock(&unmappings_lock);
	kfree(k);
	if (new && !IS_ERR(file))
		fput(file);
}

/*
 * A process can close the vGPU while one of its threads is still in the unmap loop. The thread
 * stays there for as long as the process likes: the kernel writes the ioctl's answer to memory of
 * the process, and a page fault there may wait for a server that the process runs. Until the thread
 * leaves, pins of this vGPU may be forbidden. One round of this vGPU is enough: a second round of
 * any vGPU forbids pins to all vGPUs that the thread has asked. The next tenant could pin nothing,
 * and would not know why. The thread's rounds can't be forgotten at open, because the next process
 * may use the same container. So while m->unmaps has a thread, only the process that opened the
 * vGPU last may open it. Only the first thread of the list is looked at, because a VMM may have
 * many. If it is dead and has no file, it is finished, and the next thread is looked at.
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
		k = list_first_entry_or_null(&m->unmaps, struct unmap_known, of_machine);
		dead = k && !k->u->file && !thread_lives(k->u);
		if (dead)
			unmap_finish(k->u);
		else if (k && m->opener != task_tgid(current))
			who = pid_nr(k->u->who);
		spin_unlock(&unmappings_lock);
		cond_resched();
	} while (dead);
	if (who) {
		dev_notice_ratelimited(v->vdev.dev, "not opened: thread %d of its last user is still in an unmap of memory; end that process\n",
				       who);
		return -EBUSY;
	}
	put_pid(m->opener);
	m->opener = get_task_pid(current, PIDTYPE_TGID);
	return 0;
}

bool vmach_pin_allowed(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	bool may;

	lockdep_assert_held(&v->lock);
	if (!READ_ONCE(m->unmaps_forbid))
		return true;
	if (!atomic_read(&nr_without_file))
		return false;
	spin_lock(&unmappings_lock);
	finish_dead_unmaps();
	may = !m->unmaps_forbid;
	spin_unlock(&unmappings_lock);
	return may;
}

/*
 * While pins are forbidden, a guest's new mappings would not be pinned, and its work would fault on
 * them. A VMM that runs its guest while it unmaps should not see that: an unmap takes less time
 * than this wait. A VMM that makes its unmap take longer harms its own guest only.
 */
void kvgpu_machine_unmap_wait(struct kvgpu_vgpu *v)
{
	ktime_t end = ktime_add_ms(ktime_get(), WAIT_MS);

	while (READ_ONCE(v->m->unmaps_forbid) && ktime_before(ktime_get(), end) &&
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
	INIT_LIST_HEAD(&m->unmaps);
}

void vmach_unmap_fini(struct kvgpu_machine *m)
{
	struct unmap_known *k;
	struct unmapping *u;
	bool more = true;

	while (more) {
		spin_lock(&unmappings_lock);
		k = list_first_entry_or_null(&m->unmaps, struct unmap_known, of_machine);
		more = k;
		if (k) {
			u = k->u;
			known_forget(k);
			if (list_empty(&u->known) && !u->file)
				unmap_finish(u);	/* no close of a file would finish it */
		}
		spin_unlock(&unmappings_lock);
		cond_resched();
	}
	put_pid(m->opener);
}
