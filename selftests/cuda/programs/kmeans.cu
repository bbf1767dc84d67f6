// SPDX-License-Identifier: GPL-2.0-only
/* Clusters by k-means: centres in constant memory, sums by integer atomics in shared memory. */
#include "check.h"

enum { N = 20000, K = 12, ROUNDS = 8 };

__constant__ int2 centre[K];

__global__ void assign(const short2 *point, unsigned char *cluster, int *sums)
{
	__shared__ int mine[3 * K];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x < 3 * K)
		mine[threadIdx.x] = 0;
	__syncthreads();
	if (i < N) {
		short2 p = point[i];
		int best = 0x7fffffff, which = 0;

		for (int k = 0; k < K; k++) {
			int dx = p.x - centre[k].x, dy = p.y - centre[k].y, d = dx * dx + dy * dy;

			if (d < best) {
				best = d;
				which = k;
			}
		}
		cluster[i] = which;
		atomicAdd(&mine[which], p.x);
		atomicAdd(&mine[K + which], p.y);
		atomicAdd(&mine[2 * K + which], 1);
	}
	__syncthreads();
	if (threadIdx.x < 3 * K)
		atomicAdd(&sums[threadIdx.x], mine[threadIdx.x]);
}

__global__ void centres(const int *sums, int2 *out)
{
	int k = threadIdx.x, n = sums[2 * K + k];

	if (n)
		out[k] = make_int2(sums[k] / n, sums[K + k] / n);
}

int main(void)
{
	static short2 point[N];
	static unsigned char got[N];
	int2 c[K], c_got[K];
	short2 *d_point;
	unsigned char *d_cluster;
	int *d_sums, wrong = 0;
	void *d_centre;
	uint32_t seed = 22;

	for (int i = 0; i < N; i++) {
		int k = random_bits(&seed) % K;

		point[i] = make_short2(k % 4 * 700 + (int)(random_bits(&seed) % 900),
				       k / 4 * 800 - (int)(random_bits(&seed) % 900));
	}
	for (int k = 0; k < K; k++)
		c[k] = make_int2(point[k * 7].x, point[k * 7].y);
	CHECK(cudaMalloc(&d_point, sizeof(point)));
	CHECK(cudaMalloc(&d_cluster, N));
	CHECK(cudaMalloc(&d_sums, 3 * K * 4));
	CHECK(cudaMemcpy(d_point, point, sizeof(point), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyToSymbol(centre, c, sizeof(c)));
	CHECK(cudaGetSymbolAddress(&d_centre, centre));
	for (int r = 0; r < ROUNDS; r++) {
		int sums[3][K] = { { 0 } };

		CHECK(cudaMemsetAsync(d_sums, 0, 3 * K * 4));
		assign<<<CEIL_DIV(N, 256), 256>>>(d_point, d_cluster, d_sums);
		centres<<<1, K>>>(d_sums, (int2 *)d_centre);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(got, d_cluster, N, cudaMemcpyDeviceToHost));
		for (int i = 0; i < N; i++) {
			int best = 0x7fffffff, which = 0;

			for (int k = 0; k < K; k++) {
				int dx = point[i].x - c[k].x, dy = point[i].y - c[k].y;

				if (dx * dx + dy * dy < best) {
					best = dx * dx + dy * dy;
					which = k;
				}
			}
			wrong += got[i] != which;
			sums[0][which] += point[i].x;
			sums[1][which] += point[i].y;
			sums[2][which]++;
		}
		for (int k = 0; k < K; k++)
			if (sums[2][k])
				c[k] = make_int2(sums[0][k] / sums[2][k], sums[1][k] / sums[2][k]);
		CHECK(cudaMemcpyFromSymbol(c_got, centre, sizeof(c_got)));
		wrong += memcmp(c, c_got, sizeof(c)) != 0;
	}
	return verdict(!wrong, "%d points, %d clusters, %d rounds, %d wrong", N, K, ROUNDS, wrong);
}
