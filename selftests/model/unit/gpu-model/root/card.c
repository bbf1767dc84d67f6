// SPDX-License-Identifier: GPL-2.0-only
#include "card.h"

#define MAX_UNITS 16

struct card *the_card;
static const struct unit_ops *units[MAX_UNITS];
static unsigned int nr_units;

static void bus_intr(void *priv, bool level, bool edge)
{
	struct card *c = priv;

	c->level_changes += level != c->level;
	c->level = level;
	c->messages += edge;
}

static const struct bus_ops bus = { .intr = bus_intr };

void fifo_reset_hw(struct gk110 *g)
{
	the_card->fifo_resets++;
}

void fifo_engine_reset(struct gk110 *g, unsigned int engine)
{
	g->engine[engine].ops->reset(g, g->engine[engine].inst);
}

static void pmu_reset(struct gk110 *g)
{
	the_card->pmu_resets++;
}

const struct unit_ops pmu_unit = { .name = "PMU", .reset = pmu_reset };

static void gr_reset(struct gk110 *g, unsigned int inst)
{
	the_card->gr_resets++;
}

static void ce_reset(struct gk110 *g, unsigned int inst)
{
	the_card->ce_resets[inst]++;
}

const struct engine_ops gr_engine = { .name = "GR", .reset = gr_reset };
const struct engine_ops ce_engine = { .name = "CE", .reset = ce_reset };

void gk110_err(const char *fmt, ...)
{
	size_t n = strlen(the_card->err);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(the_card->err + n, sizeof(the_card->err) - n, fmt, ap);
	va_end(ap);
}

void gk110_note(struct gk110 *g, const char *fmt, ...)
{
}

struct card *card_new(const char *board, const struct unit_ops *const *list, unsigned int nr)
{
	struct card *c = calloc(1, sizeof(*c));
	unsigned int u;

	the_card = c;
	nr_units = nr;
	for (u = 0; u < nr; u++)
		units[u] = list[u];
	pthread_mutex_init(&c->g.lock, NULL);
	c->g.regs = calloc(1, GK110_BAR0_SIZE);
	c->g.bus = &bus;
	c->g.bus_priv = c;
	assert_true(board_find(board, &c->g.cfg.board));
	c->g.cfg.vram_size = c->g.cfg.board.vram_size;
	for (u = 0; u < nr; u++)
		assert_int_equal(units[u]->init ? units[u]->init(&c->g) : 0, 0);
	for (u = 0; u < nr; u++)
		if (units[u]->reset)
			units[u]->reset(&c->g);
	for (u = 0; u < nr; u++)
		assert_int_equal(units[u]->start ? units[u]->start(&c->g) : 0, 0);
	return c;
}

void card_free(struct card *c)
{
	unsigned int u;

	for (u = nr_units; u--;)
		if (units[u]->stop)
			units[u]->stop(&c->g);
	for (u = nr_units; u--;)
		if (units[u]->fini)
			units[u]->fini(&c->g);
	free(c->g.regs);
	free(c);
	the_card = NULL;
}

static const struct mmio_range *range_of(uint32_t reg)
{
	unsigned int u, i;

	for (u = 0; u < nr_units; u++)
		for (i = 0; i < units[u]->nr_ranges; i++)
			if (reg - units[u]->ranges[i].base < units[u]->ranges[i].size)
				return &units[u]->ranges[i];
	fail_msg("no unit has register 0x%06x", reg);
	return NULL;
}

uint32_t rd(struct card *c, uint32_t reg)
{
	const struct mmio_range *r = range_of(reg);
	uint32_t v;

	pthread_mutex_lock(&c->g.lock);
	v = r->read ? r->read(&c->g, reg) : reg_get(&c->g, reg);
	pthread_mutex_unlock(&c->g.lock);
	return v;
}

static void write_bits(struct card *c, uint32_t reg, uint32_t val, uint32_t be)
{
	const struct mmio_range *r = range_of(reg);

	pthread_mutex_lock(&c->g.lock);
	if (r->write)
		r->write(&c->g, reg, val & be, be);
	else
		reg_merge(&c->g, reg, val, be);
	pthread_mutex_unlock(&c->g.lock);
}

void wr(struct card *c, uint32_t reg, uint32_t val)
{
	write_bits(c, reg, val, ~0u);
}

void wr8(struct card *c, uint32_t reg, uint8_t val)
{
	unsigned int shift = 8 * (reg & 3);

	write_bits(c, reg & ~3u, (uint32_t)val << shift, 0xffu << shift);
}
