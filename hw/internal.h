/* SPDX-License-Identifier: GPL-2.0-only */
/* State and calls inside of hw/. No other room includes this header. */
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

/* Bytes covered by one directory entry; bytes of a directory, all of which the chip reads. */
#define HW_PDE_SPAN	(1ull << (GMMU_BIG_SHIFT_128K + GMMU_BIG_PTES_SHIFT))
#define HW_PD_SIZE \
	((1u << (GMMU_VA_BITS - GMMU_BIG_SHIFT_128K - GMMU_BIG_PTES_SHIFT)) * GMMU_ENTRY_SIZE)

/*
 * kvgpu's limits are the chip's. The parts of an instance block that two headers define don't
 * overlap.
 */
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

/* A window of the CPU into the card (BAR1, BAR3), translated by a page directory of the host. */
struct hw_bar {
	struct kvgpu_vram inst, pd, big;	/* big: shows the pool, BAR1 only */
	struct kvgpu_vram small[2];		/* small entries for 128 MiB each */
	/* number of 4 KiB pages of the BAR that slices can have: all but the pool's */
	u32 pages;
};

/* The host's channel for copies. Its group of eight ids belongs to the host. */
#define HW_COPY_CHID	0

struct hw_copy {
	struct kvgpu_vram inst, pd, table, userd, ring, push, sem;
	void __iomem *doorbell;			/* maps the page of GP_PUT in BAR1 */
	u32 put, seq;
	u8 runl;
	bool up;
	bool stuck;				/* a job did not end: no job begins any more */
};

/*
 * Lists that were submitted lately. A list with the same entries is submitted again without being
 * written again.
 */
#define HW_RUNL_LISTS	10

struct hw_runl {
	struct hw_list {
		struct kvgpu_vram mem;
		u64 *copy;
		u32 nr;
		bool host;			/* begins with the host's copy channel */
		u64 used;			/* value of @submits at its last submit; 0: never */
	} list[HW_RUNL_LISTS];
	struct hw_list *cur;			/* submitted last: the chip may still read it */
	u64 submits;
};

struct hw_gr {
	struct kvgpu_vram mmu_wr, mmu_rd;	/* pages for MMU debug accesses */
	struct kvgpu_vram inst, pd, table;	/* address space of the golden context */
	struct kvgpu_vram pagepool, bundle, attrib;
	struct kvgpu_vram golden;		/* not changed any more: no page table shows it */
	u8 tile[32];				/* GPC that draws a tile; 0xff from tpc_total on */
	struct { u8 gpc, tpc; } sm[32];
	u8 nr_sm, row_offset, tpc_total, tpc_max;
	bool up;
};

/* State of hw/. Members without a lock are set by the init functions and constant afterwards. */
struct kvgpu_hw_priv {
	struct gen_pool *pool;
	void __iomem *pool_cpu;
	hvram_t pool_base;
	struct kvgpu_fw *fw;
	void *flush_page;
	dma_addr_t flush_dma;

	/*
	 * protects FB_MMU_INVALIDATE_PDB and FB_MMU_INVALIDATE, which the chip uses as a pair, and
	 * the flush registers
	 */
	struct kvgpu_hw_lock tlb_lock;
	bool tlb_idle;			/* tlb_lock: the last invalidate has ended */
	struct kvgpu_hw_lock runl_lock;	/* PFIFO_RUNLIST_BASE and _SUBMIT; runl[], runl_blocked */
	struct kvgpu_hw_lock preempt_lock;	/* PFIFO_PREEMPT */
	struct kvgpu_hw_lock copy_lock;	/* copy */
	struct kvgpu_hw_lock gr_lock;	/* gr; reset and bring-up of GR */
	spinlock_t mask_lock;		/* read-modify-write of PMC_ENABLE */

	struct hw_bar bar[KVGPU_NR_BARS];
	struct hw_runl runl[KVGPU_MAX_RUNL];
	u32 runl_blocked;
	struct hw_copy copy;
	struct hw_gr gr;
	void __iomem *userd_mirror;
	bool calibrated;			/* the temperature sensor is calibrated */
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

/* Not atomic: the caller owns the register. */
static inline void hw_mask(struct kvgpu_hw *hw, u32 reg, u32 clear, u32 set)
{
	hw_wr(hw, reg, (hw_rd(hw, reg) & ~clear) | set);
}

/* Tells whether @val is an error of the register ring, which tells nothing about the register. */
static inline bool hw_no_answer(u32 val)
{
	return (val & PRIVRING_ERROR_MASK) == PRIVRING_ERROR;
}

/**
 * hw_reg_wait() - wait until a register has a value
 * @hw: the card
 * @reg: offset in BAR0
 * @mask: bits to compare
 * @want: value of these bits
 * @us: how long to wait
 *
 * An error of the register ring does not end the wait: its bits could say that a flush or an
 * invalidate has ended when it has not (S2).
 *
 * Context: sleeps.
 * Return: 0, -ETIMEDOUT, or -EIO if the card reads all ones and has fallen off the bus.
 */
int hw_reg_wait(struct kvgpu_hw *hw, u32 reg, u32 mask, u32 want, unsigned int us);

/*
 * lock.c. Call hw_lender_start() after all locks are initialised, and hw_lender_stop() when no
 * thread waits for any of them.
 */
/*
 * Takes lock @l urgently. The thread holds no other of these locks. While another thread holds @l,
 * calls @look about every @us microseconds, but for 5 ms at most: after that it only waits for @l.
 */
void hw_lock_take_watched(struct kvgpu_hw_lock *l, void (*look)(void *arg), void *arg,
			  unsigned int us);
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

/* One store: the GPU must never see an entry with one new and one old half. */
static inline void hw_vram_wr64(const struct kvgpu_vram *v, u32 off, u64 val)
{
	writeq(val, v->cpu + off);
}

/* chip.c */
int hw_chip_probe(struct kvgpu_hw *hw);
int hw_vbios_read(struct kvgpu_hw *hw);

/* ltc.c: L2, after the page size is set and before memory is used */
int hw_ltc_init(struct kvgpu_hw *hw);

/* mmu.c, bar.c */
int hw_mmu_init(struct kvgpu_hw *hw);
void hw_mmu_fini(struct kvgpu_hw *hw);
int hw_bar_init(struct kvgpu_hw *hw);
void hw_bar_fini(struct kvgpu_hw *hw);
/* writes the address-space words of an instance block */
void hw_inst_space_write(const struct kvgpu_vram *inst, u64 pd, u64 limit);

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
int hw_gr_init(struct kvgpu_hw *hw);		/* brings GR up and makes the golden image */
int hw_gr_reinit(struct kvgpu_hw *hw);		/* brings GR up again after an engine reset */
void hw_gr_fini(struct kvgpu_hw *hw);

/* intr.c */
int hw_intr_init(struct kvgpu_hw *hw);
void hw_intr_fini(struct kvgpu_hw *hw);

#endif
