// SPDX-License-Identifier: GPL-2.0-only
/*
 * Performance, voltage and temperature (BIT P). An idle board has 324 MHz of core and memory; its
 * other clocks are in image.c. "gpc" and "rop" domains count twice the clock that is quoted.
 *
 * The memory map has no entries, as the model can't train memory.
 */
#include <gk110/vbios.h>

#include "image.h"

#define NO_LINK	  0xff
#define PSTATE(n) ((n) << 5)
#define P_IDLE	  0x7
#define P_FULL	  0xf

enum { VOLT_IDLE, VOLT_LOW, VOLT_BASE, VOLT_BOOST, NR_VOLT };

/* Voltage table 5.0, PWM kind: nouveau bios/volt.c */
struct PACKED volt {
	uint8_t version, header_len, entry_len, count;
	uint8_t flags; /* bit 0: PWM */
	/* nouveau divides by 1000 and then 27.648 MHz by the result */
	uint32_t pwm_freq;
	uint8_t reserved;
	uint32_t min_uv, max_uv, base_uv, range_uv;
};
_Static_assert(sizeof(struct volt) == 0x1a && offsetof(struct volt, min_uv) == 0x0a,
	       "volt table 5.0");

/* Voltage map 2.0: nouveau bios/vmap.c, volt/base.c */
struct PACKED vmap {
	uint8_t version, header_len, entry_len, count;
	uint8_t reserved0[3], max0, max1, reserved1[3], max2, reserved2[3];
	struct PACKED {
		uint8_t mode, link; /* mode 2: the voltage is min_uv */
		uint32_t min_uv, max_uv, arg[6];
	} entry[NR_VOLT];
};
_Static_assert(offsetof(struct vmap, max2) == 0x0c && offsetof(struct vmap, entry) == 0x10,
	       "vmap 2.0");

/* Performance table 4.0: nouveau bios/perf.c; domains in the order of clk/gk104.c */
enum { GPC, HUBK07, ROP, MEM, HUBK06, HUBK01, VDEC, PMU, NR_DOMAIN };
struct PACKED perf_entry {
	/* pcie: 0 = 5 GT/s, 1 = 2.5 GT/s */
	uint8_t pstate, reserved0, voltage, reserved1[8], pcie, reserved2[4];
	uint16_t mhz[NR_DOMAIN];
};
struct PACKED perf {
	uint8_t version, header_len, entry_len, sub_len, sub_count, count;
	struct perf_entry entry[2];
};
_Static_assert(offsetof(struct perf_entry, pcie) == 0x0b, "perf table 4.0");

/* Boost table 1.1: nouveau bios/boost.c */
struct PACKED boost {
	uint8_t version, header_len, entry_len, sub_len, sub_count, count;
	struct PACKED {
		uint16_t pstate, min_mhz, max_mhz;
		struct PACKED {
			uint8_t domain, percent;
			uint16_t min_mhz, max_mhz;
		} sub[4];
	} entry[2];
};

/* Clock steps 1.0: nouveau bios/cstep.c */
struct PACKED cstep {
	uint8_t version, header_len, entry_len, count, step_len, step_count;
	struct PACKED {
		uint16_t pstate;
		uint8_t reserved, index; /* highest step of this state */
	} entry[2];
	struct PACKED {
		uint16_t mhz;
		uint8_t reserved[2], voltage;
	} step[MAX_CLOCKS + 1];
};

/* Virtual performance states 1.0: nouveau bios/vpstate.c */
struct PACKED vpstate {
	uint8_t version, header_len, entry_len, sub_len, sub_count, count;
	uint8_t reserved[9], base_id, boost_id, tdp_id;
	struct PACKED {
		uint8_t pstate, reserved[4];
		uint16_t mhz;
		uint8_t pad;
	} entry[2];
};
_Static_assert(offsetof(struct vpstate, base_id) == 0x0f, "vpstate 1.0");

/*
 * Memory map 1.1 without entries: nouveau bios/rammap.c, fb/ramgk104.c (which wants a header of at
 * least 0x15)
 */
