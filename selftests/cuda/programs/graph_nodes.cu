// SPDX-License-Identifier: GPL-2.0-only
/*
 * Graphs made node by node, changed before and after they were made executable, copied, asked
 * about. A round's result is compared with the CPU's.
 */
#include "check.h"
#include "graph_forms.h"

enum { N = 3000, ROUNDS = 12 };

__device__ int offset_of_all;

__global__ void scale(const int *in, int *out, int factor)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		out[i] = in[i] * factor;
}

__global__ void shift(const int *in, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		out[i] = in[i] + offset_of_all;
}

struct pair {
	char first;
	long long add;
};

__global__ void combine(const int *a, const int *b, int *sums, struct pair p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		sums[i] += a[i] - b[i] + p.first + (int)p.add;
}

static int *host_in, *host_out, *in, *a, *b, *sums, bad, calls;
static int offset = 5, offset_back;

static void expect(int factor, int add, const char *what)
{
	int wrong = 0;

	for (int i = 0; i < N; i++)
		wrong += host_out[i] != host_in[i] * factor - (host_in[i] + offset) + 1 + add;
	if (wrong)
		printf("%s: %d of %d are wrong\n", what, wrong, N);
	bad += wrong != 0;
}

static void want(bool ok, const char *what)
{
	if (!ok)
		printf("%s\n", what);
	bad += !ok;
}

static void CUDART_CB count(void *data)
{
	*(int *)data += 1;
}

static void CUDART_CB count_ten(void *data)
{
	*(int *)data += 10;
}

struct nodes {
	cudaGraph_t graph, child;
	cudaGraphNode_t upload, fill, scale, combine, download, call, variables;
	cudaKernelNodeParams scale_params;
};

static int factor = 3;
static void *scale_args[] = { &in, &a, &factor };

static void make_child(struct nodes *g)
{
	static void *args[] = { &in, &b };
	cudaKernelNodeParams p = {};
	cudaGraphNode_t to, kernel, from;

	p.func = (void *)shift;
	p.gridDim = dim3(CEIL_DIV(N, 128));
	p.blockDim = dim3(128);
	p.kernelParams = args;
	CHECK(cudaGraphCreate(&g->child, 0));
	CHECK(cudaGraphAddMemcpyNodeToSymbol(&to, g->child, NULL, 0, offset_of_all, &offset,
					     sizeof(offset), 0, cudaMemcpyHostToDevice));
	CHECK(cudaGraphAddKernelNode(&kernel, g->child, &to, 1, &p));
	CHECK(cudaGraphAddMemcpyNodeFromSymbol(&from, g->child, &kernel, 1, &offset_back,
					       offset_of_all, sizeof(offset), 0,
					       cudaMemcpyDeviceToHost));
}

