// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time slices: one thread per card that looks (look.c), asks the policy (sched/) and gives the chip
 * to whom it names.
 *
 * Two states. *Open*: the lists of all vGPUs are on the chip together; nobody competes, so nothing
 * is switched and whoever wakes starts at once. *Owned*: the chip has one vGPU's list, or none. A
 * vGPU that is off the chip keeps its list here; what its guest submits, blocks or preempts is
 * answered from that (runlist.c).
 *
 * A switch: the new list is submitted, so that nothing of the old one is loaded any more; then what
 * is still loaded is preempted. The order (gk110-mediation.md 5.1 has: block, preempt, submit,
 * allow) saves two register writes, and the chip goes on without waiting for us; between the two a
 * second PBDMA of the same runlist may already serve the next owner.
 *
 * The preempt is waited for without any lock but the preempt register's, and that is given up every
 * PREEMPT_TURN_MS. One that does not end: sched/hang.c says when to look for an interrupt nobody
 * served and when to end the channel.
 *
 * A vGPU that has the chip and only waits for semaphores is *parked*: for a while it does not take
 * part, so that the chip is not idle for its sake. While somebody is parked and another one works
 * the chip is not open: the parked one could take half of it unseen.
 */
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* from sample to sample, on the average */
#define TICK_NS		NSEC_PER_MSEC
/* several vGPUs or one with a cap, and nothing was done for QUIET_NS: the chip is open */
#define TICK_QUIET_NS	(4 * NSEC_PER_MSEC)
#define TICK_ALONE_NS	(10 * NSEC_PER_MSEC)	/* one vGPU: only gpu_time_ns depends on it */
/* the same, and nothing was done for QUIET_NS; or no channels at all */
#define TICK_ASLEEP_NS	(50 * NSEC_PER_MSEC)
#define QUIET_NS	NSEC_PER_SEC
#define REST_MAX_NS	(10 * NSEC_PER_MSEC)
/* who takes longer to leave was at work, whatever was seen */
#define LATE_NS			(5 * NSEC_PER_MSEC)
#define IDLE_LOOKS	2			/* before one that does not get on is parked */
#define PARK_MIN_MS	2
#define PARK_MAX_MS	32
#define MAX_LOADED	(2 * (KVGPU_MAX_PBDMA + KVGPU_MAX_ENGINE))
#define WATCHDOG_MS	2000
#define SWITCH_TIMEOUT_EXTRA_MS	1000	/* the chip's own alarm comes after the watchdog */

#define SEEN_MAX	8

/* what the chip still has of those that must leave */
struct loaded {
	u32 vgpu;
	u16 id;
	bool tsg;
};

/*
 * Whom engines worked for while one of these was on its way off the chip. No sample comes then, so
 * it is seen and charged here.
 */
struct seen {
	struct kvgpu_gpu *gpu;
	/* one for each channel or group, and at how many looks */
	struct { u32 status, looks; } at[SEEN_MAX];
	u32 nr, looks;
};

/* ------------------------------------------------------------------ whose it is */

static struct kvgpu_machine *find_machine(struct kvgpu_chip *chip, u32 vgpu)
{
	struct kvgpu_machine *m;

	list_for_each_entry(m, &chip->live, node)
		if (m->v->id == vgpu)
			return m;
	return NULL;
}

/* the machine of a channel or group of the chip; NULL: the host's, or nobody's any more */
static struct kvgpu_machine *machine_of(struct kvgpu_chip *chip, bool tsg, u16 id,
					struct kvgpu_chan **chan)
{
	struct kvgpu_chan *c = !tsg && id < KVGPU_MAX_CHAN ? chip->by_hchid[id] : NULL;
	u32 i;

	for (i = 0; tsg && !c && i < KVGPU_MAX_CHAN; i++)
		if (chip->by_hchid[i] && chip->by_hchid[i]->htsg == id)
			c = chip->by_hchid[i];
	if (chan)
		*chan = c;
	return c ? c->vgpu->m : NULL;
}

/* ------------------------------------------------------------------ a switch: who has to leave */

static void add_foreign(struct kvgpu_chip *chip, struct loaded *out, u32 *nr, bool tsg, u16 id)
{
	struct kvgpu_machine *m = machine_of(chip, tsg, id, NULL);
	u32 i;

	if (!m || machine_shown(m) || *nr == MAX_LOADED)
		return;
	for (i = 0; i < *nr; i++)
		if (out[i].id == id && out[i].tsg == tsg)
			return;
	out[(*nr)++] = (struct loaded){ .vgpu = m->v->id, .id = id, .tsg = tsg };
}

