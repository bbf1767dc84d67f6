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

/* call after some microseconds of looking in vain: the peer may be waiting for this very CPU */
static inline void clock_yield(void)
{
	sched_yield();
}

#endif
