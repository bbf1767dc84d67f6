// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time slices. One thread per card, the slicer, gives the chip to the vGPUs in turns. In a *poll*
 * (poll.c) it finds out which vGPUs have work. After each poll it asks the policy (sched/), and
 * switches to the vGPU that the policy names. vGPUs are charged by samples (usage.c), and while a
 * switch waits, by observations (wait.h).
 *
 * The chip is in one of two modes. *Shared*: the lists of all vGPUs that are not suspended are on
 * the chip together. Then nothing is switched, and a vGPU that gets work starts at once.
 * *Exclusive*: the chip has the list of one vGPU, the owner, or no list. The list of a vGPU that is
 * off the chip stays in the host's memory (machine->runl.published). A list is *resident* if it may
 * be on the chip in the present mode (vmach_list_resident()). In debugfs and the trace event the
 * modes are named open and owned.
 *
 * A switch after which some vGPU's list is no longer resident first submits an empty list: no
 * channel is loaded from then on. Then it preempts the channels that are loaded, of all vGPUs. (A
 * PBDMA is a unit that fetches commands of a channel; GR is the graphics engine.) When all have
 * left it submits the new list. So nobody has a right to the chip in between (.sw.waits), and no
 * other unit of the runlist serves the next owner already. A switch to shared mode in which all
 * lists stay resident only adds lists, and waits for nothing.
 *
 * While a switch waits for a preempt (.sw), the slicer serves requests (request.c). If the preempt
 * does not end, sched/hang.c decides when to check for an unserved interrupt and when to end the
 * channel.
 *
 * The slicer runs most of this file, and takes chip->event_lock, slicer->acct_lock and
 * slicer->lock. vmach_watchdog_set() runs in other threads. README.md draws the slicer's states.
 */
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "mdev/machine/holder.h"
#include "mdev/machine/internal.h"
#include "mdev/machine/wait.h"
#include "mdev/trace.h"

/* a vGPU that needs more ns to leave the chip counts as at work */
#define LATE_NS (5 * NSEC_PER_MSEC)
/* default of slicer.watchdog_ms: ms that a channel may take to leave the chip */
#define WATCHDOG_MS 2000
/* the chip's own timeout of a context switch is this much longer than the watchdog's time */
#define SWITCH_TIMEOUT_EXTRA_MS 1000
/* ns that a channel has to leave in CHIP_WAITED */
#define WAITER_NS (200ull * NSEC_PER_MSEC)

/*
 * ns for which a vGPU counts as one with channel ids after it has given them back. A vGPU that
 * waits for so long can work for one rest of slicer_main() before a nearer sample is drawn: 10 ms
 * on the average at most, which is 0.1 %.
 */
#define IDS_COUNT_NS (10 * NSEC_PER_SEC)
/* rest of the slicer's thread, ns, that may be saved up (rest_end()) */
#define REST_SAVED_NS (4 * (s64)NSEC_PER_MSEC)

/* what ends a state of the slicer (states[]) */
enum switch_event {
	NONE, /* the state waits for its end */
	SHARED, /* no channel has to leave, and the mode is the shared one */
	EXCLUSIVE, /* no channel has to leave, and the mode is the exclusive one */
	LEAVE, /* .loaded[.at] has to leave */
	LEFT, /* the channel that is preempted has left, or does not hang */
	OTHER_WORKS, /* time is over: the channel may wait for .other; CHIP_ENDS: waited for one */
	WORKS, /* time is over: an engine works for the channel */
	STAYS, /* time is over, and none of the two */
	NR_SWITCH_EVENTS
};

/* ------------------------------------------ a switch: write lists, find the channels that leave */

static void add_chan(struct kvgpu_chip *chip, struct machine_loaded *out, u32 *nr,
		     struct machine_hid hid)
{
	struct kvgpu_chan *c = vmach_hchan_find(chip, hid);
	u32 i;

	if (!c || *nr == MAX_LOADED)
		return;
	for (i = 0; i < *nr; i++)
		if (vmach_hid_same(out[i].hid, hid))
			return;
	out[(*nr)++] = (struct machine_loaded){ c->vgpu->id, hid };
}

