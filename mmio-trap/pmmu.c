// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MMU's registers. A TLB invalidate is where the host brings its shadow tables up to date; it
 * is done when the write completes, so the queue always reads empty. Pages that the MMU itself
 * would write to are raw bus addresses: swallowed.
 */
#include <gk110/mmu.h>
#include <gk110/pfb.h>

#include "units.h"

/* what nouveau and nvgpu poll for before and after an invalidate */
#define QUEUE_EMPTY	(FB_MMU_CTRL_FIFO_EMPTY | FB_MMU_CTRL_FIFO_SPACE)

static void invalidate_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 pdb = kvgpu_reg_get(t, FB_MMU_INVALIDATE_PDB),
	    target = FIELD_GET(FB_MMU_INVALIDATE_PDB_TARGET, pdb);
	bool all_pd = a->val & FB_MMU_INVALIDATE_ALL_PDB;

	kvgpu_reg_set(t, a->reg, a->val & ~(u32)FB_MMU_INVALIDATE_TRIGGER);
	if (!(a->val & FB_MMU_INVALIDATE_TRIGGER))
		return;
	if (!all_pd && !kvgpu_target_ok(target)) {
		kvgpu_deny(t);
		return;
	}
	a->cmd->kind = KVGPU_CMD_TLB;
	a->cmd->tlb.all_va = a->val & FB_MMU_INVALIDATE_ALL_VA;
	a->cmd->tlb.all_pd = all_pd;
	a->cmd->tlb.hub_only = a->val & FB_MMU_INVALIDATE_HUB_ONLY;
	if (!all_pd) {
		a->cmd->tlb.pd.target = target;
		a->cmd->tlb.pd.addr = (u64)FIELD_GET(FB_MMU_INVALIDATE_PDB_ADDR, pdb) << 12;
	}
}

#define WHY_RAW	"a raw bus address: real use would let the GPU poke the host"

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(FB_NISO_FLUSH_SYSMEM_ADDR, FILE, FILE, .src = SRC_NVRNN, .why = WHY_RAW),
	KVGPU_LINE(FB_MMU_CTRL, FILE, FILE, .one = QUEUE_EMPTY, .src = SRC_NVRNN,
		   .why = "page size of the guest's tables (bit 0) is kept for the shadow; nothing is ever queued"),
	KVGPU_LINE(FB_MMU_INVALIDATE_PAGE, FILE, FILE, .src = SRC_RNN,
		.why = "the host invalidates whole spaces"),
	KVGPU_LINE(FB_MMU_INVALIDATE_PDB, FILE, FILE, .src = SRC_NVRNN,
		.why = "latched for the trigger"),
	KVGPU_LINE(FB_MMU_INVALIDATE, FILE, TRAP, .write = invalidate_write, .src = SRC_NVRNN,
		   .why = "the host syncs its shadow of that page directory, then invalidates its own"),
	KVGPU_LINE(FB_MMU_DEBUG_CTRL, FILE, FILE, .src = SRC_NV,
		.why = "debug mode is everybody's"),
	KVGPU_LINE(FB_MMU_DEBUG_WR, FILE, FILE, .src = SRC_NV, .why = WHY_RAW),
	KVGPU_LINE(FB_MMU_DEBUG_RD, FILE, FILE, .src = SRC_NV, .why = WHY_RAW),
};

const struct kvgpu_reg_unit kvgpu_unit_pmmu = {
	.name = "PMMU", .base = PFFB_MMU_PAGE, .size = PFFB_MMU_END - PFFB_MMU_PAGE,
		KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE, "protected regions and other settings of the one MMU", SRC_RNN),
};
