// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who has work, and who did some. Doorbells do not trap, so this is found out by looking, once a
 * tick.
 *
 * A channel has work when its GP_GET and GP_PUT differ, or the chip says so (channel table:
 * pending, on a PBDMA). The words are the guest's to write, the channel table is not; what the
 * words say is believed only against the guest that wrote them. So: equal words count as "nothing
 * to do" only after the channel table agreed for this GP_PUT; and when only one vGPU seems to have
 * work while others are on the chip too, PBDMAs are asked whose they are. Words can lie by coming
 * round: a ring of two entries, filled twice between two looks, reads as before. So an engine that
 * is busy for a vGPU whose words tell of nothing is its work, as long as that engine names it, and
 * what is left of it when its turn is over.
 *
 * A vGPU was busy when an engine of the runlist was, or a GP_GET moved. Having work without that is
 * waiting: for a semaphore, as far as anybody can tell from outside. (A pushbuffer of nothing but
 * NOPs looks the same, and is treated the same.) Waiting is not charged.
 *
 * Looks come for three reasons: at a random time (sched/gap.c), because the policy wants to know,
 * and because somebody kicks the slicer, which a guest does by submitting a list. Only the first is
 * a *sample*: a guest knows the times of the others, or makes them. Whom engines work for is read
 * at that time itself (mdev/machine/sample.c), whatever keeps the slicer from its look. What a
 * sample sees is charged until the next sample. The others charge what is due until then, and say
 * who has work and who has not.
 *
 * Open, not known of silicon: whether a PBDMA that has run dry goes on naming its last channel.
 * Then an idle channel seems to have work for one more turn, until it was preempted.
 */
#include "mdev/machine/internal.h"

/* charged for work that began and ended between two looks, at most */
#define BRIEF_NS	250000
#define ENGINE_LOOKS	3		/* between two methods an engine is idle for a moment */
/* at channels of one vGPU in one look, two reads of BAR1 each, whatever it lists */
#define MAX_LOOKS	16
/* in which an engine is asked once whom it works for, where that is for statistics only */
#define LOOKS_ALONE	16
/* reads of the channel table for one vGPU; then it has work, whatever comes of it */
#define MAX_ASKS	8

static bool pending(struct kvgpu_gpu *gpu, const struct kvgpu_chan *c)
{
	switch (FIELD_GET(PCCSR_CHAN_STATUS, kvgpu_hw_chan_status(&gpu->hw, c->hchid))) {
	case PCCSR_STATUS_IDLE:
	case PCCSR_STATUS_ON_ENG:	/* its context is still there, nothing more */
		return false;
	default:
		return true;
	}
}

/*
 * @moved: it took entries of its ring since the last look; @asks: how often the channel table may
 * be read
 */
static bool chan_work(struct kvgpu_gpu *gpu, struct kvgpu_chan *c, bool *moved, u32 *asks)
{
	u32 get, put;

	kvgpu_hw_userd_look(&gpu->hw, c->hchid, &get, &put);
	*moved |= c->look.valid && get != c->look.get;
	c->look.get = get;
	c->look.valid = true;
	if (get != put)
		return true;
	if (c->look.idle && put == c->look.idle_put)
		return false;
	if (!*asks)
		return true;
	--*asks;
	c->look.idle = !pending(gpu, c);
	c->look.idle_put = put;
	return !c->look.idle;
}

/*
 * A few channels each time, from where the last look stopped. A vGPU that had work has it until all
 * of its list has been seen
 * without: with no more channels than are looked at in one go, that is known at once.
 */
