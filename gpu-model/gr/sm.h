/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Execution of grids: the one interface between launches (../gr) and sm/, which runs shader code.
 */
#ifndef KVGPU_MODEL_SM_H
#define KVGPU_MODEL_SM_H

#include "model.h"
#include "qmd.h"

enum sm_result {
	SM_DONE, /* every CTA has exited */
	/* stopped by *stop: .warps_done says how far. Call again with that value. */
	SM_AGAIN,
	SM_FAULT, /* an MMU fault was recorded */
	/* an SM stopped: .trap says where and why. Without error bits: no memory for a CTA */
	SM_TRAP,
	/* one CTA needs more local memory than an SM has */
	SM_NO_TEMP,
	/* CTAs were dropped by a reset or sm_abandon() */
	SM_RESET,
};

struct sm_grid {
	const struct qmd *qmd;
	const struct mmu_space *vm;
	/* SET_PROGRAM_REGION; qmd->program_offset is relative to it */
	uint64_t code_base;
	struct pacer *pacer;
	const atomic_bool *stop;
	/* where the grid begins, and after SM_AGAIN goes on, in launch order */
	uint64_t warps_done;
	/* from here to texture_cbuf: class state, by the methods that set it */
	/* SET_SHADER_LOCAL_MEMORY_A/B, _NON_THROTTLED_A/B */
	uint64_t local_base, local_size_per_sm;
	/* where these windows begin in generic addresses, 0: no window; 16 MiB each */
	uint32_t local_window, shared_window;
	uint64_t header_pool, sampler_pool;
	uint32_t max_header, max_sampler; /* the last index of each pool */
	/* SET_BINDLESS_TEXTURE: a constant bank */
	unsigned int texture_cbuf;
	struct {
		unsigned int gpc, tpc;
		uint32_t warp_esr, global_esr; /* TPC_MP_WARP_ESR, TPC_MP_GLOBAL_ESR */
		uint32_t pc; /* from the code base */
	} trap;
};

/*
 * Run a grid, on the thread that owns the engine, without gk110.lock and dma_lock. Helper threads
 * use *@grid until the call returns. When *stop is true no CTA is started, and the call returns
 * when all CTAs that run have ended, however long that takes, or were dropped.
 */
enum sm_result sm_run_grid(struct gk110 *g, struct sm_grid *grid);

/*
 * While @on, each CTA is dropped after the turn of a warp: the model ends or is reset. Any thread.
 */
void sm_abandon(struct gk110 *g, bool on);
/* Warp instructions executed since sm_init(), as of the last return of sm_run_grid(). */
uint64_t sm_instructions(struct gk110 *g);

/*
 * Called by the GR unit's init and fini, without a lock. Where sm_init() fails, sm_fini() frees
 * what it made. sm_fini(): no grid may run any more.
 */
int sm_init(struct gk110 *g);
void sm_fini(struct gk110 *g);

#endif
