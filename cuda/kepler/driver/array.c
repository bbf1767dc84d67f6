// SPDX-License-Identifier: MIT
/* Arrays: block-linear images in memory of their own. */
#include <stdlib.h>

#include "driver.h"

#define FLAGS_KNOWN                                                                \
	(CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | \
	 CUDA_ARRAY3D_TEXTURE_GATHER)

/*
 * The largest arrays: width, height, depth or layers; 0: there is no such dimension (compute
 * capability 3.5, CUDA C programming guide).
 */
enum shape_class {
	CLASS_1D,
	CLASS_2D,
	CLASS_3D,
	CLASS_1D_LAYERED,
	CLASS_2D_LAYERED,
	CLASS_CUBE,
	CLASS_CUBE_LAYERED
};
static const uint32_t limits[][3] = {
	[CLASS_1D] = { 65536, 0, 0 },
	[CLASS_2D] = { 65536, 65536, 0 },
	[CLASS_3D] = { 4096, 4096, 4096 },
	[CLASS_1D_LAYERED] = { 16384, 0, 2048 },
	[CLASS_2D_LAYERED] = { 16384, 16384, 2048 },
	[CLASS_CUBE] = { 16384, 16384, 6 },
	[CLASS_CUBE_LAYERED] = { 16384, 16384, 2046 },
};

bool texel_of(CUarray_format format, unsigned int channels, struct texel *out)
{
	static const struct {
		CUarray_format format;
		uint8_t number, bits;
	} formats[] = {
		{ CU_AD_FORMAT_UNSIGNED_INT8, TEXEL_UINT, 8 },
		{ CU_AD_FORMAT_UNSIGNED_INT16, TEXEL_UINT, 16 },
		{ CU_AD_FORMAT_UNSIGNED_INT32, TEXEL_UINT, 32 },
		{ CU_AD_FORMAT_SIGNED_INT8, TEXEL_SINT, 8 },
		{ CU_AD_FORMAT_SIGNED_INT16, TEXEL_SINT, 16 },
		{ CU_AD_FORMAT_SIGNED_INT32, TEXEL_SINT, 32 },
		{ CU_AD_FORMAT_HALF, TEXEL_FLOAT, 16 },
		{ CU_AD_FORMAT_FLOAT, TEXEL_FLOAT, 32 },
	};
	unsigned int i;

	if (channels != 1 && channels != 2 && channels != 4)
		return false;
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].format != format)
			continue;
		*out = (struct texel){ .number = formats[i].number,
				       .bits = formats[i].bits,
				       .channels = channels };
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------ what may be asked for */

static CUresult class_of(const CUDA_ARRAY3D_DESCRIPTOR *d, enum shape_class *out)
{
	bool layered = d->Flags & CUDA_ARRAY3D_LAYERED;

	if (d->Flags & CUDA_ARRAY3D_CUBEMAP) {
		if (d->Width != d->Height || d->Depth % 6 || (!layered && d->Depth != 6))
			return CUDA_ERROR_INVALID_VALUE;
		*out = layered ? CLASS_CUBE_LAYERED : CLASS_CUBE;
	} else if (layered) {
		*out = d->Height ? CLASS_2D_LAYERED : CLASS_1D_LAYERED;
	} else {
		*out = d->Depth ? CLASS_3D : d->Height ? CLASS_2D : CLASS_1D;
	}
	return CUDA_SUCCESS;
}

static CUresult check_descriptor(const CUDA_ARRAY3D_DESCRIPTOR *d, struct texel *texel)
{
	enum shape_class c = CLASS_1D;
	const size_t size[3] = { d->Width, d->Height, d->Depth };
	unsigned int i;
	CUresult r = class_of(d, &c);

	if (r)
		return r;
	if (d->Flags & ~FLAGS_KNOWN)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!texel_of(d->Format, d->NumChannels, texel))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < 3; i++)
		if (size[i] > limits[c][i] || !size[i] != !limits[c][i])
			return CUDA_ERROR_INVALID_VALUE;
	if (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER &&
	    (c != CLASS_2D || d->Width > 16384 || d->Height > 16384))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult make(CUcontext ctx, CUarray a, const CUDA_ARRAY3D_DESCRIPTOR *d,
		     unsigned int levels)
{
	bool stacked = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
	CUresult r = check_descriptor(d, &a->texel);

	if (r)
		return r;
	a->ctx = ctx;
	a->desc = *d;
	a->tiling = (struct tiling){
		.width = d->Width,
		.height = d->Height ? d->Height : 1,
		.depth = d->Depth && !stacked ? d->Depth : 1,
		.layers = stacked ? d->Depth : 1,
		.levels = levels,
		.texel_bytes = texel_bytes(a->texel),
		.volume = d->Depth && !stacked,
	};
	tiling_plan(&a->tiling);
	return error_of(
		ctx->device->ops->alloc(ctx->device, PLACE_TILED, a->tiling.size, &a->memory));
}

