// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer that rewrites a word of shared memory before any access of the honest side; and two of the
 * words by which the consumer decides. model/memory.c checks that no access is outside of the
 * memory, and that calls which decide by what they load load no word twice.
 */
#include <selftests/unit_test.h>

#include "model/memory.h"
#include "remote/ring/completion.h"
#include "remote/ring/ring.h"

enum {
	SLOTS = 8,
	HEADER_WORDS = 32,
	RING_WORDS = HEADER_WORDS + SLOTS * 8,
	SLEEP_NS = 1000,
	PATIENCE_NS = 3500
};
enum { TWO_SLOTS = 100, ONE_SLOT = 10, THREE_SLOTS = 150, COMPLETION_LEN = 40 };

static struct {
	unsigned int access;
	size_t word;
	unsigned int value;
} attack[2];

static void rewrite(unsigned int access)
{
	unsigned int i;
	uint64_t *w;

	for (i = 0; i < 2; i++) {
		w = &memory.word[attack[i].word];
		if (attack[i].access == access)
			*w = memory_value(attack[i].value, *w, SLOTS, kvgpu_ring_longest(SLOTS));
	}
}

/* a ring in use, with both sides' state */
struct world {
	uint64_t *begin; /* contents of shared memory before the attack */
	struct kvgpu_ring_producer producer;
	struct kvgpu_ring_consumer consumer;
	/* each side sleeps at its own doorbell, and rings the other one */
	struct kvgpu_doorbell consumer_doorbell, producer_doorbell;
	uint8_t *buf;
	uint32_t max_len;
};

static enum kvgpu_ring_status put(struct kvgpu_ring_producer *p, uint32_t len)
{
	uint8_t data[THREE_SLOTS];
	struct iovec iov[2] = { { .iov_base = data, .iov_len = len / 3 },
				{ .iov_base = data, .iov_len = len - len / 3 } };

	memset(data, 0x5a, sizeof(data));
	memory_call(true);
	return kvgpu_ring_put(p, 3, 0, iov, 2);
}

static enum kvgpu_ring_status get(struct world *w, struct kvgpu_frame *f)
{
	memory_call(true);
	return kvgpu_ring_get(&w->consumer, f, w->buf, w->max_len);
}

static struct kvgpu_doorbell doorbell(uint32_t *word)
{
	return (struct kvgpu_doorbell){ .word = word,
					.ops = &memory_doorbell_ops,
					.times = { 0, SLEEP_NS } };
}

/*
 * Makes a ring through which @frames frames have gone. After SLOTS or more of them, sequence
 * numbers are those of a later lap.
 */
static struct world *create(unsigned int frames)
{
	struct world *w = calloc(1, sizeof(*w));
	struct kvgpu_ring_shared *shared;
	struct kvgpu_ring_config config;
	struct kvgpu_frame f;

	memory = (struct memory){ .word = aligned_alloc(64, RING_WORDS * 8), .words = RING_WORDS };
	attack[0].access = attack[1].access = ~0u;
	shared = (void *)memory.word;
	w->consumer_doorbell = doorbell(&shared->consumer_word);
	w->producer_doorbell = doorbell(&shared->producer_word);
	w->max_len = kvgpu_ring_longest(SLOTS);
	w->buf = malloc(w->max_len);
	config = (struct kvgpu_ring_config){ .mem = memory.word,
					     .slots = SLOTS,
					     .max_len = w->max_len,
					     .own = &w->producer_doorbell,
					     .peer = &w->consumer_doorbell };
	assert_int_equal(kvgpu_ring_init(memory.word, SLOTS), KVGPU_RING_OK);
	assert_int_equal(kvgpu_ring_attach_producer(&w->producer, &config), KVGPU_RING_OK);
	config.own = &w->consumer_doorbell;
	config.peer = &w->producer_doorbell;
	assert_int_equal(kvgpu_ring_attach_consumer(&w->consumer, &config), KVGPU_RING_OK);
	while (frames--) {
		assert_int_equal(put(&w->producer, ONE_SLOT), KVGPU_RING_OK);
		assert_int_equal(get(w, &f), KVGPU_RING_OK);
	}
	w->begin = malloc(RING_WORDS * 8);
	memory.before = rewrite;
	return w;
}

static void begins_here(struct world *w)
{
	memcpy(w->begin, memory.word, RING_WORDS * 8);
}

static void destroy(struct world *w)
{
	free(memory.word);
	free(w->begin);
	free(w->buf);
	free(w);
}

/*
 * Takes up to @frames frames of the ring as it is in w->begin, and waits if it finds no more.
 * Returns how many accesses that took.
 */
