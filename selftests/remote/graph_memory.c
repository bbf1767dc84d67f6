// SPDX-License-Identifier: GPL-2.0-only
/*
 * graph_memory MODE CUBIN: the program's memory where a graph copies or keeps it. graphs: copies of
 * host memory in captures and graphs, which act when the graph runs; copied, called: a copy from
 * pinned memory behind a graph in whose copy, or host function, that memory is written;
 * user: user objects. Exit code 0: all was right.
 */
#include <stdint.h>
#include <unistd.h>

#include "memory.h"

enum { ROUNDS = 20, MANY = 300 };

static CUgraphExec executable(CUgraph graph)
{
	CUgraphExec exec;

	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

static void run(CUgraphExec exec)
{
	MUST(cuGraphLaunch(exec, s));
	MUST(cuStreamSynchronize(s));
}

/* ----------------------------------------------------------- copies among host functions */

struct relay {
	uint8_t *src, *dst;
	size_t n;
	unsigned int rounds, wrong;
};

static void write_source(void *data)
{
	struct relay *r = data;

	r->rounds++;
	r->src[0] = r->src[r->n / 2] = r->src[r->n - 1] = r->rounds;
}

static void read_result(void *data)
{
	struct relay *r = data;
	uint8_t round = r->rounds;

	r->wrong += r->dst[0] != round || r->dst[r->n / 2] != round || r->dst[r->n - 1] != round;
}

static void relay(uint8_t *src, uint8_t *dst, size_t n, const char *what)
{
	struct relay r = { src, dst, n, 0, 0 };
	CUgraphExec exec;
	CUgraph graph;
	int i;

	memset(src, 0, n);
	memset(dst, 0xee, n);
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	MUST(cuLaunchHostFunc(s, write_source, &r));
	MUST(cuMemcpyHtoDAsync_v2(one, src, n, s));
	MUST(cuMemcpyDtoDAsync_v2(two, one, n, s));
	MUST(cuMemcpyAsync((uintptr_t)dst, two, n, s));
	MUST(cuLaunchHostFunc(s, read_result, &r));
	MUST(cuStreamEndCapture(s, &graph));
	want(dst[0] == 0xee && !r.rounds, "a capture copies nothing");
	exec = executable(graph);
	for (i = 0; i < ROUNDS; i++)
		MUST(cuGraphLaunch(exec, s));
	MUST(cuStreamSynchronize(s));
	want(r.rounds == ROUNDS && !r.wrong, what);
	want(!memcmp(src, dst, n), "all bytes");
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphDestroy(graph));
}

static void relays(void)
{
	uint8_t *mine = malloc(2 * N), *pinned;

	MUST(cuMemHostAlloc((void **)&pinned, 2 * N, 0));
	relay(mine, mine + N, 5, "a few bytes among functions");
	relay(mine + 1, mine + N + 1, N - 1, "pageable memory among functions");
	relay(pinned, pinned + N, N, "pinned memory among functions");
	relay(mine, pinned + 3, N / 2, "pageable to pinned memory among functions");
	MUST(cuMemFreeHost(pinned));
	free(mine);
}

/* ------------------------------------------------------------------ nodes */

static CUDA_MEMCPY3D line(CUmemorytype to, void *dst_host, CUdeviceptr dst, CUmemorytype from,
			  void *src_host, CUdeviceptr src, size_t n)
{
	return (CUDA_MEMCPY3D){ .srcMemoryType = from,
				.srcHost = src_host,
				.srcDevice = src,
				.srcPitch = n,
				.srcHeight = 1,
				.dstMemoryType = to,
				.dstHost = dst_host,
				.dstDevice = dst,
				.dstPitch = n,
				.dstHeight = 1,
				.WidthInBytes = n,
				.Height = 1,
				.Depth = 1 };
}
#define IN(host, device, n) line(CU_MEMORYTYPE_DEVICE, NULL, device, CU_MEMORYTYPE_HOST, host, 0, n)
#define OUT(host, device, n) \
	line(CU_MEMORYTYPE_HOST, host, 0, CU_MEMORYTYPE_DEVICE, NULL, device, n)
