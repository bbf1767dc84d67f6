// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer and a consumer, or both sides of a completion slot, any calls of theirs, and a hostile
 * process that rewrites words before any access. Nothing outside is touched, nothing is read twice
 * for one decision (model/memory.c), no wait hangs, and what is dead stays so. The sources of
 * remote/ring are built into it by model/room.c: each of their accesses calls a function of
 * model/memory.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/ring/completion.h"
#include "remote/ring/ring.h"
#include "selftests/remote/unit/remote/ring/model/memory.h"

enum {
	SLOTS_MOST = 16,
	SLEEP_NS = 1000,
	PATIENCE_NS = 3500,
	COMPLETION_LEN = 100,
	BELL_WORD = 500
};

static struct {
	const uint8_t *in;
	size_t left;
	uint32_t slots, max_len;
	uint8_t *buf; /* exactly as long as promised */
	struct kvgpu_doorbell doorbell[2];
	struct kvgpu_ring_producer p;
	struct kvgpu_ring_consumer c;
	struct kvgpu_completion answering, asking;
	uint64_t asked;
} f;

#define check(ok)                                                        \
	do {                                                             \
		if (!(ok)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #ok); \
			abort();                                         \
		}                                                        \
	} while (0)

static uint8_t byte(void)
{
	if (!f.left)
		return 0;
	f.left--;
	return *f.in++;
}

static void rewrite(void)
{
	const unsigned int at = byte();
	const uint8_t kind = byte();
	uint64_t *w = &memory.word[at % memory.words];
	unsigned int i;

	/* of a completion slot: words that decide something, some payload, and the doorbell */
	if (memory.words == KVGPU_COMPLETION_BYTES / 8)
		w = &memory.word[at % 16 ? at % 16 - 1 : BELL_WORD];
	if (kind < 240) {
		*w = memory_value(kind, *w, f.slots, f.max_len);
		return;
	}
	for (i = 0; i < 8; i++)
		((uint8_t *)w)[i] = byte();
}

static void before(unsigned int access)
{
	if (f.left && byte() >= 0xe8)
		rewrite();
}

static void begin(uint8_t *bytes, size_t words)
{
	memory = (struct memory){
		.word = (uint64_t *)bytes, .words = words, .before = before, .clock = 1
	};
	memset(bytes, 0, words * 8);
	f.buf = malloc(f.max_len);
}

static struct kvgpu_doorbell doorbell(uint32_t *word, uint64_t spin_ns)
{
	return (struct kvgpu_doorbell){ .word = word,
					.ops = &memory_doorbell_ops,
					.times = { spin_ns, SLEEP_NS } };
}

/* ------------------------------------------------------------------ a ring */

static void put(void)
{
	uint32_t len = byte() % 4 ? byte() : f.max_len + byte() % 2;
	static uint8_t data[1024];
	struct iovec iov[2] = { { data, len / 2 }, { data, len - len / 2 } };
	const bool dead = f.p.status;
	enum kvgpu_ring_status s;

	memory_call(true);
	s = kvgpu_ring_put(&f.p, byte(), byte(), iov, byte() % 3);
	check(!dead || s == f.p.status);
	check(f.p.head - f.p.taken <= f.slots && s != KVGPU_RING_WRONG_LENGTH &&
	      s != KVGPU_RING_EMPTY);
}

static void get(void)
{
	const struct kvgpu_ring_consumer was = f.c;
	enum kvgpu_ring_status s;
	struct kvgpu_frame frame;
	unsigned int accesses;

	memory_call(true);
	accesses = memory.accesses;
	s = kvgpu_ring_get(&f.c, &frame, f.buf, f.max_len);
	if (s == KVGPU_RING_OK)
		check(frame.len <= f.max_len && frame.seq == was.pos + 1 &&
		      f.c.pos == was.pos + kvgpu_ring_slots_of(frame.len));
	else
		check(f.c.pos == was.pos && (s == KVGPU_RING_EMPTY || kvgpu_ring_dead(s)));
	if (was.status)
		check(s == was.status && memory.accesses == accesses);
}

