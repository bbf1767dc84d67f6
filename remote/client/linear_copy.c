// SPDX-License-Identifier: MIT
/*
 * A linear copy: contiguous bytes between one server's memory and the program's. Bytes of pageable
 * memory are copied into the arena, or a few into the frame, before the call returns. Bytes for
 * pageable memory are waited for. Pinned memory is in the arena already; if the server's library
 * has registered the arena, the GPU itself copies from and to it, with one frame.
 *
 * Over a plain channel the bytes go from the program's memory into the socket, and back: they don't
 * pass by the arena here, which only says where they are at the server.
 */
#include "peer_copy.h"
#include "piece_size.h"

enum when { SYNC, ASYNC };
enum { PAGE = 4096, AHEAD = 4, LEAST_AHEAD = 64 << 10, LEAST_PIECE = 128 << 10 };
/*
 * copies of so many bytes leave no trace in the caches: in the arena, and in the program's memory
 */
enum { FAR_IN = 1 << 20, FAR_OUT = 4 << 20 };

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

/* the bytes of a piece of a copy: several, so that the steps of a copy overlap */
static uint64_t piece_of(const struct peer *p, uint64_t bytes)
{
	const struct kvgpu_remote_relayed *relay = kvgpu_remote_relay(p->channel);
	uint64_t piece = KVGPU_REMOTE_PIECE_MAX;

	if (relay)
		return piece_size(relay, bytes);
	while (piece > bytes / AHEAD && piece > LEAST_PIECE)
		piece /= 2;
	return piece;
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
 * Whether the kernel may read and write @host for a plain channel. It does not open closed pages of
 * managed memory, as a fault of the program's does.
 */
static bool passes_arena(const struct peer *p, const void *host)
{
	return kvgpu_remote_is_plain(p->channel) && !managed_has((uintptr_t)host);
}

/*
 * Copy between the program's memory and the arena. @host: the program's; closed pages of managed
 * memory are for this thread to open.
 */
static void copy_host(void *to, const void *from, uint64_t bytes, const void *host, bool far)
{
	if (managed_has((uintptr_t)host))
		memmove(to, from, bytes);
	else
		bulk_copy(to, from, bytes, far);
}

/*
 * Touch each page: what the program does at faults happens here, with no lock held and no piece
 * taken, and new pages are there when the reader wants them.
 */
static void touch_source(const void *host, uint64_t bytes)
{
	const volatile uint8_t *at = host;
	uint64_t i;

	for (i = 0; i < bytes; i += PAGE)
		(void)at[i];
	(void)at[bytes - 1];
}

static void touch_destination(void *host, uint64_t bytes)
{
	uint8_t *at = host;
	uint64_t i;

	for (i = 0; i < bytes; i += PAGE)
		__atomic_fetch_or(at + i, 0, __ATOMIC_RELAXED);
	__atomic_fetch_or(at + bytes - 1, 0, __ATOMIC_RELAXED);
}

/*
 * When the source is read: from shared memory when the server comes to the frame, on a socket in
 * this call, by a relay later, but before an answer. So with shared memory a synchronous copy
 * stages a source that is pinned memory; with a relay it asks its last piece.
 */
static CUresult send_piece(const struct route *to, struct q_copy_in *q, const void *src,
			   uint64_t whole, enum when when, bool fine)
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
		if (passes_arena(p, src)) {
			touch_source(src, q->bytes);
			c.push_from = src;
		} else if (when == ASYNC || !kvgpu_remote_is_shared(p->channel)) {
			at = pinned_at(p, src, q->bytes);
		}
		if (at == KVGPU_REMOTE_NOWHERE) {
			piece = staging_get(p, q->bytes, &at, &r);
			if (piece && !c.push_from)
				copy_host(arena_at(p, at), src, q->bytes, src, whole >= FAR_IN);
		}
		q->at = c.push_at = at;
		c.push_bytes = q->bytes;
	}
	/* not what is read later in the program's memory */
	if (fine && (piece || q->at == KVGPU_REMOTE_NOWHERE))
		c.copied = q->bytes;
	if (!r)
		r = fine ? call_async(&c) : call_sync(&c, 0);
	if (piece) {
		piece->late = piece->late || q->flags & COPY_LATE;
		staging_sent(p, piece, c.seq);
	}
	return r;
}

CUresult piece_send(const struct route *to, struct q_copy_in *q, const void *src, bool fine)
{
	return send_piece(to, q, src, q->bytes, SYNC, fine && !read_later(to->peer, src, q->bytes));
}

