/* SPDX-License-Identifier: MIT */
/*
 * A connection: a connected socket, or a TLS session on one. One thread reads and one thread writes
 * at a time; they may do so at once. shutdown() of the socket ends both. conn_pending() is the
 * reading thread's. Call conn_close() when no thread reads or writes any more: it closes the socket
 * and frees the session.
 */
#ifndef KVGPU_REMOTE_CONN_H
#define KVGPU_REMOTE_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct tls;

struct conn {
	int fd;
	struct tls *tls; /* NULL: without TLS */
	/* the process ignores SIGPIPE: without TLS writev() writes, as sendmsg() may be refused */
	bool by_writev;
};

/*
 * All bytes: 0; or -errno, and some may have gone: the peer's end is -ECONNRESET, a read to which
 * nothing came within the socket's time limit -ETIMEDOUT. conn_write() may change @parts.
 */
int conn_write(struct conn *c, struct iovec *parts, unsigned int n);
int conn_read(struct conn *c, void *to, size_t n);
/*
 * Read some bytes, @n at most (not 0). Returns how many, or -errno; without @wait 0: no byte is
 * here now.
 */
ssize_t conn_some(struct conn *c, void *to, size_t n, bool wait);
/* Whether bytes are here that poll() of the socket does not tell of. */
bool conn_pending(const struct conn *c);
/* Set the socket's options: no delays, and an end if the peer's machine is gone. */
void conn_prepare(struct conn *c);
/* Set how long a read waits at most for the next bytes; 0: for ever. */
void conn_patience(struct conn *c, unsigned int seconds);
void conn_close(struct conn *c);

#endif
