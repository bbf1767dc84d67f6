// SPDX-License-Identifier: MIT
/* Settings of the thread's device, and questions about them. */
#include "runtime.h"

/* Mapping is always on; a driver may refuse the flag. */
cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
	unsigned int asked = flags & ~(unsigned int)cudaDeviceMapHost;
	int device;
	cudaError_t e = flags & ~(unsigned int)cudaDeviceMask ? cudaErrorInvalidValue :
								use_driver();

	if (!e)
		e = cudaGetDevice(&device);
	if (!e)
		e = from_driver(cuDevicePrimaryCtxSetFlags_v2(device, asked));
	return set_last_error(e);
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
	int device, active;
	cudaError_t e = flags ? use_driver() : cudaErrorInvalidValue;

	if (!e)
		e = cudaGetDevice(&device);
	if (!e)
		e = from_driver(cuDevicePrimaryCtxGetState(device, flags, &active));
	if (!e)
		*flags |= cudaDeviceMapHost;
	return set_last_error(e);
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	cudaError_t e = (unsigned int)limit <= cudaLimitPersistingL2CacheSize ?
				use_context() :
				cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuCtxSetLimit((CUlimit)limit, value)));
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	bool known = (unsigned int)limit <= cudaLimitPersistingL2CacheSize;
	cudaError_t e = value && known ? use_context() : cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuCtxGetLimit(value, (CUlimit)limit)));
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : from_driver(cuCtxSetCacheConfig((CUfunc_cache)config)));
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	CUfunc_cache c;
	cudaError_t e = config ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuCtxGetCacheConfig(&c));
	if (!e)
		*config = (enum cudaFuncCache)c;
	return set_last_error(e);
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : from_driver(cuCtxSetSharedMemConfig((CUsharedconfig)config)));
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
	CUsharedconfig c;
	cudaError_t e = config ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuCtxGetSharedMemConfig(&c));
	if (!e)
		*config = (enum cudaSharedMemConfig)c;
	return set_last_error(e);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : from_driver(cuCtxGetStreamPriorityRange(least, greatest)));
}

/* our choice: an error, because a GPU of this kind has no persisting lines in its cache */
cudaError_t cudaCtxResetPersistingL2Cache(void)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : cudaErrorNotSupported);
}

/* names of CUDA 3 */
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
	return cudaDeviceSetLimit(limit, value);
}
cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit)
{
	return cudaDeviceGetLimit(value, limit);
}
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
	return cudaDeviceSetCacheConfig(config);
}
cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config)
{
	return cudaDeviceGetCacheConfig(config);
}
