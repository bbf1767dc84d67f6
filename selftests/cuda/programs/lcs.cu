// SPDX-License-Identifier: GPL-2.0-only
/*
 * Longest common subsequence, diagonal by diagonal in three buffers, and the edit distance in one
 * block.
 */
#include <vector>

#include "check.h"

enum { N = 600, M = 500 };

__global__ void diagonal(const char *a, const char *b, const int *before2, const int *before,
			 int *now, int d)
{
	int first = max(1, d - M), i = first + blockIdx.x * blockDim.x + threadIdx.x, j = d - i;

	if (i > min(N, d - 1))
		return;
	/* index i: cell (i, d - i) */
	now[i] = a[i - 1] == b[j - 1] ? before2[i - 1] + 1 : max(before[i - 1], before[i]);
}

/* each thread's column is a step behind its left neighbour's */
__global__ void edit(const char *a, const char *b, int *out)
{
	__shared__ int right[2][M + 1];
	int j = threadIdx.x + 1, above = j, corner = j - 1;

	for (int t = 0; t < N + M; t++) {
		int i = t - threadIdx.x + 1, v;

		if (i >= 1 && i <= N && j <= M) {
			int left = j == 1 ? i : right[(t + 1) & 1][j - 1];

			v = min(min(above, left) + 1, corner + (a[i - 1] != b[j - 1]));
			corner = left;
			above = v;
			right[t & 1][j] = v;
			if (i == N && j == M)
				*out = v;
		}
		__syncthreads();
	}
}

int main(void)
{
	std::vector<char> a(N), b(M);
	std::vector<int> lcs((N + 1) * (M + 1), 0), dist((N + 1) * (M + 1));
	char *da, *db;
	int *d[3], *d_dist, got_lcs, got_dist;
	uint32_t seed = 14;

	for (int i = 0; i < N; i++)
		a[i] = "acgt"[random_bits(&seed) % 4];
	for (int i = 0; i < M; i++)
		b[i] = i % 4 ? a[(i + i / 50) % N] : "acgt"[random_bits(&seed) % 4];
	for (int i = 0; i <= N; i++)
		for (int j = 0; j <= M; j++) {
			int at = i * (M + 1) + j, up = at - M - 1;

			if (!i || !j) {
				dist[at] = i + j;
				continue;
			}
			lcs[at] = a[i - 1] == b[j - 1]	? lcs[up - 1] + 1 :
				  lcs[up] > lcs[at - 1] ? lcs[up] :
							  lcs[at - 1];
			dist[at] = dist[up - 1] + (a[i - 1] != b[j - 1]);
			dist[at] = dist[up] + 1 < dist[at] ? dist[up] + 1 : dist[at];
			dist[at] = dist[at - 1] + 1 < dist[at] ? dist[at - 1] + 1 : dist[at];
		}
	CHECK(cudaMalloc(&da, N));
	CHECK(cudaMalloc(&db, M));
	CHECK(cudaMalloc(&d_dist, 4));
	CHECK(cudaMemcpy(da, a.data(), N, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), M, cudaMemcpyHostToDevice));
	for (int i = 0; i < 3; i++) {
		CHECK(cudaMalloc(&d[i], (N + 1) * 4));
		CHECK(cudaMemset(d[i], 0, (N + 1) * 4));
	}
	for (int k = 2; k <= N + M; k++) {
		int *now = d[k % 3];

		if (k - 1 <= N)
			CHECK(cudaMemsetAsync(now + k, 0, k <= N ? 4 : 0));
		diagonal<<<CEIL_DIV(N, 128), 128>>>(da, db, d[(k + 1) % 3], d[(k + 2) % 3], now, k);
		CHECK_LAUNCH();
	}
	CHECK(cudaMemcpy(&got_lcs, d[(N + M) % 3] + N, 4, cudaMemcpyDeviceToHost));
	edit<<<1, 512>>>(da, db, d_dist);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(&got_dist, d_dist, 4, cudaMemcpyDeviceToHost));
	return verdict(got_lcs == lcs.back() && got_dist == dist.back(), "%d and %d letters: common subsequence %d of %d, edit distance %d of %d",
		       N, M, got_lcs, lcs.back(), got_dist, dist.back());
}
