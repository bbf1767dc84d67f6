// SPDX-License-Identifier: GPL-2.0-only
/*
 * turns CUBIN TRACE: how often programs wait for an answer in what PyTorch, JAX and generate() do
 * again and again, as the client's log TRACE tells (KVGPU_REMOTE_TRACE=TRACE,0). Launches, fills
 * and copies on the device have answers only because of the log.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "must.h"

enum {
	STEPS = 4,
	BATCH = 400 << 10,
	LABELS = 1 << 10,
	BIG = 1 << 20,
	ROUNDS = 100,
	SPIN = 400000,
	EVENTS = 140
};

static CUcontext ctx;
static CUdeviceptr memory, other;
static CUfunction spin;
static CUstream one, two, blocking;
static FILE *trace;
static uint8_t bytes[BIG];

static bool only_logged(const char *line)
{
	return strstr(line, " launch (") || strstr(line, " cuMemset") ||
	       strstr(line, " cuGraphLaunch(") || strstr(line, " cuMemcpyDtoD");
}

/* answers since it was asked last */
static int turns(bool print)
{
	char line[1024];
	int n = 0;

	clearerr(trace);
	while (fgets(line, sizeof(line), trace)) {
		if (only_logged(line))
			continue;
		n++;
		if (print)
			fputs(line, stdout);
	}
	return n;
}

static void take(int wanted, int line, const char *what)
{
	int n = turns(false);

	if (n == wanted)
		return;
	printf("line %d: %s: %d turns, wanted %d\n", line, what, n, wanted);
	exit(1);
}
#define TURNS(wanted, call)                    \
	do {                                   \
		turns(false);                  \
		call;                          \
		take(wanted, __LINE__, #call); \
	} while (0)

static void launch(CUstream s, int rounds)
{
	void *params[] = { &memory, &rounds };

	MUST(cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
}

static void *launch_there(void *s)
{
	MUST(cuCtxSetCurrent(ctx));
	launch(s, SPIN);
	return NULL;
}

static void elsewhere(void *(*function)(void *), void *arg)
{
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, function, arg));
	pthread_join(t, NULL);
}

static void copy_in(CUdeviceptr to, size_t n, CUstream s)
{
	MUST(cuMemcpyHtoDAsync_v2(to, bytes, n, s));
	MUST(cuStreamSynchronize(s));
}

/* ------------------------------------------------------------------ steps of programs */

/* training: a batch, its labels, work, loss.item() */
static void train(void)
{
	float loss;

	copy_in(memory, BATCH, NULL);
	copy_in(memory + BATCH, LABELS, NULL);
	MUST(cuMemsetD8Async(other, 0, LABELS, NULL));
	elsewhere(launch_there, NULL);
	launch(NULL, 10);
	MUST(cuMemcpyDtoHAsync_v2(&loss, other, sizeof(loss), NULL));
	MUST(cuStreamSynchronize(NULL));
}

static void is_pageable(const void *p)
{
	static const CUpointer_attribute asked[] = { CU_POINTER_ATTRIBUTE_CONTEXT,
						     CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
						     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL };
	uint64_t value;
	int i;

	for (i = 0; i < 3; i++)
		FAILS(cuPointerGetAttribute(&value, asked[i], (uintptr_t)p),
		      CUDA_ERROR_INVALID_VALUE);
}

static CUstream copies[2], results;
static CUevent computed; /* all of stream `one` so far, whose memory an argument gets */

static void *give(void *arg)
{
	const CUstream *s = arg;

	MUST(cuCtxSetCurrent(ctx));
	MUST(cuStreamWaitEvent(*s, computed, 0));
	copy_in(memory, LABELS, *s);
	return NULL;
}

static void *wait_there(void *s)
{
	MUST(cuCtxSetCurrent(ctx));
	MUST(cuStreamSynchronize(s));
	return NULL;
}

