// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiled with --default-stream per-thread (Makefile): each thread's <<<>>> and copies are ordered
 * among themselves. Without that option the program passes, too, and tests nothing of this.
 */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, N = 3000, ROUNDS = 30 };

__global__ void step(unsigned int *p, unsigned int k)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		p[i] = p[i] * k + 1;
}

static void *work(void *arg)
{
	unsigned int t = (unsigned int)(intptr_t)arg, *h = (unsigned int *)malloc(N * 4), *d,
		     wrong = 0;
	cudaEvent_t e;

	CHECK(cudaMalloc(&d, N * 4));
	CHECK(cudaMemset(d, 0, N * 4));
	CHECK(cudaEventCreate(&e));
	for (unsigned int r = 0; r < ROUNDS; r++)
		step<<<CEIL_DIV(N, 128), 128>>>(d, t + r);
	CHECK_LAUNCH();
	CHECK(cudaEventRecord(e));
	CHECK(cudaStreamSynchronize(0));
	wrong += cudaEventQuery(e) != cudaSuccess;
	CHECK(cudaMemcpy(h, d, N * 4, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		unsigned int v = 0;

		for (unsigned int r = 0; r < ROUNDS; r++)
			v = v * (t + r) + 1;
		wrong += h[i] != v;
	}
	CHECK(cudaFree(d));
	free(h);
	return (void *)(intptr_t)wrong;
}

int main(void)
{
	pthread_t thread[THREADS];
	int wrong = 0;
	void *w;

	for (int t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, work, (void *)(intptr_t)(t + 1));
	for (int t = 0; t < THREADS; t++) {
		pthread_join(thread[t], &w);
		wrong += (int)(intptr_t)w;
	}
	return verdict(!wrong, "%d threads, %d launches each, %d wrong", THREADS, ROUNDS, wrong);
}
