// SPDX-License-Identifier: GPL-2.0-only
/*
 * driver_api CUBIN: contexts, modules, their variables and functions, launches, streams and events
 * by the driver API alone. CUBIN is kernels.cubin, made of kernels.cu.
 */
#include <cuda.h>

#include <vector>

#include "../check.h"

static int bad;

static void expect(bool ok, const char *what)
{
	if (!ok) {
		printf("not so: %s\n", what);
		bad++;
	}
}

#define MUST(call) do {									\
	CUresult r_ = (call);								\
	if (r_ != CUDA_SUCCESS) {							\
		printf("FAIL: %s:%d: %s: %d\n", __FILE__, __LINE__, #call, (int)r_);	\
		exit(2);								\
	}										\
} while (0)

static std::vector<char> file(const char *path)
{
	std::vector<char> bytes(1 << 20);
	FILE *f = fopen(path, "rb");

	bytes.resize(f ? fread(bytes.data(), 1, bytes.size(), f) : 0);
	if (f)
		fclose(f);
	return bytes;
}

static void launch_mixed(CUmodule module, bool packed)
{
	enum { BLOCKS = 3, THREADS = 96 };
	const int scale[2] = { 3, -2 };
	struct {
		char c;
		double d;
		short s[3];
		CUdeviceptr out, size;
	} p = { -4, 2.5, { 5, 6, 7 }, 0, 0 };
	size_t bytes, packed_size = sizeof(p);
	void *params[] = { &p.c, &p.d, &p.s, &p.out, &p.size };
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE,
			  &packed_size, CU_LAUNCH_PARAM_END };
	CUdeviceptr constant, counter;
	float got[BLOCKS * THREADS];
	unsigned int before, after;
	int dynamic = 0, wrong = 0, value;
	CUstream stream;
	CUevent start, stop;
	CUfunction f;
	float ms = -1;

	MUST(cuModuleGetFunction(&f, module, "mixed"));
	MUST(cuModuleGetGlobal(&constant, &bytes, module, "scale"));
	expect(bytes == 8, "size of scale");
	MUST(cuModuleGetGlobal(&counter, &bytes, module, "launches"));
	expect(cuModuleGetGlobal(&counter, &bytes, module, "nothing") == CUDA_ERROR_NOT_FOUND,
	       "a variable that is not there");
	MUST(cuModuleGetGlobal(&counter, &bytes, module, "launches"));
	MUST(cuMemcpyHtoD(constant, scale, sizeof(scale)));
	MUST(cuMemcpyDtoH(&before, counter, 4));
	MUST(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, f));
	expect(value == 35, "code for sm_35");
	MUST(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	expect(value == 1024, "1024 threads");
	MUST(cuMemAlloc(&p.out, sizeof(got)));
	MUST(cuMemAlloc(&p.size, 4));
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	MUST(cuEventCreate(&start, 0));
	MUST(cuEventCreate(&stop, 0));
	MUST(cuEventRecord(start, stream));
	MUST(cuLaunchKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, THREADS * 4 + 128, stream,
			    packed ? NULL : params, packed ? extra : NULL));
	MUST(cuEventRecord(stop, stream));
	MUST(cuEventSynchronize(stop));
	MUST(cuEventElapsedTime(&ms, start, stop));
	expect(ms > 0, "the kernel took time");
	MUST(cuMemcpyDtoH(got, p.out, sizeof(got)));
	MUST(cuMemcpyDtoH(&dynamic, p.size, 4));
	MUST(cuMemcpyDtoH(&after, counter, 4));
	for (int i = 0; i < BLOCKS * THREADS; i++)
		wrong += got[i] != -4 * 3 + 2.5 * -2 + 5 + 6 * 7 + i % THREADS;
	expect(!wrong,
	       packed ? "results with packed parameters" : "results with parameters one by one");
	expect(dynamic == THREADS * 4 + 128, "the size of dynamic shared memory");
	expect(after == before + 1, "the counter");
	MUST(cuStreamDestroy(stream));
	MUST(cuEventDestroy(start));
	MUST(cuEventDestroy(stop));
	MUST(cuMemFree(p.out));
	MUST(cuMemFree(p.size));
}

int main(int argc, char **argv)
{
	std::vector<char> image = file(argc > 1 ? argv[1] : "");
	CUcontext first, second, current, popped;
	CUmodule from_file, from_memory;
	CUdeviceptr p, base;
	CUdevice device;
	CUfunction f;
	size_t size, free_bytes, total;
	CUdeviceptr null = 0;
	void *params[] = { &null, &null, &null, &null };
	char name[100];
	int version, major;

	if (image.empty()) {
		fprintf(stderr, "usage: driver_api CUBIN\n");
		return 2;
	}
	expect(cuCtxGetCurrent(&current) == CUDA_ERROR_NOT_INITIALIZED,
	       "nothing works before cuInit()");
	MUST(cuInit(0));
	MUST(cuDriverGetVersion(&version));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDeviceGetName(name, sizeof(name), device));
	MUST(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	expect(version >= 11080 && major == 3 && name[0], "version, name, capability");
	expect(cuMemAlloc(&p, 16) == CUDA_ERROR_INVALID_CONTEXT, "no memory without a context");

	MUST(cuCtxCreate(&first, CU_CTX_SCHED_BLOCKING_SYNC, device));
	MUST(cuModuleLoad(&from_file, argv[1]));
	launch_mixed(from_file, false);
	MUST(cuModuleGetFunction(&f, from_file, "madd"));
	MUST(cuCtxCreate(&second, 0, device));
	MUST(cuCtxGetCurrent(&current));
	expect(current == second, "a new context is current");
	MUST(cuModuleLoadData(&from_memory, image.data()));
	launch_mixed(from_memory, true);
	expect(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, params, NULL) == CUDA_ERROR_INVALID_HANDLE,
	       "a kernel of another context is refused");
	expect(cuModuleGetFunction(&f, from_memory, "none") == CUDA_ERROR_NOT_FOUND,
	       "a kernel that is not there");
	image[0] ^= 0x7f;
	expect(cuModuleLoadData(&from_memory, image.data()) != CUDA_SUCCESS,
	       "a broken module is refused");
	MUST(cuMemAlloc(&p, 1000));
	MUST(cuMemGetAddressRange(&base, &size, p + 500));
	expect(base == p && size == 1000, "the range of an allocation");
	MUST(cuMemGetInfo(&free_bytes, &total));
	expect(free_bytes <= total && total > 64 << 20, "memory");
	MUST(cuCtxDestroy(second));
	MUST(cuCtxGetCurrent(&current));
	expect(current == first, "then the one before is current again");
	launch_mixed(from_file, true);
	MUST(cuCtxPopCurrent(&popped));
	expect(popped == first && cuMemAlloc(&p, 16) == CUDA_ERROR_INVALID_CONTEXT, "popped");
	MUST(cuCtxPushCurrent(first));
	MUST(cuModuleUnload(from_file));
	MUST(cuCtxDestroy(first));
	return verdict(!bad, "%s: contexts, modules, launches by the driver API; %d expectations failed", name, bad);
}
