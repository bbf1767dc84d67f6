// SPDX-License-Identifier: MIT
/*
 * What the client answers from what it knows, by frames that it sends: none, until a call of the
 * program may have changed the answer. The server is honest (liar.h).
 */
#include <selftests/unit_test.h>

#include <cuda/api/export/slots.h>

#include "../result.h"
#include "liar.h"

enum { AGAIN = 100, DYNAMIC = 1024, MEMORY = 1 << 20, SHARED = 227 << 10 };

static struct {
	unsigned int primary_flags;
	int active, blocks;
	CUresult result; /* of occupancy calls, and those about executable graphs */
	enum cache_kind forget; /* while it answers; NR_CACHES: nothing */
	CUstreamCaptureStatus capture;
	CUdeviceptr memory;
	uint64_t module; /* that it made last */
	const char *name; /* of the module's function, which it tells with the module; or NULL */
} server = { .forget = NR_CACHES, .memory = 7ull << 32 };

static void say_first(struct liar_frame *f, uint64_t id)
{
	struct a_function *a = (struct a_function *)(f->word + 1);

	f->result = server.name ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
	f->word[0] = server.module;
	*a = (struct a_function){ .function = id | 1ull << 32 | (uint64_t)CLASS_FUNCTION << 56,
				  .layout_known = true,
				  .name_bytes = 6,
				  .attribute_known = { 1, 1 },
				  .attribute = { 1024, 100 } };
	strcpy((char *)(a + 1), server.name ? server.name : "");
	f->words = 1 + sizeof(*a) / 8 + 1;
}

static void say(struct liar_frame *f)
{
	static unsigned int last;
	const uint8_t what = liar_shapes[f->op].word[0];
	unsigned int i;

	if (what && what < NR_CLASSES)
		f->word[0] = ++last | 1ull << 32 | (uint64_t)what << 56;
	switch (f->op) {
	case OP_init:
		*(struct a_init *)f->word = (struct a_init){ .devices = 2, .version = 11080 };
		break;
	case OP_function:
		for (i = 0; i < 10; i++) {
			((struct a_function *)f->word)->attribute_known[i] = true;
			((struct a_function *)f->word)->attribute[i] = DYNAMIC;
		}
		break;
	case OP_facts:
		((struct a_facts *)f->word)->attribute[97] = SHARED;
		break;
	case OP_image:
		server.module = f->word[0];
		break;
	case OP_image_function:
		say_first(f, ++last);
		break;
	case OP_cuDevicePrimaryCtxGetState:
		*(struct a_cuDevicePrimaryCtxGetState *)f->word =
			(struct a_cuDevicePrimaryCtxGetState){ .flags = server.primary_flags,
							       .active = server.active };
		break;
	case OP_cuOccupancyMaxActiveBlocksPerMultiprocessor:
	case OP_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags:
		f->word[0] = server.blocks;
		f->result = server.result;
		break;
	case OP_copy_out:
		f->words = 1; /* the bytes */
		break;
	case OP_cuTensorMapEncodeTiled:
		f->word[0] = ((const struct q_cuTensorMapEncodeTiled *)f->q)->base;
		f->result = server.result;
		break;
	case OP_cuTensorMapReplaceAddress:
		f->word[0] = ((const struct q_cuTensorMapReplaceAddress *)f->q)->base;
		break;
	case OP_pointer:
		*(struct a_pointer *)f->word = (struct a_pointer){ .value = CU_MEMORYTYPE_DEVICE };
		f->result = server.result;
		break;
	case OP_cuStreamIsCapturing:
		f->word[0] = server.capture;
		break;
	case OP_cuMemAlloc_v2:
	case OP_cuMemAllocAsync:
		f->word[0] = server.memory += MEMORY;
		break;
	case OP_cuGraphLaunch:
	case OP_kernel_node:
	case OP_copy_node:
	case OP_cuGraphExecMemsetNodeSetParams:
	case OP_cuGraphExecChildGraphNodeSetParams:
		f->result = server.result;
		break;
	}
	if (server.forget < NR_CACHES)
		cache_invalidate(server.forget);
}

#define FRAMES(n, calls)                                 \
	do {                                             \
		const uint64_t before = liar_sent;       \
                                                         \
		calls;                                   \
		assert_int_equal(liar_sent - before, n); \
	} while (0)
