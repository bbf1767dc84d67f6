// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often VFIO's container may ask for memory. vfio_dma_do_unmap() calls .dma_unmap of all its
 * devices for a mapping, looks whether anything of that mapping is pinned still, and starts over;
 * the eleventh time it is a BUG. Between our answer and its look anything may happen: a thread that
 * unmaps can be kept from running for as long as its VMM likes. So this is a matter of counting,
 * not of time:
 *
 * A thread is in one such loop at a time. From its first call of .dma_unmap on it is known here; a
 * vGPU that was asked twice by it pins nothing, until the thread has left the loop. Nothing at all:
 * the core knows its mapping by an address, which the next mapping may get, wherever that one is,
 * and the range of the ioctl is not told.
 *
 * The proof that a thread has left is that it is on its way to user mode. No function for that is
 * exported by every kernel (task_work_add() is by Debian's), but each has fput(): the kernel closes
 * a file that a thread let go of when the thread returns to user mode, or ends (fs/file_table.c).
 * So a thread that is known here owes a file, which nobody can open. If there is no memory for a
 * file, what else proves it has to do: any other call of the thread into this module, or its death.
 *
 * The number of rounds is bounded by that. Those vGPUs that were in the container when the loop
 * began: two, then nothing of theirs is pinned. One that is opened later does not know of the loop,
 * pins once at most, and is told with its first call how often the others were asked. What it knows
 * it keeps when it is closed and opened again. So there are at most two rounds and one for each
 * vGPU of the container; a card has eight at most.
 *
 * iommufd has no such limit (it forbids new pins by itself), and no vGPU that uses it is noted
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
/* a round that went uncounted would be one too many */
#define ALLOC		(GFP_KERNEL_ACCOUNT | __GFP_NOFAIL)

/*
 * a thread that asked for memory and has not been in user mode since. Freed when it is in no list
 * and has no file
 */
struct unmapping {
	struct hlist_node node;		/* unmappings */
	struct pid *who;
	struct list_head known;		/* by these vGPUs: struct unmap_known.of_thread */
	struct list_head no_file;	/* without_file, if it has none */
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

/*
 * leaf: the table, all in it, and m->unmaps. As many entries as threads are in such a loop, which a
 * VMM decides: nobody goes through them
 */
static DEFINE_SPINLOCK(unmappings_lock);
static DEFINE_HASHTABLE(unmappings, 12);
static LIST_HEAD(without_file);		/* of them, those that nothing tells about: a few, if any */
static atomic_t nr_without_file;

/* ------------------------------------------------------------ the threads; unmappings_lock held */

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
	if (!list_empty(&u->no_file)) {
		list_del(&u->no_file);
		atomic_dec(&nr_without_file);
	}
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

/*
 * of threads without a file, those that died have left. A few are asked each time: a VMM without
 * memory may have many
 */
static void finish_dead(void)
{
	struct unmapping *u, *next;
	u32 asked = 0;

	list_for_each_entry_safe(u, next, &without_file, no_file) {
		if (asked++ == DEAD_LOOKS)
			break;
		if (!lives(u))
			finish(u);
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

/* for this thread; not in any list yet. @file: to let go of when it is, or an error */
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

void machine_unmap_asked(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct unmapping *u, *new = NULL;
	struct unmap_known *k, *known;
	struct file *file = NULL;

	lockdep_assert_held(&v->lock);
	if (compat_pins_alone(&v->vdev))
		return;
	/*
	 * all memory before the lock: what is found under it may be gone a moment later, with the
	 * last vGPU that knows of it
	 */
	k = kzalloc(sizeof(*k), ALLOC);
	spin_lock(&unmappings_lock);
	u = find_thread(task_pid(current));
	if (!u) {
		spin_unlock(&unmappings_lock);
		new = unmapping_new(&file);
		spin_lock(&unmappings_lock);
		u = new;	/* only this thread makes its own */
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
		/* with the call that it learns it by: as many as the others */
		k->rounds = u->rounds ? u->rounds - 1 : 0;
		WRITE_ONCE(m->unmaps_forbid, m->unmaps_forbid + (u->rounds >= ROUNDS));
		list_add(&k->of_thread, &u->known);
		list_add(&k->of_machine, &m->unmaps);
		known = k;
		k = NULL;
	}
	count(known);
	spin_unlock(&unmappings_lock);
	kfree(k);
	if (new && !IS_ERR(file))
		fput(file);
}

/*
 * A process that has closed the vGPU may have a thread in its loop still, for as long as it likes:
 * its ioctl's answer goes to memory of a server of its own. The next tenant could pin nothing then,
 * and not know why, also if that thread has asked this vGPU only once so far: it may ask another
 * vGPU once more. What is known of the thread can't be forgotten here: both processes may share the
 * container. So while there is such a thread only the process that opened the vGPU last may open
 * it. The first thread of the list decides that, however many there are; those that died without a
 * file go one by one.
 */
int machine_unmap_open(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct unmap_known *k;
	pid_t who = 0;
	bool dead;

	lockdep_assert_held(&v->lock);
	do {
		spin_lock(&unmappings_lock);
		k = list_first_entry_or_null(&m->unmaps, struct unmap_known, of_machine);
		dead = k && !k->u->file && !lives(k->u);
		if (dead)
			finish(k->u);
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

bool machine_unmap_may_pin(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	bool may;

	lockdep_assert_held(&v->lock);
	if (!READ_ONCE(m->unmaps_forbid))
		return true;
	if (!atomic_read(&nr_without_file))
		return false;
	spin_lock(&unmappings_lock);
	finish_dead();
	may = !m->unmaps_forbid;
	spin_unlock(&unmappings_lock);
	return may;
}

/*
 * What a guest maps now would not be pinned, and its work would fault there. A VMM that runs its
 * guests while it unmaps is not to see
 * that: an unmap is over in less time than this. One that stretches it does so for itself.
 */
void vgpu_machine_unmap_wait(struct kvgpu_vgpu *v)
{
	ktime_t end = ktime_add_ms(ktime_get(), WAIT_MS);

	while (READ_ONCE(v->m->unmaps_forbid) && ktime_before(ktime_get(), end) &&
	       !fatal_signal_pending(current))
		usleep_range(100, 200);
}

void vgpu_machine_called(void)
{
	struct unmapping *u;

	if (!atomic_read(&nr_without_file))
		return;
	spin_lock(&unmappings_lock);
	u = find_thread(task_pid(current));
	if (u && !u->file)
		finish(u);
	spin_unlock(&unmappings_lock);
}

void machine_unmap_init(struct kvgpu_machine *m)
{
	INIT_LIST_HEAD(&m->unmaps);
}

void machine_unmap_fini(struct kvgpu_machine *m)
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
			forget(k);
			if (list_empty(&u->known) && !u->file)
				finish(u);	/* or it would be in the list for ever */
		}
		spin_unlock(&unmappings_lock);
		cond_resched();
	}
	put_pid(m->opener);
}
