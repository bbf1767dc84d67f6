// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sync: makes the host's tables from the guest's tables (internal.h defines extent, gpde, big
 * page, table page, dirty, substitute). First, the guest's tables that may have changed are
 * compared with the copy of their last contents, which gives the *marked* pages: small pages whose
 * hptes have to be computed again. Then, table page by table page, guest memory is pinned and the
 * entries of marked pages are written. Pure: the caller serialises calls for one vGPU.
 *
 * The host has a valid big entry where the guest's big page can be installed whole: in video
 * memory, 128 KiB, without a valid small entry beside it, and without a substituted page in it.
 * Other big pages become small entries (walk.c). Big entries are removed first and written last, so
 * that a big page has no valid big and small entry at the same time.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <gk110/mmu.h>

#include "internal.h"

/* feed_starved_slots() stops after this many failures */
#define STARVED_TRIES 16

/* -------------------------------------------- compute, pin and write the hptes of marked pages */

static bool any_small_valid(const struct kvgpu_ext *e, u32 big_page)
{
	const u64 *small = e->gpte_small ? e->gpte_small + big_page * PAGES_PER_BIG : NULL;
	u64 all = 0;
	u32 i;

	if (!small)
		return false;
	for (i = 0; i < PAGES_PER_BIG; i++)
		all |= small[i];
	return all & GMMU_PTE_VALID;
}

/*
 * Returns the big entry that the host should have for a big page: valid; PRIV without VALID, by
 * which the chip ignores the small entries; or 0, by which it uses them.
 */
static u64 want_big(const struct kvgpu_ext *e, u32 big_page)
{
	u64 big = e->gpte_big ? e->gpte_big[big_page] : 0, out;
	bool rejected;

	if ((e->subst && e->subst[big_page]) || big_page * PAGES_PER_BIG >= e->limit)
		return 0;
	if (!(big & GMMU_PTE_VALID))
		return big & GMMU_PTE_PRIV;
	if (vgtt_pte_is_sys(big) || any_small_valid(e, big_page))
		return 0;
	out = vgtt_pte_transform(&e->s->cfg, big, true, 0, &rejected);
	e->s->stats.rejected += rejected;
	return out;
}

static bool big_page_is_blank(const struct kvgpu_ext *e, u32 big_page)
{
	const u64 *at = e->hpte_small + big_page * PAGES_PER_BIG;
	u64 other = 0;
	u32 i;

	if (!e->nr_live)
		return true;
	for (i = 0; i < PAGES_PER_BIG; i++)
		other |= at[i] ^ e->blank;
	return !other;
}

/*
 * Collects pending ptes: for pages in @mask that are not substituted, the guest's entry that the
 * small hpte is made from. @hidden: the chip ignores the big page's small entries, and they become
 * e->blank, without a translation. Returns false if the next sync has to do it, because this one
 * makes no more small tables.
 */
static bool pending_collect(struct kvgpu_ext *e, u32 big_page, u32 mask, bool hidden)
{
	struct kvgpu_pool *p = e->s->pool;
	u32 subst = e->subst ? e->subst[big_page] : 0, i, page;
	u64 gpte;

	if (hidden && big_page_is_blank(e, big_page))
		return true;
	if (vgtt_small_given_up(e))
		return !e->gpte_big || !(e->gpte_big[big_page] & GMMU_PTE_VALID);
	for (i = 0; i < PAGES_PER_BIG; i++) {
		if (!(mask & ~subst & BIT(i)))
			continue;
		page = big_page * PAGES_PER_BIG + i;
		gpte = hidden ? 0 : vgtt_ext_gpte_find(e, page);
		if (gpte || (e->hpte_small && e->hpte_small[page] != e->blank))
			p->pending[p->nr_pending++] = (struct kvgpu_pending_pte){ page, gpte };
	}
	return true;
}

/*
 * Computes and writes one small hpte, and links it to its pin. Returns false if its page was
 * not pinned and the next sync has to try again.
 */
