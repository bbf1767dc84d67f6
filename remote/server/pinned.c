// SPDX-License-Identifier: MIT
/*
 * The arena as pinned memory of the library, if client and server share the arena; if they don't,
 * only its first bytes, for copies of lines, and the rest for copies of graphs and for mapped
 * memory. It is registered in one context for use in all. From then on the GPU itself may copy from
 * and to the arena after the library has returned: an event behind such a copy is noted, and a
 * fence waits for it.
 *
 * With a library that registers memory, but has no device address for it (cuda/), the arena stays
 * ordinary memory.
 */
#include <stdlib.h>
#include <unistd.h>

#include "server.h"

enum {
	REGISTER_PORTABLE = 1,
	REGISTER_DEVICEMAP = 2,
	NOTED_MAX = 4096,
	LOOK_FROM = 256,
	LOOK_EACH = 64
};

struct noted {
	uint64_t seq, context; /* of the copy's frame */
	uint64_t stream, served; /* the stream's number, 0: none; s->frame.served at the copy */
	CUevent event;
};

static bool register_part(struct server *s, uint8_t *part, uint64_t bytes, CUdeviceptr *device)
{
	/*
	 * a library may refuse to map memory into its GPU that other processes have, too, and still
	 * register it
	 */
	if (CALL(s, cuMemHostRegister_v2, part, bytes, REGISTER_PORTABLE | REGISTER_DEVICEMAP) &&
	    CALL(s, cuMemHostRegister_v2, part, bytes, REGISTER_PORTABLE))
		return false;
	if (!CALL(s, cuMemHostGetDevicePointer_v2, device, part, 0))
		return true;
	CALL(s, cuMemHostUnregister, part);
	s->pinned.reads_late = true;
	return false;
}

/* of part @i of the arena; part 0 is what it had at first */
static uint8_t *part_begin(const struct server *s, unsigned int i)
{
	return s->arena + (i ? s->pinned.more[i - 1] : s->pinned.graphs_from);
}

static uint8_t *part_end(const struct server *s, unsigned int i)
{
	return s->arena + (i < s->pinned.nr_more ? s->pinned.more[i] : s->arena_bytes);
}

/* whether the GPU sees the arena where the CPU does, as parts have no other address in common */
static bool is_whole(const struct server *s)
{
	return s->pinned.device == (uintptr_t)part_begin(s, 0);
}

static bool pin_part(struct server *s, unsigned int i)
{
	uint8_t *part = part_begin(s, i);
	CUdeviceptr device;

	if (!register_part(s, part, part_end(s, i) - part, &device))
		return false;
	if (!i)
		s->pinned.device = device;
	if (!is_whole(s) || device == (uintptr_t)part)
		return true;
	CALL(s, cuMemHostUnregister, part);
	return false;
}

static void unpin_parts(struct server *s, unsigned int n)
{
	while (n)
		CALL(s, cuMemHostUnregister, part_begin(s, --n));
}

static bool pin_arena(struct server *s)
{
	struct pinned *p = &s->pinned;
	unsigned int i;

	p->graphs_from = p->ring_in ? p->ring_bytes : 0;
	for (i = 0; i <= p->nr_more && !p->never; i++)
		p->never = !pin_part(s, i);
	if (p->never && i)
		unpin_parts(s, i - 1);
	return !p->never;
}

bool pinned_more(struct server *s, uint64_t from)
{
	struct pinned *p = &s->pinned;
	uint64_t before = s->current, *grown;
	CUstreamCaptureMode mode;
	bool fine = true;

	if (p->nr_more == p->max_more) {
		grown = realloc(p->more, (p->max_more ? 2 * p->max_more : 64) * sizeof(*grown));
		if (!grown)
			return false;
		p->more = grown;
		p->max_more = p->max_more ? 2 * p->max_more : 64;
	}
	p->more[p->nr_more++] = from;
	if (p->in) {
		mode = capture_relax(s);
		fine = !enter_context(s, p->in) && pin_part(s, p->nr_more);
		enter_context(s, before);
		capture_restore(s, mode);
	}
	p->nr_more -= !fine;
	return fine;
}

bool pinned_less(struct server *s, uint64_t from)
{
	struct pinned *p = &s->pinned;
	uint64_t before = s->current;
	CUstreamCaptureMode mode;

	if (!p->nr_more || p->more[p->nr_more - 1] != from)
		return false;
	if (p->in) {
		mode = capture_relax(s);
		if (!enter_context(s, p->in))
			CALL(s, cuMemHostUnregister, s->arena + from);
		enter_context(s, before);
		capture_restore(s, mode);
	}
	p->nr_more--;
	return true;
}

