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
 * two polls reads as before. So if an engine is seen at work for a vGPU whose words tell of no
 * work, the vGPU counts as having work. Such work is called *unreported*.
 *
 * *At work.* GR is the graphics engine. A poll reads only the engines that are on GR's runlist. A
 * vGPU that has work and whose list is on the chip is at work if a busy engine names the vGPU, or
 * names no vGPU. (Unsaid work has other rules: note_at_work().) If a vGPU has work, but no engine
 * counts for it, its time is not charged here; the policy may charge the time if another vGPU could
 * have run meanwhile (sched/choose.c). If no GP_GET of the vGPU has moved either, the host assumes
 * that the vGPU waits for a semaphore.
 *
 * A GP_GET that has moved tells of *progress*: the policy parks vGPUs that make none
 * (sched/park.c). It is not charged, because it does not tell for how long the chip has worked:
 * after a short job the chip may long be idle.
 *
 * *Usage samples.* A poll at a random time (sched/gap.c) is a *usage sample*; a guest may know or
 * cause the times of the other polls. A separate thread, the sampler (usage.c), reads the engines'
 * status at the random time. If the slicer's poll then comes late, the sampler reads the status
 * again at further random times (*late samples*) until the poll comes. A vGPU that a sample saw at
 * work is charged until the next sample, or until it leaves the chip; meanwhile its slice.busy is
 * set. The other polls do not change which vGPUs are charged.
 *
 * This code runs in the slicer's thread. It never takes vgpu->lock, and only
 * reads the card.
 */
#include "mdev/machine/internal.h"

/*
 * most reads of one engine's status in one poll: between two commands an engine is idle for a
 * moment
 */
#define ENGINE_READS 3
/* most channels of one vGPU whose USERD one poll reads */
#define MAX_POLLED 16
/*
 * While the card has one vGPU, and that is not limited (vmach_vgpu_limited()): of the polls that
 * are no sample and find no work, one in POLLS_ALONE asks all engines for unreported work, for
 * statistics (asks_all()).
 */
#define POLLS_ALONE 16
/* most reads of the channel table for one vGPU in one poll */
#define MAX_ASKS 8

/* Tells whether the channel table says that the channel has work. */
static bool chan_pending(struct kvgpu_gpu *gpu, const struct kvgpu_chan *c)
{
	switch (FIELD_GET(PCCSR_CHAN_STATUS, kvgpu_hw_chan_status(&gpu->hw, c->hchid))) {
	case PCCSR_STATUS_IDLE:
	/* the channel has no work: only its context is still on an engine */
	case PCCSR_STATUS_ON_ENG:
		return false;
	default:
		return true;
	}
}

/*
 * Tells whether channel @c has work. Sets *@moved to true if GP_GET has changed since the last poll
 * at this channel. *@asks: number of reads of the channel table that this poll may still make for
 * the vGPU; counted down here. If a read would be needed and none is left, returns true.
 */
static bool chan_work(struct kvgpu_gpu *gpu, struct kvgpu_chan *c, bool *moved, u32 *asks)
{
	u32 get, put;

	kvgpu_hw_userd_read(&gpu->hw, c->hchid, &get, &put);
	*moved |= c->poll.valid && get != c->poll.get;
	c->poll.get = get;
	c->poll.valid = true;
	if (get != put)
		return true;
	if (c->poll.idle && put == c->poll.idle_put)
		return false;
	if (!*asks)
		return true;
	--*asks;
	c->poll.idle = !chan_pending(gpu, c);
	c->poll.idle_put = put;
	return !c->poll.idle;
}

/*
 * Tells whether @m has work, by the channels of its list. Polls MAX_POLLED channels at most, and
 * begins at the entry at which the last poll stopped. A vGPU that had work counts as having work
 * until its whole list was seen without work. Sets *@moved as chan_work() does.
 */
static bool list_has_work(struct kvgpu_machine *m, bool *moved)
{
	struct kvgpu_gpu *gpu = m->v->gpu;
	u8 runl = vmach_gr_runl_get(gpu);
	struct machine_slice *sl = &m->slice;
	u32 nr = m->list_nr[runl], n, polled = 0, asks = MAX_ASKS;
	struct kvgpu_chan *c;
	bool any = false;

	for (n = 0; n < nr && polled < MAX_POLLED && !(any && *moved); n++) {
		u64 e = m->list[runl][sl->scan_at++ % nr];

		sl->quiet++;
		if (e & RUNLIST_TSG)
			continue;
		c = gpu->chip->by_hchid[FIELD_GET(RUNLIST_ID, e)];
		if (!c || c->vgpu != m->v || c->dead || !READ_ONCE(c->enabled))
			continue;
		polled++;
		if (!chan_work(gpu, c, moved, &asks))
			continue;
		any = true;
		sl->quiet = 0;
	}
	return any || (sl->work && sl->quiet < nr);
}

