// SPDX-License-Identifier: MIT
/*
 * Host functions of the application, called by a thread of the context in the order in which they
 * were submitted. Later work of the stream waits on the GPU until the function has returned. The
 * thread also waits for other contexts' work, and copies host memory. It takes no context's lock.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../api/process.h"
#include "driver.h"

enum { PAUSE_US = 50, PAUSE_MAX_US = 2000 };

struct host_work {
	struct host_work *next;
	struct moment after;
	uint64_t seq;
	CUhostFn fn; /* or .callback, .other or .copy: */
	CUstreamCallback callback;
	CUstream stream;
	void *data;
	/* wait for .until in another context, while its .life is this one */
	CUcontext other;
	unsigned int life;
	struct moment until;
	bool needed; /* an error of the other context is one here */
	struct host_lines copy;
};

struct host_queue {
	CUcontext ctx;
	pthread_t thread;
	/* Guards what follows. A context's lock may be held outside, none is taken inside. */
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct host_work *first, **last;
	bool quit;
	/* the .seq of a function or a copy that is under way; 0: none is */
	uint64_t running;
};

/* BUSY: not done. Else: done, or it never will be. */
static enum device_status look_at_other(const struct host_work *w)
{
	CUcontext other = w->other;
	enum device_status s = DEVICE_OK;
	unsigned int q;

	pthread_mutex_lock(&other->watch);
	/* a context that ended, or lives again, has nothing left to wait for */
	if (!other->device && __atomic_load_n(&other->sticky, __ATOMIC_ACQUIRE))
		s = DEVICE_LOST;
	if (other->device && other->life == w->life)
		for (q = 0; q < NR_QUEUES && s == DEVICE_OK; q++)
			if (w->until.seq[q])
				s = other->device->ops->poll(other->device, q, w->until.seq[q],
							     true);
	pthread_mutex_unlock(&other->watch);
	return s;
}

static enum device_status await_other(const struct host_work *w)
{
	unsigned int pause = PAUSE_US;
	enum device_status s;

	while ((s = look_at_other(w)) == DEVICE_BUSY) {
		usleep(pause);
		pause = pause < PAUSE_MAX_US ? pause * 2 : PAUSE_MAX_US;
	}
	return s;
}

static void copy_lines(const struct host_lines *c)
{
	size_t i;

	for (i = 0; i < c->lines; i++)
		memcpy(c->to + i * c->to_pitch, c->from + i * c->from_pitch, c->width);
}

static void set_running(struct host_queue *q, uint64_t seq)
{
	pthread_mutex_lock(&q->lock);
	q->running = seq;
	pthread_mutex_unlock(&q->lock);
}

/* The context's error is looked at with .running set: see host_settle(). */
static void carry_out(struct host_queue *q, const struct host_work *w)
{
	set_running(q, w->seq);
	if (__atomic_load_n(&q->ctx->sticky, __ATOMIC_ACQUIRE))
		;
	else if (w->copy.lines)
		copy_lines(&w->copy);
	else
		w->fn(w->data);
	set_running(q, 0);
}

/* After an error no host function is called; a callback gets the error. */
static void call(struct host_queue *q, const struct host_work *w)
{
	CUresult r = moment_wait(q->ctx, &w->after);
	bool failed = false;

	set_in_host_function(true);
	if (w->other)
		failed = await_other(w) != DEVICE_OK && w->needed;
	else if (w->callback)
		w->callback(w->stream, r, w->data);
	else if (!r)
		carry_out(q, w);
	set_in_host_function(false);
	if (failed)
		ctx_set_sticky(q->ctx, CUDA_ERROR_UNKNOWN);
	q->ctx->device->ops->host_done(q->ctx->device, w->seq);
}

