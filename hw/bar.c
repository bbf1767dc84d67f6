// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables by which the host translates BAR1 and BAR3. Each 4 KiB page of a BAR has an entry, but
 * at the top of BAR1 entries of big pages (128 KiB) show the pool, video memory for structures of
 * the host. The directory entry that covers the pool points to both kinds of tables. The chip uses
 * a small page's entry where the big page's entry is 0.
 *
 * The CPU can't see the pool before BAR1 works. So BAR1's instance block, its directory and its
 * table of big pages are first written through PRAMIN, the window in BAR0 that shows video memory
 * without a page table.
 *
 * The tables are made at bring-up. Afterwards threads set entries without a lock, because no two
 * threads write the same entry at once.
 */
#include "hw/internal.h"

#define SMALL_NR (HW_PDE_SPAN >> GMMU_SMALL_SHIFT)
#define BIG_NR	 (1u << GMMU_BIG_PTES_SHIFT)

static void pramin_wr32(struct kvgpu_hw *hw, u64 addr, u32 val)
{
	u32 base = addr >> HOSTMEM_PRAMIN_BASE_SHIFT;

	if ((hw_rd(hw, HOSTMEM_PRAMIN) & (HOSTMEM_PRAMIN_BASE | HOSTMEM_PRAMIN_TARGET)) != base)
		hw_wr(hw, HOSTMEM_PRAMIN, base);
	hw_wr(hw, PRAMIN_BASE + (addr & 0xffff), val);
}

static void pramin_wr64(struct kvgpu_hw *hw, u64 addr, u64 val)
{
	pramin_wr32(hw, addr, lower_32_bits(val));
	pramin_wr32(hw, addr + 4, upper_32_bits(val));
}

static u64 pde_small(const struct kvgpu_vram *t)
{
	return FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
	       FIELD_PREP(GMMU_PDE_SMALL_ADDR, t->at.v >> GMMU_ADDR_SHIFT);
}

static u64 pde_big(const struct kvgpu_vram *t)
{
	return FIELD_PREP(GMMU_PDE_BIG_APERTURE, GMMU_PDE_APERTURE_VRAM) |
	       FIELD_PREP(GMMU_PDE_BIG_ADDR, t->at.v >> GMMU_ADDR_SHIFT);
}

static int alloc_tables(struct kvgpu_hw *hw, struct hw_bar *b, u64 size, bool pool)
{
	u32 i, nr = DIV_ROUND_UP_ULL(size, HW_PDE_SPAN);
	int ret;

	b->pages = (size - (pool ? KVGPU_POOL_SIZE : 0)) >> PAGE_SHIFT;
	if (nr > ARRAY_SIZE(b->small))
		return -EINVAL;
	ret = kvgpu_hw_vram_alloc(hw, PAGE_SIZE, PAGE_SIZE, &b->inst);
	ret = ret ?: kvgpu_hw_vram_alloc(hw, HW_PD_SIZE, PAGE_SIZE, &b->pd);
	if (pool)
		ret = ret ?: kvgpu_hw_vram_alloc(hw, BIG_NR * GMMU_ENTRY_SIZE, PAGE_SIZE, &b->big);
	for (i = 0; !ret && i < nr; i++)
		ret = kvgpu_hw_vram_alloc(hw, SMALL_NR * GMMU_ENTRY_SIZE, PAGE_SIZE, &b->small[i]);
	return ret;
}

static void free_tables(struct kvgpu_hw *hw, struct hw_bar *b)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(b->small); i++)
		kvgpu_hw_vram_free(hw, &b->small[i]);
	kvgpu_hw_vram_free(hw, &b->big);
	kvgpu_hw_vram_free(hw, &b->pd);
	kvgpu_hw_vram_free(hw, &b->inst);
}

