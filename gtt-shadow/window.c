// SPDX-License-Identifier: GPL-2.0-only
/*
 * BAR windows. A window is an extent (internal.h) without tables of its own. Instead, the caller
 * has an array (@hpte) with the entries of the vGPU's part of the host's BAR. Where the guest maps
 * nothing, the entry is @scrap, which points to a page of the host's video memory. Pure: the caller
 * serialises calls for one vGPU.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <gk110/mmu.h>

#include "internal.h"

static u32 gpdes_for(u32 pages)
{
	return (pages + SLOT_PAGES - 1) / SLOT_PAGES;
}

size_t kvgpu_shadow_win_size(u32 pages)
{
	return sizeof(struct kvgpu_win) +
	       gpdes_for(pages) * (sizeof(struct kvgpu_gpde) + sizeof(u64)) +
	       ((size_t)pages + (pages >> BIG_SHIFT)) * sizeof(u64) +
	       (size_t)pages * sizeof(struct kvgpu_rmap);
}

static void win_range_clear(struct kvgpu_win *win)
{
	win->first = INDEX_NONE;
	win->last = 0;
}

bool kvgpu_shadow_win_take(struct kvgpu_win *win, u32 *first, u32 *last)
{
	bool any = win->ext.s && win->first <= win->last;

	*first = any ? win->first : 1;
	*last = any ? win->last : 0;
	if (any)
		win_range_clear(win);
	return any;
}

static int win_set_up(struct kvgpu_shadow *s, struct kvgpu_win *win, u32 pages)
{
	struct kvgpu_ext *e = &win->ext;
	u32 i, nr = gpdes_for(pages);
	u64 *mem = (u64 *)(win + 1);

	for (i = 0; i < WINDOWS_MAX && s->pool->win[i]; i++)
		;
	if (i == WINDOWS_MAX)
		return -ENOSPC;
	s->pool->win[i] = e;
	*e = (struct kvgpu_ext){
		.s = s,
		.win = win,
		.id = s->pool->nr_slots + i,
		.pages = pages,
		.limit = 0,
		.nr_gpdes = nr,
		.again = &win->again,
	};
	win->gdir = mem;
	e->gpte_small = mem + nr;
	e->gpte_big = e->gpte_small + pages;
	win->gpde = (struct kvgpu_gpde *)(e->gpte_big + (pages >> BIG_SHIFT));
	e->gpde = win->gpde;
	e->rmap = (struct kvgpu_rmap *)(win->gpde + nr);
	win_range_clear(win);
	return 0;
}

static void win_forget(struct kvgpu_win *win)
{
	static const struct kvgpu_pde none;
	struct kvgpu_ext *e = &win->ext;
	u32 i;

	for (i = 0; i < e->nr_gpdes; i++)
		vgtt_gpde_set(e->s, &e->gpde[i], &none);
	vgtt_table_forget(e->s, win->pd, e->nr_gpdes);
}

/* Sets all entries to @scrap, and clears the copies of the guest's tables. */
static void win_clear(struct kvgpu_win *win, u64 scrap, u64 *hpte)
{
	struct kvgpu_ext *e = &win->ext;
	u32 i;

	win_forget(win);
	vgtt_ext_rmaps_remove(e);
	memset(win->gdir, 0, gpdes_for(e->pages) * sizeof(u64));
	memset(win->gpde, 0, gpdes_for(e->pages) * sizeof(struct kvgpu_gpde));
	memset(e->gpte_small, 0, e->pages * sizeof(u64));
	memset(e->gpte_big, 0, (e->pages >> BIG_SHIFT) * sizeof(u64));
	win->hpte = hpte;
	win->scrap = scrap;
	win->stale = 1;
	e->hpte_small = hpte;
	e->blank = scrap;
	e->limit = 0;
	e->nr_live = 0;
	for (i = 0; i < e->pages; i++)
		hpte[i] = scrap;
	vgtt_win_range_note(win, 0, e->pages - 1);
}

static int open_win(struct kvgpu_shadow *s, struct kvgpu_win *win, u32 pages)
{
	if (!pages || pages & (PAGES_PER_BIG - 1) || pages >= BIT(RMAP_PAGE_BITS))
		return -EINVAL;
	if (!win->ext.s)
		return win_set_up(s, win, pages);
	return win->ext.s == s && win->ext.pages == pages ? 0 : -EINVAL;
}

