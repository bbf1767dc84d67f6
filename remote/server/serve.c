// SPDX-License-Identifier: MIT
/*
 * The serving loop, on the serving thread: takes a frame, carries it out by serve_op() (cases.c),
 * and answers it. Between frames the loop looks at what waits for the GPU. Frames that waited come
 * back by .carry_out of struct server. No frame is served inside of another one: the answer's
 * buffer is static.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <remote/wire/dump.h>

#include "server.h"

/*
 * While a frame waits for the GPU, look without a pause at first, then with longer pauses. Over a
 * shmem region, where a pause is mostly spent with looking for frames, a pause is an EAGER_OF-th of
 * the time so far: a wait ends later by so much at most. Over a socket, where a pause leaves the
 * CPU to others, and where others want this CPU, it is a PATIENT_OF-th.
 */
enum {
	EAGER_OF = 64,
	EAGER_US = 10,
	PATIENT_OF = 8,
	SPIN_US = 50,
	PAUSE_US = 20,
	PAUSE_MAX_US = 500,
	/* eager: give up the CPU in each YIELD_EACH-th round. AWAY_US: others wanted it */
	YIELD_EACH = 8,
	AWAY_US = 20
};
/* a piece of a copy is given when no frame is here, or so many were served since the last one */
enum { FRAMES_FIRST = 16 };

/*
 * If the context is gone, none is current, and calls that need one return the error. The client
 * names the capture mode with the context, since one thread here acts for all threads of the
 * client.
 */
CUresult frame_current(struct server *s, const struct q_current *q, struct kvgpu_remote_cursor *in,
		       struct kvgpu_remote_reply *out)
{
	CUstreamCaptureMode mode = q->mode;

	if (q->mode != s->mode && q->mode <= CU_STREAM_CAPTURE_MODE_RELAXED &&
	    !CALL(s, cuThreadExchangeStreamCaptureMode, &mode))
		s->mode = q->mode;
	if (enter_context(s, q->ctx))
		enter_context(s, 0);
	return CUDA_SUCCESS;
}

/* Earlier frames were carried out or put aside. Wait for the copies that the GPU still makes. */
CUresult frame_fence(struct server *s, const struct q_fence *q, struct kvgpu_remote_cursor *in,
		     struct kvgpu_remote_reply *out)
{
	return wait_for_copies(s, q->upto);
}

static void count_frame(struct server *s)
{
	struct counters *c = s->counters;
	uint64_t received, sent;

	if (!c)
		return;
	kvgpu_remote_port_bytes(s->port, &received, &sent);
	__atomic_store_n(&c->calls, c->calls + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->memory, s->quota.charged, __ATOMIC_RELAXED);
	__atomic_store_n(&c->pinned, s->arena_bytes - s->arena_first, __ATOMIC_RELAXED);
	__atomic_store_n(&c->received, received, __ATOMIC_RELAXED);
	__atomic_store_n(&c->sent, sent, __ATOMIC_RELAXED);
}

/* carry the frame out, once more if the library had no room and others make room */
static CUresult try_op(struct server *s, const struct kvgpu_remote_head *h, const void *payload,
		       struct kvgpu_remote_reply *out)
{
	const struct kvgpu_remote_reply first = *out;
	struct kvgpu_remote_cursor in;
	CUresult r;

	do {
		in = (struct kvgpu_remote_cursor){ payload, h->bytes };
		*out = first;
		s->frame.scratch_used = 0;
		s->quota.refused = false;
		r = serve_op(s, h->op, &in, out);
	} while (r == CUDA_ERROR_OUT_OF_MEMORY && !s->quota.refused && !s->frame.later &&
		 sleep_make_room(s));
	return r;
}

