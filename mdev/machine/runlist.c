// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runlist, as the guest submits it. The list has three forms:
 *
 * machine->runl.entries: the list that the guest submitted, with the guest's ids. vgpu->lock.
 * slice->published: the entries of runl.entries that may run, with the chip's ids.
 *   gtt-shadow/ makes them, with ids from list_id_map(). To *publish* a list is to have the slicer
 *   store it here, and write the chip's list if that has entries of this vGPU or should have them.
 * the chip's list: the published lists of the vGPUs that slice.c lets onto the chip, one after the
 *   other (chip_runlist.c).
 *
 * The entry of a group, the header, is followed by its channels' entries. The chip takes turns
 * among the entries (plain round robin). While a vGPU is off the chip, its published list waits for
 * the vGPU's turn, but a guest that submits a list is told at once that the list was taken.
 *
 * Recovery removes dead channels from the published list without vgpu->lock. Otherwise vgpu->lock
 * is held.
 */
#include <linux/completion.h>
#include <linux/sched/signal.h>

#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* ----------------------------------------------- allocate and free the memory of a vGPU's lists */

int vmach_runlists_init(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct machine_slice *sl;
	bool all = true;

	/* so the lists of all vGPUs together fit into the chip's list (CHIP_RUNL_MAX) */
	m->runl.max = vmach_id_blocks_get(v) * KVGPU_ID_BLOCK;
	m->runl.entries = kvcalloc(m->runl.max, sizeof(u64), GFP_KERNEL_ACCOUNT);
	for_each_slice(sl, m) {
		sl->m = m;
		sl->runl = &v->gpu->chip->runl[sl - m->slice];
		sl->published = kvcalloc(m->runl.max, sizeof(u64), GFP_KERNEL_ACCOUNT);
		all &= !!sl->published;
	}
	return m->runl.entries && all ? 0 : -ENOMEM;
}

void vmach_runlists_fini(struct kvgpu_vgpu *v)
{
	struct machine_slice *sl;

	for_each_slice(sl, v->m)
		kvfree(sl->published);
	kvfree(v->m->runl.entries);
}

/* --------------------------------------------------- translate a guest's list to the chip's ids */

/*
 * Returns the chip's id of the guest's group @id, and takes a free id if the group has none yet.
 * -1: none is free, or the vGPU has its share: as many groups as channels.
 */
static int map_group(struct kvgpu_vgpu *v, u16 id)
{
	struct kvgpu_chip *chip = v->gpu->chip;
	s16 *h = &v->m->runl.htsg[id];
	u32 n = 1;

	if (*h >= 0)
		return *h;
	if (v->m->runl.nr_tsgs >= v->m->runl.max)
		return -1;
	spin_lock(&chip->event_lock);
	while (n < GK110_FIFO_NR_TSG && chip->has_id[1][n])
		n++;
	if (n < GK110_FIFO_NR_TSG)
		WRITE_ONCE(chip->has_id[1][n], v->id);
	spin_unlock(&chip->event_lock);
	if (n >= GK110_FIFO_NR_TSG)
		return -1;
	*h = n;
	v->m->runl.nr_tsgs++;
	return n;
}

/*
 * Returns the chip's id of channel or group @id of a guest's list. -1: leave the entry out, because
 * the channel is dead or on another runlist. Notes in m->runl.tsgs which groups the new list has
 * already.
 */
static int list_id_map(void *ctx, bool tsg, u16 id)
{
	const struct machine_slice *sl = ctx;
	struct kvgpu_machine *m = sl->m;
	struct kvgpu_chan *c;

	/*
	 * Take no new id here. note_members() has taken the ids, and has stored each in the
	 * channels of its group. The chip gets a group once: what it does with a second header of
	 * a group, before other channels, is not known.
	 */
	if (tsg)
		return test_and_set_bit(id, m->runl.tsgs) ? -1 : m->runl.htsg[id];
	c = vmach_chan_find(m->v, (gchid_t){ id });
	return c && !c->dead && c->slice == sl ? c->hchid.v : -1;
}