/* Returns the status of engine @e: in a sample the status that the sampler has read. */
static u32 engine_status(struct kvgpu_chip *chip, u8 e)
{
	return chip->slicer.sampling ? chip->slicer.sampler.first.engine[e] :
				       kvgpu_hw_engine_status(&chip->gpu->hw, e);
}

/*
 * Returns the vGPU that @st, from engine_status(), names. NULL: none. In a sample it is the vGPU
 * that had the channel when the sample was taken: the guest may have unbound the channel since.
 */
static struct kvgpu_machine *named_vgpu(struct kvgpu_chip *chip, u8 e, u32 st)
{
	return chip->slicer.sampling ? vmach_vgpu_find(chip, chip->slicer.sampler.first.vgpu[e]) :
				       vmach_status_owner(chip, st);
}

/*
 * Notes that engine @e, with status @st, works. Returns the vGPU for which @e works. NULL: @st
 * names no vGPU. If the vGPU was not known to have work, this work is unreported: notes that the
 * vGPU has work, and adds @e to the bits of @unreported.
 */
static struct kvgpu_machine *note_engine(struct kvgpu_chip *chip, u8 e, u32 st, u32 *unreported)
{
	struct kvgpu_machine *m = named_vgpu(chip, e, st);

	if (!m) {
		vmach_orphan_note(chip, e, st);
	} else if (!m->slice.work) {
		m->slice.works_on = e + 1;
		m->slice.work = m->slice.unreported = true;
		*unreported |= BIT(e);
	} else {
		m->slice.named = true;
	}
	return m;
}

/*
 * Reads the status of the runlist's engines, except of those in @unreported, and notes what it says
 * (note_engine()). Reads it again, a few times, until an engine works for a vGPU that was known to
 * have work, or works and names no vGPU. Returns true if an engine works and names no vGPU.
 */
static bool engines_read(struct kvgpu_chip *chip, u32 *unreported)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	u8 runl = vmach_gr_runl_get(gpu), e, i;
	struct kvgpu_machine *m;
	bool any = false, unnamed = false;
	u32 st;

	for (i = 0; i < ENGINE_READS && !any; i++)
		/* begin with the last engines: copy engines, whose work is mostly short */
		for (e = gpu->hw.topo.nr_engines; e-- > 0;) {
			if (gpu->hw.topo.engine[e].runl != runl || *unreported & BIT(e))
				continue;
			st = engine_status(chip, e);
			if (!(st & PFIFO_STATUS_BUSY))
				continue;
			m = note_engine(chip, e, st, unreported);
			unnamed |= !m;
			any |= !m || m->slice.named;
		}
	return unnamed;
}

/* Returns the vGPU whose channel a PBDMA has. Each call asks the next PBDMA. NULL: none. */
static struct kvgpu_machine *pbdma_owner(struct kvgpu_chip *chip)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	u8 p = chip->slicer.turn++ % gpu->hw.topo.nr_pbdma;

	if (!(gpu->hw.topo.pbdma_runl[p] & BIT(vmach_gr_runl_get(gpu))))
		return NULL;
	return vmach_status_owner(chip, kvgpu_hw_pbdma_status(&gpu->hw, p));
}

/* Returns the vGPU for which engine @e works. NULL: none. */
static struct kvgpu_machine *engine_owner(struct kvgpu_chip *chip, u8 e)
{
	struct kvgpu_gpu *gpu = chip->gpu;
	struct kvgpu_machine *m;
	u32 st;

	if (gpu->hw.topo.engine[e].runl != vmach_gr_runl_get(gpu))
		return NULL;
	st = engine_status(chip, e);
	if (!(st & PFIFO_STATUS_BUSY))
		return NULL;
	m = named_vgpu(chip, e, st);
	if (!m)
		vmach_orphan_note(chip, e, st);
	return m;
}

