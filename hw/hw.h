/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hw: drives the physical GPU for the host. It is the only room that reads and writes the chip's
 * registers. Every wait is bounded and ends with an error, mostly -ETIMEDOUT. Functions sleep
 * unless their comment says otherwise. Interrupts are reported through struct kvgpu_hw_events.
 *
 * Video memory: the first 2 MiB (in nouveau 256 KiB) and the last 1 MiB are left alone. The host
 * pool lies below the last MiB. The rest is for partitions, in units of 2 MiB. BAR1: the USERD
 * window is at 0 (2 MiB). A second mapping of the same USERDs follows, through which the host reads
 * them. Then come the slices of vGPUs; the top KVGPU_POOL_SIZE shows the pool. All of BAR3 is
 * slices. Both BARs are translated by host-owned tables, which have an entry for each 4 KiB page,
 * and big pages for the pool.
 */
#ifndef KVGPU_HW_H
#define KVGPU_HW_H

#include <linux/pci.h>
#include <linux/spinlock.h>

#include "hw/lock.h"
#include "kvgpu/types.h"

/*
 * Size of the host pool, bytes. The rest of BAR1 holds USERD, its mirror, and the slices and PRAMIN
 * windows of the largest mix of vGPUs (7 x 512m + 1g).
 */
#define KVGPU_POOL_SIZE		(96ul << 20)
#define KVGPU_USERD_SIZE	(2ul << 20)	/* 4096 x 0x200 bytes, at BAR1 offset 0 */
/* a second mapping of the USERD pages, behind the first, for reads by the host */
#define KVGPU_MIRROR_SIZE	KVGPU_USERD_SIZE

struct gen_pool;
struct kvgpu_fw;	/* checked firmware file, hw/firmware.c */

/* A record of an MMU fault, with the chip's addresses. */
struct kvgpu_hw_fault {
	u8 unit;
	u64 inst;	/* address of the instance block, which the host made */
	u64 va;
	u32 info;	/* GMMU_FAULT_INFO */
};
/* Registers of a PBDMA that has raised an interrupt, with the chip's channel id. */
struct kvgpu_hw_pbdma {
	u8 pbdma;
	hchid_t chid;
	u32 intr0, intr1, method, data, hce_method, hce_data;
};
#define KVGPU_HW_GR_REGS	96
/* Registers of a GR exception. */
struct kvgpu_hw_gr {
	u64 inst;			/* instance block of the context on GR */
	u32 intr, trap;
	/* registers that a driver reads to explain the exception */
	struct { u32 reg, val; } regs[KVGPU_HW_GR_REGS];
	u32 nr_regs;
};

/*
 * Reports of the chip. All but copy_stuck() are called by the thread of the interrupt, without a
 * lock of hw/. Events may sleep.
 */
struct kvgpu_hw_events {
	void (*mmu_fault)(void *ctx, const struct kvgpu_hw_fault *f);
	/* the PBDMA is stalled until hw_pbdma_ack(), which hw/ calls next */
	void (*pbdma)(void *ctx, const struct kvgpu_hw_pbdma *p);
	/* GR is halted until hw_gr_ack(), which hw/ calls next */
	void (*gr)(void *ctx, const struct kvgpu_hw_gr *e);
	void (*ce)(void *ctx, u8 engine, u32 intr, u32 code, int id, bool tsg);
	void (*nonstall)(void *ctx);	/* may call kvgpu_hw_nonstall() */
	void (*ctxsw_timeout)(void *ctx, u8 engine, int id, bool tsg);
	/*
	 * A job of the host's copy channel did not end and may still run: the card must be kept
	 * from memory. Called by any thread.
	 */
	void (*copy_stuck)(void *ctx);
};

struct kvgpu_vram {		/* a piece of the pool */
	hvram_t at;
	u64 size;
	void __iomem *cpu;	/* write-combined mapping of the piece */
};

/*
 * A card. kvgpu_hw_init() sets all members but .lender. They are constant afterwards, except for
 * .stats (counters without a lock) and .intr_ns. Sizes and addresses are in bytes.
 */