#define DEVICE(dst, src, n) \
	line(CU_MEMORYTYPE_DEVICE, NULL, dst, CU_MEMORYTYPE_DEVICE, NULL, src, n)

static void nodes(void)
{
	enum { LEN = 5000 };
	static char a[LEN], b[LEN], c[LEN], to[LEN];
	CUDA_MEMCPY3D in = IN(a, one, LEN), out = OUT(to, two, LEN),
		      between = DEVICE(two, one, LEN), got;
	CUgraphNode node[3], copy, list[4];
	CUgraphExec exec, cloned;
	CUgraph graph, clone;
	CUgraphNodeType type;
	unsigned int on = 7;
	size_t n = 4;

	memset(a, 'a', LEN);
	memset(b, 'b', LEN);
	memset(c, 'c', LEN);
	MUST(cuGraphCreate(&graph, 0));
	/* the first is made as a copy on the device, and then changed */
	MUST(cuGraphAddMemcpyNode(&node[0], graph, NULL, 0, &between, ctx));
	MUST(cuGraphAddMemcpyNode(&node[1], graph, &node[0], 1, &between, ctx));
	MUST(cuGraphAddMemcpyNode(&node[2], graph, &node[1], 1, &out, ctx));
	MUST(cuGraphMemcpyNodeSetParams(node[0], &in));
	MUST(cuGraphGetNodes(graph, list, &n));
	want(n == 3, "three nodes");
	MUST(cuGraphNodeGetDependencies(node[1], list, &n));
	want(n == 1 && list[0] == node[0], "what was changed is still before its neighbour");
	MUST(cuGraphNodeGetType(node[0], &type));
	want(type == CU_GRAPH_NODE_TYPE_MEMCPY, "a copy is one");
	MUST(cuGraphMemcpyNodeGetParams(node[0], &got));
	want(got.srcHost == a && got.srcMemoryType == CU_MEMORYTYPE_HOST && got.dstDevice == one &&
		     got.WidthInBytes == LEN,
	     "parameters of a copy from here");
	MUST(cuGraphMemcpyNodeGetParams(node[2], &got));
	want(got.dstHost == to && got.srcDevice == two, "parameters of a copy to here");
	want_error(cuGraphChildGraphNodeGetGraph(node[0], &clone), CUDA_ERROR_INVALID_VALUE,
		   "a copy is no child");
	exec = executable(graph);
	run(exec);
	want(!memcmp(to, a, LEN), "nodes");
	MUST(cuGraphClone(&clone, graph));
	in.srcHost = b;
	MUST(cuGraphMemcpyNodeSetParams(node[0], &in));
	run(exec);
	want(!memcmp(to, a, LEN), "what is executable is a copy");
	in.srcHost = c;
	MUST(cuGraphExecMemcpyNodeSetParams(exec, node[0], &in, ctx));
	run(exec);
	want(!memcmp(to, c, LEN), "a node of what is executable");
	want_error(cuGraphExecMemcpyNodeSetParams(exec, node[0], &between, ctx),
		   CUDA_ERROR_INVALID_VALUE, "of another kind");
	cloned = executable(clone);
	run(cloned);
	want(!memcmp(to, a, LEN), "a clone");
	MUST(cuGraphNodeFindInClone(&copy, node[0], clone));
	MUST(cuGraphMemcpyNodeGetParams(copy, &got));
	want(got.srcHost == a, "parameters of a clone's node");
	MUST(cuGraphNodeSetEnabled(exec, node[2], 0));
	MUST(cuGraphNodeGetEnabled(exec, node[2], &on));
	memset(to, 'x', LEN);
	run(exec);
	want(!on && to[0] == 'x' && to[LEN - 1] == 'x', "a copy that is off writes nothing");
	MUST(cuGraphNodeSetEnabled(exec, node[2], 1));
	run(exec);
	want(!memcmp(to, c, LEN), "a copy that is on again");
	MUST(cuGraphDestroy(clone));
	MUST(cuGraphDestroy(graph));
	c[7] = 'd';
	run(exec);
	run(cloned);
	run(exec);
	want(!memcmp(to, c, LEN), "after its graph went");
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphExecDestroy(cloned));
}

