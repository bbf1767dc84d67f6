// SPDX-License-Identifier: MIT
/* Memory, copies, fills, symbols and streams of the runtime API on a fake device. */
#include <selftests/unit_test.h>
#include <stdio.h>

#include "../driver/fake.h"
#include "program.h"

static int set_up(void **state)
{
	memset(fake_hold, 0, sizeof(fake_hold));
	return cudaGetLastError();
}

static int tear_down(void **state)
{
	int r = cudaDeviceReset();

	return r || fake_open || fake_buffers || fake_early || cudaGetLastError();
}

static void pattern(uint8_t *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		bytes[i] = (i + 1) * 2654435761u >> 24;
}

/* ------------------------------------------------------------------ allocations */

/* a first call that needs no context */
TEST_WITH(first_call, NULL, NULL)
{
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	CUcontext ctx = (CUcontext)&mode;

	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, cudaStreamCaptureModeGlobal);
	assert_int_equal(cuCtxGetCurrent(&ctx), CUDA_SUCCESS);
	assert_null(ctx);
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
}

TEST(allocations)
{
	struct cudaPitchedPtr box;
	size_t pitch, unused, total;
	void *p = (void *)1, *q;

	OK(cudaMalloc(&p, 0));
	assert_null(p);
	OK(cudaFree(NULL));
	OK(cudaMalloc(&p, 100));
	OK(cudaFree(p));
	FAILS(cudaFree(p), cudaErrorInvalidValue);
	OK(cudaMallocPitch(&p, &pitch, 100, 30));
	assert_true(pitch >= 100 && pitch % 512 == 0);
	OK(cudaMalloc3D(&box, (struct cudaExtent){ 100, 20, 3 }));
	assert_true(box.pitch == pitch && box.xsize == 100 && box.ysize == 20);
	OK(cudaMemset(box.ptr, 0, box.pitch * 20 * 3));
	FAILS(cudaMalloc3D(&box, (struct cudaExtent){ 1, SIZE_MAX, 3 }), cudaErrorInvalidValue);
	OK(cudaMemGetInfo(&unused, &total));
	assert_true(total == fake_vram && unused < total);
	FAILS(cudaMalloc(&q, unused + 1), cudaErrorMemoryAllocation);
	FAILS(cudaMallocManaged(&q, 16, 1), cudaErrorNotSupported);
	q = (void *)1;
	OK(cudaMallocManaged(&q, 0, 1));
	assert_null(q);
	cudaGetLastError();
}

TEST(host_memory)
{
	struct cudaPointerAttributes a;
	unsigned int flags;
	void *host, *device;
	int plain;

	OK(cudaHostAlloc(&host, 256, 2));
	OK(cudaHostGetDevicePointer(&device, (char *)host + 16, 0));
	OK(cudaMemset(device, 0x5a, 4));
	OK(cudaDeviceSynchronize());
	assert_int_equal(((uint8_t *)host)[16], 0x5a);
	assert_int_equal(((uint8_t *)host)[19], 0x5a);
	/* by the host's address: addresses are unified */
	OK(cudaMemset(host, 0x77, 4));
	OK(cudaMemcpy((char *)host + 4, host, 4, cudaMemcpyDeviceToDevice));
	OK(cudaDeviceSynchronize());
	assert_int_equal(((uint8_t *)host)[0], 0x77);
	assert_int_equal(((uint8_t *)host)[7], 0x77);
	FAILS(cudaHostUnregister(host), cudaErrorInvalidValue);
	FAILS(cudaHostUnregister(&plain), cudaErrorHostMemoryNotRegistered);
	OK(cudaHostRegister(&plain, sizeof(plain), 0));
	FAILS(cudaHostRegister(&plain, sizeof(plain), 0), cudaErrorHostMemoryAlreadyRegistered);
	OK(cudaPointerGetAttributes(&a, &plain));
	assert_true(a.type == cudaMemoryTypeHost && a.hostPointer == &plain && !a.devicePointer);
	OK(cudaHostUnregister(&plain));
	OK(cudaHostGetFlags(&flags, host));
	assert_int_equal(flags & 2, 2);
	OK(cudaPointerGetAttributes(&a, host));
	assert_int_equal(a.type, cudaMemoryTypeHost);
	assert_ptr_equal(a.hostPointer, host);
	OK(cudaMalloc(&device, 16));
	OK(cudaPointerGetAttributes(&a, device));
	assert_int_equal(a.type, cudaMemoryTypeDevice);
	assert_ptr_equal(a.devicePointer, device);
	assert_int_equal(a.device, 0);
	OK(cudaPointerGetAttributes(&a, &plain));
	assert_int_equal(a.type, cudaMemoryTypeUnregistered);
	assert_ptr_equal(a.hostPointer, &plain);
	assert_null(a.devicePointer);
	FAILS(cudaFree(host), cudaErrorInvalidValue);
	OK(cudaFreeHost(host));
	FAILS(cudaFreeHost(host), cudaErrorInvalidValue);
	OK(cudaFreeHost(NULL));
	FAILS(cudaHostAlloc(&host, 16, 0x80), cudaErrorInvalidValue);
	FAILS(cudaHostGetDevicePointer(&device, &plain, 0), cudaErrorInvalidValue);
	cudaGetLastError();
}