static void ring_call(void)
{
	uint8_t what = byte();

	memory_call(false);
	switch (what % 8) {
	case 0:
	case 1:
		put();
		break;
	case 2:
	case 3:
		get();
		break;
	case 4:
		check(kvgpu_ring_wait_frame(&f.c, PATIENCE_NS) != KVGPU_WAIT_GONE);
		break;
	case 5:
		check(kvgpu_ring_wait_room(&f.p, byte(), PATIENCE_NS) != KVGPU_WAIT_GONE);
		break;
	case 6:
		check(kvgpu_ring_free_slots(&f.p) <= f.slots);
		break;
	case 7:
		if (what & 8)
			kvgpu_ring_kick(&f.p);
		else
			rewrite();
		break;
	}
}

static void ring(uint8_t how)
{
	const uint64_t spin_ns = how & 64 ? 200 : 0;
	struct kvgpu_ring_shared *shared;
	struct kvgpu_ring_config config;

	f.slots = 2u << (how & 3);
	f.max_len = kvgpu_ring_longest(f.slots) >> (how >> 2 & 3);
	shared = aligned_alloc(64, kvgpu_ring_bytes(f.slots));
	begin((uint8_t *)shared, kvgpu_ring_bytes(f.slots) / 8);
	f.doorbell[0] = doorbell(&shared->producer_word, spin_ns);
	f.doorbell[1] = doorbell(&shared->consumer_word, spin_ns);
	config = (struct kvgpu_ring_config){
		.mem = shared,
		.slots = f.slots,
		.max_len = f.max_len,
		.own = &f.doorbell[0],
		.peer = &f.doorbell[1],
	};
	check(!kvgpu_ring_attach_producer(&f.p, &config));
	config.own = &f.doorbell[1];
	config.peer = &f.doorbell[0];
	check(!kvgpu_ring_attach_consumer(&f.c, &config));
	while (f.left)
		ring_call();
}

/* ------------------------------------------------------------------ a completion slot */

static void take(void)
{
	const struct kvgpu_completion was = f.asking;
	struct kvgpu_completion_head head;
	enum kvgpu_ring_status s;

	memory_call(true);
	s = kvgpu_completion_take(&f.asking, f.asked, &head, f.buf, f.max_len);
	if (s == KVGPU_RING_OK)
		check(head.len <= f.max_len && f.asking.last == f.asked);
	else
		check(f.asking.last == was.last && (s == KVGPU_RING_EMPTY || kvgpu_ring_dead(s)));
	check(!was.status || s == was.status);
}

static void completion_call(void)
{
	static const uint8_t data[COMPLETION_LEN + 1];
	enum kvgpu_ring_status s;
	uint32_t len;

	memory_call(false);
	switch (byte() % 5) {
	case 0:
		f.asked += byte();
		break;
	case 1:
		len = byte() % (COMPLETION_LEN + 2);
		s = kvgpu_completion_answer(&f.answering, f.asked, 0, data, len);
		check(s == KVGPU_RING_OK || s == KVGPU_RING_WRONG_LENGTH ||
		      (s == KVGPU_RING_TOO_LONG && len > f.max_len));
		break;
	case 2:
		take();
		break;
	case 3:
		check(kvgpu_completion_wait(&f.asking, PATIENCE_NS) != KVGPU_WAIT_GONE);
		break;
	case 4:
		rewrite();
		break;
	}
}

static void completion(void)
{
	uint8_t *bytes = aligned_alloc(64, KVGPU_COMPLETION_BYTES);

	f.slots = 1;
	f.max_len = COMPLETION_LEN;
	begin(bytes, KVGPU_COMPLETION_BYTES / 8);
	f.doorbell[0] = doorbell((uint32_t *)&memory.word[BELL_WORD], 0);
	check(!kvgpu_completion_attach(&f.asking, bytes, COMPLETION_LEN, &f.doorbell[0]));
	check(!kvgpu_completion_attach(&f.answering, bytes, COMPLETION_LEN, &f.doorbell[0]));
	f.asked = 1;
	while (f.left)
		completion_call();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how;

	memset(&f, 0, sizeof(f));
	f.in = data;
	f.left = size;
	how = byte();
	if (how & 128)
		completion();
	else
		ring(how);
	free(memory.word);
	free(f.buf);
	return 0;
}
