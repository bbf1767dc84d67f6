// SPDX-License-Identifier: GPL-2.0-only
/*
 * link LISTEN-PORT TARGET-PORT DELAY-US GBIT: a network on one machine. Connections to LISTEN-PORT
 * of 127.0.0.1 (0: any that is free) are carried to TARGET-PORT there. Each byte takes DELAY-US
 * longer in either direction, and all connections share GBIT Gbit/s of a direction. Up is towards
 * the target. The first line on standard output is the port that it listens at.
 *
 * SIGUSR1 makes it print a line of JSON with what was carried since the start. SIGINT, SIGTERM and
 * the end of the thread that started it end it, with such a line. A turn is a question: bytes of
 * the client after it got some of the target, or at first.
 *
 * What is read at once, at most CHUNK, arrives at once. A connection's direction holds DELAY-US
 * times GBIT and EXTRA in here, and SOCKET in each socket. Then its sender waits, by TCP's own
 * means.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	CHUNK = 64 << 10,
	EXTRA = 1 << 20,
	SOCKET = 128 << 10, /* the kernel doubles it */
	MARKS = 4096, /* chunks that a direction of a connection holds */
	SPIN_NS = 60000, /* before a chunk is due: a sleep may end so late */
	DELAY_MAX_US = 1000000,
	GBIT_MAX = 1000,
};

struct mark {
	uint64_t due; /* ns */
	size_t end; /* as way.head */
};

/* head and tail count bytes, first and last count marks, since the start */
struct way {
	int from, to;
	bool up;
	struct pair *pair;
	pthread_mutex_t lock; /* for all below, but for bytes between tail and head */
	pthread_cond_t changed;
	char *room;
	size_t head, tail;
	struct mark marks[MARKS];
	unsigned int first, last;
	bool ended, broken; /* nothing comes any more; nothing can go any more */
};

struct pair {
	struct way way[2];
	atomic_bool asked; /* the client has sent since it last got something */
};

/* of all connections, by way.up */
static struct {
	pthread_mutex_t lock; /* for free_at */
	uint64_t free_at; /* when the wire has carried what was read */
	atomic_ullong bytes;
} wire[2] = { { .lock = PTHREAD_MUTEX_INITIALIZER }, { .lock = PTHREAD_MUTEX_INITIALIZER } };

static atomic_ullong connections, turns;
static uint64_t delay_ns;
static double ns_per_byte;
static size_t room_bytes;
static struct sockaddr_in target;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void wait_until(uint64_t due)
{
	uint64_t wake = due - SPIN_NS;
	struct timespec t = { .tv_sec = wake / 1000000000, .tv_nsec = wake % 1000000000 };

	if (now() < wake)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	while (now() < due)
		;
}

/* when n bytes that were read now arrive */
static uint64_t carry(bool up, size_t n)
{
	uint64_t t = now(), due;

	pthread_mutex_lock(&wire[up].lock);
	if (wire[up].free_at < t)
		wire[up].free_at = t;
	wire[up].free_at += n * ns_per_byte;
	due = wire[up].free_at + delay_ns;
	pthread_mutex_unlock(&wire[up].lock);
	atomic_fetch_add(&wire[up].bytes, n);
	return due;
}

/* how many bytes at head can be read at once: 0 if nothing can go any more */
static size_t wait_for_room(struct way *w)
{
	size_t n = 0, to_end;

	pthread_mutex_lock(&w->lock);
	while (!w->broken && (w->head - w->tail == room_bytes || w->last - w->first == MARKS))
		pthread_cond_wait(&w->changed, &w->lock);
	if (!w->broken) {
		n = room_bytes - (w->head - w->tail);
		to_end = room_bytes - w->head % room_bytes;
		n = n < to_end ? n : to_end;
		n = n < CHUNK ? n : CHUNK;
	}
	pthread_mutex_unlock(&w->lock);
	return n;
}

static void *take(void *arg)
{
	struct way *w = arg;
	uint64_t due = 0;
	size_t room;
	ssize_t n;

	do {
		room = wait_for_room(w);
		n = room ? recv(w->from, w->room + w->head % room_bytes, room, 0) : 0;
		if (n > 0) {
			if (w->up && !atomic_exchange(&w->pair->asked, true))
				atomic_fetch_add(&turns, 1);
			due = carry(w->up, n);
		}
		pthread_mutex_lock(&w->lock);
		if (n > 0) {
			w->head += n;
			w->marks[w->last++ % MARKS] = (struct mark){ .due = due, .end = w->head };
		} else {
			w->ended = true;
		}
		pthread_cond_broadcast(&w->changed);
		pthread_mutex_unlock(&w->lock);
	} while (n > 0);
	return NULL;
}