void serve_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload)
{
	static uint64_t room[KVGPU_REMOTE_PAYLOAD_MAX / 8];
	struct kvgpu_remote_cursor in = { payload, h->bytes };
	struct kvgpu_remote_reply out = { .at = (uint8_t *)room, .room = sizeof(room) };
	CUresult r;

	if (s->options.dump)
		kvgpu_remote_dump(s->options.dump, h, payload);
	s->frame.head = *h;
	s->frame.served++;
	s->frame.payload = payload;
	s->frame.later = false;
	prints_begin(s, h, payload);
	if (h->op == KVGPU_REMOTE_OP_SPOILT)
		r = CUDA_ERROR_SYSTEM_NOT_READY;
	else if (h->op == KVGPU_REMOTE_OP_TABLE)
		r = table_take(s, &in, &out);
	else if (op_gives(h->op) && !handle_room(s))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	else
		r = try_op(s, h, payload, &out);
	graph_refs_reap(s);
	if (!s->frame.later)
		frame_answer(s, h, r, &out);
	count_frame(s);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* rounds without anything to do while a frame waits for the GPU */
struct idle {
	uint64_t since; /* us; 0: the last round had something to do */
	unsigned int rounds;
	bool eager;
};

/* how long to wait for the next frame, us */
static int64_t pause_of(const struct idle *i)
{
	uint64_t idle = now_us() - i->since, pause = idle / (i->eager ? EAGER_OF : PATIENT_OF);

	if (i->eager ? pause < EAGER_US : idle < SPIN_US)
		return 0;
	if (!i->eager && pause < PAUSE_US)
		pause = PAUSE_US;
	return pause > PAUSE_MAX_US ? PAUSE_MAX_US : pause;
}

static void idle_round(struct idle *i)
{
	uint64_t began;

	if (i->eager && ++i->rounds % YIELD_EACH)
		return;
	began = now_us();
	sched_yield();
	i->eager = i->eager && now_us() - began < AWAY_US;
}

/* how long to wait for a frame while nothing is under way, us: an order may come */
static int64_t patience_of(const struct server *s)
{
	return s->sleeping.words ? SLEEP_LOOK_US : -1;
}

void server_run(struct server *s)
{
	struct kvgpu_remote_head h;
	struct idle idle = { 0 };
	unsigned int frames = 0;
	const void *payload;
	bool any;
	int r;

	for (;;) {
		if (s->waits.list && !idle.since)
			idle = (struct idle){ .since = now_us(),
					      .eager = kvgpu_remote_port_is_shared(s->port) };
		r = sleep_look(s, &h, &payload);
		if (r == -EAGAIN)
			r = sched_next(s, s->waits.list ? pause_of(&idle) : patience_of(s), &h,
				       &payload);
		if (r < 0)
			return;
		if (r)
			h.op = table_own(s, h.op);
		if (r && !s->sched)
			s->carry_out(s, &h, payload);
		else if (r && sched_frame(s, &h, payload))
			return;
		sched_look(s, !r);
		any = sched_go_on(s) || waits_look(s);
		frames = r ? frames + 1 : FRAMES_FIRST;
		if (frames >= FRAMES_FIRST && waits_give(s)) {
			frames = 0;
			any = true;
		}
		if (any || r)
			idle.since = 0;
		else if (s->waits.list)
			idle_round(&idle);
	}
}

int server_init(struct server *s)
{
	s->carry_out = serve_frame;
	s->arena = kvgpu_remote_port_arena(s->port, &s->arena_bytes);
	s->arena_first = s->arena_bytes;
	s->frame.scratch = malloc(SCRATCH_BYTES);
	return s->frame.scratch ? 0 : -1;
}

void server_fini(struct server *s)
{
	sched_end(s);
	waits_free(s);
	hosted_free_all(s);
	switched_forget(s, 0);
	free(s->switches.list);
	bounces_free(s);
	users_free(s);
	refs_free(s);
	graph_refs_free(s);
	stdio_capture_free(s);
	readback_free(s);
	lents_free(s);
	mempools_free(s);
	physicals_free(s);
	shares_free(s);
	free(s->handles.entries);
	free(s->handles.chains);
	free(s->quota.charges);
	free(s->pinned.noted);
	free(s->pinned.more);
	free(s->parts.data);
	free(s->frame.scratch);
}
