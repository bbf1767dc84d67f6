// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page-table walk for combinations of an entry's bits and kinds, in both page modes, compared
 * with the oracle.
 */
#include <selftests/unit_test.h>

#include <linux/bitfield.h>

#include <gk110/mmu.h>

#include "mmu/oracle.h"
#include "mmu/walk.h"

/* A word of memory; there is no other memory. */
struct cell {
	int target;
	uint64_t addr, val;
};

#define CELLS 3

struct world {
	struct cell cell[CELLS];
	struct mmu_space space;
	unsigned int big_shift;
};

static bool world_read64(void *ctx, enum mem_target t, uint64_t addr, uint64_t *val)
{
	struct world *w = ctx;
	unsigned int i;

	for (i = 0; i < CELLS; i++) {
		if (w->cell[i].target == (int)t && w->cell[i].addr == addr) {
			*val = w->cell[i].val;
			return true;
		}
	}
	return false;
}

static int world_byte(void *ctx, int target, uint64_t addr)
{
	struct world *w = ctx;
	unsigned int i;

	for (i = 0; i < CELLS; i++)
		if (w->cell[i].target == target && addr - w->cell[i].addr < 8)
			return w->cell[i].val >> (8 * (addr - w->cell[i].addr)) & 0xff;
	return -1;
}

/* The whole walk, as translate.c does it for an address within the limit. */
static bool walk(struct world *w, uint64_t va, struct walk_result *r)
{
	const struct walk_reader rd = { .read64 = world_read64, .ctx = w };

	*r = (struct walk_result){ 0 };
	if (walk_dir(&rd, w->space.pdb, w->space.pdb_target, va, w->big_shift, &r->pde))
		return walk_tables(&rd, va, w->big_shift, r);
	r->reason = MMU_PDE;
	return false;
}

static const char *const acc_name[] = { "read", "write", "atomic" };

static void compare(struct world *w, uint64_t va, enum mmu_access acc, bool priv)
{
	struct oracle_in in = {
		.byte = world_byte,
		.ctx = w,
		.pdb = w->space.pdb,
		.pdb_target = w->space.pdb_target,
		.limit = w->space.limit,
		.va = va,
		.pages_64k = w->big_shift == 16,
		.write = acc != ACC_READ,
		.read = acc != ACC_WRITE,
		.privileged = priv,
	};
	struct oracle_out want = oracle_walk(&in);
	struct walk_result r;
	enum mmu_reason why;
	bool ok = walk(w, va, &r);
	int got = -1;

	if (!ok)
		got = r.reason;
	else if (!walk_access(&r.leaf, acc, priv, &why))
		got = why;
	if (got != want.reason)
		fail_msg(
			"va %llx pde %016llx big %016llx small %016llx %s priv %d mode %u: reason %d, oracle %d",
			(unsigned long long)va, (unsigned long long)w->cell[0].val,
			(unsigned long long)w->cell[1].val, (unsigned long long)w->cell[2].val,
			acc_name[acc], priv, w->big_shift, got, want.reason);
	if (got >= 0)
		return;
	if (r.leaf.phys + (va & ((1ull << r.leaf.shift) - 1)) != want.phys ||
	    1ull << r.leaf.shift != want.page_size || r.leaf.target != want.target ||
	    r.leaf.kind != want.kind || !!(r.leaf.flags & LEAF_VOL) != want.vol ||
	    !!(r.leaf.flags & LEAF_NO_WRITE) == want.writable ||
	    !!(r.leaf.flags & LEAF_NO_READ) == want.readable)
		fail_msg("va %llx big %016llx small %016llx: translations differ",
			 (unsigned long long)va, (unsigned long long)w->cell[1].val,
			 (unsigned long long)w->cell[2].val);
}

#define PDB	    0x1230000ull
#define BIG_TABLE   0x5432000ull
#define SMALL_TABLE 0xa987000ull

/*
 * Puts the entries for @va at their places. The apertures in @pde_bits decide in which memory the
 * tables lie.
 */
static void place(struct world *w, uint64_t va, uint64_t pde_bits, uint64_t big, uint64_t small)
{
	static const int target[] = { -1, MEM_VRAM, MEM_SYS_COH, MEM_SYS_NCOH };
	unsigned int span = w->big_shift + 10;
	uint64_t in_pde = va & ((1ull << span) - 1);
	uint64_t pde = pde_bits | BIG_TABLE >> 8 | SMALL_TABLE << 24;

	w->cell[0] = (struct cell){ w->space.pdb_target, PDB + (va >> span) * 8, pde };
	w->cell[1] = (struct cell){ target[pde_bits & 3], BIG_TABLE + (in_pde >> w->big_shift) * 8,
				    big };
	w->cell[2] = (struct cell){ target[pde_bits >> 32 & 3], SMALL_TABLE + (in_pde >> 12) * 8,
				    small };
}

