// SPDX-License-Identifier: MIT
/*
 * Functions of the client that streams and graphs call. The library calls a function of this file,
 * in a thread of the library's own. The function tells the client, and waits until the client's
 * function has returned, or the client is gone.
 */
#include <stdlib.h>

#include "server.h"

struct hosted {
	struct server *s;
	uint64_t id; /* the client's number of the function */
	/* freed after its call; what a graph may have stays until the process ends */
	bool once;
	struct hosted *next; /* next in s->hosts.kept */
};

struct hosted *hosted_new(struct server *s, uint64_t id, bool once)
{
	struct hosted *h = malloc(sizeof(*h));

	if (!h)
		return NULL;
	*h = (struct hosted){ s, id, once, NULL };
	if (!once) {
		h->next = s->hosts.kept;
		s->hosts.kept = h;
	}
	return h;
}

/* free the newest one, which the library has not taken */
void hosted_free(struct hosted *h)
{
	if (!h->once)
		h->s->hosts.kept = h->next;
	free(h);
}

void hosted_free_all(struct server *s)
{
	while (s->hosts.kept) {
		struct hosted *h = s->hosts.kept;

		s->hosts.kept = h->next;
		free(h);
	}
}

static void call_hosted(struct hosted *h, CUresult status)
{
	struct kvgpu_remote_notification notification = { .kind = KVGPU_REMOTE_NOTIFY_CALL,
							  .value = status,
							  .id = h->id };
	uint64_t invocation = __atomic_add_fetch(&h->s->invocations, 1, __ATOMIC_RELAXED);

	kvgpu_remote_call(h->s->port, &notification, invocation);
	if (h->once)
		free(h);
}

void hosted_run(void *hosted)
{
	call_hosted(hosted, CUDA_SUCCESS);
}

static void run_with_status(CUstream stream, CUresult status, void *hosted)
{
	call_hosted(hosted, status);
}

/* ------------------------------------------------------------------ order of functions */

/*
 * CUDA calls functions of independent streams in any order, perhaps one at a time. With several
 * servers a client's function may wait, by way of another server, for a function that was submitted
 * here before. So a stream with a new function waits for the function before, whatever the stream
 * of that was.
 */
static void come_after(struct server *s, CUstream stream)
{
	if (s->hosts.ordered)
		CALL(s, cuStreamWaitEvent, stream, s->hosts.ordered, 0);
}

/* record an event behind the function that was just submitted, in its context, which is current */
static void come_before(struct server *s, CUstream stream)
{
	CUevent event = s->hosts.ordered;
	bool other = !event || s->hosts.ordered_in != s->current;

	if (other && event_take(s, &event))
		return;
	if (CALL(s, cuEventRecord, event, stream)) {
		if (other)
			event_put(s, s->current, event);
		return;
	}
	if (other && s->hosts.ordered)
		CALL(s, cuEventDestroy_v2, s->hosts.ordered);
	s->hosts.ordered = event;
	s->hosts.ordered_in = s->current;
}

void ordered_forget(struct server *s, uint64_t context)
{
	if (s->hosts.ordered_in == context)
		s->hosts.ordered = NULL;
}

static CUresult submit(struct server *s, CUstream stream, struct hosted *h, bool with_status)
{
	return with_status ? CALL(s, cuStreamAddCallback, stream, run_with_status, h, 0) :
			     CALL(s, cuLaunchHostFunc, stream, hosted_run, h);
}

static CUresult submit_in_order(struct server *s, uint64_t id, CUstream stream, struct hosted *h,
				bool with_status)
{
	const uint64_t before = s->current, its = parent_of(s, id);
	CUstreamCaptureMode mode;
	CUresult r;

	if (its)
		enter_context(s, its);
	mode = capture_relax(s);
	come_after(s, stream);
	r = submit(s, stream, h, with_status);
	if (!r)
		come_before(s, stream);
	capture_restore(s, mode);
	enter_context(s, before);
	return r;
}

static CUresult call_by_stream(struct server *s, const struct q_host_call *q)
{
	struct hosted *h;
	CUstream stream;
	bool once;
	CUresult r;

	if (!stream_find(s, q->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	once = !not_capturing(s, stream);
	h = hosted_new(s, q->id, once);
	if (!h)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = once && q->ordered ? submit_in_order(s, q->stream, stream, h, q->with_status) :
				 submit(s, stream, h, q->with_status);
	if (r)
		hosted_free(h);
	return r;
}

/* A client that has not waited for the answer may wait for its function: it is told. */
CUresult frame_host_call(struct server *s, const struct q_host_call *q,
			 struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct kvgpu_remote_notification h = { .kind = KVGPU_REMOTE_NOTIFY_REFUSED, .id = q->id };
	const uint64_t none = 0;
	CUresult r = call_by_stream(s, q);

	if (r && !s->frame.head.completion) {
		h.value = r;
		kvgpu_remote_notify(s->port, &h, &none, sizeof(none));
	}
	return r;
}

CUresult frame_host_node(struct server *s, const struct q_host_node *q,
			 struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	CUgraphNode *dependencies = list_open(s, in, CLASS_NODE, q->dependencies), made = NULL;
	struct a_host_node *a = kvgpu_remote_put(out, sizeof(*a));
	void *graph = NULL, *node = NULL, *exec = NULL;
	CUDA_HOST_NODE_PARAMS p = { .fn = hosted_run };
	struct hosted *h;
	CUresult r;

	if (!a || !dependencies || (q->graph && !handle_find(s, CLASS_GRAPH, q->graph, &graph)) ||
	    (q->node && !handle_find(s, CLASS_NODE, q->node, &node)) ||
	    (q->exec && !handle_find(s, CLASS_EXEC, q->exec, &exec)))
		return CUDA_ERROR_INVALID_HANDLE;
	h = hosted_new(s, q->id, false);
	if (!h)
		return CUDA_ERROR_OUT_OF_MEMORY;
	p.userData = h;
	if (exec)
		r = CALL(s, cuGraphExecHostNodeSetParams, exec, node, &p);
	else if (node)
		r = CALL(s, cuGraphHostNodeSetParams, node, &p);
	else
		r = CALL(s, cuGraphAddHostNode, &made, graph, dependencies, q->dependencies, &p);
	if (r) {
		hosted_free(h);
		return r;
	}
	a->node = made ? handle_give(s, CLASS_NODE, made, q->graph) : 0;
	return made && !a->node ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
