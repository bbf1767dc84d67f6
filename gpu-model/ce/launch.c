// SPDX-License-Identifier: GPL-2.0-only
/*
 * One launch: checks, the data in chunks, then semaphore and interrupt.
 *
 * A wrong launch raises the launch error (codes: nouveau ce/gk104.c; the model matches mistakes to
 * codes by their names):
 *   LAUNCH bits above 19                                     UNUSED_FIELD
 *   enumeration without that value, phys target 3, selector 7 INVALID_VALUE
 *   misaligned semaphore                                     INVALID_ARGUMENT
 *   block width of a quarter GOB (layout not documented)     INVALID_OPERATION
 *   more than one line, and a line longer than the pitch     {SRC,DST}_LINE_EXCEEDS_[NEG_]PITCH
 *   (pitches are signed)
 *   layer or rectangle outside a block-linear surface        2D_LAYER_EXCEEDS_DEPTH,
 *   MEM2MEM_RECT_OUT_OF_BOUNDS
 *   selector of a source component that is not there         BAD_SRC_PIXEL_COMP_REF
 * A single line's pitches are not checked: Mesa (NVK) leaves stale pitches with LINE_COUNT 1.
 *
 * Preemption: open on silicon. The model stops between chunks and keeps its place in the saved
 * method state (gk110/ce.h), so that the launch goes on where it stopped, also on another PBDMA. It
 * must not start over: a repeated overlapping copy would differ.
 */
#include <errno.h>
#include <linux/bitfield.h>
#include <string.h>

#include "ce.h"

/*
 * Chunks a second of a paced engine. A stop is noticed at a chunk's end, so pacing delays it by
 * 250 us at most. An engine that is not paced copies a chunk in less than that.
 */
#define PACED_CHUNKS_PER_S 4000

/* ------------------------------------------------------------------ decoding */

static bool decode_target(struct ce_surface *s, uint32_t phys_mode)
{
	switch (FIELD_GET(A0B5_PHYS_TARGET, phys_mode)) {
	case A0B5_PHYS_LOCAL_FB:
		s->target = MEM_VRAM;
		return true;
	case A0B5_PHYS_COHERENT:
		s->target = MEM_SYS_COH;
		return true;
	case A0B5_PHYS_NONCOHERENT:
		s->target = MEM_SYS_NCOH;
		return true;
	default:
		return false;
	}
}

static enum gk110_ce_launcherr check_pitch(const struct ce_surface *s, uint64_t width,
					   uint64_t lines, bool is_src)
{
	uint64_t distance = (uint64_t)(s->pitch < 0 ? -s->pitch : s->pitch);

	if (lines <= 1 || width <= distance)
		return CE_NO_ERR;
	if (is_src)
		return s->pitch < 0 ? CE_SRC_LINE_EXCEEDS_NEG_PITCH : CE_SRC_LINE_EXCEEDS_PITCH;
	return s->pitch < 0 ? CE_DST_LINE_EXCEEDS_NEG_PITCH : CE_DST_LINE_EXCEEDS_PITCH;
}

static enum gk110_ce_launcherr decode_surface(struct ce_job *job, bool is_src,
					      const uint32_t *state, uint32_t launch,
					      unsigned int elem, uint64_t elems)
{
	struct ce_surface *s = is_src ? &job->src : &job->dst;

	s->acc = is_src ? ACC_READ : ACC_WRITE;
	s->pitch_layout = launch & (is_src ? A0B5_LAUNCH_SRC_PITCH : A0B5_LAUNCH_DST_PITCH);
	s->phys = launch & (is_src ? A0B5_LAUNCH_SRC_PHYSICAL : A0B5_LAUNCH_DST_PHYSICAL);
	if (s->phys && !decode_target(s, state[is_src ? CE_SRC_PHYS : CE_DST_PHYS]))
		return CE_INVALID_VALUE;
	s->addr = ce_address(state, is_src ? CE_IN_UPPER : CE_OUT_UPPER);
	s->pitch = (int32_t)state[is_src ? CE_PITCH_IN : CE_PITCH_OUT];
	if (s->pitch_layout)
		return check_pitch(s, elems * elem, job->lines, is_src);
	return ce_surface_blocks(s, state + (is_src ? CE_SRC_SURFACE : CE_DST_SURFACE), elem,
				 elems * elem, job->lines);
}

