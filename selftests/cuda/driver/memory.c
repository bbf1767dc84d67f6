// SPDX-License-Identifier: GPL-2.0-only
/* Copies to, on and from the device, odd sizes, several lines; fills. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

enum { BIG = 5 << 20 };

static void round_trip(size_t n, size_t offset)
{
	CUdeviceptr a = device_buffer(n + offset), b = device_buffer(n + offset);
	uint8_t *in = fresh(n), *out = fresh(n);
	CUresult r;

	noise(in, n, n);
	memset(out, 0, n);
	r = cuMemcpyHtoD_v2(a + offset, in, n);
	r = r ? r : cuMemcpyDtoD_v2(b + offset, a + offset, n);
	r = r ? r : cuMemcpyDtoH_v2(out, b + offset, n);
	tap_result(!r && !memcmp(in, out, n), "host to device to device to host",
		   "%zu bytes at %zu: %s", n, offset, error_name(r));
	MUST(cuMemFree_v2(a));
	MUST(cuMemFree_v2(b));
	free(in);
	free(out);
}

static void lines(void)
{
	enum { W = 100, H = 37, PITCH = 512 };
	uint8_t in[W * H], out[W * H];
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .srcHost = in,
			    .srcPitch = W,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			    .dstPitch = PITCH,
			    .WidthInBytes = W,
			    .Height = H };
	CUdeviceptr d = device_buffer(PITCH * H);
	CUresult r;

	noise(in, sizeof(in), 5);
	c.dstDevice = d;
	r = cuMemcpy2D_v2(&c);
	c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	c.srcDevice = d;
	c.srcPitch = PITCH;
	c.dstMemoryType = CU_MEMORYTYPE_HOST;
	c.dstHost = out;
	c.dstPitch = W;
	r = r ? r : cuMemcpy2D_v2(&c);
	tap_result(!r && !memcmp(in, out, sizeof(in)), "lines with a pitch", "%s", error_name(r));
	MUST(cuMemFree_v2(d));
}

static void fills(void)
{
	enum { N = 1000 };
	CUdeviceptr d = device_buffer(4 * N);
	uint32_t out[N];
	unsigned int i, wrong = 0;
	CUresult r = cuMemsetD32_v2(d, 0x12345678, N);

	r = r ? r : cuMemsetD16_v2(d + 400, 0xabcd, 100);
	r = r ? r : cuMemsetD8_v2(d + 4, 0x5a, 4);
	r = r ? r : cuMemsetD2D8_v2(d + 2000, 40, 0xee, 4, 10);
	r = r ? r : cuMemcpyDtoH_v2(out, d, sizeof(out));
	for (i = 0; i < N; i++) {
		uint32_t want = i == 1				   ? 0x5a5a5a5a :
				i >= 100 && i < 150		   ? 0xabcdabcd :
				i >= 500 && i < 600 && i % 10 == 0 ? 0xeeeeeeee :
								     0x12345678;

		wrong += out[i] != want;
	}
	tap_result(!r && !wrong, "fills of 1, 2 and 4 bytes, and of lines", "%s, %u words wrong",
		   error_name(r), wrong);
	MUST(cuMemFree_v2(d));
}

static void pinned(void)
{
	enum { N = 1 << 20 };
	CUdeviceptr d = device_buffer(N), va;
	uint8_t *host;
	CUresult r;

	if (!maps_host()) {
		tap_skip("pinned memory, by both of its addresses",
			 "a remoted GPU, or one in this process, does not see pinned memory");
		MUST(cuMemFree_v2(d));
		return;
	}
	MUST(cuMemHostAlloc((void **)&host, 2 * N, CU_MEMHOSTALLOC_DEVICEMAP));
	MUST(cuMemHostGetDevicePointer_v2(&va, host, 0));
	noise(host, N, 9);
	memset(host + N, 0, N);
	r = cuMemcpyHtoDAsync_v2(d, host, N, NULL);
	r = r ? r : cuMemcpyDtoD_v2(va + N, d, N);
	r = r ? r : cuCtxSynchronize();
	tap_result(!r && !memcmp(host, host + N, N), "pinned memory, by both of its addresses",
		   "%s", error_name(r));
	MUST(cuMemFreeHost(host));
	MUST(cuMemFree_v2(d));
}

static void registered(void)
{
	enum { N = 1 << 20, BEFORE = 300 };
	CUdeviceptr d = device_buffer(N), va = 0;
	uint8_t *all = fresh(2 * N + 2 * BEFORE), *host = all + BEFORE,
		*want = fresh(2 * N + 2 * BEFORE);
	CUresult r;

	noise(all, 2 * N + 2 * BEFORE, 11);
	memcpy(want, all, 2 * N + 2 * BEFORE);
	memcpy(want + BEFORE + N, want + BEFORE, N);
	r = cuMemHostRegister_v2(host, 2 * N, CU_MEMHOSTALLOC_DEVICEMAP);
	if (r == CUDA_ERROR_NOT_SUPPORTED) {
		tap_skip(
			"registered memory, by both of its addresses",
			"a remoted GPU, or one in this process, shows no memory at two addresses; on stock nouveau programs/registered_memory tests it");
	} else {
		r = r ? r : cuMemHostGetDevicePointer_v2(&va, host, 0);
		r = r ? r : cuMemcpyHtoDAsync_v2(d, host, N, NULL);
		r = r ? r : cuMemcpyDtoD_v2(va + N, d, N);
		r = r ? r : cuCtxSynchronize();
		r = r ? r : cuMemHostUnregister(host);
		tap_result(!r && !memcmp(all, want, 2 * N + 2 * BEFORE),
			   "registered memory, by both of its addresses", "%s", error_name(r));
	}
	free(all);
	free(want);
	MUST(cuMemFree_v2(d));
}

void test_memory(void)
{
	CUdeviceptr d = device_buffer(100);
	CUresult r;

	round_trip(1, 0);
	round_trip(4099, 3);
	round_trip(BIG + 1, 1);
	lines();
	fills();
	pinned();
	registered();
	r = cuMemcpyHtoD_v2(d + 90, "123456789012", 12);
	tap_result(r == CUDA_ERROR_INVALID_VALUE, "a copy beyond an allocation is refused", "%s",
		   error_name(r));
	MUST(cuMemFree_v2(d));
	r = cuMemFree_v2(d);
	tap_result(r == CUDA_ERROR_INVALID_VALUE, "so is freeing twice", "%s", error_name(r));
}
