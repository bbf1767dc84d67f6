// SPDX-License-Identifier: GPL-2.0-only
/* Rings, answers and waits between two sides that keep to the rules. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <selftests/unit_test.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/ring/completion.h"
#include "remote/ring/ring.h"

#include "carrier.h"

enum { LOOK_NS = 1000000000 };

#define FOR_A_MINUTE 60000000000ull /* only ends a hang: no wait here lasts so long */

/* both sides of a ring in one process, without doorbells unless a test asks for them */
struct pair {
	struct kvgpu_ring_shared *shared;
	struct kvgpu_ring_producer p;
	struct kvgpu_ring_consumer c;
	struct kvgpu_completion_shared *completion_shared;
	struct kvgpu_completion asking, answering;
	struct kvgpu_doorbell consumer_sleeps, producer_sleeps, wakes_consumer, wakes_producer;
	uint32_t max_len;
	uint8_t *buf;
	int fd[2]; /* sockets: the producer's and the consumer's end */
	struct kvgpu_doorbell_socket socket[2];
};

static void doorbell(struct kvgpu_doorbell *b, uint32_t *word, const struct kvgpu_doorbell_ops *ops,
		     void *ctx)
{
	*b = (struct kvgpu_doorbell){
		.word = word, .ops = ops, .ctx = ctx, .times = { 0, LOOK_NS }
	};
}

/* Makes a pair. @ops: the carrier of its doorbells, or NULL for no doorbells. */
static struct pair *create(uint32_t slots, const struct kvgpu_doorbell_ops *ops)
{
	size_t bytes = (kvgpu_ring_bytes(slots) + 63) & ~(size_t)63;
	struct pair *t = calloc(1, sizeof(*t));
	struct kvgpu_ring_config config;
	void *ctx[2] = { NULL, NULL };
	unsigned int i;

	t->shared = mmap(NULL, bytes + KVGPU_COMPLETION_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(t->shared != MAP_FAILED);
	t->completion_shared = (void *)((uint8_t *)t->shared + bytes);
	t->max_len = kvgpu_ring_longest(slots);
	t->buf = malloc(t->max_len + KVGPU_COMPLETION_LONGEST);
	if (ops == &kvgpu_doorbell_socket_ops) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, t->fd), 0);
		for (i = 0; i < 2; i++) {
			t->socket[i].fd = t->fd[i];
			ctx[i] = &t->socket[i];
		}
	}
	doorbell(&t->producer_sleeps, &t->shared->producer_word, ops, ctx[0]);
	doorbell(&t->wakes_consumer, &t->shared->consumer_word, ops, ctx[0]);
	doorbell(&t->consumer_sleeps, &t->shared->consumer_word, ops, ctx[1]);
	doorbell(&t->wakes_producer, &t->shared->producer_word, ops, ctx[1]);
	config = (struct kvgpu_ring_config){ .mem = t->shared,
					     .slots = slots,
					     .max_len = t->max_len,
					     .own = ops ? &t->producer_sleeps : NULL,
					     .peer = ops ? &t->wakes_consumer : NULL };
	assert_int_equal(kvgpu_ring_init(t->shared, slots), KVGPU_RING_OK);
	assert_int_equal(kvgpu_ring_attach_producer(&t->p, &config), KVGPU_RING_OK);
	config.own = ops ? &t->consumer_sleeps : NULL;
	config.peer = ops ? &t->wakes_producer : NULL;
	assert_int_equal(kvgpu_ring_attach_consumer(&t->c, &config), KVGPU_RING_OK);
	assert_int_equal(kvgpu_completion_attach(&t->asking, t->completion_shared,
						 KVGPU_COMPLETION_LONGEST, &t->producer_sleeps),
			 KVGPU_RING_OK);
	assert_int_equal(kvgpu_completion_attach(&t->answering, t->completion_shared,
						 KVGPU_COMPLETION_LONGEST, config.peer),
			 KVGPU_RING_OK);
	return t;
}

static void destroy(struct pair *t)
{
	if (t->fd[0]) {
		close(t->fd[0]);
		close(t->fd[1]);
	}
	munmap(t->shared,
	       ((uint8_t *)t->completion_shared - (uint8_t *)t->shared) + KVGPU_COMPLETION_BYTES);
	free(t->buf);
	free(t);
}

