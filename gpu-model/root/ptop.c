// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTOP: the units of the die, those that are fused off, and how each engine is wired, as the board
 * says (root/board.c). Display and video engines are reported as switched off.
 *
 * The init here fills gk110.engine[] and the numbers of runlists and PBDMAs. It runs before the
 * init of all other units (core/device.c), some of which read them.
 */
#include <gk110/pmc.h>
#include <gk110/ptop.h>

#include "root.h"

static const struct engine engines[GK110_MAX_ENGINE] = {
	{ .type = ENGINE_GR,
	  .intr_bit = PMC_INTR_GR,
	  .reset_bit = GR_RESET,
	  .fault_unit = GR_FAULT_UNIT,
	  .hub_client = GR_HUB_CLIENT,
	  .mmio_base = GR_MMIO },
	{ .type = ENGINE_CE0,
	  .inst = 0,
	  .intr_bit = PMC_INTR_CE0,
	  .reset_bit = CE0_RESET,
	  .fault_unit = CE0_FAULT_UNIT,
	  .hub_client = CE0_HUB_CLIENT,
	  .mmio_base = CE_MMIO(0) },
	{ .type = ENGINE_CE1,
	  .inst = 1,
	  .intr_bit = PMC_INTR_CE1,
	  .reset_bit = CE1_RESET,
	  .fault_unit = CE1_FAULT_UNIT,
	  .hub_client = CE1_HUB_CLIENT,
	  .mmio_base = CE_MMIO(1) },
	{ .type = ENGINE_CE2,
	  .inst = 2,
	  .intr_bit = PMC_INTR_CE2,
	  .reset_bit = CE2_RESET,
	  .fault_unit = CE2_FAULT_UNIT,
	  .hub_client = CE2_HUB_CLIENT,
	  .mmio_base = CE_MMIO(2) },
};

/* Video engines: in the device table, but PTOP_DISABLE says that they are off. */
static const struct engine video[] = {
	{ .type = ENGINE_MSPDEC,
	  .intr_bit = PMC_INTR_MSPDEC,
	  .reset_bit = MSPDEC_RESET,
	  .fault_unit = MSPDEC_FAULT_UNIT,
	  .mmio_base = MSPDEC_MMIO },
	{ .type = ENGINE_MSPPP,
	  .intr_bit = PMC_INTR_MSPPP,
	  .reset_bit = MSPPP_RESET,
	  .fault_unit = MSPPP_FAULT_UNIT,
	  .mmio_base = MSPPP_MMIO },
	{ .type = ENGINE_MSVLD,
	  .intr_bit = PMC_INTR_MSVLD,
	  .reset_bit = MSVLD_RESET,
	  .fault_unit = MSVLD_FAULT_UNIT,
	  .mmio_base = MSVLD_MMIO },
	{ .type = ENGINE_MSENC,
	  .intr_bit = PMC_INTR_MSENC,
	  .reset_bit = MSENC_RESET,
	  .fault_unit = MSENC_FAULT_UNIT,
	  .mmio_base = MSENC_MMIO },
};

static uint32_t data_word(const struct engine *e)
{
	return PTOP_DEVICE_CHAIN | e->mmio_base | PTOP_DATA_FAULT_VALID |
	       FIELD_PREP(PTOP_DATA_FAULT, e->fault_unit) | PTOP_KIND_DATA;
}

static uint32_t enum_word(const struct engine *e, const struct gk110_device *d)
{
	return PTOP_DEVICE_CHAIN | PTOP_ENUM_ENGINE_VALID | PTOP_ENUM_RUNLIST_VALID |
	       PTOP_ENUM_INTR_VALID | PTOP_ENUM_RESET_VALID | FIELD_PREP(PTOP_ENUM_ENGINE, d->id) |
	       FIELD_PREP(PTOP_ENUM_RUNLIST, d->runlist) | FIELD_PREP(PTOP_ENUM_INTR, e->intr_bit) |
	       FIELD_PREP(PTOP_ENUM_RESET, e->reset_bit) | PTOP_KIND_ENUM;
}

static const struct engine *engine_of(const struct gk110_device *d)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(video); i++)
		if (video[i].type == d->type)
			return &video[i];
	return d->type < GK110_MAX_ENGINE ? &engines[d->type] : NULL;
}

