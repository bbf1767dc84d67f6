// SPDX-License-Identifier: MIT
/*
 * Work of a turn on the GPU: batches with events behind them, which tell the GPU time. Of work
 * outside of turns it is known whether the streams are idle.
 */
#include "sched_client.h"

/*
 * A stream that captures or is gone got its event before (work_stream_hides()). In a stream of
 * another context no event can be recorded. Then work is charged by the clock until all streams are
 * idle.
 */
static void mark_stream(struct server *s, struct batch *b, uint64_t id)
{
	CUstream stream;
	CUevent event;

	if (!stream_find(s, id, &stream) || not_capturing(s, stream))
		return;
	if (!CALL(s, cuEventCreate, &event, 0)) {
		if (!CALL(s, cuEventRecord, event, stream)) {
			b->events[b->nr++] = event;
			return;
		}
		CALL(s, cuEventDestroy_v2, event);
	}
	s->sched->untracked = true;
}

void work_close(struct server *s)
{
	struct sched_client *g = s->sched;
	struct batch *b = &g->batches[(g->first + g->nr) % BATCHES];
	CUstreamCaptureMode mode;
	unsigned int i;

	if (!g->work || g->nr == BATCHES || s->current != g->context)
		return;
	mode = capture_relax(s);
	*b = (struct batch){ .work = g->work };
	for (i = 0; i < g->nr_streams; i++)
		mark_stream(s, b, g->streams[i]);
	capture_restore(s, mode);
	g->nr++;
	g->work = g->nr_streams = 0;
	g->spin_ns = sched_now();
}

static void drop_batch(struct server *s, struct batch *b)
{
	while (b->nr)
		CALL(s, cuEventDestroy_v2, b->events[--b->nr]);
}

/* ns from the segment's begin to the end of this batch; if the library can't tell, until now */
static uint64_t time_of(struct server *s, const struct batch *b)
{
	struct sched_client *g = s->sched;
	uint64_t most = g->measured, ns;
	unsigned int i;
	float ms;

	for (i = 0; i < b->nr; i++) {
		if (CALL(s, cuEventElapsedTime, &ms, g->begin, b->events[i]) ||
		    !(ms >= 0 && ms < 1e9f))
			ns = sched_now() - g->begun_ns;
		else
			ns = ms * 1e6;
		most = ns > most ? ns : most;
	}
	return most;
}

static void account(struct sched_client *g, uint64_t ns)
{
	g->turn_used += ns;
	__atomic_store_n(&g->shared->used, g->shared->used + ns, __ATOMIC_RELEASE);
}

uint64_t sched_beside(const struct server *s)
{
	struct sched_client *g = s->sched;

	if (!g || g->beside || !see(&g->shared->closed))
		return 0;
	g->beside = true;
	return sched_now();
}

/*
 * In a turn: charge the time up to @now that is not accounted yet. An event that happens later is
 * charged from @now on.
 */
static void account_upto(struct sched_client *g, uint64_t since_ns, uint64_t now)
{
	uint64_t from = g->begun ? g->begun_ns + g->measured : g->ended_ns ? g->ended_ns : since_ns;

	if (now <= from)
		return;
	account(g, now - from);
	g->clocked = true;
	if (g->begun)
		g->measured = now - g->begun_ns;
	else
		g->ended_ns = now;
}

/*
 * In a turn nothing else charges this time, if no event comes behind it. Without a turn it is in
 * what untracked work is charged.
 */
void sched_beside_ends(struct server *s, uint64_t since_ns)
{
	struct sched_client *g = s->sched;

	if (!since_ns)
		return;
	g->beside = false;
	if (g->turn)
		account_upto(g, since_ns, sched_now());
	else if (!g->untracked)
		account(g, sched_now() - since_ns);
}

static void batch_is_through(struct server *s, struct batch *b)
{
	struct sched_client *g = s->sched;
	uint64_t upto = time_of(s, b), ns = upto - g->measured;

	g->measured = upto;
	account(g, ns);
	if (ns > 2 * BATCH_NS)
		g->most = g->most / 2 ? g->most / 2 : 1;
	else if (ns < BATCH_NS / 2 && b->work >= g->most && g->most < WORK_MOST && !g->clocked)
		g->most *= 2;
	g->clocked = false;
	drop_batch(s, b);
}

