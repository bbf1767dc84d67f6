// SPDX-License-Identifier: MIT
/*
 * Calls that wait while a stream of their server is behind a closed gate (gate.c). A library has a
 * finite queue, and what opens a gate needs room there.
 */
#include <time.h>

#include "client.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* protects .gates of all peers */
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static __thread bool serves;	/* this thread serves gates */

/* How many calls with work may be sent while gates are closed. A library's queue is finite. */
enum { BEHIND_MAX = 16, LOOK_MS = 100 };

void gate_closes(struct peer *p)
{
	pthread_mutex_lock(&lock);
	if (!p->gates)
		__atomic_store_n(&p->behind_gates, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->gates, p->gates + 1, __ATOMIC_RELAXED);
	peer_slow(p, SLOW_GATES, true);
	pthread_mutex_unlock(&lock);
}

void gate_opens(struct peer *p)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n(&p->gates, p->gates - 1, __ATOMIC_RELAXED);
	if (!p->gates) {
		peer_slow(p, SLOW_GATES, false);
		pthread_cond_broadcast(&opened);
	}
	pthread_mutex_unlock(&lock);
}

bool gate_await(struct peer *p)
{
	struct timespec until;

	if (serves)
		return false;
	pthread_mutex_lock(&lock);
	while (p->gates && !kvgpu_remote_is_gone(p->channel)) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_MS * 1000000l;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_clockwait(&opened, &lock, CLOCK_MONOTONIC, &until);
	}
	pthread_mutex_unlock(&lock);
	return !kvgpu_remote_is_gone(p->channel);
}

void gate_behind(struct peer *p)
{
	if (!serves && __atomic_add_fetch(&p->behind_gates, 1, __ATOMIC_RELAXED) > BEHIND_MAX)
		gate_await(p);
}

void gate_serves(void)
{
	serves = true;
}
