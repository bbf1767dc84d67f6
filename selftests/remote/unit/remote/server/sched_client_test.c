// SPDX-License-Identifier: MIT
/*
 * The client of the GPU scheduler: which frames wait for a turn on the GPU and which do not, how
 * much work is under way at a time, and the time that is charged. The scheduler's clock moves only
 * where a test lets time pass.
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <remote/server/sched_client.h>

#include "ask.h"

static struct sched_shared shared;
static int doorbell[2];
/* number of fills that reached the library, and the last one's byte */
static unsigned int fills, began;
static bool gpu_busy;
static float took_ms;
/*
 * The stream that captures, and a stream that has joined it; the null stream can't be queried
 * meanwhile.
 */
static CUstream captures, joined;
/* only the null stream has the work that makes the GPU busy */
static bool null_alone;
static void *strange; /* events can't be recorded in this stream */
static uint64_t clock_us = 1;

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	*t = (struct timespec){ clock_us / 1000000, clock_us % 1000000 * 1000 };
	return 0;
}

static void pass(unsigned int us)
{
	clock_us += us;
}

static CUresult fill(CUdeviceptr to, unsigned char value, size_t n, CUstream st)
{
	fills++;
	began = value;
	return CUDA_SUCCESS;
}

static CUresult query(CUevent e)
{
	fake_handle(CLASS_EVENT, e);
	return gpu_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult is_capturing(CUstream st, CUstreamCaptureStatus *status)
{
	*status = captures && (st == captures || st == joined) ? CU_STREAM_CAPTURE_STATUS_ACTIVE :
								 CU_STREAM_CAPTURE_STATUS_NONE;
	return captures && !st ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

static CUresult begin_capture(CUstream st, CUstreamCaptureMode mode)
{
	captures = st;
	return CUDA_SUCCESS;
}

static CUresult begin_to_graph(CUstream st, CUgraph graph, const CUgraphNode *dependencies,
			       const CUgraphEdgeData *edges, size_t n, CUstreamCaptureMode mode)
{
	return begin_capture(st, mode);
}

enum { SLOW_US = 6000, SLOW_NS = SLOW_US * 1000 };

static CUresult slowly(void)
{
	pass(SLOW_US);
	return CUDA_SUCCESS;
}

static CUresult synchronize(CUstream st)
{
	return slowly();
}

static CUresult wait_event(CUstream st, CUevent event, unsigned int flags)
{
	joined = captures ? st : NULL;
	return CUDA_SUCCESS;
}

static CUresult end_capture(CUstream st, CUgraph *graph)
{
	if (st != captures)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	captures = joined = NULL;
	if (graph)
		*graph = fake_new(CLASS_GRAPH);
	return CUDA_SUCCESS;
}

static CUresult record(CUevent e, CUstream st)
{
	return strange && st == strange ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult query_stream(CUstream st)
{
	return gpu_busy && (!null_alone || !st) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult elapsed(float *ms, CUevent from, CUevent to)
{
	fake_handle(CLASS_EVENT, from);
	fake_handle(CLASS_EVENT, to);
	*ms = took_ms;
	return CUDA_SUCCESS;
}

static uint64_t ctx, st;

static int begin(void **state)
{
	set_up(state);
	s.library.cuMemsetD8Async = fill;
	s.library.cuEventQuery = query;
	s.library.cuStreamQuery = query_stream;
	s.library.cuEventElapsedTime = elapsed;
	s.library.cuEventRecord = record;
	s.library.cuStreamIsCapturing = is_capturing;
	s.library.cuStreamBeginCapture_v2 = begin_capture;
	s.library.cuStreamBeginCaptureToGraph = begin_to_graph;
	s.library.cuStreamEndCapture = end_capture;
	s.library.cuStreamWaitEvent = wait_event;
	memset(&shared, 0, sizeof(shared));
	fills = began = 0;
	gpu_busy = false;
	captures = joined = strange = NULL;
	null_alone = false;
	took_ms = 1;
	if (pipe2(doorbell, O_NONBLOCK) || sched_begin(&s, &shared, doorbell[1]))
		return -1;
	ctx = context();
	st = stream();
	return 0;
}

static int end(void **state)
{
	tear_down(state);
	close(doorbell[0]);
	close(doorbell[1]);
	return 0;
}

static bool rang(void)
{
	char c[64];

	return read(doorbell[0], c, sizeof(c)) > 0;
}

static void fill_with(uint8_t value)
{
	ASK(cuMemsetD8Async, .n = 8, .stream = st, .value = value);
}

static void grant(uint32_t turn, uint64_t ns)
{
	shared.turn_ns = ns;
	shared.turn = turn;
}

/* a turn, which other clients want, too */
static void contended(uint32_t turn, uint64_t ns)
{
	shared.closed = shared.wanted = 1;
	grant(turn, ns);
}

static void go_on(bool quiet)
{
	sched_look(&s, quiet);
	sched_go_on(&s);
}

static void until_given_back(uint32_t turn)
{
	unsigned int i;

	for (i = 0; i < 100 && shared.done != turn; i++) {
		pass(300);
		go_on(true);
	}
	assert_int_equal(shared.done, turn);
}

TEST(alone)
{
	fill_with(1);
	assert_int_equal(fills, 1);
	assert_int_equal(shared.busy, 1);
	assert_false(rang());
	fill_with(2);
	assert_int_equal(fills, 2);
	gpu_busy = true;
	go_on(true);
	pass(3000);
	go_on(true);
	assert_true(s.sched->untracked && shared.busy);
	gpu_busy = false;
	pass(50000);
	go_on(true);
	assert_false(s.sched->untracked || shared.busy);
	shared.watched = 1;
	fill_with(3);
	assert_true(rang());
	fill_with(4);
	assert_false(rang());
	assert_int_equal(shared.used, 0);
}

TEST(waits_for_a_turn)
{
	unsigned int i;

	shared.closed = 1;
	for (i = 1; i <= 3; i++)
		fill_with(i);
	assert_int_equal(fills, 0);
	assert_int_equal(shared.want, 1);
	assert_int_equal(shared.busy, 0);
	assert_true(rang());
	/*
	 * A call that only reads does not wait, whatever context is current. A call that could see
	 * the work waits, and keeps its place in the order.
	 */
	ASK(pointer, .ptr = 1);
	assert_true(fake_last.seq);
	ASK(current, .ctx = 0);
	ASK(cuMemGetInfo_v2, .want = 3);
	assert_true(fake_last.seq);
	assert_int_equal(s.current, ctx);
	ASK(current, .ctx = ctx);
	ASK(cuStreamQuery, .stream = st);
	assert_false(fake_last.seq);
	fill_with(4);
	go_on(true);
	assert_int_equal(fills, 0);
	grant(7, 1000000);
	sched_go_on(&s);
	assert_int_equal(fills, 4);
	assert_int_equal(began, 4);
	assert_true(fake_last.seq);
	assert_int_equal(shared.want, 0);
	assert_int_equal(shared.busy, 1);
}

/* A limited amount of work is under way. The time it took is charged. */
TEST(batches)
{
	unsigned int i, under_way;

	contended(1, 5000000);
	gpu_busy = true;
	for (i = 0; i < 100; i++)
		fill_with(i);
	under_way = fills;
	assert_in_range(under_way, 2, 16);
	go_on(true);
	assert_int_equal(fills, under_way);
	assert_int_equal(shared.used, 0);
	took_ms = 3;
	gpu_busy = false;
	go_on(false);
	assert_int_equal(shared.used, 3000000);
	assert_true(fills > under_way);
	gpu_busy = true;
	took_ms = 6;
	go_on(false);
	gpu_busy = false;
	go_on(false);
	assert_int_equal(shared.used, 6000000);
	under_way = fills;
	for (i = 0; i < 4; i++)
		go_on(false);
	assert_int_equal(fills, under_way);
	assert_int_equal(shared.done, 1);
	assert_int_equal(shared.want, 1);
	assert_int_equal(shared.busy, 0);
	assert_true(rang());
	/* the old turn no longer counts, the next one does */
	go_on(true);
	assert_int_equal(fills, under_way);
	grant(2, 5000000);
	go_on(true);
	assert_true(fills > under_way);
}

/* No other client wants the GPU, so the turn does not end. */
TEST(unwanted)
{
	unsigned int i;

	shared.closed = 1;
	grant(1, 1000);
	for (i = 0; i < 1000; i++) {
		fill_with(i);
		took_ms = i;
		go_on(true);
	}
	assert_int_equal(fills, 1000);
	assert_int_equal(shared.done, 0);
	/* without work the turn is given back after a moment */
	until_given_back(1);
	assert_int_equal(shared.want, 0);
}

/* The turn was taken away because it lasted too long. */
TEST(lost)
{
	contended(3, 1000000);
	fill_with(1);
	gpu_busy = true;
	go_on(true);
	shared.turn = 0;
	go_on(true);
	fill_with(2);
	assert_int_equal(fills, 1);
	assert_int_equal(shared.busy, 1);
	assert_int_equal(shared.want, 1);
	gpu_busy = false;
	pass(50000);
	go_on(true);
	assert_int_equal(shared.busy, 0);
	assert_int_equal(shared.used, 0);
	grant(4, 1000000);
	go_on(true);
	assert_int_equal(fills, 2);
}

static unsigned int writes;

static CUresult write_word(CUstream st, CUdeviceptr at, cuuint32_t value, unsigned int flags)
{
	writes++;
	return CUDA_SUCCESS;
}

/*
 * A stream waits for a word, and no more of its work may be under way. What writes the word comes
 * with a later turn of the client's, which waits for nobody.
 */
TEST(a_word_to_come)
{
	uint64_t second = stream();
	unsigned int turn, i;

	s.library.cuStreamWriteValue32_v2 = write_word;
	writes = 0;
	contended(1, 1000000);
	gpu_busy = true;
	ASK(cuStreamWaitValue32_v2, .stream = st, .at = 1 << 20, .value = 1);
	assert_true(fake_last.seq);
	for (i = 0; i < 40; i++)
		fill_with(i);
	ASK(cuStreamWriteValue32_v2, .stream = second, .at = 1 << 20, .value = 1);
	go_on(true);
	assert_int_equal(writes, 0);
	for (turn = 2; turn < 40 && !writes; turn++) {
		shared.turn = 0; /* the turn lasts too long, and another client has the next */
		go_on(true);
		assert_int_equal(shared.want, 1);
		assert_int_equal(shared.busy, 1);
		grant(turn, 1000000);
		go_on(true);
	}
	assert_int_equal(writes, 1);
	assert_int_equal(fills, 40);
}

TEST(opened)
{
	unsigned int i;

	shared.closed = 1;
	for (i = 0; i < 10; i++)
		fill_with(i);
	assert_int_equal(fills, 0);
	shared.closed = 0;
	go_on(true);
	assert_int_equal(fills, 10);
	assert_int_equal(shared.want, 0);
	assert_true(s.sched->untracked);
	/* the scheduler's client may submit: the same while the server has a turn */
	shared.closed = 1;
	grant(2, 1000000);
	fill_with(11);
	shared.closed = shared.turn = 0;
	go_on(true);
	fill_with(12);
	assert_int_equal(began, 12);
}

/* Destroying a stream ends no work. Destroying a context ends all of its work. */
TEST(what_ends)
{
	contended(1, 1000000);
	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamDestroy_v2, .stream = st);
	go_on(true);
	go_on(true);
	assert_int_equal(shared.done, 0);
	took_ms = 40;
	gpu_busy = false;
	go_on(true);
	go_on(true);
	assert_int_equal(shared.used, 40000000);
	assert_int_equal(shared.done, 1);

	st = stream();
	grant(2, 1000000);
	gpu_busy = true;
	fill_with(2);
	go_on(true);
	ASK(cuCtxDestroy_v2, .ctx = ctx);
	go_on(true);
	/* work in another context waits until the work under way in this one is done */
	ctx = context();
	st = stream();
	grant(3, 1000000000);
	fill_with(3);
	assert_int_equal(fills, 3);
	context();
	st = stream();
	fill_with(4);
	go_on(true);
	assert_int_equal(fills, 3);
	gpu_busy = false;
	go_on(true);
	go_on(true);
	assert_int_equal(fills, 4);
}

static CUresult stays(CUcontext c)
{
	return CUDA_ERROR_INVALID_CONTEXT;
}

/*
 * cuCtxDestroy() does not destroy a primary context: its work continues, and is charged to the
 * client.
 */
TEST(context_stays)
{
	unsigned int i;

	s.library.cuCtxDestroy_v2 = stays;
	shared.closed = shared.wanted = 1;
	for (i = 1; i <= 3; i++) {
		grant(i, 1000000);
		gpu_busy = true;
		fill_with(i);
		assert_int_equal(fills, i);
		ASK(cuCtxDestroy_v2, .ctx = ctx);
		assert_int_equal(fake_last.result, CUDA_ERROR_INVALID_CONTEXT);
		ASK(current, .ctx = ctx);
		go_on(true);
		pass(1000);
		go_on(true);
		assert_true(shared.busy);
		gpu_busy = false;
		pass(50000);
		go_on(true);
		pass(1000);
		go_on(true);
		assert_int_equal(shared.done, i);
	}
}

/*
 * Without turns the scheduler's client keeps no list of streams. It remembers a stream that is
 * destroyed with work in it.
 */
TEST(orphans)
{
	unsigned int i;

	gpu_busy = true;
	for (i = 0; i < 100; i++) {
		fill_with(i);
		ASK(cuStreamDestroy_v2, .stream = st);
		st = stream();
	}
	go_on(true);
	pass(3000);
	go_on(true);
	assert_int_equal(shared.busy, 1);
	gpu_busy = false;
	pass(50000);
	go_on(true);
	assert_int_equal(shared.busy, 0);
}

/* Work in many streams at the same time, more than a batch has room for. */
TEST(many_streams)
{
	unsigned int i, round;

	shared.closed = shared.wanted = 1;
	for (round = 1; round < 200; round++) {
		grant(round, 2000000);
		for (i = 0; i < 40; i++) {
			st = i % 3 ? stream() : st;
			fill_with(i);
		}
		for (i = 0; i < 100 && shared.done != round; i++) {
			took_ms = i;
			go_on(true);
			pass(i > 50 ? 50 : 0);
		}
		assert_int_equal(shared.done, round);
	}
	assert_true(fills > 1000);
}

/*
 * For a client on a socket, pieces of the arena are free when a later answer has come. So answers
 * must not overtake a copy.
 */
TEST(pieces)
{
	shared.closed = 1;
	ASK(copy_in, .stream = st, .at = 0, .bytes = 8);
	ASK(pointer, .ptr = 1);
	assert_false(fake_last.seq);
	grant(1, 1000000);
	go_on(true);
	assert_true(fake_last.seq);
	shared.turn = 0;
	go_on(true);
	fake_share(&s);
	ASK(copy_in, .stream = st, .at = 0, .bytes = 8);
	ASK(pointer, .ptr = 1);
	assert_true(fake_last.seq);
}

static void busy_until_idle(void)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		go_on(true);
		pass(25000);
	}
	assert_int_equal(shared.busy, 1);
	gpu_busy = false;
	for (i = 0; i < 100 && shared.busy; i++) {
		go_on(true);
		pass(1000);
	}
	assert_int_equal(shared.busy, 0);
}

/*
 * A stream that captures can't be asked whether it has work, so its work might be forgotten. The
 * same is true of the null stream meanwhile.
 */
TEST(captured)
{
	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamBeginCapture_v2, .stream = st, .mode = 2);
	busy_until_idle();
	ASK(cuStreamEndCapture, .stream = st);

	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamBeginCaptureToGraph, .stream = st, .mode = 2);
	busy_until_idle();
	ASK(cuStreamEndCapture, .stream = st);

	gpu_busy = null_alone = true;
	ASK(cuMemsetD8Async, .n = 8, .stream = 0, .value = 1);
	ASK(cuStreamBeginCapture_v2, .stream = st, .mode = 2);
	busy_until_idle();
	ASK(cuStreamEndCapture, .stream = st);

	/* a capture within a turn */
	null_alone = false;
	contended(1, 1000000);
	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamBeginCapture_v2, .stream = st, .mode = 2);
	go_on(true);
	assert_true(shared.done != 1 || shared.busy);
	go_on(true);
	assert_true(shared.done != 1 || shared.busy);
	busy_until_idle();
}

