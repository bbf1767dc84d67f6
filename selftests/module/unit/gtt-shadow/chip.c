// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's side of the tests: reads of guest memory, pins, page tables as the GPU has them, and
 * the most that its TLB may hold. A TLB keeps each system page to which an entry was ever written,
 * until it is flushed.
 */
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

u64 dma_of(u32 page)
{
	return 0x1230000000ull + (page * 37 % SYS_PAGES) * 4096ull;
}

int page_of_dma(u64 dma)
{
	u32 i;

	for (i = 0; i < SYS_PAGES; i++)
		if (dma_of(i) == dma)
			return (int)i;
	return -1;
}
/* ------------------------------------------------------------------ ops */

static int op_read(void *ctx, struct kvgpu_gaddr a, void *buf, u32 len)
{
	struct guest *g = ctx;

	PROMISE(len && len <= 4096 && (a.addr & 4095) + len <= 4096, "read crosses a page");
	PROMISE(a.target != KVGPU_VRAM || a.addr + len <= VRAM_SIZE,
		"read outside of the partition");
	g->reads++;
	if (!image_readable(&g->now, a))
		return -EFAULT;
	memcpy(buf, guest_word(&g->now, a), len);
	return 0;
}

static int op_pin(void *ctx, const iova_t *iova, u32 nr, u64 *dma)
{
	struct guest *g = ctx;
	u32 i, page;

	PROMISE(nr && nr <= 512, "batch size");
	g->pin_calls++;
	if (nr > g->max_batch)
		g->max_batch = nr;
	PROMISE(g->nr_pinned + nr <= g->cfg.max_pinned, "more pins than allowed");
	if (g->fail_pins) {
		g->fail_pins--;
		g->failed = true;
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++) {
		PROMISE(iova[i].v == iova[0].v + i * 4096ull, "batch is not contiguous");
		page = (iova[i].v - SYS_BASE) >> 12;
		if (iova[i].v < SYS_BASE || page >= SYS_PAGES || g->unpinnable[page])
			return -EFAULT;
		PROMISE(!g->pinned[page], "pinned twice");
	}
	for (i = 0; i < nr; i++) {
		page = (iova[i].v - SYS_BASE) >> 12;
		g->pinned[page] = true;
		g->nr_pinned++;
		dma[i] = dma_of(page);
	}
	return 0;
}

static void unpin_page(struct guest *g, u32 page)
{
	struct hw_table *t;
	u32 i;

	PROMISE(page < SYS_PAGES && g->pinned[page], "unpinned what was not pinned");
	for (t = g->tables; t; t = t->next)
		PROMISE(!t->owner || !t->tlb[page], "S2: unpinned while the TLB may have it");
	for (i = 0; i < NR_WINS; i++)
		PROMISE(!g->win[i].tlb[page], "S2: unpinned while a BAR may show it");
	g->pinned[page] = false;
	g->nr_pinned--;
}

static void op_unpin(void *ctx, iova_t iova, u32 nr)
{
	struct guest *g = ctx;
	u32 i;

	PROMISE(nr >= 1 && nr <= 512, "a batch of no size");
	g->unpin_calls++;
	for (i = 0; i < nr; i++)
		unpin_page(g, ((iova.v - SYS_BASE) >> 12) + i);
}

static int op_table_new(void *ctx, u32 nr, struct kvgpu_table *t)
{
	struct guest *g = ctx;
	struct hw_table *h;

	PROMISE(g->nr_tables < g->cfg.max_tables, "more tables than allowed");
	if (g->fail_tables) {
		g->fail_tables--;
		return -ENOMEM;
	}
	h = calloc(1, sizeof(*h));
	h->t = t;
	h->nr = nr;
	h->hw = calloc(nr, 8);
	h->addr = g->next_addr;
	g->next_addr += ((u64)nr * 8 + 4095) & ~4095ull;
	h->next = g->tables;
	g->tables = h;
	g->nr_tables++;
	t->addr = h->addr;
	t->mirror = calloc(nr, 8);
	t->aux = calloc(1, kvgpu_shadow_aux_size(nr) + 1);
	t->priv = h;
	return 0;
}

