// SPDX-License-Identifier: MIT
/*
 * Nodes of graphs by the forms of CUDA 12: of a CUkernel, and of any type, with data of edges. Each
 * is a call of a form before.
 */
#include <stdlib.h>

#include <cuda/api/libraries.h>

#include "client.h"

static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kern) == sizeof(CUDA_KERNEL_NODE_PARAMS) &&
		      offsetof(CUDA_MEMSET_NODE_PARAMS_v2, ctx) == sizeof(CUDA_MEMSET_NODE_PARAMS),
	      "they begin as those before");

/* make @ctx current, unless it is NULL, until drop_context() */
static CUresult take_context(CUcontext ctx)
{
	return ctx ? cuCtxPushCurrent_v2(ctx) : CUDA_SUCCESS;
}

static void drop_context(CUcontext ctx)
{
	if (ctx)
		current_pop();
}

static CUresult or_current(CUcontext *ctx)
{
	return *ctx ? CUDA_SUCCESS : cuCtxGetCurrent(ctx);
}

/* ------------------------------------------------------------------ kernels */

/* with the kernel's function in the context that @p names, or the thread's */
static CUresult plain_kernel(const CUDA_KERNEL_NODE_PARAMS_v2 *p, CUDA_KERNEL_NODE_PARAMS *plain)
{
	CUresult r;

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(plain, p, sizeof(*plain));
	if (p->func)
		return CUDA_SUCCESS;
	r = take_context(p->ctx);
	if (r)
		return r;
	r = cuKernelGetFunction(&plain->func, p->kern);
	drop_context(p->ctx);
	return r;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
				 size_t n, const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
	CUDA_KERNEL_NODE_PARAMS plain;
	CUresult r = plain_kernel(params, &plain);

	return r ? r : cuGraphAddKernelNode(node, graph, dependencies, n, &plain);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
	CUDA_KERNEL_NODE_PARAMS plain;
	CUresult r = plain_kernel(params, &plain);

	return r ? r : cuGraphKernelNodeSetParams(node, &plain);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
					   const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
	CUDA_KERNEL_NODE_PARAMS plain;
	CUresult r = plain_kernel(params, &plain);

	return r ? r : cuGraphExecKernelNodeSetParams(exec, node, &plain);
}

/* Of any node NVIDIA's driver tells the function, its CUkernel if it has one, and the context. */
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
	CUDA_KERNEL_NODE_PARAMS plain;
	CUresult r = params ? cuGraphKernelNodeGetParams(node, &plain) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	*params = (CUDA_KERNEL_NODE_PARAMS_v2){ .kern = library_kernel_of(plain.func),
						.ctx = (CUcontext)object_context(
							(const struct object *)plain.func) };
	memcpy(params, &plain, sizeof(plain));
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ any type */

