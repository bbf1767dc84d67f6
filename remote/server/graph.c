// SPDX-License-Identifier: MIT
/* Graphs and captures, and the device memory of executable graphs. */
#include <stdlib.h>

#include "server.h"

enum { LOG_MAX = 16 << 10 };

/* all nodes of @graph itself; the caller frees them. NULL: none, or an error */
static CUgraphNode *nodes_of(struct server *s, CUgraph graph, size_t *n)
{
	CUgraphNode *nodes;

	*n = 0;
	if (CALL(s, cuGraphGetNodes, graph, NULL, n) || !*n)
		return NULL;
	nodes = calloc(*n, sizeof(*nodes));
	if (nodes && CALL(s, cuGraphGetNodes, graph, nodes, n)) {
		free(nodes);
		nodes = NULL;
	}
	return nodes;
}

/*
 * The number of a node that the library found in graph @id, or in a graph below that one; or 0. A
 * node of the graph itself gets a number if it has none. The parts of a copy that is a child graph
 * have the copy's number.
 */
static uint64_t number_of_found(struct server *s, CUgraphNode node, uint64_t id)
{
	uint64_t number = handle_known(s, CLASS_NODE, node);
	struct entry *e = handle_entry(s, id);
	CUgraphNode *nodes;
	size_t n, i;

	if (number || !node || !e)
		return number;
	nodes = nodes_of(s, e->what, &n);
	for (i = 0; nodes && i < n && !number; i++)
		if (nodes[i] == node || is_part_of(s, nodes[i], node))
			number = handle_give(s, CLASS_NODE, nodes[i], id);
	free(nodes);
	return number;
}

/* A node of a child graph may have no number: it is not in the clone itself. */
CUresult own_cuGraphNodeFindInClone(struct server *s, CUgraphNode *node, CUgraphNode original,
				    CUgraph clone)
{
	CUresult r = CALL(s, cuGraphNodeFindInClone, node, original, clone);

	return r || number_of_found(s, *node, handle_known(s, CLASS_GRAPH, clone)) ?
		       r :
		       CUDA_ERROR_INVALID_VALUE;
}

static struct entry *entry_of(struct server *s, CUgraph graph)
{
	return handle_entry(s, handle_known(s, CLASS_GRAPH, graph));
}

/* NVIDIA's library would destroy a child graph that its node still has, or a capture's. */
CUresult own_cuGraphDestroy(struct server *s, CUgraph graph)
{
	return parent_of(s, handle_known(s, CLASS_GRAPH, graph)) ? CUDA_ERROR_INVALID_VALUE :
								   CALL(s, cuGraphDestroy, graph);
}

/* whether graph @id is graph @above, or belongs to a node below that */
static bool lies_below(struct server *s, uint64_t id, uint64_t above)
{
	while (id && id != above)
		id = parent_of(s, id);
	return id;
}

CUresult frame_child_node(struct server *s, const struct q_child_node *q,
			  struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	CUgraphNode *dependencies = list_open(s, in, CLASS_NODE, q->dependencies), made = NULL;
	struct a_child_node *a = kvgpu_remote_put(out, sizeof(*a));
	CUgraphNodeParams p = { .type = CU_GRAPH_NODE_TYPE_GRAPH,
				.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE };
	void *graph, *child;
	CUresult r;

	if (!a || !dependencies || !handle_find(s, CLASS_GRAPH, q->graph, &graph) ||
	    !handle_find(s, CLASS_GRAPH, q->child, &child))
		return CUDA_ERROR_INVALID_HANDLE;
	/* a node or a capture has it, or it would have itself */
	if (parent_of(s, q->child) || handle_entry(s, q->child)->filled ||
	    lies_below(s, q->graph, q->child))
		return CUDA_ERROR_INVALID_VALUE;
	p.graph.graph = child;
	r = CALL(s, cuGraphAddNode_v2, &made, graph, dependencies, NULL, q->dependencies, &p);
	if (r)
		return r;
	a->node = handle_give(s, CLASS_NODE, made, q->graph);
	handle_hang(s, q->child, a->node);
	handle_entry(s, q->child)->moved = true;
	return a->node ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* No two graphs' conditions are the same, though the library may have the same value for both. */
static const void *condition_of(uint64_t graph, CUgraphConditionalHandle handle)
{
	return (const void *)(uintptr_t)(handle ^ graph * 0x9e3779b97f4a7c15ull);
}

/* Nobody knows what a graph takes of the GPU that decides by itself what to run. */
CUresult own_cuGraphConditionalHandleCreate(struct server *s, CUgraphConditionalHandle *handle,
					    CUgraph graph, CUcontext ctx, unsigned int value,
					    unsigned int flags)
{
	uint64_t id = handle_known(s, CLASS_GRAPH, graph);
	CUresult r;

	if (s->options.memory)
		return REFUSE("a graph with conditions",
			      "the server's key memory bounds this program, and nobody knows what "
			      "such a graph takes of it; for JAX set "
			      "XLA_FLAGS=--xla_gpu_enable_command_buffer=");
	if (!handle_room(s))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuGraphConditionalHandleCreate, handle, graph, ctx, value, flags);
	if (!r)
		handle_give(s, CLASS_CONDITION, condition_of(id, *handle), id);
	return r;
}

