// SPDX-License-Identifier: MIT
/*
 * Pinned host memory: kernel buffers in system memory that CPU and GPU see, at one address where
 * possible.
 */
#include "driver.h"

static CUresult alloc(CUcontext ctx, void **ptr, size_t bytes, unsigned int flags)
{
	struct range range = { .size = bytes, .flags = flags | CU_MEMHOSTALLOC_DEVICEMAP };
	CUresult r =
		error_of(ctx->device->ops->alloc(ctx->device, PLACE_HOST, bytes, &range.memory));

	if (!r)
		r = range_add_host(ctx, &range);
	if (!r)
		*ptr = range.host;
	return r;
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
	const unsigned int known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
				   CU_MEMHOSTALLOC_WRITECOMBINED;
	CUcontext ctx;
	CUresult r = ctx_enter_unsafe(&ctx);

	if (r)
		return r;
	if (!ptr || flags & ~known)
		r = CUDA_ERROR_INVALID_VALUE;
	else if (bytes)
		r = alloc(ctx, ptr, bytes, flags);
	else
		*ptr = NULL;
	ctx_leave(ctx);
	return r;
}

CUresult cuMemAllocHost_v2(void **ptr, size_t bytes)
{
	return cuMemHostAlloc(ptr, bytes, 0);
}

CUresult cuMemFreeHost(void *ptr)
{
	struct range *range;
	CUcontext ctx;
	CUresult r = ptr ? ctx_enter_pinned(&ctx, ptr) : free_nothing();

	if (r || !ptr)
		return r;
	r = capture_unsafe();
	range = range_find_host(ctx, ptr);
	if (!r && (range->host != ptr ||
		   range->flags & (RANGE_MANAGED | RANGE_MODULE | RANGE_REGISTERED)))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = moment_wait(ctx, &ctx->submitted);
	if (!r) {
		ctx->device->ops->release(ctx->device, range->memory);
		range_remove(ctx, range);
	}
	ctx_leave(ctx);
	return r;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *ptr, void *host, unsigned int flags)
{
	struct range *range;
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (host)
		registered_show(ctx, host, true);
	range = host ? range_find_host(ctx, host) : NULL;
	if (!ptr || flags || !range || range->flags & RANGE_MANAGED)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		*ptr = range->va + ((uint8_t *)host - range->host);
	ctx_leave(ctx);
	return r;
}

static bool has_flags(CUcontext ctx, const void *host)
{
	return range_find_host(ctx, host) || registered_at(ctx, host);
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *host)
{
	struct registered *mine;
	struct range *range;
	CUcontext ctx;
	CUresult r = current_check();

	if (!r)
		r = ctx_enter_owner(&ctx, has_flags, host, CUDA_ERROR_INVALID_VALUE);
	if (r)
		return r;
	range = range_find_host(ctx, host);
	mine = registered_at(ctx, host);
	if (!flags)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		*flags = mine ? (mine->flags & CU_MEMHOSTALLOC_PORTABLE) |
					 CU_MEMHOSTALLOC_DEVICEMAP :
			 range->flags & RANGE_MANAGED ? CU_MEMHOSTALLOC_DEVICEMAP :
							range->flags;
	ctx_leave(ctx);
	return r;
}
