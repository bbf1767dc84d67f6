// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM that uses iommufd unmaps memory, or detaches the device from all of it, while its guest
 * pins pages and runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/explore.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

static struct mm_struct *mm;
static struct container *c;
static struct world_vgpu *g;

static void begin(const struct chip_manners *m)
{
	static const struct policy quiet = { .seed = 1 };
	u64 list[] = { 1 };

	world_begin(&quiet, m);
	mm = mm_new();
	c = container_new(mm);
	g = world_make(0);
	container_map(c, SETUP_RAM, 0, SETUP_RAM);
	if (!g || !world_open_ioas(0, c))
		harness_fail("no vGPU");
	g_space(g, 0);
	g_map_sys(g, 0, 16, SETUP_RAM);
	g_map_sys(g, 0, 17, SETUP_RAM + 0x1000);
	g_map_sys(g, 0, 18, SETUP_RAM + 0x5000);
	g_inst(g, 1, 0, 0);
	g_bind(g, 1);
	g_list(g, list, 1);
	g_enable(g, 1, true);
}

static void end(void)
{
	world_check("at the end");
	world_close(0);
	if (container_pins(c))
		harness_fail("S2: %u pages are pinned after the device was closed",
			     container_pins(c));
	world_unmake(0);
	container_free(c);
	mm_free(mm);
	world_end();
}

/* ------------------------------------------------------------------ actors */

static void guest(void *arg)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		g_map_sys(g, 0, 20 + i, SETUP_RAM + 0x10000 * (i + 1));
		g_tlb(g, 0);
		g_unmap(g, 0, 16);
		g_tlb(g, 0);
		g_map_sys(g, 0, 16, SETUP_RAM);
		g_tlb(g, 0);
	}
}

static void detaches(void *arg)
{
	ioas_detach(g->dev);
	if (container_pins(c))
		harness_fail("S2: %u pages are pinned by a device that is attached to nothing",
			     container_pins(c));
	world_check("a device was detached");
	harness_sleep(300000);
	world_check("a device is detached");
	ioas_attach(g->dev);
}

static void unmaps(void *arg)
{
	if (ioas_unmap(c, SETUP_RAM, SETUP_RAM))
		harness_fail("S6: memory can't be taken back");
	world_check("memory was taken back");
	container_map(c, SETUP_RAM, SETUP_RAM, SETUP_RAM);
}

static void resets(void *arg)
{
	world_reset(0);
}

/* ------------------------------------------------------------------ tests */

static void a_guest_runs(void **state)
{
	static const struct chip_manners eager = { .eager = true,
						   .load_ppm = 20000,
						   .look_ppm = 20000 };

	begin(&eager);
	assert_int_equal(container_pins(c), 3);
	assert_true(chip_loads() > 0);
	ioas_detach(g->dev);
	assert_int_equal(container_pins(c), 0);
	g_tlb(g, 0);
	assert_int_equal(container_pins(c), 0);
	assert_int_equal(ioas_attach(g->dev), 0);
	assert_int_equal(ioas_attach(g->dev), -EBUSY);
	g_tlb(g, 0);
	assert_int_equal(container_pins(c), 3);
	end();
}

static void a_device_is_detached(void **state)
{
	explore(&(struct explore){ "detached", begin, end, guest, detaches, &mm });
}

static void memory_is_unmapped(void **state)
{
	explore(&(struct explore){ "unmapped by iommufd", begin, end, guest, unmaps, &mm });
}

static void a_detached_one_is_reset(void **state)
{
	explore(&(struct explore){ "reset, detached", begin, end, resets, detaches, &mm });
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guest_runs),
		cmocka_unit_test(a_device_is_detached),
		cmocka_unit_test(memory_is_unmapped),
		cmocka_unit_test(a_detached_one_is_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
