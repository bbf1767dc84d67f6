// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinned memory that the GPU reads and writes in place, atomics in it, and a kernel and the CPU
 * that talk through it while the kernel runs.
 */
#include "check.h"

enum { N = 10000 };

__global__ void square(const int *in, int *out, int *sum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N) {
		out[i] = in[i] * in[i];
		atomicAdd(sum, in[i] & 1);
	}
}

/* doubles each new question, until a negative one */
__global__ void answer(volatile int *question, volatile int *reply)
{
	int seen = 0;

	for (;;) {
		int q = *question;

		if (q == seen)
			continue;
		if (q < 0)
			return;
		*reply = 2 * q;
		__threadfence_system();
		seen = q;
	}
}

int main(void)
{
	int *in, *out, *d_in, *d_out, *talk, *d_talk, *same, wrong = 0, odd = 0, answered = 0;
	unsigned int flags;
	cudaDeviceProp prop;
	cudaStream_t stream;
	double start;

	CHECK(cudaSetDeviceFlags(cudaDeviceMapHost));
	CHECK(cudaGetDeviceProperties(&prop, 0));
	wrong += !prop.canMapHostMemory;
	CHECK(cudaHostAlloc(&in, N * 4, cudaHostAllocMapped | cudaHostAllocWriteCombined));
	CHECK(cudaHostAlloc(&out, (N + 1) * 4, cudaHostAllocMapped));
	CHECK(cudaHostAlloc(&talk, 256, cudaHostAllocMapped | cudaHostAllocPortable));
	CHECK(cudaHostGetFlags(&flags, talk));
	wrong += !(flags & cudaHostAllocMapped);
	CHECK(cudaHostGetDevicePointer(&d_in, in, 0));
	CHECK(cudaHostGetDevicePointer(&d_out, out, 0));
	CHECK(cudaHostGetDevicePointer(&d_talk, talk, 0));
	for (int i = 0; i < N; i++) {
		in[i] = i * 3;
		odd += i * 3 & 1;
	}
	out[N] = 0;
	square<<<CEIL_DIV(N, 256), 256>>>(d_in, d_out, d_out + N);
	CHECK_LAUNCH();
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++)
		wrong += out[i] != i * 3 * i * 3;
	wrong += out[N] != odd;
	/* all pinned memory has one address for both */
	CHECK(cudaHostAlloc(&same, 4, cudaHostAllocPortable));
	*same = 0;
	square<<<CEIL_DIV(N, 256), 256>>>(d_in, d_out, same);
	CHECK_LAUNCH();
	CHECK(cudaDeviceSynchronize());
	wrong += *same != odd;
	CHECK(cudaFreeHost(same));

	talk[0] = talk[32] = 0;
	CHECK(cudaStreamCreate(&stream));
	answer<<<1, 1, 0, stream>>>(d_talk, d_talk + 32);
	CHECK_LAUNCH();
	start = now_ms();
	for (int q = 1; q <= 50 && now_ms() - start < 20000; q++) {
		*(volatile int *)&talk[0] = q;
		while (*(volatile int *)&talk[32] != 2 * q && now_ms() - start < 20000)
			;
		answered += talk[32] == 2 * q;
	}
	*(volatile int *)&talk[0] = -1;
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaFreeHost(in));
	CHECK(cudaFreeHost(out));
	CHECK(cudaFreeHost(talk));
	return verdict(!wrong && answered == 50, "%d squares in place, %d of 50 answers of a running kernel, %d wrong", N, answered, wrong);
}
