// SPDX-License-Identifier: GPL-2.0-only
/* The pins of a guest's pages: when they are made, kept and removed. */
#include <selftests/unit_test.h>

#include "guest.h"

static const struct kvgpu_gaddr none = { KVGPU_PEER, 0 };
static const struct kvgpu_gaddr pd = { KVGPU_VRAM, 0x10000 };
static const struct kvgpu_gaddr table = { KVGPU_VRAM, 0x40000 }; /* 256 KiB */

static void pte(struct guest *g, u32 page, u64 value)
{
	struct kvgpu_gaddr at = table;

	at.addr += page * 8;
	assert_true(guest_write(g, at, value));
}

static u64 sys(u32 page)
{
	return pte_make(KVGPU_SYS_NCOH, SYS_BASE + page * 4096ull, 0);
}

static struct guest *with_table(u64 max_pinned)
{
	struct guest *g = guest_new(8, max_pinned);

	assert_int_equal(space_open(g, 0, pd), 0);
	guest_write(g, pd, pde_make(none, table, 0));
	return g;
}

static void sync_and_check(struct guest *g)
{
	assert_int_equal(space_sync(&g->space[0], true), 0);
	guest_check(g);
	guest_reap(g);
	guest_check(g);
}

TEST(contiguous_pages_go_together)
{
	struct guest *g = with_table(SYS_PAGES);
	u32 i;

	for (i = 0; i < 100; i++)
		pte(g, 7 + i, sys(20 + i));
	sync_and_check(g);
	assert_int_equal(g->pin_calls, 1);
	assert_int_equal(g->max_batch, 100);
	assert_int_equal(g->nr_pinned, 100);
	/* the same pages in reverse order: all are pinned already, so there is no pin call */
	for (i = 0; i < 100; i++)
		pte(g, 7 + i, sys(119 - i));
	sync_and_check(g);
	assert_int_equal(g->pin_calls, 1);
}

TEST(at_most_512)
{
	struct guest *g = with_table(2000);
	u32 i;

	/* none of these pages can be pinned: only the size of the batches matters */
	for (i = 0; i < 1500; i++)
		pte(g, i, pte_make(KVGPU_SYS_COH, 0x1000000ull + i * 4096ull, 0));
	sync_and_check(g);
	assert_in_range(g->max_batch, 256, 512);
	assert_int_equal(g->nr_pinned, 0);
}

TEST(one_bad_page)
{
	struct guest *g = with_table(SYS_PAGES);
	u64 rejected;
	u32 i, calls;

	for (i = 0; i < 128; i++)
		pte(g, i, sys(i));
	g->unpinnable[77] = true;
	sync_and_check(g);
	assert_int_equal(g->nr_pinned, 127);
	assert_int_equal(gpu_sees(&g->space[0], 77 << 12), 0);
	assert_int_not_equal(gpu_sees(&g->space[0], 78 << 12), 0);
	assert_in_range(g->pin_calls, 2, 32);
	rejected = g->s.stats.rejected;
	assert_int_equal(rejected, 1);
	calls = g->pin_calls;
	sync_and_check(g); /* the next sync tries that page again, and no other */
	assert_int_equal(g->pin_calls, calls + 1);
	assert_int_equal(g->s.stats.rejected, rejected + 1);
	g->unpinnable[77] = false;
	sync_and_check(g);
	assert_int_not_equal(gpu_sees(&g->space[0], 77 << 12), 0);
	calls = g->pin_calls;
	sync_and_check(g); /* once it is pinned, there are no further tries */
	assert_int_equal(g->pin_calls, calls);
}

TEST(host_out_of_memory)
{
	struct guest *g = with_table(SYS_PAGES);
	u32 i;

	for (i = 0; i < 64; i++)
		pte(g, i, sys(i));
	g->fail_pins = 1000000;
	sync_and_check(g);
	assert_int_equal(g->nr_pinned, 0);
	assert_in_range(g->pin_calls, 1, 4096);
	g->fail_pins = 0;
	sync_and_check(g);
	assert_int_equal(g->nr_pinned, 64);
}

TEST(failures_are_bounded)
{
	struct guest *g = with_table(SYS_PAGES);
	u32 i;

	for (i = 0; i < 32768; i++)
		pte(g, i, pte_make(KVGPU_SYS_COH, 0x1000000ull + i * 8192ull, 0));
	sync_and_check(g);
	assert_in_range(g->pin_calls, 1, 4096);
}

