// SPDX-License-Identifier: MIT
/*
 * Copies bytes, and fills memory. Between two ends in host memory the CPU copies; the GPU copies
 * what it can address in place. Other host memory goes through staging buffers: the CPU fills or
 * empties one while the GPU copies another.
 */
#include <string.h>

#include "driver.h"

#define DIRECT_MAX (1u << 30)

/* a piece that the GPU copies to a staging buffer, and then the CPU to (x, y) of the destination */
struct landing {
	struct moment done;
	unsigned int chunk;
	size_t x, y;
	uint32_t width, lines;
};

struct job {
	CUcontext ctx;
	CUstream s;
	struct plane dst, src;
	/* .nr pieces, the oldest is landing[first % STAGING_CHUNKS] */
	struct landing landing[STAGING_CHUNKS];
	unsigned int first, nr;
};

static CUresult submit(struct job *j, enum device_queue q, const struct device_copy *c,
		       uint64_t *seq)
{
	struct device *d = j->ctx->device;
	struct moment after = stream_begin(j->s);
	CUresult r = ctx_set_sticky(j->ctx, error_of(d->ops->copy(d, q, &after, c, seq)));

	if (!r)
		stream_add(j->s, q, *seq);
	return r;
}

static uint8_t *byte_at(const struct plane *p, size_t x, size_t y)
{
	return p->host + y * p->pitch + x;
}

static void set_src(struct device_copy *c, const struct plane *p, size_t x, size_t y)
{
	c->src_pitch = p->pitch;
	c->src = p->va + (p->tiled ? 0 : y * p->pitch + x);
	c->src_tiled = p->tiled;
	c->src_blocks = p->blocks;
	c->src_blocks.x += x;
	c->src_blocks.y += y;
}

static void set_dst(struct device_copy *c, const struct plane *p, size_t x, size_t y)
{
	c->dst_pitch = p->pitch;
	c->dst = p->va + (p->tiled ? 0 : y * p->pitch + x);
	c->dst_tiled = p->tiled;
	c->dst_blocks = p->blocks;
	c->dst_blocks.x += x;
	c->dst_blocks.y += y;
}

static CUresult direct(struct job *j, enum device_queue q, size_t x, size_t y, uint32_t width,
		       uint32_t lines)
{
	struct device_copy c = { .width = width, .lines = lines };
	uint64_t seq;

	set_src(&c, &j->src, x, y);
	set_dst(&c, &j->dst, x, y);
	return submit(j, q, &c, &seq);
}

/* Wait for the next staging buffer, until no copy uses it. */
static CUresult take_staging(struct job *j, unsigned int *chunk)
{
	*chunk = j->ctx->staging_next++ % STAGING_CHUNKS;
	return moment_wait(j->ctx, &j->ctx->staging_used[*chunk]);
}

static void rows(uint8_t *dst, size_t dst_pitch, const uint8_t *src, size_t src_pitch, size_t width,
		 size_t lines)
{
	for (; lines; lines--, dst += dst_pitch, src += src_pitch)
		memmove(dst, src, width);
}

static uint8_t *staged(const struct job *j, unsigned int chunk)
{
	return (uint8_t *)j->ctx->staging->map + (size_t)chunk * STAGING_BYTES;
}

static CUresult upload(struct job *j, enum device_queue q, size_t x, size_t y, uint32_t width,
		       uint32_t lines)
{
	struct device_copy c = { .src_pitch = width, .width = width, .lines = lines };
	unsigned int chunk;
	uint64_t seq;
	CUresult r = take_staging(j, &chunk);

	if (r)
		return r;
	set_dst(&c, &j->dst, x, y);
	c.src = j->ctx->staging->va + (uint64_t)chunk * STAGING_BYTES;
	rows(staged(j, chunk), width, byte_at(&j->src, x, y), j->src.pitch, width, lines);
	r = submit(j, q, &c, &seq);
	if (!r)
		j->ctx->staging_used[chunk].seq[q] = seq;
	return r;
}

static CUresult land(struct job *j)
{
	struct landing *l = &j->landing[j->first % STAGING_CHUNKS];
	CUresult r = moment_wait(j->ctx, &l->done);

	if (r)
		return r;
	rows(byte_at(&j->dst, l->x, l->y), j->dst.pitch, staged(j, l->chunk), l->width, l->width,
	     l->lines);
	j->first++;
	j->nr--;
	return CUDA_SUCCESS;
}

