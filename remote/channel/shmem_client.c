// SPDX-License-Identifier: MIT
/*
 * The client's end of a shmem region. A thread that asks sleeps at a completion slot of its own.
 * One thread reads the ring `notifications`, the server's notifications and long answers; an answer
 * says how many frames of that ring came before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "shmem.h"
#include "signals.h"

struct asking {
	struct kvgpu_completion completion;
	struct shmem_doorbell doorbell;
	/* of an answer that fits into the completion slot */
	uint64_t payload[KVGPU_COMPLETION_LONGEST / 8];
};

struct shmem_channel {
	struct kvgpu_remote_channel c;
	struct shmem a;
	/* under the caller's lock for kvgpu_remote_send() */
	struct kvgpu_ring_producer frames;
	struct kvgpu_ring_producer acks;
	pthread_mutex_t acks_lock; /* protects .acks; never held with .lock */
	struct kvgpu_ring_consumer notifications; /* the reader's alone */
	struct shmem_end frames_end, acks_end, notifications_end;
	pthread_t reader;
	pthread_mutex_t lock; /* protects .handled, for threads that wait */
	pthread_cond_t change;
	/* atomic: frames of the ring `notifications` that were carried out */
	uint64_t handled;
	uint64_t in[(SHMEM_NOTIFICATION_LONGEST + 8) / 8]; /* the reader's alone */
	struct asking asking[KVGPU_REMOTE_COMPLETIONS];
};

static struct shmem_channel *shmem_channel_of(struct kvgpu_remote_channel *c)
{
	return (struct shmem_channel *)c;
}

/* ------------------------------------------------------------------ sending */

static int send_ack(struct shmem_channel *s, const struct iovec *parts, unsigned int n)
{
	int r;

	pthread_mutex_lock(&s->acks_lock);
	r = shmem_put(&s->a, &s->acks, KVGPU_REMOTE_OP_ACK, 0, parts, n);
	pthread_mutex_unlock(&s->acks_lock);
	return r;
}

/* A frame's number does not travel: both sides count the frames. */
static int send_frame(struct kvgpu_remote_channel *c, const struct kvgpu_remote_head *h,
		      const struct iovec *parts, unsigned int n)
{
	struct shmem_channel *s = shmem_channel_of(c);

	if (h->op == KVGPU_REMOTE_OP_ACK)
		return send_ack(s, parts, n);
	return shmem_put(&s->a, &s->frames, h->op, h->completion, parts, n);
}

static void expect_frame(struct kvgpu_remote_channel *c)
{
	kvgpu_ring_expect(&shmem_channel_of(c)->frames);
}

static int push_piece(struct kvgpu_remote_channel *c, uint64_t at, const void *from, uint64_t bytes)
{
	return 0;
}

/* ------------------------------------------------------------------ what the server tells */

static int take_notification(struct shmem_channel *s, const struct kvgpu_frame *f)
{
	struct kvgpu_remote_notification h;

	if (f->len < sizeof(h))
		return -EPROTO;
	memcpy(&h, s->in, sizeof(h));
	s->c.notified(s->c.ctx, &h, (uint8_t *)s->in + sizeof(h), f->len - sizeof(h));
	return 0;
}

static int take_long_answer(struct shmem_channel *s, const struct kvgpu_frame *f)
{
	struct completion *b = completion_of(&s->c, f->flags);
	uint64_t seq;

	if (!b || f->len < sizeof(seq) || f->len - sizeof(seq) > KVGPU_REMOTE_PAYLOAD_MAX)
		return -EPROTO;
	memcpy(&seq, s->in, sizeof(seq));
	memcpy(b->payload, s->in + 1, f->len - sizeof(seq));
	b->answer = (struct kvgpu_remote_answer){ .seq = seq, .bytes = f->len - sizeof(seq) };
	completion_deliver(b);
	return 0;
}

static void *read_notifications(void *arg)
{
	struct shmem_channel *s = arg;
	struct kvgpu_frame f;
	int r;

	while ((r = shmem_get(&s->a, &s->notifications, KVGPU_FOREVER, &f, s->in, sizeof(s->in))) ==
	       1) {
		r = f.op == NOTIFICATION_SHORT	? take_notification(s, &f) :
		    f.op == NOTIFICATION_ANSWER ? take_long_answer(s, &f) :
						  -EPROTO;
		if (r)
			break;
		pthread_mutex_lock(&s->lock);
		__atomic_add_fetch(&s->handled, 1, __ATOMIC_SEQ_CST);
		pthread_cond_broadcast(&s->change);
		pthread_mutex_unlock(&s->lock);
	}
	shmem_lose(&s->a);
	return NULL;
}

/* called by the watcher */
static void channel_is_lost(void *ctx)
{
	struct shmem_channel *s = ctx;

	channel_lost(&s->c);
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->change);
	pthread_mutex_unlock(&s->lock);
}

