// SPDX-License-Identifier: MIT
/*
 * Puts a client to sleep, and wakes it: the server answers that it has begun, and its answer to
 * "clients" says when that is done, or why not.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl.h"

enum { LOOK_NS = 200000000 };

/* its row now; false: it has gone, or the server, which was said */
static bool look_at(const char *socket, int64_t id, struct ctl_client *c)
{
	struct ctl_sample s;
	bool found = false, fine = sample_take(socket, &s);
	size_t i;

	for (i = 0; fine && i < s.nr_clients; i++)
		if (s.clients[i].id == id) {
			*c = s.clients[i];
			found = true;
		}
	sample_free(&s);
	if (fine && !found)
		report_error("there is no client with that number");
	return found;
}

static bool is_at(const struct ctl_client *c, const char *state)
{
	return !strcmp(c->sleep, state);
}

/* whether @c, which was @before at the command, is done: 0, 1: not done, for .why; -1: not yet */
static int judge(const struct ctl_client *before, const struct ctl_client *c, bool suspend)
{
	if (suspend)
		return c->sleeps > before->sleeps ? 0 : is_at(c, "going") ? -1 : *c->why ? 1 : -1;
	if (c->sleeps > before->sleeps || is_at(c, "awake") || is_at(c, "going"))
		return 0;
	return is_at(c, "asleep") && *c->why ? 1 : -1;
}

static void say_done(const struct ctl_client *c, bool suspend)
{
	if (suspend)
		printf("client %" PRId64
		       " (%s) sleeps: %.1f MiB of device memory are in host memory\n",
		       c->id, c->who, c->suspended / 1048576.);
	else
		printf("client %" PRId64 " (%s) is awake\n", c->id, c->who);
}

int ctl_sleep(const char *socket, const char *command, int64_t id, unsigned int seconds)
{
	const bool suspend = !strncmp(command, "suspend", 7);
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	struct ctl_client before, c;
	char *text, why[CTL_TEXT];
	time_t end;
	int r = -1;

	if (!look_at(socket, id, &before) || !admin_socket_ask(socket, command, &text))
		return 1;
	free(text);
	end = time(NULL) + seconds;
	for (;;) {
		if (!look_at(socket, id, &c))
			return 1;
		r = judge(&before, &c, suspend);
		if (r >= 0 || time(NULL) >= end)
			break;
		nanosleep(&pause, NULL);
	}
	sleep_text(&c, why);
	if (!r)
		say_done(&c, suspend);
	else if (r > 0)
		report_error("client %" PRId64 " (%s) %s: %s", c.id, c.who,
			     suspend ? "was not put to sleep" : "was not woken", why);
	else
		report_error("client %" PRId64 " (%s) does not %s yet, which goes on%s%s", c.id,
			     c.who, suspend ? "sleep" : "wake", *why ? ": " : "", why);
	return r != 0;
}
