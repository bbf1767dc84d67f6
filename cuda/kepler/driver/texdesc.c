// SPDX-License-Identifier: MIT
/* CUDA's description of a texture, checked and translated. Call with ctx locked. */
#include <string.h>

#include "driver.h"

/* limits of compute capability 3.5 */
enum {
	TEXTURE_ALIGN = 512,
	PITCH_ALIGN = 32,
	PITCH_MAX = 1048544,
	PITCH_SIZE_MAX = 65000,
	VA_BITS = 40
};
#define LINEAR_MAX (1u << 27) /* texels */
#define FLAGS_KNOWN                                                                \
	(CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB | \
	 CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)

/* ------------------------------------------------------------------ resources */

static enum texture_shape shape_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	bool layered = d->Flags & CUDA_ARRAY3D_LAYERED;

	if (d->Flags & CUDA_ARRAY3D_CUBEMAP)
		return layered ? SHAPE_CUBE_ARRAY : SHAPE_CUBE;
	if (layered)
		return d->Height ? SHAPE_2D_ARRAY : SHAPE_1D_ARRAY;
	return d->Depth ? SHAPE_3D : d->Height ? SHAPE_2D : SHAPE_1D;
}

static void describe_array(const struct CUarray_st *a, struct texture_header *h)
{
	const struct tiling *t = &a->tiling;

	h->shape = shape_of(&a->desc);
	h->va = a->memory->va;
	h->texel = a->texel;
	h->width = t->width;
	h->height = t->height;
	h->depth = t->volume ? t->depth : t->layers;
	h->log2_height = t->log2_height;
	h->log2_depth = t->log2_depth;
	h->levels = t->levels;
	h->first = h->last = a->level;
}

/*
 * Whether there is memory is not asked, as NVIDIA's driver does not (580 on an H200): programs make
 * textures longer than their memory. A read that finds none is the GPU's page fault.
 */
static bool addresses_of_texture(uint64_t va, uint64_t bytes)
{
	return va && va % TEXTURE_ALIGN == 0 && va >> VA_BITS == 0 &&
	       bytes <= (1ull << VA_BITS) - va;
}

static CUresult describe_linear(const CUDA_RESOURCE_DESC *r, struct texture_header *h)
{
	size_t texels;

	if (!texel_of(r->res.linear.format, r->res.linear.numChannels, &h->texel))
		return CUDA_ERROR_INVALID_VALUE;
	texels = r->res.linear.sizeInBytes / texel_bytes(h->texel);
	if (!texels || texels > LINEAR_MAX ||
	    !addresses_of_texture(r->res.linear.devPtr, r->res.linear.sizeInBytes))
		return CUDA_ERROR_INVALID_VALUE;
	h->shape = SHAPE_BUFFER;
	h->va = r->res.linear.devPtr;
	h->width = texels;
	return CUDA_SUCCESS;
}

static CUresult describe_pitch(const CUDA_RESOURCE_DESC *r, struct texture_header *h)
{
	size_t width = r->res.pitch2D.width, height = r->res.pitch2D.height,
	       pitch = r->res.pitch2D.pitchInBytes;

	if (!texel_of(r->res.pitch2D.format, r->res.pitch2D.numChannels, &h->texel))
		return CUDA_ERROR_INVALID_VALUE;
	if (!width || !height || width > PITCH_SIZE_MAX || height > PITCH_SIZE_MAX ||
	    pitch > PITCH_MAX || pitch % PITCH_ALIGN || pitch < width * texel_bytes(h->texel) ||
	    !addresses_of_texture(r->res.pitch2D.devPtr,
				  (height - 1) * pitch + width * texel_bytes(h->texel)))
		return CUDA_ERROR_INVALID_VALUE;
	h->shape = SHAPE_PITCH;
	h->va = r->res.pitch2D.devPtr;
	h->width = width;
	h->height = height;
	h->pitch = pitch;
	return CUDA_SUCCESS;
}

static CUresult describe_resource(CUcontext ctx, const CUDA_RESOURCE_DESC *r,
				  struct texture_header *h, CUarray *array)
{
	CUmipmappedArray m;

	*array = NULL;
	switch (r->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
		*array = array_of(ctx, r->res.array.hArray);
		break;
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		m = mipmapped_of(ctx, r->res.mipmap.hMipmappedArray);
		*array = m ? m->level : NULL;
		break;
	case CU_RESOURCE_TYPE_LINEAR:
		return describe_linear(r, h);
	case CU_RESOURCE_TYPE_PITCH2D:
		return describe_pitch(r, h);
	}
	if (!*array)
		return CUDA_ERROR_INVALID_VALUE;
	describe_array(*array, h);
	if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
		h->first = 0;
		h->last = h->levels - 1;
	}
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ views */