struct PACKED rammap {
	uint8_t version, header_len, entry_len, sub_len, sub_count, count;
	uint8_t reserved0[10];
	uint32_t scripts;
	uint8_t script_count, reserved1[3];
};
_Static_assert(sizeof(struct rammap) == 0x18 && offsetof(struct rammap, scripts) == 0x10,
	       "rammap 1.1");

/* Thermal table: nouveau bios/therm.c */
struct PACKED therm {
	uint8_t version, header_len, entry_len, count;
	struct PACKED {
		uint8_t what;
		uint16_t value;
	} entry[6];
};
#define THRESHOLD(c, hyst) ((c) << 4 | (hyst))

/* BIT P version 2 */
struct PACKED bit_p {
	uint32_t perf, rammap, timing, volt, therm, unk14, unk18, unk1c, vmap, unk24, iccsense,
		power_budget, boost, cstep, vpstate, unk3c[7], fan, unk5c;
};
_Static_assert(offsetof(struct bit_p, vmap) == 0x20 && offsetof(struct bit_p, vpstate) == 0x38 &&
		       offsetof(struct bit_p, fan) == 0x58,
	       "BIT P version 2");

static unsigned int nr_clocks(const struct image *img)
{
	unsigned int n = 0;

	while (n < MAX_CLOCKS && img->board->core_mhz[n])
		n++;
	return n;
}

/* The highest clock, which a driver may boost to. */
static uint16_t boost_mhz(const struct image *img)
{
	return img->board->core_mhz[nr_clocks(img) - 1];
}

static uint16_t put_volt(struct image *img)
{
	struct volt t = {
		.version = 0x50,
		.header_len = sizeof(t),
		.entry_len = 4,
		.flags = 1,
		.pwm_freq = K20M_VID_CLOCK_KHZ * 1000 / K20M_VID_DIV * 1000,
		.min_uv = K20M_VOLT_BASE_UV,
		.max_uv = K20M_VOLT_BASE_UV + K20M_VOLT_RANGE_UV,
		.base_uv = K20M_VOLT_BASE_UV,
		.range_uv = K20M_VOLT_RANGE_UV,
	};

	return image_put(img, &t, sizeof(t));
}

static uint16_t put_vmap(struct image *img)
{
	static const uint32_t uv[NR_VOLT] = {
		[VOLT_IDLE] = K20M_VOLT_BOOT_UV,
		[VOLT_LOW] = 912000,
		[VOLT_BASE] = 976000,
		[VOLT_BOOST] = 1012000,
	};
	struct vmap t = {
		.version = 0x20,
		.header_len = offsetof(struct vmap, entry),
		.entry_len = sizeof(t.entry[0]),
		.count = NR_VOLT,
		.max0 = NO_LINK,
		.max1 = NO_LINK,
		.max2 = NO_LINK,
	};
	unsigned int i;

	for (i = 0; i < NR_VOLT; i++) {
		t.entry[i].mode = 2;
		t.entry[i].link = NO_LINK;
		t.entry[i].min_uv = t.entry[i].max_uv = uv[i];
	}
	return image_put(img, &t, sizeof(t));
}

static uint16_t put_perf(struct image *img)
{
	const struct board *b = img->board;
	struct perf t = {
		.version = 0x40, .header_len = offsetof(struct perf, entry),
			.entry_len = offsetof(struct perf_entry, mhz),
		.sub_len = sizeof(uint16_t), .sub_count = NR_DOMAIN, .count = ARRAY_SIZE(t.entry),
		.entry = {
			{ .pstate = P_IDLE, .voltage = VOLT_IDLE, .pcie = 1,
			  .mhz = { [GPC] = 648, [HUBK07] = 648, [ROP] = 648, [MEM] = 324,
			  	[HUBK06] = 648, [HUBK01] = 405,
				   [VDEC] = 405, [PMU] = 405 } },
			{ .pstate = P_FULL, .voltage = VOLT_LOW, .pcie = 0,
			  .mhz = { [GPC] = 2 * b->base_mhz, [HUBK07] = 1080,
				   [ROP] = 2 * b->base_mhz, [MEM] = b->memory_mhz, [HUBK06] = 1080,
				   [HUBK01] = 540, [VDEC] = 540, [PMU] = 540 } },
		},
	};

	return image_put(img, &t, sizeof(t));
}