static int bootstrap_bar1(struct kvgpu_hw *hw)
{
	struct kvgpu_hw_priv *p = hw->p;
	struct hw_bar *b = &p->bar[KVGPU_BAR1];
	u64 va = hw->bar[KVGPU_BAR1].size - KVGPU_POOL_SIZE, limit = hw->bar[KVGPU_BAR1].size - 1,
	    off;
	u32 first = (va % HW_PDE_SPAN) >> GMMU_BIG_SHIFT_128K, i;

	if (KVGPU_POOL_SIZE > HW_PDE_SPAN || va / HW_PDE_SPAN != limit / HW_PDE_SPAN)
		return -EINVAL;
	for (i = 0; i <= limit / HW_PDE_SPAN; i++)
		pramin_wr64(hw, b->pd.at.v + i * GMMU_ENTRY_SIZE,
			    i == va / HW_PDE_SPAN ? pde_big(&b->big) : 0);
	for (i = 0; i < BIG_NR; i++) {
		off = (u64)(i - first) << GMMU_BIG_SHIFT_128K;
		pramin_wr64(hw, b->big.at.v + i * GMMU_ENTRY_SIZE,
			    i < first || off >= KVGPU_POOL_SIZE ?
				    0 :
				    GMMU_PTE_VALID |
					    FIELD_PREP(GMMU_PTE_ADDR,
						       (p->pool_base.v + off) >> GMMU_ADDR_SHIFT));
	}
	pramin_wr32(hw, b->inst.at.v + GMMU_INST_PDB_LO, lower_32_bits(b->pd.at.v));
	pramin_wr32(hw, b->inst.at.v + GMMU_INST_PDB_HI, upper_32_bits(b->pd.at.v));
	pramin_wr32(hw, b->inst.at.v + GMMU_INST_LIMIT_LO, lower_32_bits(limit));
	pramin_wr32(hw, b->inst.at.v + GMMU_INST_LIMIT_HI, upper_32_bits(limit));
	hw_wr(hw, HOSTMEM_BAR1,
	      HOSTMEM_VIRTUAL | FIELD_PREP(HOSTMEM_INST, b->inst.at.v >> HOSTMEM_INST_SHIFT));
	return kvgpu_hw_flush_writes(hw) ?: kvgpu_hw_tlb_flush(hw, b->pd.at.v, true);
}

/*
 * Makes the tables of BAR1, and reads through it a word that was written through PRAMIN. -EIO: it
 * reads something else. Bring-up must not continue without a working BAR1.
 */
static int start_bar1(struct kvgpu_hw *hw)
{
	struct hw_bar *b = &hw->p->bar[KVGPU_BAR1];
	u32 want, got;
	int ret = alloc_tables(hw, b, hw->bar[KVGPU_BAR1].size, true);

	ret = ret ?: bootstrap_bar1(hw);
	if (ret)
		return ret;
	want = lower_32_bits(b->pd.at.v);
	got = hw_vram_rd32(&b->inst, GMMU_INST_PDB_LO);
	if (got == want)
		return 0;
	dev_err(&hw->pdev->dev, "BAR1 does not show video memory (0x%08x, expected 0x%08x)\n", got,
		want);
	return -EIO;
}

static void small_tables_clear(struct hw_bar *b)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(b->small); i++)
		if (b->small[i].size)
			memset_io(b->small[i].cpu, 0, b->small[i].size);
}

static int finish_bar1(struct kvgpu_hw *hw)
{
	struct hw_bar *b = &hw->p->bar[KVGPU_BAR1];
	u32 i, pool_pde = (hw->bar[KVGPU_BAR1].size - KVGPU_POOL_SIZE) / HW_PDE_SPAN;

	small_tables_clear(b);
	for (i = 0; i < ARRAY_SIZE(b->small) && b->small[i].size; i++)
		hw_vram_wr64(&b->pd, i * GMMU_ENTRY_SIZE,
			     pde_small(&b->small[i]) | (i == pool_pde ? pde_big(&b->big) : 0));
	return kvgpu_hw_bar_flush(hw, KVGPU_BAR1);
}

