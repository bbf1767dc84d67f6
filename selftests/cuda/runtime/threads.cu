// SPDX-License-Identifier: GPL-2.0-only
/* Many threads whose first calls race: one context, kernels loaded once, errors each for itself. */
#include <thread>
#include <vector>

#include "../programs/check.h"

__device__ unsigned int total;

__global__ void count(unsigned int n)
{
	if (threadIdx.x < n)
		atomicAdd(&total, 1);
}

static int wrong;

static void worker(int id)
{
	cudaStream_t s;
	void *p;

	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreate(&s));
	for (int i = 0; i < 50; i++) {
		count<<<1, 64, 0, s>>>(id);
		CHECK_LAUNCH();
		if (cudaMalloc(&p, (size_t)1 << 60) != cudaErrorMemoryAllocation ||
		    cudaGetLastError() != cudaErrorMemoryAllocation)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaStreamDestroy(s));
}

int main(void)
{
	std::vector<std::thread> threads;
	unsigned int v;

	for (int i = 0; i < 8; i++)
		threads.emplace_back(worker, i + 1);
	for (auto &t : threads)
		t.join();
	CHECK(cudaMemcpyFromSymbol(&v, total, sizeof(v)));
	return verdict(!wrong && v == 36 * 50, "%u of 1800 counted, %d wrong", v, wrong);
}
