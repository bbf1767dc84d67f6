// SPDX-License-Identifier: GPL-2.0-only
/* The graphics engine: its classes, uploads through the pushbuffer, and switches of contexts. */
#include "client.h"

#include <stdio.h>
#include <string.h>

#include "methods.h"
#include "pattern.h"
#include "tap.h"

enum { UPLOAD_WORDS = 512, AREA = 64 * 1024 };

void test_classes(const struct client_options *o)
{
	static const struct {
		uint32_t class, subc;
		const char *name;
	} classes[] = {
		{ CLASS_COMPUTE, SUBC_COMPUTE, "compute, a1c0" },
		{ CLASS_INLINE, SUBC_INLINE, "inline to memory, a140" },
		{ CLASS_3D, SUBC_3D, "3D, a197" },
		{ CLASS_2D, SUBC_2D, "2D, 902d" },
	};
	struct nouveau_object *obj[4], *wrong;
	struct gpu_chan c;
	struct gpu g;
	char name[96];
	int i, ret;

	gpu_open(&g, o->node);
	chan_must_open(&g, ENGINE_GR, &c);
	for (i = 0; i < 4; i++) {
		obj[i] = chan_object(&c, classes[i].class);
		ret = -1;
		if (obj[i]) {
			job_begin(&c, 16);
			emit(&c, classes[i].subc, SET_OBJECT, classes[i].class);
			emit(&c, classes[i].subc, GR_WAIT_FOR_IDLE, 0);
			ret = job_run(&c);
		}
		snprintf(name, sizeof(name), "object of class %s, bound and idle", classes[i].name);
		tap_result(!ret, name, "result %d", ret);
	}
	wrong = chan_object(&c, 0xb1c0);
	tap_result(!wrong, "a class of another chip is refused", NULL);
	for (i = 0; i < 4; i++)
		if (obj[i])
			nouveau_object_del(&obj[i]);
	chan_close(&c);
	gpu_close(&g);
}

static void upload_address(struct gpu_chan *c, uint32_t subc, uint32_t length, uint32_t lines,
			   uint64_t va, uint32_t pitch)
{
	emit(c, subc, I2M_LINE_LENGTH, length, lines, va >> 32, va, pitch);
}

static void upload_data(struct gpu_chan *c, uint32_t subc, uint32_t op, uint32_t launch,
			const uint32_t *data, unsigned int words)
{
	if (op == PB_OP_ONEINC) {
		*c->push->cur++ = pb_header(PB_OP_ONEINC, subc, I2M_LAUNCH, words + 1);
		*c->push->cur++ = launch;
	} else {
		emit(c, subc, I2M_LAUNCH, launch);
		*c->push->cur++ = pb_header(PB_OP_NONINC, subc, I2M_DATA, words);
	}
	memcpy(c->push->cur, data, words * 4);
	c->push->cur += words;
}

struct upload_case {
	const char *name;
	uint32_t op, length, lines, pitch, offset;
};

static const struct upload_case upload_cases[] = {
	{ "one line, data by increment-once", PB_OP_ONEINC, 1024, 1, 0, 0 },
	{ "one line, data by non-increment", PB_OP_NONINC, 2048, 1, 0, 256 },
	{ "odd length at an odd address", PB_OP_ONEINC, 77, 1, 0, 4099 },
	{ "a single byte", PB_OP_NONINC, 1, 1, 0, 8191 },
	{ "lines with a pitch", PB_OP_ONEINC, 64, 16, 208, 1000 },
};

static void one_upload(struct gpu_chan *c, struct nouveau_bo *bo, uint32_t subc, const char *class,
		       const struct upload_case *t)
{
	static uint8_t expect[AREA];
	uint32_t data[UPLOAD_WORDS], y, words = (t->length * t->lines + 3) / 4;
	char name[96];
	int64_t bad;
	int ret;

	pattern_fill(data, sizeof(data), t->length + subc);
	memset(expect, 0x77, sizeof(expect));
	memset(bo->map, 0x77, AREA);
	for (y = 0; y < t->lines; y++)
		memcpy(expect + t->offset + y * t->pitch, (uint8_t *)data + y * t->length,
		       t->length);
	job_begin(c, UPLOAD_WORDS + 32);
	job_use(c, bo, NOUVEAU_BO_WR);
	upload_address(c, subc, t->length, t->lines, bo->offset + t->offset, t->pitch);
	upload_data(c, subc, t->op, I2M_PITCH | I2M_FLUSH, data, words);
	ret = job_run(c);
	bad = first_difference(bo->map, expect, AREA);
	snprintf(name, sizeof(name), "upload through %s: %s", class, t->name);
	tap_result(!ret && bad < 0, name, "result %d, wrong byte %lld", ret, (long long)bad);
}

