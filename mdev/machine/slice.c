// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time slices. One thread per card, the slicer, gives the chip to the vGPUs in turns. In a *poll*
 * (poll.c) it finds out which vGPUs have work. After each poll it asks the policy (sched/), and
 * switches to the vGPU that the policy names. While vGPUs take turns the owner of the chip pays by
 * time stamps (accounting.c), else who is seen by samples (usage.c).
 *
 * That is so for each runlist that vGPUs share (struct machine_runl) by itself: below, the chip
 * is one of them with its engines. It is in one of two modes. *Shared*: the lists of all vGPUs
 * that are not suspended are on the chip together. Then nothing is switched, and a vGPU that
 * gets work starts at once. *Exclusive*: the chip has the list of one vGPU, the owner, or no
 * list. The list of a vGPU that is off the chip stays in the host's memory (slice->published). A
 * list is *resident* if it may be on the chip in the present mode (vmach_list_resident()). In
 * debugfs and the trace event the modes are named open and owned.
 *
 * A switch after which a vGPU's list is no longer resident first submits an empty list: no channel
 * is loaded from then on. Then it preempts the channels that are loaded, of all vGPUs. When they
 * have left it submits the new list. In between nobody has a right to the chip (.sw.waits), and the
 * slicer serves requests (request.c). A switch that only adds lists waits for nothing. (A PBDMA is
 * a unit that fetches commands of a channel; GR is the graphics engine.)
 *
 * A channel that does not leave in the watchdog's time is ended if it holds an engine, else with
 * those that do (vmach_hang_end()): since the lists are off, all had that time.
 *
 * The slicer runs most of this file, and takes chip->event_lock, slicer->acct_lock and
 * slicer->lock. vmach_watchdog_set() runs in other threads. README.md draws the slicer's states.
 */
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "mdev/machine/internal.h"
#include "mdev/machine/wait.h"
#include "mdev/trace.h"

/* default of slicer.watchdog_ms: ms that a channel may take to leave the chip */
#define WATCHDOG_MS 2000
/* the chip's own timeout of a context switch is this much longer than the watchdog's time */
#define SWITCH_TIMEOUT_EXTRA_MS 1000
/* a preempt is late after this time, or half of the watchdog's time if that is shorter */
#define LATE_NS (100ull * NSEC_PER_MSEC)
/*
 * Mean times between samples, ns; rows of selftests/module/harness/topics/shares.c have the first
 * two. The last is for vGPUs without channels, too: their guests may ask for a flush, which is done
 * after a sample.
 */
#define SAMPLE_NS	 (1ull * NSEC_PER_MSEC)
#define SAMPLE_QUIET_NS	 (4ull * NSEC_PER_MSEC)
#define SAMPLE_ALONE_NS	 (10ull * NSEC_PER_MSEC)
#define SAMPLE_ASLEEP_NS (50ull * NSEC_PER_MSEC)
/* ns without work after which samples may be fewer */
#define QUIET_NS    (1ull * NSEC_PER_SEC)
#define REST_MAX_NS (10ull * NSEC_PER_MSEC)
/*
 * ns for which a vGPU counts as one with channel ids after it has given them back. A vGPU that
 * waits for so long can work for one rest of slicer_main() before a nearer sample is drawn: 10 ms
 * on the average at most, which is 0.1 %.
 */
#define IDS_COUNT_NS (10 * NSEC_PER_SEC)
/* rest of the slicer's thread, ns, that may be saved up (rest_end()) */
#define REST_SAVED_NS (4 * (s64)NSEC_PER_MSEC)

/* ------------------------------------------ a switch: write lists, find the channels that leave */

/*
 * Writes the list that @r should have. From now on the owner pays for all of the time while vGPUs
 * take turns, else who is seen at work.
 */
