// SPDX-License-Identifier: MIT
/*
 * Waiting for the GPU without holding up other threads of the client: an event behind the work is
 * looked at between frames. A frame that would make the library wait may be put aside, and served
 * again when its stream has done that work. The stream may have more work by then; a frame is put
 * aside only once, so the library waits for that.
 *
 * If no event can be recorded (an error, a capture), the library's own function waits or returns
 * the error. The frame "idle" instead leaves out streams that capture, answers CUDA_ERROR_UNKNOWN
 * after an error, and waits in the library for each stream beyond EVENTS_MAX.
 */
#include <stdlib.h>

#include "server.h"

/*
 * Where marked bytes tell of a copy's end, its event is looked at each EVENT_EACH-th time: that
 * takes longer, and tells of errors.
 */
enum { EVENTS_MAX = 256, EVENT_EACH = 8 };

struct wait {
	struct wait *next;
	struct kvgpu_remote_head head;
	uint64_t context; /* the context in which the wait began */
	uint64_t stream; /* the number of the only stream with .events, or 0 */
	uint64_t served; /* s->frame.served when the wait began */
	CUevent *events; /* the server's own; or .client */
	unsigned int nr, done; /* events in .events; how many of them, in order, have happened */
	CUevent client; /* an event of the client */
	void *payload; /* of the frame, which is served again; NULL: the frame is answered */
	void *bytes; /* the answer's payload, from readback_take() */
	uint64_t nr_bytes;
	uint64_t give_at, give; /* bytes of the arena that the client gets ahead of the answer */
	uint32_t mark; /* in .bytes until the GPU has copied; 0: none */
	unsigned int looks; /* at the mark */
	bool shown; /* waits for events in s->waits.shown */
	bool copies; /* waits for copies of frames up to .upto, in any context */
	uint64_t upto;
	/*
	 * of an event that programs share. .elsewhere: another program has made the record, and it
	 * is waited for. .tells: this program has; it has happened when .events has, and no frame
	 * waits
	 */
	struct shared_record record;
	bool elsewhere, tells;
};

/* ------------------------------------------------------------------ what kernels print */

void prints_begin(struct server *s, const struct kvgpu_remote_head *h, const void *payload)
{
	struct waits *q = &s->waits;
	int at = op_stream_at(h->op);
	uint64_t stream = 0;

	if (!q->may_print || !op_works(h->op) || h->op == OP_copy_in || h->op == OP_copy_out)
		return;
	if (at >= 0 && at + sizeof(stream) <= h->bytes)
		memcpy(&stream, (const uint8_t *)payload + at, sizeof(stream));
	stream = stream > 1 ? stream : 0;
	q->printing_in = !q->printing || q->printing_in == stream ? stream : 0;
	q->printing = s->frame.served;
}

/* a function of the library has waited for all that @stream had when @served frames were served */
static void prints_end(struct server *s, uint64_t stream, uint64_t served)
{
	struct waits *q = &s->waits;

	if (stream && stream == q->printing_in && served >= q->printing)
		q->printing = q->printing_in = 0;
}

static uint64_t number_of(struct server *s, CUstream stream)
{
	return stream ? handle_known(s, CLASS_STREAM, stream) : 0;
}

static void destroy_events(struct server *s, struct wait *w)
{
	unsigned int i;

	for (i = 0; i < w->nr; i++)
		event_put(s, w->context, w->events[i]);
	w->nr = 0;
}

static void free_wait(struct wait *w)
{
	free(w->events);
	free(w->payload);
	free(w);
}

static struct wait *new_wait(struct server *s, unsigned int max)
{
	struct wait *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->head = s->frame.head;
	w->context = s->current;
	w->served = s->frame.served;
	w->events = calloc(max + 1, sizeof(*w->events));
	if (w->events)
		return w;
	free_wait(w);
	return NULL;
}

static void add_wait(struct server *s, struct wait *w)
{
	struct wait **at;

	for (at = &s->waits.list; *at; at = &(*at)->next)
		;
	*at = w;
}

static void begin_wait(struct server *s, struct wait *w)
{
	add_wait(s, w);
	s->frame.later = true;
}

/* record an event; false: an error */
static bool mark_words(struct server *s, struct wait *w, CUstream stream)
{
	CUevent event;

	if (event_take(s, &event))
		return false;
	w->events[w->nr++] = event;
	return !CALL(s, cuEventRecord, event, stream);
}

