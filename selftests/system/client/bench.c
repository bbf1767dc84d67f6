// SPDX-License-Identifier: GPL-2.0-only
/*
 * "kvgpu-client bench ROWS...": rows of make bench that a program can measure where nouveau drives
 * the GPU, natively and in guests alike. Prints a line of JSON for each sample.
 */
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "mark.h"
#include "tap.h"

static const struct {
	const char *name;
	void (*run)(struct bench *b);
	bool session; /* wants the GPU opened */
} groups[] = {
	{ "first-context", bench_first_context, false },
	{ "context", bench_context, false },
	{ "channel", bench_channel, true },
	{ "buffer", bench_buffer, true },
	{ "bar1", bench_bar1, true },
	{ "copy", bench_copy, true },
	{ "launch", bench_launch, true },
};

enum { NR_GROUPS = sizeof(groups) / sizeof(groups[0]) };

/* ------------------------------------------------------------------ rows */

static void sample(const struct bench_row *row, double value)
{
	printf("{\"row\": \"%s\", \"unit\": \"%s\", \"better\": \"%s\", \"value\": %.6g, \"ops\": %u}\n",
	       row->name, row->unit, row->higher ? "higher" : "lower", value, row->ops);
	fflush(stdout);
}

static void take(struct bench *b, const struct bench_row *row,
		 int (*once)(void *ctx, double *value), void *ctx, bool warm_up)
{
	double value[64];
	unsigned int i, n = row->samples < 64 ? row->samples : 64;
	int ret = warm_up ? once(ctx, &value[0]) : 0;

	if (ret == -ENOSPC && row->may_lack) {
		tap_diag("%s: the card has no room for it: left out", row->name);
		return;
	}
	mark(b->o, "%s begin ops=0", row->name);
	for (i = 0; !ret && i < n; i++)
		ret = once(ctx, &value[i]);
	mark(b->o, "%s end ops=%u", row->name, n * row->ops);
	for (i = 0; !ret && i < n; i++)
		sample(row, value[i]);
	tap_result(!ret, row->name, "result %d", ret);
}

void bench_row(struct bench *b, const struct bench_row *row, int (*once)(void *ctx, double *value),
	       void *ctx)
{
	take(b, row, once, ctx, true);
}

void bench_row_once(struct bench *b, const struct bench_row *row,
		    int (*once)(void *ctx, double *value), void *ctx)
{
	take(b, row, once, ctx, false);
}

const char *bench_size(uint64_t bytes)
{
	static char text[16];

	if (bytes < 1 << 20)
		snprintf(text, sizeof(text), "%lluk", (unsigned long long)bytes >> 10);
	else
		snprintf(text, sizeof(text), "%llum", (unsigned long long)bytes >> 20);
	return text;
}

int bench_watch(struct gpu_chan *c)
{
	const volatile uint32_t *done = c->done->map;
	uint64_t end = now_us() + JOB_TIMEOUT_MS * 1000ull;

	while ((int32_t)(*done - c->seq) < 0) {
		if (now_us() > end)
			return -ETIMEDOUT;
		sched_yield();
	}
	return 0;
}

/* ------------------------------------------------------------------ contexts and channels */

struct context {
	struct bench *b;
	enum gpu_engine engine;
};

/* from nothing to the end of the first job of a graphics channel; taking it down is not measured */
static int context_once(void *ctx, double *value)
{
	struct context *x = ctx;
	struct gpu_chan c;
	struct gpu g;
	uint64_t start = now_us();

	gpu_open(&g, x->b->o->node);
	chan_must_open(&g, x->engine, &c);
	*value = now_us() - start;
	chan_close(&c);
	gpu_close(&g);
	return 0;
}

/* of a driver that was just loaded */
void bench_first_context(struct bench *b)
{
	struct context x = { b, ENGINE_GR };
	const struct bench_row row = { "first-context", "us", false, 1, 1, false };

	bench_row_once(b, &row, context_once, &x);
}

void bench_context(struct bench *b)
{
	struct context x = { b, ENGINE_GR };
	const struct bench_row row = { "context", "us", false, b->o->quick ? 2 : 5, 1, false };

	bench_row(b, &row, context_once, &x);
}

/* a channel with its first job, and its end, but for what chan_close() leaves to gpu_close() */
static int channel_once(void *ctx, double *value)
{
	struct context *x = ctx;
	uint64_t start = now_us();
	struct gpu_chan c;

	chan_must_open(&x->b->g, x->engine, &c);
	chan_close(&c);
	*value = now_us() - start;
	return 0;
}

void bench_channel(struct bench *b)
{
	struct context x = { b, ENGINE_CE };
	struct bench_row row = { "channel-ce", "us", false, b->o->quick ? 3 : 10, 1, false };

	bench_row(b, &row, channel_once, &x);
	strcpy(row.name, "channel-gr");
	x.engine = ENGINE_GR;
	bench_row(b, &row, channel_once, &x);
}

/* ------------------------------------------------------------------ */

int client_bench(const struct client_options *o, char **names, int nr)
{
	struct bench b = { .o = o };
	int i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < NR_GROUPS && strcmp(names[i], groups[j].name); j++)
			;
		if (j < NR_GROUPS)
			continue;
		fprintf(stderr, "kvgpu-client: bench has no rows '%s'; there are:", names[i]);
		for (j = 0; j < NR_GROUPS; j++)
			fprintf(stderr, " %s", groups[j].name);
		fprintf(stderr, "\n");
		return 2;
	}
	for (i = 0; i < nr; i++) {
		for (j = 0; strcmp(names[i], groups[j].name); j++)
			;
		if (groups[j].session)
			gpu_open(&b.g, o->node);
		groups[j].run(&b);
		if (groups[j].session)
			gpu_close(&b.g);
	}
	return tap_finish();
}
