// SPDX-License-Identifier: GPL-2.0-only
/* PRIVRING: the counts of units on the register ring, and commands, which are done at once. */
#include <gk110/privring.h>
#include <gk110/ptop.h>

#include "root.h"

static void privring_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	switch (reg) {
	case PRIVRING_INTR0:
	case PRIVRING_INTR1:
	case PRIVRING_HUB_COUNT:
	case PRIVRING_FBP_COUNT:
	case PRIVRING_GPC_COUNT:
		break;
	case PRIVRING_COMMAND:
		reg_merge(g, reg, val, be & ~PRIVRING_COMMAND_CODE);
		break;
	default:
		reg_merge(g, reg, val, be);
	}
}

static void privring_reset(struct gk110 *g)
{
	reg_set(g, PRIVRING_HUB_COUNT, 1);
	reg_set(g, PRIVRING_FBP_COUNT, board_fbps(&g->cfg.board));
	reg_set(g, PRIVRING_GPC_COUNT, GK110_DESIGN_GPC);
}

static const struct mmio_range privring_ranges[] = {
	{ PRIVRING_BASE, PRIVRING_SIZE, "PRIVRING", NULL, privring_write },
};

const struct unit_ops privring_unit = {
	.name = "PRIVRING",
	.ranges = privring_ranges,
	.nr_ranges = ARRAY_SIZE(privring_ranges),
	.reset = privring_reset,
};
