// SPDX-License-Identifier: GPL-2.0-only
/*
 * Launches. Queue meta data and constant bank 0 lie in a slot until the launch's turn comes. Local
 * memory is one buffer, made larger when a launch needs more.
 */
#include <string.h>

#include <cuda/kepler/device/methods.h>
#include <cuda/kepler/device/qmd.h>
#include <mmu/fake.h>

#include "inprocess.h"

enum { NR_SMX = 13, SM_WARPS = 64, WARP = 32, LOCAL_ALIGN = 32 * 1024 };

/* ------------------------------------------------------------------ in the queue's turn */

static const char *const results[] = {
	[SM_DONE] = "done",
	[SM_AGAIN] = "stopped",
	[SM_FAULT] = "fault",
	[SM_TRAP] = "exception",
	[SM_NO_TEMP] = "too little local memory",
	[SM_RESET] = "took too long",
};

/* false: the queue is lost */
static bool ended(struct in_device *d, const struct in_launch *l, enum sm_result r,
		  const struct sm_grid *grid)
{
	static const enum device_cause causes[] = {
		[SM_FAULT] = CAUSE_ADDRESS, [SM_RESET] = CAUSE_TIMEOUT
	};

	if (r == SM_DONE)
		return true;
	gk110_note(d->g,
		   "launch: %s; code 0x%llx + 0x%x, warp 0x%x, global 0x%x, fault at 0x%x%08x",
		   results[r], (unsigned long long)l->code, grid->trap.pc, grid->trap.warp_esr,
		   grid->trap.global_esr, reg_get(d->g, GMMU_FAULT_VA_HI(0)),
		   reg_get(d->g, GMMU_FAULT_VA_LO(0)));
	atomic_store(&d->cause,
		     r == SM_TRAP ? cause_of_warp(grid->trap.warp_esr & 0xff) : causes[r]);
	if (r != SM_TRAP && r != SM_NO_TEMP)
		return false;
	atomic_store(&d->trapped, true);
	return true;
}

bool in_run(struct in_queue *q, const struct in_launch *l)
{
	struct in_device *d = q->d;
	struct sm_grid grid = {
		.vm = &d->space,
		.code_base = l->code,
		.pacer = &d->pacer,
		.stop = &d->stop,
		.local_base = l->local_base,
		.local_size_per_sm = l->local_per_sm,
		.local_window = LOCAL_WINDOW,
		.shared_window = SHARED_WINDOW,
		.header_pool = l->headers,
		.max_header = l->nr_headers ? l->nr_headers - 1 : 0,
		.sampler_pool = l->samplers,
		.max_sampler = l->nr_samplers ? l->nr_samplers - 1 : 0,
	};
	uint32_t words[QMD_BYTES / 4];
	struct qmd qmd;

	if (mmu_read(d->g, &q->client, &d->space, l->qmd, words, sizeof(words), 0))
		return false;
	qmd_decode(words, &qmd);
	grid.qmd = &qmd;
	if (qmd_check(&qmd)) {
		gk110_note(d->g, "queue meta data refused: 0x%x", qmd_check(&qmd));
		atomic_store(&d->trapped, true);
		return true;
	}
	return ended(d, l, sm_run_grid(d->g, &grid), &grid);
}

/* ------------------------------------------------------------------ submitting */

static unsigned int warps_per_block(const struct device_launch *l)
{
	return (l->block[0] * l->block[1] * l->block[2] + WARP - 1) / WARP;
}

static uint64_t sm_bytes(uint64_t per_warp, unsigned int warps)
{
	return (per_warp * warps + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN;
}

/* for all warps of an SMX, or fewer, and a block's at least */
static enum device_status grow_local(struct in_device *d, uint64_t per_warp, unsigned int at_least)
{
	enum device_status ret = in_drain(d, QUEUE_COMPUTE);
	unsigned int warps = SM_WARPS;

	if (ret)
		return ret;
	if (d->local)
		in_release(&d->base, d->local);
	d->local = NULL;
	d->local_per_warp = 0;
	while ((ret = in_alloc(&d->base, PLACE_VRAM, sm_bytes(per_warp, warps) * NR_SMX,
			       &d->local))) {
		if (warps == at_least)
			return ret;
		warps = warps / 2 > at_least ? warps / 2 : at_least;
	}
	d->local_per_warp = per_warp;
	d->local_warps = warps;
	return DEVICE_OK;
}

static enum device_status local_for(struct in_device *d, const struct device_launch *l,
				    struct in_launch *out)
{
	uint64_t per_warp = (uint64_t)(l->stack + l->local) * WARP + l->crs;
	unsigned int warps = warps_per_block(l);
	enum device_status ret = DEVICE_OK;

	if (per_warp && (!d->local || d->local_per_warp * d->local_warps < per_warp * warps))
		ret = grow_local(d, per_warp, warps);
	if (d->local) {
		out->local_base = d->local->va;
		out->local_per_sm = sm_bytes(d->local_per_warp, d->local_warps);
	}
	return ret;
}

enum device_status in_launch(struct device *dev, const struct moment *after,
			     const struct device_launch *l, uint64_t *seq)
{
	struct in_device *d = in(dev);
	struct in_queue *q = &d->queue[QUEUE_COMPUTE];
	struct job j = { .kind = JOB_LAUNCH,
			 .launch = { .code = l->code,
				     .headers = l->headers,
				     .samplers = l->samplers,
				     .nr_headers = l->nr_headers,
				     .nr_samplers = l->nr_samplers } };
	uint32_t qmd[QMD_BYTES / 4];
	enum device_status ret;
	uint64_t at;

	*seq = q->seq;
	if (l->const0_size > DEVICE_CONST0_MAX)
		return DEVICE_FAILED;
	ret = local_for(d, l, &j.launch);
	/* the slot of the work MAX_IN_FLIGHT ago must be free */
	if (!ret && q->seq - atomic_load(&q->done) >= MAX_IN_FLIGHT)
		ret = in_drain(d, QUEUE_COMPUTE);
	if (ret)
		return ret;
	at = (q->seq + 1) % MAX_IN_FLIGHT * SLOT_BYTES;
	j.launch.qmd = d->slots->va + at;
	qmd_const0((uint8_t *)d->slots->map + at + SLOT_CONST0, l);
	qmd_build(qmd, l, j.launch.qmd + SLOT_CONST0, j.launch.qmd + QMD_BYTES, 1);
	memcpy((uint8_t *)d->slots->map + at, qmd, sizeof(qmd));
	return in_submit(d, QUEUE_COMPUTE, after, &j, seq);
}
