// SPDX-License-Identifier: GPL-2.0-only
/*
 * A libcuda.so.1 whose one GPU is memory of its process: copies and memsets of words are real,
 * streams do all at once, kernels there are none. It begins fast.
 */
#include <cuda/api/api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOTAL = 1 << 30, VERSION = 11080, CHUNK = 1 << 20, UNIFIED_ADDRESSING = 41 };

static struct CUctx_st {
	int is;
} the_context;
static _Thread_local CUcontext current;
static size_t taken; /* is not lowered by cuMemFree_v2() */

CUresult cuInit(unsigned int flags)
{
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = VERSION;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n)
{
	*n = 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *dev, int n)
{
	*dev = 0;
	return n ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int n, CUdevice dev)
{
	snprintf(name, n, "Stub");
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int n, CUdevice dev)
{
	snprintf(id, n, "0000:01:00.0");
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	memset(uuid, 7, sizeof(*uuid));
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *n, CUdevice dev)
{
	*n = TOTAL;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice dev)
{
	*value = a == UNIFIED_ADDRESSING;
	return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev)
{
	*ctx = current = &the_context;
	return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	current = ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	*ctx = current;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	if (ctx)
		*ctx = current;
	current = NULL;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *dev)
{
	*dev = 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *left, size_t *total)
{
	*total = TOTAL;
	*left = TOTAL - taken;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n)
{
	*p = (uintptr_t)aligned_alloc(CHUNK, (n + CHUNK - 1) / CHUNK * CHUNK);
	taken += n;
	return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr p)
{
	free((void *)(uintptr_t)p);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ streams */

CUresult cuStreamCreate(CUstream *s, unsigned int flags)
{
	*s = malloc(1);
	return *s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamDestroy_v2(CUstream s)
{
	free(s);
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream s)
{
	return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream s)
{
	return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned int flags)
{
	return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *e, unsigned int flags)
{
	*e = malloc(1);
	return *e ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy_v2(CUevent e)
{
	free(e);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent e, CUstream s)
{
	return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent e)
{
	return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent e)
{
	return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream s, CUhostFn fn, void *data)
{
	fn(data);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ copies */

static CUresult copy(void *to, const void *from, size_t n)
{
	memmove(to, from, n);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n)
{
	return copy((void *)(uintptr_t)to, from, n);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s)
{
	return copy((void *)(uintptr_t)to, from, n);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n)
{
	return copy(to, (void *)(uintptr_t)from, n);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s)
{
	return copy(to, (void *)(uintptr_t)from, n);
}

CUresult cuMemsetD32_v2(CUdeviceptr p, unsigned int value, size_t n)
{
	uint32_t *at = (uint32_t *)(uintptr_t)p;

	while (n--)
		*at++ = value;
	return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr p, unsigned int value, size_t n, CUstream s)
{
	return cuMemsetD32_v2(p, value, n);
}