bool arena_pinned(struct server *s)
{
	struct pinned *p = &s->pinned;
	CUstreamCaptureMode mode;
	bool pinned;

	if (p->in)
		return true;
	if (!s->current || p->never || !kvgpu_remote_port_is_shared(s->port))
		return false;
	mode = capture_relax(s);
	pinned = pin_arena(s);
	capture_restore(s, mode);
	p->in = pinned ? s->current : 0;
	return pinned;
}

bool arena_for_graphs(struct server *s)
{
	struct pinned *p = &s->pinned;
	CUstreamCaptureMode mode;

	if (arena_pinned(s) || p->graphs_in || p->reads_late)
		return true;
	if (!s->current || p->never || kvgpu_remote_port_is_shared(s->port))
		return false;
	mode = capture_relax(s);
	if (pin_arena(s))
		p->graphs_in = s->current;
	capture_restore(s, mode);
	return p->graphs_in || p->reads_late;
}

CUresult frame_map(struct server *s, struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_map *a = kvgpu_remote_put(out, sizeof(*a));
	struct pinned *p = &s->pinned;

	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (kvgpu_remote_port_is_shared(s->port))
		return CUDA_ERROR_INVALID_VALUE;
	arena_for_graphs(s);
	a->mapped = p->graphs_in && p->device == (uintptr_t)s->arena + p->graphs_from;
	p->mapped |= a->mapped;
	return CUDA_SUCCESS;
}

CUresult frame_pin(struct server *s, struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_pin *a = kvgpu_remote_put(out, sizeof(*a));

	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	a->pinned = arena_pinned(s);
	a->device = a->pinned ? s->pinned.device : 0;
	a->whole = a->pinned && is_whole(s);
	return CUDA_SUCCESS;
}

static bool ring_pinned(struct server *s)
{
	struct pinned *p = &s->pinned;
	CUstreamCaptureMode mode;
	CUdeviceptr device;

	if (p->ring_in || (p->graphs_in && !p->graphs_from))
		return true;
	if (!s->current || !p->ring_bytes || p->reads_late)
		return false;
	mode = capture_relax(s);
	if (register_part(s, s->arena, p->ring_bytes, &device))
		p->ring_in = s->current;
	else
		p->ring_bytes = 0;
	capture_restore(s, mode);
	return p->ring_in;
}

bool ring_holds(struct server *s, uint64_t at, uint64_t bytes)
{
	return kvgpu_remote_in_arena(at, bytes, s->pinned.ring_bytes) && ring_pinned(s);
}

CUresult frame_ring(struct server *s, const struct q_ring *q, struct kvgpu_remote_cursor *in,
		    struct kvgpu_remote_reply *out)
{
	struct a_ring *a = kvgpu_remote_put(out, sizeof(*a));
	struct pinned *p = &s->pinned;

	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (kvgpu_remote_port_is_shared(s->port) || q->bytes > s->arena_bytes ||
	    q->bytes % sysconf(_SC_PAGESIZE))
		return CUDA_ERROR_INVALID_VALUE;
	if (!p->ring_in)
		p->ring_bytes = q->bytes;
	a->pinned = ring_pinned(s);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ copies that may go on */

CUresult event_take(struct server *s, CUevent *event)
{
	struct pinned *p = &s->pinned;

	if (p->nr_spare && p->spare[p->nr_spare - 1].context == s->current) {
		*event = p->spare[--p->nr_spare].event;
		return CUDA_SUCCESS;
	}
	return CALL(s, cuEventCreate, event, CU_EVENT_DISABLE_TIMING);
}

void event_put(struct server *s, uint64_t context, CUevent event)
{
	struct pinned *p = &s->pinned;

	if (p->nr_spare == SPARE_EVENTS)
		CALL(s, cuEventDestroy_v2, event);
	else
		p->spare[p->nr_spare++] = (struct spare){ context, event };
}

static struct noted *new_noted(struct server *s)
{
	struct pinned *p = &s->pinned;
	struct noted *grown;

