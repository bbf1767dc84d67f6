// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery: takes a channel that faulted, hangs or misbehaves off the chip for good, and makes the
 * engine that the channel holds usable for the other vGPUs again. After that an event for the guest
 * is queued (event.c).
 *
 * Recovery runs in the slicer's thread (slice.c). Its waits for the chip (wait.h) are bounded. The
 * reset of an engine loses the context that is loaded on it.
 *
 * The order (nouveau nvkm_runl_rc(), gk110/facts.md): disable the channel, submit a runlist
 * without it, block the runlist (PBDMAs then get no channel from it), preempt, reset the engines
 * that still have the channel, clear the runlist's error (PFIFO_RUNLIST_ERROR), allow the runlist
 * (end the block). nouveau has no preempt in this order. Here the preempt makes a channel that is
 * on a PBDMA, but on no engine, leave without a reset of an engine. A channel that stays and that
 * no engine keeps may wait on its PBDMA for another channel's kernel. That one has PREEMPT_LAST_MS
 * to end, but in a switch it has had its time. Then all engines of the runlist are reset. After a
 * reset the channel is preempted again before the runlist is allowed.
 */
#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* an eviction of an ended channel that takes more ns counts as a reset: vmach_resets_note() */
#define LONG_EVICTION_NS (10 * NSEC_PER_MSEC)
/*
 * most preempts of an eviction: a disabled channel that waits may begin a kernel after each reset
 */
#define EVICT_TRIES 6

/* ------------------------------------------------------- evict channels: preempt, reset engines */

static void reset_engine(struct kvgpu_gpu *gpu, u8 e)
{
	if (kvgpu_hw_engine_reset(&gpu->hw, e) && kvgpu_hw_engine_reset(&gpu->hw, e))
		vmach_gpu_declare_lost(gpu, "an engine did not come back from its reset");
}

/*
 * Preempts the channels that PBDMAs of runlist @r have, or are about to get. While an engine is
 * reset, no channel may wait for that engine: PFIFO would ask the engine for a context switch while
 * the engine's microcode is off, and wait for the answer for ever. The caller has blocked the
 * runlist, so that PBDMAs get no further channels.
 */
static void clear_pbdmas(const struct machine_runl *r)
{
	struct kvgpu_gpu *gpu = r->chip->gpu;
	u32 st;
	u8 p;

	for (p = 0; p < gpu->hw.topo.nr_pbdma; p++) {
		if (!vmach_runl_has_pbdma(r, p))
			continue;
		st = kvgpu_hw_pbdma_status(&gpu->hw, p);
		if (st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE))
			vmach_preempt_now(gpu, vmach_status_hid(st), PREEMPT_EVICT_MS);
		if (st & PFIFO_STATUS_CHSW && st & PFIFO_STATUS_VALID)
			vmach_preempt_now(gpu, vmach_status_next(st), PREEMPT_EVICT_MS);
	}
}

/*
 * Resets the engines that keep channel or group @hid. Returns false if none kept it. An engine that
 * has still to save another channel, before it loads @hid, is not reset: the other channel may have
 * a kernel that is no hang. Nor is one that @hid leaves meanwhile.
 */
static bool chan_engines_reset(struct machine_wait *w, struct machine_hid hid)
{
	struct kvgpu_gpu *gpu = w->runl->chip->gpu;
	int e = vmach_keeper_find(gpu, hid);

	if (e < 0)
		return false;
	clear_pbdmas(w->runl);
	for (; e >= 0; e--) {
		if (!vmach_engine_keeps(gpu, e, hid))
			continue;
		w->resets++;
		reset_engine(gpu, e);
	}
	return true;
}

