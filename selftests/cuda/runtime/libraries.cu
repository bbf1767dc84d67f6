// SPDX-License-Identifier: GPL-2.0-only
/*
 * NVIDIA's cuBLAS and cuFFT, with the static runtime: a product of matrices, which is exact, and a
 * transform beside its sum in double precision.
 */
#include "../programs/check.h"

#include <cublas_v2.h>
#include <cufft.h>
#include <math.h>

enum { N = 64, POINTS = 240 };

static double product(void)
{
	static float a[N * N], b[N * N], c[N * N];
	const float one = 1, zero = 0;
	double worst = 0;
	cublasHandle_t blas;
	float *d;
	int i, j, k;

	for (i = 0; i < N * N; i++) {
		a[i] = i * 7 % 13 - 6;
		b[i] = i * 5 % 11 - 5;
	}
	CHECK(cudaMalloc(&d, 3 * sizeof(a)));
	CHECK(cudaMemcpy(d, a, sizeof(a), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d + N * N, b, sizeof(b), cudaMemcpyHostToDevice));
	if (cublasCreate(&blas) ||
	    cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, d, N, d + N * N, N, &zero,
			d + 2 * N * N, N))
		return INFINITY;
	CHECK(cudaMemcpy(c, d + 2 * N * N, sizeof(c), cudaMemcpyDeviceToHost));
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++) {
			double sum = 0;

			for (k = 0; k < N; k++)
				sum += a[i + k * N] * b[k + j * N];
			worst = fmax(worst, fabs(sum - c[i + j * N]));
		}
	cublasDestroy(blas);
	CHECK(cudaFree(d));
	return worst;
}

static double transform(void)
{
	static cufftComplex in[POINTS], out[POINTS];
	double worst = 0;
	cufftComplex *d;
	cufftHandle plan;
	int i, k;

	for (i = 0; i < POINTS; i++)
		in[i] = make_float2(cosf(i * 0.37f), sinf(i * i * 0.11f));
	CHECK(cudaMalloc(&d, sizeof(in)));
	CHECK(cudaMemcpy(d, in, sizeof(in), cudaMemcpyHostToDevice));
	if (cufftPlan1d(&plan, POINTS, CUFFT_C2C, 1) || cufftExecC2C(plan, d, d, CUFFT_FORWARD))
		return INFINITY;
	CHECK(cudaMemcpy(out, d, sizeof(out), cudaMemcpyDeviceToHost));
	for (k = 0; k < POINTS; k++) {
		double re = 0, im = 0;

		for (i = 0; i < POINTS; i++) {
			double angle = -2 * M_PI * i * k / POINTS;

			re += in[i].x * cos(angle) - in[i].y * sin(angle);
			im += in[i].x * sin(angle) + in[i].y * cos(angle);
		}
		worst = fmax(worst, hypot(re - out[k].x, im - out[k].y));
	}
	cufftDestroy(plan);
	CHECK(cudaFree(d));
	return worst;
}

int main(void)
{
	double wrong = product(), error = transform();

	return verdict(wrong == 0 && error < 1e-3, "a product is %g wrong, a transform of %d points %g", wrong, (int)POINTS, error);
}
