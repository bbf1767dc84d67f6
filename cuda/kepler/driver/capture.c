// SPDX-License-Identifier: MIT
/*
 * Capture: what is submitted to a stream becomes nodes of a graph. A capturing stream has tips: the
 * nodes that its next node depends on. Which calls a capture forbids, and their errors, are as seen
 * on a GPU (driver 580). graph.h says which locks guard it.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static struct capture *captures;
static unsigned int nr_captures; /* changed with `graphs`, read without, by __atomic */
static uint64_t last_id;
static __thread CUstreamCaptureMode own_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static bool any_capture(void)
{
	return __atomic_load_n(&nr_captures, __ATOMIC_ACQUIRE);
}

static struct capture *by_id(uint64_t id)
{
	struct capture *c;

	for (c = captures; c && c->id != id; c = c->next)
		;
	return c;
}

static void tips_free(struct node_list *l)
{
	free(l->at);
	*l = (struct node_list){ 0 };
}

static CUresult tips_add(struct node_list *to, const struct node_list *from)
{
	CUresult r = CUDA_SUCCESS;
	size_t i;

	for (i = 0; i < from->n && !r; i++)
		r = list_add(to, from->at[i]);
	return r;
}

static CUresult invalidate(struct capture *c, CUresult why)
{
	__atomic_store_n(&c->invalid, true, __ATOMIC_RELAXED);
	return why;
}

/* ------------------------------------------------------------------ what captures forbid */

/*
 * The legacy stream can't come after captured work: refuse it while a stream that it waits for
 * captures. @harmless: the captures stay valid.
 */
static CUresult check_legacy(CUcontext ctx, bool harmless)
{
	CUresult r = CUDA_SUCCESS;
	CUstream s;

	pthread_mutex_lock(&graphs);
	for (s = ctx->streams; s; s = s->next) {
		if (!s->capture || s->flags & CU_STREAM_NON_BLOCKING)
			continue;
		r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
		if (!harmless)
			invalidate(s->capture, r);
	}
	pthread_mutex_unlock(&graphs);
	return r;
}

