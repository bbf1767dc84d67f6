// SPDX-License-Identifier: MIT
/*
 * The server's end of a stream. The serving thread reads frames one by one. While it is busy in the
 * library, a thread of the library that waits for an ack reads in its place: it takes the acks, and
 * keeps frames for later in their order.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <remote/wire/cursor.h>

#include "fair_lock.h"
#include "memory.h"
#include "stream.h"

/* READ_AHEAD: a piece's first bytes are copied once more if they were read with frames before it */
enum { INPUT = 256 << 10, READ_AHEAD = 64 << 10, LOOK_US = 500 };
/* bytes of frames that may be kept while the library is busy */
#define KEPT_MAX    (64ull << 20)
#define KEPT_BESIDE 16

static_assert(INPUT >= (int)(sizeof(struct kvgpu_remote_head) + KVGPU_REMOTE_PAYLOAD_MAX),
	      "a whole frame fits");

struct kept {
	struct kept *next;
	struct kvgpu_remote_head h;
	uint8_t payload[];
};

struct acked {
	struct acked *next;
	uint64_t id;
	bool done;
};

struct stream_port {
	struct kvgpu_remote_port p;
	struct conn conn;
	struct fair_lock output; /* held while a message is written, and never with the other two */
	bool wanted; /* atomic: the serving thread wants `input`, and other threads leave it */
	pthread_mutex_t input; /* of the members up to bytes[]: the thread that holds it reads */
	struct kept *first, **last;
	uint64_t kept_bytes;
	bool spoilt; /* the next frame's piece did not come */
	size_t have, used; /* of .bytes */
	uint64_t bytes[INPUT / 8];
	/* of the frame that is served; the serving thread's alone */
	uint64_t payload[KVGPU_REMOTE_PAYLOAD_MAX / 8];
	/* of .waiting; may be taken with `input` held, never the reverse */
	pthread_mutex_t acks;
	pthread_cond_t change;
	struct acked *waiting;
};

static struct stream_port *stream_port_of(struct kvgpu_remote_port *p)
{
	return (struct stream_port *)p;
}

static int lose_client(struct stream_port *s)
{
	__atomic_store_n(&s->p.gone, true, __ATOMIC_RELEASE);
	shutdown(s->conn.fd, SHUT_RDWR);
	pthread_mutex_lock(&s->acks);
	pthread_cond_broadcast(&s->change);
	pthread_mutex_unlock(&s->acks);
	return -ECONNRESET;
}

/* ------------------------------------------------------------------ reading; `input` is held */

static void take_ack(struct stream_port *s, uint64_t id)
{
	struct acked *a;

	pthread_mutex_lock(&s->acks);
	for (a = s->waiting; a; a = a->next)
		if (a->id == id)
			a->done = true;
	pthread_cond_broadcast(&s->change);
	pthread_mutex_unlock(&s->acks);
}

static int take_piece(struct stream_port *s, const struct kvgpu_remote_piece *piece)
{
	size_t here = s->have - s->used;

	if (!kvgpu_remote_in_arena(piece->at, piece->bytes, s->p.arena_bytes))
		return lose_client(s);
	if (s->p.has_relay)
		return 0; /* the relay has put the bytes there */
	if (here > piece->bytes)
		here = piece->bytes;
	memcpy((uint8_t *)s->p.arena + piece->at, (uint8_t *)s->bytes + s->used, here);
	s->used += here;
	if (here < piece->bytes &&
	    conn_read(&s->conn, (uint8_t *)s->p.arena + piece->at + here, piece->bytes - here))
		return lose_client(s);
	port_received(&s->p, piece->bytes);
	return 0;
}

/* if the frame's piece did not come, the server is to see that in the place of its operation */
static int pass_on(struct stream_port *s, struct kvgpu_remote_head *h)
{
	if (s->spoilt)
		h->op = KVGPU_REMOTE_OP_SPOILT;
	s->spoilt = false;
	return 1;
}

/*
 * 1: a frame, whose payload is at *payload until more is read; 0: no whole frame is here;
 * -ECONNRESET: the connection is lost.
 */
