// SPDX-License-Identifier: MIT
/*
 * The driver API on a fake device: arguments, order between streams, errors that stay, and that
 * everything is freed.
 */
#define _GNU_SOURCE /* memmem() */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include <cuda/kepler/driver/driver.h>

#include "fake.h"
#include "selftests/own_folder.h"

#define CUBIN "selftests/cuda/driver/kernels.cubin"

static int set_up(void **state)
{
	CUcontext ctx;

	fake_fail_after = -1;
	fake_failure = DEVICE_OK;
	memset(fake_hold, 0, sizeof(fake_hold));
	return cuCtxCreate_v2(&ctx, 0, 0);
}

static int tear_down(void **state)
{
	CUcontext ctx;
	int r = cuCtxGetCurrent(&ctx);

	if (!r)
		r = cuCtxDestroy_v2(ctx);
	return r || fake_open || fake_buffers || fake_early;
}

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static void before_init(void **state)
{
	CUcontext ctx;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	int n;

	assert_int_equal(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
	assert_int_equal(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_NOT_INITIALIZED);
	assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
	assert_int_equal(cuCtxGetCurrent(&ctx), CUDA_ERROR_NOT_INITIALIZED);
	assert_int_equal(cuInit(1), CUDA_ERROR_INVALID_VALUE);
	OK(cuInit(0));
	OK(cuDeviceGetCount(&n));
	assert_int_equal(n, 1);
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
}

static void devices(void **state)
{
	char name[32], bus[16];
	CUdevice dev;
	int v;

	OK(cuDeviceGetName(name, sizeof(name), 0));
	assert_string_equal(name, "Tesla K20m");
	OK(cuDeviceGetAttribute(&v, 16, 0));
	assert_int_equal(v, 13);
	assert_int_equal(cuDeviceGetAttribute(&v, 148, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuDeviceGetAttribute(&v, 134 /* HOST_NUMA_ID */, 0));
	assert_int_equal(v, -1);
	OK(cuDeviceGetAttribute(&v, 139 /* GPU_PCI_DEVICE_ID */, 0));
	assert_int_equal(v, 0x102810de);
	OK(cuDeviceGetAttribute(&v, 147, 0));
	assert_int_equal(v, 0);
	assert_int_equal(cuDeviceGetAttribute(&v, 16, 1), CUDA_ERROR_INVALID_DEVICE);
	OK(cuDeviceGetPCIBusId(bus, sizeof(bus), 0));
	assert_string_equal(bus, "0000:03:01.0");
	OK(cuDeviceGetByPCIBusId(&dev, bus));
	OK(cuDeviceGetByPCIBusId(&dev, "3:1.0"));
	assert_int_equal(cuDeviceGetByPCIBusId(&dev, "nonsense"), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuDeviceGetByPCIBusId(&dev, "0:4:0.0"), CUDA_ERROR_INVALID_DEVICE);
}

static void errors_have_names(void **state)
{
	const char *s;

	OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &s));
	assert_string_equal(s, "CUDA_ERROR_ILLEGAL_ADDRESS");
	OK(cuGetErrorString(CUDA_SUCCESS, &s));
	assert_int_equal(cuGetErrorString(12345, &s), CUDA_ERROR_INVALID_VALUE);
	assert_null(s);
}

static void current_stack(void **state)
{
	CUcontext first, second, c;

	OK(cuCtxGetCurrent(&first));
	OK(cuCtxCreate_v2(&second, 0, 0));
	OK(cuCtxPopCurrent_v2(&c));
	assert_ptr_equal(c, second);
	OK(cuCtxGetCurrent(&c));
	assert_ptr_equal(c, first);
	OK(cuCtxPushCurrent_v2(second));
	OK(cuCtxPushCurrent_v2(second));
	OK(cuCtxDestroy_v2(second));
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	assert_int_equal(cuCtxDestroy_v2(second), CUDA_ERROR_INVALID_CONTEXT);
	assert_int_equal(cuCtxPushCurrent_v2((CUcontext)&c), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxPopCurrent_v2(NULL));
	OK(cuCtxSynchronize());
}

