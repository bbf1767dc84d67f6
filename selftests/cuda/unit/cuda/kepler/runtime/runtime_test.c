// SPDX-License-Identifier: MIT
/*
 * The runtime API on a fake device: contexts, errors, the kernels and variables that the program
 * registers, and launches.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <cuda/kepler/runtime/runtime.h>

#include "../driver/fake.h"
#include "program.h"
#include "selftests/own_folder.h"

static int set_up(void **state)
{
	fake_fail_after = -1;
	fake_failure = DEVICE_OK;
	memset(fake_hold, 0, sizeof(fake_hold));
	return cudaGetLastError();
}

/* Nothing may be left on the device, nor an error. */
static int tear_down(void **state)
{
	int r = cudaDeviceReset();

	return r || fake_open || fake_buffers || fake_early || cudaGetLastError();
}

/* ------------------------------------------------------------------ contexts and errors */

TEST(context_when_wanted)
{
	struct cudaDeviceProp p;
	int n, v;

	OK(cudaGetDeviceCount(&n));
	assert_int_equal(n, 1);
	OK(cudaGetDeviceProperties(&p, 0));
	OK(cudaDeviceGetAttribute(&v, cudaDevAttrComputeCapabilityMinor, 0));
	OK(cudaSetDeviceFlags(4));
	assert_int_equal(fake_open, 0);
	assert_int_equal(cuCtxGetDevice(&v), CUDA_ERROR_INVALID_CONTEXT);
	/* the driver API finds the device's context, too: seen with CUDA's own library */
	OK(cudaSetDevice(0));
	OK(cuCtxGetDevice(&v));
	assert_int_equal(v, 0);
	assert_int_equal(fake_open, 1);
	OK(cudaGetDevice(&v));
	assert_int_equal(v, 0);
	OK(cudaFree(NULL));
	assert_int_equal(fake_open, 1);
	OK(cudaGetDeviceFlags((unsigned int *)&v));
	assert_int_equal(v, 4 | cudaDeviceMapHost);
	OK(cudaDeviceReset());
	assert_int_equal(fake_open, 0);
	OK(cudaDeviceReset());
	OK(cudaDeviceSynchronize());
	assert_int_equal(fake_open, 1);
	FAILS(cudaSetDevice(1), cudaErrorInvalidDevice);
	FAILS(cudaSetDevice(-1), cudaErrorInvalidDevice);
	FAILS(cudaSetDeviceFlags(0x100), cudaErrorInvalidValue);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
	OK(cudaSetDeviceFlags(0));
}

TEST(as_a_k20m)
{
	struct cudaDeviceProp p, want = { .major = 3, .minor = 5 };
	int v, dev = -1;

	OK(cudaGetDeviceProperties(&p, 0));
	assert_string_equal(p.name, "Tesla K20m");
	assert_int_equal(p.totalGlobalMem, fake_vram);
	assert_int_equal(p.major * 10 + p.minor, 35);
	assert_int_equal(p.multiProcessorCount, 13);
	assert_int_equal(p.maxThreadsDim[2], 64);
	assert_int_equal(p.maxGridSize[0], 2147483647);
	assert_int_equal(p.sharedMemPerBlock, 49152);
	assert_int_equal(p.regsPerMultiprocessor, 65536);
	assert_int_equal(p.memPitch, 2147483647);
	assert_int_equal(p.pciBusID, 3);
	assert_true(p.managedMemory && p.unifiedAddressing && !p.concurrentManagedAccess);
	assert_int_equal(p.maxTexture2DLinear[2], 1048544);
	OK(cudaChooseDevice(&dev, &want));
	assert_int_equal(dev, 0);
	OK(cudaDeviceGetByPCIBusId(&dev, "0000:03:01.0"));
	FAILS(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice);
	FAILS(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
	FAILS(cudaDeviceGetAttribute(&v, 1000, 0), cudaErrorInvalidValue);
	OK(cudaDriverGetVersion(&v));
	assert_int_equal(v, 11080);
	OK(cudaRuntimeGetVersion(&v));
	assert_int_equal(v, 11080);
	cudaGetLastError();
}

TEST(last_error)
{
	void *p;

	FAILS(cudaMalloc(NULL, 1), cudaErrorInvalidValue);
	OK(cudaMalloc(&p, 1));
	assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidValue);
	FAILS(cudaMalloc(&p, fake_vram * 2), cudaErrorMemoryAllocation);
	assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	assert_string_equal(cudaGetErrorName(cudaErrorInvalidDeviceFunction),
			    "cudaErrorInvalidDeviceFunction");
	assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
	assert_string_equal(cudaGetErrorString(10), "unrecognized error code");
}

