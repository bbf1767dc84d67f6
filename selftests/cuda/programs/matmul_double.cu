// SPDX-License-Identifier: GPL-2.0-only
/* C = alpha A B + beta C in double precision, also with edges that fill no tile. */
#include "check.h"

template <int TILE, int WORK>
__global__ void gemm(int m, int n, int k, double alpha, const double *a, const double *b,
		     double beta, double *c)
{
	__shared__ double as[TILE][TILE + 1], bs[TILE][TILE + 1];
	int x = blockIdx.x * TILE + threadIdx.x, y0 = blockIdx.y * TILE;
	double sum[WORK] = { 0 };

	for (int t = 0; t < k; t += TILE) {
#pragma unroll
		for (int w = 0; w < WORK; w++) {
			int ty = threadIdx.y + w * (TILE / WORK);

			as[ty][threadIdx.x] = y0 + ty < m && t + threadIdx.x < k ?
						      a[(y0 + ty) * k + t + threadIdx.x] :
						      0;
			bs[ty][threadIdx.x] = t + ty < k && x < n ? b[(t + ty) * n + x] : 0;
		}
		__syncthreads();
		for (int i = 0; i < TILE; i++)
#pragma unroll
			for (int w = 0; w < WORK; w++)
				sum[w] = fma(as[threadIdx.y + w * (TILE / WORK)][i],
					     bs[i][threadIdx.x], sum[w]);
		__syncthreads();
	}
#pragma unroll
	for (int w = 0; w < WORK; w++) {
		int y = y0 + threadIdx.y + w * (TILE / WORK);

		if (y < m && x < n)
			c[y * n + x] = alpha * sum[w] + beta * c[y * n + x];
	}
}

template <int TILE, int WORK>
static double run(int m, int n, int k)
{
	double *a = new double[m * k], *b = new double[k * n], *c = new double[m * n],
	       *got = new double[m * n], worst = 0;
	double *da, *db, *dc;
	uint32_t seed = m + 31 * n + 57 * k;

	for (int i = 0; i < m * k; i++)
		a[i] = random_float(&seed) - 0.5;
	for (int i = 0; i < k * n; i++)
		b[i] = random_float(&seed) - 0.5;
	for (int i = 0; i < m * n; i++)
		c[i] = random_float(&seed);
	CHECK(cudaMalloc(&da, m * k * sizeof(double)));
	CHECK(cudaMalloc(&db, k * n * sizeof(double)));
	CHECK(cudaMalloc(&dc, m * n * sizeof(double)));
	CHECK(cudaMemcpy(da, a, m * k * sizeof(double), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, k * n * sizeof(double), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dc, c, m * n * sizeof(double), cudaMemcpyHostToDevice));
	gemm<TILE, WORK><<<dim3(CEIL_DIV(n, TILE), CEIL_DIV(m, TILE)), dim3(TILE, TILE / WORK)>>>(
		m, n, k, 1.5, da, db, -0.25, dc);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, dc, m * n * sizeof(double), cudaMemcpyDeviceToHost));
	for (int y = 0; y < m; y++) {
		for (int x = 0; x < n; x++) {
			double sum = 0;

			for (int i = 0; i < k; i++)
				sum = fma(a[y * k + i], b[i * n + x], sum);
			worst = fmax(worst,
				     error_of(got[y * n + x], 1.5 * sum - 0.25 * c[y * n + x]));
		}
	}
	CHECK(cudaFree(da));
	CHECK(cudaFree(db));
	CHECK(cudaFree(dc));
	delete[] a;
	delete[] b;
	delete[] c;
	delete[] got;
	return worst;
}

int main(void)
{
	double worst = run<16, 1>(64, 64, 64);

	worst = fmax(worst, run<16, 4>(97, 111, 53));
	worst = fmax(worst, run<32, 8>(130, 67, 101));
	worst = fmax(worst, run<8, 2>(1, 200, 3));
	return verdict(worst < 1e-14, "4 products in double precision, worst error %.1e", worst);
}
