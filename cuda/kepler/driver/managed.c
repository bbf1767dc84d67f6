// SPDX-License-Identifier: MIT
/*
 * Managed memory: host memory that CPU and GPU see at the same address, and may use at any time.
 * Kernels reach it over PCIe. A request to move it (cuMemPrefetchAsync()) is refused.
 *
 * From ctx_enter...() to ctx_leave() the context's lock is held.
 */
#include "driver.h"

enum { ATTACH_GLOBAL = 1, ATTACH_HOST = 2, ATTACH_SINGLE = 4 };

CUresult same_memory(CUcontext ctx, uint64_t size, struct device_memory **out)
{
	CUresult r = error_of(ctx->device->ops->alloc(ctx->device, PLACE_HOST, size, out));

	if (r || (uintptr_t)(*out)->map == (*out)->va)
		return r;
	ctx->device->ops->release(ctx->device, *out);
	*out = NULL;
	return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult alloc(CUcontext ctx, CUdeviceptr *out, size_t bytes)
{
	struct range range = { .size = bytes, .flags = RANGE_MANAGED };
	CUresult r = same_memory(ctx, bytes, &range.memory);

	if (!r)
		r = range_add_host(ctx, &range);
	if (!r)
		*out = range.va;
	return r;
}

CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned int flags)
{
	CUcontext ctx;
	CUresult r = ctx_enter_unsafe(&ctx);

	if (r)
		return r;
	if (!ptr || !bytes || (flags != ATTACH_GLOBAL && flags != ATTACH_HOST))
		r = CUDA_ERROR_INVALID_VALUE;
	else
		r = alloc(ctx, ptr, bytes);
	ctx_leave(ctx);
	return r;
}

CUresult ctx_enter_managed(CUcontext *ctx, CUdeviceptr ptr, size_t bytes, struct range **range)
{
	CUresult r = ctx_enter_memory(ctx, ptr, CUDA_ERROR_INVALID_VALUE);

	if (r)
		return r;
	*range = range_find(*ctx, ptr);
	if ((*range)->flags & RANGE_MANAGED && bytes <= (*range)->va + (*range)->size - ptr)
		return CUDA_SUCCESS;
	ctx_leave(*ctx);
	return CUDA_ERROR_INVALID_VALUE;
}

/* All streams may use managed memory: this changes nothing. */
static CUresult attach(CUstream stream, CUdeviceptr ptr, size_t bytes, unsigned int flags)
{
	struct range *range;
	CUcontext ctx, other;
	CUstream s;
	CUresult r = ctx_enter_work(stream, &other, &s);

	if (r)
		return r;
	if (s->capture)
		r = capture_refuse(s);
	ctx_leave(other);
	if (r)
		return r;
	if ((flags != ATTACH_GLOBAL && flags != ATTACH_HOST && flags != ATTACH_SINGLE) ||
	    (flags == ATTACH_SINGLE && (!stream || stream == CU_STREAM_LEGACY)))
		return CUDA_ERROR_INVALID_VALUE;
	r = ctx_enter_managed(&ctx, ptr, bytes, &range);
	if (r)
		return r;
	if (range->va != ptr || (bytes && bytes != range->size))
		r = CUDA_ERROR_INVALID_VALUE;
	ctx_leave(ctx);
	return r;
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr ptr, size_t bytes, unsigned int flags)
{
	return attach(stream, ptr, bytes, flags);
}

CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr ptr, size_t bytes,
				     unsigned int flags)
{
	return attach(stream ? stream : CU_STREAM_PER_THREAD, ptr, bytes, flags);
}

static CUresult prefetch(CUdeviceptr ptr, size_t bytes, CUstream stream)
{
	struct range *range;
	CUcontext ctx;
	CUstream s;
	CUresult r = ctx_enter_work(stream, &ctx, &s);

	if (r)
		return r;
	if (s->capture)
		r = capture_refuse(s);
	ctx_leave(ctx);
	if (r)
		return r;
	r = bytes ? ctx_enter_managed(&ctx, ptr, bytes, &range) : CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	ctx_leave(ctx);
	/* no device here has concurrent managed access */
	return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuMemPrefetchAsync(CUdeviceptr ptr, size_t bytes, CUdevice dev, CUstream stream)
{
	return prefetch(ptr, bytes, stream);
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr ptr, size_t bytes, CUdevice dev, CUstream stream)
{
	return prefetch(ptr, bytes, stream ? stream : CU_STREAM_PER_THREAD);
}