static int init_bar3(struct kvgpu_hw *hw)
{
	struct hw_bar *b = &hw->p->bar[KVGPU_BAR3];
	u32 i;

	memset_io(b->inst.cpu, 0, b->inst.size);
	memset_io(b->pd.cpu, 0, b->pd.size);
	small_tables_clear(b);
	for (i = 0; i < ARRAY_SIZE(b->small) && b->small[i].size; i++)
		hw_vram_wr64(&b->pd, i * GMMU_ENTRY_SIZE, pde_small(&b->small[i]));
	hw_inst_space_write(&b->inst, b->pd.at.v, hw->bar[KVGPU_BAR3].size - 1);
	if (kvgpu_hw_flush_writes(hw))
		return -ETIMEDOUT;
	hw_wr(hw, HOSTMEM_BAR3,
	      HOSTMEM_VIRTUAL | FIELD_PREP(HOSTMEM_INST, b->inst.at.v >> HOSTMEM_INST_SHIFT));
	return kvgpu_hw_bar_flush(hw, KVGPU_BAR3);
}

int hw_bar_init(struct kvgpu_hw *hw)
{
	int ret = start_bar1(hw);

	if (ret == -EIO) {
		free_tables(hw, &hw->p->bar[KVGPU_BAR1]);
		ret = hw_pool_lower(hw) ?: start_bar1(hw);
	}
	ret = ret ?: alloc_tables(hw, &hw->p->bar[KVGPU_BAR3], hw->bar[KVGPU_BAR3].size, false);
	ret = ret ?: finish_bar1(hw);
	if (ret)
		return ret;
	hw->p->userd_mirror =
		ioremap_wc(hw->bar[KVGPU_BAR1].phys + KVGPU_USERD_SIZE, KVGPU_MIRROR_SIZE);
	return hw->p->userd_mirror ? init_bar3(hw) : -ENOMEM;
}

/* Leaves BAR1 and BAR3 in physical mode, as after a reset of the card. */
void hw_bar_fini(struct kvgpu_hw *hw)
{
	hw_wr(hw, HOSTMEM_BAR3, 0);
	hw_wr(hw, HOSTMEM_BAR1, 0);
	if (hw->p->userd_mirror)
		iounmap(hw->p->userd_mirror);
	free_tables(hw, &hw->p->bar[KVGPU_BAR3]);
	free_tables(hw, &hw->p->bar[KVGPU_BAR1]);
}

void kvgpu_hw_bar_set(struct kvgpu_hw *hw, enum kvgpu_bar bar, u32 page, const u64 *pte, u32 nr)
{
	struct hw_bar *b = &hw->p->bar[bar];
	u32 i;

	if (WARN_ON_ONCE(page > b->pages || nr > b->pages - page))
		return;
	for (i = page; i < page + nr; i++)
		hw_vram_wr64(&b->small[i / SMALL_NR], (i % SMALL_NR) * GMMU_ENTRY_SIZE,
			     pte[i - page]);
}

int kvgpu_hw_bar_invalidate(struct kvgpu_hw *hw, enum kvgpu_bar bar)
{
	hw->stats.bar_flushes++;
	return kvgpu_hw_tlb_flush(hw, hw->p->bar[bar].pd.at.v, true);
}

int kvgpu_hw_bar_flush(struct kvgpu_hw *hw, enum kvgpu_bar bar)
{
	return kvgpu_hw_flush_writes(hw) ?: kvgpu_hw_bar_invalidate(hw, bar);
}

int kvgpu_hw_userd_page(struct kvgpu_hw *hw, u16 group, hvram_t page)
{
	u64 pte = GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, page.v >> GMMU_ADDR_SHIFT);

	kvgpu_hw_bar_set(hw, KVGPU_BAR1, group, &pte, 1);
	kvgpu_hw_bar_set(hw, KVGPU_BAR1, (KVGPU_USERD_SIZE >> PAGE_SHIFT) + group, &pte, 1);
	return kvgpu_hw_bar_flush(hw, KVGPU_BAR1);
}

void kvgpu_hw_userd_read(struct kvgpu_hw *hw, hchid_t id, u32 *gp_get, u32 *gp_put)
{
	void __iomem *at = hw->p->userd_mirror + id.v * USERD_SIZE;

	*gp_get = ioread32(at + USERD_GP_GET);
	*gp_put = ioread32(at + USERD_GP_PUT);
}