/* whether all events of the batch have happened; an error ends the work, too */
static bool is_through(struct server *s, struct batch *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++)
		if (CALL(s, cuEventQuery, b->events[i]) == CUDA_ERROR_NOT_READY)
			return false;
	return true;
}

void work_poll(struct server *s)
{
	struct sched_client *g = s->sched;
	uint64_t before = s->current;
	CUstreamCaptureMode mode;

	if (!g->nr)
		return;
	mode = capture_relax(s);
	if (enter_context(s, g->context)) {
		sched_forget(s, g->context);
	} else {
		while (g->nr && is_through(s, &g->batches[g->first])) {
			batch_is_through(s, &g->batches[g->first]);
			g->first = (g->first + 1) % BATCHES;
			g->nr--;
			g->spin_ns = sched_now();
		}
	}
	enter_context(s, before);
	capture_restore(s, mode);
}

void work_begin(struct server *s)
{
	struct sched_client *g = s->sched;
	CUstreamCaptureMode mode = capture_relax(s);
	CUstream stream;

	g->context = s->current;
	g->begun_ns = sched_now();
	if (g->turn && g->ended_ns && g->begun_ns > g->ended_ns)
		/* the pause since the last segment is charged as a part of the turn */
		account(g, g->begun_ns - g->ended_ns);
	g->measured = 0;
	g->begun = true;
	g->begin = NULL;
	if (own_stream(s, &stream) || CALL(s, cuEventCreate, &g->begin, 0))
		g->begin = NULL;
	else if (CALL(s, cuEventRecord, g->begin, stream)) {
		CALL(s, cuEventDestroy_v2, g->begin);
		g->begin = NULL;
	}
	capture_restore(s, mode);
}

void work_end(struct server *s)
{
	struct sched_client *g = s->sched;
	uint64_t before = s->current;
	CUstreamCaptureMode mode;

	if (!g->begun)
		return;
	mode = capture_relax(s);
	if (!enter_context(s, g->context)) {
		for (; g->nr; g->nr--, g->first = (g->first + 1) % BATCHES)
			drop_batch(s, &g->batches[g->first]);
		if (g->begin)
			CALL(s, cuEventDestroy_v2, g->begin);
	}
	enter_context(s, before);
	capture_restore(s, mode);
	g->begun = false;
	g->begin = NULL;
	g->ended_ns = g->begun_ns + g->measured;
	g->nr = g->work = g->nr_streams = 0;
}

void sched_forget(struct server *s, uint64_t context)
{
	struct sched_client *g = s->sched;
	unsigned int i, kept = 0;
	uint64_t ns;

	if (!g)
		return;
	for (i = 0; i < g->nr_orphans; i++)
		if (g->orphans[i].context != context)
			g->orphans[kept++] = g->orphans[i];
	g->nr_orphans = kept;
	if (!g->begun || g->context != context)
		return;
	ns = sched_now() - g->begun_ns;
	if ((g->nr || g->work) && ns > g->measured) {
		account(g, ns - g->measured);
		g->measured = ns;
	}
	g->ended_ns = g->begun_ns + g->measured;
	g->begun = false;
	g->begin = NULL;
	g->nr = g->work = g->nr_streams = 0;
}

/* ----------------------------------------- work without events behind it: are the streams idle? */

static bool stream_is_idle(struct server *s, CUstream stream)
{
	return not_capturing(s, stream) || CALL(s, cuStreamQuery, stream) != CUDA_ERROR_NOT_READY;
}

static bool context_is_idle(struct server *s, uint32_t at)
{
	struct handles *t = &s->handles;
	uint32_t i;

	if (enter_context(s, t->entries[at].id))
		return true;
	if (!stream_is_idle(s, NULL))
		return false;
	for (i = t->entries[at].child; i; i = t->entries[i].after)
		if (KVGPU_REMOTE_CLASS(t->entries[i].id) == CLASS_STREAM &&
		    !stream_is_idle(s, t->entries[i].what))
			return false;
	return true;
}