struct kvgpu_hw {
	struct pci_dev *pdev;
	void __iomem *bar0;
	struct {
		resource_size_t phys;
		u64 size;
	} bar[KVGPU_NR_BARS];
	u64 vram_size;
	/* video memory for partitions, [first, end), bytes, 2 MiB aligned */
	u64 part_first, part_end;
	struct kvgpu_topo topo;
	u8 *vbios;
	u32 vbios_size;
	u32 gr_ctx_size;		/* bytes, a multiple of the page size */
	const struct kvgpu_hw_events *events;
	void *events_ctx;
	/*
	 * lends a priority to holders of the card's locks, in hw/ and mdev/; ready before
	 * kvgpu_hw_init()
	 */
	struct kvgpu_hw_lender lender;
	struct kvgpu_hw_priv *p;	/* state of hw/ (internal.h) */
	struct {
		u64 tlb_flushes, bar_flushes, runlists, preempts, resets, intrs, unhandled;
	} stats;
	/* time the interrupt thread has worked; written by that thread, read by events */
	u64 intr_ns;
};

/**
 * kvgpu_hw_init() - take over a card
 * @hw: zeroed, except for @hw->lender
 * @pdev: the card
 * @ev: reports of the chip; called from here on
 * @ctx: argument of @ev's functions
 *
 * Maps the BARs, checks the chip and its POST, and brings up memory, MMU, BARs, PFIFO, GR,
 * interrupts and the copy channel (steps[] in hw.c). After an error nothing is left to undo.
 *
 * Return: 0 or a negative error code; the log names the step and its reason.
 */
int kvgpu_hw_init(struct kvgpu_hw *hw, struct pci_dev *pdev, const struct kvgpu_hw_events *ev,
		  void *ctx);
void kvgpu_hw_fini(struct kvgpu_hw *hw);

/**
 * kvgpu_hw_time() - read PTIMER
 * @hw: the card
 * @guess: a time within 2 s of PTIMER, which saves two of three register reads; 0: not known
 *
 * Context: any.
 * Return: ns, or 0 if the chip does not answer.
 */
u64 kvgpu_hw_time(struct kvgpu_hw *hw, u64 guess);
/**
 * kvgpu_hw_peek() - read a register for debugging
 * @hw: the card
 * @reg: offset in BAR0 of a register whose read has no side effect
 *
 * Context: any.
 */
u32 kvgpu_hw_peek(struct kvgpu_hw *hw, u32 reg);

int kvgpu_hw_vram_alloc(struct kvgpu_hw *hw, u64 size, u64 align, struct kvgpu_vram *out);
void kvgpu_hw_vram_free(struct kvgpu_hw *hw, struct kvgpu_vram *v);
u64 kvgpu_hw_vram_left(struct kvgpu_hw *hw);		/* bytes of the pool that are not taken */

/*
 * A vGPU's part of the pool, in one piece: a guest decides when its tables are taken and given
 * back, and could leave holes all over the pool that are too small for its neighbours' tables.
 */
struct kvgpu_hw_share {
	struct kvgpu_vram mem;
	struct gen_pool *pool;
};

/*
 * Takes a piece of @size bytes from the pool. If no free piece is that large, takes the largest
 * one, but returns -ENOMEM if that has fewer than @least bytes.
 */
int kvgpu_hw_share_take(struct kvgpu_hw *hw, u64 size, u64 least, struct kvgpu_hw_share *s);
/* call it when no memory of @s is allocated */
void kvgpu_hw_share_give(struct kvgpu_hw *hw, struct kvgpu_hw_share *s);
int kvgpu_hw_share_alloc(struct kvgpu_hw *hw, struct kvgpu_hw_share *s, u64 size,
			 struct kvgpu_vram *out);
void kvgpu_hw_share_free(struct kvgpu_hw_share *s, struct kvgpu_vram *v);

/* MMU and windows */
/**
 * kvgpu_hw_tlb_flush() - invalidate all TLB entries of a page directory
 * @hw: the card
 * @pd: address of the directory in video memory
 * @hub_only: only the hub's TLBs, which serve the BARs
 *
 * Return: 0 when the invalidate is complete, or -ETIMEDOUT.
 */
