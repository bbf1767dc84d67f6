// SPDX-License-Identifier: MIT
/*
 * Graphs on a fake device: what the driver does without memory, when two threads destroy an
 * executable graph, with which locks destructors of user objects run, and of which kernels it makes
 * no node.
 */
#include <selftests/unit_test.h>
#include <unistd.h>

#include <pthread.h>

#include <cuda/kepler/driver/graph.h>

#include "fake.h"

#define CUBIN	 "selftests/cuda/driver/kernels.cubin"
#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static CUcontext ctx;

static int set_up(void **state)
{
	memset(fake_hold, 0, sizeof(fake_hold));
	return cuInit(0) || cuCtxCreate_v2(&ctx, 0, 0);
}

static int tear_down(void **state)
{
	return cuCtxDestroy_v2(ctx) || fake_open || fake_buffers || fake_early;
}

/* ------------------------------------------------------------------ no memory */

/* how many allocations succeed before one fails; -1: all do */
static int fail_after = -1;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fail_after >= 0 && fail_after-- == 0 ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fail_after >= 0 && fail_after-- == 0 ? NULL : __real_calloc(n, size);
}

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
	return fail_after >= 0 && fail_after-- == 0 ? NULL : __real_realloc(p, size);
}

/* A graph of two nodes in a row; the second is a graph with one node. */
static CUgraph two_nodes(void)
{
	CUgraphNode empty, child;
	CUgraph graph, inner;

	OK(cuGraphCreate(&inner, 0));
	OK(cuGraphAddEmptyNode(&empty, inner, NULL, 0));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
	OK(cuGraphAddChildGraphNode(&child, graph, &empty, 1, inner));
	OK(cuGraphDestroy(inner));
	return graph;
}

TEST(without_memory)
{
	CUgraphExecUpdateResult result;
	CUgraph graph = two_nodes();
	CUgraphNode bad;
	CUgraphExec exec;
	CUresult r;
	int i, n;

	for (i = 0, r = CUDA_ERROR_OUT_OF_MEMORY; r; i++) {
		fail_after = i;
		r = cuGraphInstantiateWithFlags(&exec, graph, 0);
		fail_after = -1;
		if (r)
			assert_int_equal(r, CUDA_ERROR_OUT_OF_MEMORY);
	}
	n = i - 1;
	assert_in_range(n, 5, 100);
	for (i = 0, r = CUDA_ERROR_OUT_OF_MEMORY; r; i++) {
		fail_after = i;
		r = cuGraphExecUpdate(exec, graph, &bad, &result);
		fail_after = -1;
		if (r)
			assert_int_equal(r, CUDA_ERROR_OUT_OF_MEMORY);
	}
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
}

/*
 * By CUDA's documentation a graph can't be destroyed while it captures; it says nothing of a graph
 * as a node of itself. NVIDIA's library (580) gives another error, and ends by SIGSEGV.
 */
TEST(refused_here)
{
	CUstreamCaptureStatus status;
	CUgraph graph, asked;
	CUgraphNode node;
	CUstream s;

	OK(cuGraphCreate(&graph, 0));
	assert_int_equal(cuGraphAddChildGraphNode(&node, graph, NULL, 0, graph),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(graph));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuStreamGetCaptureInfo_v2(s, &status, NULL, &asked, NULL, NULL));
	assert_int_equal(cuGraphDestroy(asked), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamEndCapture(s, &graph));
	OK(cuGraphDestroy(graph));
	OK(cuStreamDestroy_v2(s));
}

/* ------------------------------------------------------------------ destroyed twice */

static struct {
	CUgraphExec exec;
	unsigned int answers; /* use __atomic */
} twice;

static void *destroy(void *arg)
{
	CUresult r = cuGraphExecDestroy(twice.exec);

	__atomic_fetch_add(&twice.answers, 1, __ATOMIC_SEQ_CST);
	return (void *)(intptr_t)r;
}

static void count_destroyed(void *data)
{
	++*(unsigned int *)data;
}

/*
 * Two threads destroy an executable graph while it runs: one is refused at once, the other one
 * waits, since the graph refers to a user object.
 */
TEST(destroyed_by_two)
{
	CUDA_MEMSET_NODE_PARAMS set = { .elementSize = 4, .width = 4, .height = 1 };
	unsigned int destroyed = 0, i;
	CUuserObject object;
	CUgraphNode node;
	CUgraph graph;
	pthread_t t[2];
	void *r[2];

	OK(cuMemAlloc_v2(&set.dst, 16));
	OK(cuUserObjectCreate(&object, &destroyed, count_destroyed, 1,
			      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, ctx));
	OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	OK(cuGraphInstantiateWithFlags(&twice.exec, graph, 0));
	OK(cuGraphDestroy(graph));
	for (i = 0; i < NR_QUEUES; i++)
		fake_hold[i] = true;
	OK(cuGraphLaunch(twice.exec, NULL));
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, destroy, NULL), 0);
	/* after 10 s a driver that lets both wait is seen */
	for (i = 0; i < 10000 && !__atomic_load_n(&twice.answers, __ATOMIC_SEQ_CST); i++)
		usleep(1000);
	for (i = 0; i < NR_QUEUES; i++)
		__atomic_store_n(&fake_hold[i], false, __ATOMIC_SEQ_CST);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], &r[i]);
	assert_int_equal((intptr_t)r[0] + (intptr_t)r[1], CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(destroyed, 1);
}

