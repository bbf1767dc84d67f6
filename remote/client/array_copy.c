// SPDX-License-Identifier: MIT
/*
 * Copies along the first row of arrays, from and to offsets in bytes. A copy with host memory is
 * one frame for each piece. Each frame is sync, also in the Async forms.
 */
#include <stdlib.h>

#include "client.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

static CUresult begin_run(struct route *to, struct q_run *q, CUarray dst, CUarray src,
			  CUstream stream)
{
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (!r)
		r = route_stream(to, stream, &q->stream);
	if (r)
		return r;
	if ((dst && !route_handle(to, CLASS_ARRAY, dst, &q->dst)) ||
	    (src && !route_handle(to, CLASS_ARRAY, src, &q->src)))
		return CUDA_ERROR_INVALID_HANDLE;
	route_peer(to);
	return CUDA_SUCCESS;
}

static CUresult ask_run(const struct route *to, const struct q_run *q)
{
	struct call c = { .op = OP_run, .fixed = q, .bytes = sizeof(*q), .to = *to };

	return call_sync(&c, 0);
}

CUresult cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes)
{
	struct route to = { 0 };
	struct q_run q = {
		.what = RUN_DEVICE_TO_ARRAY, .dst_offset = offset, .src = src, .bytes = bytes
	};
	CUresult r = dst ? begin_run(&to, &q, dst, NULL, NULL) : CUDA_ERROR_INVALID_HANDLE;

	return r ? r : ask_run(&to, &q);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes)
{
	struct route to = { 0 };
	struct q_run q = {
		.what = RUN_ARRAY_TO_DEVICE, .src_offset = offset, .dst = dst, .bytes = bytes
	};
	CUresult r = src ? begin_run(&to, &q, NULL, src, NULL) : CUDA_ERROR_INVALID_HANDLE;

	return r ? r : ask_run(&to, &q);
}

CUresult cuMemcpyAtoA_v2(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
			 size_t bytes)
{
	struct route to = { 0 };
	struct q_run q = { .what = RUN_ARRAY_TO_ARRAY,
			   .dst_offset = dst_offset,
			   .src_offset = src_offset,
			   .bytes = bytes };
	CUresult r = dst && src ? begin_run(&to, &q, dst, src, NULL) : CUDA_ERROR_INVALID_HANDLE;

	return r ? r : ask_run(&to, &q);
}

static CUresult piece_in(const struct route *to, struct q_run *q, const void *src)
{
	struct call c = { .op = OP_run, .fixed = q, .bytes = sizeof(*q), .to = *to };
	struct staged *piece;
	uint64_t at;
	CUresult r;

	piece = staging_get(to->peer, q->bytes, &at, &r);
	if (!piece)
		return r;
	memcpy(arena_at(to->peer, at), src, q->bytes);
	q->src = c.push_at = at;
	c.push_bytes = q->bytes;
	r = call_sync(&c, 0);
	staging_sent(to->peer, piece, c.seq);
	return r;
}

static CUresult piece_out(const struct route *to, struct q_run *q, void *dst)
{
	struct call c = { .op = OP_run, .fixed = q, .bytes = sizeof(*q), .to = *to };
	CUresult r;

	q->dst = arena_get(to->peer, q->bytes);
	if (q->dst == KVGPU_REMOTE_NOWHERE)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = call_sync(&c, 0);
	if (!r)
		memcpy(dst, arena_at(to->peer, q->dst), q->bytes);
	arena_put(to->peer, q->dst);
	return r;
}

/* as NVIDIA's: what is not the array's first row can't be reached */
static CUresult check_run(const struct route *to, CUarray array, uint64_t offset, uint64_t bytes)
{
	return array_holds(to, array, (const uint64_t[]){ offset, 0, 0 },
			   (const uint64_t[]){ bytes, 1, 1 });
}

