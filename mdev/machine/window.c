// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the CPU sees of a vGPU: its slices of BAR1 and BAR3 through the guest's own tables (or, in
 * physical mode, the partition), 1 MiB of BAR1 that follows the guest's PRAMIN window, and
 * doorbells.
 *
 * The frame behind a page of a slice never changes; what it shows is the card's table's business,
 * and a page that shows nothing of the guest's shows its scrap page. Only doorbells have another
 * frame: a guest page of eight channels' USERD is overlaid by the page of the card's USERD window
 * that belongs to the same eight channels (D5), since the card takes a write for a doorbell by
 * where it is in BAR1. Both show the same page of the partition.
 *
 * What the CPU touches is noted (touched.c). When a window's entries change, pages that come to be
 * shown count as touched at once, because the CPU may hit them through a mapping of before until
 * the zap is done.
 */
#include <linux/io.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gk110/bar.h"
#include "mdev/machine/internal.h"

static u64 scrap_pte(const struct kvgpu_vgpu *v)
{
	return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, v->m->scrap.at.v >> GMMU_ADDR_SHIFT);
}

/* the page of the partition that a card's entry shows, or NO_PAGE */
static u32 page_of(const struct kvgpu_vgpu *v, u64 pte)
{
	u64 page = FIELD_GET(GMMU_PTE_ADDR, pte) - (v->part.v >> GMMU_ADDR_SHIFT);

	if (!(pte & GMMU_PTE_VALID) || FIELD_GET(GMMU_PTE_APERTURE, pte) != GMMU_PTE_APERTURE_VRAM)
		return NO_PAGE;
	return page < machine_part_pages(v) ? page : NO_PAGE;
}

/* ----------------------------------------------------------------- changing what a window shows */

static void changed(struct kvgpu_vgpu *v, struct machine_win *w, u32 first, u32 last)
{
	if (last < first)
		return;
	kvgpu_hw_bar_set(&v->gpu->hw, w->bar, w->first + first, w->pte + first, last - first + 1);
	w->stale = true;
	w->zap_first = min(w->zap_first, first);
	w->zap_last = max(w->zap_last, last);
}

static void sync_one(struct kvgpu_vgpu *v, struct machine_win *w, bool bound, bool is_virtual,
		     struct kvgpu_gaddr pd, u64 limit)
{
	u32 first = 1, last = 0;
	int ret;

	if (!bound || !is_virtual)
		return;
	ret = kvgpu_win_sync(&v->m->shadow, w->win, pd, limit, w->pages, machine_range_dirty,
			     scrap_pte(v), w->pte, &first, &last);
	if (!ret)
		changed(v, w, first, last);
}

void machine_windows_sync(struct kvgpu_vgpu *v)
{
	sync_one(v, &v->m->win1, v->m->bar1.bound, v->m->bar1.is_virtual, v->m->bar1.pd,
		 v->m->bar1.limit);
	sync_one(v, &v->m->win3, v->m->bar3.bound, v->m->bar3.is_virtual, v->m->bar3.pd,
		 v->m->bar3.limit);
}

static bool stale(struct kvgpu_vgpu *v, struct machine_win *w)
{
	u32 first, last;

	/* kvgpu_shadow_unmap() took something out */
	if (kvgpu_win_take(w->win, &first, &last))
		changed(v, w, first, last);
	return w->stale;
}

bool machine_windows_stale(struct kvgpu_vgpu *v)
{
	bool one = stale(v, &v->m->win1);

	return stale(v, &v->m->win3) || one;
}

static int invalidate_one(struct kvgpu_vgpu *v, struct machine_win *w)
{
	if (!w->stale)
		return 0;
	w->stale = false;
	return machine_wedged(v->gpu) ? 0 : kvgpu_hw_bar_invalidate(&v->gpu->hw, w->bar);
}

int machine_windows_invalidate(struct kvgpu_vgpu *v)
{
	int ret = invalidate_one(v, &v->m->win1);

	return invalidate_one(v, &v->m->win3) ?: ret;
}

static void zap_one(struct kvgpu_vgpu *v, struct machine_win *w)
{
	u32 i;

	if (w->zap_last < w->zap_first)
		return;
	mutex_lock(&v->map_lock);
	for (i = w->zap_first; i <= w->zap_last; i++) {
		u32 page = page_of(v, w->pte[i]);

		if (w->shows[i] == page)
			continue;
		w->shows[i] = page;
		machine_touch(v, page, w->bar == 3);
	}
	mutex_unlock(&v->map_lock);
	vgpu_zap_bar(v, w->bar, (u64)w->zap_first << PAGE_SHIFT,
		     (u64)(w->zap_last - w->zap_first + 1) << PAGE_SHIFT);
	w->zap_first = NO_PAGE;
	w->zap_last = 0;
}

