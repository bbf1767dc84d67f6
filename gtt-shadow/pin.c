// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinned guest pages: a hash from IOVA to pin, and for each pin the list (the reverse map) of the
 * hptes that point to it. A page is pinned once for all its entries. Without an entry it stays
 * pinned until kvgpu_shadow_reap(), because the GPU may still have a translation to it in its TLB
 * (S2 of docs/invariants.md). Until then a new entry can use the pin again. Pure: the caller
 * serialises calls for one vGPU.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <gk110/mmu.h>

#include "internal.h"

#define PFN_MAX ((u64)FIELD_MAX(GMMU_PTE_ADDR))

static u32 nr_pins(const struct kvgpu_shadow_cfg *cfg)
{
	return min_t(u64, cfg->max_pinned, PFN_MAX + 1);
}

static u32 bucket_bits(u32 pins)
{
	u32 bits = 4;

	while (bits < 28 && BIT(bits) < pins)
		bits++;
	return bits;
}

size_t vgtt_pins_size(const struct kvgpu_shadow_cfg *cfg)
{
	u32 n = nr_pins(cfg);

	return (size_t)n * sizeof(struct kvgpu_pin) + (sizeof(u32) << bucket_bits(n));
}

/* @mem: zeroed memory of vgtt_pins_size() bytes. An empty bucket is INDEX_NONE, all ones. */
void vgtt_pins_init(struct kvgpu_shadow *s, void *mem)
{
	struct kvgpu_pool *p = s->pool;

	p->nr_pins = nr_pins(&s->cfg);
	p->pin = mem;
	p->bucket = (u32 *)(p->pin + p->nr_pins);
	p->bucket_bits = bucket_bits(p->nr_pins);
	memset(p->bucket, 0xff, sizeof(u32) << p->bucket_bits);
	p->free_pin = INDEX_NONE;
	p->drop = INDEX_NONE;
}

/* The factor is random, so that a guest can't choose pages that fall into one bucket. */
static u32 *bucket_of(const struct kvgpu_shadow *s, u32 pfn)
{
	u64 h = (u64)pfn * (s->cfg.seed | 1);

	h *= 0x9e3779b97f4a7c15ull;
	return &s->pool->bucket[h >> (64 - s->pool->bucket_bits)];
}

u32 vgtt_pin_find(struct kvgpu_shadow *s, u32 pfn)
{
	struct kvgpu_pin *pin = s->pool->pin;
	u32 i;

	for (i = *bucket_of(s, pfn); i != INDEX_NONE; i = pin[i].hash_next)
		if (pin[i].pfn == pfn)
			return i;
	return INDEX_NONE;
}

static u32 pins_left(const struct kvgpu_shadow *s)
{
	return s->pool->nr_pins - (u32)s->stats.pinned;
}

static void pin_drop(struct kvgpu_shadow *s, u32 i)
{
	struct kvgpu_pool *p = s->pool;

	if (p->pin[i].dropped)
		return;
	p->pin[i].dropped = 1;
	p->pin[i].drop_next = p->drop;
	p->drop = i;
}

/*
 * Adds a pin for a pinned page. It is on the drop list at first, in case no entry is linked to it.
 */
static void pin_add(struct kvgpu_shadow *s, u32 pfn, u64 dma)
{
	struct kvgpu_pool *p = s->pool;
	u32 *bucket = bucket_of(s, pfn), i = p->free_pin;

	if (i == INDEX_NONE)
		i = p->pins_used++;
	else
		p->free_pin = p->pin[i].hash_next;
	p->pin[i] = (struct kvgpu_pin){
		.dma = dma,
		.pfn = pfn,
		.rmap_head = INDEX_NONE,
		.hash_next = *bucket,
		.used = 1,
	};
	*bucket = i;
	s->stats.pinned++;
	s->stats.pins++;
	pin_drop(s, i);
}

/*
 * Pins the pages iova[0..nr). ops->pin() pins all pages of a call or none, so a call after a
 * failure has half as many pages, down to a single page, which is skipped. For a page that was not
 * pinned, vgtt_pin_find() finds no pin.
 */
