// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPU's view of a vGPU. It has three parts. The vGPU's windows, which are its slices of the
 * card's BAR1 and BAR3, show memory through the guest's own tables (or, in physical mode, the
 * partition). PRAMIN, 1 MiB of the guest's BAR0, is served by another 1 MiB of the card's BAR1.
 * Doorbells are the USERD areas of the vGPU's channels: a write there tells the card of new work.
 *
 * The frame behind a page of a slice never changes. The host's table of the BAR (hw/bar.c) decides
 * what the frame shows, and a page without a translation by the guest shows the vGPU's scrap page.
 * Doorbells differ. Where the guest's BAR1 has the USERD page of eight channels, and one of them
 * was bound, a mapping gets a page from outside of the slice: these channels' page of the card's
 * own USERD window. The card knows a doorbell by its place in BAR1.
 *
 * A page of a guest's table that the CPU may have written is marked dirty (dirty.c). When entries
 * of a window change, CPU mappings stay, as the frames do. So the pages of tables that these
 * entries did not show before are marked dirty: the CPU may reach them without a fault, through an
 * old mapping.
 */
#include <linux/io.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gk110/bar.h"
#include "mdev/machine/internal.h"

/* Returns an entry of a BAR's table that leads to the vGPU's scrap page. */
static u64 scrap_pte(const struct kvgpu_vgpu *v)
{
	return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, v->m->mem.scrap.at.v >> GMMU_ADDR_SHIFT);
}

/* Returns the page of the partition to which @pte, an entry of a slice, leads, or NO_PAGE. */
static u32 part_page_of(const struct kvgpu_vgpu *v, u64 pte)
{
	u64 page = FIELD_GET(GMMU_PTE_ADDR, pte) - (v->part.v >> GMMU_ADDR_SHIFT);

	if (!(pte & GMMU_PTE_VALID) || FIELD_GET(GMMU_PTE_APERTURE, pte) != GMMU_PTE_APERTURE_VRAM)
		return NO_PAGE;
	return page < vmach_part_pages_count(v) ? page : NO_PAGE;
}

/* --------------------------------------- change what a window shows: entries, TLB, CPU mappings */

/*
 * Writes entries @first to @last of w->pte to the BAR's table. Notes that the TLB and w->shows have
 * to follow.
 */
static void win_changed(struct kvgpu_vgpu *v, struct machine_win *w, u32 first, u32 last)
{
	kvgpu_hw_bar_set(&v->gpu->hw, w->bar, (v->slice[w->bar] >> PAGE_SHIFT) + first,
			 w->pte + first, last - first + 1);
	w->stale = true;
	w->show_first = min(w->show_first, first);
	w->show_last = max(w->show_last, last);
}

/* Syncs a window in virtual mode; vmach_windows_stale() writes the changed entries out. */
static void win_sync_one(struct kvgpu_vgpu *v, struct machine_win *w)
{
	kvgpu_shadow_win_sync(&v->m->mem.shadow, w->win, w->guest.pd, w->guest.limit, w->pages,
			      scrap_pte(v), w->pte);
}

/* The same for physical mode: the window shows the partition from its start on. */
static void win_show_linear(struct kvgpu_vgpu *v, struct machine_win *w)
{
	kvgpu_shadow_win_set_linear(&v->m->mem.shadow, w->win, w->pages, scrap_pte(v), w->pte);
}

void vmach_windows_sync(struct kvgpu_vgpu *v, const struct kvgpu_gaddr *pd, bool behind)
{
	struct machine_win *w;

	for (w = v->m->view.win; w < v->m->view.win + KVGPU_NR_BARS; w++)
		if (w->guest.is_virtual && (behind ? kvgpu_shadow_win_is_behind(w->win) :
						     kvgpu_shadow_win_is_due(w->win, pd)))
			win_sync_one(v, w);
}

bool vmach_windows_stale(struct kvgpu_vgpu *v)
{
	struct machine_win *w;
	bool any = false;
	u32 first, last;

	for (w = v->m->view.win; w < v->m->view.win + KVGPU_NR_BARS; w++) {
		if (kvgpu_shadow_win_take(w->win, &first, &last))
			win_changed(v, w, first, last);
		any |= w->stale;
	}
	return any;
}