void machine_windows_zap(struct kvgpu_vgpu *v)
{
	zap_one(v, &v->m->win1);
	zap_one(v, &v->m->win3);
}

/* ------------------------------------------------------------------ commands of the guest */

static void show_linear(struct kvgpu_vgpu *v, struct machine_win *w)
{
	u32 first = 1, last = 0;

	if (!kvgpu_win_linear(&v->m->shadow, w->win, w->pages, scrap_pte(v), w->pte, &first, &last))
		changed(v, w, first, last);
}

/*
 * the words of an instance block that say where the tables are; an unreadable one is as an empty
 * space
 */
static int read_space(struct kvgpu_vgpu *v, struct kvgpu_gaddr inst, struct kvgpu_gaddr *pd,
		      u64 *limit)
{
	u32 w[4];
	int ret;

	inst.addr += GMMU_INST_PDB_LO;
	ret = machine_read(v, inst, w, sizeof(w));
	if (ret)
		return ret;
	pd->target = FIELD_GET(GMMU_INST_PDB_LO_TARGET, w[0]);
	pd->addr = (w[0] & GMMU_INST_PDB_LO_ADDR) | (u64)FIELD_GET(GMMU_INST_PDB_HI_ADDR, w[1])
							    << 32;
	*limit = (w[2] & GMMU_INST_LIMIT_LO_ADDR) |
		 (u64)FIELD_GET(GMMU_INST_LIMIT_HI_ADDR, w[3]) << 32 | (PAGE_SIZE - 1);
	return pd->target == KVGPU_PEER ? -EINVAL : 0;
}

void machine_window_bind(struct kvgpu_vgpu *v, u8 bar, bool is_virtual, struct kvgpu_gaddr inst)
{
	struct machine_win *w = bar == 1 ? &v->m->win1 : &v->m->win3;
	typeof(v->m->bar1) b = { .bound = true, .is_virtual = is_virtual, .inst = inst };

	machine_stage_drop(v->m);
	if (is_virtual && read_space(v, inst, &b.pd, &b.limit)) {
		vgpu_note_fault(v, "BAR bound to an instance block that can't be read", -1, inst.addr, bar);
		b.bound = b.is_virtual = false;
	}
	if (bar == 1)
		v->m->bar1 = b;
	else
		v->m->bar3 = b;
	if (!b.is_virtual)
		show_linear(v, w);
	machine_sync(v);
}

void machine_pramin_move(struct kvgpu_vgpu *v, struct kvgpu_gaddr base)
{
	struct kvgpu_machine *m = v->m;
	u64 off, scrap = scrap_pte(v);
	u32 i;

	if (base.target == m->pramin.target && base.addr == m->pramin.addr)
		return;
	for (i = 0; i < ARRAY_SIZE(m->pramin_pte); i++) {
		off = base.addr + ((u64)i << PAGE_SHIFT);
		m->pramin_next[i] =
			base.target != KVGPU_VRAM || off >= v->part_size ?
				scrap :
				GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR,
							    (v->part.v + off) >> GMMU_ADDR_SHIFT);
	}
	kvgpu_hw_bar_set(&v->gpu->hw, 1, v->pramin_slice >> PAGE_SHIFT, m->pramin_next,
			 ARRAY_SIZE(m->pramin_next));
	m->win1.stale = true;
	machine_settle(v);
	mutex_lock(&v->map_lock);
	m->pramin = base;
	memcpy(m->pramin_pte, m->pramin_next, sizeof(m->pramin_pte));
	for (i = 0; i < ARRAY_SIZE(m->pramin_pte); i++)
		machine_touch(v, page_of(v, m->pramin_pte[i]), false);
	mutex_unlock(&v->map_lock);
	vgpu_zap_bar(v, 0, PRAMIN_BASE, PRAMIN_SIZE);
}

static void zap_userd(struct kvgpu_vgpu *v, u64 at)
{
	if (at < v->type->bar1)
		vgpu_zap_bar(v, 1, at, min_t(u64, KVGPU_USERD_SIZE, v->type->bar1 - at));
}

void machine_userd_move(struct kvgpu_vgpu *v, bool valid, u64 off)
{
	u64 old = v->m->userd_bar1, now = valid && off < v->type->bar1 ? off : ~0ull;

	if (old == now)
		return;
	mutex_lock(&v->map_lock);
	v->m->userd_bar1 = now;
	mutex_unlock(&v->map_lock);
	zap_userd(v, old);
	zap_userd(v, now);
}

