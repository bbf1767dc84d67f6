// SPDX-License-Identifier: MIT
/*
 * cuCheckpointProcess...(), on a fake device: states, errors, what other threads' calls do
 * meanwhile. selftests/cuda/moved.c looks at memory.
 */
#include <selftests/unit_test.h>
#include <pthread.h>
#include <unistd.h>

#include "one_context.h"

#define PID ((int)getpid())

static CUprocessState state_now(void)
{
	CUprocessState state = CU_PROCESS_STATE_FAILED;

	OK(cuCheckpointProcessGetState(PID, &state));
	return state;
}

static uint64_t used(void)
{
	size_t free_bytes, total;

	OK(cuMemGetInfo_v2(&free_bytes, &total));
	return total - free_bytes;
}

static int set_up_movable(void **state)
{
	setenv("KVGPU_CHECKPOINT", "1", 1);
	fake_host_full = false;
	fake_vram = 64 << 20;
	return set_up(state);
}

TEST(each_call_wants_its_state)
{
	CUdeviceptr d;

	OK(cuMemAlloc_v2(&d, 8 << 20));
	assert_int_equal(state_now(), CU_PROCESS_STATE_RUNNING);
	assert_int_equal(cuCheckpointProcessCheckpoint(PID, NULL), CUDA_ERROR_ILLEGAL_STATE);
	assert_int_equal(cuCheckpointProcessRestore(PID, NULL), CUDA_ERROR_ILLEGAL_STATE);
	assert_int_equal(cuCheckpointProcessUnlock(PID, NULL), CUDA_ERROR_ILLEGAL_STATE);
	OK(cuCheckpointProcessLock(PID, NULL));
	assert_int_equal(state_now(), CU_PROCESS_STATE_LOCKED);
	assert_int_equal(cuCheckpointProcessLock(PID, NULL), CUDA_ERROR_ILLEGAL_STATE);
	assert_int_equal(cuCheckpointProcessRestore(PID, NULL), CUDA_ERROR_ILLEGAL_STATE);
	OK(cuCheckpointProcessCheckpoint(PID, NULL));
	assert_int_equal(state_now(), CU_PROCESS_STATE_CHECKPOINTED);
	assert_int_equal(cuCheckpointProcessLock(PID, NULL), CUDA_ERROR_ILLEGAL_STATE);
	assert_int_equal(cuCheckpointProcessCheckpoint(PID, NULL), CUDA_ERROR_ILLEGAL_STATE);
	assert_int_equal(cuCheckpointProcessUnlock(PID, NULL), CUDA_ERROR_ILLEGAL_STATE);
	OK(cuCheckpointProcessRestore(PID, NULL));
	assert_int_equal(state_now(), CU_PROCESS_STATE_LOCKED);
	OK(cuCheckpointProcessUnlock(PID, NULL));
	assert_int_equal(state_now(), CU_PROCESS_STATE_RUNNING);
	OK(cuCheckpointProcessLock(PID, NULL));
	OK(cuCheckpointProcessUnlock(PID, NULL));
	OK(cuMemFree_v2(d));
}