static bool pending_install(struct kvgpu_ext *e, const struct kvgpu_pending_pte *it)
{
	struct kvgpu_shadow *s = e->s;
	bool sys = it->gpte && vgtt_pte_is_sys(it->gpte), rejected = false, again = false;
	u32 pin = INDEX_NONE;
	u64 pte = 0;

	if (sys)
		pin = vgtt_pin_find(s, FIELD_GET(GMMU_PTE_ADDR, it->gpte));
	if (sys && pin == INDEX_NONE) {
		rejected = true;
		again = vgtt_pte_kind_ok(it->gpte);
	} else {
		pte = vgtt_pte_transform(&s->cfg, it->gpte, false, sys ? s->pool->pin[pin].dma : 0,
					 &rejected);
	}
	s->stats.rejected += rejected;
	if (e->win)
		pte = vgtt_pte_rights_drop(pte);
	if (pte && sys)
		vgtt_rmap_add(e, it->page, pin);
	else
		vgtt_rmap_remove(e, it->page);
	vgtt_ext_small_set(e, it->page, pte);
	return !again;
}

/*
 * Tells whether a small table, which the slot lacks, would have a translation for any of the
 * pending ptes. Pins pages one by one until it finds such a pte, so that a single page is pinned in
 * vain if there is no memory for the table. *@again: the next sync has to try again.
 */
static bool small_is_needed(struct kvgpu_shadow *s, bool *again)
{
	struct kvgpu_pool *p = s->pool;
	bool rejected;
	u64 gpte, dma;
	u32 i, pin;

	for (i = 0; i < p->nr_pending; i++) {
		gpte = p->pending[i].gpte;
		dma = 0;
		if (vgtt_pte_is_sys(gpte)) {
			if (!vgtt_pte_kind_ok(gpte))
				continue;
			pin = vgtt_pin_get(s, FIELD_GET(GMMU_PTE_ADDR, gpte));
			*again |= pin == INDEX_NONE;
			if (pin == INDEX_NONE)
				continue;
			dma = p->pin[pin].dma;
		}
		if (vgtt_pte_transform(&s->cfg, gpte, false, dma, &rejected))
			return true;
	}
	s->stats.rejected += p->nr_pending;
	p->vain_tpages++;
	return false;
}

/*
 * Installs the pending ptes. Returns false if the next sync has to try again. *@err: -ENOMEM if
 * the small table could not be made, or no more of them are tried.
 */
static bool pending_install_all(struct kvgpu_ext *e, int *err)
{
	struct kvgpu_pool *p = e->s->pool;
	bool ok = true, again = false;
	u32 i;

	if (!e->hpte_small) {
		if (!p->nr_pending)
			return true;
		if (!small_is_needed(e->s, &again)) {
			if (vgtt_small_given_up(e))
				*err = -ENOMEM;
			return !again;
		}
		if (vgtt_slot_small_make(e->slot)) {
			e->s->stats.rejected += p->nr_pending;
			*err = -ENOMEM;
			return false;
		}
	}
	vgtt_pins_get(e->s);
	for (i = 0; i < p->nr_pending; i++)
		ok &= pending_install(e, &p->pending[i]);
	return ok;
}

/*
 * Computes and writes the hptes of the marked pages of @tpage. @todo: a word for each big page
 * of the table page, with a bit for each marked page. *@err: set to -ENOMEM if a table can't be
 * made.
 */
void vgtt_ext_tpage_eval(struct kvgpu_ext *e, u32 tpage, const u32 *todo, int *err)
{
	u32 first = tpage * BIG_PER_TPAGE,
	    n = min_t(u32, BIG_PER_TPAGE, e->pages / PAGES_PER_BIG - first), i, mask;
	struct kvgpu_pool *p = e->s->pool;
	u64 big[BIG_PER_TPAGE];
	bool all = true;

	p->nr_pending = 0;
	for (i = 0; i < n; i++) {
		mask = todo[i];
		if (!mask)
			continue;
		if (e->hpte_big) {
			big[i] = want_big(e, first + i);
			if ((big[i] ^ e->hpte_big[first + i]) & (GMMU_PTE_VALID | GMMU_PTE_PRIV))
				mask = ~(u32)0;
			if (!(big[i] & GMMU_PTE_VALID))
				vgtt_ext_big_set(e, first + i, big[i]);
		}
		all &= pending_collect(e, first + i, mask,
				       e->hpte_big && (big[i] & (GMMU_PTE_VALID | GMMU_PTE_PRIV)));
	}
	vgtt_run_write(e->s);
	if (!pending_install_all(e, err) || !all)
		e->gpde[first * PAGES_PER_BIG / SLOT_PAGES].retry |=
			BIT_ULL((first * PAGES_PER_BIG % SLOT_PAGES) >> TPAGE_SHIFT);
	vgtt_run_write(e->s);
	for (i = 0; e->hpte_big && i < n; i++)
		if (todo[i])
			vgtt_ext_big_set(e, first + i, big[i]);
	vgtt_run_write(e->s);
}

