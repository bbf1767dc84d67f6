// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery: takes a channel that faulted, hangs or misbehaves off the chip for good, and makes the
 * engine that the channel holds usable for the other vGPUs again. After that an event for the guest
 * is queued (event.c).
 *
 * Recovery runs in the slicer's thread (slice.c). It takes no vgpu->lock, which a thread may hold
 * for long. Its waits for the chip (wait.h) are bounded. The reset of an engine loses the context
 * that is loaded on it.
 *
 * The order (nouveau nvkm_runl_rc(), gk110/facts.md): disable the channel, submit a runlist
 * without it, block the runlist (PBDMAs then get no channel from it), preempt, reset the engines
 * that still have the channel, clear the runlist's error (PFIFO_RUNLIST_ERROR), allow the runlist
 * (end the block). nouveau has no preempt in this order. Here the preempt makes a channel that is
 * on a PBDMA, but on no engine, leave without a reset of an engine. After a reset, or a preempt
 * that did not end, the channel is preempted once more before the runlist is allowed. If that
 * preempt does not end either, the channel may wait for an engine that another channel keeps. If
 * the engine names both (holder.h), the other channel hangs, and is ended. If no engine names the
 * channel, it may wait on its PBDMA: then all engines of the runlist are reset. After that the
 * channel may get an engine, and is preempted again (chan_waiter_evict()).
 */
#include "mdev/machine/holder.h"
#include "mdev/machine/internal.h"
#include "mdev/machine/wait.h"
#include "mdev/trace.h"

/* an eviction of an ended channel that takes more ns counts as a reset: vmach_resets_note() */
#define LONG_EVICTION_NS (10 * NSEC_PER_MSEC)
/*
 * most times that an eviction makes engines free for a channel that waits: for the channel that has
 * the engine, for a third channel that gets it then, and for two kernels of the channel itself
 */
#define EVICT_TRIES 4
/* in so many of these, a channel that has the engine is ended: that may take 2 s each time */
#define EVICT_ENDS 2
/* most times that an eviction waits PREEMPT_LAST_MS for other channels' kernels */
#define EVICT_WAITS 3

/* ------------------------------------------------------- evict channels: preempt, reset engines */

static void reset_engine(struct kvgpu_gpu *gpu, u8 e)
{
	if (kvgpu_hw_engine_reset(&gpu->hw, e) && kvgpu_hw_engine_reset(&gpu->hw, e))
		vmach_gpu_declare_lost(gpu, "an engine did not come back from its reset");
}

/*
 * Preempts the channels that PBDMAs of the runlist have, or are about to get. While an engine is
 * reset, no channel may wait for that engine: PFIFO would ask the engine for a context switch while
 * the engine's microcode is off, and wait for the answer for ever. The caller has blocked the
 * runlist, so that PBDMAs get no further channels.
 */
static void clear_pbdmas(struct kvgpu_gpu *gpu)
{
	u32 st;
	u8 p;

	for (p = 0; p < gpu->hw.topo.nr_pbdma; p++) {
		if (!(gpu->hw.topo.pbdma_runl[p] & BIT(vmach_gr_runl_get(gpu))))
			continue;
		st = kvgpu_hw_pbdma_status(&gpu->hw, p);
		if (st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE))
			vmach_preempt_now(gpu, vmach_status_hid(st), PREEMPT_EVICT_MS);
		if (st & PFIFO_STATUS_CHSW && st & PFIFO_STATUS_VALID)
			vmach_preempt_now(gpu, vmach_status_next(st), PREEMPT_EVICT_MS);
	}
}

/* Returns the last engine that keeps channel or group @hid; -1: none. */
static int find_keeper(struct kvgpu_gpu *gpu, struct machine_hid hid)
{
	int e = gpu->hw.topo.nr_engines - 1;

	while (e >= 0 && !vmach_engine_keeps(gpu, e, hid))
		e--;
	return e;
}

/*
 * Resets the engines that keep channel or group @hid. Returns whether one was reset. An engine that
 * has still to save another channel, before it loads @hid, is not reset: the other channel may have
 * a kernel that is no hang.
 */
