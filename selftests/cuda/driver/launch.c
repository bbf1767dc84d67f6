// SPDX-License-Identifier: GPL-2.0-only
/* Kernels that nvcc compiled: their results are computed here. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

static void test_add(void)
{
	int n = 10000, i, wrong = 0;
	CUdeviceptr a = device_buffer(n * 4), b = device_buffer(n * 4), c = device_buffer(n * 4);
	float *x = fresh(n * 4), *y = fresh(n * 4), *z = fresh(n * 4);
	void *params[] = { &a, &b, &c, &n };
	CUresult r;

	for (i = 0; i < n; i++) {
		x[i] = i * 0.25f;
		y[i] = 7.0f / (i + 1);
	}
	MUST(cuMemcpyHtoD_v2(a, x, n * 4));
	MUST(cuMemcpyHtoD_v2(b, y, n * 4));
	MUST(cuMemsetD8_v2(c, 0xff, n * 4));
	r = cuLaunchKernel(kernel("add"), (n + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuMemcpyDtoH_v2(z, c, n * 4);
	for (i = 0; i < n; i++)
		wrong += z[i] != x[i] + y[i];
	tap_result(!r && !wrong, "vectors added", "%s, %d of %d wrong", error_name(r), wrong, n);
	MUST(cuMemFree_v2(a));
	MUST(cuMemFree_v2(b));
	MUST(cuMemFree_v2(c));
	free(x);
	free(y);
	free(z);
}

static void test_sum(void)
{
	enum { N = 5000, BLOCK = 128, BLOCKS = (N + BLOCK - 1) / BLOCK };
	CUdeviceptr in = device_buffer(4 * N), out = device_buffer(4 * BLOCKS);
	struct {
		CUdeviceptr in, out;
		int n;
	} packed = { in, out, N };
	size_t size = sizeof(in) + sizeof(out) + sizeof(int);
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
			  &size, CU_LAUNCH_PARAM_END };
	int x[N], sums[BLOCKS], i, got = 0, want = 0;
	CUresult r;

	for (i = 0; i < N; i++) {
		x[i] = i * 7919 % 1000;
		want += x[i];
	}
	MUST(cuMemcpyHtoD_v2(in, x, sizeof(x)));
	r = cuLaunchKernel(kernel("sum"), BLOCKS, 1, 1, BLOCK, 1, 1, BLOCK * 4, NULL, NULL, extra);
	r = r ? r : cuMemcpyDtoH_v2(sums, out, sizeof(sums));
	for (i = 0; i < BLOCKS; i++)
		got += sums[i];
	tap_result(!r && got == want, "sums in dynamic shared memory, packed parameters",
		   "%s, %d for %d", error_name(r), got, want);
	MUST(cuMemFree_v2(in));
	MUST(cuMemFree_v2(out));
}

static void test_mixed(void)
{
	CUdeviceptr out = device_buffer(64 * 8), factors, table, counter;
	const int factor[4] = { 2, 20, 200, 2000 };
	const float entry[4] = { 0.5f, 1.5f, 2.5f, 3.5f };
	signed char c = -3; /* as it is for the kernel, whatever it is for this CPU */
	double d = 1e-3, got[64];
	short s = 77;
	void *params[] = { &c, &d, &s, &out };
	unsigned int count = 0, i, wrong = 0;
	size_t bytes = 0;
	CUresult r;

	MUST(cuModuleGetGlobal_v2(&factors, &bytes, module, "factors"));
	MUST(cuModuleGetGlobal_v2(&table, NULL, module, "table"));
	MUST(cuModuleGetGlobal_v2(&counter, NULL, module, "counter"));
	tap_result(bytes == 16, "the size of a __constant__ array", "%zu", bytes);
	MUST(cuMemcpyHtoD_v2(factors, factor, sizeof(factor)));
	r = cuLaunchKernel(kernel("mixed"), 2, 1, 1, 64, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuMemcpyDtoH_v2(got, out, sizeof(got));
	r = r ? r : cuMemcpyDtoH_v2(&count, counter, 4);
	for (i = 0; i < 64; i++) {
		double want = __builtin_fma(d, entry[i % 4], (double)(c * factor[i % 4])) + s;

		wrong += got[i] != want;
	}
	tap_result(!r && !wrong && count == 128, "constants, variables, mixed parameters, atomics",
		   "%s, %u wrong, counter %u", error_name(r), wrong, count);
	MUST(cuMemFree_v2(out));
}

