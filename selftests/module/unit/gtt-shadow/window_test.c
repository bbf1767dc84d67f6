// SPDX-License-Identifier: GPL-2.0-only
/* BAR windows: one host entry for each page, the scrap page where the guest has none. */
#include <selftests/unit_test.h>
#include <errno.h>

#include "guest.h"

static const struct kvgpu_gaddr none = { KVGPU_PEER, 0 };
static const struct kvgpu_gaddr pd = { KVGPU_VRAM, 0x10000 };
static const struct kvgpu_gaddr pd2 = { KVGPU_VRAM, 0x28000 };
static const struct kvgpu_gaddr big_table = { KVGPU_VRAM, 0x30000 };
static const struct kvgpu_gaddr small_table = { KVGPU_VRAM, 0x40000 };

static void put(struct guest *g, struct kvgpu_gaddr table, u32 index, u64 value)
{
	table.addr += index * 8;
	assert_true(guest_write(g, table, value));
}

TEST(maps)
{
	static const u32 sizes[] = { 32, 512, 544, 4096, MAX_WIN_PAGES };
	struct guest *g;
	u32 i, n;

	for (n = 0; n < 5; n++) {
		g = guest_new(1, SYS_PAGES);
		put(g, pd, 0, pde_make(big_table, small_table, 0));
		put(g, pd, 1, pde_make(none, small_table, 0));
		for (i = 0; i < 40; i++)
			put(g, small_table, i * 17,
			    i & 1 ? pte_make(KVGPU_SYS_COH, SYS_BASE + i * 4096ull, 0) :
				    pte_make(KVGPU_VRAM, i * 8192, 2));
		for (i = 0; i < 4; i++)
			put(g, big_table, 24 + i,
			    pte_make(i & 1 ? KVGPU_SYS_NCOH : KVGPU_VRAM,
				     i & 1 ? SYS_BASE : i * 0x20000, 0));
		window_sync(&g->win[0], pd, ~0ull, sizes[n], true);
		guest_check(g);
		window_sync(&g->win[0], pd, 0x1e3000, sizes[n], true);
		guest_check(g);
		window_sync(&g->win[0], pd, 0, sizes[n], true);
		guest_check(g);
		window_sync(&g->win[0], pd, ~0ull, sizes[n], true);
		guest_reap(g);
		guest_check(g);
		guest_unmap(g, SYS_BASE, SYS_SIZE / 2);
		guest_check(g);
		window_sync(&g->win[0], pd, ~0ull, sizes[n], true);
		guest_check(g);
		guest_free(g);
	}
}

TEST(tells_what_changed)
{
	struct guest *g = guest_new(1, SYS_PAGES);
	u64 *pte = malloc(1024 * 8);
	struct kvgpu_win *win = calloc(1, kvgpu_shadow_win_size(1024));
	u32 first, last;
	bool changed;

	put(g, pd, 0, pde_make(none, small_table, 0));
	assert_int_equal(kvgpu_shadow_win_sync(&g->s, win, pd, ~0ull, 1024, 0x77, pte), 0);
	assert_true(kvgpu_shadow_win_take(win, &first, &last));
	assert_int_equal(first, 0);
	assert_int_equal(last, 1023);
	assert_int_equal(pte[1023], 0x77);
	assert_int_equal(kvgpu_shadow_win_sync(&g->s, win, pd, ~0ull, 1024, 0x77, pte), 0);
	assert_false(kvgpu_shadow_win_take(win, &first, &last));
	assert_true(last < first);
	put(g, small_table, 100, pte_make(KVGPU_VRAM, 0, 0));
	put(g, small_table, 700, pte_make(KVGPU_SYS_COH, SYS_BASE, 0));
	assert_int_equal(kvgpu_shadow_win_sync(&g->s, win, pd, ~0ull, 1024, 0x77, pte), 0);
	assert_true(kvgpu_shadow_win_take(win, &first, &last));
	assert_int_equal(first, 100);
	assert_int_equal(last, 700);
	assert_false(kvgpu_shadow_win_take(win, &first, &last));
	kvgpu_shadow_unmap(&g->s, (iova_t){ SYS_BASE }, 4096, &changed);
	assert_true(changed);
	assert_true(kvgpu_shadow_win_take(win, &first, &last));
	assert_int_equal(first, 700);
	assert_int_equal(last, 700);
	assert_int_equal(pte[700], 0x77);
	/* with another scrap page all entries are written anew */
	assert_int_equal(kvgpu_shadow_win_sync(&g->s, win, pd, ~0ull, 1024, 0x99, pte), 0);
	assert_true(kvgpu_shadow_win_take(win, &first, &last));
	assert_int_equal(first, 0);
	assert_int_equal(last, 1023);
	assert_int_equal(pte[101], 0x99);
	assert_int_equal(pte[100], 1 | PART_BASE >> 12 << 4);
	kvgpu_shadow_win_fini(&g->s, win);
	assert_int_equal(pte[100], 0x99);
	free(win);
	free(pte);
}

