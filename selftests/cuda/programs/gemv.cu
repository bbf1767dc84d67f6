// SPDX-License-Identifier: GPL-2.0-only
/*
 * y = A x, and y = A' x: a warp to each row with shuffles, a thread to each column with atomics of
 * parts.
 */
#include "check.h"

__global__ void rows_by_warps(const float *a, const float *x, float *y, int m, int n)
{
	int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize,
	    lane = threadIdx.x % warpSize;
	float sum = 0;

	if (warp >= m)
		return;
	for (int i = lane; i < n; i += warpSize)
		sum += a[(size_t)warp * n + i] * x[i];
	for (int d = warpSize / 2; d; d /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, d);
	if (!lane)
		y[warp] = sum;
}

__global__ void columns(const float *a, const float *x, float *y, int m, int n, int rows)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * rows;
	float sum = 0;

	if (column >= n)
		return;
	for (int i = first; i < first + rows && i < m; i++)
		sum += a[(size_t)i * n + column] * x[i];
	atomicAdd(&y[column], sum);
}

int main(void)
{
	const int m = 700, n = 523;
	float *a = (float *)malloc(m * n * 4), *x = (float *)malloc((m + n) * 4),
	      *y = (float *)malloc((m + n) * 4);
	float *da, *dx, *dy;
	double worst = 0;
	uint32_t seed = 3;

	for (int i = 0; i < m * n; i++)
		a[i] = random_float(&seed) - 0.5f;
	for (int i = 0; i < m + n; i++)
		x[i] = random_float(&seed);
	CHECK(cudaMalloc((void **)&da, m * n * 4));
	CHECK(cudaMalloc((void **)&dx, (m + n) * 4));
	CHECK(cudaMalloc((void **)&dy, (m + n) * 4));
	CHECK(cudaMemcpy(da, a, m * n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dx, x, (m + n) * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(dy, 0, (m + n) * 4));
	rows_by_warps<<<CEIL_DIV(m, 4), 128>>>(da, dx, dy, m, n);
	CHECK_LAUNCH();
	columns<<<dim3(CEIL_DIV(n, 64), CEIL_DIV(m, 100)), 64>>>(da, dx + n, dy + m, m, n, 100);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(y, dy, (m + n) * 4, cudaMemcpyDeviceToHost));
	for (int i = 0; i < m; i++) {
		double sum = 0;

		for (int j = 0; j < n; j++)
			sum += (double)a[i * n + j] * x[j];
		worst = fmax(worst, error_of(y[i], sum));
	}
	for (int j = 0; j < n; j++) {
		double sum = 0;

		for (int i = 0; i < m; i++)
			sum += (double)a[i * n + j] * x[n + i];
		worst = fmax(worst, error_of(y[m + j], sum));
	}
	return verdict(worst < 2e-5, "A x and A' x of %d x %d, worst error %.1e", m, n, worst);
}
