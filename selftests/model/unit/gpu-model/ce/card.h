/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The surroundings of the copy engines in their tests: a small address space whose pages lie
 * scattered in "VRAM" and "guest memory". The stand-ins for PMC, PFIFO and the pacer abort if
 * gk110.lock is held where it must not be, or not held where it must.
 */
#ifndef KVGPU_SELFTESTS_CE_CARD_H
#define KVGPU_SELFTESTS_CE_CARD_H

#include <gk110/ce.h>

#include "model.h"

#define CARD_PAGES 192u
#define CARD_BYTES (CARD_PAGES * GK110_PAGE)

struct card_fault {
	unsigned int count;
	uint8_t unit, client;
	uint64_t va;
	enum mmu_reason why;
	enum mmu_access acc;
};

struct card {
	struct gk110 g;
	struct chan chan;
	uint8_t *vram, *guest; /* CARD_BYTES each */
	/* bit 31: in guest memory; the other bits: page number there */
	uint32_t page[CARD_PAGES];
	bool absent[CARD_PAGES], read_only[CARD_PAGES], privileged[CARD_PAGES];
	/* the last page below 2^40 shows the same memory as this one; 0: it is absent */
	unsigned int last_shows;
	/* translations end anywhere from their 16th byte on, not only at the ends of pages */
	bool short_runs;
	uint32_t seed;
	struct card_fault fault;
	unsigned int kicks, resumes, nonstall;
	uint32_t pmc_level; /* levels, one bit for each interrupt line */
	uint64_t now;
	/* each .stop_after-th of the pacer's charges sets chan.stop; 0: none does */
	unsigned int charges, stop_after;
	uint64_t charged;
	struct chan *charging;
};

/*
 * Makes the program's only card anew: initialises the engines, and fills memory with bytes from
 * @seed.
 */
struct card *card_create(uint32_t seed);
void card_destroy(struct card *c);

uint32_t card_rand(struct card *c);
static inline uint32_t card_below(struct card *c, uint32_t n)
{
	return card_rand(c) % n;
}

/* Returns the byte at @va, even of an absent page; NULL outside of the address space. */
uint8_t *card_byte(struct card *c, uint64_t va);
void card_read(struct card *c, uint8_t *image); /* CARD_BYTES, in the order of addresses */

enum eng_ret card_method(struct card *c, unsigned int inst, uint32_t mthd, uint32_t data);
/* Writes @n words to the methods from @mthd on. Each must end with ENG_DONE, or the test fails. */
void card_methods(struct card *c, unsigned int inst, uint32_t mthd, unsigned int n,
		  const uint32_t *words);

#endif