/*
 * Whether the GPU of a plain channel's server itself reads and writes the ring and the slots. To
 * register them takes as long as thousands of small copies.
 */
static bool has_ring(struct peer *p, uint64_t bytes)
{
	return ring_is_pinned(p, bytes >= KVGPU_REMOTE_PIECE_MAX);
}

/*
 * Whether the GPU may write memory that the program sees: it may know by a synchronous copy that
 * work before it has ended. No touch waits for that.
 */
static bool sees_work(const struct peer *p)
{
	return kvgpu_remote_is_shared(p->channel) ?
		       pinned_is_written() :
		       __atomic_load_n(&p->mapped, __ATOMIC_ACQUIRE) == PINNED;
}

CUresult linear_h2d(const struct route *to, struct q_copy_in *q, const void *src, bool waits,
		    bool fine)
{
	const uint64_t bytes = q->bytes, dst = q->dst, piece = piece_of(to->peer, bytes);
	const bool whole = waits && sees_work(to->peer);
	uint32_t flags = q->flags | (whole ? COPY_WHOLE : 0), late;
	bool asks = whole || (waits && read_later(to->peer, src, bytes)),
	     held = pinned_hold(to->peer, src);
	uint64_t done;
	CUresult r = CUDA_SUCCESS;

	fine = fine && overlaps(to->peer);
	q->at = gpu_reaches(to->peer, src, bytes);
	if (q->at != KVGPU_REMOTE_NOWHERE)
		return pinned_to_device(to, q, waits ? SYNC : ASYNC, fine);
	late = kvgpu_remote_is_plain(to->peer->channel) && has_ring(to->peer, bytes) ? COPY_LATE :
										       0;
	for (done = 0; done < bytes && !r; done += q->bytes) {
		q->dst = dst + done;
		q->bytes = bytes - done < piece ? bytes - done : piece;
		q->flags = late | (done + q->bytes == bytes ? flags : 0);
		r = send_piece(to, q, (const uint8_t *)src + done, bytes, waits ? SYNC : ASYNC,
			       fine && !(asks && done + q->bytes == bytes));
	}
	if (held)
		pinned_release();
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
		work_done(&c, q->stream);
	if (!r && small)
		r = answer_bytes(&c, dst, q->bytes) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
	else if (!r && pinned == KVGPU_REMOTE_NOWHERE)
		memmove(dst, arena_at(p, at), q->bytes);
	if (at != pinned)
		arena_put(p, at);
	return r;
}

/*
 * Fetch all pieces but the last, several at a time. The last piece, which is sync, tells of errors
 * of the others.
 */
static CUresult fetch_most(const struct route *to, struct q_copy_out q, uint8_t *dst, size_t bytes,
			   size_t piece, size_t *done)
{
	const size_t n = (bytes - 1) / piece;
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
				copy_host(dst + (i - AHEAD) * piece, arena_at(p, slot), piece,
					  dst + (i - AHEAD) * piece, bytes >= FAR_OUT);
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
	struct kvgpu_remote_direct_read direct; /* .to: in the destination */
	uint64_t place; /* in the arena; NOWHERE: the destination is there */
	unsigned int completion;
	bool is_direct; /* the bytes don't pass by the arena here */
};

static CUresult fetch_begin(struct fetched *f, const struct route *to, const struct q_copy_out *q,
			    uint8_t *dst)
{
	struct peer *p = to->peer;
	CUresult r;

	f->q = *q;
	f->q.at = f->place == KVGPU_REMOTE_NOWHERE ? pinned_at(p, dst, q->bytes) : f->place;
	f->q.flags = COPY_WHOLE;
	f->direct =
		(struct kvgpu_remote_direct_read){ .at = f->q.at, .bytes = q->bytes, .to = dst };
	f->is_direct = passes_arena(p, dst);
	if (f->is_direct) {
		touch_destination(dst, q->bytes);
		kvgpu_remote_read_post(p->channel, &f->direct);
	}
	f->c = (struct call){ .op = OP_copy_out,
			      .fixed = &f->q,
			      .bytes = sizeof(f->q),
			      .to = *to,
			      .apart = !managed_has(q->src) };
	r = call_begin(&f->c, f->completion);
	if (r && f->is_direct)
		kvgpu_remote_read_done(p->channel, &f->direct);
	return r;
}

