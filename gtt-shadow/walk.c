// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a guest's tables. A directory entry can name two page tables for the same range of
 * addresses: one of big pages and one of small pages. The translation of a small page is then:
 * - if only the big table's entry is valid: that of the big entry;
 * - if both entries are valid: none, because the chip faults;
 * - if the big entry is not valid, but has PRIV: none;
 * - else: that of the small table's entry, or none if that entry is not valid.
 * Sources: include/gk110/mmu.h, nvkm vmmgk104.c for PRIV in an invalid big entry. Pure: the caller
 * serialises calls for one vGPU.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <gk110/mmu.h>

#include "internal.h"

static const enum kvgpu_target pde_target[] = {
	[GMMU_PDE_APERTURE_NONE] = KVGPU_PEER,
	[GMMU_PDE_APERTURE_VRAM] = KVGPU_VRAM,
	[GMMU_PDE_APERTURE_SYS_COH] = KVGPU_SYS_COH,
	[GMMU_PDE_APERTURE_SYS_NCOH] = KVGPU_SYS_NCOH,
};

static struct kvgpu_gaddr table_at(u32 aperture, u64 frame)
{
	struct kvgpu_gaddr a = { .target = pde_target[aperture] };

	if (!aperture)
		return a;
	if (a.target == KVGPU_VRAM)
		frame = FIELD_GET(GMMU_ADDR_VID, frame);
	a.addr = frame << GMMU_ADDR_SHIFT;
	return a;
}

void vgtt_pde_decode(u64 pde, struct kvgpu_pde *out)
{
	u32 big = FIELD_GET(GMMU_PDE_BIG_APERTURE, pde);
	u32 small = FIELD_GET(GMMU_PDE_SMALL_APERTURE, pde);
	u32 shorter = FIELD_GET(GMMU_PDE_SIZE, pde);

	out->big = table_at(big, FIELD_GET(GMMU_PDE_BIG_ADDR, pde));
	out->small = table_at(small, FIELD_GET(GMMU_PDE_SMALL_ADDR, pde));
	out->nr_big = big ? BIT(GMMU_BIG_PTES_SHIFT) >> shorter : 0;
	out->nr_small = small ? SLOT_PAGES >> shorter : 0;
}

/*
 * Reads page @page of a guest table of @nr entries into s->pool->page. Entries behind the table's
 * end become 0. Returns false, and all entries are 0, if it can't be read.
 */
bool vgtt_table_fetch(struct kvgpu_shadow *s, struct kvgpu_gaddr table, u32 nr, u32 page)
{
	u64 *buf = s->pool->page;
	u32 first = page * PAGE_ENTRIES;
	u32 n = nr > first ? min_t(u32, nr - first, PAGE_ENTRIES) : 0;
	struct kvgpu_gaddr at = { table.target, table.addr + (u64)page * PAGE_BYTES };
	u64 len = (u64)n * 8;

	memset(buf + n, 0, PAGE_BYTES - len);
	if (!n)
		return true;
	if (!kvgpu_target_ok(at.target) ||
	    (at.target == KVGPU_VRAM &&
	     (len > s->cfg.part_size || at.addr > s->cfg.part_size - len)) ||
	    s->ops->read(s->ctx, at, buf, len)) {
		memset(buf, 0, len);
		return false;
	}
	s->stats.tables_read++;
	s->stats.bytes_read += len;
	return true;
}

static bool same_addr(struct kvgpu_gaddr a, struct kvgpu_gaddr b)
{
	return a.target == b.target && a.addr == b.addr;
}

void vgtt_table_forget(struct kvgpu_shadow *s, struct kvgpu_gaddr table, u32 nr)
{
	if (nr)
		s->ops->forget(s->ctx, table, DIV_ROUND_UP(nr, PAGE_ENTRIES));
}

/* Makes @g name the guest tables of @d. Returns false if it names them already. */
bool vgtt_gpde_set(struct kvgpu_shadow *s, struct kvgpu_gpde *g, const struct kvgpu_pde *d)
{
	bool big = !same_addr(g->big, d->big) || g->nr_big != d->nr_big;
	bool small = !same_addr(g->small, d->small) || g->nr_small != d->nr_small;

	if (big)
		vgtt_table_forget(s, g->big, g->nr_big);
	if (small)
		vgtt_table_forget(s, g->small, g->nr_small);
	if (big)
		g->stale_big = ~(u32)0;
	if (small)
		g->stale_small = ~(u64)0;
	g->big = d->big;
	g->nr_big = d->nr_big;
	g->small = d->small;
	g->nr_small = d->nr_small;
	return big || small;
}

/* Returns the guest's translation of a page as a small gpte; 0: none. */
u64 vgtt_ext_gpte_find(const struct kvgpu_ext *e, u32 page)
{
	u64 big = e->gpte_big ? e->gpte_big[page >> BIG_SHIFT] : 0;
	u64 small = e->gpte_small ? e->gpte_small[page] : 0;

	if (page >= e->limit)
		return 0;
	if (!(big & GMMU_PTE_VALID))
		return (big & GMMU_PTE_PRIV) || !(small & GMMU_PTE_VALID) ? 0 : small;
	if ((small & GMMU_PTE_VALID) || !vgtt_pte_big_usable(&e->s->cfg, big))
		return 0;
	return vgtt_pte_piece_get(big, page & (PAGES_PER_BIG - 1));
}

/* Returns the end, in small pages, of the small or big guest page that holds @page. */
static u32 page_end(const struct kvgpu_ext *e, u32 page)
{
	if (e->gpte_big && (e->gpte_big[page >> BIG_SHIFT] & GMMU_PTE_VALID))
		return ((page >> BIG_SHIFT) + 1) << BIG_SHIFT;
	return page + 1;
}

int kvgpu_shadow_as_walk(struct kvgpu_as *as, u64 va, struct kvgpu_gaddr *out, u32 *contiguous)
{
	const struct kvgpu_shadow_cfg *cfg = &as->s->cfg;
	u32 page = (va >> GMMU_ADDR_SHIFT) & (SLOT_PAGES - 1), off = va & (PAGE_BYTES - 1);
	struct kvgpu_slot *slot;
	u64 want, end;

	if (va >> GMMU_VA_BITS)
		return -EFAULT;
	slot = as->slot[va >> (GMMU_ADDR_SHIFT + SLOT_SHIFT)];
	want = slot ? vgtt_ext_gpte_find(&slot->ext, page) : 0;
	if (!want || !vgtt_pte_kind_ok(want))
		return -EFAULT;
	out->target = FIELD_GET(GMMU_PTE_APERTURE, want);
	out->addr = FIELD_GET(GMMU_PTE_ADDR, want);
	if (!kvgpu_target_ok(out->target))
		return -EFAULT;
	if (out->target == KVGPU_VRAM)
		out->addr = FIELD_GET(GMMU_ADDR_VID, out->addr);
	out->addr = (out->addr << GMMU_ADDR_SHIFT) + off;
	/*
	 * with a small table, a valid small entry could end the contiguous stretch of a big page:
	 * promise one small page
	 */
	end = slot->ext.gpte_small ? page + 1 : page_end(&slot->ext, page);
	*contiguous = (u32)(end - page) * PAGE_BYTES - off;
	if (out->target == KVGPU_VRAM &&
	    (*contiguous > cfg->part_size || out->addr > cfg->part_size - *contiguous))
		return -EFAULT;
	return 0;
}
