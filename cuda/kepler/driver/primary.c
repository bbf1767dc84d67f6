// SPDX-License-Identifier: MIT
/*
 * Primary contexts: one for each device. A reset, and the last release, close the context and keep
 * its handle, which the next retain opens again. NVIDIA's runtimes ask for the handle before.
 *
 * All calls here take `table`, with no context locked: context_open() and context_close() lock the
 * context themselves.
 */
#include "../../api/export/export.h"
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

/* Call with `table` held. False: no memory. */
static bool make_handle(CUdevice dev)
{
	CUcontext *ctx = &primary[dev].ctx;

	if (*ctx)
		return true;
	*ctx = context_new();
	if (!*ctx)
		return false;
	(*ctx)->primary = true;
	(*ctx)->dev = dev;
	return true;
}

CUresult export_primary(CUcontext *ctx, CUdevice dev)
{
	CUresult r = check_device(dev);

	if (r)
		return r;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&table);
	if (!make_handle(dev))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	*ctx = primary[dev].ctx;
	pthread_mutex_unlock(&table);
	return r;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	CUresult r = check_device(dev);

	if (r)
		return r;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&table);
	if (!make_handle(dev))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	else if (!active(dev))
		r = context_open(&primary[dev].ctx, primary[dev].flags, dev);
	if (!r) {
		primary[dev].refs++;
		*ctx = primary[dev].ctx;
	}
	pthread_mutex_unlock(&table);
	return r;
}

/* Call with `table` held; it is given back. @ends: close the context if it is active. */
static void leave_primary(CUdevice dev, bool ends)
{
	CUcontext ctx = ends && active(dev) ? primary[dev].ctx : NULL;

	if (ctx)
		context_close(ctx);
	pthread_mutex_unlock(&table);
	users_destroy();
	if (ctx)
		export_context_ended(ctx);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	CUresult r = check_device(dev);

	if (r)
		return r;
	pthread_mutex_lock(&table);
	if (!primary[dev].refs)
		r = CUDA_ERROR_INVALID_CONTEXT;
	leave_primary(dev, !r && --primary[dev].refs == 0);
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
	leave_primary(dev, true);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ names of before CUDA 11 */

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	return cuDevicePrimaryCtxRelease_v2(dev);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
	return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
	return cuDevicePrimaryCtxReset_v2(dev);
}