static void upload_semaphore(struct gpu_chan *c, struct nouveau_bo *bo)
{
	volatile uint32_t *w = bo->map;
	uint32_t data = 0x11223344;
	int ret;

	memset(bo->map, 0xff, 4096);
	job_begin(c, 32);
	job_use(c, bo, NOUVEAU_BO_WR);
	emit(c, SUBC_INLINE, I2M_SEMAPHORE_A, (bo->offset + 256) >> 32, bo->offset + 256, 0x5eed);
	upload_address(c, SUBC_INLINE, 4, 1, bo->offset, 0);
	upload_data(c, SUBC_INLINE, PB_OP_NONINC, I2M_PITCH | I2M_RELEASE | I2M_ONE_WORD, &data, 1);
	ret = job_run(c);
	tap_result(!ret && w[0] == data && w[64] == 0x5eed && w[65] == 0xffffffff,
		   "upload through a140 with a one-word release at its end",
		   "result %d, data %x, payload %x", ret, w[0], w[64]);
}

void test_inline(const struct client_options *o)
{
	static const struct {
		uint32_t class, subc;
		const char *name;
	} via[] = {
		{ CLASS_INLINE, SUBC_INLINE, "a140" },
		{ CLASS_COMPUTE, SUBC_COMPUTE, "a1c0" },
		{ CLASS_3D, SUBC_3D, "a197" },
	};
	struct nouveau_object *obj[3];
	struct nouveau_bo *bo;
	struct gpu_chan c;
	struct gpu g;
	unsigned int i, j;

	gpu_open(&g, o->node);
	chan_must_open(&g, ENGINE_GR, &c);
	bo = bo_new(&g, NOUVEAU_BO_GART, AREA);
	for (i = 0; i < 3; i++) {
		obj[i] = chan_object(&c, via[i].class);
		if (!obj[i])
			bail("no object of class %s", via[i].name);
		job_begin(&c, 8);
		emit(&c, via[i].subc, SET_OBJECT, via[i].class);
		if (job_run(&c))
			bail("binding class %s", via[i].name);
		for (j = 0; j < sizeof(upload_cases) / sizeof(upload_cases[0]); j++)
			one_upload(&c, bo, via[i].subc, via[i].name, &upload_cases[j]);
	}
	upload_semaphore(&c, bo);
	for (i = 0; i < 3; i++)
		nouveau_object_del(&obj[i]);
	bo_free(&bo);
	chan_close(&c);
	gpu_close(&g);
}

/* where an upload goes and how long it is belongs to a context, and must survive other contexts */
void test_switch(const struct client_options *o)
{
	enum { CONTEXTS = 4 };
	unsigned int rounds = o->quick ? 20 : 200, r, i, wrong = 0;
	struct nouveau_object *obj[CONTEXTS];
	struct gpu_chan c[CONTEXTS];
	struct nouveau_bo *bo;
	volatile uint32_t *w;
	uint64_t start;
	struct gpu g;
	int ret = 0;

	gpu_open(&g, o->node);
	bo = bo_new(&g, NOUVEAU_BO_GART, AREA);
	w = bo->map;
	memset(bo->map, 0, AREA);
	for (i = 0; i < CONTEXTS; i++) {
		chan_must_open(&g, ENGINE_GR, &c[i]);
		obj[i] = chan_object(&c[i], CLASS_INLINE);
		if (!obj[i])
			bail("no object");
		job_begin(&c[i], 32);
		emit(&c[i], SUBC_INLINE, SET_OBJECT, CLASS_INLINE);
		upload_address(&c[i], SUBC_INLINE, 4 * (i + 1), 1, bo->offset + 256 * i, 0);
		ret = ret ? ret : job_run(&c[i]);
	}
	start = now_us();
	for (r = 0; !ret && r < rounds; r++) {
		for (i = 0; !ret && i < CONTEXTS; i++) {
			uint32_t data[CONTEXTS] = { 0x1000 * i + r, r, r, r };

			job_begin(&c[i], 32);
			job_use(&c[i], bo, NOUVEAU_BO_RD);
			upload_data(&c[i], SUBC_INLINE, PB_OP_NONINC, I2M_PITCH | I2M_FLUSH, data,
				    i + 1);
			ret = job_run(&c[i]);
		}
		for (i = 0; i < CONTEXTS; i++)
			wrong += w[64 * i] != 0x1000 * i + r || (i && w[64 * i + i] != r) ||
				 w[64 * i + i + 1];
	}
	tap_result(!ret && !wrong, "state of a class set in one context survives the others",
		   "%u switches, %u wrong, result %d, %.2f ms each", r * CONTEXTS, wrong, ret,
		   (now_us() - start) / 1e3 / (r * CONTEXTS + 1));
	for (i = 0; i < CONTEXTS; i++) {
		nouveau_object_del(&obj[i]);
		chan_close(&c[i]);
	}
	bo_free(&bo);
	gpu_close(&g);
}
