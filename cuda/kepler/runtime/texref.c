// SPDX-License-Identifier: MIT
/*
 * Texture and surface references: "texture<...>" at file scope. A binding takes over what the
 * program has written into the host's side of the reference.
 */
#include "runtime.h"

enum {
	TEXTURE_ALIGN = 512,
	MAX_LINEAR = 1 << 27 /* elements; CUDA C programming guide, compute capability 3.5 */
};

struct element {
	CUarray_format format;
	unsigned int channels;
};

/* sets all but the texture's memory */
static cudaError_t set_up(CUtexref t, const struct textureReference *ref, bool as_numbers,
			  const struct element *el)
{
	unsigned int flags =
		(as_numbers ? 0 : CU_TRSF_READ_AS_INTEGER) |
		(ref->normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
		(ref->sRGB ? CU_TRSF_SRGB : 0) |
		(ref->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0);
	CUresult r;
	int i;
	cudaError_t e =
		check_reading(el->format, as_numbers, ref->filterMode == cudaFilterModeLinear);

	if (e)
		return e;
	r = cuTexRefSetFormat(t, el->format, el->channels);
	if (!r)
		r = cuTexRefSetFlags(t, flags);
	if (!r)
		r = cuTexRefSetFilterMode(t, (CUfilter_mode)ref->filterMode);
	for (i = 0; i < 3 && !r; i++)
		r = cuTexRefSetAddressMode(t, i, (CUaddress_mode)ref->addressMode[i]);
	if (!r)
		r = cuTexRefSetMaxAnisotropy(t, ref->maxAnisotropy);
	if (!r)
		r = cuTexRefSetMipmapFilterMode(t, (CUfilter_mode)ref->mipmapFilterMode);
	if (!r)
		r = cuTexRefSetMipmapLevelBias(t, ref->mipmapLevelBias);
	if (!r)
		r = cuTexRefSetMipmapLevelClamp(t, ref->minMipmapLevelClamp,
						ref->maxMipmapLevelClamp);
	return from_driver(r);
}

static cudaError_t begin_texref(const struct textureReference *ref,
				const struct cudaChannelFormatDesc *desc, struct element *el,
				CUtexref *t)
{
	bool as_numbers;
	cudaError_t e = find_texture(ref, t, &as_numbers);

	if (!e && !desc)
		e = cudaErrorInvalidChannelDescriptor;
	if (!e)
		e = format_of(desc, &el->format, &el->channels);
	return e ? e : set_up(*t, ref, as_numbers, el);
}

/* to the end of the allocation, and to the largest texture */
static size_t clamp(const void *ptr, size_t size, const struct element *el)
{
	size_t most = (size_t)MAX_LINEAR * bytes_of(el->format, el->channels), length;
	CUdeviceptr base, at = (CUdeviceptr)(uintptr_t)ptr;

	if (!cuMemGetAddressRange_v2(&base, &length, at) && size > base + length - at)
		size = base + length - at;
	return size < most ? size : most;
}

static cudaError_t bind_linear(size_t *offset, const struct textureReference *ref, const void *ptr,
			       const struct cudaChannelFormatDesc *desc, size_t size)
{
	size_t off = (uintptr_t)ptr % TEXTURE_ALIGN;
	struct element el;
	CUtexref t;
	cudaError_t e = begin_texref(ref, desc, &el, &t);

	if (!e && (!ptr || (off && !offset)))
		e = cudaErrorInvalidValue;
	if (!e)
		e = from_driver(cuTexRefSetAddress_v2(&off, t, (CUdeviceptr)(uintptr_t)ptr,
						      clamp(ptr, size, &el)));
	if (!e)
		remember_offset(ref, off);
	if (!e && offset)
		*offset = off;
	return e;
}

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *ref, const void *ptr,
			    const struct cudaChannelFormatDesc *desc, size_t size)
{
	return set_last_error(bind_linear(offset, ref, ptr, desc, size));
}

