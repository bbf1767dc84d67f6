// SPDX-License-Identifier: MIT
/*
 * Contiguous bytes from the memory of one server to that of another. Where the bytes can't go
 * directly (peer_direct.c) they pass through the client.
 */
#include "peer_direct.h"

CUresult peer_copy_route(CUdeviceptr at, struct route *to)
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
	CUresult r = fine ? call_async(&c) : call_sync(&c, 0);

	q->at = c.seq;
	return r;
}

static CUresult via_host_piece(const struct route *to, struct q_copy_in *in,
			       const struct route *from, struct q_copy_out *out, bool fine)
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

CUresult peer_copy_in_streams(const struct route *to, uint64_t in_stream, CUdeviceptr dst,
			      const struct route *from, uint64_t out_stream, CUdeviceptr src,
			      uint64_t bytes)
{
	bool known = range_holds(dst, bytes);
	struct q_copy_out out = { .stream = out_stream };
	struct q_copy_in in = { .stream = in_stream };
	uint64_t done;
	CUresult r = CUDA_SUCCESS;

	if (peer_direct_copy(to, in_stream, dst, from, out_stream, src, bytes, &r))
		return r;
	r = CUDA_SUCCESS;
	for (done = 0; done < bytes && !r; done += in.bytes) {
		in.bytes = piece_least(bytes - done);
		in.dst = dst + done;
		in.flags = done + in.bytes == bytes ? COPY_WHOLE : 0;
		out.src = src + done;
		out.bytes = in.bytes;
		r = via_host_piece(to, &in, from, &out, known && !in.flags);
	}
	return r;
}

CUresult peer_copy_alone(CUdeviceptr dst, CUdeviceptr src, uint64_t bytes)
{
	struct route to, from;
	uint64_t to_context, from_context, in = 0, out = 0;
	CUresult r = peer_copy_route(dst, &to);

	if (!r)
		r = peer_copy_route(src, &from);
	if (r)
		return r;
	to_context = to.ctx->id;
	from_context = from.ctx->id;
	r = helper_take(&to, to.ctx, &in);
	if (!r)
		r = helper_take(&from, from.ctx, &out);
	if (!r)
		r = peer_copy_in_streams(&to, in, dst, &from, out, src, bytes);
	helper_put(to.ctx, to_context, in);
	helper_put(from.ctx, from_context, out);
	return r;
}
