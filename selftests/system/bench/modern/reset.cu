// SPDX-License-Identifier: GPL-2.0-only
/*
 * reset: three rounds of work, with cudaDeviceReset() between them. A runtime library keeps what
 * belongs to a context, and the driver has to tell it that the context ends.
 */
#include <cstdio>
#include <cuda_runtime.h>

enum { N = 64 };

__device__ int added[N];

__global__ void fill(int *out)
{
	out[threadIdx.x] = threadIdx.x + added[threadIdx.x];
}

static bool round_of_work(int by)
{
	int *a, h[N], add[N];

	for (int &v : add)
		v = by;
	if (cudaMalloc(&a, sizeof(h)) || cudaMemcpyToSymbol(added, add, sizeof(add)))
		return false;
	fill<<<1, N>>>(a);
	if (cudaMemcpy(h, a, sizeof(h), cudaMemcpyDeviceToHost))
		return false;
	for (int i = 0; i < N; i++)
		if (h[i] != i + by)
			return false;
	return !cudaDeviceReset();
}

int main()
{
	for (int i = 0; i < 3; i++)
		if (!round_of_work(i)) {
			printf("FAIL: round %d: %s\n", i, cudaGetErrorString(cudaGetLastError()));
			return 1;
		}
	puts("PASS: three rounds");
	return 0;
}
