// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a share of the GPU is measured with: "busy" keeps a copy engine at work, with some work
 * queued, and "latency" has one small copy every 10 ms. Both check what comes back.
 */
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ce.h"
#include "mark.h"
#include "methods.h"
#include "pattern.h"
#include "tap.h"

enum {
	PAGE = 4096,
	BIG = 8 << 20,
	COPIES = 4,
	DEPTH = 4,
	TELL_US = 250000,
	ASK_US = 250000,
	STALLED_US = 40000000,
	PERIOD_US = 10000,
	MAX_SAMPLES = 100000,
	DEFAULT_SECONDS = 10,
};

bool time_is_over(const struct client_options *o, unsigned int otherwise, uint64_t start)
{
	static uint64_t asked;
	uint64_t now = now_us();

	if (now - start > (o->seconds ? o->seconds : otherwise) * 1000000ull)
		return true;
	if (!o->until || now - asked < ASK_US)
		return false;
	asked = now;
	return !access(o->until, F_OK);
}

static bool done(const struct gpu_chan *c, uint32_t seq)
{
	return (int32_t)(*(const volatile uint32_t *)c->done->map - seq) >= 0;
}

/* ------------------------------------------------------------------ busy */

struct busy {
	struct gpu_chan c;
	struct nouveau_bo *in, *out, *a, *b; /* in, out: a page for each job in flight */
	uint32_t first; /* .c.seq before the first job */
	uint64_t submitted, collected, seed;
};

static void busy_submit(struct busy *s)
{
	unsigned int slot = s->submitted % DEPTH, i;
	uint64_t at = slot * PAGE, place = s->submitted * 37 % (BIG / PAGE) * PAGE;
	struct gpu_chan *c = &s->c;

	pattern_fill((uint8_t *)s->in->map + at, PAGE, s->seed + ++s->submitted);
	memset((uint8_t *)s->out->map + at, 0x5a, PAGE);
	job_begin(c, (2 + COPIES) * CE_COPY_WORDS);
	job_use(c, s->in, NOUVEAU_BO_RD);
	job_use(c, s->out, NOUVEAU_BO_WR);
	job_use(c, s->a, NOUVEAU_BO_RDWR);
	job_use(c, s->b, NOUVEAU_BO_RDWR);
	ce_emit_linear(c, s->in->offset + at, s->a->offset + place, PAGE);
	for (i = 0; i < COPIES; i++)
		ce_emit_linear(c, s->a->offset, s->b->offset, BIG);
	ce_emit_linear(c, s->b->offset + place, s->out->offset + at, PAGE);
	if (job_kick(c))
		bail("a submission is refused after %llu jobs", (unsigned long long)s->submitted);
}

static int busy_collect(struct busy *s)
{
	while (s->collected < s->submitted && done(&s->c, s->first + (uint32_t)s->collected + 1)) {
		uint64_t at = s->collected++ % DEPTH * PAGE;

		if (memcmp((uint8_t *)s->in->map + at, (uint8_t *)s->out->map + at, PAGE))
			return -EILSEQ;
	}
	return 0;
}

static void busy_open(struct busy *s, struct gpu *g, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->seed = seed;
	chan_must_open(g, ENGINE_CE, &s->c);
	s->in = bo_new(g, NOUVEAU_BO_GART, DEPTH * PAGE);
	s->out = bo_new(g, NOUVEAU_BO_GART, DEPTH * PAGE);
	s->a = bo_new(g, NOUVEAU_BO_VRAM, BIG);
	s->b = bo_new(g, NOUVEAU_BO_VRAM, BIG);
	s->first = s->c.seq;
}

/* the two buffers are the same after the last job */
static int busy_compare(struct busy *s, struct gpu *g)
{
	struct nouveau_bo *host = bo_new(g, NOUVEAU_BO_GART, 2 * BIG);
	int ret;

	job_begin(&s->c, 2 * CE_COPY_WORDS);
	job_use(&s->c, host, NOUVEAU_BO_WR);
	job_use(&s->c, s->a, NOUVEAU_BO_RD);
	job_use(&s->c, s->b, NOUVEAU_BO_RD);
	ce_emit_linear(&s->c, s->a->offset, host->offset, BIG);
	ce_emit_linear(&s->c, s->b->offset, host->offset + BIG, BIG);
	ret = job_run(&s->c);
	if (!ret && first_difference(host->map, (uint8_t *)host->map + BIG, BIG) >= 0)
		ret = -EILSEQ;
	bo_free(&host);
	return ret;
}

static void busy_close(struct busy *s)
{
	bo_free(&s->in);
	bo_free(&s->out);
	bo_free(&s->a);
	bo_free(&s->b);
	chan_close(&s->c);
}

static uint64_t bytes_of(uint64_t jobs)
{
	return jobs * (2 * PAGE + (uint64_t)COPIES * BIG);
}

