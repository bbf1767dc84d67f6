// SPDX-License-Identifier: MIT
/*
 * The loop of kvgpu-remoted's first process. A client is a newcomer until its process has reported
 * its name. There may be only so many newcomers, each for so long: a newcomer that stalls is ended.
 * If there is no room, connections wait in the pre-auth queue (preauth.c) for a moment. Then a
 * newcomer has to go, of the source that has most slots.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <remote/channel/address.h>
#include <remote/channel/channel.h>
#include <remote/channel/rights.h>
#include <remote/wire/frame.h>

#include <cuda/api/text.h>

#include "supervisor.h"

/* a client's process ends soon after its client; one that was taken over is ended after LEFT_MS */
enum { LEFT_MS = 6000, LOOK_LEFT_MS = 1000 };

/* the process of a newcomer that has left may still report why it is refused */
static void note_left(struct supervisor *s, struct client *c)
{
	if (c->left_ms)
		return;
	c->left_ms = now_ms();
	if (c->state == CLIENT_NEW && c->report >= 0)
		newcomer_failed(s, &c->from);
}

static bool is_looked_after(const struct client *c)
{
	return c->state == CLIENT_SERVED && c->listener && c->listener->endpoint && !c->left_ms;
}

/* nothing that poll() sees tells that a client has left its endpoint */
static void look_for_left_ones(struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (is_looked_after(&s->clients[i]) &&
		    kvgpu_remote_endpoint_left(s->clients[i].listener->endpoint))
			note_left(s, &s->clients[i]);
}

/* ------------------------------------------------------------------ new clients */

/* connections that are accepted in one round */
enum { AT_ONCE = 64 };

/* Whether a newcomer from @from may come now. Another newcomer may be ended for it. */
static bool make_room(struct supervisor *s, const struct address_source *from)
{
	struct client *go;

	if (!newcomer_room(s, from, &go))
		return true;
	if (!go)
		return false;
	say_of_clients(ABOUT_NEWCOMERS, &go->from,
		       "%s: has not said who it is, and others wait: ended", go->peer);
	newcomer_failed(s, &go->from);
	client_kill(go);
	s->refused++;
	return true;
}

/* @fd: of a connection, is the client's afterwards, unless its process could not be started */
static void start_client(struct supervisor *s, struct client *c, struct listener *l, int fd,
			 const struct address_source *from)
{
	struct counters *counters = c->counters;
	unsigned int slot = c - s->clients;
	int report[2], log[2], memory, r = log_pipe(log);

	c->listener = l->endpoint ? l : NULL;
	l->taken = l->endpoint;
	if (r) {
		say("pipe: %s", strerror(-r));
		client_gone(s, c);
		return;
	}
	c->log = log[0];
	r = l->endpoint ? 0 : shared_begin(fd, &c->memory);
	if (r) {
		say("memory: %s", strerror(-r));
		close(log[1]);
		client_gone(s, c);
		return;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report)) {
		say("socketpair: %s", strerror(errno));
		close(log[1]);
		client_gone(s, c);
		return;
	}
	rights_refuse(report[0]);
	if (l->endpoint)
		strcpy(c->peer, l->who);
	else
		address_of_peer(fd, c->peer, sizeof(c->peer));
	memory = c->memory;
	newcomer_starts(s, from);
	fflush(NULL);
	c->pid = fork();
	if (!c->pid) {
		clients_part(s, c, false);
		arbiter_part(s);
		child_main(s, slot, l, fd, report[1], log[1], memory, counters);
	}
	clients_part(s, c, true);
	if (l->endpoint)
		kvgpu_remote_endpoint_served(l->endpoint);
	close(report[1]);
	close(log[1]);
	if (c->pid < 0) {
		say("fork: %s", strerror(errno));
		close(report[0]);
		client_gone(s, c);
		return;
	}
	c->report = report[0];
	c->life = fd;
	c->program = l->endpoint ? -1 : address_process(fd);
	c->tls = l->tls;
	c->from = *from;
	c->state = CLIENT_NEW;
	c->came_ms = now_ms();
	c->left_ms = c->program == -ESRCH ? c->came_ms : 0;
	c->deadline_ms = c->came_ms + s->conf->patience_s * 1000;
	s->accepted++;
}

