// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses of the bytes of a surface.
 *
 * Block-linear (envytools g80-surface.rst "Blocklinear surfaces", Mesa nil/tiling.rs): bytes of a
 * GOB (64 bytes by 8 lines; by 4 with the Tesla GOB height) lie line after line; GOBs of a block
 * first downwards, then by layer (blocks of this class are one GOB wide); blocks in x, y, z order.
 *
 * Inside a GOB the chip swaps 32-byte sectors as well, but that belongs to the page, not to the
 * surface: the storage kind in the PTE says how virtual bytes of a GOB map to physical bytes, for
 * all clients alike. The model keeps pages of every kind in virtual order.
 *
 * Addresses are sums modulo 2^40.
 */
#include <errno.h>
#include <linux/bitfield.h>
#include <string.h>

#include "ce.h"

enum gk110_ce_launcherr ce_surface_blocks(struct ce_surface *s, const uint32_t *words,
					  unsigned int elem, uint64_t width, uint64_t lines)
{
	uint32_t block = words[CE_SURF_BLOCK], layer = words[CE_SURF_LAYER],
		 origin = words[CE_SURF_ORIGIN];
	unsigned int log2_height = FIELD_GET(A0B5_BLOCK_HEIGHT, block),
		     log2_depth = FIELD_GET(A0B5_BLOCK_DEPTH, block);
	uint64_t surf_width = (uint64_t)words[CE_SURF_WIDTH] * elem, height = words[CE_SURF_HEIGHT];
	uint64_t block_rows, gob_bytes, layer_in_block;

	/*
	 * open: the layout of blocks a quarter of a GOB wide is not documented, so the model
	 * refuses them
	 */
	if (FIELD_GET(A0B5_BLOCK_WIDTH, block) == A0B5_BLOCK_WIDTH_QUARTER)
		return CE_INVALID_OPERATION;
	if (FIELD_GET(A0B5_BLOCK_WIDTH, block) != A0B5_BLOCK_WIDTH_ONE_GOB ||
	    log2_height > A0B5_BLOCK_LOG2_MAX || log2_depth > A0B5_BLOCK_LOG2_MAX ||
	    FIELD_GET(A0B5_BLOCK_GOB_HEIGHT, block) > A0B5_GOB_HEIGHT_FERMI_8)
		return CE_INVALID_VALUE;
	if (layer >= words[CE_SURF_DEPTH])
		return CE_2D_LAYER_EXCEEDS_DEPTH;
	s->x0 = (uint64_t)FIELD_GET(A0B5_ORIGIN_X, origin) * elem;
	s->y0 = FIELD_GET(A0B5_ORIGIN_Y, origin);
	if (s->x0 + width > surf_width || s->y0 + lines > height)
		return CE_MEM2MEM_RECT_OUT_OF_BOUNDS;

	s->gob_rows = FIELD_GET(A0B5_BLOCK_GOB_HEIGHT, block) == A0B5_GOB_HEIGHT_FERMI_8 ? 8 : 4;
	s->log2_height = log2_height;
	gob_bytes = CE_GOB_WIDTH * s->gob_rows;
	block_rows = (uint64_t)s->gob_rows << log2_height;
	s->block_bytes = gob_bytes << (log2_height + log2_depth);
	s->row_bytes = (surf_width + CE_GOB_WIDTH - 1) / CE_GOB_WIDTH * s->block_bytes;
	layer_in_block = layer & ((1u << log2_depth) - 1);
	s->layer_offset =
		(layer >> log2_depth) * ((height + block_rows - 1) / block_rows) * s->row_bytes +
		(layer_in_block << log2_height) * gob_bytes;
	return CE_NO_ERR;
}

uint64_t ce_surface_va(const struct ce_surface *s, uint64_t line, uint64_t x, uint64_t *run)
{
	uint64_t y, gob_row;

	if (s->pitch_layout) {
		*run = UINT64_MAX;
		return (s->addr + (uint64_t)s->pitch * line + x) & CE_VA_MASK;
	}
	x += s->x0;
	y = s->y0 + line;
	gob_row = y / s->gob_rows;
	*run = CE_GOB_WIDTH - x % CE_GOB_WIDTH;
	return (s->addr + s->layer_offset + (gob_row >> s->log2_height) * s->row_bytes +
		x / CE_GOB_WIDTH * s->block_bytes +
		(gob_row & ((1u << s->log2_height) - 1)) * (CE_GOB_WIDTH * s->gob_rows) +
		y % s->gob_rows * CE_GOB_WIDTH + x % CE_GOB_WIDTH) &
	       CE_VA_MASK;
}