static CUresult download(struct job *j, enum device_queue q, size_t x, size_t y, uint32_t width,
			 uint32_t lines)
{
	struct device_copy c = { .dst_pitch = width, .width = width, .lines = lines };
	struct landing *l = &j->landing[(j->first + j->nr) % STAGING_CHUNKS];
	CUresult r = j->nr == STAGING_CHUNKS ? land(j) : CUDA_SUCCESS;

	if (!r)
		r = take_staging(j, &l->chunk);
	if (r)
		return r;
	set_src(&c, &j->src, x, y);
	c.dst = j->ctx->staging->va + (uint64_t)l->chunk * STAGING_BYTES;
	*l = (struct landing){ .chunk = l->chunk, .x = x, .y = y, .width = width, .lines = lines };
	r = submit(j, q, &c, &l->done.seq[q]);
	if (r)
		return r;
	j->ctx->staging_used[l->chunk] = l->done;
	j->nr++;
	return CUDA_SUCCESS;
}

/* The CPU copies, after the stream's work. */
static CUresult by_cpu(struct job *j, size_t width, size_t lines)
{
	struct moment m = stream_begin(j->s);
	CUresult r = moment_wait(j->ctx, &m);

	if (!r)
		rows(j->dst.host, j->dst.pitch, j->src.host, j->src.pitch, width, lines);
	return r;
}

/* Pinned and registered memory by its GPU address, if one allocation has all of it. */
static bool pin(CUcontext ctx, struct plane *p, size_t width, size_t lines)
{
	struct range *r;

	if (!p->host)
		return true;
	registered_show(ctx, p->host, false);
	r = range_find_host(ctx, p->host);
	if (!r || (lines - 1) * p->pitch + width > (size_t)(r->host + r->size - p->host))
		return false;
	p->va = r->va + (p->host - r->host);
	p->host = NULL;
	return true;
}

static CUresult piece(struct job *j, enum device_queue q, size_t x, size_t y, uint32_t width,
		      uint32_t lines)
{
	if (j->src.host)
		return upload(j, q, x, y, width, lines);
	if (j->dst.host)
		return download(j, q, x, y, width, lines);
	return direct(j, q, x, y, width, lines);
}

static CUresult pieces(struct job *j, enum device_queue q, size_t width, size_t lines)
{
	size_t max = j->dst.host || j->src.host ? STAGING_BYTES : DIRECT_MAX, x, y, n;
	CUresult r = CUDA_SUCCESS;

	for (y = 0; y < lines && !r; y += n) {
		n = width > max ? 1 : max / width;
		n = n < lines - y ? n : lines - y;
		for (x = 0; x < width && !r; x += max)
			r = piece(j, q, x, y, width - x < max ? width - x : max, n);
	}
	while (j->nr && !r)
		r = land(j);
	return r;
}

CUresult plane_copy_beside(CUcontext ctx, CUstream s, const struct plane *dst,
			   const struct plane *src, size_t width, size_t lines)
{
	struct job j = { .ctx = ctx, .s = s, .dst = *dst, .src = *src };

	return pieces(&j, copy_queue(s), width, lines);
}

CUresult plane_copy(CUcontext ctx, CUstream s, const struct plane *dst, const struct plane *src,
		    size_t width, size_t lines)
{
	struct job j = { .ctx = ctx, .s = s, .dst = *dst, .src = *src };
	enum device_queue q = dst->host || src->host ? copy_queue(s) : QUEUE_COMPUTE;

	if (!width || !lines)
		return CUDA_SUCCESS;
	if (lines > 1 && dst->pitch == width && src->pitch == width && !dst->tiled && !src->tiled) {
		width *= lines;
		lines = 1;
	}
	if (dst->host && src->host)
		return by_cpu(&j, width, lines);
	pin(ctx, &j.dst, width, lines);
	pin(ctx, &j.src, width, lines);
	return pieces(&j, q, width, lines);
}

CUresult memory_fill(CUcontext ctx, CUstream s, const struct device_fill *f)
{
	struct moment after = stream_begin(s);
	struct device *d = ctx->device;
	uint64_t seq;
	CUresult r = ctx_set_sticky(ctx, error_of(d->ops->fill(d, QUEUE_COMPUTE, &after, f, &seq)));

	if (!r)
		stream_add(s, QUEUE_COMPUTE, seq);
	return r;
}
