// SPDX-License-Identifier: MIT
/*
 * The admin's socket; ../ctl/admin_socket.c is its other end. A command is a line, "clients", "end
 * ID", "suspend ID", "resume ID" without or with "gpu N" behind, "trace ID SECONDS", "traced ID
 * BYTE", "refuse WORD", "reload", or "drain" without or with seconds. The answer is lines, the last
 * of which is "ok" or "error TEXT".
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <remote/channel/address.h>
#include <remote/channel/rights.h>

#include "supervisor.h"

enum { DRAIN_MAX_S = 366 * 24 * 3600 };

bool admin_listen(struct supervisor *s)
{
	struct address a = { .scheme = ADDRESS_UNIX };
	const char *why;
	mode_t old;

	s->admin_fd = -1;
	if (!*s->conf->admin)
		return true;
	strcpy(a.host, s->conf->admin);
	old = umask(0177);
	s->admin_fd = address_listen(&a, &why);
	umask(old);
	if (s->admin_fd < 0) {
		say("%s: %s", s->conf->admin, why);
		return false;
	}
	socket_file_begin(&s->admin_file, a.host);
	fcntl(s->admin_fd, F_SETFL, O_NONBLOCK);
	return !*s->conf->admin_group ||
	       socket_file_give(&s->admin_file, a.host, s->conf->admin_group);
}

static void drop_admin(struct admin *a)
{
	rights_close(a->fd);
	*a = (struct admin){ .fd = -1 };
}

/* if all slots are taken, the oldest connection is dropped */
void admin_accept(struct supervisor *s)
{
	int fd = accept4(s->admin_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct address_source from;
	unsigned int i, nr;

	if (fd < 0) {
		accept_failed(s);
		return;
	}
	if (is_process_of_client(s, fd)) {
		from = address_of_source(fd);
		say_of_clients(
			ABOUT_PROCESSES, &from,
			"a client's process tried to become an admin: it may have been taken over");
		rights_close(fd);
		return;
	}
	/* without gaps, the slots are in the order in which their connections came */
	for (i = 0, nr = 0; i < ADMINS; i++)
		if (s->admins[i].fd >= 0)
			s->admins[nr++] = s->admins[i];
	if (nr == ADMINS) {
		drop_admin(&s->admins[0]);
		nr--;
		memmove(&s->admins[0], &s->admins[1], nr * sizeof(s->admins[0]));
	}
	s->admins[nr] = (struct admin){ .fd = fd };
	for (i = nr + 1; i < ADMINS; i++)
		s->admins[i].fd = -1;
}

static const char *end_one(struct supervisor *s, const char *text)
{
	struct client *c;
	uint64_t id;

	if (!conf_natural(text, UINT64_MAX, &id))
		return "error end wants the number of a client";
	c = client_by_id(s, id);
	if (!c)
		return "error there is no client with that number";
	if (c->reaped && c->pid > 0)
		return "error its process has ended, and its memory is being given back; if that "
		       "does not end, the client's own program holds it up: end that program";
	say("client %llu (%s) is ended by the admin", (unsigned long long)id,
	    *c->who ? c->who : c->peer);
	client_kill(c);
	return "ok";
}

/*
 * End the clients that are refused by now: kvgpu-remotectl has put @word into the file. If another
 * folder's was meant, @word is not in this server's.
 */
static size_t end_refused_ones(struct supervisor *s, const char *word, char *to, size_t size)
{
	const char *folder = s->conf->tls_folder;
	char why[CONF_TEXT];
	unsigned int i, n = 0;
	int r = refused_find(folder, word, word, why);

	if (r <= 0)
		return snprintf(to, size, "error %s%s\n",
				r ? "" : "this server has another folder: --folder ",
				r ? why : folder);
	for (i = 0; i < s->nr_clients; i++) {
		struct client *c = &s->clients[i];

		if (c->state != CLIENT_SERVED || c->reaped || !client_is_refused(s, c, why))
			continue;
		say("client %llu (%s) is ended: %s", (unsigned long long)c->id, c->who, why);
		client_kill(c);
		n++;
	}
	return snprintf(to, size, "ended %u\nok\n", n);
}

/* @seconds: "" or a number; a later drain sets the time anew */
static const char *drain(struct supervisor *s, const char *seconds)
{
	uint64_t n = 0;

	if (*seconds && !conf_natural(seconds, DRAIN_MAX_S, &n))
		return "error drain wants seconds, a year at most";
	if (*seconds)
		say("takes no new clients, and ends when the last one has gone, or in %llu s",
		    (unsigned long long)n);
	else if (!s->draining)
		say("takes no new clients, and ends when the last one has gone");
	s->draining = true;
	s->drained_ms = *seconds ? now_ms() + n * 1000 : 0;
	listen_end(s);
	return "ok";
}

size_t admin_command(struct supervisor *s, const char *line, char *to, size_t size)
{
	const char *answer =
		"error the commands are: clients, end ID, suspend ID, resume ID, trace ID "
		"SECONDS, traced ID BYTE, refuse WORD, reload, drain";
	size_t used = 0;

	if (!strcmp(line, "clients")) {
		suspend_look(s);
		used = clients_print(s, to, size - 4);
		answer = "ok";
	} else if (!strncmp(line, "end ", 4)) {
		answer = end_one(s, line + 4);
	} else if (!strncmp(line, "suspend ", 8)) {
		answer = suspend_order(s, line + 8);
	} else if (!strncmp(line, "resume ", 7)) {
		answer = suspend_resume(s, line + 7);
	} else if (!strncmp(line, "trace ", 6)) {
		answer = trace_order(s, line + 6);
	} else if (!strncmp(line, "traced ", 7)) {
		return trace_tell(s, line + 7, to, size);
	} else if (!strncmp(line, "refuse ", 7)) {
		return end_refused_ones(s, line + 7, to, size);
	} else if (!strcmp(line, "drain")) {
		answer = drain(s, "");
	} else if (!strncmp(line, "drain ", 6)) {
		answer = drain(s, line + 6);
	}
	return used + snprintf(to + used, size - used, "%s\n", answer);
}

void admin_read(struct supervisor *s, struct admin *a)
{
	static char answer[ANSWER_MAX];
	ssize_t n = rights_read(a->fd, a->line + a->have, sizeof(a->line) - 1 - a->have);
	int room = ANSWER_MAX;
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	a->have += n > 0 ? n : 0;
	end = memchr(a->line, '\n', a->have);
	if (n > 0 && !end && a->have < sizeof(a->line) - 1)
		return;
	if (end) {
		*end = 0;
		if (!strcmp(a->line, "reload"))
			n = handover(s, a->fd, answer, sizeof(answer));
		else
			n = admin_command(s, a->line, answer, sizeof(answer));
		setsockopt(a->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
		send(a->fd, answer, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		/* a client's process gets a copy of this memory */
		explicit_bzero(answer, n);
	}
	drop_admin(a);
}