/* What is done at once is charged by the clock, if others want the GPU. */
#define CHARGED(name, ...) CHARGED_FOR(1, name, __VA_ARGS__)
#define CHARGED_FOR(calls, name, ...)                           \
	do {                                                    \
		shared.used = 0;                                \
		OK(ASK(name, __VA_ARGS__));                     \
		assert_int_equal(shared.used, (calls)*SLOW_NS); \
	} while (0)

/*
 * Managed memory's pages are copied at once, whoever has the turn. While turns are needed this is
 * charged by the clock, and once.
 */
TEST(at_once)
{
	uint64_t used;

	s.library.cuStreamSynchronize = synchronize;
	ASK(managed_in, .dst = 4096, .bytes = 64);
	assert_int_equal(shared.used, 0);
	shared.closed = shared.wanted = 1;
	CHARGED(managed_in, .dst = 4096, .bytes = 64);
	CHARGED(managed_out, .src = 4096, .bytes = 64);
	/* in a turn too, and the GPU time of work before and behind it is not charged again */
	shared.used = 0;
	took_ms = 1;
	grant(1, 10000000000);
	fill_with(1);
	CHARGED(managed_out, .src = 4096, .bytes = 64);
	used = shared.used;
	go_on(true);
	go_on(true);
	assert_int_equal(shared.used, used);
	took_ms = 5000;
	fill_with(2);
	go_on(true);
	go_on(true);
	assert_int_equal(shared.used, 5000000000);
}

