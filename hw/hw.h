/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hw: drives the physical GK110 for the host. The only room that reads and writes the chip's
 * registers. Every wait is bounded (-ETIMEDOUT). Functions sleep unless marked otherwise. What the
 * chip tells goes up through struct kvgpu_hw_events.
 *
 * Video memory: [0, 256 KiB) and the last 1 MiB are left alone; the host pool lies below the last
 * MiB; all else is for partitions. BAR1: USERD window at 0 (2 MiB), its mirror, slices for vGPUs,
 * the top KVGPU_POOL_SIZE shows the pool. BAR3 is all slices. Both are translated by host-owned
 * tables, one 4 KiB entry per page.
 */
#ifndef KVGPU_HW_H
#define KVGPU_HW_H

#include <linux/pci.h>
#include <linux/spinlock.h>

#include "hw/lock.h"
#include "kvgpu/types.h"

/*
 * BAR1 leaves 100 MiB beside the slices and PRAMIN windows of the largest mix of vGPUs (7 x 512m +
 * 1g) and USERD
 */
#define KVGPU_POOL_SIZE		(96ul << 20)
#define KVGPU_USERD_SIZE	(2ul << 20)	/* 4096 x 0x200 at BAR1 offset 0 */
/* behind it the same pages again, for the host to look at */
#define KVGPU_MIRROR_SIZE	KVGPU_USERD_SIZE

struct kvgpu_fw;	/* parsed firmware file, hw/firmware.c */

struct kvgpu_hw_fault {
	u8 unit;
	u64 inst;	/* address of the (host-made) instance block */
	u64 va;
	u32 info;	/* word 0x280c */
};
struct kvgpu_hw_pbdma {
	u8 pbdma;
	hchid_t chid;
	u32 intr0, intr1, method, data, hce_method, hce_data;
};
struct kvgpu_hw_gr {
	u64 inst;			/* instance block of the context on GR */
	u32 intr, trap;
	struct { u32 reg, val; } regs[96];	/* what a driver reads to explain the exception */
	u32 nr_regs;
};

/* called from the threaded interrupt handler, no hw lock held */
struct kvgpu_hw_events {
	void (*mmu_fault)(void *ctx, const struct kvgpu_hw_fault *f);
	/* PBDMA is stalled until kvgpu_hw_pbdma_ack() */
	void (*pbdma)(void *ctx, const struct kvgpu_hw_pbdma *p);
	/* GR is halted until kvgpu_hw_gr_ack() */
	void (*gr)(void *ctx, const struct kvgpu_hw_gr *e);
	void (*ce)(void *ctx, u8 engine, u32 intr, u32 code, int id, bool tsg);
	void (*nonstall)(void *ctx);	/* may call kvgpu_hw_nonstall() */
	void (*ctxsw_timeout)(void *ctx, u8 engine, int id, bool tsg);
	/*
	 * a job of the host's copy channel did not end, and may be under way for ever: the card
	 * must be kept from memory. Any thread
	 */
	void (*copy_stuck)(void *ctx);
};

struct kvgpu_vram {		/* a piece of the pool */
	hvram_t at;
	u64 size;
	void __iomem *cpu;	/* write-combined view */
};

struct kvgpu_hw {
	struct pci_dev *pdev;
	void __iomem *bar0;
	resource_size_t bar1_phys, bar3_phys;
	u64 bar1_size, bar3_size;
	u64 vram_size;
	/* video memory for partitions, [first, end), 2 MiB aligned */
	u64 part_first, part_end;
	struct kvgpu_topo topo;
	u8 *vbios;
	u32 vbios_size;
	u32 gr_ctx_size;		/* bytes, page multiple */
	const struct kvgpu_hw_events *events;
	void *events_ctx;
	/* of the locks of hw/ and of mdev/'s that are the card's; ready before kvgpu_hw_init() */
	struct kvgpu_hw_lender lender;
	struct kvgpu_hw_priv *p;	/* hw/'s own */
	struct {
		u64 tlb_flushes, bar_flushes, runlists, preempts, resets, intrs, unhandled;
	} stats;
	/* how long the interrupt thread has worked; its own, read by events */
	u64 intr_ns;
};

/*
 * takes over the device: maps BARs, checks chip and POST, brings up memory, MMU, BARs, PFIFO, GR,
 * copy channel
 */
int kvgpu_hw_init(struct kvgpu_hw *hw, struct pci_dev *pdev, const struct kvgpu_hw_events *ev,
		  void *ctx);
void kvgpu_hw_fini(struct kvgpu_hw *hw);

/*
 * PTIMER, ns. @guess: within 2 s of it, which saves two of three register reads; 0: not known. 0 if
 * the chip does not answer. Any context.
 */
u64 kvgpu_hw_time(struct kvgpu_hw *hw, u64 guess);
/* for people who debug: a register that can be read without consequence. Any context */
u32 kvgpu_hw_peek(struct kvgpu_hw *hw, u32 reg);

int kvgpu_hw_vram_alloc(struct kvgpu_hw *hw, u64 size, u64 align, struct kvgpu_vram *out);
void kvgpu_hw_vram_free(struct kvgpu_hw *hw, struct kvgpu_vram *v);