/* lines in memory with a pitch, through an array; from one launch to the next by an update */
static void lines(void)
{
	enum { W = 100, H = 9, PITCH = 130 };
	static uint8_t from[H][PITCH], to[H][PITCH];
	const CUDA_ARRAY_DESCRIPTOR d = {
		.Width = W, .Height = H, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1
	};
	CUDA_MEMCPY2D up = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			     .srcHost = from,
			     .srcPitch = PITCH,
			     .dstMemoryType = CU_MEMORYTYPE_ARRAY,
			     .srcXInBytes = 3,
			     .srcY = 1,
			     .WidthInBytes = W - 4,
			     .Height = H - 1 };
	CUDA_MEMCPY2D down = { .dstMemoryType = CU_MEMORYTYPE_HOST,
			       .dstHost = to,
			       .dstPitch = PITCH,
			       .srcMemoryType = CU_MEMORYTYPE_ARRAY,
			       .dstXInBytes = 5,
			       .dstY = 1,
			       .WidthInBytes = W - 4,
			       .Height = H - 1 };
	CUgraphExecUpdateResult what;
	CUgraphExec exec = NULL;
	CUgraphNode node;
	unsigned int y, i;
	CUgraph graph;

	MUST(cuArrayCreate_v2(&up.dstArray, &d));
	down.srcArray = up.dstArray;
	for (i = 0; i < 4; i++) {
		MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
		MUST(cuMemcpy2DAsync_v2(&up, s));
		MUST(cuMemcpy2DAsync_v2(&down, s));
		MUST(cuStreamEndCapture(s, &graph));
		if (exec)
			want_error(cuGraphExecUpdate(exec, graph, &node, &what), CUDA_SUCCESS,
				   "an update to the same copies");
		else
			exec = executable(graph);
		MUST(cuGraphDestroy(graph));
		for (y = 0; y < H; y++)
			memset(from[y], 10 * i + y, PITCH);
		memset(to, 0xff, sizeof(to));
		run(exec);
		for (y = 1; y < H; y++)
			want(to[y][4] == 0xff && to[y][5] == 10 * i + y && to[y][W] == 10 * i + y &&
				     to[y][W + 1] == 0xff,
			     "a line");
		want(to[0][50] == 0xff, "the first line");
	}
	MUST(cuGraphExecDestroy(exec));
	MUST(cuArrayDestroy(up.dstArray));
}

/* more memory in all than is shared with the server: memory has to be given back */
static void many(void)
{
	uint8_t *from = calloc(1, N), *to = calloc(1, N);
	CUgraphExecUpdateResult what;
	CUgraphExec exec = NULL;
	CUgraphNode node;
	CUgraph graph;
	CUresult r;
	int i, turns = 0;

	for (i = 1; i <= MANY; i++) {
		MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
		MUST(cuMemcpyHtoDAsync_v2(one, from + i, N / 3, s));
		MUST(cuMemcpyDtoHAsync_v2(to + i, one, N / 3, s));
		MUST(cuStreamEndCapture(s, &graph));
		r = exec && i % 2 ? cuGraphExecUpdate(exec, graph, &node, &what) :
				    CUDA_ERROR_UNKNOWN;
		turns += !r;
		if (r && exec)
			MUST(cuGraphExecDestroy(exec));
		if (r)
			exec = executable(graph);
		MUST(cuGraphDestroy(graph));
		from[i] = from[i + N / 3 - 1] = i;
		run(exec);
		want(to[i] == (uint8_t)i && to[i + N / 3 - 1] == (uint8_t)i, "one of many");
	}
	want(turns == MANY / 2 - 1, "updates");
	MUST(cuGraphExecDestroy(exec));
	free(from);
	free(to);
}

static void pause_stream(void *nothing)
{
	usleep(100000);
}

/*
 * Copies from memory that changes as soon as each call has returned, in a stream that is busy;
 * beside graphs, not in one.
 */
