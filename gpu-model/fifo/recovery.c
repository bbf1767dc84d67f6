// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels after faults, and the keeper: a thread that saves contexts that have to leave GR, and
 * watches context switches, which may hang while no PBDMA's thread can look.
 *
 * A fault stops the scheduling of the runlist (PFIFO_RUNLIST_ERROR; nouveau calls it
 * ERROR_SCHED_DISABLE) and holds the channel where it is: on its PBDMA, and on the engine if an
 * engine met the fault. The channel stays there until
 *   - the engine that met the fault is reset, or PFIFO is, or
 *   - it is disabled or not in its runlist any more, and then preempted or the error cleared.
 * nvkm_runl_rc() does so: disable, remove, reset engines that still have the channel, submit a new
 * list, clear the error.
 */
#include "fifo.h"

#define NS_PER_TICK 1024
#define POLL_MIN_NS 1000000ull
#define POLL_MAX_NS 20000000ull

/* ------------------------------------------------------------------ holding and releasing */

static bool cleared(struct pbdma *p)
{
	return p->g->fifo->fault_clears[p->runlist] != p->fault_clears;
}

bool fault_hold(struct pbdma *p, enum run why)
{
	struct fifo *f = p->g->fifo;

	if (p->engine_reset)
		return true;
	if (cleared(p) && !sched_wanted(p->fc))
		return false;
	p->fault_clears = f->fault_clears[p->runlist];
	ramfc_sync(p);
	f->error |= 1u << p->runlist;
	if (why == RUN_ENGINE_FAULT)
		f->eng[p->fault_engine].faulted = true;
	else
		engine_release_all(p);
	pbdma_set_state(p, why == RUN_ENGINE_FAULT ? PB_ENGINE_FAULT : PB_HOST_FAULT);
	return true;
}

bool fault_injected(struct pbdma *p)
{
	struct fifo *f = p->g->fifo;
	unsigned int i;

	for (i = 0; i < p->g->nr_engines; i++) {
		if (!f->eng[i].faulted || f->eng[i].owner != (int)p->idx || p->engine_reset)
			continue;
		p->fault_engine = i;
		if (p->state != PB_ENGINE_FAULT) {
			p->fault_clears = f->fault_clears[p->runlist];
			pbdma_set_state(p, PB_ENGINE_FAULT);
		}
		return true;
	}
	return false;
}

bool fault_release(struct pbdma *p)
{
	if (sched_wanted(p->fc) || (!p->preempt && !cleared(p)))
		return false;
	if (p->state == PB_ENGINE_FAULT)
		p->g->fifo->eng[p->fault_engine].faulted = false;
	return true;
}

/*
 * Release engines that faulted on a channel's context and that no PBDMA owns now, if the channel is
 * not to run any more, and was preempted or its runlist's error was cleared. @runlists: a bit for
 * each runlist whose error was cleared.
 */
static void idle_engine_release(struct gk110 *g, uint32_t runlists)
{
	unsigned int i;

	for (i = 0; i < g->nr_engines; i++) {
		struct feng *e = &g->fifo->eng[i];

		if (!e->faulted || !e->on || e->owner != OWNER_NONE || sched_wanted(e->on) ||
		    !(e->evict || (runlists & 1u << e->on->c.runlist)))
			continue;
		e->faulted = e->stuck = e->evict = false;
		e->on = NULL;
	}
}

void fault_check(struct gk110 *g)
{
	idle_engine_release(g, 0);
	sched_wake_all(g->fifo);
}

void fault_clear(struct gk110 *g, uint32_t runlists)
{
	struct fifo *f = g->fifo;
	unsigned int r;

	f->error &= ~runlists;
	for (r = 0; r < g->nr_runlists; r++)
		if (runlists & 1u << r)
			f->fault_clears[r]++;
	idle_engine_release(g, runlists);
	sched_wake_all(f);
}

/* ------------------------------------------------------------------ injection */

/*
 * An engine without a channel shows the fault until the trigger is released or a reset:
 * gk104_fifo_recover_engn() of Linux 6.1 takes the channel off first, then waits for FAULTED, then
 * writes 0. Open: whether an idle engine takes work meanwhile; here it does.
 */
