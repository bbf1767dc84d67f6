// SPDX-License-Identifier: GPL-2.0-only
/* Syncs of a shadow: what they read and write. */
#include <selftests/unit_test.h>
#include <errno.h>

#include "gk110/mmu.h"
#include "guest.h"

static const struct kvgpu_gaddr none = { KVGPU_PEER, 0 };
static const struct kvgpu_gaddr pd = { KVGPU_VRAM, 0x10000 };
static const struct kvgpu_gaddr big_table = { KVGPU_VRAM, 0x30000 };
static const struct kvgpu_gaddr small_table = { KVGPU_VRAM, 0x40000 };

static struct kvgpu_gaddr plus(struct kvgpu_gaddr a, u64 n)
{
	a.addr += n;
	return a;
}

static void put(struct guest *g, struct kvgpu_gaddr table, u32 index, u64 value)
{
	assert_true(guest_write(g, plus(table, index * 8), value));
}

static u64 vram(u64 addr)
{
	return pte_make(KVGPU_VRAM, addr, 0);
}

static u64 sys(u32 page)
{
	return pte_make(KVGPU_SYS_COH, SYS_BASE + page * 4096ull, 0);
}

static struct guest *start(u32 max_tables)
{
	struct guest *g = guest_new(max_tables, SYS_PAGES);

	assert_int_equal(space_open(g, 0, pd), 0);
	return g;
}

static int sync_and_check(struct guest *g)
{
	int err = space_sync(&g->space[0], true);

	guest_check(g);
	guest_reap(g);
	guest_check(g);
	return err;
}

TEST(cost_follows_change)
{
	struct guest *g = start(8);
	u32 reads, writes;
	u64 entries;

	put(g, pd, 0, pde_make(big_table, small_table, 0));
	sync_and_check(g);
	/* each page of the tables was read once: 16 of the directory, 64 small, 2 big */
	assert_int_equal(g->reads, 16 + 64 + 2);
	reads = g->reads;
	writes = g->writes;
	entries = g->s.stats.entries_written;
	sync_and_check(g);
	assert_int_equal(g->reads, reads);
	assert_int_equal(g->writes, writes);
	put(g, small_table, 20000, vram(0x5000));
	sync_and_check(g);
	assert_int_equal(g->reads, reads + 1);
	assert_int_equal(g->writes, writes + 1);
	assert_int_equal(g->s.stats.entries_written, entries + 1);
	put(g, small_table, 20000, vram(0x5000)); /* written again with the same value */
	sync_and_check(g);
	assert_int_equal(g->reads, reads + 2);
	assert_int_equal(g->writes, writes + 1);
}

static struct kvgpu_shadow_ops ops; /* the guest's, where a test changes them */
static u32 asked_pd, asked_small, asked_pages;

/* Reports no page as written, and counts the calls. */
static u64 take(void *ctx, struct kvgpu_gaddr a, u32 nr)
{
	asked_pd += a.addr == pd.addr && nr == 16;
	asked_small += a.addr == small_table.addr && nr == 64;
	asked_pages += nr;
	return 0;
}

/*
 * Before the first read of a table the sync asks whether it was written, or the table would be read
 * again at the next sync.
 */
TEST(asks_once)
{
	struct guest *g = start(8);
	bool changed = false;

	ops = *g->s.ops;
	ops.take_dirty = take;
	g->s.ops = &ops;
	put(g, pd, 0, pde_make(none, small_table, 0));
	assert_int_equal(kvgpu_shadow_as_sync(g->space[0].as, &changed), 0);
	assert_int_equal(asked_pd, 1);
	assert_int_equal(asked_small, 1);
	asked_pages = 0;
	assert_int_equal(kvgpu_shadow_as_sync(g->space[0].as, &changed), 0);
	assert_int_equal(asked_pd, 2);
	assert_int_equal(asked_small, 2);
	assert_int_equal(asked_pages, 16 + 64);
}

static void sync_one(struct guest *g, u32 who)
{
	if (who < 3)
		space_sync(&g->space[who], true);
	else
		window_sync(&g->win[0], pd, ~0ull, 4096, true);
}

/*
 * A write is told once, to the space that asks first. Other spaces that have the page, one in a
 * table and one in its directory, and a window learn of it at their own syncs, in whatever order
 * these come, and read that page and no other.
 */
