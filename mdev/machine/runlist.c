// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runlists. A list has three forms:
 *
 * machine->runl_entries: the list that the guest submitted, with its ids. Copied once at the
 *   submit; vgpu->lock.
 * machine->list: the entries of it that may run, with the chip's ids. gtt-shadow translates them;
 *   published under gpu->lock.
 * the chip's list: the published lists of the vGPUs that slice.c lets onto the chip, one after the
 *   other (list.c).
 *
 * The chip takes turns among the entries, so that each channel with work gets its slice (plain
 * round robin). A vGPU's list is published anew whenever the guest submits, blocks or unblocks it,
 * and whenever one of its channels is bound, unbound or ended. Merging needs no other vGPU's lock.
 * The list of a vGPU that is off the chip waits here for its turn, and its guest is told that it
 * was taken.
 *
 * If a guest blocks its runlist, its entries are left out. A loaded channel stays until its slice
 * ends or it is preempted, as on the card, and the guest preempts the channels that it wants to be
 * off. Recovery removes dead channels from the published list without the vGPU's lock, which its
 * owner may hold for long.
 */
#include <linux/sched/signal.h>

#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* timeslice of a group; a channel outside of groups has RAMFC_TIMESLICE_INIT */
#define SLICE_US	1000

/* ------------------------------------------------------------------ the lists */

int vmach_runlists_init(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	u32 r;

	/*
	 * all vGPUs together stay below 4,095, the most that the chip takes if rnndb is right about
	 * its register
	 */
	m->runl_max = m->max_groups * KVGPU_GROUP;
	m->next = kvcalloc(m->runl_max, sizeof(u64), GFP_KERNEL_ACCOUNT);
	if (!m->next)
		return -ENOMEM;
	for (r = 0; r < KVGPU_MAX_RUNL; r++) {
		m->runl_entries[r] = kvcalloc(m->runl_max, sizeof(u64), GFP_KERNEL_ACCOUNT);
		m->list[r] = kvcalloc(m->runl_max, sizeof(u64), GFP_KERNEL_ACCOUNT);
		if (!m->runl_entries[r] || !m->list[r])
			return -ENOMEM;
	}
	return 0;
}

void vmach_runlists_fini(struct kvgpu_vgpu *v)
{
	u32 r;

	kvfree(v->m->next);
	for (r = 0; r < KVGPU_MAX_RUNL; r++) {
		kvfree(v->m->runl_entries[r]);
		kvfree(v->m->list[r]);
		v->m->runl_entries[r] = NULL;
	}
}

/* ------------------------------------------------------------------ translation */

struct translate {
	struct kvgpu_vgpu *v;
	u8 grunl, hrunl;
};

/*
 * Returns the chip's id of the guest's group @id, and takes a free id if the group has none yet.
 * -1: no id is free. Called only for groups with listed channels.
 */
static int map_group(struct kvgpu_vgpu *v, u16 id)
{
	s16 *h = &v->m->htsg[id];
	unsigned long n;

	if (*h >= 0)
		return *h;
	/* a vGPU may have as many groups as channels */
	if (v->m->nr_tsgs >= v->m->max_groups * KVGPU_GROUP)
		return -1;
	kvgpu_hw_lock(&v->gpu->lock);
	n = find_next_zero_bit(v->gpu->chip->tsgs, GK110_FIFO_NR_TSG, 1);
	if (n < GK110_FIFO_NR_TSG)
		__set_bit(n, v->gpu->chip->tsgs);
	kvgpu_hw_unlock(&v->gpu->lock);
	if (n >= GK110_FIFO_NR_TSG)
		return -1;
	*h = n;
	v->m->nr_tsgs++;
	return n;
}

/*
 * Returns the chip's id of a listed channel or group. -1: the channel is dead or not bound to this
 * runlist, or the group has no id of the chip.
 */
