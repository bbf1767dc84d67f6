// SPDX-License-Identifier: MIT
/*
 * Launches with attributes, graphs by the forms of CUDA 12, tensor maps and words that streams
 * write: what an honest server is asked, and what the program gets (liar.h).
 */
#include <selftests/unit_test.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/mman.h>

#include "../result.h"
#include "liar.h"

enum { ASKED_MAX = 64, CLUSTERS = 120 };

/* what was asked, in order, and the last such frame */
static uint16_t asked[ASKED_MAX];
static unsigned int nr_asked;
static uint8_t frame[64 << 10] __attribute__((aligned(8)));
/* what the next answer to an operation says instead */
static struct {
	uint16_t op;
	uint32_t result;
	uint64_t word[LIAR_WORDS];
	unsigned int words;
} other;
static struct a_function function;

static uint64_t id(unsigned int class, unsigned int index)
{
	return index | 1ull << 32 | (uint64_t) class << 56;
}

static void say_function(struct liar_frame *f)
{
	const uint64_t number = f->word[0];
	uint32_t *layout = (uint32_t *)(f->word + sizeof(function) / 8);

	memcpy(f->word, &function, sizeof(function));
	f->word[0] = number;
	layout[0] = 0;
	layout[1] = 20000;
	layout[2] = 20000;
	layout[3] = 8;
	f->words += 2;
}

static void say_facts(struct a_facts *a)
{
	unsigned int i;

	for (i = 2; i < 8; i++)
		a->attribute[i] = 1024;
	a->attribute[8] = 48 << 10;
	a->attribute[CLUSTERS] = 1;
}

static void say(struct liar_frame *f)
{
	static unsigned int last;
	const uint8_t what = liar_shapes[f->op].word[0];

	if (f->op == OP_init)
		*(struct a_init *)f->word = (struct a_init){ .devices = 1, .version = 13000 };
	else if (f->op == OP_facts)
		say_facts((struct a_facts *)f->word);
	else if (what && what < NR_CLASSES)
		f->word[0] = id(what, ++last);
	if (f->op == OP_function)
		say_function(f);
	if (f->op == OP_facts || f->op == OP_init)
		return;
	if (nr_asked < ASKED_MAX)
		asked[nr_asked++] = f->op;
	memcpy(frame, f->q, sizeof(frame));
	if (f->op != other.op)
		return;
	f->result = other.result;
	f->words = other.words;
	memcpy(f->word, other.word, sizeof(other.word));
	other.op = 0;
}

static void answer_with(uint16_t op, uint32_t result, const void *answer, size_t n)
{
	other.op = op;
	other.result = result;
	other.words = n / 8;
	memcpy(other.word, answer, n);
}

#define Q(name)	     ((const struct q_##name *)frame)
#define BEHIND(name) ((const uint64_t *)(frame + sizeof(struct q_##name)))

