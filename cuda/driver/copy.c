// SPDX-License-Identifier: MIT
/*
 * cuMemcpy*() of one line: arguments checked, then transfer.c. Copies that leave or reach host memory are waited for unless
 * Async.
 */
#include "driver.h"

struct request {
	struct plane dst, src;
	size_t bytes;
	bool unified;		/* the addresses say what they are */
};

enum when { SYNC, ASYNC };

bool on_device(CUcontext ctx, const struct plane *p, size_t width, size_t lines)
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
	if (!q->bytes)
		return CUDA_SUCCESS;
	if (q->unified) {
		resolve(ctx, &q->dst);
		resolve(ctx, &q->src);
	}
	if (!q->dst.host && !on_device(ctx, &q->dst, q->bytes, 1))
		return CUDA_ERROR_INVALID_VALUE;
	if (!q->src.host && !on_device(ctx, &q->src, q->bytes, 1))
		return CUDA_ERROR_INVALID_VALUE;
	return transfer(ctx, s, &q->dst, &q->src, q->bytes, 1);
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
	struct request q = { .dst = { .va = dst }, .src = { .host = (uint8_t *)(uintptr_t)src }, .bytes = bytes };

	return bytes && !src ? CUDA_ERROR_INVALID_VALUE : copy(q, when, stream);
}

static CUresult dtoh(void *dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	struct request q = { .dst = { .host = dst }, .src = { .va = src }, .bytes = bytes };

	return bytes && !dst ? CUDA_ERROR_INVALID_VALUE : copy(q, when, stream);
}

static CUresult dtod(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	struct request q = { .dst = { .va = dst }, .src = { .va = src }, .bytes = bytes };

	return copy(q, when, stream);
}

static CUresult any(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	struct request q = { .dst = { .va = dst }, .src = { .va = src }, .bytes = bytes, .unified = true };

	return bytes && (!dst || !src) ? CUDA_ERROR_INVALID_VALUE : copy(q, when, stream);
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