static enum kvgpu_ring_status put(struct pair *t, uint16_t op, const void *data, size_t len)
{
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };

	return kvgpu_ring_put(&t->p, op, 0, &iov, 1);
}

static enum kvgpu_ring_status get(struct pair *t, struct kvgpu_frame *f)
{
	return kvgpu_ring_get(&t->c, f, t->buf, t->max_len);
}

TEST(geometry)
{
	static const struct {
		uint32_t slots;
		size_t bytes;
		uint32_t longest;
	} c[] = {
		{ 0, 0, 0 },
		{ 1, 0, 0 },
		{ 2, 256 + 128, 48 },
		{ 3, 0, 0 },
		{ 4, 256 + 256, 104 },
		{ 64, 256 + 4096, 48 + 31 * 56 },
		{ 1 << 20, 256 + (64ul << 20), 48 + ((1 << 19) - 1) * 56 },
		{ 1 << 21, 0, 0 },
		{ ~0u, 0, 0 },
	};
	static const struct {
		uint32_t len, slots;
	} of[] = {
		{ 0, 1 }, { 48, 1 }, { 49, 2 }, { 104, 2 }, { 105, 3 }, { ~0u, 76695845 },
	};
	static _Alignas(64) uint8_t mem[256 + 256 + 64];
	struct kvgpu_ring_config config = { .mem = mem, .slots = 4, .max_len = 104 };
	struct kvgpu_ring_producer p;
	struct kvgpu_ring_consumer k;
	struct kvgpu_completion completion;
	unsigned int i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		assert_int_equal(kvgpu_ring_bytes(c[i].slots), c[i].bytes);
		assert_int_equal(kvgpu_ring_longest(c[i].slots), c[i].longest);
	}
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		assert_int_equal(kvgpu_ring_slots_of(of[i].len), of[i].slots);
	assert_int_equal(kvgpu_ring_init(mem, 3), KVGPU_RING_BAD_GEOMETRY);
	assert_int_equal(kvgpu_ring_attach_producer(&p, &config), KVGPU_RING_OK);
	for (i = 0; i < 3; i++) {
		config = (struct kvgpu_ring_config){
			.mem = mem + (i == 0 ? 8 : 0),
			.slots = i == 1 ? 5 : 4,
			.max_len = i == 2 ? 105 : 104,
		};
		assert_int_equal(kvgpu_ring_attach_producer(&p, &config), KVGPU_RING_BAD_GEOMETRY);
		assert_int_equal(kvgpu_ring_attach_consumer(&k, &config), KVGPU_RING_BAD_GEOMETRY);
	}
	assert_int_equal(kvgpu_completion_attach(&completion, mem, KVGPU_COMPLETION_LONGEST + 1,
						 NULL),
			 KVGPU_RING_BAD_GEOMETRY);
	assert_int_equal(kvgpu_completion_attach(&completion, mem + 32, KVGPU_COMPLETION_LONGEST,
						 NULL),
			 KVGPU_RING_BAD_GEOMETRY);
	assert_string_equal(kvgpu_ring_status_name(KVGPU_RING_TORN), "peer published a torn frame");
	assert_string_equal(kvgpu_ring_status_name(99), "unknown");
}

TEST(every_length)
{
	struct pair *t = create(16, NULL);
	uint8_t data[512];
	struct kvgpu_frame f;
	uint64_t slots = 0;
	uint32_t len, i;

	assert_true(t->max_len < sizeof(data));
	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + 1);
	for (len = 0; len <= t->max_len; len++) {
		const uint32_t a = len / 5, b = len / 3;
		struct iovec iov[3] = { { data, a },
					{ data + a, b },
					{ data + a + b, len - a - b } };

		assert_int_equal(put(t, (uint16_t)len, data, len), KVGPU_RING_OK);
		assert_int_equal(t->p.last_seq, slots + 1);
		assert_int_equal(kvgpu_ring_put(&t->p, 0xffff, 0xabcd, iov, 3), KVGPU_RING_OK);
		for (i = 0; i < 2; i++) {
			memset(t->buf, 0, t->max_len + 1);
			assert_int_equal(get(t, &f), KVGPU_RING_OK);
			assert_int_equal(f.seq, slots + 1);
			assert_int_equal(f.op, i ? 0xffff : len);
			assert_int_equal(f.flags, i ? 0xabcd : 0);
			assert_int_equal(f.len, len);
			assert_memory_equal(t->buf, data, len);
			assert_int_equal(t->buf[len], 0);
			slots += kvgpu_ring_slots_of(len);
		}
	}
	assert_int_equal(get(t, &f), KVGPU_RING_EMPTY);
	assert_int_equal(t->c.frames, 2 * (t->max_len + 1));
	destroy(t);
}

