// SPDX-License-Identifier: MIT
/*
 * Copies from one context to another, on one device or on two; copies in a stream of a context that
 * has none of the memory; copies of host memory that another context has pinned. A piece goes to a
 * staging buffer of the context that it leaves, by the CPU to one of the other context's, and from
 * there to its place. The three steps are submitted at once and wait for each other without a lock
 * of a context.
 */
#include <sched.h>

#include "driver.h"

enum { PIECE_BYTES = 1 << 20 };

struct run {
	const struct crossing *c;
	/* of the caller's stream, and the moment that the copy comes after */
	CUcontext ctx;
	unsigned int life;
	struct moment begin;
	bool after_all; /* also after what both legacy streams come after */
	/*
	 * The copy's own streams in .c->from and .c->to, from whose moments each piece starts.
	 * in_one() has .in alone.
	 */
	struct CUstream_st out, in;
	struct moment done; /* in .c->to, or in .c->from if that is NULL */
};

/* @width bytes of @lines lines, (x, y) further on */
struct part {
	size_t x, y, width, lines;
};

static struct plane shifted(const struct plane *p, const struct part *at)
{
	struct plane q = *p;

	if (p->host) {
		q.host += at->y * p->pitch + at->x;
	} else if (p->tiled) {
		q.blocks.x += at->x;
		q.blocks.y += at->y;
	} else {
		q.va += at->y * p->pitch + at->x;
	}
	return q;
}

/*
 * Make the copy's stream in @ctx, which is locked, unless it was made before. It comes after the
 * caller's stream if that is of @ctx, or if @first.
 */
