// SPDX-License-Identifier: GPL-2.0-only
/*
 * A million frames of random sizes between two threads that sleep often. All arrive, whole and in
 * order. Also run under the thread sanitizer, with fewer frames. It sees whether loads and stores
 * are declared as their order needs.
 */
#include <inttypes.h>
#include <pthread.h>
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/ring/completion.h"
#include "remote/ring/ring.h"

#include "carrier.h"

enum { MOST = 400, ANSWER_LEN = 64 };

#ifdef __SANITIZE_THREAD__
enum { MANY = 150000, FEW = 5000 };
#else
enum { MANY = 1000000, FEW = 20000 };
#endif

#define A_MINUTE_NS 60000000000ull

struct run {
	uint32_t frames, slots;
	uint32_t asks; /* one frame in so many is answered */
	struct kvgpu_ring_shared *ring;
	struct kvgpu_completion_shared *completion;
	const struct kvgpu_doorbell_ops *ops;
	struct kvgpu_doorbell_socket socket[2];
	uint64_t sleeps[2], wakes[2], full_waits;
};

static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Returns the length of frame @n, which both sides know. Most are short. */
static uint32_t frame_len(uint32_t n)
{
	uint64_t x = n * 0x9e3779b97f4a7c15 + 1;

	next(&x);
	return (x & 7 ? x >> 8 & 0x3f : x >> 8) % (MOST + 1);
}

static void frame_bytes(uint32_t n, uint64_t *out, uint32_t len)
{
	uint64_t x = n + 1;
	uint32_t i;

	for (i = 0; i < (len + 7) / 8; i++)
		out[i] = next(&x);
}

static bool asks(const struct run *r, uint32_t n)
{
	return n % r->asks == r->asks - 1;
}

static struct kvgpu_doorbell doorbell(struct run *r, uint32_t *word, unsigned int side)
{
	return (struct kvgpu_doorbell){
		.word = word,
		.ops = r->ops,
		.ctx = r->ops == &kvgpu_doorbell_socket_ops ? &r->socket[side] : NULL,
		.times = { .spin_ns = side ? 3000 : 0, .sleep_ns = KVGPU_SLEEP_NS }
	};
}

static const char *ask(struct run *r, struct kvgpu_ring_producer *p,
		       struct kvgpu_completion *completion, uint32_t n)
{
	struct kvgpu_completion_head head;
	uint8_t buf[ANSWER_LEN];

	kvgpu_ring_kick(p);
	if (kvgpu_completion_wait(completion, A_MINUTE_NS) ||
	    kvgpu_completion_take(completion, p->last_seq, &head, buf, sizeof(buf)))
		return "no answer";
	return head.result == n && head.len == n % ANSWER_LEN ? NULL : "wrong answer";
}

static void *produce(void *arg)
{
	struct run *r = arg;
	struct kvgpu_doorbell own = doorbell(r, &r->ring->producer_word, 0),
			      peer = doorbell(r, &r->ring->consumer_word, 0);
	struct kvgpu_ring_config config = {
		.mem = r->ring, .slots = r->slots, .max_len = MOST, .own = &own, .peer = &peer
	};
	struct kvgpu_ring_producer p;
	uint64_t data[MOST / 8 + 1];
	struct kvgpu_completion completion;
	const char *bad = NULL;
	uint32_t n;

	if (kvgpu_ring_attach_producer(&p, &config) ||
	    kvgpu_completion_attach(&completion, r->completion, ANSWER_LEN, &own))
		return "attach";
	for (n = 0; n < r->frames && !bad; n++) {
		struct iovec iov[2] = { { data, 16 }, { data + 2, 0 } };
		enum kvgpu_ring_status s;
		uint32_t len = frame_len(n);

		frame_bytes(n, data, len);
		iov[0].iov_len = len < 16 ? len : 16;
		iov[1].iov_len = len - iov[0].iov_len;
		while ((s = kvgpu_ring_put(&p, (uint16_t)n, asks(r, n), iov, 2)) == KVGPU_RING_FULL)
			if (kvgpu_ring_wait_room(&p, len, A_MINUTE_NS))
				return "no room";
		if (s)
			return "put";
		/* notify only for some frames, so that one notify tells of several */
		if (n % 16 < 4)
			kvgpu_ring_kick(&p);
		if (asks(r, n))
			bad = ask(r, &p, &completion, n);
	}
	kvgpu_ring_kick(&p);
	r->sleeps[0] = own.sleeps;
	r->wakes[0] = peer.wakes;
	r->full_waits = p.full_waits;
	return (void *)bad;
}