static void pin_batch(struct kvgpu_shadow *s, u32 nr)
{
	struct kvgpu_pool *p = s->pool;
	u32 at = 0, step = nr, n, i;

	while (at < nr && pins_left(s) && p->failures < PIN_FAILURES_MAX) {
		n = min3(step, nr - at, pins_left(s));
		if (!s->ops->pin(s->ctx, p->iova + at, n, p->dma)) {
			for (i = 0; i < n; i++)
				pin_add(s, p->iova[at + i].v >> GMMU_ADDR_SHIFT, p->dma[i]);
			at += n;
			step = n * 2;
			continue;
		}
		p->failures++;
		if (n == 1)
			at++;
		else
			step = n / 2;
	}
}

/*
 * Pins the pages that the pending ptes need, neighbouring ones with consecutive pages in one
 * batch.
 */
void vgtt_pins_get(struct kvgpu_shadow *s)
{
	struct kvgpu_pool *p = s->pool;
	u32 i, nr = 0, next = 0, pfn;

	for (i = 0; i < p->nr_pending; i++) {
		if (!p->pending[i].gpte || !vgtt_pte_is_sys(p->pending[i].gpte) ||
		    !vgtt_pte_kind_ok(p->pending[i].gpte))
			continue;
		pfn = FIELD_GET(GMMU_PTE_ADDR, p->pending[i].gpte);
		if (nr && (pfn != next || nr == PIN_BATCH)) {
			pin_batch(s, nr);
			nr = 0;
		}
		if (vgtt_pin_find(s, pfn) != INDEX_NONE)
			continue;
		p->iova[nr++].v = (u64)pfn << GMMU_ADDR_SHIFT;
		next = pfn + 1;
	}
	if (nr)
		pin_batch(s, nr);
}

/* Returns the pin of a page, which is pinned if it is not yet; INDEX_NONE: it can't be pinned. */
u32 vgtt_pin_get(struct kvgpu_shadow *s, u32 pfn)
{
	u32 i = vgtt_pin_find(s, pfn);

	if (i != INDEX_NONE)
		return i;
	s->pool->iova[0].v = (u64)pfn << GMMU_ADDR_SHIFT;
	pin_batch(s, 1);
	return vgtt_pin_find(s, pfn);
}

/* ------------------------------------------------------ link hptes to pins, and find them again */

static struct kvgpu_ext *ext_of(const struct kvgpu_pool *p, u32 rmap)
{
	u32 h = rmap >> RMAP_PAGE_BITS;

	return h < p->nr_slots ? &p->slot[h].ext : p->win[h - p->nr_slots];
}

static struct kvgpu_rmap *rmap_at(const struct kvgpu_pool *p, u32 rmap)
{
	return &ext_of(p, rmap)->rmap[rmap & (BIT(RMAP_PAGE_BITS) - 1)];
}

void vgtt_rmap_remove(struct kvgpu_ext *e, u32 page)
{
	struct kvgpu_pool *p = e->s->pool;
	struct kvgpu_rmap *l = &e->rmap[page];
	struct kvgpu_pin *pin;

	if (!l->pin)
		return;
	pin = &p->pin[l->pin - 1];
	if (l->prev == INDEX_NONE)
		pin->rmap_head = l->next;
	else
		rmap_at(p, l->prev)->next = l->next;
	if (l->next != INDEX_NONE)
		rmap_at(p, l->next)->prev = l->prev;
	if (!--pin->refs)
		pin_drop(e->s, l->pin - 1);
	l->pin = 0;
	e->nr_rmaps--;
}

void vgtt_rmap_add(struct kvgpu_ext *e, u32 page, u32 pin)
{
	struct kvgpu_pool *p = e->s->pool;
	struct kvgpu_rmap *l = &e->rmap[page];
	u32 me = e->id << RMAP_PAGE_BITS | page;

	if (l->pin == pin + 1)
		return;
	vgtt_rmap_remove(e, page);
	*l = (struct kvgpu_rmap){ .pin = pin + 1,
				  .next = p->pin[pin].rmap_head,
				  .prev = INDEX_NONE };
	if (l->next != INDEX_NONE)
		rmap_at(p, l->next)->prev = me;
	p->pin[pin].rmap_head = me;
	p->pin[pin].refs++;
	e->nr_rmaps++;
}

void vgtt_ext_rmaps_remove(struct kvgpu_ext *e)
{
	u32 page;

	for (page = 0; page < e->pages && e->nr_rmaps; page++)
		vgtt_rmap_remove(e, page);
}

/* ---------------------------------------------- remove the hptes that point to a range of IOVAs */

