/* SPDX-License-Identifier: MIT */
/*
 * What goes over a connection of the stream carrier. remote/cluster/relay/parser.c parses it, too.
 * Constants and layouts are in KVGPU_REMOTE_VERSION (remote/README.md).
 */
#ifndef KVGPU_REMOTE_STREAM_H
#define KVGPU_REMOTE_STREAM_H

#include "carrier.h"
#include "conn.h"

/* The client sends frames. The server sends a struct down, then its payload. */
enum { DOWN_ANSWER = 1, DOWN_PIECE, DOWN_NOTIFICATION };
struct down {
	uint16_t kind, completion;
	uint32_t bytes; /* of payload; those of a piece are in .b, as 64 bits */
	/*
	 * an answer's seq and result; a piece's place and bytes; a notification's id and kind |
	 * value << 32
	 */
	uint64_t a, b;
};

static_assert(offsetof(struct down, kind) == 0 && offsetof(struct down, completion) == 2 &&
		      offsetof(struct down, bytes) == 4 && offsetof(struct down, a) == 8 &&
		      offsetof(struct down, b) == 16 && sizeof(struct down) == 24,
	      "layout of what comes down");

#endif
