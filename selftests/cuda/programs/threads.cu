// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU threads work at the same time, each with memory and streams of its own; errors are each
 * thread's own, too.
 */
#include <pthread.h>

#include "check.h"

enum { THREADS = 8, N = 5000, ROUNDS = 20 };

__device__ int total;

__global__ void scale(int *p, int by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		p[i] = p[i] * by + i;
	if (!i)
		atomicAdd(&total, by);
}

static int wrong[THREADS];

static void *work(void *arg)
{
	int t = (int)(intptr_t)arg, *h = (int *)malloc(N * 4), *d;
	cudaStream_t own, s;

	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
	for (int r = 0; r < ROUNDS; r++) {
		s = r % 2 ? own : cudaStreamPerThread;
		CHECK(cudaMalloc(&d, N * 4));
		for (int i = 0; i < N; i++)
			h[i] = i * t + r;
		CHECK(cudaMemcpyAsync(d, h, N * 4, cudaMemcpyHostToDevice, s));
		scale<<<CEIL_DIV(N, 256), 256, 0, s>>>(d, t + 2);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(h, d, N * 4, cudaMemcpyDeviceToHost, s));
		CHECK(cudaStreamSynchronize(s));
		for (int i = 0; i < N; i++)
			wrong[t] += h[i] != (i * t + r) * (t + 2) + i;
		if (t == 3)	/* only this thread may see the error */
			wrong[t] += cudaMalloc(&d, ~(size_t)0 / 2) != cudaErrorMemoryAllocation ||
				    cudaPeekAtLastError() != cudaErrorMemoryAllocation ||
				    cudaGetLastError() != cudaErrorMemoryAllocation;
		else
			CHECK(cudaFree(d));
		wrong[t] += cudaGetLastError() != cudaSuccess;
	}
	CHECK(cudaStreamDestroy(own));
	free(h);
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	int sum = 0, bad = 0, got;

	for (int t = 0; t < THREADS; t++) {
		pthread_create(&thread[t], NULL, work, (void *)(intptr_t)t);
		sum += (t + 2) * ROUNDS;
	}
	for (int t = 0; t < THREADS; t++) {
		pthread_join(thread[t], NULL);
		bad += wrong[t];
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpyFromSymbol(&got, total, sizeof(got)));
	return verdict(!bad && got == sum, "%d threads, %d rounds each, %d wrong, total %d of %d", THREADS, ROUNDS, bad, got, sum);
}
