// SPDX-License-Identifier: GPL-2.0-only
/* What an attacking client does to the connection itself. */
#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <remote/ring/shared.h>

#include "link.h"

static unsigned int below(unsigned int n)
{
	return flood_below(n);
}

static struct kvgpu_ring_shared *ring(void *at)
{
	return at;
}

/* the slot that the next frame begins in, or one behind it */
static union kvgpu_ring_slot *slot(struct link *l, unsigned int behind)
{
	return &ring(l->base->frames)->slot[(l->frames.head + behind) % SHMEM_FRAMES];
}

/* ------------------------------------------------------------------ what must not matter */

static void tamper_with_doorbells(struct link *l)
{
	struct kvgpu_ring_shared *rings[] = { ring(l->base->frames), ring(l->base->notifications),
					      ring(l->base->acks) };
	struct kvgpu_ring_shared *r = rings[below(3)];
	uint32_t *words[] = { &r->consumer_word, &r->producer_word,
			      &l->base->completion_word[below(LINK_COMPLETIONS)].word };
	uint32_t *word = words[below(3)];

	shared_store32(word, flood_word());
	if (below(2))
		r->unused = flood_random();
	/* this side owes the other one a wake-up */
	shared_store32(word, 0);
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Payloads of the last frames: words 2 and up of a slot are payload, whether it is the first. */
static void tamper_with_payloads(struct link *l)
{
	uint64_t head = l->frames.head;
	union kvgpu_ring_slot *s;

	if (!head)
		return;
	s = &ring(l->base->frames)->slot[(head - 1 - below(head < 64 ? head : 64)) % SHMEM_FRAMES];
	shared_store(&s->first.payload[below(KVGPU_RING_FIRST_BYTES / 8)], flood_word());
}

static void tamper_with_a_completion(struct link *l)
{
	struct kvgpu_completion_shared *b = l->nr_free ? &l->base->completion[l->free[0] - 1] :
							 NULL;

	if (!b)
		return;
	shared_store(&b->head, flood_random());
	shared_store(&b->payload[below(16)], flood_random());
}

void link_tamper(struct link *l)
{
	unsigned int i, n = below(32);
	uint64_t *words = (uint64_t *)l->arena;

	for (i = 0; words && i < n; i++)
		shared_store(&words[flood_random() % (l->arena_bytes / 8)], flood_word());
	/* where most of the copies are */
	for (i = 0; words && i < n; i++)
		shared_store(&words[l->arena_bytes / 8 - 1 - below(1024)], flood_word());
	if (l->kind != LINK_SHMEM)
		return;
	for (i = below(4); i; i--)
		tamper_with_payloads(l);
	if (!below(4))
		tamper_with_doorbells(l);
	if (!below(4))
		tamper_with_a_completion(l);
}

/* ------------------------------------------------------------------ a shmem region's rules */

static void publish(struct link *l, uint16_t op, uint16_t flags, uint32_t len, uint64_t seq)
{
	union kvgpu_ring_slot *s = slot(l, 0);

	shared_store(&s->first.head, op | (uint64_t)flags << 16 | (uint64_t)len << 32);
	shared_store_release(&s->seq, seq);
	kvgpu_ring_kick(&l->frames);
}

static bool wrong_number(struct link *l)
{
	publish(l, OP_fence, 0, 8, l->frames.head + 2 + below(100000));
	return true;
}

static bool too_long(struct link *l)
{
	publish(l, OP_fence, 0, KVGPU_REMOTE_PAYLOAD_MAX + 1 + (flood_random() >> 33),
		l->frames.head + 1);
	return true;
}

static bool torn(struct link *l)
{
	shared_store(&slot(l, 1)->seq, l->frames.head + 2);
	shared_store(&slot(l, 2)->seq, flood_random() | 1ull << 40);
	publish(l, OP_fence, 0, 400, l->frames.head + 1);
	return true;
}

static bool odd(struct link *l)
{
	uint64_t words[4] = { 0 };
	struct iovec part = { words, 1 + below(7) + 8 * below(3) };

	kvgpu_ring_put(&l->frames, OP_fence, below(2), &part, 1);
	kvgpu_ring_kick(&l->frames);
	return true;
}

static bool no_such_completion(struct link *l)
{
	kvgpu_ring_put(&l->frames, OP_fence, KVGPU_REMOTE_COMPLETIONS + 1 + below(60000), NULL, 0);
	kvgpu_ring_kick(&l->frames);
	return true;
}

static bool byte_on_socket(struct link *l)
{
	return send(l->fd, "x", 1, MSG_NOSIGNAL) == 1;
}

/* one at a time may come, with a byte of its own */
static bool two_descriptors(struct link *l)
{
	const int two[2] = { STDOUT_FILENO, STDOUT_FILENO };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(two))];
	} with = { .head = { CMSG_LEN(sizeof(two)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { "x", 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &with,
			    .msg_controllen = sizeof(with) };

	memcpy(CMSG_DATA(&with.head), two, sizeof(two));
	return sendmsg(l->fd, &m, MSG_NOSIGNAL) == 1;
}

static bool one_way(struct link *l)
{
	shutdown(l->fd, SHUT_WR);
	return true;
}

/* frames go on, so that the server has something to tell */
static void go_on(struct link *l, unsigned int n)
{
	struct flood_frame f;

	while (n--) {
		flood_make(&f);
		if (!link_send(l, f.op, below(LINK_COMPLETIONS), f.word, 8 * f.words))
			return;
		if (!below(16))
			link_flush(l);
	}
	link_flush(l);
}

static bool wrong_position(struct link *l)
{
	struct kvgpu_ring_shared *notifications = ring(l->base->notifications);

	shared_store(&notifications->taken, below(2) ? flood_random() : flood_word());
	go_on(l, 500);
	return false;
}

static bool acks_of_nothing(struct link *l)
{
	struct kvgpu_ring_shared *acks = ring(l->base->acks);
	unsigned int i;

	for (i = 0; i < 64; i++)
		shared_store(&acks->slot[below(SHMEM_ACKS)].first.payload[below(6)], flood_word());
	for (i = 0; i < 64; i++)
		shared_store(&acks->slot[below(SHMEM_ACKS)].seq, flood_word());
	go_on(l, 500);
	return false;
}

static bool storm(struct link *l)
{
	uint64_t *words = (uint64_t *)l->base;
	unsigned int i, n = 1 + below(3000), bytes = below(4) ? sizeof(*l->base) : SHMEM_ARENA;

	for (i = 0; i < n; i++) {
		shared_store(&words[below(bytes / 8)], below(2) ? flood_word() : flood_random());
		if (!below(64))
			go_on(l, 4);
	}
	return false;
}

static bool half_a_frame(struct link *l)
{
	unsigned int i;

	for (i = 1; i < 20; i++)
		shared_store(&slot(l, i)->seq, l->frames.head + i + 1);
	return false;
}

/* ------------------------------------------------------------------ a stream's rules */

static bool send_head(struct link *l, uint16_t op, uint16_t completion, uint32_t bytes)
{
	struct kvgpu_remote_head h = { ++l->seq, op, completion, bytes };

	return link_raw(l, &h, sizeof(h)) && link_flush(l);
}

static bool stream_too_long(struct link *l)
{
	send_head(l, OP_fence, 0, KVGPU_REMOTE_PAYLOAD_MAX + 8 + (flood_random() >> 33));
	return true;
}

static bool stream_odd(struct link *l)
{
	send_head(l, OP_fence, 0, 1 + below(7) + 8 * below(1000));
	return true;
}

static bool stream_no_such_completion(struct link *l)
{
	send_head(l, OP_fence, KVGPU_REMOTE_COMPLETIONS + 1 + below(60000), 0);
	return true;
}

static bool piece_outside(struct link *l)
{
	struct kvgpu_remote_piece piece = { l->arena_bytes - 8, 16 };

	if (below(2))
		piece = (struct kvgpu_remote_piece){ flood_word() | 1ull << 41, flood_word() };
	send_head(l, KVGPU_REMOTE_OP_PUSH, 0, sizeof(piece));
	link_raw(l, &piece, sizeof(piece));
	link_flush(l);
	return true;
}

static bool half_a_head(struct link *l)
{
	uint64_t words[2] = { flood_random(), OP_fence };

	link_raw(l, words, 1 + below(15));
	link_flush(l);
	return one_way(l);
}

static bool half_a_payload(struct link *l)
{
	uint64_t words[16] = { 0 };

	send_head(l, OP_fence, 0, 800);
	link_raw(l, words, below(sizeof(words)));
	link_flush(l);
	return one_way(l);
}

static bool half_a_piece(struct link *l)
{
	struct kvgpu_remote_piece piece = { below(1000), 1 << 20 };
	uint64_t words[16] = { 0 };

	send_head(l, KVGPU_REMOTE_OP_PUSH, 0, sizeof(piece));
	link_raw(l, &piece, sizeof(piece));
	link_raw(l, words, below(sizeof(words)));
	link_flush(l);
	return one_way(l);
}

static bool noise(struct link *l)
{
	uint64_t words[512];
	unsigned int i;

	for (i = 0; i < 512; i++)
		words[i] = flood_random();
	link_raw(l, words, 1 + below(sizeof(words)));
	link_flush(l);
	return false;
}

/* the server is left with answers that nobody takes */
static bool deaf(struct link *l)
{
	uint64_t frame[3] = { 1, OP_facts | 1ull << 16 | 8ull << 32, 0 };
	unsigned int i;

	for (i = 0; i < 4000; i++)
		if (send(l->fd, frame, sizeof(frame), MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(frame))
			break;
	return false;
}

/* ------------------------------------------------------------------ */

static const struct rule {
	const char *name;
	bool (*break_it)(struct link *l);
} of_shmem[] = {
	{ "a wrong sequence number", wrong_number },
	{ "a length beyond the longest", too_long },
	{ "a torn frame", torn },
	{ "a length that is no multiple of 8", odd },
	{ "a box that there is not", no_such_completion },
	{ "a byte on the socket", byte_on_socket },
	{ "two descriptors on the socket", two_descriptors },
	{ "the end of one direction", one_way },
	{ "a wrong position", wrong_position },
	{ "acks of nothing", acks_of_nothing },
	{ "random words everywhere", storm },
	{ "half a frame", half_a_frame },
}, of_streams[] = {
	{ "a length beyond the longest", stream_too_long },
	{ "a length that is no multiple of 8", stream_odd },
	{ "a box that there is not", stream_no_such_completion },
	{ "a piece outside of the arena", piece_outside },
	{ "half a head", half_a_head },
	{ "half a payload", half_a_payload },
	{ "noise", noise },
	{ "answers that are not taken", deaf },
	{ "half a piece", half_a_piece },	/* the last: a relay sends no pieces */
};

enum {
	OF_SHMEM = sizeof(of_shmem) / sizeof(*of_shmem),
	OF_STREAMS = sizeof(of_streams) / sizeof(*of_streams)
};

static bool broken[OF_SHMEM + OF_STREAMS];

bool link_break(struct link *l, const char **name)
{
	bool shared = l->kind == LINK_SHMEM;
	unsigned int i = below(shared ? OF_SHMEM : OF_STREAMS - (l->kind == LINK_RELAY));
	const struct rule *r = shared ? &of_shmem[i] : &of_streams[i];

	broken[shared ? i : OF_SHMEM + i] = true;
	*name = r->name;
	return r->break_it(l);
}

unsigned int link_rules(unsigned int *all)
{
	unsigned int i, n = 0;

	*all = OF_SHMEM + OF_STREAMS;
	for (i = 0; i < *all; i++)
		n += broken[i];
	return n;
}

/* ------------------------------------------------------------------ before a welcome */

static const char *other_version(const char *path)
{
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC, KVGPU_REMOTE_VERSION + 1 };
	int fd = link_connect(path, &hello, sizeof(hello));
	struct kvgpu_remote_welcome w = { 0 };
	ssize_t n = fd < 0 ? -1 : recv(fd, &w, sizeof(w), MSG_WAITALL);

	if (fd >= 0)
		close(fd);
	return n == sizeof(w) && w.result == KVGPU_REMOTE_OTHER_VERSION ?
		       NULL :
		       "another version is not refused";
}

const char *link_hello(const char *path, int *stalled)
{
	uint64_t words[2] = { below(2) ? KVGPU_REMOTE_MAGIC : flood_random(), flood_random() };
	int fd;

	if (!below(4))
		return other_version(path);
	fd = link_connect(path, words, below(sizeof(words) + 1));
	if (fd < 0)
		return "no connection";
	if (below(4)) {
		close(fd);
		return NULL;
	}
	if (*stalled >= 0)
		close(*stalled);
	*stalled = fd;
	return NULL;
}
