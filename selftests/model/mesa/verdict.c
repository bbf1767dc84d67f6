// SPDX-License-Identifier: GPL-2.0-only
/* verdict.h has the contracts. */
#include "verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

char **names_of_tests(char **argv, const char **device)
{
	if (!argv[1] || !argv[2] || strcmp(argv[1], "--device"))
		return argv + 1;
	*device = argv[2];
	return argv + 3;
}

bool is_wanted(const char *name, char **names)
{
	char **n;

	for (n = names; *n && strcmp(*n, name); n++)
		;
	return !*names || *n;
}

void verdict_print(const struct verdict *v)
{
	if (v->skipped)
		tap_skip(v->name, v->text);
	else if (v->checked && !v->wrong)
		tap_result(true, v->name, "%llu values", (unsigned long long)v->checked);
	else
		tap_result(false, v->name, "%llu of %llu wrong: %s", (unsigned long long)v->wrong,
			   (unsigned long long)v->checked, v->text);
}

void verdict_die(struct verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->text, VERDICT_TEXT, fmt, ap);
	va_end(ap);
	v->wrong++;
	verdict_print(v);
	_exit(1);
}

void verdict_skip(struct verdict *v, const char *why)
{
	v->skipped = true;
	snprintf(v->text, VERDICT_TEXT, "%s", why);
}

void verdict_equal(struct verdict *v, const char *what, const void *got, const void *want, size_t n,
		   size_t size)
{
	const uint8_t *g = got, *w = want;
	uint64_t a, b;
	size_t i;

	for (i = 0; i < n; i++, g += size, w += size) {
		v->checked++;
		if (!memcmp(g, w, size))
			continue;
		a = b = 0;
		memcpy(&a, g, size < 8 ? size : 8);
		memcpy(&b, w, size < 8 ? size : 8);
		if (!v->wrong++)
			snprintf(v->text, VERDICT_TEXT, "%s[%zu]: %#llx, not %#llx", what, i,
				 (unsigned long long)a, (unsigned long long)b);
	}
}

void verdict_near(struct verdict *v, const char *what, float got, double want, double ulps,
		  double absolute)
{
	/* 23 bits of fraction; small numbers are measured as 2^-126 is */
	double ulp = ldexp(1, (fabs(want) < 0x1p-126 ? -126 : ilogb(want)) - 23);
	double off = fabs((double)got - want);

	v->checked++;
	if (off <= ulps * ulp || off <= absolute)
		return;
	if (!v->wrong++)
		snprintf(v->text, VERDICT_TEXT, "%s: %.9g, not %.9g: %.1f ulp, %.1f allowed", what,
			 got, want, off / ulp, ulps);
}

void verdict_true(struct verdict *v, bool ok, const char *fmt, ...)
{
	va_list ap;

	v->checked++;
	if (ok || v->wrong++)
		return;
	va_start(ap, fmt);
	vsnprintf(v->text, VERDICT_TEXT, fmt, ap);
	va_end(ap);
}
