// SPDX-License-Identifier: GPL-2.0-only
/*
 * What programs of others have found, one a process, by its name as the argument. The values
 * that are wanted without a current context are those of NVIDIA's driver 580 on an H100.
 */
#include <assert.h>
#include <cooperative_groups.h>
#include <cuda.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../programs/check.h"

namespace cg = cooperative_groups;

static int wrong;

static void want(const char *what, int got, int wanted)
{
	if (got != wanted)
		printf("%s: %d, and %d was wanted\n", what, got, wanted);
	wrong += got != wanted;
}
#define WANT(call, wanted) want(#call, call, wanted)

/* ------------------------------------------------------------------ groups */

__global__ void groups(int *out)
{
	auto tile = cg::tiled_partition<8>(cg::this_thread_block());
	int sum = threadIdx.x;

	for (int step = 4; step; step /= 2)
		sum += tile.shfl_down(sum, step);
	if (tile.thread_rank() == 0)
		atomicAdd(&out[0], sum);
	if (threadIdx.x % 3 == 0)
		atomicAdd(&out[1], cg::coalesced_threads().size());
}

__global__ void whole_grid(int *out)
{
	cg::this_grid().sync();
	out[0] = 1;
}

/* compute capability 3.5 has no cooperative launch */
static void groups_of_threads(void)
{
	int *d, host[2], attribute = -1;
	void *args[] = { &d };

	CHECK(cudaMalloc(&d, sizeof(host)));
	CHECK(cudaMemset(d, 0, sizeof(host)));
	groups<<<1, 64>>>(d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	want("a sum by tiles", host[0], 63 * 64 / 2);
	/* 11 threads in each warp */
	want("sizes of groups", host[1], 11 * 11 * 2);
	CHECK(cudaDeviceGetAttribute(&attribute, cudaDevAttrCooperativeLaunch, 0));
	want("the attribute", attribute, 0);
	WANT(cudaLaunchCooperativeKernel((void *)whole_grid, dim3(2), dim3(32), args, 0, 0),
	     cudaErrorNotSupported);
}

/* ------------------------------------------------------------------ assert, printf */

__global__ void fails(volatile int *flag, int zero)
{
	if (blockIdx.x == 0) {
		assert(zero == 1);
		*flag = 1;
	} else if (threadIdx.x == 0) {
		while (*flag == 0)
			;
	}
}

/* a block fails while another waits for it */
static void assert_ends_the_grid(void)
{
	int *d;

	CHECK(cudaMalloc(&d, 4));
	CHECK(cudaMemset(d, 0, 4));
	fails<<<2, 64>>>(d, 0);
	WANT(cudaDeviceSynchronize(), cudaErrorAssert);
}

__constant__ char in_constant[] = "%d of constant\n";
__device__ char in_global[] = "%d of global\n";

__global__ void print_all(int which)
{
	printf(in_constant, 3);
	printf(in_global, 4);
	printf(which ? "%d of two\n" : "%d of none\n", 5);
}

static void formats(void)
{
	static const char wanted[] = "3 of constant\n4 of global\n5 of two\n";
	FILE *file = tmpfile();
	int kept = dup(1);
	char got[200] = "";

	fflush(stdout);
	dup2(fileno(file), 1);
	print_all<<<1, 1>>>(1);
	CHECK(cudaDeviceSynchronize());
	fflush(stdout);
	dup2(kept, 1);
	rewind(file);
	got[fread(got, 1, sizeof(got) - 1, file)] = 0;
	if (strcmp(got, wanted))
		printf("printed: %s\n", got);
	wrong += strcmp(got, wanted) != 0;
}

__global__ void take(bool *ok, int bytes)
{
	void *p = malloc(bytes);

	*ok = p;
	free(p);
}

/* refused once a kernel that uses them was launched: NVIDIA's manual of cudaDeviceSetLimit() */
static void limits_before_a_launch(void)
{
	bool *d, ok = false;

	WANT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20), cudaSuccess);
	WANT(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20), cudaSuccess);
	CHECK(cudaMalloc(&d, sizeof(ok)));
	take<<<1, 1>>>(d, 32 << 20);
	CHECK(cudaMemcpy(&ok, d, sizeof(ok), cudaMemcpyDeviceToHost));
	want("malloc of more than the default heap", ok, true);
	WANT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20), cudaErrorInvalidValue);
}

