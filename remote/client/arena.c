// SPDX-License-Identifier: MIT
/*
 * The client divides the arena. At its beginning is a ring of pieces for copies on their way
 * (staging.c), then slots, if the channel is plain. The rest is given out by arena_get().
 */
#include <stdlib.h>

#include "client.h"

/* pieces that are put later are an arena's LATER_OF-th at most */
enum { ALIGN = 4096, LATER_OF = 256 };

struct block {
	uint64_t at, bytes;
	bool used;
	bool first; /* begins a part that the arena has grown by: no block goes over there */
};

bool arena_init(struct peer *p)
{
	const struct kvgpu_remote_relayed *relay = kvgpu_remote_relay(p->channel);
	struct arena *a = &p->arena;
	uint64_t bytes, most = 32ull << 20;

	a->base = kvgpu_remote_arena(p->channel, &bytes);
	a->relayed = relay;
	a->first = bytes;
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
	a->blocks[0].at = a->ring_bytes;
	a->blocks[0].bytes = (bytes - a->ring_bytes) / ALIGN * ALIGN;
	a->spare = a->blocks[0].bytes / 4;
	a->nr_blocks = 1;
	if (kvgpu_remote_is_plain(p->channel)) {
		a->nr_slots = a->ring_bytes / 4 / KVGPU_REMOTE_PIECE_MAX;
		a->ring_bytes -= a->nr_slots * (uint64_t)KVGPU_REMOTE_PIECE_MAX;
		/* most pieces go out from the program's memory: don't populate pages for them */
		a->touched = a->ring_bytes;
	}
	return true;
}

/* ------------------------------------------------------------------ slots */

uint64_t slot_get(struct peer *p, uint64_t bytes)
{
	struct arena *a = &p->arena;
	unsigned int i;

	pthread_mutex_lock(&a->lock);
	for (i = 0; i < a->nr_slots && a->slots & 1u << i; i++)
		;
	if (i < a->nr_slots)
		a->slots |= 1u << i;
	pthread_mutex_unlock(&a->lock);
	return i < a->nr_slots ? a->ring_bytes + i * (uint64_t)KVGPU_REMOTE_PIECE_MAX :
				 arena_get(p, bytes);
}

void slot_put(struct peer *p, uint64_t at)
{
	struct arena *a = &p->arena;
	uint64_t slot = (at - a->ring_bytes) / KVGPU_REMOTE_PIECE_MAX;

	if (at < a->ring_bytes || slot >= a->nr_slots) {
		arena_put(p, at);
		return;
	}
	pthread_mutex_lock(&a->lock);
	a->slots &= ~(1u << slot);
	pthread_mutex_unlock(&a->lock);
}

/* ------------------------------------------------------------------ pieces until arena_put() */

static bool room_for_block(struct arena *a)
{
	struct block *grown;

	if (a->nr_blocks < a->max_blocks)
		return true;
	grown = realloc(a->blocks, 2 * a->max_blocks * sizeof(*grown));
	if (!grown)
		return false;
	a->blocks = grown;
	a->max_blocks *= 2;
	return true;
}

static bool split_block(struct arena *a, unsigned int i, uint64_t bytes)
{
	if (a->blocks[i].bytes == bytes)
		return true;
	if (!room_for_block(a))
		return false;
	memmove(&a->blocks[i + 1], &a->blocks[i], (a->nr_blocks - i) * sizeof(*a->blocks));
	a->nr_blocks++;
	a->blocks[i].bytes = bytes;
	a->blocks[i + 1].at += bytes;
	a->blocks[i + 1].bytes -= bytes;
	a->blocks[i + 1].first = false;
	return true;
}

/* Call with the lock. Whether .spare is left if @bytes of block @at are taken. */
static bool has_spare(const struct arena *a, unsigned int at, uint64_t bytes)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < a->nr_blocks && !a->blocks[i].first; i++)
		if (!a->blocks[i].used)
			sum += a->blocks[i].bytes;
	return at >= i || sum >= a->spare + bytes;
}

uint64_t arena_get(struct peer *p, uint64_t bytes)
{
	return arena_take(p, bytes, false);
}

uint64_t arena_take(struct peer *p, uint64_t bytes, bool spare)
{
	struct arena *a = &p->arena;
	uint64_t at = KVGPU_REMOTE_NOWHERE;
	unsigned int i;

	if (bytes > KVGPU_REMOTE_ARENA_MAX)
		return at;
	bytes = bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
	pthread_mutex_lock(&a->lock);
	for (i = 0; i < a->nr_blocks; i++)
		if (!a->blocks[i].used && a->blocks[i].bytes >= bytes &&
		    (!spare || has_spare(a, i, bytes)))
			break;
	if (i < a->nr_blocks && split_block(a, i, bytes)) {
		a->blocks[i].used = true;
		at = a->blocks[i].at;
	}
	pthread_mutex_unlock(&a->lock);
	return at;
}

static void join_blocks(struct arena *a, unsigned int i)
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
		if (i + 1 < a->nr_blocks && !a->blocks[i + 1].used && !a->blocks[i + 1].first)
			join_blocks(a, i);
		if (i && !a->blocks[i - 1].used && !a->blocks[i].first)
			join_blocks(a, i - 1);
	}
	pthread_mutex_unlock(&a->lock);
}

/* ------------------------------------------------------------------ pieces that are put later */

bool arena_put_later(struct peer *p, uint64_t at)
{
	struct arena *a = &p->arena;
	unsigned int i;
	bool fine;

	pthread_mutex_lock(&a->lock);
	for (i = 0; i < a->nr_blocks && a->blocks[i].at != at; i++)
		;
	fine = a->nr_later < ARENA_LATER && i < a->nr_blocks &&
	       a->later_bytes + a->blocks[i].bytes <= a->first / LATER_OF;
	if (fine) {
		a->later[a->nr_later++] = at;
		a->later_bytes += a->blocks[i].bytes;
	}
	pthread_mutex_unlock(&a->lock);
	return fine;
}

unsigned int arena_take_later(struct peer *p, uint64_t *at)
{
	struct arena *a = &p->arena;
	unsigned int n;

	pthread_mutex_lock(&a->lock);
	n = a->nr_later;
	memcpy(at, a->later, n * sizeof(*at));
	a->nr_later = 0;
	a->later_bytes = 0;
	pthread_mutex_unlock(&a->lock);
	return n;
}

/* ------------------------------------------------------------------ parts that it grows by */

bool arena_add(struct peer *p, uint64_t at, uint64_t bytes)
{
	struct arena *a = &p->arena;
	bool fine;

	pthread_mutex_lock(&a->lock);
	fine = room_for_block(a);
	if (fine)
		a->blocks[a->nr_blocks++] = (struct block){ at, bytes, false, true };
	pthread_mutex_unlock(&a->lock);
	return fine;
}

bool arena_cut(struct peer *p, uint64_t *at)
{
	struct arena *a = &p->arena;
	struct block *last;
	bool fine;

	pthread_mutex_lock(&a->lock);
	last = &a->blocks[a->nr_blocks - 1];
	fine = last->first && !last->used;
	if (fine) {
		*at = last->at;
		a->nr_blocks--;
	}
	pthread_mutex_unlock(&a->lock);
	return fine;
}
