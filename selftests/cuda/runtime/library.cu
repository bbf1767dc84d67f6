// SPDX-License-Identifier: GPL-2.0-only
/* For loads_library: kernels and variables in a library that comes and goes. */
#include <cuda_runtime.h>

__device__ int calls;

__global__ void square(int *p, int n)
{
	int i = threadIdx.x;

	if (i < n)
		p[i] *= p[i];
	if (!i)
		calls++;
}

extern "C" int library_square(int *p, int n)
{
	int v = -1;

	square<<<1, 256>>>(p, n);
	if (cudaGetLastError() || cudaMemcpyFromSymbol(&v, calls, sizeof(v)))
		return -1;
	return v;
}
