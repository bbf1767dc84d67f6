// SPDX-License-Identifier: MIT
/* Texture and surface objects: the driver's, with descriptions in the runtime's structs. */
#include <string.h>

#include "runtime.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ------------------------------------------------------------------ what a texture reads */

static cudaError_t resource_to_driver(const struct cudaResourceDesc *r, CUDA_RESOURCE_DESC *out)
{
	memset(out, 0, sizeof(*out));
	out->resType = (CUresourcetype)r->resType;
	switch (r->resType) {
	case cudaResourceTypeArray:
		out->res.array.hArray = (CUarray)r->res.array.array;
		return cudaSuccess;
	case cudaResourceTypeMipmappedArray:
		out->res.mipmap.hMipmappedArray = (CUmipmappedArray)r->res.mipmap.mipmap;
		return cudaSuccess;
	case cudaResourceTypeLinear:
		out->res.linear.devPtr = (CUdeviceptr)(uintptr_t)r->res.linear.devPtr;
		out->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
		return format_of(&r->res.linear.desc, &out->res.linear.format,
				 &out->res.linear.numChannels);
	case cudaResourceTypePitch2D:
		out->res.pitch2D.devPtr = (CUdeviceptr)(uintptr_t)r->res.pitch2D.devPtr;
		out->res.pitch2D.width = r->res.pitch2D.width;
		out->res.pitch2D.height = r->res.pitch2D.height;
		out->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
		return format_of(&r->res.pitch2D.desc, &out->res.pitch2D.format,
				 &out->res.pitch2D.numChannels);
	}
	return cudaErrorInvalidValue;
}

static void resource_from_driver(const CUDA_RESOURCE_DESC *r, struct cudaResourceDesc *out)
{
	memset(out, 0, sizeof(*out));
	out->resType = (enum cudaResourceType)r->resType;
	switch (r->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
		out->res.array.array = (cudaArray_t)r->res.array.hArray;
		break;
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		out->res.mipmap.mipmap = (cudaMipmappedArray_t)r->res.mipmap.hMipmappedArray;
		break;
	case CU_RESOURCE_TYPE_LINEAR:
		out->res.linear.devPtr = (void *)(uintptr_t)r->res.linear.devPtr;
		out->res.linear.desc = desc_of(r->res.linear.format, r->res.linear.numChannels);
		out->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
		break;
	case CU_RESOURCE_TYPE_PITCH2D:
		out->res.pitch2D.devPtr = (void *)(uintptr_t)r->res.pitch2D.devPtr;
		out->res.pitch2D.desc = desc_of(r->res.pitch2D.format, r->res.pitch2D.numChannels);
		out->res.pitch2D.width = r->res.pitch2D.width;
		out->res.pitch2D.height = r->res.pitch2D.height;
		out->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
		break;
	}
}

/* A mipmapped array has the format of its first level. */
static cudaError_t format_in(const CUDA_RESOURCE_DESC *r, CUarray_format *format)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	CUarray array = r->res.array.hArray;
	cudaError_t e = cudaSuccess;

	if (r->resType == CU_RESOURCE_TYPE_LINEAR) {
		*format = r->res.linear.format;
		return cudaSuccess;
	}
	if (r->resType == CU_RESOURCE_TYPE_PITCH2D) {
		*format = r->res.pitch2D.format;
		return cudaSuccess;
	}
	if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
		e = from_driver(cuMipmappedArrayGetLevel(&array, r->res.mipmap.hMipmappedArray, 0));
	if (!e)
		e = array_shape(array, &shape);
	if (!e)
		*format = shape.Format;
	return e;
}

/* @format: as the view shows it. False: compressed blocks. */
static bool format_in_view(const struct cudaResourceViewDesc *view, CUarray_format *format)
{
	/* with 1, 2 and 4 channels, in the order of enum cudaResourceViewFormat */
	static const CUarray_format formats[] = {
		CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
		CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
		CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
		CU_AD_FORMAT_HALF,	     CU_AD_FORMAT_FLOAT,
	};
	unsigned int i = ((unsigned int)view->format - 1) / 3;

	if (i >= COUNT(formats))
		return false;
	*format = formats[i];
	return true;
}

/*
 * Integers are filtered only if they are read as numbers from 0 (or -1) to 1, which those of 32
 * bits can't be.
 */
