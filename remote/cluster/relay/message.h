/* SPDX-License-Identifier: MIT */
/*
 * A tunnel carries one program's connection between broker and proxy (relay.h). The head of a
 * message of a tunnel, and the check of a head that came from the other side. Pure. All
 * but its comments is in KVGPU_REMOTE_RELAYS (remote/README.md).
 */
#ifndef KVGPU_CLUSTER_MESSAGE_H
#define KVGPU_CLUSTER_MESSAGE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <remote/wire/cursor.h>
#include <remote/wire/frame.h>

#include "cut.h"

/* A message has bytes of the connection, and at most one piece of the arena. */
enum piece_kind {
	PIECE_NONE,
	PIECE_HERE, /* the piece's bytes follow the connection's */
	PIECE_APART, /* the piece comes in messages of its own */
	/* up: the piece comes from another proxy; a struct kvgpu_remote_source follows */
	PIECE_PULL,
};
struct message {
	uint32_t bytes; /* bytes of the connection */
	uint32_t before; /* so many of them come before the piece */
	uint16_t last, kind; /* last: the connection has ended behind it */
	uint32_t chunk; /* PIECE_APART: bytes of each of its messages but the last one */
	struct kvgpu_remote_piece piece;
};
static_assert(offsetof(struct message, last) == 8 && offsetof(struct message, chunk) == 12 &&
		      offsetof(struct message, piece) == 16 && sizeof(struct message) == 32,
	      "layout of a message's head");

/* bytes of a message with its head; the longest eager piece leaves room for frames */
enum { MESSAGE_MAX = CUT_MAX, MESSAGE_ROOM = MESSAGE_MAX - sizeof(struct message) };
enum { CHUNK_MIN = 4096, CHUNK_MAX = KVGPU_REMOTE_RELAYED_MAX };

/* bytes of the message behind those of the connection */
static inline uint64_t message_tail(const struct message *m)
{
	return m->kind == PIECE_HERE ? m->piece.bytes :
	       m->kind == PIECE_PULL ? sizeof(struct kvgpu_remote_source) :
				       0;
}

/* Check a head. @got: bytes that came, with it; @arena: the arena's size, 0: there is none yet. */
static inline bool message_is_sound(const struct message *m, size_t got, uint64_t arena)
{
	const struct kvgpu_remote_piece *p = &m->piece;

	if (m->kind > PIECE_PULL || m->last > 1 || m->before > m->bytes || m->bytes > MESSAGE_ROOM)
		return false;
	if (m->kind && (!arena || !p->bytes || !kvgpu_remote_in_arena(p->at, p->bytes, arena)))
		return false;
	if (m->kind == PIECE_APART && (m->chunk < CHUNK_MIN || m->chunk > CHUNK_MAX))
		return false;
	if (m->kind == PIECE_PULL && p->bytes > KVGPU_REMOTE_RELAYED_MAX)
		return false;
	if (message_tail(m) > MESSAGE_ROOM - m->bytes)
		return false;
	return sizeof(*m) + m->bytes + message_tail(m) <= got;
}

#endif