static bool accept_preauth(struct supervisor *s, unsigned int listener)
{
	int fd = accept4(s->listeners[listener].fd, NULL, NULL, SOCK_CLOEXEC);
	struct address_source from;

	if (fd >= 0)
		from = address_of_source(fd);
	if (fd >= 0 && is_process_of_client(s, fd)) {
		say_of_clients(
			ABOUT_PROCESSES, &from,
			"a client's process tried to become a client: it may have been taken over");
		s->refused++;
		rights_close(fd);
		return true;
	}
	if (fd >= 0) {
		preauth_enter(s, fd, s->listeners[listener].tls, &from);
		return true;
	}
	if (errno == EINTR || errno == ECONNABORTED)
		return true;
	if ((errno == EMFILE || errno == ENFILE) && preauth_make_room(s))
		return true;
	accept_failed(s);
	return false;
}

static void take_all(struct supervisor *s, unsigned int listener)
{
	unsigned int i;

	for (i = 0; i < AT_ONCE && accept_preauth(s, listener); i++)
		;
}

static void serve_preauth(struct supervisor *s)
{
	struct listener of = { .fd = -1 };
	struct preauth_conn *w;
	struct client *c;

	while ((w = preauth_next(s))) {
		c = make_room(s, &w->from) ? client_row(s) : NULL;
		if (!c)
			return;
		of.tls = w->tls;
		start_client(s, c, &of, w->fd, &w->from);
		if (c->life < 0)
			rights_close(w->fd);
		preauth_forget(s, w);
	}
}

/* all endpoints of a shmem region are one source */
static struct address_source source_of_endpoint(const struct supervisor *s,
						const struct listener *l)
{
	unsigned int first = 0;

	while (!s->listeners[first].endpoint || strcmp(s->listeners[first].who, l->who))
		first++;
	return (struct address_source){ UINT64_MAX, first };
}

/* 0: a client of that endpoint may come now; else when it may come, or UINT64_MAX */
static uint64_t endpoint_room(struct supervisor *s, const struct listener *l)
{
	struct address_source from = source_of_endpoint(s, l);
	struct client *go;
	uint64_t at;

	if (!clients_in(s, CLIENT_NONE))
		return UINT64_MAX;
	at = newcomer_room(s, &from, &go);
	return go ? 0 : at;
}

static void look_at(struct supervisor *s, struct listener *l)
{
	int r = endpoint_room(s, l) ? 0 : kvgpu_remote_endpoint_look(l->endpoint);
	struct address_source from = source_of_endpoint(s, l);
	struct client *c;

	if (r < 0)
		listen_lost(s, l);
	if (r <= 0)
		return;
	look_for_left_ones(s); /* of which the new client may be the next program */
	c = make_room(s, &from) ? client_row(s) : NULL;
	if (c)
		start_client(s, c, l, -1, &from);
	else if (kvgpu_remote_endpoint_again(l->endpoint))
		listen_lost(s, l);
}

static void look_at_endpoints(struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_listeners; i++)
		if (s->listeners[i].endpoint && !s->listeners[i].taken)
			look_at(s, &s->listeners[i]);
}

/* ---------------------------------------------------------------- reports of clients' processes */

/*
 * 0: the client may stay, and has a tenant; else the result that it is told, and *why in words,
 * which may be in @refused
 */
static uint32_t judge_client(struct supervisor *s, struct client *c, const struct conf_share *share,
			     char refused[CONF_TEXT], const char **why)
{
	*why = "the configuration does not allow it";
	if (!share->allow)
		return KVGPU_REMOTE_FORBIDDEN;
	*why = refused;
	if (client_is_refused(s, c, refused))
		return KVGPU_REMOTE_FORBIDDEN;
	*why = "there are enough clients, or a drain goes on";
	if (s->draining || clients_with_row(s) >= s->conf->clients)
		return KVGPU_REMOTE_FULL;
	*why = "it has as many programs here as it may (programs)";
	if (tenants_programs(s, c->who) >= remoted_conf_programs(s->conf, share))
		return KVGPU_REMOTE_FULL;
	*why = "out of memory";
	return tenants_enter(s, c) ? 0 : KVGPU_REMOTE_FULL;
}

/*
 * With permission goes what programs of the client's name share: the pool, images if kept, and the
 * folder of compiled PTX if there is one. Where there are no images the pool stands in their place:
 * images_map() refuses it.
 */
