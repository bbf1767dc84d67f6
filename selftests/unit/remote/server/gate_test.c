// SPDX-License-Identifier: MIT
/*
 * The gate: what waits for a turn on the GPU, what passes by, how much is under way at once, what
 * is accounted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "fake.h"

static struct server s;
static struct door door;
static int bell[2];
static unsigned int fills, began;	/* that reached the library; and the last one's byte */
static bool gpu_busy;
static float took_ms;
/* this stream does; and with it the null stream can't be asked */
static CUstream captures;
static bool null_alone;			/* has the work that makes the GPU busy */
static void *strange;			/* events can't be recorded in this stream */

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
	*status = captures && stream == captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE :
						   CU_STREAM_CAPTURE_STATUS_NONE;
	return captures && !stream ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

static CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
	captures = stream;
	return CUDA_SUCCESS;
}

static CUresult end_capture(CUstream stream, CUgraph *graph)
{
	captures = NULL;
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
	struct kvgpu_remote_head h = { .seq = ++seq, .op = op, .box = 1, .bytes = n };
	uint64_t *copy = malloc(n + 1);

	memcpy(copy, payload, n);
	fake_last = (struct kvgpu_remote_answer){ .seq = 0, .result = 0 };
	assert_int_equal(gate_frame(&s, &h, copy), 0);
	free(copy);
}

#define ASK(name, ...) ask(OP_##name, &(struct q_##name){ __VA_ARGS__ }, sizeof(struct q_##name))
#define ANSWER(name) ((const struct a_##name *)fake_payload)

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
	s.library.cuStreamEndCapture = end_capture;
	memset(&door, 0, sizeof(door));
	fills = began = 0;
	gpu_busy = false;
	captures = strange = NULL;
	null_alone = false;
	took_ms = 1;
	if (pipe2(bell, O_NONBLOCK) || gate_begin(&s, &door, bell[1]))
		return -1;
	ctx = new_context();
	stream = new_stream();
	return 0;
}

static int tear_down(void **state)
{
	fake_end(&s);
	close(bell[0]);
	close(bell[1]);
	return 0;
}

static bool rang(void)
{
	char c[64];

	return read(bell[0], c, sizeof(c)) > 0;
}

static void fill_with(uint8_t value)
{
	ASK(cuMemsetD8Async, .n = 8, .stream = stream, .value = value);
}

static void grant(uint32_t turn, uint64_t ns)
{
	door.turn_ns = ns;
	door.turn = turn;
}

/* as the loop does it */
static void go_on(bool quiet)
{
	gate_look(&s, quiet);
	gate_go_on(&s);
}

static void alone(void **state)
{
	fill_with(1);
	assert_int_equal(fills, 1);
	assert_int_equal(door.busy, 1);
	assert_false(rang());
	fill_with(2);
	assert_int_equal(fills, 2);
	gpu_busy = true;
	go_on(true);
	usleep(3000);
	go_on(true);
	assert_true(s.untracked && door.busy);
	gpu_busy = false;
	usleep(50000);
	go_on(true);
	assert_false(s.untracked || door.busy);
	door.watched = 1;
	fill_with(3);
	assert_true(rang());
	fill_with(4);
	assert_false(rang());
	assert_int_equal(door.used, 0);
}

static void waits_for_a_turn(void **state)
{
	unsigned int i;

	door.closed = 1;
	for (i = 1; i <= 3; i++)
		fill_with(i);
	assert_int_equal(fills, 0);
	assert_int_equal(door.want, 1);
	assert_int_equal(door.busy, 0);
	assert_true(rang());
	/*
	 * a getter does not wait, in whatever context; what could see the work does, and keeps its
	 * place
	 */
	ASK(cuCtxGetLimit, .limit = 0);
	assert_true(fake_last.seq);
	ASK(current, .ctx = 0);
	ask(OP_cuMemGetInfo_v2, "", 0);
	assert_true(fake_last.seq);
	assert_int_equal(s.current, ctx);
	ASK(current, .ctx = ctx);
	ASK(cuStreamQuery, .stream = stream);
	assert_false(fake_last.seq);
	fill_with(4);
	go_on(true);
	assert_int_equal(fills, 0);
	grant(7, 1000000);
	gate_go_on(&s);
	assert_int_equal(fills, 4);
	assert_int_equal(began, 4);
	assert_true(fake_last.seq);
	assert_int_equal(door.want, 0);
	assert_int_equal(door.busy, 1);
}

/*
 * so much is under way and no more; what it took is accounted, and the turn is given back when it
 * is over and all is through
 */
