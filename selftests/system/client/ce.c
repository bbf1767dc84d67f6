// SPDX-License-Identifier: GPL-2.0-only
/* ce.h has the contracts. */
#include "ce.h"

#include <string.h>

#include "methods.h"

static void emit_surface(struct gpu_chan *c, uint32_t mthd, const struct ce_side *s)
{
	emit(c, SUBC_COPY, mthd,
	     CE_GOB_HEIGHT_8 | s->surf.block_height << 4 | s->surf.block_depth << 8, s->surf.width,
	     s->surf.height, s->surf.depth, s->layer, s->x | s->y << 16);
}

static void emit_remap(struct gpu_chan *c, const struct ce_copy *copy)
{
	uint32_t components = 0;
	unsigned int i;

	for (i = 0; i < 4; i++)
		components |= copy->select[i] << (4 * i);
	components |= (copy->comp_size - 1) << 16 | (copy->src_comps - 1) << 20 |
		      (copy->dst_comps - 1) << 24;
	emit(c, SUBC_COPY, CE_REMAP_CONST_A, copy->consts[0], copy->consts[1], components);
}

void ce_emit(struct gpu_chan *c, const struct ce_copy *copy, uint64_t src_va, uint64_t dst_va)
{
	uint64_t in = src_va + copy->src.offset, out = dst_va + copy->dst.offset;
	uint32_t launch = CE_NON_PIPELINED | CE_FLUSH;

	emit(c, SUBC_COPY, CE_OFFSET_IN, in >> 32, in, out >> 32, out, copy->src.pitch,
	     copy->dst.pitch, copy->length, copy->lines);
	if (copy->src.tiled)
		emit_surface(c, CE_SRC_BLOCK_SIZE, &copy->src);
	else
		launch |= CE_SRC_PITCH;
	if (copy->dst.tiled)
		emit_surface(c, CE_DST_BLOCK_SIZE, &copy->dst);
	else
		launch |= CE_DST_PITCH;
	if (copy->lines != 1 || copy->src.tiled || copy->dst.tiled)
		launch |= CE_MULTI_LINE;
	if (copy->remap) {
		emit_remap(c, copy);
		launch |= CE_REMAP;
	}
	emit(c, SUBC_COPY, CE_LAUNCH_DMA, launch);
}

void ce_emit_linear(struct gpu_chan *c, uint64_t src_va, uint64_t dst_va, uint32_t length)
{
	struct ce_copy copy = { .length = length, .lines = 1 };

	ce_emit(c, &copy, src_va, dst_va);
}

static uint64_t place(const struct ce_side *s, uint32_t x, uint32_t y)
{
	if (s->tiled)
		return s->offset + surface_offset(&s->surf, s->x + x, s->y + y, s->layer);
	return s->offset + (uint64_t)y * s->pitch + x;
}

static void reference_element(const struct ce_copy *copy, const uint8_t *src, uint8_t *dst,
			      uint32_t x, uint32_t y)
{
	uint32_t src_x = x * copy->comp_size * copy->src_comps,
		 dst_x = x * copy->comp_size * copy->dst_comps;
	unsigned int i, b;

	for (i = 0; i < copy->dst_comps; i++) {
		uint8_t from = copy->select[i];

		if (from == CE_REMAP_NO_WRITE)
			continue;
		for (b = 0; b < copy->comp_size; b++) {
			uint8_t *to = dst + place(&copy->dst, dst_x + i * copy->comp_size + b, y);

			if (from == CE_REMAP_CONST_A_SEL || from == CE_REMAP_CONST_B_SEL)
				*to = copy->consts[from - CE_REMAP_CONST_A_SEL] >> (8 * b);
			else
				*to = src[place(&copy->src, src_x + from * copy->comp_size + b, y)];
		}
	}
}

void ce_reference(const struct ce_copy *copy, const uint8_t *src, uint8_t *dst)
{
	bool plain = !copy->remap && !copy->src.tiled && !copy->dst.tiled;
	uint32_t x, y;

	for (y = 0; y < copy->lines; y++) {
		if (plain) {
			memcpy(dst + place(&copy->dst, 0, y), src + place(&copy->src, 0, y),
			       copy->length);
			continue;
		}
		for (x = 0; x < copy->length; x++) {
			if (copy->remap)
				reference_element(copy, src, dst, x, y);
			else
				dst[place(&copy->dst, x, y)] = src[place(&copy->src, x, y)];
		}
	}
}
