// SPDX-License-Identifier: MIT
/* Copies of boxes, between memory and arrays of any dimension. */
#include "runtime.h"

struct box {
	cudaArray_t array;
	struct cudaPos pos;
	struct cudaPitchedPtr ptr;
};

/* An array or a pointer, not both. *element: bytes of the array's elements. */
static cudaError_t check_box(const struct box *b, size_t *element)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	cudaError_t e;

	if (!b->array == !b->ptr.ptr)
		return cudaErrorInvalidValue;
	if (!b->array)
		return cudaSuccess;
	e = array_shape((CUarray)b->array, &shape);
	if (e)
		return e;
	if (*element && *element != bytes_of(shape.Format, shape.NumChannels))
		return cudaErrorInvalidValue;
	*element = bytes_of(shape.Format, shape.NumChannels);
	return cudaSuccess;
}

static cudaError_t memory_types(enum cudaMemcpyKind kind, const struct box *dst,
				const struct box *src, CUmemorytype *to, CUmemorytype *from)
{
	enum side d, s;
	cudaError_t e = memcpy_sides(kind, dst->ptr.ptr, src->ptr.ptr, &d, &s);

	if (e)
		return e;
	if (kind != cudaMemcpyDefault && ((dst->array && d == HOST) || (src->array && s == HOST)))
		return cudaErrorInvalidMemcpyDirection;
	*to = dst->array ? CU_MEMORYTYPE_ARRAY :
	      d == HOST	 ? CU_MEMORYTYPE_HOST :
			   CU_MEMORYTYPE_DEVICE;
	*from = src->array ? CU_MEMORYTYPE_ARRAY :
		s == HOST  ? CU_MEMORYTYPE_HOST :
			     CU_MEMORYTYPE_DEVICE;
	return cudaSuccess;
}

/*
 * In x, the extent counts elements where there is an array, a position those of its own array; else
 * bytes.
 */
static cudaError_t describe(const struct box *dst, const struct box *src, struct cudaExtent extent,
			    enum cudaMemcpyKind kind, CUDA_MEMCPY3D *c)
{
	size_t element = 0;
	cudaError_t e = use_context();

	*c = (CUDA_MEMCPY3D){
		.srcY = src->pos.y,
		.srcZ = src->pos.z,
		.srcArray = (CUarray)src->array,
		.srcHost = src->ptr.ptr,
		.srcDevice = device_address(src->ptr.ptr),
		.srcPitch = src->ptr.pitch,
		.srcHeight = src->ptr.ysize,
		.dstY = dst->pos.y,
		.dstZ = dst->pos.z,
		.dstArray = (CUarray)dst->array,
		.dstHost = dst->ptr.ptr,
		.dstDevice = device_address(dst->ptr.ptr),
		.dstPitch = dst->ptr.pitch,
		.dstHeight = dst->ptr.ysize,
		.Height = extent.height,
		.Depth = extent.depth,
	};
	if (!e)
		e = check_box(dst, &element);
	if (!e)
		e = check_box(src, &element);
	if (!e)
		e = memory_types(kind, dst, src, &c->dstMemoryType, &c->srcMemoryType);
	if (e)
		return e;
	if (!element)
		element = 1;
	if (__builtin_mul_overflow(extent.width, element, &c->WidthInBytes) ||
	    __builtin_mul_overflow(src->pos.x, src->array ? element : 1, &c->srcXInBytes) ||
	    __builtin_mul_overflow(dst->pos.x, dst->array ? element : 1, &c->dstXInBytes))
		return cudaErrorInvalidValue;
	if ((!src->array && c->WidthInBytes > c->srcPitch) ||
	    (!dst->array && c->WidthInBytes > c->dstPitch))
		return cudaErrorInvalidPitchValue;
	return cudaSuccess;
}

static bool nothing(struct cudaExtent e)
{
	return !e.width || !e.height || !e.depth;
}

static cudaError_t describe_one(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c)
{
	struct box dst, src;

	if (!p)
		return cudaErrorInvalidValue;
	dst = (struct box){ p->dstArray, p->dstPos, p->dstPtr };
	src = (struct box){ p->srcArray, p->srcPos, p->srcPtr };
	return describe(&dst, &src, p->extent, p->kind, c);
}

cudaError_t box_of(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c)
{
	cudaError_t e = describe_one(p, c);

	return !e && nothing(p->extent) ? cudaErrorInvalidValue : e;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, struct when w)
{
	CUDA_MEMCPY3D c;
	cudaError_t e = describe_one(p, &c);

	return e || nothing(p->extent) ?
		       e :
		       from_driver(CALL_WHEN(w, cuMemcpy3D_v2, cuMemcpy3DAsync_v2, &c));
}

/* CUDA_MEMCPY3D_PEER has contexts where CUDA_MEMCPY3D has reserved members. */
static cudaError_t copy_3d_peer(const struct cudaMemcpy3DPeerParms *p, struct when w)
{
	union {
		CUDA_MEMCPY3D one;
		CUDA_MEMCPY3D_PEER two;
	} c;
	CUcontext to, from;
	struct box dst, src;
	cudaError_t e = p ? context_of(p->dstDevice, &to) : cudaErrorInvalidValue;

	if (!e)
		e = context_of(p->srcDevice, &from);
	if (e)
		return e;
	dst = (struct box){ p->dstArray, p->dstPos, p->dstPtr };
	src = (struct box){ p->srcArray, p->srcPos, p->srcPtr };
	e = describe(&dst, &src, p->extent, cudaMemcpyDeviceToDevice, &c.one);
	if (e || nothing(p->extent))
		return e;
	c.two.srcContext = from;
	c.two.dstContext = to;
	return from_driver(CALL_WHEN(w, cuMemcpy3DPeer, cuMemcpy3DPeerAsync, &c.two));
}

SYNC_FORMS(cudaMemcpy3D, copy_3d, (const struct cudaMemcpy3DParms *p), p)
ASYNC_FORMS(cudaMemcpy3DAsync, copy_3d, (const struct cudaMemcpy3DParms *p, cudaStream_t stream), p)
SYNC_FORMS(cudaMemcpy3DPeer, copy_3d_peer, (const struct cudaMemcpy3DPeerParms *p), p)
ASYNC_FORMS(cudaMemcpy3DPeerAsync, copy_3d_peer,
	    (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream), p)