static int parse_frame(struct stream_port *s, struct kvgpu_remote_head *h, const uint8_t **payload)
{
	struct kvgpu_remote_piece piece;
	struct kvgpu_remote_ack ack;
	int r;

	while (s->have - s->used >= sizeof(*h)) {
		memcpy(h, (uint8_t *)s->bytes + s->used, sizeof(*h));
		if (h->bytes > KVGPU_REMOTE_PAYLOAD_MAX || h->bytes % 8 ||
		    h->completion > KVGPU_REMOTE_COMPLETIONS)
			return lose_client(s);
		if (s->have - s->used - sizeof(*h) < h->bytes)
			return 0;
		*payload = (uint8_t *)s->bytes + s->used + sizeof(*h);
		s->used += sizeof(*h) + h->bytes;
		if (h->op == KVGPU_REMOTE_OP_ACK && h->bytes == sizeof(ack)) {
			memcpy(&ack, *payload, sizeof(ack));
			take_ack(s, ack.id);
		} else if (h->op == KVGPU_REMOTE_OP_PUSH && h->bytes == sizeof(piece)) {
			memcpy(&piece, *payload, sizeof(piece));
			r = take_piece(s, &piece);
			if (r)
				return r;
		} else if (h->op == KVGPU_REMOTE_OP_SPOILT && s->p.has_relay) {
			s->spoilt = true;
		} else {
			return pass_on(s, h);
		}
	}
	return 0;
}

/* read more bytes: 1; 0: nothing came in time; or -ECONNRESET */
static int fill_input(struct stream_port *s, int64_t timeout_us)
{
	struct timespec t = { timeout_us / 1000000, timeout_us % 1000000 * 1000 };
	struct pollfd p = { .fd = s->conn.fd, .events = POLLIN };
	size_t room;
	ssize_t n;

	if (s->used) {
		memmove(s->bytes, (uint8_t *)s->bytes + s->used, s->have - s->used);
		s->have -= s->used;
		s->used = 0;
	}
	if (timeout_us > 0 && !conn_pending(&s->conn) && ppoll(&p, 1, &t, NULL) <= 0)
		return 0;
	room = sizeof(s->bytes) - s->have;
	n = conn_some(&s->conn, (uint8_t *)s->bytes + s->have,
		      room < READ_AHEAD ? room : READ_AHEAD, timeout_us < 0);
	if (n < 0)
		return lose_client(s);
	if (!n)
		return 0;
	s->have += n;
	return 1;
}

/* bytes that a kept frame takes, with the allocator's own: a frame may be nothing but its head */
static size_t kept_takes(const struct kvgpu_remote_head *h)
{
	return sizeof(struct kept) + h->bytes + KEPT_BESIDE;
}

static int take_kept(struct stream_port *s, struct kvgpu_remote_head *h)
{
	struct kept *k = s->first;

	if (!k)
		return 0;
	s->first = k->next;
	if (!s->first)
		s->last = &s->first;
	s->kept_bytes -= kept_takes(&k->h);
	*h = k->h;
	memcpy(s->payload, k->payload, h->bytes);
	free(k);
	return 1;
}

static int next_locked(struct stream_port *s, int64_t timeout_us, struct kvgpu_remote_head *h)
{
	const uint8_t *payload;
	int r = take_kept(s, h);

	if (!r && __atomic_load_n(&s->p.gone, __ATOMIC_ACQUIRE))
		return -ECONNRESET;
	while (!r) {
		r = parse_frame(s, h, &payload);
		if (r == 1)
			memcpy(s->payload, payload, h->bytes);
		if (r)
			break;
		r = fill_input(s, timeout_us);
		if (r <= 0)
			return r;
		r = 0;
	}
	return r;
}

static int next_frame(struct kvgpu_remote_port *p, int64_t timeout_us, struct kvgpu_remote_head *h,
		      const void **payload)
{
	struct stream_port *s = stream_port_of(p);
	int r;

	__atomic_store_n(&s->wanted, true, __ATOMIC_RELAXED);
	pthread_mutex_lock(&s->input);
	__atomic_store_n(&s->wanted, false, __ATOMIC_RELAXED);
	r = next_locked(s, timeout_us, h);
	pthread_mutex_unlock(&s->input);
	*payload = s->payload;
	return r;
}

