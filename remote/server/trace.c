// SPDX-License-Identifier: MIT
/*
 * A trace of the client, in lines. Of each frame with work for the GPU, and of each that waits, a
 * line has when the frame came, was begun and was answered, and when the GPU began and ended the
 * work: an event ahead of the work and one behind it, in its stream. While a trace is under way, a
 * function here has the place of .carry_out. Without a trace nothing is asked on a frame's way.
 *
 * The lines, in which times are ns since the trace began and names have no blanks:
 *	n FUNCTION NAME
 *	w OPERATION FUNCTION STREAM SLOT BYTES CAME BEGUN ANSWERED GPU-BEGAN GPU-ENDED HOW
 *
 * The GPU's clock: a base event of each context happened at some time of the clock. That time is
 * the earliest by which no work begins before its frame was begun.
 */
#include <stdlib.h>

#include <remote/wire/dump.h>

#include "sched_client.h"

enum {
	WORKS = 4096, /* on the GPU at most; more have no times there */
	OPEN = 64, /* threads of the client that wait */
	KEPT = DEFERRED_MAX + OPEN,
	BASES = 16,
	SPARE = 256,
	NAMES = 4096,
	NAME_MAX_BYTES = 1024
};
#define FINISH_NS (1000 * MS) /* so long work may go on that was begun in the trace's time */

/* how the GPU's times are known */
enum how { ON_GPU, CAPTURED, WAITS, UNKNOWN, LATE, NR_HOWS };

struct work {
	uint64_t came, begun, answered, function, stream, bytes, gpu_began, gpu_ended;
	CUevent begin, end; /* of .base, if ON_GPU */
	struct base *base;
	uint16_t op, slot;
	bool open; /* not answered yet */
	enum how how;
};

struct base {
	uint64_t context;
	CUevent event;
	uint64_t zero_ns; /* when .event happened */
	CUevent spare[SPARE]; /* events with times */
	unsigned int nr_spare;
};

struct trace {
	void (*carry_out)(struct server *s, const struct kvgpu_remote_head *h, const void *payload);
	uint64_t began_ns, until_ns;
	uint32_t used;
	struct base bases[BASES];
	unsigned int nr_bases;
	/* .nr from index .first on; .nr_open of them are not answered */
	struct work works[WORKS];
	unsigned int first, nr, nr_open;
	struct work waits[OPEN];
	unsigned int nr_waits;
	/* when frames came that are kept for later, by their payload */
	struct kept {
		const void *payload;
		uint64_t came;
	} kept[KEPT];
	unsigned int nr_kept;
	const void *last_deferred;
	uint64_t named[NAMES]; /* functions with a line, at their number modulo NAMES */
};

/* ------------------------------------------------------------------ lines */

static void put_line(struct server *s, const char *line, size_t n)
{
	struct trace_shared *d = s->tracing.shared;
	struct trace *t = s->tracing.run;

	if (n > TRACE_ROOM - t->used) {
		tell(&d->dropped, d->dropped + 1);
		return;
	}
	memcpy(s->tracing.text + t->used, line, n);
	t->used += n;
	tell(&d->used, t->used);
}

static unsigned long long since_begin(const struct server *s, uint64_t ns)
{
	return ns ? ns - s->tracing.run->began_ns : 0;
}

static void put_work(struct server *s, const struct work *w)
{
	static const char *const hows[NR_HOWS] = { "gpu", "captured", "waits", "unknown", "late" };
	char line[320];
	int n;

	n = snprintf(line, sizeof(line), "w %.60s %llu %llu %u %llu %llu %llu %llu %llu %llu %s\n",
		     kvgpu_remote_op_name(w->op), (unsigned long long)w->function,
		     (unsigned long long)w->stream, w->slot, (unsigned long long)w->bytes,
		     since_begin(s, w->came), since_begin(s, w->begun), since_begin(s, w->answered),
		     since_begin(s, w->gpu_began), since_begin(s, w->gpu_ended), hows[w->how]);
	put_line(s, line, n);
}

static void name_function(struct server *s, uint64_t id)
{
	uint64_t *known = &s->tracing.run->named[id % NAMES];
	char line[NAME_MAX_BYTES + 32];
	const char *name;
	void *f;
	int n, i;

	if (*known == id || !handle_find(s, CLASS_FUNCTION, id, &f) ||
	    CALL(s, cuFuncGetName, &name, f) || !name)
		return;
	*known = id;
	n = snprintf(line, sizeof(line), "n %llu ", (unsigned long long)id);
	i = n;
	n += snprintf(line + n, sizeof(line) - n, "%.*s\n", NAME_MAX_BYTES, name);
	for (; i < n - 1; i++)
		if (line[i] <= ' ' || line[i] > '~')
			line[i] = '?';
	put_line(s, line, n);
}