/* ------------------------------------------------------------------ use */

CUarray array_of(CUcontext ctx, CUarray handle)
{
	CUmipmappedArray m;
	CUarray a;

	for (a = ctx->arrays; a; a = a->next)
		if (a == handle)
			return a;
	for (m = ctx->mipmapped; m; m = m->next)
		if (handle >= m->level && handle < m->level + m->levels)
			return handle;
	return NULL;
}

CUmipmappedArray mipmapped_of(CUcontext ctx, CUmipmappedArray handle)
{
	CUmipmappedArray m;

	for (m = ctx->mipmapped; m && m != handle; m = m->next)
		;
	return m;
}

uint32_t array_height(const struct CUarray_st *a)
{
	return a->desc.Height ? a->desc.Height : 1;
}

uint32_t array_depth(const struct CUarray_st *a)
{
	return a->desc.Depth ? a->desc.Depth : 1;
}

struct plane array_plane(const struct CUarray_st *a, size_t x, size_t y, size_t z)
{
	struct tiling_level l = tiling_level(&a->tiling, a->level);
	struct plane p = { .va = a->memory->va + l.offset, .tiled = true };

	p.blocks = (struct device_blocks){
		.width = l.width * a->tiling.texel_bytes,
		.height = l.height,
		.depth = l.depth,
		.log2_height = l.log2_height,
		.log2_depth = l.log2_depth,
		.x = x,
		.y = y,
	};
	if (a->tiling.volume)
		p.blocks.z = z;
	else
		p.va += z * a->tiling.layer_stride;
	return p;
}

/* ------------------------------------------------------------------ entry points */

static bool has_array(CUcontext ctx, const void *handle)
{
	return array_of(ctx, (CUarray)(uintptr_t)handle);
}

static bool has_mipmapped(CUcontext ctx, const void *handle)
{
	return mipmapped_of(ctx, (CUmipmappedArray)(uintptr_t)handle);
}

CUresult ctx_enter_array(CUcontext *ctx, CUarray handle)
{
	return ctx_enter_owner(ctx, has_array, handle, CUDA_ERROR_INVALID_HANDLE);
}

static CUresult ctx_enter_mipmapped(CUcontext *ctx, CUmipmappedArray handle)
{
	return ctx_enter_owner(ctx, has_mipmapped, handle, CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
	CUcontext ctx;
	CUarray a;
	CUresult r = ctx_enter_unsafe(&ctx);

	if (r)
		return r;
	a = array && desc ? calloc(1, sizeof(*a)) : NULL;
	if (a)
		r = make(ctx, a, desc, 1);
	else
		r = array && desc ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
	if (!r) {
		a->next = ctx->arrays;
		ctx->arrays = a;
		*array = a;
	} else {
		free(a);
	}
	ctx_leave(ctx);
	return r;
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc)
{
	CUDA_ARRAY3D_DESCRIPTOR d = { .Depth = 0 };
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!desc)
		return CUDA_ERROR_INVALID_VALUE;
	d.Width = desc->Width;
	d.Height = desc->Height;
	d.Format = desc->Format;
	d.NumChannels = desc->NumChannels;
	return cuArray3DCreate_v2(array, &d);
}

