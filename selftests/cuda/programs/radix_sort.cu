// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stable radix sort: counts by shared atomics, a scan of the counts, ranks by ballots of each warp.
 */
#include <algorithm>
#include <vector>

#include "check.h"

enum { N = 40000, DIGITS = 16, BLOCK = 256, BLOCKS = (N + BLOCK - 1) / BLOCK };

__global__ void count(const unsigned int *key, int shift, int *counts)
{
	__shared__ int mine[DIGITS];
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (threadIdx.x < DIGITS)
		mine[threadIdx.x] = 0;
	__syncthreads();
	if (i < N)
		atomicAdd(&mine[key[i] >> shift & (DIGITS - 1)], 1);
	__syncthreads();
	if (threadIdx.x < DIGITS)
		counts[threadIdx.x * BLOCKS + blockIdx.x] = mine[threadIdx.x];
}

__global__ void scan(int *counts, int n)
{
	__shared__ int sums[1024];
	int per = (n + 1023) / 1024, begin = threadIdx.x * per, sum = 0;

	for (int i = begin; i < begin + per && i < n; i++)
		sum += counts[i];
	sums[threadIdx.x] = sum;
	__syncthreads();
	for (int d = 1; d < 1024; d *= 2) {
		int v = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;

		__syncthreads();
		sums[threadIdx.x] += v;
		__syncthreads();
	}
	sum = sums[threadIdx.x] - sum;
	for (int i = begin; i < begin + per && i < n; i++) {
		int c = counts[i];

		counts[i] = sum;
		sum += c;
	}
}

__global__ void scatter(const unsigned int *key, const int *value, unsigned int *key_out,
			int *value_out, int shift, const int *counts)
{
	__shared__ int before[BLOCK / 32][DIGITS];
	int i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32,
	    at;
	unsigned int k = i < N ? key[i] : 0, digit = k >> shift & (DIGITS - 1),
		     same = __ballot_sync(0xffffffff, i < N);

	if (lane < DIGITS)
		before[warp][lane] = 0;
	__syncwarp();
	for (int b = 0; b < 4; b++) {
		unsigned int vote = __ballot_sync(0xffffffff, digit >> b & 1);

		same &= digit >> b & 1 ? vote : ~vote;
	}
	at = __popc(same & ((1u << lane) - 1));
	if (i < N && !at)
		before[warp][digit] = __popc(same);
	__syncthreads();
	if (i >= N)
		return;
	for (int w = 0; w < warp; w++)
		at += before[w][digit];
	at += counts[digit * BLOCKS + blockIdx.x];
	key_out[at] = k;
	value_out[at] = value[i];
}

int main(void)
{
	std::vector<unsigned int> key(N), got(N);
	std::vector<int> value(N), order(N);
	unsigned int *dk[2];
	int *dv[2], *counts, wrong = 0, from = 0;
	uint32_t seed = 21;

	for (int i = 0; i < N; i++) {
		key[i] = i % 3 ? random_bits(&seed) : random_bits(&seed) & 0xff00ff;
		value[i] = order[i] = i;
	}
	for (int i = 0; i < 2; i++) {
		CHECK(cudaMalloc(&dk[i], N * 4));
		CHECK(cudaMalloc(&dv[i], N * 4));
	}
	CHECK(cudaMalloc(&counts, DIGITS * BLOCKS * 4));
	CHECK(cudaMemcpy(dk[0], key.data(), N * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dv[0], value.data(), N * 4, cudaMemcpyHostToDevice));
	for (int shift = 0; shift < 32; shift += 4, from = !from) {
		count<<<BLOCKS, BLOCK>>>(dk[from], shift, counts);
		scan<<<1, 1024>>>(counts, DIGITS * BLOCKS);
		scatter<<<BLOCKS, BLOCK>>>(dk[from], dv[from], dk[!from], dv[!from], shift, counts);
		CHECK_LAUNCH();
	}
	CHECK(cudaMemcpy(got.data(), dk[from], N * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(value.data(), dv[from], N * 4, cudaMemcpyDeviceToHost));
	std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[a] < key[b]; });
	for (int i = 0; i < N; i++)
		wrong += value[i] != order[i] || got[i] != key[order[i]];
	return verdict(!wrong, "%d keys with values in 8 passes, stable, %d wrong", N, wrong);
}