TEST(each_learns_of_a_write)
{
	static const struct kvgpu_gaddr other = { KVGPU_VRAM, 0x90000 };
	const struct kvgpu_gaddr page = plus(small_table, 5 * 0x1000);
	/* the entry is a directory entry with a big table of two pages for space 2 */
	static const u32 costs[] = { 1, 1, 1 + 2, 1 };
	u32 order, i, who, reads;
	struct guest *g;

	for (order = 0; order < 4; order++) {
		g = start(32);
		put(g, pd, 0, pde_make(none, small_table, 0));
		put(g, other, 7, pde_make(none, page, 3));
		assert_int_equal(space_open(g, 1, other), 0);
		assert_int_equal(space_open(g, 2, plus(page, -15 * 0x1000)), 0);
		for (i = 0; i < 4; i++)
			sync_one(g, i);
		put(g, page, 9, vram(0x5000));
		for (i = 0; i < 4; i++) {
			who = (i + order) & 3;
			reads = g->reads;
			sync_one(g, who);
			assert_int_equal(g->reads, reads + costs[who]);
			guest_check(g);
		}
		assert_int_not_equal(gpu_sees(&g->space[0], (5 * 512 + 9) << 12), 0);
		assert_int_not_equal(gpu_sees(&g->space[1], (7ull << 27) + 0x9000), 0);
		reads = g->reads;
		for (i = 0; i < 4; i++)
			sync_one(g, i);
		assert_int_equal(g->reads, reads);
		guest_free(g);
	}
}

TEST(writes_in_runs)
{
	struct guest *g = start(8);
	u32 writes, i;

	put(g, pd, 0, pde_make(none, small_table, 0));
	sync_and_check(g);
	writes = g->writes;
	for (i = 100; i < 300; i++)
		put(g, small_table, i, vram(i * 4096 % VRAM_SIZE));
	for (i = 400; i < 420; i += 3)
		put(g, small_table, i, vram(0x3000));
	sync_and_check(g);
	assert_int_equal(g->writes, writes + 2);
}

TEST(nothing_changed_needs_no_flush)
{
	struct guest *g = start(8);
	bool changed;

	put(g, pd, 0, pde_make(none, small_table, 0));
	put(g, small_table, 1, vram(0));
	sync_and_check(g);
	kvgpu_shadow_as_sync(g->space[0].as, &changed);
	assert_false(changed);
	put(g, small_table, 2, vram(VRAM_SIZE)); /* outside of the partition: refused */
	put(g, small_table, 3, pte_make(KVGPU_PEER, 0, 0));
	kvgpu_shadow_as_sync(g->space[0].as, &changed);
	assert_false(changed);
	put(g, small_table, 1, 0);
	kvgpu_shadow_as_sync(g->space[0].as, &changed);
	assert_true(changed);
	space_sync(&g->space[0], false);
	guest_check(g);
}

TEST(big_stays_big)
{
	struct guest *g = start(8);

	put(g, pd, 0, pde_make(big_table, none, 0));
	put(g, big_table, 3, vram(0x40000));
	sync_and_check(g);
	/* two tables: the directory and the big one. Two entries written: one in each */
	assert_int_equal(g->nr_tables, 2);
	assert_int_equal(g->s.stats.entries_written, 2);
	/*
	 * two big entries that are not aligned, one beyond the partition, and one in system memory
	 */
	put(g, big_table, 4, vram(0x41000));
	put(g, big_table, 5, vram(VRAM_SIZE - 0x10000));
	put(g, big_table, 6, vram(VRAM_SIZE));
	sync_and_check(g);
	put(g, big_table, 7, sys(0));
	sync_and_check(g);
	assert_int_equal(g->nr_tables, 3);
	assert_int_equal(g->nr_pinned, 32);
	put(g, big_table, 7, 0);
	sync_and_check(g);
	assert_int_equal(g->nr_tables, 2);
}

