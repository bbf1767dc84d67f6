// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTOP tells a guest which units its card has. The answers differ from the real card. Display and
 * video engines are absent (bits 0-3 of PTOP_DISABLE). If a GPC has fewer TPCs than the largest
 * GPC, the last TPCs of that GPC read as off, whichever are off on the card. Memory is four equal
 * partitions. The card is initialised already. All engines are on runlist 0, because nouveau wakes
 * only threads that wait for runlist 0.
 */
#include <gk110/ptop.h>

#include "units.h"

/* the PTOP_DEVICE registers of each engine */
enum { WORD_DATA, WORD_ENUM, WORD_TYPE, WORDS };

static u32 ptop_gpcs_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->cfg.topo->gpcs;
}

static u32 ptop_tpcs_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 i, most = 0;

	for (i = 0; i < vtrap_gpc_count(t); i++)
		most = max_t(u32, most, t->cfg.topo->tpcs[i]);
	return most;
}

static u32 ptop_tpcs_off_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 most = ptop_tpcs_read(t, a);
	u32 has = a->idx < vtrap_gpc_count(t) ? t->cfg.topo->tpcs[a->idx] : most;

	return has < most ? GENMASK(most - 1, has) : 0;
}

static u32 ces_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 i, ces = 0;

	for (i = 0; i < vtrap_engine_count(t); i++)
		ces += t->cfg.topo->engine[i].type != PTOP_TYPE_GR;
	return ces;
}

static u32 ptop_data_word(const struct kvgpu_engine *e)
{
	return PTOP_DEVICE_CHAIN | PTOP_DATA_FAULT_VALID | FIELD_PREP(PTOP_DATA_FAULT, e->fault) |
	       (e->base & (u32)PTOP_DATA_ADDR) | PTOP_KIND_DATA;
}

static u32 ptop_enum_word(const struct kvgpu_engine *e)
{
	return PTOP_DEVICE_CHAIN | PTOP_ENUM_ENGINE_VALID | PTOP_ENUM_RUNLIST_VALID |
	       PTOP_ENUM_INTR_VALID | PTOP_ENUM_RESET_VALID | FIELD_PREP(PTOP_ENUM_ENGINE, e->id) |
	       FIELD_PREP(PTOP_ENUM_RUNLIST, 0) | FIELD_PREP(PTOP_ENUM_INTR, e->intr) |
	       FIELD_PREP(PTOP_ENUM_RESET, e->reset) | PTOP_KIND_ENUM;
}

static u32 ptop_device_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	const struct kvgpu_topo *topo = t->cfg.topo;
	u32 e = a->idx / WORDS;

	if (e >= vtrap_engine_count(t))
		return 0;
	switch (a->idx % WORDS) {
	case WORD_DATA:
		return ptop_data_word(&topo->engine[e]);
	case WORD_ENUM:
		return ptop_enum_word(&topo->engine[e]);
	case WORD_TYPE:
	default:
		return FIELD_PREP(PTOP_TYPE, topo->engine[e].type) | PTOP_KIND_TYPE;
	}
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(PTOP_FUSE_CONTROL, FILE, FILE, .src = SRC_NV,
		   .why = "fuse readout, a step of nouveau's sequence"),
	KVGPU_LINE(
		PTOP_DEVINIT, CONST, CONST, .reset = PTOP_DEVINIT_DONE, .src = SRC_NV,
		.why = "already initialised, so that nouveau does not run the scripts of the VBIOS"),
	KVGPU_LINE(PTOP_PCI, FILE, FILE, .reset = PTOP_PCI_V2 | PTOP_PCI_FULL_SPEED,
		   .src = SRC_NVRNN, .why = "version of the PCIe link, which is the host's"),
	KVGPU_LINE(PTOP_GPC_COUNT, CONST, CONST, .read = ptop_gpcs_read, .src = SRC_RNN,
		   .why = "number of GPCs of the card"),
	KVGPU_LINE(PTOP_TPC_PER_GPC_COUNT, CONST, CONST, .read = ptop_tpcs_read, .src = SRC_RNN,
		   .why = "TPCs of the largest GPC of the card"),
	KVGPU_LINE(
		PTOP_FBP_COUNT, CONST, CONST, .reset = KVGPU_GUEST_FBP, .src = SRC_NVRNN,
		.why = "the vGPU's memory is shown as equal partitions, so that it is one contiguous range"),
	KVGPU_LINE(PTOP_FBPA_COUNT, CONST, CONST, .reset = KVGPU_GUEST_FBP, .src = SRC_NVRNN,
		   .why = "one FBPA in each partition"),
	KVGPU_LINE(PTOP_CE_COUNT, CONST, CONST, .read = ces_read, .src = SRC_RNN,
		   .why = "number of copy engines of the card"),
	KVGPU_LINE(PTOP_HEAD_COUNT, CONST, CONST, .src = SRC_NVRNN, .why = "no display"),
	KVGPU_LINE(
		PTOP_DISABLE, CONST, CONST,
		.reset = PTOP_DISABLE_DISPLAY | PTOP_DISABLE_MSPDEC_MSPPP | PTOP_DISABLE_MSVLD |
			 PTOP_DISABLE_MSENC,
		.src = SRC_NV,
		.why = "display and video engines are absent, so that nouveau creates none of them"),
	KVGPU_LINE(PTOP_DISABLE_GPC, CONST, CONST, .src = SRC_RNN,
		   .why = "all GPCs that the count names are there"),
	KVGPU_LINE(PTOP_DISABLE_TPC(0), CONST, CONST, .count = KVGPU_MAX_GPC,
		   .read = ptop_tpcs_off_read, .src = SRC_RNN,
		   .why = "the TPCs that a smaller GPC of the card does not have, as its last ones"),
	KVGPU_LINE(PTOP_DISABLE_FBP, CONST, CONST, .src = SRC_RNN,
		   .why = "all partitions that the count names are there"),
	KVGPU_LINE(PTOP_DISABLE_FBPA, CONST, CONST, .src = SRC_NVRNN,
		   .why = "all partitions that the count names are there"),
	KVGPU_LINE(PTOP_DEVICE(0), CONST, CONST, .count = PTOP_DEVICE_NR, .read = ptop_device_read,
		   .src = SRC_NV, .why = "the card's graphics and copy engines, all on runlist 0"),
};

const struct kvgpu_reg_unit kvgpu_unit_ptop = {
	.name = "PTOP",
	.base = PTOP_BASE,
	.size = PTOP_SIZE,
	KVGPU_UNIT_LINES(lines),
};

static const struct kvgpu_reg_line low[] = {
	KVGPU_LINE(
		PTOP_PMU_ENABLE, FILE, FILE, .reset = PTOP_PMU_ENABLE_ON, .src = SRC_NV,
		.why = "resets the PMU on related chips, without effect: the guest's PMU is virtual"),
};

const struct kvgpu_reg_unit kvgpu_unit_ptop_low = {
	.name = "PTOP_LOW",
	.base = PTOP_LOW,
	.size = PTOP_BASE - PTOP_LOW,
	KVGPU_UNIT_LINES(low),
};