static void *consume(void *arg)
{
	struct run *r = arg;
	struct kvgpu_doorbell own = doorbell(r, &r->ring->consumer_word, 1),
			      peer = doorbell(r, &r->ring->producer_word, 1);
	struct kvgpu_ring_config config = {
		.mem = r->ring, .slots = r->slots, .max_len = MOST, .own = &own, .peer = &peer
	};
	uint64_t data[MOST / 8 + 1], want[MOST / 8 + 1];
	struct kvgpu_ring_consumer c;
	struct kvgpu_frame f;
	struct kvgpu_completion completion;
	uint32_t n;

	if (kvgpu_ring_attach_consumer(&c, &config) ||
	    kvgpu_completion_attach(&completion, r->completion, ANSWER_LEN, &peer))
		return "attach";
	for (n = 0; n < r->frames; n++) {
		enum kvgpu_ring_status s;

		while ((s = kvgpu_ring_get(&c, &f, data, sizeof(data))) == KVGPU_RING_EMPTY)
			if (kvgpu_ring_wait_frame(&c, A_MINUTE_NS))
				return "no frame";
		if (s || f.len != frame_len(n) || f.op != (uint16_t)n || f.flags != asks(r, n))
			return "wrong frame";
		frame_bytes(n, want, f.len);
		if (memcmp(data, want, f.len))
			return "wrong bytes";
		if (f.flags && kvgpu_completion_answer(&completion, f.seq, n, want, n % ANSWER_LEN))
			return "answer";
	}
	r->sleeps[1] = own.sleeps;
	r->wakes[1] = peer.wakes;
	return NULL;
}

static void run(struct run *r)
{
	void *(*const side[2])(void *) = { produce, consume };
	pthread_t thread[2];
	unsigned int i;
	void *bad;

	r->ring = aligned_alloc(64, kvgpu_ring_bytes(r->slots));
	r->completion = aligned_alloc(64, KVGPU_COMPLETION_BYTES);
	memset(r->completion, 0, KVGPU_COMPLETION_BYTES);
	assert_int_equal(kvgpu_ring_init(r->ring, r->slots), KVGPU_RING_OK);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, side[i], r), 0);
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], &bad);
		if (bad)
			fail_msg("%s: %s", i ? "consumer" : "producer", (char *)bad);
	}
	if (getenv("KVGPU_SHOW"))
		printf("# %u frames: sleeps %" PRIu64 ", %" PRIu64 "; wakes %" PRIu64 ", %" PRIu64
		       "; waits for room %" PRIu64 "\n",
		       r->frames, r->sleeps[0], r->sleeps[1], r->wakes[0], r->wakes[1],
		       r->full_waits);
	free(r->ring);
	free(r->completion);
}

TEST(many)
{
	struct run r = {
		.frames = MANY, .slots = 1024, .asks = 1000, .ops = &kvgpu_doorbell_futex_ops
	};

	run(&r);
}

/* A small ring, which is often full or empty. */
TEST(by_futex)
{
	struct run r = { FEW, .slots = 16, .asks = 50, .ops = &kvgpu_doorbell_futex_ops };

	run(&r);
}

TEST(by_socket)
{
	struct run r = { FEW, .slots = 16, .asks = 50, .ops = &kvgpu_doorbell_socket_ops };
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	r.socket[0].fd = fd[0];
	r.socket[1].fd = fd[1];
	run(&r);
	close(fd[0]);
	close(fd[1]);
}

TEST_MAIN(NULL, NULL)
