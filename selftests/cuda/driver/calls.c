// SPDX-License-Identifier: GPL-2.0-only
/*
 * What calls answer to NULL and other odd arguments, and where no context is current; and that a
 * copy which is refused touches nothing. The numbers are the answers of NVIDIA's driver 580 on an
 * H100, where NVIDIA's manual for CUDA 11.8 says nothing else.
 */
#include "driver.h"

#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static unsigned int calls, wrong;

static void answered(unsigned int want, CUresult got, const char *call)
{
	calls++;
	if ((unsigned int)got == want)
		return;
	wrong++;
	tap_diag("%s: %d, not %u", call, got, want);
}

#define CALL(want, call) answered(want, call, #call)

static void all_answered(const char *about)
{
	tap_result(!wrong, about, "%u of %u calls answer otherwise", wrong, calls);
	calls = wrong = 0;
}

/* ------------------------------------------------------------------ odd arguments */

static void devices_and_errors(void)
{
	char name[64];
	const char *text;
	size_t bytes;
	CUdevice dev;
	int v;

	CALL(101, cuDeviceGet(&dev, 99));
	CALL(101, cuDeviceGet(&dev, -1));
	CALL(1, cuDeviceGet(NULL, 0));
	CALL(101, cuDeviceGetName(name, sizeof(name), 99));
	CALL(0, cuDeviceGetName(name, 3, 0));
	CALL(1, cuDeviceGetAttribute(&v, 9999, 0));
	CALL(1, cuDeviceGetAttribute(&v, 0, 0));
	CALL(101, cuDeviceGetAttribute(&v, 1, 99));
	CALL(1, cuDeviceGetAttribute(NULL, 1, 0));
	CALL(1, cuDeviceGetPCIBusId(name, 5, 0));
	CALL(1, cuDeviceGetByPCIBusId(&dev, "zz"));
	CALL(1, cuDeviceGetByPCIBusId(&dev, ""));
	CALL(1, cuDeviceGetByPCIBusId(&dev, NULL));
	CALL(1, cuDeviceTotalMem_v2(NULL, 0));
	CALL(101, cuDeviceTotalMem_v2(&bytes, 99));
	CALL(1, cuDeviceGetUuid(NULL, 0));
	CALL(0, cuDeviceCanAccessPeer(&v, 0, 0));
	CALL(101, cuDeviceCanAccessPeer(&v, 0, 99));
	CALL(101, cuDeviceGetP2PAttribute(&v, 9999, 0, 0));
	CALL(1, cuDeviceGetP2PAttribute(NULL, 1, 0, 0));
	CALL(1, cuGetErrorName((CUresult)12345, &text));
	CALL(1, cuGetErrorName((CUresult)1, NULL));
	all_answered("odd arguments: devices, errors");
}