static void batches(void **state)
{
	unsigned int i, under_way;

	door.closed = door.wanted = 1;
	grant(1, 5000000);
	gpu_busy = true;
	for (i = 0; i < 100; i++)
		fill_with(i);
	under_way = fills;
	assert_in_range(under_way, 2, 16);
	go_on(true);
	assert_int_equal(fills, under_way);
	assert_int_equal(door.used, 0);
	took_ms = 3;
	gpu_busy = false;
	go_on(false);
	assert_int_equal(door.used, 3000000);
	assert_true(fills > under_way);
	gpu_busy = true;
	took_ms = 6;
	go_on(false);
	gpu_busy = false;
	go_on(false);
	assert_int_equal(door.used, 6000000);
	under_way = fills;
	for (i = 0; i < 4; i++)
		go_on(false);
	assert_int_equal(fills, under_way);
	assert_int_equal(door.done, 1);
	assert_int_equal(door.want, 1);
	assert_int_equal(door.busy, 0);
	assert_true(rang());
	/* the old turn is none; the next one is */
	go_on(true);
	assert_int_equal(fills, under_way);
	grant(2, 5000000);
	go_on(true);
	assert_true(fills > under_way);
}

/* nobody else wants it: there is no end */
static void unwanted(void **state)
{
	unsigned int i;

	door.closed = 1;
	grant(1, 1000);
	for (i = 0; i < 1000; i++) {
		fill_with(i);
		took_ms = i;
		go_on(true);
	}
	assert_int_equal(fills, 1000);
	assert_int_equal(door.done, 0);
	/* and without work it is given back after a moment */
	for (i = 0; i < 100 && !door.done; i++) {
		usleep(300);
		go_on(true);
	}
	assert_int_equal(door.done, 1);
	assert_int_equal(door.want, 0);
}

/* it took too long: the arbiter's affair from then on, until all is through */
static void lost(void **state)
{
	door.closed = door.wanted = 1;
	grant(3, 1000000);
	fill_with(1);
	gpu_busy = true;
	go_on(true);
	door.turn = 0;
	go_on(true);
	fill_with(2);
	assert_int_equal(fills, 1);
	assert_int_equal(door.busy, 1);
	assert_int_equal(door.want, 1);
	gpu_busy = false;
	usleep(50000);
	go_on(true);
	assert_int_equal(door.busy, 0);
	assert_int_equal(door.used, 0);
	grant(4, 1000000);
	go_on(true);
	assert_int_equal(fills, 2);
}

static void opened(void **state)
{
	unsigned int i;

	door.closed = 1;
	for (i = 0; i < 10; i++)
		fill_with(i);
	assert_int_equal(fills, 0);
	door.closed = 0;
	go_on(true);
	assert_int_equal(fills, 10);
	assert_int_equal(door.want, 0);
	assert_true(s.untracked);
	/* while it has a turn, too */
	door.closed = 1;
	grant(2, 1000000);
	fill_with(11);
	door.closed = door.turn = 0;
	go_on(true);
	fill_with(12);
	assert_int_equal(began, 12);
}

/* a stream that is destroyed takes no work along; with a context all of it ends */
static void what_ends(void **state)
{
	uint64_t other;

	door.closed = door.wanted = 1;
	grant(1, 1000000);
	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamDestroy_v2, .stream = stream);
	go_on(true);
	go_on(true);
	assert_int_equal(door.done, 0);
	took_ms = 40;
	gpu_busy = false;
	go_on(true);
	go_on(true);
	assert_int_equal(door.used, 40000000);
	assert_int_equal(door.done, 1);

	stream = new_stream();
	grant(2, 1000000);
	gpu_busy = true;
	fill_with(2);
	go_on(true);
	ASK(cuCtxDestroy_v2, .ctx = ctx);
	go_on(true);
	/* another context waits until what is under way in this one is through */
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

static CUresult stays(CUcontext c) { return CUDA_ERROR_INVALID_CONTEXT; }

/* a primary context is not destroyed by that call: its work goes on, and is its client's */
static void context_stays(void **state)
{
	unsigned int i;

	s.library.cuCtxDestroy_v2 = stays;
	door.closed = door.wanted = 1;
	for (i = 1; i <= 3; i++) {
		grant(i, 1000000);
		gpu_busy = true;
		fill_with(i);
		assert_int_equal(fills, i);
		ASK(cuCtxDestroy_v2, .ctx = ctx);
		assert_int_equal(fake_last.result, CUDA_ERROR_INVALID_CONTEXT);
		ASK(current, .ctx = ctx);
		go_on(true);
		usleep(1000);
		go_on(true);
		assert_true(door.busy);
		gpu_busy = false;
		usleep(50000);
		go_on(true);
		usleep(1000);
		go_on(true);
		assert_int_equal(door.done, i);
	}
}

