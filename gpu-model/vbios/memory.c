// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory: the board's memory chips (BIT M) and the limits of the clock generators (BIT C).
 *
 * The boards have GDDR5, and nouveau does not accept a GDDR5 board without the patterns for link
 * training.
 */
#include <gk110/pfuse.h>
#include <gk110/therm.h>

#include "image.h"

#define MEM_GDDR5 3 /* nouveau bios/M0203.h */

/* M0203, memory type by strap: nouveau bios/M0203.c */
struct PACKED m0203 {
	uint8_t version, header_len, entry_len, count;
	uint8_t type; /* 0: the RAMCFG strap selects the entry */
	uint16_t pointer;
	struct PACKED {
		uint8_t type_strap, group;
	} entry[1];
};

/* M0205, the pattern for each purpose, per strap group: nouveau bios/M0205.c */
static const uint8_t train_types[] = { 0x00, 0x01, 0x04, 0x06, 0x07, 0x08, 0x09 };

struct PACKED m0205 {
	uint8_t version, header_len, entry_len, sub_len, sub_count, count;
	uint16_t freq;
	struct PACKED {
		uint8_t type, pattern;
	} entry[ARRAY_SIZE(train_types)];
};

/* M0209, the patterns: nouveau bios/M0209.c */
#define PATTERN_BYTES 32
struct PACKED m0209 {
	uint8_t version, header_len, entry_len, sub_len, count;
	struct PACKED {
		uint8_t bits, modulo, kind, remap; /* kind 1: plain data */
		uint8_t data[PATTERN_BYTES];
	} entry[ARRAY_SIZE(train_types)];
};

/* BIT M version 2: nouveau bios/{ramcfg,M0203,M0205,M0209}.c */
struct PACKED bit_m {
	uint8_t strap_count;
	uint16_t strap_xlat, m0203;
	uint32_t m0205, m0209;
};
_Static_assert(sizeof(struct bit_m) == 0x0d, "nouveau wants M0209 at 9");

static uint16_t put_m0203(struct image *img)
{
	struct m0203 t = {
		.version = 0x10,
		.header_len = offsetof(struct m0203, entry),
		.entry_len = sizeof(t.entry[0]),
		.count = 1,
		.entry = { { .type_strap = MEM_GDDR5 | img->board->ramcfg << 4, .group = 0 } },
	};

	return image_put(img, &t, sizeof(t));
}

static uint16_t put_m0205(struct image *img)
{
	struct m0205 t = {
		.version = 0x10,
		.header_len = offsetof(struct m0205, entry),
		.entry_len = 1,
		.sub_len = 1,
		.sub_count = 1,
		.count = ARRAY_SIZE(train_types),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(train_types); i++) {
		t.entry[i].type = train_types[i];
		t.entry[i].pattern = i;
	}
	return image_put(img, &t, sizeof(t));
}

/* Patterns of types 0, 1 and 4 are 32-bit words, those of other types have four bits a lane. */
static uint16_t put_m0209(struct image *img)
{
	struct m0209 t = {
		.version = 0x10,
		.header_len = offsetof(struct m0209, entry),
		.entry_len = 4,
		.sub_len = PATTERN_BYTES,
		.count = ARRAY_SIZE(train_types),
	};
	unsigned int i, b;

	for (i = 0; i < ARRAY_SIZE(train_types); i++) {
		t.entry[i].bits = train_types[i] < 6 ? 32 : 4;
		t.entry[i].modulo = 8;
		t.entry[i].kind = 1;
		for (b = 0; b < PATTERN_BYTES; b++)
			t.entry[i].data[b] = b & 4 ? ~(1u << b % 8) : 1u << b % 8;
	}
	return image_put(img, &t, sizeof(t));
}

/* PLL limits version 4.0: nouveau bios/pll.c, types from bios/pll.h */
struct PACKED pll_limits {
	uint16_t vco_min, vco_max, in_min, in_max; /* MHz */
	uint8_t m_min, m_max, n_min, n_max, p_min, p_max;
};

static const struct {
	uint8_t type;
	uint32_t reg;
	struct pll_limits limits;
} plls[] = {
	{ 0x01, PCLOCK_PLL(0), { 1000, 2600, 10, 50, 1, 4, 8, 255, 1, 31 } },
	{ 0x40, PCLOCK_PLL(1), { 1000, 2600, 10, 50, 1, 4, 8, 255, 1, 31 } },
	{ 0x41, PCLOCK_PLL(2), { 1000, 2600, 10, 50, 1, 4, 8, 255, 1, 31 } },
	{ 0x42, PCLOCK_PLL(7), { 1000, 2600, 10, 50, 1, 4, 8, 255, 1, 31 } },
	{ 0x04, PCLOCK_MEM_PLL, { 1200, 3200, 100, 400, 1, 1, 4, 255, 1, 2 } },
	{ 0x0c, PCLOCK_MEM_REFPLL, { 600, 1600, 10, 50, 1, 4, 8, 255, 1, 31 } },
};

struct PACKED pll_table {
	uint8_t version, header_len, entry_len, count;
	struct PACKED {
		uint8_t type;
		uint16_t limits;
		uint32_t reg;
		uint16_t reserved, refclk; /* MHz, 0: the crystal */
	} entry[ARRAY_SIZE(plls)];
};

static uint16_t put_pll_table(struct image *img)
{
	struct pll_table t = {
		.version = 0x40,
		.header_len = offsetof(struct pll_table, entry),
		.entry_len = sizeof(t.entry[0]),
		.count = ARRAY_SIZE(plls),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(plls); i++) {
		t.entry[i].type = plls[i].type;
		t.entry[i].reg = plls[i].reg;
		t.entry[i].limits = image_put(img, &plls[i].limits, sizeof(plls[i].limits));
	}
	return image_put(img, &t, sizeof(t));
}

void memory_tables(struct image *img)
{
	struct bit_m m = { .strap_count = RAMCFG_NR };
	uint8_t xlat[16];
	uint32_t pll, i;

	for (i = 0; i < sizeof(xlat); i++)
		xlat[i] = i < RAMCFG_NR ? i : 0;
	m.strap_xlat = image_put(img, xlat, sizeof(xlat));
	m.m0203 = put_m0203(img);
	m.m0205 = put_m0205(img);
	m.m0209 = put_m0209(img);
	image_bit(img, 'M', 2, &m, sizeof(m));

	pll = put_pll_table(img);
	image_bit(img, 'C', 2, &pll, sizeof(pll));
}
