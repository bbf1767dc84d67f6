/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where grids are executed: the one interface between launches and whatever runs shader code. A later executor replaces
 * sm.c behind it.
 */
#ifndef KVGPU_MODEL_SM_H
#define KVGPU_MODEL_SM_H

#include "model.h"
#include "qmd.h"

enum sm_result {
	SM_DONE,		/* every CTA has exited */
	SM_AGAIN,		/* *stop: .warps_done says how far it came; called again with that value */
	SM_FAULT,		/* an MMU fault was recorded */
	SM_TRAP,		/* an SM stopped: .trap says where and why */
};

struct sm_grid {
	const struct qmd *qmd;
	const struct mmu_space *vm;
	uint64_t code_base;		/* SET_PROGRAM_REGION; qmd->program_offset is relative to it */
	struct pacer *pacer;
	const atomic_bool *stop;
	uint64_t warps_done;		/* in and out, in launch order */
	struct {
		unsigned int gpc, tpc;
		uint32_t warp_esr, global_esr;	/* TPC_MP_WARP_ESR, TPC_MP_GLOBAL_ESR */
	} trap;
};

/* called by the thread that owns the engine, without locks */
enum sm_result sm_run_grid(struct gk110 *g, struct sm_grid *grid);

#endif
