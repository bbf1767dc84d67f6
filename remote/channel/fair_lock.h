/* SPDX-License-Identifier: MIT */
/*
 * A mutex that a thread with much to send hands over. A mutex has no order among threads: one that
 * takes it again at once keeps it from those that have to wake up first. Here threads that wait
 * queue, and fair_lock_bulk() queues each time: so a thread waits for one piece of each other
 * thread's, not for a whole copy. Where nobody waits it is a mutex.
 */
#ifndef KVGPU_REMOTE_FAIR_LOCK_H
#define KVGPU_REMOTE_FAIR_LOCK_H

#include <pthread.h>

struct fair_lock {
	pthread_mutex_t held;
	pthread_mutex_t queue; /* of the members below */
	pthread_cond_t moved;
	unsigned int first, last; /* numbers in the queue; the first one gets .held next */
};

static inline void fair_lock_init(struct fair_lock *l)
{
	*l = (struct fair_lock){ .first = 0 };
	pthread_mutex_init(&l->held, NULL);
	pthread_mutex_init(&l->queue, NULL);
	pthread_cond_init(&l->moved, NULL);
}

/* for bulk: behind the threads that wait */
static inline void fair_lock_bulk(struct fair_lock *l)
{
	unsigned int mine;

	pthread_mutex_lock(&l->queue);
	mine = l->last++;
	while (mine != l->first)
		pthread_cond_wait(&l->moved, &l->queue);
	pthread_mutex_unlock(&l->queue);
	pthread_mutex_lock(&l->held);
	pthread_mutex_lock(&l->queue);
	l->first++;
	if (l->first != l->last)
		pthread_cond_broadcast(&l->moved);
	pthread_mutex_unlock(&l->queue);
}

static inline void fair_lock_take(struct fair_lock *l)
{
	if (pthread_mutex_trylock(&l->held))
		fair_lock_bulk(l);
}

static inline void fair_lock_release(struct fair_lock *l)
{
	pthread_mutex_unlock(&l->held);
}

#endif