static void primary_context(void **state)
{
	CUcontext a, b;
	CUdeviceptr p;
	unsigned int flags;
	int active;

	OK(cuDevicePrimaryCtxRetain(&a, 0));
	OK(cuDevicePrimaryCtxRetain(&b, 0));
	assert_ptr_equal(a, b);
	OK(cuCtxPushCurrent_v2(a));
	OK(cuMemAlloc_v2(&p, 100));
	OK(cuDevicePrimaryCtxReset_v2(0));
	assert_int_equal(cuMemFree_v2(p), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuDevicePrimaryCtxRetain(&b, 0));
	assert_ptr_equal(a, b);
	assert_int_equal(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
	OK(cuDevicePrimaryCtxRelease_v2(0));
	OK(cuDevicePrimaryCtxRelease_v2(0));
	OK(cuDevicePrimaryCtxRelease_v2(0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_int_equal(active, 0);
	assert_int_equal(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxPopCurrent_v2(NULL));
}

static void allocations(void **state)
{
	CUdeviceptr p[2000], big, base;
	size_t size, unused, total;
	unsigned int i, j;

	for (i = 0; i < 2000; i++)
		OK(cuMemAlloc_v2(&p[i], 1 + i * 7));
	for (i = 0; i < 2000; i++)
		for (j = 0; j < i; j += 97)
			assert_true(p[i] + 1 + i * 7 <= p[j] || p[j] + 1 + j * 7 <= p[i]);
	assert_true(fake_buffers < 20);
	OK(cuMemGetAddressRange_v2(&base, &size, p[9] + 3));
	assert_true(base == p[9] && size == 64);
	for (i = 0; i < 2000; i += 2)
		OK(cuMemFree_v2(p[i]));
	for (i = 0; i < 2000; i += 2)
		OK(cuMemAlloc_v2(&p[i], 1 + i * 7));
	assert_true(fake_buffers < 20);
	assert_int_equal(cuMemFree_v2(p[5] + 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemGetInfo_v2(&unused, &total));
	assert_int_equal(cuMemAlloc_v2(&big, unused + 1), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(cuMemAlloc_v2(&big, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAlloc_v2(&big, unused));
	OK(cuMemFree_v2(big));
	assert_int_equal(cuMemFree_v2(big), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2(0));
}

/* readelf -SW finds so many sections .text.NAME in it */
static void counted(void **state)
{
	unsigned int count;
	CUmodule m;

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunctionCount(&count, m));
	assert_int_equal(count, 35);
	assert_int_equal(cuModuleGetFunctionCount(NULL, m), CUDA_ERROR_INVALID_VALUE);
	OK(cuModuleUnload(m));
	assert_int_equal(cuModuleGetFunctionCount(&count, m), CUDA_ERROR_INVALID_HANDLE);
}

/* All of a module's functions are told, among them @f, and no more than there is room for. */
static void functions_of(CUmodule m, CUfunction f)
{
	CUfunction all[64] = { 0 };
	unsigned int n, i;

	OK(cuModuleGetFunctionCount(&n, m));
	assert_in_range(n, 2, 62);
	OK(cuModuleEnumerateFunctions(all, n - 1, m));
	assert_null(all[n - 1]);
	OK(cuModuleEnumerateFunctions(all, 64, m));
	assert_non_null(all[n - 1]);
	assert_null(all[n]);
	for (i = 0; i < n && all[i] != f; i++)
		;
	assert_true(i < n);
	assert_int_equal(cuModuleEnumerateFunctions(NULL, 1, m), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuModuleEnumerateFunctions(all, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void launches(void **state)
{
	CUdeviceptr a = 0x1111222233334444, b = 2, c = 3;
	int n = 77;
	void *params[] = { &a, &b, &c, &n };
	CUmodule m;
	CUfunction f, g;
	CUdeviceptr p;
	size_t size;
	int v;

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "add"));
	assert_int_equal(cuModuleGetFunction(&g, m, "nothing"), CUDA_ERROR_NOT_FOUND);
	functions_of(m, f);
	OK(cuLaunchKernel(f, 3, 2, 1, 64, 2, 1, 100, NULL, params, NULL));
	assert_int_equal(fake_last_launch.grid[0], 3);
	assert_int_equal(fake_last_launch.block[1], 2);
	assert_int_equal(fake_last_launch.shared, 100);
	assert_true(fake_last_launch.new_code && fake_last_launch.regs);
	assert_memory_equal(fake_const0 + 0x140, &a, 8);
	assert_memory_equal(fake_const0 + 0x158, &n, 4);
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	assert_false(fake_last_launch.new_code);
	OK(cuModuleGetGlobal_v2(&p, &size, m, "table"));
	assert_int_equal(size, 16);
	assert_int_equal(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
	OK(cuModuleGetFunction(&g, m, "scramble"));
	OK(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, g));
	assert_true(v >= 256);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 1024, 0));
	assert_int_equal(v, 2);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 32, 24000));
	assert_int_equal(v, 2);
	OK(cuModuleUnload(m));
	assert_int_equal(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
}

/* of the kernel mixed(char, double, short, double *) */
static void parameters(void **state)
{
	static const size_t want[][2] = { { 0, 1 }, { 8, 8 }, { 16, 2 }, { 24, 8 } };
	size_t i, offset, size;
	CUfunction f;
	CUmodule m;

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "mixed"));
	for (i = 0; i < 4; i++) {
		OK(cuFuncGetParamInfo(f, i, &offset, &size));
		assert_int_equal(offset, want[i][0]);
		assert_int_equal(size, want[i][1]);
	}
	OK(cuFuncGetParamInfo(f, 1, &offset, NULL));
	assert_int_equal(offset, 8);
	assert_int_equal(cuFuncGetParamInfo(f, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuFuncGetParamInfo(f, 0, NULL, &size), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuFuncGetParamInfo(NULL, 0, &offset, &size), CUDA_ERROR_INVALID_HANDLE);
	OK(cuModuleUnload(m));
}

static void bad_images(void **state)
{
	char log[100];
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)sizeof(log) };
	/* magic, version and bytes of the head, bytes of entries: nvcc links one to each program */
	static const uint32_t empty[4] = { 0xba55ed50, 16 << 16 | 1, 0, 0 };
	char absent[64];
	CUmodule m;

	snprintf(absent, sizeof(absent), "%s/absent", own_folder());
	assert_int_equal(cuModuleLoad(&m, absent), CUDA_ERROR_FILE_NOT_FOUND);
	assert_int_equal(cuModuleLoad(&m, "selftests/cuda/unit/cuda/kepler/image/data/README.md"),
			 CUDA_ERROR_INVALID_IMAGE);
	assert_int_equal(cuModuleLoad(&m,
				      "selftests/cuda/unit/cuda/kepler/image/data/only_ptx.fatbin"),
			 CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
	assert_int_equal(cuModuleLoadDataEx(&m, "\n.version 7.8\n.target sm_35\n.address_size 64\n",
					    2, options, values),
			 CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
	assert_non_null(strstr(log, "sm_35"));
	assert_int_equal((uintptr_t)values[1], strlen(log));
	values[1] = (void *)sizeof(log);
	assert_int_equal(cuModuleLoadDataEx(&m, empty, 2, options, values),
			 CUDA_ERROR_NO_BINARY_FOR_GPU);
	assert_string_equal(log, "");
	assert_int_equal(cuModuleLoadData(NULL, "x"), CUDA_ERROR_INVALID_VALUE);
}

/* The module is loaded; the launch of such a kernel says why it is none, and others run. */
static void kernels_that_call_what_is_not_here(void **state)
{
	int into[2], kept = dup(2), i;
	CUgraphNode node;
	CUfunction asks, plain;
	char said[512] = "";
	CUdeviceptr p = 0;
	void *args[] = { &p };
	CUDA_KERNEL_NODE_PARAMS params = { .gridDimX = 1,
					   .gridDimY = 1,
					   .gridDimZ = 1,
					   .blockDimX = 1,
					   .blockDimY = 1,
					   .blockDimZ = 1,
					   .kernelParams = args };
	CUgraph graph;
	CUmodule m;

	OK(cuModuleLoad(&m, "selftests/cuda/unit/cuda/kepler/image/data/calls_driver.cubin"));
	OK(cuModuleGetFunction(&asks, m, "asks"));
	OK(cuModuleGetFunction(&plain, m, "plain"));
	OK(cuGraphCreate(&graph, 0));
	params.func = asks;
	assert_int_equal(pipe(into), 0);
	dup2(into[1], 2);
	for (i = 0; i < 2; i++)
		assert_int_equal(cuLaunchKernel(asks, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL),
				 CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(cuGraphAddKernelNode(&node, graph, NULL, 0, &params),
			 CUDA_ERROR_NOT_SUPPORTED);
	dup2(kept, 2);
	close(kept);
	close(into[1]);
	assert_true(read(into[0], said, sizeof(said) - 1) > 0);
	close(into[0]);
	assert_string_equal(
		said, "libcuda: kernel asks is not launched: it calls the CUDA runtime (to launch "
		      "kernels, or for more than which devices there are), which kernels do not "
		      "have here\n");
	OK(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	OK(cuGraphDestroy(graph));
	OK(cuModuleUnload(m));
}

/* ------------------------------------------------------------------ images with odd numbers */

/* a file of nvcc, to be changed and freed */
static uint8_t *read_odd(void)
{
	uint8_t *data;
	size_t size;

	OK(read_file("selftests/cuda/unit/cuda/kepler/image/data/sm_35.cubin", &data, &size));
	return data;
}

static Elf64_Shdr *section(uint8_t *cubin, const char *name)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)cubin;
	Elf64_Shdr *s = (Elf64_Shdr *)(cubin + h->e_shoff);
	const char *names = (const char *)cubin + s[h->e_shstrndx].sh_offset;
	unsigned int i;

	for (i = 1; i < h->e_shnum && strcmp(names + s[i].sh_name, name); i++)
		;
	assert_int_not_equal(i, h->e_shnum);
	return &s[i];
}

/* Sections without bytes have no memory. Their variables are nowhere, and have no bytes. */
static void empty_variables(void **state)
{
	uint8_t *cubin = read_odd();
	Elf64_Shdr *symbols = section(cubin, ".symtab"), *s;
	Elf64_Sym *sym = (Elf64_Sym *)(cubin + symbols->sh_offset);
	static const char *const sections[] = { ".nv.constant3", ".nv.global", ".nv.global.init" };
	CUdeviceptr p = 1;
	size_t size = 1;
	unsigned int i;
	CUmodule m;

	for (i = 0; i < 3; i++)
		section(cubin, sections[i])->sh_size = 0;
	for (i = 0; i < symbols->sh_size / sizeof(*sym); i++)
		if (ELF64_ST_TYPE(sym[i].st_info) == STT_OBJECT)
			sym[i].st_value = sym[i].st_size = 0;
	/* what refers to the variables is not read */
	s = section(cubin, ".rel.nv.global.init");
	s->sh_type = SHT_PROGBITS;
	OK(cuModuleLoadData(&m, cubin));
	OK(cuModuleGetGlobal_v2(&p, &size, m, "counter"));
	assert_true(!p && !size);
	p = size = 1;
	OK(cuModuleGetGlobal_v2(&p, &size, m, "table"));
	assert_true(!p && !size);
	p = size = 1;
	OK(cuModuleGetGlobal_v2(&p, &size, m, "steps"));
	assert_true(!p && !size);
	OK(cuModuleUnload(m));
	free(cubin);
}

/* The numbers of a block's threads, and of an attribute, end neither below 0 nor above what is. */
static void odd_numbers_of_threads(void **state)
{
	static const uint32_t bound[] = { 0xc0504, 128, 1, 1 }; /* __launch_bounds__(128) */
	uint8_t *cubin = read_odd();
	Elf64_Shdr *info = section(cubin, ".nv.info.bounded");
	uint32_t *at = memmem(cubin + info->sh_offset, info->sh_size, bound, sizeof(bound));
	CUfunction f;
	CUmodule m;
	int v;

	assert_non_null(at);
	at[1] = 0x80000000;
	OK(cuModuleLoadData(&m, cubin));
	OK(cuModuleGetFunction(&f, m, "bounded"));
	OK(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	assert_int_equal(v, 1024);
	OK(cuModuleGetFunction(&f, m, "gather"));
	assert_int_equal(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
					    INT32_MAX),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuModuleUnload(m));
	free(cubin);
}

enum { MANY = 65000, NAME = 24 };

/* a cubin of MANY kernels; the constants of each are the same 64 KiB of the file */
static uint8_t *many_kernels(void)
{
	enum { NAMES = 1, SYMBOLS, TEXT, CONSTANTS, SECTIONS = CONSTANTS + MANY };
	struct cubin {
		Elf64_Ehdr h;
		char text_name[NAME], names[MANY][NAME];
		uint8_t text[8], constants[65536];
		Elf64_Sym sym[MANY];
		Elf64_Shdr s[SECTIONS];
	} *c = calloc(1, sizeof(*c));
	static const char bank[] = ".nv.constant2.";
	unsigned int i;

	assert_non_null(c);
	c->h = (Elf64_Ehdr){ .e_type = ET_EXEC,
			     .e_machine = 190,
			     .e_flags = 35,
			     .e_shoff = offsetof(struct cubin, s),
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = SECTIONS,
			     .e_shstrndx = NAMES };
	memcpy(c->h.e_ident, "\177ELF\2\1\1", 7);
	strcpy(c->text_name, ".text.k");
	c->s[NAMES] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				    .sh_offset = offsetof(struct cubin, text_name),
				    .sh_size = NAME + sizeof(c->names) };
	c->s[SYMBOLS] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				      .sh_link = NAMES,
				      .sh_offset = offsetof(struct cubin, sym),
				      .sh_size = sizeof(c->sym) };
	c->s[TEXT] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				   .sh_offset = offsetof(struct cubin, text),
				   .sh_size = sizeof(c->text) };
	for (i = 0; i < MANY; i++) {
		snprintf(c->names[i], NAME, "%sk%u", bank, i);
		c->sym[i] = (Elf64_Sym){ .st_name = (i + 1) * NAME + strlen(bank),
					 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					 .st_other = 0x10,
					 .st_shndx = TEXT };
		c->s[CONSTANTS + i] = (Elf64_Shdr){ .sh_name = (i + 1) * NAME,
						    .sh_type = SHT_PROGBITS,
						    .sh_offset = offsetof(struct cubin, constants),
						    .sh_size = sizeof(c->constants) };
	}
	return (uint8_t *)c;
}

