/* SPDX-License-Identifier: MIT */
/*
 * A descriptor whose last close() waits, which a peer sends over a UNIX socket; and a kernel that
 * can't refuse such descriptors (before Linux 6.16): link with --wrap=setsockopt,
 * --wrap=getsockopt.
 */
#ifndef KVGPU_SELFTESTS_LINGER_H
#define KVGPU_SELFTESTS_LINGER_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/channel/rights.h>

/* HANGS_S: a test that takes so long hangs */
enum { HANGS_S = 90, LINGER_S = 4 * HANGS_S, LINGER_PASS_RIGHTS = 83 };

static bool old_kernel;

int __real_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes);
int __real_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes);

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	if (old_kernel && level == SOL_SOCKET && option == LINGER_PASS_RIGHTS) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return __real_setsockopt(fd, level, option, value, bytes);
}

static void (*linger_asked)(int option); /* a getsockopt() is to come; NULL: nobody looks */

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes)
{
	if (linger_asked)
		linger_asked(option);
	if (old_kernel && level == SOL_SOCKET && option == LINGER_PASS_RIGHTS) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return __real_getsockopt(fd, level, option, value, bytes);
}

/* *other: the end that does not read */
static inline int linger_make(int *other)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static char bytes[65536];
	socklen_t n = sizeof(at);

	bind(listening, (struct sockaddr *)&at, n);
	listen(listening, 1);
	getsockname(listening, (struct sockaddr *)&at, &n);
	connect(fd, (struct sockaddr *)&at, n);
	*other = accept(listening, NULL, NULL);
	close(listening);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	return fd;
}

/*
 * Send such a descriptor with these bytes, and keep no copy. Return its other end, or -1 and errno.
 */
static inline int linger_send(int to, const void *bytes, size_t n, int flags)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} with = { .room = { 0 } };
	struct iovec part = { (void *)(uintptr_t)bytes, n };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &with,
			    .msg_controllen = sizeof(with) };
	int other, error, fd = linger_make(&other);

	with.head = (struct cmsghdr){ CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&with.head), &fd, sizeof(fd));
	error = sendmsg(to, &m, flags | MSG_NOSIGNAL) < 0 ? errno : 0;
	if (error) { /* with nothing unread close() does not wait */
		close(other);
		other = -1;
	}
	close(fd);
	errno = error;
	return other;
}

/* Have rights_close() close all that it keeps: it makes a child for this. */
static inline void linger_flush(void)
{
	unsigned int i;
	int pair[2];

	for (i = 0; i < RIGHTS_KEPT; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ||
		    write(pair[1], "", 1) != 1)
			abort();
		close(pair[1]);
		rights_close(pair[0]);
	}
}

/* It is closed, by a child, which is reaped here. HANGS_S is a limit for that. */
static inline void linger_ends(int other)
{
	static char bytes[65536];

	linger_flush();
	while (recv(other, bytes, sizeof(bytes), 0) > 0)
		;
	close(other);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

#endif
