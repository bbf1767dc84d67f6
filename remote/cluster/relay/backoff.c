// SPDX-License-Identifier: MIT
/*
 * The clock, and how a rank waits. MPI has no descriptor that poll() could wait for, so MPI is
 * looked at again and again: without a pause at first, then with longer and longer pauses.
 */
#include <time.h>
#include <unistd.h>

#include "relay.h"

enum { LEAST_US = 10, OPEN_MAX_US = 1000, IDLE_MAX_US = 5000 };

unsigned long backoff_sleeps;

uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

bool backoff_wait(const struct settings *s, struct pollfd *p, unsigned int n, bool moved, bool open)
{
	static uint64_t since;
	static pid_t parent;
	struct timespec t = { 0 };
	uint64_t us, most = open ? OPEN_MAX_US : IDLE_MAX_US;

	if (!parent)
		parent = getppid();
	if (moved || !since)
		since = now_us();
	us = now_us() - since;
	/* no sched_yield(): on a busy CPU it costs a turn of each other process */
	if (us >= s->spin_us) {
		us = us / 8 < LEAST_US ? LEAST_US : us / 8;
		t.tv_nsec = (us < most ? us : most) * 1000;
		backoff_sleeps++;
	}
	ppoll(p, n, &t, NULL);
	return moved || getppid() == parent;
}
