// SPDX-License-Identifier: GPL-2.0-only
/* See guest.h: making and freeing a guest, its operations, and the checks after each of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chip.h"

/*
 * A fuzzer looks for new paths by coverage: count the code under test, not this code, which judges
 * it.
 */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif

/* ------------------------------------------------------------------ life */

static struct guest *all;

struct guest *guest_new(u32 max_tables, u64 max_pinned)
{
	struct guest *g = calloc(1, sizeof(*g));
	u32 i;

	g->cfg = (struct kvgpu_shadow_cfg){
		.part_base = { PART_BASE },
		.part_size = VRAM_SIZE,
		.max_tables = max_tables,
		.max_pinned = max_pinned,
		.seed = 0x1234567890abcdefull,
	};
	g->mem = calloc(1, kvgpu_shadow_size(&g->cfg));
	g->next_addr = 0x100000000ull;
	kvgpu_shadow_init(&g->s, &g->cfg, &chip_ops, g, g->mem);
	for (i = 0; i < NR_SPACES; i++)
		g->space[i].g = g;
	for (i = 0; i < NR_WINS; i++)
		g->win[i].g = g;
	g->next = all;
	all = g;
	return g;
}

void guest_free(struct guest *g)
{
	struct guest **at;
	u32 i;

	for (i = 0; i < NR_WINS; i++)
		window_close(&g->win[i]);
	for (i = 0; i < NR_SPACES; i++)
		if (g->space[i].as)
			space_close(&g->space[i]);
	guest_reap(g);
	PROMISE(!g->nr_pinned && !g->s.stats.pinned, "pages stay pinned at the end");
	PROMISE(g->s.stats.pins == g->s.stats.unpins, "pins and unpins differ at the end");
	PROMISE(!g->nr_tables && !g->s.nr_tables, "tables stay at the end");
	for (at = &all; *at != g; at = &(*at)->next)
		;
	*at = g->next;
	free(g->mem);
	free(g);
}

int guests_end(void **state)
{
	while (all)
		guest_free(all);
	return 0;
}

/* ------------------------------------------------------------------ operations */

int space_open(struct guest *g, u32 i, struct kvgpu_gaddr pd)
{
	struct space *sp = &g->space[i];
	void *mem;
	int err;

	PROMISE(!sp->as, "a space is open already");
	mem = calloc(1, kvgpu_shadow_as_size());
	err = kvgpu_shadow_as_create(&g->s, pd, mem, &sp->as);
	if (err) {
		free(mem);
		sp->as = NULL;
		return err;
	}
	sp->mem = mem;
	sp->pd = pd;
	sp->lenient = false;
	sp->reworked = false;
	sp->pending = false;
	sp->subst = calloc(SUBST_SLOTS * PAGES_OF_SLOT, 8);
	memset(&sp->seen, 0, sizeof(sp->seen));
	memset(sp->gone, 0, sizeof(sp->gone));
	return 0;
}

void space_close(struct space *sp)
{
	struct guest *g = sp->g;
	struct hw_table *t;
	void *mem;

	/*
	 * the caller has ended the channels, and the TLB is flushed: nothing can reach the tables
	 * now
	 */
	tlb_flush(sp);
	for (t = g->tables; t; t = t->next) {
		if (t->owner != sp)
			continue;
		t->owner = NULL;
		t->reach = false;
		t->linked = false;
	}
	mem = kvgpu_shadow_as_destroy(sp->as);
	PROMISE(mem == sp->mem, "memory of a space");
	free(mem);
	free(sp->subst);
	sp->as = NULL;
}

static void take_window(struct window *w)
{
	u32 first, last;

	if (w->win && kvgpu_shadow_win_take(w->win, &first, &last))
		tlb_push(w, first, last);
}

static void take_windows(struct guest *g)
{
	u32 i;

	for (i = 0; i < NR_WINS; i++)
		take_window(&g->win[i]);
}

/* A sync of what is not behind compares nothing. */
static void check_behind(struct guest *g, bool behind, u64 compared)
{
	PROMISE(behind || g->s.stats.entries_compared == compared, "it tells what is behind");
}

