// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler. It runs under gk110.lock, on the thread that changed something, a PBDMA's or the
 * keeper; fifo_kick() and sched_wake_all() also run without the lock.
 *
 * Order: the groups of a runlist take turns in list order, over all PBDMAs that serve the runlist;
 * a PBDMA that serves several runlists takes turns among them. The end of a slice ends the turn if
 * another channel waits.
 *
 * A loaded channel that is blocked, disabled or removed from the list runs on until its turn ends
 * (open: the chip's documents only promise that it is not loaded again). A preempt ends the turn.
 */
#include <stdlib.h>

#include "fifo.h"

#define BACKOFF_MIN_NS 20000ull
#define BACKOFF_MAX_NS 1000000ull
/* thousands of waiting channels must not keep a CPU busy */
#define BACKOFF_PER_CHAN_NS 10000ull

/* ------------------------------------------------------------------ who may run */

struct question {
	struct gk110 *g;
	struct fifo *f;
	struct feng *gr;
	unsigned int runlist;
	uint64_t now, retry;
};

static bool group_free(void *ctx, const struct rl_group *grp)
{
	struct question *q = ctx;

	return !grp->tsg || q->f->tsg_pbdma[grp->id] < 0;
}

/*
 * The channel's semaphore is read after kicks and from time to time, without loading the channel
 * (as the chip's ACQ_PRETEST does).
 */
static bool acquire_due(struct question *q, struct fchan *fc)
{
	unsigned int kicks = atomic_load(&q->f->kicks);

	if (!fc->acq_wait)
		return true;
	if (fc->acq_kick != kicks || q->now >= fc->acq_retry) {
		fc->acq_kick = kicks;
		if (semaphore_pretest(q->g, &q->f->inject, fc))
			return true;
		chan_acq_wait(q->f, fc, true);
	}
	if (fc->acq_retry < q->retry)
		q->retry = fc->acq_retry;
	return false;
}

static bool chan_ready(void *ctx, unsigned int chid)
{
	struct question *q = ctx;
	struct fchan *fc = &q->f->chan[chid];

	if (!fc->pending || fc->pbdma >= 0 || !fc->bound || !fc->enabled ||
	    fc->c.runlist != q->runlist)
		return false;
	if (q->gr && q->gr->on == fc &&
	    (q->gr->evict || q->gr->faulted || q->gr->stuck || q->gr->switching))
		return false;
	return acquire_due(q, fc);
}

static struct rl_ask asking(struct question *q, struct pbdma *p, unsigned int runlist)
{
	*q = (struct question){ .g = p->g,
				.f = p->g->fifo,
				.gr = gr_engine_of(p->g->fifo),
				.runlist = runlist,
				.now = mono_ns(),
				.retry = WAKE_NEVER };
	return (struct rl_ask){ .group_free = group_free, .chan_ready = chan_ready, .ctx = q };
}

bool sched_allowed(struct fifo *f, unsigned int runlist)
{
	struct gk110 *g = f->pbdma[0].g;

	return !((reg_get(g, PFIFO_RUNLIST_BLOCK) | f->error) & 1u << runlist);
}

bool sched_wanted(const struct fchan *fc)
{
	return fc->bound && fc->enabled && (fc->listed & 1u << fc->c.runlist);
}

static bool runnable(struct pbdma *p, uint64_t *retry)
{
	struct fifo *f = p->g->fifo;
	struct question q;
	struct rl_ask ask;
	unsigned int r;

	for (r = 0; r < p->g->nr_runlists; r++) {
		if (!(p->runlists & 1u << r) || !sched_allowed(f, r))
			continue;
		ask = asking(&q, p, r);
		if (rl_any(&f->rl[r], &ask))
			return true;
		if (retry && q.retry < *retry)
			*retry = q.retry;
	}
	return false;
}

bool sched_others(struct pbdma *p)
{
	return runnable(p, NULL);
}

bool sched_contended(struct pbdma *p)
{
	return !sched_wanted(p->fc) || !sched_allowed(p->g->fifo, p->runlist) || sched_others(p);
}

static struct rl_group *own_group(struct pbdma *p)
{
	return p->tsg ? rl_find_tsg(&p->g->fifo->rl[p->runlist], (unsigned int)p->fc->c.tsg) : NULL;
}

bool sched_member_waits(struct pbdma *p)
{
	struct rl_group *grp = own_group(p);
	struct question q;
	struct rl_ask ask = asking(&q, p, p->runlist);
	unsigned int m;

	if (!grp || !sched_allowed(p->g->fifo, p->runlist))
		return false;
	for (m = 0; m < grp->count; m++)
		if (chan_ready(ask.ctx, p->g->fifo->rl[p->runlist].chan[grp->first + m]))
			return true;
	return false;
}

/* ------------------------------------------------------------------ waking */

void sched_wake_all(struct fifo *f)
{
	unsigned int i;

	for (i = 0; i < GK110_MAX_PBDMA; i++)
		if (f->pbdma[i].runlists)
			wake_post(&f->pbdma[i].wake);
}

/*
 * Wake one PBDMA of the runlist that has no channel, and those whose channel waits in an acquire.
 * If each has a channel, the keeper watches slices.
 */
void sched_wake_runlist(struct gk110 *g, unsigned int runlist)
{
	struct fifo *f = g->fifo;
	bool found = false;
	unsigned int i;

	for (i = 0; i < g->nr_pbdma; i++) {
		struct pbdma *p = &f->pbdma[i];

		if (!(p->runlists & 1u << runlist))
			continue;
		if (p->fc ? p->state == PB_ACQUIRE : !found)
			wake_post(&p->wake);
		found |= !p->fc;
	}
	if (!found)
		wake_post(&f->keeper_wake);
}

void fifo_kick(struct gk110 *g)
{
	struct fifo *f = g->fifo;

	atomic_fetch_add(&f->kicks, 1);
	if (atomic_load(&f->acq_sleepers))
		sched_wake_all(f);
}

void chan_acq_wait(struct fifo *f, struct fchan *fc, bool on)
{
	uint64_t max = BACKOFF_MAX_NS;

	if (on != fc->acq_wait) {
		f->nr_acq_wait += on ? 1 : -1;
		atomic_fetch_add(&f->acq_sleepers, on ? 1 : -1);
		fc->acq_wait = on;
	}
	if (!on) {
		fc->acq_backoff = 0;
		return;
	}
	if (f->nr_acq_wait > BACKOFF_MAX_NS / BACKOFF_PER_CHAN_NS)
		max = f->nr_acq_wait * BACKOFF_PER_CHAN_NS;
	fc->acq_backoff = fc->acq_backoff ? 2 * fc->acq_backoff : BACKOFF_MIN_NS;
	if (fc->acq_backoff > max)
		fc->acq_backoff = max;
	fc->acq_retry = mono_ns() + fc->acq_backoff;
}

/* ------------------------------------------------------------------ turns */

static uint64_t ramfc_slice(uint32_t word)
{
	if (!(word & RAMFC_TIMESLICE_ENABLE))
		return 0;
	return rl_slice_ns(FIELD_GET(RAMFC_TIMESLICE_TIMEOUT, word),
			   FIELD_GET(RAMFC_TIMESLICE_SCALE, word));
}

static uint64_t slice_from(uint64_t now, uint64_t ns)
{
	return ns ? now + ns : WAKE_NEVER;
}

void sched_slice_start(struct pbdma *p, bool group)
{
	uint64_t now = mono_ns();

	if (!p->tsg)
		p->slice_ns = ramfc_slice(W(p, RAMFC_TIMESLICE));
	if (group)
		p->slice_end = slice_from(now, p->slice_ns);
	p->member_end = p->tsg ? slice_from(now, ramfc_slice(W(p, RAMFC_PB_TIMESLICE))) :
				 WAKE_NEVER;
	p->run_end = p->slice_end < p->member_end ? p->slice_end : p->member_end;
}

static bool load(struct pbdma *p, unsigned int chid, unsigned int runlist,
		 const struct rl_group *grp)
{
	struct fifo *f = p->g->fifo;
	struct fchan *fc = &f->chan[chid];
	bool tsg = grp->tsg;
	int id = tsg ? grp->id : -1;

	if (!ramfc_load(p, fc))
		return false;
	p->fc = fc;
	p->tsg = tsg;
	p->runlist = runlist;
	fc->pbdma = (int8_t)p->idx;
	fc->c.tsg = id;
	if (tsg)
		f->tsg_pbdma[id] = (int8_t)p->idx;
	fc->pending = false;
	p->doorbell = p->preempt = p->engine_reset = p->halt_holds = p->interrupted = false;
	p->state = PB_RUN;
	p->held = 0;
	exec_forget(p);
	ramfc_sync(p);
	p->fault_clears = f->fault_clears[runlist];
	stat_inc(p->g, chan_switches);
	return true;
}

static bool load_from(struct pbdma *p, unsigned int runlist)
{
	struct fifo *f = p->g->fifo;
	struct question q;
	struct rl_ask ask = asking(&q, p, runlist);
	struct rl_group *grp;
	unsigned int chid;

	grp = rl_pick(&f->rl[runlist], &ask, &chid);
	if (q.retry < p->acq_retry)
		p->acq_retry = q.retry;
	if (!grp)
		return false;
	p->slice_ns = grp->slice_ns;
	if (load(p, chid, runlist, grp)) {
		sched_slice_start(p, true);
		if (sched_others(p))
			sched_wake_runlist(p->g, runlist);
		return true;
	}
	wake_post(&p->wake);
	return false;
}

bool sched_load(struct pbdma *p)
{
	struct gk110 *g = p->g;
	uint64_t began = mono_ns(), took;
	unsigned int i, r;

	p->acq_retry = WAKE_NEVER;
	for (i = 0; i < g->nr_runlists; i++) {
		r = (p->next_runlist + i) % g->nr_runlists;
		if (!(p->runlists & 1u << r) || !sched_allowed(g->fifo, r))
			continue;
		if (load_from(p, r)) {
			p->next_runlist = (r + 1) % g->nr_runlists;
			return true;
		}
	}
	/* looking took time: rest as long, as doorbells need the lock, too */
	took = mono_ns() - began;
	if (p->acq_retry < began + 2 * took)
		p->acq_retry = began + 2 * took;
	return false;
}

static void forget(struct pbdma *p, bool more)
{
	struct fifo *f = p->g->fifo;
	struct fchan *fc = p->fc;

	if (p->state == PB_ACQUIRE)
		atomic_fetch_sub(&f->acq_sleepers, 1);
	engine_release_all(p);
	fc->pending |= more || p->doorbell;
	fc->pbdma = -1;
	if (p->tsg)
		f->tsg_pbdma[fc->c.tsg] = -1;
	p->fc = NULL;
	p->state = PB_RUN;
	p->doorbell = p->engine_reset = p->halt_holds = false;
	reg_set(p->g, p->regs + PBDMA_CHANNEL, 0);
}

void sched_drop(struct pbdma *p)
{
	forget(p, false);
	p->preempt = p->drop = false;
}

static void preempted(struct pbdma *p, struct fchan *fc)
{
	struct fifo *f = p->g->fifo;
	struct feng *gr = gr_engine_of(f);

	p->preempt = false;
	if (!gr || !gr->on || (gr->on != fc && (fc->c.tsg < 0 || gr->on->c.tsg != fc->c.tsg)))
		return;
	gr->evict = true;
	if (!engine_evict(f, gr, (int)p->idx))
		wake_post(&f->keeper_wake);
}

void sched_unload(struct pbdma *p, bool more)
{
	struct fchan *fc = p->fc;

	userd_write_back(p);
	ramfc_sync(p);
	ramfc_save(p);
	forget(p, more);
	if (fc->pending)
		sched_wake_runlist(p->g, fc->c.runlist);
	if (p->preempt)
		preempted(p, fc);
}

bool sched_next_member(struct pbdma *p, bool more)
{
	struct fifo *f = p->g->fifo;
	struct rl_group *grp = own_group(p);
	unsigned int chid, runlist = p->runlist;
	struct question q;
	struct rl_ask ask = asking(&q, p, runlist);

	if (!grp || p->preempt || mono_ns() >= p->slice_end || !sched_allowed(f, runlist) ||
	    !rl_pick_member(&f->rl[runlist], grp, &ask, &chid))
		return false;
	sched_unload(p, more);
	if (f->tsg_pbdma[grp->id] >= 0 || !load(p, chid, runlist, grp))
		return false;
	sched_slice_start(p, false);
	return true;
}

/* ------------------------------------------------------------------ runlists */

static void check_entry(struct gk110 *g, unsigned int r, unsigned int chid)
{
	const struct fchan *fc = &g->fifo->chan[chid];

	if (!fc->bound)
		fifo_error(g, PFIFO_INTR_SCHED_ERROR, PFIFO_SCHED_ERROR, PFIFO_SCHED_INACTIVE_CHAN);
	else if (fc->c.runlist != r)
		fifo_error(g, PFIFO_INTR_SCHED_ERROR, PFIFO_SCHED_ERROR, PFIFO_SCHED_ENG_MISMATCH);
}

static void list_changed(struct gk110 *g, unsigned int r)
{
	struct fifo *f = g->fifo;
	unsigned int i;

	for (i = 0; i < GK110_MAX_CHAN; i++)
		f->chan[i].listed &= ~(1u << r);
	for (i = 0; i < f->rl[r].nr_chans; i++) {
		f->chan[f->rl[r].chan[i]].listed |= 1u << r;
		check_entry(g, r, f->rl[r].chan[i]);
	}
}

/* Software may reuse the list's memory as soon as the pending bit reads 0. */
void sched_submit(struct gk110 *g)
{
	uint32_t base = reg_get(g, PFIFO_RUNLIST_BASE), submit = reg_get(g, PFIFO_RUNLIST_SUBMIT);
	unsigned int r = FIELD_GET(PFIFO_RUNLIST_ID, submit),
		     nr = FIELD_GET(PFIFO_RUNLIST_COUNT, submit);
	uint64_t addr = (uint64_t)FIELD_GET(PFIFO_RUNLIST_ADDR, base) << 12;
	uint32_t *words;

	if (r >= g->nr_runlists) {
		gk110_note(g, "runlist %u was submitted, there are %u", r, g->nr_runlists);
		return;
	}
	words = malloc((size_t)nr * RUNLIST_ENTRY_SIZE + 1);
	if (!words || !mem_read(g, (enum mem_target)FIELD_GET(PFIFO_RUNLIST_TARGET, base), addr,
				words, (size_t)nr * RUNLIST_ENTRY_SIZE)) {
		gk110_note(g, "runlist %u: %u entries at 0x%010llx can't be read", r, nr,
			   (unsigned long long)addr);
		nr = 0;
	}
	if (rl_parse(&g->fifo->rl[r], words, nr))
		gk110_note(g, "runlist %u: no memory for %u entries", r, nr);
	free(words);
	if (g->fifo->rl[r].malformed)
		gk110_note(g, "runlist %u: %u malformed entries", r, g->fifo->rl[r].malformed);
	list_changed(g, r);
	stat_inc(g, runlist_updates);
	reg_set(g, PFIFO_ENG_RUNLIST_BASE(r), base);
	reg_set(g, PFIFO_ENG_RUNLIST(r), nr);
	reg_set(g, PFIFO_RUNLIST_EVENT, reg_get(g, PFIFO_RUNLIST_EVENT) | 1u << r);
	fifo_intr_update(g);
	fault_check(g);
	sched_wake_runlist(g, r);
}

/* ------------------------------------------------------------------ preempt */

bool chan_matches(const struct fchan *fc, uint32_t preempt)
{
	unsigned int id = FIELD_GET(PFIFO_PREEMPT_ID, preempt);

	if (preempt & PFIFO_PREEMPT_TSG)
		return fc->c.tsg == (int)id;
	return fc->c.id == id;
}

bool sched_preempt_pending(struct fifo *f)
{
	unsigned int i;

	for (i = 0; i < GK110_MAX_PBDMA; i++)
		if (f->pbdma[i].preempt && f->pbdma[i].fc)
			return true;
	for (i = 0; i < GK110_MAX_ENGINE; i++)
		if (f->eng[i].evict)
			return true;
	return false;
}

void sched_preempt(struct gk110 *g, uint32_t val)
{
	struct fifo *f = g->fifo;
	unsigned int i;

	f->preempt = val;
	stat_inc(g, preempts);
	if (!(val & PFIFO_PREEMPT_TSG))
		chan_acq_wait(f, &f->chan[FIELD_GET(PFIFO_PREEMPT_ID, val)], false);
	for (i = 0; i < g->nr_pbdma; i++) {
		struct pbdma *p = &f->pbdma[i];

		if (!p->fc || !chan_matches(p->fc, val))
			continue;
		p->preempt = true;
		atomic_store(&p->fc->c.stop, true);
		wake_post(&p->wake);
	}
	for (i = 0; i < g->nr_engines; i++) {
		struct feng *e = &f->eng[i];

		if (e->e->ops->save && e->on && chan_matches(e->on, val))
			e->evict = true;
	}
	fault_check(g);
	wake_post(&f->keeper_wake);
}