static void add_status(struct kvgpu_chip *chip, u32 st, struct machine_loaded *out, u32 *nr)
{
	if (!(st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE | PFIFO_STATUS_CHSW)))
		return;
	add_chan(chip, out, nr, vmach_status_hid(st));
	if (st & PFIFO_STATUS_CHSW)
		add_chan(chip, out, nr, vmach_status_next(st));
}

/* Writes the loaded channels and groups of vGPUs to @out, and returns their number. */
static u32 find_loaded(struct kvgpu_chip *chip, struct machine_loaded *out)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	u32 engine[KVGPU_MAX_ENGINE];
	u8 p, e, runl = vmach_gr_runl_get(gpu);
	u32 nr = 0;

	/*
	 * Engines first: GR keeps the context of a channel while GR is idle, and a PBDMA may have
	 * the next channel already while an engine still has the old one. That one has to leave
	 * before a channel that waits for the engine can.
	 */
	vmach_engines_read(gpu, engine);
	for (e = 0; e < gpu->hw.topo.nr_engines; e++)
		add_status(chip, engine[e], out, &nr);
	for (p = 0; p < gpu->hw.topo.nr_pbdma; p++)
		if (gpu->hw.topo.pbdma_runl[p] & BIT(runl))
			add_status(chip, kvgpu_hw_pbdma_status(&gpu->hw, p), out, &nr);
	return nr;
}

/*
 * The vGPUs whose lists are resident come onto the chip. Each is .busy from now on if it was .busy
 * when it left, or if it needed more than LATE_NS to leave. Otherwise it pays for new work from the
 * next sample on that sees it at work. A .busy vGPU, in turn, still pays after its work has ended,
 * until the next sample. On the average the two errors cancel out. @owner, if not NULL, had the
 * chip before, and is charged as before.
 */
static void slices_restore(struct kvgpu_chip *chip, const struct kvgpu_machine *owner)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;

	write_seqlock(&s->acct_lock);
	vmach_time_settle(chip, ktime_get_ns());
	list_for_each_entry(m, &chip->live, node) {
		if (m == owner || !vmach_list_resident(m))
			continue;
		m->slice.charge.busy |= m->slice.charge.left_busy;
		m->slice.charge.left_busy = false;
		if (m->slice.found.work)
			s->poll.worked = s->samples.charged;
	}
	write_sequnlock(&s->acct_lock);
}

/* Writes the list that the chip should have. @was: the owner that has the chip already, or NULL. */
static void lists_load(struct kvgpu_chip *chip, const struct kvgpu_machine *was)
{
	struct machine_slicer *s = &chip->slicer;
	const struct kvgpu_machine *owner = s->lists.owner;

	/* before the chip has the list: it may load channels of it at once */
	if (owner != was || s->lists.shared)
		slices_restore(chip, was);
	vmach_runlist_merge(chip->gpu);
	s->lists.switches += !s->lists.shared;
	trace_kvgpu_slice(owner ? owner->v->id : 0, s->lists.shared, s->sched.nr_runnable,
			  s->sched.slice_end);
}

/* Takes all lists from the chip, and notes in .sw the channels that are loaded: they leave. */
static void lists_clear(struct kvgpu_chip *chip)
{
	struct machine_switch *sw = &chip->slicer.sw;

	vmach_wait_begin(&sw->wait, chip->gpu);
	sw->waits = true;
	vmach_runlist_merge(chip->gpu);
	sw->nr = find_loaded(chip, sw->loaded);
	sw->at = 0;
}

/*
 * Sets what the chip should have: with @shared the lists of all vGPUs that are not suspended, else
 * only that of @owner, or none if @owner is NULL. True: channels of vGPUs whose list is not
 * resident any more may be loaded, so that .sw waits until all channels have left the chip.
 */
static bool lists_switch(struct kvgpu_chip *chip, bool shared, struct kvgpu_machine *owner)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m, *was = s->lists.owner;
	bool leave = false;

	if (s->lists.shared == shared && was == owner && !s->lists.stale)
		return false;
	if (owner && owner != was)
		owner->slice.turn++;
	s->lists.shared = shared;
	s->lists.owner = owner;
	s->lists.stale = false;
	list_for_each_entry(m, &chip->live, node)
		leave |= m->slice.on_chip && !vmach_list_resident(m);
	if (leave && !vmach_gpu_lost(chip->gpu))
		lists_clear(chip);
	else
		lists_load(chip, was);
	return s->sw.waits;
}

