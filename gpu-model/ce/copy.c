// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plain copies and fills. There are three kinds of steps, each resumable at (line, x):
 *   linear  pitch to pitch when lines follow each other without a gap: one run of bytes
 *   lines   pitch to pitch with gaps
 *   tiles   block-linear on either side: the lines that share a GOB together, GOB by GOB
 * A fill is a copy whose source is a pattern that repeats along each line.
 */
#include <errno.h>

#include "ce.h"

static const uint8_t *pattern_at(const struct ce_job *job, uint64_t x, uint64_t *n)
{
	uint64_t off = x % CE_PATTERN_BYTES, have = sizeof(job->pattern) - off;

	if (*n > have)
		*n = have;
	return job->pattern + off;
}

static struct ce_run next_run(struct ce_job *job, uint64_t src_va, uint64_t dst_va, uint64_t x,
			      uint64_t n)
{
	struct ce_surface *src = &job->src, *dst = &job->dst;
	struct ce_run run = { 0 };

	if (job->uses_src)
		run.s = ce_map(job, src, &src->cur[0], src_va, &n);
	else
		run.s = pattern_at(job, x, &n);
	if (run.s)
		run.d = ce_map(job, dst, &dst->cur[0], dst_va, &n);
	if (!run.d)
		return run;
	run.n = n;
	if (job->uses_src)
		src->moved[src->cur[0].target == MEM_VRAM] += n;
	dst->moved[dst->cur[0].target == MEM_VRAM] += n;
	return run;
}

/*
 * Some runs are translated before their bytes are moved, so that the mover can prefetch across page
 * ends.
 */
static int move_linear(struct ce_job *job, uint64_t src_va, uint64_t dst_va, uint64_t x, uint64_t n)
{
	struct ce_run runs[CE_RUNS];
	uint64_t most = job->streaming ? GK110_PAGE : CE_CHUNK;
	unsigned int nr;

	while (n) {
		for (nr = 0; nr < CE_RUNS && n; nr++) {
			runs[nr] = next_run(job, src_va, dst_va, x, n < most ? n : most);
			if (!runs[nr].n)
				break;
			src_va += runs[nr].n;
			dst_va += runs[nr].n;
			x += runs[nr].n;
			n -= runs[nr].n;
		}
		ce_move_runs(runs, nr, job->streaming);
		if (n && nr < CE_RUNS)
			return -EFAULT;
	}
	return 0;
}

static int step_linear(struct ce_job *job, uint64_t budget)
{
	uint64_t off = job->line * job->width + job->x, left = job->lines * job->width - off;

	if (left > budget)
		left = budget;
	if (move_linear(job, job->src.addr + off, job->dst.addr + off, off, left))
		return -EFAULT;
	job->line = (off + left) / job->width;
	job->x = (off + left) % job->width;
	return 0;
}

static int step_lines(struct ce_job *job, uint64_t budget)
{
	while (budget && job->line < job->lines) {
		uint64_t src = job->src.addr + (uint64_t)job->src.pitch * job->line;
		uint64_t dst = job->dst.addr + (uint64_t)job->dst.pitch * job->line;
		uint64_t n = job->width - job->x > budget ? budget : job->width - job->x;

		if (move_linear(job, src + job->x, dst + job->x, job->x, n))
			return -EFAULT;
		budget -= n;
		job->x += n;
		if (job->x == job->width) {
			job->x = 0;
			job->line++;
		}
	}
	return 0;
}

/* a band: lines that share a GOB on each block-linear side. */
struct band {
	unsigned int rows;
	uint64_t base[CE_ROWS];
};

static void band_bases(const struct ce_surface *s, uint64_t line, struct band *b)
{
	unsigned int r;
	uint64_t run, skip = s->pitch_layout ? 0 : s->x0;

	/* take the address of the surface's own byte 0, so that only column() depends on x */
	for (r = 0; r < b->rows; r++)
		b->base[r] = ce_surface_va(s, line + r, 0 - skip, &run);
}

static uint64_t column(const struct ce_surface *s, uint64_t x)
{
	if (s->pitch_layout)
		return x;
	x += s->x0;
	return x / CE_GOB_WIDTH * s->block_bytes + x % CE_GOB_WIDTH;
}

