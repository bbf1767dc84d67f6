// SPDX-License-Identifier: MIT
/* What nodes do: checking, asking and changing it. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* ------------------------------------------------------------------ work */

CUresult work_kernel(struct graph_work *w, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct kernel_request q;

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	q = (struct kernel_request){
		.f = p->func,
		.grid = { p->gridDimX, p->gridDimY, p->gridDimZ },
		.block = { p->blockDimX, p->blockDimY, p->blockDimZ },
		.dynamic = p->sharedMemBytes,
		.params = p->kernelParams,
		.extra = p->extra,
	};
	return work_request(w, &q);
}

/* work_memcpy() and work_memset() check memory in the context that the caller names. */

CUresult work_memcpy(struct graph_work *w, const CUDA_MEMCPY3D *p, CUcontext ctx)
{
	CUresult r = p && !p->srcLOD && !p->dstLOD ? ctx_enter_of(ctx) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	r = box_check(ctx, p);
	ctx_leave(ctx);
	*w = (struct graph_work){ .type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = *p };
	return r;
}

struct device_fill fill_of(const CUDA_MEMSET_NODE_PARAMS *p)
{
	uint32_t mask = p->elementSize < 4 ? (1u << 8 * p->elementSize) - 1 : UINT32_MAX;

	return (struct device_fill){
		.dst = p->dst, .pitch = p->pitch, .value = p->value & mask, .unit = p->elementSize
	};
}

CUresult work_memset(struct graph_work *w, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
	struct device_fill f;
	CUresult r;

	if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
	    !p->width || !p->height)
		return CUDA_ERROR_INVALID_VALUE;
	r = ctx_enter_of(ctx);
	if (r)
		return r;
	f = fill_of(p);
	r = set_check(ctx, &f, p->width, p->height);
	ctx_leave(ctx);
	*w = (struct graph_work){ .type = CU_GRAPH_NODE_TYPE_MEMSET, .set = *p };
	return r;
}

CUresult work_host(struct graph_work *w, const CUDA_HOST_NODE_PARAMS *p)
{
	if (!p || !p->fn)
		return CUDA_ERROR_INVALID_VALUE;
	*w = (struct graph_work){ .type = CU_GRAPH_NODE_TYPE_HOST, .host = *p };
	return CUDA_SUCCESS;
}

CUresult work_event(struct graph_work *w, CUgraphNodeType type, CUevent event)
{
	CUcontext ctx;
	CUresult r = event ? ctx_enter_event(event, &ctx) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	ctx_leave(ctx);
	*w = (struct graph_work){ .type = type, .event = event };
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ adding */

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
		    struct graph_work *w)
{
	CUresult r = graphs_enter();

	if (r) {
		work_free(w);
		return r;
	}
	r = graph_add(graph, before, n, w, node);
	graphs_leave();
	return r;
}

#define ADD_NODE CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n

CUresult cuGraphAddKernelNode(ADD_NODE, const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct graph_work w;
	CUresult r = work_kernel(&w, params);

	return r ? r : add(node, graph, dependencies, n, &w);
}

CUresult cuGraphAddMemcpyNode(ADD_NODE, const CUDA_MEMCPY3D *params, CUcontext ctx)
{
	struct graph_work w;
	CUresult r = work_memcpy(&w, params, ctx);

	return r ? r : add(node, graph, dependencies, n, &w);
}

CUresult cuGraphAddMemsetNode(ADD_NODE, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)
{
	struct graph_work w;
	CUresult r = work_memset(&w, params, ctx);

	return r ? r : add(node, graph, dependencies, n, &w);
}

CUresult cuGraphAddHostNode(ADD_NODE, const CUDA_HOST_NODE_PARAMS *params)
{
	struct graph_work w;
	CUresult r = work_host(&w, params);

	return r ? r : add(node, graph, dependencies, n, &w);
}

CUresult cuGraphAddEmptyNode(ADD_NODE)
{
	struct graph_work w = { .type = CU_GRAPH_NODE_TYPE_EMPTY };

	return add(node, graph, dependencies, n, &w);
}

CUresult cuGraphAddEventRecordNode(ADD_NODE, CUevent event)
{
	struct graph_work w;
	CUresult r = work_event(&w, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);

	return r ? r : add(node, graph, dependencies, n, &w);
}

CUresult cuGraphAddEventWaitNode(ADD_NODE, CUevent event)
{
	struct graph_work w;
	CUresult r = work_event(&w, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);

	return r ? r : add(node, graph, dependencies, n, &w);
}

static bool contains(CUgraph graph, CUgraph inner)
{
	for (; inner; inner = inner->parent ? inner->parent->graph : NULL)
		if (inner == graph)
			return true;
	return false;
}

/* The node gets a copy of @child. A graph can't be put into itself. */
CUresult cuGraphAddChildGraphNode(ADD_NODE, CUgraph child)
{
	struct graph_work w = { .type = CU_GRAPH_NODE_TYPE_GRAPH };
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!is_graph(graph) || !is_graph(child) || contains(child, graph))
		r = CUDA_ERROR_INVALID_VALUE;
	else
		r = graph_copy(child, &w.child);
	if (!r)
		r = graph_add(graph, dependencies, n, &w, node);
	graphs_leave();
	return r;
}