static unsigned int consume(struct world *w, unsigned int frames)
{
	const struct kvgpu_ring_consumer before = w->consumer;
	struct kvgpu_frame f;
	unsigned int i, n;
	enum kvgpu_ring_status s = KVGPU_RING_OK;

	memcpy(memory.word, w->begin, RING_WORDS * 8);
	memory.accesses = 0;
	memory.clock = 1;
	for (i = 0; i < frames && !s; i++) {
		s = get(w, &f);
		if (!s)
			assert_true(f.len <= w->max_len && w->consumer.pos > before.pos);
		else if (s != KVGPU_RING_EMPTY)
			assert_true(kvgpu_ring_dead(s));
	}
	memory_call(false);
	if (s == KVGPU_RING_EMPTY)
		assert_in_range(kvgpu_ring_wait_frame(&w->consumer, PATIENCE_NS), KVGPU_WAIT_READY,
				KVGPU_WAIT_TIMEOUT);
	n = memory.accesses;
	if (kvgpu_ring_dead(s)) {
		assert_int_equal(get(w, &f), s);
		assert_int_equal(memory.accesses, n);
	}
	w->consumer = before;
	return n;
}

TEST(consumer_survives)
{
	static const unsigned int laps[] = { 0, 3, 13 };
	unsigned int i, n;

	for (i = 0; i < sizeof(laps) / sizeof(laps[0]); i++) {
		struct world *w = create(laps[i]);

		assert_false(put(&w->producer, TWO_SLOTS) || put(&w->producer, ONE_SLOT) ||
			     put(&w->producer, THREE_SLOTS));
		begins_here(w);
		n = consume(w, 8);
		assert_true(n > 50 && n < 200);
		for (attack[0].access = 0; attack[0].access < n; attack[0].access++)
			for (attack[0].word = 0; attack[0].word < RING_WORDS; attack[0].word++)
				for (attack[0].value = 0; attack[0].value < MEMORY_VALUES;
				     attack[0].value++)
					consume(w, 8);
		destroy(w);
	}
}

/*
 * The words that decide about a frame of 2 slots, namely both slots' numbers and the head, and the
 * word of the producer's doorbell, which decides about a wake-up: two of them are rewritten.
 */
TEST(consumer_survives_two_rewrites)
{
	struct world *w = create(13);
	const size_t first = HEADER_WORDS + 13 % SLOTS * 8,
		     words[] = { first, first + 1, HEADER_WORDS + 14 % SLOTS * 8, 16 };
	unsigned int i, j, n;

	assert_int_equal(put(&w->producer, TWO_SLOTS), KVGPU_RING_OK);
	begins_here(w);
	n = consume(w, 1);
	for (i = 0; i < 16; i++) {
		attack[0].word = words[i / 4];
		attack[1].word = words[i % 4];
		for (j = 0; j < n * n; j++) {
			attack[0].access = j / n;
			attack[1].access = j % n;
			for (attack[0].value = 0; attack[0].value < MEMORY_VALUES;
			     attack[0].value += 3)
				for (attack[1].value = 0; attack[1].value < MEMORY_VALUES;
				     attack[1].value++)
					consume(w, 1);
		}
	}
	destroy(w);
}

/* Puts six frames, and waits for room after each for which the ring is too full. */
static unsigned int produce(struct world *w)
{
	static const uint32_t len[] = { TWO_SLOTS, ONE_SLOT,  THREE_SLOTS,
					ONE_SLOT,  TWO_SLOTS, THREE_SLOTS };
	const struct kvgpu_ring_producer before = w->producer;
	struct kvgpu_ring_producer *p = &w->producer;
	enum kvgpu_ring_status s = KVGPU_RING_OK;
	unsigned int i, n;

	memcpy(memory.word, w->begin, RING_WORDS * 8);
	memory.accesses = 0;
	memory.clock = 1;
	for (i = 0; i < sizeof(len) / sizeof(len[0]) && !kvgpu_ring_dead(s); i++) {
		s = put(p, len[i]);
		assert_true(!s || s == KVGPU_RING_FULL || kvgpu_ring_dead(s));
		assert_true(p->head - p->taken <= SLOTS);
		memory_call(false);
		kvgpu_ring_kick(p);
		if (s == KVGPU_RING_FULL)
			assert_in_range(kvgpu_ring_wait_room(p, len[i], PATIENCE_NS),
					KVGPU_WAIT_READY, KVGPU_WAIT_TIMEOUT);
		assert_true(kvgpu_ring_free_slots(p) <= SLOTS);
	}
	n = memory.accesses;
	if (p->status) {
		assert_int_equal(put(p, ONE_SLOT), p->status);
		assert_int_equal(kvgpu_ring_wait_room(p, ONE_SLOT, 0), KVGPU_WAIT_READY);
		assert_int_equal(kvgpu_ring_free_slots(p), 0);
	}
	w->producer = before;
	return n;
}