/* the answers that @calls wait for; other frames are queued */
#define ANSWERS(n, calls)                                \
	do {                                             \
		const uint64_t before = liar_told;       \
                                                         \
		calls;                                   \
		assert_int_equal(liar_told - before, n); \
	} while (0)

static CUcontext ctx;
static CUfunction function;

static int begin(void **state)
{
	CUmodule module;
	uint8_t cubin[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };

	return cuCtxCreate_v2(&ctx, 0, 0) || cuModuleLoadData(&module, cubin) ||
	       cuModuleGetFunction(&function, module, "f");
}

static int end(void **state)
{
	return cuCtxDestroy_v2(ctx);
}

static void state_is(CUdevice dev, unsigned int flags, int active)
{
	unsigned int said_flags = 99;
	int said_active = 99, i;

	for (i = 0; i < AGAIN; i++) {
		OK(cuDevicePrimaryCtxGetState(dev, &said_flags, &said_active));
		assert_int_equal(said_flags, flags);
		assert_int_equal(said_active, active);
	}
}

TEST(primary_contexts)
{
	unsigned int flags;
	CUcontext primary;
	int active;

	server.primary_flags = 4;
	FRAMES(1, state_is(0, 4, 0));
	FRAMES(1, state_is(1, 4, 0));
	FRAMES(0, state_is(0, 4, 0));
	server.active = 1;
	FRAMES(1, OK(cuDevicePrimaryCtxRetain(&primary, 0)));
	FRAMES(1, state_is(0, 4, 1));
	server.primary_flags = 8;
	FRAMES(1, OK(cuDevicePrimaryCtxSetFlags_v2(0, 8)));
	FRAMES(1, state_is(0, 8, 1));
	server.active = 0;
	FRAMES(1, OK(cuDevicePrimaryCtxReset_v2(0)));
	FRAMES(1, state_is(0, 8, 0));
	server.active = 1;
	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	state_is(0, 8, 1);
	server.active = 0;
	OK(cuDevicePrimaryCtxRelease_v2(0));
	FRAMES(1, state_is(0, 8, 0));
	/* another thread's call changes it while the server answers */
	cache_invalidate(CACHE_PRIMARY);
	server.forget = CACHE_PRIMARY;
	FRAMES(1, OK(cuDevicePrimaryCtxGetState(0, &flags, &active)));
	server.forget = NR_CACHES;
	server.active = 1;
	FRAMES(1, state_is(0, 8, 1));
	server.active = 0;
	cache_invalidate(CACHE_PRIMARY);
	FRAMES(0, assert_int_equal(cuDevicePrimaryCtxGetState(0, NULL, &active),
				   CUDA_ERROR_INVALID_VALUE));
}

static void blocks_are(int blocks, int threads, size_t dynamic)
{
	int said, i;

	for (i = 0; i < AGAIN; i++) {
		said = 99;
		OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&said, function, threads, dynamic));
		assert_int_equal(said, blocks);
	}
}

TEST(functions)
{
	const CUfunction_attribute dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
	int said;

	server.blocks = 7;
	FRAMES(1, blocks_are(7, 64, 0));
	FRAMES(1, blocks_are(7, 128, 0));
	FRAMES(1, blocks_are(7, 64, 8));
	FRAMES(0, blocks_are(7, 64, 0); blocks_are(7, 128, 0); blocks_are(7, 64, 8));
	FRAMES(1,
	       OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&said, function, 64, 0, 0)));
	/* what the function has already is not set again, and changes nothing */
	FRAMES(0, OK(cuFuncSetAttribute(function, dynamic, DYNAMIC)));
	FRAMES(0, blocks_are(7, 64, 0));
	server.blocks = 5;
	FRAMES(1, OK(cuFuncSetAttribute(function, dynamic, 2 * DYNAMIC)));
	FRAMES(0, OK(cuFuncSetAttribute(function, dynamic, 2 * DYNAMIC)));
	FRAMES(1, blocks_are(5, 64, 0));
	/* what can't be set gives the server's error */
	FRAMES(1, OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, DYNAMIC)));
	server.blocks = 4;
	OK(cuFuncSetCacheConfig(function, 0));
	FRAMES(1, blocks_are(4, 64, 0));
	OK(cuFuncSetSharedMemConfig(function, 0));
	FRAMES(1, blocks_are(4, 64, 0));
	OK(cuCtxSetCacheConfig(0));
	FRAMES(1, blocks_are(4, 64, 0));
	OK(cuCtxSetSharedMemConfig(0));
	FRAMES(1, blocks_are(4, 64, 0));
	/* errors are not kept */
	server.result = CUDA_ERROR_OUT_OF_MEMORY;
	FRAMES(2, FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&said, function, 32, 0),
			OUT_OF_MEMORY);
	       assert_int_equal(cuOccupancyMaxActiveBlocksPerMultiprocessor(&said, function, 32, 0),
				CUDA_ERROR_OUT_OF_MEMORY));
	server.result = CUDA_SUCCESS;
	FRAMES(1, blocks_are(4, 32, 0));
}

