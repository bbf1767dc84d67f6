// SPDX-License-Identifier: GPL-2.0-only
/* Libraries and their kernels in several contexts, and what calls of CUDA 12 ask of these. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, OTHERS = 20 << 20 };

/* the head of a fat binary, and an entry of it: code for one kind of GPU */
struct container {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
};
struct entry {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t bytes;
	uint32_t packed, unknown;
	uint16_t minor, major;
	uint32_t arch;
	uint64_t rest[4];
};

static void *put(uint8_t *at, unsigned int arch, size_t bytes)
{
	const struct entry e = {
		.kind = 2, .version = 0x101, .header_bytes = sizeof(e), .bytes = bytes, .arch = arch
	};

	memcpy(at, &e, sizeof(e));
	return at + sizeof(e);
}

/* a large one: code for another GPU, and the file's; the caller frees it */
static uint8_t *fat_binary(const char *cubin, size_t *bytes)
{
	struct container c = { 0xba55ed50, 1, sizeof(c), 0 };
	FILE *f = fopen(cubin, "r");
	uint8_t *fat, *at;
	long n;

	n = f && !fseek(f, 0, SEEK_END) ? ftell(f) : 0;
	if (n <= 0)
		must(CUDA_ERROR_FILE_NOT_FOUND, cubin);
	rewind(f);
	c.bytes = OTHERS + n + 2 * sizeof(struct entry);
	*bytes = sizeof(c) + c.bytes;
	fat = fresh(*bytes);
	memcpy(fat, &c, sizeof(c));
	at = put(fat + sizeof(c), 90, OTHERS);
	at = put(at + OTHERS, 35, n);
	if (fread(at, 1, n, f) != (size_t)n)
		must(CUDA_ERROR_FILE_NOT_FOUND, cubin);
	fclose(f);
	return fat;
}

/* Adds by @k, a kernel or a function, in a stream of the current context. How many are wrong. */
static int added(void *k, CUstream s)
{
	CUdeviceptr a = device_buffer(4 * N), b = device_buffer(4 * N);
	static float x[N], y[N];
	int n = N, i, wrong = 0;
	void *params[] = { &a, &a, &b, &n };

	for (i = 0; i < N; i++)
		x[i] = i;
	MUST(cuMemcpyHtoD_v2(a, x, sizeof(x)));
	MUST(cuMemsetD8_v2(b, 0xff, sizeof(y)));
	MUST(cuLaunchKernel(k, (N + 127) / 128, 1, 1, 128, 1, 1, 0, s, params, NULL));
	MUST(cuStreamSynchronize(s));
	MUST(cuMemcpyDtoH_v2(y, b, sizeof(y)));
	MUST(cuMemFree_v2(a));
	MUST(cuMemFree_v2(b));
	for (i = 0; i < N; i++)
		wrong += y[i] != 2 * i;
	return wrong;
}

static void test_kernels(CUlibrary l)
{
	int regs[2] = { 0 }, threads = 0, blocks = 0, wrong;
	const char *name = "";
	size_t offset = 0, size = 0;
	CUfunction f;
	CUkernel k, none;
	CUresult r;

	MUST(cuLibraryGetKernel(&k, l, "add"));
	r = cuLibraryGetKernel(&none, l, "no such kernel");
	MUST(cuKernelGetFunction(&f, k));
	wrong = added(k, NULL) + added(f, NULL);
	MUST(cuKernelGetName(&name, k));
	MUST(cuKernelGetParamInfo(k, 3, &offset, &size));
	tap_result(!wrong && r == CUDA_ERROR_NOT_FOUND && !strcmp(name, "add") && offset == 24 &&
			   size == 4,
		   "a library's kernel and its function are launched", "%d wrong, %s, %s", wrong,
		   error_name(r), name);
	MUST(cuKernelGetAttribute(&regs[0], CU_FUNC_ATTRIBUTE_NUM_REGS, k, 0));
	MUST(cuFuncGetAttribute(&regs[1], CU_FUNC_ATTRIBUTE_NUM_REGS, kernel("add")));
	MUST(cuKernelGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 0));
	MUST(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 128, 0));
	tap_result(regs[0] == regs[1] && threads >= 128 && blocks > 0, "what is known of a kernel",
		   "%d and %d registers, %d threads, %d blocks", regs[0], regs[1], threads, blocks);
}