void machine_userd_show(struct kvgpu_vgpu *v, u16 g, int hgroup, u32 page)
{
	u64 at;

	mutex_lock(&v->map_lock);
	v->m->group[g] = hgroup;
	v->m->userd_page[g] = page;
	if (hgroup >= 0)
		machine_touch(v, page, false);
	at = v->m->userd_bar1 == ~0ull ? ~0ull : v->m->userd_bar1 + ((u64)g << PAGE_SHIFT);
	mutex_unlock(&v->map_lock);
	if (at < v->type->bar1)
		vgpu_zap_bar(v, 1, at, PAGE_SIZE);
}

/* ------------------------------------------------------------------ the CPU */

/* the guest group whose doorbells are at @off of BAR1, -1: none that is overlaid */
static int userd_group(const struct kvgpu_vgpu *v, u64 off)
{
	u64 g = (off - v->m->userd_bar1) >> PAGE_SHIFT;

	if (v->m->userd_bar1 == ~0ull || off < v->m->userd_bar1 || g >= KVGPU_NR_GROUPS ||
	    v->m->group[g] < 0)
		return -1;
	return g;
}

static int fault_pramin(struct kvgpu_vgpu *v, u64 off, unsigned long *pfn)
{
	u64 at = off - PRAMIN_BASE;

	if (off < PRAMIN_BASE || at >= PRAMIN_SIZE)
		return -EFAULT;
	machine_touch(v, page_of(v, v->m->pramin_pte[at >> PAGE_SHIFT]), false);
	*pfn = (v->gpu->hw.bar1_phys + v->pramin_slice + at) >> PAGE_SHIFT;
	return 0;
}

int vgpu_machine_fault(struct kvgpu_vgpu *v, unsigned int region, u64 off, unsigned long *pfn)
{
	struct kvgpu_hw *hw = &v->gpu->hw;
	struct machine_win *w = region == 1 ? &v->m->win1 : &v->m->win3;
	u64 i = off >> PAGE_SHIFT;
	int g;

	lockdep_assert_held(&v->map_lock);
	if (!region)
		return fault_pramin(v, off, pfn);
	if ((region != 1 && region != 3) || i >= w->pages)
		return -EFAULT;
	g = region == 1 ? userd_group(v, off) : -1;
	if (g >= 0) {
		machine_touch(v, v->m->userd_page[g], false);
		*pfn = (hw->bar1_phys >> PAGE_SHIFT) + v->m->group[g];
		return 0;
	}
	machine_touch(v, w->shows[i], region == 3);
	*pfn = ((region == 1 ? hw->bar1_phys : hw->bar3_phys) >> PAGE_SHIFT) + w->first + i;
	return 0;
}

static void __iomem *host_view(struct kvgpu_vgpu *v, unsigned int region, u64 off)
{
	struct kvgpu_machine *m = v->m;
	int g;

	if (!region)
		return m->pramin_cpu + (off - PRAMIN_BASE);
	if (region == 3)
		return m->win3.cpu + off;
	g = userd_group(v, off & PAGE_MASK);
	return g < 0 ? m->win1.cpu + off :
		       m->userd_cpu + ((u64)m->group[g] << PAGE_SHIFT) + offset_in_page(off);
}

/* in one store where the guest's was one: a doorbell must not arrive in pieces */
static void store(void __iomem *to, const void *buf, size_t len)
{
	if (len == 8 && IS_ALIGNED((unsigned long)to, 8))
		writeq(*(const u64 *)buf, to);
	else if (len == 4 && IS_ALIGNED((unsigned long)to, 4))
		writel(*(const u32 *)buf, to);
	else
		memcpy_toio(to, buf, len);
	wmb();
}

/* something of [off, off + len) of BAR1 */
static bool is_doorbell(const struct kvgpu_vgpu *v, u64 off, size_t len)
{
	u64 userd = v->m->userd_bar1;

	return userd != ~0ull && off + len > userd && off < userd + KVGPU_USERD_SIZE;
}

int vgpu_machine_bar_access(struct kvgpu_vgpu *v, unsigned int region, u64 off, void *buf,
			    size_t len, bool write)
{
	void __iomem *at;
	unsigned long pfn;
	int ret;

	lockdep_assert_held(&v->lock);
	if (write && region == 1 && is_doorbell(v, off, len))
		atomic64_inc(&v->m->doorbells_trapped);
	if (len > PAGE_SIZE - offset_in_page(off))
		return -EINVAL;
	mutex_lock(&v->map_lock);
	ret = vgpu_machine_fault(v, region, off & PAGE_MASK, &pfn);
	mutex_unlock(&v->map_lock);
	if (ret)
		return ret;
	at = host_view(v, region, off);
	if (write)
		store(at, buf, len);
	else
		memcpy_fromio(buf, at, len);
	return 0;
}

/* ------------------------------------------------------------------ life */

static void show_nothing(struct kvgpu_vgpu *v, struct machine_win *w)
{
	u32 i;

	for (i = 0; i < w->pages; i++)
		w->pte[i] = scrap_pte(v);
	changed(v, w, 0, w->pages - 1);
}

