/* SPDX-License-Identifier: GPL-2.0-only */
/* The three forms of kvgpu-top's output. */
#ifndef KVGPU_TOOLS_OUTPUT_H
#define KVGPU_TOOLS_OUTPUT_H

#include <stdio.h>

#include "rates.h"

/* a table for people, no line longer than @columns */
void print_table(FILE *out, const struct sample *before, const struct sample *now, int columns);
/* one JSON object on one line; false: out of memory, or the output is closed */
bool print_json(FILE *out, const struct sample *before, const struct sample *now);
/* text format 0.0.4 of Prometheus, which computes rates itself */
void print_prometheus(FILE *out, const struct sample *now);

#endif