/* The texture begins at an aligned address below @ptr. *offset: bytes in a line up to @ptr. */
static cudaError_t bind_2d(size_t *offset, const struct textureReference *ref, const void *ptr,
			   const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
			   size_t pitch)
{
	CUdeviceptr at = (CUdeviceptr)(uintptr_t)ptr;
	size_t off = at % TEXTURE_ALIGN, bytes;
	CUDA_ARRAY_DESCRIPTOR shape = { .Height = height };
	struct element el;
	CUtexref t;
	cudaError_t e = begin_texref(ref, desc, &el, &t);

	if (e)
		return e;
	bytes = bytes_of(el.format, el.channels);
	if (!ptr || (off && !offset) || off % bytes)
		return cudaErrorInvalidValue;
	shape.Width = width + off / bytes;
	shape.Format = el.format;
	shape.NumChannels = el.channels;
	e = from_driver(cuTexRefSetAddress2D_v3(t, &shape, at - off, pitch));
	if (!e)
		remember_offset(ref, off);
	if (!e && offset)
		*offset = off;
	return e;
}

cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *ref, const void *ptr,
			      const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
			      size_t pitch)
{
	return set_last_error(bind_2d(offset, ref, ptr, desc, width, height, pitch));
}

static cudaError_t bind_array(const struct textureReference *ref, cudaArray_const_t array,
			      const struct cudaChannelFormatDesc *desc)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	struct element el;
	CUtexref t;
	cudaError_t e = array ? begin_texref(ref, desc, &el, &t) : cudaErrorInvalidResourceHandle;

	if (!e)
		e = array_shape((CUarray)array, &shape);
	if (!e && (shape.Format != el.format || shape.NumChannels != el.channels))
		e = cudaErrorInvalidValue;
	if (!e)
		e = from_driver(cuTexRefSetArray(t, (CUarray)array, CU_TRSA_OVERRIDE_FORMAT));
	if (!e)
		remember_offset(ref, 0);
	return e;
}

cudaError_t cudaBindTextureToArray(const struct textureReference *ref, cudaArray_const_t array,
				   const struct cudaChannelFormatDesc *desc)
{
	return set_last_error(bind_array(ref, array, desc));
}

static cudaError_t bind_mipmapped(const struct textureReference *ref,
				  cudaMipmappedArray_const_t array,
				  const struct cudaChannelFormatDesc *desc)
{
	struct element el;
	CUtexref t;
	cudaError_t e = array ? begin_texref(ref, desc, &el, &t) : cudaErrorInvalidResourceHandle;

	if (!e)
		e = from_driver(cuTexRefSetMipmappedArray(t, (CUmipmappedArray)array,
							  CU_TRSA_OVERRIDE_FORMAT));
	if (!e)
		remember_offset(ref, 0);
	return e;
}

cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *ref,
					    cudaMipmappedArray_const_t array,
					    const struct cudaChannelFormatDesc *desc)
{
	return set_last_error(bind_mipmapped(ref, array, desc));
}

/* Keep the last binding. */
cudaError_t cudaUnbindTexture(const struct textureReference *ref)
{
	bool as_numbers;
	CUtexref t;

	return set_last_error(find_texture(ref, &t, &as_numbers));
}

cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *ref)
{
	return set_last_error(offset ? recall_offset(ref, offset) : cudaErrorInvalidValue);
}

cudaError_t cudaGetTextureReference(const struct textureReference **ref, const void *symbol)
{
	if (!ref || !is_texture(symbol))
		return set_last_error(ref ? cudaErrorInvalidTexture : cudaErrorInvalidValue);
	*ref = symbol;
	return cudaSuccess;
}

cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *ref, cudaArray_const_t array,
				   const struct cudaChannelFormatDesc *desc)
{
	CUsurfref s;
	cudaError_t e = array ? find_surface(ref, &s) : cudaErrorInvalidResourceHandle;

	return set_last_error(e ? e : from_driver(cuSurfRefSetArray(s, (CUarray)array, 0)));
}

cudaError_t cudaGetSurfaceReference(const struct surfaceReference **ref, const void *symbol)
{
	if (!ref || !is_surface(symbol))
		return set_last_error(ref ? cudaErrorInvalidSurface : cudaErrorInvalidValue);
	*ref = symbol;
	return cudaSuccess;
}
