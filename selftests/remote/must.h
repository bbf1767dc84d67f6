/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What programs on several servers or on kvgpu-run begin with: a call with another result than
 * wanted, or a thing that is not so, ends the program with its line.
 */
#ifndef KVGPU_SELFTESTS_REMOTE_MUST_H
#define KVGPU_SELFTESTS_REMOTE_MUST_H

#include <cuda/api/api.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void must(CUresult r, CUresult wanted, int line, const char *what)
{
	const char *name = "?";

	if (r == wanted)
		return;
	cuGetErrorName(r, &name);
	printf("line %d: %s: %s\n", line, what, name);
	exit(2);
}
#define MUST(call)	   must(call, CUDA_SUCCESS, __LINE__, #call)
#define FAILS(call, error) must(call, error, __LINE__, #call)

static inline void check(bool right, int line, const char *what)
{
	if (right)
		return;
	printf("line %d: not so: %s\n", line, what);
	exit(2);
}
#define CHECK(what) check(what, __LINE__, #what)

/* seconds */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

#endif