/* ------------------------------------------------------------------ ends of waits */

static bool words_came(const struct wait *w)
{
	return w->mark && readback_came(w->bytes, w->nr_bytes, w->mark);
}

/*
 * CUDA_SUCCESS: the events of copies that were shown to be over when @served frames were served
 * have happened; else CUDA_ERROR_NOT_READY
 */
static CUresult shown_look(struct server *s, uint64_t served)
{
	struct waits *q = &s->waits;
	uint64_t before = s->current;
	CUresult r = CUDA_SUCCESS;
	unsigned int i, kept = 0;

	for (i = 0; i < q->nr_shown; i++) {
		const struct shown n = q->shown[i];

		if (n.served > served) {
			q->shown[kept++] = n;
		} else if (!enter_context(s, n.context)) {
			if (CALL(s, cuEventQuery, n.event) == CUDA_ERROR_NOT_READY) {
				q->shown[kept++] = n;
				r = CUDA_ERROR_NOT_READY;
			} else {
				event_put(s, n.context, n.event);
			}
		}
	}
	q->nr_shown = kept;
	enter_context(s, before);
	return r;
}

/*
 * The words of the copy came, so it is answered; its event may still be to come. Keep the event for
 * a later question. The one before it in the stream is not needed any more.
 */
static void keep_shown(struct server *s, struct wait *w)
{
	struct waits *q = &s->waits;
	unsigned int i;

	for (i = 0; i < q->nr_shown; i++)
		if (q->shown[i].context == w->context && q->shown[i].stream == w->stream)
			break;
	if (i == SHOWN_MAX) {
		shown_look(s, UINT64_MAX);
		i = q->nr_shown;
	}
	if (i == SHOWN_MAX) {
		CALL(s, cuEventSynchronize, w->events[0]);
		return;
	}
	if (i == q->nr_shown)
		q->nr_shown++;
	else
		event_put(s, w->context, q->shown[i].event);
	q->shown[i] = (struct shown){ w->context, w->stream, s->frame.served, w->events[0] };
	w->nr = 0;
}

static CUresult look_at(struct server *s, struct wait *w)
{
	CUresult r = CUDA_SUCCESS;

	if (words_came(w))
		return CUDA_SUCCESS;
	if (w->shown)
		return shown_look(s, w->served);
	if (w->copies)
		return copies_look(s, w->upto);
	if (w->elsewhere)
		return shared_record_happened(s, &w->record) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
	/* the last frame may have been that of a thread without a context */
	if (enter_context(s, w->context))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	if (w->client)
		return CALL(s, cuEventQuery, w->client);
	while (w->done < w->nr) {
		r = CALL(s, cuEventQuery, w->events[w->done]);
		if (r)
			break;
		w->done++;
	}
	return r;
}

/* a pool gives back what it has too much when the library waits */
static bool library_must_wait(const struct server *s)
{
	return s->waits.printing || s->mempools.changed;
}

static void library_waited(struct server *s)
{
	if (s->mempools.changed)
		mempools_look(s);
}

/*
 * The library's own waiting function also gets what kernels printed, and returns their asserts. It
 * is not called if nothing was loaded that may print, or there was no work but copies of one line
 * from or to the host, and no pool has changed.
 */
static CUresult last_word(struct server *s, struct wait *w, CUresult r)
{
	CUevent event = w->client ? w->client : w->nr ? w->events[w->nr - 1] : NULL;

	if (r || !event || !library_must_wait(s))
		return r;
	r = CALL(s, cuEventSynchronize, event);
	w->done = w->nr;
	if (!r && !w->client)
		prints_end(s, w->stream, w->served);
	library_waited(s);
	return r;
}

/*
 * Answer with the bytes that the GPU has copied, padded to whole words: the padding has older bytes
 * of the same client.
 */
static void answer_with(struct server *s, struct wait *w, CUresult r)
{
	struct kvgpu_remote_reply out = { .at = w->bytes,
					  .room = KVGPU_REMOTE_INLINE_MAX,
					  .used = (w->nr_bytes + 7) & ~7ull };

	if (!r && w->give && kvgpu_remote_return(s->port, w->give_at, w->give))
		r = CUDA_ERROR_UNKNOWN;
	frame_answer(s, &w->head, r, !r && w->bytes ? &out : NULL);
	if (w->bytes)
		readback_put(s, w->bytes);
}