/* ------------------------------------ compare the guest's tables with their copies, mark pages */

/* Makes pages of the table stale that are in @pages: bit i stands for the page i behind @at. */
static void table_make_stale(struct kvgpu_gaddr table, u32 nr, u64 *stale, struct kvgpu_gaddr at,
			     u64 pages)
{
	u64 ahead = (at.addr - table.addr) >> GMMU_ADDR_SHIFT;
	u64 behind = (table.addr - at.addr) >> GMMU_ADDR_SHIFT;

	if (!nr || table.target != at.target || (ahead >= 64 && behind >= 64))
		return;
	pages = ahead < 64 ? pages << ahead : pages >> behind;
	*stale |= pages & GENMASK_ULL(DIV_ROUND_UP(nr, PAGE_ENTRIES) - 1, 0);
}

static void gpde_make_stale(struct kvgpu_gpde *g, struct kvgpu_gaddr at, u64 pages)
{
	table_make_stale(g->small, g->nr_small, &g->stale_small, at, pages);
	table_make_stale(g->big, g->nr_big, &g->stale_big, at, pages);
}

/* Makes pages that were written stale for the tables of all spaces and windows. */
static void pages_make_stale(struct kvgpu_shadow *s, struct kvgpu_gaddr at, u64 pages)
{
	struct kvgpu_slot *slot;
	struct kvgpu_ext *e;
	struct kvgpu_as *as;
	u32 i, k;

	list_for_each_entry(as, &s->spaces, node) {
		table_make_stale(as->pd, DIR_SLOTS, &as->stale, at, pages);
		list_for_each_entry(slot, &as->slots, node)
			gpde_make_stale(&slot->gpde, at, pages);
	}
	for (i = 0; i < WINDOWS_MAX; i++) {
		e = s->pool->win[i];
		if (!e)
			continue;
		table_make_stale(e->win->pd, e->nr_gpdes, &e->win->stale, at, pages);
		for (k = 0; k < e->nr_gpdes; k++)
			gpde_make_stale(&e->gpde[k], at, pages);
	}
}

/*
 * Returns a bit for each page of a guest's table of @nr entries that has to be read: the stale and
 * the dirty ones. Clears *@stale; the caller sets it again for pages that can't be read. Asks even
 * if all pages are stale: else the next sync would be told of writes that this one reads.
 */
u64 vgtt_pages_due(struct kvgpu_shadow *s, struct kvgpu_gaddr table, u32 nr, u64 *stale)
{
	u64 dirty = 0, due;

	if (nr)
		dirty = s->ops->take_dirty(s->ctx, table, DIV_ROUND_UP(nr, PAGE_ENTRIES));
	if (dirty && table.target == KVGPU_VRAM)
		pages_make_stale(s, table, dirty);
	due = *stale | dirty;
	*stale = 0;
	return due;
}

/* Tells whether a page of the table is stale or dirty. */
bool vgtt_table_is_behind(const struct kvgpu_shadow *s, struct kvgpu_gaddr table, u32 nr, u64 stale)
{
	return nr && (stale || s->ops->is_dirty(s->ctx, table, DIV_ROUND_UP(nr, PAGE_ENTRIES)));
}

/* Tells whether vgtt_ext_gpde_sync() would read a table, or try something again. */
bool vgtt_ext_gpde_is_behind(const struct kvgpu_ext *e, u32 index)
{
	const struct kvgpu_gpde *g = &e->gpde[index];
	u32 pages = min_t(u32, SLOT_PAGES, e->pages - index * SLOT_PAGES);

	return g->retry ||
	       (e->gpte_small &&
		vgtt_table_is_behind(e->s, g->small, min(g->nr_small, pages), g->stale_small)) ||
	       (e->gpte_big &&
		vgtt_table_is_behind(e->s, g->big, min(g->nr_big, pages >> BIG_SHIFT),
				     g->stale_big));
}

struct scan {
	struct kvgpu_ext *e;
	u32 first; /* first small page of the gpde */
	/* small pages of the gpde, without those behind a window's end */
	u32 pages;
	u64 tpages; /* table pages with marked pages */
};