static CUresult slow_free(CUdeviceptr p)
{
	return slowly();
}
static CUresult slow_end(CUcontext c)
{
	return slowly();
}
static CUresult slow_unload(CUmodule m)
{
	return slowly();
}
static CUresult slow_alloc(CUdeviceptr *p, size_t n)
{
	*p = 1 << 20;
	return slowly();
}

/*
 * The library has the GPU clear memory, whoever has the turn. While turns are needed this is
 * charged by the clock.
 */
TEST(memory_takes_time)
{
	s.library.cuMemAlloc_v2 = slow_alloc;
	s.library.cuMemFree_v2 = slow_free;
	ASK(cuMemAlloc_v2, .bytes = 1 << 30);
	assert_int_equal(shared.used, 0);
	shared.closed = shared.wanted = 1;
	CHARGED(cuMemAlloc_v2, .bytes = 1 << 30);
	CHARGED(cuMemFree_v2, .ptr = 1 << 20);
	shared.used = 0;
	ASK(cuEventCreate, .flags = 0);
	assert_int_equal(shared.used, 0);
}

static CUresult slow_create(CUmemGenericAllocationHandle *handle, size_t n,
			    const CUmemAllocationProp *prop, unsigned long long flags)
{
	*handle = 77;
	return slowly();
}
static CUresult slow_release(CUmemGenericAllocationHandle handle)
{
	return slowly();
}

