/* SPDX-License-Identifier: GPL-2.0-only */
/* The three forms of kvgpu-top's output: table, JSON, and Prometheus' text format. */
#ifndef KVGPU_TOOLS_OUTPUT_H
#define KVGPU_TOOLS_OUTPUT_H

#include <stdio.h>

#include "rates.h"

/* Print a table for people, with lines of at most @columns characters. */
void print_table(FILE *out, const struct sample *before, const struct sample *now, int columns);
/*
 * Print one JSON object on one line. Return false if memory ran out or the output can't be written.
 */
bool print_json(FILE *out, const struct sample *before, const struct sample *now);
/*
 * Print text format 0.0.4 of Prometheus. It has no rates, because Prometheus computes rates itself.
 * @firmware is the path of the GPUs' firmware file.
 */
void print_prometheus(FILE *out, const struct sample *now, const char *firmware);
/*
 * Print which cards have room for @mix ("512m=4,2g=1"), and what fits beside it. Return the exit
 * code: 0: one card at least has, 3: none has, 2: @mix is wrong, or no card says what it has.
 */
int print_plan(FILE *out, const struct sample *now, const char *mix);

#endif
