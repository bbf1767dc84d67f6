// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marks: where a measured stretch begins and ends. With --marks the program waits for a line on its
 * input there, so that the host's counters can be read while nothing of it runs. Interrupts of
 * nouveau are in the mark's line.
 */
#include "mark.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

/* sum over all CPUs of the lines of nouveau's handler, which is called nvkm */
static unsigned long long interrupts(void)
{
	unsigned long long sum = 0;
	FILE *f = fopen("/proc/interrupts", "r");
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) {
		char *p = strchr(line, ':'), *end;

		if (!p || (!strstr(line, "nvkm") && !strstr(line, "nouveau")))
			continue;
		for (p++;; p = end) {
			unsigned long long n = strtoull(p, &end, 10);

			if (end == p || !isspace((unsigned char)*end))
				break;
			sum += n;
		}
	}
	if (f)
		fclose(f);
	return sum;
}

void mark(const struct client_options *o, const char *fmt, ...)
{
	char name[80];
	va_list ap;
	char c;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	tap_diag("mark %s interrupts=%llu", name, interrupts());
	while (o->marks) {
		if (read(STDIN_FILENO, &c, 1) != 1)
			bail("nobody answered the mark '%s'", name);
		if (c == '\n')
			break;
	}
}

void measured(const char *what, const char *fmt, ...)
{
	char line[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	tap_diag("measure %s %s", what, line);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t median(uint64_t *values, unsigned int nr)
{
	qsort(values, nr, sizeof(*values), by_size);
	return values[nr / 2];
}
