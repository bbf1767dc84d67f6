// SPDX-License-Identifier: MIT
/* Managed memory, and advice about it. */
#include "runtime.h"

cudaError_t cudaMallocManaged(void **ptr, size_t size, unsigned int flags)
{
	CUdeviceptr p = 0;
	cudaError_t e = ptr ? use_context() : cudaErrorInvalidValue;

	if (!e && size)
		e = from_driver(cuMemAllocManaged(&p, size, flags));
	if (!e)
		*ptr = (void *)(uintptr_t)p;
	return set_last_error(e);
}

cudaError_t cudaMemAdvise(const void *ptr, size_t size, enum cudaMemoryAdvise advice, int device)
{
	cudaError_t e = use_context();

	if (!e)
		e = from_driver(cuMemAdvise((CUdeviceptr)(uintptr_t)ptr, size, advice, device));
	return set_last_error(e);
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *data_sizes,
				      enum cudaMemRangeAttribute *attributes, size_t n,
				      const void *ptr, size_t size)
{
	cudaError_t e = use_context();

	/* attributes have the same numbers as in the driver API */
	return set_last_error(e ? e :
				  from_driver(cuMemRangeGetAttributes(
					  data, data_sizes, (CUmem_range_attribute *)attributes, n,
					  (CUdeviceptr)(uintptr_t)ptr, size)));
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_size,
				     enum cudaMemRangeAttribute attribute, const void *ptr,
				     size_t size)
{
	return cudaMemRangeGetAttributes(&data, &data_size, &attribute, 1, ptr, size);
}

static cudaError_t prefetch(const void *ptr, size_t size, int device, struct when w)
{
	cudaError_t e = use_context();

	if (!e)
		e = from_driver(
			cuMemPrefetchAsync((CUdeviceptr)(uintptr_t)ptr, size, device, w.stream));
	return e;
}

static cudaError_t attach(cudaStream_t stream, void *ptr, size_t size, unsigned int flags)
{
	cudaError_t e = use_context();

	return e ? e :
		   from_driver(cuStreamAttachMemAsync(stream, (CUdeviceptr)(uintptr_t)ptr, size,
						      flags));
}

ASYNC_FORMS(cudaMemPrefetchAsync, prefetch,
	    (const void *ptr, size_t size, int device, cudaStream_t stream), ptr, size, device)
STREAM_FORMS(cudaStreamAttachMemAsync, attach,
	     (cudaStream_t stream, void *ptr, size_t size, unsigned int flags), ptr, size, flags)
