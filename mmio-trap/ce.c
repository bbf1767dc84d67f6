// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy engines. Their work comes through channels, so that only the interrupt registers are here.
 */
#include <gk110/ce.h>
#include <gk110/ptop.h>

#include "units.h"

static void intr_update(struct kvgpu_trap *t, const struct kvgpu_engine *e)
{
	kvgpu_intr_source(t, e->intr & 31, kvgpu_reg_get(t, e->base + GK110_CE_INTR) &
			  kvgpu_reg_get(t, e->base + GK110_CE_INTR_EN));
}

/* Returns the engine whose registers contain @a, or NULL if the card has no engine there. */
static const struct kvgpu_engine *engine_at(const struct kvgpu_trap *t,
					    const struct kvgpu_access *a)
{
	u32 e;

	for (e = 0; e < kvgpu_nr_engines(t); e++)
		if (t->cfg.topo->engine[e].base == (u32)GK110_CE(a->inst))
			return &t->cfg.topo->engine[e];
	return NULL;
}

static void en_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	const struct kvgpu_engine *e = engine_at(t, a);

	kvgpu_reg_set(t, a->reg, a->val);
	if (e)
		intr_update(t, e);
}

static void intr_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	const struct kvgpu_engine *e = engine_at(t, a);
	u32 old = kvgpu_reg_get(t, a->reg);

	if (!e || !(old & a->bits))
		return;
	kvgpu_reg_set(t, a->reg, old & ~a->bits);
	intr_update(t, e);
	a->cmd->kind = KVGPU_CMD_CE_ACK;
	a->cmd->mask = 1u << (e - t->cfg.topo->engine);
}

void kvgpu_ce_reset(struct kvgpu_trap *t, const struct kvgpu_engine *e)
{
	kvgpu_reg_set(t, e->base + GK110_CE_INTR, 0);
	intr_update(t, e);
}

void kvgpu_trap_ce(struct kvgpu_trap *t, u8 engine, u32 intr, u32 code)
{
	const struct kvgpu_engine *e;
	u32 reg;

	if (engine >= kvgpu_nr_engines(t))
		return;
	e = &t->cfg.topo->engine[engine];
	if (e->type == PTOP_TYPE_GR)
		return;
	reg = e->base + GK110_CE_INTR;
	kvgpu_reg_set(t, reg, kvgpu_reg_get(t, reg) | intr);
	kvgpu_reg_set(t, e->base + GK110_CE_LAUNCHERR, code);
	intr_update(t, e);
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE_AT(GK110_CE_BASE, GK110_CE_INTR_EN, FILE, EMULATE, .reset = GK110_CE_INTR_MASK,
		      .write = en_write, .src = SRC_NVRNN,
		      .why = "selects the vGPU's copy interrupts that are raised"),
	KVGPU_LINE_AT(
		GK110_CE_BASE, GK110_CE_INTR, FILE, TRAP, .write = intr_write, .src = SRC_NVRNN,
		.why = "interrupts of this vGPU's copies; the host is told of an acknowledge"),
	KVGPU_LINE_AT(GK110_CE_BASE, GK110_CE_LAUNCHERR, FILE, FILE, .src = SRC_NV,
		      .why = "reason why a copy was refused"),
};

const struct kvgpu_reg_unit kvgpu_unit_ce = {
	.name = "PCE", .base = GK110_CE_BASE, .size = GK110_CE_STRIDE, .copies = GK110_CE_NR,
		KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE, "no driver writes here", SRC_RNN),
};
