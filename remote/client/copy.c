// SPDX-License-Identifier: MIT
/*
 * Copies of one line. Bytes of pageable memory are copied into the arena, or a few into the frame,
 * before the call returns. Bytes for pageable memory are waited for. Pinned memory is in the arena
 * already; if the server's library has registered the arena, the GPU itself copies from and to it,
 * with one frame.
 */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "across.h"
#include "cut.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

/*
 * Ask the kernel. EFAULT: the CPU would fault there, or the memory is a device's mapping. If the
 * kernel does not let us ask, believe the program. A page that could be read is not asked for
 * again while the thread remembers it: a program that has unmapped it meanwhile gets a fault.
 */
bool cpu_can_read(const void *at)
{
	enum { PAGE = 4096, PAGES = 16 };
	static __thread uintptr_t could[PAGES];
	struct iovec to = { &(char){ 0 }, 1 }, from = { (void *)(uintptr_t)at, 1 };
	uintptr_t page = (uintptr_t)at / PAGE;

	if (page && could[page % PAGES] == page)
		return true;
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1)
		could[page % PAGES] = page;
	else if (errno == EFAULT)
		return false;
	return true;
}

static bool device_says(CUdeviceptr at)
{
	struct q_pointer q = { .ptr = at, .attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE };
	struct call c = { .op = OP_pointer, .fixed = &q, .bytes = sizeof(q) };

	return !call_ask(&c, sizeof(struct a_pointer)) &&
	       ((const struct a_pointer *)c.answer)->value == CU_MEMORYTYPE_DEVICE;
}

enum side_of side_of(CUdeviceptr at, bool host)
{
	struct host_range found;

	if (range_has(at) || managed_has(at))
		return SIDE_DEVICE;
	if (host_find((void *)(uintptr_t)at, &found))
		return SIDE_HOST;
	if (pinned_device_has(at))
		return SIDE_DEVICE;
	/* An address of the server's GPU may be an address of the program's memory, too. */
	if (!host && device_says(at))
		return SIDE_DEVICE;
	if (cpu_can_read((void *)(uintptr_t)at))
		return SIDE_HOST;
	return device_says(at) ? SIDE_DEVICE : SIDE_NOWHERE;
}

enum when { SYNC, ASYNC };

/* the place of [host, host + bytes) in the arena if the GPU itself can copy there; else NOWHERE */
static uint64_t gpu_reaches(struct peer *p, const void *host, uint64_t bytes)
{
	uint64_t at = kvgpu_remote_is_shared(p->channel) ? pinned_at(p, host, bytes) :
							   KVGPU_REMOTE_NOWHERE;

	return at != KVGPU_REMOTE_NOWHERE && arena_is_pinned(p) ? at : KVGPU_REMOTE_NOWHERE;
}

/* COPY_WHOLE: on return the program may write to its memory */
static CUresult pinned_to_device(const struct route *to, struct q_copy_in *q, enum when when,
				 bool fine)
{
	struct call c = { .op = OP_copy_in, .fixed = q, .bytes = sizeof(*q), .to = *to,
			  .apart = !managed_has(q->dst) };

	if (when == SYNC)
		q->flags |= COPY_WHOLE;
	return when == ASYNC && fine ? call_queue(&c) : call_ask(&c, 0);
}

static CUresult pinned_to_host(const struct route *to, struct q_copy_out *q, enum when when,
			       bool fine)
{
	struct call c = { .op = OP_copy_out, .fixed = q, .bytes = sizeof(*q), .to = *to,
			  .apart = !managed_has(q->src) };

	q->flags = when == SYNC ? COPY_WHOLE : 0;
	if (when == ASYNC)
		pinned_written();
	return when == ASYNC && fine ? call_queue(&c) : call_ask(&c, 0);
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

	return !relay || relay->turn != KVGPU_REMOTE_TURN_WHOLE;
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
	return kvgpu_remote_is_shared(p->channel) ? KVGPU_REMOTE_INLINE_SHARED_MAX :
						    KVGPU_REMOTE_INLINE_IN_MAX;
}

