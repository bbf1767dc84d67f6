// SPDX-License-Identifier: GPL-2.0-only
/*
 * hidden CUBIN: pinned memory of the program is mapped for no GPU of kvgpu-run. Calls that ask for
 * mapped memory say so, and a kernel that writes to pinned memory gets the error of an illegal
 * address, by each enum way. Exit code 0: so it was.
 */
#include <cuda/api/api.h>
#include <selftests/remote/must.h>

#include <string.h>

enum { CAN_MAP_HOST_MEMORY = 19, REGISTER_DEVICEMAP = 2, BYTES = 4096 };
enum way { BY_EVENT, BY_STREAM, BY_CONTEXT, BY_COPY, BY_QUERY, BY_GRAPH, WAYS };

static void refused(int *pinned)
{
	static char own[BYTES];
	CUdeviceptr mapped;
	void *more;
	int can = 1;

	MUST(cuDeviceGetAttribute(&can, CAN_MAP_HOST_MEMORY, 0));
	CHECK(!can);
	FAILS(cuMemHostAlloc(&more, BYTES, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_ERROR_NOT_SUPPORTED);
	FAILS(cuMemHostRegister_v2(own, BYTES, REGISTER_DEVICEMAP), CUDA_ERROR_NOT_SUPPORTED);
	FAILS(cuMemHostGetDevicePointer_v2(&mapped, pinned, 0), CUDA_ERROR_NOT_SUPPORTED);
}

static void launch(CUfunction store, int *to, CUstream s, enum way way)
{
	CUDA_KERNEL_NODE_PARAMS p = { .func = store,
				      .gridDimX = 1,
				      .gridDimY = 1,
				      .gridDimZ = 1,
				      .blockDimX = 1,
				      .blockDimY = 1,
				      .blockDimZ = 1 };
	void *params[] = { &to };
	CUgraphNode node;
	CUgraphExec exec;
	CUgraph graph;

	if (way != BY_GRAPH) {
		MUST(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
		return;
	}
	p.kernelParams = params;
	MUST(cuGraphCreate(&graph, 0));
	MUST(cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
	MUST(cuGraphInstantiate_v2(&exec, graph, NULL, NULL, 0));
	MUST(cuGraphLaunch(exec, s));
}

static CUresult wait_for(enum way way, CUstream s, CUevent e, CUdeviceptr other)
{
	double until = now() + 20;
	CUresult r;
	int word;

	switch (way) {
	case BY_EVENT:
		return cuEventSynchronize(e);
	case BY_CONTEXT:
		return cuCtxSynchronize();
	case BY_COPY:
		return cuMemcpyDtoH_v2(&word, other, sizeof(word));
	case BY_QUERY:
		while ((r = cuStreamQuery(s)) == CUDA_ERROR_NOT_READY && now() < until)
			;
		return r;
	default:
		return cuStreamSynchronize(s);
	}
}

static void writes(const char *cubin, enum way way)
{
	CUfunction store;
	CUdeviceptr other;
	CUmodule module;
	CUcontext ctx;
	CUstream s;
	CUevent e;
	int *pinned;

	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuModuleLoad(&module, cubin));
	MUST(cuModuleGetFunction(&store, module, "store"));
	MUST(cuStreamCreate(&s, 0));
	MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	MUST(cuMemAlloc_v2(&other, BYTES));
	MUST(cuMemAllocHost_v2((void **)&pinned, BYTES));
	*pinned = 5;
	refused(pinned);
	launch(store, pinned, s, way);
	cuEventRecord(e, s);
	FAILS(wait_for(way, s, e, other), CUDA_ERROR_ILLEGAL_ADDRESS);
	FAILS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
	FAILS(cuMemAlloc_v2(&other, BYTES), CUDA_ERROR_ILLEGAL_ADDRESS);
	CHECK(*pinned == 5);
	cuCtxDestroy_v2(ctx);
}

int main(int argc, char **argv)
{
	enum way way;

	if (argc != 2)
		return 2;
	MUST(cuInit(0));
	for (way = BY_EVENT; way < WAYS; way++)
		writes(argv[1], way);
	return 0;
}
