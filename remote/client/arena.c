// SPDX-License-Identifier: MIT
/*
 * The arena's bytes, which the client hands out. A part at its begin is a ring of pieces for copies on their way: a piece is free
 * again when its frame is through. The rest is for pinned memory, images and what is waited for.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "client.h"

enum { ALIGN = 4096, PIECES = 1024, BATCH = 1 << 20 };

struct staged {
	uint64_t end;		/* of the ring: counts on and on */
	uint64_t seq;		/* 0: its frame is not sent yet */
};

struct block {
	uint64_t at, bytes;
	bool used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *base;
static uint64_t ring_bytes, ring_begin, ring_end;	/* begin and end count on */
static uint64_t touched;	/* of the ring: its pages are there */
static struct staged pieces[PIECES];
static unsigned int first_piece, nr_pieces;
static struct block *blocks;	/* all of the rest, sorted, without gaps */
static unsigned int nr_blocks, max_blocks;

void arena_init(void)
{
	uint64_t bytes;

	base = kvgpu_remote_arena(channel, &bytes);
	ring_bytes = bytes / 4 < (32ull << 20) ? bytes / 4 / ALIGN * ALIGN : 32ull << 20;
	max_blocks = 64;
	blocks = calloc(max_blocks, sizeof(*blocks));
	if (!blocks)
		return;
	blocks[0] = (struct block){ ring_bytes, (bytes - ring_bytes) / ALIGN * ALIGN, false };
	nr_blocks = 1;
}

void *arena_at(uint64_t at)
{
	return base + at;
}

/* ------------------------------------------------------------------ for long */

static bool split(unsigned int i, uint64_t bytes)
{
	struct block *grown;

	if (blocks[i].bytes == bytes)
		return true;
	if (nr_blocks == max_blocks) {
		grown = realloc(blocks, 2 * max_blocks * sizeof(*grown));
		if (!grown)
			return false;
		blocks = grown;
		max_blocks *= 2;
	}
	memmove(&blocks[i + 1], &blocks[i], (nr_blocks - i) * sizeof(*blocks));
	nr_blocks++;
	blocks[i].bytes = bytes;
	blocks[i + 1].at += bytes;
	blocks[i + 1].bytes -= bytes;
	return true;
}

uint64_t arena_get(uint64_t bytes)
{
	uint64_t at = KVGPU_REMOTE_NOWHERE;
	unsigned int i;

	if (bytes > KVGPU_REMOTE_ARENA_MAX)
		return at;
	bytes = bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
	pthread_mutex_lock(&lock);
	for (i = 0; i < nr_blocks; i++)
		if (!blocks[i].used && blocks[i].bytes >= bytes)
			break;
	if (i < nr_blocks && split(i, bytes)) {
		blocks[i].used = true;
		at = blocks[i].at;
	}
	pthread_mutex_unlock(&lock);
	return at;
}

static void join(unsigned int i)
{
	blocks[i].bytes += blocks[i + 1].bytes;
	nr_blocks--;
	memmove(&blocks[i + 1], &blocks[i + 2], (nr_blocks - i - 1) * sizeof(*blocks));
}

void arena_put(uint64_t at)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nr_blocks && blocks[i].at != at; i++)
		;
	if (i < nr_blocks) {
		blocks[i].used = false;
		if (i + 1 < nr_blocks && !blocks[i + 1].used)
			join(i);
		if (i && !blocks[i - 1].used)
			join(i - 1);
	}
	pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ for one frame */

static void collect(void)
{
	uint64_t through = call_through();

	while (nr_pieces && pieces[first_piece].seq && pieces[first_piece].seq <= through) {
		ring_begin = pieces[first_piece].end;
		first_piece = (first_piece + 1) % PIECES;
		nr_pieces--;
	}
}

/* pages one by one, at the first write to each, cost several times as much; a kernel that does not know it leaves it at that */
static void touch(uint64_t upto)
{
	for (; touched < upto; touched += BATCH)
		madvise(base + touched, ring_bytes - touched < BATCH ? ring_bytes - touched : BATCH, MADV_POPULATE_WRITE);
}

/* NULL: there is no room now. A piece does not go over the ring's end */
static struct staged *take(uint64_t bytes, uint64_t *at)
{
	uint64_t begin = ring_end, left = ring_bytes - begin % ring_bytes;
	struct staged *p;

	if (left < bytes)
		begin += left;
	if (begin + bytes - ring_begin > ring_bytes || nr_pieces == PIECES)
		return NULL;
	p = &pieces[(first_piece + nr_pieces) % PIECES];
	nr_pieces++;
	*p = (struct staged){ .end = begin + bytes };
	ring_end = p->end;
	*at = begin % ring_bytes;
	touch(*at + bytes);
	return p;
}

/* With the lock. The frame of the piece up to which half of the ring is; 0: the first one is not sent yet */
static uint64_t oldest_half(void)
{
	uint64_t seq = 0;
	unsigned int i;

	for (i = 0; i < nr_pieces; i++) {
		const struct staged *p = &pieces[(first_piece + i) % PIECES];

		if (!p->seq || (seq && p->end - ring_begin > ring_bytes / 2))
			break;
		seq = p->seq;
	}
	return seq;
}

/* what is waited for is the older half, so that the GPU has the other one to copy meanwhile */
struct staged *staging_get(uint64_t bytes, uint64_t *at, CUresult *r)
{
	struct staged *p;
	uint64_t upto;

	bytes = (bytes + 63) & ~63ull;
	for (;;) {
		pthread_mutex_lock(&lock);
		collect();
		p = take(bytes, at);
		upto = p ? 0 : oldest_half();
		pthread_mutex_unlock(&lock);
		if (p)
			return p;
		if (!upto) {	/* another thread is about to send it */
			*r = client_ready();
			sched_yield();
		} else {
			*r = call_fence(upto);
		}
		if (*r)
			return NULL;
	}
}

void staging_sent(struct staged *piece, uint64_t seq)
{
	pthread_mutex_lock(&lock);
	piece->seq = seq ? seq : 1;
	pthread_mutex_unlock(&lock);
}
