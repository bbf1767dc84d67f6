/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the rooms' micro-benchmarks, which run one after the other on one thread. main.c
 * measures, and calls bench_trap() of trap.c, bench_shadow() of shadow.c, bench_sched() of sched.c.
 */
#ifndef KVGPU_BENCH_ROOMS_H
#define KVGPU_BENCH_ROOMS_H

#include <stdint.h>

/*
 * One measured thing. A *batch* is what run() does once: it returns how many operations that was,
 * the same number each time. prepare() may be NULL; it brings the state to where a batch begins,
 * and is not measured.
 */
struct room_case {
	const char *name; /* ROOM/WHAT; no blanks: rooms.sh splits the line */
	const char *op; /* what one operation is, one word ("of" in JSON) */
	void (*prepare)(const struct room_case *c);
	uint64_t (*run)(const struct room_case *c);
	uint32_t arg, arg2; /* the case's own */
};

/* Measures the cases one after the other and prints a line for each, as the head of main.c says. */
void rooms_measure(const struct room_case *cases, unsigned int nr);

void bench_trap(void);
void bench_shadow(void);
void bench_sched(void);

#endif
