/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hw: drives the physical GPU for the host. It is the only room that reads and writes the chip's
 * registers. A wait for the chip ends after a limited time. Functions may sleep unless their
 * comment says otherwise, and take the locks of hw/ that they need. docs/locking.md says which
 * locks of mdev/ callers hold. Events are reported through struct kvgpu_hw_events. Functions that
 * return int return 0 or a negative error code.
 *
 * "Group" is a channel group (TSG): channels that the chip schedules together. GR is the graphics
 * engine. The copy channel is the host's own channel on a copy engine.
 *
 * Video memory: the first 2 MiB and the last 1 MiB are not used. The host pool, for structures that
 * the host makes, lies below the last MiB. The memory between the first 2 MiB and the pool is for
 * partitions: each vGPU's video memory is a partition.
 *
 * BAR1: the first 2 MiB are the USERD window, which has the USERD of each channel: 512 bytes with
 * GP_GET and GP_PUT, the pointers of the channel's ring of work (GPFIFO). GP_PUT is the channel's
 * doorbell. The next 2 MiB (the mirror) show the same USERDs again: the host reads GP_GET and
 * GP_PUT there. After the mirror, each vGPU has a slice, which the guest sees as its own BAR, and a
 * PRAMIN window: 1 MiB that shows the video memory behind the guest's PRAMIN (0x700000 in BAR0).
 * The last KVGPU_POOL_SIZE bytes show the pool. BAR3 has slices only.
 */
#ifndef KVGPU_HW_H
#define KVGPU_HW_H

#include <linux/pci.h>
#include <linux/spinlock.h>

#include "kvgpu/types.h"

/*
 * Size of the host pool, bytes. BAR1 shows the whole pool, so a larger pool would leave less room
 * in BAR1 for the slices and PRAMIN windows.
 */
#define KVGPU_POOL_SIZE (96ul << 20)
/* bytes of the USERD window: 4096 channels x 0x200 */
#define KVGPU_USERD_SIZE  (2ul << 20)
#define KVGPU_MIRROR_SIZE KVGPU_USERD_SIZE

struct gen_pool;
struct kvgpu_fw;

/* A record of an MMU fault, as the chip reports it. */
struct kvgpu_hw_fault {
	u8 unit; /* number of the fault unit (gk110/mmu.h) */
	/* address in video memory of the host's instance block whose address space had the fault */
	u64 inst;
	u64 va;
	u32 info; /* value of the register GMMU_FAULT_INFO */
	/* ktime, ns: the fault may have stopped the runlist since then, but not much longer */
	u64 since;
};
/* Registers of a PBDMA that has raised an interrupt. .chid is the chip's id of the channel. */
struct kvgpu_hw_pbdma {
	u8 pbdma;
	hchid_t chid;
	u32 intr0, intr1, method, data, hce_method, hce_data;
};
#define KVGPU_HW_GR_REGS 96
/* Registers of GR, the graphics engine, that were read at an exception of GR. */
struct kvgpu_hw_gr {
	/* address of the instance block of the context on GR; 0, which no block has: none */
	u64 inst;
	u32 intr, trap;
	/*
	 * the registers by which a driver finds the cause; .val 0 for a register that may still
	 * have the data of an earlier exception (intr.c)
	 */
	struct {
		u32 reg, val;
	} regs[KVGPU_HW_GR_REGS];
	u32 nr_regs;
};

/*
 * Functions by which hw/ reports events of the chip to the machine. The interrupt thread calls all
 * but copy_stuck(), without locks of hw/. The functions may sleep. They must not call
 * kvgpu_hw_intr_settle() or kvgpu_hw_fini(), which wait for that thread.
 */
