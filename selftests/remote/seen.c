// SPDX-License-Identifier: MIT
/*
 * With pinned.c a libcuda.so.1 whose GPU sees registered memory, and pinned memory, at the address
 * that the CPU has for it: what a kernel, a fill or a copy between device addresses finds there is
 * brought to the GPU below when its turn in the stream comes, and what it leaves is brought back.
 * A stream waits for a word there, and writes one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuda/api/api.h>

/* of pinned.c and for it */
bool pinned_has(const void *host, size_t bytes);
CUresult seen_copy(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream);

#define BELOW(name) ((typeof(name) *)dlsym(RTLD_NEXT, #name))
#define HOST(at)    ((void *)(uintptr_t)(at))

enum { MOST = 1 << 20, SHADOWS = 16 };

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev)
{
	switch ((int)attribute) {
	case 19: /* CAN_MAP_HOST_MEMORY */
	case 41: /* UNIFIED_ADDRESSING */
	case 91: /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */
	case 92: /* CAN_USE_STREAM_MEM_OPS */
		*value = 1;
		return CUDA_SUCCESS;
	}
	return BELOW(cuDeviceGetAttribute)(value, attribute, dev);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *at, void *host, unsigned int flags)
{
	if (!pinned_has(host, 1))
		return BELOW(cuMemHostGetDevicePointer_v2)(at, host, flags);
	*at = (uintptr_t)host;
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
	size_t whole = (bytes + 4095) & ~(size_t)4095;

	*ptr = aligned_alloc(4096, whole);
	return *ptr ? cuMemHostRegister_v2(*ptr, whole, 0) : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *ptr)
{
	CUresult r = cuMemHostUnregister(ptr);

	if (!r)
		free(ptr);
	return r;
}

/* ------------------------------------------------------------------ what streams do later */

struct job {
	uint8_t *to;
	const uint8_t *from;
	size_t bytes;
	uint32_t value, unit;
	bool *busy;
};

static CUresult later(CUstream stream, CUhostFn fn, struct job job)
{
	struct job *j = malloc(sizeof(*j));

	*j = job;
	return BELOW(cuLaunchHostFunc)(stream, fn, j);
}

static void fill(void *arg)
{
	struct job *j = arg;
	size_t i;

	for (i = 0; i < j->bytes; i += j->unit)
		memcpy(j->to + i, &j->value, j->unit);
	free(j);
}

static void copy(void *arg)
{
	struct job *j = arg;

	memmove(j->to, j->from, j->bytes);
	free(j);
}

static void await(void *arg)
{
	struct job *j = arg;

	while ((int32_t)(__atomic_load_n((const uint32_t *)j->from, __ATOMIC_ACQUIRE) - j->value) <
	       0)
		;
	free(j);
}

static void leave(void *arg)
{
	struct job *j = arg;

	__atomic_store_n(j->busy, false, __ATOMIC_RELEASE);
	free(j);
}

#define FILL(name, type, size)                                                       \
	CUresult name(CUdeviceptr dst, type value, size_t n)                         \
	{                                                                            \
		struct job j = { HOST(dst), NULL, n * size, value, size, NULL };     \
                                                                                     \
		return pinned_has(HOST(dst), n * size) ? later(NULL, fill, j) :      \
							 BELOW(name)(dst, value, n); \
	}
#define FILL_ASYNC(name, type, size)                                                         \
	CUresult name(CUdeviceptr dst, type value, size_t n, CUstream stream)                \
	{                                                                                    \
		struct job j = { HOST(dst), NULL, n * size, value, size, NULL };             \
                                                                                             \
		return pinned_has(HOST(dst), n * size) ? later(stream, fill, j) :            \
							 BELOW(name)(dst, value, n, stream); \
	}
FILL(cuMemsetD8_v2, unsigned char, 1)
FILL(cuMemsetD32_v2, unsigned int, 4)
FILL_ASYNC(cuMemsetD8Async, unsigned char, 1)
FILL_ASYNC(cuMemsetD32Async, unsigned int, 4)

