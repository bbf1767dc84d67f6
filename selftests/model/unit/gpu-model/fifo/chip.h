/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PFIFO with fake surroundings. Memory is one array: it is VRAM, system memory and every virtual
 * address space, with equal addresses. Engines record the methods that they get.
 *
 * Accesses from CHIP_HOLE on fail, those with virtual addresses with a fault.
 *
 * PFIFO's own threads run from set-up to tear-down, and call the fake engines; so a test waits by
 * eventually(). rd() and wr() take gk110.lock. chip_teardown() fails if an engine ever served two
 * channels at a time, or one without its context.
 */
#ifndef KVGPU_TEST_FIFO_CHIP_H
#define KVGPU_TEST_FIFO_CHIP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "fifo/fifo.h"

#define CHIP_MEM    (128u << 20)
#define CHIP_HOLE   0x07000000ull
#define INST(c)	    (0x00100000u + (c)*0x1000u)
#define USERD(c)    (0x01200000u + (c)*0x200u)
#define GPFIFO(c)   (0x02000000u + (c)*0x400u)
#define PUSH(c)	    (0x04000000u + (c)*0x1000u)
#define SEM(i)	    (0x06000000u + (i)*16u)
#define RUNLIST_MEM 0x06100000u
#define BAR1_USERD  0x00400000u /* value for PFIFO_USERD_BAR1: where BAR1 shows USERD */
#define RING	    128

/* methods of the fake engines; GR has subchannels 0-3, CE subchannel 4 */
#define M_NOTE 0x1000 /* only recorded */
/* waits for chip.go or chan.stop; chan.stop: the method comes again */
#define M_WAIT	0x1004
#define M_HANG	0x1008 /* waits for chip.go or the reset of the engine */
#define M_FAULT 0x100c
/* an exception: halts the engine until chip_resume() or a reset */
#define M_STALL	  0x1010
#define M_PRIV	  0x1014
#define M_ILLEGAL 0x1018
/* takes as many microseconds as its data says, and moves a stopped time by them */
#define M_SPIN 0x101c

struct log_entry {
	unsigned int engine, chid, subc;
	uint32_t mthd, data;
	bool last;
};

struct chip {
	struct gk110 g;
	uint8_t *mem;
	atomic_bool go;
	atomic_bool halted[GK110_MAX_ENGINE];
	atomic_uint resets[GK110_MAX_ENGINE];
	atomic_uint loads, saves, waiting, again, overlap;
	atomic_int resident; /* id of the channel whose GR context is loaded; -1: none */
	atomic_bool save_faults; /* lasts for one save */
	atomic_bool load_dead; /* lasts until GR is reset */
	atomic_int inside[GK110_MAX_ENGINE];
	/* written with gk110.lock held: read them when the channel is idle */
	uint64_t inv_pdb;
	unsigned int inv_flags, inv_target, invalidates;
	/* for the test's thread */
	unsigned int put[GK110_MAX_CHAN], push_at[GK110_MAX_CHAN];

	pthread_mutex_t log_lock;
	struct log_entry *log;
	unsigned int nr_log;
	atomic_uint nr_notes;
};

extern struct chip *chip;

/*
 * Starts a chip with the USERD window set and interrupts enabled. chip_setup(): all engines on
 * runlist 0, which PBDMAs 0 and 1 serve. chip_setup_card(): as the card's PTOP has it.
 * chip_setup_one(): as chip_setup() with PBDMA 0 alone, for tests that look at its registers.
 */
int chip_setup(void **state);
int chip_setup_card(void **state);
int chip_setup_one(void **state);
int chip_teardown(void **state);

uint32_t rd(uint32_t reg);
void wr(uint32_t reg, uint32_t val);
void mask(uint32_t reg, uint32_t m, uint32_t val); /* nvkm_mask */
uint32_t *mem(uint64_t addr);
uint32_t mem_get(uint64_t addr);
void mem_set(uint64_t addr, uint32_t val);

/* chan_init() fills RAMFC and USERD as nouveau does. */
void chan_init(unsigned int c, unsigned int runlist);
void chan_bind(unsigned int c, unsigned int runlist);
void chan_enable(unsigned int c);
void chan_disable(unsigned int c);
void runlist(unsigned int r, const uint32_t *first_words, unsigned int n);
/* For channels 0 to @n - 1: chan_init(), chan_bind(), chan_enable() and a runlist of them all. */
void chans(unsigned int n, unsigned int runlist_id);
#define RL_TSG(id, n, timeout, scale) \
	((uint32_t)(n) << 26 | (timeout) << 18 | (scale) << 14 | 0x2000u | (id))

/*
 * Adds a GPFIFO entry for @words, with @dw1 as extra bits of the entry's second word. Does not ring
 * the doorbell.
 */
void push(unsigned int c, const uint32_t *words, unsigned int n, uint32_t dw1);
void gp_raw(unsigned int c, uint32_t dw0, uint32_t dw1);
void doorbell(unsigned int c);
void put_write(unsigned int c, uint32_t put);
#define submit(c, ...)                                     \
	do {                                               \
		const uint32_t words_[] = { __VA_ARGS__ }; \
		push(c, words_, sizeof(words_) / 4, 0);    \
		doorbell(c);                               \
	} while (0)

/* pushbuffer words */
#define INC(subc, mthd, n)     (0x20000000u | (n) << 16 | (subc) << 13 | (mthd) >> 2)
#define NINC(subc, mthd, n)    (0x60000000u | (n) << 16 | (subc) << 13 | (mthd) >> 2)
#define IMMD(subc, mthd, v)    (0x80000000u | (v) << 16 | (subc) << 13 | (mthd) >> 2)
#define ONE(subc, mthd, v)     INC(subc, mthd, 1), (v)
#define SEMA(addr, val, op)    INC(0, 0x10, 4), 0, (addr), (val), (op)
#define RELEASE(i, val)	       SEMA(SEM(i), val, 0x01000002)
#define ACQUIRE(i, val)	       SEMA(SEM(i), val, 0x00000001)
#define ACQUIRE_SWITCH(i, val) SEMA(SEM(i), val, 0x00001001)

/* Waits for @cond; a minute without it is a hang, on any machine. */
#define eventually(cond)                                                                   \
	do {                                                                               \
		uint64_t until_ = real_ns() + 60000000000ull;                              \
		while (!(cond)) {                                                          \
			if (real_ns() > until_)                                            \
				fail_msg("line %d: not within 60 s: %s", __LINE__, #cond); \
			usleep(50);                                                        \
		}                                                                          \
	} while (0)
/* Checks @cond for about 10 ms. */
#define stays(cond)                                                                     \
	do {                                                                            \
		unsigned int i_;                                                        \
		for (i_ = 0; i_ < 20; i_++) {                                           \
			if (!(cond))                                                    \
				fail_msg("line %d: did not stay: %s", __LINE__, #cond); \
			usleep(500);                                                    \
		}                                                                       \
	} while (0)

/* PBDMAs that wait for a semaphore, and channels that were switched out for one */
unsigned int acquire_sleepers(void);
unsigned int logged(unsigned int engine, unsigned int chid); /* M_NOTEs */
unsigned int log_count(void);
struct log_entry log_at(unsigned int i);
void chip_resume(unsigned int engine);
void preempt_wait(uint32_t val);
void doorbell_wait_idle(unsigned int c);

#define GR  0u
#define CE0 1u
#define CE1 2u
#define CE2 3u

#endif
