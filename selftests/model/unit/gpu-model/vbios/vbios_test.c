// SPDX-License-Identifier: GPL-2.0-only
/* The generated VBIOS, read by a parser that was written from the formats alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "vbios/image.h"

static struct image img;

static uint8_t u8(size_t at)
{
	assert_in_range(at, 0, IMAGE_SIZE - 1);
	return img.rom[at];
}

static uint16_t u16(size_t at)
{
	return u8(at) | u8(at + 1) << 8;
}

static uint32_t u32(size_t at)
{
	return u16(at) | (uint32_t)u16(at + 2) << 16;
}

static uint8_t sum(size_t from, size_t len)
{
	uint8_t s = 0;

	while (len--)
		s += u8(from++);
	return s;
}

static size_t bit(void)
{
	size_t at;

	for (at = 0; at + 6 < IMAGE_SIZE; at++)
		if (!memcmp(img.rom + at,
			    "\xff\xb8"
			    "BIT\0",
			    6))
			return at;
	fail_msg("no BIT");
	return 0;
}

/*
 * Returns the offset of the data that BIT entry @id points to. Checks the entry's version and that
 * it has @least bytes.
 */
static size_t table(char id, uint8_t version, uint16_t least)
{
	size_t at = bit(), i;

	for (i = 0; i < u8(at + 10); i++) {
		size_t e = at + 12 + i * u8(at + 9);

		if (u8(e) != id)
			continue;
		assert_int_equal(u8(e + 1), version);
		assert_in_range(u16(e + 2), least, IMAGE_SIZE);
		assert_in_range(u16(e + 4), 1, IMAGE_SIZE - u16(e + 2));
		return u16(e + 4);
	}
	fail_msg("no BIT entry '%c'", id);
	return 0;
}

static int setup(void **state)
{
	image_make(&img, "k20m");
	return 0;
}

static void test_rom_header(void **state)
{
	size_t pcir = u16(0x18);

	assert_int_equal(u16(0), 0xaa55);
	assert_int_equal(u8(2) * 512, IMAGE_SIZE);
	assert_memory_equal(img.rom + pcir, "PCIR", 4);
	assert_int_equal(u16(pcir + 4), 0x10de);
	assert_int_equal(u16(pcir + 6), 0x1028);
	assert_int_equal(u16(pcir + 10), 0x18);
	assert_int_equal(u8(pcir + 14), 2);
	assert_int_equal(u8(pcir + 15), 3);
	assert_int_equal(u16(pcir + 16) * 512, IMAGE_SIZE);
	assert_int_equal(u8(pcir + 20), 0);
	assert_int_equal(u8(pcir + 21) & 0x80, 0x80);
	assert_int_equal(sum(0, IMAGE_SIZE), 0);
}

static void test_same_image_every_time(void **state)
{
	static struct image again;

	memset(&again, 0xff, sizeof(again));
	image_make(&again, "k20m");
	assert_memory_equal(img.rom, again.rom, IMAGE_SIZE);
}

static void test_bit_directory(void **state)
{
	size_t at = bit(), i, n = u8(at + 10);

	assert_int_equal(u8(at + 8), 12);
	assert_int_equal(u8(at + 9), 6);
	assert_int_equal(sum(at, 12), 0);
	for (i = 0; i < n; i++) {
		size_t e = at + 12 + 6 * i;

		/* no table lies on the directory */
		assert_true(u16(e + 4) >= at + 12 + 6 * n);
		assert_true(u16(e + 4) + u16(e + 2) < IMAGE_SIZE);
	}
	/* no place may look like the older BMP structure */
	for (i = 0; i + 5 <= IMAGE_SIZE; i++)
		assert_true(memcmp(img.rom + i,
				   "\xff\x7f"
				   "NV\0",
				   5));
}

