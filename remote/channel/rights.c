// SPDX-License-Identifier: MIT
#include "rights.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* SO_PASSRIGHTS of Linux 6.16 and later, on x86 and arm64 */
enum { PASS_RIGHTS = 83 };

void rights_refuse(int fd)
{
	setsockopt(fd, SOL_SOCKET, PASS_RIGHTS, &(int){ 0 }, sizeof(int));
}

void rights_allow(int fd)
{
	setsockopt(fd, SOL_SOCKET, PASS_RIGHTS, &(int){ 1 }, sizeof(int));
}

static int option_of(int fd, int option, int otherwise)
{
	socklen_t bytes = sizeof(int);
	int value;

	return getsockopt(fd, SOL_SOCKET, option, &value, &bytes) ? otherwise : value;
}

static bool may_come(int fd)
{
	return option_of(fd, SO_DOMAIN, AF_UNSPEC) == AF_UNIX && option_of(fd, PASS_RIGHTS, 1);
}

/*
 * A child that has all descriptors until let_go(). A process that exits does not linger
 * (inet_release() of Linux), so it should be the one that puts the last reference.
 */
static pid_t hold(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

/* without a child the caller has closed by itself: it may have waited */
static void let_go(pid_t holder)
{
	if (holder > 0)
		kill(holder, SIGKILL);
}

/*
 * A process that has had a copy of the socket may have set SO_LINGER: a TCP socket or a vsock waits
 * at the last close() then. Without it the kernel goes on to send in the background.
 */
static void close_at_once(int fd)
{
	static const struct linger none;

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

/*
 * A read without room for descriptors destroys those that come, as does one with too little room.
 * So look first: MSG_CTRUNC tells of them, and they stay where they are. An urgent byte is read in
 * its order: else the read drops it unseen.
 */
ssize_t rights_read(int fd, void *to, size_t n)
{
	struct iovec part = { to, n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t seen;

	if (!may_come(fd))
		return recv(fd, to, n, MSG_DONTWAIT);
	setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &(int){ 1 }, sizeof(int));
	seen = recvmsg(fd, &m, MSG_PEEK | MSG_DONTWAIT);
	if (seen >= 0 && m.msg_flags & MSG_CTRUNC) {
		errno = EPROTO;
		return -1;
	}
	/* no more than was seen: behind it a descriptor may have come by now */
	return seen <= 0 ? seen : recv(fd, to, seen, MSG_DONTWAIT);
}

/* @fd: was shut down, so nothing comes any more. A message of no bytes does not count. */
static bool is_empty(int fd)
{
	int bytes = 0;

	return option_of(fd, SO_TYPE, 0) == SOCK_STREAM && !ioctl(fd, FIONREAD, &bytes) && !bytes;
}

/*
 * Sockets that were shut down, and may have descriptors in them: they are closed together. A fork
 * costs this process more than a connection costs a peer.
 */
static int kept[RIGHTS_KEPT];
static unsigned int nr_kept;

void rights_close_kept(void)
{
	pid_t holder = nr_kept ? hold() : -1;

	while (nr_kept)
		close(kept[--nr_kept]);
	let_go(holder);
}

void rights_close(int fd)
{
	bool may = may_come(fd);

	if (may)
		shutdown(fd, SHUT_RDWR);
	if (!may || is_empty(fd)) {
		close_at_once(fd);
		return;
	}
	kept[nr_kept++] = fd;
	if (nr_kept == RIGHTS_KEPT)
		rights_close_kept();
}

void rights_close_copy(int fd)
{
	pid_t holder = may_come(fd) ? hold() : -1;

	close_at_once(fd);
	let_go(holder);
}

void rights_closefrom(int first)
{
	pid_t holder = hold();

	closefrom(first);
	nr_kept = 0;
	let_go(holder);
	if (holder > 0)
		waitpid(holder, NULL, 0);
}
