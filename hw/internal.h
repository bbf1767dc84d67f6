/* SPDX-License-Identifier: GPL-2.0-only */
/* State of hw/, and functions for the files of hw/ only. */
#ifndef KVGPU_HW_INTERNAL_H
#define KVGPU_HW_INTERNAL_H

#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/genalloc.h>
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/rtmutex.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "gk110/privring.h"
#include "gk110/ptop.h"
#include "gk110/ram.h"
#include "hw/hw.h"

/*
 * HW_PDE_SPAN: bytes of address space that one entry of a page directory covers. HW_PD_SIZE: bytes
 * of a page directory that covers the whole address space.
 */
#define HW_PDE_SPAN (1ull << (GMMU_BIG_SHIFT_128K + GMMU_BIG_PTES_SHIFT))
#define HW_PD_SIZE \
	((1u << (GMMU_VA_BITS - GMMU_BIG_SHIFT_128K - GMMU_BIG_PTES_SHIFT)) * GMMU_ENTRY_SIZE)

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

/* The tables by which the host translates BAR1 or BAR3, a window of the CPU into video memory. */
struct hw_bar {
	/*
	 * .inst: instance block. .pd: page directory. .big: table of big pages, by which BAR1 shows
	 * the pool; BAR3 has none.
	 */
	struct kvgpu_vram inst, pd, big;
	struct kvgpu_vram small[2]; /* tables of small pages: each covers 128 MiB of the BAR */
	/*
	 * number of the BAR's 4 KiB pages that kvgpu_hw_bar_set() can set: those that do not show
	 * the pool
	 */
	u32 pages;
};

/*
 * The chip's id of the host's copy channel. No vGPU gets an id of the same group of eight, because
 * eight channels share a page of USERDs.
 */
#define HW_COPY_CHID 0

/* The host's copy channel (copy.c). */
struct hw_copy {
	/*
	 * .inst: instance block. .pd, .table: page directory and page table. .userd: page with the
	 * channel's USERD. .ring: GPFIFO ring. .push: pushbuffer. .sem: semaphore, which has the
	 * number of the last job that has ended.
	 */
	struct kvgpu_vram inst, pd, table, userd, ring, push, sem;
	/* the CPU's mapping of the page of BAR1 in which the channel's GP_PUT is */
	void __iomem *doorbell;
	u8 runl;
	bool up; /* the channel is enabled, and alone on .runl */
	/*
	 * .lock protects the rest; as for struct hw_op, no thread holds it while it waits. .jobs:
	 * those that have not ended, in order; the first runs. .put: index of the next entry of
	 * .ring to write. .seq: number of the last job that has begun. .flush: 0, or the flush
	 * after which it may begin. .began: when its flush or the job itself began. .stuck: it
	 * failed; no other begins after it.
	 */
	spinlock_t lock;
	struct list_head jobs;
	u32 put, seq;
	u64 flush;
	ktime_t began;
	bool stuck;
};

/*
 * The last HW_RUNL_LISTS lists of a runlist stay in video memory. If one of them has the wanted
 * entries, it is submitted again as it is.
 */
#define HW_RUNL_LISTS 10

struct hw_runl {
	struct hw_list {
		struct kvgpu_vram mem;
		/* the .nr entries in kernel memory */
		u64 *copy;
		u32 nr;
		/*
		 * value of hw_runl.submits after this list's last submit; 0: the list was never
		 * submitted, or its last submit failed
		 */
		u64 used;
	} list[HW_RUNL_LISTS];
	/* the last kvgpu_hw_runlist()'s list: if that submitted it, the chip may still read it */
	struct hw_list *cur;
	u64 submits; /* number of successful submits */
	u64 blocked_at; /* ktime, ns, of the last kvgpu_hw_runl_block() */
};

/*
 * GR, the graphics engine. The golden context is made once, at bring-up. FECS, the microcontroller
 * that switches contexts, saves the golden context into the golden image. Every new context starts
 * with a copy of this image.
 */
struct hw_gr {
	/* pages for writes (.mmu_wr) and reads (.mmu_rd) of the GPCs' MMUs in debug mode */
	struct kvgpu_vram mmu_wr, mmu_rd;
	/* instance block, page directory and table of the golden context's address space */
	struct kvgpu_vram inst, pd, table;
	struct kvgpu_vram pagepool, bundle, attrib; /* the golden context's buffers */
	/*
	 * the golden image; no channel's page table shows it after it is made, so that no guest's
	 * work on the GPU can change it
	 */
	struct kvgpu_vram golden;
	/*
	 * Table by which the screen's tiles are spread over the GPCs. .tile[i] is the number of a
	 * GPC for i < .tpc_total, and 0xff from there on.
	 */
	u8 tile[32];
	/* .sm[i]: numbers of the GPC and of the TPC that have shader processor i, for i < .nr_sm */
	struct {
		u8 gpc, tpc;
	} sm[32];
	/*
	 * .row_offset: value of the field GR_TILE_CFG_ROW_OFFSET. .tpc_total: number of all TPCs.
	 * .tpc_max: most TPCs of a GPC.
	 */
	u8 nr_sm, row_offset, tpc_total, tpc_max;
};

