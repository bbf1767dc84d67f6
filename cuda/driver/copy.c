// SPDX-License-Identifier: MIT
/*
 * cuMemcpy*() of one line: arguments are checked here, transfer.c copies. Copies from or to host
 * memory are waited for, unless Async.
 */
#include <stdlib.h>

#include "driver.h"

struct request {
	struct plane dst, src;
	size_t bytes;
	bool unified;		/* host or device memory: the addresses tell */
};

enum when { SYNC, ASYNC };

bool on_device(CUcontext ctx, const struct plane *p, size_t width, size_t lines)
{
	struct range *r = range_find(ctx, p->va);
	size_t span;

	if (__builtin_mul_overflow(lines - 1, p->pitch, &span) ||
	    __builtin_add_overflow(span, width, &span))
		return false;
	return r && span <= r->va + r->size - p->va;
}

/* Is an end host or device memory? Asked where the caller says host memory, or @unified. */
static CUresult resolve(CUcontext ctx, struct plane *p, bool unified)
{
	uint64_t at = p->host ? (uintptr_t)p->host : p->va;

	if (!p->host && (!unified || range_find(ctx, at)))
		return CUDA_SUCCESS;
	switch (where_is(ctx, (void *)(uintptr_t)at)) {
	case ON_HOST:
		*p = (struct plane){ .host = (uint8_t *)(uintptr_t)at };
		return CUDA_SUCCESS;
	case ON_DEVICE:
		*p = (struct plane){ .va = at };
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

static CUresult carry_out(CUcontext ctx, CUstream s, struct request *q)
{
	CUresult r;

	if (!q->bytes)
		return CUDA_SUCCESS;
	r = resolve(ctx, &q->dst, q->unified);
	if (!r)
		r = resolve(ctx, &q->src, q->unified);
	if (r)
		return r;
	if (!q->dst.host && !on_device(ctx, &q->dst, q->bytes, 1))
		return CUDA_ERROR_INVALID_VALUE;
	if (!q->src.host && !on_device(ctx, &q->src, q->bytes, 1))
		return CUDA_ERROR_INVALID_VALUE;
	return transfer(ctx, s, &q->dst, &q->src, q->bytes, 1);
}

/*
 * Return an end's address that the current context has nothing at, but another may. 0: there is
 * none.
 */
static uint64_t elsewhere(CUcontext ctx, const struct request *q)
{
	const struct plane *ends[] = { &q->dst, &q->src };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		uint64_t va = ends[i]->va;

		if (!ends[i]->host && !range_find(ctx, va) &&
		    (!q->unified || where_is(ctx, (void *)(uintptr_t)va) != ON_HOST))
			return va;
	}
	return 0;
}

/*
 * Whether the CPU sees this end of a copy, also by an address of the GPU. The application may use
 * such memory as soon as the copy returns.
 */
static bool seen(CUcontext ctx, const struct plane *p)
{
	struct range *range = p->host ? NULL : range_find(ctx, p->va);

	return p->host || (range && range->host);
}

static CUresult record(CUstream s, const struct request *q)
{
	CUmemorytype memory = q->unified ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;

	return capture_copy(s, &(CUDA_MEMCPY3D){
		.srcMemoryType = q->src.host ? CU_MEMORYTYPE_HOST : memory, .srcHost = q->src.host,
			.srcDevice = q->src.va,
		.dstMemoryType = q->dst.host ? CU_MEMORYTYPE_HOST : memory, .dstHost = q->dst.host,
			.dstDevice = q->dst.va,
		.WidthInBytes = q->bytes, .Height = 1, .Depth = 1 });
}

static CUresult copy(struct request q, enum when when, CUstream stream)
{
	struct moment m;
	CUcontext ctx;
	CUstream s;
	uint64_t va;
	bool wait;
	CUresult r = enter_work(stream, &ctx, &s);

	if (r)
		return r;
	if (s->capture) {
		r = when == ASYNC ? record(s, &q) : capture_refuse(s);
		leave(ctx);
		return r;
	}
	va = q.bytes && is_default_stream(stream) ? elsewhere(ctx, &q) : 0;
	if (va) {
		leave(ctx);
		r = enter_work_at(stream, va, &ctx, &s);
		if (r)
			return r;
	}
	r = carry_out(ctx, s, &q);
	m = s->last;
	wait = when == SYNC && (seen(ctx, &q.dst) || seen(ctx, &q.src));
	leave(ctx);
	if (!r && wait)
		r = moment_wait(ctx, &m);
	return r;
}

/* ------------------------------------------------------------------ between contexts */

static CUresult part(CUcontext ctx, struct plane dst, struct plane src, size_t n)
{
	CUresult r = enter_of(ctx);

	if (r)
		return r;
	r = on_device(ctx, dst.host ? &src : &dst, n, 1) ?
		    transfer(ctx, &ctx->null, &dst, &src, n, 1) :
		    CUDA_ERROR_INVALID_VALUE;
	leave(ctx);
	return r;
}

static CUresult wait_for_null(CUcontext ctx)
{
	struct moment m;
	CUresult r = enter_of(ctx);

	if (r)
		return r;
	m = stream_begin(&ctx->null);
	leave(ctx);
	return moment_wait(ctx, &m);
}

/*
 * No address space has both ends: copy through host memory. The last writes are waited for at the
 * end.
 */
CUresult copy_between(CUcontext to, CUdeviceptr dst, CUcontext from, CUdeviceptr src, size_t bytes,
		      CUstream stream)
{
	uint8_t *bounce = malloc(STAGING_BYTES);
	CUresult r = bounce ? cuStreamSynchronize(stream) : CUDA_ERROR_OUT_OF_MEMORY;
	size_t done, n;

	for (done = 0; done < bytes && !r; done += n) {
		n = bytes - done < STAGING_BYTES ? bytes - done : STAGING_BYTES;
		r = part(from, (struct plane){ .host = bounce }, (struct plane){ .va = src + done },
			 n);
		if (!r)
			r = part(to, (struct plane){ .va = dst + done },
				 (struct plane){ .host = bounce }, n);
	}
	free(bounce);
	return r ? r : wait_for_null(to);
}

/* the context that has memory at @va, or NULL */
static CUcontext owner(CUdeviceptr va)
{
	CUcontext ctx;

	if (enter_memory(&ctx, va, CUDA_ERROR_INVALID_VALUE))
		return NULL;
	leave(ctx);
	return ctx;
}

/* ------------------------------------------------------------------ one line */

static CUresult htod(CUdeviceptr dst, const void *src, size_t bytes, enum when when,
		     CUstream stream)
{
	struct request q = { .dst = { .va = dst },
			     .src = { .host = (uint8_t *)(uintptr_t)src },
			     .bytes = bytes };

	return bytes && !src ? CUDA_ERROR_INVALID_VALUE : copy(q, when, stream);
}

static CUresult dtoh(void *dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	struct request q = { .dst = { .host = dst }, .src = { .va = src }, .bytes = bytes };

	return bytes && !dst ? CUDA_ERROR_INVALID_VALUE : copy(q, when, stream);
}

static CUresult dtod(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when,
		     CUstream stream)
{
	struct request q = { .dst = { .va = dst }, .src = { .va = src }, .bytes = bytes };
	CUcontext to = owner(dst), from = owner(src);

	if (bytes && to && from && to != from)
		return copy_between(to, dst, from, src, bytes, stream);
	return copy(q, when, stream);
}

static CUresult any(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	struct request q = { .dst = { .va = dst },
			     .src = { .va = src },
			     .bytes = bytes,
			     .unified = true };

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
