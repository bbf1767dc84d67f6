// SPDX-License-Identifier: MIT
/*
 * Copies between two servers whose relays are proxies of one job (remote/cluster). The source's GPU
 * copies a piece into its server's arena; the destination's frame then says where its relay gets
 * the piece. A place in either arena is used again when the destination has answered.
 */
#include "piece_size.h"
#include "peer_direct.h"

enum { WINDOW = 8, ASKED = 4 };

bool peer_direct_possible(const struct peer *to, const struct peer *from)
{
	const struct kvgpu_remote_relayed *a = kvgpu_remote_relay(to->channel),
					  *b = kvgpu_remote_relay(from->channel);

	return a && b && a->job && a->job == b->job && a->rank != b->rank &&
	       !__atomic_load_n(&to->crooked[peer_number(from)], __ATOMIC_RELAXED);
}

bool peer_direct_failed(struct peer *to, const struct peer *from, CUresult r)
{
	if (r != CUDA_ERROR_SYSTEM_NOT_READY || kvgpu_remote_is_gone(to->channel) ||
	    kvgpu_remote_is_gone(from->channel))
		return false;
	__atomic_store_n(&to->crooked[peer_number(from)], true, __ATOMIC_RELAXED);
	return true;
}

uint64_t peer_direct_piece(const struct peer *to, const struct peer *from, uint64_t bytes)
{
	const uint64_t one = piece_size(kvgpu_remote_relay(to->channel), bytes),
		       other = piece_size(kvgpu_remote_relay(from->channel), bytes);

	return one < other ? one : other;
}

struct kvgpu_remote_source peer_direct_source(const struct peer *from, uint64_t at)
{
	const struct kvgpu_remote_relayed *r = kvgpu_remote_relay(from->channel);

	return (struct kvgpu_remote_source){
		.at = at, .key = { r->key[0], r->key[1] }, .rank = r->rank, .tunnel = r->tunnel
	};
}

unsigned int peer_direct_room(struct peer *p, uint64_t piece, unsigned int n,
			      unsigned int *completion, uint64_t *room)
{
	unsigned int nr = 0;

	*room = arena_get(p, n * piece);
	while (*room != KVGPU_REMOTE_NOWHERE && nr < n &&
	       (completion[nr] = kvgpu_remote_completion_get(p->channel)))
		nr++;
	return nr;
}

void peer_direct_room_end(struct peer *p, unsigned int n, const unsigned int *completion,
			  uint64_t room)
{
	while (n)
		kvgpu_remote_completion_put(p->channel, completion[--n]);
	if (room != KVGPU_REMOTE_NOWHERE)
		arena_put(p, room);
}

/* ------------------------------------------------------------------ one copy */

struct flight {
	struct q_copy_out out;
	struct q_copy_in in;
	struct call from, to;
	bool written; /* .to was sent */
};

struct peer_direct {
	const struct route *to, *from;
	CUdeviceptr dst, src;
	uint64_t bytes, piece, in_stream, out_stream, to_room, from_room;
	unsigned int to_completion[WINDOW], from_completion[WINDOW], to_completions,
		from_completions, window;
	bool fetches; /* pieces were sent for */
	/* counts of pieces: asked for at the source; taken from there; ended */
	uint64_t begun, there, over;
	struct flight flight[WINDOW];
};

static CUresult begin_read(struct peer_direct *s)
{
	const unsigned int i = s->begun % s->window;
	const uint64_t done = s->begun * s->piece;
	struct flight *f = &s->flight[i];
	CUresult r;

	f->out = (struct q_copy_out){ .src = s->src + done,
				      .stream = s->out_stream,
				      .at = s->from_room + i * s->piece,
				      .bytes = s->bytes - done < s->piece ? s->bytes - done :
									    s->piece,
				      .flags = COPY_WHOLE | COPY_STAYS };
	f->from = (struct call){ .op = OP_copy_out,
				 .fixed = &f->out,
				 .bytes = sizeof(f->out),
				 .to = *s->from,
				 .apart = !managed_has(s->src) };
	f->written = false;
	r = call_begin(&f->from, s->from_completion[i]);
	s->begun += !r;
	return r;
}

