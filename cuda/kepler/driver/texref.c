// SPDX-License-Identifier: MIT
/*
 * Texture references: of a module, or of cuTexRefCreate(). A launch of a kernel that uses a changed
 * one makes a texture from it.
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { TEXTURE_ALIGN = 512 };

void texref_init(CUcontext ctx, CUtexref ref)
{
	unsigned int i;

	*ref = (struct CUtexref_st){ .ctx = ctx, .format = CU_AD_FORMAT_FLOAT, .channels = 1 };
	for (i = 0; i < 3; i++)
		ref->source.texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
	ref->source.texture.maxMipmapLevelClamp = MAX_LEVELS;
}

void texref_drop(CUcontext ctx, CUtexref ref)
{
	if (ref->made)
		texture_release(ctx, ref->made);
	ref->made = NULL;
}

void texrefs_free(CUcontext ctx)
{
	while (ctx->texrefs) {
		CUtexref ref = ctx->texrefs;

		ctx->texrefs = ref->next;
		texref_drop(ctx, ref);
		free(ref);
	}
}

/* *handle is 0, the header of nothing, where no texture can be made. */
CUresult texref_handle(CUcontext ctx, CUtexref ref, uint32_t *handle)
{
	struct texture_object *made;
	CUresult r;

	*handle = 0;
	if (!ref->bound)
		return CUDA_SUCCESS;
	if (!ref->made || ref->stale) {
		r = texture_make(ctx, &ref->source, &made);
		if (r == CUDA_ERROR_INVALID_VALUE)
			return CUDA_SUCCESS;
		if (r)
			return r;
		texref_drop(ctx, ref);
		ref->made = made;
		ref->stale = false;
	}
	*handle = texture_handle(ref->made);
	return CUDA_SUCCESS;
}

/* After an error, or for another context's reference, nothing is locked. */
static CUresult ctx_enter_ref(CUtexref ref, CUcontext *ctx)
{
	CUresult r = ctx_enter(ctx);

	if (r)
		return r;
	if (ref && ref->ctx == *ctx)
		return CUDA_SUCCESS;
	ctx_leave(*ctx);
	return CUDA_ERROR_INVALID_VALUE;
}

/* After ctx_enter_ref(): unlock. If @r is no error, the next launch makes the texture anew. */
static CUresult changed(CUcontext ctx, CUtexref ref, CUresult r)
{
	if (!r)
		ref->stale = true;
	ctx_leave(ctx);
	return r;
}

/* ------------------------------------------------------------------ life */

CUresult cuTexRefCreate(CUtexref *ref)
{
	CUcontext ctx;
	CUtexref t;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	t = ref ? malloc(sizeof(*t)) : NULL;
	if (t) {
		texref_init(ctx, t);
		t->next = ctx->texrefs;
		ctx->texrefs = t;
		*ref = t;
	}
	ctx_leave(ctx);
	return t ? CUDA_SUCCESS : ref ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTexRefDestroy(CUtexref ref)
{
	CUcontext ctx;
	CUtexref *at;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	for (at = &ctx->texrefs; *at && *at != ref; at = &(*at)->next)
		;
	if (*at) {
		*at = ref->next;
		texref_drop(ctx, ref);
		free(ref);
	} else {
		r = CUDA_ERROR_INVALID_VALUE;
	}
	ctx_leave(ctx);
	return r;
}

/* ------------------------------------------------------------------ binding */

/* @resource NULL: unbind. */
static CUresult bind(CUcontext ctx, CUtexref ref, const CUDA_RESOURCE_DESC *resource)
{
	struct texture_source old = ref->source;
	struct texture_header h;
	struct sampler s;
	CUresult r;

	if (!resource) {
		ref->bound = false;
		return CUDA_SUCCESS;
	}
	ref->source.resource = *resource;
	r = texture_describe(ctx, &ref->source, &h, &s);
	if (r)
		ref->source = old;
	else
		ref->bound = true;
	return r;
}

CUresult cuTexRefSetArray(CUtexref ref, CUarray array, unsigned int flags)
{
	CUDA_RESOURCE_DESC d = { .resType = CU_RESOURCE_TYPE_ARRAY };
	CUcontext ctx;
	CUresult r = ctx_enter_ref(ref, &ctx);

	if (r)
		return r;
	d.res.array.hArray = array;
	r = flags & ~CU_TRSA_OVERRIDE_FORMAT ? CUDA_ERROR_INVALID_VALUE :
					       bind(ctx, ref, array ? &d : NULL);
	if (!r && array) {
		ref->format = array->desc.Format;
		ref->channels = array->desc.NumChannels;
	}
	return changed(ctx, ref, r);
}

CUresult cuTexRefSetMipmappedArray(CUtexref ref, CUmipmappedArray array, unsigned int flags)
{
	CUDA_RESOURCE_DESC d = { .resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY };
	CUcontext ctx;
	CUresult r = ctx_enter_ref(ref, &ctx);

	if (r)
		return r;
	d.res.mipmap.hMipmappedArray = array;
	r = flags & ~CU_TRSA_OVERRIDE_FORMAT ? CUDA_ERROR_INVALID_VALUE :
					       bind(ctx, ref, array ? &d : NULL);
	return changed(ctx, ref, r);
}

CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref ref, CUdeviceptr ptr, size_t bytes)
{
	CUDA_RESOURCE_DESC d = { .resType = CU_RESOURCE_TYPE_LINEAR };
	size_t rest = ptr % TEXTURE_ALIGN;
	CUcontext ctx;
	CUresult r = ctx_enter_ref(ref, &ctx);

	if (r)
		return r;
	d.res.linear.devPtr = ptr - rest;
	d.res.linear.format = ref->format;
	d.res.linear.numChannels = ref->channels;
	d.res.linear.sizeInBytes = bytes + rest;
	if (rest && !offset)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		r = bind(ctx, ref, ptr ? &d : NULL);
	if (!r && offset)
		*offset = rest;
	return changed(ctx, ref, r);
}

