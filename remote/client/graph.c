// SPDX-License-Identifier: MIT
/*
 * Graphs: nodes whose parameters are the program's, and calls whose answers have more than a
 * result.
 */
#include <stdlib.h>

#include "client.h"

CUresult graph_enter(struct route *to, bool given, unsigned int class, const void *handle,
		     uint64_t *id)
{
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!given)
		return CUDA_ERROR_INVALID_VALUE;
	return route_handle(to, class, handle, id) ? CUDA_SUCCESS : wrong_graph(handle);
}

CUresult exec_enter(struct route *to, bool given, CUgraphExec exec, uint64_t *exec_id,
		    CUgraphNode node, uint64_t *id)
{
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!given)
		return CUDA_ERROR_INVALID_VALUE;
	if (route_handle(to, CLASS_EXEC, exec, exec_id) && route_handle(to, CLASS_NODE, node, id))
		return CUDA_SUCCESS;
	return wrong_graph(exec && node ? exec : NULL);
}

/* atomic: a capture has taken memory, whose graph can't be launched twice without a free between */
static bool allocates;

void graph_allocates(void)
{
	__atomic_store_n(&allocates, true, __ATOMIC_RELAXED);
}

bool graphs_allocate(void)
{
	return __atomic_load_n(&allocates, __ATOMIC_RELAXED);
}

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

/* ------------------------------------------------------------------ kernels */

static CUresult kernel_node(struct q_kernel_node *q, struct call *c,
			    const CUDA_KERNEL_NODE_PARAMS *p)
{
	CUfunction function = p->func;
	const struct function *f;
	uint8_t *packed;
	CUresult r = function_here(&function, NULL);

	if (r)
		return r;
	f = function_of(function);
	if (!f || !route_handle(&c->to, CLASS_FUNCTION, function, &q->function))
		return CUDA_ERROR_INVALID_HANDLE;
	packed = malloc(f->bytes + 4352);
	if (!packed)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->owned[1] = packed;
	r = parameters_pack(f, p->kernelParams, p->extra, packed, &q->bytes);
	if (r)
		return r;
	memcpy(q->grid, (uint32_t[]){ p->gridDimX, p->gridDimY, p->gridDimZ }, sizeof(q->grid));
	memcpy(q->block, (uint32_t[]){ p->blockDimX, p->blockDimY, p->blockDimZ },
	       sizeof(q->block));
	q->shared = p->sharedMemBytes;
	kernel_uses(route_peer(&c->to), packed, q->bytes);
	return call_bytes(c, packed, q->bytes);
}

