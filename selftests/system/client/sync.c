// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host semaphores between channels. The kernel orders channels by itself when one writes a buffer
 * that both use, which would hide what is tested here; so shared buffers are referenced as
 * read-only.
 */
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <nouveau_drm.h>

#include "ce.h"
#include "methods.h"
#include "pattern.h"
#include "tap.h"

enum { STEP = 64 * 1024, MAX_CHAIN = 16, BLOCKED_MS = 30 };

struct acquire_case {
	const char *name;
	uint32_t operation;
	uint32_t wanted; /* the acquire's payload */
	uint32_t before, after; /* values of the semaphore: the first must not let it pass */
};

static const struct acquire_case acquire_cases[] = {
	{ "equal", SEMAPHORE_ACQUIRE, 0x1234, 0x1235, 0x1234 },
	{ "equal, switching", SEMAPHORE_ACQUIRE | SEMAPHORE_SWITCH, 7, 8, 7 },
	{ "at least", SEMAPHORE_ACQUIRE_GEQ, 100, 99, 250 },
	{ "at least, switching, around zero", SEMAPHORE_ACQUIRE_GEQ | SEMAPHORE_SWITCH, 0,
	  0xffffffff, 1 },
	{ "any bit of a mask", SEMAPHORE_ACQUIRE_AND, 0xf0, 0x0f, 0x10 },
};

static const char *engine_name(enum gpu_engine e)
{
	return e == ENGINE_CE ? "CE" : "GR";
}

/* the waiter is submitted first and must stay blocked until the other channel releases */
static void acquire_first(struct gpu *g, enum gpu_engine wait_on, enum gpu_engine release_on,
			  const struct acquire_case *t)
{
	struct nouveau_bo *sem = bo_new(g, NOUVEAU_BO_GART, 4096);
	struct gpu_chan waiter, other;
	bool early;
	char name[128];
	int ret, ret2;

	chan_must_open(g, wait_on, &waiter);
	chan_must_open(g, release_on, &other);
	*(uint32_t *)sem->map = t->before;
	job_begin(&waiter, 16);
	job_use(&waiter, sem, NOUVEAU_BO_RD);
	emit_semaphore(&waiter, sem->offset, t->wanted, t->operation);
	ret = job_kick(&waiter);
	early = job_wait(&waiter, BLOCKED_MS) != -ETIMEDOUT;
	job_begin(&other, 16);
	job_use(&other, sem, NOUVEAU_BO_RD);
	emit_semaphore(&other, sem->offset, t->after, SEMAPHORE_RELEASE | SEMAPHORE_4BYTE);
	ret2 = job_run(&other);
	if (!ret)
		ret = job_wait(&waiter, JOB_TIMEOUT_MS);
	snprintf(name, sizeof(name), "%s channel waits (%s) for a release by a %s channel",
		 engine_name(wait_on), t->name, engine_name(release_on));
	tap_result(!ret && !ret2 && !early, name, "waiter %d, releaser %d%s", ret, ret2,
		   early ? ", did not wait" : "");
	chan_close(&waiter);
	chan_close(&other);
	bo_free(&sem);
}

static void release_first(struct gpu *g, enum gpu_engine wait_on, enum gpu_engine release_on)
{
	struct nouveau_bo *sem = bo_new(g, NOUVEAU_BO_VRAM, 4096);
	struct gpu_chan waiter, other;
	char name[96];
	int ret, ret2;

	chan_must_open(g, wait_on, &waiter);
	chan_must_open(g, release_on, &other);
	*(volatile uint32_t *)sem->map = 0;
	job_begin(&other, 16);
	job_use(&other, sem, NOUVEAU_BO_RD);
	emit_semaphore(&other, sem->offset, 42, SEMAPHORE_RELEASE);
	ret2 = job_run(&other);
	job_begin(&waiter, 16);
	job_use(&waiter, sem, NOUVEAU_BO_RD);
	emit_semaphore(&waiter, sem->offset, 42, SEMAPHORE_ACQUIRE | SEMAPHORE_SWITCH);
	ret = job_run(&waiter);
	snprintf(name, sizeof(name),
		 "%s channel finds the release of a %s channel done, semaphore in VRAM",
		 engine_name(wait_on), engine_name(release_on));
	tap_result(!ret && !ret2, name, "waiter %d, releaser %d", ret, ret2);
	chan_close(&waiter);
	chan_close(&other);
	bo_free(&sem);
}

