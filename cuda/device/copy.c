// SPDX-License-Identifier: MIT
/* Copies and fills by the copy class, and times taken by the channel. */
#include "nv.h"

enum device_status nv_copy(struct device *dev, enum device_queue q, const struct moment *after, const struct device_copy *c,
			   uint64_t *seq)
{
	struct nv_device *d = nv(dev);
	enum device_status ret = nv_begin(d, q, after);

	*seq = d->queue[q].seq;
	if (ret)
		return ret;
	EMIT(d, q, SUBC_COPY, COPY_OFFSET_IN_UPPER, c->src >> 32, c->src, c->dst >> 32, c->dst, c->src_pitch, c->dst_pitch,
	     c->width, c->lines);
	EMIT(d, q, SUBC_COPY, COPY_LAUNCH_DMA, COPY_NON_PIPELINED | COPY_FLUSH | COPY_SRC_PITCH | COPY_DST_PITCH |
	     (c->lines > 1 ? COPY_MULTI_LINE : 0));
	return nv_submit(d, q, seq);
}

/* one destination component, a constant; the source is not read */
enum device_status nv_fill(struct device *dev, enum device_queue q, const struct moment *after, const struct device_fill *f,
			   uint64_t *seq)
{
	struct nv_device *d = nv(dev);
	enum device_status ret = nv_begin(d, q, after);

	*seq = d->queue[q].seq;
	if (ret)
		return ret;
	EMIT(d, q, SUBC_COPY, COPY_SET_REMAP_CONST_A, f->value, 0,
	     COPY_REMAP_DST_X_CONST_A | COPY_REMAP_DST_NOTHING | COPY_REMAP_COMPONENT_SIZE(f->unit));
	EMIT(d, q, SUBC_COPY, COPY_OFFSET_IN_UPPER, f->dst >> 32, f->dst, f->dst >> 32, f->dst, f->pitch, f->pitch,
	     f->width, f->lines);
	EMIT(d, q, SUBC_COPY, COPY_LAUNCH_DMA, COPY_NON_PIPELINED | COPY_FLUSH | COPY_SRC_PITCH | COPY_DST_PITCH |
	     COPY_REMAP | (f->lines > 1 ? COPY_MULTI_LINE : 0));
	return nv_submit(d, q, seq);
}

enum device_status nv_stamp(struct device *dev, enum device_queue q, const struct moment *after, uint64_t va, uint32_t payload,
			    uint64_t *seq)
{
	struct nv_device *d = nv(dev);
	enum device_status ret = nv_begin(d, q, after);

	*seq = d->queue[q].seq;
	if (ret)
		return ret;
	EMIT(d, q, SUBC_HOST, HOST_SEMAPHORE_A, va >> 32, va, payload, SEMAPHORE_RELEASE);
	return nv_submit(d, q, seq);
}
