// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page of a guest's memory lies beyond the addresses that the card has, on a host that does not
 * translate the card's addresses: without an IOMMU, or with iommu=pt. The kernel then gives a
 * bounce buffer for it, which is memory of the host. No entry may lead there (S1, S6): the guest's
 * GPU would not reach the page, and a buffer of the host's small stock would be the guest's for as
 * long as the page is pinned. A kernel without bounce buffers warns when such a page is mapped
 * (S6).
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

#define PAGES (SETUP_RAM + 0x20000)

/* Map page @nr of the guest; return how many pages that pins. */
static u32 map_page(u32 nr)
{
	u32 pins = container_pins(setup_c);

	g_map_sys(&world.vgpu[0], 0, 40 + nr, PAGES + nr * PAGE_SIZE);
	g_tlb(&world.vgpu[0], 0);
	return container_pins(setup_c) - pins;
}

static u64 phys_of_page_0(void)
{
	void *at = xa_load(&world.vgpu[0].v->m->pins, PAGES >> PAGE_SHIFT);

	return iommu_find((dma_addr_t)xa_to_value(at) << PAGE_SHIFT)->pfn << PAGE_SHIFT;
}

/* The RAM that the device can address ends within page 2: by its mask, or by that of a bridge. */
static void check_reach(enum iommu_kind kind, bool bridge)
{
	u64 *limit, was;
	u32 pinned;

	setup_begin(&quiet, &calm, 1);
	limit = bridge ? &world.gpu->hw.pdev->dev.bus_dma_limit : &world.gpu->hw.pdev->dev.mask;
	was = *limit;
	assert_int_equal(map_page(0), 1);
	*limit = phys_of_page_0() + 3 * PAGE_SIZE - 2;
	iommu_set(kind);
	pinned = kind == IOMMU_TRANSLATES;
	assert_int_equal(map_page(2), pinned);
	assert_int_equal(map_page(3), pinned);
	/* without a domain the stand-in's addresses are not those of RAM: that page is refused */
	if (kind != IOMMU_NONE)
		assert_int_equal(map_page(1), 1);
	iommu_set(IOMMU_TRANSLATES);
	*limit = was;
	setup_end();
}

static void pages_beyond_the_cards_addresses(void **state)
{
	static const enum iommu_kind kinds[] = { IOMMU_TRANSLATES, IOMMU_IDENTITY, IOMMU_NONE };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		check_reach(kinds[i], false);
		check_reach(kinds[i], true);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bounce_buffer_is_refused),
		cmocka_unit_test(pages_beyond_the_cards_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
