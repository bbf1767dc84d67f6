// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers of GR, the graphics engine (PGRAPH): front end, hub and ROPs. A guest sets up GR here,
 * with thousands of writes. Most values are kept for the guest to read; none reaches the chip,
 * because the host has set up GR for all vGPUs. GR_IDLE and GR_STATUS read idle. At an exception,
 * the host copies the registers that explain it into the guest's register file.
 */
#include <linux/string.h>

#include <gk110/gr.h>
#include <gk110/pmc.h>

#include "falcon.h"
#include "gr.h"

static void gr_intr_update(struct kvgpu_trap *t)
{
	vtrap_intr_host_set(t, PMC_INTR_GR,
			    vtrap_reg_get(t, GR_INTR) & vtrap_reg_get(t, GR_INTR_EN));
}

static void gr_intr_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, vtrap_reg_get(t, a->reg) & ~a->bits);
	gr_intr_update(t);
}

static void gr_intr_en_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val);
	gr_intr_update(t);
}

/*
 * If the write clears the bit of a GPC, the GPC's GPCCS_TRAP becomes 0, too, because nouveau clears
 * only the bits of TPCs in GPCCS_TRAP (gf100_gr_trap_gpc()).
 */
static void trap_gpc_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 acked = vtrap_reg_get(t, a->reg) & a->bits, g;

	vtrap_reg_set(t, a->reg, vtrap_reg_get(t, a->reg) & ~a->bits);
	for (g = 0; g < KVGPU_MAX_GPC; g++)
		if (acked & 1u << g)
			vtrap_reg_set(t, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), 0);
}

/* A write with GR_CTRL_FIFO, nouveau's last after an exception, counts as the acknowledgement. */
static void gr_ctrl_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val & ~(u32)GR_CTRL_RESTART);
	if (!t->gr_halted || !(a->val & GR_CTRL_FIFO))
		return;
	t->gr_halted = false;
	a->cmd->kind = KVGPU_CMD_GR_ACK;
}

/* CLEAR clears the status bits; the ENABLE bits take the written value. */
void vtrap_gr_esr_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 status = a->bits & GR_ESR_CLEAR ? 0 : vtrap_reg_get(t, a->reg) & (u32)GR_ESR_STATUS;

	vtrap_reg_set(t, a->reg, status | (a->val & (u32)GR_ESR_ENABLE));
}

void kvgpu_trap_gr(struct kvgpu_trap *t, u32 intr, u32 trap, const struct kvgpu_reg_val *regs,
		   u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (regs[i].reg - GR_BASE < GR_SIZE && !(regs[i].reg & 3))
			vtrap_reg_set(t, regs[i].reg, regs[i].val);
	vtrap_reg_set(t, GR_TRAP, vtrap_reg_get(t, GR_TRAP) | trap);
	vtrap_reg_set(t, GR_INTR, vtrap_reg_get(t, GR_INTR) | intr);
	t->gr_halted = true;
	gr_intr_update(t);
}

void vtrap_gr_reset(struct kvgpu_trap *t)
{
	memset(&t->falcon[FALCON_FECS], 0, sizeof(t->falcon[0]));
	memset(&t->falcon[FALCON_GPCCS], 0, sizeof(t->falcon[0]));
	vtrap_reg_set(t, GR_FECS + FECS_CHAN_ADDR, 0);
	vtrap_reg_set(t, GR_FECS + FECS_CHAN_NEXT, 0);
	vtrap_reg_set(t, GR_INTR, 0);
	vtrap_reg_set(t, GR_TRAP, 0);
	vtrap_reg_set(t, GR_TRAP_GPC_MASK, 0);
	t->gr_halted = false;
	gr_intr_update(t);
}

