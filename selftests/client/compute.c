// SPDX-License-Identifier: GPL-2.0-only
/* Compute launches of a shader that ends at once, seen by the semaphores which their QMDs release. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods.h"
#include "qmd.h"
#include "tap.h"

enum {
	CODE_OFFSET = 0x100, CODE_BYTES = 0x1000,
	QMD_OFFSET = 0x2000, RELEASE_OFFSET = 0x10000, RELEASE_STRIDE = 32,
	LAUNCHES = 100, SPACE = 0x20000,
};

/*
 * GK110 code comes in groups of 64 bytes, a word of issue delays and seven instructions (Mesa
 * nv50_ir_emit_gk110.cpp: 8 bits per instruction from bit 2 on, opcode 0x08 on top). EXIT is 0x18 in the top byte, with
 * condition "true" (0xf at bit 2) and predicate PT (7 at bit 18).
 */
static const uint64_t code_exit = 0x18000000001c003cull;
static const uint64_t code_delays = 0x0800000000000000ull | 0x2full << 2;

static void write_shader(uint8_t *at)
{
	uint64_t *code = (uint64_t *)at;
	unsigned int i;

	for (i = 0; i < CODE_BYTES / 8; i++)
		code[i] = i % 8 ? code_exit : code_delays;
}

struct compute {
	struct gpu_chan c;
	struct nouveau_object *object;
	struct nouveau_bo *bo;		/* code, QMDs and semaphores */
};

static void compute_open(struct compute *k, struct gpu *g)
{
	chan_must_open(g, ENGINE_GR, &k->c);
	k->object = chan_object(&k->c, CLASS_COMPUTE);
	if (!k->object)
		bail("no compute object");
	k->bo = bo_new(g, NOUVEAU_BO_GART, SPACE);
	memset(k->bo->map, 0, SPACE);
	write_shader((uint8_t *)k->bo->map + CODE_OFFSET);
	job_begin(&k->c, 16);
	job_use(&k->c, k->bo, NOUVEAU_BO_RD);
	emit(&k->c, SUBC_COMPUTE, SET_OBJECT, CLASS_COMPUTE);
	emit(&k->c, SUBC_COMPUTE, COMPUTE_PROGRAM_REGION, k->bo->offset >> 32, k->bo->offset);
	if (job_run(&k->c))
		bail("setting up compute");
}

static void compute_close(struct compute *k)
{
	nouveau_object_del(&k->object);
	bo_free(&k->bo);
	chan_close(&k->c);
}

static volatile uint32_t *release_word(struct compute *k, unsigned int n, unsigned int which)
{
	return (volatile uint32_t *)((uint8_t *)k->bo->map + RELEASE_OFFSET + n * RELEASE_STRIDE + 16 * which);
}

static void set_release(struct compute *k, uint32_t *qmd, unsigned int n, unsigned int which, uint32_t payload,
			bool one_word)
{
	uint64_t va = k->bo->offset + RELEASE_OFFSET + n * RELEASE_STRIDE + 16 * which;

	qmd_set(qmd, QMD_SEMAPHORE_ENABLE(which), 1);
	qmd_set(qmd, QMD_RELEASE_LOW(which), va);
	qmd_set(qmd, QMD_RELEASE_HIGH(which), va >> 32);
	qmd_set(qmd, QMD_RELEASE_PAYLOAD(which), payload);
	qmd_set(qmd, QMD_RELEASE_ONE_WORD(which), one_word);
}

static uint32_t *new_qmd(struct compute *k, unsigned int n)
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

static void emit_launch(struct compute *k, unsigned int n)
{
	uint64_t va = k->bo->offset + QMD_OFFSET + n * QMD_BYTES;

	emit(&k->c, SUBC_COMPUTE, COMPUTE_SEND_PCAS_A, va >> 8);
	emit(&k->c, SUBC_COMPUTE, COMPUTE_SIGNALING_PCAS, PCAS_INVALIDATE | PCAS_SCHEDULE);
}

static int launch(struct compute *k, unsigned int n)
{
	job_begin(&k->c, 16);
	job_use(&k->c, k->bo, NOUVEAU_BO_RDWR);
	emit_launch(k, n);
	emit(&k->c, SUBC_COMPUTE, GR_WAIT_FOR_IDLE, 0);
	return job_run(&k->c);
}

static void test_one_launch(struct compute *k)
{
	volatile uint32_t *one = release_word(k, 0, 0), *four = release_word(k, 0, 1);
	uint32_t *qmd = new_qmd(k, 0);
	int ret;

	memset((void *)one, 0xff, RELEASE_STRIDE);
	set_release(k, qmd, 0, 0, 0xc0ffee01, true);
	set_release(k, qmd, 0, 1, 0xc0ffee02, false);
	ret = launch(k, 0);
	tap_result(!ret && one[0] == 0xc0ffee01, "an empty shader's launch releases its QMD's semaphore",
		   "result %d, payload %x", ret, one[0]);
	tap_result(!ret && one[1] == 0xffffffff, "a one-word release writes one word", "next word %x", one[1]);
	tap_result(!ret && four[0] == 0xc0ffee02 && four[1] == 0 && (four[2] | four[3]) && four[3] != 0xffffffff,
		   "the second, four-word release has payload and time", "%x %x %x %x", four[0], four[1], four[2],
		   four[3]);
}

static void test_no_release(struct compute *k)
{
	volatile uint32_t *w = release_word(k, 1, 0);
	uint32_t *qmd = new_qmd(k, 1);
	int ret;

	set_release(k, qmd, 1, 0, 0xbad, true);
	qmd_set(qmd, QMD_SEMAPHORE_ENABLE(0), 0);
	*w = 0x600d;
	ret = launch(k, 1);
	tap_result(!ret && *w == 0x600d, "a launch without an enabled release writes nothing", "result %d, word %x", ret,
		   *w);
}

static void test_reduction(struct compute *k)
{
	volatile uint32_t *w = release_word(k, 2, 0);
	uint32_t *qmd = new_qmd(k, 2);
	int ret;

	set_release(k, qmd, 2, 0, 5, true);
	qmd_set(qmd, QMD_RELEASE_REDUCTION(0), 1);	/* operation 0: add */
	*w = 37;
	ret = launch(k, 2);
	tap_result(!ret && *w == 42, "a release that adds", "result %d, 37 + 5 = %u", ret, *w);
}

static void test_many_launches(struct compute *k)
{
	unsigned int i, wrong = 0;
	uint64_t start = now_us();
	int ret;

	for (i = 0; i < LAUNCHES; i++) {
		set_release(k, new_qmd(k, i), i, 0, 0x1000 + i, true);
		*release_word(k, i, 0) = 0;
	}
	job_begin(&k->c, LAUNCHES * 8);
	job_use(&k->c, k->bo, NOUVEAU_BO_RDWR);
	for (i = 0; i < LAUNCHES; i++)
		emit_launch(k, i);
	emit(&k->c, SUBC_COMPUTE, GR_WAIT_FOR_IDLE, 0);
	ret = job_run(&k->c);
	for (i = 0; i < LAUNCHES; i++)
		wrong += *release_word(k, i, 0) != 0x1000 + i;
	tap_result(!ret && !wrong, "100 launches in one submission", "result %d, %u releases wrong, %.1f ms", ret, wrong,
		   (now_us() - start) / 1e3);
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
