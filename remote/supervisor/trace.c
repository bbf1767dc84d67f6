// SPDX-License-Identifier: MIT
/*
 * Traces of clients: an order to a client's process (server/trace.c), and the lines that it writes,
 * for the admin. The process can write anything there: its lines are copied with all that is no
 * printable letter taken out, and not read here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor.h"

enum { PIECE = 128 << 10 /* what a socket takes at once */ };

static uint32_t see(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void tell(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* two numbers, the second of @most at most */
static bool read_two(const char *text, uint64_t *first, uint64_t *second, uint64_t most)
{
	const char *blank = strchr(text, ' ');
	char number[24];

	snprintf(number, sizeof(number), "%.*s", (int)(blank ? blank - text : 0), text);
	return blank && conf_natural(number, UINT64_MAX, first) &&
	       conf_natural(blank + 1, most, second);
}

static const char *why_not(const struct client *c)
{
	const struct trace_shared *t;

	if (!c)
		return "error there is no client with that number";
	if (c->state != CLIENT_SERVED || c->reaped)
		return "error it is not served";
	t = trace_shared_of(c->counters);
	if (c->shared_bytes <= CLIENT_PAGE || !see(&t->can))
		return "error its process can't be traced: it is of an older build, or has not begun";
	if (c->sleeper.state > SLEEPER_AWAKE || c->sleeper.owes)
		return "error it sleeps, or is about to: only one that is awake can be traced";
	if (see(&t->state) == TRACE_RUNS && see(&t->begun) == see(&t->order))
		return "error a trace of it is under way";
	return NULL;
}

const char *trace_order(struct supervisor *s, const char *text)
{
	struct trace_shared *t;
	uint64_t id, seconds;
	struct client *c;
	const char *why;

	if (!read_two(text, &id, &seconds, TRACE_MS_MAX / 1000) || !seconds)
		return "error trace wants the number of a client, and seconds from 1 to 60";
	suspend_look(s);
	c = client_by_id(s, id);
	why = why_not(c);
	if (why)
		return why;
	t = trace_shared_of(c->counters);
	c->traced = true;
	tell(&t->ms, seconds * 1000);
	tell(&t->rung, c->sleep.order + 1);
	tell(&t->order, see(&t->order) + 1);
	tell(&sleep_shared_of(c->counters)->order, ++c->sleep.order);
	return "ok";
}

static const char *state_of(const struct trace_shared *t, bool here)
{
	static const char *const names[NR_TRACE_STATES] = { [TRACE_NONE] = "begins",
							    [TRACE_RUNS] = "runs",
							    [TRACE_OVER] = "over",
							    [TRACE_SLEEPS] = "sleeps",
							    [TRACE_GONE] = "gone" };
	uint32_t state = see(&t->state);

	if (see(&t->begun) != see(&t->order) || state >= NR_TRACE_STATES)
		state = TRACE_NONE;
	return !here && state <= TRACE_RUNS ? "killed" : names[state];
}

size_t trace_tell(struct supervisor *s, const char *text, char *to, size_t size)
{
	struct counters *counters = s->traced.counters;
	uint64_t id, from, used, n, i;
	const struct trace_shared *t;
	const struct client *c;
	const char *lines, *state;
	int head;

	if (!read_two(text, &id, &from, TRACE_ROOM))
		return snprintf(to, size, "error traced wants two numbers\n");
	c = client_by_id(s, id);
	if (c ? !c->traced : !counters || s->traced.id != id)
		return snprintf(to, size, "error it was not traced, or another one was since\n");
	counters = c ? c->counters : counters;
	t = trace_shared_of(counters);
	lines = trace_text_of(counters);
	state = state_of(t, c && !c->reaped); /* before .used */
	used = strcmp(state, "begins") ? see(&t->used) : 0;
	used = used < TRACE_ROOM ? used : TRACE_ROOM;
	n = used > from ? used - from : 0;
	n = n < PIECE ? n : PIECE;
	head = snprintf(to, size, "trace state=%s used=%llu dropped=%u\n", state,
			(unsigned long long)used, see(&t->dropped));
	for (i = 0; i < n; i++) {
		char letter = __atomic_load_n(&lines[from + i], __ATOMIC_RELAXED);

		to[head + i] = letter == '\n' || (letter >= ' ' && letter <= '~') ? letter : '?';
	}
	return head + n + snprintf(to + head + n, size - head - n, "\nok\n");
}
