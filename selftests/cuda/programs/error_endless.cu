// SPDX-License-Identifier: GPL-2.0-only
/*
 * error_endless [seconds]: a kernel that never ends by itself. Where the time of kernels is
 * limited, it must end with an error that stays until a reset, and the device must work again. Else
 * it is told to end after the given time (10), and must end without an error.
 */
#include <unistd.h>

#include "check.h"

__global__ void endless(volatile int *stop, unsigned int *out)
{
	unsigned int n = 0;

	while (!*stop)
		n++;
	*out = n;
}

__global__ void add(int *p)
{
	p[threadIdx.x] += threadIdx.x;
}

int main(int argc, char **argv)
{
	double limit = argument(argc, argv, 1, 10) * 1e3, start, took;
	int *stop, *d_stop, *d, h[32];
	unsigned int *out, n = 0;
	bool ok;
	cudaStream_t stream;
	cudaError_t e, later;

	CHECK(cudaHostAlloc(&stop, 4, cudaHostAllocMapped));
	CHECK(cudaHostGetDevicePointer(&d_stop, stop, 0));
	CHECK(cudaMalloc(&out, 4));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	*stop = 0;
	endless<<<1, 32, 0, stream>>>(d_stop, out);
	CHECK_LAUNCH();
	start = now_ms();
	while ((e = cudaStreamQuery(stream)) == cudaErrorNotReady && now_ms() - start < limit)
		usleep(10000);
	took = now_ms() - start;
	if (e == cudaErrorNotReady) {
		*(volatile int *)stop = 1;
		CHECK(cudaStreamSynchronize(stream));
		CHECK(cudaMemcpy(&n, out, 4, cudaMemcpyDeviceToHost));
		return verdict(n > 0, "nothing ended the kernel for %.1f s; it went round %u times until it was told", took / 1e3, n);
	}
	later = cudaMalloc(&d, 4);
	printf("after %.1f s: %s, then %s\n", took / 1e3, cudaGetErrorName(e),
	       cudaGetErrorName(later));
	ok = (e == cudaErrorLaunchTimeout || e == cudaErrorLaunchFailure ||
	      e == cudaErrorIllegalAddress) &&
	     later == e;
	CHECK(cudaDeviceReset());
	CHECK(cudaMalloc(&d, sizeof(h)));
	CHECK(cudaMemset(d, 0, sizeof(h)));
	add<<<1, 32>>>(d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		ok &= h[i] == i;
	return verdict(ok, "an endless kernel was ended after %.1f s, the device works again", took / 1e3);
}