static bool answer_client(struct client *c, uint32_t refusal)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(3 * sizeof(int))];
	} with = { .head = { 0, SOL_SOCKET, SCM_RIGHTS } };
	struct iovec word = { &refusal, sizeof(refusal) };
	struct msghdr m = { .msg_iov = &word, .msg_iovlen = 1 };

	if (!refusal) {
		const struct tenant *n = c->tenant;
		const int fds[3] = { n->fd, n->images ?: n->fd, n->compiled };
		size_t bytes = (n->compiled ? 3 : n->images ? 2 : 1) * sizeof(int);

		memcpy(CMSG_DATA(&with.head), fds, bytes);
		with.head.cmsg_len = CMSG_LEN(bytes);
		m.msg_control = &with;
		m.msg_controllen = CMSG_SPACE(bytes);
	}
	return sendmsg(c->report, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/*
 * Without TLS the name has to be what this process knows itself (.peer). With TLS only the form of
 * name and fingerprint is checked: the client's process has checked the certificate, which this
 * process does not see. A client's process that was taken over before its report, by the handshake
 * or the hello, can report any tls: name (RO1 of docs/threat-model.md).
 */
static bool is_who(const struct client *c, const struct report *r)
{
	return c->tls ? !strncmp(r->who, "tls:", 4) && conf_is_who(r->who) &&
				refused_is_fingerprint(r->fingerprint) :
			!strcmp(r->who, c->peer) && !*r->fingerprint;
}

/* a refused client stays a newcomer, with its time limit, until its process has told it */
static void end_report(struct supervisor *s, struct client *c)
{
	if (c->report >= 0)
		rights_close(c->report);
	c->report = -1;
	c->told = false;
	if (c->state != CLIENT_SERVED && !c->left_ms)
		newcomer_failed(s, &c->from);
}

/* read the one report of a client's process: answer_newcomers() answers it */
static void take_report(struct supervisor *s, struct client *c)
{
	struct report r;
	ssize_t n = rights_read(c->report, &r, sizeof(r));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == (ssize_t)sizeof(r)) {
		text_clean(r.who, sizeof(r.who));
		text_clean(r.fingerprint, sizeof(r.fingerprint));
		text_clean(r.text, sizeof(r.text));
	}
	if (n == (ssize_t)sizeof(r) && !r.refused && is_who(c, &r)) {
		strcpy(c->who, r.who);
		strcpy(c->fingerprint, r.fingerprint);
		c->told = true;
		return;
	}
	if (n == (ssize_t)sizeof(r)) {
		say_of_clients(ABOUT_NEWCOMERS, &c->from, "%s: refused: %s", c->peer,
			       *r.text ? r.text : "it says of itself what can't be");
		s->refused++;
	}
	end_report(s, c);
}

static void answer_report(struct supervisor *s, struct client *c)
{
	const struct conf_share *share = remoted_conf_share(s->conf, c->who);
	char refused[CONF_TEXT];
	const char *why;
	uint32_t refusal = judge_client(s, c, share, refused, &why);

	c->weight = share->weight;
	client_limit(c, share);
	if (refusal) {
		say_of_clients(ABOUT_NEWCOMERS, &c->from, "%s, %s: refused: %s", c->peer, c->who,
			       why);
		s->refused++;
	} else {
		c->state = CLIENT_SERVED;
		newcomer_is_served(s, &c->from);
		if (s->cgroups)
			cgroup_enter(c->tenant - s->tenants, c - s->clients, c->pid, share,
				     suspend_raised(s, c->tenant), s->conf->tasks);
		arbiter_enter(s, c);
		suspend_enter(s, c);
	}
	if (!answer_client(c, refusal))
		client_kill(c);
	end_report(s, c);
}

/*
 * What a program had counts for its client, and is taken on the GPU, until its process was reaped.
 * So a newcomer that came after the end of another program of its name waits for that. Return until
 * when at most, or 0.
 */
static uint64_t waits_until(const struct supervisor *s, const struct client *c)
{
	uint64_t until = 0, at;
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++) {
		const struct client *other = &s->clients[i];

		if (!other->tenant || other->reaped || !other->left_ms ||
		    other->left_ms > c->came_ms || strcmp(other->who, c->who))
			continue;
		at = other->left_ms + LEFT_MS;
		until = at > until ? at : until;
	}
	return until > now_ms() ? until : 0;
}

static void answer_newcomers(struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state == CLIENT_NEW && s->clients[i].told &&
		    !waits_until(s, &s->clients[i]))
			answer_report(s, &s->clients[i]);
}

/* ------------------------------------------------------------------ clients that have ended */

static void end_late_ones(struct supervisor *s)
{
	uint64_t now = now_ms();
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++) {
		struct client *c = &s->clients[i];

		if (c->state != CLIENT_NEW || c->told || c->deadline_ms > now)
			continue;
		say_of_clients(ABOUT_NEWCOMERS, &c->from,
			       "%s: has not said who it is within %llu s: ended", c->peer,
			       (unsigned long long)s->conf->patience_s);
		newcomer_failed(s, &c->from);
		client_kill(c);
		s->refused++;
	}
}

