// SPDX-License-Identifier: MIT
/*
 * Questions about graphs. A list goes into the caller's array of *n elements; elements left over
 * become NULL, and *n the number of filled ones. Without an array *n becomes the list's length.
 */
#include <stdio.h>
#include <string.h>

#include "../../api/process.h"
#include "graph.h"

struct output {
	CUgraphNode *at;
	size_t max, n;
};

static void put_node(struct output *o, CUgraphNode node)
{
	if (o->at && o->n < o->max)
		o->at[o->n] = node;
	o->n++;
}

static void finish(struct output *o, size_t *n)
{
	size_t i;

	for (i = o->n; o->at && i < o->max; i++)
		o->at[i] = NULL;
	if (!o->at || o->n < o->max)
		*n = o->n;
}

static CUresult nodes(CUgraph graph, bool roots, CUgraphNode *out, size_t *n)
{
	struct output o = { .at = out, .max = n ? *n : 0 };
	CUgraphNode node;
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!is_graph(graph) || !n) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		for (node = graph->first; node; node = node->next)
			if (!roots || !node->before.n)
				put_node(&o, node);
		finish(&o, n);
	}
	graphs_leave();
	return r;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *out, size_t *n)
{
	return nodes(graph, false, out, n);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *out, size_t *n)
{
	return nodes(graph, true, out, n);
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	struct output f = { .at = from, .max = n ? *n : 0 }, t = { .at = to, .max = n ? *n : 0 };
	CUgraphNode node;
	size_t i;
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!is_graph(graph) || !n || !from != !to) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		for (node = graph->first; node; node = node->next)
			for (i = 0; i < node->after.n; i++) {
				put_node(&f, node);
				put_node(&t, node->after.at[i]);
			}
		finish(&f, n);
		finish(&t, n);
	}
	graphs_leave();
	return r;
}

static CUresult neighbours(CUgraphNode node, bool before, CUgraphNode *out, size_t *n)
{
	struct output o = { .at = out, .max = n ? *n : 0 };
	const struct node_list *l;
	size_t i;
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!is_node(node) || !n) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		l = before ? &node->before : &node->after;
		for (i = 0; i < l->n; i++)
			put_node(&o, l->at[i]);
		finish(&o, n);
	}
	graphs_leave();
	return r;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *out, size_t *n)
{
	return neighbours(node, true, out, n);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *out, size_t *n)
{
	return neighbours(node, false, out, n);
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (is_node(node) && type)
		*type = node->work.type;
	else
		r = CUDA_ERROR_INVALID_VALUE;
	graphs_leave();
	return r;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph clone)
{
	CUgraphNode found;
	CUresult r = graphs_enter();

	if (r)
		return r;
	found = out && is_node(original) && is_graph(clone) ? graph_find(clone, original->id) :
							      NULL;
	if (found)
		*out = found;
	else
		r = CUDA_ERROR_INVALID_VALUE;
	graphs_leave();
	return r;
}

/* ------------------------------------------------------------------ a file for people */

static const char *const names[] = {
	[CU_GRAPH_NODE_TYPE_KERNEL] = "kernel",
	[CU_GRAPH_NODE_TYPE_MEMCPY] = "memcpy",
	[CU_GRAPH_NODE_TYPE_MEMSET] = "memset",
	[CU_GRAPH_NODE_TYPE_HOST] = "host",
	[CU_GRAPH_NODE_TYPE_GRAPH] = "graph",
	[CU_GRAPH_NODE_TYPE_EMPTY] = "empty",
	[CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "event wait",
	[CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "event record",
};

static void print_node(FILE *f, CUgraphNode node)
{
	const struct graph_work *w = &node->work;
	const struct graph_kernel *k = &w->kernel;

	fprintf(f, "\tn%llu [label=\"%s", (unsigned long long)node->id, names[w->type]);
	if (w->type == CU_GRAPH_NODE_TYPE_KERNEL)
		fprintf(f, "\\n%s\\n%ux%ux%u blocks of %ux%ux%u", k->f->kernel->name, k->grid[0],
			k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]);
	else if (w->type == CU_GRAPH_NODE_TYPE_MEMCPY)
		fprintf(f, "\\n%zux%zux%zu bytes", w->copy.WidthInBytes, w->copy.Height,
			w->copy.Depth);
	else if (w->type == CU_GRAPH_NODE_TYPE_MEMSET)
		fprintf(f, "\\n%zux%zu of %u bytes", w->set.width, w->set.height,
			w->set.elementSize);
	fprintf(f, "\"];\n");
}

static void print_graph(FILE *f, CUgraph graph)
{
	CUgraphNode node;
	size_t i;

	fprintf(f, "subgraph cluster_%llu {\n", (unsigned long long)graph->id);
	for (node = graph->first; node; node = node->next) {
		print_node(f, node);
		if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
			print_graph(f, node->work.child);
	}
	for (node = graph->first; node; node = node->next)
		for (i = 0; i < node->after.n; i++)
			fprintf(f, "\tn%llu -> n%llu;\n", (unsigned long long)node->id,
				(unsigned long long)node->after.at[i]->id);
	fprintf(f, "}\n");
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned int flags)
{
	CUresult r = graphs_enter();
	FILE *f;

	if (r)
		return r;
	f = is_graph(graph) && path ? own_file(fopen(path, "we"), "w") : NULL;
	if (f) {
		fprintf(f, "digraph {\n");
		print_graph(f, graph);
		fprintf(f, "}\n");
		r = fclose(f) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
	} else {
		r = is_graph(graph) && path ? CUDA_ERROR_OPERATING_SYSTEM :
					      CUDA_ERROR_INVALID_VALUE;
	}
	graphs_leave();
	return r;
}
