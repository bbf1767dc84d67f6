// SPDX-License-Identifier: MIT
#include "stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

void stream_prepare(int fd)
{
	int on = 1;

	/* what is no TCP socket says no, and needs it not */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int stream_check(const struct kvgpu_remote_welcome *w, uint64_t version, const char **why)
{
	*why = "what listens there is no kvgpu-remoted";
	if (w->magic != KVGPU_REMOTE_MAGIC)
		return -EPROTO;
	*why = "client and server are of different versions: both have to be of one build";
	if (w->version != version || w->result)
		return -EPROTO;
	*why = "the server's arena has a size that can't be";
	return w->arena_bytes < KVGPU_REMOTE_PIECE_MAX || w->arena_bytes > KVGPU_REMOTE_ARENA_MAX ? -EPROTO : 0;
}

int stream_write(int fd, struct iovec *parts, unsigned int n)
{
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = n };
	ssize_t done;

	while (m.msg_iovlen) {
		if (!m.msg_iov->iov_len) {
			m.msg_iov++;
			m.msg_iovlen--;
			continue;
		}
		done = sendmsg(fd, &m, MSG_NOSIGNAL);
		if (done < 0 && errno == EINTR)
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

int stream_read(int fd, void *to, size_t n)
{
	uint8_t *at = to;
	ssize_t done;

	while (n) {
		done = recv(fd, at, n, 0);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -ECONNRESET;
		at += done;
		n -= done;
	}
	return 0;
}