void vmach_windows_invalidate(struct kvgpu_vgpu *v)
{
	struct machine_win *w;

	for (w = v->m->view.win; w < v->m->view.win + KVGPU_NR_BARS; w++) {
		if (w->stale && !vmach_gpu_lost(v->gpu) &&
		    kvgpu_hw_bar_invalidate(&v->gpu->hw, w->bar))
			vmach_gpu_declare_lost(v->gpu, "a BAR's TLB was not invalidated");
		w->stale = false;
	}
}

/*
 * Brings .shows up to date with the changed entries, and marks dirty the pages of tables that these
 * entries did not show before.
 */
void vmach_windows_show(struct kvgpu_vgpu *v)
{
	struct machine_win *w;
	u32 i, page;

	for (w = v->m->view.win; w < v->m->view.win + KVGPU_NR_BARS; w++) {
		mutex_lock(&v->map_lock);
		for (i = w->show_first; i <= w->show_last; i++) {
			page = part_page_of(v, w->pte[i]);
			if (w->shows[i] == page)
				continue;
			w->shows[i] = page;
			vmach_page_mark_dirty(v, page, w->bar);
		}
		mutex_unlock(&v->map_lock);
		w->show_first = NO_PAGE;
		w->show_last = 0;
	}
	vmach_written_settle(v);
}

/* ---------------------------------- the guest's commands: bind a BAR, move PRAMIN and doorbells */

/* Reads the page directory and the limit of a space from instance block @inst. */
static int read_space(struct kvgpu_vgpu *v, struct kvgpu_gaddr inst, struct kvgpu_gaddr *pd,
		      u64 *limit)
{
	u32 w[4];
	int ret;

	inst.addr += GMMU_INST_PDB_LO;
	ret = vmach_guest_read(v, inst, w, sizeof(w));
	if (ret)
		return ret;
	pd->target = FIELD_GET(GMMU_INST_PDB_LO_TARGET, w[0]);
	pd->addr = (w[0] & GMMU_INST_PDB_LO_ADDR) | (u64)FIELD_GET(GMMU_INST_PDB_HI_ADDR, w[1])
							    << 32;
	*limit = (w[2] & GMMU_INST_LIMIT_LO_ADDR) |
		 (u64)FIELD_GET(GMMU_INST_LIMIT_HI_ADDR, w[3]) << 32 | (PAGE_SIZE - 1);
	return kvgpu_target_ok(pd->target) ? 0 : -EINVAL;
}

void vmach_window_bind(struct kvgpu_vgpu *v, enum kvgpu_bar bar, bool is_virtual,
		       struct kvgpu_gaddr inst)
{
	struct machine_win *w = &v->m->view.win[bar];
	typeof(w->guest) guest = { .bound = true, .is_virtual = is_virtual, .inst = inst };

	if (is_virtual && read_space(v, inst, &guest.pd, &guest.limit)) {
		kvgpu_mdev_fault_note(v, "BAR bound to an instance block that can't be read", -1,
				      inst.addr, kvgpu_bar_number(bar));
		guest.bound = guest.is_virtual = false;
	}
	w->guest = guest;
	if (guest.is_virtual)
		win_sync_one(v, w);
	else
		win_show_linear(v, w);
	vmach_shadow_commit(v);
}

void vmach_pramin_move(struct kvgpu_vgpu *v, struct kvgpu_gaddr base)
{
	struct kvgpu_machine *m = v->m;
	u64 pte, part = v->part.v >> GMMU_ADDR_SHIFT;
	u32 i, page;

	if (base.target == m->view.pramin.target && base.addr == m->view.pramin.addr)
		return;
	for (i = 0; i < PRAMIN_SIZE >> PAGE_SHIFT; i++) {
		page = vmach_pramin_page(v, base, i);
		pte = GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, part + page);
		if (page == NO_PAGE)
			pte = scrap_pte(v);
		kvgpu_hw_bar_set(&v->gpu->hw, KVGPU_BAR1, (v->pramin_slice >> PAGE_SHIFT) + i, &pte,
				 1);
	}
	m->view.win[KVGPU_BAR1].stale = true;
	vmach_shadow_commit(v);
	mutex_lock(&v->map_lock);
	m->view.pramin = base;
	for (i = 0; i < PRAMIN_SIZE >> PAGE_SHIFT; i++)
		vmach_page_mark_dirty(v, vmach_pramin_page(v, base, i), KVGPU_BAR1);
	mutex_unlock(&v->map_lock);
	vmach_written_settle(v);
}

