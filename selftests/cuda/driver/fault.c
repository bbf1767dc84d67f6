// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels that write where nothing is, or misaligned: an error, and a new context that works.
 * Children of fork().
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void must_work(void)
{
	CUcontext ctx;
	CUdeviceptr p;
	int word = 0;
	CUresult r;

	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	r = cuMemAlloc_v2(&p, 4);
	r = r ? r : cuMemsetD32_v2(p, 42, 1);
	r = r ? r : cuMemcpyDtoH_v2(&word, p, 4);
	tap_result(!r && word == 42, "a new context works", "%s, %d", error_name(r), word);
	MUST(cuCtxDestroy_v2(ctx));
}

/* the SM raises an exception, and nouveau lets the channel live */
static void test_misaligned(const char *cubin)
{
	CUcontext ctx;
	CUdeviceptr p;
	void *params[] = { &p };
	CUresult r;

	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuModuleLoad(&module, cubin));
	p = device_buffer(64) + 2;
	r = cuLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuCtxSynchronize();
	/* the kernel's log tells which exception, to users that may read it */
	tap_result(r == CUDA_ERROR_MISALIGNED_ADDRESS ||
			   (geteuid() && r == CUDA_ERROR_LAUNCH_FAILED),
		   "a misaligned access is reported", "%s", error_name(r));
	MUST(cuCtxDestroy_v2(ctx));
}

/* a child of fork(), which has the parent's handles and mappings, but no driver */
static int be_child(CUdeviceptr p, CUcontext ctx, int way)
{
	const CUresult no = CUDA_ERROR_NOT_INITIALIZED;
	int word;

	alarm(60);
	if (way == 0)
		return cuMemFree_v2(p) != no || cuMemsetD32_v2(p, 7, 1) != no ||
		       cuMemcpyDtoH_v2(&word, p, 4) != no || cuInit(0) != no;
	return cuCtxSynchronize() != no || cuCtxDestroy_v2(ctx) != no ||
	       cuDevicePrimaryCtxReset_v2(0) != no;
}

static void test_children(void)
{
	CUdeviceptr p = device_buffer(4);
	int word = 0, way, status;
	CUcontext ctx;
	CUresult r;
	pid_t pid;

	MUST(cuCtxGetCurrent(&ctx));
	MUST(cuMemsetD32_v2(p, 42, 1));
	for (way = 0; way < 2; way++) {
		fflush(stdout);
		pid = fork();
		if (!pid)
			exit(be_child(p, ctx, way));
		waitpid(pid, &status, 0);
		tap_result(!status, "a child of fork() has no driver", "way %d: status %x", way,
			   status);
		r = cuMemcpyDtoH_v2(&word, p, 4);
		tap_result(!r && word == 42, "and leaves its parent alone", "%s, %d", error_name(r),
			   word);
	}
	MUST(cuMemFree_v2(p));
}

void test_fault(const char *cubin)
{
	CUdeviceptr bad = 0xdead000000ull, p;
	void *params[] = { &bad };
	CUresult r, later;
	CUcontext ctx;

	test_children();
	MUST(cuCtxGetCurrent(&ctx));
	r = cuLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuCtxSynchronize();
	tap_result(r == CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal address is reported", "%s",
		   error_name(r));
	later = cuMemAlloc_v2(&p, 4);
	tap_result(later == CUDA_ERROR_ILLEGAL_ADDRESS, "and every later call says so", "%s",
		   error_name(later));
	MUST(cuCtxDestroy_v2(ctx));
	must_work();
	test_misaligned(cubin);
	must_work();
}
