// SPDX-License-Identifier: MIT
/*
 * Fences for events: a stream of the client's own is kept for the next fence, but not when a call
 * or the thread's start fails. There is no server.
 */
#include <errno.h>
#include <selftests/unit_test.h>
#include <unistd.h>

#include <remote/channel/signals.h>
#include <remote/client/peer_copy.h>

enum { STREAM = 7, EVENT = 8 };

/* --------------------------------- in the place of the client's other files and the channel */

static struct object context = { .id = 3 };
static struct object event;
static uint16_t fails; /* calls of this operation fail */
static bool no_threads;
static uint64_t made, ended, waiting, fence;
static unsigned int acknowledged; /* use __atomic */

CUresult call_sync(struct call *c, size_t fixed)
{
	static struct a_cuStreamCreate stream;

	if (c->op == fails)
		return CUDA_ERROR_UNKNOWN;
	if (c->op == OP_cuStreamCreate) {
		stream.stream = 100 + ++made;
		c->answer = &stream;
	} else if (c->op == OP_cuStreamDestroy_v2) {
		ended = ((const struct q_cuStreamDestroy_v2 *)c->fixed)->stream;
	} else if (c->op == OP_cuStreamWaitEvent) {
		waiting = ((const struct q_cuStreamWaitEvent *)c->fixed)->stream;
	} else if (c->op == OP_host_call) {
		fence = ((const struct q_host_call *)c->fixed)->id;
	}
	return CUDA_SUCCESS;
}

CUresult call_acknowledge(struct peer *p, uint64_t invocation)
{
	__atomic_add_fetch(&acknowledged, 1, __ATOMIC_SEQ_CST);
	return CUDA_SUCCESS;
}

int signals_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	return no_threads ? -EAGAIN : -pthread_create(thread, NULL, run, arg);
}

CUresult route_stream(struct route *to, CUstream stream, uint64_t *id)
{
	to->peer = &peers[0];
	*id = STREAM;
	return CUDA_SUCCESS;
}

bool handle_id(unsigned int class, const void *handle, uint64_t *id)
{
	*id = EVENT;
	return true;
}

struct object *object_of(unsigned int class, const void *handle)
{
	return &event;
}
const struct object *object_context(const struct object *o)
{
	return &context;
}

static unsigned int copies; /* use __atomic */
CUresult peer_copy_alone(CUdeviceptr dst, CUdeviceptr src, uint64_t bytes)
{
	usleep(20000);
	__atomic_add_fetch(&copies, 1, __ATOMIC_SEQ_CST);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ */

static CUresult wait_for(void)
{
	return cross_fence_event((CUstream)&peers, (CUevent)&event, 0);
}

/* The stream that was made for a failed fence has ended. The next fence does not get it. */
static void expect_failure(CUresult r)
{
	uint64_t before = made;

	ended = 0;
	assert_int_equal(wait_for(), r);
	assert_int_equal(made, before + 1);
	assert_int_equal(ended, 100 + made);
}

TEST(failures)
{
	fails = OP_cuStreamCreate;
	assert_int_equal(wait_for(), CUDA_ERROR_UNKNOWN);
	fails = OP_cuStreamWaitEvent;
	expect_failure(CUDA_ERROR_UNKNOWN);
	fails = OP_host_call;
	expect_failure(CUDA_ERROR_UNKNOWN);
	fails = 0;
	no_threads = true;
	expect_failure(CUDA_ERROR_OUT_OF_MEMORY);
	no_threads = false;
	assert_int_equal(peers[0].slow, 0);
}

TEST(one_stream_serves_many_fences)
{
	uint64_t before = made;
	unsigned int i;

	ended = 0;
	for (i = 1; i <= 3; i++) {
		assert_int_equal(wait_for(), CUDA_SUCCESS);
		assert_int_equal(waiting, 100 + before + 1);
		assert_int_equal(peers[0].slow, SLOW_FENCES);
		cross_fence_notified(&peers[0], fence, i);
		while (__atomic_load_n(&acknowledged, __ATOMIC_SEQ_CST) < i)
			usleep(1000);
	}
	assert_int_equal(made, before + 1);
	assert_int_equal(ended, 0);
	assert_int_equal(peers[0].slow, 0);
}

/* also when its server says so twice, or another one does */
TEST(a_stream_comes_to_its_fence_once)
{
	unsigned int before = __atomic_load_n(&acknowledged, __ATOMIC_SEQ_CST);

	assert_int_equal(cross_fence_copy((CUstream)&peers, 1, 2, 3), CUDA_SUCCESS);
	cross_fence_notified(&peers[1], fence, 1);
	cross_fence_notified(&peers[0], fence, 2);
	cross_fence_notified(&peers[0], fence, 3);
	while (__atomic_load_n(&acknowledged, __ATOMIC_SEQ_CST) < before + 3)
		usleep(1000);
	usleep(50000);
	assert_int_equal(__atomic_load_n(&copies, __ATOMIC_SEQ_CST), 1);
}

TEST_MAIN(NULL, NULL)
