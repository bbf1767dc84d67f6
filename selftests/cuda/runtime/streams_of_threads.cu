// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiled with --default-stream per-thread: stream 0 of each thread is its own, in all calls that
 * have a stream.
 */
#include <thread>
#include <vector>

#include "../programs/check.h"

__global__ void spin(int *out, long long cycles, int v)
{
	long long from = clock64();

	while (clock64() - from < cycles)
		;
	*out = v;
}

static int wrong;

static void worker(int id)
{
	int *d, v;
	cudaEvent_t e;

	CHECK(cudaMalloc(&d, 64));
	CHECK(cudaEventCreate(&e));
	for (int i = 0; i < 20; i++) {
		CHECK(cudaMemset(d, 0, 64));
		spin<<<1, 1>>>(d, 100, id * 1000 + i);
		CHECK(cudaEventRecord(e));
		CHECK(cudaMemcpyAsync(&v, d, 4, cudaMemcpyDeviceToHost));
		CHECK(cudaStreamSynchronize(0));
		CHECK(cudaEventQuery(e));
		if (v != id * 1000 + i)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	CHECK(cudaFree(d));
}

int main(void)
{
	std::vector<std::thread> threads;
	cudaStream_t other;
	int *d;

	CHECK(cudaMalloc(&d, 4));
	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (int i = 0; i < 4; i++)
		threads.emplace_back(worker, i + 1);
	for (auto &t : threads)
		t.join();
	/* the legacy stream waits for this thread's */
	spin<<<1, 1>>>(d, 1000, 5);
	CHECK(cudaStreamSynchronize(cudaStreamLegacy));
	wrong += cudaStreamQuery(cudaStreamPerThread) != cudaSuccess;
	return verdict(!wrong, "%d wrong", wrong);
}
