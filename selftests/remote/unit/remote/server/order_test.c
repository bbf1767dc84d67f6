// SPDX-License-Identifier: MIT
/*
 * The order of the client's functions. The library here does what CUDA allows: it calls functions
 * of independent streams one at a time, and always the last one of those whose streams have come to
 * them.
 */
#include "ask.h"

enum { THINGS = 16 };

/*
 * streams and events by their pointers: which functions each comes after, a bit for each function
 */
static struct thing {
	const void *what;
	uint64_t after;
} things[THINGS];
static struct {
	CUhostFn fn;
	void *data;
	uint64_t after;
} functions[THINGS];
static unsigned int nr_functions;
static uint64_t called; /* a bit for each function */
static uint64_t order[THINGS]; /* the client's numbers of functions, as they were called */
static unsigned int nr_called;

static struct thing *thing(const void *what)
{
	unsigned int i;

	for (i = 0; things[i].what && things[i].what != what; i++)
		assert_true(i + 1 < THINGS);
	things[i].what = what;
	return &things[i];
}

/* the null stream is a thing, too */
static struct thing *stream_thing(CUstream stream)
{
	static const int null;

	return thing(stream ? (const void *)stream : &null);
}

static CUresult record(CUevent e, CUstream stream)
{
	thing(e)->after = stream_thing(stream)->after;
	return CUDA_SUCCESS;
}

static CUresult wait_event(CUstream stream, CUevent e, unsigned int flags)
{
	stream_thing(stream)->after |= thing(e)->after;
	return CUDA_SUCCESS;
}

static CUresult launch(CUstream stream, CUhostFn fn, void *data)
{
	struct thing *t = stream_thing(stream);

	assert_true(nr_functions < THINGS);
	functions[nr_functions].fn = fn;
	functions[nr_functions].data = data;
	functions[nr_functions].after = t->after;
	t->after |= 1ull << nr_functions++;
	return CUDA_SUCCESS;
}

static void call_all(void)
{
	unsigned int i, n;

	for (n = 0; n < nr_functions; n++) {
		for (i = nr_functions; i--;)
			if (!(called & 1ull << i) && !(functions[i].after & ~called))
				break;
		functions[i].fn(functions[i].data);
		order[nr_called++] = fake_event_id;
		called |= 1ull << i;
	}
}

static int begin(void **state)
{
	set_up(state);
	memset(things, 0, sizeof(things));
	nr_functions = nr_called = 0;
	called = 0;
	s.library.cuEventRecord = record;
	s.library.cuStreamWaitEvent = wait_event;
	s.library.cuLaunchHostFunc = launch;
	return 0;
}

static void submit(bool ordered)
{
	const uint64_t first = context(), a = stream(), b = stream(), second = context(),
		       c = stream();
	const uint64_t in[] = { a, b, c, 0, b, a, c, b };
	unsigned int i;

	for (i = 0; i < sizeof(in) / sizeof(*in); i++) {
		/* the stream's context is not always the current one */
		OK(ASK(current, .ctx = i & 1 ? first : second));
		OK(ASK(host_call, .stream = in[i], .id = i, .ordered = ordered));
		assert_int_equal(s.current, i & 1 ? first : second);
	}
	call_all();
	assert_int_equal(nr_called, i);
}

TEST(functions_in_order)
{
	unsigned int i;

	submit(true);
	for (i = 0; i < nr_called; i++)
		assert_int_equal(order[i], i);
}

/* A client with one server does not ask for an order. */
TEST(functions_in_any_order)
{
	submit(false);
	assert_int_equal(order[0], 3); /* the last one that is its stream's first */
}

/* The event ends with its context, and the next function begins anew. */
TEST(contexts_end)
{
	uint64_t ctx = context();

	OK(ASK(host_call, .stream = stream(), .id = 1, .ordered = true));
	assert_non_null(s.hosts.ordered);
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_null(s.hosts.ordered);
	context();
	OK(ASK(host_call, .stream = stream(), .id = 2, .ordered = true));
	call_all();
	assert_int_equal(nr_called, 2);
}

/* The client hears of a function that no stream takes, if it waits for no answer that says so. */
TEST(refused)
{
	struct kvgpu_remote_head h = { .op = OP_host_call, .bytes = sizeof(struct q_host_call) };
	struct q_host_call q = { .id = 7 };

	context();
	q.stream = stream();
	serve_frame(&s, &h, &q);
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_REFUSED], 0);
	OK(ASK(cuStreamDestroy_v2, .stream = q.stream));
	FAILS(ASK(host_call, .stream = q.stream, .id = 8), INVALID_HANDLE);
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_REFUSED], 0);
	serve_frame(&s, &h, &q);
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_REFUSED], 1);
	assert_int_equal(fake_event_id, 7);
	call_all();
}

TEST_MAIN(begin, tear_down)
