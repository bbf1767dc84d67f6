// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two address spaces of a guest share a table. While an invalidate of the guest's first CPU is
 * being served, its second CPU changes an entry of the table, and invalidates, too. After that
 * neither space may have the old entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/mmu.h"
#include "gtt-shadow/shadow.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define PAGE	16 /* number of the page that is mapped and unmapped */
#define SLOW_NS NSEC_PER_MSEC /* for each read of the VMM's memory */

static const struct chip_manners calm = { .late = 0 };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;
static unsigned long bar1;
static bool first_began;

static void named(u32 space, u32 aperture, u64 table)
{
	g_store64(g, G_PD(space),
		  FIELD_PREP(GMMU_PDE_SMALL_APERTURE, aperture) |
			  FIELD_PREP(GMMU_PDE_SMALL_ADDR, table >> 12));
}

static void first_cpu(void *arg)
{
	first_began = true;
	g_tlb(g, 0);
}

/* The CPU stores through the mapped BAR, which waits for no lock of the vGPU. */
static void second_cpu(void *arg)
{
	u64 at = G_TABLE(0) + PAGE * GMMU_ENTRY_SIZE, none = 0;

	while (!first_began)
		harness_sleep(1000);
	harness_sleep(SLOW_NS / 2);
	if (!mm_touch(setup_mm, bar1 + (at & PAGE_MASK)))
		harness_fail("BAR1 is not mapped");
	memcpy(chip_vram(g->v->part.v + at), &none, sizeof(none));
	g_tlb(g, 0);
}

static u64 entry_of(u32 chan)
{
	struct kvgpu_chan *c = vmach_chan_find(g->v, (gchid_t){ chan });

	return mmu_translate(kvgpu_shadow_as_pd_get(c->as), PAGE << 12);
}

static void a_write_between(void **state)
{
	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	/*
	 * space 1 is served between spaces 0 and 2, which share a table; its own table is in the
	 * VMM's memory, so that it takes long
	 */
	named(1, GMMU_PDE_APERTURE_SYS_COH, SETUP_RAM + 0x90000);
	named(2, GMMU_PDE_APERTURE_VRAM, G_TABLE(0));
	g_inst(g, 2, 1, 0);
	g_inst(g, 3, 2, 0);
	g_bind(g, 2);
	g_bind(g, 3);
	g_tlb(g, 0);
	assert_true(entry_of(1) & GMMU_PTE_VALID);
	assert_true(entry_of(3) & GMMU_PTE_VALID);
	bar1 = mm_map(setup_mm, g->dev, (u64)VFIO_PCI_BAR1_REGION_INDEX << 40,
		      g->v->type->bar[KVGPU_BAR1]);
	container_slow(setup_c, SLOW_NS);
	actor_new("first", setup_mm, false, first_cpu, NULL);
	actor_new("second", setup_mm, false, second_cpu, NULL);
	actors_run();
	container_slow(setup_c, 0);
	assert_false(entry_of(3) & GMMU_PTE_VALID);
	assert_false(entry_of(1) & GMMU_PTE_VALID);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
