// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a VMM's mappings of BAR1, BAR3 and PRAMIN show to the CPU, through the card's tables, before
 * and after the guest changes it.
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

#define NOTHING (~0ull)

static const struct chip_manners calm = { .eager = true, .late = 2 };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;

/*
 * Return the offset in the vGPU's partition that a page of a mapping shows; NOTHING: it shows no
 * memory of the partition.
 */
static u64 shown(unsigned long at)
{
	u64 phys = (u64)mm_touch(setup_mm, at) << PAGE_SHIFT, vram;
	unsigned int bar = phys >= BAR3_PHYS ? 3 : 1;
	bool valid;

	if (!phys)
		return NOTHING;
	vram = chip_show(bar, phys - (bar == 3 ? BAR3_PHYS : BAR1_PHYS), &valid);
	if (chip_shows_host(bar, phys - (bar == 3 ? BAR3_PHYS : BAR1_PHYS)))
		return NOTHING;
	return valid && vram >= g->v->part.v && vram < g->v->part.v + g->v->part_size ?
		       vram - g->v->part.v :
		       NOTHING;
}

static unsigned long map(unsigned int region, u64 off, u64 len)
{
	unsigned long at = mm_map(setup_mm, g->dev, ((u64)region << 40) + off, len);

	assert_true(at);
	return at;
}

static void begin(void)
{
	setup_begin(&quiet, &calm, 2);
	g = &world.vgpu[0];
}

static void end(unsigned long at, u64 len)
{
	world_check("windows");
	mm_unmap(setup_mm, at, len);
	setup_end();
}

static void pramin_moves(void **state)
{
	unsigned long at;
	u32 i;

	begin();
	at = map(0, PRAMIN_BASE, 0x10000);
	for (i = 0; i < 4; i++) {
		g_write(g, HOSTMEM_PRAMIN, i * 0x13);
		assert_int_equal(shown(at + 0x3000),
				 ((u64)i * 0x13 << HOSTMEM_PRAMIN_BASE_SHIFT) + 0x3000);
	}
	end(at, 0x10000);
}

/*
 * Where PRAMIN goes beyond the partition it shows the scrap page, and no page of the next vGPU, not
 * the first one either.
 */
static void pramin_beyond_the_partition(void **state)
{
	static const u64 inside[] = { 0x100000, 0x80000, 0x10000, 0 };
	unsigned long at;
	u64 base, off, phys;
	bool valid;
	u32 i;

	begin();
	at = map(0, PRAMIN_BASE, PRAMIN_SIZE);
	for (i = 0; i < ARRAY_SIZE(inside); i++) {
		base = g->v->part_size - inside[i];
		g_write(g, HOSTMEM_PRAMIN, base >> HOSTMEM_PRAMIN_BASE_SHIFT);
		for (off = 0; off < PRAMIN_SIZE; off += PAGE_SIZE) {
			if (off < inside[i]) {
				assert_int_equal(shown(at + off), base + off);
				continue;
			}
			phys = (u64)mm_touch(setup_mm, at + off) << PAGE_SHIFT;
			if (chip_show(1, phys - BAR1_PHYS, &valid) != g->v->m->scrap.at.v || !valid)
				harness_fail(
					"S1: PRAMIN at 0x%llx shows something at 0x%llx, which is behind the partition",
					(unsigned long long)base, (unsigned long long)off);
		}
	}
	end(at, PRAMIN_SIZE);
}

