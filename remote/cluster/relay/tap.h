/* SPDX-License-Identifier: MIT */
/*
 * What the peer of a local connection says, taken apart: pieces of the arena that it names are
 * found, all other bytes pass as they are. A program says frames (up), a server process answers
 * (down). Pure; nothing that it is given is trusted.
 */
#ifndef KVGPU_CLUSTER_TAP_H
#define KVGPU_CLUSTER_TAP_H

#include <stddef.h>
#include <stdint.h>

#include <remote/wire/frame.h>

enum tap_way { TAP_UP, TAP_DOWN };
enum tap_what {
	TAP_NONE,	/* more has to be read, or there is no room */
	TAP_BYTES,	/* these pass */
	TAP_PIECE,	/* from here on this piece of the arena is the other side's */
	TAP_WRONG,	/* no program and no server process says that */
};
enum { TAP_AHEAD = 64 << 10 };

struct tap {
	enum tap_way way;
	size_t have, used;
	uint64_t left;			/* bytes that pass before something begins again */
	uint8_t ahead[TAP_AHEAD];
};

/* The next thing; @room: for so many bytes. *bytes stays until tap_room(). */
enum tap_what tap_next(struct tap *t, size_t room, const uint8_t **bytes, size_t *n,
		       struct kvgpu_remote_piece *piece);
/* Where more can be read to, *n bytes; what was read is told by t->have. 0: no room */
uint8_t *tap_room(struct tap *t, size_t *n);

/* What says so to the peer at the other end: how many bytes at @to, TAP_SAID at most. */
enum { TAP_SAID = 32 };
size_t tap_say(enum tap_way way, const struct kvgpu_remote_piece *piece, uint8_t *to);

#endif
