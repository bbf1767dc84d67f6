// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two-level walk of the GMMU. A directory entry names two tables for the same range, one of big and
 * one of small pages. The big page's entry, if valid, is the translation; if invalid with PRIV, it
 * ends the walk; otherwise the small page's entry decides. If both entries are valid, that is a
 * fault (BOTH_PTES).
 *
 * Sources: docs of the entry bits in include/gk110/mmu.h; the meaning of an invalid big entry with
 * PRIV from nvkm vmmgk104.c; fault reasons from nvkm fifo/gk104.c and rnndb gf100_vm.xml. Open, and
 * chosen by the model:
 *  - a directory or table at an address without memory: reason PDE;
 *  - low address bits of a big page's entry are ignored (the page is aligned to its size);
 *  - order of checks when an entry breaks several rules: aperture, kind, compression in system
 *    memory, privilege, then read-only or write-only;
 *  - RO and WRITE_DISABLE both forbid writing, READ_DISABLE forbids reading, an atomic needs both
 *    rights;
 *  - ENCRYPTED and LOCK have no effect.
 */
#include <linux/bitfield.h>

#include <gk110/mmu.h>

#include "walk.h"

static bool fail(struct walk_result *r, enum walk_level level, enum mmu_reason why)
{
	r->ok = false;
	r->level = level;
	r->reason = why;
	return false;
}

/* Address of a table or page. Addresses in video memory have fewer bits than the field. */
static uint64_t entry_addr(uint64_t field, bool vram)
{
	return (vram ? field & GMMU_ADDR_VID : field) << GMMU_ADDR_SHIFT;
}

static bool pte_leaf(uint64_t pte, enum walk_level level, unsigned int shift, struct walk_result *r)
{
	enum mem_target t = FIELD_GET(GMMU_PTE_APERTURE, pte);
	uint8_t kind = FIELD_GET(GMMU_PTE_KIND, pte);
	uint8_t plain = kind_plain(kind);
	struct walk_leaf *leaf = &r->leaf;

	if (t == MEM_PEER) /* this card has no peer memory */
		return fail(r, level, MMU_APERTURE);
	if (plain == GMMU_KIND_INVALID)
		return fail(r, level, MMU_KIND);
	if (plain != kind && t != MEM_VRAM) /* rnndb calls this reason COMPRESSED_SYSRAM */
		return fail(r, level, MMU_APERTURE);
	r->ok = true;
	r->level = level;
	leaf->phys = entry_addr(FIELD_GET(GMMU_PTE_ADDR, pte), t == MEM_VRAM) &
		     ~((1ull << shift) - 1);
	leaf->shift = shift;
	leaf->target = t;
	leaf->kind = plain;
	leaf->flags = (pte & GMMU_PTE_PRIV ? LEAF_PRIV : 0) | (pte & GMMU_PTE_VOL ? LEAF_VOL : 0) |
		      (pte & GMMU_PTE_READ_DISABLE ? LEAF_NO_READ : 0) |
		      (pte & (GMMU_PTE_RO | GMMU_PTE_WRITE_DISABLE) ? LEAF_NO_WRITE : 0);
	return true;
}

static bool read_pte(const struct walk_reader *rd, unsigned int aperture, uint64_t addr,
		     uint64_t index, uint64_t *pte)
{
	static const enum mem_target target[] = {
		[GMMU_PDE_APERTURE_VRAM] = MEM_VRAM,
		[GMMU_PDE_APERTURE_SYS_COH] = MEM_SYS_COH,
		[GMMU_PDE_APERTURE_SYS_NCOH] = MEM_SYS_NCOH,
	};
	uint64_t table = entry_addr(addr, aperture == GMMU_PDE_APERTURE_VRAM);

	return rd->read64(rd->ctx, target[aperture], table + index * GMMU_ENTRY_SIZE, pte);
}

bool walk_dir(const struct walk_reader *rd, uint64_t pdb, enum mem_target t, uint64_t va,
	      unsigned int big_shift, uint64_t *pde)
{
	uint64_t index = va >> (big_shift + GMMU_BIG_PTES_SHIFT);

	return rd->read64(rd->ctx, t, pdb + index * GMMU_ENTRY_SIZE, pde);
}

bool walk_tables(const struct walk_reader *rd, uint64_t va, unsigned int big_shift,
		 struct walk_result *r)
{
	unsigned int big_ap = FIELD_GET(GMMU_PDE_BIG_APERTURE, r->pde);
	unsigned int small_ap = FIELD_GET(GMMU_PDE_SMALL_APERTURE, r->pde);
	unsigned int span_shift = big_shift + GMMU_BIG_PTES_SHIFT;
	uint64_t in_pde = va & ((1ull << span_shift) - 1);

	r->big = r->small = 0;
	if (!big_ap && !small_ap)
		return fail(r, WALK_DIR, MMU_PDE);
	if (in_pde >> (span_shift - FIELD_GET(GMMU_PDE_SIZE, r->pde)))
		return fail(r, WALK_DIR, MMU_PDE_SIZE);
	if (big_ap && !read_pte(rd, big_ap, FIELD_GET(GMMU_PDE_BIG_ADDR, r->pde),
				in_pde >> big_shift, &r->big))
		return fail(r, WALK_DIR, MMU_PDE);
	if (small_ap && !read_pte(rd, small_ap, FIELD_GET(GMMU_PDE_SMALL_ADDR, r->pde),
				  in_pde >> GMMU_SMALL_SHIFT, &r->small))
		return fail(r, WALK_DIR, MMU_PDE);

	if (r->big & GMMU_PTE_VALID) {
		if (r->small & GMMU_PTE_VALID)
			return fail(r, WALK_BIG, MMU_BOTH_PTES);
		return pte_leaf(r->big, WALK_BIG, big_shift, r);
	}
	if (r->big & GMMU_PTE_PRIV)
		return fail(r, WALK_BIG, MMU_PTE);
	if (r->small & GMMU_PTE_VALID)
		return pte_leaf(r->small, WALK_SMALL, GMMU_SMALL_SHIFT, r);
	return fail(r, small_ap ? WALK_SMALL : WALK_BIG, MMU_PTE);
}

bool walk_access(const struct walk_leaf *leaf, enum mmu_access acc, bool priv, enum mmu_reason *why)
{
	if ((leaf->flags & LEAF_PRIV) && !priv) {
		*why = MMU_PRIV;
		return false;
	}
	if ((leaf->flags & LEAF_NO_WRITE) && acc != ACC_READ) {
		*why = MMU_RO;
		return false;
	}
	if ((leaf->flags & LEAF_NO_READ) && acc != ACC_WRITE) {
		*why = MMU_WO;
		return false;
	}
	return true;
}