/* ------------------------------------------------------------------ user objects and launches */

/* a host function whose first call lasts until it is told; when its graph's user object ended */
static struct {
	bool began, told, over; /* use __atomic */
	bool early, ended;
} held;

static bool is(const bool *what)
{
	return __atomic_load_n(what, __ATOMIC_SEQ_CST);
}
static void make(bool *what)
{
	__atomic_store_n(what, true, __ATOMIC_SEQ_CST);
}

static void hold(void *data)
{
	if (__atomic_exchange_n(&held.began, true, __ATOMIC_SEQ_CST))
		return;
	while (!is(&held.told))
		usleep(1000);
	make(&held.over);
}

static void object_ends(void *data)
{
	held.early = !is(&held.over);
	held.ended = true;
}

static void *tell_later(void *data)
{
	usleep(50000);
	make(&held.told);
	return NULL;
}

/* Returns an executable graph whose host function waits. The graph refers to a user object. */
static CUgraphExec waiting_graph(void)
{
	const CUDA_HOST_NODE_PARAMS p = { hold, NULL };
	CUuserObject object;
	CUgraphNode node;
	CUgraphExec exec;
	CUgraph graph;

	memset(&held, 0, sizeof(held));
	OK(cuUserObjectCreate(&object, &held, object_ends, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
	OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	return exec;
}

static void await_begin(void)
{
	unsigned int ms = 10000;

	while (ms-- && !is(&held.began))
		usleep(1000);
	assert_true(is(&held.began));
}

/* The user object ends with the executable graph, and not before the function has returned. */
static void destroy_and_see(CUgraphExec exec)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, tell_later, NULL), 0);
	OK(cuGraphExecDestroy(exec));
	pthread_join(t, NULL);
	assert_true(held.ended);
	assert_false(held.early);
}

/* A launch is under way in one context, and the last one was in another context. */
TEST(launched_in_two_contexts)
{
	CUgraphExec exec = waiting_graph();
	CUcontext second;

	OK(cuGraphLaunch(exec, NULL));
	await_begin();
	OK(cuCtxCreate_v2(&second, 0, 0));
	OK(cuGraphLaunch(exec, NULL));
	destroy_and_see(exec);
	OK(cuCtxDestroy_v2(second));
}

/* The context has an error, after which its GPU's work is over, but not the host function. */
TEST(launched_and_broken)
{
	CUgraphExec exec = waiting_graph();
	CUstream stream;
	CUfunction f;
	CUmodule m;
	void *out = NULL, *params[] = { &out };

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "store"));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuGraphLaunch(exec, NULL));
	await_begin();
	fake_fail_after = 0;
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	assert_int_equal(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
	fake_fail_after = -1;
	destroy_and_see(exec);
}

/* ------------------------------------------------------------------ destructors and locks */

/* How often the destructor ran, and with a lock held. Use __atomic. */
static unsigned int ended, ended_locked;
static CUcontext second;

static bool is_held(pthread_mutex_t *lock)
{
	if (pthread_mutex_trylock(lock))
		return true;
	pthread_mutex_unlock(lock);
	return false;
}

static void look_at_locks(void *data)
{
	__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
	if (is_held(&ctx->lock) || (second && is_held(&second->lock)) || is_held(&graphs) ||
	    is_held(&table))
		__atomic_add_fetch(&ended_locked, 1, __ATOMIC_SEQ_CST);
}

/* In a new stream; the graph alone refers to a user object, whose destructor looks at the locks. */
static CUstream capture_with_object(void)
{
	CUstreamCaptureStatus status;
	CUuserObject object;
	CUstream stream;
	CUgraph graph;

	ended = ended_locked = 0;
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL));
	OK(cuUserObjectCreate(&object, NULL, look_at_locks, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	return stream;
}

TEST(ends_with_its_stream)
{
	CUstream stream = capture_with_object();

	OK(cuStreamDestroy_v2(stream));
	assert_int_equal(ended, 1);
	assert_int_equal(ended_locked, 0);
}

TEST(ends_with_its_context)
{
	CUcontext other;

	OK(cuCtxCreate_v2(&second, 0, 0));
	capture_with_object();
	OK(cuCtxDestroy_v2(second));
	assert_int_equal(ended, 1);
	assert_int_equal(ended_locked, 0);

	OK(cuDevicePrimaryCtxRetain(&second, 0));
	OK(cuCtxPushCurrent_v2(second));
	capture_with_object();
	OK(cuDevicePrimaryCtxReset_v2(0));
	assert_int_equal(ended, 1);
	assert_int_equal(ended_locked, 0);

	OK(cuDevicePrimaryCtxRetain(&second, 0));
	capture_with_object();
	OK(cuDevicePrimaryCtxRelease_v2(0));
	assert_int_equal(ended, 0);
	OK(cuDevicePrimaryCtxRelease_v2(0));
	assert_int_equal(ended, 1);
	assert_int_equal(ended_locked, 0);
	OK(cuCtxPopCurrent_v2(&other));
	assert_ptr_equal(other, second);
	second = NULL;
}

/* while objects wait for their destructors */
static struct {
	CUgraphExec exec;
	struct device_ops ops;
	CUresult answer;
	unsigned int ended;
} beside;

static void *launch_beside(void *arg)
{
	beside.answer = cuCtxSetCurrent(ctx);
	if (!beside.answer)
		beside.answer = cuGraphLaunch(beside.exec, NULL);
	return NULL;
}

static void launch_and_close(struct device *device)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, launch_beside, NULL))
		pthread_join(t, NULL);
	beside.ended = ended;
	fake_device.close(device);
}

