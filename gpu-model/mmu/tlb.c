// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-client TLB: direct-mapped lines for small pages, big pages and directory entries, tagged with
 * the page directory and its target. A driver that forgets an invalidate sees the old translation,
 * as on the card.
 *
 * Concurrency. Lookups and fills run with dma_lock held for reading, invalidates with it held for
 * writing, so an invalidate excludes them, and waits for accesses that still use an old pointer. A
 * client that several threads use (BAR windows) can have two fills of one line at once; so each
 * line has a sequence number, which is odd while the line is written. A reader that sees the number
 * change takes the line for a miss; a second writer drops its fill.
 */
#include <linux/bitfield.h>

#include <gk110/mmu.h>

#include "tlb.h"

/* line tags */
#define TAG_USED   BIT_ULL(63)
#define TAG_PDB	   GENMASK_ULL(57, 30) /* >> 12 */
#define TAG_TARGET GENMASK_ULL(29, 28)
#define TAG_PAGE   GENMASK_ULL(27, 0)

/* fields of a page line's data */
#define DATA_PHYS   GENMASK_ULL(27, 0) /* >> 12 */
#define DATA_TARGET GENMASK_ULL(29, 28)
#define DATA_KIND   GENMASK_ULL(37, 30)
#define DATA_FLAGS  GENMASK_ULL(41, 38)

static inline uint64_t line_tag(const struct mmu_space *s, uint64_t page)
{
	return TAG_USED | FIELD_PREP(TAG_PDB, s->pdb >> 12) |
	       FIELD_PREP(TAG_TARGET, s->pdb_target) | page;
}

static inline unsigned int line_index(uint64_t tag, unsigned int lines)
{
	return (tag ^ (tag >> 9) ^ (tag >> 30) ^ (tag >> 39)) & (lines - 1);
}

static inline bool line_get(const struct tlb_line *l, uint64_t tag, uint64_t *data)
{
	uint32_t seq = atomic_load_explicit(&l->seq, memory_order_acquire);

	if (atomic_load_explicit(&l->tag, memory_order_acquire) != tag || (seq & 1))
		return false;
	*data = atomic_load_explicit(&l->data, memory_order_acquire);
	return atomic_load_explicit(&l->seq, memory_order_relaxed) == seq;
}

static void line_put(struct tlb_line *l, uint64_t tag, uint64_t data)
{
	uint32_t seq = atomic_load_explicit(&l->seq, memory_order_relaxed);

	if ((seq & 1) || !atomic_compare_exchange_strong(&l->seq, &seq, seq + 1))
		return;
	atomic_store_explicit(&l->tag, tag, memory_order_release);
	atomic_store_explicit(&l->data, data, memory_order_release);
	atomic_store_explicit(&l->seq, seq + 2, memory_order_release);
}

static void count_hit(struct tlb *t)
{
	uint32_t hits = atomic_load_explicit(&t->hits, memory_order_relaxed) + 1;

	/* one update of the shared counter for 256 hits keeps a hit cheap */
	if (hits >= 256) {
		stat_add(t->g, tlb_hits, hits);
		hits = 0;
	}
	atomic_store_explicit(&t->hits, hits, memory_order_relaxed);
}

bool tlb_lookup(struct tlb *t, const struct mmu_space *s, uint64_t va, unsigned int big_shift,
		struct walk_leaf *leaf)
{
	uint64_t tag = line_tag(s, va >> GMMU_SMALL_SHIFT), data;

	leaf->shift = GMMU_SMALL_SHIFT;
	if (!line_get(&t->small[line_index(tag, TLB_SMALL)], tag, &data)) {
		tag = line_tag(s, va >> big_shift);
		leaf->shift = big_shift;
		if (!line_get(&t->big[line_index(tag, TLB_BIG)], tag, &data))
			return false;
	}
	count_hit(t);
	leaf->phys = FIELD_GET(DATA_PHYS, data) << 12;
	leaf->target = FIELD_GET(DATA_TARGET, data);
	leaf->kind = FIELD_GET(DATA_KIND, data);
	leaf->flags = FIELD_GET(DATA_FLAGS, data);
	return true;
}

void tlb_fill(struct tlb *t, const struct mmu_space *s, uint64_t va, const struct walk_leaf *leaf)
{
	uint64_t tag = line_tag(s, va >> leaf->shift);
	uint64_t data = FIELD_PREP(DATA_PHYS, leaf->phys >> 12) |
			FIELD_PREP(DATA_TARGET, leaf->target) | FIELD_PREP(DATA_KIND, leaf->kind) |
			FIELD_PREP(DATA_FLAGS, leaf->flags);

	if (leaf->shift == GMMU_SMALL_SHIFT)
		line_put(&t->small[line_index(tag, TLB_SMALL)], tag, data);
	else
		line_put(&t->big[line_index(tag, TLB_BIG)], tag, data);
}

bool tlb_dir_lookup(struct tlb *t, const struct mmu_space *s, uint64_t index, uint64_t *pde)
{
	uint64_t tag = line_tag(s, index);

	return line_get(&t->dir[line_index(tag, TLB_DIR)], tag, pde);
}

void tlb_dir_fill(struct tlb *t, const struct mmu_space *s, uint64_t index, uint64_t pde)
{
	uint64_t tag = line_tag(s, index);

	line_put(&t->dir[line_index(tag, TLB_DIR)], tag, pde);
}

static bool same_pdb(uint64_t tag, const struct tlb_match *m)
{
	return m->all_pdb || (FIELD_GET(TAG_PDB, tag) == m->pdb >> 12 &&
			      (FIELD_GET(TAG_TARGET, tag) == MEM_VRAM) == m->pdb_vram);
}

static void lines_clear(struct tlb_line *l, unsigned int n, const struct tlb_match *m,
			unsigned int shift)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint64_t tag = atomic_load_explicit(&l[i].tag, memory_order_relaxed);

		if (tag && same_pdb(tag, m) &&
		    (m->all_va || FIELD_GET(TAG_PAGE, tag) == m->va >> shift))
			line_put(&l[i], 0, 0);
	}
}

void tlb_invalidate(struct tlb *t, const struct tlb_match *m, unsigned int big_shift)
{
	lines_clear(t->small, TLB_SMALL, m, GMMU_SMALL_SHIFT);
	lines_clear(t->big, TLB_BIG, m, big_shift);
	/* open: an invalidate of one page leaves cached directory entries alone */
	if (m->all_va)
		lines_clear(t->dir, TLB_DIR, m, 0);
}

void tlb_clear(struct tlb *t)
{
	tlb_invalidate(t, &(struct tlb_match){ .all_pdb = true, .all_va = true },
		       GMMU_BIG_SHIFT_128K);
}