static void test_enumeration(CUlibrary l)
{
	unsigned int n = 0, found = 0, other = 0, i;
	CUfunction functions[64];
	CUkernel all[64], add;
	const char *name;
	CUmodule m;

	MUST(cuLibraryGetKernelCount(&n, l));
	MUST(cuLibraryGetModule(&m, l));
	MUST(cuModuleGetFunctionCount(&other, m));
	MUST(cuLibraryEnumerateKernels(all, 64, l));
	MUST(cuModuleEnumerateFunctions(functions, 64, m));
	MUST(cuLibraryGetKernel(&add, l, "add"));
	for (i = 0; i < n && i < 64; i++) {
		MUST(cuFuncGetName(&name, functions[i]));
		if (strcmp(name, "add"))
			continue;
		found += all[i] == add;
		tap_result(!added(functions[i], NULL),
			   "a function that a list has told is launched", "%s", name);
	}
	tap_result(n == other && n > 1 && n <= 64 && found == 1, "all kernels of a library",
		   "%u, %u, %u", n, other, found);
}

/* Variables and functions are a context's own. A stream names the context. */
static void test_contexts(CUlibrary l)
{
	float mine[4] = { 0 }, its[4] = { 0 }, want[4] = { 0.5f, 1.5f, 2.5f, 3.5f };
	CUdeviceptr table, other_table;
	CUcontext other;
	size_t bytes = 0;
	CUstream s;
	CUkernel k;
	CUfunction f, g;
	int wrong;

	MUST(cuLibraryGetKernel(&k, l, "add"));
	MUST(cuKernelGetFunction(&f, k));
	MUST(cuLibraryGetGlobal(&table, &bytes, l, "table"));
	MUST(cuMemsetD32_v2(table, 0, 4));
	MUST(cuStreamCreate(&s, 0));
	MUST(cuCtxCreate_v2(&other, 0, 0));
	MUST(cuLibraryGetGlobal(&other_table, NULL, l, "table"));
	MUST(cuMemcpyDtoH_v2(its, other_table, sizeof(its)));
	wrong = added(k, NULL);
	MUST(cuKernelGetFunction(&g, k));
	MUST(cuCtxDestroy_v2(other));
	wrong += added(k, s);
	MUST(cuMemcpyDtoH_v2(mine, table, sizeof(mine)));
	MUST(cuStreamDestroy_v2(s));
	tap_result(!wrong && f != g && bytes == sizeof(mine) && !memcmp(its, want, sizeof(want)) &&
			   mine[0] == 0 && mine[3] == 0,
		   "a library in two contexts", "%d wrong, %g and %g", wrong, mine[3], its[3]);
}

/* the numbers of contexts and streams, and what a stream belongs to */
static void test_identities(void)
{
	unsigned long long id[4];
	CUgreenCtx green = (CUgreenCtx)id;
	CUcontext ctx, of;
	CUdevice dev = -1;
	CUstream s;

	MUST(cuCtxGetCurrent(&ctx));
	MUST(cuStreamCreate(&s, 0));
	MUST(cuCtxGetId(NULL, &id[0]));
	MUST(cuCtxGetId(ctx, &id[1]));
	MUST(cuStreamGetId(NULL, &id[2]));
	MUST(cuStreamGetId(s, &id[3]));
	MUST(cuStreamGetCtx_v2(s, &of, &green));
	MUST(cuStreamGetDevice(s, &dev));
	MUST(cuCtxSynchronize_v2(ctx));
	MUST(cuStreamDestroy_v2(s));
	tap_result(id[0] == id[1] && id[2] != id[3] && of == ctx && !green && !dev,
		   "what a stream and a context are called", "%llu %llu %llu %llu, device %d",
		   id[0], id[1], id[2], id[3], dev);
}

void test_library(const char *cubin)
{
	size_t bytes;
	uint8_t *fat = fat_binary(cubin, &bytes);
	CUlibrary from_file, own;
	CUkernel k;
	CUresult r;
	int wrong;

	MUST(cuLibraryLoadFromFile(&from_file, cubin, NULL, NULL, 0, NULL, NULL, 0));
	test_kernels(from_file);
	test_enumeration(from_file);
	test_contexts(from_file);
	MUST(cuLibraryUnload(from_file));
	MUST(cuLibraryLoadData(&own, fat, NULL, NULL, 0, NULL, NULL, 0));
	memset(fat, 0, bytes);
	MUST(cuLibraryGetKernel(&k, own, "add"));
	wrong = added(k, NULL);
	MUST(cuLibraryUnload(own));
	r = cuLibraryUnload(own);
	tap_result(!wrong && r == CUDA_ERROR_INVALID_HANDLE,
		   "a library keeps a fat binary that the program does not", "%d wrong, %s", wrong,
		   error_name(r));
	free(fat);
	test_identities();
}
