// SPDX-License-Identifier: MIT
/* The server's decoder, with frames of a client. */
#include <unistd.h>

#include <cuda/api/export/export.h>
#include <remote/wire/dump.h>
#include <remote/wire/table.h>

#include "ask.h"

/*
 * Every operation with 0 to 512 bytes of zeros: the library gets no bytes that were not in the
 * frame, as far as the address sanitizer sees. An operation that does not exist is an error.
 */
TEST(lengths)
{
	static uint64_t zeros[KVGPU_REMOTE_PAYLOAD_MAX / 8];
	unsigned int op, n;

	context();
	for (op = 0; op <= KVGPU_REMOTE_OPS; op++)
		for (n = 0; n <= 512; n += 8) {
			fake_frame(&s, op, zeros, n);
			if (s.current == 0)
				context();
		}
	FAILS(fake_frame(&s, 0xffff, zeros, 8), NOT_SUPPORTED);
}

TEST(numbers)
{
	uint64_t ctx = context(), st = stream(), event;

	event = GET(event, cuEventCreate, .flags = 2);
	OK(ASK(cuEventRecord, .event = event, .stream = st));
	OK(ASK(cuEventRecord, .event = event, .stream = 0));
	FAILS(ASK(cuEventRecord, .event = st, .stream = st), INVALID_HANDLE);
	FAILS(ASK(cuEventRecord, .event = event, .stream = event), INVALID_HANDLE);
	FAILS(ASK(cuEventRecord, .event = event + (1ull << 32), .stream = st), INVALID_HANDLE);
	FAILS(ASK(cuEventRecord, .event = 0x5ull << 56 | 0xffffffff, .stream = st), INVALID_HANDLE);
	OK(ASK(cuEventDestroy_v2, .event = event));
	FAILS(ASK(cuEventRecord, .event = event, .stream = st), INVALID_HANDLE);
	/* the next handle has the same entry, and another number */
	OK(ASK(cuEventCreate, .flags = 2));
	assert_int_equal(KVGPU_REMOTE_INDEX(ANSWER(cuEventCreate)->event),
			 KVGPU_REMOTE_INDEX(event));
	assert_true(ANSWER(cuEventCreate)->event != event);
	/* so a client knows the number of an event that takes another one's place */
	event = ANSWER(cuEventCreate)->event;
	OK(ASK(event_anew, .event = event, .flags = 2));
	FAILS(ASK(event_anew, .event = event, .flags = 2), INVALID_HANDLE);
	OK(ASK(cuEventRecord, .event = KVGPU_REMOTE_NEXT(event), .stream = st));
	OK(ASK(cuEventDestroy_v2, .event = KVGPU_REMOTE_NEXT(event)));
	/* when a context ends, its stream ends, too */
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	FAILS(ASK(cuStreamQuery, .stream = st), INVALID_HANDLE);
	assert_int_equal(s.current, 0);
	FAILS(ASK(cuCtxDestroy_v2, .ctx = ctx), INVALID_HANDLE);
}

/* A client of another build: the server takes its operations by its table. */
TEST(another_table)
{
	enum { MOST = 2 + KVGPU_REMOTE_TABLE_MAX };
	const uint64_t query = kvgpu_remote_shapes[OP_cuStreamQuery - KVGPU_REMOTE_FIRST_OP].hash,
		       fence = kvgpu_remote_shapes[OP_fence - KVGPU_REMOTE_FIRST_OP].hash;
	uint64_t told[MOST + 1] = { 77, 88, query, 5, fence };
	struct counters counters = { 0 };

	s.counters = &counters;
	OK(fake_frame(&s, KVGPU_REMOTE_OP_TABLE, told, 5 * 8));
	assert_int_equal(fake_last.bytes, 3 * 8);
	assert_true(fake_payload[0] == KVGPU_REMOTE_VERSION);
	assert_true(fake_payload[1] == KVGPU_REMOTE_TABLE);
	assert_int_equal(fake_payload[2], 5);
	assert_int_equal(counters.version, 77);
	assert_true(counters.table == query + 5 + fence); /* not what the client says */
	assert_int_equal(table_own(&s, KVGPU_REMOTE_FIRST_OP), OP_cuStreamQuery);
	assert_int_equal(table_own(&s, KVGPU_REMOTE_FIRST_OP + 1), 0);
	assert_int_equal(table_own(&s, KVGPU_REMOTE_FIRST_OP + 2), OP_fence);
	assert_int_equal(table_own(&s, KVGPU_REMOTE_FIRST_OP + 3), 0);
	assert_int_equal(table_own(&s, UINT16_MAX), 0);
	assert_int_equal(table_own(&s, KVGPU_REMOTE_OP_SPOILT), KVGPU_REMOTE_OP_SPOILT);
	FAILS(fake_frame(&s, 0, told, 8), NOT_SUPPORTED);
	FAILS(fake_frame(&s, KVGPU_REMOTE_OP_TABLE, told, 8), INVALID_VALUE);
	FAILS(fake_frame(&s, KVGPU_REMOTE_OP_TABLE, told, sizeof(told)), INVALID_VALUE);
	assert_int_equal(table_own(&s, KVGPU_REMOTE_FIRST_OP), OP_cuStreamQuery);
	OK(fake_frame(&s, KVGPU_REMOTE_OP_TABLE, told, MOST * 8));
	table_hashes(told + 2);
	OK(fake_frame(&s, KVGPU_REMOTE_OP_TABLE, told,
		      (2 + KVGPU_REMOTE_OPS - KVGPU_REMOTE_FIRST_OP) * 8));
	assert_int_equal(table_own(&s, OP_fence), OP_fence);
	assert_true(counters.table == KVGPU_REMOTE_TABLE);
}