struct kvgpu_hw_events {
	void (*mmu_fault)(void *ctx, const struct kvgpu_hw_fault *f);
	/* The PBDMA has raised an interrupt. hw/ acknowledges it when this function returns. */
	void (*pbdma)(void *ctx, const struct kvgpu_hw_pbdma *p);
	/* GR has raised an exception. hw/ acknowledges it when this function returns. */
	void (*gr)(void *ctx, const struct kvgpu_hw_gr *e);
	/*
	 * A copy engine has raised an interrupt. @engine: index in topo.engine. @intr:
	 * GK110_CE_INTR. @code: GK110_CE_LAUNCHERR. @id: the chip's id of the channel on the
	 * engine, or of the group if @tsg is true; -1: none.
	 */
	void (*ce)(void *ctx, u8 engine, u32 intr, u32 code, int id, bool tsg);
	/*
	 * A channel has executed the method NON_STALL_INTERRUPT. The chip does not tell which
	 * channel it was.
	 */
	void (*nonstall)(void *ctx);
	/*
	 * A context switch on engine @engine did not end in the time of kvgpu_hw_switch_timeout().
	 * @id: the chip's id of the channel that the engine saves or loads, or of the group if @tsg
	 * is true.
	 */
	void (*ctxsw_timeout)(void *ctx, u8 engine, int id, bool tsg);
	/*
	 * A job of the host's copy channel failed. The job may still run. This function has to cut
	 * the card off from system memory. The thread that asked for the fill or copy calls this
	 * function.
	 */
	void (*copy_stuck)(void *ctx);
};

struct kvgpu_vram { /* a piece of the host pool */
	hvram_t at;
	u64 size;
	void __iomem *cpu; /* the CPU's mapping of the piece, write-combined */
};

/*
 * A card. kvgpu_hw_init() sets the members. Later .stats (counters, without a lock) and .intr_late
 * change. Sizes and addresses are in bytes.
 */
struct kvgpu_hw {
	struct pci_dev *pdev;
	void __iomem *bar0;
	struct {
		resource_size_t phys;
		u64 size;
	} bar[KVGPU_NR_BARS];
	u64 vram_size;
	/* video memory for partitions: [part_first, part_end) */
	u64 part_first, part_end;
	struct kvgpu_topo topo;
	u8 *vbios;
	u32 vbios_size;
	u32 gr_ctx_size; /* bytes, a multiple of the page size */
	/* runlist of a copy engine alone, for guests' copies; -1: the card has none */
	int copy_runl;
	const struct kvgpu_hw_events *events;
	void *events_ctx;
	struct kvgpu_hw_priv *p; /* private state of hw/ (internal.h) */
	struct {
		u64 tlb_flushes, bar_flushes, runlists, preempts, resets, intrs, unhandled;
	} stats;
	/*
	 * The interrupt thread rests, and reports what may be some 100 us old: an interrupt that
	 * did not stop its unit may be another channel's. Read it in functions of .events.
	 */
	bool intr_late;
};

/**
 * kvgpu_hw_init() - take over a card
 * @hw: zeroed
 * @pdev: the card
 * @ev: functions for reports of the chip; hw/ may call them before this function returns
 * @ctx: argument of @ev's functions
 *
 * Checks the chip, POSTs it if that was not done since its last reset, and brings it up (steps[]
 * in hw.c). After an error the caller has nothing to undo.
 *
 * Return: 0 or a negative error code.
 */
int kvgpu_hw_init(struct kvgpu_hw *hw, struct pci_dev *pdev, const struct kvgpu_hw_events *ev,
		  void *ctx);
/*
 * Takes the card down. Call it only when no other thread uses the card any more. Until the
 * function returns, the interrupt thread may still call functions of struct kvgpu_hw_events.
 */
void kvgpu_hw_fini(struct kvgpu_hw *hw);

/**
 * kvgpu_hw_time() - read PTIMER, the card's clock
 * @hw: the card
 * @guess: ns, a time that differs from PTIMER by less than 2 s, or 0 if none is known
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
 * Return: the value of the register.
 */
u32 kvgpu_hw_peek(struct kvgpu_hw *hw, u32 reg);

/*
 * Takes a piece from the host pool. @size is rounded up to whole pages. The piece's address is a
 * multiple of @align and of a page. Returns 0 or -ENOMEM.
 */
int kvgpu_hw_vram_alloc(struct kvgpu_hw *hw, u64 size, u64 align, struct kvgpu_vram *out);
/* Gives a piece back and zeroes *@v. Does nothing if *@v is zeroed already. */
void kvgpu_hw_vram_free(struct kvgpu_hw *hw, struct kvgpu_vram *v);
u64 kvgpu_hw_vram_left(struct kvgpu_hw *hw); /* free bytes of the host pool */

