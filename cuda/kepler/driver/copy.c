// SPDX-License-Identifier: MIT
/*
 * cuMemcpy(), cuMemcpyHtoD(), cuMemcpyDtoH(), cuMemcpyDtoD(): arguments are checked here,
 * transfer.c copies, peer.c where one context lacks some of the memory.
 */
#include "driver.h"

struct request {
	struct plane dst, src;
	size_t bytes;
	bool unified; /* the addresses tell which memory it is */
};

enum when { SYNC, ASYNC };

/*
 * Is @p host or device memory? An end that the caller names device memory stays that. One that it
 * names host memory may be device memory, and an end of a @unified call may be either.
 */
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
	case NOWHERE:
		break;
	}
	return CUDA_ERROR_INVALID_VALUE;
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
	return plane_copy(ctx, s, &q->dst, &q->src, q->bytes, 1);
}

/* An end's address at which the current context has nothing. 0: none. */
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

/* Whether the CPU sees this end. A copy without Async then waits. */
static bool seen(CUcontext ctx, const struct plane *p)
{
	struct range *range = p->host ? NULL : range_find(ctx, p->va);

	return p->host || (range && range->host);
}

static CUresult record(CUstream s, const struct request *q)
{
	CUmemorytype memory = q->unified ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;

	return capture_copy(s, &(CUDA_MEMCPY3D){
				       .srcMemoryType = q->src.host ? CU_MEMORYTYPE_HOST : memory,
				       .srcHost = q->src.host,
				       .srcDevice = q->src.va,
				       .dstMemoryType = q->dst.host ? CU_MEMORYTYPE_HOST : memory,
				       .dstHost = q->dst.host,
				       .dstDevice = q->dst.va,
				       .WidthInBytes = q->bytes,
				       .Height = 1,
				       .Depth = 1,
			       });
}

/* ---------------------------------- between contexts: call with nothing locked */

/* False: the memory is nowhere. */
static bool find_end(struct plane *p, bool unified, CUcontext *owner)
{
	uint64_t at = p->host ? (uintptr_t)p->host : p->va;

	*owner = NULL;
	if ((p->host || unified) && on_cpu((void *)(uintptr_t)at)) {
		*p = (struct plane){ .host = (uint8_t *)(uintptr_t)at };
		return true;
	}
	*p = (struct plane){ .va = at };
	*owner = memory_owner(at);
	return *owner;
}

/* The copy that one context refused. */
static CUresult copy_between(struct request q, enum when when, CUstream stream)
{
	struct crossing c = { .width = q.bytes, .lines = 1 };

	if (!find_end(&q.dst, q.unified, &c.to) || !find_end(&q.src, q.unified, &c.from) ||
	    (!c.to && !c.from))
		return CUDA_ERROR_INVALID_VALUE;
	c.dst = q.dst;
	c.src = q.src;
	return peer_copy(stream, &c, when == SYNC);
}

static bool is_late(CUcontext ctx, const struct plane *p, bool unified)
{
	const void *at = p->host ? p->host : unified ? (void *)(uintptr_t)p->va : NULL;

	return at && pinned_elsewhere(ctx, at);
}

/*
 * Host memory that another context has pinned is touched when the copy's turn comes. True:
 * submitted so, with result *r.
 */
static bool copy_late(CUcontext ctx, const struct request *q, CUstream stream, CUresult *r)
{
	struct crossing c = {
		.dst = q->dst, .src = q->src, .width = q->bytes, .lines = 1, .late = true
	};

	if ((!is_late(ctx, &q->dst, q->unified) && !is_late(ctx, &q->src, q->unified)) ||
	    !find_end(&c.dst, q->unified, &c.to) || !find_end(&c.src, q->unified, &c.from) ||
	    !c.to == !c.from)
		return false;
	*r = peer_copy(stream, &c, false);
	return true;
}

/* ------------------------------------------------------------------ in one context */

static CUresult copy(struct request q, enum when when, CUstream stream)
{
	struct moment m;
	CUcontext ctx;
	CUstream s;
	uint64_t va;
	bool wait;
	CUresult r = ctx_enter_work(stream, &ctx, &s);

	if (r)
		return r;
	if (s->capture) {
		r = when == ASYNC ? record(s, &q) : capture_refuse(s);
		ctx_leave(ctx);
		return r;
	}
	if (when == ASYNC && q.bytes && several_contexts()) {
		ctx_leave(ctx);
		if (copy_late(ctx, &q, stream, &r))
			return r;
		r = ctx_enter_work(stream, &ctx, &s);
		if (r)
			return r;
	}
	va = q.bytes && is_default_stream(stream) ? elsewhere(ctx, &q) : 0;
	if (va) {
		ctx_leave(ctx);
		r = ctx_enter_work_at(stream, va, &ctx, &s);
		if (r)
			return r;
	}
	r = carry_out(ctx, s, &q);
	m = s->last;
	wait = when == SYNC && (seen(ctx, &q.dst) || seen(ctx, &q.src));
	ctx_leave(ctx);
	if (r == CUDA_ERROR_INVALID_VALUE)
		return copy_between(q, when, stream);
	if (!r && wait)
		r = moment_wait(ctx, &m);
	return r;
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

	return copy(q, when, stream);
}

static CUresult copy_any(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when,
			 CUstream stream)
{
	struct request q = {
		.dst = { .va = dst }, .src = { .va = src }, .bytes = bytes, .unified = true
	};

	return bytes && (!dst || !src) ? CUDA_ERROR_INVALID_VALUE : copy(q, when, stream);
}

/* ------------------------------------------------------------------ entry points */

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define ENTRIES(name, body, dst_type, src_type)                                                 \
	CUresult name##_v2(dst_type dst, src_type src, size_t bytes)                            \
	{                                                                                       \
		return body(dst, src, bytes, SYNC, NULL);                                       \
	}                                                                                       \
	CUresult name##_v2_ptds(dst_type dst, src_type src, size_t bytes)                       \
	{                                                                                       \
		return body(dst, src, bytes, SYNC, CU_STREAM_PER_THREAD);                       \
	}                                                                                       \
	CUresult name##Async_v2(dst_type dst, src_type src, size_t bytes, CUstream stream)      \
	{                                                                                       \
		return body(dst, src, bytes, ASYNC, stream);                                    \
	}                                                                                       \
	CUresult name##Async_v2_ptsz(dst_type dst, src_type src, size_t bytes, CUstream stream) \
	{                                                                                       \
		return body(dst, src, bytes, ASYNC, OWN(stream));                               \
	}

ENTRIES(cuMemcpyHtoD, htod, CUdeviceptr, const void *)
ENTRIES(cuMemcpyDtoH, dtoh, void *, CUdeviceptr)
ENTRIES(cuMemcpyDtoD, dtod, CUdeviceptr, CUdeviceptr)

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return copy_any(dst, src, bytes, SYNC, NULL);
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return copy_any(dst, src, bytes, SYNC, CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return copy_any(dst, src, bytes, ASYNC, stream);
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return copy_any(dst, src, bytes, ASYNC, OWN(stream));
}