/* Memory without an address costs as much, and so does memory freed by the name for pools. */
TEST(other_memory_takes_time)
{
	uint64_t handle;

	s.library.cuMemCreate = slow_create;
	s.library.cuMemRelease = slow_release;
	s.library.cuMemAlloc_v2 = slow_alloc;
	s.library.cuMemFree_v2 = slow_free;
	ASK(cuMemAlloc_v2, .bytes = 1 << 30);
	shared.closed = shared.wanted = 1;
	ASK(cuMemCreate, .prop = { .type = 1, .location.type = 1 }, .size = 1 << 30);
	handle = ANSWER(cuMemCreate)->handle;
	assert_int_equal(shared.used, SLOW_NS);
	CHARGED(cuMemRelease, .handle = handle);
	CHARGED(cuMemFreeAsync, .ptr = 1 << 20, .stream = st);
}

/* The end of a context or of a module gives back all that it has. */
TEST(ends_take_time)
{
	uint64_t module = new_module();

	s.library.cuCtxDestroy_v2 = slow_end;
	s.library.cuModuleUnload = slow_unload;
	shared.closed = shared.wanted = 1;
	CHARGED(cuModuleUnload, .module = module);
	CHARGED(cuCtxDetach, .ctx = ctx);
	shared.used = 0;
	ctx = context();
	CHARGED(cuCtxDestroy_v2, .ctx = ctx);
}

