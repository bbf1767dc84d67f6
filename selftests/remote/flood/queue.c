// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of the flood's library, which carries out work of all streams in the order in which it
 * was queued. The serving thread queues.
 */
#include <assert.h>
#include <stdlib.h>

#include "gpu.h"

enum { ROOM = 64 };

static struct {
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more, less;
	struct work work[ROOM];
	uint64_t put; /* the serving thread's */
	uint64_t done; /* atomic */
	bool runs;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
	    .more = PTHREAD_COND_INITIALIZER,
	    .less = PTHREAD_COND_INITIALIZER };

/* a GPU writes a word of 4 bytes at once, which remote/server/readback_block.c relies on */
static void copy(const struct work *w)
{
	const uint32_t *from = w->from;
	uint32_t *to = w->to;
	size_t i;

	if (w->n > 64 || ((uintptr_t)from | (uintptr_t)to | w->n) % sizeof(*to)) {
		memcpy(w->to, w->from, w->n);
		return;
	}
	for (i = 0; i < w->n / sizeof(*to); i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
}

static void fill(const struct work *w)
{
	uint8_t *to = w->to;
	size_t i;

	for (i = 0; i < w->n; i++)
		to[i] = w->value >> 8 * (i % w->width);
}

void queue_do(const struct work *w)
{
	if (w->fn)
		w->fn(w->data);
	else if (w->back)
		w->back(w->stream, CUDA_SUCCESS, w->data);
	else if (w->from)
		copy(w);
	else
		fill(w);
	free(w->own);
}

static void *run(void *nothing)
{
	struct work w;

	pthread_mutex_lock(&queue.lock);
	for (;;) {
		while (queue.done == queue.put)
			pthread_cond_wait(&queue.more, &queue.lock);
		w = queue.work[queue.done % ROOM];
		pthread_mutex_unlock(&queue.lock);
		queue_do(&w);
		pthread_mutex_lock(&queue.lock);
		__atomic_store_n(&queue.done, queue.done + 1, __ATOMIC_RELEASE);
		pthread_cond_broadcast(&queue.less);
	}
	return nothing;
}

void queue_put(const struct work *w)
{
	pthread_t thread;

	if (!queue.runs)
		assert(!pthread_create(&thread, NULL, run, NULL));
	queue.runs = true;
	pthread_mutex_lock(&queue.lock);
	while (queue.put - queue.done == ROOM)
		pthread_cond_wait(&queue.less, &queue.lock);
	queue.work[queue.put++ % ROOM] = *w;
	pthread_cond_signal(&queue.more);
	pthread_mutex_unlock(&queue.lock);
}

uint64_t queue_all(void)
{
	return queue.put;
}

bool queue_is_done(uint64_t all)
{
	return __atomic_load_n(&queue.done, __ATOMIC_ACQUIRE) >= all;
}

void queue_drain(uint64_t all)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.done < all)
		pthread_cond_wait(&queue.less, &queue.lock);
	pthread_mutex_unlock(&queue.lock);
}