/*
 * Sets m->runl.tsgs: the guest's groups with an id of the chip that are not in the guest's list,
 * and that no channel is in.
 */
static void note_unused_groups(struct kvgpu_machine *m)
{
	/* a member, not allocated here: the end of a vGPU must not fail for lack of memory */
	unsigned long *unused = m->runl.tsgs, id;
	struct kvgpu_chan *c;
	u32 i;

	bitmap_zero(unused, GK110_FIFO_NR_TSG);
	for (i = 0; i < GK110_FIFO_NR_TSG; i++)
		if (m->runl.htsg[i] >= 0)
			__set_bit(i, unused);
	for (i = 0; i < m->runl.nr; i++)
		if (m->runl.entries[i] & RUNLIST_TSG)
			__clear_bit(FIELD_GET(RUNLIST_ID, m->runl.entries[i]), unused);
	xa_for_each(&m->ids.chans, id, c)
		if (c->guest.tsg >= 0)
			__clear_bit(c->guest.tsg, unused);
}

/*
 * Gives back the chip's ids of groups that are not in the guest's list and that no channel of the
 * vGPU is in: no channel can be loaded under such an id. But the interrupt thread may have read the
 * id from an engine's status before the last channel left, and may look up whose it is when another
 * vGPU has it. So this function waits for that thread first, once for all these ids, and with
 * vgpu->lock alone: the guest that drops groups is the one to wait.
 */
static void drop_groups(struct kvgpu_vgpu *v)
{
	struct kvgpu_chip *chip = v->gpu->chip;
	struct kvgpu_machine *m = v->m;
	u32 id;

	if (!m->runl.nr_tsgs)
		return;
	note_unused_groups(m);
	if (!bitmap_weight(m->runl.tsgs, GK110_FIFO_NR_TSG))
		return;
	if (!vmach_gpu_lost(v->gpu))
		kvgpu_hw_intr_settle(&v->gpu->hw, KVGPU_HW_ALL_INST);
	spin_lock(&chip->event_lock);
	for_each_set_bit(id, m->runl.tsgs, GK110_FIFO_NR_TSG) {
		WRITE_ONCE(chip->has_id[1][m->runl.htsg[id]], 0);
		m->runl.htsg[id] = -1;
		m->runl.nr_tsgs--;
	}
	spin_unlock(&chip->event_lock);
}

/*
 * Notes which channels are in the guest's list (.listed), and in which group. A channel that is not
 * in the list keeps its group, because it may be loaded as part of that group. Returns false if a
 * group got no id of the chip.
 *
 * The chip knows a loaded channel by its group's id. Therefore, if that id changes, a live channel
 * first leaves the chip under the old id. list_store() notes the new one, and enables the channels
 * that leave again.
 */
static bool note_members(struct kvgpu_vgpu *v)
{
	struct kvgpu_chan *c;
	unsigned long id;
	int group = -1, h;
	u32 i, left = 0;
	bool all = true;

	xa_for_each(&v->m->ids.chans, id, c)
		c->guest.listed = false;
	for (i = 0; i < v->m->runl.nr; i++) {
		u64 e = v->m->runl.entries[i];

		if (e & RUNLIST_TSG) {
			group = FIELD_GET(RUNLIST_ID, e);
			left = FIELD_GET(RUNLIST_TSG_COUNT, e);
			continue;
		}
		c = vmach_chan_find(v, (gchid_t){ FIELD_GET(RUNLIST_ID, e) });
		/* if the list has several entries of one channel, the first counts */
		if (c && !c->guest.listed) {
			h = left ? map_group(v, group) : -1;
			all &= !left || h >= 0;
			c->guest.listed = true;
			if (c->host.tsg != h && !c->dead)
				vmach_chan_step_off(c);
			WRITE_ONCE(c->guest.tsg, left ? group : -1);
		}
		if (left)
			left--;
	}
	return all;
}

