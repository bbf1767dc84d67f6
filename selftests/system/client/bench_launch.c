// SPDX-License-Identifier: GPL-2.0-only
/*
 * Benchmark: launches of an empty shader and submissions without work. "Latency" is one after the
 * other, its end seen in memory; "rate" is many in one submission; "sleeping" waits in the kernel
 * until the interrupt. "context-switch" is launches on two channels in turns.
 */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compute.h"
#include "methods.h"

enum { REPEAT = 50 };

struct launches {
	struct bench *b;
	struct compute k;
	struct gpu_chan ce;
	struct gpu_chan *c;
	uint32_t payload;
	bool sleeps;
};

static int launch_once(struct launches *x)
{
	int ret;

	compute_set_release(&x->k, compute_new_qmd(&x->k, 0), 0, 0, ++x->payload, true);
	job_begin(&x->k.c, 16);
	job_use(&x->k.c, x->k.bo, NOUVEAU_BO_RDWR);
	compute_emit_launch(&x->k, 0);
	emit(&x->k.c, SUBC_COMPUTE, GR_WAIT_FOR_IDLE, 0);
	ret = job_kick(&x->k.c);
	if (!ret)
		ret = bench_watch(&x->k.c);
	return ret ? ret : *compute_release_word(&x->k, 0, 0) == x->payload ? 0 : -EILSEQ;
}

static int latency_once(void *ctx, double *value)
{
	struct launches *x = ctx;
	uint64_t start = now_us();
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < REPEAT; i++)
		ret = launch_once(x);
	*value = (double)(now_us() - start) / REPEAT;
	return ret;
}

static int turns_once(void *ctx, double *value)
{
	struct launches *x = ctx;
	uint64_t start = now_us();
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < REPEAT; i++)
		ret = launch_once(&x[i & 1]);
	*value = (double)(now_us() - start) / REPEAT;
	return ret;
}

static int rate_once(void *ctx, double *value)
{
	struct launches *x = ctx;
	unsigned int i;
	uint64_t start;
	int ret;

	for (i = 0; i < COMPUTE_MAX_LAUNCHES; i++)
		compute_set_release(&x->k, compute_new_qmd(&x->k, i), i, 0, ++x->payload, true);
	job_begin(&x->k.c, COMPUTE_MAX_LAUNCHES * 8);
	job_use(&x->k.c, x->k.bo, NOUVEAU_BO_RDWR);
	for (i = 0; i < COMPUTE_MAX_LAUNCHES; i++)
		compute_emit_launch(&x->k, i);
	emit(&x->k.c, SUBC_COMPUTE, GR_WAIT_FOR_IDLE, 0);
	start = now_us();
	ret = job_kick(&x->k.c);
	if (!ret)
		ret = bench_watch(&x->k.c);
	*value = COMPUTE_MAX_LAUNCHES * 1e6 / (now_us() - start + 1);
	return ret ? ret : *compute_release_word(&x->k, i - 1, 0) == x->payload ? 0 : -EILSEQ;
}

/* nothing but the release of the job's number, and nouveau's own fence */
static int submit_once(void *ctx, double *value)
{
	struct launches *x = ctx;
	uint64_t start = now_us();
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < REPEAT; i++) {
		job_begin(x->c, 8);
		ret = job_kick(x->c);
		if (!ret)
			ret = x->sleeps ?
				      nouveau_bo_wait(x->c->done, NOUVEAU_BO_RDWR, x->b->g.client) :
				      bench_watch(x->c);
	}
	*value = (double)(now_us() - start) / REPEAT;
	return ret;
}

void bench_launch(struct bench *b)
{
	struct bench_row row = { "", "us", false, b->o->quick ? 3 : 10, REPEAT, false };
	struct launches two[2] = { { .b = b }, { .b = b } }, x = { .b = b };

	compute_open(&two[0].k, &b->g);
	compute_open(&two[1].k, &b->g);
	strcpy(row.name, "context-switch");
	bench_row(b, &row, turns_once, two);
	compute_close(&two[0].k);
	compute_close(&two[1].k);

	compute_open(&x.k, &b->g);
	chan_must_open(&b->g, ENGINE_CE, &x.ce);
	strcpy(row.name, "launch-latency");
	bench_row(b, &row, latency_once, &x);
	x.c = &x.k.c;
	strcpy(row.name, "submit-gr");
	bench_row(b, &row, submit_once, &x);
	strcpy(row.name, "submit-gr-sleeping");
	x.sleeps = true;
	bench_row(b, &row, submit_once, &x);
	x.sleeps = false;
	x.c = &x.ce;
	strcpy(row.name, "submit-ce");
	bench_row(b, &row, submit_once, &x);
	row = (struct bench_row){ "launch-rate",	"1/s", true, b->o->quick ? 3 : 10,
				  COMPUTE_MAX_LAUNCHES, false };
	bench_row(b, &row, rate_once, &x);
	chan_close(&x.ce);
	compute_close(&x.k);
}
