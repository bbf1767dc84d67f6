/* SPDX-License-Identifier: MIT */
/*
 * What proxies say to each other: the one that wants a piece of the other one's arena asks for it,
 * and the other one sends the piece, or refuses. Beside that, the checks of what came. pull.c makes
 * them for notes, in a proxy; outbox.c in the broker, for what a program asks for; inbox.c in a
 * proxy, for what the broker passes on; link.c on both sides, for the secret of control messages.
 * Pure.
 * All but its comments is in KVGPU_REMOTE_RELAYS (remote/README.md).
 */
#ifndef KVGPU_CLUSTER_NOTE_H
#define KVGPU_CLUSTER_NOTE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <remote/wire/cursor.h>
#include <remote/wire/frame.h>

#include "tags.h"

enum note_kind { NOTE_PULL = 1, NOTE_REFUSED };

struct note {
	uint64_t version;
	uint32_t kind;
	/* NOTE_PULL: the tunnel of the note's receiver whose arena is read */
	uint32_t tunnel;
	/* the tunnel that wants the piece, and its slot: they give the piece's tag, too */
	uint32_t wants, slot;
	struct kvgpu_remote_piece piece; /* NOTE_PULL: what is read */
	uint64_t key[2]; /* NOTE_PULL: of the tunnel whose arena is read */
	uint8_t secret[SECRET_BYTES];
};
static_assert(offsetof(struct note, wants) == 16 && offsetof(struct note, piece) == 24 &&
		      offsetof(struct note, key) == 40 && offsetof(struct note, secret) == 56 &&
		      sizeof(struct note) == 88,
	      "layout of a note");

/* whether another proxy may read, or bring, that piece of an arena of @arena bytes; 0: no arena */
static inline bool pull_is_sound(const struct kvgpu_remote_piece *piece, uint64_t arena)
{
	return arena && piece->bytes && piece->bytes <= KVGPU_REMOTE_RELAYED_MAX &&
	       kvgpu_remote_in_arena(piece->at, piece->bytes, arena);
}

/*
 * Where a piece comes from: another proxy of a job of @ranks. @self: the rank of the proxy that
 * gets the piece; in the broker that is the link's .rank.
 */
static inline bool source_is_sound(const struct kvgpu_remote_source *from, int self, int ranks)
{
	return from->rank >= 1 && from->rank < (uint32_t)ranks && from->rank != (uint32_t)self &&
	       from->tunnel < TUNNELS;
}

/* compare in a time that does not tell how many bytes are right */
static inline bool secret_is(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;
	unsigned int differs = 0;
	size_t i;

	for (i = 0; i < n; i++)
		differs |= x[i] ^ y[i];
	return !differs;
}

/* whether a note of @got bytes is of this job and this build, and in bounds */
static inline bool note_is_sound(const struct note *n, size_t got, const uint8_t *secret,
				 uint64_t version)
{
	return got == sizeof(*n) && secret_is(n->secret, secret, SECRET_BYTES) &&
	       n->version == version && (n->kind == NOTE_PULL || n->kind == NOTE_REFUSED) &&
	       n->tunnel < TUNNELS && n->wants < TUNNELS && n->slot < SLOTS_MAX;
}

#endif
