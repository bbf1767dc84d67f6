/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the programs: errors that end a program, random numbers, the line that each prints. */
#ifndef KVGPU_SELFTESTS_CUDA_CHECK_H
#define KVGPU_SELFTESTS_CUDA_CHECK_H

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An error ends the program: it could not do its work, exit code 2. */
#define CHECK(call)                                                                     \
	do {                                                                            \
		cudaError_t err_ = (call);                                              \
		if (err_ != cudaSuccess) {                                              \
			printf("FAIL: %s:%d: %s: %s (%d)\n", __FILE__, __LINE__, #call, \
			       cudaGetErrorString(err_), (int)err_);                    \
			exit(2);                                                        \
		}                                                                       \
	} while (0)

/* after <<<>>>: errors of the launch itself; it does not wait for the kernel */
#define CHECK_LAUNCH() CHECK(cudaGetLastError())

/* Print the last line. Return the exit code: 0 right, 1 wrong. */
static inline int verdict(bool ok, const char *fmt, ...)
{
	va_list args;

	printf("%s: ", ok ? "PASS" : "FAIL");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	return !ok;
}

static inline uint32_t random_bits(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* 0 <= x < 1 */
static inline float random_float(uint32_t *state)
{
	return (random_bits(state) >> 8) * (1.0f / 16777216.0f);
}

static inline double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec * 1e-6;
}

static inline int argument(int argc, char **argv, int i, int otherwise)
{
	return argc > i ? atoi(argv[i]) : otherwise;
}

/* relative to the larger of |want| and 1 */
static inline double error_of(double got, double want)
{
	double size = fabs(want) > 1 ? fabs(want) : 1, d = fabs(got - want) / size;

	return d == d ? d : INFINITY; /* NaN is no match */
}

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

#endif
