// SPDX-License-Identifier: MIT
/*
 * cuCheckpointProcess...() of the calling process: its video memory goes to the CPU's memory, so
 * that others have room on the GPU, and comes back to the same addresses.
 *
 * The thread that locks the process holds `table` and the locks of all contexts until it unlocks
 * the process: calls of other threads wait, and `contexts` stay as they are. No thread that holds
 * one of these locks waits for another (driver.h), so this comes to an end.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

enum { PAUSE_US = 200 };
#define NO_LIMIT UINT64_MAX

/* These change with `table` held, by __atomic. `holder` is valid unless the process runs. */
static CUprocessState state;
static pthread_t holder;

/* what the fields that NVIDIA has reserved have to be */
static bool zeros(const void *from, size_t n)
{
	const char *c = from;

	while (n && !*c)
		c++, n--;
	return !n;
}

static CUresult check_process(int pid)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (pid <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (pid == getpid())
		return CUDA_SUCCESS;
	fprintf(stderr,
		"libcuda: cuCheckpointProcess...() is for the calling process, %d, alone; process %d has to call it itself\n",
		(int)getpid(), pid);
	return CUDA_ERROR_NOT_SUPPORTED;
}

static CUprocessState state_now(void)
{
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE);
}

static void set_state(CUprocessState to)
{
	__atomic_store_n(&state, to, __ATOMIC_RELEASE);
}

/* The process has to be in @wanted, and the thread that locked it calls. */
static CUresult check(int pid, CUprocessState wanted)
{
	CUresult r = check_process(pid);

	if (!r)
		r = may_take_table();
	if (r)
		return r;
	if (state_now() != wanted)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (wanted == CU_PROCESS_STATE_RUNNING ||
	    pthread_equal(__atomic_load_n(&holder, __ATOMIC_RELAXED), pthread_self()))
		return CUDA_SUCCESS;
	fprintf(stderr,
		"libcuda: the thread that called cuCheckpointProcessLock() has to make this call, too\n");
	return CUDA_ERROR_NOT_PERMITTED;
}

/* ------------------------------------------------------------------ locking */

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* False: it is after @limit (NO_LIMIT: that is never). */
static bool take(pthread_mutex_t *lock, uint64_t limit)
{
	if (limit == NO_LIMIT)
		return !pthread_mutex_lock(lock);
	while (pthread_mutex_trylock(lock)) {
		if (now_us() >= limit)
			return false;
		usleep(PAUSE_US);
	}
	return true;
}

/* @end: the first context that is not locked; NULL: all are */
static void let_go(CUcontext end)
{
	CUcontext c;

	for (c = contexts_all(); c != end; c = c->next)
		pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&table);
}

static bool take_all(uint64_t limit)
{
	CUcontext c;

	if (!take(&table, limit))
		return false;
	for (c = contexts_all(); c; c = c->next)
		if (!take(&c->lock, limit)) {
			let_go(c);
			return false;
		}
	return true;
}

/* Wait for all work. What fails stays an error of its context. */
static bool drain(CUcontext ctx, uint64_t limit)
{
	while (!__atomic_load_n(&ctx->sticky, __ATOMIC_ACQUIRE) &&
	       moment_poll(ctx, &ctx->submitted) == CUDA_ERROR_NOT_READY) {
		messages_take(ctx);
		if (now_us() >= limit)
			return false;
		usleep(PAUSE_US);
	}
	if (messages_take(ctx) == CUDA_ERROR_ASSERT)
		ctx_set_sticky(ctx, CUDA_ERROR_ASSERT);
	return true;
}

CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs *args)
{
	uint64_t limit;
	CUcontext c;
	CUresult r;

	if (args && (args->reserved0 || !zeros(args->reserved1, sizeof(args->reserved1))))
		return CUDA_ERROR_INVALID_VALUE;
	limit = args && args->timeoutMs ? now_us() + 1000ull * args->timeoutMs : NO_LIMIT;
	r = check(pid, CU_PROCESS_STATE_RUNNING);
	if (r)
		return r;
	if (!take_all(limit))
		return CUDA_ERROR_NOT_READY;
	for (c = contexts_all(); c; c = c->next)
		if (c->alive && !drain(c, limit)) {
			let_go(NULL);
			return CUDA_ERROR_NOT_READY;
		}
	__atomic_store_n(&holder, pthread_self(), __ATOMIC_RELAXED);
	set_state(CU_PROCESS_STATE_LOCKED);
	return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs *args)
{
	CUresult r;

	if (args && !zeros(args->reserved, sizeof(args->reserved)))
		return CUDA_ERROR_INVALID_VALUE;
	r = check(pid, CU_PROCESS_STATE_LOCKED);
	if (r)
		return r;
	set_state(CU_PROCESS_STATE_RUNNING);
	let_go(NULL);
	return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessGetState(int pid, CUprocessState *out)
{
	CUresult r = check_process(pid);

	if (r)
		return r;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = state_now();
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ moving */

/* All contexts or, after an error, none, if those that were moved find room again. */
static CUresult move_all(bool away)
{
	CUresult r = CUDA_SUCCESS;
	CUcontext c;

	for (c = contexts_all(); c && !r; c = c->next)
		if (c->alive)
			r = error_of(c->device->ops->move(c->device, away));
	if (!r)
		return r;
	for (c = contexts_all(); c; c = c->next)
		if (c->alive)
			c->device->ops->move(c->device, !away);
	return r;
}

/* as with NVIDIA's driver */
static bool has_managed(CUcontext ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->nr_ranges; i++)
		if (ctx->ranges[i].flags & RANGE_MANAGED)
			return true;
	return false;
}

static CUresult check_movable(void)
{
	CUcontext c;

	if (!driver_moves()) {
		fprintf(stderr,
			"libcuda: a checkpoint needs memory that can be moved: start the program with KVGPU_CHECKPOINT=1\n");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	for (c = contexts_all(); c; c = c->next)
		if (c->alive && has_managed(c))
			return CUDA_ERROR_NOT_SUPPORTED;
	return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs *args)
{
	CUresult r;

	if (args && !zeros(args->reserved, sizeof(args->reserved)))
		return CUDA_ERROR_INVALID_VALUE;
	r = check(pid, CU_PROCESS_STATE_LOCKED);
	if (!r)
		r = check_movable();
	if (!r)
		r = move_all(true);
	if (!r)
		set_state(CU_PROCESS_STATE_CHECKPOINTED);
	return r;
}

static bool is_named(const CUcheckpointRestoreArgs *args, const CUuuid *uuid)
{
	unsigned int i;

	for (i = 0; i < args->gpuPairsCount; i++)
		if (!memcmp(&args->gpuPairs[i].oldUuid, uuid, sizeof(*uuid)))
			return true;
	return false;
}

/* Where pairs are given, all GPUs with a context have to be named; none may become another. */
static CUresult check_pairs(const CUcheckpointRestoreArgs *args)
{
	CUuuid uuid;
	CUcontext c;
	unsigned int i;

	if (!args || !args->gpuPairsCount)
		return CUDA_SUCCESS;
	if (!args->gpuPairs)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < args->gpuPairsCount; i++)
		if (memcmp(&args->gpuPairs[i].oldUuid, &args->gpuPairs[i].newUuid, sizeof(uuid)))
			return CUDA_ERROR_NOT_SUPPORTED;
	for (c = contexts_all(); c; c = c->next) {
		if (!c->alive)
			continue;
		uuid_of(driver_device(c->dev), &uuid);
		if (!is_named(args, &uuid))
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs *args)
{
	CUresult r;

	if (args && !zeros(args->reserved, sizeof(args->reserved)))
		return CUDA_ERROR_INVALID_VALUE;
	r = check(pid, CU_PROCESS_STATE_CHECKPOINTED);
	if (!r)
		r = check_pairs(args);
	if (!r)
		r = move_all(false);
	if (!r)
		set_state(CU_PROCESS_STATE_LOCKED);
	return r;
}
