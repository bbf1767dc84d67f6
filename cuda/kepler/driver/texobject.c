// SPDX-License-Identifier: MIT
/* Texture objects: a texture and a sampler by one handle. */
#include "driver.h"

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
			   const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
	struct texture_source source = { .has_view = view };
	struct texture_object *t;
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (object && resource && texture) {
		source.resource = *resource;
		source.texture = *texture;
		if (view)
			source.view = *view;
		r = texture_make(ctx, &source, &t);
		if (!r)
			*object = texture_handle(t);
	} else {
		r = CUDA_ERROR_INVALID_VALUE;
	}
	ctx_leave(ctx);
	return r;
}

CUresult cuTexObjectDestroy(CUtexObject object)
{
	struct texture_object *t;
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	t = texture_find(ctx, object);
	if (t)
		texture_release(ctx, t);
	ctx_leave(ctx);
	return t || !object ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult source_of(CUtexObject object, struct texture_source *out)
{
	struct texture_object *t;
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	t = texture_find(ctx, object);
	if (t)
		*out = t->source;
	ctx_leave(ctx);
	return t ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject object)
{
	struct texture_source source;
	CUresult r = resource ? source_of(object, &source) : CUDA_ERROR_INVALID_VALUE;

	if (!r)
		*resource = source.resource;
	return r;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *texture, CUtexObject object)
{
	struct texture_source source;
	CUresult r = texture ? source_of(object, &source) : CUDA_ERROR_INVALID_VALUE;

	if (!r)
		*texture = source.texture;
	return r;
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject object)
{
	struct texture_source source;
	CUresult r = view ? source_of(object, &source) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	if (!source.has_view)
		return CUDA_ERROR_INVALID_VALUE;
	*view = source.view;
	return CUDA_SUCCESS;
}
