// SPDX-License-Identifier: GPL-2.0-only
/* See main.cu. */
#include "../check.h"
#include "other.h"

__constant__ int offsets[4];
__device__ int shared_counter = 1;

__device__ int polynomial(int x)
{
	return 3 * x * x + x + 7;
}

__device__ static int twice(int x) { return 2 * x; }
__device__ static int negative(int x) { return -x; }
__device__ static int (*const functions[2])(int) = { twice, negative };

__device__ int chosen(int x)
{
	return functions[x % 2](x);
}

__global__ void add(int by)
{
	atomicAdd(&shared_counter, by);
}

void bump(int by)
{
	add<<<1, 32>>>(by);
	CHECK_LAUNCH();
}
