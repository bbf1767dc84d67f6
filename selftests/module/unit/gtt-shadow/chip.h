/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files behind guest.h share: oracle.c (guest memory, the naive walk), chip.c
 * (ops and TLBs), guest.c.
 */
#ifndef KVGPU_TEST_GTT_CHIP_H
#define KVGPU_TEST_GTT_CHIP_H

#include "guest.h"

/* bits of an entry: PRIV, RO, READ_DISABLE, WRITE_DISABLE */
#define RIGHTS	      (2ull | 4 | 1ull << 62 | 1ull << 63)
#define SCRAP	      0x5c4a900001ull
#define PAGES_OF_SLOT 32768u

extern const u64 zeroes[512];
extern const struct kvgpu_shadow_ops chip_ops;

/* Returns the index of the first entry from @i on that is not 0, or @nr. */
u32 next_entry(const u64 *table, u32 i, u32 nr);

/* The DMA address of a system page. Neighbouring pages do not have neighbouring addresses. */
u64 dma_of(u32 page);
int page_of_dma(u64 dma); /* -1: of no page of the guest */

bool image_readable(struct image *im, struct kvgpu_gaddr a);
u64 image_word(struct image *im, struct kvgpu_gaddr a); /* 0 where no memory answers */
enum { BIG_SHIFT = 17 }; /* log2 of the bytes of a big page */

/*
 * Returns the host entry that the guest's translation of @va allows. For system memory the entry
 * has no address, and *sys is the index of the page.
 */
u64 oracle(const struct guest *g, struct image *im, u64 pde, u64 va, int *sys);
/* True if the guest's tables have nothing for the 2 MiB at @va. Faster than a look at each page. */
bool guest_quiet(const struct guest *g, struct image *im, u64 pde, u64 va);

struct hw_table *table_at(struct guest *g, u64 addr);
struct hw_table *small_of(struct guest *g, u64 pde);
struct hw_table *big_of(struct guest *g, u64 pde);
u64 gpu_walk(const struct hw_table *bt, const struct hw_table *st, u32 page);

void tlb_refill(struct hw_table *h);
void tlb_link(struct guest *g, struct hw_table *dir, struct space *sp);
void tlb_flush(struct space *sp);
void tlb_push(struct window *w, u32 first, u32 last);
void tlb_flush_window(struct window *w);
void tlb_flush_pending(struct guest *g);

#endif