/* --------------------------------------------- a switch: drive the loaded channels off the chip */

/*
 * Returns a channel of @l if @l is loaded, and is a channel or group of the same vGPU as when @l
 * was made, or else NULL.
 */
static struct kvgpu_chan *loaded_chan(struct kvgpu_chip *chip, const struct machine_loaded *l)
{
	struct kvgpu_chan *c = vmach_hchan_find(chip, l->hid);
	struct machine_loaded now[MAX_LOADED];
	u32 nr, i;

	if (!c || c->vgpu->id != l->vgpu)
		return NULL;
	nr = find_loaded(chip, now);
	for (i = 0; i < nr; i++)
		if (vmach_hid_same(now[i].hid, l->hid))
			return c;
	return vmach_on_engine(chip->gpu, l->hid) ? c : NULL;
}

/* Returns the vGPU for which an engine works by its status @st, or NULL. */
static struct kvgpu_machine *worked_for(struct kvgpu_chip *chip, u32 st)
{
	/* while an engine that has no channel loads one, only field NEXT_ID is valid */
	bool loads = st & PFIFO_STATUS_CHSW && !(st & PFIFO_STATUS_SAVE);

	return st & PFIFO_STATUS_BUSY && !loads ? vmach_status_owner(chip, st) : NULL;
}

/*
 * Finds out what the present channel, which has used up its time, does. If it may wait for another
 * one, because an engine that is not in .asked works for that, notes the other one in .other.
 * Prefers one that has to leave, then the first engine, which is GR.
 */
static enum switch_event late_event(struct kvgpu_chip *chip)
{
	struct machine_switch *sw = &chip->slicer.sw;
	const struct machine_loaded *l = &sw->loaded[sw->at];
	struct kvgpu_gpu *gpu = chip->gpu;
	u32 engine[KVGPU_MAX_ENGINE];
	bool leaves = false, leave, works = false;
	struct kvgpu_machine *m;
	int found = -1;
	u8 e;

	vmach_engines_read(gpu, engine);
	for (e = 0; e < gpu->hw.topo.nr_engines; e++) {
		works |= engine[e] & PFIFO_STATUS_BUSY && vmach_engine_has(gpu, e, l->hid);
		m = worked_for(chip, engine[e]);
		if (!m || sw->asked & BIT(e))
			continue;
		leave = !vmach_list_resident(m);
		if (found >= 0 && (leaves || !leave))
			continue;
		sw->other.hid = vmach_status_hid(engine[e]);
		sw->other_vgpu = m->v->id;
		leaves = leave;
		found = e;
	}
	if (!loaded_chan(chip, l))
		return LEFT;
	if (works)
		return WORKS;
	if (found < 0)
		return STAYS;
	sw->asked |= BIT(found);
	return OTHER_WORKS;
}

/*
 * @m leaves the chip. If slice.charge.busy is set, charges @m for @ns, which no vGPU was charged,
 * and sets slice.charge.left_busy for the return of @m. Clears slice.charge.busy, which ends the
 * charge. slicer->acct_lock is held for writing.
 */
static void eviction_charge(struct kvgpu_machine *m, u64 ns)
{
	if (m->slice.charge.busy)
		vmach_unpaid_charge(m, ns);
	m->slice.charge.left_busy |= m->slice.charge.busy;
	m->slice.charge.busy = false;
}

/* Returns the ns from sw.wait.began to now for which no vGPU was charged. */
static u64 switch_unpaid(struct kvgpu_chip *chip)
{
	struct machine_wait *w = &chip->slicer.sw.wait;

	vmach_engines_observe(chip->gpu);
	return vmach_unpaid_ns(chip, w->began, w->paid);
}

/*
 * The present channel or group has left the chip, or is about to be ended. Its vGPU pays for the
 * time for which no vGPU was charged if it was at work. Counts and traces the preempt.
 */
