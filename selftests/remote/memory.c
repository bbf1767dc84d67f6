// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory MODE CUBIN: the program's memory where something else than a call copies it. graphs:
 * copies of host memory in captures and graphs read and write it when the graph runs, in its order;
 * user: user objects; managed: managed memory; managed_killed: its server is killed, when it has
 * said "ready". Exit code 0: all was right.
 */
#include <cuda/driver/api.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { N = 3 << 20, ROUNDS = 20, MANY = 300 };

static CUcontext ctx;
static CUstream s;
static CUdeviceptr one, two;
static unsigned int bad;

static const char *name_of(CUresult r)
{
	const char *name = "?";

	cuGetErrorName(r, &name);
	return name;
}

static void must(CUresult r, const char *what)
{
	if (!r)
		return;
	printf("%s: %s\n", what, name_of(r));
	exit(2);
}
#define MUST(call) must(call, #call)

static void want(bool ok, const char *what)
{
	if (!ok)
		printf("%s\n", what);
	bad += !ok;
}

static void want_error(CUresult got, CUresult expected, const char *what)
{
	if (got != expected)
		printf("%s: %s for %s\n", what, name_of(got), name_of(expected));
	bad += got != expected;
}

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

/* ----------------------------------------------------------- copies among functions of the host */

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
	uint8_t now = r->rounds;

	r->wrong += r->dst[0] != now || r->dst[r->n / 2] != now || r->dst[r->n - 1] != now;
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
	/* switched off and on */
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
	const CUDA_ARRAY_DESCRIPTOR d = { .Width = W,
					  .Height = H,
					  .Format = CU_AD_FORMAT_UNSIGNED_INT8,
					  .NumChannels = 1 };
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

/*
 * more memory in all than is shared with the server: what no graph needs any more is given back.
 * Meanwhile none waits for another
 */
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
		/* each other time an update takes the place of the old copies */
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

/* what a capture forbids, and that what goes on beside it ends no capture */
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
 * A copy of what is executable is switched off and on, and between its graph's node gets other
 * memory, then the graph goes: it has what it was made with. Where the node has changed before,
 * natively too, only what it had is not known remoted: it stays off.
 */
static void switched(bool changed_first)
{
	enum { LEN = 5000 };
	static uint8_t a[LEN], b[LEN], to[LEN];
	CUDA_MEMCPY3D in = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			     .srcHost = a,
			     .srcPitch = LEN,
			     .srcHeight = 1,
			     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			     .dstDevice = one,
			     .dstPitch = LEN,
			     .dstHeight = 1,
			     .WidthInBytes = LEN,
			     .Height = 1,
			     .Depth = 1 };
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

static int graphs(void)
{
	relays();
	nodes();
	switched(false);
	switched(true);
	lines();
	many();
	beside();
	printf("copies of host memory in graphs: %u things wrong\n", bad);
	return bad != 0;
}

/* ------------------------------------------------------------------ user objects */

static int destroyed;	/* atomic */

static void destroy(void *data)
{
	__atomic_add_fetch(&destroyed, *(int *)data, __ATOMIC_RELEASE);
}

/* asks the server now and then, until it is so */
static bool comes_true(int expected)
{
	int i;

	for (i = 0; __atomic_load_n(&destroyed, __ATOMIC_ACQUIRE) != expected && i < 10000; i++) {
		MUST(cuCtxSynchronize());
		usleep(1000);
	}
	return __atomic_load_n(&destroyed, __ATOMIC_ACQUIRE) == expected;
}

static int user(void)
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
	printf("user objects: %u things wrong\n", bad);
	return bad != 0;
}

/* ------------------------------------------------------------------ managed memory */

enum { FLOATS = 50000, THREADS = 4, GLOBAL = 1, HOST = 2, SINGLE = 4, CPU = -1 };

static CUmodule module;
static CUfunction add, spin, store;

static void *managed(size_t bytes)
{
	CUdeviceptr p = 0;

	MUST(cuMemAllocManaged(&p, bytes, GLOBAL));
	return (void *)(uintptr_t)p;
}
#define AT(p)	((CUdeviceptr)(uintptr_t)(p))

static void launch_add(const float *a, const float *b, float *c, int n, CUstream stream)
{
	void *params[] = { &a, &b, &c, &n };

	MUST(cuLaunchKernel(add, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL));
}

