// SPDX-License-Identifier: MIT
/*
 * Objects of a context that is not the current one, and addresses of another kind of memory than a
 * call names. Most expected results were seen on an NVIDIA GPU (CUDA 11.8 on driver 580).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#include <cuda/api/export/export.h>
#include <cuda/kepler/driver/driver.h>

#include "fake.h"

#define CUBIN		  "selftests/cuda/driver/kernels.cubin"
#define OK(call)	  assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, with) assert_int_equal(call, with)

/* @other is current when a test begins */
static CUcontext mine, other;

static int set_up(void **state)
{
	fake_fail_after = -1;
	fake_failure = DEVICE_OK;
	memset(fake_hold, 0, sizeof(fake_hold));
	return cuInit(0) || cuCtxCreate_v2(&mine, 0, 0) || cuCtxCreate_v2(&other, 0, 0);
}

static int tear_down(void **state)
{
	CUcontext top;

	return cuCtxPopCurrent_v2(&top) || cuCtxDestroy_v2(mine) ||
	       (other && cuCtxDestroy_v2(other)) || fake_open || fake_buffers || fake_early;
}

static void kernels(void **state)
{
	CUdeviceptr p, global;
	CUmodule m;
	CUfunction f;
	CUstream s, own;
	void *params[] = { &p };
	unsigned int before;
	size_t size;

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuStreamCreate(&s, 0));
	OK(cuMemAlloc_v2(&p, 4096));
	OK(cuCtxSetCurrent(mine));
	OK(cuStreamCreate(&own, 0));
	OK(cuModuleGetFunction(&f, m, "store"));
	OK(cuModuleGetGlobal_v2(&global, &size, m, "table"));
	before = fake_launches;
	FAILS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
	      CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, own, params, NULL), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(fake_launches, before);
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
	OK(cuStreamSynchronize(s));
	assert_int_equal(fake_launches, before + 1);
	OK(cuModuleUnload(m));
	FAILS(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuModuleGetFunction(&f, m, "store"), CUDA_ERROR_INVALID_HANDLE);
}

static void count_call(void *data)
{
	++*(unsigned int *)data;
}

static void streams_and_events(void **state)
{
	unsigned int flags, called = 0;
	CUevent e, untimed, own;
	CUcontext ctx;
	CUstream s;
	float ms;

	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, 0));
	OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
	OK(cuCtxSetCurrent(mine));
	OK(cuEventCreate(&own, 0));
	OK(cuStreamGetCtx(s, &ctx));
	assert_ptr_equal(ctx, other);
	OK(cuStreamGetFlags(s, &flags));
	assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
	OK(cuEventRecord(e, s));
	OK(cuEventSynchronize(e));
	OK(cuEventQuery(e));
	OK(cuEventElapsedTime(&ms, e, e));
	OK(cuLaunchHostFunc(s, count_call, &called));
	OK(cuStreamSynchronize(s));
	OK(cuStreamQuery(s));
	assert_int_equal(called, 1);
	/* documentation: event and stream are of the same context */
	FAILS(cuEventRecord(own, s), CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuEventRecord(e, NULL), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventRecord(own, NULL));
	OK(cuEventSynchronize(own));
	FAILS(cuEventElapsedTime(&ms, own, e), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventDestroy_v2(e));
	OK(cuEventDestroy_v2(untimed));
	OK(cuStreamDestroy_v2(s));
	FAILS(cuStreamQuery(s), CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuEventQuery(e), CUDA_ERROR_INVALID_HANDLE);
}

static void *end_of(void *ctx)
{
	return (void *)(intptr_t)cuCtxDestroy_v2(ctx);
}

/*
 * Streams of two contexts wait for each other in turn, while one context is destroyed: no deadlock.
 */
static void ends_while_others_wait(void **state)
{
	CUevent of_other, of_mine, last;
	CUdeviceptr p;
	CUstream s, own;
	pthread_t t;
	void *bad;

	OK(cuMemAlloc_v2(&p, 4));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&of_other, CU_EVENT_DISABLE_TIMING));
	OK(cuEventCreate(&last, CU_EVENT_DISABLE_TIMING));
	OK(cuCtxSetCurrent(mine));
	OK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&of_mine, CU_EVENT_DISABLE_TIMING));
	__atomic_store_n(&fake_hold[QUEUE_COMPUTE], true, __ATOMIC_SEQ_CST);
	OK(cuMemsetD32Async(p, 1, 1, s));
	OK(cuEventRecord(of_other, s));
	OK(cuStreamWaitEvent(own, of_other, 0));
	OK(cuEventRecord(of_mine, own));
	OK(cuStreamWaitEvent(s, of_mine, 0));
	OK(cuEventRecord(last, s));
	OK(cuStreamWaitEvent(own, last, 0));
	assert_int_equal(pthread_create(&t, NULL, end_of, other), 0);
	usleep(20000);
	__atomic_store_n(&fake_hold[QUEUE_COMPUTE], false, __ATOMIC_SEQ_CST);
	pthread_join(t, &bad);
	assert_null(bad);
	other = NULL;
	OK(cuStreamSynchronize(own));
}

