// SPDX-License-Identifier: GPL-2.0-only
/* Graphs by the driver's calls: their answers and errors, as seen on a GPU (driver 580). */
#include "driver.h"

#include <string.h>
#include <unistd.h>

enum { N = 256 };

static CUdeviceptr buffer;
static CUcontext context;
static unsigned int wrong;

/* counts, and names the first */
static void want(CUresult got, CUresult expected, const char *what)
{
	if (got == expected)
		return;
	if (!wrong++)
		tap_diag("%s: %s for %s", what, error_name(got), error_name(expected));
}

static void want_number(size_t got, size_t expected, const char *what)
{
	if (got == expected)
		return;
	if (!wrong++)
		tap_diag("%s: %zu for %zu", what, got, expected);
}

static CUresult add_fill(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			 CUDA_MEMSET_NODE_PARAMS p)
{
	return cuGraphAddMemsetNode(node, graph, after, after ? 1 : 0, &p, context);
}

static void test_edges(void)
{
	CUgraphNode a, b, c, other_node, list[5] = { 0 };
	CUgraph graph, other;
	size_t n = 1;

	wrong = 0;
	want(cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE, "flags");
	want(cuGraphCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE, "nowhere to write to");
	MUST(cuGraphCreate(&graph, 0));
	MUST(cuGraphCreate(&other, 0));
	MUST(cuGraphAddEmptyNode(&a, graph, NULL, 0));
	MUST(cuGraphAddEmptyNode(&b, graph, &a, 1));
	MUST(cuGraphAddEmptyNode(&c, graph, NULL, 0));
	MUST(cuGraphAddEmptyNode(&other_node, other, NULL, 0));
	want(cuGraphAddEmptyNode(&list[0], graph, &other_node, 1), CUDA_ERROR_INVALID_VALUE,
	     "another graph's node");
	want(cuGraphAddEmptyNode(&list[0], graph, (CUgraphNode[]){ a, a }, 2),
	     CUDA_ERROR_INVALID_VALUE, "a dependency twice");
	want(cuGraphAddEmptyNode(&list[0], graph, NULL, 1), CUDA_ERROR_INVALID_VALUE, "no list");
	want(cuGraphAddDependencies(graph, &a, &a, 1), CUDA_ERROR_INVALID_VALUE, "itself");
	want(cuGraphAddDependencies(graph, &a, &b, 1), CUDA_ERROR_INVALID_VALUE, "an edge twice");
	want(cuGraphAddDependencies(other, &a, &c, 1), CUDA_ERROR_INVALID_VALUE, "the wrong graph");
	want(cuGraphRemoveDependencies(graph, &a, &c, 1), CUDA_ERROR_INVALID_VALUE, "no such edge");
	list[1] = a;
	want(cuGraphGetNodes(graph, list, &n), CUDA_SUCCESS, "one node");
	want_number(n == 1 && list[0] == a && list[1] == a, 1, "one node");
	n = 5;
	want(cuGraphGetNodes(graph, list, &n), CUDA_SUCCESS, "all nodes");
	want_number(n == 3 && list[2] == c && !list[3] && !list[4], 1, "all nodes");
	want(cuGraphNodeGetDependentNodes(a, NULL, &n), CUDA_SUCCESS, "dependents");
	want_number(n, 1, "dependents");
	MUST(cuGraphDestroyNode(a));
	want(cuGraphGetEdges(graph, NULL, NULL, &n), CUDA_SUCCESS, "edges");
	want_number(n, 0, "edges after a node went");
	want(cuGraphDestroy(NULL), CUDA_ERROR_INVALID_VALUE, "no graph");
	want(cuGraphDestroyNode(NULL), CUDA_ERROR_INVALID_VALUE, "no node");
	MUST(cuGraphDestroy(graph));
	MUST(cuGraphDestroy(other));
	tap_result(!wrong, "graphs: nodes and edges", "%u wrong", wrong);
}

