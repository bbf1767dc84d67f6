// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PBDMA's thread: load a channel, execute (without the lock) until exec_run() comes back, decide
 * what to do, unload the channel.
 */
#include "fifo.h"

#define BACKOFF_MIN_NS 20000ull
#define BACKOFF_MAX_NS 1000000ull

static void leave(struct pbdma *p, bool more)
{
	if (!sched_next_member(p, more) && p->fc)
		sched_unload(p, more);
}

/* ------------------------------------------------------------------ after executing */

static void slice_over(struct pbdma *p)
{
	if (sched_turn_goes_on(p))
		return;
	if (mono_ns() >= p->slice_end)
		sched_unload(p, true);
	else
		leave(p, true);
}

static void dry(struct pbdma *p)
{
	if (p->doorbell) { /* GP_PUT was read before this doorbell: read it again */
		p->doorbell = false;
		return;
	}
	leave(p, false);
}

/* An acquire that may switch makes room for a channel that waits. */
static void acquire_blocked(struct pbdma *p, bool may_switch)
{
	struct fifo *f = p->g->fifo;

	if (may_switch && (sched_member_waits(p) || sched_contended(p))) {
		p->fc->acq_kick = p->kicks;
		p->fc->acq = semaphore_acquire(p);
		chan_acq_wait(f, p->fc, true);
		leave(p, true);
		return;
	}
	engine_release_all(p); /* another channel's work may be needed to release the semaphore */
	if (p->state != PB_ACQUIRE)
		p->acq_backoff = 0;
	pbdma_set_state(p, PB_ACQUIRE);
	p->acq_backoff = p->acq_backoff ? 2 * p->acq_backoff : BACKOFF_MIN_NS;
	if (p->acq_backoff > BACKOFF_MAX_NS)
		p->acq_backoff = BACKOFF_MAX_NS;
	p->acq_retry = mono_ns() + p->acq_backoff;
}

static void stopped(struct pbdma *p)
{
	if (p->drop || p->preempt || p->engine_reset || fault_injected(p))
		return; /* decide() deals with it */
	atomic_store(&p->fc->c.stop, false);
	slice_over(p);
}

static void after(struct pbdma *p, enum run r)
{
	if (p->drop)
		return;
	if (r != RUN_ACQUIRE && r != RUN_ACQUIRE_SWITCH) {
		pbdma_set_state(p, PB_RUN);
		chan_acq_wait(p->g->fifo, p->fc, false);
	}
	switch (r) {
	case RUN_GO:
		break;
	case RUN_INTR:
		p->interrupted = true;
		/* other channels need not wait until software acknowledges */
		engine_release_all(p);
		break;
	case RUN_DRY:
		dry(p);
		break;
	case RUN_STOP:
		stopped(p);
		break;
	case RUN_SLICE:
		slice_over(p);
		break;
	case RUN_YIELD:
		if (sched_member_waits(p) || sched_contended(p))
			leave(p, true);
		break;
	case RUN_ACQUIRE:
	case RUN_ACQUIRE_SWITCH:
		acquire_blocked(p, r == RUN_ACQUIRE_SWITCH);
		break;
	case RUN_HALT:
	case RUN_HALTED:
		pbdma_set_state(p, PB_ENGINE_HALT);
		p->halt_holds = r == RUN_HALT;
		break;
	case RUN_HOST_FAULT:
	case RUN_ENGINE_FAULT:
		if (!fault_hold(p, r))
			sched_unload(p, true);
		break;
	}
}

/* ------------------------------------------------------------------ before executing */

static void resume(struct pbdma *p)
{
	p->interrupted = false;
	W(p, RAMFC_METHOD0) = reg_get(p->g, p->regs + PBDMA_METHOD0);
	W(p, RAMFC_DATA0) = reg_get(p->g, p->regs + PBDMA_DATA0);
	p->replay = W(p, RAMFC_METHOD0) & PBDMA_METHOD_VALID;
}

enum next { NEXT_EXECUTE, NEXT_AGAIN, NEXT_SLEEP };

static enum next unload_now(struct pbdma *p)
{
	sched_unload(p, true);
	return NEXT_AGAIN;
}

static enum next held_by_halt(struct pbdma *p)
{
	struct feng *e = &p->g->fifo->eng[p->fault_engine];

	if (e->stuck || engine_halted(p->g, e)) {
		if (p->halt_holds)
			return NEXT_SLEEP;
		return p->preempt ? unload_now(p) : NEXT_SLEEP;
	}
	p->state = PB_RUN;
	return NEXT_AGAIN;
}

static enum next in_acquire(struct pbdma *p)
{
	uint64_t now = mono_ns();

	if (now >= p->run_end) {
		slice_over(p);
		return NEXT_AGAIN;
	}
	return NEXT_EXECUTE;
}

static enum next decide(struct pbdma *p)
{
	if (p->drop) {
		sched_drop(p);
		return NEXT_AGAIN;
	}
	if (pbdma_halted(p))
		return NEXT_SLEEP;
	if (p->engine_reset) {
		exec_skip(p);
		return unload_now(p);
	}
	fault_injected(p);
	switch (p->state) {
	case PB_HOST_FAULT:
	case PB_ENGINE_FAULT:
		return fault_release(p) ? unload_now(p) : NEXT_SLEEP;
	case PB_ENGINE_HALT:
		return held_by_halt(p);
	case PB_RUN:
	case PB_ACQUIRE:
		break;
	}
	if (p->preempt)
		return unload_now(p);
	return p->state == PB_ACQUIRE ? in_acquire(p) : NEXT_EXECUTE;
}

static void sleep_on(struct pbdma *p, uint64_t seq, uint64_t deadline)
{
	pthread_mutex_unlock(&p->g->lock);
	wake_wait(&p->wake, seq, deadline);
	pthread_mutex_lock(&p->g->lock);
}

static uint64_t acquire_deadline(const struct pbdma *p)
{
	return p->acq_retry < p->run_end ? p->acq_retry : p->run_end;
}

static void execute(struct pbdma *p)
{
	enum run r;

	p->fault_clears = p->g->fifo->fault_clears[p->runlist];
	p->kicks = atomic_load(&p->g->fifo->kicks);
	pthread_mutex_unlock(&p->g->lock);
	r = exec_run(p);
	pthread_mutex_lock(&p->g->lock);
	after(p, r);
}

static void turn(struct pbdma *p)
{
	uint64_t seq = wake_seq(&p->wake);
	bool halted = pbdma_halted(p);

	if (p->interrupted && !halted && p->fc && !p->drop)
		resume(p);
	if (!p->fc) {
		if (halted || !sched_load(p))
			sleep_on(p, seq, halted ? WAKE_NEVER : p->acq_retry);
		return;
	}
	switch (decide(p)) {
	case NEXT_AGAIN:
		break;
	case NEXT_SLEEP:
		sleep_on(p, seq, WAKE_NEVER);
		break;
	case NEXT_EXECUTE:
		execute(p);
		if (p->fc && p->state == PB_ACQUIRE && !p->drop && !p->preempt && !p->engine_reset)
			sleep_on(p, seq, acquire_deadline(p));
		break;
	}
}

void *pbdma_main(void *arg)
{
	struct pbdma *p = arg;
	struct gk110 *g = p->g;

	pthread_mutex_lock(&g->lock);
	while (!g->fifo->stopping)
		turn(p);
	if (p->fc)
		sched_drop(p);
	pthread_mutex_unlock(&g->lock);
	return NULL;
}