TEST(the_limit)
{
	struct guest *g = with_table(10);
	u32 i;

	for (i = 0; i < 30; i++)
		pte(g, i, sys(i));
	sync_and_check(g);
	assert_int_equal(g->nr_pinned, 10);
	for (i = 0; i < 5; i++)
		pte(g, i, 0);
	/* a pin without an entry counts for the limit until it is reaped */
	sync_and_check(g);
	sync_and_check(g);
	assert_int_equal(g->nr_pinned, 10);
	guest_free(g);
	g = with_table(10); /* pages that can't be pinned take nothing of the limit */
	for (i = 0; i < 30; i++)
		pte(g, i, sys(i));
	memset(g->unpinnable, 1, 20);
	sync_and_check(g);
	assert_int_equal(g->nr_pinned, 10);
	guest_free(g);
	g = with_table(0);
	pte(g, 0, sys(0));
	sync_and_check(g);
	assert_int_equal(g->pin_calls, 0);
}

TEST(one_page_everywhere)
{
	struct guest *g = with_table(SYS_PAGES);
	u32 i;

	for (i = 0; i < 32768; i++)
		pte(g, i, sys(3));
	sync_and_check(g);
	assert_int_equal(g->pin_calls, 1);
	assert_int_equal(g->nr_pinned, 1);
	for (i = 0; i < 32768; i += 2)
		pte(g, i, 0);
	sync_and_check(g);
	assert_int_equal(g->nr_pinned, 1);
	guest_unmap(g, SYS_BASE + 0x3000, 0x1000);
	guest_check(g);
	assert_int_equal(g->nr_pinned, 0);
}

/*
 * Neighbouring pages are unpinned by one call, in either order of their entries; pages with a gap
 * between them by two.
 */
TEST(unpinned_together)
{
	static const struct {
		u32 first, nr, skip, calls;
	} cases[] = {
		{ 0, 1, ~0u, 1 },
		{ 3, 100, ~0u, 1 },
		{ 3, 100, 40, 2 },
		{ 0, SYS_PAGES, ~0u, 1 },
	};
	struct guest *g;
	u32 i, j, way;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (way = 0; way < 2; way++) {
			g = with_table(SYS_PAGES);
			for (j = 0; j < cases[i].nr; j++)
				if (j != cases[i].skip)
					pte(g, way ? cases[i].nr - 1 - j : j,
					    sys(cases[i].first + j));
			sync_and_check(g);
			for (j = 0; j < cases[i].nr; j++)
				pte(g, j, 0);
			sync_and_check(g);
			assert_int_equal(g->nr_pinned, 0);
			assert_int_equal(g->unpin_calls, cases[i].calls);
			guest_free(g);
		}
	}
}

/*
 * Makes a guest with a page whose entry is gone. The sync has reported that change, and the pin
 * waits for the flush.
 */
static struct guest *with_one_that_waits(void)
{
	struct guest *g = with_table(SYS_PAGES);
	bool changed;

	pte(g, 0, sys(0));
	sync_and_check(g);
	pte(g, 0, 0);
	assert_int_equal(kvgpu_shadow_as_sync(g->space[0].as, &changed), 0);
	assert_true(changed);
	assert_int_equal(g->nr_pinned, 1);
	return g;
}

TEST(unpinned_only_by_the_reaper)
{
	struct guest *g = with_one_that_waits();

	/*
	 * an entry for the page comes back before the flush: the page is not pinned a second time
	 */
	pte(g, 0, sys(0));
	space_sync(&g->space[0], false);
	assert_int_equal(g->pin_calls, 1);
	guest_reap(g);
	assert_int_equal(g->nr_pinned, 1);
	guest_check(g);
}

/*
 * A pinned page has no entry any more, and no TLB flush has come since. An unmap of that page must
 * ask for the flush.
 */
TEST(a_pin_that_waits_needs_a_flush)
{
	struct guest *g = with_one_that_waits();
	bool changed;

	kvgpu_shadow_unmap(&g->s, (iova_t){ SYS_BASE }, 4096, &changed);
	assert_true(changed);
	g->space[0].pending = changed;
	guest_reap(g);
	assert_int_equal(g->nr_pinned, 0);
	/* when the pin is gone, an unmap asks for no flush */
	kvgpu_shadow_unmap(&g->s, (iova_t){ SYS_BASE }, 4096, &changed);
	assert_false(changed);
}

/*
 * A space that was changed by another call (here a substitution) needs a flush. The next call
 * reports that; later calls do not.
 */
