// SPDX-License-Identifier: GPL-2.0-only
/* c = a b by cuBLAS in float and double. A sum of n terms may be off by n of their roundoffs. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include <cublas_v2.h>

#define N 96

static float a[N * N], b[N * N], c[N * N];
static double a2[N * N], b2[N * N], c2[N * N];

#define OK(call)                                               \
	do {                                                   \
		int code = (int)(call);                        \
		if (code) {                                    \
			printf("FAIL: %s: %d\n", #call, code); \
			return 2;                              \
		}                                              \
	} while (0)

int main(void)
{
	const float one = 1, zero = 0;
	const double one2 = 1, zero2 = 0;
	float *da, *db, *dc;
	double *da2, *db2, *dc2, off = 0, off2 = 0;
	cublasHandle_t blas;

	for (int i = 0; i < N * N; i++) {
		a2[i] = a[i] = sinf(i);
		b2[i] = b[i] = cosf(3 * i);
	}
	OK(cudaMalloc((void **)&da, sizeof(a)));
	OK(cudaMalloc((void **)&db, sizeof(b)));
	OK(cudaMalloc((void **)&dc, sizeof(c)));
	OK(cudaMalloc((void **)&da2, sizeof(a2)));
	OK(cudaMalloc((void **)&db2, sizeof(b2)));
	OK(cudaMalloc((void **)&dc2, sizeof(c2)));
	OK(cudaMemcpy(da, a, sizeof(a), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(db, b, sizeof(b), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(da2, a2, sizeof(a2), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(db2, b2, sizeof(b2), cudaMemcpyHostToDevice));
	OK(cublasCreate(&blas));
	OK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, da, N, db, N, &zero, dc, N));
	OK(cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one2, da2, N, db2, N, &zero2, dc2,
		       N));
	OK(cudaMemcpy(c, dc, sizeof(c), cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(c2, dc2, sizeof(c2), cudaMemcpyDeviceToHost));
	OK(cublasDestroy(blas));
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			double sum = 0, size = 0;

			for (int k = 0; k < N; k++) {
				double term = a2[i + k * N] * b2[k + j * N];

				sum += term;
				size += fabs(term);
			}
			off = fmax(off, fabs(c[i + j * N] - sum) / size);
			off2 = fmax(off2, fabs(c2[i + j * N] - sum) / size);
		}
	if (!(off <= N * FLT_EPSILON && off2 <= 2 * N * DBL_EPSILON)) {
		printf("FAIL: %g off in float, %g in double\n", off, off2);
		return 1;
	}
	printf("PASS: %d x %d, %g off in float, %g in double\n", N, N, off, off2);
	return 0;
}
