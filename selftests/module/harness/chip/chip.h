/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A malicious GK110 below hw's register accesses, which does what the hardware may do (README.md).
 * chip_look() asks the oracle (oracle.h) about what it can reach.
 * Functions for which no file is named are in chip.c; those with hangs, faults, interrupts, errors,
 * held work and a full queue in wrong.c. None of them switches threads.
 */
#ifndef KVGPU_HARNESS_CHIP_H
#define KVGPU_HARNESS_CHIP_H

#include "kvgpu/types.h"

#define CHIP_VRAM   (2624ull << 20) /* four partitions of 512 MiB and the pool */
#define CHIP_RUNLS  3
#define CHIP_NOBODY (KVGPU_MAX_CHAN - 1) /* a channel that no vGPU of a test has */

struct chip_manners {
	/* loads at once what may run; after a preempt first what that took off */
	bool eager;
	/* chance at a register access: loads another channel, or drops a loaded one */
	u32 load_ppm;
	u32 look_ppm; /* chance at a register access: chip_look() */
	/* what is loaded gets onto its engine at once, if that is not held */
	bool busy;
	/* an engine with a channel is busy only while the channel has work; false: always */
	bool idles;
	/* the preempt of a channel that waits for a held engine ends only when that is free */
	bool waiters_stay;
	/* that of a channel that copies, or (.waiters_stay) waits for that, ends when copies do */
	bool copies_stay;
	/*
	 * while a channel holds GR, and another one with work waits for it on its PBDMA, the status
	 * of GR says that GR is to switch between the two and has not begun to save (status
	 * "switch" of nvgpu's hw_fifo_gk20a.h: VALID, SAVE and CHSW, with both ids)
	 */
	bool names_next;
	/* a preempt does not end while an interrupt of the channel's PBDMA is not acknowledged */
	bool interrupts_stay;
	/* For so many reads at most a register says that what was asked for is still pending. */
	u32 late;
	/* chance that a read about the scheduler, flushes or invalidates gives a PRI error */
	u32 error_ppm;
	/* chance at a register access: the channel that is loaded from runlist 0 faults */
	u32 fault_ppm;
	/* chance that a channel which gets onto GR at a load holds GR until GR's reset */
	u32 hang_ppm;
	/* copy engine 0 has runlist 1 and a PBDMA to itself; false: the PBDMA serves the host's */
	bool lone_ce;
};

void chip_begin(const struct chip_manners *m);
void chip_end(void);
/* S1, S2 (docs/invariants.md): fail the run if the chip reaches what it must not reach */
void chip_look(const char *when);

u32 chip_read(u32 reg);
void chip_write(u32 reg, u32 val);
/* Not NULL: what the chip does just before it gets a write of the host. */
extern void (*chip_before_write)(u32 reg, u32 val);
/* Return what BAR @bar shows at @off, by tables and TLB. *@at: address in VRAM, or for DMA. */
enum shows { SHOWS_NOTHING, SHOWS_VRAM, SHOWS_HOST } chip_show(unsigned int bar, u64 off, u64 *at);
u8 *chip_vram(u64 at);
/*
 * For each page of video memory: not 0 if the page may hold something else than zeros. Zeros are
 * not stored again in the others, so that all who write call chip_wrote().
 */
extern u8 *chip_pages;
/* Note that these bytes may no longer be zero. */
void chip_wrote(u64 at, u64 len);
bool chip_is_zero(u64 at, u64 len);
bool chip_intr(void); /* the line to the host is up */
/*
 * The functions from chip_hang() to chip_pbdma_intr(), and chip_hold(), take a channel that may
 * be loaded, and load it if it is not. They return false if it can't be loaded. All but
 * chip_pbdma_intr() also return false if something like that is under way already.
 */
/* The channel holds its engine until that is reset; with @for_good even after a reset. */
bool chip_hang(u16 chid, bool for_good);
/* Hang likewise, and have the engine's status give @id in place of the channel's own id. */
bool chip_misname(u16 chid, u16 id, bool for_good);
/* GR faults at @va. The runlist stands still until the host clears PFIFO_RUNLIST_ERROR. */
bool chip_fault(u16 chid, u64 va);
bool chip_pbdma_intr(u16 chid, u32 bits);
/* PBDMA @p interrupts, and names @chid, which it may not have. false: its last one is pending. */
bool chip_pbdma_raise(u32 p, u16 chid, u32 bits);
/* The copy engine of runlist 0 interrupts. @code: what its LAUNCHERR says. */
void chip_copy_raise(u32 intr, u32 code);
/* The copy engine's interrupt is not acknowledged. */
bool chip_copy_raised(void);
/* A loaded channel faults, and holds no engine by that. The runlist stands still likewise. */
bool chip_fault_now(u16 chid);
/* GMMU unit @unit (of a BAR) faults at @va. Return false if its last fault is not acknowledged. */
bool chip_bar_fault(u32 unit, u64 va);
/*
 * GR halts and interrupts, until the host lets it go on. @inst: the instance block of its context;
 * 0: it has none. @gpccs: bits of GPCCS_TRAP of GPC @gpc. @trap: bits of GR_TRAP.
 */