static bool has_work(struct kvgpu_machine *m, bool *moved)
{
	struct kvgpu_gpu *gpu = m->v->gpu;
	u8 runl = machine_gr_runl(gpu);
	struct machine_slice *sl = &m->slice;
	u32 nr = m->list_nr[runl], n, looks = 0, asks = MAX_ASKS;
	struct kvgpu_chan *c;
	bool any = false;

	for (n = 0; n < nr && looks < MAX_LOOKS && !(any && *moved); n++) {
		u64 e = m->list[runl][sl->look_at++ % nr];

		sl->quiet++;
		if (e & RUNLIST_TSG)
			continue;
		c = gpu->chip->by_hchid[FIELD_GET(RUNLIST_ID, e)];
		if (!c || c->vgpu != m->v || c->dead || !READ_ONCE(c->enabled))
			continue;
		looks++;
		if (!chan_work(gpu, c, moved, &asks))
			continue;
		any = true;
		sl->quiet = 0;
	}
	return any || (sl->work && sl->quiet < nr);
}

/* at a sample what it was at that time */
static u32 engine_status(struct kvgpu_chip *chip, u8 e)
{
	return chip->slicer.sampling ? chip->slicer.sampler.engine[e] :
				       kvgpu_hw_engine_status(&chip->gpu->hw, e);
}

/*
 * an engine works for one that says so. Others are noted in @unsaid, those that are known already
 * are in it
 */
static bool engines_busy(struct kvgpu_chip *chip, u32 *unsaid)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	u8 runl = machine_gr_runl(gpu), e, i;
	struct kvgpu_machine *m;
	u32 st;

	for (i = 0; i < ENGINE_LOOKS; i++)
		/* copy engines first: they are more often */
		for (e = gpu->hw.topo.nr_engines; e-- > 0;) {
			if (gpu->hw.topo.engine[e].runl != runl || *unsaid & BIT(e))
				continue;
			st = engine_status(chip, e);
			if (!(st & PFIFO_STATUS_BUSY))
				continue;
			m = machine_named(chip, st);
			if (!m)
				machine_stranger_seen(chip, e, st);
			if (!m || m->slice.work)
				return true;
			m->slice.works_on = e + 1;
			m->slice.work = true;
			*unsaid |= BIT(e);
		}
	return false;
}

/* whose channel a PBDMA of the runlist has; another one each time */
static struct kvgpu_machine *loaded(struct kvgpu_chip *chip)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	u8 p = chip->slicer.turn++ % gpu->hw.topo.nr_pbdma;

	if (!(gpu->hw.topo.pbdma_runl[p] & BIT(machine_gr_runl(gpu))))
		return NULL;
	return machine_named(chip, kvgpu_hw_pbdma_status(&gpu->hw, p));
}

/* whom an engine of the runlist works for; NULL: nobody, or it is just being switched */
static struct kvgpu_machine *worked_for(struct kvgpu_chip *chip, u8 e)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	struct kvgpu_machine *m;
	u32 st;

	if (gpu->hw.topo.engine[e].runl != machine_gr_runl(gpu))
		return NULL;
	st = engine_status(chip, e);
	if (!(st & PFIFO_STATUS_BUSY))
		return NULL;
	m = machine_named(chip, st);
	if (!m)
		machine_stranger_seen(chip, e, st);
	return m;
}

/*
 * Engines that work for vGPUs whose words tell of nothing. All of the runlist are asked: of what is
 * seen at one look in three a third is paid for. What was on the chip and is not shown now has its
 * work still to do, but for one that took itself off its
 * list: that is over when it is over.
 */
static u32 unsaid_work(struct kvgpu_chip *chip, bool ask)
{
	u8 runl = machine_gr_runl(chip->gpu), e;
	struct kvgpu_machine *m;
	u32 engines = 0;

	list_for_each_entry(m, &chip->live, node) {
		if (!m->slice.works_on)
			continue;
		e = m->slice.works_on - 1;
		if (worked_for(chip, e) == m)
			engines |= BIT(e);
		else if (machine_shown(m) || !m->list_nr[runl])
			m->slice.works_on = 0;
	}
	for (e = 0; ask && e < chip->gpu->hw.topo.nr_engines; e++) {
		m = engines & BIT(e) ? NULL : worked_for(chip, e);
		if (m && !m->slice.work) {
			m->slice.works_on = e + 1;
			engines |= BIT(e);
		}
	}
	list_for_each_entry(m, &chip->live, node)
		m->slice.work |= !!m->slice.works_on;
	return engines;
}