static void win_set_limit(struct kvgpu_win *win, u64 limit)
{
	struct kvgpu_ext *e = &win->ext;
	u32 pages = min_t(u64, limit >> GMMU_ADDR_SHIFT, e->pages - 1) + 1, i;

	if (e->limit == pages)
		return;
	e->limit = pages;
	for (i = 0; i < e->nr_gpdes; i++)
		e->gpde[i].retry = ~(u64)0;
}

static void win_sync_dir(struct kvgpu_win *win)
{
	struct kvgpu_ext *e = &win->ext;
	struct kvgpu_shadow *s = e->s;
	struct kvgpu_pde d;
	u32 i;

	if (!vgtt_pages_due(s, win->pd, e->nr_gpdes, &win->stale))
		return;
	if (!vgtt_table_fetch(s, win->pd, e->nr_gpdes, 0)) {
		win->stale = 1;
		win->again = true;
	}
	s->stats.entries_compared += e->nr_gpdes;
	for (i = 0; i < e->nr_gpdes; i++) {
		if (win->gdir[i] == s->pool->page[i])
			continue;
		win->gdir[i] = s->pool->page[i];
		vgtt_pde_decode(win->gdir[i], &d);
		vgtt_gpde_set(s, &e->gpde[i], &d);
	}
}

/* Clears bits in .retry for table pages that the window does not have. */
static void cut_retry(struct kvgpu_ext *e)
{
	u32 last = e->nr_gpdes - 1;
	u32 tpages = (e->pages - last * SLOT_PAGES + PAGES_PER_TPAGE - 1) >> TPAGE_SHIFT;

	if (tpages < 64)
		e->gpde[last].retry &= BIT_ULL(tpages) - 1;
}

int kvgpu_shadow_win_sync(struct kvgpu_shadow *s, struct kvgpu_win *win, struct kvgpu_gaddr pd,
			  u64 limit, u32 pages, u64 scrap, u64 *hpte)
{
	int err = open_win(s, win, pages);
	u32 i;

	if (err)
		return err;
	s->stats.syncs++;
	vgtt_failures_forget(s);
	if (win->hpte != hpte || win->scrap != scrap)
		win_clear(win, scrap, hpte);
	if (win->pd.target != pd.target || win->pd.addr != pd.addr) {
		vgtt_table_forget(s, win->pd, win->ext.nr_gpdes);
		win->stale = 1;
	}
	win->pd = pd;
	win->again = false;
	win_set_limit(win, limit);
	win_sync_dir(win);
	cut_retry(&win->ext);
	for (i = 0; i < win->ext.nr_gpdes; i++)
		vgtt_ext_gpde_sync(&win->ext, i, &err);
	return 0;
}

bool kvgpu_shadow_win_is_due(const struct kvgpu_win *win, const struct kvgpu_gaddr *pd)
{
	return !pd || win->pd.addr == pd->addr || win->again;
}

bool kvgpu_shadow_win_is_behind(const struct kvgpu_win *win)
{
	const struct kvgpu_ext *e = &win->ext;
	u32 i;

	if (win->again || vgtt_table_is_behind(e->s, win->pd, e->nr_gpdes, win->stale))
		return true;
	for (i = 0; i < e->nr_gpdes; i++)
		if (vgtt_ext_gpde_is_behind(e, i))
			return true;
	return false;
}

int kvgpu_shadow_win_set_linear(struct kvgpu_shadow *s, struct kvgpu_win *win, u32 pages, u64 scrap,
				u64 *hpte)
{
	int err = open_win(s, win, pages);
	u64 frame = s->cfg.part_base.v >> GMMU_ADDR_SHIFT;
	u32 i;

	if (err)
		return err;
	win_clear(win, scrap, hpte);
	for (i = 0; i < pages && i < s->cfg.part_size >> GMMU_ADDR_SHIFT; i++)
		vgtt_ext_small_set(&win->ext, i,
				   GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, frame + i));
	vgtt_run_write(s);
	/* a later sync finds that .hpte differs, and clears the window first */
	win->hpte = NULL;
	return 0;
}

void kvgpu_shadow_win_fini(struct kvgpu_shadow *s, struct kvgpu_win *win)
{
	struct kvgpu_ext *e = &win->ext;
	u32 i;

	if (!e->s)
		return;
	win_forget(win);
	vgtt_ext_rmaps_remove(e);
	for (i = 0; i < e->pages && e->hpte_small; i++)
		e->hpte_small[i] = e->blank;
	s->pool->win[e->id - s->pool->nr_slots] = NULL;
	memset(win, 0, kvgpu_shadow_win_size(e->pages));
}