static void lists_load(struct machine_runl *r)
{
	const struct machine_slice *owner = r->lists.owner;
	struct machine_slice *sl;

	/* before the chip has the list: it may load channels of it at once */
	vmach_payer_set(r, r->lists.turns ? r->lists.owner : NULL, 0);
	vmach_runlist_merge(r);
	r->lists.switches += !r->lists.shared;
	list_for_each_entry(sl, &r->slices, node)
		if (vmach_list_resident(sl) && sl->found.work)
			r->poll.worked = r->chip->slicer.samples.charged;
	trace_kvgpu_slice(owner ? owner->m->v->id : 0, r->lists.shared, r->sched.nr_runnable,
			  r->sched.slice_end);
}

static void add_loaded(struct machine_runl *r, struct machine_hid hid)
{
	struct machine_switch *sw = &r->sw;
	struct kvgpu_chan *c = vmach_hchan_find(r->chip, hid);
	u32 i;

	for (i = 0; i < sw->nr; i++)
		if (vmach_hid_same(sw->loaded[i].hid, hid))
			return;
	if (c)
		sw->loaded[sw->nr++] = (struct machine_loaded){ c->vgpu->id, hid };
}

static void add_status(struct machine_runl *r, u32 st)
{
	if (st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE | PFIFO_STATUS_CHSW))
		add_loaded(r, vmach_status_hid(st));
	if (st & PFIFO_STATUS_CHSW)
		add_loaded(r, vmach_status_next(st));
}

static struct machine_slice *slice_find(struct machine_runl *r, u32 vgpu)
{
	struct machine_slice *sl;

	list_for_each_entry(sl, &r->slices, node)
		if (sl->m->v->id == vgpu)
			return sl;
	return NULL;
}

/* Takes all lists from @r, and notes in .sw what is loaded, and has to leave. */
static void lists_clear(struct machine_runl *r)
{
	struct machine_switch *sw = &r->sw;
	struct kvgpu_gpu *gpu = r->chip->gpu;
	struct machine_slice *sl;
	u8 p, e;

	sw->waits = true;
	sw->first = sw->began = ktime_get_ns();
	vmach_runlist_merge(r);
	sw->nr = sw->at = 0;
	/*
	 * Engines first: GR keeps the context of a channel while GR is idle, and a PBDMA may have
	 * the next channel already while an engine still has the old one. That one has to leave
	 * before a channel that waits for the engine can.
	 */
	for (e = 0; e < gpu->hw.topo.nr_engines; e++)
		if (vmach_runl_has_engine(r, e))
			add_status(r, kvgpu_hw_engine_status(&gpu->hw, e));
	for (p = 0; p < gpu->hw.topo.nr_pbdma; p++)
		if (vmach_runl_has_pbdma(r, p))
			add_status(r, kvgpu_hw_pbdma_status(&gpu->hw, p));
	sl = sw->nr ? slice_find(r, sw->loaded[0].vgpu) : NULL;
	vmach_payer_set(r, r->samples.payer, sl ? sl->preempts.least : 0);
}

/*
 * Sets what @r should have: the lists of all vGPUs that are not suspended, only that of an
 * owner, or none. True: channels of vGPUs whose list is not resident any more may be loaded, so
 * that .sw waits until all channels have left the chip.
 */
static bool lists_switch(struct machine_runl *r, const struct kvgpu_sched_choice *c)
{
	struct machine_slice *owner =
		c->ent && !c->shared ? container_of(c->ent, struct machine_slice, ent) : NULL;
	struct machine_slice *sl, *was = r->lists.owner;
	bool leave = false;

	if (r->lists.shared == c->shared && was == owner && !r->lists.stale) {
		if (r->lists.turns != c->turns)
			vmach_payer_set(r, c->turns ? owner : NULL, 0);
		r->lists.turns = c->turns;
		return false;
	}
	if (owner && owner != was)
		owner->turn++;
	r->lists.shared = c->shared;
	r->lists.turns = c->turns;
	r->lists.owner = owner;
	r->lists.stale = false;
	list_for_each_entry(sl, &r->slices, node)
		leave |= sl->on_chip && !vmach_list_resident(sl);
	if (leave && !vmach_gpu_lost(r->chip->gpu))
		lists_clear(r);
	else
		lists_load(r);
	return r->sw.waits;
}

