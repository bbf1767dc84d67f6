// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dirty log: which pages of guests' tables in the partition the CPU may have written, by first
 * touch. On a page fault on BAR1, BAR3 or PRAMIN, kvgpu_machine_pfn_find() finds the frame, and
 * marks the page of the partition that the frame shows as *dirty* (m->dirty.log). From then on the
 * CPU may write to that page unnoticed. vmach_dirty_log_take() takes the marks for a sync
 * (space.c), which tells all tables that have the page. Then it removes the CPU's mappings of these
 * pages (a zap).
 * A fault marks and maps its page under one hold of map_lock; vmach_dirty_log_take() takes the
 * marks under map_lock. So if the fault was first, its mapping is removed afterwards. If it was
 * second, its mark is left for the next call.
 *
 * A page that no sync has asked for, or that was forgotten since, is no table (m->dirty.tables). It
 * is neither marked nor unmapped, and counts as dirty when a sync asks for it.
 *
 * The page of the MMU's registers, by which a guest invalidates its TLB, is the vGPU's own memory
 * (VGPU_OWN_MMU), which the VMM maps into the guest. A page fault maps it while it is *shown*:
 * while no page of a table is marked, so that an invalidate has nothing to do. A fault on it at
 * other times has all spaces and windows brought up to date first (space.c). Before a page of a
 * table is marked for a fault, the MMU's page is *hidden*: unmapped. Some ms after a pin has failed
 * it is hidden, too, so that the next invalidate tries the pin again (pin.c). Showing and hiding
 * need vgpu->lock, so the handler of the fault gives mmap_lock back, and the access faults anew
 * (mapping.c). The CPU's writes to a table in system memory are not seen, so no such table is read
 * once the VMM has mapped the MMU's page.
 */
#include "gk110/bar.h"
#include "mdev/machine/internal.h"

/*
 * most parts of BARs whose mappings are removed one by one; if there are more, all of BAR1, BAR3
 * and PRAMIN is unmapped
 */
#define ZAP_MAX 16

bool vmach_page_is_table(const struct kvgpu_vgpu *v, u32 page)
{
	return page < vmach_part_pages_count(v) && test_bit(page, v->m->dirty.tables);
}

void vmach_page_mark_dirty(struct kvgpu_vgpu *v, u32 page, enum kvgpu_bar bar)
{
	if (!vmach_page_is_table(v, page))
		return;
	v->m->dirty.written = true;
	set_bit(page, v->m->dirty.log);
	if (bar == KVGPU_BAR1)
		set_bit(page, v->m->dirty.log_bar1);
}

/*
 * A range of pages of the partition, .nr pages from .first on, and the parts of BARs that show
 * pages of this range, whose mappings are to be removed. .by_bar1: a page may have been written
 * through BAR1 or PRAMIN. .region: number of the BAR; 0: PRAMIN. .at, .len: bytes. .nr_zaps: if
 * more than ZAP_MAX, some did not fit in .zap.
 */
struct dirty_range {
	u32 first, nr;
	bool by_bar1;
	u32 nr_zaps;
	struct {
		u8 region;
		u64 at, len;
	} zap[ZAP_MAX];
};

/* The region shows page @page of the partition at offset @at: adds that part if @page is in @u. */
static void zap_add(struct dirty_range *u, u32 page, u8 region, u64 at)
{
	u32 last = u->nr_zaps - 1;

	if (page < u->first || page - u->first >= u->nr)
		return;
	if (u->nr_zaps && u->nr_zaps <= ZAP_MAX && u->zap[last].region == region &&
	    u->zap[last].at + u->zap[last].len == at) {
		u->zap[last].len += PAGE_SIZE;
		return;
	}
	if (u->nr_zaps < ZAP_MAX) {
		u->zap[u->nr_zaps].region = region;
		u->zap[u->nr_zaps].at = at;
		u->zap[u->nr_zaps].len = PAGE_SIZE;
	}
	u->nr_zaps++;
}

static void find_in_window(struct dirty_range *u, const struct machine_win *w)
{
	u32 i;

	for (i = 0; i < w->pages && u->nr_zaps <= ZAP_MAX; i++)
		zap_add(u, w->shows[i], kvgpu_bar_number(w->bar), (u64)i << PAGE_SHIFT);
}

static void find_in_pramin(struct dirty_range *u, const struct kvgpu_vgpu *v)
{
	u32 i;

	for (i = 0; i < PRAMIN_SIZE >> PAGE_SHIFT; i++)
		zap_add(u, vmach_pramin_page(v, v->m->view.pramin, i), 0,
			PRAMIN_BASE + ((u64)i << PAGE_SHIFT));
}

static void find_in_userd(struct dirty_range *u, const struct kvgpu_vgpu *v)
{
	u32 g;

	for (g = 0; v->m->view.userd_bar1 != ~0ull && g < KVGPU_NR_ID_BLOCKS; g++)
		if (v->m->ids.block[g] >= 0)
			zap_add(u, v->m->view.userd_page[g], 1,
				v->m->view.userd_bar1 + ((u64)g << PAGE_SHIFT));
}

/*
 * Notes that tables have the range's pages, and clears their marks. Returns a bit for each page
 * that had a mark, or was no table's: the CPU may have mapped such a page, by any BAR. Cuts the
 * range to the pages from the first to the last of them. map_lock is held.
 */
