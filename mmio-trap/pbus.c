// SPDX-License-Identifier: GPL-2.0-only
/*
 * PBUS, the windows into memory, and the flushes. The guest's BAR1 and BAR3 are slices of the
 * card's BARs. When the guest binds an instance block to a BAR, the host shadows its page tables
 * into the entries of the slice. In "physical" mode the slice shows the vGPU's own partition.
 */
#include <gk110/bar.h>
#include <gk110/map.h>
#include <gk110/pbus.h>

#include "units.h"

/*
 * PRAMIN, the window in BAR0, shows the vGPU's scrap page (a page of the host's video memory that
 * only this vGPU sees) if the target is not video memory, and beyond the vGPU's partition.
 */
static void pramin_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val);
	a->cmd->kind = KVGPU_CMD_PRAMIN;
	a->cmd->pramin.base.target = FIELD_GET(HOSTMEM_PRAMIN_TARGET, a->val);
	a->cmd->pramin.base.addr = (u64)FIELD_GET(HOSTMEM_PRAMIN_BASE, a->val)
				   << HOSTMEM_PRAMIN_BASE_SHIFT;
	if (a->cmd->pramin.base.target != KVGPU_VRAM)
		vtrap_denial_note(t);
}

static void bar_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 target = FIELD_GET(HOSTMEM_TARGET, a->val);
	bool virt = a->val & HOSTMEM_VIRTUAL;

	vtrap_reg_set(t, a->reg, a->val);
	if (virt && !kvgpu_target_ok(target)) {
		vtrap_denial_note(t);
		return;
	}
	a->cmd->kind = KVGPU_CMD_BAR_BIND;
	a->cmd->bar.bar = a->reg == HOSTMEM_BAR1 ? KVGPU_BAR1 : KVGPU_BAR3;
	a->cmd->bar.is_virtual = virt;
	if (virt) {
		a->cmd->bar.inst.target = target;
		a->cmd->bar.inst.addr = (u64)FIELD_GET(HOSTMEM_INST, a->val) << HOSTMEM_INST_SHIFT;
	}
}

static void flush_reg_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	if (!(a->bits & FLUSH_TRIGGER))
		return;
	a->cmd->kind = KVGPU_CMD_FLUSH;
	a->cmd->mask = a->reg;
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(PBUS_INTR, FILE, FILE, .w1c = ALL_BITS, .src = SRC_NVRNN,
		   .why = "bus errors are the host's alarm; none is raised for a guest"),
	KVGPU_LINE(PBUS_INTR_EN, FILE, FILE, .src = SRC_NVRNN,
		   .why = "no bus error is raised for a guest"),
	KVGPU_LINE(PBUS_INTR_EN_NRHOST, FILE, FILE, .src = SRC_RNN,
		   .why = "no bus error is raised for a guest"),
	KVGPU_LINE(
		HOSTMEM_PRAMIN, FILE, TRAP, .write = pramin_write, .src = SRC_NVRNN,
		.why = "place of the BAR0 window; in system memory and beyond the vGPU's partition it shows the scrap page"),
	KVGPU_LINE(HOSTMEM_BAR1, FILE, TRAP, .write = bar_write, .src = SRC_NVRNN,
		   .why = "instance block of BAR1; its page tables are shadowed into the slice"),
	KVGPU_LINE(HOSTMEM_BAR3, FILE, TRAP, .write = bar_write, .src = SRC_NVRNN,
		   .why = "instance block of BAR3; its page tables are shadowed into the slice"),
	KVGPU_LINE(HOSTMEM_PEEPHOLE, DENY, DENY, .src = SRC_RNN,
		   .why = "would give the peephole port an address space to read and write"),
};

const struct kvgpu_reg_unit kvgpu_unit_pbus = {
	.name = "PBUS",
	.base = PBUS_BASE,
	.size = PBUS_SIZE,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE, "straps, ROM timing, user scratch; written values are kept",
		   SRC_RNN),
};

/* A guest may map this page, so check_flush_page() of table.c allows no further line. */
static const struct kvgpu_reg_line flushes[] = {
	KVGPU_LINE(
		FLUSH_BAR, CONST, TRAP, .write = flush_reg_write, .src = SRC_NV,
		.why = "done when the write completes, or, through a mapping, by the next command or sample; bit 1 never reads busy"),
	KVGPU_LINE(
		FLUSH_L2_SYSMEM_INVALIDATE, CONST, TRAP, .write = flush_reg_write, .src = SRC_NV,
		.why = "done when the write completes, or, through a mapping, soon; bits 1:0 read busy until then"),
	KVGPU_LINE(
		FLUSH_L2_DIRTY, CONST, TRAP, .write = flush_reg_write, .src = SRC_NV,
		.why = "done when the write completes, or, through a mapping, soon; bits 1:0 read busy until then"),
};

const struct kvgpu_reg_unit kvgpu_unit_flush = {
	.name = "HOST_FLUSH",
	.base = HOST_FLUSH_BASE,
	.size = HOST_FLUSH_SIZE,
	KVGPU_UNIT_LINES(flushes),
};