CUresult cuArrayDestroy(CUarray array)
{
	CUcontext ctx;
	CUarray *at;
	CUresult r = ctx_enter_array(&ctx, array);

	if (r)
		return r;
	r = capture_unsafe();
	for (at = &ctx->arrays; *at && *at != array; at = &(*at)->next)
		;
	if (!r)
		r = *at ? moment_wait(ctx, &ctx->submitted) : CUDA_ERROR_INVALID_HANDLE;
	if (!r) {
		*at = array->next;
		ctx->device->ops->release(ctx->device, array->memory);
		free(array);
	}
	ctx_leave(ctx);
	return r;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray array)
{
	CUcontext ctx;
	CUresult r = ctx_enter_array(&ctx, array);

	if (r)
		return r;
	if (desc)
		*desc = array->desc;
	ctx_leave(ctx);
	return desc ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *desc, CUarray array)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	CUresult r;

	r = cuArray3DGetDescriptor_v2(&d, array);
	if (r)
		return r;
	if (!desc)
		return CUDA_ERROR_INVALID_VALUE;
	*desc = (CUDA_ARRAY_DESCRIPTOR){ .Width = d.Width,
					 .Height = d.Height,
					 .Format = d.Format,
					 .NumChannels = d.NumChannels };
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ mipmapped arrays */

static unsigned int levels_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	bool stacked = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
	size_t most = d->Width > d->Height ? d->Width : d->Height;
	unsigned int n = 1;

	if (!stacked && d->Depth > most)
		most = d->Depth;
	while (most >>= 1)
		n++;
	return n < MAX_LEVELS ? n : MAX_LEVELS;
}

static size_t smaller(size_t size, unsigned int level)
{
	return size && !(size >> level) ? 1 : size >> level;
}

static CUresult make_levels(CUcontext ctx, CUmipmappedArray m, const CUDA_ARRAY3D_DESCRIPTOR *d,
			    unsigned int levels)
{
	bool stacked = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
	unsigned int most = levels_of(d), i;
	CUresult r;

	m->ctx = ctx;
	m->desc = *d;
	m->levels = levels > most ? most : levels ? levels : 1;
	m->level = calloc(m->levels, sizeof(*m->level));
	if (!m->level)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = make(ctx, &m->level[0], d, m->levels);
	for (i = 0; i < m->levels && !r; i++) {
		struct CUarray_st *a = &m->level[i];

		*a = m->level[0];
		a->level = i;
		a->of = m;
		a->desc.Width = smaller(d->Width, i);
		a->desc.Height = smaller(d->Height, i);
		a->desc.Depth = stacked ? d->Depth : smaller(d->Depth, i);
	}
	return r;
}

static void free_levels(CUmipmappedArray m)
{
	free(m->level);
	free(m);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc,
				unsigned int levels)
{
	CUmipmappedArray m;
	CUcontext ctx;
	CUresult r = ctx_enter_unsafe(&ctx);

	if (r)
		return r;
	m = array && desc ? calloc(1, sizeof(*m)) : NULL;
	if (m)
		r = make_levels(ctx, m, desc, levels);
	else
		r = array && desc ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
	if (!r) {
		m->next = ctx->mipmapped;
		ctx->mipmapped = m;
		*array = m;
	} else if (m) {
		free_levels(m);
	}
	ctx_leave(ctx);
	return r;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array)
{
	CUmipmappedArray *at;
	CUcontext ctx;
	CUresult r = ctx_enter_mipmapped(&ctx, array);

	if (r)
		return r;
	r = capture_unsafe();
	for (at = &ctx->mipmapped; *at != array; at = &(*at)->next)
		;
	if (!r)
		r = moment_wait(ctx, &ctx->submitted);
	if (!r) {
		*at = array->next;
		ctx->device->ops->release(ctx->device, array->level[0].memory);
		free_levels(array);
	}
	ctx_leave(ctx);
	return r;
}

CUresult cuMipmappedArrayGetLevel(CUarray *level_array, CUmipmappedArray array, unsigned int level)
{
	CUcontext ctx;
	CUresult r = ctx_enter_mipmapped(&ctx, array);

	if (r)
		return r;
	if (!level_array || level >= array->levels)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		*level_array = &array->level[level];
	ctx_leave(ctx);
	return r;
}

void arrays_free(CUcontext ctx)
{
	while (ctx->arrays) {
		CUarray a = ctx->arrays;

		ctx->arrays = a->next;
		free(a);
	}
	while (ctx->mipmapped) {
		CUmipmappedArray m = ctx->mipmapped;

		ctx->mipmapped = m->next;
		free_levels(m);
	}
}