/* A condition is of the node's graph, or of a graph above that one. */
static bool may_decide(struct server *s, CUgraphConditionalHandle handle, uint64_t id)
{
	while (id && !handle_known(s, CLASS_CONDITION, condition_of(id, handle)))
		id = parent_of(s, id);
	return id;
}

CUresult frame_condition_node(struct server *s, const struct q_condition_node *q,
			      struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	CUgraphNode *dependencies = list_open(s, in, CLASS_NODE, q->dependencies), made = NULL;
	struct a_condition_node *a = kvgpu_remote_put(out, sizeof(*a));
	CUgraphNodeParams p = { .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
				.conditional = {
					.handle = q->handle, .type = q->type, .size = q->size } };
	void *graph, *ctx;
	struct entry *body;
	uint32_t i;
	CUresult r;

	if (!a || !dependencies || !handle_find(s, CLASS_GRAPH, q->graph, &graph) ||
	    !handle_find(s, CLASS_CONTEXT, q->ctx, &ctx))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!may_decide(s, q->handle, q->graph) || q->size > KVGPU_REMOTE_LIST_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	p.conditional.ctx = ctx;
	r = CALL(s, cuGraphAddNode_v2, &made, graph, dependencies, NULL, q->dependencies, &p);
	if (r)
		return r;
	a->node = handle_give(s, CLASS_NODE, made, q->graph);
	if (!a->node || !p.conditional.phGraph_out ||
	    !list_close(s, out, CLASS_GRAPH, p.conditional.phGraph_out, q->size, a->node))
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (i = 0; i < q->size; i++) {
		body = entry_of(s, p.conditional.phGraph_out[i]);
		if (body)
			body->moved = true;
	}
	return CUDA_SUCCESS;
}