TEST(not_ready_is_no_error)
{
	cudaEvent_t e;
	void *p;

	OK(cudaMalloc(&p, 4));
	OK(cudaEventCreateWithFlags(&e, 2));
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cudaMemsetAsync(p, 0, 4, NULL));
	OK(cudaEventRecord(e, NULL));
	FAILS(cudaEventQuery(e), cudaErrorNotReady);
	FAILS(cudaStreamQuery(NULL), cudaErrorNotReady);
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	fake_hold[QUEUE_COMPUTE] = false;
	OK(cudaEventSynchronize(e));
	OK(cudaEventDestroy(e));
}

TEST(a_fault_stays)
{
	void *where = NULL, *args[] = { &where };
	void *p;

	register_program();
	fake_fail_after = 0;
	OK(cudaLaunchKernel(&store_stub, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, args, 0, NULL));
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	assert_int_equal(cudaPeekAtLastError(), cudaErrorIllegalAddress);
	assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	FAILS(cudaMalloc(&p, 1), cudaErrorIllegalAddress);
	assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
	OK(cudaSetDevice(0));
	FAILS(cudaLaunchKernel(&store_stub, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, args, 0, NULL),
	      cudaErrorIllegalAddress);
	OK(cudaDeviceReset());
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	OK(cudaLaunchKernel(&store_stub, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, args, 0, NULL));
	OK(cudaDeviceSynchronize());
	unregister_program();
}

/* A context that the application made current is used instead of the primary one. */
TEST(drivers_context)
{
	void *host, *args[] = { &host };
	CUcontext mine, c;
	void *p;

	register_program();
	OK(cudaLaunchKernel(&store_stub, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, args, 0, NULL));
	OK(cuCtxCreate_v2(&mine, 0, 0));
	assert_int_equal(fake_open, 2);
	OK(cudaMalloc(&p, 64));
	OK(cudaLaunchKernel(&store_stub, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, args, 0, NULL));
	OK(cuCtxGetCurrent(&c));
	assert_ptr_equal(c, mine);
	OK(cuCtxPopCurrent_v2(NULL));
	/* memory of another context, as on NVIDIA's driver */
	OK(cudaFree(p));
	FAILS(cudaFree(p), cudaErrorInvalidValue);
	cudaGetLastError();
	OK(cuCtxDestroy_v2(mine));
	assert_int_equal(fake_open, 1);
	OK(cudaLaunchKernel(&store_stub, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, args, 0, NULL));
	unregister_program();
}

/* ------------------------------------------------------------------ registration */

TEST(lazily_loaded)
{
	unsigned int before;
	void *p;
	size_t n;

	register_program();
	assert_int_equal(fake_open, 0);
	OK(cudaFree(NULL));
	before = fake_buffers;
	OK(cudaGetSymbolAddress(&p, &table_shadow));
	assert_true(fake_buffers > before);
	before = fake_buffers;
	OK(cudaGetSymbolSize(&n, &table_shadow));
	assert_int_equal(n, 16);
	OK(cudaGetSymbolAddress(&p, &factors_shadow));
	assert_int_equal(fake_buffers, before);
	FAILS(cudaGetSymbolAddress(&p, &add_stub), cudaErrorInvalidSymbol);
	FAILS(cudaGetSymbolAddress(&p, NULL), cudaErrorInvalidSymbol);
	OK(cudaDeviceReset());
	OK(cudaGetSymbolSize(&n, &table_shadow));
	assert_int_equal(fake_buffers, before);
	unregister_program();
	FAILS(cudaGetSymbolAddress(&p, &table_shadow), cudaErrorInvalidSymbol);
	cudaGetLastError();
	/* an unregistered module is unloaded when the next one is loaded */
	register_program();
	OK(cudaGetSymbolSize(&n, &table_shadow));
	assert_int_equal(fake_buffers, before);
	unregister_program();
}

