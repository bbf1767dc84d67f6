// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers that the card does not have. No unit claims them, or they are among those that the
 * dumps of gk110/absent.h show to be missing in a unit, or they belong to TPCs, memory partitions
 * and parts of the L2 cache that are off on this die. What the latter answer is open: the model
 * chooses the code of a unit that is not there.
 */
#include <gk110/absent.h>
#include <gk110/gr.h>
#include <gk110/ltc.h>
#include <gk110/pfb.h>
#include <gk110/ptop.h>

#include "root.h"

#define HOLE(first, last) { first, last },

struct hole {
	uint32_t first, last;
};

static const struct hole host_holes[] = { GK110_HOST_HOLES(HOLE) };
static const struct hole ring_holes[] = { GK110_RING_HOLES(HOLE) };
static const struct hole ring_gaps[] = { GK110_RING_GAPS(HOLE) };
static const struct hole host[] = { GK110_HOST_UNITS(HOLE) };

static void cut(struct gk110 *g, uint32_t base, uint32_t end)
{
	for (; base < end; base += 4)
		g->range_of[base >> 2] = 0;
}

static void cut_holes(struct gk110 *g, const struct hole *h, unsigned int nr)
{
	while (nr--)
		cut(g, h[nr].first, h[nr].last + 4);
}

static bool in_holes(uint32_t reg, const struct hole *h, unsigned int nr)
{
	while (nr--)
		if (reg >= h[nr].first && reg <= h[nr].last)
			return true;
	return false;
}

void absent_cut(struct gk110 *g)
{
	const struct gk110_board *b = &g->cfg.board;
	unsigned int i;

	cut_holes(g, host_holes, ARRAY_SIZE(host_holes));
	cut_holes(g, ring_holes, ARRAY_SIZE(ring_holes));
	cut_holes(g, ring_gaps, ARRAY_SIZE(ring_gaps));
	for (i = 0; i < GR_NR_GPC; i++)
		cut(g, GR_GPC(i, GPC_TPC + b->tpcs[i] * GPC_TPC_STRIDE), GR_GPC(i + 1, 0));
	cut(g, GR_GPC(GR_NR_GPC, 0), GR_BASE + GR_SIZE);
	for (i = 0; i < PBFB_NR; i++)
		if (i >= GK110_DESIGN_FBP || b->fbp_off & 1u << i)
			cut(g, PBFB_BASE(i), PBFB_BASE(i + 1));
	cut(g, LTC_BASE + board_fbps(b) * LTC_PART_STRIDE, LTC_BCAST);
}

uint32_t absent_code(uint32_t reg)
{
	if (in_holes(reg, host, ARRAY_SIZE(host)))
		return PRI_HOST_ABSENT;
	return in_holes(reg, ring_holes, ARRAY_SIZE(ring_holes)) ? PRI_RING_ABSENT :
								   PRI_RING_NO_UNIT;
}
