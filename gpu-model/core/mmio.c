// SPDX-License-Identifier: GPL-2.0-only
/*
 * BAR0 dispatch. Units see aligned 32-bit accesses; the bus may do 1, 2, 4 or 8 bytes at any
 * alignment. An access to several words is done word by word, the lowest first. A register that no
 * unit answers for reads a code and loses writes; the chip reports that.
 */
#include <errno.h>
#include <stdlib.h>

#include "core.h"

static int mmio_add(struct gk110 *g, const struct unit_ops *u, const struct mmio_range *r)
{
	unsigned int idx = g->nr_ranges;
	uint32_t reg;

	if (!r->size || (r->base | r->size) & 3 || r->base + (uint64_t)r->size > GK110_BAR0_SIZE ||
	    idx > 255) {
		gk110_err("%s: range %s is unaligned, outside BAR0 or one too many", u->name,
			  r->name);
		return -EINVAL;
	}
	for (reg = r->base >> 2; reg < (r->base + r->size) >> 2; reg++) {
		if (g->range_of[reg]) {
			gk110_err("%s: range %s overlaps %s at 0x%06x", u->name, r->name,
				  g->ranges[g->range_of[reg]]->name, reg << 2);
			return -EINVAL;
		}
		g->range_of[reg] = idx;
	}
	g->ranges[idx] = r;
	g->core->unit_of[idx] = u->name;
	g->nr_ranges++;
	return 0;
}

int mmio_init(struct gk110 *g)
{
	unsigned int u, i;
	int ret;

	g->nr_ranges = 1;
	for (u = 0; u < gk110_nr_units; u++)
		for (i = 0; i < gk110_units[u]->nr_ranges; i++) {
			ret = mmio_add(g, gk110_units[u], &gk110_units[u]->ranges[i]);
			if (ret)
				return ret;
		}
	absent_cut(g);
	return 0;
}

/* Whether no unit answers the access. *@code: what a read gives then. */
static bool is_lost(struct gk110 *g, uint32_t reg, bool write, uint32_t val, uint32_t *code)
{
	if (!cold_unit(g, reg, code)) {
		if (g->range_of[reg >> 2])
			return false;
		*code = absent_code(reg);
	}
	stat_inc(g, pri_errors);
	g->core->unanswered[reg >> 2]++;
	pbus_access_failed(g, reg, write, val, *code);
	return true;
}

static uint32_t read_sound(struct gk110 *g, uint32_t reg)
{
	unsigned int idx = g->range_of[reg >> 2];
	uint32_t code;

	if (is_lost(g, reg, false, 0, &code))
		return code;
	if (g->ranges[idx]->read)
		return g->ranges[idx]->read(g, reg);
	return reg_get(g, reg);
}

static uint32_t read_word(struct gk110 *g, uint32_t reg)
{
	unsigned int idx = g->range_of[reg >> 2];
	uint32_t val = read_sound(g, reg);

	g->core->rd[idx]++;
	return g->cfg.defect ? defect_read(g, reg, val) : val;
}

static void write_word(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	unsigned int idx = g->range_of[reg >> 2];
	uint32_t code;

	g->core->wr[idx]++;
	if (is_lost(g, reg, true, val, &code))
		return;
	if (g->cfg.defect)
		defect_write(g, reg);
	if (g->ranges[idx]->write)
		g->ranges[idx]->write(g, reg, val & be, be);
	else
		reg_merge(g, reg, val, be);
}

uint64_t gk110_mmio_read(struct gk110 *g, uint32_t off, unsigned int size)
{
	uint64_t val = 0;
	unsigned int done, n, shift;

	if (size > 8 || off > GK110_BAR0_SIZE - size)
		return ~0ull;
	stat_inc(g, mmio_rd[off >> 16]);
	pthread_mutex_lock(&g->lock);
	for (done = 0; done < size; done += n) {
		uint32_t reg = (off + done) & ~3u;
		uint64_t word;

		shift = (off + done) & 3;
		n = size - done < 4 - shift ? size - done : 4 - shift;
		word = read_word(g, reg) >> (8 * shift);
		if (n < 4)
			word &= (1u << (8 * n)) - 1;
		val |= word << (8 * done);
	}
	pthread_mutex_unlock(&g->lock);
	return val;
}

void gk110_mmio_write(struct gk110 *g, uint32_t off, unsigned int size, uint64_t val)
{
	unsigned int done, n, shift;

	if (size > 8 || off > GK110_BAR0_SIZE - size)
		return;
	stat_inc(g, mmio_wr[off >> 16]);
	pthread_mutex_lock(&g->lock);
	for (done = 0; done < size; done += n) {
		uint32_t reg = (off + done) & ~3u, be;

		shift = (off + done) & 3;
		n = size - done < 4 - shift ? size - done : 4 - shift;
		be = n == 4 ? ~0u : ((1u << (8 * n)) - 1) << (8 * shift);
		write_word(g, reg, (uint32_t)(val >> (8 * done)) << (8 * shift), be);
	}
	pthread_mutex_unlock(&g->lock);
}
