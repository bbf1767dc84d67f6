// SPDX-License-Identifier: GPL-2.0-only
/* LU with partial pivoting on the GPU; L U = P A is compared. */
#include "check.h"

enum { N = 96 };

__global__ void find_pivot(const double *a, int k, int *pivot)
{
	__shared__ double best[128];
	__shared__ int where[128];
	int t = threadIdx.x;

	best[t] = k + t < N ? fabs(a[(k + t) * N + k]) : -1;
	where[t] = k + t;
	for (int d = 64; d; d >>= 1) {
		__syncthreads();
		if (t < d && best[t + d] > best[t]) {
			best[t] = best[t + d];
			where[t] = where[t + d];
		}
	}
	if (!t)
		pivot[k] = where[0];
}

__global__ void swap_rows(double *a, int k, const int *pivot)
{
	int other = pivot[k], x = threadIdx.x;
	double v = a[k * N + x];

	if (other == k)
		return;
	a[k * N + x] = a[other * N + x];
	a[other * N + x] = v;
}

__global__ void factors(double *a, int k)
{
	int y = k + 1 + threadIdx.x;

	if (y < N)
		a[y * N + k] /= a[k * N + k];
}

__global__ void eliminate(double *a, int k)
{
	int x = k + 1 + blockIdx.x * 16 + threadIdx.x, y = k + 1 + blockIdx.y * 16 + threadIdx.y;

	if (x < N && y < N)
		a[y * N + x] -= a[y * N + k] * a[k * N + x];
}

int main(void)
{
	static double a[N][N], lu[N][N];
	double *d, worst = 0;
	int *d_pivot, pivot[N];
	uint32_t seed = 77;

	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			a[y][x] = random_float(&seed) * 2 - 1;
	CHECK(cudaMalloc(&d, sizeof(a)));
	CHECK(cudaMalloc(&d_pivot, sizeof(pivot)));
	CHECK(cudaMemcpy(d, a, sizeof(a), cudaMemcpyHostToDevice));
	for (int k = 0; k < N; k++) {
		int left = CEIL_DIV(N - k, 16);

		find_pivot<<<1, 128>>>(d, k, d_pivot);
		swap_rows<<<1, N>>>(d, k, d_pivot);
		factors<<<1, N>>>(d, k);
		eliminate<<<dim3(left, left), dim3(16, 16)>>>(d, k);
		CHECK_LAUNCH();
	}
	CHECK(cudaMemcpy(lu, d, sizeof(lu), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(pivot, d_pivot, sizeof(pivot), cudaMemcpyDeviceToHost));
	for (int k = 0; k < N; k++) {
		if (pivot[k] < k || pivot[k] >= N)
			return verdict(false, "pivot %d of step %d", pivot[k], k);
		for (int x = 0; x < N; x++) {
			double v = a[k][x];

			a[k][x] = a[pivot[k]][x];
			a[pivot[k]][x] = v;
		}
	}
	for (int y = 0; y < N; y++) {
		for (int x = 0; x < N; x++) {
			double sum = y <= x ? lu[y][x] : 0;

			for (int k = 0; k < y && k <= x; k++)
				sum += lu[y][k] * lu[k][x];
			worst = fmax(worst, error_of(sum, a[y][x]));
		}
	}
	return verdict(worst < 1e-12, "LU of %d x %d with pivoting, worst error of L U against P A %.1e", N, N, worst);
}
