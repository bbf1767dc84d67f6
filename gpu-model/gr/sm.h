/* SPDX-License-Identifier: GPL-2.0-only */
/* Where grids are executed: the one interface between launches and sm/, which runs shader code. */
#ifndef KVGPU_MODEL_SM_H
#define KVGPU_MODEL_SM_H

#include "model.h"
#include "qmd.h"

enum sm_result {
	SM_DONE,		/* every CTA has exited */
	/* stop: .warps_done says how far it came; called again with that value */
	SM_AGAIN,
	SM_FAULT,		/* an MMU fault was recorded */
	SM_TRAP,		/* an SM stopped: .trap says where and why */
	SM_NO_TEMP,		/* local memory of one CTA is more than an SM's share of it */
	SM_RESET,		/* the engine was reset meanwhile; CTAs were dropped */
};

struct sm_grid {
	const struct qmd *qmd;
	const struct mmu_space *vm;
	/* SET_PROGRAM_REGION; qmd->program_offset is relative to it */
	uint64_t code_base;
	struct pacer *pacer;
	const atomic_bool *stop;
	uint64_t warps_done;		/* in and out, in launch order */
	/* class state */
	/* SET_SHADER_LOCAL_MEMORY_A/B, _NON_THROTTLED_A/B */
	uint64_t local_base, local_size_per_sm;
	uint32_t local_window, shared_window;	/* generic addresses, 16 MiB each */
	uint64_t header_pool, sampler_pool;	/* textures */
	uint32_t max_header, max_sampler;
	/* SET_BINDLESS_TEXTURE: where handles of bound textures are */
	unsigned int texture_cbuf;
	struct {
		unsigned int gpc, tpc;
		uint32_t warp_esr, global_esr;	/* TPC_MP_WARP_ESR, TPC_MP_GLOBAL_ESR */
		uint32_t pc;			/* of the instruction, from the code base */
	} trap;
};

/* called by the thread that owns the engine, without locks */
enum sm_result sm_run_grid(struct gk110 *g, struct sm_grid *grid);

/* while on, running CTAs are dropped and none is started: the model ends or is reset. Any thread */
void sm_abandon(struct gk110 *g, bool on);
/* warp instructions executed since sm_init() */
uint64_t sm_instructions(struct gk110 *g);

/* called with the unit's init and fini; after a failing init, fini cleans up */
int sm_init(struct gk110 *g);
void sm_fini(struct gk110 *g);

#endif
