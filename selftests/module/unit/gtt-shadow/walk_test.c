// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directory entries in many forms, with both sizes of big pages. space_walk() compares the host's
 * own walk of the guest's tables, as they were at the last sync, with the oracle in oracle.c.
 * guest_check() compares the entries that the GPU would use.
 */
#include <selftests/unit_test.h>

#include "guest.h"

static const struct kvgpu_gaddr none = { KVGPU_PEER, 0 };
static const struct kvgpu_gaddr pd = { KVGPU_VRAM, 0x10000 };
static const struct kvgpu_gaddr big_table = { KVGPU_VRAM, 0x40000 };
static const struct kvgpu_gaddr small_table = { KVGPU_SYS_COH, SYS_BASE + 0x20000 };

static struct kvgpu_gaddr plus(struct kvgpu_gaddr a, u64 n)
{
	a.addr += n;
	return a;
}

/* Walks at addresses near ends of pages and tables, and compares each result with the oracle. */
static void everywhere(struct guest *g)
{
	static const u64 vas[] = { 0,	      0x1000,	 0x10000,	  0x1f000,
				   0x20000,   0x40000,	 0x3ff000,	  0x400000,
				   0x7ff000,  0x800000,	 0xfff000,	  0x1000000,
				   0x1fff000, 0x2000000, 0x3fff000,	  0x4000000,
				   0x7fff000, 0x8000000, 0xfffffff000ull, 0x10000000000ull,
				   ~0xfffull };
	struct kvgpu_gaddr out;
	u32 i, len;

	for (i = 0; i < sizeof(vas) / sizeof(vas[0]); i++) {
		space_walk(&g->space[0], vas[i], &out, &len);
		space_walk(&g->space[0], vas[i] + 0x128, &out, &len);
	}
	guest_check(g);
}

TEST(directory_forms)
{
	u32 form, i;
	struct guest *g;

	g = guest_new(8, SYS_PAGES);
	assert_int_equal(space_open(g, 0, pd), 0);
	for (i = 0; i < 1024; i++) /* most entries of the tables are valid */
		guest_write(g, plus(big_table, i * 8),
			    i % 3 ? pte_make(KVGPU_VRAM, i * 0x20000 % VRAM_SIZE, 0) : 0);
	for (i = 0; i < 8192; i++)
		guest_write(g, plus(small_table, i * 8),
			    i % 5 ? pte_make(KVGPU_SYS_COH, SYS_BASE + i % 128 * 4096, 4) : 0);
	for (form = 0; form < 4 * 4 * 4; form++) {
		/*
		 * All values of both apertures and of the size field. A wrong aperture
		 * leads to other memory.
		 */
		guest_write(g, pd,
			    (form & 3) | (form >> 2 & 3) << 2 | (big_table.addr >> 12) << 4 |
				    (u64)(form >> 4 & 3) << 32 | (small_table.addr >> 12) << 36);
		space_sync(&g->space[0], form & 1);
		everywhere(g);
	}
}

TEST(both_decide)
{
	static const u64 big[] = { 0,
				   2,
				   1,
				   3,
				   1 | 0x100000ull >> 12 << 4,
				   1 | 1ull << 33,
				   1 | 2ull << 33,
				   1 | 0xffull << 36,
				   1 | 0xdbull << 36 };
	static const u64 small[] = {
		0, 2, 1, 1 | 2ull << 33, 1 | 1ull << 33, 1 | 3ull << 33, 1 | 0xffull << 36
	};
	u32 b, s, i;
	struct guest *g;

	g = guest_new(8, SYS_PAGES);
	assert_int_equal(space_open(g, 0, pd), 0);
	guest_write(g, pd, pde_make(big_table, small_table, 3));
	for (b = 0; b < sizeof(big) / 8; b++)
		for (s = 0; s < sizeof(small) / 8; s++) {
			for (i = 0; i < 4; i++) {
				u64 at = big[b] >> 33 & 2 ? SYS_BASE >> 12 << 4 : 0;

				guest_write(g, plus(big_table, i * 8), big[b] | at);
				at = small[s] >> 33 & 2 ? (SYS_BASE + 0x5000) >> 12 << 4 : 0;
				/*
				 * big entries 0 to 3, small entries of page 0 and of pages
				 * 32 to 34
				 */
				guest_write(g, plus(small_table, (i ? 31 + i : 0) * 8),
					    small[s] | at);
			}
			space_sync(&g->space[0], true);
			everywhere(g);
			guest_reap(g);
		}
}

TEST(nothing_to_walk)
{
	struct guest *g = guest_new(8, SYS_PAGES);
	struct kvgpu_gaddr out;
	u32 len;

	assert_int_equal(space_open(g, 0, pd), 0);
	assert_int_not_equal(kvgpu_shadow_as_walk(g->space[0].as, 0, &out, &len), 0);
	assert_int_not_equal(kvgpu_shadow_as_walk(g->space[0].as, 1ull << 40, &out, &len), 0);
	assert_int_not_equal(kvgpu_shadow_as_walk(g->space[0].as, ~0ull, &out, &len), 0);
}

TEST(to_the_end_of_a_big_page)
{
	struct guest *g = guest_new(8, SYS_PAGES);
	struct kvgpu_gaddr out;
	u32 len;

	assert_int_equal(space_open(g, 0, pd), 0);
	guest_write(g, pd, pde_make(big_table, none, 0));
	guest_write(g, plus(big_table, 8), pte_make(KVGPU_VRAM, 0x80000, 0));
	space_sync(&g->space[0], true);
	assert_int_equal(space_walk(&g->space[0], 0x21234, &out, &len), 0);
	assert_int_equal(out.addr, 0x81234);
	assert_int_equal(len, 0x20000 - 0x1234);
}

TEST_MAIN(NULL, guests_end)
