// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest's CPU writes its tables through mappings of BAR1, without a trap. The host notices by the
 * first touch which pages may have been written, and removes the mappings, so that it notices the
 * next touch, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/mmu.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define BAR1	 (1ull << 40)
#define PER_PAGE 512u /* entries in a page of a table */
#define PAGES	 64u /* pages of a table */

static const struct chip_manners calm = { .eager = true, .late = 1 };
/* the host never sleeps while it waits for the chip */
static const struct chip_manners prompt = { .eager = true };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;

/* A CPU of the guest stores where the VMM has mapped BAR1. */
static void store(unsigned long at, u64 val)
{
	u64 phys = (u64)mm_touch(setup_mm, at) << PAGE_SHIFT, vram;
	bool valid;

	assert_int_not_equal(phys, 0);
	vram = chip_show(1, phys - BAR1_PHYS, &valid) + offset_in_page(at);
	assert_true(valid);
	memcpy(chip_vram(vram), &val, sizeof(val));
	chip_wrote(vram, sizeof(val));
}

/*
 * Entries in the pages [@first, @last] of a table are made and removed by stores through the same
 * mapping. Each invalidate makes the last stores take effect (S2).
 */
static void write_pages(u32 first, u32 last)
{
	u64 pd = kvgpu_shadow_as_pd_get(vmach_chan_find(g->v, (gchid_t){ 1 })->as), pte;
	unsigned long at = mm_map(setup_mm, g->dev, BAR1 + G_TABLE(0), PAGES * PAGE_SIZE);
	u32 round, page;

	assert_int_not_equal(at, 0);
	for (round = 0; round < 4; round++) {
		pte = round & 1 ? 0 :
				  GMMU_PTE_VALID | GMMU_PTE_VOL |
					  FIELD_PREP(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_COH) |
					  FIELD_PREP(GMMU_PTE_ADDR, (SETUP_RAM + 0x20000) >> 12);
		for (page = first; page <= last; page++)
			store(at + page * PAGE_SIZE + 30 * GMMU_ENTRY_SIZE, pte);
		g_tlb(g, 0);
		for (page = first; page <= last; page++)
			if (!mmu_translate(pd, ((u64)page * PER_PAGE + 30) << 12) != !pte)
				harness_fail(
					"S2: a CPU has %s an entry in page %u of pages %u to %u of a table, and the GPU has %s",
					pte ? "made" : "removed", page, first, last,
					pte ? "none" : "it");
	}
	mm_unmap(setup_mm, at, PAGES * PAGE_SIZE);
}

static void written_again_and_again(void **state)
{
	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	write_pages(0, 0);
	write_pages(5, 5);
	write_pages(1, 3);
	write_pages(0, PAGES - 1);
	setup_end();
}

static void count(struct vfio_device *dev, unsigned long pfn, void *ctx)
{
	++*(u32 *)ctx;
}

static u32 mapped(void)
{
	u32 n = 0;

	mm_each(setup_mm, count, &n);
	return n;
}

/*
 * BAR1 shows pages of a table at @nr places that do not touch each other. No place stays mapped, as
 * few or as many as there are (S2, S6).
 */
static void show_at_places(u32 nr)
{
	unsigned long at;
	u32 i;

	g_space(g, 3);
	for (i = 0; i < PAGES; i++) {
		g_unmap(g, 3, 2 * i);
		if (i < nr)
			g_map_vram(g, 3, 2 * i, G_TABLE(0) + i * PAGE_SIZE);
	}
	g_inst(g, 9, 3, 0);
	g_write(g, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	at = mm_map(setup_mm, g->dev, BAR1, 2 * PAGES * PAGE_SIZE);
	assert_int_not_equal(at, 0);
	for (i = 0; i < nr; i++)
		assert_int_not_equal(mm_touch(setup_mm, at + 2 * i * PAGE_SIZE), 0);
	assert_int_equal(mapped(), nr);
	g_tlb(g, 0);
	if (mapped())
		harness_fail("S2: %u of %u places stay mapped at which BAR1 shows a table",
			     mapped(), nr);
	mm_unmap(setup_mm, at, 2 * PAGES * PAGE_SIZE);
	g_write(g, HOSTMEM_BAR1, 0);
}

static void shown_at_many_places(void **state)
{
	u32 nr;

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	for (nr = 1; nr <= PAGES; nr += nr < 20 ? 1 : 11)
		show_at_places(nr);
	setup_end();
}

static unsigned long cpu_at;

/* Whatever BAR1 shows at that moment. */
static void cpu_stores(void *arg)
{
	store(cpu_at, GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, G_DATA >> 12));
}

static void rebinds(void *arg)
{
	g_write(g, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
}

/*
 * BAR1 comes to show a table where another CPU has a mapping, and that CPU stores there at any
 * moment: by a mapping from before, too. The store takes effect with the next invalidate (S2).
 */
static void while_bar1_changes(void **state)
{
	const u32 page = 0x900, entry = 30;
	struct policy p = { .seed = 1, .actors_only = true };
	u64 points = 1, pd, in_table = 0;
	unsigned long at;
	const u64 *word;

	setup_begin(&quiet, &prompt, 1);
	g = &world.vgpu[0];
	pd = kvgpu_shadow_as_pd_get(vmach_chan_find(g->v, (gchid_t){ 1 })->as);
	g_space(g, 3);
	g_map_vram(g, 3, page, G_TABLE(0));
	g_inst(g, 9, 3, 0);
	at = mm_map(setup_mm, g->dev, BAR1 + page * PAGE_SIZE, PAGE_SIZE);
	cpu_at = at + entry * GMMU_ENTRY_SIZE;
	word = (const u64 *)chip_vram(g->v->part.v + G_TABLE(0)) + entry;
	for (p.script[0].at = 1; p.script[0].at <= points; p.script[0].at++) {
		p.nr_script = 1;
		mm_touch(setup_mm, at);
		harness_policy(&p);
		actor_new("rebinds", setup_mm, false, rebinds, NULL);
		actor_new("a CPU", setup_mm, false, cpu_stores, NULL);
		actors_run();
		points = max(points, harness_points());
		harness_policy(&quiet);
		in_table += *word != 0;
		g_write(g, HOSTMEM_BAR1, 0);
		g_tlb(g, 0);
		if (!mmu_translate(pd, entry << 12) != !*word)
			harness_fail(
				"S2: a CPU has stored in a table that BAR1 had just come to show, and the GPU has the entry of before");
		g_store64(g, G_TABLE(0) + entry * GMMU_ENTRY_SIZE, 0);
		g_tlb(g, 0);
	}
	assert_in_range(in_table, 1, points - 1);
	mm_unmap(setup_mm, at, PAGE_SIZE);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_again_and_again),
		cmocka_unit_test(shown_at_many_places),
		cmocka_unit_test(while_bar1_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