static void uploads(void)
{
	enum { LEN = 20000, PIECES = 3 };
	static uint8_t from[LEN], to[3][PIECES * LEN];
	const CUDA_ARRAY_DESCRIPTOR d = { .Width = PIECES * LEN,
					  .Format = CU_AD_FORMAT_UNSIGNED_INT8,
					  .NumChannels = 1 };
	CUDA_MEMCPY3D box = IN(from, two, LEN);
	CUarray array;
	int i, kind;

	MUST(cuArrayCreate_v2(&array, &d));
	for (kind = 0; kind < 3; kind++) {
		MUST(cuLaunchHostFunc(s, pause_stream, NULL));
		for (i = 0; i < PIECES; i++) {
			memset(from, 1 + 10 * kind + i, LEN);
			box.dstDevice = two + i * LEN;
			if (kind == 0)
				MUST(cuMemcpyHtoDAsync_v2(one + i * LEN, from, LEN, s));
			else if (kind == 1)
				MUST(cuMemcpyHtoAAsync_v2(array, i * LEN, from, LEN, s));
			else
				MUST(cuMemcpy3DAsync_v2(&box, s));
			/* an answer: the server has come so far */
			cuStreamQuery(s);
		}
		MUST(cuStreamSynchronize(s));
	}
	MUST(cuMemcpyDtoH_v2(to[0], one, sizeof(to[0])));
	MUST(cuMemcpyAtoH_v2(to[1], array, 0, sizeof(to[1])));
	MUST(cuMemcpyDtoH_v2(to[2], two, sizeof(to[2])));
	for (kind = 0; kind < 3; kind++)
		for (i = 0; i < PIECES; i++)
			want(to[kind][i * LEN] == 1 + 10 * kind + i &&
				     !memcmp(to[kind] + i * LEN, to[kind] + i * LEN + 1, LEN - 1),
			     "a copy beside graphs");
	MUST(cuArrayDestroy(array));
}

/* copies beside a capture, with and without waiting: they are done, and do not end it */
static void beside(void)
{
	static char here[64];
	CUstream other;
	CUgraph graph;

	MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	MUST(cuMemcpyHtoDAsync_v2(one, here, sizeof(here), other));
	MUST(cuMemcpyDtoHAsync_v2(here, one, sizeof(here), other));
	MUST(cuMemcpyDtoH_v2(here, one, sizeof(here)));
	MUST(cuStreamEndCapture(s, &graph));
	MUST(cuGraphDestroy(graph));
	MUST(cuStreamDestroy_v2(other));
}

/*
 * A copy of what is executable is switched off and on, while its graph's node gets other memory,
 * and the graph goes. @changed_first: the node gets it before that; a remoted copy may stay off.
 */
static void switched(bool changed_first)
{
	enum { LEN = 5000 };
	static uint8_t a[LEN], b[LEN], to[LEN];
	CUDA_MEMCPY3D in = IN(a, one, LEN);
	CUgraph graph, other;
	CUgraphExec exec;
	CUgraphNode node;
	CUresult r;

	memset(a, 'A', LEN);
	memset(b, 'B', LEN);
	MUST(cuMemsetD8_v2(one, 'x', LEN));
	MUST(cuGraphCreate(&graph, 0));
	MUST(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &in, ctx));
	exec = executable(graph);
	in.srcHost = b;
	if (changed_first)
		MUST(cuGraphMemcpyNodeSetParams(node, &in));
	MUST(cuGraphNodeSetEnabled(exec, node, 0));
	if (!changed_first)
		MUST(cuGraphMemcpyNodeSetParams(node, &in));
	r = cuGraphNodeSetEnabled(exec, node, 1);
	want(!r || (changed_first && r == CUDA_ERROR_NOT_SUPPORTED), "switched on again");
	MUST(cuGraphDestroy(graph));
	MUST(cuGraphCreate(&other, 0));
	MUST(cuGraphDestroy(other));
	run(exec);
	MUST(cuMemcpyDtoH_v2(to, one, LEN));
	want(to[0] == (r ? 'x' : 'A') && !memcmp(to, to + 1, LEN - 1), "what it was made with");
	MUST(cuGraphExecDestroy(exec));
}

/* ------------------------------------------------------------------ by the forms of CUDA 12 */

static CUgraphNode add_node(CUgraph graph, const CUgraphNode *before, CUgraphNodeParams p)
{
	static const CUgraphEdgeData plain;
	CUgraphNode node;

	MUST(cuGraphAddNode_v2(&node, graph, before, &plain, before ? 1 : 0, &p));
	return node;
}

