// SPDX-License-Identifier: MIT
/*
 * Linear copies between the memory of two servers, or between the memory of one server and
 * host memory in a stream of another one: when they are made, and by which file.
 */
#include "peer_copy.h"

/*
 * A copy that waits is made in the null streams of both contexts, so that their order holds, too. A
 * copy between two servers that does not wait is a cross-server fence's. A copy from host memory is
 * over on return: a stream that does not wait for the null stream may be the next to read the
 * bytes.
 */
CUresult peer_copy_linear(CUdeviceptr dst, enum memory_kind to, CUdeviceptr src,
			  enum memory_kind from, size_t bytes, bool waits, CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	struct route there = { 0 }, other = { 0 };
	struct q_copy_out out = { .src = src, .bytes = bytes };
	struct q_copy_in in = { .dst = dst, .bytes = bytes, .flags = COPY_WHOLE };
	CUresult r = captures_any() ? cuStreamIsCapturing(stream, &status) : CUDA_SUCCESS;

	if (r || status != CU_STREAM_CAPTURE_STATUS_NONE)
		return r ? r : capture_refuse_servers();
	if (to == MEMORY_DEVICE)
		r = peer_copy_route(dst, &there);
	if (!r && from == MEMORY_DEVICE)
		r = peer_copy_route(src, to == MEMORY_DEVICE ? &other : &there);
	if (r)
		return r;
	if (to == MEMORY_DEVICE && from == MEMORY_DEVICE && !waits)
		return cross_fence_copy(stream, dst, src, bytes);
	r = cuStreamSynchronize(stream);
	if (r)
		return r;
	if (to != MEMORY_DEVICE)
		return linear_d2h(&there, &out, (void *)(uintptr_t)dst, true, false);
	if (from != MEMORY_DEVICE)
		return linear_h2d(&there, &in, (const void *)(uintptr_t)src, true, false);
	return peer_copy_in_streams(&there, 0, dst, &other, 0, src, bytes);
}
