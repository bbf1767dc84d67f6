// SPDX-License-Identifier: GPL-2.0-only
/*
 * The helper's two threads. The reader takes faults from the userfaultfd and sends them to the
 * model; it never waits for the worker (uffd_window.c says why). The worker executes the model's
 * calls one after the other, in the order of the socket.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "helper.h"

#define CALL_MAX (sizeof(struct barmap_hdr) + BARMAP_MAX_OPS * sizeof(struct barmap_op))

union call {
	struct barmap_hdr hdr;
	struct barmap_welcome welcome;
	uint8_t bytes[CALL_MAX];
};

static uint32_t read_max_map_count(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned int n = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%u", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

static int send_packet(int sock, const void *msg, size_t len, int fd)
{
	struct iovec iov = { .iov_base = (void *)msg, .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl = { 0 };
	struct cmsghdr *c;

	if (fd >= 0) {
		m.msg_control = ctl.buf;
		m.msg_controllen = sizeof(ctl.buf);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -errno;
}

static ssize_t recv_packet(int sock, void *msg, size_t cap, int *fds, unsigned int *nr_fds)
{
	struct iovec iov = { .iov_base = msg, .iov_len = cap };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(BARMAP_NR_WIN * sizeof(int))];
	} ctl;
	struct cmsghdr *c;
	ssize_t n;

	*nr_fds = 0;
	m.msg_control = ctl.buf;
	m.msg_controllen = sizeof(ctl.buf);
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		*nr_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *nr_fds * sizeof(int));
	}
	return n;
}

static void close_fds(const int *fds, unsigned int nr)
{
	while (nr--)
		close(fds[nr]);
}

static int take_file(struct uw *w, const struct barmap_hdr *hdr, int *fds, unsigned int *nr)
{
	if (*nr != 1)
		return -EINVAL;
	*nr = 0;
	return uw_set_file(w, hdr->arg, fds[0]);
}

/* Return 0 or a positive result, or -errno. */
static int call_serve(struct uw *w, const union call *c, size_t len, int *fds, unsigned int *nr)
{
	const struct barmap_op *ops = (const struct barmap_op *)(c->bytes + sizeof(c->hdr));

	if (len < sizeof(c->hdr))
		return -EINVAL;
	switch (c->hdr.type) {
	case BARMAP_FILE:
		return take_file(w, &c->hdr, fds, nr);
	case BARMAP_FORGET:
		uw_forget_file(w, c->hdr.arg);
		return 0;
	case BARMAP_ATTACH:
		return uw_attach(w);
	case BARMAP_DETACH:
		uw_detach(w);
		return 0;
	case BARMAP_BATCH:
		if (c->hdr.arg > BARMAP_MAX_OPS ||
		    len != sizeof(c->hdr) + c->hdr.arg * sizeof(*ops))
			return -EINVAL;
		return uw_apply(w, ops, c->hdr.arg);
	default:
		return -ENOSYS;
	}
}

static void *reader_main(void *arg)
{
	struct helper *h = arg;
	struct barmap_fault f;
	int ret;

	while ((ret = uw_read_fault(&h->win, &f)) >= 0)
		if (ret && send_packet(h->faults, &f, sizeof(f), -1))
			shutdown(h->calls, SHUT_RDWR);
	return NULL;
}

static void *worker_main(void *arg)
{
	struct helper *h = arg;
	int fds[BARMAP_NR_WIN], ret;
	struct barmap_ack ack;
	unsigned int nr;
	union call *c;
	ssize_t n;

	c = malloc(sizeof(*c));
	while (c && (n = recv_packet(h->calls, c, sizeof(*c), fds, &nr)) > 0) {
		ret = call_serve(&h->win, c, n, fds, &nr);
		close_fds(fds, nr);
		memset(&ack, 0, sizeof(ack));
		ack.hdr.type = BARMAP_ACK;
		ack.hdr.seq = c->hdr.seq;
		ack.error = ret < 0 ? -ret : 0;
		ack.value = ret < 0 ? 0 : ret;
		if (send_packet(h->calls, &ack, sizeof(ack), -1))
			break;
	}
	free(c);
	uw_blind(&h->win);
	uw_stop_reading(&h->win);
	pthread_join(h->reader, NULL);
	if (h->say)
		h->say("the GPU model went away: its mapped BARs read as ones from now on");
	close(h->calls);
	close(h->faults);
	uw_fini(&h->win);
	return NULL;
}

/* Start the threads, with all signals blocked: QEMU's own threads must get QEMU's signals. */
static int start_threads(struct helper *h)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&h->reader, NULL, reader_main, h);
	if (!ret) {
		pthread_setname_np(h->reader, "gk110-faults");
		ret = pthread_create(&h->worker, NULL, worker_main, h);
		if (!ret) {
			pthread_setname_np(h->worker, "gk110-pages");
		} else {
			uw_stop_reading(&h->win);
			pthread_join(h->reader, NULL);
		}
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

static int send_hello(struct helper *h, int uffd_error)
{
	struct barmap_hello hello = {
		.hdr.type = BARMAP_HELLO,
		.magic = BARMAP_MAGIC,
		.version = BARMAP_VERSION,
		.uffd_error = uffd_error,
		.max_map_count = read_max_map_count(),
	};
	int pair[2], ret;

	if (uffd_error)
		return send_packet(h->calls, &hello, sizeof(hello), -1);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	ret = send_packet(h->calls, &hello, sizeof(hello), pair[1]);
	close(pair[1]);
	if (ret)
		close(pair[0]);
	else
		h->faults = pair[0];
	return ret;
}

static int await_welcome(struct helper *h)
{
	int fds[BARMAP_NR_WIN];
	struct barmap_welcome w;
	unsigned int nr;
	ssize_t n;

	n = recv_packet(h->calls, &w, sizeof(w), fds, &nr);
	if (n != sizeof(w) || w.hdr.type != BARMAP_WELCOME || w.magic != BARMAP_MAGIC ||
	    w.version != BARMAP_VERSION || nr != BARMAP_NR_WIN) {
		close_fds(fds, nr);
		return n < 0 ? n : -EPROTO;
	}
	uw_set_windows(&h->win, &w, fds);
	return 0;
}

int helper_start(struct helper *h, int calls, void (*say)(const char *text))
{
	int ret, uffd_error;

	memset(h, 0, sizeof(*h));
	h->calls = calls;
	h->faults = -1;
	h->say = say;
	uffd_error = uw_init(&h->win);
	ret = send_hello(h, -uffd_error);
	if (uffd_error) {
		close(calls);
		return ret ? ret : -EOPNOTSUPP;
	}
	if (!ret)
		ret = await_welcome(h);
	if (!ret)
		ret = start_threads(h);
	if (ret) {
		close(calls);
		if (h->faults >= 0)
			close(h->faults);
		uw_fini(&h->win);
	}
	return ret;
}

int helper_connect(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}
