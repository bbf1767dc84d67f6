// SPDX-License-Identifier: MIT
/*
 * Bounce buffers: the program's memory at one end of a graph's copy, where the server does not see
 * that memory. When the graph comes to the copy, the server asks the client to fill the piece, or
 * after the copy to drain it, and goes on when the client acknowledges. A thread of its own does
 * that: the thread that calls functions of the program may be waiting in one.
 */
#include <stdlib.h>

#include <remote/channel/signals.h>

#include "box.h"

struct bounce {
	struct end end;
	struct part whole;
	uint64_t at, bytes;
	bool used, out;
	struct peer *peer;
};

struct due {
	struct due *next;
	struct peer *peer;
	uint32_t kind;
	uint64_t id, invocation;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static struct bounce *bounces;
static uint64_t nr_bounces;
static struct due *first, **last = &first;
static unsigned int nr_due;
static bool runs;

static void *main_loop(void *arg);

/* call with the lock */
static bool start_thread(void)
{
	pthread_t thread;

	if (runs)
		return true;
	runs = !signals_thread(&thread, main_loop, NULL);
	if (runs)
		pthread_detach(thread);
	return runs;
}

/* call with the lock; 0 is never a bounce buffer's number */
static bool more_bounces(void)
{
	uint64_t n = nr_bounces ? 2 * nr_bounces : 64;
	struct bounce *grown = realloc(bounces, n * sizeof(*grown));

	if (!grown)
		return false;
	memset(grown + nr_bounces, 0, (n - nr_bounces) * sizeof(*grown));
	bounces = grown;
	nr_bounces = n;
	return true;
}

uint64_t bounce_new(struct peer *p, const struct end *e, const uint64_t *size, bool out,
		    uint64_t *at)
{
	const struct part whole = { { 0 }, { size[0], size[1], size[2] } };
	uint64_t bytes, i = 1;

	if (__builtin_mul_overflow(size[0], size[1], &bytes) ||
	    __builtin_mul_overflow(bytes, size[2], &bytes))
		return 0;
	*at = arena_get(p, bytes);
	if (*at == KVGPU_REMOTE_NOWHERE)
		return 0;
	pthread_mutex_lock(&lock);
	while (i < nr_bounces && bounces[i].used)
		i++;
	if (start_thread() && (i < nr_bounces || more_bounces()))
		bounces[i] = (struct bounce){ *e, whole, *at, bytes, true, out, p };
	else
		i = 0;
	pthread_mutex_unlock(&lock);
	if (!i)
		arena_put(p, *at);
	return i;
}

static bool find_bounce(uint64_t id, struct bounce *f)
{
	bool there;

	pthread_mutex_lock(&lock);
	there = id && id < nr_bounces && bounces[id].used;
	if (there)
		*f = bounces[id];
	pthread_mutex_unlock(&lock);
	return there;
}

bool bounce_get(uint64_t id, const struct peer *p, const uint64_t *size, bool out, struct end *e)
{
	struct bounce f;

	if (!find_bounce(id, &f) || f.peer != p || f.out != out ||
	    memcmp(f.whole.size, size, sizeof(f.whole.size)))
		return false;
	*e = f.end;
	return true;
}

/*
 * The server's NOTIFY_FREE and the program's own call may name the same bounce buffer: the first of
 * them ends it. The second may end a new bounce buffer with that number. @from: a server, which
 * ends only its own bounce buffers; NULL: the program.
 */
static void end_bounce(uint64_t id, const struct peer *from)
{
	struct bounce f = { 0 };

	pthread_mutex_lock(&lock);
	if (id && id < nr_bounces && (!from || bounces[id].peer == from)) {
		f = bounces[id];
		bounces[id].used = false;
	}
	pthread_mutex_unlock(&lock);
	if (f.used)
		arena_put(f.peer, f.at);
}

void bounce_free(uint64_t id)
{
	end_bounce(id, NULL);
}

/* ------------------------------------------------------------------ crossing */

/* No frame names this piece: its bytes have to come before the ack. */
static void fill_piece(const struct bounce *f)
{
	uint64_t done, n;

	box_pack(&f->end, &f->whole, arena_at(f->peer, f->at));
	for (done = 0; done < f->bytes; done += n) {
		n = piece_least(f->bytes - done);
		kvgpu_remote_push(f->peer->channel, f->at + done, NULL, n);
	}
}

static void serve_due(const struct due *d)
{
	struct bounce f;

	if (d->kind == KVGPU_REMOTE_NOTIFY_FREE) {
		end_bounce(d->id, d->peer);
		return;
	}
	call_due();
	if (managed_any())
		managed_waited();
	/*
	 * for an unknown bounce buffer, or the wrong direction, touch no memory: only acknowledge
	 */
	if (find_bounce(d->id, &f) && f.peer == d->peer &&
	    f.out == (d->kind == KVGPU_REMOTE_NOTIFY_DRAIN)) {
		if (f.out)
			box_unpack(&f.end, &f.whole, arena_at(f.peer, f.at));
		else
			fill_piece(&f);
		if (managed_any())
			managed_function_ends();
	}
	call_acknowledge(d->peer, d->invocation);
}

static void *main_loop(void *arg)
{
	struct due *d;

	pthread_mutex_lock(&lock);
	for (;;) {
		while (!first)
			pthread_cond_wait(&change, &lock);
		d = first;
		first = d->next;
		if (!first)
			last = &first;
		nr_due--;
		pthread_mutex_unlock(&lock);
		serve_due(d);
		free(d);
		pthread_mutex_lock(&lock);
	}
	return NULL;
}

void bounce_notified(struct peer *p, const struct kvgpu_remote_notification *h, uint64_t invocation)
{
	struct due *d = malloc(sizeof(*d));

	if (!d)
		/* no memory: the graph waits for ever, or the bounce buffer stays */
		return;
	*d = (struct due){ .peer = p, .kind = h->kind, .id = h->id, .invocation = invocation };
	pthread_mutex_lock(&lock);
	if (nr_due < DUE_MAX) {
		*last = d;
		last = &d->next;
		d = NULL;
		nr_due++;
		pthread_cond_signal(&change);
	}
	pthread_mutex_unlock(&lock);
	free(d);
}
