// SPDX-License-Identifier: GPL-2.0-only
/*
 * PRIVRING: the counts of units on the register ring, commands, which are done at once, and
 * accesses that fail on the ring. Open: which part of it reports them; in the model it is the hub.
 */
#include <gk110/pmc.h>
#include <gk110/privring.h>
#include <gk110/ptop.h>

#include "root.h"

void privring_access_failed(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t code)
{
	reg_set(g, PRIVRING_HUB_ERROR_ADDR(0), reg);
	reg_set(g, PRIVRING_HUB_ERROR_DATA(0), val);
	reg_set(g, PRIVRING_HUB_ERROR_INFO(0), code);
	reg_set(g, PRIVRING_INTR0, PRIVRING_INTR0_HUB(0));
	pmc_intr_set(g, PMC_INTR_PRIVRING, true);
}

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
		if ((val & PRIVRING_COMMAND_CODE) == PRIVRING_COMMAND_ACK_INTR) {
			reg_set(g, PRIVRING_INTR0, 0);
			pmc_intr_set(g, PMC_INTR_PRIVRING, false);
		}
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
