// SPDX-License-Identifier: MIT
/* Device memory. Small allocations share slabs, so that a submission names few buffers. */
#include <stdlib.h>

#include "driver.h"

enum { SLAB_BYTES = 2 << 20, SMALL = 512 << 10, ALIGN = 512 };

void memory_free_all(CUcontext ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->nr_ranges; i++)
		free(ctx->ranges[i].advice);
	free(ctx->ranges);
	free(ctx->slabs);
	ctx->ranges = NULL;
	ctx->slabs = NULL;
	ctx->nr_ranges = ctx->max_ranges = ctx->nr_slabs = 0;
}

/* ------------------------------------------------------------------ slabs */

/* 0: no gap is wide enough */
static uint64_t gap(CUcontext ctx, const struct device_memory *slab, uint64_t size)
{
	uint64_t at = slab->va, end = slab->va + slab->size;
	unsigned int i = range_above(ctx, slab->va - 1);

	for (; i < ctx->nr_ranges && ctx->ranges[i].va < end; i++) {
		if (ctx->ranges[i].va - at >= size)
			return at;
		at = (ctx->ranges[i].va + ctx->ranges[i].size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
	}
	return at < end && end - at >= size ? at : 0;
}

static CUresult add_slab(CUcontext ctx, struct device_memory **out)
{
	struct device_memory **grown = realloc(ctx->slabs, (ctx->nr_slabs + 1) * sizeof(*grown));
	CUresult r;

	if (!grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx->slabs = grown;
	r = error_of(ctx->device->ops->alloc(ctx->device, PLACE_VRAM, SLAB_BYTES, out));
	if (!r)
		ctx->slabs[ctx->nr_slabs++] = *out;
	return r;
}

static CUresult alloc_small(CUcontext ctx, uint64_t size, struct range *out)
{
	struct device_memory *slab = NULL;
	unsigned int i;
	CUresult r;

	out->shared = true;
	for (i = 0; i < ctx->nr_slabs; i++) {
		out->va = gap(ctx, ctx->slabs[i], size);
		out->memory = ctx->slabs[i];
		if (out->va)
			return CUDA_SUCCESS;
	}
	r = add_slab(ctx, &slab);
	out->memory = slab;
	out->va = r ? 0 : slab->va;
	return r;
}

static uint64_t vram_free(CUcontext ctx)
{
	uint64_t total = driver_device(ctx->dev)->vram,
		 used = ctx->device->ops->vram_used(ctx->device);

	return used < total ? total - used : 0;
}

static CUresult alloc(CUcontext ctx, uint64_t size, CUdeviceptr *out)
{
	struct range range = { .size = size };
	CUresult r;

	if (size > SMALL && size > vram_free(ctx))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (size <= SMALL) {
		r = alloc_small(ctx, size, &range);
	} else {
		r = error_of(ctx->device->ops->alloc(ctx->device, PLACE_VRAM, size, &range.memory));
		range.va = r ? 0 : range.memory->va;
	}
	if (r)
		return r;
	r = range_add(ctx, range);
	if (r && !range.shared)
		ctx->device->ops->release(ctx->device, range.memory);
	*out = r ? 0 : range.va;
	return r;
}

/* ------------------------------------------------------------------ entry points */

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (free_bytes)
		*free_bytes = vram_free(ctx);
	if (total)
		*total = driver_device(ctx->dev)->vram;
	ctx_leave(ctx);
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
	CUcontext ctx;
	CUresult r = ctx_enter_unsafe(&ctx);

	if (r)
		return r;
	r = ptr && bytes ? alloc(ctx, bytes, ptr) : CUDA_ERROR_INVALID_VALUE;
	ctx_leave(ctx);
	return r;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height,
			    unsigned int element)
{
	size_t p = (width + ALIGN - 1) & ~(size_t)(ALIGN - 1), bytes;
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!ptr || !pitch || !width || !height || p < width ||
	    (element != 4 && element != 8 && element != 16) ||
	    __builtin_mul_overflow(p, height, &bytes))
		return CUDA_ERROR_INVALID_VALUE;
	r = cuMemAlloc_v2(ptr, bytes);
	if (!r)
		*pitch = p;
	return r;
}

CUresult free_nothing(void)
{
	CUresult r = current_check();

	return r && r != CUDA_ERROR_INVALID_CONTEXT ? r : capture_unsafe();
}

/* Waits for all submitted work, which may use the memory. */
CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	struct range *range;
	CUcontext ctx;
	CUresult r = ptr ? ctx_enter_memory(&ctx, ptr, CUDA_ERROR_INVALID_VALUE) : free_nothing();

	if (r || !ptr)
		return r;
	r = capture_unsafe();
	range = range_find(ctx, ptr);
	if (!r && (range->va != ptr || (range->host && !(range->flags & RANGE_MANAGED)) ||
		   range->flags & RANGE_MODULE))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = moment_wait(ctx, &ctx->submitted);
	if (!r) {
		if (!range->shared)
			ctx->device->ops->release(ctx->device, range->memory);
		range_remove(ctx, range);
	}
	ctx_leave(ctx);
	return r;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr ptr)
{
	struct range *range;
	CUcontext ctx;
	CUresult r = current_check();

	if (!r)
		r = ctx_enter_memory(&ctx, ptr, CUDA_ERROR_NOT_FOUND);
	if (r)
		return r;
	range = range_find(ctx, ptr);
	if (base)
		*base = range->va;
	if (size)
		*size = range->size;
	ctx_leave(ctx);
	return CUDA_SUCCESS;
}
