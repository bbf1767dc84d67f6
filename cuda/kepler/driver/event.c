// SPDX-License-Identifier: MIT
/*
 * Events: the moment of a record, and where times are taken, a stamp that the GPU writes at that
 * moment. Stamps are made by thousands, and are used again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { STAMPS_MIN = 4096, STAMP_BYTES = 16 };

static CUevent find(CUcontext ctx, CUevent event)
{
	CUevent e;

	for (e = ctx->events; e && e != event; e = e->next)
		;
	return e;
}

static bool has_event(CUcontext ctx, const void *event)
{
	return find(ctx, (CUevent)(uintptr_t)event);
}

CUresult ctx_enter_event(CUevent event, CUcontext *ctx)
{
	return ctx_enter_owner(ctx, has_event, event, CUDA_ERROR_INVALID_HANDLE);
}

/* As many stamps as there are, so that memory for many events is in few pieces. */
static CUresult make_stamps(CUcontext ctx)
{
	unsigned int n = ctx->made_stamps ? ctx->made_stamps : STAMPS_MIN, i;
	struct stamp *grown = realloc(ctx->stamps, (ctx->made_stamps + n) * sizeof(*grown));
	struct device_memory *m;
	CUresult r;

	if (!grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx->stamps = grown;
	r = error_of(
		ctx->device->ops->alloc(ctx->device, PLACE_HOST, (uint64_t)n * STAMP_BYTES, &m));
	if (r)
		return r;
	ctx->made_stamps += n;
	for (i = n; i--;)
		grown[ctx->nr_stamps++] =
			(struct stamp){ m->va + i * STAMP_BYTES,
					(uint32_t *)((uint8_t *)m->map + i * STAMP_BYTES) };
	return CUDA_SUCCESS;
}

/* A program that looks at no error would print wrong times. */
static void tell_no_stamps(CUcontext ctx)
{
	static bool told;

	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"libcuda: no memory for the times of more than %u events: destroy some, or make them with cudaEventDisableTiming\n",
			ctx->made_stamps);
}

static CUresult create(CUcontext ctx, CUevent *out, unsigned int flags)
{
	bool timed = !(flags & CU_EVENT_DISABLE_TIMING);
	CUresult r = timed && !ctx->nr_stamps ? make_stamps(ctx) : CUDA_SUCCESS;
	CUevent e;

	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		tell_no_stamps(ctx);
	if (r)
		return r;
	e = calloc(1, sizeof(*e));
	if (!e)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*e = (struct CUevent_st){
		.magic = MAGIC_EVENT, .ctx = ctx, .flags = flags, .next = ctx->events
	};
	if (timed)
		e->stamp = ctx->stamps[--ctx->nr_stamps];
	ctx->events = e;
	*out = e;
	return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (!event ||
	    flags & ~(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS))
		r = CUDA_ERROR_INVALID_VALUE;
	else if (flags & CU_EVENT_INTERPROCESS)
		r = flags & CU_EVENT_DISABLE_TIMING ? CUDA_ERROR_NOT_SUPPORTED :
						      CUDA_ERROR_INVALID_VALUE;
	else
		r = create(ctx, event, flags);
	ctx_leave(ctx);
	return r;
}

/*
 * The stamp goes to the compute queue while the stream's work there is unfinished, else to the
 * queue of the stream's copies. If that is the copy queue, no kernel of another stream delays it.
 */
static CUresult stamp(CUcontext ctx, CUstream s, CUevent e)
{
	const struct device_ops *ops = ctx->device->ops;
	struct moment after = stream_begin(s);
	enum device_queue q = QUEUE_COMPUTE;
	uint64_t seq;
	CUresult r;

	if (!after.seq[QUEUE_COMPUTE] ||
	    ops->poll(ctx->device, QUEUE_COMPUTE, after.seq[QUEUE_COMPUTE], false) == DEVICE_OK)
		q = copy_queue(s);
	r = ctx_set_sticky(
		ctx, error_of(ops->stamp(ctx->device, q, &after, e->stamp.va, ++e->payload, &seq)));
	if (!r)
		stream_add(s, q, seq);
	return r;
}

