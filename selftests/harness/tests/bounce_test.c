// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page of a guest's memory lies beyond the addresses that the card has, on a host that does not
 * translate the card's addresses: without an IOMMU, or with iommu=pt. The kernel then gives a
 * bounce buffer for it, which is memory of the host. No entry may lead there (S1, S6): the guest's
 * GPU would not reach the page, and a buffer of the host's small stock would be the guest's for as
 * long as the page is pinned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

static const struct chip_manners calm = { .late = 0 };
static const struct policy quiet = { .seed = 1 };

static void a_bounce_buffer_is_refused(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 pins, entries;

	setup_begin(&quiet, &calm, 1);
	pins = container_pins(setup_c);
	entries = iommu_entries();
	iommu_bounce(true);
	g_map_sys(g, 0, 40, SETUP_RAM + 0x20000);
	g_tlb(g, 0);
	world_check("a page got a bounce buffer");
	if (iommu_entries() > entries)
		harness_fail("S6: a bounce buffer of the host's is mapped for a guest");
	assert_int_equal(container_pins(setup_c), pins);
	iommu_bounce(false);
	g_map_sys(g, 0, 41, SETUP_RAM + 0x21000);
	g_tlb(g, 0);
	assert_int_equal(container_pins(setup_c), pins + 2);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bounce_buffer_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