static CUresult view_format(CUresourceViewFormat format, struct texel *t)
{
	static const uint8_t channels[] = { 1, 2, 4 };
	unsigned int i = format - 1, bytes = texel_bytes(*t);
	struct texel v;

	if (format > CU_RES_VIEW_FORMAT_FLOAT_4X32)
		return CUDA_ERROR_NOT_SUPPORTED; /* compressed blocks */
	v.channels = channels[i % 3];
	if (format >= CU_RES_VIEW_FORMAT_FLOAT_1X16) {
		v.number = TEXEL_FLOAT;
		v.bits = 16 << (format - CU_RES_VIEW_FORMAT_FLOAT_1X16) / 3;
	} else {
		v.number = i / 3 % 2 ? TEXEL_SINT : TEXEL_UINT;
		v.bits = 8 << i / 6;
	}
	if (texel_bytes(v) != bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*t = v;
	return CUDA_SUCCESS;
}

static CUresult apply_view(const CUDA_RESOURCE_VIEW_DESC *v, const struct CUarray_st *a,
			   struct texture_header *h)
{
	bool stacked = a->desc.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP),
	     mipmapped = h->first != h->last;
	CUresult r = v->format ? view_format(v->format, &h->texel) : CUDA_SUCCESS;

	if (r)
		return r;
	if (v->width != a->desc.Width || v->height != a->desc.Height ||
	    (!stacked && v->depth != a->desc.Depth))
		return CUDA_ERROR_INVALID_VALUE;
	if (mipmapped || v->firstMipmapLevel || v->lastMipmapLevel) {
		if (v->firstMipmapLevel > v->lastMipmapLevel ||
		    h->first + v->lastMipmapLevel > h->last)
			return CUDA_ERROR_INVALID_VALUE;
		h->last = h->first + v->lastMipmapLevel;
		h->first += v->firstMipmapLevel;
	}
	if (stacked && (v->firstLayer || v->lastLayer)) {
		if (v->firstLayer > v->lastLayer || v->lastLayer >= h->depth)
			return CUDA_ERROR_INVALID_VALUE;
		h->va += v->firstLayer * a->tiling.layer_stride;
		h->depth = v->lastLayer - v->firstLayer + 1;
	}
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ samplers */

static enum sampler_wrap wrap_of(CUaddress_mode mode, bool normalized)
{
	switch (mode) {
	case CU_TR_ADDRESS_MODE_WRAP:
		/* WRAP and MIRROR need normalized coordinates */
		return normalized ? WRAP_REPEAT : WRAP_EDGE;
	case CU_TR_ADDRESS_MODE_MIRROR:
		return normalized ? WRAP_MIRROR : WRAP_EDGE;
	case CU_TR_ADDRESS_MODE_BORDER:
		return WRAP_BORDER;
	case CU_TR_ADDRESS_MODE_CLAMP:
	default:
		return WRAP_EDGE;
	}
}

static CUresult describe_sampler(const CUDA_TEXTURE_DESC *t, const struct texture_header *h,
				 struct sampler *s)
{
	bool integer = h->texel.number == TEXEL_UINT || h->texel.number == TEXEL_SINT;
	unsigned int i;

	if ((unsigned int)t->filterMode > CU_TR_FILTER_MODE_LINEAR ||
	    (unsigned int)t->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < 3; i++) {
		if ((unsigned int)t->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
			return CUDA_ERROR_INVALID_VALUE;
		s->wrap[i] = wrap_of(t->addressMode[i], h->normalized);
	}
	s->linear = t->filterMode == CU_TR_FILTER_MODE_LINEAR;
	s->seamless = t->flags & CU_TRSF_SEAMLESS_CUBEMAP;
	s->mip = h->first != h->last;
	if (s->mip) {
		s->mip_linear = t->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
		s->anisotropy = t->maxAnisotropy;
		s->bias = t->mipmapLevelBias;
		s->min_lod = t->minMipmapLevelClamp;
		s->max_lod = t->maxMipmapLevelClamp;
	}
	for (i = 0; i < 4; i++) {
		float f = t->borderColor[i];

		if (integer)
			s->border[i] = f < 0 ? (uint32_t)(int32_t)(f > -0x1p31f ? f : -0x1p31f) :
				       f < 0x1p32f ? (uint32_t)f :
						     ~0u;
		else
			memcpy(&s->border[i], &f, sizeof(f));
	}
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ the whole */

static void apply_flags(unsigned int flags, struct texture_header *h)
{
	h->normalized = flags & CU_TRSF_NORMALIZED_COORDINATES && h->shape != SHAPE_BUFFER;
	h->srgb = flags & CU_TRSF_SRGB;
	if (flags & CU_TRSF_READ_AS_INTEGER || h->texel.bits == 32)
		return;
	if (h->texel.number == TEXEL_UINT)
		h->texel.number = TEXEL_UINT_NORMALIZED;
	else if (h->texel.number == TEXEL_SINT)
		h->texel.number = TEXEL_SINT_NORMALIZED;
}

CUresult texture_describe(CUcontext ctx, const struct texture_source *source,
			  struct texture_header *h, struct sampler *s)
{
	CUarray array;
	CUresult r;

	memset(h, 0, sizeof(*h));
	memset(s, 0, sizeof(*s));
	if (source->texture.flags & ~FLAGS_KNOWN || source->resource.flags)
		return CUDA_ERROR_INVALID_VALUE;
	r = describe_resource(ctx, &source->resource, h, &array);
	if (!r && source->has_view)
		r = array ? apply_view(&source->view, array, h) : CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	if (h->shape == SHAPE_CUBE || h->shape == SHAPE_CUBE_ARRAY) {
		if (h->depth % 6)
			return CUDA_ERROR_INVALID_VALUE;
		h->depth /= 6;
	}
	apply_flags(source->texture.flags, h);
	return describe_sampler(&source->texture, h, s);
}