static void add_status(struct kvgpu_chip *chip, u32 st, struct loaded *out, u32 *nr)
{
	if (!(st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE | PFIFO_STATUS_CHSW)))
		return;
	add_foreign(chip, out, nr, st & PFIFO_STATUS_TSG, FIELD_GET(PFIFO_STATUS_ID, st));
	if (st & PFIFO_STATUS_CHSW)
		add_foreign(chip, out, nr, st & PFIFO_STATUS_NEXT_TSG,
			    FIELD_GET(PFIFO_STATUS_NEXT_ID, st));
}

/* the list was submitted before: what is not loaded now will not be */
static u32 find_loaded(struct kvgpu_chip *chip, struct loaded *out)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	u8 p, e, runl = machine_gr_runl(gpu);
	u32 nr = 0;

	for (p = 0; p < gpu->hw.topo.nr_pbdma; p++)
		if (gpu->hw.topo.pbdma_runl[p] & BIT(runl))
			add_status(chip, kvgpu_hw_pbdma_status(&gpu->hw, p), out, &nr);
	/*
	 * GR keeps a context while it is idle, and a PBDMA may have gone on to the next channel
	 * before an engine has
	 */
	for (e = 0; e < gpu->hw.topo.nr_engines; e++)
		if (gpu->hw.topo.engine[e].runl == runl)
			add_status(chip, kvgpu_hw_engine_status(&gpu->hw, e), out, &nr);
	return nr;
}

/*
 * It has the chip from now on, and goes on as it left: what a sample saw holds until the next
 * sample that finds it on the chip. Nothing is assumed of one that was not seen at work: the time
 * until a sample sees it is made up for by the time after it stopped. books held
 */
static void comes_back(struct kvgpu_machine *m)
{
	struct machine_slice *sl = &m->slice;

	sl->busy |= sl->left_busy;
	sl->left_busy = false;
	sl->idle_looks = 0;
	m->v->gpu->chip->slicer.busy |= sl->busy;
}

/* who waited for the chip has it from now on; not who, being @owner, had it before */
static void opened(struct kvgpu_chip *chip, const struct kvgpu_machine *owner)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;

	write_seqlock(&s->books);
	if (!owner || !owner->slice.busy)
		s->looked = ktime_get_ns();	/* nobody is to be charged for the switch */
	list_for_each_entry(m, &chip->live, node) {
		if (m == owner || !machine_shown(m))
			continue;
		comes_back(m);
		if (m->slice.work)
			s->worked = s->looked;
	}
	write_sequnlock(&s->books);
}

/* true: some may have to leave */
static bool show(struct kvgpu_chip *chip, bool open, struct kvgpu_machine *owner)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m, *was;
	bool leave = false, opens;

	if (s->open == open && s->owner == owner && !s->stale)
		return false;
	if (owner && owner != s->owner)
		owner->slice.turn++;
	was = s->owner;
	opens = open && !s->open;
	s->open = open;
	s->owner = owner;
	s->stale = false;
	list_for_each_entry(m, &chip->live, node) {
		if (machine_shown(m))
			WRITE_ONCE(m->slice.on_chip, true);
		else
			leave |= m->slice.on_chip;
	}
	if (machine_runlist_merge(chip->gpu, machine_gr_runl(chip->gpu)))
		machine_wedge(chip->gpu, "a runlist was not taken");
	if (opens) {
		opened(chip, was);
	} else if (owner && owner != was && !leave) {
		write_seqlock(&s->books);
		comes_back(owner);
		write_sequnlock(&s->books);
	}
	s->switches += !open;
	trace_kvgpu_slice(owner ? owner->v->id : 0, open, s->sched.nr_runnable, s->sched.slice_end);
	return leave && !chip->wedged;
}

/* --------------------------------------------------------------- a switch: until they have left */

static bool still_loaded(struct kvgpu_chip *chip, const struct loaded *l)
{
	struct loaded now[MAX_LOADED];
	u32 nr = find_loaded(chip, now), i;

	for (i = 0; i < nr; i++)
		if (now[i].id == l->id && now[i].tsg == l->tsg)
			return true;
	return machine_on_engine(chip->gpu, l->tsg, l->id);
}