static void *main_loop(void *arg)
{
	struct host_queue *q = arg;
	struct host_work *w;

	/* by pthread_self() the program's functions can cancel this thread */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_mutex_lock(&q->lock);
	for (;;) {
		while (!q->first && !q->quit)
			pthread_cond_wait(&q->change, &q->lock);
		w = q->first;
		if (!w)
			break;
		q->first = w->next;
		if (!q->first)
			q->last = &q->first;
		pthread_mutex_unlock(&q->lock);
		call(q, w);
		free(w);
		pthread_mutex_lock(&q->lock);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

static CUresult start(CUcontext ctx)
{
	struct host_queue *q;

	if (ctx->host)
		return CUDA_SUCCESS;
	q = calloc(1, sizeof(*q));
	if (!q)
		return CUDA_ERROR_OUT_OF_MEMORY;
	q->ctx = ctx;
	q->last = &q->first;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->change, NULL);
	if (own_thread(&q->thread, main_loop, q)) {
		free(q);
		return CUDA_ERROR_OPERATING_SYSTEM;
	}
	ctx->host = q;
	return CUDA_SUCCESS;
}

void host_stop(CUcontext ctx)
{
	struct host_queue *q = ctx->host;

	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->quit = true;
	pthread_cond_signal(&q->change);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	pthread_cond_destroy(&q->change);
	pthread_mutex_destroy(&q->lock);
	free(q);
	ctx->host = NULL;
}

static bool runs(CUcontext ctx, unsigned int life, uint64_t upto)
{
	struct host_queue *q;
	bool running = false;

	pthread_mutex_lock(&ctx->lock);
	q = ctx->life == life ? ctx->host : NULL;
	if (q) {
		pthread_mutex_lock(&q->lock);
		running = q->running && q->running <= upto;
		pthread_mutex_unlock(&q->lock);
	}
	pthread_mutex_unlock(&ctx->lock);
	return running;
}

void host_settle(CUcontext ctx, unsigned int life, uint64_t upto)
{
	unsigned int pause = PAUSE_US;

	while (runs(ctx, life, upto)) {
		usleep(pause);
		pause = pause < PAUSE_MAX_US ? pause * 2 : PAUSE_MAX_US;
	}
}

static CUresult add(CUcontext ctx, CUstream s, struct host_work *w)
{
	struct host_queue *q;
	CUresult r = start(ctx);

	if (r)
		return r;
	q = ctx->host;
	w->after = stream_begin(s);
	w->seq = ctx->device->ops->host_begin(ctx->device);
	if (w->copy.lines || w->needed)
		stream_add(s, QUEUE_HOST, w->seq);
	else
		stream_add_endless(s, w->seq);
	pthread_mutex_lock(&q->lock);
	*q->last = w;
	q->last = &w->next;
	pthread_cond_signal(&q->change);
	pthread_mutex_unlock(&q->lock);
	return CUDA_SUCCESS;
}

static CUresult add_copy(CUcontext ctx, CUstream s, const struct host_work *wanted)
{
	struct host_work *w = malloc(sizeof(*w));
	CUresult r;

	if (!w)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*w = *wanted;
	r = add(ctx, s, w);
	if (r)
		free(w);
	return r;
}

CUresult host_await(CUcontext ctx, CUstream s, CUcontext other, unsigned int life,
		    const struct moment *until)
{
	return add_copy(ctx, s,
			&(struct host_work){ .other = other, .life = life, .until = *until });
}

CUresult host_need(CUcontext ctx, CUstream s, CUcontext other, unsigned int life,
		   const struct moment *until)
{
	return add_copy(ctx, s,
			&(struct host_work){
				.other = other, .life = life, .until = *until, .needed = true });
}

CUresult host_copy(CUcontext ctx, CUstream s, const struct host_lines *c)
{
	return add_copy(ctx, s, &(struct host_work){ .copy = *c });
}

CUresult host_call(CUcontext ctx, CUstream s, CUhostFn fn, void *data)
{
	return add_copy(ctx, s, &(struct host_work){ .fn = fn, .data = data });
}

/* a callback can't be captured */
static CUresult submit(CUstream stream, const struct host_work *wanted)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = ctx_enter_work(stream, &ctx, &s);

	if (r)
		return r;
	if (s->capture)
		r = wanted->fn ? capture_host(s, wanted->fn, wanted->data) : capture_refuse(s);
	else
		r = add_copy(ctx, s, wanted);
	ctx_leave(ctx);
	return r;
}

/* ------------------------------------------------------------------ entry points */

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data)
{
	return fn ? submit(stream, &(struct host_work){ .fn = fn, .data = data }) :
		    CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn fn, void *data)
{
	return cuLaunchHostFunc(OWN(stream), fn, data);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback fn, void *data, unsigned int flags)
{
	if (!fn || flags)
		return CUDA_ERROR_INVALID_VALUE;
	return submit(stream,
		      &(struct host_work){ .callback = fn, .stream = stream, .data = data });
}

CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback fn, void *data,
				  unsigned int flags)
{
	return cuStreamAddCallback(OWN(stream), fn, data, flags);
}
