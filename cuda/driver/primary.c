// SPDX-License-Identifier: MIT
/*
 * Primary contexts: one for each device. A reset, and the last release, close the context and keep
 * its handle, which the next retain opens again.
 *
 * All calls here take `table`, with no context locked: context_open() and context_close() lock the
 * context themselves.
 */
#include "driver.h"

/* guarded by `table` */
static struct {
	CUcontext ctx;
	unsigned int refs, flags;
} primary[MAX_DEVICES];

static CUresult check_device(CUdevice dev)
{
	CUresult r = may_take_table();

	return r ? r : driver_device(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static bool active(CUdevice dev)
{
	return primary[dev].ctx && primary[dev].ctx->alive;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	CUresult r = check_device(dev);

	if (r)
		return r;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&table);
	if (!active(dev))
		r = context_open(&primary[dev].ctx, primary[dev].flags, dev);
	if (!r) {
		primary[dev].ctx->primary = true;
		primary[dev].refs++;
		*ctx = primary[dev].ctx;
	}
	pthread_mutex_unlock(&table);
	return r;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	CUresult r = check_device(dev);

	if (r)
		return r;
	pthread_mutex_lock(&table);
	if (!primary[dev].refs)
		r = CUDA_ERROR_INVALID_CONTEXT;
	else if (--primary[dev].refs == 0 && active(dev))
		context_close(primary[dev].ctx);
	pthread_mutex_unlock(&table);
	users_destroy();
	return r;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	CUresult r = check_device(dev);

	if (r)
		return r;
	if (flags & ~CU_CTX_FLAGS_MASK)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&table);
	primary[dev].flags = flags;
	if (active(dev))
		__atomic_store_n(&primary[dev].ctx->flags, flags, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&table);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *is_active)
{
	CUresult r = check_device(dev);

	if (r)
		return r;
	if (!flags || !is_active)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&table);
	*flags = primary[dev].flags;
	*is_active = active(dev);
	pthread_mutex_unlock(&table);
	return CUDA_SUCCESS;
}

/* The references stay. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	CUresult r = check_device(dev);

	if (r)
		return r;
	pthread_mutex_lock(&table);
	if (active(dev))
		context_close(primary[dev].ctx);
	pthread_mutex_unlock(&table);
	users_destroy();
	return CUDA_SUCCESS;
}
