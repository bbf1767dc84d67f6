// SPDX-License-Identifier: GPL-2.0-only
/* Streams, events, and their order. */
#include "driver.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void test_events(void)
{
	CUdeviceptr out = device_buffer(4);
	int rounds = 200000;
	void *params[] = { &out, &rounds };
	CUevent start, end;
	CUstream s;
	float ms = -1;
	CUresult r, busy;

	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuEventCreate(&start, 0));
	MUST(cuEventCreate(&end, 0));
	MUST(cuEventRecord(start, s));
	MUST(cuLaunchKernel(kernel("spin"), 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
	MUST(cuEventRecord(end, s));
	busy = cuEventQuery(end);
	r = cuEventSynchronize(end);
	r = r ? r : cuStreamQuery(s);
	r = r ? r : cuEventElapsedTime(&ms, start, end);
	tap_result(!r && ms > 0 && ms < 60000 && (busy == CUDA_ERROR_NOT_READY || !busy),
		   "events around a kernel", "%s, %.3f ms, at first %s", error_name(r), ms,
		   error_name(busy));
	MUST(cuEventDestroy_v2(start));
	MUST(cuEventDestroy_v2(end));
	MUST(cuStreamDestroy_v2(s));
	MUST(cuMemFree_v2(out));
}

static void test_order(void)
{
	CUdeviceptr out = device_buffer(4);
	int rounds = 100000, want = 0, i, *got;
	void *params[] = { &out, &rounds };
	CUevent done;
	CUstream a, b;
	CUresult r;

	for (i = 0; i < rounds; i++)
		want = (int)((unsigned int)want * 1664525u + 1013904223u);
	MUST(cuMemHostAlloc((void **)&got, 4, 0));
	*got = 0;
	MUST(cuMemsetD32_v2(out, 0, 1));
	MUST(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
	MUST(cuCtxSynchronize());
	MUST(cuLaunchKernel(kernel("spin"), 1, 1, 1, 1, 1, 1, 0, a, params, NULL));
	MUST(cuEventRecord(done, a));
	MUST(cuStreamWaitEvent(b, done, 0));
	MUST(cuMemcpyDtoHAsync_v2(got, out, 4, b));
	r = cuStreamSynchronize(b);
	tap_result(!r && *got == want, "a copy waits for another stream's kernel", "%s, %x for %x",
		   error_name(r), *got, want);
	MUST(cuMemFreeHost(got));
	MUST(cuEventDestroy_v2(done));
	MUST(cuStreamDestroy_v2(a));
	MUST(cuStreamDestroy_v2(b));
	MUST(cuMemFree_v2(out));
}

/* filled by a kernel, changed by a host function, read by a copy */
struct relay {
	int *value;
	CUresult refused;
	int calls;
	pthread_mutex_t gate;
};

static void change(void *data)
{
	struct relay *r = data;

	r->refused = cuCtxSynchronize();
	pthread_mutex_lock(&r->gate);
	*r->value += 1000000;
	r->calls++;
	pthread_mutex_unlock(&r->gate);
}

static void called(CUstream stream, CUresult status, void *data)
{
	struct relay *r = data;

	r->calls += status == CUDA_SUCCESS && stream ? 10 : 100;
}

/* The function ends only after all has been submitted: submitting must not wait for it. */
void test_host_functions(void)
{
	struct relay relay = { .gate = PTHREAD_MUTEX_INITIALIZER };
	int *pinned, one = 1, got = 0, i;
	CUdeviceptr va, copy = device_buffer(4);
	void *params[] = { &va };
	CUstream s;
	CUresult r = CUDA_SUCCESS;

	if (!maps_host()) {
		tap_skip("host functions in a stream's order",
			 "the device does not see pinned memory");
		MUST(cuMemFree_v2(copy));
		return;
	}
	MUST(cuMemHostAlloc((void **)&pinned, 4, CU_MEMHOSTALLOC_DEVICEMAP));
	MUST(cuMemHostGetDevicePointer_v2(&va, pinned, 0));
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	relay.value = pinned;
	for (i = 0; i < 20 && !r; i++) {
		*pinned = 0;
		relay.calls = 0;
		pthread_mutex_lock(&relay.gate);
		r = cuLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
		r = r ? r : cuLaunchHostFunc(s, change, &relay);
		r = r ? r : cuMemcpyDtoDAsync_v2(copy, va, 4, s);
		r = r ? r : cuStreamAddCallback(s, called, &relay, 0);
		if (i == 0)
			usleep(20000);
		pthread_mutex_unlock(&relay.gate);
		r = r ? r : cuStreamSynchronize(s);
		r = r ? r : cuMemcpyDtoH_v2(&got, copy, 4);
		if (got != 1000000 + one || relay.calls != 11)
			break;
	}
	tap_result(!r && i == 20 && got == 1000001 && relay.refused == CUDA_ERROR_NOT_PERMITTED,
		   "host functions in a stream's order",
		   "%s, %d after %d rounds, %d calls, inside: %s", error_name(r), got, i,
		   relay.calls, error_name(relay.refused));
	MUST(cuStreamDestroy_v2(s));
	MUST(cuMemFreeHost(pinned));
	MUST(cuMemFree_v2(copy));
}

void test_stream(void)
{
	test_events();
	test_order();
}
