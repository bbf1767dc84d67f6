/* SPDX-License-Identifier: MIT */
/*
 * The clock and the CPU as a waiting thread uses them. Tests have a header of their own in the
 * place of this one.
 */
#ifndef KVGPU_REMOTE_RING_CLOCK_H
#define KVGPU_REMOTE_RING_CLOCK_H

#include <sched.h>
#include <stdint.h>
#include <time.h>

/* ns, monotonic; not 0 */
static inline uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Pause between two looks. Arm's "yield" takes no time on a core with one thread; "isb" takes about
 * as long as x86's "pause".
 */
static inline void clock_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#else
	__asm__ volatile("" : : : "memory");
#endif
}

enum { CLOCK_REST_NS = 40, CLOCK_PAUSES = 32 };

/*
 * How many pauses take CLOCK_REST_NS: a pause takes 17 ns on one CPU, 100 on another. The shortest
 * of three tries, as the CPU may be taken away meanwhile.
 */
static inline unsigned int clock_pauses(void)
{
	uint64_t began, took, least = UINT64_MAX;
	unsigned int i, n;

	for (i = 0; i < 3; i++) {
		began = clock_ns();
		for (n = 0; n < CLOCK_PAUSES; n++)
			clock_pause();
		took = clock_ns() - began + 1;
		least = took < least ? took : least;
	}
	n = (CLOCK_REST_NS * CLOCK_PAUSES + least / 2) / least;
	return n ? n : 1;
}

/*
 * The time between two looks at what the peer publishes. A look takes the line away from the peer,
 * which then has to fetch it again to write to it: looks without a rest make an answer later.
 */
static inline void clock_rest(void)
{
	static unsigned int pauses; /* atomic */
	unsigned int n = __atomic_load_n(&pauses, __ATOMIC_RELAXED);

	if (!n) {
		n = clock_pauses();
		__atomic_store_n(&pauses, n, __ATOMIC_RELAXED);
	}
	for (; n; n--)
		clock_pause();
}

/* call after some microseconds of looking in vain: the peer may be waiting for this very CPU */
static inline void clock_yield(void)
{
	sched_yield();
}

#endif