int space_sync(struct space *sp, bool track)
{
	struct guest *g = sp->g;
	u64 compared = g->s.stats.entries_compared;
	bool changed, behind;
	int err;

	g->failed = false;
	g->max_batch = 0;
	g->track = track;
	behind = kvgpu_shadow_as_is_behind(sp->as);
	err = kvgpu_shadow_as_sync(sp->as, &changed);
	check_behind(g, behind, compared);
	g->track = false;
	PROMISE(!err || err == -ENOMEM, "result of a sync");
	memcpy(&sp->seen, &g->now, sizeof(sp->seen));
	memcpy(sp->ok, g->pinned, sizeof(sp->ok));
	memset(sp->gone, 0, sizeof(sp->gone));
	sp->lenient = err || g->failed || g->nr_pinned == g->cfg.max_pinned;
	sp->reworked = false;
	sp->pending |= changed;
	return err;
}

int space_subst(struct space *sp, u64 va, u32 nr, u64 base)
{
	bool clash = false, fits = va % 4096 == 0 && nr && base % 4096 == 0;
	u64 page = va >> 12;
	int err;
	u32 i;

	for (i = 0; i < nr; i++)
		clash |= sp->subst[page + i] != 0;
	err = kvgpu_shadow_as_subst(sp->as, va, nr, (hvram_t){ base });
	PROMISE(err == 0 || err == -EINVAL || err == -EBUSY || err == -ENOMEM,
		"result of a substitution");
	PROMISE((err == -EINVAL) == !fits, "ill-formed substitutions are refused");
	PROMISE(err != -EBUSY || clash, "refused without a clash");
	PROMISE(err || !clash, "substituted twice");
	sp->pending = true;
	sp->reworked = true;
	for (i = 0; !err && i < nr; i++)
		sp->subst[page + i] = base + i * 4096ull;
	return err;
}

void space_unsubst(struct space *sp, u64 va, u32 nr)
{
	u32 i;

	kvgpu_shadow_as_unsubst(sp->as, va, nr);
	for (i = 0; i < nr; i++)
		sp->subst[(va >> 12) + i] = 0;
	sp->pending = true;
	sp->reworked = true;
}

int space_walk(struct space *sp, u64 va, struct kvgpu_gaddr *out, u32 *len)
{
	struct guest *g = sp->g;
	struct kvgpu_gaddr at = { sp->pd.target, sp->pd.addr + (va >> (BIG_SHIFT + 10)) * 8 };
	int err = kvgpu_shadow_as_walk(sp->as, va, out, len), sys;
	u64 want = va >> 40 ? 0 : oracle(g, &sp->seen, image_word(&sp->seen, at), va, &sys);

	PROMISE(!err || err == -EFAULT, "result of a walk");
	PROMISE(err || want, "a walk finds what is not there");
	PROMISE(!err || !want || sp->lenient, "a walk does not find what is there");
	if (err)
		return err;
	/* the result has the guest's own target, even if that is non-coherent memory */
	PROMISE(kvgpu_is_sys(out->target) == !!(want >> 33 & 2) && out->target != KVGPU_PEER,
		"target of a walk");
	PROMISE(*len && (va & 4095) + *len <= 0x20000, "length of a walk's page");
	if (out->target == KVGPU_VRAM)
		PROMISE(out->addr + PART_BASE == ((want >> 4 & 0xfffffff) << 12) + (va & 4095) &&
				out->addr + *len <= VRAM_SIZE,
			"address of a walk in video memory");
	else
		PROMISE(sys == (int)SYS_PAGES ||
				out->addr == SYS_BASE + sys * 4096ull + (va & 4095),
			"address of a walk in system memory");
	return 0;
}

static void window_open(struct window *w, u32 pages)
{
	if (w->win)
		return;
	w->win = calloc(1, kvgpu_shadow_win_size(pages));
	w->pte = malloc(pages * 8);
	w->hw = calloc(pages, 8);
	memset(w->pte, 0xa5, pages * 8);
	w->pages = pages;
}