static void table_fill(struct gk110 *g)
{
	const struct gk110_board *b = &g->cfg.board;
	unsigned int d, i = 0;

	for (d = 0; d < b->nr_devices; d++) {
		const struct gk110_device *dev = &b->device_table[d];
		const struct engine *e = engine_of(dev);

		if (!e)
			continue;
		reg_set(g, PTOP_DEVICE(i++), data_word(e));
		reg_set(g, PTOP_DEVICE(i++), enum_word(e, dev));
		reg_set(g, PTOP_DEVICE(i++), FIELD_PREP(PTOP_TYPE, e->type) | PTOP_KIND_TYPE);
	}
	while (i < PTOP_DEVICE_NR)
		reg_set(g, PTOP_DEVICE(i++), 0);
}

static bool read_only(uint32_t reg)
{
	return (reg >= PTOP_GPC_COUNT && reg <= PTOP_HEAD_COUNT) ||
	       (reg >= PTOP_HW_DISABLE && reg < PTOP_HW_DISABLE_END) ||
	       (reg >= PTOP_DEVICE(0) && reg < PTOP_DEVICE(PTOP_DEVICE_NR));
}

static void ptop_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	if (reg == PTOP_PCI)
		be &= PTOP_PCI_V2 | PTOP_PCI_FULL_SPEED;
	if (!read_only(reg))
		reg_merge(g, reg, val, be);
}

static int ptop_init(struct gk110 *g)
{
	const struct gk110_board *b = &g->cfg.board;
	unsigned int d, i;

	g->nr_engines = GK110_MAX_ENGINE;
	g->nr_runlists = b->nr_runlists;
	g->nr_pbdma = GK110_MAX_PBDMA;
	for (i = 0; i < GK110_MAX_ENGINE; i++) {
		g->engine[i] = engines[i];
		g->engine[i].ops = i == ENGINE_GR ? &gr_engine : &ce_engine;
	}
	for (d = 0; d < b->nr_devices; d++) {
		if (b->device_table[d].type >= GK110_MAX_ENGINE)
			continue;
		g->engine[b->device_table[d].type].id = b->device_table[d].id;
		g->engine[b->device_table[d].type].runlist = b->device_table[d].runlist;
	}
	for (i = 0; i < g->nr_pbdma; i++)
		g->pbdma_runlists[i] = b->pbdma_runlists[i];
	return 0;
}

static void ptop_reset(struct gk110 *g)
{
	const uint32_t all_tpcs = (1u << GK110_DESIGN_TPC_PER_GPC) - 1;
	unsigned int gpc;

	reg_set(g, PTOP_FUSE_CONTROL, 0);
	reg_set(g, PTOP_DEVINIT, g->cfg.unposted ? 0 : PTOP_DEVINIT_DONE);
	reg_set(g, PTOP_PCI, PTOP_PCI_V2 | PTOP_PCI_FULL_SPEED);
	reg_set(g, PTOP_GPC_COUNT, GK110_DESIGN_GPC);
	reg_set(g, PTOP_TPC_PER_GPC_COUNT, GK110_DESIGN_TPC_PER_GPC);
	reg_set(g, PTOP_FBP_COUNT, GK110_DESIGN_FBP);
	reg_set(g, PTOP_FBPA_COUNT, GK110_DESIGN_FBP);
	reg_set(g, PTOP_CE_COUNT, GK110_MAX_ENGINE - 1);
	reg_set(g, PTOP_HEAD_COUNT, 0);
	reg_set(g, PTOP_DISABLE,
		PTOP_DISABLE_DISPLAY | PTOP_DISABLE_MSPDEC_MSPPP | PTOP_DISABLE_MSVLD |
			PTOP_DISABLE_MSENC);
	for (gpc = 0; gpc < GK110_DESIGN_GPC; gpc++)
		reg_set(g, PTOP_DISABLE_TPC(gpc), all_tpcs & all_tpcs << g->cfg.board.tpcs[gpc]);
	reg_set(g, PTOP_DISABLE_FBP, g->cfg.board.fbp_off);
	reg_set(g, PTOP_DISABLE_FBPA, g->cfg.board.fbp_off);
	table_fill(g);
}

static const struct mmio_range ptop_ranges[] = {
	{ PTOP_BASE, PTOP_SIZE, "PTOP", NULL, ptop_write },
};

const struct unit_ops ptop_unit = {
	.name = "PTOP",
	.ranges = ptop_ranges,
	.nr_ranges = ARRAY_SIZE(ptop_ranges),
	.init = ptop_init,
	.reset = ptop_reset,
};