static struct world world(unsigned int big_shift)
{
	return (struct world){
		.space = { .pdb = PDB,
			   .pdb_target = MEM_VRAM,
			   .limit = (1ull << 40) - 1,
			   .valid = true },
		.big_shift = big_shift,
	};
}

/* addresses on both sides of the ends of full, half, quarter and eighth tables */
static const uint64_t vas[] = {
	0,	    0x12345678, 0x007fffff,   0x00800000,   0x00ffffff,
	0x01000000, 0x01ffffff, 0x02000000,   0x03ffffff,   0x04000000,
	0x07ffffff, 0x08000000, 0x7fffffffff, 0xffffffffff, 0x5555554321,
};
#define NR(a) (sizeof(a) / sizeof((a)[0]))

static const uint64_t some_pte[] = {
	0,
	GMMU_PTE_VALID | 0x0abcde0,
	GMMU_PTE_PRIV,
	GMMU_PTE_VALID | GMMU_PTE_PRIV | 0x0abcdf0,
	GMMU_PTE_VALID | GMMU_PTE_RO | 0xfabcde0,
	GMMU_PTE_VALID | 2ull << 33 | 0xffffffe0,
	GMMU_PTE_VALID | 1ull << 33,
	GMMU_PTE_RO | 0x40,
};

TEST(directory_bits)
{
	unsigned int mode, bits, b, s, v;

	for (mode = 16; mode <= 17; mode++)
		for (bits = 0; bits < 256; bits++)
			for (b = 0; b < NR(some_pte); b++)
				for (s = 0; s < NR(some_pte); s++)
					for (v = 0; v < NR(vas); v++) {
						struct world w = world(mode);

						place(&w, vas[v],
						      (bits & 15) | (uint64_t)(bits >> 4) << 32,
						      some_pte[b], some_pte[s]);
						compare(&w, vas[v], ACC_READ, true);
						compare(&w, vas[v], ACC_WRITE, false);
					}
}

static const uint8_t some_kind[] = { 0x00, 0xfe, 0xff, 0x06, 0xdb, 0x46, 0x3f };

/*
 * combination number @n of valid, priv, ro, encrypted, vol, aperture, lock, read and write disable,
 * tag and kind
 */
#define PTE_PERMS (NR(some_kind) << 11)
static uint64_t pte_perm(unsigned int n)
{
	uint64_t low = n & 15, vol = n >> 4 & 1, ap = n >> 5 & 3, lock = n >> 7 & 1,
		 rd = n >> 8 & 1, wr = n >> 9 & 1;
	uint64_t tag = n >> 10 & 1 ? 0x1ffff : 0, kind = some_kind[n >> 11];

	return low | 0xfedcbaa0 | vol << 32 | ap << 33 | lock << 35 | kind << 36 | tag << 44 |
	       rd << 62 | wr << 63;
}

static const uint64_t some_pde[] = {
	/* aperture bits of both halves of a directory entry */
	1 | 1ull << 32, 1, 1ull << 32, 2 | 3ull << 32, 3 | 2ull << 32, 0,
};

/*
 * All combinations of an entry's bits, with each value of the other entry, and with each directory
 * entry: both_entries() and directory_bits() have more combinations of these two.
 */
static void entry_bits(bool vary_big)
{
	unsigned int mode, n, o, acc, priv;
	const uint64_t va = 0x5551234567;

	for (mode = 16; mode <= 17; mode++)
		for (n = 0; n < PTE_PERMS; n++)
			for (o = 0; o < NR(some_pte); o++) {
				struct world w = world(mode);

				place(&w, va, some_pde[(n + o) % NR(some_pde)],
				      vary_big ? pte_perm(n) : some_pte[o],
				      vary_big ? some_pte[o] : pte_perm(n));
				for (acc = ACC_READ; acc <= ACC_ATOMIC; acc++)
					for (priv = 0; priv < 2; priv++)
						compare(&w, va, acc, priv);
			}
}

TEST(big_entry_bits)
{
	entry_bits(true);
}