/* --------------------------------------------- a switch: drive the loaded channels off the chip */

/* Returns a channel of @l if @l is loaded, and has the same vGPU as when @l was made, or NULL. */
static struct kvgpu_chan *loaded_chan(struct machine_runl *r, const struct machine_loaded *l)
{
	struct kvgpu_chan *c = vmach_hchan_find(r->chip, l->hid);

	return c && c->vgpu->id == l->vgpu && vmach_hid_loaded(r, l->hid) ? c : NULL;
}

/* The present channel or group has left, or is about to be ended: counts and traces the preempt. */
static void eviction_note(struct machine_runl *r)
{
	struct machine_switch *sw = &r->sw;
	const struct machine_loaded *l = &sw->loaded[sw->at];
	struct machine_slice *sl = slice_find(r, l->vgpu);
	u64 took = ktime_get_ns() - sw->began;

	if (!sl)
		return;
	sl->preempts.nr++;
	sl->preempts.ns += took;
	sl->preempts.max = max(sl->preempts.max, took);
	trace_kvgpu_preempt(l->vgpu, l->hid.tsg, l->hid.id, took);
}

/* ------------------------------------------- a pass of the slicer: poll, ask the policy, switch */

/* Tells the policy what the poll at time @now found, and asks which list @r should have. */
static void ask_policy(struct machine_runl *r, u64 now, struct kvgpu_sched_choice *c)
{
	struct machine_slicer *s = &r->chip->slicer;
	struct machine_slice *sl;

	spin_lock(&s->lock);
	list_for_each_entry(sl, &r->slices, node)
		kvgpu_sched_note(&sl->ent, sl->found.work, sl->found.progress);
	kvgpu_sched_polled(&r->sched, now);
	kvgpu_sched_choose(&r->sched, now, c);
	spin_unlock(&s->lock);
}

/*
 * True: the policy or a cap may keep @sl from a part of the GPU's time. The slicer then has to know
 * whether @sl has work even while no vGPU seems to have any.
 */
static bool vgpu_limited(const struct machine_slice *sl)
{
	return READ_ONCE(sl->runl->sched.policy)->keeps ||
	       READ_ONCE(sl->ent.cap) < KVGPU_SCHED_CAP_NONE;
}

/*
 * Returns the mean time between samples, in ns; 0: no samples, because the card has no vGPU. It
 * does not depend on whom the last sample found at work: a vGPU that is sampled sooner after a
 * sample that saw it at work would be charged too little.
 */
