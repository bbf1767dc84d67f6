// SPDX-License-Identifier: GPL-2.0-only
/* tap.h has the contracts. The counts are of this process and have no lock. */
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>

static unsigned int nr_results, nr_bad;

static void result_line(const char *verdict, const char *name)
{
	printf("%s %u - %s", verdict, ++nr_results, name);
}

void tap_result(bool ok, const char *name, const char *fmt, ...)
{
	va_list ap;

	result_line(ok ? "ok" : "not ok", name);
	if (!ok)
		nr_bad++;
	if (fmt) {
		printf(" # ");
		va_start(ap, fmt);
		vprintf(fmt, ap);
		va_end(ap);
	}
	putchar('\n');
	fflush(stdout);
}

void tap_skip(const char *name, const char *reason)
{
	result_line("ok", name);
	printf(" # SKIP %s\n", reason);
	fflush(stdout);
}

void tap_known_bug(bool gone, const char *name, const char *bug)
{
	result_line(gone ? "ok" : "not ok", name);
	printf(" # %s %s\n", gone ? "GONE" : "XFAIL", bug);
	fflush(stdout);
}

void tap_diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

bool tap_all_ok(void)
{
	return nr_bad == 0;
}

int tap_finish(void)
{
	printf("1..%u\n", nr_results);
	fflush(stdout);
	return nr_results && !nr_bad ? 0 : 1;
}
