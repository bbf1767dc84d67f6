// SPDX-License-Identifier: MIT
/*
 * Libraries and kernels, on the fake device: the same code is in the libcuda.so.1 of remote/. What
 * is expected is what CUDA 13's manual says of these calls.
 */
#include <limits.h>
#include <stdio.h>
#include <selftests/unit_test.h>
#include <unistd.h>

#include <cuda/api/libraries.h>

#include "one_context.h"
#include "selftests/cuda/driver/managed_image.h"
#include "selftests/own_folder.h"

#define CUBIN		  "selftests/cuda/driver/kernels.cubin"
#define FAILS(call, with) assert_int_equal(call, with)

static void *cubin;
static size_t cubin_bytes;

static int read_cubin(void **state)
{
	uint8_t *data;

	if (read_file(CUBIN, &data, &cubin_bytes))
		return -1;
	cubin = data;
	return 0;
}

static int free_cubin(void **state)
{
	free(cubin);
	return 0;
}

/* a fat binary with that cubin, as nvcc makes it; the caller frees it */
static uint8_t *fat_binary(size_t *bytes)
{
	const struct {
		uint32_t magic;
		uint16_t version, header_bytes;
		uint64_t bytes;
	} head = { 0xba55ed50, 1, 16, 64 + cubin_bytes };
	struct {
		uint16_t kind, version;
		uint32_t header_bytes;
		uint64_t bytes;
		uint32_t packed, unknown;
		uint16_t minor, major;
		uint32_t arch;
		uint64_t rest[4];
	} entry = {
		.kind = 2, .version = 0x101, .header_bytes = 64, .bytes = cubin_bytes, .arch = 35
	};
	uint8_t *fat;

	*bytes = sizeof(head) + sizeof(entry) + cubin_bytes;
	fat = malloc(*bytes);
	assert_non_null(fat);
	memcpy(fat, &head, sizeof(head));
	memcpy(fat + sizeof(head), &entry, sizeof(entry));
	memcpy(fat + sizeof(head) + sizeof(entry), cubin, cubin_bytes);
	return fat;
}

static CUlibrary load(const void *image)
{
	CUlibrary l;

	OK(cuLibraryLoadData(&l, image, NULL, NULL, 0, NULL, NULL, 0));
	return l;
}

static CUresult launch(const void *f, CUstream s)
{
	CUdeviceptr where = 0;
	void *params[] = { &where };

	return cuLaunchKernel((CUfunction)(uintptr_t)f, 1, 1, 1, 32, 1, 1, 0, s, params, NULL);
}