static int win_init(struct kvgpu_vgpu *v, struct machine_win *w, u8 bar, u64 size, u64 slice)
{
	struct kvgpu_hw *hw = &v->gpu->hw;

	w->bar = bar;
	w->pages = size >> PAGE_SHIFT;
	w->first = slice >> PAGE_SHIFT;
	w->zap_first = NO_PAGE;
	w->pte = kvcalloc(w->pages, sizeof(u64), GFP_KERNEL_ACCOUNT);
	w->shows = kvmalloc_array(w->pages, sizeof(u32), GFP_KERNEL_ACCOUNT);
	w->win = kvzalloc(kvgpu_win_size(w->pages), GFP_KERNEL_ACCOUNT);
	if (!w->pte || !w->shows || !w->win)
		return -ENOMEM;
	memset(w->shows, 0xff, w->pages * sizeof(u32));
	w->cpu = ioremap_wc((bar == 1 ? hw->bar1_phys : hw->bar3_phys) + slice, size);
	return w->cpu ? 0 : -ENOMEM;
}

int machine_windows_init(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct kvgpu_hw *hw = &v->gpu->hw;
	int ret;

	ret = win_init(v, &m->win1, 1, v->type->bar1, v->bar1_slice);
	ret = ret ?: win_init(v, &m->win3, 3, v->type->bar3, v->bar3_slice);
	if (ret)
		return ret;
	m->pramin_cpu = ioremap_wc(hw->bar1_phys + v->pramin_slice, PRAMIN_SIZE);
	m->userd_cpu = ioremap(hw->bar1_phys, KVGPU_USERD_SIZE);
	if (!m->pramin_cpu || !m->userd_cpu)
		return -ENOMEM;
	memset_io(m->scrap.cpu, 0, PAGE_SIZE);
	machine_windows_close(v);
	return 0;
}

void machine_windows_reset(struct kvgpu_vgpu *v)
{
	machine_userd_move(v, false, 0);
	memset(&v->m->bar1, 0, sizeof(v->m->bar1));
	memset(&v->m->bar3, 0, sizeof(v->m->bar3));
	show_linear(v, &v->m->win1);
	show_linear(v, &v->m->win3);
	machine_settle(v);
	machine_pramin_move(v, (struct kvgpu_gaddr){ KVGPU_VRAM, 0 });
}

void machine_windows_close(struct kvgpu_vgpu *v)
{
	machine_userd_move(v, false, 0);
	memset(&v->m->bar1, 0, sizeof(v->m->bar1));
	memset(&v->m->bar3, 0, sizeof(v->m->bar3));
	kvgpu_win_fini(&v->m->shadow, v->m->win1.win);
	kvgpu_win_fini(&v->m->shadow, v->m->win3.win);
	show_nothing(v, &v->m->win1);
	show_nothing(v, &v->m->win3);
	machine_pramin_move(v, (struct kvgpu_gaddr){ KVGPU_PEER, 0 });
	machine_settle(v);
}

/*
 * the scrap page goes back to the pool, and who still reaches the slices by way of an IOMMU must
 * not find there what comes next
 */
static void show_nowhere(struct kvgpu_vgpu *v, unsigned int bar, u64 slice, u64 size)
{
	u64 pte = GMMU_PTE_VALID |
		  FIELD_PREP(GMMU_PTE_ADDR, v->gpu->chip->nowhere.at.v >> GMMU_ADDR_SHIFT);
	u32 i;

	for (i = 0; i < size >> PAGE_SHIFT; i++)
		kvgpu_hw_bar_set(&v->gpu->hw, bar, (slice >> PAGE_SHIFT) + i, &pte, 1);
}

static void leave_slices(struct kvgpu_vgpu *v)
{
	struct kvgpu_hw *hw = &v->gpu->hw;

	if (machine_wedged(v->gpu))
		return;
	show_nowhere(v, 1, v->bar1_slice, v->type->bar1);
	show_nowhere(v, 1, v->pramin_slice, PRAMIN_SIZE);
	show_nowhere(v, 3, v->bar3_slice, v->type->bar3);
	if (kvgpu_hw_bar_flush(hw, 1) || kvgpu_hw_bar_flush(hw, 3))
		machine_wedge(v->gpu, "a BAR's TLB was not invalidated");
}

void machine_windows_fini(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct machine_win *all[] = { &m->win1, &m->win3 };
	unsigned int i;

	leave_slices(v);
	if (m->userd_cpu)
		iounmap(m->userd_cpu);
	if (m->pramin_cpu)
		iounmap(m->pramin_cpu);
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i]->cpu)
			iounmap(all[i]->cpu);
		kvfree(all[i]->shows);
		kvfree(all[i]->pte);
		kvfree(all[i]->win);
	}
}