static void eviction_note(struct kvgpu_chip *chip)
{
	struct machine_switch *sw = &chip->slicer.sw;
	const struct machine_loaded *l = &sw->loaded[sw->at];
	struct kvgpu_machine *m = vmach_vgpu_find(chip, l->vgpu);
	u64 took = ktime_get_ns() - sw->wait.began, ns = switch_unpaid(chip);

	if (!m)
		return;
	write_seqlock(&chip->slicer.acct_lock);
	/*
	 * @m took long to leave, and no other vGPU was at work: take it as at work. The time in
	 * which another preempt had the register says nothing of @m.
	 */
	m->slice.charge.busy |= min(sw->leave.held_ns, ns) > LATE_NS;
	eviction_charge(m, ns);
	write_sequnlock(&chip->slicer.acct_lock);
	m->slice.preempts.nr++;
	m->slice.preempts.ns += took;
	m->slice.preempts.max = max(m->slice.preempts.max, took);
	trace_kvgpu_preempt(l->vgpu, l->hid.tsg, l->hid.id, took);
}

/* ------------------------------------------- a turn of the slicer: poll, ask the policy, switch */

/* Tells the policy what the poll at time @now found, and asks which list the chip should have. */
static void ask_policy(struct kvgpu_chip *chip, u64 now, struct kvgpu_sched_choice *c)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;

	spin_lock(&s->lock);
	list_for_each_entry(m, &chip->live, node)
		kvgpu_sched_note(&m->slice.ent, m->slice.found.work, m->slice.found.progress);
	kvgpu_sched_polled(&s->sched, now);
	kvgpu_sched_choose(&s->sched, now, c);
	spin_unlock(&s->lock);
}

/*
 * True: the policy or a cap may keep @m from a part of the GPU's time. The slicer then has to know
 * whether @m has work even while no vGPU seems to have any.
 */
static bool vgpu_limited(const struct machine_slicer *s, const struct kvgpu_machine *m)
{
	return READ_ONCE(s->sched.policy) != KVGPU_SCHED_BEST_EFFORT ||
	       READ_ONCE(m->slice.ent.cap) < KVGPU_SCHED_CAP_NONE;
}

/* Returns the mean time between samples, in ns; 0: no samples, because the card has no vGPU. */
static u64 sample_mean(struct kvgpu_chip *chip, u64 now)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_sched_watch w = {
		.alternates = vmach_nonstall_poll(chip, now) || !s->lists.shared,
		.any = !list_empty(&chip->live),
		.idle_ns = now > s->poll.worked ? now - s->poll.worked : 0,
	};
	struct kvgpu_machine *m;

	list_for_each_entry(m, &chip->live, node) {
		/*
		 * Skip a vGPU that has no channel ids and had none lately. .list_nr would not do,
		 * because a loaded channel runs on when the guest takes it off its list.
		 * .ids.nr_blocks alone would not do: a guest could give its ids back, have a far
		 * time drawn, and take ids and work before a poll draws a nearer time.
		 */
		if (!READ_ONCE(m->ids.nr_blocks) && now > READ_ONCE(m->ids.given) + IDS_COUNT_NS)
			continue;
		w.bound++;
		w.limited |= vgpu_limited(s, m);
	}
	return kvgpu_sched_sample_mean(&w);
}

/*
 * Does the flushes that guests have asked for in their flush pages (flush.c). A guest can see its
 * flush end. If flushes were done before a sample, the guest could then take its work off the
 * engines before the sample reads them. So flushes are done after a sample.
 */
static void serve_flushes(struct kvgpu_chip *chip)
{
	struct kvgpu_machine *m;
	u64 began;

	began = ktime_get_ns();
	list_for_each_entry(m, &chip->live, node)
		vmach_flush_page_serve(m->v);
	began = ktime_get_ns() - began;
	chip->slicer.rest.used += began;
	chip->slicer.rest.from += began;
	/* a sample of that time makes no further flushes due */
	clear_bit(SLICER_SAMPLED, &chip->slicer.kicked);
}

