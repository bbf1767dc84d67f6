// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program one of whose kernels launches another (dynamic parallelism) and one of which asks for a
 * limit: neither is launched here, which the launch says. The others are, also the one that asks
 * which devices there are.
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
	size_t limit;

	cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
	*p = limit;
}

enum { ASKED = 6 };

__global__ void knows(int *p)
{
	cudaGetDeviceCount(p);
	cudaGetDevice(p + 1);
	cudaDeviceGetAttribute(p + 2, cudaDevAttrWarpSize, p[1]);
	cudaDeviceGetAttribute(p + 3, cudaDevAttrMultiProcessorCount, p[1]);
	p[4] = cudaDeviceGetAttribute(p + 6, (cudaDeviceAttr)10000, p[1]);
	p[5] = cudaDeviceGetAttribute(p + 6, cudaDevAttrWarpSize, p[0]);
}

int main(void)
{
	cudaError_t launches, calls;
	int want[ASKED] = { 0, 0, 32, 0, cudaErrorInvalidValue, cudaErrorInvalidDevice };
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
	CHECK(cudaGetDeviceCount(&want[0]));
	CHECK(cudaGetDevice(&want[1]));
	CHECK(cudaDeviceGetAttribute(&want[3], cudaDevAttrMultiProcessorCount, want[1]));
	knows<<<1, 1>>>(d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < ASKED; i++)
		bad += host[i] != want[i];
	return verdict(!bad && launches == cudaErrorNotSupported && calls == cudaErrorNotSupported,
		       "%d elements wrong, the others' launches: %s, %s", bad,
		       cudaGetErrorString(launches), cudaGetErrorString(calls));
}