CUresult frame_capture_info(struct server *s, const struct q_capture_info *q,
			    struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_capture_info *a = kvgpu_remote_put(out, sizeof(*a));
	struct captured c;
	CUstream stream;
	CUresult r;

	if (!a || !stream_find(s, q->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	r = capture_of(s, stream, &c);
	if (r)
		return r;
	a->id = c.id;
	a->status = c.status;
	a->graph = handle_give(s, CLASS_GRAPH, c.graph, q->stream);
	s->captures.numbered = true;
	a->nodes = c.n;
	a->edges = !!c.edges;
	return list_close(s, out, CLASS_NODE, c.nodes, c.n, a->graph) &&
			       (!c.edges ||
				kvgpu_remote_put_bytes(out, c.edges, c.n * sizeof(*c.edges))) ?
		       CUDA_SUCCESS :
		       CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult own_cuStreamBeginCapture(struct server *s, CUstream stream)
{
	CUresult r = CALL(s, cuStreamBeginCapture, stream);

	s->captures.begun += !r;
	return r;
}

CUresult own_cuStreamBeginCapture_v2(struct server *s, CUstream stream, CUstreamCaptureMode mode)
{
	CUresult r = CALL(s, cuStreamBeginCapture_v2, stream, mode);

	s->captures.begun += !r;
	return r;
}

CUresult own_cuStreamBeginCaptureToGraph(struct server *s, CUstream stream, CUgraph graph,
					 const CUgraphNode *dependencies,
					 const CUgraphEdgeData *edges, size_t n,
					 CUstreamCaptureMode mode)
{
	CUresult r =
		CALL(s, cuStreamBeginCaptureToGraph, stream, graph, dependencies, edges, n, mode);
	struct entry *e = r ? NULL : entry_of(s, graph);

	s->captures.begun += !r;
	if (e)
		e->filled = true;
	return r;
}

/*
 * After a call for another stream than the one that began the capture, the capture may go on.
 * @graph NULL: the client knows which graph is filled.
 */
CUresult own_cuStreamEndCapture(struct server *s, CUstream stream, CUgraph *graph)
{
	bool captured = not_capturing(s, stream) != CUDA_SUCCESS;
	struct captured c = { 0 };
	struct entry *e;
	CUresult r;

	if (!graph)
		capture_of(s, stream, &c);
	r = CALL(s, cuStreamEndCapture, stream, graph);
	e = r ? NULL : entry_of(s, graph ? *graph : c.graph);

	if (captured && !not_capturing(s, stream)) {
		sched_capture_ended(s);
		s->captures.begun -= !!s->captures.begun;
	}
	if (r)
		captures_forget(s);
	if (e)
		e->filled = false;
	/* it may have been filled as a child graph, which remains its node's */
	if (e && KVGPU_REMOTE_CLASS(parent_of(s, e->id)) == CLASS_STREAM)
		handle_free(s, e->id);
	return r;
}

/*
 * Device memory of an executable graph: NVIDIA's library on an H100 takes 112 KiB for each branch
 * that can run beside others, whatever its nodes are, and up to 3 KiB for each further node.
 * DEPTH_MAX: of graphs in graphs.
 */
enum { BRANCH_TAKES = 128 << 10, NODE_TAKES = 4 << 10, DEPTH_MAX = 128 };

static int by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/*
 * The branches that begin at nodes with dependents: the first dependent of a node goes on with the
 * node's branch, each further one begins a branch.
 */
static bool count_edges(struct server *s, CUgraph graph, uint64_t *branches)
{
	CUgraphEdgeData *data;
	CUgraphNode *from, *to;
	size_t n = 0, i;
	bool fine;

	if (CALL(s, cuGraphGetEdges, graph, NULL, NULL, &n))
		return false;
	if (!n)
		return true;
	from = calloc(n, sizeof(*from));
	to = calloc(n, sizeof(*to));
	data = calloc(n, sizeof(*data));
	/* where edges have data, NVIDIA's library answers the second form alone */
	fine = from && to && data &&
	       (!CALL(s, cuGraphGetEdges, graph, from, to, &n) ||
		!CALL(s, cuGraphGetEdges_v2, graph, from, to, data, &n));
	if (fine) {
		qsort(from, n, sizeof(*from), by_address);
		for (i = 1; i < n; i++)
			*branches += from[i] == from[i - 1];
	}
	free(from);
	free(to);
	free(data);
	return fine;
}

/* add what @graph takes, with its child graphs; false: an error */
static bool add_takes(struct server *s, CUgraph graph, unsigned int depth, uint64_t *bytes)
{
	CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
	size_t n, roots = 0, i;
	uint64_t branches;
	CUgraphNode *nodes;
	CUgraph child;
	bool fine;

	if (depth > DEPTH_MAX || CALL(s, cuGraphGetRootNodes, graph, NULL, &roots))
		return false;
	branches = roots;
	nodes = nodes_of(s, graph, &n);
	fine = (nodes || !n) && count_edges(s, graph, &branches);
	for (i = 0; fine && nodes && i < n; i++) {
		fine = !CALL(s, cuGraphNodeGetType, nodes[i], &type);
		if (fine && type == CU_GRAPH_NODE_TYPE_GRAPH)
			fine = !CALL(s, cuGraphChildGraphNodeGetGraph, nodes[i], &child) &&
			       add_takes(s, child, depth + 1, bytes);
	}
	free(nodes);
	*bytes += branches * BRANCH_TAKES + n * NODE_TAKES;
	return fine;
}

/* take an executable graph's memory from the quota, if there is one; *bytes: how much */
static CUresult take_for_exec(struct server *s, CUgraph graph, uint64_t *bytes)
{
	*bytes = 0;
	return !s->options.memory || (add_takes(s, graph, 0, bytes) && quota_take(s, *bytes)) ?
		       CUDA_SUCCESS :
		       CUDA_ERROR_OUT_OF_MEMORY;
}

static uint64_t charge_exec(struct server *s, CUgraphExec exec, uint64_t bytes)
{
	uint64_t id = handle_give(s, CLASS_EXEC, exec, 0);
	struct entry *e = handle_entry(s, id);

	if (e)
		e->charged = bytes;
	else
		quota_give(s, bytes);
	return id;
}

static CUresult instantiate(struct server *s, const struct q_instantiate *q, CUgraph graph,
			    CUgraphExec *exec, CUDA_GRAPH_INSTANTIATE_PARAMS *p, char *log,
			    uint32_t room)
{
	CUresult r;

	if (q->version == 1)
		return CALL(s, cuGraphInstantiate, exec, graph, &p->hErrNode_out, room ? log : NULL,
			    room);
	if (q->version == 2)
		return CALL(s, cuGraphInstantiate_v2, exec, graph, &p->hErrNode_out,
			    room ? log : NULL, room);
	r = CALL(s, cuGraphInstantiateWithParams, exec, graph, p);
	return r == CUDA_ERROR_NOT_SUPPORTED ?
		       CALL(s, cuGraphInstantiateWithFlags, exec, graph, p->flags) :
		       r;
}

CUresult frame_instantiate(struct server *s, const struct q_instantiate *q,
			   struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	uint32_t room = q->log_bytes < LOG_MAX ? q->log_bytes : LOG_MAX;
	struct a_instantiate *a = kvgpu_remote_put(out, sizeof(*a));
	CUDA_GRAPH_INSTANTIATE_PARAMS p = { .flags = q->flags };
	char *log = frame_scratch(s, room + 1, 1);
	CUgraphExec exec = NULL;
	uint64_t bytes;
	void *graph;
	CUresult r;

	if (!a || !log)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!handle_find(s, CLASS_GRAPH, q->graph, &graph))
		return CUDA_ERROR_INVALID_HANDLE;
	if (handle_entry(s, q->graph)->moved)
		return CUDA_ERROR_INVALID_VALUE;
	r = take_for_exec(s, graph, &bytes);
	if (r)
		return r;
	r = instantiate(s, q, graph, &exec, &p, log, room);
	a->exec = charge_exec(s, r ? NULL : exec, bytes);
	a->bad = number_of_found(s, p.hErrNode_out, q->graph);
	a->result = p.result_out;
	a->log_used = strnlen(log, room);
	return kvgpu_remote_put_bytes(out, log, a->log_used) && (r || a->exec) ?
		       r :
		       CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult frame_update(struct server *s, const struct q_update *q, struct kvgpu_remote_cursor *in,
		      struct kvgpu_remote_reply *out)
{
	struct a_update *a = kvgpu_remote_put(out, sizeof(*a));
	CUgraphExecUpdateResultInfo info = { .result = CU_GRAPH_EXEC_UPDATE_SUCCESS };
	void *exec, *graph;
	CUresult r;

	if (!a || !handle_find(s, CLASS_EXEC, q->exec, &exec) ||
	    !handle_find(s, CLASS_GRAPH, q->graph, &graph))
		return CUDA_ERROR_INVALID_HANDLE;
	if (handle_entry(s, q->graph)->moved)
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuGraphExecUpdate_v2, exec, graph, &info);
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		r = CALL(s, cuGraphExecUpdate, exec, graph, &info.errorNode, &info.result);
	a->bad = number_of_found(s, info.errorNode, q->graph);
	a->from = number_of_found(s, info.errorFromNode, q->graph);
	a->what = info.result;
	return r ? r : switched_again(s, q->exec);
}

/* the library says what is wrong with NULL */
CUresult own_cuGraphLaunch(struct server *s, CUgraphExec exec, CUstream stream)
{
	struct entry *e = handle_entry(s, handle_known(s, CLASS_EXEC, exec));
	bool first = e && !e->launched;
	CUresult r;

	if (first)
		take_begin(s);
	r = CALL(s, cuGraphLaunch, exec, stream);
	if (first)
		take_ends_launch(s, e, r);
	return r;
}