TEST(conflicts)
{
	struct guest *g = start(8);
	u32 i;

	put(g, pd, 0, pde_make(big_table, small_table, 0));
	put(g, big_table, 1, vram(0x20000));
	for (i = 0; i < 64; i++)
		put(g, small_table, i, i % 7 ? 0 : sys(i));
	sync_and_check(g);
	put(g, big_table, 1, 2); /* mask the small entries */
	sync_and_check(g);
	put(g, big_table, 1, 0);
	sync_and_check(g);
	put(g, big_table, 1, vram(0x20000));
	for (i = 32; i < 64; i++)
		put(g, small_table, i, 0);
	sync_and_check(g);
	assert_int_equal(g->nr_pinned, 5);
}

/*
 * One table under several directory entries, tables that overlap, and a directory that is its own
 * table.
 */
TEST(aliases)
{
	struct guest *g = start(64);
	u32 i;

	for (i = 0; i < 6; i++)
		put(g, pd, i * 1000,
		    pde_make(i & 1 ? small_table : none, plus(small_table, i / 2 * 0x1000), 3));
	for (i = 0; i < 512; i++)
		put(g, small_table, i, i & 1 ? sys(i % SYS_PAGES) : vram(i * 4096 % VRAM_SIZE));
	sync_and_check(g);
	put(g, pd, 7, pde_make(pd, pd, 0));
	sync_and_check(g);
	assert_int_equal(space_open(g, 1, plus(pd, 0x8000)), 0);
	space_sync(&g->space[1], true);
	guest_check(g);
	for (i = 0; i < 512; i += 3)
		put(g, small_table, i, 0);
	sync_and_check(g);
	space_sync(&g->space[1], true);
	guest_check(g);
}

TEST(too_many_tables)
{
	struct guest *g = start(4);
	u32 i;

	put(g, small_table, 0, vram(0));
	for (i = 0; i < 8192; i++)
		put(g, pd, i, pde_make(none, small_table, 3));
	assert_int_not_equal(sync_and_check(g), 0);
	assert_int_equal(g->nr_tables, 4);
	assert_int_not_equal(gpu_sees(&g->space[0], 0), 0);
	assert_int_equal(gpu_sees(&g->space[0], 8191ull << 27), 0);
	/*
	 * there is room again: the sync must find that although the entry for the last slot is not
	 * written
	 */
	for (i = 0; i < 8190; i++)
		put(g, pd, i, 0);
	sync_and_check(g);
	assert_int_equal(sync_and_check(g), 0);
	assert_int_not_equal(gpu_sees(&g->space[0], 8191ull << 27), 0);
}

static const struct kvgpu_shadow_ops *real_ops;
static bool no_small_tables;
static u32 tries; /* small tables that could not be made */
static u32 made; /* small tables that were made */

static int table_new(void *ctx, u32 nr, struct kvgpu_table *t)
{
	if (nr != 32768 || !no_small_tables) {
		made += nr == 32768;
		return real_ops->table_new(ctx, nr, t);
	}
	tries++;
	return -ENOMEM;
}

static struct guest *start_without_small_tables(void)
{
	struct guest *g = start(64);

	real_ops = g->s.ops;
	ops = *real_ops;
	ops.table_new = table_new;
	g->s.ops = &ops;
	no_small_tables = true;
	return g;
}

static u32 tries_of_a_sync(struct guest *g)
{
	tries = 0;
	assert_int_equal(sync_and_check(g), -ENOMEM);
	return tries;
}

/*
 * There is no memory for small tables. A sync gives up after some failures, and a later one makes
 * the tables. Big tables, for which there is memory, are made at once.
 */
TEST(no_memory_for_tables)
{
	struct guest *g = start_without_small_tables();
	u32 i;

	put(g, small_table, 7, vram(0x7000));
	put(g, big_table, 7, vram(0x40000));
	for (i = 0; i < 40; i++)
		put(g, pd, i, pde_make(none, small_table, 0));
	put(g, pd, 40, pde_make(big_table, none, 0));
	assert_in_range(tries_of_a_sync(g), 1, 16);
	assert_int_equal(gpu_sees(&g->space[0], 0x7000), 0);
	assert_int_not_equal(gpu_sees(&g->space[0], (40ull << 27) + 7 * 0x20000), 0);
	assert_in_range(tries_of_a_sync(g), 1, 16); /* nothing has changed */
	put(g, pd, 41, pde_make(big_table, none, 0));
	assert_in_range(tries_of_a_sync(g), 1, 16);
	assert_int_not_equal(gpu_sees(&g->space[0], (41ull << 27) + 7 * 0x20000), 0);
	no_small_tables = false;
	assert_int_equal(sync_and_check(g), 0);
	for (i = 0; i < 40; i++)
		assert_int_not_equal(gpu_sees(&g->space[0], ((u64)i << 27) + 0x7000), 0);
}

