// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pieces of pinned memory are copied in, worked on and copied back in several streams, over the
 * same buffers: order within a stream matters. Then a dependency between streams by events, and the
 * default stream.
 */
#include "check.h"

enum { STREAMS = 4, PIECE = 20000, PIECES = 12, N = PIECE * PIECES };

__global__ void work(unsigned int *p, int n, int rounds)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		unsigned int v = p[i];

		for (int r = 0; r < rounds; r++)
			v = v * 1664525 + 1013904223;
		p[i] = v;
	}
}

__global__ void add(unsigned int *to, const unsigned int *from, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] += from[i];
}

static unsigned int expected(unsigned int v, int rounds)
{
	while (rounds--)
		v = v * 1664525 + 1013904223;
	return v;
}

int main(void)
{
	unsigned int *in, *out, *d[STREAMS], *sum, *host_sum;
	cudaStream_t stream[STREAMS];
	cudaEvent_t done[STREAMS];
	int wrong = 0, engines;

	CHECK(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, 0));
	CHECK(cudaMallocHost(&in, N * 4));
	CHECK(cudaMallocHost(&out, N * 4));
	CHECK(cudaMallocHost(&host_sum, PIECE * 4));
	CHECK(cudaMalloc(&sum, PIECE * 4));
	for (int s = 0; s < STREAMS; s++) {
		CHECK(cudaStreamCreate(&stream[s]));
		CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
		CHECK(cudaMalloc(&d[s], PIECE * 4));
	}
	for (int i = 0; i < N; i++)
		in[i] = i * 7 + 1;
	for (int p = 0; p < PIECES; p++) {
		int s = p % STREAMS;

		CHECK(cudaMemcpyAsync(d[s], in + p * PIECE, PIECE * 4, cudaMemcpyHostToDevice,
				      stream[s]));
		work<<<CEIL_DIV(PIECE, 128), 128, 0, stream[s]>>>(d[s], PIECE, p + 1);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(out + p * PIECE, d[s], PIECE * 4, cudaMemcpyDeviceToHost,
				      stream[s]));
	}
	for (int s = 0; s < STREAMS; s++)
		CHECK(cudaStreamSynchronize(stream[s]));
	for (int i = 0; i < N; i++)
		wrong += out[i] != expected(in[i], i / PIECE + 1);

	/* stream 0 adds what the others left, each after its event */
	CHECK(cudaMemsetAsync(sum, 0, PIECE * 4, stream[0]));
	for (int s = 1; s < STREAMS; s++) {
		work<<<CEIL_DIV(PIECE, 128), 128, 0, stream[s]>>>(d[s], PIECE, 20);
		CHECK(cudaEventRecord(done[s], stream[s]));
		CHECK(cudaStreamWaitEvent(stream[0], done[s], 0));
		add<<<CEIL_DIV(PIECE, 128), 128, 0, stream[0]>>>(sum, d[s], PIECE);
	}
	work<<<CEIL_DIV(PIECE, 128), 128>>>(sum, PIECE, 3);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(host_sum, sum, PIECE * 4, cudaMemcpyDeviceToHost));
	for (int i = 0; i < PIECE; i++) {
		unsigned int v = 0;

		for (int s = 1; s < STREAMS; s++)
			v += expected(out[(PIECES - STREAMS + s) * PIECE + i], 20);
		wrong += host_sum[i] != expected(v, 3);
	}
	for (int s = 0; s < STREAMS; s++) {
		CHECK(cudaStreamQuery(stream[s]));
		CHECK(cudaStreamDestroy(stream[s]));
		CHECK(cudaEventDestroy(done[s]));
	}
	CHECK(cudaFreeHost(in));
	CHECK(cudaFreeHost(out));
	return verdict(!wrong, "%d pieces in %d streams, sums after events, %d wrong; copies beside kernels: %d",
		       PIECES, STREAMS, wrong, engines);
}
