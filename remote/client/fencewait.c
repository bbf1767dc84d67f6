// SPDX-License-Identifier: MIT
/*
 * Calls that wait while a stream of their server is behind a pending cross-server fence
 * (cross_fence.c). A library has a finite queue, and what signals a fence needs room there.
 */
#include <time.h>

#include "client.h"

/* protects .cross_fences of all peers */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened; /* by the monotonic clock, which await_opened() gives it */
static __thread bool serves; /* this thread serves fences */

/* How many calls with work may be sent while fences are pending. A library's queue is finite. */
enum { BEHIND_MAX = 16, LOOK_MS = 100 };

void cross_fence_pending(struct peer *p)
{
	pthread_mutex_lock(&lock);
	if (!p->cross_fences)
		__atomic_store_n(&p->behind_cross_fences, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->cross_fences, p->cross_fences + 1, __ATOMIC_RELAXED);
	peer_slow(p, SLOW_FENCES, true);
	pthread_mutex_unlock(&lock);
}

void cross_fence_signalled(struct peer *p)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n(&p->cross_fences, p->cross_fences - 1, __ATOMIC_RELAXED);
	if (!p->cross_fences) {
		peer_slow(p, SLOW_FENCES, false);
		pthread_cond_broadcast(&opened);
	}
	pthread_mutex_unlock(&lock);
}

/* with the lock, for LOOK_MS at most; pthread_cond_clockwait() needs glibc 2.30 */
static void await_opened(void)
{
	static bool begun;
	pthread_condattr_t clock;
	struct timespec until;

	if (!begun) {
		pthread_condattr_init(&clock);
		pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
		pthread_cond_init(&opened, &clock);
		pthread_condattr_destroy(&clock);
		begun = true;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LOOK_MS * 1000000l;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&opened, &lock, &until);
}

bool cross_fence_await(struct peer *p)
{
	if (serves)
		return false;
	pthread_mutex_lock(&lock);
	while (p->cross_fences && !kvgpu_remote_is_gone(p->channel))
		await_opened();
	pthread_mutex_unlock(&lock);
	return !kvgpu_remote_is_gone(p->channel);
}

void cross_fence_behind(struct peer *p)
{
	if (!serves &&
	    __atomic_add_fetch(&p->behind_cross_fences, 1, __ATOMIC_RELAXED) > BEHIND_MAX)
		cross_fence_await(p);
}

void cross_fence_serves(void)
{
	serves = true;
}
