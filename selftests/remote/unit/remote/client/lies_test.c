// SPDX-License-Identifier: MIT
/*
 * Lies of a server, one by one (liar.h): numbers of its answers that would become pointers, lengths
 * or bounds of loops. Each is an error of the call. The second server is the one that another
 * server's lies are about.
 */
#include <selftests/unit_test.h>
#include <unistd.h>

#include <cuda/api/export/export.h>
#include <remote/client/broadcast.h>

#include "../result.h"
#include "liar.h"

enum { CUBIN = 64, FREE = 900 }; /* FREE: a slot that nothing else has */

/* what the next answers to this operation say in their first words */
static struct {
	uint16_t op;
	uint64_t word[LIAR_WORDS];
	unsigned int words; /* 0: as many as there should be */
} lie;
static unsigned int asked; /* how often */
static unsigned int heard[2]; /* questions to each server */
static unsigned int times[KVGPU_REMOTE_OPS]; /* how often each was asked */

static uint64_t id(unsigned int class, unsigned int index, unsigned int generation)
{
	return index | (uint64_t)generation << 32 | (uint64_t) class << 56;
}

/* honest, with a slot for each new object */
static void honest(struct liar_frame *f)
{
	static unsigned int last;
	const uint8_t what = liar_shapes[f->op].word[0];

	if (f->op == OP_init)
		*(struct a_init *)f->word = (struct a_init){ .devices = 1, .version = 11080 };
	else if (what && what < NR_CLASSES)
		f->word[0] = id(what, ++last, 1);
	if (f->op == OP_link_complete)
		f->word[0] = CUBIN;
	if (f->op == OP_facts) {
		((struct a_facts *)f->word)->attribute[75] = 3; /* compute capability 3.5 */
		((struct a_facts *)f->word)->attribute[76] = 5;
	}
}

static struct q_image last_image;
static void (*while_asked)(void); /* while a client's question about its end is answered */
static bool event_made; /* atomic */

static void say(struct liar_frame *f)
{
	honest(f);
	heard[f->channel != peers[0].channel]++;
	times[f->op]++;
	if (while_asked && (f->op == OP_cuStreamDestroy_v2 || f->op == OP_cuModuleUnload))
		while_asked();
	if (f->op == OP_cuEventCreate)
		__atomic_store_n(&event_made, true, __ATOMIC_SEQ_CST);
	if (f->op == OP_image)
		memcpy(&last_image, f->q, sizeof(last_image));
	if (f->op != lie.op)
		return;
	asked++;
	memcpy(f->word, lie.word, sizeof(lie.word));
	f->words = lie.words ? lie.words : f->words;
}

static void lie_once(uint16_t op, uint64_t word)
{
	memset(&lie, 0, sizeof(lie));
	lie.op = op;
	lie.word[0] = word;
	asked = 0;
}

static CUcontext ctx;
static CUgraph graph;
static CUmodule module;
static struct a_function *const function = (void *)lie.word;
static uint32_t *const layout = (uint32_t *)(lie.word + sizeof(struct a_function) / 8);

static int begin(void **state)
{
	lie.op = 0;
	alarm(60); /* a loop without an end */
	return cuCtxCreate_v2(&ctx, 0, 0) || cuGraphCreate(&graph, 0) ||
	       cuModuleLoadData(&module, "//\n.version 7.8\n");
}

static int end(void **state)
{
	lie.op = 0;
	return cuCtxDestroy_v2(ctx);
}

static uint64_t id_of(const void *handle)
{
	return ((const struct object *)handle)->id;
}

/* ------------------------------------------------------------------ what makes calls slow */

/* a capture of the stream with number @stream has begun, or ended with @r */
static void begun(uint64_t stream, uint32_t mode)
{
	const struct q_cuStreamBeginCapture_v2 q = { .stream = stream, .mode = mode };

	capture_sent(OP_cuStreamBeginCapture_v2, &q);
	capture_answered(OP_cuStreamBeginCapture_v2, &q, CUDA_SUCCESS);
}

static void ended(uint64_t stream, CUresult r)
{
	const struct q_cuStreamEndCapture q = { .stream = stream };

	capture_sent(OP_cuStreamEndCapture, &q);
	capture_answered(OP_cuStreamEndCapture, &q, r);
}

