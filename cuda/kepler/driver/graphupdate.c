// SPDX-License-Identifier: MIT
/*
 * Changes of executable graphs: of one node, or of all, taken from a graph with the same nodes and
 * edges.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* ------------------------------------------------------------------ one node */

/*
 * A copy's new memory must be of the same kind; UNIFIED may be any. A copy of several lines, or of
 * an array, can't change.
 */
static bool same_kind(CUmemorytype a, CUmemorytype b)
{
	return a == b || a == CU_MEMORYTYPE_UNIFIED || b == CU_MEMORYTYPE_UNIFIED;
}

static bool one_line(const CUDA_MEMCPY3D *c)
{
	return c->Height == 1 && c->Depth == 1 && c->srcMemoryType != CU_MEMORYTYPE_ARRAY &&
	       c->dstMemoryType != CU_MEMORYTYPE_ARRAY;
}

static bool may_become(const struct graph_work *old, const struct graph_work *w)
{
	switch (w->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return old->kernel.f->module->ctx == w->kernel.f->module->ctx;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		if (!memcmp(&old->copy, &w->copy, sizeof(w->copy)))
			return true;
		return one_line(&old->copy) && one_line(&w->copy) &&
		       same_kind(old->copy.srcMemoryType, w->copy.srcMemoryType) &&
		       same_kind(old->copy.dstMemoryType, w->copy.dstMemoryType);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return !memcmp(&old->set, &w->set, sizeof(w->set)) ||
		       (old->set.height == 1 && w->set.height == 1);
	case CU_GRAPH_NODE_TYPE_HOST:
	case CU_GRAPH_NODE_TYPE_GRAPH:
	case CU_GRAPH_NODE_TYPE_EMPTY:
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		break;
	}
	return true;
}

static void exchange(CUgraphNode node, struct graph_work *w)
{
	struct graph_work old = node->work;

	if (w->type == CU_GRAPH_NODE_TYPE_GRAPH)
		w->child->parent = node;
	node->work = *w;
	*w = old;
}

/* Lock `graphs` and find the copy of @node. After an error nothing is locked. */
static CUresult ctx_enter_exec_node(CUgraphExec exec, CUgraphNode node, CUgraphNode *out)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	*out = is_exec(exec) && is_node(node) ? graph_find(exec->graph, node->id) : NULL;
	if (*out)
		return CUDA_SUCCESS;
	graphs_leave();
	return CUDA_ERROR_INVALID_VALUE;
}

/* Takes over @w, also when it fails. */
static CUresult change(CUgraphExec exec, CUgraphNode node, struct graph_work *w)
{
	CUgraphNode own;
	CUresult r = ctx_enter_exec_node(exec, node, &own);

	if (r) {
		work_free(w);
		return r;
	}
	if (own->work.type == w->type && may_become(&own->work, w))
		exchange(own, w);
	else
		r = CUDA_ERROR_INVALID_VALUE;
	work_free(w);
	graphs_leave();
	return r;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct graph_work w;
	CUresult r = work_kernel(&w, params);

	return r ? r : change(exec, node, &w);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_MEMCPY3D *params, CUcontext ctx)
{
	struct graph_work w;
	CUresult r = work_memcpy(&w, params, ctx);

	return r ? r : change(exec, node, &w);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)
{
	struct graph_work w;
	CUresult r = work_memset(&w, params, ctx);

	return r ? r : change(exec, node, &w);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
				      const CUDA_HOST_NODE_PARAMS *params)
{
	struct graph_work w;
	CUresult r = work_host(&w, params);

	return r ? r : change(exec, node, &w);
}

