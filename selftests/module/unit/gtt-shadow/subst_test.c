// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that the host puts into a guest's address space (substituted pages) take precedence over
 * the guest's tables.
 */
#include <selftests/unit_test.h>
#include <errno.h>

#include "guest.h"

static const struct kvgpu_gaddr none = { KVGPU_PEER, 0 };
static const struct kvgpu_gaddr pd = { KVGPU_VRAM, 0x10000 };
static const struct kvgpu_gaddr big_table = { KVGPU_VRAM, 0x30000 };
static const struct kvgpu_gaddr small_table = { KVGPU_VRAM, 0x40000 };

static void put(struct guest *g, struct kvgpu_gaddr table, u32 index, u64 value)
{
	table.addr += index * 8;
	assert_true(guest_write(g, table, value));
}

static u64 sys(u32 page)
{
	return pte_make(KVGPU_SYS_COH, SYS_BASE + page * 4096ull, 0);
}

static struct guest *start(void)
{
	struct guest *g = guest_new(8, SYS_PAGES);

	assert_int_equal(space_open(g, 0, pd), 0);
	return g;
}

static void sync_and_check(struct guest *g)
{
	space_sync(&g->space[0], true);
	guest_check(g);
	guest_reap(g);
	guest_check(g);
}

TEST(survives_the_guest)
{
	struct guest *g = start();
	struct space *sp = &g->space[0];
	u32 i;

	put(g, pd, 0, pde_make(none, small_table, 0));
	for (i = 0; i < 100; i++)
		put(g, small_table, i, sys(i));
	sync_and_check(g);
	assert_int_equal(space_subst(sp, 10 << 12, 30, SUBST_BASE), 0);
	guest_reap(g);
	guest_check(g);
	/* the guest's pages below the substituted ones are not pinned */
	assert_int_equal(g->nr_pinned, 70);
	assert_int_equal(gpu_sees(sp, 12 << 12), 3 | (SUBST_BASE + 0x2000) >> 12 << 4);
	for (i = 0; i < 50; i++)
		put(g, small_table, i, sys(99 - i));
	sync_and_check(g);
	guest_unmap_all(g);
	guest_check(g);
	assert_int_equal(gpu_sees(sp, 12 << 12), 3 | (SUBST_BASE + 0x2000) >> 12 << 4);
	put(g, pd, 0, 0); /* the guest removes its page table */
	sync_and_check(g);
	assert_int_equal(gpu_sees(sp, 12 << 12), 3 | (SUBST_BASE + 0x2000) >> 12 << 4);
	put(g, pd, 0, pde_make(none, small_table, 0));
	sync_and_check(g);
	space_unsubst(sp, 10 << 12, 30);
	guest_check(g);
	guest_reap(g);
	/*
	 * the 50 entries that were rewritten name pages 50 to 99, and the other 50 the same pages:
	 * 50 are pinned
	 */
	assert_int_equal(g->nr_pinned, 50);
	sync_and_check(g);
}

TEST(without_any_table)
{
	struct guest *g = start();
	struct space *sp = &g->space[0];

	/* pages on both sides of a slot's end */
	assert_int_equal(space_subst(sp, (1ull << 27) - 0x3000, 6, SUBST_BASE), 0);
	guest_check(g);
	assert_int_equal(g->nr_tables, 3);
	sync_and_check(g);
	space_unsubst(sp, (1ull << 27) - 0x3000, 6);
	guest_reap(g);
	guest_check(g);
	assert_int_equal(g->nr_tables, 1);
}

TEST(splits_big_pages)
{
	struct guest *g = start();
	struct space *sp = &g->space[0];
	u32 i;

	put(g, pd, 0, pde_make(big_table, none, 0));
	for (i = 0; i < 8; i++)
		put(g, big_table, i, pte_make(KVGPU_VRAM, i * 0x20000, 0));
	sync_and_check(g);
	assert_int_equal(g->nr_tables, 2);
	assert_int_equal(space_subst(sp, 0x25000, 40, SUBST_BASE), 0);
	guest_check(g);
	assert_int_equal(g->nr_tables, 3);
	/* the guest masks the big entry: the substituted pages stay visible */
	put(g, big_table, 1, 2);
	sync_and_check(g);
	put(g, big_table, 1, pte_make(KVGPU_VRAM, 0x20000, 4));
	sync_and_check(g);
	space_unsubst(sp, 0x25000, 20);
	guest_check(g);
	space_unsubst(sp, 0x25000, 40);
	guest_check(g);
	guest_reap(g);
	assert_int_equal(g->nr_tables, 2);
	sync_and_check(g);
}

TEST(across_chunks)
{
	struct guest *g = start();
	struct space *sp = &g->space[0];
	u32 i;

	put(g, pd, 0, pde_make(big_table, small_table, 0));
	put(g, pd, 1, pde_make(big_table, small_table, 0));
	for (i = 0; i < 128; i++)
		put(g, big_table, i, pte_make(KVGPU_VRAM, i * 0x20000 % VRAM_SIZE, 0));
	sync_and_check(g);
	assert_int_equal(space_subst(sp, 0x100000, 1500, SUBST_BASE), 0);
	guest_check(g);
	/* pages on both sides of a slot's end */
	assert_int_equal(space_subst(sp, 0x7ff0000, 32, SUBST_BASE + 0x1000000), 0);
	sync_and_check(g);
	space_unsubst(sp, 0, 2048);
	guest_check(g);
	sync_and_check(g);
}

TEST(refused)
{
	struct guest *g = start();
	struct space *sp = &g->space[0];

	assert_int_not_equal(kvgpu_shadow_as_subst(sp->as, 0x800, 1, (hvram_t){ SUBST_BASE }), 0);
	assert_int_not_equal(kvgpu_shadow_as_subst(sp->as, 0, 0, (hvram_t){ SUBST_BASE }), 0);
	assert_int_not_equal(kvgpu_shadow_as_subst(sp->as, 0, 1, (hvram_t){ SUBST_BASE + 1 }), 0);
	assert_int_not_equal(kvgpu_shadow_as_subst(sp->as, (1ull << 40) - 0x1000, 2,
						   (hvram_t){ SUBST_BASE }),
			     0);
	assert_int_not_equal(kvgpu_shadow_as_subst(sp->as, 1ull << 40, 1, (hvram_t){ SUBST_BASE }),
			     0);
	assert_int_not_equal(kvgpu_shadow_as_subst(sp->as, ~0xfffull, 1, (hvram_t){ SUBST_BASE }),
			     0);
	kvgpu_shadow_as_unsubst(sp->as, ~0xfffull, 2);
	kvgpu_shadow_as_unsubst(sp->as, 0x7000, 2);
	assert_int_equal(space_subst(sp, 0x5000, 3, SUBST_BASE), 0);
	assert_int_equal(space_subst(sp, 0x7000, 3, SUBST_BASE), -EBUSY);
	assert_int_equal(space_subst(sp, 0x8000, 3, SUBST_BASE), 0);
	guest_check(g);
	g->fail_tables = 1;
	assert_int_equal(space_subst(sp, (1ull << 27) - 0x1000, 2, SUBST_BASE), -ENOMEM);
	guest_check(g);
	sync_and_check(g);
}

TEST_MAIN(NULL, guests_end)