TEST(producer_survives)
{
	static const size_t words[] = { 0,
					8,
					16,
					HEADER_WORDS,
					HEADER_WORDS + 1,
					HEADER_WORDS + 13 % SLOTS * 8,
					RING_WORDS - 1 };
	struct world *w = create(13);
	unsigned int n, i;

	begins_here(w);
	n = produce(w);
	for (attack[0].access = 0; attack[0].access < n; attack[0].access++) {
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			attack[0].word = words[i];
			for (attack[0].value = 0; attack[0].value < MEMORY_VALUES;
			     attack[0].value++)
				produce(w);
		}
	}
	destroy(w);
}

/*
 * A position is accepted only if it is between what was given back and what was published, both
 * included; any other one ends the ring.
 */
TEST(positions_are_checked)
{
	struct world *w = create(13);
	struct kvgpu_ring_producer p;
	int64_t off;

	assert_false(put(&w->producer, THREE_SLOTS));
	memory.word[0] = 12;
	assert_int_equal(kvgpu_ring_free_slots(&w->producer), SLOTS - 4);
	for (off = -20; off < 20; off++) {
		p = w->producer;
		memory.word[0] = 12 + off;
		memory_call(true);
		kvgpu_ring_free_slots(&p);
		assert_int_equal(p.status,
				 off < 0 || off > 4 ? KVGPU_RING_BAD_POSITION : KVGPU_RING_OK);
	}
	destroy(w);
}

struct asker {
	struct kvgpu_completion completion;
	uint64_t begin[8];
	uint8_t *buf;
};

static void ask(struct asker *a, uint64_t seq)
{
	struct kvgpu_completion b = a->completion;
	struct kvgpu_completion_head head;
	enum kvgpu_ring_status s;
	unsigned int n;

	memcpy(memory.word, a->begin, sizeof(a->begin));
	memory.accesses = 0;
	memory.clock = 1;
	memory_call(false);
	assert_in_range(kvgpu_completion_wait(&b, PATIENCE_NS), KVGPU_WAIT_READY,
			KVGPU_WAIT_TIMEOUT);
	memory_call(true);
	s = kvgpu_completion_take(&b, seq, &head, a->buf, COMPLETION_LEN);
	n = memory.accesses;
	assert_true(s == KVGPU_RING_EMPTY || kvgpu_ring_dead(s) ||
		    (!s && head.len <= COMPLETION_LEN));
	if (kvgpu_ring_dead(s)) {
		assert_int_equal(kvgpu_completion_take(&b, seq, &head, a->buf, COMPLETION_LEN), s);
		assert_int_equal(memory.accesses, n);
	}
}

TEST(asker_survives)
{
	struct kvgpu_completion answering;
	static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	struct asker a = { .buf = malloc(COMPLETION_LEN) };
	struct kvgpu_doorbell sleeps;
	unsigned int answered;

	memory = (struct memory){ .word = aligned_alloc(64, KVGPU_COMPLETION_BYTES),
				  .words = KVGPU_COMPLETION_BYTES / 8,
				  .before = rewrite };
	memset(memory.word, 0, KVGPU_COMPLETION_BYTES);
	attack[0].access = attack[1].access = ~0u;
	/* for the doorbell: a word of the memory that is not used otherwise */
	sleeps = doorbell((uint32_t *)&memory.word[500]);
	assert_int_equal(kvgpu_completion_attach(&a.completion, memory.word, COMPLETION_LEN,
						 &sleeps),
			 KVGPU_RING_OK);
	assert_int_equal(kvgpu_completion_attach(&answering, memory.word, COMPLETION_LEN, NULL),
			 KVGPU_RING_OK);
	for (answered = 0; answered < 2; answered++) {
		if (answered)
			assert_int_equal(kvgpu_completion_answer(&answering, 9, 1, text,
								 sizeof(text)),
					 KVGPU_RING_OK);
		memcpy(a.begin, memory.word, sizeof(a.begin));
		for (attack[0].access = 0; attack[0].access < 30; attack[0].access++)
			for (attack[0].word = 0; attack[0].word < 8; attack[0].word++)
				for (attack[0].value = 0; attack[0].value < MEMORY_VALUES;
				     attack[0].value++)
					ask(&a, 9);
		attack[0].access = ~0u;
		/* lengths beyond the agreed one, and beyond the completion slot */
		a.begin[1] = (uint64_t)(COMPLETION_LEN + 1) << 32;
		ask(&a, 9);
		a.begin[1] = 0xfffffff8ull << 32;
		ask(&a, 9);
	}
	free(memory.word);
	free(a.buf);
}

