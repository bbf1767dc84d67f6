// SPDX-License-Identifier: MIT
/*
 * Streams. A stream is the moment of its last work: what is submitted next comes after it. The legacy default stream comes
 * after all streams that were not made non-blocking, and they after it.
 */
#include <stdlib.h>

#include "driver.h"

static CUstream add(CUcontext ctx, unsigned int flags)
{
	CUstream s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct CUstream_st){ .magic = MAGIC_STREAM, .ctx = ctx, .flags = flags, .next = ctx->streams };
	ctx->streams = s;
	return s;
}

static CUstream per_thread(CUcontext ctx)
{
	pthread_t self = pthread_self();
	CUstream s;

	for (s = ctx->streams; s; s = s->next)
		if (s->per_thread && pthread_equal(s->thread, self))
			return s;
	s = add(ctx, 0);
	if (s) {
		s->per_thread = true;
		s->thread = self;
	}
	return s;
}

CUstream stream_of(CUcontext ctx, CUstream handle)
{
	CUstream s;

	if (!handle || handle == CU_STREAM_LEGACY)
		return &ctx->null;
	if (handle == CU_STREAM_PER_THREAD)
		return per_thread(ctx);
	for (s = ctx->streams; s && s != handle; s = s->next)
		;
	return s;
}

struct moment stream_begin(const struct CUstream_st *s)
{
	struct moment m = s->last;

	if (s == &s->ctx->null)
		moment_merge(&m, &s->ctx->blocking);
	else if (!(s->flags & CU_STREAM_NON_BLOCKING))
		moment_merge(&m, &s->ctx->null.last);
	return m;
}

void stream_add(CUstream s, enum device_queue q, uint64_t seq)
{
	s->last.seq[q] = seq;
	s->ctx->submitted.seq[q] = seq;
	if (!(s->flags & CU_STREAM_NON_BLOCKING))
		moment_merge(&s->ctx->blocking, &s->last);
}

void streams_free(CUcontext ctx)
{
	while (ctx->streams) {
		CUstream s = ctx->streams;

		ctx->streams = s->next;
		s->magic = 0;
		free(s);
	}
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if (!stream || flags & ~CU_STREAM_NON_BLOCKING) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		*stream = add(ctx, flags);
		r = *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	leave(ctx);
	return r;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	return cuStreamCreateWithPriority(stream, flags, 0);
}

/* its work goes on */
CUresult cuStreamDestroy_v2(CUstream stream)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);
	CUstream *at;

	if (r)
		return r;
	for (at = &ctx->streams; *at && *at != stream; at = &(*at)->next)
		;
	if (!*at || stream->per_thread) {
		r = CUDA_ERROR_INVALID_HANDLE;
	} else {
		*at = stream->next;
		stream->magic = 0;
		free(stream);
	}
	leave(ctx);
	return r;
}

/* the stream's context locked, or an error */
static CUresult enter_stream(CUstream handle, CUcontext *ctx, CUstream *s)
{
	CUresult r = enter(ctx);

	if (r)
		return r;
	*s = stream_of(*ctx, handle);
	if (*s)
		return CUDA_SUCCESS;
	leave(*ctx);
	return CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	struct moment m;
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	m = s == &ctx->null ? stream_begin(s) : s->last;
	leave(ctx);
	return moment_wait(ctx, &m);
}

CUresult cuStreamQuery(CUstream stream)
{
	struct moment m;
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	m = s == &ctx->null ? stream_begin(s) : s->last;
	leave(ctx);
	return moment_poll(ctx, &m);
}

static CUresult wait_event(CUcontext ctx, CUstream s, CUevent event)
{
	CUevent e;

	for (e = ctx->events; e && e != event; e = e->next)
		;
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!e->recorded)
		return CUDA_SUCCESS;
	moment_merge(&s->last, &e->at);
	if (!(s->flags & CU_STREAM_NON_BLOCKING))
		moment_merge(&ctx->blocking, &e->at);
	return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	r = flags & ~1u ? CUDA_ERROR_INVALID_VALUE : wait_event(ctx, s, event);
	leave(ctx);
	return r;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	if (flags)
		*flags = s->flags;
	leave(ctx);
	return flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	if (priority)
		*priority = 0;
	leave(ctx);
	return priority ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *out)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	if (out)
		*out = ctx;
	leave(ctx);
	return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	static __thread CUstreamCaptureMode own = CU_STREAM_CAPTURE_MODE_GLOBAL;
	CUstreamCaptureMode old = own;

	if (!mode || (unsigned int)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	own = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

/* nothing here captures */
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	leave(ctx);
	if (!status)
		return CUDA_ERROR_INVALID_VALUE;
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
CUresult cuStreamSynchronize_ptsz(CUstream stream) { return cuStreamSynchronize(OWN(stream)); }
CUresult cuStreamQuery_ptsz(CUstream stream) { return cuStreamQuery(OWN(stream)); }
CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned int *flags) { return cuStreamGetFlags(OWN(stream), flags); }
CUresult cuStreamGetPriority_ptsz(CUstream stream, int *priority) { return cuStreamGetPriority(OWN(stream), priority); }
CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *ctx) { return cuStreamGetCtx(OWN(stream), ctx); }

CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus *status)
{
	return cuStreamIsCapturing(OWN(stream), status);
}

CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags)
{
	return cuStreamWaitEvent(OWN(stream), event, flags);
}
