// SPDX-License-Identifier: MIT
/*
 * Events without a wait. A program that makes many of a kind, as to time kernels, waits for the
 * first few alone. Then several are made in one turn, at most as many as it has made, and kept for
 * it. Those that it destroys are kept as well, and destroyed when it wants another one, by a frame
 * that makes this one in the same place: so the client knows its number, and an error comes late.
 * Those that it does not want end with their context.
 */
#include "client.h"

enum { KINDS = 8, AHEAD = 16, ALONE = 2, KEPT = 512 };
enum { PLAIN = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING };

struct kind {
	const struct object *ctx;
	uint64_t ctx_id;
	unsigned int flags, asked, n;
	struct object *spare[AHEAD];
	uint64_t id[AHEAD], kept[KEPT];
	unsigned int nr_kept;
};

/* protects kinds; held while a thread waits for events that it makes */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kind kinds[KINDS];

static bool is_gone(const struct kind *k)
{
	return !object_of(CLASS_CONTEXT, k->ctx) || k->ctx->id != k->ctx_id ||
	       __atomic_load_n(&k->ctx->dead, __ATOMIC_ACQUIRE);
}

/* NULL: there are too many kinds */
static struct kind *find_kind(const struct object *ctx, unsigned int flags)
{
	struct kind *k, *gone = NULL;

	for (k = kinds; k < kinds + KINDS; k++) {
		if (is_gone(k))
			gone = k;
		else if (k->ctx == ctx && k->flags == flags)
			return k;
	}
	if (gone)
		*gone = (struct kind){ .ctx = ctx, .ctx_id = ctx->id, .flags = flags };
	return gone;
}

/* in the thread's context, which is the kind's */
static void make_some(struct kind *k, unsigned int most)
{
	struct q_cuEventCreate q = { .flags = k->flags };
	struct call c[AHEAD];
	unsigned int completion[AHEAD], i, n;
	struct kvgpu_remote_channel *channel = object_peer(k->ctx)->channel;
	void *made;
	CUresult r = CUDA_SUCCESS;

	for (n = 0; n < most && !r; n += !r) {
		c[n] = (struct call){ .op = OP_cuEventCreate, .fixed = &q, .bytes = sizeof(q) };
		completion[n] = kvgpu_remote_completion_get(channel);
		r = call_begin(&c[n], completion[n]);
		if (r && completion[n])
			kvgpu_remote_completion_put(channel, completion[n]);
	}
	for (i = 0; i < n; i++) {
		r = call_take(&c[i], completion[i], sizeof(struct a_cuEventCreate));
		if (!r && answer_handle(&made, &c[i], CLASS_EVENT,
					((const struct a_cuEventCreate *)c[i].answer)->event,
					(void *)k->ctx, false)) {
			k->id[k->n] = ((struct object *)made)->id;
			k->spare[k->n++] = made;
		}
		kvgpu_remote_completion_put(channel, completion[i]);
	}
}

/* an event that was made is lost if its slot has another object now */
static struct object *take(struct kind *k)
{
	struct object *o;

	while (k->n) {
		o = k->spare[--k->n];
		if (object_of(CLASS_EVENT, o) && o->id == k->id[k->n])
			return o;
	}
	return NULL;
}

/* an event in the place of one that was kept */
static struct object *make_anew(struct kind *k)
{
	struct q_event_anew q = { .flags = k->flags };
	struct call c = { .op = OP_event_anew, .fixed = &q, .bytes = sizeof(q) };
	const struct peer *p = object_peer(k->ctx);
	struct object *o;
	uint64_t id;

	if (!k->nr_kept)
		return NULL;
	q.event = k->kept[--k->nr_kept];
	id = KVGPU_REMOTE_NEXT(q.event);
	o = handle_here(p, CLASS_EVENT, id, (void *)k->ctx);
	if (!o || !call_async(&c))
		return o;
	object_end(o, id);
	return NULL;
}

bool event_spare(CUevent *event, unsigned int flags)
{
	const struct object *ctx = current_context();
	struct object *o = NULL;
	struct kind *k;

	if (!ctx || flags & ~PLAIN || call_asks(object_peer(ctx)))
		return false;
	pthread_mutex_lock(&lock);
	k = find_kind(ctx, flags);
	if (k && !k->n && !k->nr_kept && k->asked >= ALONE)
		make_some(k, k->asked < AHEAD ? k->asked : AHEAD);
	if (k) {
		k->asked++;
		o = take(k);
		o = o ? o : make_anew(k);
	}
	pthread_mutex_unlock(&lock);
	if (!o)
		return false;
	*event = (CUevent)o;
	event_created(*event, flags);
	return true;
}

void event_created(CUevent event, unsigned int flags)
{
	if (!(flags & ~PLAIN))
		__atomic_store_n(&((struct object *)event)->flags, flags + 1, __ATOMIC_RELAXED);
}

bool event_kept(CUevent event)
{
	struct object *o = (struct object *)event;
	const struct object *ctx = object_context(o);
	const unsigned int flags = __atomic_load_n(&o->flags, __ATOMIC_RELAXED);
	struct peer *p = object_peer(o);
	const uint64_t id = o->id;
	struct kind *k;
	bool keeps;

	if (!flags || !ctx || __atomic_load_n(&o->shared, __ATOMIC_RELAXED) || captures_any() ||
	    call_asks(p) || table_lacks(p, OP_event_anew))
		return false;
	pthread_mutex_lock(&lock);
	k = find_kind(ctx, flags - 1);
	keeps = k && k->nr_kept < KEPT && !is_gone(k) && object_of(CLASS_EVENT, o) && o->id == id;
	if (keeps) {
		object_end(o, id);
		k->kept[k->nr_kept++] = id;
	}
	pthread_mutex_unlock(&lock);
	return keeps;
}
