// SPDX-License-Identifier: MIT
/* Streams, and host functions in them. */
#include <stdlib.h>

#include "runtime.h"

static cudaError_t create(cudaStream_t *stream, unsigned int flags, int priority)
{
	cudaError_t e = stream ? use_context() : cudaErrorInvalidValue;

	return e ? e : from_driver(cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return set_last_error(create(stream, 0, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	return set_last_error(create(stream, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
	return set_last_error(create(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : from_driver(cuStreamDestroy_v2(stream)));
}

static cudaError_t get_priority(cudaStream_t stream, int *priority)
{
	cudaError_t e = priority ? use_context() : cudaErrorInvalidValue;

	return e ? e : from_driver(cuStreamGetPriority(stream, priority));
}

static cudaError_t get_flags(cudaStream_t stream, unsigned int *flags)
{
	cudaError_t e = flags ? use_context() : cudaErrorInvalidValue;

	return e ? e : from_driver(cuStreamGetFlags(stream, flags));
}

static cudaError_t wait_event(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	cudaError_t e = use_context();

	return e ? e : from_driver(cuStreamWaitEvent(stream, event, flags));
}

static cudaError_t synchronize(cudaStream_t stream)
{
	cudaError_t e = use_context();

	return e ? e : from_driver(cuStreamSynchronize(stream));
}

static cudaError_t query(cudaStream_t stream)
{
	cudaError_t e = use_context();

	return e ? e : from_driver(cuStreamQuery(stream));
}

STREAM_FORMS(cudaStreamGetPriority, get_priority, (cudaStream_t stream, int *priority), priority)
STREAM_FORMS(cudaStreamGetFlags, get_flags, (cudaStream_t stream, unsigned int *flags), flags)
STREAM_FORMS(cudaStreamWaitEvent, wait_event,
	     (cudaStream_t stream, cudaEvent_t event, unsigned int flags), event, flags)
STREAM_FORMS(cudaStreamSynchronize, synchronize, (cudaStream_t stream))
STREAM_FORMS(cudaStreamQuery, query, (cudaStream_t stream))

/* ------------------------------------------------------------------ host functions */

struct call {
	cudaStreamCallback_t callback;
	void *data;
};

/* Runs on the driver's thread, which may call nothing that needs a context. */
static void call(CUstream stream, CUresult status, void *data)
{
	struct call c = *(struct call *)data;

	free(data);
	c.callback(stream, from_driver(status), c.data);
}

static cudaError_t add_callback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
				unsigned int flags)
{
	cudaError_t e = callback && !flags ? use_context() : cudaErrorInvalidValue;
	struct call *c;

	if (e)
		return e;
	c = malloc(sizeof(*c));
	if (!c)
		return cudaErrorMemoryAllocation;
	*c = (struct call){ callback, data };
	e = from_driver(cuStreamAddCallback(stream, call, c, 0));
	if (e)
		free(c);
	return e;
}

static cudaError_t launch_host(cudaStream_t stream, cudaHostFn_t fn, void *data)
{
	cudaError_t e = fn ? use_context() : cudaErrorInvalidValue;

	return e ? e : from_driver(cuLaunchHostFunc(stream, fn, data));
}

STREAM_FORMS(cudaStreamAddCallback, add_callback,
	     (cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int flags),
	     callback, data, flags)
STREAM_FORMS(cudaLaunchHostFunc, launch_host, (cudaStream_t stream, cudaHostFn_t fn, void *data),
	     fn, data)
