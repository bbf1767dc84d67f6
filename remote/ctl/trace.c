// SPDX-License-Identifier: MIT
/*
 * Has the server trace a client, and fetches the lines in pieces, until the trace is over, or the
 * client has gone. What has come by then is written, with why it ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"

enum { TEXT_MAX = 8 << 20, PATIENCE_S = 15, LOOK_NS = 200000000 };

struct fetched {
	char *text;
	size_t have;
	char state[16];
	unsigned long long used, dropped;
};

/* "trace state=STATE used=N dropped=N", then a piece of the lines; false: it is no such answer */
static bool take_piece(struct fetched *f, char *answer)
{
	char *piece = strchr(answer, '\n'), *grown;
	size_t n;

	if (!piece || sscanf(answer, "trace state=%15[a-z] used=%llu dropped=%llu\n", f->state,
			     &f->used, &f->dropped) != 3)
		return false;
	piece++;
	n = strlen(piece);
	if (!n || piece[n - 1] != '\n' || f->have + n > TEXT_MAX)
		return false;
	n--;
	grown = realloc(f->text, f->have + n + 1);
	if (!grown)
		return false;
	memcpy(grown + f->have, piece, n);
	f->text = grown;
	f->have += n;
	f->text[f->have] = 0;
	return true;
}

static bool is_over(const struct fetched *f)
{
	return strcmp(f->state, "begins") && strcmp(f->state, "runs");
}

/* why it has ended; *whole: as was asked */
static const char *fetch_all(const char *socket, int64_t id, unsigned int seconds,
			     struct fetched *f, bool *whole)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	time_t end = time(NULL) + seconds + PATIENCE_S;
	char command[64], *answer;
	bool fine;

	*whole = false;
	do {
		if (f->have >= f->used)
			nanosleep(&pause, NULL);
		snprintf(command, sizeof(command), "traced %" PRId64 " %zu", id, f->have);
		if (!admin_socket_ask(socket, command, &answer))
			return "the server does not answer any more";
		fine = take_piece(f, answer);
		free(answer);
		if (!fine)
			return "the server's answer is none of a trace";
		if (time(NULL) > end)
			return "the client's process does not answer: it may be in a long call of the library";
	} while (!is_over(f) || f->have < f->used);
	*whole = true;
	return !strcmp(f->state, "over") ?
		       "its time is over" :
	       !strcmp(f->state, "sleeps") ?
		       "the client was told to sleep, which ends a trace" :
	       !strcmp(f->state, "gone") ?
		       "the client has ended its connection" :
		       "the client's process was ended: what was under way is missing";
}

int ctl_trace(const char *socket, int64_t id, unsigned int seconds)
{
	struct fetched f = { 0 };
	struct trace_sum sum = { 0 };
	char command[64], *answer;
	const char *why;
	bool whole;

	if (isatty(STDOUT_FILENO)) {
		report_error(
			"the trace goes to standard output, which is a terminal: trace %" PRId64
			" %u > trace.json",
			id, seconds);
		return 1;
	}
	snprintf(command, sizeof(command), "trace %" PRId64 " %u", id, seconds);
	if (!admin_socket_ask(socket, command, &answer))
		return 1;
	free(answer);
	why = fetch_all(socket, id, seconds, &f, &whole);
	sum.dropped = f.dropped;
	if (!trace_json(stdout, f.text ?: "", id, why, &sum)) {
		report_error("the trace: %s", strerror(errno));
		free(f.text);
		return 1;
	}
	fprintf(stderr,
		"client %" PRId64 ": %" PRIu64 " kernels and graphs, %" PRIu64 " copies, %" PRIu64
		" waits; %s\n",
		id, sum.kernels, sum.copies, sum.waits, why);
	if (sum.dropped || sum.wrong)
		fprintf(stderr,
			"%" PRIu64 " more had no room, %" PRIu64 " lines are none of a trace\n",
			sum.dropped, sum.wrong);
	free(f.text);
	return !whole;
}