static void make_graph(struct nodes *g)
{
	struct pair p = { 1, 100 };
	void *combine_args[] = { &a, &b, &sums, &p };
	cudaGraphNode_t after[3];
	cudaMemsetParams fill = {};
	cudaHostNodeParams call = { count, &calls };
	cudaKernelNodeParams k = {};

	CHECK(cudaGraphCreate(&g->graph, 0));
	CHECK(cudaGraphAddMemcpyNode1D(&g->upload, g->graph, NULL, 0, in, host_in, N * 4,
				       cudaMemcpyHostToDevice));
	fill.dst = sums;
	fill.elementSize = 4;
	fill.width = N;
	fill.height = 1;
	CHECK(cudaGraphAddMemsetNode(&g->fill, g->graph, NULL, 0, &fill));
	k.func = (void *)scale;
	k.gridDim = dim3(CEIL_DIV(N, 256));
	k.blockDim = dim3(256);
	k.kernelParams = scale_args;
	g->scale_params = k;
	CHECK(cudaGraphAddKernelNode(&g->scale, g->graph, &g->upload, 1, &k));
	make_child(g);
	CHECK(cudaGraphAddChildGraphNode(&g->variables, g->graph, &g->upload, 1, g->child));
	after[0] = g->scale;
	after[1] = g->variables;
	after[2] = g->fill;
	k.func = (void *)combine;
	k.kernelParams = combine_args;
	CHECK(cudaGraphAddKernelNode(&g->combine, g->graph, after, 3, &k));
	CHECK(cudaGraphAddMemcpyNode1D(&g->download, g->graph, &g->combine, 1, host_out, sums,
				       N * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaGraphAddHostNode(&g->call, g->graph, &g->download, 1, &call));
	p.add = 12345678;	/* the node has a copy */
}

static void refill(uint32_t *state)
{
	for (int i = 0; i < N; i++) {
		host_in[i] = random_bits(state) >> 12;
		host_out[i] = -1;
	}
}

static void run(cudaGraphExec_t exec, cudaStream_t stream, int f, int add, const char *what)
{
	static uint32_t state = 20261120;

	refill(&state);
	offset_back = -1;
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	expect(f, add, what);
	want(offset_back == offset, "a variable was not read back");
}

static void test_changes(struct nodes *g, cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaHostNodeParams call = { count_ten, &calls };
	cudaKernelNodeParams k;
	cudaGraphExec_t cloned;
	cudaGraphNode_t node;
	cudaGraph_t clone;
	int result, before;

	factor = 7;
	run(exec, stream, 3, 100, "arguments are copied");
	CHECK(cudaGraphClone(&clone, g->graph));
	CHECK(cudaGraphKernelNodeSetParams(g->scale, &g->scale_params));
	run(exec, stream, 3, 100, "what is executable is a copy");
	CHECK(cudaGraphExecKernelNodeSetParams(exec, g->scale, &g->scale_params));
	run(exec, stream, 7, 100, "a kernel's arguments changed");
	CHECK(cudaGraphExecHostNodeSetParams(exec, g->call, &call));
	before = calls;
	run(exec, stream, 7, 100, "a function changed");
	want(calls == before + 10, "the other function was not called");
	CHECK(instantiate(&cloned, clone));
	run(cloned, stream, 3, 100, "a clone keeps what it was made of");
	want(cudaGraphNodeFindInClone(&node, g->scale, clone) == cudaSuccess && node != g->scale,
	     "a node's copy");
	CHECK(cudaGraphKernelNodeGetParams(node, &k));
	want(k.func == (void *)scale && k.blockDim.x == 256 && *(int *)k.kernelParams[2] == 3,
	     "parameters of a kernel's node");
	want(update(cloned, g->graph, &result), "an update to the same nodes and edges");
	run(cloned, stream, 7, 100, "an update");
	CHECK(cudaGraphDestroyNode(node));
	want(!update(cloned, clone, &result), "an update to fewer nodes");
	run(cloned, stream, 7, 100, "an update that was refused");
	CHECK(cudaGraphExecDestroy(cloned));
	CHECK(cudaGraphDestroy(clone));
}

static void test_switch(struct nodes *g, cudaGraphExec_t exec, cudaStream_t stream)
{
	unsigned int on = 7;

	CHECK(cudaGraphNodeSetEnabled(exec, g->download, 0));
	CHECK(cudaGraphNodeGetEnabled(exec, g->download, &on));
	host_out[0] = 77;
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	want(!on && host_out[0] == 77, "a node that is switched off did something");
	CHECK(cudaGraphNodeSetEnabled(exec, g->download, 1));
	run(exec, stream, 7, 100, "switched on again");
}

static void test_questions(struct nodes *g)
{
	cudaGraphNode_t list[16];
	enum cudaGraphNodeType type;
	cudaGraphExec_t exec;
	size_t nodes = 0, roots = 16, edges = 0;

	CHECK(cudaGraphGetNodes(g->graph, NULL, &nodes));
	CHECK(cudaGraphGetRootNodes(g->graph, list, &roots));
	CHECK(count_edges(g->graph, &edges));
	CHECK(cudaGraphNodeGetType(g->variables, &type));
	/* in no order that CUDA promises */
	const bool both = (list[0] == g->upload && list[1] == g->fill) ||
			  (list[0] == g->fill && list[1] == g->upload);

	want(nodes == 7 && roots == 2 && both && !list[2] && edges == 7 &&
	     type == cudaGraphNodeTypeGraph, "nodes, roots, edges");
	want(depend(g->graph, g->upload, g->upload) == cudaErrorInvalidValue,
	     "a node that depends on itself");
	want(depend(g->graph, g->upload, g->scale) == cudaErrorInvalidValue, "an edge twice");
	CHECK(depend(g->graph, g->call, g->upload));
	want(instantiate(&exec, g->graph) == cudaErrorInvalidValue, "a cycle was not found");
	CHECK(part(g->graph, g->call, g->upload));
	want(part(g->graph, g->call, g->upload) == cudaErrorInvalidValue,
	     "an edge that is not there");
	cudaGetLastError();
}

static void test_box(cudaStream_t stream)
{
	enum { W = 24, H = 10 };
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
	static int from[H][W], to[H][W];
	cudaMemcpy3DParms up = {}, down = {};
	cudaGraphNode_t first, copy_up, copy_down, last;
	cudaEvent_t begin, end;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaArray_t array;
	float ms = -1;

	CHECK(cudaMallocArray(&array, &desc, W, H));
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	up.srcPtr = make_cudaPitchedPtr(from, W * 4, W, H);
	up.dstArray = down.srcArray = array;
	up.extent = down.extent = make_cudaExtent(W, H, 1);
	up.kind = cudaMemcpyHostToDevice;
	down.dstPtr = make_cudaPitchedPtr(to, W * 4, W, H);
	down.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddEventRecordNode(&first, graph, NULL, 0, begin));
	CHECK(cudaGraphAddMemcpyNode(&copy_up, graph, &first, 1, &up));
	CHECK(cudaGraphAddMemcpyNode(&copy_down, graph, &copy_up, 1, &down));
	CHECK(cudaGraphAddEventRecordNode(&last, graph, &copy_down, 1, end));
	CHECK(instantiate(&exec, graph));
	CHECK(cudaGraphUpload(exec, stream));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < W * H; i++)
			from[i / W][i % W] = i * 31 + round;
		CHECK(cudaGraphLaunch(exec, stream));
		CHECK(cudaStreamSynchronize(stream));
		want(!memcmp(from, to, sizeof(to)), "through an array");
		CHECK(cudaEventElapsedTime(&ms, begin, end));
		want(ms >= 0 && ms < 60000, "time between events");
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaEventDestroy(begin));
	CHECK(cudaEventDestroy(end));
	CHECK(cudaFreeArray(array));
}

