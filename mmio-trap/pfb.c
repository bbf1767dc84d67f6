// SPDX-License-Identifier: GPL-2.0-only
/*
 * PFFB (the memory hub), and PBFB (the memory controllers), from which a guest learns how much
 * memory it has. Timings, training and ECC are the host's.
 */
#include <gk110/map.h>
#include <gk110/pfb.h>

#include "units.h"

static u32 ltcs_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->cfg.topo->ltcs;
}

static u32 pbfb_amount_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return a->inst < KVGPU_GUEST_FBP ? (u32)(t->cfg.vram_size >> 20) / KVGPU_GUEST_FBP : 0;
}

static const struct kvgpu_reg_line pffb[] = {
	KVGPU_LINE(PFFB_LTC_COUNT, CONST, CONST, .read = ltcs_read, .src = SRC_NV,
		   .why = "number of active L2 parts of the card"),
};

const struct kvgpu_reg_unit kvgpu_unit_pffb_low = {
	.name = "PFFB",
	.base = PFFB_BASE,
	.size = PFFB_MMU_PAGE - PFFB_BASE,
	KVGPU_UNIT_LINES(pffb),
	KVGPU_REST(FILE, FILE, "the memory hub is shared by all vGPUs", SRC_RNN),
};

const struct kvgpu_reg_unit kvgpu_unit_pffb_high = {
	.name = "PFFB_HIGH",
	.base = PFFB_MMU_END,
	.size = PFFB_BASE + PFFB_SIZE - PFFB_MMU_END,
	KVGPU_REST(FILE, FILE, "the memory hub is shared by all vGPUs", SRC_RNN),
};

const struct kvgpu_reg_unit kvgpu_unit_pbfb_bcast = {
	.name = "PBFB_BCAST",
	.base = PBFB_BCAST,
	.size = PBFB_BASE(0) - PBFB_BCAST,
	KVGPU_REST(FILE, FILE, "timing and training of all memory are the host's", SRC_NVRNN),
};

static const struct kvgpu_reg_line pbfb[] = {
	KVGPU_LINE_AT(PBFB_BASE(0), PBFB_CFG1, CONST, CONST, .src = SRC_NV,
		      .why = "0 for all partitions: they are equal"),
	KVGPU_LINE_AT(PBFB_BASE(0), PBFB_AMOUNT, CONST, CONST, .read = pbfb_amount_read,
		      .src = SRC_NVRNN,
		      .why = "a quarter of the vGPU's memory in each of four partitions"),
};

const struct kvgpu_reg_unit kvgpu_unit_pbfb = {
	.name = "PBFB",
	.base = PBFB_BASE(0),
	.size = PBFB_BASE(1) - PBFB_BASE(0),
	.copies = PBFB_NR,
	KVGPU_UNIT_LINES(pbfb),
	KVGPU_REST(FILE, FILE, "timing, training and ECC are the host's", SRC_NVRNN),
};
