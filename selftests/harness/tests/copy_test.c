// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy of the host's does not end in time, and ends later nevertheless. By then its target may
 * belong to another vGPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

static const struct chip_manners eager = { .eager = true, .late = 2 };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 2000000 };

/* The copy reads a guest's instance block into memory of the host. */
static void a_read_of_a_guest(void **state)
{
	struct world_vgpu *g;
	u64 began;

	setup_begin(&coarse, &eager, 2);
	g = &world.vgpu[0];
	chip_copy_hold(true);
	began = harness_now;
	g_inst(g, 2, 0, 0);
	g_bind(g, 2);
	if (harness_now - began > 25000000000ull)
		harness_fail("S6: a guest's access waited %llu s for a copy",
			     (unsigned long long)(harness_now - began) / 1000000000);
	world_close(0);
	world_unmake(0);
	chip_copy_hold(false);
	harness_sleep(100000000);
	g_read(&world.vgpu[1], PFIFO_INTR);
	if (!world.gpu->chip->lost)
		harness_fail("S4: a copy that was given up is under way, and the card goes on");
	world_check("a copy ended late");
	if (world_make(0))
		harness_fail("S4: a vGPU is made on a card whose copies do not end");
	setup_end();
}

/* The host's fill that empties a partition does not end. */
static void a_scrub(void **state)
{
	setup_begin(&coarse, &eager, 1);
	world_close(0);
	chip_copy_hold(true);
	world_unmake(0);
	chip_copy_hold(false);
	harness_sleep(100000000);
	if (world_make(0))
		harness_fail("S4: a partition that was not emptied is given to the next one");
	setup_end();
}

/* A job that timed out may still begin at any time. Another job must not overwrite its commands. */
static void nothing_after_one_that_did_not_end(void **state)
{
	struct kvgpu_vram to[2];
	int ret;

	setup_begin(&coarse, &eager, 1);
	assert_int_equal(kvgpu_hw_vram_alloc(&world.gpu->hw, 0x1000, 0x1000, &to[0]), 0);
	assert_int_equal(kvgpu_hw_vram_alloc(&world.gpu->hw, 0x1000, 0x1000, &to[1]), 0);
	chip_copy_hold(true);
	assert_int_equal(kvgpu_hw_fill(&world.gpu->hw, to[0].at, 0x1000, 0x11111111), -ETIMEDOUT);
	ret = kvgpu_hw_fill(&world.gpu->hw, to[1].at, 0x1000, 0x22222222);
	if (ret != -ENODEV)
		harness_fail(
			"S4: a job is written over one that did not end and may still begin (%d)",
			ret);
	chip_copy_hold(false);
	kvgpu_hw_vram_free(&world.gpu->hw, &to[0]);
	kvgpu_hw_vram_free(&world.gpu->hw, &to[1]);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_of_a_guest),
		cmocka_unit_test(a_scrub),
		cmocka_unit_test(nothing_after_one_that_did_not_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