static CUresult slow_stream(CUstream st)
{
	return slowly();
}
static CUresult slow_exec(CUgraphExec e)
{
	return slowly();
}

static CUresult set_kernel(CUgraphExec e, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	return CUDA_SUCCESS;
}

/* A node of @graph, or that node of @exec, launches a function of @module. */
static uint64_t kernel_node(uint64_t graph, uint64_t node, uint64_t exec, uint64_t module)
{
	struct {
		struct q_kernel_node q;
		uint8_t bytes[16];
	} make = { .q = { .graph = graph, .node = node, .exec = exec, .bytes = 13 } };

	make.q.function = function_of(module);
	OK(fake_frame(&s, OP_kernel_node, &make, sizeof(make)));
	return ANSWER(kernel_node)->node;
}

/* A module that graphs keep ends with the last of them, behind that frame. */
TEST(ends_of_what_graphs_refer_to)
{
	uint64_t first = new_module(), second = new_module(), graph = new_graph(), node, exec;

	s.library.cuStreamDestroy_v2 = slow_stream;
	s.library.cuGraphExecDestroy = slow_exec;
	s.library.cuModuleUnload = slow_unload;
	s.library.cuGraphExecKernelNodeSetParams = set_kernel;
	node = kernel_node(graph, 0, 0, first);
	exec = GET(exec, instantiate, .graph = graph, .version = 2);
	kernel_node(graph, node, exec, second);
	OK(ASK(cuModuleUnload, .module = first));
	OK(ASK(cuModuleUnload, .module = second));
	shared.closed = shared.wanted = 1;
	CHARGED_FOR(2, cuGraphExecDestroy, .exec = exec); /* its own, and the second module's */
	CHARGED(cuGraphDestroy, .graph = graph);
	assert_null(s.graph_refs.objects);
	CHARGED(cuStreamDestroy_v2, .stream = st);
}

