// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote_train STEPS: a training loop of a small network as a GPU's driver sees it: copies in,
 * short launches, and copies out that are waited for. Prints the seconds that the steps took, and
 * checks the last sum.
 */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

enum { WORDS = 1024, LAUNCHES = 20, BLOCK = 256 };

__global__ void layer(const float *in, float *out, float weight, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i] * weight + 1.0f;
}

__global__ void loss(const float *in, float *out, int n)
{
	__shared__ float sum[BLOCK];
	float mine = 0;

	for (int i = threadIdx.x; i < n; i += BLOCK)
		mine += in[i];
	sum[threadIdx.x] = mine;
	for (int half = BLOCK / 2; half; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			sum[threadIdx.x] += sum[threadIdx.x + half];
	}
	if (!threadIdx.x)
		*out = sum[0];
}

static void must(cudaError_t r, const char *what)
{
	if (r == cudaSuccess)
		return;
	fprintf(stderr, "%s: error %d\n", what, (int)r);
	exit(1);
}
#define MUST(call) must(call, #call)

static double now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 5000;
	static float batch[WORDS];
	float *a, *b, *sum, got = 0, want;
	double start = 0;

	MUST(cudaMalloc((void **)&a, sizeof(batch)));
	MUST(cudaMalloc((void **)&b, sizeof(batch)));
	MUST(cudaMalloc((void **)&sum, sizeof(float)));
	/* the first one loads the kernels */
	for (int step = -1; step < steps; step++) {
		for (int i = 0; i < WORDS; i++)
			batch[i] = (step + i) % 7;
		MUST(cudaMemcpy(a, batch, sizeof(batch), cudaMemcpyHostToDevice));
		for (int i = 0; i < LAUNCHES - 1; i++) {
			layer<<<WORDS / BLOCK, BLOCK>>>(i % 2 ? b : a, i % 2 ? a : b, 0.5f, WORDS);
			MUST(cudaGetLastError());
		}
		loss<<<1, BLOCK>>>(b, sum, WORDS);
		MUST(cudaGetLastError());
		MUST(cudaMemcpy(&got, sum, sizeof(got), cudaMemcpyDeviceToHost));
		if (step < 0)
			start = now();
	}
	printf("%d steps: %.3f s, %.1f us each\n", steps, now() - start,
	       (now() - start) / steps * 1e6);
	/* each number comes near to 2 */
	want = 2.0f * WORDS;
	if (got < want * 0.999f || got > want * 1.001f) {
		fprintf(stderr, "the sum is %f, and not near to %f\n", got, want);
		return 1;
	}
	return 0;
}
