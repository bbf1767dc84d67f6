// SPDX-License-Identifier: GPL-2.0-only
/* The host's monotonic time, in its own file so that tests can replace it. */
#include <errno.h>
#include <time.h>

#include "model.h"

#define NS_PER_S 1000000000ull

uint64_t mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static struct timespec to_timespec(uint64_t t)
{
	return (struct timespec){ .tv_sec = (time_t)(t / NS_PER_S),
				  .tv_nsec = (long)(t % NS_PER_S) };
}

void mono_sleep_until(uint64_t t)
{
	struct timespec ts = to_timespec(t);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

void mono_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

bool mono_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline)
{
	struct timespec ts = to_timespec(deadline);

	if (deadline == MONO_NEVER) {
		pthread_cond_wait(cond, lock);
		return true;
	}
	return pthread_cond_timedwait(cond, lock, &ts) == 0;
}
