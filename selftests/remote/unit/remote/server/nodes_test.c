// SPDX-License-Identifier: MIT
/*
 * Graphs: which nodes have numbers, what graphs keep of what the client has ended, and what
 * executable graphs are charged.
 */
#include "ask.h"

/* the node that the library finds in a clone, or names when an update fails */
static CUgraphNode found;

static CUresult find(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
	*node = found;
	return CUDA_SUCCESS;
}

/* the node at which a further edge that is missing begins */
static CUgraphNode found_from;

static CUresult refuse_update(CUgraphExec e, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
	*info = (CUgraphExecUpdateResultInfo){ .result = CU_GRAPH_EXEC_UPDATE_ERROR,
					       .errorNode = found,
					       .errorFromNode = found_from };
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
	return GET(node, host_node, .graph = graph);
}

static uint64_t new_exec(uint64_t graph)
{
	return GET(exec, instantiate, .graph = graph, .version = 2);
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
 * A library may find a node in a child graph of the graph that was asked about. Such a node gets no
 * number there.
 */
TEST(inside_of_children)
{
	uint64_t inner = new_graph(), outer = new_graph(), child, known, exec;

	context();
	s.library.cuGraphNodeFindInClone = find;
	s.library.cuGraphExecUpdate_v2 = refuse_update;
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
	OK(ASK(cuGraphGetNodes, .graph = ANSWER(cuGraphChildGraphNodeGetGraph)->graph, .n = 1,
	       .want = 1));
	known = *(const uint64_t *)(ANSWER(cuGraphGetNodes) + 1);
	FAILS(ASK(update, .exec = exec, .graph = outer), GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(ANSWER(update)->bad, known);
	OK(ASK(cuGraphDestroyNode, .node = child));
	FAILS(ASK(cuGraphNodeGetType, .node = known), INVALID_HANDLE);
}

static uint64_t move(uint64_t graph, uint64_t child)
{
	return GET(node, child_node, .graph = graph, .child = child);
}

/* A graph that is moved keeps its number, as do its nodes, until the node ends that has it. */
TEST(graphs_are_moved)
{
	uint64_t outer = new_graph(), child = new_graph(), deep = new_graph(), other = new_graph();
	uint64_t inner = add_function(child), node, copied;

	node = move(outer, child);
	assert_int_equal(parent_of(&s, node), outer);
	assert_int_equal(GET(graph, cuGraphChildGraphNodeGetGraph, .node = node), child);
	move(child, deep);
	/* it is a node's, as is a copy; and none has itself */
	FAILS(ASK(child_node, .graph = other, .child = child), INVALID_VALUE);
	copied = add_child(other, outer);
	OK(ASK(cuGraphChildGraphNodeGetGraph, .node = copied));
	FAILS(ASK(child_node, .graph = outer,
		  .child = ANSWER(cuGraphChildGraphNodeGetGraph)->graph),
	      INVALID_VALUE);
	FAILS(ASK(child_node, .graph = other, .child = other), INVALID_VALUE);
	FAILS(ASK(child_node, .graph = deep, .child = outer), INVALID_VALUE);
	FAILS(ASK(child_node, .graph = outer, .child = inner), INVALID_HANDLE);
	FAILS(ASK(child_node, .graph = inner, .child = other), INVALID_HANDLE);
	FAILS(ASK(child_node, .graph = outer, .child = other, .dependencies = 1), INVALID_HANDLE);
	OK(ASK(cuGraphNodeGetType, .node = inner));
	OK(ASK(cuGraphDestroyNode, .node = node));
	FAILS(ASK(cuGraphNodeGetType, .node = inner), INVALID_HANDLE);
	FAILS(ASK(cuGraphDestroy, .graph = child), INVALID_HANDLE);
	FAILS(ASK(cuGraphDestroy, .graph = deep), INVALID_HANDLE);
	OK(ASK(cuGraphDestroy, .graph = outer));
	/* a library before CUDA 12.3 can't */
	s.library.cuGraphAddNode_v2 = NULL;
	FAILS(ASK(child_node, .graph = other, .child = new_graph()), NOT_SUPPORTED);
}

/* Nodes of the graph itself are found, also such as the client has not seen yet. */
TEST(inside_of_the_graph)
{
	uint64_t graph = new_graph(), node = add_function(graph), clone, exec = new_exec(graph);

	context();
	s.library.cuGraphNodeFindInClone = find;
	s.library.cuGraphExecUpdate_v2 = refuse_update;
	clone = GET(clone, cuGraphClone, .graph = graph);
	found = only_node_of(fake_of(clone));
	node = GET(node, cuGraphNodeFindInClone, .original = node, .clone = clone);
	assert_ptr_equal(fake_of(node), found);
	FAILS(ASK(update, .exec = exec, .graph = clone), GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(ANSWER(update)->bad, node);
	OK(ASK(cuGraphDestroy, .graph = clone));
	FAILS(ASK(cuGraphNodeGetType, .node = node), INVALID_HANDLE);
}

/* The parts of a copy of the client's memory are the server's own: the client knows the copy. */
TEST(inside_of_bounces)
{
	struct q_copy_node q = copy_in(new_graph(), 5, 4096, 77);
	uint64_t node, exec;
	struct fake *f;

	context();
	s.library.cuGraphExecUpdate_v2 = refuse_update;
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

/* ------------------------------------------------------------------ what the client has ended */

static unsigned int events_ended, modules_ended;
static CUcontext now_in, ended_in;
static CUevent in_graph;

static CUresult end_event(CUevent e)
{
	fake_handle(CLASS_EVENT, e);
	((struct fake *)e)->magic = 0;
	events_ended++;
	return CUDA_SUCCESS;
}

static CUresult end_module(CUmodule m)
{
	fake_handle(CLASS_MODULE, m);
	((struct fake *)m)->magic = 0;
	modules_ended++;
	ended_in = now_in;
	return CUDA_SUCCESS;
}

static CUresult enter(CUcontext ctx)
{
	now_in = ctx;
	return CUDA_SUCCESS;
}

static CUresult add_record(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			   size_t n, CUevent event)
{
	fake_handle(CLASS_GRAPH, graph);
	fake_handle(CLASS_EVENT, event);
	in_graph = event;
	*node = fake_new(CLASS_NODE);
	((struct fake *)*node)->in = (struct fake *)graph;
	return CUDA_SUCCESS;
}

/* as NVIDIA's library: reads the graph's event */
static CUresult read_event(CUgraphExec *e, CUgraph g, CUgraphNode *bad, char *log, size_t n)
{
	fake_handle(CLASS_EVENT, in_graph);
	*e = fake_new(CLASS_EXEC);
	return CUDA_SUCCESS;
}

static CUresult set_kernel(CUgraphExec e, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	fake_handle(CLASS_FUNCTION, p->func);
	return CUDA_SUCCESS;
}

static void watch_ends(void)
{
	events_ended = modules_ended = 0;
	in_graph = NULL;
	s.library.cuEventDestroy_v2 = end_event;
	s.library.cuModuleUnload = end_module;
	s.library.cuCtxSetCurrent = enter;
	s.library.cuGraphAddEventRecordNode = add_record;
	s.library.cuGraphInstantiate_v2 = read_event;
	s.library.cuGraphExecKernelNodeSetParams = set_kernel;
	context();
}

static uint64_t add_event(uint64_t graph, uint64_t event)
{
	struct q_cuGraphAddEventRecordNode q = { .graph = graph, .event = event };

	OK(fake_frame(&s, OP_cuGraphAddEventRecordNode, &q, sizeof(q)));
	return ANSWER(cuGraphAddEventRecordNode)->node;
}

/* An event that graphs have goes on to live for the library, and not for the client. */
TEST(events_of_graphs)
{
	uint64_t graph = new_graph(), event, clone, node, other;

	watch_ends();
	event = new_event();
	OK(ASK(cuEventDestroy_v2, .event = event));
	assert_int_equal(events_ended, 1);
	event = new_event();
	node = add_event(graph, event);
	add_event(graph, event);
	OK(ASK(cuEventDestroy_v2, .event = event));
	FAILS(ASK(cuEventQuery, .event = event), INVALID_HANDLE);
	assert_int_equal(events_ended, 1);
	new_exec(graph);
	clone = GET(clone, cuGraphClone, .graph = graph);
	other = new_event();
	OK(ASK(cuGraphEventRecordNodeSetEvent, .node = node, .event = other));
	OK(ASK(cuEventDestroy_v2, .event = other));
	OK(ASK(cuGraphDestroy, .graph = graph));
	assert_int_equal(events_ended, 2); /* the clone has the first one */
	OK(ASK(cuGraphDestroy, .graph = clone));
	assert_int_equal(events_ended, 3);
	assert_null(s.graph_refs.objects);
	/* an event that outlives its graphs ends when the client ends it */
	graph = new_graph();
	event = new_event();
	add_event(graph, event);
	OK(ASK(cuGraphDestroy, .graph = graph));
	OK(ASK(cuEventDestroy_v2, .event = event));
	assert_int_equal(events_ended, 4);
	assert_null(s.graph_refs.objects);
}

/* An executable graph that was given an event by itself refers to it until it ends. */
TEST(events_of_executables)
{
	uint64_t graph = new_graph(), first, second, node, exec;

	watch_ends();
	first = new_event();
	second = new_event();
	node = add_event(graph, first);
	exec = new_exec(graph);
	OK(ASK(cuGraphExecEventRecordNodeSetEvent, .exec = exec, .node = node, .event = second));
	OK(ASK(cuGraphExecEventWaitNodeSetEvent, .exec = exec, .node = node, .event = second));
	OK(ASK(cuEventDestroy_v2, .event = second));
	OK(ASK(cuGraphDestroy, .graph = graph));
	assert_int_equal(events_ended, 0);
	OK(ASK(cuGraphExecDestroy, .exec = exec));
	assert_int_equal(events_ended, 1);
	OK(ASK(cuEventDestroy_v2, .event = first));
	assert_int_equal(events_ended, 2);
}

/* A module stays loaded for graphs that have its kernels, and is unloaded in its own context. */
TEST(modules_of_graphs)
{
	struct {
		struct q_kernel_node q;
		uint8_t bytes[16];
	} make = { .q = { .graph = new_graph(), .bytes = 13 } };
	uint64_t module, other, exec, ctx;
	CUcontext its;

	watch_ends();
	ctx = s.current;
	its = now_in;
	module = new_module();
	make.q.function = function_of(module);
	OK(fake_frame(&s, OP_kernel_node, &make, sizeof(make)));
	make.q.node = ANSWER(kernel_node)->node;
	exec = new_exec(make.q.graph);
	OK(ASK(cuModuleUnload, .module = module));
	FAILS(fake_frame(&s, OP_kernel_node, &make, sizeof(make)), INVALID_HANDLE);
	FAILS(ASK(kernel_node_get, .node = make.q.node), INVALID_HANDLE);
	assert_int_equal(modules_ended, 0);
	other = new_module();
	make.q.exec = exec;
	make.q.function = function_of(other);
	OK(fake_frame(&s, OP_kernel_node, &make, sizeof(make)));
	OK(ASK(cuModuleUnload, .module = other));
	context();
	OK(ASK(cuGraphDestroy, .graph = make.q.graph));
	assert_int_equal(modules_ended, 1);
	assert_ptr_equal(ended_in, its);
	assert_ptr_not_equal(now_in, its);
	/* with their context modules end by themselves */
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	OK(ASK(cuGraphExecDestroy, .exec = exec));
	assert_int_equal(modules_ended, 1);
	assert_null(s.graph_refs.objects);
}

/* ------------------------------------------------------------------ nodes with conditions */

static uint64_t new_condition(uint64_t graph)
{
	return GET(handle, cuGraphConditionalHandleCreate, .graph = graph, .ctx = s.current,
		   .flags = 1);
}

/*
 * The library gets the condition itself and gives the bodies, which are graphs of the node's; their
 * kernels' modules live as long as the graph around the node.
 */
TEST(nodes_with_conditions)
{
	struct {
		struct q_kernel_node q;
		uint8_t bytes[16];
	} make = { .q = { .bytes = 13 } };
	uint64_t graph = new_graph(), node, bodies[2], module, handle, inner;
	const struct fake *made;

	watch_ends();
	handle = new_condition(graph);
	assert_int_equal(handle, fake_condition);
	node = GET(node, condition_node, .graph = graph, .ctx = s.current, .handle = handle,
		   .type = 2, .size = 2);
	memcpy(bodies, ANSWER(condition_node) + 1, sizeof(bodies));
	made = fake_of(node);
	assert_int_equal(made->type, CU_GRAPH_NODE_TYPE_CONDITIONAL);
	assert_ptr_equal(fake_of(bodies[0]), made->bodies[0]);
	assert_ptr_equal(fake_of(bodies[1]), made->bodies[1]);
	assert_int_equal(GET(type, cuGraphNodeGetType, .node = node),
			 CU_GRAPH_NODE_TYPE_CONDITIONAL);
	/* a graph's condition is good in bodies, too */
	OK(ASK(condition_node, .graph = bodies[1], .ctx = s.current, .handle = handle, .size = 1));
	memcpy(&inner, ANSWER(condition_node) + 1, sizeof(inner));
	module = new_module();
	make.q.function = function_of(module);
	make.q.graph = inner;
	OK(fake_frame(&s, OP_kernel_node, &make, sizeof(make)));
	assert_int_equal(parent_of(&s, ANSWER(kernel_node)->node), inner);
	OK(ASK(cuModuleUnload, .module = module));
	FAILS(ASK(cuGraphDestroy, .graph = inner), INVALID_VALUE);
	FAILS(ASK(instantiate, .graph = inner), INVALID_VALUE);
	FAILS(ASK(child_node, .graph = new_graph(), .child = inner), INVALID_VALUE);
	OK(ASK(cuGraphDestroyNode, .node = node));
	FAILS(ASK(cuGraphGetNodes, .graph = bodies[0]), INVALID_HANDLE);
	FAILS(ASK(cuGraphGetNodes, .graph = inner), INVALID_HANDLE);
	assert_int_equal(modules_ended, 0);
	OK(ASK(cuGraphDestroy, .graph = graph));
	assert_int_equal(modules_ended, 1);
}

TEST(conditions_of_graphs)
{
	uint64_t graph = new_graph(), other = new_graph(), handle, calls;

	context();
	handle = new_condition(graph);
	calls = fake_calls;
	FAILS(ASK(condition_node, .graph = other, .ctx = s.current, .handle = handle, .size = 1),
	      INVALID_VALUE);
	FAILS(ASK(condition_node, .graph = graph, .ctx = s.current, .handle = handle + 1,
		  .size = 1),
	      INVALID_VALUE);
	FAILS(ASK(condition_node, .graph = graph, .ctx = s.current, .handle = handle,
		  .size = KVGPU_REMOTE_LIST_MAX + 1),
	      INVALID_VALUE);
	FAILS(ASK(condition_node, .graph = graph, .handle = handle, .size = 1), INVALID_HANDLE);
	assert_int_equal(fake_calls, calls);
	/* the library may have one value for several graphs */
	new_condition(other);
	OK(ASK(cuGraphDestroy, .graph = graph));
	OK(ASK(condition_node, .graph = other, .ctx = s.current, .handle = handle, .size = 1));
	/* nobody knows what it takes of a limit */
	s.options.memory = 1 << 30;
	FAILS(ASK(cuGraphConditionalHandleCreate, .graph = other), NOT_SUPPORTED);
}

/* What a stream captures becomes a graph's, too. */
TEST(captured_ones)
{
	struct {
		struct q_launch q;
		uint8_t bytes[24];
	} go = { .q = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .bytes = 13 } };
	uint64_t module, event, graph;

	watch_ends();
	go.q.stream = stream();
	module = new_module();
	event = new_event();
	go.q.function = function_of(module);
	OK(ASK(cuStreamBeginCapture_v2, .stream = go.q.stream, .mode = 2));
	OK(fake_frame(&s, OP_launch, &go, sizeof(go.q) + 16));
	OK(ASK(cuEventRecordWithFlags, .event = event, .stream = go.q.stream, .flags = 1));
	graph = GET(graph, cuStreamEndCapture, .stream = go.q.stream, .want = 1);
	OK(ASK(cuModuleUnload, .module = module));
	OK(ASK(cuEventDestroy_v2, .event = event));
	assert_int_equal(modules_ended + events_ended, 0);
	OK(ASK(cuGraphDestroy, .graph = graph));
	assert_int_equal(modules_ended + events_ended, 2);
}

/* ------------------------------------------------------------------ memory of executable graphs */

enum { WIDE = 1000 };
static size_t nr_roots, nr_edges;

static CUresult roots(CUgraph g, CUgraphNode *nodes, size_t *n)
{
	*n = nr_roots;
	return CUDA_SUCCESS;
}

/* all edges begin at one node */
static CUresult edges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	size_t i;

	for (i = 0; from && i < nr_edges; i++)
		from[i] = (CUgraphNode)g;
	*n = nr_edges;
	return CUDA_SUCCESS;
}

/* one of them has data, which the first form does not tell */
static CUresult lossy_edges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	return from ? CUDA_ERROR_LOSSY_QUERY : edges(g, from, to, n);
}

static CUresult edges_with_data(CUgraph g, CUgraphNode *from, CUgraphNode *to,
				CUgraphEdgeData *data, size_t *n)
{
	if (from && !data)
		return CUDA_ERROR_LOSSY_QUERY;
	return edges(g, from, to, n);
}

/*
 * An executable graph is charged by its branches, also those of graphs in it, for as long as it
 * lives.
 */
TEST(executables_in_quota)
{
	uint64_t graph = new_graph(), outer = new_graph(), one, two;
	unsigned int i;

	context();
	s.library.cuGraphGetRootNodes = roots;
	s.library.cuGraphGetEdges = lossy_edges;
	s.library.cuGraphGetEdges_v2 = edges_with_data;
	for (i = 0; i < WIDE; i++)
		add_function(graph);
	nr_roots = WIDE;
	s.options.memory = 256 << 20;
	one = new_exec(graph);
	assert_in_range(s.quota.charged, WIDE * (112 << 10), WIDE * (136 << 10));
	FAILS(ASK(instantiate, .graph = graph, .version = 2), OUT_OF_MEMORY);
	FAILS(ASK(instantiate, .graph = graph, .version = 3), OUT_OF_MEMORY);
	OK(ASK(cuGraphExecDestroy, .exec = one));
	assert_int_equal(s.quota.charged, 0);
	/* a root with many dependents */
	nr_roots = 1;
	nr_edges = WIDE - 1;
	one = new_exec(graph);
	assert_in_range(s.quota.charged, (WIDE - 1) * (112 << 10), WIDE * (136 << 10));
	OK(ASK(cuGraphExecDestroy, .exec = one));
	/* a chain takes little */
	nr_edges = 0;
	one = new_exec(graph);
	assert_in_range(s.quota.charged, WIDE * (3 << 10), WIDE * (5 << 10));
	OK(ASK(cuGraphExecDestroy, .exec = one));
	nr_roots = WIDE;
	add_child(outer, graph);
	two = GET(exec, instantiate, .graph = outer, .version = 3);
	assert_true(s.quota.charged >= 2 * WIDE * (112 << 10));
	OK(ASK(cuGraphExecDestroy, .exec = two));
	assert_int_equal(s.quota.charged, 0);
	s.library.cuGraphInstantiate_v2 = refuse_instantiate;
	nr_roots = 1;
	FAILS(ASK(instantiate, .graph = graph, .version = 2), INVALID_VALUE);
	assert_int_equal(s.quota.charged, 0);
}

/* ------------------------------------------------------------------ libraries of two CUDAs */

static cuuint64_t flags_of;

static CUresult with_params(CUgraphExec *exec, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	flags_of = p->flags;
	p->hErrNode_out = found;
	p->result_out = 3;
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult with_flags(CUgraphExec *exec, CUgraph g, unsigned long long flags)
{
	flags_of = flags;
	*exec = fake_new(CLASS_EXEC);
	return CUDA_SUCCESS;
}

static CUresult old_update(CUgraphExec e, CUgraph g, CUgraphNode *bad,
			   CUgraphExecUpdateResult *what)
{
	*bad = found;
	*what = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

static CUresult old_capture_info(CUstream st, CUstreamCaptureStatus *status, cuuint64_t *id,
				 CUgraph *graph, const CUgraphNode **nodes, size_t *n)
{
	*status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	*id = 7;
	*graph = fake_new(CLASS_GRAPH);
	*nodes = &found;
	*n = 1;
	return CUDA_SUCCESS;
}

/* What later forms tell reaches the client. */
TEST(forms_of_cuda_12)
{
	uint64_t graph = new_graph(), node = add_function(graph), other = add_function(graph);
	uint64_t exec = new_exec(graph), st;

	context();
	st = stream();
	found = (CUgraphNode)fake_of(node);
	found_from = (CUgraphNode)fake_of(other);
	s.library.cuGraphExecUpdate_v2 = refuse_update;
	s.library.cuGraphInstantiateWithParams = with_params;
	FAILS(ASK(update, .exec = exec, .graph = graph), GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(ANSWER(update)->bad, node);
	assert_int_equal(ANSWER(update)->from, other);
	assert_int_equal(ANSWER(update)->what, CU_GRAPH_EXEC_UPDATE_ERROR);
	FAILS(ASK(instantiate, .graph = graph, .version = 3, .flags = 8), INVALID_VALUE);
	assert_int_equal(flags_of, 8);
	assert_int_equal(ANSWER(instantiate)->bad, node);
	assert_int_equal(ANSWER(instantiate)->result, 3);
	/* the fake's one capture has a node, and an edge with data */
	assert_int_equal(GET(nodes, capture_info, .stream = st, .room = 1), 1);
	assert_int_equal(ANSWER(capture_info)->edges, 1);
	assert_memory_equal((const uint64_t *)(ANSWER(capture_info) + 1) + 1,
			    &((CUgraphEdgeData){ .from_port = 1, .type = 1 }),
			    sizeof(CUgraphEdgeData));
	found_from = NULL;
}

TEST(forms_of_cuda_11)
{
	uint64_t graph = new_graph(), node = add_function(graph), exec = new_exec(graph), st;

	context();
	st = stream();
	found = (CUgraphNode)fake_of(node);
	s.library.cuGraphExecUpdate_v2 = NULL;
	s.library.cuGraphExecUpdate = old_update;
	s.library.cuGraphInstantiateWithParams = NULL;
	s.library.cuGraphInstantiateWithFlags = with_flags;
	s.library.cuStreamGetCaptureInfo_v3 = NULL;
	s.library.cuStreamGetCaptureInfo_v2 = old_capture_info;
	s.library.cuGraphGetEdges_v2 = NULL;
	s.library.cuGraphGetEdges = edges;
	s.options.memory = 256 << 20;
	nr_edges = 0;
	FAILS(ASK(update, .exec = exec, .graph = graph), GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(ANSWER(update)->bad, node);
	assert_int_equal(ANSWER(update)->from, 0);
	assert_int_equal(ANSWER(update)->what, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	OK(ASK(instantiate, .graph = graph, .version = 3, .flags = 9));
	assert_int_equal(flags_of, 9);
	assert_int_not_equal(s.quota.charged, 0);
	assert_int_equal(GET(id, capture_info, .stream = st, .room = 1), 7);
	assert_int_equal(ANSWER(capture_info)->edges, 0);
	assert_int_equal(fake_last.bytes, sizeof(struct a_capture_info) + 8);
}

/* A capture into the client's graph ends with that graph, whose number stays. */
static CUgraph to;

static CUresult end_to_graph(CUstream st, CUgraph *graph)
{
	if (graph)
		*graph = to;
	return CUDA_SUCCESS;
}

static CUresult captures_into(CUstream st, CUstreamCaptureStatus *status, cuuint64_t *id,
			      CUgraph *graph, const CUgraphNode **nodes,
			      const CUgraphEdgeData **edges, size_t *n)
{
	*status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	*graph = to;
	*n = 0;
	return CUDA_SUCCESS;
}

TEST(captures_to_a_graph)
{
	struct {
		struct q_cuStreamBeginCaptureToGraph q;
		uint64_t behind[4];
	} ask = { .q = { .n = 1, .want = 1 } };
	uint64_t graph = new_graph(), node = add_function(graph), ctx = context(), st = stream();

	to = (CUgraph)fake_of(graph);
	s.library.cuStreamEndCapture = end_to_graph;
	ask.q.stream = st;
	ask.q.graph = graph;
	ask.behind[0] = node;
	OK(fake_frame(&s, OP_cuStreamBeginCaptureToGraph, &ask, sizeof(ask.q) + 16));
	assert_int_equal(s.captures.begun, 1);
	assert_int_equal(GET(graph, cuStreamEndCapture, .stream = st, .want = 1), graph);
	OK(ASK(cuStreamDestroy_v2, .stream = st));
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	OK(ASK(cuGraphNodeGetType, .node = node));
	/* the edges' data are not all there */
	ask.q.stream = 0;
	FAILS(fake_frame(&s, OP_cuStreamBeginCaptureToGraph, &ask, sizeof(ask.q) + 8),
	      INVALID_VALUE);
}

/* A child graph that a capture fills ends with its node; one that is filled is not moved. */
TEST(captures_to_a_child)
{
	uint64_t outer = new_graph(), child = new_graph(), node, st;

	context();
	st = stream();
	s.library.cuStreamEndCapture = end_to_graph;
	to = (CUgraph)fake_of(child);
	OK(ASK(cuStreamBeginCaptureToGraph, .stream = st, .graph = child));
	FAILS(ASK(child_node, .graph = outer, .child = child), INVALID_VALUE);
	OK(ASK(cuStreamEndCapture, .stream = st, .want = 1));
	node = move(outer, child);
	OK(ASK(cuStreamBeginCaptureToGraph, .stream = st, .graph = child));
	assert_int_equal(GET(graph, cuStreamEndCapture, .stream = st, .want = 1), child);
	/* the client need not ask which graph it is */
	s.library.cuStreamGetCaptureInfo_v3 = captures_into;
	OK(ASK(cuStreamBeginCaptureToGraph, .stream = st, .graph = child));
	assert_true(handle_entry(&s, child)->filled);
	OK(ASK(cuStreamEndCapture, .stream = st));
	assert_false(handle_entry(&s, child)->filled);
	OK(ASK(cuGraphDestroyNode, .node = node));
	FAILS(ASK(cuGraphClone, .graph = child), INVALID_HANDLE);
}

/* Its node alone ends a child graph. One that was moved is no graph to run, or to update from. */
TEST(graphs_of_nodes)
{
	uint64_t outer = new_graph(), moved = new_graph(), copied = add_child(outer, new_graph());
	uint64_t exec = new_exec(outer);

	copied = GET(graph, cuGraphChildGraphNodeGetGraph, .node = copied);
	FAILS(ASK(cuGraphDestroy, .graph = copied), INVALID_VALUE);
	OK(ASK(instantiate, .graph = copied));
	OK(ASK(update, .exec = exec, .graph = copied));
	move(outer, moved);
	FAILS(ASK(cuGraphDestroy, .graph = moved), INVALID_VALUE);
	FAILS(ASK(instantiate, .graph = moved), INVALID_VALUE);
	FAILS(ASK(update, .exec = exec, .graph = moved), INVALID_VALUE);
	OK(ASK(cuGraphDestroy, .graph = outer));
	FAILS(ASK(cuGraphDestroy, .graph = moved), INVALID_HANDLE);
}

/*
 * This library counts an object's references in 32 bits. Graphs may not get so many that the count
 * passes its end, and the object is destroyed while graphs still refer to it.
 */
TEST(references_that_can_be_counted)
{
	enum { HALF = 1 << 29 };
	uint64_t one = new_graph(), two = new_graph(), object;
	unsigned int calls;

	object = GET(object, user_object, .id = 3, .count = 1, .flags = 1);
	OK(ASK(cuGraphRetainUserObject, .graph = one, .object = object, .count = HALF));
	calls = fake_calls;
	FAILS(ASK(cuGraphRetainUserObject, .graph = one, .object = object, .count = HALF),
	      INVALID_VALUE);
	FAILS(ASK(cuGraphRetainUserObject, .graph = two, .object = object, .count = HALF),
	      INVALID_VALUE);
	FAILS(ASK(cuUserObjectRetain, .object = object, .count = HALF), INVALID_VALUE);
	assert_int_equal(fake_calls, calls);
	OK(ASK(cuGraphRetainUserObject, .graph = two, .object = object, .count = HALF - 1));
	FAILS(ASK(cuUserObjectRetain, .object = object, .count = 1), INVALID_VALUE);
	/* what the client moves to a graph makes no more of them */
	OK(ASK(cuGraphRetainUserObject, .graph = two, .object = object, .count = 1, .flags = 1));
	OK(ASK(cuGraphDestroy, .graph = one));
	OK(ASK(cuGraphReleaseUserObject, .graph = two, .object = object, .count = HALF - 1));
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_GONE], 0);
	OK(ASK(cuGraphReleaseUserObject, .graph = two, .object = object, .count = 1));
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_GONE], 1);
}

TEST_MAIN(set_up, tear_down)