/* ------------------------------------------------------------------ asking and changing */

/*
 * Lock `graphs`, if @node is of @type and @params is not NULL. Else an error, and nothing is
 * locked.
 */
static CUresult ctx_enter_node(CUgraphNode node, CUgraphNodeType type, const void *params)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (params && is_node(node) && node->work.type == type)
		return CUDA_SUCCESS;
	graphs_leave();
	return CUDA_ERROR_INVALID_VALUE;
}

/* Takes over @w, also when it fails. */
static CUresult change(CUgraphNode node, struct graph_work *w)
{
	struct graph_work old;
	CUresult r = ctx_enter_node(node, w->type, w);

	if (r) {
		work_free(w);
		return r;
	}
	old = node->work;
	if (w->type == CU_GRAPH_NODE_TYPE_KERNEL) {
		w->kernel.window = old.kernel.window;
		w->kernel.priority = old.kernel.priority;
	}
	node->work = *w;
	work_free(&old);
	graphs_leave();
	return CUDA_SUCCESS;
}

/* *@out becomes the member of the node's union for @type, which is not a kernel's. */
static CUresult get_params(CUgraphNode node, CUgraphNodeType type, void *out, size_t bytes)
{
	CUresult r = ctx_enter_node(node, type, out);

	if (r)
		return r;
	memcpy(out, &node->work.copy, bytes);
	graphs_leave();
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
	CUresult r = ctx_enter_node(node, CU_GRAPH_NODE_TYPE_KERNEL, params);
	const struct graph_kernel *k;

	if (r)
		return r;
	k = &node->work.kernel;
	*params = (CUDA_KERNEL_NODE_PARAMS){ k->f,	  k->grid[0],  k->grid[1],  k->grid[2],
					     k->block[0], k->block[1], k->block[2], k->dynamic,
					     k->pointers, NULL };
	graphs_leave();
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct graph_work w;
	CUresult r = work_kernel(&w, params);

	return r ? r : change(node, &w);
}

/* a changed node's memory is checked in the thread's current context */
static CUcontext current(void)
{
	CUcontext ctx = NULL;

	return cuCtxGetCurrent(&ctx) ? NULL : ctx;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params)
{
	return get_params(node, CU_GRAPH_NODE_TYPE_MEMCPY, params, sizeof(*params));
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *params)
{
	struct graph_work w;
	CUresult r = work_memcpy(&w, params, current());

	return r ? r : change(node, &w);
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
	return get_params(node, CU_GRAPH_NODE_TYPE_MEMSET, params, sizeof(*params));
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
	struct graph_work w;
	CUresult r = work_memset(&w, params, current());

	return r ? r : change(node, &w);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
	return get_params(node, CU_GRAPH_NODE_TYPE_HOST, params, sizeof(*params));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
	struct graph_work w;
	CUresult r = work_host(&w, params);

	return r ? r : change(node, &w);
}

/* No copy: a change of the graph changes the node. */
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
	return get_params(node, CU_GRAPH_NODE_TYPE_GRAPH, graph, sizeof(*graph));
}

static CUresult set_event(CUgraphNode node, CUgraphNodeType type, CUevent event)
{
	struct graph_work w;
	CUresult r = work_event(&w, type, event);

	return r ? r : change(node, &w);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
	return get_params(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, sizeof(*event));
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
	return set_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
	return get_params(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, sizeof(*event));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
	return set_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

/* ------ attributes: priority and access window are kept, without effect; cooperative is refused */

enum { ACCESS_POLICY_WINDOW = 1, PRIORITY = 8 };

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
				       CUkernelNodeAttrValue *value)
{
	CUresult r = ctx_enter_node(node, CU_GRAPH_NODE_TYPE_KERNEL, value);

	if (r)
		return r;
	if (attribute == ACCESS_POLICY_WINDOW)
		value->accessPolicyWindow = node->work.kernel.window;
	else if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
		value->cooperative = 0;
	else if (attribute == PRIORITY)
		value->priority = node->work.kernel.priority;
	else
		r = CUDA_ERROR_INVALID_VALUE;
	graphs_leave();
	return r;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
				       const CUkernelNodeAttrValue *value)
{
	CUresult r = ctx_enter_node(node, CU_GRAPH_NODE_TYPE_KERNEL, value);

	if (r)
		return r;
	if (attribute == ACCESS_POLICY_WINDOW)
		node->work.kernel.window = value->accessPolicyWindow;
	else if (attribute == PRIORITY)
		node->work.kernel.priority = value->priority;
	else if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
		r = value->cooperative ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
	else
		r = CUDA_ERROR_INVALID_VALUE;
	graphs_leave();
	return r;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
	CUresult r = ctx_enter_node(dst, CU_GRAPH_NODE_TYPE_KERNEL, dst);

	if (r)
		return r;
	if (is_node(src) && src->work.type == CU_GRAPH_NODE_TYPE_KERNEL) {
		dst->work.kernel.window = src->work.kernel.window;
		dst->work.kernel.priority = src->work.kernel.priority;
	} else {
		r = CUDA_ERROR_INVALID_VALUE;
	}
	graphs_leave();
	return r;
}