static u64 sample_mean(struct kvgpu_chip *chip, u64 now)
{
	bool quiet = true, limited = false, shared = true;
	struct kvgpu_machine *m;
	struct machine_runl *r;
	u32 bound = 0;

	for_each_runl(r, chip) {
		quiet &= now > r->poll.worked + QUIET_NS;
		shared &= r->lists.shared;
	}
	/* an interrupt is masked until a poll; vGPUs alternate on the chip */
	if (vmach_nonstall_poll(chip, now) || !shared)
		return SAMPLE_NS;
	list_for_each_entry(m, &chip->live, node) {
		/*
		 * Skip a vGPU that has no channel ids and had none lately. .list_nr would not do,
		 * because a loaded channel runs on when the guest takes it off its list.
		 * .ids.nr_blocks alone would not do: a guest could give its ids back, have a far
		 * time drawn, and take ids and work before a poll draws a nearer time.
		 */
		if (!READ_ONCE(m->ids.nr_blocks) && now > READ_ONCE(m->ids.given) + IDS_COUNT_NS)
			continue;
		bound++;
		limited |= vgpu_limited(&m->slice[RUNL_GR]); /* as on each runlist */
	}
	if (bound > 1 || limited)
		return quiet ? SAMPLE_QUIET_NS : SAMPLE_NS;
	if (bound)
		return quiet ? SAMPLE_ASLEEP_NS : SAMPLE_ALONE_NS;
	return list_empty(&chip->live) ? 0 : SAMPLE_ASLEEP_NS;
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
 * Draws the time at which the thread's rest ends: a guest must not know it. On average the rest is
 * twice as long as the poll, up to a limit. The end of a turn ends it, too. But if
 * polls take more than a quarter of a turn, the thread first rests for as long as it owes: twice
 * the mean time of a poll, less what it rested more before, REST_SAVED_NS at most. So it works for
 * less than half of the time, and mostly for a third at most. Neither short turns among long ones
 * become longer, nor a turn because one poll was held up.
 */
static u64 rest_end(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;
	u64 mean = min(2 * s->rest.used, REST_MAX_NS), turn = ~0ull, length = 0;
	u64 end = s->rest.from + kvgpu_sched_gap(mean, get_random_u64());
	struct machine_runl *r;

	s->rest.used_mean = s->rest.used_mean - s->rest.used_mean / 8 + s->rest.used / 8;
	s->rest.owed -= (s64)(s->rest.from - s->rest.used - s->rest.before);
	s->rest.owed = clamp_t(s64, s->rest.owed, -REST_SAVED_NS, 0) + 2 * (s64)s->rest.used_mean;
	s->rest.before = s->rest.from;
	spin_lock(&s->lock);
	for_each_runl(r, chip) {
		if (kvgpu_sched_turn_end(&r->sched) >= turn)
			continue;
		turn = kvgpu_sched_turn_end(&r->sched);
		length = r->sched.slice_end - r->sched.turn_start;
	}
	spin_unlock(&s->lock);
	if (turn >= end)
		return end;
	if (s->rest.used_mean > length / 4 && s->rest.owed > 0)
		return max(turn, s->rest.from + (u64)s->rest.owed);
	return turn;
}

/* The chip has the list of @r that the policy asked for. */
static void turn_begin(struct machine_runl *r)
{
	struct machine_slicer *s = &r->chip->slicer;

	if (r->lists.shared)
		return;
	spin_lock(&s->lock);
	/* kvgpu_sched_choose() did not know when the switch would end */
	r->poll.next = kvgpu_sched_started(&r->sched, ktime_get_ns());
	spin_unlock(&s->lock);
}

/* A pass is over: the polls, and a switch unless other lists were polled that made none. */
static void rest_begin(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;

	if (!s->rest.due)
		return;
	s->rest.due = false;
	if (s->rest.flush_due)
		serve_flushes(chip);
	s->rest.flush_due = false;
	s->rest.until = rest_end(chip);
}

/* -------------------------- a switch: wait until the loaded channels have left, one by one */

/* The switch has ended: all channels are off the chip. Writes the list that comes next. */
static void switch_end(struct machine_runl *r)
{
	struct machine_slice *sl;

	vmach_payer_set(r, NULL, 0);
	list_for_each_entry(sl, &r->slices, node)
		WRITE_ONCE(sl->on_chip, false);
	r->sw.waits = false;
	lists_load(r);
	vmach_samples_set(r->chip, r->chip->slicer.samples.charged, SAMPLE_NS);
	turn_begin(r);
	rest_begin(r->chip);
}

static void leave_over(struct kvgpu_chip *chip, struct machine_preempt *p, int ret);

/*
 * While the present channel leaves, the vGPU for which an engine works pays, because the channel
 * may wait for that engine; else the channel's own vGPU.
 */
static void leave_payer_set(struct machine_runl *r)
{
	u32 vgpu[KVGPU_MAX_ENGINE], payer = r->sw.loaded[r->sw.at].vgpu;
	u8 e;

	vmach_engines_name(r, 1, vgpu);
	for (e = r->chip->gpu->hw.topo.nr_engines; e-- > 0;)
		payer = vgpu[e] ?: payer;
	vmach_payer_set(r, slice_find(r, payer), 0);
}

/* Preempts the present channel or group, or ends the switch if there is none. */
static void leave_begin(struct machine_runl *r)
{
	struct machine_switch *sw = &r->sw;
	struct machine_slice *sl;

	if (sw->at == sw->nr) {
		sl = sw->nr ? slice_find(r, sw->loaded[0].vgpu) : NULL;
		if (sl)
			sl->preempts.least =
				min3(ktime_get_ns() - sw->first,
				     sl->preempts.least + sl->preempts.least / 16 + NSEC_PER_USEC,
				     KVGPU_SCHED_SWITCH_MAX);
		switch_end(r);
		return;
	}
	leave_payer_set(r);
	sw->leave = (struct machine_preempt){ .hid = sw->loaded[sw->at].hid, .over = leave_over };
	sw->polled = false;
	vmach_preempt_add(r->chip, &sw->leave);
}

/* The present channel has left, or has had its time (@hangs): then it is ended if it is loaded. */
static void leave_end(struct machine_runl *r, bool hangs)
{
	struct machine_switch *sw = &r->sw;
	struct kvgpu_chan *c = hangs ? loaded_chan(r, &sw->loaded[sw->at]) : NULL;

	eviction_note(r);
	if (c)
		vmach_hang_end(c, sw->leave.hid);
	sw->began = ktime_get_ns();
	sw->at++;
	leave_begin(r);
}

/*
 * A slot of the present channel's preempt is over. When it is late the slicer looks once for a
 * pending interrupt whose message to the CPU may have been lost: the engine may wait until it is
 * handled. When the watchdog's time is over the channel is ended. The time is that of turns at the
 * preempt register, and WAIT_NS of each wait for a slot at most (request.c): the slicer may evict
 * another channel meanwhile, for seconds, and the chip forgets the preempt.
 */
static void leave_over(struct kvgpu_chip *chip, struct machine_preempt *p, int ret)
{
	u64 watchdog = (u64)READ_ONCE(chip->slicer.watchdog_ms) * NSEC_PER_MSEC;
	struct machine_runl *r = container_of(p, struct machine_runl, sw.leave);
	struct machine_switch *sw = &r->sw;
	const struct machine_loaded *l = &sw->loaded[sw->at];

	if (ret != -ETIMEDOUT || vmach_gpu_lost(chip->gpu)) {
		leave_end(r, false);
		return;
	}
	if (!sw->polled && p->ns >= min(watchdog / 2, LATE_NS)) {
		trace_kvgpu_hang(l->vgpu, p->hid.tsg, p->hid.id, false, p->ns);
		kvgpu_hw_intr_poll(&chip->gpu->hw);
		sw->polled = true;
	} else if (sw->polled && p->ns >= watchdog) {
		trace_kvgpu_hang(l->vgpu, p->hid.tsg, p->hid.id, true, p->ns);
		leave_end(r, true);
		return;
	}
	leave_payer_set(r);
	vmach_preempt_add(chip, p);
}

/* ------------------------------------------------------------------ a pass of the slicer */

/*
 * Asks the policy which list @r should have, and begins a switch if the policy says so. Sets .next
 * to the time at which the policy wants to be asked again. True: channels have to leave first.
 */
static bool list_choose(struct machine_runl *r, u64 now)
{
	struct kvgpu_sched_choice c;

	ask_policy(r, now, &c);
	r->poll.next = c.until;
	return lists_switch(r, &c);
}

/* Polls the runlists that are in no switch, and has them get the lists that they should have. */
static void slicer_pass(struct kvgpu_chip *chip)
{
	bool polled[NR_RUNLS], leave[NR_RUNLS], stays = false;
	struct machine_slicer *s = &chip->slicer;
	u64 now = ktime_get_ns();
	struct machine_runl *r;
	u32 i = 0;

	s->rest.from = now;
	s->rest.due = true;
	if (vmach_gpu_lost(chip->gpu)) {
		for_each_runl(r, chip)
			r->poll.next = ~0ull;
		rest_begin(chip);
		return;
	}
	s->rest.flush_due = test_and_clear_bit(SLICER_SAMPLED, &s->kicked);
	for_each_runl(r, chip) {
		polled[i] = !r->sw.waits;
		if (polled[i++])
			vmach_slicer_poll(r, now);
	}
	/* the policy is asked by what was charged up to now */
	write_seqlock(&s->acct_lock);
	vmach_time_settle(chip, now);
	write_sequnlock(&s->acct_lock);
	i = 0;
	for_each_runl(r, chip) {
		leave[i] = polled[i] && list_choose(r, now);
		stays |= polled[i] && !leave[i];
		i++;
	}
	vmach_samples_set(chip, now, sample_mean(chip, now));
	s->rest.from = ktime_get_ns();
	s->rest.used = s->rest.from - now;
	i = 0;
	for_each_runl(r, chip) {
		if (leave[i])
			leave_begin(r);
		else if (polled[i])
			turn_begin(r);
		i++;
	}
	if (stays)
		rest_begin(chip);
}

/*
 * Returns the time at which the policy wants to be asked again, ktime in ns; ~0 while all runlists
 * are in a switch. @kicked: bits SLICER_*.
 */
static u64 next_pass(const struct kvgpu_chip *chip, unsigned long kicked)
{
	const struct machine_runl *r;
	u64 next = ~0ull;

	for_each_runl(r, chip)
		if (!r->sw.waits)
			next = min(next, kicked & BIT(SLICER_POLL) ? 0 : r->poll.next);
	return next == ~0ull ? next : max(next, chip->slicer.rest.until);
}

/* -------------------------------------------- the slicer's thread: main loop, start and stop */

static bool switch_waits(const struct kvgpu_chip *chip)
{
	const struct machine_runl *r;
	bool waits = false;

	for_each_runl(r, chip)
		waits |= r->sw.waits;
	return waits;
}

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
 * (rest_end()). Without rests, guests could keep the thread busy, because they can cause
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
		if (switch_waits(chip) && test_bit(SLICER_SAMPLED, &s->kicked)) {
			vmach_nonstall_poll(chip, ktime_get_ns());
			serve_flushes(chip);
		}
		kicked = READ_ONCE(s->kicked);
		poll = next_pass(chip, kicked);
		if (ktime_get_ns() >= poll) {
			clear_bit(SLICER_POLL, &s->kicked);
			slicer_pass(chip);
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
	struct machine_runl *r;

	spin_lock_init(&s->lock);
	rt_mutex_init(&s->chip_lock);
	spin_lock_init(&s->requests.lock);
	INIT_LIST_HEAD(&s->requests.waiting);
	INIT_LIST_HEAD(&s->preempts);
	seqlock_init(&s->acct_lock);
	s->samples.at = s->samples.mean = ~0ull;
	chip->nr_runls = 1; /* until vmach_slicer_start() */
	for (r = chip->runl; r < chip->runl + NR_RUNLS; r++) {
		r->chip = chip;
		INIT_LIST_HEAD(&r->slices);
		kvgpu_sched_init(&r->sched);
		r->lists.shared = true;
	}
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

	/* hw_chip_probe() has put GR first */
	chip->runl[RUNL_GR].id = gpu->hw.topo.engine[0].runl;
	chip->nr_runls = gpu->hw.copy_runl < 0 ? 1 : 2;
	chip->runl[RUNL_CE].id = gpu->hw.copy_runl;
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
