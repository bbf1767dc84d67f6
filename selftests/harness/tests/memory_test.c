// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host reads of a guest's memory, how it writes its own, where the tables are that the
 * chip uses, and in which order changes take effect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

static const struct chip_manners calm = { .eager = true, .busy = true, .late = 1 };
static const struct policy quiet = { .seed = 1 };

static int read_at(struct world_vgpu *g, u64 at, u32 len)
{
	u8 buf[256];
	int ret;

	mutex_lock(&g->v->lock);
	vmach_stage_drop(g->v->m);
	ret = vmach_guest_read(g->v, (struct kvgpu_gaddr){ KVGPU_VRAM, at }, buf, len);
	mutex_unlock(&g->v->lock);
	return ret;
}

/*
 * An address of a guest behind its partition leads nowhere, though the neighbour's partition lies
 * there (S4). Here the guest has the host read its neighbour's runlist.
 */
static void behind_the_partition(void **state)
{
	struct world_vgpu *g = &world.vgpu[0], *lower;
	u64 size, at;
	u32 i;

	setup_begin(&quiet, &calm, 2);
	lower = g[0].v->part.v < g[1].v->part.v ? &g[0] : &g[1];
	g = lower == &g[0] ? &g[1] : &g[0];
	size = lower->v->part_size;
	at = g->v->part.v - lower->v->part.v + G_LIST;
	const struct {
		u64 at;
		u32 len;
		bool refused;
	} cases[] = {
		{ 0, 4, false },   { size - 4, 4, false },	   { size - 256, 256, false },
		{ size, 4, true }, { size + 4, 4, true },	   { size + G_LIST, 8, true },
		{ at, 8, true },   { ~0ull & ~0xfffull, 4, true }, { (1ull << 40) - 4, 4, true },
	};

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!read_at(lower, cases[i].at, cases[i].len) == cases[i].refused)
			harness_fail(
				"S4: %u bytes of a guest at 0x%llx are%s read, its partition has 0x%llx",
				cases[i].len, (unsigned long long)cases[i].at,
				cases[i].refused ? "" : " not", (unsigned long long)size);
	assert_int_equal(g_load32(g, G_LIST), 1);
	g_write(lower, PFIFO_RUNLIST_BASE, at >> 12);
	g_write(lower, PFIFO_RUNLIST_SUBMIT, 1);
	if (lower->v->m->runl_nr[0])
		harness_fail("S4: a guest has its neighbour's runlist");
	setup_end();
}

/*
 * The chip walks a table while the host writes an entry. It never sees one half of an entry with
 * the other half of another one (S1): the halves of an entry for system memory and of none name
 * video memory.
 */
static void an_entry_is_written_at_once(void **state)
{
	struct world_vgpu *g;
	u32 i;

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	while (!chip_loaded(g_hchid(g, 1)))
		harness_sleep(NSEC_PER_MSEC);
	for (i = 0; i < 4; i++) {
		g_map_sys(g, 0, 20 + i, SETUP_RAM + 0x10000 + i * 0x1000);
		g_tlb(g, 0);
		g_map_vram(g, 0, 20 + i, G_DATA + i * 0x1000);
		g_tlb(g, 0);
		g_unmap(g, 0, 20 + i);
		g_tlb(g, 0);
		assert_true(chip_loaded(g_hchid(g, 1)));
	}
	setup_end();
}

/*
 * A CPU's store may arrive late. What goes back to the pool may be another vGPU's at once, so the
 * zeros in it have arrived by then (S1; gen_pool_free() of the stand-in looks). Here it is an
 * address space: its directory and its tables.
 */
static void what_is_given_back_has_its_zeros(void **state)
{
	struct world_vgpu *g;
	u64 used;

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	used = g->v->m->pool_used;
	g_inst(g, 2, 1, 0);
	g_space(g, 1);
	g_map_vram(g, 1, 16, G_DATA);
	g_bind(g, 2);
	assert_true(g->v->m->pool_used > used);
	g_unbind(g, 2);
	assert_int_equal(g->v->m->pool_used, used);
	setup_end();
}

/*
 * A guest's CPU writes a table in the VMM's memory, where the host sees no stores. An entry that it
 * has removed is gone after its invalidate (S2).
 */
