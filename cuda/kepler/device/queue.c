// SPDX-License-Identifier: MIT
/*
 * A queue of the GPU is a channel. After each piece of work the channel writes the work's number to
 * memory, where the CPU and other channels look at it. nouveau is not asked to wait for work: since
 * Linux 6.6 it does not wake a thread that waits for a channel on another runlist than the first.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "nv.h"

enum { ENGINE_GR = 0x01, ENGINE_CE = 0x30 }; /* uapi nouveau_drm.h NOUVEAU_FIFO_ENGINE_* */
enum { MARK_STRIDE = 64 };

static int open_channel(struct nv_device *d, struct nv_queue *q, uint32_t engine)
{
	struct nve0_fifo args = { .engine = engine };

	return nouveau_object_new(&d->dev->object, 0, NOUVEAU_FIFO_CHANNEL_CLASS, &args,
				  sizeof(args), &q->channel);
}

static enum device_status bind(struct nv_device *d, enum device_queue which)
{
	enum device_status ret = nv_begin(d, which, NULL);
	uint64_t seq;

	if (ret)
		return ret;
	EMIT(d, which, SUBC_COPY, SET_OBJECT, CLASS_COPY);
	if (which == QUEUE_COMPUTE) {
		EMIT(d, which, SUBC_COMPUTE, SET_OBJECT, CLASS_COMPUTE);
		EMIT(d, which, SUBC_COMPUTE, COMPUTE_SHARED_WINDOW, SHARED_WINDOW);
		EMIT(d, which, SUBC_COMPUTE, COMPUTE_LOCAL_WINDOW, LOCAL_WINDOW);
	}
	return nv_submit(d, which, &seq);
}

void nv_marks_open(struct nv_device *d)
{
	unsigned int i;

	for (i = 0; i < NR_QUEUES; i++) {
		d->queue[i].done = (uint32_t *)((uint8_t *)d->marks->base.map + i * MARK_STRIDE);
		d->queue[i].done_va = d->marks->base.va + i * MARK_STRIDE;
		*d->queue[i].done = 0;
	}
}

enum device_status nv_queue_open(struct nv_device *d, enum device_queue which)
{
	struct nv_queue *q = &d->queue[which];
	enum device_status bound;
	int ret = which == QUEUE_COPY ? open_channel(d, q, ENGINE_CE) : -1;

	if (ret) /* channels of the graphics engine can copy, too */
		ret = open_channel(d, q, ENGINE_GR);
	if (ret)
		return DEVICE_NONE;
	if (nouveau_pushbuf_new(d->client, q->channel, PUSH_BUFFERS, PUSH_BYTES, true, &q->push) ||
	    nouveau_object_new(q->channel, OBJECT_HANDLE(CLASS_COPY), CLASS_COPY, NULL, 0,
			       &q->copy))
		return DEVICE_FAILED;
	if (which == QUEUE_COMPUTE && nouveau_object_new(q->channel, OBJECT_HANDLE(CLASS_COMPUTE),
							 CLASS_COMPUTE, NULL, 0, &q->compute))
		return DEVICE_FAILED;
	bound = bind(d, which);
	if (!bound)
		__atomic_store_n(&q->live, true, __ATOMIC_RELEASE);
	return bound;
}

bool nv_copies_beside(struct device *dev)
{
	struct nv_device *d = nv(dev);
	struct nv_queue *q = &d->queue[QUEUE_COPY];

	if (q->live || q->refused)
		return !q->refused;
	if (nv_queue_open(d, QUEUE_COPY)) {
		nv_queue_close(d, QUEUE_COPY);
		q->refused = true;
	} else {
		q->refused = nv_wait(d, QUEUE_COPY, q->seq);
	}
	return !q->refused;
}

void nv_queue_close(struct nv_device *d, enum device_queue which)
{
	struct nv_queue *q = &d->queue[which];

	nouveau_object_del(&q->compute);
	nouveau_object_del(&q->copy);
	nouveau_pushbuf_del(&q->push);
	nouveau_object_del(&q->channel);
}

void nv_emit(struct nv_device *d, enum device_queue which, enum subchannel subc, uint32_t mthd,
	     const uint32_t *words, unsigned int n)
{
	struct nouveau_pushbuf *push = d->queue[which].push;

	*push->cur++ = push_header(subc, mthd, n);
	memcpy(push->cur, words, n * 4);
	push->cur += n;
}

static bool done(const struct nv_queue *q, uint64_t seq)
{
	return (int32_t)(*q->done - (uint32_t)seq) >= 0;
}

