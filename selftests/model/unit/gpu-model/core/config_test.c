// SPDX-License-Identifier: GPL-2.0-only
/* Which configurations of the device are accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core.h"

#define MIB (1ull << 20)

static int check(const char *board, uint64_t vram, const char *vbios)
{
	struct gk110_config cfg = { .vram_size = vram, .vbios_path = vbios };

	assert_true(board_find(board, &cfg.board));
	return config_check(&cfg);
}

static void vram_sizes(void **state)
{
	assert_int_equal(check("k20m", 5120 * MIB, "x"), 0);
	assert_int_equal(check("k20m", 80 * MIB, "x"), 0);
	assert_int_equal(check("k20m", 120 * 1024 * MIB, "x"), 0);
	assert_true(check("k20m", 0, "x") < 0);
	assert_true(check("k20m", 75 * MIB, "x") < 0);
	assert_true(check("k20m", 5121 * MIB, "x") < 0);
	assert_true(check("k20m", 5120 * MIB + 1, "x") < 0);
	assert_true(check("k20m", 120 * 1024 * MIB + 5 * MIB, "x") < 0);
}

/* six partitions */
static void vram_sizes_of_wide_memory(void **state)
{
	assert_int_equal(check("k40m", 12288 * MIB, "x"), 0);
	assert_int_equal(check("k20x", 84 * MIB, "x"), 0);
	assert_true(check("k40m", 5120 * MIB, "x") < 0);
	assert_true(check("k20x", 80 * MIB, "x") < 0);
}

static void board_and_vbios(void **state)
{
	struct gk110_config cfg = { .vram_size = 5120 * MIB, .vbios_path = "x" };

	assert_true(config_check(&cfg) < 0);
	assert_true(check("k20m", 5120 * MIB, NULL) < 0);
}

static void defects(void **state)
{
	struct gk110_config cfg = { .vram_size = 5120 * MIB, .vbios_path = "x" };

	assert_true(board_find("k20m", &cfg.board));
	cfg.defect = "runlist";
	assert_int_equal(config_check(&cfg), 0);
	cfg.defect = "runlists";
	assert_true(config_check(&cfg) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vram_sizes),
		cmocka_unit_test(vram_sizes_of_wide_memory),
		cmocka_unit_test(board_and_vbios),
		cmocka_unit_test(defects),
	};

	return cmocka_run_group_tests_name("core/config", tests, NULL, NULL);
}