static bool never(void *arg)
{
	return false;
}

/*
 * There is no peer. If other threads want the CPU, waits sleep at once, and only now and then look
 * first.
 */
TEST(others_want_the_cpu)
{
	static uint64_t word;
	struct kvgpu_doorbell b = { .word = (uint32_t *)&word,
				    .ops = &memory_doorbell_ops,
				    .times = { .spin_ns = 50000, .sleep_ns = 1000 } };
	unsigned int i;

	memory = (struct memory){ .word = &word, .words = 1, .clock = 1, .away_ns = 1000 };
	for (i = 0; i < 300; i++)
		assert_int_equal(kvgpu_doorbell_wait(&b, never, NULL, 200000), KVGPU_WAIT_TIMEOUT);
	assert_int_equal(b.spins, 300);
	memory.away_ns = 5000000;
	for (i = 0; i < 303; i++)
		assert_int_equal(kvgpu_doorbell_wait(&b, never, NULL, 200000), KVGPU_WAIT_TIMEOUT);
	assert_int_equal(b.spins, 303);
	/* who sets so long a time wants no sleep */
	b.times.spin_ns = KVGPU_SPIN_ALWAYS;
	b.spins = b.crowded = 0;
	for (i = 0; i < 300; i++)
		assert_int_equal(kvgpu_doorbell_wait(&b, never, NULL, 200000), KVGPU_WAIT_TIMEOUT);
	assert_int_equal(b.spins, 300);
}

/*
 * A VM whose timer's tick takes the CPU for 0.5 ms each 4 ms: that does not mean that other threads
 * want the CPU.
 */
TEST(a_tick_takes_the_cpu)
{
	static uint64_t word;
	struct kvgpu_doorbell b = { .word = (uint32_t *)&word,
				    .ops = &memory_doorbell_ops,
				    .times = { .spin_ns = 5000000, .sleep_ns = 1000 } };
	unsigned int i;

	memory = (struct memory){ .word = &word,
				  .words = 1,
				  .clock = 1,
				  .away_ns = 1000,
				  .tick_ns = 4000000,
				  .in_tick_ns = 500000 };
	for (i = 0; i < 300; i++)
		assert_int_equal(kvgpu_doorbell_wait(&b, never, NULL, 3000000), KVGPU_WAIT_TIMEOUT);
	assert_int_equal(b.spins, 300);
}

static bool it_is_time(void *arg)
{
	return memory.clock >= *(uint64_t *)arg;
}

/* Returns the number of sleeps of a wait for something that comes after @ns. */
static uint64_t sleeps_of(struct kvgpu_doorbell *b, uint64_t ns)
{
	uint64_t until = memory.clock + ns, before = b->waits;

	assert_int_equal(kvgpu_doorbell_wait(b, it_is_time, &until, KVGPU_FOREVER),
			 KVGPU_WAIT_READY);
	return b->waits - before;
}

/*
 * If the wait takes a little longer than the knob says, the next waits look for so long before they
 * sleep, until a wait takes much longer.
 */
TEST(short_waits_are_looked_for)
{
	static uint64_t word;
	struct kvgpu_doorbell b = { .word = (uint32_t *)&word,
				    .ops = &memory_doorbell_ops,
				    .times = { .spin_ns = 10000, .sleep_ns = 1000 } };
	unsigned int i;

	memory = (struct memory){ .word = &word, .words = 1, .clock = 1, .away_ns = 1000 };
	assert_int_equal(sleeps_of(&b, 5000), 0);
	assert_int_equal(sleeps_of(&b, 40000), 1);
	for (i = 0; i < 10; i++)
		assert_int_equal(sleeps_of(&b, 40000), 0);
	assert_int_equal(sleeps_of(&b, 75000), 0);
	assert_int_equal(sleeps_of(&b, 1000000), 1);
	assert_int_equal(sleeps_of(&b, 40000), 1);
	/* waits never look for longer than the limit, and not at all if the knob is 0 */
	assert_int_equal(sleeps_of(&b, 75000), 0);
	assert_int_equal(sleeps_of(&b, 120000), 1);
	assert_int_equal(sleeps_of(&b, 120000), 1);
	b.times.spin_ns = 0;
	b.window_ns = 0;
	for (i = 0; i < 3; i++)
		assert_int_equal(sleeps_of(&b, 40000), 1);
}

TEST_MAIN(NULL, NULL)
