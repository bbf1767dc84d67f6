// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's MMU: page size, flush page (a page of system memory whose address the chip gets in
 * FB_NISO_FLUSH_SYSMEM_ADDR), TLB invalidates, and flushes (CPU writes, L2). Sequences: nouveau
 * nvkm/subdev/{mmu/vmmgf100.c,fb/gf100.c,bar/g84.c,ltc/gf100.c}.
 *
 * A wait for the chip lasts up to MMU_WAIT_US; an invalidate or a flush may wait for another
 * thread's, too, and an L2 flush is two flushes. No lock is held while a thread waits (struct
 * hw_op). The caller may be any thread that holds no spinlock, and not map_lock of mdev/
 * (docs/locking.md).
 */
#include "gk110/pmc.h"
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

/* Tells whether @v is what a unit has answered: no error code, and the card is on the bus. */
static bool is_answer(u32 v)
{
	return !hw_no_answer(v) && v != ~0u;
}

/* Ends the operation that is under way if @val of its register says so in bits @mask. */
static void op_end(struct hw_op *op, u32 val, u32 mask, u32 want)
{
	if (is_answer(val) && (val & mask) == want)
		op->ended = op->begun;
}

static int op_error(struct kvgpu_hw *hw, u32 val)
{
	return val == ~0u && hw_rd(hw, PMC_BOOT_0) == ~0u ? -EIO : -ETIMEDOUT;
}

/*
 * Begins a flush by register @reg if none is under way, or notes that one has ended. True: flush
 * number @want has ended, or a later one.
 */
static bool flush_step(struct kvgpu_hw *hw, struct hw_op *op, u32 reg, u32 busy, u64 want, u32 *v)
{
	bool done;

	spin_lock(&op->lock);
	if (op->begun == op->ended && op->ended < want) {
		hw_wr(hw, reg, FLUSH_TRIGGER);
		op->begun++;
	}
	if (op->begun != op->ended) {
		*v = hw_rd(hw, reg);
		op_end(op, *v, busy, 0);
	}
	done = op->ended >= want;
	spin_unlock(&op->lock);
	return done;
}

/* Returns the number of the next flush: it begins after this call. */
static u64 flush_next(struct hw_op *op)
{
	u64 next;

	spin_lock(&op->lock);
	next = op->begun + 1;
	spin_unlock(&op->lock);
	return next;
}

static int flush_run(struct kvgpu_hw *hw, struct hw_op *op, u32 reg, u32 busy)
{
	ktime_t end = ktime_add_us(ktime_get(), MMU_WAIT_US);
	u64 want = flush_next(op), seen = 0, now;
	bool late;
	u32 v = 0;

	for (;;) {
		late = ktime_after(ktime_get(), end);
		if (flush_step(hw, op, reg, busy, want, &v))
			return 0;
		/* each flush has its own time, also one that this thread begins or ends late */
		now = READ_ONCE(op->begun) + READ_ONCE(op->ended);
		if (now != seen)
			end = ktime_add_us(ktime_get(), MMU_WAIT_US);
		else if (late)
			return op_error(hw, v);
		seen = now;
		usleep_range(1, 5);
	}
}

u64 hw_flush_begin(struct kvgpu_hw *hw)
{
	wmb(); /* write-combined stores have to leave the CPU before the trigger does */
	return flush_next(&hw->p->bar_flush);
}

bool hw_flush_step(struct kvgpu_hw *hw, u64 flush)
{
	u32 v;

	return flush_step(hw, &hw->p->bar_flush, FLUSH_BAR, FLUSH_BUSY, flush, &v);
}

int kvgpu_hw_flush_writes(struct kvgpu_hw *hw)
{
	wmb(); /* as in hw_flush_begin() */
	return flush_run(hw, &hw->p->bar_flush, FLUSH_BAR, FLUSH_BUSY);
}

int kvgpu_hw_l2_flush(struct kvgpu_hw *hw)
{
	int ret = flush_run(hw, &hw->p->l2_invalidate, FLUSH_L2_SYSMEM_INVALIDATE,
			    FLUSH_BUSY | FLUSH_TRIGGER);

	return ret ?: flush_run(hw, &hw->p->l2_flush, FLUSH_L2_DIRTY, FLUSH_BUSY | FLUSH_TRIGGER);
}

/*
 * The MMU has room for another invalidate if FIFO_SPACE is set: nouveau and nvgpu wait for that
 * before each one. The host's last invalidate has ended, but guests' channels may have filled the
 * queue by MEM_OP since. Between the read and the write of the invalidate the queue may fill up
 * again. Whether the chip loses the invalidate then is open (docs/supported.md, T17).
 */
int kvgpu_hw_tlb_flush(struct kvgpu_hw *hw, u64 pd, bool hub_only)
{
	u32 what = FB_MMU_INVALIDATE_TRIGGER | FB_MMU_INVALIDATE_ALL_VA |
		   (hub_only ? FB_MMU_INVALIDATE_HUB_ONLY : 0);
	ktime_t end = ktime_add_us(ktime_get(), MMU_WAIT_US);
	struct hw_op *op = &hw->p->tlb;
	u64 mine = 0, seen = 0;
	bool late, done;
	u32 v;

	for (;;) {
		late = ktime_after(ktime_get(), end);
		spin_lock(&op->lock);
		if (!mine && op->ended != seen) {
			/* others' invalidates end: their time is not this one's */
			seen = op->ended;
			end = ktime_add_us(ktime_get(), MMU_WAIT_US);
			late = false;
		}
		v = hw_rd(hw, FB_MMU_CTRL);
		op_end(op, v, FB_MMU_CTRL_FIFO_EMPTY, FB_MMU_CTRL_FIFO_EMPTY);
		if (!mine && op->begun == op->ended && is_answer(v) && v & FB_MMU_CTRL_FIFO_SPACE) {
			hw_wr(hw, FB_MMU_INVALIDATE_PDB,
			      FIELD_PREP(FB_MMU_INVALIDATE_PDB_ADDR, pd >> GMMU_ADDR_SHIFT));
			hw_wr(hw, FB_MMU_INVALIDATE, what);
			hw->stats.tlb_flushes++;
			mine = ++op->begun;
			end = ktime_add_us(ktime_get(), MMU_WAIT_US);
			late = false;
			v = hw_rd(hw, FB_MMU_CTRL);
			op_end(op, v, FB_MMU_CTRL_FIFO_EMPTY, FB_MMU_CTRL_FIFO_EMPTY);
		}
		done = mine && op->ended >= mine;
		spin_unlock(&op->lock);
		if (done)
			return 0;
		if (late)
			return mine ? op_error(hw, v) : -ETIMEDOUT;
		usleep_range(1, 5);
	}
}

void hw_inst_space_write(const struct kvgpu_vram *inst, u64 pd, u64 limit)
{
	hw_vram_wr32(inst, GMMU_INST_PDB_LO, lower_32_bits(pd));
	hw_vram_wr32(inst, GMMU_INST_PDB_HI, upper_32_bits(pd));
	hw_vram_wr32(inst, GMMU_INST_LIMIT_LO, lower_32_bits(limit));
	hw_vram_wr32(inst, GMMU_INST_LIMIT_HI, upper_32_bits(limit));
}