void vmach_runlist_reset(struct machine_wait *w)
{
	const struct machine_runl *r = w->runl;
	struct kvgpu_gpu *gpu = r->chip->gpu;
	u8 e;

	dev_err_ratelimited(
		&gpu->hw.pdev->dev,
		"runlist %u: a channel is loaded that no engine names, all its engines are reset\n",
		r->id);
	w->resets++;
	clear_pbdmas(r);
	for (e = 0; e < gpu->hw.topo.nr_engines; e++)
		if (vmach_runl_has_engine(r, e))
			reset_engine(gpu, e);
	kvgpu_hw_runl_clear_error(&gpu->hw, r->id);
	/*
	 * preempt once more: a channel that waited for an engine could not leave its PBDMA before
	 * the engine was reset
	 */
	clear_pbdmas(r);
}

void vmach_chan_evict(struct machine_wait *w, struct machine_hid hid)
{
	struct kvgpu_gpu *gpu = w->runl->chip->gpu;
	bool late, kept, waited = w->late;
	u32 i;

	vmach_slicer_assert(gpu);
	if (vmach_gpu_lost(gpu))
		return;
	kvgpu_hw_runl_block(&gpu->hw, w->runl->id, true);
	for (i = 0; i < EVICT_TRIES && !vmach_gpu_lost(gpu); i++) {
		late = vmach_preempt_now(gpu, hid, PREEMPT_EVICT_MS);
		/* an engine that was reset may name the channel for some time */
		kept = (late || !i) && chan_engines_reset(w, hid);
		if (late && !kept && !waited) {
			waited = true;
			late = vmach_preempt_now(gpu, hid, PREEMPT_LAST_MS);
			kept = chan_engines_reset(w, hid);
		}
		if (!late && !kept)
			break;
		if (!kept)
			vmach_runlist_reset(w);
		kvgpu_hw_runl_clear_error(&gpu->hw, w->runl->id);
	}
	if (i == EVICT_TRIES)
		vmach_gpu_declare_lost(gpu, "a channel does not leave the chip");
	w->blocked_ns += kvgpu_hw_runl_block(&gpu->hw, w->runl->id, false);
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
	if (!vmach_chan_loaded(c) && !vmach_preempt_now(gpu, hid, PREEMPT_EVICT_MS) &&
	    !vmach_chan_loaded(c))
		return false;
	vmach_chan_evict(w, hid);
	return true;
}

/* ------------------------------------------------- end channels: disable, evict, tell the guest */

/*
 * Returns the engine on which @c hangs, as the guest will be told: of a channel without a graphics
 * context a copy engine, because nouveau's reset of a graphics engine that it has never used ends
 * in a division by zero (6.12, gf117_gr_init_zcull()).
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

/* Tells the guest why the channel ended. */
static void guest_tell(struct kvgpu_chan *c, u8 why)
{
	struct kvgpu_machine *m = c->vgpu->m;
	struct machine_event ev = { .kind = why };
	int tsg = READ_ONCE(c->guest.tsg);

	if (why == EVENT_FAULT) {
		ev.fault.unit = c->fault.unit;
		ev.fault.inst = c->guest.inst.addr;
		ev.fault.va = c->fault.va;
		ev.fault.info = c->fault.info;
	} else {
		ev.sched.engine = told_engine(c);
		ev.sched.inst = c->guest.inst.addr;
		ev.sched.tsg = tsg >= 0;
		ev.sched.id = tsg >= 0 ? tsg : c->gchid.v;
	}
	vmach_event_push(m, &ev);
}

/* Disables @c and its group, marks them dead, and takes them off their list. */
static void group_kill(struct kvgpu_chan *c)
{
	struct kvgpu_gpu *gpu = c->vgpu->gpu;
	struct kvgpu_chan *o;
	u32 i;

	for (i = 0; i < KVGPU_MAX_CHAN; i++) {
		o = gpu->chip->by_hchid[i];
		if (!o || !vmach_chan_same_group(c, o))
			continue;
		WRITE_ONCE(o->dead, true);
		trace_kvgpu_chan(o->vgpu->id, o->gchid.v, o->hchid.v, KVGPU_CHAN_KILLED);
		vmach_hchan_enable(o, false);
	}
	vmach_runlist_drop_dead(c->slice);
}

