// SPDX-License-Identifier: MIT
/*
 * A client's process traces its frames, as the first process says: what the lines have, what of
 * the library is called for that, and that nothing of it is touched without an order.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ask.h"

static struct sleep_shared words;
static struct trace_shared *shared;
static char *text;
static float elapsed_ms; /* what the library said last: an end is asked for ahead of its begin */
static unsigned int records;
static CUstreamCaptureStatus captures;

static CUresult elapsed(float *ms, CUevent from, CUevent to)
{
	*ms = elapsed_ms -= 1;
	return CUDA_SUCCESS;
}

static CUresult record(CUevent e, CUstream stream)
{
	records++;
	return CUDA_SUCCESS;
}

static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
	*status = captures;
	return CUDA_SUCCESS;
}

static int begin(void **state)
{
	set_up(state);
	memset(&words, 0, sizeof(words));
	shared = mmap(NULL, 4096 + TRACE_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	text = (char *)shared + 4096;
	elapsed_ms = 1e6;
	records = 0;
	captures = CU_STREAM_CAPTURE_STATUS_NONE;
	sleep_begin(&s, &words);
	trace_begin(&s, shared, text);
	s.library.cuEventElapsedTime = elapsed;
	s.library.cuEventRecord = record;
	s.library.cuStreamIsCapturing = is_capturing;
	return 0;
}

static int end(void **state)
{
	trace_end(&s, TRACE_GONE);
	munmap(shared, 4096 + TRACE_ROOM);
	return tear_down(state);
}

static void look(void)
{
	struct kvgpu_remote_head h;
	const void *payload;

	assert_int_equal(sleep_look(&s, &h, &payload), -EAGAIN);
}

static void order(void)
{
	shared->ms = 60000;
	shared->rung = words.order + 1;
	shared->order++;
	words.order++;
	look();
	assert_int_equal(shared->begun, shared->order);
	assert_int_equal(shared->state, TRACE_RUNS);
	assert_int_equal(words.done, words.order);
}

static void fill(uint64_t stream)
{
	const struct q_cuMemsetD8Async q = { .dst = 1, .n = 1, .stream = stream };
	const struct kvgpu_remote_head h = { .op = OP_cuMemsetD8Async, .bytes = sizeof(q) };

	s.carry_out(&s, &h, &q);
}

/* how many lines end with @how */
static unsigned int lines(const char *how)
{
	unsigned int n = 0;
	const char *at = text;

	for (; (at = strstr(at, how)); at++)
		n++;
	return n;
}

TEST(without_an_order_nothing_is_touched)
{
	context();
	assert_int_equal(shared->can, 1);
	mprotect(shared, 4096 + TRACE_ROOM, PROT_NONE);
	look();
	fill(stream());
	look();
	assert_ptr_equal(s.carry_out, serve_frame);
	assert_int_equal(records, 0);
	mprotect(shared, 4096 + TRACE_ROOM, PROT_READ | PROT_WRITE);
}

TEST(events_are_around_work)
{
	uint64_t one;

	context();
	one = stream();
	order();
	fill(one);
	assert_int_equal(records, 3); /* the base, too */
	fill(one);
	assert_int_equal(records, 5);
	look();
	assert_int_equal(lines(" gpu\n"), 2);
	trace_end(&s, TRACE_OVER);
	assert_int_equal(shared->state, TRACE_OVER);
	assert_ptr_equal(s.carry_out, serve_frame);
	look();
	assert_int_equal(words.order, s.sleeping.heard);
}

TEST(a_capture_gets_no_event)
{
	context();
	captures = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	order();
	fill(stream());
	look();
	assert_int_equal(records, 0);
	assert_int_equal(lines(" captured\n"), 1);
}

static CUresult not_yet(float *ms, CUevent from, CUevent to)
{
	return CUDA_ERROR_NOT_READY;
}

TEST(what_does_not_end_is_told)
{
	uint64_t ctx = context(), one = stream();

	order();
	s.library.cuEventElapsedTime = not_yet;
	fill(one);
	look();
	assert_int_equal(shared->used, 0);
	trace_end(&s, TRACE_GONE);
	assert_int_equal(lines(" late\n"), 1);
	/* a context takes the events along */
	order();
	fill(one);
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	look();
	assert_int_equal(lines(" unknown\n"), 1);
}

TEST(lines_without_room_are_counted)
{
	unsigned int i;

	context();
	order();
	for (i = 0; !shared->dropped; i++) {
		fill(0);
		look();
	}
	assert_true(i > 30000 && shared->used <= TRACE_ROOM);
	assert_int_equal(shared->dropped, 1);
	assert_int_equal(text[shared->used - 1], '\n');
	trace_end(&s, TRACE_OVER);
	order();
	assert_int_equal(shared->used, 0);
	assert_int_equal(shared->dropped, 0);
}

TEST(what_waits_for_a_turn_came_before)
{
	static struct sched_shared turns;
	struct q_cuMemsetD8Async q = { .dst = 1, .n = 1 };
	const struct kvgpu_remote_head h = { .op = OP_cuMemsetD8Async, .bytes = sizeof(q) };
	unsigned long long came = 0, begun = 0;
	const char *line;

	context();
	q.stream = stream();
	turns = (struct sched_shared){ .closed = 1, .turn_ns = UINT64_MAX };
	assert_int_equal(sched_begin(&s, &turns, -1), 0);
	order();
	assert_int_equal(sched_frame(&s, &h, &q), 0);
	look();
	usleep(1000);
	turns.turn = 1;
	assert_true(sched_go_on(&s));
	look();
	line = strstr(text, "w cuMemsetD8Async ");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "w %*s %*u %*u %*u %*u %llu %llu", &came, &begun), 2);
	assert_true(begun >= came + 1000000);
}

TEST(an_order_to_sleep_beside_a_trace)
{
	context();
	order();
	words.order++; /* to sleep: this library can't, so nothing answers */
	look();
	assert_int_not_equal(words.done, words.order);
	assert_non_null(s.tracing.run);
}

TEST_MAIN(begin, end)
