// SPDX-License-Identifier: GPL-2.0-only
/* check.h has the contracts. The counts have no lock: one thread calls these functions. */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

enum { TOLD = 8 };

static unsigned int nr, bad;
void *volatile nowhere = (void *)8;

void checks_begin(void)
{
	nr = bad = 0;
}

void check_at(const char *file, int line, const char *what, bool ok)
{
	int err = errno;

	nr++;
	if (!ok && ++bad <= TOLD)
		tap_diag("%s:%d: not true: %s (errno %d, %s)", file, line, what, err,
			 strerror(err));
}

void checks_end(const char *name)
{
	tap_result(nr && !bad, name, "%u of %u checks", nr - bad, nr);
}

bool all_bytes(const uint8_t *p, size_t len, uint8_t v)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != v)
			return false;
	return true;
}
