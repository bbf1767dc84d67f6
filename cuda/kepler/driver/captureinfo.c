// SPDX-License-Identifier: MIT
/*
 * Questions about a capture, and changes of what a stream's next node depends on. At the end are
 * the _ptsz forms of all calls here, and of begin and end (capture.c).
 */
#include "graph.h"

static CUstreamCaptureStatus status_of(const struct CUstream_st *s)
{
	if (!s->capture)
		return CU_STREAM_CAPTURE_STATUS_NONE;
	return s->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED :
				     CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/*
 * The other answers are written only while the status is ACTIVE. *nodes is the stream's own list: a
 * later call for the stream may free it.
 */
static CUresult info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
		     const CUgraphNode **nodes, size_t *n)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = status ? ctx_enter_asking(stream, &ctx, &s) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	pthread_mutex_lock(&graphs);
	*status = status_of(s);
	if (*status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
		if (id)
			*id = s->capture->id;
		if (graph)
			*graph = s->capture->graph;
		if (nodes)
			*nodes = s->tips.at;
		if (n)
			*n = s->tips.n;
	}
	pthread_mutex_unlock(&graphs);
	ctx_leave(ctx);
	return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	return info(stream, status, NULL, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
	return info(stream, status, id, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
				   CUgraph *graph, const CUgraphNode **nodes, size_t *n)
{
	return info(stream, status, id, graph, nodes, n);
}

/* After OUT_OF_MEMORY only a part of @nodes was added; @set: the old tips are gone. */
static CUresult update(CUstream s, const CUgraphNode *nodes, size_t n, bool set)
{
	CUresult r = CUDA_SUCCESS;
	size_t i;

	if (!s->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (s->capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	for (i = 0; i < n; i++)
		if (!is_node(nodes[i]) || nodes[i]->graph != s->capture->graph)
			return CUDA_ERROR_INVALID_VALUE;
	if (set)
		s->tips.n = 0;
	for (i = 0; i < n && !r; i++)
		r = list_add(&s->tips, nodes[i]);
	return r;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t n,
					   unsigned int flags)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (n && !nodes) ?
			     CUDA_ERROR_INVALID_VALUE :
			     ctx_enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	pthread_mutex_lock(&graphs);
	r = update(s, nodes, n, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
	pthread_mutex_unlock(&graphs);
	ctx_leave(ctx);
	return r;
}

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define PER_THREAD(name, params, ...)                    \
	CUresult name##_ptsz params                      \
	{                                                \
		return name(OWN(stream), ##__VA_ARGS__); \
	}
PER_THREAD(cuStreamBeginCapture, (CUstream stream))
PER_THREAD(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), mode)
PER_THREAD(cuStreamEndCapture, (CUstream stream, CUgraph *graph), graph)
PER_THREAD(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status), status)
PER_THREAD(cuStreamGetCaptureInfo, (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id),
	   status, id)
PER_THREAD(cuStreamGetCaptureInfo_v2,
	   (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
	    const CUgraphNode **nodes, size_t *n),
	   status, id, graph, nodes, n)
PER_THREAD(cuStreamUpdateCaptureDependencies,
	   (CUstream stream, CUgraphNode *nodes, size_t n, unsigned int flags), nodes, n, flags)
