// SPDX-License-Identifier: MIT
/* Surfaces. A surface object is its descriptor's address. */
#include <string.h>

#include "driver.h"

static CUresult describe(CUcontext ctx, CUarray handle, uint32_t words[SURFACE_WORDS])
{
	CUarray a = array_of(ctx, handle);

	if (!a || !(a->desc.Flags & CUDA_ARRAY3D_SURFACE_LDST))
		return CUDA_ERROR_INVALID_VALUE;
	surface_encode(words, a->memory->va, a->texel, &a->tiling, a->level);
	return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource)
{
	uint32_t words[SURFACE_WORDS];
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (!object || !resource || resource->resType != CU_RESOURCE_TYPE_ARRAY || resource->flags)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		r = describe(ctx, resource->res.array.hArray, words);
	if (!r)
		r = descriptor_make(ctx, words, resource, object);
	ctx_leave(ctx);
	return r;
}

CUresult cuSurfObjectDestroy(CUsurfObject object)
{
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (!object)
		r = CUDA_SUCCESS;
	else if (descriptor_find(ctx, object))
		descriptor_release(ctx, object);
	else
		r = CUDA_ERROR_INVALID_VALUE;
	ctx_leave(ctx);
	return r;
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject object)
{
	const CUDA_RESOURCE_DESC *d;
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	d = descriptor_find(ctx, object);
	if (d && resource)
		*resource = *d;
	ctx_leave(ctx);
	return d && resource ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ------------------------------------------------------------------ references */

CUresult cuSurfRefSetArray(CUsurfref ref, CUarray array, unsigned int flags)
{
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (!ref || ref->ctx != ctx || flags)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		r = describe(ctx, array, ref->words);
	if (!r)
		ref->array = array;
	ctx_leave(ctx);
	return r;
}

CUresult cuSurfRefGetArray(CUarray *array, CUsurfref ref)
{
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (!array || !ref || ref->ctx != ctx || !ref->array)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		*array = ref->array;
	ctx_leave(ctx);
	return r;
}