/*
 * A vGPU's part of the pool, in one piece: all that mdev/ takes from the pool for this vGPU, such
 * as page tables, is allocated from this piece. If all guests shared the pool, one guest could
 * leave holes all over it that are too small for other guests' tables.
 */
struct kvgpu_hw_share {
	struct kvgpu_vram mem;
	struct gen_pool *pool;
};

/*
 * Takes the largest piece that fits, a multiple of 256 KiB, of at most @size and at least @least
 * bytes from the host pool. @least must not be 0: the search would not end. Returns 0 or -ENOMEM.
 */
int kvgpu_hw_share_take(struct kvgpu_hw *hw, u64 size, u64 least, struct kvgpu_hw_share *s);
/*
 * Gives the piece back to the host pool. All memory that was allocated from @s must be freed
 * before.
 */
void kvgpu_hw_share_give(struct kvgpu_hw *hw, struct kvgpu_hw_share *s);
/* Takes a piece of whole pages from @s, of at least @size bytes. Returns 0 or -ENOMEM. */
int kvgpu_hw_share_alloc(struct kvgpu_hw *hw, struct kvgpu_hw_share *s, u64 size,
			 struct kvgpu_vram *out);
/* Gives a piece back to @s and zeroes *@v. Don't call it with a *@v that is zeroed already. */
void kvgpu_hw_share_free(struct kvgpu_hw_share *s, struct kvgpu_vram *v);

/**
 * kvgpu_hw_tlb_flush() - invalidate all TLB entries of a page directory
 * @hw: the card
 * @pd: address of the directory in video memory
 * @hub_only: true: only the TLBs of the hub; false: also those of the GPCs
 *
 * Return: 0, -ETIMEDOUT or -EIO.
 */
int kvgpu_hw_tlb_flush(struct kvgpu_hw *hw, u64 pd, bool hub_only);
/**
 * kvgpu_hw_bar_set() - write entries of a BAR's table
 * @hw: the card
 * @bar: which BAR
 * @page: index of the first 4 KiB page of the BAR whose entry is written
 * @pte: the new entries
 * @nr: number of entries
 *
 * Takes no lock: no two threads may write the same entry at once (each vGPU has its own entries).
 * Call kvgpu_hw_bar_flush() afterwards: until then the chip may still use the old entries.
 */
void kvgpu_hw_bar_set(struct kvgpu_hw *hw, enum kvgpu_bar bar, u32 page, const u64 *pte, u32 nr);
/*
 * Waits until the entries written by kvgpu_hw_bar_set() are in video memory, then invalidates the
 * BAR's TLB entries. Returns 0 or a negative error code of either step.
 */
int kvgpu_hw_bar_flush(struct kvgpu_hw *hw, enum kvgpu_bar bar);
/*
 * Invalidates the BAR's TLB entries, without a wait for the new entries. Call it in place of
 * kvgpu_hw_bar_flush() only if the new entries are in video memory already.
 */
int kvgpu_hw_bar_invalidate(struct kvgpu_hw *hw, enum kvgpu_bar bar);
/* waits until the CPU's earlier writes through BARs have reached video memory (FLUSH_BAR) */
int kvgpu_hw_flush_writes(struct kvgpu_hw *hw);
/* drops L2's lines of system memory, then writes L2's dirty lines back (FLUSH_L2_*) */
int kvgpu_hw_l2_flush(struct kvgpu_hw *hw);

/* for kvgpu_hw_intr_settle(): all instance blocks; no block has this address */
#define KVGPU_HW_ALL_INST U64_MAX

/**
 * kvgpu_hw_intr_settle() - wait until all interrupts of a channel are reported
 * @hw: the card
 * @inst: address of the channel's instance block, which the chip does not use any more;
 *   KVGPU_HW_ALL_INST: wait for all channels that the chip does not use any more
 *
 * On return the caller may use the memory of the instance block, and the channel's id, for another
 * channel. With KVGPU_HW_ALL_INST it may also use the id of a group (TSG) that the last channel
 * had left before the call. The function gives up after 2 s or more, with a message in the log:
 * then an interrupt of the old channel may be taken for one of the new channel.
 *
 * Context: process; waits for the interrupt thread, so the caller must hold no lock that a function
 *   of struct kvgpu_hw_events takes.
 */
void kvgpu_hw_intr_settle(struct kvgpu_hw *hw, u64 inst);