static void launch(CUfunction f, CUstream stream)
{
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

static void ask_limits(void)
{
	size_t value;

	OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
	OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
}

/* a library may raise one when code is loaded, or launched that was not launched before */
TEST(limits)
{
	uint8_t cubin[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	CUcontext other;
	CUmodule module;
	CUfunction f;

	launch(function, NULL);
	ANSWERS(2, ask_limits());
	launch(function, NULL);
	ANSWERS(0, ask_limits(); ask_limits());
	OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
	ANSWERS(2, ask_limits());
	OK(cuModuleLoadData(&module, cubin));
	ANSWERS(2, ask_limits());
	OK(cuModuleGetFunction(&f, module, "f"));
	ANSWERS(2, ask_limits());
	launch(f, NULL);
	ANSWERS(2, ask_limits(); ask_limits());
	OK(cuCtxCreate_v2(&other, 0, 0));
	ANSWERS(2, ask_limits(); ask_limits());
	OK(cuCtxDestroy_v2(other));
	ANSWERS(2, ask_limits(); ask_limits());
}

/* memory of the program's own has no attributes; what may be a device's is asked for each time */
TEST(pageable_memory)
{
	const CUpointer_attribute type = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
	const CUdeviceptr mine = (uintptr_t)&server, nobodys = 3ull << 33;
	CUdeviceptr memory;
	unsigned int value;

	OK(cuMemAlloc_v2(&memory, MEMORY));
	server.result = CUDA_ERROR_INVALID_VALUE;
	ANSWERS(1, FAILS(cuPointerGetAttribute(&value, type, mine), INVALID_VALUE));
	ANSWERS(0, FAILS(cuPointerGetAttribute(&value, type, mine + 1), INVALID_VALUE));
	ANSWERS(1, FAILS(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_BUFFER_ID, mine),
			 INVALID_VALUE));
	ANSWERS(1, FAILS(cuPointerGetAttribute(&value, type, nobodys), INVALID_VALUE));
	ANSWERS(1, FAILS(cuPointerGetAttribute(&value, type, memory), INVALID_VALUE));
	server.result = CUDA_SUCCESS;
	ANSWERS(1, OK(cuPointerGetAttribute(&value, type, memory)));
	assert_int_equal(value, CU_MEMORYTYPE_DEVICE);
	OK(cuMemFree_v2(memory));
}

static uint8_t bytes[MEMORY + 1];

static void copy_in(CUdeviceptr to, size_t n, CUstream stream)
{
	OK(cuMemcpyHtoDAsync_v2(to, bytes, n, stream));
	OK(cuStreamSynchronize(stream));
}

static void read_back(CUdeviceptr from, CUstream stream)
{
	uint32_t word;

	OK(cuMemcpyDtoHAsync_v2(&word, from, sizeof(word), stream));
	OK(cuStreamSynchronize(stream));
}

/* after a copy that was waited for, small copies to the GPU are not */
TEST(streams_that_are_done)
{
	const unsigned int lacking = OP_barrier - KVGPU_REMOTE_FIRST_OP;
	CUstream streams[4] = { NULL, CU_STREAM_PER_THREAD }, beside;
	CUdeviceptr memory;
	CUevent event;
	unsigned int i;

	OK(cuMemAlloc_v2(&memory, MEMORY));
	OK(cuEventCreate(&event, 0));
	OK(cuStreamCreate(&streams[2], 0));
	OK(cuStreamCreate(&streams[3], CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
	for (i = 0; i < 4; i++) {
		read_back(memory, NULL);
		read_back(memory, streams[i]);
		ANSWERS(1, read_back(memory, streams[i]));
		ANSWERS(0, copy_in(memory, 1000, streams[i]); OK(cuStreamSynchronize(streams[i])));
		ANSWERS(0, copy_in(memory, MEMORY / 2, streams[i]));
		ANSWERS(1, copy_in(memory, MEMORY / 2, streams[i]));
		ANSWERS(0, OK(cuEventRecord(event, streams[i]));
			OK(cuStreamSynchronize(streams[i])));
		launch(function, streams[i]);
		ANSWERS(1, copy_in(memory, 1000, streams[i]));
		launch(function, beside);
		OK(cuEventRecord(event, beside));
		OK(cuStreamWaitEvent(streams[i], event, 0));
		ANSWERS(1, copy_in(memory, 1000, streams[i]));
		ANSWERS(1, OK(cuCtxSynchronize()));
	}
	/* the null stream waits for others, and some for it */
	launch(function, beside);
	ANSWERS(1, copy_in(memory, 1000, NULL));
	launch(function, NULL);
	ANSWERS(0, copy_in(memory, 1000, streams[3]));
	ANSWERS(1, copy_in(memory, 1000, streams[2]));
	/* a server of an older build */
	peers[0].lacks[lacking / 64] |= 1ull << lacking % 64;
	ANSWERS(1, copy_in(memory, 1000, streams[3]));
	peers[0].lacks[lacking / 64] = 0;
	ANSWERS(0, copy_in(memory, 1000, streams[3]));
	OK(cuIpcGetEventHandle(&(CUipcEventHandle){ 0 }, event));
	ANSWERS(1, copy_in(memory, 1000, streams[3]));
	peers[0].shares = false;
	OK(cuMemFree_v2(memory));
}

static void behind(CUevent event, CUstream first, CUstream second)
{
	launch(function, first);
	OK(cuEventRecord(event, first));
	OK(cuStreamWaitEvent(second, event, 0));
}

/* what one stream has seen the end of in another, and events that nobody need wait for */
TEST(streams_behind_events)
{
	CUstream one, two, blocking;
	CUdeviceptr memory;
	CUgraphNode node;
	CUgraph graph;
	CUevent event;

	OK(cuMemAlloc_v2(&memory, MEMORY));
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&blocking, 0));
	behind(event, one, two);
	ANSWERS(1, read_back(memory, two));
	ANSWERS(0, OK(cuStreamSynchronize(one)); OK(cuStreamSynchronize(two)));
	/* nor is the wait sent */
	FRAMES(0, OK(cuStreamWaitEvent(blocking, event, 0)));
	FRAMES(1, OK(cuEventRecord(event, one)); OK(cuStreamWaitEvent(two, event, 0)));
	ANSWERS(0, copy_in(memory, 1000, two));
	/* but of bytes that came along, and of work behind the event */
	OK(cuMemcpyHtoDAsync_v2(memory, bytes, 1000, one));
	FRAMES(2, OK(cuEventRecord(event, one)); OK(cuStreamWaitEvent(two, event, 0)));
	ANSWERS(1, read_back(memory, two));
	behind(event, one, two);
	launch(function, one);
	ANSWERS(1, read_back(memory, two));
	FRAMES(0, OK(cuStreamWaitEvent(two, event, 0)));
	ANSWERS(1, OK(cuStreamSynchronize(one)));
	/* of two records the last one before the wait */
	behind(event, one, two);
	launch(function, one);
	OK(cuEventRecord(event, one));
	ANSWERS(1, read_back(memory, two));
	FRAMES(1, OK(cuStreamWaitEvent(blocking, event, 0)));
	ANSWERS(1, OK(cuStreamSynchronize(one)));
	/* a stream that waits for the null stream */
	read_back(memory, blocking);
	launch(function, NULL);
	FRAMES(2, OK(cuEventRecord(event, blocking)); OK(cuStreamWaitEvent(two, event, 0)));
	ANSWERS(1, read_back(memory, two));
	FRAMES(0, OK(cuStreamWaitEvent(one, event, 0)));
	/* a graph may record it */
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
	FRAMES(1, OK(cuStreamWaitEvent(one, event, 0)));
	behind(event, one, two);
	ANSWERS(2, read_back(memory, two); OK(cuStreamSynchronize(one)));
	peers[0].records_hidden = false;
	OK(cuGraphDestroy(graph));
	OK(cuMemFree_v2(memory));
}

static void ask_hot_ones(CUkernel kernel)
{
	CUcontext current;
	CUfunction f;
	CUdevice dev;
	void *value;
	int i, said;

	for (i = 0; i < AGAIN; i++) {
		OK(cuCtxGetDevice_v2(&dev, NULL));
		OK(cuCtxGetDevice_v2(&dev, ctx));
		OK(cuCtxGetDevice(&dev));
		OK(cuCtxGetCurrent(&current));
		OK(cuCtxSetCurrent(current));
		OK(cuKernelGetFunction(&f, kernel));
		OK(cuKernelGetAttribute(&said, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
		OK(cuFuncGetAttribute(&said, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
		OK(storage_get(&value, NULL, &server));
		cuDeviceGetAttribute(&said, 16, 0);
	}
}

/* What PyTorch and the runtime inside of it ask most: nothing crosses from the second time on. */
TEST(the_hot_ones)
{
	uint8_t cubin[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	CUlibrary library;
	CUkernel kernel;
	CUfunction f;
	int said;

	OK(cuLibraryLoadData(&library, cubin, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "f"));
	OK(cuKernelGetFunction(&f, kernel));
	OK(cuKernelGetAttribute(&said, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
	cuDeviceGetAttribute(&said, 16, 0);
	OK(storage_put(NULL, &server, &library, NULL));
	FRAMES(0, ask_hot_ones(kernel));
	OK(cuLibraryUnload(library));
}

static void status_is(CUstreamCaptureStatus want, CUstream stream, unsigned int frames)
{
	CUstreamCaptureStatus said = 99;

	FRAMES(frames, OK(cuStreamIsCapturing(stream, &said)));
	assert_int_equal(said, want);
}

TEST(captures)
{
	const CUstreamCaptureStatus none = CU_STREAM_CAPTURE_STATUS_NONE;
	CUstreamCaptureStatus said = 99;
	cuuint64_t id = 1;
	CUstream stream;
	CUgraph graph;

	OK(cuStreamCreate(&stream, 0));
	status_is(none, stream, 0);
	status_is(none, NULL, 0);
	FRAMES(0, OK(cuStreamGetCaptureInfo(stream, &said, &id)));
	assert_int_equal(said, none);
	said = 99;
	FRAMES(0, OK(cuStreamGetCaptureInfo_v2(stream, &said, &id, NULL, NULL, NULL)));
	assert_int_equal(said, none);
	FRAMES(0, assert_int_equal(cuStreamIsCapturing((CUstream)&said, &said),
				   CUDA_ERROR_INVALID_HANDLE));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	server.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	status_is(CU_STREAM_CAPTURE_STATUS_ACTIVE, stream, 1);
	server.capture = none;
	OK(cuStreamEndCapture(stream, &graph));
	status_is(none, stream, 0);
}

/* an executable graph with a node of each kind that its program changes again and again */
static struct {
	CUgraph graph, child;
	CUgraphExec exec;
	CUgraphNode kernel, fill, copy, nested;
	CUdeviceptr memory;
	CUstream stream;
} g;

static CUresult set_kernel(unsigned int grid)
{
	const CUDA_KERNEL_NODE_PARAMS p = { function, grid, 1, 1, 32, 1, 1, 0, NULL, NULL };

	return cuGraphExecKernelNodeSetParams(g.exec, g.kernel, &p);
}

static CUresult set_fill(CUdeviceptr to, size_t bytes)
{
	const CUDA_MEMSET_NODE_PARAMS p = { to, 0, 1, 1, bytes, 1 };

	return cuGraphExecMemsetNodeSetParams(g.exec, g.fill, &p, ctx);
}

static CUresult set_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	const CUDA_MEMCPY3D p = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
				  .srcDevice = from,
				  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
				  .dstDevice = to,
				  .WidthInBytes = bytes,
				  .Height = 1,
				  .Depth = 1 };

	return cuGraphExecMemcpyNodeSetParams(g.exec, g.copy, &p, ctx);
}

static CUresult set_nested(void)
{
	return cuGraphExecChildGraphNodeSetParams(g.exec, g.nested, g.child);
}

static void set_all(CUdeviceptr to)
{
	OK(set_kernel(1));
	OK(set_fill(to, 64));
	OK(set_copy(to, to + 64, 64));
	OK(set_nested());
	OK(cuGraphLaunch(g.exec, g.stream));
}

static void make_graph(void)
{
	OK(cuMemAlloc_v2(&g.memory, MEMORY));
	OK(cuStreamCreate(&g.stream, 0));
	OK(cuGraphCreate(&g.graph, 0));
	OK(cuGraphCreate(&g.child, 0));
	OK(cuGraphAddEmptyNode(&g.kernel, g.graph, NULL, 0));
	OK(cuGraphAddEmptyNode(&g.fill, g.graph, NULL, 0));
	OK(cuGraphAddEmptyNode(&g.copy, g.graph, NULL, 0));
	OK(cuGraphAddEmptyNode(&g.nested, g.graph, NULL, 0));
	OK(cuGraphInstantiateWithFlags(&g.exec, g.graph, 0));
}

/* What has succeeded once is queued: with other addresses, but not with other sizes. */
TEST(executable_graphs)
{
	CUcontext other;
	CUgraphNode more;
	unsigned int i;

	make_graph();
	ANSWERS(5, set_all(g.memory));
	for (i = 0; i < AGAIN; i++)
		ANSWERS(0, FRAMES(5, set_all(g.memory + 128 * i)));
	ANSWERS(1, OK(set_kernel(2)));
	ANSWERS(0, OK(set_kernel(1)));
	ANSWERS(1, OK(set_fill(g.memory, 128)));
	ANSWERS(1, OK(set_copy(g.memory, g.memory + 64, 32)));
	/* memory that the client does not know, or not all of */
	ANSWERS(2, OK(set_fill(g.memory + MEMORY - 32, 64)); OK(set_fill(64, 64)));
	ANSWERS(2, OK(set_copy(g.memory, g.memory + MEMORY - 32, 64));
		OK(set_copy(64, g.memory, 64)));
	/* another stream, and another context */
	ANSWERS(1, OK(cuGraphLaunch(g.exec, NULL)));
	ANSWERS(0, OK(cuGraphLaunch(g.exec, NULL)));
	OK(cuCtxCreate_v2(&other, 0, 0));
	ANSWERS(2, OK(cuGraphLaunch(g.exec, NULL)); OK(cuGraphLaunch(g.exec, g.stream)));
	OK(cuCtxDestroy_v2(other));
	ANSWERS(0, set_all(g.memory));
	/* a graph has changed, perhaps the child */
	OK(cuGraphAddEmptyNode(&more, g.child, NULL, 0));
	ANSWERS(5, set_all(g.memory));
	ANSWERS(0, set_all(g.memory));
	OK(cuGraphDestroyNode(more));
	server.result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	for (i = 0; i < AGAIN; i++)
		ANSWERS(1, assert_int_equal(set_nested(), server.result));
	server.result = CUDA_SUCCESS;
	ANSWERS(5, set_all(g.memory));
	OK(cuGraphExecDestroy(g.exec));
	OK(cuGraphInstantiateWithFlags(&g.exec, g.graph, 0));
	ANSWERS(5, set_all(g.memory));
}

/* A graph that allocates can't be launched again before the memory is freed: that is asked. */
TEST(graphs_that_allocate)
{
	CUdeviceptr taken;

	make_graph();
	OK(cuGraphLaunch(g.exec, g.stream));
	ANSWERS(0, OK(cuGraphLaunch(g.exec, g.stream)));
	OK(cuStreamBeginCapture_v2(g.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuMemAllocAsync(&taken, 64, g.stream));
	OK(cuStreamEndCapture(g.stream, &g.graph));
	OK(cuGraphInstantiateWithFlags(&g.exec, g.graph, 0));
	ANSWERS(2, OK(cuGraphLaunch(g.exec, g.stream)); OK(cuGraphLaunch(g.exec, g.stream)));
}

static CUmodule load(void)
{
	uint8_t cubin[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	CUmodule module;

	OK(cuModuleLoadData(&module, cubin));
	return module;
}

/* A module brings its function, with the answer to a frame that goes out behind the image. */
TEST(a_function_comes_with_its_module)
{
	CUfunction f, again, other;
	CUmodule module;
	const char *name;

	server.name = "first";
	ANSWERS(2, module = load());
	FRAMES(0, OK(cuModuleGetFunction(&f, module, "first")));
	FRAMES(0, OK(cuFuncGetName(&name, f)));
	assert_string_equal(name, "first");
	FRAMES(0, OK(cuModuleGetFunction(&again, module, "first")));
	assert_ptr_equal(again, f);
	ANSWERS(1, OK(cuModuleGetFunction(&other, module, "other")));
	assert_ptr_not_equal(other, f);
	FRAMES(1, OK(cuModuleUnload(module)));
	/* of another module than the image's */
	server.name = NULL;
	module = load();
	ANSWERS(1, OK(cuModuleGetFunction(&f, module, "first")));
}

static CUevent events[40];

static unsigned int make_events(unsigned int n, unsigned int flags)
{
	const uint64_t before = liar_told;
	unsigned int i, k, waits = 0;

	for (i = 0; i < n; i++) {
		const uint64_t told = liar_told;

		OK(cuEventCreate(&events[i], flags));
		waits += liar_told != told;
		for (k = 0; k < i; k++)
			assert_ptr_not_equal(events[k], events[i]);
	}
	assert_true(liar_told - before <= 2 * n);
	return waits;
}

/* Events are made in few turns, of each kind and in each context; not more than twice as many. */
TEST(many_events)
{
	CUcontext second;
	CUevent first;

	assert_int_equal(make_events(1, 0), 1);
	assert_int_equal(make_events(40, 0), 6);
	first = events[39];
	assert_int_equal(make_events(2, CU_EVENT_DISABLE_TIMING), 2);
	assert_int_equal(make_events(9, CU_EVENT_INTERPROCESS), 9);
	/* the context's spare ones end with it */
	OK(cuCtxCreate_v2(&second, 0, 0));
	assert_int_equal(make_events(3, 0), 3);
	OK(cuCtxDestroy_v2(second));
	OK(cuCtxSetCurrent(ctx));
	OK(cuEventRecord(first, NULL));
	assert_int_equal(make_events(1, 0), 0);
	OK(cuEventRecord(events[0], NULL));
}

static void destroy_events(unsigned int n)
{
	while (n)
		OK(cuEventDestroy_v2(events[--n]));
}

/* An event that is destroyed gives its place to the next one of its kind, without an answer. */
TEST(events_again)
{
	const unsigned int lacking = OP_event_anew - KVGPU_REMOTE_FIRST_OP;
	const unsigned int plain = CU_EVENT_DISABLE_TIMING;
	CUcontext second;
	CUevent gone;
	unsigned int i;

	make_events(40, plain);
	ANSWERS(0, destroy_events(40));
	gone = events[7];
	FAILS(cuEventRecord(gone, NULL), INVALID_HANDLE);
	FAILS(cuEventDestroy_v2(gone), INVALID_HANDLE);
	for (i = 0; i < 3; i++) {
		assert_int_equal(make_events(40, plain), 0);
		ANSWERS(0, OK(cuEventRecord(events[i], NULL)));
		destroy_events(40);
	}
	/* of another kind, of another context */
	assert_true(make_events(1, CU_EVENT_BLOCKING_SYNC) == 1);
	OK(cuCtxCreate_v2(&second, 0, 0));
	assert_int_equal(make_events(1, plain), 1);
	OK(cuCtxDestroy_v2(second));
	OK(cuCtxSetCurrent(ctx));
	/* other programs may have it */
	assert_int_equal(make_events(1, plain), 0);
	OK(cuIpcGetEventHandle(&(CUipcEventHandle){ 0 }, events[0]));
	FRAMES(1, destroy_events(1));
	peers[0].shares = false;
	/* a server of an older build */
	make_events(1, plain);
	peers[0].lacks[lacking / 64] |= 1ull << lacking % 64;
	FRAMES(1, destroy_events(1));
	peers[0].lacks[lacking / 64] = 0;
	make_events(1, plain);
	FRAMES(0, destroy_events(1));
}

static const cuuint64_t size[5] = { 64, 32, 4, 2, 1 }, strides[4] = { 128, 4096, 8192, 8192 };

static void encode(unsigned int rank, uintptr_t base, cuuint32_t last, CUresult wanted)
{
	const cuuint32_t box[5] = { 8, 4, 2, 1, 1 }, steps[5] = { 1, 1, 1, 1, last };
	static CUtensorMap map;

	assert_int_equal(cuTensorMapEncodeTiled(&map, 6, rank, (void *)base, size, strides, box,
						steps, 1, 2, 3, 1),
			 wanted);
	if (!wanted)
		assert_int_equal(map.opaque[0], base);
}

/* A tensor map is of its arguments alone, all of them; an error is asked for again. */
TEST(tensor_maps)
{
	const int lower[3] = { -1 }, upper[3] = { -2 };
	const cuuint32_t steps[5] = { 1, 1, 1, 1, 1 };
	static CUtensorMap map;
	CUcontext second;
	int i;

	ANSWERS(2, encode(3, 4096, 1, CUDA_SUCCESS); encode(5, 4096, 1, CUDA_SUCCESS));
	ANSWERS(1, encode(5, 4096, 2, CUDA_SUCCESS));
	ANSWERS(1, encode(5, 8192, 1, CUDA_SUCCESS));
	ANSWERS(0, encode(5, 4096, 1, CUDA_SUCCESS); encode(3, 4096, 1, CUDA_SUCCESS);
		encode(5, 4096, 2, CUDA_SUCCESS); encode(3, 4096, 2, CUDA_SUCCESS);
		encode(5, 8192, 1, CUDA_SUCCESS));
	OK(cuCtxCreate_v2(&second, 0, 0));
	ANSWERS(1, encode(3, 4096, 1, CUDA_SUCCESS));
	OK(cuCtxDestroy_v2(second));
	OK(cuCtxSetCurrent(ctx));
	server.result = CUDA_ERROR_INVALID_VALUE;
	ANSWERS(2, encode(3, 512, 1, server.result); encode(3, 512, 1, server.result));
	server.result = CUDA_SUCCESS;
	for (i = 0; i < 2; i++)
		ANSWERS(!i, OK(cuTensorMapEncodeIm2col(&map, 6, 5, (void *)4096, size, strides,
						       lower, upper, 8, 9, steps, 0, 0, 0, 0)));
	for (i = 0; i < 2; i++) {
		memset(&map, 0x11, sizeof(map));
		ANSWERS(!i, OK(cuTensorMapReplaceAddress(&map, (void *)8192)));
		assert_int_equal(map.opaque[0], 8192);
	}
}

/* the calls between two modules of which a program wants to know which is faster */
TEST(a_program_that_tunes)
{
	const CUfunction_attribute dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
	const CUfunction_attribute carveout = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
	CUmodule module;
	CUfunction f;
	int said;

	server.name = "first";
	module = load();
	OK(cuModuleGetFunction(&f, module, "first"));
	ANSWERS(0, OK(cuFuncSetCacheConfig(f, 1)));
	cuDeviceGetAttribute(&said, 16, 0); /* the device is known from now on */
	ANSWERS(0, OK(cuFuncSetAttribute(f, dynamic, SHARED - 100)));
	ANSWERS(1, OK(cuFuncSetAttribute(f, dynamic, SHARED - 99)));
	ANSWERS(1, OK(cuFuncSetAttribute(f, dynamic, -1)));
	ANSWERS(0, OK(cuFuncSetAttribute(f, carveout, 100)));
	ANSWERS(1, OK(cuFuncSetAttribute(f, carveout, 101)));
	ANSWERS(1, OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 1)));
	ANSWERS(0, OK(cuModuleUnload(module)));
	server.name = NULL;
}

/* the last test: the server is asked from now on */
TEST(after_an_error_that_stays)
{
	CUstreamCaptureStatus said;
	int blocks;

	blocks_are(4, 32, 0);
	server.result = CUDA_ERROR_ILLEGAL_ADDRESS;
	FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 16, 0),
	      ILLEGAL_ADDRESS);
	FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 0),
	      ILLEGAL_ADDRESS);
	FRAMES(1, cuStreamIsCapturing(NULL, &said));
	FRAMES(1, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				     DYNAMIC));
}

int main(void)
{
	liar_says = say;
	liar_begin(1);
	return unit_tests_run(begin, end, NULL, NULL);
}