/*
 * What the chip does one at a time, at a register's trigger: number .begun was begun last, and
 * .ended has ended, with all before. No thread holds .lock while it waits: each that waits looks
 * whether what is under way has ended, whoever has begun it. So a thread that gets no CPU keeps no
 * other waiting.
 */
struct hw_op {
	spinlock_t lock;
	u64 begun, ended;
};

/* State of hw/. Members without a lock are constant after bring-up. */
struct kvgpu_hw_priv {
	struct gen_pool *pool;
	void __iomem *pool_cpu; /* the CPU's mapping of the whole pool */
	hvram_t pool_base;
	struct kvgpu_fw *fw;
	/*
	 * .flush_page: page of system memory to which the chip writes when it flushes its writes to
	 * system memory. .flush_dma: the DMA address of that page.
	 */
	void *flush_page;
	dma_addr_t flush_dma;

	struct hw_op tlb, bar_flush, l2_invalidate, l2_flush; /* mmu.c */
	/* held during bring-up, reset, acknowledge and take-down of GR; protects changes of .gr */
	struct rt_mutex gr_lock;
	/* protects read-modify-write of PMC_ENABLE while an engine is reset or powered up */
	spinlock_t mask_lock;

	bool unanswered; /* hw_read() got no answer */
	u32 engine_bits; /* bits of PMC_ENABLE: PFIFO and all engines of the device table */
	struct hw_bar bar[KVGPU_NR_BARS];
	struct hw_runl runl[KVGPU_MAX_RUNL];
	u32 runl_blocked; /* mask of the blocked runlists, as in PFIFO_RUNLIST_BLOCK */
	struct hw_copy copy;
	struct hw_gr gr;
	void __iomem *userd_mirror; /* the CPU's mapping of the mirror in BAR1 (hw.h) */
	bool calibrated; /* true: the temperature sensor is calibrated */
	int irq; /* Linux's number of the card's interrupt; -1: none is requested */
	/* ns for which the interrupt thread has slept in this run; only that thread uses it */
	u64 intr_slept_ns;
	/* true: the thread rests at the end of this run; only that thread uses it */
	bool intr_pace;
	/* ktime, ns, of the last but one reading of the causes, or when the thread's run began */
	u64 intr_read_at;
	/* the thread serves in a rest (rest_serve()): .intr_served says that its run is over */
	bool intr_rest_serves;
	/* ns of work that the thread has left, < 0: a debt; ktime, ns, when its last run ended */
	s64 intr_left;
	u64 intr_ended;
	/*
	 * How many times the thread was woken, and the value of that number when its last run that
	 * has served all began. The thread alone writes .intr_served.
	 */
	atomic_t intr_raised;
	unsigned int intr_served;
};

static inline u32 hw_rd(struct kvgpu_hw *hw, u32 reg)
{
	return ioread32(hw->bar0 + reg);
}

static inline void hw_wr(struct kvgpu_hw *hw, u32 reg, u32 val)
{
	iowrite32(val, hw->bar0 + reg);
}

/*
 * Clears the bits @clear of a register and sets the bits @set. Not atomic: the caller makes sure
 * that no other thread writes the register meanwhile.
 */
static inline void hw_mask(struct kvgpu_hw *hw, u32 reg, u32 clear, u32 set)
{
	hw_wr(hw, reg, (hw_rd(hw, reg) & ~clear) | set);
}

/* Tells whether @val is the code that the register ring (PRIVRING) returns for a failed read. */
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
 * A read that gives an error code of the register ring, or all ones as a read that the bus has
 * lost, does not end the wait: by chance, its bits could look like the end of a flush or an
 * invalidate that has not ended. Memory would then be released too early (S2 of
 * docs/invariants.md).
 *
 * Context: sleeps.
 * Return: 0 when the register has the value; -ETIMEDOUT; or -EIO if the card is off the bus, which
 *   shows as registers that read all ones.
 */
int hw_reg_wait(struct kvgpu_hw *hw, u32 reg, u32 mask, u32 want, unsigned int us);