static CUgraphExec make_graph(CUstream s)
{
	CUgraphExec exec;
	CUgraph graph;

	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	launch(s, 10);
	MUST(cuStreamEndCapture(s, &graph));
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

/*
 * arguments of the jitted function by threads and streams of their own, then the result, which is
 * pinned memory; two threads wait
 */
static void jit(CUgraphExec exec, CUevent done, float *loss)
{
	int i;

	MUST(cuEventRecord(computed, one));
	for (i = 0; i < 2; i++) {
		is_pageable(bytes + i);
		elsewhere(give, &copies[i]);
	}
	MUST(cuGraphLaunch(exec, one));
	MUST(cuEventRecord(done, one));
	MUST(cuStreamWaitEvent(results, done, 0));
	is_pageable(&i);
	MUST(cuMemcpyDtoHAsync_v2(loss, other, sizeof(*loss), results));
	MUST(cuStreamSynchronize(results));
	elsewhere(wait_there, one);
}

static void token(void)
{
	size_t limit;
	int i, next;

	for (i = 0; i < 8; i++) {
		launch(NULL, 10);
		MUST(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
		MUST(cuCtxGetLimit(&limit, CU_LIMIT_MALLOC_HEAP_SIZE));
	}
	for (i = 0; i < 2; i++) {
		MUST(cuMemcpyDtoHAsync_v2(&next, other, sizeof(next), NULL));
		MUST(cuStreamSynchronize(NULL));
	}
}

/* as cuDNN does in a step: each of its streams waits for the one before */
static void lstm(void)
{
	CUevent events[EVENTS];
	int i;

	for (i = 0; i < EVENTS; i++) {
		MUST(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
		launch(i % 2 ? one : two, 10);
		MUST(cuEventRecord(events[i], i % 2 ? one : two));
		MUST(cuStreamWaitEvent(i % 2 ? two : one, events[i], 0));
	}
	for (i = 0; i < EVENTS; i++)
		MUST(cuEventDestroy_v2(events[i]));
}

/* an event in the place of one that was recorded has not been recorded */
static void made_anew(void)
{
	CUevent event, other_one;
	float ms;
	int i;

	for (i = 0; i < 4; i++) {
		MUST(cuEventCreate(&event, 0));
		MUST(cuEventCreate(&other_one, 0));
		MUST(cuEventQuery(event));
		MUST(cuEventSynchronize(event));
		FAILS(cuEventElapsedTime(&ms, event, other_one), CUDA_ERROR_INVALID_HANDLE);
		launch(one, SPIN);
		MUST(cuEventRecord(event, one));
		MUST(cuEventRecord(other_one, one));
		TURNS(0, MUST(cuEventDestroy_v2(event)); MUST(cuEventDestroy_v2(other_one)));
	}
	MUST(cuStreamSynchronize(one));
}

static void steps(void)
{
	CUgraphExec exec = make_graph(one);
	float *loss;
	CUevent done;
	int i;

	MUST(cuMemHostAlloc((void **)&loss, sizeof(*loss), 0));
	MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
	MUST(cuEventCreate(&computed, CU_EVENT_DISABLE_TIMING));
	for (i = 0; i < 2; i++)
		MUST(cuStreamCreate(&copies[i], CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&results, CU_STREAM_NON_BLOCKING));
	train();
	jit(exec, done, loss);
	for (i = 0; i < STEPS; i++)
		TURNS(1, jit(exec, done, loss));
	train();
	for (i = 0; i < STEPS; i++)
		TURNS(1, train());
	lstm();
	for (i = 0; i < STEPS; i++)
		TURNS(0, lstm());
	token(); /* a graph was launched since */
	for (i = 0; i < STEPS; i++)
		TURNS(2, token());
}

/* ------------------------------------------------------------------ what is to be waited for */

/* Nothing orders these two streams but the wait, which the server does: the second reads it. */
static void seen_elsewhere(void)
{
	static uint8_t got[LABELS];
	const size_t end = BIG / 4 - sizeof(got);
	int i;

	for (i = 0; i < ROUNDS; i++) {
		memset(bytes, i + 1, BIG / 4);
		TURNS(i ? 0 : 1, copy_in(memory, BIG / 4, one));
		MUST(cuMemcpyDtoDAsync_v2(other, memory + end, sizeof(got), two));
		MUST(cuMemcpyDtoHAsync_v2(got, other, sizeof(got), two));
		CHECK(!memcmp(got, bytes, sizeof(got)));
		MUST(cuStreamQuery(one));
	}
}

static void *spin_first(void *s)
{
	MUST(cuCtxSetCurrent(ctx));
	launch(s, SPIN);
	MUST(cuMemcpyHtoDAsync_v2(other, bytes, LABELS, s));
	return NULL;
}

/* work of other threads, and of the null stream, that the copies come behind */
static void work_before(void)
{
	copy_in(memory, LABELS, one);
	elsewhere(spin_first, one);
	TURNS(1, MUST(cuStreamSynchronize(one)));
	MUST(cuStreamQuery(one));
	copy_in(memory, LABELS, blocking);
	TURNS(0, copy_in(memory, LABELS, blocking));
	launch(NULL, SPIN);
	TURNS(1, copy_in(memory, LABELS, blocking));
	MUST(cuStreamQuery(NULL));
	MUST(cuStreamSynchronize(NULL));
	launch(blocking, SPIN);
	TURNS(1, MUST(cuStreamSynchronize(NULL)));
	MUST(cuStreamQuery(blocking));
	launch(blocking, SPIN);
	TURNS(1, copy_in(memory, LABELS, NULL));
	launch(one, SPIN);
	TURNS(1, MUST(cuCtxSynchronize()));
}

static void asked(CUstream s)
{
	TURNS(1, copy_in(memory, LABELS, s));
}

static void exclusions(void)
{
	CUdeviceptr managed;
	CUipcMemHandle shared;
	CUgraph graph;
	size_t limit, before;
	int i;

	MUST(cuStreamSynchronize(one));
	for (i = 0; i < 2; i++)
		TURNS(0, copy_in(memory, BIG / 2, one));
	TURNS(1, copy_in(memory, LABELS, one));
	TURNS(0, copy_in(memory, LABELS, one));
	MUST(cuStreamBeginCapture_v2(two, CU_STREAM_CAPTURE_MODE_RELAXED));
	turns(false);
	MUST(cuStreamSynchronize(one));
	CHECK(turns(false) == 1);
	MUST(cuStreamEndCapture(two, &graph));
	TURNS(0, copy_in(memory, LABELS, one));
	MUST(cuMemAllocManaged(&managed, LABELS, 1));
	asked(one);
	MUST(cuMemFree_v2(managed));
	TURNS(0, copy_in(memory, LABELS, one));
	MUST(cuCtxGetLimit(&before, CU_LIMIT_STACK_SIZE));
	MUST(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, before + 1024));
	TURNS(1, MUST(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE)));
	CHECK(limit >= before + 1024);
	TURNS(0, MUST(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE)));
	cuIpcGetMemHandle(&shared, memory);
	asked(one);
	asked(one);
}

int main(int argc, char **argv)
{
	CUmodule module;

	if (argc != 3)
		return 2;
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	trace = fopen(argv[2], "r");
	CHECK(trace);
	MUST(cuModuleLoad(&module, argv[1]));
	MUST(cuModuleGetFunction(&spin, module, "spin"));
	MUST(cuMemAlloc_v2(&memory, BIG));
	MUST(cuMemAlloc_v2(&other, BIG));
	MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&blocking, 0));
	steps();
	seen_elsewhere();
	made_anew();
	work_before();
	exclusions();
	puts("turns are as few as they may be");
	return 0;
}
