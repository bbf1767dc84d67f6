// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeping without losing events, by an event counter that is read before the state is; and whose
 * sleep what happens in PFIFO ends.
 */
#include "fifo.h"

void wake_init(struct wake *w)
{
	pthread_mutex_init(&w->lock, NULL);
	mono_cond_init(&w->cond);
	w->seq = 0;
}

void wake_fini(struct wake *w)
{
	pthread_cond_destroy(&w->cond);
	pthread_mutex_destroy(&w->lock);
}

void wake_post(struct wake *w)
{
	pthread_mutex_lock(&w->lock);
	w->seq++;
	pthread_cond_signal(&w->cond);
	pthread_mutex_unlock(&w->lock);
}

uint64_t wake_seq(struct wake *w)
{
	uint64_t seq;

	pthread_mutex_lock(&w->lock);
	seq = w->seq;
	pthread_mutex_unlock(&w->lock);
	return seq;
}

void wake_wait(struct wake *w, uint64_t seq, uint64_t deadline)
{
	pthread_mutex_lock(&w->lock);
	while (w->seq == seq && mono_cond_wait(&w->cond, &w->lock, deadline))
		;
	pthread_mutex_unlock(&w->lock);
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
