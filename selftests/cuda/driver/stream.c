// SPDX-License-Identifier: GPL-2.0-only
/* Streams, events, and what waits for what. */
#include "driver.h"

#include <string.h>

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
	tap_result(!r && ms > 0 && ms < 60000 && (busy == CUDA_ERROR_NOT_READY || !busy), "events around a kernel",
		   "%s, %.3f ms, at first %s", error_name(r), ms, error_name(busy));
	MUST(cuEventDestroy_v2(start));
	MUST(cuEventDestroy_v2(end));
	MUST(cuStreamDestroy_v2(s));
	MUST(cuMemFree_v2(out));
}

/* a producer's result is read by a copy in another stream that waits for its event */
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
	tap_result(!r && *got == want, "a copy waits for another stream's kernel", "%s, %x for %x", error_name(r), *got, want);
	MUST(cuMemFreeHost(got));
	MUST(cuEventDestroy_v2(done));
	MUST(cuStreamDestroy_v2(a));
	MUST(cuStreamDestroy_v2(b));
	MUST(cuMemFree_v2(out));
}

void test_stream(void)
{
	test_events();
	test_order();
}
