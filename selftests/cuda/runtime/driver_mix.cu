// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driver and runtime API in one program: the same context, handles that both know, entry points by
 * name.
 */
#include <cuda.h>

#include "../programs/check.h"

#define DRV(call)                                                          \
	do {                                                               \
		CUresult r_ = (call);                                      \
		if (r_) {                                                  \
			printf("FAIL: %d: %s: %d\n", __LINE__, #call, r_); \
			exit(2);                                           \
		}                                                          \
	} while (0)

__global__ void add(int *p, int v)
{
	p[threadIdx.x] += v;
}

int main(void)
{
	CUcontext primary, current, mine;
	cudaFunction_t f;
	CUdeviceptr p;
	CUresult (*get_count)(int *) = NULL;
	cudaStream_t s;
	int h[32], v = 5, n = 0, wrong = 0;
	void *args[] = { &p, &v };

	DRV(cuInit(0));
	DRV(cuDevicePrimaryCtxRetain(&primary, 0));
	CHECK(cudaFree(0));
	DRV(cuCtxGetCurrent(&current));
	wrong += current != primary;
	DRV(cuMemAlloc(&p, sizeof(h)));
	CHECK(cudaMemset((void *)p, 0, sizeof(h)));
	CHECK(cudaStreamCreate(&s));
	add<<<1, 32, 0, s>>>((int *)p, 7);
	CHECK(cudaGetFuncBySymbol(&f, (const void *)add));
	DRV(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
	DRV(cuStreamSynchronize(s));
	DRV(cuMemcpyDtoH(h, p, sizeof(h)));
	for (int i = 0; i < 32; i++)
		wrong += h[i] != 12;
	CHECK(cudaFree((void *)p));
	CHECK(cudaGetDriverEntryPoint("cuDeviceGetCount", (void **)&get_count, cudaEnableDefault));
	DRV(get_count(&n));
	wrong += n < 1;
	/* the kernel is loaded there, too */
	DRV(cuCtxCreate(&mine, 0, 0));
	DRV(cuMemAlloc(&p, sizeof(h)));
	CHECK(cudaMemset((void *)p, 0, sizeof(h)));
	add<<<1, 32>>>((int *)p, 3);
	CHECK(cudaMemcpy(h, (void *)p, sizeof(h), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		wrong += h[i] != 3;
	DRV(cuCtxDestroy(mine));
	DRV(cuDevicePrimaryCtxRelease(0));
	return verdict(!wrong, "%d wrong", wrong);
}