/* The binary is not kept, and no pointer is written. */
TEST(missing_managed_variable)
{
	void *counter = NULL, *table = NULL, *missing = NULL, **handle;
	void *data = file_bytes("selftests/cuda/unit/cuda/kepler/image/data/managed.cubin");
	struct wrapper w = wrap(data);
	unsigned int before;

	fake_same = true;
	handle = __cudaRegisterFatBinary(&w);
	__cudaRegisterManagedVar(handle, &counter, NULL, "counter", 0, 4, 0, 0);
	__cudaRegisterManagedVar(handle, &missing, NULL, "missing", 0, 4, 0, 0);
	__cudaRegisterManagedVar(handle, &table, NULL, "table", 0, 16, 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
	OK(cudaFree(NULL));
	before = fake_buffers;
	assert_int_equal(__cudaInitModule(handle), 0);
	assert_int_equal(fake_buffers, before);
	assert_true(!counter && !table && !missing);
	__cudaUnregisterFatBinary(handle);
	cudaGetLastError();
	fake_same = false;
	free(data);
}

/* data/managed.cu. Pointers are set when the module is asked for. */
TEST(managed_variables)
{
	int *counter = NULL, (*table)[4] = NULL, *where = NULL;
	struct cudaPointerAttributes a;
	struct cudaFuncAttributes f;
	struct wrapper w;
	void **handle,
		*data = file_bytes("selftests/cuda/unit/cuda/kepler/image/data/managed.cubin"), *p;
	char kernel, plain;

	w = wrap(data);
	handle = __cudaRegisterFatBinary(&w);
	__cudaRegisterFunction(handle, &kernel, NULL, "use", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterManagedVar(handle, (void **)&counter, NULL, "counter", 0, 4, 0, 0);
	__cudaRegisterManagedVar(handle, (void **)&table, NULL, "table", 0, 16, 0, 0);
	__cudaRegisterVar(handle, &plain, NULL, "plain", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
	/* first with two addresses for CPU and GPU */
	assert_int_equal(__cudaInitModule(handle), 0);
	FAILS(cudaFuncGetAttributes(&f, &kernel), cudaErrorNotSupported);
	cudaGetLastError();
	OK(cudaDeviceReset());
	fake_same = true;
	assert_int_equal(__cudaInitModule(handle), 1);
	assert_true(counter && table && *counter == 5 && (*table)[3] == 0);
	OK(cudaGetSymbolAddress((void **)&where, &plain));
	assert_int_equal(*where, 7);
	OK(cudaPointerGetAttributes(&a, counter));
	assert_int_equal(a.type, cudaMemoryTypeManaged);
	assert_true(a.devicePointer == counter && a.hostPointer == counter);
	FAILS(cudaFree(counter), cudaErrorInvalidValue);
	FAILS(cudaFreeHost(counter), cudaErrorInvalidValue);
	*counter = 9;
	OK(cudaMallocManaged(&p, 64, 1));
	OK(cudaMemset(p, 3, 64));
	assert_int_equal(((char *)p)[63], 3);
	OK(cudaMemcpy(p, counter, 4, cudaMemcpyDefault));
	assert_int_equal(*(int *)p, 9);
	FAILS(cudaMemPrefetchAsync(p, 64, 0, NULL), cudaErrorInvalidDevice);
	OK(cudaMemAdvise(p, 64, cudaMemAdviseSetReadMostly, 0));
	OK(cudaStreamAttachMemAsync(NULL, p, 0, 1));
	OK(cudaFree(p));
	OK(cudaDeviceReset());
	OK(cudaFuncGetAttributes(&f, &kernel));
	assert_int_equal(*counter, 5);
	__cudaUnregisterFatBinary(handle);
	cudaGetLastError();
	OK(cudaDeviceReset());
	free(data);
	fake_same = false;
}

/* ------------------------------------------------------------------ copies */

TEST(lines_of_bytes)
{
	enum { N = (2 << 20) + 77 };
	uint8_t *in = malloc(N), *out = malloc(N);
	void *a, *b;

	pattern(in, N);
	OK(cudaMalloc(&a, N));
	OK(cudaMalloc(&b, N));
	OK(cudaMemcpy(a, in, N, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(b, a, N, cudaMemcpyDeviceToDevice));
	OK(cudaMemcpy(out, b, N, cudaMemcpyDeviceToHost));
	assert_memory_equal(in, out, N);
	memset(out, 0, N);
	OK(cudaMemcpyAsync(out, in, N, cudaMemcpyHostToHost, NULL));
	OK(cudaStreamSynchronize(NULL));
	assert_memory_equal(in, out, N);
	OK(cudaMemset(b, 0, N));
	OK(cudaMemcpy(b, in, N, cudaMemcpyDefault));
	memset(out, 0, N);
	OK(cudaMemcpy_ptds(out, b, N, cudaMemcpyDefault));
	assert_memory_equal(in, out, N);
	OK(cudaMemset(b, 0, N));
	/* the direction calls a GPU address the host's */
	OK(cudaMemcpy(b, a, N, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(b, a, N, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(out, b, N, cudaMemcpyDeviceToHost));
	assert_memory_equal(in, out, N);
	OK(cudaMemset(b, 0, N));
	OK(cudaMemcpyPeer(b, 0, a, 0, N));
	OK(cudaMemcpy(out, b, N, cudaMemcpyDeviceToHost));
	assert_memory_equal(in, out, N);
	FAILS(cudaMemcpyPeer(b, 0, a, 1, N), cudaErrorInvalidDevice);
	FAILS(cudaMemcpy(a, in, N, 5), cudaErrorInvalidMemcpyDirection);
	FAILS(cudaMemcpy(a, NULL, N, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	FAILS(cudaMemcpy((char *)a + 1, in, N, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	FAILS(cudaMemcpy(in, out, N, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
	OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
	cudaGetLastError();
	free(in);
	free(out);
}

TEST(planes)
{
	uint8_t in[40 * 13], out[64 * 13], want[64 * 13];
	size_t pitch;
	void *d;
	int y;

	pattern(in, sizeof(in));
	OK(cudaMallocPitch(&d, &pitch, 33, 13));
	OK(cudaMemset2D(d, pitch, 0xee, 33, 13));
	OK(cudaMemcpy2D(d, pitch, in, 40, 30, 12, cudaMemcpyHostToDevice));
	memset(out, 0x11, sizeof(out));
	memcpy(want, out, sizeof(out));
	OK(cudaMemcpy2DAsync(out, 64, d, pitch, 33, 13, cudaMemcpyDefault, cudaStreamPerThread));
	OK(cudaStreamSynchronize(cudaStreamPerThread));
	for (y = 0; y < 13; y++) {
		memset(want + 64 * y, 0xee, 33);
		if (y < 12)
			memcpy(want + 64 * y, in + 40 * y, 30);
	}
	assert_memory_equal(out, want, sizeof(out));
	FAILS(cudaMemcpy2D(d, pitch, in, 40, 41, 2, cudaMemcpyHostToDevice),
	      cudaErrorInvalidPitchValue);
	FAILS(cudaMemcpy2D(out, 20, d, pitch, 33, 2, cudaMemcpyDeviceToHost),
	      cudaErrorInvalidValue);
	FAILS(cudaMemcpy2D(d, pitch, in, 40, 30, 14, cudaMemcpyHostToDevice),
	      cudaErrorInvalidValue);
	OK(cudaMemcpy2D(d, pitch, in, 40, 0, 14, cudaMemcpyHostToDevice));
	cudaGetLastError();
}

TEST(boxes)
{
	enum { W = 21, H = 5, D = 4 };
	uint8_t in[W * H * D], out[W * H * D], want[W * H * D];
	struct cudaMemcpy3DParms p = { .srcPtr = { in, W, W, H },
				       .extent = { W, H, D },
				       .kind = cudaMemcpyHostToDevice };
	struct cudaPitchedPtr box;
	int y, z;

	pattern(in, sizeof(in));
	OK(cudaMalloc3D(&box, p.extent));
	p.dstPtr = box;
	OK(cudaMemcpy3D(&p));
	p.srcPtr = box;
	p.dstPtr = (struct cudaPitchedPtr){ out, W, W, H };
	p.kind = cudaMemcpyDeviceToHost;
	OK(cudaMemcpy3D(&p));
	assert_memory_equal(in, out, sizeof(in));
	memset(out, 0, sizeof(out));
	memset(want, 0, sizeof(want));
	p.srcPos = (struct cudaPos){ 3, 1, 2 };
	p.dstPos = (struct cudaPos){ 5, 2, 0 };
	p.extent = (struct cudaExtent){ 7, 3, 2 };
	for (z = 0; z < 2; z++)
		for (y = 0; y < 3; y++)
			memcpy(want + (z * H + y + 2) * W + 5, in + ((z + 2) * H + y + 1) * W + 3,
			       7);
	OK(cudaMemcpy3DAsync(&p, NULL));
	OK(cudaStreamSynchronize(NULL));
	assert_memory_equal(out, want, sizeof(want));
	/* all of it, then a box */
	OK(cudaMemset3D(box, 7, (struct cudaExtent){ W, H, D }));
	OK(cudaMemcpy3DPeer(&(struct cudaMemcpy3DPeerParms){
		.srcPtr = box, .dstPtr = box, .extent = { 4, 3, 2 } }));
	OK(cudaMemset3DAsync(box, 9, (struct cudaExtent){ 2, 3, 2 }, NULL));
	p = (struct cudaMemcpy3DParms){ .srcPtr = box,
					.dstPtr = { out, W, W, H },
					.extent = { W, H, D },
					.kind = cudaMemcpyDefault };
	OK(cudaMemcpy3D(&p));
	memset(want, 7, sizeof(want));
	for (z = 0; z < 2; z++)
		for (y = 0; y < 3; y++)
			memset(want + (z * H + y) * W, 9, 2);
	assert_memory_equal(out, want, sizeof(want));
	p.dstPtr.ptr = NULL;
	FAILS(cudaMemcpy3D(&p), cudaErrorInvalidValue);
	FAILS(cudaMemcpy3D(NULL), cudaErrorInvalidValue);
	p.dstPtr.ptr = out;
	p.dstPtr.pitch = W - 1;
	FAILS(cudaMemcpy3D(&p), cudaErrorInvalidPitchValue);
	FAILS(cudaMemset3D(box, 7, (struct cudaExtent){ 2, H + 1, 2 }), cudaErrorInvalidValue);
	cudaGetLastError();
}

TEST(symbols)
{
	float table[4], part[2] = { 8, 9 };
	int factors[4];
	void *p;

	register_program();
	OK(cudaMemcpyFromSymbol(table, &table_shadow, 16, 0, cudaMemcpyDeviceToHost));
	assert_true(table[0] == 0.5f && table[3] == 3.5f);
	OK(cudaMemcpyToSymbol(&table_shadow, part, 8, 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpyFromSymbolAsync(table, &table_shadow, 16, 0, cudaMemcpyDefault,
				     cudaStreamPerThread));
	OK(cudaStreamSynchronize(cudaStreamPerThread));
	assert_true(table[0] == 0.5f && table[1] == 8 && table[2] == 9 && table[3] == 3.5f);
	OK(cudaMemcpyFromSymbol_ptds(factors, &factors_shadow, 16, 0, cudaMemcpyDeviceToHost));
	assert_true(factors[0] == 1 && factors[3] == 1000);
	OK(cudaGetSymbolAddress(&p, &table_shadow));
	OK(cudaMemcpyToSymbolAsync(&factors_shadow, p, 8, 8, cudaMemcpyDeviceToDevice, NULL));
	OK(cudaMemcpyFromSymbol(factors, &factors_shadow, 16, 0, cudaMemcpyDeviceToHost));
	assert_true(factors[1] == 10 && factors[2] == 0x3f000000 && factors[3] == 0x41000000);
	FAILS(cudaMemcpyToSymbol(&table_shadow, part, 8, 9, cudaMemcpyHostToDevice),
	      cudaErrorInvalidValue);
	FAILS(cudaMemcpyToSymbol(&table_shadow, part, 8, SIZE_MAX, cudaMemcpyHostToDevice),
	      cudaErrorInvalidValue);
	FAILS(cudaMemcpyToSymbol(&table_shadow, part, 8, 0, cudaMemcpyDeviceToHost),
	      cudaErrorInvalidMemcpyDirection);
	FAILS(cudaMemcpyFromSymbol(part, &table_shadow, 8, 0, cudaMemcpyHostToDevice),
	      cudaErrorInvalidMemcpyDirection);
	FAILS(cudaMemcpyToSymbol(&p, part, 8, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
	cudaGetLastError();
	unregister_program();
}

/* ------------------------------------------------------------------ streams */

/*
 * The legacy stream waits for other streams, except non-blocking ones; the thread's own (_ptsz)
 * waits for none that the program made.
 */
TEST(stream_0)
{
	cudaStream_t other;
	uint32_t *pinned;
	void *p;

	OK(cudaMalloc(&p, 8));
	OK(cudaMallocHost((void **)&pinned, 8));
	OK(cudaMemset(p, 0, 8));
	OK(cudaDeviceSynchronize());
	OK(cudaStreamCreateWithFlags(&other, 1));
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cudaMemsetAsync(p, 1, 8, other));
	OK(cudaMemcpyAsync(pinned, p, 4, cudaMemcpyDeviceToHost, NULL));
	OK(cudaStreamSynchronize(NULL));
	assert_int_equal(*pinned, 0);
	fake_hold[QUEUE_COMPUTE] = false;
	OK(cudaStreamSynchronize(other));
	OK(cudaStreamDestroy(other));
	OK(cudaStreamCreate(&other));
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cudaMemsetAsync(p, 2, 8, other));
	OK(cudaMemcpyAsync_ptsz(pinned, p, 4, cudaMemcpyDeviceToHost, NULL));
	OK(cudaStreamSynchronize_ptsz(NULL));
	assert_int_equal(*pinned, 0x01010101);
	OK(cudaMemcpyAsync(pinned, p, 4, cudaMemcpyDeviceToHost, NULL));
	FAILS(cudaStreamQuery(NULL), cudaErrorNotReady);
	OK(cudaStreamQuery_ptsz(NULL));
	fake_hold[QUEUE_COMPUTE] = false;
	OK(cudaStreamSynchronize(NULL));
	assert_int_equal(*pinned, 0x02020202);
	OK(cudaStreamDestroy(other));
	FAILS(cudaStreamQuery(other), cudaErrorInvalidResourceHandle);
	cudaGetLastError();
}

TEST(events)
{
	cudaStream_t a, b;
	cudaEvent_t from, to;
	uint32_t *pinned;
	unsigned int flags;
	float ms;
	void *p;

	OK(cudaMalloc(&p, 4));
	OK(cudaMallocHost((void **)&pinned, 4));
	OK(cudaStreamCreateWithPriority(&a, 1, -1));
	OK(cudaStreamCreateWithFlags(&b, 1));
	OK(cudaStreamGetFlags(a, &flags));
	assert_int_equal(flags, 1);
	OK(cudaEventCreate(&from));
	OK(cudaEventCreate(&to));
	FAILS(cudaEventElapsedTime(&ms, from, to), cudaErrorInvalidResourceHandle);
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cudaEventRecord(from, a));
	OK(cudaMemsetAsync(p, 3, 4, a));
	OK(cudaEventRecord(to, a));
	OK(cudaStreamWaitEvent(b, to, 0));
	OK(cudaMemcpyAsync(pinned, p, 4, cudaMemcpyDeviceToHost, b));
	FAILS(cudaStreamQuery(b), cudaErrorNotReady);
	fake_hold[QUEUE_COMPUTE] = false;
	OK(cudaStreamSynchronize(b));
	assert_int_equal(*pinned, 0x03030303);
	OK(cudaEventElapsedTime(&ms, from, to));
	assert_true(ms > 0);
	OK(cudaEventDestroy(from));
	OK(cudaEventDestroy(to));
	FAILS(cudaEventRecord(to, a), cudaErrorInvalidResourceHandle);
	FAILS(cudaEventCreateWithFlags(&to, 0x40), cudaErrorInvalidValue);
	cudaGetLastError();
}

TEST(no_capture)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

	OK(cudaStreamIsCapturing(NULL, &status));
	assert_int_equal(status, cudaStreamCaptureStatusNone);
	FAILS(cudaStreamIsCapturing((cudaStream_t)&status, &status),
	      cudaErrorInvalidResourceHandle);
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, cudaStreamCaptureModeGlobal);
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, cudaStreamCaptureModeRelaxed);
	cudaGetLastError();
}

TEST(settings)
{
	enum cudaFuncCache cache;
	enum cudaSharedMemConfig banks;
	size_t n;
	int least, greatest;

	OK(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
	OK(cudaDeviceGetLimit(&n, cudaLimitStackSize));
	assert_int_equal(n, 2048);
	FAILS(cudaDeviceGetLimit(&n, 77), cudaErrorInvalidValue);
	assert_int_not_equal(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 64), cudaSuccess);
	OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
	OK(cudaThreadGetCacheConfig(&cache));
	assert_int_equal(cache, cudaFuncCachePreferL1);
	OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
	OK(cudaDeviceGetSharedMemConfig(&banks));
	assert_int_equal(banks, cudaSharedMemBankSizeEightByte);
	OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	FAILS(cudaDeviceSetSharedMemConfig(9), cudaErrorInvalidValue);
	cudaGetLastError();
}

TEST_MAIN(set_up, tear_down)