static void contexts(CUcontext own)
{
	unsigned int flags, version;
	size_t bytes;
	CUcontext c;
	int v;

	CALL(1, cuDevicePrimaryCtxSetFlags_v2(0, 99));
	CALL(0, cuDevicePrimaryCtxGetState(0, &flags, &v));
	CALL(101, cuDevicePrimaryCtxGetState(99, &flags, &v));
	CALL(1, cuDevicePrimaryCtxGetState(0, NULL, NULL));
	CALL(1, cuDevicePrimaryCtxGetState(0, &flags, NULL));
	CALL(1, cuCtxCreate_v2(&c, 99, 0));
	CALL(101, cuCtxCreate_v2(&c, 0, 99));
	CALL(1, cuCtxCreate_v2(NULL, 0, 0));
	CALL(1, cuCtxPushCurrent_v2(NULL));
	CALL(1, cuCtxDestroy_v2(NULL));
	CALL(0, cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
	CALL(0, cuCtxGetLimit(&bytes, CU_LIMIT_MALLOC_HEAP_SIZE));
	/* what a K20m does not have is an unsupported limit, as the first is on an H100 */
	CALL(215, cuCtxGetLimit(&bytes, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
	CALL(215, cuCtxGetLimit(&bytes, CU_LIMIT_MAX_L2_FETCH_GRANULARITY));
	CALL(215, cuCtxGetLimit(&bytes, CU_LIMIT_PERSISTING_L2_CACHE_SIZE));
	CALL(215, cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2));
	CALL(1, cuCtxGetLimit(&bytes, (CUlimit)99));
	CALL(1, cuCtxSetLimit((CUlimit)99, 1));
	CALL(1, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1 << 30));
	CALL(1, cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
	CALL(1, cuCtxSetCacheConfig((CUfunc_cache)9));
	CALL(1, cuCtxSetSharedMemConfig((CUsharedconfig)9));
	CALL(0, cuCtxGetStreamPriorityRange(NULL, NULL));
	CALL(1, cuCtxGetApiVersion(own, NULL));
	CALL(0, cuCtxGetApiVersion(own, &version));
	CALL(1, cuCtxGetFlags(NULL));
	CALL(217, cuCtxEnablePeerAccess(own, 0));
	CALL(201, cuCtxEnablePeerAccess(NULL, 0));
	CALL(705, cuCtxDisablePeerAccess(own));
	all_answered("odd arguments: contexts");
}

static void memory(void)
{
	static char host[2 * PAGE];
	CUdeviceptr d = device_buffer(PAGE), p;
	CUpointer_attribute one = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
	unsigned int v;
	void *value = &v;
	size_t n;

	CALL(1, cuMemAlloc_v2(&p, 0));
	CALL(1, cuMemAllocManaged(&p, 0, 1));
	CALL(1, cuMemAllocManaged(&p, 64, 0));
	CALL(2, cuMemAlloc_v2(&p, 1ull << 60));
	CALL(1, cuMemAlloc_v2(NULL, 4));
	CALL(1, cuMemAllocPitch_v2(&p, &n, 0, 4, 4));
	CALL(1, cuMemAllocPitch_v2(&p, &n, 4, 0, 4));
	CALL(1, cuMemAllocPitch_v2(&p, &n, 64, 4, 3));
	CALL(1, cuMemAllocPitch_v2(&p, &n, 64, 4, 0));
	CALL(0, cuMemFree_v2(0));
	CALL(1, cuMemFree_v2(d + 256));
	CALL(1, cuMemFree_v2(PAGE));
	CALL(0, cuMemGetInfo_v2(NULL, &n));
	CALL(0, cuMemGetInfo_v2(&n, NULL));
	CALL(0, cuMemGetInfo_v2(NULL, NULL));
	CALL(0, cuMemGetAddressRange_v2(NULL, &n, d + 5));
	CALL(0, cuMemGetAddressRange_v2(NULL, NULL, d));
	CALL(500, cuMemGetAddressRange_v2(&p, &n, (uintptr_t)host));
	CALL(1, cuMemcpyHtoD_v2(d, NULL, 16));
	CALL(0, cuMemcpyHtoD_v2(d, NULL, 0));
	CALL(1, cuMemcpyHtoD_v2(64, host, 16));
	CALL(0, cuMemcpyHtoD_v2(64, host, 0));
	CALL(1, cuMemcpyDtoH_v2(host, d, 1 << 30));
	CALL(1, cuMemcpyDtoH_v2(NULL, d, 4));
	CALL(0, cuMemcpy(d, (uintptr_t)host, 16));
	CALL(0, cuMemcpy((uintptr_t)host, (uintptr_t)host, 16));
	CALL(1, cuMemsetD32_v2(d + 2, 1, 1));
	CALL(1, cuMemsetD32_v2(d, 1, PAGE / 4 + 1));
	CALL(1, cuMemsetD8_v2(d, 1, SIZE_MAX));
	CALL(0, cuMemsetD32_v2(d, 1, 0));
	CALL(1, cuMemsetD16_v2(d + 1, 1, 1));
	CALL(1, cuMemsetD8_v2(64, 1, 1));
	CALL(0, cuMemsetD8_v2(0, 1, 0));
	CALL(1, cuMemsetD2D8_v2(d, 4, 1, 8, 2));
	CALL(0, cuMemsetD2D8_v2(d, 8, 1, 0, 2));
	CALL(0, cuMemsetD2D8_v2(d, 8, 1, 8, 0));
	CALL(1, cuMemsetD2D32_v2(d, 6, 1, 1, 2));
	CALL(0, cuMemsetD2D8_v2(d, 1, 1, 8, 1));
	CALL(1, cuPointerGetAttribute(&v, 2, (uintptr_t)host));
	CALL(0, cuPointerGetAttribute(&v, 2, d + 5));
	CALL(1, cuPointerGetAttribute(&v, 9999, d + 5));
	CALL(1, cuPointerGetAttribute(&v, 2, 0));
	CALL(1, cuPointerGetAttribute(NULL, 2, d));
	CALL(0, cuPointerGetAttributes(1, &one, &value, (uintptr_t)host));
	CALL(0, cuPointerGetAttributes(1, &one, &value, 0));
	CALL(1, cuPointerGetAttributes(0, &one, &value, d));
	MUST(cuMemFree_v2(d));
	all_answered("odd arguments: memory");
}

static void host_memory(void)
{
	char *at =
		mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char stack[64];
	void *h;
	CUdeviceptr p;
	unsigned int flags;

	CALL(0, cuMemHostAlloc(&h, 0, 0));
	CALL(0, cuMemAllocHost_v2(&h, 0));
	CALL(1, cuMemHostAlloc(NULL, 0, 0));
	CALL(1, cuMemHostAlloc(&h, 64, 64));
	CALL(0, cuMemFreeHost(NULL));
	CALL(1, cuMemFreeHost(stack));
	CALL(1, cuMemHostRegister_v2(at, 0, 0));
	CALL(1, cuMemHostRegister_v2(NULL, 16, 0));
	munmap(at + 15 * PAGE, PAGE);
	CALL(1, cuMemHostRegister_v2(at + 15 * PAGE, PAGE, 0));
	CALL(1, cuMemHostRegister_v2(at + 14 * PAGE, 2 * PAGE, 0));
	CALL(1, cuMemHostRegister_v2((void *)PAGE, PAGE, 0));
	CALL(1, cuMemHostRegister_v2(at, 64, 999));
	CALL(0, cuMemHostRegister_v2(at + 100, 5000, 0));
	CALL(712, cuMemHostRegister_v2(at + 200, 16, 0));
	CALL(712, cuMemHostRegister_v2(at, 15 * PAGE, 0));
	CALL(1, cuMemHostUnregister(at + 200));
	CALL(0, cuMemHostGetFlags(&flags, at + 200));
	tap_result(flags == 2, "registered memory's flags", "%u", flags);
	CALL(0, cuMemHostUnregister(at + 100));
	CALL(713, cuMemHostUnregister(at + 100));
	CALL(1, cuMemHostUnregister(NULL));
	CALL(1, cuMemHostGetFlags(&flags, at));
	CALL(0, cuMemHostAlloc(&h, PAGE, 0));
	CALL(0, cuMemHostGetFlags(&flags, h));
	tap_result(flags == 2, "pinned memory's flags", "%u", flags);
	CALL(1, cuMemHostUnregister(h));
	CALL(1, cuMemHostRegister_v2(h, 64, 0));
	CALL(1, cuMemHostGetDevicePointer_v2(&p, h, 1));
	CALL(1, cuMemFreeHost((char *)h + 64));
	CALL(0, cuMemFreeHost(h));
	CALL(1, cuMemFreeHost(h));
	munmap(at, 16 * PAGE);
	all_answered("odd arguments: memory of the host");
}

static void streams_and_events(void)
{
	unsigned int v;
	CUcontext c;
	CUstream s;
	CUevent e, f;
	float ms;

	CALL(1, cuStreamCreate(&s, 7));
	CALL(1, cuStreamCreate(NULL, 0));
	MUST(cuStreamCreateWithPriority(&s, 0, -99));
	CALL(400, cuStreamDestroy_v2(NULL));
	CALL(400, cuStreamDestroy_v2(CU_STREAM_LEGACY));
	CALL(0, cuStreamQuery(NULL));
	CALL(0, cuStreamGetCtx(NULL, &c));
	CALL(0, cuStreamGetFlags(NULL, &v));
	CALL(1, cuStreamGetFlags(s, NULL));
	CALL(0, cuStreamSynchronize(CU_STREAM_LEGACY));
	CALL(0, cuStreamSynchronize(CU_STREAM_PER_THREAD));
	CALL(1, cuEventCreate(&e, 256));
	CALL(1, cuEventCreate(NULL, 0));
	MUST(cuEventCreate(&e, 0));
	MUST(cuEventCreate(&f, CU_EVENT_DISABLE_TIMING));
	CALL(0, cuEventQuery(e));
	CALL(0, cuEventSynchronize(e));
	CALL(0, cuStreamWaitEvent(s, e, 0));
	CALL(1, cuStreamWaitEvent(s, e, 5));
	CALL(400, cuEventElapsedTime(&ms, e, e));
	CALL(0, cuEventRecord(e, NULL));
	MUST(cuCtxSynchronize());
	CALL(0, cuEventElapsedTime(&ms, e, e));
	CALL(400, cuEventElapsedTime(NULL, e, e));
	CALL(400, cuEventElapsedTime(&ms, e, NULL));
	CALL(0, cuEventRecord(f, s));
	CALL(400, cuEventElapsedTime(&ms, e, f));
	CALL(400, cuEventQuery(NULL));
	CALL(400, cuEventDestroy_v2(NULL));
	CALL(400, cuStreamWaitEvent(s, NULL, 0));
	CALL(1, cuEventRecordWithFlags(e, s, 9));
	MUST(cuEventDestroy_v2(e));
	MUST(cuEventDestroy_v2(f));
	MUST(cuStreamDestroy_v2(s));
	all_answered("odd arguments: streams, events");
}

static void modules(const char *cubin)
{
	static const char elf[64] = "\x7f"
				    "ELF",
			  fat[16] = "\x50\xed\x55\xba\x01\0\x10";
	CUjit_option unknown = (CUjit_option)9999;
	CUfunction f;
	CUmodule m;
	CUtexref t;
	CUlinkState l;
	CUdeviceptr p;
	void *value = NULL;
	size_t n;

	CALL(200, cuModuleLoadData(&m, elf));
	CALL(209, cuModuleLoadData(&m, fat));
	CALL(1, cuModuleLoadData(&m, NULL));
	CALL(1, cuModuleLoadData(NULL, elf));
	CALL(301, cuModuleLoad(&m, "/proc/nothing/here"));
	CALL(200, cuModuleLoad(&m, "/dev/null"));
	CALL(1, cuModuleLoad(&m, NULL));
	CALL(1, cuModuleLoadDataEx(&m, elf, 1, NULL, NULL));
	CALL(1, cuModuleLoadDataEx(&m, elf, 1, &unknown, &value));
	CALL(1, cuLinkCreate_v2(1, &unknown, &value, &l));
	CALL(500, cuModuleGetFunction(&f, module, "nope"));
	CALL(1, cuModuleGetFunction(&f, module, ""));
	CALL(1, cuModuleGetFunction(&f, module, NULL));
	CALL(1, cuModuleGetFunction(NULL, module, "add"));
	CALL(400, cuModuleGetFunction(&f, NULL, "add"));
	CALL(0, cuModuleGetGlobal_v2(NULL, &n, module, "counter"));
	CALL(1, cuModuleGetGlobal_v2(NULL, NULL, module, "counter"));
	CALL(500, cuModuleGetGlobal_v2(&p, &n, module, "nope"));
	CALL(1, cuModuleGetGlobal_v2(&p, &n, module, ""));
	CALL(1, cuModuleGetGlobal_v2(&p, NULL, module, NULL));
	CALL(500, cuModuleGetTexRef(&t, module, "counter"));
	CALL(400, cuModuleUnload(NULL));
	all_answered("odd arguments: modules");
}

static void launches(void)
{
	CUfunction f = kernel("add");
	CUdeviceptr d = device_buffer(64);
	CUmodule m;
	int n = 0, v;
	void *params[] = { &d, &d, &d, &n }, *one[] = { &d, NULL, NULL, NULL }, *at;

#define LAUNCH(want, gx, gy, bx, by, bz, shared, params) \
	CALL(want, cuLaunchKernel(f, gx, gy, 1, bx, by, bz, shared, NULL, params, NULL))
	LAUNCH(0, 1, 1, 1, 1, 1, 0, params);
	LAUNCH(1, 0, 1, 1, 1, 1, 0, params);
	LAUNCH(1, 1, 1, 0, 1, 1, 0, params);
	LAUNCH(1, 1, 1, 2048, 1, 1, 0, params);
	LAUNCH(1, 1, 1, 1, 1, 65, 0, params);
	LAUNCH(1, 1, 65536, 1, 1, 1, 0, params);
	LAUNCH(1, 1, 1, 33, 32, 1, 0, params);
	LAUNCH(1, 1, 1, 1, 1, 1, 49153, params);
	LAUNCH(1, 1, 1, 1, 1, 1, 0, NULL);
	LAUNCH(1, 1, 1, 1, 1, 1, 0, one);
	CALL(400, cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	CALL(0, cuCtxSynchronize());
	CALL(1, cuFuncGetAttribute(&v, 9999, f));
	CALL(1, cuFuncGetAttribute(NULL, 0, f));
	CALL(1, cuFuncSetAttribute(f, 0, 5));
	CALL(1, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
	CALL(1, cuFuncSetCacheConfig(f, (CUfunc_cache)99));
	CALL(1, cuFuncGetModule(NULL, f));
	CALL(0, cuFuncGetModule(&m, f));
	CALL(1, cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 32, 0));
	CALL(1, cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 0, 0));
	CALL(0, cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 4096, 0));
	CALL(500, cuGetProcAddress("cuNothing", &at, 11080, 0));
	CALL(0, cuGetProcAddress("cuMemAlloc", &at, 11080, 0));
	CALL(500, cuGetProcAddress("cuMemAlloc", &at, 1000, 0));
	CALL(1, cuGetProcAddress("cuMemAlloc", &at, 11080, 99));
	MUST(cuMemFree_v2(d));
	all_answered("odd arguments: launches");
}

static void captures(void)
{
	char host[64] = { 0 };
	CUstreamCaptureStatus v;
	CUdeviceptr d = device_buffer(PAGE), p;
	CUstream s, other;
	CUevent e;
	CUgraph g;

	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	CALL(401, cuStreamEndCapture(s, &g));
	CALL(900, cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CALL(1, cuStreamBeginCapture_v2(s, (CUstreamCaptureMode)9));
	CALL(0, cuStreamIsCapturing(s, &v));
	CALL(1, cuStreamIsCapturing(s, NULL));
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CALL(401, cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CALL(900, cuStreamSynchronize(s));
	CALL(901, cuStreamEndCapture(s, &g));
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CALL(900, cuMemAlloc_v2(&p, 64));
	CALL(901, cuStreamEndCapture(s, &g));
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	CALL(0, cuEventRecord(e, s));
	CALL(0, cuStreamWaitEvent(other, e, 0));
	CALL(903, cuStreamEndCapture(other, &g));
	CALL(901, cuStreamEndCapture(s, &g));
	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	CALL(0, cuMemcpyHtoDAsync_v2(d, host, sizeof(host), s));
	CALL(0, cuMemcpyHtoD_v2(d, host, sizeof(host)));
	CALL(0, cuStreamEndCapture(s, &g));
	MUST(cuGraphDestroy(g));
	MUST(cuEventDestroy_v2(e));
	MUST(cuStreamDestroy_v2(s));
	MUST(cuStreamDestroy_v2(other));
	MUST(cuMemFree_v2(d));
	all_answered("odd arguments: captures");
}

static void graphs(void)
{
	CUgraphNode a, b, c;
	CUgraphExec x;
	CUgraph g;
	size_t n;

	CALL(1, cuGraphCreate(&g, 5));
	CALL(1, cuGraphCreate(NULL, 0));
	MUST(cuGraphCreate(&g, 0));
	CALL(0, cuGraphInstantiateWithFlags(&x, g, 0));
	CALL(0, cuGraphLaunch(x, NULL));
	CALL(1, cuGraphInstantiateWithFlags(NULL, g, 0));
	CALL(0, cuGraphExecDestroy(x));
	CALL(1, cuGraphExecDestroy(NULL));
	CALL(0, cuGraphAddEmptyNode(&a, g, NULL, 0));
	CALL(0, cuGraphAddEmptyNode(&b, g, &a, 1));
	CALL(1, cuGraphAddEmptyNode(&c, g, NULL, 1));
	CALL(0, cuGraphAddDependencies(g, &b, &a, 1));
	CALL(1, cuGraphAddDependencies(g, &a, &a, 1));
	CALL(1, cuGraphAddDependencies(g, &a, &b, 1));
	CALL(1, cuGraphInstantiateWithFlags(&x, g, 0));
	CALL(0, cuGraphGetNodes(g, NULL, &n));
	CALL(1, cuGraphGetNodes(g, NULL, NULL));
	CALL(0, cuGraphGetEdges(g, NULL, NULL, &n));
	CALL(0, cuGraphDestroyNode(a));
	CALL(0, cuGraphDestroy(g));
	CALL(1, cuGraphDestroy(NULL));
	all_answered("odd arguments: graphs");
}

static void arrays(void)
{
	CUarray a = new_array(16, 4, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
	CUdeviceptr d = device_buffer(PAGE);
	char host[99] = { 0 };

	/* of an array with lines they reach the first */
	CALL(0, cuMemcpyHtoA_v2(a, 0, host, 16));
	CALL(1, cuMemcpyHtoA_v2(a, 8, host, 9));
	CALL(1, cuMemcpyHtoA_v2(a, 0, host, 17));
	CALL(1, cuMemcpyHtoA_v2(a, 16, host, 4));
	CALL(1, cuMemcpyHtoA_v2(a, 0, host, 64));
	CALL(1, cuMemcpyHtoA_v2(a, 0, NULL, 4));
	CALL(0, cuMemcpyAtoH_v2(host, a, 0, 0));
	CALL(1, cuMemcpyAtoH_v2(host, a, 16, 16));
	CALL(1, cuMemcpyDtoA_v2(a, 16, d, 4));
	CALL(1, cuMemcpyAtoD_v2(d, a, 0, 17));
	CALL(1, cuArrayGetDescriptor_v2(NULL, a));
	CALL(0, cuArrayDestroy(a));
	CALL(400, cuArrayDestroy(a));
	CALL(400, cuArrayDestroy(NULL));
	CALL(1, cuTexObjectCreate(NULL, NULL, NULL, NULL));
	CALL(0, cuTexObjectDestroy(0));
	MUST(cuMemFree_v2(d));
	all_answered("odd arguments: arrays");
}

/* ------------------------------------------------------------------ copies that are refused */

/* a page, and nothing behind it: a copy of more lines than a range has may not come so far */
static uint8_t *lonely_page(void)
{
	uint8_t *at =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(at + PAGE, PAGE);
	memset(at, 7, PAGE);
	return at;
}

static bool all_are(const uint8_t *at, size_t n, uint8_t value)
{
	while (n && *at == value) {
		at++;
		n--;
	}
	return !n;
}

static CUDA_MEMCPY2D lines_of(void *host, size_t pitch, size_t lines)
{
	return (CUDA_MEMCPY2D){
		.srcMemoryType = CU_MEMORYTYPE_HOST,
		.srcHost = host,
		.srcPitch = pitch,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.WidthInBytes = 64,
		.Height = lines,
	};
}

static void refused_copies(void)
{
	enum { LINES = 8, PITCH = 64, FAR = 100000 };
	CUarray a = new_array(64, LINES, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
	CUdeviceptr d = device_buffer(LINES * PITCH);
	uint8_t *page = lonely_page();
	CUDA_MEMCPY2D c = lines_of(page, PITCH, FAR), back = c;
	CUDA_MEMCPY3D box = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			      .srcHost = page,
			      .srcPitch = PITCH,
			      .srcHeight = LINES,
			      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			      .dstDevice = d,
			      .dstPitch = PITCH,
			      .dstHeight = LINES,
			      .WidthInBytes = PITCH,
			      .Height = LINES,
			      .Depth = FAR };

	MUST(cuMemsetD8_v2(d, 9, LINES * PITCH));
	c.dstDevice = d;
	c.dstPitch = PITCH;
	CALL(1, cuMemcpy2D_v2(&c));
	CALL(1, cuMemcpy2DUnaligned_v2(&c));
	CALL(1, cuMemcpy2DAsync_v2(&c, NULL));
	CALL(1, cuMemcpy3D_v2(&box));
	/* a pitch below a line, found before the lines are read */
	c.dstPitch = 32;
	CALL(1, cuMemcpy2D_v2(&c));
	c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	c.dstArray = a;
	CALL(1, cuMemcpy2D_v2(&c));
	CALL(1, cuMemcpyHtoD_v2(d, page, 8 << 20));
	CALL(1, cuMemcpyHtoA_v2(a, 0, page, 8 << 20));
	back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	back.srcDevice = d;
	back.dstMemoryType = CU_MEMORYTYPE_HOST;
	back.dstHost = page;
	back.dstPitch = PITCH;
	CALL(1, cuMemcpy2D_v2(&back));
	back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	back.srcArray = a;
	CALL(1, cuMemcpy2D_v2(&back));
	CALL(1, cuMemcpyDtoH_v2(page, d, 8 << 20));
	CALL(1, cuMemcpyAtoH_v2(page, a, 0, 8 << 20));
	all_answered("copies of more than there is are refused");
	tap_result(all_are(page, PAGE, 7), "a refused copy leaves the program's memory alone", "%s",
		   "");
	MUST(cuMemcpyDtoH_v2(page, d, LINES * PITCH));
	tap_result(all_are(page, LINES * PITCH, 9), "a refused copy leaves the GPU's memory alone",
		   "%s", "");
	MUST(cuArrayDestroy(a));
	MUST(cuMemFree_v2(d));
	munmap(page, PAGE);
}

static void shapes(void)
{
	enum { LINES = 8, PITCH = 512 };
	static uint8_t host[PAGE];
	CUarray a = new_array(16, LINES, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
	CUdeviceptr d = device_buffer(LINES * PITCH);
	CUDA_MEMCPY2D c;

#define SHAPE(want, ...)                                \
	do {                                            \
		c = lines_of(host, 64, LINES);          \
		c.dstDevice = d;                        \
		c.dstPitch = PITCH;                     \
		__VA_ARGS__;                            \
		CALL(want, cuMemcpy2D_v2(&c));          \
		CALL(want, cuMemcpy2DUnaligned_v2(&c)); \
	} while (0)
	SHAPE(0);
	SHAPE(0, c.WidthInBytes = 0);
	SHAPE(0, c.Height = 0);
	SHAPE(1, c.srcPitch = 32);
	SHAPE(1, c.dstPitch = 32);
	SHAPE(0, c.srcPitch = 0);
	SHAPE(0, c.dstPitch = 0);
	SHAPE(0, c.srcPitch = 0, c.Height = 1);
	SHAPE(1, c.srcMemoryType = (CUmemorytype)9);
	SHAPE(1, c.srcMemoryType = (CUmemorytype)0);
	SHAPE(1, c.dstMemoryType = (CUmemorytype)9);
	SHAPE(1, c.dstMemoryType = (CUmemorytype)9, c.dstHost = host);
	SHAPE(0, c.srcMemoryType = (CUmemorytype)9, c.WidthInBytes = 0);
	SHAPE(1, c.srcHost = NULL);
	SHAPE(1, c.dstDevice = 0);
	SHAPE(1, c.srcPitch = 63);
	SHAPE(0, c.srcPitch = 65);
	SHAPE(0, c.dstPitch = 513, c.Height = 7);
	SHAPE(0, c.dstXInBytes = 1);
	SHAPE(1, c.dstXInBytes = 449);
	SHAPE(1, c.Height = 9);
	SHAPE(0, c.srcMemoryType = CU_MEMORYTYPE_UNIFIED, c.srcDevice = (uintptr_t)host);
	SHAPE(0, c.srcMemoryType = CU_MEMORYTYPE_UNIFIED, c.srcDevice = d, c.srcPitch = 512);
#define TO_ARRAY c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = a
	SHAPE(0, TO_ARRAY);
	SHAPE(1, TO_ARRAY, c.dstXInBytes = 4);
	SHAPE(1, TO_ARRAY, c.dstY = 1);
	SHAPE(1, TO_ARRAY, c.dstY = SIZE_MAX);
	SHAPE(1, TO_ARRAY, c.WidthInBytes = 6);
	SHAPE(400, TO_ARRAY, c.dstArray = (CUarray)host);
	CALL(1, cuMemcpy2D_v2(NULL));
	MUST(cuArrayDestroy(a));
	MUST(cuMemFree_v2(d));
	all_answered("copies of lines, of all shapes");
}

/* ------------------------------------------------------------------ without a current context */

static void nothing(void *data)
{
}

static struct {
	CUcontext own, of;
	CUdeviceptr d, more;
	CUarray a;
	CUDA_MEMCPY2D c;
	CUfunction f;
	CUmodule m;
	CUgraph graph, captured;
	CUgraphExec x;
	CUstream s;
	CUevent e, other;
	void *h;
} o;
static char host_page[PAGE];

static void make_objects(const char *cubin)
{
	o.d = device_buffer(PAGE);
	o.more = device_buffer(PAGE);
	o.a = new_array(16, 1, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
	o.c = lines_of(host_page, 64, 4);
	o.c.dstDevice = o.d;
	o.c.dstPitch = 64;
	o.f = kernel("shape");
	MUST(cuMemAllocHost_v2(&o.h, PAGE));
	MUST(cuStreamCreate(&o.s, CU_STREAM_NON_BLOCKING));
	MUST(cuEventCreate(&o.e, 0));
	MUST(cuEventCreate(&o.other, 0));
	MUST(cuModuleLoad(&o.m, cubin));
	MUST(cuGraphCreate(&o.graph, 0));
	MUST(cuGraphInstantiateWithFlags(&o.x, o.graph, 0));
}

static void calls_that_need_one(const char *cubin)
{
	void *params[] = { &o.d };
	CUstreamCaptureStatus status;
	CUdeviceptr p;
	unsigned int v;
	size_t n;

	CALL(201, cuMemAlloc_v2(&p, 64));
	CALL(201, cuMemHostAlloc(&o.h, 64, 0));
	CALL(201, cuStreamCreate(&o.s, 0));
	CALL(201, cuEventCreate(&o.e, 0));
	CALL(201, cuModuleLoad(&o.m, cubin));
	CALL(201, cuMemcpyHtoD_v2(o.d, host_page, 64));
	CALL(201, cuMemcpyDtoH_v2(host_page, o.d, 64));
	CALL(201, cuMemcpyDtoD_v2(o.d, o.more, 64));
	CALL(201, cuMemcpy(o.d, o.more, 64));
	CALL(201, cuMemcpy2D_v2(&o.c));
	CALL(201, cuMemcpyHtoA_v2(o.a, 0, host_page, 8));
	CALL(201, cuMemsetD8_v2(o.d, 1, 64));
	CALL(201, cuMemGetAddressRange_v2(&p, &n, o.d));
	CALL(201, cuMemGetInfo_v2(NULL, NULL));
	CALL(201, cuMemHostGetDevicePointer_v2(&p, o.h, 0));
	CALL(201, cuMemHostGetFlags(&v, o.h));
	CALL(201, cuMemHostRegister_v2(host_page, PAGE, 0));
	CALL(201, cuCtxSynchronize());
	CALL(201, cuCtxGetLimit(&n, CU_LIMIT_STACK_SIZE));
	CALL(201, cuLaunchKernel(o.f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	CALL(201, cuMemcpyAsync(o.d, (uintptr_t)host_page, 64, NULL));
	CALL(201, cuMemcpy2DAsync_v2(&o.c, NULL));
	CALL(201, cuMemsetD8Async(o.d, 1, 64, NULL));
	CALL(201, cuStreamQuery(NULL));
	CALL(201, cuStreamSynchronize(NULL));
	CALL(201, cuStreamGetFlags(NULL, &v));
	CALL(201, cuStreamIsCapturing(NULL, &status));
	CALL(201, cuEventRecord(o.e, NULL));
	CALL(201, cuLaunchHostFunc(NULL, nothing, NULL));
	CALL(201, cuGraphLaunch(o.x, NULL));
}

static void calls_that_find_one(void)
{
	void *params[] = { &o.d };
	CUstreamCaptureStatus status;
	unsigned int v;
	float ms;

	CALL(0, cuLaunchKernel(o.f, 1, 1, 1, 1, 1, 1, 0, o.s, params, NULL));
	CALL(0, cuMemcpyHtoDAsync_v2(o.d, host_page, 64, o.s));
	CALL(0, cuMemcpyDtoHAsync_v2(host_page, o.d, 64, o.s));
	CALL(0, cuMemcpyDtoDAsync_v2(o.d, o.more, 64, o.s));
	CALL(0, cuMemcpyAsync(o.d, (uintptr_t)host_page, 64, o.s));
	CALL(0, cuMemcpy2DAsync_v2(&o.c, o.s));
	CALL(0, cuMemcpyHtoAAsync_v2(o.a, 0, host_page, 8, o.s));
	CALL(0, cuMemcpyAtoHAsync_v2(host_page, o.a, 0, 8, o.s));
	CALL(0, cuMemcpyPeerAsync(o.d, o.own, o.more, o.own, 64, o.s));
	CALL(0, cuMemsetD8Async(o.d, 1, 64, o.s));
	CALL(0, cuMemsetD2D8Async(o.d, 64, 1, 64, 4, o.s));
	CALL(0, cuStreamGetFlags(o.s, &v));
	CALL(0, cuStreamGetCtx(o.s, &o.of));
	CALL(0, cuStreamIsCapturing(o.s, &status));
	CALL(0, cuStreamBeginCapture_v2(o.s, CU_STREAM_CAPTURE_MODE_RELAXED));
	CALL(0, cuStreamEndCapture(o.s, &o.captured));
	CALL(0, cuLaunchHostFunc(o.s, nothing, NULL));
	CALL(0, cuGraphLaunch(o.x, o.s));
	CALL(0, cuEventRecord(o.e, o.s));
	CALL(0, cuEventRecordWithFlags(o.other, o.s, 0));
	CALL(0, cuStreamWaitEvent(o.s, o.e, 0));
	CALL(0, cuEventSynchronize(o.other));
	CALL(0, cuEventQuery(o.e));
	CALL(0, cuEventElapsedTime(&ms, o.e, o.other));
	CALL(0, cuStreamSynchronize(o.s));
	CALL(0, cuStreamQuery(o.s));
}

static void ends_that_find_one(void)
{
	CUDA_ARRAY_DESCRIPTOR desc;
	CUdeviceptr p;
	CUfunction g;
	unsigned int v;
	size_t n;

	CALL(0, cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, o.d));
	CALL(1, cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)host_page));
	CALL(0, cuArrayGetDescriptor_v2(&desc, o.a));
	CALL(0, cuArrayDestroy(o.a));
	CALL(0, cuModuleGetFunction(&g, o.m, "add"));
	CALL(0, cuModuleGetGlobal_v2(&p, &n, o.m, "counter"));
	CALL(0, cuFuncGetModule(&o.m, g));
	CALL(0, cuModuleUnload(o.m));
	CALL(0, cuGraphExecDestroy(o.x));
	CALL(0, cuGraphDestroy(o.graph));
	CALL(0, cuGraphDestroy(o.captured));
	CALL(0, cuEventDestroy_v2(o.e));
	CALL(0, cuEventDestroy_v2(o.other));
	CALL(0, cuStreamDestroy_v2(o.s));
	CALL(1, cuMemHostUnregister(o.h));
	CALL(0, cuMemFreeHost(o.h));
	CALL(0, cuMemFreeHost(NULL));
	CALL(0, cuMemFree_v2(o.d));
	CALL(0, cuMemFree_v2(o.more));
	CALL(0, cuMemFree_v2(0));
	CALL(1, cuMemFree_v2(PAGE));
}

static void without_context(const char *cubin)
{
	make_objects(cubin);
	MUST(cuCtxPopCurrent_v2(&o.own));
	calls_that_need_one(cubin);
	calls_that_find_one();
	ends_that_find_one();
	tap_result(o.of == o.own, "a stream tells its context where none is current", "%p",
		   (void *)o.of);
	all_answered("calls without a current context");
	MUST(cuCtxPushCurrent_v2(o.own));
}

void test_calls(const char *cubin)
{
	CUcontext own;

	MUST(cuCtxGetCurrent(&own));
	devices_and_errors();
	contexts(own);
	memory();
	host_memory();
	streams_and_events();
	modules(cubin);
	launches();
	captures();
	graphs();
	arrays();
	refused_copies();
	shapes();
	without_context(cubin);
}
