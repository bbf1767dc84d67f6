// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMC: the chip's identity, the interrupt tree and the engine enables.
 *
 * Interrupts: each unit drives a line; PMC_INTR_MASK selects which lines a destination sees,
 * PMC_INTR_EN gates the destination's output, and the outputs HOST and NRHOST are ORed onto the PCI
 * function's one interrupt.
 *
 * MSI: the function sends a message when its output rises, and then no message until the re-arm
 * byte is written to the configuration mirror. A re-arm with the output high sends a message at
 * once. Open: whether the chip sends messages before that; the model does not, so that a forgotten
 * re-arm shows.
 */
#include <errno.h>
#include <stdlib.h>

#include <gk110/pmc.h>
#include <gk110/pci.h>

#include "root.h"

#define ENABLE_IMPLEMENTED                                                                     \
	((uint32_t)(PMC_ENABLE_UNK0 | PMC_ENABLE_XBAR | PMC_ENABLE_LTC | PMC_ENABLE_UNK4 |     \
		    PMC_ENABLE_PRIVRING | PMC_ENABLE_CE0 | PMC_ENABLE_CE1 | PMC_ENABLE_FIFO |  \
		    PMC_ENABLE_GR | PMC_ENABLE_PMU | PMC_ENABLE_TIMER | PMC_ENABLE_PBFB |      \
		    PMC_ENABLE_CE2 | PMC_ENABLE_UNK26 | PMC_ENABLE_BLG | PMC_ENABLE_PCOUNTER | \
		    PMC_ENABLE_PFFB | PMC_ENABLE_ISOHUB))
/* Open: the enables after POST. The model sets all but the block-level gate. */
#define ENABLE_AT_POST (ENABLE_IMPLEMENTED & ~(uint32_t)PMC_ENABLE_BLG)
/* what a K80 shows that nobody has POSTed */
#define ENABLE_AT_POWER_ON \
	((uint32_t)(PMC_ENABLE_ISOHUB | PMC_ENABLE_DISP | PMC_ENABLE_PMU | PMC_ENABLE_PRIVRING))
/*
 * Units with one line for all destinations. FIFO, the engines and PBUS have a separate line for
 * NRHOST.
 */
#define LINES_SHARED                                                                 \
	((uint32_t)(BIT(PMC_INTR_THERM) | BIT(PMC_INTR_TIMER) | BIT(PMC_INTR_GPIO) | \
		    BIT(PMC_INTR_PMU) | BIT(PMC_INTR_LTC) | BIT(PMC_INTR_PBFB) |     \
		    BIT(PMC_INTR_PFFB) | BIT(PMC_INTR_PRIVRING)))
#define SOFTWARE (1u << PMC_INTR_SOFTWARE)

struct pmc {
	uint32_t lines, lines_nrhost;
	bool output; /* the PCI function's interrupt */
	/* no message was sent since the output rose or was re-armed */
	bool message_due;
	bool armed;
};

static uint32_t leaf_status(struct gk110 *g, unsigned int leaf)
{
	struct pmc *p = g->pmc;
	uint32_t lines = leaf == PMC_LEAF_NRHOST ? p->lines_nrhost | (p->lines & LINES_SHARED) :
						   p->lines;

	return (lines & reg_get(g, PMC_INTR_MASK(leaf)) & ~SOFTWARE) |
	       (reg_get(g, PMC_INTR(leaf)) & SOFTWARE);
}

static bool leaf_output(struct gk110 *g, unsigned int leaf)
{
	uint32_t en = reg_get(g, PMC_INTR_EN(leaf)), stat = leaf_status(g, leaf);

	return ((en & PMC_INTR_EN_HARDWARE) && (stat & ~SOFTWARE)) ||
	       ((en & PMC_INTR_EN_SOFTWARE) && (stat & SOFTWARE));
}

static bool msi_enabled(const struct gk110 *g)
{
	return g->config[GK110_PCI_MSI + 2] & (GK110_PCI_MSI_ENABLE >> 16);
}

/* lock held */
static void output_update(struct gk110 *g)
{
	struct pmc *p = g->pmc;
	bool level = leaf_output(g, PMC_LEAF_HOST) || leaf_output(g, PMC_LEAF_NRHOST);
	bool changed = level != p->output, edge;

	p->output = level;
	if (changed)
		p->message_due = level;
	edge = p->message_due && p->armed;
	if (edge) {
		p->message_due = false;
		p->armed = !msi_enabled(g);
		stat_inc(g, intr_msgs);
	}
	if (changed || edge)
		g->bus->intr(g->bus_priv, level, edge);
}

void pmc_intr_set(struct gk110 *g, unsigned int bit, bool level)
{
	uint32_t mask = 1u << bit, old = g->pmc->lines;

	g->pmc->lines = level ? old | mask : old & ~mask;
	if (g->pmc->lines != old)
		output_update(g);
}

void pmc_intr_set_nrhost(struct gk110 *g, unsigned int bit, bool level)
{
	uint32_t mask = 1u << bit, old = g->pmc->lines_nrhost;

	g->pmc->lines_nrhost = level ? old | mask : old & ~mask;
	if (g->pmc->lines_nrhost != old)
		output_update(g);
}

void pmc_intr_rearm(struct gk110 *g)
{
	g->pmc->armed = true;
	g->pmc->message_due = g->pmc->output;
	output_update(g);
}

