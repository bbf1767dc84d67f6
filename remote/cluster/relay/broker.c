// SPDX-License-Identifier: MIT
/*
 * Rank 0. Programs of this machine connect to a socket for each GPU, in a folder that is their
 * user's alone. Each of their connections gets a tunnel to the proxy with that GPU. kvgpu-run is at
 * the socket `run` there: the broker tells it when all proxies are here, and kvgpu-run says when
 * the job is over.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <remote/channel/channel.h>
#include <remote/cluster/run/folder.h>

#include "relay.h"

enum { ROOM = 1 << 20, END_S = 3 };

struct broker {
	const struct settings *s;
	unsigned int proxies;
	struct link **links;
	int *listeners;
	int run; /* the connection to kvgpu-run */
	/*
	 * over: kvgpu-run wants the end; alone: kvgpu-run is gone; failed: a proxy was lost before
	 * all were there
	 */
	bool ready, over, alone, failed;
	bool moved;
	struct pollfd polls[POLLS_MAX];
};

static int connect_run(const char *folder)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/run", folder);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return fd;
	relay_say("%s: %s", to.sun_path, strerror(errno));
	return -1;
}

static bool listen_all(struct broker *b)
{
	const char *why;
	char address[200];
	unsigned int i;

	umask(077);
	for (i = 0; i < b->proxies; i++) {
		snprintf(address, sizeof(address), "unix:%s/%u", b->s->folder, b->s->first + i);
		b->listeners[i] = kvgpu_remote_listen(address, &why);
		if (b->listeners[i] < 0) {
			relay_say("%s: %s", address, why);
			return false;
		}
	}
	return true;
}

static bool begin_links(struct broker *b)
{
	unsigned int i;

	b->links = calloc(b->proxies, sizeof(*b->links));
	b->listeners = calloc(b->proxies, sizeof(*b->listeners));
	for (i = 0; b->links && b->listeners && i < b->proxies; i++) {
		b->links[i] = calloc(1, sizeof(**b->links));
		if (!b->links[i] || !link_begin(b->links[i], b->s, i + 1))
			return false;
		link_say(b->links[i], CONTROL_HELLO, 0);
	}
	b->run = connect_run(b->s->folder);
	return i == b->proxies && b->run >= 0 && listen_all(b);
}

/* The folder is this user's alone. A connection of another user is refused all the same. */
static bool is_own_user(int fd)
{
	struct ucred user;
	socklen_t bytes = sizeof(user);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &bytes) && user.uid == geteuid();
}

