// SPDX-License-Identifier: GPL-2.0-only
/*
 * The board: version and identity (BIT i), initialisation scripts (BIT I), the display entries, and
 * the device control block with its GPIO pins.
 */
#include <gk110/devinit.h>
#include <gk110/pfb.h>
#include <gk110/pmc.h>
#include <gk110/ptop.h>

#include "image.h"

#define LE16(v) (uint8_t)(v), (uint8_t)((v) >> 8)
#define LE32(v) LE16(v), LE16((v) >> 16)

/* BIT i: nouveau nouveau_bios.c, bios/base.c; prints as 80.10.00.00.01 */
struct PACKED bit_i {
	uint8_t micro, minor, chip, major, patch, features, reserved[7];
	uint16_t dac_table;
};
_Static_assert(sizeof(struct bit_i) == 15, "nouveau wants the DAC pointer at 13");

/* BIT I: nouveau bios/init.c; script tables, of which only the list of scripts is used */
struct PACKED bit_init {
	uint16_t scripts, macro_index, macros, conditions, io_conditions, io_flag_conditions,
		functions;
};
_Static_assert(sizeof(struct bit_init) == 14, "BIT I");

/* Device control block 4.0: nouveau bios/{dcb,gpio}.c */
struct PACKED dcb {
	uint8_t version, header_len, count, entry_len;
	uint16_t ccb;
	uint32_t signature;
	uint16_t gpio, reserved[3], extdev, connectors;
	uint8_t pad[5];
};
_Static_assert(sizeof(struct dcb) == 0x1b && offsetof(struct dcb, gpio) == 0x0a &&
		       offsetof(struct dcb, extdev) == 0x12,
	       "DCB 4.0");
#define DCB_SIGNATURE 0x4edcbdcb

struct PACKED gpio {
	uint8_t version, header_len, count, entry_len;
	struct PACKED {
		uint8_t line, function, output, input, logic;
	} entry[1];
};
#define GPIO_VID_PWM 0x81 /* nouveau bios/gpio.h */

/*
 * What the scripts switch on, as those of a real board do: all but GR, the copy engines and the
 * counters.
 */
#define ENABLE_FIRST (PMC_ENABLE_PRIVRING | PMC_ENABLE_PMU)
#define ENABLE_LAST                                                                            \
	(ENABLE_FIRST | PMC_ENABLE_UNK0 | PMC_ENABLE_XBAR | PMC_ENABLE_LTC | PMC_ENABLE_FIFO | \
	 PMC_ENABLE_TIMER | PMC_ENABLE_PBFB | PMC_ENABLE_PFFB | PMC_ENABLE_ISOHUB)

/* The condition that the scripts wait for: the units are on. */
static const uint8_t condition[] = { LE32(PMC_ENABLE), LE32(PMC_ENABLE_PBFB),
				     LE32(PMC_ENABLE_PBFB) };

/*
 * The scripts run on a card that is not POSTed: units on, a word of memory's timing by strap, done.
 */
static void put_init(struct image *img)
{
	static const uint8_t units[] = {
		INIT_ZM_REG, LE32(PMC_ENABLE), LE32(ENABLE_FIRST), INIT_TIME,		LE16(37),
		INIT_ZM_REG, LE32(PMC_ENABLE), LE32(ENABLE_LAST),  INIT_CONDITION_TIME, 0,
		2,	     INIT_DONE
	};
	static const uint8_t memory[] = { INIT_CONDITION,
					  0,
					  INIT_RAM_RESTRICT_ZM_REG_GROUP,
					  LE32(PBFB_TIMING),
					  4,
					  1,
					  LE32(0x0a0e0e03), /* K20_RAMCFG and so on; made up */
					  LE32(0x0a0e0f03),
					  LE32(0x0c101004),
					  INIT_RESUME,
					  INIT_NV_REG,
					  LE32(PTOP_DEVINIT),
					  LE32(~(uint32_t)PTOP_DEVINIT_DONE),
					  LE32(PTOP_DEVINIT_DONE),
					  INIT_DONE };
	uint16_t list[3] = { image_put(img, units, sizeof(units)),
			     image_put(img, memory, sizeof(memory)), 0 };
	struct bit_init i = { .scripts = image_put(img, list, sizeof(list)),
			      .conditions = image_put(img, condition, sizeof(condition)) };
	static const char text[] = "kvgpu synthetic VBIOS for the GK110 model, not NVIDIA's";

	image_put(img, text, sizeof(text));
	image_bit(img, 'I', 1, &i, sizeof(i));
}

void init_tables(struct image *img)
{
	struct bit_i i = { .major = 0x80, .chip = 0x10, .patch = 0x01 };
	static const uint8_t none[4];
	static const uint8_t tmds_2_0[] = { 0x20, 4, 0, 0 };
	uint16_t tmds = image_put(img, tmds_2_0, sizeof(tmds_2_0));

	image_bit(img, 'i', 2, &i, sizeof(i));
	put_init(img);
	image_bit(img, 'A', 1, none, 3); /* no load detection */
	image_bit(img, 'D', 1, none, 4); /* no flat panel */
	image_bit(img, 'L', 1, none, 2); /* no LVDS */
	image_bit(img, 'T', 1, &tmds, sizeof(tmds));
}

uint16_t dcb_table(struct image *img)
{
	struct gpio g = {
		.version = 0x41,
		.header_len = offsetof(struct gpio, entry),
		.count = 1,
		.entry_len = sizeof(g.entry[0]),
		.entry = { { .line = 0, .function = GPIO_VID_PWM } },
	};
	struct dcb d = {
		.version = 0x40,
		.header_len = sizeof(d),
		.entry_len = 8,
		.signature = DCB_SIGNATURE,
		.gpio = image_put(img, &g, sizeof(g)),
	};

	return image_put(img, &d, sizeof(d));
}
