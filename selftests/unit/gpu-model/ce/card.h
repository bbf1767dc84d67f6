/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stands around the copy engines in their tests: a small address space whose pages lie
 * scattered in "VRAM" and "guest memory", with pages that can be taken away, and counters in place
 * of the other units.
 */
#ifndef KVGPU_SELFTESTS_CE_CARD_H
#define KVGPU_SELFTESTS_CE_CARD_H

#include <gk110/ce.h>

#include "model.h"

#define CARD_PAGES	192u
#define CARD_BYTES	(CARD_PAGES * GK110_PAGE)

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
	uint8_t *vram, *guest;		/* CARD_BYTES each */
	uint32_t page[CARD_PAGES];	/* bit 31: guest memory; page number inside */
	bool absent[CARD_PAGES], read_only[CARD_PAGES], privileged[CARD_PAGES];
	bool short_runs;		/* translations end anywhere, not at page ends only */
	uint32_t seed;
	struct card_fault fault;
	unsigned int kicks, resumes, nonstall;
	uint32_t pmc_level;		/* bit per interrupt line */
	uint64_t now;
	unsigned int charges, stop_after;	/* chan.stop is set by that charge; 0 = never */
	uint64_t charged;
	struct chan *charging;
};

/*
 * the one card of the program, made anew: engines initialised, memory filled with bytes from @seed
 */
struct card *card_create(uint32_t seed);
void card_destroy(struct card *c);

uint32_t card_rand(struct card *c);
static inline uint32_t card_below(struct card *c, uint32_t n)
{
	return card_rand(c) % n;
}

/* the byte at @va, whatever is absent; NULL outside the space */
uint8_t *card_byte(struct card *c, uint64_t va);
void card_read(struct card *c, uint8_t *image);		/* CARD_BYTES, in order of VA */

enum eng_ret card_method(struct card *c, unsigned int inst, uint32_t mthd, uint32_t data);
/* several words from @mthd on, each of them ENG_DONE or the test fails */
void card_methods(struct card *c, unsigned int inst, uint32_t mthd, unsigned int n,
		  const uint32_t *words);

#endif