/*
 * Draws the time at which the thread's rest ends. The end of a turn ends the rest, too. But if
 * polls take more than a quarter of a turn, the thread first rests for as long as it owes: twice
 * the mean time of a poll, less what it rested more before, REST_SAVED_NS at most. So it works for
 * less than half of the time, and mostly for a third at most. Neither short turns among long ones
 * become longer, nor a turn because one poll was held up.
 */
static u64 rest_end(struct machine_slicer *s)
{
	u64 end = s->rest.from + kvgpu_sched_rest(s->rest.used, get_random_u64()), turn, length;

	s->rest.used_mean = s->rest.used_mean - s->rest.used_mean / 8 + s->rest.used / 8;
	s->rest.owed -= (s64)(s->rest.from - s->rest.used - s->rest.before);
	s->rest.owed = clamp_t(s64, s->rest.owed, -REST_SAVED_NS, 0) + 2 * (s64)s->rest.used_mean;
	s->rest.before = s->rest.from;
	spin_lock(&s->lock);
	turn = kvgpu_sched_turn_end(&s->sched);
	length = s->sched.slice_end - s->sched.turn_start;
	spin_unlock(&s->lock);
	if (turn >= end)
		return end;
	if (s->rest.used_mean > length / 4 && s->rest.owed > 0)
		return max(turn, s->rest.from + (u64)s->rest.owed);
	return turn;
}

/* CHIP_OPEN, CHIP_OWNED: a turn is over: the poll, and the switch if there was one. */
static enum switch_event turn_over(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;

	if (s->sw.state == CHIP_OWNED) {
		spin_lock(&s->lock);
		/* kvgpu_sched_choose() did not know when the switch would end */
		s->rest.next = kvgpu_sched_started(&s->sched, ktime_get_ns());
		spin_unlock(&s->lock);
	}
	if (s->poll.flush_due)
		serve_flushes(chip);
	s->poll.flush_due = false;
	s->rest.until = rest_end(s);
	return NONE;
}

/* -------------------------- a switch: wait until the loaded channels have left, state by state */

static void switch_go(struct kvgpu_chip *chip, enum switch_event ev);

/* The switch has ended: all channels are off the chip. Writes the list that comes next. */
static void switch_end(struct kvgpu_chip *chip)
{
	struct kvgpu_sched_watch alternates = { .alternates = true };
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;
	u64 ns = switch_unpaid(chip), now = s->samples.charged;

	write_seqlock(&s->acct_lock);
	list_for_each_entry(m, &chip->live, node) {
		/* a vGPU whose channels left without a preempt may still be .busy, and pays here */
		eviction_charge(m, ns);
		WRITE_ONCE(m->slice.on_chip, false);
	}
	WRITE_ONCE(s->samples.paused, s->samples.paused - 1);
	write_sequnlock(&s->acct_lock);
	s->sw.waits = false;
	lists_load(chip, NULL);
	vmach_samples_set(chip, now, kvgpu_sched_sample_mean(&alternates));
}

/* A turn of the present channel's preempt is over. */
static void leave_over(struct kvgpu_chip *chip, struct machine_preempt *p, int ret)
{
	u64 watchdog = (u64)READ_ONCE(chip->slicer.watchdog_ms) * NSEC_PER_MSEC;
	struct machine_switch *sw = &chip->slicer.sw;
	enum kvgpu_hang_step step;

	if (ret != -ETIMEDOUT || vmach_gpu_lost(chip->gpu)) {
		switch_go(chip, LEFT);
		return;
	}
	if (sw->state == CHIP_WAITED)
		watchdog = min(watchdog, WAITER_NS);
	step = kvgpu_sched_hang_next(&sw->hang, watchdog, p->ns);
	if (step != KVGPU_HANG_WAIT)
		trace_kvgpu_hang(sw->loaded[sw->at].vgpu, p->hid.tsg, p->hid.id,
				 step == KVGPU_HANG_RECOVER, p->ns);
	if (step == KVGPU_HANG_RECOVER) {
		switch_go(chip, late_event(chip));
		return;
	}
	if (step == KVGPU_HANG_POLL)
		kvgpu_hw_intr_poll(&chip->gpu->hw);
	vmach_preempt_add(chip, p);
}