/* each side writes some of what the other reads, in turns */
static void turns(void)
{
	float *a = managed(FLOATS * 4), *b = managed(FLOATS * 4), *c = managed(FLOATS * 4);
	int i, round, wrong = 0;

	for (i = 0; i < FLOATS; i++) {
		a[i] = i;
		b[i] = 2 * i;
	}
	for (round = 0; round < 10; round++) {
		launch_add(a, b, c, FLOATS, s);
		launch_add(c, b, a, FLOATS, s);		/* a + 2b */
		MUST(cuStreamSynchronize(s));
		for (i = 0; i < FLOATS; i++)
			wrong += a[i] != (float)i + 4.f * i + (i % 5000 ? 0 : round);
		/* a few pages; the others are set back by a kernel */
		for (i = 0; i < FLOATS; i += 5000)
			b[i] = -4.f * i;
		/* a + 2b; of the few: a + b - 4i, which is i + 2i - 4i */
		launch_add(c, b, a, FLOATS, s);
		MUST(cuCtxSynchronize());
		for (i = 0; i < FLOATS; i += 5000)
			wrong += a[i] != (float)i + 2.f * i - 4.f * i + round;
		for (i = 0; i < FLOATS; i++) {
			a[i] = i % 5000 ? i : i + round + 1;
			b[i] = 2 * i;
		}
	}
	want(!wrong, "turns");
	MUST(cuMemFree_v2(AT(a)));
	MUST(cuMemFree_v2(AT(b)));
	MUST(cuMemFree_v2(AT(c)));
}

