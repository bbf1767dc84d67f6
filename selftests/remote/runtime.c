// SPDX-License-Identifier: GPL-2.0-only
/*
 * runtime CUBIN: a program on libcudart.so.11.0 as nvcc makes one, but in plain C, so that it can
 * be compiled for CPUs that nvcc does not know here. Exit code 0: all is right.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda/kepler/runtime/api.h>

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
	__cudaRegisterFunction(handle, (const char *)add, "add", "add", -1, NULL, NULL, NULL, NULL,
			       NULL);
	__cudaRegisterFunction(handle, (const char *)mixed, "mixed", "mixed", -1, NULL, NULL, NULL,
			       NULL, NULL);
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
	MUST(cudaLaunchKernel((void *)add, (dim3){ (N + BLOCK - 1) / BLOCK, 1, 1 },
			      (dim3){ BLOCK, 1, 1 }, args, 0, s));
	MUST(cudaMemcpyAsync(pinned, dc, sizeof(c), cudaMemcpyDeviceToHost, s));
	MUST(cudaLaunchHostFunc(s, in_stream, &seven));
	MUST(cudaEventRecord(event, s));
	MUST(cudaEventSynchronize(event));
	MUST(cudaMemcpy(c, dc, sizeof(c), cudaMemcpyDeviceToHost));
	for (i = 0; i < N; i++)
		fail_if(c[i] != a[i] + b[i] || pinned[i] != c[i], "a sum");
	fail_if(called != 7, "a host function");
	MUST(cudaFree(dc));
	MUST(cudaFreeHost(pinned));
}

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
	MUST(cudaLaunchKernel((void *)mixed, (dim3){ 1, 1, 1 }, (dim3){ THREADS, 1, 1 }, args, 0,
			      NULL));
	MUST(cudaMemcpy(out, dev, sizeof(out), cudaMemcpyDeviceToHost));
	for (i = 0; i < THREADS; i++)
		fail_if(out[i] != c * ones[i % 4] + d * table[i % 4] + s,
			"a kernel with mixed parameters");
}

static void properties(void)
{
	struct cudaDeviceProp p;
	struct cudaFuncAttributes f;
	int n = 0;

	MUST(cudaGetDeviceCount(&n));
	MUST(cudaGetDeviceProperties(&p, 0));
	fail_if(n < 1 || p.warpSize != 32 || p.maxThreadsPerBlock < 512 || !p.totalGlobalMem ||
			!strlen(p.name),
		"the device's properties");
	MUST(cudaFuncGetAttributes(&f, (void *)add));
	fail_if(f.maxThreadsPerBlock < 32 || !f.binaryVersion, "a kernel's attributes");
	fail_if(cudaSetDevice(n) != cudaErrorInvalidDevice ||
			cudaGetLastError() != cudaErrorInvalidDevice || cudaGetLastError(),
		"an error, given once");
	printf("%s: ", p.name);
}

/* a program divides its work among its devices; the parts come together on the first one */
static void split(int devices)
{
	enum { PART = 20000, DEVICES_MAX = 8 };
	static float a[DEVICES_MAX * PART], b[DEVICES_MAX * PART], c[DEVICES_MAX * PART];
	struct {
		float *a, *b, *c;
		cudaStream_t s;
		cudaEvent_t done;
	} d[DEVICES_MAX];
	int i, k, n = PART, can;
	cudaStream_t gather;
	float *all;

	for (i = 0; i < devices * PART; i++) {
		a[i] = i;
		b[i] = 3 * i + 1;
	}
	MUST(cudaMalloc((void **)&all, sizeof(c)));
	MUST(cudaStreamCreate(&gather));
	for (k = 0; k < devices; k++) {
		void *args[] = { &d[k].a, &d[k].b, &d[k].c, &n };

		MUST(cudaSetDevice(k));
		MUST(cudaStreamCreate(&d[k].s));
		MUST(cudaEventCreateWithFlags(&d[k].done, 2 /* no timing */));
		MUST(cudaMalloc((void **)&d[k].a, PART * sizeof(float)));
		MUST(cudaMalloc((void **)&d[k].b, PART * sizeof(float)));
		MUST(cudaMalloc((void **)&d[k].c, PART * sizeof(float)));
		MUST(cudaMemcpyAsync(d[k].a, a + k * PART, PART * sizeof(float),
				     cudaMemcpyHostToDevice, d[k].s));
		MUST(cudaMemcpyAsync(d[k].b, b + k * PART, PART * sizeof(float),
				     cudaMemcpyHostToDevice, d[k].s));
		MUST(cudaLaunchKernel((void *)add, (dim3){ (PART + BLOCK - 1) / BLOCK, 1, 1 },
				      (dim3){ BLOCK, 1, 1 }, args, 0, d[k].s));
		MUST(cudaEventRecord(d[k].done, d[k].s));
	}
	MUST(cudaSetDevice(0));
	for (k = 0; k < devices; k++) {
		MUST(cudaDeviceCanAccessPeer(&can, 0, k));
		fail_if(can, "no device sees another one's memory");
		MUST(cudaStreamWaitEvent(gather, d[k].done, 0));
		MUST(cudaMemcpyPeerAsync(all + k * PART, 0, d[k].c, k, PART * sizeof(float),
					 gather));
	}
	MUST(cudaMemcpyAsync(c, all, devices * PART * sizeof(float), cudaMemcpyDeviceToHost,
			     gather));
	MUST(cudaStreamSynchronize(gather));
	for (i = 0; i < devices * PART; i++)
		fail_if(c[i] != a[i] + b[i], "a sum of several devices");
	for (k = devices - 1; k >= 0; k--) {
		MUST(cudaMemcpy(d[k].a, all + k * PART, PART * sizeof(float), cudaMemcpyDefault));
		memset(c, 0, PART * sizeof(float));
		MUST(cudaMemcpy(c, d[k].a, PART * sizeof(float), cudaMemcpyDefault));
		for (i = 0; i < PART; i++)
			fail_if(c[i] != a[k * PART + i] + b[k * PART + i],
				"a copy that the addresses tell about");
	}
	printf("%d devices, ", devices);
}

int main(int argc, char **argv)
{
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
	int devices, i;

	if (argc != 2) {
		fprintf(stderr, "usage: runtime CUBIN\n");
		return 2;
	}
	register_code(argv[1]);
	/* the first call: without a context */
	MUST(cudaThreadExchangeStreamCaptureMode(&mode));
	properties();
	sums();
	parameters();
	MUST(cudaGetDeviceCount(&devices));
	for (i = 1; i < devices; i++) {
		MUST(cudaSetDevice(i));
		parameters();
	}
	if (devices > 1)
		split(devices);
	MUST(cudaDeviceSynchronize());
	__cudaUnregisterFatBinary(handle);
	puts("sums, mixed parameters, a variable, a host function");
	return 0;
}
