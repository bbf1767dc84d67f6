// SPDX-License-Identifier: MIT
/*
 * Launches with attributes, tensor maps and words that streams write: what an honest server is
 * asked, and what the program gets (liar.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

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

#define Q(name)		 ((const struct q_##name *)frame)
#define BEHIND(name)	 ((const uint64_t *)(frame + sizeof(struct q_##name)))
#define OK(call)	 assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, why) assert_int_equal(call, CUDA_ERROR_##why)

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

static void launches_that_can_be_wrong_are_asked(void **state)
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

static void clusters_that_a_kernel_wants(void **state)
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
static void shared_memory_that_is_allowed(void **state)
{
	CUfunction f = get_function();

	WAITED(launch(f, 1, 100 << 10, NULL, 0));
	OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200 << 10));
	nr_asked = 0;
	QUEUED(launch(f, 1, 100 << 10, NULL, 0));
	QUEUED(launch(f, 1, 200 << 10, NULL, 0));
	WAITED(launch(f, 1, (200 << 10) + 1, NULL, 0));
}

static void what_a_launch_sends(void **state)
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

static void how_many_clusters(void **state)
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

/* ----------------------------------------------------------------- tensor maps, words in memory */

static void tensor_maps(void **state)
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

static void words_of_streams(void **state)
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(launches_that_can_be_wrong_are_asked),
		TEST(clusters_that_a_kernel_wants),
		TEST(shared_memory_that_is_allowed),
		TEST(what_a_launch_sends),
		TEST(how_many_clusters),
		TEST(tensor_maps),
		TEST(words_of_streams),
	};

	liar_says = say;
	liar_begin(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
