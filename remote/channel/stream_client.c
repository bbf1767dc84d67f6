// SPDX-License-Identifier: MIT
/*
 * The client's end of a stream. Each sender writes by itself under a lock; one thread reads, and
 * delivers what comes.
 *
 * To save system calls, a frame without an answer (but for an ack) is kept for a moment when
 * another frame has just gone out, and goes out with a later one. If none comes, the flusher, a
 * second thread, sends what is kept.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <remote/ring/clock.h>
#include <remote/wire/cursor.h>

#include "fair_lock.h"
#include "memory.h"
#include "signals.h"
#include "stream.h"
#include "tls.h"

enum {
	MAX_PARTS = 16,
	READ_AHEAD = 64 << 10,
	KEPT_MAX = 32 << 10,
	MOMENT_NS = 50000,
	IDLE_TURNS = 20
};

struct stream_channel {
	struct kvgpu_remote_channel c;
	struct conn conn;
	struct fair_lock lock; /* protects writing, and the three members below */
	uint64_t written_ns; /* when .conn was written last */
	size_t kept; /* bytes in .keep */
	uint8_t keep[KEPT_MAX];
	/* atomic, a futex: 1: the flusher looks by itself; 0: it sleeps */
	uint32_t awake;
	bool ended; /* atomic: close_channel() sets it, and the flusher ends */
	pthread_t reader, flusher;
	size_t have, used; /* of .ahead; the reader's alone */
	uint8_t ahead[READ_AHEAD];
};

static struct stream_channel *stream_channel_of(struct kvgpu_remote_channel *c)
{
	return (struct stream_channel *)c;
}

/* Call with the lock. Writes what is kept first: the caller leaves parts[0] free for that. */
static int write_all(struct stream_channel *s, struct iovec *parts, unsigned int n)
{
	int r;

	parts[0] = (struct iovec){ s->keep, s->kept };
	r = conn_write(&s->conn, parts, n);
	s->kept = 0;
	s->written_ns = clock_ns();
	if (r)
		/* half a frame may have gone out; the reader tells all threads that wait */
		shutdown(s->conn.fd, SHUT_RDWR);
	return r;
}

/* @piece: frames and acks of other threads, which wait, go out before it */
static int write_parts(struct stream_channel *s, struct iovec *parts, unsigned int n, bool piece)
{
	int r;

	if (piece)
		fair_lock_bulk(&s->lock);
	else
		fair_lock_take(&s->lock);
	r = write_all(s, parts, n);
	fair_lock_release(&s->lock);
	return r;
}

