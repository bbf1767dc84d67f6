// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTOP: the units of the die, those that are fused off, and how each engine is wired.
 *
 * The K20m is a GK110 with one of six memory partitions and two of fifteen TPCs off. Display and
 * video engines are reported as absent.
 *
 * The init here fills gk110.engine[] and the numbers of runlists and PBDMAs. It runs before the
 * init of all other units (core/device.c), some of which read them.
 */
#include <errno.h>

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

static const struct layout {
	unsigned int nr_runlists;
	unsigned int runlist[GK110_MAX_ENGINE];
	uint32_t pbdma_runlists[GK110_MAX_PBDMA];
} layouts[] = {
	/*
	 * All engines on runlist 0. nouveau refuses a runlist with more than two PBDMAs
	 * (gk104_fifo_runl_ctor), so the third PBDMA serves none.
	 */
	[GK110_LAYOUT_FLAT] = { .nr_runlists = 1, .pbdma_runlists = { BIT(0), BIT(0), 0 } },
	/* CE2 shares the runlist of GR (it is the "GRCE"), CE0 and CE1 have their own. */
	[GK110_LAYOUT_CARD] = { .nr_runlists = 3,
				.runlist = { [ENGINE_GR] = 0,
					     [ENGINE_CE0] = 1,
					     [ENGINE_CE1] = 2,
					     [ENGINE_CE2] = 0 },
				.pbdma_runlists = { BIT(0), BIT(1), BIT(2) } },
};

static uint32_t data_word(const struct engine *e)
{
	return PTOP_DEVICE_CHAIN | e->mmio_base | PTOP_DATA_FAULT_VALID |
	       FIELD_PREP(PTOP_DATA_FAULT, e->fault_unit) | PTOP_KIND_DATA;
}

static uint32_t enum_word(const struct engine *e, unsigned int id)
{
	return PTOP_DEVICE_CHAIN | PTOP_ENUM_ENGINE_VALID | PTOP_ENUM_RUNLIST_VALID |
	       PTOP_ENUM_INTR_VALID | PTOP_ENUM_RESET_VALID | FIELD_PREP(PTOP_ENUM_ENGINE, id) |
	       FIELD_PREP(PTOP_ENUM_RUNLIST, e->runlist) | FIELD_PREP(PTOP_ENUM_INTR, e->intr_bit) |
	       FIELD_PREP(PTOP_ENUM_RESET, e->reset_bit) | PTOP_KIND_ENUM;
}

static void table_fill(struct gk110 *g)
{
	unsigned int e, i = 0;

	for (e = 0; e < g->nr_engines; e++) {
		reg_set(g, PTOP_DEVICE(i++), data_word(&g->engine[e]));
		reg_set(g, PTOP_DEVICE(i++), enum_word(&g->engine[e], e));
		reg_set(g, PTOP_DEVICE(i++),
			FIELD_PREP(PTOP_TYPE, g->engine[e].type) | PTOP_KIND_TYPE);
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
	const struct layout *l;
	unsigned int e, i;

	if (g->cfg.layout >= ARRAY_SIZE(layouts)) {
		gk110_err("there is no engine layout %d", g->cfg.layout);
		return -EINVAL;
	}
	l = &layouts[g->cfg.layout];
	g->nr_engines = GK110_MAX_ENGINE;
	g->nr_runlists = l->nr_runlists;
	g->nr_pbdma = GK110_MAX_PBDMA;
	for (e = 0; e < g->nr_engines; e++) {
		g->engine[e] = engines[e];
		g->engine[e].runlist = l->runlist[e];
		g->engine[e].ops = engines[e].type == ENGINE_GR ? &gr_engine : &ce_engine;
	}
	for (i = 0; i < g->nr_pbdma; i++)
		g->pbdma_runlists[i] = l->pbdma_runlists[i];
	return 0;
}

static void ptop_reset(struct gk110 *g)
{
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
	for (gpc = GK110_DESIGN_GPC - 2; gpc < GK110_DESIGN_GPC; gpc++)
		reg_set(g, PTOP_DISABLE_TPC(gpc), K20M_TPC_OFF);
	reg_set(g, PTOP_DISABLE_FBP, K20M_FBP_OFF);
	reg_set(g, PTOP_DISABLE_FBPA, K20M_FBP_OFF);
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