TEST(bad_binaries)
{
	static const struct {
		const char *file;
		cudaError_t error;
	} files[] = {
		{ "selftests/cuda/unit/cuda/kepler/image/data/README.md",
		  cudaErrorInvalidKernelImage },
		{ "selftests/cuda/unit/cuda/kepler/image/data/only_ptx.fatbin",
		  cudaErrorJitCompilerNotFound },
	};
	struct cudaFuncAttributes a;
	struct wrapper w;
	void **handle, *data;
	unsigned int i;
	char stub;

	for (i = 0; i < 2; i++) {
		data = file_bytes(files[i].file);
		w = wrap(data);
		handle = __cudaRegisterFatBinary(&w);
		__cudaRegisterFunction(handle, &stub, NULL, "add", -1, NULL, NULL, NULL, NULL,
				       NULL);
		__cudaRegisterFatBinaryEnd(handle);
		FAILS(cudaFuncGetAttributes(&a, &stub), files[i].error);
		FAILS(cudaFuncGetAttributes(&a, &stub), files[i].error);
		__cudaUnregisterFatBinary(handle);
		FAILS(cudaFuncGetAttributes(&a, &stub), cudaErrorInvalidDeviceFunction);
		free(data);
	}
	handle = register_program();
	__cudaRegisterManagedVar(handle, &data, NULL, "m", 0, 4, 0, 0);
	assert_int_equal(__cudaInitModule(handle), 0);
	/* no such variable: loading the whole binary fails */
	FAILS(cudaFuncGetAttributes(&a, &add_stub), cudaErrorInvalidDeviceFunction);
	unregister_program();
	__cudaUnregisterFatBinary(NULL);
	cudaGetLastError();
}

/* The driver may be another machine's: its log is text, of one line. */
TEST(log_of_a_server)
{
	struct cudaFuncAttributes a;
	char said[512] = "";
	int into[2], kept = dup(2);

	register_program();
	refusal = "no \033[2Jcode\nlibcuda: fine";
	assert_int_equal(pipe(into), 0);
	dup2(into[1], 2);
	FAILS(cudaFuncGetAttributes(&a, &add_stub), cudaErrorInvalidKernelImage);
	dup2(kept, 2);
	close(kept);
	close(into[1]);
	refusal = NULL;
	assert_true(read(into[0], said, sizeof(said) - 1) > 0);
	close(into[0]);
	assert_string_equal(
		said, "libcudart: a fat binary of this program can't be loaded: no ?[2Jcode\n");
	unregister_program();
	cudaGetLastError();
}

/* After a reset old handles name no kernel. */
TEST(old_handles)
{
	const void *host;
	CUfunction f;

	register_program();
	OK(find_function(&add_stub, &f));
	OK(find_host(f, &host));
	assert_ptr_equal(host, &add_stub);
	OK(cudaDeviceReset());
	FAILS(find_host(f, &host), cudaErrorInvalidDeviceFunction);
	unregister_program();
}