static CUresult begin_part(const struct run *x, CUcontext ctx, bool first, struct CUstream_st *own)
{
	if (own->ctx)
		return CUDA_SUCCESS;
	*own = (struct CUstream_st){ .magic = MAGIC_STREAM,
				     .ctx = ctx,
				     .flags = CU_STREAM_NON_BLOCKING };
	if (x->after_all)
		own->last = stream_begin(&ctx->null);
	if (ctx == x->ctx)
		moment_merge(&own->last, &x->begin);
	else if (first)
		return host_await(ctx, own, x->ctx, x->life, &x->begin);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ staging buffers */

/*
 * Lock @ctx, and take a staging buffer of it that no work uses. After an error nothing is locked.
 */
static CUresult take_slot(CUcontext ctx, struct crossing_slot **out)
{
	struct crossing_slot *slot = NULL;
	unsigned int tries;
	CUresult r;

	for (;;) {
		r = ctx_enter_of(ctx);
		if (r)
			return r;
		for (tries = 0; tries < CROSSING_SLOTS; tries++) {
			slot = &ctx->crossing[ctx->crossing_next++ % CROSSING_SLOTS];
			if (!slot->taken)
				break;
		}
		if (tries < CROSSING_SLOTS)
			break;
		ctx_leave(ctx);
		sched_yield();
	}
	r = moment_wait(ctx, &slot->used);
	if (!r && !slot->memory)
		r = error_of(ctx->device->ops->alloc(ctx->device, PLACE_HOST, PIECE_BYTES,
						     &slot->memory));
	if (r) {
		ctx_leave(ctx);
		return r;
	}
	slot->taken = true;
	*out = slot;
	return CUDA_SUCCESS;
}

static void give_back(CUcontext ctx, struct crossing_slot *slot)
{
	pthread_mutex_lock(&ctx->lock);
	slot->taken = false;
	ctx_leave(ctx);
}

/* ------------------------------------------------------------------ one piece */

static bool still_there(CUcontext ctx, const struct plane *p, const struct part *at)
{
	return p->tiled || on_device(ctx, p, at->width, at->lines);
}

/* From the source to a staging buffer, by the CPU to @to. */
static CUresult send_part(struct run *x, const struct part *at, const struct plane *to,
			  struct moment *done, unsigned int *life)
{
	struct plane src = shifted(&x->c->src, at);
	CUcontext from = x->c->from;
	struct crossing_slot *mine;
	struct CUstream_st s;
	CUresult r = take_slot(from, &mine);

	if (r)
		return r;
	r = begin_part(x, from, true, &x->out);
	s = x->out;
	if (!r && !still_there(from, &src, at))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = plane_copy_beside(from, &s,
				      &(struct plane){ .va = mine->memory->va, .pitch = at->width },
				      &src, at->width, at->lines);
	if (!r)
		r = host_copy(from, &s,
			      &(struct host_lines){ .to = to->host,
						    .to_pitch = to->pitch,
						    .from = mine->memory->map,
						    .from_pitch = at->width,
						    .width = at->width,
						    .lines = at->lines });
	mine->used = s.last;
	mine->taken = false;
	*done = s.last;
	*life = from->life;
	ctx_leave(from);
	return r;
}

/* From @mine to @dst, behind the work of @s. The lock of @to is held. */
static CUresult land(CUcontext to, struct CUstream_st *s, const struct plane *dst,
		     const struct crossing_slot *mine, const struct part *at)
{
	return plane_copy_beside(to, s, dst,
				 &(struct plane){ .va = mine->memory->va, .pitch = at->width },
				 at->width, at->lines);
}

/* From @mine, once @sent is done, to the destination. */
static CUresult receive(struct run *x, const struct part *at, struct crossing_slot *mine,
			const struct moment *sent, unsigned int life)
{
	struct plane dst = shifted(&x->c->dst, at);
	CUcontext to = x->c->to;
	struct CUstream_st s;
	CUresult r = ctx_enter_of(to);

	if (r)
		return r;
	r = begin_part(x, to, false, &x->in);
	s = x->in;
	if (!r)
		r = host_need(to, &s, x->c->from, life, sent);
	if (!r && !still_there(to, &dst, at))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = land(to, &s, &dst, mine, at);
	mine->used = s.last;
	moment_merge(&x->done, &s.last);
	ctx_leave(to);
	return r;
}

/* By the CPU to a staging buffer, then to the destination. */
static CUresult receive_late(struct run *x, const struct part *at)
{
	struct plane src = shifted(&x->c->src, at), dst = shifted(&x->c->dst, at);
	CUcontext to = x->c->to;
	struct crossing_slot *mine;
	struct CUstream_st s;
	CUresult r = take_slot(to, &mine);

	if (r)
		return r;
	r = begin_part(x, to, true, &x->in);
	s = x->in;
	if (!r && !still_there(to, &dst, at))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = host_copy(to, &s,
			      &(struct host_lines){ .to = mine->memory->map,
						    .to_pitch = at->width,
						    .from = src.host,
						    .from_pitch = src.pitch,
						    .width = at->width,
						    .lines = at->lines });
	if (!r)
		r = land(to, &s, &dst, mine, at);
	mine->used = s.last;
	moment_merge(&x->done, &s.last);
	mine->taken = false;
	ctx_leave(to);
	return r;
}

static CUresult cross_part(struct run *x, const struct part *at)
{
	struct crossing_slot *theirs;
	struct moment sent = { { 0 } };
	struct plane host;
	unsigned int life;
	CUresult r;

	if (!x->c->from)
		return receive_late(x, at);
	if (!x->c->to) {
		host = shifted(&x->c->dst, at);
		r = send_part(x, at, &host, &sent, &life);
		moment_merge(&x->done, &sent);
		return r;
	}
	r = take_slot(x->c->to, &theirs);
	if (r)
		return r;
	host = (struct plane){ .host = theirs->memory->map, .pitch = at->width };
	ctx_leave(x->c->to);
	r = send_part(x, at, &host, &sent, &life);
	if (!r) {
		r = receive(x, at, theirs, &sent, life);
		if (r)
			moment_wait(x->c->from, &sent); /* the CPU may still copy to @theirs */
	}
	give_back(x->c->to, theirs);
	return r;
}

static CUresult cross_all(struct run *x)
{
	const struct crossing *c = x->c;
	struct part at = { 0 };
	CUresult r = CUDA_SUCCESS;

	for (at.y = 0; at.y < c->lines && !r; at.y += at.lines) {
		at.lines = c->width > PIECE_BYTES ? 1 : PIECE_BYTES / c->width;
		if (at.lines > c->lines - at.y)
			at.lines = c->lines - at.y;
		for (at.x = 0; at.x < c->width && !r; at.x += at.width) {
			at.width = c->width - at.x < PIECE_BYTES ? c->width - at.x : PIECE_BYTES;
			r = cross_part(x, &at);
		}
	}
	return r;
}

static CUresult in_one(struct run *x, CUcontext ctx)
{
	const struct crossing *c = x->c;
	const struct part all = { .width = c->width, .lines = c->lines };
	CUresult r = ctx_enter_of(ctx);

	if (r)
		return r;
	r = begin_part(x, ctx, true, &x->in);
	if (!r && ((c->to && !still_there(ctx, &c->dst, &all)) ||
		   (c->from && !still_there(ctx, &c->src, &all))))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = plane_copy(ctx, &x->in, &c->dst, &c->src, c->width, c->lines);
	x->done = x->in.last;
	ctx_leave(ctx);
	return r;
}

/* ------------------------------------------------------------------ all of it */

/* The caller's stream goes on after the copy. */
static CUresult join(CUstream stream, CUcontext last, const struct moment *done)
{
	unsigned int life;
	CUcontext ctx;
	CUstream s;
	CUresult r = ctx_enter_of(last);

	if (r)
		return r;
	life = last->life;
	ctx_leave(last);
	r = ctx_enter_stream(stream, &ctx, &s);
	if (r)
		return r;
	if (ctx == last)
		stream_await(s, done);
	else
		r = host_need(ctx, s, last, life, done);
	ctx_leave(ctx);
	return r;
}

CUresult peer_copy(CUstream stream, const struct crossing *c, bool wait)
{
	struct run x = { .c = c, .after_all = wait };
	CUcontext last = c->to ? c->to : c->from;
	CUstream s;
	CUresult r = ctx_enter_work(stream, &x.ctx, &s);

	if (r)
		return r;
	if (s->capture)
		r = capture_refuse(s);
	x.begin = stream_begin(s);
	x.life = x.ctx->life;
	ctx_leave(x.ctx);
	if (r || !c->width || !c->lines)
		return r;
	r = c->late || (c->to && c->from && c->to != c->from) ? cross_all(&x) : in_one(&x, last);
	if (r)
		return r;
	return wait ? moment_wait(last, &x.done) : join(stream, last, &x.done);
}

CUcontext memory_owner(CUdeviceptr va)
{
	CUcontext ctx;

	if (ctx_enter_memory(&ctx, va, CUDA_ERROR_INVALID_VALUE))
		return NULL;
	ctx_leave(ctx);
	return ctx;
}