/* the channel is ended, its engine reset if need be; the others' contexts are in memory */
static void recover(struct kvgpu_chip *chip, const struct loaded *l)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	struct kvgpu_machine *m;
	u64 strikes, began;
	struct kvgpu_chan *c;
	u8 e;

	kvgpu_hw_lock(&gpu->lock);
	m = machine_of(chip, l->tsg, l->id, &c);
	if (m && m->v->id == l->vgpu && still_loaded(chip, l)) {
		strikes = m->slice.strikes.total;
		c = machine_live_member(chip, c);
		vgpu_note_fault(m->v, "does not give up the GPU, channel ended", c->gchid.v, 0, 0);
		kvgpu_hw_lock(&chip->event_lock);
		for (e = 0; e < gpu->hw.topo.nr_engines; e++)
			if (machine_engine_has(gpu, e, l->tsg, l->id))
				c->fault.engine = e;
		kvgpu_hw_unlock(&chip->event_lock);
		if (c->dead) {	/* it, or all of its group, and is loaded again all the same */
			began = ktime_get_ns();
			machine_evict(gpu, c->hrunl, l->tsg, l->id, PREEMPT_EVICT_MS);
			machine_waited(m, true, false, began);
		} else {
			machine_isolate(gpu, c, EVENT_SCHED);
		}
		if (m->slice.strikes.total == strikes)
			machine_strike(m, "watchdog");
	}
	kvgpu_hw_unlock(&gpu->lock);
}

/* without a lock; of channels that have gone meanwhile, too */
static void see_engines(void *arg)
{
	const u32 named = PFIFO_STATUS_TSG | PFIFO_STATUS_ID;
	struct seen *w = arg;
	u8 runl = machine_gr_runl(w->gpu), e;
	u32 st, i;

	w->looks++;
	for (e = 0; e < w->gpu->hw.topo.nr_engines; e++) {
		st = w->gpu->hw.topo.engine[e].runl == runl ?
			     kvgpu_hw_engine_status(&w->gpu->hw, e) :
			     0;
		if (!(st & PFIFO_STATUS_BUSY) || !(st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE)))
			continue;
		for (i = 0; i < w->nr && (w->at[i].status ^ st) & named; i++)
			;
		if (i == SEEN_MAX)
			continue;
		if (i == w->nr) {
			w->at[i].status = st;
			w->at[i].looks = 0;
			w->nr++;
		}
		w->at[i].looks++;
	}
}

/* at how many looks an engine worked for @m */
static u32 looks_at(const struct seen *w, const struct kvgpu_machine *m)
{
	u32 i, looks = 0;

	for (i = 0; i < w->nr; i++)
		if (machine_named(w->gpu->chip, w->at[i].status) == m)
			looks += w->at[i].looks;
	return min(looks, w->looks);
}

/* the same of what is driven off: its channel may have gone meanwhile */
static bool was_seen(const struct seen *w, const struct loaded *l)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (FIELD_GET(PFIFO_STATUS_ID, w->at[i].status) == l->id &&
		    !!(w->at[i].status & PFIFO_STATUS_TSG) == l->tsg)
			return true;
	return false;
}

/*
 * returns when its own time was over: it left then, or what recovery took from then on is in the
 * books already
 */
static u64 drive_off(struct kvgpu_chip *chip, const struct loaded *l, struct seen *w)
{
	struct machine_slicer *s = &chip->slicer;
	enum kvgpu_hang_step step;
	struct kvgpu_hang h;
	u64 next, at;

	kvgpu_hang_begin(&h, ktime_get_ns());
	while (kvgpu_hw_preempt_watched(&chip->gpu->hw, l->tsg, l->id, PREEMPT_TURN_MS, see_engines,
					w) == -ETIMEDOUT &&
	       !READ_ONCE(chip->wedged)) {
		step = kvgpu_hang_step(&h, (u64)READ_ONCE(s->watchdog_ms) * NSEC_PER_MSEC,
				       ktime_get_ns(), &next);
		if (step != KVGPU_HANG_WAIT)
			trace_kvgpu_hang(l->vgpu, l->tsg, l->id, step == KVGPU_HANG_RECOVER,
					 ktime_get_ns() - h.since);
		if (step == KVGPU_HANG_LOOK)
			kvgpu_hw_intr_look(&chip->gpu->hw);
		if (step == KVGPU_HANG_RECOVER) {
			at = ktime_get_ns();
			recover(chip, l);
			return at;
		}
	}
	return ktime_get_ns();
}