static void end_left_ones(struct supervisor *s)
{
	static uint64_t next_look_ms;
	uint64_t now = now_ms();
	unsigned int i;

	if (now >= next_look_ms) {
		look_for_left_ones(s);
		next_look_ms = now + LOOK_LEFT_MS;
	}
	for (i = 0; i < s->nr_clients; i++) {
		struct client *c = &s->clients[i];

		if (c->state != CLIENT_SERVED || !c->left_ms || c->left_ms + LEFT_MS > now)
			continue;
		say_of_clients(ABOUT_PROCESSES, &c->from,
			       "%s: its client has gone, and its process %d stays: ended", c->who,
			       (int)c->pid);
		client_kill(c);
	}
}

/*
 * The process of @c was reaped, or its memory is kept no longer (is_kept()). The client keeps its
 * endpoint and its cgroup while it has memory.
 */
static void end_client(struct supervisor *s, struct client *c, int status)
{
	arbiter_leave(s, c);
	suspend_leave(s, c);
	if (c->tenant)
		pool_clear(c->tenant->pool, c - s->clients);
	if (shared_stays(c, status))
		return;
	if (s->cgroups && c->tenant)
		cgroup_end(c->tenant - s->tenants, c - s->clients, c->tenant->programs == 1);
	client_gone(s, c);
}

static void reap_children(struct supervisor *s)
{
	struct client *c;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == s->meter.pid)
			s->meter.pid = 0;
		c = client_by_pid(s, pid);
		if (!c)
			continue;
		if (c->report >= 0)
			take_report(s, c);
		if (c->report >= 0)
			end_report(s, c);
		log_hear(c);
		if (WIFSIGNALED(status) && c->state != CLIENT_ENDING)
			say_of_clients(ABOUT_PROCESSES, &c->from,
				       "the process of a client, %d (%s), was killed by signal %d",
				       (int)pid, *c->who ? c->who : c->peer, WTERMSIG(status));
		end_client(s, c, status);
	}
}

/* whether the client's process was reaped, and no process gives its memory back */
static bool is_kept(const struct client *c)
{
	return c->reaped && !c->pid;
}

/* a drain waits for no program that has no process here any more */
static void end_kept_ones(struct supervisor *s)
{
	uint64_t now = now_ms();
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (is_kept(&s->clients[i]) && (s->draining || s->clients[i].deadline_ms <= now))
			end_client(s, &s->clients[i], 0);
}

static void take_signal(struct supervisor *s, int fd)
{
	struct signalfd_siginfo i;

	while (read(fd, &i, sizeof(i)) == (ssize_t)sizeof(i))
		if (i.ssi_signo != SIGCHLD)
			s->ended = true;
	reap_children(s);
}

/* ------------------------------------------------------------------ the loop */

struct source {
	enum {
		SOURCE_SIGNAL,
		SOURCE_LISTENER,
		SOURCE_PLACE,
		SOURCE_ADMIN,
		SOURCE_ADMINS,
		SOURCE_CLIENT,
		SOURCE_LOG,
		SOURCE_PREAUTH,
		SOURCE_METER,
		SOURCE_LIFE,
		SOURCE_PROGRAM
	} what;
	unsigned int index;
};

struct sources {
	struct pollfd *fds;
	struct source *of;
	unsigned int n;
	/* when to look at endpoints, or read lines of clients, again; -1: never by itself */
	int look_ms;
};

