// SPDX-License-Identifier: MIT
/*
 * A line (contiguous bytes) between one server's memory and the program's. Bytes of pageable memory
 * are copied into the arena, or a few into the frame, before the call returns. Bytes for pageable
 * memory are waited for. Pinned memory is in the arena already; if the server's library has
 * registered the arena, the GPU itself copies from and to it, with one frame.
 */
#include "peer_copy.h"
#include "cut.h"

enum when { SYNC, ASYNC };

uint64_t gpu_reaches(struct peer *p, const void *host, uint64_t bytes)
{
	uint64_t at = KVGPU_REMOTE_NOWHERE;

	if (kvgpu_remote_is_shared(p->channel))
		at = pinned_at(p, host, bytes);
	return at != KVGPU_REMOTE_NOWHERE && arena_is_pinned(p) ? at : KVGPU_REMOTE_NOWHERE;
}

/* COPY_WHOLE: on return the program may write to its memory */
static CUresult pinned_to_device(const struct route *to, struct q_copy_in *q, enum when when,
				 bool fine)
{
	struct call c = { .op = OP_copy_in,
			  .fixed = q,
			  .bytes = sizeof(*q),
			  .to = *to,
			  .apart = !managed_has(q->dst) };

	if (when == SYNC)
		q->flags |= COPY_WHOLE;
	return when == ASYNC && fine ? call_async(&c) : call_sync(&c, 0);
}

static CUresult pinned_to_host(const struct route *to, struct q_copy_out *q, enum when when,
			       bool fine)
{
	struct call c = { .op = OP_copy_out,
			  .fixed = q,
			  .bytes = sizeof(*q),
			  .to = *to,
			  .apart = !managed_has(q->src) };

	q->flags = when == SYNC ? COPY_WHOLE : 0;
	if (when == ASYNC)
		pinned_written();
	return when == ASYNC && fine ? call_async(&c) : call_sync(&c, 0);
}

static uint64_t piece_of(const struct peer *p, uint64_t bytes)
{
	const struct kvgpu_remote_relayed *relay = kvgpu_remote_relay(p->channel);

	return relay ? cut_piece(relay, bytes) : KVGPU_REMOTE_PIECE_MAX;
}

/* whether the steps of a copy may overlap */
static bool overlaps(const struct peer *p)
{
	const struct kvgpu_remote_relayed *relay = kvgpu_remote_relay(p->channel);

	return !relay || relay->overhead != KVGPU_REMOTE_OVERHEAD_WHOLE;
}

/*
 * whether a relay reads pieces of @src where they lie, later than this process sends their frames
 */
static bool read_later(const struct peer *p, const void *src, uint64_t bytes)
{
	return kvgpu_remote_relay(p->channel) && bytes > KVGPU_REMOTE_INLINE_IN_MAX &&
	       pinned_at(p, src, bytes) != KVGPU_REMOTE_NOWHERE;
}

/* how many bytes travel in a frame: in shared memory the library reads the others in the arena */
static uint64_t inline_most(const struct peer *p)
{
	if (kvgpu_remote_is_shared(p->channel))
		return KVGPU_REMOTE_INLINE_SHARED_MAX;
	return KVGPU_REMOTE_INLINE_IN_MAX;
}

/*
 * When the source is read: from shared memory when the server comes to the frame, on a socket in
 * this call, by a relay later, but before an answer. So with shared memory a synchronous copy
 * stages a source that is pinned memory; with a relay it asks its last piece.
 */
static CUresult send_piece(const struct route *to, struct q_copy_in *q, const void *src,
			   enum when when, bool fine)
{
	struct call c = { .op = OP_copy_in,
			  .fixed = q,
			  .bytes = sizeof(*q),
			  .to = *to,
			  .apart = !managed_has(q->dst) };
	struct peer *p = to->peer;
	struct staged *piece = NULL;
	CUresult r = CUDA_SUCCESS;
	uint64_t at = KVGPU_REMOTE_NOWHERE;