TEST(many_handles)
{
	enum { N = 5000 };
	uint64_t *ids = calloc(N, sizeof(*ids));
	unsigned int i;

	context();
	for (i = 0; i < N; i++)
		ids[i] = stream();
	for (i = 0; i < N; i++)
		OK(ASK(cuStreamQuery, .stream = ids[i]));
	for (i = 0; i < N; i += 2)
		OK(ASK(cuStreamDestroy_v2, .stream = ids[i]));
	for (i = 0; i < N; i++)
		assert_int_equal(ASK(cuStreamQuery, .stream = ids[i]),
				 i % 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
	free(ids);
}

/* Graphs in graphs, deeper than recursion on a stack could go. */
TEST(deep)
{
	uint64_t top, graph, node;
	unsigned int i;

	OK(ASK(cuGraphCreate, .flags = 0));
	top = graph = ANSWER(cuGraphCreate)->graph;
	for (i = 0; i < 20000; i++) {
		struct q_cuGraphAddEmptyNode q = { .graph = graph };

		OK(fake_frame(&s, OP_cuGraphAddEmptyNode, &q, sizeof(q)));
		node = ANSWER(cuGraphAddEmptyNode)->node;
		graph = GET(graph, cuGraphChildGraphNodeGetGraph, .node = node);
	}
	OK(ASK(cuGraphDestroy, .graph = top));
	FAILS(ASK(cuGraphNodeGetType, .node = node), INVALID_HANDLE);
}

static unsigned int waits_in_library;

static CUresult wait_in_library(CUstream st)
{
	waits_in_library++;
	return CUDA_SUCCESS;
}

/* no frame passes by a barrier: the library itself waits */
TEST(barriers)
{
	uint64_t st;

	context();
	st = stream();
	s.library.cuStreamSynchronize = wait_in_library;
	fake_busy = 3;
	OK(ASK(barrier, .stream = st));
	assert_int_equal(waits_in_library, 1);
	assert_null(s.waits.list);
	fake_busy = 0;
	FAILS(ASK(barrier, .stream = st + 1), INVALID_HANDLE);
}

/*
 * A wait does not hold other frames up. Its answer is sent when the work is done, or when its
 * context ends.
 */
TEST(waiting)
{
	uint64_t ctx = context(), st = stream(), seq;
	unsigned int answers;

	fake_busy = 3;
	answers = fake_answers;
	ASK(cuStreamSynchronize, .stream = st);
	seq = s.frame.head.seq;
	assert_int_equal(fake_answers, answers);
	OK(ASK(cuCtxSetLimit, .limit = 0, .value = 1));
	assert_false(waits_look(&s));
	assert_false(waits_look(&s));
	assert_true(waits_look(&s));
	assert_int_equal(fake_last.seq, seq);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);

	fake_busy = 1000;
	answers = fake_answers;
	fake_frame(&s, OP_cuCtxSynchronize, NULL, 0);
	ASK(copy_out, .src = 1 << 20, .stream = st, .at = 4096, .bytes = 4096, .flags = COPY_WHOLE);
	assert_int_equal(fake_answers, answers);
	assert_false(waits_look(&s));
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	/* both waits were answered, and this call */
	assert_int_equal(fake_answers, answers + 3);
	assert_null(s.waits.list);
}

/* If a capture fails, the library destroys its graph, whichever stream showed the graph first. */
TEST(captures)
{
	uint64_t one, two, graph, node;

	context();
	one = stream();
	two = stream();
	graph = GET(graph, capture_info, .stream = two);
	node = *(const uint64_t *)(ANSWER(capture_info) + 1);
	OK(ASK(cuGraphNodeGetType, .node = node));
	assert_int_equal(GET(graph, cuStreamEndCapture, .stream = one, .want = 1), graph);
	OK(ASK(cuStreamDestroy_v2, .stream = two));
	OK(ASK(cuGraphNodeGetType, .node = node)); /* the graph belongs to the program now */

	two = stream();
	graph = GET(graph, capture_info, .stream = two);
	node = *(const uint64_t *)(ANSWER(capture_info) + 1);
	fake_error = CUDA_ERROR_INVALID_VALUE;
	FAILS(ASK(cuStreamEndCapture, .stream = one, .want = 1), INVALID_VALUE);
	fake_error = CUDA_SUCCESS;
	FAILS(ASK(cuGraphNodeGetType, .node = node), INVALID_HANDLE);
	FAILS(ASK(cuGraphDestroy, .graph = graph), INVALID_HANDLE);

	graph = GET(graph, capture_info, .stream = two);
	OK(ASK(cuStreamDestroy_v2, .stream = one));
	FAILS(ASK(cuGraphDestroy, .graph = graph), INVALID_HANDLE);
}

/* A frame that was put aside is served unchanged later. */
TEST(put_aside)
{
	uint64_t st;
	unsigned int answers;

	context();
	st = stream();
	fake_busy = 2;
	answers = fake_answers;
	ASK(copy_out, .src = 1 << 20, .stream = st, .at = 4096, .bytes = 4096, .flags = COPY_WHOLE);
	assert_int_equal(fake_answers, answers);
	assert_false(waits_look(&s));
	assert_true(waits_look(&s));
	assert_int_equal(fake_answers, answers + 1);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
	assert_int_equal(s.arena[4096], 0x11);
	assert_int_equal(s.arena[4095], 0);
	assert_int_equal(s.arena[8192], 0);
}