static bool send_all(int to, const char *at, size_t n)
{
	ssize_t sent;

	for (; n; at += sent, n -= sent) {
		sent = send(to, at, n, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
	}
	return true;
}

/* false: there is none, and comes none */
static bool next_mark(struct way *w, struct mark *m)
{
	bool any;

	pthread_mutex_lock(&w->lock);
	while (w->first == w->last && !w->ended)
		pthread_cond_wait(&w->changed, &w->lock);
	any = w->first != w->last;
	if (any)
		*m = w->marks[w->first % MARKS];
	pthread_mutex_unlock(&w->lock);
	return any;
}

static void *give(void *arg)
{
	struct way *w = arg;
	struct mark m;
	bool ok = true;

	while (ok && next_mark(w, &m)) {
		wait_until(m.due);
		if (!w->up)
			atomic_store(&w->pair->asked, false);
		ok = send_all(w->to, w->room + w->tail % room_bytes, m.end - w->tail);
		pthread_mutex_lock(&w->lock);
		w->tail = m.end;
		w->first++;
		w->broken = !ok;
		pthread_cond_broadcast(&w->changed);
		pthread_mutex_unlock(&w->lock);
	}
	shutdown(w->to, SHUT_WR);
	if (!ok)
		shutdown(w->from, SHUT_RDWR); /* the sender learns it, and take() ends */
	return NULL;
}

static void start_way(struct pair *p, bool up, int from, int to, pthread_t thread[2])
{
	struct way *w = &p->way[up];
	const int one = 1;

	w->from = from;
	w->to = to;
	w->up = up;
	w->pair = p;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	w->room = malloc(room_bytes);
	if (!w->room || pthread_create(&thread[0], NULL, take, w) ||
	    pthread_create(&thread[1], NULL, give, w))
		die("link: a connection's threads");
}

static int make_socket(void)
{
	const int bytes = SOCKET;
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(s, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	setsockopt(s, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	return s;
}

/* arg: the client's socket */
static void *serve(void *arg)
{
	int client = (intptr_t)arg, s = make_socket(), i;
	struct pair *p = calloc(1, sizeof(*p));
	pthread_t thread[4];

	if (s < 0 || !p)
		die("link");
	if (connect(s, (struct sockaddr *)&target, sizeof(target))) {
		perror("link: the target");
	} else {
		atomic_fetch_add(&connections, 1);
		start_way(p, true, client, s, &thread[0]);
		start_way(p, false, s, client, &thread[2]);
		for (i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
	}
	close(client);
	close(s);
	free(p->way[0].room);
	free(p->way[1].room);
	free(p);
	return NULL;
}

/* arg: the listening socket */
static void *accept_all(void *arg)
{
	pthread_t thread;
	int client;

	do {
		client = accept4((intptr_t)arg, NULL, NULL, SOCK_CLOEXEC);
		if (client < 0 || pthread_create(&thread, NULL, serve, (void *)(intptr_t)client))
			die("link: a connection");
	} while (!pthread_detach(thread));
	return NULL;
}

static void tell(void)
{
	printf("{\"connections\": %llu, \"up\": %llu, \"down\": %llu, \"turns\": %llu}\n",
	       atomic_load(&connections), atomic_load(&wire[1].bytes), atomic_load(&wire[0].bytes),
	       atomic_load(&turns));
	fflush(stdout);
}

static double number(const char *name, const char *text, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= least && value <= most)) {
		fprintf(stderr, "link: %s is %g to %g, not \"%s\"\n", name, least, most, text);
		exit(2);
	}
	return value;
}

static int listen_at(unsigned int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t n = sizeof(a);
	const int one = 1;
	int s = make_socket();

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (s < 0 || bind(s, (struct sockaddr *)&a, sizeof(a)) || listen(s, SOMAXCONN) ||
	    getsockname(s, (struct sockaddr *)&a, &n))
		die("link: LISTEN-PORT");
	printf("%u\n", ntohs(a.sin_port));
	fflush(stdout);
	return s;
}

int main(int argc, char **argv)
{
	const pid_t parent = getppid();
	unsigned int port;
	pthread_t thread;
	sigset_t signals;
	int nr;

	if (argc != 5) {
		fprintf(stderr, "usage: link LISTEN-PORT TARGET-PORT DELAY-US GBIT\n");
		return 2;
	}
	port = number("LISTEN-PORT", argv[1], 0, 65535);
	target.sin_family = AF_INET;
	target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	target.sin_port = htons(number("TARGET-PORT", argv[2], 1, 65535));
	delay_ns = number("DELAY-US", argv[3], 0, DELAY_MAX_US) * 1000;
	ns_per_byte = 8 / number("GBIT", argv[4], 0.001, GBIT_MAX);
	room_bytes = delay_ns / ns_per_byte + EXTRA;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	prctl(PR_SET_TIMERSLACK, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return 0;
	if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listen_at(port)))
		die("link");
	do {
		sigwait(&signals, &nr);
		tell();
	} while (nr == SIGUSR1);
	return 0;
}