TEST(captures_are_counted)
{
	const struct q_cuStreamBeginCapture_v2 refused = { .stream = 3 };
	const unsigned int before = peers[1].slow;

	assert_int_equal(before & (SLOW_SEVERAL | SLOW_CAPTURES), SLOW_SEVERAL);
	begun(1, CU_STREAM_CAPTURE_MODE_RELAXED);
	begun(2, CU_STREAM_CAPTURE_MODE_RELAXED);
	ended(1, CUDA_SUCCESS);
	ended(2, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
	capture_sent(OP_cuStreamBeginCapture_v2, &refused);
	capture_answered(OP_cuStreamBeginCapture_v2, &refused, CUDA_ERROR_ILLEGAL_STATE);
	assert_int_equal(peers[0].slow & SLOW_CAPTURES, SLOW_CAPTURES);
	assert_int_equal(peers[1].slow, before | SLOW_CAPTURES);
	ended(2, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	ended(2, CUDA_SUCCESS); /* a server may say so too often */
	assert_int_equal(peers[1].slow, before);
	assert_false(captures_any());
}

static void *mode_of_another_thread(void *mode)
{
	return (void *)(uintptr_t)capture_mode((uintptr_t)mode);
}

static uint32_t elsewhere(uint32_t mode)
{
	pthread_t t;
	void *r;

	assert_int_equal(pthread_create(&t, NULL, mode_of_another_thread, (void *)(uintptr_t)mode),
			 0);
	pthread_join(t, &r);
	return (uintptr_t)r;
}

/* a thread's calls spoil no capture of another thread's, where CUDA does not forbid them */
TEST(captures_forbid_calls)
{
	enum { GLOBAL, THREAD, RELAXED };

	assert_int_equal(elsewhere(GLOBAL), GLOBAL);
	begun(1, THREAD);
	assert_int_equal(capture_mode(GLOBAL), GLOBAL);
	assert_int_equal(capture_mode(RELAXED), RELAXED);
	assert_int_equal(elsewhere(GLOBAL), RELAXED);
	assert_int_equal(elsewhere(THREAD), RELAXED);
	begun(2, GLOBAL);
	assert_int_equal(elsewhere(GLOBAL), GLOBAL);
	assert_int_equal(elsewhere(THREAD), RELAXED);
	ended(1, CUDA_SUCCESS);
	assert_int_equal(capture_mode(THREAD), THREAD);
	ended(2, CUDA_SUCCESS);
	begun(3, RELAXED);
	assert_int_equal(capture_mode(GLOBAL), RELAXED);
	ended(3, CUDA_SUCCESS);
	assert_int_equal(capture_mode(GLOBAL), GLOBAL);
}

/* ------------------------------------------------------------------ calls that a server lacks */

static CUresult tell_without(uint16_t op)
{
	const unsigned int i = op - KVGPU_REMOTE_FIRST_OP;

	memset(&lie, 0xff, sizeof(lie));
	lie.op = KVGPU_REMOTE_OP_TABLE;
	lie.words = 2 + TABLE_WORDS;
	lie.word[2 + i / 64] ^= 1ull << i % 64;
	return table_tell(&peers[0]);
}

TEST(calls_that_a_server_lacks)
{
	const unsigned int before = peers[0].slow;
	CUstream stream;
	size_t free, total;
	CUmodule loaded;
	CUfunction f;

	OK(cuStreamCreate(&stream, 0));
	OK(tell_without(OP_cuStreamQuery));
	times[OP_cuStreamQuery] = liar_lines = 0;
	FAILS(cuStreamQuery(stream), NOT_SUPPORTED);
	FAILS(cuStreamQuery(stream), NOT_SUPPORTED);
	assert_int_equal(times[OP_cuStreamQuery], 0);
	assert_int_equal(liar_lines, 1);
	OK(cuMemGetInfo_v2(&free, &total));
	/* one that is queued */
	OK(tell_without(OP_cuEventRecord));
	assert_int_equal(table_refuses(&peers[0], OP_cuEventRecord), CUDA_ERROR_NOT_SUPPORTED);
	/* one that the client does without */
	OK(tell_without(OP_image_function));
	times[OP_image_function] = liar_lines = 0;
	OK(cuModuleLoadData(&loaded, "//\n.version 7.8\n"));
	OK(cuModuleGetFunction(&f, loaded, "f"));
	OK(cuModuleUnload(loaded));
	assert_int_equal(times[OP_image_function] + liar_lines, 0);
	/* without these there is nothing */
	FAILS(tell_without(OP_current), NOT_SUPPORTED);
	FAILS(tell_without(OP_fence), NOT_SUPPORTED);
	lie.words = 2;
	FAILS(table_tell(&peers[0]), UNKNOWN);
	lie.words = 1;
	FAILS(table_tell(&peers[0]), UNKNOWN);
	lie.op = 0;
	memset(peers[0].lacks, 0, sizeof(peers[0].lacks));
	peers[0].slow = before;
	OK(cuStreamDestroy_v2(stream));
}

/* ------------------------------------------------------------------ places and counts */

static CUresult copy_at(uint64_t where, uint64_t pitch, uint64_t y, CUDA_MEMCPY3D *got)
{
	struct a_copy_node_get *a = (void *)lie.word;
	CUgraphNode node;

	lie.op = 0;
	OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	lie_once(OP_copy_node_get, 0);
	*a = (struct a_copy_node_get){ .src = { CU_MEMORYTYPE_DEVICE, 0x700000000, 64, 1 },
				       .dst = { CU_MEMORYTYPE_HOST, where, pitch, 4, 0, y },
				       .size = { 64, 2, 1 } };
	return cuGraphMemcpyNodeGetParams(node, got);
}

TEST(a_copy_ends_in_the_arena)
{
	CUDA_MEMCPY3D got;

	OK(copy_at(0, 64, 0, &got));
	assert_ptr_equal(got.dstHost, arena_at(&peers[0], 0));
	OK(copy_at(LIAR_ARENA - 128, 64, 0, &got));
	FAILS(copy_at(-8192ull, 64, 0, &got), UNKNOWN);
	FAILS(copy_at(LIAR_ARENA - 127, 64, 0, &got), UNKNOWN);
	FAILS(copy_at(0, LIAR_ARENA, 0, &got), UNKNOWN);
	FAILS(copy_at(0, 64, 1ull << 58, &got), UNKNOWN);
	FAILS(copy_at(0, 0, 1ull << 58, &got), UNKNOWN);
}

/* the memory of a bounce buffer is of the size and the server for which it was made */
TEST(a_bounce_is_as_it_was_made)
{
	static uint8_t host[128];
	CUDA_MEMCPY3D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .srcHost = host,
			    .srcPitch = 64,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			    .dstDevice = 0x700000000,
			    .dstPitch = 64,
			    .WidthInBytes = 64,
			    .Height = 2,
			    .Depth = 1 };
	struct a_copy_node_get *a = (void *)lie.word;
	CUgraphNode node;

	lie_once(OP_copy_node, id(CLASS_NODE, FREE, 1));
	lie.word[1] = 1; /* the bounce buffer's number: it is the first */
	OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &c, ctx));
	lie_once(OP_copy_node_get, 0);
	*a = (struct a_copy_node_get){ .src = { CU_MEMORYTYPE_HOST, [END_BOUNCE] = 1 },
				       .dst = { CU_MEMORYTYPE_DEVICE, 0x700000000, 64, 2 },
				       .size = { 64, 2, 1 } };
	OK(cuGraphMemcpyNodeGetParams(node, &c));
	assert_ptr_equal(c.srcHost, host);
	a->size[1] = 1 << 20;
	FAILS(cuGraphMemcpyNodeGetParams(node, &c), UNKNOWN);
	a->size[1] = 2;
	a->dst[END_TYPE] = CU_MEMORYTYPE_UNIFIED;
	FAILS(cuGraphMemcpyNodeGetParams(node, &c), UNKNOWN);
}

TEST(counts_are_those_of_the_room)
{
	CUgraphNode nodes[4];
	size_t n = 4;

	lie_once(OP_cuGraphGetNodes, 1ull << 40);
	lie.words = 5;
	FAILS(cuGraphGetNodes(graph, nodes, &n), UNKNOWN);
	assert_int_equal(n, 4);
	/* a program makes room for n handles: n * 8 must not wrap */
	lie.word[0] = (1ull << 61) + 1;
	FAILS(cuGraphGetNodes(graph, NULL, &n), UNKNOWN);
	lie.word[0] = 1;
	lie.word[1] = id(CLASS_NODE, FREE + 1, 1);
	OK(cuGraphGetNodes(graph, nodes, &n));
	assert_int_equal(n, 1);
	assert_null(nodes[1]);
	/* the first n are handles */
	n = 4;
	lie.word[0] = 2;
	FAILS(cuGraphGetNodes(graph, nodes, &n), UNKNOWN);
}