/*
 * A library may wait for the stream in a copy between places of host memory. Frames are served
 * meanwhile, as a function of the client's may be among what it waits for.
 */
TEST(between_host_memory)
{
	const uint64_t own = (uintptr_t)s.arena, device = 1 << 20;
	unsigned int answers, i;
	uint64_t st;

	context();
	st = stream();
	for (i = 0; i < 2; i++) {
		answers = fake_answers;
		fake_busy = 2;
		if (i)
			ASK(cuMemcpyDtoD_v2, .dst = own, .src = own + 4096, .bytes = 64);
		else
			ASK(cuMemcpyDtoDAsync_v2, .dst = own, .src = own + 4096, .bytes = 64,
			    .stream = st);
		assert_int_equal(fake_answers, answers);
		assert_false(waits_look(&s));
		assert_true(waits_look(&s));
		assert_int_equal(fake_answers, answers + 1);
		assert_int_equal(fake_last.result, CUDA_SUCCESS);
	}
	fake_busy = 2;
	OK(ASK(cuMemcpyDtoDAsync_v2, .dst = device, .src = own, .bytes = 64, .stream = st));
	OK(ASK(cuMemcpyDtoDAsync_v2, .dst = own, .src = device, .bytes = 64, .stream = st));
	assert_int_equal(fake_busy, 2);
	fake_busy = 0;
}

static unsigned int synchronized;

static CUresult synchronize(CUevent e)
{
	synchronized++;
	return CUDA_SUCCESS;
}

static void wait_for(uint64_t st)
{
	fake_busy = 2;
	ASK(cuStreamSynchronize, .stream = st);
	end_waits();
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
}

static void load(const char *ptx)
{
	memcpy(s.arena, ptx, strlen(ptx) + 1);
	OK(ASK(image, .at = 0, .bytes = strlen(ptx) + 1));
}

/*
 * The library gets what kernels print in a call that waits, so it is called behind kernels if a
 * module has any that print.
 */
TEST(kernels_may_print)
{
	uint64_t first, second, event;

	context();
	first = stream();
	second = stream();
	event = GET(event, cuEventCreate, .flags = 0);
	synchronized = 0;
	s.library.cuEventSynchronize = synchronize;
	wait_for(first);
	load(".version 7.8\n");
	OK(ASK(cuMemsetD8Async, .dst = 1 << 20, .n = 8, .stream = first));
	wait_for(first);
	OK(ASK(cuEventSynchronize, .event = event));
	assert_int_equal(synchronized, 0);
	load(".version 7.8\n.extern .func vprintf\n");
	wait_for(first);
	assert_int_equal(synchronized, 0);

	OK(ASK(cuMemsetD8Async, .dst = 1 << 20, .n = 8, .stream = first));
	wait_for(second);
	assert_int_equal(synchronized, 1); /* knows nothing of the first stream */
	wait_for(first);
	assert_int_equal(synchronized, 2);
	wait_for(first);
	assert_int_equal(synchronized, 2);

	/* submitted while a wait goes on: behind its event */
	fake_busy = 100;
	ASK(cuStreamSynchronize, .stream = first);
	OK(ASK(cuMemsetD8Async, .dst = 1 << 20, .n = 8, .stream = first));
	fake_busy = 2;
	end_waits();
	assert_int_equal(synchronized, 3);
	wait_for(first);
	assert_int_equal(synchronized, 4);
	wait_for(first);
	assert_int_equal(synchronized, 4);

	/* kernels in several streams: each wait calls */
	OK(ASK(cuMemsetD8Async, .dst = 1 << 20, .n = 8, .stream = first));
	OK(ASK(cuMemsetD8Async, .dst = 1 << 20, .n = 8, .stream = second));
	wait_for(first);
	wait_for(second);
	wait_for(second);
	assert_int_equal(synchronized, 7);
	OK(ASK(cuEventSynchronize, .event = event));
	assert_int_equal(synchronized, 8);
}

TEST(errors_later)
{
	struct q_cuMemsetD8_v2 q = { .dst = 1 << 20, .n = 8 };
	struct kvgpu_remote_head h = { .seq = 1000, .op = OP_cuMemsetD8_v2, .bytes = sizeof(q) };

	context();
	fake_error = CUDA_ERROR_INVALID_VALUE;
	serve_frame(&s, &h, &q);
	fake_error = CUDA_SUCCESS;
	/* has nothing to do with the failed frame */
	OK(ASK(cuCtxSetLimit, .limit = 0, .value = 1));
	FAILS(ASK(cuStreamSynchronize, .stream = 0), INVALID_VALUE);
	OK(ASK(cuStreamSynchronize, .stream = 0));
}

static unsigned int not_looked_at;

static CUresult set_parameters(CUfunction f, int offset, void *bytes, unsigned int n)
{
	not_looked_at++;
	return CUDA_SUCCESS;
}

static CUresult set_attribute(CUfunction f, CUfunction_attribute attribute, int value)
{
	not_looked_at++;
	return CUDA_SUCCESS;
}

