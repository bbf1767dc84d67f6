// SPDX-License-Identifier: GPL-2.0-only
/* The address spaces of a guest: their pins, their tables, and their limits. */
#include <selftests/unit_test.h>

#include "guest.h"

static const struct kvgpu_gaddr none = { KVGPU_PEER, 0 };
static const struct kvgpu_gaddr pd = { KVGPU_VRAM, 0x10000 };
static const struct kvgpu_gaddr other = { KVGPU_SYS_COH, SYS_BASE };
static const struct kvgpu_gaddr table = { KVGPU_VRAM, 0x40000 };

static void fill(struct guest *g, struct kvgpu_gaddr dir)
{
	struct kvgpu_gaddr at = table;
	u32 i;

	guest_write(g, dir, pde_make(none, table, 3));
	for (i = 0; i < 20; i++, at.addr += 8)
		guest_write(g, at, pte_make(KVGPU_SYS_COH, SYS_BASE + (100 + i) * 4096ull, 0));
}

TEST(destroyed)
{
	struct guest *g = guest_new(8, SYS_PAGES);

	assert_int_equal(space_open(g, 0, pd), 0);
	fill(g, pd);
	space_sync(&g->space[0], true);
	guest_check(g);
	assert_int_equal(g->nr_pinned, 20);
	space_close(&g->space[0]);
	guest_reap(g);
	assert_int_equal(g->nr_pinned, 0);
	assert_int_equal(g->nr_tables, 0);
}

/*
 * Two spaces with the same page tables each have entries of their own. A page stays pinned as long
 * as one of the spaces needs it.
 */
TEST(shared_pages)
{
	struct guest *g = guest_new(8, SYS_PAGES);

	assert_int_equal(space_open(g, 0, pd), 0);
	assert_int_equal(space_open(g, 1, other), 0);
	fill(g, pd);
	fill(g, other);
	space_sync(&g->space[0], true);
	space_sync(&g->space[1], true);
	guest_check(g);
	assert_int_equal(g->nr_pinned, 20);
	assert_int_equal(g->s.stats.pins, 20);
	space_close(&g->space[0]);
	guest_reap(g);
	guest_check(g);
	assert_int_equal(g->nr_pinned, 20);
	space_close(&g->space[1]);
	guest_reap(g);
	assert_int_equal(g->nr_pinned, 0);
}

TEST(limits)
{
	struct guest *g = guest_new(2, SYS_PAGES);

	assert_int_equal(space_open(g, 0, pd), 0);
	assert_int_equal(space_open(g, 1, other), 0);
	/* directories count as tables: two are the limit */
	assert_int_not_equal(space_open(g, 2, table), 0);
	fill(g, pd);
	assert_int_not_equal(space_sync(&g->space[0], true), 0);
	guest_check(g);
	space_close(&g->space[1]);
	assert_int_equal(space_sync(&g->space[0], true), 0);
	guest_check(g);
	guest_free(g);
	g = guest_new(0, 0);
	assert_int_not_equal(space_open(g, 0, pd), 0);
	guest_free(g);
	g = guest_new(8, SYS_PAGES);
	g->fail_tables = 1;
	assert_int_not_equal(space_open(g, 0, pd), 0);
	assert_int_equal(space_open(g, 0, pd), 0);
}

TEST(slots_come_back)
{
	struct guest *g = guest_new(6, SYS_PAGES);
	struct kvgpu_gaddr at;
	u32 i;

	assert_int_equal(space_open(g, 0, pd), 0);
	for (i = 0; i < 200; i++) {
		at = (struct kvgpu_gaddr){ KVGPU_VRAM, pd.addr + i % 100 * 8 * 7 };
		guest_write(g, at, i < 100 ? pde_make(none, table, 3) : 0);
		if (i < 100 && i >= 3)
			guest_write(g,
				    (struct kvgpu_gaddr){ KVGPU_VRAM, pd.addr + (i - 3) * 8 * 7 },
				    0);
		assert_int_equal(space_sync(&g->space[0], true), 0);
		guest_reap(g);
	}
	assert_int_equal(g->nr_tables, 1);
	guest_check(g);
}

static u64 compared(struct guest *g, struct kvgpu_gaddr dir)
{
	u64 before = g->s.stats.entries_compared;

	guest_invalidate(g, dir.target == KVGPU_PEER ? NULL : &dir, true);
	guest_check(g);
	return g->s.stats.entries_compared - before;
}

/*
 * Each of eight spaces has a table of 4096 entries in system memory, which each of its syncs
 * compares. An invalidate costs as many as it names directories, and those where something is to be
 * tried again.
 */