static CUgraphNodeParams fill(unsigned char value, size_t n)
{
	return (CUgraphNodeParams){ .type = CU_GRAPH_NODE_TYPE_MEMSET,
				    .memset = { one, 0, value, 1, n, 1, NULL } };
}

static void count(void *data)
{
	++*(unsigned int *)data;
}

static void what_is_captured(void)
{
	CUstreamCaptureStatus status;
	const CUgraphEdgeData *edges;
	const CUgraphNode *nodes;
	CUgraph graph, its;
	cuuint64_t of;
	size_t n = 0;

	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	MUST(cuMemsetD8Async(one, 1, 64, s));
	MUST(cuStreamGetCaptureInfo_v3(s, &status, &of, &its, &nodes, &edges, &n));
	want(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && n == 1 && !edges[0].type,
	     "a capture's node, and its edge");
	MUST(cuStreamEndCapture(s, &graph));
	want(graph == its, "a capture's graph");
	MUST(cuGraphDestroy(graph));
}

static void later_forms(void)
{
	static uint8_t host[4096];
	CUDA_GRAPH_INSTANTIATE_PARAMS how = { .flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
					      .hUploadStream = s };
	CUgraphNodeParams copy = { .type = CU_GRAPH_NODE_TYPE_MEMCPY }, p;
	CUgraphNodeParams call = { .type = CU_GRAPH_NODE_TYPE_HOST };
	CUgraphExecUpdateResultInfo info;
	unsigned int calls = 0;
	CUgraphNode first, node;
	CUgraphExec exec;
	CUgraph graph;

	copy.memcpy.copyParams = (CUDA_MEMCPY3D){ .srcMemoryType = CU_MEMORYTYPE_DEVICE,
						  .srcDevice = one,
						  .dstMemoryType = CU_MEMORYTYPE_HOST,
						  .dstHost = host,
						  .WidthInBytes = sizeof(host),
						  .Height = 1,
						  .Depth = 1 };
	call.host = (CUDA_HOST_NODE_PARAMS){ count, &calls };
	MUST(cuGraphCreate(&graph, 0));
	first = add_node(graph, NULL, fill(7, sizeof(host)));
	node = add_node(graph, &first, copy);
	add_node(graph, &node, call);
	MUST(cuGraphInstantiateWithParams(&exec, graph, &how));
	want(how.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS, "the result of an instantiation");
	run(exec);
	want(host[0] == 7 && host[4095] == 7 && calls == 1, "a graph of nodes of any type");
	p = fill(8, sizeof(host));
	MUST(cuGraphExecNodeSetParams(exec, first, &p));
	run(exec);
	want(host[0] == 8 && host[4095] == 8 && calls == 2, "a node of an executable graph");
	p = fill(9, sizeof(host));
	MUST(cuGraphNodeSetParams(first, &p));
	MUST(cuGraphExecUpdate_v2(exec, graph, &info));
	run(exec);
	want(host[0] == 9 && host[4095] == 9 && calls == 3, "an update");
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphDestroy(graph));
	what_is_captured();
}

static void graphs(void)
{
	relays();
	nodes();
	switched(false);
	switched(true);
	lines();
	many();
	uploads();
	beside();
	later_forms();
}

/* ------------------------------------------------------------------ behind a graph */

enum { BEHIND = 20000, BUSY = 100 };

static void write_late(void *pinned)
{
	pause_stream(NULL);
	memset(pinned, 'n', BEHIND);
}

/*
 * The graph writes @pinned, but not yet when the next copy is asked for. Each kind has its own
 * process, so that nothing has said before that pinned memory can change.
 */