static CUresult htoa(CUarray dst, size_t offset, const void *src, size_t bytes, bool waits,
		     CUstream stream)
{
	struct route to = { 0 };
	struct q_run q = { .what = RUN_IN_TO_ARRAY };
	bool captured = false;
	size_t done;
	CUresult r = dst ? begin_run(&to, &q, dst, NULL, stream) : CUDA_ERROR_INVALID_HANDLE;

	if (!r)
		r = src ? host_copy_begins(stream, waits, src, &captured) :
			  CUDA_ERROR_INVALID_VALUE;
	if (!r && captured)
		return bytes ? array_capture(&to, q.stream, dst, offset, (void *)(uintptr_t)src,
					     bytes, true) :
			       CUDA_SUCCESS;
	if (!r && bytes)
		r = check_run(&to, dst, offset, bytes);
	for (done = 0; done < bytes && !r; done += q.bytes) {
		q.dst_offset = offset + done;
		q.bytes = piece_least(bytes - done);
		r = piece_in(&to, &q, (const uint8_t *)src + done);
	}
	return r;
}

static CUresult atoh(void *dst, CUarray src, size_t offset, size_t bytes, bool waits,
		     CUstream stream)
{
	struct route to = { 0 };
	struct q_run q = { .what = RUN_ARRAY_TO_OUT };
	bool captured = false;
	size_t done;
	CUresult r = src ? begin_run(&to, &q, NULL, src, stream) : CUDA_ERROR_INVALID_HANDLE;

	if (!r)
		r = dst ? host_copy_begins(stream, waits, NULL, &captured) :
			  CUDA_ERROR_INVALID_VALUE;
	if (!r && captured)
		return bytes ? array_capture(&to, q.stream, src, offset, dst, bytes, false) :
			       CUDA_SUCCESS;
	if (!r && bytes)
		r = check_run(&to, src, offset, bytes);
	for (done = 0; done < bytes && !r; done += q.bytes) {
		q.src_offset = offset + done;
		q.bytes = piece_least(bytes - done);
		r = piece_out(&to, &q, (uint8_t *)dst + done);
	}
	return r;
}

CUresult cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void *src, size_t bytes)
{
	return htoa(dst, offset, src, bytes, true, NULL);
}

CUresult cuMemcpyHtoA_v2_ptds(CUarray dst, size_t offset, const void *src, size_t bytes)
{
	return htoa(dst, offset, src, bytes, true, CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void *src, size_t bytes,
			      CUstream stream)
{
	return htoa(dst, offset, src, bytes, false, stream);
}

CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dst, size_t offset, const void *src, size_t bytes,
				   CUstream stream)
{
	return htoa(dst, offset, src, bytes, false, OWN(stream));
}

CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t offset, size_t bytes)
{
	return atoh(dst, src, offset, bytes, true, NULL);
}

CUresult cuMemcpyAtoH_v2_ptds(void *dst, CUarray src, size_t offset, size_t bytes)
{
	return atoh(dst, src, offset, bytes, true, CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t offset, size_t bytes, CUstream stream)
{
	return atoh(dst, src, offset, bytes, false, stream);
}

CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dst, CUarray src, size_t offset, size_t bytes,
				   CUstream stream)
{
	return atoh(dst, src, offset, bytes, false, OWN(stream));
}

/*
 * There is no such copy in the thread's own stream: wait for that stream, then copy in the null
 * stream.
 */
CUresult cuMemcpyDtoA_v2_ptds(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes)
{
	CUresult r = cuStreamSynchronize(CU_STREAM_PER_THREAD);

	return r ? r : cuMemcpyDtoA_v2(dst, offset, src, bytes);
}

CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes)
{
	CUresult r = cuStreamSynchronize(CU_STREAM_PER_THREAD);

	return r ? r : cuMemcpyAtoD_v2(dst, src, offset, bytes);
}

CUresult cuMemcpyAtoA_v2_ptds(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
			      size_t bytes)
{
	CUresult r = cuStreamSynchronize(CU_STREAM_PER_THREAD);

	return r ? r : cuMemcpyAtoA_v2(dst, dst_offset, src, src_offset, bytes);
}