/* ------------------------------------------------------------------ publish a vGPU's list */

/* Argument of list_store(). .force: write the list to the chip even if it has not changed. */
struct new_list {
	struct kvgpu_vgpu *v;
	bool force;
};

struct machine_slice *vmach_chan_place(const struct kvgpu_chan *c)
{
	struct kvgpu_machine *m = c->vgpu->m;
	bool copies = !c->guest.block.gr_ctx && c->host.tsg < 0;

	return &m->slice[copies && kvgpu_machine_copies_apart(m->v->gpu) ? RUNL_CE : RUNL_GR];
}

/* Notes groups and runlists of the channels. Who gets another one has left the chip. */
static void note_places(struct kvgpu_machine *m)
{
	struct kvgpu_chan *c;
	unsigned long id;

	spin_lock(&m->v->gpu->chip->event_lock);
	xa_for_each(&m->ids.chans, id, c) {
		if (c->guest.listed)
			c->host.tsg = c->guest.tsg < 0 ? -1 : m->runl.htsg[c->guest.tsg];
		if (!c->dead)
			WRITE_ONCE(c->slice, vmach_chan_place(c));
	}
	spin_unlock(&m->v->gpu->chip->event_lock);
}

/* Translates the list here, so that no channel is ended between the translation and the store. */
static void list_store(void *arg)
{
	struct new_list *l = arg;
	struct kvgpu_vgpu *v = l->v;
	struct kvgpu_machine *m = v->m;
	u32 guest_nr = m->trap.runl_blocked ? 0 : m->runl.nr, nr;
	u64 *list = v->gpu->chip->merge;
	struct machine_slice *sl;
	int ret;

	note_places(m);
	for_each_slice(sl, m) {
		bitmap_zero(m->runl.tsgs, GK110_FIFO_NR_TSG);
		nr = kvgpu_shadow_runlist_build(m->runl.entries, guest_nr, list_id_map, sl,
						SLICE_US, list, m->runl.max);
		if (!l->force && nr == sl->published_nr &&
		    !memcmp(sl->published, list, nr * sizeof(u64)))
			continue;
		memcpy(sl->published, list, nr * sizeof(u64));
		sl->published_nr = nr;
		ret = vmach_runlist_update(sl);
		trace_kvgpu_runlist(v->id, sl->runl->id, guest_nr, nr, ret);
	}
	vmach_chans_restart(v);
}

void vmach_runlist_publish(struct kvgpu_vgpu *v, bool force)
{
	vmach_slicer_call(v->gpu, list_store, &(struct new_list){ v, force });
}

void vmach_runlist_clear(struct kvgpu_vgpu *v)
{
	v->m->runl.nr = 0;
	vmach_runlist_publish(v, false);
	drop_groups(v);
}

/* ----------------------------------------------------- the guest's submits, blocks and preempts */

/* Copies @count entries from guest address @at. Returns how many of them could be read. */
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

bool vmach_runlist_renew(struct kvgpu_vgpu *v, bool force)
{
	bool all = note_members(v);

	vmach_runlist_publish(v, force);
	return all;
}

void vmach_runlist_submit(struct kvgpu_vgpu *v, u16 count, struct kvgpu_gaddr list)
{
	u32 nr = min_t(u32, count, v->m->runl.max);
	struct kvgpu_chan *c;
	unsigned long id;
	bool all;

	if (nr < count)
		kvgpu_mdev_fault_note(v, "runlist too long, cut", -1, list.addr, count);
	v->m->runl.nr = runlist_fetch(v, list, nr, v->m->runl.entries);
	if (v->m->runl.nr != nr)
		kvgpu_mdev_fault_note(v, "runlist can't be read", -1, list.addr, nr);
	/* the guest may have changed the block of a channel that the list before did not have */
	xa_for_each(&v->m->ids.chans, id, c)
		if (!c->guest.listed && !fatal_signal_pending(current))
			vmach_chan_resync(c);
	all = vmach_runlist_renew(v, true);
	drop_groups(v);
	/* drop_groups() may have freed ids of groups that the previous list had */
	if (!all)
		vmach_runlist_renew(v, false);
}