TEST(full_and_empty)
{
	struct pair *t = create(8, NULL);
	struct kvgpu_frame f;
	uint8_t data[256] = { 0 };
	unsigned int lap, i;

	for (lap = 0; lap < 3; lap++) {
		assert_int_equal(get(t, &f), KVGPU_RING_EMPTY);
		assert_int_equal(kvgpu_ring_free_slots(&t->p), 8);
		assert_int_equal(put(t, 0, data, t->max_len), KVGPU_RING_OK);
		for (i = 1; i <= 4; i++)
			assert_int_equal(put(t, i, data, i), KVGPU_RING_OK);
		assert_int_equal(put(t, 9, data, 1), KVGPU_RING_FULL);
		assert_int_equal(kvgpu_ring_free_slots(&t->p), 0);
		/*
		 * 4 slots are half of the ring and are given back at once; then frames of one slot,
		 * two at a time
		 */
		assert_int_equal(get(t, &f), KVGPU_RING_OK);
		assert_int_equal(kvgpu_ring_free_slots(&t->p), 4);
		assert_int_equal(get(t, &f), KVGPU_RING_OK);
		assert_int_equal(kvgpu_ring_free_slots(&t->p), 4);
		assert_int_equal(get(t, &f), KVGPU_RING_OK);
		assert_int_equal(kvgpu_ring_free_slots(&t->p), 6);
		assert_int_equal(put(t, 5, data, t->max_len), KVGPU_RING_OK);
		assert_int_equal(put(t, 9, data, t->max_len), KVGPU_RING_FULL);
		for (i = 3; i <= 5; i++) {
			assert_int_equal(get(t, &f), KVGPU_RING_OK);
			assert_int_equal(f.op, i);
		}
	}
	assert_int_equal(t->p.frames, 18);
	/*
	 * less than a quarter of the ring is not given back before the consumer finds no more
	 * frames
	 */
	assert_int_equal(get(t, &f), KVGPU_RING_EMPTY);
	assert_int_equal(put(t, 1, data, 1), KVGPU_RING_OK);
	assert_int_equal(get(t, &f), KVGPU_RING_OK);
	assert_int_equal(kvgpu_ring_free_slots(&t->p), 7);
	assert_int_equal(get(t, &f), KVGPU_RING_EMPTY);
	assert_int_equal(kvgpu_ring_free_slots(&t->p), 8);
	destroy(t);
}

TEST(callers_mistakes)
{
	struct pair *t = create(8, NULL);
	struct iovec wraps[2] = { { t->buf, 8 }, { t->buf, SIZE_MAX - 4 } };
	uint8_t data[256] = { 1 };
	struct kvgpu_frame f;
	unsigned int i;

	assert_int_equal(put(t, 1, data, t->max_len + 1), KVGPU_RING_TOO_LONG);
	assert_int_equal(kvgpu_ring_put(&t->p, 1, 0, wraps, 2), KVGPU_RING_TOO_LONG);
	assert_int_equal(kvgpu_ring_begin(&t->p, 1, 0, ~0u), KVGPU_RING_TOO_LONG);
	assert_int_equal(kvgpu_ring_publish(&t->p), KVGPU_RING_WRONG_LENGTH);
	assert_int_equal(kvgpu_ring_wait_room(&t->p, t->max_len + 1, KVGPU_FOREVER),
			 KVGPU_WAIT_READY);
	for (i = 0; i < 3; i++) {
		/*
		 * A frame with too few bytes, a frame with too many, and one that is begun and
		 * dropped: the consumer sees none of them.
		 */
		assert_int_equal(kvgpu_ring_begin(&t->p, 1, 0, 120), KVGPU_RING_OK);
		kvgpu_ring_append(&t->p, data, 100);
		if (i == 1)
			kvgpu_ring_append(&t->p, data, 21);
		if (i < 2)
			assert_int_equal(kvgpu_ring_publish(&t->p), KVGPU_RING_WRONG_LENGTH);
		assert_int_equal(get(t, &f), KVGPU_RING_EMPTY);
		assert_int_equal(put(t, 2, data, 3), KVGPU_RING_OK);
		assert_int_equal(kvgpu_ring_get(&t->c, &f, t->buf, t->max_len - 1),
				 KVGPU_RING_NO_ROOM);
		assert_int_equal(get(t, &f), KVGPU_RING_OK);
		assert_int_equal(f.op, 2);
		assert_int_equal(get(t, &f), KVGPU_RING_EMPTY);
	}
	destroy(t);
}

