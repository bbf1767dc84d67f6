// SPDX-License-Identifier: MIT
/*
 * The server's end of a shmem region. Acks have a ring of their own. Of the library's threads that
 * wait for acks, one reads that ring for all.
 *
 * One thread, the serving thread, calls next_frame() and reply_frame(). Any thread calls
 * give_piece(), notify_client() and await_end(), and any but the serving thread call_client().
 * close_port() comes last, when no thread but the watcher is in here. The watcher calls
 * port_is_lost(). `output` and `lock` are never held together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shmem.h"

struct answering {
	struct kvgpu_completion completion;
	struct shmem_doorbell doorbell;
};

struct acked {
	struct acked *next;
	uint64_t id;
	bool done;
};

struct shmem_port {
	struct kvgpu_remote_port p;
	struct shmem a;
	struct kvgpu_ring_consumer frames; /* the serving thread's alone, as all up to `output` */
	uint64_t count; /* frames so far */
	uint64_t payload[KVGPU_REMOTE_PAYLOAD_MAX / 8];
	struct answering answering[KVGPU_REMOTE_COMPLETIONS];
	uint64_t answer[KVGPU_COMPLETION_LONGEST / 8];
	pthread_mutex_t output; /* of the ring `notifications` */
	struct kvgpu_ring_producer notifications;
	/* atomic: frames put into the ring `notifications` */
	uint64_t nr_notifications;
	pthread_mutex_t lock; /* of .waiting and .one_reads */
	pthread_cond_t change;
	struct acked *waiting;
	bool one_reads;
	struct kvgpu_ring_consumer acks; /* of the thread that has set .one_reads */
	struct shmem_end frames_end, notifications_end, acks_end;
};

static struct shmem_port *shmem_port_of(struct kvgpu_remote_port *p)
{
	return (struct shmem_port *)p;
}

static int next_frame(struct kvgpu_remote_port *p, int64_t timeout_us, struct kvgpu_remote_head *h,
		      const void **payload)
{
	struct shmem_port *s = shmem_port_of(p);
	struct kvgpu_frame f;
	int r = shmem_get(&s->a, &s->frames,
			  timeout_us < 0 ? KVGPU_FOREVER : (uint64_t)timeout_us * 1000, &f,
			  s->payload, sizeof(s->payload));

	if (r != 1)
		return r;
	if (f.len % 8 || f.flags > KVGPU_REMOTE_COMPLETIONS)
		return shmem_lose(&s->a);
	if (f.flags)
		kvgpu_completion_expect(&s->answering[f.flags - 1].completion);
	*h = (struct kvgpu_remote_head){
		.seq = ++s->count, .op = f.op, .completion = f.flags, .bytes = f.len
	};
	*payload = s->payload;
	return 1;
}

/* ------------------------------------------------------------------ telling */

static int put_notification(struct shmem_port *s, uint16_t op, uint16_t completion,
			    const void *head, size_t head_bytes, const void *bytes, size_t n)
{
	struct iovec parts[] = { { (void *)(uintptr_t)head, head_bytes },
				 { (void *)(uintptr_t)bytes, n } };
	int r;

	pthread_mutex_lock(&s->output);
	r = shmem_put(&s->a, &s->notifications, op, completion, parts, n ? 2 : 1);
	if (!r)
		__atomic_add_fetch(&s->nr_notifications, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&s->output);
	return r;
}

static int notify_client(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
			 const void *bytes, size_t n)
{
	return n > KVGPU_REMOTE_PAYLOAD_MAX ? -EINVAL :
					      put_notification(shmem_port_of(p), NOTIFICATION_SHORT,
							       0, h, sizeof(*h), bytes, n);
}

/* a payload that the completion slot has no room for goes into the ring `notifications` */
static int reply_frame(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *to,
		       uint32_t result, const void *payload, size_t n)
{
	struct shmem_port *s = shmem_port_of(p);
	struct shmem_answer *begin = (struct shmem_answer *)s->answer;
	struct answering *w = &s->answering[to->completion - 1];
	bool is_long = n > sizeof(s->answer) - sizeof(*begin);
	int r;

	if (is_long) {
		r = put_notification(s, NOTIFICATION_ANSWER, to->completion, &to->seq,
				     sizeof(to->seq), payload, n);
		if (r)
			return r;
	} else if (n) {
		memcpy(begin + 1, payload, n);
	}
	begin->notifications = __atomic_load_n(&s->nr_notifications, __ATOMIC_SEQ_CST);
	begin->bytes = n;
	/* may fail if a client asks twice by one completion slot, which is against the rules */
	if (kvgpu_completion_answer(&w->completion, to->seq, result, s->answer,
				    sizeof(*begin) + (is_long ? 0 : n)))
		return shmem_lose(&s->a);
	return shmem_is_gone(&s->a) ? -ECONNRESET : 0;
}

static int give_piece(struct kvgpu_remote_port *p, uint64_t at, uint64_t bytes)
{
	return shmem_is_gone(&shmem_port_of(p)->a) ? -ECONNRESET : 0;
}

/* ------------------------------------------------------------------ acks */

