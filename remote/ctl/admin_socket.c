// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <remote/conf/conf.h>

#include <cuda/api/text.h>

#include "ctl.h"

enum { ANSWER_MAX = 1 << 20, PATIENCE_S = 30 /* a reload tries the build for 20 */ };

static int dial(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd;

	if (strlen(path) >= sizeof(to.sun_path)) {
		report_error("%s: the path is too long", path);
		return -1;
	}
	strcpy(to.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return fd;
	if (errno == ENOENT || errno == ECONNREFUSED)
		report_error(
			"%s: no kvgpu-remoted is there: systemctl status kvgpu-remoted; or --socket PATH for another one",
			path);
	else
		report_error("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* check the answer: its last line is the result */
static bool judge_answer(const char *path, char *text, size_t n)
{
	char *last;

	if (!n || text[n - 1] != '\n') {
		report_error("%s: the answer is not whole", path);
		return false;
	}
	text[n - 1] = 0;
	last = strrchr(text, '\n');
	last = last ? last + 1 : text;
	if (!strcmp(last, "ok")) {
		*last = 0;
		return true;
	}
	text_clean(last, strlen(last) + 1);
	report_error("%s", !strncmp(last, "error ", 6) ? last + 6 :
							 "the answer is none of kvgpu-remoted's");
	return false;
}

bool admin_socket_ask(const char *socket, const char *command, char **text)
{
	int fd = dial(socket);
	size_t have = 0;
	ssize_t n = -1;
	char line[128];
	bool fine;

	*text = NULL;
	if (fd < 0)
		return false;
	snprintf(line, sizeof(line), "%s\n", command);
	*text = calloc(1, ANSWER_MAX + 1);
	if (*text && send(fd, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line))
		while ((n = recv(fd, *text + have, ANSWER_MAX - have, 0)) > 0)
			have += n;
	if (n < 0)
		report_error("%s: %s", socket, strerror(errno));
	close(fd);
	fine = !n && judge_answer(socket, *text, have);
	if (!fine) {
		free(*text);
		*text = NULL;
	}
	return fine;
}

/* ------------------------------------------------------------------ parsing the answer's lines */

struct field {
	const char *name;
	/* offset + 1 of a number or of a text; the other one is 0 */
	size_t number, text;
};

#define NUMBER(type, member, name)                  \
	{                                           \
		name, offsetof(type, member) + 1, 0 \
	}
#define TEXT(type, member, name)                    \
	{                                           \
		name, 0, offsetof(type, member) + 1 \
	}

static const struct field of_server[] = {
#define S(member) NUMBER(struct ctl_server, member, #member)
	S(pid),
	S(since),
	S(served),
	NUMBER(struct ctl_server, newcomers, "new"),
	S(limit),
	S(accepted),
	S(refused),
	S(calls),
	S(received),
	S(sent),
	TEXT(struct ctl_server, state, "state"),
	{ 0 },
};

static const struct field of_client[] = {
#define C(member) NUMBER(struct ctl_client, member, #member)
	C(id),
	C(slot),
	C(pid),
	C(user),
	C(since),
	C(weight),
	C(memory),
	C(pinned),
	C(calls),
	C(received),
	C(sent),
	C(share),
	C(gpu),
	C(alone),
	C(waited),
	C(turns),
	C(lost),
	C(old),
	C(suspended),
	C(sleeps),
	C(waits),
	C(ahead),
	TEXT(struct ctl_client, state, "state"),
	TEXT(struct ctl_client, peer, "peer"),
	TEXT(struct ctl_client, who, "who"),
	TEXT(struct ctl_client, fingerprint, "fingerprint"),
	TEXT(struct ctl_client, release, "release"),
	TEXT(struct ctl_client, protocol, "protocol"),
	TEXT(struct ctl_client, sleep, "sleep"),
	TEXT(struct ctl_client, why, "why"),
	{ 0 },
};

/* letters that have no special meaning in a table, in JSON or in a metric's label */
static bool is_plain(const char *text)
{
	return strspn(text,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/") ==
	       strlen(text);
}

static bool take_field(const struct field *f, void *to, const char *value)
{
	uint64_t n;

	if (f->text) {
		if (strlen(value) >= CTL_WORD || !is_plain(value))
			return false;
		strcpy((char *)to + f->text - 1, value);
		return true;
	}
	if (!conf_natural(value, INT64_MAX, &n))
		return false;
	*(int64_t *)((char *)to + f->number - 1) = n;
	return true;
}

/* a line "key=value key=value"; keys that this version does not know are skipped */
static bool take_line(const struct field *fields, void *to, char *line)
{
	char *word, *save, *value;
	const struct field *f;

	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		value = strchr(word, '=');
		if (!value)
			return false;
		*value++ = 0;
		for (f = fields; f->name && strcmp(f->name, word); f++)
			;
		if (f->name && !take_field(f, to, value))
			return false;
	}
	return true;
}

static bool take_client(struct ctl_sample *s, char *line)
{
	struct ctl_client *grown;

	if (s->nr_clients == CTL_CLIENTS)
		return false;
	grown = realloc(s->clients, (s->nr_clients + 1) * sizeof(*grown));
	if (!grown)
		return false;
	s->clients = grown;
	memset(&grown[s->nr_clients], 0, sizeof(*grown));
	return take_line(of_client, &grown[s->nr_clients++], line);
}

bool sample_read(const char *text, struct ctl_sample *s)
{
	char *copy = strdup(text), *line, *save;
	bool fine = copy, server = false;
	struct timespec t;

	*s = (struct ctl_sample){ 0 };
	clock_gettime(CLOCK_MONOTONIC, &t);
	s->at = t.tv_sec + t.tv_nsec / 1e9;
	for (line = fine ? strtok_r(copy, "\n", &save) : NULL; line && fine;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "server ", 7)) {
			fine = !server && take_line(of_server, &s->server, line + 7);
			server = true;
		} else if (!strncmp(line, "client ", 7)) {
			fine = take_client(s, line + 7);
		}
	}
	free(copy);
	return fine && server;
}

bool sample_take(const char *socket, struct ctl_sample *s)
{
	char *text;
	bool fine;

	*s = (struct ctl_sample){ 0 };
	if (!admin_socket_ask(socket, "clients", &text))
		return false;
	fine = sample_read(text, s);
	if (!fine)
		report_error("%s: the answer is none that this version understands", socket);
	free(text);
	return fine;
}

void sample_free(struct ctl_sample *s)
{
	free(s->clients);
	*s = (struct ctl_sample){ 0 };
}