/* A wrong word that the peer writes ends the ring. */
TEST(dead_by_name)
{
	static const struct {
		size_t word;
		uint64_t value;
		enum kvgpu_ring_status want;
	} c[] = {
		{ 0, 2, KVGPU_RING_BAD_SEQ },
		{ 1, 217ull << 32, KVGPU_RING_BAD_LENGTH },
		{ 8, 1, KVGPU_RING_TORN },
	};
	struct kvgpu_frame f;
	uint64_t *slots;
	struct pair *t;
	unsigned int i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		t = create(8, NULL);
		slots = (uint64_t *)t->shared->slot;
		assert_int_equal(put(t, 1, t->shared, 64), KVGPU_RING_OK);
		slots[c[i].word] = c[i].value;
		assert_int_equal(get(t, &f), c[i].want);
		assert_true(kvgpu_ring_dead(c[i].want));
		assert_true(kvgpu_ring_has_frame(&t->c));
		memset(t->shared, 0, kvgpu_ring_bytes(8));
		assert_int_equal(get(t, &f), c[i].want);
		/* the other direction has an end of its own */
		t->shared->taken = 3;
		assert_int_equal(kvgpu_ring_free_slots(&t->p), 0);
		assert_int_equal(put(t, 1, "", 1), KVGPU_RING_BAD_POSITION);
		destroy(t);
	}
}

TEST(answers)
{
	struct pair *t = create(2, NULL);
	struct kvgpu_completion_head head;
	uint8_t big[KVGPU_COMPLETION_LONGEST];
	uint64_t seq;

	memset(big, 0x77, sizeof(big));
	for (seq = 5; seq < 20; seq += 3) {
		assert_int_equal(kvgpu_completion_take(&t->asking, seq, &head, t->buf,
						       KVGPU_COMPLETION_LONGEST),
				 KVGPU_RING_EMPTY);
		assert_int_equal(kvgpu_completion_answer(&t->answering, seq, 700, big,
							 sizeof(big) - (uint32_t)seq),
				 KVGPU_RING_OK);
		assert_int_equal(kvgpu_completion_take(&t->asking, seq, &head, t->buf, 8),
				 KVGPU_RING_NO_ROOM);
		assert_int_equal(kvgpu_completion_take(&t->asking, seq, &head, t->buf,
						       KVGPU_COMPLETION_LONGEST),
				 KVGPU_RING_OK);
		assert_int_equal(head.result, 700);
		assert_int_equal(head.len, sizeof(big) - seq);
		assert_memory_equal(t->buf, big, head.len);
	}
	assert_int_equal(kvgpu_completion_answer(&t->answering, 17, 0, NULL, 0),
			 KVGPU_RING_WRONG_LENGTH);
	assert_int_equal(kvgpu_completion_answer(&t->answering, 30, 0, big,
						 KVGPU_COMPLETION_LONGEST + 1),
			 KVGPU_RING_TOO_LONG);
	assert_int_equal(kvgpu_completion_answer(&t->answering, 30, 0, NULL, 0), KVGPU_RING_OK);
	assert_int_equal(kvgpu_completion_take(&t->asking, 29, &head, t->buf,
					       KVGPU_COMPLETION_LONGEST),
			 KVGPU_RING_BAD_SEQ);
	assert_int_equal(kvgpu_completion_take(&t->asking, 30, &head, t->buf,
					       KVGPU_COMPLETION_LONGEST),
			 KVGPU_RING_BAD_SEQ);
	destroy(t);
}

/* Answers when the asking side has given up looking, and is about to sleep or sleeps. */
static void *answer_late(void *arg)
{
	struct pair *t = arg;

	while (!__atomic_load_n(&t->shared->producer_word, __ATOMIC_ACQUIRE))
		usleep(1000);
	assert_int_equal(kvgpu_completion_answer(&t->answering, 4, 0, NULL, 0), KVGPU_RING_OK);
	return NULL;
}

