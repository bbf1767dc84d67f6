// SPDX-License-Identifier: GPL-2.0-only
/* Compute launches of a shader that ends at once, or never; QMDs release semaphores at the end. */
#include "compute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods.h"
#include "qmd.h"
#include "tap.h"

enum {
	CODE_OFFSET = 0x100,
	CODE_BYTES = 0x1000,
	QMD_OFFSET = 0x2000,
	RELEASE_OFFSET = 0x10000,
	RELEASE_STRIDE = 32,
	LAUNCHES = COMPUTE_MAX_LAUNCHES,
	SPACE = 0x20000,
};

/*
 * GK110 code comes in groups of 64 bytes, a word of issue delays and seven instructions (Mesa
 * nv50_ir_emit_gk110.cpp: 8 bits per instruction from bit 2 on, opcode 0x08 on top). EXIT is 0x18
 * in the top byte, with condition "true" (0xf at bit 2) and predicate PT (7 at bit 18).
 */
static const uint64_t code_exit = 0x18000000001c003cull;
static const uint64_t code_delays = 0x0800000000000000ull | 0x2full << 2;
/*
 * BRA is 0x12 in the top byte; its target, 24 bits from bit 23 on, counts from the end of the
 * instruction: here -8
 */
static const uint64_t code_loop = 0x12007ffffc1c003cull;

void compute_write_shader(struct compute *k, bool endless)
{
	uint64_t *code = (uint64_t *)((uint8_t *)k->bo->map + CODE_OFFSET);
	unsigned int i;

	for (i = 0; i < CODE_BYTES / 8; i++)
		code[i] = !(i % 8) ? code_delays : endless ? code_loop : code_exit;
}

void compute_open(struct compute *k, struct gpu *g)
{
	chan_must_open(g, ENGINE_GR, &k->c);
	k->object = chan_object(&k->c, CLASS_COMPUTE);
	if (!k->object)
		bail("no compute object");
	k->bo = bo_new(g, NOUVEAU_BO_GART, SPACE);
	memset(k->bo->map, 0, SPACE);
	compute_write_shader(k, false);
	job_begin(&k->c, 16);
	job_use(&k->c, k->bo, NOUVEAU_BO_RD);
	emit(&k->c, SUBC_COMPUTE, SET_OBJECT, CLASS_COMPUTE);
	emit(&k->c, SUBC_COMPUTE, COMPUTE_PROGRAM_REGION, k->bo->offset >> 32, k->bo->offset);
	if (job_run(&k->c))
		bail("setting up compute");
}

void compute_close(struct compute *k)
{
	nouveau_object_del(&k->object);
	bo_free(&k->bo);
	chan_close(&k->c);
}

volatile uint32_t *compute_release_word(struct compute *k, unsigned int n, unsigned int which)
{
	return (volatile uint32_t *)((uint8_t *)k->bo->map + RELEASE_OFFSET + n * RELEASE_STRIDE +
				     16 * which);
}

void compute_set_release(struct compute *k, uint32_t *qmd, unsigned int n, unsigned int which,
			 uint32_t payload, bool one_word)
{
	uint64_t va = k->bo->offset + RELEASE_OFFSET + n * RELEASE_STRIDE + 16 * which;

	qmd_set(qmd, QMD_SEMAPHORE_ENABLE(which), 1);
	qmd_set(qmd, QMD_RELEASE_LOW(which), va);
	qmd_set(qmd, QMD_RELEASE_HIGH(which), va >> 32);
	qmd_set(qmd, QMD_RELEASE_PAYLOAD(which), payload);
	qmd_set(qmd, QMD_RELEASE_ONE_WORD(which), one_word);
}

uint32_t *compute_new_qmd(struct compute *k, unsigned int n)
{
	uint32_t *qmd = (uint32_t *)((uint8_t *)k->bo->map + QMD_OFFSET + n * QMD_BYTES);

	memset(qmd, 0, QMD_BYTES);
	qmd_set(qmd, QMD_VERSION, 6);
	qmd_set(qmd, QMD_PROGRAM_OFFSET, CODE_OFFSET);
	qmd_set(qmd, QMD_INVALIDATE_INSTRUCTION, 1);
	qmd_set(qmd, QMD_INVALIDATE_CONSTANT, 1);
	qmd_set(qmd, QMD_RELEASE_MEMBAR, 1);
	qmd_set(qmd, QMD_CALL_LIMIT_NO_CHECK, 1);
	qmd_set(qmd, QMD_GRID_WIDTH, 1 + n % 5);
	qmd_set(qmd, QMD_GRID_HEIGHT, 1 + n % 3);
	qmd_set(qmd, QMD_GRID_DEPTH, 1 + n % 2);
	qmd_set(qmd, QMD_BLOCK_X, 32);
	qmd_set(qmd, QMD_BLOCK_Y, 1 + n % 4);
	qmd_set(qmd, QMD_BLOCK_Z, 1);
	qmd_set(qmd, QMD_L1_CONFIGURATION, 1);
	qmd_set(qmd, QMD_REGISTERS, 16);
	qmd_set(qmd, QMD_SASS_VERSION, 0x30);
	return qmd;
}