static int scrambled(int seed, int rounds, int thread)
{
	int box[64], i, at = seed & 63;

	for (i = 0; i < 64; i++)
		box[i] = i + thread;
	for (i = 0; i < rounds; i++) {
		int other = (at * 5 + 17) & 63, keep = box[at];

		box[at] = box[other] + i;
		box[other] = keep;
		at = other;
	}
	return box[at] + box[(at + 1) & 63];
}

static void test_local(void)
{
	enum { N = 40 * 96 };
	CUdeviceptr out = device_buffer(4 * N);
	int seed = 11, rounds = 50, got[N], i, wrong = 0, local = 0;
	void *params[] = { &out, &seed, &rounds };
	CUresult r;

	MUST(cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel("scramble")));
	r = cuLaunchKernel(kernel("scramble"), 40, 1, 1, 96, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuMemcpyDtoH_v2(got, out, sizeof(got));
	for (i = 0; i < N; i++)
		wrong += got[i] != scrambled(seed, rounds, i);
	tap_result(!r && !wrong && local >= 256, "local memory", "%s, %d wrong, %d bytes",
		   error_name(r), wrong, local);
	MUST(cuMemFree_v2(out));
}

static void test_shape(void)
{
	enum { BLOCKS = 3 * 4 * 5, THREADS = 7 * 3 * 2, N = BLOCKS * THREADS };
	CUdeviceptr out = device_buffer(4 * N);
	void *params[] = { &out };
	unsigned int got[N], i, wrong = 0;
	CUresult r = cuLaunchKernel(kernel("shape"), 3, 4, 5, 7, 3, 2, 0, NULL, params, NULL);

	r = r ? r : cuMemcpyDtoH_v2(got, out, sizeof(got));
	for (i = 0; i < N; i++)
		wrong += got[i] != (i / THREADS << 16 | i % THREADS);
	tap_result(!r && !wrong, "grid and block of three dimensions", "%s, %u of %u wrong",
		   error_name(r), wrong, N);
	r = cuLaunchKernel(kernel("shape"), 1, 1, 1, 1024, 2, 1, 0, NULL, params, NULL);
	tap_result(r == CUDA_ERROR_INVALID_VALUE, "a block of 2048 threads is refused", "%s",
		   error_name(r));
	MUST(cuMemFree_v2(out));
}

static void test_many(void)
{
	enum { LAUNCHES = 300 };
	CUdeviceptr counter;
	CUdeviceptr out = device_buffer(64 * 8);
	char c = 1;
	double d = 1;
	short s = 1;
	void *params[] = { &c, &d, &s, &out };
	unsigned int before, after, i;
	CUresult r = CUDA_SUCCESS;

	MUST(cuModuleGetGlobal_v2(&counter, NULL, module, "counter"));
	MUST(cuMemcpyDtoH_v2(&before, counter, 4));
	for (i = 0; i < LAUNCHES && !r; i++)
		r = cuLaunchKernel(kernel("mixed"), 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuMemcpyDtoH_v2(&after, counter, 4);
	tap_result(!r && after - before == LAUNCHES * 32, "300 launches one after the other",
		   "%s, %u", error_name(r), r ? 0 : after - before);
	MUST(cuMemFree_v2(out));
}

void test_launch(void)
{
	test_add();
	test_sum();
	test_mixed();
	test_local();
	test_shape();
	test_many();
}
