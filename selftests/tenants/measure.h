/* SPDX-License-Identifier: GPL-2.0-only */
/* Tenants at work together, looked at in windows of time. */
#ifndef KVGPU_TENANTS_MEASURE_H
#define KVGPU_TENANTS_MEASURE_H

#include <stdio.h>

#include "tenant.h"

enum { MAX_TENANTS = 8, MAX_LOOKS = 64, SPANS = 2 };

/*
 * how many looks apart the ends of a window are: with looks of a second, windows of 2 s and of 3 s
 */
extern const unsigned int spans[SPANS];

struct setup {
	const char *name;
	unsigned int nr;
	enum role role[MAX_TENANTS];
	unsigned int weight[MAX_TENANTS];	/* 0: as it is made */
	unsigned int cap[MAX_TENANTS];
	const char *policy;			/* NULL: best-effort */
	/* so many processes make and remove further vGPUs meanwhile */
	unsigned int churn;
	/* of the worst window, in parts of what a tenant is entitled to; 0: none */
	double aim[SPANS];
};

/* of |share - want| / want over tenants and windows; mean: of the means */
struct spread {
	unsigned int windows;
	double mean, worst;
};

struct result {
	/* parts of the time that was charged to all, and of the wall's */
	double share[MAX_TENANTS], wall[MAX_TENANTS], want[MAX_TENANTS];
	struct spread error[SPANS];		/* windows in which nobody was struck */
	/*
	 * windows of spans[0] in which a hang was cut off: how much less of its time than its
	 * entitlement another tenant had
	 */
	struct spread lost;
	double busy;				/* of the time */
	double bytes_per_s, bytes_share[MAX_TENANTS];
	/* worst over tenants, of the bytes copied in all windows */
	double work_error;
	uint32_t p50_us, p99_us, max_us, nr_samples;
	uint64_t bad, preempts, preempt_ns, preempt_max;
	uint64_t made, make_ns;			/* of the further vGPUs; all of them together */
};

/* false: it can't be measured here, which was said */
bool measure(const struct setup *s, unsigned int looks, double seconds, struct result *r);
/* @seconds: as measure() had it */
void print_result(const struct setup *s, double seconds, const struct result *r);
void print_json(FILE *f, const struct setup *s, double seconds, const struct result *r, bool first);

#endif