void compute_prepare(struct compute *k, unsigned int n, uint32_t payload)
{
	*compute_release_word(k, n, 0) = 0;
	compute_set_release(k, compute_new_qmd(k, n), n, 0, payload, true);
}

void compute_emit_launch(struct compute *k, unsigned int n)
{
	uint64_t va = k->bo->offset + QMD_OFFSET + n * QMD_BYTES;

	emit(&k->c, SUBC_COMPUTE, COMPUTE_SEND_PCAS_A, va >> 8);
	emit(&k->c, SUBC_COMPUTE, COMPUTE_SIGNALING_PCAS, PCAS_INVALIDATE | PCAS_SCHEDULE);
}

int compute_submit(struct compute *k, unsigned int n)
{
	job_begin(&k->c, 16);
	job_use(&k->c, k->bo, NOUVEAU_BO_RDWR);
	compute_emit_launch(k, n);
	emit(&k->c, SUBC_COMPUTE, GR_WAIT_FOR_IDLE, 0);
	return job_kick(&k->c);
}

static int launch(struct compute *k, unsigned int n)
{
	int ret = compute_submit(k, n);

	return ret ? ret : job_wait(&k->c, JOB_TIMEOUT_MS);
}

int compute_run_released(struct compute *k, uint32_t payload)
{
	volatile uint32_t *w = compute_release_word(k, 0, 0);
	int ret;

	compute_prepare(k, 0, payload);
	ret = launch(k, 0);
	return ret ? ret : *w == payload ? 0 : -EIO;
}

static void test_one_launch(struct compute *k)
{
	volatile uint32_t *one = compute_release_word(k, 0, 0),
			  *four = compute_release_word(k, 0, 1);
	uint32_t *qmd = compute_new_qmd(k, 0);
	int ret;

	memset((void *)one, 0xff, RELEASE_STRIDE);
	compute_set_release(k, qmd, 0, 0, 0xc0ffee01, true);
	compute_set_release(k, qmd, 0, 1, 0xc0ffee02, false);
	ret = launch(k, 0);
	tap_result(!ret && one[0] == 0xc0ffee01,
		   "an empty shader's launch releases its QMD's semaphore", "result %d, payload %x",
		   ret, one[0]);
	tap_result(!ret && one[1] == 0xffffffff, "a one-word release writes one word",
		   "next word %x", one[1]);
	tap_result(!ret && four[0] == 0xc0ffee02 && four[1] == 0 && (four[2] | four[3]) &&
			   four[3] != 0xffffffff,
		   "the second, four-word release has payload and time", "%x %x %x %x", four[0],
		   four[1], four[2], four[3]);
}

static void test_no_release(struct compute *k)
{
	volatile uint32_t *w = compute_release_word(k, 1, 0);
	uint32_t *qmd = compute_new_qmd(k, 1);
	int ret;

	compute_set_release(k, qmd, 1, 0, 0xbad, true);
	qmd_set(qmd, QMD_SEMAPHORE_ENABLE(0), 0);
	*w = 0x600d;
	ret = launch(k, 1);
	tap_result(!ret && *w == 0x600d, "a launch without an enabled release writes nothing",
		   "result %d, word %x", ret, *w);
}

static void test_reduction(struct compute *k)
{
	volatile uint32_t *w = compute_release_word(k, 2, 0);
	uint32_t *qmd = compute_new_qmd(k, 2);
	int ret;

	compute_set_release(k, qmd, 2, 0, 5, true);
	qmd_set(qmd, QMD_RELEASE_REDUCTION(0), 1); /* operation 0: add */
	*w = 37;
	ret = launch(k, 2);
	tap_result(!ret && *w == 42, "a release that adds", "result %d, 37 + 5 = %u", ret, *w);
}

static void test_many_launches(struct compute *k)
{
	unsigned int i, wrong = 0;
	uint64_t start = now_us();
	int ret;

	for (i = 0; i < LAUNCHES; i++)
		compute_prepare(k, i, 0x1000 + i);
	job_begin(&k->c, LAUNCHES * 8);
	job_use(&k->c, k->bo, NOUVEAU_BO_RDWR);
	for (i = 0; i < LAUNCHES; i++)
		compute_emit_launch(k, i);
	emit(&k->c, SUBC_COMPUTE, GR_WAIT_FOR_IDLE, 0);
	ret = job_run(&k->c);
	for (i = 0; i < LAUNCHES; i++)
		wrong += *compute_release_word(k, i, 0) != 0x1000 + i;
	tap_result(!ret && !wrong, "100 launches in one submission",
		   "result %d, %u releases wrong, %.1f ms", ret, wrong, (now_us() - start) / 1e3);
}

void test_compute(const struct client_options *o)
{
	struct compute k;
	struct gpu g;

	gpu_open(&g, o->node);
	compute_open(&k, &g);
	test_one_launch(&k);
	test_no_release(&k);
	test_reduction(&k);
	test_many_launches(&k);
	compute_close(&k);
	gpu_close(&g);
}
