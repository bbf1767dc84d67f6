// SPDX-License-Identifier: GPL-2.0-only
/* Wrong arguments: the right error each, which cudaGetLastError() tells once. */
#include "check.h"

__global__ void nothing(int *p)
{
	if (p)
		*p = 1;
}

static int bad, checks;

/*
 * cudaGetLastError() has to tell @got, too. The one call below that succeeds shows that it tells an
 * error once. @other: where versions of CUDA differ; else the same as @want.
 */
static void expect2(cudaError_t got, cudaError_t want, cudaError_t other, const char *what)
{
	cudaError_t last = cudaGetLastError();

	checks++;
	if ((got != want && got != other) || last != got) {
		printf("%s: %s, then %s, not %s\n", what, cudaGetErrorName(got),
		       cudaGetErrorName(last), cudaGetErrorName(want));
		bad++;
	}
}

static void expect(cudaError_t got, cudaError_t want, const char *what)
{
	expect2(got, want, want, what);
}

int main(void)
{
	int host[16] = { 0 }, *d, *e, managed;
	cudaStream_t stream;
	cudaEvent_t event;

	CHECK(cudaMalloc(&d, 64));
	expect(cudaMalloc(NULL, 64), cudaErrorInvalidValue, "cudaMalloc(NULL)");
	CHECK(cudaMalloc(&e, 0));
	if (e)
		bad++;
	CHECK(cudaFree(NULL));
	expect(cudaFree((void *)0x1234), cudaErrorInvalidValue,
	       "cudaFree of what was never allocated");
	expect(cudaFree(host), cudaErrorInvalidValue, "cudaFree of host memory");
	CHECK(cudaFree(d));
	expect(cudaFree(d), cudaErrorInvalidValue, "cudaFree twice");
	CHECK(cudaMalloc(&d, 64));
	expect(cudaMemcpy(d, host, 64, (cudaMemcpyKind)77), cudaErrorInvalidMemcpyDirection,
	       "a direction that does not exist");
	expect(cudaMemcpy(NULL, host, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue,
	       "a copy to NULL");
	expect2(cudaMemcpy2D(d, 8, host, 16, 16, 2, cudaMemcpyHostToDevice),
		cudaErrorInvalidPitchValue, cudaErrorInvalidValue, "a width beyond the pitch");
	expect(cudaMallocPitch(&e, NULL, 64, 64), cudaErrorInvalidValue, "no place for the pitch");
	expect(cudaSetDevice(99), cudaErrorInvalidDevice, "device 99");
	expect(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue, "no place for properties");
	nothing<<<1, 4096>>>(d);
	expect(cudaPeekAtLastError(), cudaErrorInvalidConfiguration, "4096 threads");
	nothing<<<1, 32, 1 << 20>>>(d);
	expect(cudaPeekAtLastError(), cudaErrorInvalidValue, "a MiB of shared memory");
	expect(cudaLaunchKernel((const void *)host, dim3(1), dim3(1), NULL, 0, 0),
	       cudaErrorInvalidDeviceFunction, "no kernel");
	expect(cudaMemcpyToSymbol(host, host, 4), cudaErrorInvalidSymbol, "no symbol");
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaEventCreate(&event));
	expect(cudaEventElapsedTime(NULL, event, event), cudaErrorInvalidValue,
	       "no place for the time");
	CHECK(cudaEventDestroy(event));
	CHECK(cudaDeviceGetAttribute(&managed, cudaDevAttrManagedMemory, 0));
	if (!managed)
		expect(cudaMallocManaged(&e, 64), cudaErrorNotSupported, "managed memory");
	expect2(cudaDeviceSetLimit((cudaLimit)55, 1), cudaErrorUnsupportedLimit,
		cudaErrorInvalidValue, "a limit that does not exist");
	expect(cudaFuncSetCacheConfig(host, cudaFuncCachePreferL1), cudaErrorInvalidDeviceFunction,
	       "settings of no kernel");
	nothing<<<1, 1>>>(d);
	expect(cudaDeviceSynchronize(), cudaSuccess, "after all of that a kernel");
	CHECK(cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost));
	if (strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") ||
	    strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"))
		bad++;
	return verdict(!bad && host[0] == 1, "%d wrong calls, %d answered otherwise", checks, bad);
}