/* There can't be more frames than the ring has slots, and one that is carried out now. */
static bool await_notifications(struct shmem_channel *s, uint64_t notifications)
{
	uint64_t handled = __atomic_load_n(&s->handled, __ATOMIC_SEQ_CST);

	if (handled >= notifications)
		return true;
	if (notifications - handled > SHMEM_NOTIFICATIONS + 1)
		return false;
	pthread_mutex_lock(&s->lock);
	while (s->handled < notifications && !kvgpu_remote_is_gone(&s->c))
		pthread_cond_wait(&s->change, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return __atomic_load_n(&s->handled, __ATOMIC_SEQ_CST) >= notifications;
}

/* ------------------------------------------------------------------ answers */

static int take_answer(struct shmem_channel *s, struct asking *w, uint64_t seq,
		       struct kvgpu_completion_head *head)
{
	enum kvgpu_ring_status status;

	while ((status = kvgpu_completion_take(&w->completion, seq, head, w->payload,
					       sizeof(w->payload))) == KVGPU_RING_EMPTY)
		if (kvgpu_completion_wait(&w->completion, KVGPU_FOREVER) == KVGPU_WAIT_GONE)
			return -ECONNRESET;
	return status ? shmem_lose(&s->a) : 0;
}

static int await_answer(struct kvgpu_remote_channel *c, unsigned int completion, uint64_t seq,
			struct kvgpu_remote_answer *a, const void **payload)
{
	struct shmem_channel *s = shmem_channel_of(c);
	struct asking *w = &s->asking[completion - 1];
	const struct shmem_answer *begin = (const struct shmem_answer *)w->payload;
	struct completion *b = &c->completions[completion - 1];
	struct kvgpu_completion_head head;
	int r = take_answer(s, w, seq, &head);

	if (r)
		return r;
	if (head.len < sizeof(*begin))
		return shmem_lose(&s->a);
	if (!await_notifications(s, begin->notifications))
		return shmem_lose(&s->a);
	*a = (struct kvgpu_remote_answer){ .seq = seq,
					   .result = head.result,
					   .bytes = head.len - sizeof(*begin) };
	*payload = begin + 1;
	if (begin->bytes == a->bytes)
		return 0;
	if (__atomic_load_n(&b->state, __ATOMIC_ACQUIRE) != COMPLETION_FULL ||
	    b->answer.seq != seq || b->answer.bytes != begin->bytes)
		return shmem_lose(&s->a);
	a->bytes = b->answer.bytes;
	*payload = b->payload;
	return 0;
}

/* ------------------------------------------------------------------ life */

static void free_channel(struct shmem_channel *s)
{
	shmem_fini(&s->a);
	completions_free(&s->c);
	pthread_mutex_destroy(&s->acks_lock);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->change);
	free(s);
}

/* the lock of the file would keep other clients out as long as the child lives */
static void close_inherited(struct kvgpu_remote_channel *c)
{
	struct shmem *a = &shmem_channel_of(c)->a;

	if (a->life >= 0)
		close(a->life);
	if (a->file >= 0)
		close(a->file);
}

static void close_channel(struct kvgpu_remote_channel *c)
{
	struct shmem_channel *s = shmem_channel_of(c);

	shmem_lose(&s->a);
	pthread_join(s->reader, NULL);
	free_channel(s);
}

static int lend_file(struct kvgpu_remote_channel *c, int file)
{
	struct shmem *a = &shmem_channel_of(c)->a;

	return a->wake == WAKE_FUTEX && a->life >= 0 ? memory_send(a->life, "", 1, file) : -ENOTSUP;
}

static const struct channel_carrier shmem_carrier = { .send = send_frame,
						      .push = push_piece,
						      .expect = expect_frame,
						      .await = await_answer,
						      .lend = lend_file,
						      .forked = close_inherited,
						      .close = close_channel };

static bool attach_rings(struct shmem_channel *s)
{
	struct shmem_layout *l = s->a.base;
	bool fine = true;
	unsigned int i;

	shmem_ring(&s->frames_end, &s->a, l->frames, SHMEM_FRAMES, KVGPU_REMOTE_PAYLOAD_MAX, true);
	shmem_ring(&s->acks_end, &s->a, l->acks, SHMEM_ACKS, sizeof(struct kvgpu_remote_ack), true);
	shmem_ring(&s->notifications_end, &s->a, l->notifications, SHMEM_NOTIFICATIONS,
		   SHMEM_NOTIFICATION_LONGEST, false);
	fine = !kvgpu_ring_attach_producer(&s->frames, &s->frames_end.config) &&
	       !kvgpu_ring_attach_producer(&s->acks, &s->acks_end.config) &&
	       !kvgpu_ring_attach_consumer(&s->notifications, &s->notifications_end.config);
	for (i = 0; i < KVGPU_REMOTE_COMPLETIONS && fine; i++)
		fine = shmem_completion(&s->asking[i].completion, &s->asking[i].doorbell, &s->a, i);
	return fine;
}

int shmem_channel(const struct shmem *a, kvgpu_remote_notified notified, void *ctx,
		  struct kvgpu_remote_channel **out)
{
	struct shmem_channel *s = calloc(1, sizeof(*s));
	struct shmem taken = *a;
	int r;

	if (!s) {
		shmem_fini(&taken);
		return -ENOMEM;
	}
	s->a = taken;
	madvise(s->a.base, s->a.bytes, MADV_DONTDUMP);
	s->a.lost = channel_is_lost;
	s->a.ctx = s;
	s->c.carrier = &shmem_carrier;
	s->c.notified = notified;
	s->c.ctx = ctx;
	s->c.arena = (uint8_t *)s->a.base + SHMEM_ARENA;
	s->c.arena_bytes = s->a.arena_bytes;
	s->c.arena_most = s->a.arena_most;
	s->c.bound = s->a.bound;
	s->c.shared = true;
	pthread_mutex_init(&s->acks_lock, NULL);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->change, NULL);
	*out = &s->c; /* before there is a thread that calls .notified, which may use *out */
	r = attach_rings(s) ? shmem_watch(&s->a) : -EINVAL;
	if (!r) {
		r = signals_thread(&s->reader, read_notifications, s);
		if (r)
			shmem_lose(&s->a);
	}
	if (r) {
		*out = NULL;
		free_channel(s);
	}
	return r;
}