/* ASKED: a guest's act or a fault; HANGS; WAITED: it waits behind one that hangs */
enum cause { ASKED, HANGS, WAITED };

/* Ends @c and its group, which the chip knows as @hid. If @c is dead already, only evicts it. */
static void chan_end(struct kvgpu_chan *c, struct machine_hid hid, u8 why, enum cause cause)
{
	struct kvgpu_machine *m = c->vgpu->m;
	struct kvgpu_gpu *gpu = c->vgpu->gpu;
	bool was_dead = c->dead;
	struct machine_wait w;

	vmach_slicer_assert(gpu);
	if (!was_dead)
		group_kill(c);
	vmach_wait_begin(&w, c->slice->runl);
	w.late = cause != ASKED;
	vmach_chan_evict(&w, hid);
	if (cause == HANGS)
		vmach_strike_add(m, "watchdog");
	else if (cause == WAITED)
		/* the resets are due to what it waited for */
		w.resets = w.blocked_ns = 0;
	else if (w.resets && why == EVENT_SCHED)
		vmach_strike_add(m, "hang");
	else
		/* other requests had to wait: a long eviction does as much harm as a reset */
		vmach_resets_note(m, w.resets ?: ktime_get_ns() - w.began > LONG_EVICTION_NS);
	if (why == EVENT_FAULT)
		w.blocked_ns = U64_MAX;
	vmach_wait_charge(c->slice, &w, w.resets);
	/* a fault stops the scheduling of the whole runlist, whether or not an engine was reset */
	kvgpu_hw_runl_clear_error(&gpu->hw, c->slice->runl->id);
	if (!was_dead)
		guest_tell(c, why);
}

void vmach_chan_isolate(struct kvgpu_chan *c, u8 why)
{
	c = vmach_live_chan_find(c);
	if (!c->dead)
		chan_end(c, vmach_chan_hid(c), why, ASKED);
}

/* Ends @c, or group @hid that it is in, because of a hang. */
static void hang_chan_end(struct kvgpu_chan *c, struct machine_hid hid, enum cause cause)
{
	struct kvgpu_chip *chip = c->vgpu->gpu->chip;
	int keeper = vmach_keeper_find(chip->gpu, hid);

	c = vmach_live_chan_find(c);
	kvgpu_mdev_fault_note(c->vgpu,
			      cause == HANGS ? "does not give up the GPU, channel ended" :
					       "waited for a channel that hangs, channel ended",
			      c->gchid.v, 0, 0);
	spin_lock(&chip->event_lock);
	if (keeper >= 0)
		c->fault.engine = keeper;
	spin_unlock(&chip->event_lock);
	chan_end(c, hid, EVENT_SCHED, cause);
}

void vmach_hang_end(struct kvgpu_chan *c, struct machine_hid hid)
{
	const struct machine_runl *r = c->slice->runl;
	u8 e, nr_engines = r->chip->gpu->hw.topo.nr_engines;
	struct machine_hid holder;
	struct kvgpu_chan *o;
	bool waits = false;

	for (e = 0; e < nr_engines; e++) {
		if (!vmach_engine_holds(r, e, &holder))
			continue;
		waits = !vmach_hid_same(holder, hid);
		if (!waits)
			break;
	}
	for (e = 0; waits && e < nr_engines; e++) {
		o = vmach_engine_holds(r, e, &holder) ? vmach_hchan_find(r->chip, holder) : NULL;
		if (o)
			hang_chan_end(o, holder, HANGS);
	}
	hang_chan_end(c, hid, waits ? WAITED : HANGS);
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
			chan_end(c, vmach_chan_hid(c), EVENT_FAULT, ASKED);
		else
			/* its fault may have come after its end, and stops the runlist */
			kvgpu_hw_runl_clear_error(&gpu->hw, c->slice->runl->id);
	}
}
