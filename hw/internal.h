/* SPDX-License-Identifier: GPL-2.0-only */
/* hw/'s own state and helpers. Nobody outside of this room includes it. */
#ifndef KVGPU_HW_INTERNAL_H
#define KVGPU_HW_INTERNAL_H

#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/genalloc.h>
#include <linux/io.h>
#include <linux/ktime.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "gk110/privring.h"
#include "gk110/ptop.h"
#include "gk110/ram.h"
#include "hw/hw.h"

/* what one directory entry covers; the size of a directory, which the chip reads whole */
#define HW_PDE_SPAN	(1ull << (GMMU_BIG_SHIFT_128K + GMMU_BIG_PTES_SHIFT))
#define HW_PD_SIZE \
	((1u << (GMMU_VA_BITS - GMMU_BIG_SHIFT_128K - GMMU_BIG_PTES_SHIFT)) * GMMU_ENTRY_SIZE)

/* kvgpu's limits are the chip's; an instance block has its parts where two headers say */
static_assert(KVGPU_MAX_CHAN == GK110_FIFO_NR_CHAN && KVGPU_MAX_RUNL >= PFIFO_ENG_RUNLIST_NR &&
		      KVGPU_MAX_PBDMA >= PFIFO_PBDMA_STATUS_NR &&
		      KVGPU_MAX_ENGINE >= PFIFO_ENGINE_STATUS_NR,
	      "limits");
static_assert(KVGPU_USERD_SIZE == GK110_FIFO_NR_CHAN * USERD_SIZE, "a USERD for each channel");
static_assert(KVGPU_POOL_SIZE <= HW_PDE_SPAN, "the pool is shown by one directory entry");
static_assert(GMMU_INST_PDB_LO >= RAMIN_CE_STATE + RAMIN_CE_STATE_SIZE &&
		      GMMU_INST_LIMIT_HI + 4 <= RAMIN_GR_CTX,
	      "instance block");
static_assert(GMMU_FAULT_SOURCE == PFIFO_MMU_FAULT_SOURCE &&
		      GMMU_FAULT_BASE == PFIFO_MMU_FAULT_RECORDS &&
		      GMMU_FAULT_BASE + GMMU_FAULT_UNITS * GMMU_FAULT_STRIDE ==
			      PFIFO_MMU_FAULT_RECORDS_END,
	      "fault records");
static_assert(GMMU_PFIFO_INTR_DROPPED_FAULT == PFIFO_INTR_DROPPED_FAULT, "one interrupt");

/* a window of the CPU into the card (BAR1, BAR3), translated by one page directory of ours */
struct hw_bar {
	struct kvgpu_vram inst, pd, big;	/* big: shows the pool, BAR1 only */
	struct kvgpu_vram small[2];		/* 128 MiB of small entries each */
	u32 pages;
};

/* the host's channel for copies; its group of ids is the host's */
#define HW_COPY_CHID	0

struct hw_copy {
	struct kvgpu_vram inst, pd, table, userd, ring, push, sem;
	void __iomem *doorbell;			/* GP_PUT of this channel through BAR1 */
	u32 put, seq;
	u8 runl;
	bool up;
	bool stuck;				/* a job did not end: none is begun any more */
};

/* lists that were submitted lately: one that comes again needs not be written again */
#define HW_RUNL_LISTS	10

struct hw_runl {
	struct hw_list {
		struct kvgpu_vram mem;
		u64 *copy;
		u32 nr;
		bool host;			/* begins with the host's copy channel */
		u64 used;			/* when it was last submitted; 0: never */
	} list[HW_RUNL_LISTS];
	struct hw_list *cur;			/* the chip may still read it */
	u64 submits;
};

struct hw_gr {
	struct kvgpu_vram mmu_wr, mmu_rd;	/* where MMU debug accesses go */
	/* the address space that the golden context was made in */
	struct kvgpu_vram inst, pd, table;
	struct kvgpu_vram pagepool, bundle, attrib;
	struct kvgpu_vram golden;		/* immutable once made: no page table shows it */
	u32 *image;				/* the same in host memory */
	u8 tile[32];				/* GPC that draws a tile; 0xff beyond tpc_total */
	struct { u8 gpc, tpc; } sm[32];
	u8 nr_sm, row_offset, tpc_total, tpc_max;
	bool up;
};

struct kvgpu_hw_priv {
	struct gen_pool *pool;
	void __iomem *pool_cpu;
	hvram_t pool_base;
	struct kvgpu_fw *fw;
	void *flush_page;
	dma_addr_t flush_dma;

