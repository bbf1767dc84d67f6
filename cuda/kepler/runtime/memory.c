// SPDX-License-Identifier: MIT
/* Memory: of the GPU, and host memory that the GPU sees. */
#include "runtime.h"

enum { ELEMENT = 16 }; /* the widest access */

/* 0 bytes: a null pointer, and no error. */
static cudaError_t allocate(void **ptr, size_t size)
{
	CUdeviceptr p = 0;
	cudaError_t e = ptr ? use_context() : cudaErrorInvalidValue;

	if (!e && size)
		e = from_driver(cuMemAlloc_v2(&p, size));
	if (!e)
		*ptr = (void *)(uintptr_t)p;
	return e;
}

cudaError_t cudaMalloc(void **ptr, size_t size)
{
	return set_last_error(allocate(ptr, size));
}

static cudaError_t allocate_pitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	CUdeviceptr p = 0;
	size_t n = 0;
	cudaError_t e = use_context();

	if (!e && width && height)
		e = from_driver(cuMemAllocPitch_v2(&p, &n, width, height, ELEMENT));
	if (e)
		return e;
	*ptr = (void *)(uintptr_t)p;
	*pitch = n;
	return cudaSuccess;
}

cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	return set_last_error(ptr && pitch ? allocate_pitch(ptr, pitch, width, height) :
					     cudaErrorInvalidValue);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
	size_t lines;
	cudaError_t e;

	if (!out || __builtin_mul_overflow(extent.height, extent.depth, &lines))
		return set_last_error(cudaErrorInvalidValue);
	e = allocate_pitch(&out->ptr, &out->pitch, extent.width, lines);
	if (!e) {
		out->xsize = extent.width;
		out->ysize = extent.height;
	}
	return set_last_error(e);
}

cudaError_t cudaFree(void *ptr)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : from_driver(cuMemFree_v2((CUdeviceptr)(uintptr_t)ptr)));
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
	cudaError_t e = free && total ? use_context() : cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuMemGetInfo_v2(free, total)));
}

/* ------------------------------------------------------------------ host memory */

cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned int flags)
{
	void *p = NULL;
	cudaError_t e = ptr ? use_context() : cudaErrorInvalidValue;

	if (!e && size)
		e = from_driver(cuMemHostAlloc(&p, size, flags));
	if (!e)
		*ptr = p;
	return set_last_error(e);
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
	return cudaHostAlloc(ptr, size, 0);
}

cudaError_t cudaFreeHost(void *ptr)
{
	cudaError_t e = use_context();

	return set_last_error(e || !ptr ? e : from_driver(cuMemFreeHost(ptr)));
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
	cudaError_t e = ptr && size ? use_context() : cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuMemHostRegister_v2(ptr, size, flags)));
}

cudaError_t cudaHostUnregister(void *ptr)
{
	cudaError_t e = ptr ? use_context() : cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuMemHostUnregister(ptr)));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
	CUdeviceptr p;
	cudaError_t e = device && host && !flags ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuMemHostGetDevicePointer_v2(&p, host, 0));
	if (!e)
		*device = (void *)(uintptr_t)p;
	return set_last_error(e);
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
	cudaError_t e = flags && host ? use_context() : cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuMemHostGetFlags(flags, host)));
}