	q->at = KVGPU_REMOTE_NOWHERE;
	if (q->bytes <= inline_most(p)) {
		r = call_bytes(&c, src, q->bytes);
	} else {
		if (when == ASYNC || !kvgpu_remote_is_shared(p->channel))
			at = pinned_at(p, src, q->bytes);
		if (at == KVGPU_REMOTE_NOWHERE) {
			piece = staging_get(p, q->bytes, &at, &r);
			if (piece)
				memmove(arena_at(p, at), src, q->bytes);
		}
		q->at = c.push_at = at;
		c.push_bytes = q->bytes;
	}
	if (!r)
		r = fine ? call_async(&c) : call_sync(&c, 0);
	if (piece)
		staging_sent(p, piece, c.seq);
	return r;
}

CUresult piece_send(const struct route *to, struct q_copy_in *q, const void *src, bool fine)
{
	return send_piece(to, q, src, SYNC, fine && !read_later(to->peer, src, q->bytes));
}

CUresult line_in(const struct route *to, struct q_copy_in *q, const void *src, bool waits,
		 bool fine)
{
	const uint64_t bytes = q->bytes, dst = q->dst, piece = piece_of(to->peer, bytes);
	const uint32_t flags = q->flags;
	bool asks = waits && read_later(to->peer, src, bytes);
	uint64_t done;
	CUresult r = CUDA_SUCCESS;

	fine = fine && overlaps(to->peer);
	q->at = gpu_reaches(to->peer, src, bytes);
	if (q->at != KVGPU_REMOTE_NOWHERE)
		return pinned_to_device(to, q, waits ? SYNC : ASYNC, fine);
	for (done = 0; done < bytes && !r; done += q->bytes) {
		q->dst = dst + done;
		q->bytes = bytes - done < piece ? bytes - done : piece;
		q->flags = done + q->bytes == bytes ? flags : 0;
		r = send_piece(to, q, (const uint8_t *)src + done, waits ? SYNC : ASYNC,
			       fine && !(asks && done + q->bytes == bytes));
	}
	return r;
}

