// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compute launches: SEND_PCAS_A names the queue meta data, SEND_SIGNALING_PCAS_B schedules it
 * (cla1c0.h). SKED reads and checks it, the grid runs (sm.h), then its releases are written, and a
 * dependent grid follows if the data names one.
 *
 * A launch that a stop interrupted goes on where it was: the context state says which grid of a
 * chain it is and how many of its warps are done. The QMD can also say where its grid begins, so
 * that software can stop a grid in one place and go on with it in another (CTA_RASTER_*_RESUME).
 * A grid that traps writes no releases (open on the chip).
 *
 * Queues (IS_QUEUE, dependent QMDs of type queue) hold entries that shaders write. No source was
 * found that describes an entry: scheduling a queue is a data error, INVALID_OPERATION.
 */
#include "gr.h"
#include "sm.h"

#include <linux/bitfield.h>

static void resume_set(struct gr *gr, uint32_t qmd, uint64_t warps)
{
	strand_set(gr, STRAND_LAUNCH_ACTIVE, 1);
	strand_set(gr, STRAND_LAUNCH_QMD, qmd);
	strand_set(gr, STRAND_LAUNCH_WARPS_LO, warps);
	strand_set(gr, STRAND_LAUNCH_WARPS_HI, warps >> 32);
}

static bool resume_take(struct gr *gr, uint32_t *qmd, uint64_t *warps)
{
	if (!strand_get(gr, STRAND_LAUNCH_ACTIVE))
		return false;
	strand_set(gr, STRAND_LAUNCH_ACTIVE, 0);
	*qmd = strand_get(gr, STRAND_LAUNCH_QMD);
	*warps = strand_get(gr, STRAND_LAUNCH_WARPS_LO) |
		 (uint64_t)strand_get(gr, STRAND_LAUNCH_WARPS_HI) << 32;
	return true;
}

static enum eng_ret release_one(struct gr_exec *x, const struct release *r)
{
	if (r->va % (r->four_words ? 16 : 4))
		return trap_data_error(x, GR_DATA_ERROR_INVALID_ALIGNMENT);
	return semaphore_release(x, &x->gr->sked, r) ? ENG_FAULT : ENG_DONE;
}

static enum eng_ret releases(struct gr_exec *x, const struct qmd *q)
{
	struct release r0 = {
		.va = (uint64_t)q->release0_address_upper << 32 | q->release0_address_lower,
		.payload = q->release0_payload,
		.four_words = q->release0_structure_size == QMD_RELEASE_FOUR_WORDS,
		.reduce = q->release0_reduction_enable,
		.op = q->release0_reduction_op,
		.format = q->release0_reduction_format,
	};
	struct release r1 = {
		.va = (uint64_t)q->release1_address_upper << 32 | q->release1_address_lower,
		.payload = q->release1_payload,
		.four_words = q->release1_structure_size == QMD_RELEASE_FOUR_WORDS,
		.reduce = q->release1_reduction_enable,
		.op = q->release1_reduction_op,
		.format = q->release1_reduction_format,
	};
	enum eng_ret ret = ENG_DONE;

	if (q->semaphore_release_enable0)
		ret = release_one(x, &r0);
	if (ret == ENG_DONE && q->semaphore_release_enable1)
		ret = release_one(x, &r1);
	return ret;
}