TEST(arguments)
{
	CUcheckpointLockArgs lock = { .reserved1 = { [6] = 1 } };
	CUcheckpointCheckpointArgs checkpoint = { { [7] = 1 } };
	CUcheckpointRestoreArgs restore = { .reserved = { [51] = 1 } };
	CUcheckpointUnlockArgs unlock = { { 1 } };
	CUprocessState now;

	assert_int_equal(sizeof(lock), 64);
	assert_int_equal(sizeof(restore), 64);
	assert_int_equal(cuCheckpointProcessLock(PID, &lock), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCheckpointProcessCheckpoint(PID, &checkpoint), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCheckpointProcessRestore(PID, &restore), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCheckpointProcessUnlock(PID, &unlock), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCheckpointProcessLock(0, NULL), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCheckpointProcessLock(PID + 1, NULL), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(cuCheckpointProcessGetState(1, &now), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(cuCheckpointProcessGetState(PID, NULL), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(state_now(), CU_PROCESS_STATE_RUNNING);
}

/* A lock waits for work, and takes nothing where that does not end in time. */
TEST(a_lock_waits_for_work)
{
	CUcheckpointLockArgs args = { .timeoutMs = 20 };
	CUdeviceptr d;

	OK(cuMemAlloc_v2(&d, 4096));
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cuMemsetD8Async(d, 5, 4096, NULL));
	assert_int_equal(cuCheckpointProcessLock(PID, &args), CUDA_ERROR_NOT_READY);
	assert_int_equal(state_now(), CU_PROCESS_STATE_RUNNING);
	OK(cuMemsetD8Async(d, 6, 4096, NULL));
	fake_hold[QUEUE_COMPUTE] = false;
	/* the fake device fails where work is unfinished */
	OK(cuCheckpointProcessLock(PID, &args));
	OK(cuCheckpointProcessCheckpoint(PID, NULL));
	OK(cuCheckpointProcessRestore(PID, NULL));
	OK(cuCheckpointProcessUnlock(PID, NULL));
	OK(cuMemFree_v2(d));
}

static bool over;

static void *allocate(void *arg)
{
	CUdeviceptr d;
	CUresult r = cuCtxSetCurrent(ctx);

	r = r ? r : cuMemAlloc_v2(&d, 4096);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	r = r ? r : cuMemFree_v2(d);
	return (void *)(uintptr_t)r;
}

static void *make_context(void *arg)
{
	CUcontext mine;
	CUresult r = cuCtxCreate_v2(&mine, 0, 0);

	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	r = r ? r : cuCtxDestroy_v2(mine);
	return (void *)(uintptr_t)r;
}

static void *lock_too(void *arg)
{
	CUcheckpointLockArgs args = { .timeoutMs = 1 };
	CUresult locked = cuCheckpointProcessLock(PID, &args),
		 unlocked = cuCheckpointProcessUnlock(PID, NULL);

	return (void *)(uintptr_t)(locked == CUDA_ERROR_ILLEGAL_STATE &&
				   unlocked == CUDA_ERROR_NOT_PERMITTED);
}

TEST(other_threads_wait)
{
	void *(*const calls[])(void *) = { allocate, make_context };
	pthread_t thread;
	unsigned int i;
	void *r;

	for (i = 0; i < 2; i++) {
		over = false;
		OK(cuCheckpointProcessLock(PID, NULL));
		assert_int_equal(pthread_create(&thread, NULL, calls[i], NULL), 0);
		usleep(20000);
		OK(cuCheckpointProcessCheckpoint(PID, NULL));
		OK(cuCheckpointProcessRestore(PID, NULL));
		assert_false(__atomic_load_n(&over, __ATOMIC_ACQUIRE));
		OK(cuCheckpointProcessUnlock(PID, NULL));
		pthread_join(thread, &r);
		assert_null(r);
	}
	OK(cuCheckpointProcessLock(PID, NULL));
	assert_int_equal(pthread_create(&thread, NULL, lock_too, NULL), 0);
	pthread_join(thread, &r);
	assert_non_null(r);
	OK(cuCheckpointProcessUnlock(PID, NULL));
}

TEST(managed_memory_is_refused)
{
	CUdeviceptr d;

	fake_same = true;
	OK(cuMemAllocManaged(&d, 4096, 1));
	OK(cuCheckpointProcessLock(PID, NULL));
	assert_int_equal(cuCheckpointProcessCheckpoint(PID, NULL), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(state_now(), CU_PROCESS_STATE_LOCKED);
	OK(cuCheckpointProcessUnlock(PID, NULL));
	OK(cuMemsetD8_v2(d, 3, 4096));
	OK(cuMemFree_v2(d));
	OK(cuCheckpointProcessLock(PID, NULL));
	OK(cuCheckpointProcessCheckpoint(PID, NULL));
	OK(cuCheckpointProcessRestore(PID, NULL));
	OK(cuCheckpointProcessUnlock(PID, NULL));
}

/* Two contexts: where one finds no room, neither is moved. */
TEST(no_room)
{
	CUcontext second;
	CUdeviceptr d, e;

	OK(cuMemAlloc_v2(&d, 8 << 20));
	OK(cuCtxCreate_v2(&second, 0, 0));
	OK(cuMemAlloc_v2(&e, 16 << 20));
	OK(cuCheckpointProcessLock(PID, NULL));
	fake_host_full = true;
	assert_int_equal(cuCheckpointProcessCheckpoint(PID, NULL), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(state_now(), CU_PROCESS_STATE_LOCKED);
	OK(cuCheckpointProcessUnlock(PID, NULL));
	assert_true(used() >= 16 << 20);
	fake_host_full = false;
	OK(cuCheckpointProcessLock(PID, NULL));
	OK(cuCheckpointProcessCheckpoint(PID, NULL));
	fake_vram = 12 << 20;
	assert_int_equal(cuCheckpointProcessRestore(PID, NULL), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(state_now(), CU_PROCESS_STATE_CHECKPOINTED);
	assert_int_equal(ctx->device->ops->vram_used(ctx->device), 0);
	fake_vram = 64 << 20;
	OK(cuCheckpointProcessRestore(PID, NULL));
	assert_int_equal(ctx->device->ops->vram_used(ctx->device), 8 << 20);
	OK(cuCheckpointProcessUnlock(PID, NULL));
	assert_true(used() >= 16 << 20);
	OK(cuMemFree_v2(e));
	OK(cuCtxDestroy_v2(second));
	OK(cuMemFree_v2(d));
}

TEST(memory_comes_back_to_its_own_gpu)
{
	CUcheckpointGpuPair pairs[2];
	CUcheckpointRestoreArgs args = { .gpuPairs = NULL, .gpuPairsCount = 1 };
	CUuuid uuid;

	OK(cuDeviceGetUuid(&uuid, 0));
	OK(cuCheckpointProcessLock(PID, NULL));
	OK(cuCheckpointProcessCheckpoint(PID, NULL));
	assert_int_equal(cuCheckpointProcessRestore(PID, &args), CUDA_ERROR_INVALID_VALUE);
	args.gpuPairs = pairs;
	memset(pairs, 1, sizeof(pairs));
	assert_int_equal(cuCheckpointProcessRestore(PID, &args), CUDA_ERROR_INVALID_VALUE);
	pairs[0].oldUuid = uuid;
	assert_int_equal(cuCheckpointProcessRestore(PID, &args), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(state_now(), CU_PROCESS_STATE_CHECKPOINTED);
	pairs[0].newUuid = uuid;
	OK(cuCheckpointProcessRestore(PID, &args));
	OK(cuCheckpointProcessUnlock(PID, NULL));
}

static CUresult asked;

static void ask(void *arg)
{
	asked = cuCheckpointProcessLock(PID, NULL);
}

/* Nor does a context with an error keep the process from being locked. */
TEST(host_functions_may_not)
{
	OK(cuLaunchHostFunc(NULL, ask, NULL));
	OK(cuCtxSynchronize());
	assert_int_equal(asked, CUDA_ERROR_NOT_PERMITTED);
	__atomic_store_n(&ctx->sticky, CUDA_ERROR_UNKNOWN, __ATOMIC_RELEASE);
	OK(cuCheckpointProcessLock(PID, NULL));
	OK(cuCheckpointProcessUnlock(PID, NULL));
	__atomic_store_n(&ctx->sticky, CUDA_SUCCESS, __ATOMIC_RELEASE);
}

TEST_MAIN(set_up_movable, tear_down)
