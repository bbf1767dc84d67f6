// SPDX-License-Identifier: MIT
/*
 * The client of the GPU scheduler: which frames wait for a turn on the GPU and which do not, how
 * much work is under way at a time, and the time that is charged. The scheduler's clock moves only
 * where a test lets time pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <remote/server/sched_client.h>

#include "fake.h"

static struct server s;
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

static CUresult fill(CUdeviceptr to, unsigned char value, size_t n, CUstream stream)
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

static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
	*status = captures && (stream == captures || stream == joined) ?
			  CU_STREAM_CAPTURE_STATUS_ACTIVE :
			  CU_STREAM_CAPTURE_STATUS_NONE;
	return captures && !stream ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

static CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
	captures = stream;
	return CUDA_SUCCESS;
}

static CUresult begin_to_graph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
			       const CUgraphEdgeData *edges, size_t n, CUstreamCaptureMode mode)
{
	return begin_capture(stream, mode);
}

enum { SLOW_US = 6000, SLOW_NS = SLOW_US * 1000 };

static CUresult slowly(void)
{
	pass(SLOW_US);
	return CUDA_SUCCESS;
}

static CUresult synchronize(CUstream stream)
{
	return slowly();
}

static CUresult wait_event(CUstream stream, CUevent event, unsigned int flags)
{
	joined = captures ? stream : NULL;
	return CUDA_SUCCESS;
}

static CUresult end_capture(CUstream stream, CUgraph *graph)
{
	if (stream != captures)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	captures = joined = NULL;
	if (graph)
		*graph = fake_new(CLASS_GRAPH);
	return CUDA_SUCCESS;
}

static CUresult record(CUevent e, CUstream stream)
{
	return strange && stream == strange ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult query_stream(CUstream stream)
{
	return gpu_busy && (!null_alone || !stream) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult elapsed(float *ms, CUevent from, CUevent to)
{
	fake_handle(CLASS_EVENT, from);
	fake_handle(CLASS_EVENT, to);
	*ms = took_ms;
	return CUDA_SUCCESS;
}

static void ask(uint16_t op, const void *payload, size_t n)
{
	static uint64_t seq;
	struct kvgpu_remote_head h = { .seq = ++seq, .op = op, .completion = 1, .bytes = n };
	uint64_t *copy = malloc(n + 1);

	memcpy(copy, payload, n);
	fake_last = (struct kvgpu_remote_answer){ .seq = 0, .result = 0 };
	assert_int_equal(sched_frame(&s, &h, copy), 0);
	free(copy);
}

#define ASK(name, ...) ask(OP_##name, &(struct q_##name){ __VA_ARGS__ }, sizeof(struct q_##name))
#define ANSWER(name)   ((const struct a_##name *)fake_payload)

static uint64_t ctx, stream;

static uint64_t new_context(void)
{
	uint64_t id;

	ASK(cuCtxCreate_v2, .dev = 0);
	id = ANSWER(cuCtxCreate_v2)->ctx;
	ASK(current, .ctx = id);
	return id;
}

static uint64_t new_stream(void)
{
	ASK(cuStreamCreate, .flags = 1);
	return ANSWER(cuStreamCreate)->stream;
}

static int set_up(void **state)
{
	fake_begin(&s, 1 << 20);
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
	ctx = new_context();
	stream = new_stream();
	return 0;
}

static int tear_down(void **state)
{
	fake_end(&s);
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
	ASK(cuMemsetD8Async, .n = 8, .stream = stream, .value = value);
}

static void grant(uint32_t turn, uint64_t ns)
{
	shared.turn_ns = ns;
	shared.turn = turn;
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

static void alone(void **state)
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

static void waits_for_a_turn(void **state)
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
	ASK(cuCtxGetLimit, .limit = 0);
	assert_true(fake_last.seq);
	ASK(current, .ctx = 0);
	ASK(cuMemGetInfo_v2, .want = 3);
	assert_true(fake_last.seq);
	assert_int_equal(s.current, ctx);
	ASK(current, .ctx = ctx);
	ASK(cuStreamQuery, .stream = stream);
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
static void batches(void **state)
{
	unsigned int i, under_way;

	shared.closed = shared.wanted = 1;
	grant(1, 5000000);
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
static void unwanted(void **state)
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
static void lost(void **state)
{
	shared.closed = shared.wanted = 1;
	grant(3, 1000000);
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
static void a_word_to_come(void **state)
{
	uint64_t second = new_stream();
	unsigned int turn, i;

	s.library.cuStreamWriteValue32_v2 = write_word;
	writes = 0;
	shared.closed = shared.wanted = 1;
	grant(1, 1000000);
	gpu_busy = true;
	ASK(cuStreamWaitValue32_v2, .stream = stream, .at = 1 << 20, .value = 1);
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

static void opened(void **state)
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
static void what_ends(void **state)
{
	uint64_t other;

	shared.closed = shared.wanted = 1;
	grant(1, 1000000);
	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamDestroy_v2, .stream = stream);
	go_on(true);
	go_on(true);
	assert_int_equal(shared.done, 0);
	took_ms = 40;
	gpu_busy = false;
	go_on(true);
	go_on(true);
	assert_int_equal(shared.used, 40000000);
	assert_int_equal(shared.done, 1);

	stream = new_stream();
	grant(2, 1000000);
	gpu_busy = true;
	fill_with(2);
	go_on(true);
	ASK(cuCtxDestroy_v2, .ctx = ctx);
	go_on(true);
	/* work in another context waits until the work under way in this one is done */
	ctx = new_context();
	stream = new_stream();
	grant(3, 1000000000);
	fill_with(3);
	assert_int_equal(fills, 3);
	other = new_context();
	assert_true(other);
	stream = new_stream();
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
static void context_stays(void **state)
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
static void orphans(void **state)
{
	unsigned int i;

	gpu_busy = true;
	for (i = 0; i < 100; i++) {
		fill_with(i);
		ASK(cuStreamDestroy_v2, .stream = stream);
		stream = new_stream();
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
static void many_streams(void **state)
{
	unsigned int i, round;

	shared.closed = shared.wanted = 1;
	for (round = 1; round < 200; round++) {
		grant(round, 2000000);
		for (i = 0; i < 40; i++) {
			stream = i % 3 ? new_stream() : stream;
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
static void pieces(void **state)
{
	shared.closed = 1;
	ASK(copy_in, .stream = stream, .at = 0, .bytes = 8);
	ASK(cuCtxGetLimit, .limit = 0);
	assert_false(fake_last.seq);
	grant(1, 1000000);
	go_on(true);
	assert_true(fake_last.seq);
	shared.turn = 0;
	go_on(true);
	fake_share(&s);
	ASK(copy_in, .stream = stream, .at = 0, .bytes = 8);
	ASK(cuCtxGetLimit, .limit = 0);
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
static void captured(void **state)
{
	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamBeginCapture_v2, .stream = stream, .mode = 2);
	busy_until_idle();
	ASK(cuStreamEndCapture, .stream = stream);

	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamBeginCaptureToGraph, .stream = stream, .mode = 2);
	busy_until_idle();
	ASK(cuStreamEndCapture, .stream = stream);

	gpu_busy = null_alone = true;
	ASK(cuMemsetD8Async, .n = 8, .stream = 0, .value = 1);
	ASK(cuStreamBeginCapture_v2, .stream = stream, .mode = 2);
	busy_until_idle();
	ASK(cuStreamEndCapture, .stream = stream);

	/* a capture within a turn */
	null_alone = false;
	shared.closed = shared.wanted = 1;
	grant(1, 1000000);
	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamBeginCapture_v2, .stream = stream, .mode = 2);
	go_on(true);
	assert_true(shared.done != 1 || shared.busy);
	go_on(true);
	assert_true(shared.done != 1 || shared.busy);
	busy_until_idle();
}

/*
 * Managed memory's pages are copied at once, whoever has the turn. While turns are needed this is
 * charged by the clock, and once.
 */
static void at_once(void **state)
{
	uint64_t used;

	s.library.cuStreamSynchronize = synchronize;
	ASK(managed_in, .dst = 4096, .bytes = 64);
	assert_int_equal(shared.used, 0);
	shared.closed = shared.wanted = 1;
	ASK(managed_in, .dst = 4096, .bytes = 64);
	assert_int_equal(shared.used, SLOW_NS);
	shared.used = 0;
	ASK(managed_out, .src = 4096, .bytes = 64);
	assert_int_equal(shared.used, SLOW_NS);
	/* in a turn too, and the GPU time of work before and behind it is not charged again */
	shared.used = 0;
	took_ms = 1;
	grant(1, 10000000000);
	fill_with(1);
	ASK(managed_out, .src = 4096, .bytes = 64);
	assert_int_equal(shared.used, SLOW_NS);
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
static void memory_takes_time(void **state)
{
	s.library.cuMemAlloc_v2 = slow_alloc;
	s.library.cuMemFree_v2 = slow_free;
	ASK(cuMemAlloc_v2, .bytes = 1 << 30);
	assert_int_equal(shared.used, 0);
	shared.closed = shared.wanted = 1;
	ASK(cuMemAlloc_v2, .bytes = 1 << 30);
	assert_int_equal(shared.used, SLOW_NS);
	shared.used = 0;
	ASK(cuMemFree_v2, .ptr = 1 << 20);
	assert_int_equal(shared.used, SLOW_NS);
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
static void other_memory_takes_time(void **state)
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
	shared.used = 0;
	ASK(cuMemRelease, .handle = handle);
	assert_int_equal(shared.used, SLOW_NS);
	shared.used = 0;
	ASK(cuMemFreeAsync, .ptr = 1 << 20, .stream = stream);
	assert_int_equal(shared.used, SLOW_NS);
}

/* The end of a context or of a module gives back all that it has. */
static void ends_take_time(void **state)
{
	struct q_image image = { .bytes = 16 };
	uint64_t module;

	s.library.cuCtxDestroy_v2 = slow_end;
	s.library.cuModuleUnload = slow_unload;
	memcpy(s.arena, ".version 7.8\n", 14);
	ask(OP_image, &image, sizeof(image));
	module = ANSWER(image)->module;
	assert_true(module);
	shared.closed = shared.wanted = 1;
	ASK(cuModuleUnload, .module = module);
	assert_int_equal(shared.used, SLOW_NS);
	shared.used = 0;
	ASK(cuCtxDetach, .ctx = ctx);
	assert_int_equal(shared.used, SLOW_NS);
	shared.used = 0;
	ctx = new_context();
	ASK(cuCtxDestroy_v2, .ctx = ctx);
	assert_int_equal(shared.used, SLOW_NS);
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
static void at_a_turns_end(void **state)
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
static void joins(void **state)
{
	uint64_t origin = new_stream(), event;

	ASK(cuEventCreate, .flags = 0);
	event = ANSWER(cuEventCreate)->event;
	ASK(cuStreamBeginCapture_v2, .stream = origin, .mode = 2);
	ASK(cuStreamEndCapture, .stream = stream);
	assert_int_equal(fake_last.result, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	shared.closed = shared.wanted = 1;
	grant(1, 1000000);
	gpu_busy = true;
	fill_with(1);
	assert_int_equal(fills, 1);
	ASK(cuStreamWaitEvent, .stream = stream, .event = event);
	ASK(cuStreamEndCapture, .stream = stream);
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
static void strange_stream(void **state)
{
	uint64_t theirs = stream, other;
	CUstream s_theirs;

	assert_true(stream_find(&s, theirs, &s_theirs));
	other = new_context();
	assert_true(other);
	shared.closed = shared.wanted = 1;
	grant(1, 1000000);
	strange = s_theirs;
	gpu_busy = true;
	stream = theirs;
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
static void pauses(void **state)
{
	uint64_t one = ctx, other = new_context(), first = stream, second = new_stream();
	unsigned int i;

	shared.closed = 1;
	grant(1, 1000000000);
	for (i = 0; i < 10; i++) {
		ASK(current, .ctx = i % 2 ? one : other);
		stream = i % 2 ? first : second;
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(waits_for_a_turn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(batches, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unwanted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_word_to_come, set_up, tear_down),
		cmocka_unit_test_setup_teardown(opened, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(context_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(orphans, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_streams, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pieces, set_up, tear_down),
		cmocka_unit_test_setup_teardown(captured, set_up, tear_down),
		cmocka_unit_test_setup_teardown(at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_takes_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_memory_takes_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_take_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(at_a_turns_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(joins, set_up, tear_down),
		cmocka_unit_test_setup_teardown(strange_stream, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pauses, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