/* CHIP_WAITED, CHIP_WORKS: the present channel has more time. */
static enum switch_event leave_again(struct kvgpu_chip *chip)
{
	struct machine_switch *sw = &chip->slicer.sw;

	kvgpu_sched_hang_begin(&sw->hang, sw->leave.ns);
	vmach_preempt_add(chip, &sw->leave);
	return NONE;
}

/* CHIP_LEAVES */
static enum switch_event leave_begin(struct kvgpu_chip *chip)
{
	struct machine_switch *sw = &chip->slicer.sw;

	sw->asked = 0;
	sw->leave = (struct machine_preempt){ .hid = sw->loaded[sw->at].hid, .over = leave_over };
	return leave_again(chip);
}

/*
 * A turn of the other channel's preempt is over. If each observation of its time saw an engine work
 * for it, it hangs. If one did not, it is no hang, whatever the preempt register says: the register
 * may still tell of the preempt of the channel that waits (T13 of docs/supported.md).
 */
static void other_over(struct kvgpu_chip *chip, struct machine_preempt *p, int ret)
{
	u64 watchdog = (u64)READ_ONCE(chip->slicer.watchdog_ms) * NSEC_PER_MSEC;
	bool late = ret == -ETIMEDOUT && !vmach_gpu_lost(chip->gpu);

	if (late && p->ns < watchdog)
		vmach_preempt_add(chip, p);
	else
		switch_go(chip, late && !chip->slicer.sw.absent ? STAYS : LEFT);
}

/* CHIP_OTHER */
static enum switch_event other_begin(struct kvgpu_chip *chip)
{
	struct machine_switch *sw = &chip->slicer.sw;

	sw->other = (struct machine_preempt){ .hid = sw->other.hid, .over = other_over };
	sw->absent = 0;
	vmach_preempt_add(chip, &sw->other);
	return NONE;
}

/* CHIP_OTHER_ENDS */
static enum switch_event other_end(struct kvgpu_chip *chip)
{
	struct machine_switch *sw = &chip->slicer.sw;
	struct machine_loaded l = { sw->other_vgpu, sw->other.hid };
	struct kvgpu_chan *c = loaded_chan(chip, &l);

	if (c && !vmach_holder_end(chip->gpu, l.hid))
		vmach_hang_end(c, l.hid);
	return LEFT;
}

/* Returns LEAVE if .loaded[.at] has to leave, or else ends the switch. */
static enum switch_event switch_next(struct kvgpu_chip *chip)
{
	if (chip->slicer.sw.at < chip->slicer.sw.nr)
		return LEAVE;
	switch_end(chip);
	return chip->slicer.lists.shared ? SHARED : EXCLUSIVE;
}

/* The present channel has left: goes on to the next one. */
static enum switch_event present_gone(struct kvgpu_chip *chip)
{
	struct machine_switch *sw = &chip->slicer.sw;

	vmach_engines_observe(chip->gpu);
	sw->wait.began = chip->slicer.samples.charged;
	sw->wait.paid = chip->slicer.samples.paid_ns;
	sw->at++;
	return switch_next(chip);
}

/* CHIP_LEFT */
static enum switch_event left(struct kvgpu_chip *chip)
{
	eviction_note(chip);
	return present_gone(chip);
}

/*
 * CHIP_ENDS: ends the present channel if it is still loaded, with a reset of its engine if
 * necessary. If it waits for an engine that another channel keeps, ends that channel instead.
 */
static enum switch_event present_end(struct kvgpu_chip *chip)
{
	const struct machine_loaded *l = &chip->slicer.sw.loaded[chip->slicer.sw.at];
	struct kvgpu_chan *c = loaded_chan(chip, l);

	if (c && vmach_holder_end(chip->gpu, l->hid))
		return OTHER_WORKS;
	eviction_note(chip);
	if (c)
		vmach_hang_end(c, l->hid);
	return present_gone(chip);
}

/* clang-format off */
/* the next state if no channel has to leave, or no further one, or if one has to */
#define SETTLED_OR_NEXT \
	[SHARED] = CHIP_OPEN, [EXCLUSIVE] = CHIP_OWNED, [LEAVE] = CHIP_LEAVES