/* The same stub, from two binaries: the one that is left serves it. */
TEST(twice)
{
	struct cudaFuncAttributes a;
	struct wrapper w;
	void **handle, *data = file_bytes("selftests/cuda/driver/kernels.cubin");

	register_program();
	w = wrap(data);
	handle = __cudaRegisterFatBinary(&w);
	__cudaRegisterFunction(handle, &add_stub, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
	OK(cudaFuncGetAttributes(&a, &add_stub));
	__cudaUnregisterFatBinary(handle);
	OK(cudaFuncGetAttributes(&a, &add_stub));
	assert_int_equal(a.binaryVersion, 35);
	assert_int_equal(a.maxThreadsPerBlock, 1024);
	assert_true(a.numRegs > 0);
	unregister_program();
	FAILS(cudaFuncGetAttributes(&a, &add_stub), cudaErrorInvalidDeviceFunction);
	cudaGetLastError();
	free(data);
}

/* ------------------------------------------------------------------ launches */

TEST(pushed_and_popped)
{
	dim3 grid, block;
	cudaStream_t s;
	size_t shared;
	int i;

	OK(__cudaPushCallConfiguration((dim3){ 1, 2, 3 }, (dim3){ 4, 5, 6 }, 7, (cudaStream_t)0x2));
	OK(__cudaPushCallConfiguration((dim3){ 9, 9, 9 }, (dim3){ 9, 9, 9 }, 9, NULL));
	OK(__cudaPopCallConfiguration(&grid, &block, &shared, &s));
	assert_true(grid.z == 9 && !s);
	OK(__cudaPopCallConfiguration(&grid, &block, &shared, &s));
	assert_true(grid.x == 1 && grid.z == 3 && block.y == 5 && shared == 7 &&
		    s == cudaStreamPerThread);
	FAILS(__cudaPopCallConfiguration(&grid, &block, &shared, &s),
	      cudaErrorMissingConfiguration);
	for (i = 0; i < 16; i++)
		OK(__cudaPushCallConfiguration(grid, block, 0, NULL));
	assert_int_not_equal(__cudaPushCallConfiguration(grid, block, 0, NULL), 0);
	for (i = 0; i < 16; i++)
		OK(__cudaPopCallConfiguration(&grid, &block, &shared, &s));
	cudaGetLastError();
}

TEST(launches)
{
	uint64_t a = 0x1111222233334444, b = 2, c = 3;
	int n = 77;
	void *args[] = { &a, &b, &c, &n };
	dim3 one = { 1, 1, 1 };

	register_program();
	OK(cudaLaunchKernel(&add_stub, (dim3){ 3, 2, 1 }, (dim3){ 64, 2, 1 }, args, 100, NULL));
	assert_int_equal(fake_last_launch.grid[1], 2);
	assert_int_equal(fake_last_launch.block[0], 64);
	assert_int_equal(fake_last_launch.shared, 100);
	assert_memory_equal(fake_const0 + 0x140, &a, 8);
	assert_memory_equal(fake_const0 + 0x158, &n, 4);
	FAILS(cudaLaunchKernel(&add_stub, (dim3){ 0, 1, 1 }, one, args, 0, NULL),
	      cudaErrorInvalidConfiguration);
	FAILS(cudaLaunchKernel(&add_stub, (dim3){ 1, 65536, 1 }, one, args, 0, NULL),
	      cudaErrorInvalidConfiguration);
	FAILS(cudaLaunchKernel(&add_stub, one, (dim3){ 1025, 1, 1 }, args, 0, NULL),
	      cudaErrorInvalidConfiguration);
	FAILS(cudaLaunchKernel(&add_stub, one, (dim3){ 33, 32, 1 }, args, 0, NULL),
	      cudaErrorInvalidConfiguration);
	FAILS(cudaLaunchKernel(&add_stub, one, (dim3){ 1, 1, 65 }, args, 0, NULL),
	      cudaErrorInvalidConfiguration);
	FAILS(cudaLaunchKernel(&add_stub, one, one, args, 49153, NULL), cudaErrorInvalidValue);
	FAILS(cudaLaunchKernel(&add_stub, one, one, args, 1ull << 33, NULL), cudaErrorInvalidValue);
	FAILS(cudaLaunchKernel(&add_stub, one, one, args, 0, (cudaStream_t)&a),
	      cudaErrorInvalidResourceHandle);
	FAILS(cudaLaunchKernel(&table_shadow, one, one, args, 0, NULL),
	      cudaErrorInvalidDeviceFunction);
	FAILS(cudaLaunchKernel(NULL, one, one, args, 0, NULL), cudaErrorInvalidDeviceFunction);
	FAILS(cudaLaunchKernel(&missing_stub, one, one, args, 0, NULL),
	      cudaErrorInvalidDeviceFunction);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
	unregister_program();
}

TEST(launches_with_attributes)
{
	void *where = NULL, *args[] = { &where };
	cudaLaunchAttribute attr = { .id = cudaLaunchAttributePriority };
	cudaLaunchConfig_t c = {
		.gridDim = { 5, 1, 1 }, .blockDim = { 32, 1, 1 }, .attrs = &attr, .numAttrs = 1
	};

	register_program();
	OK(cudaLaunchKernelExC(&c, &store_stub, args));
	assert_int_equal(fake_last_launch.grid[0], 5);
	attr.id = cudaLaunchAttributeClusterDimension;
	attr.val.clusterDim.x = 2;
	FAILS(cudaLaunchKernelExC(&c, &store_stub, args), cudaErrorNotSupported);
	attr.id = 99;
	FAILS(cudaLaunchKernelExC(&c, &store_stub, args), cudaErrorInvalidValue);
	FAILS(cudaLaunchKernelExC(NULL, &store_stub, args), cudaErrorInvalidValue);
	cudaGetLastError();
	unregister_program();
}

TEST(occupancy)
{
	size_t dynamic;
	int n;

	register_program();
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &add_stub, 1024, 0));
	assert_int_equal(n, 2);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, &add_stub, 32, 24000, 1));
	assert_int_equal(n, 2);
	OK(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, &add_stub, 4, 128));
	assert_int_equal(dynamic, 12288);
	OK(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, &add_stub, 1, 1024));
	assert_int_equal(dynamic, 49152);
	FAILS(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, &add_stub, 17, 32),
	      cudaErrorInvalidValue);
	FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &n, 32, 0),
	      cudaErrorInvalidDeviceFunction);
	OK(cudaFuncSetCacheConfig(&add_stub, cudaFuncCachePreferL1));
	FAILS(cudaFuncSetCacheConfig(&add_stub, 9), cudaErrorInvalidValue);
	OK(cudaFuncSetAttribute(&add_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 1000));
	FAILS(cudaFuncSetAttribute(&add_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000),
	      cudaErrorInvalidValue);
	cudaGetLastError();
	unregister_program();
}