/*
 * When the source is read: from shared memory when the server comes to the frame, on a socket in
 * this call, by a relay later, but before an answer. So with shared memory a synchronous copy
 * stages a source that is pinned memory; with a relay it asks its last piece.
 */
static CUresult send_piece(const struct route *to, struct q_copy_in *q, const void *src,
			   enum when when, bool fine)
{
	struct call c = { .op = OP_copy_in, .fixed = q, .bytes = sizeof(*q), .to = *to,
			  .apart = !managed_has(q->dst) };
	struct peer *p = to->peer;
	struct staged *piece = NULL;
	CUresult r = CUDA_SUCCESS;
	uint64_t at;

	q->at = KVGPU_REMOTE_NOWHERE;
	if (q->bytes <= inline_most(p)) {
		r = call_bytes(&c, src, q->bytes);
	} else {
		at = when == ASYNC || !kvgpu_remote_is_shared(p->channel) ?
			     pinned_at(p, src, q->bytes) :
			     KVGPU_REMOTE_NOWHERE;
		if (at == KVGPU_REMOTE_NOWHERE) {
			piece = staging_get(p, q->bytes, &at, &r);
			if (piece)
				memcpy(arena_at(p, at), src, q->bytes);
		}
		q->at = c.push_at = at;
		c.push_bytes = q->bytes;
	}
	if (!r)
		r = fine ? call_queue(&c) : call_ask(&c, 0);
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

static CUresult to_device(struct route *to, CUdeviceptr dst, const void *src, size_t bytes,
			  enum when when, CUstream stream)
{
	struct q_copy_in q = { .dst = dst, .bytes = bytes };
	bool fine = device_span(dst, bytes, 1) && own_stream(stream);
	CUresult r = route_stream(to, stream, &q.stream);