CUresult cuTexRefSetAddress2D_v3(CUtexref ref, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr ptr,
				 size_t pitch)
{
	CUDA_RESOURCE_DESC d = { .resType = CU_RESOURCE_TYPE_PITCH2D };
	CUcontext ctx;
	CUresult r = ctx_enter_ref(ref, &ctx);

	if (r)
		return r;
	if (!desc)
		return changed(ctx, ref, CUDA_ERROR_INVALID_VALUE);
	d.res.pitch2D.devPtr = ptr;
	d.res.pitch2D.format = desc->Format;
	d.res.pitch2D.numChannels = desc->NumChannels;
	d.res.pitch2D.width = desc->Width;
	d.res.pitch2D.height = desc->Height;
	d.res.pitch2D.pitchInBytes = pitch;
	r = bind(ctx, ref, &d);
	if (!r) {
		ref->format = desc->Format;
		ref->channels = desc->NumChannels;
	}
	return changed(ctx, ref, r);
}

/* ------------------------------------------------------------------ setting */

CUresult cuTexRefSetFormat(CUtexref ref, CUarray_format format, int channels)
{
	struct texel texel;
	CUcontext ctx;
	CUresult r = ctx_enter_ref(ref, &ctx);

	if (r)
		return r;
	if (!texel_of(format, channels, &texel))
		return changed(ctx, ref, CUDA_ERROR_INVALID_VALUE);
	ref->format = format;
	ref->channels = channels;
	if (ref->bound && ref->source.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
		ref->source.resource.res.linear.format = format;
		ref->source.resource.res.linear.numChannels = channels;
	}
	return changed(ctx, ref, CUDA_SUCCESS);
}

/* @ok: the value is valid */
#define SETTER(name, params, ok, ...)                                       \
	CUresult name params                                                \
	{                                                                   \
		CUcontext ctx;                                              \
		CUresult r = ctx_enter_ref(ref, &ctx);                      \
                                                                            \
		if (r)                                                      \
			return r;                                           \
		if (!(ok))                                                  \
			return changed(ctx, ref, CUDA_ERROR_INVALID_VALUE); \
		__VA_ARGS__;                                                \
		return changed(ctx, ref, CUDA_SUCCESS);                     \
	}

SETTER(cuTexRefSetAddressMode, (CUtexref ref, int dim, CUaddress_mode mode),
       dim >= 0 && dim < 3 && (unsigned int)mode <= CU_TR_ADDRESS_MODE_BORDER,
       ref->source.texture.addressMode[dim] = mode)
SETTER(cuTexRefSetFilterMode, (CUtexref ref, CUfilter_mode mode),
       (unsigned int)mode <= CU_TR_FILTER_MODE_LINEAR, ref->source.texture.filterMode = mode)
