// SPDX-License-Identifier: MIT
/*
 * part MIB: the program is told that its one device has MIB of memory. It gets no more of it,
 * together with a second process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/api/api.h>

#define CHECK(what)                                    \
	do {                                           \
		if (!(what)) {                         \
			printf("%s: not so\n", #what); \
			return 1;                      \
		}                                      \
	} while (0)
enum { MIB = 20 };

/* take @mib in pieces of 16 MiB, and say so; then wait until @until has ended */
static int take(size_t mib, int say, int until)
{
	CUdeviceptr ptr;
	char byte;
	size_t i;

	for (i = 0; i < mib; i += 16)
		CHECK(!cuMemAlloc_v2(&ptr, (size_t)16 << MIB));
	CHECK(write(say, "x", 1) == 1);
	CHECK(read(until, &byte, 1) >= 0);
	return 0;
}

static int begin(void)
{
	CUcontext ctx;
	CUdevice dev;

	CHECK(!cuInit(0));
	CHECK(!cuDeviceGet(&dev, 0));
	CHECK(!cuDevicePrimaryCtxRetain(&ctx, dev));
	CHECK(!cuCtxSetCurrent(ctx));
	return 0;
}

/* another process has half; what is left is then the other half, until that process ends */
static int together(size_t mib)
{
	int said[2], until[2], status;
	size_t left, total;
	CUdeviceptr ptr;
	pid_t pid;
	char byte;

	CHECK(!pipe(said) && !pipe(until));
	pid = fork();
	if (!pid) {
		close(until[1]);
		_exit(begin() || take(mib / 2, said[1], until[0]));
	}
	close(said[1]);
	CHECK(read(said[0], &byte, 1) == 1);
	CHECK(!begin());
	CHECK(!cuMemGetInfo_v2(&left, &total));
	printf("%zu MiB, %zu free beside another process\n", total >> MIB, left >> MIB);
	CHECK(total >> MIB == mib && left >> MIB <= mib - mib / 2);
	CHECK(cuMemAlloc_v2(&ptr, mib * 3 / 4 << MIB) == CUDA_ERROR_OUT_OF_MEMORY);
	close(until[1]);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	for (int i = 0; i < 100 && cuMemAlloc_v2(&ptr, mib * 3 / 4 << MIB); i++)
		usleep(50000);
	CHECK(!cuMemGetInfo_v2(&left, &total));
	CHECK(left >> MIB <= mib / 4);
	CHECK(cuMemAlloc_v2(&ptr, mib / 2 << MIB) == CUDA_ERROR_OUT_OF_MEMORY);
	return 0;
}

int main(int argc, char **argv)
{
	size_t mib = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	int r = mib ? together(mib) : 2;

	puts(r ? "failed" : "right");
	fflush(stdout);
	return r;
}
