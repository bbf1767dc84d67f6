// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exclusive prefix sums over several levels in shared memory, inclusive ones by shuffles within
 * warps, and compaction with the first.
 */
#include <vector>

#include "check.h"

enum { BLOCK = 256, PER_BLOCK = 2 * BLOCK };

/* sums[]: each block's total */
__global__ void sweep(const int *in, int *out, int *sums, int n)
{
	__shared__ int s[PER_BLOCK];
	int t = threadIdx.x, base = blockIdx.x * PER_BLOCK;

	s[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
	s[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
	for (int d = PER_BLOCK / 2, step = 1; d; d /= 2, step *= 2) {
		__syncthreads();
		if (t < d)
			s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
	}
	if (!t) {
		sums[blockIdx.x] = s[PER_BLOCK - 1];
		s[PER_BLOCK - 1] = 0;
	}
	for (int d = 1, step = PER_BLOCK / 2; d < PER_BLOCK; d *= 2, step /= 2) {
		__syncthreads();
		if (t < d) {
			int left = step * (2 * t + 1) - 1, right = step * (2 * t + 2) - 1,
			    v = s[left];

			s[left] = s[right];
			s[right] += v;
		}
	}
	__syncthreads();
	for (int i = t; i < PER_BLOCK && base + i < n; i += BLOCK)
		out[base + i] = s[i];
}

__global__ void add_base(int *out, const int *sums, int n)
{
	for (int i = threadIdx.x; i < PER_BLOCK; i += BLOCK)
		if (blockIdx.x * PER_BLOCK + i < n)
			out[blockIdx.x * PER_BLOCK + i] += sums[blockIdx.x];
}

/* @in may be @out: a block reads all its elements before it writes */
static void scan(const int *in, int *out, int n)
{
	int blocks = CEIL_DIV(n, PER_BLOCK), *sums;

	CHECK(cudaMalloc(&sums, blocks * sizeof(int)));
	sweep<<<blocks, BLOCK>>>(in, out, sums, n);
	CHECK_LAUNCH();
	if (blocks > 1) {
		scan(sums, sums, blocks);
		add_base<<<blocks, BLOCK>>>(out, sums, n);
		CHECK_LAUNCH();
	}
	CHECK(cudaFree(sums));
}

__global__ void warp_scan(const int *in, int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31,
	    v = i < n ? in[i] : 0;

	for (int d = 1; d < 32; d *= 2) {
		int below = __shfl_up_sync(0xffffffff, v, d);

		if (lane >= d)
			v += below;
	}
	if (i < n)
		out[i] = v;
}

__global__ void flag(const int *in, int *flags, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		flags[i] = in[i] % 3 == 0;
}

__global__ void compact(const int *in, const int *flags, const int *at, int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n && flags[i])
		out[at[i]] = in[i];
}

int main(void)
{
	const int n = 300001;
	std::vector<int> in(n), got(n), kept;
	int *d_in, *d_out, *d_flags, *d_kept, sum = 0, wrong = 0;
	uint32_t seed = 12;

	for (int i = 0; i < n; i++)
		in[i] = random_bits(&seed) % 1000;
	CHECK(cudaMalloc(&d_in, n * 4));
	CHECK(cudaMalloc(&d_out, n * 4));
	CHECK(cudaMalloc(&d_flags, n * 4));
	CHECK(cudaMalloc(&d_kept, n * 4));
	CHECK(cudaMemcpy(d_in, in.data(), n * 4, cudaMemcpyHostToDevice));
	scan(d_in, d_out, n);
	CHECK(cudaMemcpy(got.data(), d_out, n * 4, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; sum += in[i++])
		wrong += got[i] != sum;
	warp_scan<<<CEIL_DIV(n, 128), 128>>>(d_in, d_out, n);
	CHECK(cudaMemcpy(got.data(), d_out, n * 4, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++) {
		sum = i % 32 ? sum + in[i] : in[i];
		wrong += got[i] != sum;
	}
	flag<<<CEIL_DIV(n, 256), 256>>>(d_in, d_flags, n);
	scan(d_flags, d_out, n);
	compact<<<CEIL_DIV(n, 256), 256>>>(d_in, d_flags, d_out, d_kept, n);
	CHECK_LAUNCH();
	for (int i = 0; i < n; i++)
		if (in[i] % 3 == 0)
			kept.push_back(in[i]);
	CHECK(cudaMemcpy(got.data(), d_kept, kept.size() * 4, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < kept.size(); i++)
		wrong += got[i] != kept[i];
	return verdict(!wrong, "scans of %d elements, %zu kept of them, %d wrong", n, kept.size(), wrong);
}
