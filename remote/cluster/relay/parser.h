/* SPDX-License-Identifier: MIT */
/*
 * Parse what the peer of a local connection sends: find the pieces of the arena that it names, and
 * pass on all other bytes as they are. A program sends frames (up), a server process answers
 * (down). Pure; the bytes are not trusted.
 */
#ifndef KVGPU_CLUSTER_PARSER_H
#define KVGPU_CLUSTER_PARSER_H

#include <stddef.h>
#include <stdint.h>

#include <remote/wire/frame.h>

enum parser_way { PARSER_UP, PARSER_DOWN };
enum parser_what {
	PARSER_NONE, /* more has to be read, or there is no room */
	PARSER_BYTES, /* pass these bytes on */
	PARSER_PIECE, /* from here on the other side has to have this piece of the arena */
	/* the same, but its bytes come from .source, another proxy */
	PARSER_PULL,
	PARSER_WRONG, /* no program and no server process sends that */
};
enum { PARSER_AHEAD = 64 << 10 };

struct parser {
	enum parser_way way;
	size_t have, used;
	uint64_t left; /* bytes to pass on before the next head */
	struct kvgpu_remote_source source; /* of the last PARSER_PULL */
	uint8_t ahead[PARSER_AHEAD];
};

/*
 * Find what comes next. @room: pass on so many bytes at most. *bytes is valid until parser_room().
 */
enum parser_what parser_next(struct parser *t, size_t room, const uint8_t **bytes, size_t *n,
			     struct kvgpu_remote_piece *piece);
/* where *n more bytes (0: no room) can be read to; add to t->have how many were read */
uint8_t *parser_room(struct parser *t, size_t *n);

/*
 * Write to @to the head that announces @piece to a local peer. Return its bytes, PARSER_SAID at
 * most.
 */
enum { PARSER_SAID = 32 };
size_t parser_say(enum parser_way way, const struct kvgpu_remote_piece *piece, uint8_t *to);
/* Make of what parser_say(PARSER_UP) has written at @said that the piece can't be had. */
void parser_say_spoilt(uint8_t *said);

#endif
