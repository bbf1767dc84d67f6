/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A card of gpu-model, without a server: its registers, its two BARs, its messages, its accesses to
 * memory of the host. One card at a time. Call the functions from one thread. They return NULL or
 * false where the card can't be had, or does not show memory there.
 *
 * The CPU's stores through a BAR are posted, and the card brings them as late as it may: when it is
 * told to by FLUSH_BAR, or before the next load through a BAR. At each invalidate another CPU loads
 * from where the last load was, and so fills the BAR's TLB.
 */
#ifndef KVGPU_TEST_CARD_MODEL_H
#define KVGPU_TEST_CARD_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CARD_BAR1 1
#define CARD_BAR3 3

/*
 * Make a card of that board, as gpu-model's table has it (@seed 0) or another die, which nobody has
 * POSTed. Its memory holds anything but zeros where the host puts its structures.
 */
bool card_make(const char *board, unsigned int seed);
void card_unmake(void);

/* The card's wiring, as gpu-model has it. */
struct card_wiring {
	uint64_t vram_size;
	unsigned int tpcs;
	/* of GR, CE0, CE1, CE2 */
	unsigned int runlist[4];
};
void card_wiring(struct card_wiring *w);

uint64_t card_read(uint32_t reg, unsigned int size);
void card_write(uint32_t reg, unsigned int size, uint64_t val);
/* A store that is posted. */
void card_store(int bar, uint64_t off, const void *from, size_t size);
/* A store that is a doorbell, which comes at once. */
void card_doorbell(uint64_t off, uint32_t val);
void card_load(int bar, uint64_t off, void *to, size_t size);
/* Words of a falcon's memories, by the back door: of FECS, or of GPC @gpc's GPCCS if @gpc >= 0. */
uint32_t card_imem(int gpc, uint32_t word);
uint32_t card_dmem(int gpc, uint32_t word);
/* The card's memory, by the back door. */
uint8_t *card_vram(uint64_t at);

void card_msi(bool on);
void card_master(bool on);
/* true: a message has come since the last call */
bool card_message(void);

/* What went wrong so far. */
struct card_faults {
	/* accesses that no unit has answered, and the first register of those */
	unsigned int unanswered;
	uint32_t reg;
	unsigned int bar, mmu; /* accesses through a BAR that fault; faults of all units */
	unsigned int dma; /* accesses to memory of the host that is not the card's */
	/* the card became bus master before each engine was off once since it was none */
	unsigned int early;
};
void card_faults(struct card_faults *f);

/*
 * card_kernel.c: memory of the host behind a DMA address, or NULL. *@len is cut to what there is.
 * Called by the card's threads.
 */
void *card_host_memory(uint64_t at, size_t *len);

#endif
