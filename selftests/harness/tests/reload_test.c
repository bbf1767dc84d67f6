// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card that was used before it is brought up. It was lost with a copy of the host's to system
 * memory under way, and that memory has been freed since. When bus mastering is turned on again,
 * no engine has such work left (S2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define UNITS (PMC_ENABLE_FIFO | PMC_ENABLE_GR | PMC_ENABLE_CE0 | PMC_ENABLE_CE1 | PMC_ENABLE_CE2)

static const struct chip_manners calm = { .late = 0 };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 2000000 };
static bool was_off, fifo_off;
static u32 fifo_resets;

/* The chip's copies go on as soon as it can reach memory. */
static void goes_on(u32 reg, u32 val)
{
	if (!chip_no_master())
		chip_copy_hold(false);
}

static void must_be_off_first(u32 reg, u32 val)
{
	if (!chip_no_master() && !was_off)
		harness_fail("S2: the card reaches memory before its engines were reset");
	was_off |= reg == PMC_ENABLE && !(val & UNITS);
}

static void count_fifo_resets(u32 reg, u32 val)
{
	bool off = !(val & PMC_ENABLE_FIFO);

	if (reg != PMC_ENABLE)
		return;
	fifo_resets += off && !fifo_off;
	fifo_off = off;
}

/* What sysfs says of the card: whether it is lost. */
static bool told_lost(void)
{
	struct machine_gpu_stats st;

	kvgpu_machine_gpu_stats_get(world.gpu, &st);
	return st.lost;
}

/* The copy for a channel that a guest binds hangs, and the card is taken from the module. */
static void cut_off_and_remove(bool no_reset)
{
	struct world_vgpu *g = &world.vgpu[0];

	setup_begin(&coarse, &calm, 1);
	chip_copy_hold(true);
	g_inst(g, 2, 0, 0);
	g_bind(g, 2);
	assert_true(vmach_gpu_lost(world.gpu));
	assert_true(told_lost());
	world_close(0);
	world_unmake(0);
	pool_watch(false);
	chip.copy_stays = no_reset;
	the_pci_driver->remove(&world.pdev);
	chip.copy_stays = false;
	assert_true(chip_no_master());
}

static void probe(int want, void (*before)(u32 reg, u32 val))
{
	chip_before_write = before;
	assert_int_equal(the_pci_driver->probe(&world.pdev, the_pci_driver->id_table), want);
	chip_before_write = NULL;
	if (!want)
		world.gpu = pci_get_drvdata(&world.pdev);
	else if (world.pdev.master)
		harness_fail("S2: a card that was not taken reaches memory");
}

/* The card works: a guest runs a channel, for which the host copies an image. */
static void use_and_end(void)
{
	assert_non_null(world_make(0));
	assert_true(world_open(0, setup_c));
	setup_run(0, 1, 0);
	assert_false(vmach_gpu_lost(world.gpu));
	assert_false(told_lost());
	setup_end();
}

/* The take-down has not reset the card, as where a kernel was followed by another one. */
static void this_module_again(void **state)
{
	cut_off_and_remove(true);
	probe(0, goes_on);
	use_and_end();
}

/* A driver that turns bus mastering on first, as nouveau does, comes after the take-down. */
static void another_driver(void **state)
{
	u32 i;

	cut_off_and_remove(false);
	chip_bus_master(true);
	chip_copy_hold(false);
	for (i = 0; i < 100; i++)
		chip_write(PMC_ENABLE, ~0u);
	chip_bus_master(false);
	probe(0, NULL);
	use_and_end();
}

static void bus_mastering_was_left_on(void **state)
{
	setup_begin(&coarse, &calm, 0);
	pool_watch(false);
	the_pci_driver->remove(&world.pdev);
	pci_set_master(&world.pdev);
	was_off = false;
	probe(0, must_be_off_first);
	assert_true(was_off && world.pdev.master);
	use_and_end();
}

/* What bring-up has set up since the engines' reset is not reset again. */
static void one_reset(void **state)
{
	setup_begin(&coarse, &calm, 0);
	pool_watch(false);
	the_pci_driver->remove(&world.pdev);
	fifo_resets = 0;
	fifo_off = false;
	probe(0, count_fifo_resets);
	assert_int_equal(fifo_resets, 1);
	assert_false(fifo_off);
	use_and_end();
}

/* PMC_ENABLE reads all ones: the card may have left the bus, or its engines may still run. */
static void engines_stay_on(void **state)
{
	cut_off_and_remove(true);
	chip.stays_on = true;
	probe(-EIO, goes_on);
	chip.stays_on = false;
	probe(0, goes_on);
	use_and_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_module_again),	     cmocka_unit_test(another_driver),
		cmocka_unit_test(bus_mastering_was_left_on), cmocka_unit_test(one_reset),
		cmocka_unit_test(engines_stay_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