/* ------------------------------------------------------------------ times of the GPU */

/* of the current context; NULL: there is none, or no room */
static struct base *base_here(struct server *s)
{
	struct trace *t = s->tracing.run;
	struct base *b;
	CUstream stream;
	unsigned int i;

	for (i = 0; i < t->nr_bases; i++)
		if (t->bases[i].context == s->current)
			return &t->bases[i];
	if (t->nr_bases == BASES || own_stream(s, &stream))
		return NULL;
	b = &t->bases[t->nr_bases];
	*b = (struct base){ .context = s->current, .zero_ns = sched_now() };
	if (CALL(s, cuEventCreate, &b->event, 0))
		return NULL;
	if (CALL(s, cuEventRecord, b->event, stream)) {
		CALL(s, cuEventDestroy_v2, b->event);
		return NULL;
	}
	t->nr_bases++;
	return b;
}

static void give_event(struct server *s, struct base *b, CUevent event)
{
	if (b->nr_spare < SPARE)
		b->spare[b->nr_spare++] = event;
	else
		CALL(s, cuEventDestroy_v2, event);
}

static CUresult record_event(struct server *s, struct base *b, CUstream stream, CUevent *event)
{
	CUresult r = CUDA_SUCCESS;

	if (b->nr_spare)
		*event = b->spare[--b->nr_spare];
	else
		r = CALL(s, cuEventCreate, event, 0);
	if (r)
		return r;
	r = CALL(s, cuEventRecord, *event, stream);
	if (r)
		give_event(s, b, *event);
	return r;
}

/* An event has to be of its stream's context. */
static bool enter_context_of(struct server *s, uint64_t stream)
{
	uint64_t context = stream > 1 ? parent_of(s, stream) : s->current;

	return context && (context == s->current || !enter_context(s, context));
}

/* @end: behind the work, or ahead of it */
static void mark_work(struct server *s, struct work *w, bool end)
{
	CUstreamCaptureMode mode = capture_relax(s);
	uint64_t before = s->current;
	CUstream stream;

	if (!stream_find(s, w->stream, &stream) || !enter_context_of(s, w->stream)) {
		w->how = UNKNOWN;
	} else if (not_capturing(s, stream)) {
		w->how = CAPTURED;
	} else if (!end) {
		w->base = base_here(s);
		w->how = w->base && !record_event(s, w->base, stream, &w->begin) ? ON_GPU : UNKNOWN;
	} else if (record_event(s, w->base, stream, &w->end)) {
		w->how = UNKNOWN;
	}
	if (end && w->how != ON_GPU && s->current == w->base->context)
		give_event(s, w->base, w->begin);
	if (s->current != before)
		enter_context(s, before);
	capture_restore(s, mode);
}

/* ns from the base event to @event; CUDA_ERROR_NOT_READY: one of them is still to come */
static CUresult time_of(struct server *s, const struct base *b, CUevent event, uint64_t *ns)
{
	float ms = -1;
	CUresult r = CALL(s, cuEventElapsedTime, &ms, b->event, event);

	if (!r && !(ms >= 0 && ms < 1e9f))
		r = CUDA_ERROR_UNKNOWN;
	*ns = r ? 0 : ms * 1e6;
	return r;
}

/* whether the GPU's times are known by now, or never will be */
static bool is_through(struct server *s, struct work *w)
{
	struct base *b = w->base;
	uint64_t began, ended;
	CUresult r;

	if (w->how != ON_GPU)
		return true;
	/* a context that was destroyed has taken the events along */
	r = s->current == b->context ? CUDA_SUCCESS : enter_context(s, b->context);
	if (r) {
		w->how = UNKNOWN;
		return true;
	}
	r = time_of(s, b, w->end, &ended);
	r = r ?: time_of(s, b, w->begin, &began);
	if (r == CUDA_ERROR_NOT_READY)
		return false;
	give_event(s, b, w->begin);
	give_event(s, b, w->end);
	if (r || ended < began) {
		w->how = UNKNOWN;
		return true;
	}
	if (w->begun > b->zero_ns + began)
		b->zero_ns = w->begun - began;
	w->gpu_began = b->zero_ns + began;
	w->gpu_ended = b->zero_ns + ended;
	return true;
}

