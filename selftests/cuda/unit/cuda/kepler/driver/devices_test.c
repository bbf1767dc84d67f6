// SPDX-License-Identifier: MIT
/*
 * Several devices: which are seen, what each says of itself and of a pair, and copies between them.
 * Expected results are from CUDA's documentation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <cuda/api/usage.h>
#include <cuda/api/visible.h>
#include <cuda/kepler/driver/driver.h>

#include "fake.h"

#define CUBIN		  "selftests/cuda/driver/kernels.cubin"
#define OK(call)	  assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, with) assert_int_equal(call, with)

enum { BYTES = (3 << 20) + 12345, PITCH = 1000, WIDTH = 700, LINES = 2100 };

/* one of each device; @ctx[0] is current when a test begins */
static CUcontext ctx[2];
static CUdeviceptr p[2];
static uint8_t *in, *out;

static int set_up(void **state)
{
	size_t i;

	memset(fake_hold, 0, sizeof(fake_hold));
	fake_fail_after = -1;
	fake_failure = DEVICE_OK;
	in = malloc(BYTES);
	out = calloc(1, BYTES);
	for (i = 0; i < BYTES; i++)
		in[i] = i * 2654435761u >> 24;
	return cuCtxCreate_v2(&ctx[1], 0, 1) || cuMemAlloc_v2(&p[1], BYTES) ||
	       cuCtxCreate_v2(&ctx[0], 0, 0) || cuMemAlloc_v2(&p[0], BYTES) ||
	       cuMemcpyHtoD_v2(p[0], in, BYTES);
}

static int tear_down(void **state)
{
	free(in);
	free(out);
	return cuCtxDestroy_v2(ctx[0]) || (ctx[1] && cuCtxDestroy_v2(ctx[1])) ||
	       cuCtxSetCurrent(NULL) || fake_open || fake_buffers || fake_early;
}

static void arrives(void)
{
	OK(cuMemcpyDtoH_v2(out, p[1], BYTES));
	assert_memory_equal(in, out, BYTES);
}

/* ------------------------------------------------------------------ what there is */

static void are_distinct(void **state)
{
	CUuuid uuid[2];
	char place[2][20];
	int n, i;
	CUdevice dev;

	OK(cuDeviceGetCount(&n));
	assert_int_equal(n, 2);
	for (i = 0; i < n; i++) {
		OK(cuDeviceGetUuid(&uuid[i], i));
		OK(cuDeviceGetPCIBusId(place[i], sizeof(place[i]), i));
		OK(cuDeviceGetByPCIBusId(&dev, place[i]));
		assert_int_equal(dev, i);
	}
	assert_memory_not_equal(&uuid[0], &uuid[1], sizeof(uuid[0]));
	/* main() has them in the other order */
	assert_string_equal(place[0], "0000:04:01.0");
	assert_int_equal(fake_gpu, 1);
	OK(cuCtxSetCurrent(ctx[1]));
	OK(cuCtxGetDevice(&dev));
	assert_int_equal(dev, 1);
	OK(cuPointerGetAttribute(&dev, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p[0]));
	assert_int_equal(dev, 0);
	OK(cuPointerGetAttribute(&dev, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p[1] + 9));
	assert_int_equal(dev, 1);
}

