// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose turn it is, and how long it lasts. Runs under gk110.lock, on a PBDMA's thread or the
 * keeper's; chan_acq_wait() also on the others.
 *
 * Order: the groups of a runlist take turns in list order, over all PBDMAs that serve the runlist;
 * a PBDMA that serves several runlists takes turns among them. The end of a slice ends the turn if
 * another channel waits.
 *
 * A loaded channel that is blocked, disabled or removed from the list runs on until its turn ends
 * (open: the chip's documents only promise that it is not loaded again). A preempt ends the turn.
 */
#include "fifo.h"

#define BACKOFF_MIN_NS 20000ull
#define BACKOFF_MAX_NS 1000000ull
/* thousands of waiting channels must not keep a CPU busy */
#define BACKOFF_PER_CHAN_NS 10000ull

/* ------------------------------------------------------------------ waiting acquires */

void pbdma_set_state(struct pbdma *p, enum pbdma_state s)
{
	if ((p->state == PB_ACQUIRE) != (s == PB_ACQUIRE))
		atomic_fetch_add(&p->g->fifo->acq_sleepers, s == PB_ACQUIRE ? 1 : -1);
	p->state = s;
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

bool sched_others(struct pbdma *p)
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
	}
	return false;
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

struct rl_group *sched_pick(struct pbdma *p, unsigned int runlist, unsigned int *chid)
{
	struct question q;
	struct rl_ask ask = asking(&q, p, runlist);
	struct rl_group *grp = rl_pick(&p->g->fifo->rl[runlist], &ask, chid);

	if (q.retry < p->acq_retry)
		p->acq_retry = q.retry;
	return grp;
}

struct rl_group *sched_pick_member(struct pbdma *p, unsigned int *chid)
{
	struct fifo *f = p->g->fifo;
	struct rl_group *grp = own_group(p);
	struct question q;
	struct rl_ask ask = asking(&q, p, p->runlist);

	if (!grp || p->preempt || mono_ns() >= p->slice_end || !sched_allowed(f, p->runlist) ||
	    !rl_pick_member(&f->rl[p->runlist], grp, &ask, chid))
		return NULL;
	return grp;
}

/* ------------------------------------------------------------------ slices */

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

bool sched_turn_goes_on(struct pbdma *p)
{
	uint64_t now = mono_ns();
	bool group = now >= p->slice_end;

	if (now < p->run_end)
		return true;
	if (group ? sched_contended(p) : sched_member_waits(p))
		return false;
	sched_slice_start(p, group);
	return true;
}
