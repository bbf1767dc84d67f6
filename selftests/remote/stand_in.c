// SPDX-License-Identifier: GPL-2.0-only
/*
 * A libcublas and a libcurand in one for a server whose GPU is the model: what the real ones do, by
 * copies and the CPU, slowly. It lies on the libcuda.so.1 that the server has loaded.
 */
#include <cuda/driver/api.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "forwards.h" /* made by remote/api.py */

struct cublasContext {
	CUstream stream;
	bool on_device;
	int math;
};

struct curandGenerator_st {
	CUstream stream;
	uint64_t seed, at;
};

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
	*handle = calloc(1, sizeof(**handle));
	return *handle ? BLAS_SUCCESS : BLAS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
	CUresult r = cuCtxSynchronize();

	free(handle);
	return r ? BLAS_EXECUTION_FAILED : BLAS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream)
{
	handle->stream = stream;
	return BLAS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
	handle->on_device = mode;
	return BLAS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
	*version = 1;
	return BLAS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
	handle->math = mode;
	return BLAS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
	*mode = handle->math;
	return BLAS_SUCCESS;
}

/* @n bytes that the GPU has when the stream is through, or NULL */
static void *taken(CUstream s, const void *from, size_t n)
{
	void *p = malloc(n + 1);

	if (p && !cuStreamSynchronize(s) && !cuMemcpyDtoH_v2(p, (uintptr_t)from, n))
		return p;
	free(p);
	return NULL;
}

static cublasStatus_t given(CUstream s, void *to, void *p, size_t n)
{
	CUresult r = cuMemcpyHtoDAsync_v2((uintptr_t)to, p, n, s);

	free(p);
	return r ? BLAS_EXECUTION_FAILED : BLAS_SUCCESS;
}

