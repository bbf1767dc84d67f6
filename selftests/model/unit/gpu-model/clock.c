// SPDX-License-Identifier: GPL-2.0-only
/* See clock.h. */
#include <assert.h>

#include "clock.h"

#define mono_ns		 host_ns
#define mono_sleep_until host_sleep_until
#define mono_cond_wait	 host_cond_wait
#include "gpu-model/core/clock.c"
#undef mono_ns
#undef mono_sleep_until
#undef mono_cond_wait

#define MAX_SLEEPERS 32

static atomic_uint_least64_t stopped_at; /* 0: the time runs */

/* threads that wait for a condition with a deadline */
static pthread_mutex_t sleepers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sleeper {
	pthread_cond_t *cond;
	pthread_mutex_t *lock;
} sleepers[MAX_SLEEPERS];

static uint64_t set_at;
static atomic_bool *set_flag;

static atomic_uint idlers;
static atomic_uint_least64_t idle_waits;

uint64_t clock_oversleep;
unsigned int clock_sleeps;

uint64_t real_ns(void)
{
	return host_ns();
}

uint64_t mono_ns(void)
{
	uint64_t t = atomic_load(&stopped_at);

	return t ? t : host_ns();
}

static void wake_sleepers(void)
{
	struct sleeper s[MAX_SLEEPERS];
	unsigned int i;

	pthread_mutex_lock(&sleepers_lock);
	for (i = 0; i < MAX_SLEEPERS; i++)
		s[i] = sleepers[i];
	pthread_mutex_unlock(&sleepers_lock);
	for (i = 0; i < MAX_SLEEPERS; i++) {
		if (!s[i].cond)
			continue;
		/*
		 * the lock makes sure that the thread sleeps by now, or that its wait is over
		 */
		pthread_mutex_lock(s[i].lock);
		pthread_cond_broadcast(s[i].cond);
		pthread_mutex_unlock(s[i].lock);
	}
}

void clock_stop(void)
{
	atomic_store(&stopped_at, host_ns());
	wake_sleepers();
	clock_oversleep = 0;
	clock_sleeps = 0;
}

bool clock_stopped(void)
{
	return atomic_load(&stopped_at);
}

void clock_move(uint64_t ns)
{
	uint64_t now = atomic_fetch_add(&stopped_at, ns) + ns;

	if (set_flag && now >= set_at) {
		atomic_store(set_flag, true);
		set_flag = NULL;
	}
	wake_sleepers();
}

void clock_set_at(uint64_t ns, atomic_bool *flag)
{
	set_at = mono_ns() + ns;
	set_flag = flag;
}

unsigned int clock_sleepers(void)
{
	unsigned int i, n = 0;

	pthread_mutex_lock(&sleepers_lock);
	for (i = 0; i < MAX_SLEEPERS; i++)
		n += sleepers[i].cond != NULL;
	pthread_mutex_unlock(&sleepers_lock);
	return n;
}

unsigned int clock_idlers(uint64_t *waits)
{
	*waits = atomic_load(&idle_waits);
	return atomic_load(&idlers);
}

void clock_run(void)
{
	atomic_store(&stopped_at, 0);
	wake_sleepers();
}

void mono_sleep_until(uint64_t t)
{
	uint64_t now = atomic_load(&stopped_at);

	if (!now) {
		host_sleep_until(t);
		return;
	}
	clock_sleeps++;
	if (t > now)
		clock_move(t - now + clock_oversleep);
}

static unsigned int sleeper_add(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	unsigned int i;

	pthread_mutex_lock(&sleepers_lock);
	for (i = 0; i < MAX_SLEEPERS && sleepers[i].cond; i++)
		;
	assert(i < MAX_SLEEPERS);
	sleepers[i] = (struct sleeper){ cond, lock };
	pthread_mutex_unlock(&sleepers_lock);
	return i;
}

bool mono_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline)
{
	unsigned int i;
	bool in_time;

	if (deadline == MONO_NEVER) {
		atomic_fetch_add(&idle_waits, 1);
		atomic_fetch_add(&idlers, 1);
		in_time = host_cond_wait(cond, lock, deadline);
		atomic_fetch_sub(&idlers, 1);
		return in_time;
	}
	i = sleeper_add(cond, lock);
	if (!atomic_load(&stopped_at)) {
		in_time = host_cond_wait(cond, lock, deadline);
	} else {
		/* the thread is in the list already: any move of the time from now on wakes it */
		in_time = mono_ns() < deadline;
		if (in_time)
			pthread_cond_wait(cond, lock);
	}
	pthread_mutex_lock(&sleepers_lock);
	sleepers[i].cond = NULL;
	pthread_mutex_unlock(&sleepers_lock);
	return in_time;
}