/* @page counts from the first page of the gpde */
static void mark_pages(struct scan *sc, u32 page, u32 n)
{
	u32 *todo = sc->e->s->pool->todo;

	if (n == PAGES_PER_BIG)
		todo[page >> BIG_SHIFT] = ~(u32)0;
	else
		todo[page >> BIG_SHIFT] |= (u32)(BIT_ULL(n) - 1) << (page & (PAGES_PER_BIG - 1));
	sc->tpages |= BIT_ULL(page >> TPAGE_SHIFT);
}

/*
 * Compares page @page of a guest table of @nr entries with its copy, and marks the small pages
 * whose gptes have changed. @shift: log2 of the number of small pages that an entry covers.
 * Returns false if the page can't be read: its entries then count as 0.
 */
static bool compare_page(struct scan *sc, struct kvgpu_gaddr table, u32 nr, u32 page, u64 *copy,
			 u32 shift)
{
	struct kvgpu_shadow *s = sc->e->s;
	u32 first = page * PAGE_ENTRIES, n = min_t(u32, PAGE_ENTRIES, (sc->pages >> shift) - first),
	    i;
	const u64 *now = s->pool->page;
	bool ok = vgtt_table_fetch(s, table, nr, page);

	copy += first;
	s->stats.entries_compared += n;
	if (!memcmp(now, copy, n * 8))
		return ok;
	for (i = 0; i < n; i++) {
		if (now[i] == copy[i])
			continue;
		copy[i] = now[i];
		mark_pages(sc, (first + i) << shift, 1u << shift);
	}
	return ok;
}

/*
 * Compares the pages in @due of the table with their copies. Returns a bit for each page that could
 * not be read.
 */
static u64 compare_table(struct scan *sc, struct kvgpu_gaddr table, u32 nr, u64 due, u64 *copy,
			 u32 shift)
{
	u32 entries = sc->pages >> shift, pages = DIV_ROUND_UP(entries, PAGE_ENTRIES), page;
	u64 failed = 0;

	for (page = 0; page < pages; page++)
		if ((due & BIT_ULL(page)) &&
		    !compare_page(sc, table, min(nr, entries), page, copy, shift))
			failed |= BIT_ULL(page);
	*sc->e->again |= failed;
	return failed;
}

static void scan_gpde(struct scan *sc, struct kvgpu_gpde *g)
{
	struct kvgpu_ext *e = sc->e;
	u32 tpage, big_page;
	u64 retry = 0, small = 0, big = 0;

	if (e->gpte_small)
		small = vgtt_pages_due(e->s, g->small, min(g->nr_small, sc->pages),
				       &g->stale_small);
	if (e->gpte_big)
		big = vgtt_pages_due(e->s, g->big, min(g->nr_big, sc->pages >> BIG_SHIFT),
				     &g->stale_big);

	if (!small && !big && !g->retry) /* nothing to do: the usual case */
		return;
	if (!vgtt_small_given_up(e)) /* else the next sync tries these table pages again */
		retry = g->retry;
	else if (!small && !big)
		return;
	memset(e->s->pool->todo, 0, sizeof(e->s->pool->todo));
	if (small)
		g->stale_small |= compare_table(sc, g->small, g->nr_small, small,
						e->gpte_small + sc->first, 0);
	if (big)
		g->stale_big |= compare_table(sc, g->big, g->nr_big, big,
					      e->gpte_big + (sc->first >> BIG_SHIFT), BIG_SHIFT);
	g->retry &= ~retry;
	for (tpage = 0; retry; tpage++, retry >>= 1) {
		if (!(retry & 1))
			continue;
		sc->tpages |= BIT_ULL(tpage);
		for (big_page = 0; big_page < BIG_PER_TPAGE; big_page++)
			e->s->pool->todo[tpage * BIG_PER_TPAGE + big_page] = ~(u32)0;
	}
}

void vgtt_ext_gpde_sync(struct kvgpu_ext *e, u32 index, int *err)
{
	struct scan sc = { .e = e, .first = index * SLOT_PAGES };
	u32 tpage;

	sc.pages = min_t(u32, SLOT_PAGES, e->pages - sc.first);
	scan_gpde(&sc, &e->gpde[index]);
	for (tpage = 0; sc.tpages; tpage++, sc.tpages >>= 1)
		if (sc.tpages & 1)
			vgtt_ext_tpage_eval(e, (sc.first >> TPAGE_SHIFT) + tpage,
					    e->s->pool->todo + tpage * BIG_PER_TPAGE, err);
	*e->again |= e->gpde[index].retry;
}