unsigned int ce_surface_band(const struct ce_surface *s, uint64_t line)
{
	if (s->pitch_layout)
		return CE_ROWS;
	return s->gob_rows - (s->y0 + line) % s->gob_rows;
}

void ce_surface_forget(struct ce_surface *s)
{
	unsigned int i;

	for (i = 0; i < CE_ROWS; i++)
		s->cur[i].len = 0;
	s->moved[0] = 0;
	s->moved[1] = 0;
}

/*
 * Open: what a physical access beyond all memory does on silicon; in the model it faults, with the
 * reason for the end of VRAM.
 */
static int map_physical(struct ce_job *job, struct ce_surface *s, uint64_t va, struct mmu_seg *seg)
{
	seg->ptr = mem_ptr(job->g, s->target, va, &seg->len, s->acc != ACC_READ);
	seg->target = s->target;
	if (seg->ptr && seg->len)
		return 0;
	mmu_fault(job->g, &job->ce->client, &job->c->vm, va, MMU_REGION, s->acc, 0);
	return -EFAULT;
}

uint8_t *ce_map_slow(struct ce_job *job, struct ce_surface *s, struct ce_cursor *cur, uint64_t va,
		     uint64_t *n)
{
	uint64_t page_rest = GK110_PAGE - va % GK110_PAGE, want = *n > page_rest ? *n : page_rest;
	struct mmu_seg seg = { .len = want };
	int ret;

	if (want > CE_VA_MASK + 1 - va)
		want = CE_VA_MASK + 1 - va;
	seg.len = want;
	cur->len = 0;
	if (s->phys)
		ret = map_physical(job, s, va, &seg);
	else
		ret = mmu_translate(job->g, &job->ce->client, &job->c->vm, va, want, s->acc,
				    job->mmu_flags, &seg);
	if (ret)
		return NULL;
	cur->va = va;
	cur->ptr = seg.ptr;
	cur->len = seg.len < want ? seg.len : want;
	cur->target = seg.target;
	if (*n > cur->len)
		*n = cur->len;
	return cur->ptr;
}

int ce_surface_read(struct ce_job *job, uint64_t line, uint64_t x, uint8_t *buf, uint64_t n)
{
	struct ce_surface *s = &job->src;

	while (n) {
		uint64_t run, va = ce_surface_va(s, line, x, &run), part = run < n ? run : n;
		const uint8_t *p = ce_map(job, s, &s->cur[0], va, &part);

		if (!p)
			return -EFAULT;
		memcpy(buf, p, part);
		s->moved[s->cur[0].target == MEM_VRAM] += part;
		x += part;
		buf += part;
		n -= part;
	}
	return 0;
}

/*
 * @mask has @size bytes, an element's, and repeats over the line; @p[0] is the mask's byte @phase.
 */
static void write_masked(uint8_t *p, const uint8_t *buf, uint64_t n, const uint8_t *mask,
			 unsigned int size, unsigned int phase)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (mask[phase])
			p[i] = buf[i];
		phase = phase + 1 == size ? 0 : phase + 1;
	}
}

int ce_surface_write(struct ce_job *job, uint64_t line, uint64_t x, const uint8_t *buf, uint64_t n)
{
	unsigned int size = job->remap.size * job->remap.nr_dst;
	struct ce_surface *s = &job->dst;

	while (n) {
		uint64_t run, va = ce_surface_va(s, line, x, &run), part = run < n ? run : n;
		uint8_t *p = ce_map(job, s, &s->cur[0], va, &part);

		if (!p)
			return -EFAULT;
		if (job->masked)
			write_masked(p, buf, part, job->write_mask, size, (unsigned int)(x % size));
		else
			memcpy(p, buf, part);
		s->moved[s->cur[0].target == MEM_VRAM] += part;
		x += part;
		buf += part;
		n -= part;
	}
	return 0;
}