/* ------------------------------------------------------------------ frames */

static void keep_came(struct trace *t, const void *payload, uint64_t came)
{
	if (t->nr_kept < KEPT)
		t->kept[t->nr_kept++] = (struct kept){ payload, came };
}

/* when the frame came that is served now, at @now */
static uint64_t came_of(struct server *s, const void *payload, uint64_t now)
{
	struct sched_client *g = s->sched;
	struct trace *t = s->tracing.run;
	unsigned int i;

	if (!s->frame.again && !(g && g->deferred && g->deferred->payload == payload))
		return now;
	for (i = 0; i < t->nr_kept; i++)
		if (t->kept[i].payload == payload) {
			now = t->kept[i].came;
			t->kept[i] = t->kept[--t->nr_kept];
		}
	return now;
}

/* a frame that has been deferred since the last look came at about @now */
static void note_deferred(struct server *s, uint64_t now)
{
	struct sched_client *g = s->sched;
	struct trace *t = s->tracing.run;
	const struct deferred_frame *f;

	static_assert(!offsetof(struct deferred_frame, next), ".last is the last frame's");
	if (!g || !g->deferred) {
		t->last_deferred = NULL;
		return;
	}
	f = (const struct deferred_frame *)g->last;
	if (f == t->last_deferred)
		return;
	t->last_deferred = f;
	keep_came(t, f->payload, now);
}

static void read_frame(struct server *s, struct work *w, const struct kvgpu_remote_head *h,
		       const void *payload)
{
	const struct q_copy_out *out = payload;
	const struct q_launch *launch = payload;
	const struct q_copy_in *in = payload;
	int at = op_stream_at(h->op);

	if (at >= 0 && at + sizeof(w->stream) <= h->bytes)
		memcpy(&w->stream, (const uint8_t *)payload + at, sizeof(w->stream));
	if (h->op == OP_copy_in && h->bytes >= sizeof(*in))
		w->bytes = in->bytes;
	else if (h->op == OP_copy_out && h->bytes >= sizeof(*out))
		w->bytes = out->bytes;
	else if (h->op == OP_launch && h->bytes >= sizeof(*launch))
		w->function = launch->function;
	if (w->function)
		name_function(s, w->function);
}

/* @w is begun and carried out: its line comes when it is done */
static void add_work(struct server *s, struct work *w)
{
	struct trace *t = s->tracing.run;

	if (w->how != WAITS && t->nr < WORKS) {
		t->nr_open += w->open;
		t->works[(t->first + t->nr++) % WORKS] = *w;
	} else if (w->how == WAITS && w->open && t->nr_waits < OPEN) {
		t->waits[t->nr_waits++] = *w;
	} else {
		put_work(s, w);
	}
}

static bool is_wait(uint16_t op)
{
	return op == OP_cuStreamSynchronize || op == OP_cuCtxSynchronize ||
	       op == OP_cuEventSynchronize;
}

/* the frame was put aside: it has done nothing, and is served again */
static void forget_begin(struct server *s, struct work *w)
{
	uint64_t before = s->current;

	if (w->how == ON_GPU && !enter_context(s, w->base->context))
		give_event(s, w->base, w->begin);
	enter_context(s, before);
}

/* in the place of .carry_out */
static void carry_out(struct server *s, const struct kvgpu_remote_head *h, const void *payload)
{
	struct trace *t = s->tracing.run;
	struct work w = { .op = h->op, .slot = h->completion, .how = WAITS, .begun = sched_now() };
	const void *aside;

	w.came = came_of(s, payload, w.begun);
	if (op_works(h->op)) {
		read_frame(s, &w, h, payload);
		w.how = UNKNOWN;
		if (t->nr < WORKS)
			mark_work(s, &w, false);
	}
	t->carry_out(s, h, payload);
	aside = s->frame.later ? waits_put_aside(s) : NULL;
	if (aside) {
		keep_came(t, aside, w.came);
		forget_begin(s, &w);
		return;
	}
	if (w.how == ON_GPU)
		mark_work(s, &w, true);
	w.answered = sched_now();
	w.open = s->frame.later && w.slot;
	if (w.how != WAITS || w.open || is_wait(w.op))
		add_work(s, &w);
}

/* ------------------------------------------------------------------ while it goes on */

static void see_answer(struct server *s, struct work *w, uint64_t now)
{
	w->open = waits_answer_later(s, w->slot);
	w->answered = now;
}