/* The first look gets earlier while answers are there, and stays where one takes much longer. */
TEST(first_looks)
{
	struct pair *t = create(2, &kvgpu_doorbell_futex_ops);
	struct kvgpu_completion_head head;
	pthread_t late;
	uint64_t seq;

	t->producer_sleeps.times.spin_ns = 1000;
	t->asking.pauses = 2;
	for (seq = 1; seq < 4; seq++) {
		assert_int_equal(kvgpu_completion_answer(&t->answering, seq, 0, NULL, 0),
				 KVGPU_RING_OK);
		assert_int_equal(kvgpu_completion_wait(&t->asking, FOR_A_MINUTE), KVGPU_WAIT_READY);
		assert_int_equal(t->asking.pauses, seq == 1);
		assert_int_equal(kvgpu_completion_take(&t->asking, seq, &head, t->buf,
						       KVGPU_COMPLETION_LONGEST),
				 KVGPU_RING_OK);
	}
	t->asking.pauses = 5 * KVGPU_COMPLETION_PART;
	assert_int_equal(pthread_create(&late, NULL, answer_late, t), 0);
	assert_int_equal(kvgpu_completion_wait(&t->asking, FOR_A_MINUTE), KVGPU_WAIT_READY);
	assert_int_equal(t->asking.pauses, 5 * KVGPU_COMPLETION_PART);
	pthread_join(late, NULL);
	destroy(t);
}

/* ------------------------------------------------------------------ waits, with both carriers */

static void *echo(void *arg)
{
	struct pair *t = arg;
	struct kvgpu_frame f;
	uint8_t buf[64];

	for (;;) {
		while (kvgpu_ring_get(&t->c, &f, buf, sizeof(buf)) == KVGPU_RING_EMPTY)
			if (kvgpu_ring_wait_frame(&t->c, FOR_A_MINUTE))
				return "no frame came";
		if (t->c.status || kvgpu_completion_answer(&t->answering, f.seq, f.op, buf, f.len))
			return "wrong";
		if (!f.op)
			return NULL;
	}
}

/* No side looks before it sleeps. */
TEST(sleepers_wake_each_other)
{
	const struct kvgpu_doorbell_ops *const carriers[] = { &kvgpu_doorbell_futex_ops,
							      &kvgpu_doorbell_socket_ops };
	struct kvgpu_completion_head head;
	enum kvgpu_ring_status s;
	unsigned int i;
	pthread_t other;
	struct pair *t;
	void *verdict;
	uint16_t op;

	for (i = 0; i < 2; i++) {
		t = create(2, carriers[i]);
		assert_int_equal(pthread_create(&other, NULL, echo, t), 0);
		for (op = 300; op-- > 0;) {
			while (put(t, op, &op, sizeof(op)) == KVGPU_RING_FULL)
				assert_int_equal(kvgpu_ring_wait_room(&t->p, sizeof(op),
								      FOR_A_MINUTE),
						 KVGPU_WAIT_READY);
			kvgpu_ring_kick(&t->p);
			assert_int_equal(kvgpu_completion_wait(&t->asking, FOR_A_MINUTE),
					 KVGPU_WAIT_READY);
			s = kvgpu_completion_take(&t->asking, t->p.last_seq, &head, t->buf,
						  KVGPU_COMPLETION_LONGEST);
			assert_int_equal(s, KVGPU_RING_OK);
			assert_int_equal(head.result, op);
			assert_memory_equal(t->buf, &op, sizeof(op));
		}
		pthread_join(other, &verdict);
		assert_null(verdict);
		assert_true(t->wakes_consumer.wakes <= 600 && t->producer_sleeps.spins == 0);
		destroy(t);
	}
}

