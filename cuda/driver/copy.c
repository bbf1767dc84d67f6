// SPDX-License-Identifier: MIT
/* cuMemcpy*: arguments checked, then transfer.c. Copies that leave or reach host memory are waited for unless Async. */
#include "driver.h"

#define PITCH_MAX	2147483647u

struct request {
	struct plane dst, src;
	size_t width, lines;
	bool unified;		/* the addresses say what they are */
};

enum when { SYNC, ASYNC };

static bool on_device(CUcontext ctx, const struct plane *p, size_t width, size_t lines)
{
	struct range *r = range_find(ctx, p->va);
	size_t span;

	if (__builtin_mul_overflow(lines - 1, p->pitch, &span) || __builtin_add_overflow(span, width, &span))
		return false;
	return r && span <= r->va + r->size - p->va;
}

static void resolve(CUcontext ctx, struct plane *p)
{
	if (!range_find(ctx, p->va))
		p->host = (uint8_t *)(uintptr_t)p->va;
}

static CUresult carry_out(CUcontext ctx, CUstream s, struct request *q)
{
	if (!q->width || !q->lines)
		return CUDA_SUCCESS;
	if (q->unified) {
		resolve(ctx, &q->dst);
		resolve(ctx, &q->src);
	}
	if (q->lines > 1 && (q->dst.pitch < q->width || q->src.pitch < q->width || q->dst.pitch > PITCH_MAX ||
			     q->src.pitch > PITCH_MAX || q->lines > PITCH_MAX))
		return CUDA_ERROR_INVALID_VALUE;
	if (!q->dst.host && !on_device(ctx, &q->dst, q->width, q->lines))
		return CUDA_ERROR_INVALID_VALUE;
	if (!q->src.host && !on_device(ctx, &q->src, q->width, q->lines))
		return CUDA_ERROR_INVALID_VALUE;
	return transfer(ctx, s, &q->dst, &q->src, q->width, q->lines);
}

static CUresult copy(struct request q, enum when when, CUstream stream)
{
	struct moment m;
	CUcontext ctx;
	CUstream s;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	s = stream_of(ctx, stream);
	r = s ? carry_out(ctx, s, &q) : CUDA_ERROR_INVALID_HANDLE;
	if (s)
		m = s->last;
	leave(ctx);
	if (!r && when == SYNC && (q.dst.host || q.src.host))
		r = moment_wait(ctx, &m);
	return r;
}

/* ------------------------------------------------------------------ one line */

static CUresult htod(CUdeviceptr dst, const void *src, size_t bytes, enum when when, CUstream stream)
{
	struct request q = { .dst = { .va = dst }, .src = { .host = (uint8_t *)(uintptr_t)src }, .width = bytes, .lines = 1 };

	return bytes && !src ? CUDA_ERROR_INVALID_VALUE : copy(q, when, stream);
}

static CUresult dtoh(void *dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	struct request q = { .dst = { .host = dst }, .src = { .va = src }, .width = bytes, .lines = 1 };

	return bytes && !dst ? CUDA_ERROR_INVALID_VALUE : copy(q, when, stream);
}

static CUresult dtod(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	struct request q = { .dst = { .va = dst }, .src = { .va = src }, .width = bytes, .lines = 1 };

	return copy(q, when, stream);
}

static CUresult any(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	struct request q = { .dst = { .va = dst }, .src = { .va = src }, .width = bytes, .lines = 1, .unified = true };

	return bytes && (!dst || !src) ? CUDA_ERROR_INVALID_VALUE : copy(q, when, stream);
}

/* ------------------------------------------------------------------ several lines */

static CUresult plane(struct plane *p, CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch, size_t x, size_t y)
{
	p->pitch = pitch;
	switch (type) {
	case CU_MEMORYTYPE_HOST:
		if (!host)
			return CUDA_ERROR_INVALID_VALUE;
		p->host = (uint8_t *)(uintptr_t)host + y * pitch + x;
		return CUDA_SUCCESS;
	case CU_MEMORYTYPE_DEVICE:
	case CU_MEMORYTYPE_UNIFIED:
		p->va = device + y * pitch + x;
		return CUDA_SUCCESS;
	case CU_MEMORYTYPE_ARRAY:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, enum when when, CUstream stream)
{
	struct request q = { .width = 0 };
	CUresult r;

	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	q.width = c->WidthInBytes;
	q.lines = c->Height;
	r = plane(&q.src, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch ? c->srcPitch : c->WidthInBytes,
		  c->srcXInBytes, c->srcY);
	if (!r)
		r = plane(&q.dst, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch ? c->dstPitch : c->WidthInBytes,
			  c->dstXInBytes, c->dstY);
	if (r)
		return r;
	if (c->srcMemoryType == CU_MEMORYTYPE_UNIFIED || c->dstMemoryType == CU_MEMORYTYPE_UNIFIED)
		return CUDA_ERROR_NOT_SUPPORTED;	/* the device says that it has no unified addresses */
	return copy(q, when, stream);
}

/* ------------------------------------------------------------------ entry points */

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define ENTRIES(name, body, dst_type, src_type)						\
	CUresult name##_v2(dst_type dst, src_type src, size_t bytes)			\
	{										\
		return body(dst, src, bytes, SYNC, NULL);				\
	}										\
	CUresult name##_v2_ptds(dst_type dst, src_type src, size_t bytes)		\
	{										\
		return body(dst, src, bytes, SYNC, CU_STREAM_PER_THREAD);		\
	}										\
	CUresult name##Async_v2(dst_type dst, src_type src, size_t bytes, CUstream stream)	\
	{										\
		return body(dst, src, bytes, ASYNC, stream);				\
	}										\
	CUresult name##Async_v2_ptsz(dst_type dst, src_type src, size_t bytes, CUstream stream)	\
	{										\
		return body(dst, src, bytes, ASYNC, OWN(stream));			\
	}

ENTRIES(cuMemcpyHtoD, htod, CUdeviceptr, const void *)
ENTRIES(cuMemcpyDtoH, dtoh, void *, CUdeviceptr)
ENTRIES(cuMemcpyDtoD, dtod, CUdeviceptr, CUdeviceptr)

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return any(dst, src, bytes, SYNC, NULL);
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return any(dst, src, bytes, SYNC, CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return any(dst, src, bytes, ASYNC, stream);
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return any(dst, src, bytes, ASYNC, OWN(stream));
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *c) { return copy_2d(c, SYNC, NULL); }
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *c) { return copy_2d(c, SYNC, CU_STREAM_PER_THREAD); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c) { return copy_2d(c, SYNC, NULL); }
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *c) { return copy_2d(c, SYNC, CU_STREAM_PER_THREAD); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream) { return copy_2d(c, ASYNC, stream); }
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *c, CUstream stream) { return copy_2d(c, ASYNC, OWN(stream)); }