/* wait until the next piece is in the source's arena, and send for it, if there is no error @r */
static CUresult begin_write(struct peer_direct *s, CUresult r)
{
	const unsigned int i = s->there++ % s->window;
	struct flight *f = &s->flight[i];
	const struct kvgpu_remote_source source = peer_direct_source(s->from->peer, f->out.at);
	CUresult left = call_take(&f->from, s->from_completion[i], 0);

	r = r ? r : left;
	if (r)
		return r;
	f->in = (struct q_copy_in){ .dst = f->out.src - s->src + s->dst,
				    .stream = s->in_stream,
				    .at = s->to_room + i * s->piece,
				    .bytes = f->out.bytes,
				    .flags = s->there * s->piece >= s->bytes ? COPY_WHOLE : 0 };
	f->to = (struct call){ .op = OP_copy_in,
			       .fixed = &f->in,
			       .bytes = sizeof(f->in),
			       .to = *s->to,
			       .apart = !managed_has(s->dst),
			       .push_at = f->in.at,
			       .push_bytes = f->in.bytes,
			       .fetch = &source };
	r = call_begin(&f->to, s->to_completion[i]);
	f->written = !r;
	s->fetches = s->fetches || f->written;
	return r;
}

static CUresult end_piece(struct peer_direct *s, CUresult r)
{
	const unsigned int i = s->over++ % s->window;
	struct flight *f = &s->flight[i];
	CUresult last = f->written ? call_take(&f->to, s->to_completion[i], 0) : CUDA_SUCCESS;

	return r ? r : last;
}

static CUresult copy_pieces(struct peer_direct *s)
{
	const uint64_t n = (s->bytes + s->piece - 1) / s->piece;
	CUresult r = CUDA_SUCCESS;

	while (s->over < s->begun || (s->begun < n && !r)) {
		if (!r && s->begun < n && s->begun - s->over < s->window &&
		    s->begun - s->there < ASKED)
			r = begin_read(s);
		else if (s->there < s->begun && s->there - s->over < ASKED)
			r = begin_write(s, r);
		else
			r = end_piece(s, r);
	}
	return r;
}

bool peer_direct_copy(const struct route *to, uint64_t in_stream, CUdeviceptr dst,
		      const struct route *from, uint64_t out_stream, CUdeviceptr src,
		      uint64_t bytes, CUresult *r)
{
	struct peer_direct s = { .to = to,
				 .from = from,
				 .dst = dst,
				 .src = src,
				 .bytes = bytes,
				 .in_stream = in_stream,
				 .out_stream = out_stream };
	uint64_t n;

	if (bytes <= KVGPU_REMOTE_INLINE_MAX || !peer_direct_possible(to->peer, from->peer))
		return false;
	s.piece = peer_direct_piece(to->peer, from->peer, bytes);
	n = (bytes + s.piece - 1) / s.piece;
	s.window = n < WINDOW ? n : WINDOW;
	s.to_completions =
		peer_direct_room(to->peer, s.piece, s.window, s.to_completion, &s.to_room);
	s.from_completions =
		peer_direct_room(from->peer, s.piece, s.window, s.from_completion, &s.from_room);
	s.window = s.to_completions < s.from_completions ? s.to_completions : s.from_completions;
	if (s.window)
		*r = copy_pieces(&s);
	if (s.window && *r == CUDA_ERROR_SYSTEM_NOT_READY && s.fetches)
		s.to_room = KVGPU_REMOTE_NOWHERE;
	peer_direct_room_end(to->peer, s.to_completions, s.to_completion, s.to_room);
	peer_direct_room_end(from->peer, s.from_completions, s.from_completion, s.from_room);
	return s.window && !(s.fetches && peer_direct_failed(to->peer, from->peer, *r));
}
