// SPDX-License-Identifier: MIT
/*
 * Managed memory, which the client has at the same address. Before work that may read pages, the
 * client sends those that it wrote; later it asks for the pages that it wants. These copies are
 * done at once, in a stream of the server's own beside all others. Mapped memory is a part of the
 * arena, which the GPU sees.
 */
#include "server.h"

enum { ATTRIBUTE_BYTES_MAX = 4096 };

CUresult frame_managed(struct server *s, const struct q_managed *q, struct kvgpu_remote_cursor *in,
		       struct kvgpu_remote_reply *out)
{
	struct a_managed *a = kvgpu_remote_put(out, sizeof(*a));
	CUdeviceptr ptr = 0;
	CUresult r;

	if (!a || !quota_take(s, q->bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuMemAllocManaged, &ptr, q->bytes, q->flags);
	if (r) {
		quota_give(s, q->bytes);
		return r;
	}
	if (!quota_charge(s, ptr, q->bytes)) {
		CALL(s, cuMemFree_v2, ptr);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	a->ptr = ptr;
	return CUDA_SUCCESS;
}

/* if the library does not know the allocation's range, the range is the variable alone */
void managed_range(struct server *s, CUdeviceptr ptr, uint64_t size, uint64_t *begin,
		   uint64_t *bytes)
{
	uint64_t is = 0, at = 0, n = 0; /* 64 bits wide, as a later library may write that much */

	*begin = *bytes = 0;
	if (CALL(s, cuPointerGetAttribute, &is, CU_POINTER_ATTRIBUTE_IS_MANAGED, ptr) ||
	    !(is & 0xff))
		return;
	*begin = ptr;
	*bytes = size;
	if (CALL(s, cuPointerGetAttribute, &at, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, ptr) ||
	    CALL(s, cuPointerGetAttribute, &n, CU_POINTER_ATTRIBUTE_RANGE_SIZE, ptr))
		return;
	*begin = at;
	*bytes = n;
}

/* ------------------------------------------------------------------ pages */

static CUresult copy_at_once(struct server *s, CUdeviceptr device, uint64_t at, uint64_t bytes,
			     bool in)
{
	CUstreamCaptureMode mode = capture_relax(s);
	uint64_t since_ns = sched_beside(s);
	CUstream stream;
	CUresult r = own_stream(s, &stream);

	if (!r)
		r = in ? CALL(s, cuMemcpyHtoDAsync_v2, device, s->arena + at, bytes, stream) :
			 CALL(s, cuMemcpyDtoHAsync_v2, s->arena + at, device, bytes, stream);
	if (!r)
		r = CALL(s, cuStreamSynchronize, stream);
	sched_beside_ends(s, since_ns);
	capture_restore(s, mode);
	return r;
}

CUresult frame_managed_in(struct server *s, const struct q_managed_in *q,
			  struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	if (!kvgpu_remote_in_arena(q->at, q->bytes, s->arena_bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_at_once(s, q->dst, q->at, q->bytes, true);
}

CUresult frame_managed_out(struct server *s, const struct q_managed_out *q,
			   struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	CUresult r;

	if (!kvgpu_remote_in_arena(q->at, q->bytes, s->arena_bytes))
		return CUDA_ERROR_INVALID_VALUE;
	r = copy_at_once(s, q->src, q->at, q->bytes, false);
	if (!r && kvgpu_remote_return(s->port, q->at, q->bytes))
		r = CUDA_ERROR_UNKNOWN;
	return r;
}

CUresult frame_mapped_in(struct server *s, const struct q_mapped_in *q,
			 struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	const uint32_t *pair = NULL;
	uint64_t i;

	if (q->words <= KVGPU_REMOTE_PAYLOAD_MAX / 8)
		pair = kvgpu_remote_take_bytes(in, q->words * 2 * sizeof(*pair));
	if (!pair || in->left || q->at % 4)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < q->words; i++, pair += 2) {
		uint64_t at;

		if (__builtin_add_overflow(q->at, pair[0], &at) || at % 4 ||
		    !kvgpu_remote_in_arena(at, 4, s->arena_bytes))
			return CUDA_ERROR_INVALID_VALUE;
		__atomic_store_n((uint32_t *)(s->arena + at), pair[1], __ATOMIC_RELEASE);
	}
	return CUDA_SUCCESS;
}

/* the client has the bytes before the answer; what it wrote came as pieces, without a frame */
CUresult frame_mapped_out(struct server *s, const struct q_mapped_out *q,
			  struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	if (kvgpu_remote_port_is_shared(s->port) ||
	    !kvgpu_remote_in_arena(q->at, q->bytes, s->arena_bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return kvgpu_remote_return(s->port, q->at, q->bytes) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ advice */

CUresult frame_range_attribute(struct server *s, const struct q_range_attribute *q,
			       struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	void *data = q->size <= ATTRIBUTE_BYTES_MAX ? frame_scratch(s, q->size + 8, 1) : NULL;
	CUresult r;

	if (!data)
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuMemRangeGetAttribute, data, q->size, q->attribute, q->ptr, q->bytes);
	if (r)
		return r;
	return kvgpu_remote_put_bytes(out, data, q->size) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