static bool orphans_are_through(struct server *s)
{
	struct sched_client *g = s->sched;

	while (g->nr_orphans) {
		struct orphan *o = &g->orphans[g->nr_orphans - 1];

		if (!enter_context(s, o->context)) {
			if (CALL(s, cuEventQuery, o->event) == CUDA_ERROR_NOT_READY)
				return false;
			CALL(s, cuEventDestroy_v2, o->event);
		}
		g->nr_orphans--;
	}
	return true;
}

static bool all_is_idle(struct server *s)
{
	struct handles *t = &s->handles;
	CUstreamCaptureMode mode = capture_relax(s);
	uint64_t before = s->current;
	bool idle = orphans_are_through(s) && !waits_aside(s);
	uint32_t i;

	for (i = 1; idle && i < t->nr_entries; i++)
		if (t->entries[i].what && KVGPU_REMOTE_CLASS(t->entries[i].id) == CLASS_CONTEXT)
			idle = context_is_idle(s, i);
	enter_context(s, before);
	capture_restore(s, mode);
	return idle;
}

void work_poll_idle(struct server *s)
{
	struct sched_client *g = s->sched;
	uint64_t now = sched_now();

	if (!g->untracked || now < g->look_ns)
		return;
	if (!g->look_ns && !g->turn && !see(&g->shared->closed)) {
		g->look_ns = now + QUIET_NS;
		return;
	}
	if (all_is_idle(s)) {
		g->untracked = false;
		if (!g->turn) {
			tell(&g->shared->busy, 0);
			if (see(&g->shared->closed))
				sched_ring(g);
		}
		return;
	}
	g->quiet_ns = g->quiet_ns < QUIET_MAX_NS ? 2 * g->quiet_ns : QUIET_MAX_NS;
	g->look_ns = now + g->quiet_ns;
}

/* whether stream @id has work without an event behind it */
static bool has_work(const struct sched_client *g, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < g->nr_streams; i++)
		if (g->streams[i] == id)
			return true;
	return false;
}

/* Keep an event behind the stream's work in .orphans. If that fails, wait for the work. */
static void leave_event(struct server *s, uint64_t id, CUstream stream)
{
	struct sched_client *g = s->sched;
	uint64_t before = s->current;
	CUevent event;

	/* an event has to be of its stream's context */
	if (id > 1 && enter_context(s, parent_of(s, id)))
		return;
	if (g->nr_orphans == ORPHANS || CALL(s, cuEventCreate, &event, CU_EVENT_DISABLE_TIMING)) {
		CALL(s, cuStreamSynchronize, stream);
	} else if (CALL(s, cuEventRecord, event, stream)) {
		CALL(s, cuEventDestroy_v2, event);
		CALL(s, cuStreamSynchronize, stream);
	} else {
		g->orphans[g->nr_orphans++] = (struct orphan){ s->current, event };
		g->untracked = true;
		tell(&g->shared->busy, 1);
	}
	enter_context(s, before);
}

void work_stream_hides(struct server *s, uint64_t id)
{
	struct sched_client *g = s->sched;
	CUstreamCaptureMode mode;
	CUstream stream;

	id = id > 1 ? id : 0;
	if (!s->current || !stream_find(s, id, &stream))
		return;
	if (has_work(g, id))
		work_close(s);
	if (!g->untracked && !has_work(g, id))
		return;
	mode = capture_relax(s);
	if (!stream_is_idle(s, stream))
		leave_event(s, id, stream);
	capture_restore(s, mode);
}

void work_stream_ends(struct server *s, uint64_t id)
{
	if (id > 1)
		work_stream_hides(s, id);
}

/* ------------------------------------------------------------------ */

void work_submitted(struct server *s, const struct kvgpu_remote_head *h, const void *payload)
{
	struct sched_client *g = s->sched;
	int at = op_stream_at(h->op);
	uint64_t id = 0;

	if (!g->turn || !g->begun)
		return;
	if (at >= 0 && at + sizeof(id) <= h->bytes)
		memcpy(&id, (const uint8_t *)payload + at, sizeof(id));
	id = id > 1 ? id : 0;
	g->work++;
	g->through_ns = 0;
	if (!has_work(g, id))
		g->streams[g->nr_streams++] = id;
	/*
	 * the synchronous forms of these work in the null stream, whatever stream the frame names
	 */
	if ((h->op == OP_box || h->op == OP_run || h->op == OP_peer) && !has_work(g, 0))
		g->streams[g->nr_streams++] = 0;
}
