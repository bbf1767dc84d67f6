// SPDX-License-Identifier: GPL-2.0-only
/*
 * A libcuda.so.1 without a GPU, for measurements of what lies in front of one: work takes no time.
 * A copy from or to registered memory moves no byte, as if by the GPU itself; one from or to other
 * host memory takes the CPU one copy, as with a driver that has buffers of its own. Device memory
 * has no content. One thread calls host functions, in the order in which streams got them.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cuda/api/api.h>

enum { BUFFER = 1 << 20, SOME = 16 };

static struct {
	const char *at;
	size_t bytes;
} registered[SOME];
static char buffer[BUFFER];

static bool is_registered(const void *p, size_t n)
{
	const char *at = p;
	int i;

	for (i = 0; i < SOME; i++)
		if (at >= registered[i].at && at + n <= registered[i].at + registered[i].bytes)
			return true;
	return false;
}

/* a handle or an address that nothing else has */
static void *make(void)
{
	static char *last = (char *)0x700000000000;

	return last += 1ull << 32;
}

CUresult cuMemHostRegister_v2(void *p, size_t n, unsigned int flags)
{
	int i;

	for (i = 0; i < SOME && registered[i].bytes; i++)
		;
	if (i == SOME || is_registered(p, 1))
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	memset(p, 0, n);
	registered[i].at = p;
	registered[i].bytes = n;
	return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *p)
{
	int i;

	for (i = 0; i < SOME; i++)
		if (registered[i].at == p)
			registered[i].bytes = 0;
	return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *p, unsigned int flags)
{
	*device = (uintptr_t)p;
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **p, size_t n, unsigned int flags)
{
	*p = calloc(1, n);
	return *p ? cuMemHostRegister_v2(*p, n, 0) : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, CUstream stream)
{
	const char *from = src;
	size_t some;

	for (; n && !is_registered(from, n); n -= some, from += some) {
		some = n < BUFFER ? n : BUFFER;
		memcpy(buffer, from, some);
	}
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, CUstream stream)
{
	char *to = dst;
	size_t some;

	/* small ones are looked at for words that come */
	if (n <= 4096)
		memset(to, 0, n);
	for (; n > 4096 && !is_registered(to, n); n -= some, to += some) {
		some = n < BUFFER ? n : BUFFER;
		memcpy(to, buffer, some);
	}
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t n)
{
	return cuMemcpyHtoDAsync_v2(dst, src, n, NULL);
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t n)
{
	return cuMemcpyDtoHAsync_v2(dst, src, n, NULL);
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n)
{
	*p = (uintptr_t)make();
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int n, CUdevice dev)
{
	strncpy(name, "no GPU, copies alone (in this process)", n);
	return CUDA_SUCCESS;
}

/* what a client asks about a kernel and a device */
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute what, CUfunction f)
{
	*value = 1024;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *size)
{
	static const size_t sizes[] = { 8, 8, 8, 4 };

	if (index >= 4)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = 8 * index;
	*size = sizes[index];
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute what, CUdevice dev)
{
	*value = 1024;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	memset(uuid, 7, sizeof(*uuid));
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *left, size_t *all)
{
	*left = *all = 1ull << 34;
	return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	*name = "an error";
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ host functions */

struct hosted {
	struct hosted *next;
	CUhostFn fn;
	void *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static struct hosted *first, **last = &first;
static bool runs;

static void *call_functions(void *unused)
{
	struct hosted *h;

	pthread_mutex_lock(&lock);
	for (;;) {
		while (!first)
			pthread_cond_wait(&change, &lock);
		h = first;
		first = h->next;
		if (!first)
			last = &first;
		pthread_mutex_unlock(&lock);
		h->fn(h->data);
		free(h);
		pthread_mutex_lock(&lock);
	}
	return NULL;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data)
{
	struct hosted *h = malloc(sizeof(*h));
	pthread_t thread;

	if (!h)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*h = (struct hosted){ NULL, fn, data };
	pthread_mutex_lock(&lock);
	*last = h;
	last = &h->next;
	if (!runs)
		runs = !pthread_create(&thread, NULL, call_functions, NULL);
	pthread_cond_signal(&change);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

#define ANSWERS(name, what, ...)                        \
	CUresult name(typeof(what) *out, ##__VA_ARGS__) \
	{                                               \
		*out = what;                            \
		return CUDA_SUCCESS;                    \
	}
ANSWERS(cuDriverGetVersion, 13000)
ANSWERS(cuDeviceGetCount, 1)
ANSWERS(cuDeviceTotalMem_v2, (size_t)1 << 34, CUdevice dev)
ANSWERS(cuCtxCreate_v2, (CUcontext)make(), unsigned int flags, CUdevice dev)

ANSWERS(cuCtxGetFlags, 0u)
ANSWERS(cuModuleLoad, (CUmodule)make(), const char *path)
ANSWERS(cuModuleLoadData, (CUmodule)make(), const void *image)
ANSWERS(cuModuleLoadDataEx, (CUmodule)make(), const void *image, unsigned int n,
	CUjit_option *options, void **values)
ANSWERS(cuModuleGetFunction, (CUfunction)make(), CUmodule module, const char *name)
ANSWERS(cuStreamCreate, (CUstream)make(), unsigned int flags)
ANSWERS(cuEventCreate, (CUevent)make(), unsigned int flags)
ANSWERS(cuGraphCreate, (CUgraph)make(), unsigned int flags)
ANSWERS(cuGraphAddKernelNode, (CUgraphNode)make(), CUgraph graph, const CUgraphNode *dependencies,
	size_t n, const CUDA_KERNEL_NODE_PARAMS *p)
ANSWERS(cuGraphInstantiateWithFlags, (CUgraphExec)make(), CUgraph graph, unsigned long long flags)

#define DOES(name, ...)              \
	CUresult name(__VA_ARGS__)   \
	{                            \
		return CUDA_SUCCESS; \
	}
DOES(cuInit, unsigned int flags)
DOES(cuDeviceGetPCIBusId, char *id, int len, CUdevice dev)
DOES(cuCtxSetCurrent, CUcontext ctx)
DOES(cuCtxPopCurrent_v2, CUcontext *ctx)
DOES(cuCtxSynchronize, void)
DOES(cuThreadExchangeStreamCaptureMode, CUstreamCaptureMode *mode)
DOES(cuDevicePrimaryCtxGetState, CUdevice dev, unsigned int *flags, int *active)
DOES(cuLaunchKernel, CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int a,
     unsigned int b, unsigned int c, unsigned int shared, CUstream stream, void **params,
     void **extra)
DOES(cuMemFree_v2, CUdeviceptr p)
DOES(cuMemFreeHost, void *p)
DOES(cuStreamQuery, CUstream stream)
DOES(cuStreamSynchronize, CUstream stream)
DOES(cuStreamDestroy_v2, CUstream stream)
DOES(cuEventRecord, CUevent event, CUstream stream)
DOES(cuEventQuery, CUevent event)
DOES(cuEventSynchronize, CUevent event)
DOES(cuEventDestroy_v2, CUevent event)
DOES(cuStreamWaitEvent, CUstream stream, CUevent event, unsigned int flags)
DOES(cuGraphExecKernelNodeSetParams, CUgraphExec exec, CUgraphNode node,
     const CUDA_KERNEL_NODE_PARAMS *p)
DOES(cuGraphLaunch, CUgraphExec exec, CUstream stream)
