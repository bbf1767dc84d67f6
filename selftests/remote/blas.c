// SPDX-License-Identifier: GPL-2.0-only
/*
 * blas: a program on libcublas and libcurand, real or remote: forwarded calls against the CPU's
 * results, scalars in both places, streams, errors. Prints TAP.
 */
#include <cuda/driver/api.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forwards.h" /* made by remote/api.py */

enum { N = 200, M = 24, K = 17, PSEUDO = 100, FIRST_SEED = 42 };

static cublasHandle_t blas;
static curandGenerator_t rand_;
static CUcontext ctx;
static CUdeviceptr a, b, c;
static int number, failed;

static void check(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
	failed |= !good;
}

static void must(int r, const char *what)
{
	if (!r)
		return;
	printf("Bail out! %s: %d\n", what, r);
	exit(2);
}
#define MUST(call) must(call, #call)

static CUdeviceptr device(const void *from, size_t n)
{
	CUdeviceptr p;

	MUST(cuMemAlloc_v2(&p, n));
	if (from)
		MUST(cuMemcpyHtoD_v2(p, from, n));
	return p;
}

#define CALLS(type, T, tolerance)                                                                  \
	static type at_##T(unsigned int i, unsigned int seed)                                      \
	{                                                                                          \
		return (type)((i * 7 + seed * 13) % 23) / 4 - 2;                                   \
	}                                                                                          \
	static bool same_##T(const type *x, const type *y, size_t n)                               \
	{                                                                                          \
		for (size_t i = 0; i < n; i++)                                                     \
			if (fabs((double)x[i] - (double)y[i]) >                                    \
			    tolerance * (1 + fabs((double)y[i])))                                  \
				return false;                                                      \
		return true;                                                                       \
	}                                                                                          \
	static void filled_##T(type *p, size_t n, unsigned int seed)                               \
	{                                                                                          \
		for (size_t i = 0; i < n; i++)                                                     \
			p[i] = at_##T(i, seed);                                                    \
	}                                                                                          \
	static void vectors_##T(bool on_device)                                                    \
	{                                                                                          \
		type x[N], y[N], got[N], alpha = 1.5, sum = 0, abs = 0, result = 0;                \
		const type *scale = &alpha;                                                        \
		type *to = &result;                                                                \
		CUdeviceptr scalars = device(&alpha, sizeof(alpha)),                               \
			    results = device(&result, sizeof(result));                             \
                                                                                                   \
		if (on_device) {                                                                   \
			scale = (const type *)(uintptr_t)scalars;                                  \
			to = (type *)(uintptr_t)results;                                           \
		}                                                                                  \
		MUST(cublasSetPointerMode_v2(blas, on_device));                                    \
		filled_##T(x, N, 1);                                                               \
		filled_##T(y, N, 2);                                                               \
		MUST(cuMemcpyHtoD_v2(a, x, sizeof(x)));                                            \
		MUST(cuMemcpyHtoD_v2(b, y, sizeof(y)));                                            \
		MUST(cublas##T##axpy_v2(blas, N, scale, (type *)(uintptr_t)a, 1,                   \
					(type *)(uintptr_t)b, 1));                                 \
		MUST(cublas##T##scal_v2(blas, N, scale, (type *)(uintptr_t)b, 1));                 \
		MUST(cublas##T##copy_v2(blas, N, (type *)(uintptr_t)b, 1, (type *)(uintptr_t)c,    \
					1));                                                       \
		for (int i = 0; i < N; i++)                                                        \
			y[i] = alpha * (y[i] + alpha * x[i]);                                      \
		MUST(cuMemcpyDtoH_v2(got, c, sizeof(got)));                                        \
		check(same_##T(got, y, N), #T "axpy, " #T "scal, " #T "copy");                     \
		for (int i = 0; i < N; i += 2) {                                                   \
			sum += x[i] * y[i];                                                        \
			abs += fabs((double)y[i]);                                                 \
		}                                                                                  \
		MUST(cublas##T##dot_v2(blas, N / 2, (type *)(uintptr_t)a, 2, (type *)(uintptr_t)c, \
				       2, to));                                                    \
		if (on_device)                                                                     \
			MUST(cuMemcpyDtoH_v2(&result, results, sizeof(result)));                   \
		check(same_##T(&result, &sum, 1), #T "dot of every other one");                    \
		MUST(cublas##T##asum_v2(blas, N / 2, (type *)(uintptr_t)c, 2, to));                \
		if (on_device)                                                                     \
			MUST(cuMemcpyDtoH_v2(&result, results, sizeof(result)));                   \
		check(same_##T(&result, &abs, 1), #T "asum of every other one");                   \
		MUST(cuMemFree_v2(scalars));                                                       \
		MUST(cuMemFree_v2(results));                                                       \
	}                                                                                          \
	/* C = 1.5 op(A) op(B) - 0.5 C, all of them columns first; @batched: two such products */  \
	static void matrices_##T(int ta, int tb, bool batched)                                     \
	{                                                                                          \
		static type x[2 * M * K], y[2 * K * N], z[2 * M * N], got[2 * M * N];              \
		static const char *const names[2][2] = { { #T "gemm NN", #T "gemm NT" },           \
							 { #T "gemm TN", #T "gemm TT" } };         \
		type alpha = 1.5, beta = -0.5;                                                     \
		int lda = ta ? K : M, ldb = tb ? N : K;                                            \
                                                                                                   \
		filled_##T(x, 2 * M * K, 3);                                                       \
		filled_##T(y, 2 * K * N, 4);                                                       \
		filled_##T(z, 2 * M * N, 5);                                                       \
		MUST(cublasSetPointerMode_v2(blas, BLAS_POINTER_MODE_HOST));                       \
		MUST(cuMemcpyHtoD_v2(a, x, sizeof(x)));                                            \
		MUST(cuMemcpyHtoD_v2(b, y, sizeof(y)));                                            \
		MUST(cuMemcpyHtoD_v2(c, z, sizeof(z)));                                            \
		if (batched)                                                                       \
			MUST(cublas##T##gemmStridedBatched(blas, ta, tb, M, N, K, &alpha,          \
							   (type *)(uintptr_t)a, lda, M *K,        \
							   (type *)(uintptr_t)b, ldb, K *N, &beta, \
							   (type *)(uintptr_t)c, M, M *N, 2));     \
		else                                                                               \
			MUST(cublas##T##gemm_v2(blas, ta, tb, M, N, K, &alpha,                     \
						(type *)(uintptr_t)a, lda, (type *)(uintptr_t)b,   \
						ldb, &beta, (type *)(uintptr_t)c, M));             \
		alpha = beta = 0; /* the call has taken them */                                    \
		for (int i = 0; i < (batched ? 2 : 1) * M * N; i++) {                              \
			const type *p = x + i / (M * N) * M * K, *q = y + i / (M * N) * K * N;     \
			int row = i % M, column = i % (M * N) / M;                                 \
			double sum = 0;                                                            \
                                                                                                   \
			for (int k = 0; k < K; k++)                                                \
				sum += (double)p[ta ? k + row * K : row + k * M] *                 \
				       q[tb ? column + k * N : k + column * K];                    \
			z[i] = 1.5 * sum - 0.5 * z[i];                                             \
		}                                                                                  \
		MUST(cuMemcpyDtoH_v2(got, c, sizeof(got)));                                        \
		check(same_##T(got, z, 2 * M * N),                                                 \
		      batched ? #T "gemmStridedBatched" : names[ta][tb]);                          \
	}                                                                                          \
	static void matrix_##T(int trans)                                                          \
	{                                                                                          \
		type x[M * N], v[N], w[N], got[N], alpha = 2, beta = 1;                            \
		int n = trans ? N : M;                                                             \
                                                                                                   \
		filled_##T(x, M *N, 6);                                                            \
		filled_##T(v, N, 7);                                                               \
		filled_##T(w, N, 8);                                                               \
		MUST(cuMemcpyHtoD_v2(a, x, sizeof(x)));                                            \
		MUST(cuMemcpyHtoD_v2(b, v, sizeof(v)));                                            \
		MUST(cuMemcpyHtoD_v2(c, w, sizeof(w)));                                            \
		MUST(cublas##T##gemv_v2(blas, trans, M, N, &alpha, (type *)(uintptr_t)a, M,        \
					(type *)(uintptr_t)b, 1, &beta, (type *)(uintptr_t)c, 1)); \
		for (int i = 0; i < n; i++) {                                                      \
			double sum = 0;                                                            \
                                                                                                   \
			for (int k = 0; k < (trans ? M : N); k++)                                  \
				sum += (double)v[k] * (trans ? x[k + i * M] : x[i + k * M]);       \
			w[i] += 2 * sum;                                                           \
		}                                                                                  \
		MUST(cuMemcpyDtoH_v2(got, c, sizeof(got)));                                        \
		check(same_##T(got, w, N), trans ? #T "gemv T" : #T "gemv N");                     \
	}
CALLS(float, S, 1e-3)
CALLS(double, D, 1e-10)

static void streams(void)
{
	float x[N], got[N], two = 2, half = 0.5, sum = 0, result;
	CUstream s, back;

	filled_S(x, N, 9);
	MUST(cuStreamCreate(&s, 1));
	MUST(cublasSetStream_v2(blas, s));
	MUST(cublasGetStream_v2(blas, &back));
	check(back == s, "the stream that was set");
	MUST(cuMemcpyHtoDAsync_v2(a, x, sizeof(x), s));
	for (int i = 0; i < 100; i++) {
		MUST(cublasSscal_v2(blas, N, &two, (float *)(uintptr_t)a, 1));
		MUST(cublasSscal_v2(blas, N, &half, (float *)(uintptr_t)a, 1));
	}
	MUST(cublasSasum_v2(blas, N, (float *)(uintptr_t)a, 1, &result));
	MUST(cuMemcpyDtoHAsync_v2(got, a, sizeof(got), s));
	MUST(cuStreamSynchronize(s));
	for (int i = 0; i < N; i++)
		sum += fabsf(x[i]);
	check(same_S(got, x, N) && same_S(&result, &sum, 1),
	      "calls in a stream, in order with its copies");
	MUST(cuStreamDestroy_v2(s));
	check(cublasSscal_v2(blas, N, &two, (float *)(uintptr_t)a, 1) != 0,
	      "its stream is gone: an error");
	MUST(cublasSetStream_v2(blas, NULL));
	check(!cublasSscal_v2(blas, N, &two, (float *)(uintptr_t)a, 1),
	      "and goes on with another one");
	MUST(cuCtxSynchronize());
}

static void errors(void)
{
	float one = 1, result;
	cublasHandle_t other;
	uint64_t words[4] = { 0 };
	int version = 0;

	check(cublasSscal_v2(NULL, 1, &one, (float *)(uintptr_t)a, 1) == BLAS_NOT_INITIALIZED,
	      "no handle");
	check(cublasSscal_v2((cublasHandle_t)words, 1, &one, (float *)(uintptr_t)a, 1) ==
		      BLAS_NOT_INITIALIZED,
	      "no handle of ours");
	check(cublasSscal_v2(blas, 1, NULL, (float *)(uintptr_t)a, 1) == BLAS_INVALID_VALUE,
	      "no scalar");
	check(cublasSgemm_v2(blas, 0, 0, -1, 1, 1, &one, (float *)(uintptr_t)a, 1,
			     (float *)(uintptr_t)b, 1, &one, (float *)(uintptr_t)c,
			     1) == BLAS_INVALID_VALUE,
	      "a wrong size is the library's own error");
	check(cublasSasum_v2(blas, 1, &one, 1, &result) != 0, "memory that is not the device's");
	MUST(cuCtxSynchronize());
	MUST(cublasGetVersion_v2(blas, &version));
	check(version > 0, "the library's version");
	check(!strcmp(cublasGetStatusName(BLAS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE"),
	      "a status's name");
	MUST(cublasCreate_v2(&other));
	MUST(cublasDestroy_v2(other));
	check(cublasDestroy_v2(other) == BLAS_NOT_INITIALIZED, "a handle that is none any more");
}

static void numbers(void)
{
	static double d[1000];
	static float f[1000];
	static unsigned int u[1000], again[1000];
	double sum = 0, squares = 0;
	bool inside = true;

	MUST(curandCreateGenerator(&rand_, PSEUDO));
	MUST(curandSetPseudoRandomGeneratorSeed(rand_, FIRST_SEED));
	MUST(curandGenerate(rand_, (unsigned int *)(uintptr_t)a, 1000));
	MUST(cuMemcpyDtoH_v2(u, a, sizeof(u)));
	MUST(curandSetPseudoRandomGeneratorSeed(rand_, FIRST_SEED));
	MUST(curandSetGeneratorOffset(rand_, 0));
	MUST(curandGenerate(rand_, (unsigned int *)(uintptr_t)a, 1000));
	MUST(cuMemcpyDtoH_v2(again, a, sizeof(again)));
	check(u[0] != u[1] && !memcmp(u, again, sizeof(u)), "the same seed, the same numbers");
	MUST(curandGenerateUniform(rand_, (float *)(uintptr_t)a, 1000));
	MUST(curandGenerateUniformDouble(rand_, (double *)(uintptr_t)b, 1000));
	MUST(cuMemcpyDtoH_v2(f, a, sizeof(f)));
	MUST(cuMemcpyDtoH_v2(d, b, sizeof(d)));
	for (int i = 0; i < 1000; i++)
		inside = inside && f[i] > 0 && f[i] <= 1 && d[i] > 0 && d[i] <= 1;
	check(inside, "uniform numbers");
	MUST(curandGenerateNormal(rand_, (float *)(uintptr_t)a, 1000, 5, 2));
	MUST(curandGenerateNormalDouble(rand_, (double *)(uintptr_t)b, 1000, 5, 2));
	MUST(cuMemcpyDtoH_v2(f, a, sizeof(f)));
	MUST(cuMemcpyDtoH_v2(d, b, sizeof(d)));
	for (int i = 0; i < 1000; i++) {
		sum += f[i] + d[i];
		squares += (f[i] - 5) * (f[i] - 5) + (d[i] - 5) * (d[i] - 5);
	}
	check(fabs(sum / 2000 - 5) < 0.5 && fabs(squares / 2000 - 4) < 1, "normal numbers");
	check(curandGenerateNormal(rand_, (float *)(uintptr_t)a, 3, 0, 1) != 0,
	      "an odd count is the library's own error");
	check(curandCreateGenerator(&rand_, 7) == RAND_TYPE_ERROR && !rand_, "no such generator");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	a = device(NULL, 1 << 20);
	b = device(NULL, 1 << 20);
	c = device(NULL, 1 << 20);
	MUST(cublasCreate_v2(&blas));
	for (int on_device = 0; on_device < 2; on_device++) {
		vectors_S(on_device);
		vectors_D(on_device);
	}
	for (int i = 0; i < 4; i++) {
		matrices_S(i & 1, i >> 1, false);
		matrices_D(i & 1, i >> 1, false);
	}
	matrices_S(0, 0, true);
	matrices_D(0, 0, true);
	for (int trans = 0; trans < 2; trans++) {
		matrix_S(trans);
		matrix_D(trans);
	}
	streams();
	errors();
	numbers();
	/* the context ends with a handle of it alive */
	MUST(cuCtxDestroy_v2(ctx));
	check(cublasDestroy_v2(blas) == BLAS_NOT_INITIALIZED, "a handle whose context has ended");
	printf("1..%d\n", number);
	return failed;
}
