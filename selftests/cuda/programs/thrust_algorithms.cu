// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thrust from the toolkit: sort, reduce, scan, transform, reduce by key, unique, against the CPU's.
 */
#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include "check.h"

enum { N = 20000 };

struct squared {
	__host__ __device__ long long operator()(int v) const { return (long long)v * v; }
};

int main(void)
{
	thrust::host_vector<int> h(N);
	std::vector<int> keys(N);
	std::map<int, int> sums;
	int wrong = 0;
	uint32_t seed = 34;

	for (int i = 0; i < N; i++)
		h[i] = random_bits(&seed) % 1000 - 500;
	thrust::device_vector<int> d = h;
	thrust::device_vector<long long> squares(N);

	wrong += thrust::reduce(d.begin(), d.end()) != std::accumulate(h.begin(), h.end(), 0);
	thrust::transform(d.begin(), d.end(), squares.begin(), squared());
	wrong += thrust::reduce(squares.begin(), squares.end(), 0ll, thrust::plus<long long>()) !=
		 std::accumulate(h.begin(), h.end(), 0ll,
				 [](long long s, int v) { return s + (long long)v * v; });

	thrust::device_vector<int> scanned(N);
	thrust::exclusive_scan(d.begin(), d.end(), scanned.begin());
	thrust::host_vector<int> hs = scanned;
	for (int i = 0, s = 0; i < N; s += h[i++])
		wrong += hs[i] != s;

	thrust::device_vector<int> values(N);
	for (int i = 0; i < N; i++)
		sums[h[i]] += i;
	thrust::host_vector<int> numbers(N);
	std::iota(numbers.begin(), numbers.end(), 0);
	values = numbers;
	thrust::sort_by_key(d.begin(), d.end(), values.begin());
	thrust::host_vector<int> sorted = d, order = values;
	wrong += !std::is_sorted(sorted.begin(), sorted.end());
	for (int i = 0; i < N; i++)
		wrong += h[order[i]] != sorted[i];

	thrust::device_vector<int> out_keys(N), out_sums(N);
	auto ends = thrust::reduce_by_key(d.begin(), d.end(), values.begin(), out_keys.begin(),
					  out_sums.begin());
	int n = ends.first - out_keys.begin();
	thrust::host_vector<int> hk = out_keys, hv = out_sums;
	wrong += n != (int)sums.size();
	for (int i = 0; i < n; i++)
		wrong += sums[hk[i]] != hv[i];
	wrong += thrust::unique(d.begin(), d.end()) - d.begin() != n;
	return verdict(!wrong, "%d elements, %d different, %d wrong", N, n, wrong);
}
