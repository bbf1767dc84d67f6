// SPDX-License-Identifier: MIT
/* Graphs: which nodes have numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ask.h"

/* the node that the library finds in a clone, or names when an update fails */
static CUgraphNode found;

static CUresult find(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
	*node = found;
	return CUDA_SUCCESS;
}

static CUresult refuse_update(CUgraphExec e, CUgraph g, CUgraphNode *bad,
			      CUgraphExecUpdateResult *what)
{
	*bad = found;
	*what = CU_GRAPH_EXEC_UPDATE_ERROR;
	return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

static CUresult refuse_instantiate(CUgraphExec *e, CUgraph g, CUgraphNode *bad, char *log, size_t n)
{
	*bad = found;
	return CUDA_ERROR_INVALID_VALUE;
}

static uint64_t add_child(uint64_t graph, uint64_t child)
{
	struct q_cuGraphAddChildGraphNode q = { .graph = graph, .child = child };

	OK(fake_frame(&s, OP_cuGraphAddChildGraphNode, &q, sizeof(q)));
	return ANSWER(cuGraphAddChildGraphNode)->node;
}

static uint64_t add_function(uint64_t graph)
{
	OK(ASK(host_node, .graph = graph));
	return ANSWER(host_node)->node;
}

static uint64_t new_exec(uint64_t graph)
{
	OK(ASK(instantiate, .graph = graph, .version = 2));
	return ANSWER(instantiate)->exec;
}

static struct fake *fake_of(uint64_t id)
{
	return handle_entry(&s, id)->what;
}

/* the library's node that is in no graph but @graph, which has one */
static CUgraphNode only_node_of(const struct fake *graph)
{
	struct fake *f = fake_all;

	while (f->class != CLASS_NODE || f->in != graph)
		f = f->next;
	return (CUgraphNode)f;
}

/*
 * A library may find a node in a child graph of the graph that was asked about. Such a node ends
 * with the child graph, and not with that graph: so it gets no number there.
 */
static void inside_of_children(void **state)
{
	uint64_t inner = new_graph(), outer = new_graph(), child, known, exec;

	context();
	s.library.cuGraphNodeFindInClone = find;
	s.library.cuGraphExecUpdate = refuse_update;
	s.library.cuGraphInstantiate = refuse_instantiate;
	add_function(inner);
	child = add_child(outer, inner);
	exec = new_exec(outer);
	found = only_node_of(fake_of(child)->child);
	FAILS(ASK(cuGraphNodeFindInClone, .original = child, .clone = outer), INVALID_VALUE);
	assert_int_equal(ANSWER(cuGraphNodeFindInClone)->node, 0);
	FAILS(ASK(update, .exec = exec, .graph = outer), GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(ANSWER(update)->bad, 0);
	FAILS(ASK(instantiate, .graph = outer, .version = 1), INVALID_VALUE);
	assert_int_equal(ANSWER(instantiate)->bad, 0);
	/* a client that asked for the child graph's nodes knows the node, until the child ends */
	OK(ASK(cuGraphChildGraphNodeGetGraph, .node = child));
	OK(ASK(cuGraphGetNodes, .graph = ANSWER(cuGraphChildGraphNodeGetGraph)->graph,
	       .n = 1, .want = 1));
	known = *(const uint64_t *)(ANSWER(cuGraphGetNodes) + 1);
	FAILS(ASK(update, .exec = exec, .graph = outer), GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(ANSWER(update)->bad, known);
	OK(ASK(cuGraphDestroyNode, .node = child));
	FAILS(ASK(cuGraphNodeGetType, .node = known), INVALID_HANDLE);
}

/* Nodes of the graph itself are found, also such as the client has not seen yet. */
static void inside_of_the_graph(void **state)
{
	uint64_t graph = new_graph(), node = add_function(graph), clone, exec = new_exec(graph);

	context();
	s.library.cuGraphNodeFindInClone = find;
	s.library.cuGraphExecUpdate = refuse_update;
	OK(ASK(cuGraphClone, .graph = graph));
	clone = ANSWER(cuGraphClone)->clone;
	found = only_node_of(fake_of(clone));
	OK(ASK(cuGraphNodeFindInClone, .original = node, .clone = clone));
	node = ANSWER(cuGraphNodeFindInClone)->node;
	assert_ptr_equal(fake_of(node), found);
	FAILS(ASK(update, .exec = exec, .graph = clone), GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(ANSWER(update)->bad, node);
	OK(ASK(cuGraphDestroy, .graph = clone));
	FAILS(ASK(cuGraphNodeGetType, .node = node), INVALID_HANDLE);
}

/* The parts of a copy of the client's memory are the server's own: the client knows the copy. */
static void inside_of_ferries(void **state)
{
	struct q_copy_node q = { .graph = new_graph(),
				 .size = { 100, 1, 1 },
				 .mine = { 77, 100, 1 },
				 .src = { [END_TYPE] = CU_MEMORYTYPE_HOST,
					  [END_WHERE] = 4096,
					  [END_PITCH] = 100,
					  [END_HEIGHT] = 1,
					  [END_FERRY] = 5 },
				 .dst = { [END_TYPE] = CU_MEMORYTYPE_DEVICE,
					  [END_WHERE] = 1 << 20,
					  [END_PITCH] = 100,
					  [END_HEIGHT] = 1 } };
	uint64_t node, exec;
	struct fake *f;

	context();
	s.library.cuGraphExecUpdate = refuse_update;
	OK(fake_frame(&s, OP_copy_node, &q, sizeof(q)));
	node = ANSWER(copy_node)->node;
	exec = new_exec(q.graph);
	for (f = fake_all; f; f = f->next) {
		if (f->class != CLASS_NODE || f->in != fake_of(node)->child)
			continue;
		found = (CUgraphNode)f;
		FAILS(ASK(update, .exec = exec, .graph = q.graph), GRAPH_EXEC_UPDATE_FAILURE);
		assert_int_equal(ANSWER(update)->bad, node);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_SERVER(inside_of_children), ON_SERVER(inside_of_the_graph),
		ON_SERVER(inside_of_ferries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
