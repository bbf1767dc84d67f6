// SPDX-License-Identifier: MIT
/*
 * What streams have to do, as far as calls tell: which calls have given a stream work, and up to
 * which call an answer told that all of it is done, whichever thread waited. A wait for a stream
 * without work needs no answer. If a stream has got nothing since but events and small copies whose
 * bytes came along, a frame `barrier` can stand in for the wait: later calls of all threads come
 * behind it, so nobody sees a difference who has no other way to the memory.
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
	}
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

void work_sent(struct peer *p, const struct call *c)
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
	} else {
		w->work = c->serial;
	}
	if (stream)
		p->work_any = c->serial;
}

/* call with `submit` */
static void note_through(struct stream_work *w, uint64_t serial)
{
	if (w->through < serial)
		w->through = serial;
	if (w->light <= w->through)
		w->bytes = 0;
}

void work_done(const struct call *c, uint64_t stream)
{
	struct peer *p = c->to.peer;

	fair_lock_take(&p->submit);
	note_through(begin_work(p, stream, context_of(&c->to)), c->serial);
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

/* another thread may have given the stream work before the barrier: that is to be waited for */
void work_barred(const struct call *c, uint64_t ctx, uint64_t stream)
{
	struct peer *p = c->to.peer;
	struct stream_work *w = place_of(p, stream);

	fair_lock_take(&p->submit);
	p->barrier = p->barrier < c->seq ? c->seq : p->barrier;
	if (w->stream == (stream ? stream : ctx) && is_through(p, w)) {
		p->unwaited += w->bytes;
		note_through(w, c->serial);
	}
	fair_lock_release(&p->submit);
}