/*
 * From the documentation of cuStreamWaitEvent(): "hEvent may be from a different context or device
 * than hStream"
 */
static void waits_for_an_event_of_another(void **state)
{
	uint32_t *theirs, *ours;
	CUdeviceptr p, q;
	CUstream s, own;
	CUevent e;

	OK(cuMemAlloc_v2(&p, 4));
	OK(cuMemHostAlloc((void **)&theirs, 4, 0));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	OK(cuCtxSetCurrent(mine));
	OK(cuMemAlloc_v2(&q, 4));
	OK(cuMemHostAlloc((void **)&ours, 4, 0));
	OK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
	OK(cuMemsetD32_v2(q, 7, 1));
	OK(cuCtxSynchronize());
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cuMemsetD32Async(p, 9, 1, s));
	OK(cuMemcpyDtoHAsync_v2(theirs, p, 4, s));
	OK(cuEventRecord(e, s));
	OK(cuStreamWaitEvent(own, e, 0));
	OK(cuMemcpyDtoHAsync_v2(ours, q, 4, own));
	FAILS(cuStreamQuery(own), CUDA_ERROR_NOT_READY);
	FAILS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	/* a thread of the library waits for the event */
	__atomic_store_n(&fake_hold[QUEUE_COMPUTE], false, __ATOMIC_SEQ_CST);
	OK(cuStreamSynchronize(own));
	OK(cuEventQuery(e));
	assert_int_equal(*theirs, 9);
	assert_int_equal(*ours, 7);
	/* the wait ends with the event's context */
	OK(cuStreamWaitEvent(own, e, 0));
	OK(cuCtxDestroy_v2(other));
	other = NULL;
	OK(cuStreamSynchronize(own));
	FAILS(cuStreamWaitEvent(own, e, 0), CUDA_ERROR_INVALID_HANDLE);
}

static void memory(void **state)
{
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			    .WidthInBytes = 4,
			    .Height = 1 };
	CUDA_ARRAY_DESCRIPTOR d = { .Width = 4,
				    .Format = CU_AD_FORMAT_UNSIGNED_INT32,
				    .NumChannels = 1 };
	CUdeviceptr p, base;
	uint32_t v = 0x01020304, got = 0, *pinned;
	CUcontext ctx;
	unsigned int flags;
	CUarray a;
	size_t size;

	OK(cuMemAlloc_v2(&p, 4096));
	OK(cuMemHostAlloc((void **)&pinned, 64, 0));
	OK(cuArrayCreate_v2(&a, &d));
	OK(cuCtxSetCurrent(mine));
	OK(cuMemcpyHtoD_v2(p, &v, 4));
	OK(cuMemsetD8_v2(p + 1, 0xee, 1));
	OK(cuMemcpyDtoH_v2(&got, p, 4));
	assert_int_equal(got, 0x0102ee04);
	c.srcHost = &v;
	c.dstDevice = p;
	OK(cuMemcpy2D_v2(&c));
	OK(cuMemcpyHtoA_v2(a, 4, &v, 4));
	OK(cuMemcpyAtoH_v2(&got, a, 4, 4));
	assert_int_equal(got, v);
	OK(cuArrayDestroy(a));
	OK(cuMemGetAddressRange_v2(&base, &size, p + 100));
	assert_true(base == p && size == 4096);
	OK(cuPointerGetAttribute(&ctx, CU_POINTER_ATTRIBUTE_CONTEXT, p));
	assert_ptr_equal(ctx, other);
	OK(cuMemHostGetFlags(&flags, pinned));
	OK(cuMemFreeHost(pinned));
	OK(cuMemFree_v2(p));
	FAILS(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemcpyDtoH_v2(&got, p, 4), CUDA_ERROR_INVALID_VALUE);
}

