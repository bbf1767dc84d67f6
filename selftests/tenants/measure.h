/* SPDX-License-Identifier: GPL-2.0-only */
/* Tenants at work together, looked at in windows of time. */
#ifndef KVGPU_TENANTS_MEASURE_H
#define KVGPU_TENANTS_MEASURE_H

#include <stdio.h>

#include "tenant.h"

enum { MAX_TENANTS = 8, MAX_WINDOWS = 32 };

struct setup {
	const char *name;
	unsigned int nr;
	enum role role[MAX_TENANTS];
	unsigned int weight[MAX_TENANTS];	/* 0: as it is made */
	unsigned int cap[MAX_TENANTS];
	const char *policy;			/* NULL: best-effort */
	unsigned int churn;			/* so many processes make and remove further vGPUs meanwhile */
};

struct result {
	unsigned int windows;
	/* of each tenant: part of the time that was charged to all, mean and worst distance from what it should be, in parts of that */
	double share[MAX_TENANTS], wall[MAX_TENANTS], want[MAX_TENANTS];
	double mean_error, worst_error;		/* of |share - want| / want over tenants and windows; mean: of the means */
	double busy;				/* of the time */
	double bytes_per_s, bytes_share[MAX_TENANTS];
	double work_error;			/* worst over tenants, of the bytes copied in all windows */
	uint32_t p50_us, p99_us, max_us, nr_samples;
	uint64_t bad, preempts, preempt_ns, preempt_max;
	uint64_t made, make_ns;			/* of the further vGPUs; all of them together */
};

void measure(const struct setup *s, unsigned int windows, double seconds, struct result *r);
void print_result(const struct setup *s, const struct result *r);
void print_json(FILE *f, const struct setup *s, const struct result *r, bool last);

#endif