int window_sync(struct window *w, struct kvgpu_gaddr pd, u64 limit, u32 pages, bool track)
{
	struct guest *g = w->g;
	u64 compared = g->s.stats.entries_compared;
	bool behind = !w->win || w->linear || w->limit != limit || w->pd.target != pd.target ||
		      w->pd.addr != pd.addr;
	int err;

	window_open(w, pages);
	g->failed = false;
	g->track = track;
	behind |= kvgpu_shadow_win_is_behind(w->win);
	err = kvgpu_shadow_win_sync(&g->s, w->win, pd, limit, w->pages, SCRAP, w->pte);
	check_behind(g, behind, compared);
	g->track = false;
	PROMISE(!err, "result of a window's sync");
	take_window(w);
	w->pd = pd;
	w->limit = limit;
	w->linear = false;
	w->lenient = g->failed || g->nr_pinned == g->cfg.max_pinned;
	memcpy(&w->seen, &g->now, sizeof(w->seen));
	memcpy(w->ok, g->pinned, sizeof(w->ok));
	memset(w->gone, 0, sizeof(w->gone));
	return 0;
}

void window_linear(struct window *w, u32 pages)
{
	window_open(w, pages);
	PROMISE(!kvgpu_shadow_win_set_linear(&w->g->s, w->win, w->pages, SCRAP, w->pte),
		"linear window");
	take_window(w);
	w->linear = true;
}

void window_close(struct window *w)
{
	u32 i;

	if (!w->win)
		return;
	kvgpu_shadow_win_fini(&w->g->s, w->win);
	for (i = 0; i < w->pages; i++)
		PROMISE(w->pte[i] == SCRAP, "a closed window shows only scrap");
	memset(w->tlb, 0, sizeof(w->tlb));
	free(w->win);
	free(w->pte);
	free(w->hw);
	w->win = NULL;
}

void guest_invalidate(struct guest *g, const struct kvgpu_gaddr *pd, bool track)
{
	struct window *w;
	u32 i;

	for (i = 0; i < NR_SPACES; i++)
		if (g->space[i].as && kvgpu_shadow_as_is_due(g->space[i].as, pd))
			space_sync(&g->space[i], track);
	for (w = g->win; w < g->win + NR_WINS; w++)
		if (w->win && !w->linear && kvgpu_shadow_win_is_due(w->win, pd))
			window_sync(w, w->pd, w->limit, w->pages, track);
}

static void flush_everything(struct guest *g)
{
	u32 i;

	take_windows(g);
	for (i = 0; i < NR_SPACES; i++)
		if (g->space[i].as)
			tlb_flush(&g->space[i]);
	for (i = 0; i < NR_WINS; i++)
		if (g->win[i].win)
			tlb_flush_window(&g->win[i]);
}

static void mark_gone(struct guest *g, u32 page)
{
	u32 i;

	for (i = 0; i < NR_SPACES; i++)
		g->space[i].gone[page] = true;
	for (i = 0; i < NR_WINS; i++)
		g->win[i].gone[page] = true;
}

/*
 * Called after an unmap: flushes the TLBs if the unmap said so, reaps, checks that no pin of the
 * pages from @first to @last is left, and notes them in .gone.
 */
static void unmapped(struct guest *g, u64 first, u64 last, bool changed)
{
	u32 i;

	if (changed)
		flush_everything(g);
	guest_reap(g);
	for (i = 0; i < SYS_PAGES; i++) {
		if (SYS_BASE + i * 4096ull > last || SYS_BASE + i * 4096ull + 4095 < first)
			continue;
		PROMISE(!g->pinned[i], "still pinned after it was unmapped");
		mark_gone(g, i);
	}
}

void guest_unmap(struct guest *g, u64 iova, u64 len)
{
	bool changed;

	tlb_flush_pending(g);
	kvgpu_shadow_unmap(&g->s, (iova_t){ iova }, len, &changed);
	if (!len)
		PROMISE(!changed, "unmapping nothing changes nothing");
	else
		unmapped(g, iova, iova + len - 1 < iova ? ~0ull : iova + len - 1, changed);
}

void guest_unmap_all(struct guest *g)
{
	bool changed;

	kvgpu_shadow_unmap(&g->s, (iova_t){ 0 }, ~0ull, &changed);
	unmapped(g, 0, ~0ull, changed);
}

/* ------------------------------------------------------------------ checks */

