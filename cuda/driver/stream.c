// SPDX-License-Identifier: MIT
/*
 * Streams. A stream is the moment of its last work. The legacy default stream comes after all
 * streams that were not made non-blocking, and they come after it.
 */
#include <stdlib.h>

#include "driver.h"

static CUstream add(CUcontext ctx, unsigned int flags)
{
	CUstream s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct CUstream_st){ .magic = MAGIC_STREAM,
				   .ctx = ctx,
				   .flags = flags,
				   .next = ctx->streams };
	ctx->streams = s;
	ctx->parallel = true;
	return s;
}

/* ------------------------------------------------------------------ queues */

static bool is_busy(CUcontext ctx, enum device_queue q, uint64_t seq)
{
	return seq && ctx->device->ops->poll(ctx->device, q, seq, false) == DEVICE_BUSY;
}

/* Whether what comes after @m may wait for a host function. */
static bool is_held(CUcontext ctx, const struct moment *m)
{
	if (!ctx->endless)
		return false;
	if (!is_busy(ctx, QUEUE_HOST, ctx->endless)) {
		ctx->endless = ctx->held_from = 0;
		return false;
	}
	return is_busy(ctx, QUEUE_HOST, m->seq[QUEUE_HOST]) ||
	       (ctx->held_from && m->seq[QUEUE_COMPUTE] >= ctx->held_from &&
		is_busy(ctx, QUEUE_COMPUTE, m->seq[QUEUE_COMPUTE]));
}

/*
 * The second queue takes time to make: it is used once a stream was made or a graph was launched. A
 * copy that waits for a host function stays in the compute queue: in the copy queue it would hold
 * up other streams' copies, for one of which the function may wait.
 */
enum device_queue copy_queue(const struct CUstream_st *s)
{
	struct moment after = stream_begin(s);
	CUcontext ctx = s->ctx;

	if (!ctx->parallel || !ctx->device->ops->copies_beside(ctx->device))
		return QUEUE_COMPUTE;
	return is_held(ctx, &after) ? QUEUE_COMPUTE : QUEUE_COPY;
}

/* ------------------------------------------------------------------ streams */

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

bool is_default_stream(CUstream handle)
{
	return !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

static bool has_stream(CUcontext ctx, const void *handle)
{
	const struct CUstream_st *s;

	for (s = ctx->streams; s && s != handle; s = s->next)
		;
	return s;
}

CUresult enter_stream(CUstream handle, CUcontext *ctx, CUstream *s)
{
	bool mine = is_default_stream(handle);
	CUresult r = mine ? enter(ctx) :
			    enter_owner(ctx, has_stream, handle, CUDA_ERROR_INVALID_HANDLE);

	if (r)
		return r;
	*s = mine ? stream_of(*ctx, handle) : handle;
	if (*s)
		return CUDA_SUCCESS;
	leave(*ctx);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult enter_work_at(CUstream handle, CUdeviceptr va, CUcontext *ctx, CUstream *s)
{
	CUresult r = enter_work(handle, ctx, s);

	if (r || !is_default_stream(handle) || (*s)->capture || range_find(*ctx, va))
		return r;
	leave(*ctx);
	r = enter_memory(ctx, va, CUDA_ERROR_NOT_FOUND);
	if (r)
		return r == CUDA_ERROR_NOT_FOUND ? enter_work(handle, ctx, s) : r;
	*s = stream_of(*ctx, handle);
	if (*s)
		return CUDA_SUCCESS;
	leave(*ctx);
	return CUDA_ERROR_OUT_OF_MEMORY;
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
	struct moment after = stream_begin(s);

	if (q == QUEUE_COMPUTE && is_held(s->ctx, &after) && !s->ctx->held_from)
		s->ctx->held_from = seq;
	s->last.seq[q] = seq;
	s->ctx->submitted.seq[q] = seq;
	if (!(s->flags & CU_STREAM_NON_BLOCKING))
		moment_merge(&s->ctx->blocking, &s->last);
}

void stream_add_endless(CUstream s, uint64_t seq)
{
	stream_add(s, QUEUE_HOST, seq);
	s->ctx->endless = seq;
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

CUresult cuStreamDestroy_v2(CUstream stream)
{
	CUcontext ctx;
	CUresult r = enter_owner(&ctx, has_stream, stream, CUDA_ERROR_INVALID_HANDLE);
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
	leave(ctx);
	users_destroy();
	return r;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	struct moment m;
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_status(stream, &ctx, &s);

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
	CUresult r = enter_status(stream, &ctx, &s);

	if (r)
		return r;
	m = s == &ctx->null ? stream_begin(s) : s->last;
	leave(ctx);
	return moment_poll(ctx, &m);
}

void stream_await(CUstream s, const struct moment *until)
{
	moment_merge(&s->last, until);
	if (!(s->flags & CU_STREAM_NON_BLOCKING))
		moment_merge(&s->ctx->blocking, until);
}

static CUresult await_event(CUstream stream, CUcontext other, unsigned int life,
			    const struct moment *until)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_work(stream, &ctx, &s);

	if (r)
		return r;
	if (ctx == other)
		stream_await(s, until);
	else
		r = host_await(ctx, s, other, life, until);
	leave(ctx);
	return r;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	struct moment until;
	unsigned int life;
	CUcontext other;
	bool captures, recorded;
	CUresult r = enter_event(event, &other);

	if (r)
		return r;
	life = other->life;
	until = event->at;
	recorded = event->recorded;
	leave(other);
	if (flags & ~CU_EVENT_WAIT_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	r = capture_wait(stream, event, flags, &captures);
	if (r || captures || !recorded)
		return r;
	return await_event(stream, other, life, &until);
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

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
CUresult cuStreamSynchronize_ptsz(CUstream stream) { return cuStreamSynchronize(OWN(stream)); }
CUresult cuStreamQuery_ptsz(CUstream stream) { return cuStreamQuery(OWN(stream)); }
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

CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags)
{
	return cuStreamWaitEvent(OWN(stream), event, flags);
}
