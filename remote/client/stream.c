// SPDX-License-Identifier: MIT
/*
 * A thread's own stream is an ordinary stream of the server, made at first use for the thread and
 * its context.
 */
#include <stdlib.h>

#include "client.h"

struct own {
	struct own *next;
	struct object *ctx;
	uint64_t ctx_id, id;
	CUstream stream;
};

static __thread struct own *own;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* the streams are not destroyed, as they may have work: they end with their contexts */
static void thread_ends(void *value)
{
	struct own *o = value, *next;

	for (; o; o = next) {
		next = o->next;
		free(o);
	}
}

static void make_key(void)
{
	pthread_key_create(&key, thread_ends);
}

static CUresult own_id(uint64_t *id)
{
	struct object *ctx = current_context();
	CUstream stream;
	struct own *o;
	CUresult r;

	if (!ctx)
		return current_check();
	for (o = own; o; o = o->next)
		if (o->ctx == ctx && o->ctx_id == ctx->id &&
		    handle_id(CLASS_STREAM, o->stream, id) && *id == o->id)
			return CUDA_SUCCESS;
	r = cuStreamCreate(&stream, 0);
	if (r)
		return r;
	o = malloc(sizeof(*o));
	if (!o || !handle_id(CLASS_STREAM, stream, id)) {
		free(o);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*o = (struct own){ own, ctx, ctx->id, *id, stream };
	own = o;
	pthread_once(&once, make_key);
	pthread_setspecific(key, own);
	return CUDA_SUCCESS;
}

CUresult route_stream(struct route *to, CUstream stream, uint64_t *id)
{
	if (stream == CU_STREAM_PER_THREAD) {
		route_current(to);
		return own_id(id);
	}
	*id = 0;
	if (!stream || stream == CU_STREAM_LEGACY) {
		route_current(to);
		return current_check();
	}
	if (!route_handle(to, CLASS_STREAM, stream, id))
		return CUDA_ERROR_INVALID_HANDLE;
	return CUDA_SUCCESS;
}

bool same_context(const void *handle)
{
	const struct object *o = handle;
	const void *ctx = current_context();

	return ctx && object_parent(o) == ctx && !__atomic_load_n(&o->shared, __ATOMIC_RELAXED);
}

bool own_stream(CUstream stream)
{
	return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD ||
	       same_context(stream);
}

void stream_created(CUstream stream, unsigned int flags)
{
	__atomic_store_n(&((struct object *)stream)->alone, flags & CU_STREAM_NON_BLOCKING,
			 __ATOMIC_RELAXED);
}

/*
 * Small copies from host memory are on their way: in place of this thread what the server gets from
 * now on waits for them. The program sees no difference but by the clock.
 */
static bool send_barrier(struct peer *p, const struct route *to, uint64_t ctx, uint64_t stream)
{
	const struct q_barrier q = { .stream = stream };
	struct call c = { .op = OP_barrier, .fixed = &q, .bytes = sizeof(q), .to = *to };

	if (several || managed_any() || table_lacks(p, OP_barrier) || call_async(&c))
		return false;
	work_barred(&c, ctx, stream);
	return true;
}

/*
 * While several servers' streams wait for each other, or while pages of managed memory are closed
 * and opened, another call may have more to it than its stream's work.
 */
bool stream_settles(const struct route *to, CUstream stream, uint64_t id)
{
	const struct object *o = (uintptr_t)stream > (uintptr_t)CU_STREAM_PER_THREAD ?
					 (const struct object *)stream :
					 NULL,
			    *ctx = o ? object_context(o) : current_context();
	struct route there = *to;
	struct peer *p = route_peer(&there);
	enum work_left left;

	if (!ctx || captures_any() || call_asks(p) || __atomic_load_n(&p->late, __ATOMIC_RELAXED))
		return false;
	left = work_left(p, ctx->id, id, o && __atomic_load_n(&o->alone, __ATOMIC_RELAXED));
	if (left == WORK_LIGHT)
		return send_barrier(p, &there, ctx->id, id);
	if (left == WORK_NONE && (several || managed_any()))
		return false;
	if (left == WORK_NONE_SINCE && managed_any())
		managed_waited(); /* as a call that has waited */
	return left >= WORK_NONE;
}

bool event_is_past(const struct route *to, uint64_t id)
{
	struct route there = *to;
	struct peer *p = route_peer(&there);

	return !several && !managed_any() && !captures_any() && !call_asks(p) &&
	       work_is_past(p, id);
}

/* ------------------------------------------------------------------ questions */

/* *ctx: the stream's context, *id: a number of the stream that no other one has */
static CUresult stream_asked(CUstream stream, const struct object **ctx, unsigned long long *id)
{
	struct route to = { 0 };
	uint64_t number;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (!r)
		r = route_stream(&to, stream, &number);
	if (r)
		return r;
	*ctx = (uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD ?
		       current_context() :
		       object_context((const struct object *)stream);
	if (!*ctx)
		return CUDA_ERROR_INVALID_HANDLE;
	*id = unique_id(*ctx, number ? number : (*ctx)->id);
	return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
	const struct object *ctx;
	unsigned long long unique;
	CUresult r = stream_asked(stream, &ctx, &unique);

	if (r)
		return r;
	if (!id)
		return CUDA_ERROR_INVALID_VALUE;
	*id = unique;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *dev)
{
	const struct object *ctx;
	unsigned long long unique;
	CUresult r = stream_asked(stream, &ctx, &unique);

	if (r)
		return r;
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	*dev = ctx->dev;
	return CUDA_SUCCESS;
}

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long *id)
{
	return cuStreamGetId(OWN(stream), id);
}

CUresult cuStreamGetDevice_ptsz(CUstream stream, CUdevice *dev)
{
	return cuStreamGetDevice(OWN(stream), dev);
}