/* the time from @began on is the leaving one's, if it worked; from now on it does not */
static void charge_left(struct kvgpu_machine *m, u64 began, u64 now)
{
	if (m->slice.busy) {
		machine_charge(m, now - began, now);
		m->v->gpu->chip->slicer.busy_ns += now - began;
	}
	m->slice.left_busy |= m->slice.busy;
	m->slice.busy = false;
}

/*
 * What engines were seen at while something was driven off, whatever samples saw before: a piece
 * that begins just before its turn is over keeps the others waiting like any other. All of the time
 * is charged to the vGPU that is driven off. Every other vGPU pays for its part of the looks, also
 * the one whose turn it is: its work goes on beside.
 */
static void charge_seen(struct kvgpu_chip *chip, const struct loaded *l, const struct seen *w,
			u64 began, u64 now)
{
	struct kvgpu_machine *m;
	u32 looks;

	list_for_each_entry(m, &chip->live, node) {
		looks = m->v->id == l->vgpu ? 0 : looks_at(w, m);
		if (looks)
			machine_charge(m, div_u64((now - began) * looks, w->looks), now);
	}
}

static void note_left(struct kvgpu_chip *chip, const struct loaded *l, const struct seen *w,
		      u64 began, u64 now)
{
	struct kvgpu_machine *m = find_machine(chip, l->vgpu);
	bool sampled;

	write_seqlock(&chip->slicer.books);
	charge_seen(chip, l, w, began, ktime_get_ns());
	if (m) {
		m->slice.busy |= now - began > LATE_NS;	/* who has nothing to do leaves at once */
		sampled = m->slice.left_busy || m->slice.busy;
		m->slice.busy |= was_seen(w, l) || looks_at(w, m);
		charge_left(m, began, now);
		m->slice.left_busy = sampled;	/* what was only seen here is over */
	}
	write_sequnlock(&chip->slicer.books);
	if (!m)
		return;
	m->slice.preempts++;
	m->slice.preempt_ns += now - began;
	m->slice.preempt_max = max(m->slice.preempt_max, now - began);
	trace_kvgpu_preempt(l->vgpu, l->tsg, l->id, now - began);
}

/*
 * no lock held; at most the watchdog and a recovery for each. What the switch takes from @began on
 * is the leaving ones'
 */
static void leave(struct kvgpu_chip *chip, const struct loaded *l, u32 nr, u64 began)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;
	struct seen seen;
	u64 now;
	u32 i;

	for (i = 0; i < nr; i++) {
		seen = (struct seen){ .gpu = chip->gpu };
		see_engines(&seen);
		now = drive_off(chip, &l[i], &seen);
		kvgpu_hw_lock(&chip->gpu->lock);
		see_engines(&seen);
		note_left(chip, &l[i], &seen, began, now);
		kvgpu_hw_unlock(&chip->gpu->lock);
		began = ktime_get_ns();
	}
	kvgpu_hw_lock(&chip->gpu->lock);
	now = ktime_get_ns();
	write_seqlock(&s->books);
	list_for_each_entry(m, &chip->live, node) {
		if (machine_shown(m))
			continue;
		/* who left as soon as the new list was there had to be asked for nothing */
		charge_left(m, began, now);
		WRITE_ONCE(m->slice.on_chip, false);
	}
	s->busy = false;
	if (s->owner)
		comes_back(s->owner);
	s->looked = now;
	write_sequnlock(&s->books);
	kvgpu_hw_unlock(&chip->gpu->lock);
}

/* ------------------------------------------------------------------ a decision */

/*
 * one that held the chip without using it stays away for a while; the policy makes it pay for the
 * time
 */
static void park(struct kvgpu_machine *m, u32 others, u64 now)
{
	struct machine_slice *sl = &m->slice;

	if (sl->seen) {
		sl->idle_looks = 0;
		sl->park_ms = 0;
		sl->parked = false;
		return;
	}
	if (sl->parked)
		sl->parked = now < sl->parked_until;
	if (m->v->gpu->chip->slicer.owner != m || !sl->work || !others ||
	    ++sl->idle_looks < IDLE_LOOKS)
		return;
	sl->idle_looks = 0;
	sl->park_ms = clamp_t(u32, sl->park_ms * 2, PARK_MIN_MS, PARK_MAX_MS);
	sl->parked_until = now + (u64)sl->park_ms * NSEC_PER_MSEC;
	sl->parked = true;
}

