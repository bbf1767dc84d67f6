// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triangles of a graph: rows of bits and population counts, and intersections of sorted lists with
 * 64-bit sums.
 */
#include <vector>

#include "check.h"

enum { N = 512, WORDS = N / 32 };

__global__ void by_bits(const unsigned int *bits, unsigned long long *total)
{
	int a = blockIdx.x;
	unsigned int sum = 0;

	for (int b = a + 1 + threadIdx.x; b < N; b += blockDim.x)
		if (bits[a * WORDS + b / 32] >> b % 32 & 1)
			for (int w = 0; w < WORDS; w++)
				sum += __popc(bits[a * WORDS + w] & bits[b * WORDS + w]);
	if (sum)
		atomicAdd(total, (unsigned long long)sum);
}

__global__ void by_lists(const int *begin, const int *to, unsigned long long *total)
{
	__shared__ unsigned long long sum;
	int a = blockIdx.x;

	if (!threadIdx.x)
		sum = 0;
	__syncthreads();
	for (int e = begin[a] + threadIdx.x; e < begin[a + 1]; e += blockDim.x) {
		int i = begin[a], j = begin[to[e]], n = 0;

		while (i < begin[a + 1] && j < begin[to[e] + 1]) {
			int left = to[i], right = to[j];

			n += left == right;
			i += left <= right;
			j += left >= right;
		}
		atomicAdd(&sum, (unsigned long long)n);
	}
	__syncthreads();
	if (!threadIdx.x)
		atomicAdd(total, sum);
}

int main(void)
{
	static bool linked[N][N];
	static unsigned int bits[N * WORDS];
	std::vector<int> begin(1, 0), to;
	unsigned long long want = 0, got[2], *d_total;
	unsigned int *d_bits;
	int *d_begin, *d_to;
	uint32_t seed = 31;

	for (int i = 0; i < N * 12; i++) {
		int a = random_bits(&seed) % N, b = random_bits(&seed) % N;

		linked[a][b] = linked[b][a] = a != b || linked[a][b];
	}
	for (int a = 0; a < N; a++) {
		linked[a][a] = false;
		for (int b = 0; b < N; b++)
			if (linked[a][b]) {
				bits[a * WORDS + b / 32] |= 1u << b % 32;
				if (b > a)
					to.push_back(b);
			}
		begin.push_back(to.size());
	}
	for (int a = 0; a < N; a++)
		for (int b = a + 1; b < N; b++)
			for (int c = b + 1; c < N && linked[a][b]; c++)
				want += linked[a][c] && linked[b][c];
	CHECK(cudaMalloc(&d_bits, sizeof(bits)));
	CHECK(cudaMalloc(&d_total, sizeof(got)));
	CHECK(cudaMalloc(&d_begin, begin.size() * 4));
	CHECK(cudaMalloc(&d_to, to.size() * 4));
	CHECK(cudaMemset(d_total, 0, sizeof(got)));
	CHECK(cudaMemcpy(d_bits, bits, sizeof(bits), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_begin, begin.data(), begin.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_to, to.data(), to.size() * 4, cudaMemcpyHostToDevice));
	by_bits<<<N, 64>>>(d_bits, d_total);
	by_lists<<<N, 32>>>(d_begin, d_to, d_total + 1);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_total, sizeof(got), cudaMemcpyDeviceToHost));
	return verdict(got[0] == 3 * want && got[1] == want && want, "%llu triangles in %zu edges; by bits %llu, by lists %llu", want,
		       to.size(), got[0] / 3, got[1]);
}
