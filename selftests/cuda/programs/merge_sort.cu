// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merge sort: odd-even sort of small runs in shared memory, then merges split among threads by
 * binary search (merge path).
 */
#include <algorithm>
#include <vector>

#include "check.h"

enum { N = 30000, RUN = 128, PER_THREAD = 8 };

__global__ void sort_runs(double *a)
{
	__shared__ double s[RUN];
	int t = threadIdx.x, at = blockIdx.x * RUN + t;

	s[t] = at < N ? a[at] : INFINITY;
	for (int i = 0; i < RUN; i++) {
		__syncthreads();
		if ((t & 1) == (i & 1) && t + 1 < RUN && s[t] > s[t + 1]) {
			double v = s[t];

			s[t] = s[t + 1];
			s[t + 1] = v;
		}
	}
	__syncthreads();
	if (at < N)
		a[at] = s[t];
}

/* elements from @a among the first @diagonal of the merge */
__device__ int split(const double *a, int na, const double *b, int nb, int diagonal)
{
	int low = max(0, diagonal - nb), high = min(diagonal, na);

	while (low < high) {
		int mid = (low + high) / 2;

		if (a[mid] <= b[diagonal - 1 - mid])
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

__global__ void merge(const double *in, double *out, int width)
{
	int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD,
	    pair = first / (2 * width) * 2 * width;
	int na = min(width, N - pair), nb = min(width, N - pair - na), diagonal = first - pair, i,
	    j;
	const double *a = in + pair, *b = a + na;

	if (first >= N)
		return;
	nb = max(nb, 0);
	i = split(a, na, b, nb, diagonal);
	j = diagonal - i;
	for (int k = 0; k < PER_THREAD && i + j < na + nb; k++) {
		bool left = j >= nb || (i < na && a[i] <= b[j]);

		out[pair + diagonal + k] = left ? a[i] : b[j];
		i += left;
		j += !left;
	}
}

int main(void)
{
	std::vector<double> a(N), got(N);
	double *d[2];
	int wrong = 0, from = 0;
	uint32_t seed = 6;

	for (int i = 0; i < N; i++)
		a[i] = (int)random_bits(&seed) / 1024.0;
	CHECK(cudaMalloc(&d[0], N * 8));
	CHECK(cudaMalloc(&d[1], N * 8));
	CHECK(cudaMemcpy(d[0], a.data(), N * 8, cudaMemcpyHostToDevice));
	sort_runs<<<CEIL_DIV(N, RUN), RUN>>>(d[0]);
	for (int width = RUN; width < N; width *= 2, from = !from)
		merge<<<CEIL_DIV(N, 64 * PER_THREAD), 64>>>(d[from], d[!from], width);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got.data(), d[from], N * 8, cudaMemcpyDeviceToHost));
	std::sort(a.begin(), a.end());
	for (int i = 0; i < N; i++)
		wrong += got[i] != a[i];
	return verdict(!wrong, "%d doubles, %d wrong", N, wrong);
}
