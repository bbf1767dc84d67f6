// SPDX-License-Identifier: MIT
/* Copies and fills by the copy class, and time stamps by the channel. */
#include "nv.h"
#include "texture.h"

/*
 * Write a surface's layout and the copy's origin in it; return the address. The origin's x has 16
 * bits: columns of GOBs left of the copy go into the address.
 */
static uint64_t emit_blocks(struct nv_device *d, enum device_queue q, uint32_t mthd, uint64_t va,
			    const struct device_blocks *b)
{
	uint64_t column = (uint64_t)GOB_WIDTH * GOB_ROWS << (b->log2_height + b->log2_depth);

	EMIT(d, q, SUBC_COPY, mthd,
	     (uint32_t)b->log2_height << COPY_BLOCK_HEIGHT_AT |
		     (uint32_t)b->log2_depth << COPY_BLOCK_DEPTH_AT | COPY_GOBS_OF_8_ROWS,
	     b->width, b->height, b->depth, b->z, b->y << COPY_ORIGIN_Y_AT | b->x % GOB_WIDTH);
	return va + b->x / GOB_WIDTH * column;
}

enum device_status nv_copy(struct device *dev, enum device_queue q, const struct moment *after,
			   const struct device_copy *c, uint64_t *seq)
{
	struct nv_device *d = nv(dev);
	enum device_status ret = nv_begin(d, q, after);
	uint64_t src = c->src, dst = c->dst;

	*seq = d->queue[q].seq;
	if (ret)
		return ret;
	if (c->src_tiled)
		src = emit_blocks(d, q, COPY_SET_SRC_BLOCK_SIZE, src, &c->src_blocks);
	if (c->dst_tiled)
		dst = emit_blocks(d, q, COPY_SET_DST_BLOCK_SIZE, dst, &c->dst_blocks);
	EMIT(d, q, SUBC_COPY, COPY_OFFSET_IN_UPPER, src >> 32, src, dst >> 32, dst, c->src_pitch,
	     c->dst_pitch, c->width, c->lines);
	EMIT(d, q, SUBC_COPY, COPY_LAUNCH_DMA,
	     COPY_NON_PIPELINED | COPY_FLUSH | (c->src_tiled ? 0 : COPY_SRC_PITCH) |
		     (c->dst_tiled ? 0 : COPY_DST_PITCH) |
		     (c->lines > 1 || c->src_tiled || c->dst_tiled ? COPY_MULTI_LINE : 0));
	return nv_submit(d, q, seq);
}

/* a fill copies a constant */
enum device_status nv_fill(struct device *dev, enum device_queue q, const struct moment *after,
			   const struct device_fill *f, uint64_t *seq)
{
	struct nv_device *d = nv(dev);
	enum device_status ret = nv_begin(d, q, after);

	*seq = d->queue[q].seq;
	if (ret)
		return ret;
	EMIT(d, q, SUBC_COPY, COPY_SET_REMAP_CONST_A, f->value, 0,
	     COPY_REMAP_DST_X_CONST_A | COPY_REMAP_DST_NOTHING |
		     COPY_REMAP_COMPONENT_SIZE(f->unit));
	EMIT(d, q, SUBC_COPY, COPY_OFFSET_IN_UPPER, f->dst >> 32, f->dst, f->dst >> 32, f->dst,
	     f->pitch, f->pitch, f->width, f->lines);
	EMIT(d, q, SUBC_COPY, COPY_LAUNCH_DMA,
	     COPY_NON_PIPELINED | COPY_FLUSH | COPY_SRC_PITCH | COPY_DST_PITCH | COPY_REMAP |
		     (f->lines > 1 ? COPY_MULTI_LINE : 0));
	return nv_submit(d, q, seq);
}

enum device_status nv_stamp(struct device *dev, enum device_queue q, const struct moment *after,
			    uint64_t va, uint32_t payload, uint64_t *seq)
{
	struct nv_device *d = nv(dev);
	enum device_status ret = nv_begin(d, q, after);

	*seq = d->queue[q].seq;
	if (ret)
		return ret;
	EMIT(d, q, SUBC_HOST, HOST_SEMAPHORE_A, va >> 32, va, payload, SEMAPHORE_RELEASE);
	return nv_submit(d, q, seq);
}
