// SPDX-License-Identifier: MIT
/*
 * A libcuda.so.1 for kvgpu-remoted, on the one with the GPU in the process: it can register any
 * memory, and then copies from and to that memory when their turn in the stream comes, after the
 * call has returned. As NVIDIA's does, it waits for all work before it takes code or gives back
 * memory. All else is the other library's, or with -DSEEN that of seen.c.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuda/api/api.h>

/* pinned memory of the library below, between the GPU and what is registered here */
struct between {
	struct between *next;
	uint8_t *own;
	size_t room;
	bool busy; /* atomic */
	uint8_t *theirs; /* of the copy that it is used for */
	size_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct between *all;
enum { REGIONS = 64 };
static struct {
	uint8_t *at; /* NULL: none */
	size_t bytes;
} registered[REGIONS];

#define BELOW(name) ((typeof(name) *)dlsym(RTLD_NEXT, #name))

CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned int flags)
{
	uint8_t *begin = ptr;
	int i, unused = REGIONS;

	for (i = 0; i < REGIONS; i++)
		if (!registered[i].at)
			unused = i;
		else if (begin < registered[i].at + registered[i].bytes &&
			 registered[i].at < begin + bytes)
			return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	if (unused == REGIONS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	registered[unused].at = begin;
	registered[unused].bytes = bytes;
	return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *ptr)
{
	int i;

	for (i = 0; i < REGIONS; i++)
		if (registered[i].at == ptr) {
			registered[i].at = NULL;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

#ifndef SEEN
/* an address, but not one for use: no kernel sees this memory */
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *at, void *host, unsigned int flags)
{
	*at = 1ull << 46;
	return CUDA_SUCCESS;
}
#endif

/* of seen.c and for it */
CUresult seen_copy(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream);
bool pinned_has(const void *host, size_t bytes);
bool pinned_has(const void *host, size_t bytes)
{
	const uint8_t *at = host;
	int i;

	for (i = 0; i < REGIONS; i++)
		if (registered[i].at && at >= registered[i].at &&
		    at + bytes <= registered[i].at + registered[i].bytes)
			return true;
	return false;
}

/* a copy with nothing before it needs no host function */
static bool is_idle(CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	if (stream && !BELOW(cuStreamIsCapturing)(stream, &status) && status)
		return false;
	/* an error the copy itself will tell */
	return BELOW(cuStreamQuery)(stream) != CUDA_ERROR_NOT_READY;
}

static struct between *take(void *theirs, size_t bytes)
{
	struct between *b;

	pthread_mutex_lock(&lock);
	for (b = all; b; b = b->next)
		if (b->room >= bytes && !__atomic_load_n(&b->busy, __ATOMIC_ACQUIRE))
			break;
	if (!b) {
		b = calloc(1, sizeof(*b));
		if (!b || BELOW(cuMemHostAlloc)((void **)&b->own, bytes, CU_MEMHOSTALLOC_PORTABLE))
			abort();
		b->room = bytes;
		b->next = all;
		all = b;
	}
	b->busy = true;
	b->theirs = theirs;
	b->bytes = bytes;
	pthread_mutex_unlock(&lock);
	return b;
}

/* fill(), empty() and leave() are host functions: a thread of the library below runs them */
static void fill(void *arg)
{
	struct between *b = arg;

	memcpy(b->own, b->theirs, b->bytes);
}

static void empty(void *arg)
{
	struct between *b = arg;

	memcpy(b->theirs, b->own, b->bytes);
	__atomic_store_n(&b->busy, false, __ATOMIC_RELEASE);
}

static void leave(void *arg)
{
	__atomic_store_n(&((struct between *)arg)->busy, false, __ATOMIC_RELEASE);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
	struct between *b;
	CUresult r;

#ifdef SEEN
	if (pinned_has((void *)(uintptr_t)dst, bytes))
		return seen_copy(dst, (uintptr_t)src, bytes, stream);
#endif
	if (!pinned_has(src, bytes) || is_idle(stream))
		return BELOW(cuMemcpyHtoDAsync_v2)(dst, src, bytes, stream);
	b = take((void *)(uintptr_t)src, bytes);
	r = cuLaunchHostFunc(stream, fill, b);
	r = r ? r : BELOW(cuMemcpyHtoDAsync_v2)(dst, b->own, bytes, stream);
	return r ? r : cuLaunchHostFunc(stream, leave, b);
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	struct between *b;
	CUresult r;

#ifdef SEEN
	if (pinned_has((void *)(uintptr_t)src, bytes))
		return seen_copy((uintptr_t)dst, src, bytes, stream);
#endif
	if (!pinned_has(dst, bytes) || is_idle(stream))
		return BELOW(cuMemcpyDtoHAsync_v2)(dst, src, bytes, stream);
	b = take(dst, bytes);
	r = BELOW(cuMemcpyDtoHAsync_v2)(b->own, src, bytes, stream);
	return r ? r : cuLaunchHostFunc(stream, empty, b);
}

/* ---------------------------------------------------------------- what waits for all work first */

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n,
			    CUjit_option *options, void **values)
{
	BELOW(cuCtxSynchronize)();
	return BELOW(cuModuleLoadDataEx)(module, image, n, options, values);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	BELOW(cuCtxSynchronize)();
	return BELOW(cuModuleGetFunction)(function, module, name);
}

CUresult cuModuleUnload(CUmodule module)
{
	BELOW(cuCtxSynchronize)();
	return BELOW(cuModuleUnload)(module);
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	BELOW(cuCtxSynchronize)();
	return BELOW(cuMemFree_v2)(ptr);
}
