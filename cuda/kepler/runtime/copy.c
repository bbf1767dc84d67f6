// SPDX-License-Identifier: MIT
/* Copies between host and GPU, in one line and in several. */
#include "runtime.h"

/*
 * @kind tells where each side is; with Default the driver is asked. GPU memory that @kind calls
 * host memory is GPU memory.
 */
cudaError_t memcpy_sides(enum cudaMemcpyKind kind, const void *dst, const void *src,
			 enum side *dst_side, enum side *src_side)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
	case cudaMemcpyHostToDevice:
	case cudaMemcpyDeviceToHost:
	case cudaMemcpyDeviceToDevice:
	case cudaMemcpyDefault:
		break;
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
	*dst_side = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
				    is_device_only(dst) ?
			    DEVICE :
			    HOST;
	*src_side = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
				    is_device_only(src) ?
			    DEVICE :
			    HOST;
	return cudaSuccess;
}

static CUmemorytype type_of(enum side side)
{
	static const CUmemorytype types[] = {
		[HOST] = CU_MEMORYTYPE_HOST,
		[DEVICE] = CU_MEMORYTYPE_DEVICE,
		[ARRAY] = CU_MEMORYTYPE_ARRAY,
	};

	return types[side];
}

cudaError_t copy_lines(struct end dst, struct end src, size_t width, size_t lines, struct when w)
{
	CUDA_MEMCPY2D c = {
		.srcXInBytes = src.x,
		.srcY = src.y,
		.srcMemoryType = type_of(src.side),
		.srcArray = src.array,
		.srcPitch = src.pitch,
		.dstXInBytes = dst.x,
		.dstY = dst.y,
		.dstMemoryType = type_of(dst.side),
		.dstArray = dst.array,
		.dstPitch = dst.pitch,
		.WidthInBytes = width,
		.Height = lines,
	};

	if (!width || !lines)
		return cudaSuccess;
	if (src.side == HOST)
		c.srcHost = src.ptr;
	else
		c.srcDevice = device_address(src.ptr);
	if (dst.side == HOST)
		c.dstHost = (void *)(uintptr_t)dst.ptr;
	else
		c.dstDevice = device_address(dst.ptr);
	return from_driver(CALL_WHEN(w, cuMemcpy2DUnaligned_v2, cuMemcpy2DAsync_v2, &c));
}

cudaError_t copy_linear(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind,
			struct when w)
{
	enum side to, from;
	cudaError_t e = use_context();

	if (!e)
		e = memcpy_sides(kind, dst, src, &to, &from);
	if (e || !n)
		return e;
	if (!dst || !src)
		return cudaErrorInvalidValue;
	if (to == HOST && from == HOST)
		return copy_lines((struct end){ .side = HOST, .ptr = dst, .pitch = n },
				  (struct end){ .side = HOST, .ptr = src, .pitch = n }, n, 1, w);
	if (from == HOST)
		return from_driver(CALL_WHEN(w, cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2,
					     device_address(dst), src, n));
	if (to == HOST)
		return from_driver(CALL_WHEN(w, cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, dst,
					     device_address(src), n));
	return from_driver(CALL_WHEN(w, cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, device_address(dst),
				     device_address(src), n));
}

SYNC_FORMS(cudaMemcpy, copy_linear,
	   (void *dst, const void *src, size_t n, enum cudaMemcpyKind kind), dst, src, n, kind)
ASYNC_FORMS(cudaMemcpyAsync, copy_linear,
	    (void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream),
	    dst, src, n, kind)

static cudaError_t copy_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
			   size_t height, enum cudaMemcpyKind kind, struct when w)
{
	struct end to = { .ptr = dst, .pitch = dpitch }, from = { .ptr = src, .pitch = spitch };
	cudaError_t e = use_context();

	if (!e)
		e = memcpy_sides(kind, dst, src, &to.side, &from.side);
	if (e || !width || !height)
		return e;
	if (!dst || !src)
		return cudaErrorInvalidValue;
	if (width > spitch)
		return cudaErrorInvalidPitchValue;
	if (width > dpitch)
		return cudaErrorInvalidValue; /* as seen on a GPU */
	return copy_lines(to, from, width, height, w);
}

SYNC_FORMS(cudaMemcpy2D, copy_2d,
	   (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
	    enum cudaMemcpyKind kind),
	   dst, dpitch, src, spitch, width, height, kind)
ASYNC_FORMS(cudaMemcpy2DAsync, copy_2d,
	    (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
	     enum cudaMemcpyKind kind, cudaStream_t stream),
	    dst, dpitch, src, spitch, width, height, kind)

static cudaError_t copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t n,
			     struct when w)
{
	CUdeviceptr d = (CUdeviceptr)(uintptr_t)dst, s = (CUdeviceptr)(uintptr_t)src;
	CUcontext to, from;
	cudaError_t e = context_of(dst_device, &to);

	if (!e)
		e = context_of(src_device, &from);
	if (!e && n)
		e = from_driver(CALL_WHEN(w, cuMemcpyPeer, cuMemcpyPeerAsync, d, to, s, from, n));
	return e;
}

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t n)
{
	return set_last_error(copy_peer(dst, dst_device, src, src_device, n, LEGACY));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
				size_t n, cudaStream_t stream)
{
	return set_last_error(copy_peer(dst, dst_device, src, src_device, n, ON(stream)));
}
