// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that are cancelled (pthread_cancel(), deferred) in a call: other threads' calls go on,
 * with right results. Where they would wait for ever, SIGALRM ends the program.
 */
#include "driver.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BIG = 32 << 20, MANAGED = 1 << 20, ROUNDS = 12, STEP_US = 977, HANGS_S = 60 };

static CUdeviceptr dev, out, managed;
static CUstream stream;
static CUfunction spin;
static uint8_t *host;
static atomic_bool begun;

static void copy_in(void)
{
	MUST(cuMemcpyHtoD_v2(dev, host, BIG));
}

static void copy_out(void)
{
	MUST(cuMemcpyDtoH_v2(host, dev, BIG));
}

static void launch(void)
{
	int rounds = 100000;
	void *params[] = { &out, &rounds };

	MUST(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	MUST(cuStreamSynchronize(stream));
}

static void allocate(void)
{
	MUST(cuMemFree_v2(device_buffer(1 << 16)));
}

static void record(void)
{
	CUevent e;

	MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	MUST(cuEventRecord(e, stream));
	MUST(cuEventSynchronize(e));
	MUST(cuEventDestroy_v2(e));
}

static void fill(void)
{
	MUST(cuMemsetD32Async(dev, 1, 1000, stream));
}

/* over a socket a touch of managed memory is a call, too */
static void touch(void)
{
	uint32_t i, sum = 0;

	MUST(cuMemsetD32_v2(managed, 1, MANAGED / 4));
	for (i = 0; i < MANAGED / 4; i += 1024)
		sum += ((volatile uint32_t *)(uintptr_t)managed)[i];
	must(sum == MANAGED / 4096 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, "managed memory");
}

static const struct {
	const char *name;
	void (*call)(void);
} kinds[] = {
	{ "copies to the GPU", copy_in },
	{ "copies from the GPU", copy_out },
	{ "launches", launch },
	{ "allocations", allocate },
	{ "events", record },
	{ "fills", fill },
	{ "managed memory", touch },
};

static CUcontext ctx;

static void *call_on(void *call)
{
	MUST(cuCtxSetCurrent(ctx));
	for (;;) {
		((void (*)(void))call)();
		atomic_store(&begun, true);
		pthread_testcancel();
	}
	return NULL;
}

/* whether a call after it has right results */
static bool cancel_one(void (*call)(void), unsigned int round)
{
	uint32_t word = 0;
	CUdeviceptr d;
	pthread_t t;
	void *r;

	atomic_store(&begun, false);
	if (pthread_create(&t, NULL, call_on, (void *)call))
		return false;
	while (!atomic_load(&begun))
		sched_yield();
	usleep(STEP_US * round);
	pthread_cancel(t);
	pthread_join(t, &r);
	d = device_buffer(sizeof(word));
	MUST(cuMemsetD32_v2(d, round + 7, 1));
	MUST(cuMemcpyDtoH_v2(&word, d, sizeof(word)));
	MUST(cuMemFree_v2(d));
	return r == PTHREAD_CANCELED && word == round + 7;
}

void test_cancel(void)
{
	unsigned int i, round, right;

	MUST(cuCtxGetCurrent(&ctx));
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	spin = kernel("spin");
	dev = device_buffer(BIG);
	out = device_buffer(4096);
	MUST(cuMemAllocManaged(&managed, MANAGED, 1));
	host = fresh(BIG);
	memset(host, 1, BIG);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		right = 0;
		alarm(HANGS_S);
		for (round = 0; round < ROUNDS; round++)
			right += cancel_one(kinds[i].call, round);
		alarm(0);
		tap_result(right == ROUNDS, "threads that are cancelled", "%s: %u of %u",
			   kinds[i].name, right, ROUNDS);
	}
	MUST(cuMemFree_v2(dev));
	MUST(cuMemFree_v2(out));
	MUST(cuMemFree_v2(managed));
	MUST(cuStreamDestroy_v2(stream));
	free(host);
}