/*
 * whether it matters who has work when nobody seems to: others wait, or it may not have all of the
 * GPU's time
 */
bool machine_limited(const struct kvgpu_chip *chip, const struct kvgpu_machine *m)
{
	return READ_ONCE(chip->slicer.sched.policy) != KVGPU_SCHED_BEST_EFFORT ||
	       READ_ONCE(m->slice.ent.cap) < KVGPU_SCHED_CAP_NONE;
}

/*
 * Who was at work at a sample is charged until the next one, for the time that it is on the chip.
 * That is right on the average, also for a guest that knows of each look, since it does not know of
 * the next sample; and exact for one that works all the time.
 */
static void charge(struct kvgpu_machine *m, bool sample, u64 now)
{
	const struct machine_slicer *s = &m->v->gpu->chip->slicer;
	struct machine_slice *sl = &m->slice;
	u64 ns = sl->busy ? now - s->looked : 0;

	if (sample && !sl->busy && sl->brief)
		ns = min_t(u64, (now - s->sampled) / 4, BRIEF_NS);
	if (ns)
		machine_charge(m, ns, now);
	if (!sample)
		return;
	sl->busy = sl->seen;
	sl->brief = false;
	sl->left_busy &= !machine_shown(m);
}

void machine_look(struct kvgpu_chip *chip, u64 now)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m, *only = NULL;
	u32 working = 0, shown = 0, live = 0, unsaid;
	bool any = false, engine = false, limited = false, ended, sample = machine_sample_taken(s);

	kvgpu_hw_lock_assert_held(&chip->gpu->lock);
	s->sampling = sample;
	list_for_each_entry(m, &chip->live, node) {
		m->slice.moved = false;
		m->slice.work = has_work(m, &m->slice.moved);
		live++;
		if (!machine_shown(m))
			continue;
		shown += !!m->list_nr[machine_gr_runl(chip->gpu)];
		limited |= machine_limited(chip, m);
		working += m->slice.work;
		if (m->slice.work)
			only = m;
	}
	if (s->open && working < shown && shown > 1) {
		m = loaded(chip);
		if (m && !m->slice.work) {
			m->slice.work = true;
			only = m;
			working++;
		}
	}
	unsaid = unsaid_work(chip, (!working || working < shown) &&
					   (live > 1 || limited || !(s->looks++ % LOOKS_ALONE)));
	ended = s->busy && !working;	/* or it has only said so */
	if (ended || (working && !(working == 1 && only->slice.moved)))
		engine = engines_busy(chip, &unsaid);
	s->sampling = false;
	write_seqlock(&s->books);
	list_for_each_entry(m, &chip->live, node) {
		bool shows = machine_shown(m);

		m->slice.seen = false;
		if (m->slice.works_on)
			m->slice.seen = unsaid & BIT(m->slice.works_on - 1);
		else if (shows && m->slice.work)
			m->slice.seen = m->slice.moved || engine;
		m->slice.brief |= shows && m->slice.moved;
		charge(m, sample, now);
		any |= m->slice.busy;
	}
	s->busy_ns += (now - s->looked) / 2 * (any + s->busy);
	s->busy = any;
	if (working || unsaid)
		s->worked = now;
	s->looked = now;
	if (sample) {
		s->sampled = now;
		WRITE_ONCE(s->sample_at, 0);	/* slice.c draws the next */
	}
	write_sequnlock(&s->books);
	if (!sample)
		return;
	/*
	 * a guest sees at once that this was done: if engines were asked afterwards, its work would
	 * be off them by then
	 */
	list_for_each_entry(m, &chip->live, node)
		machine_flush_page(m->v);
}
