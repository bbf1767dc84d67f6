// SPDX-License-Identifier: MIT
/* Streams: their life, waits for them, and their waits for events. order.c has their order. */
#include <stdlib.h>

#include "driver.h"

CUresult ctx_enter_work_at(CUstream handle, CUdeviceptr va, CUcontext *ctx, CUstream *s)
{
	CUresult r = ctx_enter_work(handle, ctx, s);

	if (r || !is_default_stream(handle) || (*s)->capture || range_find(*ctx, va))
		return r;
	ctx_leave(*ctx);
	r = ctx_enter_memory(ctx, va, CUDA_ERROR_NOT_FOUND);
	if (r)
		return r == CUDA_ERROR_NOT_FOUND ? ctx_enter_work(handle, ctx, s) : r;
	*s = stream_of(*ctx, handle);
	if (*s)
		return CUDA_SUCCESS;
	ctx_leave(*ctx);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

void streams_free(CUcontext ctx)
{
	while (ctx->streams) {
		CUstream s = ctx->streams;

		capture_drop(s);
		ctx->streams = s->next;
		s->magic = 0;
		free(s);
	}
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (!stream || flags & ~CU_STREAM_NON_BLOCKING) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		*stream = stream_new(ctx, flags);
		r = *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	ctx_leave(ctx);
	return r;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	CUcontext ctx;
	CUresult r = ctx_enter_owner(&ctx, has_stream, stream, CUDA_ERROR_INVALID_HANDLE);
	CUstream *at;

	if (r)
		return r;
	for (at = &ctx->streams; *at != stream; at = &(*at)->next)
		;
	if (stream->per_thread) {
		r = CUDA_ERROR_INVALID_HANDLE;
	} else {
		capture_drop(stream);
		*at = stream->next;
		stream->magic = 0;
		free(stream);
	}
	ctx_leave(ctx);
	users_destroy();
	return r;
}

/* *@end becomes when all work of @stream is done. */
static CUresult end_of(CUstream stream, CUcontext *ctx, struct moment *end)
{
	CUstream s;
	CUresult r = ctx_enter_status(stream, ctx, &s);

	if (r)
		return r;
	*end = s == &(*ctx)->null ? stream_begin(s) : s->last;
	ctx_leave(*ctx);
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	struct moment m;
	CUcontext ctx;
	CUresult r = end_of(stream, &ctx, &m);

	return r ? r : moment_wait(ctx, &m);
}

CUresult cuStreamQuery(CUstream stream)
{
	struct moment m;
	CUcontext ctx;
	CUresult r = end_of(stream, &ctx, &m);

	return r ? r : moment_poll(ctx, &m);
}

static CUresult await_event(CUstream stream, CUcontext other, unsigned int life,
			    const struct moment *until)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = ctx_enter_work(stream, &ctx, &s);

	if (r)
		return r;
	if (ctx == other)
		stream_await(s, until);
	else
		r = host_await(ctx, s, other, life, until);
	ctx_leave(ctx);
	return r;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	struct moment until;
	unsigned int life;
	CUcontext other;
	bool captures, recorded;
	CUresult r = ctx_enter_event(event, &other);

	if (r)
		return r;
	life = other->life;
	until = event->at;
	recorded = event->recorded;
	ctx_leave(other);
	if (flags & ~CU_EVENT_WAIT_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	r = capture_wait(stream, event, flags, &captures);
	if (r || captures || !recorded)
		return r;
	return await_event(stream, other, life, &until);
}

/* ------------------------------------------------------------------ questions */

/* What a question is about: @s becomes a copy. @out NULL: INVALID_VALUE, if there is the stream. */
static CUresult check_query(CUstream stream, const void *out, struct CUstream_st *s)
{
	CUcontext ctx;
	CUstream found;
	CUresult r = ctx_enter_stream(stream, &ctx, &found);

	if (r)
		return r;
	*s = *found;
	ctx_leave(ctx);
	return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
	struct CUstream_st s;
	CUresult r = check_query(stream, flags, &s);

	if (!r)
		*flags = s.flags;
	return r;
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
	struct CUstream_st s;
	CUresult r = check_query(stream, priority, &s);

	if (!r)
		*priority = 0;
	return r;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *ctx)
{
	struct CUstream_st s;
	CUresult r = check_query(stream, ctx, &s);

	if (!r)
		*ctx = s.ctx;
	return r;
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
	struct CUstream_st s;
	CUresult r = check_query(stream, id, &s);

	if (!r)
		*id = s.id;
	return r;
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *dev)
{
	struct CUstream_st s;
	CUresult r = check_query(stream, dev, &s);

	if (!r)
		*dev = s.ctx->dev;
	return r;
}

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
	return cuStreamSynchronize(OWN(stream));
}
CUresult cuStreamQuery_ptsz(CUstream stream)
{
	return cuStreamQuery(OWN(stream));
}
CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned int *flags)
{
	return cuStreamGetFlags(OWN(stream), flags);
}
CUresult cuStreamGetPriority_ptsz(CUstream stream, int *priority)
{
	return cuStreamGetPriority(OWN(stream), priority);
}
CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *ctx)
{
	return cuStreamGetCtx(OWN(stream), ctx);
}
CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long *id)
{
	return cuStreamGetId(OWN(stream), id);
}
CUresult cuStreamGetDevice_ptsz(CUstream stream, CUdevice *dev)
{
	return cuStreamGetDevice(OWN(stream), dev);
}

CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags)
{
	return cuStreamWaitEvent(OWN(stream), event, flags);
}