/* dependencies first, then parameters: the server reads them in that order */
static CUresult ask_kernel_node(struct q_kernel_node *q, struct call *c,
				const CUDA_KERNEL_NODE_PARAMS *p, const CUgraphNode *dependencies)
{
	const void *const *list = (const void *const *)dependencies;
	CUresult r = call_handles(c, CLASS_NODE, list, q->dependencies);

	if (!r)
		r = kernel_node(q, c, p);
	if (!r)
		r = call_sync(c, sizeof(struct a_kernel_node));
	call_end(c);
	if (!r)
		cache_invalidate(CACHE_GRAPHS);
	return r;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			      size_t n, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct q_kernel_node q = { .dependencies = n };
	struct call c = { .op = OP_kernel_node, .fixed = &q, .bytes = sizeof(q) };
	void *made;
	CUresult r = graph_enter(&c.to, node && p, CLASS_GRAPH, graph, &q.graph);

	if (r)
		return r;
	r = ask_kernel_node(&q, &c, p, dependencies);
	if (r)
		return r;
	if (!answer_handle(&made, &c, CLASS_NODE, ((const struct a_kernel_node *)c.answer)->node,
			   graph, false))
		return CUDA_ERROR_UNKNOWN;
	*node = made;
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct q_kernel_node q = { 0 };
	struct call c = { .op = OP_kernel_node, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = graph_enter(&c.to, p, CLASS_NODE, node, &q.node);

	return r ? r : ask_kernel_node(&q, &c, p, NULL);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct q_kernel_node q = { 0 };
	struct call c = { .op = OP_kernel_node, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = exec_enter(&c.to, p, exec, &q.exec, node, &q.node);

	if (r)
		return r;
	r = kernel_node(&q, &c, p);
	static_assert(sizeof(q) <= TRIED_MAX, "the parameters are behind it");
	if (!r)
		r = call_tried(&c, sizeof(struct a_kernel_node), &q, sizeof(q));
	call_end(&c);
	return r;
}

/* the parameters for the program: pointers, then what they point at; they belong to the node */
static CUresult show_kernel_node(CUgraphNode node, struct call *c,
				 const struct a_kernel_node_get *a, CUDA_KERNEL_NODE_PARAMS *p)
{
	const struct function *f = function_of(p->func);
	void **params;
	uint8_t *bytes;
	uint32_t i;

	if (!f || !f->layout_known || !a->bytes)
		return CUDA_SUCCESS;
	if (a->bytes != f->bytes)
		return CUDA_ERROR_UNKNOWN;
	params = malloc(f->parameters * sizeof(*params) + a->bytes);
	if (!params)
		return CUDA_ERROR_OUT_OF_MEMORY;
	bytes = (uint8_t *)(params + f->parameters);
	if (!answer_bytes(c, bytes, a->bytes)) {
		free(params);
		return CUDA_ERROR_UNKNOWN;
	}
	for (i = 0; i < f->parameters; i++)
		params[i] = bytes + f->parameter[i].offset;
	p->kernelParams = params;
	return object_keep(node, CLASS_NODE, params, false) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
	struct q_kernel_node_get q = { 0 };
	struct call c = { .op = OP_kernel_node_get, .fixed = &q, .bytes = sizeof(q) };
	const struct a_kernel_node_get *a;
	void *function;
	CUresult r = graph_enter(&c.to, p, CLASS_NODE, node, &q.node);

	if (r)
		return r;
	r = call_sync(&c, sizeof(*a));
	if (r)
		return r;
	a = (const struct a_kernel_node_get *)c.answer;
	if (!answer_handle(&function, &c, CLASS_FUNCTION, a->function, NULL, false))
		return CUDA_ERROR_UNKNOWN;
	*p = (CUDA_KERNEL_NODE_PARAMS){ .func = function,
					.gridDimX = a->grid[0],
					.gridDimY = a->grid[1],
					.gridDimZ = a->grid[2],
					.blockDimX = a->block[0],
					.blockDimY = a->block[1],
					.blockDimZ = a->block[2],
					.sharedMemBytes = a->shared };
	return show_kernel_node(node, &c, a, p);
}

/* -------------------------------------- host functions: .more of the node has the number */

static CUresult host_node(struct q_host_node *q, struct call *c, const CUDA_HOST_NODE_PARAMS *p)
{
	CUresult r;

	if (p->fn)
		q->id = host_function(route_peer(&c->to), p->fn, NULL, NULL, p->userData, true);
	if (!q->id) {
		call_end(c);
		return p->fn ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
	}
	r = call_sync(c, sizeof(struct a_host_node));
	if (r)
		host_function_drop(q->id);
	else if (!q->exec)
		cache_invalidate(CACHE_GRAPHS);
	return r;
}

static CUresult remember_node(CUgraphNode node, uint64_t id)
{
	uint64_t *known = malloc(sizeof(*known));

	if (!known)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*known = id;
	return object_keep(node, CLASS_NODE, known, false) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			    size_t n, const CUDA_HOST_NODE_PARAMS *p)
{
	struct q_host_node q = { .dependencies = n };
	struct call c = { .op = OP_host_node, .fixed = &q, .bytes = sizeof(q) };
	void *made;
	CUresult r = graph_enter(&c.to, node && p, CLASS_GRAPH, graph, &q.graph);

	if (r)
		return r;
	r = call_handles(&c, CLASS_NODE, (const void *const *)dependencies, n);
	if (r) {
		call_end(&c);
		return r;
	}
	r = host_node(&q, &c, p);
	if (r)
		return r;
	if (!answer_handle(&made, &c, CLASS_NODE, ((const struct a_host_node *)c.answer)->node,
			   graph, false))
		return CUDA_ERROR_UNKNOWN;
	*node = made;
	return remember_node(*node, q.id);
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
	struct q_host_node q = { 0 };
	struct call c = { .op = OP_host_node, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = graph_enter(&c.to, p, CLASS_NODE, node, &q.node);

	if (r)
		return r;
	r = host_node(&q, &c, p);
	return r ? r : remember_node(node, q.id);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
				      const CUDA_HOST_NODE_PARAMS *p)
{
	struct q_host_node q = { 0 };
	struct call c = { .op = OP_host_node, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = exec_enter(&c.to, p, exec, &q.exec, node, &q.node);

	if (r)
		return r;
	return host_node(&q, &c, p);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
	struct object *o = object_of(CLASS_NODE, node);
	CUgraphNodeType type;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	r = cuGraphNodeGetType(node, &type);
	if (r)
		return r;
	if (!o)
		return CUDA_ERROR_UNKNOWN;
	if (type != CU_GRAPH_NODE_TYPE_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	if (!o->more || !host_function_get(*(uint64_t *)o->more, p))
		return REFUSE("cuGraphHostNodeGetParams() of a node by a capture or of a clone",
			      "which function it calls is not known here");
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ executable graphs */

/*
 * @version: 1 and 2: with a log; 3: with flags. The results but for the log are as in
 * CUDA_GRAPH_INSTANTIATE_PARAMS.
 */
static CUresult instantiate(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p,
			    char *log, size_t size, uint32_t version)
{
	struct q_instantiate q = { .version = version,
				   .flags = p->flags,
				   .log_bytes = log ? size < 16384 ? size : 16384 : 0 };
	struct call c = { .op = OP_instantiate, .fixed = &q, .bytes = sizeof(q) };
	struct a_instantiate a = { 0 };
	void *made = NULL;
	CUresult r = graph_enter(&c.to, exec, CLASS_GRAPH, graph, &q.graph);

	p->hErrNode_out = NULL;
	p->result_out = r ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
	if (r)
		return r;
	/* a kernel would need the library's own handle */
	if (q.flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
		return REFUSE("cuGraphInstantiate() with CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH",
			      "a kernel can't launch a graph, as it would need the handle that the "
			      "server's library has");
	r = call_sync(&c, sizeof(a));
	if (c.answer_bytes < sizeof(a))
		return r ? r : CUDA_ERROR_UNKNOWN;
	memcpy(&a, c.answer, sizeof(a));
	p->hErrNode_out = handle_here(c.to.peer, CLASS_NODE, a.bad, graph);
	p->result_out = a.result;
	if (q.log_bytes) {
		memset(log, 0, q.log_bytes);
		if (a.log_used < q.log_bytes)
			answer_bytes(&c, log, a.log_used);
	}
	if (!r && !answer_handle(&made, &c, CLASS_EXEC, a.exec, NULL, false))
		return CUDA_ERROR_UNKNOWN;
	if (!r)
		*exec = made;
	return r;
}

static CUresult with_log(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log, size_t size,
			 uint32_t version)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = { 0 };
	CUresult r = instantiate(exec, graph, &p, log, size, version);

	if (bad)
		*bad = p.hErrNode_out;
	return r;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log,
			    size_t size)
{
	return with_log(exec, graph, bad, log, size, 1);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log,
			       size_t size)
{
	return with_log(exec, graph, bad, log, size, 2);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = { .flags = flags };

	return instantiate(exec, graph, &p, NULL, 0, 3);
}

static CUresult with_params(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p,
			    CUstream stream)
{
	const cuuint64_t flags = p->flags;
	CUresult r;

	p->flags = flags & ~(cuuint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
	r = instantiate(exec, graph, p, NULL, 0, 3);
	p->flags = flags;
	if (r || !(flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
		return r;
	r = cuGraphUpload(*exec, stream);
	if (!r)
		return CUDA_SUCCESS;
	cuGraphExecDestroy(*exec);
	p->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
	return r;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	return p ? with_params(exec, graph, p, p->hUploadStream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
					   CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	return p ? with_params(exec, graph, p, OWN(p->hUploadStream)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	struct q_update q = { 0 };
	struct call c = { .op = OP_update, .fixed = &q, .bytes = sizeof(q) };
	const struct a_update *a;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!info)
		return CUDA_ERROR_INVALID_VALUE;
	if (!route_handle(&c.to, CLASS_EXEC, exec, &q.exec) ||
	    !route_handle(&c.to, CLASS_GRAPH, graph, &q.graph))
		return wrong_graph(exec && graph ? exec : NULL);
	r = call_sync(&c, sizeof(*a));
	if (c.answer_bytes < sizeof(*a))
		return r ? r : CUDA_ERROR_UNKNOWN;
	a = (const struct a_update *)c.answer;
	*info = (CUgraphExecUpdateResultInfo){
		.result = a->what,
		.errorNode = handle_here(c.to.peer, CLASS_NODE, a->bad, graph),
		.errorFromNode = handle_here(c.to.peer, CLASS_NODE, a->from, graph)
	};
	return r;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *bad,
			   CUgraphExecUpdateResult *what)
{
	CUgraphExecUpdateResultInfo info = { 0 };
	CUresult r = bad && what ? cuGraphExecUpdate_v2(exec, graph, &info) :
				   CUDA_ERROR_INVALID_VALUE;

	if (!r || r == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
		*bad = info.errorNode;
		*what = info.result;
	}
	return r;
}

/* ------------------------------------------------------------------ captures */

/* what the last question for a stream has shown: it belongs to the stream's object */
struct shown_capture {
	CUgraph graph;
	CUgraphEdgeData *edges;
	bool plain; /* the edges' data are zero */
	void *nodes[]; /* then the edges */
};

/* @a: an answer with status ACTIVE; NULL: it is wrong, or there is no memory */
static struct shown_capture *read_capture(struct call *c, const struct a_capture_info *a,
					  CUresult *r)
{
	const CUgraphEdgeData zero = { 0 };
	struct shown_capture *shown = NULL;
	bool fine;
	uint32_t i;

	*r = CUDA_ERROR_UNKNOWN;
	if (a->nodes > KVGPU_REMOTE_LIST_MAX)
		return NULL;
	shown = calloc(1, sizeof(*shown) + a->nodes * (sizeof(void *) + sizeof(zero)) + 1);
	if (!shown) {
		*r = CUDA_ERROR_OUT_OF_MEMORY;
		return NULL;
	}
	shown->edges = (CUgraphEdgeData *)(shown->nodes + a->nodes);
	fine = answer_handle((void **)&shown->graph, c, CLASS_GRAPH, a->graph, NULL, false) &&
	       answer_handles(c, CLASS_NODE, shown->nodes, a->nodes, a->nodes, shown->graph) &&
	       (!a->edges || answer_bytes(c, shown->edges, a->nodes * sizeof(zero)));
	if (!fine) {
		free(shown);
		return NULL;
	}
	shown->plain = true;
	for (i = 0; i < a->nodes; i++)
		shown->plain = shown->plain && !memcmp(&shown->edges[i], &zero, sizeof(zero));
	return shown;
}

/* The lists belong to the stream's object, and are valid until the next such call for it. */
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
				   CUgraph *graph, const CUgraphNode **nodes,
				   const CUgraphEdgeData **edges, size_t *n)
{
	struct q_capture_info q = { .room = KVGPU_REMOTE_LIST_MAX };
	struct call c = { .op = OP_capture_info, .fixed = &q, .bytes = sizeof(q) };
	struct shown_capture *shown;
	struct a_capture_info a;
	void *o;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (r)
		return r;
	if (!status)
		return CUDA_ERROR_INVALID_VALUE;
	r = route_stream(&c.to, stream, &q.stream);
	if (!r && captures_none(route_peer(&c.to), status))
		return CUDA_SUCCESS;
	if (!r)
		r = call_sync(&c, sizeof(a));
	if (r)
		return r;
	memcpy(&a, c.answer, sizeof(a));
	if (a.status > CU_STREAM_CAPTURE_STATUS_INVALIDATED)
		return CUDA_ERROR_UNKNOWN;
	*status = a.status;
	if (a.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return CUDA_SUCCESS;
	shown = read_capture(&c, &a, &r);
	if (!shown)
		return r;
	o = handle_here(c.to.peer, CLASS_STREAM, q.stream, NULL);
	if (!o)
		free(shown);
	if (!o || !object_keep(o, CLASS_STREAM, shown, false))
		return CUDA_ERROR_UNKNOWN;
	if (nodes && !edges && !shown->plain)
		return CUDA_ERROR_LOSSY_QUERY;
	if (id)
		*id = a.id;
	if (graph)
		*graph = shown->graph;
	if (nodes)
		*nodes = (CUgraphNode *)shown->nodes;
	if (edges)
		*edges = shown->edges;
	if (n)
		*n = a.nodes;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus *status,
					cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
					const CUgraphEdgeData **edges, size_t *n)
{
	return cuStreamGetCaptureInfo_v3(OWN(stream), status, id, graph, nodes, edges, n);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
				   CUgraph *graph, const CUgraphNode **nodes, size_t *n)
{
	return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, NULL, n);
}

CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus *status,
					cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
					size_t *n)
{
	return cuStreamGetCaptureInfo_v2(OWN(stream), status, id, graph, nodes, n);
}
