// SPDX-License-Identifier: MIT
/*
 * Storage of the runtimes, by context and key: they ask it once or twice in each of their calls. A
 * value whose context ends goes to its destructor, the newest first.
 */
#include <pthread.h>
#include <stdlib.h>

#include "../forked.h"
#include "slots.h"

enum { LISTS = 64, HANDLE_SHIFT = 6 };

struct value {
	CUcontext ctx;
	void *key, *value;
	storage_end_fn end;
	struct value *next; /* an older one */
};

/* guards `lists`; the innermost of all locks, and never held while a destructor runs */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct value *lists[LISTS]; /* by context */

static struct value **list_of(CUcontext ctx)
{
	return &lists[((uintptr_t)ctx >> HANDLE_SHIFT) % LISTS];
}

/* Call with `lock`. Return the link that leads to the value; *link is NULL: there is none. */
static struct value **link_to(CUcontext ctx, const void *key)
{
	struct value **link;

	for (link = list_of(ctx); *link && ((*link)->ctx != ctx || (*link)->key != key);
	     link = &(*link)->next)
		;
	return link;
}

/* In a child of fork() the lock may be held for ever. */
static CUresult find_context(CUcontext *ctx)
{
	CUresult r = CUDA_SUCCESS;

	if (forked_is_child())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!*ctx)
		r = cuCtxGetCurrent(ctx);
	return r || *ctx ? r : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult storage_put(CUcontext ctx, void *key, void *value, storage_end_fn end)
{
	struct value *v;
	CUresult r = find_context(&ctx);

	if (r)
		return r;
	v = malloc(sizeof(*v));
	if (!v)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	if (*link_to(ctx, key)) {
		r = CUDA_ERROR_INVALID_HANDLE;
	} else {
		*v = (struct value){ ctx, key, value, end, *list_of(ctx) };
		*list_of(ctx) = v;
	}
	pthread_mutex_unlock(&lock);
	if (r)
		free(v);
	return r;
}

CUresult storage_get(void **value, CUcontext ctx, void *key)
{
	const struct value *v;
	CUresult r = find_context(&ctx);

	if (r)
		return r;
	pthread_mutex_lock(&lock);
	v = *link_to(ctx, key);
	if (v)
		*value = v->value;
	pthread_mutex_unlock(&lock);
	return v ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static struct value *take_out(struct value **link)
{
	struct value *v = *link;

	if (v)
		*link = v->next;
	return v;
}

CUresult storage_delete(CUcontext ctx, void *key)
{
	struct value *v;
	CUresult r = find_context(&ctx);

	if (r)
		return r;
	pthread_mutex_lock(&lock);
	v = take_out(link_to(ctx, key));
	pthread_mutex_unlock(&lock);
	free(v);
	return v ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static struct value *take_newest(CUcontext ctx)
{
	struct value **link, *v;

	pthread_mutex_lock(&lock);
	for (link = list_of(ctx); *link && (*link)->ctx != ctx; link = &(*link)->next)
		;
	v = take_out(link);
	pthread_mutex_unlock(&lock);
	return v;
}

/* One at a time: a destructor may delete another value of the context. */
void export_context_ended(CUcontext ctx)
{
	struct value *v;

	while ((v = take_newest(ctx))) {
		if (v->end)
			v->end(ctx, v->key, v->value);
		free(v);
	}
}