TEST(what_changed_before_is_told)
{
	struct guest *g = with_table(SYS_PAGES);
	u32 way;
	bool changed;

	sync_and_check(g);
	for (way = 0; way < 2; way++) {
		assert_int_equal(kvgpu_shadow_as_subst(g->space[0].as, 0x10000, 4,
						       (hvram_t){ SUBST_BASE }),
				 0);
		if (way)
			kvgpu_shadow_unmap(&g->s, (iova_t){ 0 }, ~0ull, &changed);
		else
			kvgpu_shadow_unmap(&g->s, (iova_t){ SYS_BASE + 0x5000 }, 0x1000, &changed);
		assert_true(changed);
		assert_int_equal(kvgpu_shadow_as_sync(g->space[0].as, &changed), 0);
		assert_false(changed);
		kvgpu_shadow_as_unsubst(g->space[0].as, 0x10000, 4);
		assert_int_equal(kvgpu_shadow_as_sync(g->space[0].as, &changed), 0);
		assert_true(changed);
	}
}

/* Ops for memory without an end, to make more pins than one call may have. */
static u32 unpinned, most_unpinned;

static int pin_any(void *ctx, const iova_t *iova, u32 nr, u64 *dma)
{
	u32 i;

	for (i = 0; i < nr; i++)
		dma[i] = iova[i].v + 0x100000000ull;
	return 0;
}

static void unpin_any(void *ctx, iova_t iova, u32 nr)
{
	unpinned += nr;
	most_unpinned = nr > most_unpinned ? nr : most_unpinned;
}

/* chip.c's op would refuse these entries, because it knows only the guest's own pages */
static void write_nowhere(void *ctx, struct kvgpu_table *t, u32 first, u32 nr)
{
}

TEST(at_most_512_are_let_go)
{
	struct guest *g = with_table(2000);
	const struct kvgpu_shadow_ops *chip = g->s.ops;
	struct kvgpu_shadow_ops any = *chip;
	u32 way, i;
	bool changed;

	any.pin = pin_any;
	any.unpin = unpin_any;
	any.table_write = write_nowhere;
	g->s.ops = &any;
	for (way = 0; way < 2; way++) {
		unpinned = most_unpinned = 0;
		/* entries in the order of their pages, and in reverse order */
		for (i = 0; i < 1500; i++)
			pte(g, way ? 1499 - i : i,
			    pte_make(KVGPU_SYS_COH, 0x1000000ull + i * 4096ull, 0));
		assert_int_equal(kvgpu_shadow_as_sync(g->space[0].as, &changed), 0);
		assert_int_equal(g->s.stats.pinned, 1500);
		for (i = 0; i < 1500; i++)
			pte(g, i, 0);
		assert_int_equal(kvgpu_shadow_as_sync(g->space[0].as, &changed), 0);
		kvgpu_shadow_reap(&g->s);
		assert_int_equal(unpinned, 1500);
		assert_int_equal(most_unpinned, 512);
	}
	g->s.ops = chip;
}

TEST(unmap_ranges)
{
	static const struct {
		u64 iova, len;
		u32 left;
	} cases[] = {
		{ SYS_BASE, 0, 64 },
		{ SYS_BASE + 0x40000, 0x1000, 64 },
		{ SYS_BASE - 0x1000, 0x1000, 64 },
		{ SYS_BASE, 0x1000, 63 },
		{ SYS_BASE + 0xfff, 2, 62 },
		{ SYS_BASE + 0x3f000, ~0ull - SYS_BASE, 63 },
		{ 0, ~0ull, 0 },
		{ SYS_BASE + 0x1000, ~0ull, 1 },
		{ 0, SYS_BASE + 0x2000, 62 },
		{ 1ull << 40, ~0ull >> 1, 64 },
	};
	struct guest *g;
	u32 i, j;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		g = with_table(SYS_PAGES);
		for (j = 0; j < 64; j++)
			pte(g, j, sys(j));
		sync_and_check(g);
		guest_unmap(g, cases[i].iova, cases[i].len);
		guest_check(g);
		assert_int_equal(g->nr_pinned, cases[i].left);
		/* the guest's tables still name the pages, so a sync pins them again */
		sync_and_check(g);
		assert_int_equal(g->nr_pinned, 64);
		guest_unmap_all(g);
		assert_int_equal(g->nr_pinned, 0);
		guest_check(g);
		guest_free(g);
	}
}

TEST(unmap_writes_in_runs)
{
	struct guest *g = with_table(SYS_PAGES);
	u32 j, writes;

	for (j = 0; j < 128; j++)
		pte(g, j, sys(j));
	sync_and_check(g);
	writes = g->writes;
	guest_unmap(g, SYS_BASE, SYS_SIZE);
	assert_int_equal(g->writes, writes + 1);
}

TEST_MAIN(NULL, guests_end)
