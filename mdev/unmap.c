// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often VFIO's container may ask for memory. vfio_dma_do_unmap() calls .dma_unmap of all its devices for a mapping, looks
 * whether anything of that mapping is pinned still, and starts over; the eleventh time it is a BUG. Between our answer
 * and its look anything may happen: a thread that unmaps can be kept from running for as long as its VMM likes. So this is a
 * matter of counting, not of time:
 *
 * A thread is in one such loop at a time. From its first call of .dma_unmap on it is known here; a vGPU that was asked twice
 * by it pins nothing, until the thread has left the loop. Nothing at all: the core knows its mapping by an address, which the next
 * mapping may get, wherever that one is, and the range of the ioctl is not told.
 *
 * The proof that a thread has left is that it is on its way to user mode. No function for that is exported by every kernel
 * (task_work_add() is by Debian's), but each has fput(): the kernel closes a file that a thread let go of when the thread returns to
 * user mode, or ends (fs/file_table.c). So a thread that is known here owes a file, which nobody can open. If there is no memory for
 * a file, what else proves it has to do: any other call of the thread into this module, or its death.
 *
 * The number of rounds is bounded by that. Those vGPUs that were in the container when the loop began: two, then nothing
 * of theirs is pinned. One that is opened later does not know of the loop, pins once at most, and is told with its first call
 * how often the others were asked. What it knows it keeps when it is closed and opened again. So there are at most two rounds
 * and one for each vGPU of the container; a card has eight at most.
 *
 * iommufd has no such limit (it forbids new pins by itself), and no vGPU that uses it is noted here.
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
#include "mdev/machine.h"

#define ROUNDS		2
#define WAIT_MS		20
#define ALLOC		(GFP_KERNEL_ACCOUNT | __GFP_NOFAIL)	/* a round that went uncounted would be one too many */

/* a thread that asked for memory and has not been in user mode since. Freed when it is in no list and has no file */
struct unmapping {
	struct hlist_node node;		/* unmappings */
	struct pid *who;
	struct list_head known;		/* by these vGPUs: struct unmap_known.of_thread */
	u32 rounds;			/* of the vGPU that was asked most often */
	bool file;			/* one tells when the thread has left */
	bool over;			/* it has */
};

/* that a vGPU was asked by a thread */
struct unmap_known {
	struct list_head of_thread, of_machine;
	struct kvgpu_machine *m;
	struct unmapping *u;
	u32 rounds;			/* how often */
};

/* leaf: both lists, all in them, and m->unmaps. As many entries as threads are in such a loop; none is gone through as a whole but m's */
static DEFINE_SPINLOCK(unmappings_lock);
static DEFINE_HASHTABLE(unmappings, 8);
static atomic_t nr_unmappings;

/* ------------------------------------------------------------------ the threads; unmappings_lock held */

static void forget(struct unmap_known *k)
{
	if (k->u->rounds >= ROUNDS)
		WRITE_ONCE(k->m->unmaps_forbid, k->m->unmaps_forbid - 1);
	list_del(&k->of_thread);
	list_del(&k->of_machine);
	kfree(k);
}

/* the thread has left its loop. @u may be freed */
static void finish(struct unmapping *u)
{
	struct unmap_known *k, *next;

	list_for_each_entry_safe(k, next, &u->known, of_thread)
		forget(k);
	hash_del(&u->node);
	atomic_dec(&nr_unmappings);
	put_pid(u->who);
	u->over = true;
	if (!u->file)
		kfree(u);
}

static bool lives(const struct unmapping *u)
{
	bool found;

	rcu_read_lock();
	found = pid_task(u->who, PIDTYPE_PID) != NULL;
	rcu_read_unlock();
	return found;
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

/* one round more of @k's vGPU: those that know of the thread pin nothing from the second on */
static void count(struct unmap_known *k)
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

static int has_left(struct inode *inode, struct file *file)
{
	struct unmapping *u = file->private_data;

	spin_lock(&unmappings_lock);
	u->file = false;
	if (u->over)
		kfree(u);
	else
		finish(u);
	spin_unlock(&unmappings_lock);
	return 0;
}

static const struct file_operations left_fops = {
	.owner = THIS_MODULE,
	.release = has_left,
};

/* this thread is on its way into the loop's next look; when it has left has_left() is called, if there is memory for that */
static struct unmapping *begin(void)
{
	struct unmapping *u = kzalloc(sizeof(*u), ALLOC);
	struct file *file;

	INIT_LIST_HEAD(&u->known);
	u->who = get_task_pid(current, PIDTYPE_PID);
	file = anon_inode_getfile("[kvgpu-unmap]", &left_fops, u, 0);
	u->file = !IS_ERR(file);
	spin_lock(&unmappings_lock);
	hash_add(unmappings, &u->node, (unsigned long)u->who);
	atomic_inc(&nr_unmappings);
	spin_unlock(&unmappings_lock);
	if (u->file)
		fput(file);
	return u;
}

/* ------------------------------------------------------------------ for pin.c, space.c and the face */

void machine_unmap_asked(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct unmap_known *k = NULL;
	struct unmapping *u;

	lockdep_assert_held(&v->lock);
	if (compat_pins_alone(&v->vdev))
		return;
	/* only this thread makes its entry, and only it or its death ends it; only its call, under v->lock, makes the vGPU know of it */
	spin_lock(&unmappings_lock);
	u = find_thread(task_pid(current));
	if (u)
		k = find_known(m, u);
	spin_unlock(&unmappings_lock);
	if (!u)
		u = begin();
	if (!k) {
		k = kzalloc(sizeof(*k), ALLOC);
		k->m = m;
		k->u = u;
		spin_lock(&unmappings_lock);
		k->rounds = u->rounds ? u->rounds - 1 : 0;	/* with the call that it learns it by: as many as the others */
		WRITE_ONCE(m->unmaps_forbid, m->unmaps_forbid + (u->rounds >= ROUNDS));
		list_add(&k->of_thread, &u->known);
		list_add(&k->of_machine, &m->unmaps);
		spin_unlock(&unmappings_lock);
	}
	spin_lock(&unmappings_lock);
	count(k);
	spin_unlock(&unmappings_lock);
}

bool machine_unmap_may_pin(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct unmap_known *k, *next;
	bool may;

	lockdep_assert_held(&v->lock);
	if (!READ_ONCE(m->unmaps_forbid))
		return true;
	spin_lock(&unmappings_lock);
	list_for_each_entry_safe(k, next, &m->unmaps, of_machine)
		if (!k->u->file && !lives(k->u))
			finish(k->u);
	may = !m->unmaps_forbid;
	spin_unlock(&unmappings_lock);
	return may;
}

/*
 * What a guest maps now would not be pinned, and its work would fault there. A VMM that runs its guests while it unmaps is not to see
 * that: an unmap is over in less time than this. One that stretches it does so for itself.
 */
void vgpu_machine_unmap_wait(struct kvgpu_vgpu *v)
{
	ktime_t end = ktime_add_ms(ktime_get(), WAIT_MS);

	while (READ_ONCE(v->m->unmaps_forbid) && ktime_before(ktime_get(), end) && !fatal_signal_pending(current))
		usleep_range(100, 200);
}

void vgpu_machine_called(void)
{
	struct unmapping *u;

	if (!atomic_read(&nr_unmappings))
		return;
	spin_lock(&unmappings_lock);
	u = find_thread(task_pid(current));
	if (u)
		finish(u);
	spin_unlock(&unmappings_lock);
}

void machine_unmap_init(struct kvgpu_machine *m)
{
	INIT_LIST_HEAD(&m->unmaps);
}

void machine_unmap_fini(struct kvgpu_machine *m)
{
	struct unmap_known *k, *next;
	struct unmapping *u;

	spin_lock(&unmappings_lock);
	list_for_each_entry_safe(k, next, &m->unmaps, of_machine) {
		u = k->u;
		forget(k);
		if (list_empty(&u->known) && !u->file)
			finish(u);	/* or it would be in the list for ever */
	}
	spin_unlock(&unmappings_lock);
}
