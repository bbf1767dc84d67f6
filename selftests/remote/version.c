// SPDX-License-Identifier: GPL-2.0-only
/*
 * version WANT: the driver's version is WANT before cuInit() and after it. A child of fork() that
 * is made between the two has a GPU as its parent has. Exit code 0: all was so.
 */
#include <cuda/api/api.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

enum { HANGS_S = 60 };

static int want;

static void check_version(void)
{
	int version;

	MUST(cuDriverGetVersion(&version));
	CHECK(version == want);
}

static void use_gpu(void)
{
	unsigned char bytes[16] = { 0 };
	CUdeviceptr there;
	CUcontext ctx;

	check_version();
	MUST(cuInit(0));
	check_version();
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuMemAlloc_v2(&there, sizeof(bytes)));
	MUST(cuMemsetD8_v2(there, 7, sizeof(bytes)));
	MUST(cuMemcpyDtoH_v2(bytes, there, sizeof(bytes)));
	CHECK(bytes[0] == 7 && bytes[15] == 7);
	MUST(cuCtxDestroy_v2(ctx));
}

static void child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		alarm(HANGS_S);
		use_gpu();
		pid = fork();
		if (!pid)
			_exit(cuInit(0) != CUDA_ERROR_NOT_INITIALIZED);
		CHECK(waitpid(pid, &status, 0) == pid && !status);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

int main(int argc, char **argv)
{
	want = argc == 2 ? atoi(argv[1]) : 0;
	alarm(2 * HANGS_S);
	check_version();
	child();
	child();
	use_gpu();
	printf("version %d\n", want);
	return 0;
}