static void zap_userd(struct kvgpu_vgpu *v, u64 at)
{
	if (at < v->type->bar[KVGPU_BAR1])
		kvgpu_mdev_bar_zap(v, kvgpu_bar_number(KVGPU_BAR1), at,
				   min_t(u64, KVGPU_USERD_SIZE, v->type->bar[KVGPU_BAR1] - at));
}

void vmach_userd_move(struct kvgpu_vgpu *v, bool valid, u64 off)
{
	u64 old = v->m->view.userd_bar1,
	    now = valid && off < v->type->bar[KVGPU_BAR1] ? off : ~0ull;

	if (old == now)
		return;
	mutex_lock(&v->map_lock);
	v->m->view.userd_bar1 = now;
	mutex_unlock(&v->map_lock);
	zap_userd(v, old);
	zap_userd(v, now);
}

void vmach_userd_show(struct kvgpu_vgpu *v, u16 g, int hblock, u32 page)
{
	u64 at = v->m->view.userd_bar1 + ((u64)g << PAGE_SHIFT);

	mutex_lock(&v->map_lock);
	v->m->ids.block[g] = hblock;
	v->m->view.userd_page[g] = page;
	if (hblock >= 0)
		vmach_page_mark_dirty(v, page, KVGPU_BAR1);
	mutex_unlock(&v->map_lock);
	vmach_written_settle(v);
	if (v->m->view.userd_bar1 != ~0ull && at < v->type->bar[KVGPU_BAR1])
		kvgpu_mdev_bar_zap(v, kvgpu_bar_number(KVGPU_BAR1), at, PAGE_SIZE);
}

/* -------------------------------- accesses of the CPU: find the frame of a page, read and write */

/* Returns the guest's id block whose doorbells are at offset @off of BAR1, or -1: none's. */
static int userd_group(const struct kvgpu_vgpu *v, u64 off)
{
	u64 g = (off - v->m->view.userd_bar1) >> PAGE_SHIFT;

	if (off < v->m->view.userd_bar1 || g >= KVGPU_NR_ID_BLOCKS || v->m->ids.block[g] < 0)
		return -1;
	return g;
}

/* Returns the window of VFIO region @region, or NULL if the region is no window. */
static struct machine_win *win_of(struct kvgpu_machine *m, unsigned int region)
{
	enum kvgpu_bar bar;

	for (bar = 0; bar < KVGPU_NR_BARS; bar++)
		if (kvgpu_bar_number(bar) == region)
			return &m->view.win[bar];
	return NULL;
}

/* A page of a region: the page of the partition (or NO_PAGE) that it shows, and its frame. */
struct view_page {
	enum kvgpu_bar bar; /* of the card */
	u32 page;
	unsigned long pfn;
	void __iomem *cpu; /* the host's mapping of the frame */
};

/* Finds the page at offset @off of a region. -EFAULT: none of the region is there. */
static int page_find(const struct kvgpu_vgpu *v, unsigned int region, u64 off, struct view_page *p)
{
	const struct kvgpu_machine *m = v->m;
	const struct machine_win *w = win_of(v->m, region);
	u64 i = off >> PAGE_SHIFT, userd;
	int g;

	lockdep_assert_held(&v->map_lock);
	p->bar = w ? w->bar : KVGPU_BAR1;
	if (!region && off >= PRAMIN_BASE && off - PRAMIN_BASE < PRAMIN_SIZE) {
		off -= PRAMIN_BASE;
		p->page = vmach_pramin_page(v, m->view.pramin, off >> PAGE_SHIFT);
		p->pfn = (v->gpu->hw.bar[KVGPU_BAR1].phys + v->pramin_slice + off) >> PAGE_SHIFT;
		p->cpu = m->view.pramin_cpu + off;
		return 0;
	}
	if (!w || i >= w->pages)
		return -EFAULT;
	g = w->bar == KVGPU_BAR1 ? userd_group(v, off) : -1;
	p->page = g < 0 ? w->shows[i] : m->view.userd_page[g];
	userd = g < 0 ? 0 : (u64)m->ids.block[g] << PAGE_SHIFT;
	p->pfn = (v->gpu->hw.bar[w->bar].phys + (g < 0 ? v->slice[w->bar] + off : userd)) >>
		 PAGE_SHIFT;
	p->cpu = g < 0 ? w->cpu + off : m->view.userd_cpu + userd;
	return 0;
}

