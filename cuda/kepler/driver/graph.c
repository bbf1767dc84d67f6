// SPDX-License-Identifier: MIT
/*
 * Graphs: nodes, the edges between them, copies. A cycle is found when a graph is made executable.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static uint64_t ids; /* guarded by `graphs` */

/* ------------------------------------------------------------------ lists of nodes */

bool list_has(const struct node_list *l, CUgraphNode node)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->at[i] == node)
			return true;
	return false;
}

static CUresult list_reserve(struct node_list *l, size_t more)
{
	size_t max = l->max ? l->max : 4;
	CUgraphNode *grown;

	while (max < l->n + more)
		max *= 2;
	if (max == l->max)
		return CUDA_SUCCESS;
	grown = realloc(l->at, max * sizeof(*grown));
	if (!grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	l->at = grown;
	l->max = max;
	return CUDA_SUCCESS;
}

CUresult list_add(struct node_list *l, CUgraphNode node)
{
	CUresult r = list_has(l, node) ? CUDA_SUCCESS : list_reserve(l, 1);

	if (!r && !list_has(l, node))
		l->at[l->n++] = node;
	return r;
}

static void list_remove(struct node_list *l, CUgraphNode node)
{
	size_t i;

	for (i = 0; i < l->n && l->at[i] != node; i++)
		;
	if (i < l->n) {
		memmove(l->at + i, l->at + i + 1, (l->n - i - 1) * sizeof(*l->at));
		l->n--;
	}
}

/* ------------------------------------------------------------------ nodes */

static void append(CUgraph graph, CUgraphNode node)
{
	node->next = NULL;
	node->prev = graph->last;
	*(graph->last ? &graph->last->next : &graph->first) = node;
	graph->last = node;
	graph->nr_nodes++;
}

static void unlink_node(CUgraphNode node)
{
	CUgraph graph = node->graph;

	*(node->prev ? &node->prev->next : &graph->first) = node->next;
	*(node->next ? &node->next->prev : &graph->last) = node->prev;
	graph->nr_nodes--;
}

static void node_free(CUgraphNode node)
{
	work_free(&node->work);
	free(node->before.at);
	free(node->after.at);
	node->magic = 0;
	free(node);
}

static CUresult connect_nodes(CUgraphNode from, CUgraphNode to)
{
	CUresult r = list_reserve(&from->after, 1);

	if (!r)
		r = list_add(&to->before, from);
	return r ? r : list_add(&from->after, to);
}

static void disconnect(CUgraphNode from, CUgraphNode to)
{
	list_remove(&to->before, from);
	list_remove(&from->after, to);
}

static void cut_off(CUgraphNode node)
{
	while (node->before.n)
		disconnect(node->before.at[0], node);
	while (node->after.n)
		disconnect(node, node->after.at[0]);
}

static CUresult check_list(CUgraph graph, const CUgraphNode *list, size_t n)
{
	size_t i, k;

	if (n && !list)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n; i++) {
		if (!is_node(list[i]) || list[i]->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
		for (k = 0; k < i; k++)
			if (list[k] == list[i])
				return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

static CUresult add(CUgraph graph, const CUgraphNode *before, size_t n,
		    const struct graph_work *work, CUgraphNode *out)
{
	CUgraphNode node = calloc(1, sizeof(*node));
	CUresult r = CUDA_SUCCESS;
	size_t i;

	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->magic = MAGIC_NODE;
	node->id = ++ids;
	node->graph = graph;
	for (i = 0; i < n && !r; i++)
		r = connect_nodes(before[i], node);
	if (r) {
		cut_off(node);
		node_free(node);
		return r;
	}
	node->work = *work;
	if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
		node->work.child->parent = node;
	append(graph, node);
	*out = node;
	return CUDA_SUCCESS;
}

CUresult graph_add(CUgraph graph, const CUgraphNode *before, size_t n, struct graph_work *work,
		   CUgraphNode *out)
{
	CUresult r = is_graph(graph) && out ? check_list(graph, before, n) :
					      CUDA_ERROR_INVALID_VALUE;

	if (!r)
		r = add(graph, before, n, work, out);
	if (r)
		work_free(work);
	return r;
}

CUresult cuGraphDestroyNode(CUgraphNode node)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!is_node(node) || node->graph->capturing) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		cut_off(node);
		unlink_node(node);
		node_free(node);
	}
	graphs_leave();
	return r;
}

/* ------------------------------------------------------------------ edges */

typedef CUresult (*edge_fn)(CUgraphNode from, CUgraphNode to);

static CUresult edge_add(CUgraphNode from, CUgraphNode to)
{
	return from == to || list_has(&to->before, from) ? CUDA_ERROR_INVALID_VALUE :
							   connect_nodes(from, to);
}

