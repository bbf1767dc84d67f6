/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the plain programs and those with MPI share: kernels, input, and the line that they print.
 */
#ifndef KVGPU_SELFTESTS_BENCH_PARTS_H
#define KVGPU_SELFTESTS_BENCH_PARTS_H

#include <selftests/cuda/programs/check.h>
#include <selftests/cuda/programs/matmul_kernel.h>

#include <algorithm>
#include <vector>

#include "spin.h"

/* rows [0, rows) of the product; with @pace_us a paced GPU, which takes so long for all n rows */
static inline void multiply_rows(const float *a, const float *b, float *c, int n, int rows,
				 unsigned long long pace_us)
{
	if (pace_us)
		spin<<<1, 1>>>(pace_us * 1000 * rows / n);
	else
		multiply<<<dim3(n / TILE, rows / TILE), dim3(TILE, TILE / PER_THREAD)>>>(a, b, c, n);
	CHECK_LAUNCH();
}

/* rows [1, rows] of a grid of n columns, with a row of the neighbour's before and behind */
static __global__ void relax(const float *from, float *to, int n, int rows)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x,
	    y = blockIdx.y * blockDim.y + threadIdx.y + 1;
	size_t at = (size_t)y * n + x;

	if (y > rows || x >= n)
		return;
	to[at] = x && x < n - 1 ?
			 0.25f * (from[at - 1] + from[at + 1] + from[at - n] + from[at + n]) :
			 from[at];
}

static inline void relax_rows(const float *from, float *to, int n, int rows)
{
	relax<<<dim3((n + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(from, to, n, rows);
	CHECK_LAUNCH();
}

static inline std::vector<float> input(size_t count, uint32_t seed)
{
	std::vector<float> v(count);

	for (float &x : v)
		x = random_float(&seed) - 0.5f;
	return v;
}

/* FNV-1a over the words: equal for equal results, however they were divided */
static inline void tell(const char *program, int gpus, int n, double ms,
			const std::vector<float> &v)
{
	uint64_t sum = 0xcbf29ce484222325;
	uint32_t word;

	for (float x : v) {
		memcpy(&word, &x, sizeof(word));
		sum = (sum ^ word) * 0x100000001b3;
	}
	printf("%s gpus %d n %d ms %.3f sum %016llx\n", program, gpus, n, ms,
	       (unsigned long long)sum);
}

#endif
