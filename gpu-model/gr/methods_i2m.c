// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inline uploads: class A140, and the same methods in A1C0 and A197 (cla140.h). LAUNCH_DMA begins
 * an upload, data words fill LINE_COUNT lines of LINE_LENGTH_IN bytes each, and the last word ends
 * the upload. Each line begins with a new data word (open; software pads lines). Pitch destinations
 * lie at OFFSET_OUT, lines PITCH_OUT apart; block-linear ones are GOBs of 64 bytes by 8 lines,
 * blocks as SET_DST_BLOCK_SIZE says, in the order of x, y, z (rnndb, envytools g80-surface.rst; the
 * same virtual order that the copy engines use).
 *
 * Data without an upload, and a launch in the middle of an upload, are M2MF errors, with nouveau's
 * names.
 */
#include "gr.h"

#include <errno.h>
#include <string.h>

#include <linux/bitfield.h>

#define GOB_WIDTH      64u
#define GOB_LINES      8u
#define GOB_BYTES      (GOB_WIDTH * GOB_LINES)
#define MAX_BLOCK_LOG2 5

struct surface {
	uint64_t base;
	bool pitch;
	uint32_t pitch_bytes;
	uint32_t x0, y0, layer;
	uint64_t blocks_per_row, blocks_per_layer;
	unsigned int log2_h, log2_d;
};

static enum gr_class upload_class(struct gr *gr)
{
	uint32_t cls = strand_get(gr, STRAND_UPLOAD_CLASS);

	return cls && cls <= GR_NR_CLASS ? cls - 1 : GR_I2M;
}

static void surface_get(struct gr *gr, enum gr_class cls, uint32_t launch, struct surface *s)
{
	uint32_t block = state_get(gr, cls, M_SET_DST_BLOCK_SIZE);
	uint64_t width = state_get(gr, cls, M_SET_DST_WIDTH),
		 height = state_get(gr, cls, M_SET_DST_HEIGHT);
	uint64_t rows;

	s->base = state_addr(gr, cls, M_OFFSET_OUT_UPPER);
	s->pitch = launch & M_LAUNCH_DMA_PITCH;
	s->pitch_bytes = state_get(gr, cls, M_PITCH_OUT);
	s->x0 = state_get(gr, cls, M_SET_DST_ORIGIN_BYTES_X) & 0x1fffff;
	s->y0 = state_get(gr, cls, M_SET_DST_ORIGIN_SAMPLES_Y) & 0x1ffff;
	s->layer = state_get(gr, cls, M_SET_DST_LAYER);
	s->log2_h = FIELD_GET(M_BLOCK_HEIGHT, block) & 7;
	s->log2_d = FIELD_GET(M_BLOCK_DEPTH, block) & 7;
	rows = (uint64_t)GOB_LINES << s->log2_h;
	s->blocks_per_row = (width + GOB_WIDTH - 1) / GOB_WIDTH;
	s->blocks_per_layer = s->blocks_per_row * ((height + rows - 1) / rows);
}

/* *@run: how many bytes follow in one piece. */
static uint64_t surface_addr(const struct surface *s, uint32_t line, uint32_t x, uint32_t *run)
{
	uint64_t px, py, gob_y, block, off;

	if (s->pitch) {
		*run = UINT32_MAX;
		return s->base + (uint64_t)line * s->pitch_bytes + x;
	}
	px = (uint64_t)s->x0 + x;
	py = (uint64_t)s->y0 + line;
	gob_y = py / GOB_LINES;
	block = (s->layer >> s->log2_d) * s->blocks_per_layer +
		(gob_y >> s->log2_h) * s->blocks_per_row + px / GOB_WIDTH;
	off = block * ((uint64_t)GOB_BYTES << (s->log2_h + s->log2_d));
	off += (uint64_t)(s->layer & ((1u << s->log2_d) - 1)) * ((uint64_t)GOB_BYTES << s->log2_h);
	off += (gob_y & ((1u << s->log2_h) - 1)) * GOB_BYTES + py % GOB_LINES * GOB_WIDTH +
	       px % GOB_WIDTH;
	*run = GOB_WIDTH - px % GOB_WIDTH;
	return s->base + off;
}

static bool launch_valid(struct gr *gr, enum gr_class cls, uint32_t launch)
{
	uint32_t block = state_get(gr, cls, M_SET_DST_BLOCK_SIZE),
		 layer = state_get(gr, cls, M_SET_DST_LAYER);
	uint64_t width = state_get(gr, cls, M_SET_DST_WIDTH),
		 height = state_get(gr, cls, M_SET_DST_HEIGHT);
	struct surface s;

	if (FIELD_GET(M_LAUNCH_DMA_COMPLETION, launch) > M_LAUNCH_DMA_COMPLETION_SEMAPHORE)
		return false;
	if (launch & M_LAUNCH_DMA_PITCH)
		return true;
	if (FIELD_GET(M_BLOCK_WIDTH, block) || FIELD_GET(M_BLOCK_HEIGHT, block) > MAX_BLOCK_LOG2 ||
	    FIELD_GET(M_BLOCK_DEPTH, block) > MAX_BLOCK_LOG2)
		return false;
	surface_get(gr, cls, launch, &s);
	return layer < state_get(gr, cls, M_SET_DST_DEPTH) &&
	       s.x0 + (uint64_t)state_get(gr, cls, M_LINE_LENGTH_IN) <= width &&
	       s.y0 + (uint64_t)state_get(gr, cls, M_LINE_COUNT) <= height;
}

