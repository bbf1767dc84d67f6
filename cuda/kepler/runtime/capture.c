// SPDX-License-Identifier: MIT
/* Capture of streams into graphs, by the driver. */
#include "runtime.h"

static cudaError_t begin_capture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	cudaError_t e = use_context();

	return e ? e : from_driver(cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode));
}

static cudaError_t end_capture(cudaStream_t stream, cudaGraph_t *graph)
{
	cudaError_t e = graph ? use_context() : cudaErrorInvalidValue;

	return e ? e : from_driver(cuStreamEndCapture(stream, graph));
}

static cudaError_t update(cudaStream_t stream, cudaGraphNode_t *nodes, size_t n, unsigned int flags)
{
	cudaError_t e = use_context();

	return e ? e : from_driver(cuStreamUpdateCaptureDependencies(stream, nodes, n, flags));
}

static cudaError_t info(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
			unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **nodes,
			size_t *n)
{
	CUstreamCaptureStatus s;
	cuuint64_t number = 0;
	cudaError_t e = status ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuStreamGetCaptureInfo_v2(stream, &s, &number, graph, nodes, n));
	if (e)
		return e;
	*status = (enum cudaStreamCaptureStatus)s;
	if (id && *status == cudaStreamCaptureStatusActive)
		*id = number;
	return cudaSuccess;
}

STREAM_FORMS(cudaStreamBeginCapture, begin_capture,
	     (cudaStream_t stream, enum cudaStreamCaptureMode mode), mode)
STREAM_FORMS(cudaStreamEndCapture, end_capture, (cudaStream_t stream, cudaGraph_t *graph), graph)
STREAM_FORMS(cudaStreamUpdateCaptureDependencies, update,
	     (cudaStream_t stream, cudaGraphNode_t *nodes, size_t n, unsigned int flags), nodes, n,
	     flags)
STREAM_FORMS(cudaStreamIsCapturing, info,
	     (cudaStream_t stream, enum cudaStreamCaptureStatus *status), status, NULL, NULL, NULL,
	     NULL)
STREAM_FORMS(cudaStreamGetCaptureInfo, info,
	     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id),
	     status, id, NULL, NULL, NULL)
STREAM_FORMS(cudaStreamGetCaptureInfo_v2, info,
	     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
	      cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *n),
	     status, id, graph, nodes, n)

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	CUstreamCaptureMode m = mode ? (CUstreamCaptureMode)*mode : CU_STREAM_CAPTURE_MODE_GLOBAL;
	cudaError_t e = mode ? use_driver() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuThreadExchangeStreamCaptureMode(&m));
	if (!e)
		*mode = (enum cudaStreamCaptureMode)m;
	return set_last_error(e);
}
