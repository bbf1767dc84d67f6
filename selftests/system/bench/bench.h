/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kvgpu-bench: model_bench.c calls bench_bare() of bare_bench.c and has the other functions. The
 * headers that are not here are of ../client, ../../model/attacks; ../client/bench.h is
 * kvgpu-client's.
 */
#ifndef KVGPU_BENCH_BENCH_H
#define KVGPU_BENCH_BENCH_H

#include <stdint.h>

enum { SMALL = 256, SMALL_COPIES = 400 };

uint64_t now_ns(void);
/* prints "NAME VALUE UNIT" */
void report(const char *name, double value, const char *unit);
/* NAME_min, NAME_median, NAME_p90 in us; sorts */
void report_spread(const char *name, uint64_t *ns, unsigned int n);
void bench_bare(void);

#endif