static int keep_frame(struct stream_port *s, const struct kvgpu_remote_head *h,
		      const uint8_t *payload)
{
	size_t bytes = kept_takes(h);
	struct kept *k = s->kept_bytes + bytes <= KEPT_MAX ? malloc(sizeof(*k) + h->bytes) : NULL;

	if (!k)
		return lose_client(s);
	*k = (struct kept){ .h = *h };
	memcpy(k->payload, payload, h->bytes);
	*s->last = k;
	s->last = &k->next;
	s->kept_bytes += bytes;
	return 0;
}

/* ------------------------------------------------------------------ acks */

static void read_for_acks(struct stream_port *s)
{
	struct kvgpu_remote_head h;
	const uint8_t *payload;
	int r;

	while ((r = parse_frame(s, &h, &payload)) == 1)
		if (keep_frame(s, &h, payload))
			return;
	if (!r)
		fill_input(s, LOOK_US);
}

static bool look_for_ack(struct stream_port *s, const struct acked *a)
{
	struct timespec t;
	bool done;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += LOOK_US * 1000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&s->acks);
	if (!a->done)
		pthread_cond_timedwait(&s->change, &s->acks, &t);
	done = a->done;
	pthread_mutex_unlock(&s->acks);
	return done;
}

/*
 * Wait for the ack; false: the client is gone. A mutex has no order among threads: a thread that
 * takes `input` again at once would keep it from the serving thread, which has to wake up first.
 */
static bool await_ack(struct stream_port *s, const struct acked *a)
{
	bool done = false;

	while (!done && !__atomic_load_n(&s->p.gone, __ATOMIC_ACQUIRE)) {
		if (!__atomic_load_n(&s->wanted, __ATOMIC_RELAXED) &&
		    !pthread_mutex_trylock(&s->input)) {
			read_for_acks(s);
			pthread_mutex_unlock(&s->input);
			pthread_mutex_lock(&s->acks);
			done = a->done;
			pthread_mutex_unlock(&s->acks);
		} else {
			done = look_for_ack(s, a);
		}
	}
	return done;
}

/* ------------------------------------------------------------------ writing */

/* call with the lock .output, which is released */
static int write_down(struct stream_port *s, const struct down *d, const void *bytes, size_t n)
{
	struct iovec parts[] = { { (void *)(uintptr_t)d, sizeof(*d) },
				 { (void *)(uintptr_t)bytes, n } };
	int r = conn_write(&s->conn, parts, 2);

	fair_lock_release(&s->output);
	return r ? lose_client(s) : 0;
}

static int send_down(struct stream_port *s, const struct down *d, const void *bytes, size_t n)
{
	fair_lock_take(&s->output);
	return write_down(s, d, bytes, n);
}

static int reply_frame(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *to,
		       uint32_t result, const void *payload, size_t n)
{
	return send_down(stream_port_of(p),
			 &(struct down){ .kind = DOWN_ANSWER,
					 .completion = to->completion,
					 .bytes = n,
					 .a = to->seq,
					 .b = result },
			 payload, n);
}

static int give_piece(struct kvgpu_remote_port *p, uint64_t at, uint64_t bytes)
{
	struct stream_port *s = stream_port_of(p);

	fair_lock_bulk(&s->output);
	return write_down(s, &(struct down){ .kind = DOWN_PIECE, .a = at, .b = bytes },
			  (uint8_t *)p->arena + at, p->has_relay ? 0 : bytes);
}

static int notify_client(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
			 const void *bytes, size_t n)
{
	return send_down(stream_port_of(p),
			 &(struct down){ .kind = DOWN_NOTIFICATION,
					 .bytes = n,
					 .a = h->id,
					 .b = h->kind | (uint64_t)h->value << 32 },
			 bytes, n);
}

