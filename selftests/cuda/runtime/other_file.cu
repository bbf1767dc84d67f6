// SPDX-License-Identifier: GPL-2.0-only
/* The second file of two_files and of device_linked. */
#include "../programs/check.h"
#include "two_files.h"

static __constant__ float factor = 5;
static __device__ int mine = 100;

#ifdef DEVICE_LINKED
extern __device__ int shared_counter;

__device__ float from_other(float v)
{
	atomicAdd(&shared_counter, 1);
	return v + 0.5f;
}
#endif

static __global__ void work(float *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] = p[i] * factor + 7;
	if (!i)
		mine += 10;
#ifdef DEVICE_LINKED
	if (i < n)
		atomicAdd(&shared_counter, 1);
#endif
}

int other_file(float *p, int n)
{
	int v;

	work<<<1, 128>>>(p, n);
	scale<float><<<1, 128>>>(p, 2, n);
	CHECK_LAUNCH();
	CHECK(cudaMemcpyFromSymbol(&v, mine, sizeof(v)));
	return v != 110;
}
