// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy engines. Their work comes through channels; here are their registers of interrupts and
 * errors.
 */
#include <gk110/ce.h>
#include <gk110/ptop.h>

#include "units.h"

static void ce_intr_update(struct kvgpu_trap *t, const struct kvgpu_engine *e)
{
	vtrap_intr_host_set(t, e->intr & 31,
			    vtrap_reg_get(t, e->base + GK110_CE_INTR) &
				    vtrap_reg_get(t, e->base + GK110_CE_INTR_EN));
}

/*
 * Returns the copy engine whose registers include @a->reg, or NULL if the card has no engine there.
 */
static const struct kvgpu_engine *engine_at(const struct kvgpu_trap *t,
					    const struct kvgpu_access *a)
{
	u32 e;

	for (e = 0; e < vtrap_engine_count(t); e++)
		if (t->cfg.topo->engine[e].base == (u32)GK110_CE(a->inst))
			return &t->cfg.topo->engine[e];
	return NULL;
}

static void ce_intr_en_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	const struct kvgpu_engine *e = engine_at(t, a);

	vtrap_reg_set(t, a->reg, a->val);
	if (e)
		ce_intr_update(t, e);
}

static void ce_intr_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	const struct kvgpu_engine *e = engine_at(t, a);
	u32 old = vtrap_reg_get(t, a->reg);

	if (!e || !(old & a->bits))
		return;
	vtrap_reg_set(t, a->reg, old & ~a->bits);
	ce_intr_update(t, e);
	a->cmd->kind = KVGPU_CMD_CE_ACK;
	a->cmd->mask = 1u << (e - t->cfg.topo->engine);
}

void vtrap_ce_reset(struct kvgpu_trap *t, const struct kvgpu_engine *e)
{
	vtrap_reg_set(t, e->base + GK110_CE_INTR, 0);
	ce_intr_update(t, e);
}

void kvgpu_trap_ce(struct kvgpu_trap *t, u8 engine, u32 intr, u32 code)
{
	const struct kvgpu_engine *e;
	u32 reg;

	if (engine >= vtrap_engine_count(t))
		return;
	e = &t->cfg.topo->engine[engine];
	if (e->type == PTOP_TYPE_GR)
		return;
	reg = e->base + GK110_CE_INTR;
	vtrap_reg_set(t, reg, vtrap_reg_get(t, reg) | intr);
	vtrap_reg_set(t, e->base + GK110_CE_LAUNCHERR, code);
	ce_intr_update(t, e);
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE_AT(GK110_CE_BASE, GK110_CE_INTR_EN, FILE, EMULATE, .reset = GK110_CE_INTR_MASK,
		      .write = ce_intr_en_write, .src = SRC_NVRNN,
		      .why = "selects the vGPU's copy interrupts that are raised"),
	KVGPU_LINE_AT(
		GK110_CE_BASE, GK110_CE_INTR, FILE, TRAP, .write = ce_intr_write, .src = SRC_NVRNN,
		.why = "interrupts of this vGPU's copies; the host is told of an acknowledge"),
	KVGPU_LINE_AT(GK110_CE_BASE, GK110_CE_LAUNCHERR, FILE, FILE, .src = SRC_NV,
		      .why = "reason why a copy was refused"),
};

const struct kvgpu_reg_unit kvgpu_unit_ce = {
	.name = "PCE",
	.base = GK110_CE_BASE,
	.size = GK110_CE_STRIDE,
	.copies = GK110_CE_NR,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE, "nouveau does not write here", SRC_RNN),
};