static void bar1_shows_a_space(void **state)
{
	unsigned long at;

	begin();
	at = map(1, 0, 0x20000);
	/* BAR1 shows video memory from its start */
	assert_int_equal(shown(at + 0x5000), 0x5000);
	g_inst(g, 9, 1, 0);
	g_space(g, 1);
	g_map_vram(g, 1, 5, G_DATA);
	g_map_vram(g, 1, 6, G_DATA + 0x7000);
	g_write(g, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	assert_int_equal(shown(at + 0x5000), G_DATA);
	assert_int_equal(shown(at + 0x6000), G_DATA + 0x7000);
	assert_int_equal(shown(at + 0x7000), NOTHING);
	/*
	 * A change of a table counts from the invalidate on. The table is written through PRAMIN:
	 * BAR1 shows something else now.
	 */
	g_write(g, HOSTMEM_PRAMIN, G_TABLE(1) >> HOSTMEM_PRAMIN_BASE_SHIFT);
	g_write(g, PRAMIN_BASE + 5 * GMMU_ENTRY_SIZE, 0);
	g_tlb(g, 1);
	assert_int_equal(shown(at + 0x5000), NOTHING);
	assert_int_equal(shown(at + 0x6000), G_DATA + 0x7000);
	g_write(g, HOSTMEM_BAR1, 0);
	assert_int_equal(shown(at + 0x5000), 0x5000);
	end(at, 0x20000);
}

/*
 * What a guest stores in BAR1 arrives in the VMM's memory, and no more after the VMM has unmapped
 * that. @channel: a channel's address space has memory of the VMM, too.
 */
static void show_the_vmms_memory(bool channel)
{
	unsigned long at;
	u32 *ram;

	begin();
	if (!channel) {
		g_enable(g, 1, false);
		g_unbind(g, 1);
	}
	assert_int_equal(list_empty(&g->v->m->spaces), !channel);
	ram = (u32 *)(container_ram(setup_c) + 0x3000);
	at = map(1, 0, 0x20000);
	g_inst(g, 9, 1, 0);
	g_space(g, 1);
	g_map_sys(g, 1, 5, SETUP_RAM + 0x3000);
	g_write(g, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	assert_int_not_equal(mm_touch(setup_mm, at + 0x5000), 0);
	g_store32(g, 0x5004, 0x600d);
	assert_int_equal(ram[1], 0x600d);
	assert_int_equal(g_load32(g, 0x5004), 0x600d);
	world_check("BAR1 shows memory of the VMM");
	assert_int_equal(container_unmap(setup_c, SETUP_RAM, SETUP_RAM), SETUP_RAM);
	world_check("it was taken");
	g_store32(g, 0x5004, 0xbad);
	assert_int_equal(ram[1], 0x600d);
	end(at, 0x20000);
}

static void bar1_shows_the_vmms_memory(void **state)
{
	show_the_vmms_memory(true);
	show_the_vmms_memory(false);
}

/*
 * An entry for memory beyond the partition, another vGPU's or none at all, shows no vGPU's memory.
 */
static void what_is_not_its_own(void **state)
{
	unsigned long at;

	begin();
	at = map(1, 0, 0x20000);
	g_inst(g, 9, 1, 0);
	g_space(g, 1);
	g_map_vram(g, 1, 5, g->v->part_size);
	g_map_vram(g, 1, 6, g->v->part_size - 0x1000);
	g_map_vram(g, 1, 7, 0xfffffff000ull);
	g_write(g, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	assert_int_equal(shown(at + 0x5000), NOTHING);
	assert_int_equal(shown(at + 0x6000), g->v->part_size - 0x1000);
	assert_int_equal(shown(at + 0x7000), NOTHING);
	end(at, 0x20000);
}

/*
 * After a close no page of the VMM's is pinned, and the vGPU's slices of both BARs show none (S2),
 * and no video memory of the guest: all show the scrap page.
 */
static void closed_slices_show_nothing(void **state)
{
	const u32 number[] = { 1, 3 };
	u64 off, scrap, slice;
	bool valid;
	u32 bar;

	begin();
	g_inst(g, 9, 1, 0);
	g_space(g, 1);
	for (off = 0; off < 16; off++) {
		g_map_sys(g, 1, 2 * off, SETUP_RAM + 0x20000 + off * 0x1000);
		g_map_vram(g, 1, 2 * off + 1, G_DATA + off * 0x1000);
	}
	g_write(g, HOSTMEM_BAR3, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	g_write(g, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	scrap = g->v->m->scrap.at.v;
	for (bar = 0; bar < KVGPU_NR_BARS; bar++)
		assert_true(chip_shows_host(number[bar], g->v->slice[bar]));
	world_close(0);
	for (bar = 0; bar < KVGPU_NR_BARS; bar++) {
		slice = g->v->slice[bar];
		for (off = 0; off < g->v->type->bar[bar]; off += PAGE_SIZE)
			if (chip_shows_host(number[bar], slice + off) ||
			    chip_show(number[bar], slice + off, &valid) != scrap)
				harness_fail(
					"S2: BAR%u of a vGPU that is closed shows what its guest had at 0x%llx",
					number[bar], (unsigned long long)off);
	}
	assert_true(world_open(0, setup_c));
	setup_end();
}

/*
 * VFIO's container may have mapped a slice of a BAR for another device. When no vGPU has the slice
 * any more, it must show no vGPU's memory.
 */
static void slices_that_nobody_has(void **state)
{
	u64 bar1, bar3, pramin, off;
	bool valid;

	begin();
	bar1 = g->v->slice[KVGPU_BAR1];
	bar3 = g->v->slice[KVGPU_BAR3];
	pramin = g->v->pramin_slice;
	world_close(0);
	world_unmake(0);
	for (off = 0; off < 0x100000; off += 0x1000)
		if (chip_show(1, bar1 + off, &valid) != world.gpu->chip->dummy_page.at.v ||
		    !valid ||
		    chip_show(3, bar3 + off, &valid) != world.gpu->chip->dummy_page.at.v ||
		    !valid ||
		    chip_show(1, pramin + off, &valid) != world.gpu->chip->dummy_page.at.v ||
		    !valid)
			harness_fail(
				"S4: a slice that nobody has shows video memory that is somebody's, at 0x%llx",
				(unsigned long long)off);
	setup_end();
}

/*
 * The container asks for a page's frame, to map it for a physical device. That is refused, as the
 * module could not take the frame out of that device's IOMMU again.
 */
static void a_frame_for_another_device(void **state)
{
	unsigned long at;

	begin();
	at = map(1, 0, 0x20000);
	if (mm_for_device(setup_mm, at + 0x4000))
		harness_fail("S4: a frame of BAR1 is given to another device's IOMMU");
	assert_int_equal(shown(at + 0x4000), 0x4000);
	end(at, 0x20000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pramin_moves),
		cmocka_unit_test(pramin_beyond_the_partition),
		cmocka_unit_test(bar1_shows_a_space),
		cmocka_unit_test(bar1_shows_the_vmms_memory),
		cmocka_unit_test(what_is_not_its_own),
		cmocka_unit_test(closed_slices_show_nothing),
		cmocka_unit_test(slices_that_nobody_has),
		cmocka_unit_test(a_frame_for_another_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
