// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines as PFIFO sees them: which PBDMA may send methods to an engine, which channel's context GR
 * has, and the status registers.
 *
 * A PBDMA owns an engine from the first method that it sends until it unloads its channel. It gives
 * the engine up earlier when its channel can't go on, or when another PBDMA waits for the engine
 * (engine_offer()).
 *
 * GR keeps the context of its last channel after the owner has left, as the chip does, until
 * another channel or a preempt needs it saved, or a reset or the recovery from a fault drops it.
 */
#include <errno.h>

#include "fifo.h"

#define GR_TURN_NS 1000000ull

/* ------------------------------------------------------------------ status (lock held) */

bool engine_halted(struct gk110 *g, struct feng *e)
{
	return e->e->ops->stalled && e->e->ops->stalled(g, e->e->inst);
}

static uint32_t status_id(const struct fchan *fc)
{
	if (fc->c.tsg >= 0)
		return FIELD_PREP(PFIFO_STATUS_ID, fc->c.tsg) | PFIFO_STATUS_TSG;
	return FIELD_PREP(PFIFO_STATUS_ID, fc->c.id);
}

uint32_t engine_status(struct gk110 *g, unsigned int id)
{
	struct feng *e = engine_by_id(g, id);
	uint32_t stat = 0;

	if (!e)
		return 0;
	if (e->on)
		stat |= status_id(e->on) | PFIFO_STATUS_VALID;
	if (e->faulted || e->injected)
		stat |= PFIFO_STATUS_FAULTED;
	if (atomic_load(&e->busy) || (e->on && engine_halted(g, e)))
		stat |= PFIFO_STATUS_BUSY;
	if (e->switching || e->stuck || e->chsw_since) {
		stat |= PFIFO_STATUS_CHSW | PFIFO_STATUS_BUSY;
		stat &= ~(uint32_t)PFIFO_STATUS_VALID;
		stat |= e->on ? PFIFO_STATUS_SAVE : 0;
	}
	if (e->next) {
		uint32_t id = status_id(e->next);

		stat |= FIELD_PREP(PFIFO_STATUS_NEXT_ID, FIELD_GET(PFIFO_STATUS_ID, id)) |
			PFIFO_STATUS_VALID;
		stat |= id & PFIFO_STATUS_TSG ? PFIFO_STATUS_NEXT_TSG : 0;
	}
	return stat;
}

void engine_mark_faulted(struct gk110 *g, struct feng *e)
{
	e->faulted = true;
	g->fifo->error |= 1u << e->on->c.runlist;
}

/* ------------------------------------------------------------------ ownership (lock held) */

static void queue_leave(struct feng *e, int who)
{
	unsigned int i, n = 0;

	for (i = 0; i < e->queued; i++)
		if (e->queue[i] != who)
			e->queue[n++] = e->queue[i];
	e->queued = n;
	atomic_store(&e->wanted, n > 0);
}

static void own(struct feng *e, int who)
{
	e->owner = who;
	e->owned_since = mono_ns();
}

static void disown(struct fifo *f, struct feng *e)
{
	e->owner = OWNER_NONE;
	e->chsw_since = 0;
	sched_wake_all(f);
}

static void release(struct pbdma *p, struct feng *e)
{
	p->held &= ~(1u << e->idx);
	if (e->owner != (int)p->idx)
		return;
	if (!e->e->ops->save)
		e->on = NULL;
	disown(p->g->fifo, e);
}

void engine_release_all(struct pbdma *p)
{
	unsigned int i;

	for (i = 0; i < p->g->nr_engines; i++)
		if (p->held & 1u << i)
			release(p, &p->g->fifo->eng[i]);
}

/*
 * The caller owns the engine; the lock is dropped meanwhile. -ECANCELED: the engine was reset
 * meanwhile.
 */
static int switch_context(struct fifo *f, struct feng *e, struct fchan *next)
{
	struct gk110 *g = f->pbdma[0].g;
	struct fchan *old = e->on;
	unsigned int resets = e->resets;
	int ret = 0;

	e->switching = true;
	e->next = next;
	pthread_mutex_unlock(&g->lock);
	stat_inc(g, gr_switches);
	if (old)
		ret = e->e->ops->save(g, e->e->inst, &old->c);
	if (!ret && next)
		ret = e->e->ops->load(g, e->e->inst, &next->c);
	pthread_mutex_lock(&g->lock);
	e->switching = false;
	e->next = NULL;
	if (e->resets != resets)
		return -ECANCELED;
	if (ret)
		return ret;
	e->on = next;
	if (old)
		e->evict = false;
	return 0;
}