/**
 * kvgpu_hw_intr_pace() - have the interrupt thread rest before it serves more interrupts
 * @hw: the card
 *
 * For interrupts that come faster than they should, and that the chip can't be told to stop. The
 * thread serves the causes that it has read, and then rests for about 1 ms: it serves faults and
 * PBDMAs every 50 to 100 us meanwhile, and all that there is at growing intervals.
 *
 * Context: a function of struct kvgpu_hw_events, in the interrupt thread.
 */
void kvgpu_hw_intr_pace(struct kvgpu_hw *hw);

/* The ids of channels, groups and runlists below are the chip's, not a guest's. */
/* Binds a channel to an instance block and a runlist. @inst: address in video memory. */
int kvgpu_hw_chan_bind(struct kvgpu_hw *hw, hchid_t id, u64 inst, u8 runl);
/*
 * Unbinds a channel. Take it out of its runlist and preempt it before. Returns 0, or -EBUSY if the
 * channel is still on a PBDMA or an engine; then it stays bound.
 */
int kvgpu_hw_chan_unbind(struct kvgpu_hw *hw, hchid_t id);
/*
 * Enables or disables a channel, which kvgpu_hw_chan_bind() has put on runlist @runl: the register
 * has both. Does not sleep, and takes no lock. mdev/ enables channels only in the thread that also
 * ends channels: an ended channel must stay disabled.
 */
void kvgpu_hw_chan_enable(struct kvgpu_hw *hw, hchid_t id, u8 runl, bool on);
/* Returns the register PCCSR_CHAN of the channel. */
u32 kvgpu_hw_chan_status(struct kvgpu_hw *hw, hchid_t id);
/**
 * kvgpu_hw_runlist() - give the chip a new runlist
 * @hw: the card
 * @runl: the runlist; not that of the host's copy channel, which is never GR's
 * @entries: runlist entries (RUNLIST_* in gk110/ram.h)
 * @nr: number of @entries; may be 0
 *
 * A running channel that is not in the new list may run on until it is preempted.
 *
 * Return: 0 when the chip has taken the list; -ENOSPC if the list is too long; -ETIMEDOUT if the
 * chip has not flushed the entries or taken the list in time; or -EIO if the card is off the bus.
 */
int kvgpu_hw_runlist(struct kvgpu_hw *hw, u8 runl, const u64 *entries, u32 nr);
/* about this many us lie between calls of @look in kvgpu_hw_preempt() */
#define KVGPU_HW_WATCH_US 20
/*
 * Has the chip take channel or group @id off its engines. A preempt that has not ended then is
 * forgotten.
 */
void kvgpu_hw_preempt_begin(struct kvgpu_hw *hw, bool tsg, u16 id);
/*
 * Waits for the end of the last preempt, for KVGPU_HW_WATCH_US at most. Returns 0 when it has
 * ended: the channel or group is off its engines; -ETIMEDOUT; or -EIO if the card is off the bus.
 */
int kvgpu_hw_preempt_wait(struct kvgpu_hw *hw);
/**
 * kvgpu_hw_preempt() - take a channel or a group off its engines
 * @hw: the card
 * @tsg: true: @id is the id of a group; false: of a channel
 * @id: the chip's id
 * @timeout_ms: how long to wait
 * @look: called about every KVGPU_HW_WATCH_US until the preempt has ended; or NULL
 * @arg: argument of @look
 *
 * By @look the caller sees for which channels the engines work meanwhile. The caller itself looks
 * before and after the call.
 *
 * Return: as kvgpu_hw_preempt_wait().
 */
int kvgpu_hw_preempt(struct kvgpu_hw *hw, bool tsg, u16 id, unsigned int timeout_ms,
		     void (*look)(void *arg), void *arg);
/*
 * Blocks or unblocks a runlist. The chip loads no further channel of a blocked runlist. Returns the
 * ns since the last call for the runlist if it was blocked by that call, else 0.
 */