static void check_entry(struct guest *g, u64 e)
{
	u64 addr = (e >> 4 & 0xfffffff) << 12;
	int page;

	if (!(e & 1))
		return;
	PROMISE(!(e & (8 | 1ull << 35 | 0x1ffffull << 44)),
		"reserved bits or compression tags in an entry");
	if (e >> 33 & 2) {
		page = page_of_dma(addr);
		PROMISE(page >= 0 && g->pinned[page], "S1: entry for a page that is not pinned");
		PROMISE(e >> 32 & 1, "system memory without VOL");
		PROMISE((e >> 33 & 3) == 2, "S4: system memory beside the CPU's caches");
		return;
	}
	PROMISE(!(e >> 33 & 1), "peer entry");
	if (addr >= SUBST_BASE)
		PROMISE(e & 2, "a substituted page without PRIV");
	else
		PROMISE(addr >= PART_BASE && addr < PART_BASE + VRAM_SIZE,
			"S1: entry outside of the partition");
}

static void expect(struct guest *g, u64 sees, u64 want, int sys, const bool *ok, const bool *gone,
		   bool lenient, bool reworked)
{
	bool there;

	if (want && sys >= 0) {
		there = sys < (int)SYS_PAGES && ok[sys] && !gone[sys];
		if (sys < (int)SYS_PAGES)
			want |= (dma_of(sys) >> 12) << 4;
		if (!there && sees == want && reworked)
			return;
		if (!there)
			want = 0;
		else if (!sees && reworked && !g->pinned[sys])
			return;
	}
	PROMISE(sees == want || (!sees && lenient),
		"the GPU sees another page than the guest's tables say");
}

static void check_slot(struct space *sp, u64 slot, u64 host_pde)
{
	struct guest *g = sp->g;
	const struct hw_table *bt = big_of(g, host_pde), *st = small_of(g, host_pde);
	u32 page, per = 32u << (BIG_SHIFT - 12);
	struct kvgpu_gaddr at;
	u64 va, sees, pde = 0, want;
	int sys;

	for (page = 0; page < PAGES_OF_SLOT; page++) {
		va = slot << 27 | (u64)page << 12;
		if (!(page & (per - 1))) {
			at = (struct kvgpu_gaddr){ sp->pd.target,
						   sp->pd.addr + (va >> (BIG_SHIFT + 10)) * 8 };
			pde = image_word(&sp->seen, at);
		}
		if (!(page & 511) && guest_quiet(g, &sp->seen, pde, va) &&
		    (!bt || !memcmp(bt->hw + (page >> 5), zeroes, 16 * 8)) &&
		    (!st || !memcmp(st->hw + page, zeroes, 512 * 8)) &&
		    (slot >= SUBST_SLOTS || !memcmp(sp->subst + (va >> 12), zeroes, 512 * 8))) {
			page += 511;
			continue;
		}
		sees = gpu_walk(bt, st, page);
		if (slot < SUBST_SLOTS && sp->subst[va >> 12]) {
			PROMISE(sees == (3 | (sp->subst[va >> 12] >> 12) << 4),
				"a substituted page is not what the GPU sees");
			continue;
		}
		want = oracle(g, &sp->seen, pde, va, &sys);
		expect(g, sees, want, sys, sp->ok, sp->gone, sp->lenient, sp->reworked);
	}
}

/* Returns whether the page at @at of the guest's directory has no entries, or can't be read. */
static bool dir_quiet(struct space *sp, struct kvgpu_gaddr at)
{
	return !image_readable(&sp->seen, at) ||
	       !memcmp(guest_word(&sp->seen, at), zeroes, sizeof(zeroes));
}

static void check_space(struct space *sp)
{
	struct guest *g = sp->g;
	struct hw_table *dir = table_at(g, kvgpu_shadow_as_pd_get(sp->as));
	u32 i;
	struct kvgpu_gaddr at;

	PROMISE(!memcmp(dir->hw, dir->t->mirror, 8192 * 8),
		"the directory's mirror is not what was written");
	for (i = 0; i < 8192; i++) {
		at = (struct kvgpu_gaddr){ sp->pd.target, sp->pd.addr + (u64)i * 8 };
		if (!(i & 511) && next_entry(dir->hw + i, 0, 512) == 512 && dir_quiet(sp, at)) {
			i += 511;
			continue;
		}
		if (dir->hw[i] || image_word(&sp->seen, at))
			check_slot(sp, i, dir->hw[i]);
	}
}

static bool all_scrap(const u64 *pte)
{
	u32 i;

	for (i = 0; i < 512 && pte[i] == SCRAP; i++)
		;
	return i == 512;
}