/* NVIDIA's library does not look at these itself, and writes or reads beside its tables. */
TEST(for_the_library)
{
	static const int offsets[] = { -1, -64, -4096, INT32_MIN, 4096 - 63, 1 << 28, INT32_MAX },
			 attributes[] = { -1, -9, 16, 1 << 28, INT32_MIN };
	struct {
		struct q_cuParamSetv q;
		uint8_t bytes[64];
	} set = { .q = { .n = 64 } };
	unsigned int i;
	uint64_t f;

	context();
	s.library.cuParamSetv = set_parameters;
	s.library.cuFuncSetAttribute = set_attribute;
	f = handle_give(&s, CLASS_FUNCTION, fake_new(CLASS_FUNCTION), s.current);
	set.q.f = f;
	not_looked_at = 0;
	for (i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		set.q.offset = offsets[i];
		FAILS(fake_frame(&s, OP_cuParamSetv, &set, sizeof(set)), INVALID_VALUE);
	}
	for (i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		FAILS(ASK(cuFuncSetAttribute, .function = f, .attribute = attributes[i]),
		      INVALID_VALUE);
	assert_int_equal(not_looked_at, 0);
	set.q.offset = 4096 - 64;
	OK(fake_frame(&s, OP_cuParamSetv, &set, sizeof(set)));
	OK(ASK(cuFuncSetAttribute, .function = f, .attribute = 15));
	assert_int_equal(not_looked_at, 2);
}

TEST(places)
{
	context();
	OK(ASK(copy_in, .dst = 1 << 20, .at = (1 << 20) - 8, .bytes = 8));
	FAILS(ASK(copy_in, .dst = 1 << 20, .at = (1 << 20) - 8, .bytes = 9), INVALID_VALUE);
	FAILS(ASK(copy_in, .dst = 1 << 20, .at = KVGPU_REMOTE_NOWHERE, .bytes = 1), INVALID_VALUE);
	FAILS(ASK(copy_in, .dst = 1 << 20, .at = 8, .bytes = UINT64_MAX - 4), INVALID_VALUE);
	FAILS(ASK(copy_out, .src = 1 << 20, .at = KVGPU_REMOTE_NOWHERE,
		  .bytes = KVGPU_REMOTE_INLINE_MAX + 1),
	      INVALID_VALUE);
	FAILS(ASK(image, .at = 0, .bytes = 2 << 20), INVALID_VALUE);
	FAILS(ASK(image, .at = 0, .bytes = 64), INVALID_IMAGE);
	/*
	 * with this type the address itself decides what memory is meant, and that could be the
	 * server's own
	 */
	FAILS(ASK(box, .src = { [END_TYPE] = CU_MEMORYTYPE_UNIFIED },
		  .dst = { [END_TYPE] = CU_MEMORYTYPE_DEVICE }, .size = { 1, 1, 1 }),
	      INVALID_VALUE);
	FAILS(ASK(box,
		  .src = { [END_TYPE] = CU_MEMORYTYPE_HOST,
			   [END_PITCH] = UINT64_MAX / 2,
			   [END_HEIGHT] = 4 },
		  .dst = { [END_TYPE] = CU_MEMORYTYPE_DEVICE }, .size = { 16, 4, 1 }),
	      INVALID_VALUE);
	OK(ASK(box,
	       .src = { [END_TYPE] = CU_MEMORYTYPE_HOST, [END_PITCH] = 1 << 18, [END_HEIGHT] = 4 },
	       .dst = { [END_TYPE] = CU_MEMORYTYPE_DEVICE }, .size = { 16, 4, 1 }));
	FAILS(ASK(box,
		  .src = { [END_TYPE] = CU_MEMORYTYPE_HOST,
			   [END_PITCH] = 1 << 18,
			   [END_HEIGHT] = 4,
			   [END_WHERE] = (1 << 18) - 15 },
		  .dst = { [END_TYPE] = CU_MEMORYTYPE_DEVICE }, .size = { 16, 4, 1 }),
	      INVALID_VALUE);
}

/*
 * Parameters of a kernel node, whether the library gives them back one by one or packed, as they
 * were set. If it gives too few packed bytes, they are not passed on.
 */
static void node_parameters(uint64_t function)
{
	struct {
		struct q_kernel_node q;
		uint8_t bytes[16];
	} make = { .q = { .function = function, .bytes = 13 } };
	const struct a_kernel_node_get *a;
	uint64_t node;

	memcpy(make.bytes, "parameters of", 13);
	make.q.graph = GET(graph, cuGraphCreate, .flags = 0);
	OK(fake_frame(&s, OP_kernel_node, &make, sizeof(make)));
	node = ANSWER(kernel_node)->node;
	for (fake_gives_packed = 0; fake_gives_packed < 14; fake_gives_packed++) {
		OK(ASK(kernel_node_get, .node = node));
		a = ANSWER(kernel_node_get);
		assert_int_equal(a->bytes, fake_gives_packed % 13 ? 0 : 13);
		assert_int_equal(a->block[0], 2);
		if (a->bytes)
			assert_memory_equal(a + 1, "parameters of", 13);
	}
	fake_gives_packed = 0;
}

/*
 * A launch needs as many bytes as the kernel's parameters have, because the library reads that
 * many.
 */
TEST(parameters)
{
	struct {
		struct q_launch q;
		uint8_t bytes[24];
	} go = { .q = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } } };
	uint64_t module;

	context();
	module = new_module();
	go.q.function = function_of(module);
	assert_int_equal(ANSWER(function)->parameters, 3);
	go.q.bytes = 13;
	OK(fake_frame(&s, OP_launch, &go, sizeof(go.q) + 16));
	go.q.bytes = 12;
	FAILS(fake_frame(&s, OP_launch, &go, sizeof(go.q) + 16), INVALID_VALUE);
	go.q.bytes = 13;
	FAILS(fake_frame(&s, OP_launch, &go, sizeof(go.q) + 8), INVALID_VALUE);
	node_parameters(go.q.function);
	OK(ASK(cuModuleUnload, .module = module));
	FAILS(ASK(function, .module = module), INVALID_HANDLE);
	FAILS(fake_frame(&s, OP_launch, &go, sizeof(go.q) + 16), INVALID_HANDLE);
}