/* @here: the context is still there, and with it .events */
static void tell_record(struct server *s, struct wait *w, bool here)
{
	uint64_t before = s->current;

	shared_record_happens(s, &w->record);
	if (here && !enter_context(s, w->context))
		destroy_events(s, w);
	enter_context(s, before);
	free_wait(w);
}

/*
 * End the wait @w, which is in no list any more: serving its frame may begin another wait, or end
 * some.
 */
static void end_wait(struct server *s, struct wait *w, CUresult r)
{
	uint64_t before = s->current;

	if (w->tells) {
		tell_record(s, w, true);
		return;
	}
	if (w->copies || (w->elsewhere && !w->payload)) {
		frame_answer(s, &w->head, r, NULL);
		free_wait(w);
		return;
	}
	if (enter_context(s, w->context))
		r = CUDA_ERROR_CONTEXT_IS_DESTROYED;
	else if (!w->payload)
		r = last_word(s, w, r);
	if (!r && !w->payload)
		copies_ended(s, w->stream, w->served);
	if (s->current == w->context) {
		if (!r && w->mark && w->done < w->nr)
			keep_shown(s, w);
		destroy_events(s, w);
	}
	if (w->payload && r != CUDA_ERROR_CONTEXT_IS_DESTROYED) {
		s->frame.again = true;
		s->carry_out(s, &w->head, w->payload);
		s->frame.again = false;
	} else {
		answer_with(s, w, r);
	}
	enter_context(s, before);
	free_wait(w);
}

/*
 * End the first wait that is over, among those that give bytes or among the others. Return whether
 * there was one. *relaxed: capture_relax() was called, which gave *mode.
 */
static bool end_one(struct server *s, bool gives, bool *relaxed, CUstreamCaptureMode *mode)
{
	uint64_t before = s->current;
	struct wait **at, *w;
	CUresult r;

	for (at = &s->waits.list; (w = *at); at = &w->next) {
		if (!w->give == gives || (w->mark && !words_came(w) && ++w->looks % EVENT_EACH))
			continue;
		if (!*relaxed)
			*mode = capture_relax(s);
		*relaxed = true;
		r = look_at(s, w);
		enter_context(s, before);
		if (r == CUDA_ERROR_NOT_READY)
			continue;
		*at = w->next;
		end_wait(s, w, r);
		return true;
	}
	return false;
}

bool waits_look(struct server *s)
{
	CUstreamCaptureMode mode;
	bool any = false, relaxed = false;

	while (end_one(s, false, &relaxed, &mode))
		any = true;
	if (relaxed)
		capture_restore(s, mode);
	return any;
}

bool waits_give(struct server *s)
{
	CUstreamCaptureMode mode;
	bool relaxed = false, any = end_one(s, true, &relaxed, &mode);

	if (relaxed)
		capture_restore(s, mode);
	return any;
}

static void shown_forget(struct server *s, uint64_t context)
{
	struct waits *q = &s->waits;
	unsigned int i, kept = 0;

	for (i = 0; i < q->nr_shown; i++)
		if (q->shown[i].context != context)
			q->shown[kept++] = q->shown[i];
	q->nr_shown = kept;
}

static void give_up(struct server *s, struct wait **at, CUresult r)
{
	struct wait *w = *at;

	*at = w->next;
	if (w->tells) {
		tell_record(s, w, false);
		return;
	}
	frame_answer(s, &w->head, r, NULL);
	free_wait(w);
}

void waits_forget_event(struct server *s, const void *event)
{
	struct wait **at = &s->waits.list;

	while (*at) {
		if ((*at)->client == event) {
			destroy_events(s, *at);
			give_up(s, at, CUDA_ERROR_INVALID_HANDLE);
		} else {
			at = &(*at)->next;
		}
	}
}

/* The server's own events end with their context: then they are not touched. */
void waits_forget_context(struct server *s, uint64_t context)
{
	struct wait **at = &s->waits.list;

	shown_forget(s, context);
	while (*at) {
		if ((*at)->context == context && !(*at)->copies && !(*at)->elsewhere)
			give_up(s, at, CUDA_ERROR_CONTEXT_IS_DESTROYED);
		else
			at = &(*at)->next;
	}
}

