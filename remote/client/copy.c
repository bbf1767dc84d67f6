// SPDX-License-Identifier: MIT
/*
 * The program's linear (1-D) copies: which memory the ends are, and whether the stream captures
 * decides who makes the copy.
 */
#include "peer_copy.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

enum when { SYNC, ASYNC };

static CUresult to_device(struct route *to, CUdeviceptr dst, const void *src, size_t bytes,
			  enum when when, CUstream stream)
{
	struct q_copy_in q = { .dst = dst, .bytes = bytes };
	bool known = device_span(dst, bytes, 1), fine = known && own_stream(stream);
	CUresult r = route_stream(to, stream, &q.stream);

	route_peer(to);
	if (!r && !known)
		r = device_holds(to, dst, bytes);
	return r ? r : linear_h2d(to, &q, src, when == SYNC, fine);
}

static CUresult to_host(struct route *to, void *dst, CUdeviceptr src, size_t bytes, enum when when,
			CUstream stream)
{
	struct q_copy_out q = { .src = src, .bytes = bytes };
	bool known = device_span(src, bytes, 1), fine = known && own_stream(stream);
	CUresult r = route_stream(to, stream, &q.stream);

	route_peer(to);
	if (!r && !known)
		r = device_holds(to, src, bytes);
	return r ? r : linear_d2h(to, &q, dst, when == SYNC, fine);
}

/*
 * Mapped memory is host memory, too: a synchronous copy is over when it returns. No touch of that
 * memory waits, as one of managed memory does, and a copy on the device is only queued.
 */
static CUresult on_device(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when,
			  CUstream stream)
{
	struct host_range found;
	CUresult r = when == ASYNC || stream ? cuMemcpyDtoDAsync_v2(dst, src, bytes, stream) :
					       cuMemcpyDtoD_v2(dst, src, bytes);

	if (r || when == ASYNC ||
	    (!host_find((const void *)(uintptr_t)dst, &found) &&
	     !host_find((const void *)(uintptr_t)src, &found)))
		return r;
	return cuStreamSynchronize(stream);
}

static CUresult on_host(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	CUresult r = cuStreamSynchronize(stream);

	if (!r)
		memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes);
	return r;
}

/*
 * If a capture of another stream forbids to use the null stream, go on: the copy itself then
 * returns the library's error.
 */
CUresult host_copy_begins(CUstream stream, bool waits, const void *src, bool *captured)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	struct host_range found;
	CUresult r = captures_any() ? cuStreamIsCapturing(stream, &status) : CUDA_SUCCESS;

	*captured = false;
	if (r)
		return r == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ? CUDA_SUCCESS : r;
	if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && waits)
		/* returns the error */
		return cuStreamSynchronize(stream);
	*captured = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
	if (!*captured && src && host_find(src, &found) &&
	    (pinned_may_change(&found) || host_functions_pending()))
		r = cuStreamSynchronize(stream);
	return r;
}

static CUresult between(enum memory_kind to, CUdeviceptr dst, enum memory_kind from,
			CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	struct route there = { 0 };
	bool read, captured;
	uint64_t id;
	CUresult r;

	if (to == MEMORY_UNKNOWN || from == MEMORY_UNKNOWN)
		return CUDA_ERROR_INVALID_VALUE;
	if (to == MEMORY_DEVICE)
		gpu_uses(dst);
	if (from == MEMORY_DEVICE)
		gpu_uses(src);
	if (several) {
		r = route_stream(&there, stream, &id);
		if (to == MEMORY_DEVICE)
			route_address(&there, dst);
		if (from == MEMORY_DEVICE)
			route_address(&there, src);
		if (r || there.split)
			return r ? r :
				   peer_copy_linear(dst, to, src, from, bytes, when == SYNC,
						    stream);
	}
	if (to == MEMORY_DEVICE && from == MEMORY_DEVICE)
		return on_device(dst, src, bytes, when, stream);
	/* the GPU itself reads in the stream's order: a read by the CPU has to wait */
	read = from == MEMORY_HOST && gpu_reaches(route_peer(&there), (const void *)(uintptr_t)src,
						  bytes) == KVGPU_REMOTE_NOWHERE;
	r = host_copy_begins(stream, when == SYNC, read ? (const void *)(uintptr_t)src : NULL,
			     &captured);
	if (!r && captured) {
		r = route_stream(&there, stream, &id);
		return r ? r : linear_capture(&there, id, dst, to, src, from, bytes);
	}
	if (r)
		return r;
	if (to == MEMORY_DEVICE)
		return to_device(&there, dst, (const void *)(uintptr_t)src, bytes, when, stream);
	if (from == MEMORY_DEVICE)
		return to_host(&there, (void *)(uintptr_t)dst, src, bytes, when, stream);
	return on_host(dst, src, bytes, stream);
}

