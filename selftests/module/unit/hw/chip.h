/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fake card for tests of hw/'s graphics part: a register file with the shape of a K20m that
 * counts writes, the few registers that answer, the memories of two falcons, and video memory. It
 * is no model of the engine.
 */
#ifndef KVGPU_TEST_CHIP_H
#define KVGPU_TEST_CHIP_H

#include "hw/gr.h"

#define CHIP_BAR0    0x1000000u
#define CHIP_VRAM    (8u << 20)
#define CHIP_VRAM_AT 0x13f000000ull
#define CHIP_FALCON  0x4000u

/* Bits of chip.stuck: the thing that the chip does no longer. */
enum chip_stuck {
	STUCK_POWER = 1 << 0,
	STUCK_IDLE = 1 << 1,
	STUCK_CHSW = 1 << 2,
	STUCK_ICMD = 1 << 3,
	STUCK_FE_PWR = 1 << 4,
	STUCK_START = 1 << 5,
	STUCK_SET_CHAN = 1 << 6,
	STUCK_UNLOAD = 1 << 7,
	STUCK_SAVE = 1 << 8, /* the context image stays empty */
	STUCK_BUS = 1 << 9, /* reads give all ones */
	STUCK_RING = 1 << 10, /* the register ring does not find GPCs again (.ring_lost) */
};

struct falcon {
	u32 imem[CHIP_FALCON / 4], dmem[CHIP_FALCON / 4];
	u32 imem_at, dmem_at, tags;
	bool outside; /* an access went past the end of imem or dmem */
};

struct chip {
	u8 *bar0; /* only for its addresses; the memory itself is never accessed */
	u32 *reg, *writes;
	struct falcon fecs, gpccs;
	u8 *vram;
	size_t vram_used;
	int allocs_left; /* -1: no limit */
	unsigned int stuck, resets;
	/* the register ring does not know the GPCs, until it has looked for units again */
	bool ring_lost, ring_acked;
	u32 ctx_size;
	/* count and address of the patch list in the image that FECS saves */
	u32 patches[2];
	u64 began; /* chip_ns() */
	unsigned int errors; /* messages of errors */
	unsigned int tlb_flushes;
	/* the writes to GR_ICMD and GR_MTHD, each with the data that the port had then */
	struct {
		u32 reg, val, data;
	} port[64];
	u32 nr_port;
	struct kvgpu_hw hw;
	struct kvgpu_hw_priv priv;
	struct kvgpu_fw fw;
	struct pci_dev pdev;
};

extern struct chip chip;

/* Makes a card for which the firmware @fw was loaded, and on which nothing was brought up. */
void chip_make(const void *fw, size_t size);
/* Fails the run if memory of the kernel's or a lock is left. */
void chip_free(void);
u64 chip_ns(void); /* since chip_make() */
u32 chip_reg(u32 reg);
/* sets a register as the chip itself would: not counted as a write */
void chip_set(u32 reg, u32 val);
/* driver messages to stderr or not; returns what it was */
bool chip_log(bool on);

#endif