/*
 * Finds unreported work: engines that work for vGPUs whose USERD words (GP_GET, GP_PUT) told of no
 * work. Returns these engines, a bit for each, and notes that these vGPUs have work. Asks the
 * engines that vGPUs have in slice.works_on, which is the engine that did their last unreported
 * work; with @ask, asks all engines of the runlist.
 *
 * A vGPU counts as having work while its .works_on is set. .works_on is cleared when its engine
 * does not work for the vGPU, and either
 * - the vGPU's list is empty, or
 * - the vGPU's list is on the chip, and the engine works for no vGPU.
 *
 * So .works_on stays while a vGPU with a list is off the chip, because the rest of its work is
 * still to be done, and while the engine works for another vGPU.
 */
static u32 unreported_work(struct kvgpu_chip *chip, bool ask)
{
	u8 runl = vmach_gr_runl_get(chip->gpu), e;
	struct kvgpu_machine *m, *owner;
	u32 engines = 0;

	list_for_each_entry(m, &chip->live, node) {
		if (!m->slice.works_on)
			continue;
		e = m->slice.works_on - 1;
		owner = engine_owner(chip, e);
		m->slice.unreported = owner == m;
		if (m->slice.unreported)
			engines |= BIT(e);
		else if ((vmach_list_resident(m) && !owner) || !m->list_nr[runl])
			m->slice.works_on = 0;
	}
	for (e = 0; ask && e < chip->gpu->hw.topo.nr_engines; e++) {
		m = engines & BIT(e) ? NULL : engine_owner(chip, e);
		if (m && !m->slice.work) {
			m->slice.works_on = e + 1;
			m->slice.unreported = true;
			engines |= BIT(e);
		}
	}
	list_for_each_entry(m, &chip->live, node)
		m->slice.work |= !!m->slice.works_on;
	return engines;
}

/*
 * True: the policy or a cap may keep @m from a part of the GPU's time. The slicer then has to know
 * whether @m has work even while no vGPU seems to have any.
 */
bool vmach_vgpu_limited(const struct kvgpu_chip *chip, const struct kvgpu_machine *m)
{
	return READ_ONCE(chip->slicer.sched.policy) != KVGPU_SCHED_BEST_EFFORT ||
	       READ_ONCE(m->slice.ent.cap) < KVGPU_SCHED_CAP_NONE;
}

/*
 * Tells whether late sample @p saw @m at work: an engine worked for @m, or an engine worked and
 * named no vGPU, while the first sample found @m at work (.at_work).
 */
static bool late_at_work(struct kvgpu_machine *m, const struct machine_usage_sample *p)
{
	u8 e;

	for (e = 0; e < m->v->gpu->hw.topo.nr_engines; e++) {
		if (!(p->engine[e] & PFIFO_STATUS_BUSY))
			continue;
		if (p->vgpu[e] ? p->vgpu[e] == m->v->id : m->slice.at_work)
			return true;
	}
	return false;
}

/*
 * Returns the time from @from to @to, ns, without waits that are charged already (slice.left_out).
 * Several waits since the last poll count as one long wait from the beginning of the first.
 */
static u64 time_between(const struct kvgpu_machine *m, u64 from, u64 to)
{
	u64 begin = max(from, m->slice.left_from);
	u64 end = min(to, m->slice.left_from + m->slice.left_out);

	return to - from - (end > begin ? end - begin : 0);
}

/*
 * Returns the ns for which @m pays, of the time from slicer->polled to @now. Call it in a sample.
 * @late: number of late samples. *@busy: whether @m was .busy up to this sample; set to whether @m
 * is .busy from @now on.
 *
 * The times of the samples divide the time into parts, and @m pays for the parts at whose beginning
 * it was at work. Samples in slice.void_samples do not count for @m.
 */
static u64 sampled_time(struct kvgpu_machine *m, u32 late, u64 now, bool *busy)
{
	const struct machine_slicer *s = &m->v->gpu->chip->slicer;
	const struct machine_usage_sample *p = &s->sampler.first;
	u64 from = s->polled, ns = 0, at;
	bool works = *busy;
	u32 i;

	for (i = 0; i <= late; p = &s->sampler.late[i++]) {
		if (m->slice.void_samples & BIT_ULL(i))
			continue;
		at = clamp(p->at, from, now);
		ns += works ? time_between(m, from, at) : 0;
		from = at;
		works = i ? late_at_work(m, p) : m->slice.at_work;
	}
	*busy = works;
	return ns + (works ? time_between(m, from, now) : 0);
}

