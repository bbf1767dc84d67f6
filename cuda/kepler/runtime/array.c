// SPDX-License-Identifier: MIT
/* Arrays: memory for textures, surfaces and copies. */
#include "runtime.h"

static const struct {
	enum cudaChannelFormatKind kind;
	int bits;
	CUarray_format format;
} formats[] = {
	{ cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8 },
	{ cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16 },
	{ cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32 },
	{ cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8 },
	{ cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16 },
	{ cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32 },
	{ cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF },
	{ cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT },
};

enum { NR_FORMATS = sizeof(formats) / sizeof(formats[0]) };

cudaError_t format_of(const struct cudaChannelFormatDesc *desc, CUarray_format *format,
		      unsigned int *channels)
{
	const int bits[4] = { desc->x, desc->y, desc->z, desc->w };
	unsigned int i, n;

	for (n = 0; n < 4 && bits[n]; n++)
		if (bits[n] != bits[0])
			return cudaErrorInvalidChannelDescriptor;
	for (i = n; i < 4; i++)
		if (bits[i])
			return cudaErrorInvalidChannelDescriptor;
	if (!n || n == 3)
		return cudaErrorInvalidChannelDescriptor;
	for (i = 0; i < NR_FORMATS; i++) {
		if (formats[i].kind == desc->f && formats[i].bits == bits[0]) {
			*format = formats[i].format;
			*channels = n;
			return cudaSuccess;
		}
	}
	return cudaErrorInvalidChannelDescriptor;
}

struct cudaChannelFormatDesc desc_of(CUarray_format format, unsigned int channels)
{
	struct cudaChannelFormatDesc d = { .f = cudaChannelFormatKindNone };
	int *bits[4] = { &d.x, &d.y, &d.z, &d.w };
	unsigned int i, c;

	for (i = 0; i < NR_FORMATS; i++) {
		if (formats[i].format != format)
			continue;
		d.f = formats[i].kind;
		for (c = 0; c < channels && c < 4; c++)
			*bits[c] = formats[i].bits;
	}
	return d;
}

size_t bytes_of(CUarray_format format, unsigned int channels)
{
	struct cudaChannelFormatDesc d = desc_of(format, 1);

	return (size_t)d.x / 8 * channels;
}

cudaError_t array_shape(CUarray array, CUDA_ARRAY3D_DESCRIPTOR *out)
{
	cudaError_t e = use_context();

	return e ? e : from_driver(cuArray3DGetDescriptor_v2(out, array));
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
						   enum cudaChannelFormatKind f)
{
	return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}

/* ------------------------------------------------------------------ making arrays */

/* all flags of 11.8; others are ignored, as seen on a GPU */
enum { ARRAY_FLAGS = 0xff };

static cudaError_t shape_of(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
			    unsigned int flags, CUDA_ARRAY3D_DESCRIPTOR *out)
{
	*out = (CUDA_ARRAY3D_DESCRIPTOR){ .Width = extent.width,
					  .Height = extent.height,
					  .Depth = extent.depth,
					  .Flags = flags & ARRAY_FLAGS };
	return format_of(desc, &out->Format, &out->NumChannels);
}

static cudaError_t create(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			  struct cudaExtent extent, unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	cudaError_t e = array && desc ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = shape_of(desc, extent, flags, &shape);
	return e ? e : from_driver(cuArray3DCreate_v2((CUarray *)array, &shape));
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			    size_t width, size_t height, unsigned int flags)
{
	if (flags & (cudaArrayLayered | cudaArrayCubemap))
		return set_last_error(cudaErrorInvalidValue);
	return set_last_error(create(array, desc, (struct cudaExtent){ width, height, 0 }, flags));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			      struct cudaExtent extent, unsigned int flags)
{
	return set_last_error(create(array, desc, extent, flags));
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
				     const struct cudaChannelFormatDesc *desc,
				     struct cudaExtent extent, unsigned int levels,
				     unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	cudaError_t e = array && desc ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = shape_of(desc, extent, flags, &shape);
	if (!e)
		e = from_driver(cuMipmappedArrayCreate((CUmipmappedArray *)array, &shape, levels));
	return set_last_error(e);
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_const_t array,
				       unsigned int index)
{
	cudaError_t e = level && array ? use_context() : cudaErrorInvalidValue;

	return set_last_error(e ? e :
				  from_driver(cuMipmappedArrayGetLevel(
					  (CUarray *)level, (CUmipmappedArray)array, index)));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
	cudaError_t e = use_context();

	return set_last_error(e || !array ? e : from_driver(cuArrayDestroy((CUarray)array)));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
	cudaError_t e = use_context();

	return set_last_error(
		e || !array ? e : from_driver(cuMipmappedArrayDestroy((CUmipmappedArray)array)));
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
			     unsigned int *flags, cudaArray_t array)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	cudaError_t e = array ? array_shape((CUarray)array, &shape) :
				cudaErrorInvalidResourceHandle;

	if (e)
		return set_last_error(e);
	if (desc)
		*desc = desc_of(shape.Format, shape.NumChannels);
	if (extent)
		*extent = (struct cudaExtent){ shape.Width, shape.Height, shape.Depth };
	if (flags)
		*flags = shape.Flags;
	return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
	return desc ? cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)array) :
		      set_last_error(cudaErrorInvalidValue);
}