bool waits_aside(const struct server *s)
{
	const struct wait *w;

	for (w = s->waits.list; w; w = w->next)
		if (w->payload && !w->elsewhere)
			return true;
	return false;
}

const void *waits_put_aside(const struct server *s)
{
	const struct wait *w = s->waits.list;

	while (w && w->next)
		w = w->next;
	return w ? w->payload : NULL;
}

bool waits_answer_later(const struct server *s, uint16_t completion)
{
	const struct wait *w;

	for (w = s->waits.list; w; w = w->next)
		if (w->head.completion == completion)
			return true;
	return false;
}

void waits_free(struct server *s)
{
	struct waits *q = &s->waits;

	while (q->list) {
		struct wait *w = q->list;

		q->list = w->next;
		free_wait(w);
	}
}

/* ------------------------------------------------------------------ begins of waits */

CUresult may_copy(struct server *s, CUstream stream)
{
	CUresult r = not_capturing(s, stream);

	return !stream && r == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ? CUDA_SUCCESS : r;
}

static CUresult wait_at(struct server *s, CUstream stream)
{
	struct wait *w = new_wait(s, 1);

	if (w && mark_words(s, w, stream)) {
		w->stream = number_of(s, stream);
		begin_wait(s, w);
		return CUDA_SUCCESS;
	}
	if (w) {
		destroy_events(s, w);
		free_wait(w);
	}
	return CALL(s, cuStreamSynchronize, stream);
}

CUresult own_cuStreamSynchronize(struct server *s, CUstream stream)
{
	CUresult r = CALL(s, cuStreamQuery, stream);

	if (r == CUDA_ERROR_NOT_READY)
		return wait_at(s, stream);
	if (r)
		return r;
	copies_ended(s, number_of(s, stream), s->frame.served);
	if (!library_must_wait(s))
		return r;
	r = CALL(s, cuStreamSynchronize, stream);
	if (!r)
		prints_end(s, number_of(s, stream), s->frame.served);
	library_waited(s);
	return r;
}

/* The client sends it where only small copies are to be done: no other frame is held up long. */
CUresult frame_barrier(struct server *s, const struct q_barrier *q, struct kvgpu_remote_cursor *in,
		       struct kvgpu_remote_reply *out)
{
	CUstream stream;
	CUresult r;