/*
 * Charges @m for the time since slicer->polled. If this poll is a @sample, also notes whether @m is
 * .busy (charged) from now on. @late: number of late samples. slicer->acct_lock is held for
 * writing.
 */
static void poll_charge(struct kvgpu_machine *m, bool sample, u32 late, u64 now)
{
	const struct machine_slicer *s = &m->v->gpu->chip->slicer;
	struct machine_slice *sl = &m->slice;
	u64 ns;

	sl->waited = 0;
	if (sample)
		ns = sampled_time(m, late, now, &sl->busy);
	else
		ns = sl->busy ? time_between(m, s->polled, now) : 0;
	if (ns)
		vmach_time_charge(m, ns, now);
	sl->left_out = sl->void_samples = 0;
	if (sample)
		sl->left_busy &= !vmach_list_resident(m);
}

/*
 * Notes in .at_work whether @m is at work, and in .progress whether it makes progress. @unnamed: a
 * busy engine names no vGPU. @m is at work
 * - if an engine does unreported work for it, whether or not the list of @m is on the chip; or
 * - if its list is on the chip, it has work, and a busy engine names it or names no vGPU: so a vGPU
 *   that waits for a semaphore does not pay for the work of another.
 * @m makes progress if it is at work, or if its list is on the chip, it has work, and a GP_GET has
 * moved.
 */
static void note_at_work(struct kvgpu_machine *m, bool unnamed)
{
	bool works = vmach_list_resident(m) && m->slice.work;

	m->slice.at_work = m->slice.unreported || (works && (m->slice.named || unnamed));
	m->slice.progress = m->slice.at_work || (works && m->slice.moved);
}

/*
 * Tells whether a poll asks all engines for unreported work. A sample always asks, because the
 * sampler has read all engines already. So a sample also finds the work of a loaded channel that
 * the guest has taken off its list. Another poll asks only if @idle, and without @contended only
 * once in POLLS_ALONE times. @idle: a resident vGPU (vmach_list_resident()) with a list seems to
 * have no work, or no resident vGPU seems to have work. @contended: a resident vGPU is limited
 * (vmach_vgpu_limited()), or there are several vGPUs.
 */
static bool asks_all(struct machine_slicer *s, bool sample, bool idle, bool contended)
{
	return sample || (idle && (contended || !(s->polls++ % POLLS_ALONE)));
}

bool vmach_slicer_poll(struct kvgpu_chip *chip, u64 now)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m, *only = NULL;
	u32 working = 0, resident = 0, live = 0, unreported, late = vmach_late_samples_count(s);
	bool any = false, unnamed = false, limited = false, ended, idle;
	bool sample = vmach_samples_name(chip);

	vmach_slicer_assert(chip->gpu);
	s->sampling = sample;
	list_for_each_entry(m, &chip->live, node) {
		m->slice.moved = m->slice.named = m->slice.unreported = false;
		m->slice.work = list_has_work(m, &m->slice.moved);
		live++;
		if (!vmach_list_resident(m))
			continue;
		resident += !!m->list_nr[vmach_gr_runl_get(chip->gpu)];
		limited |= vmach_vgpu_limited(chip, m);
		working += m->slice.work;
		if (m->slice.work)
			only = m;
	}
	if (s->shared && working < resident && resident > 1) {
		m = pbdma_owner(chip);
		if (m && !m->slice.work) {
			m->slice.work = true;
			only = m;
			working++;
		}
	}
	idle = !working || working < resident;
	unreported = unreported_work(chip, asks_all(s, sample, idle, live > 1 || limited));
	/*
	 * a vGPU was .busy, and now no vGPU on the chip seems to have work: USERD words may be
	 * wrong
	 */
	ended = s->busy && !working;
	/* outside samples only .progress counts, and .moved is enough for it */
	if (ended || (working && (sample || !(working == 1 && only->slice.moved))))
		unnamed = engines_read(chip, &unreported);
	s->sampling = false;
	write_seqlock(&s->acct_lock);
	list_for_each_entry(m, &chip->live, node) {
		note_at_work(m, unnamed);
		poll_charge(m, sample, late, now);
		any |= m->slice.busy;
	}
	s->busy_ns += (now - s->polled) / 2 * (any + s->busy);
	s->busy = any;
	if (working || unreported)
		s->worked = now;
	s->polled = now;
	if (sample)
		WRITE_ONCE(s->sample_at, 0); /* slice.c draws the time of the next sample */
	write_sequnlock(&s->acct_lock);
	return sample;
}
