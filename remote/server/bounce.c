// SPDX-License-Identifier: MIT
/*
 * Bounce buffers: the client's memory at one end of a graph's copy. Its bytes cross by a piece of
 * the arena when the graph has come to the copy (remote/client/bounce.c). The client's node is a
 * child graph: the copy, with a function before it that has the client fill the piece, or one
 * behind it that has the client drain it. So the library carries a bounce buffer along with the
 * node. User objects in the child graphs refer to the bounce buffer: by them the library says when
 * it is not needed any more. A library that says so too early does no harm: its functions have a
 * bounce buffer's key, not its address.
 */
#include <stdlib.h>

#include "server.h"

struct bounce {
	struct server *s;
	struct bounce *next; /* in `bounces`; under `lock` */
	uint64_t key; /* not 0, and never used again */
	struct bounce_end end;
	unsigned int refs; /* under `lock` */
	bool quiet; /* under `lock`: the client is not told of the end */
	pthread_mutex_t busy; /* held while the client fills or drains the piece */
};

/*
 * Protects what follows and the members of a bounce buffer that say so, because the library gives
 * references back in threads of its own. Call neither the library nor the channel with it held.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bounce *bounces;
static uint64_t last_key;

/*
 * a bounce buffer for the same memory and direction: an update of a graph finds such a copy
 * unchanged
 */
static struct bounce *same_bounce(struct server *s, const struct bounce_end *e)
{
	struct bounce *f;

	for (f = bounces; f; f = f->next)
		if (f->s == s && f->end.out == e->out && f->end.bytes == e->bytes &&
		    !memcmp(f->end.mine, e->mine, sizeof(e->mine)) &&
		    !memcmp(f->end.size, e->size, sizeof(e->size)))
			return f;
	return NULL;
}

struct bounce *bounce_take(struct server *s, const struct bounce_end *e)
{
	struct bounce *f;

	pthread_mutex_lock(&lock);
	f = same_bounce(s, e);
	if (f) {
		f->refs++;
	} else {
		f = calloc(1, sizeof(*f));
		if (f) {
			*f = (struct bounce){ .s = s,
					      .next = bounces,
					      .key = ++last_key,
					      .end = *e,
					      .refs = 1,
					      .quiet = true };
			pthread_mutex_init(&f->busy, NULL);
			bounces = f;
		}
	}
	pthread_mutex_unlock(&lock);
	return f;
}

void bounce_put(struct bounce *f)
{
	struct kvgpu_remote_notification h = { .kind = KVGPU_REMOTE_NOTIFY_FREE };
	uint64_t none = 0;
	struct bounce **at;
	bool last, quiet;

	pthread_mutex_lock(&lock);
	h.id = f->end.id;
	last = !--f->refs;
	quiet = f->quiet;
	for (at = &bounces; last && *at != f; at = &(*at)->next)
		;
	if (last)
		*at = f->next;
	pthread_mutex_unlock(&lock);
	if (!last)
		return;
	if (!quiet)
		kvgpu_remote_notify(f->s->port, &h, &none, sizeof(none));
	pthread_mutex_destroy(&f->busy);
	free(f);
}

uint64_t bounce_kept(struct bounce *f)
{
	pthread_mutex_lock(&lock);
	f->quiet = false;
	pthread_mutex_unlock(&lock);
	return f->end.id;
}

struct bounce *bounce_again(struct bounce *f)
{
	pthread_mutex_lock(&lock);
	f->refs++;
	pthread_mutex_unlock(&lock);
	return f;
}

const struct bounce_end *bounce_end(const struct bounce *f)
{
	return &f->end;
}

bool bounces_live(const struct server *s)
{
	const struct bounce *f;

	pthread_mutex_lock(&lock);
	for (f = bounces; f && f->s != s; f = f->next)
		;
	pthread_mutex_unlock(&lock);
	return f;
}

void bounces_free(struct server *s)
{
	struct bounce **at = &bounces, *f;

	while ((f = *at)) {
		if (f->s != s) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		pthread_mutex_destroy(&f->busy);
		free(f);
	}
}

void *bounce_key(const struct bounce *f)
{
	return (void *)(uintptr_t)f->key;
}

/* @hold: with a reference */
static struct bounce *find_bounce(const void *key, bool hold)
{
	struct bounce *f;

	pthread_mutex_lock(&lock);
	for (f = bounces; f && f->key != (uintptr_t)key; f = f->next)
		;
	if (f)
		f->refs += hold;
	pthread_mutex_unlock(&lock);
	return f;
}

struct bounce *bounce_of(const void *key)
{
	return find_bounce(key, false);
}

/* runs in a thread of the library */
void bounce_run(void *key)
{
	struct kvgpu_remote_notification h = { .kind = KVGPU_REMOTE_NOTIFY_FILL };
	struct bounce *f = find_bounce(key, true);
	uint64_t invocation;

	if (!f)
		return;
	if (f->end.out)
		h.kind = KVGPU_REMOTE_NOTIFY_DRAIN;
	h.id = f->end.id;
	invocation = __atomic_add_fetch(&f->s->invocations, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&f->busy);
	if (!f->end.out || !kvgpu_remote_return(f->s->port, f->end.at, f->end.bytes))
		kvgpu_remote_call(f->s->port, &h, invocation);
	pthread_mutex_unlock(&f->busy);
	bounce_put(f);
}

void bounce_rests(void *nothing)
{
}

/* runs in any thread */
static void let_bounce_go(void *bounce)
{
	bounce_put(bounce);
}

CUresult bounce_hold(struct server *s, CUgraph graph, struct bounce *f)
{
	bounce_again(f);
	return graph_refers(s, graph, let_bounce_go, f);
}