static void behind(bool called)
{
	static uint8_t to[BEHIND];
	uint8_t *pinned;
	CUgraphExec exec;
	CUgraph graph;
	int i;

	MUST(cuMemHostAlloc((void **)&pinned, BEHIND, 0));
	memset(pinned, 'o', BEHIND);
	MUST(cuMemsetD8_v2(one, 'n', N));
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	if (called)
		MUST(cuLaunchHostFunc(s, write_late, pinned));
	for (i = 0; i < BUSY && !called; i++)
		MUST(cuMemcpyDtoDAsync_v2(two, one, N, s));
	if (!called)
		MUST(cuMemcpyDtoHAsync_v2(pinned, one, BEHIND, s));
	MUST(cuStreamEndCapture(s, &graph));
	exec = executable(graph);
	MUST(cuGraphLaunch(exec, s));
	MUST(cuMemcpyHtoDAsync_v2(two, pinned, BEHIND, s));
	MUST(cuStreamSynchronize(s));
	MUST(cuMemcpyDtoH_v2(to, two, BEHIND));
	want(to[0] == 'n' && !memcmp(to, to + 1, BEHIND - 1), "a copy behind a graph");
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphDestroy(graph));
	MUST(cuMemFreeHost(pinned));
}

static void copied(void)
{
	behind(false);
}

static void called(void)
{
	behind(true);
}

/* ------------------------------------------------------------------ user objects */

static int destroyed; /* atomic */

static void destroy(void *data)
{
	__atomic_add_fetch(&destroyed, *(int *)data, __ATOMIC_RELEASE);
}

/* asks the server each millisecond, until it is so; false: it was not for a long time */
static bool comes_true(int expected)
{
	int i;

	for (i = 0; __atomic_load_n(&destroyed, __ATOMIC_ACQUIRE) != expected && i < 10000; i++) {
		MUST(cuCtxSynchronize());
		usleep(1000);
	}
	return __atomic_load_n(&destroyed, __ATOMIC_ACQUIRE) == expected;
}

static void user(void)
{
	static int first = 1, second = 10;
	CUuserObject a, b;
	CUgraph graph, clone;
	CUgraphNode node;
	CUgraphExec exec;

	want_error(cuUserObjectCreate(&a, &first, destroy, 1, 0), CUDA_ERROR_INVALID_VALUE,
		   "without its flag");
	want_error(cuUserObjectCreate(&a, &first, destroy, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
		   CUDA_ERROR_INVALID_VALUE, "no reference");
	MUST(cuUserObjectCreate(&a, &first, destroy, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	want_error(cuUserObjectRelease(a, 3), CUDA_ERROR_INVALID_VALUE,
		   "more references than there are");
	MUST(cuUserObjectRetain(a, 1));
	MUST(cuUserObjectRelease(a, 2));
	want(comes_true(0), "an object with a reference lives");
	MUST(cuUserObjectRelease(a, 1));
	want(comes_true(1), "the last reference");
	want_error(cuUserObjectRetain(a, 1), CUDA_ERROR_INVALID_VALUE, "an object that is gone");
	want_error(cuUserObjectRetain(NULL, 1), CUDA_ERROR_INVALID_VALUE, "no object");

	MUST(cuUserObjectCreate(&b, &second, destroy, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	MUST(cuGraphCreate(&graph, 0));
	MUST(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	MUST(cuGraphRetainUserObject(graph, b, 1, CU_GRAPH_USER_OBJECT_MOVE));
	MUST(cuGraphRetainUserObject(graph, b, 1, 0));
	MUST(cuGraphReleaseUserObject(graph, b, 1));
	want_error(cuGraphReleaseUserObject(graph, b, 2), CUDA_ERROR_INVALID_VALUE,
		   "more than the graph has");
	MUST(cuGraphClone(&clone, graph));
	MUST(cuGraphInstantiateWithFlags(&exec, clone, 0));
	MUST(cuGraphReleaseUserObject(graph, b, 1));
	MUST(cuGraphReleaseUserObject(clone, b, 1));
	MUST(cuUserObjectRelease(b, 1));
	MUST(cuGraphDestroy(clone));
	MUST(cuGraphDestroy(graph));
	MUST(cuCtxSynchronize());
	want(comes_true(1), "an executable graph's reference");
	run(exec);
	MUST(cuGraphExecDestroy(exec));
	want(comes_true(11), "an executable graph's reference was the last");
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{ "graphs", graphs }, { "copied", copied }, { "called", called }, { "user", user }
	};

	return run_mode(argc, argv, modes, sizeof(modes) / sizeof(modes[0]));
}