static void fetch_end(struct fetched *f, CUresult *first)
{
	struct peer *p = f->c.to.peer;
	CUresult r = call_take(&f->c, f->completion, 0);

	if (f->is_direct && !kvgpu_remote_read_done(p->channel, &f->direct) && !r)
		r = CUDA_ERROR_UNKNOWN;
	else if (!r && !f->is_direct && f->place != KVGPU_REMOTE_NOWHERE)
		memmove(f->direct.to, arena_at(p, f->q.at), f->q.bytes);
	*first = *first ? *first : r;
}

/* take what a piece under way needs; false: there is no completion slot, or no room */
static bool fetch_room(struct peer *p, struct fetched *f, uint64_t piece, bool pinned)
{
	f->completion = kvgpu_remote_completion_get(p->channel);
	f->place = f->completion && !pinned ? slot_get(p, piece) : KVGPU_REMOTE_NOWHERE;
	if (f->completion && !pinned && f->place == KVGPU_REMOTE_NOWHERE)
		kvgpu_remote_completion_put(p->channel, f->completion);
	return f->completion && (pinned || f->place != KVGPU_REMOTE_NOWHERE);
}

/*
 * Over a socket: ask for several pieces at once, each with a completion slot of its own. *done:
 * bytes asked for; 0: there was no completion slot or no room.
 */
static CUresult fetch_ahead(const struct route *to, const struct q_copy_out *whole, uint8_t *dst,
			    uint64_t piece, size_t *done)
{
	struct peer *p = to->peer;
	const bool pinned = !kvgpu_remote_is_plain(p->channel) &&
			    pinned_at(p, dst, whole->bytes) != KVGPU_REMOTE_NOWHERE;
	struct q_copy_out q = *whole;
	struct fetched part[AHEAD];
	unsigned int nr = 0, i, ended;
	CUresult r = CUDA_SUCCESS;
	uint64_t begun = 0;

	while (nr < AHEAD && fetch_room(p, &part[nr], piece, pinned))
		nr++;
	for (i = ended = 0; nr && (begun < whole->bytes || ended < i);) {
		if (i - ended == nr || begun == whole->bytes || r) {
			if (ended == i)
				break;
			fetch_end(&part[ended++ % nr], &r);
			continue;
		}
		q.src = whole->src + begun;
		q.bytes = whole->bytes - begun < piece ? whole->bytes - begun : piece;
		r = fetch_begin(&part[i % nr], to, &q, dst + begun);
		begun += q.bytes;
		i += !r;
	}
	*done = begun;
	if (!r && begun)
		work_done(&part[(i - 1) % nr].c, q.stream);
	while (nr) {
		kvgpu_remote_completion_put(p->channel, part[--nr].completion);
		if (!pinned)
			slot_put(p, part[nr].place);
	}
	return r;
}

/* whether several pieces of a copy from a socket are asked for at once */
static bool fetches_ahead(struct peer *p, uint64_t bytes)
{
	if (kvgpu_remote_is_shared(p->channel) || !overlaps(p))
		return false;
	if (kvgpu_remote_relay(p->channel))
		return bytes > piece_of(p, bytes);
	has_ring(p, bytes);
	return bytes > LEAST_AHEAD;
}

CUresult linear_d2h(const struct route *to, struct q_copy_out *q, void *dst, bool waits, bool fine)
{
	const uint64_t bytes = q->bytes, src = q->src, several_of = piece_of(to->peer, bytes),
		       piece = overlaps(to->peer) ? KVGPU_REMOTE_PIECE_MAX : several_of;
	const bool ahead = fetches_ahead(to->peer, bytes), held = pinned_hold(to->peer, dst);
	size_t done = 0;
	CUresult r = CUDA_SUCCESS;

	q->at = gpu_reaches(to->peer, dst, bytes);
	if (q->at != KVGPU_REMOTE_NOWHERE)
		return pinned_to_host(to, q, waits ? SYNC : ASYNC, fine);
	if (fine && bytes > several_of && arena_is_pinned(to->peer))
		r = fetch_most(to, *q, dst, bytes, several_of, &done);
	else if (ahead)
		r = fetch_ahead(to, q, dst, several_of, &done);
	for (; done < bytes && !r; done += q->bytes) {
		q->src = src + done;
		q->bytes = bytes - done < piece ? bytes - done : piece;
		r = piece_fetch(to, q, (uint8_t *)dst + done);
	}
	if (held)
		pinned_release();
	return r;
}
