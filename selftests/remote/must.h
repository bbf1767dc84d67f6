/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What programs on remoting begin with: a call with another result than
 * wanted, or a thing that is not so, ends the program with its line.
 */
#ifndef KVGPU_SELFTESTS_REMOTE_MUST_H
#define KVGPU_SELFTESTS_REMOTE_MUST_H

#include <cuda/api/api.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline const char *name_of(CUresult r)
{
	const char *name = "?";

	cuGetErrorName(r, &name);
	return name;
}

static inline void must(CUresult r, CUresult wanted, int line, const char *what)
{
	if (r == wanted)
		return;
	printf("line %d: %s: %s\n", line, what, name_of(r));
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
