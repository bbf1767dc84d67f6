// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who has work, and who did some. Doorbells do not trap, so this is found out by looking, once a tick.
 *
 * A channel has work when its GP_GET and GP_PUT differ, or the chip says so (channel table: pending, on a PBDMA). The words
 * are the guest's to write, the channel table is not; what the words say is believed only against the guest that wrote
 * them. So: equal words count as "nothing to do" only after the channel table agreed for this GP_PUT; and when only one
 * vGPU seems to have work while others are on the chip too, PBDMAs are asked whose they are. Words can lie by coming round: a ring
 * of two entries, filled twice between two looks, reads as before. So an engine that is busy for a vGPU whose words tell of
 * nothing is its work, as long as that engine names it, and what is left of it when its turn is over.
 *
 * A vGPU was busy when an engine of the runlist was, or a GP_GET moved. Having work without that is waiting: for a
 * semaphore, as far as anybody can tell from outside. (A pushbuffer of nothing but NOPs looks the same, and is treated the
 * same.) Waiting is not charged. Time between two looks counts full if it was busy at both, half if at one.
 *
 * Open, not known of silicon: whether a PBDMA that has run dry goes on naming its last channel. Then an idle channel
 * seems to have work for one more turn, until it was preempted.
 */
#include "mdev/machine.h"

#define BRIEF_NS	250000		/* charged for work that began and ended between two looks, at most */
#define ENGINE_LOOKS	3		/* between two methods an engine is idle for a moment */
#define MAX_LOOKS	16		/* at channels of one vGPU in one look, two reads of BAR1 each, whatever it lists */
#define LOOKS_ALONE	16		/* in which an engine is asked once whom it works for, where that is for statistics only */
#define MAX_ASKS	8		/* reads of the channel table for one vGPU; then it has work, whatever comes of it */

u8 machine_gr_runl(const struct kvgpu_gpu *gpu)
{
	return gpu->hw.topo.engine[0].runl;	/* GR is the first: hw_chip_probe() */
}

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

/* @moved: it took entries of its ring since the last look; @asks: how often the channel table may be read */
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
 * A few channels each time, from where the last look stopped. A vGPU that had work has it until all of its list has been seen
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

/* @but: engines that are known to work for one whose words do not say so */
static bool engines_busy(struct kvgpu_gpu *gpu, u32 but)
{
	u8 runl = machine_gr_runl(gpu), e, i;

	for (i = 0; i < ENGINE_LOOKS; i++)
		for (e = gpu->hw.topo.nr_engines; e-- > 0;)	/* copy engines first: they are more often */
			if (gpu->hw.topo.engine[e].runl == runl && !(but & BIT(e)) &&
			    kvgpu_hw_engine_status(&gpu->hw, e) & PFIFO_STATUS_BUSY)
				return true;
	return false;
}

/* whose channel or group that status of a PBDMA or an engine names */
static struct kvgpu_machine *named(struct kvgpu_chip *chip, u32 st)
{
	u8 runl = machine_gr_runl(chip->gpu);
	struct kvgpu_machine *m;
	u32 i;

	if (!(st & PFIFO_STATUS_VALID))
		return NULL;
	list_for_each_entry(m, &chip->live, node)
		for (i = 0; i < m->list_nr[runl]; i++)
			if (FIELD_GET(RUNLIST_ID, m->list[runl][i]) == FIELD_GET(PFIFO_STATUS_ID, st) &&
			    !(m->list[runl][i] & RUNLIST_TSG) == !(st & PFIFO_STATUS_TSG))
				return m;
	return NULL;
}

/* whose channel a PBDMA of the runlist has; another one each time */
static struct kvgpu_machine *loaded(struct kvgpu_chip *chip)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	u8 p = chip->slicer.turn++ % gpu->hw.topo.nr_pbdma;

	if (!(gpu->hw.topo.pbdma_runl[p] & BIT(machine_gr_runl(gpu))))
		return NULL;
	return named(chip, kvgpu_hw_pbdma_status(&gpu->hw, p));
}