/* a blocked channel must not stop another on the same engine */
static void blocked_channel_blocks_nobody(struct gpu *g, enum gpu_engine engine, uint32_t operation,
					  const char *how)
{
	struct nouveau_bo *sem = bo_new(g, NOUVEAU_BO_GART, 4096);
	struct gpu_chan blocked;
	struct stream s;
	char name[96];
	int ret, i, blocked_ret;

	chan_must_open(g, engine, &blocked);
	stream_open(&s, g, engine, STEP, 99);
	*(uint32_t *)sem->map = 0;
	job_begin(&blocked, 16);
	job_use(&blocked, sem, NOUVEAU_BO_RD);
	emit_semaphore(&blocked, sem->offset, 1, operation);
	ret = job_kick(&blocked);
	for (i = 0; !ret && i < 8; i++) {
		ret = stream_kick(&s);
		if (!ret)
			ret = stream_check(&s, JOB_TIMEOUT_MS);
	}
	*(volatile uint32_t *)sem->map = 1;
	blocked_ret = job_wait(&blocked, JOB_TIMEOUT_MS);
	snprintf(name, sizeof(name),
		 "%s: others go on beside a blocked acquire %s, which the CPU releases",
		 engine_name(engine), how);
	tap_result(!ret && !blocked_ret, name, "stream %d, blocked channel %d", ret, blocked_ret);
	stream_close(&s);
	chan_close(&blocked);
	bo_free(&sem);
}

/*
 * Each link waits for its predecessor, hands the data on and releases its successor; links are
 * submitted from the last to the first.
 */
static void chain(struct gpu *g, unsigned int links, uint64_t seed)
{
	struct nouveau_bo *sem = bo_new(g, NOUVEAU_BO_GART, 4096);
	struct nouveau_bo *data = bo_new(g, NOUVEAU_BO_GART, (uint64_t)(MAX_CHAIN + 1) * STEP);
	struct gpu_chan c[MAX_CHAIN];
	uint8_t *bytes = data->map;
	int ret = 0, i;

	memset(sem->map, 0, 4096);
	memset(bytes, 0, data->size);
	pattern_fill(bytes, STEP, seed);
	for (i = 0; i < (int)links; i++)
		chan_must_open(g, i % 3 == 2 ? ENGINE_GR : ENGINE_CE, &c[i]);
	for (i = links - 1; i >= 0; i--) {
		job_begin(&c[i], 16 + CE_COPY_WORDS);
		job_use(&c[i], sem, NOUVEAU_BO_RD);
		job_use(&c[i], data, NOUVEAU_BO_RD);
		emit_semaphore(&c[i], sem->offset + 16 * i, 1 + i,
			       SEMAPHORE_ACQUIRE_GEQ | SEMAPHORE_SWITCH);
		emit(&c[i], SUBC_COPY, HOST_NOP, 0);
		ce_emit_linear(&c[i], data->offset + (uint64_t)i * STEP,
			       data->offset + (uint64_t)(i + 1) * STEP, STEP);
		emit(&c[i], SUBC_HOST, HOST_WFI, 0);
		emit(&c[i], SUBC_HOST, HOST_SET_REFERENCE, i);
		emit_semaphore(&c[i], sem->offset + 16 * (i + 1), 2 + i, SEMAPHORE_RELEASE);
		if (job_kick(&c[i]))
			bail("submission of link %d", i);
	}
	*(volatile uint32_t *)sem->map = 1;
	for (i = 0; i < (int)links; i++) {
		int r = job_wait(&c[i], JOB_TIMEOUT_MS);

		if (r && !ret)
			ret = r;
	}
	tap_result(!ret && first_difference(bytes, bytes + (uint64_t)links * STEP, STEP) < 0,
		   "a chain of channels hands data on, submitted in reverse", "%u links, result %d",
		   links, ret);
	for (i = 0; i < (int)links; i++)
		chan_close(&c[i]);
	bo_free(&data);
	bo_free(&sem);
}

