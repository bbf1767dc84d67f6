// SPDX-License-Identifier: MIT
/* Frames that wait for the client's turn on the GPU, and the frames behind them. */
#include <errno.h>
#include <stdlib.h>

#include "sched_client.h"

static int defer_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload)
{
	struct sched_client *g = s->sched;
	struct deferred_frame *f = malloc(sizeof(*f) + h->bytes);

	if (!f)
		return -ENOMEM;
	f->next = NULL;
	f->head = *h;
	memcpy(f->payload, payload, h->bytes);
	if (!g->deferred) {
		g->last = &g->deferred;
		g->reads_in = s->current;
	}
	*g->last = f;
	g->last = &f->next;
	g->nr_deferred++;
	g->deferred_bytes += h->bytes;
	/* an answer to a later frame would tell the client that this frame's piece is free */
	if (h->op == OP_copy_in || h->op == OP_copy_out || h->op == OP_box || h->op == OP_run)
		g->pieces = true;
	if (h->op == OP_current && h->bytes >= sizeof(struct q_current))
		g->reads_in = ((const struct q_current *)f->payload)->ctx;
	return 0;
}

static void pass_by(struct server *s, const struct kvgpu_remote_head *h, const void *payload)
{
	uint64_t before = s->current;

	if (enter_context(s, s->sched->reads_in))
		enter_context(s, 0);
	s->carry_out(s, h, payload);
	enter_context(s, before);
}

static void serve_work(struct server *s, const struct kvgpu_remote_head *h, const void *payload)
{
	s->carry_out(s, h, payload);
	if (s->sched->turn)
		work_submitted(s, h, payload);
}

/* calls of the library that may take long without the GPU */
static bool may_take_long(uint16_t op)
{
	return op == OP_image || op == OP_link_add || op == OP_link_complete ||
	       op == OP_cuCtxCreate_v2 || op == OP_cuCtxDestroy_v2 || op == OP_cuCtxDetach ||
	       op == OP_cuDevicePrimaryCtxRetain || op == OP_cuDevicePrimaryCtxReset_v2 ||
	       op == OP_cuDevicePrimaryCtxRelease_v2;
}

/* After these calls the server may not be able to ask whether a stream's work is done. */
static bool hides_work(uint16_t op)
{
	return op == OP_cuStreamDestroy_v2 || op == OP_cuStreamBeginCapture ||
	       op == OP_cuStreamBeginCapture_v2 || op == OP_cuStreamBeginCaptureToGraph ||
	       op == OP_cuStreamWaitEvent;
}

static void before_it_hides(struct server *s, const struct kvgpu_remote_head *h,
			    const void *payload)
{
	int at = h->op == OP_cuStreamDestroy_v2 ?
			 (int)offsetof(struct q_cuStreamDestroy_v2, stream) :
		 h->op == OP_cuStreamWaitEvent ?
			 (int)offsetof(struct q_cuStreamWaitEvent, stream) :
		 h->op == OP_cuStreamBeginCapture ?
			 (int)offsetof(struct q_cuStreamBeginCapture, stream) :
		 h->op == OP_cuStreamBeginCapture_v2 ?
			 (int)offsetof(struct q_cuStreamBeginCapture_v2, stream) :
		 h->op == OP_cuStreamBeginCaptureToGraph ?
			 (int)offsetof(struct q_cuStreamBeginCaptureToGraph, stream) :
			 -1;
	struct sched_client *g = s->sched;
	uint64_t id;

	if (at < 0 || at + sizeof(id) > h->bytes || (h->op == OP_cuStreamWaitEvent && !g->captures))
		return;
	memcpy(&id, (const uint8_t *)payload + at, sizeof(id));
	if (h->op == OP_cuStreamDestroy_v2) {
		work_stream_ends(s, id);
		return;
	}
	work_stream_hides(s, id);
	if (h->op == OP_cuStreamWaitEvent)
		return;
	/* during a capture the null stream can't be asked, either */
	work_stream_hides(s, 0);
	g->captures++;
}

void sched_capture_ended(struct server *s)
{
	struct sched_client *g = s->sched;

	if (g && g->captures)
		g->captures--;
}

static void serve_other(struct server *s, const struct kvgpu_remote_head *h, const void *payload)
{
	struct sched_client *g = s->sched;
	uint64_t since_ns;

	if (hides_work(h->op))
		before_it_hides(s, h, payload);
	if (g->turn && !g->nr && !g->work && may_take_long(h->op))
		sched_give_back(s);
	/*
	 * NVIDIA's driver has the GPU clear memory that it gives or takes back: 2.6 ms for a GiB on
	 * an H100. What ends gives back all that it has: a context, a module, a stream, an
	 * executable graph. A module that graphs refer to ends later (graph_refs.c).
	 */
	since_ns = op_moves(h->op) ? sched_beside(s) : 0;
	s->carry_out(s, h, payload);
	sched_beside_ends(s, since_ns);
}

int sched_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload)
{
	struct sched_client *g = s->sched;

	if (g->deferred) {
		if (!op_passes(h->op) || (g->pieces && !kvgpu_remote_port_is_shared(s->port)))
			return defer_frame(s, h, payload);
		pass_by(s, h, payload);
		return 0;
	}
	if (g->untracked && !__atomic_load_n(&g->shared->closed, __ATOMIC_RELAXED) &&
	    !hides_work(h->op)) {
		s->carry_out(s, h, payload);
		return 0;
	}
	if (!op_works(h->op))
		serve_other(s, h, payload);
	else if (sched_may_submit(s))
		serve_work(s, h, payload);
	else
		return defer_frame(s, h, payload);
	return 0;
}

bool sched_go_on(struct server *s)
{
	struct sched_client *g = s->sched;
	bool any = false;
	struct deferred_frame *f;

	while (g && (f = g->deferred)) {
		bool works = op_works(f->head.op);

		if (works && !sched_may_submit(s))
			return any;
		if (works)
			serve_work(s, &f->head, f->payload);
		else
			serve_other(s, &f->head, f->payload);
		any = true;
		g->deferred = f->next;
		g->nr_deferred--;
		g->deferred_bytes -= f->head.bytes;
		free(f);
	}
	if (g && any) {
		g->pieces = false;
		if (see(&g->shared->want))
			tell(&g->shared->want, 0);
	}
	return any;
}
