// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often VFIO's container may ask for the same memory. vfio_dma_do_unmap() calls .dma_unmap of all its devices for a mapping,
 * looks whether anything of that mapping is pinned still, and starts over; the eleventh time it is a BUG. Between our answer
 * and its look anything may happen: a thread that unmaps can be kept from running for as long as somebody likes. So this is a
 * matter of counting, not of time:
 *
 * A thread can be in one such loop at a time. From its first call on, what it asks for is noted under its name; a vGPU that
 * was asked for the same range twice pins nothing there, until it is sure that the thread has left the loop. It is when
 *   - it asks for another range, or makes any other call into this module, or does not live any more;
 *   - nothing is mapped at the range, as seen by a vGPU of that container.
 * Open: another range, or nothing mapped, is no proof where the next mapping gets the address that the core knows the last one by
 * (V2 in docs/threat-model.md). Return to user mode would be.
 *
 * The number of rounds is bounded by that. Those vGPUs that were in the container when the loop began: two, then nothing
 * of theirs is pinned. One that is opened later does not know of the loop, pins once at most, and is told with its first call
 * how often the others were asked. What it knows it keeps when it is closed and opened again. So there are at most two rounds
 * and one for each vGPU of the container; a card has eight at most.
 *
 * iommufd has no such limit (it forbids new pins by itself), and no vGPU that uses it is noted here.
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "mdev/compat.h"
#include "mdev/machine.h"

#define ROUNDS		2

/* a thread that asked for memory, and may be asking still. Freed when no vGPU knows of it */
struct unmapping {
	struct list_head node;
	struct pid *who;
	u64 first, last;
	u32 rounds;			/* of the vGPU that was asked most often */
	u32 known;			/* to so many vGPUs */
	bool over;			/* it is known to have left */
};

static DEFINE_MUTEX(unmappings_lock);	/* leaf: the list, all in it, and what vGPUs know of it */
static LIST_HEAD(unmappings);
static atomic_t nr_unmappings;

/* ------------------------------------------------------------------ the threads; unmappings_lock held */

static void finish(struct unmapping *u)
{
	if (u->over)
		return;
	u->over = true;
	list_del(&u->node);
	atomic_dec(&nr_unmappings);
	put_pid(u->who);
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

	list_for_each_entry(u, &unmappings, node)
		if (u->who == who)
			return u;
	return NULL;
}

/* the loop that this thread is in now: what it asked for before is over, if that was something else */
static struct unmapping *begin(u64 first, u64 last)
{
	struct unmapping *u = find_thread(task_pid(current));

	if (u && u->first == first && u->last == last)
		return u;
	if (u)
		finish(u);
	/* as many as there are entries in the vGPUs' books, at most; a round that went uncounted would be one too many */
	u = kzalloc(sizeof(*u), GFP_KERNEL | __GFP_NOFAIL);
	u->who = get_task_pid(current, PIDTYPE_PID);
	u->first = first;
	u->last = last;
	list_add(&u->node, &unmappings);
	atomic_inc(&nr_unmappings);
	return u;
}

/* ------------------------------------------------------------------ what a vGPU knows; unmappings_lock held */

static void forget(struct machine_unmap *k)
{
	struct unmapping *u = k->u;

	k->u = NULL;
	if (--u->known)
		return;
	finish(u);
	kfree(u);
}

static void forget_finished(struct kvgpu_machine *m)
{
	struct machine_unmap *k;

	for (k = m->unmaps; k < m->unmaps + ARRAY_SIZE(m->unmaps); k++) {
		if (!k->u)
			continue;
		if (!k->u->over && !lives(k->u))
			finish(k->u);
		if (k->u->over)
			forget(k);
	}
}

static struct machine_unmap *knowledge(struct kvgpu_machine *m, struct unmapping *u)
{
	struct machine_unmap *k, *room = NULL;

	for (k = m->unmaps; k < m->unmaps + ARRAY_SIZE(m->unmaps); k++) {
		if (k->u == u)
			return k;
		if (!k->u)
			room = k;
	}
	if (!room)
		return NULL;
	room->u = u;
	room->rounds = u->rounds ? u->rounds - 1 : 0;	/* with the call that it learns it by: as many as the others */
	u->known++;
	return room;
}

/* ------------------------------------------------------------------ for pin.c, space.c and the face */

