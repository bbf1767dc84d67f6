// SPDX-License-Identifier: GPL-2.0-only
/*
 * cublas: products by cuBLAS, of float and of bfloat16. These are different kernels, and come from
 * different libraries.
 */
#include <cstdio>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <vector>

enum { N = 256 };

static float value(int i)
{
	return (i % 7) * 0.5f;
}

static float value(float v)
{
	return v;
}

static float value(__nv_bfloat16 v)
{
	return __bfloat162float(v);
}

/* Small halves: each sum is exact in float. */
template <typename T> static bool product(cublasHandle_t h, cudaDataType_t type, const char *name)
{
	std::vector<T> a(N * N);
	std::vector<float> c(N * N);
	float one = 1, zero = 0, *out;
	T *in;
	int r;

	for (int i = 0; i < N * N; i++)
		a[i] = T(value(i));
	if (cudaMalloc(&in, N * N * sizeof(T)) || cudaMalloc(&out, N * N * sizeof(float)) ||
	    cudaMemcpy(in, a.data(), N * N * sizeof(T), cudaMemcpyHostToDevice))
		return printf("FAIL: %s: memory\n", name), false;
	r = cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, in, type, N, in, type, N,
			 &zero, out, CUDA_R_32F, N, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
	if (r || cudaMemcpy(c.data(), out, N * N * sizeof(float), cudaMemcpyDeviceToHost))
		return printf("FAIL: %s: cublasGemmEx gives %d\n", name, r), false;
	for (int column = 0; column < N; column++)
		for (int row = 0; row < N; row++) {
			float sum = 0;

			for (int k = 0; k < N; k++)
				sum += value(a[k * N + row]) * value(a[column * N + k]);
			if (c[column * N + row] != sum)
				return printf("FAIL: %s: %g at %d, %d\n", name,
					      c[column * N + row], row, column),
				       false;
		}
	return true;
}

int main()
{
	cublasHandle_t h;
	int r = cublasCreate(&h);

	if (r)
		return printf("FAIL: cublasCreate gives %d\n", r), 1;
	if (!product<float>(h, CUDA_R_32F, "float") ||
	    !product<__nv_bfloat16>(h, CUDA_R_16BF, "bfloat16"))
		return 1;
	cublasDestroy(h);
	puts("PASS: two products");
	return 0;
}