static enum eng_ret run_grid(struct gr_exec *x, uint32_t qmd_addr, const struct qmd *q,
			     uint64_t *warps)
{
	struct gr *gr = x->gr;
	struct sm_grid grid = {
		.qmd = q,
		.vm = &x->c->vm,
		.code_base = state_addr(gr, GR_COMPUTE, M_SET_PROGRAM_REGION_A),
		.pacer = &gr->pacer,
		.stop = &x->c->stop,
		.warps_done = *warps,
		.local_base = state_addr(gr, GR_COMPUTE, M_SET_LOCAL_MEMORY_A),
		.local_size_per_sm = state_addr(gr, GR_COMPUTE, M_SET_LOCAL_MEMORY_SIZE_A),
		.local_window = state_get(gr, GR_COMPUTE, M_SET_LOCAL_MEMORY_WINDOW),
		.shared_window = state_get(gr, GR_COMPUTE, M_SET_SHARED_MEMORY_WINDOW),
		.header_pool = state_addr(gr, GR_COMPUTE, M_SET_TEX_HEADER_POOL_A),
		.max_header = state_get(gr, GR_COMPUTE, M_SET_TEX_HEADER_POOL_C),
		.sampler_pool = state_addr(gr, GR_COMPUTE, M_SET_TEX_SAMPLER_POOL_A),
		.max_sampler = state_get(gr, GR_COMPUTE, M_SET_TEX_SAMPLER_POOL_C),
		.texture_cbuf = state_get(gr, GR_COMPUTE, M_SET_BINDLESS_TEXTURE) &
				M_BINDLESS_TEXTURE_SLOT,
	};
	enum sm_result ret;

	atomic_store(&x->gr->busy, true);
	ret = sm_run_grid(x->g, &grid);
	atomic_store(&x->gr->busy, false);
	*warps = grid.warps_done;
	switch (ret) {
	case SM_DONE:
		return ENG_DONE;
	case SM_AGAIN:
		resume_set(x->gr, qmd_addr, *warps);
		return ENG_AGAIN;
	case SM_FAULT:
		return ENG_FAULT;
	case SM_NO_TEMP:
		return trap_sked(x, GR_SKED_TOTAL_TEMP_SIZE);
	case SM_RESET:
		return ENG_AGAIN;
	case SM_TRAP:
		break;
	}
	return trap_sm(x, grid.trap.gpc, grid.trap.tpc, grid.trap.warp_esr, grid.trap.global_esr);
}

static enum eng_ret launch_one(struct gr_exec *x, uint32_t qmd_addr, uint64_t warps, struct qmd *q)
{
	uint32_t words[QMD_WORDS], err;
	enum eng_ret ret;

	if (mmu_read(x->g, &x->gr->sked, &x->c->vm, (uint64_t)qmd_addr << 8, words, sizeof(words),
		     0))
		return ENG_FAULT;
	qmd_decode(words, q);
	if (q->is_queue ||
	    (q->dependent_qmd_schedule_enable && q->dependent_qmd_type == QMD_DEPENDENT_QUEUE))
		return trap_data_error(x, GR_DATA_ERROR_INVALID_OPERATION);
	err = qmd_check(q);
	if (err)
		return trap_sked(x, err);
	if (!warps) {
		stat_inc(x->g, gr_launches);
		warps = qmd_first_warp(q);
		if (warps >= qmd_warps(q))
			return releases(x, q);
	}
	ret = run_grid(x, qmd_addr, q, &warps);
	return ret == ENG_DONE ? releases(x, q) : ret;
}

enum eng_ret launch_pcas(struct gr_exec *x)
{
	struct gr *gr = x->gr;
	uint32_t qmd_addr = state_get(gr, GR_COMPUTE, M_SEND_PCAS_A);
	uint64_t warps = 0;
	enum eng_ret ret;
	struct qmd q;
	bool on;

	if (!(x->data & M_PCAS_SCHEDULE))
		return ENG_DONE;
	if (!resume_take(gr, &qmd_addr, &warps)) {
		if (!render_enabled(x, &on, &ret))
			return ret;
		if (!on)
			return ENG_DONE;
	}
	for (;;) {
		ret = launch_one(x, qmd_addr, warps, &q);
		if (ret != ENG_DONE || !q.dependent_qmd_schedule_enable)
			return ret;
		qmd_addr = q.dependent_qmd_pointer;
		warps = 0;
		if (atomic_load(&x->c->stop)) {
			/* look at stop before each grid: a chain may be a circle */
			resume_set(gr, qmd_addr, 0);
			return ENG_AGAIN;
		}
	}
}
