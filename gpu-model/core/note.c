// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages. gk110_err() speaks to the person who starts the model. gk110_note() reports events that
 * a guest caused. A guest must not be able to fill a disk, so notes are limited, and the rest are
 * counted.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "core.h"

#define NOTES_PER_S 20

void gk110_err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	flockfile(stderr);
	fputs("gk110-model: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(ap);
}

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static bool note_admit(struct core *c, unsigned int *dropped)
{
	uint64_t now = monotonic_ns();
	bool ok;

	pthread_mutex_lock(&c->note_lock);
	*dropped = 0;
	if (now - c->note_window >= 1000000000ull) {
		c->note_window = now;
		c->notes = 0;
		*dropped = c->notes_dropped;
		c->notes_dropped = 0;
	}
	ok = c->notes < NOTES_PER_S;
	if (ok)
		c->notes++;
	else
		c->notes_dropped++;
	pthread_mutex_unlock(&c->note_lock);
	return ok;
}

void gk110_note(struct gk110 *g, const char *fmt, ...)
{
	unsigned int dropped = 0;
	va_list ap;

	if (g->core && !note_admit(g->core, &dropped))
		return;
	va_start(ap, fmt);
	flockfile(stderr);
	if (g->core && dropped)
		fprintf(stderr, "gk110: (%u notes dropped)\n", dropped);
	fputs("gk110: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(ap);
}
