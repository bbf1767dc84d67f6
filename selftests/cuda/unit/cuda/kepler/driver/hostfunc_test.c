// SPDX-License-Identifier: MIT
/* Which queues copies take beside host functions, on a fake device. */
#include <selftests/unit_test.h>
#include <unistd.h>

#include "one_context.h"

static void until_told(void *told)
{
	while (!__atomic_load_n((bool *)told, __ATOMIC_ACQUIRE))
		usleep(1000);
}

/* False: a hang, after a minute. Then end the host function that may cause it. */
static bool gets_through(CUstream s, bool *told)
{
	unsigned int ms = 60000;

	while (ms-- && cuStreamQuery(s) == CUDA_ERROR_NOT_READY)
		usleep(1000);
	if (!cuStreamQuery(s))
		return true;
	__atomic_store_n(told, true, __ATOMIC_RELEASE);
	return false;
}

/*
 * Copies that wait for a host function, or for work that does, hold up no other stream's copy: the
 * function may wait for that.
 */
TEST(copies_pass_by_host_functions)
{
	CUstream held, behind, other;
	CUevent filled, timed;
	static bool told;
	CUdeviceptr d;
	char *host;

	told = false;
	OK(cuMemAlloc_v2(&d, 4 * 4096));
	OK(cuMemHostAlloc((void **)&host, 4 * 4096, 0));
	memset(host, 0, 4 * 4096);
	OK(cuStreamCreate(&held, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&behind, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
	OK(cuEventCreate(&timed, 0));
	OK(cuLaunchHostFunc(held, until_told, &told));
	OK(cuMemcpyDtoHAsync_v2(host, d, 4096, held));
	OK(cuMemcpyHtoDAsync_v2(d + 4096, host + 4096, 4096, other));
	assert_true(gets_through(other, &told));
	OK(cuMemsetD8Async(d, 5, 4096, held));
	OK(cuEventRecord(filled, held));
	OK(cuEventRecord(timed, held));
	OK(cuStreamWaitEvent(behind, filled, 0));
	OK(cuMemcpyDtoHAsync_v2(host + 2 * 4096, d, 4096, behind));
	OK(cuMemcpyHtoDAsync_v2(d + 4096, host + 4096, 4096, other));
	assert_true(gets_through(other, &told));
	assert_int_equal(cuStreamQuery(behind), CUDA_ERROR_NOT_READY);
	assert_int_equal(host[2 * 4096], 0);
	__atomic_store_n(&told, true, __ATOMIC_RELEASE);
	OK(cuStreamSynchronize(behind));
	assert_int_equal(host[2 * 4096], 5);
	OK(cuStreamSynchronize(held));
	/* copies are beside fills again */
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cuMemsetD8Async(d, 6, 4096, held));
	OK(cuMemcpyHtoDAsync_v2(d + 4096, host + 4096, 4096, behind));
	assert_true(gets_through(behind, &told));
	fake_hold[QUEUE_COMPUTE] = false;
	OK(cuCtxSynchronize());
	OK(cuMemFreeHost(host));
	OK(cuMemFree_v2(d));
}

TEST_MAIN(set_up, tear_down)