/* The staged bytes end at (UPLOAD_LINE, UPLOAD_X) and never cross a line. */
static int stage_write(struct gk110 *g, struct chan *c)
{
	struct gr *gr = g->gr;
	struct gr_upload *u = &gr->upload;
	uint32_t line = strand_get(gr, STRAND_UPLOAD_LINE),
		 x = strand_get(gr, STRAND_UPLOAD_X) - u->used;
	struct surface s;

	surface_get(gr, upload_class(gr), strand_get(gr, STRAND_UPLOAD_LAUNCH), &s);
	for (uint32_t done = 0; done < u->used;) {
		uint32_t run, n = u->used - done;
		uint64_t va = surface_addr(&s, line, x + done, &run);

		if (n > run)
			n = run;
		if (mmu_write(g, &gr->fe, &c->vm, va, u->stage + done, n, 0)) {
			u->used = 0;
			return -EFAULT;
		}
		done += n;
	}
	u->used = 0;
	return 0;
}

int upload_flush_for_save(struct gk110 *g, struct chan *c)
{
	return g->gr->upload.used ? stage_write(g, c) : 0;
}

static enum eng_ret complete(struct gr_exec *x)
{
	uint32_t launch = strand_get(x->gr, STRAND_UPLOAD_LAUNCH);
	struct release r = {
		.va = state_addr(x->gr, x->cls, M_SET_I2M_SEMAPHORE_A),
		.payload = state_get(x->gr, x->cls, M_SET_I2M_SEMAPHORE_C),
		.four_words = !(launch & M_LAUNCH_DMA_ONE_WORD),
		.reduce = launch & M_LAUNCH_DMA_RED_ENABLE,
		.op = FIELD_GET(M_LAUNCH_DMA_RED_OP, launch),
		.format = FIELD_GET(M_LAUNCH_DMA_RED_SIGNED, launch),
	};

	strand_set(x->gr, STRAND_UPLOAD_CLASS, 0);
	if (FIELD_GET(M_LAUNCH_DMA_COMPLETION, launch) == M_LAUNCH_DMA_COMPLETION_SEMAPHORE) {
		if (r.va % (r.four_words ? 16 : 4))
			return trap_data_error(x, GR_DATA_ERROR_INVALID_ALIGNMENT);
		if (semaphore_release(x, &x->gr->fe, &r))
			return ENG_FAULT;
	}
	if (FIELD_GET(M_LAUNCH_DMA_INTERRUPT, launch))
		trap_notify(x->g);
	return ENG_DONE;
}

static enum eng_ret launch_dma(struct gr_exec *x)
{
	struct gr *gr = x->gr;

	if (strand_get(gr, STRAND_UPLOAD_CLASS)) {
		gr->upload.used = 0;
		strand_set(gr, STRAND_UPLOAD_CLASS, 0);
		return trap_m2mf(x, GR_M2MF_ESR_NOT_ENOUGH);
	}
	if (!launch_valid(gr, x->cls, x->data))
		return trap_data_error(x, GR_DATA_ERROR_INVALID_VALUE);
	strand_set(gr, STRAND_UPLOAD_CLASS, x->cls + 1);
	strand_set(gr, STRAND_UPLOAD_LAUNCH, x->data);
	strand_set(gr, STRAND_UPLOAD_LINE, 0);
	strand_set(gr, STRAND_UPLOAD_X, 0);
	gr->upload.used = 0;
	if (!state_get(gr, x->cls, M_LINE_LENGTH_IN) || !state_get(gr, x->cls, M_LINE_COUNT))
		return complete(x);
	return ENG_DONE;
}

static enum eng_ret load_inline_data(struct gr_exec *x)
{
	struct gr *gr = x->gr;
	struct gr_upload *u = &gr->upload;
	uint32_t length = state_get(gr, x->cls, M_LINE_LENGTH_IN),
		 pos = strand_get(gr, STRAND_UPLOAD_X), n;

	if (strand_get(gr, STRAND_UPLOAD_CLASS) != (uint32_t)x->cls + 1)
		return trap_m2mf(x, GR_M2MF_ESR_TOO_MUCH);
	n = pos < length && length - pos < sizeof(x->data) ? length - pos : sizeof(x->data);
	memcpy(u->stage + u->used, &x->data, n);
	u->used += n;
	pos += n;
	strand_set(gr, STRAND_UPLOAD_X, pos);
	if (pos < length && u->used + sizeof(x->data) <= UPLOAD_STAGE)
		return ENG_DONE;
	if (stage_write(x->g, x->c))
		return ENG_FAULT;
	if (pos < length)
		return ENG_DONE;
	strand_set(gr, STRAND_UPLOAD_X, 0);
	strand_set(gr, STRAND_UPLOAD_LINE, strand_get(gr, STRAND_UPLOAD_LINE) + 1);
	if (strand_get(gr, STRAND_UPLOAD_LINE) < state_get(gr, x->cls, M_LINE_COUNT))
		return ENG_DONE;
	return complete(x);
}

static const struct gr_action table[] = {
	{ M_LAUNCH_DMA, M_LAUNCH_DMA, 4, launch_dma },
	{ M_LOAD_INLINE_DATA, M_LOAD_INLINE_DATA, 4, load_inline_data },
};
const struct gr_actions gr_actions_upload = { table, sizeof(table) / sizeof(table[0]) };
