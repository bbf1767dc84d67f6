// SPDX-License-Identifier: MIT
/*
 * The program's 2-D and 3-D copies, of boxes. What goes by way of the arena is cut into a smaller
 * box for each piece.
 */
#include <stdlib.h>

#include "peer_direct.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

static CUresult send_part(const struct route *to, const struct box *b, const struct part *p,
			  uint64_t stream)
{
	uint64_t bytes = p->size[0] * p->size[1] * p->size[2], in = 0, out = KVGPU_REMOTE_NOWHERE;
	struct q_box q = { .stream = stream, .form = b->form };
	struct call c = { .op = OP_box, .fixed = &q, .bytes = sizeof(q), .to = *to };
	struct peer *peer = to->peer;
	struct staged *piece = NULL;
	CUresult r = CUDA_SUCCESS;

	if (b->dst.type == CU_MEMORYTYPE_HOST) {
		out = arena_get(peer, bytes);
		if (out == KVGPU_REMOTE_NOWHERE)
			return CUDA_ERROR_OUT_OF_MEMORY;
	} else if (b->src.type == CU_MEMORYTYPE_HOST) {
		piece = staging_get(peer, bytes, &in, &r);
		if (!piece)
			return r;
		box_pack(&b->src, p, arena_at(peer, in));
		c.push_at = in;
		c.push_bytes = bytes;
	}
	memcpy(q.size, p->size, sizeof(q.size));
	box_words(&b->src, p, in, q.src);
	box_words(&b->dst, p, out, q.dst);
	r = call_sync(&c, 0);
	if (piece)
		staging_sent(peer, piece, c.seq);
	if (!r && out != KVGPU_REMOTE_NOWHERE)
		box_unpack(&b->dst, p, arena_at(peer, out));
	if (out != KVGPU_REMOTE_NOWHERE)
		arena_put(peer, out);
	return r;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How a part gets from one server to another: by way of the client's memory or of two arenas. */
struct way {
	uint8_t *room; /* NULL: direct */
	uint64_t from, to;
};

static void arena_words(const struct part *p, uint64_t at, uint64_t context, uint64_t *w)
{
	const struct end there = { .type = CU_MEMORYTYPE_HOST };

	box_words(&there, p, at, w);
	w[END_CONTEXT] = context;
}

/* copy part @p into the arena of its server, from where the other server's relay gets it */
static CUresult peer_direct_part(const struct box *b, const struct part *p, const struct way *by)
{
	const struct kvgpu_remote_source source = peer_direct_source(b->src.at.peer, by->from);
	struct q_box out = { .form = (b->form & ~(uint32_t)FORM_ASYNC) | FORM_STAYS };
	struct q_box in = { .form = b->form & ~(uint32_t)FORM_ASYNC };
	struct call leaves = { .op = OP_box, .fixed = &out, .bytes = sizeof(out), .to = b->src.at };
	struct call write = { .op = OP_box,
			      .fixed = &in,
			      .bytes = sizeof(in),
			      .to = b->dst.at,
			      .push_at = by->to,
			      .push_bytes = p->size[0] * p->size[1] * p->size[2],
			      .fetch = &source };
	CUresult r;

	memcpy(out.size, p->size, sizeof(out.size));
	memcpy(in.size, p->size, sizeof(in.size));
	box_words(&b->src, p, 0, out.src);
	arena_words(p, by->from, b->src.word[END_CONTEXT], out.dst);
	arena_words(p, by->to, b->dst.word[END_CONTEXT], in.src);
	box_words(&b->dst, p, 0, in.dst);
	r = call_sync(&leaves, 0);
	return r ? r : call_sync(&write, 0);
}

static CUresult copy_part_via_host(const struct box *b, const struct part *p, uint8_t *room)
{
	struct end here = { .type = CU_MEMORYTYPE_HOST,
			    .word = { [END_TYPE] = CU_MEMORYTYPE_HOST,
				      [END_PITCH] = p->size[0],
				      [END_HEIGHT] = p->size[1] } };
	struct box out = { b->src, here, { 0 }, b->form & ~FORM_ASYNC },
		   in = { here, b->dst, { 0 }, b->form & ~FORM_ASYNC };
	CUresult r;

	here.host = room - ((p->at[2] * p->size[1] + p->at[1]) * p->size[0] + p->at[0]);
	out.dst.host = in.src.host = here.host;
	out.dst.word[END_CONTEXT] = out.src.word[END_CONTEXT];
	in.src.word[END_CONTEXT] = in.dst.word[END_CONTEXT];
	r = send_part(&out.src.at, &out, p, 0);
	return r ? r : send_part(&in.dst.at, &in, p, 0);
}

/* @by: NULL: one end is the program's memory. */
static CUresult send_part_by(const struct route *to, const struct box *b, const struct part *p,
			     uint64_t stream, const struct way *by)
{
	if (!by)
		return send_part(to, b, p, stream);
	return by->room ? copy_part_via_host(b, p, by->room) : peer_direct_part(b, p, by);
}

static CUresult send_parts(const struct route *to, const struct box *b, uint64_t stream,
			   const struct way *by)
{
	const uint64_t room = KVGPU_REMOTE_PIECE_MAX;
	uint64_t width = least(b->size[0], room), lines = 1, slices = 1;
	struct part p;
	CUresult r = CUDA_SUCCESS;

	if (width == b->size[0])
		lines = least(b->size[1], room / width);
	if (width == b->size[0] && lines == b->size[1])
		slices = least(b->size[2], room / (width * lines));
	for (p.at[2] = 0; p.at[2] < b->size[2] && !r; p.at[2] += slices)
		for (p.at[1] = 0; p.at[1] < b->size[1] && !r; p.at[1] += lines)
			for (p.at[0] = 0; p.at[0] < b->size[0] && !r; p.at[0] += width) {
				p.size[0] = least(width, b->size[0] - p.at[0]);
				p.size[1] = least(lines, b->size[1] - p.at[1]);
				p.size[2] = least(slices, b->size[2] - p.at[2]);
				r = send_part_by(to, b, &p, stream, by);
			}
	return r;
}

/* false: the box can't go directly, and is still to be copied */
static bool send_direct(const struct box *b, CUresult *r)
{
	struct peer *from = b->src.at.peer, *to = b->dst.at.peer;
	struct way by = { .from = arena_get(from, KVGPU_REMOTE_PIECE_MAX),
			  .to = arena_get(to, KVGPU_REMOTE_PIECE_MAX) };

	*r = CUDA_ERROR_OUT_OF_MEMORY;
	if (by.from != KVGPU_REMOTE_NOWHERE && by.to != KVGPU_REMOTE_NOWHERE)
		*r = send_parts(NULL, b, 0, &by);
	if (by.from != KVGPU_REMOTE_NOWHERE)
		arena_put(from, by.from);
	/* after that error MPI may still write there */
	if (by.to != KVGPU_REMOTE_NOWHERE && *r != CUDA_ERROR_SYSTEM_NOT_READY)
		arena_put(to, by.to);
	return !peer_direct_failed(to, from, *r);
}

static CUresult send_by_client(const struct box *b)
{
	const struct way by = { .room = malloc(KVGPU_REMOTE_PIECE_MAX) };
	CUresult r = by.room ? send_parts(NULL, b, 0, &by) : CUDA_ERROR_OUT_OF_MEMORY;

	free(by.room);
	return r;
}

static CUresult copy_parts(const struct box *b)
{
	CUresult r;

	if (b->src.type == CU_MEMORYTYPE_HOST || b->dst.type == CU_MEMORYTYPE_HOST)
		return send_parts(b->src.type == CU_MEMORYTYPE_HOST ? &b->dst.at : &b->src.at, b, 0,
				  NULL);
	if (peer_direct_possible(b->dst.at.peer, b->src.at.peer) && send_direct(b, &r))
		return r;
	return send_by_client(b);
}

/* A library may return from a copy of pageable memory before the GPU has written all of it. */
static CUresult wait_there(const struct route *to)
{
	const struct q_cuStreamSynchronize q = { .stream = 0 };
	struct call c = {
		.op = OP_cuStreamSynchronize,
		.fixed = &q,
		.bytes = sizeof(q),
		.to = *to,
	};

	return call_sync(&c, 0);
}

/*
 * Ends and stream belong to several servers. The copy is over on return, as peer_copy_linear() says
 * of host memory.
 */
static CUresult copy_between(struct box *b, CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult r = captures_any() ? cuStreamIsCapturing(stream, &status) : CUDA_SUCCESS;

	if (r || status != CU_STREAM_CAPTURE_STATUS_NONE)
		return r ? r : capture_refuse_servers();
	r = cuStreamSynchronize(stream);
	if (r)
		return r;
	route_peer(&b->src.at);
	route_peer(&b->dst.at);
	r = box_check(&b->src.at, b);
	if (!r)
		r = copy_parts(b);
	return r || b->dst.type == CU_MEMORYTYPE_HOST ? r : wait_there(&b->dst.at);
}

static CUresult by_cpu(const struct box *b, CUstream stream)
{
	uint64_t y, z;
	CUresult r = cuStreamSynchronize(stream);

	for (z = 0; z < b->size[2] && !r; z++)
		for (y = 0; y < b->size[1]; y++)
			memmove(box_row(&b->dst, 0, y, z), box_row(&b->src, 0, y, z), b->size[0]);
	return r;
}

/* ------------------------------------------------------------------ entry points */

enum when { SYNC, ASYNC };

static CUresult copy_described(const CUDA_MEMCPY3D_PEER *c, uint32_t form, enum when when,
			       CUstream stream)
{
	struct route to = { 0 };
	struct box b = { .form = form };
	const struct part whole = { { 0 }, { c->WidthInBytes, c->Height, c->Depth } };
	bool host, captured;
	uint64_t id;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (!r)
		r = route_stream(&to, stream, &id);
	if (!r)
		r = box_open(&to, &b, c, form == FORM_3D_PEER);
	if (r || !b.size[0] || !b.size[1] || !b.size[2])
		return r;
	if (b.src.at.split || b.dst.at.split)
		return CUDA_ERROR_INVALID_VALUE;
	if (to.split)
		return copy_between(&b, stream);
	host = b.src.type == CU_MEMORYTYPE_HOST || b.dst.type == CU_MEMORYTYPE_HOST;
	if (host) {
		r = host_copy_begins(stream, when == SYNC,
				     b.src.type == CU_MEMORYTYPE_HOST ? b.src.host : NULL,
				     &captured);
		if (r || captured)
			return r ? r : box_capture(&to, &b, id);
	}
	if (b.src.type == CU_MEMORYTYPE_HOST && b.dst.type == CU_MEMORYTYPE_HOST)
		return by_cpu(&b, stream);
	if ((when == ASYNC || stream) && form != FORM_2D_UNALIGNED)
		b.form |= FORM_ASYNC;
	route_peer(&to);
	if (!host)
		return send_part(&to, &b, &whole, id);
	r = box_check(&to, &b);
	return r ? r : send_parts(&to, &b, id, NULL);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, uint32_t form, enum when when, CUstream stream)
{
	CUDA_MEMCPY3D_PEER p;

	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	p = (CUDA_MEMCPY3D_PEER){
		.srcXInBytes = c->srcXInBytes,
		.srcY = c->srcY,
		.srcMemoryType = c->srcMemoryType,
		.srcPitch = c->srcPitch,
		.srcHost = c->srcHost,
		.srcDevice = c->srcDevice,
		.srcArray = c->srcArray,
		.dstXInBytes = c->dstXInBytes,
		.dstY = c->dstY,
		.dstMemoryType = c->dstMemoryType,
		.dstPitch = c->dstPitch,
		.dstHost = c->dstHost,
		.dstDevice = c->dstDevice,
		.dstArray = c->dstArray,
		.WidthInBytes = c->WidthInBytes,
		.Height = c->Height,
		.Depth = 1,
	};
	return copy_described(&p, form, when, stream);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *c, enum when when, CUstream stream)
{
	CUDA_MEMCPY3D_PEER p;

	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&p, c, sizeof(p));
	return copy_described(&p, FORM_3D, when, stream);
}

