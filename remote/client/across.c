// SPDX-License-Identifier: MIT
/*
 * Copies of one line between the memory of two servers, or between the memory of one server and
 * host memory in a stream of another one. Where they can't go straight (straight.c) the bytes pass
 * through the client.
 */
#include "straight.h"

static CUresult route_to(CUdeviceptr at, struct route *to)
{
	const struct object *ctx = range_context(at);

	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	*to = (struct route){ .peer = object_peer(ctx), .ctx = ctx };
	return CUDA_SUCCESS;
}

static CUresult send_staged(const struct route *to, struct q_copy_in *q, bool fine)
{
	struct call c = { .op = OP_copy_in,
			  .fixed = q,
			  .bytes = sizeof(*q),
			  .to = *to,
			  .apart = !managed_has(q->dst),
			  .push_at = q->at,
			  .push_bytes = q->bytes };
	CUresult r = fine ? call_queue(&c) : call_ask(&c, 0);

	q->at = c.seq;
	return r;
}

static CUresult carry_piece(const struct route *to, struct q_copy_in *in, const struct route *from,
			    struct q_copy_out *out, bool fine)
{
	uint8_t small[KVGPU_REMOTE_INLINE_IN_MAX];
	struct staged *piece;
	CUresult r;

	if (out->bytes <= sizeof(small)) {
		r = piece_fetch(from, out, small);
		return r ? r : piece_send(to, in, small, fine);
	}
	piece = staging_get(to->peer, in->bytes, &in->at, &r);
	if (!piece)
		return r;
	r = piece_fetch(from, out, arena_at(to->peer, in->at));
	if (!r)
		r = send_staged(to, in, fine);
	else
		in->at = 0;
	staging_sent(to->peer, piece, in->at);
	return r;
}

/* waits for the last piece, so that all bytes are at @dst on return */
static CUresult carry(const struct route *to, uint64_t in_stream, CUdeviceptr dst,
		      const struct route *from, uint64_t out_stream, CUdeviceptr src,
		      uint64_t bytes)
{
	bool known = range_holds(dst, bytes);
	struct q_copy_out out = { .stream = out_stream };
	struct q_copy_in in = { .stream = in_stream };
	uint64_t done;
	CUresult r = CUDA_SUCCESS;

	if (straight_carry(to, in_stream, dst, from, out_stream, src, bytes, &r))
		return r;
	r = CUDA_SUCCESS;
	for (done = 0; done < bytes && !r; done += in.bytes) {
		in.bytes = piece_least(bytes - done);
		in.dst = dst + done;
		in.flags = done + in.bytes == bytes ? COPY_WHOLE : 0;
		out.src = src + done;
		out.bytes = in.bytes;
		r = carry_piece(to, &in, from, &out, known && !in.flags);
	}
	return r;
}

CUresult across_carry(CUdeviceptr dst, CUdeviceptr src, uint64_t bytes)
{
	struct route to, from;
	uint64_t to_context, from_context, in = 0, out = 0;
	CUresult r = route_to(dst, &to);

	if (!r)
		r = route_to(src, &from);
	if (r)
		return r;
	to_context = to.ctx->id;
	from_context = from.ctx->id;
	r = helper_take(&to, to.ctx, &in);
	if (!r)
		r = helper_take(&from, from.ctx, &out);
	if (!r)
		r = carry(&to, in, dst, &from, out, src, bytes);
	helper_put(to.ctx, to_context, in);
	helper_put(from.ctx, from_context, out);
	return r;
}

/*
 * A copy that waits is made in the null streams of both contexts, so that their order holds, too. A
 * copy between two servers that does not wait is a gate's. A copy from host memory is over on
 * return: a stream that does not wait for the null stream may be the next to read the bytes.
 */
CUresult across_line(CUdeviceptr dst, enum side_of to, CUdeviceptr src, enum side_of from,
		     size_t bytes, bool waits, CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	struct route there = { 0 }, other = { 0 };
	struct q_copy_out out = { .src = src, .bytes = bytes };
	struct q_copy_in in = { .dst = dst, .bytes = bytes, .flags = COPY_WHOLE };
	CUresult r = captures_any() ? cuStreamIsCapturing(stream, &status) : CUDA_SUCCESS;

	if (r || status != CU_STREAM_CAPTURE_STATUS_NONE)
		return r ? r : CUDA_ERROR_NOT_SUPPORTED;
	if (to == SIDE_DEVICE)
		r = route_to(dst, &there);
	if (!r && from == SIDE_DEVICE)
		r = route_to(src, to == SIDE_DEVICE ? &other : &there);
	if (r)
		return r;
	if (to == SIDE_DEVICE && from == SIDE_DEVICE && !waits)
		return gate_copy(stream, dst, src, bytes);
	r = cuStreamSynchronize(stream);
	if (r)
		return r;
	if (to != SIDE_DEVICE)
		return line_out(&there, &out, (void *)(uintptr_t)dst, true, false);
	if (from != SIDE_DEVICE)
		return line_in(&there, &in, (const void *)(uintptr_t)src, true, false);
	return carry(&there, 0, dst, &other, 0, src, bytes);
}
