// SPDX-License-Identifier: MIT
/*
 * conn.h has the contracts. In a server's process for a client each system call here must be one
 * that remote/supervisor/filter.c allows.
 */
#include "conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tls.h"

/* TCP: ends a connection to a machine that is gone without a word */
enum { IDLE_S = 20, BETWEEN_S = 5, PROBES = 4, UNANSWERED_MS = 40000 };
/*
 * bytes that wait in a TCP socket until the network takes them, at most: an answer lies behind
 * them. At 25 Gbit/s they are 40 us of sending, in which the writer wakes up.
 */
enum { UNSENT = 128 << 10 };
/*
 * A UNIX socket takes so much before the writer waits for the reader, if the system allows it. It
 * wakes the writer when three quarters are gone; the kernel's own 208 KiB are read up before that
 * thread runs.
 */
enum { UNIX_ROOM = 1 << 20 };
enum { PAGE = 4096 };

void conn_prepare(struct conn *c)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S },
		{ IPPROTO_TCP, TCP_KEEPINTVL, BETWEEN_S },
		{ IPPROTO_TCP, TCP_KEEPCNT, PROBES },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, UNANSWERED_MS },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT },
	};
	socklen_t bytes = sizeof(int);
	int family = AF_UNSPEC;
	size_t i;

	/* sockets of other families refuse options of TCP, and need none */
	for (i = 0; i < sizeof(options) / sizeof(*options); i++)
		setsockopt(c->fd, options[i].level, options[i].name, &options[i].value,
			   sizeof(options[i].value));
	/* TCP sets its room by itself, as the network needs it */
	if (!getsockopt(c->fd, SOL_SOCKET, SO_DOMAIN, &family, &bytes) && family == AF_UNIX)
		setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &(int){ UNIX_ROOM }, sizeof(int));
}

void conn_patience(struct conn *c, unsigned int seconds)
{
	struct timeval t = { .tv_sec = seconds };

	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
}

/*
 * The kernel could not read or write memory of the program's. Touch it: a fault goes to a handler
 * of the program's, which may open the pages, or ends the program. @written: the kernel writes.
 */
static void touch_pages(void *memory, size_t n, bool written)
{
	uint8_t *at = memory;
	size_t i;

	for (i = 0; i < n; i += PAGE - (uintptr_t)(at + i) % PAGE)
		if (written)
			__atomic_fetch_or(at + i, 0, __ATOMIC_RELAXED);
		else
			__atomic_load_n(at + i, __ATOMIC_RELAXED);
}

static void touch_parts(const struct msghdr *m)
{
	size_t i;

	for (i = 0; i < m->msg_iovlen; i++)
		touch_pages(m->msg_iov[i].iov_base, m->msg_iov[i].iov_len, false);
	errno = EFAULT;
}

static int write_plain(const struct conn *c, struct iovec *parts, unsigned int n)
{
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = n };
	ssize_t done;

	while (m.msg_iovlen) {
		if (!m.msg_iov->iov_len) {
			m.msg_iov++;
			m.msg_iovlen--;
			continue;
		}
		done = c->by_writev ? writev(c->fd, m.msg_iov, m.msg_iovlen) :
				      sendmsg(c->fd, &m, MSG_NOSIGNAL);
		if (done < 0 && errno == EFAULT)
			touch_parts(&m);
		if (done < 0 && (errno == EINTR || errno == EFAULT))
			continue;
		if (done <= 0)
			return -ECONNRESET;
		while (m.msg_iovlen && (size_t)done >= m.msg_iov->iov_len) {
			done -= m.msg_iov->iov_len;
			m.msg_iov++;
			m.msg_iovlen--;
		}
		if (m.msg_iovlen) {
			m.msg_iov->iov_base = (uint8_t *)m.msg_iov->iov_base + done;
			m.msg_iov->iov_len -= done;
		}
	}
	return 0;
}

int conn_write(struct conn *c, struct iovec *parts, unsigned int n)
{
	return c->tls ? tls_write(c->tls, parts, n) : write_plain(c, parts, n);
}

static ssize_t some_plain(int fd, void *to, size_t n, bool wait)
{
	ssize_t done;

	for (;;) {
		done = recv(fd, to, n, wait ? 0 : MSG_DONTWAIT);
		if (done < 0 && errno == EFAULT)
			touch_pages(to, n, true);
		else if (done >= 0 || errno != EINTR || !wait)
			break;
	}
	if (done > 0)
		return done;
	if (done < 0 && (errno == EAGAIN || errno == EINTR))
		return wait ? -ETIMEDOUT : 0;
	return -ECONNRESET;
}

ssize_t conn_some(struct conn *c, void *to, size_t n, bool wait)
{
	return c->tls ? tls_some(c->tls, to, n, wait) : some_plain(c->fd, to, n, wait);
}

int conn_read(struct conn *c, void *to, size_t n)
{
	uint8_t *at = to;
	ssize_t done;

	while (n) {
		done = conn_some(c, at, n, true);
		if (done < 0)
			return done;
		at += done;
		n -= done;
	}
	return 0;
}

bool conn_pending(const struct conn *c)
{
	return c->tls && tls_pending(c->tls);
}

void conn_close(struct conn *c)
{
	if (c->tls)
		tls_end(c->tls);
	c->tls = NULL;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}