static int list_id_map(void *ctx, bool tsg, u16 id)
{
	struct translate *t = ctx;
	struct kvgpu_chan *c;

	if (id >= KVGPU_MAX_CHAN)
		return -1;
	/*
	 * note_members() has given each group of the list its id, under which the group's channels
	 * are known. They would not be known under an id taken here.
	 */
	if (tsg)
		return t->v->m->htsg[id];
	c = vmach_chan_find(t->v, (gchid_t){ id });
	if (!c || c->dead || c->grunl != t->grunl || c->hrunl != t->hrunl)
		return -1;
	return c->hchid.v;
}

/*
 * Gives back the ids of groups that are in none of the guest's lists and under which no channel may
 * be loaded.
 */
static void drop_groups(struct kvgpu_vgpu *v)
{
	/* allocated in advance: a vGPU that goes away must not need memory */
	unsigned long *used = v->m->tsgs_used;
	struct rb_node *n;
	u32 r, i, id;

	bitmap_zero(used, GK110_FIFO_NR_TSG);
	for (r = 0; r < KVGPU_MAX_RUNL; r++)
		for (i = 0; i < v->m->runl_nr[r]; i++)
			if (v->m->runl_entries[r][i] & RUNLIST_TSG)
				__set_bit(FIELD_GET(RUNLIST_ID, v->m->runl_entries[r][i]), used);
	for (n = rb_first(&v->m->chans); n; n = rb_next(n))
		if (rb_entry(n, struct kvgpu_chan, by_gchid)->gtsg >= 0)
			__set_bit(rb_entry(n, struct kvgpu_chan, by_gchid)->gtsg, used);
	kvgpu_hw_lock(&v->gpu->lock);
	for (id = 0; id < GK110_FIFO_NR_TSG; id++) {
		if (v->m->htsg[id] < 0 || test_bit(id, used))
			continue;
		__clear_bit(v->m->htsg[id], v->gpu->chip->tsgs);
		v->m->htsg[id] = -1;
		v->m->nr_tsgs--;
	}
	kvgpu_hw_unlock(&v->gpu->lock);
}

/*
 * The chip knows a loaded channel by its group. A channel that the guest moves to another group, or
 * out of its group, first leaves the chip under the id with which it was loaded. Later its old id
 * would not be known.
 */
static void set_group(struct kvgpu_chan *c, int group, int h)
{
	struct kvgpu_gpu *gpu = c->vgpu->gpu;

	if (c->htsg != h && !c->dead)
		vmach_chan_step_off(c);
	kvgpu_hw_lock(&gpu->lock);
	kvgpu_hw_lock(&gpu->chip->event_lock);
	c->gtsg = group;
	c->htsg = h;
	kvgpu_hw_unlock(&gpu->chip->event_lock);
	kvgpu_hw_unlock(&gpu->lock);
}

/*
 * Notes which channels are in the list, and in which group. Channels that are not in it keep their
 * group, under which they may be loaded.
 */
static void note_members(struct kvgpu_vgpu *v, u8 runl)
{
	struct kvgpu_chan *c;
	struct rb_node *n;
	int group = -1;
	u32 i, left = 0;

	for (n = rb_first(&v->m->chans); n; n = rb_next(n)) {
		c = rb_entry(n, struct kvgpu_chan, by_gchid);
		c->listed &= c->grunl != runl;
	}
	for (i = 0; i < v->m->runl_nr[runl]; i++) {
		u64 e = v->m->runl_entries[runl][i];

		if (e & RUNLIST_TSG) {
			group = FIELD_GET(RUNLIST_ID, e);
			left = FIELD_GET(RUNLIST_TSG_COUNT, e);
			continue;
		}
		c = vmach_chan_find(v, (gchid_t){ FIELD_GET(RUNLIST_ID, e) });
		if (c && c->grunl == runl && !c->listed) {	/* only its first entry counts */
			c->listed = true;
			set_group(c, left ? group : -1, left ? map_group(v, group) : -1);
		}
		if (left)
			left--;
	}
}