/* call with the lock, which is released while no ack comes */
static void read_acks(struct shmem_port *s)
{
	struct kvgpu_remote_ack ack;
	struct kvgpu_frame f;
	struct acked *a;
	int r;

	s->one_reads = true;
	pthread_mutex_unlock(&s->lock);
	r = shmem_get(&s->a, &s->acks, KVGPU_FOREVER, &f, &ack, sizeof(ack));
	if (r == 1 && f.len != sizeof(ack))
		r = shmem_lose(&s->a);
	pthread_mutex_lock(&s->lock);
	s->one_reads = false;
	for (a = s->waiting; a && r == 1; a = a->next)
		if (a->id == ack.id)
			a->done = true;
	pthread_cond_broadcast(&s->change);
}

/* wait for the ack; false: the client is gone */
static bool await_ack(struct shmem_port *s, const struct acked *a)
{
	bool done;

	pthread_mutex_lock(&s->lock);
	while (!a->done && !shmem_is_gone(&s->a)) {
		if (s->one_reads)
			pthread_cond_wait(&s->change, &s->lock);
		else
			read_acks(s);
	}
	done = a->done;
	pthread_mutex_unlock(&s->lock);
	return done;
}

/* into the list before the client hears of the call: the ack may come at once */
static int call_client(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
		       uint64_t invocation)
{
	struct shmem_port *s = shmem_port_of(p);
	struct acked a = { .id = invocation }, **at;
	bool done;

	pthread_mutex_lock(&s->lock);
	a.next = s->waiting;
	s->waiting = &a;
	pthread_mutex_unlock(&s->lock);
	done = !notify_client(p, h, &invocation, sizeof(invocation)) && await_ack(s, &a);
	pthread_mutex_lock(&s->lock);
	for (at = &s->waiting; *at != &a; at = &(*at)->next)
		;
	*at = a.next;
	pthread_mutex_unlock(&s->lock);
	return done ? 0 : -ECONNRESET;
}

/* ------------------------------------------------------------------ life */

static void await_end(struct kvgpu_remote_port *p)
{
	shmem_await_end(&shmem_port_of(p)->a);
}

static void free_port(struct shmem_port *s)
{
	shmem_fini(&s->a);
	pthread_mutex_destroy(&s->output);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->change);
	free(s);
}

static void close_port(struct kvgpu_remote_port *p)
{
	shmem_lose(&shmem_port_of(p)->a);
	free_port(shmem_port_of(p));
}

static int lent_file(struct kvgpu_remote_port *p)
{
	return shmem_lent(&shmem_port_of(p)->a);
}

static const struct port_carrier shmem_carrier = { .next = next_frame,
						   .reply = reply_frame,
						   .give = give_piece,
						   .notify = notify_client,
						   .call = call_client,
						   .lent = lent_file,
						   .await_end = await_end,
						   .close = close_port };

/* called by the watcher */
static void port_is_lost(void *ctx)
{
	struct shmem_port *s = ctx;

	__atomic_store_n(&s->p.gone, true, __ATOMIC_RELEASE);
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->change);
	pthread_mutex_unlock(&s->lock);
}

static bool attach_rings(struct shmem_port *s)
{
	struct shmem_layout *l = s->a.base;
	bool fine;
	unsigned int i;

	shmem_ring(&s->frames_end, &s->a, l->frames, SHMEM_FRAMES, KVGPU_REMOTE_PAYLOAD_MAX, false);
	shmem_ring(&s->acks_end, &s->a, l->acks, SHMEM_ACKS, sizeof(struct kvgpu_remote_ack),
		   false);
	shmem_ring(&s->notifications_end, &s->a, l->notifications, SHMEM_NOTIFICATIONS,
		   SHMEM_NOTIFICATION_LONGEST, true);
	fine = !kvgpu_ring_attach_consumer(&s->frames, &s->frames_end.config) &&
	       !kvgpu_ring_attach_consumer(&s->acks, &s->acks_end.config) &&
	       !kvgpu_ring_attach_producer(&s->notifications, &s->notifications_end.config);
	for (i = 0; i < KVGPU_REMOTE_COMPLETIONS && fine; i++)
		fine = shmem_completion(&s->answering[i].completion, &s->answering[i].doorbell,
					&s->a, i);
	return fine;
}

int shmem_port(const struct shmem *a, struct kvgpu_remote_port **out)
{
	struct shmem_port *s = calloc(1, sizeof(*s));
	struct shmem taken = *a;
	int r;

	if (!s) {
		shmem_fini(&taken);
		return -ENOMEM;
	}
	s->a = taken;
	s->a.lost = port_is_lost;
	s->a.ctx = s;
	s->p.carrier = &shmem_carrier;
	s->p.arena = (uint8_t *)s->a.base + SHMEM_ARENA;
	s->p.arena_bytes = s->a.arena_bytes;
	s->p.arena_most = s->a.arena_most;
	s->p.shared = true;
	pthread_mutex_init(&s->output, NULL);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->change, NULL);
	r = attach_rings(s) ? shmem_watch(&s->a) : -EINVAL;
	if (r) {
		free_port(s);
		return r;
	}
	*out = &s->p;
	return 0;
}