/* the last question was this one, and the only one since forget() */
#define ASKED(name)                                    \
	do {                                           \
		assert_int_equal(nr_asked, 1);         \
		assert_int_equal(asked[0], OP_##name); \
		nr_asked = 0;                          \
	} while (0)

static CUcontext ctx;
static CUstream stream;
static CUevent event;
static CUgraph graph;
static CUgraphNode node;
static CUgraphExec exec;

static uint64_t number(const void *handle)
{
	return ((const struct object *)handle)->id;
}

static int begin(void **state)
{
	function = (struct a_function){ .parameters = 2, .layout_known = 1 };
	if (cuCtxCreate_v2(&ctx, 0, 0) || cuStreamCreate(&stream, 0) || cuEventCreate(&event, 0) ||
	    cuGraphCreate(&graph, 0) || cuGraphAddEmptyNode(&node, graph, NULL, 0) ||
	    cuGraphInstantiateWithFlags(&exec, graph, 0))
		return -1;
	nr_asked = 0;
	other.op = 0;
	return 0;
}

static int end(void **state)
{
	return cuCtxDestroy_v2(ctx);
}

/* ------------------------------------------------------------------ launches */

static CUfunction get_function(void)
{
	CUmodule module;
	CUfunction f;
	unsigned int i;

	for (i = 0; i < sizeof(function.attribute_known) / sizeof(uint32_t); i++)
		function.attribute_known[i] = 1;
	function.attribute[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024;
	OK(cuModuleLoadData(&module, "//\n.version 7.8\n"));
	OK(cuModuleGetFunction(&f, module, "kernel"));
	nr_asked = 0;
	return f;
}

static uint8_t large[20000];
static uint64_t small;
static void *params[] = { large, &small };

static CUresult launch(CUfunction f, unsigned int blocks, unsigned int shared,
		       CUlaunchAttribute *attributes, unsigned int n)
{
	const CUlaunchConfig c = { blocks, 1, 1, 64, 1, 1, shared, stream, attributes, n };

	return cuLaunchKernelEx(&c, f, params, NULL);
}

static CUlaunchAttribute cluster(unsigned int x, unsigned int y, unsigned int z)
{
	return (CUlaunchAttribute){ .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
				    .value.clusterDim = { x, y, z } };
}

/* A launch that can't be wrong is not waited for. */
#define QUEUED(call)                           \
	do {                                   \
		OK(call);                      \
		assert_int_equal(nr_asked, 0); \
	} while (0)
#define WAITED(call)           \
	do {                   \
		OK(call);      \
		ASKED(launch); \
	} while (0)

TEST(launches_that_can_be_wrong_are_asked)
{
	CUlaunchAttribute a[2] = { { .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
				     .value.cooperative = 1 } };
	CUfunction f = get_function();

	QUEUED(launch(f, 4, 0, NULL, 0));
	QUEUED(launch(f, 4, 0, a, 1));
	a[1] = cluster(2, 1, 1);
	QUEUED(launch(f, 4, 0, a, 2));
	WAITED(launch(f, 5, 0, a, 2));
	a[1] = cluster(8, 1, 1);
	QUEUED(launch(f, 16, 0, a, 2));
	a[1] = cluster(16, 1, 1); /* not on each GPU with clusters */
	WAITED(launch(f, 16, 0, a, 2));
	a[1] = cluster(1, 0, 1);
	WAITED(launch(f, 16, 0, a, 2));
	a[1] = (CUlaunchAttribute){ .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE };
	QUEUED(launch(f, 16, 0, a, 2));
	a[1].value.cooperative = 1; /* the grid may be too large */
	WAITED(launch(f, 16, 0, a, 2));
	a[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
	WAITED(launch(f, 16, 0, a, 2));
}

TEST(clusters_that_a_kernel_wants)
{
	enum { MUST_BE_SET = 10, WIDTH = 11 };
	CUlaunchAttribute a = cluster(2, 1, 1);
	CUfunction f;

	function.attribute[MUST_BE_SET] = 1;
	f = get_function();
	WAITED(launch(f, 4, 0, NULL, 0));
	QUEUED(launch(f, 4, 0, &a, 1));
	function.attribute[WIDTH] = 4;
	function.attribute[WIDTH + 1] = function.attribute[WIDTH + 2] = 1;
	f = get_function();
	QUEUED(launch(f, 4, 0, NULL, 0));
	WAITED(launch(f, 6, 0, NULL, 0));
	WAITED(launch(f, 4, 0, &a, 1));
}

/* The program allows a function more than what any function has. */
TEST(shared_memory_that_is_allowed)
{
	CUfunction f = get_function();

	WAITED(launch(f, 1, 100 << 10, NULL, 0));
	OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200 << 10));
	nr_asked = 0;
	QUEUED(launch(f, 1, 100 << 10, NULL, 0));
	QUEUED(launch(f, 1, 200 << 10, NULL, 0));
	WAITED(launch(f, 1, (200 << 10) + 1, NULL, 0));
}

TEST(what_a_launch_sends)
{
	CUlaunchAttribute a[2] = { { .id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
				     .value.event = event },
				   { .id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -3 } };
	const CUlaunchAttribute *sent;
	CUfunction f = get_function();
	uint64_t its;

	large[0] = 11;
	large[19999] = 22;
	small = 33;
	WAITED(launch(f, 4, 5, a, 2));
	assert_int_equal(Q(launch)->function, number(f));
	assert_int_equal(Q(launch)->stream, number(stream));
	assert_int_equal(Q(launch)->grid[0], 4);
	assert_int_equal(Q(launch)->block[0], 64);
	assert_int_equal(Q(launch)->shared, 5);
	assert_int_equal(Q(launch)->bytes, 20008);
	assert_int_equal(Q(launch)->attributes, 2);
	assert_memory_equal(BEHIND(launch), large, sizeof(large));
	assert_int_equal(BEHIND(launch)[20000 / 8], 33);
	sent = (const CUlaunchAttribute *)(BEHIND(launch) + 20008 / 8);
	memcpy(&its, &sent[0].value, sizeof(its));
	assert_int_equal(its, number(event));
	assert_int_equal(sent[1].value.priority, -3);
	/* the program's own is as it was */
	assert_ptr_equal(a[0].value.event, event);
	a[0].value.event = (CUevent)stream;
	FAILS(launch(f, 4, 5, a, 2), INVALID_HANDLE);
	FAILS(launch(f, 4, 5, NULL, 2), INVALID_VALUE);
	FAILS(launch(f, 4, 5, a, KVGPU_REMOTE_ATTRIBUTES_MAX + 1), INVALID_VALUE);
	assert_int_equal(nr_asked, 0);
	WAITED(cuLaunchCooperativeKernel(f, 4, 1, 1, 64, 1, 1, 0, stream, params));
	assert_int_equal(Q(launch)->attributes, 1);
	sent = (const CUlaunchAttribute *)(BEHIND(launch) + 20008 / 8);
	assert_int_equal(sent->id, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
	assert_int_equal(sent->value.cooperative, 1);
}

TEST(how_many_clusters)
{
	CUlaunchAttribute a = cluster(2, 1, 1);
	const CUlaunchConfig c = { 4, 5, 6, 7, 8, 9, 10, (CUstream)&a, &a, 1 };
	const struct a_clusters answer = { .clusters = 66 };
	CUfunction f = get_function();
	int n = 0;

	answer_with(OP_clusters, 0, &answer, sizeof(answer));
	OK(cuOccupancyMaxActiveClusters(&n, f, &c));
	ASKED(clusters);
	assert_int_equal(n, 66);
	assert_int_equal(Q(clusters)->grid[2], 6);
	assert_int_equal(Q(clusters)->block[2], 9);
	assert_int_equal(Q(clusters)->shared, 10);
	assert_int_equal(Q(clusters)->potential, 0);
	assert_memory_equal(BEHIND(clusters), &a, sizeof(a));
	OK(cuOccupancyMaxPotentialClusterSize(&n, f, &c));
	assert_int_equal(Q(clusters)->potential, 1);
	FAILS(cuOccupancyMaxActiveClusters(NULL, f, &c), INVALID_VALUE);
	FAILS(cuOccupancyMaxActiveClusters(&n, f, NULL), INVALID_VALUE);
	FAILS(cuOccupancyMaxActiveClusters(&n, (CUfunction)stream, &c), INVALID_HANDLE);
}

/* ------------------------------------------------------------------ nodes of any type */

static void on_host(void *data)
{
}

static CUgraphNodeParams params_of(CUgraphNodeType type, CUfunction f, CUgraph child)
{
	CUgraphNodeParams p = { .type = type };

	switch (type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		p.kernel.func = f;
		p.kernel.kernelParams = params;
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		p.memcpy.copyParams = (CUDA_MEMCPY3D){ .srcMemoryType = CU_MEMORYTYPE_DEVICE,
						       .srcDevice = 0x700000000,
						       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
						       .dstDevice = 0x700001000,
						       .WidthInBytes = 8,
						       .Height = 1,
						       .Depth = 1 };
		break;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		p.memset = (CUDA_MEMSET_NODE_PARAMS_v2){ 0x700000000, 0, 1, 4, 8, 1, ctx };
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		p.host.fn = on_host;
		break;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		p.graph.graph = child;
		break;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		p.eventWait.event = event;
	default:
		break;
	}
	return p;
}

/* by type: what adds it, sets it, and sets it in an executable graph */
static const uint16_t ops[][3] = {
	[CU_GRAPH_NODE_TYPE_KERNEL] = { OP_kernel_node, OP_kernel_node, OP_kernel_node },
	[CU_GRAPH_NODE_TYPE_MEMCPY] = { OP_copy_node, OP_copy_node, OP_copy_node },
	[CU_GRAPH_NODE_TYPE_MEMSET] = { OP_cuGraphAddMemsetNode, OP_cuGraphMemsetNodeSetParams,
					OP_cuGraphExecMemsetNodeSetParams },
	[CU_GRAPH_NODE_TYPE_HOST] = { OP_host_node, OP_host_node, OP_host_node },
	[CU_GRAPH_NODE_TYPE_GRAPH] = { OP_cuGraphAddChildGraphNode, 0,
				       OP_cuGraphExecChildGraphNodeSetParams },
	[CU_GRAPH_NODE_TYPE_EMPTY] = { OP_cuGraphAddEmptyNode, 0, 0 },
	[CU_GRAPH_NODE_TYPE_WAIT_EVENT] = { OP_cuGraphAddEventWaitNode,
					    OP_cuGraphEventWaitNodeSetEvent,
					    OP_cuGraphExecEventWaitNodeSetEvent },
	[CU_GRAPH_NODE_TYPE_EVENT_RECORD] = { OP_cuGraphAddEventRecordNode,
					      OP_cuGraphEventRecordNodeSetEvent,
					      OP_cuGraphExecEventRecordNodeSetEvent },
	[12 /* of words in memory */] = { 0 },
};

/* one question of @op, or (0) none, as it is not supported */
static void asked_once(CUresult r, uint16_t op)
{
	assert_int_equal(r, op ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(nr_asked, op ? 1 : 0);
	assert_int_equal(nr_asked ? asked[0] : 0, op);
	nr_asked = 0;
}

TEST(nodes_of_any_type)
{
	CUfunction f = get_function();
	CUgraphNodeParams p;
	CUgraphNode made;
	CUgraph child;
	unsigned int type;

	OK(cuGraphCreate(&child, 0));
	nr_asked = 0;
	for (type = 0; type < sizeof(ops) / sizeof(ops[0]); type++) {
		p = params_of(type, f, child);
		asked_once(cuGraphAddNode(&made, graph, &node, 1, &p), ops[type][0]);
		asked_once(cuGraphAddNode_v2(&made, graph, &node, NULL, 1, &p), ops[type][0]);
		asked_once(cuGraphNodeSetParams(made, &p), ops[type][1]);
		asked_once(cuGraphExecNodeSetParams(exec, made, &p), ops[type][2]);
		p.reserved2 = 1;
		FAILS(cuGraphAddNode(&made, graph, NULL, 0, &p), INVALID_VALUE);
		FAILS(cuGraphNodeSetParams(made, &p), INVALID_VALUE);
		FAILS(cuGraphExecNodeSetParams(exec, made, &p), INVALID_VALUE);
	}
	p = params_of(CU_GRAPH_NODE_TYPE_GRAPH, f, child);
	p.graph.ownership = 2;
	FAILS(cuGraphAddNode(&made, graph, NULL, 0, &p), INVALID_VALUE);
	p.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
	FAILS(cuGraphExecNodeSetParams(exec, made, &p), NOT_SUPPORTED);
	FAILS(cuGraphAddNode(&made, graph, NULL, 0, NULL), INVALID_VALUE);
	assert_int_equal(nr_asked, 0);
}

/* A graph that is moved into a node ends with it. */
TEST(graphs_are_moved)
{
	CUgraphNodeParams p = params_of(CU_GRAPH_NODE_TYPE_GRAPH, NULL, NULL);
	CUgraphNode made, inner, deep;
	CUgraph outer, child, below;

	p.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
	OK(cuGraphCreate(&outer, 0));
	OK(cuGraphCreate(&child, 0));
	OK(cuGraphCreate(&below, 0));
	OK(cuGraphAddEmptyNode(&inner, child, NULL, 0));
	nr_asked = 0;
	FAILS(cuGraphAddNode(&made, outer, NULL, 0, &p), INVALID_VALUE); /* no graph */
	p.graph.graph = (CUgraph)inner;
	FAILS(cuGraphAddNode(&made, outer, NULL, 0, &p), INVALID_HANDLE);
	p.graph.graph = child;
	FAILS(cuGraphAddNode(NULL, outer, NULL, 0, &p), INVALID_VALUE);
	assert_int_equal(nr_asked, 0);
	OK(cuGraphAddNode_v2(&made, outer, &node, NULL, 1, &p));
	ASKED(child_node);
	assert_int_equal(Q(child_node)->graph, number(outer));
	assert_int_equal(Q(child_node)->child, number(child));
	assert_int_equal(Q(child_node)->dependencies, 1);
	assert_int_equal(*(const uint64_t *)BEHIND(child_node), number(node));
	p.graph.graph = below;
	OK(cuGraphAddNode(&deep, child, NULL, 0, &p));
	assert_ptr_equal(object_parent((void *)below), deep);
	/* the server errs: one of them would have itself */
	p.graph.graph = outer;
	FAILS(cuGraphAddNode(&deep, below, NULL, 0, &p), UNKNOWN);
	OK(cuGraphDestroy(outer));
	FAILS(cuGraphDestroy(child), INVALID_HANDLE);
	FAILS(cuGraphDestroy(below), INVALID_HANDLE);
	FAILS(cuGraphDestroyNode(inner), INVALID_HANDLE);
}

/* A program gets the bodies in a list of the node's, and fills them; they end with the node. */
TEST(nodes_with_conditions)
{
	struct {
		struct a_condition_node a;
		uint64_t bodies[2];
	} answer = { { id(CLASS_NODE, 5000) }, { id(CLASS_GRAPH, 5001), id(CLASS_GRAPH, 5002) } };
	CUgraphNodeParams p = { .type = CU_GRAPH_NODE_TYPE_CONDITIONAL };
	uint64_t handle = 0x70012345678;
	CUgraphNode made, inner;
	CUgraph body;

	answer_with(OP_cuGraphConditionalHandleCreate, 0, &handle, sizeof(handle));
	OK(cuGraphConditionalHandleCreate(&p.conditional.handle, graph, ctx, 1, 1));
	ASKED(cuGraphConditionalHandleCreate);
	assert_int_equal(Q(cuGraphConditionalHandleCreate)->ctx, number(ctx));
	assert_int_equal(p.conditional.handle, handle);
	FAILS(cuGraphAddNode_v2(&made, graph, NULL, NULL, 0, &p), INVALID_VALUE); /* no size */
	p.conditional.size = 2;
	p.conditional.type = 1;
	answer_with(OP_condition_node, 0, &answer, sizeof(answer));
	OK(cuGraphAddNode_v2(&made, graph, &node, NULL, 1, &p));
	ASKED(condition_node);
	assert_int_equal(Q(condition_node)->graph, number(graph));
	assert_int_equal(Q(condition_node)->ctx, number(ctx));
	assert_int_equal(Q(condition_node)->handle, handle);
	assert_int_equal(Q(condition_node)->type, 1);
	assert_int_equal(Q(condition_node)->size, 2);
	assert_int_equal(*BEHIND(condition_node), number(node));
	body = p.conditional.phGraph_out[1];
	assert_int_equal(number(made), id(CLASS_NODE, 5000));
	assert_int_equal(number(body), id(CLASS_GRAPH, 5002));
	OK(cuGraphAddEmptyNode(&inner, body, NULL, 0));
	OK(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, 0));
	OK(cuStreamEndCapture(stream, NULL));
	assert_int_equal(Q(cuStreamEndCapture)->want, 0);
	FAILS(cuGraphExecNodeSetParams(exec, made, &p), NOT_SUPPORTED);
	OK(cuGraphDestroyNode(made));
	FAILS(cuGraphDestroyNode(inner), INVALID_HANDLE);
	FAILS(cuGraphDestroy(body), INVALID_HANDLE);
	/* the server errs: a body is missing */
	answer_with(OP_condition_node, 0, &answer, sizeof(answer) - 8);
	FAILS(cuGraphAddNode(&made, graph, NULL, 0, &p), UNKNOWN);
}

/* A copy's context need not be current. */
TEST(copies_have_their_context)
{
	CUgraphNodeParams p = params_of(CU_GRAPH_NODE_TYPE_MEMCPY, NULL, NULL);
	CUcontext second, now;
	CUgraphNode made;

	OK(cuCtxCreate_v2(&second, 0, 0));
	nr_asked = 0;
	OK(cuGraphAddNode(&made, graph, NULL, 0, &p));
	assert_int_equal(Q(copy_node)->ctx, number(second));
	p.memcpy.copyCtx = ctx;
	OK(cuGraphAddNode(&made, graph, NULL, 0, &p));
	assert_int_equal(Q(copy_node)->ctx, number(ctx));
	OK(cuGraphNodeSetParams(made, &p));
	assert_int_equal(Q(copy_node)->ctx, number(ctx));
	OK(cuGraphExecNodeSetParams(exec, made, &p));
	assert_int_equal(Q(copy_node)->ctx, number(ctx));
	OK(cuCtxGetCurrent(&now));
	assert_ptr_equal(now, second);
	OK(cuCtxDestroy_v2(second));
	OK(cuCtxSetCurrent(ctx));
}

TEST(kernels_by_the_second_form)
{
	CUfunction f = get_function();
	CUDA_KERNEL_NODE_PARAMS_v2 p = { .func = f, .gridDimZ = 3, .kernelParams = params }, got;
	struct {
		struct a_kernel_node_get a;
		uint64_t bytes[20008 / 8];
	} answer = { .a = { .function = number(f), .grid = { 1, 2, 3 }, .block = { 4, 5, 6 } } };
	uint8_t cubin[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	CUlibrary library;
	CUgraphNode made;
	CUkernel kernel;

	OK(cuGraphAddKernelNode_v2(&made, graph, &node, 1, &p));
	ASKED(kernel_node);
	assert_int_equal(Q(kernel_node)->function, number(f));
	assert_int_equal(Q(kernel_node)->grid[2], 3);
	OK(cuGraphKernelNodeSetParams_v2(made, &p));
	OK(cuGraphExecKernelNodeSetParams_v2(exec, made, &p));
	answer_with(OP_kernel_node_get, 0, &answer, sizeof(answer.a));
	memset(&got, 0xff, sizeof(got));
	OK(cuGraphKernelNodeGetParams_v2(made, &got));
	assert_ptr_equal(got.func, f);
	assert_int_equal(got.blockDimZ, 6);
	assert_null(got.kern);
	assert_ptr_equal(got.ctx, ctx);
	OK(cuLibraryLoadData(&library, cubin, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "f"));
	OK(cuKernelGetFunction(&f, kernel));
	answer.a.function = number(f);
	answer_with(OP_kernel_node_get, 0, &answer, sizeof(answer.a));
	OK(cuGraphKernelNodeGetParams_v2(made, &got));
	assert_ptr_equal(got.func, f);
	assert_ptr_equal(got.kern, kernel);
	assert_ptr_equal(got.ctx, ctx);
	FAILS(cuGraphAddKernelNode_v2(&made, graph, NULL, 0, NULL), INVALID_VALUE);
	FAILS(cuGraphKernelNodeGetParams_v2(made, NULL), INVALID_VALUE);
}

/* ------------------------------------------------------------------ edges with data */

static const CUgraphEdgeData programmatic = { .from_port = 1, .type = 1 };

TEST(nodes_behind_edges_with_data)
{
	const CUgraphEdgeData edges[2] = { { 0 }, programmatic };
	CUgraphNodeParams p = { .type = CU_GRAPH_NODE_TYPE_EMPTY };
	CUgraphNode before[2] = { node }, made = NULL;
	const uint64_t *sent;

	OK(cuGraphAddEmptyNode(&before[1], graph, NULL, 0));
	nr_asked = 0;
	OK(cuGraphAddNode_v2(&made, graph, before, edges, 1, &p)); /* without data */
	ASKED(cuGraphAddEmptyNode);
	assert_int_equal(Q(cuGraphAddEmptyNode)->n, 1);
	OK(cuGraphAddNode_v2(&made, graph, before, edges, 2, &p));
	assert_int_equal(nr_asked, 2);
	assert_int_equal(asked[0], OP_cuGraphAddEmptyNode);
	assert_int_equal(asked[1], OP_cuGraphAddDependencies_v2);
	sent = BEHIND(cuGraphAddDependencies_v2);
	assert_int_equal(Q(cuGraphAddDependencies_v2)->n, 2);
	assert_int_equal(sent[0], number(before[0]));
	assert_int_equal(sent[1], number(before[1]));
	assert_int_equal(sent[2], number(made));
	assert_int_equal(sent[3], number(made));
	assert_memory_equal(&sent[4], edges, sizeof(edges));
	/* the library refuses such an edge: then there is no node */
	nr_asked = 0;
	made = NULL;
	answer_with(OP_cuGraphAddDependencies_v2, CUDA_ERROR_INVALID_VALUE, "", 0);
	FAILS(cuGraphAddNode_v2(&made, graph, before, edges, 2, &p), INVALID_VALUE);
	assert_int_equal(nr_asked, 3);
	assert_int_equal(asked[2], OP_cuGraphDestroyNode);
	assert_null(made);
}

TEST(edges_are_told)
{
	struct {
		struct a_cuGraphGetEdges_v2 a;
		uint64_t from[2], to[2];
		CUgraphEdgeData data[2];
	} answer = { .a = { .n = 1 }, .from = { number(node) }, .data = { programmatic } };
	CUgraphNode from[2], to[2], behind;
	CUgraphEdgeData data[2];
	size_t n = 2;

	OK(cuGraphAddEmptyNode(&behind, graph, NULL, 0));
	answer.to[0] = number(behind);
	answer_with(OP_cuGraphGetEdges_v2, 0, &answer, sizeof(answer));
	OK(cuGraphGetEdges_v2(graph, from, to, data, &n));
	assert_int_equal(n, 1);
	assert_ptr_equal(from[0], node);
	assert_ptr_equal(to[0], behind);
	assert_memory_equal(&data[0], &programmatic, sizeof(data[0]));
	/* without data */
	n = 2;
	answer_with(OP_cuGraphGetEdges_v2, 0, &answer, offsetof(typeof(answer), data));
	OK(cuGraphGetEdges_v2(graph, from, to, NULL, &n));
	assert_int_equal(Q(cuGraphGetEdges_v2)->want, 3);
	/* a server has to tell all that was asked */
	n = 2;
	answer_with(OP_cuGraphGetEdges_v2, 0, &answer, offsetof(typeof(answer), data[1]));
	FAILS(cuGraphGetEdges_v2(graph, from, to, data, &n), UNKNOWN);
	nr_asked = 0;
	OK(cuGraphRemoveDependencies_v2(graph, &node, &behind, NULL, 1));
	ASKED(cuGraphRemoveDependencies_v2);
	assert_int_equal(Q(cuGraphRemoveDependencies_v2)->want, 0);
}

TEST(captures_with_data)
{
	struct {
		struct a_capture_info a;
		uint64_t node;
		CUgraphEdgeData data;
	} answer = { .a = { .id = 7,
			    .graph = number(graph),
			    .status = CU_STREAM_CAPTURE_STATUS_ACTIVE,
			    .nodes = 1,
			    .edges = 1 },
		     .node = number(node),
		     .data = programmatic };
	CUstreamCaptureStatus status;
	const CUgraphEdgeData *data;
	const CUgraphNode *nodes;
	CUgraph its;
	cuuint64_t of;
	size_t n = 0;

	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	answer_with(OP_capture_info, 0, &answer, sizeof(answer));
	OK(cuStreamGetCaptureInfo_v3(stream, &status, &of, &its, &nodes, &data, &n));
	assert_int_equal(of, 7);
	assert_ptr_equal(its, graph);
	assert_int_equal(n, 1);
	assert_ptr_equal(nodes[0], node);
	assert_memory_equal(data, &programmatic, sizeof(*data));
	/* the form without them does not leave them out */
	answer_with(OP_capture_info, 0, &answer, sizeof(answer));
	FAILS(cuStreamGetCaptureInfo_v2(stream, &status, &of, &its, &nodes, &n), LOSSY_QUERY);
	answer_with(OP_capture_info, 0, &answer, sizeof(answer));
	OK(cuStreamGetCaptureInfo_v2(stream, &status, &of, &its, NULL, NULL));
	/* a library that knows none */
	answer.a.edges = 0;
	answer_with(OP_capture_info, 0, &answer, offsetof(typeof(answer), data));
	OK(cuStreamGetCaptureInfo_v3(stream, &status, &of, &its, &nodes, &data, &n));
	assert_int_equal(data->type, 0);
	/* lies: of more than comes, of more than there may be */
	answer.a.edges = 1;
	answer_with(OP_capture_info, 0, &answer, offsetof(typeof(answer), data));
	FAILS(cuStreamGetCaptureInfo_v3(stream, &status, &of, &its, &nodes, &data, &n), UNKNOWN);
	answer.a.nodes = KVGPU_REMOTE_LIST_MAX + 1;
	answer_with(OP_capture_info, 0, &answer, sizeof(answer));
	FAILS(cuStreamGetCaptureInfo_v3(stream, &status, &of, &its, &nodes, &data, &n), UNKNOWN);
}

/* ------------------------------------------------------------------ executable graphs */

TEST(executables_by_params)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = { .flags = 1 | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
					    .hUploadStream = stream };
	const struct a_instantiate bad = { .bad = number(node), .result = 2 };
	CUgraphExec made = NULL;

	OK(cuGraphInstantiateWithParams(&made, graph, &p));
	assert_int_equal(nr_asked, 2);
	assert_int_equal(asked[0], OP_instantiate);
	assert_int_equal(asked[1], OP_cuGraphUpload);
	assert_int_equal(Q(cuGraphUpload)->stream, number(stream));
	assert_int_equal(Q(cuGraphUpload)->exec, number(made));
	assert_int_equal(p.flags, 3);
	assert_int_equal(p.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
	p.flags = 8;
	nr_asked = 0;
	OK(cuGraphInstantiateWithParams(&made, graph, &p));
	ASKED(instantiate);
	assert_int_equal(Q(instantiate)->flags, 8);
	assert_int_equal(Q(instantiate)->version, 3);
	answer_with(OP_instantiate, CUDA_ERROR_INVALID_VALUE, &bad, sizeof(bad));
	FAILS(cuGraphInstantiateWithParams(&made, graph, &p), INVALID_VALUE);
	assert_ptr_equal(p.hErrNode_out, node);
	assert_int_equal(p.result_out, 2);
	/* nothing is left of a graph that can't be uploaded */
	p.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
	answer_with(OP_cuGraphUpload, CUDA_ERROR_INVALID_VALUE, "", 0);
	nr_asked = 0;
	FAILS(cuGraphInstantiateWithParams(&made, graph, &p), INVALID_VALUE);
	assert_int_equal(asked[2], OP_cuGraphExecDestroy);
	assert_int_equal(p.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
	nr_asked = 0;
	FAILS(cuGraphInstantiateWithFlags(&made, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
	      NOT_SUPPORTED);
	FAILS(cuGraphInstantiateWithParams(&made, graph, NULL), INVALID_VALUE);
	assert_int_equal(nr_asked, 0);
}

TEST(updates_that_fail)
{
	struct a_update answer = { .bad = number(node),
				   .what = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED };
	CUgraphExecUpdateResultInfo info;
	CUgraphExecUpdateResult what;
	CUgraphNode from, bad;

	OK(cuGraphAddEmptyNode(&from, graph, NULL, 0));
	answer.from = number(from);
	answer_with(OP_update, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, &answer, sizeof(answer));
	FAILS(cuGraphExecUpdate_v2(exec, graph, &info), GRAPH_EXEC_UPDATE_FAILURE);
	assert_ptr_equal(info.errorNode, node);
	assert_ptr_equal(info.errorFromNode, from);
	assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	answer_with(OP_update, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, &answer, sizeof(answer));
	FAILS(cuGraphExecUpdate(exec, graph, &bad, &what), GRAPH_EXEC_UPDATE_FAILURE);
	assert_ptr_equal(bad, node);
	assert_int_equal(what, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	FAILS(cuGraphExecUpdate_v2(exec, graph, NULL), INVALID_VALUE);
	FAILS(cuGraphExecUpdate(exec, graph, NULL, &what), INVALID_VALUE);
}

/* ------------------------------------------------------------------ a graph as text */

/* The graph has two nodes and an edge; the second one is a graph with nothing in it. */
static CUgraphNode second;

static void say_graph(struct liar_frame *f)
{
	const bool whole = ((const struct q_cuGraphGetNodes *)f->q)->graph == number(graph);
	uint64_t *list = f->word + 1;

	say(f);
	if (f->op == OP_cuGraphGetNodes || f->op == OP_cuGraphGetEdges_v2)
		f->word[0] = !whole ? 0 : f->op == OP_cuGraphGetNodes ? 2 : 1;
	if (f->op == OP_cuGraphNodeGetType &&
	    ((const struct q_cuGraphNodeGetType *)f->q)->node == number(second))
		f->word[0] = CU_GRAPH_NODE_TYPE_GRAPH;
	if (!whole || (f->op != OP_cuGraphGetNodes && f->op != OP_cuGraphGetEdges_v2))
		return;
	list[0] = number(node);
	list[1] = number(second);
	f->words += 3;
}

TEST(graphs_as_text)
{
	const int fd = memfd_create("graph", 0);
	char path[32], text[1024] = "", want[64];

	OK(cuGraphAddEmptyNode(&second, graph, NULL, 0));
	liar_says = say_graph;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	OK(cuGraphDebugDotPrint(graph, path, 0));
	liar_says = say;
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	close(fd);
	assert_non_null(strstr(text, "digraph {"));
	snprintf(want, sizeof(want), "n%llx [label=\"kernel\"]", (unsigned long long)number(node));
	assert_non_null(strstr(text, want));
	snprintf(want, sizeof(want), "n%llx [label=\"graph\"]", (unsigned long long)number(second));
	assert_non_null(strstr(text, want));
	snprintf(want, sizeof(want), "n%llx -> n%llx;", (unsigned long long)number(node),
		 (unsigned long long)number(second));
	assert_non_null(strstr(text, want));
	FAILS(cuGraphDebugDotPrint(NULL, path, 0), INVALID_VALUE);
	FAILS(cuGraphDebugDotPrint(graph, NULL, 0), INVALID_VALUE);
	FAILS(cuGraphDebugDotPrint(graph, "/", 0), OPERATING_SYSTEM);
}

/* ----------------------------------------------------------------- tensor maps, words in memory */

TEST(tensor_maps)
{
	const cuuint64_t size[5] = { 64, 32, 4, 2, 1 }, strides[4] = { 128, 4096 };
	const cuuint32_t box[5] = { 8, 4, 2 }, steps[5] = { 1, 1, 1 };
	void *const base = (void *)0x700000000;
	const int lower[3] = { -1 }, upper[3] = { -2 };
	CUtensorMap map, answer;
	const uint64_t *sent;

	memset(&answer, 0x5a, sizeof(answer));
	answer_with(OP_cuTensorMapEncodeTiled, 0, &answer, sizeof(answer));
	OK(cuTensorMapEncodeTiled(&map, 6, 3, base, size, strides, box, steps, 1, 2, 3, 1));
	ASKED(cuTensorMapEncodeTiled);
	assert_memory_equal(&map, &answer, sizeof(map));
	assert_int_equal(Q(cuTensorMapEncodeTiled)->base, 0x700000000);
	assert_int_equal(Q(cuTensorMapEncodeTiled)->type, 6);
	assert_int_equal(Q(cuTensorMapEncodeTiled)->rank, 3);
	assert_int_equal(Q(cuTensorMapEncodeTiled)->promotion, 3);
	sent = BEHIND(cuTensorMapEncodeTiled);
	assert_memory_equal(sent, size, 24);
	assert_memory_equal(sent + 3, strides, 16);
	assert_memory_equal(sent + 5, box, 12);
	assert_memory_equal(sent + 7, steps, 12);
	OK(cuTensorMapEncodeIm2col(&map, 6, 4, base, size, strides, lower, upper, 8, 9, steps, 0, 0,
				   0, 0));
	ASKED(cuTensorMapEncodeIm2col);
	assert_memory_equal(BEHIND(cuTensorMapEncodeIm2col) + 7, lower, 8);
	assert_memory_equal(BEHIND(cuTensorMapEncodeIm2col) + 8, upper, 8);
	OK(cuTensorMapEncodeIm2col(&map, 6, 5, base, size, strides, lower, upper, 8, 9, steps, 0, 0,
				   0, 0));
	ASKED(cuTensorMapEncodeIm2col);
	assert_memory_equal(BEHIND(cuTensorMapEncodeIm2col) + 13, steps, 20);
	OK(cuTensorMapEncodeIm2colWide(&map, 6, 3, base, size, strides, -1, 1, 8, 9, steps, 0, 0, 0,
				       0, 0));
	ASKED(cuTensorMapEncodeIm2colWide);
	/* no more of the program's numbers is read than there can be */
	FAILS(cuTensorMapEncodeTiled(&map, 6, 6, base, size, strides, box, steps, 0, 0, 0, 0),
	      INVALID_VALUE);
	FAILS(cuTensorMapEncodeTiled(&map, 6, 0, base, size, strides, box, steps, 0, 0, 0, 0),
	      INVALID_VALUE);
	FAILS(cuTensorMapEncodeIm2col(&map, 6, 2, base, size, strides, lower, upper, 8, 9, steps, 0,
				      0, 0, 0),
	      INVALID_VALUE);
	FAILS(cuTensorMapReplaceAddress(NULL, base), INVALID_VALUE);
	assert_int_equal(nr_asked, 0);
	memset(&map, 0x11, sizeof(map));
	answer_with(OP_cuTensorMapReplaceAddress, 0, &answer, sizeof(answer));
	OK(cuTensorMapReplaceAddress(&map, base));
	ASKED(cuTensorMapReplaceAddress);
	assert_int_equal(Q(cuTensorMapReplaceAddress)->map[15], 0x1111111111111111);
	assert_memory_equal(&map, &answer, sizeof(map));
}

TEST(words_of_streams)
{
	enum { WAIT_32 = 1, WRITE_64 = 5 };
	CUstreamBatchMemOpParams many[2] = {
		{ .waitValue = { .operation = WAIT_32, .address = 0x700000000, .value = 3 } },
		{ .writeValue = { .operation = WRITE_64, .address = 0x700000008, .value64 = 4 } }
	};

	OK(cuStreamWriteValue64_v2(stream, 0x700000000, 1ull << 40, 1));
	ASKED(cuStreamWriteValue64_v2);
	assert_int_equal(Q(cuStreamWriteValue64_v2)->at, 0x700000000);
	assert_int_equal(Q(cuStreamWriteValue64_v2)->value, 1ull << 40);
	OK(cuStreamBatchMemOp_v2(stream, 2, many, 0));
	ASKED(cuStreamBatchMemOp_v2);
	assert_int_equal(Q(cuStreamBatchMemOp_v2)->n, 2);
	assert_memory_equal(BEHIND(cuStreamBatchMemOp_v2), many, sizeof(many));
	FAILS(cuStreamBatchMemOp_v2(stream, 2, NULL, 0), INVALID_VALUE);
	FAILS(cuStreamBatchMemOp_v2(stream, UINT32_MAX, many, 0), INVALID_VALUE);
	/* other work than the stream's own waits with it: managed memory is the GPU's until then */
	assert_true(op_touches(OP_cuStreamWaitValue32_v2) && op_touches(OP_cuStreamBatchMemOp_v2));
}

/* ------------------------------------------------------------------ links and arrays */

TEST(what_links_can)
{
	static const CUatomicOperation operations[3] = { 0, 9, 12 };
	static const uint32_t answer[4] = { 7, 9, 1 };
	unsigned int can[3] = { 0 };

	answer_with(OP_cuDeviceGetHostAtomicCapabilities, 0, answer, sizeof(answer));
	OK(cuDeviceGetHostAtomicCapabilities(can, operations, 3, 0));
	ASKED(cuDeviceGetHostAtomicCapabilities);
	assert_int_equal(Q(cuDeviceGetHostAtomicCapabilities)->count, 3);
	assert_memory_equal(BEHIND(cuDeviceGetHostAtomicCapabilities), operations,
			    sizeof(operations));
	assert_memory_equal(can, answer, sizeof(can));
	answer_with(OP_cuDeviceGetP2PAtomicCapabilities, 0, answer, 8); /* too short */
	FAILS(cuDeviceGetP2PAtomicCapabilities(can, operations, 3, 0, 0), UNKNOWN);
	nr_asked = 0;
	FAILS(cuDeviceGetHostAtomicCapabilities(can, NULL, 3, 0), INVALID_VALUE);
	FAILS(cuDeviceGetHostAtomicCapabilities(NULL, operations, 3, 0), INVALID_VALUE);
	assert_int_equal(nr_asked, 0);
}

/* a plane ends with its array */
TEST(planes_and_tiles)
{
	static const CUDA_ARRAY_SPARSE_PROPERTIES tiles = { .tileExtent = { 128, 64, 1 },
							    .miptailSize = 1 << 16 };
	CUDA_ARRAY_DESCRIPTOR desc = { 16, 16, CU_AD_FORMAT_FLOAT, 1 };
	CUDA_ARRAY_SPARSE_PROPERTIES got;
	CUarray array, plane;

	OK(cuArrayCreate_v2(&array, &desc));
	OK(cuArrayGetPlane(&plane, array, 1));
	nr_asked = 0;
	answer_with(OP_cuArrayGetSparseProperties, 0, &tiles, sizeof(tiles));
	OK(cuArrayGetSparseProperties(&got, plane));
	ASKED(cuArrayGetSparseProperties);
	assert_int_equal(Q(cuArrayGetSparseProperties)->array, number(plane));
	assert_memory_equal(&got, &tiles, sizeof(tiles));
	OK(cuArrayDestroy(array));
	FAILS(cuArrayDestroy(plane), INVALID_HANDLE);
}

int main(void)
{
	liar_says = say;
	liar_begin(1);
	return unit_tests_run(begin, end, NULL, NULL);
}