/*
 * A switch failed with the error @why. -ECANCELED: the engine was reset, so nothing is done. Else
 * @blame, the channel whose context failed, becomes the channel on the engine. -EFAULT: the engine
 * is marked as faulted. Any other error (-EIO): the engine does not answer. It stays in the switch
 * (feng.stuck), and the driver learns of it by the ctxsw timeout.
 */
static void switch_failed(struct gk110 *g, struct feng *e, struct fchan *blame, int why)
{
	if (why == -ECANCELED)
		return;
	e->on = blame;
	if (why == -EFAULT) {
		engine_mark_faulted(g, e);
		return;
	}
	e->stuck = true;
	wake_post(&g->fifo->keeper_wake);
}

bool engine_evict(struct fifo *f, struct feng *e, int who)
{
	struct gk110 *g = f->pbdma[0].g;
	struct fchan *old = e->on;
	int ret;

	if (e->owner != OWNER_NONE || e->faulted || e->stuck || engine_halted(g, e))
		return false;
	if (!old) {
		e->evict = false;
		return true;
	}
	own(e, who);
	ret = switch_context(f, e, NULL);
	if (ret)
		switch_failed(g, e, old, ret);
	if (!e->stuck)
		e->evict = false;
	disown(f, e);
	return !ret;
}

/* ------------------------------------------------------------------ by a PBDMA's thread */

/* RUN_GO: the PBDMA owns the engine. Lock held, but dropped to sleep. */
static enum run wait_for(struct pbdma *p, struct feng *e)
{
	enum run r = RUN_GO;
	struct gk110 *g = p->g;
	uint64_t seq;

	e->queue[e->queued++] = (int)p->idx;
	atomic_store(&e->wanted, true);
	for (;;) {
		seq = wake_seq(&p->wake);
		if (atomic_load(&p->fc->c.stop)) {
			r = RUN_STOP;
			break;
		}
		if (e->owner == OWNER_NONE && e->queue[0] == (int)p->idx && !e->faulted &&
		    !e->stuck)
			break;
		if (!sched_turn_goes_on(p)) {
			r = RUN_SLICE;
			break;
		}
		wake_post(&g->fifo->keeper_wake);
		pthread_mutex_unlock(&g->lock);
		wake_wait(&p->wake, seq, p->run_end);
		pthread_mutex_lock(&g->lock);
	}
	queue_leave(e, (int)p->idx);
	if (r == RUN_GO) {
		own(e, (int)p->idx);
		p->held |= 1u << e->idx;
		p->held_resets[e->idx] = e->resets;
	} else {
		sched_wake_all(g->fifo);
	}
	return r;
}

/* Lock held, engine owned. */
static enum run make_resident(struct pbdma *p, struct feng *e)
{
	struct fchan *old = e->on;
	int ret;

	if (!e->e->ops->load) {
		e->on = p->fc;
		return RUN_GO;
	}
	if (old == p->fc)
		return RUN_GO;
	/* save the old context first, so that its fault can be told from one of the new context */
	ret = old ? switch_context(p->g->fifo, e, NULL) : 0;
	if (ret) {
		switch_failed(p->g, e, old, ret);
		release(p, e);
		return RUN_SLICE;
	}
	if (old)
		sched_wake_all(p->g->fifo);
	ret = switch_context(p->g->fifo, e, p->fc);
	if (!ret)
		return RUN_GO;
	if (ret == -ECANCELED || atomic_load(&p->fc->c.stop)) {
		release(p, e);
		return RUN_STOP;
	}
	p->fault_engine = e->idx;
	if (ret == -EFAULT) {
		e->on = p->fc;
		return RUN_ENGINE_FAULT;
	}
	switch_failed(p->g, e, p->fc, ret);
	return RUN_HALT;
}

static enum run acquire(struct pbdma *p, struct feng *e)
{
	struct gk110 *g = p->g;
	enum run r = RUN_GO;

