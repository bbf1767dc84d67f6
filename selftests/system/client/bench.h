/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of "kvgpu-client bench" share. */
#ifndef KVGPU_SELFTESTS_CLIENT_BENCH_H
#define KVGPU_SELFTESTS_CLIENT_BENCH_H

#include "client.h"

struct bench {
	const struct client_options *o;
	struct gpu g; /* open, but in the rows of contexts */
};

/* one row of the report: a name and what its values are */
struct bench_row {
	char name[40];
	const char *unit;
	bool higher; /* is better */
	unsigned int samples;
	unsigned int ops; /* operations of one sample: counters are divided by them */
	/* -ENOSPC at the warm-up leaves the row out: a card may be too small for it */
	bool may_lack;
};

/*
 * Takes @row->samples samples after one that warms up, and then prints each as a line of JSON.
 * Marks stand around the samples (mark.h). @once stores a value of the row's unit in *@value and
 * returns 0 or -errno. After an error no sample of the row is printed, and the program fails (but
 * see .may_lack).
 */
void bench_row(struct bench *b, const struct bench_row *row, int (*once)(void *ctx, double *value),
	       void *ctx);
/* bench_row() for work that can't be done twice */
void bench_row_once(struct bench *b, const struct bench_row *row,
		    int (*once)(void *ctx, double *value), void *ctx);
/* valid until the next call */
const char *bench_size(uint64_t bytes);
/* waits for the job's number in memory, asks no register; 0 or -ETIMEDOUT */
int bench_watch(struct gpu_chan *c);

void bench_first_context(struct bench *b);
void bench_context(struct bench *b);
void bench_channel(struct bench *b);
void bench_buffer(struct bench *b);
void bench_bar1(struct bench *b);
void bench_copy(struct bench *b);
void bench_launch(struct bench *b);

#endif
