// SPDX-License-Identifier: MIT
/* Questions about kernels, and settings of them. */
#include "runtime.h"

static cudaError_t attributes_of(CUfunction f, struct cudaFuncAttributes *a)
{
	int v[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT + 1], i;
	CUresult r = CUDA_SUCCESS;

	for (i = 0; i <= CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT && !r; i++)
		r = cuFuncGetAttribute(&v[i], (CUfunction_attribute)i, f);
	if (r)
		return from_driver(r);
	*a = (struct cudaFuncAttributes){
		.sharedSizeBytes = v[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES],
		.constSizeBytes = v[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES],
		.localSizeBytes = v[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES],
		.maxThreadsPerBlock = v[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK],
		.numRegs = v[CU_FUNC_ATTRIBUTE_NUM_REGS],
		.ptxVersion = v[CU_FUNC_ATTRIBUTE_PTX_VERSION],
		.binaryVersion = v[CU_FUNC_ATTRIBUTE_BINARY_VERSION],
		.cacheModeCA = v[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA],
		.maxDynamicSharedSizeBytes = v[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES],
		.preferredShmemCarveout = v[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT],
	};
	return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func)
{
	CUfunction f;
	cudaError_t e = attributes ? find_function(func, &f) : cudaErrorInvalidValue;

	return set_last_error(e ? e : attributes_of(f, attributes));
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attribute, int value)
{
	CUfunction f;
	cudaError_t e = find_function(func, &f);

	return set_last_error(
		e ? e : from_driver(cuFuncSetAttribute(f, (CUfunction_attribute)attribute, value)));
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config)
{
	CUfunction f;
	cudaError_t e = find_function(func, &f);

	return set_last_error(e ? e : from_driver(cuFuncSetCacheConfig(f, (CUfunc_cache)config)));
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
	CUfunction f;
	cudaError_t e = find_function(func, &f);

	return set_last_error(e ? e :
				  from_driver(cuFuncSetSharedMemConfig(f, (CUsharedconfig)config)));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
	return set_last_error(function ? find_function(symbol, function) : cudaErrorInvalidValue);
}

/* for GPUs without double precision */
cudaError_t cudaSetDoubleForDevice(double *d)
{
	return set_last_error(d ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaSetDoubleForHost(double *d)
{
	return set_last_error(d ? cudaSuccess : cudaErrorInvalidValue);
}

/* ------------------------------------------------------------------ occupancy */

static cudaError_t blocks_of(int *blocks, const void *func, int threads, size_t dynamic,
			     unsigned int flags)
{
	CUfunction f;
	cudaError_t e = blocks ? find_function(func, &f) : cudaErrorInvalidValue;

	if (e)
		return e;
	return from_driver(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads,
										dynamic, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func,
							  int threads, size_t dynamic)
{
	return set_last_error(blocks_of(blocks, func, threads, dynamic, 0));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func,
								   int threads, size_t dynamic,
								   unsigned int flags)
{
	return set_last_error(blocks_of(blocks, func, threads, dynamic, flags));
}

/* More memory never lets more blocks fit: halve the range. */
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, const void *func, int blocks,
						      int threads)
{
	size_t low = 0, high;
	CUdevice dev;
	int n, max;
	cudaError_t e = dynamic && blocks > 0 ? blocks_of(&n, func, threads, 0, 0) :
						cudaErrorInvalidValue;

	if (!e && n < blocks)
		e = cudaErrorInvalidValue;
	if (!e)
		e = from_driver(cuCtxGetDevice(&dev));
	if (!e)
		e = from_driver(
			cuDeviceGetAttribute(&max, cudaDevAttrMaxSharedMemoryPerBlock, dev));
	for (high = e ? 0 : max; !e && low < high;) {
		size_t middle = (low + high + 1) / 2;

		e = blocks_of(&n, func, threads, middle, 0);
		if (n >= blocks)
			low = middle;
		else
			high = middle - 1;
	}
	if (!e)
		*dynamic = low;
	return set_last_error(e);
}
