// SPDX-License-Identifier: MIT
/*
 * What the client answers from what it knows, by frames that it sends: none, until a call of the
 * program may have changed the answer. The server is honest (liar.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda/export/slots.h>

#include "liar.h"

enum { AGAIN = 100, DYNAMIC = 1024 };

static struct {
	unsigned int primary_flags;
	int active, blocks;
	CUresult result; /* of occupancy calls */
	enum kept_kind forget; /* while it answers; NR_KEPT: nothing */
	CUstreamCaptureStatus capture;
} server = { .forget = NR_KEPT };

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
	case OP_cuStreamIsCapturing:
		f->word[0] = server.capture;
		break;
	}
	if (server.forget < NR_KEPT)
		kept_forget(server.forget);
}

#define FRAMES(n, calls)                                 \
	do {                                             \
		const uint64_t before = liar_sent;       \
                                                         \
		calls;                                   \
		assert_int_equal(liar_sent - before, n); \
	} while (0)
#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

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

static void primary_contexts(void **state)
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
	kept_forget(KEPT_PRIMARY);
	server.forget = KEPT_PRIMARY;
	FRAMES(1, OK(cuDevicePrimaryCtxGetState(0, &flags, &active)));
	server.forget = NR_KEPT;
	server.active = 1;
	FRAMES(1, state_is(0, 8, 1));
	server.active = 0;
	kept_forget(KEPT_PRIMARY);
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

static void functions(void **state)
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
	FRAMES(2,
	       assert_int_equal(cuOccupancyMaxActiveBlocksPerMultiprocessor(&said, function, 32, 0),
				CUDA_ERROR_OUT_OF_MEMORY);
	       assert_int_equal(cuOccupancyMaxActiveBlocksPerMultiprocessor(&said, function, 32, 0),
				CUDA_ERROR_OUT_OF_MEMORY));
	server.result = CUDA_SUCCESS;
	FRAMES(1, blocks_are(4, 32, 0));
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
static void the_hot_ones(void **state)
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

static void captures(void **state)
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

/* the last test: the server is asked from now on */
static void after_an_error_that_stays(void **state)
{
	CUstreamCaptureStatus said;
	int blocks;

	blocks_are(4, 32, 0);
	server.result = CUDA_ERROR_ILLEGAL_ADDRESS;
	assert_int_equal(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 16, 0),
			 CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 0),
			 CUDA_ERROR_ILLEGAL_ADDRESS);
	FRAMES(1, cuStreamIsCapturing(NULL, &said));
	FRAMES(1, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				     DYNAMIC));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(primary_contexts),
		TEST(functions),
		TEST(the_hot_ones),
		TEST(captures),
		TEST(after_an_error_that_stays),
	};

	liar_says = say;
	liar_begin(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
