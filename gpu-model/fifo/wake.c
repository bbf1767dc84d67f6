// SPDX-License-Identifier: GPL-2.0-only
/* Sleeping without losing events: take the number, look at the state, sleep only while the number is still the same. */
#include <time.h>

#include "fifo.h"

#define NS_PER_S	1000000000ull

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

void wake_init(struct wake *w)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->cond, &attr);
	pthread_condattr_destroy(&attr);
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
	struct timespec ts = { .tv_sec = (time_t)(deadline / NS_PER_S), .tv_nsec = (long)(deadline % NS_PER_S) };

	pthread_mutex_lock(&w->lock);
	while (w->seq == seq) {
		if (deadline == WAKE_NEVER)
			pthread_cond_wait(&w->cond, &w->lock);
		else if (pthread_cond_timedwait(&w->cond, &w->lock, &ts))
			break;
	}
	pthread_mutex_unlock(&w->lock);
}
