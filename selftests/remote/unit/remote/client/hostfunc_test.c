// SPDX-License-Identifier: MIT
/*
 * Host functions at the client: a node's parameters are written to the program without the
 * lock. They may go to managed memory, whose fault waits for an answer of the server.
 */
#include <pthread.h>
#include <selftests/unit_test.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <remote/channel/signals.h>
#include <remote/client/client.h>

/* --------------------------------------- in the place of the client's other files and a channel */

bool several;
bool own_stream(CUstream stream)
{
	return true;
}
static uint64_t queued; /* the number of the function that was queued last */
CUresult call_async(struct call *c)
{
	queued = ((const struct q_host_call *)c->fixed)->id;
	return CUDA_SUCCESS;
}
static CUresult told;
void call_refused(struct peer *p, CUresult r)
{
	told = r;
}
CUresult answer_result(uint32_t result)
{
	return result;
}
struct peer *route_peer(struct route *to)
{
	return NULL;
}
static volatile int acks;
CUresult call_acknowledge(struct peer *p, uint64_t invocation)
{
	acks++;
	return CUDA_SUCCESS;
}
int signals_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	return pthread_create(thread, NULL, run, arg);
}

static __thread int held; /* locks that this thread has */
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	held++;
	return __real_pthread_mutex_lock(m);
}
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	held--;
	return __real_pthread_mutex_unlock(m);
}

/* ------------------------------------------------------------------ */

static CUDA_HOST_NODE_PARAMS *closed; /* a page that faults at its first touch */
static volatile int faults, held_in_fault;
static int argument;

static void open_it(int signal)
{
	faults++;
	held_in_fault = held;
	mprotect(closed, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
}

static void nothing(void *data)
{
}

TEST(parameters_are_written_without_the_lock)
{
	const struct sigaction ours = { .sa_handler = open_it };
	struct sigaction before;
	uint64_t id = host_function(NULL, nothing, NULL, NULL, &argument, true);

	assert_int_not_equal(id, 0);
	closed = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(closed, MAP_FAILED);
	assert_false(host_function_get(id + 1, closed));
	assert_int_equal(faults, 0);
	sigaction(SIGSEGV, &ours, &before);
	assert_true(host_function_get(id, closed));
	sigaction(SIGSEGV, &before, NULL);
	assert_int_equal(faults, 1);
	assert_int_equal(held_in_fault, 0);
	assert_ptr_equal(closed->fn, nothing);
	assert_ptr_equal(closed->userData, &argument);
	host_function_drop(id);
	assert_false(host_function_get(id, closed));
}

static volatile int calls;
static CUresult status;

static void called(void *data)
{
	calls++;
}

static void called_back(CUstream stream, CUresult r, void *data)
{
	status = r;
	calls++;
}

static void tell(uint32_t kind, CUresult r)
{
	const struct kvgpu_remote_notification h = { .kind = kind, .value = r, .id = queued };

	host_function_notified(NULL, &h, 0);
}

static void until(int n)
{
	while (calls != n || host_functions_pending())
		usleep(100);
}

/* No stream takes a queued function: it is not called, but a callback is. No ack is due. */
TEST(refused)
{
	assert_int_equal(cuLaunchHostFunc(NULL, called, NULL), CUDA_SUCCESS);
	tell(KVGPU_REMOTE_NOTIFY_CALL, CUDA_SUCCESS);
	until(1);
	assert_int_equal(acks, 1);
	assert_int_equal(cuLaunchHostFunc(NULL, called, NULL), CUDA_SUCCESS);
	assert_true(host_functions_pending());
	tell(KVGPU_REMOTE_NOTIFY_REFUSED, CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(told, CUDA_ERROR_ILLEGAL_ADDRESS);
	until(1);
	tell(KVGPU_REMOTE_NOTIFY_CALL, CUDA_SUCCESS); /* its number is none any more */
	while (acks != 2)
		usleep(100);
	assert_int_equal(cuStreamAddCallback(NULL, called_back, NULL, 0), CUDA_SUCCESS);
	tell(KVGPU_REMOTE_NOTIFY_REFUSED, CUDA_ERROR_OUT_OF_MEMORY);
	until(2);
	assert_int_equal(status, CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(acks, 2);
}

TEST_MAIN(NULL, NULL)