/* clang-format on */
/* the next state if the channel leaves; else, by the one for which an engine works in the end */
#define LEFT_OR(another, this, none) \
	[LEFT] = CHIP_LEFT, [OTHER_WORKS] = (another), [WORKS] = (this), [STAYS] = (none)

/*
 * The slicer's states. .enter() is called when a state begins, and returns the event that ends the
 * state at once, or NONE. .next: the next state, by event.
 *
 * A channel that waits on its PBDMA for an engine does not leave before another channel's kernel
 * has ended, and the engine may name only the other one (T18 and T19 of docs/supported.md). So
 * before it is ended, the channels for which engines work are driven off, too, one of each engine
 * at most. After each of them it has WAITER_NS to leave. If an engine works for it then, that is a
 * kernel of its own, which has the watchdog's time, once.
 *
 * The watchdog's time is that of its turns at the preempt register, and WAIT_NS of each wait for a
 * turn at most (request.c): the slicer may evict another channel meanwhile, for seconds, and the
 * chip forgets the preempt. Such an eviction has reset an engine, which is counted for its vGPU
 * (docs/invariants.md), or waits for another channel (holder.h).
 */
static const struct {
	enum switch_event (*enter)(struct kvgpu_chip *chip);
	u8 next[NR_SWITCH_EVENTS];
} states[] = {
	[CHIP_OPEN] = { turn_over, { SETTLED_OR_NEXT } },
	[CHIP_OWNED] = { turn_over, { SETTLED_OR_NEXT } },
	[CHIP_LEAVES] = { leave_begin, { LEFT_OR(CHIP_OTHER, CHIP_ENDS, CHIP_ENDS) } },
	[CHIP_OTHER] = { other_begin, { [LEFT] = CHIP_WAITED, [STAYS] = CHIP_OTHER_ENDS } },
	[CHIP_OTHER_ENDS] = { other_end, { [LEFT] = CHIP_WAITED } },
	[CHIP_WAITED] = { leave_again, { LEFT_OR(CHIP_OTHER, CHIP_WORKS, CHIP_ENDS) } },
	[CHIP_WORKS] = { leave_again, { LEFT_OR(CHIP_ENDS, CHIP_ENDS, CHIP_ENDS) } },
	[CHIP_ENDS] = { present_end, { [OTHER_WORKS] = CHIP_LEAVES, SETTLED_OR_NEXT } },
	[CHIP_LEFT] = { left, { SETTLED_OR_NEXT } },
};

/* Event @ev ends the present state. Goes from state to state, until one waits for its end. */
static void switch_go(struct kvgpu_chip *chip, enum switch_event ev)
{
	enum machine_chip_state *state = &chip->slicer.sw.state;

	while (ev != NONE) {
		*state = states[*state].next[ev];
		ev = states[*state].enter(chip);
	}
}

/* ------------------------------------------------------------------ a turn of the slicer */

/*
 * Makes a poll, asks the policy, and begins a switch if the policy says so. Sets .next to the time
 * at which the policy wants to be asked again.
 */
static void slicer_turn(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;
	u64 now = ktime_get_ns();
	struct kvgpu_sched_choice c;
	struct kvgpu_machine *m;
	bool leave;

	s->rest.from = now;
	if (vmach_gpu_lost(chip->gpu)) {
		s->rest.next = ~0ull;
		s->rest.until = rest_end(s);
		return;
	}
	s->poll.flush_due = test_and_clear_bit(SLICER_SAMPLED, &s->kicked);
	vmach_slicer_poll(chip, now);
	/* the policy is asked by what was charged up to now */
	write_seqlock(&s->acct_lock);
	vmach_time_settle(chip, now);
	write_sequnlock(&s->acct_lock);
	ask_policy(chip, now, &c);
	s->rest.next = c.until;
	m = c.ent ? container_of(c.ent, struct kvgpu_machine, slice.ent) : NULL;
	leave = lists_switch(chip, c.shared, c.shared ? NULL : m);
	vmach_samples_set(chip, now, sample_mean(chip, now));
	s->rest.from = ktime_get_ns();
	s->rest.used = s->rest.from - now;
	switch_go(chip, leave ? switch_next(chip) : c.shared ? SHARED : EXCLUSIVE);
}