/* The constants of all kernels are 4 GiB. */
static void too_many_constants(void **state)
{
	uint8_t *cubin = many_kernels();
	CUmodule m;

	assert_int_equal(cuModuleLoadData(&m, cubin), CUDA_ERROR_INVALID_IMAGE);
	free(cubin);
}

/* Work of one stream may be done before earlier work of another, unless an event orders them. */
static void order(void **state)
{
	CUdeviceptr p;
	uint32_t *pinned;
	CUstream a, b;
	CUevent e;

	OK(cuMemAlloc_v2(&p, 4));
	OK(cuMemHostAlloc((void **)&pinned, 8, 0));
	OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cuMemsetD32Async(p, 5, 1, a));
	/* no event orders this behind the fill */
	OK(cuMemcpyDtoHAsync_v2(pinned + 1, p, 4, b));
	OK(cuStreamSynchronize(b));
	OK(cuEventRecord(e, a));
	assert_int_equal(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	OK(cuStreamWaitEvent(b, e, 0));
	OK(cuMemcpyDtoHAsync_v2(pinned, p, 4, b));
	assert_int_equal(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
	fake_hold[QUEUE_COMPUTE] = false;
	OK(cuStreamSynchronize(b));
	assert_int_equal(*pinned, 5);
	OK(cuEventQuery(e));
	OK(cuEventDestroy_v2(e));
	OK(cuStreamDestroy_v2(a));
	assert_int_equal(cuStreamQuery(a), CUDA_ERROR_INVALID_HANDLE);
}

/* A second queue is made when work could overlap, not before. */
static void one_queue(void **state)
{
	uint32_t *pinned, host = 1;
	CUevent e;
	CUdeviceptr p;
	CUstream s;

	OK(cuMemAlloc_v2(&p, 4));
	OK(cuMemHostAlloc((void **)&pinned, 4, 0));
	OK(cuEventCreate(&e, 0));
	fake_asked_beside = 0;
	OK(cuMemcpyHtoD_v2(p, &host, 4));
	OK(cuMemsetD32Async(p, 3, 1, NULL));
	OK(cuMemcpyDtoHAsync_v2(pinned, p, 4, NULL));
	OK(cuEventRecord(e, NULL));
	OK(cuMemcpyDtoH_v2(&host, p, 4));
	OK(cuEventSynchronize(e));
	assert_int_equal(*pinned, 3);
	assert_int_equal(host, 3);
	assert_int_equal(fake_asked_beside, 0);
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cuMemsetD32Async(p, 4, 1, NULL));
	OK(cuMemcpyDtoHAsync_v2(pinned, p, 4, s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(*pinned, 3);
	assert_int_not_equal(fake_asked_beside, 0);
	/* no second queue can be had */
	fake_one_queue = true;
	OK(cuMemcpyDtoHAsync_v2(pinned, p, 4, s));
	assert_int_equal(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	fake_hold[QUEUE_COMPUTE] = false;
	OK(cuStreamSynchronize(s));
	assert_int_equal(*pinned, 4);
	fake_one_queue = false;
}

static void legacy_stream(void **state)
{
	CUdeviceptr p;
	uint32_t *pinned;
	CUstream s, own;

	OK(cuMemAlloc_v2(&p, 4));
	OK(cuMemHostAlloc((void **)&pinned, 4, 0));
	OK(cuStreamCreate(&s, 0));
	OK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cuMemsetD32Async(p, 7, 1, s));
	OK(cuMemcpyDtoHAsync_v2(pinned, p, 4, NULL));
	assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	OK(cuStreamQuery(own));
	assert_int_equal(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
	OK(cuStreamQuery_ptsz(NULL));
	fake_hold[QUEUE_COMPUTE] = false;
	OK(cuStreamSynchronize(NULL));
	assert_int_equal(*pinned, 7);
}

static void times(void **state)
{
	CUevent a, b, c;
	float ms;

	OK(cuEventCreate(&a, 0));
	OK(cuEventCreate(&b, 0));
	OK(cuEventCreate(&c, CU_EVENT_DISABLE_TIMING));
	assert_int_equal(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventRecord(a, NULL));
	OK(cuEventRecord(b, NULL));
	OK(cuEventRecord(c, NULL));
	OK(cuEventSynchronize(b));
	OK(cuEventElapsedTime(&ms, a, b));
	assert_true(ms > 0.99f && ms < 1.01f);
	assert_int_equal(cuEventElapsedTime(&ms, a, c), CUDA_ERROR_INVALID_HANDLE);
}

/* as a loop that times each of its launches by a pair */
static void many_timed_events(void **state)
{
	enum { EVENTS = 20000 };
	static CUevent e[EVENTS];
	int into[2], kept = dup(2), i;
	char said[512] = "";
	unsigned int n = 0;
	CUevent more;
	float ms;

	for (i = 0; i < EVENTS; i++) {
		OK(cuEventCreate(&e[i], 0));
		OK(cuEventRecord(e[i], NULL));
	}
	OK(cuCtxSynchronize());
	for (i = EVENTS - 2; i >= 0; i -= 999) {
		OK(cuEventElapsedTime(&ms, e[i], e[i + 1]));
		assert_true(ms > 0.99f && ms < 1.01f);
	}
	assert_int_equal(pipe(into), 0);
	fake_host_full = true;
	dup2(into[1], 2);
	while (!cuEventCreate(&more, 0))
		n++;
	assert_int_equal(cuEventCreate(&more, 0), CUDA_ERROR_OUT_OF_MEMORY);
	dup2(kept, 2);
	close(kept);
	close(into[1]);
	fake_host_full = false;
	assert_true(read(into[0], said, sizeof(said) - 1) > 0);
	close(into[0]);
	assert_non_null(strstr(said, "libcuda: no memory for the times of more than "));
	assert_ptr_equal(strchr(said, '\n') + 1, said + strlen(said));
	assert_int_equal(strtoul(strstr(said, "than ") + 5, NULL, 10), EVENTS + n);
	OK(cuEventDestroy_v2(e[0]));
	OK(cuEventCreate(&e[0], 0));
}

static void failure(enum device_status status, CUresult want)
{
	CUcontext ctx;
	CUmodule m;
	CUfunction f;
	CUdeviceptr p = 1;
	void *params[] = { &p };

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "store"));
	fake_fail_after = 1;
	fake_failure = status;
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	OK(cuCtxSynchronize());
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	assert_int_equal(cuCtxSynchronize(), want);
	assert_int_equal(cuMemAlloc_v2(&p, 1), want);
	assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), want);
	OK(cuCtxCreate_v2(&ctx, 0, 0));
	OK(cuMemAlloc_v2(&p, 1));
	OK(cuCtxDestroy_v2(ctx));
	assert_int_equal(cuMemAlloc_v2(&p, 1), want);
}