static void do_not_reach_each_other(void **state)
{
	int can = -1, value = -1;

	OK(cuDeviceCanAccessPeer(&can, 0, 1));
	assert_int_equal(can, 0);
	OK(cuDeviceGetP2PAttribute(&value, 2, 0, 1));
	assert_int_equal(value, 0);
	FAILS(cuDeviceGetP2PAttribute(&value, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuDeviceGetP2PAttribute(&value, 5, 0, 1), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuDeviceGetP2PAttribute(&value, 2, 1, 1), CUDA_ERROR_INVALID_DEVICE);
	FAILS(cuDeviceGetP2PAttribute(&value, 2, 0, 2), CUDA_ERROR_INVALID_DEVICE);
	FAILS(cuCtxEnablePeerAccess(ctx[1], 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
	FAILS(cuCtxEnablePeerAccess(ctx[1], 1), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuCtxEnablePeerAccess(ctx[0], 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
	FAILS(cuCtxEnablePeerAccess((CUcontext)in, 0), CUDA_ERROR_INVALID_CONTEXT);
	FAILS(cuCtxDisablePeerAccess(ctx[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

static void visible(const char *list, const char *expected)
{
	struct device_facts f[3] = { { .pci_id = 0x1028, .bus = 1 },
				     { .pci_id = 0x1028, .bus = 0x12 },
				     { .pci_id = 0x1028, .bus = 0x13 } };
	unsigned int at[3], n, i;
	char got[4] = "";
	CUuuid uuid[3];

	for (i = 0; i < 3; i++)
		uuid_of(&f[i], &uuid[i]);
	n = visible_devices(list, uuid, 3, at);

	for (i = 0; i < n; i++)
		got[i] = '0' + at[i];
	assert_string_equal(got, expected);
}

/* GPU 1's UUID is 7067766b... with its place on the bus, 0x1200, as the last four bytes */
static void are_hidden_and_sorted(void **state)
{
	visible(NULL, "012");
	visible("", "");
	visible("2,0", "20");
	visible(" 1 , 2", "12");
	visible("1,7,0", "1");
	visible("1,x,0", "1");
	visible("1x", "");
	visible("-1,0", "");
	visible("0,0,1", "0");
	visible("0,,1", "0");
	visible("0,1,2,0", "012");
	visible("GPU-7067766b-2810-0000-0000-000000120000", "1");
	visible("2,gpu-7067766b-2810-0000-0000-000000120000", "21");
	visible("GPU-7067766b-2810-0000-0000-00000013", "2");
	visible("GPU-7067766b", ""); /* three have it */
	visible("GPU-", "");
	visible("GPU-7067766b-2810-0000-0000-0000001200000", "");
}

/* GPUs at the same place of two machines have different UUIDs. */
static void have_uuids_of_their_machines(void **state)
{
	static const char *const ids[] = { "0123456789abcdef0123456789abcdef\n",
					   "0123456789abcdef0123456789abcdee\n", "\n", "" };
	struct device_facts f = { .pci_id = 0x1028, .bus = 3 };
	char path[] = "/tmp/kvgpu-machine-XXXXXX";
	int fd = mkstemp(path);
	CUuuid uuid[2];
	unsigned int i;

	assert_true(fd >= 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, ids[i], strlen(ids[i]), 0), strlen(ids[i]));
		f.machine = machine_word(path);
		assert_int_equal(!f.machine, i > 1);
		if (i < 2)
			uuid_of(&f, &uuid[i]);
	}
	assert_memory_not_equal(&uuid[0], &uuid[1], sizeof(uuid[0]));
	close(fd);
	unlink(path);
	assert_int_equal(machine_word(path), 0);
	assert_int_equal(driver_device(0)->machine, machine_word("/etc/machine-id"));
}

/* ------------------------------------------------------------------ copies */

static void by_addresses_alone(void **state)
{
	OK(cuMemcpy(p[1], p[0], BYTES));
	arrives();
	OK(cuMemsetD8_v2(p[1], 0, BYTES));
	OK(cuMemcpyDtoD_v2(p[1], p[0], BYTES));
	arrives();
	OK(cuMemsetD8_v2(p[1], 0, BYTES));
	OK(cuMemcpyPeer(p[1], ctx[1], p[0], ctx[0], BYTES));
	arrives();
	FAILS(cuMemcpy(p[1], p[0], BYTES + (1 << 20)), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemcpy(p[1], (CUdeviceptr)16, 4), CUDA_ERROR_INVALID_VALUE);
}

/*
 * The caller gets on at once. The copy waits for the held work before it, and later work for the
 * copy.
 */
static void in_the_order_of_a_stream(void **state)
{
	uint32_t *seen;
	CUstream s;

	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuMemAllocHost_v2((void **)&seen, 4));
	OK(cuCtxSynchronize());
	alarm(60);
	__atomic_store_n(&fake_hold[QUEUE_COMPUTE], true, __ATOMIC_SEQ_CST);
	OK(cuMemsetD8Async(p[0], 0x5a, BYTES, s));
	OK(cuMemcpyPeerAsync(p[1], ctx[1], p[0], ctx[0], BYTES, s));
	OK(cuMemsetD8Async(p[0], 0x77, BYTES, s));
	OK(cuMemcpyDtoHAsync_v2(seen, p[0], 4, s));
	FAILS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	__atomic_store_n(&fake_hold[QUEUE_COMPUTE], false, __ATOMIC_SEQ_CST);
	OK(cuStreamSynchronize(s));
	alarm(0);
	assert_int_equal(*seen, 0x77777777);
	memset(in, 0x5a, BYTES);
	arrives();
}

/* A stream of a context that has one end, or none. */
static void in_a_stream_of_the_other(void **state)
{
	CUdeviceptr q;
	CUstream s;

	OK(cuMemAlloc_v2(&q, BYTES));
	OK(cuCtxSetCurrent(ctx[1]));
	OK(cuStreamCreate(&s, 0));
	OK(cuMemcpyDtoDAsync_v2(q, p[0], BYTES, s));
	OK(cuMemcpyAsync(p[1], q, BYTES, s));
	OK(cuStreamSynchronize(s));
	arrives();
	memset(in, 3, BYTES);
	OK(cuMemcpyHtoDAsync_v2(q, in, BYTES, s));
	OK(cuMemcpyDtoHAsync_v2(out, q, BYTES, s));
	OK(cuStreamSynchronize(s));
	assert_memory_equal(in, out, BYTES);
}

static void write_late(void *memory)
{
	usleep(30000);
	memset(memory, 0x3c, BYTES);
}

/* Read when the copy's turn comes, after a host function and the other device's work. */
static void of_pinned_memory(void **state)
{
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .srcPitch = PITCH,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			    .dstDevice = p[1],
			    .dstPitch = PITCH,
			    .WidthInBytes = PITCH,
			    .Height = BYTES / PITCH };
	CUevent written;
	CUstream s[2];
	uint8_t *m;

	OK(cuMemAllocHost_v2((void **)&m, BYTES));
	OK(cuStreamCreate(&s[0], CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&written, CU_EVENT_DISABLE_TIMING));
	OK(cuCtxSetCurrent(ctx[1]));
	OK(cuStreamCreate(&s[1], CU_STREAM_NON_BLOCKING));
	memset(m, 0, BYTES);
	OK(cuLaunchHostFunc(s[1], write_late, m));
	OK(cuMemcpyHtoDAsync_v2(p[0], m, BYTES, s[1]));
	OK(cuMemcpyAsync(p[1], (CUdeviceptr)(uintptr_t)m, BYTES, s[1]));
	OK(cuStreamSynchronize(s[1]));
	memset(in, 0x3c, BYTES);
	arrives();
	OK(cuMemcpyDtoH_v2(out, p[0], BYTES));
	assert_memory_equal(in, out, BYTES);
	OK(cuMemsetD8_v2(p[0], 0x11, BYTES));
	OK(cuLaunchHostFunc(s[0], write_late, m));
	OK(cuMemcpyDtoHAsync_v2(m, p[0], BYTES, s[0]));
	OK(cuEventRecord(written, s[0]));
	OK(cuStreamWaitEvent(s[1], written, 0));
	c.srcHost = m;
	OK(cuMemcpy2DAsync_v2(&c, s[1]));
	OK(cuMemsetD8Async(p[1] + PITCH * (BYTES / PITCH), 0x11, BYTES % PITCH, s[1]));
	OK(cuMemcpyDtoHAsync_v2(m, p[1], BYTES, s[1]));
	OK(cuStreamSynchronize(s[1]));
	memset(in, 0x11, BYTES);
	arrives();
	assert_memory_equal(in, m, BYTES);
}

/* More pieces than there are staging buffers. */
static void many_at_once(void **state)
{
	enum { WORDS = 10 << 18 };
	uint32_t *from = malloc(WORDS * 4), *to = calloc(WORDS, 4);
	CUdeviceptr q[2];
	CUstream s;
	size_t i;

	for (i = 0; i < WORDS; i++)
		from[i] = i * 2654435761u;
	OK(cuMemAlloc_v2(&q[0], WORDS * 4));
	OK(cuMemcpyHtoD_v2(q[0], from, WORDS * 4));
	OK(cuCtxSetCurrent(ctx[1]));
	OK(cuMemAlloc_v2(&q[1], WORDS * 4));
	OK(cuCtxSetCurrent(ctx[0]));
	OK(cuStreamCreate(&s, 0));
	OK(cuLaunchHostFunc(s, write_late, out));
	OK(cuMemcpyAsync(q[1], q[0], WORDS * 4, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH_v2(to, q[1], WORDS * 4));
	assert_memory_equal(from, to, WORDS * 4);
	free(from);
	free(to);
}

static void of_lines(void **state)
{
	CUDA_MEMCPY3D_PEER c = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
				 .srcDevice = p[0],
				 .srcContext = ctx[0],
				 .srcPitch = PITCH,
				 .dstMemoryType = CU_MEMORYTYPE_DEVICE,
				 .dstDevice = p[1],
				 .dstContext = ctx[1],
				 .dstPitch = PITCH,
				 .WidthInBytes = WIDTH,
				 .Height = LINES,
				 .Depth = 1 };
	size_t i, bad = 0;

	OK(cuCtxSetCurrent(ctx[1]));
	OK(cuMemsetD8_v2(p[1], 9, BYTES));
	OK(cuMemcpy3DPeer(&c));
	OK(cuMemcpyDtoH_v2(out, p[1], BYTES));
	for (i = 0; i < BYTES; i++)
		bad += out[i] != (i % PITCH < WIDTH && i / PITCH < LINES ? in[i] : 9);
	assert_int_equal(bad, 0);
	c.Height = BYTES / PITCH + 2;
	FAILS(cuMemcpy3DPeer(&c), CUDA_ERROR_INVALID_VALUE);
	c.srcContext = (CUcontext)in;
	FAILS(cuMemcpy3DPeer(&c), CUDA_ERROR_INVALID_CONTEXT);
}

static void of_arrays(void **state)
{
	CUDA_ARRAY_DESCRIPTOR d = {
		.Width = 100, .Height = 40, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1
	};
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .srcHost = in,
			    .srcPitch = 100,
			    .dstMemoryType = CU_MEMORYTYPE_ARRAY,
			    .WidthInBytes = 100,
			    .Height = 40 };
	CUarray a[2];

	OK(cuArrayCreate_v2(&a[0], &d));
	OK(cuCtxSetCurrent(ctx[1]));
	OK(cuArrayCreate_v2(&a[1], &d));
	c.dstArray = a[0];
	OK(cuMemcpy2D_v2(&c));
	c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	c.srcArray = a[0];
	c.dstArray = a[1];
	OK(cuMemcpy2D_v2(&c));
	c.srcArray = a[1];
	c.dstMemoryType = CU_MEMORYTYPE_HOST;
	c.dstHost = out;
	c.dstPitch = 100;
	OK(cuMemcpy2D_v2(&c));
	assert_memory_equal(in, out, 4000);
}

/* A context is destroyed while a copy to it may be under way. */
static void end_after_their_copies(void **state)
{
	CUstream s;

	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuMemcpyPeerAsync(p[1], ctx[1], p[0], ctx[0], BYTES, s));
	alarm(60);
	OK(cuCtxDestroy_v2(ctx[1]));
	alarm(0);
	ctx[1] = NULL;
	OK(cuStreamSynchronize(s));
	FAILS(cuMemcpyPeer(p[1], ctx[1], p[0], ctx[0], 4), CUDA_ERROR_INVALID_CONTEXT);
}

/* A kernel on the first device loses it, when it is not @held any more. A stream of the second. */
static CUstream lose_the_first_device(bool held)
{
	CUdeviceptr none = 1;
	void *params[] = { &none };
	CUfunction f;
	CUstream s;
	CUmodule m;

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "store"));
	OK(cuCtxSynchronize());
	OK(cuCtxSetCurrent(ctx[1]));
	OK(cuStreamCreate(&s, 0));
	OK(cuCtxSetCurrent(ctx[0]));
	__atomic_store_n(&fake_hold[QUEUE_COMPUTE], held, __ATOMIC_SEQ_CST);
	fake_fail_after = 0;
	fake_failure = DEVICE_LOST;
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	return s;
}

/* Copy from the first device to the second, in a stream of the second, and lose the first. */
static CUstream copy_from_a_lost_device(void)
{
	CUstream s = lose_the_first_device(true);

	OK(cuMemcpyPeerAsync(p[1], ctx[1], p[0], ctx[0], BYTES, s));
	__atomic_store_n(&fake_hold[QUEUE_COMPUTE], false, __ATOMIC_SEQ_CST);
	return s;
}

/*
 * The device that a copy leaves is lost: the other device's stream has an error, and not the bytes
 * that happened to be in a staging buffer.
 */
static void tell_what_was_lost(void **state)
{
	CUstream s = copy_from_a_lost_device();

	alarm(60);
	FAILS(cuStreamSynchronize(s), CUDA_ERROR_UNKNOWN);
	alarm(0);
	FAILS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* Where the loss is known before the copy, the call tells it, and the other context goes on. */
static void tell_what_is_lost_already(void **state)
{
	lose_the_first_device(false);
	FAILS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	FAILS(cuMemcpyPeerAsync(p[1], ctx[1], p[0], ctx[0], BYTES, NULL),
	      CUDA_ERROR_ILLEGAL_ADDRESS);
	OK(cuCtxSetCurrent(ctx[1]));
	FAILS(cuMemcpyPeerAsync(p[1], ctx[1], p[0], ctx[0], BYTES, NULL),
	      CUDA_ERROR_ILLEGAL_ADDRESS);
	OK(cuCtxSynchronize());
}

/*
 * A context ends after its own thread has kept an error that no call has asked for. For the thread
 * sanitizer: the end reads the error, and has waited for nothing of that thread yet.
 */
static void end_with_an_error_of_their_own(void **state)
{
	copy_from_a_lost_device();
	usleep(300000);
	alarm(60);
	OK(cuCtxDestroy_v2(ctx[1]));
	alarm(0);
	ctx[1] = NULL;
	FAILS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* without a context; main() has the devices in the other order */
static void tell_what_is_in_use(void **state)
{
	struct kvgpu_usage u;

	fake_in_use[1] = 5 << 20;
	OK(kvgpu_device_usage(0, &u));
	assert_true(u.here);
	assert_int_equal(u.total, fake_vram);
	assert_int_equal(u.used, 5 << 20);
	OK(kvgpu_device_usage(1, &u));
	assert_int_equal(u.used, 0);
	fake_in_use[1] = fake_vram + 1;
	OK(kvgpu_device_usage(0, &u));
	assert_int_equal(u.used, fake_vram);
	FAILS(kvgpu_device_usage(2, &u), CUDA_ERROR_INVALID_DEVICE);
}

/* CUDA device 0 is GPU 1, which is like a vGPU: its copy engine shares a runlist with GR. */
static void copies_beside_kernels_are_told(void **state)
{
	int v;

	for (CUdevice d = 0; d < 2; d++) {
		assert_int_equal(cuDeviceGetAttribute(&v, 15, d), 0);
		assert_int_equal(v, d == 1);
		assert_int_equal(cuDeviceGetAttribute(&v, 40, d), 0);
		assert_int_equal(v, d == 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_beside_kernels_are_told),
#define IN_BOTH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		IN_BOTH(are_distinct),
		IN_BOTH(do_not_reach_each_other),
		cmocka_unit_test(are_hidden_and_sorted),
		cmocka_unit_test(have_uuids_of_their_machines),
		cmocka_unit_test(tell_what_is_in_use),
		IN_BOTH(by_addresses_alone),
		IN_BOTH(in_the_order_of_a_stream),
		IN_BOTH(in_a_stream_of_the_other),
		IN_BOTH(of_pinned_memory),
		IN_BOTH(many_at_once),
		IN_BOTH(of_lines),
		IN_BOTH(of_arrays),
		IN_BOTH(end_after_their_copies),
		IN_BOTH(tell_what_was_lost),
		IN_BOTH(tell_what_is_lost_already),
		IN_BOTH(end_with_an_error_of_their_own),
	};

	fake_count = 2;
	setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
	if (cuInit(0))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
