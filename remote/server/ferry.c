// SPDX-License-Identifier: MIT
/*
 * Ferries: the client's memory at one end of a graph's copy, which crosses by a piece of the arena
 * when the graph has come as far as that (remote/client/ferry.c). The node that the client knows is
 * a graph of its own, a child: a function that has the piece filled, the copy, a function that has
 * it emptied, as far as each is needed. So the library carries a ferry along wherever it copies the
 * node: to clones, into executable graphs, by updates. How long it is needed the library says, too:
 * a user object in each child refers to it.
 */
#include <stdlib.h>

#include "server.h"

struct ferry {
	struct server *s;
	struct ferry *next;
	struct ferry_end end;
	unsigned int refs;		/* `lock` */
	bool quiet;			/* the client frees it by itself; `lock` */
	pthread_mutex_t busy;		/* its piece is used by one run at a time */
};

/* of the lists: the library lets go in threads of its own */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * the same memory, the same way: then also the same piece, so that an update finds that such a copy
 * has not changed
 */
static struct ferry *same(struct server *s, const struct ferry_end *e)
{
	struct ferry *f;

	for (f = s->ferries; f; f = f->next)
		if (f->end.out == e->out && f->end.bytes == e->bytes &&
		    !memcmp(f->end.mine, e->mine, sizeof(e->mine)) &&
		    !memcmp(f->end.size, e->size, sizeof(e->size)))
			return f;
	return NULL;
}

struct ferry *ferry_take(struct server *s, const struct ferry_end *e)
{
	struct ferry *f;

	pthread_mutex_lock(&lock);
	f = same(s, e);
	if (f) {
		f->refs++;
	} else {
		f = calloc(1, sizeof(*f));
		if (f) {
			*f = (struct ferry){ .s = s,
					     .next = s->ferries,
					     .end = *e,
					     .refs = 1,
					     .quiet = true };
			pthread_mutex_init(&f->busy, NULL);
			s->ferries = f;
		}
	}
	pthread_mutex_unlock(&lock);
	return f;
}

void ferry_put(struct ferry *f)
{
	struct kvgpu_remote_happening h = { .event = KVGPU_REMOTE_EVENT_FREE };
	uint64_t none = 0;
	struct ferry **at;
	bool last, quiet;

	pthread_mutex_lock(&lock);
	h.id = f->end.id;
	last = !--f->refs;
	quiet = f->quiet;
	for (at = &f->s->ferries; last && *at != f; at = &(*at)->next)
		;
	if (last)
		*at = f->next;
	pthread_mutex_unlock(&lock);
	if (!last)
		return;
	if (!quiet)
		kvgpu_remote_happen(f->s->port, &h, &none, sizeof(none));
	pthread_mutex_destroy(&f->busy);
	free(f);
}

uint64_t ferry_kept(struct ferry *f)
{
	pthread_mutex_lock(&lock);
	f->quiet = false;
	pthread_mutex_unlock(&lock);
	return f->end.id;
}

struct ferry *ferry_again(struct ferry *f)
{
	pthread_mutex_lock(&lock);
	f->refs++;
	pthread_mutex_unlock(&lock);
	return f;
}

const struct ferry_end *ferry_end(const struct ferry *f)
{
	return &f->end;
}

bool ferries_live(struct server *s)
{
	bool live;

	pthread_mutex_lock(&lock);
	live = s->ferries;
	pthread_mutex_unlock(&lock);
	return live;
}

void ferries_free(struct server *s)
{
	while (s->ferries) {
		struct ferry *f = s->ferries;

		s->ferries = f->next;
		pthread_mutex_destroy(&f->busy);
		free(f);
	}
}

/* in a thread of the library's */
void ferry_run(void *ferry)
{
	struct ferry *f = ferry;
	struct kvgpu_remote_happening h = { .event = f->end.out ? KVGPU_REMOTE_EVENT_DRAIN :
								  KVGPU_REMOTE_EVENT_FILL,
					    .id = f->end.id };
	uint64_t invocation = __atomic_add_fetch(&f->s->invocations, 1, __ATOMIC_RELAXED);

	pthread_mutex_lock(&f->busy);
	if (!f->end.out || !kvgpu_remote_return(f->s->port, f->end.at, f->end.bytes))
		kvgpu_remote_call(f->s->port, &h, invocation);
	pthread_mutex_unlock(&f->busy);
}

void ferry_rests(void *nothing)
{
}

/* in whatever thread */
static void let_go(void *ferry)
{
	ferry_put(ferry);
}

CUresult ferry_hold(struct server *s, CUgraph graph, struct ferry *f)
{
	CUuserObject object;
	CUresult r;

	ferry_again(f);
	if (!s->library.cuUserObjectCreate)
		return CUDA_SUCCESS;	/* nobody says when it is not needed any more */
	r = CALL(s, cuUserObjectCreate, &object, f, let_go, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
	if (r) {
		ferry_put(f);
		return r;
	}
	r = CALL(s, cuGraphRetainUserObject, graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
	if (r)
		CALL(s, cuUserObjectRelease, object, 1);
	return r;
}
