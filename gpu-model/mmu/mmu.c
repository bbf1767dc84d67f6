// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MMU as a unit: its registers, the mode of the chip, and TLB invalidates.
 *
 * An invalidate is done when the write of the trigger returns; the queue that FB_MMU_CTRL describes
 * is always empty. These drop TLB lines: the invalidate register, MEM_OP, a change of the page size
 * or bypass mode (open, the model chooses so: lines of the two modes can't be told apart), and a
 * reset.
 */
#include <errno.h>
#include <stdlib.h>

#include <linux/bitfield.h>

#include <gk110/mmu.h>

#include "state.h"

void mmu_tlb_invalidate(struct gk110 *g, uint64_t pdb, enum mem_target t, unsigned int what)
{
	struct mmu *m = g->mmu;
	const struct tlb_match match = {
		.all_pdb = what & MMU_INV_ALL_PDB,
		.all_va = what & MMU_INV_ALL_VA,
		.pdb = pdb,
		.pdb_vram = t == MEM_VRAM,
		.va = (uint64_t)FIELD_GET(FB_MMU_INVALIDATE_PAGE_VA,
					  reg_get(g, FB_MMU_INVALIDATE_PAGE))
		      << 12,
	};
	struct tlb *tlb;

	dma_write_lock(g);
	pthread_mutex_lock(&m->tlbs_lock);
	for (tlb = m->tlbs; tlb; tlb = tlb->next)
		if (tlb->hub || !(what & MMU_INV_HUB_ONLY))
			tlb_invalidate(tlb, &match, m->big_shift);
	pthread_mutex_unlock(&m->tlbs_lock);
	dma_write_unlock(g);
	stat_inc(g, tlb_flushes);
	bar_tlb_invalidated(g, &match);
}

static void invalidate_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	uint32_t pdb, what = reg_merge(g, reg, val, be);

	if (reg != FB_MMU_INVALIDATE || !(val & FB_MMU_INVALIDATE_TRIGGER))
		return;
	reg_set(g, reg, what & ~FB_MMU_INVALIDATE_TRIGGER);
	pdb = reg_get(g, FB_MMU_INVALIDATE_PDB);
	mmu_tlb_invalidate(g, (uint64_t)FIELD_GET(FB_MMU_INVALIDATE_PDB_ADDR, pdb) << 12,
			   pdb & FB_MMU_INVALIDATE_PDB_SYS ? MEM_SYS_COH : MEM_VRAM,
			   (what & FB_MMU_INVALIDATE_ALL_VA ? MMU_INV_ALL_VA : 0) |
				   (what & FB_MMU_INVALIDATE_ALL_PDB ? MMU_INV_ALL_PDB : 0) |
				   (what & FB_MMU_INVALIDATE_HUB_ONLY ? MMU_INV_HUB_ONLY : 0));
}

static void set_mode(struct gk110 *g, uint32_t ctrl)
{
	struct mmu *m = g->mmu;
	struct tlb *tlb;

	dma_write_lock(g);
	m->big_shift = ctrl & FB_MMU_CTRL_BIG_64K ? GMMU_BIG_SHIFT_64K : GMMU_BIG_SHIFT_128K;
	m->bypass = ctrl & FB_MMU_CTRL_BYPASS;
	m->bypass_target = FIELD_GET(FB_MMU_CTRL_BYPASS_TARGET, ctrl);
	pthread_mutex_lock(&m->tlbs_lock);
	for (tlb = m->tlbs; tlb; tlb = tlb->next)
		tlb_clear(tlb);
	pthread_mutex_unlock(&m->tlbs_lock);
	dma_write_unlock(g);
	bar_tlb_invalidated(g, &(struct tlb_match){ .all_pdb = true, .all_va = true });
}

static uint32_t ctrl_read(struct gk110 *g, uint32_t reg)
{
	return (reg_get(g, reg) & ~FB_MMU_CTRL_FIFO_SPACE) | FB_MMU_CTRL_FIFO_SPACE |
	       FB_MMU_CTRL_FIFO_EMPTY;
}

static void ctrl_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	const uint32_t mode = FB_MMU_CTRL_BIG_64K | FB_MMU_CTRL_BYPASS | FB_MMU_CTRL_BYPASS_TARGET;
	uint32_t old = reg_get(g, reg);
	uint32_t new = reg_merge(g, reg, val, be);

	if ((old ^ new) & mode)
		set_mode(g, new);
}

static int mmu_init(struct gk110 *g)
{
	struct mmu *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->tlbs_lock, NULL);
	pthread_mutex_init(&m->fault_lock, NULL);
	pthread_cond_init(&m->fault_wake, NULL);
	m->big_shift = GMMU_BIG_SHIFT_128K;
	g->mmu = m;
	return 0;
}

static void mmu_reset(struct gk110 *g)
{
	reg_set(g, FB_MMU_CTRL, 0);
	set_mode(g, 0);
	fault_reset(g);
}

static void mmu_fini(struct gk110 *g)
{
	free(g->mmu);
	g->mmu = NULL;
}

static const struct mmio_range ranges[] = {
	{ .base = FB_NISO_FLUSH_SYSMEM_ADDR, .size = 4, .name = "mmu_flush_page" },
	{ .base = FB_MMU_CTRL,
	  .size = 4,
	  .name = "mmu_ctrl",
	  .read = ctrl_read,
	  .write = ctrl_write },
	{ .base = FB_MMU_INVALIDATE_PAGE,
	  .size = 12,
	  .name = "mmu_invalidate",
	  .write = invalidate_write },
	{ .base = GMMU_FAULT_SOURCE,
	  .size = 4,
	  .name = "mmu_fault_source",
	  .read = fault_source_read,
	  .write = fault_source_write },
	{ .base = GMMU_FAULT_BASE,
	  .size = GMMU_FAULT_UNITS * GMMU_FAULT_STRIDE,
	  .name = "mmu_fault_records",
	  .write = fault_record_write },
};

const struct unit_ops mmu_unit = {
	.name = "mmu",
	.ranges = ranges,
	.nr_ranges = sizeof(ranges) / sizeof(ranges[0]),
	.init = mmu_init,
	.reset = mmu_reset,
	.start = fault_start,
	.stop = fault_stop,
	.fini = mmu_fini,
};