static void see_answers(struct server *s, uint64_t now)
{
	struct trace *t = s->tracing.run;
	unsigned int i, left = t->nr_open;
	struct work *w;

	for (i = 0; i < t->nr_waits; i++) {
		see_answer(s, &t->waits[i], now);
		if (t->waits[i].open)
			continue;
		put_work(s, &t->waits[i]);
		t->waits[i--] = t->waits[--t->nr_waits];
	}
	for (i = 0; left; i++) {
		w = &t->works[(t->first + i) % WORKS];
		if (!w->open)
			continue;
		left--;
		see_answer(s, w, now);
		t->nr_open -= !w->open;
	}
}

static void see_ends(struct server *s)
{
	struct trace *t = s->tracing.run;
	CUstreamCaptureMode mode;
	uint64_t before = s->current;

	if (!t->nr)
		return;
	mode = capture_relax(s);
	while (t->nr && !t->works[t->first].open && is_through(s, &t->works[t->first])) {
		put_work(s, &t->works[t->first]);
		t->first = (t->first + 1) % WORKS;
		t->nr--;
	}
	if (s->current != before)
		enter_context(s, before);
	capture_restore(s, mode);
}

static void free_base(struct server *s, struct base *b)
{
	if (enter_context(s, b->context))
		return;
	CALL(s, cuEventDestroy_v2, b->event);
	while (b->nr_spare)
		CALL(s, cuEventDestroy_v2, b->spare[--b->nr_spare]);
}

/* what the GPU or a thread still waits for: the events are destroyed */
static void put_rest(struct server *s)
{
	struct trace *t = s->tracing.run;
	struct work *w;
	unsigned int i;

	for (i = 0; i < t->nr_waits; i++) {
		t->waits[i].how = LATE;
		put_work(s, &t->waits[i]);
	}
	for (; t->nr; t->nr--, t->first = (t->first + 1) % WORKS) {
		w = &t->works[t->first];
		if (w->how == ON_GPU && !enter_context(s, w->base->context)) {
			give_event(s, w->base, w->begin);
			give_event(s, w->base, w->end);
		}
		w->how = w->how == CAPTURED ? CAPTURED : LATE;
		put_work(s, w);
	}
}

void trace_end(struct server *s, enum trace_state why)
{
	struct trace *t = s->tracing.run;
	CUstreamCaptureMode mode;
	uint64_t before = s->current;
	unsigned int i;

	if (!t)
		return;
	see_answers(s, sched_now());
	see_ends(s);
	s->carry_out = t->carry_out;
	mode = capture_relax(s);
	put_rest(s);
	for (i = 0; i < t->nr_bases; i++)
		free_base(s, &t->bases[i]);
	enter_context(s, before);
	capture_restore(s, mode);
	free(t);
	s->tracing.run = NULL;
	tell(&s->tracing.shared->state, why);
}

/* Without memory for a trace it has no line, and is over. */
static bool begin_order(struct server *s)
{
	struct trace_shared *d = s->tracing.shared;
	struct trace *t = calloc(1, sizeof(*t));
	uint64_t ms = see(&d->ms);

	tell(&d->used, 0);
	tell(&d->dropped, !t);
	tell(&d->state, t ? TRACE_RUNS : TRACE_OVER);
	tell(&d->begun, see(&d->order));
	if (!t)
		return false;
	t->began_ns = sched_now();
	t->until_ns = t->began_ns + (ms < TRACE_MS_MAX ? ms : TRACE_MS_MAX) * MS;
	t->carry_out = s->carry_out;
	s->carry_out = carry_out;
	s->tracing.run = t;
	return true;
}

bool trace_look(struct server *s)
{
	struct trace_shared *d = s->tracing.shared;
	struct trace *t = s->tracing.run;
	uint64_t now;

	if (!d || (!t && see(&d->order) == d->begun))
		return false;
	if (!t)
		return begin_order(s);
	now = sched_now();
	note_deferred(s, now);
	see_answers(s, now);
	see_ends(s);
	if (now < t->until_ns)
		return true;
	s->carry_out = t->carry_out;
	if ((t->nr || t->nr_waits) && now < t->until_ns + FINISH_NS)
		return true;
	trace_end(s, TRACE_OVER);
	return false;
}

bool trace_rings(const struct server *s, uint32_t order)
{
	return s->tracing.shared && see(&s->tracing.shared->rung) == order;
}

void trace_begin(struct server *s, struct trace_shared *shared, char *text)
{
	s->tracing.shared = shared;
	s->tracing.text = text;
	tell(&shared->can, 1);
}
