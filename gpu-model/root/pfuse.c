// SPDX-License-Identifier: GPL-2.0-only
/*
 * PFUSE: constants of the die. A fuse word can be read only while readout is enabled in PTOP and
 * requested in PFUSE; otherwise it reads 0. gk110/pfuse.h names the sources.
 *
 * PSTRAPS: what resistors on the board set. Its words have no handler, so they are words of the
 * register file (model.h): a write changes a strap until the next reset.
 */
#include <gk110/pfuse.h>
#include <gk110/ptop.h>

#include "root.h"

/* Open: the values of a real die. */
static const struct {
	uint32_t off, val;
} fuses[] = {
	{ PFUSE_TEMP_CALIBRATED, 1 },
	{ PFUSE_SPEEDO, 1500 },
};

static uint32_t pfuse_read(struct gk110 *g, uint32_t reg)
{
	unsigned int i;

	if (reg < PFUSE_WORD(0))
		return reg_get(g, reg);
	if (!(reg_get(g, PTOP_FUSE_CONTROL) & PTOP_FUSE_READOUT) ||
	    !(reg_get(g, PFUSE_CONTROL) & PFUSE_CONTROL_READ))
		return 0;
	if (reg == PFUSE_WORD(PFUSE_PART_DISABLE))
		return g->cfg.board.fbp_off;
	for (i = 0; i < ARRAY_SIZE(fuses); i++)
		if (reg == PFUSE_WORD(fuses[i].off))
			return fuses[i].val;
	return 0;
}

/* Fuse words are read-only. */
static void pfuse_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	if (reg < PFUSE_WORD(0))
		reg_merge(g, reg, val, be);
}

static void pfuse_reset(struct gk110 *g)
{
	reg_set(g, PSTRAPS_BOOT0,
		PSTRAPS_CRYSTAL_HIGH | FIELD_PREP(PSTRAPS_RAMCFG, g->cfg.board.ramcfg));
}

static const struct mmio_range pfuse_ranges[] = {
	{ PFUSE_BASE, PFUSE_SIZE, "PFUSE", pfuse_read, pfuse_write },
	{ PSTRAPS_BASE, PSTRAPS_SIZE, "PSTRAPS", NULL, NULL },
};

const struct unit_ops pfuse_unit = {
	.name = "PFUSE",
	.ranges = pfuse_ranges,
	.nr_ranges = ARRAY_SIZE(pfuse_ranges),
	.reset = pfuse_reset,
};