u64 kvgpu_hw_runl_block(struct kvgpu_hw *hw, u8 runl, bool block);
/* Lets the chip schedule a runlist again, after a fault has stopped it (PFIFO_RUNLIST_ERROR). */
void kvgpu_hw_runl_clear_error(struct kvgpu_hw *hw, u8 runl);
/* Sets how long a context switch may take before .ctxsw_timeout() is called. */
void kvgpu_hw_switch_timeout(struct kvgpu_hw *hw, unsigned int ms);
/* Returns PFIFO_ENGINE_STATUS of the engine, an index in topo.engine. No lock, does not sleep. */
u32 kvgpu_hw_engine_status(struct kvgpu_hw *hw, u8 engine);
/* Returns PFIFO_PBDMA_STATUS of PBDMA @p. */
u32 kvgpu_hw_pbdma_status(struct kvgpu_hw *hw, u8 p);
/* Reads GP_GET and GP_PUT of a channel from its USERD in the mirror (BAR1). */
void kvgpu_hw_userd_read(struct kvgpu_hw *hw, hchid_t id, u32 *gp_get, u32 *gp_put);
/*
 * Unmasks (@on) or masks NON_STALL_INTERRUPTs, by which channels report the end of a submission. If
 * such an interrupt comes while they are masked, it is raised when they are unmasked. Calls must
 * not overlap: callers hold chip->event_lock of mdev/machine/.
 */
void kvgpu_hw_nonstall(struct kvgpu_hw *hw, bool on);
/*
 * Tells whether an interrupt is pending. If so, masks interrupts and wakes the interrupt thread,
 * because the interrupt's message (MSI) may have been lost. Takes no lock of hw/, and does not
 * sleep.
 */
bool kvgpu_hw_intr_poll(struct kvgpu_hw *hw);
/*
 * The acknowledges of interrupts, which only hw/intr.c calls. hw_pbdma_ack() acknowledges the bits
 * @intr0 and @intr1 of a PBDMA. With @skip_method the PBDMA also skips the method at which it has
 * stalled.
 */
void hw_pbdma_ack(struct kvgpu_hw *hw, u8 pbdma, u32 intr0, u32 intr1, bool skip_method);
/* Acknowledges all pending interrupts of GR. */
void hw_gr_ack(struct kvgpu_hw *hw);
/* Acknowledges the bits @intr of a copy engine. @engine: index in topo.engine. */
void hw_ce_ack(struct kvgpu_hw *hw, u8 engine, u32 intr);
/*
 * Resets one engine and brings it up again. @engine is an index in topo.engine. The loaded context
 * is lost; contexts in memory stay. No two resets may overlap. An error means that GR did not come
 * up again; the reset of a copy engine returns 0 in any case.
 */
int kvgpu_hw_engine_reset(struct kvgpu_hw *hw, u8 engine);

/* Temperature and clocks. Return 0, or -ENODATA if there is no plausible value. */
enum kvgpu_hw_clock { KVGPU_HW_CLOCK_CORE, KVGPU_HW_CLOCK_MEM };
int kvgpu_hw_temperature(struct kvgpu_hw *hw, int *millidegrees);
int kvgpu_hw_clock(struct kvgpu_hw *hw, enum kvgpu_hw_clock which, u32 *khz);

/*
 * Fills and copies by the host's copy channel. Video memory is given by its physical address,
 * system memory by its DMA address, sizes are in bytes. After an error a part may be filled or
 * copied. -EINVAL: @at or @size of a fill is not a multiple of 4. -ENODEV: the copy channel is not
 * up, or an earlier job has failed. After any other error a job may still write, and .copy_stuck()
 * was called.
 */
int kvgpu_hw_fill(struct kvgpu_hw *hw, hvram_t at, u64 size, u32 value);
int kvgpu_hw_copy_vram(struct kvgpu_hw *hw, hvram_t dst, hvram_t src, u64 size);
int kvgpu_hw_copy_to_sys(struct kvgpu_hw *hw, dma_addr_t dst, hvram_t src, u64 size);
/* Copies bytes of the golden image, with which each new graphics context starts, from @off on. */
int kvgpu_hw_gr_ctx_init(struct kvgpu_hw *hw, hvram_t at, u32 off, u32 size);

/*
 * Makes BAR1 show a page of video memory as the USERDs of the channels 8 * @group to 8 * @group +
 * 7, in the USERD window and in its mirror. (@group is not a TSG here.) Calls for one @group must
 * not overlap, so mdev/ holds vgpu->lock of the vGPU that has these channels.
 */
int kvgpu_hw_userd_page(struct kvgpu_hw *hw, u16 group, hvram_t page);

#endif