static void between_contexts(void **state)
{
	static uint8_t in[3 << 20], out[sizeof(in)];
	CUdeviceptr theirs, ours;
	size_t i;

	for (i = 0; i < sizeof(in); i++)
		in[i] = i * 2654435761u >> 24;
	OK(cuMemAlloc_v2(&theirs, sizeof(in)));
	OK(cuCtxSetCurrent(mine));
	OK(cuMemAlloc_v2(&ours, sizeof(in)));
	OK(cuMemcpyHtoD_v2(theirs, in, sizeof(in)));
	OK(cuMemcpyDtoD_v2(ours, theirs, sizeof(in)));
	OK(cuMemcpyDtoH_v2(out, ours, sizeof(in)));
	assert_memory_equal(in, out, sizeof(in));
	OK(cuMemsetD8_v2(ours, 0, sizeof(in)));
	OK(cuMemcpyPeer(ours, mine, theirs, other, sizeof(in)));
	memset(out, 0, sizeof(out));
	OK(cuMemcpyDtoH_v2(out, ours, sizeof(in)));
	assert_memory_equal(in, out, sizeof(in));
	FAILS(cuMemcpyPeer(ours, mine, theirs, other, sizeof(in) + 1), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemcpyPeer(ours, mine, theirs, (CUcontext)out, 4), CUDA_ERROR_INVALID_CONTEXT);
}

static void errors_stay_where_they_are(void **state)
{
	CUmodule m;
	CUfunction f;
	CUdeviceptr p = 1, q;
	CUstream s;
	void *params[] = { &p };

	OK(cuStreamCreate(&s, 0));
	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "store"));
	OK(cuCtxSetCurrent(mine));
	fake_fail_after = 0;
	fake_failure = DEVICE_LOST;
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
	FAILS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
	OK(cuMemAlloc_v2(&q, 4));
	OK(cuCtxSynchronize());
	FAILS(cuStreamQuery(s), CUDA_ERROR_ILLEGAL_ADDRESS);
	FAILS(cuModuleUnload(m), CUDA_ERROR_ILLEGAL_ADDRESS);
	OK(cuCtxSetCurrent(other));
	FAILS(cuMemFree_v2(0x1234), CUDA_ERROR_ILLEGAL_ADDRESS);
	OK(cuMemFree_v2(q));
	OK(cuCtxPopCurrent_v2(NULL));
	OK(cuCtxPopCurrent_v2(NULL));
	FAILS(cuStreamQuery(s), CUDA_ERROR_ILLEGAL_ADDRESS);
	FAILS(cuStreamQuery(NULL), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxPushCurrent_v2(mine));
}

/* GPU addresses given as the host's: the address decides. */
static void not_the_hosts(void **state)
{
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .dstMemoryType = CU_MEMORYTYPE_HOST,
			    .WidthInBytes = 4,
			    .Height = 2,
			    .srcPitch = 8,
			    .dstPitch = 8 };
	CUdeviceptr p, q;
	uint32_t v[4] = { 1, 2, 3, 4 }, got[4];

	OK(cuCtxSetCurrent(mine));
	OK(cuMemAlloc_v2(&p, 16));
	OK(cuMemAlloc_v2(&q, 16));
	OK(cuMemcpyHtoD_v2(p, v, 16));
	OK(cuMemcpyHtoD_v2(q, (void *)(uintptr_t)p, 16));
	OK(cuMemsetD32_v2(p, 5, 4));
	OK(cuMemcpyDtoH_v2((void *)(uintptr_t)p, q, 8));
	OK(cuMemcpyDtoH_v2(got, p, 16));
	assert_memory_equal(got, ((uint32_t[]){ 1, 2, 5, 5 }), 16);
	c.srcHost = (void *)(uintptr_t)p;
	c.dstHost = (void *)(uintptr_t)q;
	OK(cuMemsetD32_v2(q, 6, 4));
	OK(cuMemcpy2D_v2(&c));
	OK(cuMemcpyDtoH_v2(got, q, 16));
	assert_memory_equal(got, ((uint32_t[]){ 1, 6, 5, 6 }), 16);
	FAILS(cuMemcpyHtoD_v2(q, (void *)(uintptr_t)(p + 8), 16), CUDA_ERROR_INVALID_VALUE);
	/* neither the GPU nor the process has memory there */
	FAILS(cuMemcpyHtoD_v2(q, (void *)0x10, 4), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemcpyDtoH_v2((void *)0x10, q, 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2(p));
	OK(cuCtxSynchronize());
}

static struct {
	CUresult current, created, destroyed, retained, init;
	bool ran;
} refused;

/* a host function, called while cuCtxDestroy() holds `table`, and waits for it */
static void use_contexts(void *data)
{
	CUcontext c;

	while (!pthread_mutex_trylock(&table)) {
		pthread_mutex_unlock(&table);
		usleep(1000);
	}
	refused.current = cuCtxSetCurrent(other);
	refused.created = cuCtxCreate_v2(&c, 0, 0);
	refused.destroyed = cuCtxDestroy_v2(other);
	refused.retained = cuDevicePrimaryCtxRetain(&c, 0);
	refused.init = cuInit(0);
	refused.ran = true;
}

