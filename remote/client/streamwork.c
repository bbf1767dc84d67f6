// SPDX-License-Identifier: MIT
/*
 * What streams have to do, as far as calls tell: which calls have given a stream work, and up to
 * which call all of that is known to be done.
 */
#include "client.h"

/*
 * These give a stream nothing to do. cuEventRecord() does, but what is done at once when all before
 * it is: like a copy of bytes that came with their frame.
 */
static bool asks_only(uint16_t op)
{
	return op == OP_cuStreamSynchronize || op == OP_cuStreamQuery;
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

	if (c->op == OP_cuCtxWaitEvent)
		p->work_all = c->serial;
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

	pthread_mutex_lock(&p->submit);
	note_through(begin_work(p, stream, context_of(&c->to)), c->serial);
	pthread_mutex_unlock(&p->submit);
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

enum work_left work_left(struct peer *p, const struct route *to, uint64_t stream)
{
	const struct stream_work *w = place_of(p, stream);
	const uint64_t key = stream ? stream : context_of(to);
	enum work_left left = WORK_UNKNOWN;

	pthread_mutex_lock(&p->submit);
	if (key && w->stream == key && is_through(p, w))
		left = w->light > w->through	      ? WORK_LIGHT :
		       w->through == p->submitted ? WORK_NONE_SINCE :
						      WORK_NONE;
	pthread_mutex_unlock(&p->submit);
	return left;
}