static void check_window(struct window *w)
{
	struct guest *g = w->g;
	struct kvgpu_gaddr at;
	u64 va, want, sees;
	u32 page;
	int sys;

	PROMISE(!memcmp(w->pte, w->hw, w->pages * 8ull), "a window's change was not reported");
	for (page = 0; page < w->pages; page++) {
		va = (u64)page << 12;
		at = (struct kvgpu_gaddr){ w->pd.target,
					   w->pd.addr + (va >> (BIG_SHIFT + 10)) * 8 };
		if (!(page & 511) && page + 512 <= w->pages && !w->linear &&
		    all_scrap(w->hw + page) &&
		    guest_quiet(g, &w->seen, image_word(&w->seen, at), va)) {
			page += 511;
			continue;
		}
		sees = w->hw[page] == SCRAP ? 0 : w->hw[page];
		PROMISE(w->hw[page] == SCRAP || (w->hw[page] & 1),
			"a BAR entry that is neither valid nor scrap");
		check_entry(g, sees);
		if (w->linear) {
			want = va < VRAM_SIZE ? 1 | ((PART_BASE + va) >> 12) << 4 : 0;
			PROMISE(sees == want, "linear window");
			continue;
		}
		want = va > w->limit ? (sys = -1, 0) :
				       oracle(g, &w->seen, image_word(&w->seen, at), va, &sys);
		want &= ~RIGHTS;
		expect(g, sees, want, sys, w->ok, w->gone, w->lenient, false);
	}
}

void guest_check(struct guest *g)
{
	struct hw_table *t;
	u32 i, live = 0;

	for (i = 0; i < SYS_PAGES; i++)
		live += g->pinned[i];
	PROMISE(live == g->nr_pinned && live == g->s.stats.pinned, "count of pinned pages");
	PROMISE(g->nr_tables == g->s.nr_tables, "count of tables");
	for (t = g->tables; t; t = t->next)
		t->linked = false;
	for (i = 0; i < NR_SPACES; i++)
		if (g->space[i].as)
			tlb_link(g, table_at(g, kvgpu_shadow_as_pd_get(g->space[i].as)),
				 &g->space[i]);
	for (t = g->tables; t; t = t->next) {
		if (t->nr == 8192 || !t->linked)
			continue;
		PROMISE(!memcmp(t->hw, t->t->mirror, t->nr * 8ull),
			"a table's mirror is not what was written");
		for (i = next_entry(t->hw, 0, t->nr); i < t->nr;
		     i = next_entry(t->hw, i + 1, t->nr))
			check_entry(g, t->hw[i]);
	}
	for (i = 0; i < NR_SPACES; i++)
		if (g->space[i].as)
			check_space(&g->space[i]);
	for (i = 0; i < NR_WINS; i++)
		if (g->win[i].win)
			check_window(&g->win[i]);
}

/* Flushes and reaps. Checks that no pins and tables are left but those in use. */
void guest_reap(struct guest *g)
{
	bool used[SYS_PAGES] = { false };
	struct hw_table *t;
	u32 i, linked = 0;

	tlb_flush_pending(g);
	kvgpu_shadow_reap(&g->s);
	for (t = g->tables; t; t = t->next)
		t->linked = false;
	for (i = 0; i < NR_SPACES; i++) {
		if (!g->space[i].as)
			continue;
		linked++;
		tlb_link(g, table_at(g, kvgpu_shadow_as_pd_get(g->space[i].as)), &g->space[i]);
	}
	for (t = g->tables; t; t = t->next) {
		if (t->nr == 8192 || !t->linked)
			continue;
		linked++;
		tlb_refill(t);
		for (i = 0; i < SYS_PAGES; i++)
			used[i] |= t->tlb[i];
	}
	PROMISE(linked == g->nr_tables, "a table that nothing links survived the reaper");
	for (i = 0; i < NR_WINS; i++)
		if (g->win[i].win)
			for (u32 p = 0; p < SYS_PAGES; p++)
				used[p] |= g->win[i].tlb[p];
	for (i = 0; i < SYS_PAGES; i++)
		PROMISE(used[i] == g->pinned[i], "pinned is not the same as in use");
}

#ifdef __clang__
#pragma clang attribute pop
#endif