/* Functions of a list are told with what a launch needs, and with their names. */
TEST(functions_of_a_module)
{
	struct {
		struct q_launch q;
		uint8_t bytes[16];
	} go = { .q = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .bytes = 13 } };
	const struct a_function *a;
	uint64_t module, function;

	context();
	module = new_module();
	assert_int_equal(GET(n, functions, .module = module, .room = 2), 2);
	assert_int_equal(GET(n, functions, .module = module, .first = 2, .room = 2), 1);
	function = *(const uint64_t *)(ANSWER(functions) + 1);
	go.q.function = function;
	go.q.bytes = 12;
	FAILS(fake_frame(&s, OP_launch, &go, sizeof(go)), INVALID_VALUE);
	assert_int_equal(GET(n, functions, .module = module, .first = 3, .room = 2), 0);
	FAILS(ASK(functions, .module = module, .room = KVGPU_REMOTE_LIST_MAX + 1), INVALID_VALUE);
	OK(ASK(function, .function = function));
	a = ANSWER(function);
	assert_int_equal(a->function, function);
	assert_int_equal(a->parameters, 3);
	assert_int_equal(a->name_bytes, 7);
	assert_string_equal((const char *)(a + 1) + 24, "kernel");
	go.q.bytes = 13;
	OK(fake_frame(&s, OP_launch, &go, sizeof(go)));
	OK(ASK(cuModuleUnload, .module = module));
	FAILS(ASK(functions, .module = module, .room = 2), INVALID_HANDLE);
	FAILS(ASK(function, .function = function), INVALID_HANDLE);
	FAILS(fake_frame(&s, OP_launch, &go, sizeof(go)), INVALID_HANDLE);
}

/* an image of which parts come first, as the library gets it */
TEST(images_in_parts)
{
	context();
	memcpy(s.arena, "\001\002.ve", 5);
	OK(ASK(image_part, .at = 0, .bytes = 2));
	OK(ASK(image_part, .at = 2, .bytes = 2)); /* another image */
	memcpy(s.arena, "ersion 7.8\n", 12);
	OK(ASK(image_part, .at = 1, .bytes = 1, .more = 1));
	OK(ASK(image, .at = 2, .bytes = 13, .parts = 1));
	assert_memory_equal(fake_image, ".vrs", 4);
	FAILS(ASK(image_part, .at = s.arena_bytes, .bytes = 1), INVALID_VALUE);
	FAILS(ASK(image_part, .at = 0, .bytes = KVGPU_REMOTE_PART_MAX + 1ull), INVALID_VALUE);
	OK(ASK(image_part, .at = 0, .bytes = 12));
	FAILS(ASK(image, .at = 0, .bytes = 11, .parts = 1), INVALID_VALUE);
	/* the parts are gone; without them the image is what lies there */
	OK(ASK(image, .at = 0, .bytes = 12, .parts = 1));
	assert_memory_equal(fake_image, "ersi", 4);
	OK(ASK(image_part, .at = 0, .bytes = 12));
	OK(ASK(image, .at = 0, .bytes = 12));
	assert_memory_equal(fake_image, "ersi", 4);
}

/* NVIDIA's library links by itself, ours has its compiler in another program */
TEST(who_links)
{
	context();
	assert_false(GET(elsewhere, link_create, .number_options = 0));
	s.library.goes_on = true;
	assert_true(GET(elsewhere, link_create, .number_options = 0));
}

TEST(quota)
{
	uint64_t ctx = context(), ptr;

	s.options.memory = 1 << 20;
	ptr = GET(ptr, cuMemAlloc_v2, .bytes = 600 << 10);
	FAILS(ASK(cuMemAlloc_v2, .bytes = 600 << 10), OUT_OF_MEMORY);
	FAILS(ASK(cuMemAllocPitch_v2, .width = 1 << 10, .height = 600, .element = 4),
	      OUT_OF_MEMORY);
	FAILS(ASK(cuMemAllocPitch_v2, .width = UINT64_MAX, .height = 2, .element = 4),
	      OUT_OF_MEMORY);
	assert_int_equal(GET(total, cuMemGetInfo_v2, .want = 3), 1 << 20);
	assert_int_equal(ANSWER(cuMemGetInfo_v2)->free, 424 << 10);
	OK(ASK(cuMemFree_v2, .ptr = ptr));
	OK(ASK(cuMemAlloc_v2, .bytes = 1 << 20));
	FAILS(ASK(cuArrayCreate_v2, .desc = { 16, 16, CU_AD_FORMAT_FLOAT, 1 }), OUT_OF_MEMORY);
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(s.quota.charged, 0);
	context();
	OK(ASK(cuArrayCreate_v2, .desc = { 16, 16, CU_AD_FORMAT_FLOAT, 1 }));
	/* an array takes more memory than its texels */
	assert_int_equal(s.quota.charged, 128 << 10);
	OK(ASK(cuArrayDestroy, .array = ANSWER(cuArrayCreate_v2)->array));
	assert_int_equal(s.quota.charged, 0);
	OK(ASK(cuMemAlloc_v2, .bytes = 1));
	assert_int_equal(s.quota.charged, 512);
}