/* Each chunk of the slots from @first to @last has a big page in system memory. */
static void map_big_sys(struct guest *g, u32 first, u32 last)
{
	u32 i;

	for (i = 0; i < 64; i++)
		put(g, big_table, 16 * i, sys(0));
	for (i = first; i <= last; i++)
		put(g, pd, i, pde_make(big_table, none, 0));
}

/* The same for small tables that big pages in system memory need, in each chunk of four slots. */
TEST(no_memory_for_big_pages)
{
	struct guest *g = start_without_small_tables();
	u64 before;
	u32 i;

	map_big_sys(g, 0, 3);
	assert_in_range(tries_of_a_sync(g), 1, 16);
	before = g->s.stats.rejected;
	assert_in_range(tries_of_a_sync(g), 1, 16); /* nothing has changed */
	/* the pages of one slot are looked at again, and not those of all four */
	assert_in_range(g->s.stats.rejected - before, 1, 64 * 32);
	put(g, big_table, 16 * 63, vram(0x40000));
	put(g, big_table, 16 * 62, 0);
	assert_in_range(tries_of_a_sync(g), 1, 16);
	for (i = 0; i < 4; i++)
		assert_int_not_equal(gpu_sees(&g->space[0], ((u64)i << 27) + 1008 * 0x20000), 0);
	no_small_tables = false;
	assert_int_equal(sync_and_check(g), 0);
	for (i = 0; i < 4; i++) {
		assert_int_not_equal(gpu_sees(&g->space[0], (u64)i << 27), 0);
		assert_int_not_equal(gpu_sees(&g->space[0], ((u64)i << 27) + 61 * 0x200000), 0);
		assert_int_equal(gpu_sees(&g->space[0], ((u64)i << 27) + 62 * 0x200000), 0);
	}
}

/* Big tables have used up the limit of tables. The slots that wait are not all looked at again. */
TEST(no_tables_left_for_big_pages)
{
	struct guest *g = start(40);
	u64 before;
	u32 i;

	map_big_sys(g, 0, 38);
	assert_int_equal(sync_and_check(g), -ENOMEM);
	assert_int_equal(g->nr_tables, 40);
	before = g->s.stats.rejected;
	assert_int_equal(sync_and_check(g), -ENOMEM); /* nothing has changed */
	assert_in_range(g->s.stats.rejected - before, 1, 64 * 32);
	before = g->s.stats.rejected;
	put(g, big_table, 16, 0); /* a page of each of them */
	put(g, big_table, 32, sys(32));
	assert_int_equal(sync_and_check(g), -ENOMEM);
	assert_in_range(g->s.stats.rejected - before, 1, 64 * 32);
	for (i = 0; i < 20; i++)
		put(g, pd, i, 0);
	sync_and_check(g);
	assert_int_equal(sync_and_check(g), 0);
	for (i = 20; i < 39; i++) {
		assert_int_not_equal(gpu_sees(&g->space[0], (u64)i << 27), 0);
		assert_int_equal(gpu_sees(&g->space[0], ((u64)i << 27) + 0x200000), 0);
		assert_int_not_equal(gpu_sees(&g->space[0], ((u64)i << 27) + 0x400000), 0);
	}
}

/*
 * Pages that can't be pinned cost no small table, and of chunks that have no others only a number
 * is looked at again.
 */