void fault_inject(struct gk110 *g, unsigned int engine, uint32_t val)
{
	struct fifo *f = g->fifo;
	struct feng *e = engine_by_id(g, engine);
	struct mmu_space none = { 0 };

	f->inject.unit = FIELD_GET(PFIFO_FAULT_INJECT_UNIT, val);
	f->inject.client = e ? e->e->hub_client : 0;
	mmu_fault(g, &f->inject, e && e->on ? &e->on->c.vm : &none, 0, MMU_PDE, ACC_READ,
		  MMU_LOCKED);
	if (!e)
		return;
	if (!e->on) {
		e->injected = true;
		return;
	}
	engine_mark_faulted(g, e);
	e->chsw_since = 0;
	if (e->owner >= 0 && e->owner < GK110_MAX_PBDMA && f->pbdma[e->owner].fc)
		atomic_store(&f->pbdma[e->owner].fc->c.stop, true);
	sched_wake_all(f);
}

void fault_inject_release(struct gk110 *g, unsigned int engine)
{
	struct feng *e = engine_by_id(g, engine);

	if (e)
		e->injected = false;
}

/* ------------------------------------------------------------------ the keeper */

static struct pbdma *owner_of(struct fifo *f, struct feng *e)
{
	struct pbdma *p = e->owner >= 0 && e->owner < GK110_MAX_PBDMA ? &f->pbdma[e->owner] : NULL;

	return p && p->fc ? p : NULL;
}

static void earlier(uint64_t *next, uint64_t t)
{
	if (t < *next)
		*next = t;
}

/*
 * Whether the engine is due to leave its channel now. If it will be due later, *@next is when to
 * look.
 */
static bool switch_due(struct fifo *f, struct feng *e, uint64_t now, uint64_t *next)
{
	struct pbdma *p = owner_of(f, e);

	if (e->stuck || e->evict || (p && p->preempt))
		return true;
	if (!p)
		return false;
	if (now < p->slice_end) {
		earlier(next, p->slice_end);
		return false;
	}
	if (!e->queued && !sched_contended(p))
		return false;
	atomic_store(&p->fc->c.stop, true);
	return true;
}

static uint64_t timeout_ns(struct gk110 *g)
{
	uint32_t reg = reg_get(g, PFIFO_ENG_TIMEOUT);

	return reg & PFIFO_TIMEOUT_ENABLE ? FIELD_GET(PFIFO_ENG_TIMEOUT_PERIOD, reg) * NS_PER_TICK :
					    WAKE_NEVER;
}

static void watch_switch(struct gk110 *g, struct feng *e, uint64_t now, uint64_t *next)
{
	bool busy = atomic_load(&e->busy) || e->stuck || (e->on && engine_halted(g, e));
	uint64_t limit = timeout_ns(g), poll = limit / 8;

	if (!busy || e->faulted || !e->on || !switch_due(g->fifo, e, now, next)) {
		e->chsw_since = 0;
		return;
	}
	if (!e->chsw_since)
		e->chsw_since = now;
	if (now - e->chsw_since >= limit) {
		gk110_note(g, "engine %u: no context switch for %llu ms", e->idx,
			   (unsigned long long)(now - e->chsw_since) / 1000000);
		fifo_error(g, PFIFO_INTR_SCHED_ERROR, PFIFO_SCHED_ERROR, PFIFO_SCHED_CTXSW_TIMEOUT);
		e->chsw_since = now;
	}
	poll = poll < POLL_MIN_NS ? POLL_MIN_NS : poll > POLL_MAX_NS ? POLL_MAX_NS : poll;
	earlier(next, now + poll);
}

void *keeper_main(void *arg)
{
	struct gk110 *g = arg;
	struct fifo *f = g->fifo;
	uint64_t seq, next;
	unsigned int i;

	pthread_mutex_lock(&g->lock);
	while (!f->stopping) {
		seq = wake_seq(&f->keeper_wake);
		next = WAKE_NEVER;
		for (i = 0; i < g->nr_engines; i++) {
			if (f->eng[i].evict)
				engine_evict(f, &f->eng[i], OWNER_KEEPER);
			watch_switch(g, &f->eng[i], mono_ns(), &next);
		}
		pthread_mutex_unlock(&g->lock);
		wake_wait(&f->keeper_wake, seq, next);
		pthread_mutex_lock(&g->lock);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}