static bool is_mmu_page(unsigned int region, u64 off)
{
	return !region && off == KVGPU_TRAP_MMU_BASE;
}

int kvgpu_machine_pfn_find(struct kvgpu_vgpu *v, unsigned int region, u64 off, unsigned long *pfn)
{
	bool mmu_shown = v->m->dirty.mmu_shown;
	struct view_page p;

	if (is_mmu_page(region, off)) {
		*pfn = vmalloc_to_pfn(v->own[VGPU_OWN_MMU].memory);
		return mmu_shown ? 0 : -EAGAIN;
	}
	if (page_find(v, region, off, &p))
		return -EFAULT;
	if (mmu_shown && vmach_page_is_table(v, p.page))
		return -EAGAIN;
	vmach_page_mark_dirty(v, p.page, p.bar);
	*pfn = p.pfn;
	return 0;
}

bool kvgpu_machine_pfn_find_plain(struct kvgpu_vgpu *v, unsigned int region, u64 off,
				  unsigned long *pfn)
{
	struct view_page p;

	if (page_find(v, region, off, &p) || vmach_page_is_table(v, p.page))
		return false;
	*pfn = p.pfn;
	return true;
}

void kvgpu_machine_fault_serve(struct kvgpu_vgpu *v, unsigned int region, u64 off)
{
	lockdep_assert_held(&v->lock);
	if (is_mmu_page(region, off))
		vmach_mmu_show(v);
	else
		vmach_mmu_hide(v);
}

/* Writes to a BAR of the card, 4 or 8 aligned bytes by one store: a doorbell may be there. */
static void view_store(void __iomem *to, const void *buf, size_t len)
{
	if (len == 8 && IS_ALIGNED((unsigned long)to, 8))
		writeq(*(const u64 *)buf, to);
	else if (len == 4 && IS_ALIGNED((unsigned long)to, 4))
		writel(*(const u32 *)buf, to);
	else
		memcpy_toio(to, buf, len);
	/* the CPU may hold back writes to combine them, and the next access may be a doorbell */
	wmb();
}

/* Tells whether [@off, @off + @len) of BAR1 overlaps the doorbells. */
static bool is_doorbell(const struct kvgpu_vgpu *v, u64 off, size_t len)
{
	u64 userd = v->m->view.userd_bar1;

	return off + len > userd && off < userd + KVGPU_USERD_SIZE;
}

int kvgpu_machine_bar_access(struct kvgpu_vgpu *v, unsigned int region, u64 off, void *buf,
			     size_t len, bool write)
{
	struct view_page p;
	int ret;

	lockdep_assert_held(&v->lock);
	if (write && region == kvgpu_bar_number(KVGPU_BAR1) && is_doorbell(v, off, len))
		atomic64_inc(&v->m->view.doorbells_trapped);
	mutex_lock(&v->map_lock);
	ret = page_find(v, region, off & PAGE_MASK, &p);
	if (!ret)
		vmach_page_mark_dirty(v, p.page, p.bar);
	mutex_unlock(&v->map_lock);
	if (ret)
		return ret;
	vmach_written_settle(v);
	if (write)
		view_store(p.cpu + offset_in_page(off), buf, len);
	else
		memcpy_fromio(buf, p.cpu + offset_in_page(off), len);
	return 0;
}

/* ---------------------------------------------------- set up, reset, close and free the windows */

/* Makes all pages of the window show the scrap page. */
static void win_show_nothing(struct kvgpu_vgpu *v, struct machine_win *w)
{
	u32 i;

	for (i = 0; i < w->pages; i++)
		w->pte[i] = scrap_pte(v);
	win_changed(v, w, 0, w->pages - 1);
}

static int win_init(struct kvgpu_vgpu *v, enum kvgpu_bar bar)
{
	struct machine_win *w = &v->m->view.win[bar];
	u64 size = v->type->bar[bar];

	w->bar = bar;
	w->pages = size >> PAGE_SHIFT;
	w->show_first = NO_PAGE;
	w->pte = kvcalloc(w->pages, sizeof(u64), GFP_KERNEL_ACCOUNT);
	w->shows = kvmalloc_array(w->pages, sizeof(u32), GFP_KERNEL_ACCOUNT);
	w->win = kvzalloc(kvgpu_shadow_win_size(w->pages), GFP_KERNEL_ACCOUNT);
	if (!w->pte || !w->shows || !w->win)
		return -ENOMEM;
	memset(w->shows, 0xff, w->pages * sizeof(u32));
	w->cpu = ioremap_wc(v->gpu->hw.bar[bar].phys + v->slice[bar], size);
	return w->cpu ? 0 : -ENOMEM;
}

