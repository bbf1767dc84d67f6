// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMC: identity, the registers of the interrupt tree, and the engine enables. The enables are the
 * vGPU's own, and are not passed on to the card. When the guest clears the bit of GR or of a copy
 * engine, the host preempts the vGPU's channels. When it clears the bit of PFIFO, the host unbinds
 * them.
 */
#include <gk110/pmc.h>
#include <gk110/ptop.h>

#include "units.h"

/* The bits of PMC_ENABLE that the chip implements. */
#define ENABLES                                                                                    \
	(PMC_ENABLE_UNK0 | PMC_ENABLE_XBAR | PMC_ENABLE_LTC | PMC_ENABLE_UNK4 |                    \
	 PMC_ENABLE_PRIVRING | PMC_ENABLE_CE0 | PMC_ENABLE_CE1 | PMC_ENABLE_FIFO | PMC_ENABLE_GR | \
	 PMC_ENABLE_PMU | PMC_ENABLE_TIMER | PMC_ENABLE_PBFB | PMC_ENABLE_CE2 | PMC_ENABLE_UNK26 | \
	 PMC_ENABLE_BLG | PMC_ENABLE_PCOUNTER | PMC_ENABLE_PFFB | PMC_ENABLE_ISOHUB)

static u32 boot0_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->cfg.topo->boot0;
}

static u32 pmc_new_id_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 boot0 = t->cfg.topo->boot0;

	return FIELD_PREP(PMC_NEW_ID_CHIPSET, FIELD_GET(PMC_BOOT_0_CHIPSET, boot0)) |
	       FIELD_PREP(PMC_NEW_ID_STEPPING, FIELD_GET(PMC_BOOT_0_STEPPING, boot0)) |
	       FIELD_PREP(PMC_NEW_ID_DEVICE, FIELD_GET(PMC_BOOT_0_DEVICE, boot0));
}

static u32 pmc_intr_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return vtrap_intr_leaf_get(t, a->idx);
}

static u32 pmc_line_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return vtrap_intr_output_high(t, a->idx);
}

static void intr_gate_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val);
	vtrap_intr_update(t);
}

static void pmc_enable_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	const struct kvgpu_topo *topo = t->cfg.topo;
	u32 new = (u32)ENABLES & a->val, fell = vtrap_reg_get(t, PMC_ENABLE) & ~new, mask = 0, e;

	vtrap_reg_set(t, PMC_ENABLE, new);
	for (e = 0; e < vtrap_engine_count(t); e++) {
		if (!(fell & 1u << (topo->engine[e].reset & 31)))
			continue;
		mask |= 1u << e;
		if (topo->engine[e].type == PTOP_TYPE_GR)
			vtrap_gr_reset(t);
		else
			vtrap_ce_reset(t, &topo->engine[e]);
	}
	if (fell & PMC_ENABLE_PMU)
		vtrap_pmu_reset(t);
	if (fell & PMC_ENABLE_FIFO) {
		mask |= 1u << 31;
		vtrap_fifo_reset(t);
	}
	if (mask) {
		a->cmd->kind = KVGPU_CMD_ENGINE_RESET;
		a->cmd->mask = mask;
	}
}

static u32 pbdma_mask(const struct kvgpu_trap *t)
{
	return (1u << min_t(u32, t->cfg.topo->nr_pbdma, KVGPU_MAX_PBDMA)) - 1;
}

static void pbdma_enable_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val & pbdma_mask(t));
}

void vtrap_pmc_reset(struct kvgpu_trap *t)
{
	vtrap_reg_set(t, PMC_ENABLE_PBDMA, pbdma_mask(t));
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(PMC_BOOT_0, CONST, CONST, .read = boot0_read, .src = SRC_NVRNN,
		   .why = "identity of the chip, as the card has it"),
	KVGPU_LINE(
		PMC_BOOT_1, CONST, DENY, .src = SRC_NVRNN,
		.why = "little endian; the real register would turn the byte order of BAR0 for the host too"),
	KVGPU_LINE(PMC_BOOT_2, CONST, CONST, .src = SRC_RNN, .why = "0 on this chip"),
	KVGPU_LINE(
		PMC_INTR(0), EMULATE, CONST, .count = PMC_NR_LEAF, .read = pmc_intr_read,
		.src = SRC_NVRNN,
		.why = "pending sources of this vGPU; its software interrupt (bit 31) is not offered"),
	KVGPU_LINE(PMC_INTR_EN(0), FILE, EMULATE, .count = PMC_NR_LEAF, .write = intr_gate_write,
		   .src = SRC_NVRNN, .why = "gates this vGPU's interrupt"),
	KVGPU_LINE(PMC_INTR_LINE(0), EMULATE, CONST, .count = PMC_NR_LEAF, .read = pmc_line_read,
		   .src = SRC_RNN, .why = "outputs of this vGPU's interrupt tree"),
	KVGPU_LINE(PMC_INTR_PMFB, CONST, CONST, .src = SRC_NVRNN,
		   .why = "L2 interrupts are the host's"),
	KVGPU_LINE(PMC_INTR_PBFB_PART, CONST, CONST, .src = SRC_RNN,
		   .why = "memory interrupts are the host's"),
	KVGPU_LINE(
		PMC_ENABLE, FILE, TRAP, .reset = (u32)(ENABLES & ~PMC_ENABLE_BLG),
		.write = pmc_enable_write, .src = SRC_NVRNN,
		.why = "a cleared bit of an engine has the host preempt the vGPU's channels, that of PFIFO unbinds them; the card's engines stay up"),
	KVGPU_LINE(
		PMC_ENABLE_PBDMA, FILE, EMULATE, .write = pbdma_enable_write, .src = SRC_NV,
		.why = "nouveau writes all ones and counts the bits that stay set: the PBDMAs of the card"),
	KVGPU_LINE(PMC_ENABLE_UNK208, FILE, FILE, .src = SRC_RNN,
		   .why = "enables of unknown units, without effect"),
	KVGPU_LINE(PMC_ENABLE_UNK20C, FILE, FILE, .src = SRC_RNN,
		   .why = "enables of unknown units, without effect"),
	KVGPU_LINE(
		PMC_UNK260(0), FILE, FILE, .count = PMC_UNK260_NR, .src = SRC_NV,
		.why = "gate while GR microcode is loaded, without effect: the guest's falcons are virtual"),
	KVGPU_LINE(
		PMC_INTR_MASK(0), FILE, EMULATE, .count = PMC_NR_LEAF, .reset = ~0u,
		.write = intr_gate_write, .src = SRC_NVRNN,
		.why = "selects the sources that PMC_INTR shows; all after POST: nouveau before Linux 6.2 does not write it"),
	KVGPU_LINE(PMC_NEW_ID, CONST, CONST, .read = pmc_new_id_read, .src = SRC_RNN,
		   .why = "identity of the chip in another layout"),
};

const struct kvgpu_reg_unit kvgpu_unit_pmc = {
	.name = "PMC",
	.base = PMC_BASE,
	.size = PMC_SIZE,
	KVGPU_UNIT_LINES(lines),
};