/* the longest time without a job done is in @pause */
static int busy_work(struct busy *s, const struct client_options *o, uint64_t start,
		     uint64_t *pause)
{
	uint64_t now, moved = start, told = start, before;
	bool over = false;
	int ret = 0;

	while (!ret && (!over || s->collected < s->submitted)) {
		now = now_us();
		over = over || time_is_over(o, DEFAULT_SECONDS, start);
		while (!over && s->submitted - s->collected < DEPTH)
			busy_submit(s);
		before = s->collected;
		ret = busy_collect(s);
		if (s->collected != before) {
			*pause = now - moved > *pause ? now - moved : *pause;
			moved = now;
		} else if (!ret && now - moved > STALLED_US) {
			ret = -ETIMEDOUT;
		}
		if (now - told >= TELL_US) {
			tap_diag("progress ms=%llu bytes=%llu",
				 (unsigned long long)(now - start) / 1000,
				 (unsigned long long)bytes_of(s->collected));
			told = now;
		}
		usleep(2000);
	}
	return ret;
}

void test_busy(const struct client_options *o)
{
	uint64_t start, took, pause = 0;
	struct busy s;
	struct gpu g;
	int ret, same;

	gpu_open(&g, o->node);
	busy_open(&s, &g, o->seed);
	tap_diag("busy");
	start = now_us();
	ret = busy_work(&s, o, start, &pause);
	took = now_us() - start;
	measured("busy", "us=%llu jobs=%llu bytes=%llu pause_us=%llu", (unsigned long long)took,
		 (unsigned long long)s.collected, (unsigned long long)bytes_of(s.collected),
		 (unsigned long long)pause);
	tap_result(!ret && s.collected, "busy: every job brought back what was sent",
		   "result %d, %llu jobs, %.1f MB/s, longest pause %.0f ms", ret,
		   (unsigned long long)s.collected, (double)bytes_of(s.collected) / took,
		   pause / 1e3);
	same = ret ? ret : busy_compare(&s, &g);
	tap_result(!same, "busy: and all of the last copy is like its source", "result %d", same);
	busy_close(&s);
	gpu_close(&g);
}

/* ------------------------------------------------------------------ latency */

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* us from the submission until the result is seen, or -errno */
static int one_small_copy(struct gpu_chan *c, struct nouveau_bo *host, struct nouveau_bo *vram,
			  uint64_t seed)
{
	uint8_t *in = host->map, *out = in + PAGE;
	uint64_t start, now;
	int ret;

	pattern_fill(in, PAGE, seed);
	memset(out, 0x5a, PAGE);
	job_begin(c, 2 * CE_COPY_WORDS);
	job_use(c, host, NOUVEAU_BO_RDWR);
	job_use(c, vram, NOUVEAU_BO_RDWR);
	ce_emit_linear(c, host->offset, vram->offset, PAGE);
	ce_emit_linear(c, vram->offset, host->offset + PAGE, PAGE);
	start = now_us();
	ret = job_kick(c);
	if (ret)
		return ret;
	while (now = now_us(), !done(c, c->seq)) {
		if (now - start > JOB_TIMEOUT_MS * 1000ull)
			return -ETIMEDOUT;
		usleep(50);
	}
	return memcmp(in, out, PAGE) ? -EILSEQ : (int)(now - start);
}

void test_latency(const struct client_options *o)
{
	uint32_t *us = calloc(MAX_SAMPLES, sizeof(*us)), n = 0;
	uint64_t start, at;
	struct nouveau_bo *host, *vram;
	struct gpu_chan c;
	struct gpu g;
	int ret = 0;

	if (!us)
		bail("no memory");
	gpu_open(&g, o->node);
	chan_must_open(&g, ENGINE_CE, &c);
	host = bo_new(&g, NOUVEAU_BO_GART, 2 * PAGE);
	vram = bo_new(&g, NOUVEAU_BO_VRAM, PAGE);
	tap_diag("latency");
	start = now_us();
	while (at = now_us(), !time_is_over(o, DEFAULT_SECONDS, start) && n < MAX_SAMPLES) {
		ret = one_small_copy(&c, host, vram, o->seed + n);
		if (ret < 0)
			break;
		us[n++] = ret;
		if (now_us() < at + PERIOD_US)
			usleep(at + PERIOD_US - now_us());
	}
	qsort(us, n, sizeof(*us), by_size);
	if (n)
		measured("latency", "n=%u p50_us=%u p99_us=%u max_us=%u", n, us[n / 2],
			 us[n * 99 / 100], us[n - 1]);
	tap_result(ret >= 0 && n, "latency: small copies, one every 10 ms, every byte",
		   "%u done, result %d", n, ret < 0 ? ret : 0);
	free(us);
	bo_free(&host);
	bo_free(&vram);
	chan_close(&c);
	gpu_close(&g);
}