static CUresult set_event(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, CUevent event)
{
	struct graph_work w;
	CUresult r = work_event(&w, type, event);

	return r ? r : change(exec, node, &w);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
	return set_event(exec, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
	return set_event(exec, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

static bool can_switch(const struct graph_work *w)
{
	return w->type == CU_GRAPH_NODE_TYPE_KERNEL || w->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
	       w->type == CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled)
{
	CUgraphNode own;
	CUresult r = ctx_enter_exec_node(exec, node, &own);

	if (r)
		return r;
	if (can_switch(&own->work))
		own->disabled = !enabled;
	else
		r = CUDA_ERROR_INVALID_VALUE;
	graphs_leave();
	return r;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *enabled)
{
	CUgraphNode own;
	CUresult r = ctx_enter_exec_node(exec, node, &own);

	if (r)
		return r;
	if (can_switch(&own->work) && enabled)
		*enabled = !own->disabled;
	else
		r = CUDA_ERROR_INVALID_VALUE;
	graphs_leave();
	return r;
}

/* ------------------------------------------------------------------ all of them */

struct update {
	CUgraphExecUpdateResult result;
	/* id of the node that differs; 0: no single one */
	uint64_t bad;
};

static bool differ(struct update *u, CUgraphExecUpdateResult result, CUgraphNode node)
{
	u->result = result;
	u->bad = node ? node->original : 0;
	return false;
}

static void number(CUgraph graph)
{
	unsigned int n = 0;
	CUgraphNode node;

	for (node = graph->first; node; node = node->next)
		node->waiting = n++;
}

static bool depends_on(CUgraphNode node, unsigned int number)
{
	size_t i;

	for (i = 0; i < node->before.n; i++)
		if (node->before.at[i]->waiting == number)
			return true;
	return false;
}

static bool same_edges(CUgraphNode old, CUgraphNode node)
{
	size_t i;

	if (old->before.n != node->before.n)
		return false;
	for (i = 0; i < old->before.n; i++)
		if (!depends_on(node, old->before.at[i]->waiting))
			return false;
	return true;
}

/* graph_sort() gives graphs that were made alike the same order. */
static bool compare(CUgraph old, CUgraph new, struct update *u)
{
	CUgraphNode o, n;

	if (old->nr_nodes != new->nr_nodes)
		return differ(u, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL);
	number(old);
	number(new);
	for (o = old->first, n = new->first; o; o = o->next, n = n->next) {
		if (!same_edges(o, n))
			return differ(u, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, n);
		if (o->work.type != n->work.type)
			return differ(u, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, n);
		if (!may_become(&o->work, &n->work))
			return differ(
				u,
				o->work.type == CU_GRAPH_NODE_TYPE_KERNEL ?
					CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE :
					CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
				n);
		if (o->work.type == CU_GRAPH_NODE_TYPE_GRAPH &&
		    !compare(o->work.child, n->work.child, u))
			return false;
	}
	return true;
}

/*
 * Exchange the nodes' work, also in children, and the user objects. Nodes keep their .original and
 * .disabled.
 */
static void take_over(CUgraph old, CUgraph new)
{
	struct user_ref *users = old->users;
	CUgraphNode o, n;

	old->users = new->users;
	new->users = users;

	for (o = old->first, n = new->first; o; o = o->next, n = n->next) {
		if (o->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
			take_over(o->work.child, n->work.child);
		else
			exchange(o, &n->work);
	}
}

static CUgraphNode by_number(CUgraph graph, uint64_t id)
{
	CUgraphNode node, found;

	for (node = graph->first; node; node = node->next) {
		if (node->id == id)
			return node;
		found = node->work.type == CU_GRAPH_NODE_TYPE_GRAPH ?
				by_number(node->work.child, id) :
				NULL;
		if (found)
			return found;
	}
	return NULL;
}

static CUresult update(CUgraph own, CUgraph graph, struct update *u)
{
	CUgraph copy;
	CUresult r = exec_copy(graph, &copy);

	if (r) {
		u->result = CU_GRAPH_EXEC_UPDATE_ERROR;
		return r;
	}
	if (compare(own, copy, u))
		take_over(own, copy);
	else
		r = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	graph_free(copy);
	return r;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *bad,
			   CUgraphExecUpdateResult *result)
{
	struct update u = { .result = CU_GRAPH_EXEC_UPDATE_SUCCESS };
	CUresult r;

	if (is_exec(exec))
		exec_await(exec);
	r = graphs_enter();

	if (r)
		return r;
	if (!is_exec(exec) || !is_graph(graph) || !result)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		r = update(exec->graph, graph, &u);
	if (result)
		*result = r == CUDA_ERROR_INVALID_VALUE ? CU_GRAPH_EXEC_UPDATE_ERROR : u.result;
	if (bad)
		*bad = u.bad ? by_number(graph, u.bad) : NULL;
	graphs_leave();
	return r;
}

/* The node's child and @child are compared as cuGraphExecUpdate() compares graphs. */
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
	struct update u = { .result = CU_GRAPH_EXEC_UPDATE_SUCCESS };
	CUgraphNode own;
	CUresult r;

	if (is_exec(exec))
		exec_await(exec);
	r = ctx_enter_exec_node(exec, node, &own);
	if (r)
		return r;
	if (own->work.type != CU_GRAPH_NODE_TYPE_GRAPH || !is_graph(child))
		r = CUDA_ERROR_INVALID_VALUE;
	else
		r = update(own->work.child, child, &u);
	graphs_leave();
	return r == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ? CUDA_ERROR_INVALID_VALUE : r;
}