static void test_nodes(void)
{
	CUDA_MEMSET_NODE_PARAMS good = { buffer, 0, 7, 1, N, 1 }, p;
	CUDA_HOST_NODE_PARAMS nothing = { NULL, NULL };
	CUgraphNode node, empty, found;
	CUgraph graph, clone;
	CUgraphExec exec;
	unsigned int on = 5;

	wrong = 0;
	MUST(cuGraphCreate(&graph, 0));
	p = good, p.elementSize = 3;
	want(add_fill(&node, graph, NULL, p), CUDA_ERROR_INVALID_VALUE, "elements of three bytes");
	p = good, p.width = 0;
	want(add_fill(&node, graph, NULL, p), CUDA_ERROR_INVALID_VALUE, "no width");
	p = good, p.height = 0;
	want(add_fill(&node, graph, NULL, p), CUDA_ERROR_INVALID_VALUE, "no height");
	p = good, p.dst++, p.elementSize = 4, p.width = 4;
	want(add_fill(&node, graph, NULL, p), CUDA_ERROR_INVALID_VALUE, "not aligned");
	p = good, p.width = (size_t)1 << 40;
	want(add_fill(&node, graph, NULL, p), CUDA_ERROR_INVALID_VALUE, "past the end");
	p = good, p.dst = 0;
	want(add_fill(&node, graph, NULL, p), CUDA_ERROR_INVALID_VALUE, "no memory");
	MUST(add_fill(&node, graph, NULL, good));
	MUST(cuGraphAddEmptyNode(&empty, graph, &node, 1));
	want(cuGraphAddHostNode(&found, graph, NULL, 0, &nothing), CUDA_ERROR_INVALID_VALUE,
	     "no function");
	want(cuGraphHostNodeGetParams(node, &nothing), CUDA_ERROR_INVALID_VALUE,
	     "a node of another kind");
	MUST(cuGraphClone(&clone, graph));
	want(cuGraphNodeFindInClone(&found, node, clone), CUDA_SUCCESS, "in its clone");
	want(cuGraphNodeFindInClone(&found, node, graph), CUDA_ERROR_INVALID_VALUE,
	     "in what is no clone");
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	want(cuGraphNodeSetEnabled(exec, empty, 0), CUDA_ERROR_INVALID_VALUE,
	     "an empty node switched off");
	want(cuGraphNodeSetEnabled(exec, node, 0), CUDA_SUCCESS, "a fill switched off");
	want(cuGraphNodeGetEnabled(exec, node, &on), CUDA_SUCCESS, "is it?");
	want_number(on, 0, "is it?");
	p = good, p.width = 32;
	want(cuGraphExecMemsetNodeSetParams(exec, node, &p, context), CUDA_SUCCESS,
	     "another width");
	p.elementSize = 3;
	want(cuGraphExecMemsetNodeSetParams(exec, node, &p, context), CUDA_ERROR_INVALID_VALUE,
	     "three bytes again");
	want(cuGraphExecMemsetNodeSetParams(exec, empty, &good, context), CUDA_ERROR_INVALID_VALUE,
	     "a node of another kind");
	want(cuGraphInstantiateWithFlags(&exec, graph, 2), CUDA_ERROR_INVALID_VALUE, "flags");
	want(cuGraphLaunch(NULL, NULL), CUDA_ERROR_INVALID_VALUE, "nothing to launch");
	want(cuGraphAddMemcpyNode(&found, graph, NULL, 0, &(CUDA_MEMCPY3D){ 0 }, context),
	     CUDA_ERROR_INVALID_VALUE, "nothing to copy");
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphDestroy(clone));
	MUST(cuGraphDestroy(graph));
	tap_result(!wrong, "graphs: nodes", "%u wrong", wrong);
}