/*
 * pool.c: the host pool. hw_vram_wr32(), hw_vram_rd32() and hw_vram_wr64() access its memory
 * through BAR1, which shows the pool from step "BARs" of the bring-up on (hw.c).
 */
int hw_pool_init(struct kvgpu_hw *hw);
void hw_pool_fini(struct kvgpu_hw *hw);
/* Makes the pool anew, with 1/8 of the memory left out. Nothing may be allocated from the pool. */
int hw_pool_lower(struct kvgpu_hw *hw);
static inline void hw_vram_wr32(const struct kvgpu_vram *v, u32 off, u32 val)
{
	iowrite32(val, v->cpu + off);
}

static inline u32 hw_vram_rd32(const struct kvgpu_vram *v, u32 off)
{
	return ioread32(v->cpu + off);
}

/* Writes 64 bits by one store: the GPU must not see half of a new entry. */
static inline void hw_vram_wr64(const struct kvgpu_vram *v, u32 off, u64 val)
{
	writeq(val, v->cpu + off);
}

/*
 * chip.c: steps of the bring-up. hw_chip_identify() works on a card that is not POSTed, as do
 * hw_vbios_read(), and hw_chip_post(), which POSTs it. hw_chip_probe() reads the device table, the
 * size of memory and seeds.
 */
int hw_chip_identify(struct kvgpu_hw *hw);
int hw_vbios_read(struct kvgpu_hw *hw);
int hw_chip_post(struct kvgpu_hw *hw);
int hw_chip_probe(struct kvgpu_hw *hw);
/*
 * chip.c: reads a register at bring-up. If no unit answers, the first time with a message, returns
 * 0, and the bring-up fails at the end of the step (hw.c).
 */
u32 hw_read(struct kvgpu_hw *hw, u32 reg);
/* ptimer.c: sets PTIMER to the time of day, in ns, and checks its rate */
int hw_ptimer_init(struct kvgpu_hw *hw);

/*
 * chip.c: turn PFIFO and all engines off, or off and on again. -EIO: some stay on. For bring-up and
 * take-down, while no other thread changes PMC_ENABLE.
 */
int hw_engines_off(struct kvgpu_hw *hw);
int hw_engines_reset(struct kvgpu_hw *hw);

/* ltc.c: sets L2 up. Call it after hw_mmu_init(), whose page size it copies. */
int hw_ltc_init(struct kvgpu_hw *hw);

/* mmu.c: returns the number of the flush that makes all writes so far reach video memory */
u64 hw_flush_begin(struct kvgpu_hw *hw);
/* Goes on with @flush, of hw_flush_begin(). True: it has ended. Does not sleep. */
bool hw_flush_step(struct kvgpu_hw *hw, u64 flush);
/* mmu.c: the chip's MMU; bar.c: the tables of BAR1 and BAR3 */
int hw_mmu_init(struct kvgpu_hw *hw);
void hw_mmu_fini(struct kvgpu_hw *hw);
int hw_bar_init(struct kvgpu_hw *hw);
void hw_bar_fini(struct kvgpu_hw *hw);
/*
 * mmu.c: writes to instance block @inst the words that describe its address space. @pd: address of
 * the page directory in video memory; @limit: last virtual address.
 */
void hw_inst_space_write(const struct kvgpu_vram *inst, u64 pd, u64 limit);

/* fifo.c: PFIFO, after hw_engines_reset(); copy.c: the host's copy channel */
int hw_fifo_init(struct kvgpu_hw *hw);
void hw_fifo_fini(struct kvgpu_hw *hw);
int hw_copy_init(struct kvgpu_hw *hw);
void hw_copy_fini(struct kvgpu_hw *hw);

/* sensors.c: tells whether the card's fuses say that the temperature sensor is calibrated */
bool hw_sensor_calibrated(struct kvgpu_hw *hw);
u32 hw_crystal_khz(const struct kvgpu_hw *hw);

/* firmware.c: the firmware file */
int hw_fw_load(struct kvgpu_hw *hw);
void hw_fw_free(struct kvgpu_hw *hw);

/* gr.c: these take gr_lock */
int hw_gr_init(struct kvgpu_hw *hw); /* brings GR up and makes the golden image */
int hw_gr_reinit(struct kvgpu_hw *hw); /* resets GR and brings it up again */
void hw_gr_fini(struct kvgpu_hw *hw);

/* intr.c: hw_intr_fini() masks interrupts and waits until the interrupt thread has ended */
int hw_intr_init(struct kvgpu_hw *hw);
void hw_intr_fini(struct kvgpu_hw *hw);

#endif