TEST(other_directories_and_linear)
{
	struct guest *g = guest_new(1, SYS_PAGES);
	struct window *w = &g->win[1];
	u32 i;

	put(g, pd, 0, pde_make(none, small_table, 0));
	put(g, pd2, 0, pde_make(big_table, none, 0));
	for (i = 0; i < 64; i++) {
		put(g, small_table, i, pte_make(KVGPU_SYS_COH, SYS_BASE + i * 4096ull, 0));
		put(g, big_table, i, pte_make(KVGPU_VRAM, i * 0x20000, 0));
	}
	window_sync(w, pd, ~0ull, 512, true);
	guest_check(g);
	window_sync(w, pd2, ~0ull, 512, true);
	guest_check(g);
	guest_reap(g);
	assert_int_equal(g->nr_pinned, 0);
	window_sync(w, pd, ~0ull, 512, true);
	guest_check(g);
	assert_true(g->nr_pinned > 0);
	/* the same address in system memory, where there is no table */
	window_sync(w, (struct kvgpu_gaddr){ KVGPU_SYS_COH, pd.addr }, ~0ull, 512, true);
	guest_check(g);
	guest_reap(g);
	assert_int_equal(g->nr_pinned, 0);
	window_linear(w, 512);
	guest_check(g);
	window_sync(w, pd, ~0ull, 512, true);
	guest_check(g);
	window_linear(w, 512);
	guest_check(g);
	guest_reap(g);
	assert_int_equal(g->nr_pinned, 0);
	window_close(w);
}

/* A window is synced when its directory is named, or has a page that was taken away meanwhile. */
TEST(invalidates_name_a_window)
{
	struct guest *g = guest_new(1, SYS_PAGES);
	u64 syncs;

	put(g, pd, 0, pde_make(none, small_table, 0));
	put(g, small_table, 3, pte_make(KVGPU_SYS_COH, SYS_BASE, 0));
	window_sync(&g->win[0], pd, ~0ull, 512, true);
	window_sync(&g->win[1], pd2, ~0ull, 512, true);
	put(g, small_table, 4, pte_make(KVGPU_VRAM, 0x4000, 0));
	syncs = g->s.stats.syncs;
	guest_invalidate(g, &pd2, true);
	assert_int_equal(g->s.stats.syncs, syncs + 1);
	assert_int_equal(g->win[0].pte[4], g->win[0].pte[5]);
	guest_invalidate(g, &pd, true);
	assert_int_equal(g->s.stats.syncs, syncs + 2);
	assert_int_not_equal(g->win[0].pte[4], g->win[0].pte[5]);
	guest_unmap(g, SYS_BASE, 4096);
	assert_int_equal(g->win[0].pte[3], g->win[0].pte[5]);
	guest_invalidate(g, &pd2, true);
	assert_int_not_equal(g->win[0].pte[3], g->win[0].pte[5]);
	guest_invalidate(g, NULL, true);
	assert_int_equal(g->s.stats.syncs, syncs + 2 + 2 + 2);
	guest_check(g);
}

TEST(refused)
{
	static const u32 sizes[] = { 0, 1, 31, 33, 1u << 20, ~31u };
	struct guest *g = guest_new(1, SYS_PAGES);
	struct kvgpu_win *win[9];
	u64 *pte = malloc(64 * 8);
	u32 i, first, last;

	for (i = 0; i < 9; i++)
		win[i] = calloc(1, kvgpu_shadow_win_size(64));
	for (i = 0; i < 6; i++) {
		assert_int_equal(kvgpu_shadow_win_sync(&g->s, win[0], pd, 0, sizes[i], 0, pte),
				 -EINVAL);
		assert_false(kvgpu_shadow_win_take(win[0], &first, &last));
	}
	for (i = 0; i < 9; i++)
		assert_int_equal(kvgpu_shadow_win_set_linear(&g->s, win[i], 64, 0, pte),
				 i < 8 ? 0 : -ENOSPC);
	assert_int_equal(kvgpu_shadow_win_set_linear(&g->s, win[0], 32, 0, pte), -EINVAL);
	kvgpu_shadow_win_fini(&g->s, win[3]);
	assert_int_equal(kvgpu_shadow_win_set_linear(&g->s, win[8], 64, 0, pte), 0);
	for (i = 0; i < 9; i++) {
		kvgpu_shadow_win_fini(&g->s, win[i]);
		free(win[i]);
	}
	free(pte);
}

TEST_MAIN(NULL, guests_end)