/* ------------------------------------------------------------------ the driver API */

static CUcontext primary(void)
{
	CUcontext c;

	WANT(cuInit(0), 0);
	WANT(cuDevicePrimaryCtxRetain(&c, 0), 0);
	WANT(cuCtxPushCurrent(c), 0);
	return c;
}

/* a child of fork() has no driver */
static void forked_child(void)
{
	CUdeviceptr p;
	int status, v = 1;

	primary();
	WANT(cuMemAlloc(&p, 4), 0);
	pid_t child = fork();
	if (!child) {
		alarm(60);
		_exit(cuMemAlloc(&p, 4) != CUDA_ERROR_NOT_INITIALIZED ||
		      cuMemcpyHtoD(p, &v, 4) != CUDA_ERROR_NOT_INITIALIZED);
	}
	waitpid(child, &status, 0);
	want("the child", status, 0);
}

__global__ void nothing(void)
{
}

/* what names a stream, event, module or allocation finds its context */
static void no_current_context(void)
{
	int type, buffer[16] = {};
	CUdeviceptr p, q;
	CUfunction f, g;
	CUcontext other;
	CUstream s;
	CUmodule m;
	CUevent e;
	void *h;

	primary();
	nothing<<<1, 1>>>();
	CHECK_LAUNCH();
	CHECK(cudaGetFuncBySymbol(&f, (const void *)nothing));
	WANT(cuFuncGetModule(&m, f), 0);
	WANT(cuMemAlloc(&p, 4096), 0);
	WANT(cuMemAllocHost(&h, 4096), 0);
	WANT(cuStreamCreate(&s, 0), 0);
	WANT(cuEventCreate(&e, 0), 0);
	while (cuCtxPopCurrent(&other) == CUDA_SUCCESS)
		;
	WANT(cuMemAlloc(&q, 64), CUDA_ERROR_INVALID_CONTEXT);
	WANT(cuMemcpyHtoD(p, buffer, 64), CUDA_ERROR_INVALID_CONTEXT);
	WANT(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	WANT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, NULL, NULL), CUDA_ERROR_INVALID_CONTEXT);
	WANT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL), 0);
	WANT(cuMemcpyHtoDAsync(p, buffer, 64, s), 0);
	WANT(cuMemsetD8Async(p, 1, 64, s), 0);
	WANT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), 0);
	WANT(cuModuleGetFunction(&g, m, "_Z7nothingv"), 0);
	WANT(cuEventRecord(e, s), 0);
	WANT(cuStreamWaitEvent(s, e, 0), 0);
	WANT(cuEventSynchronize(e), 0);
	WANT(cuEventQuery(e), 0);
	WANT(cuStreamSynchronize(s), 0);
	WANT(cuStreamQuery(s), 0);
	WANT(cuEventDestroy(e), 0);
	WANT(cuStreamDestroy(s), 0);
	WANT(cuMemFreeHost(h), 0);
	WANT(cuMemFree(p), 0);
	WANT(cuMemFree(0), 0);
}

/* as each of two runtimes in a process resets what the other one uses */
static void reset_by_another(void)
{
	int *d;

	CHECK(cudaMalloc(&d, 4));
	WANT(cuDevicePrimaryCtxReset(0), 0);
	WANT(cudaMalloc(&d, 4), 0);
	WANT(cudaMemset(d, 0, 4), 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {
		{ "groups", groups_of_threads }, { "assert", assert_ends_the_grid },
		{ "formats", formats },		  { "fork", forked_child },
		{ "context", no_current_context }, { "reset", reset_by_another },
		{ "limits", limits_before_a_launch },
	};

	for (auto &t : tests)
		if (argc == 2 && !strcmp(argv[1], t.name)) {
			t.run();
			return verdict(!wrong, "%s, %d wrong", t.name, wrong);
		}
	return verdict(false, "usage: outside NAME");
}
