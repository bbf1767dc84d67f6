// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest memory with page tables in it, and their meaning. The walk is written from the documented
 * format, not from gtt-shadow's code. The table of kinds is the GPU model's, for the same reason.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip.h"

uint8_t kind_plain(uint8_t kind);

/*
 * A fuzzer looks for new paths by coverage: count the code under test, not this code, which judges
 * it.
 */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif

_Noreturn void broken(const char *text, const char *file, int line)
{
	fprintf(stderr, "%s:%d: broken: %s\n", file, line, text);
	abort();
}

u32 next_entry(const u64 *table, u32 i, u32 nr)
{
	while (i < nr) {
		if (!(i & 511) && i + 512 <= nr && !memcmp(table + i, zeroes, sizeof(zeroes)))
			i += 512;
		else if (!table[i])
			i++;
		else
			break;
	}
	return i;
}

/* ------------------------------------------------------------------ guest memory */

u64 *guest_word(struct image *im, struct kvgpu_gaddr a)
{
	if (a.addr & 7)
		return NULL;
	if (a.target == KVGPU_VRAM)
		return a.addr < VRAM_SIZE ? (u64 *)(im->vram + a.addr) : NULL;
	if (kvgpu_is_sys(a.target) && a.addr >= SYS_BASE && a.addr - SYS_BASE < SYS_SIZE)
		return (u64 *)(im->sys + (a.addr - SYS_BASE));
	return NULL;
}

bool guest_write(struct guest *g, struct kvgpu_gaddr a, u64 value)
{
	u64 *at = guest_word(&g->now, a);

	if (!at)
		return false;
	*at = value;
	if (a.target == KVGPU_VRAM)
		g->written[a.addr >> 12] = true;
	return true;
}

bool image_readable(struct image *im, struct kvgpu_gaddr a)
{
	if (!guest_word(im, a))
		return false;
	return a.target == KVGPU_VRAM ? !im->bad_vram[a.addr >> 12] :
					!im->bad_sys[(a.addr - SYS_BASE) >> 12];
}

u64 image_word(struct image *im, struct kvgpu_gaddr a)
{
	return image_readable(im, a) ? *guest_word(im, a) : 0;
}

u64 pde_make(struct kvgpu_gaddr big, struct kvgpu_gaddr small, u32 size)
{
	static const u64 code[] = {
		[KVGPU_VRAM] = 1, [KVGPU_PEER] = 0, [KVGPU_SYS_COH] = 2, [KVGPU_SYS_NCOH] = 3
	};

	return code[big.target] | (u64)size << 2 | (big.addr >> 12) << 4 |
	       code[small.target] << 32 | (small.addr >> 12) << 36;
}

u64 pte_make(enum kvgpu_target t, u64 addr, u64 flags)
{
	return 1 | flags | (addr >> 12 & 0xfffffff) << 4 | (u64)t << 33;
}

/*
 * Finds the entries for @va in the two tables of a directory entry; a table that is not there has
 * target KVGPU_PEER. False if @va lies behind the end of the tables.
 */
static bool tables_of(const struct guest *g, u64 pde, u64 va, struct kvgpu_gaddr *big,
		      struct kvgpu_gaddr *small)
{
	static const enum kvgpu_target target[] = { KVGPU_PEER, KVGPU_VRAM, KVGPU_SYS_COH,
						    KVGPU_SYS_NCOH };
	u64 span = 1ull << (BIG_SHIFT + 10), in = va & (span - 1);

	big->target = target[pde & 3];
	small->target = target[pde >> 32 & 3];
	big->addr = (pde >> 4 & 0xfffffff) << 12;
	small->addr = (pde >> 36 & 0xfffffff) << 12;
	if (big->target == KVGPU_VRAM)
		big->addr &= 0x1ffffff000ull;
	if (small->target == KVGPU_VRAM)
		small->addr &= 0x1ffffff000ull;
	big->addr += (in >> BIG_SHIFT) * 8;
	small->addr += (in >> 12) * 8;
	return in < span >> (pde >> 2 & 3);
}

bool guest_entry(struct guest *g, struct kvgpu_gaddr pd, u64 va, bool big, struct kvgpu_gaddr *at)
{
	struct kvgpu_gaddr b, s;
	u64 pde;

	pd.addr += (va >> (BIG_SHIFT + 10)) * 8;
	pde = image_word(&g->now, pd);
	if (!tables_of(g, pde, va, &b, &s))
		return false;
	*at = big ? b : s;
	return guest_word(&g->now, *at) != NULL;
}