static void test_identity_and_scripts(void **state)
{
	size_t i = table('i', 2, 15), init = table('I', 1, 14), script;

	assert_int_equal(u8(i + 3), 0x80);
	assert_int_equal(u8(i + 2), 0x10);
	assert_int_equal(u8(i + 5) & 0x10, 0); /* not a mobile board */
	assert_int_equal(u16(i + 13), 0);
	/* two scripts: the first begins with a write of PMC_ENABLE, the last ends with DONE */
	script = u16(u16(init));
	assert_int_equal(u8(script), 0x7a);
	assert_int_equal(u16(script + 1), 0x200);
	assert_true(u16(u16(init) + 2) > script);
	assert_int_equal(u16(u16(init) + 4), 0);
}

static void test_display_entries_are_empty(void **state)
{
	assert_int_equal(u16(table('A', 1, 3)), 0);
	assert_int_equal(u16(table('D', 1, 4) + 2), 0);
	assert_int_equal(u16(table('L', 1, 2)), 0);
	assert_int_equal(u8(u16(table('T', 1, 2))), 0x20);
}

static void test_dcb(void **state)
{
	size_t dcb = u16(0x36), gpio = u16(dcb + 10), e;

	assert_int_equal(u8(dcb), 0x40);
	assert_int_equal(u8(dcb + 1), 0x1b);
	assert_int_equal(u8(dcb + 2), 0); /* no outputs */
	assert_int_equal(u32(dcb + 6), 0x4edcbdcb);
	assert_int_equal(u16(dcb + 4), 0);
	assert_int_equal(u16(dcb + 0x12), 0);
	assert_int_equal(u16(dcb + 0x14), 0);
	assert_int_equal(u8(gpio), 0x41);
	assert_int_equal(u8(gpio + 2), 1);
	assert_int_equal(u8(gpio + 3), 5);
	e = gpio + u8(gpio + 1);
	assert_int_equal(u32(e) >> 8 & 0xff, 0x81); /* voltage PWM */
	assert_in_range(u32(e) & 0x3f, 0, 31);
}

static void test_memory_is_gddr5(void **state)
{
	size_t m = table('M', 2, 0x0d), t = u16(m + 3), e;

	assert_in_range(u16(m + 1), 1, IMAGE_SIZE - 16);
	assert_int_equal(u8(t), 0x10);
	assert_int_equal(u8(t + 4), 0);
	assert_int_equal(u8(t + 3), 1);
	e = t + u8(t + 1);
	assert_int_equal(u8(e) & 0xf, 3);
	assert_int_equal(u8(e) >> 4, 0);
	assert_int_equal(u8(e + 1) & 0xf, 0);
}

/*
 * nouveau needs types 0, 1, 4, 6, 7, 8 and 9, each with plain data whose elements lie inside the
 * entry.
 */
static void test_training_patterns(void **state)
{
	size_t m = table('M', 2, 0x0d), types = u32(m + 5), data = u32(m + 9), i;
	unsigned int mask = 0;

	assert_int_equal(u8(types), 0x10);
	assert_int_equal(u8(data), 0x10);
	for (i = 0; i < u8(types + 5); i++) {
		size_t e = types + u8(types + 1) +
			   i * (u8(types + 2) + u8(types + 4) * u8(types + 3)),
		       p;

		mask |= 1u << (u8(e) & 0xf);
		assert_in_range(u8(e + u8(types + 2)), 0, u8(data + 4) - 1);
		p = data + u8(data + 1) + u8(e + u8(types + 2)) * (u8(data + 2) + u8(data + 3));
		assert_in_range(u8(p) & 0x3f, 1, 32);
		assert_int_equal(u8(p + 2) & 7, 1);
		assert_true(u8(p + 1) > 0);
		assert_true((u8(p) & 0x3f) * u8(p + 1) <= 8 * u8(data + 3));
		/* a driver reads whole words, so the bytes behind must exist */
		u8(p + u8(data + 2) + u8(data + 3) + 3);
	}
	assert_int_equal(mask, 0x3d3);
}