static uint64_t charged_for(size_t width, size_t height, size_t depth, unsigned int flags,
			    unsigned int levels)
{
	CUDA_ARRAY3D_DESCRIPTOR d = { width, height, depth, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags };
	uint64_t charged;

	if (levels) {
		OK(ASK(cuMipmappedArrayCreate, .desc = d, .levels = levels));
		charged = s.quota.charged;
		OK(ASK(cuMipmappedArrayDestroy, .array = ANSWER(cuMipmappedArrayCreate)->array));
	} else {
		OK(ASK(cuArray3DCreate_v2, .desc = d));
		charged = s.quota.charged;
		OK(ASK(cuArrayDestroy, .array = ANSWER(cuArray3DCreate_v2)->array));
	}
	return charged;
}

/*
 * Arrays whose texels are few for the tiles that they lie in. The bytes are what cuMemGetInfo told
 * of NVIDIA's library on an H100, and of cuda/; where these differ, the lesser.
 */
TEST(tiles)
{
	context();
	assert_int_equal(charged_for(65536, 0, 0, 0, 0), 512 << 10);
	assert_int_equal(charged_for(1, 65535, 0, 0, 0), 4 << 20);
	assert_int_equal(charged_for(1, 0, 2048, CUDA_ARRAY3D_LAYERED, 0), 1 << 20);
	assert_int_equal(charged_for(1, 1000, 100, CUDA_ARRAY3D_LAYERED, 0), 6553600);
	assert_int_equal(charged_for(1, 1, 4096, 0, 0), 2 << 20);
	assert_int_equal(charged_for(1, 4096, 4096, 0, 0), 1 << 30);
	assert_int_equal(charged_for(4096, 4096, 0, 0, 0), 16 << 20);
	assert_int_equal(charged_for(1, 32768, 0, 0, 16), 4325376);
	assert_int_equal(charged_for(1, 4096, 64, 0, 12), 22413312);
	assert_int_equal(s.quota.charged, 0);
	FAILS(ASK(cuArray3DCreate_v2, .desc = { UINT64_MAX, 2, 0, CU_AD_FORMAT_FLOAT, 1 }),
	      OUT_OF_MEMORY);
	assert_int_equal(s.quota.charged, 0);
}

static size_t limits[CU_LIMIT_MALLOC_HEAP_SIZE + 1];

static CUresult set_limit(CUlimit limit, size_t value)
{
	limits[limit] = value;
	return fake_error;
}

static CUresult get_limit(size_t *value, CUlimit limit)
{
	*value = limits[limit];
	return fake_error;
}

/* What kernels get by malloc() is device memory, too: the heap is in the quota. */
TEST(heap)
{
	uint64_t ctx = context();

	s.library.cuCtxSetLimit = set_limit;
	s.library.cuCtxGetLimit = get_limit;
	limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
	limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
	s.options.memory = 64 << 20;
	FAILS(ASK(cuCtxSetLimit, .limit = CU_LIMIT_MALLOC_HEAP_SIZE, .value = 1 << 30),
	      OUT_OF_MEMORY);
	assert_int_equal(limits[CU_LIMIT_MALLOC_HEAP_SIZE], 8 << 20);
	OK(ASK(cuCtxSetLimit, .limit = CU_LIMIT_MALLOC_HEAP_SIZE, .value = 48 << 20));
	assert_in_range(s.quota.charged, 40 << 20, 41 << 20);
	FAILS(ASK(cuCtxSetLimit, .limit = CU_LIMIT_PRINTF_FIFO_SIZE, .value = 48 << 20),
	      OUT_OF_MEMORY);
	FAILS(ASK(cuCtxSetLimit, .limit = CU_LIMIT_MALLOC_HEAP_SIZE, .value = SIZE_MAX),
	      OUT_OF_MEMORY);
	OK(ASK(cuCtxSetLimit, .limit = CU_LIMIT_MALLOC_HEAP_SIZE, .value = 0));
	assert_int_equal(s.quota.charged, 0);
	OK(ASK(cuCtxSetLimit, .limit = CU_LIMIT_PRINTF_FIFO_SIZE, .value = 48 << 20));
	assert_in_range(s.quota.charged, 47 << 20, 48 << 20);
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(s.quota.charged, 0);
}

/* NVIDIA's library on an H100: in multiples of 64 KiB */
static CUresult set_rounded(CUlimit limit, size_t value)
{
	return set_limit(limit, (value + 0xffff) & ~0xffffull);
}

/* A limit that the library rounds up is charged as the library has it. */
TEST(rounded_heap)
{
	size_t *heap = &limits[CU_LIMIT_MALLOC_HEAP_SIZE];
	unsigned int i;

	context();
	s.library.cuCtxSetLimit = set_rounded;
	s.library.cuCtxGetLimit = get_limit;
	*heap = 8 << 20;
	s.options.memory = 64 << 20;
	for (i = 0; i < 2000; i++)
		if (ASK(cuCtxSetLimit, .limit = CU_LIMIT_MALLOC_HEAP_SIZE, .value = *heap + 1))
			break;
	assert_int_equal(i, 64 << 20 >> 16);
	assert_int_equal(*heap, 72 << 20);
	assert_int_equal(s.quota.charged, 64 << 20);
	OK(ASK(cuCtxSetLimit, .limit = CU_LIMIT_MALLOC_HEAP_SIZE, .value = 8 << 20));
	assert_int_equal(s.quota.charged, 0);
}

