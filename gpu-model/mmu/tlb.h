/* SPDX-License-Identifier: GPL-2.0-only */
/* Translation look-aside buffers. tlb.c says which functions may run at the same time. */
#ifndef KVGPU_MODEL_MMU_TLB_H
#define KVGPU_MODEL_MMU_TLB_H

#include "walk.h"

#define TLB_SMALL 512 /* lines for 4 KiB pages */
#define TLB_BIG	  128 /* lines for big pages */
#define TLB_DIR	  64 /* directory entries */

struct tlb_line {
	atomic_uint_least32_t seq; /* odd while being written */
	atomic_uint_least64_t tag, data; /* tag 0: empty */
};

struct tlb {
	struct gk110 *g;
	struct tlb *next; /* list of the device, under mmu.tlbs_lock */
	bool hub;
	/* hits not yet in the statistics; threads that share a client may lose some */
	atomic_uint_least32_t hits;
	struct tlb_line small[TLB_SMALL], big[TLB_BIG], dir[TLB_DIR];
};

/* the lines that an invalidate drops */
struct tlb_match {
	bool all_pdb, all_va;
	uint64_t pdb, va;
	bool pdb_vram;
};

/*
 * True and *@leaf: a translation of @va is cached. Call these four with dma_lock held for reading.
 */
bool tlb_lookup(struct tlb *t, const struct mmu_space *s, uint64_t va, unsigned int big_shift,
		struct walk_leaf *leaf);
void tlb_fill(struct tlb *t, const struct mmu_space *s, uint64_t va, const struct walk_leaf *leaf);
bool tlb_dir_lookup(struct tlb *t, const struct mmu_space *s, uint64_t index, uint64_t *pde);
void tlb_dir_fill(struct tlb *t, const struct mmu_space *s, uint64_t index, uint64_t pde);

/* call these with dma_lock held for writing */
void tlb_invalidate(struct tlb *t, const struct tlb_match *m, unsigned int big_shift);
void tlb_clear(struct tlb *t);

#endif
