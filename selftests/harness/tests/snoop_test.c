// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest asks for accesses of its memory without a snoop (the aperture "non-coherent"), and must
 * not get them. When the host's kernel has just zeroed a page for a VMM, the zeros may be only in a
 * CPU's cache. In memory the page is still what its last owner left (S4).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/mmu.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

static const struct chip_manners keen = { .eager = true, .load_ppm = 300000, .look_ppm = 100000 };
static const struct policy quiet = { .seed = 1 };

static u64 non_coherent(void)
{
	return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_NCOH) |
	       FIELD_PREP(GMMU_PTE_ADDR, SETUP_RAM >> 12);
}

static void by_a_channel(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];

	setup_begin(&quiet, &keen, 1);
	g_store64(g, G_TABLE(0) + 20 * GMMU_ENTRY_SIZE, non_coherent());
	g_tlb(g, 0);
	harness_sleep(20 * NSEC_PER_MSEC); /* the oracle sees each entry of what is loaded */
	chip_look("after an invalidate");
	setup_end();
}

static void by_a_window(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 pte;

	setup_begin(&quiet, &keen, 1);
	g_space(g, 1);
	g_inst(g, 9, 1, 0);
	g_store64(g, G_TABLE(1), non_coherent());
	g_write(g, HOSTMEM_BAR3, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	pte = g->v->m->win[KVGPU_BAR3].pte[0];
	assert_int_equal(FIELD_GET(GMMU_PTE_APERTURE, pte), GMMU_PTE_APERTURE_SYS_COH);
	setup_end();
}

/* The card's own control register forbids it, whatever an entry says. */
static void by_the_card(void **state)
{
	setup_begin(&quiet, &keen, 1);
	assert_false(world.pdev.no_snoop);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_a_channel),
		cmocka_unit_test(by_a_window),
		cmocka_unit_test(by_the_card),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