static uint16_t put_boost(struct image *img)
{
	const uint16_t max = 2 * boost_mhz(img);
	struct boost t = {
		.version = 0x11, .header_len = offsetof(struct boost, entry), .entry_len = 6,
		.sub_len = sizeof(t.entry[0].sub[0]), .sub_count = ARRAY_SIZE(t.entry[0].sub),
			.count = ARRAY_SIZE(t.entry),
		.entry = {
			{ PSTATE(P_IDLE), 648, 648, { { GPC, 100, 648, 648 }, { HUBK07, 100, 648,
				648 },
						      { ROP, 100, 648, 648 }, { HUBK06, 100, 648,
						      	648 } } },
			{ PSTATE(P_FULL), 648, max, { { GPC, 100, 648, max }, { HUBK07, 77, 540,
				1080 },
						      { ROP, 100, 648, max }, { HUBK06, 77, 540,
						      	1080 } } },
		},
	};

	return image_put(img, &t, sizeof(t));
}

static uint16_t put_cstep(struct image *img)
{
	const struct board *b = img->board;
	unsigned int i, n = nr_clocks(img);
	struct cstep t = {
		.version = 0x10,
		.header_len = offsetof(struct cstep, entry),
		.entry_len = sizeof(t.entry[0]),
		.count = ARRAY_SIZE(t.entry),
		.step_len = sizeof(t.step[0]),
		.step_count = n + 1,
		.entry = { { PSTATE(P_IDLE), 0, 0 }, { PSTATE(P_FULL), 0, n } },
		.step = { { 648, { 0 }, VOLT_IDLE } },
	};

	for (i = 0; i < n; i++) {
		t.step[i + 1].mhz = 2 * b->core_mhz[i];
		t.step[i + 1].voltage = b->core_mhz[i] > b->base_mhz ? VOLT_BOOST :
					b->core_mhz[i] < 666	     ? VOLT_LOW :
								       VOLT_BASE;
	}
	return image_put(img, &t, sizeof(t));
}

static uint16_t put_vpstate(struct image *img)
{
	struct vpstate t = {
		.version = 0x10,
		.header_len = offsetof(struct vpstate, entry),
		.entry_len = sizeof(t.entry[0]),
		.count = ARRAY_SIZE(t.entry),
		.base_id = 0,
		.boost_id = 1,
		.tdp_id = NO_LINK,
		.entry = { { .pstate = P_FULL, .mhz = 2 * img->board->base_mhz },
			   { .pstate = P_FULL, .mhz = 2 * boost_mhz(img) } },
	};

	return image_put(img, &t, sizeof(t));
}

static uint16_t put_rammap(struct image *img)
{
	struct rammap t = { .version = 0x11,
			    .header_len = sizeof(t),
			    .entry_len = 0x12,
			    .sub_len = 0x0a,
			    .sub_count = 1 };

	return image_put(img, &t, sizeof(t));
}

/* The boards slow down at 90 and asks for a shutdown at 95 degrees */
static uint16_t put_therm(struct image *img)
{
	struct therm t = {
		.version = 0x30, .header_len = offsetof(struct therm, entry),
			.entry_len = sizeof(t.entry[0]),
		.count = ARRAY_SIZE(t.entry),
		.entry = {
			{ 0x00, 0 },			/* thresholds of the core follow */
			{ 0x01, 0 },			/* sensor of the core, offset 0 */
			{ 0x08, THRESHOLD(85, 3) },	/* fan boost */
			{ 0x07, THRESHOLD(90, 3) },	/* down clock */
			{ 0x04, THRESHOLD(93, 3) },	/* critical */
			{ 0x32, THRESHOLD(95, 3) },	/* shutdown */
		},
	};

	return image_put(img, &t, sizeof(t));
}

void power_tables(struct image *img)
{
	struct bit_p p = {
		.perf = put_perf(img),
		.rammap = put_rammap(img),
		.volt = put_volt(img),
		.therm = put_therm(img),
		.vmap = put_vmap(img),
		.boost = put_boost(img),
		.cstep = put_cstep(img),
		.vpstate = put_vpstate(img),
	};

	image_bit(img, 'P', 2, &p, sizeof(p));
}
