// SPDX-License-Identifier: GPL-2.0-only
/* How an error stops a warp and its grid. */
#include "exec.h"

static void record(struct warp *w, enum sm_result result, uint32_t warp_esr, uint32_t global_esr)
{
	struct run *r = w->t->run;

	pthread_mutex_lock(&r->lock);
	if (r->result == SM_DONE || r->result == SM_AGAIN) {
		r->result = result;
		sm_place(r->g, w->cta->sm, &r->grid->trap.gpc, &r->grid->trap.tpc);
		r->grid->trap.warp_esr = warp_esr;
		r->grid->trap.global_esr = global_esr;
		r->grid->trap.pc = w->pc;
	}
	pthread_mutex_unlock(&r->lock);
	atomic_store(&r->halt, true);
}

enum step warp_trap(struct warp *w, uint32_t warp_esr)
{
	record(w, SM_TRAP, warp_esr, 0);
	return STEP_STOP;
}

enum step warp_trap_global(struct warp *w, uint32_t global_esr)
{
	record(w, SM_TRAP, 0, global_esr);
	return STEP_STOP;
}

enum step warp_fault(struct warp *w)
{
	record(w, SM_FAULT, 0, 0);
	return STEP_STOP;
}