TEST(small_entry_bits)
{
	entry_bits(false);
}

/*
 * All combinations of the bits that choose between the big and the small entry, with all rights in
 * both.
 */
TEST(both_entries)
{
	unsigned int mode, b, s, acc, priv;
	const uint64_t va = 0x1fffff8;

	for (mode = 16; mode <= 17; mode++)
		for (b = 0; b < 128; b++)
			for (s = 0; s < 128; s++) {
				struct world w = world(mode);
				uint64_t big = (b & 7) | 0x770 | (uint64_t)(b >> 3 & 3) << 62 |
					       (uint64_t)(b >> 5) << 33;
				uint64_t small = (s & 7) | 0x990 | (uint64_t)(s >> 3 & 3) << 62 |
						 (uint64_t)(s >> 5) << 33;

				place(&w, va, 1 | 1ull << 32, big, small);
				for (acc = ACC_READ; acc <= ACC_ATOMIC; acc++)
					for (priv = 0; priv < 2; priv++)
						compare(&w, va, acc, priv);
			}
}

TEST(all_kinds)
{
	unsigned int kind, ap, big, mode;

	for (mode = 16; mode <= 17; mode++)
		for (kind = 0; kind < 256; kind++)
			for (ap = 0; ap < 4; ap++)
				for (big = 0; big < 2; big++) {
					struct world w = world(mode);
					uint64_t pte = 1 | 0x1230 | (uint64_t)ap << 33 |
						       (uint64_t)kind << 36;

					place(&w, 0x40000, big ? 1 : 1ull << 32, big ? pte : 0,
					      big ? 0 : pte);
					compare(&w, 0x40000, ACC_ATOMIC, false);
				}
	assert_int_equal(kind_plain(0xdb), 0xfe);
	assert_int_equal(kind_plain(0xff), GMMU_KIND_INVALID);
}

TEST(directory_targets)
{
	const enum mem_target t[] = { MEM_VRAM, MEM_PEER, MEM_SYS_COH, MEM_SYS_NCOH };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct world w = world(17);

		w.space.pdb_target = t[i];
		place(&w, 0x1000, 1ull << 32, 0, GMMU_PTE_VALID | 0x550);
		compare(&w, 0x1000, ACC_READ, false);
		w.space.pdb_target = t[(i + 1) % 4]; /* a target in which there is no memory */
		compare(&w, 0x1000, ACC_READ, false);
	}
}

/*
 * A table's address in video memory has 25 bits: the address bits above them in an entry are
 * ignored there, but count in system memory.
 */
TEST(wide_addresses)
{
	const uint64_t top = 7ull << 29 | 7ull << 61;
	unsigned int bits;

	for (bits = 0; bits < 16; bits++) {
		struct world w = world(17);

		place(&w, 0x1000, top | (bits & 3) | (uint64_t)(bits >> 2) << 32, 0,
		      GMMU_PTE_VALID | 0x550);
		compare(&w, 0x1000, ACC_READ, false);
		place(&w, 0x1000, top | (bits & 3) | (uint64_t)(bits >> 2) << 32,
		      GMMU_PTE_VALID | 0x550, 0);
		compare(&w, 0x1000, ACC_READ, false);
	}
}

TEST(says_where_it_failed)
{
	const struct {
		uint64_t pde, big, small;
		enum walk_level level;
		enum mmu_reason why;
	} cases[] = {
		{ 0, 0, 0, WALK_DIR, MMU_PDE },
		{ 0xd, 1, 0, WALK_DIR, MMU_PDE_SIZE },
		{ 1, 0, 0, WALK_BIG, MMU_PTE },
		{ 1 | 1ull << 32, 2, 1, WALK_BIG, MMU_PTE },
		{ 1 | 1ull << 32, 0, 0, WALK_SMALL, MMU_PTE },
		{ 1 | 1ull << 32, 1, 1, WALK_BIG, MMU_BOTH_PTES },
		{ 1ull << 32, 0, 1 | 0xffull << 36, WALK_SMALL, MMU_KIND },
	};
	unsigned int i;

	for (i = 0; i < NR(cases); i++) {
		struct world w = world(17);
		struct walk_result r;

		place(&w, 0x7000000, cases[i].pde, cases[i].big, cases[i].small);
		assert_false(walk(&w, 0x7000000, &r));
		assert_int_equal(r.level, cases[i].level);
		assert_int_equal(r.reason, cases[i].why);
	}
}

TEST_MAIN(NULL, NULL)