/* returns how many are parked */
static u32 tell_policy(struct kvgpu_chip *chip, u64 now)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;
	u32 working = 0, parked = 0;

	list_for_each_entry(m, &chip->live, node)
		working += m->slice.work && !m->slice.parked;
	list_for_each_entry(m, &chip->live, node) {
		park(m, working - (working && m->slice.work && !m->slice.parked), now);
		parked += m->slice.parked && m->slice.work;
		spin_lock(&s->lock);
		kvgpu_sched_set_runnable(&s->sched, &m->slice.ent,
					 m->slice.work && !m->slice.parked, now);
		spin_unlock(&s->lock);
	}
	return parked;
}

/* how far apart samples are to be, on the average; 0: nothing is looked at until somebody kicks */
static u64 tick(struct kvgpu_chip *chip, u64 now)
{
	struct machine_slicer *s = &chip->slicer;
	bool limited = false, quiet = now > s->worked + QUIET_NS;
	struct kvgpu_machine *m;
	u32 listed = 0;

	list_for_each_entry(m, &chip->live, node) {
		if (!m->list_nr[machine_gr_runl(chip->gpu)])
			continue;
		listed++;
		limited |= machine_limited(chip, m);
	}
	if (machine_nonstall_look(chip, now) || !s->open)
		return TICK_NS;
	/*
	 * not by what is seen at this very look: who is at work would be looked at more often, and
	 * be charged for less each time
	 */
	if (listed > 1 || limited)
		return quiet ? TICK_QUIET_NS : TICK_NS;
	if (listed)
		return quiet ? TICK_ASLEEP_NS : TICK_ALONE_NS;
	return list_empty(&chip->live) ? 0 : TICK_ASLEEP_NS;	/* a guest may ask for a flush */
}

/*
 * When the next sample is. No guest knows (sched/gap.c), though some know when the last one was:
 * what they ask for in the page of flushes is done then. Looks for other reasons leave its time as
 * it is; it is drawn again only where samples are to be closer.
 */
static void next_sample(struct machine_slicer *s, u64 now, u64 mean)
{
	u64 at = mean ? now + kvgpu_sched_gap(mean, get_random_u64()) : ~0ull;

	if (!s->sample_at || (mean && mean < s->sample_mean)) {
		WRITE_ONCE(s->sample_at, s->sample_at ? min(s->sample_at, at) : at);
		s->sample_mean = mean ?: ~0ull;
		machine_sampler_kick(s);
	}
	s->planned = s->sample_at != ~0ull;
}

/* looks, decides, switches; returns when to do it again, unless a sample comes before */
static u64 turn(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;
	struct loaded loaded[MAX_LOADED];
	struct kvgpu_sched_choice c;
	struct kvgpu_machine *m;
	u32 parked, nr = 0;
	u64 now;
	bool left;

	kvgpu_hw_lock(&chip->gpu->lock);
	if (chip->wedged) {
		kvgpu_hw_unlock(&chip->gpu->lock);
		return ~0ull;
	}
	now = ktime_get_ns();
	if (!s->planned)
		s->looked = now;	/* it slept because there was nothing to look at */
	machine_look(chip, now);
	machine_strangers(chip, now);
	parked = tell_policy(chip, now);
	spin_lock(&s->lock);
	kvgpu_sched_choose(&s->sched, now, &c);
	spin_unlock(&s->lock);
	m = c.ent ? container_of(c.ent, struct kvgpu_machine, slice.ent) : NULL;
	if (c.open && (!parked || !m))
		left = show(chip, true, NULL);
	else
		left = show(chip, false, m);
	if (left)
		nr = find_loaded(chip, loaded);
	next_sample(s, now, tick(chip, now));
	s->used = ktime_get_ns() - now;
	kvgpu_hw_unlock(&chip->gpu->lock);
	if (left) {
		leave(chip, loaded, nr, now);
		now = ktime_get_ns();
		/* what was read while it left is no sample: leave() saw whose that time was */
		WRITE_ONCE(s->sample_at, 0);
		next_sample(s, now, TICK_NS);
	}
	if (c.open)
		return c.until;
	spin_lock(&s->lock);
	/* later than choose() thought, if somebody had to leave */
	c.until = kvgpu_sched_started(&s->sched, now);
	spin_unlock(&s->lock);
	return c.until;
}

/* ------------------------------------------------------------------ the thread */

/* whoever kicks it meanwhile */
static void rest(u64 until)
{
	ktime_t at = ns_to_ktime(until);

	while (ktime_get_ns() < until && !kthread_should_stop()) {
		set_current_state(TASK_IDLE);
		schedule_hrtimeout_range(&at, 0, HRTIMER_MODE_ABS);
	}
}

