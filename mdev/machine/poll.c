// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slicer is the thread that gives the chip to vGPUs in turns (slice.c). In a *poll* it finds
 * out which vGPUs have work to do, and for which vGPUs the chip works. The slicer has to poll,
 * because doorbells (the guest's writes that tell of new work) do not trap while the VMM has them
 * mapped into the guest.
 *
 * *Work.* A channel has a ring of entries, which a PBDMA (a unit of the chip) fetches. Two words in
 * the channel's USERD area describe the ring: GP_GET is the index of the entry that is fetched
 * next, GP_PUT the index behind the guest's last entry. The guest can write both words. It can't
 * write the chip's channel table, which tells whether a channel is pending or on a PBDMA. If the
 * words differ, the channel has work (if that is a lie, the guest itself pays for it). If the words
 * are equal, the channel has no work only if the channel table told of no work, too, while GP_PUT
 * had its present value. While the chip is *shared* (it has the lists of all vGPUs together) the
 * poll may also ask a PBDMA which channel it has.
 *
 * Equal words can be wrong even without a lie: a ring of two entries that is filled twice between
 * two polls reads as before. So a vGPU for which an engine is seen at work counts as having work.
 *
 * A GP_GET that has moved tells of *progress*, as does an engine at work: the policy parks
 * vGPUs that make none (sched/vgpu.c). A vGPU that has work without progress waits for a semaphore.
 */
#include "mdev/machine/internal.h"

/* most channels of one vGPU whose USERD one poll reads */
#define MAX_POLLED 16

/*
 * Tells whether channel @c has work. Sets *@moved to true if GP_GET has changed since the last poll
 * at this channel.
 */
static bool chan_work(struct kvgpu_chan *c, bool *moved)
{
	struct kvgpu_hw *hw = &c->vgpu->gpu->hw;
	u32 get, put, st;

	kvgpu_hw_userd_read(hw, c->hchid, &get, &put);
	*moved |= c->poll.valid && get != c->poll.get;
	c->poll.get = get;
	c->poll.valid = true;
	if (get != put)
		return true;
	if (c->poll.idle && put == c->poll.idle_put)
		return false;
	st = FIELD_GET(PCCSR_CHAN_STATUS, kvgpu_hw_chan_status(hw, c->hchid));
	/* ON_ENG: the channel has no work, only its context is still on an engine */
	c->poll.idle = st == PCCSR_STATUS_IDLE || st == PCCSR_STATUS_ON_ENG;
	c->poll.idle_put = put;
	return !c->poll.idle;
}

/*
 * Tells whether @sl has work, by the channels of its list. Polls MAX_POLLED channels at most, and
 * begins at the entry at which the last poll stopped. A vGPU that had work counts as having work
 * until its whole list was seen without work. Sets *@moved as chan_work() does.
 */
static bool list_has_work(struct machine_slice *sl, bool *moved)
{
	u32 nr = sl->published_nr, n, polled = 0;
	struct kvgpu_chan *c;
	bool any = false;

	for (n = 0; n < nr && polled < MAX_POLLED && !(any && *moved); n++) {
		u64 e = sl->published[sl->found.scan_at++ % nr];

		sl->found.quiet++;
		if (e & RUNLIST_TSG)
			continue;
		c = sl->runl->chip->by_hchid[FIELD_GET(RUNLIST_ID, e)];
		if (!c || c->slice != sl || c->dead || !READ_ONCE(c->guest.enabled))
			continue;
		polled++;
		if (!chan_work(c, moved))
			continue;
		any = true;
		sl->found.quiet = 0;
	}
	return any || (sl->found.work && sl->found.quiet < nr);
}

/* Returns the vGPU whose channel a PBDMA has. Each call asks the next PBDMA. NULL: none. */
static struct machine_slice *pbdma_owner(struct machine_runl *r)
{
	struct kvgpu_gpu *gpu = r->chip->gpu;
	u8 p = r->poll.pbdma++ % gpu->hw.topo.nr_pbdma;
	struct kvgpu_chan *c;
	u32 st;

	if (!vmach_runl_has_pbdma(r, p))
		return NULL;
	st = kvgpu_hw_pbdma_status(&gpu->hw, p);
	if (!(st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE)))
		return NULL;
	c = vmach_hchan_find(r->chip, vmach_status_hid(st));
	return c ? c->slice : NULL;
}

/*
 * Tells whether @sl has work, by its words (@said) and by the engines, which name the vGPUs in
 * @vgpu. @idle: no engine works. What an engine was seen to work for counts as work as long as @sl
 * is off the chip with a list, or an engine works for another vGPU: the rest of it is still to be
 * done.
 */
static bool has_work(struct machine_slice *sl, bool said, const u32 *vgpu, bool idle)
{
	bool seen = sl->charge.sampled || vmach_vgpu_named(sl->m, vgpu);

	sl->charge.sampled = false;
	if (seen)
		sl->found.engine_only = !said;
	else if ((idle && vmach_list_resident(sl)) || !sl->published_nr)
		sl->found.engine_only = false;
	return said || sl->found.engine_only;
}

void vmach_slicer_poll(struct machine_runl *r, u64 now)
{
	u32 vgpu[KVGPU_MAX_ENGINE], working = 0, resident = 0, e;
	struct kvgpu_gpu *gpu = r->chip->gpu;
	bool idle = !vmach_engines_name(r, 1, vgpu), moved, here;
	struct machine_slice *sl;

	vmach_slicer_assert(gpu);
	for (e = 0; e < gpu->hw.topo.nr_engines; e++)
		idle &= !vgpu[e];
	list_for_each_entry(sl, &r->slices, node) {
		here = vmach_list_resident(sl);
		moved = false;
		sl->found.work = has_work(sl, list_has_work(sl, &moved), vgpu, idle);
		sl->found.progress = sl->found.work && (vmach_vgpu_named(sl->m, vgpu) ||
							sl->charge.busy || (moved && here));
		resident += here && sl->published_nr;
		working += here && sl->found.work;
	}
	if (r->lists.shared && working < resident && resident > 1) {
		sl = pbdma_owner(r);
		if (sl && !sl->found.work) {
			sl->found.work = true;
			working++;
		}
	}
	if (working)
		r->poll.worked = now;
}
