/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A malicious GK110 below hw's register accesses. It does what the hardware may do and nothing that
 * it may not:
 * - a channel that is enabled, bound and listed is loaded whenever the chip likes, above all at
 *   once after a preempt;
 * - what it loads is the instance block as it is then, and it keeps that page directory until it
 *   loads again;
 * - it walks tables at any moment, and keeps every translation it saw until it says that the
 *   invalidate of the directory has ended;
 * - it hangs, faults, and answers nothing but errors at times, and copies for the host when it
 *   likes.
 * Whatever it can reach is asked of the oracle (oracle.h) at each look.
 */
#ifndef KVGPU_HARNESS_CHIP_H
#define KVGPU_HARNESS_CHIP_H

#include <linux/types.h>

#define CHIP_VRAM	(2624ull << 20)		/* four partitions of 512 MiB, and the pool */
#define CHIP_RUNLS	3

struct chip_manners {
	bool eager;		/* loads again at once what was preempted */
	/* at a register access: loads another one, or puts away what is loaded */
	u32 load_ppm;
	u32 look_ppm;		/* looks at all it can reach */
	/* what is loaded is on its engine at once, and stays until it is preempted */
	bool busy;
	/* an engine is busy only for a channel that has work; else for each that it has */
	bool idles;
	u32 late;		/* how many reads a completion may take */
	/* a register of the scheduler, of flushes or invalidates answers with a PRI error */
	u32 error_ppm;
	u32 fault_ppm;		/* at a register access: what is loaded faults */
	u32 hang_ppm;		/* what is loaded holds its engine until that is reset */
};

void chip_begin(const struct chip_manners *m);
void chip_set_manners(const struct chip_manners *m);
void chip_end(void);
bool chip_errs(void);					/* its manners are to answer with errors */
/* S1, S2: fails the run if it reaches what it must not */
void chip_look(const char *when);

u32 chip_read(u32 reg);
void chip_write(u32 reg, u32 val);
/* address in video memory behind a BAR's byte, by table and TLB */
u64 chip_show(unsigned int bar, u64 off, bool *valid);
/* it is an address for DMA: the BAR shows memory of the host */
bool chip_shows_host(unsigned int bar, u64 off);
u8 *chip_vram(u64 at);
/* somebody may have put something else than zero there */
void chip_wrote(u64 at, u64 len);
bool chip_is_zero(u64 at, u64 len);
bool chip_intr(void);					/* the line to the host is up */
/* these are of a channel that is loaded or can be; false: it can't */
/* holds its engine until that is reset; for good: after that, too */
bool chip_hang(u16 chid, bool for_good);
/* the same, and the engine knows the channel by that id */
bool chip_misname(u16 chid, u16 id, bool for_good);
/* of GR. Its runlist stands still until somebody clears the error */
bool chip_fault(u16 chid, u64 va);
bool chip_pbdma_intr(u16 chid, u32 bits);
bool chip_engine_works(u16 chid);			/* for that channel */
/* of GR: for so long its work can't be preempted */
bool chip_hold(u16 chid, u64 ns);
bool chip_is_stuck(void);				/* GR holds what it has until it is reset */
/* whose; without: who is on GR, NO_CHAN: nobody */
bool chip_is_held(u16 *chid);
/* has something to do, whatever its words say */
void chip_at_work(u16 chid, bool on);
/* the chip's own alarm: a hung channel is asked to leave and does not */
bool chip_switch_timeout(void);
/* copies of the host's wait, with all that they say */
void chip_copy_hold(bool on);
/* a channel executes a NON_STALL_INTERRUPT */
void chip_nonstall(void);
/* a store to the doorbells of the host's channels */
void chip_doorbell(u32 off, u32 val);
void chip_watch_writes(void);
/* how often since then, and what last; the first few hundred writes */
u32 chip_written(u32 reg, u32 *val);
bool chip_loaded(u16 chid);
u32 chip_loads(void);
/* what was submitted last; room for 2 * KVGPU_MAX_CHAN */
u32 chip_list(u8 runl, u64 *entry);
void chip_bus_master(bool on);				/* off: it reaches no system memory */

/*
 * bar.c: false: the entry forbids what the CPU does, a fault of the BAR's unit. @off: of the whole
 * BAR
 */
bool bar_write(unsigned int bar, u64 off);
bool bar_read(unsigned int bar, u64 off);

/* clock.c: PTIMER */
/* runs faster than the CPU's clock by that */
void clock_begin(s32 ppm);
u64 clock_now(void);
void clock_silent(bool on);				/* its reads are not answered */
u32 clock_read(u32 reg);

/* fake.c: the graphics engine's registers as bring-up wants them */
void fake_begin(u32 *reg);
bool fake_read(u32 *reg, u32 at, u32 *val);
bool fake_write(u32 *reg, u32 at, u32 val);

/* copy.c: the host's copy channel */
/* the newest entry of the ring, as it is now */
void copy_fetch(u64 inst, u32 put);
void copy_run(u64 inst);				/* what was fetched */
void copy_drop(void);

/* mmu.c */
struct chip_leaf { u64 pd, va, pte; };
typedef void (*chip_leaf_fn)(void *ctx, u64 va, u64 pte, bool big);
void mmu_walk(u64 pd, void (*table)(void *ctx, u64 at, u64 size), chip_leaf_fn leaf, void *ctx);
/* the entry, 0: none. Small pages before big ones that are not valid */
u64 mmu_translate(u64 pd, u64 va);

#endif