static void op_table_free(void *ctx, struct kvgpu_table *t)
{
	struct guest *g = ctx;
	struct hw_table *h = t->priv, **at;

	PROMISE(!h->reach, "table freed while the GPU may walk it");
	for (at = &g->tables; *at != h; at = &(*at)->next)
		;
	if (h->pair)
		h->pair->pair = NULL;
	*at = h->next;
	free(t->mirror);
	free(t->aux);
	free(h->hw);
	free(h);
	g->nr_tables--;
}

static void write_pde(struct guest *g, struct hw_table *dir, u64 old, u64 pde)
{
	struct hw_table *to[2] = { big_of(g, pde), small_of(g, pde) },
			*was[2] = { big_of(g, old), small_of(g, old) };
	u32 j, k;

	for (j = 0; j < 2; j++)
		if (was[j])
			was[j]->pair = NULL;
	for (j = 0; j < 2; j++) {
		if (!to[j])
			continue;
		PROMISE(to[j]->nr == (j ? PAGES_OF_SLOT : 1024),
			"directory entry names a wrong table");
		to[j]->reach = true;
		to[j]->pair = to[!j];
		for (k = 0; k < NR_SPACES; k++)
			if (g->space[k].as && kvgpu_shadow_as_pd_get(g->space[k].as) == dir->addr)
				to[j]->owner = &g->space[k];
	}
}

/* A big and a small entry of the same place are never both valid, not even between two writes. */
static void check_pair(const struct hw_table *h, u32 i)
{
	u32 j;

	if (!h->pair || !(h->hw[i] & 1))
		return;
	if (h->nr == PAGES_OF_SLOT)
		PROMISE(!(h->pair->hw[i >> 5] & 1), "small entry written beside a big one");
	else
		for (j = 0; j < 32; j++)
			PROMISE(!(h->pair->hw[i * 32 + j] & 1),
				"big entry written over small ones");
}

static void op_table_write(void *ctx, struct kvgpu_table *t, u32 first, u32 nr)
{
	struct guest *g = ctx;
	struct hw_table *h = t->priv;
	u64 old;
	u32 i;
	int page;

	PROMISE(nr && first < h->nr && nr <= h->nr - first, "write outside of a table");
	g->writes++;
	for (i = first; i < first + nr; i++) {
		old = h->hw[i];
		h->hw[i] = t->mirror[i];
		if (h->nr == 8192) {
			write_pde(g, h, old, h->hw[i]);
			continue;
		}
		check_pair(h, i);
		if ((h->hw[i] & 1) && (h->hw[i] >> 33 & 2)) {
			page = page_of_dma((h->hw[i] >> 4 & 0xfffffff) << 12);
			PROMISE(page >= 0 && g->pinned[page],
				"S1: entry for a page that is not pinned");
			h->tlb[page] = true;
		}
	}
}

/* Page @page of @target may have been written since it was last taken. */
static bool page_is_dirty(const struct guest *g, u32 target, u64 page)
{
	return !g->track || target != KVGPU_VRAM || page >= VRAM_SIZE / 4096 || g->written[page];
}

static u64 op_take_dirty(void *ctx, struct kvgpu_gaddr a, u32 nr)
{
	struct guest *g = ctx;
	u64 dirty = 0, page;
	u32 i;

	PROMISE(nr && nr <= 64 && !(a.addr & 4095), "asks for a table's pages");
	for (i = 0; i < nr; i++) {
		page = (a.addr >> 12) + i;
		if (page_is_dirty(g, a.target, page))
			dirty |= 1ull << i;
		if (a.target == KVGPU_VRAM && page < VRAM_SIZE / 4096)
			g->written[page] = false;
	}
	return dirty;
}

static bool op_is_dirty(void *ctx, struct kvgpu_gaddr a, u32 nr)
{
	u32 i;

	PROMISE(nr && nr <= 64 && !(a.addr & 4095), "asks for a table's pages");
	for (i = 0; i < nr; i++)
		if (page_is_dirty(ctx, a.target, (a.addr >> 12) + i))
			return true;
	return false;
}