static enum gk110_ce_launcherr decode_transfer(struct ce_job *job, const uint32_t *state,
					       uint32_t launch)
{
	uint64_t elems = state[CE_LINE_LENGTH];
	struct ce_remap *r = &job->remap;
	enum gk110_ce_launcherr err;

	*r = (struct ce_remap){ .size = 1, .nr_src = 1, .nr_dst = 1 };
	if (launch & A0B5_LAUNCH_REMAP) {
		err = ce_remap_decode(r, state);
		if (err)
			return err;
	}
	job->uses_src = ce_remap_reads_src(r);
	job->lines = launch & A0B5_LAUNCH_MULTI_LINE ? state[CE_LINE_COUNT] : 1;
	err = decode_surface(job, false, state, launch, r->size * r->nr_dst, elems);
	if (!err && job->uses_src)
		err = decode_surface(job, true, state, launch, r->size * r->nr_src, elems);
	if (err)
		return err;

	job->width = elems * r->size * r->nr_dst;
	if (ce_remap_is_copy(r)) {
		ce_copy_prepare(job);
	} else if (ce_remap_is_fill(r)) {
		ce_remap_pattern(job);
		ce_copy_prepare(job);
	} else {
		job->width = elems;
		ce_remap_prepare(job);
	}
	return CE_NO_ERR;
}

static enum gk110_ce_launcherr check_launch(const uint32_t *state, uint32_t launch)
{
	if (launch & A0B5_LAUNCH_UNUSED)
		return CE_UNUSED_FIELD;
	if (FIELD_GET(A0B5_LAUNCH_TRANSFER, launch) > A0B5_TRANSFER_NON_PIPELINED ||
	    FIELD_GET(A0B5_LAUNCH_INTERRUPT, launch) > A0B5_INTERRUPT_NON_BLOCKING)
		return CE_INVALID_VALUE;
	return ce_semaphore_check(state, launch);
}

/* ------------------------------------------------------------------ preemption */

static void resume_clear(uint32_t *state)
{
	state[CE_RENDER_C] &= A0B5_RENDER_MODE | CE_RENDER_C_SET;
	state[CE_SRC_PHYS] &= A0B5_PHYS_TARGET;
	state[CE_DST_PHYS] &= A0B5_PHYS_TARGET;
}

static void resume_save(const struct ce_job *job, uint32_t *state)
{
	resume_clear(state);
	state[CE_RENDER_C] |= CE_RENDER_C_RESUME |
			      FIELD_PREP(CE_RENDER_C_RESUME_LINE_HI, job->line >> 30) |
			      FIELD_PREP(CE_RENDER_C_RESUME_X_HI, job->x >> 30);
	state[CE_SRC_PHYS] |= FIELD_PREP(CE_SRC_PHYS_RESUME_LINE_LO, job->line);
	state[CE_DST_PHYS] |= FIELD_PREP(CE_DST_PHYS_RESUME_X_LO, job->x);
}

/* The state is guest memory and may be wrong: any place inside of the launch is accepted. */
static bool resume_take(struct ce_job *job, uint32_t *state)
{
	uint64_t line = FIELD_GET(CE_RENDER_C_RESUME_LINE_HI, state[CE_RENDER_C]) << 30 |
			FIELD_GET(CE_SRC_PHYS_RESUME_LINE_LO, state[CE_SRC_PHYS]);
	uint64_t x = FIELD_GET(CE_RENDER_C_RESUME_X_HI, state[CE_RENDER_C]) << 30 |
		     FIELD_GET(CE_DST_PHYS_RESUME_X_LO, state[CE_DST_PHYS]);
	bool stopped = state[CE_RENDER_C] & CE_RENDER_C_RESUME;

	resume_clear(state);
	if (!stopped || line >= job->lines || x >= job->width)
		return false;
	job->line = line;
	job->x = x;
	return true;
}

/* ------------------------------------------------------------------ execution */

static uint64_t chunk_bytes(const struct ce_engine *ce)
{
	uint64_t n = ce->pacer.per_s / PACED_CHUNKS_PER_S;

	if (!ce->pacer.per_s || n > CE_CHUNK)
		return CE_CHUNK;
	return n > GK110_PAGE ? n : GK110_PAGE;
}

static uint64_t account(struct ce_job *job)
{
	struct gk110 *g = job->g;
	uint64_t rd = job->src.moved[0] + job->src.moved[1],
		 wr = job->dst.moved[0] + job->dst.moved[1];

	stat_add(g, dma_rd_bytes, job->src.moved[0]);
	stat_add(g, vram_rd_bytes, job->src.moved[1]);
	stat_add(g, dma_wr_bytes, job->dst.moved[0]);
	stat_add(g, vram_wr_bytes, job->dst.moved[1]);
	return wr > rd ? wr : rd;
}