void machine_unmap_asked(struct kvgpu_vgpu *v, u64 first, u64 last)
{
	struct kvgpu_machine *m = v->m;
	struct machine_unmap *k;
	struct unmapping *u;

	lockdep_assert_held(&v->lock);
	if (compat_pins_alone(&v->vdev))
		return;
	mutex_lock(&unmappings_lock);
	forget_finished(m);
	u = begin(first, last);
	k = knowledge(m, u);
	if (k) {
		k->opened = m->opened;
		k->rounds++;
		u->rounds = max(u->rounds, k->rounds);
	} else {
		m->unmaps_lost = true;	/* more threads than a VMM has: nothing is pinned until all that is known is over */
		if (!u->known) {
			finish(u);
			kfree(u);
		}
	}
	mutex_unlock(&unmappings_lock);
	schedule_delayed_work(&m->unmap_work, 1);
}

/*
 * Nothing is mapped at the start of the range: what was there when this container's thread asked is gone. The memory itself is not
 * waited for: it may be a file of the VMM's own server, and a work item that waits can't be killed.
 */
static bool is_gone(struct kvgpu_vgpu *v, u64 iova)
{
	u8 byte;
	int ret;

	pagefault_disable();
	ret = vfio_dma_rw(&v->vdev, iova, &byte, 1, false);
	pagefault_enable();
	return ret == -EINVAL;
}

/* the first range that overlaps, from entry *@i on, with its rounds; false: there is none */
static bool next_overlap(struct kvgpu_machine *m, u64 first, u64 last, u32 *i, struct machine_unmap *out, u64 *start)
{
	const struct machine_unmap *k;
	bool found = false;

	mutex_lock(&unmappings_lock);
	for (; *i < ARRAY_SIZE(m->unmaps) && !found; ++*i) {
		k = &m->unmaps[*i];
		found = k->u && !k->u->over && first <= k->u->last && last >= k->u->first;
		if (found) {
			*out = *k;
			out->rounds = k->u->rounds;
			*start = k->u->first;
		}
	}
	mutex_unlock(&unmappings_lock);
	return found;
}

static void over(struct kvgpu_machine *m, const struct machine_unmap *k)
{
	mutex_lock(&unmappings_lock);
	finish(k->u);
	forget_finished(m);
	mutex_unlock(&unmappings_lock);
}

bool machine_unmap_may_pin(struct kvgpu_vgpu *v, u64 first, u64 last)
{
	struct kvgpu_machine *m = v->m;
	struct machine_unmap k;
	bool may = true, any = false;
	u64 start;
	u32 i;

	lockdep_assert_held(&v->lock);
	if (!atomic_read(&nr_unmappings) && !m->unmaps_lost)
		return true;
	mutex_lock(&unmappings_lock);
	forget_finished(m);
	for (i = 0; i < ARRAY_SIZE(m->unmaps); i++)
		any |= m->unmaps[i].u != NULL;
	m->unmaps_lost &= any;
	mutex_unlock(&unmappings_lock);
	for (i = 0; next_overlap(m, first, last, &i, &k, &start); ) {
		if (k.opened == m->opened && is_gone(v, start))
			over(m, &k);
		else
			may &= k.rounds < ROUNDS;
	}
	return may && !m->unmaps_lost;
}

/* a VMM may map other memory there before anybody wants to pin it: then only who looks in between sees that it was gone */
static void look(struct work_struct *work)
{
	struct kvgpu_machine *m = container_of(to_delayed_work(work), struct kvgpu_machine, unmap_work);
	struct kvgpu_vgpu *v = m->v;
	u32 i;

	mutex_lock(&v->lock);
	if (m->may_pin)
		machine_unmap_may_pin(v, 0, U64_MAX);
	for (i = 0; i < ARRAY_SIZE(m->unmaps) && !m->unmaps[i].u; i++)
		;
	if (m->may_pin && i < ARRAY_SIZE(m->unmaps))
		schedule_delayed_work(&m->unmap_work, HZ / 4);
	mutex_unlock(&v->lock);
}

void vgpu_machine_called(void)
{
	struct unmapping *u;

	if (!atomic_read(&nr_unmappings))
		return;
	mutex_lock(&unmappings_lock);
	u = find_thread(task_pid(current));
	if (u)
		finish(u);
	mutex_unlock(&unmappings_lock);
}

void machine_unmap_init(struct kvgpu_machine *m)
{
	INIT_DELAYED_WORK(&m->unmap_work, look);
}

void machine_unmap_fini(struct kvgpu_machine *m)
{
	struct machine_unmap *k;

	cancel_delayed_work_sync(&m->unmap_work);
	mutex_lock(&unmappings_lock);
	for (k = m->unmaps; k < m->unmaps + ARRAY_SIZE(m->unmaps); k++)
		if (k->u)
			forget(k);
	mutex_unlock(&unmappings_lock);
}