/*
 * without turns no account is kept of streams: one that is destroyed with work in it is remembered
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
	usleep(3000);
	go_on(true);
	assert_int_equal(door.busy, 1);
	gpu_busy = false;
	usleep(50000);
	go_on(true);
	assert_int_equal(door.busy, 0);
}

/* in many streams at once, more than a batch has room for */
static void many_streams(void **state)
{
	unsigned int i, round;

	door.closed = door.wanted = 1;
	for (round = 1; round < 200; round++) {
		grant(round, 2000000);
		for (i = 0; i < 40; i++) {
			stream = i % 3 ? new_stream() : stream;
			fill_with(i);
		}
		for (i = 0; i < 100 && door.done != round; i++) {
			took_ms = i;
			go_on(true);
			usleep(i > 50 ? 50 : 0);
		}
		assert_int_equal(door.done, round);
	}
	assert_true(fills > 1000);
}

/* pieces of the arena are free for a client on a socket when a later answer has come */
static void pieces(void **state)
{
	door.closed = 1;
	ASK(copy_in, .stream = stream, .at = 0, .bytes = 8);
	ASK(cuCtxGetLimit, .limit = 0);
	assert_false(fake_last.seq);
	grant(1, 1000000);
	go_on(true);
	assert_true(fake_last.seq);
	door.turn = 0;
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
		usleep(25000);
	}
	assert_int_equal(door.busy, 1);
	gpu_busy = false;
	for (i = 0; i < 100 && door.busy; i++) {
		go_on(true);
		usleep(1000);
	}
	assert_int_equal(door.busy, 0);
}

/*
 * a stream that captures can't be asked whether it has work, and so might be forgotten with it; and
 * the null stream beside it
 */
static void captured(void **state)
{
	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamBeginCapture_v2, .stream = stream, .mode = 2);
	busy_until_idle();
	ASK(cuStreamEndCapture, .stream = stream);

	gpu_busy = null_alone = true;
	ASK(cuMemsetD8Async, .n = 8, .stream = 0, .value = 1);
	ASK(cuStreamBeginCapture_v2, .stream = stream, .mode = 2);
	busy_until_idle();
	ASK(cuStreamEndCapture, .stream = stream);

	/* in a turn */
	null_alone = false;
	door.closed = door.wanted = 1;
	grant(1, 1000000);
	gpu_busy = true;
	fill_with(1);
	ASK(cuStreamBeginCapture_v2, .stream = stream, .mode = 2);
	go_on(true);
	assert_true(door.done != 1 || door.busy);
	go_on(true);
	assert_true(door.done != 1 || door.busy);
	busy_until_idle();
}

/*
 * a stream of another context than the current one: no event can be behind its work, which counts
 * until it is seen to be through
 */
static void strange_stream(void **state)
{
	uint64_t theirs = stream, other;
	CUstream s_theirs;

	assert_true(stream_find(&s, theirs, &s_theirs));
	other = new_context();
	assert_true(other);
	door.closed = door.wanted = 1;
	grant(1, 1000000);
	strange = s_theirs;
	gpu_busy = true;
	stream = theirs;
	fill_with(1);
	go_on(true);
	go_on(true);
	usleep(1000);
	go_on(true);
	assert_true(!door.done || door.busy);
	assert_true(s.untracked);
	busy_until_idle();
}

/* a turn is kept by work here and there, with pauses between: those are not free */
static void pauses(void **state)
{
	uint64_t one = ctx, other = new_context(), first = stream, second = new_stream();
	unsigned int i;

	door.closed = 1;
	grant(1, 1000000000);
	for (i = 0; i < 10; i++) {
		ASK(current, .ctx = i % 2 ? one : other);
		stream = i % 2 ? first : second;
		took_ms = 0.1;
		fill_with(i);
		assert_int_equal(fills, i + 1);
		go_on(true);
		gate_look(&s, false);
		usleep(2000);
	}
	assert_int_equal(door.done, 0);
	assert_true(door.used >= 9 * 2000000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(waits_for_a_turn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(batches, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unwanted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(opened, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(context_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(orphans, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_streams, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pieces, set_up, tear_down),
		cmocka_unit_test_setup_teardown(captured, set_up, tear_down),
		cmocka_unit_test_setup_teardown(strange_stream, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pauses, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