static void pin_rmaps_zap(struct kvgpu_shadow *s, u32 i, bool *changed)
{
	struct kvgpu_pool *p = s->pool;
	struct kvgpu_pin *pin = &p->pin[i];
	struct kvgpu_ext *e;
	u32 page;

	/*
	 * on the drop list: an entry may have been removed since the last invalidate, and the TLB
	 * may still have a translation to the page
	 */
	if (pin->dropped)
		*changed = true;
	while (pin->rmap_head != INDEX_NONE) {
		e = ext_of(p, pin->rmap_head);
		page = pin->rmap_head & (BIT(RMAP_PAGE_BITS) - 1);
		vgtt_rmap_remove(e, page);
		vgtt_ext_small_set(e, page, 0);
		e->gpde[page / SLOT_PAGES].retry |= BIT_ULL(page % SLOT_PAGES >> TPAGE_SHIFT);
		*e->again = true;
		*changed = true;
	}
}

/*
 * Writes the removed entries to the GPU's page tables; those of windows are only noted, and the
 * caller writes them. If .changed of a space is set, clears it and sets *@changed in its place: the
 * caller then invalidates the TLB for all spaces.
 */
static void settle_spaces(struct kvgpu_shadow *s, bool *changed)
{
	struct kvgpu_as *as;

	vgtt_run_write(s);
	list_for_each_entry(as, &s->spaces, node) {
		*changed |= as->changed;
		as->changed = false;
	}
}

void kvgpu_shadow_unmap(struct kvgpu_shadow *s, iova_t iova, u64 len, bool *changed)
{
	u64 first = iova.v >> GMMU_ADDR_SHIFT, last = (iova.v + len - 1) >> GMMU_ADDR_SHIFT, pfn;
	struct kvgpu_pool *p = s->pool;
	u32 i;

	*changed = false;
	if (!len || first > PFN_MAX)
		return;
	if (iova.v + len - 1 < iova.v || last > PFN_MAX)
		last = PFN_MAX;
	if (last - first < p->pins_used) {
		for (pfn = first; pfn <= last; pfn++) {
			i = vgtt_pin_find(s, pfn);
			if (i != INDEX_NONE)
				pin_rmaps_zap(s, i, changed);
		}
	} else {
		for (i = 0; i < p->pins_used; i++)
			if (p->pin[i].used && p->pin[i].pfn >= first && p->pin[i].pfn <= last)
				pin_rmaps_zap(s, i, changed);
	}
	settle_spaces(s, changed);
}

/* ------------------------------ unpin the pages of dropped pins, after the TLB was invalidated */

/* Consecutive pages that one call of ops->unpin() will unpin. */
struct unpins {
	u64 first; /* IOVA >> 12 of the first page */
	u32 nr;
};

static void unpins_flush(struct kvgpu_shadow *s, struct unpins *u)
{
	if (u->nr)
		s->ops->unpin(s->ctx, (iova_t){ u->first << GMMU_ADDR_SHIFT }, u->nr);
	u->nr = 0;
}

static void unpin_add(struct kvgpu_shadow *s, struct unpins *u, u64 pfn)
{
	bool before = pfn + 1 == u->first;

	if (u->nr == PIN_BATCH || (!before && pfn != u->first + u->nr))
		unpins_flush(s, u);
	if (!u->nr || before)
		u->first = pfn;
	u->nr++;
}

static u64 pin_free(struct kvgpu_shadow *s, u32 i)
{
	struct kvgpu_pool *p = s->pool;
	struct kvgpu_pin *pin = &p->pin[i];
	u32 *at = bucket_of(s, pin->pfn);

	while (*at != i)
		at = &p->pin[*at].hash_next;
	*at = pin->hash_next;
	pin->used = 0;
	pin->hash_next = p->free_pin;
	p->free_pin = i;
	s->stats.pinned--;
	s->stats.unpins++;
	return pin->pfn;
}

void kvgpu_shadow_reap(struct kvgpu_shadow *s)
{
	struct kvgpu_pool *p = s->pool;
	struct unpins u = { .nr = 0 };
	struct kvgpu_tbl *t, *n;
	u32 i;

	while (p->drop != INDEX_NONE) {
		i = p->drop;
		p->drop = p->pin[i].drop_next;
		p->pin[i].dropped = 0;
		if (!p->pin[i].refs)
			unpin_add(s, &u, pin_free(s, i));
	}
	unpins_flush(s, &u);
	list_for_each_entry_safe(t, n, &p->dead_tbls, node) {
		s->ops->table_free(s->ctx, &t->t);
		list_move(&t->node, &p->free_tbls);
		s->nr_tables--;
	}
}
