// SPDX-License-Identifier: MIT
/*
 * What the server's own calls of the library want: the context, a capture mode in which they end no
 * capture, and a stream beside the client's.
 */
#include "server.h"

CUresult enter_context(struct server *s, uint64_t id)
{
	void *ctx = NULL;
	CUresult r;

	if (id == s->current)
		return CUDA_SUCCESS;
	if (id && !handle_find(s, CLASS_CONTEXT, id, &ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	r = CALL(s, cuCtxSetCurrent, ctx);
	if (r) /* the library keeps the context before */
		CALL(s, cuCtxSetCurrent, NULL);
	s->current = r ? 0 : id;
	return r;
}

CUstreamCaptureMode capture_relax(struct server *s)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	CALL(s, cuThreadExchangeStreamCaptureMode, &mode);
	return mode;
}

void capture_restore(struct server *s, CUstreamCaptureMode mode)
{
	CALL(s, cuThreadExchangeStreamCaptureMode, &mode);
}

CUresult not_capturing(struct server *s, CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult r = s->library.cuStreamIsCapturing ?
			     s->library.cuStreamIsCapturing(stream, &status) :
			     CUDA_SUCCESS;

	return r || status == CU_STREAM_CAPTURE_STATUS_NONE ? r : CUDA_ERROR_NOT_SUPPORTED;
}

/* With data of edges NVIDIA's library answers the third form alone. */
CUresult capture_of(struct server *s, CUstream stream, struct captured *c)
{
	CUresult r;

	*c = (struct captured){ .status = CU_STREAM_CAPTURE_STATUS_NONE };
	r = CALL(s, cuStreamGetCaptureInfo_v3, stream, &c->status, &c->id, &c->graph, &c->nodes,
		 &c->edges, &c->n);
	return r == CUDA_ERROR_NOT_SUPPORTED ?
		       CALL(s, cuStreamGetCaptureInfo_v2, stream, &c->status, &c->id, &c->graph,
			    &c->nodes, &c->n) :
		       r;
}

CUresult own_stream(struct server *s, CUstream *out)
{
	struct entry *ctx = handle_entry(s, s->current);
	CUresult r = CUDA_SUCCESS;

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!ctx->beside)
		r = CALL(s, cuStreamCreate, &ctx->beside, CU_STREAM_NON_BLOCKING);
	if (r)
		ctx->beside = NULL;
	*out = ctx->beside;
	return r;
}
