// SPDX-License-Identifier: MIT
/*
 * Copies. An end in host memory is a piece of the arena, or bytes of the frame or the answer. A
 * frame whose copy to host memory would make the library wait may be put aside until the stream has
 * done its work.
 */
#include <stdlib.h>

#include "server.h"

/*
 * Where the library is to read @bytes at @at of the arena. While an arena that is not shared is
 * registered, the GPU could read it later, when other bytes may be there: then the library gets a
 * copy, *copy, to be freed after the call. NULL: out of memory.
 */
static void *source_bytes(struct server *s, uint64_t at, uint64_t bytes, void **copy)
{
	if (!s->pinned.graphs_in && !s->pinned.ring_in)
		return s->arena + at;
	*copy = malloc(bytes + 1);
	return *copy ? memcpy(*copy, s->arena + at, bytes) : NULL;
}

/* Give the client bytes of the arena. @stays: don't, as a relay takes them from the arena. */
static CUresult bring_bytes(struct server *s, uint64_t at, uint64_t bytes, bool stays)
{
	if (stays || !kvgpu_remote_return(s->port, at, bytes))
		return CUDA_SUCCESS;
	return CUDA_ERROR_UNKNOWN;
}

/* ------------------------------------------------------------------ one line */

CUresult frame_copy_in(struct server *s, const struct q_copy_in *q, struct kvgpu_remote_cursor *in,
		       struct kvgpu_remote_reply *out)
{
	const void *from = NULL;
	void *copy = NULL;
	CUstream stream;
	CUresult r;
	bool late;

