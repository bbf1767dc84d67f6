// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU from create to remove: it binds a channel, lists it, runs with a page of the VMM's memory,
 * and is closed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/world.h"

static const struct chip_manners eager = { .eager = true,
					   .load_ppm = 20000,
					   .look_ppm = 20000,
					   .late = 3 };
static const struct policy calm = { .seed = 1 };

/* Channel 1 runs on space 0, which has a page of the VMM's memory and a page of video memory. */
static void run_channel(struct world_vgpu *g)
{
	u64 list[] = { 1 };

	g_space(g, 0);
	g_map_sys(g, 0, 16, 0x100000);
	g_map_vram(g, 0, 17, G_DATA);
	g_inst(g, 1, 0, 0);
	g_bind(g, 1);
	g_list(g, list, 1);
	g_enable(g, 1, true);
	g_ring(g, 1, 1);
}

static void opens_runs_closes(void **state)
{
	struct mm_struct *mm;
	struct container *c;
	struct world_vgpu *g;

	world_begin(&calm, &eager);
	mm = mm_new();
	c = container_new(mm);
	task_mm_set(mm);
	g = world_make(0);
	assert_non_null(g);
	assert_int_equal(container_map(c, 0x100000, 0, 0x100000), 0);
	assert_true(world_open(0, c));
	run_channel(g);
	assert_int_equal(container_pins(c), 1);
	harness_sleep(20000000);
	world_check("a channel runs");
	assert_true(chip_loads() > 0);
	assert_int_equal(container_unmap(c, 0x100000, 0x100000), 0x100000);
	assert_int_equal(container_pins(c), 0);
	world_close(0);
	world_unmake(0);
	container_free(c);
	task_mm_set(NULL);
	mm_free(mm);
	world_end();
}

/* The oracle checks what the chip loads: a run in which it loads nothing would prove nothing. */
static void four_share(void **state)
{
	struct mm_struct *mm[WORLD_VGPUS];
	struct container *c[WORLD_VGPUS];
	u32 i;

	world_begin(&calm, &eager);
	for (i = 0; i < WORLD_VGPUS; i++) {
		mm[i] = mm_new();
		c[i] = container_new(mm[i]);
		assert_non_null(world_make(i));
		container_map(c[i], 0x100000, 0, 0x100000);
		assert_true(world_open(i, c[i]));
		run_channel(&world.vgpu[i]);
	}
	assert_null(mdev_create("512m"));
	harness_sleep(100000000);
	world_check("four run");
	assert_in_range(chip_loads(), 20, 1000000);
	for (i = 0; i < WORLD_VGPUS; i++)
		world_reset(i);
	harness_sleep(100000000);
	for (i = 0; i < WORLD_VGPUS; i++) {
		assert_int_equal(container_pins(c[i]), 0);
		world_close(i);
		container_free(c[i]);
		mm_free(mm[i]);
	}
	world_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_runs_closes),
		cmocka_unit_test(four_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