/* INVALID_VALUE: what CUDA keeps for later is in use */
static CUresult check_params(const CUgraphNodeParams *p)
{
	if (!p || p->reserved0[0] || p->reserved0[1] || p->reserved0[2] || p->reserved2)
		return CUDA_ERROR_INVALID_VALUE;
	if (p->type == CU_GRAPH_NODE_TYPE_MEMCPY && (p->memcpy.flags || p->memcpy.reserved))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* @child itself becomes the node's, and ends with it */
static CUresult add_moved(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
			  CUgraph child)
{
	const void *const *list = (const void *const *)before;
	struct q_child_node q = { .dependencies = n };
	struct call c = { .op = OP_child_node, .fixed = &q, .bytes = sizeof(q) };
	void *made;
	CUresult r = graph_enter(&c.to, node, CLASS_GRAPH, graph, &q.graph);

	if (!r && !route_handle(&c.to, CLASS_GRAPH, child, &q.child))
		r = wrong_graph(child);
	if (!r)
		r = call_handles(&c, CLASS_NODE, list, n);
	if (!r)
		r = call_sync(&c, sizeof(struct a_child_node));
	call_end(&c);
	if (r)
		return r;
	cache_invalidate(CACHE_GRAPHS);
	if (!answer_handle(&made, &c, CLASS_NODE, ((const struct a_child_node *)c.answer)->node,
			   graph, false) ||
	    !object_attach(child, made))
		return CUDA_ERROR_UNKNOWN;
	*node = made;
	return CUDA_SUCCESS;
}

static CUresult add_child(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
			  const CUgraphNodeParams *p)
{
	switch (p->graph.ownership) {
	case 0:
		return cuGraphAddChildGraphNode(node, graph, before, n, p->graph.graph);
	case CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE:
		return add_moved(node, graph, before, n, p->graph.graph);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* for a program: the node, and the bodies, whose list and which themselves are the node's */
static CUresult show_condition(CUgraphNode *node, CUgraph graph, struct call *c, uint32_t size,
			       CUgraph **bodies)
{
	CUgraph *list = malloc(size * sizeof(*list));
	void *made;

	if (!list)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!answer_handle(&made, c, CLASS_NODE, ((const struct a_condition_node *)c->answer)->node,
			   graph, false) ||
	    !answer_handles(c, CLASS_GRAPH, (void **)list, size, size, made)) {
		free(list);
		return CUDA_ERROR_UNKNOWN;
	}
	if (!object_keep(made, CLASS_NODE, list, false))
		return CUDA_ERROR_UNKNOWN;
	*node = made;
	*bodies = list;
	return CUDA_SUCCESS;
}

static CUresult add_condition(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
			      CUDA_CONDITIONAL_NODE_PARAMS *p)
{
	struct q_condition_node q = {
		.handle = p->handle, .type = p->type, .size = p->size, .dependencies = n
	};
	struct call c = { .op = OP_condition_node, .fixed = &q, .bytes = sizeof(q) };
	CUcontext ctx = p->ctx;
	CUresult r = graph_enter(&c.to, node && p->size && p->size <= KVGPU_REMOTE_LIST_MAX,
				 CLASS_GRAPH, graph, &q.graph);

	if (!r)
		r = or_current(&ctx);
	if (!r && !route_handle(&c.to, CLASS_CONTEXT, ctx, &q.ctx))
		r = CUDA_ERROR_INVALID_CONTEXT;
	if (!r)
		r = call_handles(&c, CLASS_NODE, (const void *const *)before, n);
	if (!r)
		r = call_sync(&c, sizeof(struct a_condition_node));
	call_end(&c);
	if (r)
		return r;
	cache_invalidate(CACHE_GRAPHS);
	return show_condition(node, graph, &c, p->size, &p->phGraph_out);
}

static CUresult refuse_type(void)
{
	return REFUSE("a graph's node of a type beside kernels, copies, fills, host functions, "
		      "child graphs, events and conditions",
		      "what such a node has of the GPU is not counted");
}

static CUresult add_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
			 CUgraphNodeParams *p)
{
	CUcontext ctx;
	CUresult r = check_params(p);

	if (r)
		return r;
	switch (p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return cuGraphAddKernelNode_v2(node, graph, before, n, &p->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		ctx = p->memcpy.copyCtx;
		r = or_current(&ctx);
		return r ? r :
			   cuGraphAddMemcpyNode(node, graph, before, n, &p->memcpy.copyParams, ctx);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		ctx = p->memset.ctx;
		r = or_current(&ctx);
		return r ? r :
			   cuGraphAddMemsetNode(node, graph, before, n,
						(const CUDA_MEMSET_NODE_PARAMS *)&p->memset, ctx);
	case CU_GRAPH_NODE_TYPE_HOST:
		return cuGraphAddHostNode(node, graph, before, n, &p->host);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return add_child(node, graph, before, n, p);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return cuGraphAddEmptyNode(node, graph, before, n);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return cuGraphAddEventWaitNode(node, graph, before, n, p->eventWait.event);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return cuGraphAddEventRecordNode(node, graph, before, n, p->eventRecord.event);
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return add_condition(node, graph, before, n, &p->conditional);
	default:
		return refuse_type();
	}
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n,
			CUgraphNodeParams *params)
{
	return add_node(node, graph, dependencies, n, params);
}

static bool are_plain(const CUgraphEdgeData *edges, size_t n)
{
	static const CUgraphEdgeData zero;
	size_t i;

	for (i = 0; edges && i < n; i++)
		if (memcmp(&edges[i], &zero, sizeof(zero)))
			return false;
	return true;
}

/* let @node come after the others */
static CUresult add_edges(CUgraph graph, CUgraphNode node, const CUgraphNode *before,
			  const CUgraphEdgeData *edges, size_t n)
{
	CUgraphNode *to;
	size_t i;
	CUresult r;

	if (!before || n > KVGPU_REMOTE_LIST_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	to = malloc(n * sizeof(*to));
	if (!to)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (i = 0; i < n; i++)
		to[i] = node;
	r = cuGraphAddDependencies_v2(graph, before, to, edges, n);
	free(to);
	return r;
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			   const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *params)
{
	CUgraphNode made;
	CUresult r;

	if (are_plain(edges, n))
		return add_node(node, graph, dependencies, n, params);
	r = node ? add_node(&made, graph, NULL, 0, params) : CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	r = add_edges(graph, made, dependencies, edges, n);
	if (r)
		cuGraphDestroyNode(made);
	else
		*node = made;
	return r;
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p)
{
	CUresult r = check_params(p);

	if (r)
		return r;
	switch (p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return cuGraphKernelNodeSetParams_v2(node, &p->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		r = take_context(p->memcpy.copyCtx);
		if (r)
			return r;
		r = cuGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
		drop_context(p->memcpy.copyCtx);
		return r;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return cuGraphMemsetNodeSetParams(node,
						  (const CUDA_MEMSET_NODE_PARAMS *)&p->memset);
	case CU_GRAPH_NODE_TYPE_HOST:
		return cuGraphHostNodeSetParams(node, &p->host);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return cuGraphEventWaitNodeSetEvent(node, p->eventWait.event);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return cuGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
	case CU_GRAPH_NODE_TYPE_GRAPH:
	case CU_GRAPH_NODE_TYPE_EMPTY:
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
	default:
		return refuse_type();
	}
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
	CUcontext ctx;
	CUresult r = check_params(p);

	if (r)
		return r;
	switch (p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return cuGraphExecKernelNodeSetParams_v2(exec, node, &p->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		ctx = p->memcpy.copyCtx;
		r = or_current(&ctx);
		return r ? r :
			   cuGraphExecMemcpyNodeSetParams(exec, node, &p->memcpy.copyParams, ctx);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		ctx = p->memset.ctx;
		r = or_current(&ctx);
		return r ? r :
			   cuGraphExecMemsetNodeSetParams(
				   exec, node, (const CUDA_MEMSET_NODE_PARAMS *)&p->memset, ctx);
	case CU_GRAPH_NODE_TYPE_HOST:
		return cuGraphExecHostNodeSetParams(exec, node, &p->host);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return p->graph.ownership ?
			       REFUSE("cuGraphExecNodeSetParams() of a child graph that is moved",
				      "only a copy of a child graph can be changed") :
			       cuGraphExecChildGraphNodeSetParams(exec, node, p->graph.graph);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return cuGraphExecEventWaitNodeSetEvent(exec, node, p->eventWait.event);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return cuGraphExecEventRecordNodeSetEvent(exec, node, p->eventRecord.event);
	case CU_GRAPH_NODE_TYPE_EMPTY:
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
	default:
		return refuse_type();
	}
}