static void add_source(struct sources *p, int fd, int what, unsigned int index)
{
	if (fd < 0)
		return;
	p->fds[p->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	p->of[p->n++] = (struct source){ what, index };
}

static int sooner(int ms, int other_ms)
{
	return ms < 0 || (other_ms >= 0 && other_ms < ms) ? other_ms : ms;
}

static void add_client(struct client *c, unsigned int index, struct sources *p)
{
	int ms;

	if (c->state == CLIENT_NONE)
		return;
	ms = c->log >= 0 ? log_wait(c) : 0;
	if (ms)
		p->look_ms = sooner(p->look_ms, ms);
	else
		add_source(p, c->log, SOURCE_LOG, index);
	if (c->state == CLIENT_NEW && !c->told)
		add_source(p, c->report, SOURCE_CLIENT, index);
	if (is_kept(c))
		add_source(p, c->program, SOURCE_PROGRAM, index);
	if ((c->state != CLIENT_NEW && c->state != CLIENT_SERVED) || c->left_ms)
		return;
	if (c->state == CLIENT_SERVED)
		add_source(p, c->program, SOURCE_LIFE, index);
	if (c->life < 0)
		return;
	add_source(p, c->life, SOURCE_LIFE, index);
	p->fds[p->n - 1].events = POLLRDHUP;
}

static void add_endpoint(struct supervisor *s, struct listener *l, unsigned int index,
			 struct sources *p)
{
	uint64_t at, now = now_ms();
	int ms, fd;

	if (!l->endpoint || l->taken)
		return;
	at = endpoint_room(s, l);
	if (at) {
		ms = at == UINT64_MAX ? -1 : at > now ? (int)(at - now) : 0;
		p->look_ms = sooner(p->look_ms, ms);
		return;
	}
	fd = kvgpu_remote_endpoint_wait(l->endpoint, &ms);
	add_source(p, fd, SOURCE_PLACE, index);
	p->look_ms = sooner(p->look_ms, ms);
}

/* of a ready connection only the end is looked for */
static void add_preauth(struct supervisor *s, struct sources *p)
{
	unsigned int i;

	for (i = 0; i < s->nr_preauth; i++) {
		add_source(p, s->preauth[i].fd, SOURCE_PREAUTH, i);
		if (s->preauth[i].fd >= 0)
			p->fds[p->n - 1].events = s->preauth[i].ready ? POLLRDHUP :
									POLLIN | POLLRDHUP;
	}
}

/*
 * The pre-auth queue comes before the listeners: so no descriptor of the pre-auth queue was given
 * to a new connection by the time that it is looked at.
 */
static void collect_sources(struct supervisor *s, int signals, struct sources *p)
{
	bool accepts = s->accept_ms <= now_ms();
	unsigned int i;

	p->n = 0;
	p->look_ms = accepts ? -1 : AGAIN_MS;
	add_source(p, signals, SOURCE_SIGNAL, 0);
	add_preauth(s, p);
	for (i = 0; i < s->nr_listeners; i++) {
		add_source(p, accepts ? s->listeners[i].fd : -1, SOURCE_LISTENER, i);
		add_endpoint(s, &s->listeners[i], i, p);
	}
	add_source(p, accepts ? s->admin_fd : -1, SOURCE_ADMIN, 0);
	for (i = 0; i < ADMINS; i++)
		add_source(p, s->admins[i].fd, SOURCE_ADMINS, i);
	add_source(p, s->meter.fd, SOURCE_METER, 0);
	for (i = 0; i < s->nr_clients; i++)
		add_client(&s->clients[i], i, p);
}

static int until_deadline(struct supervisor *s)
{
	uint64_t first = preauth_deadline(s), now = now_ms(), at;
	struct preauth_conn *next = clients_in(s, CLIENT_NONE) ? preauth_next(s) : NULL;
	struct client *go;
	unsigned int i;

	at = next ? newcomer_room(s, &next->from, &go) : UINT64_MAX;
	if (!at) /* there is room for a newcomer, but no memory for its page */
		at = now + AGAIN_MS;
	first = at < first ? at : first;
	for (i = 0; i < s->nr_clients; i++) {
		struct client *c = &s->clients[i];

		at = c->state == CLIENT_NEW && c->told	     ? waits_until(s, c) :
		     c->state == CLIENT_NEW || is_kept(c)    ? c->deadline_ms :
		     c->state == CLIENT_SERVED && c->left_ms ? c->left_ms + LEFT_MS :
		     is_looked_after(c)			     ? now + LOOK_LEFT_MS :
							       UINT64_MAX;
		first = at < first ? at : first;
	}
	if (s->drained_ms && s->drained_ms < first)
		first = s->drained_ms;
	first = s->sleep_ms < first ? s->sleep_ms : first;
	return first == UINT64_MAX ? -1 : first <= now ? 0 : (int)(first - now);
}

/* @fd: what was polled. A row with another descriptor now was closed or used anew since. */
static void serve_source(struct supervisor *s, const struct source *of, int fd, short seen)
{
	switch (of->what) {
	case SOURCE_SIGNAL:
		take_signal(s, fd);
		break;
	case SOURCE_LISTENER:
		if (of->index < s->nr_listeners)
			take_all(s, of->index);
		break;
	case SOURCE_PLACE:
		break;
	case SOURCE_ADMIN:
		admin_accept(s);
		break;
	case SOURCE_ADMINS:
		if (s->admins[of->index].fd == fd)
			admin_read(s, &s->admins[of->index]);
		break;
	case SOURCE_METER:
		if (s->meter.fd == fd)
			meter_hear(s);
		break;
	case SOURCE_CLIENT:
		if (s->clients[of->index].report == fd)
			take_report(s, &s->clients[of->index]);
		break;
	case SOURCE_LOG:
		if (s->clients[of->index].log == fd)
			log_hear(&s->clients[of->index]);
		break;
	case SOURCE_LIFE:
		if (s->clients[of->index].life == fd || s->clients[of->index].program == fd)
			note_left(s, &s->clients[of->index]);
		break;
	case SOURCE_PROGRAM:
		if (s->clients[of->index].program == fd)
			s->clients[of->index].deadline_ms = 0;
		break;
	case SOURCE_PREAUTH:
		if (s->preauth[of->index].fd == fd)
			preauth_look(s, &s->preauth[of->index], seen & ~POLLIN);
		break;
	}
}

/* Clients whose processes were reaped are over: a client can make it wait that memory goes back. */
static bool is_over(const struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state != CLIENT_NONE && !s->clients[i].reaped)
			return s->ended;
	return s->ended || s->draining;
}

