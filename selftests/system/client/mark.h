/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines between the measuring subtests and the scripts that read counters around them. */
#ifndef KVGPU_SELFTESTS_MARK_H
#define KVGPU_SELFTESTS_MARK_H

#include "client.h"

/* "# mark NAME interrupts=N": with --marks it waits for a line on standard input */
void mark(const struct client_options *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "# measure WHAT key=value ..." */
void measured(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* sorts @values */
uint64_t median(uint64_t *values, unsigned int nr);

#endif