/* ------------------------------------------------------------------ the oracle */

/* addresses from here on belong to the host */
#define HOST_VA ((1ull << 40) - (1ull << 20))

/* A table of kind_plain(), because fuzzers come here often. */
static u8 plain(u8 kind)
{
	static u8 table[256];
	static bool filled;
	u32 i;

	for (i = 0; !filled && i < 256; i++)
		table[i] = kind_plain(i);
	filled = true;
	return table[kind];
}

/*
 * Returns the host entry that the guest's entry @e allows, without the address if it is a page of
 * system memory. *sys: index of that page, SYS_PAGES if it is none of the guest's, or -1 if the
 * entry is not for system memory.
 */
static u64 oracle_pte(const struct guest *g, u64 e, u64 page_size, u64 va, int *sys)
{
	u64 frame = e >> 4 & 0xfffffff, out = e & (1ull | 2 | 4 | 1ull << 62 | 1ull << 63);
	u8 kind = e >> 36 & 0xff;
	u32 ap = e >> 33 & 3;
	u64 addr;

	*sys = -1;
	if (plain(kind) == 0xff || ap == 1)
		return 0;
	out |= (u64)plain(kind) << 36 | (u64)ap << 33;
	if (ap == 0) {
		addr = ((frame & 0x1ffffff) << 12 & ~(page_size - 1));
		if (addr + page_size > VRAM_SIZE)
			return 0;
		addr += va & (page_size - 1) & ~4095ull;
		return out | (e & 1ull << 32) | (PART_BASE + addr) >> 12 << 4;
	}
	addr = (frame << 12 & ~(page_size - 1)) + (va & (page_size - 1) & ~4095ull);
	*sys = addr >= SYS_BASE && addr - SYS_BASE < SYS_SIZE ? (int)((addr - SYS_BASE) >> 12) :
								(int)SYS_PAGES;
	return (out & ~(3ull << 33)) | 2ull << 33 | 1ull << 32;
}

u64 oracle(const struct guest *g, struct image *im, u64 pde, u64 va, int *sys)
{
	struct kvgpu_gaddr ba, sa;
	u64 b, s;

	*sys = -1;
	if (va >= HOST_VA || !tables_of(g, pde, va, &ba, &sa))
		return 0;
	b = image_word(im, ba);
	s = image_word(im, sa);
	if (b & 1)
		return s & 1 ? 0 : oracle_pte(g, b, 1ull << BIG_SHIFT, va, sys);
	if (b & 2 || !(s & 1))
		return 0;
	return oracle_pte(g, s, 4096, va, sys);
}

const u64 zeroes[512] = { 0 };

bool guest_quiet(const struct guest *g, struct image *im, u64 pde, u64 va)
{
	struct kvgpu_gaddr ba, sa;
	u32 i, n = 1u << (21 - BIG_SHIFT);

	if (!tables_of(g, pde, va, &ba, &sa))
		return true;
	for (i = 0; i < n; i++, ba.addr += 8)
		if (image_word(im, ba))
			return false;
	return !image_readable(im, sa) || !memcmp(guest_word(im, sa), zeroes, 4096);
}

struct hw_table *table_at(struct guest *g, u64 addr)
{
	struct hw_table *t;

	for (t = g->tables; t; t = t->next)
		if (t->addr == addr)
			return t;
	return NULL;
}

struct hw_table *small_of(struct guest *g, u64 pde)
{
	return pde >> 32 & 3 ? table_at(g, (pde >> 36 & 0x1ffffff) << 12) : NULL;
}

struct hw_table *big_of(struct guest *g, u64 pde)
{
	return pde & 3 ? table_at(g, (pde >> 4 & 0x1ffffff) << 12) : NULL;
}

u64 gpu_walk(const struct hw_table *bt, const struct hw_table *st, u32 page)
{
	u64 b = bt ? bt->hw[page >> 5] : 0, s = st ? st->hw[page] : 0;

	if (b & 1) {
		PROMISE(!(s & 1), "big and small entry valid at the same page");
		return b + ((u64)(page & 31) << 4);
	}
	return b & 2 || !(s & 1) ? 0 : s;
}

u64 gpu_sees(struct space *sp, u64 va)
{
	struct hw_table *dir = table_at(sp->g, kvgpu_shadow_as_pd_get(sp->as));
	u64 pde = dir->hw[va >> 27];

	return gpu_walk(big_of(sp->g, pde), small_of(sp->g, pde), va >> 12 & 0x7fff);
}

#ifdef __clang__
#pragma clang attribute pop
#endif