int vmach_windows_init(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct kvgpu_hw *hw = &v->gpu->hw;
	enum kvgpu_bar bar;
	int ret = 0;

	for (bar = 0; !ret && bar < KVGPU_NR_BARS; bar++)
		ret = win_init(v, bar);
	if (ret)
		return ret;
	m->view.pramin_cpu = ioremap_wc(hw->bar[KVGPU_BAR1].phys + v->pramin_slice, PRAMIN_SIZE);
	m->view.userd_cpu = ioremap(hw->bar[KVGPU_BAR1].phys, KVGPU_USERD_SIZE);
	if (!m->view.pramin_cpu || !m->view.userd_cpu)
		return -ENOMEM;
	vmach_windows_close(v);
	return 0;
}

void vmach_windows_reset(struct kvgpu_vgpu *v)
{
	enum kvgpu_bar bar;

	/* there is no table: no space, and no window of the guest's */
	mutex_lock(&v->map_lock);
	bitmap_zero(v->m->dirty.tables, vmach_part_pages_count(v));
	mutex_unlock(&v->map_lock);
	for (bar = 0; bar < KVGPU_NR_BARS; bar++)
		win_show_linear(v, &v->m->view.win[bar]);
	vmach_shadow_commit(v);
	vmach_pramin_move(v, (struct kvgpu_gaddr){ KVGPU_VRAM, 0 });
}

void vmach_windows_close(struct kvgpu_vgpu *v)
{
	struct machine_win *w;

	vmach_userd_move(v, false, 0);
	for (w = v->m->view.win; w < v->m->view.win + KVGPU_NR_BARS; w++) {
		memset(&w->guest, 0, sizeof(w->guest));
		kvgpu_shadow_win_fini(&v->m->mem.shadow, w->win);
		win_show_nothing(v, w);
	}
	vmach_pramin_move(v, (struct kvgpu_gaddr){ KVGPU_PEER, 0 });
	vmach_shadow_commit(v);
}

/*
 * Another device may still reach the slice through an IOMMU: makes it show a page that no vGPU has,
 * because the memory of the scrap page will get another use.
 */
static void slice_show_nowhere(struct kvgpu_vgpu *v, enum kvgpu_bar bar, u64 slice, u64 size)
{
	u64 pte = GMMU_PTE_VALID |
		  FIELD_PREP(GMMU_PTE_ADDR, v->gpu->chip->pool.dummy_page.at.v >> GMMU_ADDR_SHIFT);
	u32 i;

	for (i = 0; i < size >> PAGE_SHIFT; i++)
		kvgpu_hw_bar_set(&v->gpu->hw, bar, (slice >> PAGE_SHIFT) + i, &pte, 1);
}

static void leave_slices(struct kvgpu_vgpu *v)
{
	enum kvgpu_bar bar;
	int ret = 0;

	if (vmach_gpu_lost(v->gpu))
		return;
	slice_show_nowhere(v, KVGPU_BAR1, v->pramin_slice, PRAMIN_SIZE);
	for (bar = 0; bar < KVGPU_NR_BARS; bar++)
		slice_show_nowhere(v, bar, v->slice[bar], v->type->bar[bar]);
	for (bar = 0; !ret && bar < KVGPU_NR_BARS; bar++)
		ret = kvgpu_hw_bar_flush(&v->gpu->hw, bar);
	if (ret)
		vmach_gpu_declare_lost(v->gpu, "a BAR's TLB was not invalidated");
}

void vmach_windows_fini(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct machine_win *w;

	leave_slices(v);
	if (m->view.userd_cpu)
		iounmap(m->view.userd_cpu);
	if (m->view.pramin_cpu)
		iounmap(m->view.pramin_cpu);
	for (w = m->view.win; w < m->view.win + KVGPU_NR_BARS; w++) {
		if (w->cpu)
			iounmap(w->cpu);
		kvfree(w->shows);
		kvfree(w->pte);
		kvfree(w->win);
	}
}