/*
 * Closing a context frees its captures' graphs, and calls destructors later. A launch, with another
 * context locked, does not call them.
 */
TEST(does_not_end_in_a_launch)
{
	CUgraph graph;

	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphInstantiateWithFlags(&beside.exec, graph, 0));
	OK(cuGraphDestroy(graph));
	OK(cuCtxCreate_v2(&second, 0, 0));
	capture_with_object();
	beside.answer = CUDA_ERROR_UNKNOWN;
	beside.ops = fake_device;
	beside.ops.close = launch_and_close;
	second->device->ops = &beside.ops;
	OK(cuCtxDestroy_v2(second));
	OK(beside.answer);
	assert_int_equal(beside.ended, 0);
	assert_int_equal(ended, 1);
	assert_int_equal(ended_locked, 0);
	OK(cuGraphExecDestroy(beside.exec));
	second = NULL;
}

/* ------------------------------------------------------------------ unloaded modules */

/* A graph can be copied, written down and destroyed after its module was unloaded. */
TEST(module_unloaded)
{
	CUDA_KERNEL_NODE_PARAMS params = { 0 };
	CUgraphNode node, copied, error;
	CUgraphExecUpdateResult result;
	CUgraph graph, copy;
	CUgraphExec exec;
	CUmodule m, again;
	int rounds = 1;
	void *args[] = { &rounds };

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleLoad(&again, CUBIN));
	OK(cuModuleGetFunction(&params.func, m, "say_much"));
	params.gridDimX = params.gridDimY = params.gridDimZ = 1;
	params.blockDimX = params.blockDimY = params.blockDimZ = 1;
	params.kernelParams = args;
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuModuleUnload(m));
	assert_int_equal(cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(cuGraphAddKernelNode(&copied, graph, NULL, 0, &params),
			 CUDA_ERROR_INVALID_HANDLE);
	OK(cuGraphClone(&copy, graph));
	OK(cuGraphNodeFindInClone(&copied, node, copy));
	OK(cuGraphKernelNodeGetParams(copied, &params));
	assert_int_equal(*(int *)params.kernelParams[0], 1);
	OK(cuGraphDebugDotPrint(copy, "/dev/null", 0));
	/* a kernel of a loaded module of the same context takes the place */
	OK(cuModuleGetFunction(&params.func, again, "say_much"));
	rounds = 2;
	params.kernelParams = args;
	OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
	OK(cuGraphKernelNodeSetParams(node, &params));
	OK(cuGraphLaunch(exec, NULL));
	OK(cuGraphExecUpdate(exec, graph, &error, &result));
	OK(cuGraphDestroy(graph));
	OK(cuGraphDestroy(copy));
	OK(cuGraphExecDestroy(exec));
}

/* ------------------------------------------------------------------ parameters */

/* An old launch looks at no parameter: its node is refused if one is behind the kernel's bytes. */
TEST(parameters_behind_the_end)
{
	struct image_param *last;
	CUstream stream;
	CUgraph graph;
	CUfunction f;
	CUmodule m;

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "mixed"));
	assert_int_equal(f->kernel->param_size, 32);
	last = &f->kernel->params[3];
	OK(cuFuncSetBlockShape(f, 1, 1, 1));
	OK(cuParamSetSize(f, 32));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuLaunchGridAsync(f, 1, 1, stream));
	*last = (struct image_param){ .offset = 25, .size = 8 };
	assert_int_equal(cuLaunchGridAsync(f, 1, 1, stream), CUDA_ERROR_INVALID_IMAGE);
	*last = (struct image_param){ .offset = 65535, .size = 16383 };
	assert_int_equal(cuLaunchGridAsync(f, 1, 1, stream), CUDA_ERROR_INVALID_IMAGE);
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphDestroy(graph));
	OK(cuModuleUnload(m));
}

TEST_MAIN(set_up, tear_down)