static bool chan_engines_reset(struct machine_wait *w, struct machine_hid hid)
{
	struct kvgpu_gpu *gpu = w->gpu;
	bool any = false;
	u8 e;

	if (find_keeper(gpu, hid) < 0)
		return false;
	clear_pbdmas(gpu);
	for (e = 0; e < gpu->hw.topo.nr_engines; e++) {
		if (!vmach_engine_keeps(gpu, e, hid))
			continue;
		any = true;
		w->resets++;
		reset_engine(gpu, e);
	}
	return any;
}

/* Resets all engines of the runlist. The caller has blocked the runlist. */
static void all_engines_reset(struct machine_wait *w)
{
	struct kvgpu_gpu *gpu = w->gpu;
	u8 e;

	dev_err_ratelimited(
		&gpu->hw.pdev->dev,
		"runlist %u: a channel is loaded that no engine names, all its engines are reset\n",
		vmach_gr_runl_get(gpu));
	w->resets++;
	clear_pbdmas(gpu);
	for (e = 0; e < gpu->hw.topo.nr_engines; e++)
		if (gpu->hw.topo.engine[e].runl == vmach_gr_runl_get(gpu))
			reset_engine(gpu, e);
	kvgpu_hw_runl_clear_error(&gpu->hw, vmach_gr_runl_get(gpu));
	/*
	 * preempt once more: a channel that waited for an engine could not leave its PBDMA before
	 * the engine was reset
	 */
	clear_pbdmas(gpu);
}

void vmach_runlist_reset(struct machine_wait *w)
{
	struct kvgpu_gpu *gpu = w->gpu;

	vmach_slicer_assert(gpu);
	kvgpu_hw_runl_block(&gpu->hw, vmach_gr_runl_get(gpu), true);
	all_engines_reset(w);
	kvgpu_hw_runl_block(&gpu->hw, vmach_gr_runl_get(gpu), false);
}

/*
 * Makes the engines free that channel or group @hid waits for or keeps. If @hid waits for an engine
 * that another channel keeps, and @ends is true, ends the other one. Otherwise resets the engines
 * that keep @hid, or, if no engine has kept @hid, all engines of the runlist. Returns whether one
 * was reset for @hid. The caller has blocked the runlist.
 */
static bool engines_free(struct machine_wait *w, struct machine_hid hid, bool ends)
{
	struct kvgpu_gpu *gpu = w->gpu;
	bool kept, reset;

	if (ends && vmach_holder_end(gpu, hid)) {
		/* the eviction of the other channel has allowed the runlist */
		kvgpu_hw_runl_block(&gpu->hw, vmach_gr_runl_get(gpu), true);
		return false;
	}
	kept = find_keeper(gpu, hid) >= 0;
	reset = chan_engines_reset(w, hid);
	/*
	 * if @hid was kept and has left meanwhile, the engines may work for another channel, whose
	 * kernel is no hang
	 */
	if (!kept && !reset) {
		all_engines_reset(w);
		reset = true;
	}
	kvgpu_hw_runl_clear_error(&gpu->hw, vmach_gr_runl_get(gpu));
	return reset;
}

/*
 * Preempts channel or group @hid after engines were reset, or after its first preempt did not end.
 * Returns 0 when @hid has left. If an engine keeps @hid, its kernel has begun, and is lost: then
 * the call ends after PREEMPT_EVICT_MS. Otherwise @hid may wait for another channel, and has
 * PREEMPT_LAST_MS more, if @*waits is not 0, which is counted down then.
 */
static int preempt_again(struct kvgpu_gpu *gpu, struct machine_hid hid, u32 *waits)
{
	int ret = vmach_preempt_now(gpu, hid, PREEMPT_EVICT_MS);

	if (!ret || !*waits || find_keeper(gpu, hid) >= 0)
		return ret;
	--*waits;
	return vmach_preempt_now(gpu, hid, PREEMPT_LAST_MS);
}

/*
 * Drives off channel or group @hid, which preempt_again() did not. Makes the engines free, and
 * preempts @hid again, EVICT_TRIES times at most. Then declares the card lost. Returns whether
 * engines were reset for @hid. The caller has blocked the runlist. @waits: of preempt_again().
 *
 * A channel that waits gets an engine when that becomes free. Then its own kernel may begin, even
 * if the channel is disabled: the next try resets the engine. And the eviction of another channel
 * allows the runlist for a moment, so that a third channel may get the engine. preempt_again() lets
 * its kernel end.
 */