/* one handle for each name; the kernel itself is launched, or its function */
TEST(handles)
{
	CUlibrary l = load(cubin), of;
	CUkernel store, again, add;
	CUfunction f, same;
	const char *name;
	unsigned int before = fake_launches;
	size_t offset, size;
	CUmodule m, mine;

	OK(cuLibraryGetKernel(&store, l, "store"));
	OK(cuLibraryGetKernel(&again, l, "store"));
	OK(cuLibraryGetKernel(&add, l, "add"));
	assert_ptr_equal(store, again);
	assert_ptr_not_equal(store, add);
	FAILS(cuLibraryGetKernel(&again, l, "no such kernel"), CUDA_ERROR_NOT_FOUND);
	OK(cuKernelGetName(&name, add));
	assert_string_equal(name, "add");
	OK(cuKernelGetLibrary(&of, add));
	assert_ptr_equal(of, l);
	OK(cuKernelGetParamInfo(add, 3, &offset, &size));
	assert_int_equal(offset, 24);
	assert_int_equal(size, 4);
	FAILS(cuKernelGetParamInfo(add, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
	OK(launch(store, NULL));
	OK(cuKernelGetFunction(&f, store));
	OK(cuKernelGetFunction(&same, store));
	assert_ptr_equal(f, same);
	OK(launch(f, NULL));
	assert_int_equal(fake_launches, before + 2);
	OK(cuFuncGetModule(&m, f));
	OK(cuLibraryGetModule(&mine, l));
	assert_ptr_equal(m, mine);
	OK(cuLibraryUnload(l));
}

TEST(wrong_arguments)
{
	CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED, none = 2;
	void *yes = (void *)1, *function;
	CUlibrary l = load(cubin), other;
	CUdeviceptr at;
	CUkernel k;
	size_t n;
	int v;

	FAILS(cuLibraryLoadData(NULL, cubin, NULL, NULL, 0, NULL, NULL, 0),
	      CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLibraryLoadData(&other, NULL, NULL, NULL, 0, NULL, NULL, 0),
	      CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLibraryLoadData(&other, cubin, NULL, NULL, 0, &none, &yes, 1),
	      CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLibraryLoadData(&other, cubin, NULL, NULL, 0, NULL, NULL, 1),
	      CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLibraryLoadData(&other, "neither a cubin nor a text of PTX", NULL, NULL, 0, NULL,
				NULL, 0),
	      CUDA_ERROR_INVALID_IMAGE);
	FAILS(cuLibraryLoadFromFile(&other, CUBIN, NULL, NULL, 0, &option, &yes, 1),
	      CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLibraryLoadFromFile(&other, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0),
	      CUDA_ERROR_FILE_NOT_FOUND);
	FAILS(cuLibraryGetKernel(NULL, l, "add"), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLibraryGetKernel(&k, l, NULL), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLibraryGetKernel(&k, (CUlibrary)&v, "add"), CUDA_ERROR_INVALID_HANDLE);
	OK(cuLibraryGetKernel(&k, l, "add"));
	FAILS(cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, k, 1),
	      CUDA_ERROR_INVALID_DEVICE);
	FAILS(cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, k, -1),
	      CUDA_ERROR_INVALID_DEVICE);
	FAILS(cuKernelGetAttribute(&v, 16, k, 0), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuKernelGetAttribute(NULL, 0, k, 0), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuKernelGetAttribute(&v, 0, (CUkernel)&v, 0), CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuKernelGetName(NULL, k), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLibraryGetGlobal(NULL, NULL, l, "table"), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLibraryGetGlobal(&at, &n, l, "no such variable"), CUDA_ERROR_NOT_FOUND);
	FAILS(cuLibraryGetManaged(&at, &n, l, "table"), CUDA_ERROR_NOT_FOUND);
	FAILS(cuLibraryGetUnifiedFunction(&function, l, "add"), CUDA_ERROR_NOT_FOUND);
	OK(cuLibraryUnload(l));
	FAILS(cuLibraryUnload(l), CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuKernelGetFunction((CUfunction *)&function, k), CUDA_ERROR_INVALID_HANDLE);
	FAILS(launch(k, NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* each context has its own function and variables; the stream tells which one a launch is in */
TEST(contexts)
{
	CUlibrary l = load(cubin);
	CUfunction first, second;
	CUdeviceptr at, other_at;
	CUcontext other, top;
	CUstream mine;
	CUkernel k;
	size_t n;

	OK(cuLibraryGetKernel(&k, l, "store"));
	OK(cuKernelGetFunction(&first, k));
	OK(cuLibraryGetGlobal(&at, &n, l, "table"));
	assert_int_equal(n, 16);
	OK(cuStreamCreate(&mine, 0));
	OK(cuCtxCreate_v2(&other, 0, 0));
	OK(launch(k, mine));
	OK(launch(k, NULL));
	OK(cuKernelGetFunction(&second, k));
	OK(cuLibraryGetGlobal(&other_at, &n, l, "table"));
	assert_ptr_not_equal(first, second);
	FAILS(launch(first, NULL), CUDA_ERROR_INVALID_HANDLE);
	OK(cuCtxDestroy_v2(other));
	OK(cuCtxGetCurrent(&top));
	assert_ptr_equal(top, ctx);
	OK(cuKernelGetFunction(&second, k));
	assert_ptr_equal(first, second);
	OK(launch(k, NULL));
	OK(cuLibraryUnload(l));
}

/* A primary context that was reset has the same handle, and none of the library's functions. */
TEST(reset)
{
	CUlibrary l = load(cubin);
	CUcontext primary;
	CUfunction f;
	CUkernel k;
	int i;

	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	OK(cuCtxPushCurrent_v2(primary));
	OK(cuLibraryGetKernel(&k, l, "store"));
	for (i = 0; i < 3; i++) {
		OK(launch(k, NULL));
		OK(cuKernelGetFunction(&f, k));
		OK(cuDevicePrimaryCtxReset_v2(0));
		FAILS(launch(k, NULL), CUDA_ERROR_CONTEXT_IS_DESTROYED);
		OK(cuDevicePrimaryCtxRetain(&primary, 0));
	}
	for (i = 0; i < 4; i++)
		OK(cuDevicePrimaryCtxRelease_v2(0));
	OK(cuCtxPopCurrent_v2(NULL));
	OK(cuLibraryUnload(l));
}

/* A library needs no context until something is asked of it, nor does a question about a kernel. */
TEST(without_a_context)
{
	unsigned int flags, count;
	CUkernel k, all[64];
	CUlibrary l;
	CUfunction f;
	int regs, same, active;

	OK(cuCtxPopCurrent_v2(NULL));
	l = load(cubin);
	OK(cuLibraryGetKernel(&k, l, "add"));
	FAILS(cuKernelGetFunction(&f, k), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuKernelGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, k, 0));
	OK(cuLibraryGetKernelCount(&count, l));
	OK(cuLibraryEnumerateKernels(all, 64, l));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_int_equal(active, 0);
	OK(cuCtxPushCurrent_v2(ctx));
	OK(cuKernelGetFunction(&f, k));
	OK(cuFuncGetAttribute(&same, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
	assert_int_equal(regs, same);
	OK(cuLibraryUnload(l));
}

static bool is_active(void)
{
	unsigned int flags;
	int active;

	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	return active;
}

/* the caller frees it */
static uint8_t *managed_image(void)
{
	uint8_t *image = malloc(cubin_bytes);

	assert_non_null(image);
	memcpy(image, cubin, cubin_bytes);
	assert_true(make_counter_managed(image));
	return image;
}

/*
 * The runtime of CUDA 13 asks for managed variables before it makes a context. The variable's
 * address holds until the library ends, whatever others do with the primary context.
 */
TEST(managed_without_a_context)
{
	uint8_t *image = managed_image();
	CUcontext primary;
	CUdeviceptr at, same;
	CUlibrary l;
	size_t n;
	int round;

	fake_same = true;
	OK(cuCtxPopCurrent_v2(NULL));
	l = load(image);
	FAILS(cuLibraryGetGlobal(&at, &n, l, "counter"), CUDA_ERROR_INVALID_CONTEXT);
	FAILS(cuLibraryGetManaged(&at, &n, l, "factors"), CUDA_ERROR_NOT_FOUND);
	assert_false(is_active());
	for (round = 0; round < 2; round++) {
		OK(cuLibraryGetManaged(&at, &n, l, "counter"));
		OK(cuLibraryGetManaged(&same, NULL, l, "counter"));
		assert_true(at == same && n == 4);
		OK(cuDevicePrimaryCtxRetain(&primary, 0));
		OK(cuCtxPushCurrent_v2(primary));
		OK(cuLibraryGetGlobal(&same, &n, l, "counter"));
		assert_true(at == same);
		OK(cuCtxPopCurrent_v2(NULL));
		OK(cuDevicePrimaryCtxRelease_v2(0));
		assert_true(is_active());
		*(uint32_t *)(uintptr_t)at = round;
		OK(cuDevicePrimaryCtxReset_v2(0)); /* a variable of its own for each life */
	}
	OK(cuLibraryGetManaged(&at, NULL, l, "counter"));
	OK(cuLibraryUnload(l));
	assert_false(is_active());
	FAILS(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxPushCurrent_v2(ctx));
	/* with a context the variable is that context's */
	l = load(image);
	OK(cuLibraryGetManaged(&at, NULL, l, "counter"));
	assert_false(is_active());
	OK(cuLibraryUnload(l));
	free(image);
}

/*
 * To CUDA a managed variable is one for all contexts. Here each context would have its own: so who
 * has the variable's address uses that code in one context, and gets an error in others.
 */
TEST(managed_in_one_context)
{
	uint8_t *image = managed_image();
	CUcontext other;
	CUdeviceptr at;
	CUlibrary l;
	CUkernel k;

	fake_same = true;
	l = load(image);
	OK(cuLibraryGetManaged(&at, NULL, l, "counter"));
	OK(cuLibraryGetKernel(&k, l, "store"));
	OK(cuCtxCreate_v2(&other, 0, 0));
	FAILS(launch(k, NULL), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuCtxPopCurrent_v2(NULL));
	OK(launch(k, NULL));
	/* the other way round: @ctx uses the code, and then the other one asks for the address */
	OK(cuLibraryUnload(l));
	l = load(image);
	OK(cuCtxPushCurrent_v2(other));
	FAILS(cuLibraryGetManaged(&at, NULL, l, "counter"), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuCtxDestroy_v2(other));
	OK(cuLibraryGetManaged(&at, NULL, l, "counter"));
	OK(cuLibraryUnload(l));
	free(image);
}

TEST(enumeration)
{
	CUlibrary l = load(cubin);
	CUkernel all[64], first[2], add;
	CUfunction functions[64], f;
	unsigned int n, of_module, i, adds = 0;
	CUfunctionLoadingState loaded;
	const char *name;
	CUmodule m;

	OK(cuLibraryGetKernelCount(&n, l));
	OK(cuLibraryGetModule(&m, l));
	OK(cuModuleGetFunctionCount(&of_module, m));
	assert_int_equal(n, of_module);
	assert_in_range(n, 3, 64);
	OK(cuLibraryEnumerateKernels(first, 2, l));
	OK(cuLibraryEnumerateKernels(all, 64, l));
	OK(cuLibraryGetKernel(&add, l, "add"));
	OK(cuModuleEnumerateFunctions(functions, 64, m));
	for (i = 0; i < n; i++) {
		adds += all[i] == add;
		OK(cuKernelGetFunction(&f, all[i]));
		assert_ptr_equal(f, functions[i]);
		OK(cuFuncGetName(&name, f));
		OK(cuFuncIsLoaded(&loaded, f));
		assert_int_equal(loaded, CU_FUNCTION_LOADING_STATE_LOADED);
		OK(cuFuncLoad(f));
	}
	assert_int_equal(adds, 1);
	assert_ptr_equal(first[0], all[0]);
	assert_ptr_equal(first[1], all[1]);
	FAILS(cuLibraryEnumerateKernels(all, 0, l), CUDA_ERROR_INVALID_VALUE);
	OK(cuLibraryUnload(l));
}

/* what is set for a device holds in its contexts, those of before and those of later */
TEST(settings)
{
	const CUfunction_attribute dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
	CUlibrary l = load(cubin);
	CUcontext other;
	CUfunction f;
	CUkernel k;
	int v;

	OK(cuLibraryGetKernel(&k, l, "sum"));
	OK(cuKernelGetFunction(&f, k));
	OK(cuKernelGetAttribute(&v, dynamic, k, 0));
	assert_int_not_equal(v, 1234);
	OK(cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, k, 0));
	assert_int_equal(v, 0);
	FAILS(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 1, k, 0),
	      CUDA_ERROR_INVALID_VALUE);
	OK(cuKernelSetAttribute(dynamic, 1234, k, 0));
	OK(cuKernelGetAttribute(&v, dynamic, k, 0));
	assert_int_equal(v, 1234);
	OK(cuFuncGetAttribute(&v, dynamic, f));
	assert_int_equal(v, 1234);
	FAILS(cuKernelSetAttribute(dynamic, -1, k, 0), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, k, 0), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuKernelSetAttribute(dynamic, 1, k, 7), CUDA_ERROR_INVALID_DEVICE);
	OK(cuKernelSetCacheConfig(k, CU_FUNC_CACHE_PREFER_L1, 0));
	FAILS(cuKernelSetCacheConfig(k, 9, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxCreate_v2(&other, 0, 0));
	OK(cuKernelGetFunction(&f, k));
	OK(cuFuncGetAttribute(&v, dynamic, f));
	assert_int_equal(v, 1234);
	assert_int_equal(f->cache, CU_FUNC_CACHE_PREFER_L1);
	/* a function's own setting stays its own */
	OK(cuFuncSetAttribute(f, dynamic, 99));
	OK(cuKernelGetAttribute(&v, dynamic, k, 0));
	assert_int_equal(v, 1234);
	OK(cuCtxDestroy_v2(other));
	OK(cuLibraryUnload(l));
}

/* Without the program's word that the image stays, a library has its own. */
TEST(images)
{
	CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
	void *yes = (void *)1, *no = NULL;
	size_t bytes;
	uint8_t *fat = fat_binary(&bytes);
	struct {
		uint32_t magic, version;
		const void *data, *linked;
	} wrapper = { 0x466243b1, 1, fat, NULL };
	CUlibrary kept, own, wrapped;
	CUkernel k;

	OK(cuLibraryLoadData(&kept, fat, NULL, NULL, 0, &option, NULL, 1));
	OK(cuLibraryUnload(kept));
	OK(cuLibraryLoadData(&kept, fat, NULL, NULL, 0, &option, &yes, 1));
	OK(cuLibraryLoadData(&own, fat, NULL, NULL, 0, &option, &no, 1));
	wrapped = load(&wrapper);
	OK(cuLibraryGetKernel(&k, kept, "add"));
	memset(fat, 0, bytes);
	OK(cuLibraryGetKernel(&k, own, "add"));
	OK(cuLibraryGetKernel(&k, wrapped, "add"));
	OK(cuLibraryUnload(kept));
	OK(cuLibraryUnload(own));
	OK(cuLibraryUnload(wrapped));
	free(fat);
}

/* A fat binary is looked at when something of it is needed, another image at once. */
TEST(lazy)
{
	size_t bytes;
	uint8_t *fat = fat_binary(&bytes);
	CUlibrary l;
	CUkernel k;

	memset(fat + 16 + 64, 0, 64); /* the cubin's header */
	l = load(fat);
	FAILS(cuLibraryGetKernel(&k, l, "add"), CUDA_ERROR_INVALID_IMAGE);
	OK(cuLibraryUnload(l));
	memset(fat, 0, bytes);
	FAILS(cuLibraryLoadData(&l, fat, NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_INVALID_IMAGE);
	free(fat);
}

TEST(files)
{
	char name[PATH_MAX];
	size_t bytes, cut;
	uint8_t *fat = fat_binary(&bytes);
	CUlibrary l;
	CUkernel k;
	FILE *f;

	snprintf(name, sizeof(name), "%s/image", own_folder());
	OK(cuLibraryLoadFromFile(&l, CUBIN, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&k, l, "add"));
	OK(cuLibraryUnload(l));
	for (cut = 0; cut < 200; cut += 7) {
		f = fopen(name, "w");
		assert_non_null(f);
		assert_int_equal(fwrite(fat, 1, cut, f), cut);
		assert_int_equal(fclose(f), 0);
		FAILS(cuLibraryLoadFromFile(&l, name, NULL, NULL, 0, NULL, NULL, 0),
		      CUDA_ERROR_INVALID_IMAGE);
	}
	unlink(name);
	free(fat);
}

static CUlibrary shared;

static void *use_library(void *names)
{
	const char *const *name;
	CUkernel k;
	CUresult r = cuCtxSetCurrent(ctx);
	int i, v;

	for (name = names; *name && !r; name++) {
		r = cuLibraryGetKernel(&k, shared, *name);
		for (i = 0; i < 10 && !r; i++)
			r = cuKernelGetAttribute(&v, i, k, 0);
		if (!r && !strcmp(*name, "store"))
			r = launch(k, NULL);
	}
	return (void *)(uintptr_t)r;
}

/* threads find the same kernels, which they have loaded together */
TEST(threads)
{
	const char *names[] = { "add", "sum", "store", "mixed", "spin", "shape", NULL };
	pthread_t thread[4];
	CUkernel all[64], k;
	unsigned int n, i;
	void *r;

	shared = load(cubin);
	for (i = 0; i < 4; i++)
		OK(pthread_create(&thread[i], NULL, use_library, names));
	for (i = 0; i < 4; i++) {
		OK(pthread_join(thread[i], &r));
		assert_null(r);
	}
	OK(cuLibraryGetKernelCount(&n, shared));
	OK(cuLibraryEnumerateKernels(all, 64, shared));
	OK(cuLibraryGetKernel(&k, shared, "store"));
	for (i = 0; i < n && all[i] != k; i++)
		;
	assert_in_range(i, 0, n - 1);
	OK(cuLibraryUnload(shared));
}

/* numbers of contexts and streams, and calls that name a context */
TEST(identities)
{
	unsigned long long mine, its, null, its_null, stream, thread;
	CUcontext other, of;
	CUdevice dev = -1;
	int can = -1;
	CUgreenCtx green = (CUgreenCtx)1;
	CUstream s;

	OK(cuCtxGetId(NULL, &mine));
	OK(cuStreamGetId(NULL, &null));
	OK(cuStreamCreate(&s, 0));
	OK(cuCtxCreate_v4(&other, NULL, 0, 0));
	OK(cuCtxGetId(other, &its));
	OK(cuStreamGetId(NULL, &its_null));
	OK(cuStreamGetId(s, &stream));
	OK(cuStreamGetId(CU_STREAM_PER_THREAD, &thread));
	assert_int_not_equal(mine, its);
	assert_int_not_equal(null, its_null);
	assert_int_not_equal(stream, thread);
	OK(cuCtxGetId(ctx, &its));
	assert_int_equal(mine, its);
	OK(cuStreamGetCtx_v2(s, &of, &green));
	assert_ptr_equal(of, ctx);
	assert_null(green);
	OK(cuStreamGetDevice(s, &dev));
	assert_int_equal(dev, 0);
	OK(cuCtxGetDevice_v2(&dev, ctx));
	OK(cuCtxSynchronize_v2(ctx));
	OK(cuCtxSynchronize_v2(NULL));
	OK(cuCtxDestroy_v2(other));
	FAILS(cuCtxSynchronize_v2(other), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	/* the driver is one of before CUDA 13: what is no context is not an argument */
	dev = -1;
	OK(cuCtxGetDevice_v2(&dev, (CUcontext)&dev));
	assert_int_equal(dev, 0);
	OK(cuCtxSynchronize_v2((CUcontext)&dev));
	FAILS(cuCtxCreate_v3(&other, NULL, 1, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
	FAILS(cuCtxCreate_v4(&other, &(CUctxCreateParams){ .numExecAffinityParams = 1 }, 0, 0),
	      CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
	OK(cuDeviceGetExecAffinitySupport(&can, 0, 0));
	assert_int_equal(can, 0);
	FAILS(cuDeviceGetExecAffinitySupport(&can, 1, 0), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuDeviceGetExecAffinitySupport(NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuDeviceGetExecAffinitySupport(&can, 0, 9), CUDA_ERROR_INVALID_DEVICE);
	FAILS(cuCtxGetExecAffinity((void *)&can, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
	FAILS(cuCtxGetExecAffinity((void *)&can, 1), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuCtxGetExecAffinity(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
	return unit_tests_run(set_up, tear_down, read_cubin, free_cubin);
}
