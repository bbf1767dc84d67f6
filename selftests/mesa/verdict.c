// SPDX-License-Identifier: GPL-2.0-only
/* verdict.h has the contracts. The worker calls these functions; workers.c reads the verdict. */
#include "verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* float: fraction, smallest normal exponent */
enum { FRACTION = 23, LEAST = -126 };

void verdict_die(struct verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->text, VERDICT_TEXT, fmt, ap);
	va_end(ap);
	v->wrong++;
	v->done = true;
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
	int exponent = want == 0 || !isfinite(want) ? LEAST : ilogb(want);
	double ulp = ldexp(1, (exponent < LEAST ? LEAST : exponent) - FRACTION);
	double off = fabs((double)got - want);

	v->checked++;
	if (isnan(want) ? isnan(got) :
	    isinf(want) || fabs(want) > 3.4028235677973366e38 ?
			  got == (float)want :
			  off <= ulps * ulp || off <= absolute)
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