static void accept_one(struct broker *b, unsigned int i)
{
	int fd = accept4(b->listeners[i], NULL, NULL, SOCK_CLOEXEC), room = ROOM;
	struct link *l = b->links[i];
	struct tunnel *n = tunnel_find(l);

	if (fd < 0)
		return;
	if (!n || l->lost || !is_own_user(fd) ||
	    getrandom(n->key, sizeof(n->key), 0) != sizeof(n->key) || !link_open(l, n)) {
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	/*
	 * the proxy has opened the tunnel, and its server would wait for the program's hello for
	 * ever
	 */
	if (!tunnel_open(n, fd))
		link_lose(l, "no memory for a tunnel");
	b->moved = true;
}

static void hear_run(struct broker *b)
{
	char word[16];
	ssize_t n = recv(b->run, word, sizeof(word), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	b->over = true;
	b->alone = n <= 0;
}

static void look_at_links(struct broker *b)
{
	struct control c;
	unsigned int i, here = 0;
	bool measured = false;

	for (i = 0; i < b->proxies; i++) {
		while (link_hear(b->links[i], &c))
			b->moved = true;
		/* measure one link in a turn: the other links' proxies hear nothing meanwhile */
		if (b->links[i]->hello && !b->links[i]->measured && !measured) {
			link_measure(b->links[i]);
			measured = b->moved = true;
		}
		b->moved = tunnels_go(b->links[i]) || b->moved;
		link_beat(b->links[i]);
		here += b->links[i]->hello && !b->links[i]->lost;
		/* without one of them PROGRAM can't begin */
		b->failed = b->failed || (!b->ready && b->links[i]->lost);
	}
	if (!b->ready && here == b->proxies) {
		b->ready = true;
		if (send(b->run, "ready\n", 6, MSG_NOSIGNAL) != 6)
			b->over = b->alone = true;
	}
}

/* one turn of the loop; false: the process that started this rank is gone */
static bool run_once(struct broker *b)
{
	unsigned int i, n = 0;
	bool open = !b->ready, parent;

	b->polls[n++] = (struct pollfd){ .fd = b->run, .events = POLLIN };
	for (i = 0; i < b->proxies; i++)
		b->polls[n++] = (struct pollfd){ .fd = b->links[i]->lost ? -1 : b->listeners[i],
						 .events = POLLIN };
	for (i = 0; i < b->proxies && n + TUNNELS <= POLLS_MAX; i++)
		n += tunnels_wait(b->links[i], b->polls + n, &open);
	parent = backoff_wait(b->s, b->polls, n, b->moved, open);
	b->moved = false;
	if (b->polls[0].revents)
		hear_run(b);
	for (i = 0; i < b->proxies; i++)
		if (b->polls[1 + i].revents)
			accept_one(b, i);
	look_at_links(b);
	/* no program may connect to a proxy that is gone */
	for (i = 0; i < b->proxies; i++)
		if (b->links[i]->lost && b->listeners[i] >= 0) {
			close(b->listeners[i]);
			b->listeners[i] = -1;
		}
	return parent;
}

/* a proxy may want pieces of another one, which has to be there until all are quiet */
static bool all_quiet(const struct broker *b)
{
	unsigned int i;

	for (i = 0; i < b->proxies; i++)
		if (!b->links[i]->lost && !tunnels_are_quiet(b->links[i]))
			return false;
	return true;
}

/* @quiet: the link may be told to end; whether it has ended */
static bool is_over(struct link *l, bool quiet, bool *said)
{
	struct control c;

	link_hear(l, &c);
	tunnels_go(l);
	if (!*said && quiet)
		*said = link_say(l, CONTROL_END, 0);
	return l->over;
}

/*
 * End all connections, then send each proxy CONTROL_END when all are quiet. False: a proxy is lost,
 * or has not sent its own CONTROL_END within END_S.
 */
static bool end_links(struct broker *b)
{
	uint64_t until = now_us() + END_S * 1000000ull;
	bool said[b->proxies], lost = false, quiet;
	unsigned int i, left;

	memset(said, 0, sizeof(said));
	for (i = 0; i < b->proxies; i++)
		tunnels_hang_up(b->links[i]);
	do {
		quiet = all_quiet(b);
		for (i = left = 0; i < b->proxies; i++) {
			left += !b->links[i]->lost && !is_over(b->links[i], quiet, &said[i]);
			lost = lost || b->links[i]->lost;
		}
		backoff_wait(b->s, NULL, 0, false, true);
	} while (left && now_us() < until);
	return !left && !lost;
}

int broker_run(const struct settings *s, int ranks)
{
	static struct broker b;
	unsigned int i;
	bool parent = true;

	b.s = s;
	b.proxies = ranks - 1;
	if (!begin_links(&b))
		return 1;
	while (!b.over && !b.failed && parent)
		parent = run_once(&b);
	if (b.failed)
		return 1;
	for (i = 0; i < b.proxies; i++)
		if (b.listeners[i] >= 0)
			close(b.listeners[i]);
	if (b.alone || !parent)
		folder_remove(s->folder);
	if (!end_links(&b))
		/* MPI_Finalize() would wait for a rank that is gone; mpirun ends the other ranks */
		_exit(0);
	for (i = 0; i < b.proxies; i++)
		link_end(b.links[i]);
	return 0;
}