/* MMU */
int kvgpu_hw_tlb_flush(struct kvgpu_hw *hw, u64 pd, bool hub_only);
void kvgpu_hw_bar_set(struct kvgpu_hw *hw, unsigned int bar, u32 page, const u64 *pte, u32 nr);
/* after bar_set: writes out and invalidates */
int kvgpu_hw_bar_flush(struct kvgpu_hw *hw, unsigned int bar);
/* where it was written out already */
int kvgpu_hw_bar_invalidate(struct kvgpu_hw *hw, unsigned int bar);
int kvgpu_hw_flush_writes(struct kvgpu_hw *hw);			/* 0x70000 */
/* sysmem invalidate + dirty flush */
int kvgpu_hw_l2_flush(struct kvgpu_hw *hw);

/*
 * Returns when what the chip has raised for an instance block, which is off the chip for good, has
 * been told: then the block's memory may be another channel's. Process context, without a lock that
 * the events take; waits for the interrupt thread.
 */
void kvgpu_hw_intr_settle(struct kvgpu_hw *hw, u64 inst);

/* channels and runlists */
int kvgpu_hw_chan_bind(struct kvgpu_hw *hw, hchid_t id, u64 inst, u8 runl);
/* must be off the runlist and preempted */
int kvgpu_hw_chan_unbind(struct kvgpu_hw *hw, hchid_t id);
void kvgpu_hw_chan_enable(struct kvgpu_hw *hw, hchid_t id, bool on);
u32 kvgpu_hw_chan_status(struct kvgpu_hw *hw, hchid_t id);
int kvgpu_hw_runlist(struct kvgpu_hw *hw, u8 runl, const u64 *entries, u32 nr);
int kvgpu_hw_preempt(struct kvgpu_hw *hw, bool tsg, u16 id, unsigned int timeout_ms);
/*
 * The same; @look is called while the register is another's, right after it was written, about
 * every 20 us until the preempt is done, and once more then. No lock but its.
 */
int kvgpu_hw_preempt_watched(struct kvgpu_hw *hw, bool tsg, u16 id, unsigned int timeout_ms,
			     void (*look)(void *arg), void *arg);
/*
 * The same for who can ask again: -ETIMEDOUT comes after a millisecond already where the register
 * is waited for by a thread for which others wait, and the preempt is the chip's to forget.
 */
int kvgpu_hw_preempt_turn(struct kvgpu_hw *hw, bool tsg, u16 id, unsigned int timeout_ms);
void kvgpu_hw_runl_block(struct kvgpu_hw *hw, u8 runl, bool block);
void kvgpu_hw_runl_clear_error(struct kvgpu_hw *hw, u8 runl);
/* how long the chip lets a context switch take before it reports a hang (0x2a0c) */
void kvgpu_hw_switch_timeout(struct kvgpu_hw *hw, unsigned int ms);
u32 kvgpu_hw_engine_status(struct kvgpu_hw *hw, u8 engine);
/* 0x3080 of PBDMA @p: the layout of an engine's status, without BUSY */
u32 kvgpu_hw_pbdma_status(struct kvgpu_hw *hw, u8 p);
/*
 * the words by which a guest and a channel talk, as they are in memory; a read of BAR1, not of a
 * register
 */
void kvgpu_hw_userd_look(struct kvgpu_hw *hw, hchid_t id, u32 *gp_get, u32 *gp_put);
/*
 * whether NON_STALL_INTERRUPTs (the end of a submission) interrupt; one that came while they did
 * not does when they do. Not at once from several threads
 */
void kvgpu_hw_nonstall(struct kvgpu_hw *hw, bool on);
/*
 * an interrupt that the chip holds and nobody came for is served as if it had been raised; true if
 * there is one
 */
bool kvgpu_hw_intr_look(struct kvgpu_hw *hw);
void kvgpu_hw_pbdma_ack(struct kvgpu_hw *hw, u8 pbdma, u32 intr0, u32 intr1, bool skip_method);
void kvgpu_hw_gr_ack(struct kvgpu_hw *hw);
void kvgpu_hw_ce_ack(struct kvgpu_hw *hw, u8 engine, u32 intr);
/*
 * resets one engine and brings it back (GR: power, registers, FECS); the resident context is lost,
 * all others survive
 */
int kvgpu_hw_engine_reset(struct kvgpu_hw *hw, u8 engine);

/* what the card reports; -ENODATA */
enum kvgpu_hw_clock { KVGPU_HW_CLOCK_CORE, KVGPU_HW_CLOCK_MEM };
int kvgpu_hw_temperature(struct kvgpu_hw *hw, int *millidegrees);
int kvgpu_hw_clock(struct kvgpu_hw *hw, enum kvgpu_hw_clock which, u32 *khz);

/*
 * host copies: video memory by physical address, system memory by DMA address; complete on return,
 * or never begun: copy_stuck()
 */
int kvgpu_hw_fill(struct kvgpu_hw *hw, hvram_t at, u64 size, u32 value);
int kvgpu_hw_copy_vram(struct kvgpu_hw *hw, hvram_t dst, hvram_t src, u64 size);
int kvgpu_hw_copy_to_sys(struct kvgpu_hw *hw, dma_addr_t dst, hvram_t src, u64 size);
/* a fresh graphics context: the golden image copied to @at (gr_ctx_size bytes) */
int kvgpu_hw_gr_ctx_init(struct kvgpu_hw *hw, hvram_t at);
/* reads the golden image into host memory (what the guest's golden context is answered with) */
int kvgpu_hw_gr_golden(struct kvgpu_hw *hw, void *buf, size_t size);

/*
 * USERD of a group of eight channels: BAR1 page of hchid group @group shows hvram @page when it
 * returns 0
 */
int kvgpu_hw_userd_page(struct kvgpu_hw *hw, u16 group, hvram_t page);

#endif
