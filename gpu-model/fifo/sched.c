// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading channels when their turn begins and ends, runlists that software submits,
 * and preempts. Runs under gk110.lock, on the thread that changed something or a PBDMA's.
 */
#include <errno.h>
#include <stdlib.h>

#include "fifo.h"

/* ------------------------------------------------------------------ turns */

/* Save the context that GR has of a channel, now or by the keeper. */
static void gr_evict(struct pbdma *p, struct feng *gr)
{
	gr->evict = true;
	if (!engine_evict(p->g->fifo, gr, (int)p->idx))
		wake_post(&p->g->fifo->keeper_wake);
}

static bool load(struct pbdma *p, unsigned int chid, unsigned int runlist,
		 const struct rl_group *grp)
{
	struct fifo *f = p->g->fifo;
	struct fchan *fc = &f->chan[chid];
	bool tsg = grp->tsg;
	int id = tsg ? grp->id : -1, r;
	struct feng *gr = gr_engine_of(f);

	r = ramfc_load(p, fc, gr);
	if (r == -EBUSY)
		gr_evict(p, gr);
	if (r)
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
	unsigned int chid;
	struct rl_group *grp = sched_pick(p, runlist, &chid);

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
	struct feng *gr = gr_engine_of(p->g->fifo);

	p->preempt = false;
	if (!gr || !gr->on || (gr->on != fc && (fc->c.tsg < 0 || gr->on->c.tsg != fc->c.tsg)))
		return;
	gr_evict(p, gr);
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
	unsigned int chid, runlist = p->runlist;
	struct rl_group *grp = sched_pick_member(p, &chid);

	if (!grp)
		return false;
	sched_unload(p, more);
	if (p->g->fifo->tsg_pbdma[grp->id] >= 0 || !load(p, chid, runlist, grp))
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