TEST(waits_end)
{
	const struct kvgpu_doorbell_ops *const carriers[] = { &kvgpu_doorbell_futex_ops,
							      &kvgpu_doorbell_socket_ops };
	struct pair *t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t = create(2, carriers[i]);
		/* no frame comes */
		t->consumer_sleeps.times =
			(struct kvgpu_wait_times){ .spin_ns = 0, .sleep_ns = 100000 };
		assert_int_equal(kvgpu_ring_wait_frame(&t->c, 0), KVGPU_WAIT_TIMEOUT);
		assert_int_equal(t->consumer_sleeps.sleeps, 0);
		assert_int_equal(kvgpu_ring_wait_frame(&t->c, 1000000), KVGPU_WAIT_TIMEOUT);
		assert_true(t->consumer_sleeps.sleeps >= 1 && t->consumer_sleeps.spins == 0);
		/*
		 * a side that looks first yields its CPU, and may get it back only when its time is
		 * over
		 */
		t->consumer_sleeps.times.spin_ns = 1000;
		assert_int_equal(kvgpu_ring_wait_frame(&t->c, 1000000), KVGPU_WAIT_TIMEOUT);
		assert_int_equal(t->consumer_sleeps.spins, 1);
		/* a frame came without a ring of the doorbell: the wait finds it by itself */
		assert_int_equal(put(t, 1, "", 1), KVGPU_RING_OK);
		assert_int_equal(kvgpu_ring_wait_frame(&t->c, KVGPU_FOREVER), KVGPU_WAIT_READY);
		assert_int_equal(t->shared->consumer_word, 0);
		/* the consumer does not sleep, so it is not woken */
		kvgpu_ring_kick(&t->p);
		assert_int_equal(t->wakes_consumer.wakes, 0);
		/* a consumer that says that it sleeps is woken once */
		t->shared->consumer_word = 77;
		kvgpu_ring_kick(&t->p);
		kvgpu_ring_kick(&t->p);
		assert_int_equal(t->wakes_consumer.wakes, 1);
		destroy(t);
	}
}

TEST(end_of_a_socket)
{
	struct pair *t = create(2, &kvgpu_doorbell_socket_ops);
	struct kvgpu_frame f;

	/* frames that were sent before the end come before it */
	assert_int_equal(put(t, 1, "", 1), KVGPU_RING_OK);
	t->shared->consumer_word = 1;
	kvgpu_ring_kick(&t->p);
	close(t->fd[0]);
	t->fd[0] = dup(0);
	assert_int_equal(kvgpu_ring_wait_frame(&t->c, KVGPU_FOREVER), KVGPU_WAIT_READY);
	assert_int_equal(get(t, &f), KVGPU_RING_OK);
	assert_int_equal(get(t, &f), KVGPU_RING_EMPTY);
	assert_int_equal(kvgpu_ring_wait_frame(&t->c, KVGPU_FOREVER), KVGPU_WAIT_GONE);
	/* ringing the doorbell of the producer, which is gone, is no error */
	t->shared->producer_word = 1;
	kvgpu_doorbell_ring(&t->wakes_producer);
	destroy(t);
}

/* A peer that never reads its socket does not hold up the side that wakes it. */
TEST(socket_that_is_full)
{
	struct pair *t = create(2, &kvgpu_doorbell_socket_ops);
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		t->shared->consumer_word = 1;
		kvgpu_ring_kick(&t->p);
	}
	assert_int_equal(t->wakes_consumer.wakes, 100000);
	assert_int_equal(kvgpu_ring_wait_frame(&t->c, 1000000), KVGPU_WAIT_TIMEOUT);
	destroy(t);
}

TEST(end_of_a_process)
{
	struct pair *t = create(2, &kvgpu_doorbell_futex_ops);
	struct kvgpu_doorbell_futex futex = { .gone_events = POLLIN };
	struct kvgpu_frame f;
	pid_t child;

	child = fork();
	if (!child) {
		put(t, 1, "", 1);
		for (;;)
			pause();
	}
	futex.gone_fd = (int)syscall(SYS_pidfd_open, child, 0);
	assert_true(futex.gone_fd >= 0);
	t->consumer_sleeps.ctx = &futex;
	t->consumer_sleeps.times.sleep_ns = 1000000;
	assert_int_equal(kvgpu_ring_wait_frame(&t->c, KVGPU_FOREVER), KVGPU_WAIT_READY);
	assert_int_equal(get(t, &f), KVGPU_RING_OK);
	kill(child, SIGKILL);
	assert_int_equal(kvgpu_ring_wait_frame(&t->c, KVGPU_FOREVER), KVGPU_WAIT_GONE);
	waitpid(child, NULL, 0);
	close(futex.gone_fd);
	destroy(t);
}

TEST_MAIN(NULL, NULL)