TEST(invalidates_name_a_space)
{
	struct guest *g = guest_new(32, SYS_PAGES);
	struct kvgpu_gaddr dir[NR_SPACES], at = { KVGPU_SYS_COH, SYS_BASE };
	u32 i;

	for (i = 0; i < NR_SPACES; i++, at.addr += 0x8000) {
		dir[i] = (struct kvgpu_gaddr){ KVGPU_VRAM, 0x10000 * (1 + i) };
		assert_int_equal(space_open(g, i, dir[i]), 0);
		guest_write(g, dir[i], pde_make(none, at, 3));
	}
	compared(g, none);
	assert_int_equal(compared(g, none), NR_SPACES * 4096);
	assert_int_equal(compared(g, dir[5]), 4096);
	assert_int_equal(compared(g, (struct kvgpu_gaddr){ KVGPU_SYS_NCOH, dir[5].addr }), 4096);
	assert_int_equal(compared(g, (struct kvgpu_gaddr){ KVGPU_VRAM, 0xf0000 }), 0);
	/* a page of space 3 that can't be pinned yet */
	g->unpinnable[100] = true;
	at.addr = SYS_BASE + 3 * 0x8000;
	guest_write(g, at, pte_make(KVGPU_SYS_COH, SYS_BASE + 100 * 4096ull, 0));
	assert_int_equal(compared(g, dir[5]), 4096);
	assert_int_equal(compared(g, dir[3]), 4096);
	assert_int_equal(compared(g, dir[5]), 2 * 4096);
	assert_int_equal(gpu_sees(&g->space[3], 0), 0);
	g->unpinnable[100] = false;
	assert_int_equal(compared(g, dir[5]), 2 * 4096);
	assert_int_not_equal(gpu_sees(&g->space[3], 0), 0);
	assert_int_equal(compared(g, dir[5]), 4096);
	/* the VMM takes the page away, and gives it back */
	guest_unmap(g, SYS_BASE + 100 * 4096ull, 4096);
	assert_int_equal(gpu_sees(&g->space[3], 0), 0);
	assert_int_equal(compared(g, dir[5]), 2 * 4096);
	assert_int_not_equal(gpu_sees(&g->space[3], 0), 0);
	assert_int_equal(compared(g, dir[5]), 4096);
	/* a directory that can't be read for a while */
	g->now.bad_vram[dir[3].addr >> 12] = true;
	g->written[dir[3].addr >> 12] = true;
	assert_int_equal(compared(g, dir[5]), 4096);
	compared(g, dir[3]);
	assert_int_equal(gpu_sees(&g->space[3], 0), 0);
	g->now.bad_vram[dir[3].addr >> 12] = false;
	compared(g, dir[5]);
	assert_int_not_equal(gpu_sees(&g->space[3], 0), 0);
}

/*
 * The last MiB of the address space is the host's. Pages of the guest's tables there are ignored.
 */
TEST(the_top)
{
	static const struct kvgpu_gaddr big_table = { KVGPU_VRAM, 0x80000 };
	const u64 end = (1ull << 40) - (1ull << 20);
	const u64 small[] = { end - 4096, end, (1ull << 40) - 4096 },
		  big[] = { end - 0x40000, end + 0x40000 };
	struct guest *g = guest_new(8, SYS_PAGES);
	struct kvgpu_gaddr at = pd;
	u32 i;

	assert_int_equal(space_open(g, 0, pd), 0);
	at.addr += (end >> 27) * 8;
	assert_true(guest_write(g, at, pde_make(big_table, table, 0)));
	for (i = 0; i < 3; i++) {
		assert_true(guest_entry(g, pd, small[i], false, &at));
		assert_true(guest_write(g, at, pte_make(KVGPU_VRAM, 0x5000, 0)));
	}
	for (i = 0; i < 2; i++) {
		assert_true(guest_entry(g, pd, big[i], true, &at));
		assert_true(guest_write(g, at, pte_make(KVGPU_VRAM, 0xa0000, 0)));
	}
	assert_int_equal(space_sync(&g->space[0], true), 0);
	assert_int_not_equal(gpu_sees(&g->space[0], small[0]), 0);
	assert_int_equal(gpu_sees(&g->space[0], small[1]), 0);
	assert_int_equal(gpu_sees(&g->space[0], small[2]), 0);
	assert_int_not_equal(gpu_sees(&g->space[0], big[0]), 0);
	assert_int_equal(gpu_sees(&g->space[0], big[1]), 0);
	guest_check(g);
	guest_reap(g);
}

TEST_MAIN(NULL, guests_end)