TEST(primary_context_is_a_context)
{
	CUcontext got = NULL;

	lie_once(OP_primary, id(CLASS_STREAM, FREE + 2, 1));
	FAILS(export_primary(&got, 0), UNKNOWN);
	lie.word[0] = 0;
	FAILS(export_primary(&got, 0), UNKNOWN);
	lie.word[0] = id_of(ctx) + (1ull << 32); /* in the place of a context that is in use */
	FAILS(export_primary(&got, 0), UNKNOWN);
	assert_null(got);
	assert_int_equal(asked, 3);
}

TEST(block_sizes_are_tried_a_few_times)
{
	int grid, block;
	CUfunction f;

	lie_once(OP_function, 0);
	*function = (struct a_function){ .function = id(CLASS_FUNCTION, FREE + 2, 1),
					 .layout_known = 1 };
	OK(cuModuleGetFunction(&f, module, "kernel"));
	lie_once(OP_cuFuncGetAttribute, INT32_MAX);
	FAILS(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0), UNKNOWN);
	assert_int_equal(asked, 1);
}

/* parameters follow each other: a launch does not read more for them than CUDA's limit */
TEST(parameters_follow_each_other)
{
	CUfunction f;

	lie_once(OP_function, 0);
	*function = (struct a_function){ .function = id(CLASS_FUNCTION, FREE + 3, 1),
					 .layout_known = 1,
					 .parameters = 2 };
	layout[1] = layout[3] = 16384;
	lie.words = sizeof(*function) / 8 + 2;
	FAILS(cuModuleGetFunction(&f, module, "kernel"), UNKNOWN);
	function->parameters = 1;
	layout[1] = KVGPU_REMOTE_PARAMETERS_MAX + 1;
	FAILS(cuModuleGetFunction(&f, module, "kernel"), UNKNOWN);
	layout[1] = KVGPU_REMOTE_PARAMETERS_MAX;
	OK(cuModuleGetFunction(&f, module, "kernel"));
}

/* a list of functions is no longer than its room, and a name than its bytes */
TEST(functions_fit_into_their_list)
{
	CUfunction f[4] = { NULL };
	const char *name;

	lie_once(OP_functions, 3);
	lie.words = 4;
	FAILS(cuModuleEnumerateFunctions(f, 2, module), UNKNOWN);
	lie.word[0] = 2; /* and no handles behind it */
	lie.words = 1;
	FAILS(cuModuleEnumerateFunctions(f, 2, module), UNKNOWN);
	lie.word[1] = id(CLASS_FUNCTION, FREE + 6, 1);
	lie.word[2] = id(CLASS_FUNCTION, FREE + 7, 1);
	lie.words = 3;
	OK(cuModuleEnumerateFunctions(f, 2, module));
	assert_null(f[2]);
	lie_once(OP_function, id(CLASS_FUNCTION, FREE + 6, 1));
	function->name_bytes = 1 << 20;
	FAILS(cuFuncGetName(&name, f[0]), INVALID_HANDLE);
	function->name_bytes = 8;
	memcpy(function + 1, "12345678", 8);
	lie.words = sizeof(*function) / 8 + 1;
	OK(cuFuncGetName(&name, f[0]));
	assert_string_equal(name, "12345678");
	/* another function's answer is none */
	lie.word[0] = id(CLASS_FUNCTION, FREE + 8, 1);
	FAILS(cuFuncGetName(&name, f[1]), INVALID_HANDLE);
}

/* ------------------------------------------------------------------ libraries */

/* an image crosses when something of it is needed, once for a context, and questions are few */
TEST(a_library_crosses_once)
{
	static const struct {
		uint32_t magic;
		uint16_t version, header_bytes;
		uint64_t bytes;
	} fat = { 0xba55ed50, 1, 16, 0 };
	CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
	void *yes = (void *)1;
	CUlibrary l, text;
	CUfunction f, g;
	CUkernel k, other;
	uint64_t sent;
	int v, i;

	memset(times, 0, sizeof(times));
	lie_once(0, 0);
	OK(cuLibraryLoadData(&l, &fat, NULL, NULL, 0, &option, &yes, 1));
	assert_int_equal(times[OP_image], 0);
	for (i = 0; i < 3; i++) {
		OK(cuLibraryGetKernel(&k, l, "kernel"));
		OK(cuLibraryGetKernel(&other, l, "other"));
		OK(cuKernelGetFunction(&f, k));
		OK(cuKernelGetAttribute(&v, 1, k, 0));
		OK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	}
	assert_ptr_not_equal(k, other);
	assert_int_equal(times[OP_image], 1);
	assert_int_equal(times[OP_function], 2);
	assert_int_equal(times[OP_cuFuncGetAttribute], 1);
	assert_int_equal(times[OP_launch], 3);
	/* PTX: the program may want to know at once what the compiler says */
	OK(cuLibraryLoadData(&text, "//\n.version 7.8\n", NULL, NULL, 0, NULL, NULL, 0));
	assert_int_equal(times[OP_image], 2);
	/* a context that comes later has the number and the place of the one that ended */
	OK(cuCtxDestroy_v2(ctx));
	OK(cuCtxCreate_v2(&ctx, 0, 0));
	OK(cuKernelGetFunction(&g, k));
	assert_int_equal(times[OP_image], 3);
	sent = liar_sent;
	OK(cuLibraryUnload(l));
	OK(cuLibraryUnload(text));
	assert_int_equal(liar_sent - sent, 2); /* of one module, in its context */
	OK(cuGraphCreate(&graph, 0));
}

/* a runtime hears that it may wait with an image until something of it is needed */
TEST(loading_is_lazy)
{
	CUmoduleLoadingMode mode;
	const bool before = several;
	unsigned int i;

	several = false;
	for (i = 0; i < 2; i++) {
		OK(cuModuleGetLoadingMode(&mode));
		assert_int_equal(mode, i ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING);
		setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	}
	unsetenv("CUDA_MODULE_LOADING");
	/* a module that comes late may find another server's memory where its variables are */
	several = true;
	OK(cuModuleGetLoadingMode(&mode));
	assert_int_equal(mode, CU_MODULE_EAGER_LOADING);
	several = before;
	FAILS(cuModuleGetLoadingMode(NULL), INVALID_VALUE);
}