/* ------------------------------------------------------------------ what there is not */

#define REFUSE(name) API cudaError_t name(void);
#include <cuda/kepler/runtime/refuse.inc>

TEST(refused)
{
#define REFUSE(name)                          \
	FAILS(name(), cudaErrorNotSupported); \
	assert_int_equal(cudaGetLastError(), cudaErrorNotSupported);
#include <cuda/kepler/runtime/refuse.inc>
	FAILS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
	FAILS(cudaDeviceEnablePeerAccess(7, 0), cudaErrorInvalidDevice);
	FAILS(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
	FAILS(cudaCtxResetPersistingL2Cache(), cudaErrorNotSupported);
	cudaGetLastError();
}

TEST(entry_points)
{
	void *f;

	OK(cudaGetDriverEntryPoint("cuMemAlloc", &f, 0));
	assert_ptr_equal(f, cuMemAlloc_v2);
	OK(cudaGetDriverEntryPoint("cuLaunchKernel", &f, 0));
	assert_ptr_equal(f, cuLaunchKernel);
	OK(cudaGetDriverEntryPoint("cuLaunchKernel", &f, 2));
	assert_ptr_equal(f, cuLaunchKernel_ptsz);
	OK(cudaGetDriverEntryPoint_ptsz("cuLaunchKernel", &f, 0));
	assert_ptr_equal(f, cuLaunchKernel_ptsz);
	FAILS(cudaGetDriverEntryPoint("cuNothing", &f, 0), cudaErrorSymbolNotFound);
	FAILS(cudaGetDriverEntryPoint("", &f, 0), cudaErrorInvalidValue);
	driver_version =
		11040; /* an older driver, which cuGraphAddBatchMemOpNode() of 11.7 is not in */
	OK(cudaGetDriverEntryPoint("cuMemAlloc", &f, 0));
	assert_ptr_equal(f, cuMemAlloc_v2);
	FAILS(cudaGetDriverEntryPoint("cuGraphAddBatchMemOpNode", &f, 0), cudaErrorSymbolNotFound);
	driver_version = 0;
	cudaGetLastError();
}

int main(void)
{
	char absent[64];

	snprintf(absent, sizeof(absent), "%s/ptxas", own_folder());
	setenv("KVGPU_PTXAS", absent, 1);
	return unit_tests_run(set_up, tear_down, NULL, NULL);
}