static volatile int destroyed;

static void CUDART_CB destroy(void *data)
{
	destroyed = *(int *)data;
}

static void test_user_object(void)
{
	static int value = 42;
	cudaUserObject_t object;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	cudaGraph_t graph;

	CHECK(cudaUserObjectCreate(&object, &value, destroy, 1, cudaUserObjectNoDestructorSync));
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
	CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
	CHECK(instantiate(&exec, graph));
	CHECK(cudaGraphDestroy(graph));
	want(!destroyed, "an object went before what refers to it");
	CHECK(cudaGraphExecDestroy(exec));
	for (double end = now_ms() + 10000; !destroyed && now_ms() < end;)
		;
	want(destroyed == 42, "an object did not go with what refers to it");
}

int main(void)
{
	struct nodes g;
	cudaGraphExec_t exec;
	cudaStream_t stream;

	CHECK(cudaMallocHost(&host_in, N * 4));
	CHECK(cudaMallocHost(&host_out, N * 4));
	CHECK(cudaMalloc(&in, N * 4));
	CHECK(cudaMalloc(&a, N * 4));
	CHECK(cudaMalloc(&b, N * 4));
	CHECK(cudaMalloc(&sums, N * 4));
	CHECK(cudaStreamCreate(&stream));
	make_graph(&g);
	CHECK(instantiate(&exec, g.graph));
	for (int r = 0; r < ROUNDS; r++)
		run(exec, r % 3 ? stream : 0, 3, 100, "a launch");
	want(calls == ROUNDS, "calls of the host's function");
	test_changes(&g, exec, stream);
	test_switch(&g, exec, stream);
	test_questions(&g);
	test_box(stream);
	test_user_object();
	CHECK(cudaGraphDestroy(g.graph));
	CHECK(cudaGraphDestroy(g.child));
	run(exec, stream, 7, 100, "after its graph went");
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaDeviceSynchronize());
	return verdict(!bad, "graphs of 7 nodes and a child, %d launches and more, %d things wrong", ROUNDS, bad);
}