/* 16-byte releases carry PTIMER's time */
static void timestamps(struct gpu *g)
{
	struct nouveau_bo *sem = bo_new(g, NOUVEAU_BO_GART, 4096);
	volatile uint32_t *w = sem->map;
	uint64_t before, after, host, ce;
	struct gpu_chan c;
	int ret;

	chan_must_open(g, ENGINE_CE, &c);
	memset(sem->map, 0xff, 4096);
	before = gpu_param(g, NOUVEAU_GETPARAM_PTIMER_TIME, 0);
	job_begin(&c, 32);
	job_use(&c, sem, NOUVEAU_BO_WR);
	emit_semaphore(&c, sem->offset, 0xaaaa, SEMAPHORE_RELEASE);
	emit(&c, SUBC_COPY, CE_SEMAPHORE_A, (sem->offset + 16) >> 32, sem->offset + 16, 0xbbbb);
	emit(&c, SUBC_COPY, CE_LAUNCH_DMA, CE_RELEASE_FOUR_WORDS | CE_FLUSH);
	emit(&c, SUBC_COPY, CE_SEMAPHORE_A, (sem->offset + 32) >> 32, sem->offset + 32, 0xcccc);
	emit(&c, SUBC_COPY, CE_LAUNCH_DMA, CE_RELEASE_ONE_WORD | CE_FLUSH);
	ret = job_run(&c);
	after = gpu_param(g, NOUVEAU_GETPARAM_PTIMER_TIME, 0);
	host = w[2] | (uint64_t)w[3] << 32;
	ce = w[6] | (uint64_t)w[7] << 32;
	tap_result(!ret && w[0] == 0xaaaa && w[1] == 0 && before <= host && host <= after,
		   "a 16-byte release of the host class: payload, zero, PTIMER time",
		   "%llu <= %llu <= %llu", (unsigned long long)before, (unsigned long long)host,
		   (unsigned long long)after);
	tap_result(!ret && w[4] == 0xbbbb && host <= ce && ce <= after && w[8] == 0xcccc &&
			   w[9] == 0xffffffff,
		   "four-word and one-word releases of the copy class",
		   "payloads %x %x, word after the short one %x", w[4], w[8], w[9]);
	chan_close(&c);
	bo_free(&sem);
}

void test_sync(const struct client_options *o)
{
	static const enum gpu_engine pairs[][2] = {
		{ ENGINE_CE, ENGINE_CE },
		{ ENGINE_CE, ENGINE_GR },
		{ ENGINE_GR, ENGINE_CE },
		{ ENGINE_GR, ENGINE_GR },
	};
	struct gpu g;
	unsigned int i, j;

	gpu_open(&g, o->node);
	for (i = 0; i < 4; i++) {
		for (j = 0; j < sizeof(acquire_cases) / sizeof(acquire_cases[0]); j++)
			if (!o->quick || i == j % 4)
				acquire_first(&g, pairs[i][0], pairs[i][1], &acquire_cases[j]);
		release_first(&g, pairs[i][0], pairs[i][1]);
	}
	for (i = 0; i < 2; i++) {
		enum gpu_engine e = i ? ENGINE_GR : ENGINE_CE;

		blocked_channel_blocks_nobody(&g, e, SEMAPHORE_ACQUIRE | SEMAPHORE_SWITCH,
					      "with switch");
		blocked_channel_blocks_nobody(&g, e, SEMAPHORE_ACQUIRE, "without switch");
	}
	chain(&g, o->quick ? 6 : MAX_CHAIN, o->seed);
	timestamps(&g);
	gpu_close(&g);
}
