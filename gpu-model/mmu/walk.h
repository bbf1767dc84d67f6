/* SPDX-License-Identifier: GPL-2.0-only */
/* The page-table walk, without any device: entries are read through a callback. */
#ifndef KVGPU_MODEL_MMU_WALK_H
#define KVGPU_MODEL_MMU_WALK_H

#include "model.h"

enum walk_level { WALK_DIR, WALK_BIG, WALK_SMALL };

/*
 * Reads one little-endian entry; false when there is no memory at that address. That of translate.c
 * needs dma_lock held for reading.
 */
struct walk_reader {
	bool (*read64)(void *ctx, enum mem_target t, uint64_t addr, uint64_t *entry);
	void *ctx;
};

#define LEAF_PRIV     1u
#define LEAF_NO_READ  2u
#define LEAF_NO_WRITE 4u
#define LEAF_VOL      8u

/* one translated page */
struct walk_leaf {
	uint64_t phys; /* address of the page, aligned to its size */
	uint8_t shift; /* log2 of the page's size */
	uint8_t target; /* enum mem_target */
	uint8_t kind; /* a plain kind, see kind_plain() */
	uint8_t flags; /* LEAF_* */
};

struct walk_result {
	bool ok;
	enum walk_level level; /* of the leaf, or where the walk failed */
	enum mmu_reason reason; /* valid when !ok */
	uint64_t pde, big, small; /* entries read on the way, 0 when not read */
	struct walk_leaf leaf; /* valid when ok */
};

/* Read the directory entry of @va, which is within the limit. */
bool walk_dir(const struct walk_reader *rd, uint64_t pdb, enum mem_target t, uint64_t va,
	      unsigned int big_shift, uint64_t *pde);
/* Follow r->pde to the leaf of @va; fill the rest of *@r and return r->ok. */
bool walk_tables(const struct walk_reader *rd, uint64_t va, unsigned int big_shift,
		 struct walk_result *r);
/* Whether this access may use the leaf. False: *@why is the reason. */
bool walk_access(const struct walk_leaf *leaf, enum mmu_access acc, bool priv,
		 enum mmu_reason *why);

/*
 * Return the plain kind of a storage kind, or GMMU_KIND_INVALID for a kind that the chip does not
 * have (kind.c).
 */
uint8_t kind_plain(uint8_t kind);

#endif
