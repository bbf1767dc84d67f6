// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets and the main loop: one client at a time, the statistics socket, signals. One thread does
 * all of this and serves the accesses that come as messages.
 *
 * A second client waits until the first is gone, so that a QEMU may be started again at any time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "internal.h"

#define RX_SIZE		(VU_MSG_MAX + (64u << 10))
#define RX_BURST	64
#define SEND_TIMEOUT_S	10
#define HANGUP_GRACE_MS 300

struct server_sockets {
	const char *path[3];
	int listen, client, waiting, stats, signal;
	uint8_t *rx;
	size_t rx_len;
	struct vu_fds fds;
};

/* ------------------------------------------------------------------ listening */

/* Return 0, or -errno after gk110_err(). */
static int socket_clear(const char *path, const struct sockaddr_un *a, int type)
{
	struct stat st;
	int fd, ret;

	if (lstat(path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode)) {
		gk110_err("%s exists and is no socket: give another path, or remove it", path);
		return -EEXIST;
	}
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ret = fd < 0 ? -errno : connect(fd, (const struct sockaddr *)a, sizeof(*a)) ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (ret != -ECONNREFUSED) {
		gk110_err("%s is in use by another process: end it, or give another path", path);
		return -EADDRINUSE;
	}
	if (unlink(path)) {
		ret = -errno;
		gk110_err("can't remove the stale socket %s: %s", path, strerror(-ret));
		return ret;
	}
	return 0;
}

static int socket_listen(const char *path, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(a.sun_path)) {
		gk110_err("socket path %s is longer than %zu bytes: give a shorter one", path,
			  sizeof(a.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	strcpy(a.sun_path, path);
	ret = socket_clear(path, &a, type);
	if (ret)
		return ret;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a)) && !listen(fd, 4))
		return fd;
	ret = -errno;
	gk110_err("can't listen on %s: %s", path, strerror(-ret));
	if (fd >= 0)
		close(fd);
	return ret;
}

static int listen_all(struct vfio_server *s, const struct vfio_options *opt)
{
	struct server_sockets *so = s->sockets;
	int fd;

	so->listen = socket_listen(opt->socket, SOCK_STREAM);
	if (so->listen < 0)
		return so->listen;
	so->path[0] = opt->socket;
	if (opt->stats_socket) {
		so->stats = socket_listen(opt->stats_socket, SOCK_STREAM);
		if (so->stats < 0)
			return so->stats;
		so->path[1] = opt->stats_socket;
	}
	if (opt->plugin_socket) {
		fd = socket_listen(opt->plugin_socket, SOCK_SEQPACKET);
		if (fd < 0)
			return fd;
		so->path[2] = opt->plugin_socket;
		s->barmap = barmap_create(s, fd);
		if (!s->barmap)
			return -ENOMEM;
	}
	return 0;
}

