// SPDX-License-Identifier: GPL-2.0-only
/* Which configurations of the device are accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core.h"

#define MIB (1ull << 20)

static int check(uint64_t vram, int layout, const char *vbios)
{
	struct gk110_config cfg = { .vram_size = vram, .layout = layout, .vbios_path = vbios };

	return config_check(&cfg);
}

static void vram_sizes(void **state)
{
	assert_int_equal(check(5120 * MIB, GK110_LAYOUT_FLAT, "x"), 0);
	assert_int_equal(check(80 * MIB, GK110_LAYOUT_CARD, "x"), 0);
	assert_int_equal(check(120 * 1024 * MIB, GK110_LAYOUT_FLAT, "x"), 0);
	assert_true(check(0, GK110_LAYOUT_FLAT, "x") < 0);
	assert_true(check(75 * MIB, GK110_LAYOUT_FLAT, "x") < 0);
	assert_true(check(5121 * MIB, GK110_LAYOUT_FLAT, "x") < 0);
	assert_true(check(5120 * MIB + 1, GK110_LAYOUT_FLAT, "x") < 0);
	assert_true(check(120 * 1024 * MIB + 5 * MIB, GK110_LAYOUT_FLAT, "x") < 0);
}

static void layouts_and_vbios(void **state)
{
	assert_true(check(5120 * MIB, 2, "x") < 0);
	assert_true(check(5120 * MIB, -1, "x") < 0);
	assert_true(check(5120 * MIB, GK110_LAYOUT_CARD, NULL) < 0);
}

static void defects(void **state)
{
	struct gk110_config cfg = { .vram_size = 5120 * MIB, .vbios_path = "x" };

	cfg.defect = "runlist";
	assert_int_equal(config_check(&cfg), 0);
	cfg.defect = "runlists";
	assert_true(config_check(&cfg) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vram_sizes),
		cmocka_unit_test(layouts_and_vbios),
		cmocka_unit_test(defects),
	};

	return cmocka_run_group_tests_name("core/config", tests, NULL, NULL);
}