/* into the list before the client hears of the call: the ack may come at once */
static int call_client(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
		       uint64_t invocation)
{
	struct stream_port *s = stream_port_of(p);
	struct acked a = { .id = invocation }, **at;
	bool done;

	pthread_mutex_lock(&s->acks);
	a.next = s->waiting;
	s->waiting = &a;
	pthread_mutex_unlock(&s->acks);
	done = !notify_client(p, h, &invocation, sizeof(invocation)) && await_ack(s, &a);
	pthread_mutex_lock(&s->acks);
	for (at = &s->waiting; *at != &a; at = &(*at)->next)
		;
	*at = a.next;
	pthread_mutex_unlock(&s->acks);
	return done ? 0 : -ECONNRESET;
}

/* ------------------------------------------------------------------ life */

static void await_end(struct kvgpu_remote_port *p)
{
	struct pollfd end = { .fd = stream_port_of(p)->conn.fd, .events = POLLRDHUP };

	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
}

static void close_port(struct kvgpu_remote_port *p)
{
	struct stream_port *s = stream_port_of(p);
	struct kept *k;

	conn_close(&s->conn);
	arena_unmap(p->arena, p->arena_bytes);
	while ((k = s->first)) {
		s->first = k->next;
		free(k);
	}
	free(s);
}

static const struct port_carrier stream_carrier = { .next = next_frame,
						    .reply = reply_frame,
						    .give = give_piece,
						    .notify = notify_client,
						    .call = call_client,
						    .await_end = await_end,
						    .close = close_port };

static int answer_hello(struct conn *conn, uint64_t version, uint64_t arena_bytes, uint32_t result)
{
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, version, arena_bytes, result, 0 };
	struct iovec part = { &w, sizeof(w) };
	int r = conn_write(conn, &part, 1);

	return result ? welcome_error(result) : r;
}

/* welcome a relay, or refuse it: the arena's descriptor travels with the welcome */
static int answer_relay(struct conn *conn, uint64_t version, uint64_t arena_bytes, uint32_t result,
			int memory)
{
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, version, arena_bytes, 0, 1 };

	return result ? answer_hello(conn, version, arena_bytes, result) :
			memory_send(conn->fd, &w, sizeof(w), memory);
}

static int shared_arena(struct stream_port *s, struct conn *conn, uint64_t version,
			uint64_t arena_bytes, int begun, const struct kvgpu_remote_hello *hello,
			kvgpu_remote_admit admit, void *ctx)
{
	int r, memory = memory_of(begun, arena_bytes);

	if (memory < 0)
		return memory;
	s->p.has_relay = true;
	s->p.arena = memory_map(memory, arena_bytes, NULL);
	r = s->p.arena ? answer_relay(conn, version, arena_bytes,
				      welcome_result(hello, version, admit, ctx), memory) :
			 -ENOMEM;
	close(memory);
	return r;
}

int stream_welcome(struct conn *conn, uint64_t version, uint64_t arena_bytes, int begun,
		   const struct kvgpu_remote_hello *hello, kvgpu_remote_admit admit, void *ctx,
		   struct kvgpu_remote_port **out)
{
	struct stream_port *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (s && hello->magic == KVGPU_REMOTE_MAGIC_RELAY)
		r = shared_arena(s, conn, version, arena_bytes, begun, hello, admit, ctx);
	else if (s)
		s->p.arena = arena_map(arena_bytes, MAP_PRIVATE, arena_place(false));
	if (s && s->p.arena && !s->p.has_relay)
		r = answer_hello(conn, version, arena_bytes,
				 welcome_result(hello, version, admit, ctx));
	if (r) {
		if (s)
			arena_unmap(s->p.arena, arena_bytes);
		free(s);
		return r;
	}
	s->conn = *conn;
	s->p.carrier = &stream_carrier;
	s->p.arena_bytes = arena_bytes;
	s->last = &s->first;
	fair_lock_init(&s->output);
	pthread_mutex_init(&s->input, NULL);
	pthread_mutex_init(&s->acks, NULL);
	pthread_cond_init(&s->change, NULL);
	*out = &s->p;
	return 0;
}
