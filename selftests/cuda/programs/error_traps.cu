// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels that the SM stops: misaligned accesses, a trap, a stack that overflows, shared memory
 * that is not there. Each, in a process of its own, has to give an error of its kind, or "launch
 * failed". Later processes must find the device as usual.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

__global__ void misaligned(char *p)
{
	*(int *)(p + 2) = 1;
}

__global__ void trap(char *p)
{
	if (threadIdx.x == 5)
		asm volatile("trap;");
	p[threadIdx.x] = 1;
}

__device__ __noinline__ int deep(volatile int *p, int n)
{
	volatile int big[64];

	for (int i = 0; i < 64; i++)
		big[i] = n + i;
	if (*p == n)
		return big[n % 64];
	return deep(p, n + 1) + big[n % 64];
}

__global__ void overflow(char *p)
{
	*(int *)p = deep((volatile int *)p, 1);
}

__global__ void shared_range(char *p)
{
	extern __shared__ int s[];
	volatile int *far = s;

	far[p[0] + (1 << 20)] = 3;
	p[0] = 1;
}

typedef void (*kernel)(char *);

static const struct {
	const char *name;
	kernel k;
	cudaError_t want[3];
} cases[] = {
	{ "misaligned access", misaligned, { cudaErrorMisalignedAddress, cudaErrorLaunchFailure } },
	{ "trap instruction", trap, { cudaErrorLaunchFailure, cudaErrorIllegalInstruction } },
	{ "overflow of the stack", overflow, { cudaErrorHardwareStackError, cudaErrorIllegalAddress,
		cudaErrorLaunchFailure } },
	{ "outside of shared memory", shared_range, { cudaErrorIllegalAddress,
		cudaErrorInvalidAddressSpace, cudaErrorLaunchFailure } },
};

static int run(unsigned int i)
{
	cudaError_t e, later;
	bool known = false;
	char *d, *next, bytes[64];

	CHECK(cudaMalloc(&d, 4096));
	CHECK(cudaMemset(d, 0, 4096));
	CHECK(cudaMemcpy(bytes, d, sizeof(bytes), cudaMemcpyDeviceToHost));
	for (int k = 0; k < 64; k++)
		if (bytes[k])
			return verdict(false, "%s: the device does not work before it",
				       cases[i].name);
	cases[i].k<<<1, 32>>>(d);
	CHECK_LAUNCH();
	e = cudaDeviceSynchronize();
	later = cudaMalloc(&next, 16);
	for (int k = 0; k < 3; k++)
		known |= e != cudaSuccess && e == cases[i].want[k];
	return verdict(known && later == e, "%s: %s, then %s", cases[i].name, cudaGetErrorName(e),
		       cudaGetErrorName(later));
}

int main(int argc, char **argv)
{
	unsigned int nr = sizeof(cases) / sizeof(cases[0]), bad = 0;

	if (argc > 1)
		return run(atoi(argv[1]) % nr);
	for (unsigned int i = 0; i < nr; i++) {
		char number[12];
		int status = -1;
		pid_t child;

		snprintf(number, sizeof(number), "%u", i);
		fflush(stdout);
		child = fork();		/* before anything of CUDA was called */
		if (!child) {
			execl("/proc/self/exe", argv[0], number, (char *)NULL);
			_exit(3);
		}
		waitpid(child, &status, 0);
		bad += status != 0;
	}
	return verdict(!bad, "%u kernels that the SM stops, %u without the right error", nr, bad);
}
