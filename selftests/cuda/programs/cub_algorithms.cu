// SPDX-License-Identifier: GPL-2.0-only
/*
 * CUB from the toolkit: device-wide radix sort, reduction, scan, selection, histogram, and block
 * primitives.
 */
#include <algorithm>
#include <vector>

#include <cub/cub.cuh>

#include "check.h"

static const int N = 30000;

template <typename F> static void with_storage(F f)
{
	size_t bytes = 0;
	void *storage = NULL;

	CHECK(f(storage, bytes));
	CHECK(cudaMalloc(&storage, bytes ? bytes : 1));
	CHECK(f(storage, bytes));
	CHECK(cudaFree(storage));
}

__global__ void blocks(const int *in, int *out, int *sums)
{
	typedef cub::BlockScan<int, 128> scan;
	typedef cub::BlockReduce<int, 128> reduce;
	__shared__ union { typename scan::TempStorage s; typename reduce::TempStorage r; } temp;
	int i = blockIdx.x * 128 + threadIdx.x, v = in[i], before, sum;

	scan(temp.s).ExclusiveSum(v, before);
	__syncthreads();
	sum = reduce(temp.r).Sum(v);
	out[i] = before;
	if (!threadIdx.x)
		sums[blockIdx.x] = sum;
}

struct is_odd { __device__ bool operator()(int v) const { return v & 1; } };

int main(void)
{
	std::vector<int> in(N), got(N), sorted, odd;
	std::vector<float> f(N), fgot(N);
	int *d_in, *d_out, *d_count, count, wrong = 0;
	float *d_f, *d_fout;
	uint32_t seed = 35;

	for (int i = 0; i < N; i++) {
		in[i] = random_bits(&seed) % 100;
		f[i] = random_float(&seed) - 0.5f;
	}
	CHECK(cudaMalloc(&d_in, N * 4));
	CHECK(cudaMalloc(&d_out, (N + 1) * 4));
	CHECK(cudaMalloc(&d_count, 4096));
	CHECK(cudaMalloc(&d_f, N * 4));
	CHECK(cudaMalloc(&d_fout, N * 4));
	CHECK(cudaMemcpy(d_in, in.data(), N * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_f, f.data(), N * 4, cudaMemcpyHostToDevice));

	with_storage([&](void *s, size_t &n) {
		return cub::DeviceRadixSort::SortKeys(s, n, d_f, d_fout, N);
	});
	CHECK(cudaMemcpy(fgot.data(), d_fout, N * 4, cudaMemcpyDeviceToHost));
	std::sort(f.begin(), f.end());
	wrong += f != fgot;

	with_storage(
		[&](void *s, size_t &n) { return cub::DeviceReduce::Max(s, n, d_in, d_count, N); });
	CHECK(cudaMemcpy(&count, d_count, 4, cudaMemcpyDeviceToHost));
	wrong += count != *std::max_element(in.begin(), in.end());

	with_storage([&](void *s, size_t &n) {
		return cub::DeviceScan::InclusiveSum(s, n, d_in, d_out, N);
	});
	CHECK(cudaMemcpy(got.data(), d_out, N * 4, cudaMemcpyDeviceToHost));
	for (int i = 0, sum = 0; i < N; i++)
		wrong += got[i] != (sum += in[i]);

	with_storage([&](void *s, size_t &n) {
		return cub::DeviceSelect::If(s, n, d_in, d_out, d_count, N, is_odd());
	});
	CHECK(cudaMemcpy(&count, d_count, 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(got.data(), d_out, N * 4, cudaMemcpyDeviceToHost));
	for (int v : in)
		if (v & 1)
			odd.push_back(v);
	wrong += count != (int)odd.size() || !std::equal(odd.begin(), odd.end(), got.begin());

	with_storage([&](void *s, size_t &n) {
		return cub::DeviceHistogram::HistogramEven(s, n, d_in, d_count, 11, 0, 100, N);
	});
	CHECK(cudaMemcpy(got.data(), d_count, 40, cudaMemcpyDeviceToHost));
	for (int b = 0; b < 10; b++)
		wrong += got[b] !=
			 std::count_if(in.begin(), in.end(), [&](int v) { return v / 10 == b; });

	blocks<<<N / 128, 128>>>(d_in, d_out, d_count);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got.data(), d_out, N / 128 * 128 * 4, cudaMemcpyDeviceToHost));
	for (int i = 0, sum = 0; i < N / 128 * 128; i++) {
		sum = i % 128 ? sum + in[i - 1] : 0;
		wrong += got[i] != sum;
	}
	return verdict(!wrong, "sort, maximum, scan, selection (%zu), histogram, blocks of %d elements, %d wrong", odd.size(), N, wrong);
}