SETTER(cuTexRefSetMipmapFilterMode, (CUtexref ref, CUfilter_mode mode),
       (unsigned int)mode <= CU_TR_FILTER_MODE_LINEAR, ref->source.texture.mipmapFilterMode = mode)
SETTER(cuTexRefSetMipmapLevelBias, (CUtexref ref, float bias), true,
       ref->source.texture.mipmapLevelBias = bias)
SETTER(cuTexRefSetMipmapLevelClamp, (CUtexref ref, float min, float max), true,
       ref->source.texture.minMipmapLevelClamp = min;
       ref->source.texture.maxMipmapLevelClamp = max)
SETTER(cuTexRefSetMaxAnisotropy, (CUtexref ref, unsigned int max), true,
       ref->source.texture.maxAnisotropy = max)
SETTER(cuTexRefSetBorderColor, (CUtexref ref, float *color), color,
       memcpy(ref->source.texture.borderColor, color, sizeof(ref->source.texture.borderColor)))
SETTER(cuTexRefSetFlags, (CUtexref ref, unsigned int flags),
       !(flags & ~(CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
		   CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)),
       ref->source.texture.flags = flags)

/* ------------------------------------------------------------------ asking */

#define GETTER(name, params, ok, ...)                  \
	CUresult name params                           \
	{                                              \
		CUcontext ctx;                         \
		CUresult r = ctx_enter_ref(ref, &ctx); \
                                                       \
		if (r)                                 \
			return r;                      \
		if (ok) {                              \
			__VA_ARGS__;                   \
		} else {                               \
			r = CUDA_ERROR_INVALID_VALUE;  \
		}                                      \
		ctx_leave(ctx);                        \
		return r;                              \
	}

static bool has(CUtexref ref, CUresourcetype type)
{
	return ref->bound && ref->source.resource.resType == type;
}

GETTER(cuTexRefGetAddress_v2, (CUdeviceptr * ptr, CUtexref ref),
       ptr && (has(ref, CU_RESOURCE_TYPE_LINEAR) || has(ref, CU_RESOURCE_TYPE_PITCH2D)),
       *ptr = has(ref, CU_RESOURCE_TYPE_LINEAR) ? ref->source.resource.res.linear.devPtr :
						  ref->source.resource.res.pitch2D.devPtr)
GETTER(cuTexRefGetArray, (CUarray * array, CUtexref ref), array &&has(ref, CU_RESOURCE_TYPE_ARRAY),
       *array = ref->source.resource.res.array.hArray)
GETTER(cuTexRefGetMipmappedArray, (CUmipmappedArray * array, CUtexref ref),
       array &&has(ref, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY),
       *array = ref->source.resource.res.mipmap.hMipmappedArray)
GETTER(cuTexRefGetAddressMode, (CUaddress_mode * mode, CUtexref ref, int dim),
       mode &&dim >= 0 && dim < 3, *mode = ref->source.texture.addressMode[dim])
GETTER(cuTexRefGetFilterMode, (CUfilter_mode * mode, CUtexref ref), mode,
       *mode = ref->source.texture.filterMode)
GETTER(cuTexRefGetMipmapFilterMode, (CUfilter_mode * mode, CUtexref ref), mode,
       *mode = ref->source.texture.mipmapFilterMode)
GETTER(cuTexRefGetMipmapLevelBias, (float *bias, CUtexref ref), bias,
       *bias = ref->source.texture.mipmapLevelBias)
GETTER(cuTexRefGetMaxAnisotropy, (int *max, CUtexref ref), max,
       *max = ref->source.texture.maxAnisotropy)
GETTER(cuTexRefGetFlags, (unsigned int *flags, CUtexref ref), flags,
       *flags = ref->source.texture.flags)
GETTER(cuTexRefGetFormat, (CUarray_format * format, int *channels, CUtexref ref),
       format || channels, if (format) *format = ref->format;
       if (channels) *channels = ref->channels)
GETTER(cuTexRefGetMipmapLevelClamp, (float *min, float *max, CUtexref ref), min &&max,
       *min = ref->source.texture.minMipmapLevelClamp;
       *max = ref->source.texture.maxMipmapLevelClamp)
GETTER(cuTexRefGetBorderColor, (float *color, CUtexref ref), color,
       memcpy(color, ref->source.texture.borderColor, sizeof(ref->source.texture.borderColor)))
