/* SPDX-License-Identifier: MIT */
/* The stream carrier's own: what goes over the socket, and reading and writing all of it. */
#ifndef KVGPU_REMOTE_STREAM_H
#define KVGPU_REMOTE_STREAM_H

#include "carrier.h"

/* From the client come frames. The server says this, and what belongs to it behind. */
enum { DOWN_ANSWER = 1, DOWN_PIECE, DOWN_HAPPENING };
struct down {
	uint16_t kind, box;
	uint32_t bytes;		/* of what follows; a piece's are 64 bit and in b */
	/* an answer's seq and result; a piece's place and bytes; a happening's id and event | value << 32 */
	uint64_t a, b;
};

/* All or nothing: 0, or -errno; the peer's end is -ECONNRESET. @parts is used up. */
int stream_write(int fd, struct iovec *parts, unsigned int n);
int stream_read(int fd, void *to, size_t n);
/* a carrier's socket: no delays of its own */
void stream_prepare(int fd);
/* the server's answer to a hello: 0, or -EPROTO and why */
int stream_check(const struct kvgpu_remote_welcome *w, uint64_t version, const char **why);

#endif