static bool chan_waiter_evict(struct machine_wait *w, struct machine_hid hid, u32 waits)
{
	struct kvgpu_gpu *gpu = w->gpu;
	bool reset = false;
	u32 i;

	for (i = 0; i < EVICT_TRIES; i++) {
		reset |= engines_free(w, hid, i < EVICT_ENDS);
		if (vmach_gpu_lost(gpu) || !preempt_again(gpu, hid, &waits))
			return reset;
	}
	vmach_gpu_declare_lost(gpu, "a channel does not leave the chip");
	return reset;
}

bool vmach_chan_evict(struct machine_wait *w, struct machine_hid hid)
{
	struct kvgpu_gpu *gpu = w->gpu;
	u32 waits = EVICT_WAITS;
	bool reset;
	int ret;

	vmach_slicer_assert(gpu);
	if (vmach_gpu_lost(gpu))
		return false;
	kvgpu_hw_runl_block(&gpu->hw, vmach_gr_runl_get(gpu), true);
	ret = vmach_preempt_now(gpu, hid, PREEMPT_EVICT_MS);
	reset = chan_engines_reset(w, hid);
	if (reset || ret) {
		kvgpu_hw_runl_clear_error(&gpu->hw, vmach_gr_runl_get(gpu));
		if (!vmach_gpu_lost(gpu) && preempt_again(gpu, hid, &waits))
			reset |= chan_waiter_evict(w, hid, waits);
	}
	w->blocked_ns += kvgpu_hw_runl_block(&gpu->hw, vmach_gr_runl_get(gpu), false);
	return reset;
}

bool vmach_disabled_evict(struct machine_wait *w, struct kvgpu_chan *c)
{
	struct kvgpu_gpu *gpu = c->vgpu->gpu;
	struct machine_hid hid = vmach_chan_hid(c);

	/* a channel that has never run may be in a group that has */
	if (vmach_gpu_lost(gpu) || (!c->ran && !hid.tsg))
		return false;
	/*
	 * Preempt it in any case: a channel that the chip was about to load, or whose state the
	 * chip has still to save, may be in no status.
	 */
	if (!vmach_chan_loaded(c) && !vmach_preempt_now(w->gpu, hid, PREEMPT_EVICT_MS) &&
	    !vmach_chan_loaded(c))
		return false;
	vmach_chan_evict(w, hid);
	return true;
}

/* ------------------------------------------------- end channels: disable, evict, tell the guest */

/*
 * Returns the engine on which @c hangs, as the guest will be told. nouveau's reset of a graphics
 * engine that it has never used ends in a division by zero (6.12, gf117_gr_init_zcull()). So the
 * hang of a channel without a graphics context is reported on a copy engine.
 */
static u8 told_engine(const struct kvgpu_chan *c)
{
	const struct kvgpu_topo *topo = &c->vgpu->gpu->hw.topo;
	u8 e;

	if (READ_ONCE(c->gr) || topo->engine[c->fault.engine].type)
		return c->fault.engine;
	for (e = 0; e < topo->nr_engines; e++)
		if (topo->engine[e].type)
			return e;
	return c->fault.engine;
}

/* Queues an event for the guest that says why the channel ended, in the guest's ids. */
static void guest_tell(struct kvgpu_chan *c, u8 why)
{
	struct kvgpu_machine *m = c->vgpu->m;
	struct machine_event ev = { .kind = why };

	if (why == EVENT_FAULT) {
		ev.fault.unit = c->fault.unit;
		ev.fault.inst = c->guest.inst.addr;
		ev.fault.va = c->fault.va;
		ev.fault.info = c->fault.info;
	} else {
		ev.sched.engine = told_engine(c);
		ev.sched.inst = c->guest.inst.addr;
		ev.sched.tsg = c->host.tsg >= 0;
		ev.sched.id = c->host.tsg >= 0 ? c->guest.tsg : c->gchid.v;
	}
	vmach_event_push(m, &ev);
}