/* ------------------------------------- read the guest's directory, and bring a space up to date */

/* Makes the host's tables of a slot: those that the guest's directory entry names. */
static int slot_tables(struct kvgpu_slot *slot, const struct kvgpu_pde *d)
{
	int err = 0;

	if (d->nr_small)
		err = vgtt_slot_small_make(slot);
	if (d->nr_big && !err)
		err = vgtt_slot_big_make(slot);
	return err;
}

static int slot_update(struct kvgpu_as *as, u32 index)
{
	struct kvgpu_slot *slot = as->slot[index];
	struct kvgpu_pde d;
	int err = 0;

	vgtt_pde_decode(as->gdir[index], &d);
	if (!d.nr_big && !d.nr_small) {
		if (slot && !slot->ext.nr_subst) {
			vgtt_slot_drop(slot);
			return 0;
		}
		if (!slot)
			return 0;
	} else {
		if (!slot)
			slot = vgtt_slot_get(as, index);
		err = slot ? slot_tables(slot, &d) : -ENOMEM;
	}
	if (err) {
		as->starved = true;
		as->s->stats.rejected++;
		if (!slot)
			return err;
		memset(&d, 0, sizeof(d));
	}
	vgtt_gpde_set(as->s, &slot->gpde, &d);
	return err;
}

static void as_sync_dir(struct kvgpu_as *as, int *err)
{
	struct kvgpu_shadow *s = as->s;
	u64 due = vgtt_pages_due(s, as->pd, DIR_SLOTS, &as->stale), *copy;
	u32 page, i;

	for (page = 0; page < DIR_SLOTS / PAGE_ENTRIES; page++) {
		if (!(due & BIT_ULL(page)))
			continue;
		if (!vgtt_table_fetch(s, as->pd, DIR_SLOTS, page)) {
			as->stale |= BIT_ULL(page);
			as->again = true;
		}
		copy = as->gdir + page * PAGE_ENTRIES;
		s->stats.entries_compared += PAGE_ENTRIES;
		if (!memcmp(copy, s->pool->page, PAGE_BYTES))
			continue;
		for (i = 0; i < PAGE_ENTRIES; i++) {
			if (copy[i] == s->pool->page[i])
				continue;
			copy[i] = s->pool->page[i];
			if (slot_update(as, page * PAGE_ENTRIES + i))
				*err = -ENOMEM;
		}
	}
}

/*
 * Tries again to make tables for slots that lack them. Stops after STARVED_TRIES failures, because
 * a guest can have thousands of such directory entries; the next sync continues there.
 */
static void feed_starved_slots(struct kvgpu_as *as, int *err)
{
	u32 i, failed = 0;

	as->starved = false;
	for (i = 0; i < DIR_SLOTS && failed < STARVED_TRIES; i++)
		failed += !!slot_update(as, (as->starved_at + i) % DIR_SLOTS);
	if (!failed)
		return;
	as->starved_at = (as->starved_at + i) % DIR_SLOTS;
	as->starved = true;
	*err = -ENOMEM;
}

bool kvgpu_shadow_as_is_behind(const struct kvgpu_as *as)
{
	const struct kvgpu_slot *slot;

	if (as->again || vgtt_table_is_behind(as->s, as->pd, DIR_SLOTS, as->stale))
		return true;
	list_for_each_entry(slot, &as->slots, node)
		if (vgtt_ext_gpde_is_behind(&slot->ext, 0))
			return true;
	return false;
}

int kvgpu_shadow_as_sync(struct kvgpu_as *as, bool *changed)
{
	struct kvgpu_shadow *s = as->s;
	struct kvgpu_slot *slot, *n;
	int err = 0;

	s->stats.syncs++;
	vgtt_failures_forget(s);
	as->again = false;
	if (as->starved)
		feed_starved_slots(as, &err);
	as_sync_dir(as, &err);
	list_for_each_entry_safe(slot, n, &as->slots, node) {
		vgtt_ext_gpde_sync(&slot->ext, 0, &err);
		vgtt_slot_trim(slot);
	}
	as->again |= as->starved;
	*changed = as->changed;
	as->changed = false;
	return err;
}