/* between the host's memory, of which one end or both are registered */
CUresult seen_copy(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	CUresult r = later(stream, copy, (struct job){ HOST(dst), HOST(src), bytes });
	bool both = pinned_has(HOST(dst), bytes) && pinned_has(HOST(src), bytes);

	return r || both ? r : BELOW(cuStreamSynchronize)(stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	bool to = pinned_has(HOST(dst), bytes), from = pinned_has(HOST(src), bytes);

	if (to && from)
		return seen_copy(dst, src, bytes, stream);
	if (to)
		return cuMemcpyDtoHAsync_v2(HOST(dst), src, bytes, stream);
	if (from)
		return cuMemcpyHtoDAsync_v2(dst, HOST(src), bytes, stream);
	return BELOW(cuMemcpyDtoDAsync_v2)(dst, src, bytes, stream);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return cuMemcpyDtoDAsync_v2(dst, src, bytes, NULL);
}

/* the synchronous forms, which programs call without a server between */
CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
	CUresult r = cuMemcpyDtoHAsync_v2(dst, src, bytes, NULL);

	return r ? r : BELOW(cuStreamSynchronize)(NULL);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes)
{
	CUresult r = cuMemcpyHtoDAsync_v2(dst, src, bytes, NULL);

	return r ? r : BELOW(cuStreamSynchronize)(NULL);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr at, cuuint32_t value,
				unsigned int flags)
{
	return later(stream, await, (struct job){ NULL, HOST(at), 4, value, 4, NULL });
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr at, cuuint32_t value,
				 unsigned int flags)
{
	return later(stream, fill, (struct job){ HOST(at), NULL, 4, value, 4, NULL });
}

/* ------------------------------------------------------------------ launches */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shadow {
	CUdeviceptr at;
	bool busy; /* atomic */
} shadows[SHADOWS];

static struct shadow *take_shadow(void)
{
	struct shadow *s = NULL;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < SHADOWS && !s; i++)
		if (!__atomic_load_n(&shadows[i].busy, __ATOMIC_ACQUIRE))
			s = &shadows[i];
	if (!s || (!s->at && BELOW(cuMemAlloc_v2)(&s->at, MOST)))
		abort();
	s->busy = true;
	pthread_mutex_unlock(&lock);
	return s;
}

/* from the lowest of the pointers into registered memory, *low, to 64 KiB behind the highest */
static size_t span(const uint64_t *word, size_t n, uint64_t *low)
{
	uint64_t high = 0, i;

	*low = UINT64_MAX;
	for (i = 0; i < n; i++)
		if (pinned_has(HOST(word[i]), 1)) {
			*low = word[i] < *low ? word[i] : *low;
			high = word[i] > high ? word[i] : high;
		}
	if (!high)
		return 0;
	for (i = 64 << 10; i > 4 && !pinned_has(HOST(*low), high - *low + i); i -= 4)
		;
	if (high - *low + i > MOST)
		abort();
	return high - *low + i;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			CUstream stream, void **params, void **extra)
{
	uint64_t word[16] = { 0 }, low;
	size_t bytes = 0, i, n = 0, at, size;
	void *own[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, word, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
			CU_LAUNCH_PARAM_END };
	struct shadow *s;
	CUresult r;

	if (extra && *(size_t *)extra[3] <= sizeof(word)) {
		bytes = *(size_t *)extra[3];
		memcpy(word, extra[1], bytes);
	}
	for (i = 0;
	     params && !BELOW(cuFuncGetParamInfo)(f, i, &at, &size) && at + size <= sizeof(word);
	     i++) {
		memcpy((uint8_t *)word + at, params[i], size);
		bytes = at + size;
	}
	n = span(word, bytes / 8, &low);
	if (!n)
		return BELOW(cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, params,
					     extra);
	s = take_shadow();
	for (i = 0; i < bytes / 8; i++)
		if (pinned_has(HOST(word[i]), 1))
			word[i] += s->at - low;
	r = cuMemcpyHtoDAsync_v2(s->at, HOST(low), n, stream);
	r = r ? r : BELOW(cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, NULL, own);
	r = r ? r : cuMemcpyDtoHAsync_v2(HOST(low), s->at, n, stream);
	return r ? r : later(stream, leave, (struct job){ .busy = &s->busy });
}
