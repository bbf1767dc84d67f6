// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-top --http: answers requests of HTTP/1 at the socket that is standard input. systemd starts
 * it when somebody comes (kvgpu-prometheus.socket), and it ends when nobody has come for a while.
 * All who can connect are strangers, and on one machine they look alike. So no peer is waited for,
 * and where there are too many the one goes that came first: a scrape, which says its request at
 * once, is answered however many others are silent. One reading of sysfs is for all who ask within
 * a second, because it costs more than a connection: who asks without end keeps nobody out.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http.h"

#define REQUEST_SIZE 8192

/* PATIENCE_MS: from a connection to the end of its answer; FRESH_MS: how long a reading is used */
enum { PEERS = 256, PATIENCE_MS = 3000, IDLE_MS = 5000, FRESH_MS = 1000 };

struct peer {
	int fd;
	int64_t until_ms;
	size_t have;
	char request[REQUEST_SIZE];
	char *answer; /* NULL: the request has not come yet */
	size_t size, sent; /* of the answer */
};

struct server {
	bool (*print)(FILE *out, void *arg);
	void *arg;
	char *numbers; /* what print() printed last; NULL: it failed */
	size_t numbers_size;
	int64_t fresh_until_ms;
	unsigned int nr;
	struct peer *peers[PEERS]; /* in the order in which they came */
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------ the answer */

static void answer(FILE *out, const char *status, const char *type, const char *body, size_t size)
{
	fprintf(out,
		"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		status, type, size);
	fwrite(body, 1, size, out);
}

static void answer_text(FILE *out, const char *status, const char *text)
{
	answer(out, status, "text/plain; charset=utf-8", text, strlen(text));
}

/* Say whether the target of the request's line GET TARGET ... is @path, with or without a query. */
static bool gets(const char *line, const char *path)
{
	const char *target = line + strlen("GET ");
	size_t n = strlen(path);

	return !strncmp(target, path, n) && (target[n] == ' ' || target[n] == '?');
}

static void read_numbers(struct server *s)
{
	FILE *f;
	bool ok;

	free(s->numbers);
	s->numbers = NULL;
	f = open_memstream(&s->numbers, &s->numbers_size);
	ok = f && s->print(f, s->arg);
	if (f)
		ok = !fclose(f) && ok;
	if (!ok) {
		free(s->numbers);
		s->numbers = NULL;
	}
	s->fresh_until_ms = now_ms() + FRESH_MS;
}

static void answer_numbers(FILE *out, struct server *s)
{
	if (now_ms() >= s->fresh_until_ms)
		read_numbers(s);
	if (s->numbers)
		answer(out, "200 OK", "text/plain; version=0.0.4; charset=utf-8", s->numbers,
		       s->numbers_size);
	else
		answer_text(out, "500 Internal Server Error", "sysfs can't be read\n");
}

/* @request: a whole one, or NULL */
static void answer_request(FILE *out, struct server *s, char *request)
{
	if (request)
		request[strcspn(request, "\r\n")] = 0;
	if (!request)
		answer_text(out, "400 Bad Request", "no request of HTTP\n");
	else if (!strstr(request, " HTTP/1."))
		answer_text(out, "400 Bad Request", "no request of HTTP/1\n");
	else if (strncmp(request, "GET ", 4))
		answer_text(out, "405 Method Not Allowed", "only GET\n");
	else if (!gets(request, "/metrics"))
		answer_text(out, "404 Not Found", "the numbers are at /metrics\n");
	else
		answer_numbers(out, s);
}

/* ------------------------------------------------------------------ peers */

/* This and the next two return false if the peer has to go. */
static bool send_answer(struct peer *p)
{
	ssize_t n =
		send(p->fd, p->answer + p->sent, p->size - p->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN;
	p->sent += n;
	return p->sent < p->size;
}

static bool make_answer(struct server *s, struct peer *p, char *request)
{
	FILE *f = open_memstream(&p->answer, &p->size);

	if (!f)
		return false;
	answer_request(f, s, request);
	return !fclose(f) && send_answer(p);
}

/* read what there is of a request, up to its empty line; poll() has seen something */
static bool hear(struct server *s, struct peer *p)
{
	ssize_t n = recv(p->fd, p->request + p->have, REQUEST_SIZE - 1 - p->have, MSG_DONTWAIT);

	if (n < 0)
		return false;
	p->have += n;
	p->request[p->have] = 0;
	if (strlen(p->request) != p->have)
		return make_answer(s, p, NULL);
	if (strstr(p->request, "\r\n\r\n") || strstr(p->request, "\n\n"))
		return make_answer(s, p, p->request);
	return !n || p->have == REQUEST_SIZE - 1 ? make_answer(s, p, NULL) : true;
}

/* An answer is lost if its socket is closed with bytes unread. */
static void drop(struct server *s, unsigned int i)
{
	struct peer *p = s->peers[i];
	char rest[REQUEST_SIZE];

	if (recv(p->fd, rest, sizeof(rest), MSG_DONTWAIT) < 0)
		errno = 0; /* there is nothing */
	close(p->fd);
	free(p->answer);
	free(p);
	s->nr--;
	memmove(s->peers + i, s->peers + i + 1, (s->nr - i) * sizeof(*s->peers));
}

static bool take_peer(struct server *s)
{
	int fd = accept4(STDIN_FILENO, NULL, NULL, SOCK_CLOEXEC);
	struct peer *p;

	if (fd < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
	if (s->nr == PEERS)
		drop(s, 0);
	p = calloc(1, sizeof(*p));
	if (!p) {
		close(fd);
		return false;
	}
	p->fd = fd;
	p->until_ms = now_ms() + PATIENCE_MS;
	s->peers[s->nr++] = p;
	return true;
}

/* ------------------------------------------------------------------ the loop */

/* -1: nobody has come for a while; else whether to go on */
static int serve_once(struct server *s)
{
	struct pollfd fds[PEERS + 1];
	unsigned int i, nr = s->nr;
	int64_t left = nr ? s->peers[0]->until_ms - now_ms() : IDLE_MS;
	int r;

	for (i = 0; i < nr; i++)
		fds[i] = (struct pollfd){ .fd = s->peers[i]->fd,
					  .events = s->peers[i]->answer ? POLLOUT : POLLIN };
	fds[nr] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	r = poll(fds, nr + 1, left > 0 ? left : 0);
	if (r < 0)
		return errno == EINTR;
	if (!r && !nr)
		return -1;
	for (i = nr; i-- > 0;) {
		struct peer *p = s->peers[i];

		if (fds[i].revents && !(p->answer ? send_answer(p) : hear(s, p)))
			drop(s, i);
	}
	while (s->nr && s->peers[0]->until_ms <= now_ms())
		drop(s, 0);
	return !fds[nr].revents || take_peer(s);
}

bool serve_http(bool (*print)(FILE *out, void *arg), void *arg)
{
	struct server s = { .print = print, .arg = arg };
	socklen_t bytes = sizeof(int);
	int listening = 0, r;

	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &listening, &bytes) || !listening) {
		fputs("kvgpu-top: --http wants a socket that listens as its standard input: systemctl start kvgpu-prometheus.socket\n",
		      stderr);
		return false;
	}
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	do {
		r = serve_once(&s);
	} while (r > 0);
	if (!r)
		fprintf(stderr, "kvgpu-top: can't serve: %s\n", strerror(errno));
	while (s.nr)
		drop(&s, 0);
	free(s.numbers);
	return r < 0;
}
