// SPDX-License-Identifier: MIT
/*
 * What streams have to do, as far as calls tell: which calls have given a stream work, and up to
 * which call an answer told that all of it is done, whichever thread waited. A wait for a stream
 * without work needs no answer. If a stream has got nothing since but events and small copies whose
 * bytes came along, a frame `barrier` can stand in for the wait: later calls of all threads come
 * behind it, so nobody sees a difference who has no other way to the memory.
 *
 * A stream that has waited for an event has seen the end of what the event was recorded behind, in
 * another stream. No stream need wait for an event behind which all is done.
 */
#include "client.h"

/* so many bytes of copies the program does not wait for */
enum { UNWAITED_MAX = 1 << 20 };

/*
 * These give a stream nothing to do. cuEventRecord() does, but what is done at once when all before
 * it is: like a copy of bytes that came with their frame.
 */
static bool asks_only(uint16_t op)
{
	return op == OP_cuStreamSynchronize || op == OP_cuStreamQuery || op == OP_barrier;
}

/* .shares: from now on other programs may have a part in what memory and events do */
static void note_other(struct peer *p, const struct call *c)
{
	switch (c->op) {
	case OP_cuCtxWaitEvent:
		p->work_all = c->serial;
		break;
	case OP_share_open:
	case OP_cuIpcGetMemHandle:
	case OP_cuIpcGetEventHandle:
	case OP_cuIpcOpenEventHandle:
		p->shares = true;
		break;
	case OP_cuGraphAddEventRecordNode:
	case OP_cuGraphEventRecordNodeSetEvent:
	case OP_cuGraphExecEventRecordNodeSetEvent:
		__atomic_store_n(&p->records_hidden, true, __ATOMIC_RELAXED);
	}
}

static struct event_record *record_place(struct peer *p, uint64_t event)
{
	return &p->records[KVGPU_REMOTE_INDEX(event) % EVENTS_KNOWN];
}

/* NULL: it is not known where the event was recorded last */
static const struct event_record *record_of(struct peer *p, uint64_t event)
{
	const struct event_record *r = record_place(p, event);

	return r->event == event && r->stream && !p->shares &&
			       !__atomic_load_n(&p->records_hidden, __ATOMIC_RELAXED) ?
		       r :
		       NULL;
}

/*
 * Of a record that is waited for nothing is known: it may fail, or be of a capture. Such a one in a
 * capture may also become a node of a graph.
 */
static void note_record(struct peer *p, const struct call *c, bool queued)
{
	struct q_cuEventRecordWithFlags q = { 0 };

	memcpy(&q, c->fixed, c->bytes < sizeof(q) ? c->bytes : sizeof(q));
	*record_place(p, q.event) = (struct event_record){ .event = q.event,
							   .stream = queued ? q.stream : 0,
							   .serial = c->serial };
	if (q.flags)
		__atomic_store_n(&p->records_hidden, true, __ATOMIC_RELAXED);
}

static void note_wait(struct peer *p, const struct call *c, struct stream_work *w)
{
	const struct q_cuStreamWaitEvent *q = c->fixed;
	const struct event_record *r = record_of(p, q->event);

	if (!r)
		return;
	w->waits = c->serial;
	w->behind = r->stream;
	w->behind_serial = r->serial;
}

static bool is_light(const struct call *c)
{
	return c->copied || c->op == OP_cuEventRecord || c->op == OP_cuEventRecordWithFlags;
}

static uint64_t context_of(const struct route *to)
{
	uint32_t mode;

	return to->ctx ? to->ctx->id : current_id(to->peer, &mode);
}

/* where a stream of that number would be; @stream 0: a null stream */
static struct stream_work *place_of(struct peer *p, uint64_t stream)
{
	return stream ? &p->streams[KVGPU_REMOTE_INDEX(stream) % STREAMS_KNOWN] : &p->null_stream;
}

/* of a stream that is not there nothing is known: all calls so far may have given it work */
static struct stream_work *begin_work(struct peer *p, uint64_t stream, uint64_t ctx)
{
	struct stream_work *w = place_of(p, stream);
	const uint64_t key = stream ? stream : ctx;

	if (w->stream != key)
		*w = (struct stream_work){ .stream = key, .work = p->submitted };
	return w;
}