/* of a fat binary crosses what the context's device may run */
TEST(code_of_other_devices_stays_here)
{
	struct entry {
		uint16_t kind, version;
		uint32_t header_bytes;
		uint64_t bytes, packed_bytes;
		uint32_t unknown, arch;
		uint64_t name[4], payload;
	};
	struct {
		uint32_t magic;
		uint16_t version, header_bytes;
		uint64_t bytes;
		struct entry entry[2];
	} fat = { 0xba55ed50, 1, 16, sizeof(fat.entry), { { 0 } } };
	unsigned int i;

	for (i = 0; i < 2; i++)
		fat.entry[i] = (struct entry){ .kind = 2,
					       .header_bytes = offsetof(struct entry, payload),
					       .bytes = 8,
					       .arch = i ? 35 : 80 };
	lie_once(0, 0);
	OK(cuModuleLoadData(&module, &fat));
	assert_int_equal(last_image.bytes, sizeof(fat) - sizeof(struct entry));
	fat.entry[1].arch = 90;
	OK(cuModuleLoadData(&module, &fat));
	assert_int_equal(last_image.bytes, sizeof(fat));
}

/* of 32 MiB of the arena 8 are for a part */
TEST(a_large_image_goes_in_parts)
{
	enum { BYTES = 20 << 20 };
	char *text = malloc(BYTES);

	assert_non_null(text);
	memset(text, '/', BYTES);
	text[BYTES - 1] = 0;
	memset(times, 0, sizeof(times));
	lie_once(0, 0);
	OK(cuModuleLoadData(&module, text));
	assert_int_equal(times[OP_image_part], 2);
	assert_int_equal(last_image.parts, 1);
	assert_int_equal(last_image.bytes, BYTES);
	OK(cuModuleLoadData(&module, text + BYTES - 20));
	assert_int_equal(times[OP_image_part], 2);
	assert_int_equal(last_image.parts, 0);
	assert_int_equal(last_image.bytes, 20);
	free(text);
}

/* a server that keeps images is asked for a large one by its hash, before it gets the bytes */
TEST(a_kept_image_does_not_cross)
{
	enum { BYTES = 64 << 10 };
	struct a_image *a = (void *)lie.word;
	char *text = malloc(BYTES);

	assert_non_null(text);
	memset(text, '/', BYTES);
	text[BYTES - 1] = 0;
	peers[0].keeps = true;
	memset(times, 0, sizeof(times));
	lie_once(OP_image, 0);
	a->module = id(CLASS_MODULE, FREE + 10, 1);
	OK(cuModuleLoadData(&module, text));
	assert_int_equal(times[OP_image], 1);
	assert_true(last_image.kept && last_image.hash[0] == 7);
	a->module = id(CLASS_MODULE, FREE + 11, 1);
	a->wanted = true;
	OK(cuModuleLoadData(&module, text));
	assert_int_equal(times[OP_image], 3);
	assert_true(!last_image.kept && last_image.hash[31] == 7);
	/* a small one is sent at once, without a hash */
	lie.word[0] = id(CLASS_MODULE, FREE + 12, 1);
	OK(cuModuleLoadData(&module, text + 1));
	assert_int_equal(times[OP_image], 4);
	assert_true(!last_image.kept && !last_image.hash[0]);
	/* it has the image, it says, and makes no module of it */
	lie_once(OP_image, 0);
	FAILS(cuModuleLoadData(&module, text), UNKNOWN);
	peers[0].keeps = false;
	free(text);
}

TEST(a_wrapper_of_nothing)
{
	const struct {
		uint32_t magic, version;
		const void *data, *more;
	} wrapper = { 0x466243b1, 1, NULL, NULL };

	FAILS(cuModuleLoadData(&module, &wrapper), INVALID_IMAGE);
}

/* ------------------------------------------------------------------ objects */

/* the program reads a cubin until its link ends, whatever numbers come */
TEST(an_object_in_use_stays)
{
	CUlinkState link;
	CUstream stream;
	CUgraph other;
	uint8_t *cubin, before[CUBIN];
	size_t n;

	OK(cuLinkCreate_v2(0, NULL, NULL, &link));
	OK(cuLinkComplete(link, (void **)&cubin, &n));
	assert_int_equal(n, CUBIN);
	memcpy(before, cubin, n);
	lie_once(OP_cuGraphCreate, id(CLASS_GRAPH, KVGPU_REMOTE_INDEX(id_of(link)), 2));
	FAILS(cuGraphCreate(&other, 0), UNKNOWN);
	assert_memory_equal(cubin, before, n);
	lie_once(OP_cuGraphCreate, id(CLASS_GRAPH, KVGPU_REMOTE_INDEX(id_of(ctx)), 2));
	FAILS(cuGraphCreate(&other, 0), UNKNOWN);
	OK(current_check());
	lie_once(OP_cuStreamCreate, id(CLASS_STREAM, FREE + 4, 1));
	OK(cuStreamCreate(&stream, 0));
	OK(cuLinkDestroy(link));
}

/* what a node has shown stays readable when its number goes to another object */
TEST(parameters_stay_readable)
{
	struct a_kernel_node_get *get = (void *)lie.word;
	CUDA_KERNEL_NODE_PARAMS p;
	CUgraphNode node;
	CUfunction f;
	CUgraph other;

	OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	lie_once(OP_function, 0);
	*function = (struct a_function){ .function = id(CLASS_FUNCTION, FREE + 5, 1),
					 .layout_known = 1,
					 .parameters = 1 };
	layout[1] = 8;
	lie.words = sizeof(*function) / 8 + 1;
	OK(cuModuleGetFunction(&f, module, "kernel"));
	lie_once(OP_kernel_node_get, 0);
	get->function = id(CLASS_FUNCTION, FREE + 5, 1);
	get->bytes = 8;
	lie.word[sizeof(*get) / 8] = 77;
	lie.words = sizeof(*get) / 8 + 1;
	OK(cuGraphKernelNodeGetParams(node, &p));
	lie_once(OP_cuGraphCreate, id(CLASS_GRAPH, KVGPU_REMOTE_INDEX(id_of(node)), 2));
	OK(cuGraphCreate(&other, 0));
	assert_int_equal(*(uint64_t *)p.kernelParams[0], 77);
}

