/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the rooms' micro-benchmarks share. */
#ifndef KVGPU_BENCH_ROOMS_H
#define KVGPU_BENCH_ROOMS_H

#include <stdint.h>

/*
 * One measured thing. A *batch* is what run() does once: it returns how many operations that was,
 * the same number each time. prepare() may be NULL; it brings the state to where a batch begins,
 * and is not measured.
 */
struct room_case {
	const char *name;		/* ROOM/WHAT */
	const char *op;
	void (*prepare)(const struct room_case *c);
	uint64_t (*run)(const struct room_case *c);
	uint32_t arg, arg2;		/* the case's own */
};

/* Measures the cases one after the other and prints a line for each. */
void rooms_measure(const struct room_case *cases, unsigned int nr);

void bench_trap(void);
void bench_shadow(void);
void bench_sched(void);

#endif
