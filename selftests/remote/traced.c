// SPDX-License-Identifier: GPL-2.0-only
/*
 * traced CUBIN GO [N]: when the file GO is there, has the GPU do what trace.py counts, and ends. N:
 * launches so many kernels instead, and prints how many ns each took. N is 0: a call is refused,
 * and two fail.
 */
#include <stdlib.h>
#include <unistd.h>

#include "must.h"

enum {
	SPINS = 20,
	SCRAMBLES = 10,
	COPIES_IN = 5,
	COPIES_OUT = 3,
	SETS = 4,
	CAPTURED = 3,
	GRAPHS = 6,
	BYTES = 4096
};

static CUdeviceptr memory;
static CUfunction spin, scramble, shape;
static CUstream one, two;

static void fail(void)
{
	void *all[] = { &memory, &memory };
	CUdeviceptr more;

	FAILS(cuLaunchCooperativeKernelMultiDevice(NULL, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
	FAILS(cuMemAlloc_v2(&more, 1ull << 50), CUDA_ERROR_OUT_OF_MEMORY);
	FAILS(cuLaunchKernel(spin, 1, 1, 1, 4096, 1, 1, 0, one, all, NULL),
	      CUDA_ERROR_INVALID_VALUE);
}

static void launch(CUfunction f, CUstream stream)
{
	int seed = 1, rounds = 100;
	void *all[] = { &memory, f == scramble ? &seed : &rounds, &rounds };

	MUST(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, all, NULL));
}

/* the launches are nodes of the graph: they are not done, but as often as it is launched */
static void graphs(void)
{
	CUgraphExec exec;
	CUgraph graph;
	int i;

	MUST(cuStreamBeginCapture_v2(two, CU_STREAM_CAPTURE_MODE_GLOBAL));
	for (i = 0; i < CAPTURED; i++)
		launch(shape, two);
	MUST(cuStreamEndCapture(two, &graph));
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (i = 0; i < GRAPHS; i++)
		MUST(cuGraphLaunch(exec, two));
}

static void work(void)
{
	static char bytes[BYTES];
	int i;

	for (i = 0; i < SPINS; i++) {
		launch(spin, one);
		if (i < SCRAMBLES)
			launch(scramble, two);
		if (i < COPIES_IN)
			MUST(cuMemcpyHtoD_v2(memory, bytes, BYTES));
		if (i < SETS)
			MUST(cuMemsetD8Async(memory, i, BYTES, one));
	}
	for (i = 0; i < COPIES_OUT; i++)
		MUST(cuMemcpyDtoH_v2(bytes, memory, BYTES));
	graphs();
	MUST(cuStreamSynchronize(two));
	launch(spin, one);
	MUST(cuCtxSynchronize());
}

static void measure(int n)
{
	double begin;
	int i;

	launch(spin, one);
	MUST(cuCtxSynchronize());
	begin = now();
	for (i = 0; i < n; i++)
		launch(spin, one);
	MUST(cuCtxSynchronize());
	printf("%.0f\n", (now() - begin) / n * 1e9);
}

int main(int argc, char **argv)
{
	CUmodule module;
	CUcontext ctx;

	if (argc != 3 && argc != 4)
		return 2;
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuModuleLoad(&module, argv[1]));
	MUST(cuModuleGetFunction(&spin, module, "spin"));
	MUST(cuModuleGetFunction(&scramble, module, "scramble"));
	MUST(cuModuleGetFunction(&shape, module, "shape"));
	MUST(cuMemAlloc_v2(&memory, 1 << 20));
	MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
	puts("ready");
	fflush(stdout);
	while (access(argv[2], F_OK))
		usleep(1000);
	if (argc == 4 && !atoi(argv[3]))
		fail();
	else if (argc == 4)
		measure(atoi(argv[3]));
	else
		work();
	puts("done");
	return 0;
}
