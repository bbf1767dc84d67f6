// SPDX-License-Identifier: GPL-2.0-only
/* LTC: the L2 cache as software sees it. All slices share one zero-bandwidth-clear table. */
#include <errno.h>
#include <stdlib.h>

#include <gk110/ltc.h>
#include <gk110/ptop.h>

#include "root.h"

#define CLEAR_NS_PER_TAG 10ull /* open: the time a clear takes */
/* Open: the geometry of the compression-bit cache. */
#define CONFIG_TAGS_PER_LINE 56
#define CONFIG_LINES	     32
#define CONFIG_LINE_SIZE_2K  2

struct ltc {
	uint64_t busy_until[GK110_DESIGN_FBP][GK110_LTC_SLICES]; /* monotonic ns */
	struct {
		uint32_t color[4], depth;
	} zbc[LTC_ZBC_NR];
};

static const uint32_t config_value = FIELD_PREP(LTC_CONFIG_SLICES, GK110_LTC_SLICES) |
				     FIELD_PREP(LTC_CONFIG_LINE_SIZE, CONFIG_LINE_SIZE_2K) |
				     FIELD_PREP(LTC_CONFIG_LINES, CONFIG_LINES) |
				     FIELD_PREP(LTC_CONFIG_TAGS_PER_LINE, CONFIG_TAGS_PER_LINE);

/*
 * Split @reg into partition, slice and word; partition and slice are -1 for the broadcast range of
 * all slices.
 */
static bool slice_decode(const struct gk110 *g, uint32_t reg, int *part, int *slice, uint32_t *word)
{
	uint32_t off = reg - LTC_BASE;

	*word = reg % LTC_SLICE_STRIDE;
	*part = *slice = -1;
	if (reg - *word == LTC_BCAST_SLICE)
		return true;
	if (!(off & LTC_SLICES) || off / LTC_PART_STRIDE >= board_fbps(&g->cfg.board))
		return false;
	*part = off / LTC_PART_STRIDE;
	*slice = off % LTC_SLICES / LTC_SLICE_STRIDE;
	return true;
}

static uint32_t busy_bits(struct gk110 *g, int part, int slice)
{
	return part >= 0 && mono_ns() < g->ltc->busy_until[part][slice] ? LTC_CBC_CTRL_CLEAR : 0;
}

static uint32_t *zbc_word(struct gk110 *g, uint32_t word)
{
	unsigned int entry = reg_get(g, LTC_BCAST_SLICE + LTC_ZBC_INDEX) & LTC_ZBC_INDEX_ENTRY;

	if (word >= LTC_ZBC_COLOR(0) && word < LTC_ZBC_COLOR(4))
		return &g->ltc->zbc[entry].color[(word - LTC_ZBC_COLOR(0)) / 4];
	return word == LTC_ZBC_DEPTH ? &g->ltc->zbc[entry].depth : NULL;
}

static uint32_t ltc_read(struct gk110 *g, uint32_t reg)
{
	uint32_t word, *zbc;
	int part, slice;

	if (!slice_decode(g, reg, &part, &slice, &word))
		return reg_get(g, reg);
	zbc = zbc_word(g, word);
	if (zbc)
		return *zbc;
	switch (word) {
	case LTC_CBC_CTRL:
		return busy_bits(g, part, slice);
	case LTC_CONFIG:
		return config_value;
	case LTC_CACHE_FLUSH:
		return 0;
	default:
		return reg_get(g, reg);
	}
}

static void cbc_clear(struct gk110 *g, uint32_t base, int part, int slice)
{
	uint32_t start = reg_get(g, base + LTC_CBC_CLEAR_START) & LTC_CBC_TAG_BITS;
	uint32_t end = reg_get(g, base + LTC_CBC_CLEAR_END) & LTC_CBC_TAG_BITS;
	int parts = (int)board_fbps(&g->cfg.board), p, s;
	uint64_t until = mono_ns();

	if (end >= start)
		until += (end - start + 1) * CLEAR_NS_PER_TAG / (parts * GK110_LTC_SLICES);
	for (p = 0; p < parts; p++)
		for (s = 0; s < GK110_LTC_SLICES; s++)
			if (part < 0 || (p == part && s == slice))
				g->ltc->busy_until[p][s] = until;
}

static void ltc_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	uint32_t word, *zbc;
	int part, slice;

	if (!slice_decode(g, reg, &part, &slice, &word)) {
		reg_merge(g, reg, val, be);
		return;
	}
	zbc = zbc_word(g, word);
	if (zbc) {
		*zbc = (*zbc & ~be) | val;
		return;
	}
	switch (word) {
	case LTC_CBC_CTRL:
		if (val & LTC_CBC_CTRL_CLEAR)
			cbc_clear(g, reg - word, part, slice);
		break;
	case LTC_CONFIG:
		break;
	case LTC_SLICE_INTR:
		reg_merge(g, reg, val, be & LTC_SLICE_INTR_EN);
		break;
	default:
		reg_merge(g, reg, val, be);
	}
}

static int ltc_init(struct gk110 *g)
{
	g->ltc = calloc(1, sizeof(*g->ltc));
	return g->ltc ? 0 : -ENOMEM;
}

static void ltc_reset(struct gk110 *g)
{
	*g->ltc = (struct ltc){ 0 };
}

static void ltc_fini(struct gk110 *g)
{
	free(g->ltc);
	g->ltc = NULL;
}

static const struct mmio_range ltc_ranges[] = {
	{ LTC_BASE, LTC_SIZE, "LTC", ltc_read, ltc_write },
};

const struct unit_ops ltc_unit = {
	.name = "LTC",
	.ranges = ltc_ranges,
	.nr_ranges = ARRAY_SIZE(ltc_ranges),
	.init = ltc_init,
	.reset = ltc_reset,
	.fini = ltc_fini,
};
