// SPDX-License-Identifier: GPL-2.0-only
/*
 * Component remapping (cla0b5.h SET_REMAP_*): an element is 1-4 components of 1-4 bytes on each
 * side; every destination component takes a source component, a constant, or is not written. Remaps
 * that change nothing run as plain copies, and remaps of constants alone as fills.
 */
#include <errno.h>
#include <linux/bitfield.h>
#include <string.h>

#include "ce.h"

#define BATCH 256 /* elements */
#define ELEM  16 /* the most bytes of one element */

enum gk110_ce_launcherr ce_remap_decode(struct ce_remap *r, const uint32_t *state)
{
	uint32_t v = state[CE_COMPONENTS];
	unsigned int i;

	r->size = FIELD_GET(A0B5_REMAP_COMPONENT_SIZE, v) + 1;
	r->nr_src = FIELD_GET(A0B5_REMAP_NUM_SRC, v) + 1;
	r->nr_dst = FIELD_GET(A0B5_REMAP_NUM_DST, v) + 1;
	r->constant[0] = state[CE_CONST_A];
	r->constant[1] = state[CE_CONST_B];
	/*
	 * selectors beyond the destination's components are ignored: Mesa leaves a fixed value in
	 * them
	 */
	for (i = 0; i < r->nr_dst; i++) {
		r->sel[i] = FIELD_GET(A0B5_REMAP_DST(i), v);
		if (r->sel[i] > A0B5_REMAP_NO_WRITE)
			return CE_INVALID_VALUE;
		if (r->sel[i] < A0B5_REMAP_CONST_A && r->sel[i] >= r->nr_src)
			return CE_BAD_SRC_PIXEL_COMP_REF;
	}
	return CE_NO_ERR;
}

bool ce_remap_reads_src(const struct ce_remap *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_dst; i++)
		if (r->sel[i] < A0B5_REMAP_CONST_A)
			return true;
	return false;
}

bool ce_remap_is_copy(const struct ce_remap *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_dst; i++)
		if (r->sel[i] != i)
			return false;
	return r->nr_src == r->nr_dst;
}

bool ce_remap_is_fill(const struct ce_remap *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_dst; i++)
		if (r->sel[i] != A0B5_REMAP_CONST_A && r->sel[i] != A0B5_REMAP_CONST_B)
			return false;
	return true;
}

static void put_constant(uint8_t *d, uint32_t v, unsigned int size)
{
	unsigned int b;

	for (b = 0; b < size; b++)
		d[b] = (uint8_t)(v >> (8 * b));
}

void ce_remap_pattern(struct ce_job *job)
{
	const struct ce_remap *r = &job->remap;
	unsigned int done = r->size * r->nr_dst, i, part;

	for (i = 0; i < r->nr_dst; i++)
		put_constant(job->pattern + i * r->size,
			     r->constant[r->sel[i] - A0B5_REMAP_CONST_A], r->size);
	for (; done < sizeof(job->pattern); done += part) {
		part = done < sizeof(job->pattern) - done ? done : sizeof(job->pattern) - done;
		memcpy(job->pattern + done, job->pattern, part);
	}
}

/* @size is a constant in each caller, so that a copy is a plain load and store. */
static inline void move_column(uint8_t *d, unsigned int d_step, const uint8_t *s,
			       unsigned int s_step, unsigned int n, unsigned int size)
{
	unsigned int e;

	for (e = 0; e < n; e++, d += d_step, s += s_step)
		memcpy(d, s, size);
}

static void column(uint8_t *d, unsigned int d_step, const uint8_t *s, unsigned int s_step,
		   unsigned int n, unsigned int size)
{
	switch (size) {
	case 1:
		move_column(d, d_step, s, s_step, n, 1);
		break;
	case 2:
		move_column(d, d_step, s, s_step, n, 2);
		break;
	case 3:
		move_column(d, d_step, s, s_step, n, 3);
		break;
	default:
		move_column(d, d_step, s, s_step, n, 4);
		break;
	}
}

static void convert(const struct ce_remap *r, uint8_t *d, const uint8_t *s, unsigned int n)
{
	unsigned int src_elem = r->size * r->nr_src, dst_elem = r->size * r->nr_dst, i;
	uint8_t c[4];

	for (i = 0; i < r->nr_dst; i++) {
		if (r->sel[i] == A0B5_REMAP_NO_WRITE)
			continue;
		if (r->sel[i] < A0B5_REMAP_CONST_A) {
			column(d + i * r->size, dst_elem, s + r->sel[i] * r->size, src_elem, n,
			       r->size);
			continue;
		}
		put_constant(c, r->constant[r->sel[i] - A0B5_REMAP_CONST_A], r->size);
		column(d + i * r->size, dst_elem, c, 0, n, r->size);
	}
}

static int step_convert(struct ce_job *job, uint64_t budget)
{
	unsigned int src_elem = job->remap.size * job->remap.nr_src,
		     dst_elem = job->remap.size * job->remap.nr_dst;
	uint8_t in[BATCH * ELEM], out[BATCH * ELEM];
	uint64_t done = 0;
	int ret;

	while (done < budget && job->line < job->lines) {
		uint64_t n = job->width - job->x < BATCH ? job->width - job->x : BATCH;

		if (job->uses_src) {
			ret = ce_surface_read(job, job->line, job->x * src_elem, in, n * src_elem);
			if (ret)
				return ret;
		}
		convert(&job->remap, out, in, (unsigned int)n);
		ret = ce_surface_write(job, job->line, job->x * dst_elem, out, n * dst_elem);
		if (ret)
			return ret;
		done += n * dst_elem;
		job->x += n;
		if (job->x == job->width) {
			job->x = 0;
			job->line++;
		}
	}
	return 0;
}

void ce_remap_prepare(struct ce_job *job)
{
	unsigned int i;

	for (i = 0; i < job->remap.nr_dst; i++) {
		bool write = job->remap.sel[i] != A0B5_REMAP_NO_WRITE;

		memset(job->write_mask + i * job->remap.size, write ? 0xff : 0, job->remap.size);
		job->masked |= !write;
	}
	job->step = step_convert;
}