static void wake_flusher(struct stream_channel *s)
{
	if (!__atomic_exchange_n(&s->awake, 1, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &s->awake, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

/* call with the lock; parts[0] is free; @bytes: of all other parts */
static int keep_or_write(struct stream_channel *s, struct iovec *parts, unsigned int n,
			 size_t bytes)
{
	unsigned int i;

	if (bytes > KEPT_MAX - s->kept || clock_ns() - s->written_ns > MOMENT_NS)
		return write_all(s, parts, n);
	for (i = 1; i < n; i++) {
		if (parts[i].iov_len)
			memcpy(s->keep + s->kept, parts[i].iov_base, parts[i].iov_len);
		s->kept += parts[i].iov_len;
	}
	wake_flusher(s);
	return 0;
}

static int send_frame(struct kvgpu_remote_channel *c, const struct kvgpu_remote_head *h,
		      const struct iovec *parts, unsigned int n)
{
	struct iovec all[MAX_PARTS] = { { 0 }, { (void *)(uintptr_t)h, sizeof(*h) } };
	struct stream_channel *s = stream_channel_of(c);
	int r;

	if (n + 2 > MAX_PARTS)
		return -EINVAL;
	memcpy(all + 2, parts, n * sizeof(*parts));
	if (h->completion || h->op == KVGPU_REMOTE_OP_ACK)
		return write_parts(s, all, n + 2, false);
	fair_lock_take(&s->lock);
	r = keep_or_write(s, all, n + 2, sizeof(*h) + h->bytes);
	fair_lock_release(&s->lock);
	return r;
}

static bool is_empty(struct stream_channel *s)
{
	bool empty;

	fair_lock_take(&s->lock);
	empty = !s->kept;
	fair_lock_release(&s->lock);
	return empty;
}

/*
 * A thread that keeps a frame after the look finds .awake at 0, and wakes the flusher. So does the
 * thread that ends the channel: it stores .ended, then changes .awake. The flusher stores .awake,
 * then loads .ended. In the one order of SEQ_CST at least one of the two sees the other's store.
 */
static void sleep_while_empty(struct stream_channel *s)
{
	__atomic_store_n(&s->awake, 0, __ATOMIC_SEQ_CST);
	if (is_empty(s) && !__atomic_load_n(&s->ended, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &s->awake, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
	__atomic_store_n(&s->awake, 1, __ATOMIC_SEQ_CST);
}

/* sleeps after IDLE_TURNS looks in a row at which nothing was kept */
static void *flush_loop(void *arg)
{
	struct timespec moment = { 0, MOMENT_NS };
	struct stream_channel *s = arg;
	struct iovec none[1];
	unsigned int idle = 0;

	while (!__atomic_load_n(&s->ended, __ATOMIC_ACQUIRE)) {
		if (idle >= IDLE_TURNS) {
			sleep_while_empty(s);
			idle = 0;
		}
		nanosleep(&moment, NULL);
		fair_lock_take(&s->lock);
		idle = s->kept ? 0 : idle + 1;
		if (s->kept)
			write_all(s, none, 1);
		fair_lock_release(&s->lock);
	}
	return NULL;
}

/* keeps the head and the piece: the frame or ack that follows wakes the flusher, or sends all */
static int push_shared(struct stream_channel *s, struct iovec *parts)
{
	unsigned int i;
	int r = 0;

	fair_lock_take(&s->lock);
	if (parts[1].iov_len + parts[2].iov_len > KEPT_MAX - s->kept)
		r = write_all(s, parts, 3);
	else
		for (i = 1; i < 3; i++) {
			memcpy(s->keep + s->kept, parts[i].iov_base, parts[i].iov_len);
			s->kept += parts[i].iov_len;
		}
	fair_lock_release(&s->lock);
	return r;
}

static int push_piece(struct kvgpu_remote_channel *c, uint64_t at, const void *from, uint64_t bytes)
{
	struct kvgpu_remote_head h = { .op = KVGPU_REMOTE_OP_PUSH,
				       .bytes = sizeof(struct kvgpu_remote_piece) };
	struct kvgpu_remote_piece piece = { at, bytes };
	struct iovec all[] = { { 0 },
			       { &h, sizeof(h) },
			       { &piece, sizeof(piece) },
			       { from ? (void *)(uintptr_t)from : (uint8_t *)c->arena + at,
				 bytes } };

	return c->has_relay ? push_shared(stream_channel_of(c), all) :
			      write_parts(stream_channel_of(c), all, 4, true);
}

static int fetch_piece(struct kvgpu_remote_channel *c, const struct kvgpu_remote_pull *pull)
{
	struct kvgpu_remote_head h = { .op = KVGPU_REMOTE_OP_PULL, .bytes = sizeof(*pull) };
	struct iovec all[] = { { 0 },
			       { &h, sizeof(h) },
			       { (void *)(uintptr_t)pull, sizeof(*pull) } };

	return push_shared(stream_channel_of(c), all);
}

/* ------------------------------------------------------------------ the reader */

static int take_bytes(struct stream_channel *s, void *to, size_t n)
{
	uint8_t *at = to;
	size_t some;
	ssize_t got;

	while (n) {
		some = s->have - s->used;
		if (some > n)
			some = n;
		memcpy(at, s->ahead + s->used, some);
		s->used += some;
		at += some;
		n -= some;
		if (!n)
			break;
		if (n >= READ_AHEAD)
			return conn_read(&s->conn, at, n);
		got = conn_some(&s->conn, s->ahead, sizeof(s->ahead), true);
		if (got < 0)
			return got;
		s->have = got;
		s->used = 0;
	}
	return 0;
}

static int take_answer(struct stream_channel *s, const struct down *d)
{
	struct completion *b = completion_of(&s->c, d->completion);
	int r;

	if (!b || d->bytes > KVGPU_REMOTE_PAYLOAD_MAX)
		return -EPROTO;
	r = take_bytes(s, b->payload, d->bytes);
	if (r)
		return r;
	b->answer = (struct kvgpu_remote_answer){ .seq = d->a, .result = d->b, .bytes = d->bytes };
	completion_deliver(b);
	return 0;
}

static int take_notification(struct stream_channel *s, const struct down *d)
{
	struct kvgpu_remote_notification h = { .kind = (uint32_t)d->b,
					       .value = d->b >> 32,
					       .id = d->a };
	uint8_t *bytes;
	int r;

	if (d->bytes > KVGPU_REMOTE_PAYLOAD_MAX)
		return -EPROTO;
	bytes = malloc(d->bytes + 1);
	if (!bytes)
		return -ENOMEM;
	r = take_bytes(s, bytes, d->bytes);
	if (!r)
		s->c.notified(s->c.ctx, &h, bytes, d->bytes);
	free(bytes);
	return r;
}

static int take_piece(struct stream_channel *s, const struct down *d)
{
	struct kvgpu_remote_direct_read *direct;
	int r;

	if (s->c.has_relay)
		return 0;
	direct = direct_read_begin(&s->c, d->a, d->b);
	r = take_bytes(s, direct ? direct->to : (uint8_t *)s->c.arena + d->a, d->b);
	if (direct)
		direct_read_end(direct, !r);
	return r;
}

static void *read_all(void *arg)
{
	struct stream_channel *s = arg;
	struct down d;
	int r;

	do {
		r = take_bytes(s, &d, sizeof(d));
		if (r)
			break;
		switch (d.kind) {
		case DOWN_ANSWER:
			r = take_answer(s, &d);
			break;
		case DOWN_PIECE:
			r = kvgpu_remote_in_arena(d.a, d.b, s->c.arena_bytes) ? take_piece(s, &d) :
										-EPROTO;
			break;
		case DOWN_NOTIFICATION:
			r = take_notification(s, &d);
			break;
		default:
			r = -EPROTO;
		}
	} while (!r);
	shutdown(s->conn.fd, SHUT_RDWR); /* also ends a sender that waits for room */
	channel_lost(&s->c);
	return NULL;
}

/* ------------------------------------------------------------------ life */

static void free_channel(struct stream_channel *s)
{
	conn_close(&s->conn);
	arena_unmap(s->c.arena, s->c.arena_bytes);
	completions_free(&s->c);
	free(s);
}

static void close_inherited(struct kvgpu_remote_channel *c)
{
	close(stream_channel_of(c)->conn.fd);
}

static void close_channel(struct kvgpu_remote_channel *c)
{
	struct stream_channel *s = stream_channel_of(c);

	shutdown(s->conn.fd, SHUT_RDWR);
	__atomic_store_n(&s->ended, true, __ATOMIC_SEQ_CST);
	wake_flusher(s);
	pthread_join(s->flusher, NULL);
	pthread_join(s->reader, NULL);
	free_channel(s);
}

static const struct channel_carrier stream_carrier = { .send = send_frame,
						       .push = push_piece,
						       .fetch = fetch_piece,
						       .await = completion_await,
						       .forked = close_inherited,
						       .close = close_channel };

static int hear_relay(struct conn *conn, uint64_t bytes, int memory,
		      struct kvgpu_remote_relayed *relay, const char **why)
{
	int r = memory_check(memory, bytes, why);

	if (!r)
		r = conn_read(conn, relay, sizeof(*relay));
	/* copies that are not pipelined have pieces as large as the arena allows */
	if (!r && (relay->piece < KVGPU_REMOTE_RELAYED_MIN || relay->piece > bytes / 8 ||
		   (relay->piece > KVGPU_REMOTE_RELAYED_MAX &&
		    relay->overhead != KVGPU_REMOTE_OVERHEAD_WHOLE))) {
		*why = "the relay's pieces have a size that can't be";
		r = -EPROTO;
	}
	return r;
}

/* *memory: the arena, or -1 */
static int shake_hands(struct conn *conn, uint64_t version, struct kvgpu_remote_welcome *w,
		       struct kvgpu_remote_relayed *relay, int *memory, const char **why)
{
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC, version };
	struct iovec part = { &hello, sizeof(hello) };
	int r = conn_write(conn, &part, 1);

	if (!r)
		r = conn->tls ? conn_read(conn, w, sizeof(*w)) :
				memory_read(conn, w, sizeof(*w), memory);
	*why = r == -ETIMEDOUT ? "the server accepts connections, but says nothing" :
				 "the server closed the connection: its log says why";
	if (r && conn->tls && tls_complaint(conn->tls))
		*why = tls_complaint(conn->tls);
	if (!r)
		r = welcome_check(w, version, why);
	return r || !w->relayed ? r : hear_relay(conn, w->arena_bytes, *memory, relay, why);
}

static int start_threads(struct stream_channel *s)
{
	int r = signals_thread(&s->reader, read_all, s);

	if (r)
		return r;
	r = signals_thread(&s->flusher, flush_loop, s);
	if (r) {
		shutdown(s->conn.fd, SHUT_RDWR);
		pthread_join(s->reader, NULL);
	}
	return r;
}

int stream_connect(struct conn *conn, uint64_t version, kvgpu_remote_notified notified, void *ctx,
		   struct kvgpu_remote_channel **out, const char **why)
{
	struct kvgpu_remote_relayed relay = { 0 };
	struct kvgpu_remote_welcome w;
	struct stream_channel *s = NULL;
	int memory = -1, r = shake_hands(conn, version, &w, &relay, &memory, why);

	if (!r) {
		conn_patience(conn, 0);
		*why = "out of memory";
		s = calloc(1, sizeof(*s));
		r = s ? 0 : -ENOMEM;
	}
	if (r) {
		conn_close(conn);
		if (memory >= 0)
			close(memory);
		return r;
	}
	s->conn = *conn;
	fair_lock_init(&s->lock);
	s->c.carrier = &stream_carrier;
	s->c.notified = notified;
	s->c.ctx = ctx;
	s->c.arena_bytes = s->c.arena_most = w.arena_bytes;
	s->c.has_relay = w.relayed;
	s->c.relay = relay;
	/* only shared memory can be mapped a second time: kvgpu_remote_arena_at() */
	s->c.arena = w.relayed ? memory_map(memory, w.arena_bytes, NULL) :
				 arena_map(w.arena_bytes, MAP_SHARED, NULL);
	if (s->c.arena)
		madvise(s->c.arena, w.arena_bytes, MADV_DONTDUMP);
	if (memory >= 0)
		close(memory);
	*out = &s->c; /* before there is a thread that calls .notified, which may use *out */
	r = s->c.arena ? start_threads(s) : -ENOMEM;
	if (r) {
		*out = NULL;
		free_channel(s);
	}
	return r;
}
