// SPDX-License-Identifier: GPL-2.0-only
/* Host functions in streams run in their place of the order, and work behind them waits. */
#include "check.h"

enum { ROUNDS = 8, N = 1000 };

__global__ void increment(int *p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		p[i]++;
}

struct step {
	int number, *values, bad;
};

static volatile int calls;

static void host_function(void *arg)
{
	struct step *s = (struct step *)arg;

	s->bad += calls != s->number;
	for (int i = 0; i < N; i++) {
		s->bad += s->values[i] != i + s->number * 11 + 1;
		s->values[i] += 10;
	}
	calls++;
}

static void CUDART_CB callback(cudaStream_t stream, cudaError_t status, void *arg)
{
	*(int *)arg = status == cudaSuccess && calls == ROUNDS ? 1 : -1;
}

int main(void)
{
	static struct step steps[ROUNDS];
	cudaStream_t stream;
	int *h, *d, bad = 0, called = 0;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMallocHost(&h, N * 4));
	CHECK(cudaMalloc(&d, N * 4));
	for (int i = 0; i < N; i++)
		h[i] = i;
	for (int r = 0; r < ROUNDS; r++) {
		steps[r] = (struct step){ r, h, 0 };
		CHECK(cudaMemcpyAsync(d, h, N * 4, cudaMemcpyHostToDevice, stream));
		increment<<<CEIL_DIV(N, 128), 128, 0, stream>>>(d);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(h, d, N * 4, cudaMemcpyDeviceToHost, stream));
		CHECK(cudaLaunchHostFunc(stream, host_function, &steps[r]));
	}
	CHECK(cudaStreamAddCallback(stream, callback, &called, 0));
	CHECK(cudaStreamSynchronize(stream));
	for (int r = 0; r < ROUNDS; r++)
		bad += steps[r].bad;
	for (int i = 0; i < N; i++)
		bad += h[i] != i + 11 * ROUNDS;
	return verdict(!bad && calls == ROUNDS && called == 1, "%d host functions and a callback in order (%d, %d), %d wrong", ROUNDS, calls,
		       called, bad);
}
