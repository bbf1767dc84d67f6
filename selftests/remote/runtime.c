// SPDX-License-Identifier: GPL-2.0-only
/*
 * runtime CUBIN: a program on libcudart.so.11.0 as nvcc makes one, but in plain C: its device code is registered before it runs and
 * its kernels are launched by the addresses of functions. So it can be compiled for CPUs that nvcc does not know here. Exit code 0:
 * all is right.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda/runtime/api.h>

enum { N = 5000, BLOCK = 128, THREADS = 32, CUBIN_MAX = 1 << 20 };

/* what nvcc registers: a pointer to device code */
static struct {
	uint32_t magic, version;
	const void *image;
	void *unused;
} segment = { 0x466243b1, 1, NULL, NULL };

static void **handle;
static int called;

/* their addresses stand for the kernels and the variable of the same names */
static void add(void)
{
}

static void mixed(void)
{
}

static char factors[16];

static void must(cudaError_t e, const char *what)
{
	if (!e)
		return;
	printf("%s: %s\n", what, cudaGetErrorName(e));
	exit(2);
}
#define MUST(call) must(call, #call)

static void fail_if(bool wrong, const char *what)
{
	if (!wrong)
		return;
	printf("wrong: %s\n", what);
	exit(1);
}

static void register_code(const char *path)
{
	void *image = malloc(CUBIN_MAX);
	FILE *f = fopen(path, "rb");

	if (!f || !image || fread(image, 1, CUBIN_MAX, f) < 64) {
		perror(path);
		exit(2);
	}
	fclose(f);
	segment.image = image;
	handle = __cudaRegisterFatBinary(&segment);
	__cudaRegisterFunction(handle, (const char *)add, "add", "add", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(handle, (const char *)mixed, "mixed", "mixed", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(handle, factors, "factors", "factors", 0, sizeof(factors), 1, 0);
	__cudaRegisterFatBinaryEnd(handle);
}

static void in_stream(void *data)
{
	called += *(int *)data;
}

static void sums(void)
{
	static float a[N], b[N], c[N];
	float *da, *db, *dc, *pinned;
	int n = N, i, seven = 7;
	void *args[] = { &da, &db, &dc, &n };
	cudaEvent_t event;
	cudaStream_t s;

	for (i = 0; i < N; i++) {
		a[i] = i;
		b[i] = 0.5f * i - 100;
	}
	MUST(cudaStreamCreate(&s));
	MUST(cudaEventCreate(&event));
	MUST(cudaMalloc((void **)&da, sizeof(a)));
	MUST(cudaMalloc((void **)&db, sizeof(b)));
	MUST(cudaMalloc((void **)&dc, sizeof(c)));
	MUST(cudaMallocHost((void **)&pinned, sizeof(c)));
	MUST(cudaMemcpy(da, a, sizeof(a), cudaMemcpyHostToDevice));
	MUST(cudaMemcpyAsync(db, b, sizeof(b), cudaMemcpyHostToDevice, s));
	MUST(cudaLaunchKernel((void *)add, (dim3){ (N + BLOCK - 1) / BLOCK, 1, 1 }, (dim3){ BLOCK, 1, 1 }, args, 0, s));
	MUST(cudaMemcpyAsync(pinned, dc, sizeof(c), cudaMemcpyDeviceToHost, s));
	MUST(cudaLaunchHostFunc(s, in_stream, &seven));
	MUST(cudaEventRecord(event, s));
	MUST(cudaEventSynchronize(event));
	MUST(cudaMemcpy(c, dc, sizeof(c), cudaMemcpyDeviceToHost));
	for (i = 0; i < N; i++)
		fail_if(c[i] != a[i] + b[i] || pinned[i] != c[i], "a sum");
	fail_if(called != 7, "a function of the host");
	MUST(cudaFree(dc));
	MUST(cudaFreeHost(pinned));
}

/* parameters of mixed sizes, of which a char's sign matters, and a variable */
static void parameters(void)
{
	const int ones[] = { 1, 2, 3, 4 };
	const float table[] = { 0.5f, 1.5f, 2.5f, 3.5f };
	double d = 1.25, out[THREADS], *dev;
	signed char c = -3;
	short s = -7;
	void *args[] = { &c, &d, &s, &dev };
	int i;

	MUST(cudaMalloc((void **)&dev, sizeof(out)));
	MUST(cudaMemcpyToSymbol(factors, ones, sizeof(ones), 0, cudaMemcpyHostToDevice));
	MUST(cudaLaunchKernel((void *)mixed, (dim3){ 1, 1, 1 }, (dim3){ THREADS, 1, 1 }, args, 0, NULL));
	MUST(cudaMemcpy(out, dev, sizeof(out), cudaMemcpyDeviceToHost));
	for (i = 0; i < THREADS; i++)
		fail_if(out[i] != c * ones[i % 4] + d * table[i % 4] + s, "a kernel with mixed parameters");
}

static void properties(void)
{
	struct cudaDeviceProp p;
	struct cudaFuncAttributes f;
	int n = 0;

	MUST(cudaGetDeviceCount(&n));
	MUST(cudaGetDeviceProperties(&p, 0));
	fail_if(n < 1 || p.warpSize != 32 || p.maxThreadsPerBlock < 512 || !p.totalGlobalMem || !strlen(p.name),
		"the device's properties");
	MUST(cudaFuncGetAttributes(&f, (void *)add));
	fail_if(f.maxThreadsPerBlock < 32 || !f.binaryVersion, "a kernel's attributes");
	fail_if(cudaSetDevice(n) != cudaErrorInvalidDevice || cudaGetLastError() != cudaErrorInvalidDevice || cudaGetLastError(),
		"an error, given once");
	printf("%s: ", p.name);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: runtime CUBIN\n");
		return 2;
	}
	register_code(argv[1]);
	properties();
	sums();
	parameters();
	MUST(cudaDeviceSynchronize());
	__cudaUnregisterFatBinary(handle);
	puts("sums, mixed parameters, a variable, a function of the host");
	return 0;
}