/* a touch while a kernel runs sees what that has written in the end */
static void without_waiting(void)
{
	int *out = managed(32 * 4), rounds = 3000000, again[32], i;
	void *params[] = { &out, &rounds };

	MUST(cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
	memcpy(again, out, sizeof(again));
	MUST(cuStreamSynchronize(s));
	want(!memcmp(again, out, sizeof(again)), "a touch before the end");
	rounds = 1000;
	MUST(cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
	MUST(cuCtxSynchronize());
	for (i = 0; i < 32 && out[i] == again[i]; i++)
		;
	want(i < 32, "another kernel's result");
	MUST(cuMemFree_v2(AT(out)));
}

static void copies(void)
{
	enum { BYTES = 1 << 20, W = 300, H = 20, PITCH = 512 };
	uint8_t *m = managed(BYTES), *other = managed(BYTES), *mine = malloc(BYTES), *pinned;
	CUDA_MEMCPY2D box = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			      .srcHost = m,
			      .srcPitch = PITCH,
			      .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
			      .dstDevice = AT(other),
			      .dstPitch = PITCH,
			      .WidthInBytes = W,
			      .Height = H };
	int i;

	MUST(cuMemHostAlloc((void **)&pinned, BYTES, 0));
	for (i = 0; i < BYTES; i++)
		m[i] = i * 7;
	/* said to be the host's, and the device's */
	MUST(cuMemcpyHtoD_v2(one, m, BYTES));
	MUST(cuMemcpyDtoH_v2(mine, one, BYTES));
	want(!memcmp(mine, m, BYTES), "to device memory");
	MUST(cuMemcpyDtoHAsync_v2(other, one, BYTES, s));
	MUST(cuStreamSynchronize(s));
	want(!memcmp(other, m, BYTES), "from device memory");
	m[5] = 99;
	MUST(cuMemcpy(AT(mine), AT(m), BYTES));
	want(mine[5] == 99 && mine[BYTES - 1] == m[BYTES - 1], "to pageable memory");
	memset(pinned, 3, BYTES);
	MUST(cuMemcpyHtoD_v2(AT(m) + 10, pinned, BYTES - 20));
	want(m[9] == 63 && m[10] == 3 && m[BYTES - 11] == 3 &&
		     m[BYTES - 10] == (uint8_t)((BYTES - 10) * 7),
	     "from pinned memory");
	MUST(cuMemsetD8_v2(AT(m) + 4096, 9, 10000));
	want(m[4095] == 3 && m[4096] == 9 && m[14095] == 9 && m[14096] == 3, "filled");
	memset(other, 1, BYTES);
	MUST(cuMemcpy2D_v2(&box));
	want(other[W - 1] == m[W - 1] && other[W] == 1 && other[PITCH * 19] == m[PITCH * 19] &&
		     other[PITCH * 20] == 1,
	     "lines");
	/* what a graph copies is memory of the device, too */
	MUST(cuMemFreeHost(pinned));
	MUST(cuMemFree_v2(AT(m)));
	MUST(cuMemFree_v2(AT(other)));
	free(mine);
}

static int *shared_with_function;

static void change_managed(void *data)
{
	shared_with_function[0] += 5;
	shared_with_function[5000] = shared_with_function[0];
}

/* a function of the host between two pieces of work sees the one, and is seen by the other */
static void functions(void)
{
	int i, wrong = 0;

	shared_with_function = managed(40000);
	for (i = 0; i < 10; i++) {
		shared_with_function[0] = 1000;
		MUST(cuMemsetD32Async(AT(shared_with_function), i, 1, s));
		MUST(cuLaunchHostFunc(s, change_managed, NULL));
		MUST(cuMemcpyDtoDAsync_v2(AT(shared_with_function) + 8,
					  AT(shared_with_function) + 20000, 4, s));
		MUST(cuMemsetD32Async(AT(shared_with_function) + 20000, 77, 1, s));
		MUST(cuStreamSynchronize(s));
		wrong += shared_with_function[0] != i + 5 || shared_with_function[2] != i + 5 ||
			 shared_with_function[5000] != 77;
	}
	want(!wrong, "functions of the host");
	MUST(cuMemFree_v2(AT(shared_with_function)));
}

static void *touch_all(void *data)
{
	int *at = data, i, sum = 0;

	for (i = 0; i < 1 << 18; i += 100)
		sum += at[i];
	return (void *)(intptr_t)sum;
}

static void threads(void)
{
	int *at = managed(4 << 18), i, round;
	pthread_t t[THREADS];
	void *sum;

	for (round = 1; round < 4; round++) {
		MUST(cuMemsetD32_v2(AT(at), round, 1 << 18));
		for (i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, touch_all, at);
		for (i = 0; i < THREADS; i++) {
			pthread_join(t[i], &sum);
			want((intptr_t)sum == round * 2622, "threads that touch the same pages");
		}
	}
	MUST(cuMemFree_v2(AT(at)));
}

static sigjmp_buf back;
static volatile int caught;

static void catch(int signal, siginfo_t *info, void *context)
{
	caught++;
	siglongjmp(back, 1);
}

static volatile int *volatile nowhere = (volatile int *)16;

static void wild(void)
{
	if (!sigsetjmp(back, 1))
		*nowhere = 1;
}

/*
 * a program with a handler of its own, from before and from after: it gets its own faults, and no
 * others
 */
static void signals(void)
{
	const struct sigaction own = { .sa_sigaction = catch, .sa_flags = SA_SIGINFO };
	int *at = managed(4096);

	wild();
	want(caught == 1, "a handler from before");
	at[0] = 1;
	sigaction(SIGSEGV, &own, NULL);
	wild();
	want(caught == 2, "a handler from after");
	MUST(cuMemsetD32_v2(AT(at), 5, 1));
	want(at[0] == 5 && caught == 2, "a page behind that handler");
	wild();
	want(caught == 3, "and the handler again");
	MUST(cuMemFree_v2(AT(at)));
	if (!sigsetjmp(back, 1))
		*(volatile int *)at = 1;
	want(caught == 4, "memory that was freed is gone");
}

/* an address that this process uses otherwise */
static void taken(void)
{
	uint8_t *first = managed(1 << 20), *second, *there;

	MUST(cuMemFree_v2(AT(first)));
	there = mmap(first, 1 << 20, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	want(there == first, "the address is free");
	memset(there, 5, 1 << 20);
	second = managed(1 << 20);
	memset(second, 6, 1 << 20);
	want(second != first && there[0] == 5 && there[(1 << 20) - 1] == 5,
	     "other memory is left alone");
	MUST(cuMemFree_v2(AT(second)));
	munmap(there, 1 << 20);
}

static void questions(void)
{
	uint8_t *at = managed(10000);
	int is = -1, where[2] = { 7, 7 };
	unsigned int type = 0;
	void *host = NULL;
	CUdeviceptr p;

	want_error(cuMemAllocManaged(&p, 0, GLOBAL), CUDA_ERROR_INVALID_VALUE, "no bytes");
	want_error(cuMemAllocManaged(&p, 16, 0), CUDA_ERROR_INVALID_VALUE, "no flag");
	want_error(cuMemAllocManaged(NULL, 16, GLOBAL), CUDA_ERROR_INVALID_VALUE,
		   "nowhere to write to");
	MUST(cuDeviceGetAttribute(&is, 83, 0));
	want(is == 1, "the device has managed memory");
	MUST(cuDeviceGetAttribute(&is, 89, 0));
	want(!is, "not at the same time");
	is = 0;
	MUST(cuPointerGetAttribute(&is, CU_POINTER_ATTRIBUTE_IS_MANAGED, AT(at) + 9999));
	MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, AT(at)));
	MUST(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, AT(at) + 5));
	MUST(cuPointerGetAttribute(&p, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, AT(at) + 5));
	want((is & 0xff) == 1 && type == CU_MEMORYTYPE_DEVICE && host == at + 5 && p == AT(at) + 5,
	     "what it is");
	MUST(cuMemAdvise(AT(at), 10000, 1 /* mostly read */, CPU));
	MUST(cuMemRangeGetAttribute(&is, sizeof(is), 1, AT(at), 10000));
	MUST(cuMemRangeGetAttribute(where, sizeof(where), 3 /* accessed by */, AT(at), 10000));
	want(is == 1 && where[0] == -2 && where[1] == -2, "advice");
	want_error(cuMemRangeGetAttribute(&is, sizeof(is), 1, one, 16), CUDA_ERROR_INVALID_VALUE,
		   "of other memory");
	want_error(cuMemPrefetchAsync(AT(at), 10000, 0, s), CUDA_ERROR_INVALID_DEVICE,
		   "a prefetch");
	MUST(cuStreamAttachMemAsync(s, AT(at), 0, SINGLE));
	MUST(cuStreamAttachMemAsync(s, AT(at), 0, HOST));
	want_error(cuStreamAttachMemAsync(NULL, AT(at), 0, SINGLE), CUDA_ERROR_INVALID_VALUE,
		   "to no stream");
	want_error(cuStreamAttachMemAsync(s, one, 0, GLOBAL), CUDA_ERROR_INVALID_VALUE,
		   "other memory");
	want_error(cuMemFreeHost(at), CUDA_ERROR_INVALID_VALUE, "freed as pinned memory");
	want_error(cuMemHostRegister_v2(at, 100, 0), CUDA_ERROR_INVALID_VALUE, "registered");
	MUST(cuMemFree_v2(AT(at)));
}