/* PFIFO, the engines, the PMU and PTIMER lose their state when their bit is cleared. */
static void enable_write(struct gk110 *g, uint32_t val, uint32_t be)
{
	uint32_t old = reg_get(g, PMC_ENABLE), new, fell;
	unsigned int e;

	new = ((old & ~be) | val) & ENABLE_IMPLEMENTED;
	reg_set(g, PMC_ENABLE, new);
	fell = old & ~new;
	if (fell & PMC_ENABLE_FIFO)
		fifo_reset_hw(g);
	for (e = 0; e < g->nr_engines; e++)
		if (fell & (1u << g->engine[e].reset_bit))
			fifo_engine_reset(g, e);
	if ((fell & PMC_ENABLE_PMU) && pmu_unit.reset)
		pmu_unit.reset(g);
	if (fell & PMC_ENABLE_TIMER)
		ptimer_unit.reset(g);
}

static uint32_t pmc_read(struct gk110 *g, uint32_t reg)
{
	unsigned int leaf;

	for (leaf = 0; leaf < PMC_NR_LEAF; leaf++) {
		if (reg == PMC_INTR(leaf))
			return leaf_status(g, leaf);
		if (reg == PMC_INTR_LINE(leaf))
			return leaf_output(g, leaf);
	}
	return reg_get(g, reg);
}

/*
 * A write changes only bit 31 of PMC_INTR. Except for NRHOST, the bit can be set only while it is
 * unmasked.
 */
static void software_write(struct gk110 *g, unsigned int leaf, uint32_t val, uint32_t be)
{
	if (!(be & SOFTWARE))
		return;
	if ((val & SOFTWARE) && leaf != PMC_LEAF_NRHOST &&
	    !(reg_get(g, PMC_INTR_MASK(leaf)) & SOFTWARE))
		return;
	reg_set(g, PMC_INTR(leaf), val & SOFTWARE);
}

static bool tree_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	unsigned int leaf;

	for (leaf = 0; leaf < PMC_NR_LEAF; leaf++) {
		if (reg == PMC_INTR(leaf))
			software_write(g, leaf, val, be);
		else if (reg == PMC_INTR_EN(leaf))
			reg_merge(g, reg, val, be & (PMC_INTR_EN_HARDWARE | PMC_INTR_EN_SOFTWARE));
		else if (reg == PMC_INTR_MASK(leaf))
			reg_merge(g, reg, val, be);
		else if (reg != PMC_INTR_LINE(leaf))
			continue;
		output_update(g);
		return true;
	}
	return false;
}

static void pmc_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	if (tree_write(g, reg, val, be))
		return;
	switch (reg) {
	case PMC_BOOT_0:
	case PMC_BOOT_2:
	case PMC_NEW_ID:
	case PMC_INTR_PMFB:
	case PMC_INTR_PBFB_PART:
		return;
	case PMC_BOOT_1:
		if (val & PMC_BOOT_1_FLIP)
			gk110_note(
				g,
				"PMC: the switch to big-endian registers is not modelled, stays little-endian");
		return;
	case PMC_ENABLE:
		enable_write(g, val, be);
		return;
	case PMC_ENABLE_PBDMA:
		reg_merge(g, reg, val, be & ((1u << g->nr_pbdma) - 1));
		return;
	default:
		if (reg >= PMC_UNK260(0) && reg < PMC_UNK260(PMC_UNK260_NR))
			be &= 1;
		reg_merge(g, reg, val, be);
	}
}

static int pmc_init(struct gk110 *g)
{
	g->pmc = calloc(1, sizeof(*g->pmc));
	return g->pmc ? 0 : -ENOMEM;
}

static void pmc_reset(struct gk110 *g)
{
	const struct gk110_board *b = &g->cfg.board;
	bool was = g->pmc->output;
	unsigned int leaf;

	*g->pmc = (struct pmc){ .armed = true };
	for (leaf = 0; leaf < PMC_NR_LEAF; leaf++) {
		reg_set(g, PMC_INTR(leaf), 0);
		reg_set(g, PMC_INTR_EN(leaf), 0);
		/* all ones: nouveau before Linux 6.2 never writes PMC_INTR_MASK */
		reg_set(g, PMC_INTR_MASK(leaf), ~0u);
	}
	reg_set(g, PMC_BOOT_0,
		FIELD_PREP(PMC_BOOT_0_CHIPSET, b->chipset) |
			FIELD_PREP(PMC_BOOT_0_DEVICE, b->device & 0x3f) | GK110_STEPPING);
	reg_set(g, PMC_NEW_ID,
		FIELD_PREP(PMC_NEW_ID_CHIPSET, b->chipset) |
			FIELD_PREP(PMC_NEW_ID_STEPPING, GK110_STEPPING) |
			FIELD_PREP(PMC_NEW_ID_DEVICE, b->device & 0xff));
	reg_set(g, PMC_ENABLE, g->cfg.unposted ? ENABLE_AT_POWER_ON : ENABLE_AT_POST);
	reg_set(g, PMC_ENABLE_PBDMA, (1u << g->nr_pbdma) - 1);
	reg_set(g, PMC_ENABLE_UNK208, ~0u);
	reg_set(g, PMC_ENABLE_UNK20C, ~0u);
	if (was)
		g->bus->intr(g->bus_priv, false, false);
}

static void pmc_fini(struct gk110 *g)
{
	free(g->pmc);
	g->pmc = NULL;
}

static const struct mmio_range pmc_ranges[] = {
	{ PMC_BASE, PMC_SIZE, "PMC", pmc_read, pmc_write },
};

const struct unit_ops pmc_unit = {
	.name = "PMC",
	.ranges = pmc_ranges,
	.nr_ranges = ARRAY_SIZE(pmc_ranges),
	.init = pmc_init,
	.reset = pmc_reset,
	.fini = pmc_fini,
};