#define CALLS(type, T)                                                                             \
	static type scalar_##T(cublasHandle_t h, const type *at)                                   \
	{                                                                                          \
		type *p = h->on_device ? taken(h->stream, at, sizeof(*at)) : NULL,                 \
		     value = p		  ? *p :                                                   \
			     h->on_device ? (type)NAN :                                            \
					    *at;                                                   \
                                                                                                   \
		free(p);                                                                           \
		return value;                                                                      \
	}                                                                                          \
	static cublasStatus_t result_##T(cublasHandle_t h, type *to, double value)                 \
	{                                                                                          \
		type *p;                                                                           \
                                                                                                   \
		if (!h->on_device) {                                                               \
			*to = value;                                                               \
			return BLAS_SUCCESS;                                                       \
		}                                                                                  \
		p = malloc(sizeof(*p));                                                            \
		*p = value;                                                                        \
		return given(h->stream, to, p, sizeof(*p));                                        \
	}                                                                                          \
	static type *vector_##T(cublasHandle_t h, const type *x, int n, int incx)                  \
	{                                                                                          \
		return n > 0 && incx > 0 ?                                                         \
			       taken(h->stream, x, ((n - 1ull) * incx + 1) * sizeof(*x)) :         \
			       NULL;                                                               \
	}                                                                                          \
	cublasStatus_t cublas##T##copy_v2(cublasHandle_t h, int n, const type *x, int incx,        \
					  type *y, int incy)                                       \
	{                                                                                          \
		type *from = vector_##T(h, x, n, incx), *to = vector_##T(h, y, n, incy);           \
                                                                                                   \
		for (int i = 0; from && to && i < n; i++)                                          \
			to[i * incy] = from[i * incx];                                             \
		free(from);                                                                        \
		return to && from ?                                                                \
			       given(h->stream, y, to, ((n - 1ull) * incy + 1) * sizeof(*y)) :     \
			       BLAS_INVALID_VALUE;                                                 \
	}                                                                                          \
	cublasStatus_t cublas##T##scal_v2(cublasHandle_t h, int n, const type *alpha, type *x,     \
					  int incx)                                                \
	{                                                                                          \
		type *to = vector_##T(h, x, n, incx), by = scalar_##T(h, alpha);                   \
                                                                                                   \
		for (int i = 0; to && i < n; i++)                                                  \
			to[i * incx] *= by;                                                        \
		return to ? given(h->stream, x, to, ((n - 1ull) * incx + 1) * sizeof(*x)) :        \
			    BLAS_INVALID_VALUE;                                                    \
	}                                                                                          \
	cublasStatus_t cublas##T##axpy_v2(cublasHandle_t h, int n, const type *alpha,              \
					  const type *x, int incx, type *y, int incy)              \
	{                                                                                          \
		type *from = vector_##T(h, x, n, incx), *to = vector_##T(h, y, n, incy),           \
		     by = scalar_##T(h, alpha);                                                    \
                                                                                                   \
		for (int i = 0; from && to && i < n; i++)                                          \
			to[i * incy] += by * from[i * incx];                                       \
		free(from);                                                                        \
		return to && from ?                                                                \
			       given(h->stream, y, to, ((n - 1ull) * incy + 1) * sizeof(*y)) :     \
			       BLAS_INVALID_VALUE;                                                 \
	}                                                                                          \
	cublasStatus_t cublas##T##dot_v2(cublasHandle_t h, int n, const type *x, int incx,         \
					 const type *y, int incy, type *result)                    \
	{                                                                                          \
		type *p = vector_##T(h, x, n, incx), *q = vector_##T(h, y, n, incy);               \
		double sum = 0;                                                                    \
                                                                                                   \
		for (int i = 0; p && q && i < n; i++)                                              \
			sum += (double)p[i * incx] * q[i * incy];                                  \
		free(p);                                                                           \
		free(q);                                                                           \
		return p && q ? result_##T(h, result, sum) : BLAS_INVALID_VALUE;                   \
	}                                                                                          \
	cublasStatus_t cublas##T##asum_v2(cublasHandle_t h, int n, const type *x, int incx,        \
					  type *result)                                            \
	{                                                                                          \
		type *p = vector_##T(h, x, n, incx);                                               \
		double sum = 0;                                                                    \
                                                                                                   \
		for (int i = 0; p && i < n; i++)                                                   \
			sum += fabs((double)p[i * incx]);                                          \
		free(p);                                                                           \
		return p ? result_##T(h, result, sum) : BLAS_INVALID_VALUE;                        \
	}                                                                                          \
	cublasStatus_t cublas##T##gemmStridedBatched(cublasHandle_t h, cublasOperation_t ta,       \
						     cublasOperation_t tb, int m, int n, int k,    \
						     const type *alpha, const type *A, int lda,    \
						     long long int sa, const type *B, int ldb,     \
						     long long int sb, const type *beta, type *C,  \
						     int ldc, long long int sc, int count)         \
	{                                                                                          \
		if (m < 0 || n < 0 || k < 0 || lda < (ta ? k : m) || ldb < (tb ? n : k) ||         \
		    ldc < m)                                                                       \
			return BLAS_INVALID_VALUE;                                                 \
		for (int turn = 0; turn < count; turn++, A += sa, B += sb, C += sc) {              \
			type *p = taken(h->stream, A, (size_t)lda * (ta ? m : k) * sizeof(*A));    \
			type *q = taken(h->stream, B, (size_t)ldb * (tb ? k : n) * sizeof(*B));    \
			type *c = taken(h->stream, C, (size_t)ldc * n * sizeof(*C));               \
			type by = scalar_##T(h, alpha), keep = scalar_##T(h, beta);                \
                                                                                                   \
			for (size_t i = 0; p && q && c && i < (size_t)m * n; i++) {                \
				size_t row = i % m, column = i / m;                                \
				double sum = 0;                                                    \
                                                                                                   \
				for (int l = 0; l < k; l++) {                                      \
					size_t at = ta ? l + row * lda : row + (size_t)l * lda;    \
					size_t bt = tb ? column + (size_t)l * ldb :                \
							 l + column * ldb;                         \
                                                                                                   \
					sum += (double)p[at] * q[bt];                              \
				}                                                                  \
				c[row + column * ldc] = by * sum + keep * c[row + column * ldc];   \
			}                                                                          \
			free(p);                                                                   \
			free(q);                                                                   \
			if (!p || !q || !c ||                                                      \
			    given(h->stream, C, c, (size_t)ldc * n * sizeof(*C)))                  \
				return BLAS_EXECUTION_FAILED;                                      \
		}                                                                                  \
		return BLAS_SUCCESS;                                                               \
	}                                                                                          \
	cublasStatus_t cublas##T##gemm_v2(cublasHandle_t h, cublasOperation_t ta,                  \
					  cublasOperation_t tb, int m, int n, int k,               \
					  const type *alpha, const type *A, int lda,               \
					  const type *B, int ldb, const type *beta, type *C,       \
					  int ldc)                                                 \
	{                                                                                          \
		return cublas##T##gemmStridedBatched(h, ta, tb, m, n, k, alpha, A, lda, 0, B, ldb, \
						     0, beta, C, ldc, 0, 1);                       \
	}                                                                                          \
	cublasStatus_t cublas##T##gemv_v2(cublasHandle_t h, cublasOperation_t trans, int m, int n, \
					  const type *alpha, const type *A, int lda,               \
					  const type *x, int incx, const type *beta, type *y,      \
					  int incy)                                                \
	{                                                                                          \
		if (incx != 1 || incy != 1)                                                        \
			return BLAS_NOT_SUPPORTED;                                                 \
		return cublas##T##gemm_v2(h, trans, 0, trans ? n : m, 1, trans ? m : n, alpha, A,  \
					  lda, x, trans ? m : n, beta, y, trans ? n : m);          \
	}
