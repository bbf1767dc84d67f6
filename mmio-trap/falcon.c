// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual falcons: memory ports, interrupt registers and start of PMU, FECS and the GPCCS
 * broadcast. No falcon code of the guest runs. pmu.c and fecs.c answer in place of nouveau's
 * programs for PMU and FECS.
 */
#include <gk110/gr.h>
#include <gk110/pmu.h>

#include "falcon.h"

static unsigned int falcon_of(const struct kvgpu_access *a)
{
	u32 window = a->reg & ~(u32)(FALCON_WINDOW - 1);

	return window == PMU_BASE ? FALCON_PMU : window == GR_FECS ? FALCON_FECS : FALCON_GPCCS;
}

static u32 falcon_base_of(const struct kvgpu_access *a)
{
	return a->reg & ~(u32)(FALCON_WINDOW - 1);
}

u32 vtrap_falcon_dmem_get(const struct kvgpu_trap *t, unsigned int n, u32 addr)
{
	return addr < sizeof(t->falcon[n].dmem) ? t->falcon[n].dmem[addr / 4] : 0;
}

void vtrap_falcon_dmem_set(struct kvgpu_trap *t, unsigned int n, u32 addr, u32 val)
{
	if (addr < sizeof(t->falcon[n].dmem))
		t->falcon[n].dmem[addr / 4] = val;
}

/* --------------------------------------------------------------- ports of the falcons' memories */

u32 vtrap_falcon_imemc_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->falcon[falcon_of(a)].imem_ctl;
}

void vtrap_falcon_imemc_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	t->falcon[falcon_of(a)].imem_ctl = a->val;
}

u32 vtrap_falcon_dmemc_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->falcon[falcon_of(a)].dmem_ctl;
}

void vtrap_falcon_dmemc_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	t->falcon[falcon_of(a)].dmem_ctl = a->val;
}

/*
 * Returns the address of this access, from the port's control register. If the bit @step of that
 * register is set, the address in it advances by 4.
 */
static u32 dmem_next(struct kvgpu_vfalcon *f, u32 step)
{
	u32 addr = f->dmem_ctl & (u32)FALCON_MEMC_OFFS;

	if (f->dmem_ctl & step)
		f->dmem_ctl = (f->dmem_ctl & ~(u32)FALCON_MEMC_OFFS) |
			      ((addr + 4) & (u32)FALCON_MEMC_OFFS);
	return addr;
}

u32 vtrap_falcon_dmemd_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	unsigned int n = falcon_of(a);

	return vtrap_falcon_dmem_get(t, n, dmem_next(&t->falcon[n], FALCON_MEMC_AINCR));
}

void vtrap_falcon_dmemd_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	unsigned int n = falcon_of(a);

	vtrap_falcon_dmem_set(t, n, dmem_next(&t->falcon[n], FALCON_MEMC_AINCW), a->bits);
}

/* ------------------------------------------------------- falcons' interrupt registers and start */

static void falcon_update(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	if (falcon_of(a) == FALCON_PMU)
		vtrap_pmu_update(t);
}

void vtrap_falcon_intr_ack(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 reg = falcon_base_of(a) + FALCON_INTR;

	vtrap_reg_set(t, reg, vtrap_reg_get(t, reg) & ~a->bits);
	falcon_update(t, a);
}

void vtrap_falcon_intr_en_set(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 reg = falcon_base_of(a) + FALCON_INTR_EN;

	vtrap_reg_set(t, reg, vtrap_reg_get(t, reg) | a->bits);
	falcon_update(t, a);
}

void vtrap_falcon_intr_en_clr(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 reg = falcon_base_of(a) + FALCON_INTR_EN;

	vtrap_reg_set(t, reg, vtrap_reg_get(t, reg) & ~a->bits);
	falcon_update(t, a);
}

void vtrap_falcon_route_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val);
	falcon_update(t, a);
}

void vtrap_falcon_cpuctl_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	unsigned int n = falcon_of(a);

	if (!(a->bits & FALCON_CPUCTL_START))
		return;
	t->falcon[n].started = true;
	if (n == FALCON_PMU)
		vtrap_pmu_start(t);
	else if (n == FALCON_FECS)
		vtrap_fecs_start(t);
}