/* a kernel, launched again and again between fills */
static void test_launches(void)
{
	int *pinned, i, rounds = 1000, expected = 0, bad = 0;
	void *params[] = { &buffer, &rounds };
	CUDA_KERNEL_NODE_PARAMS k = { kernel("spin"), 1, 1, 1, 1, 1, 1, 0, params, NULL };
	CUgraphNode fill, run, back;
	CUDA_MEMCPY3D copy = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
			       .srcDevice = buffer,
			       .dstMemoryType = CU_MEMORYTYPE_HOST,
			       .WidthInBytes = 4,
			       .Height = 1,
			       .Depth = 1 };
	CUgraphExec exec;
	CUgraph graph;
	CUstream s;
	CUresult r = CUDA_SUCCESS;

	for (i = 0; i < rounds; i++)
		expected = (int)((unsigned int)expected * 1664525u + 1013904223u);
	MUST(cuMemHostAlloc((void **)&pinned, 4, 0));
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	copy.dstHost = pinned;
	MUST(cuGraphCreate(&graph, 0));
	MUST(add_fill(&fill, graph, NULL, (CUDA_MEMSET_NODE_PARAMS){ buffer, 0, 0, 4, 1, 1 }));
	MUST(cuGraphAddKernelNode(&run, graph, &fill, 1, &k));
	MUST(cuGraphAddMemcpyNode(&back, graph, &run, 1, &copy, context));
	rounds = 0;
	MUST(cuGraphInstantiate_v2(&exec, graph, NULL, NULL, 0));
	for (i = 0; i < 100 && !r; i++) {
		*pinned = -1;
		r = cuGraphLaunch(exec, s);
		r = r ? r : cuGraphLaunch(exec, s);
		r = r ? r : cuStreamSynchronize(s);
		bad += *pinned != expected;
	}
	tap_result(!r && !bad, "graphs: 200 launches", "%s, %d of %d wrong, %x for %x",
		   error_name(r), bad, i, *pinned, expected);
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphDestroy(graph));
	MUST(cuStreamDestroy_v2(s));
	MUST(cuMemFreeHost(pinned));
}

static CUgraph captured(CUstream s, int n, size_t bytes, bool copies)
{
	CUgraph graph;

	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	for (; n; n--)
		MUST(cuMemsetD8Async(buffer, 1, bytes, s));
	if (copies)
		MUST(cuMemcpyDtoDAsync_v2(buffer, buffer + 64, 8, s));
	MUST(cuStreamEndCapture(s, &graph));
	return graph;
}

static void test_updates(void)
{
	static const struct {
		int fills;
		size_t bytes;
		bool copies;
		CUgraphExecUpdateResult result;
	} cases[] = {
		{ 2, 64, false, CU_GRAPH_EXEC_UPDATE_SUCCESS },
		{ 2, 32, false, CU_GRAPH_EXEC_UPDATE_SUCCESS },
		{ 3, 64, false, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED },
		{ 1, 64, false, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED },
		{ 1, 64, true, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED },
	};
	CUgraphExecUpdateResult result;
	CUgraphNode node;
	CUgraphExec exec;
	CUgraph graph;
	CUstream s;
	unsigned int i;

	wrong = 0;
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	graph = captured(s, 2, 64, false);
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	MUST(cuGraphDestroy(graph));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		graph = captured(s, cases[i].fills, cases[i].bytes, cases[i].copies);
		want(cuGraphExecUpdate(exec, graph, &node, &result),
		     cases[i].result ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS,
		     "an update");
		want_number(result, cases[i].result, "why an update failed");
		MUST(cuGraphDestroy(graph));
	}
	MUST(cuGraphExecDestroy(exec));
	MUST(cuStreamDestroy_v2(s));
	tap_result(!wrong, "graphs: updates", "%u wrong", wrong);
}

static volatile int destroyed[3];

static void destroy(void *data)
{
	++*(volatile int *)data;
}

