// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MMU's registers. When a guest invalidates its TLB, the host brings its shadow tables up to
 * date before the write completes, so the queue of invalidates reads empty. A guest that has the
 * page mapped needs no more for an invalidate (mdev/machine/dirty.c). The bus addresses that
 * a guest writes, of pages for flushes and for the debug mode, stay in the register file and do not
 * reach the chip.
 */
#include <gk110/mmu.h>
#include <gk110/pfb.h>

#include "units.h"

/* the queue of invalidates is empty; drivers poll this */
#define QUEUE_EMPTY (FB_MMU_CTRL_FIFO_EMPTY | FB_MMU_CTRL_FIFO_SPACE)

void kvgpu_trap_mmu_restore(struct kvgpu_trap *t)
{
	vtrap_reg_set(t, FB_MMU_CTRL, vtrap_reg_get(t, FB_MMU_CTRL) | QUEUE_EMPTY);
	vtrap_reg_set(t, FB_MMU_INVALIDATE,
		      vtrap_reg_get(t, FB_MMU_INVALIDATE) & ~(u32)FB_MMU_INVALIDATE_TRIGGER);
}

static void tlb_invalidate_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 pdb = vtrap_reg_get(t, FB_MMU_INVALIDATE_PDB),
	    target = FIELD_GET(FB_MMU_INVALIDATE_PDB_TARGET, pdb);
	bool all_pd = a->val & FB_MMU_INVALIDATE_ALL_PDB;

	vtrap_reg_set(t, a->reg, a->val & ~(u32)FB_MMU_INVALIDATE_TRIGGER);
	if (!(a->val & FB_MMU_INVALIDATE_TRIGGER))
		return;
	if (!all_pd && !kvgpu_target_ok(target)) {
		vtrap_denial_note(t);
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

#define WHY_RAW "a raw bus address; its use would let the GPU write to host memory"

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(FB_NISO_FLUSH_SYSMEM_ADDR, FILE, FILE, .src = SRC_NVRNN, .why = WHY_RAW),
	KVGPU_LINE(
		FB_MMU_CTRL, FILE, FILE, .one = QUEUE_EMPTY, .src = SRC_NVRNN,
		.why = "bit 0, the size of big pages, has no effect: the host reads the guest's tables as those of 128 KiB; the queue is always empty"),
	KVGPU_LINE(FB_MMU_INVALIDATE_PAGE, FILE, FILE, .src = SRC_RNN,
		   .why = "the host invalidates whole address spaces"),
	KVGPU_LINE(FB_MMU_INVALIDATE_PDB, FILE, FILE, .src = SRC_NVRNN,
		   .why = "latched for FB_MMU_INVALIDATE"),
	KVGPU_LINE(
		FB_MMU_INVALIDATE, FILE, TRAP, .write = tlb_invalidate_write, .src = SRC_NVRNN,
		.why = "the host syncs the shadows of the directory, or all of the vGPU, then invalidates the TLB entries of those that have changed"),
	KVGPU_LINE(FB_MMU_DEBUG_CTRL, FILE, FILE, .src = SRC_NV,
		   .why = "the MMU's debug mode is shared by all vGPUs"),
	KVGPU_LINE(FB_MMU_DEBUG_WR, FILE, FILE, .src = SRC_NV, .why = WHY_RAW),
	KVGPU_LINE(FB_MMU_DEBUG_RD, FILE, FILE, .src = SRC_NV, .why = WHY_RAW),
};

const struct kvgpu_reg_unit kvgpu_unit_pmmu = {
	.name = "PMMU",
	.base = PFFB_MMU_PAGE,
	.size = PFFB_MMU_END - PFFB_MMU_PAGE,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE,
		   "protected regions and other settings of the MMU that all vGPUs share", SRC_RNN),
};
