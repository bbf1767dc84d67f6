// SPDX-License-Identifier: MIT
/*
 * Fences between servers: a stream of one server waits for an event or a copy of another server.
 * The stream gets a host function, and goes on when the client acknowledges that. For an
 * event, a stream of the client's own at the event's server waits for the event's present state,
 * and a thread waits for that stream. For a copy, a thread makes the copy.
 *
 * If the other server is gone, the fence is signalled. A later call to the waiting stream's server
 * that reports errors returns the error.
 */
#include <stdlib.h>

#include <remote/channel/signals.h>

#include "peer_copy.h"

/*
 * `lock` protects .next, .next_job, .came, .over and .invocation. The other members don't change
 * while the fence is in `fences`.
 */
struct cross_fence {
	struct cross_fence *next; /* in `fences` */
	struct cross_fence *next_job;
	uint64_t id;
	bool copies; /* for a copy, not for an event */
	bool came, over; /* the stream has come; the event or copy is done */
	struct peer *stream;
	uint64_t invocation;
	struct route route;
	uint64_t context, helper;
	CUdeviceptr dst, src;
	uint64_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static struct cross_fence *fences;
static struct cross_fence *first_job, **last_job = &first_job;
static unsigned int jobs, idle; /* fences that wait for a thread; threads without a fence */
static uint64_t last_id;

/* ------------------------------------------------------------------ fences; call with the lock */

static struct cross_fence *find_fence(uint64_t id)
{
	struct cross_fence *g;

	for (g = fences; g && g->id != id; g = g->next)
		;
	return g;
}

static void take_off(struct cross_fence *fence)
{
	struct cross_fence **g;

	for (g = &fences; *g != fence; g = &(*g)->next)
		;
	*g = fence->next;
	cross_fence_signalled(fence->stream);
}

/* ------------------------------------------------------------------ threads that serve fences */

static CUresult wait_for_event(const struct cross_fence *g)
{
	const struct q_cuStreamSynchronize q = { .stream = g->helper };
	struct call c = {
		.op = OP_cuStreamSynchronize, .fixed = &q, .bytes = sizeof(q), .to = g->route
	};
	CUresult r = call_sync(&c, 0);

	helper_put(g->route.ctx, g->context, g->helper);
	return r;
}

static void serve_fence(struct cross_fence *g)
{
	CUresult r = g->copies ? peer_copy_alone(g->dst, g->src, g->bytes) : wait_for_event(g);
	bool opens;

	call_late(g->stream, r);
	pthread_mutex_lock(&lock);
	g->over = true;
	opens = g->came;
	if (opens)
		take_off(g);
	pthread_mutex_unlock(&lock);
	if (opens) {
		call_acknowledge(g->stream, g->invocation);
		free(g);
	}
}

static void *main_loop(void *arg)
{
	struct cross_fence *g;

	cross_fence_serves();
	pthread_mutex_lock(&lock);
	for (;;) {
		idle++;
		while (!first_job)
			pthread_cond_wait(&change, &lock);
		idle--;
		jobs--;
		g = first_job;
		first_job = g->next_job;
		if (!first_job)
			last_job = &first_job;
		pthread_mutex_unlock(&lock);
		serve_fence(g);
		pthread_mutex_lock(&lock);
	}
	return NULL;
}

/*
 * Call with the lock. Each fence gets a thread that is idle or just starting. A fence must not wait
 * for a thread that serves another fence: that one may depend on it.
 */
static bool thread_for(struct cross_fence *g)
{
	pthread_t thread;

	if (jobs >= idle) {
		if (signals_thread(&thread, main_loop, NULL))
			return false;
		pthread_detach(thread);
	}
	jobs++;
	*last_job = g;
	last_job = &g->next_job;
	g->next_job = NULL;
	pthread_cond_signal(&change);
	return true;
}

/* an id without a fence of @p is acknowledged, too: its server waits for that */
void cross_fence_notified(struct peer *p, uint64_t id, uint64_t invocation)
{
	struct cross_fence *g;
	bool opens = true;

	pthread_mutex_lock(&lock);
	g = find_fence(id & ~CROSS_FENCE_BIT);
	if (g && (g->stream != p || g->came)) /* another server's, or a stream comes once */
		g = NULL;
	if (g && !(g->copies && !g->over)) {
		g->came = true;
		g->invocation = invocation;
		opens = g->over;
	} else if (g) {
		g->came = true;
		g->invocation = invocation;
		opens = !thread_for(g);
		if (opens)
			call_late(p, CUDA_ERROR_OUT_OF_MEMORY);
	}
	if (g && opens)
		take_off(g);
	pthread_mutex_unlock(&lock);
	if (opens) {
		call_acknowledge(p, invocation);
		free(g);
	}
}

/* ------------------------------------------------------------------ closing */

/* @otherwise: the stream captures, and a graph can't wait for another server */
static CUresult not_captured(CUstream stream, CUresult otherwise)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult r = captures_any() ? cuStreamIsCapturing(stream, &status) : CUDA_SUCCESS;

