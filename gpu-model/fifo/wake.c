// SPDX-License-Identifier: GPL-2.0-only
/* Sleeping without losing events, by an event counter that is read before the state is. */
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