static CUresult copy_peer(const CUDA_MEMCPY3D_PEER *c, enum when when, CUstream stream)
{
	return c ? copy_described(c, FORM_3D_PEER, when, stream) : CUDA_ERROR_INVALID_VALUE;
}

#define FORMS(name, sync, async, type, body, ...)                          \
	CUresult name##sync(const type *c)                                 \
	{                                                                  \
		return body(c, ##__VA_ARGS__, SYNC, NULL);                 \
	}                                                                  \
	CUresult name##sync##_ptds(const type *c)                          \
	{                                                                  \
		return body(c, ##__VA_ARGS__, SYNC, CU_STREAM_PER_THREAD); \
	}                                                                  \
	CUresult name##async(const type *c, CUstream stream)               \
	{                                                                  \
		return body(c, ##__VA_ARGS__, ASYNC, stream);              \
	}                                                                  \
	CUresult name##async##_ptsz(const type *c, CUstream stream)        \
	{                                                                  \
		return body(c, ##__VA_ARGS__, ASYNC, OWN(stream));         \
	}

FORMS(cuMemcpy2D, _v2, Async_v2, CUDA_MEMCPY2D, copy_2d, FORM_2D)
FORMS(cuMemcpy3D, _v2, Async_v2, CUDA_MEMCPY3D, copy_3d)
FORMS(cuMemcpy3DPeer, , Async, CUDA_MEMCPY3D_PEER, copy_peer)

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c)
{
	return copy_2d(c, FORM_2D_UNALIGNED, SYNC, NULL);
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *c)
{
	return copy_2d(c, FORM_2D, SYNC, CU_STREAM_PER_THREAD);
}