	return r || status == CU_STREAM_CAPTURE_STATUS_NONE ? r : otherwise;
}

/* As soon as the fence is in `fences`, other threads may signal and free it. */
static CUresult add_fence(struct route *to, const struct cross_fence *like, uint64_t stream)
{
	struct cross_fence *g = malloc(sizeof(*g));
	struct q_host_call q = { .stream = stream, .ordered = true };
	struct call c = { .op = OP_host_call, .fixed = &q, .bytes = sizeof(q), .to = *to };
	CUresult r;

	if (!g)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*g = *like;
	g->stream = route_peer(&c.to);
	if (__atomic_load_n(&g->stream->cross_fences, __ATOMIC_RELAXED))
		cross_fence_behind(g->stream);
	pthread_mutex_lock(&lock);
	cross_fence_pending(g->stream);
	g->id = ++last_id;
	q.id = CROSS_FENCE_BIT | g->id;
	g->next = fences;
	fences = g;
	pthread_mutex_unlock(&lock);
	r = call_sync(&c, 0);
	pthread_mutex_lock(&lock);
	g = find_fence(q.id & ~CROSS_FENCE_BIT);
	if (g && !r && !g->copies && !thread_for(g))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	if (g && g->copies && g->came)
		g = NULL; /* a thread has the fence, and frees it */
	if (g && r)
		take_off(g);
	pthread_mutex_unlock(&lock);
	if (g && r && g->came)
		call_acknowledge(g->stream, g->invocation);
	if (r)
		free(g);
	return r;
}

CUresult cross_fence_event(CUstream stream, CUevent event, unsigned int flags)
{
	struct q_cuStreamWaitEvent w = { 0 };
	struct call c = { .op = OP_cuStreamWaitEvent, .fixed = &w, .bytes = sizeof(w) };
	struct route to = { 0 };
	struct cross_fence g = { 0 };
	uint64_t id;
	CUresult r;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	r = not_captured(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	if (!r)
		r = cuEventQuery(event);
	if (r != CUDA_ERROR_NOT_READY)
		return r;
	r = route_stream(&to, stream, &id);
	if (r)
		return r;
	g.route.ctx = object_context(object_of(CLASS_EVENT, event));
	if (!g.route.ctx || !handle_id(CLASS_EVENT, event, &w.event))
		return CUDA_ERROR_INVALID_HANDLE;
	g.route.peer = object_peer(g.route.ctx);
	g.context = g.route.ctx->id;
	r = helper_take(&g.route, g.route.ctx, &g.helper);
	if (r)
		return r;
	w.stream = g.helper;
	c.to = g.route;
	r = call_sync(&c, 0);
	if (!r)
		r = add_fence(&to, &g, id);
	if (r)
		helper_drop(&g.route, g.helper);
	return r;
}

CUresult cross_fence_copy(CUstream stream, CUdeviceptr dst, CUdeviceptr src, uint64_t bytes)
{
	const struct cross_fence g = { .copies = true, .dst = dst, .src = src, .bytes = bytes };
	CUresult r = not_captured(stream, CUDA_ERROR_NOT_SUPPORTED);
	struct route to = { 0 };
	uint64_t id;

	if (r == CUDA_ERROR_NOT_SUPPORTED)
		return capture_refuse_servers();
	if (!r)
		r = route_stream(&to, stream, &id);
	return r ? r : add_fence(&to, &g, id);
}