/* the new object's parent is one that ends with the object that had its number */
TEST(no_object_is_above_itself)
{
	CUgraph child, over;
	CUgraphNode node, below;

	OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	/* the node's graph gets the number of the graph that it lies in */
	lie_once(OP_cuGraphChildGraphNodeGetGraph,
		 id(CLASS_GRAPH, KVGPU_REMOTE_INDEX(id_of(graph)), 2));
	OK(cuGraphChildGraphNodeGetGraph(node, &child));
	assert_null(object_of(CLASS_NODE, node));
	lie_once(OP_cuGraphAddEmptyNode, id(CLASS_NODE, KVGPU_REMOTE_INDEX(id_of(node)), 2));
	OK(cuGraphAddEmptyNode(&below, child, NULL, 0));
	assert_null(object_context(object_of(CLASS_NODE, below)));
	over = child;
	lie.op = 0;
	OK(cuGraphDestroy(over));
	OK(cuGraphCreate(&graph, 0));
}

TEST(nothing_is_none)
{
	CUDA_HOST_NODE_PARAMS p;
	CUcontext attached;

	lie_once(OP_cuCtxAttach, 0);
	FAILS(cuCtxAttach(&attached, 0), UNKNOWN);
	lie_once(OP_cuGraphNodeGetType, CU_GRAPH_NODE_TYPE_HOST);
	FAILS(cuGraphHostNodeGetParams(NULL, &p), UNKNOWN);
	lie.op = 0;
	cuGraphDestroy(NULL); /* "it is destroyed" */
}

/* ------------------------------------------------------------------ addresses */

/* what lies in this process's memory by the word of one of several servers is neither's */
TEST(a_variable_is_not_the_programs)
{
	uint64_t mine[2] = { 11, 22 }, other = 33;
	CUdeviceptr at;
	size_t n;

	lie_once(OP_global, (uintptr_t)mine);
	lie.word[1] = sizeof(mine);
	OK(cuModuleGetGlobal_v2(&at, &n, module, "v"));
	lie_once(OP_pointer, CU_MEMORYTYPE_HOST);
	FAILS(cuMemcpy(at, (uintptr_t)&other, sizeof(other)), INVALID_VALUE);
	assert_int_equal(mine[0], 11);
	/* of other addresses that an answer has, such are refused */
	lie_once(OP_cuTexRefGetAddress_v2, (uintptr_t)&other);
	assert_false(answer_address(&peers[0], (uintptr_t)&other));
	assert_true(answer_address(&peers[0], 0x700000000));
}

/*
 * The first server names @mine as a variable of its own, or as memory that it allocated, and hears
 * of no copy between that and the memory of the second one.
 */
static void copies_with_the_other(uint64_t *mine, size_t bytes)
{
	const CUdeviceptr there = 0x7f0000000, at = (uintptr_t)mine;
	CUDA_MEMCPY2D lines = { .srcMemoryType = CU_MEMORYTYPE_HOST,
				.srcHost = mine,
				.srcPitch = 8,
				.dstMemoryType = CU_MEMORYTYPE_DEVICE,
				.dstDevice = there,
				.dstPitch = 8,
				.WidthInBytes = 8,
				.Height = 2 };
	CUcontext other;
	CUdeviceptr got;
	unsigned int type;

	OK(cuCtxCreate_v2(&other, 0, 1));
	lie_once(OP_cuMemAlloc_v2, there);
	OK(cuMemAlloc_v2(&got, bytes));
	heard[0] = heard[1] = 0;
	OK(cuMemcpyHtoD_v2(there, mine, bytes));
	OK(cuMemcpyHtoDAsync_v2(there, mine, bytes, NULL));
	OK(cuMemcpy2D_v2(&lines));
	assert_true(heard[1]);
	mine[0] = 0;
	lie_once(OP_copy_out, 77);
	lie.words = bytes / 8;
	OK(cuMemcpyDtoH_v2(mine, there, bytes));
	assert_int_equal(mine[0], 77);
	OK(cuMemcpyDtoHAsync_v2(mine, there, bytes, NULL));
	lie_once(OP_pointer, CU_MEMORYTYPE_DEVICE);
	FAILS(cuMemcpy(at, there, bytes), INVALID_VALUE);
	FAILS(cuMemcpy(there, at, bytes), INVALID_VALUE);
	FAILS(kvgpuMemcpyBroadcast(&at, 1, there, bytes), INVALID_VALUE);
	FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at), INVALID_VALUE);
	assert_int_equal(heard[0], 0);
	OK(cuCtxDestroy_v2(other));
}

TEST(a_variable_draws_no_copies)
{
	static uint64_t variable[16];
	CUdeviceptr at;
	size_t n;

	lie_once(OP_global, (uintptr_t)variable);
	lie.word[1] = sizeof(variable);
	OK(cuModuleGetGlobal_v2(&at, &n, module, "v"));
	copies_with_the_other(variable, sizeof(variable));
}

TEST(an_allocation_draws_no_copies)
{
	static uint64_t allocated[16];
	CUdeviceptr at;

	lie_once(OP_cuMemAlloc_v2, (uintptr_t)allocated);
	OK(cuMemAlloc_v2(&at, sizeof(allocated)));
	copies_with_the_other(allocated, sizeof(allocated));
}

/* by a tree of servers, whose relays get pieces from each other */
TEST(an_allocation_draws_no_broadcast)
{
	static const struct kvgpu_remote_relayed relays[] = {
		{ .piece = KVGPU_REMOTE_RELAYED_MIN, .job = 1, .rank = 1 },
		{ .piece = KVGPU_REMOTE_RELAYED_MIN, .job = 1, .rank = 2 },
	};
	static uint64_t allocated[16];
	const size_t bytes = sizeof(allocated);
	const CUdeviceptr here = 0x7e0000000, there = 0x7f0000000;
	CUdeviceptr at, got;
	CUcontext other;

	lie_once(OP_cuMemAlloc_v2, here);
	OK(cuMemAlloc_v2(&got, bytes));
	lie_once(OP_cuMemAlloc_v2, (uintptr_t)allocated);
	OK(cuMemAlloc_v2(&at, bytes));
	OK(cuCtxCreate_v2(&other, 0, 1));
	lie_once(OP_cuMemAlloc_v2, there);
	OK(cuMemAlloc_v2(&got, bytes));
	liar_relays = relays;
	OK(kvgpuMemcpyBroadcast(&here, 1, there, bytes));
	assert_int_equal(liar_fetches, 1);
	heard[0] = 0;
	lie_once(OP_pointer, CU_MEMORYTYPE_DEVICE);
	FAILS(kvgpuMemcpyBroadcast(&at, 1, there, bytes), INVALID_VALUE);
	FAILS(kvgpuMemcpyBroadcast(&there, 1, at, bytes), INVALID_VALUE);
	assert_int_equal(liar_fetches, 1);
	assert_int_equal(heard[0], 0);
	liar_relays = NULL;
	OK(cuCtxDestroy_v2(other));
}