CUresult event_record(CUcontext ctx, CUstream s, CUevent e)
{
	CUresult r = e->stamp.at ? stamp(ctx, s, e) : CUDA_SUCCESS;

	if (!r) {
		e->at = stream_begin(s);
		__atomic_store_n(&e->recorded, true, __ATOMIC_RELEASE);
		capture_forget(e);
	}
	return r;
}

CUevent event_of(CUcontext ctx, CUevent event)
{
	return find(ctx, event);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
	CUcontext ctx;
	CUstream s;
	CUevent e;
	CUresult r = ctx_enter_work(stream, &ctx, &s);

	if (r)
		return r;
	e = find(ctx, event);
	if (flags & ~1u)
		r = CUDA_ERROR_INVALID_VALUE;
	else if (!e)
		r = CUDA_ERROR_INVALID_HANDLE;
	else if (s->capture)
		r = capture_record(s, e, flags & CU_EVENT_RECORD_EXTERNAL);
	else
		r = event_record(ctx, s, e);
	ctx_leave(ctx);
	return r;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	return cuEventRecordWithFlags(event, stream, 0);
}

CUresult cuEventRecord_ptsz(CUevent event, CUstream stream)
{
	return cuEventRecordWithFlags(event, stream ? stream : CU_STREAM_PER_THREAD, 0);
}

CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags)
{
	return cuEventRecordWithFlags(event, stream ? stream : CU_STREAM_PER_THREAD, flags);
}

static CUresult moment_of(CUevent event, CUcontext *ctx, struct moment *m)
{
	CUresult r = ctx_enter_event(event, ctx);

	if (r)
		return r;
	memset(m, 0, sizeof(*m));
	r = event->capture ? capture_of_event(event, false) : capture_unsafe();
	if (!r && event->recorded)
		*m = event->at;
	ctx_leave(*ctx);
	return r;
}

CUresult cuEventQuery(CUevent event)
{
	struct moment m;
	CUcontext ctx;
	CUresult r = moment_of(event, &ctx, &m);

	return r ? r : moment_poll(ctx, &m);
}

CUresult cuEventSynchronize(CUevent event)
{
	struct moment m;
	CUcontext ctx;
	CUresult r = moment_of(event, &ctx, &m);

	return r ? r : moment_wait(ctx, &m);
}

static CUresult ready_stamp(CUcontext ctx, CUevent event, uint64_t *ns)
{
	CUevent e = find(ctx, event);
	CUresult r;

	if (e && e->capture)
		return capture_of_event(e, true);
	if (!e || !e->recorded || !e->stamp.at)
		return CUDA_ERROR_INVALID_HANDLE;
	r = moment_poll(ctx, &e->at);
	if (!r)
		memcpy(ns, (const void *)(e->stamp.at + 2), sizeof(*ns));
	return r;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	uint64_t from = 0, to = 0;
	CUcontext ctx;
	CUresult r = ctx_enter_event(start, &ctx);

	if (r)
		return r;
	r = ms ? ready_stamp(ctx, start, &from) : CUDA_ERROR_INVALID_HANDLE;
	if (!r)
		r = ready_stamp(ctx, end, &to);
	ctx_leave(ctx);
	if (!r)
		*ms = (float)((double)(int64_t)(to - from) / 1e6);
	return r;
}

static void destroy(CUcontext ctx, CUevent e)
{
	capture_forget(e);
	if (e->stamp.at)
		ctx->stamps[ctx->nr_stamps++] = e->stamp;
	e->magic = 0;
	free(e);
}

/* Waits, with the context locked, until the stamp is written: another event may get its slot. */
CUresult cuEventDestroy_v2(CUevent event)
{
	CUcontext ctx;
	CUresult r = ctx_enter_event(event, &ctx);
	CUevent *at;

	if (r)
		return r;
	for (at = &ctx->events; *at != event; at = &(*at)->next)
		;
	*at = event->next;
	if (event->recorded && event->stamp.at)
		r = moment_wait(ctx, &event->at);
	destroy(ctx, event);
	ctx_leave(ctx);
	return r;
}

void events_free(CUcontext ctx)
{
	while (ctx->events) {
		CUevent e = ctx->events;

		ctx->events = e->next;
		destroy(ctx, e);
	}
	free(ctx->stamps);
	ctx->stamps = NULL;
	ctx->nr_stamps = ctx->made_stamps = 0;
}
