// SPDX-License-Identifier: MIT
/*
 * Events and modules that graphs use. A library may read an event or a kernel's function again when
 * it works on a graph with it, also after the event was destroyed or the module unloaded: then it
 * reads freed memory. So the client's number ends at once, and the library's object ends with the
 * last graph that refers to it.
 */
#include <stdlib.h>

#include "server.h"

struct ref_object {
	struct server *s;
	struct ref_object *next;
	unsigned int class;
	void *what; /* the library's object; NULL: it has ended */
	uint64_t context; /* the object's */
	unsigned int refs; /* under `lock` */
	bool later; /* the client has ended the object while graphs refer to it */
	bool ended; /* the object has no number any more */
};

/* a graph or an executable graph refers to .what */
struct graph_ref {
	struct graph_ref *next;
	struct ref_object *what;
	bool own; /* the reference ends with the number of the graph */
};

/*
 * Protects .refs, as the library gives references back in threads of its own. The library must not
 * be called with it held: a call may run let_object_go().
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void refer_object(struct ref_object *k)
{
	pthread_mutex_lock(&lock);
	k->refs++;
	pthread_mutex_unlock(&lock);
}

/* runs in any thread */
static void let_object_go(void *object)
{
	struct ref_object *k = object;
	struct server *s = k->s;

	pthread_mutex_lock(&lock);
	if (!--k->refs)
		__atomic_store_n(&s->graph_refs.over, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

/* the entry of an object, but of a function that of its module, with which the function ends */
static struct entry *lasting(struct server *s, uint64_t id)
{
	struct entry *e = handle_entry(s, id);

	return e && KVGPU_REMOTE_CLASS(id) == CLASS_FUNCTION && e->parent ?
		       &s->handles.entries[e->parent] :
		       e;
}

static struct ref_object *ref_object_of(struct server *s, struct entry *e)
{
	struct ref_object *k = e->ref_object;

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	*k = (struct ref_object){ .s = s,
				  .class = KVGPU_REMOTE_CLASS(e->id),
				  .what = e->what,
				  .context = e->parent ? s->handles.entries[e->parent].id : 0 };
	k->next = s->graph_refs.objects;
	s->graph_refs.objects = k;
	e->ref_object = k;
	return k;
}

/*
 * The graph around the node that @graph belongs to. It lasts at least as long, and any library lets
 * it have references.
 */
static struct entry *outermost(struct server *s, uint64_t graph)
{
	struct entry *e = handle_entry(s, graph);

	while (e && e->moved)
		e = handle_entry(s, parent_of(s, parent_of(s, e->id)));
	return e;
}

CUresult graph_ref_add(struct server *s, uint64_t graph, uint64_t id)
{
	struct entry *g = outermost(s, graph), *e = lasting(s, id);
	bool own = KVGPU_REMOTE_CLASS(graph) == CLASS_EXEC;
	struct graph_ref *of;
	struct ref_object *k;
	CUresult r = CUDA_SUCCESS;

	if (!g || !e)
		return CUDA_SUCCESS; /* nothing to keep */
	k = ref_object_of(s, e);
	for (of = g->refs; of && of->what != k; of = of->next)
		;
	if (k && of)
		return CUDA_SUCCESS;
	of = k ? malloc(sizeof(*of)) : NULL;
	if (!of)
		return CUDA_ERROR_OUT_OF_MEMORY;
	refer_object(k);
	if (!own)
		r = graph_refers(s, g->what, let_object_go, k);
	if (r) {
		free(of);
		return r;
	}
	*of = (struct graph_ref){ g->refs, k, own };
	g->refs = of;
	return CUDA_SUCCESS;
}

CUresult capture_ref_add(struct server *s, uint64_t stream_id, CUstream stream, uint64_t id)
{
	struct captured c;
	uint64_t number;

	if (!s->captures.begun || capture_of(s, stream, &c) ||
	    c.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return CUDA_SUCCESS;
	number = handle_give(s, CLASS_GRAPH, c.graph, stream_id);
	if (!number)
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->captures.numbered = true;
	return graph_ref_add(s, number, id);
}

bool graph_refs_end(struct server *s, uint64_t id)
{
	struct entry *e = handle_entry(s, id);

	if (!e || !e->ref_object)
		return false;
	pthread_mutex_lock(&lock);
	e->ref_object->later = e->ref_object->refs;
	pthread_mutex_unlock(&lock);
	return e->ref_object->later;
}

void graph_refs_forget(struct server *s, struct entry *e)
{
	struct graph_ref *of;

	while ((of = e->refs)) {
		e->refs = of->next;
		if (of->own)
			let_object_go(of->what);
		free(of);
	}
	if (!e->ref_object)
		return;
	if (!e->ref_object->later)
		e->ref_object->what = NULL;
	e->ref_object->ended = true;
	e->ref_object = NULL;
	__atomic_store_n(&s->graph_refs.over, true, __ATOMIC_RELEASE);
}

void graph_refs_forget_context(struct server *s, uint64_t context)
{
	struct ref_object *k;

	for (k = s->graph_refs.objects; k; k = k->next)
		if (k->context == context)
			k->what = NULL;
}

/* A module's end takes time of the GPU: charge it, whichever frame came last. */
static void end_object(struct server *s, const struct ref_object *k)
{
	uint64_t before = s->current, since_ns;
	CUstreamCaptureMode mode;

	if (!k->what || enter_context(s, k->context))
		return;
	mode = capture_relax(s);
	if (k->class == CLASS_EVENT) {
		CALL(s, cuEventDestroy_v2, k->what);
	} else {
		since_ns = sched_beside(s);
		CALL(s, cuModuleUnload, k->what);
		sched_beside_ends(s, since_ns);
	}
	capture_restore(s, mode);
	enter_context(s, before);
}

void graph_refs_reap(struct server *s)
{
	struct ref_object **at, *k, *over = NULL;

	/* this runs after each frame, so look before the exchange, which takes longer */
	if (!__atomic_load_n(&s->graph_refs.over, __ATOMIC_RELAXED) ||
	    !__atomic_exchange_n(&s->graph_refs.over, false, __ATOMIC_ACQ_REL))
		return;
	pthread_mutex_lock(&lock);
	for (at = &s->graph_refs.objects; (k = *at);) {
		if (k->refs || !k->ended) {
			at = &k->next;
			continue;
		}
		*at = k->next;
		k->next = over;
		over = k;
	}
	pthread_mutex_unlock(&lock);
	while ((k = over)) {
		over = k->next;
		end_object(s, k);
		free(k);
	}
}

void graph_refs_free(struct server *s)
{
	struct ref_object *k;
	uint32_t i;

	for (i = 1; i < s->handles.nr_entries; i++)
		while (s->handles.entries[i].refs) {
			struct graph_ref *of = s->handles.entries[i].refs;

			s->handles.entries[i].refs = of->next;
			free(of);
		}
	while ((k = s->graph_refs.objects)) {
		s->graph_refs.objects = k->next;
		free(k);
	}
}

/* ------------------------------------------------------------------ calls that give or end them */

static uint64_t graph_of(struct server *s, CUgraphNode node)
{
	return parent_of(s, handle_known(s, CLASS_NODE, node));
}

static CUresult node_ref_add(struct server *s, CUgraphNode node, CUevent event)
{
	return graph_ref_add(s, graph_of(s, node), handle_known(s, CLASS_EVENT, event));
}

CUresult own_cuGraphAddEventRecordNode(struct server *s, CUgraphNode *node, CUgraph graph,
				       const CUgraphNode *dependencies, size_t n, CUevent event)
{
	CUresult r = graph_ref_add(s, handle_known(s, CLASS_GRAPH, graph),
				   handle_known(s, CLASS_EVENT, event));

	return r ? r : CALL(s, cuGraphAddEventRecordNode, node, graph, dependencies, n, event);
}

CUresult own_cuGraphAddEventWaitNode(struct server *s, CUgraphNode *node, CUgraph graph,
				     const CUgraphNode *dependencies, size_t n, CUevent event)
{
	CUresult r = graph_ref_add(s, handle_known(s, CLASS_GRAPH, graph),
				   handle_known(s, CLASS_EVENT, event));

	return r ? r : CALL(s, cuGraphAddEventWaitNode, node, graph, dependencies, n, event);
}

CUresult own_cuGraphEventRecordNodeSetEvent(struct server *s, CUgraphNode node, CUevent event)
{
	CUresult r = node_ref_add(s, node, event);

	return r ? r : CALL(s, cuGraphEventRecordNodeSetEvent, node, event);
}

CUresult own_cuGraphEventWaitNodeSetEvent(struct server *s, CUgraphNode node, CUevent event)
{
	CUresult r = node_ref_add(s, node, event);

	return r ? r : CALL(s, cuGraphEventWaitNodeSetEvent, node, event);
}

static CUresult exec_ref_add(struct server *s, CUgraphExec exec, CUevent event)
{
	return graph_ref_add(s, handle_known(s, CLASS_EXEC, exec),
			     handle_known(s, CLASS_EVENT, event));
}

CUresult own_cuGraphExecEventRecordNodeSetEvent(struct server *s, CUgraphExec exec,
						CUgraphNode node, CUevent event)
{
	CUresult r = exec_ref_add(s, exec, event);

	return r ? r : CALL(s, cuGraphExecEventRecordNodeSetEvent, exec, node, event);
}

CUresult own_cuGraphExecEventWaitNodeSetEvent(struct server *s, CUgraphExec exec, CUgraphNode node,
					      CUevent event)
{
	CUresult r = exec_ref_add(s, exec, event);

	return r ? r : CALL(s, cuGraphExecEventWaitNodeSetEvent, exec, node, event);
}

/* with flag "external" an event becomes a node of the capture's graph */
static CUresult captured_event(struct server *s, CUstream stream, CUevent event)
{
	return capture_ref_add(s, handle_known(s, CLASS_STREAM, stream), stream,
			       handle_known(s, CLASS_EVENT, event));
}

CUresult own_cuEventRecordWithFlags(struct server *s, CUevent event, CUstream stream,
				    unsigned int flags)
{
	CUresult r = flags ? captured_event(s, stream, event) : CUDA_SUCCESS;

	if (!r)
		r = CALL(s, cuEventRecordWithFlags, event, stream, flags);
	if (!r)
		event_recorded(s, event, stream);
	return r;
}

CUresult own_cuStreamWaitEvent(struct server *s, CUstream stream, CUevent event, unsigned int flags)
{
	CUresult r = flags ? captured_event(s, stream, event) : CUDA_SUCCESS;

	if (!r && held_by_event(s, event))
		return CUDA_SUCCESS;
	return r ? r : CALL(s, cuStreamWaitEvent, stream, event, flags);
}

CUresult own_cuLaunchGridAsync(struct server *s, CUfunction f, int width, int height,
			       CUstream stream)
{
	CUresult r = capture_ref_add(s, handle_known(s, CLASS_STREAM, stream), stream,
				     handle_known(s, CLASS_FUNCTION, f));

	return r ? r : CALL(s, cuLaunchGridAsync, f, width, height, stream);
}

CUresult own_cuEventDestroy_v2(struct server *s, CUevent event)
{
	return graph_refs_end(s, handle_known(s, CLASS_EVENT, event)) ?
		       CUDA_SUCCESS :
		       CALL(s, cuEventDestroy_v2, event);
}