CALLS(float, S)
CALLS(double, D)

/* ------------------------------------------------------------------ cuRAND */

curandStatus_t curandGetVersion(int *version)
{
	*version = 1;
	return RAND_SUCCESS;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
	if (type != 100)
		return RAND_TYPE_ERROR;
	*generator = calloc(1, sizeof(**generator));
	return *generator ? RAND_SUCCESS : RAND_ALLOCATION_FAILED;
}

curandStatus_t curandDestroyGenerator(curandGenerator_t g)
{
	free(g);
	return RAND_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t g, CUstream stream)
{
	g->stream = stream;
	return RAND_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g, unsigned long long seed)
{
	g->seed = seed;
	g->at = 0;
	return RAND_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset)
{
	g->at = offset;
	return RAND_SUCCESS;
}

static uint32_t next(curandGenerator_t g)
{
	uint64_t w = (g->seed + ++g->at) * 0x9e3779b97f4a7c15ull;

	w = (w ^ w >> 31) * 0xbf58476d1ce4e5b9ull;
	return (w ^ w >> 29) >> 16;
}

static double uniform(curandGenerator_t g)
{
	return (next(g) + 1.0) / 4294967297.0;
}

static double normal(curandGenerator_t g)
{
	return sqrt(-2 * log(uniform(g))) * cos(6.283185307179586 * uniform(g));
}

enum { MANY = 1 << 24, RAND_WRONG_LENGTH = 105 };

#define GENERATE(name, type, wrong, number, ...)                                        \
	curandStatus_t curandGenerate##name(curandGenerator_t g, type *out, size_t n,   \
					    ##__VA_ARGS__)                              \
	{                                                                               \
		type *p = n <= MANY ? malloc(n * sizeof(*p) + 1) : NULL;                \
                                                                                        \
		if (!p || (wrong)) {                                                    \
			free(p);                                                        \
			return p ? RAND_WRONG_LENGTH : RAND_ALLOCATION_FAILED;          \
		}                                                                       \
		for (size_t i = 0; i < n; i++)                                          \
			p[i] = number;                                                  \
		return given(g->stream, out, p, n * sizeof(*p)) ? RAND_LAUNCH_FAILURE : \
								  RAND_SUCCESS;         \
	}
GENERATE(, unsigned int, false, next(g))
GENERATE(Uniform, float, false, (float)uniform(g))
GENERATE(UniformDouble, double, false, uniform(g))
GENERATE(Normal, float, n % 2, mean + deviation * normal(g), float mean, float deviation)
GENERATE(NormalDouble, double, n % 2, mean + deviation * normal(g), double mean, double deviation)
