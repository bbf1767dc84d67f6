// SPDX-License-Identifier: MIT
/*
 * The client divides the arena. At its beginning is a ring of pieces for copies on their way: a
 * piece is free again when staging_sent() was called, its frame is done, and all pieces before it
 * are free. The rest is given out by arena_get(). No wait happens with arena.lock held.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "client.h"

enum { ALIGN = 4096, BATCH = 1 << 20 };

struct block {
	uint64_t at, bytes;
	bool used;
};

bool arena_init(struct peer *p)
{
	const struct kvgpu_remote_relayed *relay = kvgpu_remote_relay(p->channel);
	struct arena *a = &p->arena;
	uint64_t bytes, most = 32ull << 20;

	a->base = kvgpu_remote_arena(p->channel, &bytes);
	a->relayed = relay;
	if (relay && 2ull * relay->piece > most)
		most = 2ull * relay->piece;
	a->ring_bytes = bytes / 4 < most ? bytes / 4 / ALIGN * ALIGN : most;
	if (relay)
		a->ring_bytes -= a->ring_bytes % relay->piece;
	/* a piece that is larger than the ring would be waited for without an end */
	if (a->ring_bytes < KVGPU_REMOTE_PIECE_MAX || (relay && a->ring_bytes < 2 * relay->piece))
		return false;
	a->max_blocks = 64;
	a->blocks = calloc(a->max_blocks, sizeof(*a->blocks));
	if (!a->blocks)
		return false;
	a->blocks[0] =
		(struct block){ a->ring_bytes, (bytes - a->ring_bytes) / ALIGN * ALIGN, false };
	a->nr_blocks = 1;
	return true;
}

/* ------------------------------------------------------------------ pieces until arena_put() */

static bool split(struct arena *a, unsigned int i, uint64_t bytes)
{
	struct block *grown;

	if (a->blocks[i].bytes == bytes)
		return true;
	if (a->nr_blocks == a->max_blocks) {
		grown = realloc(a->blocks, 2 * a->max_blocks * sizeof(*grown));
		if (!grown)
			return false;
		a->blocks = grown;
		a->max_blocks *= 2;
	}
	memmove(&a->blocks[i + 1], &a->blocks[i], (a->nr_blocks - i) * sizeof(*a->blocks));
	a->nr_blocks++;
	a->blocks[i].bytes = bytes;
	a->blocks[i + 1].at += bytes;
	a->blocks[i + 1].bytes -= bytes;
	return true;
}

uint64_t arena_get(struct peer *p, uint64_t bytes)
{
	struct arena *a = &p->arena;
	uint64_t at = KVGPU_REMOTE_NOWHERE;
	unsigned int i;

	if (bytes > KVGPU_REMOTE_ARENA_MAX)
		return at;
	bytes = bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
	pthread_mutex_lock(&a->lock);
	for (i = 0; i < a->nr_blocks; i++)
		if (!a->blocks[i].used && a->blocks[i].bytes >= bytes)
			break;
	if (i < a->nr_blocks && split(a, i, bytes)) {
		a->blocks[i].used = true;
		at = a->blocks[i].at;
	}
	pthread_mutex_unlock(&a->lock);
	return at;
}

static void join(struct arena *a, unsigned int i)
{
	a->blocks[i].bytes += a->blocks[i + 1].bytes;
	a->nr_blocks--;
	memmove(&a->blocks[i + 1], &a->blocks[i + 2], (a->nr_blocks - i - 1) * sizeof(*a->blocks));
}

void arena_put(struct peer *p, uint64_t at)
{
	struct arena *a = &p->arena;
	unsigned int i;

	pthread_mutex_lock(&a->lock);
	for (i = 0; i < a->nr_blocks && a->blocks[i].at != at; i++)
		;
	if (i < a->nr_blocks) {
		a->blocks[i].used = false;
		if (i + 1 < a->nr_blocks && !a->blocks[i + 1].used)
			join(a, i);
		if (i && !a->blocks[i - 1].used)
			join(a, i - 1);
	}
	pthread_mutex_unlock(&a->lock);
}

/* ------------------------------------------------------------ pieces of the ring, for one frame */

static void collect(struct arena *a, uint64_t through)
{
	while (a->nr_pieces && a->pieces[a->first_piece].seq &&
	       a->pieces[a->first_piece].seq <= through) {
		a->ring_begin = a->pieces[a->first_piece].end;
		a->first_piece = (a->first_piece + 1) % ARENA_PIECES;
		a->nr_pieces--;
	}
}

/*
 * Populate pages in batches: faster than a fault at the first write to each. A kernel without
 * MADV_POPULATE_WRITE does nothing here.
 */
static void touch(struct arena *a, uint64_t upto)
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

static struct staged *take(struct arena *a, uint64_t bytes, uint64_t *at)
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
	touch(a, *at + bytes);
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
		collect(a, call_through(p));
		begin_anew(a);
		piece = take(a, bytes, at);
		upto = piece ? 0 : oldest_half(a);
		pthread_mutex_unlock(&a->lock);
		if (piece)
			return piece;
		if (!upto) {	/* another thread is about to send the oldest frame */
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
