// SPDX-License-Identifier: MIT
/* Events. */
#include "runtime.h"

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	cudaError_t e = event ? use_context() : cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuEventCreate(event, flags)));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	return cudaEventCreateWithFlags(event, 0);
}

static cudaError_t record(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
	cudaError_t e = use_context();

	return e ? e : from_driver(cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return set_last_error(record(event, stream, 0));
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
	return set_last_error(record(event, OWN_IF_0(stream), 0));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
	return set_last_error(record(event, stream, flags));
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream,
					  unsigned int flags)
{
	return set_last_error(record(event, OWN_IF_0(stream), flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : from_driver(cuEventQuery(event)));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : from_driver(cuEventSynchronize(event)));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : from_driver(cuEventDestroy_v2(event)));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	cudaError_t e = ms ? use_context() : cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuEventElapsedTime(ms, start, end)));
}
