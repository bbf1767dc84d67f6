/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What graph_memory.c, managed.c and mapped.c begin with: a context, a stream, two pieces of device
 * memory, kernels, and checks that count what is wrong.
 */
#ifndef KVGPU_TESTS_REMOTE_MEMORY_H
#define KVGPU_TESTS_REMOTE_MEMORY_H

#include <string.h>

#include "must.h"

enum { N = 3 << 20 }; /* bytes of each piece */

static CUcontext ctx;
static CUstream s;
static CUdeviceptr one, two; /* N bytes each */
static CUfunction add, spin, store;
static unsigned int bad;

static void want(bool ok, const char *what)
{
	if (!ok)
		printf("%s\n", what);
	bad += !ok;
}

static void want_error(CUresult got, CUresult expected, const char *what)
{
	if (got != expected)
		printf("%s: %s for %s\n", what, name_of(got), name_of(expected));
	bad += got != expected;
}

#define AT(p) ((CUdeviceptr)(uintptr_t)(p))

__attribute__((unused)) static void launch_add(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int n,
					       CUstream stream)
{
	void *params[] = { &a, &b, &c, &n };

	MUST(cuLaunchKernel(add, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL));
}

static int *shared_with_function;

static void change(void *data)
{
	shared_with_function[0] += 5;
	shared_with_function[5000] = shared_with_function[0];
}

/*
 * In 40000 bytes that GPU and program see: a host function sees what work before it wrote;
 * work after it sees what it wrote.
 */
__attribute__((unused)) static void functions_of(int *at)
{
	int i, wrong = 0;

	shared_with_function = at;
	for (i = 0; i < 10; i++) {
		at[0] = 1000;
		MUST(cuMemsetD32Async(AT(at), i, 1, s));
		MUST(cuLaunchHostFunc(s, change, NULL));
		MUST(cuMemcpyDtoDAsync_v2(AT(at) + 8, AT(at) + 20000, 4, s));
		MUST(cuMemsetD32Async(AT(at) + 20000, 77, 1, s));
		MUST(cuStreamSynchronize(s));
		wrong += at[0] != i + 5 || at[2] != i + 5 || at[5000] != 77;
	}
	want(!wrong, "host functions");
}

struct mode {
	const char *name;
	void (*run)(void);
};

/* main() of PROGRAM MODE CUBIN */
static int run_mode(int argc, char **argv, const struct mode *modes, unsigned int n)
{
	CUmodule module;
	unsigned int i;

	for (i = 0; argc == 3 && i < n; i++)
		if (!strcmp(argv[1], modes[i].name)) {
			MUST(cuInit(0));
			MUST(cuCtxCreate_v2(&ctx, 0, 0));
			MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
			MUST(cuMemAlloc_v2(&one, N));
			MUST(cuMemAlloc_v2(&two, N));
			MUST(cuModuleLoad(&module, argv[2]));
			MUST(cuModuleGetFunction(&add, module, "add"));
			MUST(cuModuleGetFunction(&spin, module, "spin"));
			MUST(cuModuleGetFunction(&store, module, "store"));
			modes[i].run();
			printf("%s: %u things wrong\n", argv[1], bad);
			return bad != 0;
		}
	fprintf(stderr, "usage: %s MODE CUBIN\n", argv[0]);
	return 2;
}

#endif