/* whom an engine of the runlist works for; NULL: nobody, or it is just being switched */
static struct kvgpu_machine *worked_for(struct kvgpu_chip *chip, u8 e)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	u32 st;

	if (gpu->hw.topo.engine[e].runl != machine_gr_runl(gpu))
		return NULL;
	st = kvgpu_hw_engine_status(&gpu->hw, e);
	return st & PFIFO_STATUS_BUSY ? named(chip, st) : NULL;
}

/*
 * Engines that work for vGPUs whose words tell of nothing. Known ones are asked again, and one more each time. One that is off the
 * chip has its work still to do. Returns the engines.
 */
static u32 unsaid_work(struct kvgpu_chip *chip, bool ask)
{
	struct kvgpu_machine *m;
	u32 engines = 0;
	u8 e;

	list_for_each_entry(m, &chip->live, node) {
		if (!m->list_nr[machine_gr_runl(chip->gpu)] ||
		    (m->slice.works_on && machine_shown(m) && worked_for(chip, m->slice.works_on - 1) != m))
			m->slice.works_on = 0;
		if (m->slice.works_on && machine_shown(m))
			engines |= BIT(m->slice.works_on - 1);
	}
	if (ask) {
		e = chip->slicer.asked++ % chip->gpu->hw.topo.nr_engines;
		m = engines & BIT(e) ? NULL : worked_for(chip, e);
		if (m && machine_shown(m) && !m->slice.work) {
			m->slice.works_on = e + 1;
			engines |= BIT(e);
		}
	}
	list_for_each_entry(m, &chip->live, node)
		m->slice.work |= !!m->slice.works_on;
	return engines;
}

/* whether it matters who has work when nobody seems to: others wait, or it may not have all of the GPU's time */
static bool is_limited(const struct kvgpu_chip *chip, const struct kvgpu_machine *m)
{
	return READ_ONCE(chip->slicer.sched.policy) != KVGPU_SCHED_BEST_EFFORT || READ_ONCE(m->slice.ent.cap) < KVGPU_SCHED_CAP_NONE;
}

static void charge(struct kvgpu_machine *m, bool busy, bool moved, u64 since, u64 now)
{
	u64 ns = (now - since) / 2 * (busy + m->slice.busy);

	if (!ns && moved)
		ns = min_t(u64, (now - since) / 4, BRIEF_NS);
	if (ns)
		machine_charge(m, ns, now);
	m->slice.busy = busy;
}

void machine_look(struct kvgpu_chip *chip, u64 now)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m, *only = NULL;
	u32 working = 0, shown = 0, listed = 0, unsaid;
	bool any = false, engine = false, limited = false;

	lockdep_assert_held(&chip->gpu->lock);
	list_for_each_entry(m, &chip->live, node) {
		machine_flush_page(m->v);
		m->slice.moved = false;
		m->slice.work = has_work(m, &m->slice.moved);
		listed += !!m->list_nr[machine_gr_runl(chip->gpu)];
		if (!machine_shown(m))
			continue;
		shown += !!m->list_nr[machine_gr_runl(chip->gpu)];
		limited |= is_limited(chip, m);
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
	unsaid = unsaid_work(chip, working < shown && (listed > 1 || limited || !(s->looks++ % LOOKS_ALONE)));
	if (working && !(working == 1 && only->slice.moved))
		engine = engines_busy(chip->gpu, unsaid);
	write_seqlock(&s->books);
	list_for_each_entry(m, &chip->live, node) {
		bool shows = machine_shown(m), busy = false;

		if (shows && m->slice.work)
			busy = m->slice.moved || m->slice.works_on || engine;
		charge(m, busy, shows && m->slice.moved, s->looked, now);
		any |= busy;
	}
	s->busy_ns += (now - s->looked) / 2 * (any + s->busy);
	s->busy = any;
	if (working || unsaid)
		s->worked = now;
	s->looked = now;
	write_sequnlock(&s->books);
}
