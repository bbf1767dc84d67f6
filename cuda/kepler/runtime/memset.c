// SPDX-License-Identifier: MIT
/* Fills, by bytes. */
#include "runtime.h"

static cudaError_t set_memory(void *ptr, int value, size_t n, struct when w)
{
	cudaError_t e = use_context();

	return e ? e :
		   from_driver(CALL_WHEN(w, cuMemsetD8_v2, cuMemsetD8Async, device_address(ptr),
					 (unsigned char)value, n));
}

static cudaError_t set_lines(void *ptr, size_t pitch, int value, size_t width, size_t height,
			     struct when w)
{
	cudaError_t e = use_context();

	if (!e && width && height && pitch < width)
		e = cudaErrorInvalidValue;
	return e ? e :
		   from_driver(CALL_WHEN(w, cuMemsetD2D8_v2, cuMemsetD2D8Async, device_address(ptr),
					 pitch, (unsigned char)value, width, height));
}

/* Planes are ptr.ysize lines apart, extent.height lines are filled. */
static cudaError_t set_planes(struct cudaPitchedPtr ptr, int value, struct cudaExtent extent,
			      struct when w)
{
	size_t plane, lines, z;
	cudaError_t e = cudaSuccess;

	if (!extent.width || !extent.height || !extent.depth)
		return use_context();
	if (__builtin_mul_overflow(ptr.pitch, ptr.ysize, &plane) ||
	    __builtin_mul_overflow(extent.height, extent.depth, &lines))
		return cudaErrorInvalidValue;
	if (extent.depth == 1 || extent.height == ptr.ysize)
		return set_lines(ptr.ptr, ptr.pitch, value, extent.width, lines, w);
	if (extent.height > ptr.ysize)
		return cudaErrorInvalidValue;
	for (z = 0; z < extent.depth && !e; z++)
		e = set_lines((char *)ptr.ptr + z * plane, ptr.pitch, value, extent.width,
			      extent.height, w);
	return e;
}

SYNC_FORMS(cudaMemset, set_memory, (void *ptr, int value, size_t n), ptr, value, n)
ASYNC_FORMS(cudaMemsetAsync, set_memory, (void *ptr, int value, size_t n, cudaStream_t stream), ptr,
	    value, n)
SYNC_FORMS(cudaMemset2D, set_lines,
	   (void *ptr, size_t pitch, int value, size_t width, size_t height), ptr, pitch, value,
	   width, height)
ASYNC_FORMS(cudaMemset2DAsync, set_lines,
	    (void *ptr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
	    ptr, pitch, value, width, height)
SYNC_FORMS(cudaMemset3D, set_planes,
	   (struct cudaPitchedPtr ptr, int value, struct cudaExtent extent), ptr, value, extent)
ASYNC_FORMS(cudaMemset3DAsync, set_planes,
	    (struct cudaPitchedPtr ptr, int value, struct cudaExtent extent, cudaStream_t stream),
	    ptr, value, extent)