static enum eng_ret run_transfer(struct ce_job *job)
{
	uint64_t chunk = chunk_bytes(job->ce);
	int ret;

	while (job->line < job->lines) {
		dma_read_lock(job->g);
		ce_surface_forget(&job->src);
		ce_surface_forget(&job->dst);
		ret = job->step(job, chunk);
		dma_read_unlock(job->g);
		pacer_charge(&job->ce->pacer, account(job), &job->c->stop);
		if (ret)
			return ENG_FAULT;
		if (job->line < job->lines && atomic_load(&job->c->stop)) {
			resume_save(job, job->c->ce_state);
			return ENG_AGAIN;
		}
	}
	return ENG_DONE;
}

/* Finish a launch: semaphore and interrupt. */
static enum eng_ret finish(struct ce_job *job, const uint32_t *state, uint32_t launch)
{
	if (launch & A0B5_LAUNCH_FLUSH)
		atomic_thread_fence(memory_order_seq_cst);
	if (FIELD_GET(A0B5_LAUNCH_SEMAPHORE, launch) != A0B5_SEMAPHORE_NONE &&
	    ce_semaphore_release(job, state, launch))
		return ENG_FAULT;
	switch (FIELD_GET(A0B5_LAUNCH_INTERRUPT, launch)) {
	case A0B5_INTERRUPT_BLOCKING:
		ce_raise(job->g, job->ce, GK110_CE_INTR_BLOCKPIPE, CE_NO_ERR);
		return ENG_STALL;
	case A0B5_INTERRUPT_NON_BLOCKING:
		ce_raise(job->g, job->ce, GK110_CE_INTR_NONBLOCKPIPE, CE_NO_ERR);
		return ENG_DONE;
	default:
		return ENG_DONE;
	}
}

static enum eng_ret launch_error(struct ce_job *job, enum gk110_ce_launcherr err)
{
	resume_clear(job->c->ce_state);
	gk110_note(job->g, "%s: channel %u: launch error %#x", job->ce->client.name, job->c->id,
		   err);
	ce_raise(job->g, job->ce, GK110_CE_INTR_LAUNCHERR, err);
	return ENG_STALL;
}

static enum eng_ret launch(struct ce_job *job, uint32_t data)
{
	uint32_t *state = job->c->ce_state;
	bool transfer = FIELD_GET(A0B5_LAUNCH_TRANSFER, data) != A0B5_TRANSFER_NONE, again,
	     enabled = true;
	enum gk110_ce_launcherr err = check_launch(state, data);
	enum eng_ret ret;

	if (!err && transfer)
		err = decode_transfer(job, state, data);
	if (err)
		return launch_error(job, err);
	if (!job->width)
		job->lines = 0;
	again = resume_take(job, state);
	if (!again)
		stat_inc(job->g, ce_launches);
	/* a launch that goes on had its condition checked at its beginning */
	if (transfer && !again && ce_render_enabled(job, state, &enabled))
		return ENG_FAULT;
	if (transfer && enabled) {
		ret = run_transfer(job);
		if (ret != ENG_DONE)
			return ret;
	}
	return finish(job, state, data);
}

enum eng_ret ce_launch(struct gk110 *g, struct ce_engine *ce, struct chan *c, uint32_t data)
{
	struct ce_job job;
	enum eng_ret ret;

	if ((data & (A0B5_LAUNCH_SRC_PHYSICAL | A0B5_LAUNCH_DST_PHYSICAL)) && !c->hce_priv)
		return ENG_PRIV;
	/*
	 * do not clear the pattern: it is written before it is used, and too big to be cleared for
	 * each copy
	 */
	memset(&job, 0, offsetof(struct ce_job, pattern));
	memset(job.write_mask, 0, sizeof(job.write_mask));
	job.masked = false;
	job.g = g;
	job.ce = ce;
	job.c = c;
	/* open: which of the two privileges gives access to privileged pages; here both do */
	job.mmu_flags = c->pb_priv || c->hce_priv ? MMU_PRIV_ACCESS : 0;

	c->ce_state[CE_LAUNCH] = data;
	pacer_begin(&ce->pacer);
	ret = launch(&job, data);
	pacer_end(&ce->pacer);
	return ret;
}