static void test_pll_limits(void **state)
{
	static const uint32_t regs[] = {
		0x137000, 0x137020, 0x137040, 0x1370e0, 0x132000, 0x132020
	};
	size_t c = table('C', 2, 4), t = u32(c), i, r;
	unsigned int types = 0, found = 0;

	assert_int_equal(u8(t), 0x40);
	for (i = 0; i < u8(t + 3); i++) {
		size_t e = t + u8(t + 1) + i * u8(t + 2), l = u16(e + 1);

		types |= u8(e) == 0x0c ? 1 : u8(e) == 0x04 ? 2 : 0;
		for (r = 0; r < sizeof(regs) / sizeof(regs[0]); r++)
			found |= (u32(e + 3) == regs[r]) << r;
		assert_true(u16(l) < u16(l + 2));
		assert_true(u16(l + 4) < u16(l + 6));
		assert_true(u8(l + 8) && u8(l + 8) <= u8(l + 9));
		assert_true(u8(l + 10) < u8(l + 11));
		assert_true(u8(l + 12) && u8(l + 12) < u8(l + 13));
	}
	assert_int_equal(types, 3);
	assert_int_equal(found, 0x3f);
}

static void test_voltage(void **state)
{
	size_t p = table('P', 2, 0x5c), v = u32(p + 0x0c), map = u32(p + 0x20), i;
	uint32_t base, range, khz;

	assert_int_equal(u8(v), 0x50);
	assert_true(u8(v + 1) >= 0x1a);
	assert_int_equal(u32(v + 4) & 1, 1);
	khz = u32(v + 5) / 1000;
	assert_in_range(27648000 / khz, 16, 4095); /* the divider of the voltage's PWM */
	base = u32(v + 0x12) & 0xffffff;
	range = u32(v + 0x16);
	assert_int_equal(u32(v + 0x0a), base);
	assert_int_equal(u32(v + 0x0e), base + range);
	assert_int_equal(u8(map), 0x20);
	assert_int_equal(u8(map + 7) & u8(map + 8) & u8(map + 12), 0xff);
	for (i = 0; i < u8(map + 3); i++) {
		size_t e = map + u8(map + 1) + i * u8(map + 2);

		assert_int_equal(u8(e + 1), 0xff); /* not linked to another entry */
		assert_in_range(u32(e + 2), base, base + range);
		assert_true(u32(e + 6) >= u32(e + 2));
	}
}

/* domain 0 has twice the core clock; domain 3 is memory */
static void test_performance_states(void **state)
{
	size_t p = table('P', 2, 0x5c), t = u32(p), e, i;
	size_t maps = u8(u32(p + 0x20) + 3);

	assert_int_equal(u8(t), 0x40);
	assert_int_equal(u8(t + 5), 2);
	for (i = 0; i < 2; i++) {
		e = t + u8(t + 1) + i * (u8(t + 2) + u8(t + 3) * u8(t + 4));
		assert_int_equal(u8(e), i ? 0x0f : 0x07);
		assert_in_range(u8(e + 2), 0, maps - 1);
		e += u8(t + 2);
		assert_int_equal(u16(e) / 2, i ? 705 : 324);
		assert_int_equal(u16(e + 3 * u8(t + 3)), i ? 2600 : 324);
	}
}

/* NVIDIA's specifications: base, highest application clock, memory, in MHz */
static void test_clocks_of_each_board(void **state)
{
	static const struct {
		const char *name;
		uint16_t device, base, boost, memory;
	} boards[] = {
		{ "k20m", 0x1028, 705, 758, 2600 }, { "k20c", 0x1022, 705, 758, 2600 },
		{ "k20x", 0x1021, 732, 784, 2600 }, { "k40m", 0x1023, 745, 875, 3004 },
		{ "k40c", 0x1024, 745, 875, 3004 },
	};
	size_t i, p, t, e, vp, steps;

	for (i = 0; i < sizeof(boards) / sizeof(boards[0]); i++) {
		assert_true(image_make(&img, boards[i].name));
		assert_int_equal(sum(0, IMAGE_SIZE), 0);
		assert_int_equal(u16(u16(0x18) + 6), boards[i].device);
		p = table('P', 2, 0x5c);
		t = u32(p);
		e = t + u8(t + 1) + u8(t + 2) + u8(t + 3) * u8(t + 4) + u8(t + 2);
		assert_int_equal(u16(e) / 2, boards[i].base);
		assert_int_equal(u16(e + 3 * u8(t + 3)), boards[i].memory);
		vp = u32(p + 0x38);
		assert_int_equal(u16(vp + u8(vp + 1) + u8(vp + 0x10) * u8(vp + 2) + 5),
				 2 * boards[i].boost);
		t = u32(p + 0x34);
		steps = t + u8(t + 1) + u8(t + 3) * u8(t + 2);
		assert_int_equal(u16(steps + (u8(t + 5) - 1) * u8(t + 4)), 2 * boards[i].boost);
	}
}

