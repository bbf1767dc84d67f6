// SPDX-License-Identifier: MIT
/*
 * The order of work: which stream a handle is, what its new work comes after, and in which queue a
 * copy goes. A stream is the moment of its last work. The legacy default stream comes after all
 * streams that were not made non-blocking, and they come after it.
 */
#include <stdlib.h>

#include "driver.h"

/* ------------------------------------------------------------------ streams */

CUstream stream_new(CUcontext ctx, unsigned int flags)
{
	CUstream s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct CUstream_st){ .magic = MAGIC_STREAM,
				   .ctx = ctx,
				   .id = unique_id(),
				   .flags = flags,
				   .next = ctx->streams };
	ctx->streams = s;
	ctx->parallel = true;
	return s;
}

static CUstream per_thread(CUcontext ctx)
{
	pthread_t self = pthread_self();
	CUstream s;

	for (s = ctx->streams; s; s = s->next)
		if (s->per_thread && pthread_equal(s->thread, self))
			return s;
	s = stream_new(ctx, 0);
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

bool has_stream(CUcontext ctx, const void *handle)
{
	const struct CUstream_st *s;

	for (s = ctx->streams; s && s != handle; s = s->next)
		;
	return s;
}

CUresult ctx_enter_stream(CUstream handle, CUcontext *ctx, CUstream *s)
{
	bool mine = is_default_stream(handle);
	CUresult r = mine ? ctx_enter(ctx) :
			    ctx_enter_owner(ctx, has_stream, handle, CUDA_ERROR_INVALID_HANDLE);

	if (r)
		return r;
	*s = mine ? stream_of(*ctx, handle) : handle;
	if (*s)
		return CUDA_SUCCESS;
	ctx_leave(*ctx);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

/* ------------------------------------------------------------------ moments */

void moment_merge(struct moment *m, const struct moment *other)
{
	unsigned int i;

	for (i = 0; i < NR_QUEUES; i++)
		if (other->seq[i] > m->seq[i])
			m->seq[i] = other->seq[i];
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

void stream_await(CUstream s, const struct moment *until)
{
	moment_merge(&s->last, until);
	if (!(s->flags & CU_STREAM_NON_BLOCKING))
		moment_merge(&s->ctx->blocking, until);
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