static const struct kvgpu_reg_line fe[] = {
	KVGPU_LINE(GR_INTR, FILE, EMULATE, .write = gr_intr_write, .src = SRC_NV,
		   .why = "exceptions of this vGPU's contexts"),
	KVGPU_LINE(GR_TRAP, FILE, FILE, .w1c = ALL_BITS, .src = SRC_NV,
		   .why = "units that trapped"),
	KVGPU_LINE(GR_DATA_ERROR, FILE, FILE, .src = SRC_NV, .why = "reported with an exception"),
	KVGPU_LINE(GR_TRAP_GPC_MASK, FILE, EMULATE, .write = trap_gpc_write, .src = SRC_NV,
		   .why = "GPCs that trapped"),
	KVGPU_LINE(GR_TRAP_EN, FILE, FILE, .src = SRC_NV,
		   .why = "the host has enabled the sources that it needs"),
	KVGPU_LINE(GR_INTR_EN, FILE, EMULATE, .write = gr_intr_en_write, .src = SRC_NV,
		   .why = "selects the exceptions that interrupt the guest"),
	KVGPU_LINE(GR_ICMD, FILE, FILE, .src = SRC_NV,
		   .why = "writes bundles for a golden context, which the host replaces by its own"),
	KVGPU_LINE(GR_ICMD_DATA, FILE, FILE, .src = SRC_NV,
		   .why = "writes bundles for a golden context, which the host replaces by its own"),
	KVGPU_LINE(GR_ICMD_DATA_HI, FILE, FILE, .src = SRC_NV,
		   .why = "writes bundles for a golden context, which the host replaces by its own"),
	KVGPU_LINE(GR_CTRL, FILE, TRAP, .write = gr_ctrl_write, .src = SRC_NV,
		   .why = "restart after an exception; the host has done it by itself"),
	KVGPU_LINE(GR_IDLE, CONST, CONST, .src = SRC_NV,
		   .why = "idle; polled while a golden context is made"),
	KVGPU_LINE(GR_STATUS, CONST, CONST, .src = SRC_NV,
		   .why = "idle; polled hundreds of times while a golden context is made"),
	KVGPU_LINE(GR_TRAPPED_ADDR, FILE, FILE, .src = SRC_NV, .why = "reported with an exception"),
	KVGPU_LINE(GR_TRAPPED_DATA, FILE, FILE, .src = SRC_NV, .why = "reported with an exception"),
	KVGPU_LINE(GR_TRAPPED_DATA_HI, FILE, FILE, .src = SRC_NV,
		   .why = "reported with an exception"),
	GR_ESR_LINE(GR_FE_ESR),
	KVGPU_LINE(GR_FE_PWR, FILE, FILE, .zero = GR_FE_PWR_PENDING, .src = SRC_NV,
		   .why = "a power mode changes at once; nouveau polls it"),
	KVGPU_LINE(GR_FE_OBJECT(0), FILE, FILE, .count = 8, .src = SRC_NV,
		   .why = "class of each subchannel; those of 0 to 3 are set with an exception"),
	KVGPU_LINE(GR_MTHD, FILE, FILE, .src = SRC_NV,
		   .why = "runs methods for a golden context, which the host replaces by its own"),
	KVGPU_LINE(GR_MTHD_DATA, FILE, FILE, .src = SRC_NV,
		   .why = "data of the methods that GR_MTHD runs"),
	GR_ESR_LINE(GR_MME_ESR),
	GR_ESR_LINE(GR_M2MF_ESR),
	GR_ESR_LINE(GR_DS_ESR),
	GR_ESR_LINE(GR_PD_ESR),
	GR_ESR_LINE(GR_UNK6_ESR),
	GR_ESR_LINE(GR_SKED_ESR),
	GR_ESR_LINE(GR_SCC_ESR),
};

const struct kvgpu_reg_unit kvgpu_unit_gr_fe = {
	.name = "GR",
	.base = GR_BASE,
	.size = GR_FECS - GR_BASE,
	KVGPU_UNIT_LINES(fe),
	KVGPU_REST(FILE, FILE, "engine set-up; the host has set up GR for all vGPUs", SRC_NV),
};

const struct kvgpu_reg_unit kvgpu_unit_gr_hub = {
	.name = "GR_HUB",
	.base = GR_FECS + FALCON_WINDOW,
	.size = GR_ROP(0, 0) - GR_FECS - FALCON_WINDOW,
	KVGPU_REST(FILE, FILE, "engine set-up; the host has set up GR for all vGPUs", SRC_NV),
};

const struct kvgpu_reg_unit kvgpu_unit_gr_rop = {
	.name = "GR_ROP",
	.base = GR_ROP(0, 0),
	.size = GR_GPC_BCAST - GR_ROP(0, 0),
	KVGPU_REST(FILE, FILE, "engine set-up; the host has set up GR for all vGPUs", SRC_NV),
};