/* an error that stays: pages can be touched, calls say what happened */
static void after_an_error(void)
{
	int *at = managed(8000), bad_address = 0;
	CUdeviceptr nowhere = 64;
	void *params[] = { &nowhere };

	at[0] = 3;
	MUST(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
	bad_address = at[0] + at[1500];
	want(bad_address == 3 || bad_address == 0, "a touch after an error");
	want_error(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS, "the error");
}

static void load(const char *cubin)
{
	MUST(cuModuleLoad(&module, cubin));
	MUST(cuModuleGetFunction(&add, module, "add"));
	MUST(cuModuleGetFunction(&spin, module, "spin"));
	MUST(cuModuleGetFunction(&store, module, "store"));
}

static int managed_memory(void)
{
	const struct sigaction own = { .sa_sigaction = catch, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &own, NULL);
	turns();
	without_waiting();
	copies();
	functions();
	threads();
	signals();
	taken();
	questions();
	after_an_error();
	printf("managed memory: %u things wrong\n", bad);
	return bad != 0;
}

/*
 * touches what the GPU writes until there is no server any more; then it can still be touched, and
 * calls fail
 */
static int managed_killed(void)
{
	volatile int *at = managed(1 << 20);
	CUresult r = CUDA_SUCCESS;
	int i, sum = 0;

	for (i = 0; !r; i++) {
		r = cuMemsetD32_v2(AT(at), i, 1 << 18);
		sum += at[i % (1 << 18)];
		at[7] = i;
		if (i == 100) {
			puts("ready");
			fflush(stdout);
		}
	}
	sum += at[100000];
	at[100000] = sum;
	printf("%d rounds, then %s\n", i, name_of(r));
	return r != CUDA_ERROR_SYSTEM_NOT_READY || i < 100;
}

/* ------------------------------------------------------------------ */

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "graphs", graphs }, { "user", user }, { "managed", managed_memory }, { "managed_killed",
		managed_killed },
};

int main(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			MUST(cuInit(0));
			MUST(cuCtxCreate_v2(&ctx, 0, 0));
			MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
			MUST(cuMemAlloc_v2(&one, N));
			MUST(cuMemAlloc_v2(&two, N));
			load(argv[2]);
			return modes[i].run();
		}
	fprintf(stderr, "usage: memory MODE CUBIN\n");
	return 2;
}
