// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two files with fat binaries of their own, or, device linked, with one in which each uses what is
 * in the other.
 */
#include "../programs/check.h"
#include "two_files.h"

static __constant__ float factor = 2;
static __device__ int mine = 1;

#ifdef DEVICE_LINKED
__device__ float from_other(float v);
__device__ int shared_counter;
#define FROM_OTHER(v) from_other(v)
#else
#define FROM_OTHER(v) ((v) + 0.5f)
#endif

static __global__ void work(float *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] = FROM_OTHER(p[i] * factor);
	if (!i)
		mine += 10;
}

int main(void)
{
	float h[100], *d;
	int wrong = 0, v;

	CHECK(cudaMalloc(&d, sizeof(h)));
	for (int i = 0; i < 100; i++)
		h[i] = i;
	CHECK(cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice));
	work<<<1, 128>>>(d, 100);
	scale<float><<<1, 128>>>(d, 3, 100);
	wrong += other_file(d, 100);
	CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 100; i++)
		wrong += h[i] != ((i * 2 + 0.5f) * 3 * 5 + 7) * 2;
	CHECK(cudaMemcpyFromSymbol(&v, mine, sizeof(v)));
	wrong += v != 11;
#ifdef DEVICE_LINKED
	CHECK(cudaMemcpyFromSymbol(&v, shared_counter, sizeof(v)));
	wrong += v != 200;
#endif
	return verdict(!wrong, "%d wrong", wrong);
}