static CUresult edge_remove(CUgraphNode from, CUgraphNode to)
{
	if (!list_has(&to->before, from))
		return CUDA_ERROR_INVALID_VALUE;
	disconnect(from, to);
	return CUDA_SUCCESS;
}

static CUresult edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n,
		      edge_fn change, bool removes)
{
	CUresult r = graphs_enter();
	size_t i;

	if (r)
		return r;
	if (!is_graph(graph) || (n && (!from || !to)) || (removes && graph->capturing))
		r = CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n && !r; i++)
		if (!is_node(from[i]) || !is_node(to[i]) || from[i]->graph != graph ||
		    to[i]->graph != graph)
			r = CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n && !r; i++)
		r = change(from[i], to[i]);
	graphs_leave();
	return r;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				size_t n)
{
	return edges(graph, from, to, n, edge_add, false);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				   size_t n)
{
	return edges(graph, from, to, n, edge_remove, true);
}

/* ------------------------------------------------------------------ order */

/*
 * Each node comes after all that it depends on; nodes without dependencies come first, in the order
 * in which they were added.
 */
CUresult graph_sort(CUgraph graph)
{
	CUgraphNode node, *order = malloc((graph->nr_nodes + 1) * sizeof(*order));
	size_t n = 0, i, k;

	if (!order)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (node = graph->first; node; node = node->next) {
		node->waiting = node->before.n;
		if (!node->waiting)
			order[n++] = node;
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < order[i]->after.n; k++)
			if (!--order[i]->after.at[k]->waiting)
				order[n++] = order[i]->after.at[k];
	if (n == graph->nr_nodes) {
		graph->first = graph->last = NULL;
		graph->nr_nodes = 0;
		for (i = 0; i < n; i++)
			append(graph, order[i]);
	}
	free(order);
	return n == graph->nr_nodes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ------------------------------------------------------------------ graphs */

CUgraph graph_new(void)
{
	CUgraph graph = calloc(1, sizeof(*graph));

	if (graph) {
		graph->magic = MAGIC_GRAPH;
		graph->id = ++ids;
	}
	return graph;
}

void graph_free(CUgraph graph)
{
	CUgraphNode node, next;

	for (node = graph->first; node; node = next) {
		next = node->next;
		node_free(node);
	}
	users_free(graph);
	graph->magic = 0;
	free(graph);
}

/* @to's nodes are copies of @from's, in the same order. */
static CUresult copy_edges(CUgraph from, CUgraph to)
{
	CUgraphNode *copies = malloc((from->nr_nodes + 1) * sizeof(*copies)), node, copy;
	CUresult r = copies ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	unsigned int n = 0;
	size_t i;

	if (r)
		return r;
	for (node = from->first, copy = to->first; node; node = node->next, copy = copy->next) {
		node->waiting = n;
		copies[n++] = copy;
	}
	for (node = from->first; node && !r; node = node->next)
		for (i = 0; i < node->before.n && !r; i++)
			r = connect_nodes(copies[node->before.at[i]->waiting],
					  copies[node->waiting]);
	free(copies);
	return r;
}

CUresult graph_copy(CUgraph graph, CUgraph *out)
{
	CUgraph copy = graph_new();
	CUgraphNode node, made;
	struct graph_work work;
	CUresult r = copy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

	if (r)
		return r;
	copy->original = graph->id;
	for (node = graph->first; node && !r; node = node->next) {
		r = work_copy(&work, &node->work);
		if (!r)
			r = graph_add(copy, NULL, 0, &work, &made);
		if (!r) {
			made->original = node->id;
			made->disabled = node->disabled;
		}
	}
	if (!r)
		r = copy_edges(graph, copy);
	if (!r)
		r = users_copy(copy, graph);
	if (r)
		graph_free(copy);
	else
		*out = copy;
	return r;
}

CUgraphNode graph_find(CUgraph graph, uint64_t original)
{
	CUgraphNode node, found;

	for (node = graph->first; node; node = node->next) {
		if (node->original == original)
			return node;
		if (node->work.type != CU_GRAPH_NODE_TYPE_GRAPH)
			continue;
		found = graph_find(node->work.child, original);
		if (found)
			return found;
	}
	return NULL;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!graph || flags) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		*graph = graph_new();
		r = *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	graphs_leave();
	return r;
}

/* a child graph can't be destroyed: it belongs to its node */
CUresult cuGraphDestroy(CUgraph graph)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!is_graph(graph) || graph->parent || graph->capturing)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		graph_free(graph);
	graphs_leave();
	return r;
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	r = clone && is_graph(graph) ? graph_copy(graph, clone) : CUDA_ERROR_INVALID_VALUE;
	graphs_leave();
	return r;
}