/* Any CPU may have written there unseen since. */
static void op_forget(void *ctx, struct kvgpu_gaddr a, u32 nr)
{
	struct guest *g = ctx;
	u64 page = a.addr >> 12;

	for (; nr-- && a.target == KVGPU_VRAM && page < VRAM_SIZE / 4096; page++)
		g->written[page] = true;
}

const struct kvgpu_shadow_ops chip_ops = {
	.take_dirty = op_take_dirty,
	.is_dirty = op_is_dirty,
	.forget = op_forget,
	.read = op_read,
	.pin = op_pin,
	.unpin = op_unpin,
	.table_new = op_table_new,
	.table_free = op_table_free,
	.table_write = op_table_write,
};
/* ------------------------------------------------------------------ TLB */

void tlb_refill(struct hw_table *h)
{
	u32 i;
	int page;

	memset(h->tlb, 0, sizeof(h->tlb));
	if (!h->linked || h->nr == 8192)
		return;
	for (i = next_entry(h->hw, 0, h->nr); i < h->nr; i = next_entry(h->hw, i + 1, h->nr)) {
		if (!(h->hw[i] & 1) || !(h->hw[i] >> 33 & 2))
			continue;
		page = page_of_dma((h->hw[i] >> 4 & 0xfffffff) << 12);
		if (page >= 0)
			h->tlb[page] = true;
	}
}

void tlb_link(struct guest *g, struct hw_table *dir, struct space *sp)
{
	struct hw_table *to;
	u32 i, j;

	for (i = next_entry(dir->hw, 0, 8192); i < 8192; i = next_entry(dir->hw, i + 1, 8192)) {
		for (j = 0; j < 2; j++) {
			to = j ? small_of(g, dir->hw[i]) : big_of(g, dir->hw[i]);
			if (!to) {
				PROMISE(!(j ? dir->hw[i] >> 32 & 3 : dir->hw[i] & 3),
					"directory names a freed table");
				continue;
			}
			PROMISE(!to->linked, "S3: table linked twice");
			PROMISE(!to->owner || to->owner == sp, "table linked by a foreign space");
			to->linked = true;
		}
	}
}

void tlb_flush(struct space *sp)
{
	struct guest *g = sp->g;
	struct hw_table *t;

	sp->pending = false;
	for (t = g->tables; t; t = t->next)
		if (t->owner == sp)
			t->linked = false;
	tlb_link(g, table_at(g, kvgpu_shadow_as_pd_get(sp->as)), sp);
	for (t = g->tables; t; t = t->next) {
		if (t->owner != sp)
			continue;
		t->reach = t->linked;
		tlb_refill(t);
	}
}

void tlb_push(struct window *w, u32 first, u32 last)
{
	u32 i;
	int page;

	for (i = first; i <= last; i++) {
		w->hw[i] = w->pte[i];
		PROMISE((w->hw[i] & 1) && !(w->hw[i] & RIGHTS),
			"S5: an access of the CPU to a BAR can fault");
		if ((w->hw[i] & 1) && (w->hw[i] >> 33 & 2) && w->hw[i] != SCRAP) {
			page = page_of_dma((w->hw[i] >> 4 & 0xfffffff) << 12);
			PROMISE(page >= 0 && w->g->pinned[page],
				"S1: BAR entry for a page that is not pinned");
			w->tlb[page] = true;
		}
	}
	w->pending = true;
}

void tlb_flush_window(struct window *w)
{
	u32 i;
	int page;

	w->pending = false;
	memset(w->tlb, 0, sizeof(w->tlb));
	for (i = 0; i < w->pages; i++) {
		if (!(w->hw[i] & 1) || !(w->hw[i] >> 33 & 2) || w->hw[i] == SCRAP)
			continue;
		page = page_of_dma((w->hw[i] >> 4 & 0xfffffff) << 12);
		if (page >= 0)
			w->tlb[page] = true;
	}
}

void tlb_flush_pending(struct guest *g)
{
	u32 i;

	for (i = 0; i < NR_SPACES; i++)
		if (g->space[i].as && g->space[i].pending)
			tlb_flush(&g->space[i]);
	for (i = 0; i < NR_WINS; i++)
		if (g->win[i].win && g->win[i].pending)
			tlb_flush_window(&g->win[i]);
}

#ifdef __clang__
#pragma clang attribute pop
#endif
