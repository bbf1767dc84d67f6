// SPDX-License-Identifier: GPL-2.0-only
/* Histograms: by global atomics, by shared ones that are merged, by a copy for each warp. */
#include "check.h"

enum { N = 1 << 18, BINS = 256, BLOCK = 256 };

__global__ void global(const unsigned char *in, unsigned int *bins)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
		atomicAdd(&bins[in[i]], 1u);
}

__global__ void shared(const unsigned char *in, unsigned int *bins)
{
	__shared__ unsigned int mine[BINS];

	mine[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK)
		atomicAdd(&mine[in[i]], 1u);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__global__ void by_warps(const uchar4 *in, unsigned int *bins)
{
	__shared__ unsigned int mine[BLOCK / 32][BINS];
	unsigned int *m = mine[threadIdx.x / 32], sum = 0;

	for (int i = threadIdx.x; i < BLOCK / 32 * BINS; i += BLOCK)
		mine[0][i] = 0;
	__syncthreads();
	for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N / 4; i += gridDim.x * BLOCK) {
		uchar4 v = in[i];

		atomicAdd(&m[v.x], 1u);
		atomicAdd(&m[v.y], 1u);
		atomicAdd(&m[v.z], 1u);
		atomicAdd(&m[v.w], 1u);
	}
	__syncthreads();
	for (int w = 0; w < BLOCK / 32; w++)
		sum += mine[w][threadIdx.x];
	atomicAdd(&bins[threadIdx.x], sum);
}

__global__ void extremes(const int *in, int n, int *least, int *most, unsigned long long *sum,
			 unsigned int *bits)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	atomicMin(least, in[i]);
	atomicMax(most, in[i]);
	atomicAdd(sum, (unsigned long long)(unsigned int)in[i]);
	atomicXor(bits, (unsigned int)in[i]);
	atomicOr(bits + 1, (unsigned int)in[i]);
	atomicAnd(bits + 2, (unsigned int)in[i] | 0xff);
}

int main(void)
{
	static unsigned char in[N];
	static unsigned int want[BINS], got[3][BINS];
	struct result {
		int least, most;
		unsigned long long sum;
		unsigned int bits[3];
	} w = { 0x7fffffff, -0x7fffffff - 1, 0, { 0, 0, ~0u } }, g = w, *d_result;
	unsigned char *d;
	unsigned int *bins;
	int wrong = 0, n = N / 4;
	uint32_t seed = 13;

	for (int i = 0; i < N; i++) {
		in[i] = i % 5 ? random_bits(&seed) : 77;
		want[in[i]]++;
	}
	for (int i = 0; i < n; i++) {
		int v = ((int *)in)[i];

		w.least = v < w.least ? v : w.least;
		w.most = v > w.most ? v : w.most;
		w.sum += (unsigned int)v;
		w.bits[0] ^= v;
		w.bits[1] |= v;
		w.bits[2] &= v | 0xff;
	}
	CHECK(cudaMalloc(&d, N));
	CHECK(cudaMalloc(&bins, sizeof(got)));
	CHECK(cudaMalloc(&d_result, sizeof(g)));
	CHECK(cudaMemcpy(d, in, N, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(bins, 0, sizeof(got)));
	CHECK(cudaMemcpy(d_result, &g, sizeof(g), cudaMemcpyHostToDevice));
	global<<<16, BLOCK>>>(d, bins);
	shared<<<26, BLOCK>>>(d, bins + BINS);
	by_warps<<<13, BLOCK>>>((uchar4 *)d, bins + 2 * BINS);
	extremes<<<n / BLOCK, BLOCK>>>((int *)d, n, &d_result->least, &d_result->most,
				       &d_result->sum, d_result->bits);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, bins, sizeof(got), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&g, d_result, sizeof(g), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 3 * BINS; i++)
		wrong += got[i / BINS][i % BINS] != want[i % BINS];
	wrong += g.least != w.least || g.most != w.most || g.sum != w.sum ||
		 memcmp(g.bits, w.bits, sizeof(g.bits));
	return verdict(!wrong, "3 histograms of %d bytes, extremes and sums of %d words, %d wrong", N, n, wrong);
}
