// SPDX-License-Identifier: MIT
/* cuGraphDebugDotPrint(): a graph as text for Graphviz, in a file of the program's. */
#include <stdio.h>
#include <stdlib.h>

#include <cuda/api/process.h>

#include "client.h"

enum { DEPTH_MAX = 16 }; /* of graphs in graphs: a server says what is in which */

static const char *const names[] = {
	"kernel",
	"memcpy",
	"memset",
	"host",
	"graph",
	"empty",
	"event wait",
	"event record",
	"signal",
	"wait",
	"memory allocated",
	"memory freed",
	"batch memory operations",
	"conditional",
};

static unsigned long long number_of(const void *handle)
{
	return ((const struct object *)handle)->id;
}

static CUresult edges_of(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	CUgraphEdgeData *data = from ? malloc(*n * sizeof(*data)) : NULL;
	CUresult r = from && !data ? CUDA_ERROR_OUT_OF_MEMORY :
				     cuGraphGetEdges_v2(graph, from, to, data, n);

	free(data);
	return r == CUDA_ERROR_NOT_SUPPORTED ? cuGraphGetEdges(graph, from, to, n) : r;
}

static CUresult print_edges(FILE *f, CUgraph graph)
{
	CUgraphNode *from, *to;
	size_t n = 0, i;
	CUresult r = edges_of(graph, NULL, NULL, &n);

	if (r || !n)
		return r;
	from = n <= KVGPU_REMOTE_LIST_MAX ? malloc(2 * n * sizeof(*from)) : NULL;
	if (!from)
		return CUDA_ERROR_OUT_OF_MEMORY;
	to = from + n;
	r = edges_of(graph, from, to, &n);
	for (i = 0; !r && i < n; i++)
		fprintf(f, "\tn%llx -> n%llx;\n", number_of(from[i]), number_of(to[i]));
	free(from);
	return r;
}

static CUresult print_graph(FILE *f, CUgraph graph, unsigned int depth);

static CUresult print_node(FILE *f, CUgraphNode node, unsigned int depth)
{
	const unsigned int most = sizeof(names) / sizeof(names[0]);
	CUgraphNodeType type;
	CUgraph child;
	CUresult r = cuGraphNodeGetType(node, &type);

	if (r)
		return r;
	fprintf(f, "\tn%llx [label=\"%s\"];\n", number_of(node),
		(unsigned int)type < most ? names[type] : "another");
	if (type != CU_GRAPH_NODE_TYPE_GRAPH || depth == DEPTH_MAX)
		return CUDA_SUCCESS;
	r = cuGraphChildGraphNodeGetGraph(node, &child);
	return r ? r : print_graph(f, child, depth + 1);
}

static CUresult print_graph(FILE *f, CUgraph graph, unsigned int depth)
{
	CUgraphNode *nodes;
	size_t n = 0, i;
	CUresult r = cuGraphGetNodes(graph, NULL, &n);

	if (r)
		return r;
	nodes = n <= KVGPU_REMOTE_LIST_MAX ? malloc(n * sizeof(*nodes) + 1) : NULL;
	if (!nodes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = n ? cuGraphGetNodes(graph, nodes, &n) : CUDA_SUCCESS;
	fprintf(f, "subgraph cluster_%llx {\n", number_of(graph));
	for (i = 0; !r && i < n; i++)
		r = print_node(f, nodes[i], depth);
	free(nodes);
	if (!r)
		r = print_edges(f, graph);
	fprintf(f, "}\n");
	return r;
}

/* @flags, which ask for more of each node, change nothing */
CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned int flags)
{
	CUresult r = call_enter(CALL_NO_CONTEXT);
	FILE *f;

	if (r)
		return r;
	if (!path || !object_of(CLASS_GRAPH, graph))
		return CUDA_ERROR_INVALID_VALUE;
	f = own_file(fopen(path, "we"), "w");
	if (!f)
		return CUDA_ERROR_OPERATING_SYSTEM;
	fprintf(f, "digraph {\n");
	r = print_graph(f, graph, 0);
	fprintf(f, "}\n");
	return fclose(f) && !r ? CUDA_ERROR_OPERATING_SYSTEM : r;
}