	/* 0x100cb8 and 0x100cbc are one pair for the chip; so are the flushes */
	struct kvgpu_hw_lock tlb_lock;
	bool tlb_idle;			/* its invalidate has ended; tlb_lock */
	struct kvgpu_hw_lock runl_lock;	/* 0x2270 and 0x2274 likewise, and the block mask */
	struct kvgpu_hw_lock preempt_lock;	/* 0x2634 likewise */
	struct kvgpu_hw_lock copy_lock;	/* the copy channel */
	struct kvgpu_hw_lock gr_lock;	/* reset and bring-up of GR */
	spinlock_t mask_lock;		/* read-modify-write of interrupt masks and 0x200 */

	struct hw_bar bar1, bar3;
	struct hw_runl runl[KVGPU_MAX_RUNL];
	u32 runl_blocked;
	struct hw_copy copy;
	struct hw_gr gr;
	void __iomem *userd_mirror;
	bool calibrated;			/* the temperature sensor */
	int irq;
};

static inline u32 hw_rd(struct kvgpu_hw *hw, u32 reg)
{
	return ioread32(hw->bar0 + reg);
}

static inline void hw_wr(struct kvgpu_hw *hw, u32 reg, u32 val)
{
	iowrite32(val, hw->bar0 + reg);
}

/* not atomic: the caller owns the register */
static inline void hw_mask(struct kvgpu_hw *hw, u32 reg, u32 clear, u32 set)
{
	hw_wr(hw, reg, (hw_rd(hw, reg) & ~clear) | set);
}

/* an error of the register ring instead of the register: nothing is known of that */
static inline bool hw_no_answer(u32 val)
{
	return (val & PRIVRING_ERROR_MASK) == PRIVRING_ERROR;
}

/*
 * Waits until (reg & mask) == want, for at most @us. Sleeps. An error of the register ring ends no
 * wait: its bits would say that a flush or an invalidate has ended which has not (S2). A register
 * that reads all ones for the whole time means the card fell off the bus: -EIO.
 */
int hw_wait(struct kvgpu_hw *hw, u32 reg, u32 mask, u32 want, unsigned int us);

/* lock.c: after all locks were initialised, and when nobody waits for any of them */
/*
 * takes a lock that no other one is held beside, urgently; @look is called about every @us until it
 * is had, for 5 ms at most
 */
void hw_lock_watched(struct kvgpu_hw_lock *l, void (*look)(void *arg), void *arg, unsigned int us);
int hw_lender_start(struct kvgpu_hw *hw);
void hw_lender_stop(struct kvgpu_hw *hw);

/* pool.c */
int hw_pool_init(struct kvgpu_hw *hw);
void hw_pool_fini(struct kvgpu_hw *hw);
static inline void hw_vram_wr32(const struct kvgpu_vram *v, u32 off, u32 val)
{
	iowrite32(val, v->cpu + off);
}

static inline u32 hw_vram_rd32(const struct kvgpu_vram *v, u32 off)
{
	return ioread32(v->cpu + off);
}

/* one store: the GPU must never see an entry of which one half is new and one is old */
static inline void hw_vram_wr64(const struct kvgpu_vram *v, u32 off, u64 val)
{
	writeq(val, v->cpu + off);
}

/* chip.c */
int hw_chip_probe(struct kvgpu_hw *hw);
int hw_vbios_read(struct kvgpu_hw *hw);

/* ltc.c: L2, after the page size is set and before anything uses memory */
int hw_ltc_init(struct kvgpu_hw *hw);

/* mmu.c, bar.c */
int hw_mmu_init(struct kvgpu_hw *hw);
void hw_mmu_fini(struct kvgpu_hw *hw);
int hw_bar_init(struct kvgpu_hw *hw);
void hw_bar_fini(struct kvgpu_hw *hw);
/* writes the address-space words of an instance block */
void hw_inst_space(const struct kvgpu_vram *inst, u64 pd, u64 limit);

/* fifo.c, copy.c */
int hw_fifo_init(struct kvgpu_hw *hw);
void hw_fifo_fini(struct kvgpu_hw *hw);
int hw_copy_init(struct kvgpu_hw *hw);
void hw_copy_fini(struct kvgpu_hw *hw);

/* sensors.c */
bool hw_sensor_calibrated(struct kvgpu_hw *hw);

/* firmware.c */
int hw_fw_load(struct kvgpu_hw *hw);
void hw_fw_free(struct kvgpu_hw *hw);

/* gr.c, grlist.c, grshape.c, grtrap.c, grctx.c, fecs.c, golden.c */
int hw_gr_init(struct kvgpu_hw *hw);		/* whole, golden image included */
int hw_gr_reinit(struct kvgpu_hw *hw);		/* after an engine reset */
void hw_gr_fini(struct kvgpu_hw *hw);

/* intr.c */
int hw_intr_init(struct kvgpu_hw *hw);
void hw_intr_fini(struct kvgpu_hw *hw);

#endif