TEST(streams_in_quota)
{
	uint64_t ctx = context(), st;
	unsigned int n;

	s.options.memory = 64 << 20;
	st = stream();
	for (n = 1; n < 1000 && !ASK(cuStreamCreateWithPriority, .flags = 1); n++)
		;
	assert_int_equal(n, 64);
	FAILS(ASK(cuStreamCreate, .flags = 0), OUT_OF_MEMORY);
	FAILS(ASK(cuMemAlloc_v2, .bytes = 512), OUT_OF_MEMORY);
	OK(ASK(cuStreamDestroy_v2, .stream = st));
	assert_int_equal(s.quota.charged, 63 << 20);
	fake_error = CUDA_ERROR_INVALID_VALUE;
	FAILS(ASK(cuStreamCreate, .flags = 77), INVALID_VALUE);
	fake_error = CUDA_SUCCESS;
	stream();
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(s.quota.charged, 0);
}

/* The first process sets another limit while the program runs. What the program has stays. */
TEST(another_quota)
{
	struct counters counters = { .limit = 1 << 20 };

	s.counters = &counters;
	s.options.memory = 64 << 20;
	context();
	OK(ASK(cuMemAlloc_v2, .bytes = 600 << 10));
	FAILS(ASK(cuMemAlloc_v2, .bytes = 600 << 10), OUT_OF_MEMORY);
	assert_int_equal(GET(total, cuMemGetInfo_v2, .want = 3), 1 << 20);
	counters.limit = UINT64_MAX;
	OK(ASK(cuMemAlloc_v2, .bytes = 600 << 10));
	counters.limit = 1 << 20;
	assert_int_equal(GET(free, cuMemGetInfo_v2, .want = 3), 0);
	FAILS(ASK(cuMemAlloc_v2, .bytes = 1), OUT_OF_MEMORY);
	assert_int_equal(s.quota.charged, 1200 << 10);
	/* a program that began without a limit has counted nothing of some objects */
	s.options.memory = 0;
	OK(ASK(cuMemAlloc_v2, .bytes = 600 << 10));
	s.counters = NULL;
}

TEST(quota_of_two)
{
	int fd = pool_make(2);
	uint64_t ptr;

	assert_true(fd >= 0);
	s.quota.pool = pool_map(fd, 2);
	s.quota.program = 1;
	s.quota.nr_programs = 2;
	s.options.memory = 1 << 20;
	context();
	assert_true(pool_take(s.quota.pool, 2, 0, 600 << 10, 1 << 20));
	FAILS(ASK(cuMemAlloc_v2, .bytes = 600 << 10), OUT_OF_MEMORY);
	FAILS(ASK(cuArrayCreate_v2, .desc = { 512, 512, CU_AD_FORMAT_FLOAT, 1 }), OUT_OF_MEMORY);
	assert_int_equal(GET(free, cuMemGetInfo_v2, .want = 3), 424 << 10);
	ptr = GET(ptr, cuMemAlloc_v2, .bytes = 400 << 10);
	assert_false(pool_take(s.quota.pool, 2, 0, 625 << 10, 1 << 20));
	OK(ASK(cuMemFree_v2, .ptr = ptr));
	assert_int_equal(pool_others(s.quota.pool, 2, 0), 0);
	/* memory that the library refuses is not charged */
	fake_error = CUDA_ERROR_INVALID_VALUE;
	assert_int_equal(ASK(cuMemAlloc_v2, .bytes = 1 << 10), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(ASK(cuArrayCreate_v2, .desc = { 16, 16, CU_AD_FORMAT_FLOAT, 1 }),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(ASK(cuMemAllocPitch_v2, .width = 16, .height = 16, .element = 4),
			 CUDA_ERROR_INVALID_VALUE);
	fake_error = CUDA_SUCCESS;
	assert_int_equal(pool_others(s.quota.pool, 2, 0), 0);
	pool_clear(s.quota.pool, 0);
	OK(ASK(cuMemAlloc_v2, .bytes = 1 << 20));
	pool_unmap(s.quota.pool, 2);
	s.quota.pool = NULL;
	close(fd);
}

/* When no number is left the library makes nothing, because the client could not free it. */
TEST(no_number)
{
	uint64_t graph;
	unsigned int made, calls;
	struct fake *f;

	context();
	graph = GET(graph, cuGraphCreate, .flags = 0);
	while (!ASK(cuGraphAddEmptyNode, .graph = graph))
		;
	for (made = 0, f = fake_all; f; f = f->next)
		made++;
	assert_true(made > 1000000);
	calls = fake_calls;
	FAILS(ASK(cuGraphAddEmptyNode, .graph = graph), OUT_OF_MEMORY);
	FAILS(ASK(cuArrayCreate_v2, .desc = { 16, 16, CU_AD_FORMAT_FLOAT, 1 }), OUT_OF_MEMORY);
	FAILS(ASK(cuStreamCreate, .flags = 0), OUT_OF_MEMORY);
	FAILS(ASK(host_node, .graph = graph), OUT_OF_MEMORY);
	assert_int_equal(fake_calls, calls);
	assert_int_equal(s.quota.charged, 0);
	OK(ASK(cuGraphDestroy, .graph = graph));
	OK(ASK(cuArrayCreate_v2, .desc = { 16, 16, CU_AD_FORMAT_FLOAT, 1 }));
}

TEST(user_objects)
{
	uint64_t graph = new_graph(), object;
	unsigned int calls;

	FAILS(ASK(user_object, .id = 3, .count = 0, .flags = 1), INVALID_VALUE);
	FAILS(ASK(user_object, .id = 3, .count = UINT32_MAX, .flags = 1), INVALID_VALUE);
	object = GET(object, user_object, .id = 3, .count = 2, .flags = 1);
	OK(ASK(cuUserObjectRetain, .object = object, .count = 1));
	FAILS(ASK(cuUserObjectRelease, .object = object, .count = 4), INVALID_VALUE);
	FAILS(ASK(cuUserObjectRetain, .object = object, .count = UINT32_MAX), INVALID_VALUE);
	FAILS(ASK(cuGraphReleaseUserObject, .graph = graph, .object = object, .count = 1),
	      INVALID_VALUE);
	OK(ASK(cuGraphRetainUserObject, .graph = graph, .object = object, .count = 3, .flags = 1));
	/* now only the graph has references to it */
	calls = fake_calls;
	FAILS(ASK(cuUserObjectRetain, .object = object, .count = 1), INVALID_VALUE);
	FAILS(ASK(cuUserObjectRelease, .object = object, .count = 1), INVALID_VALUE);
	FAILS(ASK(cuGraphRetainUserObject, .graph = graph, .object = object, .count = 1),
	      INVALID_VALUE);
	FAILS(ASK(cuGraphReleaseUserObject, .graph = graph, .object = object, .count = 4),
	      INVALID_VALUE);
	assert_int_equal(fake_calls, calls);
	OK(ASK(cuGraphReleaseUserObject, .graph = graph, .object = object, .count = 1));
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_GONE], 0);
	OK(ASK(cuGraphDestroy, .graph = graph));
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_GONE], 1);
	assert_int_equal(fake_event_id, 3);
	FAILS(ASK(cuUserObjectRetain, .object = object, .count = 1), INVALID_VALUE);
	OK(ASK(user_object, .id = 4, .count = 1, .flags = 1));
	FAILS(ASK(cuUserObjectRelease, .object = object, .count = 1), INVALID_VALUE);
	OK(ASK(cuUserObjectRelease, .object = ANSWER(user_object)->object, .count = 1));
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_GONE], 2);
	assert_null(s.refs.users);
}

