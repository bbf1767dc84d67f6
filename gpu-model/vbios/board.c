// SPDX-License-Identifier: GPL-2.0-only
/*
 * The board: version and identity (BIT i), initialisation scripts (BIT I), the display entries, and
 * the device control block with its GPIO pins.
 */
#include "image.h"

#define INIT_DONE 0x71 /* nouveau bios/init.c */

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

/* The one script does nothing, as the model is a POSTed card. */
static void put_init(struct image *img)
{
	static const uint8_t script[] = { INIT_DONE };
	uint16_t list[2] = { image_put(img, script, sizeof(script)), 0 };
	struct bit_init i = { .scripts = image_put(img, list, sizeof(list)) };
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
