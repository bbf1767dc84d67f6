// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's MMU: page size, flush page (a page of system memory whose address the chip gets in
 * FB_NISO_FLUSH_SYSMEM_ADDR), TLB invalidates, and flushes (CPU writes, L2). Sequences: nouveau
 * nvkm/subdev/{mmu/vmmgf100.c,fb/gf100.c,bar/g84.c,ltc/gf100.c}.
 *
 * Invalidates and flushes take tlb_lock. A wait for the chip lasts up to MMU_WAIT_US; an invalidate
 * or an L2 flush may wait twice. The caller may be any thread that holds no spinlock, and
 * neither event_lock nor map_lock of mdev/ (docs/locking.md).
 */
#include "hw/internal.h"

#define MMU_WAIT_US (2 * USEC_PER_SEC)

int hw_mmu_init(struct kvgpu_hw *hw)
{
	struct kvgpu_hw_priv *p = hw->p;

	p->flush_page = dma_alloc_coherent(&hw->pdev->dev, PAGE_SIZE, &p->flush_dma, GFP_KERNEL);
	if (!p->flush_page)
		return -ENOMEM;
	hw_wr(hw, FB_NISO_FLUSH_SYSMEM_ADDR, p->flush_dma >> 8);
	hw_mask(hw, FB_MMU_CTRL, FB_MMU_CTRL_BIG_64K | FB_MMU_CTRL_BYPASS, 0);
	return 0;
}

void hw_mmu_fini(struct kvgpu_hw *hw)
{
	struct kvgpu_hw_priv *p = hw->p;

	if (p->flush_page)
		dma_free_coherent(&hw->pdev->dev, PAGE_SIZE, p->flush_page, p->flush_dma);
	p->flush_page = NULL;
}

static int trigger_flush(struct kvgpu_hw *hw, u32 reg, u32 busy)
{
	int ret;

	kvgpu_hw_lock(&hw->p->tlb_lock);
	hw_wr(hw, reg, FLUSH_TRIGGER);
	ret = hw_reg_wait(hw, reg, busy, 0, MMU_WAIT_US);
	kvgpu_hw_unlock(&hw->p->tlb_lock);
	return ret;
}

int kvgpu_hw_flush_writes(struct kvgpu_hw *hw)
{
	wmb(); /* write-combined stores have to leave the CPU before the trigger does */
	return trigger_flush(hw, FLUSH_BAR, FLUSH_BUSY);
}

int kvgpu_hw_l2_flush(struct kvgpu_hw *hw)
{
	int ret = trigger_flush(hw, FLUSH_L2_SYSMEM_INVALIDATE, FLUSH_BUSY | FLUSH_TRIGGER);

	return ret ?: trigger_flush(hw, FLUSH_L2_DIRTY, FLUSH_BUSY | FLUSH_TRIGGER);
}

/*
 * Waits until the MMU has room for another invalidate (FIFO_SPACE), as nouveau and nvgpu do before
 * each one. The host's last invalidate has ended, but guests' channels may have filled the queue by
 * MEM_OP since. Between this look and the write of the invalidate the queue may fill up again.
 * Whether the chip loses the invalidate then is open (docs/supported.md, T17). tlb_lock is held.
 */
static int mmu_room_wait(struct kvgpu_hw *hw)
{
	ktime_t end = ktime_add_us(ktime_get(), MMU_WAIT_US);
	bool late;
	u32 v;

	kvgpu_hw_lock_assert_held(&hw->p->tlb_lock);
	for (;;) {
		late = ktime_after(ktime_get(), end);
		v = hw_rd(hw, FB_MMU_CTRL);
		if (!hw_no_answer(v) && v != ~0u && (v & FB_MMU_CTRL_FIFO_SPACE))
			return 0;
		if (late)
			return -ETIMEDOUT;
		usleep_range(1, 5);
	}
}

int kvgpu_hw_tlb_flush(struct kvgpu_hw *hw, u64 pd, bool hub_only)
{
	u32 what = FB_MMU_INVALIDATE_TRIGGER | FB_MMU_INVALIDATE_ALL_VA |
		   (hub_only ? FB_MMU_INVALIDATE_HUB_ONLY : 0);
	int ret;

	kvgpu_hw_lock(&hw->p->tlb_lock);
	ret = mmu_room_wait(hw);
	if (ret)
		goto out;
	hw_wr(hw, FB_MMU_INVALIDATE_PDB,
	      FIELD_PREP(FB_MMU_INVALIDATE_PDB_ADDR, pd >> GMMU_ADDR_SHIFT));
	hw_wr(hw, FB_MMU_INVALIDATE, what);
	ret = hw_reg_wait(hw, FB_MMU_CTRL, FB_MMU_CTRL_FIFO_EMPTY, FB_MMU_CTRL_FIFO_EMPTY,
			  MMU_WAIT_US);
	hw->stats.tlb_flushes++;
out:
	kvgpu_hw_unlock(&hw->p->tlb_lock);
	return ret;
}

void hw_inst_space_write(const struct kvgpu_vram *inst, u64 pd, u64 limit)
{
	hw_vram_wr32(inst, GMMU_INST_PDB_LO, lower_32_bits(pd));
	hw_vram_wr32(inst, GMMU_INST_PDB_HI, upper_32_bits(pd));
	hw_vram_wr32(inst, GMMU_INST_LIMIT_LO, lower_32_bits(limit));
	hw_vram_wr32(inst, GMMU_INST_LIMIT_HI, upper_32_bits(limit));
}