static u64 dirty_log_clear(struct kvgpu_machine *m, struct dirty_range *u)
{
	u32 first = u->first, end = first + u->nr, page;
	u64 dirty = 0;
	bool fresh;

	for (page = first; page < end; page++) {
		fresh = !test_and_set_bit(page, m->dirty.tables);
		u->by_bar1 |= test_and_clear_bit(page, m->dirty.log_bar1) || fresh;
		if (!test_and_clear_bit(page, m->dirty.log) && !fresh)
			continue;
		if (!dirty)
			u->first = page;
		u->nr = page - u->first + 1;
		dirty |= BIT_ULL(page - first);
	}
	return dirty;
}

/*
 * Returns how many of @nr pages from @a on are in the partition, from the first on. The others
 * always count as written: the host does not notice writes to system memory.
 */
static u32 pages_in_part(const struct kvgpu_vgpu *v, struct kvgpu_gaddr a, u32 nr)
{
	u64 first = a.addr >> PAGE_SHIFT, pages = vmach_part_pages_count(v);

	return a.target != KVGPU_VRAM || first >= pages ? 0 : min_t(u64, nr, pages - first);
}

void vmach_tables_forget(void *ctx, struct kvgpu_gaddr a, u32 nr)
{
	struct kvgpu_vgpu *v = ctx;
	unsigned long first = a.addr >> PAGE_SHIFT;

	nr = pages_in_part(v, a, nr);
	if (!nr || find_next_bit(v->m->dirty.tables, first + nr, first) >= first + nr)
		return;
	mutex_lock(&v->map_lock);
	bitmap_clear(v->m->dirty.tables, first, nr);
	/* another space may have them: its sync asks again, and no write before it goes unseen */
	v->m->dirty.written = true;
	mutex_unlock(&v->map_lock);
}

static bool part_is_dirty(const struct kvgpu_vgpu *v, unsigned long first, u32 nr)
{
	return find_next_zero_bit(v->m->dirty.tables, first + nr, first) < first + nr ||
	       find_next_bit(v->m->dirty.log, first + nr, first) < first + nr;
}

bool vmach_pages_are_dirty(void *ctx, struct kvgpu_gaddr a, u32 nr)
{
	return pages_in_part(ctx, a, nr) < nr || part_is_dirty(ctx, a.addr >> PAGE_SHIFT, nr);
}

static void zaps_do(struct kvgpu_vgpu *v, const struct dirty_range *u)
{
	u32 i;

	if (u->nr_zaps > ZAP_MAX) {
		kvgpu_mdev_bar_zap(v, 0, PRAMIN_BASE, PRAMIN_SIZE);
		for (i = 0; i < KVGPU_NR_BARS; i++)
			kvgpu_mdev_bar_zap(v, kvgpu_bar_number(i), 0, v->type->bar[i]);
		return;
	}
	for (i = 0; i < u->nr_zaps; i++)
		kvgpu_mdev_bar_zap(v, u->zap[i].region, u->zap[i].at, u->zap[i].len);
}

u64 vmach_dirty_log_take(void *ctx, struct kvgpu_gaddr a, u32 nr)
{
	struct kvgpu_vgpu *v = ctx;
	struct kvgpu_machine *m = v->m;
	unsigned long first = a.addr >> PAGE_SHIFT;
	u32 in_part = pages_in_part(v, a, nr);
	u64 dirty, outside = nr > in_part ? GENMASK_ULL(nr - 1, in_part) : 0;
	struct dirty_range u = { .first = first, .nr = in_part };

	if (!in_part || !part_is_dirty(v, first, in_part))
		return outside;
	mutex_lock(&v->map_lock);
	dirty = dirty_log_clear(m, &u);
	find_in_window(&u, &m->view.win[KVGPU_BAR3]);
	if (u.by_bar1) {
		find_in_window(&u, &m->view.win[KVGPU_BAR1]);
		find_in_pramin(&u, v);
		find_in_userd(&u, v);
	}
	mutex_unlock(&v->map_lock);
	zaps_do(v, &u);
	vmach_stage_drop(m);
	return dirty | outside;
}

void vmach_range_mark_dirty(struct kvgpu_vgpu *v, u64 off, u64 len)
{
	u64 page;

	mutex_lock(&v->map_lock);
	for (page = off >> PAGE_SHIFT; page <= (off + len - 1) >> PAGE_SHIFT; page++)
		vmach_page_mark_dirty(v, min_t(u64, page, NO_PAGE), KVGPU_BAR3);
	mutex_unlock(&v->map_lock);
}

void vmach_mmu_hide(struct kvgpu_vgpu *v)
{
	bool shown;

	mutex_lock(&v->map_lock);
	shown = v->m->dirty.mmu_shown;
	v->m->dirty.mmu_shown = false;
	mutex_unlock(&v->map_lock);
	if (shown)
		kvgpu_mdev_bar_zap(v, 0, KVGPU_TRAP_MMU_BASE, KVGPU_TRAP_MMU_SIZE);
}

void vmach_written_settle(struct kvgpu_vgpu *v)
{
	if (v->m->dirty.written)
		vmach_mmu_hide(v);
}
