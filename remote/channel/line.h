/* SPDX-License-Identifier: MIT */
/*
 * A line: a connected socket, or a TLS session on one. One thread reads and one thread writes at a
 * time; they may do so at once. shutdown() of the socket ends both. line_pending() is the reading
 * thread's. Call line_close() when no thread reads or writes any more: it closes the socket and
 * frees the session.
 */
#ifndef KVGPU_REMOTE_LINE_H
#define KVGPU_REMOTE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct tls;

struct line {
	int fd;
	struct tls *tls; /* NULL: without TLS */
	/* the process ignores SIGPIPE: without TLS writev() writes, as sendmsg() may be refused */
	bool by_writev;
};

/*
 * All bytes: 0; or -errno, and some may have gone: the peer's end is -ECONNRESET, a read to which
 * nothing came within the socket's time limit -ETIMEDOUT. line_write() may change @parts.
 */
int line_write(struct line *l, struct iovec *parts, unsigned int n);
int line_read(struct line *l, void *to, size_t n);
/*
 * Read some bytes, @n at most (not 0). Returns how many, or -errno; without @wait 0: no byte is
 * here now.
 */
ssize_t line_some(struct line *l, void *to, size_t n, bool wait);
/* Whether bytes are here that poll() of the socket does not tell of. */
bool line_pending(const struct line *l);
/* Set the socket's options: no delays, and an end if the peer's machine is gone. */
void line_prepare(struct line *l);
/* Set how long a read waits at most for the next bytes; 0: for ever. */
void line_patience(struct line *l, unsigned int seconds);
void line_close(struct line *l);

#endif