void work_sent(struct peer *p, const struct call *c, bool queued)
{
	const int at = op_names_stream(c->op);
	struct stream_work *w;
	uint64_t stream = 0;

	if (at == NAMES_NO_STREAM)
		note_other(p, c);
	if (at == NAMES_NO_STREAM || asks_only(c->op))
		return;
	if (at >= 0)
		memcpy(&stream, (const uint8_t *)c->fixed + at, sizeof(stream));
	w = begin_work(p, stream, p->named_context);
	if (is_light(c)) {
		w->light = c->serial;
		w->bytes += c->copied;
		if (!c->copied)
			note_record(p, c, queued);
	} else {
		w->work = c->serial;
		if (c->op == OP_cuStreamWaitEvent && queued)
			note_wait(p, c, w);
	}
	if (stream)
		p->work_any = c->serial;
}

/* call with `submit` */
static void note_through(struct peer *p, struct stream_work *w, uint64_t serial)
{
	uint64_t behind;

	while (w) {
		if (w->through < serial)
			w->through = serial;
		if (w->light <= w->through)
			w->bytes = 0;
		behind = w->waits <= w->through ? w->behind : 0;
		if (!behind)
			break;
		serial = w->behind_serial;
		w->behind = 0;
		w = place_of(p, behind);
		w = w->stream == behind ? w : NULL;
	}
}

void work_done(const struct call *c, uint64_t stream)
{
	struct peer *p = c->to.peer;

	fair_lock_take(&p->submit);
	note_through(p, begin_work(p, stream, context_of(&c->to)), c->serial);
	fair_lock_release(&p->submit);
}

/*
 * Call with `submit`. Whether stream @w has done all work, but for what is_light(). A null stream
 * waits for other streams.
 */
static bool is_through(const struct peer *p, const struct stream_work *w)
{
	return w->work <= w->through && p->work_all <= w->through &&
	       (w != &p->null_stream || p->work_any <= w->through);
}

/*
 * Call with `submit`. The null stream of context @ctx does nothing that its other streams wait for,
 * but for what is_light().
 */
static bool null_is_through(const struct peer *p, uint64_t ctx)
{
	const struct stream_work *w = &p->null_stream;

	return !w->stream || (w->stream == ctx && w->work <= w->through);
}

/* call with `submit` */
static bool is_little(struct peer *p, const struct stream_work *w)
{
	if (__atomic_load_n(&p->answered, __ATOMIC_ACQUIRE) >= p->barrier)
		p->unwaited = 0;
	return p->unwaited + w->bytes <= UNWAITED_MAX;
}

enum work_left work_left(struct peer *p, uint64_t ctx, uint64_t stream, bool alone)
{
	const struct stream_work *w = place_of(p, stream);
	enum work_left left = WORK_UNKNOWN;

	fair_lock_take(&p->submit);
	if (w->stream != (stream ? stream : ctx) || !is_through(p, w))
		left = WORK_UNKNOWN;
	else if (w->light <= w->through)
		left = w->through == p->submitted ? WORK_NONE_SINCE : WORK_NONE;
	else if (!p->shares && (alone || !stream || null_is_through(p, ctx)) && is_little(p, w))
		left = WORK_LIGHT;
	fair_lock_release(&p->submit);
	return left;
}

/* what is recorded in a stream that waits for the null stream comes behind that one's work, too */
bool work_is_past(struct peer *p, uint64_t event)
{
	const struct event_record *r;
	const struct stream_work *w;
	bool past = false;

	fair_lock_take(&p->submit);
	r = record_of(p, event);
	w = r ? place_of(p, r->stream) : NULL;
	if (w && w->stream == r->stream)
		past = r->serial <= w->through ||
		       (is_through(p, w) && !w->bytes && stream_is_alone(p, r->stream));
	fair_lock_release(&p->submit);
	return past;
}

/* another thread may have given the stream work before the barrier: that is to be waited for */
void work_barred(const struct call *c, uint64_t ctx, uint64_t stream)
{
	struct peer *p = c->to.peer;
	struct stream_work *w = place_of(p, stream);

	fair_lock_take(&p->submit);
	p->barrier = p->barrier < c->seq ? c->seq : p->barrier;
	if (w->stream == (stream ? stream : ctx) && is_through(p, w)) {
		p->unwaited += w->bytes;
		note_through(p, w, c->serial);
	}
	fair_lock_release(&p->submit);
}