TEST(no_tables_for_pages_without_a_pin)
{
	struct guest *g = start_without_small_tables();
	bool changed;
	u64 before;
	u32 i;

	no_small_tables = false;
	made = 0;
	memset(g->unpinnable, 1, 32);
	map_big_sys(g, 0, 19);
	sync_and_check(g);
	before = g->s.stats.rejected;
	assert_int_equal(kvgpu_shadow_as_sync(g->space[0].as, &changed), -ENOMEM);
	assert_false(changed);
	assert_in_range(g->s.stats.rejected - before, 1, 128 * 32);
	put(g, big_table, 0, pte_make(KVGPU_SYS_COH, SYS_BASE, GMMU_PTE_RO));
	sync_and_check(g);
	assert_in_range(g->s.stats.rejected - before, 1, 2 * 128 * 32);
	assert_int_equal(made, 0);
	g->unpinnable[31] = false; /* one page of each big page */
	assert_int_equal(sync_and_check(g), 0);
	assert_int_equal(made, 20);
	memset(g->unpinnable, 0, 31);
	assert_int_equal(sync_and_check(g), 0);
	assert_int_equal(made, 20);
	for (i = 0; i < 20; i++) {
		assert_int_not_equal(gpu_sees(&g->space[0], (u64)i << 27), 0);
		assert_int_not_equal(gpu_sees(&g->space[0], ((u64)i << 27) + 63 * 0x200000), 0);
	}
}

/* No page is pinned for a table that is not made, but one. */
TEST(few_pins_in_vain)
{
	struct guest *g = start_without_small_tables();

	map_big_sys(g, 0, 3);
	assert_in_range(tries_of_a_sync(g), 1, 16);
	assert_in_range(g->s.stats.pins, 0, 16);
	assert_int_equal(g->nr_pinned, 0);
}

TEST(tables_move)
{
	struct guest *g = start(8);
	u32 i, size;

	for (i = 0; i < 32768; i += 50)
		put(g, small_table, i, vram(i * 4096 % VRAM_SIZE));
	/* the table gets shorter and longer, and then moves */
	for (size = 0; size < 4; size++) {
		put(g, pd, 5, pde_make(none, small_table, size));
		sync_and_check(g);
		put(g, pd, 5, pde_make(none, small_table, 3 - size));
		sync_and_check(g);
		put(g, pd, 5, pde_make(small_table, plus(small_table, 0x1000 * size), size));
		sync_and_check(g);
	}
	put(g, pd, 5, 0);
	sync_and_check(g);
	assert_int_equal(g->nr_tables, 1);
}

TEST(memory_that_does_not_answer)
{
	struct guest *g = start(8);

	put(g, pd, 0, pde_make(none, small_table, 0));
	put(g, small_table, 600, vram(0x7000));
	g->now.bad_vram[0x41] = true;
	sync_and_check(g);
	assert_int_equal(gpu_sees(&g->space[0], 600 << 12), 0);
	g->now.bad_vram[0x41] = false; /* readable again, although no write to it was reported */
	sync_and_check(g);
	assert_int_not_equal(gpu_sees(&g->space[0], 600 << 12), 0);
	g->now.bad_vram[0x10] = true;
	put(g, pd, 1, 0);
	sync_and_check(g);
	assert_int_equal(gpu_sees(&g->space[0], 600 << 12), 0);
	assert_int_equal(g->nr_tables, 1);
	g->now.bad_vram[0x10] = false;
	sync_and_check(g);
	assert_int_not_equal(gpu_sees(&g->space[0], 600 << 12), 0);
}

TEST(tables_in_odd_places)
{
	static const struct kvgpu_gaddr odd[] = {
		{ KVGPU_VRAM, VRAM_SIZE - 0x1000 },
		{ KVGPU_VRAM, VRAM_SIZE },
		{ KVGPU_VRAM, 0x1ffffff000ull },
		{ KVGPU_SYS_COH, SYS_BASE + SYS_SIZE - 0x1000 },
		{ KVGPU_SYS_NCOH, 0xfffffff000ull },
		{ KVGPU_SYS_COH, 0 },
		/* bits of a peer's number above the address: they mean nothing for video memory */
		{ KVGPU_VRAM, 0x2000000000ull + 0x40000 },
	};
	struct guest *g = start(16);
	u32 i;

	put(g, small_table, 9, vram(0x9000));
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		put(g, pd, i, pde_make(odd[i], odd[i], i & 3));
	put(g, pd, 100, pde_make(none, odd[6], 0));
	sync_and_check(g);
	assert_int_not_equal(gpu_sees(&g->space[0], (100ull << 27) + 0x9000), 0);
}

TEST_MAIN(NULL, guests_end)