CUresult capture_unsafe(void)
{
	CUresult r = CUDA_SUCCESS;
	struct capture *c;

	if (!any_capture() || own_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&graphs);
	for (c = captures; c; c = c->next)
		if (pthread_equal(c->thread, pthread_self()) ?
			    c->mode != CU_STREAM_CAPTURE_MODE_RELAXED :
			    c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
				    own_mode == CU_STREAM_CAPTURE_MODE_GLOBAL)
			r = invalidate(c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	pthread_mutex_unlock(&graphs);
	return r;
}

CUresult capture_context(CUcontext ctx)
{
	CUresult r = CUDA_SUCCESS;
	struct capture *c;

	if (!any_capture())
		return CUDA_SUCCESS;
	pthread_mutex_lock(&graphs);
	for (c = captures; c; c = c->next)
		if (c->ctx == ctx)
			r = invalidate(c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	pthread_mutex_unlock(&graphs);
	return r;
}

CUresult capture_refuse(CUstream s)
{
	CUresult r;

	pthread_mutex_lock(&graphs);
	r = invalidate(s->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	pthread_mutex_unlock(&graphs);
	return r;
}

CUresult ctx_enter_work(CUstream handle, CUcontext *ctx, CUstream *s)
{
	CUresult r = ctx_enter_stream(handle, ctx, s);

	if (r || !any_capture())
		return r;
	if (*s == &(*ctx)->null)
		r = check_legacy(*ctx, false);
	else if ((*s)->capture && __atomic_load_n(&(*s)->capture->invalid, __ATOMIC_RELAXED))
		r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (r)
		ctx_leave(*ctx);
	return r;
}

/*
 * Waiting for a stream that captures is an error, waiting for another one a potentially unsafe call
 * in CUDA's sense.
 */
CUresult ctx_enter_status(CUstream handle, CUcontext *ctx, CUstream *s)
{
	CUresult r = ctx_enter_stream(handle, ctx, s);

	if (r || !any_capture())
		return r;
	if (*s == &(*ctx)->null)
		r = check_legacy(*ctx, false);
	else if ((*s)->capture)
		r = capture_refuse(*s);
	if (!r)
		r = capture_unsafe();
	if (r)
		ctx_leave(*ctx);
	return r;
}

CUresult ctx_enter_unsafe(CUcontext *ctx)
{
	CUresult r = ctx_enter(ctx);

	if (r || !any_capture())
		return r;
	r = capture_unsafe();
	if (r)
		ctx_leave(*ctx);
	return r;
}

CUresult ctx_enter_asking(CUstream handle, CUcontext *ctx, CUstream *s)
{
	CUresult r = ctx_enter_stream(handle, ctx, s);

	if (r || *s != &(*ctx)->null || !any_capture())
		return r;
	r = check_legacy(*ctx, true);
	if (r)
		ctx_leave(*ctx);
	return r;
}

/* ------------------------------------------------------------------ nodes */

static CUresult add_node(CUstream s, struct graph_work *w)
{
	CUgraphNode node;
	CUresult r = graph_add(s->capture->graph, s->tips.at, s->tips.n, w, &node);

	if (r)
		return r;
	s->tips.n = 0;
	return list_add(&s->tips, node);
}

static CUresult capture_add(CUstream s, struct graph_work *w)
{
	CUresult r;

	pthread_mutex_lock(&graphs);
	r = add_node(s, w);
	pthread_mutex_unlock(&graphs);
	return r;
}

CUresult capture_kernel(CUstream s, const struct kernel_request *q)
{
	struct graph_work w;
	CUresult r = work_request(&w, q);

	return r ? r : capture_add(s, &w);
}

/* A copy of no bytes makes no node. Addresses are checked when the graph is launched. */
CUresult capture_copy(CUstream s, const CUDA_MEMCPY3D *c)
{
	struct graph_work w = { .type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = *c };

	return c->WidthInBytes && c->Height && c->Depth ? capture_add(s, &w) : CUDA_SUCCESS;
}

CUresult capture_set(CUstream s, const struct device_fill *f, size_t width, size_t height)
{
	struct graph_work w = { .type = CU_GRAPH_NODE_TYPE_MEMSET,
				.set = { .dst = f->dst,
					 .pitch = f->pitch,
					 .value = f->value,
					 .elementSize = f->unit,
					 .width = width,
					 .height = height } };

	return width && height ? capture_add(s, &w) : CUDA_SUCCESS;
}

CUresult capture_host(CUstream s, CUhostFn fn, void *data)
{
	struct graph_work w = { .type = CU_GRAPH_NODE_TYPE_HOST, .host = { fn, data } };

	return capture_add(s, &w);
}

/* ------------------------------------------------------------------ events */

void capture_forget(CUevent e)
{
	tips_free(&e->tips);
	__atomic_store_n(&e->capture, 0, __ATOMIC_RELEASE);
}

CUresult capture_of_event(CUevent e, bool harmless)
{
	struct capture *c;
	CUresult r = CUDA_ERROR_INVALID_VALUE;

	pthread_mutex_lock(&graphs);
	c = by_id(e->capture);
	if (c)
		r = harmless ? CUDA_ERROR_CAPTURED_EVENT : invalidate(c, CUDA_ERROR_CAPTURED_EVENT);
	pthread_mutex_unlock(&graphs);
	return r;
}

CUresult capture_record(CUstream s, CUevent e, bool external)
{
	struct graph_work w = { .type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = e };
	CUresult r;

	if (external)
		return capture_add(s, &w);
	pthread_mutex_lock(&graphs);
	capture_forget(e);
	r = tips_add(&e->tips, &s->tips);
	__atomic_store_n(&e->capture, s->capture->id, __ATOMIC_RELEASE);
	__atomic_store_n(&e->recorded, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&graphs);
	return r;
}

/* @s waits for @e of the capture @c. If @s does not capture yet it joins @c. */
static CUresult join(CUstream s, struct capture *c, CUevent e)
{
	if (c->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (s == &s->ctx->null)
		return invalidate(c, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	if (s->ctx != c->ctx)
		/* a graph belongs to one context here */
		return invalidate(c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (s->capture && s->capture != c) {
		invalidate(s->capture, CUDA_SUCCESS);
		return invalidate(c, CUDA_ERROR_STREAM_CAPTURE_MERGE);
	}
	s->capture = c;
	return tips_add(&s->tips, &e->tips);
}

/* The context of @s is locked. If that of @e is another, a thread may record @e meanwhile. */
static CUresult wait_locked(CUstream s, CUevent e, unsigned int flags, bool *captures)
{
	struct graph_work w = { .type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = e };
	uint64_t id = __atomic_load_n(&e->capture, __ATOMIC_ACQUIRE);
	struct capture *c = by_id(id);

	*captures = s->capture || id;
	if (s->capture && flags)
		return add_node(s, &w);
	if (c)
		return join(s, c, e);
	if (id)
		return CUDA_ERROR_INVALID_VALUE;
	return s->capture && __atomic_load_n(&e->recorded, __ATOMIC_ACQUIRE) ?
		       invalidate(s->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) :
		       CUDA_SUCCESS;
}

CUresult capture_wait(CUstream stream, CUevent event, unsigned int flags, bool *captures)
{
	CUcontext ctx;
	CUstream s;
	CUresult r;

	*captures = false;
	if (!any_capture() && !__atomic_load_n(&event->capture, __ATOMIC_ACQUIRE))
		return CUDA_SUCCESS;
	r = ctx_enter_work(stream, &ctx, &s);
	if (r)
		return r;
	pthread_mutex_lock(&graphs);
	r = wait_locked(s, event, flags, captures);
	pthread_mutex_unlock(&graphs);
	ctx_leave(ctx);
	return r;
}

/* ------------------------------------------------------------------ begin and end */

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode old = own_mode;
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!mode || (unsigned int)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	own_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

static CUresult begin_capture(CUcontext ctx, CUstream s, CUstreamCaptureMode mode)
{
	struct capture *c = calloc(1, sizeof(*c));
	CUgraph graph = c ? graph_new() : NULL;

	if (!graph) {
		free(c);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	graph->capturing = true;
	*c = (struct capture){ .id = ++last_id,
			       .graph = graph,
			       .ctx = ctx,
			       .origin = s,
			       .mode = mode,
			       .thread = pthread_self(),
			       .next = captures };
	captures = c;
	__atomic_add_fetch(&nr_captures, 1, __ATOMIC_RELEASE);
	s->capture = c;
	s->tips.n = 0;
	return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = (unsigned int)mode > CU_STREAM_CAPTURE_MODE_RELAXED ?
			     CUDA_ERROR_INVALID_VALUE :
			     ctx_enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	pthread_mutex_lock(&graphs);
	if (s == &ctx->null)
		r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	else if (s->capture)
		r = CUDA_ERROR_ILLEGAL_STATE;
	else
		r = begin_capture(ctx, s, mode);
	pthread_mutex_unlock(&graphs);
	ctx_leave(ctx);
	return r;
}

CUresult cuStreamBeginCapture(CUstream stream)
{
	return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

/* With the lock of its context, and `graphs`. */
static void end_capture(struct capture *c)
{
	struct capture **at;
	CUstream s;

	for (s = c->ctx->streams; s; s = s->next)
		if (s->capture == c) {
			s->capture = NULL;
			tips_free(&s->tips);
		}
	for (at = &captures; *at != c; at = &(*at)->next)
		;
	*at = c->next;
	__atomic_sub_fetch(&nr_captures, 1, __ATOMIC_RELEASE);
	free(c);
}

/* Mark the dependencies of marked nodes; true: a new one was marked. */
static bool mark(CUgraph graph)
{
	bool more = false;
	CUgraphNode node;
	size_t i;

	for (node = graph->last; node; node = node->prev)
		for (i = 0; node->seen && i < node->before.n; i++) {
			more |= !node->before.at[i]->seen;
			node->before.at[i]->seen = true;
		}
	return more;
}

/* whether the origin's tips come after those of all streams of the capture */
static bool joined(const struct capture *c)
{
	CUgraphNode node;
	CUstream s;
	size_t i;

	for (node = c->graph->first; node; node = node->next)
		node->seen = false;
	for (i = 0; i < c->origin->tips.n; i++)
		c->origin->tips.at[i]->seen = true;
	while (mark(c->graph))
		;
	for (s = c->ctx->streams; s; s = s->next)
		for (i = 0; s->capture == c && i < s->tips.n; i++)
			if (!s->tips.at[i]->seen)
				return false;
	return true;
}

static CUresult finish(CUstream s, CUgraph *graph)
{
	struct capture *c = s->capture;
	CUgraph made;
	CUresult r = CUDA_SUCCESS;

	*graph = NULL;
	if (!c)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (c->origin != s)
		return invalidate(c, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	if (c->invalid)
		r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
		 !pthread_equal(c->thread, pthread_self()))
		r = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	else if (!joined(c))
		r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	made = c->graph;
	end_capture(c);
	made->capturing = false;
	if (r)
		graph_free(made);
	else
		*graph = made;
	return r;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = graph ? ctx_enter_stream(stream, &ctx, &s) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	pthread_mutex_lock(&graphs);
	r = finish(s, graph);
	ctx_leave(ctx);
	graphs_leave();
	return r;
}

/*
 * A capture ends with its origin stream. The end of another stream invalidates it, unless all tips
 * are joined.
 */
void capture_drop(CUstream s)
{
	struct capture *c;
	CUgraph graph;

	pthread_mutex_lock(&graphs);
	c = s->capture;
	if (c && c->origin == s) {
		graph = c->graph;
		end_capture(c);
		graph_free(graph);
	} else if (c && !joined(c)) {
		invalidate(c, CUDA_SUCCESS);
	}
	tips_free(&s->tips);
	pthread_mutex_unlock(&graphs);
}
