/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A GK110 driven without a driver: registers, memory through the 1 MiB window PRAMIN, translation
 * caches, and the engines as PTOP lists them.
 */
#ifndef KVGPU_BARE_GPU_H
#define KVGPU_BARE_GPU_H

#include "port.h"

/*
 * Where memory is, in the numbers of instance pointers, runlists and the PRAMIN window (rnndb: 0
 * VRAM, 2 coherent host memory, 3 non-coherent host memory).
 */
enum bare_target { BARE_VRAM = 0, BARE_HOST = 2, BARE_HOST_NCOH = 3 };

enum bare_engine_type { BARE_GR = 0, BARE_CE0 = 1, BARE_CE1 = 2, BARE_CE2 = 3 };

struct bare_engine {
	bool present;
	unsigned int runlist, reset_bit;
};

struct bare_gpu {
	struct bare_bars bars;
	struct bare_pages host;
	struct bare_engine engine[4]; /* by enum bare_engine_type */
	uint64_t vram_next; /* bare_vram() hands out VRAM from here upwards */
};

uint32_t bare_read(struct bare_gpu *g, uint32_t reg);
void bare_write(struct bare_gpu *g, uint32_t reg, uint32_t value);
uint64_t bare_now_ns(struct bare_gpu *g); /* PTIMER */
/* Wait until (register & mask) == value. Return false when that is not so after @ms. */
bool bare_poll(struct bare_gpu *g, uint32_t reg, uint32_t mask, uint32_t value, unsigned int ms);
/* Wait likewise until *@word is @value. */
bool bare_poll_word(struct bare_gpu *g, const volatile uint32_t *word, uint32_t value,
		    unsigned int ms);
void bare_delay_us(struct bare_gpu *g, unsigned int us);

/*
 * Move PRAMIN so that it shows @addr, and return where @addr is in it. What follows @addr is shown,
 * too, up to the end of the window.
 */
volatile uint32_t *bare_window(struct bare_gpu *g, enum bare_target t, uint64_t addr);
/*
 * Access any physical memory through PRAMIN, then move PRAMIN back to where it was. @addr and @len
 * are whole words.
 */
void bare_mem_read(struct bare_gpu *g, enum bare_target t, uint64_t addr, void *buf, size_t len);
void bare_mem_write(struct bare_gpu *g, enum bare_target t, uint64_t addr, const void *buf,
		    size_t len);
uint32_t bare_mem_read32(struct bare_gpu *g, enum bare_target t, uint64_t addr);
void bare_mem_write32(struct bare_gpu *g, enum bare_target t, uint64_t addr, uint32_t value);
void bare_mem_zero(struct bare_gpu *g, enum bare_target t, uint64_t addr, size_t len);

void bare_find_engines(struct bare_gpu *g);
/*
 * Make the chip ready for channels of our own. Call when no driver has the card. No interrupt is
 * raised afterwards, and BAR1 shows VRAM from address 0 on.
 */
void bare_take_over(struct bare_gpu *g);
void bare_flush(struct bare_gpu *g);
void bare_tlb_invalidate(struct bare_gpu *g, enum bare_target t, uint64_t pdb);

uint64_t bare_vram(struct bare_gpu *g, uint64_t size, uint64_t align);
/* Return zeroed host memory; NULL when there is no more. */
uint8_t *bare_host(struct bare_gpu *g, size_t size, uint64_t *bus);

#endif
