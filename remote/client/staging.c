// SPDX-License-Identifier: MIT
/*
 * The ring at the beginning of the arena: pieces for copies on their way. A piece is free again
 * when staging_sent() was called, its frame is done, and all pieces before it are free. In shared
 * memory all pieces are late. No wait happens with arena.lock held.
 */
#include <sched.h>
#include <sys/mman.h>

#include "client.h"

enum { ALIGN = 4096, BATCH = 1 << 20 };

static void collect_pieces(struct arena *a, uint64_t answered, uint64_t fenced)
{
	const struct staged *p;

	while (a->nr_pieces) {
		p = &a->pieces[a->first_piece];
		if (!p->seq || p->seq > (p->late ? fenced : answered))
			break;
		a->ring_begin = p->end;
		a->first_piece = (a->first_piece + 1) % ARENA_PIECES;
		a->nr_pieces--;
	}
}

/*
 * Populate pages in batches: faster than a fault at the first write to each. A kernel without
 * MADV_POPULATE_WRITE does nothing here.
 */
static void touch_pages(struct arena *a, uint64_t upto)
{
	for (; a->touched < upto; a->touched += BATCH)
		madvise(a->base + a->touched,
			a->ring_bytes - a->touched < BATCH ? a->ring_bytes - a->touched : BATCH,
			MADV_POPULATE_WRITE);
}

/*
 * An empty ring begins anew at its first byte: copies that follow each other then use the same few
 * pages.
 */
static void begin_anew(struct arena *a)
{
	if (a->nr_pieces)
		return;
	a->ring_end += (a->ring_bytes - a->ring_end % a->ring_bytes) % a->ring_bytes;
	a->ring_begin = a->ring_end;
}

static struct staged *take_piece(struct arena *a, uint64_t bytes, uint64_t *at)
{
	uint64_t begin = a->relayed ? (a->ring_end + bytes - 1) / bytes * bytes : a->ring_end;
	uint64_t left = a->ring_bytes - begin % a->ring_bytes;
	struct staged *p;

	if (left < bytes)
		begin += left;
	if (begin + bytes - a->ring_begin > a->ring_bytes || a->nr_pieces == ARENA_PIECES)
		return NULL;
	p = &a->pieces[(a->first_piece + a->nr_pieces) % ARENA_PIECES];
	a->nr_pieces++;
	*p = (struct staged){ .end = begin + bytes };
	a->ring_end = p->end;
	*at = begin % a->ring_bytes;
	touch_pages(a, *at + bytes);
	return p;
}

/*
 * Call with the lock. The number of a frame at whose end about the older half of the ring's bytes,
 * or of its ARENA_PIECES, is free; 0: the frame of the oldest piece is not sent yet.
 */
static uint64_t oldest_half(const struct arena *a)
{
	uint64_t seq = 0;
	unsigned int i;

	for (i = 0; i < a->nr_pieces && i < ARENA_PIECES / 2; i++) {
		const struct staged *p = &a->pieces[(a->first_piece + i) % ARENA_PIECES];

		if (!p->seq || (seq && p->end - a->ring_begin > a->ring_bytes / 2))
			break;
		seq = p->seq;
	}
	return seq;
}

/* Round up to a power of two: a relay makes an MPI request for each place and length of a piece. */
static uint64_t relayed_bytes(uint64_t bytes)
{
	uint64_t power = ALIGN;

	while (power < bytes)
		power *= 2;
	return power;
}

/* a full ring: wait for its older half; the GPU has the other half to copy meanwhile */
struct staged *staging_get(struct peer *p, uint64_t bytes, uint64_t *at, CUresult *r)
{
	struct arena *a = &p->arena;
	struct staged *piece;
	uint64_t upto;

	bytes = a->relayed ? relayed_bytes(bytes) : (bytes + 63) & ~63ull;
	for (;;) {
		pthread_mutex_lock(&a->lock);
		collect_pieces(a, call_answered(p), call_fenced(p));
		begin_anew(a);
		piece = take_piece(a, bytes, at);
		upto = piece ? 0 : oldest_half(a);
		pthread_mutex_unlock(&a->lock);
		if (piece) {
			piece->late = kvgpu_remote_is_shared(p->channel);
			return piece;
		}
		if (!upto) { /* another thread is about to send the oldest frame */
			*r = client_ready();
			sched_yield();
		} else {
			*r = call_fence(p, upto);
		}
		if (*r)
			return NULL;
	}
}

void staging_sent(struct peer *p, struct staged *piece, uint64_t seq)
{
	pthread_mutex_lock(&p->arena.lock);
	piece->seq = seq ? seq : 1;
	pthread_mutex_unlock(&p->arena.lock);
}