	if (!stream_find(s, q->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	r = wait_for_stream(s, stream);
	if (!r) {
		copies_ended(s, number_of(s, stream), s->frame.served);
		prints_end(s, number_of(s, stream), s->frame.served);
	}
	library_waited(s);
	return r;
}

/* a wait with the frame that is served */
static struct wait *new_aside(struct server *s)
{
	struct wait *w = new_wait(s, 1);

	if (w)
		w->payload = malloc(s->frame.head.bytes + 1);
	if (w && w->payload) {
		memcpy(w->payload, s->frame.payload, s->frame.head.bytes);
		return w;
	}
	if (w)
		free_wait(w);
	return NULL;
}

/* wait for the record of an event that another program has made */
static struct wait *new_elsewhere(struct server *s, const struct shared_record *record, bool aside)
{
	struct wait *w = aside ? new_aside(s) : new_wait(s, 0);

	if (w) {
		w->elsewhere = true;
		w->record = *record;
		begin_wait(s, w);
	}
	return w;
}

bool held_by_event(struct server *s, CUevent event)
{
	struct shared_record record;

	return !s->frame.again && shared_event_is_elsewhere(s, event, &record) &&
	       !shared_record_happened(s, &record) && new_elsewhere(s, &record, true);
}

/* where no event can be recorded behind it, as in a capture, nobody waits for it */
void event_recorded(struct server *s, CUevent event, CUstream stream)
{
	struct shared_record record;
	struct wait *w;

	if (!shared_event_recorded(s, event, &record))
		return;
	w = new_wait(s, 1);
	if (w && mark_words(s, w, stream)) {
		w->head = (struct kvgpu_remote_head){ 0 };
		w->record = record;
		w->tells = true;
		add_wait(s, w);
		return;
	}
	shared_record_happens(s, &record);
	if (w) {
		destroy_events(s, w);
		free_wait(w);
	}
}

CUresult own_cuEventRecord(struct server *s, CUevent event, CUstream stream)
{
	CUresult r = CALL(s, cuEventRecord, event, stream);

	if (!r)
		event_recorded(s, event, stream);
	return r;
}

CUresult own_cuEventSynchronize(struct server *s, CUevent event)
{
	struct shared_record record;
	struct wait *w;
	CUresult r;

	if (shared_event_is_elsewhere(s, event, &record))
		return shared_record_happened(s, &record) || new_elsewhere(s, &record, false) ?
			       CUDA_SUCCESS :
			       CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuEventQuery, event);
	if (r != CUDA_ERROR_NOT_READY)
		return r || !s->waits.printing ? r : CALL(s, cuEventSynchronize, event);
	w = new_wait(s, 0);
	if (!w)
		return CUDA_ERROR_OUT_OF_MEMORY;
	w->client = event;
	begin_wait(s, w);
	return CUDA_SUCCESS;
}

/*
 * Record events in the null stream and in all streams of the context that the client made. False:
 * not in all of them.
 */
static bool mark_all(struct server *s, struct wait *w)
{
	struct entry *ctx = handle_entry(s, s->current);
	uint32_t i;

	if (!ctx || !mark_words(s, w, NULL))
		return false;
	for (i = ctx->child; i; i = s->handles.entries[i].after)
		if (KVGPU_REMOTE_CLASS(s->handles.entries[i].id) == CLASS_STREAM &&
		    (w->nr == EVENTS_MAX || !mark_words(s, w, s->handles.entries[i].what)))
			return false;
	return true;
}

static bool captures(struct server *s)
{
	struct entry *ctx = handle_entry(s, s->current);
	uint32_t i;

	if (not_capturing(s, NULL))
		return true;
	for (i = ctx ? ctx->child : 0; i; i = s->handles.entries[i].after)
		if (KVGPU_REMOTE_CLASS(s->handles.entries[i].id) == CLASS_STREAM &&
		    not_capturing(s, s->handles.entries[i].what))
			return true;
	return false;
}

CUresult own_cuCtxSynchronize(struct server *s)
{
	struct wait *w = captures(s) ? NULL : new_wait(s, EVENTS_MAX);

	if (w && mark_all(s, w) && look_at(s, w) == CUDA_ERROR_NOT_READY) {
		begin_wait(s, w);
		return CUDA_SUCCESS;
	}
	if (w) {
		destroy_events(s, w);
		free_wait(w);
	}
	return CALL(s, cuCtxSynchronize);
}

/* record an event unless the stream captures; false: an error */
static bool mark_stream(struct server *s, struct wait *w, CUstream stream)
{
	if (not_capturing(s, stream))
		return true;
	return w->nr == EVENTS_MAX ? !CALL(s, cuStreamSynchronize, stream) :
				     mark_words(s, w, stream);
}

static bool mark_idle(struct server *s, struct wait *w)
{
	struct entry *ctx = handle_entry(s, s->current);
	uint32_t i;

	if (!ctx || !mark_stream(s, w, NULL))
		return false;
	for (i = ctx->child; i; i = s->handles.entries[i].after)
		if (KVGPU_REMOTE_CLASS(s->handles.entries[i].id) == CLASS_STREAM &&
		    !mark_stream(s, w, s->handles.entries[i].what))
			return false;
	return true;
}

static bool is_busy(struct server *s, CUstream stream)
{
	return !not_capturing(s, stream) && CALL(s, cuStreamQuery, stream) == CUDA_ERROR_NOT_READY;
}

static bool any_is_busy(struct server *s)
{
	struct entry *ctx = handle_entry(s, s->current);
	bool busy = is_busy(s, NULL);
	uint32_t i;

	for (i = ctx ? ctx->child : 0; i && !busy; i = s->handles.entries[i].after)
		if (KVGPU_REMOTE_CLASS(s->handles.entries[i].id) == CLASS_STREAM)
			busy = is_busy(s, s->handles.entries[i].what);
	return busy;
}

static CUresult look_idle(struct server *s)
{
	CUstreamCaptureMode mode = capture_relax(s);
	bool busy = any_is_busy(s);

	capture_restore(s, mode);
	return busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult wait_idle(struct server *s)
{
	struct wait *w = new_wait(s, EVENTS_MAX);
	CUstreamCaptureMode mode = capture_relax(s);
	CUresult r = w ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_OUT_OF_MEMORY;

	if (w && mark_idle(s, w))
		r = look_at(s, w);
	if (w && r == CUDA_ERROR_NOT_READY) {
		begin_wait(s, w);
		r = CUDA_SUCCESS;
	} else if (w) {
		destroy_events(s, w);
		free_wait(w);
	}
	capture_restore(s, mode);
	return r;
}

CUresult frame_idle(struct server *s, const struct q_idle *q, struct kvgpu_remote_cursor *in,
		    struct kvgpu_remote_reply *out)
{
	return q->look ? look_idle(s) : wait_idle(s);
}

static bool put_aside(struct server *s, CUstream stream)
{
	struct wait *w;

	if (s->frame.again || CALL(s, cuStreamQuery, stream) != CUDA_ERROR_NOT_READY)
		return false;
	w = new_aside(s);
	if (w && mark_words(s, w, stream)) {
		begin_wait(s, w);
		return true;
	}
	if (w) {
		destroy_events(s, w);
		free_wait(w);
	}
	return false;
}

bool held_by_stream(struct server *s, CUstream stream)
{
	CUstreamCaptureMode mode = capture_relax(s);
	bool held = put_aside(s, stream);

	capture_restore(s, mode);
	return held;
}

/* begin a wait for what the stream has to do now; NULL: none was begun */
static struct wait *wait_behind(struct server *s, CUstream stream)
{
	CUstreamCaptureMode mode = capture_relax(s);
	struct wait *w = new_wait(s, 1);

	if (w && mark_words(s, w, stream)) {
		w->stream = number_of(s, stream);
		begin_wait(s, w);
	} else if (w) {
		destroy_events(s, w);
		free_wait(w);
		w = NULL;
	}
	capture_restore(s, mode);
	return w;
}

bool answer_behind(struct server *s, CUstream stream, void *bytes, uint64_t n, uint32_t pattern)
{
	struct wait *w = wait_behind(s, stream);

	if (w) {
		w->bytes = bytes;
		w->nr_bytes = n;
		w->mark = pattern;
	}
	return w;
}

bool give_behind(struct server *s, CUstream stream, uint64_t at, uint64_t n)
{
	struct wait *w = wait_behind(s, stream);

	if (w) {
		w->give_at = at;
		w->give = n;
	}
	return w;
}

CUresult wait_for_stream(struct server *s, CUstream stream)
{
	CUstreamCaptureMode mode = capture_relax(s);
	CUresult r = CALL(s, cuStreamSynchronize, stream);

	capture_restore(s, mode);
	return r;
}

CUresult wait_for_copies(struct server *s, uint64_t upto)
{
	struct wait *w;

	if (!copies_look(s, upto))
		return CUDA_SUCCESS;
	w = new_wait(s, 0);
	if (!w)
		return CUDA_ERROR_OUT_OF_MEMORY;
	w->copies = true;
	w->upto = upto;
	begin_wait(s, w);
	return CUDA_SUCCESS;
}

/*
 * The frame's question to the library was answered by @r. CUDA_ERROR_NOT_READY may be said of a
 * copy whose words came, or of what the copy waited for, in any stream. Then the frame is served
 * again when the events of such copies have happened.
 */
static CUresult ask_behind_shown(struct server *s, CUresult r)
{
	struct wait *w;

	if (r != CUDA_ERROR_NOT_READY || s->frame.again || !s->waits.nr_shown)
		return r;
	w = new_aside(s);
	if (!w)
		return r;
	w->shown = true;
	begin_wait(s, w);
	return CUDA_SUCCESS;
}

CUresult own_cuStreamQuery(struct server *s, CUstream stream)
{
	return ask_behind_shown(s, CALL(s, cuStreamQuery, stream));
}

CUresult own_cuEventQuery(struct server *s, CUevent event)
{
	struct shared_record record;

	if (shared_event_is_elsewhere(s, event, &record))
		return shared_record_happened(s, &record) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
	return ask_behind_shown(s, CALL(s, cuEventQuery, event));
}

CUresult own_cuEventElapsedTime(struct server *s, float *ms, CUevent start, CUevent end)
{
	return ask_behind_shown(s, CALL(s, cuEventElapsedTime, ms, start, end));
}
