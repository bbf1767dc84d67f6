// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of "make bench-model" that runs in the server, and what it sees there. Prints lines
 * "NAME VALUE UNIT".
 *   bare      without a driver: register reads and writes, doorbell to completion of a small copy
 *   nouveau   with stock nouveau: submission to completion, copy bandwidth, context switches
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ce.h"
#include "gpu.h"
#include "methods.h"

enum { BULK = 64 << 20, BULK_COPIES = 8, SWITCHES = 200 };

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void report(const char *name, double value, const char *unit)
{
	printf("%s %.3f %s\n", name, value, unit);
	fflush(stdout);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void report_spread(const char *name, uint64_t *ns, unsigned int n)
{
	char label[64];

	qsort(ns, n, sizeof(*ns), compare);
	snprintf(label, sizeof(label), "%s_min", name);
	report(label, ns[0] / 1e3, "us");
	snprintf(label, sizeof(label), "%s_median", name);
	report(label, ns[n / 2] / 1e3, "us");
	snprintf(label, sizeof(label), "%s_p90", name);
	report(label, ns[n * 9 / 10] / 1e3, "us");
}

static void must(int ret, const char *what)
{
	if (ret)
		bail("%s: %s", what, strerror(-ret));
}

/* engine time by the time stamps of releases before and after */
static void bench_bandwidth(struct gpu *g, struct gpu_chan *c, const char *name, uint32_t from,
			    uint32_t to)
{
	struct nouveau_bo *src = bo_new(g, from, BULK), *dst = bo_new(g, to, BULK),
			  *sem = bo_new(g, NOUVEAU_BO_GART, 4096);
	volatile uint64_t *w = sem->map;
	unsigned int i, round;
	uint64_t best = ~0ull;

	if (from == NOUVEAU_BO_GART)
		memset(src->map, 0x5c, BULK);
	if (to == NOUVEAU_BO_GART)
		memset(dst->map, 0, BULK);
	for (round = 0; round < 3; round++) {
		job_begin(c, (BULK_COPIES + 1) * CE_COPY_WORDS);
		job_use(c, src, NOUVEAU_BO_RD);
		job_use(c, dst, NOUVEAU_BO_WR);
		job_use(c, sem, NOUVEAU_BO_WR);
		emit_semaphore(c, sem->offset, 1, SEMAPHORE_RELEASE);
		for (i = 0; i < BULK_COPIES; i++)
			ce_emit_linear(c, src->offset, dst->offset, BULK);
		emit_semaphore(c, sem->offset + 16, 2, SEMAPHORE_RELEASE);
		must(job_run(c), "bulk copy");
		if (w[3] - w[1] < best)
			best = w[3] - w[1];
	}
	report(name, (double)BULK * BULK_COPIES / best, "GB/s");
	bo_free(&src);
	bo_free(&dst);
	bo_free(&sem);
}

static void bench_submit(struct gpu *g, struct gpu_chan *c)
{
	struct nouveau_bo *bo = bo_new(g, NOUVEAU_BO_GART, 4096);
	static uint64_t ns[SMALL_COPIES];
	volatile uint32_t *done = c->done->map;
	unsigned int i;

	for (i = 0; i < SMALL_COPIES; i++) {
		uint64_t start;

		job_begin(c, CE_COPY_WORDS);
		job_use(c, bo, NOUVEAU_BO_RDWR);
		ce_emit_linear(c, bo->offset, bo->offset + 2048, SMALL);
		start = now_ns();
		must(job_kick(c), "small copy");
		while (*done != c->seq)
			if (now_ns() - start > 5000000000ull)
				bail("a small copy does not end");
		ns[i] = now_ns() - start;
		must(job_wait(c, JOB_TIMEOUT_MS), "small copy");
	}
	report_spread("nouveau_submit_to_completion", ns, SMALL_COPIES);
	bo_free(&bo);
}

/* two channels hand a word to and fro; each turn takes both contexts onto the engine once */
static void bench_switch(struct gpu *g, enum gpu_engine engine, const char *name)
{
	struct nouveau_object *obj[2] = { NULL, NULL };
	struct nouveau_bo *sem = bo_new(g, NOUVEAU_BO_GART, 4096);
	struct gpu_chan c[2];
	uint64_t start;
	unsigned int i, side;

	memset(sem->map, 0, 4096);
	for (side = 0; side < 2; side++) {
		chan_must_open(g, engine, &c[side]);
		if (engine != ENGINE_GR)
			continue;
		obj[side] = chan_object(&c[side], CLASS_INLINE);
		job_begin(&c[side], 16);
		emit(&c[side], SUBC_INLINE, SET_OBJECT, CLASS_INLINE);
		must(job_run(&c[side]), "object");
	}
	start = now_ns();
	for (side = 0; side < 2; side++) {
		job_begin(&c[side], SWITCHES * 16);
		job_use(&c[side], sem, NOUVEAU_BO_RD);
		for (i = 0; i < SWITCHES; i++) {
			emit_semaphore(&c[side], sem->offset, 2 * i + side,
				       SEMAPHORE_ACQUIRE | SEMAPHORE_SWITCH);
			if (engine == ENGINE_GR)
				emit(&c[side], SUBC_INLINE, GR_WAIT_FOR_IDLE, 0);
			else
				emit(&c[side], SUBC_COPY, CE_SEMAPHORE_A, 0, 0, i);
			emit_semaphore(&c[side], sem->offset, 2 * i + side + 1,
				       SEMAPHORE_RELEASE | SEMAPHORE_4BYTE);
		}
		must(job_kick(&c[side]), "ping-pong");
	}
	for (side = 0; side < 2; side++)
		must(job_wait(&c[side], JOB_TIMEOUT_MS), "ping-pong");
	report(name, (now_ns() - start) / 1e3 / (2 * SWITCHES), "us");
	for (side = 0; side < 2; side++) {
		if (obj[side])
			nouveau_object_del(&obj[side]);
		chan_close(&c[side]);
	}
	bo_free(&sem);
}

static void bench_nouveau(void)
{
	struct gpu_chan c;
	struct gpu g;

	gpu_open(&g, NULL);
	chan_must_open(&g, ENGINE_CE, &c);
	bench_submit(&g, &c);
	bench_bandwidth(&g, &c, "copy_vram_to_vram", NOUVEAU_BO_VRAM, NOUVEAU_BO_VRAM);
	bench_bandwidth(&g, &c, "copy_host_to_vram", NOUVEAU_BO_GART, NOUVEAU_BO_VRAM);
	bench_bandwidth(&g, &c, "copy_vram_to_host", NOUVEAU_BO_VRAM, NOUVEAU_BO_GART);
	chan_close(&c);
	bench_switch(&g, ENGINE_CE, "switch_ce");
	bench_switch(&g, ENGINE_GR, "switch_gr");
	gpu_close(&g);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "bare"))
		bench_bare();
	else if (argc == 2 && !strcmp(argv[1], "nouveau"))
		bench_nouveau();
	else {
		fprintf(argc == 2 && !strcmp(argv[1], "--help") ? stdout : stderr,
			"usage: kvgpu-bench bare|nouveau\n");
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	return 0;
}
