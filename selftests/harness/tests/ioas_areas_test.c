// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM that uses iommufd has mapped its memory in many pieces (areas), one behind the other, and
 * the guest's page tables name a page of each. The VMM unmaps all of them by one call. iommufd asks
 * the vGPU to unpin each area, and counts how often it has asked: since "iommufd: Fix a race with
 * concurrent allocation and unmap" that count begins anew only at an area that does not follow the
 * last one. Beyond 100 it is a WARN of the kernel's (S6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

static void unmap_areas(u32 areas, u32 stride)
{
	static const struct chip_manners eager = { .eager = true };
	static const struct policy quiet = { .seed = 1 };
	struct mm_struct *mm;
	struct container *c;
	struct world_vgpu *g;
	u64 list[] = { 1 };
	u32 i;

	world_begin(&quiet, &eager);
	mm = mm_new();
	c = container_new(mm);
	for (i = 0; i < areas; i++)
		assert_int_equal(container_map(c, SETUP_RAM + i * stride * PAGE_SIZE, i * PAGE_SIZE,
					       PAGE_SIZE),
				 0);
	g = world_make(0);
	if (!g || !world_open_ioas(0, c))
		harness_fail("no vGPU");
	g_space(g, 0);
	for (i = 0; i < areas; i++)
		g_map_sys(g, 0, 16 + i, SETUP_RAM + i * stride * PAGE_SIZE);
	g_inst(g, 1, 0, 0);
	g_bind(g, 1);
	g_list(g, list, 1);
	g_enable(g, 1, true);
	printf("# %u areas, every %u pages, %u pages pinned\n", areas, stride, container_pins(c));
	assert_int_equal(container_pins(c), areas);
	assert_int_equal(ioas_unmap(c, SETUP_RAM, (u64)areas * stride * PAGE_SIZE), 0);
	assert_int_equal(container_pins(c), 0);
	world_check("at the end");
	world_close(0);
	world_unmake(0);
	container_free(c);
	mm_free(mm);
	world_end();
}

/* between them are holes: the count begins anew at each */
static void areas_with_holes(void **state)
{
	unmap_areas(120, 2);
}

static void a_hundred_areas(void **state)
{
	unmap_areas(100, 1);
}

static void one_more_area(void **state)
{
	unmap_areas(101, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(areas_with_holes),
		cmocka_unit_test(a_hundred_areas),
		cmocka_unit_test(one_more_area),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