enum device_status nv_begin(struct nv_device *d, enum device_queue which,
			    const struct moment *after)
{
	struct nv_queue *q = &d->queue[which];
	enum device_status ret;
	unsigned int i;

	if (q->seq > MAX_IN_FLIGHT) {
		ret = nv_wait(d, which, q->seq - MAX_IN_FLIGHT);
		if (ret)
			return ret;
	}
	if (nouveau_pushbuf_space(q->push, JOB_WORDS, 0, 0) ||
	    nouveau_pushbuf_refn(q->push, d->refs, d->nr_refs))
		return DEVICE_FAILED;
	for (i = 0; i < NR_QUEUES; i++) {
		const struct nv_queue *other = &d->queue[i];
		uint64_t seq = after ? after->seq[i] : 0;

		seq = seq > d->cleared.seq[i] ? seq : d->cleared.seq[i];
		if (i == which || !seq || done(other, seq))
			continue;
		EMIT(d, which, SUBC_HOST, HOST_SEMAPHORE_A, other->done_va >> 32, other->done_va,
		     seq, SEMAPHORE_ACQUIRE_GEQ | SEMAPHORE_ACQUIRE_SWITCH | SEMAPHORE_4BYTE);
	}
	return DEVICE_OK;
}

enum device_status nv_submit(struct nv_device *d, enum device_queue which, uint64_t *seq)
{
	struct nv_queue *q = &d->queue[which];
	int ret;

	*seq = ++q->seq;
	EMIT(d, which, SUBC_HOST, HOST_SEMAPHORE_A, q->done_va >> 32, q->done_va, (uint32_t)q->seq,
	     SEMAPHORE_RELEASE | SEMAPHORE_4BYTE);
	ret = nouveau_pushbuf_kick(q->push, q->channel);
	if (!ret)
		return DEVICE_OK;
	*seq = --q->seq;
	if (nouveau_check_dead_channel(d->drm, q->channel))
		return DEVICE_LOST;
	/* where a buffer goes, there is no room for it */
	return ret == -ENOMEM || ret == -ENOSPC ? DEVICE_NO_MEMORY : DEVICE_FAILED;
}

static bool dead(struct nv_device *d, enum device_queue which)
{
	struct nv_queue *q = &d->queue[which];

	return __atomic_load_n(&q->live, __ATOMIC_ACQUIRE) &&
	       nouveau_check_dead_channel(d->drm, q->channel);
}

volatile uint32_t *nv_release_word(struct nv_device *d, unsigned int slot)
{
	return (uint32_t *)((uint8_t *)d->ring->base.map + slot * SLOT_BYTES + SLOT_RELEASE);
}

/* Whether each launch up to work @done has written its release word. */
static bool launches_complete(struct nv_device *d, uint64_t done)
{
	bool fine;

	pthread_mutex_lock(&d->check_lock);
	while (d->checked < d->launched && d->slot[d->checked % LAUNCH_SLOTS].seq <= done) {
		unsigned int slot = d->checked++ % LAUNCH_SLOTS;

		if (*nv_release_word(d, slot) != d->slot[slot].payload)
			d->trapped = true;
	}
	fine = !d->trapped;
	pthread_mutex_unlock(&d->check_lock);
	return fine;
}

enum device_status nv_poll(struct device *dev, enum device_queue which, uint64_t seq, bool look)
{
	struct nv_device *d = nv(dev);
	struct nv_queue *q = &d->queue[which];

	if (done(q, seq))
		return which != QUEUE_COMPUTE || launches_complete(d, seq) ? DEVICE_OK :
									     DEVICE_TRAPPED;
	if (!look)
		return DEVICE_BUSY;
	/* @which may wait for the dead queue */
	if (dead(d, QUEUE_COMPUTE) || dead(d, QUEUE_COPY))
		return done(q, seq) ? DEVICE_OK : DEVICE_LOST;
	return DEVICE_BUSY;
}

uint64_t nv_host_begin(struct device *dev)
{
	return ++nv(dev)->queue[QUEUE_HOST].seq;
}

/* SEQ_CST: the GPU must not see @seq before what the CPU wrote earlier */
void nv_host_done(struct device *dev, uint64_t seq)
{
	__atomic_store_n(nv(dev)->queue[QUEUE_HOST].done, (uint32_t)seq, __ATOMIC_SEQ_CST);
}

enum device_status nv_wait(struct nv_device *d, enum device_queue which, uint64_t seq)
{
	enum device_status ret;
	unsigned int pause_us = 20, n;

	for (n = 0; (ret = nv_poll(&d->base, which, seq, n % 16 == 15)) == DEVICE_BUSY; n++) {
		usleep(pause_us);
		pause_us = pause_us < 1000 ? pause_us * 2 : 1000;
	}
	return ret;
}
