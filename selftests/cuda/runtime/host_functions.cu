// SPDX-License-Identifier: GPL-2.0-only
/* Functions of the host in the order of a stream, between kernels and copies. */
#include "../programs/check.h"

__global__ void add(int *p, int v)
{
	*p += v;
}

struct step {
	int *pinned, seen, calls;
};

static void CUDART_CB on_host(void *data)
{
	step *s = (step *)data;

	s->seen = *s->pinned;
	*s->pinned = s->seen * 2;
	s->calls++;
}

static void CUDART_CB on_callback(cudaStream_t stream, cudaError_t status, void *data)
{
	((step *)data)->calls += status == cudaSuccess ? 10 : 1000;
}

int main(void)
{
	step steps[10];
	cudaStream_t s;
	int *d, *pinned, want = 0, wrong = 0;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMalloc(&d, 4));
	CHECK(cudaMallocHost(&pinned, 4));
	CHECK(cudaMemsetAsync(d, 0, 4, s));
	for (int i = 0; i < 10; i++) {
		steps[i] = { pinned, -1, 0 };
		add<<<1, 1, 0, s>>>(d, i + 1);
		CHECK(cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s));
		CHECK(cudaLaunchHostFunc(s, on_host, &steps[i]));
		CHECK(cudaMemcpyAsync(d, pinned, 4, cudaMemcpyHostToDevice, s));
		CHECK(cudaStreamAddCallback(s, on_callback, &steps[i], 0));
	}
	CHECK(cudaStreamSynchronize(s));
	for (int i = 0; i < 10; i++) {
		want += i + 1;
		wrong += steps[i].seen != want || steps[i].calls != 11;
		want *= 2;
	}
	return verdict(!wrong, "%d of 10 steps wrong", wrong);
}