void chip_gr_trap(u64 inst, u32 gpc, u32 gpccs, u32 trap);
void chip_put(u32 reg, u32 val); /* the register has this value from now on */
/* Load the channel on GR in the place of what GR has, if it may be loaded and GR holds nothing. */
void chip_load_on_gr(u16 chid);
/* Return true when the engine of the channel's runlist has the channel, and is busy. */
bool chip_engine_works(u16 chid);
/* The channel's work on GR can't be preempted for @ns. */
bool chip_hold(u16 chid, u64 ns);
/* The same for what PBDMA 0 has, even if disabled since. false: it has another, or GR is held. */
bool chip_begin_held(u16 chid, u64 ns);
/* Return true when GR holds its channel, so that a preempt of it does not end. */
bool chip_is_stuck(void);
/* Return true while a chip_hold() lasts. *@chid: the channel on GR, or NO_CHAN. */
bool chip_is_held(u16 *chid);
/* The chip's own alarm for a hung channel that is preempted and stays. false: there is none. */
bool chip_switch_timeout(void);
/* The same alarm, for a switch that has just ended. */
void chip_alarm(void);
/* For @ns from now on, the status of the copy engine of runlist 0 says that it saves @chid. */
void chip_switch(u16 chid, u64 ns);
/* That engine works for channel @chid until @until, whatever GR does. */
void chip_copies(u16 chid, u64 until);
/*
 * The channel fills the MMU's queue by invalidates (MEM_OP). Each read of FB_MMU_CTRL lets the MMU
 * take one out. An invalidate that the host asks for while the queue is full is lost. Return false
 * if the channel is not loaded.
 */
bool chip_mem_ops(u16 chid);
/* a channel executes a NON_STALL_INTERRUPT, at most one in NONSTALL_NS */
void chip_nonstall(void);
/* The host stores @val at offset @off of the page with its own channels' doorbells. */
void chip_doorbell(u32 off, u32 val);
/* Return how often @reg was written since .nr_written was 0; *@val: the last value. */
u32 chip_written(u32 reg, u32 *val);
bool chip_loaded(u16 chid);

/* A CPU loads and stores at @off of the whole BAR. false: its entry forbids it, its unit faults. */
bool bar_access(unsigned int bar, u64 off);

/* flush.c */
void flush_begin(void);
/* A CPU has stored in these bytes of video memory by a BAR. */
void flush_stored(u64 at, u64 len);
/* Return true when a flush of BARs has ended that was begun after all stores in these bytes. */
bool flush_brought(u64 at, u64 len);
/* The host asks for an invalidate. Fail if tables in use have stores that may come later (S2). */
void flush_before_invalidate(u64 pd, bool all);
/* Numbers of the two flushes of L2, of system memory's lines and of dirty lines. */
struct l2_flushes {
	u32 invalidate, dirty;
};
struct l2_flushes flush_l2_next(void); /* those that the host begins next */
bool flush_l2_ended(struct l2_flushes nr);

/*
 * The card is one that nobody has POSTed: until its boot scripts have set PTOP_DEVINIT_DONE, most
 * registers give an error of the register ring, and lose writes while memory's unit is off. @rom
 * is what its ROM shows.
 */
void chip_unpost(const u8 *rom, u32 size);

/* clock.c: PTIMER */
void clock_reset(void); /* its rate is not set, and it stands still */
bool clock_write(u32 reg, u32 val);
/* PTIMER runs faster than the CPU's clock by @ppm from now on. chip_begin() does not reset that. */
void clock_begin(s32 ppm);
u64 clock_now(void);
extern bool clock_silent; /* its reads are not answered */
extern u32 clock_error; /* not 0: its reads give this error of the register ring */
u32 clock_read(u32 reg);

/* fake.c: GR's registers as bring-up wants them. true: the access needs nothing more. */
void fake_begin(u32 *reg);
bool fake_read(u32 *reg, u32 at, u32 *val);
bool fake_write(u32 *reg, u32 at, u32 val);

/* copy.c: the host's copy channel */
/* Fetch the ring entry before index @put, and the words it points to, as they are now. */
void copy_fetch(u64 inst, u32 put);
void copy_run(u64 inst); /* do the jobs that were fetched */
/* The host has written @on to PMC_ENABLE. PFIFO and copy engines, off together, lose the jobs. */
void copy_enable(u32 on);

/* mmu.c */
typedef void (*chip_leaf_fn)(void *ctx, u64 va, u64 pte, bool big);
typedef void (*chip_table_fn)(void *ctx, u64 at, u64 size);
/* @leaf may be NULL. */
void mmu_walk(u64 pd, chip_table_fn table, chip_leaf_fn leaf, void *ctx);
/* Return the entry that maps @va, a big page's before a small one's; 0: none is valid. */
u64 mmu_translate(u64 pd, u64 va);

#endif