/* Host functions get an error, and do not wait. */
static void host_functions_use_contexts(void **state)
{
	CUcontext ctx;

	OK(cuCtxCreate_v2(&ctx, 0, 0));
	OK(cuLaunchHostFunc(NULL, use_contexts, NULL));
	alarm(60);
	OK(cuCtxDestroy_v2(ctx));
	alarm(0);
	assert_true(refused.ran);
	OK(refused.current);
	OK(refused.init);
	FAILS(refused.created, CUDA_ERROR_NOT_PERMITTED);
	FAILS(refused.destroyed, CUDA_ERROR_NOT_PERMITTED);
	FAILS(refused.retained, CUDA_ERROR_NOT_PERMITTED);
}

static void *allocate(void *ctx)
{
	CUdeviceptr p;
	CUresult r = cuCtxSetCurrent(ctx);

	return (void *)(intptr_t)(r ? r : cuMemAlloc_v2(&p, 16));
}

static void capture_made_invalid(void **state)
{
	CUresult r = CUDA_SUCCESS;
	unsigned int i;
	CUgraph graph;
	pthread_t t;
	CUstream s;
	void *answer;

	OK(cuCtxSetCurrent(mine));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	assert_int_equal(pthread_create(&t, NULL, allocate, other), 0);
	for (i = 0; i < 100000 && !r; i++) {
		r = cuMemsetD8Async(0, 0, 0, s);
		usleep(100);
	}
	FAILS(r, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	pthread_join(t, &answer);
	FAILS((intptr_t)answer, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	FAILS(cuStreamEndCapture(s, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

enum { FLAG_ROUNDS = 1000 };

static void *set_flags(void *arg)
{
	intptr_t bad = 0;
	int i;

	for (i = 0; i < FLAG_ROUNDS; i++)
		bad += cuDevicePrimaryCtxSetFlags_v2(0, i % 2 ? CU_CTX_SCHED_BLOCKING_SYNC : 0);
	return (void *)bad;
}

/* A thread changes a primary context's flags, and another thread waits in the context. */
static void flags_while_in_use(void **state)
{
	unsigned int flags;
	CUcontext primary;
	pthread_t t;
	void *bad;
	int i;

	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	OK(cuCtxSetCurrent(primary));
	assert_int_equal(pthread_create(&t, NULL, set_flags, NULL), 0);
	for (i = 0; i < FLAG_ROUNDS; i++) {
		OK(cuCtxGetFlags(&flags));
		OK(cuStreamSynchronize(NULL));
	}
	pthread_join(t, &bad);
	assert_null(bad);
	OK(cuCtxGetFlags(&flags));
	assert_int_equal(flags, CU_CTX_SCHED_BLOCKING_SYNC);
	OK(cuDevicePrimaryCtxSetFlags_v2(0, 0));
	OK(cuDevicePrimaryCtxRelease_v2(0));
}

enum { EVENT_ROUNDS = 3000, CAPTURE_ROUNDS = 300 };

struct recorder {
	CUevent event;
	CUstream stream;
	bool begun, over;
};

static void *record_often(void *arg)
{
	struct recorder *r = arg;

	if (cuCtxSetCurrent(mine))
		return r;
	__atomic_store_n(&r->begun, true, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&r->over, __ATOMIC_RELAXED))
		if (cuEventRecord(r->event, r->stream))
			return r;
	return NULL;
}

/* A thread records an event, and another thread's streams wait for it, also one that captures. */
static void waits_while_it_is_recorded(void **state)
{
	struct recorder r = { .begun = false };
	CUgraph graph;
	CUstream s, beside;
	pthread_t t;
	void *bad;
	int i;

	OK(cuStreamCreate(&s, 0));
	OK(cuCtxSetCurrent(mine));
	OK(cuStreamCreate(&beside, 0));
	OK(cuStreamCreate(&r.stream, 0));
	OK(cuEventCreate(&r.event, CU_EVENT_DISABLE_TIMING));
	OK(cuEventRecord(r.event, r.stream));
	OK(cuCtxSetCurrent(other));
	assert_int_equal(pthread_create(&t, NULL, record_often, &r), 0);
	while (!__atomic_load_n(&r.begun, __ATOMIC_RELAXED))
		usleep(1000);
	for (i = 0; i < EVENT_ROUNDS; i++)
		OK(cuStreamWaitEvent(beside, r.event, 0));
	for (i = 0; i < CAPTURE_ROUNDS; i++) {
		OK(cuStreamWaitEvent(s, r.event, 0));
		OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
		FAILS(cuStreamWaitEvent(s, r.event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
		FAILS(cuStreamEndCapture(s, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	}
	__atomic_store_n(&r.over, true, __ATOMIC_RELAXED);
	pthread_join(t, &bad);
	assert_null(bad);
	OK(cuStreamSynchronize(s));
}

/* ------------------------------------------------------------------ for NVIDIA's runtimes */

static CUcontext last_ended;
static unsigned int nr_ended;

/* A destructor may call the library: no lock is held. */
static void note_end(CUcontext ctx, void *key, void *value)
{
	unsigned int flags;
	int active;

	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	last_ended = ctx;
	nr_ended++;
}

static void runtimes_storage_ends(void **state)
{
	static const CUuuid storage = { "\xc6\x93\x33\x6e\x11\x21\xdf\x11"
					"\xa8\xc3\x68\xf3\x55\xd8\x95\x93" };
	typedef void end_fn(CUcontext ctx, void *key, void *value);
	CUresult (*const *put)(CUcontext ctx, void *key, void *value, end_fn *end);
	CUcontext primary, again, c;
	unsigned int flags;
	int active = 1;

	OK(cuGetExportTable((const void **)&put, &storage));
	/* the handle, of a context that is not active */
	OK(export_primary(&primary, 0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_int_equal(active, 0);
	FAILS(export_primary(&again, 7), CUDA_ERROR_INVALID_DEVICE);
	FAILS(cuCtxDestroy_v2(primary), CUDA_ERROR_INVALID_CONTEXT);
	OK((*put)(primary, &c, &c, note_end));
	OK(cuDevicePrimaryCtxReset_v2(0));
	assert_int_equal(nr_ended, 0); /* nothing was active */
	OK(cuDevicePrimaryCtxRetain(&again, 0));
	assert_ptr_equal(again, primary);
	OK(cuDevicePrimaryCtxReset(0));
	assert_int_equal(nr_ended, 1);
	assert_ptr_equal(last_ended, primary);
	OK(cuDevicePrimaryCtxRetain(&again, 0));
	assert_ptr_equal(again, primary);
	OK((*put)(primary, &c, &c, note_end));
	OK(cuDevicePrimaryCtxRelease_v2(0));
	assert_int_equal(nr_ended, 1);
	OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_int_equal(flags, CU_CTX_SCHED_BLOCKING_SYNC);
	OK(cuDevicePrimaryCtxSetFlags(0, 0));
	OK(cuDevicePrimaryCtxRelease(0));
	assert_int_equal(nr_ended, 2);
	OK(export_primary(&again, 0));
	assert_ptr_equal(again, primary);
	OK(cuCtxCreate_v2(&c, 0, 0));
	OK((*put)(c, &c, &c, note_end));
	OK(cuCtxDestroy_v2(c));
	assert_int_equal(nr_ended, 3);
	assert_ptr_equal(last_ended, c);
}

static void device_of_one_that_is_not_active(void **state)
{
	CUcontext primary, c;
	CUdevice dev = -1;

	OK(export_primary(&primary, 0));
	OK(cuCtxPushCurrent_v2(primary));
	OK(cuCtxGetDevice(&dev));
	assert_int_equal(dev, 0);
	FAILS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuCtxPopCurrent_v2(NULL));
	dev = -1;
	OK(cuCtxGetDevice_v2(&dev, primary));
	assert_int_equal(dev, 0);
	OK(cuCtxCreate_v2(&c, 0, 0));
	OK(cuCtxDestroy_v2(c));
	OK(cuCtxPushCurrent_v2(c));
	FAILS(cuCtxGetDevice(&dev), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuCtxPopCurrent_v2(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_CONTEXTS(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		IN_CONTEXTS(kernels),
		IN_CONTEXTS(streams_and_events),
		IN_CONTEXTS(waits_for_an_event_of_another),
		IN_CONTEXTS(ends_while_others_wait),
		IN_CONTEXTS(memory),
		IN_CONTEXTS(between_contexts),
		IN_CONTEXTS(errors_stay_where_they_are),
		IN_CONTEXTS(not_the_hosts),
		IN_CONTEXTS(host_functions_use_contexts),
		IN_CONTEXTS(capture_made_invalid),
		IN_CONTEXTS(flags_while_in_use),
		IN_CONTEXTS(waits_while_it_is_recorded),
		IN_CONTEXTS(runtimes_storage_ends),
		IN_CONTEXTS(device_of_one_that_is_not_active),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
