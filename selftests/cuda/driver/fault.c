// SPDX-License-Identifier: GPL-2.0-only
/* Kernels that write where nothing is, or misaligned: an error, and a new context that works. */
#include "driver.h"

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

void test_fault(const char *cubin)
{
	CUdeviceptr bad = 0xdead000000ull, p;
	void *params[] = { &bad };
	CUresult r, later;
	CUcontext ctx;

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
