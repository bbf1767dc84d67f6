// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies whose kind is wrong do what the addresses say (seen on an NVIDIA GPU). Then the handles of
 * a context that is not current.
 */
#include <cuda.h>

#include "../programs/check.h"

enum { N = 4096, W = 64, H = 8 };

static int wrong;

static void expect(bool ok, const char *what)
{
	if (!ok)
		printf("not so: %s\n", what);
	wrong += !ok;
}

__global__ void fill(int *p, int v)
{
	p[threadIdx.x] = v + threadIdx.x;
}

static bool holds(const int *d, int v)
{
	int got[N / 4];

	CHECK(cudaMemcpy(got, d, N, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 64; i++)
		if (got[i] != v + i)
			return false;
	return true;
}

static void kinds(void)
{
	static const cudaMemcpyKind all[] = { cudaMemcpyHostToHost, cudaMemcpyHostToDevice,
					      cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
					      cudaMemcpyDefault };
	cudaMemcpy3DParms box = { 0 };
	int *a, *b;

	CHECK(cudaMalloc(&a, N));
	CHECK(cudaMalloc(&b, N));
	for (int i = 0; i < 5; i++) {
		fill<<<1, 64>>>(a, i * 1000);
		CHECK(cudaMemcpy(b, a, N, all[i]));
		expect(holds(b, i * 1000), "cudaMemcpy between two places on the GPU");
		CHECK(cudaMemset(b, 0, N));
		CHECK(cudaMemcpyAsync(b, a, N, all[i], 0));
		expect(holds(b, i * 1000), "cudaMemcpyAsync");
		CHECK(cudaMemset(b, 0, N));
		CHECK(cudaMemcpy2D(b, W, a, W, W, H, all[i]));
		expect(holds(b, i * 1000), "cudaMemcpy2D");
		CHECK(cudaMemset(b, 0, N));
		box.srcPtr = make_cudaPitchedPtr(a, W, W, H);
		box.dstPtr = make_cudaPitchedPtr(b, W, W, H);
		box.extent = make_cudaExtent(W, H, 1);
		box.kind = all[i];
		CHECK(cudaMemcpy3D(&box));
		expect(holds(b, i * 1000), "cudaMemcpy3D");
	}
	expect(cudaMemcpy(b + N / 8, a, N, cudaMemcpyHostToHost) == cudaErrorInvalidValue,
	       "a copy beyond the allocation");
	CHECK(cudaFree(a));
	expect(cudaMemcpy(b, (void *)16, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue,
	       "an address of nobody's");
	expect(cudaMemcpy((void *)16, b, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue,
	       "or to it");
	expect(cuMemcpyHtoD((CUdeviceptr)b, (void *)(b + 256), 64) == CUDA_SUCCESS,
	       "by the driver API");
	CHECK(cudaFree(b));
	cudaGetLastError();
}

static void contexts(void)
{
	CUcontext primary, other;
	cudaStream_t s;
	cudaEvent_t e;
	int *d, *mine;

	CHECK(cudaMalloc(&mine, N));
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaEventCreate(&e));
	expect(!cuCtxGetCurrent(&primary) && !cuCtxCreate(&other, 0, 0), "two contexts");
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaStreamQuery(s));
	CHECK(cudaEventRecord(e, s));
	CHECK(cudaEventSynchronize(e));
	expect(cudaEventRecord(e, 0) == cudaErrorInvalidResourceHandle, "an event in a stream of another context");
	cudaGetLastError();
	CHECK(cudaStreamWaitEvent(0, e, 0));
	CHECK(cudaMalloc(&d, N));
	fill<<<1, 64>>>(d, 5);
	CHECK_LAUNCH();
	expect(holds(d, 5), "the current context's kernel");
	expect(!cuMemcpyPeer((CUdeviceptr)mine, primary, (CUdeviceptr)d, other, N),
	       "a copy between contexts");
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaEventDestroy(e));
	expect(!cuCtxDestroy(other), "the context ends");
	expect(holds(mine, 5), "what was copied");
	CHECK(cudaFree(mine));
}

int main(void)
{
	kinds();
	contexts();
	return verdict(!wrong, "%d expectations not met", wrong);
}