int kvgpu_hw_tlb_flush(struct kvgpu_hw *hw, u64 pd, bool hub_only);
/**
 * kvgpu_hw_bar_set() - write entries of a BAR's table
 * @hw: the card
 * @bar: which BAR
 * @page: first 4 KiB page of the BAR
 * @pte: entries
 * @nr: number of entries
 *
 * The entries take effect at kvgpu_hw_bar_flush().
 */
void kvgpu_hw_bar_set(struct kvgpu_hw *hw, enum kvgpu_bar bar, u32 page, const u64 *pte, u32 nr);
/* writes out entries of kvgpu_hw_bar_set(), then invalidates */
int kvgpu_hw_bar_flush(struct kvgpu_hw *hw, enum kvgpu_bar bar);
/* only invalidates, for entries that were written out before */
int kvgpu_hw_bar_invalidate(struct kvgpu_hw *hw, enum kvgpu_bar bar);
/* waits until the CPU's writes to video memory have reached it (FLUSH_BAR) */
int kvgpu_hw_flush_writes(struct kvgpu_hw *hw);
/* L2: invalidate system memory, write back dirty lines */
int kvgpu_hw_l2_flush(struct kvgpu_hw *hw);

/**
 * kvgpu_hw_intr_settle() - wait until all faults of an instance block are reported
 * @hw: the card
 * @inst: address of an instance block that is off the chip for good
 *
 * On return the memory of the block may get another use.
 *
 * Context: process; no lock that an event takes may be held. Waits for the interrupt thread.
 */
void kvgpu_hw_intr_settle(struct kvgpu_hw *hw, u64 inst);

/* Channels and runlists. Ids are the chip's. */
int kvgpu_hw_chan_bind(struct kvgpu_hw *hw, hchid_t id, u64 inst, u8 runl);
/*
 * call it when the channel is off the runlist and was preempted; -EBUSY if it is still on a PBDMA
 * or an engine
 */
int kvgpu_hw_chan_unbind(struct kvgpu_hw *hw, hchid_t id);
void kvgpu_hw_chan_enable(struct kvgpu_hw *hw, hchid_t id, bool on);
u32 kvgpu_hw_chan_status(struct kvgpu_hw *hw, hchid_t id);
/**
 * kvgpu_hw_runlist() - give the chip a new runlist
 * @hw: the card
 * @runl: the runlist
 * @entries: runlist entries (RUNLIST_* in gk110/ram.h); the host's copy channel is added
 * @nr: number of entries; 0 is an empty list
 *
 * Channels that run and are not in the list any more run on until they are preempted.
 *
 * Return: 0 when the chip has taken the list, -ENOSPC or -ETIMEDOUT.
 */
int kvgpu_hw_runlist(struct kvgpu_hw *hw, u8 runl, const u64 *entries, u32 nr);
/**
 * kvgpu_hw_preempt() - take a channel or a group off its engines
 * @hw: the card
 * @tsg: @id is a group
 * @id: the chip's id
 * @timeout_ms: how long to wait; the preempt register is occupied meanwhile
 *
 * Return: 0 when it is off, or -ETIMEDOUT.
 */
int kvgpu_hw_preempt(struct kvgpu_hw *hw, bool tsg, u16 id, unsigned int timeout_ms);
/**
 * kvgpu_hw_preempt_watched() - preempt, and look at the engines meanwhile
 * @hw: the card
 * @tsg: @id is a group
 * @id: the chip's id
 * @timeout_ms: how long to wait
 * @look: called about every 20 us: while another thread has the preempt register, for 5 ms at most,
 *   and from the write of the register until the preempt is done or the time is over. Called once
 *   more at the end. From the write on, the register's lock is held, and no other lock of hw/.
 * @arg: argument of @look
 *
 * Return: as kvgpu_hw_preempt().
 */
int kvgpu_hw_preempt_watched(struct kvgpu_hw *hw, bool tsg, u16 id, unsigned int timeout_ms,
			     void (*look)(void *arg), void *arg);