void vmach_chan_isolate(struct kvgpu_chan *c, u8 why)
{
	struct kvgpu_machine *m = c->vgpu->m;
	struct kvgpu_gpu *gpu = c->vgpu->gpu;
	struct machine_wait w;
	struct kvgpu_chan *o;
	bool reset;
	u32 i;

	vmach_slicer_assert(gpu);
	c = vmach_live_chan_find(c);
	if (c->dead)
		return;
	for (i = 0; i < KVGPU_MAX_CHAN; i++) {
		o = gpu->chip->by_hchid[i];
		if (!o || !vmach_chan_same_group(c, o))
			continue;
		WRITE_ONCE(o->dead, true);
		trace_kvgpu_chan(o->vgpu->id, o->gchid.v, o->hchid.v, KVGPU_CHAN_KILLED);
		vmach_hchan_enable(o, false);
	}
	if (vmach_runlist_drop_dead(m))
		vmach_runlist_update(m);
	vmach_wait_begin(&w, gpu);
	reset = vmach_chan_evict(&w, vmach_chan_hid(c));
	/* other requests had to wait: a long eviction does as much harm as a reset */
	if (ktime_get_ns() - w.began > LONG_EVICTION_NS)
		w.resets = max(w.resets, 1u);
	if (reset && why == EVENT_SCHED)
		vmach_strike_add(m, "hang");
	else
		vmach_resets_note(m, w.resets);
	if (why == EVENT_FAULT)
		w.blocked_ns = U64_MAX;
	vmach_wait_charge(m, &w, reset);
	/* a fault stops the scheduling of the whole runlist, whether or not an engine was reset */
	kvgpu_hw_runl_clear_error(&gpu->hw, vmach_gr_runl_get(gpu));
	guest_tell(c, why);
}

/* Drives dead channel @c off, which the chip knows as @hid, and ends the error of its runlist. */
static void dead_evict(struct kvgpu_chan *c, struct machine_hid hid)
{
	struct kvgpu_gpu *gpu = c->vgpu->gpu;
	struct machine_wait w;

	vmach_wait_begin(&w, gpu);
	vmach_chan_evict(&w, hid);
	vmach_resets_note(c->vgpu->m, w.resets);
	vmach_wait_charge(c->vgpu->m, &w, true);
	kvgpu_hw_runl_clear_error(&gpu->hw, vmach_gr_runl_get(gpu));
}

void vmach_hang_end(struct kvgpu_chan *c, struct machine_hid hid)
{
	struct kvgpu_gpu *gpu = c->vgpu->gpu;
	struct kvgpu_machine *m = c->vgpu->m;
	u64 strikes = m->slice.strikes.total;
	int keeper = find_keeper(gpu, hid);

	vmach_slicer_assert(gpu);
	c = vmach_live_chan_find(c);
	kvgpu_mdev_fault_note(m->v, "does not give up the GPU, channel ended", c->gchid.v, 0, 0);
	spin_lock(&gpu->chip->event_lock);
	if (keeper >= 0)
		c->fault.engine = keeper;
	spin_unlock(&gpu->chip->event_lock);
	/* the channel and its whole group are dead, but loaded: only drive them off */
	if (c->dead)
		dead_evict(c, hid);
	else
		vmach_chan_isolate(c, EVENT_SCHED);
	if (m->slice.strikes.total == strikes)
		vmach_strike_add(m, "watchdog");
}

bool vmach_holder_end(struct kvgpu_gpu *gpu, struct machine_hid hid)
{
	struct machine_hid holder;
	struct kvgpu_chan *c;

	if (!vmach_chan_waits(gpu, hid, &holder))
		return false;
	c = vmach_hchan_find(gpu->chip, holder);
	if (c)
		vmach_hang_end(c, holder);
	return c;
}

void vmach_chans_recover(struct kvgpu_chip *chip)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	struct kvgpu_chan *c;
	unsigned long id;

	for_each_set_bit(id, chip->recover_chans, KVGPU_MAX_CHAN) {
		c = chip->by_hchid[id];
		if (!test_and_clear_bit(id, chip->recover_chans) || !c || vmach_gpu_lost(gpu))
			continue;
		vmach_storm_strike(c);
		vmach_fault_charge(c);
		if (!c->dead)
			vmach_chan_isolate(c, c->fault.why);
		else if (vmach_live_chan_find(c) == c && vmach_chan_loaded(c))
			dead_evict(c, vmach_chan_hid(c));
		else
			/* its fault may have come after its end, and stops the runlist */
			kvgpu_hw_runl_clear_error(&gpu->hw, vmach_gr_runl_get(gpu));
	}
}