/* Give the client a turn, in which it has one short piece of work, which is over. */
static void turn_with_one_fill(uint32_t turn)
{
	unsigned int i;

	shared.used = 0;
	took_ms = 0.01f;
	grant(turn, 16000000);
	fill_with(1);
	for (i = 0; i < 3; i++)
		go_on(true);
	assert_int_not_equal(shared.done, turn);
}

/*
 * What the server does at once near the end of a turn, with no work behind it, is charged, whether
 * the work before is over or not, and whatever untracked work there is.
 */
TEST(at_a_turns_end)
{
	unsigned int turn;

	s.library.cuStreamSynchronize = synchronize;
	s.library.cuMemAlloc_v2 = slow_alloc;
	s.library.cuCtxDestroy_v2 = slow_end;
	shared.closed = shared.wanted = 1;
	for (turn = 1; turn <= 6; turn++) {
		turn_with_one_fill(turn);
		if (turn > 3)
			fill_with(1);
		s.sched->untracked = turn == 3;
		if (turn == 6)
			ASK(cuCtxDestroy_v2, .ctx = ctx);
		else if (turn % 2)
			ASK(managed_out, .src = 4096, .bytes = 64);
		else
			ASK(cuMemAlloc_v2, .bytes = 1 << 30);
		until_given_back(turn);
		assert_in_range(shared.used, SLOW_NS, SLOW_NS + 1000000);
	}
}

/*
 * A stream that joins a capture can't be asked any more, either. A call that ends no capture, for
 * another stream, must not make the server forget that one goes on.
 */
TEST(joins)
{
	uint64_t origin = stream(), event;

	event = new_event();
	ASK(cuStreamBeginCapture_v2, .stream = origin, .mode = 2);
	ASK(cuStreamEndCapture, .stream = st);
	assert_int_equal(fake_last.result, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	contended(1, 1000000);
	gpu_busy = true;
	fill_with(1);
	assert_int_equal(fills, 1);
	ASK(cuStreamWaitEvent, .stream = st, .event = event);
	ASK(cuStreamEndCapture, .stream = st);
	go_on(true);
	go_on(true);
	assert_true(shared.done != 1 || shared.busy);
	busy_until_idle();
	ASK(cuStreamEndCapture, .stream = origin);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
}

/*
 * A stream of another context than the current one: no event can be recorded behind its work. So
 * the work counts until the stream is seen to be idle.
 */
TEST(strange_stream)
{
	uint64_t theirs = st;
	CUstream s_theirs;

	assert_true(stream_find(&s, theirs, &s_theirs));
	context();
	contended(1, 1000000);
	strange = s_theirs;
	gpu_busy = true;
	st = theirs;
	fill_with(1);
	go_on(true);
	go_on(true);
	pass(1000);
	go_on(true);
	assert_true(!shared.done || shared.busy);
	assert_true(s.sched->untracked);
	busy_until_idle();
}

/* A turn is kept by pieces of work with pauses between them. The pauses are charged, too. */
TEST(pauses)
{
	uint64_t one = ctx, other = context(), first = st, second = stream();
	unsigned int i;

	shared.closed = 1;
	grant(1, 1000000000);
	for (i = 0; i < 10; i++) {
		ASK(current, .ctx = i % 2 ? one : other);
		st = i % 2 ? first : second;
		took_ms = 0.1;
		fill_with(i);
		assert_int_equal(fills, i + 1);
		go_on(true);
		sched_look(&s, false);
		pass(2000);
	}
	assert_int_equal(shared.done, 0);
	assert_true(shared.used >= 9 * 2000000);
}

TEST_MAIN(begin, end)