static void a_table_in_system_memory(void **state)
{
	enum { SYS_TABLE = 0x40000, SYS_PD = 0x90000, DATA = 0xb0000 };
	struct world_vgpu *g;
	u64 pd, entry, pde, *pte;
	u32 i, pins;

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	pde = FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_SYS_COH) |
	      FIELD_PREP(GMMU_PDE_SMALL_ADDR, (SETUP_RAM + SYS_TABLE) >> 12);
	memcpy(container_ram(setup_c) + SYS_PD, &pde, sizeof(pde));
	entry = GMMU_PTE_VALID | GMMU_PTE_VOL |
		FIELD_PREP(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_COH) |
		FIELD_PREP(GMMU_PTE_ADDR, (SETUP_RAM + DATA) >> 12);
	pte = (u64 *)(container_ram(setup_c) + SYS_TABLE) + 30;
	*pte = entry;
	pins = container_pins(setup_c);
	g_inst(g, 2, 0, 0);
	g_store32(g, G_INST(2) + GMMU_INST_PDB_LO,
		  (SETUP_RAM + SYS_PD) |
			  FIELD_PREP(GMMU_INST_PDB_LO_TARGET, GMMU_PTE_APERTURE_SYS_COH));
	g_bind(g, 2);
	pd = kvgpu_shadow_as_pd_get(vmach_chan_find(g->v, (gchid_t){ 2 })->as);
	for (i = 0; i < 3; i++, pte++) {
		*pte = entry;
		g_tlb(g, 0);
		if (!mmu_translate(pd, (30 + i) << 12))
			harness_fail(
				"a guest has made an entry in a table in system memory, and the GPU has none");
		assert_int_equal(container_pins(setup_c), pins + 1);
		*pte = 0;
		g_tlb(g, 0);
		if (mmu_translate(pd, (30 + i) << 12))
			harness_fail(
				"S2: a guest has removed an entry of a table in system memory, and the GPU has it");
		harness_sleep(100 * NSEC_PER_MSEC);
		assert_int_equal(container_pins(setup_c), pins);
	}
	setup_end();
}

/*
 * A TLB may have entries of a directory that was in the same memory before, of another driver for
 * instance. They are gone before a channel gets the directory, also if the guest's directory is
 * empty, so that nothing changes in the new one (S1).
 */
static void a_directory_begins_without_entries(void **state)
{
	struct world_vgpu *g;
	u64 pd[2];
	u32 i, k;

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	g_inst(g, 2, 1, 0);
	for (i = 0; i < 2; i++) {
		g_bind(g, 2);
		pd[i] = kvgpu_shadow_as_pd_get(vmach_chan_find(g->v, (gchid_t){ 2 })->as);
		for (k = 0; k < chip.nr_tlb; k++)
			if (chip.tlb[k].pd == pd[i])
				harness_fail(
					"S1: a channel has a directory for which a TLB has an entry of before");
		g_unbind(g, 2);
		chip.tlb[chip.nr_tlb].pd = pd[i];
		chip.tlb[chip.nr_tlb].va = 0x16000;
		chip.tlb[chip.nr_tlb].pte = GMMU_PTE_VALID;
		chip.tlb[chip.nr_tlb++].vgpu = g->v->id;
	}
	assert_int_equal(pd[0], pd[1]);
	chip.nr_tlb--;
	setup_end();
}

/*
 * What L2 has of a page of the VMM's is written to the page before the page is unpinned, each time
 * (S2; the stand-in looks where the page is unmapped).
 */
static void l2_has_nothing_of_an_unpinned_page(void **state)
{
	struct l2_flushes flushes;
	struct world_vgpu *g;
	u32 i, pins;

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	pins = container_pins(setup_c);
	for (i = 0; i < 3; i++) {
		g_map_sys(g, 0, 20, SETUP_RAM + 0x10000);
		g_tlb(g, 0);
		assert_int_equal(container_pins(setup_c), pins + 1);
		assert_true(chip_loaded(g_hchid(g, 1)));
		world_check("the chip uses the page");
		flushes = flush_l2_next();
		g_unmap(g, 0, 20);
		g_tlb(g, 0);
		harness_sleep(100 * NSEC_PER_MSEC);
		assert_int_equal(container_pins(setup_c), pins);
		assert_true(flush_l2_ended(flushes));
	}
	setup_end();
}

static bool flushed;

static void before_write(u32 reg, u32 val)
{
	if (reg == FB_MMU_INVALIDATE)
		flushed = false;
	else if (reg == FLUSH_BAR)
		flushed = true;
	else if (reg == FLUSH_L2_DIRTY && !flushed)
		harness_fail(
			"S2: L2 is written back, and a CPU's write through a window may come after that");
}

/*
 * A CPU writes through a window that shows a page of the VMM's. The card has translated the write
 * before its TLB is invalidated. The write has to be in L2 before L2 is written back (S2).
 */
static void a_windows_writes_come_first(void **state)
{
	struct world_vgpu *g;
	u32 pins;

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	pins = container_pins(setup_c);
	g_space(g, 1);
	g_inst(g, 9, 1, 0);
	g_map_sys(g, 1, 0, SETUP_RAM + 0x10000);
	g_write(g, HOSTMEM_BAR3, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	assert_int_equal(container_pins(setup_c), pins + 1);
	chip_before_write = before_write;
	g_unmap(g, 1, 0);
	g_tlb(g, 1);
	harness_sleep(100 * NSEC_PER_MSEC);
	chip_before_write = NULL;
	assert_int_equal(container_pins(setup_c), pins);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(behind_the_partition),
		cmocka_unit_test(an_entry_is_written_at_once),
		cmocka_unit_test(what_is_given_back_has_its_zeros),
		cmocka_unit_test(a_table_in_system_memory),
		cmocka_unit_test(a_directory_begins_without_entries),
		cmocka_unit_test(l2_has_nothing_of_an_unpinned_page),
		cmocka_unit_test(a_windows_writes_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