	route_peer(to);
	return r ? r : line_in(to, &q, src, when == SYNC, fine);
}

CUresult piece_fetch(const struct route *to, struct q_copy_out *q, void *dst)
{
	struct call c = { .op = OP_copy_out, .fixed = q, .bytes = sizeof(*q), .to = *to,
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
	r = call_ask(&c, 0);
	if (!r)
		stream_through(q->stream, &c);
	if (!r && small)
		r = answer_bytes(&c, dst, q->bytes) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
	else if (!r && pinned == KVGPU_REMOTE_NOWHERE)
		memcpy(dst, arena_at(p, at), q->bytes);
	if (at != pinned)
		arena_put(p, at);
	return r;
}

enum { AHEAD = 4 };

/*
 * Fetch all pieces but the last, several at a time. The last piece, which is asked, tells of errors
 * of the others.
 */
static CUresult fetch_most(const struct route *to, struct q_copy_out q, uint8_t *dst, size_t bytes,
			   size_t *done)
{
	const size_t piece = KVGPU_REMOTE_PIECE_MAX, n = (bytes - 1) / piece;
	struct call c = { .op = OP_copy_out, .fixed = &q, .bytes = sizeof(q), .to = *to,
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
				memcpy(dst + (i - AHEAD) * piece, arena_at(p, slot), piece);
		}
		if (i < n && !r) {
			q.at = slot;
			q.src = src + i * piece;
			r = call_queue(&c);
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
	unsigned int box;
	size_t at;			/* offset in the destination */
};

static void fetch_end(struct fetched *f, uint8_t *dst, bool pinned, CUresult *first)
{
	struct peer *p = f->c.to.peer;
	CUresult r = call_take(&f->c, f->box, 0);

	if (!r && !pinned)
		memcpy(dst + f->at, arena_at(p, f->q.at), f->q.bytes);
	*first = *first ? *first : r;
}

/*
 * By way of a relay: ask for several pieces at once, each with an answer box of its own. *done:
 * bytes asked for; 0: there was no box or no room.
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

	while (nr < AHEAD && (part[nr].box = kvgpu_remote_box_get(p->channel)))
		nr++;
	for (i = ended = 0; nr && room != KVGPU_REMOTE_NOWHERE && (begun < bytes || ended < i); ) {
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
		r = call_begin(&f->c, f->box);
		i -= !!r;
	}
	*done = begun;
	if (!r && begun)
		stream_through(q->stream, &part[(i - 1) % nr].c);
	while (nr)
		kvgpu_remote_box_put(p->channel, part[--nr].box);
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

static CUresult to_host(struct route *to, void *dst, CUdeviceptr src, size_t bytes, enum when when,
			CUstream stream)
{
	struct q_copy_out q = { .src = src, .bytes = bytes };
	bool fine = device_span(src, bytes, 1) && own_stream(stream);
	CUresult r = route_stream(to, stream, &q.stream);

	route_peer(to);
	return r ? r : line_out(to, &q, dst, when == SYNC, fine);
}

static CUresult on_device(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when,
			  CUstream stream)
{
	return when == ASYNC || stream ? cuMemcpyDtoDAsync_v2(dst, src, bytes, stream) :
					 cuMemcpyDtoD_v2(dst, src, bytes);
}

static CUresult on_host(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	CUresult r = cuStreamSynchronize(stream);

	if (!r)
		memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes);
	return r;
}

/*
 * If a capture of another stream forbids to use the null stream, go on: the copy itself then
 * returns the library's error.
 */
CUresult host_copy_begins(CUstream stream, bool waits, const void *src, bool *captured)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	struct host_range found;
	CUresult r = captures_any() ? cuStreamIsCapturing(stream, &status) : CUDA_SUCCESS;

	*captured = false;
	if (r)
		return r == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ? CUDA_SUCCESS : r;
	if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && waits)
		/* returns the error */
		return cuStreamSynchronize(stream);
	*captured = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
	if (!*captured && src && host_find(src, &found) &&
	    (pinned_may_change(&found) || host_functions_pending()))
		r = cuStreamSynchronize(stream);
	return r;
}

static CUresult between(enum side_of to, CUdeviceptr dst, enum side_of from, CUdeviceptr src,
			size_t bytes, enum when when, CUstream stream)
{
	struct route there = { 0 };
	bool read, captured;
	uint64_t id;
	CUresult r;

	if (to == SIDE_NOWHERE || from == SIDE_NOWHERE)
		return CUDA_ERROR_INVALID_VALUE;
	if (several) {
		r = route_stream(&there, stream, &id);
		if (to == SIDE_DEVICE)
			route_address(&there, dst);
		if (from == SIDE_DEVICE)
			route_address(&there, src);
		if (r || there.split)
			return r ? r : across_line(dst, to, src, from, bytes, when == SYNC, stream);
	}
	if (to == SIDE_DEVICE && from == SIDE_DEVICE)
		return on_device(dst, src, bytes, when, stream);
	/* the GPU itself reads in the stream's order: a read by the CPU has to wait */
	read = from == SIDE_HOST && gpu_reaches(route_peer(&there), (const void *)(uintptr_t)src,
						bytes) == KVGPU_REMOTE_NOWHERE;
	r = host_copy_begins(stream, when == SYNC, read ? (const void *)(uintptr_t)src : NULL,
			     &captured);
	if (!r && captured) {
		r = route_stream(&there, stream, &id);
		return r ? r : line_capture(&there, id, dst, to, src, from, bytes);
	}
	if (r)
		return r;
	if (to == SIDE_DEVICE)
		return to_device(&there, dst, (const void *)(uintptr_t)src, bytes, when, stream);
	if (from == SIDE_DEVICE)
		return to_host(&there, (void *)(uintptr_t)dst, src, bytes, when, stream);
	return on_host(dst, src, bytes, stream);
}

/* ------------------------------------------------------------------ entry points */

/* check the stream first: an invalid one is an error also if there is nothing to copy */
static CUresult begin(CUstream stream, size_t bytes, bool pointers, bool *nothing)
{
	struct route to = { 0 };
	uint64_t id;
	CUresult r = call_enter(0);

	if (!r && stream)
		r = route_stream(&to, stream, &id);
	*nothing = !bytes;
	return r ? r : bytes && !pointers ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult any(CUdeviceptr dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	bool nothing;
	CUresult r = begin(stream, bytes, dst && src, &nothing);

	return r || nothing ? r :
			      between(side_of(dst, false), dst, side_of(src, false), src, bytes,
				      when, stream);
}

static CUresult htod(CUdeviceptr dst, const void *src, size_t bytes, enum when when,
		     CUstream stream)
{
	CUdeviceptr from = (uintptr_t)src;
	bool nothing;
	CUresult r = begin(stream, bytes, src, &nothing);

	return r || nothing ?
		       r :
		       between(SIDE_DEVICE, dst, side_of(from, true), from, bytes, when, stream);
}

static CUresult dtoh(void *dst, CUdeviceptr src, size_t bytes, enum when when, CUstream stream)
{
	CUdeviceptr to = (uintptr_t)dst;
	bool nothing;
	CUresult r = begin(stream, bytes, dst, &nothing);

	return r || nothing ? r :
			      between(side_of(to, true), to, SIDE_DEVICE, src, bytes, when, stream);
}

#define ENTRIES(name, v2, body, dst_type, src_type)                                                \
	CUresult name##v2(dst_type dst, src_type src, size_t bytes)                                \
	{                                                                                          \
		return body(dst, src, bytes, SYNC, NULL);                                          \
	}                                                                                          \
	CUresult name##v2##_ptds(dst_type dst, src_type src, size_t bytes)                         \
	{                                                                                          \
		return body(dst, src, bytes, SYNC, CU_STREAM_PER_THREAD);                          \
	}                                                                                          \
	CUresult name##Async##v2(dst_type dst, src_type src, size_t bytes, CUstream stream)        \
	{                                                                                          \
		return body(dst, src, bytes, ASYNC, stream);                                       \
	}                                                                                          \
	CUresult name##Async##v2##_ptsz(dst_type dst, src_type src, size_t bytes, CUstream stream) \
	{                                                                                          \
		return body(dst, src, bytes, ASYNC, OWN(stream));                                  \
	}

ENTRIES(cuMemcpyHtoD, _v2, htod, CUdeviceptr, const void *)
ENTRIES(cuMemcpyDtoH, _v2, dtoh, void *, CUdeviceptr)
ENTRIES(cuMemcpy, , any, CUdeviceptr, CUdeviceptr)

/* ------------------------------------------------------------------ between contexts */

static CUresult between_contexts(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
				 size_t bytes, enum when when, CUstream stream)
{
	struct q_peer q = { .dst = dst, .src = src, .bytes = bytes, .async = when == ASYNC };
	struct call c = { .op = OP_peer, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = call_enter(0);

	if (!r)
		r = route_stream(&c.to, stream, &q.stream);
	if (r)
		return r;
	if (!route_handle(&c.to, CLASS_CONTEXT, to, &q.dst_ctx) ||
	    !route_handle(&c.to, CLASS_CONTEXT, from, &q.src_ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (c.to.split)
		return across_line(dst, SIDE_DEVICE, src, SIDE_DEVICE, bytes, when == SYNC, stream);
	return call_ask(&c, 0);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes)
{
	return between_contexts(dst, to, src, from, bytes, SYNC, NULL);
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
			   size_t bytes)
{
	CUresult r = between_contexts(dst, to, src, from, bytes, ASYNC, CU_STREAM_PER_THREAD);

	return r ? r : cuStreamSynchronize(CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
			   size_t bytes, CUstream stream)
{
	return between_contexts(dst, to, src, from, bytes, ASYNC, stream);
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
				size_t bytes, CUstream stream)
{
	return between_contexts(dst, to, src, from, bytes, ASYNC, OWN(stream));
}
