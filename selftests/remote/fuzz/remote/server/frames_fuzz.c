// SPDX-License-Identifier: MIT
/*
 * Frames of a client to the server's decoder, on a fake library. Steps in between change what the
 * library answers, and give and take a turn on the GPU.
 */
#include <stdlib.h>

#include "fake.h"

enum { KNOWN = 64, WORDS = 64 };

static uint64_t known[KNOWN]; /* numbers that answers had in them */
static unsigned int nr_known;

static void learn(void)
{
	unsigned int i;

	for (i = 0; i < fake_last.bytes / 8 && i < 8; i++)
		if (KVGPU_REMOTE_CLASS(fake_payload[i]) &&
		    KVGPU_REMOTE_CLASS(fake_payload[i]) < NR_CLASSES)
			known[nr_known++ % KNOWN] = fake_payload[i];
}

/* a byte pair: how a word is made of it */
static uint64_t word_of(uint8_t how, uint8_t what)
{
	switch (how % 6) {
	case 0:
		return what;
	case 1:
		return known[what % KNOWN];
	case 2:
		return (uint64_t)what << 12;
	case 3:
		return ~(uint64_t)what;
	case 4:
		return (uint64_t)what << 32 | what;
	default:
		return 0;
	}
}

static void step(struct server *s, const uint8_t **at, const uint8_t *end)
{
	uint64_t words[WORDS] = { 0 };
	unsigned int n, i;
	uint16_t op;

	if (end - *at < 3)
		return;
	op = (*at)[0] + ((*at)[1] & 1) * 256;
	n = (*at)[2] % WORDS;
	*at += 3;
	for (i = 0; i < n && end - *at >= 2; i++, *at += 2)
		words[i] = word_of((*at)[0], (*at)[1]);
	fake_frame(s, table_own(s, op), words, 8 * n);
	learn();
}

/* eight bytes: what it is of, its ends, how the client has their memory, its size */
static void copy_step(struct server *s, const uint8_t **at, const uint8_t *end)
{
	struct q_copy_node q = { .ctx = known[0] };
	const uint8_t *b = *at;
	unsigned int i;

	if (end - *at < 8)
		return;
	*at += 8;
	q.size[0] = 1 + b[6] % 64;
	q.size[1] = 1 + b[7] % 3;
	q.size[2] = 1;
	q.graph = b[0] & 1 ? known[b[1] % KNOWN] : 0;
	q.node = b[0] & 2 ? known[b[2] % KNOWN] : 0;
	q.exec = b[0] & 4 ? known[b[3] % KNOWN] : 0;
	q.captured = b[0] >> 3 & 1;
	for (i = 0; i < 2; i++) {
		uint64_t *w = i ? q.dst : q.src;

		w[END_TYPE] = b[4 + i] & 1 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		w[END_WHERE] = (b[4 + i] >> 4) * 4096;
		w[END_PITCH] = q.size[0];
		w[END_HEIGHT] = q.size[1];
		w[END_BOUNCE] = b[4 + i] & 2 ? 1 + b[4 + i] % 16 : 0;
		q.mine[3 * i] = b[4 + i] >> 2 & 3;
	}
	fake_frame(s, OP_copy_node, &q, sizeof(q));
	learn();
}

/* eight bytes: form and stream, two of the ends, three sizes, two of what their lines lie apart */
static void box_step(struct server *s, const uint8_t **at, const uint8_t *end)
{
	struct q_box q = { 0 };
	const uint8_t *b = *at;
	unsigned int i;

	if (end - *at < 8)
		return;
	*at += 8;
	q.form = b[0] % NR_FORMS | (b[0] & 0x10 ? FORM_ASYNC : 0);
	q.stream = b[0] & 0x20 ? known[b[0] >> 6] : 0;
	for (i = 0; i < 3; i++)
		q.size[i] = b[3 + i] % (i ? 8 : 64);
	for (i = 0; i < 2; i++) {
		uint64_t *w = i ? q.dst : q.src;

		w[END_TYPE] = b[1 + i] & 1 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		w[END_WHERE] = (uint64_t)(b[1 + i] >> 3) << 11;
		w[END_PITCH] = q.size[0] + ((uint64_t)b[6] << 8);
		w[END_HEIGHT] = q.size[1] + b[7];
		w[END_CONTEXT] = b[1 + i] & 2 ? known[0] : 0;
	}
	fake_frame(s, OP_box, &q, sizeof(q));
}

/* what the arbiter says may come at any time, and in any order */
static void turn(struct server *s, struct sched_shared *d, uint8_t how)
{
	d->closed = how & 1;
	d->wanted = how >> 1 & 1;
	if (how & 4)
		d->turn++;
	if (how & 8)
		d->turn = 0;
	d->turn_ns = how & 16 ? 1000 : 1000000000;
	if (s->sched) {
		sched_look(s, how & 32);
		sched_go_on(s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *at = data, *end = data + n;
	struct sched_shared shared = { 0 };
	struct server s;

	fake_begin(&s, 1 << 16);
	if (n && data[n - 1] & 1)
		fake_share(&s);
	if (n && data[n - 1] & 4)
		fake_others(&s);
	if (n && data[n - 1] & 2 && sched_begin(&s, &shared, -1))
		abort();
	memcpy(s.arena, ".version 7.8\n", 14);
	memset(known, 0, sizeof(known));
	nr_known = 0;
	fake_frame(&s, OP_cuCtxCreate_v2, (uint64_t[1]){ 0 }, 8);
	learn();
	fake_frame(&s, OP_current, (uint64_t[2]){ known[0], 0 }, 16);
	while (end - at >= 2) {
		uint8_t what = *at++;

		if (what >= 0xc0 && what < 0xd0)
			box_step(&s, &at, end);
		else if (what >= 0xd0 && what < 0xe0)
			copy_step(&s, &at, end);
		else if (what < 0xe0)
			step(&s, &at, end);
		else if (what < 0xe8)
			fake_busy = *at++;
		else if (what < 0xf0)
			fake_error = *at++ & 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
		else if (what < 0xf8)
			(void)(waits_look(&s) || waits_give(&s));
		else
			turn(&s, &shared, *at++);
	}
	fake_end(&s);
	return 0;
}
