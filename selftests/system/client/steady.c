// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a vGPU must not make dearer. "steady": submissions of small copies, their ends watched in
 * memory: nouveau writes the ring and the doorbell. "wakeups": waits that sleep in the kernel; each
 * costs what nouveau's interrupt handler reads and writes. Counters are read around both, see
 * mark.h.
 */
#include "client.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ce.h"
#include "mark.h"
#include "methods.h"
#include "pattern.h"
#include "tap.h"

enum { COPY_LEN = 4096, SLOTS = 16, WARM_UP = 500, WAKEUPS = 50, WORK_MS = 20 };

struct steady {
	struct gpu_chan c;
	struct nouveau_bo *in, *vram, *out; /* SLOTS copies each */
};

static void steady_open(struct steady *s, struct gpu *g, enum gpu_engine engine, uint64_t seed)
{
	chan_must_open(g, engine, &s->c);
	s->in = bo_new(g, NOUVEAU_BO_GART, SLOTS * COPY_LEN);
	s->out = bo_new(g, NOUVEAU_BO_GART, SLOTS * COPY_LEN);
	s->vram = bo_new(g, NOUVEAU_BO_VRAM, SLOTS * COPY_LEN);
	pattern_fill(s->in->map, SLOTS * COPY_LEN, seed);
	memset(s->out->map, 0, SLOTS * COPY_LEN);
}

static void steady_close(struct steady *s)
{
	bo_free(&s->in);
	bo_free(&s->out);
	bo_free(&s->vram);
	chan_close(&s->c);
}

static int watch(struct gpu_chan *c)
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

/* memory to VRAM to memory, with a new first and last word each time, every byte checked */
static int submit_one(struct steady *s, uint32_t n)
{
	uint64_t at = (uint64_t)(n % SLOTS) * COPY_LEN;
	uint32_t *in = (uint32_t *)((uint8_t *)s->in->map + at);
	int ret;

	in[0] = in[COPY_LEN / 4 - 1] = n;
	job_begin(&s->c, 2 * CE_COPY_WORDS);
	job_use(&s->c, s->in, NOUVEAU_BO_RD);
	job_use(&s->c, s->vram, NOUVEAU_BO_RDWR);
	job_use(&s->c, s->out, NOUVEAU_BO_WR);
	ce_emit_linear(&s->c, s->in->offset + at, s->vram->offset + at, COPY_LEN);
	ce_emit_linear(&s->c, s->vram->offset + at, s->out->offset + at, COPY_LEN);
	ret = job_kick(&s->c);
	if (!ret)
		ret = watch(&s->c);
	if (!ret && memcmp(in, (uint8_t *)s->out->map + at, COPY_LEN))
		ret = -EILSEQ;
	return ret;
}

static void steady_on(struct gpu *g, enum gpu_engine engine, const struct client_options *o)
{
	const char *name = engine == ENGINE_CE ? "CE" : "GR";
	uint32_t count = o->quick ? 1000 : 10000, n;
	struct steady s;
	uint64_t start;
	char line[96];
	int ret = 0;

	steady_open(&s, g, engine, o->seed);
	for (n = 0; !ret && n < WARM_UP; n++)
		ret = submit_one(&s, n);
	mark(o, "steady-%s begin", name);
	start = now_us();
	for (n = 0; !ret && n < count; n++)
		ret = submit_one(&s, ~n);
	start = now_us() - start;
	mark(o, "steady-%s end", name);
	measured("steady", "engine=%s submissions=%u us=%llu", name, n, (unsigned long long)start);
	snprintf(line, sizeof(line),
		 "%u submissions on a %s channel, watched in memory, every byte", count, name);
	tap_result(!ret, line, "%u done, result %d, %.1f us each", n, ret,
		   (double)start / (n ? n : 1));
	steady_close(&s);
}

void test_steady(const struct client_options *o)
{
	struct gpu g;

	gpu_open(&g, o->node);
	steady_on(&g, ENGINE_CE, o);
	steady_on(&g, ENGINE_GR, o);
	gpu_close(&g);
}

static void *release_later(void *arg)
{
	volatile uint32_t *word = arg;

	usleep(WORK_MS * 1000);
	*word = 1;
	return NULL;
}

/* the GPU waits for a word that a thread writes while the program sleeps in the kernel */
static int sleep_once(struct gpu *g, struct gpu_chan *c, struct nouveau_bo *sem)
{
	pthread_t thread;
	int ret;

	*(volatile uint32_t *)sem->map = 0;
	job_begin(c, 16);
	job_use(c, sem, NOUVEAU_BO_RD);
	emit_semaphore(c, sem->offset, 1, SEMAPHORE_ACQUIRE | SEMAPHORE_SWITCH);
	ret = job_kick(c);
	if (pthread_create(&thread, NULL, release_later, sem->map))
		bail("no thread");
	if (!ret)
		ret = nouveau_bo_wait(c->done, NOUVEAU_BO_RDWR, g->client);
	pthread_join(thread, NULL);
	return ret ? ret : watch(c);
}

/* on GR, whose runlist is 0 in every layout (sleep.c) */
void test_wakeups(const struct client_options *o)
{
	unsigned int count = o->quick ? 10 : WAKEUPS, n;
	struct nouveau_bo *sem;
	struct gpu_chan c;
	uint64_t start;
	struct gpu g;
	int ret = 0;

	gpu_open(&g, o->node);
	chan_must_open(&g, ENGINE_GR, &c);
	sem = bo_new(&g, NOUVEAU_BO_GART, 4096);
	for (n = 0; !ret && n < 3; n++)
		ret = sleep_once(&g, &c, sem);
	mark(o, "wakeups begin");
	start = now_us();
	for (n = 0; !ret && n < count; n++)
		ret = sleep_once(&g, &c, sem);
	start = now_us() - start;
	mark(o, "wakeups end");
	measured("wakeups", "waits=%u us=%llu", n, (unsigned long long)start);
	tap_result(!ret && start >= (uint64_t)count * WORK_MS * 1000,
		   "waits that sleep until the interrupt",
		   "%u of %u, result %d, %.1f ms each with %d ms of work", n, count, ret,
		   start / 1e3 / (n ? n : 1), WORK_MS);
	bo_free(&sem);
	chan_close(&c);
	gpu_close(&g);
}