	pthread_mutex_lock(&g->lock);
	if ((p->held & 1u << e->idx) && e->owner == (int)p->idx &&
	    p->held_resets[e->idx] != e->resets) {
		/*
		 * the engine was reset: the context is gone, but this PBDMA still owns the engine
		 */
		p->held_resets[e->idx] = e->resets;
	} else if (!(p->held & 1u << e->idx) || e->owner != (int)p->idx) {
		p->held &= ~(1u << e->idx);
		r = wait_for(p, e);
	}
	if (r == RUN_GO && engine_halted(g, e)) {
		p->fault_engine = e->idx;
		r = RUN_HALTED;
	}
	if (r == RUN_GO)
		r = make_resident(p, e);
	pthread_mutex_unlock(&g->lock);
	return r;
}

void engine_offer(struct pbdma *p, int keep)
{
	struct gk110 *g = p->g;
	unsigned int i;

	for (i = 0; i < g->nr_engines; i++) {
		struct feng *e = &g->fifo->eng[i];

		if (!(p->held & 1u << i) || !atomic_load_explicit(&e->wanted, memory_order_relaxed))
			continue;
		pthread_mutex_lock(&g->lock);
		if ((int)i != keep || mono_ns() - e->owned_since >= GR_TURN_NS)
			release(p, e);
		pthread_mutex_unlock(&g->lock);
	}
}

static enum run result(struct pbdma *p, struct feng *e, enum eng_ret ret, const struct pb_action *a)
{
	p->fault_engine = e->idx;
	switch (ret) {
	case ENG_DONE:
		return RUN_GO;
	case ENG_AGAIN:
		return RUN_STOP;
	case ENG_FAULT:
		return RUN_ENGINE_FAULT;
	case ENG_STALL:
		return RUN_HALT;
	case ENG_ILLEGAL_MTHD:
		return pbdma_raise_hce(p, PBDMA_INTR1_ILLEGAL_MTHD, a);
	case ENG_PRIV:
		return pbdma_raise_hce(p, PBDMA_INTR1_PRIV, a);
	case ENG_RE_ILLEGAL_OP:
		return pbdma_raise_hce(p, PBDMA_INTR1_RE_ILLEGAL_OP, a);
	case ENG_RE_ALIGN:
		return pbdma_raise_hce(p, PBDMA_INTR1_RE_ALIGNB, a);
	}
	return RUN_GO;
}

enum run engine_method(struct pbdma *p, unsigned int idx, const struct pb_action *a)
{
	struct gk110 *g = p->g;
	struct feng *e;
	enum eng_ret ret;
	uint64_t start;
	enum run r;

	if (idx >= g->nr_engines) {
		W(p, RAMFC_TARGET) = RAMFC_TARGET_SW;
		return pbdma_raise_method(p, PBDMA_INTR0_DEVICE, a);
	}
	e = &g->fifo->eng[idx];
	engine_offer(p, (int)idx);
	if (!(p->held & 1u << idx) || atomic_load_explicit(&e->wanted, memory_order_acquire)) {
		r = acquire(p, e);
		if (r != RUN_GO)
			return r;
	}
	W(p, RAMFC_TARGET) = e->e->id;
	start = mono_ns();
	atomic_store_explicit(&e->busy, true, memory_order_relaxed);
	ret = e->e->ops->method(g, e->e->inst, &p->fc->c, a->subc, a->mthd, a->data, a->last);
	atomic_store_explicit(&e->busy, false, memory_order_release);
	stat_add(g, engine_busy_ns[idx], mono_ns() - start);
	return result(p, e, ret, a);
}

/* ------------------------------------------------------------------ resets, resumes (lock held) */

void fifo_engine_resume(struct gk110 *g, unsigned int engine)
{
	sched_wake_all(g->fifo);
	wake_post(&g->fifo->keeper_wake);
}

/* The method in progress is lost, and with GR the resident context. */
void fifo_engine_reset(struct gk110 *g, unsigned int engine)
{
	struct fifo *f = g->fifo;
	struct feng *e;

	if (engine >= g->nr_engines)
		return;
	e = &f->eng[engine];
	e->resets++;
	if (e->owner >= 0 && e->owner < GK110_MAX_PBDMA && f->pbdma[e->owner].fc) {
		f->pbdma[e->owner].engine_reset = true;
		atomic_store(&f->pbdma[e->owner].fc->c.stop, true);
	}
	if (e->e->ops && e->e->ops->reset)
		e->e->ops->reset(g, e->e->inst);
	e->faulted = e->injected = e->stuck = e->evict = false;
	e->on = NULL;
	e->chsw_since = 0;
	sched_wake_all(f);
}
