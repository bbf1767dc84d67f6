// SPDX-License-Identifier: MIT
/* The sockets between ranks: frames out and in, and ranks that go. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "carrier.h"
#include "launch.h"

enum { SOCKET_ROOM = 1 << 20, FRAMES_AT_ONCE = 64, LOOK_NS = 2000, WAIT_MS = 1 };

struct peer peers[RANKS_MAX];
int ranks, own_rank;

static int all = -1; /* an epoll descriptor of all sockets */
static struct {
	struct frame f;
	uint8_t data[FRAME_ROOM];
} in;

static bool take_peer(int rank, int fd, pid_t pid)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = rank };
	struct peer *p = &peers[rank];
	int room = SOCKET_ROOM;

	*p = (struct peer){ .fd = fd, .pid = pid, .by_socket = !pid };
	TAILQ_INIT(&p->out);
	TAILQ_INIT(&p->placed);
	TAILQ_INIT(&p->posted);
	TAILQ_INIT(&p->coming);
	TAILQ_INIT(&p->unexpected);
	if (rank == own_rank)
		return true;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	return !fcntl(fd, F_SETFD, FD_CLOEXEC) && !epoll_ctl(all, EPOLL_CTL_ADD, fd, &e);
}

bool wire_begin(void)
{
	const char *at = getenv(LAUNCH_VARIABLE);
	int n, fd, pid;

	TAILQ_INIT(&any_posted);
	ranks = 0;
	all = epoll_create1(EPOLL_CLOEXEC);
	if (!at || all < 0 || sscanf(at, "%d%n", &own_rank, &n) != 1)
		return false;
	for (at += n; ranks < RANKS_MAX && sscanf(at, " %d:%d%n", &fd, &pid, &n) == 2; at += n)
		if (!take_peer(ranks++, fd, pid))
			return false;
	unsetenv(LAUNCH_VARIABLE);
	return own_rank >= 0 && own_rank < ranks;
}

static void all_over(struct requests *list)
{
	struct request *r;

	while ((r = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, r, entry);
		request_over(r, MPI_ERR_OTHER);
	}
}

/* messages of the rank that have come stay */
static void lose_peer(struct peer *p)
{
	close(p->fd);
	p->fd = -1;
	all_over(&p->out);
	all_over(&p->placed);
	all_over(&p->posted);
	all_over(&p->coming);
}

/* ------------------------------------------------------------------ out */

/* one frame; false: the socket takes none now */
static bool send_frame(struct peer *p, struct request *r)
{
	struct frame f = { .kind = r->says, .tag = r->tag, .bytes = r->bytes, .serial = r->serial };
	struct iovec part[2] = { { &f, sizeof(f) }, { r->at + r->moved, 0 } };
	struct msghdr m = { .msg_iov = part, .msg_iovlen = 2 };
	size_t left = r->bytes - r->moved;

	if (f.kind == FRAME_PLACE)
		f.at = (uintptr_t)r->at;
	else if (f.kind == FRAME_EAGER || f.kind == FRAME_BYTES)
		part[1].iov_len = left < FRAME_ROOM ? left : FRAME_ROOM;
	/* where the rank has gone, its end is read after what it has said */
	if (sendmsg(p->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return false;
	r->moved += part[1].iov_len;
	return true;
}

void wire_flush(struct peer *p)
{
	struct request *r;

	while (p->fd >= 0 && (r = TAILQ_FIRST(&p->out)) && send_frame(p, r)) {
		if (r->says == FRAME_BYTES && r->moved < r->bytes)
			continue;
		TAILQ_REMOVE(&p->out, r, entry);
		p->answers -= r->answer;
		if (r->says == FRAME_PLACE) {
			r->state = PLACED;
			TAILQ_INSERT_TAIL(&p->placed, r, entry);
		} else {
			request_over(r, MPI_SUCCESS);
		}
	}
}

/* ------------------------------------------------------------------ in */

static struct request *with_serial(struct requests *list, uint64_t serial)
{
	struct request *r;

	TAILQ_FOREACH(r, list, entry)
	if (r->serial == serial)
		break;
	return r;
}

static bool take_answer(struct peer *p, const struct frame *f)
{
	struct request *r = with_serial(&p->placed, f->serial);

	if (!r)
		return false;
	TAILQ_REMOVE(&p->placed, r, entry);
	if (f->kind == FRAME_TAKEN) {
		request_over(r, MPI_SUCCESS);
		return true;
	}
	r->state = QUEUED;
	r->says = FRAME_BYTES;
	TAILQ_INSERT_TAIL(&p->out, r, entry);
	return true;
}

static bool take_bytes(struct peer *p, const struct frame *f, const uint8_t *data, size_t n)
{
	struct request *r = with_serial(&p->coming, f->serial);

	if (!r || !n || n > (size_t)r->status.bytes - r->moved)
		return false;
	memcpy(r->at + r->moved, data, n);
	r->moved += n;
	if (r->moved == (size_t)r->status.bytes) {
		TAILQ_REMOVE(&p->coming, r, entry);
		request_over(r, MPI_SUCCESS);
	}
	return true;
}

/* @n: bytes behind the head; false: no rank says that */
static bool take_frame(struct peer *p, const struct frame *f, const uint8_t *data, size_t n)
{
	switch (f->kind) {
	case FRAME_EAGER:
		return f->tag >= 0 && f->bytes == n && match_message(p - peers, f, data);
	case FRAME_PLACE:
		return f->tag >= 0 && !n && f->bytes <= INT32_MAX &&
		       match_message(p - peers, f, NULL);
	case FRAME_TAKEN:
	case FRAME_WANTED:
		return !n && take_answer(p, f);
	case FRAME_BYTES:
		return take_bytes(p, f, data, n);
	default:
		return false;
	}
}

static bool hear_peer(struct peer *p)
{
	unsigned int i;
	ssize_t n;

	for (i = 0; i < FRAMES_AT_ONCE && p->fd >= 0; i++) {
		n = recv(p->fd, &in, sizeof(in), MSG_DONTWAIT | MSG_TRUNC);
		/* the rank has gone with bytes unread; what it has said before is still there */
		if (n < 0 && errno == ECONNRESET)
			continue;
		if (n < 0)
			break;
		if (n < (ssize_t)sizeof(in.f) || n > (ssize_t)sizeof(in) ||
		    !take_frame(p, &in.f, in.data, n - sizeof(in.f)))
			lose_peer(p);
	}
	return i;
}

void wire_look(void)
{
	static uint64_t looked;
	struct epoll_event e[RANKS_MAX];
	struct timespec t;
	bool moved = false;
	uint64_t now;
	int i, n;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = t.tv_sec * 1000000000ull + t.tv_nsec;
	if (now - looked < LOOK_NS)
		return;
	n = epoll_wait(all, e, RANKS_MAX, 0);
	for (i = 0; i < n; i++)
		moved = hear_peer(&peers[e[i].data.u32]) || moved;
	for (i = 0; i < ranks; i++)
		if (!TAILQ_EMPTY(&peers[i].out))
			wire_flush(&peers[i]);
	looked = moved ? 0 : now;
}

void wire_wait(void)
{
	poll(&(struct pollfd){ .fd = all, .events = POLLIN }, 1, WAIT_MS);
}

void wire_end(void)
{
	struct pollfd p = { .fd = peers[0].fd, .events = POLLIN };
	int i;

	while (own_rank && peers[0].fd >= 0 && poll(&p, 1, -1) >= 0)
		hear_peer(&peers[0]);
	for (i = 0; i < ranks; i++)
		if (peers[i].fd >= 0)
			lose_peer(&peers[i]);
	close(all);
}
