// SPDX-License-Identifier: GPL-2.0-only
/*
 * FECS and the PMU as PRI masters: their accesses reach the registers of all units, by the handlers
 * that the host's accesses reach.
 */
#include "gr.h"

uint32_t pri_read(struct gk110 *g, uint32_t addr)
{
	const struct mmio_range *r;

	if (addr >= GK110_BAR0_SIZE)
		return 0;
	r = g->ranges && g->range_of[addr >> 2] ? g->ranges[g->range_of[addr >> 2]] : NULL;
	return r && r->read ? r->read(g, addr & ~3u) : reg_get(g, addr);
}

void pri_write(struct gk110 *g, uint32_t addr, uint32_t val)
{
	const struct mmio_range *r;

	if (addr >= GK110_BAR0_SIZE)
		return;
	r = g->ranges && g->range_of[addr >> 2] ? g->ranges[g->range_of[addr >> 2]] : NULL;
	if (r && r->write)
		r->write(g, addr & ~3u, val, ~0u);
	else
		reg_set(g, addr & ~3u, val);
}