static int signals_open(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ------------------------------------------------------------------ the client */

static int send_all(void *to, const void *hdr, size_t hdr_len, const void *data, size_t len, int fd)
{
	struct server_sockets *so = to;
	struct iovec iov[2] = { { (void *)hdr, hdr_len }, { (void *)data, len } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = len ? 2 : 1 };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl = { 0 };
	struct cmsghdr *c;
	ssize_t n;

	if (fd >= 0) {
		m.msg_control = ctl.buf;
		m.msg_controllen = sizeof(ctl.buf);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	while (m.msg_iovlen) {
		n = sendmsg(so->client, &m, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		m.msg_controllen = 0;
		for (; m.msg_iovlen && (size_t)n >= m.msg_iov->iov_len; m.msg_iov++, m.msg_iovlen--)
			n -= m.msg_iov->iov_len;
		if (m.msg_iovlen) {
			m.msg_iov->iov_base = (uint8_t *)m.msg_iov->iov_base + n;
			m.msg_iov->iov_len -= n;
		}
	}
	return 0;
}

static void client_begin(struct vfio_server *s, int fd)
{
	struct timeval tv = { .tv_sec = SEND_TIMEOUT_S };
	struct server_sockets *so = s->sockets;
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	client_reset(s);
	s->client.pid = cred.pid;
	so->client = fd;
	so->rx_len = 0;
}

static void fds_close(struct vu_fds *f)
{
	while (f->nr)
		close(f->fd[--f->nr]);
}

static void client_end(struct vfio_server *s)
{
	struct server_sockets *so = s->sockets;
	int next = so->waiting;

	close(so->client);
	so->client = so->waiting = -1;
	fds_close(&so->fds);
	client_gone(s);
	if (next >= 0)
		client_begin(s, next);
}

static void client_accept(struct vfio_server *s)
{
	struct server_sockets *so = s->sockets;
	int fd = accept4(so->listen, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (so->client < 0) {
		client_begin(s, fd);
	} else if (so->waiting < 0) {
		gk110_note(s->g,
			   "a second client is connected: it is served when the first is gone");
		so->waiting = fd;
	} else {
		gk110_note(s->g, "a third client is connected: turned away");
		close(fd);
	}
}

static void take_fds(struct vfio_server *s, struct msghdr *m)
{
	struct vu_fds *f = &s->sockets->fds;
	struct cmsghdr *c;
	unsigned int i, nr;
	int fd;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < nr; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (f->nr < VU_MAX_FDS)
				f->fd[f->nr++] = fd;
			else
				close(fd); /* more descriptors than were negotiated */
		}
	}
}

/*
 * Read once, and serve what came. The kernel ends a read behind data that came with descriptors, so
 * descriptors belong to the message that has the last byte read. Return 1: there may be more at
 * once, 0: wait, -errno: the connection ends.
 */
static int client_read(struct vfio_server *s)
{
	struct server_sockets *so = s->sockets;
	struct iovec iov = { so->rx + so->rx_len, RX_SIZE - so->rx_len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(VU_MAX_FDS * sizeof(int))];
	} ctl;
	unsigned int had = so->fds.nr;
	ssize_t n, used;

	m.msg_control = ctl.buf;
	m.msg_controllen = sizeof(ctl.buf);
	n = recvmsg(so->client, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n)
		return -ECONNRESET;
	take_fds(s, &m);
	so->rx_len += n;
	if (so->fds.nr > had)
		so->fds.at = so->rx_len - 1;
	used = messages_feed(s, so->rx, so->rx_len, &so->fds);
	if (used < 0)
		return used;
	so->rx_len -= used;
	so->fds.at -= used;
	if (used && so->rx_len)
		memmove(so->rx, so->rx + used, so->rx_len);
	return (size_t)n == iov.iov_len;
}

static void client_serve(struct vfio_server *s)
{
	int ret = 1, i;

	for (i = 0; i < RX_BURST && ret > 0; i++)
		ret = client_read(s);
	if (ret >= 0)
		return;
	if (ret != -ECONNRESET && ret != -EPIPE)
		gk110_note(s->g, "client dropped: %s", strerror(-ret));
	client_end(s);
}

/* ------------------------------------------------------------------ statistics, signals */

static void stats_serve(struct vfio_server *s)
{
	struct timeval tv = { .tv_sec = 1 };
	int fd = accept4(s->sockets->stats, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	gk110_stats_json(s->g, fd);
	close(fd);
}

static bool signal_serve(struct vfio_server *s)
{
	struct signalfd_siginfo si;

	if (read(s->sockets->signal, &si, sizeof(si)) != sizeof(si))
		return false;
	if (si.ssi_signo != SIGUSR1)
		return true;
	fflush(stderr);
	gk110_stats_json(s->g, STDERR_FILENO);
	return false;
}

/*
 * The helper is lost, most often because QEMU has ended: the client's end is then seen at the same
 * time or a moment later.
 */
static void helper_lost(struct vfio_server *s)
{
	struct pollfd p = { .fd = s->sockets->client, .events = POLLRDHUP };

	if (s->sockets->client < 0 || !s->client.mapping) {
		barmap_disconnect(s->barmap);
		return;
	}
	if (poll(&p, 1, HANGUP_GRACE_MS) <= 0)
		gk110_note(s->g,
			   "mapped BARs: the helper in QEMU is gone, so its client is dropped");
	client_end(s);
}

/* ------------------------------------------------------------------ life cycle */

enum { P_SIGNAL, P_LISTEN, P_STATS, P_LOST, P_CLIENT, NR_POLL };

int vfio_server_run(struct vfio_server *s, struct gk110 *g)
{
	struct server_sockets *so = s->sockets;
	int ret;

	s->g = g;
	/* gk110_create() has reset the units over an empty configuration space */
	device_reset(s);
	ret = s->barmap ? barmap_start(s->barmap, g) : 0;
	if (ret)
		return ret;
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct pollfd p[NR_POLL] = {
			[P_SIGNAL] = { .fd = so->signal, .events = POLLIN },
			[P_LISTEN] = { .fd = so->listen, .events = POLLIN },
			[P_STATS] = { .fd = so->stats, .events = POLLIN },
			[P_LOST] = { .fd = s->barmap ? barmap_lost_fd(s->barmap) : -1,
				     .events = POLLIN },
			[P_CLIENT] = { .fd = so->client, .events = POLLIN },
		};

		if (poll(p, NR_POLL, -1) < 0 && errno != EINTR) {
			ret = -errno;
			gk110_err("poll: %s", strerror(-ret));
			return ret;
		}
		if (p[P_SIGNAL].revents && signal_serve(s))
			return 0;
		if (p[P_CLIENT].revents)
			client_serve(s);
		if (p[P_LOST].revents)
			helper_lost(s);
		if (p[P_LISTEN].revents)
			client_accept(s);
		if (p[P_STATS].revents)
			stats_serve(s);
	}
}

struct vfio_server *vfio_server_create(const struct vfio_options *opt)
{
	struct vfio_server *s = calloc(1, sizeof(*s));
	struct server_sockets *so = calloc(1, sizeof(*so));

	if (!s || !so) {
		free(s);
		free(so);
		gk110_err("out of memory");
		return NULL;
	}
	s->sockets = so;
	so->listen = so->client = so->waiting = so->stats = -1;
	so->signal = signals_open();
	so->rx = malloc(RX_SIZE);
	s->reply = malloc(VU_MSG_MAX);
	dma_init(&s->dma);
	irq_init(&s->irq);
	s->client.send = send_all;
	s->client.to = so;
	if (so->signal >= 0 && so->rx && s->reply && !listen_all(s, opt))
		return s;
	vfio_server_destroy(s);
	return NULL;
}

static void close_valid(int fd)
{
	if (fd >= 0)
		close(fd);
}

void vfio_server_destroy(struct vfio_server *s)
{
	struct server_sockets *so = s->sockets;
	unsigned int i;

	close_valid(so->client);
	close_valid(so->waiting);
	if (s->g) {
		irq_disable_all(s);
		dma_unmap_all(s);
	}
	barmap_destroy(s->barmap);
	for (i = 0; i < 3; i++)
		if (so->path[i])
			unlink(so->path[i]);
	close_valid(so->listen);
	close_valid(so->stats);
	close_valid(so->signal);
	fds_close(&so->fds);
	free(s->dma.entry);
	free(so->rx);
	free(s->reply);
	free(so);
	free(s);
}

const struct bus_ops vfio_bus_ops = {
	.dma_ptr = dma_ptr,
	.intr = irq_output,
	.win_invalidate = barmap_invalidate,
};