static void a_fault_stays(void **state)
{
	failure(DEVICE_LOST, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void a_trap_stays(void **state)
{
	failure(DEVICE_TRAPPED, CUDA_ERROR_LAUNCH_FAILED);
}

static void proc_addresses(void **state)
{
	void *p;

	OK(cuGetProcAddress("cuMemAlloc", &p, 11080, 0));
	assert_ptr_equal(p, cuMemAlloc_v2);
	OK(cuGetProcAddress("cuMemcpyHtoD", &p, 11080,
			    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
	assert_ptr_equal(p, cuMemcpyHtoD_v2_ptds);
	OK(cuGetProcAddress("cuDeviceGetUuid", &p, 11030, 0));
	assert_ptr_equal(p, cuDeviceGetUuid);
	OK(cuGetProcAddress("cuDeviceGetUuid", &p, 11040, 0));
	assert_ptr_equal(p, cuDeviceGetUuid_v2);
	OK(cuGetProcAddress("cuGraphAddMemAllocNode", &p, 11080, 0));
	assert_int_equal(((CUresult(*)(void))p)(), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGetProcAddress("cuGraphInstantiate", &p, 10020, 0));
	assert_ptr_equal(p, cuGraphInstantiate);
	OK(cuGetProcAddress("cuStreamBeginCapture", &p, 11080,
			    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
	assert_ptr_equal(p, cuStreamBeginCapture_v2_ptsz);
	assert_int_equal(cuGetProcAddress("cuGraphCreate", &p, 9000, 0), CUDA_ERROR_NOT_FOUND);
	assert_null(p);
	assert_int_equal(cuGetProcAddress("cuInit", &p, 11080, 8), CUDA_ERROR_INVALID_VALUE);
	/* cuDriverGetVersion() gives 11080 */
	assert_int_equal(cuGetProcAddress("cuInit", &p, 11081, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGetProcAddress("cuFuncGetParamInfo", &p, 11080, 0),
			 CUDA_ERROR_NOT_FOUND);
}

static void *worker(void *arg)
{
	CUdeviceptr p;
	unsigned int i, v;
	CUstream s;
	intptr_t bad = cuCtxSetCurrent(arg);

	bad += cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
	for (i = 0; i < 200 && !bad; i++) {
		bad += cuMemAlloc_v2(&p, 64);
		bad += cuMemsetD32Async(p, i, 16, s);
		bad += cuStreamSynchronize(s);
		bad += cuMemcpyDtoH_v2_ptds(&v, p + 60, 4);
		bad += v != i;
		bad += cuMemFree_v2(p);
	}
	bad += cuStreamDestroy_v2(s);
	return (void *)bad;
}

static void threads(void **state)
{
	pthread_t t[4];
	CUcontext ctx;
	void *bad;
	int i;

	OK(cuCtxGetCurrent(&ctx));
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, worker, ctx), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
}

/* checkpoint_test.c has the rest */
static void checkpoints_are_prepared(void **state)
{
	int pid = getpid();

	OK(cuCheckpointProcessLock(pid, NULL));
	assert_int_equal(cuCheckpointProcessCheckpoint(pid, NULL), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuCheckpointProcessUnlock(pid, NULL));
}

int main(void)
{
	char absent[64];
	const struct CMUnitTest tests[] = {
		/* first: it calls cuInit() for all tests */
		cmocka_unit_test(before_init),
#define IN_CONTEXT(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		IN_CONTEXT(devices),
		IN_CONTEXT(errors_have_names),
		IN_CONTEXT(current_stack),
		IN_CONTEXT(counted),
		IN_CONTEXT(primary_context),
		IN_CONTEXT(allocations),
		IN_CONTEXT(launches),
		IN_CONTEXT(parameters),
		IN_CONTEXT(bad_images),
		IN_CONTEXT(kernels_that_call_what_is_not_here),
		IN_CONTEXT(empty_variables),
		IN_CONTEXT(odd_numbers_of_threads),
		IN_CONTEXT(too_many_constants),
		IN_CONTEXT(order),
		IN_CONTEXT(one_queue),
		IN_CONTEXT(legacy_stream),
		IN_CONTEXT(times),
		IN_CONTEXT(many_timed_events),
		IN_CONTEXT(a_fault_stays),
		IN_CONTEXT(a_trap_stays),
		IN_CONTEXT(proc_addresses),
		IN_CONTEXT(threads),
		IN_CONTEXT(checkpoints_are_prepared),
	};

	snprintf(absent, sizeof(absent), "%s/ptxas", own_folder());
	setenv("KVGPU_PTXAS", absent, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