cudaError_t check_reading(CUarray_format format, bool as_numbers, bool linear)
{
	bool is_float = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
	bool wide = format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;

	if (as_numbers && (wide || format == CU_AD_FORMAT_FLOAT))
		return cudaErrorInvalidNormSetting;
	return linear && !is_float && !as_numbers ? cudaErrorInvalidFilterSetting : cudaSuccess;
}

/* ------------------------------------------------------------------ how a texture reads */

static const struct {
	unsigned int flag;
	size_t member; /* offset in struct cudaTextureDesc_v2 */
} flags[] = {
	{ CU_TRSF_NORMALIZED_COORDINATES, offsetof(struct cudaTextureDesc_v2, normalizedCoords) },
	{ CU_TRSF_SRGB, offsetof(struct cudaTextureDesc_v2, sRGB) },
	{ CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
	  offsetof(struct cudaTextureDesc_v2, disableTrilinearOptimization) },
	{ CU_TRSF_SEAMLESS_CUBEMAP, offsetof(struct cudaTextureDesc_v2, seamlessCubemap) },
};

static int *member(const struct cudaTextureDesc_v2 *t, unsigned int i)
{
	return (int *)((char *)(uintptr_t)t + flags[i].member);
}

static void texture_to_driver(const struct cudaTextureDesc_v2 *t, CUDA_TEXTURE_DESC *out)
{
	unsigned int i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < 3; i++)
		out->addressMode[i] = (CUaddress_mode)t->addressMode[i];
	out->filterMode = (CUfilter_mode)t->filterMode;
	out->flags = t->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0;
	for (i = 0; i < COUNT(flags); i++)
		if (*member(t, i))
			out->flags |= flags[i].flag;
	out->maxAnisotropy = t->maxAnisotropy;
	out->mipmapFilterMode = (CUfilter_mode)t->mipmapFilterMode;
	out->mipmapLevelBias = t->mipmapLevelBias;
	out->minMipmapLevelClamp = t->minMipmapLevelClamp;
	out->maxMipmapLevelClamp = t->maxMipmapLevelClamp;
	memcpy(out->borderColor, t->borderColor, sizeof(out->borderColor));
}

static void texture_from_driver(const CUDA_TEXTURE_DESC *t, struct cudaTextureDesc_v2 *out)
{
	unsigned int i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < 3; i++)
		out->addressMode[i] = (enum cudaTextureAddressMode)t->addressMode[i];
	out->filterMode = (enum cudaTextureFilterMode)t->filterMode;
	out->readMode = t->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType :
							     cudaReadModeNormalizedFloat;
	for (i = 0; i < COUNT(flags); i++)
		*member(out, i) = !!(t->flags & flags[i].flag);
	out->maxAnisotropy = t->maxAnisotropy;
	out->mipmapFilterMode = (enum cudaTextureFilterMode)t->mipmapFilterMode;
	out->mipmapLevelBias = t->mipmapLevelBias;
	out->minMipmapLevelClamp = t->minMipmapLevelClamp;
	out->maxMipmapLevelClamp = t->maxMipmapLevelClamp;
	memcpy(out->borderColor, t->borderColor, sizeof(out->borderColor));
}

static void view_to_driver(const struct cudaResourceViewDesc *v, CUDA_RESOURCE_VIEW_DESC *out)
{
	*out = (CUDA_RESOURCE_VIEW_DESC){
		.format = (CUresourceViewFormat)v->format,
		.width = v->width,
		.height = v->height,
		.depth = v->depth,
		.firstMipmapLevel = v->firstMipmapLevel,
		.lastMipmapLevel = v->lastMipmapLevel,
		.firstLayer = v->firstLayer,
		.lastLayer = v->lastLayer,
	};
}

/* ------------------------------------------------------------------ textures */

static cudaError_t create(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
			  const struct cudaTextureDesc_v2 *texture,
			  const struct cudaResourceViewDesc *view)
{
	CUDA_RESOURCE_VIEW_DESC v;
	CUDA_RESOURCE_DESC r;
	CUDA_TEXTURE_DESC t;
	CUarray_format format;
	cudaError_t e = object && resource ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = resource_to_driver(resource, &r);
	if (!e)
		e = format_in(&r, &format);
	/* The driver does not check how the texture reads the view's format. */
	if (!e && (!view || !view->format || format_in_view(view, &format)))
		e = check_reading(format, texture->readMode == cudaReadModeNormalizedFloat,
				  texture->filterMode == cudaFilterModeLinear);
	if (e)
		return e;
	texture_to_driver(texture, &t);
	if (view)
		view_to_driver(view, &v);
	return from_driver(cuTexObjectCreate(object, &r, &t, view ? &v : NULL));
}

cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t *object,
				       const struct cudaResourceDesc *resource,
				       const struct cudaTextureDesc_v2 *texture,
				       const struct cudaResourceViewDesc *view)
{
	return set_last_error(texture ? create(object, resource, texture, view) :
					cudaErrorInvalidResourceHandle);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
				    const struct cudaResourceDesc *resource,
				    const struct cudaTextureDesc *texture,
				    const struct cudaResourceViewDesc *view)
{
	struct cudaTextureDesc_v2 t = { .seamlessCubemap = 0 };

	if (!texture)
		return set_last_error(cudaErrorInvalidResourceHandle);
	/* cudaTextureDesc_v2 has one more member at its end */
	memcpy(&t, texture, sizeof(*texture));
	return set_last_error(create(object, resource, &t, view));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
	cudaError_t e = use_context();

	return set_last_error(e || !object ? e : from_driver(cuTexObjectDestroy(object)));
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
					     cudaTextureObject_t object)
{
	CUDA_RESOURCE_DESC r;
	cudaError_t e = resource ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuTexObjectGetResourceDesc(&r, object));
	if (!e)
		resource_from_driver(&r, resource);
	return set_last_error(e);
}

static cudaError_t describe(struct cudaTextureDesc_v2 *texture, cudaTextureObject_t object)
{
	CUDA_TEXTURE_DESC t;
	cudaError_t e = use_context();

	if (!e)
		e = from_driver(cuTexObjectGetTextureDesc(&t, object));
	if (!e)
		texture_from_driver(&t, texture);
	return e;
}

cudaError_t cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc_v2 *texture,
					       cudaTextureObject_t object)
{
	return set_last_error(texture ? describe(texture, object) : cudaErrorInvalidValue);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *texture,
					    cudaTextureObject_t object)
{
	struct cudaTextureDesc_v2 t;
	cudaError_t e = texture ? describe(&t, object) : cudaErrorInvalidValue;

	if (!e)
		memcpy(texture, &t, sizeof(*texture));
	return set_last_error(e);
}

cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *view,
						 cudaTextureObject_t object)
{
	CUDA_RESOURCE_VIEW_DESC v;
	cudaError_t e = view ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuTexObjectGetResourceViewDesc(&v, object));
	if (!e)
		*view = (struct cudaResourceViewDesc){
			.format = (enum cudaResourceViewFormat)v.format,
			.width = v.width,
			.height = v.height,
			.depth = v.depth,
			.firstMipmapLevel = v.firstMipmapLevel,
			.lastMipmapLevel = v.lastMipmapLevel,
			.firstLayer = v.firstLayer,
			.lastLayer = v.lastLayer,
		};
	return set_last_error(e);
}

/* the same for all formats */
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width,
						 const struct cudaChannelFormatDesc *desc,
						 int device)
{
	enum { MAX_TEXTURE_1D_LINEAR = 69 };
	CUarray_format format;
	unsigned int channels;
	int n;
	cudaError_t e = width && desc ? check_device(device) : cudaErrorInvalidValue;

	if (!e)
		e = format_of(desc, &format, &channels);
	if (!e)
		e = from_driver(cuDeviceGetAttribute(&n, MAX_TEXTURE_1D_LINEAR, device));
	if (!e)
		*width = n;
	return set_last_error(e);
}

/* ------------------------------------------------------------------ surfaces: arrays only */

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
				    const struct cudaResourceDesc *resource)
{
	CUDA_RESOURCE_DESC r;
	cudaError_t e = object && resource ? use_context() : cudaErrorInvalidValue;

	if (!e && resource->resType != cudaResourceTypeArray)
		e = cudaErrorInvalidValue;
	if (!e)
		e = resource_to_driver(resource, &r);
	return set_last_error(e ? e : from_driver(cuSurfObjectCreate(object, &r)));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
	cudaError_t e = use_context();

	return set_last_error(e || !object ? e : from_driver(cuSurfObjectDestroy(object)));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
					     cudaSurfaceObject_t object)
{
	CUDA_RESOURCE_DESC r;
	cudaError_t e = resource ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuSurfObjectGetResourceDesc(&r, object));
	if (!e)
		resource_from_driver(&r, resource);
	return set_last_error(e);
}