static CUgraph graph_with(volatile int *what)
{
	CUuserObject object;
	CUgraphNode node;
	CUgraph graph;

	MUST(cuUserObjectCreate(&object, (void *)what, destroy, 1,
				CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	MUST(cuGraphCreate(&graph, 0));
	MUST(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	MUST(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	return graph;
}

/* destructors may be called by a thread of the driver's */
static bool is_destroyed(unsigned int which)
{
	int i;

	for (i = 0; !destroyed[which] && i < 10000; i++)
		usleep(1000);
	return destroyed[which] == 1;
}

/* an update replaces references, also those of children */
static void test_user_objects(void)
{
	CUgraph inner = graph_with(&destroyed[0]), other = graph_with(&destroyed[1]),
		third = graph_with(&destroyed[2]), graph, next;
	CUgraphExecUpdateResult result;
	CUgraphNode child, node;
	CUgraphExec exec;

	wrong = 0;
	MUST(cuGraphCreate(&graph, 0));
	MUST(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
	MUST(cuGraphCreate(&next, 0));
	MUST(cuGraphAddChildGraphNode(&node, next, NULL, 0, third));
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	MUST(cuGraphLaunch(exec, NULL));
	MUST(cuGraphExecChildGraphNodeSetParams(exec, child, other));
	MUST(cuGraphDestroy(graph));
	MUST(cuGraphDestroy(inner));
	MUST(cuGraphDestroy(other));
	want_number(is_destroyed(0) && !destroyed[1], 1, "a child's parameters");
	MUST(cuGraphExecUpdate(exec, next, &node, &result));
	MUST(cuGraphDestroy(next));
	MUST(cuGraphDestroy(third));
	want_number(is_destroyed(1) && !destroyed[2], 1, "an update");
	MUST(cuGraphExecDestroy(exec));
	want_number(is_destroyed(2), 1, "the end");
	tap_result(!wrong, "graphs: user objects go along with updates", "%u wrong", wrong);
}

static void test_capture(void)
{
	CUstreamCaptureStatus status;
	const CUgraphNode *tips;
	CUgraph graph, asked;
	CUstream s;
	cuuint64_t id = 0;
	size_t n = 0;

	wrong = 0;
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	want(cuStreamBeginCapture_v2(NULL, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
	     "the legacy stream");
	want(cuStreamBeginCapture_v2(s, 7), CUDA_ERROR_INVALID_VALUE, "no such mode");
	want(cuStreamEndCapture(s, &graph), CUDA_ERROR_ILLEGAL_STATE, "an end without a begin");
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	MUST(cuMemsetD8Async(buffer, 1, N, s));
	want(cuStreamGetCaptureInfo_v2(s, &status, &id, &asked, &tips, &n), CUDA_SUCCESS,
	     "information");
	want_number(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id && n == 1 && tips[0], 1,
		    "information");
	want(cuStreamUpdateCaptureDependencies(s, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
	     CUDA_SUCCESS, "no dependencies");
	MUST(cuMemsetD8Async(buffer + N, 1, N, s));
	want(cuStreamEndCapture(s, &graph), CUDA_SUCCESS, "the end");
	want(cuGraphGetRootNodes(graph, NULL, &n), CUDA_SUCCESS, "roots");
	want_number(graph == asked && n == 2, 1, "roots");
	MUST(cuGraphDestroy(graph));
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	want(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "waiting");
	want(cuStreamUpdateCaptureDependencies(s, NULL, 0, 1),
	     CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "dependencies after that");
	want(cuStreamEndCapture(s, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
	     "the end after that");
	want_number(!graph, 1, "no graph");
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	MUST(cuStreamDestroy_v2(s)); /* the capture goes with it */
	want(cuCtxSynchronize(), CUDA_SUCCESS, "waiting after the stream went");
	tap_result(!wrong, "graphs: capture", "%u wrong", wrong);
}

void test_graph(void)
{
	buffer = device_buffer(2 * N);
	MUST(cuCtxGetCurrent(&context));
	test_edges();
	test_nodes();
	test_launches();
	test_updates();
	test_user_objects();
	test_capture();
	MUST(cuMemFree_v2(buffer));
}