/* clients' processes end with this one */
static void end_drain(struct supervisor *s)
{
	if (!s->drained_ms || now_ms() < s->drained_ms || is_over(s))
		return;
	say("the drain's time is over: ends with %u clients", clients_with_row(s));
	s->ended = true;
}

static void loop(struct supervisor *s, int signals, struct sources *p)
{
	unsigned int i;
	int again_ms;

	while (!is_over(s)) {
		again_ms = listen_again(s);
		collect_sources(s, signals, p);
		if (poll(p->fds, p->n, sooner(sooner(until_deadline(s), p->look_ms), again_ms)) <
			    0 &&
		    errno != EINTR) {
			say("poll: %s", strerror(errno));
			s->failed = s->ended = true;
			return;
		}
		for (i = 0; i < p->n; i++)
			if (p->fds[i].revents)
				serve_source(s, &p->of[i], p->fds[i].fd, p->fds[i].revents);
		look_at_endpoints(s);
		serve_preauth(s);
		answer_newcomers(s);
		end_late_ones(s);
		end_left_ones(s);
		end_kept_ones(s);
		if (s->sleep_ms <= now_ms())
			suspend_look(s);
		preauth_end_late_ones(s);
		end_drain(s);
	}
}

/* rows for clients that are served, for newcomers, and for those that were not reaped yet */
static bool make_table(struct supervisor *s, struct sources *p)
{
	unsigned int i, n;

	s->nr_clients = s->conf->clients + 2 * s->conf->newcomers;
	s->clients = calloc(s->nr_clients, sizeof(*s->clients));
	s->tenants = calloc(s->nr_clients, sizeof(*s->tenants));
	if (!s->clients || !s->tenants || !preauth_begin(s))
		return false;
	n = 4 * s->nr_clients + s->nr_preauth + LISTENERS + ADMINS + 3;
	p->fds = calloc(n, sizeof(*p->fds));
	p->of = calloc(n, sizeof(*p->of));
	for (i = 0; i < ADMINS; i++)
		s->admins[i].fd = -1;
	return p->fds && p->of;
}

int supervisor_run(struct supervisor *s)
{
	struct sources p = { 0 };
	sigset_t wanted, old;
	int signals;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGCHLD);
	sigprocmask(SIG_BLOCK, &wanted, &old);
	signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	s->since = s->since ?: time(NULL);
	if (signals < 0 || !make_table(s, &p)) {
		say("out of memory");
		return 1;
	}
	if (s->state && !handover_rows(s))
		return 1;
	if (s->conf->turns && !arbiter_begin(s)) {
		say("out of memory");
		return 1;
	}
	if (s->trial)
		return 0;
	listen_tell(s, "READY=1");
	if (s->state)
		handover_done(s);
	child_try_library(s);
	if (!suspend_begin(s)) {
		say("out of memory");
		return 1;
	}
	reap_children(s); /* those that ended while exec was under way */
	/* a state's rows were read in these frames: no client's process is to have them */
	erase_dead_frames();
	loop(s, signals, &p);
	if (s->draining && !s->ended)
		say("the last client has gone: ends");
	listen_end(s);
	tenants_forget(s);
	socket_file_end(&s->admin_file);
	free(p.fds);
	free(p.of);
	return s->failed;
}