static void test_clock_steps(void **state)
{
	static const uint16_t core[] = { 324, 614, 640, 666, 705, 758 };
	size_t p = table('P', 2, 0x5c), t = u32(p + 0x34), vp = u32(p + 0x38), steps, i;
	size_t maps = u8(u32(p + 0x20) + 3);

	assert_int_equal(u8(t), 0x10);
	assert_int_equal(u8(t + 5), 6);
	steps = t + u8(t + 1) + u8(t + 3) * u8(t + 2);
	for (i = 0; i < 6; i++) {
		assert_int_equal(u16(steps + i * u8(t + 4)) / 2, core[i]);
		assert_in_range(u8(steps + i * u8(t + 4) + 4), 0, maps - 1);
	}
	for (i = 0; i < u8(t + 3); i++)
		assert_in_range(u8(t + u8(t + 1) + i * u8(t + 2) + 3), 0, 5);
	assert_int_equal(u8(vp), 0x10);
	assert_int_equal(u16(vp + u8(vp + 1) + u8(vp + 0x0f) * u8(vp + 2) + 5), 2 * 705);
	assert_int_equal(u16(vp + u8(vp + 1) + u8(vp + 0x10) * u8(vp + 2) + 5), 2 * 758);
}

static void test_boost_covers_every_state(void **state)
{
	size_t p = table('P', 2, 0x5c), t = u32(p + 0x30), i, s, e;

	assert_int_equal(u8(t), 0x11);
	for (i = 0; i < u8(t + 5); i++) {
		e = t + u8(t + 1) + i * (u8(t + 2) + u8(t + 3) * u8(t + 4));
		assert_int_equal(u16(e) >> 5 & 0xf, i ? 0xf : 0x7);
		assert_true(u16(e + 2) <= u16(e + 4));
		for (s = 0; s < u8(t + 4); s++) {
			size_t sub = e + u8(t + 2) + s * u8(t + 3);

			assert_in_range(u8(sub), 0, 7);
			assert_in_range(u8(sub + 1), 1, 100);
			assert_true(u16(sub + 2) <= u16(sub + 4));
		}
	}
}

static void test_memory_map_is_there_and_empty(void **state)
{
	size_t t = u32(table('P', 2, 0x5c) + 4);

	assert_int_equal(u8(t), 0x11);
	assert_true(u8(t + 1) >= 0x15); /* nouveau gives the device up if this is less */
	assert_int_equal(u8(t + 5), 0);
	assert_int_equal(u8(t + 0x14), 0);
}

static void test_thermal_thresholds(void **state)
{
	size_t t = u32(table('P', 2, 0x5c) + 0x10), i;
	unsigned int shutdown = 0, down = 0;

	for (i = 0; i < u8(t + 3); i++) {
		size_t e = t + u8(t + 1) + i * u8(t + 2);

		if (u8(e) == 0x32)
			shutdown = u16(e + 1) >> 4 & 0xff;
		if (u8(e) == 0x07)
			down = u16(e + 1) >> 4 & 0xff;
	}
	assert_int_equal(shutdown, 95);
	assert_int_equal(down, 90);
	assert_int_equal(u32(table('P', 2, 0x5c) + 0x58), 0); /* no fan */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, setup)
		T(test_rom_header),
		T(test_same_image_every_time),
		T(test_bit_directory),
		T(test_identity_and_scripts),
		T(test_display_entries_are_empty),
		T(test_dcb),
		T(test_memory_is_gddr5),
		T(test_training_patterns),
		T(test_pll_limits),
		T(test_voltage),
		T(test_performance_states),
		T(test_clocks_of_each_board),
		T(test_clock_steps),
		T(test_boost_covers_every_state),
		T(test_memory_map_is_there_and_empty),
		T(test_thermal_thresholds),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