/* a server that calls all addresses its own gets nothing of a copy in this process */
TEST(what_no_server_has_is_not_asked_for)
{
	uint64_t from = 5, to = 6;

	lie_once(OP_pointer, CU_MEMORYTYPE_DEVICE);
	OK(cuMemcpy((uintptr_t)&to, (uintptr_t)&from, sizeof(to)));
	assert_int_equal(to, 5);
	assert_int_equal(asked, 0);
}

TEST(memory_ends_in_the_address_space)
{
	CUdeviceptr at;
	size_t n;

	lie_once(OP_global, 0x700000000);
	lie.word[1] = UINT64_MAX;
	FAILS(cuModuleGetGlobal_v2(&at, &n, module, "v"), UNKNOWN);
	lie.word[1] = 1ull << 46;
	FAILS(cuModuleGetGlobal_v2(&at, &n, module, "v"), UNKNOWN);
	assert_false(range_has(0x700000000));
	lie_once(OP_cuMemAlloc_v2, -4096ull);
	FAILS(cuMemAlloc_v2(&at, 8192), UNKNOWN);
	assert_int_equal(asked, 1);
	lie_once(OP_cuMemAllocPitch_v2, 0x700000000);
	lie.word[1] = 1ull << 46;
	FAILS(cuMemAllocPitch_v2(&at, &n, 64, 2, 4), UNKNOWN);
	assert_false(range_has(0x700000000));
}

/* the program accesses what is managed */
TEST(attributes_are_the_clients)
{
	unsigned int type = 0, managed = UINT32_MAX;
	int dev;

	lie_once(OP_pointer, 1);
	OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, 0x700000000));
	assert_int_equal(managed, 0);
	FAILS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x700000000), UNKNOWN);
	lie_once(OP_pointer, 1000);
	FAILS(cuPointerGetAttribute(&dev, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 0x700000000),
	      UNKNOWN);
	lie_once(OP_cuDeviceGetByPCIBusId, 1000);
	FAILS(cuDeviceGetByPCIBusId(&dev, "0"), UNKNOWN);
}

/* NULL's page stays unmapped, also for root */
TEST(managed_memory_is_not_at_null)
{
	CUdeviceptr at;

	lie_once(OP_managed, 0);
	FAILS(cuMemAllocManaged(&at, 4096, 1), NOT_SUPPORTED);
	lie_once(OP_managed, 4096);
	FAILS(cuMemAllocManaged(&at, 4096, 1), NOT_SUPPORTED);
}

/* ------------------------------------------------------------------ memory that is mapped */

enum { PAGE = 2 << 20 };

static CUmemAllocationProp on_device(int dev)
{
	return (CUmemAllocationProp){ .type = 1, .location = { CU_MEM_LOCATION_TYPE_DEVICE, dev } };
}

static CUmemGenericAllocationHandle created(int dev)
{
	CUmemAllocationProp prop = on_device(dev);
	CUmemGenericAllocationHandle h;

	lie.op = 0;
	OK(cuMemCreate(&h, PAGE, &prop, 0));
	return h;
}

static CUdeviceptr reserved(CUdeviceptr want)
{
	CUdeviceptr at;

	lie_once(OP_cuMemAddressReserve, want);
	OK(cuMemAddressReserve(&at, 4 * PAGE, 0, 0, 0));
	return at;
}

/*
 * NCCL tries to make memory of the host's node in each process: that alone is refused without a
 * line.
 */