	/* the client may never send a fence */
	if (p->nr_noted >= LOOK_FROM && p->nr_noted % LOOK_EACH == 0)
		copies_look(s, UINT64_MAX);
	if (p->nr_noted == NOTED_MAX)
		return NULL;
	if (p->nr_noted == p->max_noted) {
		grown = realloc(p->noted, (p->max_noted ? 2 * p->max_noted : 64) * sizeof(*grown));
		if (!grown)
			return NULL;
		p->noted = grown;
		p->max_noted = p->max_noted ? 2 * p->max_noted : 64;
	}
	return &p->noted[p->nr_noted];
}

static CUresult note_copy(struct server *s, CUstream stream)
{
	struct noted *n;
	CUevent event;

	n = new_noted(s);
	if (!n || event_take(s, &event))
		return CALL(s, cuStreamSynchronize, stream);
	if (CALL(s, cuEventRecord, event, stream)) {
		event_put(s, s->current, event);
		return CALL(s, cuStreamSynchronize, stream);
	}
	*n = (struct noted){ s->frame.head.seq, s->current,
			     stream ? handle_known(s, CLASS_STREAM, stream) : 0, s->frame.served,
			     event };
	s->pinned.nr_noted++;
	return CUDA_SUCCESS;
}

CUresult copy_late(struct server *s, CUstream stream)
{
	CUstreamCaptureMode mode = capture_relax(s);
	CUresult r = note_copy(s, stream);

	capture_restore(s, mode);
	return r;
}

CUresult copy_begun(struct server *s, CUstream stream)
{
	/* else the library has copied already */
	return s->pinned.in ? copy_late(s, stream) : CUDA_SUCCESS;
}

static void drop_first(struct server *s, unsigned int n)
{
	struct pinned *p = &s->pinned;

	p->nr_noted -= n;
	memmove(p->noted, p->noted + n, p->nr_noted * sizeof(*p->noted));
}

/* drops the first copies only: a question to the event of each takes longer than the copy's call */
void copies_ended(struct server *s, uint64_t stream, uint64_t served)
{
	const struct noted *n = s->pinned.noted;
	unsigned int done;

	for (done = 0; stream && done < s->pinned.nr_noted; done++, n++) {
		if (n->stream != stream || n->served > served || n->context != s->current)
			break;
		event_put(s, n->context, n->event);
	}
	if (done)
		drop_first(s, done);
}

/*
 * Looks as far as the first copy that is not done. Copies of several streams may end in any order.
 */
CUresult copies_look(struct server *s, uint64_t upto)
{
	struct pinned *p = &s->pinned;
	CUstreamCaptureMode mode = capture_relax(s);
	uint64_t before = s->current;
	CUresult r = CUDA_SUCCESS;
	unsigned int done;

	for (done = 0; done < p->nr_noted && p->noted[done].seq <= upto; done++) {
		/* an error of the event ends the copy, too */
		if (enter_context(s, p->noted[done].context))
			continue;
		r = CALL(s, cuEventQuery, p->noted[done].event);
		if (r == CUDA_ERROR_NOT_READY)
			break;
		event_put(s, s->current, p->noted[done].event);
	}
	if (done)
		drop_first(s, done);
	enter_context(s, before);
	capture_restore(s, mode);
	return r == CUDA_ERROR_NOT_READY ? r : CUDA_SUCCESS;
}

/* the ring is registered again for the next copy */
static void unregister(struct server *s, uint64_t context)
{
	struct pinned *p = &s->pinned;

	if (p->in == context || p->graphs_in == context)
		unpin_parts(s, p->nr_more + 1);
	if (p->ring_in == context)
		CALL(s, cuMemHostUnregister, s->arena);
}

/*
 * If mapped memory or copies of graphs still rely on the arena, register it in another context than
 * @gone.
 */
static void pin_again(struct server *s, uint64_t gone)
{
	struct pinned *p = &s->pinned;
	uint64_t *where = p->in ? &p->in : &p->graphs_in;
	bool needed = p->mapped || bounces_live(s);
	uint32_t i;

	p->in = p->graphs_in = 0;
	for (i = 1; needed && i < s->handles.nr_entries && !*where; i++) {
		uint64_t id = s->handles.entries[i].what ? s->handles.entries[i].id : 0;

		if (KVGPU_REMOTE_CLASS(id) == CLASS_CONTEXT && id != gone &&
		    !enter_context(s, id) && pin_arena(s))
			*where = id;
	}
}

void copies_forget(struct server *s, uint64_t context)
{
	struct pinned *p = &s->pinned;
	CUstreamCaptureMode mode;
	uint64_t before = s->current;
	unsigned int i, kept = 0;

	for (i = 0; i < p->nr_noted; i++)
		if (p->noted[i].context != context)
			p->noted[kept++] = p->noted[i];
	p->nr_noted = kept;
	for (i = 0, kept = 0; i < p->nr_spare; i++)
		if (p->spare[i].context != context)
			p->spare[kept++] = p->spare[i];
	p->nr_spare = kept;
	if (p->in != context && p->graphs_in != context && p->ring_in != context)
		return;
	mode = capture_relax(s);
	if (!enter_context(s, context))
		unregister(s, context);
	if (p->ring_in == context)
		p->ring_in = 0;
	if (p->in == context || p->graphs_in == context)
		pin_again(s, context);
	enter_context(s, before);
	capture_restore(s, mode);
}