/*
 * This thread has a real-time priority, and gpu->lock while it looks: it leaves both to others for
 * twice as long as it looked, on the average. Guests can cause any number of kicks. A sample that
 * is due meanwhile is taken at the end of the rest, which nobody knows either.
 */
static int slicer_main(void *arg)
{
	struct kvgpu_chip *chip = arg;
	struct machine_slicer *s = &chip->slicer;
	u64 next, rested;
	ktime_t at;

	while (!kthread_should_stop()) {
		clear_bit(0, &s->kicked);
		next = turn(chip);
		rested = ktime_get_ns() +
			 kvgpu_sched_gap(min_t(u64, 2 * s->used, REST_MAX_NS), get_random_u64());
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop() && !test_bit(0, &s->kicked)) {
			at = ns_to_ktime(max(next, rested));
			if (next == ~0ull)
				schedule();
			else
				/* no slack, in which a guest could kick */
				schedule_hrtimeout_range(&at, 0, HRTIMER_MODE_ABS);
		}
		__set_current_state(TASK_RUNNING);
		rest(rested);
	}
	return 0;
}

void machine_slicer_init(struct kvgpu_chip *chip)
{
	struct machine_slicer *s = &chip->slicer;

	spin_lock_init(&s->lock);
	seqlock_init(&s->books);
	kvgpu_sched_init(&s->sched);
	s->open = true;
}

void machine_watchdog_set(struct kvgpu_gpu *gpu, unsigned int ms)
{
	WRITE_ONCE(gpu->chip->slicer.watchdog_ms, ms);
	kvgpu_hw_switch_timeout(&gpu->hw, ms + SWITCH_TIMEOUT_EXTRA_MS);
}

int machine_slicer_start(struct kvgpu_gpu *gpu)
{
	struct task_struct *t;

	int ret;

	machine_watchdog_set(gpu, WATCHDOG_MS);
	ret = machine_sampler_start(gpu->chip);
	if (ret)
		return ret;
	t = kthread_create(slicer_main, gpu->chip, "kvgpu/%s", pci_name(gpu->hw.pdev));
	if (IS_ERR(t)) {
		machine_sampler_stop(gpu->chip);
		return PTR_ERR(t);
	}
	sched_set_fifo_low(t);
	WRITE_ONCE(gpu->chip->slicer.thread, t);
	wake_up_process(t);
	return 0;
}

/* no vGPU is left that could kick it */
void machine_slicer_stop(struct kvgpu_gpu *gpu)
{
	struct task_struct *t = gpu->chip->slicer.thread;

	machine_sampler_stop(gpu->chip);
	if (!t)
		return;
	kthread_stop(t);
	gpu->chip->slicer.thread = NULL;
}

void machine_slice_add(struct kvgpu_machine *m)
{
	struct kvgpu_vgpu *v = m->v;
	struct machine_slicer *s = &v->gpu->chip->slicer;
	const struct kvgpu_hw *hw = &v->gpu->hw;

	kvgpu_hw_lock_assert_held(&v->gpu->lock);
	m->slice.on_chip = true;	/* says no more than that it has to be asked */
	m->slice.ent.weight = KVGPU_SCHED_WEIGHT_DEFAULT;
	m->slice.ent.cap = KVGPU_SCHED_CAP_NONE;
	m->slice.ent.fixed_ppm =
		mul_u64_u64_div_u64(KVGPU_SCHED_PPM, v->part_size, hw->part_end - hw->part_first);
	spin_lock(&s->lock);
	kvgpu_sched_add(&s->sched, &m->slice.ent, ktime_get_ns());
	spin_unlock(&s->lock);
	machine_slicer_kick(v->gpu);
}

/* off chip->live already */
void machine_slice_remove(struct kvgpu_machine *m)
{
	struct kvgpu_gpu *gpu = m->v->gpu;
	struct machine_slicer *s = &gpu->chip->slicer;

	kvgpu_hw_lock_assert_held(&gpu->lock);
	spin_lock(&s->lock);
	kvgpu_sched_remove(&s->sched, &m->slice.ent, ktime_get_ns());
	spin_unlock(&s->lock);
	if (s->owner == m)
		s->owner = NULL;
	s->stale = true;
	if (machine_runlist_merge(gpu, machine_gr_runl(gpu)))
		machine_wedge(gpu, "a runlist was not taken");
	machine_slicer_kick(gpu);
}