void vmach_runlist_allow(struct kvgpu_vgpu *v)
{
	struct kvgpu_chan *c;
	unsigned long id;

	xa_for_each(&v->m->ids.chans, id, c)
		if (!fatal_signal_pending(current))
			vmach_chan_resync(c);
	vmach_runlist_publish(v, false);
}

/* A preempt on behalf of a guest. .most: ns that it may take. */
struct guest_preempt {
	struct machine_preempt p;
	const struct machine_slice *slice;
	u64 most;
	int ret;
	struct completion *done;
};

/*
 * Preempts again, or ends the preempt: if it is done, if it took .most, or if the vGPU is off the
 * chip, because then none of its channels is loaded.
 */
static void guest_preempt_over(struct kvgpu_chip *chip, struct machine_preempt *p, int ret)
{
	struct guest_preempt *g = container_of(p, struct guest_preempt, p);

	if (!g->slice->on_chip)
		ret = 0;
	if (ret == -ETIMEDOUT && p->ns < g->most && !vmach_gpu_lost(chip->gpu)) {
		vmach_preempt_add(chip, p);
		return;
	}
	g->ret = ret;
	complete(g->done);
}

static void guest_preempt_begin(void *arg)
{
	struct guest_preempt *g = arg;

	if (g->slice->on_chip)
		vmach_preempt_add(g->slice->runl->chip, &g->p);
	else
		guest_preempt_over(g->slice->runl->chip, &g->p, 0);
}

int vmach_chan_preempt_wait(const struct machine_slice *sl, struct machine_hid hid)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct kvgpu_machine *m = sl->m;
	struct guest_preempt g = {
		.p = { .hid = hid, .over = guest_preempt_over },
		.slice = sl,
		.most = clamp_t(u64, m->preempt_budget, NSEC_PER_MSEC,
				PREEMPT_GUEST_MS * (u64)NSEC_PER_MSEC),
		.done = &done,
	};

	vmach_slicer_call(m->v->gpu, guest_preempt_begin, &g);
	wait_for_completion(&done);
	m->preempt_budget -= min(m->preempt_budget, g.p.ns);
	return g.ret;
}

/* Argument of preempt_late(): channel .c did not leave by the preempt of .hid. */
struct late_preempt {
	struct kvgpu_chan *c;
	struct machine_hid hid;
};

static void preempt_late(void *arg)
{
	struct late_preempt *l = arg;
	struct kvgpu_gpu *gpu = l->c->vgpu->gpu;

	/* what kept it from leaving may have ended just now: preempt once more */
	if (vmach_preempt_now(gpu, l->hid, PREEMPT_SLOT_MS) && vmach_keeper_find(gpu, l->hid) >= 0)
		vmach_chan_isolate(l->c, EVENT_SCHED);
}

/*
 * A channel that no engine keeps is left as it is: it waits for another one on its PBDMA, and does
 * no harm.
 */
void vmach_chan_preempt(struct kvgpu_vgpu *v, bool tsg, u16 id)
{
	struct late_preempt l = {};
	struct kvgpu_chan *c;
	unsigned long i;

	if (vmach_gpu_lost(v->gpu))
		return;
	xa_for_each(&v->m->ids.chans, i, c)
		if (!l.c && c->ran &&
		    (tsg ? c->host.tsg >= 0 && c->guest.tsg == id : c->gchid.v == id))
			l.c = c;
	if (!l.c)
		return;
	l.hid = (struct machine_hid){ tsg ? l.c->host.tsg : l.c->hchid.v, tsg };
	if (vmach_chan_preempt_wait(l.c->slice, l.hid))
		vmach_slicer_evict(v->gpu, preempt_late, &l);
}