static uint64_t piece_length(const struct ce_job *job, uint64_t x)
{
	uint64_t n = job->width - x, run;

	if (n > CE_GOB_WIDTH)
		n = CE_GOB_WIDTH;
	if (job->uses_src && !job->src.pitch_layout) {
		run = CE_GOB_WIDTH - (job->src.x0 + x) % CE_GOB_WIDTH;
		n = run < n ? run : n;
	}
	if (!job->dst.pitch_layout) {
		run = CE_GOB_WIDTH - (job->dst.x0 + x) % CE_GOB_WIDTH;
		n = run < n ? run : n;
	}
	return n;
}

static int copy_row(struct ce_job *job, unsigned int src_cur, unsigned int dst_cur, uint64_t src_va,
		    uint64_t dst_va, uint64_t x, uint64_t n)
{
	struct ce_surface *src = &job->src, *dst = &job->dst;

	while (n) {
		uint64_t part = n;
		const uint8_t *s = NULL;
		uint8_t *d;

		if (job->uses_src)
			s = ce_map(job, src, &src->cur[src_cur], src_va, &part);
		else
			s = pattern_at(job, x, &part);
		if (!s)
			return -EFAULT;
		d = ce_map(job, dst, &dst->cur[dst_cur], dst_va, &part);
		if (!d)
			return -EFAULT;
		if (part == CE_GOB_WIDTH)
			ce_move_gob_line(d, s);
		else
			ce_copy_forward(d, s, part);
		if (job->uses_src)
			src->moved[src->cur[src_cur].target == MEM_VRAM] += part;
		dst->moved[dst->cur[dst_cur].target == MEM_VRAM] += part;
		src_va += part;
		dst_va += part;
		x += part;
		n -= part;
	}
	return 0;
}

static int copy_piece(struct ce_job *job, const struct band *src, const struct band *dst,
		      uint64_t n)
{
	uint64_t src_col = job->uses_src ? column(&job->src, job->x) : 0,
		 dst_col = column(&job->dst, job->x);
	unsigned int r;

	for (r = 0; r < dst->rows; r++) {
		int ret = copy_row(job, job->src.pitch_layout ? r : 0,
				   job->dst.pitch_layout ? r : 0, src->base[r] + src_col,
				   dst->base[r] + dst_col, job->x, n);

		if (ret)
			return ret;
	}
	return 0;
}

static unsigned int band_rows(const struct ce_job *job)
{
	unsigned int rows = ce_surface_band(&job->dst, job->line), src;

	if (job->uses_src) {
		src = ce_surface_band(&job->src, job->line);
		rows = src < rows ? src : rows;
	}
	return job->lines - job->line < rows ? (unsigned int)(job->lines - job->line) : rows;
}

static int step_tiles(struct ce_job *job, uint64_t budget)
{
	uint64_t done = 0;

	while (done < budget && job->line < job->lines) {
		struct band src = { .rows = band_rows(job) }, dst = { .rows = src.rows };

		if (job->uses_src)
			band_bases(&job->src, job->line, &src);
		band_bases(&job->dst, job->line, &dst);
		while (done < budget && job->x < job->width) {
			uint64_t n = piece_length(job, job->x);

			if (copy_piece(job, &src, &dst, n))
				return -EFAULT;
			job->x += n;
			done += n * dst.rows;
		}
		if (job->x == job->width) {
			job->x = 0;
			job->line += dst.rows;
		}
	}
	return 0;
}

static bool is_linear(const struct ce_job *job)
{
	if (job->lines == 1)
		return true;
	return (!job->uses_src || job->src.pitch == (int64_t)job->width) &&
	       job->dst.pitch == (int64_t)job->width;
}

void ce_copy_prepare(struct ce_job *job)
{
	if (!job->dst.pitch_layout || (job->uses_src && !job->src.pitch_layout))
		job->step = step_tiles;
	else if (is_linear(job))
		job->step = step_linear;
	else
		job->step = step_lines;
	/*
	 * lines is below 2^32 and width at most 2^36: compare without their product, which may not
	 * fit
	 */
	job->streaming = job->width &&
			 job->lines >= (CE_STREAM_BYTES + job->width - 1) / job->width;
}
