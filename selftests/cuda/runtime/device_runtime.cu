// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program one of whose kernels launches another (dynamic parallelism) and one of which asks the
 * CUDA runtime: neither is launched here, which the launch says, and the third one is.
 */
#include "../programs/check.h"

__global__ void child(int *p, int v)
{
	p[threadIdx.x] = v + threadIdx.x;
}

__global__ void parent(int *p)
{
	child<<<1, 32>>>(p, 100);
}

__global__ void asks(int *p)
{
	cudaGetDeviceCount(p);
}

int main(void)
{
	cudaError_t launches, calls;
	int *d, host[32], bad = 0;

	CHECK(cudaMalloc(&d, sizeof(host)));
	CHECK(cudaMemset(d, 0, sizeof(host)));
	parent<<<1, 1>>>(d);
	launches = cudaGetLastError();
	asks<<<1, 1>>>(d);
	calls = cudaGetLastError();
	child<<<1, 32>>>(d, 7);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		bad += host[i] != 7 + i;
	return verdict(!bad && launches == cudaErrorNotSupported && calls == cudaErrorNotSupported,
		       "%d elements wrong, the others' launches: %s, %s", bad,
		       cudaGetErrorString(launches), cudaGetErrorString(calls));
}