CUresult piece_fetch(const struct route *to, struct q_copy_out *q, void *dst)
{
	struct call c = { .op = OP_copy_out,
			  .fixed = q,
			  .bytes = sizeof(*q),
			  .to = *to,
			  .apart = !managed_has(q->src) };
	bool small = q->bytes <= KVGPU_REMOTE_INLINE_MAX;
	struct peer *p = to->peer;
	uint64_t pinned = small ? KVGPU_REMOTE_NOWHERE : pinned_at(p, dst, q->bytes), at = pinned;
	CUresult r;

	if (!small && at == KVGPU_REMOTE_NOWHERE) {
		at = arena_get(p, q->bytes);
		if (at == KVGPU_REMOTE_NOWHERE)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	q->at = at;
	q->flags = COPY_WHOLE;
	r = call_sync(&c, 0);
	if (!r)
		stream_through(q->stream, &c);
	if (!r && small)
		r = answer_bytes(&c, dst, q->bytes) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
	else if (!r && pinned == KVGPU_REMOTE_NOWHERE)
		memmove(dst, arena_at(p, at), q->bytes);
	if (at != pinned)
		arena_put(p, at);
	return r;
}

enum { AHEAD = 4 };

/*
 * Fetch all pieces but the last, several at a time. The last piece, which is sync, tells of errors
 * of the others.
 */
static CUresult fetch_most(const struct route *to, struct q_copy_out q, uint8_t *dst, size_t bytes,
			   size_t *done)
{
	const size_t piece = KVGPU_REMOTE_PIECE_MAX, n = (bytes - 1) / piece;
	struct call c = { .op = OP_copy_out,
			  .fixed = &q,
			  .bytes = sizeof(q),
			  .to = *to,
			  .apart = !managed_has(q.src) };
	struct peer *p = to->peer;
	uint64_t room = arena_get(p, AHEAD * piece), seq[AHEAD], slot;
	CUdeviceptr src = q.src;
	CUresult r = CUDA_SUCCESS;
	size_t i;

	if (room == KVGPU_REMOTE_NOWHERE)
		return CUDA_SUCCESS;
	q.bytes = piece;
	for (i = 0; i < n + AHEAD && !r; i++) {
		slot = room + i % AHEAD * piece;
		if (i >= AHEAD && i - AHEAD < n) {
			r = call_fence(p, seq[i % AHEAD]);
			if (!r)
				memmove(dst + (i - AHEAD) * piece, arena_at(p, slot), piece);
		}
		if (i < n && !r) {
			q.at = slot;
			q.src = src + i * piece;
			r = call_async(&c);
			seq[i % AHEAD] = c.seq;
		}
	}
	if (r)
		/* copies that were begun end before other users get the pieces */
		call_fence(p, UINT64_MAX);
	arena_put(p, room);
	*done = n * piece;
	return r;
}

struct fetched {
	struct call c;
	struct q_copy_out q;
	unsigned int completion;
	size_t at; /* offset in the destination */
};

static void fetch_end(struct fetched *f, uint8_t *dst, bool pinned, CUresult *first)
{
	struct peer *p = f->c.to.peer;
	CUresult r = call_take(&f->c, f->completion, 0);

	if (!r && !pinned)
		memmove(dst + f->at, arena_at(p, f->q.at), f->q.bytes);
	*first = *first ? *first : r;
}

/*
 * By way of a relay: ask for several pieces at once, each with a completion slot of its own. *done:
 * bytes asked for; 0: there was no completion slot or no room.
 */
static CUresult fetch_ahead(const struct route *to, const struct q_copy_out *q, uint8_t *dst,
			    size_t *done)
{
	struct peer *p = to->peer;
	const uint64_t bytes = q->bytes, piece = piece_of(p, bytes),
		       whole = pinned_at(p, dst, bytes);
	const bool pinned = whole != KVGPU_REMOTE_NOWHERE;
	uint64_t room = pinned ? whole : arena_get(p, AHEAD * piece), begun = 0;
	struct fetched part[AHEAD], *f;
	unsigned int nr = 0, i, ended;
	CUresult r = CUDA_SUCCESS;

	while (nr < AHEAD && (part[nr].completion = kvgpu_remote_completion_get(p->channel)))
		nr++;
	for (i = ended = 0; nr && room != KVGPU_REMOTE_NOWHERE && (begun < bytes || ended < i);) {
		if (i - ended == nr || begun == bytes || r) {
			if (ended == i)
				break;
			fetch_end(&part[ended++ % nr], dst, pinned, &r);
			continue;
		}
		f = &part[i++ % nr];
		f->q = *q;
		f->q.bytes = bytes - begun < piece ? bytes - begun : piece;
		f->q.src = q->src + begun;
		f->q.at = room + (pinned ? begun : (i - 1) % nr * piece);
		f->q.flags = COPY_WHOLE;
		f->at = begun;
		f->c = (struct call){ .op = OP_copy_out,
				      .fixed = &f->q,
				      .bytes = sizeof(f->q),
				      .to = *to,
				      .apart = !managed_has(q->src) };
		begun += f->q.bytes;
		r = call_begin(&f->c, f->completion);
		i -= !!r;
	}
	*done = begun;
	if (!r && begun)
		stream_through(q->stream, &part[(i - 1) % nr].c);
	while (nr)
		kvgpu_remote_completion_put(p->channel, part[--nr].completion);
	if (!pinned && room != KVGPU_REMOTE_NOWHERE)
		arena_put(p, room);
	return r;
}

CUresult line_out(const struct route *to, struct q_copy_out *q, void *dst, bool waits, bool fine)
{
	const bool whole = !overlaps(to->peer);
	const uint64_t bytes = q->bytes, src = q->src,
		       piece = whole ? piece_of(to->peer, bytes) : KVGPU_REMOTE_PIECE_MAX;
	size_t done = 0;
	CUresult r = CUDA_SUCCESS;

	q->at = gpu_reaches(to->peer, dst, bytes);
	if (q->at != KVGPU_REMOTE_NOWHERE)
		return pinned_to_host(to, q, waits ? SYNC : ASYNC, fine);
	if (fine && bytes > KVGPU_REMOTE_PIECE_MAX && arena_is_pinned(to->peer))
		r = fetch_most(to, *q, dst, bytes, &done);
	else if (kvgpu_remote_relay(to->peer->channel) && !whole &&
		 bytes > piece_of(to->peer, bytes))
		r = fetch_ahead(to, q, dst, &done);
	for (; done < bytes && !r; done += q->bytes) {
		q->src = src + done;
		q->bytes = bytes - done < piece ? bytes - done : piece;
		r = piece_fetch(to, q, (uint8_t *)dst + done);
	}
	return r;
}