	if (q->at == KVGPU_REMOTE_NOWHERE)
		from = kvgpu_remote_take_bytes(in, q->bytes);
	else if (kvgpu_remote_in_arena(q->at, q->bytes, s->arena_bytes))
		from = s->arena + q->at;
	if (!from || in->left)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream_find(s, q->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	/* a graph would copy from the arena or the frame whenever it is launched */
	r = may_copy(s, stream);
	if (r)
		return r;
	late = q->flags & COPY_LATE && ring_holds(s, q->at, q->bytes);
	if (q->at != KVGPU_REMOTE_NOWHERE && !late) {
		/* registering the arena takes longer than thousands of small copies */
		if (q->bytes > KVGPU_REMOTE_INLINE_IN_MAX)
			arena_pinned(s);
		from = source_bytes(s, q->at, q->bytes, &copy);
		if (!from)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	r = CALL(s, cuMemcpyHtoDAsync_v2, q->dst, from, q->bytes, stream);
	free(copy);
	if (!r && q->at != KVGPU_REMOTE_NOWHERE)
		r = late ? copy_late(s, stream) : copy_begun(s, stream);
	return !r && q->flags & COPY_WHOLE ? own_cuStreamSynchronize(s, stream) : r;
}

static CUresult pinned_out(struct server *s, const struct q_copy_out *q, CUstream stream)
{
	CUresult r = CALL(s, cuMemcpyDtoHAsync_v2, s->arena + q->at, q->src, q->bytes, stream);

	if (r)
		return r;
	/* COPY_WHOLE: the answer is sent after the copy, so copy_begun() need not note the copy */
	return q->flags & COPY_WHOLE ? own_cuStreamSynchronize(s, stream) : copy_begun(s, stream);
}

/* the GPU copies; meanwhile other frames are served */
static CUresult ring_out(struct server *s, const struct q_copy_out *q, CUstream stream)
{
	CUresult r = CALL(s, cuMemcpyDtoHAsync_v2, s->arena + q->at, q->src, q->bytes, stream);

	if (r || give_behind(s, stream, q->at, q->bytes))
		return r;
	r = wait_for_stream(s, stream);
	return r ? r : bring_bytes(s, q->at, q->bytes, false);
}

/* Copy a few bytes by way of pinned memory of the server's own. False: nothing was begun. */
static bool readback_out(struct server *s, const struct q_copy_out *q, CUstream stream, void *to,
			 CUresult *r)
{
	void *bytes = q->flags & COPY_WHOLE ? readback_take(s) : NULL;
	uint32_t mark;

	if (!bytes)
		return false;
	/* of a source between words the GPU may write a word in two parts */
	mark = q->src % 4 ? 0 : readback_mark(s, bytes, q->bytes);
	*r = CALL(s, cuMemcpyDtoHAsync_v2, bytes, q->src, q->bytes, stream);
	if (!*r && answer_behind(s, stream, bytes, q->bytes, mark))
		return true;
	if (!*r)
		*r = wait_for_stream(s, stream);
	if (!*r)
		memcpy(to, bytes, q->bytes);
	readback_put(s, bytes);
	return true;
}

CUresult frame_copy_out(struct server *s, const struct q_copy_out *q,
			struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	bool small = q->at == KVGPU_REMOTE_NOWHERE && q->bytes <= KVGPU_REMOTE_INLINE_MAX;
	void *to = small ? kvgpu_remote_put(out, q->bytes) : NULL;
	CUstream stream;
	CUresult r;

	if (!small && kvgpu_remote_in_arena(q->at, q->bytes, s->arena_bytes))
		to = s->arena + q->at;
	if (!to || in->left)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream_find(s, q->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	r = may_copy(s, stream);
	if (r)
		return r;
	if (!small && arena_pinned(s))
		return pinned_out(s, q, stream);
	if (!small && q->flags == COPY_WHOLE && ring_holds(s, q->at, q->bytes))
		return ring_out(s, q, stream);
	if (small && readback_out(s, q, stream, to, &r))
		return r;
	/* without COPY_WHOLE the frame is not put aside: later frames must not pass it */
	if (q->flags & COPY_WHOLE && held_by_stream(s, stream))
		return CUDA_SUCCESS;
	r = CALL(s, cuMemcpyDtoHAsync_v2, to, q->src, q->bytes, stream);
	if (!r)
		r = wait_for_stream(s, stream);
	return r || small ? r : bring_bytes(s, q->at, q->bytes, q->flags & COPY_STAYS);
}

static bool is_mapped(const struct server *s, CUdeviceptr at)
{
	return at - (uintptr_t)s->arena < s->arena_bytes ||
	       (s->pinned.in && at - s->pinned.device < s->arena_bytes);
}

/*
 * From host memory to host memory a library may copy by itself, and wait in its call for what the
 * stream has to do before. A function of the client's may be among that, which this process is to
 * hear of: so such a frame is put aside meanwhile. Its client asks it, and sends nothing that could
 * pass it.
 */
static bool host_copy_waits(struct server *s, CUdeviceptr dst, CUdeviceptr src, CUstream stream)
{
	return is_mapped(s, dst) && is_mapped(s, src) && !may_copy(s, stream) &&
	       held_by_stream(s, stream);
}

CUresult own_cuMemcpyDtoD_v2(struct server *s, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	if (host_copy_waits(s, dst, src, NULL))
		return CUDA_SUCCESS;
	return CALL(s, cuMemcpyDtoD_v2, dst, src, bytes);
}

CUresult own_cuMemcpyDtoDAsync_v2(struct server *s, CUdeviceptr dst, CUdeviceptr src, size_t bytes,
				  CUstream stream)
{
	if (host_copy_waits(s, dst, src, stream))
		return CUDA_SUCCESS;
	return CALL(s, cuMemcpyDtoDAsync_v2, dst, src, bytes, stream);
}

static CUresult copy_run(struct server *s, const struct q_run *q, CUstream stream, void *dst,
			 void *src)
{
	switch (q->what) {
	case RUN_DEVICE_TO_ARRAY:
		return CALL(s, cuMemcpyDtoA_v2, dst, q->dst_offset, q->src, q->bytes);
	case RUN_ARRAY_TO_DEVICE:
		return CALL(s, cuMemcpyAtoD_v2, q->dst, src, q->src_offset, q->bytes);
	case RUN_ARRAY_TO_ARRAY:
		return CALL(s, cuMemcpyAtoA_v2, dst, q->dst_offset, src, q->src_offset, q->bytes);
	case RUN_IN_TO_ARRAY:
		return CALL(s, cuMemcpyHtoAAsync_v2, dst, q->dst_offset, src, q->bytes, stream);
	case RUN_ARRAY_TO_OUT:
	default:
		return CALL(s, cuMemcpyAtoHAsync_v2, s->arena + q->dst, src, q->src_offset,
			    q->bytes, stream);
	}
}

CUresult frame_run(struct server *s, const struct q_run *q, struct kvgpu_remote_cursor *in,
		   struct kvgpu_remote_reply *out)
{
	bool to_host = q->what == RUN_ARRAY_TO_OUT, from_host = q->what == RUN_IN_TO_ARRAY;
	void *dst = NULL, *src = NULL, *copy = NULL;
	CUstream stream;
	CUresult r;

	if (q->what > RUN_ARRAY_TO_ARRAY ||
	    ((to_host || from_host) &&
	     !kvgpu_remote_in_arena(to_host ? q->dst : q->src, q->bytes, s->arena_bytes)))
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream_find(s, q->stream, &stream) ||
	    (q->what != RUN_ARRAY_TO_DEVICE && !to_host &&
	     !handle_find(s, CLASS_ARRAY, q->dst, &dst)) ||
	    (q->what != RUN_DEVICE_TO_ARRAY && !from_host &&
	     !handle_find(s, CLASS_ARRAY, q->src, &src)))
		return CUDA_ERROR_INVALID_HANDLE;
	r = to_host || from_host ? may_copy(s, stream) : CUDA_SUCCESS;
	if (r)
		return r;
	if (to_host && held_by_stream(s, stream))
		return CUDA_SUCCESS;
	if (from_host) {
		src = source_bytes(s, q->src, q->bytes, &copy);
		if (!src)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	r = copy_run(s, q, stream, dst, src);
	free(copy);
	if (!r && from_host)
		r = copy_begun(s, stream);
	if (!r && to_host)
		r = wait_for_stream(s, stream);
	if (!r && to_host && kvgpu_remote_return(s->port, q->dst, q->bytes))
		r = CUDA_ERROR_UNKNOWN;
	return r;
}

CUresult frame_peer(struct server *s, const struct q_peer *q, struct kvgpu_remote_cursor *in,
		    struct kvgpu_remote_reply *out)
{
	void *to, *from;
	CUstream stream;

	if (!handle_find(s, CLASS_CONTEXT, q->dst_ctx, &to) ||
	    !handle_find(s, CLASS_CONTEXT, q->src_ctx, &from))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!stream_find(s, q->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	if (q->async)
		return CALL(s, cuMemcpyPeerAsync, q->dst, to, q->src, from, q->bytes, stream);
	return CALL(s, cuMemcpyPeer, q->dst, to, q->src, from, q->bytes);
}

/* ------------------------------------------------------------------ lines and slices */

/*
 * Bytes from the first to the last of an end in host memory. False: the words of the end are wrong,
 * or a size is 0: a copy in two dimensions has no depth, and would copy its lines all the same. A
 * client sends no box without bytes.
 */
static bool host_bytes(const uint64_t *end, const uint64_t *size, uint64_t *bytes)
{
	uint64_t lines, slices;

	if (end[END_X] || end[END_Y] || end[END_Z] || end[END_LOD] || end[END_PITCH] < size[0] ||
	    end[END_HEIGHT] < size[1] || !size[0] || !size[1] || !size[2])
		return false;
	return !__builtin_mul_overflow(end[END_HEIGHT], size[2] - 1, &slices) &&
	       !__builtin_add_overflow(slices, size[1] - 1, &lines) &&
	       !__builtin_mul_overflow(lines, end[END_PITCH], bytes) &&
	       !__builtin_add_overflow(*bytes, size[0], bytes);
}

CUresult side_open(struct server *s, const uint64_t *end, const uint64_t *size, struct side *side)
{
	void *what = NULL;

	*side = (struct side){ .type = end[END_TYPE] };
	if (end[END_CONTEXT] &&
	    !handle_find(s, CLASS_CONTEXT, end[END_CONTEXT], (void **)&side->ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	switch (end[END_TYPE]) {
	case CU_MEMORYTYPE_HOST:
		if (!host_bytes(end, size, &side->bytes) ||
		    !kvgpu_remote_in_arena(end[END_WHERE], side->bytes, s->arena_bytes))
			return CUDA_ERROR_INVALID_VALUE;
		side->host = s->arena + end[END_WHERE];
		return CUDA_SUCCESS;
	case CU_MEMORYTYPE_DEVICE:
		side->device = end[END_WHERE];
		return CUDA_SUCCESS;
	case CU_MEMORYTYPE_ARRAY:
		if (!handle_find(s, CLASS_ARRAY, end[END_WHERE], &what))
			return CUDA_ERROR_INVALID_HANDLE;
		side->array = what;
		return CUDA_SUCCESS;
	/* refused: the library might take the address for host memory of this process */
	case CU_MEMORYTYPE_UNIFIED:
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUDA_MEMCPY3D_PEER box_from_words(const uint64_t *from, const uint64_t *to, const uint64_t *size,
				  const struct side *src, const struct side *dst)
{
	return (CUDA_MEMCPY3D_PEER){
		.srcXInBytes = from[END_X],
		.srcY = from[END_Y],
		.srcZ = from[END_Z],
		.srcLOD = from[END_LOD],
		.srcMemoryType = src->type,
		.srcHost = src->host,
		.srcDevice = src->device,
		.srcArray = src->array,
		.srcContext = src->ctx,
		.srcPitch = from[END_PITCH],
		.srcHeight = from[END_HEIGHT],
		.dstXInBytes = to[END_X],
		.dstY = to[END_Y],
		.dstZ = to[END_Z],
		.dstLOD = to[END_LOD],
		.dstMemoryType = dst->type,
		.dstHost = dst->host,
		.dstDevice = dst->device,
		.dstArray = dst->array,
		.dstContext = dst->ctx,
		.dstPitch = to[END_PITCH],
		.dstHeight = to[END_HEIGHT],
		.WidthInBytes = size[0],
		.Height = size[1],
		.Depth = size[2],
	};
}

static CUresult copy_2d(struct server *s, const CUDA_MEMCPY3D_PEER *b, uint32_t form,
			CUstream stream)
{
	const CUDA_MEMCPY2D c = {
		.srcXInBytes = b->srcXInBytes,
		.srcY = b->srcY,
		.srcMemoryType = b->srcMemoryType,
		.srcHost = b->srcHost,
		.srcDevice = b->srcDevice,
		.srcArray = b->srcArray,
		.srcPitch = b->srcPitch,
		.dstXInBytes = b->dstXInBytes,
		.dstY = b->dstY,
		.dstMemoryType = b->dstMemoryType,
		.dstHost = b->dstHost,
		.dstDevice = b->dstDevice,
		.dstArray = b->dstArray,
		.dstPitch = b->dstPitch,
		.WidthInBytes = b->WidthInBytes,
		.Height = b->Height,
	};

	if (form & FORM_ASYNC)
		return CALL(s, cuMemcpy2DAsync_v2, &c, stream);
	return form == FORM_2D ? CALL(s, cuMemcpy2D_v2, &c) : CALL(s, cuMemcpy2DUnaligned_v2, &c);
}

CUDA_MEMCPY3D box_without_contexts(const CUDA_MEMCPY3D_PEER *b)
{
	CUDA_MEMCPY3D c;

	static_assert(sizeof(c) == sizeof(*b), "one layout");
	memcpy(&c, b, sizeof(c));
	c.reserved0 = c.reserved1 = NULL;
	return c;
}

static CUresult copy_box(struct server *s, const CUDA_MEMCPY3D_PEER *b, uint32_t form,
			 CUstream stream)
{
	CUDA_MEMCPY3D c = box_without_contexts(b);

	switch (form & ~(uint32_t)FORM_ASYNC) {
	case FORM_2D:
	case FORM_2D_UNALIGNED:
		return copy_2d(s, b, form, stream);
	case FORM_3D:
		return form & FORM_ASYNC ? CALL(s, cuMemcpy3DAsync_v2, &c, stream) :
					   CALL(s, cuMemcpy3D_v2, &c);
	case FORM_3D_PEER:
		return form & FORM_ASYNC ? CALL(s, cuMemcpy3DPeerAsync, b, stream) :
					   CALL(s, cuMemcpy3DPeer, b);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult frame_box(struct server *s, const struct q_box *q, struct kvgpu_remote_cursor *in,
		   struct kvgpu_remote_reply *out)
{
	CUDA_MEMCPY3D_PEER b;
	struct side src, dst;
	void *copy = NULL;
	CUstream stream;
	CUresult r;

	if (!stream_find(s, q->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	r = side_open(s, q->src, q->size, &src);
	if (!r)
		r = side_open(s, q->dst, q->size, &dst);
	if (r)
		return r;
	r = src.host || dst.host ? may_copy(s, stream) : CUDA_SUCCESS;
	if (r)
		return r;
	if (dst.host && held_by_stream(s, stream))
		return CUDA_SUCCESS;
	if (src.host) {
		src.host = source_bytes(s, q->src[END_WHERE], src.bytes, &copy);
		if (!src.host)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	b = box_from_words(q->src, q->dst, q->size, &src, &dst);
	r = copy_box(s, &b, q->form & ~(uint32_t)FORM_STAYS, stream);
	free(copy);
	if (!r && src.host)
		r = copy_begun(s, stream);
	if (!r && dst.host)
		r = wait_for_stream(s, stream);
	return r || !dst.host ? r :
				bring_bytes(s, q->dst[END_WHERE], dst.bytes, q->form & FORM_STAYS);
}