/* Tells whether a channel is listed in a group for which there was no id. */
static bool lacks_group(struct kvgpu_vgpu *v)
{
	struct kvgpu_chan *c;
	struct rb_node *n;

	for (n = rb_first(&v->m->chans); n; n = rb_next(n)) {
		c = rb_entry(n, struct kvgpu_chan, by_gchid);
		if (c->listed && c->gtsg >= 0 && c->htsg < 0)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ publishing */

/* Recovery may have ended a channel since it was translated: its state under gpu->lock counts. */
static void drop_dead_chans(struct kvgpu_machine *m, u8 hrunl)
{
	struct kvgpu_chan **by_hchid = m->v->gpu->chip->by_hchid, *c;
	u32 i = 0;

	while (i < m->list_nr[hrunl]) {
		u64 e = m->list[hrunl][i];

		c = by_hchid[FIELD_GET(RUNLIST_ID, e)];
		if (!(e & RUNLIST_TSG) && (!c || c->dead)) {
			vmach_runlist_drop(m, hrunl, (hchid_t){ FIELD_GET(RUNLIST_ID, e) });
			i = 0;
		} else {
			i++;
		}
	}
}

static void publish_list(struct kvgpu_vgpu *v, u8 hrunl, bool force)
{
	struct kvgpu_machine *m = v->m;
	struct translate t = { .v = v, .hrunl = hrunl };
	u32 nr = 0, r;
	int ret;

	for (r = 0; r < KVGPU_MAX_RUNL; r++) {
		t.grunl = r;
		if (!(m->blocked & BIT(r)))
			nr += kvgpu_shadow_runlist_build(m->runl_entries[r], m->runl_nr[r],
							 list_id_map, &t, SLICE_US, m->next + nr,
							 m->runl_max - nr);
	}
	kvgpu_hw_lock(&v->gpu->lock);
	if (force || nr != m->list_nr[hrunl] || memcmp(m->list[hrunl], m->next, nr * sizeof(u64))) {
		memcpy(m->list[hrunl], m->next, nr * sizeof(u64));
		m->list_nr[hrunl] = nr;
		drop_dead_chans(m, hrunl);
		ret = vmach_runlist_update(m, hrunl);
		if (ret)
			vmach_gpu_wedge(v->gpu, "a runlist was not taken");
		trace_kvgpu_runlist(v->id, 0, hrunl, m->runl_nr[0], m->list_nr[hrunl], ret);
	}
	kvgpu_hw_unlock(&v->gpu->lock);
}

/* All channels are on the runlist of GR (chan.c). */
void vmach_runlist_publish(struct kvgpu_vgpu *v)
{
	publish_list(v, vmach_gr_runl_get(v->gpu), false);
}

void vmach_runlist_clear(struct kvgpu_vgpu *v)
{
	memset(v->m->runl_nr, 0, sizeof(v->m->runl_nr));
	v->m->blocked = 0;
	vmach_runlist_publish(v);
	drop_groups(v);
}

/* ------------------------------------------------------------------ commands of the guest */

static u32 runlist_fetch(struct kvgpu_vgpu *v, struct kvgpu_gaddr at, u32 count, u64 *out)
{
	u32 done = 0, n;

	while (done < count) {
		n = min_t(u32, count - done, (PAGE_SIZE - offset_in_page(at.addr)) / sizeof(u64));
		if (!n || vmach_guest_read(v, at, out + done, n * sizeof(u64)))
			break;
		done += n;
		at.addr += n * sizeof(u64);
	}
	return done;
}

void vmach_runlist_submit(struct kvgpu_vgpu *v, u8 runl, u16 count, struct kvgpu_gaddr list)
{
	struct rb_node *n;
	u32 nr = min_t(u32, count, v->m->runl_max);

	if (runl >= KVGPU_MAX_RUNL)
		return;
	if (nr < count)
		kvgpu_mdev_fault_note(v, "runlist too long, cut", -1, list.addr, count);
	vmach_shadow_sync(v);
	v->m->runl_nr[runl] = runlist_fetch(v, list, nr, v->m->runl_entries[runl]);
	if (v->m->runl_nr[runl] != nr)
		kvgpu_mdev_fault_note(v, "runlist can't be read", -1, list.addr, nr);
	/*
	 * The guest may have changed the instance block of a channel that was on no list: read it
	 * again. A changed block of a listed channel counts when the channel is enabled or the
	 * runlist is unblocked.
	 */
	for (n = rb_first(&v->m->chans); n && !fatal_signal_pending(current); n = rb_next(n)) {
		struct kvgpu_chan *c = rb_entry(n, struct kvgpu_chan, by_gchid);

		if (c->grunl == runl && !c->listed)
			vmach_chan_resync(c);
	}
	note_members(v, runl);
	publish_list(v, vmach_gr_runl_get(v->gpu), true);
	vmach_chans_restart(v);	/* set_group() has held channels that changed their group */
	drop_groups(v);
	if (lacks_group(v)) {		/* drop_groups() may have freed ids of the previous list */
		note_members(v, runl);
		publish_list(v, vmach_gr_runl_get(v->gpu), false);
		vmach_chans_restart(v);
	}
}

/*
 * A channel was bound that the submitted list may already name. The channel is in the group of its
 * list entry from now on: the chip knows it by the group when it is loaded, and the group's id must
 * not be given away meanwhile.
 */
void vmach_runlist_chan_add(struct kvgpu_vgpu *v, u8 runl)
{
	if (runl >= KVGPU_MAX_RUNL)
		return;
	note_members(v, runl);
	vmach_runlist_publish(v);
	vmach_chans_restart(v);
}

void vmach_runlist_block(struct kvgpu_vgpu *v, u32 mask)
{
	v->m->blocked |= mask;
	vmach_runlist_publish(v);
}

void vmach_runlist_allow(struct kvgpu_vgpu *v, u32 mask)
{
	struct rb_node *n;

	vmach_shadow_sync(v);
	for (n = rb_first(&v->m->chans); n && !fatal_signal_pending(current); n = rb_next(n)) {
		struct kvgpu_chan *c = rb_entry(n, struct kvgpu_chan, by_gchid);

		if (mask & BIT(c->grunl))
			vmach_chan_resync(c);
	}
	v->m->blocked &= ~mask;
	vmach_runlist_publish(v);
}

/*
 * Preempts a channel or group that the guest must not find on the chip afterwards. A vGPU that is
 * off the chip has no channel there. The guest has blocked or disabled the channel that it
 * preempts; otherwise the channel could come back at once on the card too. So no lock is needed to
 * look at on_chip.
 */
int vmach_chan_preempt_wait(struct kvgpu_vgpu *v, bool tsg, u16 id)
{
	ktime_t end = ktime_add_ms(ktime_get(), vmach_patience_get(v));
	int ret;

	do {
		if (!READ_ONCE(v->m->slice.on_chip))
			return 0;
		ret = kvgpu_hw_preempt_turn(&v->gpu->hw, tsg, id, PREEMPT_TURN_MS);
	} while (ret == -ETIMEDOUT && ktime_before(ktime_get(), end));
	return ret;
}

/*
 * Preempts a channel or group for the guest. If it does not leave the chip in time it is ended, and
 * the guest is told of a hang.
 */
void vmach_chan_preempt(struct kvgpu_vgpu *v, bool tsg, u16 id)
{
	struct kvgpu_gpu *gpu = v->gpu;
	struct kvgpu_chan *c = NULL;
	struct rb_node *n;
	int h = -1;

	if (id >= KVGPU_MAX_CHAN || vmach_gpu_wedged(gpu))
		return;
	if (tsg) {
		h = v->m->htsg[id];
		for (n = rb_first(&v->m->chans); n && h >= 0 && (!c || !c->ran); n = rb_next(n))
			if (rb_entry(n, struct kvgpu_chan, by_gchid)->htsg == h)
				c = rb_entry(n, struct kvgpu_chan, by_gchid);
	} else {
		c = vmach_chan_find(v, (gchid_t){ id });
		if (c)
			h = c->hchid.v;
	}
	if (!c || !c->ran || !vmach_chan_preempt_wait(v, tsg, h))
		return;
	kvgpu_hw_lock(&gpu->lock);
	vmach_chan_isolate(gpu, c, EVENT_SCHED);
	kvgpu_hw_unlock(&gpu->lock);
}