/* -------------------------------------------- the slicer's thread: main loop, start and stop */

/* Sleeps until @until, or until there is something to do. */
static void slicer_sleep(struct machine_slicer *s, unsigned long kicked, u64 until)
{
	set_current_state(TASK_INTERRUPTIBLE);
	if (READ_ONCE(s->kicked) == kicked && !(kicked & BIT(SLICER_RECOVER)) &&
	    list_empty(&s->requests.waiting) && list_empty(&s->preempts) && !kthread_should_stop())
		vmach_sleep_until(until);
	__set_current_state(TASK_RUNNING);
}

/*
 * The slicer. It has a real-time priority. In each round it serves a request, ends channels that
 * failed, waits for a preempt for some us if one is under way, and makes a poll when that is due
 * and no switch waits. While one waits, guests' flushes and NON_STALL_INTERRUPTs are seen to. After
 * a poll it rests: it makes no further one for longer if the poll and its flushes took longer
 * (kvgpu_sched_rest()). Without rests, guests could keep the thread busy, because they can cause
 * any number of kicks. A switch counts as rest.
 */
static int slicer_main(void *arg)
{
	struct kvgpu_chip *chip = arg;
	struct machine_slicer *s = &chip->slicer;
	unsigned long kicked;
	u64 ends, poll;
	bool busy;

	while (!kthread_should_stop()) {
		cond_resched();
		vmach_chip_take(s);
		busy = vmach_requests_serve(chip);
		ends = vmach_suspended_end(chip);
		if (test_and_clear_bit(SLICER_RECOVER, &s->kicked))
			vmach_chans_recover(chip);
		busy |= vmach_preempts_step(chip);
		if (s->sw.waits && test_bit(SLICER_SAMPLED, &s->kicked)) {
			vmach_nonstall_poll(chip, ktime_get_ns());
			serve_flushes(chip);
		}
		kicked = READ_ONCE(s->kicked);
		poll = max(kicked & BIT(SLICER_POLL) ? 0 : s->rest.next, s->rest.until);
		if (s->sw.waits)
			poll = ~0ull;
		if (ktime_get_ns() >= poll) {
			clear_bit(SLICER_POLL, &s->kicked);
			slicer_turn(chip);
			busy = true;
		}
		vmach_chip_leave(s);
		if (!busy)
			slicer_sleep(s, kicked, min(poll, ends));
	}
	return 0;
}

void vmach_slicer_init(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;

	spin_lock_init(&s->lock);
	rt_mutex_init(&s->chip_lock);
	spin_lock_init(&s->requests.lock);
	INIT_LIST_HEAD(&s->requests.waiting);
	INIT_LIST_HEAD(&s->preempts);
	seqlock_init(&s->acct_lock);
	kvgpu_sched_init(&s->sched);
	s->lists.shared = true;
	s->samples.at = s->samples.mean = ~0ull;
}

void vmach_watchdog_set(struct kvgpu_gpu *gpu, unsigned int ms)
{
	WRITE_ONCE(gpu->chip->slicer.watchdog_ms, ms);
	kvgpu_hw_switch_timeout(&gpu->hw, ms + SWITCH_TIMEOUT_EXTRA_MS);
}

int vmach_slicer_start(struct kvgpu_gpu *gpu)
{
	struct kvgpu_chip *chip = gpu->chip;
	struct machine_slicer *s = &chip->slicer;
	int ret;

	vmach_watchdog_set(gpu, WATCHDOG_MS);
	ret = vmach_thread_start(chip, &s->samples.thread, vmach_sampler_main, "kvgpu-see/%s");
	if (!ret)
		ret = vmach_thread_start(chip, &s->thread, slicer_main, "kvgpu/%s");
	if (ret)
		vmach_slicer_stop(gpu);
	return ret;
}

void vmach_slicer_stop(struct kvgpu_gpu *gpu)
{
	vmach_thread_stop(&gpu->chip->slicer.samples.thread);
	vmach_thread_stop(&gpu->chip->slicer.thread);
}