/**
 * kvgpu_hw_preempt_turn() - preempt for a caller that can ask again
 * @hw: the card
 * @tsg: @id is a group
 * @id: the chip's id
 * @timeout_ms: how long to wait
 *
 * As kvgpu_hw_preempt(), but looks after each millisecond whether an urgent thread waits for the
 * register (hw_lock_is_urgent()), and times out early if one does. The chip may then forget the
 * preempt.
 */
int kvgpu_hw_preempt_turn(struct kvgpu_hw *hw, bool tsg, u16 id, unsigned int timeout_ms);
void kvgpu_hw_runl_block(struct kvgpu_hw *hw, u8 runl, bool block);
void kvgpu_hw_runl_clear_error(struct kvgpu_hw *hw, u8 runl);
/*
 * Sets the time that the chip gives a context switch before it reports a hang (PFIFO_ENG_TIMEOUT).
 */
void kvgpu_hw_switch_timeout(struct kvgpu_hw *hw, unsigned int ms);
u32 kvgpu_hw_engine_status(struct kvgpu_hw *hw, u8 engine);
/*
 * Returns PFIFO_PBDMA_STATUS of PBDMA @p, which has the layout of an engine's status, without BUSY.
 */
u32 kvgpu_hw_pbdma_status(struct kvgpu_hw *hw, u8 p);
/* Reads GP_GET and GP_PUT of a channel from USERD in memory, through BAR1. Reads no register. */
void kvgpu_hw_userd_look(struct kvgpu_hw *hw, hchid_t id, u32 *gp_get, u32 *gp_put);
/*
 * Lets NON_STALL_INTERRUPTs (the end of a submission) interrupt, or not. The bit of an interrupt
 * that comes while they are off stays set, and interrupts when they are on again. Calls must not
 * overlap.
 */
void kvgpu_hw_nonstall(struct kvgpu_hw *hw, bool on);
/*
 * Looks for an interrupt that the chip holds and that was lost, and has it handled as if it was
 * raised now. Returns true if there is such an interrupt.
 */
bool kvgpu_hw_intr_look(struct kvgpu_hw *hw);
void hw_pbdma_ack(struct kvgpu_hw *hw, u8 pbdma, u32 intr0, u32 intr1, bool skip_method);
void hw_gr_ack(struct kvgpu_hw *hw);
void hw_ce_ack(struct kvgpu_hw *hw, u8 engine, u32 intr);
/*
 * Resets one engine and brings it back (GR: power, registers, FECS). The loaded context is lost;
 * all others survive.
 */
int kvgpu_hw_engine_reset(struct kvgpu_hw *hw, u8 engine);

/* Values that the card reports. -ENODATA if it reports none. */
enum kvgpu_hw_clock { KVGPU_HW_CLOCK_CORE, KVGPU_HW_CLOCK_MEM };
int kvgpu_hw_temperature(struct kvgpu_hw *hw, int *millidegrees);
int kvgpu_hw_clock(struct kvgpu_hw *hw, enum kvgpu_hw_clock which, u32 *khz);

/*
 * Host copies: video memory by physical address, system memory by DMA address, sizes in bytes. A
 * copy is complete on return. After an error copy_stuck() was called, or the copy was never begun.
 */
int kvgpu_hw_fill(struct kvgpu_hw *hw, hvram_t at, u64 size, u32 value);
int kvgpu_hw_copy_vram(struct kvgpu_hw *hw, hvram_t dst, hvram_t src, u64 size);
int kvgpu_hw_copy_to_sys(struct kvgpu_hw *hw, dma_addr_t dst, hvram_t src, u64 size);
/* Copies the golden image to @at: a fresh graphics context of gr_ctx_size bytes. */
int kvgpu_hw_gr_ctx_init(struct kvgpu_hw *hw, hvram_t at);

/*
 * Shows hvram @page as the USERD page of the eight channels of hchid group @group, in BAR1 and its
 * mirror.
 */
int kvgpu_hw_userd_page(struct kvgpu_hw *hw, u16 group, hvram_t page);

#endif
