// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that the host puts into a guest's address space: graphics context images, each with its
 * patch list, page pool and bundle buffer (mdev/machine/grctx.c). FECS (it switches graphics
 * contexts) obeys the images and lists, and units of GR (the graphics engine) obey the bundles: a
 * guest must not be able to write these pages. Pure: the caller serialises calls for one vGPU.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <gk110/mmu.h>

#include "internal.h"

/* The part of a range of pages that is inside one slot (128 MiB: internal.h). */
struct part {
	struct kvgpu_as *as;
	/* .slot: index of the slot. .first: the part's first page, counted from the slot's start */
	u32 slot, first, nr;
	/* address in the card's video memory of the first page */
	u64 host;
};

static bool next_part(struct part *p, u64 *page, u32 *left)
{
	if (!*left)
		return false;
	p->slot = *page >> SLOT_SHIFT;
	p->first = *page & (SLOT_PAGES - 1);
	p->host += (u64)p->nr * PAGE_BYTES;
	p->nr = min(*left, SLOT_PAGES - p->first);
	*page += p->nr;
	*left -= p->nr;
	return true;
}

static int prepare_part(const struct part *p)
{
	struct kvgpu_slot *slot = vgtt_slot_get(p->as, p->slot);
	u32 i, page;

	if (!slot || vgtt_slot_small_make(slot))
		return -ENOMEM;
	for (i = 0; i < p->nr; i++) {
		page = p->first + i;
		if (slot->ext.subst[page >> BIG_SHIFT] & BIT(page & (PAGES_PER_BIG - 1)))
			return -EBUSY;
	}
	return 0;
}

/*
 * Marks the pages of a part as substituted if @on, else removes the marks. Then brings other
 * entries of the same big pages up to date: a big page with a
 * mark can't have a big entry, and a page without a mark gets the guest's translation back.
 */
static void apply_part(const struct part *p, bool on)
{
	struct kvgpu_slot *slot = p->as->slot[p->slot];
	struct kvgpu_ext *e = &slot->ext;
	u32 todo[BIG_PER_TPAGE], i, page, bit, *word, tpage = INDEX_NONE;
	int err = 0;

	for (i = 0; i < p->nr; i++) {
		page = p->first + i;
		if (page >> TPAGE_SHIFT != tpage) {
			if (tpage != INDEX_NONE)
				vgtt_ext_tpage_eval(e, tpage, todo, &err);
			tpage = page >> TPAGE_SHIFT;
			memset(todo, 0, sizeof(todo));
		}
		word = &e->subst[page >> BIG_SHIFT];
		bit = BIT(page & (PAGES_PER_BIG - 1));
		if (!(*word & bit) != on)
			continue;
		*word ^= bit;
		e->nr_subst += on ? 1 : -1;
		todo[(page & (PAGES_PER_TPAGE - 1)) >> BIG_SHIFT] |= bit;
	}
	vgtt_ext_tpage_eval(e, tpage, todo, &err);
}

static void install_part(const struct part *p)
{
	struct kvgpu_ext *e = &p->as->slot[p->slot]->ext;
	u64 frame = p->host >> GMMU_ADDR_SHIFT;
	u32 i;

	for (i = 0; i < p->nr; i++) {
		vgtt_rmap_remove(e, p->first + i);
		vgtt_ext_small_set(e, p->first + i,
				   GMMU_PTE_VALID | GMMU_PTE_PRIV |
					   FIELD_PREP(GMMU_PTE_ADDR, frame + i));
	}
	vgtt_run_write(e->s);
}

static bool range_in_space(u64 va, u32 nr)
{
	return !(va & (PAGE_BYTES - 1)) && nr && va < BIT_ULL(GMMU_VA_BITS) &&
	       (u64)nr * PAGE_BYTES <= BIT_ULL(GMMU_VA_BITS) - va;
}

int kvgpu_shadow_as_subst(struct kvgpu_as *as, u64 va, u32 nr, hvram_t base)
{
	struct part p = { .as = as };
	u64 page = va >> GMMU_ADDR_SHIFT;
	u32 left = nr;
	int err;

	if (!range_in_space(va, nr) || base.v & (PAGE_BYTES - 1))
		return -EINVAL;
	vgtt_failures_forget(as->s);
	while (next_part(&p, &page, &left)) {
		err = prepare_part(&p);
		if (err)
			return err; /* the next sync frees tables that were made in vain */
	}
	p = (struct part){ .as = as, .host = base.v };
	page = va >> GMMU_ADDR_SHIFT;
	left = nr;
	while (next_part(&p, &page, &left)) {
		apply_part(&p, true);
		install_part(&p);
	}
	return 0;
}

void kvgpu_shadow_as_unsubst(struct kvgpu_as *as, u64 va, u32 nr)
{
	struct part p = { .as = as };
	u64 page = va >> GMMU_ADDR_SHIFT;
	u32 left = nr;

	if (!range_in_space(va, nr))
		return;
	vgtt_failures_forget(as->s);
	while (next_part(&p, &page, &left)) {
		if (!as->slot[p.slot] || !as->slot[p.slot]->ext.nr_subst)
			continue;
		apply_part(&p, false);
		vgtt_slot_trim(as->slot[p.slot]);
	}
}
