/* SPDX-License-Identifier: GPL-2.0-only */
/* Tenants work together, and are measured in windows of time. */
#ifndef KVGPU_TENANTS_MEASURE_H
#define KVGPU_TENANTS_MEASURE_H

#include <stdio.h>

#include "tenant.h"

enum { MAX_TENANTS = 8, MAX_LOOKS = 600, SPANS = 2 };

/* How many looks a window is long. */
extern const unsigned int spans[SPANS];

struct setup {
	const char *name;
	unsigned int nr;
	enum role role[MAX_TENANTS];
	unsigned int weight[MAX_TENANTS]; /* 0: the default */
	unsigned int cap[MAX_TENANTS];
	const char *policy; /* NULL: best-effort */
	/* processes that make and remove further vGPUs meanwhile */
	unsigned int churn;
	/*
	 * error of the worst window that is aimed at, as a part of what a tenant should get; 0: no
	 * aim
	 */
	double aim[SPANS];
};

/*
 * |share - want| / want. worst: over all tenants and windows; mean: over windows, of the mean over
 * tenants
 */
struct spread {
	unsigned int windows;
	double mean, worst;
};

/*
 * A look reads the vGPUs' times one after the other: at is when it began, took how long these
 * readings took, ns of CLOCK_MONOTONIC.
 */
struct moment {
	uint64_t at, took;
};

/*
 * from, to: which looks are its ends; mean and worst over tenants, as in struct spread; error:
 * (share - want) / want of each tenant
 */
struct window {
	unsigned int from, to;
	double mean, worst, error[MAX_TENANTS];
};

struct result {
	/*
	 * share: part of the time charged to all tenants; wall: of the wall time; want: what share
	 * should be
	 */
	double share[MAX_TENANTS], wall[MAX_TENANTS], want[MAX_TENANTS];
	struct spread error[SPANS]; /* windows without a strike in which no tenant ran dry */
	/* windows in which a tenant that should always have work had none: not judged */
	unsigned int dry[SPANS];
	struct window window[SPANS][MAX_LOOKS / 2]; /* these windows, error[].windows of each */
	struct moment moment[MAX_LOOKS + 1];
	unsigned int looks;
	/*
	 * least and greatest want of the tenants that always work; 0 if no tenant does
	 */
	double least, greatest;
	/*
	 * Windows of spans[0] looks with a strike: by what part a tenant that always works got less
	 * time than if all tenants had worked.
	 */
	struct spread lost;
	double busy; /* part of the wall time that the GPU worked */
	double bytes_per_s, bytes_share[MAX_TENANTS];
	/*
	 * |part of the bytes copied in the whole measurement - want| / want, the worst of the
	 * tenants that always work
	 */
	double work_error;
	uint32_t p50_us, p99_us, max_us, nr_samples;
	uint64_t bad, preempts, preempt_ns, preempt_max;
	/*
	 * What a turn of each tenant took on average: time charged to the vGPU / turns, ns; 0: it
	 * had none. The part of a switch for which the vGPU still works is in it.
	 */
	double turn_ns[MAX_TENANTS];
	/*
	 * such a turn as a part of the tenant's time in a window of spans[0] looks: the greatest
	 * of the tenants that always work
	 */
	double turn_part;
	uint64_t made, make_ns; /* made by churn; time for all of them together */
};

/* Return false when this can't be measured here; the reason was printed. */
bool measure(const struct setup *s, unsigned int looks, double seconds, struct result *r);
/* @seconds: as given to measure(). */
void print_result(const struct setup *s, double seconds, const struct result *r);
void print_json(FILE *f, const struct setup *s, double seconds, const struct result *r, bool first);

#endif
