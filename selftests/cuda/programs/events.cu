// SPDX-License-Identifier: GPL-2.0-only
/* Events: what is recorded, queried, waited for and measured. */
#include "check.h"

__global__ void spin(unsigned int *out, int rounds)
{
	unsigned int v = threadIdx.x;

	for (int i = 0; i < rounds; i++)
		v = v * 69069 + 1;
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

static int bad;

static void expect(bool ok, const char *what)
{
	if (!ok) {
		printf("not so: %s\n", what);
		bad++;
	}
}

int main(void)
{
	unsigned int *d;
	cudaEvent_t e[4], other, quiet;
	cudaStream_t stream;
	float short_ms, long_ms, all_ms, none;

	CHECK(cudaMalloc(&d, 26 * 128 * 4));
	for (int i = 0; i < 4; i++)
		CHECK(cudaEventCreate(&e[i]));
	CHECK(cudaEventCreate(&other));
	CHECK(cudaEventCreateWithFlags(&quiet, cudaEventDisableTiming | cudaEventBlockingSync));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	expect(cudaEventQuery(other) == cudaSuccess, "an event that was never recorded is complete");
	expect(cudaEventElapsedTime(&none, e[0], other) == cudaErrorInvalidResourceHandle,
	       "it has no time");
	cudaGetLastError();

	spin<<<26, 128, 0, stream>>>(d, 10);		/* the first one costs more */
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaEventRecord(e[0], stream));
	spin<<<26, 128, 0, stream>>>(d, 2000);
	CHECK(cudaEventRecord(e[1], stream));
	for (int i = 0; i < 10; i++)
		spin<<<26, 128, 0, stream>>>(d, 4000);
	CHECK(cudaEventRecord(e[2], stream));
	CHECK(cudaEventRecord(quiet, stream));
	CHECK_LAUNCH();
	CHECK(cudaEventSynchronize(quiet));
	expect(cudaEventQuery(e[2]) == cudaSuccess, "what came before is complete, too");
	CHECK(cudaEventElapsedTime(&short_ms, e[0], e[1]));
	CHECK(cudaEventElapsedTime(&long_ms, e[1], e[2]));
	CHECK(cudaEventElapsedTime(&all_ms, e[0], e[2]));
	expect(short_ms > 0 && long_ms > 0, "work takes time, and later events are later");
	expect(fabs(short_ms + long_ms - all_ms) < 0.01 + 0.001 * all_ms, "times add up");
	expect(cudaEventElapsedTime(&none, e[0], quiet) == cudaErrorInvalidResourceHandle,
	       "an event without timing has no time");
	cudaGetLastError();

	/* an event recorded again stands for the later work */
	spin<<<26, 128, 0, stream>>>(d, 20000);
	CHECK(cudaEventRecord(e[1], stream));
	CHECK(cudaEventSynchronize(e[1]));
	CHECK(cudaEventElapsedTime(&none, e[2], e[1]));
	expect(none >= 0 && cudaStreamQuery(stream) == cudaSuccess, "recorded again");
	for (int i = 0; i < 4; i++)
		CHECK(cudaEventDestroy(e[i]));
	CHECK(cudaStreamDestroy(stream));
	return verdict(!bad, "events: short %.3f ms, long %.3f ms, both %.3f ms; %d expectations failed", short_ms, long_ms, all_ms, bad);
}
