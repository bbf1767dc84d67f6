// SPDX-License-Identifier: MIT
/* What can be asked of a capture of a stream into a graph: no stream captures, since beginning it is refused. */
#include "runtime.h"

static cudaError_t check(cudaStream_t stream)
{
	unsigned int flags;
	cudaError_t e = use_context();

	return e ? e : from_driver(cuStreamGetFlags(stream, &flags));
}

static cudaError_t is_capturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	cudaError_t e = status ? check(stream) : cudaErrorInvalidValue;

	if (!e)
		*status = cudaStreamCaptureStatusNone;
	return e;
}

/* what is asked for beside the status is there for captures only */
static cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	return is_capturing(stream, status);
}

STREAM_FORMS(cudaStreamIsCapturing, is_capturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status), status)
STREAM_FORMS(cudaStreamGetCaptureInfo, capture_info,
	     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id), status)
STREAM_FORMS(cudaStreamGetCaptureInfo_v2, capture_info,
	     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
	      const cudaGraphNode_t **dependencies, size_t *n), status)

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	static __thread enum cudaStreamCaptureMode current;
	enum cudaStreamCaptureMode old = current;

	if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
		return done(cudaErrorInvalidValue);
	current = *mode;
	*mode = old;
	return cudaSuccess;
}
