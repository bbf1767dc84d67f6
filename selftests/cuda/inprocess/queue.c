// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues. Each of the GPU's queues has a thread, which takes work in order, waits for what the work
 * comes after in other queues, and does it. The host's queue has no thread: its work is its
 * caller's. A queue that faulted is dead.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cuda/api/process.h>

#include "inprocess.h"

enum { LIMIT_MS = 60000 };

/* ------------------------------------------------------------------ doing */

static void delay(unsigned int *seed)
{
	uint64_t most = in_setting("KVGPU_INPROCESS_JITTER_US", 0);
	struct timespec ts;
	uint64_t us;

	if (!most)
		return;
	us = rand_r(seed) % (most + 1);
	ts = (struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
	nanosleep(&ts, NULL);
}

/* d->lock held */
static bool may_start(struct in_queue *q, const struct job *j)
{
	unsigned int i;

	for (i = 0; i < NR_QUEUES; i++)
		if (i != q->which && atomic_load(&q->d->queue[i].done) < j->after.seq[i])
			return false;
	return true;
}

/* NULL: the end. d->lock held */
static const struct job *take(struct in_queue *q)
{
	struct in_device *d = q->d;

	for (;;) {
		uint64_t next = atomic_load(&q->done) + 1;
		const struct job *j = &q->job[next % MAX_IN_FLIGHT];

		if (d->quit)
			return NULL;
		if (q->seq >= next && may_start(q, j))
			return j;
		pthread_cond_wait(&d->change, &d->lock);
	}
}

static void *queue_main(void *arg)
{
	struct in_queue *q = arg;
	struct in_device *d = q->d;
	unsigned int seed = 1 + q->which;
	const struct job *j;
	bool ok = true;

	pthread_mutex_lock(&d->lock);
	while (ok && (j = take(q))) {
		pthread_mutex_unlock(&d->lock);
		delay(&seed);
		atomic_store(&q->since, in_now());
		ok = in_work(q, j);
		atomic_store(&q->since, 0);
		pthread_mutex_lock(&d->lock);
		if (ok)
			atomic_fetch_add(&q->done, 1);
		else
			atomic_store(&q->dead, true);
		pthread_cond_broadcast(&d->change);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* ------------------------------------------------------------------ life */

bool in_queue_open(struct in_device *d, enum device_queue which)
{
	/* GR, CE0 */
	static const uint8_t unit[] = { [QUEUE_COMPUTE] = 0, [QUEUE_COPY] = 0x15 };
	struct in_queue *q = &d->queue[which];

	q->d = d;
	q->which = which;
	if (mmu_client_init(d->g, &q->client, "CE", unit[which], 0, -1))
		return false;
	q->running = !own_thread(&q->thread, queue_main, q);
	return q->running;
}

void in_queues_close(struct in_device *d)
{
	unsigned int i;

	pthread_mutex_lock(&d->lock);
	d->quit = true;
	pthread_cond_broadcast(&d->change);
	pthread_mutex_unlock(&d->lock);
	sm_abandon(d->g, true);
	for (i = 0; i < NR_GPU_QUEUES; i++) {
		if (d->queue[i].running)
			pthread_join(d->queue[i].thread, NULL);
		mmu_client_fini(d->g, &d->queue[i].client);
	}
}

/* ------------------------------------------------------------------ submitting */

static bool any_dead(struct in_device *d)
{
	unsigned int i;

	for (i = 0; i < NR_QUEUES; i++)
		if (atomic_load(&d->queue[i].dead))
			return true;
	return false;
}

/* a launch that takes too long loses its queue */
static void check_limit(struct in_device *d)
{
	uint64_t since = atomic_load(&d->queue[QUEUE_COMPUTE].since);

	if (since && in_now() - since > in_setting("KVGPU_INPROCESS_LIMIT_MS", LIMIT_MS) * 1000000)
		sm_abandon(d->g, true);
}

/* until at most @left pieces of work are not done, or a queue is dead; d->lock held */
static enum device_status wait_for(struct in_device *d, struct in_queue *q, uint64_t left)
{
	struct timespec until;

	while (q->seq - atomic_load(&q->done) > left) {
		if (any_dead(d))
			return DEVICE_LOST;
		check_limit(d);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		pthread_cond_timedwait(&d->change, &d->lock, &until);
	}
	return DEVICE_OK;
}

enum device_status in_drain(struct in_device *d, enum device_queue which)
{
	enum device_status ret;

	pthread_mutex_lock(&d->lock);
	ret = wait_for(d, &d->queue[which], 0);
	pthread_mutex_unlock(&d->lock);
	return ret;
}

enum device_status in_submit(struct in_device *d, enum device_queue which,
			     const struct moment *after, const struct job *j, uint64_t *seq)
{
	struct in_queue *q = &d->queue[which];
	enum device_status ret;

	pthread_mutex_lock(&d->lock);
	*seq = q->seq;
	ret = wait_for(d, q, MAX_IN_FLIGHT - 1);
	if (!ret && atomic_load(&q->dead))
		ret = DEVICE_LOST;
	if (!ret) {
		struct job *slot = &q->job[++q->seq % MAX_IN_FLIGHT];

		*slot = *j;
		slot->after = after ? *after : (struct moment){ { 0 } };
		*seq = q->seq;
		pthread_cond_broadcast(&d->change);
	}
	pthread_mutex_unlock(&d->lock);
	return ret;
}

uint64_t in_host_begin(struct device *dev)
{
	struct in_device *d = in(dev);
	uint64_t seq;

	pthread_mutex_lock(&d->lock);
	seq = ++d->queue[QUEUE_HOST].seq;
	pthread_mutex_unlock(&d->lock);
	return seq;
}

void in_host_done(struct device *dev, uint64_t seq)
{
	struct in_device *d = in(dev);

	pthread_mutex_lock(&d->lock);
	atomic_store(&d->queue[QUEUE_HOST].done, seq);
	pthread_cond_broadcast(&d->change);
	pthread_mutex_unlock(&d->lock);
}

enum device_status in_poll(struct device *dev, enum device_queue which, uint64_t seq, bool look)
{
	struct in_device *d = in(dev);

	if (atomic_load(&d->queue[which].done) >= seq)
		return which == QUEUE_COMPUTE && atomic_load(&d->trapped) ? DEVICE_TRAPPED :
									    DEVICE_OK;
	if (!look)
		return DEVICE_BUSY;
	check_limit(d);
	if (!any_dead(d))
		return DEVICE_BUSY;
	return atomic_load(&d->queue[which].done) >= seq ? DEVICE_OK : DEVICE_LOST;
}