/* ------------------------------------------------------------------ entry points */

/* check the stream first: an invalid one is an error also if there is nothing to copy */
static CUresult begin_copy(CUstream stream, size_t bytes, bool pointers, bool *nothing)
{
	struct route to = { 0 };
	uint64_t id;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (!r)
		r = route_stream(&to, stream, &id);
	*nothing = !bytes;
	return r ? r : bytes && !pointers ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult copy_any(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when,
			 CUstream stream)
{
	bool nothing;
	CUresult r = begin_copy(stream, bytes, dst && src, &nothing);

	if (r || nothing)
		return r;
	return between(memory_kind_of(dst, false), dst, memory_kind_of(src, false), src, bytes,
		       when, stream);
}

static CUresult htod(CUdeviceptr dst, const void *src, size_t bytes, enum when when,
		     CUstream stream)
{
	CUdeviceptr from = (uintptr_t)src;
	bool nothing;
	CUresult r = begin_copy(stream, bytes, src, &nothing);

	if (r || nothing)
		return r;
	return between(MEMORY_DEVICE, dst, memory_kind_of(from, true), from, bytes, when, stream);
}

static CUresult dtoh(void *dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	CUdeviceptr to = (uintptr_t)dst;
	bool nothing;
	CUresult r = begin_copy(stream, bytes, dst, &nothing);

	if (r || nothing)
		return r;
	return between(memory_kind_of(to, true), to, MEMORY_DEVICE, src, bytes, when, stream);
}

#define ENTRIES(name, v2, body, dst_type, src_type)                                                \
	CUresult name##v2(dst_type dst, src_type src, size_t bytes)                                \
	{                                                                                          \
		return body(dst, src, bytes, SYNC, NULL);                                          \
	}                                                                                          \
	CUresult name##v2##_ptds(dst_type dst, src_type src, size_t bytes)                         \
	{                                                                                          \
		return body(dst, src, bytes, SYNC, CU_STREAM_PER_THREAD);                          \
	}                                                                                          \
	CUresult name##Async##v2(dst_type dst, src_type src, size_t bytes, CUstream stream)        \
	{                                                                                          \
		return body(dst, src, bytes, ASYNC, stream);                                       \
	}                                                                                          \
	CUresult name##Async##v2##_ptsz(dst_type dst, src_type src, size_t bytes, CUstream stream) \
	{                                                                                          \
		return body(dst, src, bytes, ASYNC, OWN(stream));                                  \
	}

ENTRIES(cuMemcpyHtoD, _v2, htod, CUdeviceptr, const void *)
ENTRIES(cuMemcpyDtoH, _v2, dtoh, void *, CUdeviceptr)
ENTRIES(cuMemcpy, , copy_any, CUdeviceptr, CUdeviceptr)

/* ------------------------------------------------------------------ between contexts */

static CUresult between_contexts(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
				 size_t bytes, enum when when, CUstream stream)
{
	struct q_peer q = { .dst = dst, .src = src, .bytes = bytes, .async = when == ASYNC };
	struct call c = { .op = OP_peer, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (!r)
		r = route_stream(&c.to, stream, &q.stream);
	if (r)
		return r;
	gpu_uses(dst);
	gpu_uses(src);
	if (!route_handle(&c.to, CLASS_CONTEXT, to, &q.dst_ctx) ||
	    !route_handle(&c.to, CLASS_CONTEXT, from, &q.src_ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (c.to.split)
		return peer_copy_linear(dst, MEMORY_DEVICE, src, MEMORY_DEVICE, bytes, when == SYNC,
					stream);
	return call_sync(&c, 0);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes)
{
	return between_contexts(dst, to, src, from, bytes, SYNC, NULL);
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
			   size_t bytes)
{
	CUresult r = between_contexts(dst, to, src, from, bytes, ASYNC, CU_STREAM_PER_THREAD);

	return r ? r : cuStreamSynchronize(CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
			   size_t bytes, CUstream stream)
{
	return between_contexts(dst, to, src, from, bytes, ASYNC, stream);
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
				size_t bytes, CUstream stream)
{
	return between_contexts(dst, to, src, from, bytes, ASYNC, OWN(stream));
}