TEST(managed)
{
	uint64_t ptr;

	FAILS(ASK(managed_in, .dst = 1 << 20, .at = 0, .bytes = 4096), INVALID_CONTEXT);
	context();
	s.options.memory = 1 << 20;
	ptr = GET(ptr, managed, .bytes = 1 << 19, .flags = 1);
	FAILS(ASK(managed, .bytes = 1 << 20, .flags = 1), OUT_OF_MEMORY);
	OK(ASK(cuMemFree_v2, .ptr = ptr));
	assert_int_equal(s.quota.charged, 0);
	OK(ASK(managed_in, .dst = 1 << 20, .at = (1 << 20) - 4096, .bytes = 4096));
	FAILS(ASK(managed_in, .dst = 1 << 20, .at = (1 << 20) - 4096, .bytes = 4097),
	      INVALID_VALUE);
	FAILS(ASK(managed_out, .src = 1 << 20, .at = 8, .bytes = UINT64_MAX - 4), INVALID_VALUE);
	OK(ASK(managed_out, .src = 1 << 20, .at = 4096, .bytes = 100));
	assert_int_equal(s.arena[4096 + 99], 0x11);
	assert_int_equal(s.arena[4096 + 100], 0);
	FAILS(ASK(range_attribute, .size = 4097), INVALID_VALUE);
	OK(ASK(range_attribute, .size = 12));
	assert_int_equal(fake_last.bytes, 16);
}

static CUcontext entered; /* the library's current context */
static bool enters_none;

static CUresult enter(CUcontext ctx)
{
	if (ctx && enters_none)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	entered = ctx;
	return CUDA_SUCCESS;
}

/* A context that the library refuses: none is current then, for the library as for the server. */
TEST(refused_context)
{
	uint64_t other;

	s.library.cuCtxSetCurrent = enter;
	other = context();
	context();
	assert_non_null(entered);
	enters_none = true;
	OK(ASK(current, .ctx = other));
	enters_none = false;
	assert_int_equal(s.current, 0);
	assert_null(entered);
}

static unsigned int retained, released;
static CUcontext the_primary = (CUcontext)0x5000;

static CUresult retain_primary(CUcontext *ctx, CUdevice dev)
{
	retained++;
	*ctx = the_primary;
	return CUDA_SUCCESS;
}
static CUresult release_primary(CUdevice dev)
{
	released++;
	return CUDA_SUCCESS;
}
static CUresult tell_primary(CUcontext *ctx, CUdevice dev)
{
	*ctx = the_primary;
	return dev == 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
static CUresult give_table(const void **table, const CUuuid *id)
{
	static const void *const slots[] = { (void *)(13 * sizeof(void *)), NULL, tell_primary };

	assert_memory_equal(id->bytes, EXPORT_CONTEXTS, 16);
	*table = slots;
	return CUDA_SUCCESS;
}

/* A library that has no private tables has to make the context. */
TEST(primary_contexts)
{
	uint64_t id;

	s.library.cuDevicePrimaryCtxRetain = retain_primary;
	s.library.cuDevicePrimaryCtxRelease_v2 = release_primary;
	id = GET(context, primary, .dev = 3);
	assert_int_equal(KVGPU_REMOTE_CLASS(id), CLASS_CONTEXT);
	assert_int_equal(retained, 1);
	assert_int_equal(released, 1);
	s.library.cuGetExportTable = give_table;
	assert_int_equal(GET(context, primary, .dev = 3), id);
	FAILS(ASK(primary, .dev = 4), INVALID_DEVICE);
	assert_int_equal(retained, 1);
	assert_int_equal(GET(ctx, cuDevicePrimaryCtxRetain, .dev = 3), id);
}

TEST_MAIN(set_up, tear_down)
