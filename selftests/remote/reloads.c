// SPDX-License-Identifier: GPL-2.0-only
/*
 * reloads UNTIL CUBIN [gives|takes FILE]: copies, fills, sums and products of matrices, and looks
 * at each byte, until the file UNTIL is there. FILE: an event of the one program, for which the
 * other one waits.
 */
#include <string.h>
#include <unistd.h>

#include "must.h"

enum { SIDE = 32, N = SIDE * SIDE };

static CUevent event;
static CUstream stream;

static void give(const char *path)
{
	CUipcEventHandle handle;
	char made[200];
	FILE *f;

	MUST(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	MUST(cuIpcGetEventHandle(&handle, event));
	snprintf(made, sizeof(made), "%s.new", path);
	f = fopen(made, "w");
	CHECK(f && fwrite(&handle, sizeof(handle), 1, f) == 1 && !fclose(f) && !rename(made, path));
}

static void take(const char *path)
{
	CUipcEventHandle handle;
	FILE *f;

	while (access(path, F_OK))
		usleep(10000);
	f = fopen(path, "r");
	CHECK(f && fread(&handle, sizeof(handle), 1, f) == 1 && !fclose(f));
	MUST(cuIpcOpenEventHandle(&event, handle));
}

static void look_at_product(const float *a, const float *product)
{
	float sum;
	int i, k;

	for (i = 0; i < N; i++) {
		for (sum = 0, k = 0; k < SIDE; k++)
			sum += a[i / SIDE * SIDE + k] * a[k * SIDE + i % SIDE];
		CHECK(product[i] == sum);
	}
}

static void compute(CUfunction add, CUfunction multiply, const CUdeviceptr p[3], unsigned int round)
{
	static float a[N], c[N], product[N];
	static uint32_t fill[N];
	int side = SIDE;
	void *matrices[] = { (void *)&p[0], (void *)&p[1], (void *)&p[2], &side };
	int n = N, i;
	void *params[] = { (void *)&p[0], (void *)&p[1], (void *)&p[2], &n };

	for (i = 0; i < N; i++)
		a[i] = (i + round) % 61; /* a product of whole numbers below 2^24 is exact */
	MUST(cuMemcpyHtoDAsync_v2(p[0], a, sizeof(a), stream));
	MUST(cuMemcpyHtoDAsync_v2(p[1], a, sizeof(a), stream));
	MUST(cuLaunchKernel(add, N / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL));
	MUST(cuMemcpyDtoHAsync_v2(c, p[2], sizeof(c), stream));
	MUST(cuLaunchKernel(multiply, SIDE, 1, 1, SIDE, 1, 1, 0, stream, matrices, NULL));
	MUST(cuMemcpyDtoHAsync_v2(product, p[2], sizeof(product), stream));
	MUST(cuMemsetD32Async(p[2], round, N, stream));
	MUST(cuMemcpyDtoHAsync_v2(fill, p[2], sizeof(fill), stream));
	MUST(cuStreamSynchronize(stream));
	look_at_product(a, product);
	for (i = 0; i < N; i++)
		CHECK(c[i] == 2 * a[i] && fill[i] == round);
}

int main(int argc, char **argv)
{
	bool gives = argc == 5 && !strcmp(argv[3], "gives");
	size_t unused, total;
	CUdeviceptr p[3];
	unsigned int i, round;
	CUmodule module;
	CUfunction add, multiply;
	CUcontext ctx;

	if (argc != 3 && argc != 5)
		return 2;
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuModuleLoad(&module, argv[2]));
	MUST(cuModuleGetFunction(&add, module, "add"));
	MUST(cuModuleGetFunction(&multiply, module, "product"));
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (i = 0; i < 3; i++)
		MUST(cuMemAlloc_v2(&p[i], N * sizeof(float)));
	if (argc == 5)
		(gives ? give : take)(argv[4]);
	for (round = 1; access(argv[1], F_OK); round++) {
		if (event && !gives)
			MUST(cuStreamWaitEvent(stream, event, 0));
		compute(add, multiply, p, round);
		if (gives)
			MUST(cuEventRecord(event, stream));
		if (round == 1)
			puts("ready");
		fflush(stdout);
		usleep(5000);
	}
	MUST(cuMemGetInfo_v2(&unused, &total));
	printf("%u rounds, %zu bytes\n", round, total);
	return 0;
}