TEST(memory_of_the_host_is_refused)
{
	enum { HOST = 2, HOST_NUMA = 3 };
	CUmemAllocationProp prop = on_device(0);
	CUmemGenericAllocationHandle h;
	CUmemoryPool pool;

	liar_lines = 0;
	prop.location.type = HOST_NUMA;
	assert_int_equal(cuMemCreate(&h, PAGE, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(liar_lines, 0);
	assert_int_equal(cuMemPoolCreate(&pool, &(CUmemPoolProps){ .allocType = 1,
								   .location = { HOST_NUMA, 0 } }),
			 CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(liar_lines, 1);
	prop.location.type = HOST;
	assert_int_equal(cuMemCreate(&h, PAGE, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
}

/* a device says where memory is made; addresses, handles and devices are of one server */
TEST(mapped_memory_is_of_one_server)
{
	CUmemAccessDesc both[] = { { { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, 3 },
				   { { CU_MEM_LOCATION_TYPE_DEVICE, 1 }, 3 } };
	CUmemAllocationProp prop;
	CUmemGenericAllocationHandle first = created(0), second;
	CUdeviceptr at = reserved(0x900000000);

	heard[1] = 0;
	second = created(1);
	assert_int_equal(heard[1], 1);
	FAILS(cuMemMap(at, PAGE, 0, second, 0), INVALID_HANDLE);
	OK(cuMemMap(at, PAGE, 0, first, 0));
	FAILS(cuMemMap(at, PAGE, 0, (uintptr_t)ctx, 0), INVALID_VALUE);
	FAILS(cuMemMap(at, PAGE, 0, 0, 0), INVALID_VALUE);
	assert_false(device_span(at, PAGE, 1));
	assert_int_not_equal(cuMemSetAccess(at, PAGE, both, 2), CUDA_SUCCESS);
	assert_false(device_span(at, PAGE, 1));
	FAILS(cuMemSetAccess(at, PAGE, both, 0), INVALID_VALUE);
	OK(cuMemSetAccess(at, PAGE, both, 1));
	assert_true(device_span(at, PAGE, 1));
	both[0].location.type = 2; /* the host: no memory of a server's is that */
	FAILS(cuMemSetAccess(at, PAGE, both, 1), NOT_SUPPORTED);
	both[0].location = (CUmemLocation){ CU_MEM_LOCATION_TYPE_DEVICE, 2 };
	FAILS(cuMemSetAccess(at, PAGE, both, 1), INVALID_DEVICE);
	/* where an allocation is, and what is a pointer there, is not believed */
	lie_once(OP_cuMemGetAllocationPropertiesFromHandle, 0);
	((CUmemAllocationProp *)lie.word)->location = (CUmemLocation){ 1, 1 };
	FAILS(cuMemGetAllocationPropertiesFromHandle(&prop, second), UNKNOWN);
	*(CUmemAllocationProp *)lie.word = on_device(0);
	((CUmemAllocationProp *)lie.word)->win32HandleMetaData = &prop;
	OK(cuMemGetAllocationPropertiesFromHandle(&prop, second));
	assert_int_equal(prop.location.id, 1);
	assert_null(prop.win32HandleMetaData);
	lie.op = 0;
	OK(cuMemUnmap(at, PAGE));
	assert_false(device_span(at, PAGE, 1));
	assert_true(range_has(at));
	OK(cuMemAddressFree(at, 4 * PAGE));
	assert_false(range_has(at));
}

/* the second server reserves where the first one's addresses are, until it has no others */
TEST(reserved_addresses_are_one_servers)
{
	const CUdeviceptr at = reserved(0x900000000);
	CUdeviceptr got;
	CUcontext other;

	lie.op = 0;
	OK(cuCtxCreate_v2(&other, 0, 1));
	lie_once(OP_cuMemAddressReserve, at + 3 * PAGE);
	heard[0] = heard[1] = 0;
	FAILS(cuMemAddressReserve(&got, 4 * PAGE, 0, 0, 0), NOT_SUPPORTED);
	assert_in_range(asked, 2, 100);
	assert_int_equal(heard[1], 2 * asked - 1); /* all were given back but the last */
	assert_int_equal(heard[0], 0);
	lie_once(OP_cuMemAddressReserve, -4096ull);
	FAILS(cuMemAddressReserve(&got, 4 * PAGE, 0, 0, 0), UNKNOWN);
	/* nor does it allocate there */
	lie_once(OP_cuMemAllocAsync, at + PAGE);
	FAILS(cuMemAllocAsync(&got, PAGE, NULL), NOT_SUPPORTED);
	lie_once(OP_share_open, at + PAGE);
	lie.word[1] = PAGE;
	FAILS(cuIpcOpenMemHandle_v2(&got, (CUipcMemHandle){ { 0 } }, 1), NOT_SUPPORTED);
	lie.op = 0;
	OK(cuCtxDestroy_v2(other));
	OK(cuMemAddressFree(at, 4 * PAGE));
}

TEST(pools_of_two_servers_are_apart)
{
	lie_once(OP_cuMemAddressReserve, 0);
	pools_set_apart(&peers[0]);
	assert_int_equal(asked, 0);
	heard[0] = heard[1] = 0;
	pools_set_apart(&peers[1]);
	assert_int_equal(asked, 1);
	assert_int_equal(heard[1], 1);
}

TEST(memory_of_pools)
{
	CUmemLocation device = { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, host = { 2, 0 };
	int word[2] = { 7, 7 };
	uint64_t value = 0;
	CUmemoryPool pool, same;
	CUmemAccess_flags flags;
	CUdeviceptr at;
	CUstream second;

	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	lie_once(OP_cuDeviceGetDefaultMemPool, id_of(pool));
	OK(cuMemGetDefaultMemPool(&same, &device, 1));
	assert_ptr_equal(same, pool);
	FAILS(cuMemGetDefaultMemPool(&same, &host, 1), NOT_SUPPORTED);
	FAILS(cuDeviceSetMemPool(1, pool), INVALID_HANDLE);
	/* a short attribute leaves what lies behind it alone */
	lie_once(OP_pool_get, UINT64_MAX);
	OK(cuMemPoolGetAttribute(pool, 1, word));
	assert_int_equal(word[0], -1);
	assert_int_equal(word[1], 7);
	OK(cuMemPoolGetAttribute(pool, 4, &value));
	assert_true(value == UINT64_MAX);
	FAILS(cuMemPoolGetAttribute(NULL, 4, &value), INVALID_VALUE);
	FAILS(cuMemPoolGetAccess(&flags, pool, &host), NOT_SUPPORTED);
	OK(cuMemPoolGetAccess(&flags, pool, &device));
	lie_once(OP_pointer, id_of(pool));
	OK(cuPointerGetAttribute(&same, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 0x700000000));
	assert_ptr_equal(same, pool);
	lie_once(OP_pointer, id_of(ctx));
	FAILS(cuPointerGetAttribute(&same, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 0x700000000),
	      UNKNOWN);
	/* its memory is known, also that of a stream of another context */
	lie_once(OP_cuMemAllocAsync, 0xa00000000);
	OK(cuMemAllocAsync(&at, PAGE, NULL));
	assert_true(device_span(at, PAGE, 1));
	heard[0] = 0;
	OK(cuMemFreeAsync(at, NULL));
	assert_int_equal(heard[0], 0); /* nobody waits for an answer */
	assert_false(range_has(at));
	OK(cuMemFreeAsync(at, NULL));
	assert_int_equal(heard[0], 1); /* the server is asked about memory that is not known */
	OK(cuStreamCreate(&second, 0));
	lie_once(OP_cuMemAllocFromPoolAsync, -4096ull);
	FAILS(cuMemAllocFromPoolAsync(&at, 8192, pool, second), UNKNOWN);
	/* what a capture allocates nobody has yet */
	begun(1, CU_STREAM_CAPTURE_MODE_GLOBAL);
	lie_once(OP_cuMemAllocAsync, 0xa00000000);
	OK(cuMemAllocAsync(&at, PAGE, second));
	assert_false(range_has(at));
	ended(1, CUDA_SUCCESS);
	lie.op = 0;
	OK(cuMemPoolDestroy(pool));
	FAILS(cuMemPoolDestroy(pool), INVALID_VALUE);
}

/* other programs may record it: the server is asked, and waits */
TEST(shared_events_are_asked_about)
{
	CUipcEventHandle handle;
	CUevent event;

	lie.op = 0;
	OK(cuEventCreate(&event, 6));
	assert_true(same_context(event));
	OK(cuIpcGetEventHandle(&handle, event));
	assert_false(same_context(event));
	OK(cuIpcOpenEventHandle(&event, handle));
	heard[0] = 0;
	OK(cuStreamWaitEvent(NULL, event, 0));
	assert_int_equal(heard[0], 1);
}

TEST(opened_memory_ends_in_the_address_space)
{
	CUdeviceptr at;

	lie_once(OP_share_open, 0xb00000000);
	lie.word[1] = 1ull << 46;
	FAILS(cuIpcOpenMemHandle_v2(&at, (CUipcMemHandle){ { 0 } }, 1), UNKNOWN);
	lie.word[1] = PAGE;
	OK(cuIpcOpenMemHandle_v2(&at, (CUipcMemHandle){ { 0 } }, 1));
	assert_true(device_span(at, PAGE, 1));
	lie.op = 0;
	OK(cuIpcCloseMemHandle(at));
	assert_false(range_has(at));
}

TEST(batches)
{
	uint64_t from[3] = { 1, 2, 3 }, to[3] = { 0 };
	CUdeviceptr src[3], dst[3];
	size_t bytes[] = { 8, 8, 8 }, at[] = { 0, 2 }, failed = 9;
	CUmemcpyAttributes attributes[] = { { .srcAccessOrder = 1 }, { .srcAccessOrder = 3 } };
	CUstream stream;
	unsigned int i;

	lie.op = 0;
	OK(cuStreamCreate(&stream, 0));
	for (i = 0; i < 3; i++) {
		src[i] = (uintptr_t)&from[i];
		dst[i] = (uintptr_t)&to[i];
	}
	OK(cuMemcpyBatchAsync_v2(dst, src, bytes, 3, attributes, at, 2, stream));
	assert_memory_equal(to, from, sizeof(to));
	FAILS(cuMemcpyBatchAsync_v2(dst, src, bytes, 3, attributes, at, 2, NULL), INVALID_VALUE);
	at[1] = 3;
	FAILS(cuMemcpyBatchAsync(dst, src, bytes, 3, attributes, at, 2, &failed, stream),
	      INVALID_VALUE);
	assert_true(failed == SIZE_MAX);
	at[1] = 1;
	attributes[1].srcAccessOrder = 4;
	FAILS(cuMemcpyBatchAsync_v2(dst, src, bytes, 3, attributes, at, 2, stream), INVALID_VALUE);
	attributes[1].srcAccessOrder = 2;
	src[1] = 0x123000; /* nobody's */
	FAILS(cuMemcpyBatchAsync(dst, src, bytes, 3, attributes, at, 2, &failed, stream),
	      INVALID_VALUE);
	assert_int_equal(failed, 1);
}

TEST(advice_names_places)
{
	const CUmemLocation device = { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, node = { 3, 5 };

	lie.op = 0;
	OK(cuMemAdvise_v2(0x700000000, PAGE, 3, device));
	OK(cuMemAdvise_v2(0x700000000, PAGE, 3, node));
	OK(cuMemAdvise_v2(0x700000000, PAGE, 1, (CUmemLocation){ 0, 0 }));
	FAILS(cuMemAdvise_v2(0x700000000, PAGE, 3, (CUmemLocation){ 5, 0 }), INVALID_VALUE);
	OK(cuMemPrefetchAsync_v2(0x700000000, PAGE, device, 0, NULL));
	FAILS(cuMemPrefetchAsync_v2(0x700000000, PAGE, device, 1, NULL), INVALID_VALUE);
	FAILS(cuMemPrefetchAsync_v2(0x700000000, PAGE, (CUmemLocation){ 0, 0 }, 0, NULL),
	      INVALID_VALUE);
}

/* ------------------------------------------------------------------ two threads, one slot */

static struct {
	pthread_t thread;
	CUresult r;
	CUevent event;
} other;

/* of a kind that the client keeps none of: the server is asked */
static void *make_event(void *arg)
{
	const unsigned int flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

	other.r = cuCtxSetCurrent(ctx);
	other.r = other.r ? other.r : cuEventCreate(&other.event, flags);
	return NULL;
}

static void let_other_make(void)
{
	event_made = false;
	assert_int_equal(pthread_create(&other.thread, NULL, make_event, NULL), 0);
	while (!__atomic_load_n(&event_made, __ATOMIC_SEQ_CST))
		usleep(100);
	usleep(50000);
}

static void takes_the_slot_of(const void *ended, CUresult r)
{
	OK(r);
	assert_int_equal(pthread_join(other.thread, NULL), 0);
	OK(other.r);
	assert_ptr_equal(other.event, ended);
	OK(cuEventDestroy_v2(other.event));
}

/*
 * An honest server gives an event the slot of an object that it has just ended. The thread that
 * made the event hears of it before the one that has ended the object hears of that.
 */
TEST(an_ended_object_leaves_its_slot)
{
	/* it may print: else its end is not waited for */
	uint8_t cubin[64] = "\x7f"
			    "ELF\2\1\1\0vprintf";
	CUfunction f;
	CUstream stream;

	lie.op = 0;
	while_asked = let_other_make;
	OK(cuStreamCreate(&stream, 0));
	lie_once(OP_cuEventCreate, id(CLASS_EVENT, KVGPU_REMOTE_INDEX(id_of(stream)), 2));
	takes_the_slot_of(stream, cuStreamDestroy_v2(stream));
	OK(cuModuleLoadData(&module, cubin));
	OK(cuModuleGetFunction(&f, module, "f"));
	lie_once(OP_cuEventCreate, id(CLASS_EVENT, KVGPU_REMOTE_INDEX(id_of(f)), 2));
	takes_the_slot_of(f, cuModuleUnload(module));
	while_asked = NULL;
}

/* ------------------------------------------------------------------ events */

static unsigned int called;

static void on_host(void *data)
{
	__atomic_add_fetch(&called, 1, __ATOMIC_SEQ_CST);
}

static void tell(unsigned int peer, uint64_t function)
{
	uint64_t acks = __atomic_load_n(&liar_acks, __ATOMIC_SEQ_CST);

	liar_tell(peer, KVGPU_REMOTE_NOTIFY_CALL, function, 8);
	while (__atomic_load_n(&liar_acks, __ATOMIC_SEQ_CST) == acks)
		usleep(100);
}

TEST(a_function_is_called_by_its_server)
{
	CUDA_HOST_NODE_PARAMS p = { on_host, NULL };
	CUgraphNode node;

	lie.op = 0;
	OK(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
	tell(1, 1);
	assert_int_equal(called, 0);
	tell(0, 1);
	assert_int_equal(called, 1);
}

int main(void)
{
	liar_says = say;
	liar_begin(2);
	return unit_tests_run(begin, end, NULL, NULL);
}
