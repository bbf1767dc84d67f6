// SPDX-License-Identifier: GPL-2.0-only
/* Copies, fills and times, by the CPU through the MMU: an address where nothing is faults. */
#include <string.h>

#include <cuda/kepler/device/texture.h>
#include <mmu/fake.h>

#include "inprocess.h"

/* up to the end of a page; dma_lock held */
static uint8_t *reach(struct in_queue *q, uint64_t va, size_t *len, enum mmu_access acc)
{
	struct mmu_seg seg;

	if (mmu_translate(q->d->g, &q->client, &q->d->space, va, *len, acc, 0, &seg))
		return NULL;
	*len = seg.len;
	return seg.ptr;
}

static bool move(struct in_queue *q, uint64_t dst, uint64_t src, size_t n)
{
	while (n) {
		size_t some = n;
		uint8_t *from, *to;

		dma_read_lock(q->d->g);
		from = reach(q, src, &some, ACC_READ);
		to = from ? reach(q, dst, &some, ACC_WRITE) : NULL;
		if (to)
			memmove(to, from, some);
		dma_read_unlock(q->d->g);
		if (!to)
			return false;
		dst += some;
		src += some;
		n -= some;
	}
	return true;
}

/*
 * Byte @x of line @y of a surface at @va, and how many bytes follow it there. Blocks of GOBs (64
 * bytes by 8 lines) in x, y, z order, in a block GOBs first downwards, then by slice (envytools
 * g80-surface.rst).
 */
static uint64_t in_blocks(uint64_t va, const struct device_blocks *b, uint32_t x, uint32_t y,
			  uint32_t *run)
{
	uint64_t gob = GOB_WIDTH * GOB_ROWS, block = gob << (b->log2_height + b->log2_depth);
	uint64_t across = (b->width + GOB_WIDTH - 1) / GOB_WIDTH, rows = GOB_ROWS << b->log2_height,
		 down = (b->height + rows - 1) / rows;
	uint64_t z = b->z, in = z & ((1u << b->log2_depth) - 1);

	x += b->x;
	y += b->y;
	*run = GOB_WIDTH - x % GOB_WIDTH;
	return va + (((z >> b->log2_depth) * down + y / rows) * across + x / GOB_WIDTH) * block +
	       ((in << b->log2_height) + y % rows / GOB_ROWS) * gob + y % GOB_ROWS * GOB_WIDTH +
	       x % GOB_WIDTH;
}

static bool outside(const struct device_blocks *b, const struct device_copy *c)
{
	return (uint64_t)b->x + c->width > b->width || (uint64_t)b->y + c->lines > b->height ||
	       b->z >= b->depth;
}

static bool copy(struct in_queue *q, const struct device_copy *c)
{
	uint32_t x, y, n, run;

	/* refused by the copy engine */
	if ((c->src_tiled && outside(&c->src_blocks, c)) ||
	    (c->dst_tiled && outside(&c->dst_blocks, c)))
		return false;
	for (y = 0; y < c->lines; y++) {
		for (x = 0; x < c->width; x += n) {
			uint64_t src = c->src + y * c->src_pitch + x,
				 dst = c->dst + y * c->dst_pitch + x;

			n = c->width - x;
			if (c->src_tiled) {
				src = in_blocks(c->src, &c->src_blocks, x, y, &run);
				n = run < n ? run : n;
			}
			if (c->dst_tiled) {
				dst = in_blocks(c->dst, &c->dst_blocks, x, y, &run);
				n = run < n ? run : n;
			}
			if (!move(q, dst, src, n))
				return false;
		}
	}
	return true;
}

static bool fill(struct in_queue *q, const struct device_fill *f)
{
	uint8_t pattern[4096];
	uint64_t line = (uint64_t)f->width * f->unit, at;
	uint32_t y;

	for (at = 0; at < sizeof(pattern); at += f->unit)
		memcpy(pattern + at, &f->value, f->unit);
	for (y = 0; y < f->lines; y++)
		for (at = 0; at < line; at += sizeof(pattern))
			if (mmu_write(q->d->g, &q->client, &q->d->space, f->dst + y * f->pitch + at,
				      pattern,
				      line - at < sizeof(pattern) ? line - at : sizeof(pattern), 0))
				return false;
	return true;
}

/* the payload last: a waiter looks at it */
static bool stamp(struct in_queue *q, const struct in_stamp *s)
{
	const uint64_t now = in_now(), payload = s->payload;

	return !mmu_write(q->d->g, &q->client, &q->d->space, s->va + 8, &now, 8, 0) &&
	       !mmu_write(q->d->g, &q->client, &q->d->space, s->va, &payload, 8, 0);
}

bool in_work(struct in_queue *q, const struct job *j)
{
	bool ok = false;

	switch (j->kind) {
	case JOB_COPY:
		ok = copy(q, &j->copy);
		break;
	case JOB_FILL:
		ok = fill(q, &j->fill);
		break;
	case JOB_STAMP:
		ok = stamp(q, &j->stamp);
		break;
	case JOB_LAUNCH:
		return in_run(q, &j->launch);
	}
	if (!ok) {
		gk110_note(q->d->g, "a copy faulted");
		atomic_store(&q->d->cause, CAUSE_ADDRESS);
	}
	return ok;
}

enum device_status in_copy(struct device *d, enum device_queue q, const struct moment *after,
			   const struct device_copy *c, uint64_t *seq)
{
	return in_submit(in(d), q, after, &(struct job){ .kind = JOB_COPY, .copy = *c }, seq);
}

enum device_status in_fill(struct device *d, enum device_queue q, const struct moment *after,
			   const struct device_fill *f, uint64_t *seq)
{
	return in_submit(in(d), q, after, &(struct job){ .kind = JOB_FILL, .fill = *f }, seq);
}

enum device_status in_stamp(struct device *d, enum device_queue q, const struct moment *after,
			    uint64_t va, uint32_t payload, uint64_t *seq)
{
	return in_submit(in(d), q, after,
			 &(struct job){ .kind = JOB_STAMP, .stamp = { va, payload } }, seq);
}
